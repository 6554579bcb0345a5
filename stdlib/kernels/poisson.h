/* poisson.h: Poisson draws.
 *
 * Mean below 10: inversion by sequential search. Above: the transformed
 * rejection PTRS of Hormann, "The transformed rejection method for generating
 * Poisson random variables" (Insurance: Mathematics and Economics 12, 1993). */
#ifndef GBM_POISSON_H
#define GBM_POISSON_H

#include "gamma_function.h"
#include "rng.h"

GBM_FN real gbm_poisson_search(struct gbm_rng *rng, real mean)
{
    real u = gbm_uniform(rng), p = real_exp(-mean), k = 0;
    while (u > p && k < 200) {
        u -= p;
        k += 1;
        p *= mean / k;
    }
    return k;
}

GBM_FN_BIG real gbm_poisson_rejection(struct gbm_rng *rng, real mean)
{
    real root = real_sqrt(mean);
    real b = REAL_C(0.931) + REAL_C(2.53) * root;
    real a = REAL_C(-0.059) + REAL_C(0.02483) * b;
    real scale = REAL_C(1.1239) + REAL_C(1.1328) / (b - REAL_C(3.4));
    real squeeze = REAL_C(0.9277) - REAL_C(3.6224) / (b - 2);
    for (;;) {
        real u = gbm_uniform(rng) - REAL_C(0.5), v = gbm_uniform(rng);
        real us = REAL_C(0.5) - real_fabs(u);
        real k = real_floor((2 * a / us + b) * u + mean + REAL_C(0.43));
        if (us >= REAL_C(0.07) && v <= squeeze)
            return k;
        if (k < 0 || (us < REAL_C(0.013) && v > us))
            continue;
        if (real_log(v * scale / (a / (us * us) + b)) <=
            gbm_log_poisson_term(k, mean))
            return k;
    }
}

/* A Poisson draw; 0 for mean 0, NaN for one that is negative or not finite. */
GBM_FN real gbm_draw_poisson(struct gbm_rng *rng, real mean)
{
    if (!(mean >= 0 && mean < GBM_INF))
        return GBM_NAN;
    return mean < 10 ? gbm_poisson_search(rng, mean)
                     : gbm_poisson_rejection(rng, mean);
}

#endif
