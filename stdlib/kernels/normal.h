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

GBM_INLINE real gbm_draw_normal(struct gbm_rng *rng)
{
#if !defined(__CUDACC__) && !defined(GBM_SINGLE)
    const uint32_t at = 2 * rng->block - rng->left / 2; /* pairs of words */
    if (at < rng->normals && rng->left % 2 == 0) {
        const uint32_t place = rng->place + rng->stride * (at / 2);
        gbm_uniform(rng);
        return rng->ahead[place / GBM_AHEAD_GROUP]
            .normal[at % 2][place % GBM_AHEAD_GROUP];
    }
#endif
    return gbm_draw_normal_now(rng);
}

/* GBM_BEGINS_...: so many normals are what such a draw mostly begins with; see
 * GBM_NORMALS_FIRST. */
#define GBM_BEGINS_gbm_draw_normal ~, 1

#endif
