/* normals.h: many standard normals of one stream. */
#ifndef GBM_NORMALS_H
#define GBM_NORMALS_H

#include "normal.h"
#include "team.h"
#ifdef GBM_AT_ONCE
#include "ahead.h"

/* So many are worth the vector unit. */
#define GBM_NORMALS_WORTH 8

/* The words of a stream's next GBM_AHEAD_GROUP blocks. */
GBM_INLINE void gbm_blocks_at_once(const struct gbm_rng *rng,
                                   struct gbm_ahead *out)
{
    for (int i = 0; i < GBM_AHEAD_GROUP; i += GBM_LANES) {
        const gbm_lanes zero = {0};
        gbm_lanes x[4] = {zero + rng->block + (uint32_t)i, zero + rng->element,
                          zero + rng->sweep, zero + rng->step};
        for (int lane = 0; lane < GBM_LANES; lane++)
            x[0][lane] += (uint32_t)lane;
        gbm_philox_lanes(x, zero + rng->key0, zero + rng->key1);
        gbm_store_lanes(x, i, out);
    }
}

/* The next n normals, n <= 2 GBM_AHEAD_GROUP, of a stream between blocks. */
GBM_FN_COMMON void gbm_draw_normals_at_once(struct gbm_rng *rng, int n,
                                            real *z);

#if GBM_OWN_COMMON
GBM_FN_COMMON void gbm_draw_normals_at_once(struct gbm_rng *rng, int n, real *z)
{
    struct gbm_ahead out;
    gbm_blocks_at_once(rng, &out);
    for (int half = 0; half < 2; half++)
        gbm_normals_ahead(out.words[half], out.normal[half]);
    for (int i = 0; i < n; i++)
        z[i] = out.normal[i % 2][i / 2];
    rng->block += (uint32_t)(n + 1) / 2;
    rng->left = 0;
    if (n % 2 == 1) {
        const uint64_t late = out.words[1][n / 2];
        rng->word0 = (uint32_t)(late >> 32);
        rng->word1 = (uint32_t)late;
        rng->left = 2;
    }
}
#endif
#endif

/* z[0 .. n - 1], as gbm_draw_normal gives them one after another. */
GBM_FN void gbm_draw_normals(struct gbm_rng *rng, int n, real *z)
{
    for (int i = 0; i < n; i++) {
#ifdef GBM_AT_ONCE
        const int left = n - i;
        if (left >= GBM_NORMALS_WORTH && rng->left == 0 &&
            rng->block >= rng->nahead) {
            const int some =
                left < 2 * GBM_AHEAD_GROUP ? left : 2 * GBM_AHEAD_GROUP;
            gbm_draw_normals_at_once(rng, some, z + i);
            i += some - 1;
            continue;
        }
#endif
        z[i] = gbm_draw_normal(rng);
    }
}

/* z[0 .. n - 1] and u[0 .. n - 1]: a normal and a uniform in turn. */
GBM_FN void gbm_draw_pairs(struct gbm_rng *rng, int n, real *z, real *u)
{
    int i = 0;
#ifdef GBM_AT_ONCE
    for (; n - i >= GBM_AHEAD_GROUP / 2 && rng->left == 0;
         i += GBM_AHEAD_GROUP) {
        struct gbm_ahead out;
        const int some = n - i < GBM_AHEAD_GROUP ? n - i : GBM_AHEAD_GROUP;
        gbm_blocks_at_once(rng, &out);
        gbm_normals_ahead(out.words[0], out.normal[0]);
        for (int k = 0; k < some; k++) {
            z[i + k] = out.normal[0][k];
            u[i + k] = gbm_uniform_of(out.words[1][k]);
        }
        rng->block += (uint32_t)some;
    }
#endif
    for (; i < n; i++) {
        z[i] = gbm_draw_normal(rng);
        u[i] = gbm_uniform(rng);
    }
}

/* The same, where z is the team's: each lane fills its own places, and has left
 * out what the others drew. */
GBM_FN void gbm_team_normals(struct gbm_rng *rng, const struct gbm_team *team,
                             int n, real *z)
{
#ifdef __CUDACC__
    struct gbm_rng own = *rng;
    int at = 0;
    GBM_TEAM_FOR(i, 0, n, team)
    {
        gbm_rng_skip(&own, (uint32_t)(i - at));
        z[i] = gbm_draw_normal(&own);
        at = i + 1;
    }
    gbm_rng_skip(rng, (uint32_t)n);
#else
    (void)team;
    gbm_draw_normals(rng, n, z);
#endif
}

/* x[i] += what gbm_draw_normals gives. */
GBM_FN void gbm_shift_normals(struct gbm_rng *rng, int n, real *x)
{
    int i = 0;
#ifdef GBM_AT_ONCE
    while (n - i >= GBM_NORMALS_WORTH) {
        real z[2 * GBM_AHEAD_GROUP];
        const int most = 2 * GBM_AHEAD_GROUP;
        const int some = n - i < most ? n - i : most;
        gbm_draw_normals(rng, some, z);
        for (int j = 0; j < some; j++)
            x[i++] += z[j];
    }
#endif
    for (; i < n; i++)
        x[i] += gbm_draw_normal(rng);
}

#endif
