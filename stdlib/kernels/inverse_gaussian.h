/* inverse_gaussian.h: mean mu, shape lambda: density sqrt(lambda / (2 pi x^3))
 * exp(-lambda (x - mu)^2 / (2 mu^2 x)).
 *
 * Michael, Schucany and Haas, "Generating random variates using transformations
 * with multiple roots" (American Statistician 30, 1976), with the smaller root
 * written so that it does not cancel. An infinite mean gives the limit, a Levy
 * variable. */
#ifndef GBM_INVERSE_GAUSSIAN_H
#define GBM_INVERSE_GAUSSIAN_H

#include "normal.h"

GBM_FN real gbm_draw_inverse_gaussian(struct gbm_rng *rng, real mu, real lambda)
{
    real y = gbm_square(gbm_draw_normal(rng));
    if (mu > GBM_HUGE)
        return lambda / y;
    real w = mu * y / (2 * lambda);
    real root = 1 + w + real_sqrt(w * (w + 2)); /* times its inverse: 1 */
    real x = gbm_uniform(rng) * (1 + root) <= root ? mu / root : mu * root;
    return gbm_clamp(x, GBM_TINY, GBM_HUGE);
}

#endif
