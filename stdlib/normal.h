/* normal.h: standard normal draws by inversion: one uniform a draw, so that a
 * draw is a smooth function of the stream. */
#ifndef GBM_NORMAL_H
#define GBM_NORMAL_H

#include "normal_function.h"
#include "rng.h"

GBM_FN real gbm_draw_normal(struct gbm_rng *rng)
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

#endif
