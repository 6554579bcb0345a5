/* elementary.h: links and their kin, without overflow or cancellation. */
#ifndef GBM_ELEMENTARY_H
#define GBM_ELEMENTARY_H

#include "real.h"

/* 1 / (1 + exp(-x)), to full relative precision where it is small. */
GBM_FN real gbm_ilogit(real x)
{
    const real e = real_exp(-real_fabs(x)), larger = 1 / (1 + e);
    return x >= 0 ? larger : e * larger;
}

/* log(p / (1 - p)) */
GBM_FN real gbm_logit(real p) { return real_log(p) - real_log1p(-p); }

/* log(1 + e), 0 <= e <= 1: 2 atanh(s), s = e / (2 + e), by a polynomial in s^2
 * fitted at Chebyshev points, with an error of 5e-18. No branch, no exponent.
 */
GBM_FN real gbm_log1p_part(real e)
{
    const real c[10] = {
        REAL_C(0.66666666666666658552),  REAL_C(0.40000000000014596614),
        REAL_C(0.28571428567105060928),  REAL_C(0.22222222717801781691),
        REAL_C(0.18181789417326447891),  REAL_C(0.15385570592912243603),
        REAL_C(0.13314135550881162863),  REAL_C(0.12001155182857778692),
        REAL_C(0.088003176508687734689), REAL_C(0.16164938169471338621)};
    const real s = e / (2 + e), z = s * s;
    return 2 * s + s * (z * gbm_polynomial(c, 10, z));
}

/* log(1 + exp(x)) */
GBM_FN real gbm_log1pexp(real x)
{
    return real_fmax(x, 0) + gbm_log1p_part(real_exp(-real_fabs(x)));
}

/* log(1 - exp(-x)), x > 0; Maechler (2012), "Accurately computing log(1 -
 * exp(-|a|))". */
GBM_FN real gbm_log1mexp(real x)
{
    const bool near = x < GBM_LN2;
    const real e = real_exp(-x), upper = 1 - e;
    /* rounded; less what it lost, over itself */
    const real lost = near ? 0 : (upper - 1 + e) / upper;
    return real_log(near ? -real_expm1(-x) : upper) - lost;
}

/* How far data whose turn is from `turn` to turn + 1 have entered; not quite 0
 * before, as a power of 0 has no logarithm. */
GBM_FN real gbm_entered(real progress, real turn)
{
    return real_fmin(real_fmax(progress - turn, GBM_LENTZ), 1);
}

/* 1 - exp(-exp(x)) */
GBM_FN real gbm_icloglog(real x) { return -real_expm1(-real_exp(x)); }

/* log(-log(1 - p)) */
GBM_FN real gbm_cloglog(real p) { return real_log(-real_log1p(-p)); }

/* log(exp(a) + exp(b)) */
GBM_FN real gbm_log_add(real a, real b)
{
    real high = a > b ? a : b, low = a > b ? b : a;
    return high > -GBM_INF ? high + gbm_log1p_part(real_exp(low - high)) : high;
}

/* sqrt(x^2 + y^2), which does not overflow. */
GBM_FN real gbm_hypotenuse(real x, real y)
{
    real a = real_fabs(x), b = real_fabs(y);
    real high = real_fmax(a, b), low = real_fmin(a, b);
    return low > 0 && high < GBM_INF
               ? high * real_sqrt(1 + gbm_square(low / high))
               : high;
}

#endif
