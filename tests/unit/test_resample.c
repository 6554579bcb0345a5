/* test_resample.c: resampling gives each particle as many copies as its weight
 * says, and places them as promised. */
#include "filter/filter.h"
#include "gbm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 6, ROUNDS = 20000 };
static const double weight[N] = {0, 0.05, 0.4, 0, 0.3, 0.25};

static void start(struct gbm_rng *rng, int round)
{
    gbm_rng_start(rng, 1, 0, (uint32_t)round, 0, 0);
}

/* Copies are independent: counts are multinomial, pairs too. */
static void multinomial_counts(void **unused)
{
    double count[N] = {0}, squares[N] = {0};
    (void)unused;
    for (int r = 0; r < ROUNDS; r++) {
        struct gbm_rng rng;
        double roots[N];
        int ancestor[N], copies[N] = {0};
        start(&rng, r);
        rt_resample_multinomial(N, weight, &rng, 1, roots, ancestor);
        for (int i = 0; i < N; i++) {
            assert_in_range(ancestor[i], 0, N - 1);
            assert_true(i == 0 || ancestor[i] >= ancestor[i - 1]);
            copies[ancestor[i]]++;
        }
        for (int i = 0; i < N; i++) {
            count[i] += copies[i];
            squares[i] += copies[i] * copies[i];
        }
    }
    for (int i = 0; i < N; i++) {
        double mean = N * weight[i], variance = mean * (1 - weight[i]);
        double found = count[i] / ROUNDS;
        double spread = squares[i] / ROUNDS - found * found;
        assert_true(fabs(found - mean) <= 4 * sqrt(variance / ROUNDS));
        assert_true(fabs(spread - variance) <= 0.06 * variance);
    }
}

/* Of one particle's weight all copies are its own, at either end. */
static void multinomial_ends(void **unused)
{
    (void)unused;
    for (int only = 0; only < N; only++) {
        double w[N] = {0};
        double roots[N];
        int ancestor[N];
        struct gbm_rng rng;
        w[only] = 1;
        start(&rng, only);
        rt_resample_multinomial(N, w, &rng, 1, roots, ancestor);
        for (int i = 0; i < N; i++)
            assert_int_equal(ancestor[i], only);
    }
}

static void systematic_counts(void **unused)
{
    (void)unused;
    for (int r = 0; r < 100; r++) {
        int ancestor[N], offspring[N], copies[N] = {0};
        rt_resample(N, weight, (r + 0.5) / 100, ancestor, offspring);
        for (int i = 0; i < N; i++)
            copies[ancestor[i]]++;
        for (int i = 0; i < N; i++) {
            assert_true(fabs(copies[i] - N * weight[i]) < 1);
            assert_true(copies[i] == 0 || ancestor[i] == i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multinomial_counts),
        cmocka_unit_test(multinomial_ends),
        cmocka_unit_test(systematic_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
