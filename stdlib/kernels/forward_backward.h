/* forward_backward.h: a chain of discrete nodes, z[0], ..., z[n-1], each with K
 * values and tied to its neighbours alone, drawn whole: forward filtering, then
 * backward sampling. Rabiner (1989), A tutorial on hidden Markov models,
 * section III; Scott (2002), Bayesian methods for hidden Markov models, section
 * 2.1.2.
 *
 * What the functions ask of the model, up to factors that are the same for all
 * values, which are numbered from 0:
 *     enter(context, k)             log p(z[0] = k | what is before)
 *     transition(context, t, j, k)  p(z[t] = k | z[t-1] = j), t >= 1
 *     emission(context, t, k)       the log of all else that depends on z[t],
 *                                   at k; -inf, inf or NaN where z[t] cannot
 *                                   be k. Asked for with k = 0, 1, ...
 *     current(context, t)           the value in the state
 *     store(context, t, k)
 *     label(context, k)             of what the whole chain depends on, as the
 *                                   class of a subject: makes it k; the log of
 *                                   all else that depends on it */
#ifndef GBM_FORWARD_BACKWARD_H
#define GBM_FORWARD_BACKWARD_H

#include "rng.h"
#include "team.h"

/* Values beyond which the work, K^2 a step, is not worth it; see
 * gbm_chain_sites. */
#define GBM_CHAIN_VALUES 32
/* Labels beyond which as many filters are not. */
#define GBM_CHAIN_LABELS 16

struct gbm_chain {
    void *context;
    const struct gbm_team *team;
    int n, K;
    bool homogeneous; /* transition does not depend on t */
    real (*enter)(void *context, int k);
    real (*transition)(void *context, int t, int j, int k);
    real (*emission)(void *context, int t, int k);
    int (*current)(void *context, int t);
    void (*store)(void *context, int t, int k);
};

/* log of the values' weights at t, without the transitions. */
GBM_INLINE void gbm_chain_emissions(const struct gbm_chain *c, int t,
                                    real *value)
{
    for (int k = 0; k < c->K; k++) {
        value[k] = c->emission(c->context, t, k);
        if (t == 0 && gbm_is_finite(value[k]))
            value[k] += c->enter(c->context, k);
        if (!gbm_is_finite(value[k]))
            value[k] = -GBM_INF;
    }
}

/* Forward. filter: scratch, K cells for each t, `stride` cells apart; table:
 * K^2 cells. K is at most GBM_CHAIN_VALUES. Returns the log of the sum over all
 * paths, -inf if none is possible. */
GBM_INLINE real gbm_chain_filter(const struct gbm_chain *c, real *table,
                                 real *filter, long long stride)
{
    real here[GBM_CHAIN_VALUES], all = 0, last = 1;
    const int K = c->K;
    for (int j = 0; c->homogeneous && c->n > 1 && j < K; j++)
        for (int k = 0; k < K; k++)
            table[j * K + k] = c->transition(c->context, 1, j, k);
    for (int t = 0; t < c->n; t++) {
        const real *before = filter + (t - 1) * stride;
        real largest = -GBM_INF;
        gbm_chain_emissions(c, t, here);
        for (int k = 0; k < K; k++) {
            real sum = 0;
            for (int j = 0; t > 0 && here[k] > -GBM_INF && j < K; j++)
                if (before[j] > 0)
                    sum +=
                        before[j] * (c->homogeneous
                                         ? table[j * K + k]
                                         : c->transition(c->context, t, j, k));
            if (t > 0)
                here[k] = sum > 0 ? here[k] + real_log(sum) : -GBM_INF;
            largest = real_fmax(here[k], largest);
        }
        if (!(largest > -GBM_INF && largest < GBM_INF))
            return -GBM_INF;
        all += largest;
        last = 0;
        gbm_team_sync(c->team);
        for (int k = 0; k < K; k++) {
            const real share =
                here[k] > -GBM_INF ? real_exp(here[k] - largest) : 0;
            filter[t * stride + k] = share;
            last += share;
        }
        gbm_team_sync(c->team);
    }
    return all + real_log(last);
}

/* Backward, behind gbm_chain_filter. */
GBM_INLINE void gbm_chain_back(struct gbm_rng *rng, const struct gbm_chain *c,
                               const real *table, const real *filter,
                               long long stride)
{
    const int K = c->K;
    int next = 0;
    for (int t = c->n - 1; t >= 0; t--) {
        real total = 0;
        int kept = 0;
        for (int k = 0; k < K; k++) {
            real weight = filter[t * stride + k];
            if (weight > 0 && t < c->n - 1)
                weight *= c->homogeneous
                              ? table[k * K + next]
                              : c->transition(c->context, t + 1, k, next);
            if (!(weight > 0))
                continue;
            total += weight;
            if (gbm_uniform(rng) * total < weight)
                kept = k;
        }
        c->store(c->context, t, kept);
        next = kept;
    }
}

/* Draws the whole chain; scratch as above. Does nothing and returns false if no
 * path is possible. */
GBM_INLINE bool gbm_chain_draw(struct gbm_rng *rng, const struct gbm_chain *c,
                               real *filter, long long stride)
{
    real table[GBM_CHAIN_VALUES * GBM_CHAIN_VALUES];
    if (!(gbm_chain_filter(c, table, filter, stride) > -GBM_INF))
        return false;
    gbm_chain_back(rng, c, table, filter, stride);
    return true;
}

/* Of values that come one by one, whether this one, of which `value` is the log
 * weight, takes the place of those before, whose sum is *total exp(*largest).
 */
GBM_INLINE bool gbm_chain_takes(struct gbm_rng *rng, real value, real *largest,
                                real *total)
{
    real weight = 1;
    if (value > *largest) {
        *total *= real_exp(*largest - value);
        *largest = value;
    } else {
        weight = real_exp(value - *largest);
    }
    *total += weight;
    return gbm_uniform(rng) * *total < weight;
}

/* Draws the label, first to last, `was` so far, with the chain summed out, and
 * then the chain. If no path of no label is possible, all stays as it is. What
 * was comes last: where it stays, its filter is at hand. */
GBM_INLINE bool gbm_chain_draw_with_label(struct gbm_rng *rng,
                                          const struct gbm_chain *c,
                                          real *filter, long long stride,
                                          real (*label)(void *context, int k),
                                          int first, int last, int was)
{
    real table[GBM_CHAIN_VALUES * GBM_CHAIN_VALUES];
    real largest = -GBM_INF, total = 0;
    int kept = was;
    for (int i = first; i <= last; i++) {
        const int k = i == last ? was : i + (i >= was);
        real value = label(c->context, k);
        if (gbm_is_finite(value))
            value += gbm_chain_filter(c, table, filter, stride);
        if (gbm_is_finite(value) &&
            gbm_chain_takes(rng, value, &largest, &total))
            kept = k;
    }
    if (!(total > 0))
        return false;
    if (kept != was) {
        label(c->context, kept);
        gbm_chain_filter(c, table, filter, stride);
    }
    gbm_chain_back(rng, c, table, filter, stride);
    return true;
}

/* Draws each node given its neighbours, in turn: for many values. */
GBM_INLINE void gbm_chain_sites(struct gbm_rng *rng, const struct gbm_chain *c)
{
    for (int t = 0; t < c->n; t++) {
        real largest = -GBM_INF, total = 0;
        int kept = c->current(c->context, t);
        int left = t > 0 ? c->current(c->context, t - 1) : 0;
        int right = t < c->n - 1 ? c->current(c->context, t + 1) : 0;
        for (int k = 0; k < c->K; k++) {
            real value = c->emission(c->context, t, k);
            if (!gbm_is_finite(value))
                continue;
            value += t > 0 ? real_log(c->transition(c->context, t, left, k))
                           : c->enter(c->context, k);
            if (t < c->n - 1)
                value += real_log(c->transition(c->context, t + 1, k, right));
            if (gbm_is_finite(value) &&
                gbm_chain_takes(rng, value, &largest, &total))
                kept = k;
        }
        c->store(c->context, t, kept);
    }
}

#endif
