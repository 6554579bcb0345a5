/* support.c: maps from free real numbers to the supports of elements, with
 * their Jacobians and adjoints. As in the Stan reference manual, "Constraint
 * transforms"; matrices are row-major. */
#include "gradient/gradient.h"

#include <math.h>
#include <string.h>

static double inverse_logit(double u)
{
    return u > 0 ? 1 / (1 + exp(-u)) : exp(u) / (1 + exp(u));
}

/* log(s (1 - s)), s = inverse_logit(u) */
static double log_logistic(double u)
{
    return -fabs(u) - 2 * log1p(exp(-fabs(u)));
}

/* ---- numbers, each by itself: a vector of such has no bounds ---- */

static int each(int ncells) { return ncells; }

static void constrain_numbers(int n, const double *u, double lower,
                              double upper, double *x, double *log_jacobian)
{
    const bool low = isfinite(lower), high = isfinite(upper);
    for (int i = 0; i < n; i++) {
        if (low && high) {
            x[i] = lower + (upper - lower) * inverse_logit(u[i]);
            *log_jacobian += log(upper - lower) + log_logistic(u[i]);
        } else if (low || high) {
            x[i] = low ? lower + exp(u[i]) : upper - exp(u[i]);
            *log_jacobian += u[i];
        } else {
            x[i] = u[i];
        }
    }
}

static void release_numbers(int n, const double *x, double lower, double upper,
                            double *u)
{
    const bool low = isfinite(lower), high = isfinite(upper);
    for (int i = 0; i < n; i++) {
        if (low && high)
            u[i] = log(x[i] - lower) - log(upper - x[i]);
        else if (low || high)
            u[i] = log(low ? x[i] - lower : upper - x[i]);
        else
            u[i] = x[i];
        if (low || high) /* on a bound */
            u[i] = fmin(fmax(u[i], -30), fmax(30, log(fabs(x[i]) + 1)));
    }
}

static void back_numbers(int n, const double *u, double lower, double upper,
                         bool jacobian, double *adjoint_x, double *adjoint_u,
                         double *of_lower, double *of_upper)
{
    const bool low = isfinite(lower), high = isfinite(upper);
    for (int i = 0; i < n; i++) {
        const double g = adjoint_x[i];
        if (low && high) {
            const double s = inverse_logit(u[i]), width = upper - lower;
            const double of_width = jacobian ? 1 / width : 0;
            adjoint_u[i] = g * width * s * (1 - s) + (jacobian ? 1 - 2 * s : 0);
            *of_lower += g * (1 - s) - of_width;
            *of_upper += g * s + of_width;
        } else if (low || high) {
            adjoint_u[i] = (low ? g : -g) * exp(u[i]) + (jacobian ? 1 : 0);
            *(low ? of_lower : of_upper) += g;
        } else {
            adjoint_u[i] = g;
        }
    }
}

/* ---- simplex: sticks broken one after the other ---- */

static int all_but_one(int ncells) { return ncells - 1; }

/* The share of the stick that piece k takes; equal pieces at 0. */
static double share(int n, int k, double u)
{
    return inverse_logit(u - log((double)(n - 1 - k)));
}

static void constrain_simplex(int n, const double *u, double lower,
                              double upper, double *x, double *log_jacobian)
{
    double rest = 1;
    (void)lower;
    (void)upper;
    for (int k = 0; k < n - 1; k++) {
        const double z = share(n, k, u[k]);
        x[k] = rest * z;
        *log_jacobian +=
            log(rest) + log_logistic(u[k] - log((double)(n - 1 - k)));
        rest *= 1 - z;
    }
    x[n - 1] = rest;
}

static void release_simplex(int n, const double *x, double lower, double upper,
                            double *u)
{
    (void)lower;
    (void)upper;
    double rest = 0;
    for (int k = n - 1; k > 0; k--) {
        rest += fmax(x[k], 1e-300);
        u[k - 1] =
            log(fmax(x[k - 1], 1e-300)) - log(rest) + log((double)(n - k));
        u[k - 1] = fmin(fmax(u[k - 1], -30), 30);
    }
}

static void back_simplex(int n, const double *u, double lower, double upper,
                         bool jacobian, double *adjoint_x, double *adjoint_u,
                         double *of_lower, double *of_upper)
{
    double of_rest = adjoint_x[n - 1], rest = 1;
    (void)lower;
    (void)upper;
    (void)of_lower;
    (void)of_upper;
    /* the sticks, in the place of the adjoints until their turn comes */
    for (int k = 0; k < n - 1; k++) {
        adjoint_u[k] = rest;
        rest *= 1 - share(n, k, u[k]);
    }
    for (int k = n - 2; k >= 0; k--) {
        const double stick = adjoint_u[k], z = share(n, k, u[k]);
        const double of_share = (adjoint_x[k] - of_rest) * stick;
        adjoint_u[k] = of_share * z * (1 - z) + (jacobian ? 1 - 2 * z : 0);
        of_rest =
            adjoint_x[k] * z + of_rest * (1 - z) + (jacobian ? 1 / stick : 0);
    }
}

/* ---- symmetric, positive definite: x = L L' ---- */

static int extent_of(int ncells) { return (int)lround(sqrt((double)ncells)); }

static int triangle(int ncells)
{
    const int K = extent_of(ncells);
    return K * (K + 1) / 2;
}

static double factor_cell(const double *u, int i, int j)
{
    const double value = u[i * (i + 1) / 2 + j];
    return i == j ? exp(value) : value;
}

static void constrain_matrix(int n, const double *u, double lower, double upper,
                             double *x, double *log_jacobian)
{
    const int K = extent_of(n);
    (void)lower;
    (void)upper;
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++)
                sum += factor_cell(u, i, k) * factor_cell(u, j, k);
            x[i * K + j] = x[j * K + i] = sum;
        }
    for (int i = 0; i < K; i++)
        *log_jacobian += log(2) + (K - i + 1) * u[i * (i + 1) / 2 + i];
}

static void release_matrix(int n, const double *x, double lower, double upper,
                           double *u)
{
    const int K = extent_of(n);
    (void)lower;
    (void)upper;
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++) {
            double sum = x[i * K + j];
            for (int k = 0; k < j; k++)
                sum -= factor_cell(u, i, k) * factor_cell(u, j, k);
            u[i * (i + 1) / 2 + j] = i == j ? log(fmax(sum, 1e-300)) / 2
                                            : sum / factor_cell(u, j, j);
        }
}

static void back_matrix(int n, const double *u, double lower, double upper,
                        bool jacobian, double *adjoint_x, double *adjoint_u,
                        double *of_lower, double *of_upper)
{
    const int K = extent_of(n);
    (void)lower;
    (void)upper;
    (void)of_lower;
    (void)of_upper;
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0; /* of (A + A') L */
            for (int k = j; k < K; k++)
                sum += (adjoint_x[i * K + k] + adjoint_x[k * K + i]) *
                       factor_cell(u, k, j);
            adjoint_u[i * (i + 1) / 2 + j] =
                i != j
                    ? sum
                    : sum * factor_cell(u, i, i) + (jacobian ? K - i + 1 : 0);
        }
}

const struct rt_support_map *rt_support_map(enum gbm_support support)
{
    static const struct rt_support_map numbers = {
        each, constrain_numbers, release_numbers, back_numbers};
    static const struct rt_support_map simplex = {
        all_but_one, constrain_simplex, release_simplex, back_simplex};
    static const struct rt_support_map matrix = {triangle, constrain_matrix,
                                                 release_matrix, back_matrix};
    switch (support) {
    case GBM_SUPPORT_ANY:
        return &numbers;
    case GBM_SUPPORT_SIMPLEX:
        return &simplex;
    case GBM_SUPPORT_MATRIX:
        return &matrix;
    case GBM_SUPPORT_CORRELATION:
    case GBM_SUPPORT_CORRELATION_UPPER:
    case GBM_SUPPORT_CORRELATION_LOWER:
        return rt_correlation_map(support);
    case GBM_SUPPORT_COUNTS:
    case GBM_SUPPORT_OTHER:
        break;
    }
    return NULL;
}
