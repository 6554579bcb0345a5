/* hypergeometric.h: Fisher's noncentral hypergeometric distribution: x of the
 * m1 draws come from the first group of n1, the others from the second of n2;
 * the odds ratio psi is 1 in the central case. Inversion that starts at the
 * mode and works outwards, after Liao and Rosen, "Fast and stable algorithms
 * for computing and sampling from the noncentral hypergeometric distribution"
 * (American Statistician 55, 2001): a number of steps like the standard
 * deviation. */
#ifndef GBM_HYPERGEOMETRIC_H
#define GBM_HYPERGEOMETRIC_H

#include "rng.h"

struct gbm_hypergeometric {
    real n1, n2, m1, psi;
    real lower, upper; /* the support */
    real mode;
    real total; /* of the weights relative to the mode's */
};

/* weight(x) / weight(x - 1) */
GBM_FN real gbm_hyper_ratio(const struct gbm_hypergeometric *h, real x)
{
    return (h->n1 - x + 1) * (h->m1 - x + 1) / x / (h->n2 - h->m1 + x) * h->psi;
}

/* The mode is where the ratio passes 1: the root of a quadratic. */
GBM_FN_BIG struct gbm_hypergeometric gbm_hyper(real n1, real n2, real m1,
                                               real psi)
{
    struct gbm_hypergeometric h;
    h.n1 = real_round(n1);
    h.n2 = real_round(n2);
    h.m1 = real_round(m1);
    h.psi = psi;
    h.lower = real_fmax(0, h.m1 - h.n2);
    h.upper = real_fmin(h.n1, h.m1);
    real a = psi - 1;
    real b = -((h.m1 + h.n1 + 2) * psi + h.n2 - h.m1);
    real c = psi * (h.n1 + 1) * (h.m1 + 1);
    real q = -(b - real_sqrt(b * b - 4 * a * c)) / 2;
    h.mode = gbm_clamp(real_floor(c / q), h.lower, h.upper);
    h.total = 1;
    real weight = 1;
    for (real x = h.mode + 1; x <= h.upper; x += 1) {
        weight *= gbm_hyper_ratio(&h, x);
        h.total += weight;
        if (weight < h.total * GBM_EPSILON / 16)
            break;
    }
    weight = 1;
    for (real x = h.mode; x > h.lower; x -= 1) {
        weight /= gbm_hyper_ratio(&h, x);
        h.total += weight;
        if (weight < h.total * GBM_EPSILON / 16)
            break;
    }
    return h;
}

/* The heavier neighbour is visited next. */
GBM_FN_BIG real gbm_draw_hypergeometric(struct gbm_rng *rng, real n1, real n2,
                                        real m1, real psi)
{
    if (!(n1 >= 0 && n2 >= 0 && m1 >= 0 && m1 <= n1 + n2 && psi > 0))
        return GBM_NAN;
    struct gbm_hypergeometric h = gbm_hyper(n1, n2, m1, psi);
    real left = gbm_uniform(rng) * h.total - 1;
    real high = h.mode, low = h.mode, x = h.mode;
    real above = high < h.upper ? gbm_hyper_ratio(&h, high + 1) : 0;
    real below = low > h.lower ? 1 / gbm_hyper_ratio(&h, low) : 0;
    while (left > 0 && (above > 0 || below > 0)) {
        if (above >= below) {
            left -= above;
            x = high += 1;
            above *= high < h.upper ? gbm_hyper_ratio(&h, high + 1) : 0;
        } else {
            left -= below;
            x = low -= 1;
            below = low > h.lower ? below / gbm_hyper_ratio(&h, low) : 0;
        }
    }
    return x;
}

#endif
