/* test_draws: every draw of stdlib against its distribution, over the corners
 * of its parameter space, from 10^6 draws. test_draws_single.c is the same in
 * single precision. */
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include "draw_check.h"
#include "elliptical.h"
#include "forward_backward.h"
#include "diam.h"
#include "pcn.h"
#include "rw_block.h"
#include "scale.h"
#include <cmocka.h>

static double sample[DRAWS];
static struct table table; /* of the case at hand */

static struct gbm_rng stream(const char *name, const double *p)
{
    struct gbm_rng rng;
    uint32_t chain = 5381;
    for (const char *c = name; *c; c++)
        chain = chain * 33 + (unsigned char)*c;
    uint64_t bits[4];
    memcpy(bits, p, sizeof bits);
    gbm_rng_start(&rng, 20, chain, (uint32_t)gbm_mix(bits[0] + 3 * bits[1]),
                  (uint32_t)gbm_mix(bits[2] + 5 * bits[3]), 0);
    return rng;
}

static const struct gbm_team alone = {0, 1};

typedef real draw(struct gbm_rng *rng, const real *p);

/* The draw and its parameters, for messages and as what is drawn from: the
 * exact distribution gets the parameters as `real` has them. */
static void fill(const char *name, draw *one, const double *p, double *rounded)
{
    struct gbm_rng rng = stream(name, p);
    real q[4];
    for (int i = 0; i < 4; i++) {
        q[i] = (real)p[i];
        rounded[i] = (double)q[i];
    }
    for (int i = 0; i < DRAWS; i++)
        sample[i] = (double)one(&rng, q);
}

static const char *label(const char *name, const double *p)
{
    static char text[200];
    snprintf(text, sizeof text, "%s(%g, %g, %g, %g)", name, p[0], p[1], p[2],
             p[3]);
    return text;
}

static int failures;

static void continuous(const char *name, draw *one, distribution *cdf,
                       double (*p)[4], int n, bool atoms, int points)
{
    for (int i = 0; i < n; i++) {
        double rounded[4];
        fill(name, one, p[i], rounded);
        failures += !check_continuous(label(name, p[i]), sample, DRAWS, cdf,
                                      rounded, points, atoms);
    }
}

static void discrete(const char *name, draw *one, distribution *cdf,
                     double (*p)[4], int n)
{
    for (int i = 0; i < n; i++) {
        double rounded[4];
        fill(name, one, p[i], rounded);
        failures +=
            !check_discrete(label(name, p[i]), sample, DRAWS, cdf, rounded);
    }
}

#define CASES(p) (p), (int)(sizeof(p) / sizeof *(p))
#define POINTS 5000
#define DRAW(name, call)                                                       \
    static real name(struct gbm_rng *rng, const real *p)                       \
    {                                                                          \
        (void)p;                                                               \
        return call;                                                           \
    }

static void begin(void) { failures = 0; }
static void end(void) { assert_int_equal(failures, 0); }

/* Distribution functions in `real` serve: they are tested by test_special. */
static double uniform_p(const double *p, double x)
{
    (void)p;
    return x;
}

static double normal_p(const double *p, double x)
{
    (void)p;
    return erfc(-x / sqrt(2)) / 2;
}

static double exponential_p(const double *p, double x)
{
    (void)p;
    return -expm1(-x);
}

static double gamma_p(const double *p, double x)
{
    return (double)gbm_gamma_p((real)p[0], (real)x);
}

static double log_gamma_p(const double *p, double x)
{
    if (x < -80) /* the leading term, as exp(x) may underflow */
        return exp(p[0] * x - lgamma(1 + p[0]));
    return (double)gbm_gamma_p((real)p[0], (real)exp(x));
}

static double inverse_gamma_p(const double *p, double x)
{
    return (double)gbm_gamma_q((real)p[0], (real)(1 / x));
}

static double beta_p(const double *p, double x)
{
    if (x >= 1 - (double)GBM_EPSILON)
        return 1;
    return (double)gbm_beta_i((real)p[0], (real)p[1], (real)x);
}

DRAW(uniform, gbm_uniform(rng))
DRAW(normal, gbm_draw_normal(rng))
DRAW(normal_wrong, gbm_draw_normal(rng) * REAL_C(1.01))
DRAW(normal_shifted, gbm_draw_normal(rng) + REAL_C(0.01))
DRAW(exponential, gbm_draw_exponential(rng))
DRAW(gamma_draw, gbm_draw_gamma(rng, p[0]))
DRAW(gamma_wrong, gbm_draw_gamma(rng, p[0]) * REAL_C(0.99))
DRAW(log_gamma, gbm_draw_log_gamma(rng, p[0]))
DRAW(inverse_gamma, gbm_draw_inverse_gamma(rng, p[0]))
DRAW(beta_draw, gbm_draw_beta(rng, p[0], p[1]))

static void elementary(void **state)
{
    double none[][4] = {{0}};
    double shapes[][4] = {{0.5}, {0.9}, {1}, {1.5}, {4}, {30}, {1000}, {1e5}};
    double small[][4] = {{1e-4}, {0.01}, {0.3}, {2}};
    double inverse[][4] = {{0.6}, {1}, {3}, {50}};
    double betas[][4] = {{1, 1}, {2, 3}, {30, 1}, {1.5, 100}, {500, 700}};
    double cups[][4] = {{0.5, 0.5}, {0.3, 4}, {0.01, 1}};
    double edges[][4] = {{0.1, 0.2}, {5, 0.2}};
    (void)state;
    begin();
    continuous("uniform", uniform, uniform_p, CASES(none), false, POINTS);
    continuous("normal", normal, normal_p, CASES(none), false, POINTS);
    continuous("exponential", exponential, exponential_p, CASES(none), false,
               POINTS);
    continuous("gamma", gamma_draw, gamma_p, CASES(shapes), false, POINTS);
    continuous("log gamma", log_gamma, log_gamma_p, CASES(small), false,
               POINTS);
    continuous("inverse gamma", inverse_gamma, inverse_gamma_p, CASES(inverse),
               false, POINTS);
    continuous("beta", beta_draw, beta_p, CASES(betas), false, POINTS);
    continuous("beta", beta_draw, beta_p, CASES(cups), true, POINTS);
    if (sizeof(real) == 8) /* single precision is too coarse next to 1 */
        continuous("beta", beta_draw, beta_p, CASES(edges), true, POINTS);
    end();
}

/* The checks find a scale that is off by 1% and a shift of 0.01. */
static void wrong_kernels_fail(void **state)
{
    double none[][4] = {{0}}, shape[][4] = {{4}};
    (void)state;
    begin();
    continuous("expected to fail: normal", normal_wrong, normal_p, CASES(none),
               false, POINTS);
    continuous("expected to fail: normal", normal_shifted, normal_p,
               CASES(none), false, POINTS);
    continuous("expected to fail: gamma", gamma_wrong, gamma_p, CASES(shape),
               false, POINTS);
    assert_int_equal(failures, 3);
}

/* log P(Z > x) in double. */
static double log_upper(double x)
{
    if (x < 20)
        return log(erfc(x / sqrt(2)) / 2);
    double r = 1 / (x * x), tail = 1 - r * (1 - 3 * r * (1 - 5 * r));
    return -x * x / 2 - log(x * sqrt(2 * 3.14159265358979323846)) + log(tail);
}

static double upper_part(double a, double b, double x)
{
    double whole = b < 1e300 ? -expm1(log_upper(b) - log_upper(a)) : 1;
    return -expm1(log_upper(x) - log_upper(a)) / whole;
}

static double truncated_normal_p(const double *p, double x)
{
    double a = (p[2] - p[0]) / p[1], b = (p[3] - p[0]) / p[1];
    x = (x - p[0]) / p[1];
    if (x <= a || x >= b)
        return x >= b;
    return a > -b ? upper_part(a, b, x) : 1 - upper_part(-b, -a, -x);
}

DRAW(truncated_normal, gbm_draw_truncated_normal(rng, p[0], p[1], p[2], p[3]))

/* Number k of the cases that are drawn in rows: every side, and what is not
 * drawn by inversion among them. */
static void between_case(int k, real *p)
{
    const real mu = (real)(k * 37 % 201 - 100) / 10;
    const real sd = real_exp((real)(k * 53 % 61 - 30) / 10);
    const real from = mu + sd * (real)(k * 29 % 121 - 60) / 10;
    const real width = sd * (real)(1 + k * 17 % 90) / 9;
    p[0] = mu;
    p[1] = sd;
    p[2] = k % 6 == 0   ? 0
           : k % 6 == 2 ? -1
           : k % 6 == 3 ? from
           : k % 6 == 5 ? mu + 35 * sd
                        : -GBM_INF;
    p[3] = k % 6 == 1   ? 0
           : k % 6 == 2 ? 2
           : k % 6 == 3 ? from + width
                        : GBM_INF;
}

/* In rows, each is the draw that it is by itself. */
static void truncated_normals_in_rows(void **state)
{
    (void)state;
#ifdef GBM_SINGLE
    const real off = REAL_C(2e-4);
#else
    const real off = 1e-12;
#endif
    int made = 0, rows = 0;
    for (int size = 1; size <= GBM_BETWEEN_ROWS; size++) {
        struct gbm_between between;
        struct gbm_rng rng;
        real p[GBM_BETWEEN_ROWS][4];
        between.taken = false;
        for (int i = 0; i < size; i++) {
            between_case(size * 64 + i, p[i]);
            gbm_between_begin(&between, i);
            gbm_rng_start(&rng, 7, 0, (uint32_t)size, 3, (uint32_t)i);
            rng.between = &between;
            rng.asks = i;
            (void)truncated_normal(&rng, p[i]);
        }
        gbm_draw_between_rows(&between, size);
        for (int i = 0; i < size; i++, rows++) {
            gbm_rng_start(&rng, 7, 0, (uint32_t)size, 3, (uint32_t)i);
            const real single = truncated_normal(&rng, p[i]);
            made += between.value[i] == between.value[i];
            gbm_rng_start(&rng, 7, 0, (uint32_t)size, 3, (uint32_t)i);
            rng.between = &between;
            rng.asks = i;
            const real x = truncated_normal(&rng, p[i]);
            if (!(real_fabs(x - single) <=
                  off * (p[i][1] + real_fabs(p[i][0]))))
                fail_msg("row %d of %d: %g, alone %g", i, size, (double)x,
                         (double)single);
            assert_true(x >= p[i][2] && x <= p[i][3]);
            /* tails that a probability still tells from nothing */
            const real from = (p[i][2] - p[i][0]) / p[i][1];
            if (from > 0 && from < GBM_FAR_TAIL && p[i][3] == GBM_INF)
                assert_true(between.value[i] == between.value[i]);
        }
    }
    assert_true(made > rows / 2 && made < rows);
}

static void truncated_normals(void **state)
{
    double inf = INFINITY;
    double p[][4] = {{0, 1, -inf, inf}, {0, 1, 0, inf},      {0, 1, -inf, 0},
                     {0, 1, -0.5, inf}, {0, 1, 0.5, inf},    {0, 1, -3, inf},
                     {0, 1, 5, inf},    {0, 1, -inf, -5},    {0, 1, 9, inf},
                     {0, 1, 31, inf},   {0, 1, -inf, -40},   {0, 1, -1, 2},
                     {0, 1, -0.2, 0.1}, {0, 1, -6, 1},       {0, 1, 3, 4},
                     {0, 1, 0.5, 0.6},  {0, 1, -10.1, -10},  {0, 1, 30.5, 31},
                     {0, 1, 10, 40},    {0, 1, -4, -0.5},    {2, 0.5, 3, inf},
                     {-7, 3, 0, 1},     {100, 10, -inf, 95}, {1, 100, 0, 1}};
    (void)state;
    begin();
    continuous("truncated normal", truncated_normal, truncated_normal_p,
               CASES(p), sizeof(real) == 4, POINTS);
    struct gbm_rng rng = stream("bounds", p[0]);
    for (int i = 0; i < 100000; i++) {
        real x = gbm_draw_truncated_normal(&rng, 0, 1, REAL_C(1e6), GBM_INF);
        assert_true(x >= REAL_C(1e6) && x < REAL_C(1.001e6));
        x = gbm_draw_truncated_normal(&rng, 0, 1, REAL_C(0.1), REAL_C(0.1));
        assert_true(x == REAL_C(0.1));
    }
    end();
}

/* Gamma and powers on an interval; p: shape, lower, upper. */
static double truncated_gamma_density(const double *p, double x)
{
    /* the ends of the table's interval are the bounds, to rounding */
    return (p[0] - 1) * log(x) - x;
}

static double table_p(const double *p, double x)
{
    (void)p;
    return look_up(&table, x);
}

static double power_law_p(const double *p, double x)
{
    double b = p[0] + 1;
    if (b == 0)
        return log(x / p[1]) / log(p[2] / p[1]);
    if (p[2] > 1e300)
        return 1 - pow(x / p[1], b);
    return (pow(x, b) - pow(p[1], b)) / (pow(p[2], b) - pow(p[1], b));
}

DRAW(truncated_gamma, gbm_draw_truncated_gamma(rng, p[0], p[1], p[2]))
/* p: shape, lower, upper of a rate of 0. */
DRAW(flat_gamma, gbm_draw_gamma_between(rng, p[0], 0, p[1], p[2]))
DRAW(tiny_gamma, gbm_draw_gamma_between(rng, p[0], REAL_C(1e-30), p[1], p[2]))
static double flat_gamma_p(const double *p, double x)
{
    double power[3] = {p[0] - 1, p[1], p[2]};
    return power_law_p(power, x);
}
DRAW(power_law, gbm_draw_power_law(rng, p[0], p[1], p[2]))
/* p: shape, rate, lower, upper. */
DRAW(weibull_between, gbm_draw_weibull_between(rng, p[0], p[1], p[2], p[3]))
static double weibull_between_p(const double *p, double x)
{
    double from = p[1] * pow(p[2], p[0]);
    return expm1(from - p[1] * pow(x, p[0])) /
           expm1(from - p[1] * pow(p[3], p[0]));
}

static void truncated_gammas(void **state)
{
    double inf = INFINITY;
    const double tiny =
        sizeof(real) == 4 ? 1e-42 : 1e-320; /* 1 / tiny is not */
    double p[][4] = {
        {0.01, tiny, inf}, {0, tiny, inf},  {2, tiny, inf},   {0, tiny, 1e-30},
        {2, 0, 1},         {2, 3, inf},     {0.5, 0, 0.1},    {0.5, 1, 2},
        {-1.5, 1, inf},    {0, 0.01, 5},    {-3, 0.1, 20},    {50, 40, 60},
        {50, 100, inf},    {50, 0, 20},     {1, 2, 2.5},      {1, 50, inf},
        {0.2, 1e-9, 3},    {3, 2000, 2001}, {1000, 990, 991}, {0, 1e-6, 4},
        {0, 1e-9, 1e-4},   {0, 1e-9, inf},  {1e-3, 1e-9, 2},  {3, 1, inf},
        {5, 2, 10},        {0.4, 0, 2},     {20, 12, 29}};
    double powers[][4] = {{-1, 1, 10},    {2, 0, 3},   {-0.5, 0, 1},
                          {-2.5, 2, inf}, {3, 1, 2},   {-4, 1, 1.5},
                          {50, 1, 20},    {-60, 1, 30}};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        double upper = fmin(p[i][2], fmax(p[i][0], p[i][1]) +
                                         50 * (1 + sqrt(fabs(p[i][0]))));
        bool wide = p[i][1] < upper / 2;
        double lower = wide ? log(p[i][1] > 0 ? p[i][1] : 1e-30) : p[i][1];
        table = tabulate(truncated_gamma_density, p[i], lower,
                         wide ? log(upper) : upper, wide);
        continuous("truncated gamma", truncated_gamma, table_p, &p[i], 1,
                   sizeof(real) == 4, POINTS);
        free(table.sum);
    }
    continuous("power law", power_law, power_law_p, CASES(powers), false,
               POINTS);
    double times[][4] = {{2, 1, 0, inf},    {1.5, 0.3, 2, inf},
                         {3, 0.5, 2, inf},  {3, 0.5, 2, 2.2},
                         {0.7, 2, 10, inf}, {0.7, 2, 10, 40},
                         {20, 1e-8, 1, 2.4}};
    continuous("Weibull between bounds", weibull_between, weibull_between_p,
               CASES(times), false, POINTS);
    double flat[][4] = {{2.5, 0.3, 1.9}, {1, 0, 3}, {-0.5, 1, 4}};
    continuous("gamma of rate 0", flat_gamma, flat_gamma_p, CASES(flat), false,
               POINTS);
    continuous("gamma of rate 1e-30", tiny_gamma, flat_gamma_p, CASES(flat),
               false, POINTS);
    end();
}

/* Inverse Gaussian, GIG, von Mises: against their integrated densities. */
static double inverse_gaussian_density(const double *p, double x)
{
    return -1.5 * log(x) -
           p[1] * (x - p[0]) * (x - p[0]) / (2 * p[0] * p[0] * x);
}

static double gig_density(const double *p, double x)
{
    return (p[0] - 1) * log(x) - (p[1] * x + p[2] / x) / 2;
}

static double modified_half_normal_density(const double *p, double x)
{
    return (p[0] - 1) * log(x) + p[1] * x - p[2] * x * x;
}

static double von_mises_density(const double *p, double x)
{
    return -2 * p[1] * sin((x - p[0]) / 2) * sin((x - p[0]) / 2);
}

static double von_mises_p(const double *p, double x)
{
    (void)p;
    return look_up(&table, x);
}

/* An infinite mean: lambda times the inverse square of a normal. */
static double levy_p(const double *p, double x)
{
    return erfc(sqrt(p[1] / (2 * x)));
}

/* A narrow one is normal about 1 if a = b, of variance 1 / a. */
static double narrow_gig_p(const double *p, double x)
{
    return erfc((1 - x) * sqrt(p[1] / 2)) / 2;
}

DRAW(inverse_gaussian, gbm_draw_inverse_gaussian(rng, p[0], p[1]))
DRAW(gig, gbm_draw_gig(rng, p[0], p[1], p[2]))
DRAW(modified_half_normal, gbm_draw_modified_half_normal(rng, p[0], p[1], p[2]))
DRAW(von_mises, gbm_draw_von_mises(rng, p[0], p[1]))

/* Where a log density in log x has fallen by 45 from its maximum. */
static void log_range(double (*density)(const double *p, double x),
                      const double *p, double *from, double *to)
{
    double top = -INFINITY;
    *from = 300, *to = -300;
    for (double u = -250; u < 250; u += 0.002)
        top = fmax(top, density(p, exp(u)) + u);
    for (double u = -250; u < 250; u += 0.002)
        if (density(p, exp(u)) + u > top - 45) {
            *from = fmin(*from, u - 0.002);
            *to = fmax(*to, u + 0.002);
        }
}

static void inverse_gaussians(void **state)
{
    double ig[][4] = {{1, 1}, {10, 0.1}, {0.01, 5}, {3, 1000}, {1e3, 2}};
    double p[][4] = {{0.5, 1, 1},     {0, 1, 1},          {-0.5, 2, 3},
                     {1, 0.001, 1},   {0.3, 0.01, 0.01},  {0, 0.001, 0.02},
                     {0.9, 0.1, 0.1}, {0.99, 1e-3, 1e-3}, {-0.2, 1e-3, 1e-2},
                     {5, 1, 1},       {-7, 0.5, 9},       {50, 3, 2},
                     {0.1, 100, 200}, {2, 1e-4, 1},       {-2.5, 3, 1e-3},
                     {0.6, 0.4, 0.5}, {1.5, 20, 0.01},    {300, 2, 400},
                     {0.5, 9, 1e-5},  {-0.5, 1e-5, 20}};
    double limits[][4] = {{2.5, 2, 0}, {0.7, 2, 0}};
#ifdef GBM_SINGLE
    double narrow[][4] = {{0.5, 1e8, 1e8}, {0.6, 1e8, 1e8}};
#else
    double narrow[][4] = {{0.5, 1e10, 1e10},
                          {0.6, 1e10, 1e10},
                          {-3, 1e13, 1e13},
                          {2, 1e17, 1e17}};
#endif
    double levy[][4] = {{INFINITY, 3}, {INFINITY, 0.2}};
    double vm[][4] = {{0, 0},    {1, 0.01}, {0, 0.5}, {-2, 2},
                      {0.5, 20}, {0, 500},  {3, 1e5}};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof ig / sizeof *ig; i++) {
        double from, to;
        log_range(inverse_gaussian_density, ig[i], &from, &to);
        table = tabulate(inverse_gaussian_density, ig[i], from, to, true);
        continuous("inverse Gaussian", inverse_gaussian, table_p, &ig[i], 1,
                   false, POINTS);
        free(table.sum);
    }
    continuous("inverse Gaussian of infinite mean", inverse_gaussian, levy_p,
               CASES(levy), false, POINTS);
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        double from, to;
        log_range(gig_density, p[i], &from, &to);
        table = tabulate(gig_density, p[i], from, to, true);
        continuous("GIG", gig, table_p, &p[i], 1, false, POINTS);
        free(table.sum);
    }
    continuous("narrow GIG", gig, narrow_gig_p, CASES(narrow), false, POINTS);
    continuous("GIG as gamma", gig, gamma_p, CASES(limits), false, POINTS);
    for (size_t i = 0; i < sizeof vm / sizeof *vm; i++) {
        double half = fmin(3.14159265358979323846, 12 / sqrt(vm[i][1]));
        table = tabulate(von_mises_density, vm[i], vm[i][0] - half,
                         vm[i][0] + half, false);
        continuous("von Mises", von_mises, von_mises_p, &vm[i], 1, false,
                   POINTS);
        free(table.sum);
    }
    end();
}

static void modified_half_normals(void **state)
{
    double p[][4] = {{1, 0, 1},        {0.5, 3, 1},   {0.1, 3, 1},
                     {0.3, 30, 1},     {0.15, 12, 1}, {5, -3, 2},
                     {200, -30, 7},    {200, 300, 7}, {2.5, -4, 1e-6},
                     {0.7, 1.5, 0.01}, {3, -100, 2},  {0.2, -2, 3},
                     {0.25, 8, 0.8},   {1.5, 40, 30}, {30, 0, 1e-3}};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        double from, to;
        log_range(modified_half_normal_density, p[i], &from, &to);
        table = tabulate(modified_half_normal_density, p[i], from, to, true);
        continuous("modified half-normal", modified_half_normal, table_p, &p[i],
                   1, false, POINTS);
        free(table.sum);
    }
    end();
}

/* Polya-Gamma: the characteristic function (cosh(z/2) / cosh(sqrt((z^2/2 -
 * it)/2)))^n, inverted after Gil-Pelaez. */
static double complex log_cosh(double complex z)
{
    return z + clog(1 + cexp(-2 * z)) - log(2);
}

static double polya_gamma_p(const double *p, double x)
{
    double n = p[0], z = fabs(p[1]), sum = 0;
    double mean = z < 1e-3 ? n / 4 : n * tanh(z / 2) / (2 * z);
    double sd = sqrt(n / 24);
    double h = 0.5 / (mean + 12 * sd + 2 / fmin(1, n));
    for (int j = 0; j < 4000000; j++) {
        double t = (j + 0.5) * h;
        double complex phi =
            n * (log_cosh(z / 2) - log_cosh(csqrt((z * z / 2 - I * t) / 2)));
        if (creal(phi) < -25)
            break;
        sum += cimag(cexp(phi - I * t * x)) / (j + 0.5);
    }
    return 0.5 - sum / 3.14159265358979323846;
}

DRAW(polya_gamma, gbm_draw_polya_gamma(rng, p[0], p[1]))

static void polya_gammas(void **state)
{
    double p[][4] = {{1, 0},   {1, 0.5}, {1, -3},  {1, 30},   {2, 1},
                     {4, 2},   {5, 0},   {5, 10},  {0.5, 1},  {2.5, 0.1},
                     {10, 40}, {50, 3},  {1e4, 1}, {1.3, 15}, {3, 4},
                     {2, 8},   {17, 2},  {80, 0.3}};
    (void)state;
    begin();
    continuous("Polya-Gamma", polya_gamma, polya_gamma_p, CASES(p), false, 250);
    end();
}

/* How far the distribution function of a shift and gammas may be from PG(n,
 * z)'s, at most: the integral of what their characteristic functions differ by,
 * over t. Everything is 2 pi^2 times as large. */
static double polya_gamma_error(double n, double z, int count,
                                const double *shape, const double *weight,
                                double shift)
{
    const double c2 = z * z / 39.478417604357434475,
                 pi = 3.14159265358979323846;
    double sd = 0, sum = 0;
    for (int k = 0; k < 2000; k++)
        sd += pow((k + 0.5) * (k + 0.5) + c2, -2);
    const double h = 0.002 / sqrt(n * sd);
    for (int j = 0; j < 20000; j++) {
        const double t = (j + 0.5) * h;
        const double complex exact =
            n * (log_cosh(pi * sqrt(c2)) - log_cosh(pi * csqrt(c2 - I * t)));
        double complex drawn = I * t * shift;
        for (int k = 0; k < count; k++)
            drawn -= shape[k] * clog(1 - I * t * weight[k]);
        sum += cabs(cexp(drawn) - cexp(exact)) / (j + 0.5) / pi;
    }
    return sum;
}

static double error_of_parts(double n, double z)
{
    const struct gbm_pg_parts p = gbm_pg_parts((real)n, (real)z);
    double shape[1100] = {(double)p.shape}, weight[1100] = {(double)p.scale};
    for (int k = 0; k < p.terms; k++) {
        shape[k + 1] = n;
        weight[k + 1] = 1 / ((k + 0.5) * (k + 0.5) + (double)p.c2);
    }
    return polya_gamma_error(n, z, p.terms + 1, shape, weight, (double)p.shift);
}

static double error_of_nodes(double n, double z, const struct gbm_pg_nodes p)
{
    double shape[GBM_PG_NODES], weight[GBM_PG_NODES];
    for (int k = 0; k < p.count; k++) {
        shape[k] = n * (double)p.shape[k];
        weight[k] = 1 / ((double)p.rate[k] + z * z / 39.478417604357434475);
    }
    return polya_gamma_error(n, z, p.count, shape, weight, n * (double)p.shift);
}

/* In single precision rounding alone is 1e-6. */
static void polya_gamma_sums(void **state)
{
    const double n[] = {4, 5, 6, 12.5, 39, 300, 5000},
                 z[] = {0, 0.01, 0.5, 2, 5, 12, 40};
    (void)state;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (size_t j = 0; j < sizeof z / sizeof *z; j++)
            assert_true(error_of_parts(n[i], z[j]) <
                        (sizeof(real) == 8 ? 2e-9 : 1e-4));
    assert_true(gbm_pg_parts(39, 1).terms <= 4);
}

/* Few gammas, to both ends of where they are taken. */
static void polya_gamma_nodes(void **state)
{
    const double n[] = {1, 1.3, 2, 3, 4, 7.5, 50, 5000},
                 z[] = {0, 0.5, 2, 4, 10, 14, 20};
    (void)state;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (size_t j = 0; j < sizeof z / sizeof *z; j++) {
            const double many = n[i] < 2 ? 1e-8 : 1e-10;
            if (z[j] <= GBM_PG_FAR_NODES)
                assert_true(error_of_nodes(n[i], z[j], gbm_pg_many_nodes()) <
                            (sizeof(real) == 8 ? many : 1e-4));
            if (n[i] >= GBM_PG_FEW_NODES && z[j] <= GBM_PG_NEAR_NODES)
                assert_true(error_of_nodes(n[i], z[j], gbm_pg_few_nodes()) <
                            (sizeof(real) == 8 ? 1e-9 : 1e-4));
        }
}

/* The integral from -8 to 8 of the bent normal's density, times the ratio of
 * PG(n, z)'s to it, as far as it is accepted, and exp(t (scale - x)): Gauss and
 * Legendre, between the ends and beyond. */
static double polya_gamma_laplace(const struct gbm_pg_bent *b, double t)
{
    const double node[4] = {0.18343464249564980494, 0.52553240991632898582,
                            0.79666647741362673959, 0.96028985649753623168};
    const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                              0.22238103445337447054, 0.10122853629037625915};
    const double end = (double)b->ends, from[4] = {-8, -end, end, 8};
    double sum = 0;
    for (int i = 0; i < 3 * 16 * 8; i++) {
        const int part = i / 128, k = i % 8 / 2;
        const double half = (from[part + 1] - from[part]) / 32,
                     at = from[part] + half * (2 * (i / 8 % 16) + 1 +
                                               (i & 1 ? node[k] : -node[k]));
        real slope;
        const double x =
            (double)(b->scale *
                     gbm_pg_bent_place(gbm_pg_bend(b, (real)at, &slope)));
        const double ratio = (double)gbm_pg_bent_ratio(b, (real)at);
        sum += half * weight[k] * fmax(0, fmin(ratio, exp((double)b->most))) *
               exp(-at * at / 2 + t * ((double)b->scale - x)) *
               0.39894228040143267794;
    }
    return sum;
}

/* The bent normal: the ratio is that of the densities, as the Laplace transform
 * shows, and its bounds are bounds, also as far out as one of 10^6 draws is. */
static void polya_gamma_bent(void **state)
{
    const double n[] = {1,  1.2,  1.7, 2,    2.6, 4,   6,  9.5,
                        13, 13.5, 20,  20.5, 45,  300, 600},
                 z[] = {0, 0.7, 2, 4.5, 9, 14, 20};
    const bool exact = sizeof(real) == 8;
    const double slack = exact ? 0 : 1e-3, far = exact ? 5 : 2.5;
    (void)state;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (size_t j = 0; j < sizeof z / sizeof *z; j++) {
            if (!gbm_pg_can_bend((real)n[i], (real)z[j]))
                continue;
            const struct gbm_pg_bent b = gbm_pg_bent_of((real)n[i], (real)z[j]);
            for (int k = 0; k < 2; k++) {
                const double t = k * sqrt(24 / n[i]), end = z[j] * z[j] + 2 * t,
                             log_sum = n[i] * creal(log_cosh(z[j] / 2) -
                                                    log_cosh(sqrt(end) / 2));
                assert_true(fabs(polya_gamma_laplace(&b, t) /
                                     exp(log_sum + t * (double)b.scale) -
                                 1) < (!exact       ? 1e-3
                                       : n[i] <= 13 ? 1e-10
                                                    : 2e-9));
            }
            for (double x = -far; x < far; x += 0.05) {
                const double ratio = (double)gbm_pg_bent_ratio(&b, (real)x),
                             most = exp((double)b.most);
                assert_true(ratio < most * (1 + slack));
                assert_true(fabs(x) > (double)b.ends ||
                            ratio > most * (double)b.sure * (1 - slack));
            }
        }
}

/* A value just below the series is accepted, one just above it is not: the
 * series, summed to its end, at places on both sides of the split. */
static void polya_gamma_series(void **state)
{
    const double near = 64 * (double)GBM_EPSILON;
    (void)state;
    for (double x = 0.055; x < 2.5; x += 0.01) {
        const double q =
            exp(x > (double)GBM_PG_SPLIT ? -9.8696044010893586188 * x : -4 / x);
        double sum = 0;
        for (int k = 0; k < 60; k++)
            sum += (k & 1 ? -1 : 1) * (2 * k + 1) * pow(q, k * (k + 1) / 2);
        assert_true(gbm_pg_below((real)(sum - near), (real)x));
        assert_true(gbm_pg_below(REAL_C(0.5), (real)x));
        assert_true(sum > 1 - near ||
                    !gbm_pg_below((real)(sum + near), (real)x));
    }
}

/* Discrete draws. */
static double poisson_p(const double *p, double x)
{
    return (double)gbm_gamma_q((real)x + 1, (real)p[0]);
}

static double binomial_p(const double *p, double x)
{
    if (x >= p[0])
        return 1;
    return (double)gbm_beta_i((real)(p[0] - x), (real)x + 1, 1 - (real)p[1]);
}

static double negative_binomial_p(const double *p, double x)
{
    return (double)gbm_beta_i((real)p[1], (real)x + 1, (real)p[0]);
}

static double hypergeometric_p(const double *p, double x)
{
    double part = 0, all = 0;
    double from = fmax(0, p[2] - p[1]), to = fmin(p[0], p[2]);
    double top = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (double k = from; k <= to; k++) {
            double l = k * log(p[3]) - lgamma(k + 1) - lgamma(p[0] - k + 1) -
                       lgamma(p[2] - k + 1) - lgamma(p[1] - p[2] + k + 1);
            if (pass == 0) {
                top = fmax(top, l);
                continue;
            }
            all += exp(l - top);
            part += k <= x ? exp(l - top) : 0;
        }
    return part / all;
}

static const real weights[8] = {1, 0, 3, (real)0.01, 2, 0, 4, 0};

static double categorical_p(const double *p, double x)
{
    double part = 0, all = 0;
    (void)p;
    for (int i = 0; i < 8; i++) {
        all += (double)weights[i];
        part += i <= x ? (double)weights[i] : 0;
    }
    return part / all;
}

DRAW(poisson, gbm_draw_poisson(rng, p[0]))
DRAW(poisson_wrong, gbm_draw_poisson(rng, p[0] * REAL_C(1.01)))
DRAW(binomial, gbm_draw_binomial(rng, p[0], p[1]))
DRAW(negative_binomial, gbm_draw_negative_binomial(rng, p[0], p[1]))
DRAW(hypergeometric, gbm_draw_hypergeometric(rng, p[0], p[1], p[2], p[3]))
DRAW(categorical, (gbm_draw_categorical(rng, weights, 8)))
DRAW(category, (gbm_draw_category(rng, 8, weights) - 1))

static void counts(void **state)
{
    double rates[][4] = {{0.01}, {0.7}, {3}, {9.99}, {10}, {35.5}, {1e3}};
    double large[][4] = {{1e5}, {1e9}};
    double trials[][4] = {{1, 0.3},     {10, 0.5},   {20, 0.01},
                          {25, 0.41},   {100, 0.93}, {1000, 0.5},
                          {5000, 1e-3}, {60, 0.17},  {10000, 0.999}};
    double many[][4] = {{1e9, 0.3}, {1e8, 1e-7}};
    double failed[][4] = {{0.3, 2}, {0.9, 0.1}, {0.05, 0.5}, {0.01, 5}};
    double groups[][4] = {
        {5, 7, 6, 1},     {5, 7, 6, 3}, {10, 3, 9, 0.2},      {100, 90, 50, 1},
        {40, 60, 30, 12}, {3, 3, 6, 1}, {200, 500, 400, 0.01}};
    double zero[][4] = {{0}};
    (void)state;
    begin();
    discrete("Poisson", poisson, poisson_p, CASES(rates));
    discrete("binomial", binomial, binomial_p, CASES(trials));
    discrete("negative binomial", negative_binomial, negative_binomial_p,
             CASES(failed));
    discrete("hypergeometric", hypergeometric, hypergeometric_p, CASES(groups));
    discrete("categorical", categorical, categorical_p, CASES(zero));
    discrete("category", category, categorical_p, CASES(zero));
    if (sizeof(real) == 8) { /* beyond the integers of single precision */
        discrete("Poisson", poisson, poisson_p, CASES(large));
        discrete("binomial", binomial, binomial_p, CASES(many));
    }
    end();
    discrete("expected to fail: Poisson", poisson_wrong, poisson_p, rates + 2,
             2);
    assert_int_equal(failures, 2);
}

/* Vectors: one coordinate or a linear function of them. */
static const real alphas[4] = {(real)0.5, 0, 3, (real)1.5};

static double dirichlet_p(const double *p, double x)
{
    double a = (double)alphas[(int)p[0]];
    double q[2] = {a, 5 - a};
    return beta_p(q, x);
}

enum { MANY = 2 * GBM_DIRICHLET_SHARED };

static real many_alphas(int j)
{
    return j % 7 ? (real)(j % 5) / 4 + (real)0.1 : 0;
}

static double many_dirichlet_p(const double *p, double x)
{
    double all = 0, a = (double)many_alphas((int)p[0]);
    for (int j = 0; j < MANY; j++)
        all += (double)many_alphas(j);
    return beta_p((double[2]){a, all - a}, x);
}

static real many_dirichlet(struct gbm_rng *rng, const real *p)
{
    real a[MANY], x[MANY], sum = 0;
    for (int j = 0; j < MANY; j++)
        a[j] = many_alphas(j);
    gbm_draw_dirichlet_shared(rng, &alone, MANY, a, x);
    for (int j = 0; j < MANY; j++)
        sum += x[j];
    if (real_fabs(sum - 1) > MANY * GBM_EPSILON || x[7] != REAL_C(1e-30))
        return GBM_NAN;
    return x[(int)p[0]];
}

static real dirichlet(struct gbm_rng *rng, const real *p)
{
    real x[4];
    gbm_draw_dirichlet(rng, 4, alphas, x);
    if (real_fabs(x[0] + x[1] + x[2] + x[3] - 1) > 8 * GBM_EPSILON ||
        x[1] != REAL_C(1e-30)) /* a structural zero */
        return GBM_NAN;
    return x[(int)p[0]];
}

static real multinomial(struct gbm_rng *rng, const real *p)
{
    real x[8];
    gbm_draw_multinomial(rng, 8, weights, 40, x);
    if (gbm_sum(8, x) != 40 || x[1] != 0 || x[7] != 0)
        return GBM_NAN;
    return x[(int)p[0]];
}

static double multinomial_p(const double *p, double x)
{
    double q[2] = {40, (double)weights[(int)p[0]] / 10.01};
    return binomial_p(q, x);
}

static const real matrix[9] = {2,         (real)0.6,  (real)-0.3, (real)0.6, 1,
                               (real)0.2, (real)-0.3, (real)0.2,  (real)1.5};
static const real centre[3] = {1, -2, 3};

/* Contrast number p[0] of a vector. */
static void contrast(const real *p, real *a)
{
    a[0] = p[0] < 2 ? 1 : 0;
    a[1] = p[0] > 0 ? 1 : 0;
    a[2] = p[0] > 0 ? -2 : 0;
}

static real quadratic_form(const real *a, const real *M)
{
    real sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += a[i] * M[3 * i + j] * a[j];
    return sum;
}

/* (a'x - a'mu) / sd(a'x); kind p[1]: 0 precision, 1 covariance, 2 the block
 * update, 3 t with 4.5 degrees of freedom. */
static real multi_normal(struct gbm_rng *rng, const real *p)
{
    real a[3], inverse[9], x[3];
    contrast(p, a);
    gbm_inverse(3, matrix, inverse);
    if (p[1] == 1)
        gbm_draw_mvn_covariance(rng, 3, centre, matrix, x);
    else if (p[1] == 3)
        gbm_draw_mvt(rng, 3, centre, matrix, REAL_C(4.5), x);
    else if (p[1] == 0)
        gbm_draw_mvn_precision(rng, 3, centre, matrix, x);
    else {
        real Q[9], b[3];
        gbm_copy(9, matrix, Q);
        gbm_matmul(3, 3, 1, matrix, centre, b);
        Q[1] = Q[2] = Q[5] = GBM_NAN; /* not read */
        if (!gbm_gaussian_draw(rng, 3, Q, b, x))
            return GBM_NAN;
    }
    real variance = quadratic_form(a, p[1] == 1 ? matrix : inverse);
    return (gbm_dot(3, a, x) - gbm_dot(3, a, centre)) / real_sqrt(variance);
}

static double multi_t_p(const double *p, double x)
{
    (void)p;
    return (double)gbm_t_p(REAL_C(4.5), (real)x);
}

/* a'x a / a' R^-1 a is chi-square with k degrees of freedom: half of it is
 * gamma. p[1]: k. */
static real wishart(struct gbm_rng *rng, const real *p)
{
    real a[3], inverse[9], x[9];
    contrast(p, a);
    gbm_inverse(3, matrix, inverse);
    gbm_draw_wishart(rng, 3, matrix, p[1], x);
    return gbm_is_symmetric(3, x)
               ? quadratic_form(a, x) / quadratic_form(a, inverse) / 2
               : GBM_NAN;
}

static double wishart_p(const double *p, double x)
{
    double shape = p[1] / 2;
    return gamma_p(&shape, x);
}

static void vectors(void **state)
{
    double coordinates[][4] = {{0}, {2}, {3}}, cells[][4] = {{0}, {3}, {6}};
    double some_of_many[][4] = {{1}, {GBM_DIRICHLET_SHARED + 4}, {MANY - 2}};
    double contrasts[][4] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1},
                             {2, 1}, {0, 2}, {1, 2}, {2, 2}};
    double heavy[][4] = {{0, 3}, {1, 3}, {2, 3}};
    double freedoms[][4] = {{0, 3}, {1, 3}, {2, 2.1}, {0, 50}, {1, 7.5}};
    (void)state;
    begin();
    continuous("Dirichlet", dirichlet, dirichlet_p, CASES(coordinates),
               sizeof(real) == 4, POINTS);
    continuous("Dirichlet of many", many_dirichlet, many_dirichlet_p,
               CASES(some_of_many), sizeof(real) == 4, POINTS);
    discrete("multinomial", multinomial, multinomial_p, CASES(cells));
    continuous("normal vector", multi_normal, normal_p, CASES(contrasts), false,
               POINTS);
    continuous("t vector", multi_normal, multi_t_p, CASES(heavy), false,
               POINTS);
    continuous("Wishart", wishart, wishart_p, CASES(freedoms), false, POINTS);
    end();
}

/* An update leaves its distribution alone: one update of an exact draw. */
static real gamma_log_density(const void *context, real x)
{
    real shape = *(const real *)context;
    return x > 0 ? (shape - 1) * real_log(x) - x : GBM_NAN;
}

static real poisson_log_density(const void *context, real x)
{
    real mean = *(const real *)context;
    return x < 0 ? -GBM_INF : x * real_log(mean) - gbm_lgamma(x + 1);
}

static real two_bumps(const void *context, real x)
{
    real gap = *(const real *)context;
    return gbm_log_add(-gbm_square(x - gap) / 2, -gbm_square(x + gap) / 2);
}

/* p: shape, width, lower bound of the slice. */
static real slice(struct gbm_rng *rng, const real *p)
{
    real x, width = p[1];
    do
        x = gbm_draw_gamma(rng, p[0]);
    while (x < p[2]);
    x = gbm_slice(rng, x, &width, 0, p[2], GBM_INF, gamma_log_density, p);
    return x < p[2] ? GBM_NAN : x;
}

static double slice_p(const double *p, double x)
{
    double low = p[2] > 0 ? gamma_p(p, p[2]) : 0;
    return (gamma_p(p, x) - low) / (1 - low);
}

static real slice_bumps(struct gbm_rng *rng, const real *p)
{
    real width = p[1], x = gbm_draw_normal(rng);
    x += gbm_uniform(rng) < REAL_C(0.5) ? p[0] : -p[0];
    return gbm_slice(rng, x, &width, 1, -GBM_INF, GBM_INF, two_bumps, p);
}

static double bumps_p(const double *p, double x)
{
    return (normal_p(p, x - p[0]) + normal_p(p, x + p[0])) / 2;
}

/* One of p[0] normals about p[1], after all were multiplied by one number. */
static real scaled(struct gbm_rng *rng, const real *p)
{
    struct gbm_scaling k = {.count = p[0]};
    real first = 0;
    for (int i = 0; i < (int)p[0]; i++) {
        const real x = p[1] + gbm_draw_normal(rng);
        k.square += x * x;
        k.linear += p[1] * x;
        first = i ? first : x;
    }
    return first *
           (p[1] != 0 ? gbm_scale_search(rng, &k) : gbm_scale_draw(rng, &k));
}

static double scaled_p(const double *p, double x)
{
    return normal_p(p, x - p[1]);
}

static real slice_integer(struct gbm_rng *rng, const real *p)
{
    real width = p[1], x = gbm_draw_poisson(rng, p[0]);
    return gbm_slice_integer(rng, x, &width, 0, p[2] < 0 ? -GBM_INF : 0,
                             GBM_INF, poisson_log_density, p);
}

/* p: shape, scale, side. A gamma on x > 1, or mirrored on x < -1. */
static real mirrored_gamma(const void *context, real x)
{
    const real *p = (const real *)context;
    return gamma_log_density(p, p[2] > 0 ? x - 1 : -1 - x);
}

static real walk(struct gbm_rng *rng, const real *p)
{
    real scale = p[1], side = p[2] > 0 ? 1 : -1;
    real x = side * (1 + gbm_draw_gamma(rng, p[0]));
    for (int i = 0; i < 3; i++)
        x = gbm_walk(rng, x, &scale, 0, GBM_WALK_MOVES, side > 0 ? 1 : -GBM_INF,
                     side > 0 ? GBM_INF : -1, mirrored_gamma, p);
    return side * x - 1;
}

static real beta_log_density(const void *context, real x)
{
    const real *p = (const real *)context;
    return (p[0] - 1) * real_log((x + 1) / 3) +
           (p[2] - 1) * real_log((2 - x) / 3);
}

/* A beta(p[0], p[2]) on (-1, 2). */
static real walk_between(struct gbm_rng *rng, const real *p)
{
    real scale = p[1], x = 3 * gbm_draw_beta(rng, p[0], p[2]) - 1;
    for (int i = 0; i < 3; i++)
        x = gbm_walk(rng, x, &scale, 0, GBM_WALK_MOVES, -1, 2, beta_log_density,
                     p);
    return (x + 1) / 3;
}

/* The same, whose steps beyond an end are refused. */
static real walk_within(struct gbm_rng *rng, const real *p)
{
    real scale = p[1], x = 3 * gbm_draw_beta(rng, p[0], p[2]) - 1;
    for (int i = 0; i < 3; i++)
        x = gbm_walk_within(rng, x, &scale, 0, 3, -1, 2, beta_log_density, p,
                            false);
    return (x + 1) / 3;
}

static double walk_between_p(const double *p, double x)
{
    return (double)gbm_beta_i((real)p[0], (real)p[2], (real)x);
}

static real walk_bumps(struct gbm_rng *rng, const real *p)
{
    real scale = p[1], x = gbm_draw_normal(rng);
    x += gbm_uniform(rng) < REAL_C(0.5) ? p[0] : -p[0];
    return gbm_walk(rng, x, &scale, 0, GBM_WALK_MOVES, -GBM_INF, GBM_INF,
                    two_bumps, p);
}

static real walk_integer(struct gbm_rng *rng, const real *p)
{
    real scale = p[1], x = gbm_draw_poisson(rng, p[0]);
    for (int i = 0; i < 3; i++)
        x = gbm_walk_within(rng, x, &scale, 0, GBM_WALK_MOVES,
                            p[2] < 0 ? -GBM_INF : 0, GBM_INF,
                            poisson_log_density, p, true);
    return x;
}

/* A gamma on x > 0 and a beta on (0, 1) moved together, with correlated steps;
 * p: shape, factor of the steps, which of the two. */
static real adaptive(struct gbm_rng *rng, const real *p)
{
    real tuning[] = {p[1], 2, 0, 0, 1, REAL_C(0.7), 0, REAL_C(0.5)};
    real lower[] = {0, 0}, upper[] = {GBM_INF, 1}, probability;
    real x[] = {gbm_draw_gamma(rng, p[0]), gbm_draw_beta(rng, 2, 3)}, y[2],
         v[2];
    for (int i = 0; i < 3; i++) {
        real density[2], *at[] = {x, y};
        real jacobian = gbm_adaptive_propose(rng, &alone, 2, 1, tuning, lower,
                                             upper, x, y, v);
        for (int k = 0; k < 2; k++)
            density[k] = gamma_log_density(p, at[k][0]) + real_log(at[k][1]) +
                         2 * real_log(1 - at[k][1]);
        if (gbm_metropolis(rng, density[0], density[1] + jacobian,
                           &probability))
            gbm_copy(2, y, x);
    }
    return x[(int)p[2]];
}

/* The same by steps from a normal reference, which is near on the line and not
 * in it; p[3]: the inflation. */
static real independent(struct gbm_rng *rng, const real *p)
{
    real tuning[12] = {p[1],        1000,        REAL_C(0.8), REAL_C(-0.5),
                       REAL_C(0.7), REAL_C(0.3), 0,           REAL_C(0.8)};
    gbm_diam_unknown(&alone, 2, gbm_diam_whitened(2, tuning));
    real lower[] = {0, 0}, upper[] = {GBM_INF, 1}, probability;
    real x[] = {gbm_draw_gamma(rng, p[0]), gbm_draw_beta(rng, 2, 3)}, y[2],
         v[2];
    for (int i = 0; i < 3; i++) {
        real density[2], *at[] = {x, y};
        real jacobian = gbm_diam_propose(rng, &alone, 2, 1, p[3], tuning, lower,
                                         upper, x, y, v);
        for (int k = 0; k < 2; k++)
            density[k] = gamma_log_density(p, at[k][0]) + real_log(at[k][1]) +
                         2 * real_log(1 - at[k][1]);
        if (gbm_metropolis(rng, density[0], density[1] + jacobian,
                           &probability)) {
            gbm_diam_moved(&alone, 2, lower, upper, y, v, tuning);
            gbm_copy(2, y, x);
        }
    }
    return x[(int)p[2]];
}

/* The same without correlation; `within`: steps beyond the ends are refused. */
static real block_walk_of(struct gbm_rng *rng, const real *p, bool within)
{
    real lower[] = {0, 0}, upper[] = {GBM_INF, 1}, probability;
    real x[] = {gbm_draw_gamma(rng, p[0]), gbm_draw_beta(rng, 2, 3)}, y[2];
    for (int i = 0; i < 3; i++) {
        real density[2], *at[] = {x, y};
        real jacobian = within ? gbm_block_propose_within(rng, &alone, 2, p[1],
                                                          lower, upper, x, y)
                               : gbm_block_propose(rng, &alone, 2, p[1], lower,
                                                   upper, x, y);
        for (int k = 0; k < 2; k++)
            density[k] = gamma_log_density(p, at[k][0]) + real_log(at[k][1]) +
                         2 * real_log(1 - at[k][1]);
        if (gbm_metropolis(rng, density[0], density[1] + jacobian,
                           &probability))
            gbm_copy(2, y, x);
    }
    return x[(int)p[2]];
}

static real block_walk(struct gbm_rng *rng, const real *p)
{
    return block_walk_of(rng, p, false);
}

static real block_walk_within(struct gbm_rng *rng, const real *p)
{
    return block_walk_of(rng, p, true);
}

static double adaptive_p(const double *p, double x)
{
    return p[2] > 0 ? (double)gbm_beta_i(2, 3, (real)x) : gamma_p(p, x);
}

/* Normal(1, 4) times the likelihood of an observation p[0] with variance 1. */
static real one_observation(const void *context, real x)
{
    return -gbm_square(x - *(const real *)context) / 2;
}

static real posterior_density(const void *context, real x)
{
    return one_observation(context, x) + x / 4 - x * x / 8 + 7;
}

static real ellipse(struct gbm_rng *rng, const real *p)
{
    real x, low = p[1], mean = (REAL_C(0.25) + p[0]) / REAL_C(1.25);
    do
        x = mean + gbm_draw_normal(rng) / real_sqrt(REAL_C(1.25));
    while (x < low);
    return gbm_elliptical_scalar(rng, x, REAL_C(0.25), REAL_C(-0.125), low,
                                 GBM_INF, posterior_density, p);
}

static double ellipse_p(const double *p, double x)
{
    double mean = (0.25 + p[0]) / 1.25, sd = 1 / sqrt(1.25);
    double low = normal_p(p, (p[1] - mean) / sd);
    return (normal_p(p, (x - mean) / sd) - low) / (1 - low);
}

static real vector_likelihood(void *context, const real *y)
{
    return one_observation(context, y[0] + y[1]);
}

/* Two normals (1, 4) and (0, 1) of which the sum is observed as `data`. */
static void given_sum(struct gbm_rng *rng, real data, real *x)
{
    real sum = (REAL_C(0.2) + data) / REAL_C(1.2) +
               gbm_draw_normal(rng) / real_sqrt(REAL_C(1.2));
    x[0] = 1 + REAL_C(0.8) * (sum - 1) +
           gbm_draw_normal(rng) * real_sqrt(REAL_C(0.8));
    x[1] = sum - x[0];
}

/* The first or the sum after two moves. */
static real ellipse_vector(struct gbm_rng *rng, const real *p)
{
    real x[2], mean[] = {1, 0}, y[2], data = p[0], here = GBM_NAN;
    given_sum(rng, data, x);
    for (int i = 0; i < 2; i++) {
        real v[] = {1 + 2 * gbm_draw_normal(rng), gbm_draw_normal(rng)};
        gbm_elliptical(rng, &alone, 2, x, mean, v, y, vector_likelihood, &data,
                       &here);
        gbm_copy(2, y, x);
    }
    return p[1] > 0 ? x[0] : x[0] + x[1];
}

/* p[2]: the step. */
static real crank_nicolson(struct gbm_rng *rng, const real *p)
{
    real x[2], mean[] = {1, 0}, y[2], data = p[0], probability;
    given_sum(rng, data, x);
    for (int i = 0; i < 3; i++) {
        real v[] = {1 + 2 * gbm_draw_normal(rng), gbm_draw_normal(rng)};
        gbm_pcn_propose(&alone, 2, p[2], x, mean, v, y);
        if (gbm_metropolis(rng, vector_likelihood(&data, x),
                           vector_likelihood(&data, y), &probability))
            gbm_copy(2, y, x);
    }
    return p[1] > 0 ? x[0] : x[0] + x[1];
}

static double ellipse_vector_p(const double *p, double x)
{
    double mean = (0.2 + p[0]) / 1.2, variance = 1 / 1.2;
    if (p[1] > 0) {
        mean = 1 + 0.8 * (mean - 1);
        variance = 0.8 + 0.64 * variance;
    }
    return normal_p(p, (x - mean) / sqrt(variance));
}

/* A chain of four nodes with three values: the terms are any numbers, some of
 * them impossible. A path's number has the values as its digits. */
enum { CHAIN = 4, VALUES = 3, PATHS = 81 };
struct chain_state {
    int z[CHAIN];
    bool homogeneous;
};

static real chain_enter(void *context, int k)
{
    (void)context;
    return k == 1 ? REAL_C(0.5) : REAL_C(-0.3) * (real)k;
}

static real chain_transition(void *context, int t, int j, int k)
{
    const struct chain_state *s = (const struct chain_state *)context;
    if (j == 0 && k == 2)
        return 0;
    return REAL_C(0.1) + (real)((3 * j + 5 * k + (s->homogeneous ? 0 : t)) % 7);
}

static real chain_emission(void *context, int t, int k)
{
    (void)context;
    if (t == 2 && k == 1)
        return -GBM_INF;
    return REAL_C(0.4) * (real)((t + 2 * k) % 3) - 500;
}

static int chain_current(void *context, int t)
{
    return ((const struct chain_state *)context)->z[t];
}

static void chain_store(void *context, int t, int k)
{
    ((struct chain_state *)context)->z[t] = k;
}

static void set_path(struct chain_state *s, int number)
{
    for (int t = 0; t < CHAIN; t++, number /= VALUES)
        s->z[t] = number % VALUES;
}

/* P(path number <= x) by definition, all paths being listed. */
static double chain_p(const double *p, double x)
{
    double total = 0, wanted = 0;
    for (int i = 0; i < PATHS; i++) {
        struct chain_state s = {.homogeneous = p[0] > 0};
        set_path(&s, i);
        double sum = (double)chain_enter(&s, s.z[0]);
        for (int t = 0; t < CHAIN; t++) {
            sum += (double)chain_emission(&s, t, s.z[t]) + 500;
            if (t)
                sum += log((double)chain_transition(&s, t, s.z[t - 1], s.z[t]));
        }
        total += exp(sum);
        if (i <= x)
            wanted += exp(sum);
    }
    return wanted / total;
}

/* p: homogeneous, node by node. */
static real chain(struct gbm_rng *rng, const real *p)
{
    struct chain_state s = {.homogeneous = p[0] > 0};
    const struct gbm_chain c = {&s,
                                &alone,
                                CHAIN,
                                VALUES,
                                s.homogeneous,
                                chain_enter,
                                chain_transition,
                                chain_emission,
                                chain_current,
                                chain_store};
    real filter[CHAIN * VALUES];
    if (!gbm_chain_draw(rng, &c, filter, VALUES))
        return -1;
    if (p[1] > 0)
        gbm_chain_sites(rng, &c);
    int number = 0;
    for (int t = CHAIN - 1; t >= 0; t--)
        number = number * VALUES + s.z[t];
    return (real)number;
}

static real enumerate(struct gbm_rng *rng, const real *p)
{
    return gbm_enumerate_draw(rng, -2, 60, poisson_log_density, p);
}

static void updates(void **state)
{
    double p[][4] = {{3, 1, 0}, {3, 20, 0}, {0.5, 0.1, 0}, {2, 1, 3}};
    double bumps[][4] = {{2, 0.2}, {2, 5}, {0.5, 1}};
    double rates[][4] = {{0.4, 1}, {5, 3}, {5, 0.7, -1}, {500, 10}};
    double few[][4] = {{0.4}, {7}, {27}}; /* the last in two groups */
    (void)state;
    begin();
    continuous("slice", slice, slice_p, CASES(p), sizeof(real) == 4, POINTS);
    continuous("slice, bumps", slice_bumps, bumps_p, CASES(bumps), false,
               POINTS);
    double groups[][4] = {{1, 0}, {3, 0}, {1, 0.5}, {3, -1}, {10, 2}};
    continuous("scaled", scaled, scaled_p, CASES(groups), false, POINTS);
    double walks[][4] = {{3, 1, 1}, {3, 1, 0}, {0.5, 3, 1}, {2, 0.3, 0}};
    double betas[][4] = {{2, 1, 3}, {0.7, 3, 1.5}};
    double both[][4] = {{3, 1, 0}, {3, 1, 1}, {0.8, 0.5, 0}};
    double seen[][4] = {{2, -30}, {-3, -30}, {4, 1}};
    double sums[][4] = {{3, 0}, {3, 1}, {-2, 1}};
    continuous("walk", walk, gamma_p, CASES(walks), false, POINTS);
    continuous("walk, two ends", walk_between, walk_between_p, CASES(betas),
               false, POINTS);
    continuous("walk, refused beyond two ends", walk_within, walk_between_p,
               CASES(betas), false, POINTS);
    continuous("walk, bumps", walk_bumps, bumps_p, CASES(bumps), false, POINTS);
    discrete("integer walk", walk_integer, poisson_p, CASES(rates));
    continuous("adaptive Metropolis", adaptive, adaptive_p, CASES(both), false,
               POINTS);
    double referred[][4] = {
        {3, 1, 0, 1}, {3, 1, 1, 1.5}, {0.8, 0.5, 0, 1.5}, {3, 0.2, 1, 1}};
    continuous("dimension-independent", independent, adaptive_p,
               CASES(referred), false, POINTS);
    continuous("joint walk", block_walk, adaptive_p, CASES(both), false,
               POINTS);
    continuous("joint walk, refused beyond ends", block_walk_within, adaptive_p,
               CASES(both), false, POINTS);
    continuous("ellipse", ellipse, ellipse_p, CASES(seen), false, POINTS);
    continuous("ellipse of a vector", ellipse_vector, ellipse_vector_p,
               CASES(sums), false, POINTS);
    double stepped[][4] = {{3, 0, 0.5}, {3, 1, 0.9}, {-2, 1, 0.2}};
    continuous("Crank-Nicolson", crank_nicolson, ellipse_vector_p,
               CASES(stepped), false, POINTS);
    double chains[][4] = {{0, 0}, {1, 0}, {0, 1}};
    discrete("chain", chain, chain_p, CASES(chains));
    discrete("integer slice", slice_integer, poisson_p, CASES(rates));
    discrete("enumeration", enumerate, poisson_p, CASES(few));
    end();
}

static real nowhere(const void *context, real x)
{
    (void)context;
    return x > 5 ? GBM_NAN : -GBM_INF;
}

static real flat(const void *context, real x)
{
    (void)context;
    (void)x;
    return 0;
}

static void slice_corners(void **state)
{
    double seed[4] = {0};
    struct gbm_rng rng = stream("corners", seed);
    real width = 1;
    (void)state;
    assert_true(gbm_slice(&rng, 6, &width, 1, 0, 10, nowhere, NULL) == 6);
    assert_true(gbm_slice(&rng, 4, &width, 1, 0, 10, nowhere, NULL) == 4);
    for (int i = 0; i < 10000; i++) {
        real x = gbm_slice(&rng, REAL_C(0.5), &width, 1, 0, 1, flat, NULL);
        assert_true(x >= 0 && x <= 1);
        x = gbm_slice_integer(&rng, 3, &width, 1, 1, 3, flat, NULL);
        assert_true(x == 1 || x == 2 || x == 3);
        x = gbm_slice(&rng, 0, &width, 1, -GBM_INF, GBM_INF, flat, NULL);
        assert_true(gbm_is_finite(x));
        width = width > 1000 ? 1 : width;
    }
    /* the width finds the scale, from far off on both sides */
    for (int side = 0; side < 2; side++) {
        real shape = 3, x = 3;
        width = side ? REAL_C(1e6) : REAL_C(1e-6);
        for (int i = 0; i < 1000; i++)
            x = gbm_slice(&rng, x, &width, 1, 0, GBM_INF, gamma_log_density,
                          &shape);
        assert_true(width > 2 && width < 30);
    }
}

/* Two modes, far from each other beside the width that is tuned within one, are
 * both met, in their shares. */
static void slice_of_two_modes(void **state)
{
    enum { SWEEPS = 40000 };
    const real gap = 8;
    real x = gap, width = 1;
    int crossed = 0, above = 0;
    (void)state;
    for (int i = 0; i < SWEEPS; i++) {
        const real before = x;
        struct gbm_rng rng;
        gbm_rng_start(&rng, 1, 0, (uint32_t)i, 0, 0);
        x = gbm_slice(&rng, x, &width, i < SWEEPS / 4, -GBM_INF, GBM_INF,
                      two_bumps, &gap);
        crossed += (x > 0) != (before > 0);
        above += x > 0;
    }
    assert_true(crossed > 200);
    assert_true(above > SWEEPS * 2 / 5 && above < SWEEPS * 3 / 5);
}

/* log z: normal with means 0.5 and 3, correlation 0.9, scales 0.01 and 1. */
static real narrow_log_density(const real *z)
{
    real a = 100 * (real_log(z[0]) - REAL_C(0.5)), b = real_log(z[1]) - 3;
    return -(a * a + b * b - REAL_C(1.8) * a * b) / (2 * REAL_C(0.19)) -
           real_log(z[0]) - real_log(z[1]);
}

/* Where the step leads is known whitened: z, of the place y. */
static void check_whitened(const real *tuning, const real *lower,
                           const real *upper, const real *y, const real *z)
{
    const real *m = tuning + 2, *U = tuning + 4;
    const real near = sizeof(real) == 4 ? REAL_C(1e-3) : REAL_C(1e-8);
    real line[2];
    gbm_adaptive_line(&alone, 2, lower, upper, y, line);
    assert_true(real_fabs(U[0] * z[0] - (line[0] - m[0])) < near);
    assert_true(real_fabs(U[1] * z[0] + U[3] * z[1] - (line[1] - m[1])) < near);
}

/* Learns that, from steps of 1 at first. Returns the share of the moves of the
 * second half that are made. */
static real learn_narrow(struct gbm_rng *rng, bool reference, real *tuning)
{
    enum { SWEEPS = 20000 };
    real lower[] = {0, 0}, upper[] = {GBM_INF, GBM_INF}, z[] = {1, 1}, y[2],
         v[2];
    real accepted = 0, probability;
    for (int t = 1; t <= SWEEPS; t++) {
        real jacobian = reference
                            ? gbm_diam_propose(rng, &alone, 2, 1, REAL_C(1.2),
                                               tuning, lower, upper, z, y, v)
                            : gbm_adaptive_propose(rng, &alone, 2, 1, tuning,
                                                   lower, upper, z, y, v);
        if (reference && gbm_diam_has_reference(2, tuning[1]) &&
            !gbm_is_nan(v[0]))
            check_whitened(tuning, lower, upper, y, v);
        const real here = narrow_log_density(z);
        bool moves = gbm_metropolis(rng, here, narrow_log_density(y) + jacobian,
                                    &probability);
        tuning[0] = reference
                        ? gbm_diam_size(2, tuning, here, probability)
                        : gbm_adaptive_size(2, tuning[0], here, probability, t);
        if (moves && reference)
            gbm_diam_moved(&alone, 2, lower, upper, y, v, tuning);
        (reference ? gbm_diam_learn : gbm_adaptive_learn)(
            &alone, 2, 1, lower, upper, moves ? y : z, moves ? z : y, tuning);
        assert_true(tuning[1] == (real)(t + 1));
        if (moves)
            gbm_copy(2, y, z);
        if (t > SWEEPS / 2)
            accepted += moves;
    }
    return accepted / (SWEEPS / 2);
}

static void check_narrow(const real *tuning)
{
    const real *U = tuning + 4;
    real variance = U[1] * U[1] + U[3] * U[3];
    assert_true(tuning[2] > 0.49 && tuning[2] < 0.51);
    assert_true(tuning[3] > 2.5 && tuning[3] < 3.5);
    assert_true(U[0] > 0.007 && U[0] < 0.014);
    assert_true(variance > 0.7 && variance < 1.4);
    assert_true(U[1] / real_sqrt(variance) > 0.8);
    assert_true(U[1] / real_sqrt(variance) < 0.96);
    assert_true(U[2] == 0);
}

/* The moments that are learnt are those of the draws, each with its weight. */
static void learned_moments(void **state)
{
    double seed[4] = {0};
    struct gbm_rng rng = stream("moments", seed);
    const real lower[] = {-GBM_INF, 0}, upper[] = {GBM_INF, GBM_INF};
    real tuning[8] = {1, 1}, v[2], first[2] = {0}, second[4] = {0};
    const real near = sizeof(real) == 4 ? REAL_C(1e-3) : REAL_C(1e-10);
    (void)state;
    for (int t = 1; t <= 40; t++) {
        const real a = gbm_draw_normal(&rng), b = a + gbm_draw_normal(&rng);
        const real x[] = {a, real_exp(b)}, line[] = {a, b};
        const real w = 2 / ((real)t + 6);
        for (int i = 0; i < 2; i++) {
            first[i] = t == 1 ? line[i] : first[i] + w * (line[i] - first[i]);
            for (int j = 0; j < 2; j++) {
                real *cell = &second[2 * i + j];
                if (t == 1) /* steps of 0.5, about the first draw */
                    *cell = line[i] * line[j] + (i == j ? REAL_C(0.25) : 0);
                *cell += w * (line[i] * line[j] - *cell);
            }
        }
        gbm_adaptive_learn(&alone, 2, REAL_C(0.5), lower, upper, x, v, tuning);
        const real *m = tuning + 2, *U = tuning + 4;
        const real found[] = {m[0], m[1], U[0] * U[0], U[0] * U[1],
                              U[1] * U[1] + U[3] * U[3]};
        const real wanted[] = {
            first[0], first[1], second[0] - first[0] * first[0],
            second[1] - first[0] * first[1], second[3] - first[1] * first[1]};
        for (int i = 0; i < 5; i++)
            assert_true(real_fabs(found[i] - wanted[i]) < near);
    }
}

/* The adapted covariance and acceptance; a walk's scale. */
static void metropolis_tuning(void **state)
{
    double seed[4] = {0};
    struct gbm_rng rng = stream("tuning", seed);
    real scale = REAL_C(1e-4), x = 3, shape[] = {3, 0, 1};
    real tuning[8] = {1, 1}, other[12] = {1, 1}, accepted;
    (void)state;
    for (int t = 1; t <= 20000; t++) {
        x = gbm_walk(&rng, x, &scale, t, GBM_WALK_MOVES, 1, GBM_INF,
                     mirrored_gamma, shape);
        assert_true(x > 1);
    }
    assert_true(scale > 0.8 && scale < 3);
    accepted = learn_narrow(&rng, false, tuning);
    check_narrow(tuning);
    assert_true(accepted > 0.25 && accepted < 0.45);
    accepted = learn_narrow(&rng, true, other);
    check_narrow(other);
    /* as good as independent: nearly all moves are made */
    assert_true(other[0] > 0.9 && other[0] <= 1 && accepted > 0.7);
    /* far from normal, the step is what is tuned: towards 0.4 */
    assert_true(gbm_diam_size(2, other, 0, REAL_C(0.3)) < other[0]);
    other[0] = REAL_C(0.5);
    assert_true(gbm_diam_size(2, other, 0, REAL_C(0.5)) > other[0]);
    assert_true(gbm_diam_size(2, other, -GBM_INF, 1) == other[0]);
    /* a better reference comes after enough updates, with steps as long */
    tuning[0] = REAL_C(0.3);
    for (int n = 1; n < 60; n++) {
        tuning[1] = (real)n;
        const real next = gbm_diam_size(2, tuning, -GBM_INF, 1);
        assert_true(gbm_diam_has_reference(2, tuning[1]) == (n > 51));
        assert_true(n == 51 ? real_fabs(next - REAL_C(0.5049)) < 0.001
                            : next == tuning[0]);
    }
}

/* What a draw does where there is nothing to draw from. */
static void bad_parameters(void **state)
{
    double seed[4] = {0};
    struct gbm_rng rng = stream("bad", seed);
    real none[3] = {0, -1, GBM_NAN}, x[4] = {-1, 0, 0, -1};
    (void)state;
    assert_true(gbm_is_nan(gbm_draw_gamma(&rng, 0)));
    assert_true(gbm_is_nan(gbm_draw_gamma(&rng, GBM_NAN)));
    assert_true(gbm_is_nan(gbm_draw_beta(&rng, 0, 1)));
    assert_true(gbm_is_nan(gbm_draw_poisson(&rng, -1)));
    assert_true(gbm_is_nan(gbm_draw_binomial(&rng, 3, 2)));
    assert_true(gbm_is_nan(gbm_draw_gig(&rng, 1, 0, 1)));
    assert_true(gbm_draw_gig(&rng, 1, REAL_C(1e35), REAL_C(1e35)) == 1);
    assert_true(gbm_is_nan(gbm_draw_truncated_normal(&rng, 0, 1, 1, 0)));
    assert_true(gbm_is_nan(gbm_draw_truncated_gamma(&rng, -1, 0, 1)));
    assert_true(
        gbm_is_nan(gbm_draw_truncated_normal(&rng, GBM_NAN, 1, 0, GBM_INF)));
    assert_true(gbm_is_nan(gbm_draw_truncated_normal(&rng, 0, GBM_NAN, -1, 2)));
    assert_true(gbm_is_nan(gbm_draw_inverse_gaussian(&rng, GBM_NAN, 1)));
    assert_true(gbm_is_nan(gbm_draw_von_mises(&rng, 0, GBM_NAN)));
    assert_true(gbm_is_nan(gbm_draw_polya_gamma(&rng, 1, GBM_NAN)));
    assert_true(gbm_is_nan(gbm_draw_power_law(&rng, GBM_NAN, 1, 2)));
    assert_true(gbm_is_nan(gbm_draw_power_law(&rng, -2, 0, 2)));
    assert_true(gbm_draw_power_law(&rng, -1, 0, 1) == GBM_TINY);
    assert_true(gbm_draw_poisson(&rng, 0) == 0);
    assert_true(gbm_draw_binomial(&rng, 7, 1) == 7);
    assert_true(gbm_draw_binomial(&rng, 0, REAL_C(0.5)) == 0);
    assert_true(gbm_draw_polya_gamma(&rng, 0, 1) == 0);
    assert_true(gbm_draw_categorical(&rng, none, 3) == 0);
    gbm_draw_wishart(&rng, 2, x, 3, x);
    assert_true(gbm_is_nan(x[0]) && gbm_is_nan(x[3]));
    for (int i = 0; i < 100000; i++) {
        assert_true(gbm_draw_gamma(&rng, REAL_C(1e-5)) > 0);
        real b = gbm_draw_beta(&rng, REAL_C(1e-4), REAL_C(1e-4));
        assert_true(b > 0 && b < 1);
        gbm_draw_dirichlet(&rng, 2, (const real[]){(real)1e-5, (real)1e-5}, x);
        assert_true(x[0] > 0 && x[1] > 0 && x[0] + x[1] <= 1 + 2 * GBM_EPSILON);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementary),
        cmocka_unit_test(wrong_kernels_fail),
        cmocka_unit_test(truncated_normals),
        cmocka_unit_test(truncated_normals_in_rows),
        cmocka_unit_test(truncated_gammas),
        cmocka_unit_test(inverse_gaussians),
        cmocka_unit_test(modified_half_normals),
        cmocka_unit_test(polya_gammas),
        cmocka_unit_test(polya_gamma_series),
        cmocka_unit_test(polya_gamma_sums),
        cmocka_unit_test(polya_gamma_nodes),
        cmocka_unit_test(polya_gamma_bent),
        cmocka_unit_test(counts),
        cmocka_unit_test(vectors),
        cmocka_unit_test(updates),
        cmocka_unit_test(slice_corners),
        cmocka_unit_test(slice_of_two_modes),
        cmocka_unit_test(learned_moments),
        cmocka_unit_test(metropolis_tuning),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
