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

/* Log likelihoods that are normal with deviation sd at the prior are so at each
 * power, with that times the variance for a mean; here they are autoregressions
 * of those before. The log evidence is half the variance. `unmet`: draws of the
 * first rung stay so far below. */
static struct rt_log_evidence run(uint32_t seed, double again, double sd,
                                  double unmet)
{
    static const double power[REPLICAS] = {0, 0.5, 1};
    static const int chain[LADDERS * REPLICAS] = {0, 1, 2, 3, 4, 5};
    double x[LADDERS * REPLICAS] = {0}, loglik[LADDERS * REPLICAS];
    struct rt_stones s;
    struct gbm_rng rng;
    gbm_rng_start(&rng, seed, 0, 0, 0, 0);
    assert_true(rt_stones_create(&s, LADDERS, REPLICAS, SWEEPS, 1));
    for (int t = -200; t < SWEEPS; t++) {
        for (int i = 0; i < LADDERS * REPLICAS; i++)
            x[i] = again * x[i] +
                   sd * sqrt(1 - again * again) * gbm_draw_normal(&rng);
        for (int i = 0; i < LADDERS * REPLICAS; i++)
            loglik[i] = x[i] + power[i % REPLICAS] * sd * sd -
                        (i % REPLICAS == 0 ? unmet : 0);
        if (t >= 0)
            rt_stones_add(&s, power, chain, loglik);
    }
    const struct rt_log_evidence e = rt_stones_evidence(&s);
    rt_stones_free(&s);
    return e;
}

static void errors(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) {
        static const double again[3] = {0, 0.6, 0.9};
        const double sd = 0.1, mean = sd * sd / 2;
        double stated = 0, found = 0, bias = 0;
        for (uint32_t seed = 1; seed <= RUNS; seed++) {
            const struct rt_log_evidence e = run(seed, again[k], sd, 0);
            stated += e.se * e.se / RUNS;
            found += (e.value - mean) * (e.value - mean) / RUNS;
            bias += (e.value - mean) / RUNS;
        }
        double exact =
            2 * 0.0025 * (1 + again[k]) / (1 - again[k]) / (SWEEPS * LADDERS);
        assert_true(fabs(bias) < 4 * sqrt(exact / RUNS));
        assert_true(found > 0.75 * exact && found < 1.3 * exact);
        assert_true(stated > 0.9 * exact && stated < 1.2 * exact);
    }
}

/* Where a rung's draws do not reach those of the next one, the error is as
 * large as what that leaves out: of wide log likelihoods, and of those that the
 * first rung has not met. */
static void unreached(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; k++) {
        const double sd = k ? 3 : 9, unmet = k ? 60 : 0;
        double squares = 0, found = 0;
        for (uint32_t seed = 1; seed <= 20; seed++) {
            const struct rt_log_evidence e = run(seed, 0.6, sd, unmet);
            const double off = e.value - sd * sd / 2;
            assert_true(fabs(off) < 3 * e.se);
            squares += off * off / (e.se * e.se) / 20;
            found += off * off / 20;
        }
        assert_true(found > 5 && squares > 0.25 && squares < 1.5);
    }
}

/* Of a few sweeps no error is stated, of none no value. */
static void few(void **unused)
{
    static const double power[2] = {0, 1}, x[2] = {0.25, 0.5};
    static const int chain[2] = {0, 1};
    struct rt_stones s;
    (void)unused;
    assert_true(rt_stones_create(&s, 1, 2, 1, 1));
    struct rt_log_evidence e = rt_stones_evidence(&s);
    assert_true(isnan(e.value) && isnan(e.se));
    rt_stones_add(&s, power, chain, x);
    e = rt_stones_evidence(&s);
    assert_true(fabs(e.value - 0.25) < 1e-12 && isnan(e.se));
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
        assert_true(rt_stones_create(&s[k], 1, RUNGS, TIMES, k ? 4 : 1));
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < RUNGS; i++)
            x[i] = 100 * gbm_draw_normal(&rng);
        for (int k = 0; k < 2; k++)
            rt_stones_add(&s[k], power, chain, x);
    }
    assert_true(s[0].length > 1 && s[0].batches == s[1].batches);
    for (int i = 0; i < s[0].batches * s[0].kinds * RUNGS; i++) {
        const bool last = i % RUNGS == RUNGS - 1; /* has no next one */
        assert_true(last || isfinite(s[0].sums[i]));
        assert_true(s[0].sums[i] == s[1].sums[i]);
    }
    for (int k = 0; k < 2; k++)
        rt_stones_free(&s[k]);
}

/* A run of as many sweeps as it said ends with the batches of one that did not
 * say, which has merged more. */
static void lengths(void **unused)
{
    enum { SWEEPS_LONG = 5000 };
    static const double power[2] = {0, 1};
    static const int chain[2] = {0, 1};
    struct rt_stones s[2];
    struct gbm_rng rng;
    (void)unused;
    gbm_rng_start(&rng, 2, 0, 0, 0, 0);
    for (int k = 0; k < 2; k++)
        assert_true(rt_stones_create(&s[k], 1, 2, k ? SWEEPS_LONG : 0, 1));
    assert_true(s[0].length == 1 && s[1].length == 32);
    for (int t = 0; t < SWEEPS_LONG; t++) {
        const double x[2] = {gbm_draw_normal(&rng), gbm_draw_normal(&rng)};
        for (int k = 0; k < 2; k++)
            rt_stones_add(&s[k], power, chain, x);
    }
    const struct rt_log_evidence a = rt_stones_evidence(&s[0]);
    const struct rt_log_evidence b = rt_stones_evidence(&s[1]);
    assert_true(s[0].batches == s[1].batches && s[0].length == s[1].length &&
                s[0].in_batch == s[1].in_batch && s[0].length == 128);
    assert_true(fabs(a.value - b.value) < 1e-12);
    assert_true(fabs(a.se - b.se) < 1e-9 * a.se);
    for (int k = 0; k < 2; k++)
        rt_stones_free(&s[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths),   cmocka_unit_test(errors),
        cmocka_unit_test(unreached), cmocka_unit_test(few),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
