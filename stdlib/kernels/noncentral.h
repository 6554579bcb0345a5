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

/* The sum of w_j P(a + j, y) over j, w_j Poisson with mean m, from j = mode on,
 * about which the largest terms are. Bounds of the terms say where they end:
 * P(a + 1, y) is below y/a P(a, y), and below P(a, y). From there down, where
 * nothing cancels, P(a, y) is P(a + 1, y) and a term; Benton and Krishnamoorthy
 * (2003). */
GBM_FN_BIG real gbm_poisson_mixture_of_p(real a, real y, real m, real mode)
{
    real top = mode;
    for (real bound = 1;; top += 1) {
        bound *= m / (top + 1) * real_fmin(1, y / (a + top));
        if (!(bound > GBM_EPSILON / 16))
            break;
    }
    real weight = real_exp(gbm_log_poisson_term(top, m));
    real term = real_exp(gbm_log_poisson_term(a + top, y));
    real p = gbm_gamma_p(a + top, y), sum = weight * p, last = 0;
    for (real j = top; j > 0; j -= 1) {
        term *= (a + j) / y;
        weight *= j / m;
        p += term;
        const real share = weight * p;
        sum += share;
        if (j <= mode && share < last && share < GBM_EPSILON / 16 * sum)
            break;
        last = share;
    }
    return sum;
}

/* The same with a large mode: of a sum of terms that change slowly with j every
 * stride-th is enough, as of an integral by the trapezoidal rule. */
GBM_FN_BIG real gbm_poisson_mixture_of_p_far(real a, real y, real m, real mode)
{
    const real stride = real_floor(real_sqrt(mode) / 4);
    real sum = 0;
    for (int side = -1; side <= 1; side += 2) {
        real share = 1, i = side < 0;
        for (; share > GBM_EPSILON / 16 * sum; i += 1) {
            const real j = mode + (real)side * stride * i;
            if (j < 0)
                break;
            share =
                real_exp(gbm_log_poisson_term(j, m)) * gbm_gamma_p(a + j, y);
            sum += share;
        }
    }
    return stride * sum;
}

/* From which mode on a part of the terms is cheaper than all, and from which on
 * the distribution is a normal one. */
#define GBM_MIXTURE_FAR REAL_C(1e5)
#ifdef GBM_SINGLE
#define GBM_MIXTURE_NORMAL REAL_C(1e10)
#else
#define GBM_MIXTURE_NORMAL REAL_C(1e24)
#endif

/* Its distribution function. */
GBM_FN_BIG real gbm_nchisqr_p(real x, real k, real delta)
{
    if (!(x > 0 && x < GBM_INF))
        return x <= 0 ? 0 : x > 0 ? 1 : GBM_NAN;
    if (!(k < GBM_INF && delta < GBM_INF))
        return GBM_NAN;
    const real half = k / 2, y = x / 2, mean = delta / 2;
    if (delta == 0)
        return gbm_gamma_p(half, y);
    /* far below the mean the largest terms are those of the density */
    const real r = gbm_hypotenuse(half - 1, real_sqrt(x) * real_sqrt(delta));
    const real low = real_fmin(mean, (r - half - 1) / 2);
    const real mode = real_floor(real_fmax(low, 0));
    if (mode > GBM_MIXTURE_NORMAL)
        return gbm_phi((y - half - mean) / real_sqrt(half + delta));
    return real_fmin(mode < GBM_MIXTURE_FAR
                         ? gbm_poisson_mixture_of_p(half, y, mean, mode)
                         : gbm_poisson_mixture_of_p_far(half, y, mean, mode),
                     1);
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

/* A density's log and its distribution function, with two parameters. */
typedef real gbm_two_parameters(real x, real first, real second);

/* x in [low, high] with log p(x) = log p, by Newton's method, as the logarithm
 * of a distribution function is concave where that of its density is; by
 * bisection where a step leaves the bounds or they shrink too slowly. */
GBM_FN_BIG real gbm_quantile_between(real p, real first, real second, real low,
                                     real high, gbm_two_parameters *cdf,
                                     gbm_two_parameters *log_density)
{
    real x = low + (high - low) / 2, before = high - low;
    for (int i = 0; i < 1100; i++) {
        const real reached = cdf(x, first, second);
        if (reached < p)
            low = x;
        else
            high = x;
        real change = -real_log(reached / p) * reached /
                      real_exp(log_density(x, first, second));
        if (real_fabs(change) <= GBM_EPSILON * real_fabs(x))
            return x;
        if (!(x + change > low && x + change < high) ||
            2 * real_fabs(change) > real_fabs(before))
            change = low + (high - low) / 2 - x;
        before = change;
        if (!(x + change > low && x + change < high))
            break;
        x += change;
    }
    return high;
}

/* Quantile of the non-central chi-squared distribution. */
GBM_FN_BIG real gbm_nchisqr_quantile(real p, real k, real delta)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? 0 : (p == 1 ? GBM_INF : GBM_NAN);
    real low = 0, high = k + delta + 1;
    while (gbm_nchisqr_p(high, k, delta) < p) {
        low = high;
        high *= 2;
    }
    while (low == 0 && high > 0 && gbm_nchisqr_p(high / 16, k, delta) > p)
        high /= 16;
    low = real_fmax(low, high / 16);
    return gbm_quantile_between(p, k, delta, low, high, gbm_nchisqr_p,
                                gbm_log_nchisqr_density);
}

/* Quantile of the non-central t: bounds by steps that double. */
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
    return gbm_quantile_between(p, k, ncp, low, high, gbm_nt_p,
                                gbm_log_nt_density);
}

#endif
