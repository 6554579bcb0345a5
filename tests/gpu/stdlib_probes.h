/* stdlib_probes.h: calls of stdlib's functions, the same text for host and
 * device. u, v, w are parameters in (0, 1) that differ from element to element.
 */
#ifndef STDLIB_PROBES_H
#define STDLIB_PROBES_H

#include "gbm.h"

#define PROBE_ELEMENTS 4096

GBM_FN real probe_gamma_density(const void *context, real x)
{
    real shape = *(const real *)context;
    return x > 0 ? (shape - 1) * real_log(x) - x : -GBM_INF;
}

GBM_FN real probe_poisson_density(const void *context, real x)
{
    real mean = *(const real *)context;
    return x < 0 ? -GBM_INF : x * real_log(mean) - gbm_lgamma(x + 1);
}

GBM_FN real probe_slice(struct gbm_rng *rng, real u)
{
    real width = 1, shape = 1 + 3 * u;
    return gbm_slice(rng, shape, &width, 1, 0, GBM_INF, probe_gamma_density,
                     &shape) +
           width;
}

GBM_FN real probe_slice_integer(struct gbm_rng *rng, real u)
{
    real width = 2, mean = 1 + 20 * u;
    return gbm_slice_integer(rng, 5, &width, 1, 0, GBM_INF,
                             probe_poisson_density, &mean);
}

GBM_FN real probe_enumerate(struct gbm_rng *rng, real u)
{
    real mean = 1 + 20 * u;
    return gbm_enumerate_draw(rng, 0, 50, probe_poisson_density, &mean);
}

/* The functions of C of an integer, which a model's constants may be. */
GBM_FN real probe_of_integer(int n)
{
    real one = real_log(n) + real_log2(n) + real_log10(n) + real_log1p(n) +
               real_exp(n) + real_exp2(n) + real_expm1(n) + real_sqrt(n) +
               real_cbrt(n) + real_fabs(n) + real_floor(n) + real_ceil(n) +
               real_round(n) + real_trunc(n) + real_sin(n) + real_cos(n) +
               real_tan(n) + real_atan(n) + real_sinh(n) + real_cosh(n) +
               real_tanh(n) + real_asinh(n) + real_acosh(n) + real_erf(n) +
               real_erfc(n);
    real small = real_asin(n - 1) + real_acos(n - 1) + real_atanh(n - 1);
    return one + (n == 1 ? small : 0) + real_pow(n, n) + real_pow(one, n) +
           real_fmod(n, 2) + real_atan2(n, one) + real_copysign(one, n);
}

/* A well conditioned symmetric matrix of 3 rows. */
GBM_FN void probe_matrix(real u, real v, real *x)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            x[3 * i + j] = i == j ? 2 + u : v / (real)(1 + i + j);
}

GBM_FN real probe_vector(struct gbm_rng *rng, int which, real u, real v)
{
    real x[36] = {0}, *y = x + 9;
    probe_matrix(u, v, x);
    if (which == 0) {
        gbm_draw_wishart(rng, 3, x, 4 + u, y);
    } else if (which == 1) {
        gbm_draw_mvn_precision(rng, 3, x, x, y);
    } else if (which == 2) {
        gbm_draw_mvt(rng, 3, x, x, 3 + u, y);
    } else if (which == 3) {
        gbm_draw_dirichlet(rng, 3, x, y);
    } else if (which == 4) {
        gbm_draw_multinomial(rng, 3, x, 50, y);
    } else if (which == 5) {
        gbm_gaussian_draw(rng, 3, x, x + 20, y);
    } else if (which == 6) {
        gbm_mexp(3, x, y);
    } else if (which == 7) {
        gbm_inverse(3, x, y);
    } else if (which == 8) {
        gbm_rank(3, x + 3, y);
        gbm_sort(3, x, x + 30);
        y[1] += x[31];
    } else {
        gbm_draw_mvn_covariance(rng, 3, x, x, y);
    }
    return y[0] + y[1] + y[2] / 2;
}

#define PROBES(X)                                                              \
    X(uniform, gbm_uniform(rng) + gbm_uniform(rng))                            \
    X(normal, gbm_draw_normal(rng))                                            \
    X(integer, probe_of_integer(1 + (int)(5 * u)))                             \
    X(exponential, gbm_draw_exponential(rng))                                  \
    X(gamma, gbm_draw_gamma(rng, 3 * u))                                       \
    X(inverse_gamma, gbm_draw_inverse_gamma(rng, 1 + 3 * u))                   \
    X(beta, gbm_draw_beta(rng, 3 * u, 2 * v))                                  \
    X(truncated_normal,                                                        \
      gbm_draw_truncated_normal(rng, 0, 1, 20 * u - 10, 20 * u - 9 + v))       \
    X(tail_normal, gbm_draw_truncated_normal(rng, -50 * u, 1, 0, GBM_INF))     \
    X(truncated_gamma, gbm_draw_truncated_gamma(rng, 9 * u - 2, v, v + 4 * w)) \
    X(power_law, gbm_draw_power_law(rng, 9 * u - 5, v, v + 1))                 \
    X(poisson, gbm_draw_poisson(rng, 100 * u * u))                             \
    X(binomial, gbm_draw_binomial(rng, 100, u))                                \
    X(negative_binomial, gbm_draw_negative_binomial(rng, u, 5 * v))            \
    X(hypergeometric, gbm_draw_hypergeometric(rng, 20, 30, 15, 3 * u))         \
    X(inverse_gaussian, gbm_draw_inverse_gaussian(rng, 1 / u, 3 * v))          \
    X(gig, gbm_draw_gig(rng, 8 * u - 4, 3 * v, 3 * w))                         \
    X(modified_half_normal,                                                    \
      gbm_draw_modified_half_normal(rng, 3 * u, 9 * v - 5, 2 * w))             \
    X(polya_gamma, gbm_draw_polya_gamma(rng, 1, 10 * v))                       \
    X(polya_gamma_sum, gbm_draw_polya_gamma(rng, 10 * u, 10 * v))              \
    X(von_mises, gbm_draw_von_mises(rng, u, 10 * v))                           \
    X(slice, probe_slice(rng, u))                                              \
    X(slice_integer, probe_slice_integer(rng, u))                              \
    X(enumerate, probe_enumerate(rng, u))                                      \
    X(wishart, probe_vector(rng, 0, u, v))                                     \
    X(mvn_precision, probe_vector(rng, 1, u, v))                               \
    X(mvt, probe_vector(rng, 2, u, v))                                         \
    X(dirichlet, probe_vector(rng, 3, u, v))                                   \
    X(multinomial, probe_vector(rng, 4, u, v))                                 \
    X(gaussian, probe_vector(rng, 5, u, v))                                    \
    X(mexp, probe_vector(rng, 6, u, v))                                        \
    X(inverse, probe_vector(rng, 7, u, v))                                     \
    X(rank, probe_vector(rng, 8, u, v))                                        \
    X(mvn_covariance, probe_vector(rng, 9, u, v))                              \
    X(lgamma, gbm_lgamma(30 * u - 5))                                          \
    X(digamma, gbm_digamma(30 * u) + gbm_trigamma(30 * v))                     \
    X(phi, gbm_phi(8 * u - 6) + gbm_log_phi(40 * v - 30) + gbm_probit(w))      \
    X(gamma_p, gbm_gamma_p(300 * u, 300 * v) + gbm_gamma_q(u, v))              \
    X(gamma_quantile, gbm_gamma_quantile(30 * u, v))                           \
    X(beta_i, gbm_beta_i(30 * u, 30 * v, w))                                   \
    X(beta_quantile, gbm_beta_quantile(1 + 30 * u, 1 + 30 * v, w))             \
    X(t_quantile, gbm_t_quantile(1 + 30 * u, v) + gbm_t_p(1 + 9 * u, w))       \
    X(gig_total,                                                               \
      gbm_log_gig_total(8 * u - 4, 3 * v,                                      \
                        w < REAL_C(0.2) && u > REAL_C(0.5) ? 0 : 3 * w))       \
    X(bessel,                                                                  \
      gbm_log_bessel_k(9 * u, 9 * v) + gbm_log_bessel_i(9 * u, 50 * w))        \
    X(bessel_j, gbm_bessel_j(9 * u, 20 * v) + 1)                               \
    X(densities, gbm_d_hyper(5, 10, 20, 12, 3 * u) + gbm_d_t(u, v, w, 3) +     \
                     gbm_d_bin(3, u, 10) + gbm_q_pois(v, 30 * w))

#endif
