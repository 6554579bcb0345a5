/* pgas.h: states along time, x[0], ..., x[n-1], each tied to its predecessor
 * and to what is observed at its time, drawn whole by particles: particle Gibbs
 * with ancestor sampling. Lindsten, Jordan and Schon (2014), Particle Gibbs
 * with ancestor sampling, JMLR 15, algorithm 2, with draws from the transition
 * and weights by the observations.
 *
 * What the functions ask of the model:
 *     draw(context, rng, t, from, &x)  x[t] given x[t-1] = from (at t = 0 given
 *                                      what is before); false: there is none
 *     transition(context, t, from, x)  log p(x[t] = x | x[t-1] = from), t >= 1
 *     weigh(context, t, x)             the log of all else that depends on x[t]
 *     known(context, t)                x[t] is observed
 *     current(context, t), store(context, t, x)
 * A lane calls them for its particles alone. */
#ifndef GBM_PGAS_H
#define GBM_PGAS_H

#include "rng.h"
#include "team.h"

struct gbm_pgas {
    void *context;
    const struct gbm_team *team;
    int n, particles;
    bool (*draw)(void *context, struct gbm_rng *rng, int t, real from, real *x);
    real (*transition)(void *context, int t, real from, real x);
    real (*weigh)(void *context, int t, real x);
    bool (*known)(void *context, int t);
    real (*current)(void *context, int t);
    void (*store)(void *context, int t, real x);
    /* Scratch: `particles` cells for each t, `stride` cells apart; weights are
     * relative to the largest. */
    real *value, *weight, *ancestor;
    long long stride;
};

/* The stream of particle k of all, beside the element's own. */
GBM_FN struct gbm_rng gbm_pgas_stream(const struct gbm_rng *rng, long long k)
{
    struct gbm_rng own = *rng;
    const uint64_t key = (uint64_t)rng->key1 << 32 | rng->key0;
    const uint64_t other =
        gbm_mix(key + 0x9E3779B97F4A7C15u * ((uint64_t)k + 1));
    own.key0 = (uint32_t)other;
    own.key1 = (uint32_t)(other >> 32);
    own.block = own.left = 0;
#ifndef __CUDACC__
    own.ahead = NULL;
    own.nahead = own.normals = 0;
#endif
    return own;
}

/* i with a probability as weight[i], the largest of which is 1: by rejection,
 * n tries at most on average, and nothing is summed (Murray, Lee and Jacob
 * 2016, Parallel resampling in the particle filter, section 2.3). */
GBM_FN int gbm_pgas_choose(struct gbm_rng *rng, int n, const real *weight)
{
    for (;;) {
        const int i = (int)(gbm_uniform(rng) * n);
        if (i < n && gbm_uniform(rng) < weight[i])
            return i;
    }
}

/* Of logarithms: weights relative to the largest; false if all are 0. A lane
 * has its own particles', and has waited for nobody. */
GBM_FN bool gbm_pgas_scale(const struct gbm_pgas *p, real *weight)
{
    gbm_total largest = -GBM_INF;
    GBM_TEAM_FOR(i, 0, p->particles, p->team)
    {
        if (!(weight[i] < GBM_INF)) /* NaN is no density */
            weight[i] = -GBM_INF;
        largest = weight[i] > largest ? weight[i] : largest;
    }
    largest = gbm_team_max(p->team, largest);
    if (!(largest > -GBM_INF))
        return false;
    GBM_TEAM_FOR(i, 0, p->particles, p->team)
    weight[i] = real_exp(weight[i] - (real)largest);
    gbm_team_sync(p->team);
    return true;
}

/* The particle at t - 1 that the state in memory at t goes on from, as likely
 * as it leads there; the last one is the one in memory. */
GBM_INLINE int gbm_pgas_ancestor(struct gbm_rng *rng, const struct gbm_pgas *p,
                                 int t)
{
    const real *from = p->value + (t - 1) * p->stride;
    const real *before = p->weight + (t - 1) * p->stride;
    real *weight = p->weight + t * p->stride;
    const real to = p->current(p->context, t);
    GBM_TEAM_FOR(i, 0, p->particles, p->team)
    weight[i] = before[i] > 0 ? real_log(before[i]) +
                                    p->transition(p->context, t, from[i], to)
                              : -GBM_INF;
    if (!gbm_pgas_scale(p, weight))
        return p->particles - 1;
    const int chosen = gbm_pgas_choose(rng, p->particles, weight);
    gbm_team_sync(p->team); /* all have read the weights */
    return chosen;
}

/* The particles of time t, the last of them the state in memory, which goes on
 * from particle `kept`. */
GBM_INLINE bool gbm_pgas_advance(const struct gbm_rng *rng,
                                 const struct gbm_pgas *p, int t, int kept)
{
    const int last = p->particles - 1;
    const real *before = p->value + (t - 1) * p->stride;
    const real *chances = p->weight + (t - 1) * p->stride;
    real *value = p->value + t * p->stride, *weight = p->weight + t * p->stride;
    real *ancestor = p->ancestor + t * p->stride;
    const real current = p->current(p->context, t);
    const bool known = p->known(p->context, t);
    GBM_TEAM_FOR(i, 0, p->particles, p->team)
    {
        struct gbm_rng own =
            gbm_pgas_stream(rng, (long long)t * p->particles + i);
        const int from = t == 0 ? 0
                         : i == last
                             ? kept
                             : gbm_pgas_choose(&own, p->particles, chances);
        const real previous = t > 0 ? before[from] : 0;
        real x = current, w = 0;
        bool possible = true;
        if (known)
            w = t > 0 ? p->transition(p->context, t, previous, x) : 0;
        else if (i < last)
            possible = p->draw(p->context, &own, t, previous, &x);
        value[i] = x;
        ancestor[i] = (real)from;
        weight[i] = possible ? w + p->weigh(p->context, t, x) : -GBM_INF;
    }
    return gbm_pgas_scale(p, weight);
}

/* Draws all states. Leaves them, and returns false, where none is possible. */
GBM_INLINE bool gbm_pgas_draw(struct gbm_rng *rng, const struct gbm_pgas *p)
{
    const struct gbm_rng streams = *rng;
    for (int t = 0; t < p->n; t++) {
        const int kept = t > 0 ? gbm_pgas_ancestor(rng, p, t) : 0;
        if (!gbm_pgas_advance(&streams, p, t, kept))
            return false;
    }
    int at = p->n == 0 ? 0
                       : gbm_pgas_choose(rng, p->particles,
                                         p->weight + (p->n - 1) * p->stride);
    for (int t = p->n - 1; t >= 0; t--) {
        if (t % p->team->lanes == p->team->lane)
            p->store(p->context, t, p->value[t * p->stride + at]);
        at = (int)p->ancestor[t * p->stride + at];
    }
    gbm_team_sync(p->team);
    return true;
}

#endif
