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
 * yet, and U is the identity.
 *
 * Arrays of d numbers are the team's, like all that is tuned: the lanes have a
 * column each, or some. */
#ifndef GBM_ADAPTIVE_H
#define GBM_ADAPTIVE_H

#include "metropolis.h"

GBM_FN long long gbm_adaptive_cells(long long d) { return 2 + d + d * d; }

GBM_FN const real *gbm_adaptive_factor(int d, const real *tuning)
{
    return tuning + 2 + d;
}

/* y [d] := U'z. On the device each lane sums a column, of which neighbours read
 * neighbouring cells; the host goes along the rows. */
GBM_FN void gbm_adaptive_scale(const struct gbm_team *team, int d,
                               const real *U, const real *z, real *y)
{
    gbm_team_sync(team);
#ifdef __CUDACC__
    GBM_TEAM_FOR(i, 0, d, team)
    {
        real sum = 0;
        GBM_UNROLL_LOADS
        for (int k = 0; k <= i; k++)
            sum += U[(long long)k * d + i] * z[k];
        y[i] = sum;
    }
    gbm_team_sync(team);
#else
    for (int k = d - 1; k >= 0; k--) {
        const real *row = U + (long long)k * d, along = z[k];
        y[k] = row[k] * along;
        for (int i = k + 1; i < d; i++)
            y[i] += row[i] * along;
    }
#endif
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
 * size^2, with z [d] for scratch. */
GBM_FN void gbm_adaptive_plain(struct gbm_rng *rng, const struct gbm_team *team,
                               int d, real size, real *y)
{
    gbm_team_normals(rng, team, d, y);
    GBM_TEAM_FOR(i, 0, d, team)
    y[i] *= size;
}
GBM_FN void gbm_adaptive_shaped(struct gbm_rng *rng,
                                const struct gbm_team *team, int d, real size,
                                const real *tuning, real *y, real *z)
{
    gbm_adaptive_plain(rng, team, d, size, z);
    gbm_adaptive_scale(team, d, gbm_adaptive_factor(d, tuning), z, y);
}

/* y [d]: the proposal from x [d]. step: standard deviation of the first steps.
 * Returns log |dy| - log |dx| of the way back from the line. z [d]: scratch. */
GBM_FN_BIG real gbm_adaptive_propose(struct gbm_rng *rng,
                                     const struct gbm_team *team, int d,
                                     real step, const real *tuning,
                                     const real *lower, const real *upper,
                                     const real *x, real *y, real *z)
{
    const real size = REAL_C(2.38) * tuning[0] / real_sqrt((real)d);
    if (gbm_adaptive_is_small(rng))
        gbm_adaptive_plain(rng, team, d, gbm_adaptive_small(d, step), y);
    else if (tuning[1] > 1)
        gbm_adaptive_shaped(rng, team, d, size, tuning, y, z);
    else
        gbm_adaptive_plain(rng, team, d, step * size, y);
    return gbm_move_on_line(team, d, lower, upper, x, y);
}

/* U'U := keep^2 U'U + v v', d x d; v is destroyed. What all lanes read of a
 * row, its pivot and v, the owner of the cell changes when all have gone on. */
GBM_FN void gbm_adaptive_add(const struct gbm_team *team, int d, real keep,
                             real *U, real *v)
{
    real before = 0; /* the pivot of the row before */
    for (int k = 0; k < d; k++) {
        real *row = U + (long long)k * d;
        gbm_team_sync(team);
        if (k > 0 && GBM_TEAM_OWNS(team, k - 1))
            row[-d + k - 1] = before;
        const real pivot = keep * row[k];
        const real r = real_sqrt(pivot * pivot + v[k] * v[k]);
        const real c = r / pivot, s = v[k] / pivot, w = 1 / c;
        if (!(r > GBM_TINY && r < GBM_HUGE))
            return;
        before = r;
        GBM_TEAM_FROM(i, k + 1, d, team)
        {
            row[i] = (keep * row[i] + s * v[i]) * w;
            v[i] = c * v[i] - s * row[i];
        }
    }
    gbm_team_sync(team);
    if (d > 0 && GBM_TEAM_OWNS(team, d - 1))
        U[(long long)d * d - 1] = before;
}

/* y [d]: x [d] on the line; of a node that stands at an end, as if there were
 * none. */
GBM_FN void gbm_adaptive_line(const struct gbm_team *team, int d,
                              const real *lower, const real *upper,
                              const real *x, real *y)
{
    GBM_TEAM_FOR(i, 0, d, team)
    {
        bool inside = gbm_line_jacobian(x[i], lower[i], upper[i]) > -GBM_INF;
        y[i] = inside ? gbm_to_line(x[i], lower[i], upper[i]) : x[i];
    }
}

/* Takes the draw x into the mean and covariance; later draws weigh more, so
 * that a bad start is forgotten, and less and less each: the adaptation
 * diminishes. v [d]: scratch. All lanes have gone on from what is tuned when it
 * returns. */
GBM_FN_BIG void gbm_adaptive_learn(const struct gbm_team *team, int d,
                                   real step, const real *lower,
                                   const real *upper, const real *x, real *v,
                                   real *tuning)
{
    real *mean = tuning + 2, *U = mean + d;
    const real share = 2 / (tuning[1] + 2 * (real)d + 2);
    gbm_adaptive_line(team, d, lower, upper, x, v);
    if (!(tuning[1] > 1))
        GBM_TEAM_FOR(i, 0, d, team)
        {
            mean[i] = v[i];
            for (int k = 0; k < d; k++)
                U[(long long)k * d + i] = k == i ? step : 0;
        }
    GBM_TEAM_FOR(i, 0, d, team)
    {
        v[i] -= mean[i];
        mean[i] += share * v[i];
        v[i] *= real_sqrt(share * (1 - share));
    }
    gbm_adaptive_add(team, d, real_sqrt(1 - share), U, v);
    gbm_team_sync(team);
    if (team->lane == 0)
        tuning[1] += 1;
    gbm_team_sync(team);
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
