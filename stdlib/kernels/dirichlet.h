/* dirichlet.h: Dirichlet and multinomial draws. */
#ifndef GBM_DIRICHLET_H
#define GBM_DIRICHLET_H

#include "binomial.h"
#include "gamma.h"
#include "team.h"

/* x [K] from alpha [K]: gammas over their sum. They are drawn and compared in
 * logarithms, as with alpha small all would underflow. For a zero alpha, a
 * structural zero, stands GBM_STRUCTURAL_ZERO. */
GBM_FN_BIG void gbm_draw_dirichlet(struct gbm_rng *rng, int K,
                                   const real *alpha, real *x)
{
    real largest = -GBM_INF, total = 0;
    for (int j = 0; j < K; j++) {
        x[j] = alpha[j] > 0 ? gbm_draw_log_gamma(rng, alpha[j]) : -GBM_INF;
        largest = real_fmax(largest, x[j]);
    }
    for (int j = 0; j < K; j++) {
        x[j] = alpha[j] > 0 ? real_exp(x[j] - largest) : 0;
        total += x[j];
    }
    for (int j = 0; j < K; j++)
        x[j] = alpha[j] > 0 ? real_fmax(x[j] / total, GBM_TINY)
                            : GBM_STRUCTURAL_ZERO;
}

/* The mode, on the edge where an alpha is below 1; equal shares if all are at
 * most 1. */
GBM_FN void gbm_mode_dirichlet(int K, const real *alpha, real *x)
{
    gbm_total total = 0;
    for (int j = 0; j < K; j++)
        total += x[j] = real_fmax(alpha[j] - 1, 0);
    for (int j = 0; j < K; j++)
        x[j] = total > 0 ? (real)(x[j] / total) : 1 / (real)K;
}

/* So many cells are worth a stream each; these begin so many blocks of random
 * numbers apart. A gamma draw takes one or two: each further one has a
 * probability below 0.05. */
#define GBM_DIRICHLET_SHARED 32
#define GBM_DIRICHLET_BLOCKS 64u

/* The same by the lanes of a team: cell j of x is that of lane j % lanes. */
GBM_FN_BIG void gbm_draw_dirichlet_shared(struct gbm_rng *rng,
                                          const struct gbm_team *team, int K,
                                          const real *alpha, real *x)
{
    if (K < GBM_DIRICHLET_SHARED) {
        gbm_draw_dirichlet(rng, K, alpha, x);
        return;
    }
    gbm_total most = -GBM_INF, total = 0;
    GBM_TEAM_FOR(j, 0, K, team)
    {
        struct gbm_rng own = *rng;
        own.block += (uint32_t)j * GBM_DIRICHLET_BLOCKS;
        own.left = 0;
        x[j] = alpha[j] > 0 ? gbm_draw_log_gamma(&own, alpha[j]) : -GBM_INF;
        most = x[j] > most ? x[j] : most;
    }
    rng->block += (uint32_t)K * GBM_DIRICHLET_BLOCKS;
    rng->left = 0;
    const real largest = (real)gbm_team_max(team, most);
    GBM_TEAM_FOR(j, 0, K, team)
    {
        x[j] = alpha[j] > 0 ? real_exp(x[j] - largest) : 0;
        total += x[j];
    }
    const real sum = (real)gbm_team_sum(team, total);
    GBM_TEAM_FOR(j, 0, K, team)
    x[j] = alpha[j] > 0 ? real_fmax(x[j] / sum, GBM_TINY) : GBM_STRUCTURAL_ZERO;
}

/* Counts x [K] of n draws from the weights p [K], which need not sum to 1: one
 * binomial after another. */
GBM_FN_BIG void gbm_draw_multinomial(struct gbm_rng *rng, int K, const real *p,
                                     real n, real *x)
{
    real total = 0, left = real_round(n);
    int last = -1;
    for (int j = 0; j < K; j++) {
        total += p[j];
        if (p[j] > 0)
            last = j;
    }
    for (int j = 0; j < K; j++) {
        if (j == last)
            x[j] = left;
        else if (p[j] > 0 && left > 0)
            x[j] = gbm_draw_binomial(rng, left, real_fmin(p[j] / total, 1));
        else
            x[j] = 0;
        left -= x[j];
        total -= p[j];
    }
}

#endif
