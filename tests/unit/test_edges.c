/* test_edges: full conditionals of which the data, or all but the data, give
 * nothing: no rows, sums and sums of squares that are 0, shapes next to 0. One
 * table: what is drawn, and the integral of what it is drawn from, against
 * quadrature over u = log x (beta: the logit). Between bounds alone a shape of
 * any sign, and no rate, will do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <cmocka.h>

#include "gbm.h"

#include "beta.h"
#include "gig.h"
#include "modified_half_normal.h"

enum { DRAWS = 20000, NODES = 400000 };

struct edge {
    enum { GIG, HALF, GAMMA, BETA, BETWEEN } family; /* the last: 0.2 to 3 */
    double p, a, b;                                  /* HALF: c, b, a */
};

static const struct edge edges[] = {
    {GIG, 3, 5, 0},
    {GIG, 0.4, 2, 0},
    {GIG, 0.02, 1e-3, 0},
    {GIG, 250, 2, 0},
    {GIG, -5, 0, 3},
    {GIG, -0.4, 0, 1e-6},
    {GIG, -250, 0, 2},
    {GIG, 0, 1, 1e-12},
    {GIG, 0, 1e-100, 1e-100},
    {GIG, 0.001, 1, 1e-60},
    {GIG, -0.001, 1e-60, 1},
    {GIG, 0.5, 1, 1e-300},
    {GIG, -4.5, 1e-300, 1},
    {GIG, -4.5, 1e-4, 1},
    {HALF, 3, -2, 0},
    {HALF, 0.4, -2, 0},
    {HALF, 3, 0, 2},
    {HALF, 0.02, 0, 2},
    {HALF, 3, -2, 1e-300},
    {HALF, 3, 2, 1e-3},
    {HALF, 250, 0, 1e-9},
    {GAMMA, 0.02, 0.5, 0},
    {GAMMA, 250, 1e-100, 0},
    {BETA, 0.05, 0.05, 0},
    {BETA, 0.5, 400, 0},
    {BETA, 1, 1, 0},
    {BETWEEN, 1, 0, 0},
    {BETWEEN, 0, 0, 0},
    {BETWEEN, -2.5, 0, 0},
    {BETWEEN, 250, 0, 0},
    {BETWEEN, 0.5, 1e-300, 0},
    {BETWEEN, 1e-9, 2, 0},
};

static double log_kernel(const struct edge *e, double u)
{
    const double x = exp(u);
    switch (e->family) {
    case GIG:
        return e->p * u - (e->a > 0 ? e->a / 2 * x : 0) -
               (e->b > 0 ? e->b / 2 / x : 0);
    case HALF:
        /* x is infinite where the kernel is 0 */
        return x > 1e150 ? -INFINITY : e->p * u + x * (e->a - e->b * x);
    case GAMMA:
        return e->p * u - e->a * x;
    case BETA:
        return -e->p * log1p(exp(-u)) - e->a * log1p(exp(u));
    case BETWEEN:
        return x > 0.2 && x < 3 ? e->p * u - e->a * x : -INFINITY;
    }
    abort();
}

static double log_total(const struct edge *e)
{
    const real p = (real)e->p, a = (real)e->a, b = (real)e->b;
    switch (e->family) {
    case GIG:
        return (double)gbm_log_gig_total(p, a, b);
    case HALF:
        return (double)gbm_log_modified_half_normal_total(p, a, b);
    case GAMMA:
        return (double)(gbm_lgamma(p) - p * real_log(a));
    case BETA:
        return (double)gbm_log_beta(p, a);
    case BETWEEN:
        return NAN; /* the library states none */
    }
    abort();
}

/* In u. */
static double draw(struct gbm_rng *rng, const struct edge *e)
{
    const real p = (real)e->p, a = (real)e->a, b = (real)e->b;
    switch (e->family) {
    case GIG:
        return log((double)gbm_draw_gig(rng, p, a, b));
    case HALF:
        return log((double)gbm_draw_modified_half_normal(rng, p, a, b));
    case GAMMA:
        return log((double)(gbm_draw_gamma(rng, p) / a));
    case BETA: {
        const double x = (double)gbm_draw_beta(rng, p, a);
        return log(x) - log1p(-x);
    }
    case BETWEEN:
        return log((double)gbm_draw_gamma_between(rng, p, a, REAL_C(0.2), 3));
    }
    abort();
}

/* Places that are denser about 0, and go far on both sides. */
static double place(int i) { return sinh(12.0 * (2 * i - NODES) / NODES); }

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Fills below[i] with the integral up to place(i); the log of all of it. */
static double integrate(const struct edge *e, double *below)
{
    const double step = 24.0 / NODES;
    double top = -INFINITY, sum = 0;
    for (int i = 0; i <= NODES; i++)
        top = fmax(top, log_kernel(e, place(i)));
    for (int i = 0; i <= NODES; i++) {
        const double u = place(i), width = step * sqrt(1 + u * u);
        const double term = width * exp(log_kernel(e, u) - top);
        below[i] = sum + term / 2;
        sum += term;
    }
    for (int i = 0; i <= NODES; i++)
        below[i] /= sum;
    return log(sum) + top;
}

static void every_edge(void **unused)
{
    static double below[NODES + 1], u[DRAWS];
    (void)unused;

    for (uint32_t k = 0; k < sizeof edges / sizeof *edges; k++) {
        const struct edge *e = &edges[k];
        struct gbm_rng rng;
        gbm_rng_start(&rng, 17, 0, k, 0, 0);
        const double total = integrate(e, below), stated = log_total(e);
        if (fabs(stated - total) > 1e-9 * (1 + fabs(total)) ||
            isnan(stated) != (e->family == BETWEEN))
            fail_msg("edge %u: log integral %.15g, stated %.15g", k, total,
                     stated);
        for (int i = 0; i < DRAWS; i++)
            u[i] = draw(&rng, e);
        qsort(u, DRAWS, sizeof *u, by_size);
        /* where numbers end, or 1 - x does */
        const double ends = e->family == BETA ? 30 : 690;
        double distance = 0;
        for (int i = 0, n = 0; i <= NODES; i++) {
            for (; n < DRAWS && u[n] <= place(i); n++)
                ;
            if (fabs(place(i)) < ends)
                distance = fmax(distance, fabs((double)n / DRAWS - below[i]));
        }
        if (!(distance * sqrt(DRAWS) < 2.2))
            fail_msg("edge %u: draws are %g off", k, distance);
    }
    assert_true(gbm_log_gig_total(0, 1, 0) == GBM_INF);
    assert_true(gbm_log_gig_total(1, 0, 1) == GBM_INF);
    assert_true(gbm_is_nan(gbm_log_gig_total(1, -1, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_edge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
