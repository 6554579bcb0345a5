/* adjoint.h: adjoints of functions of arrays, and steps of differences, for
 * programs with gradients; the host's alone. A function's adjoint has its
 * arguments, then the adjoint of its result (an array if that is one), then
 * what it fills: the adjoint of each argument.
 *
 * Of matrices: Giles, Collected matrix derivative results for forward and
 * reverse mode algorithmic differentiation (2008). */
#ifndef GBM_ADJOINT_H
#define GBM_ADJOINT_H

#include "linear.h"
#include "statistics.h"

/* About the cube root of the rounding, relative: central differences have then
 * an error of its square. */
GBM_FN real gbm_difference_step(real x)
{
    return REAL_C(6e-6) * (x != 0 ? real_fabs(x) : 1);
}

/* The derivative, but for 2 h, of an array's product with `slope`. */
GBM_FN real gbm_difference_along(long long n, const real *above,
                                 const real *below, const real *slope)
{
    real sum = 0;
    for (long long i = 0; i < n; i++)
        sum += slope[i] == 0 ? 0 : slope[i] * (above[i] - below[i]);
    return sum;
}

/* d log det A = trace(A^-1 dA). */
GBM_FN_BIG void gbm_logdet_adjoint(int K, const real *A, real slope, real *out)
{
    gbm_inverse(K, A, out);
    for (int64_t i = 0; i < (int64_t)K * K; i++)
        out[i] *= slope;
}

/* out = scale A' B A', all [K][K]. */
GBM_FN_BIG void gbm_between_transposed(int K, const real *A, const real *B,
                                       real scale, real *out)
{
    GBM_SCRATCH(half, half_small, K * K); /* A' B */
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            real sum = 0;
            for (int k = 0; k < K; k++)
                sum += A[k * K + i] * B[k * K + j];
            half[i * K + j] = sum;
        }
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            out[i * K + j] = scale * gbm_dot(K, half + i * K, A + j * K);
}

/* d A^-1 = -A^-1 dA A^-1. */
GBM_FN_BIG void gbm_inverse_adjoint(int K, const real *A, const real *slope,
                                    real *out)
{
    GBM_SCRATCH(inverse, inverse_small, K * K);
    gbm_inverse(K, A, inverse);
    gbm_between_transposed(K, inverse, slope, -1, out);
}

/* y = A^-1 b, A symmetric: db gets u = A^-1 slope, dA gets -u y'. */
GBM_FN_BIG void gbm_linear_solve_adjoint(int K, const real *A, const real *b,
                                         const real *slope, real *dA, real *db)
{
    GBM_SCRATCH(y, y_small, K);
    gbm_linear_solve(K, A, b, y);
    gbm_linear_solve(K, A, slope, db);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            dA[i * K + j] = -db[i] * y[j];
}

/* trace(A B^-1), B symmetric: dA gets B^-1, dB gets -B^-1 A' B^-1. */
GBM_FN_BIG void gbm_trace_solve_adjoint(int K, const real *A, const real *B,
                                        real slope, real *dA, real *dB)
{
    GBM_SCRATCH(transposed, transposed_small, K * K);
    gbm_inverse(K, B, dA);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            transposed[i * K + j] = A[j * K + i];
    gbm_between_transposed(K, dA, transposed, -slope, dB);
    for (int i = 0; i < K * K; i++)
        dA[i] *= slope;
}

/* The first of equal ones has it all. */
GBM_FN void gbm_max_adjoint(int K, const real *x, real slope, real *out)
{
    int best = 0;
    for (int i = 0; i < K; i++) {
        out[i] = 0;
        if (x[i] > x[best])
            best = i;
    }
    out[best] = slope;
}

GBM_FN void gbm_min_adjoint(int K, const real *x, real slope, real *out)
{
    int best = 0;
    for (int i = 0; i < K; i++) {
        out[i] = 0;
        if (x[i] < x[best])
            best = i;
    }
    out[best] = slope;
}

/* Products of all others: of those before, from the left, times those behind.
 */
GBM_FN void gbm_prod_adjoint(int K, const real *x, real slope, real *out)
{
    real before = slope, behind = 1;
    for (int i = 0; i < K; before *= x[i], i++)
        out[i] = before;
    for (int i = K - 1; i >= 0; behind *= x[i], i--)
        out[i] *= behind;
}

GBM_FN void gbm_sd_adjoint(int K, const real *x, real slope, real *out)
{
    const real sd = gbm_sd(K, x);
    real mean = 0;
    for (int i = 0; i < K; i++)
        mean += x[i] / (real)K;
    for (int i = 0; i < K; i++)
        out[i] = sd > 0 ? slope * (x[i] - mean) / ((real)(K - 1) * sd) : 0;
}

GBM_FN_BIG void gbm_sort_adjoint(int K, const real *x, const real *slope,
                                 real *out)
{
    GBM_SCRATCH(place, place_small, K);
    gbm_sort_places(K, x, place);
    for (int i = 0; i < K; i++)
        out[(int)place[i]] = slope[i];
}

/* Each component's derivatives times its share of the density. */
GBM_FN void gbm_log_normal_mixture_adjoint(int K, real x, const real *mu,
                                           const real *tau, const real *pi,
                                           real slope, real *dx, real *dmu,
                                           real *dtau, real *dpi)
{
    const real total = gbm_log_normal_mixture(K, x, mu, tau, pi);
    real weights = 0;
    for (int j = 0; j < K; j++)
        weights += pi[j];
    for (int j = 0; j < K; j++) {
        const real from = x - mu[j];
        const real density = slope * real_sqrt(tau[j]) / weights *
                             real_exp(-gbm_square(from) * tau[j] / 2 - total);
        dmu[j] = density * pi[j] * tau[j] * from;
        dtau[j] = density * pi[j] * (1 / tau[j] - gbm_square(from)) / 2;
        dpi[j] = density - slope / weights;
        *dx -= dmu[j];
    }
}

#endif
