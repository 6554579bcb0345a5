/* along_counts.c: counts that are summed out of moves along lines.
 *
 * Given N[i], as of y[i,j] ~ dbin(p, N[i]), p may only move by what N leaves,
 * and all that a line of parameters can do is little. Given y alone it may move
 * far: so the joint density along the line is divided by the probability of the
 * counts given the rest, which leaves what it is summed over these, and the
 * counts are drawn behind the move: Liu (1994), The collapsed Gibbs sampler, J.
 * Am. Stat. Assoc. 89.
 *
 * Their probability is exp(settled[k] + tilt k) beside that of their least
 * value, k above it, where the state settles tilt alone (compiler/emit/
 * tilted.c) and the rest is listed at load. Values beyond the list are not
 * looked at: a state with one makes no moves, and none leads there, which
 * leaves the posterior as it is. Where the list is concave no term behind one
 * that decreases is larger, so a sum ends where what follows is too small. */
#include "host/along.h"
#include "load/load.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>

enum {
    VALUES = 512,       /* listed of a count */
    MOST_COUNTS = 4096, /* 32 MB */
    SEARCHED = 1 << 20, /* from 0, for its least value */
    OF_COUNT = 156      /* operations: its tilt, and some 30 values */
};
#define NEGLIGIBLE 1e-17
#define LARGE 1e200
#define STEEP 600.0 /* tilts up to this do not overflow */

struct along_count {
    const struct gbm_step *step;
    int64_t element;
    double least;
    double settled[VALUES]; /* log */
    double ratio[VALUES];   /* of a value's to that of the one before */
};

/* ---- listing ---- */

static double settled_at(const struct along_count *k, const void *state,
                         double x)
{
    double settled;
    k->step->tilt(state, k->element, &x, &settled);
    return settled;
}

/* The least value that is possible, at most `now`. */
static double least_value(const struct along_count *k, const void *state,
                          double now)
{
    double least = now;
    while (least > 0 && now - least < SEARCHED &&
           isfinite(settled_at(k, state, least - 1)))
        least--;
    return least;
}

/* False: it is none for this. */
static bool list_values(struct along_count *k, const void *state)
{
    double now, first = 0;
    bool concave = true, ended = false;
    k->step->block_get(state, k->element, &now);
    k->least = least_value(k, state, now);
    for (int i = 0; i < VALUES; i++) {
        const double log = settled_at(k, state, k->least + i);
        first = i == 0 ? log : first;
        ended = ended || !isfinite(log);
        k->settled[i] = ended ? -(double)INFINITY : log - first;
        k->ratio[i] =
            ended || i == 0 ? 0 : exp(k->settled[i] - k->settled[i - 1]);
        if (!ended && i > 1) /* as far as rounding tells */
            concave = concave && isfinite(k->ratio[i]) &&
                      k->ratio[i] <= k->ratio[i - 1] * (1 + 1e-6);
    }
    return concave && isfinite(first);
}

static bool add_step(struct host_along *a, const struct gbm_step *s,
                     const void *state)
{
    const struct rt_step *to = &a->in->steps[s->number];
    const int64_t n = a->nsummed + to->count;
    if (n > MOST_COUNTS)
        return true;
    struct along_count *grown = realloc(a->summed, (size_t)n * sizeof *grown);
    if (!grown)
        return false;
    a->summed = grown;
    for (int64_t i = 0; i < to->count; i++) {
        struct along_count *k = &grown[a->nsummed + i];
        k->step = s;
        k->element = to->elements ? to->elements[i] : i;
        if (!list_values(k, state))
            return true; /* of such a step none is summed out */
    }
    a->nsummed = n;
    return true;
}

bool along_list_summed(struct host_along *a, const void *state)
{
    const struct gbm_model *m = a->in->model;
    for (int i = 0; i < m->nsteps; i++) {
        const struct gbm_step *s = &m->steps[i];
        const struct rt_step *to = &a->in->steps[s->number];
        if (s->tilt && to->active && !to->barren && to->count > 0 &&
            !add_step(a, s, state))
            return false;
    }
    return true;
}

bool along_sums_out(const struct host_along *a, int family)
{
    for (int64_t i = 0; i < a->nsummed; i++)
        if (a->summed[i].step->family == family)
            return true;
    return false;
}

double along_cost_of_summed(const struct host_along *a)
{
    return (double)a->nsummed * OF_COUNT;
}

/* ---- sums ---- */

struct sum {
    double total; /* of the values' weights beside that of the least, over */
    double log;   /* exp(log), as far as they count */
};

/* Up to where the share `until` of `whole` is passed, the last index. */
static struct sum add_up(const struct along_count *k, double tilted,
                         const struct sum *whole, double until, int *last)
{
    struct sum s = {.total = 1};
    double term = 1;
    int i = 0;
    while (i + 1 < VALUES) {
        if (whole && s.total >= until * whole->total * exp(whole->log - s.log))
            break;
        const double ratio = k->ratio[i + 1] * tilted;
        if (!whole && ratio < 1 && term < NEGLIGIBLE * s.total)
            break;
        if (ratio == 0)
            break;
        term *= ratio;
        s.total += term;
        i++;
        if (s.total > LARGE) {
            s.total /= LARGE;
            term /= LARGE;
            s.log += log(LARGE);
        }
    }
    *last = i;
    return s;
}

/* Log probability of a count as it is, given the rest. NaN: it is beyond what
 * is listed, or impossible. */
static double log_probability(const struct along_count *k, const void *state)
{
    const double tilt = k->step->tilt(state, k->element, NULL, NULL);
    double now;
    int last;
    k->step->block_get(state, k->element, &now);
    const double i = now - k->least;
    if (!(i >= 0 && i < VALUES) || !(tilt < STEEP))
        return (double)NAN;
    if (tilt == -(double)INFINITY)
        return i == 0 ? 0 : (double)NAN;
    const struct sum s = add_up(k, exp(tilt), NULL, 1, &last);
    return k->settled[(int)i] + tilt * i - log(s.total) - s.log;
}

double along_log_summed(const struct host_along *a, const void *state)
{
    double sum = 0;
    for (int64_t i = 0; i < a->nsummed && !isnan(sum); i++)
        sum += log_probability(&a->summed[i], state);
    return sum;
}

void along_draw_summed(const struct host_along *a, const void *state,
                       struct gbm_rng *rng)
{
    for (int64_t i = 0; i < a->nsummed; i++) {
        const struct along_count *k = &a->summed[i];
        const double tilted = exp(k->step->tilt(state, k->element, NULL, NULL));
        int last;
        const struct sum whole = add_up(k, tilted, NULL, 1, &last);
        add_up(k, tilted, &whole, gbm_uniform(rng), &last);
        const double x = k->least + last;
        k->step->block_set(state, k->element, &x);
    }
}
