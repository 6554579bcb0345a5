/* beta.h: beta draws from two gammas; in logarithms where a parameter is small,
 * as then both gammas may underflow. The result is inside (0, 1): what would
 * round to 1 is the largest number below 1. */
#ifndef GBM_BETA_H
#define GBM_BETA_H

#include "gamma.h"

GBM_FN real gbm_draw_beta(struct gbm_rng *rng, real a, real b)
{
    real x;
    if (!(a > 0 && b > 0))
        return GBM_NAN;
    if (a >= 1 && b >= 1) {
        real first = gbm_draw_gamma(rng, a);
        x = first / (first + gbm_draw_gamma(rng, b));
    } else {
        real odds = gbm_draw_log_gamma(rng, a);
        odds -= gbm_draw_log_gamma(rng, b);
        x = odds > 0 ? 1 / (1 + real_exp(-odds))
                     : real_exp(odds) / (1 + real_exp(odds));
    }
    return gbm_clamp(x, GBM_TINY, 1 - GBM_EPSILON / 2);
}

#endif
