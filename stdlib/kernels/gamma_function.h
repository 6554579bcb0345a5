/* gamma_function.h: log gamma, digamma, trigamma, and what densities are made
 * of. The host's lgamma writes a global variable; these do not. */
#ifndef GBM_GAMMA_FUNCTION_H
#define GBM_GAMMA_FUNCTION_H

#include "log_factorial.h"

/* lgamma(2 + w) for |w| <= 1/2: w times a minimax polynomial of relative error
 * 1e-18. */
GBM_FN real gbm_lgamma_near_2(real w)
{
    const real c[19] = {
        REAL_C(0.42278433509846713939),      REAL_C(0.32246703342411323562),
        REAL_C(-0.06735230105319810342),     REAL_C(0.020580808427780380065),
        REAL_C(-0.0073855510286719983953),   REAL_C(0.002890510331034266859),
        REAL_C(-0.0011927539118428156859),   REAL_C(0.00050966951541154583479),
        REAL_C(-0.0002231547540052050773),   REAL_C(0.000099457673558194982074),
        REAL_C(-0.000044926313379155697453), REAL_C(0.00002050559075583345311),
        REAL_C(-9.4387150992115326607e-6),   REAL_C(4.384704404598360326e-6),
        REAL_C(-2.0439048107029906744e-6),   REAL_C(9.2005278949681004906e-7),
        REAL_C(-4.325239344560481638e-7),    REAL_C(2.7874080521135899778e-7),
        REAL_C(-1.3219945666117874478e-7)};
    return w * gbm_polynomial(c, 19, w);
}

/* log Gamma(1 + x) for |x| <= 1/2, to full relative precision. */
GBM_FN real gbm_lgamma1p_small(real x)
{
    return gbm_lgamma_near_2(x) - real_log1p(x);
}

/* The remainder of Stirling's series for log Gamma(x), x >= 8. */
GBM_FN real gbm_stirling_remainder(real x)
{
    const real c[8] = {
        REAL_C(0.083333333333333333333),   REAL_C(-0.0027777777777777777778),
        REAL_C(0.00079365079365079365079), REAL_C(-0.0005952380952380952381),
        REAL_C(0.00084175084175084175084), REAL_C(-0.0019175269175269175269),
        REAL_C(0.0064102564102564102564),  REAL_C(-0.02955065359477124183)};
    real r = 1 / x;
    return r * gbm_polynomial(c, 8, r * r);
}

/* log Gamma(x), x > 0. */
GBM_FN_BIG real gbm_lgamma_positive(real x)
{
    if (x >= 8) {
        if (x == GBM_INF)
            return x;
        real half = x - REAL_C(0.5), l = real_log(x);
        return half * (l - 1) - REAL_C(0.5) +
               (GBM_LOG_SQRT_2PI + gbm_stirling_remainder(x));
    }
    if (x < REAL_C(0.5))
        return gbm_lgamma_near_2(x) - real_log(x * (1 + x));
    if (x < REAL_C(1.5))
        return gbm_lgamma1p_small(x - 1);
    real product = 1;
    while (x > REAL_C(2.5)) {
        x -= 1;
        product *= x;
    }
    return gbm_lgamma_near_2(x - 2) + (product > 1 ? real_log(product) : 0);
}

/* log |Gamma(x)|; inf at 0, -1, -2, ... */
GBM_FN real gbm_lgamma(real x)
{
    if (gbm_has_log_factorial(x - 1))
        return gbm_log_factorial(x - 1);
    if (x > 0)
        return x < GBM_TINY ? -real_log(x) : gbm_lgamma_positive(x);
    if (x != x)
        return x;
    real fraction = x - real_floor(x);
    if (fraction == 0)
        return GBM_INF;
    real sine = real_sin(GBM_PI * fraction);
    return real_log(GBM_PI / (-x * sine)) - gbm_lgamma_positive(-x);
}

/* log(a (a + 1) ... (a + n - 1)) in four products side by side, for a whole n
 * up to GBM_RISING_MOST and a + n below GBM_RISING_BELOW, of which no product
 * overflows. */
#ifdef GBM_SINGLE
#define GBM_RISING_MOST 16
#define GBM_RISING_BELOW 100
#else
#define GBM_RISING_MOST 64
#define GBM_RISING_BELOW 10000
#endif
GBM_FN real gbm_log_product(real a, int n)
{
    real lanes[4] = {1, 1, 1, 1};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int j = 0; j < 4; j++)
            lanes[j] *= a + (real)(i + j);
    for (; i < n; i++)
        lanes[0] *= a + (real)i;
    return real_log((lanes[0] * lanes[1]) * (lanes[2] * lanes[3]));
}

GBM_FN real gbm_log_rising_up(real a, real n)
{
    if (n >= 0 && n <= GBM_RISING_MOST && a + n < GBM_RISING_BELOW &&
        (a >= GBM_TINY || a == 0) && (real)(int)n == n)
        return gbm_log_product(a, (int)n);
    if (!(a >= 8))
        return gbm_lgamma(a + n) - gbm_lgamma(a);
    if (n == 0 || a == GBM_INF)
        return n == 0 ? 0 : a;
    return (a - REAL_C(0.5)) * real_log1p(n / a) + n * (real_log(a + n) - 1) +
           (gbm_stirling_remainder(a + n) - gbm_stirling_remainder(a));
}

/* log Gamma(a + n) - log Gamma(a) for a >= 0, a + n >= 0: with all its digits
 * where a is far larger than n, too. Of a = 0 it is the limit: 0 for n = 0, or
 * -inf. */
GBM_FN real gbm_log_rising(real a, real n)
{
    const bool falls = n < 0;
    const real gain = gbm_log_rising_up(falls ? a + n : a, falls ? -n : n);
    return falls ? -gain : gain;
}

/* lgamma(x + 1) less Stirling's (x + 1/2) log x - x + log(2 pi)/2; Loader
 * (2000), "Fast and accurate computation of binomial probabilities". */
GBM_FN real gbm_stirling_error(real x)
{
    if (x >= 8)
        return gbm_stirling_remainder(x);
    return gbm_lgamma_positive(x + 1) - (x + REAL_C(0.5)) * real_log(x) + x -
           GBM_LOG_SQRT_2PI;
}

/* x log(x / m) + m - x for x >= 0, m > 0, without cancellation where x is near
 * m (Loader 2000). */
GBM_FN_BIG real gbm_deviance(real x, real m)
{
    real difference = x - m, sum = x + m;
    if (real_fabs(difference) >= REAL_C(0.1) * sum)
        return x > 0 ? x * real_log(x / m) - difference : m;
    real v = difference / sum, v2 = v * v;
    real term = 2 * x * v, total = difference * v;
    for (int k = 3; k < 100; k += 2) {
        term *= v2;
        real next = total + term / (real)k;
        if (next == total)
            break;
        total = next;
    }
    return total;
}

/* d/dx log Gamma(x). */
GBM_FN_BIG real gbm_digamma(real x)
{
    const real c[9] = {
        REAL_C(0.083333333333333333333),  REAL_C(-0.0083333333333333333333),
        REAL_C(0.003968253968253968254),  REAL_C(-0.0041666666666666666667),
        REAL_C(0.0075757575757575757576), REAL_C(-0.021092796092796092796),
        REAL_C(0.083333333333333333333),  REAL_C(-0.44325980392156862745),
        REAL_C(3.0539543302701197438)};
    real sum = 0;
    if (x <= 0) {
        real fraction = x - real_floor(x);
        if (fraction == 0)
            return GBM_NAN;
        sum = -GBM_PI / real_tan(GBM_PI * fraction);
        x = 1 - x;
    }
    while (x < 10) {
        sum -= 1 / x;
        x += 1;
    }
    real r = 1 / (x * x);
    return sum + real_log(x) - REAL_C(0.5) / x - r * gbm_polynomial(c, 9, r);
}

/* d^2/dx^2 log Gamma(x). */
GBM_FN_BIG real gbm_trigamma(real x)
{
    const real c[9] = {
        REAL_C(0.16666666666666666667),  REAL_C(-0.033333333333333333333),
        REAL_C(0.023809523809523809524), REAL_C(-0.033333333333333333333),
        REAL_C(0.075757575757575757576), REAL_C(-0.25311355311355311355),
        REAL_C(1.1666666666666666667),   REAL_C(-7.0921568627450980392),
        REAL_C(54.971177944862155388)};
    real sum = 0, sign = 1;
    if (x <= 0) {
        real fraction = x - real_floor(x);
        if (fraction == 0)
            return GBM_INF;
        sum = gbm_square(GBM_PI / real_sin(GBM_PI * fraction));
        sign = -1;
        x = 1 - x;
    }
    real shifted = 0;
    while (x < 12) {
        shifted += 1 / (x * x);
        x += 1;
    }
    real r = 1 / x, r2 = r * r;
    shifted += r + r2 / 2 + r * r2 * gbm_polynomial(c, 9, r2);
    return sum + sign * shifted;
}

/* log of x^a exp(-x) / Gamma(a + 1), a >= 0, x >= 0: the Poisson density. */
GBM_FN real gbm_log_poisson_term(real a, real x)
{
    if (x == 0)
        return a == 0 ? 0 : -GBM_INF;
    if (a < 1)
        return a * real_log(x) - x -
               (a <= REAL_C(0.5) ? gbm_lgamma1p_small(a)
                                 : gbm_lgamma_near_2(a - 1));
    return -gbm_stirling_error(a) - gbm_deviance(a, x) -
           REAL_C(0.5) * (GBM_LOG_2PI + real_log(a));
}

/* log of Gamma(a+b+1) / (Gamma(a+1) Gamma(b+1)) x^a y^b for y = 1 - x, and a,
 * b >= 0: the binomial density of a out of a + b. */
GBM_FN_BIG real gbm_log_binomial_term(real a, real b, real x, real y)
{
    real n = a + b;
    if (x == 0 || y == 0)
        return (x == 0 ? a : b) == 0 ? 0 : -GBM_INF;
    if (a == 0)
        return b * (y < REAL_C(0.5) ? real_log(y) : real_log1p(-x));
    if (b == 0)
        return a * (x < REAL_C(0.5) ? real_log(x) : real_log1p(-y));
    return gbm_stirling_error(n) - gbm_stirling_error(a) -
           gbm_stirling_error(b) - gbm_deviance(a, n * x) -
           gbm_deviance(b, n * y) -
           REAL_C(0.5) *
               (GBM_LOG_2PI + real_log(a) + (real_log(b) - real_log(n)));
}

/* log of the beta function. */
GBM_FN_BIG real gbm_log_beta(real a, real b)
{
    real small = real_fmin(a, b), large = real_fmax(a, b);
    if (!(small > 0))
        return small == 0 ? GBM_INF : GBM_NAN;
    if (large < 8)
        return gbm_lgamma(small) + (gbm_lgamma(large) - gbm_lgamma(a + b));
    /* lgamma(large) - lgamma(large + small), term by term */
    real sum = large + small;
    real rest = gbm_stirling_remainder(large) - gbm_stirling_remainder(sum);
    return gbm_lgamma(small) + rest + small - small * real_log(sum) -
           (large - REAL_C(0.5)) * real_log1p(small / large);
}

/* log of the binomial coefficient n over k. */
GBM_FN real gbm_log_choose(real n, real k)
{
    if (k < 0 || k > n)
        return -GBM_INF;
    if (k == 0 || k == n)
        return 0;
    if (gbm_has_log_factorial(n) && gbm_has_log_factorial(k))
        return gbm_log_factorial(n) - gbm_log_factorial(k) -
               gbm_log_factorial(n - k);
    return -real_log1p(n) - gbm_log_beta(k + 1, n - k + 1);
}

#endif
