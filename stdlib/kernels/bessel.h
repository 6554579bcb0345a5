/* bessel.h: Bessel functions of real order; the modified ones in logarithms. */
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
    real others = 0, term = 1;
    for (real k = m + 1; term > others * GBM_EPSILON / 16; k += 1) {
        term *= y / (k * (k + nu));
        others += term;
    }
    term = 1;
    for (real k = m; k > 0 && term > others * GBM_EPSILON / 16; k -= 1) {
        term *= k * (k + nu) / y;
        others += term;
    }
    return (2 * m + nu) * real_log(x / 2) - gbm_lgamma(m + 1) -
           gbm_lgamma(m + nu + 1) + real_log1p(others);
}

GBM_FN real gbm_log_bessel_i0(real x) { return gbm_log_bessel_i(0, x); }

GBM_FN real gbm_bessel_i(real nu, real x)
{
    return real_exp(gbm_log_bessel_i(nu, x));
}

GBM_FN real gbm_bessel_k(real nu, real x)
{
    return real_exp(gbm_log_bessel_k(nu, x));
}

/* J and Y by the method of Temme, "On the numerical evaluation of the ordinary
 * Bessel function of the second kind" (Journal of Computational Physics 21,
 * 1976): a continued fraction gives J'/J at the order nu; J is recurred down to
 * an order mu near 0 (or, for x above 2, below the turning point), where a
 * series or Steed's continued fraction gives Y and the Wronskian the scale; Y
 * is recurred up again. */
struct gbm_bessel_pair {
    real j, y;
};

/* J'_nu(x) / J_nu(x); *sign: of J_nu relative to the fraction's start. Lentz's
 * algorithm; about x terms. */
GBM_FN real gbm_bessel_ratio(real nu, real x, int *sign)
{
    real h = nu / x > GBM_LENTZ ? nu / x : GBM_LENTZ, b = 2 * nu / x, c = h;
    real d = 0;
    *sign = 1;
    for (int i = 1; i < 1000000; i++) {
        b += 2 / x;
        d = b - d;
        d = real_fabs(d) < GBM_LENTZ ? GBM_LENTZ : d;
        c = b - 1 / c;
        c = real_fabs(c) < GBM_LENTZ ? GBM_LENTZ : c;
        d = 1 / d;
        real factor = c * d;
        h *= factor;
        if (d < 0)
            *sign = -*sign;
        if (real_fabs(factor - 1) < GBM_EPSILON)
            break;
    }
    return h;
}

/* Temme's series for x < 2, |mu| <= 1/2: Y_mu and Y_(mu+1). */
GBM_FN void gbm_bessel_series(real mu, real x, real *y, real *next)
{
    real angle = GBM_PI * mu, l = -real_log(x / 2), e = mu * l;
    real plus = gbm_lgamma1p_small(mu), minus = gbm_lgamma1p_small(-mu);
    real half = real_exp(-(plus + minus) / 2), odd = (plus - minus) / 2;
    /* (1 / Gamma(1-mu) -+ 1 / Gamma(1+mu)) / 2, the first over mu */
    real gamma1 =
        real_fabs(mu) < REAL_C(1e-10) ? -GBM_EULER : half * real_sinh(odd) / mu;
    real gamma2 = half * real_cosh(odd);
    real sine = real_fabs(angle) < REAL_C(1e-10) ? 1 : angle / real_sin(angle);
    real ratio = real_fabs(e) < REAL_C(1e-10) ? 1 : real_sinh(e) / e;
    real f = 2 / GBM_PI * sine * (gamma1 * real_cosh(e) + gamma2 * ratio * l);
    real p = real_exp(e + plus) / GBM_PI, q = real_exp(minus - e) / GBM_PI;
    real s = angle == 0 ? 1 : real_sin(angle / 2) / (angle / 2);
    real r = GBM_PI * angle / 2 * s * s, c = 1;
    real sum = f + r * q, sum1 = p;
    for (int i = 1; i < 100; i++) {
        real k = (real)i;
        f = (k * f + p + q) / (k * k - mu * mu);
        c *= -x * x / 4 / k;
        p /= k - mu;
        q /= k + mu;
        real term = c * (f + r * q);
        sum += term;
        sum1 += c * p - k * term;
        if (real_fabs(term) < GBM_EPSILON / 4 * (1 + real_fabs(sum)))
            break;
    }
    *y = -sum;
    *next = -2 / x * sum1;
}

/* Steed's fraction p + iq = (J' + iY') / (J + iY) at order mu, x >= 2, by
 * Lentz's algorithm in complex numbers. */
GBM_FN void gbm_bessel_steed(real mu, real x, real *p, real *q)
{
    /* -1/(2x) + i + (i/x) (a1 / (b1 + a2 / (b2 + ...))), a_k = (k - 1/2)^2 -
     * mu^2, b_k = 2x + 2k i */
    real fr = 0, fi = 0;
    int terms = 40 + (int)(600 / x);
    for (int k = terms; k >= 1; k--) { /* from the far end: it converges fast */
        real h = (real)k - REAL_C(0.5), a = h * h - mu * mu;
        real br = 2 * x + fr, bi = 2 * (real)k + fi;
        real size = br * br + bi * bi;
        fr = a * br / size;
        fi = -a * bi / size;
    }
    *p = -1 / (2 * x) - fi / x;
    *q = 1 + fr / x;
}

/* nu >= 0, x > 0. */
GBM_FN_BIG struct gbm_bessel_pair gbm_bessel_jy(real nu, real x)
{
    struct gbm_bessel_pair bad = {GBM_NAN, GBM_NAN};
    if (!(nu >= 0 && x > 0 && nu < REAL_C(1e6)))
        return bad;
    int sign, down = (int)(x < 2 ? nu + REAL_C(0.5)
                                 : real_fmax(0, nu - x + REAL_C(1.5)));
    real mu = nu - (real)down, wronskian = 2 / (GBM_PI * x);
    real ratio = gbm_bessel_ratio(nu, x, &sign);
    real scale = (real)sign, j = scale, slope = ratio * scale;
    real shrunk = 1; /* j was multiplied by this on the way, in all */
    real order = nu;
    for (int i = 0; i < down; i++) {
        real below = order / x * j + slope;
        slope = (order - 1) / x * below - j;
        j = below;
        order -= 1;
        if (real_fabs(j) > REAL_C(1e15)) {
            j *= REAL_C(1e-15);
            slope *= REAL_C(1e-15);
            shrunk *= REAL_C(1e-15);
        }
    }
    j = j == 0 ? GBM_EPSILON : j;
    real f = slope / j, y, next, at_mu;
    if (x < 2) {
        gbm_bessel_series(mu, x, &y, &next);
        real y_slope = mu / x * y - next;
        at_mu = wronskian / (y_slope - f * y);
    } else {
        real p, q;
        gbm_bessel_steed(mu, x, &p, &q);
        real gamma = (p - f) / q;
        at_mu = real_sqrt(wronskian / ((p - f) * gamma + q));
        at_mu = j < 0 ? -at_mu : at_mu;
        y = at_mu * gamma;
        real y_slope = gamma == 0 ? at_mu * q : y * (p + q / gamma);
        next = mu / x * y - y_slope;
    }
    struct gbm_bessel_pair both;
    both.j = scale * (at_mu / j) * shrunk;
    for (int i = 1; i <= down; i++) {
        real above = 2 * (mu + (real)i) / x * next - y;
        y = next;
        next = above;
    }
    both.y = y;
    return both;
}

/* J_nu(x), nu >= 0, x >= 0. */
GBM_FN real gbm_bessel_j(real nu, real x)
{
    if (x == 0)
        return nu == 0 ? 1 : 0;
    return gbm_bessel_jy(nu, x).j;
}

/* Y_nu(x), nu >= 0, x >= 0. */
GBM_FN real gbm_bessel_y(real nu, real x)
{
    return x == 0 ? -GBM_INF : gbm_bessel_jy(nu, x).y;
}

#endif
