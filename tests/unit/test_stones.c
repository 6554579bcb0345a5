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
    assert_true(rt_stones_create(&s, LADDERS, REPLICAS));
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
    assert_true(rt_stones_create(&s, 1, 2));
    rt_stones_evidence(&s, &value, &se);
    assert_true(isnan(value) && isnan(se));
    rt_stones_add(&s, power, chain, x);
    rt_stones_evidence(&s, &value, &se);
    assert_true(fabs(value - 0.25) < 1e-12 && isnan(se));
    rt_stones_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),
        cmocka_unit_test(few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
