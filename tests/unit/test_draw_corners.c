/* test_draw_corners: pieces of draws that the sweeping tests of test_draws.c
 * pass by: limits of a family, what a draw must overwrite, draws of subsets.
 * Each was found by a mutant (tests/mutate) that nothing else noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "gbm.h"

#include "carried.h"
#include "choice.h"
#include "elliptical.h"
#include "metropolis.h"
#include "trade.h"

enum { DRAWS = 40000 };

static struct gbm_rng stream(uint32_t number)
{
    struct gbm_rng rng;
    gbm_rng_start(&rng, 11, 0, number, 0, 0);
    return rng;
}

/* The mean of DRAWS draws, within 5 standard errors of what it should be. */
static void assert_mean(const double *x, double mean, double sd)
{
    double sum = 0;
    for (int i = 0; i < DRAWS; i++)
        sum += x[i];
    if (fabs(sum / DRAWS - mean) > 5 * sd / sqrt(DRAWS))
        fail_msg("mean %g, not %g", sum / DRAWS, mean);
}

/* Of a gamma far above whose mode the interval begins, whose log falls there by
 * more than has a square: x - lower is exponential. */
static void steep_gamma(void **unused)
{
    (void)unused;
    struct gbm_rng rng = stream(40);
    static double x[DRAWS];
    for (double rate = 1e5; rate < 1e300; rate *= 1e40) {
        const bool seen = rate < 1e10; /* beside 1, of 16 digits */
        for (int i = 0; i < DRAWS; i++) {
            const double drawn =
                (double)gbm_draw_gamma_between(&rng, 3, (real)rate, 1, GBM_INF);
            assert_true(drawn >= 1 && drawn <= 1 + 40 / rate);
            x[i] = (drawn - 1) * rate;
        }
        if (seen)
            assert_mean(x, 1, 1);
    }
}

/* b = 0: a gamma of shape p and rate a / 2; a = 0: an inverse gamma of shape
 * -p and scale b / 2. */
static void gig_limits(void **unused)
{
    static double x[DRAWS];
    struct gbm_rng rng = stream(1);
    (void)unused;

    for (int i = 0; i < DRAWS; i++)
        x[i] = (double)gbm_draw_gig(&rng, 3, 5, 0);
    assert_mean(x, 3 / 2.5, sqrt(3) / 2.5);
    for (int i = 0; i < DRAWS; i++)
        x[i] = (double)gbm_draw_gig(&rng, -5, 0, 3);
    assert_mean(x, 1.5 / 4, 1.5 / 4 / sqrt(3));
    assert_true(gbm_is_nan(gbm_draw_gig(&rng, 1, GBM_INF, 1)));
    assert_true(gbm_is_nan(gbm_draw_gig(&rng, 1, 1, GBM_INF)));
}

/* However far apart the parameters are, a draw ends and is a number, and so
 * does the integral. */
static void modified_half_normal_corners(void **unused)
{
    static const double sizes[] = {1e-300, 1e-150, 1e-30, 1e-8,  0.3,
                                   50,     1e8,    1e30,  1e150, 1e300};
    struct gbm_rng rng = stream(4);
    const int n = sizeof sizes / sizeof *sizes;
    (void)unused;

    for (int i = 0; i < 2 * n * n * n; i++) {
        const real c = (real)sizes[i % n], a = (real)sizes[i / n % n];
        const real b = (real)((i < n * n * n ? 1 : -1) * sizes[i / n / n % n]);
        for (int k = 0; k < 5; k++)
            assert_true(gbm_draw_modified_half_normal(&rng, c, b, a) > 0);
        (void)gbm_log_modified_half_normal_total(c, b, a);
    }
    assert_true(gbm_is_nan(gbm_draw_modified_half_normal(&rng, 1, 0, 0)));
    assert_true(gbm_is_nan(gbm_draw_modified_half_normal(&rng, 0, 1, 1)));
    assert_true(gbm_is_nan(gbm_draw_modified_half_normal(&rng, 1, GBM_NAN, 1)));
    assert_true(gbm_is_nan(gbm_log_modified_half_normal_total(0, -1, 1)));
}

/* Two of four elements, weights 1 to 4: the probability of a pair is its
 * product over the sum of all products, 35. */
static void samples(void **unused)
{
    static const real weight[] = {1, 2, 3, 4};
    int count[4][4] = {{0}};
    struct gbm_rng rng = stream(2);
    (void)unused;

    for (int k = 0; k < DRAWS; k++) {
        real x[4] = {7, 7, 7, 7};
        int first = -1, last = -1, chosen = 0;
        gbm_draw_sample(&rng, 4, weight, 2, x);
        for (int i = 0; i < 4; i++) {
            assert_true(x[i] == 0 || x[i] == 1);
            if (x[i] == 0)
                continue;
            first = first < 0 ? i : first;
            last = i;
            chosen++;
        }
        assert_int_equal(chosen, 2);
        count[first][last]++;
    }
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            double p = (double)weight[i] * (double)weight[j] / 35;
            double error = sqrt(p * (1 - p) / DRAWS);
            if (fabs(count[i][j] / (double)DRAWS - p) > 5 * error)
                fail_msg("%d and %d: %d of %d, not %g", i + 1, j + 1,
                         count[i][j], DRAWS, p * DRAWS);
        }
}

/* An upper triangle with columns of length 1; nothing of what was there. */
static void cholesky_factors(void **unused)
{
    struct gbm_rng rng = stream(3);
    (void)unused;

    for (int k = 0; k < 100; k++) {
        real x[9];
        gbm_fill(9, x, 7);
        gbm_draw_lkj_corr_cholesky(&rng, 3, REAL_C(1.5), 3, x);
        for (int j = 0; j < 3; j++) {
            double length = 0;
            for (int i = 0; i < 3; i++) {
                if (i > j)
                    assert_true(x[3 * i + j] == 0);
                length += (double)x[3 * i + j] * (double)x[3 * i + j];
            }
            assert_true(fabs(length - 1) < 1e-12);
        }
    }
}

/* log density of a normal around 0.3, a thousandth of its prior's width. */
static real narrow(const void *context, real x)
{
    (void)context;
    return -REAL_C(0.5) * gbm_square((x - REAL_C(0.3)) * 1000) -
           REAL_C(0.5) * gbm_square(x);
}

/* An elliptical slice shrinks towards where it is: it always arrives. */
static void elliptical_slices_move(void **unused)
{
    struct gbm_rng rng = stream(4);
    real x = REAL_C(0.3);
    double sum = 0, squares = 0;
    (void)unused;

    for (int k = 0; k < DRAWS; k++) {
        const real before = x;
        x = gbm_elliptical_scalar(&rng, x, 0, -REAL_C(0.5), -GBM_INF, GBM_INF,
                                  narrow, NULL);
        if (x == before)
            fail_msg("draw %d stays where it was, %g", k, (double)x);
        sum += ((double)x - 0.3) * 1000;
        squares += pow(((double)x - 0.3) * 1000, 2);
    }
    /* draws depend on the last one: room for a tenth of them */
    assert_true(fabs(sum / DRAWS) < 5 / sqrt(DRAWS / 10.0));
    assert_true(fabs(squares / DRAWS - 1) < 5 * sqrt(2 / (DRAWS / 10.0)));
}

/* A normal on [-2, 2]; infinite above, as a density that has underflown below
 * the bar is, and no number below. */
static real holed(const void *context, real x)
{
    (void)context;
    return x > 2 ? GBM_INF : x < -2 ? GBM_NAN : -gbm_square(x) / 2;
}

static real holed_ends(void *context, const real *x)
{
    const real a = holed(context, x[0]), b = holed(context, x[1]);
    return a + b + gbm_square(x[0]) / 2 + gbm_square(x[1]) / 2;
}

static real holed_pair(struct gbm_rng *rng, real x0)
{
    const real m[2] = {0, 0};
    const real v[2] = {gbm_draw_normal(rng), gbm_draw_normal(rng)};
    real x[2] = {x0, 0}, y[2], here = GBM_NAN;
    const struct gbm_team alone = {0, 1};
    gbm_elliptical(rng, &alone, 2, x, m, v, y, holed_ends, NULL, &here);
    return gbm_is_finite(y[1]) && real_fabs(y[1]) <= 2 ? y[0] : GBM_INF;
}

static real jump(struct gbm_rng *rng, real x0)
{
    real there = 5 * gbm_draw_normal(rng), probability;
    return gbm_metropolis(rng, holed(NULL, x0), holed(NULL, there),
                          &probability)
               ? there
               : x0;
}

enum { WAYS = 8 };
static real update(struct gbm_rng *rng, int way, real x, real *width)
{
    const real inf = GBM_INF, half = REAL_C(0.5);
    switch (way) {
    case 0:
        return gbm_slice(rng, x, width, 1, -inf, inf, holed, NULL);
    case 1:
        return gbm_slice_integer(rng, x, width, 1, -inf, inf, holed, NULL);
    case 2:
        return gbm_walk(rng, x, width, 1, GBM_WALK_MOVES, -inf, inf, holed,
                        NULL);
    case 3:
        return gbm_walk_within(rng, x, width, 1, GBM_WALK_MOVES, -inf, inf,
                               holed, NULL, true);
    case 4:
        return gbm_elliptical_scalar(rng, x, 0, -half, -inf, inf, holed, NULL);
    case 5:
        return holed_pair(rng, x);
    case 6:
        return gbm_enumerate_draw(rng, -9, 9, holed, NULL);
    case 7:
        return gbm_search_draw(rng, -9, 9, holed, NULL);
    default:
        return jump(rng, x);
    }
}

/* What is infinite or no number is never chosen, and left if a chain is there.
 */
static void no_update_is_absorbed(void **unused)
{
    struct gbm_rng rng = stream(5);
    (void)unused;

    for (int way = 0; way <= WAYS; way++)
        for (int start = -1; start <= 1; start++) {
            real x = (real)(3 * start), width = 2;
            bool entered = false;
            int moves = 0;
            for (int k = 0; k < 3000; k++) {
                const real before = x;
                x = update(&rng, way, x, &width);
                entered = entered || gbm_is_finite(holed(NULL, x));
                if (entered && !gbm_is_finite(holed(NULL, x)))
                    fail_msg("way %d goes from %g to %g", way, (double)before,
                             (double)x);
                moves += x != before;
            }
            if (!entered || moves < 100)
                fail_msg("way %d stays at %g, where it began", way, (double)x);
        }
}

/* A standard normal node which its own draw leaves correlated by rho with what
 * it was, a move then by `turned`: does the move pay, by a slice and drawn at
 * once? Behind the first sweeps it is tried where it seems to pay, and rarely
 * elsewhere: in how many of 2000? */
static int carried_tries(double rho, double turned, bool slice, bool pays)
{
    real tuning[GBM_CARRIED_CELLS] = {0};
    struct gbm_rng rng = stream(9);
    double x = 0;
    int tried = 0;
    assert_true(gbm_carried_pays(tuning, 0, true)); /* nothing was learnt */
    for (int i = 1; i <= 2000; i++) {
        x = rho * x + sqrt(1 - rho * rho) * (double)gbm_draw_normal(&rng);
        const double to = turned * x + sqrt(1 - turned * turned) *
                                           (double)gbm_draw_normal(&rng);
        if (!gbm_carried_pays(tuning, i, slice)) {
            gbm_carried_pass(tuning, i, (real)x,
                             &(const struct gbm_team){.lanes = 1});
            continue;
        }
        gbm_carried_learn(tuning, i, (real)x, (real)(to - x));
        x = to;
        tried++;
    }
    assert_true(gbm_carried_pays(tuning, 1, slice));
    assert_true(gbm_carried_pays(tuning, GBM_ALONE, slice));
    assert_int_equal(gbm_carried_pays(tuning, 0, slice), pays);
    return tried;
}

static void carried_pays(double rho, double turned, bool slice, bool at_once)
{
    const bool pays[2] = {at_once, slice};
    for (int i = 0; i < 2; i++) {
        const int tried = carried_tries(rho, turned, i, pays[i]);
        if (pays[i] ? tried < 1800 : tried > 250)
            fail_msg("rho %g, turned %g: %d of 2000 tries", rho, turned, tried);
    }
}

/* Slow by its own law and moved as far: yes. Fast: not by slices. Hardly moved:
 * no. */
static void carried_moves_pay(void **unused)
{
    (void)unused;
    carried_pays(0.9, 0.9, true, true);
    carried_pays(0.99, 0, true, true);
    carried_pays(0.2, 0.2, false, true);
    carried_pays(0.7, 0.99, false, false);
    carried_pays(0.1, 0.99, false, false);
}

/* How often a row trades that own draws change in `own` of 100 sweeps, and each
 * trade that is tried in `traded` of 100. */
static int trade_tries(int own, int traded)
{
    real tuning[GBM_TRADE_CELLS] = {0};
    uint32_t code = 0;
    int tried = 0;
    for (int i = 1; i <= 2000; i++) {
        const bool tries = gbm_trade_pays(tuning, i, (uint32_t)i - 1);
        code += i * 37 % 100 < own;
        const uint32_t before = code;
        code += tries && i * 61 % 100 < traded;
        gbm_trade_learn(tuning, i, tries, before, code);
        tried += tries;
    }
    assert_true(gbm_trade_pays(tuning, GBM_ALONE, 1));
    assert_true(gbm_trade_pays(tuning, 0, 16));
    return tried;
}

/* Cells that hold each other trade in each sweep, however seldom it is taken;
 * a row that changes without does so in one of sixteen if trades do little. */
static void trades_pay(void **unused)
{
    (void)unused;
    assert_int_equal(trade_tries(0, 1), 2000);
    assert_int_equal(trade_tries(0, 0), 2000);
    assert_in_range(trade_tries(50, 40), 1900, 2000);
    assert_in_range(trade_tries(50, 2), 125, 400);
    assert_int_equal(gbm_trade_code(gbm_trade_code(0, 1), 0),
                     gbm_trade_code(gbm_trade_code(0, 1), 0));
    assert_int_not_equal(gbm_trade_code(gbm_trade_code(0, 1), 0),
                         gbm_trade_code(gbm_trade_code(0, 0), 1));
}

/* From places 1 and -1 in turn, no move being tried, then one by 2; from the
 * self-check nothing. */
static void carried_moments(void **unused)
{
    (void)unused;
    const struct gbm_team team = {.lanes = 1};
    real tuning[GBM_CARRIED_CELLS] = {0};
    for (int i = 1; i <= 20; i++)
        gbm_carried_pass(tuning, i, i % 2 ? 1 : -1, &team);
    assert_float_equal((float)tuning[GBM_CARRIED_OWN], 19 * 4 / (float)20,
                       1e-6F);
    assert_float_equal((float)tuning[GBM_CARRIED_MEAN], 0, 1e-6F);
    assert_float_equal((float)tuning[GBM_CARRIED_VAR], 1, 1e-6F);
    gbm_carried_learn(tuning, 21, -1, 2);
    assert_float_equal((float)tuning[GBM_CARRIED_OWN], 19 * 4 / (float)21,
                       1e-6F);
    assert_float_equal((float)tuning[GBM_CARRIED_MOVED], 4 / (float)21, 1e-6F);
    gbm_carried_pass(tuning, GBM_ALONE, 9, &team);
    gbm_carried_learn(tuning, GBM_ALONE, 9, 9);
    gbm_carried_pass(tuning, 22, 1, &team); /* where the move has left it */
    assert_float_equal((float)tuning[GBM_CARRIED_OWN], 19 * 4 / (float)22,
                       1e-6F);
    assert_float_equal((float)tuning[GBM_CARRIED_MOVED], 4 / (float)21, 1e-6F);
}

/* By slices while neighbouring draws are correlated by more than a half. */
static void carried_slices_pay(void **unused)
{
    (void)unused;
    real tuning[GBM_CARRIED_CELLS] = {
        [GBM_CARRIED_MOVED] = 9, [GBM_CARRIED_VAR] = 1};
    tuning[GBM_CARRIED_OWN] = REAL_C(0.99);
    assert_true(gbm_carried_pays(tuning, 0, true));
    tuning[GBM_CARRIED_OWN] = REAL_C(1.01);
    assert_false(gbm_carried_pays(tuning, 0, true));
    assert_true(gbm_carried_pays(tuning, 0, false));
}

/* Three normals between bounds, their weights upwards and downwards: the mean,
 * by sums over a fine grid. */
static void mixtures_between(void **unused)
{
    static double x[DRAWS];
    static const real mu[] = {-1, 0, 2}, tau[] = {1, 4, REAL_C(0.25)};
    static const real pi[2][3] = {{REAL_C(0.1), REAL_C(0.3), REAL_C(0.6)},
                                  {REAL_C(0.7), REAL_C(0.2), REAL_C(0.1)}};
    const double from = -0.5, to = 3;
    struct gbm_rng rng = stream(5);
    (void)unused;

    for (int k = 0; k < 2; k++) {
        double sum[3] = {0};
        for (double at = from + 5e-5; at < to; at += 1e-4)
            for (int j = 0; j < 3; j++) {
                const double z = (at - (double)mu[j]) * sqrt((double)tau[j]);
                const double weight =
                    (double)pi[k][j] * sqrt((double)tau[j]) * exp(-z * z / 2);
                sum[0] += weight;
                sum[1] += weight * at;
                sum[2] += weight * at * at;
            }
        for (int i = 0; i < DRAWS; i++)
            x[i] = (double)gbm_draw_normal_mixture_between(
                &rng, 3, mu, tau, pi[k], (real)from, (real)to);
        const double mean = sum[1] / sum[0];
        assert_mean(x, mean, sqrt(sum[2] / sum[0] - mean * mean));
    }
}

/* A walk's scale without ends: there and back again, with the slope of the way
 * back. */
static void scales_without_ends(void **unused)
{
    static const real ends[][2] = {{-GBM_INF, GBM_INF},
                                   {2, GBM_INF},
                                   {-GBM_INF, 2},
                                   {2, 7},
                                   {-3, REAL_C(-1.5)}};
    (void)unused;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const real lower = ends[i][0], upper = ends[i][1];
        double first = 0;
        for (real y = -2; y <= 2; y += REAL_C(0.5)) {
            const real x = gbm_from_line(y, lower, upper);
            assert_true(x > lower && x < upper);
            assert_true(real_fabs(gbm_to_line(x, lower, upper) - y) < 1e-5);
            const real h = REAL_C(0.01);
            const real slope = (gbm_from_line(y + h, lower, upper) -
                                gbm_from_line(y - h, lower, upper)) /
                               (2 * h);
            const double constant =
                log((double)slope) - (double)gbm_line_jacobian(x, lower, upper);
            first = y < REAL_C(-1.9) ? constant : first;
            assert_true(fabs(constant - first) < 1e-3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steep_gamma),
        cmocka_unit_test(gig_limits),
        cmocka_unit_test(modified_half_normal_corners),
        cmocka_unit_test(samples),
        cmocka_unit_test(cholesky_factors),
        cmocka_unit_test(elliptical_slices_move),
        cmocka_unit_test(no_update_is_absorbed),
        cmocka_unit_test(carried_moves_pay),
        cmocka_unit_test(trades_pay),
        cmocka_unit_test(carried_moments),
        cmocka_unit_test(carried_slices_pay),
        cmocka_unit_test(mixtures_between),
        cmocka_unit_test(scales_without_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
