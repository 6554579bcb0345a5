/* arrival.c: chains that warm-up has not brought to where the others are. Each
 * starts in a place of its own, and one may be caught far out: behind a minor
 * mode, or where no step is long enough. Early in warm-up the chains' scores
 * (score.c) are compared, and a chain that is far below the best goes on from
 * the state of one that is not; the rest of warm-up parts the two again. Modes
 * whose scores are alike keep their chains. */
#include "start/start.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATES 4  /* of a chain that are compared */
#define FEWEST 40 /* sweeps of warm-up */
#define FAST 2e6  /* terms of all chains, if the device is not the host */
/* Below the best by this, and one for each number that is drawn and whose
 * volume does not count in scores, up to FAR, and beyond this many spreads: a
 * lower mode may make up for that by its volume, but the less, the fewer
 * directions it has. */
#define NEVER 12.
#define FAR 30.
#define SPREADS 3.

/* When chains are compared: shares of warm-up. */
static const double moments[] = {0.1, 0.3, 0.6};
#define MOMENTS ((int)(sizeof moments / sizeof moments[0]))

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
static double lost_below(const struct rt_instance *in, const void *state)
{
    double far = NEVER;
    for (int f = 0; f < in->model->nfamilies && far < FAR; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        const struct rt_slot *slot = &in->slots[fam->variable];
        if (fam->stochastic && !fam->data_block && !fam->auxiliary &&
            slot->per_chain && !counted(in->model, f) &&
            !rt_has_effects(in, state, f))
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
    if (in->nchains < 2 || o->warmup < FEWEST || rt->told ||
        o->starts != RT_DISPERSED || !rt_worth_scoring(rt, in))
        return true;
    char *states = rt_states_create(in);
    if (!states)
        return false;
    a->nmoments = MOMENTS;
    a->below = lost_below(in, states);
    free(states);
    a->scratch = calloc((size_t)in->nchains, sizeof *a->scratch);
    return rt_scores_create(&a->scores, in) && a->scratch;
}

void rt_arrival_free(struct rt_arrival *a)
{
    rt_scores_free(&a->scores);
    free(a->scratch);
}

int64_t rt_arrival_next(const struct rt_arrival *a, int64_t warmup)
{
    if (a->moment == a->nmoments)
        return warmup;
    int64_t last = (int64_t)(moments[a->moment] * (double)warmup);
    int64_t first = last - (STATES - 1) * (int64_t)a->gap;
    return (first > 1 ? first : 1) + a->scores.states * (int64_t)a->gap;
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
    const double *mean = a->scores.mean;
    bool moved = false;
    if (rt->device->get(rt) != GBM_OK)
        return rt->status;
    if (!rt_scores_add(&a->scores, rt, in) || a->scores.states < STATES)
        return GBM_OK;
    rt_scores_end(&a->scores, in);
    a->moment++;
    for (int c = 1; c < n; c++)
        good = mean[c] > mean[good] ? c : good;
    double spread = typical_spread(n, a->scores.variance, a->scratch);
    double near = SPREADS * spread, far = a->below + near;
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
