/* categorical.h: an index drawn from weights, by inversion: two passes, one
 * uniform. */
#ifndef GBM_CATEGORICAL_H
#define GBM_CATEGORICAL_H

#include "rng.h"

/* A 0-based index with probability proportional to w[n], unnormalised. Weights
 * that are not positive (NaN too) are never chosen; 0 if none is positive. */
GBM_FN real gbm_draw_categorical(struct gbm_rng *rng, const real *w, int n)
{
    real total = 0;
    for (int i = 0; i < n; i++)
        total += w[i] > 0 ? w[i] : 0;
    real left = gbm_uniform(rng) * total;
    int last = 0;
    for (int i = 0; i < n; i++) {
        if (!(w[i] > 0))
            continue;
        last = i;
        left -= w[i];
        if (left < 0)
            break;
    }
    return (real)last;
}

/* A category 1 .. K with probability proportional to p[K], as BUGS counts. */
GBM_FN real gbm_draw_category(struct gbm_rng *rng, int K, const real *p)
{
    return gbm_draw_categorical(rng, p, K) + 1;
}

/* A 0-based index from logarithms of weights, up to a common constant. What is
 * infinite or NaN is never chosen; 0 if there is nothing else. */
GBM_FN real gbm_draw_categorical_log(struct gbm_rng *rng, const real *logw,
                                     int n)
{
    real largest = -GBM_INF;
    for (int i = 0; i < n; i++)
        if (gbm_is_finite(logw[i]) && logw[i] > largest)
            largest = logw[i];
    real total = 0;
    for (int i = 0; i < n; i++)
        total += gbm_is_finite(logw[i]) ? real_exp(logw[i] - largest) : 0;
    real left = gbm_uniform(rng) * total;
    int last = 0;
    for (int i = 0; i < n; i++) {
        if (!gbm_is_finite(logw[i]))
            continue;
        last = i;
        left -= real_exp(logw[i] - largest);
        if (left < 0)
            break;
    }
    return (real)last;
}

#endif
