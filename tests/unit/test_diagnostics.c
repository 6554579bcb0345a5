/* R-hat, ESS and MCSE against values recorded from ArviZ 0.23.4 (az.rhat,
 * az.ess, az.mcse, numpy.quantile) on sequences that both sides can make. */
#include "summary/diagnostics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

/* Knuth's MMIX congruential generator: the top 53 bits. */
static double uniform(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static double next_value(const char *kind, int chain, double u, double *y)
{
    if (strcmp(kind, "ar") == 0)
        return *y = 0.9 * *y + u - 0.5;
    if (strcmp(kind, "slow") == 0)
        return *y = 0.995 * *y + u - 0.5;
    if (strcmp(kind, "anti") == 0)
        return *y = -0.7 * *y + u - 0.5;
    if (strcmp(kind, "shift") == 0)
        return u + 0.2 * chain;
    if (strcmp(kind, "scale") == 0)
        return (u - 0.5) * (1 + chain);
    if (strcmp(kind, "heavy") == 0)
        return 1 / (u - 0.5);
    if (strcmp(kind, "binary") == 0)
        return u < 0.3;
    if (strcmp(kind, "count") == 0)
        return floor(u * 7);
    return u;
}

static double *make_draws(const char *kind, int chains, int draws,
                          uint64_t seed)
{
    double *x = malloc((size_t)chains * (size_t)draws * sizeof *x);

    assert_non_null(x);
    for (int c = 0; c < chains; c++) {
        double y = 0;

        for (int d = 0; d < draws; d++)
            x[c * draws + d] = next_value(kind, c, uniform(&seed), &y);
    }
    return x;
}

static const struct {
    const char *kind;
    int chains, draws;
    uint64_t seed;
    double expected[9];
} recorded[] = {
    {"iid",
     4,
     1000,
     1,
     {0.502684732270805, 0.287659465564073, 0.00451749112265178,
      0.0494660626344099, 0.505924227867088, 0.948952803947693,
      4026.90683748617, 4010.59603534675, 0.999566820175283}},
    {"ar",
     4,
     1000,
     2,
     {0.0266630566111983, 0.653070994855972, 0.0405379977899204,
      -1.00459076415438, 0.00966121617584148, 1.12839055218214,
      261.099588944338, 638.151698181684, 1.0106175426584}},
    {"slow",
     4,
     4000,
     3,
     {-0.86558902670632, 2.90613938205195, 0.420845074601653, -5.86369576989335,
      -0.688177594925947, 3.80168081655816, 48.2411046845177, 90.3153534436059,
      1.08026608386788}},
    {"anti",
     4,
     500,
     4,
     {0.000541153885712914, 0.386733305279483, 0.00475961518846818,
      -0.643469721217059, -0.00153146500591519, 0.62170961253709,
      6602.05999132796, 1502.51159840286, 1.00226937693103}},
    {"shift",
     3,
     300,
     5,
     {0.705390941480082, 0.338816697088811, 0.102122403791826, 0.14020773269006,
      0.711313825292267, 1.25905667452734, 10.6099214087625, 36.3411432421686,
      1.20883240189474}},
    {"scale",
     4,
     1000,
     6,
     {-0.00159940053381117, 0.796874583304591, 0.0127372737154952,
      -1.38767691447104, 0.00155854603264827, 1.34891147631847,
      3922.61933845019, 61.3503647115515, 1.21765083988412}},
    {"heavy",
     2,
     1001,
     7,
     {5.29784236861113, 168.534669380054, 4.16298579434328, -18.7041008808774,
      -2.04641320267825, 23.1416255716555, 2070.6679343727, 1933.3509432541,
      1.00070893551094}},
    {"binary",
     4,
     1000,
     8,
     {0.3095, 0.462345315535585, 0.00730866111465123, 0, 0, 1, 4001.81744578629,
      4000, 0.999565522154234}},
    {"count",
     4,
     251,
     9,
     {3.02091633466135, 2.00611248315912, 0.0654514346233107, 0, 3, 6,
      931.854081207294, 846.605268115409, 0.998670934015228}},
    {"iid",
     1,
     200,
     10,
     {0.508351202295383, 0.280705981070547, 0.0244547628038766,
      0.0596656145633543, 0.501122376094398, 0.956331221177999,
      133.189282516755, 178.628812488956, (double)NAN}},
    {"ar",
     1,
     1500,
     11,
     {-0.0586914032419163, 0.661719766358729, 0.0667060193384742,
      -1.10937602543909, -0.0517501064084195, 1.00822740739824,
      98.9800868608642, 170.764542490798, (double)NAN}},
    {"iid",
     4,
     4,
     12,
     {0.641287827040766, 0.300997338920565, 0.0685753105306336,
      0.16617587875901, 0.771497344745069, 0.98569556931463, 19.2659197224948,
      19.2659197224948, 1.29562797633779}},
    {"ar",
     2,
     9,
     13,
     {-0.281764866681018, 0.23033872030262, 0.0524773718220463,
      -0.658435652797584, -0.288326576136391, 0.0741934566416024,
      19.2659197224948, 16, 0.993204039766012}},
    {"slow",
     2,
     1024,
     14,
     {-0.0710736510090908, 2.028505039636, 0.936644994462075, -3.36796041455729,
      0.0471227929182791, 3.76794841684922, 4.81246878215922, 41.0242763802033,
      1.35746954501373}},
};

/* ArviZ does not define R-hat of one chain; we, as `posterior`, split it. */
static void agrees_with_arviz(void **unused)
{
    static const char *const names[9] = {"mean", "sd",   "mcse", "q5",  "q50",
                                         "q95",  "bulk", "tail", "rhat"};

    (void)unused;
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        double *x = make_draws(recorded[i].kind, recorded[i].chains,
                               recorded[i].draws, recorded[i].seed);
        struct gbm_diagnosis d;
        double got[9];

        assert_int_equal(
            gbm_diagnose(x, recorded[i].chains, recorded[i].draws, &d), GBM_OK);
        memcpy(got,
               (double[9]){d.mean, d.sd, d.mcse, d.q5, d.q50, d.q95, d.ess_bulk,
                           d.ess_tail, d.rhat},
               sizeof got);
        for (int k = 0; k < 9; k++) {
            double want = recorded[i].expected[k];

            if (isnan(want))
                continue;
            if (!(fabs(got[k] - want) <= 1e-9 * fabs(want) + 1e-12))
                fail_msg("case %zu (%s): %s is %.15g, not %.15g", i,
                         recorded[i].kind, names[k], got[k], want);
        }
        free(x);
    }
}

static void one_chain_is_split(void **unused)
{
    double *x = make_draws("iid", 1, 1000, 3);
    struct gbm_diagnosis d;

    (void)unused;
    gbm_diagnose(x, 1, 1000, &d);
    assert_true(d.rhat > 0.99 && d.rhat < 1.01);
    for (int i = 500; i < 1000; i++)
        x[i] += 1;
    gbm_diagnose(x, 1, 1000, &d);
    assert_true(d.rhat > 1.5);
    free(x);
}

static void constants_and_nan(void **unused)
{
    double x[40];
    struct gbm_diagnosis d;

    (void)unused;
    for (int i = 0; i < 40; i++)
        x[i] = 2.5;
    gbm_diagnose(x, 4, 10, &d);
    assert_true(d.mean == 2.5 && d.sd == 0 && d.q5 == 2.5 && d.q95 == 2.5);
    assert_true(isnan(d.rhat) && isnan(d.ess_bulk) && isnan(d.ess_tail));

    for (int i = 0; i < 40; i++) /* rounded: a chain's own value each */
        x[i] = 1 + 2e-16 * (i / 10);
    gbm_diagnose(x, 4, 10, &d);
    assert_true(d.sd == 0 && isnan(d.rhat) && isnan(d.ess_bulk));
    for (int i = 0; i < 40; i++)
        x[i] = 1 + 1e-12 * (i + 3 * (i % 2));
    gbm_diagnose(x, 4, 10, &d);
    assert_true(d.sd > 0 && d.rhat > 1.5);

    x[7] = NAN;
    gbm_diagnose(x, 4, 10, &d);
    assert_true(isnan(d.mean) && isnan(d.rhat) && isnan(d.ess_bulk));

    for (int i = 0; i < 40; i++)
        x[i] = i;
    x[3] = INFINITY;
    gbm_diagnose(x, 4, 10, &d);
    assert_true(isinf(d.mean) && isnan(d.rhat));

    x[3] = 3;
    gbm_diagnose(x, 20, 2, &d); /* too few draws */
    assert_true(d.mean == 19.5 && isnan(d.rhat) && isnan(d.ess_bulk));
    gbm_diagnose(x, 4, 0, &d);
    assert_true(isnan(d.mean));
    gbm_diagnose(x, 1, 1, &d);
    assert_true(d.mean == 0 && d.q50 == 0);
}

/* Chains that sit at two constants: within variance 0, no division by it. */
static void stuck_chains(void **unused)
{
    double x[40];
    struct gbm_diagnosis d;

    (void)unused;
    for (int i = 0; i < 40; i++)
        x[i] = i < 20;
    gbm_diagnose(x, 4, 10, &d);
    assert_true(d.mean == 0.5 && isfinite(d.ess_bulk) && d.ess_bulk < 20);
}

static void rhat_from_moments(void **unused)
{
    /* B/n = var(1, 3) = 2, W = 4: sqrt((10 * 2 / 4 + 9) / 10) */
    double mean[2] = {1, 3}, variance[2] = {3, 5};

    (void)unused;
    assert_float_equal(gbm_rhat_moments(mean, variance, 2, 10), sqrt(1.4),
                       1e-12);
    variance[0] = variance[1] = 0;
    assert_true(isnan(gbm_rhat_moments(mean, variance, 2, 10)));
    assert_true(isnan(gbm_rhat_moments(mean, variance, 1, 10)));
}

/* Long and slow sequences take the FFT; the direct sums must agree. The
 * sequence of "slow" with 4000 draws above already compares the FFT with
 * ArviZ; here the time counts. */
static void long_sequences_are_fast(void **unused)
{
    double *x = make_draws("slow", 4, 100000, 5);
    struct gbm_diagnosis d;
    clock_t start = clock();
    double seconds;

    (void)unused;
    gbm_diagnose(x, 4, 100000, &d);
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("4 x 100000 draws: %.3f s, bulk ESS %.0f\n", seconds,
                  d.ess_bulk);
    /* AR(1), 0.995: n (1 - a) / (1 + a) = 1002 */
    assert_true(d.ess_bulk > 850 && d.ess_bulk < 1150);
    assert_true(seconds < 10);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_arviz),
        cmocka_unit_test(one_chain_is_split),
        cmocka_unit_test(constants_and_nan),
        cmocka_unit_test(stuck_chains),
        cmocka_unit_test(rhat_from_moments),
        cmocka_unit_test(long_sequences_are_fast),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
