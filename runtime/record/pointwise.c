/* pointwise.c: the log likelihood of each observation at the draws, and their
 * deviance. */
#include "record/pointwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_THREADS 1000 /* densities that are worth more than one */

/* ---- what is observed ---- */

struct finder {
    struct rt_pointwise *p;
    struct rt *rt;
    const struct rt_instance *in;
    const void *state;
    int64_t capacity;
    struct rt_cells cells;
    int64_t partial; /* nodes that are observed in part, and the first's name */
    char name[256];
    bool covered[GBM_MAX_DIMS]; /* dimensions of the array along which its
                                   vector nodes go */
};

static void add_item(struct finder *f, struct rt_observation item)
{
    struct rt_pointwise *p = f->p;
    if (p->count == f->capacity) {
        int64_t more = 2 * f->capacity + 16;
        void *items = realloc(p->items, (size_t)more * sizeof *p->items);
        if (!items) {
            rt_fail(f->rt, GBM_FAILURE, "no memory");
            return;
        }
        p->items = items;
        f->capacity = more;
    }
    p->items[p->count++] = item;
}

static void mark_covered(struct finder *f, const struct rt_slot *slot, int ndim,
                         int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        int64_t a = f->cells.cells[0], b = f->cells.cells[i];
        for (int d = ndim - 1; d >= 0; d--) {
            f->covered[d] =
                f->covered[d] || a % slot->dim[d] != b % slot->dim[d];
            a /= slot->dim[d];
            b /= slot->dim[d];
        }
    }
}

static void find_in_family(struct finder *f, int family)
{
    const struct rt_instance *in = f->in;
    const struct gbm_family *fam = &in->model->families[family];
    const struct rt_slot *slot = &in->slots[fam->variable];
    for (int64_t e = 0; e < in->elements[family]; e++) {
        int64_t n = rt_element_cells(fam, f->state, e, &f->cells), seen = 0;
        for (int64_t i = 0; i < n; i++)
            seen += rt_seen(slot, f->cells.cells[i]);
        if (seen > 0 && seen == n) {
            mark_covered(f, slot, in->model->variables[fam->variable].ndim, n);
            add_item(f, (struct rt_observation){family, e, f->cells.cells[0]});
        } else if (seen > 0 && f->partial++ == 0) {
            rt_element_name(in, f->state, family, e, f->name, sizeof f->name);
        }
    }
}

static int by_cell(const void *a, const void *b)
{
    const struct rt_observation *x = a, *y = b;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

/* ---- where a log likelihood goes: in an array of the observed one's shape
 * without the dimensions that a vector node covers; in a list, if two have one
 * place there ---- */

struct shape {
    int ndim, dim[GBM_MAX_DIMS];
    int64_t length;
};

static int64_t place(const struct finder *f, const struct rt_slot *slot,
                     int ndim, int64_t cell)
{
    int64_t at = 0, stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        if (!f->covered[d]) {
            at += cell % slot->dim[d] * stride;
            stride *= slot->dim[d];
        }
        cell /= slot->dim[d];
    }
    return at;
}

static struct shape shape_of(const struct finder *f, const struct rt_slot *slot,
                             int ndim)
{
    struct shape s = {.length = 1};
    for (int d = 0; d < ndim; d++)
        if (!f->covered[d]) {
            s.dim[s.ndim++] = slot->dim[d];
            s.length *= slot->dim[d];
        }
    return s;
}

static enum gbm_status add_array(struct finder *f, int v, int64_t first,
                                 struct gbm_draws *draws)
{
    const struct gbm_variable *variable = &f->in->model->variables[v];
    const struct rt_slot *slot = &f->in->slots[v];
    struct shape s = shape_of(f, slot, variable->ndim);
    int64_t n = f->p->count - first, last = -1;
    int64_t *cells = malloc((size_t)n * sizeof *cells);
    double *none = calloc((size_t)s.length, sizeof *none);
    enum gbm_status status = GBM_FAILURE;
    bool list = false;
    for (int64_t i = 0; cells && i < n; i++) {
        cells[i] = place(f, slot, variable->ndim, f->p->items[first + i].cell);
        list = list || cells[i] <= last;
        last = cells[i];
    }
    if (cells && none && (list || n == s.length)) {
        if (list)
            s = (struct shape){1, {(int)n}, n};
        status =
            gbm_draws_add_variable(draws, variable->name, s.ndim, s.dim, false);
    } else if (cells && none) {
        status = gbm_draws_add_partial(draws, variable->name, s.ndim, s.dim,
                                       false, n, cells, none);
    }
    free(cells);
    free(none);
    return status;
}

static enum gbm_status add_variable(struct finder *f, int v, int64_t first,
                                    struct gbm_draws *draws)
{
    const char *const *names = f->in->model->variables[v].names;
    enum gbm_status s = GBM_OK;
    if (!names)
        return add_array(f, v, first, draws);
    for (int64_t i = first; s == GBM_OK && i < f->p->count; i++)
        s = gbm_draws_add_variable(draws, names[f->p->items[i].cell], 0, NULL,
                                   false);
    return s;
}

static void find_in_variable(struct finder *f, int v, struct gbm_draws *draws)
{
    const struct gbm_model *m = f->in->model;
    struct rt_pointwise *p = f->p;
    int64_t first = p->count;
    memset(f->covered, 0, sizeof f->covered);
    for (int k = 0; k < m->nfamilies; k++)
        if (m->families[k].variable == v && m->families[k].stochastic &&
            !m->families[k].data_block && !m->families[k].auxiliary)
            find_in_family(f, k);
    int64_t n = p->count - first;
    if (n == 0 || f->rt->status != GBM_OK)
        return;
    qsort(p->items + first, (size_t)n, sizeof *p->items, by_cell);
    if (p->kept && add_variable(f, v, first, draws) != GBM_OK)
        rt_fail(f->rt, GBM_FAILURE, "no memory for the draws");
}

/* ---- the means of random nodes ---- */

static bool only_read_by_nothing(const struct gbm_model *m, int v)
{
    for (int f = 0; f < m->nfamilies; f++)
        if (m->families[f].variable == v && m->families[f].stochastic &&
            !m->families[f].leaf)
            return false;
    return true;
}

static bool any_drawn(const struct rt_slot *slot)
{
    for (int64_t i = 0; i < slot->cells; i++)
        if (!rt_seen(slot, i) && !rt_barren(slot, i) &&
            !(slot->defined && !slot->defined[i]))
            return true;
    return false;
}

static enum gbm_status prepare_means(struct rt_pointwise *p, struct rt *rt,
                                     const struct rt_instance *in)
{
    const struct gbm_model *m = in->model;
    p->sums = calloc((size_t)m->nvariables + 1, sizeof *p->sums);
    for (int v = 0; p->sums && v < m->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (m->variables[v].role != GBM_STOCHASTIC || !slot->per_chain ||
            only_read_by_nothing(m, v) || !any_drawn(slot))
            continue;
        p->discrete = p->discrete || m->variables[v].integer;
        if (m->variables[v].integer)
            continue;
        p->sums[v] =
            calloc((size_t)(in->nchains * slot->cells), sizeof *p->sums[v]);
        if (!p->sums[v])
            return rt_fail(rt, GBM_FAILURE, "no memory");
    }
    return p->sums ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
}

static void add_to_means(struct rt_pointwise *p, const struct rt_instance *in,
                         int chain)
{
    for (int v = 0; p->sums && v < in->model->nvariables; v++) {
        const double *values = in->slots[v].values;
        const int64_t cells = in->slots[v].cells;
        for (int64_t i = chain * cells; p->sums[v] && i < (chain + 1) * cells;
             i++)
            p->sums[v][i] += values[i];
    }
}

/* Chain 0 goes to the means over all chains. */
static void go_to_means(const struct rt_pointwise *p,
                        const struct rt_instance *in)
{
    double draws = (double)p->nsums * in->nchains;
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        for (int64_t i = 0; p->sums[v] && i < slot->cells; i++) {
            double sum = 0;
            for (int c = 0; c < in->nchains; c++)
                sum += p->sums[v][c * slot->cells + i];
            if (!rt_seen(slot, i))
                rt_set_value(slot, false, 0, i, sum / draws);
        }
    }
}

/* ---- life ---- */

enum gbm_status rt_pointwise_prepare(struct rt_pointwise *p, struct rt *rt,
                                     const struct rt_instance *in,
                                     struct gbm_draws *draws, FILE *notes)
{
    struct finder f = {.p = p, .rt = rt, .in = in};
    const char *what = in->deviance ? "--monitor deviance" : "--log-lik";
    *p = (struct rt_pointwise){
        .deviance_at = -1, .log_lik_at = -1, .kept = rt->options.log_lik};
    if (!in->deviance && !p->kept)
        return GBM_OK;
    if (in->deviance) {
        p->deviance_at = draws->width;
        draws->has_deviance = true;
        if (gbm_draws_add_variable(draws, "deviance", 0, NULL, false) != GBM_OK)
            return rt_fail(rt, GBM_FAILURE, "no memory for the draws");
    }
    p->states = rt_states_create(in);
    if (!p->states)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    f.state = rt_state(in, p->states, 0);
    p->log_lik_at = p->kept ? draws->width : -1;
    draws->group = GBM_LOG_LIKELIHOOD;
    for (int v = 0; v < in->model->nvariables && rt->status == GBM_OK; v++)
        if (in->model->variables[v].role == GBM_STOCHASTIC)
            find_in_variable(&f, v, draws);
    free(f.cells.cells);
    if (rt->status == GBM_OK && f.partial > 0 && notes)
        fprintf(notes,
                "note: %s leaves out %lld node%s of which only a part is "
                "observed (%s%s)\n",
                what, (long long)f.partial, f.partial == 1 ? "" : "s", f.name,
                f.partial > 1 ? ", ..." : "");
    if (rt->status == GBM_OK && p->count == 0)
        return rt_fail(rt, GBM_USER_ERROR, "%s: no node is observed%s", what,
                       f.partial ? " throughout" : "");
    p->values = malloc((size_t)(in->nchains * p->count) * sizeof *p->values);
    if (!p->values)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    return rt->status == GBM_OK && in->deviance ? prepare_means(p, rt, in)
                                                : rt->status;
}

void rt_pointwise_free(struct rt_pointwise *p, const struct rt_instance *in)
{
    for (int v = 0; p->sums && v < in->model->nvariables; v++)
        free(p->sums[v]);
    free((void *)p->sums);
    free(p->items);
    free(p->states);
    free(p->values);
    *p = (struct rt_pointwise){0};
}

void rt_pointwise_list(struct rt_pointwise *p, const struct rt_instance *in,
                       struct rt_pieces *pieces)
{
    rt_pieces_add(pieces, "draws in means", &p->nsums, sizeof p->nsums);
    for (int v = 0; p->sums && v < in->model->nvariables; v++)
        if (p->sums[v])
            rt_pieces_add(pieces, in->model->variables[v].name, p->sums[v],
                          (size_t)(in->nchains * in->slots[v].cells) *
                              sizeof *p->sums[v]);
}

/* ---- at a draw ---- */

static void evaluate(struct rt_pointwise *p, const struct rt_instance *in,
                     int64_t i)
{
    int chain = (int)(i / p->count);
    const struct rt_observation *o = &p->items[i % p->count];
    p->values[i] = in->model->families[o->family].logdensity(
        rt_state(in, p->states, chain), o->element);
}

static void evaluate_all(struct rt_pointwise *p, const struct rt_instance *in,
                         int chains, int threads)
{
    int64_t n = chains * p->count;
    if (n < WORTH_THREADS)
        threads = 1;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        evaluate(p, in, i);
}

static double deviance_of(const struct rt_pointwise *p, int chain)
{
    double sum = 0;
    for (int64_t i = 0; i < p->count; i++)
        sum += p->values[chain * p->count + i];
    return -2 * sum;
}

static void store(struct rt_pointwise *p, const struct rt_instance *in,
                  struct gbm_draws *draws, int draw, int chain)
{
    double *record = gbm_draws_record(draws, chain, draw);
    if (p->deviance_at >= 0)
        record[p->deviance_at] = deviance_of(p, chain);
    if (p->log_lik_at >= 0)
        memcpy(record + p->log_lik_at, p->values + chain * p->count,
               (size_t)p->count * sizeof *record);
    add_to_means(p, in, chain);
}

void rt_pointwise_keep(struct rt_pointwise *p, const struct rt_instance *in,
                       struct gbm_draws *draws, int draw, int threads)
{
    evaluate_all(p, in, in->nchains, threads);
    for (int c = 0; c < in->nchains; c++)
        store(p, in, draws, draw, c);
    p->nsums++;
}

bool rt_pointwise_by_chains(const struct rt_pointwise *p,
                            const struct rt_instance *in, int threads)
{
    return in->nchains >= threads || in->nchains * p->count < WORTH_THREADS;
}

void rt_pointwise_keep_chain(struct rt_pointwise *p,
                             const struct rt_instance *in,
                             struct gbm_draws *draws, int draw, int chain)
{
    for (int64_t i = chain * p->count; i < (chain + 1) * p->count; i++)
        evaluate(p, in, i);
    store(p, in, draws, draw, chain);
}

double rt_pointwise_at_means(struct rt_pointwise *p,
                             const struct rt_instance *in, int threads)
{
    if (!p->sums || p->discrete || p->nsums == 0)
        return NAN;
    void **values = rt_save(in);
    double deviance = NAN;
    if (values) {
        go_to_means(p, in);
        rt_derive_all(in, rt_state(in, p->states, 0));
        evaluate_all(p, in, 1, threads);
        deviance = deviance_of(p, 0);
        rt_put_back(in, values);
    }
    rt_forget(in, values);
    return isfinite(deviance) ? deviance : NAN;
}
