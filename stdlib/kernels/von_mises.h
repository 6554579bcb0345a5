/* von_mises.h: von Mises draws on (mu - pi, mu + pi]: density proportional to
 * exp(kappa cos(x - mu)).
 *
 * Best and Fisher, "Efficient simulation of the von Mises distribution"
 * (Applied Statistics 28, 1979): rejection from a wrapped Cauchy. */
#ifndef GBM_VON_MISES_H
#define GBM_VON_MISES_H

#include "normal.h"

GBM_FN real gbm_draw_von_mises(struct gbm_rng *rng, real mu, real kappa)
{
    if (!(kappa >= 0))
        return GBM_NAN;
    if (kappa < REAL_C(1e-8)) /* uniform to rounding */
        return mu + GBM_PI * (2 * gbm_uniform(rng) - 1);
    if (kappa > REAL_C(1e8)) /* normal to 1e-8 */
        return mu + gbm_draw_normal(rng) / real_sqrt(kappa);
    real tau = 1 + real_sqrt(1 + 4 * kappa * kappa);
    /* r - 1 with r = (1 + rho^2) / (2 rho), rho the Cauchy's parameter: kept
     * apart from 1, as it is small for large kappa */
    real rho = (tau - real_sqrt(2 * tau)) / (2 * kappa);
    real excess = (1 - rho) * (1 - rho) / (2 * rho);
    for (;;) {
        /* 1 - f with f = cos of the angle, likewise */
        real s = gbm_square(real_sin(GBM_PI / 2 * gbm_uniform(rng)));
        real off = 2 * s * excess / (excess + 2 - 2 * s); /* 1 - f */
        real c = kappa * (excess + off);
        real u = gbm_uniform(rng);
        if (c * (2 - c) > u || real_log(c / u) + 1 >= c) {
            real angle = 2 * real_asin(real_sqrt(real_fmin(off / 2, 1)));
            return gbm_uniform(rng) < REAL_C(0.5) ? mu - angle : mu + angle;
        }
    }
}

#endif
