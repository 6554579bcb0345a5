/* normal.h: standard normal draws by inversion: one uniform a draw, so that a
 * draw is a smooth function of the stream. */
#ifndef GBM_NORMAL_H
#define GBM_NORMAL_H

#include "normal_function.h"
#include "rng.h"

#ifdef __CUDACC__
#define GBM_NORMAL_OF GBM_FN
#else
#define GBM_NORMAL_OF GBM_FN_BIG /* few draws come here: ahead.h */
#endif

GBM_NORMAL_OF real gbm_draw_normal_now(struct gbm_rng *rng)
{
#ifdef GBM_SINGLE
    /* Sign and tail probability apart: the tails reach 2^-32, not 2^-24. */
    uint32_t word = gbm_rng_word(rng);
    real p = ((real)(word >> 1) + REAL_C(0.5)) * REAL_C(2.3283064365386963e-10);
    real x = gbm_probit(p);
    return word & 1 ? x : -x;
#else
    return gbm_probit(gbm_uniform(rng));
#endif
}

GBM_FN real gbm_draw_normal(struct gbm_rng *rng)
{
#if !defined(__CUDACC__) && !defined(GBM_SINGLE)
    if (rng->normal && rng->block == 0) { /* nothing was drawn yet */
        const struct gbm_ahead *group =
            &rng->ahead[rng->place / GBM_AHEAD_GROUP];
        gbm_uniform(rng);
        return group->normal[rng->place % GBM_AHEAD_GROUP];
    }
#endif
    return gbm_draw_normal_now(rng);
}

/* GBM_BEGINS_...: such a draw begins with a normal one, whatever its arguments,
 * if it draws at all; see GBM_NORMAL_FIRST. */
#define GBM_BEGINS_gbm_draw_normal ~, 1

#endif
