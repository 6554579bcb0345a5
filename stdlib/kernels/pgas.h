/* pgas.h: states along time, x[0], ..., x[n-1], each tied to its predecessor
 * and to what is observed at its time, drawn whole by particles: particle Gibbs
 * with ancestor sampling. Lindsten, Jordan and Schon (2014), Particle Gibbs
 * with ancestor sampling, JMLR 15, algorithm 2, with draws from the transition
 * and weights by the observations.
 *
 * What the functions ask of the model:
 *     draw(context, rng, t, from, &x)  x[t] given x[t-1] = from (at t = 0 given
 *                                      what is before); false: there is none
 *     lead(context, t, from, x)        log p(x[t] = x | x[t-1] = from), t >= 1,
 *                                      but for terms without `from`
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
    int n, particles, most; /* most: particles that there is room for */
    bool (*draw)(void *context, struct gbm_rng *rng, int t, real from, real *x);
    real (*lead)(void *context, int t, real from, real x);
    real (*weigh)(void *context, int t, real x);
    bool (*known)(void *context, int t);
    real (*current)(void *context, int t);
    void (*store)(void *context, int t, real x);
    /* Scratch: `most` cells for each t, `stride` cells apart; weights are
     * relative to the largest. */
    real *value, *weight, *ancestor;
    long long stride;
    /* Tuned: GBM_PGAS_TUNED cells for each t, so far apart; or NULL. */
    real *tuned;
    long long between;
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

/* i with a probability as weight[i], none of which is above `largest`: by
 * rejection, and nothing is summed (Murray, Lee and Jacob 2016, Parallel
 * resampling in the particle filter, section 2.3). In double precision what is
 * left of the uniform that chose i is another. */
GBM_FN int gbm_pgas_choose(struct gbm_rng *rng, int n, const real *weight,
                           real largest)
{
    for (;;) {
        const real place = gbm_uniform(rng) * n;
        const int i = (int)place;
#ifdef GBM_SINGLE
        const real rest = gbm_uniform(rng);
#else
        const real rest = place - i;
#endif
        if (i < n && rest * largest < weight[i])
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

/* The same of densities times the weights that particles have already, where
 * their product is above 0 for none in doubles. */
GBM_FN bool gbm_pgas_scale_logs(const struct gbm_pgas *p, int t, real to)
{
    const real *from = p->value + (t - 1) * p->stride;
    const real *before = p->weight + (t - 1) * p->stride;
    real *weight = p->weight + t * p->stride;
    GBM_TEAM_FOR(i, 0, p->particles, p->team)
    weight[i] = before[i] > 0
                    ? real_log(before[i]) + p->lead(p->context, t, from[i], to)
                    : -GBM_INF;
    return gbm_pgas_scale(p, weight);
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
    weight[i] = before[i] > 0 ? p->lead(p->context, t, from[i], to) : -GBM_INF;
    if (!gbm_pgas_scale(p, weight))
        return p->particles - 1;
    gbm_total largest = 0;
    GBM_TEAM_FOR(i, 0, p->particles, p->team)
    {
        weight[i] *= before[i];
        largest = weight[i] > largest ? weight[i] : largest;
    }
    largest = gbm_team_max(p->team, largest);
    gbm_team_sync(p->team);
    if (!(largest > REAL_C(1e-9))) {
        if (!gbm_pgas_scale_logs(p, t, to))
            return p->particles - 1;
        largest = 1;
    }
    const int chosen =
        gbm_pgas_choose(rng, p->particles, weight, (real)largest);
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
                             : gbm_pgas_choose(&own, p->particles, chances, 1);
        const real previous = t > 0 ? before[from] : 0;
        real x = current, w = 0;
        bool possible = true;
        if (known)
            w = t > 0 ? p->lead(p->context, t, previous, x) : 0;
        else if (i < last)
            possible = p->draw(p->context, &own, t, previous, &x);
        value[i] = x;
        ancestor[i] = (real)from;
        weight[i] = possible ? w + p->weigh(p->context, t, x) : -GBM_INF;
    }
    return gbm_pgas_scale(p, weight);
}

/* ---- how many particles ----------------------------------------------------
 *
 * Where the model does not say, warm-up learns how many. A state stays as it
 * is with a probability q about c / (c + particles - 1), where c tells how much
 * better than others the state in memory leads on and is weighed; so q of the
 * last sweeps says c, and c how many particles leave q at one in six for the
 * state that stays most often: more cost more than they bring. Rounds of sweeps
 * are twice as long each.
 *
 * What is tuned: [0] of each t how often it stayed in this round, and of t = 0:
 * [1] the particles, [2] sweeps of this round, [3] its length. All are 1 before
 * the first. */
enum { GBM_PGAS_TUNED = 4, GBM_PGAS_FIRST = 16, GBM_PGAS_FEWEST = 5 };
enum { GBM_PGAS_ROUND = 25, GBM_PGAS_REPLACED = 5 };

/* The particles to begin a sweep with. */
GBM_FN int gbm_pgas_particles(const real *tuned, int most, int adapting)
{
    const int first = most < GBM_PGAS_FIRST ? most : GBM_PGAS_FIRST;
    if (!(tuned[1] >= 2))
        return adapting ? first : most;
    return tuned[1] < most ? (int)tuned[1] : most;
}

/* As many as this round says. */
GBM_FN real gbm_pgas_learnt(const struct gbm_pgas *p)
{
    const real sweeps = p->tuned[2];
    gbm_total stayed = 0;
    GBM_TEAM_FOR(t, 0, p->n, p->team)
    if (!p->known(p->context, t) && p->tuned[t * p->between] > stayed)
        stayed = p->tuned[t * p->between];
    stayed = gbm_team_max(p->team, stayed);
    const real odds =
        ((real)stayed + REAL_C(0.5)) / (sweeps - (real)stayed + REAL_C(0.5));
    const real particles =
        1 + real_floor(GBM_PGAS_REPLACED * odds * (real)(p->particles - 1));
    const real fewest = p->most < GBM_PGAS_FEWEST ? p->most : GBM_PGAS_FEWEST;
    return gbm_clamp(particles, fewest, (real)p->most);
}

/* After a sweep of warm-up, of which the states have been counted. */
GBM_FN void gbm_pgas_learn(const struct gbm_pgas *p)
{
    gbm_team_sync(p->team);
    const bool begins = !(p->tuned[1] >= 2);
    const real sweeps = p->tuned[2] + 1, length = p->tuned[3];
    const bool ends = begins || sweeps >= length;
    const real particles =
        begins || !ends ? (real)p->particles : gbm_pgas_learnt(p);
    gbm_team_sync(p->team); /* all have read it */
    GBM_TEAM_FOR(t, 0, ends ? p->n : 0, p->team)
    p->tuned[t * p->between] = 0;
    if (p->team->lane == 0) {
        p->tuned[1] = particles;
        p->tuned[2] = ends ? 0 : sweeps;
        if (ends)
            p->tuned[3] = begins ? GBM_PGAS_ROUND : 2 * length;
    }
    gbm_team_sync(p->team);
}

/* Draws all states. Leaves them, and returns false, where none is possible. */
GBM_INLINE bool gbm_pgas_draw(struct gbm_rng *rng, const struct gbm_pgas *p,
                              int adapting)
{
    const struct gbm_rng streams = *rng;
    const bool counts = adapting && p->tuned && p->n > 0;
    for (int t = 0; t < p->n; t++) {
        const int kept = t > 0 ? gbm_pgas_ancestor(rng, p, t) : 0;
        if (!gbm_pgas_advance(&streams, p, t, kept))
            return false;
    }
    int at = p->n == 0 ? 0
                       : gbm_pgas_choose(rng, p->particles,
                                         p->weight + (p->n - 1) * p->stride, 1);
    for (int t = p->n - 1; t >= 0; t--) {
        if (t % p->team->lanes == p->team->lane) {
            p->store(p->context, t, p->value[t * p->stride + at]);
            if (counts && at == p->particles - 1)
                p->tuned[t * p->between]++;
        }
        at = (int)p->ancestor[t * p->stride + at];
    }
    gbm_team_sync(p->team);
    if (counts)
        gbm_pgas_learn(p);
    return true;
}

#endif
