/* gamma.h: gamma draws of unit rate.
 *
 * Marsaglia and Tsang, "A simple method for generating gamma variables" (ACM
 * TOMS 26, 2000). A shape below 1 is raised by one and the draw multiplied by
 * U^(1/shape) = exp(-E/shape), E exponential. Shape 0.001 gives values like
 * e^-1000: then the logarithm serves. */
#ifndef GBM_GAMMA_H
#define GBM_GAMMA_H

#include "exponential.h"
#include "normal.h"

#define GBM_BEGINS_gbm_draw_gamma ~, 1
#define GBM_BEGINS_gbm_draw_log_gamma ~, 1
#define GBM_BEGINS_gbm_draw_inverse_gamma ~, 1

/* Shape at least 1 (at least 1/3 would do). */
GBM_FN real gbm_draw_gamma_large(struct gbm_rng *rng, real shape)
{
    real d = shape - REAL_C(1.0 / 3);
    real c = 1 / (3 * real_sqrt(d));
    for (;;) {
        real x = gbm_draw_normal(rng);
        real v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        real u = gbm_uniform(rng), x2 = x * x;
        if (u < 1 - REAL_C(0.0331) * x2 * x2 ||
            real_log(u) < x2 / 2 + d * (1 - v + real_log(v)))
            return d * v;
    }
}

/* The logarithm of a gamma draw: no underflow, whatever the shape > 0. */
GBM_FN_BIG real gbm_draw_log_gamma(struct gbm_rng *rng, real shape)
{
    if (shape >= 1)
        return real_log(gbm_draw_gamma_large(rng, shape));
    real x = gbm_draw_gamma_large(rng, shape + 1);
    return real_log(x) - gbm_draw_exponential(rng) / shape;
}

/* A gamma draw with mean `shape`, strictly positive: below the smallest normal
 * number it is that number. NaN unless shape > 0. */
GBM_FN real gbm_draw_gamma(struct gbm_rng *rng, real shape)
{
    if (!(shape > 0 && gbm_is_finite(shape)))
        return GBM_NAN;
    const real x = gbm_draw_gamma_large(rng, shape < 1 ? shape + 1 : shape);
    if (shape >= 1)
        return x;
    const real power = gbm_draw_exponential(rng) / shape;
    return real_fmax(x * real_exp(-power), GBM_TINY);
}

/* 1 / gamma: density proportional to x^(-shape-1) exp(-1/x). Finite. */
GBM_FN real gbm_draw_inverse_gamma(struct gbm_rng *rng, real shape)
{
    return real_fmin(1 / gbm_draw_gamma(rng, shape), GBM_HUGE);
}

#endif
