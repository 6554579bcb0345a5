/* spread.h: effects e = s - A x, whose sums s with a linear form of x are held,
 * with the prior N(0, 1 / (w c)): the scale w drawn with x integrated out. At w
 * exp(t) and shifted by u from where x is, the log density is
 *
 *     f (b'u - u'Q u / 2 - square / 2) + count power t / 2 + p'u - u'P u / 2,
 *
 * f = exp(power t), the first of the effects and the last of the prior of x;
 * the integral over u is a normal one's. Which w and why:
 * compiler/sampler/held_spread.c. */
#ifndef GBM_SPREAD_H
#define GBM_SPREAD_H

#include "few.h"
#include "slice.h"

/* Lower triangles of Q and P [d][d]; W, v: room for what is factored. */
struct gbm_spread {
    int d;
    real power;
    real *Q, *b, *P, *p, *W, *v;
    gbm_total square, count;
};

/* W and v: the precision and the potential of u at t. */
GBM_FN void gbm_spread_join(const struct gbm_spread *k, real t)
{
    const real f = real_exp(k->power * t);
    for (int i = 0; i < k->d; i++) {
        k->v[i] = f * k->b[i] + k->p[i];
        for (int j = i * k->d; j <= i * k->d + i; j++)
            k->W[j] = f * k->Q[j] + k->P[j];
    }
}

/* The log density of the effects at t where x is. */
GBM_FN gbm_total gbm_spread_effects(const struct gbm_spread *k, real t)
{
    return k->count * k->power * t / 2 - real_exp(k->power * t) * k->square / 2;
}

#ifdef __CUDACC__
template <int D>
GBM_FN void gbm_few_join(const struct gbm_spread *k, real t, real (&W)[D][D],
                         real (&v)[D])
{
    const real f = real_exp(k->power * t);
    GBM_UNROLL
    for (int i = 0; i < D; i++) {
        v[i] = f * k->b[i] + k->p[i];
        GBM_UNROLL
        for (int j = 0; j <= i; j++)
            W[i][j] = f * k->Q[i * D + j] + k->P[i * D + j];
    }
}

template <int D> GBM_FN real gbm_few_density(const struct gbm_spread *k, real t)
{
    real W[D][D], v[D];
    gbm_few_join<D>(k, t, W, v);
    gbm_total total = gbm_spread_effects(k, t) - gbm_few_factor<D>(W, v);
    GBM_UNROLL
    for (int i = 0; i < D; i++)
        total += v[i] * v[i] / 2;
    return total == total ? (real)total : -GBM_INF;
}

template <int D>
GBM_FN bool gbm_few_draw(struct gbm_rng *rng, const struct gbm_spread *k,
                         real t, real *u)
{
    real W[D][D], v[D];
    gbm_few_join<D>(k, t, W, v);
    if (gbm_is_nan(gbm_few_factor<D>(W, v)))
        return false;
    GBM_UNROLL
    for (int i = 0; i < D; i++)
        v[i] += gbm_draw_normal(rng);
    gbm_few_solve_transposed<D>(W, v);
    GBM_UNROLL
    for (int i = 0; i < D; i++)
        u[i] = v[i];
    return true;
}
#endif

/* The log density at t, u integrated out. */
GBM_FN real gbm_spread_density(const struct gbm_spread *k, real t)
{
    GBM_BY_ROWS(k->d, gbm_few_density, k, t)
    gbm_spread_join(k, t);
    if (!gbm_cholesky(k->d, k->W))
        return -GBM_INF;
    gbm_solve_lower(k->d, k->W, k->v);
    gbm_total total = gbm_spread_effects(k, t);
    for (int i = 0; i < k->d; i++)
        total += k->v[i] * k->v[i] / 2 - real_log(k->W[i * k->d + i]);
    return (real)total;
}

/* u at t; false if there is none. */
GBM_FN bool gbm_spread_draw(struct gbm_rng *rng, const struct gbm_spread *k,
                            real t, real *u)
{
    GBM_BY_ROWS(k->d, gbm_few_draw, rng, k, t, u)
    gbm_spread_join(k, t);
    return gbm_gaussian_draw(rng, k->d, k->W, k->v, u);
}

/* An interval that does not change with w, as a move from a point of the line
 * must be the same whichever point it is written from. */
GBM_INLINE real gbm_spread_slice(struct gbm_rng *rng,
                                 const struct gbm_spread *k,
                                 real (*density)(const void *context, real t),
                                 const void *context)
{
    const real width =
        4 / (real_fabs(k->power) * real_sqrt((real)k->count / 2));
    return gbm_slice_along(rng, width, -GBM_INF, GBM_INF, density, context);
}

#endif
