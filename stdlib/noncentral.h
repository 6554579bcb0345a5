/* noncentral.h: non-central chi-squared and t distributions. The first as a
 * Poisson mixture of central ones, summed from its largest term; the second by
 * the trapezoidal rule in the logarithm of its mixing variable, which converges
 * geometrically as the integrand is analytic and decays at both ends. */
#ifndef GBM_NONCENTRAL_H
#define GBM_NONCENTRAL_H

#include "gamma_function.h"
#include "incomplete_gamma.h"
#include "normal_function.h"

/* Log density at x of the sum of squares of k normals of variance 1 whose means
 * have sum of squares delta. */
GBM_FN_BIG real gbm_log_nchisqr_density(real x, real k, real delta)
{
    if (!(x > 0)) {
        if (x < 0 || k > 2)
            return -GBM_INF;
        return k == 2 ? -delta / 2 - GBM_LN2 : x == 0 ? GBM_INF : GBM_NAN;
    }
    real product = delta * x / 4, half = k / 2;
    /* the terms' ratio, product / ((j + 1) (half + j)), is 1 at the mode */
    real mode = real_floor(
        (real_sqrt(gbm_square(half - 1) + 4 * product) - half - 1) / 2);
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
    real largest = -(delta + x) / 2 - gbm_lgamma(mode + 1) -
                   gbm_lgamma(half + mode) +
                   (half + mode - 1) * real_log(x / 2) - GBM_LN2;
    if (mode > 0)
        largest += mode * real_log(delta / 2);
    return largest + real_log(sum);
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

/* Log of the integral over y > 0 of y^k exp(-(y - m)^2 / 2), k > 0. */
GBM_FN_BIG real gbm_log_shifted_moment(real k, real m)
{
    /* with y = exp(u) the exponent is (k + 1) u - (exp(u) - m)^2 / 2; the form
     * of the root that does not cancel */
    real root = real_sqrt(m * m + 4 * (k + 1));
    real mode = m > 0 ? (m + root) / 2 : 2 * (k + 1) / (root - m);
    real width = 1 / real_sqrt(mode * (2 * mode - m));
    real step = real_fmin(width / 4, REAL_C(0.1)), centre = real_log(mode);
    real top = (k + 1) * centre - gbm_square(mode - m) / 2, sum = 1;
    for (int side = -1; side <= 1; side += 2) {
        real term = 1;
        for (int i = 1; term > GBM_EPSILON / 8; i++) {
            real u = centre + (real)(side * i) * step;
            term =
                real_exp((k + 1) * u - gbm_square(real_exp(u) - m) / 2 - top);
            sum += term;
        }
    }
    return top + real_log(step * sum);
}

/* Log density at x of (z + ncp) / sqrt(v / k), z standard normal and v
 * chi-squared with k degrees of freedom. Johnson, Kotz and Balakrishnan (1995),
 * Continuous univariate distributions 2, section 31.5. */
GBM_FN_BIG real gbm_log_nt_density(real x, real k, real ncp)
{
    real square = x * x + k;
    return k / 2 * real_log(k) - k * ncp * ncp / (2 * square) -
           real_log(GBM_PI) / 2 - gbm_lgamma(k / 2) - (k - 1) / 2 * GBM_LN2 -
           (k + 1) / 2 * real_log(square) +
           gbm_log_shifted_moment(k, ncp * x / real_sqrt(square));
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
