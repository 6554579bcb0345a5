/* incomplete_beta.h: the beta distribution function and its inverse, and
 * Student's t through them.
 *
 * Continued fraction of Didonato and Morris, "Significant digit computation of
 * the incomplete beta function ratios" (ACM TOMS 18, 1992), equation 9; its
 * length grows like the square root of the smaller parameter. */
#ifndef GBM_INCOMPLETE_BETA_H
#define GBM_INCOMPLETE_BETA_H

#include "elementary.h"
#include "gamma_function.h"
#include "normal_function.h"

#define GBM_BETA_TERMS 100000

/* log of x^a y^b / B(a, b), y = 1 - x. */
GBM_FN real gbm_log_beta_term(real a, real b, real x, real y)
{
    return gbm_log_binomial_term(a, b, x, y) + real_log(a) +
           (real_log(b) - real_log(a + b));
}

/* log I_x(a, b), y = 1 - x, for x at most a / (a + b) or so. */
GBM_FN_BIG real gbm_beta_fraction(real a, real b, real x, real y)
{
    real lambda = a > b ? (a + b) * y - b : a - (a + b) * x;
    real numerator = 1;
    real denominator = a / (a + 1) * (lambda + 1);
    real c = denominator, d = 0, h = denominator;
    for (int i = 1; i < GBM_BETA_TERMS; i++) {
        real n = (real)i, w = a + 2 * n - 1;
        numerator =
            (a + n - 1) / w * ((a + b + n - 1) / w) * n * (b - n) * (x * x);
        denominator = n + n * (b - n) * x / w +
                      (a + n) / (w + 2) * (lambda + 1 + n * (1 + y));
        d = denominator + numerator * d;
        d = 1 / (real_fabs(d) < GBM_LENTZ ? GBM_LENTZ : d);
        c = denominator + numerator / c;
        c = real_fabs(c) < GBM_LENTZ ? GBM_LENTZ : c;
        real factor = c * d;
        h *= factor;
        if (real_fabs(factor - 1) < GBM_EPSILON)
            break;
    }
    return gbm_log_beta_term(a, b, x, y) - real_log(h);
}

/* log I_x(a, b) by a power series in x, for x small: all terms positive after
 * the first if b < 1, and small otherwise as b x <= 0.7. */
GBM_FN_BIG real gbm_beta_series(real a, real b, real x)
{
    real term = 1, sum = 1 / a;
    for (int i = 1; i < 1000; i++) {
        real n = (real)i;
        term *= (n - b) / n * x;
        real next = sum + term / (a + n);
        if (next == sum)
            break;
        sum = next;
    }
    return real_log(sum) + a * real_log(x) - gbm_log_beta(a, b);
}

/* log I_x(a, b) where it is smaller than its complement. */
GBM_FN real gbm_log_beta_tail(real a, real b, real x, real y)
{
    return x * (b > 1 ? b : 1) <= REAL_C(0.7) ? gbm_beta_series(a, b, x)
                                              : gbm_beta_fraction(a, b, x, y);
}

/* I_x(a, b), y = 1 - x; both are given so that neither need cancel. If `upper`
 * its complement I_y(b, a). */
GBM_FN_BIG real gbm_incomplete_beta(real a, real b, real x, real y, bool upper)
{
    if (!(a >= 0 && b >= 0) || x != x)
        return GBM_NAN;
    if (x <= 0 || y <= 0)
        return (x <= 0) == upper ? 1 : 0;
    if (a == 0 || b == 0)
        return (b == 0) == upper ? 1 : 0;
    if (x * (a + b) > a) { /* beyond the mean: the other tail is smaller */
        real t = a;
        a = b;
        b = t;
        t = x;
        x = y;
        y = t;
        upper = !upper;
    }
    const real p = real_exp(gbm_log_beta_tail(a, b, x, y));
    return upper ? 1 - p : p;
}

/* The probability that a beta(a, b) variable is at most x. */
GBM_FN real gbm_beta_i(real a, real b, real x)
{
    return gbm_incomplete_beta(a, b, x, 1 - x, false);
}

/* Logit of the x with I_x(a, b) = p; 0 < p < 1, best for p <= 1/2. Newton's
 * method on log I as a function of logit x, which is concave (see
 * gbm_gamma_log_quantile). The start is below the root, or not far above. */
GBM_FN_BIG real gbm_beta_logit_quantile(real a, real b, real p)
{
    real target = real_log(p);
    real bound = (target + real_log(a) + gbm_log_beta(a, b)) / a;
    real u = bound;
    if (a > REAL_C(0.5) && b > REAL_C(0.5)) {
        real middle = gbm_digamma(a) - gbm_digamma(b);
        real sd = real_sqrt(gbm_trigamma(a) + gbm_trigamma(b));
        u = real_fmax(bound, middle + gbm_probit(p) * sd);
    }
    for (int i = 0; i < 200; i++) {
        real x = gbm_ilogit(u), y = gbm_ilogit(-u);
        if (x < GBM_TINY)
            return bound;
        real value = gbm_incomplete_beta(a, b, x, y, false);
        if (!(value > 0)) {
            u += REAL_C(0.5);
            continue;
        }
        real slope = real_exp(gbm_log_beta_term(a, b, x, y)) / value;
        real step = (target - real_log(value)) / slope;
        step = gbm_clamp(step, -3, 3);
        if (u + step < bound)
            step = bound - u;
        u += step;
        if (real_fabs(step) < 4 * GBM_EPSILON * (1 + real_fabs(u)))
            break;
    }
    return u;
}

/* The p-quantile of beta(a, b). */
GBM_FN real gbm_beta_quantile(real a, real b, real p)
{
    if (!(a > 0 && b > 0) || !(p >= 0 && p <= 1))
        return GBM_NAN;
    if (p == 0 || p == 1)
        return p;
    return gbm_ilogit(p <= REAL_C(0.5) ? gbm_beta_logit_quantile(a, b, p)
                                       : -gbm_beta_logit_quantile(b, a, 1 - p));
}

/* P(T <= t) for Student's t with k degrees of freedom. */
GBM_FN_BIG real gbm_t_p(real k, real t)
{
    if (!(k > 0) || t != t)
        return GBM_NAN;
    if (k > REAL_C(1e10))
        return gbm_phi(t);
    real t2 = t * t, x, y;
    if (t2 < k) {
        x = t2 / k / (1 + t2 / k);
        y = 1 / (1 + t2 / k);
    } else {
        x = 1 / (1 + k / t2);
        y = k / t2 / (1 + k / t2);
    }
    real tail = gbm_incomplete_beta(REAL_C(0.5), k / 2, x, y, true) / 2;
    return t < 0 ? tail : 1 - tail;
}

/* Its inverse. */
GBM_FN_BIG real gbm_t_quantile(real k, real p)
{
    if (!(k > 0) || !(p >= 0 && p <= 1))
        return GBM_NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -GBM_INF : GBM_INF;
    if (k > REAL_C(1e10))
        return gbm_probit(p);
    real half = REAL_C(0.5), off = real_fabs(p - half), t2;
    if (off == 0)
        return 0;
    if (off < REAL_C(0.25))
        t2 = k * real_exp(gbm_beta_logit_quantile(half, k / 2, 2 * off));
    else
        t2 = k * real_exp(-gbm_beta_logit_quantile(k / 2, half,
                                                   2 * (p < half ? p : 1 - p)));
    return p < half ? -real_sqrt(t2) : real_sqrt(t2);
}

#endif
