/* test_row_terms.c: the logarithm of rows against libm's in double, and rows of
 * a mixture, in the far tails, too. */
#include "statistics.h"
#include "sizes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Units in the last place of the logarithm of x. */
static double off(float x)
{
    const double exact = log((double)x);
    const double unit = exact == 0 ? 1.4e-45 : ldexp(1, ilogb(exact) - 23);
    return fabs((double)gbm_row_log(x) - exact) / unit;
}

static void numbers(void **unused)
{
    double worst = 0;
    (void)unused;
    for (float x = 1.17549435e-38f; x < 3e38f; x *= 1.00013f)
        worst = fmax(worst, off(x));
    assert_true(worst < 1.1);
    for (float x = 0.6f; x < 1.5f; x += 0x1p-20f)
        worst = fmax(worst, off(x));
    assert_true(worst < 1.1);
    assert_true(gbm_row_log(1) == 0);
    assert_true(fabs((double)gbm_row_log(1e-40f) - log((double)1e-40f)) < 1e-5);
}

static void others(void **unused)
{
    (void)unused;
    assert_true(gbm_row_log(0) == -INFINITY);
    assert_true(gbm_row_log(INFINITY) == INFINITY);
    assert_true(isnan(gbm_row_log(-1)));
    assert_true(isnan(gbm_row_log(NAN)));
}

static void far_tails(void **unused)
{
    const double near[] = {0, 100}, tau[] = {1, 4}, one = 1;
    const double first[] = {1, 0}, second[] = {0, 0.5}, little[] = {1e-300, 1};
    const double nan[] = {0, NAN}, away = INFINITY;
    (void)unused;
    assert_true(gbm_log_normal_mixture(2, 60, near, tau, first) == -1800);
    assert_true(gbm_log_normal_mixture(2, 0, near, tau, second) ==
                log(2) - 20000);
    assert_true(fabs(gbm_log_normal_mixture(2, 0, near, tau, little) -
                     log(1e-300)) < 1e-12);
    assert_true(gbm_log_normal_mixture(1, away, near, tau, &one) == -INFINITY);
    assert_true(isnan(gbm_log_normal_mixture(2, 0, nan, tau, first)));
    assert_true(isnan(gbm_log_normal_mixture(2, 0, near, nan, second)));
}

static double by_row(int K, double x, const double *mu, const double *tau,
                     const double *pi)
{
    struct gbm_normal_terms terms;
    gbm_normal_terms_before(&terms, K, mu, tau, pi);
    return gbm_normal_terms_row(&terms, K, x);
}

/* Rows that have all but x in common. */
static void rows_in_common(void **unused)
{
    const double mu[] = {0, 100, -3}, tau[] = {1, 4, 0.25}, pi[] = {1, 2, 0.5};
    const double gone[] = {1, 0, 0}, none[] = {0, 0, 0}, nan[] = {0, NAN, 1};
    (void)unused;
    for (double x = -1e3; x < 1e3; x += 7.3) {
        const double exact = gbm_log_normal_mixture(3, x, mu, tau, pi);
        const double found = by_row(3, x, mu, tau, pi);
        assert_true(fabs(found - exact) <= 1e-14 * (1 + fabs(exact)));
    }
    assert_true(by_row(3, 100, mu, tau, gone) == -5000);
    assert_true(isnan(by_row(3, 0, nan, tau, pi)));
    assert_true(by_row(3, 0, mu, tau, none) == -INFINITY);
    assert_true(by_row(3, INFINITY, mu, tau, pi) == -INFINITY);
    assert_true(by_row(3, 1e200, mu, tau, pi) == -INFINITY);
}

/* As the host adds them: blocks, and a rest. */
static double by_blocks(int K, int n, double first, double apart,
                        const double *mu, const double *tau, const double *pi)
{
    double sum = 0;
    GBM_BEFORE_ROWS(terms, gbm_normal_terms, K, mu, tau, pi)
    for (int i = 0; i < n; i++)
        GBM_ADD_OF_ROW(sum, 2, terms, gbm_normal_terms, K, first + i * apart,
                       NAN)
    GBM_AFTER_ROWS(sum, 2, terms, gbm_normal_terms, K)
    return sum;
}

static void blocks_of_rows(void **unused)
{
    const double mu[] = {0, 100, -3}, tau[] = {1, 4, 0.25}, pi[] = {1, 2, 0.5};
    const double gone[] = {1, 0, 0}, none[] = {0, 0, 0}, nan[] = {0, NAN, 1};
    const double little[] = {1, 1e-200, 0.1}, *const weights[] = {pi, little};
    (void)unused;
    for (int k = 0; k < 2; k++)
        for (int n = 0; n <= 3 * GBM_LOG_ROWS + 1; n++)
            for (int K = 1; K <= 3; K++) {
                double exact = 2 * n;
                for (int i = 0; i < n; i++)
                    exact += gbm_log_normal_mixture(K, -90 + i * 4.3, mu, tau,
                                                    weights[k]);
                const double found =
                    by_blocks(K, n, -90, 4.3, mu, tau, weights[k]);
                assert_true(fabs(found - exact) <= 1e-13 * (1 + fabs(exact)));
            }
    for (int K = 2; K <= 3; K++) {
        assert_true(by_blocks(K, 2, 100, 0, mu, tau, gone) == -9996);
        assert_true(isnan(by_blocks(K, 9, 0, 1, nan, tau, pi)));
        assert_true(by_blocks(K, 9, 0, 1, mu, tau, none) == -INFINITY);
        assert_true(by_blocks(K, 9, 1e200, 0, mu, tau, pi) == -INFINITY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),        cmocka_unit_test(others),
        cmocka_unit_test(far_tails),      cmocka_unit_test(rows_in_common),
        cmocka_unit_test(blocks_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
