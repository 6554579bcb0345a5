/* distributions.h: density, distribution function and quantile of JAGS's scalar
 * distributions as functions: JAGS's dnorm(x, mu, tau) is gbm_d_norm(x, mu,
 * tau), pnorm gbm_p_norm, qnorm(p, mu, tau) gbm_q_norm. Parameters are JAGS's,
 * in its order. Quantiles of integers are the least k with P(X <= k) >= p. */
#ifndef GBM_DISTRIBUTIONS_H
#define GBM_DISTRIBUTIONS_H

#include "hypergeometric.h"
#include "incomplete_beta.h"
#include "incomplete_gamma.h"
#include "noncentral.h"

GBM_FN bool gbm_is_whole(real x) { return x == real_floor(x); }

/* The least whole k of [lower, upper] with cdf(q, k) >= p: steps that double
 * from a guess, then bisection. A little less than p will do, as R does: the
 * quantile of a probability that cdf computed is not to be one too large. */
GBM_INLINE real gbm_whole_quantile(real (*cdf)(const real *q, real k),
                                   const real *q, real p, real guess,
                                   real lower, real upper)
{
    if (!(p >= 0 && p <= 1))
        return GBM_NAN;
    if (p == 0 || p == 1)
        return p == 0 ? lower : upper;
    p *= 1 - 64 * GBM_EPSILON;
    real high = gbm_clamp(real_floor(guess), lower, upper), low = high,
         step = 1;
    while (high < upper && cdf(q, high) < p) {
        low = high;
        high = real_fmin(high + step, upper);
        step *= 2;
    }
    if (low == high) { /* the guess was high enough */
        for (step = 1; low > lower && cdf(q, low) >= p; step *= 2) {
            high = low;
            low = real_fmax(low - step, lower);
        }
        if (cdf(q, low) >= p)
            return low;
    }
    while (high - low > 1) { /* cdf(low) < p <= cdf(high) */
        real middle = real_floor(low + (high - low) / 2);
        if (middle <= low || middle >= high)
            break;
        if (cdf(q, middle) < p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Bernoulli(p) */
GBM_FN real gbm_d_bern(real x, real p)
{
    return x == 1 ? p : (x == 0 ? 1 - p : 0);
}

GBM_FN real gbm_p_bern(real x, real p)
{
    return x < 0 ? 0 : (x < 1 ? 1 - p : 1);
}

GBM_FN real gbm_q_bern(real q, real p) { return q > 1 - p ? 1 : 0; }

/* beta(a, b) */
GBM_FN real gbm_d_beta(real x, real a, real b)
{
    if (x < 0 || x > 1)
        return 0;
    if (x == 0 || x == 1) {
        real edge = x == 0 ? a : b;
        return edge < 1 ? GBM_INF : (edge == 1 ? (x == 0 ? b : a) : 0);
    }
    return real_exp(gbm_log_beta_term(a, b, x, 1 - x) - real_log(x) -
                    real_log1p(-x));
}

GBM_FN real gbm_p_beta(real x, real a, real b) { return gbm_beta_i(a, b, x); }

GBM_FN real gbm_q_beta(real p, real a, real b)
{
    return gbm_beta_quantile(a, b, p);
}

/* binomial(p, n): probability first */
GBM_FN real gbm_d_bin(real x, real p, real n)
{
    if (!(x >= 0 && x <= n && gbm_is_whole(x)))
        return 0;
    return real_exp(gbm_log_binomial_term(x, n - x, p, 1 - p));
}

GBM_FN real gbm_p_bin(real x, real p, real n)
{
    x = real_floor(x);
    if (x < 0 || x >= n)
        return x < 0 ? 0 : 1;
    return gbm_incomplete_beta(x + 1, n - x, p, 1 - p, true);
}

GBM_FN real gbm_bin_cdf(const real *q, real k)
{
    return gbm_p_bin(k, q[0], q[1]);
}

GBM_FN_BIG real gbm_q_bin(real q, real p, real n)
{
    real both[2] = {p, n}, sd = real_sqrt(n * p * (1 - p));
    return gbm_whole_quantile(gbm_bin_cdf, both, q, n * p + sd * gbm_probit(q),
                              0, n);
}

/* gamma(r, lambda): shape and rate */
GBM_FN real gbm_d_gamma(real x, real r, real lambda)
{
    if (x <= 0)
        return x < 0 || r > 1 ? 0 : (r == 1 ? lambda : GBM_INF);
    return real_exp(gbm_log_poisson_term(r, lambda * x)) * (r / x);
}

GBM_FN real gbm_p_gamma(real x, real r, real lambda)
{
    return gbm_gamma_p(r, lambda * x);
}

GBM_FN real gbm_q_gamma(real p, real r, real lambda)
{
    return gbm_gamma_quantile(r, p) / lambda;
}

/* chi-square(k) */
GBM_FN real gbm_d_chisqr(real x, real k)
{
    return gbm_d_gamma(x, k / 2, REAL_C(0.5));
}

GBM_FN real gbm_p_chisqr(real x, real k) { return gbm_gamma_p(k / 2, x / 2); }

GBM_FN real gbm_q_chisqr(real p, real k)
{
    return 2 * gbm_gamma_quantile(k / 2, p);
}

/* double exponential(mu, tau): location and rate */
GBM_FN real gbm_d_dexp(real x, real mu, real tau)
{
    return tau / 2 * real_exp(-tau * real_fabs(x - mu));
}

GBM_FN real gbm_p_dexp(real x, real mu, real tau)
{
    real z = tau * (x - mu);
    return z < 0 ? real_exp(z) / 2 : 1 - real_exp(-z) / 2;
}

GBM_FN real gbm_q_dexp(real p, real mu, real tau)
{
    if (!(p >= 0 && p <= 1))
        return GBM_NAN;
    return p < REAL_C(0.5) ? mu + real_log(2 * p) / tau
                           : mu - real_log(2 * (1 - p)) / tau;
}

/* exponential(lambda): rate */
GBM_FN real gbm_d_exp(real x, real lambda)
{
    return x < 0 ? 0 : lambda * real_exp(-lambda * x);
}

GBM_FN real gbm_p_exp(real x, real lambda)
{
    return x < 0 ? 0 : -real_expm1(-lambda * x);
}

GBM_FN real gbm_q_exp(real p, real lambda) { return -real_log1p(-p) / lambda; }

/* F(n, m): degrees of freedom of numerator and denominator */
GBM_FN real gbm_d_f(real x, real n, real m)
{
    if (x <= 0)
        return x < 0 || n > 2 ? 0 : (n == 2 ? 1 : GBM_INF);
    real u = n * x / m; /* the odds of the beta variable */
    return real_exp(gbm_log_beta_term(n / 2, m / 2, u / (1 + u), 1 / (1 + u))) /
           x;
}

GBM_FN real gbm_p_f(real x, real n, real m)
{
    if (x <= 0)
        return 0;
    real u = n * x / m;
    return gbm_incomplete_beta(n / 2, m / 2, u / (1 + u), 1 / (1 + u), false);
}

GBM_FN real gbm_q_f(real p, real n, real m)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? 0 : (p == 1 ? GBM_INF : GBM_NAN);
    real u = p <= REAL_C(0.5) ? gbm_beta_logit_quantile(n / 2, m / 2, p)
                              : -gbm_beta_logit_quantile(m / 2, n / 2, 1 - p);
    return m / n * real_exp(u);
}

/* generalised gamma(r, lambda, b): (lambda x)^b is gamma(r, 1) */
GBM_FN real gbm_d_gen_gamma(real x, real r, real lambda, real b)
{
    if (x <= 0)
        return x < 0 || r * b > 1 ? 0 : (r * b == 1 ? lambda : GBM_INF);
    real y = real_pow(lambda * x, b);
    return real_exp(gbm_log_poisson_term(r, y)) * (b * r / x);
}

GBM_FN real gbm_p_gen_gamma(real x, real r, real lambda, real b)
{
    return x <= 0 ? 0 : gbm_gamma_p(r, real_pow(lambda * x, b));
}

GBM_FN real gbm_q_gen_gamma(real p, real r, real lambda, real b)
{
    return real_pow(gbm_gamma_quantile(r, p), 1 / b) / lambda;
}

/* Fisher's noncentral hypergeometric(n1, n2, m1, psi) */
GBM_FN_BIG real gbm_hyper_part(real x, const struct gbm_hypergeometric *h,
                               bool below)
{
    /* the weight of x, and of all below it: along the ratios from the mode */
    real weight = 1, sum;
    for (real k = h->mode + 1; k <= x; k += 1)
        weight *= gbm_hyper_ratio(h, k);
    for (real k = h->mode; k > x; k -= 1)
        weight /= gbm_hyper_ratio(h, k);
    sum = weight;
    for (real k = x; below && k > h->lower; k -= 1) {
        weight /= gbm_hyper_ratio(h, k);
        sum += weight;
        if (k <= h->mode && weight < sum * GBM_EPSILON / 16)
            break;
    }
    return sum / h->total;
}

GBM_FN real gbm_log_hyper_total(real n1, real n2, real m1, real psi)
{
    if (!(n1 >= 0 && n2 >= 0 && m1 >= 0 && m1 <= n1 + n2 && psi > 0))
        return GBM_NAN;
    struct gbm_hypergeometric h = gbm_hyper(n1, n2, m1, psi);
    return gbm_log_choose(h.n1, h.mode) + gbm_log_choose(h.n2, h.m1 - h.mode) +
           h.mode * real_log(psi) + real_log(h.total);
}

GBM_FN real gbm_d_hyper(real x, real n1, real n2, real m1, real psi)
{
    struct gbm_hypergeometric h = gbm_hyper(n1, n2, m1, psi);
    if (!(x >= h.lower && x <= h.upper && gbm_is_whole(x)))
        return 0;
    return gbm_hyper_part(x, &h, false);
}

GBM_FN real gbm_p_hyper(real x, real n1, real n2, real m1, real psi)
{
    struct gbm_hypergeometric h = gbm_hyper(n1, n2, m1, psi);
    x = real_floor(x);
    if (!(x >= h.lower && x < h.upper))
        return x < h.lower ? 0 : 1;
    return real_fmin(gbm_hyper_part(x, &h, true), 1);
}

GBM_FN real gbm_hyper_cdf(const real *q, real k)
{
    return gbm_p_hyper(k, q[0], q[1], q[2], q[3]);
}

GBM_FN_BIG real gbm_q_hyper(real p, real n1, real n2, real m1, real psi)
{
    real all[4] = {n1, n2, m1, psi};
    struct gbm_hypergeometric h = gbm_hyper(n1, n2, m1, psi);
    return gbm_whole_quantile(gbm_hyper_cdf, all, p, h.mode, h.lower, h.upper);
}

/* logistic(mu, tau): location and inverse scale */
GBM_FN real gbm_d_logis(real x, real mu, real tau)
{
    real e = real_exp(-real_fabs(tau * (x - mu)));
    return tau * e / gbm_square(1 + e);
}

GBM_FN real gbm_p_logis(real x, real mu, real tau)
{
    return gbm_ilogit(tau * (x - mu));
}

GBM_FN real gbm_q_logis(real p, real mu, real tau)
{
    return mu + gbm_logit(p) / tau;
}

/* normal(mu, tau): mean and precision */
GBM_FN real gbm_d_norm(real x, real mu, real tau)
{
    real root = real_sqrt(tau);
    return root * gbm_phi_density((x - mu) * root);
}

GBM_FN real gbm_p_norm(real x, real mu, real tau)
{
    return gbm_phi((x - mu) * real_sqrt(tau));
}

GBM_FN real gbm_q_norm(real p, real mu, real tau)
{
    return mu + gbm_probit(p) / real_sqrt(tau);
}

/* log-normal(mu, tau) */
GBM_FN real gbm_d_lnorm(real x, real mu, real tau)
{
    return x > 0 ? gbm_d_norm(real_log(x), mu, tau) / x : 0;
}

GBM_FN real gbm_p_lnorm(real x, real mu, real tau)
{
    return x > 0 ? gbm_p_norm(real_log(x), mu, tau) : 0;
}

GBM_FN real gbm_q_lnorm(real p, real mu, real tau)
{
    return real_exp(gbm_q_norm(p, mu, tau));
}

/* negative binomial(p, r): failures before success number r */
GBM_FN real gbm_d_negbin(real x, real p, real r)
{
    if (!(x >= 0 && gbm_is_whole(x)))
        return 0;
    if (r == 0)
        return x == 0 ? 1 : 0;
    return real_exp(gbm_log_binomial_term(r, x, p, 1 - p)) * (r / (r + x));
}

GBM_FN real gbm_p_negbin(real x, real p, real r)
{
    if (x < 0)
        return 0;
    return gbm_incomplete_beta(r, real_floor(x) + 1, p, 1 - p, false);
}

GBM_FN real gbm_negbin_cdf(const real *q, real k)
{
    return gbm_p_negbin(k, q[0], q[1]);
}

GBM_FN_BIG real gbm_q_negbin(real q, real p, real r)
{
    real both[2] = {p, r}, mean = r * (1 - p) / p;
    real guess = mean + real_sqrt(mean / p) * gbm_probit(q);
    return gbm_whole_quantile(gbm_negbin_cdf, both, q,
                              q > 0 && q < 1 ? guess : 0, 0, GBM_INF);
}

/* noncentral chi-square(k, delta) */
GBM_FN real gbm_d_nchisqr(real x, real k, real delta)
{
    return real_exp(gbm_log_nchisqr_density(x, k, delta));
}

GBM_FN real gbm_p_nchisqr(real x, real k, real delta)
{
    return gbm_nchisqr_p(x, k, delta);
}

GBM_FN real gbm_q_nchisqr(real p, real k, real delta)
{
    return gbm_nchisqr_quantile(p, k, delta);
}

/* Pareto(alpha, c): density alpha c^alpha x^-(alpha+1), x > c */
GBM_FN real gbm_d_par(real x, real alpha, real c)
{
    return x < c ? 0 : alpha / x * real_pow(c / x, alpha);
}

GBM_FN real gbm_p_par(real x, real alpha, real c)
{
    return x < c ? 0 : -real_expm1(alpha * real_log(c / x));
}

GBM_FN real gbm_q_par(real p, real alpha, real c)
{
    return c * real_exp(-real_log1p(-p) / alpha);
}

/* Poisson(lambda) */
GBM_FN real gbm_d_pois(real x, real lambda)
{
    if (!(x >= 0 && gbm_is_whole(x)))
        return 0;
    return real_exp(gbm_log_poisson_term(x, lambda));
}

GBM_FN real gbm_p_pois(real x, real lambda)
{
    return x < 0 ? 0 : gbm_gamma_q(real_floor(x) + 1, lambda);
}

GBM_FN real gbm_pois_cdf(const real *q, real k) { return gbm_p_pois(k, *q); }

GBM_FN_BIG real gbm_q_pois(real p, real lambda)
{
    real guess = lambda + real_sqrt(lambda) * gbm_probit(p);
    return gbm_whole_quantile(gbm_pois_cdf, &lambda, p,
                              p > 0 && p < 1 ? guess : 0, 0, GBM_INF);
}

/* t(mu, tau, k): location, precision, degrees of freedom */
GBM_FN_BIG real gbm_d_t(real x, real mu, real tau, real k)
{
    real z = (x - mu) * real_sqrt(tau);
    real constant =
        -gbm_log_beta(REAL_C(0.5), k / 2) + REAL_C(0.5) * real_log(tau / k);
    return real_exp(constant - (k + 1) / 2 * real_log1p(z * (z / k)));
}

GBM_FN real gbm_p_t(real x, real mu, real tau, real k)
{
    return gbm_t_p(k, (x - mu) * real_sqrt(tau));
}

GBM_FN real gbm_q_t(real p, real mu, real tau, real k)
{
    return mu + gbm_t_quantile(k, p) / real_sqrt(tau);
}

/* Weibull(v, lambda): density v lambda x^(v-1) exp(-lambda x^v) */
GBM_FN real gbm_d_weib(real x, real v, real lambda)
{
    if (x <= 0)
        return x < 0 || v > 1 ? 0 : (v == 1 ? lambda : GBM_INF);
    return v * lambda *
           real_exp((v - 1) * real_log(x) - lambda * real_pow(x, v));
}

GBM_FN real gbm_p_weib(real x, real v, real lambda)
{
    return x <= 0 ? 0 : -real_expm1(-lambda * real_pow(x, v));
}

GBM_FN real gbm_q_weib(real p, real v, real lambda)
{
    return real_pow(-real_log1p(-p) / lambda, 1 / v);
}

#endif
