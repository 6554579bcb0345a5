/* scale.h: multiplies n nodes x by one number g > 0: x' = g x is drawn from
 *
 *     pi(g x) g^(n - 1),   log pi(g x) = linear g - square g^2 / 2 + constant,
 *
 * which leaves pi as it is (Liu and Sabatti 2000, theorem 1: the group of
 * multiplications, its invariant measure dg / g, the Jacobian g^n). What is
 * multiplied and why: compiler/sampler/scale.c. */
#ifndef GBM_SCALE_H
#define GBM_SCALE_H

#include "gamma.h"
#include "slice.h"

/* Of the nodes as they are; held: some of them are data, so none moves. */
struct gbm_scaling {
    gbm_total square, linear, count, held;
    gbm_total logarithm; /* of what is multiplied by g: carried.h's alone */
};

/* The log density at g = exp(t), by t. */
GBM_INLINE real gbm_scale_density(const void *context, real t)
{
    const struct gbm_scaling *k = (const struct gbm_scaling *)context;
    const real g = real_exp(t);
    return (real)(g * (k->linear - k->square * g / 2) + k->count * t);
}

GBM_FN bool gbm_scale_moves(const struct gbm_scaling *k)
{
    return !(k->held > 0) && k->count > 0 && k->square > 0 &&
           gbm_is_finite((real)k->square) && gbm_is_finite((real)k->linear);
}

/* linear is 0: g^2 is a gamma. */
GBM_FN real gbm_scale_draw(struct gbm_rng *rng, const struct gbm_scaling *k)
{
    const real g = gbm_draw_gamma(rng, (real)(k->count / 2));
    return real_sqrt(2 * g / (real)k->square);
}

/* A slice from g = 1, on a scale that does not change with x, as a move from a
 * point of the line must be the same whichever point it is written from. */
GBM_INLINE real gbm_scale_slice(struct gbm_rng *rng,
                                const struct gbm_scaling *k,
                                real (*density)(const void *context, real t),
                                const void *context)
{
    const real width = 4 / real_sqrt(2 * (real)k->count);
    return real_exp(
        gbm_slice_along(rng, width, -GBM_INF, GBM_INF, density, context));
}

GBM_FN real gbm_scale_search(struct gbm_rng *rng, const struct gbm_scaling *k)
{
    return gbm_scale_slice(rng, k, gbm_scale_density, k);
}

#endif
