/* diam.h: dimension-independent adaptive Metropolis steps of several nodes at
 * once, on scales without ends: Chen (2015), Massively parallel dimension
 * independent adaptive Metropolis, equation 3.17. The mean m and covariance C
 * of the draws so far (adaptive.h) are those of a normal reference,
 *
 *     y = m + sqrt(1 - beta^2) (x - m) + beta sqrt(inflation) C^(1/2) z,
 *
 * which leaves N(m, inflation C) as it is, so that where the target is near it
 * any step is accepted, whatever the dimension. The inflation, of the
 * covariance, is for tails that are heavier than the reference's.
 *
 * w = U'^-1 (x - m) takes a triangular solve, but the steps are made in it, so
 * where they lead it is known. Behind what adaptive.h tunes stand w [d], no
 * numbers where it is not known, and x [d] on the line, which it belongs to. */
#ifndef GBM_DIAM_H
#define GBM_DIAM_H

#include "adaptive.h"

/* Of few updates the moments are too rough for a reference: until then the
 * steps are adaptive Metropolis ones. */
GBM_FN bool gbm_diam_has_reference(int d, real updates)
{
    return updates > 50 + (real)d / 2;
}

GBM_FN long long gbm_diam_cells(long long d)
{
    return gbm_adaptive_cells(d) + 2 * d;
}

/* w, and behind it the x that it is of. */
GBM_FN real *gbm_diam_whitened(int d, real *tuning)
{
    return tuning + gbm_adaptive_cells(d);
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

GBM_FN void gbm_diam_unknown(const struct gbm_team *team, int d, real *w)
{
    GBM_TEAM_FOR(i, 0, d, team)
    w[i] = GBM_NAN;
}

/* Makes w that of the place `line` [d], where it is not. y [d]: scratch. */
GBM_FN void gbm_diam_know(const struct gbm_team *team, int d, const real *line,
                          real *tuning, real *y)
{
    real *w = gbm_diam_whitened(d, tuning), *of = w + d;
    gbm_total unknown = 0;
    GBM_TEAM_FOR(i, 0, d, team)
    unknown += of[i] == line[i] && !gbm_is_nan(w[i]) ? 0 : 1;
    if (gbm_team_sum(team, unknown) == 0)
        return;
    GBM_TEAM_FOR(i, 0, d, team)
    {
        of[i] = line[i];
        y[i] = line[i] - tuning[2 + i];
    }
    gbm_diam_whiten(team, d, gbm_adaptive_factor(d, tuning), y, w);
}

/* y [d]: steps from the reference at w [d]; z [d]: w where they lead. Returns
 * the log density that the reference has here, less that there. */
GBM_FN real gbm_diam_steps(struct gbm_rng *rng, const struct gbm_team *team,
                           int d, real beta, real inflation, const real *U,
                           const real *w, real *y, real *z)
{
    const real turn = -beta * beta / (1 + real_sqrt(1 - beta * beta));
    const real size = beta * real_sqrt(inflation);
    gbm_total sum = 0;
    gbm_team_normals(rng, team, d, z);
    GBM_TEAM_FOR(i, 0, d, team)
    {
        z[i] = turn * w[i] + size * z[i];
        sum += z[i] * (2 * w[i] + z[i]); /* to^2 - from^2 */
    }
    gbm_adaptive_scale(team, d, U, z, y);
    GBM_TEAM_FOR(i, 0, d, team)
    z[i] += w[i];
    return (real)gbm_team_sum(team, sum) / (2 * inflation);
}

/* y [d]: the proposal from x [d]. step: standard deviation of the first steps.
 * Returns log |dy| - log |dx| of the way back from the line, and the log ratio
 * of the proposal's densities. z [d]: w there, no numbers if it is not known.
 */
GBM_FN_BIG real gbm_diam_propose(struct gbm_rng *rng,
                                 const struct gbm_team *team, int d, real step,
                                 real inflation, real *tuning,
                                 const real *lower, const real *upper,
                                 const real *x, real *y, real *z)
{
    real ratio = 0;
    if (!gbm_diam_has_reference(d, tuning[1]))
        return gbm_adaptive_propose(rng, team, d, step, tuning, lower, upper, x,
                                    y, z);
    if (gbm_adaptive_is_small(rng)) {
        gbm_adaptive_plain(rng, team, d, gbm_adaptive_small(d, step), y);
        gbm_diam_unknown(team, d, z);
    } else {
        gbm_adaptive_line(team, d, lower, upper, x, z);
        gbm_diam_know(team, d, z, tuning, y);
        ratio = gbm_diam_steps(rng, team, d, tuning[0], inflation,
                               gbm_adaptive_factor(d, tuning),
                               gbm_diam_whitened(d, tuning), y, z);
    }
    return gbm_move_on_line(team, d, lower, upper, x, y) + ratio;
}

/* After a move to y [d], where w is z [d]. */
GBM_FN void gbm_diam_moved(const struct gbm_team *team, int d,
                           const real *lower, const real *upper, const real *y,
                           const real *z, real *tuning)
{
    real *w = gbm_diam_whitened(d, tuning);
    if (!gbm_diam_has_reference(d, tuning[1]))
        return;
    GBM_TEAM_FOR(i, 0, d, team)
    w[i] = z[i];
    gbm_adaptive_line(team, d, lower, upper, y, w + d);
}

/* As gbm_adaptive_learn; w is another then. */
GBM_FN void gbm_diam_learn(const struct gbm_team *team, int d, real step,
                           const real *lower, const real *upper, const real *x,
                           real *v, real *tuning)
{
    gbm_adaptive_learn(team, d, step, lower, upper, x, v, tuning);
    gbm_diam_unknown(team, d, gbm_diam_whitened(d, tuning));
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
