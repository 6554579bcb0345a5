/* geweke.c: the joint distribution test of the sampler (Geweke 2004, Getting it
 * right, JASA 99; in the form of Gandy and Scott 2020, Unit testing for MCMC):
 * draw everything forward, the data of the observed nodes too; then run some
 * sweeps with these data. If every update is right, parameters and data still
 * have the joint distribution that they started with. Replicates are
 * independent, so the comparison needs no effective sample sizes. Compared are
 * the cells, and each family's log density, which ties parameters to data; by
 * ranks in a sample of forward draws, as the priors' moments need not exist.
 * Where parameters break the rules of a distribution there is no draw. If the
 * sweeps see its density, the joint is that of the other forward draws: these
 * are drawn anew. What is drawn forward after each sweep, too, the rest of the
 * joint does not depend on: no draw then is a value like others, the lowest. */
#include "simulate/simulate.h"
#include "io/data.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PER_VARIABLE 20 /* cells of a variable that are compared */
#define REFERENCE 4     /* forward draws per replicate to rank against */
#define REPLICATES 4000
#define SWEEPS 20
#define TRIES 50 /* forward draws until one is usable */

/* Something compared: a cell, or a family's log density. */
struct quantity {
    int variable; /* or -1 */
    int family;
    int64_t cell;
    bool forward; /* a cell that every sweep draws forward */
    double mean_z, spread_z;
};

enum forward_draw { USABLE, OVERFLOWED, IMPOSSIBLE };

struct geweke {
    struct rt *rt;
    struct rt_instance in;
    struct gbm_data data;
    struct quantity *quantities;
    int nquantities;
    int replicates, sweeps, batch;
    double *reference; /* [quantity][replicates * REFERENCE] forward draws */
    double *sampled;   /* [quantity][replicates] after the sweeps */
    int64_t nreference, nsampled, extreme, broken;
    int64_t dropped[IMPOSSIBLE + 1]; /* forward draws, by what they were */
    bool **forward; /* [family][element] whether sweeps draw it forward */
    char *states;
};

static bool add_quantity(struct geweke *g, struct quantity q)
{
    struct quantity *more =
        realloc(g->quantities, ((size_t)g->nquantities + 1) * sizeof *more);
    if (!more)
        return false;
    g->quantities = more;
    g->quantities[g->nquantities++] = q;
    return true;
}

/* Marks of a variable's cells. Those that statements compute, beside others
 * that are drawn, are as little compared as a computed variable: what is drawn
 * forward may change after them. */
enum { COMPUTED = 1, FORWARD = 2 };

/* To be freed; NULL: no memory. */
static unsigned char *mark_cells(const struct geweke *g, int variable)
{
    const struct gbm_model *m = g->in.model;
    const void *state = rt_state(&g->in, g->states, 0);
    unsigned char *marks = calloc((size_t)g->in.slots[variable].cells + 1, 1);
    struct rt_cells buffer = {0};
    for (int f = 0; marks && f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        if (fam->variable != variable)
            continue;
        for (int64_t e = 0; e < g->in.elements[f]; e++) {
            int mark = !fam->stochastic   ? COMPUTED
                       : g->forward[f][e] ? FORWARD
                                          : 0;
            int64_t n = mark ? rt_element_cells(fam, state, e, &buffer) : 0;
            for (int64_t i = 0; i < n; i++)
                marks[buffer.cells[i]] |= (unsigned char)mark;
        }
    }
    free(buffer.cells);
    return marks;
}

static enum gbm_status find_forward(struct geweke *g)
{
    const struct gbm_model *m = g->in.model;
    const void *state = rt_state(&g->in, g->states, 0);
    struct rt_cells buffer = {0};
    g->forward = calloc((size_t)m->nfamilies + 1, sizeof *g->forward);
    bool good = g->forward;
    for (int f = 0; good && f < m->nfamilies; f++) {
        g->forward[f] = calloc((size_t)g->in.elements[f] + 1, sizeof(bool));
        good = g->forward[f];
        for (int64_t e = 0; good && e < g->in.elements[f]; e++)
            g->forward[f][e] = m->families[f].stochastic &&
                               rt_drawn_forward(&g->in, state, f, e, &buffer);
    }
    free(buffer.cells);
    return good ? GBM_OK : rt_fail(g->rt, GBM_FAILURE, "no memory");
}

/* Does the sweep change the cell? Then it is worth comparing. */
static enum gbm_status choose_quantities(struct geweke *g)
{
    const struct gbm_model *m = g->in.model;
    bool good = true;
    for (int v = 0; v < m->nvariables; v++) {
        const struct rt_slot *slot = &g->in.slots[v];
        int64_t step = slot->cells / PER_VARIABLE + 1;
        if (m->variables[v].role != GBM_STOCHASTIC || !slot->per_chain)
            continue;
        unsigned char *marks = mark_cells(g, v);
        good = good && marks;
        for (int64_t i = 0; good && i < slot->cells; i += step)
            if (!rt_seen(slot, i) && !(marks[i] & COMPUTED) &&
                !(slot->defined && !slot->defined[i]))
                good = add_quantity(
                    g, (struct quantity){.variable = v,
                                         .cell = i,
                                         .forward = marks[i] & FORWARD});
        free(marks);
    }
    for (int f = 0; f < m->nfamilies && good; f++)
        if (m->families[f].stochastic && !m->families[f].data_block &&
            !m->families[f].auxiliary && g->in.elements[f] > 0)
            good =
                add_quantity(g, (struct quantity){.variable = -1, .family = f});
    if (!good)
        return rt_fail(g->rt, GBM_FAILURE, "no memory");
    return GBM_OK;
}

static double cell_value(const struct geweke *g, int variable, int64_t cell,
                         int chain)
{
    bool integer = g->in.model->variables[variable].integer;
    double x = rt_value(&g->in.slots[variable], integer, chain, cell);
    return integer && x == INT32_MIN ? (double)NAN : x; /* gbm_whole */
}

/* Of the elements of a family that sweeps draw forward, or of the others. */
static double density_of(const struct geweke *g, int family, bool forward,
                         const void *state)
{
    double sum = 0;
    for (int64_t e = 0; e < g->in.elements[family]; e++)
        if (g->forward[family][e] == forward)
            sum += g->in.model->families[family].logdensity(state, e);
    return sum;
}

static double evaluate(const struct geweke *g, const struct quantity *q,
                       const void *state, int chain)
{
    double x = q->variable >= 0 ? cell_value(g, q->variable, q->cell, chain)
                                : density_of(g, q->family, false, state) +
                                      density_of(g, q->family, true, state);
    return isnan(x) ? -(double)INFINITY : x; /* no draw */
}

/* Latent values so far out that data are lost to rounding beside them (a
 * precision of 1e40 is not seen in y - mu): with many of them a failure means
 * nothing. */
static bool extreme(const struct geweke *g, int chain)
{
    for (int k = 0; k < g->nquantities; k++) {
        const struct quantity *q = &g->quantities[k];
        if (q->variable < 0 || g->in.model->variables[q->variable].integer)
            continue;
        double x = rt_value(&g->in.slots[q->variable], false, chain, q->cell);
        if (fabs(x) > 1e20 || fabs(x) < 1e-20)
            return true;
    }
    return false;
}

/* Whether sweeps can go on from the state, or have led to one like that. */
static enum forward_draw judge(const struct geweke *g, const void *state,
                               int chain)
{
    for (int k = 0; k < g->nquantities; k++) { /* cells come first */
        const struct quantity *q = &g->quantities[k];
        double x = q->variable >= 0 ? cell_value(g, q->variable, q->cell, chain)
                                    : density_of(g, q->family, false, state);
        if (q->forward || isfinite(x))
            continue;
        bool none = q->variable >= 0 ? isnan(x) : x < 0;
        return none ? IMPOSSIBLE : OVERFLOWED;
    }
    return USABLE;
}

/* The same of a forward draw: simulated data may be so large that their squares
 * overflow. Leaving out replicates for their data is exact, as the sweeps do
 * not change the data; so is leaving out impossible ones. */
static enum forward_draw judge_draw(const struct geweke *g, const void *state,
                                    int chain)
{
    const struct gbm_model *m = g->in.model;
    for (int v = 0; v < m->nvariables; v++) {
        const struct rt_slot *slot = &g->in.slots[v];
        if (m->variables[v].role != GBM_STOCHASTIC || !slot->seen)
            continue;
        for (int64_t i = 0; i < slot->cells; i++) {
            double x = rt_seen(slot, i) ? cell_value(g, v, i, chain) : 0;
            if (isnan(x) || fabs(x) >= 1e70)
                return isnan(x) ? IMPOSSIBLE : OVERFLOWED;
        }
    }
    return judge(g, state, chain);
}

/* Auxiliary nodes given all others: they have no forward draw. Their steps
 * draw them exactly; `start` only makes them valid. */
static void draw_auxiliary(const struct geweke *g, const void *state, int chain,
                           uint32_t stream)
{
    const struct gbm_model *m = g->in.model;
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        for (int64_t e = 0; fam->auxiliary && e < g->in.elements[f]; e++) {
            struct gbm_rng rng;
            gbm_rng_start(&rng, g->rt->options.seed, (uint32_t)chain,
                          UINT32_MAX - 500 - stream, (uint32_t)f, (uint32_t)e);
            fam->start(state, &rng, e, 1);
        }
    }
    rt_index_latents(&g->in, state, chain);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < m->nsteps; k++) {
            const struct gbm_step *step = &m->steps[k];
            const struct rt_step *plan = &g->in.steps[k];
            struct gbm_sweep sweep = {.seed = g->rt->options.seed + stream,
                                      .sweep = (1u << 31) + (uint32_t)pass};
            if (step->kind == GBM_STEP_DERIVE)
                rt_derive_all(&g->in, state);
            int v = m->families[step->family].variable;
            if (step->kind != GBM_STEP_MAP || !plan->active ||
                m->variables[v].role != GBM_AUXILIARY)
                continue;
            step->run(state, &sweep, (uint32_t)chain, plan->elements, 0,
                      plan->count);
        }
}

/* Draws the chain forward until it is usable; the draws that were not, at most
 * TRIES, are added to `dropped`. */
static bool draw_usable(const struct geweke *g, int chain, int stream,
                        int64_t *dropped)
{
    void *state = rt_state(&g->in, g->states, chain);
    for (int tries = 0; tries < TRIES; tries++) {
        rt_simulate_chain(g->rt, &g->in, state, chain, (uint32_t)chain,
                          (uint32_t)(stream * TRIES + tries));
        enum forward_draw found = judge_draw(g, state, chain);
        if (found == USABLE)
            return true;
        dropped[found]++;
    }
    return false;
}

/* Draws all chains forward. */
static enum gbm_status draw_forward(struct geweke *g, int stream)
{
    int64_t dropped[IMPOSSIBLE + 1] = {0}, hopeless = 0;
    int chains = g->in.nchains;
#pragma omp parallel for num_threads(g->rt->threads) schedule(dynamic)         \
    reduction(+ : dropped, hopeless)
    for (int c = 0; c < chains; c++)
        hopeless += !draw_usable(g, c, stream, dropped);
    for (int k = 0; k <= IMPOSSIBLE; k++)
        g->dropped[k] += dropped[k];
    for (int c = 0; c < chains; c++)
        g->extreme += extreme(g, c);
    if (hopeless && dropped[IMPOSSIBLE] > dropped[OVERFLOWED])
        return rt_fail(g->rt, GBM_USER_ERROR,
                       "the model cannot be simulated: of %d forward draws in "
                       "a row each had a density of 0, as parameters break the "
                       "rules of a distribution; test with priors that keep "
                       "to them",
                       TRIES);
    if (hopeless)
        return rt_fail(g->rt, GBM_USER_ERROR,
                       "the priors are too vague to simulate from: %d forward "
                       "draws in a row overflowed; test with tighter priors",
                       TRIES);
    return GBM_OK;
}

/* One batch of chains: forward draws for the reference, then replicates. */
static enum gbm_status run_batch(struct geweke *g, int batch)
{
    struct rt *rt = g->rt;
    int chains = g->in.nchains;
    for (int pass = 0; pass <= REFERENCE; pass++) {
        enum gbm_status s = draw_forward(g, batch * (REFERENCE + 1) + pass);
        if (s != GBM_OK)
            return s;
        for (int c = 0; c < chains && pass < REFERENCE; c++, g->nreference++)
            for (int k = 0; k < g->nquantities; k++)
                g->reference[(int64_t)k * g->replicates * REFERENCE +
                             g->nreference] =
                    evaluate(g, &g->quantities[k],
                             rt_state(&g->in, g->states, c), c);
    }
#pragma omp parallel for num_threads(rt->threads) schedule(dynamic)
    for (int c = 0; c < chains; c++)
        draw_auxiliary(g, rt_state(&g->in, g->states, c), c, (uint32_t)batch);
    if (batch == 0 && rt_host.load(rt, &g->in) != GBM_OK)
        return GBM_FAILURE;
    struct rt_block block = {.seed = rt->options.seed +
                                     0xD1B54A32D192ED03u * (uint64_t)batch,
                             .sweeps = g->sweeps,
                             .thin = g->sweeps};
    enum gbm_status s = rt_host.run(rt, &block);
    for (int c = 0; c < chains && s == GBM_OK; c++) {
        void *state = rt_state(&g->in, g->states, c);
        if (judge(g, state, c) != USABLE) {
            g->broken++;
            continue;
        }
        for (int k = 0; k < g->nquantities; k++)
            g->sampled[(int64_t)k * g->replicates + g->nsampled] =
                evaluate(g, &g->quantities[k], state, c);
        g->nsampled++;
    }
    return s;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mid-rank of x in sorted s[n], in (0, 1). */
static double rank_of(const double *s, int64_t n, double x)
{
    int64_t low = 0, high = n, first;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (s[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    first = low;
    high = n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (s[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)(first + low) / (2 * (double)n);
}

struct two_moments {
    double mean, variance;
};

/* Around the first one: the mean of equal numbers is that number. */
static struct two_moments moments_of(const double *x, int64_t n)
{
    double mean = n ? x[0] : 0, m2 = 0;
    for (int64_t i = 0; i < n; i++)
        mean += (x[i] - x[0]) / (double)n;
    for (int64_t i = 0; i < n; i++)
        m2 += (x[i] - mean) * (x[i] - mean);
    return (struct two_moments){mean, m2 / (double)(n - 1)};
}

static double two_sample_z(const double *x, int64_t nx, const double *y,
                           int64_t ny)
{
    struct two_moments a = moments_of(x, nx), b = moments_of(y, ny);
    double se = sqrt(a.variance / (double)nx + b.variance / (double)ny);
    if (fabs(a.mean - b.mean) < 1e-12) /* a constant, but for rounding */
        return 0;
    if (se == 0)
        return (double)INFINITY;
    return (a.mean - b.mean) / se;
}

/* Both samples become ranks in the reference; their means and spreads are
 * compared. */
static void compare(struct geweke *g, int k)
{
    double *reference = g->reference + (int64_t)k * g->replicates * REFERENCE;
    double *sampled = g->sampled + (int64_t)k * g->replicates;
    int64_t n = g->nreference, m = g->nsampled;
    double *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted)
        abort();
    memcpy(sorted, reference, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    for (int64_t i = 0; i < n; i++)
        reference[i] = rank_of(sorted, n, reference[i]);
    for (int64_t i = 0; i < m; i++)
        sampled[i] = rank_of(sorted, n, sampled[i]);
    struct quantity *q = &g->quantities[k];
    q->mean_z = two_sample_z(sampled, m, reference, n);
    for (int64_t i = 0; i < n; i++)
        reference[i] = (reference[i] - 0.5) * (reference[i] - 0.5);
    for (int64_t i = 0; i < m; i++)
        sampled[i] = (sampled[i] - 0.5) * (sampled[i] - 0.5);
    q->spread_z = two_sample_z(sampled, m, reference, n);
    free(sorted);
}

/* |z| that all of n independent tests stay under with probability 0.999, and
 * at least 4. */
static double limit_for(int n)
{
    double tail = 0.0005 / n, low = 4, high = 10;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2.0)) / 2 > tail)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void report(struct geweke *g)
{
    const struct gbm_model *m = g->in.model;
    double limit = limit_for(2 * g->nquantities), worst = 0;
    int failures = 0;
    for (int k = 0; k < g->nquantities; k++) {
        const struct quantity *q = &g->quantities[k];
        double z = fmax(fabs(q->mean_z), fabs(q->spread_z));
        bool bad = !(z < limit);
        char name[256];
        worst = z > worst || isnan(z) ? z : worst;
        failures += bad;
        if (!bad && !g->rt->options.details)
            continue;
        if (q->variable >= 0)
            rt_cell_name(&g->in, q->variable, q->cell, name, sizeof name);
        else
            snprintf(name, sizeof name, "log density of %s",
                     m->families[q->family].text);
        printf("%-50s  z of ranks %7.2f  of spread %7.2f%s\n", name, q->mean_z,
               q->spread_z, bad ? "  FAIL" : "");
    }
    printf("joint distribution test: %lld replicates of %d sweeps, %d "
           "quantities, largest |z| %.2f (limit %.2f): %s\n",
           (long long)g->nsampled, g->sweeps, g->nquantities, worst, limit,
           failures ? "FAIL" : "pass");
    if (g->dropped[OVERFLOWED])
        printf("note: %lld forward draws overflowed and were drawn anew\n",
               (long long)g->dropped[OVERFLOWED]);
    if (g->dropped[IMPOSSIBLE])
        printf("note: %lld forward draws had a density of 0 and were drawn "
               "anew\n",
               (long long)g->dropped[IMPOSSIBLE]);
    if (g->broken)
        printf("note: %lld replicates overflowed in the sweeps\n",
               (long long)g->broken);
    if (g->broken > (g->broken + g->nsampled) / 50)
        rt_fail(g->rt, GBM_USER_ERROR,
                "%lld of %lld replicates became infinite or not a number",
                (long long)g->broken, (long long)(g->broken + g->nsampled));
    int64_t total = (int64_t)g->replicates * (REFERENCE + 1);
    if (failures && g->extreme > total / 100)
        rt_fail(g->rt, GBM_USER_ERROR,
                "the priors are too vague to simulate from: %lld of %lld "
                "forward draws had values beyond 1e20 or within 1e-20 of 0, "
                "so the failure may be rounding; test with tighter priors",
                (long long)g->extreme, (long long)total);
    if (failures)
        rt_fail(g->rt, GBM_USER_ERROR,
                "%d quantities do not have their distribution after %d sweeps: "
                "this sampler is wrong",
                failures, g->sweeps);
}

static enum gbm_status prepare(struct geweke *g)
{
    struct rt *rt = g->rt;
    struct rt_options *o = &rt->options;
    g->replicates = o->draws_given ? o->draws : REPLICATES;
    g->sweeps = o->warmup_given && o->warmup > 0 ? o->warmup : SWEEPS;
    g->batch = g->replicates < 250 ? g->replicates : 250;
    g->replicates -= g->replicates % g->batch;
    o->chains = g->batch;
    enum gbm_status s = rt_load_free(rt, &g->data, &g->in, false);
    if (s == GBM_OK)
        s = rt_check_draws(rt, &g->in);
    if (s != GBM_OK)
        return s;
    g->states = rt_states_create(&g->in);
    if (!g->states)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    s = find_forward(g);
    if (s == GBM_OK)
        s = choose_quantities(g);
    if (s != GBM_OK)
        return s;
    size_t n = (size_t)g->nquantities * (size_t)g->replicates;
    g->reference = malloc((n * REFERENCE + 1) * sizeof *g->reference);
    g->sampled = malloc((n + 1) * sizeof *g->sampled);
    if (!g->reference || !g->sampled)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt->device = &rt_host;
    return rt_host.open(rt, "cpu");
}

int rt_command_geweke(struct rt *rt)
{
    struct geweke g = {.rt = rt};
    enum gbm_status s = prepare(&g);
    for (int b = 0; s == GBM_OK && b < g.replicates / g.batch; b++)
        s = run_batch(&g, b);
    if (s == GBM_OK) {
        for (int k = 0; k < g.nquantities; k++)
            compare(&g, k);
        report(&g);
    }
    rt_host.close(rt);
    for (int f = 0; g.forward && f < g.in.model->nfamilies; f++)
        free(g.forward[f]);
    free(g.forward);
    free(g.quantities);
    free(g.reference);
    free(g.sampled);
    free(g.states);
    if (g.in.model)
        rt_instance_free(&g.in);
    gbm_data_free(&g.data);
    return rt_report(rt);
}
