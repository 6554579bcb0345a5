/* pcn.h: preconditioned Crank-Nicolson steps of nodes whose prior is normal
 * given the rest: Cotter, Roberts, Stuart and White (2013), MCMC methods for
 * functions: modifying old algorithms to make them faster, section 4.2. The
 * proposal leaves the prior as it is, so the likelihood alone decides, and the
 * acceptance does not fall with the dimension. */
#ifndef GBM_PCN_H
#define GBM_PCN_H

#include "metropolis.h"

/* y [d] from x [d], whose prior has mean m [d] and of which v [d] is a draw:
 * y - m = sqrt(1 - step^2) (x - m) + step (v - m), 0 < step <= 1. The arrays
 * are the team's. */
GBM_FN void gbm_pcn_propose(const struct gbm_team *team, int d, real step,
                            const real *x, const real *m, const real *v,
                            real *y)
{
    const real size = real_fmin(step, 1), keep = real_sqrt(1 - size * size);
    GBM_TEAM_FOR(i, 0, d, team)
    y[i] = m[i] + keep * (x[i] - m[i]) + size * (v[i] - m[i]);
}

/* The step, tuned to an acceptance of 0.4: the best is between 0.3 and 0.5
 * (Chen 2015, Massively parallel dimension independent adaptive Metropolis,
 * chapter 4). */
GBM_FN real gbm_pcn_step(real step, real probability, int adapting)
{
    return real_fmin(gbm_tuned_scale(step, probability, REAL_C(0.4), adapting),
                     1);
}

#endif
