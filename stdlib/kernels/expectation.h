/* expectation.h: a discrete node in expectation, for EM. */
#ifndef GBM_EXPECTATION_H
#define GBM_EXPECTATION_H

#include "real.h"

/* weights [hi - lo + 1]: the probabilities of the values of [lo, hi], whose log
 * densities `density` gives; *total: the log of the sum of their densities.
 * Returns the most probable value. If none is possible all weights are 0. */
GBM_INLINE real gbm_expect(int lo, int hi,
                           real (*density)(const void *context, real x),
                           const void *context, real *weights, real *total)
{
    real most = -GBM_INF;
    int best = lo;
    for (int k = lo; k <= hi; k++) {
        const real value = density(context, (real)k);
        const bool larger = value > most; /* NaN is no value */
        weights[k - lo] = value == value ? value : -GBM_INF;
        best = larger ? k : best;
        most = larger ? value : most;
    }
    gbm_total sum = 0;
    const bool any = gbm_is_finite(most);
    for (int k = lo; k <= hi; k++) {
        weights[k - lo] = any ? real_exp(weights[k - lo] - most) : 0;
        sum += weights[k - lo];
    }
    for (int k = lo; k <= hi && any; k++)
        weights[k - lo] = (real)(weights[k - lo] / sum);
    *total = any ? most + real_log((real)sum) : most;
    return (real)best;
}

#endif
