/* diam.h: dimension-independent adaptive Metropolis steps of several nodes at
 * once, on scales without ends: Chen (2015), Massively parallel dimension
 * independent adaptive Metropolis, equation 3.17. The mean m and covariance C
 * of the draws so far (adaptive.h) are those of a normal reference,
 *
 *     y = m + sqrt(1 - beta^2) (x - m) + beta sqrt(inflation) C^(1/2) z,
 *
 * which leaves N(m, inflation C) as it is, so that where the target is near it
 * any step is accepted, whatever the dimension. The inflation, of the
 * covariance, is for tails that are heavier than the reference's. */
#ifndef GBM_DIAM_H
#define GBM_DIAM_H

#include "adaptive.h"

/* Of few updates the moments are too rough for a reference: until then the
 * steps are adaptive Metropolis ones. */
GBM_FN bool gbm_diam_has_reference(int d, real updates)
{
    return updates > 50 + (real)d / 2;
}

/* w [d] := U'^-1 x; x is destroyed. */
GBM_FN void gbm_diam_whiten(const struct gbm_team *team, int d, const real *U,
                            real *x, real *w)
{
    for (int k = 0; k < d; k++) {
        const real *row = U + (long long)k * d;
        gbm_team_sync(team);
        const real own = x[k] / row[k];
        if (GBM_TEAM_OWNS(team, k))
            w[k] = own;
        GBM_TEAM_FROM(i, k + 1, d, team)
        x[i] -= row[i] * own;
    }
    gbm_team_sync(team);
}

/* y [d]: steps from the reference; y is x - m. Returns the log density that the
 * reference has at x, less that at where the steps lead. w [d]: scratch. */
GBM_FN real gbm_diam_steps(struct gbm_rng *rng, const struct gbm_team *team,
                           int d, real beta, real inflation, const real *U,
                           real *y, real *w)
{
    const real turn = -beta * beta / (1 + real_sqrt(1 - beta * beta));
    const real size = beta * real_sqrt(inflation);
    gbm_total sum = 0;
    gbm_diam_whiten(team, d, U, y, w);
    gbm_team_normals(rng, team, d, y);
    GBM_TEAM_FOR(i, 0, d, team)
    {
        const real from = w[i];
        w[i] = turn * from + size * y[i];
        sum += w[i] * (2 * from + w[i]); /* to^2 - from^2 */
    }
    gbm_adaptive_scale(team, d, U, w, y);
    return (real)gbm_team_sum(team, sum) / (2 * inflation);
}

/* y [d]: the proposal from x [d]. step: standard deviation of the first steps.
 * Returns log |dy| - log |dx| of the way back from the line, and the log ratio
 * of the proposal's densities. z [d]: scratch. */
GBM_FN_BIG real gbm_diam_propose(struct gbm_rng *rng,
                                 const struct gbm_team *team, int d, real step,
                                 real inflation, const real *tuning,
                                 const real *lower, const real *upper,
                                 const real *x, real *y, real *z)
{
    real ratio = 0;
    if (!gbm_diam_has_reference(d, tuning[1]))
        return gbm_adaptive_propose(rng, team, d, step, tuning, lower, upper, x,
                                    y, z);
    if (gbm_adaptive_is_small(rng)) {
        gbm_adaptive_plain(rng, team, d, gbm_adaptive_small(d, step), y);
    } else {
        gbm_adaptive_line(team, d, lower, upper, x, y);
        GBM_TEAM_FOR(i, 0, d, team)
        y[i] -= tuning[2 + i];
        ratio = gbm_diam_steps(rng, team, d, tuning[0], inflation,
                               gbm_adaptive_factor(d, tuning), y, z);
    }
    return gbm_move_on_line(team, d, lower, upper, x, y) + ratio;
}

/* beta, tuned to an acceptance of 0.4, between the thesis's bounds of 0.3 and
 * 0.5; at most 1, where a normal target leaves it. Before there is a reference
 * the factor of adaptive Metropolis; then at first a beta as long as its steps.
 */
GBM_FN real gbm_diam_size(int d, const real *tuning, real here,
                          real probability)
{
    const int t = (int)tuning[1];
    const real size = gbm_adaptive_size(d, tuning[0], here, probability, t);
    if (!gbm_diam_has_reference(d, tuning[1]))
        return gbm_diam_has_reference(d, tuning[1] + 1)
                   ? real_fmin(REAL_C(2.38) * size / real_sqrt((real)d), 1)
                   : size;
    if (!gbm_is_finite(here))
        return tuning[0];
    return real_fmin(gbm_tuned_scale(tuning[0], probability, REAL_C(0.4), t),
                     1);
}

#endif
