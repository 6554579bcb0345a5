/* test_stones.c: the error of a log evidence by stepping stones is that of the
 * estimates, of sweeps that depend on those before, too. */
#include "powers/tempering.h"
#include "gbm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RUNS = 400, SWEEPS = 700, LADDERS = 2, REPLICAS = 3 };

/* Log likelihoods are autoregressions of a small variance: then the evidence
 * is about 1 plus the sum over rungs of their means, half a power each. */
static void run(uint32_t seed, double again, double *value, double *se)
{
    static const double power[REPLICAS] = {0, 0.5, 1};
    static const int chain[LADDERS * REPLICAS] = {0, 1, 2, 3, 4, 5};
    const double sd = 0.1;
    double x[LADDERS * REPLICAS] = {0};
    struct rt_stones s;
    struct gbm_rng rng;
    gbm_rng_start(&rng, seed, 0, 0, 0, 0);
    assert_true(rt_stones_create(&s, LADDERS, REPLICAS, 1));
    for (int t = -200; t < SWEEPS; t++) {
        for (int i = 0; i < LADDERS * REPLICAS; i++)
            x[i] = again * x[i] +
                   sd * sqrt(1 - again * again) * gbm_draw_normal(&rng);
        if (t >= 0)
            rt_stones_add(&s, power, chain, x);
    }
    rt_stones_evidence(&s, value, se);
    rt_stones_free(&s);
}

static void errors(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) {
        static const double again[3] = {0, 0.6, 0.9};
        const double mean = 2 * 0.01 / 8; /* of two lognormal ratios */
        double stated = 0, found = 0, bias = 0;
        for (uint32_t seed = 1; seed <= RUNS; seed++) {
            double value, se;
            run(seed, again[k], &value, &se);
            stated += se * se / RUNS;
            found += (value - mean) * (value - mean) / RUNS;
            bias += (value - mean) / RUNS;
        }
        double exact =
            2 * 0.0025 * (1 + again[k]) / (1 - again[k]) / (SWEEPS * LADDERS);
        assert_true(fabs(bias) < 4 * sqrt(exact / RUNS));
        assert_true(found > 0.75 * exact && found < 1.3 * exact);
        assert_true(stated > 0.9 * exact && stated < 1.2 * exact);
    }
}

/* Of a few sweeps no error is stated, of none no value. */
static void few(void **unused)
{
    static const double power[2] = {0, 1}, x[2] = {0.25, 0.5};
    static const int chain[2] = {0, 1};
    struct rt_stones s;
    double value, se;
    (void)unused;
    assert_true(rt_stones_create(&s, 1, 2, 1));
    rt_stones_evidence(&s, &value, &se);
    assert_true(isnan(value) && isnan(se));
    rt_stones_add(&s, power, chain, x);
    rt_stones_evidence(&s, &value, &se);
    assert_true(fabs(value - 0.25) < 1e-12 && isnan(se));
    rt_stones_free(&s);
}

/* Batches of many rungs, merged by some threads, are those that one merges. */
static void threads(void **unused)
{
    enum { RUNGS = 1500, TIMES = 300 };
    static double power[RUNGS], x[RUNGS];
    static int chain[RUNGS];
    struct rt_stones s[2];
    struct gbm_rng rng;
    (void)unused;
    gbm_rng_start(&rng, 1, 0, 0, 0, 0);
    for (int i = 0; i < RUNGS; i++) {
        power[i] = (double)i / (RUNGS - 1);
        chain[i] = i;
    }
    for (int k = 0; k < 2; k++)
        assert_true(rt_stones_create(&s[k], 1, RUNGS, k ? 4 : 1));
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < RUNGS; i++)
            x[i] = 100 * gbm_draw_normal(&rng);
        for (int k = 0; k < 2; k++)
            rt_stones_add(&s[k], power, chain, x);
    }
    assert_true(s[0].length > 1 && s[0].batches == s[1].batches);
    for (int i = 0; i < s[0].batches * RUNGS; i++) {
        const bool last = i % RUNGS == RUNGS - 1; /* has no next one */
        assert_true(last || isfinite(s[0].sums[i]));
        assert_true(s[0].sums[i] == s[1].sums[i]);
    }
    for (int k = 0; k < 2; k++)
        rt_stones_free(&s[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),
        cmocka_unit_test(few),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
