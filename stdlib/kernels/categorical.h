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

#endif
