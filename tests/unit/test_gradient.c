/* Free numbers and the search for maxima: what support.c makes of them against
 * determinants and differences, lbfgs.c on functions with known maxima. */
#include "gradient/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 36 };

static double noise(int i) { return sin(12.9898 * i + 4.1); }

/* log |det A|, A [n][n], which is destroyed. */
static double log_determinant(int n, double *a)
{
    double sum = 0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        for (int j = 0; j < n; j++) {
            const double x = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = x;
        }
        sum += log(fabs(a[k * n + k]));
        for (int i = k + 1; i < n; i++)
            for (int j = n - 1; j >= k; j--)
                a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
    }
    return sum;
}

/* The cells that make the others, as many as free numbers. */
static int free_cells(enum gbm_support support, int n, int *cells)
{
    const int K = (int)lround(sqrt((double)n));
    int count = 0;
    if (support == GBM_SUPPORT_ANY || support == GBM_SUPPORT_SIMPLEX)
        for (int i = 0; i < n - (support == GBM_SUPPORT_SIMPLEX); i++)
            cells[count++] = i;
    for (int i = 0; support == GBM_SUPPORT_MATRIX && i < K; i++)
        for (int j = 0; j <= i; j++)
            cells[count++] = i * K + j;
    const bool upper = support == GBM_SUPPORT_CORRELATION ||
                       support == GBM_SUPPORT_CORRELATION_UPPER;
    for (int i = 0;
         (upper || support == GBM_SUPPORT_CORRELATION_LOWER) && i < K; i++)
        for (int j = 0; j < i; j++)
            cells[count++] = upper ? j * K + i : i * K + j;
    return count;
}

static void check_support(enum gbm_support support, int n, double lower,
                          double upper)
{
    const struct rt_support_map *map = rt_support_map(support);
    double u[MOST], x[MOST], up[MOST], down[MOST], again[MOST],
        jacobian = 0, rest = 0, matrix[MOST * MOST];
    int cells[MOST];
    const int d = map->dimension(n);
    assert_int_equal(free_cells(support, n, cells), d);
    for (int i = 0; i < d; i++)
        u[i] = noise(i);
    map->constrain(n, u, lower, upper, x, &jacobian);
    map->release(n, x, lower, upper, again);
    for (int i = 0; i < d; i++)
        assert_true(fabs(u[i] - again[i]) < 1e-9);
    const double h = 1e-5;
    for (int i = 0; i < d; i++) {
        const double at = u[i];
        u[i] = at + h;
        map->constrain(n, u, lower, upper, up, &rest);
        u[i] = at - h;
        map->constrain(n, u, lower, upper, down, &rest);
        u[i] = at;
        for (int j = 0; j < d; j++)
            matrix[j * d + i] = (up[cells[j]] - down[cells[j]]) / (2 * h);
    }
    assert_true(fabs(log_determinant(d, matrix) - jacobian) < 1e-7);
}

/* f = sum of w x + log Jacobian, by u and by the bounds. */
static double value_at(const struct rt_support_map *map, int n, const double *u,
                       double lower, double upper)
{
    double x[MOST], sum = 0;
    map->constrain(n, u, lower, upper, x, &sum);
    for (int i = 0; i < n; i++)
        sum += noise(100 + i) * x[i];
    return sum;
}

static void check_back(enum gbm_support support, int n, double lower,
                       double upper)
{
    const struct rt_support_map *map = rt_support_map(support);
    double u[MOST], adjoint_x[MOST], adjoint_u[MOST], low = 0, high = 0;
    const int d = map->dimension(n);
    const double h = 1e-5;
    for (int i = 0; i < d; i++)
        u[i] = noise(i);
    for (int i = 0; i < n; i++)
        adjoint_x[i] = noise(100 + i);
    map->back(n, u, lower, upper, true, adjoint_x, adjoint_u, &low, &high);
    for (int i = 0; i < d; i++) {
        const double at = u[i];
        u[i] = at + h;
        const double up = value_at(map, n, u, lower, upper);
        u[i] = at - h;
        const double down = value_at(map, n, u, lower, upper);
        u[i] = at;
        assert_true(fabs((up - down) / (2 * h) - adjoint_u[i]) < 1e-7);
    }
    if (isfinite(lower))
        assert_true(fabs((value_at(map, n, u, lower + h, upper) -
                          value_at(map, n, u, lower - h, upper)) /
                             (2 * h) -
                         low) < 1e-7);
    if (isfinite(upper))
        assert_true(fabs((value_at(map, n, u, lower, upper + h) -
                          value_at(map, n, u, lower, upper - h)) /
                             (2 * h) -
                         high) < 1e-7);
}

static const struct {
    enum gbm_support support;
    int n;
    double lower, upper;
} cases[] = {
    {GBM_SUPPORT_ANY, 3, -INFINITY, INFINITY},
    {GBM_SUPPORT_ANY, 1, -1.5, INFINITY},
    {GBM_SUPPORT_ANY, 1, -INFINITY, 2.5},
    {GBM_SUPPORT_ANY, 1, -1, 7},
    {GBM_SUPPORT_SIMPLEX, 2, -INFINITY, INFINITY},
    {GBM_SUPPORT_SIMPLEX, 5, -INFINITY, INFINITY},
    {GBM_SUPPORT_MATRIX, 1, -INFINITY, INFINITY},
    {GBM_SUPPORT_MATRIX, 9, -INFINITY, INFINITY},
    {GBM_SUPPORT_CORRELATION, 4, -INFINITY, INFINITY},
    {GBM_SUPPORT_CORRELATION, 16, -INFINITY, INFINITY},
    {GBM_SUPPORT_CORRELATION_UPPER, 4, -INFINITY, INFINITY},
    {GBM_SUPPORT_CORRELATION_UPPER, 16, -INFINITY, INFINITY},
    {GBM_SUPPORT_CORRELATION_LOWER, 4, -INFINITY, INFINITY},
    {GBM_SUPPORT_CORRELATION_LOWER, 16, -INFINITY, INFINITY},
};
enum { NCASES = sizeof cases / sizeof cases[0] };

static void supports(void **unused)
{
    (void)unused;
    for (int i = 0; i < NCASES; i++) {
        check_support(cases[i].support, cases[i].n, cases[i].lower,
                      cases[i].upper);
        check_back(cases[i].support, cases[i].n, cases[i].lower,
                   cases[i].upper);
    }
    assert_null(rt_support_map(GBM_SUPPORT_COUNTS));
}

/* ---- maxima ---- */

/* Rosenbrock's banana, upside down, in pairs: at 1. */
static double banana(void *context, const double *u, double *slope)
{
    const int n = *(const int *)context;
    double sum = 0;
    for (int i = 0; i + 1 < n; i += 2) {
        const double a = 1 - u[i], b = u[i + 1] - u[i] * u[i];
        sum -= a * a + 100 * b * b;
        slope[i] = 2 * a + 400 * b * u[i];
        slope[i + 1] = -200 * b;
    }
    return sum;
}

/* A gamma's log density: no value at or below 0, mode at 2. */
static double gamma_density(void *context, const double *u, double *slope)
{
    (void)context;
    slope[0] = 4 / u[0] - 2;
    return u[0] > 0 ? 4 * log(u[0]) - 2 * u[0] : -INFINITY;
}

/* Large, so that what is gained at last is less than its rounding. */
static double tall(void *context, const double *u, double *slope)
{
    (void)context;
    slope[0] = -1e-3 * (u[0] - 5);
    return 1e6 - 0.5e-3 * (u[0] - 5) * (u[0] - 5);
}

static double endless(void *context, const double *u, double *slope)
{
    (void)context;
    slope[0] = 1;
    slope[1] = -u[1];
    return u[0] - u[1] * u[1] / 2;
}

static void maxima(void **unused)
{
    (void)unused;
    int n = 20;
    double u[20];
    for (int i = 0; i < n; i++)
        u[i] = i % 2 ? 1 : -1.2;
    struct rt_lbfgs k = {
        .n = n, .objective = banana, .context = &n, .most = 1000};
    assert_int_equal(rt_lbfgs(&k, u), RT_ASCENT_CONVERGED);
    for (int i = 0; i < n; i++)
        assert_true(fabs(u[i] - 1) < 1e-6);
    k.most = 3;
    u[0] = -1.2;
    assert_int_equal(rt_lbfgs(&k, u), RT_ASCENT_LIMIT);
    assert_int_equal(k.iterations, 3);

    struct rt_lbfgs one = {.n = 1, .objective = gamma_density, .most = 1000};
    u[0] = 50;
    assert_int_equal(rt_lbfgs(&one, u), RT_ASCENT_CONVERGED);
    assert_true(fabs(u[0] - 2) < 1e-6);
    u[0] = 1e-6;
    assert_int_equal(rt_lbfgs(&one, u), RT_ASCENT_CONVERGED);
    assert_true(fabs(u[0] - 2) < 1e-6);
    u[0] = -1;
    assert_int_equal(rt_lbfgs(&one, u), RT_ASCENT_STUCK);

    one.objective = tall;
    u[0] = -700;
    assert_int_equal(rt_lbfgs(&one, u), RT_ASCENT_CONVERGED);
    assert_true(fabs(u[0] - 5) < 1e-4);

    struct rt_lbfgs two = {.n = 2, .objective = endless, .most = 1000};
    u[0] = 0;
    u[1] = 3;
    assert_int_equal(rt_lbfgs(&two, u), RT_ASCENT_UNBOUNDED);
    assert_int_equal(two.far, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(supports),
                                       cmocka_unit_test(maxima)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
