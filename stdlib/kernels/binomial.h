/* binomial.h: binomial and negative binomial draws.
 *
 * n p below 10: inversion by sequential search. Above: the transformed
 * rejection BTRS of Hormann, "The generation of binomial random variates"
 * (Journal of Statistical Computation and Simulation 46, 1993). */
#ifndef GBM_BINOMIAL_H
#define GBM_BINOMIAL_H

#include "gamma.h"
#include "gamma_function.h"
#include "poisson.h"

GBM_FN real gbm_binomial_search(struct gbm_rng *rng, real n, real p)
{
    real odds = p / (1 - p), k = 0;
    real u = gbm_uniform(rng), mass = real_exp(n * real_log1p(-p));
    while (u > mass && k < n && k < 200) {
        u -= mass;
        mass *= odds * (n - k) / (k + 1);
        k += 1;
    }
    return k;
}

/* p <= 1/2, n p >= 10. */
GBM_FN_BIG real gbm_binomial_rejection(struct gbm_rng *rng, real n, real p)
{
    real sd = real_sqrt(n * p * (1 - p));
    real b = REAL_C(1.15) + REAL_C(2.53) * sd;
    real a = REAL_C(-0.0873) + REAL_C(0.0248) * b + REAL_C(0.01) * p;
    real centre = n * p + REAL_C(0.5);
    real alpha = (REAL_C(2.83) + REAL_C(5.1) / b) * sd;
    real squeeze = REAL_C(0.92) - REAL_C(4.2) / b;
    real mode = real_floor((n + 1) * p);
    real top = gbm_log_binomial_term(mode, n - mode, p, 1 - p);
    for (;;) {
        real u = gbm_uniform(rng) - REAL_C(0.5), v = gbm_uniform(rng);
        real us = REAL_C(0.5) - real_fabs(u);
        real k = real_floor((2 * a / us + b) * u + centre);
        if (us >= REAL_C(0.07) && v <= squeeze)
            return k;
        if (k < 0 || k > n)
            continue;
        if (real_log(v * alpha / (a / (us * us) + b)) <=
            gbm_log_binomial_term(k, n - k, p, 1 - p) - top)
            return k;
    }
}

/* The number of successes in n trials of probability p; n is rounded. NaN
 * unless n >= 0 and 0 <= p <= 1. */
GBM_FN real gbm_draw_binomial(struct gbm_rng *rng, real n, real p)
{
    if (!(n >= 0 && n < GBM_INF && p >= 0 && p <= 1))
        return GBM_NAN;
    n = real_round(n);
    real rare = p <= REAL_C(0.5) ? p : 1 - p;
    if (rare == 0)
        return p == 0 ? 0 : n;
    real k = n * rare < 10 ? gbm_binomial_search(rng, n, rare)
                           : gbm_binomial_rejection(rng, n, rare);
    return p <= REAL_C(0.5) ? k : n - k;
}

/* Failures before success number r, r >= 0 not necessarily whole, with success
 * probability p: a Poisson variable whose mean is gamma. */
GBM_FN real gbm_draw_negative_binomial(struct gbm_rng *rng, real p, real r)
{
    if (!(p > 0 && p <= 1 && r >= 0))
        return GBM_NAN;
    if (r == 0 || p == 1)
        return 0;
    return gbm_draw_poisson(rng, gbm_draw_gamma(rng, r) * ((1 - p) / p));
}

#endif
