/* adaptive.h: adaptive Metropolis steps of several nodes at once, on scales
 * without ends (metropolis.h): Haario, Saksman and Tamminen (2001), An adaptive
 * Metropolis algorithm: normal steps with the covariance of the draws so far,
 * times 2.38^2 / d; mixed with small steps of fixed size (Roberts and Rosenthal
 * 2009, Examples of adaptive MCMC, section 2); times a factor tuned to the best
 * acceptance (Andrieu and Thoms 2008, algorithm 4).
 *
 * What is tuned: [0] the factor; [1] 1 + the number of updates; [2 .. 2 + d)
 * the mean; then U, d x d, upper triangular, of which U'U is the covariance:
 * its rows are what an update goes along. Where [1] is 1 the rest is not set
 * yet, and U is the identity. */
#ifndef GBM_ADAPTIVE_H
#define GBM_ADAPTIVE_H

#include "metropolis.h"

GBM_FN long long gbm_adaptive_cells(long long d) { return 2 + d + d * d; }

GBM_FN const real *gbm_adaptive_factor(int d, const real *tuning)
{
    return tuning + 2 + d;
}

/* y [d] := U'y. */
GBM_FN void gbm_adaptive_scale(int d, const real *U, real *y)
{
    for (int k = d - 1; k >= 0; k--) {
        const real *row = U + (long long)k * d;
        const real z = y[k];
        y[k] = row[k] * z;
        for (int i = k + 1; i < d; i++)
            y[i] += row[i] * z;
    }
}

/* The share of steps that are small and of fixed size; their standard
 * deviation, where `step` is that of the first steps. */
GBM_FN bool gbm_adaptive_is_small(struct gbm_rng *rng)
{
    return gbm_uniform(rng) < REAL_C(0.05);
}
GBM_FN real gbm_adaptive_small(int d, real step)
{
    return REAL_C(0.1) * step / real_sqrt((real)d);
}

/* y [d]: normal steps of that standard deviation; or from the covariance, times
 * size^2. */
GBM_FN void gbm_adaptive_plain(struct gbm_rng *rng, int d, real size, real *y)
{
    for (int i = 0; i < d; i++)
        y[i] = size * gbm_draw_normal(rng);
}
GBM_FN void gbm_adaptive_shaped(struct gbm_rng *rng, int d, real size,
                                const real *tuning, real *y)
{
    gbm_adaptive_plain(rng, d, size, y);
    gbm_adaptive_scale(d, gbm_adaptive_factor(d, tuning), y);
}

/* y [d]: the proposal from x [d]. step: standard deviation of the first steps.
 * Returns log |dy| - log |dx| of the way back from the line. */
GBM_FN_BIG real gbm_adaptive_propose(struct gbm_rng *rng, int d, real step,
                                     const real *tuning, const real *lower,
                                     const real *upper, const real *x, real *y)
{
    const real size = REAL_C(2.38) * tuning[0] / real_sqrt((real)d);
    if (gbm_adaptive_is_small(rng))
        gbm_adaptive_plain(rng, d, gbm_adaptive_small(d, step), y);
    else if (tuning[1] > 1)
        gbm_adaptive_shaped(rng, d, size, tuning, y);
    else
        gbm_adaptive_plain(rng, d, step * size, y);
    return gbm_move_on_line(d, lower, upper, x, y);
}

/* U'U := keep^2 U'U + v v', d x d; v is destroyed. */
GBM_FN void gbm_adaptive_add(int d, real keep, real *U, real *v)
{
    for (int k = 0; k < d; k++) {
        real *row = U + (long long)k * d;
        const real pivot = keep * row[k];
        const real r = real_sqrt(pivot * pivot + v[k] * v[k]);
        const real c = r / pivot, s = v[k] / pivot, w = 1 / c;
        if (!(r > GBM_TINY && r < GBM_HUGE))
            return;
        row[k] = r;
        for (int i = k + 1; i < d; i++) {
            row[i] = (keep * row[i] + s * v[i]) * w;
            v[i] = c * v[i] - s * row[i];
        }
    }
}

/* y [d]: x [d] on the line; of a node that stands at an end, as if there were
 * none. */
GBM_FN void gbm_adaptive_line(int d, const real *lower, const real *upper,
                              const real *x, real *y)
{
    for (int i = 0; i < d; i++) {
        bool inside = gbm_line_jacobian(x[i], lower[i], upper[i]) > -GBM_INF;
        y[i] = inside ? gbm_to_line(x[i], lower[i], upper[i]) : x[i];
    }
}

/* Takes the draw x into the mean and covariance; later draws weigh more, so
 * that a bad start is forgotten, and less and less each: the adaptation
 * diminishes. v [d]: scratch. */
GBM_FN_BIG void gbm_adaptive_learn(int d, real step, const real *lower,
                                   const real *upper, const real *x, real *v,
                                   real *tuning)
{
    real *mean = tuning + 2, *U = mean + d;
    gbm_adaptive_line(d, lower, upper, x, v);
    if (!(tuning[1] > 1)) {
        gbm_copy(d, v, mean);
        gbm_fill((long long)d * d, U, 0);
        for (int i = 0; i < d; i++)
            U[(long long)i * d + i] = step;
    }
    const real share = 2 / (tuning[1] + 2 * (real)d + 2);
    for (int i = 0; i < d; i++) {
        v[i] -= mean[i];
        mean[i] += share * v[i];
        v[i] *= real_sqrt(share * (1 - share));
    }
    gbm_adaptive_add(d, real_sqrt(1 - share), U, v);
    tuning[1] += 1;
}

/* The factor, tuned by the t-th move to the best acceptance, though not by
 * moves from where the density, `here`, is 0: they tell nothing of it. */
GBM_FN real gbm_adaptive_size(int d, real factor, real here, real probability,
                              int t)
{
    return gbm_is_finite(here)
               ? gbm_tuned_scale(factor, probability, gbm_best_acceptance(d), t)
               : factor;
}

#endif
