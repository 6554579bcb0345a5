/* guide_laws.c: the distributions of a number that a guided proposal may be:
 * each by two statistics that its log density is linear in, which tell its
 * parameters, as those of conjugate pairs do. */
#include "filter/guide.h"
#include "gbm.h"

#include <math.h>

static void normal_statistics(double x, double t[2])
{
    t[0] = x;
    t[1] = x * x;
}

/* Mean and precision. */
static bool normal_parameters(double a, double b, double p[2])
{
    p[1] = -2 * b;
    p[0] = a / p[1];
    return p[1] > 0 && isfinite(p[1]) && isfinite(p[0]);
}

static double normal_draw(struct gbm_rng *rng, const double p[2])
{
    return p[0] + gbm_draw_normal(rng) / sqrt(p[1]);
}

static double normal_logdensity(double x, const double p[2])
{
    return 0.5 * log(p[1]) - GBM_LOG_SQRT_2PI -
           0.5 * p[1] * (x - p[0]) * (x - p[0]);
}

static void normal_ends(const double p[2], double ends[2])
{
    ends[0] = p[0] - 4 / sqrt(p[1]);
    ends[1] = p[0] + 4 / sqrt(p[1]);
}

static void lognormal_statistics(double x, double t[2])
{
    normal_statistics(log(x), t);
}

static bool lognormal_parameters(double a, double b, double p[2])
{
    return normal_parameters(a + 1, b, p);
}

static double lognormal_draw(struct gbm_rng *rng, const double p[2])
{
    return exp(normal_draw(rng, p));
}

static double lognormal_logdensity(double x, const double p[2])
{
    return normal_logdensity(log(x), p) - log(x);
}

static void lognormal_ends(const double p[2], double ends[2])
{
    normal_ends(p, ends);
    ends[0] = exp(ends[0]);
    ends[1] = exp(ends[1]);
}

static void gamma_statistics(double x, double t[2])
{
    t[0] = log(x);
    t[1] = x;
}

/* Shape and rate. */
static bool gamma_parameters(double a, double b, double p[2])
{
    p[0] = a + 1;
    p[1] = -b;
    return p[0] > 0 && p[1] > 0 && isfinite(p[0]) && isfinite(p[1]);
}

static double gamma_draw(struct gbm_rng *rng, const double p[2])
{
    return gbm_draw_gamma(rng, p[0]) / p[1];
}

static double gamma_logdensity(double x, const double p[2])
{
    return p[0] * log(p[1]) - gbm_lgamma(p[0]) + (p[0] - 1) * log(x) - p[1] * x;
}

static void gamma_ends(const double p[2], double ends[2])
{
    const double mean = p[0] / p[1], sds = 4 / sqrt(p[0]);
    ends[0] = mean * exp(-sds);
    ends[1] = mean * (1 + sds);
}

static void beta_statistics(double x, double t[2])
{
    t[0] = log(x);
    t[1] = log1p(-x);
}

static bool beta_parameters(double a, double b, double p[2])
{
    p[0] = a + 1;
    p[1] = b + 1;
    return p[0] > 0 && p[1] > 0 && isfinite(p[0]) && isfinite(p[1]);
}

static double beta_draw(struct gbm_rng *rng, const double p[2])
{
    return gbm_draw_beta(rng, p[0], p[1]);
}

static double beta_logdensity(double x, const double p[2])
{
    return gbm_lgamma(p[0] + p[1]) - gbm_lgamma(p[0]) - gbm_lgamma(p[1]) +
           (p[0] - 1) * log(x) + (p[1] - 1) * log1p(-x);
}

static void beta_ends(const double p[2], double ends[2])
{
    const double sum = p[0] + p[1], mean = p[0] / sum, rest = p[1] / sum;
    const double sds = 4 * sqrt(mean * rest / (sum + 1));
    ends[0] = mean * exp(-sds / mean);
    ends[1] = 1 - rest * exp(-sds / rest);
}

const struct rt_guide_law rt_guide_laws[RT_LAWS] = {
    [RT_LAW_NORMAL] = {-(double)INFINITY, (double)INFINITY, normal_statistics,
                       normal_parameters, normal_draw, normal_logdensity,
                       normal_ends},
    [RT_LAW_GAMMA] = {0, (double)INFINITY, gamma_statistics, gamma_parameters,
                      gamma_draw, gamma_logdensity, gamma_ends},
    [RT_LAW_LOGNORMAL] = {0, (double)INFINITY, lognormal_statistics,
                          lognormal_parameters, lognormal_draw,
                          lognormal_logdensity, lognormal_ends},
    [RT_LAW_BETA] = {0, 1, beta_statistics, beta_parameters, beta_draw,
                     beta_logdensity, beta_ends}};
