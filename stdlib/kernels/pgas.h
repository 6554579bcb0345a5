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
#ifdef GBM_AT_ONCE
#include "ahead.h"
#endif

struct gbm_pgas {
    void *context;
    const struct gbm_team *team;
    int n, particles, most; /* most: particles that there is room for */
    bool normal;            /* draws mostly begin with a normal */
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

/* The key of the stream of particle k of all. */
GBM_FN uint64_t gbm_pgas_key(const struct gbm_rng *rng, long long k)
{
    const uint64_t key = (uint64_t)rng->key1 << 32 | rng->key0;
    return gbm_mix(key + 0x9E3779B97F4A7C15u * ((uint64_t)k + 1));
}

/* That stream, beside the element's own. */
GBM_FN struct gbm_rng gbm_pgas_stream(const struct gbm_rng *rng, long long k)
{
    struct gbm_rng own = *rng;
    const uint64_t key = gbm_pgas_key(rng, k);
    own.key0 = (uint32_t)key;
    own.key1 = (uint32_t)(key >> 32);
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
GBM_FN bool gbm_pgas_try(struct gbm_rng *rng, int n, const real *weight,
                         real largest, int *i)
{
    const real place = gbm_uniform(rng) * n;
    *i = (int)place;
#ifdef GBM_SINGLE
    const real rest = gbm_uniform(rng);
#else
    const real rest = place - *i;
#endif
    return *i < n && rest * largest < weight[*i];
}

GBM_FN int gbm_pgas_choose(struct gbm_rng *rng, int n, const real *weight,
                           real largest)
{
    int i;
    while (!gbm_pgas_try(rng, n, weight, largest, &i))
        ;
    return i;
}

/* Another particle than the last, the one in memory, or this one again: leaves
 * probabilities as weight[i] as they are, and stays less often than a draw from
 * these. Liu (1996), Peskun's theorem and a modified discrete-state Gibbs
 * sampler, Biometrika 83. */
GBM_FN int gbm_pgas_leave(struct gbm_rng *rng, const struct gbm_pgas *p,
                          const real *weight)
{
    const int last = p->particles - 1;
    gbm_total others = 0, largest = 0;
    GBM_TEAM_FOR(i, 0, last, p->team)
    {
        others += weight[i];
        largest = weight[i] > largest ? weight[i] : largest;
    }
    others = gbm_team_sum(p->team, others);
    largest = gbm_team_max(p->team, largest);
    if (!(largest > 0))
        return last;
    const int i = gbm_pgas_choose(rng, last, weight, (real)largest);
    const gbm_total back = others - weight[i] + weight[last];
    return gbm_uniform(rng) * back < others ? i : last;
}

/* i as likely for particle k of all, whose predecessor it is. Its stream's
 * first block is for two tries and the next begins its draw. */
GBM_FN int gbm_pgas_descend(const struct gbm_rng *rng, struct gbm_rng *own,
                            long long k, int n, const real *weight)
{
    int i;
    const bool found = gbm_pgas_try(own, n, weight, 1, &i) ||
                       gbm_pgas_try(own, n, weight, 1, &i);
    own->block = 1;
    own->left = 0;
    if (found)
        return i;
    struct gbm_rng more = gbm_pgas_stream(rng, -k - 2);
    return gbm_pgas_choose(&more, n, weight, 1);
}

/* Streams of neighbouring particles. The host computes two blocks of each at
 * once, and what of the second may be a normal. */
struct gbm_pgas_group {
#ifndef GBM_AT_ONCE
    int none;
#else
    uint64_t key0[GBM_AHEAD_GROUP], key1[GBM_AHEAD_GROUP];
    struct gbm_ahead ahead[2];
#endif
};

#ifdef GBM_AT_ONCE
GBM_FN_BIG void gbm_pgas_ahead(struct gbm_pgas_group *g,
                               const struct gbm_rng *rng, long long k,
                               bool normal)
{
    const gbm_lanes zero = {0};
    for (int i = 0; i < GBM_AHEAD_GROUP; i++) {
        const uint64_t key = gbm_pgas_key(rng, k + i);
        g->key0[i] = (uint32_t)key;
        g->key1[i] = key >> 32;
    }
    for (int block = 0; block < 2; block++)
        for (int i = 0; i < GBM_AHEAD_GROUP; i += GBM_LANES) {
            gbm_lanes key0, key1;
            gbm_lanes x[4] = {zero + (uint32_t)block, zero + rng->element,
                              zero + rng->sweep, zero + rng->step};
            __builtin_memcpy(&key0, &g->key0[i], sizeof key0);
            __builtin_memcpy(&key1, &g->key1[i], sizeof key1);
            gbm_philox_lanes(x, key0, key1);
            gbm_store_lanes(x, i, &g->ahead[block]);
        }
    if (normal)
        gbm_normals_ahead(g->ahead[1].words[0], g->ahead[1].normal[0]);
}

/* The stream of particle k of all, which are asked for one after another. In
 * place: what was just written word by word is slow to copy as a whole. */
GBM_FN void gbm_pgas_own(struct gbm_pgas_group *g, const struct gbm_rng *rng,
                         const struct gbm_pgas *p, long long k,
                         struct gbm_rng *own)
{
    const uint32_t place = (uint32_t)(k % GBM_AHEAD_GROUP);
    if (place == 0)
        gbm_pgas_ahead(g, rng, k, p->normal);
    *own = *rng;
    own->key0 = (uint32_t)g->key0[place];
    own->key1 = (uint32_t)g->key1[place];
    own->block = own->left = 0;
    own->ahead = g->ahead;
    own->place = place;
    own->stride = GBM_AHEAD_GROUP;
    own->nahead = 2;
    own->normals = p->normal ? 3 : 0;
}
#else
GBM_FN void gbm_pgas_own(const struct gbm_pgas_group *g,
                         const struct gbm_rng *rng, const struct gbm_pgas *p,
                         long long k, struct gbm_rng *own)
{
    (void)g;
    (void)p;
    *own = gbm_pgas_stream(rng, k);
}
#endif

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

/* Of the weights that particles have already, and how each leads to a state:
 * the product where it is too small to be rounded well. */
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
    if (!(largest > REAL_C(1e-9)) && !gbm_pgas_scale_logs(p, t, to))
        return p->particles - 1;
    const int chosen = gbm_pgas_leave(rng, p, weight);
    gbm_team_sync(p->team); /* all have read the weights */
    return chosen;
}

/* The particles of time t, the last of them the state in memory, which goes on
 * from particle `kept`. */
GBM_INLINE bool gbm_pgas_advance(const struct gbm_rng *rng,
                                 struct gbm_pgas_group *group,
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
        const long long k = (long long)t * p->particles + i;
        struct gbm_rng own;
        gbm_pgas_own(group, rng, p, k, &own);
        int from = t == 0 ? 0 : kept;
        if (t > 0 && i < last)
            from = gbm_pgas_descend(rng, &own, k, p->particles, chances);
        else
            own.block = 1;
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

/* As many as this round, of so many sweeps, says. */
GBM_FN real gbm_pgas_learnt(const struct gbm_pgas *p, real sweeps)
{
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
        begins || !ends ? (real)p->particles : gbm_pgas_learnt(p, sweeps);
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
    struct gbm_pgas_group group;
    for (int t = 0; t < p->n; t++) {
        const int kept = t > 0 ? gbm_pgas_ancestor(rng, p, t) : 0;
        if (!gbm_pgas_advance(&streams, &group, p, t, kept))
            return false;
    }
    int at = p->n == 0
                 ? 0
                 : gbm_pgas_leave(rng, p, p->weight + (p->n - 1) * p->stride);
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
