/* correlation.c: maps from free real numbers to correlation matrices and their
 * Cholesky factors, with their Jacobians and adjoints. The numbers are inverse
 * hyperbolic tangents of canonical partial correlations: column by column of
 * the upper factor, their squares take their share of what is left of 1.
 * Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices
 * based on vines and extended onion method; the Stan reference manual,
 * "Constraint transforms". Matrices are row-major. */
#include "gradient/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int extent_of(int ncells) { return (int)lround(sqrt((double)ncells)); }

/* ---- upper Cholesky factor ---- */

static int below_diagonal(int ncells)
{
    const int K = extent_of(ncells);
    return K * (K - 1) / 2;
}

static void constrain_upper(int n, const double *u, double lower, double upper,
                            double *x, double *log_jacobian)
{
    const int K = extent_of(n);
    (void)lower;
    (void)upper;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int i = 0; i < K; i++) {
        double rest = 1;
        for (int j = 0; j < i; j++) {
            const double z = tanh(u[i * (i - 1) / 2 + j]);
            x[j * K + i] = z * sqrt(rest);
            *log_jacobian += log1p(-z * z) + log(rest) / 2;
            rest *= 1 - z * z;
        }
        x[i * K + i] = sqrt(rest);
    }
}

static void release_upper(int n, const double *x, double lower, double upper,
                          double *u)
{
    const int K = extent_of(n);
    (void)lower;
    (void)upper;
    for (int i = 0; i < K; i++) {
        double rest = 1;
        for (int j = 0; j < i; j++) {
            const double z = x[j * K + i] / sqrt(fmax(rest, 1e-300));
            u[i * (i - 1) / 2 + j] =
                atanh(fmin(fmax(z, -1 + 1e-12), 1 - 1e-12));
            rest -= x[j * K + i] * x[j * K + i];
        }
    }
}

static void back_upper(int n, const double *u, double lower, double upper,
                       bool jacobian, double *adjoint_x, double *adjoint_u,
                       double *of_lower, double *of_upper)
{
    const int K = extent_of(n);
    (void)lower;
    (void)upper;
    (void)of_lower;
    (void)of_upper;
    for (int i = 0; i < K; i++) {
        const double *of = u + i * (i - 1) / 2;
        double *out = adjoint_u + i * (i - 1) / 2, rest = 1;
        for (int j = 0; j < i; j++) { /* kept here until their turn comes */
            out[j] = rest;
            rest *= 1 - tanh(of[j]) * tanh(of[j]);
        }
        double of_rest = adjoint_x[i * K + i] / (2 * sqrt(rest));
        for (int j = i - 1; j >= 0; j--) {
            const double left = out[j], z = tanh(of[j]),
                         g = adjoint_x[j * K + i];
            const double of_z = g * sqrt(left) - 2 * of_rest * left * z;
            out[j] = of_z * (1 - z * z) - (jacobian ? 2 * z : 0);
            of_rest = g * z / (2 * sqrt(left)) + of_rest * (1 - z * z) +
                      (jacobian ? 1 / (2 * left) : 0);
        }
    }
}

/* ---- lower factor: the upper one's transpose ---- */

static void transpose(int n, double *x)
{
    const int K = extent_of(n);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < i; j++) {
            const double cell = x[i * K + j];
            x[i * K + j] = x[j * K + i];
            x[j * K + i] = cell;
        }
}

static void constrain_lower(int n, const double *u, double lower, double upper,
                            double *x, double *log_jacobian)
{
    constrain_upper(n, u, lower, upper, x, log_jacobian);
    transpose(n, x);
}

static void release_lower(int n, const double *x, double lower, double upper,
                          double *u)
{
    double *turned = malloc((size_t)n * sizeof *turned);
    if (!turned)
        abort();
    memcpy(turned, x, (size_t)n * sizeof *turned);
    transpose(n, turned);
    release_upper(n, turned, lower, upper, u);
    free(turned);
}

static void back_lower(int n, const double *u, double lower, double upper,
                       bool jacobian, double *adjoint_x, double *adjoint_u,
                       double *of_lower, double *of_upper)
{
    transpose(n, adjoint_x);
    back_upper(n, u, lower, upper, jacobian, adjoint_x, adjoint_u, of_lower,
               of_upper);
}

/* ---- the matrix: x = U' U, dx / dU by its cells above the diagonal is the
 * product of U[i,i]^(K - 1 - i), i from 0 ---- */

static double *factor_of(int n, const double *u)
{
    double unused = 0, *U = malloc((size_t)n * sizeof *U);
    if (!U)
        abort();
    constrain_upper(n, u, 0, 0, U, &unused);
    return U;
}

static void constrain_matrix(int n, const double *u, double lower, double upper,
                             double *x, double *log_jacobian)
{
    const int K = extent_of(n);
    double *U = malloc((size_t)n * sizeof *U);
    if (!U)
        abort();
    constrain_upper(n, u, lower, upper, U, log_jacobian);
    for (int i = 0; i < K; i++) {
        *log_jacobian += (K - 1 - i) * log(U[i * K + i]);
        for (int j = 0; j < i; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++)
                sum += U[k * K + i] * U[k * K + j];
            x[i * K + j] = x[j * K + i] = sum;
        }
        x[i * K + i] = 1;
    }
    free(U);
}

static void release_matrix(int n, const double *x, double lower, double upper,
                           double *u)
{
    const int K = extent_of(n);
    double *U = malloc((size_t)n * sizeof *U);
    if (!U)
        abort();
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++) {
            double sum = x[j * K + i];
            for (int k = 0; k < j; k++)
                sum -= U[k * K + i] * U[k * K + j];
            U[j * K + i] =
                i == j ? sqrt(fmax(sum, 1e-300)) : sum / U[j * K + j];
        }
    release_upper(n, U, lower, upper, u);
    free(U);
}

static void back_matrix(int n, const double *u, double lower, double upper,
                        bool jacobian, double *adjoint_x, double *adjoint_u,
                        double *of_lower, double *of_upper)
{
    const int K = extent_of(n);
    double *U = factor_of(n, u), *of_U = calloc((size_t)n, sizeof *of_U);
    if (!of_U)
        abort();
    for (int i = 0; i < K; i++) {
        for (int k = 0; k <= i; k++)
            for (int j = k; j < K; j++)
                if (j != i) /* the diagonal is 1 */
                    of_U[k * K + i] +=
                        (adjoint_x[i * K + j] + adjoint_x[j * K + i]) *
                        U[k * K + j];
        if (jacobian)
            of_U[i * K + i] += (K - 1 - i) / U[i * K + i];
    }
    back_upper(n, u, lower, upper, jacobian, of_U, adjoint_u, of_lower,
               of_upper);
    free(U);
    free(of_U);
}

const struct rt_support_map *rt_correlation_map(enum gbm_support support)
{
    static const struct rt_support_map upper = {below_diagonal, constrain_upper,
                                                release_upper, back_upper};
    static const struct rt_support_map lower = {below_diagonal, constrain_lower,
                                                release_lower, back_lower};
    static const struct rt_support_map matrix = {
        below_diagonal, constrain_matrix, release_matrix, back_matrix};
    return support == GBM_SUPPORT_CORRELATION         ? &matrix
           : support == GBM_SUPPORT_CORRELATION_LOWER ? &lower
                                                      : &upper;
}
