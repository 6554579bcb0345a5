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

/* log(1 + exp(x)) */
GBM_FN real gbm_log1pexp(real x)
{
    return real_fmax(x, 0) + real_log1p(real_exp(-real_fabs(x)));
}

/* log(1 - exp(-x)), x > 0; Maechler (2012), "Accurately computing log(1 -
 * exp(-|a|))". */
GBM_FN real gbm_log1mexp(real x)
{
    return x < GBM_LN2 ? real_log(-real_expm1(-x)) : real_log1p(-real_exp(-x));
}

/* 1 - exp(-exp(x)) */
GBM_FN real gbm_icloglog(real x) { return -real_expm1(-real_exp(x)); }

/* log(-log(1 - p)) */
GBM_FN real gbm_cloglog(real p) { return real_log(-real_log1p(-p)); }

/* log(exp(a) + exp(b)) */
GBM_FN real gbm_log_add(real a, real b)
{
    real high = a > b ? a : b, low = a > b ? b : a;
    return high > -GBM_INF ? high + real_log1p(real_exp(low - high)) : high;
}

#endif
