/* noncentral.h: non-central chi-squared and t distributions. The first as a
 * Poisson mixture of central ones, summed from its largest term; the second by
 * the trapezoidal rule in the logarithm of its mixing variable, which converges
 * geometrically as the integrand is analytic and decays at both ends. */
#ifndef GBM_NONCENTRAL_H
#define GBM_NONCENTRAL_H

#include "gamma_function.h"
#include "incomplete_gamma.h"
#include "normal_function.h"

/* From where on two terms of Debye's expansion are enough. */
#ifdef GBM_SINGLE
#define GBM_DEBYE REAL_C(100)
#else
#define GBM_DEBYE REAL_C(1e4)
#endif

/* Log of the density below with r = sqrt(nu^2 + delta x) large, nu = k/2 - 1,
 * by Debye's expansion of the Bessel function I of order nu; Abramowitz and
 * Stegun (1964), 9.7.7. */
GBM_FN real gbm_log_nchisqr_far(real x, real nu, real delta, real r)
{
    const real a = real_sqrt(x), b = real_sqrt(delta), z = a * b;
    const real p = gbm_square(nu / r);
    const real terms = (3 - 5 * p) / (24 * r) +
                       (81 - 462 * p + 385 * p * p) / (1152 * gbm_square(r));
    const real growth = (x - r) / (nu + r) - nu / (nu + r);
    const real ratio = growth > REAL_C(-0.5) && growth < 1
                           ? real_log1p(growth)
                           : real_log(x / (nu + r));
    return -gbm_square((x - delta) / (a + b)) / 2 + nu / (r + z) * nu +
           nu * ratio - (real_log(r) + GBM_LOG_2PI) / 2 - GBM_LN2 +
           real_log1p(terms);
}

/* Log density at x of the sum of squares of k normals of variance 1 whose means
 * have sum of squares delta. */
GBM_FN_BIG real gbm_log_nchisqr_density(real x, real k, real delta)
{
    if (!(x > 0)) {
        if (x < 0 || k > 2)
            return -GBM_INF;
        return k == 2 ? -delta / 2 - GBM_LN2 : x == 0 ? GBM_INF : GBM_NAN;
    }
    if (!(x < GBM_INF && k < GBM_INF && delta < GBM_INF))
        return x == GBM_INF && k < GBM_INF && delta < GBM_INF ? -GBM_INF
                                                              : GBM_NAN;
    real half = k / 2;
    real r = gbm_hypotenuse(half - 1, real_sqrt(x) * real_sqrt(delta));
    if (r > GBM_DEBYE)
        return gbm_log_nchisqr_far(x, half - 1, delta, r);
    real product = delta * x / 4;
    /* the terms' ratio, product / ((j + 1) (half + j)), is 1 at the mode */
    real mode = real_floor((r - half - 1) / 2);
    mode = real_fmax(mode, 0);
    real sum = 1, term = 1;
    for (real j = mode; term > GBM_EPSILON / 8 * sum; j += 1) {
        term *= product / ((j + 1) * (half + j));
        sum += term;
    }
    term = 1;
    for (real j = mode; j > 0 && term > GBM_EPSILON / 8 * sum; j -= 1) {
        term *= j * (half + j - 1) / product;
        sum += term;
    }
    const real shape = half + mode;
    return gbm_log_poisson_term(mode, delta / 2) +
           gbm_log_poisson_term(shape, x / 2) + real_log(shape / x) +
           real_log(sum);
}

/* Its distribution function. */
GBM_FN_BIG real gbm_nchisqr_p(real x, real k, real delta)
{
    if (!(x > 0))
        return x <= 0 ? 0 : GBM_NAN;
    real mean = delta / 2, mode = real_floor(mean);
    real first = real_exp((mode > 0 ? mode * real_log(mean) : 0) - mean -
                          gbm_lgamma(mode + 1));
    real sum = 0, weight = first;
    for (real j = mode; weight > GBM_EPSILON / 8 * first; j += 1) {
        sum += weight * gbm_gamma_p(k / 2 + j, x / 2);
        weight *= mean / (j + 1);
    }
    weight = first;
    for (real j = mode; j > 0 && weight > GBM_EPSILON / 8 * first; j -= 1) {
        weight *= j / mean;
        sum += weight * gbm_gamma_p(k / 2 + j - 1, x / 2);
    }
    return real_fmin(sum, 1);
}

/* Log of the integral over y > 0 of (y/s)^k exp(-(y - m)^2 / 2), times s^-1;
 * k, s > 0. With y = exp(u) the exponent is (k + 1) u - (exp(u) - m)^2 / 2,
 * here from its top, and in forms that do not cancel. */
GBM_FN_BIG real gbm_log_shifted_moment(real k, real m, real s)
{
    const real root = gbm_hypotenuse(m, 2 * real_sqrt(k + 1));
    const real mode = m > 0 ? (m + root) / 2 : 2 * (k + 1) / (root - m);
    const real above = (k + 1) / mode; /* mode - m */
    const real width = 1 / (real_sqrt(mode) * real_sqrt(mode + above));
    const real step = real_fmin(width / 4, REAL_C(0.1));
    real sum = 1;
    for (int side = -1; side <= 1; side += 2) {
        real term = 1;
        for (int i = 1; term > GBM_EPSILON / 8; i++) {
            const real u = (real)(side * i) * step, part = real_expm1(u);
            term = real_exp((k + 1) * (u - part) - gbm_square(mode * part) / 2);
            sum += term;
        }
    }
    return (k + 1) * real_log(mode / s) - gbm_square(above) / 2 +
           real_log(step) + real_log(sum);
}

/* Log density at x of (z + ncp) / sqrt(v / k), z standard normal and v
 * chi-squared with k degrees of freedom. Johnson, Kotz and Balakrishnan (1995),
 * Continuous univariate distributions 2, section 31.5; log Gamma(k / 2) by
 * Stirling's series, whose large terms cancel. */
GBM_FN_BIG real gbm_log_nt_density(real x, real k, real ncp)
{
    const real root = real_sqrt(k), s = gbm_hypotenuse(x, root);
    return (real_log(k) + k - gbm_square(ncp * (root / s)) - GBM_LOG_2PI -
            real_log(GBM_PI)) /
               2 -
           gbm_stirling_error(k / 2) +
           gbm_log_shifted_moment(k, ncp * (x / s), s);
}

/* Its distribution function: the mean of phi(x w - ncp) over w = sqrt(v/k). */
GBM_FN_BIG real gbm_nt_p(real x, real k, real ncp)
{
    real steepest = real_fmax(real_fabs(ncp), real_fabs(x));
    real step = real_fmin(1 / real_sqrt(32 * k),
                          REAL_C(0.3) / (1 + real_fmin(steepest, 40)));
    step = real_fmin(step, REAL_C(0.1));
    real total = 1, sum = gbm_phi(x - ncp);
    for (int side = -1; side <= 1; side += 2) {
        real weight = 1;
        for (int i = 1; weight > GBM_EPSILON / 8; i++) {
            real u = (real)(side * i) * step;
            weight = real_exp(k * (u - real_expm1(2 * u) / 2));
            total += weight;
            sum += weight * gbm_phi(x * real_exp(u) - ncp);
        }
    }
    return real_fmin(sum / total, 1);
}

/* Its quantile: bounds by steps that double, then bisection. */
GBM_FN_BIG real gbm_nt_quantile(real p, real k, real ncp)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? -GBM_INF : (p == 1 ? GBM_INF : GBM_NAN);
    real low = ncp - 1, high = ncp + 1;
    for (real step = 1; gbm_nt_p(low, k, ncp) > p && step < GBM_HUGE; step *= 2)
        low -= step;
    for (real step = 1; gbm_nt_p(high, k, ncp) < p && step < GBM_HUGE;
         step *= 2)
        high += step;
    for (int i = 0; i < 200; i++) {
        real middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            break;
        if (gbm_nt_p(middle, k, ncp) < p)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

#endif
