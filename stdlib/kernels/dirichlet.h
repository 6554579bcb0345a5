/* dirichlet.h: Dirichlet and multinomial draws. */
#ifndef GBM_DIRICHLET_H
#define GBM_DIRICHLET_H

#include "binomial.h"
#include "gamma.h"

/* x [K] from alpha [K]: gammas over their sum. They are drawn and compared in
 * logarithms, as with alpha small all would underflow. For a zero alpha, a
 * structural zero, stands 1e-30, so that logs stay finite. */
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
        x[j] = alpha[j] > 0 ? real_fmax(x[j] / total, GBM_TINY) : REAL_C(1e-30);
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
