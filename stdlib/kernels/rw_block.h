/* rw_block.h: random-walk Metropolis steps of several nodes at once, on scales
 * without ends (metropolis.h), the same in every direction. */
#ifndef GBM_RW_BLOCK_H
#define GBM_RW_BLOCK_H

#include "metropolis.h"

/* y [d]: x [d] after a normal step of standard deviation step in each
 * direction, where node i is between lower[i] and upper[i]. Returns log |dy| -
 * log |dx| of the way back from the line. */
GBM_FN real gbm_block_propose(struct gbm_rng *rng, int d, real step,
                              const real *lower, const real *upper,
                              const real *x, real *y)
{
    real jacobian = 0;
    for (int i = 0; i < d; i++) {
        const real from = gbm_line_jacobian(x[i], lower[i], upper[i]);
        const bool inside = from > -GBM_INF; /* an end: as if there were none */
        const real low = inside ? lower[i] : -GBM_INF;
        const real high = inside ? upper[i] : GBM_INF;
        const real z = step * gbm_draw_normal(rng);
        y[i] = gbm_from_line(gbm_to_line(x[i], low, high) + z, low, high);
        if (inside)
            jacobian += gbm_line_jacobian(y[i], low, high) - from;
    }
    return jacobian;
}

/* The step, tuned to an acceptance of 0.44 for one node, falling to 0.234 for
 * many (Roberts, Gelman and Gilks 1997; Roberts and Rosenthal 2001); not by
 * moves from where the density, `here`, is 0: they tell nothing of it. */
GBM_FN real gbm_block_step(int d, real step, real here, real probability,
                           int adapting)
{
    const real target = REAL_C(0.234) + REAL_C(0.206) / (real)d;
    return gbm_is_finite(here)
               ? gbm_tuned_scale(step, probability, target, adapting)
               : step;
}

#endif
