/* em_sweeps.c: iterations of EM that are sweeps of the device: discrete nodes
 * in expectation, then each other step at the mode of its full conditional
 * (compiler/sampler/modes.c), for all starts at once. They end, start by start,
 * where they gain nothing more, or were of no use: em.c goes on from there by
 * gradients if some unknowns had no step with a mode. */
#include "modes/em.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What rounding may take away in an iteration, and how far the sweep's density
 * may be from the sum over the elements' values; the same in single precision,
 * and what is gained there by a sweep behind which there is no other. */
#define LOSS 1e-9
#define FAR 1e-6
#define LOSS_SINGLE 1e-5
#define GAIN_SINGLE 1e-8
#define FAR_SINGLE 1e-3
/* Sites for which that is compared, about; runs of totals that a device adds up
 * itself, at most. */
enum { CHECKED = 1000, RUNS = 64 };

struct start {
    double *u; /* free numbers where the sweep began */
    double rest;
    bool done;
};

struct sweeps {
    struct rt_mode *m;
    const struct rt_sites *sites;
    struct rt_expectation *expectations; /* [chains] */
    /* Totals of sites, which are summed in each iteration: [ntotals], at most
     * sites->n; [chains] */
    struct rt_run *totals;
    int64_t ntotals;
    double *sums;
    bool *wanted; /* [nvariables] of an iteration, or NULL: all */
    struct start *starts;
    uint32_t number; /* of the next sweep */
    bool single;
};

/* ---- the density -----------------------------------------------------------
 */

static int total_of(const struct rt_sites *all, const struct rt_site *s)
{
    const struct gbm_model *m = all->in->model;
    return m->variables[m->families[s->family].variable].total - 1;
}

/* The same subscripts in the array of totals, which may have other extents. */
static int64_t cell_of_total(const struct rt_sites *all,
                             const struct rt_site *s)
{
    const struct gbm_model *m = all->in->model;
    const int node = m->families[s->family].variable;
    const struct rt_slot *from = &all->in->slots[node],
                         *to = &all->in->slots[total_of(all, s)];
    int64_t cell = 0, rest = s->cell, stride = 1;
    for (int d = m->variables[node].ndim - 1; d >= 0; d--) {
        cell += rest % from->dim[d] * stride;
        rest /= from->dim[d];
        stride *= to->dim[d];
    }
    return cell;
}

/* Of what the last sweep summed out, at its beginning: of each so many sites
 * the first one. */
static double summed_out_of_some(const struct sweeps *k, int chain,
                                 int64_t every)
{
    const struct rt_sites *all = k->sites;
    struct rt_sum sum = {0};
    for (int64_t i = 0; i < all->n; i += every) {
        const struct rt_site *s = &all->items[i];
        rt_sum_add(&sum, rt_value(&all->in->slots[total_of(all, s)], false,
                                  chain, cell_of_total(all, s)));
    }
    return rt_sum_of(&sum);
}

/* Of all; several sums at once, as each addition waits for the one before. */
static double add_up(const struct sweeps *k, int chain)
{
    enum { BESIDE = 4 };
    struct rt_sum sum[BESIDE] = {{0}};
    for (int64_t r = 0; r < k->ntotals; r++) {
        const struct rt_run *run = &k->totals[r];
        const struct rt_slot *slot = &k->sites->in->slots[run->variable];
        const double *values = (const double *)slot->values +
                               (slot->per_chain ? chain * slot->cells : 0) +
                               run->first;
        for (int64_t i = 0; i < run->n; i++)
            rt_sum_add(&sum[i % BESIDE], values[i]);
    }
    for (int i = 1; i < BESIDE; i++)
        rt_sum_add(&sum[0], rt_sum_of(&sum[i]));
    return rt_sum_of(&sum[0]);
}

/* What each start's last sweep summed out. */
static enum gbm_status find_sums(struct sweeps *k)
{
    struct rt *rt = k->m->rt;
    if (k->wanted)
        return rt->device->sum(rt, k->totals, k->ntotals, k->sums);
    for (int c = 0; c < k->m->in.nchains; c++)
        k->sums[c] = k->starts[c].done ? 0 : add_up(k, c);
    return GBM_OK;
}

/* ---- sweeps ----------------------------------------------------------------
 */

/* Where starts are before a sweep. */
static void note_starts(struct sweeps *k)
{
    for (int c = 0; c < k->m->in.nchains; c++) {
        struct start *s = &k->starts[c];
        if (s->done)
            continue;
        s->rest = rt_gradient_density(&k->m->climbs[c].gradient);
        rt_gradient_release(&k->m->climbs[c].gradient, s->u);
    }
}

/* A sweep from where starts are. What the host has stays until it is fetched,
 * so the host may look at that meanwhile, unless it is the device. */
static enum gbm_status sweep(struct sweeps *k)
{
    struct rt *rt = k->m->rt;
    const struct rt_block one = {
        .seed = rt->options.seed, .first = k->number++, .sweeps = 1};
    enum gbm_status s = GBM_OK;
    if (!k->wanted || rt->threads < 2) {
        note_starts(k);
        s = rt->device->run(rt, &one);
    } else {
#pragma omp parallel sections num_threads(2)
        {
#pragma omp section
            s = rt->device->run(rt, &one);
#pragma omp section
            note_starts(k);
        }
    }
    if (s == GBM_OK)
        s = k->wanted && k->number > 1 ? rt->device->get_some(rt, k->wanted)
                                       : rt->device->get(rt);
    return s == GBM_OK ? find_sums(k) : s;
}

/* What some sites add to the density of the first start for which that is a
 * number, each summed over its values here: the sweep's totals must be these.
 */
struct check {
    int chain; /* -1: there is none */
    double exact;
};

static int64_t between(const struct sweeps *k)
{
    return k->sites->n / CHECKED + 1;
}

static struct check find_check(const struct sweeps *k)
{
    struct check check = {.chain = -1};
    for (int c = 0; c < k->m->in.nchains && check.chain < 0; c++) {
        struct rt_sum sum = {0};
        for (int64_t i = 0; i < k->sites->n; i += between(k))
            rt_sum_add(&sum,
                       rt_expectation_of_site(&k->expectations[c],
                                              &k->m->climbs[c].gradient, i));
        check.exact = rt_sum_of(&sum);
        check.chain = isfinite(check.exact) ? c : -1;
    }
    return check;
}

static enum gbm_status compare(const struct sweeps *k,
                               const struct check *check)
{
    const double far = k->single ? FAR_SINGLE : FAR;
    if (check->chain < 0)
        return GBM_OK;
    const double value = summed_out_of_some(k, check->chain, between(k));
    if (fabs(check->exact - value) <= far * (1 + fabs(check->exact)))
        return GBM_OK;
    return rt_fail(k->m->rt, GBM_FAILURE,
                   "the expectation of a sweep is of another density: log "
                   "density %.10g, and %.10g summed element by element. This "
                   "is a fault of gbm",
                   value, check->exact);
}

/* A start's density at the beginning of the last sweep: whether to go on. */
static bool goes_on(const struct sweeps *k, int c, double value)
{
    struct rt_climb *climb = &k->m->climbs[c];
    const double loss = k->single ? LOSS_SINGLE : LOSS;
    const double before =
        climb->nvalues ? climb->values[climb->nvalues - 1] : -INFINITY;
    if (!isfinite(value) || value < before - loss * (1 + fabs(before)))
        return false;
    memcpy(climb->u, k->starts[c].u,
           (size_t)k->m->unknowns.dimension * sizeof *climb->u);
    rt_climb_keep(climb, value);
    const double gain = k->single ? GAIN_SINGLE : RT_EM_GAIN;
    if (value - before > gain * (1 + fabs(value)))
        return true;
    climb->end = RT_ASCENT_CONVERGED;
    return false;
}

static enum gbm_status iterate(struct sweeps *k, const struct check *first)
{
    struct rt_mode *m = k->m;
    bool any = true;
    for (int i = 0; any && i <= m->rt->options.iterations && !rt_stopped();
         i++) {
        if (sweep(k) != GBM_OK)
            return m->rt->status;
        any = false;
        for (int c = 0; c < m->in.nchains; c++) {
            struct start *s = &k->starts[c];
            s->done = s->done || !goes_on(k, c, s->rest + k->sums[c]);
            any = any || !s->done;
        }
        if (i == 0 && compare(k, first) != GBM_OK)
            return m->rt->status;
        if (i == 0)
            rt_clock_note("the first iteration of EM");
    }
    rt_clock_note("%u iterations", k->number);
    return k->wanted ? m->rt->device->get(m->rt) : GBM_OK;
}

static void find_totals(struct sweeps *k)
{
    for (int64_t i = 0; i < k->sites->n; i++) {
        const struct rt_site *s = &k->sites->items[i];
        const int variable = total_of(k->sites, s);
        const int64_t cell = cell_of_total(k->sites, s);
        struct rt_run *run = &k->totals[k->ntotals - (k->ntotals > 0)];
        if (k->ntotals && run->variable == variable &&
            cell == run->first + run->n)
            run->n++;
        else
            k->totals[k->ntotals++] = (struct rt_run){variable, cell, 1};
    }
}

/* What an iteration fetches of a device that adds up totals itself: what the
 * densities read that no site has to do with. */
static bool choose_wanted(struct sweeps *k)
{
    const struct gbm_model *m = k->m->in.model;
    const struct rt_device *device = k->m->rt->device;
    if (!device->sum || !device->get_some || k->ntotals > RUNS)
        return true;
    k->wanted = calloc((size_t)m->nvariables + 1, sizeof *k->wanted);
    if (!k->wanted)
        return false;
    for (int f = 0; f < m->nfamilies; f++)
        k->wanted[m->families[f].variable] |=
            m->families[f].stochastic || rt_is_read(m, f);
    for (int64_t i = 0; i < k->sites->n; i++) {
        const struct rt_site *s = &k->sites->items[i];
        k->wanted[m->families[s->family].variable] = false;
        k->wanted[total_of(k->sites, s)] = false;
    }
    return true;
}

static bool create(struct sweeps *k)
{
    const struct rt_mode *m = k->m;
    k->totals = calloc((size_t)k->sites->n + 1, sizeof *k->totals);
    k->starts = calloc((size_t)m->in.nchains, sizeof *k->starts);
    k->sums = calloc((size_t)m->in.nchains, sizeof *k->sums);
    if (!k->totals || !k->starts || !k->sums)
        return false;
    find_totals(k);
    if (!choose_wanted(k))
        return false;
    for (int c = 0; c < m->in.nchains; c++) {
        m->climbs[c].end = RT_ASCENT_LIMIT;
        k->starts[c].u =
            calloc((size_t)m->unknowns.dimension, sizeof *k->starts[c].u);
        if (!k->starts[c].u)
            return false;
    }
    return true;
}

static void destroy(struct sweeps *k)
{
    for (int c = 0; k->starts && c < k->m->in.nchains; c++)
        free(k->starts[c].u);
    free(k->starts);
    free(k->totals);
    free(k->sums);
    free(k->wanted);
}

enum gbm_status rt_em_sweeps(struct rt_mode *m, const struct rt_sites *sites,
                             struct rt_expectation *expectations)
{
    struct rt *rt = m->rt;
    struct sweeps k = {.m = m, .sites = sites, .expectations = expectations};
    const struct check first = find_check(&k);
    enum gbm_status s = rt_open_device(rt, &m->in, m->notes);
    if (s != GBM_OK)
        return s;
    k.single = rt->device != &rt_host && rt->options.precision != RT_DOUBLE;
    s = rt_load_device(rt, &m->in, m->notes);
    if (s == GBM_OK && !create(&k))
        s = rt_fail(rt, GBM_FAILURE, "no memory");
    if (s == GBM_OK)
        s = iterate(&k, &first);
    destroy(&k);
    rt->device->close(rt);
    return s;
}
