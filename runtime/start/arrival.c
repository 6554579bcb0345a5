/* arrival.c: chains that warm-up has not brought to where the others are. Each
 * starts in a place of its own, and one may be caught far out: behind a minor
 * mode, or where no step is long enough. Early in warm-up the chains' scores
 * are compared, and a chain that is far below the best goes on from the state
 * of one that is not; the rest of warm-up parts the two again. Modes whose
 * scores are alike keep their chains.
 *
 * A score is a log density that is comparable between regions. The density of
 * a latent continuous node depends on its scale: that of a thousand random
 * effects is highest where their variance is least, which says nothing of how
 * probable that is. So each such term is taken relative to what a draw from
 * the node's prior, given its parents, has: this does not depend on how the
 * node is measured, and is about -z^2 / 2 of a normal one. What is observed,
 * and discrete nodes, count as they are. Like log densities, the scores of a
 * chain vary by about the root of half the number of its terms, which is why
 * they are judged against their spread. */
#include "start/start.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATES 4     /* of a chain that are compared */
#define FEWEST 40    /* sweeps of warm-up */
#define FAST 2e6     /* terms of all chains, if the device is not the host */
#define REFERENCES 8 /* draws from the prior of a family with few elements */
/* Below the best by this, and one for each number that is drawn, up to FAR, and
 * beyond this many spreads: a lower mode may make up for that by its volume,
 * but the less, the fewer directions it has. */
#define NEVER 12.
#define FAR 30.
#define SPREADS 3.

/* When chains are compared: shares of warm-up. */
static const double moments[] = {0.1, 0.3};
#define MOMENTS ((int)(sizeof moments / sizeof moments[0]))

/* ---- the score of a state ---- */

struct scorer {
    const struct rt_instance *in;
    const unsigned char *drawn; /* [nfamilies] latent elements are updated by
                                   every sweep */
    void *state;
    int chain;
    uint64_t seed;
    struct rt_cells buffer, volume;
    double *saved;
    int64_t saved_capacity;
};

/* What brings the element's log density to the scale on which it is unbounded.
 */
static double log_volume(struct scorer *s, int f, int64_t e)
{
    return rt_log_volume(s->in, s->state, s->chain, f, e, &s->volume);
}

/* Log density that a draw of the element from its prior has; NaN if that is not
 * known. The same random numbers for all chains: differences of scores then
 * have little noise. */
static double reference(struct scorer *s, int f, int64_t e, int64_t ncells,
                        uint32_t number)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    struct gbm_rng rng;
    if (ncells > s->saved_capacity) {
        free(s->saved);
        s->saved = malloc((size_t)ncells * sizeof *s->saved);
        s->saved_capacity = s->saved ? ncells : 0;
        if (!s->saved)
            return NAN;
    }
    for (int64_t i = 0; i < ncells; i++)
        s->saved[i] = rt_value(slot, false, s->chain, s->buffer.cells[i]);
    gbm_rng_start(&rng, s->seed, 0, UINT32_MAX - 400 - number, (uint32_t)f,
                  (uint32_t)e);
    fam->simulate(s->state, &rng, e);
    double lp = fam->logdensity(s->state, e) + log_volume(s, f, e);
    for (int64_t i = 0; i < ncells; i++)
        rt_set_value(slot, false, s->chain, s->buffer.cells[i], s->saved[i]);
    return lp;
}

static double element_score(struct scorer *s, int f, int64_t e)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    if (rt_drawn_forward(s->in, s->state, f, e, &s->buffer))
        return 0; /* not in this sweep */
    double lp = fam->logdensity(s->state, e), sum = 0;
    if (!slot->per_chain)
        return lp;
    int64_t n = rt_element_cells(fam, s->state, e, &s->buffer);
    int64_t seen = 0;
    bool drawn = s->drawn[f];
    for (int64_t i = 0; i < n; i++) {
        unsigned char mark = slot->seen ? slot->seen[s->buffer.cells[i]] : 0;
        seen += mark == 1;
        drawn = drawn && mark <= 1; /* others are drawn forward, too */
    }
    if (seen < n && !drawn)
        return 0;
    if (seen > 0 || !fam->simulate ||
        s->in->model->variables[fam->variable].integer)
        return lp;
    int most = s->in->elements[f] > REFERENCES ? 1 : REFERENCES, known = 0;
    for (int k = 0; k < most; k++) {
        double r = reference(s, f, e, n, (uint32_t)k);
        known += isfinite(r);
        sum += isfinite(r) ? r : 0;
    }
    lp += log_volume(s, f, e);
    return known ? lp - sum / known : lp;
}

static double score(struct scorer *s)
{
    const struct rt_instance *in = s->in;
    double total = 0;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (!fam->stochastic || fam->data_block || fam->auxiliary)
            continue;
        double sum = 0;
        for (int64_t e = 0; e < in->elements[f]; e++)
            sum += element_score(s, f, e);
        total += sum;
    }
    return isfinite(total) ? total : -(double)INFINITY;
}

/* Families of which a step updates latent elements in each sweep; the others'
 * are drawn forward when a draw is kept. */
static void find_drawn(const struct rt_instance *in, unsigned char *drawn)
{
    for (int k = 0; k < in->model->nsteps; k++) {
        const struct gbm_step *step = &in->model->steps[k];
        if (!in->steps[k].active || step->leaf)
            continue;
        if (step->kind == GBM_STEP_MAP || step->kind == GBM_STEP_DENSE)
            drawn[step->family] = 1;
        for (int i = 0; i < step->nmembers; i++)
            drawn[step->members[i]] = 1;
        for (int i = 0; step->joint && i < step->joint->nfamilies; i++)
            drawn[step->joint->families[i]] = 1;
    }
}

double rt_score(const struct rt *rt, const struct rt_instance *in, void *state,
                int chain)
{
    unsigned char *drawn = calloc((size_t)in->model->nfamilies + 1, 1);
    if (!drawn)
        return -(double)INFINITY;
    find_drawn(in, drawn);
    struct scorer s = {.in = in,
                       .drawn = drawn,
                       .state = state,
                       .chain = chain,
                       .seed = rt->options.seed};
    double total = score(&s);
    free(s.buffer.cells);
    free(s.volume.cells);
    free(s.saved);
    free(drawn);
    return total;
}

static bool score_all(const struct rt *rt, const struct rt_instance *in,
                      double *out)
{
    char *states = rt_states_create(in);
    if (!states)
        return false;
#pragma omp parallel for num_threads(rt->threads) schedule(dynamic)
    for (int c = 0; c < in->nchains; c++)
        out[c] = rt_score(rt, in, rt_state(in, states, c), c);
    free(states);
    return true;
}

int64_t rt_terms(const struct rt_instance *in)
{
    int64_t terms = 0;
    for (int f = 0; f < in->model->nfamilies; f++)
        if (in->model->families[f].stochastic)
            terms += in->elements[f];
    return terms;
}

bool rt_worth_scoring(const struct rt *rt, const struct rt_instance *in)
{
    return rt->device == &rt_host || (double)rt_terms(in) * in->nchains <= FAST;
}

/* ---- comparing ---- */

static void copy_chain(const struct rt_instance *in, int from, int to)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (!slot->per_chain || slot->cells == 0)
            continue;
        size_t bytes =
            (size_t)slot->cells *
            (in->model->variables[v].integer ? sizeof(int) : sizeof(double));
        char *values = slot->values;
        memcpy(values + (size_t)to * bytes, values + (size_t)from * bytes,
               bytes);
    }
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* An earlier family has cells of the same variable. */
static bool counted(const struct gbm_model *m, int f)
{
    for (int g = 0; g < f; g++)
        if (m->families[g].stochastic &&
            m->families[g].variable == m->families[f].variable)
            return true;
    return false;
}

/* How far below the best a chain is lost. */
static double lost_below(const struct rt_instance *in)
{
    double far = NEVER;
    for (int f = 0; f < in->model->nfamilies && far < FAR; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        const struct rt_slot *slot = &in->slots[fam->variable];
        if (fam->stochastic && !fam->data_block && !fam->auxiliary &&
            slot->per_chain && !counted(in->model, f))
            far += (double)slot->cells;
    }
    return far < FAR ? far : FAR;
}

/* The typical spread of a chain's scores: the upper median of the chains', as
 * one that is on its way has a larger one. */
static double typical_spread(int nchains, const double *variance,
                             double *scratch)
{
    memcpy(scratch, variance, (size_t)nchains * sizeof *scratch);
    qsort(scratch, (size_t)nchains, sizeof *scratch, descending);
    return sqrt(scratch[(nchains - 1) / 2]);
}

bool rt_arrival_create(struct rt_arrival *a, const struct rt *rt,
                       const struct rt_instance *in)
{
    const struct rt_options *o = &rt->options;
    *a = (struct rt_arrival){.gap = o->warmup / 200 + 1};
    a->scores = calloc(4 * (size_t)in->nchains, sizeof *a->scores);
    if (a->scores && in->nchains >= 2 && o->warmup >= FEWEST && !rt->told &&
        o->starts == RT_DISPERSED && rt_worth_scoring(rt, in))
        a->nmoments = MOMENTS;
    return a->scores != NULL;
}

void rt_arrival_free(struct rt_arrival *a) { free(a->scores); }

int64_t rt_arrival_next(const struct rt_arrival *a, int64_t warmup)
{
    if (a->moment == a->nmoments)
        return warmup;
    int64_t last = (int64_t)(moments[a->moment] * (double)warmup);
    int64_t first = last - (STATES - 1) * (int64_t)a->gap;
    return (first > 1 ? first : 1) + a->states * (int64_t)a->gap;
}

/* One more state of each chain; true when there are enough to compare. */
static bool add_states(struct rt_arrival *a, const struct rt *rt,
                       const struct rt_instance *in)
{
    int n = in->nchains;
    double *now = a->scores, *mean = now + n, *variance = mean + n;
    if (a->states++ == 0)
        memset(mean, 0, 2 * (size_t)n * sizeof *mean);
    if (!score_all(rt, in, now))
        return false;
    for (int c = 0; c < n; c++) {
        double change = now[c] - mean[c];
        mean[c] += change / a->states;
        variance[c] += (change * (now[c] - mean[c]) - variance[c]) / a->states;
        if (!isfinite(now[c]) || !isfinite(mean[c])) {
            mean[c] = -(double)INFINITY;
            variance[c] = 0;
        }
    }
    return a->states == STATES;
}

static void restart(const struct rt_instance *in, int chain, int from,
                    double below, int64_t sweep, FILE *notes)
{
    copy_chain(in, from, chain);
    if (!notes)
        return;
    fprintf(notes, "note: after %lld sweeps chain %d was ", (long long)sweep,
            chain + 1);
    if (isfinite(below))
        fprintf(notes, "%.0f lower in log density than the best", below);
    else
        fprintf(notes, "where no density is finite");
    fprintf(notes, ": it goes on from where chain %d is\n", from + 1);
}

enum gbm_status rt_arrival_look(struct rt_arrival *a, struct rt *rt,
                                struct rt_instance *in, int64_t sweep,
                                FILE *notes)
{
    int n = in->nchains, good = 0, from = -1;
    const double *mean = a->scores + n;
    bool moved = false;
    if (rt->device->get(rt) != GBM_OK)
        return rt->status;
    if (!add_states(a, rt, in))
        return GBM_OK;
    a->states = 0;
    a->moment++;
    for (int c = 1; c < n; c++)
        good = mean[c] > mean[good] ? c : good;
    double spread = typical_spread(n, mean + n, a->scores + 3 * n);
    double near = SPREADS * spread, far = lost_below(in) + near;
    for (int c = 0; c < n && isfinite(mean[good]); c++) {
        if (mean[c] >= mean[good] - far)
            continue;
        do /* the next of those where the best is, to which others lead */
            from = (from + 1) % n;
        while (mean[from] < mean[good] - near);
        restart(in, c, from, mean[good] - mean[c], sweep, notes);
        moved = true;
    }
    return moved ? rt->device->put(rt) : GBM_OK;
}
