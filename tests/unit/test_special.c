/* test_special: special functions and distributions against values with 19
 * digits (special_values.h), and what holds at the ends of their ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "gbm.h"
#include <cmocka.h>

struct special_value {
    const char *name;
    double arguments[5];
    double value;
};
#include "special_values.h"

/* What the values are of: every name with its number of arguments. */
#define FUNCTIONS(X)                                                           \
    X(lgamma, 1)                                                               \
    X(digamma, 1)                                                              \
    X(trigamma, 1)                                                             \
    X(log_beta, 2)                                                             \
    X(log_choose, 2)                                                           \
    X(phi, 1)                                                                  \
    X(log_phi, 1)                                                              \
    X(probit, 1)                                                               \
    X(ilogit, 1)                                                               \
    X(log1pexp, 1)                                                             \
    X(log1mexp, 1)                                                             \
    X(icloglog, 1)                                                             \
    X(gamma_p, 2)                                                              \
    X(gamma_q, 2)                                                              \
    X(gamma_quantile, 2)                                                       \
    X(beta_i, 3)                                                               \
    X(beta_quantile, 3)                                                        \
    X(t_p, 2)                                                                  \
    X(t_quantile, 2)                                                           \
    X(log_bessel_i, 2)                                                         \
    X(log_bessel_k, 2)                                                         \
    X(bessel_i, 2)                                                             \
    X(bessel_k, 2)                                                             \
    X(bessel_j, 2)                                                             \
    X(bessel_y, 2)                                                             \
    X(d_norm, 3)                                                               \
    X(p_norm, 3)                                                               \
    X(q_norm, 3)                                                               \
    X(d_lnorm, 3)                                                              \
    X(p_lnorm, 3)                                                              \
    X(q_lnorm, 3)                                                              \
    X(d_logis, 3)                                                              \
    X(p_logis, 3)                                                              \
    X(q_logis, 3)                                                              \
    X(d_dexp, 3)                                                               \
    X(p_dexp, 3)                                                               \
    X(q_dexp, 3)                                                               \
    X(d_t, 4)                                                                  \
    X(p_t, 4)                                                                  \
    X(d_beta, 3)                                                               \
    X(p_beta, 3)                                                               \
    X(d_gamma, 3)                                                              \
    X(p_gamma, 3)                                                              \
    X(d_gen_gamma, 4)                                                          \
    X(p_gen_gamma, 4)                                                          \
    X(d_chisqr, 2)                                                             \
    X(p_chisqr, 2)                                                             \
    X(d_weib, 3)                                                               \
    X(p_weib, 3)                                                               \
    X(q_weib, 3)                                                               \
    X(d_exp, 2)                                                                \
    X(p_exp, 2)                                                                \
    X(q_exp, 2)                                                                \
    X(d_f, 3)                                                                  \
    X(p_f, 3)                                                                  \
    X(d_par, 3)                                                                \
    X(p_par, 3)                                                                \
    X(q_par, 3)                                                                \
    X(d_pois, 2)                                                               \
    X(p_pois, 2)                                                               \
    X(d_bin, 3)                                                                \
    X(p_bin, 3)                                                                \
    X(d_negbin, 3)                                                             \
    X(p_negbin, 3)                                                             \
    X(d_hyper, 5)                                                              \
    X(p_hyper, 5)                                                              \
    X(d_nchisqr, 3)                                                            \
    X(p_nchisqr, 3)

#define ARGUMENTS_1 x[0]
#define ARGUMENTS_2 x[0], x[1]
#define ARGUMENTS_3 x[0], x[1], x[2]
#define ARGUMENTS_4 x[0], x[1], x[2], x[3]
#define ARGUMENTS_5 x[0], x[1], x[2], x[3], x[4]
#define DEFINE(name, n)                                                        \
    static real call_##name(const real *x) { return gbm_##name(ARGUMENTS_##n); }
FUNCTIONS(DEFINE)

static const struct {
    const char *name;
    int arguments;
    real (*call)(const real *x);
} functions[] = {
#define ROW(name, n) {#name, n, call_##name},
    FUNCTIONS(ROW)};

/* Relative error 1e-10, and where a value is near a zero of the function
 * absolute error 1e-14. */
static void recorded_values(void **state)
{
    int wrong = 0;
    size_t nfunctions = sizeof functions / sizeof *functions;
    size_t n = sizeof special_values / sizeof *special_values;
    (void)state;
    for (size_t i = 0; i < n; i++) {
        const struct special_value *v = &special_values[i];
        size_t f = 0;
        while (f < nfunctions && strcmp(functions[f].name, v->name) != 0)
            f++;
        assert_true(f < nfunctions);
        real x[5];
        for (int k = 0; k < 5; k++)
            x[k] = (real)v->arguments[k];
        double got = (double)functions[f].call(x);
        double off = fabs(got - v->value);
        bool tail = strncmp(v->name, "bessel", 6) != 0 && v->value > 0;
        if (!(off <= 1e-10 * fabs(v->value) || (!tail && off < 1e-14))) {
            wrong++;
            printf("%s(", v->name);
            for (int k = 0; k < functions[f].arguments; k++)
                printf("%s%.17g", k ? ", " : "", v->arguments[k]);
            printf(") = %.17g, not %.17g\n", v->value, got);
        }
    }
    assert_int_equal(wrong, 0);
}

/* P(X <= q(p)) >= p, and not so for one less. */
#define CHECK_WHOLE(name, p, ...)                                              \
    do {                                                                       \
        real k = gbm_q_##name(p, __VA_ARGS__);                                 \
        assert_true(gbm_p_##name(k, __VA_ARGS__) >= (p)*REAL_C(0.999999999));  \
        assert_true(k == 0 || gbm_p_##name(k - 1, __VA_ARGS__) < (p));         \
    } while (0)

static void whole_quantiles(void **state)
{
    (void)state;
    for (int i = 1; i < 200; i++) {
        real p = (real)i / 200;
        CHECK_WHOLE(pois, p, REAL_C(0.01));
        CHECK_WHOLE(pois, p, REAL_C(7.7));
        CHECK_WHOLE(pois, p, REAL_C(1e6));
        CHECK_WHOLE(bin, p, REAL_C(0.3), 10);
        CHECK_WHOLE(bin, p, REAL_C(0.999), 5000);
        CHECK_WHOLE(negbin, p, REAL_C(0.02), REAL_C(0.3));
        CHECK_WHOLE(negbin, p, REAL_C(0.6), 30);
        CHECK_WHOLE(hyper, p, 50, 60, 30, REAL_C(1.7));
    }
    /* the quantile of a computed probability is the value itself */
    for (int k = 0; k < 40; k++) {
        real x = (real)k;
        assert_true(gbm_q_pois(gbm_p_pois(x, 15), 15) == x);
        assert_true(gbm_q_bin(gbm_p_bin(x, REAL_C(0.4), 45), REAL_C(0.4), 45) ==
                    x);
    }
    assert_true(gbm_q_pois(1, 3) == GBM_INF && gbm_q_pois(0, 3) == 0);
    assert_true(gbm_q_bin(1, REAL_C(0.5), 9) == 9);
    assert_true(gbm_is_nan(gbm_q_pois(2, 3)));
}

/* Quantiles that are not in the table are inverses. */
static void inverses(void **state)
{
    (void)state;
    for (int i = 1; i < 100; i++) {
        real p = (real)i / 100;
        real x = gbm_q_f(p, 3, 7);
        assert_true(fabs((double)(gbm_p_f(x, 3, 7) - p)) < 1e-13);
        x = gbm_q_nchisqr(p, 3, 5);
        assert_true(fabs((double)(gbm_p_nchisqr(x, 3, 5) - p)) < 1e-12);
        x = gbm_q_gen_gamma(p, 2, 3, REAL_C(0.7));
        assert_true(fabs((double)(gbm_p_gen_gamma(x, 2, 3, REAL_C(0.7)) - p)) <
                    1e-13);
        x = gbm_gamma_q_inverse(REAL_C(2.5), p);
        assert_true(fabs((double)(gbm_gamma_q(REAL_C(2.5), x) - p)) < 1e-13);
    }
}

static void edges(void **state)
{
    (void)state;
    assert_true(gbm_lgamma(0) == GBM_INF && gbm_lgamma(-3) == GBM_INF);
    assert_true(gbm_lgamma(GBM_INF) == GBM_INF);
    assert_true(gbm_is_nan(gbm_lgamma(GBM_NAN)));
    assert_true(gbm_lgamma(1) == 0 && gbm_lgamma(2) == 0);
    assert_true(gbm_is_nan(gbm_digamma(-2)));
    assert_true(gbm_probit(0) == -GBM_INF && gbm_probit(1) == GBM_INF);
    assert_true(gbm_is_nan(gbm_probit(REAL_C(1.1))));
    assert_true(gbm_log_phi(-GBM_INF) == -GBM_INF);
    assert_true(gbm_log_phi(GBM_INF) == 0);
    assert_true(gbm_gamma_p(2, 0) == 0 && gbm_gamma_q(2, 0) == 1);
    assert_true(gbm_gamma_p(2, GBM_INF) == 1 && gbm_gamma_q(2, GBM_INF) == 0);
    assert_true(gbm_gamma_quantile(2, 0) == 0);
    assert_true(gbm_gamma_quantile(2, 1) == GBM_INF);
    assert_true(gbm_is_nan(gbm_gamma_quantile(2, -1)));
    assert_true(gbm_beta_i(2, 3, 0) == 0 && gbm_beta_i(2, 3, 1) == 1);
    assert_true(gbm_beta_quantile(2, 3, 0) == 0);
    assert_true(gbm_t_quantile(3, REAL_C(0.5)) == 0);
    assert_true(gbm_t_quantile(3, 1) == GBM_INF);
    assert_true(gbm_d_beta(0, 1, 3) == 3 && gbm_d_beta(-1, 1, 3) == 0);
    assert_true(gbm_d_exp(-1, 2) == 0 && gbm_p_gamma(-1, 2, 3) == 0);
    assert_true(gbm_d_bern(1, REAL_C(0.25)) == REAL_C(0.25));
    assert_true(gbm_p_bern(REAL_C(0.5), REAL_C(0.25)) == REAL_C(0.75));
    assert_true(gbm_q_bern(REAL_C(0.75), REAL_C(0.25)) == 0);
    assert_true(gbm_log_add(-GBM_INF, -GBM_INF) == -GBM_INF);
}

/* Vectors and matrices, against sums done by hand. */
static void vectors(void **state)
{
    real x[5] = {3, 1, 2, 1, 5}, out[5];
    const real ascending[5] = {1, 1, 2, 3, 5}, order[5] = {2, 4, 3, 1, 5};
    const real rank[5] = {4, 1, 3, 2, 5}, y[5] = {10, 20, 40, 30, 0};
    (void)state;
    gbm_sort(5, x, out);
    assert_memory_equal(out, ascending, sizeof out);
    gbm_order(5, x, out);
    assert_memory_equal(out, order, sizeof out);
    gbm_rank(5, x, out);
    assert_memory_equal(out, rank, sizeof out);
    assert_true(gbm_sum(5, x) == 12 && gbm_prod(5, x) == 30);
    assert_true(gbm_max(5, x) == 5 && gbm_min(5, x) == 1);
    const real gap[3] = {1, GBM_NAN, 2};
    assert_true(gbm_is_nan(gbm_max(3, gap)) && gbm_is_nan(gbm_min(3, gap)));
    assert_true(gbm_is_nan(gbm_larger(GBM_NAN, 1)));
    assert_true(gbm_is_nan(gbm_smaller(1, GBM_NAN)));
    assert_true(gbm_mean(5, x) == REAL_C(2.4));
    assert_true(fabs((double)gbm_var(5, x) - 2.8) < 1e-15);
    assert_true(gbm_median(5, x) == 2);
    assert_true(gbm_quantile(5, x, REAL_C(0.875)) == 4);
    const real places[5] = {0, 1, 2, 4, 8};
    assert_true(gbm_interp_lin(5, 3, places, y) == 35);
    assert_true(gbm_interp_lin(5, -1, places, y) == 10);
    assert_true(gbm_interp_lin(5, 9, places, y) == 0);
    real logs[3] = {0, real_log(2), -GBM_INF};
    assert_true(fabs((double)gbm_log_sum_exp(3, logs) - log(3)) < 1e-15);
    const real w[3] = {1, 2, 3};
    assert_true(fabs((double)gbm_log_subset_sum(3, w, 2) - log(11)) < 1e-14);
}

static void matrices(void **state)
{
    /* inverse of a general matrix whose first pivot is 0, of a symmetric
     * indefinite one, and of positive definite ones small and large */
    struct gbm_rng rng;
    (void)state;
    for (int n = 1; n <= 70; n += n < 5 ? 1 : 13) {
        real *A = calloc((size_t)n * (size_t)n, sizeof *A);
        real *B = calloc((size_t)n * (size_t)n, sizeof *B);
        real *C = calloc((size_t)n * (size_t)n, sizeof *C);
        for (int kind = 0; kind < 3; kind++) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    int a = i > j ? i : j, b = i > j ? j : i;
                    gbm_rng_start(&rng, 1, 0, (uint32_t)kind,
                                  (uint32_t)(kind ? a : i),
                                  (uint32_t)(kind ? b : j));
                    A[i * n + j] = gbm_draw_normal(&rng);
                    if (i == j && (n > 1 || kind == 2))
                        A[i * n + j] = kind == 2 ? 4 * (real)n : 0;
                }
            gbm_inverse(n, A, B);
            gbm_matmul(n, n, n, A, B, C);
            for (int i = 0; i < n * n; i++)
                assert_true(fabs((double)C[i] - (i % (n + 1) == 0)) < 1e-9);
            real trace = gbm_trace_solve(n, A, A);
            assert_true(kind != 2 || fabs((double)trace - n) < 1e-9);
            assert_true(kind != 2 ||
                        fabs((double)(gbm_logdet(n, A) -
                                      gbm_logdet_general(n, A))) < 1e-10);
        }
        free(A);
        free(B);
        free(C);
    }
    const real turn[4] = {0, 1, -1, 0}, singular[4] = {1, 2, 2, 4};
    real out[4];
    gbm_mexp(2, turn, out);
    assert_true(fabs((double)out[0] - cos(1)) < 1e-15);
    assert_true(fabs((double)out[1] - sin(1)) < 1e-15);
    gbm_inverse(2, singular, out);
    assert_true(gbm_is_nan(out[0]) && gbm_is_nan(out[3]));
    assert_true(gbm_logdet_general(2, singular) == -GBM_INF);
    assert_true(gbm_is_nan(gbm_logdet(2, turn)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_values), cmocka_unit_test(whole_quantiles),
        cmocka_unit_test(inverses),        cmocka_unit_test(edges),
        cmocka_unit_test(vectors),         cmocka_unit_test(matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
