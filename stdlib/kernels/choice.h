/* choice.h: draws that choose: a component of a mixture, an ordered category, a
 * subset. */
#ifndef GBM_CHOICE_H
#define GBM_CHOICE_H

#include "categorical.h"
#include "normal.h"
#include "normal_function.h"
#include "statistics.h"
#include "truncated_normal.h"

/* From the mixture of normals with means mu[K], precisions tau[K] and weights
 * pi[K]. */
GBM_FN real gbm_draw_normal_mixture(struct gbm_rng *rng, int K, const real *mu,
                                    const real *tau, const real *pi)
{
    int j = (int)gbm_draw_categorical(rng, pi, K);
    return mu[j] + gbm_draw_normal(rng) / real_sqrt(tau[j]);
}

/* The same on [lower, upper]: a component by its weight times its mass there,
 * in logs, as both may underflow. Each takes the place of those before it with
 * its share of the sum so far. */
GBM_FN real gbm_draw_normal_mixture_between(struct gbm_rng *rng, int K,
                                            const real *mu, const real *tau,
                                            const real *pi, real lower,
                                            real upper)
{
    real total = -GBM_INF;
    int chosen = -1;
    for (int j = 0; j < K; j++) {
        const real root = real_sqrt(tau[j]);
        const real weight =
            real_log(pi[j]) +
            gbm_log_phi_between((lower - mu[j]) * root, (upper - mu[j]) * root);
        if (!(weight > -GBM_INF))
            continue;
        total = weight > total ? weight + real_log1p(real_exp(total - weight))
                               : total + real_log1p(real_exp(weight - total));
        if (real_log(gbm_uniform(rng)) <= weight - total)
            chosen = j;
    }
    if (chosen < 0)
        return GBM_NAN;
    return gbm_draw_truncated_normal(rng, mu[chosen],
                                     1 / real_sqrt(tau[chosen]), lower, upper);
}

/* 1 + the number of the ascending cutpoints c[M] that lie below z. */
GBM_FN real gbm_category_of(int M, const real *c, real z)
{
    int j = 0;
    while (j < M && z > c[j])
        j++;
    return (real)(j + 1);
}

GBM_FN real gbm_draw_ordered_logit(struct gbm_rng *rng, int M, real mu,
                                   const real *c)
{
    return gbm_category_of(M, c, mu - real_log(1 / gbm_uniform(rng) - 1));
}

GBM_FN real gbm_draw_ordered_probit(struct gbm_rng *rng, int M, real mu,
                                    const real *c)
{
    return gbm_category_of(M, c, mu + gbm_draw_normal(rng));
}

/* x[K] is 1 for k of the K elements and 0 for the others, with probability
 * proportional to the product of the weights pi[K] of those chosen. One element
 * after the other, given how many are still to be chosen: Chen, Dempster and
 * Liu (1994), Weighted finite population sampling, procedure 4. */
GBM_FN_BIG void gbm_draw_sample(struct gbm_rng *rng, int K, const real *pi,
                                real k, real *x)
{
    int left = (int)k;
    for (int i = 0; i < K; i++) {
        x[i] = 0;
        if (left == 0)
            continue;
        real with = real_log(pi[i]) +
                    gbm_log_subset_sum(K - i - 1, pi + i + 1, (real)(left - 1));
        real all = gbm_log_subset_sum(K - i, pi + i, (real)left);
        if (real_log(gbm_uniform(rng)) < with - all) {
            x[i] = 1;
            left--;
        }
    }
}

#endif
