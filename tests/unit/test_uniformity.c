/* test_uniformity.c: probabilities of the tests of ranks against those of all
 * samples, enumerated, and against how often simulated ones are as far out. */
#include "summary/uniformity.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t state = 1;

static int choose(int n)
{
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

static double choose_of(int n, int k)
{
    return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0));
}

/* The least doubled binomial tail over the cuts, by its definition. */
static double statistic(const struct gbm_uniformity_plan *plan,
                        const int *ranks)
{
    double least = 2;

    for (int i = 0; i < plan->points; i++) {
        double p = plan->cut[i] / (plan->most + 1.0), low = 0, high = 0;
        int count = 0;

        for (int j = 0; j < plan->n; j++)
            count += ranks[j] < plan->cut[i];
        for (int k = 0; k <= plan->n; k++) {
            double mass =
                choose_of(plan->n, k) * pow(p, k) * pow(1 - p, plan->n - k);

            low += k <= count ? mass : 0;
            high += k >= count ? mass : 0;
        }
        least = fmin(least, 2 * fmin(low, high));
    }
    return least;
}

/* All (most + 1)^n samples: the probability of a sample's ecdf test is that of
 * the samples whose statistic is no larger. */
static void enumerated(void **unused)
{
    enum { N = 5, MOST = 3, ALL = 1024 };
    struct gbm_uniformity_plan plan;
    double t[ALL];
    int ranks[ALL][N];

    (void)unused;
    assert_true(gbm_uniformity_plan(&plan, N, MOST));
    assert_int_equal(plan.points, 3);
    for (int s = 0; s < ALL; s++) {
        for (int j = 0, left = s; j < N; j++, left /= MOST + 1)
            ranks[s][j] = left % (MOST + 1);
        t[s] = statistic(&plan, ranks[s]);
    }
    for (int s = 0; s < ALL; s += 7) {
        struct gbm_uniformity u;
        int further = 0;

        for (int other = 0; other < ALL; other++)
            further += t[other] <= t[s] * (1 + 1e-10);
        assert_true(gbm_uniformity(&plan, ranks[s], &u));
        assert_true(fabs(u.ecdf_p - further / (double)ALL) < 1e-9);
    }
    gbm_uniformity_free(&plan);
}

/* Of uniform ranks the probabilities are uniform, and the band holds as often
 * as it says; more cuts than ranks are too many. */
static void simulated(void **unused)
{
    enum { N = 60, MOST = 99, TIMES = 4000 };
    struct gbm_uniformity_plan plan;
    int low[MOST], high[MOST], inside = 0, chi = 0, ecdf = 0;
    double location = 0, spread = 0;

    (void)unused;
    assert_true(gbm_uniformity_plan(&plan, N, MOST));
    assert_int_equal(plan.points, N);
    assert_true(gbm_uniformity_band(&plan, 0.1, low, high));
    for (int s = 0; s < TIMES; s++) {
        struct gbm_uniformity u;
        int ranks[N], out = 0;

        for (int j = 0; j < N; j++)
            ranks[j] = choose(MOST + 1);
        for (int i = 0; i < plan.points; i++) {
            int count = 0;

            for (int j = 0; j < N; j++)
                count += ranks[j] < plan.cut[i];
            out += count < low[i] || count > high[i];
        }
        inside += out == 0;
        assert_true(gbm_uniformity(&plan, ranks, &u));
        assert_int_equal(u.bins, 6);
        chi += u.chi_p < 0.1;
        ecdf += u.ecdf_p < 0.1;
        location += u.location_z * u.location_z / TIMES;
        spread += u.spread_z * u.spread_z / TIMES;
        assert_true((out > 0) == (u.ecdf_p < 0.1) ||
                    fabs(u.ecdf_p - 0.1) < .01);
    }
    /* four standard errors of what is 10% of the times */
    assert_true(abs(ecdf - TIMES / 10) < 76);
    assert_true(abs(chi - TIMES / 10) < 76);
    assert_true(TIMES - inside < TIMES / 10 + 76);
    assert_true(TIMES - inside > TIMES / 10 - 116); /* counts are discrete */
    assert_true(fabs(location - 1) < 0.09 && fabs(spread - 1) < 0.09);
    gbm_uniformity_free(&plan);
}

/* What is wrong is seen, and which way. */
static void shapes(void **unused)
{
    enum { N = 400, MOST = 50 };
    struct gbm_uniformity_plan plan;
    struct gbm_uniformity u;
    int high[N], narrow[N], same[N];

    (void)unused;
    assert_true(gbm_uniformity_plan(&plan, N, MOST));
    for (int j = 0; j < N; j++) {
        int a = choose(MOST + 1), b = choose(MOST + 1);

        high[j] = a > b ? a : b;
        narrow[j] = abs(a - MOST / 2) > abs(b - MOST / 2) ? a : b;
        same[j] = MOST / 2;
    }
    assert_true(gbm_uniformity(&plan, high, &u));
    assert_true(u.location_z > 5 && u.chi_p < 1e-6 && u.ecdf_p < 1e-6);
    assert_true(gbm_uniformity(&plan, narrow, &u));
    assert_true(u.spread_z > 5 && fabs(u.location_z) < 4 && u.chi_p < 1e-6 &&
                u.ecdf_p < 1e-4);
    assert_true(gbm_uniformity(&plan, same, &u));
    assert_true(u.spread_z < -5 && u.chi_p < 1e-12 && u.ecdf_p < 1e-12);
    gbm_uniformity_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enumerated),
        cmocka_unit_test(simulated),
        cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
