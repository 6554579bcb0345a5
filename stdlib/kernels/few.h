/* few.h: a symmetric matrix of few rows, that of one element, on the device:
 * written out for each number of rows, so that it stands in registers. Loops
 * over the rows of a thread's own array wait for its memory at each step. */
#ifndef GBM_FEW_H
#define GBM_FEW_H

#include "linear.h"

/* return f<d>(...) where the runtime says that elements have GBM_FEW_ROWS rows;
 * for host code there is nothing. */
#ifdef __CUDACC__
#ifdef GBM_FEW_ROWS
#define GBM_BY_ROWS(d, f, ...)                                                 \
    if ((d) == GBM_FEW_ROWS)                                                   \
        return f<GBM_FEW_ROWS>(__VA_ARGS__);
#else
#define GBM_BY_ROWS(d, f, ...)
#endif

template <int D>
GBM_FN void gbm_few_add(real weight, real slope, const real *a, real *Q,
                        real *b)
{
    real at[D];
    GBM_UNROLL
    for (int i = 0; i < D; i++)
        at[i] = a[i];
    GBM_UNROLL
    for (int i = 0; i < D; i++) {
        b[i] -= slope * at[i];
        GBM_UNROLL
        for (int j = 0; j <= i; j++)
            Q[i * D + j] += weight * at[i] * at[j];
    }
}

template <int D>
GBM_FN void gbm_few_sum(const struct gbm_team *team, real *Q, real *b)
{
    GBM_UNROLL
    for (int i = 0; i < D; i++) {
        b[i] = (real)gbm_team_sum(team, b[i]);
        GBM_UNROLL
        for (int j = 0; j <= i; j++)
            Q[i * D + j] = (real)gbm_team_sum(team, Q[i * D + j]);
    }
}

/* W = L L' and v := L^-1 v, with the reciprocals of the diagonal of L in its
 * place; the logarithm of that diagonal's product, or NaN if W is not positive
 * definite. */
template <int D> GBM_FN gbm_total gbm_few_factor(real (&W)[D][D], real (&v)[D])
{
    gbm_total logarithm = 0;
    bool positive = true;
    GBM_UNROLL
    for (int i = 0; i < D; i++) {
        GBM_UNROLL
        for (int j = 0; j <= i; j++) {
            GBM_UNROLL
            for (int m = 0; m < j; m++)
                W[i][j] -= W[i][m] * W[j][m];
            if (j < i) {
                W[i][j] *= W[j][j];
                v[i] -= W[i][j] * v[j];
            }
        }
        positive = positive && W[i][i] > 0 && W[i][i] < GBM_INF;
        logarithm += real_log(W[i][i]) / 2;
        W[i][i] = 1 / real_sqrt(W[i][i]);
        v[i] *= W[i][i];
    }
    return positive ? logarithm : (gbm_total)GBM_NAN;
}

/* v := L'^-1 v of the same. */
template <int D>
GBM_FN void gbm_few_solve_transposed(const real (&W)[D][D], real (&v)[D])
{
    GBM_UNROLL
    for (int i = D - 1; i >= 0; i--) {
        v[i] *= W[i][i];
        GBM_UNROLL
        for (int j = 0; j < i; j++)
            v[j] -= W[i][j] * v[i];
    }
}
#else
#define GBM_BY_ROWS(d, f, ...)
#endif

/* Q += weight a a', its lower triangle, and b -= slope a. */
GBM_FN void gbm_add_row(int d, real weight, real slope, const real *a, real *Q,
                        real *b)
{
    GBM_BY_ROWS(d, gbm_few_add, weight, slope, a, Q, b)
    for (int i = 0; i < d; i++) {
        b[i] -= slope * a[i];
        for (int j = 0; j <= i; j++)
            Q[i * d + j] += weight * a[i] * a[j];
    }
}

/* The sums of Q, its lower triangle, and of b over all lanes. */
GBM_FN void gbm_sum_rows(const struct gbm_team *team, int d, real *Q, real *b)
{
    if (team->lanes == 1)
        return;
    GBM_BY_ROWS(d, gbm_few_sum, team, Q, b)
    for (int i = 0; i < d; i++) {
        b[i] = (real)gbm_team_sum(team, b[i]);
        for (int j = 0; j <= i; j++)
            Q[i * d + j] = (real)gbm_team_sum(team, Q[i * d + j]);
    }
}

#endif
