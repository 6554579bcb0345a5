/* bessel.h: modified Bessel functions of real order, in logarithms. */
#ifndef GBM_BESSEL_H
#define GBM_BESSEL_H

#include "gamma_function.h"

/* log K_nu(x), x > 0, any real nu: K is half the integral over the real line of
 * exp(nu t - x cosh t), which falls off doubly exponentially, so the
 * trapezoidal rule converges exponentially (Trefethen and Weideman, "The
 * exponentially convergent trapezoidal rule", SIAM Review 56, 2014). The sum
 * starts at the maximum and goes both ways until terms vanish. */
GBM_FN_BIG real gbm_log_bessel_k(real nu, real x)
{
    if (!(x >= 0) || nu != nu)
        return GBM_NAN;
    if (x == 0)
        return GBM_INF;
    if (x == GBM_INF)
        return -GBM_INF;
    nu = real_fabs(nu);
    real s = x > nu ? x * real_sqrt(1 + (nu / x) * (nu / x))
                    : nu * real_sqrt(1 + (x / nu) * (x / nu));
    /* exp of the place of the maximum is (nu + s) / x */
    real peak = real_log(nu + s) - real_log(x);
    real step = real_fmin(REAL_C(0.2), REAL_C(0.6) / real_sqrt(s));
    /* exp(nu t - x cosh t) relative to the peak, d from it; with e^peak = (nu +
     * s)/x and e^-peak = (s - nu)/x = x/(nu + s) */
    real up = (nu + s) / 2, down = x * (x / (nu + s)) / 2;
    real sum = 1;
    for (int side = -1; side <= 1; side += 2)
        for (int i = 1; i < 10000; i++) {
            real d = (real)(side * i) * step;
            real term =
                real_exp(nu * d - up * real_expm1(d) - down * real_expm1(-d));
            sum += term;
            if (term < sum * GBM_EPSILON / 16)
                break;
        }
    return nu * peak - s + real_log(sum * step / 2);
}

/* log I_nu(x), x >= 0, nu > -1: the ascending series, whose terms are positive,
 * or for large x the asymptotic one (Abramowitz and Stegun 9.6.10, 9.7.1). */
GBM_FN_BIG real gbm_log_bessel_i(real nu, real x)
{
    if (!(x >= 0) || !(nu > -1))
        return GBM_NAN;
    if (x == 0)
        return nu == 0 ? 0 : (nu > 0 ? -GBM_INF : GBM_INF);
    if (x > 40 && x > nu * nu) {
        real mu = 4 * nu * nu, term = 1, sum = 1;
        for (int k = 1; k < 60; k++) {
            real odd = (real)(2 * k - 1);
            real next = -term * (mu - odd * odd) / (8 * x * (real)k);
            if (real_fabs(next) >= real_fabs(term) && k > 4)
                break;
            term = next;
            sum += term;
            if (real_fabs(term) < GBM_EPSILON / 4)
                break;
        }
        return x - REAL_C(0.5) * (GBM_LOG_2PI + real_log(x)) + real_log(sum);
    }
    /* Terms relative to the largest, number m, in both directions. */
    real y = x * x / 4;
    real m = real_floor((real_sqrt(nu * nu + x * x) - nu) / 2);
    real sum = 1, term = 1;
    for (real k = m + 1; term > sum * GBM_EPSILON / 16; k += 1) {
        term *= y / (k * (k + nu));
        sum += term;
    }
    term = 1;
    for (real k = m; k > 0 && term > sum * GBM_EPSILON / 16; k -= 1) {
        term *= k * (k + nu) / y;
        sum += term;
    }
    return (2 * m + nu) * real_log(x / 2) - gbm_lgamma(m + 1) -
           gbm_lgamma(m + nu + 1) + real_log(sum);
}

GBM_FN real gbm_log_bessel_i0(real x) { return gbm_log_bessel_i(0, x); }

#endif
