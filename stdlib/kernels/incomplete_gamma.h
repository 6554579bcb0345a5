/* incomplete_gamma.h: the gamma distribution function of unit rate, its
 * complement and its inverse.
 *
 * Series below the mean and continued fraction above it (Abramowitz and Stegun
 * 6.5.29, 6.5.31); near the mean of a large shape the uniform expansion of
 * Temme, "The asymptotic expansion of the incomplete gamma functions" (SIAM J.
 * Math. Anal. 10, 1979). */
#ifndef GBM_INCOMPLETE_GAMMA_H
#define GBM_INCOMPLETE_GAMMA_H

#include "gamma_function.h"
#include "normal_function.h"

#define GBM_GAMMA_TERMS 2000

/* P(a, x) for x below a or so, divided by the Poisson density of a at x: a
 * series of positive terms, four of which wait for one of the four before. */
GBM_FN_BIG real gbm_gamma_series(real a, real x)
{
    real term = 1, sum = 1, k = a;
    for (int i = 0; i < GBM_GAMMA_TERMS; i += 4) {
        real by[4];
        GBM_UNROLL
        for (int j = 0; j < 4; j++)
            by[j] = x / (k + (real)(j + 1));
        const real two = by[0] * by[1], next = term * (two * (by[2] * by[3]));
        sum += term * ((by[0] + two) + two * by[2]) + next;
        term = next;
        if (term < sum * GBM_EPSILON / 4)
            break;
        k += 4;
    }
    return sum;
}

/* Q(a, x) for x above a or so, and at least 1, divided likewise: Lentz's
 * algorithm. */
GBM_FN_BIG real gbm_gamma_fraction(real a, real x)
{
    real b = x + 1 - a, c = 1 / GBM_LENTZ, d = 1 / b, h = d;
    for (int i = 1; i < GBM_GAMMA_TERMS; i++) {
        real k = (real)i, numerator = k * (a - k);
        b += 2;
        d = numerator * d + b;
        d = 1 / (real_fabs(d) < GBM_LENTZ ? GBM_LENTZ : d);
        c = b + numerator / c;
        c = real_fabs(c) < GBM_LENTZ ? GBM_LENTZ : c;
        real factor = c * d;
        h *= factor;
        if (real_fabs(factor - 1) < GBM_EPSILON)
            break;
    }
    return h * a;
}

/* Q(a, x) for a < 1/2 and x < 1, where 1 - P would cancel. */
GBM_FN_BIG real gbm_gamma_q_small(real a, real x)
{
    real power = a * real_log(x) - gbm_lgamma1p_small(a);
    real term = 1, sum = 0;
    for (int i = 1; i < 40; i++) {
        term *= -x / (real)i;
        sum += term / (a + (real)i);
    }
    return -real_expm1(power) - real_exp(power) * a * sum;
}

/* The sum over k of c_k(eta) a^-k of Temme's expansion. */
GBM_FN_BIG real gbm_temme_sum(real a, real eta)
{
    const real c0[18] = {
        REAL_C(-0.33333333333333333333),    REAL_C(0.083333333333333333333),
        REAL_C(-0.014814814814814814815),   REAL_C(0.0011574074074074074074),
        REAL_C(0.00035273368606701940035),  REAL_C(-0.0001787551440329218107),
        REAL_C(0.000039192631785224377817), REAL_C(-2.1854485106799921615e-6),
        REAL_C(-1.8540622107151599607e-6),  REAL_C(8.296711340953086005e-7),
        REAL_C(-1.7665952736826079304e-7),  REAL_C(6.7078535434014985804e-9),
        REAL_C(1.0261809784240308043e-8),   REAL_C(-4.3820360184533531866e-9),
        REAL_C(9.1476995822367902342e-10),  REAL_C(-2.5514193994946249767e-11),
        REAL_C(-5.8307721325504250675e-11), REAL_C(2.4361948020667416244e-11)};
    const real c1[14] = {REAL_C(-0.0018518518518518518519),
                         REAL_C(-0.0034722222222222222222),
                         REAL_C(0.0026455026455026455026),
                         REAL_C(-0.00099022633744855967078),
                         REAL_C(0.00020576131687242798354),
                         REAL_C(-4.0187757201646090535e-7),
                         REAL_C(-0.000018098550334489977837),
                         REAL_C(7.6491609160811100846e-6),
                         REAL_C(-1.6120900894563446004e-6),
                         REAL_C(4.6471278028074343423e-9),
                         REAL_C(1.3786334469157209593e-7),
                         REAL_C(-5.752545603517704964e-8),
                         REAL_C(1.1951628599778147324e-8),
                         REAL_C(-1.7543241719747647624e-11)};
    const real c2[12] = {REAL_C(0.0041335978835978835979),
                         REAL_C(-0.0026813271604938271605),
                         REAL_C(0.00077160493827160493827),
                         REAL_C(2.0093878600823045267e-6),
                         REAL_C(-0.00010736653226365160522),
                         REAL_C(0.000052923448829120125416),
                         REAL_C(-0.000012760635188618727713),
                         REAL_C(3.4235787340961380742e-8),
                         REAL_C(1.3721957309062933206e-6),
                         REAL_C(-6.2989921383800550229e-7),
                         REAL_C(1.4280614206064241792e-7),
                         REAL_C(-2.0477098421990866015e-10)};
    const real c3[10] = {REAL_C(0.00064943415637860082305),
                         REAL_C(0.00022947209362139917695),
                         REAL_C(-0.00046918949439525571213),
                         REAL_C(0.00026772063206283885296),
                         REAL_C(-0.000075618016718839764107),
                         REAL_C(-2.3965051138672966519e-7),
                         REAL_C(0.000011082654115347302361),
                         REAL_C(-5.6749528269915965675e-6),
                         REAL_C(1.4230900732435883915e-6),
                         REAL_C(-2.7861080291528142241e-11)};
    const real c4[8] = {
        REAL_C(-0.0008618882909167116986),  REAL_C(0.00078403922172006662747),
        REAL_C(-0.00029907248030319017973), REAL_C(-1.4638452578843418178e-6),
        REAL_C(0.000066414982154651221867), REAL_C(-0.000039683650471794346644),
        REAL_C(0.000011375726970678419098), REAL_C(2.5074972262375328017e-10)};
    const real c5[6] = {
        REAL_C(-0.00033679855336635815031), REAL_C(-0.000069728137583658577743),
        REAL_C(0.00027727532449593920787),  REAL_C(-0.000199325705161888477),
        REAL_C(0.000067977804779372078388), REAL_C(1.4190629206439670148e-7)};
    const real c6[4] = {
        REAL_C(0.00053130793646399222317), REAL_C(-0.00059216643735369388286),
        REAL_C(0.00027087820967180448277), REAL_C(7.9023532326603278721e-7)};
    real c[7];
    c[0] = gbm_polynomial(c0, 18, eta);
    c[1] = gbm_polynomial(c1, 14, eta);
    c[2] = gbm_polynomial(c2, 12, eta);
    c[3] = gbm_polynomial(c3, 10, eta);
    c[4] = gbm_polynomial(c4, 8, eta);
    c[5] = gbm_polynomial(c5, 6, eta);
    c[6] = gbm_polynomial(c6, 4, eta);
    return gbm_polynomial(c, 7, 1 / a);
}

/* Q(a, x), or P(a, x) if not `upper`, for a large and x near it. */
GBM_FN_BIG real gbm_gamma_uniform(real a, real x, bool upper)
{
    real half = gbm_deviance(a, x); /* a eta^2 / 2 */
    real eta = real_sqrt(2 * half / a);
    eta = x < a ? -eta : eta;
    real rest =
        real_exp(-half) / real_sqrt(2 * GBM_PI * a) * gbm_temme_sum(a, eta);
    real z = x < a ? -real_sqrt(half) : real_sqrt(half);
    return upper ? real_erfc(z) / 2 + rest : real_erfc(-z) / 2 - rest;
}

/* A shape for which finite sums and products are short, where they have no
 * underflow. */
GBM_FN bool gbm_gamma_is_short(real a, real x)
{
    return a <= 16 && x <= 64 && a == real_floor(a);
}

/* x^a exp(-x) / Gamma(a + 1). */
GBM_FN real gbm_poisson_density(real a, real x)
{
    if (!gbm_gamma_is_short(a, x))
        return real_exp(gbm_log_poisson_term(a, x));
    real density = real_exp(-x);
    for (int k = 1; k <= (int)a; k++)
        density *= x / (real)k;
    return density;
}

/* Q(a, x) for a whole: the first terms of a Poisson distribution. */
GBM_FN real gbm_gamma_q_short(real a, real x)
{
    real term = 1, sum = 1;
    for (int k = 1; k < (int)a; k++) {
        term *= x / (real)k;
        sum += term;
    }
    return sum * real_exp(-x);
}

GBM_FN_BIG real gbm_incomplete_gamma(real a, real x, bool upper)
{
    if (!(a >= 0) || x != x)
        return GBM_NAN;
    if (x <= 0)
        return upper && !(a == 0 && x == 0) ? 1 : (a == 0 ? !upper : 0);
    if (a == 0 || x == GBM_INF)
        return upper ? 0 : 1;
    if (a >= 200 && real_fabs(x - a) < REAL_C(0.4) * a)
        return gbm_gamma_uniform(a, x, upper);
    if (upper && a < REAL_C(0.5) && x < 1)
        return gbm_gamma_q_small(a, x);
    if (x < 1 || x < a) {
        real p = gbm_gamma_series(a, x) * gbm_poisson_density(a, x);
        return upper ? 1 - p : p;
    }
    real q = gbm_gamma_is_short(a, x)
                 ? gbm_gamma_q_short(a, x)
                 : gbm_gamma_fraction(a, x) * gbm_poisson_density(a, x);
    return upper ? q : 1 - q;
}

/* The probability that a gamma variable of shape a and unit rate is at most x:
 * the regularised lower incomplete gamma function. */
GBM_FN real gbm_gamma_p(real a, real x)
{
    return gbm_incomplete_gamma(a, x, false);
}

/* 1 - gbm_gamma_p(a, x), without cancellation. */
GBM_FN real gbm_gamma_q(real a, real x)
{
    return gbm_incomplete_gamma(a, x, true);
}

/* log of the x with P(a, x) = p, or Q(a, x) = p if `upper`; 0 < p < 1, best for
 * p <= 1/2. Newton's method on the logarithm of the probability as a function
 * of log x: that is concave, as the density of log x is log-concave, so the
 * iterates approach the root from one side whatever the start. */
GBM_FN_BIG real gbm_gamma_log_quantile(real a, real p, bool upper)
{
    real z = gbm_probit(p), third = 1 / (9 * a);
    real cube = 1 - third + (upper ? -z : z) * real_sqrt(third);
    real u; /* Wilson and Hilferty; the leading term of P; a bound on Q */
    if (a > REAL_C(0.5) && cube > REAL_C(0.2))
        u = real_log(a) + 3 * real_log(cube);
    else if (!upper)
        u = (real_log(p) + gbm_lgamma(a + 1)) / a;
    else
        u = a < REAL_C(0.1) ? real_log(-real_log(p)) - 2 : real_log(a);
    real target = real_log(p), direction = upper ? -1 : 1;
    for (int i = 0; i < 200; i++) {
        real x = real_exp(u);
        if (!upper && x < GBM_TINY)
            return (target + gbm_lgamma(a + 1)) / a;
        real value = gbm_incomplete_gamma(a, x, upper);
        if (!(value > 0)) { /* beyond the range: back towards the middle */
            u -= direction * -REAL_C(0.5);
            continue;
        }
        real slope = a * real_exp(gbm_log_poisson_term(a, x)) / value;
        real step = (target - real_log(value)) / slope;
        step = gbm_clamp(step, -3, 3);
        u += direction * step;
        if (real_fabs(step) < 4 * GBM_EPSILON * (1 + real_fabs(u)))
            break;
    }
    return u;
}

/* The p-quantile of gamma with shape a and unit rate. */
GBM_FN real gbm_gamma_quantile(real a, real p)
{
    if (!(a > 0) || !(p >= 0 && p <= 1))
        return a == 0 && p <= 1 ? 0 : GBM_NAN;
    if (p == 0 || p == 1)
        return p == 0 ? 0 : GBM_INF;
    return real_exp(p <= REAL_C(0.5) ? gbm_gamma_log_quantile(a, p, false)
                                     : gbm_gamma_log_quantile(a, 1 - p, true));
}

/* The x with Q(a, x) = q. */
GBM_FN real gbm_gamma_q_inverse(real a, real q)
{
    if (!(a > 0) || !(q >= 0 && q <= 1))
        return a == 0 && q >= 0 ? 0 : GBM_NAN;
    if (q == 0 || q == 1)
        return q == 0 ? GBM_INF : 0;
    return real_exp(q < REAL_C(0.5) ? gbm_gamma_log_quantile(a, q, true)
                                    : gbm_gamma_log_quantile(a, 1 - q, false));
}

#endif
