/* normal_function.h: the standard normal distribution function, its logarithm
 * and its inverse. */
#ifndef GBM_NORMAL_FUNCTION_H
#define GBM_NORMAL_FUNCTION_H

#include "real.h"

/* P(Z <= x), to full relative precision in the lower tail. */
GBM_FN real gbm_phi(real x) { return real_erfc(-x * GBM_SQRT1_2) / 2; }

/* The density of Z at x. */
GBM_FN real gbm_phi_density(real x)
{
    return REAL_C(0.39894228040143267794) * real_exp(-x * x / 2);
}

/* Below this the asymptotic series of Mills' ratio serves. */
#ifdef GBM_SINGLE
#define GBM_PHI_TAIL REAL_C(-6)
#else
#define GBM_PHI_TAIL REAL_C(-12)
#endif

/* Mills' ratio P(Z > x) / density(x) for large x: Abramowitz and Stegun
 * (1964), 26.2.12. */
GBM_FN real gbm_mills_tail(real x)
{
    real r = 1 / (x * x), term = 1, sum = 1;
    for (int k = 1; k <= 12; k++) {
        term *= -r * (real)(2 * k - 1);
        sum += term;
    }
    return sum / x;
}

/* log P(Z <= x), for every x: no underflow in the lower tail, no cancellation
 * in the upper one. No branch: it vectorises. */
GBM_FN_ROWS real gbm_log_phi(real x)
{
    const bool above = x > 0, far = x < GBM_PHI_TAIL;
    const real size = real_fabs(x);
    /* what is not looked at stays away from 0 and infinity */
    const real mills = gbm_mills_tail(far ? size : -GBM_PHI_TAIL);
    const real tail = real_erfc((far ? 0 : size) * GBM_SQRT1_2) / 2;
    const real upper = 1 - tail; /* rounded; less what it lost, over itself */
    const real lost = above ? (upper - 1 + tail) / upper : 0;
    const real exponent = far ? -x * x / 2 - GBM_LOG_SQRT_2PI : 0;
    return real_log(far ? mills : (above ? upper : tail)) - lost + exponent;
}

/* log(Phi(b) - Phi(a)), a < b: in the lower tail, to which the upper one is
 * mirrored, the difference loses nothing; of a narrow interval it would, and
 * the density is expanded around its middle. */
GBM_FN_BIG real gbm_log_phi_between(real a, real b)
{
    if (!(a < b))
        return a >= b ? -GBM_INF : GBM_NAN;
    if (a > 0) {
        const real mirrored = -a;
        a = -b;
        b = mirrored;
    }
    const real width = b - a, middle = a + width / 2;
    if (width * (1 + real_fabs(middle)) < REAL_C(1e-3)) {
        const real square = width * width;
        return real_log(width) - middle * middle / 2 - GBM_LOG_SQRT_2PI +
               square * (middle * middle - 1) / 24;
    }
    const real below = real_erfc(-a * GBM_SQRT1_2);
    if (b > 0)
        return real_log1p(-(real_erfc(b * GBM_SQRT1_2) + below) / 2);
    if (b > GBM_PHI_TAIL)
        return real_log((real_erfc(-b * GBM_SQRT1_2) - below) / 2);
    const real log_b = gbm_log_phi(b);
    return log_b + real_log1p(-real_exp(gbm_log_phi(a) - log_b));
}

/* gbm_phi's inverse where p is within 0.425 of a half; q = p - 1/2. */
GBM_FN real gbm_probit_middle(real q)
{
    const real a[8] = {
        REAL_C(3.3871328727963666080e0),  REAL_C(1.3314166789178437745e+2),
        REAL_C(1.9715909503065514427e+3), REAL_C(1.3731693765509461125e+4),
        REAL_C(4.5921953931549871457e+4), REAL_C(6.7265770927008700853e+4),
        REAL_C(3.3430575583588128105e+4), REAL_C(2.5090809287301226727e+3)};
    const real b[8] = {REAL_C(1.0),
                       REAL_C(4.2313330701600911252e+1),
                       REAL_C(6.8718700749205790830e+2),
                       REAL_C(5.3941960214247511077e+3),
                       REAL_C(2.1213794301586595867e+4),
                       REAL_C(3.9307895800092710610e+4),
                       REAL_C(2.8729085735721942674e+4),
                       REAL_C(5.2264952788528545610e+3)};
    real r = REAL_C(0.180625) - q * q;
    return q * gbm_polynomial(a, 8, r) / gbm_polynomial(b, 8, r);
}

/* -gbm_phi's inverse of p < 0.075, given s = sqrt(-log p), s <= 5. */
GBM_FN real gbm_probit_tail_near(real s)
{
    const real c[8] = {
        REAL_C(1.42343711074968357734e0),  REAL_C(4.63033784615654529590e0),
        REAL_C(5.76949722146069140550e0),  REAL_C(3.64784832476320460504e0),
        REAL_C(1.27045825245236838258e0),  REAL_C(2.41780725177450611770e-1),
        REAL_C(2.27238449892691845833e-2), REAL_C(7.74545014278341407640e-4)};
    const real d[8] = {REAL_C(1.0),
                       REAL_C(2.05319162663775882187e0),
                       REAL_C(1.67638483018380384940e0),
                       REAL_C(6.89767334985100004550e-1),
                       REAL_C(1.48103976427480074590e-1),
                       REAL_C(1.51986665636164571966e-2),
                       REAL_C(5.47593808499534494600e-4),
                       REAL_C(1.05075007164441684324e-9)};
    s -= REAL_C(1.6);
    return gbm_polynomial(c, 8, s) / gbm_polynomial(d, 8, s);
}

/* ... and s > 5. */
GBM_FN real gbm_probit_tail_far(real s)
{
    const real e[8] = {
        REAL_C(6.65790464350110377720e0),  REAL_C(5.46378491116411436990e0),
        REAL_C(1.78482653991729133580e0),  REAL_C(2.96560571828504891230e-1),
        REAL_C(2.65321895265761230930e-2), REAL_C(1.24266094738807843860e-3),
        REAL_C(2.71155556874348757815e-5), REAL_C(2.01033439929228813265e-7)};
    const real f[8] = {REAL_C(1.0),
                       REAL_C(5.99832206555887937690e-1),
                       REAL_C(1.36929880922735805310e-1),
                       REAL_C(1.48753612908506148525e-2),
                       REAL_C(7.86869131145613259100e-4),
                       REAL_C(1.84631831751005468180e-5),
                       REAL_C(1.42151175831644588870e-7),
                       REAL_C(2.04426310338993978564e-15)};
    s -= 5;
    return gbm_polynomial(e, 8, s) / gbm_polynomial(f, 8, s);
}

GBM_FN real gbm_probit_tail(real s)
{
    return s <= 5 ? gbm_probit_tail_near(s) : gbm_probit_tail_far(s);
}

/* gbm_phi's inverse, to about 1e-16 relative: Wichura, "Algorithm AS 241"
 * (Applied Statistics 37, 1988). -inf at 0, inf at 1, NaN outside. */
GBM_FN_SHARED real gbm_probit(real p)
{
    real q = p - REAL_C(0.5);
    if (real_fabs(q) <= REAL_C(0.425))
        return gbm_probit_middle(q);
    real tail = q < 0 ? p : 1 - p;
    if (!(tail > 0))
        return tail == 0 ? (q < 0 ? -GBM_INF : GBM_INF) : GBM_NAN;
    real x = gbm_probit_tail(real_sqrt(-real_log(tail)));
    return q < 0 ? -x : x;
}

#endif
