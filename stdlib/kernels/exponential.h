/* exponential.h: standard exponential draws by inversion; never 0. */
#ifndef GBM_EXPONENTIAL_H
#define GBM_EXPONENTIAL_H

#include "rng.h"

GBM_FN real gbm_draw_exponential(struct gbm_rng *rng)
{
#ifdef GBM_SINGLE
    /* 32 bits, so that the tail is not cut at 2^-24. */
    real u = ((real)gbm_rng_word(rng) + REAL_C(0.5)) *
             REAL_C(2.3283064365386963e-10);
    return u < 1 ? -real_log(u) : REAL_C(2.98e-8);
#else
    return -real_log(gbm_uniform(rng));
#endif
}

#endif
