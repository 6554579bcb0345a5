/* polya_gamma.h: Polya-Gamma draws PG(n, z), n > 0 not necessarily whole:
 *     (1 / (2 pi^2)) sum_k g_k / ((k - 1/2)^2 + z^2 / (4 pi^2)),
 * g_k gamma of shape n and rate 1.
 *
 * n from 1 to 600, |z| not large: polya_gamma_bent.h. Else n = 1: by the
 * alternating series of Devroye, as in Polson, Scott and Windle, "Bayesian
 * inference for logistic models using Polya-Gamma latent variables" (JASA 108,
 * 2013); exact. Other n: the sum itself, made of fewer terms.
 *
 * Where n >= 1 and |z| is not large these are few gammas of other shapes and
 * rates, and a shift, that have the sum's first cumulants at one z, 2 q + 1 of
 * them for q gammas: nodes and weights of Gauss's quadrature for the measure
 * that has the square of each term's weight there. At any other z the density
 * of PG(n, 0) is multiplied by exp(-z^2 x / 2), and so is that of each gamma:
 * its rate grows by what the rates of the terms grow by. Else the terms beyond
 * the first ones are replaced by a shifted gamma with their mean, variance and
 * third cumulant. Either way the distribution function is off by 1e-9 at most,
 * and mostly by less than 1e-13: beyond the reach of 10^17 draws. */
#ifndef GBM_POLYA_GAMMA_H
#define GBM_POLYA_GAMMA_H

#include "gamma.h"
#include "inverse_gaussian.h"
#include "normals.h"
#include "polya_gamma_bent.h"
#include "polya_gamma_nodes.h"

/* Where Devroye's two series for the density meet. */
#define GBM_PG_SPLIT REAL_C(0.64)

/* No more than what is left of the alternating series of J*(1, 0)'s density,
 * over its first term: the second is largest at the split, 3 exp(-4 / split).
 */
#define GBM_PG_SURE REAL_C(0.99)

/* Whether u lies below the series at x, over its first term: 1 - 3 q + 5 q^3 -
 * 7 q^6 ..., whose partial sums are bounds from below and above in turn. */
GBM_FN bool gbm_pg_below(real u, real x)
{
    if (u <= GBM_PG_SURE)
        return true;
    const real q = real_exp(x > GBM_PG_SPLIT ? -GBM_PI * GBM_PI * x : -4 / x);
    real sum = 1, step = 1, power = 1;
    for (int k = 1; k <= 100; k++) {
        step *= q;
        power *= step;
        const real term = (real)(2 * k + 1) * power;
        if (k & 1) {
            sum -= term;
            if (u <= sum)
                return true;
        } else {
            sum += term;
            if (u > sum)
                return false;
        }
    }
    return true; /* u is the sum to rounding */
}

/* Whether an exponential variable, -log(u), is at least c: most often 1 - u <=
 * -log(u) <= (1 - u) / u tells. */
GBM_FN bool gbm_pg_exceeds(struct gbm_rng *rng, real c)
{
    const real u = gbm_uniform(rng), rest = 1 - u;
    if (rest >= c)
        return true;
    return rest >= c * u && -real_log(u) >= c;
}

/* Inverse Gaussian with mean 1 / z and shape 1, below the split. */
GBM_FN real gbm_pg_inverse_gaussian(struct gbm_rng *rng, real z)
{
    real x;
    if (z * GBM_PG_SPLIT >= 1) {
        do
            x = gbm_draw_inverse_gaussian(rng, 1 / z, 1);
        while (x > GBM_PG_SPLIT);
        return x;
    }
    for (;;) { /* a squared normal beyond 1/sqrt(split), inverted */
        real e = gbm_draw_exponential(rng);
        if (!gbm_pg_exceeds(rng, e * e * GBM_PG_SPLIT / 2))
            continue;
        x = 1 + e * GBM_PG_SPLIT;
        x = GBM_PG_SPLIT / (x * x);
        if (gbm_pg_exceeds(rng, z * z * x / 2))
            return x;
    }
}

/* PG(1, 2 z), z >= 0. `right` is the probability of a proposal beyond the split
 * and `rate` the rate of the exponential there. */
GBM_FN real gbm_pg_one(struct gbm_rng *rng, real z, real right, real rate)
{
    for (;;) {
        real x = gbm_uniform(rng) < right
                     ? GBM_PG_SPLIT + gbm_draw_exponential(rng) / rate
                     : gbm_pg_inverse_gaussian(rng, z);
        if (gbm_pg_below(gbm_uniform(rng), x))
            return x / 4;
    }
}

/* exp(base - z) times the mass below the split of the inverse Gaussian with
 * mean 1 / z and shape 1; by logs where factors might overflow. */
#define GBM_PG_FAR 12
GBM_FN real gbm_pg_mass(real z, real base)
{
    const real root = real_sqrt(1 / GBM_PG_SPLIT);
    if (z < GBM_PG_FAR) {
        const real half = root * GBM_SQRT1_2, e = real_exp(-z);
        return real_exp(base) / 2 *
               (e * real_erfc(half * (1 - GBM_PG_SPLIT * z)) +
                real_erfc(half * (1 + GBM_PG_SPLIT * z)) / e);
    }
    const real odds = gbm_log_phi(root * (GBM_PG_SPLIT * z - 1)) - z;
    return real_exp(base + odds) +
           real_exp(base + z + gbm_log_phi(-root * (GBM_PG_SPLIT * z + 1)));
}

GBM_FN_BIG real gbm_pg_single(struct gbm_rng *rng, real z)
{
    z /= 2;
    const real rate = GBM_PI * GBM_PI / 8 + z * z / 2;
    /* mass of the inverse Gaussian below the split, over the exponential's */
    const real odds = gbm_pg_mass(z, rate * GBM_PG_SPLIT);
    return gbm_pg_one(rng, z, 1 / (1 + 4 / GBM_PI * rate * odds), rate);
}

/* ---- few gammas ---- */

/* Marsaglia and Tsang's gammas (gamma.h), the first trials of all at once. What
 * they accept without a logarithm, u < 1 - 0.0331 x^4, is for d = 2/3: the
 * probability of a refusal, 1 - exp(d f(x / sqrt(d))), is below a multiple of
 * x^4 / d that is largest for the least d. */
GBM_INLINE real gbm_pg_gammas(struct gbm_rng *rng, real n, real c2,
                              const struct gbm_pg_nodes p)
{
    real x[GBM_PG_NODES], u[GBM_PG_NODES], weight[GBM_PG_NODES];
    real v[GBM_PG_NODES], d[GBM_PG_NODES], sum = 0;
    bool sure[GBM_PG_NODES];
    gbm_draw_pairs(rng, p.count, x, u);
    GBM_SIMD
    for (int i = 0; i < p.count; i++) {
        const real x2 = x[i] * x[i];
        d[i] = n * p.shape[i] - REAL_C(1.0 / 3);
        v[i] = 1 + x[i] / (3 * real_sqrt(d[i]));
        sure[i] = v[i] > 0 && (1 - u[i]) * d[i] > REAL_C(0.02207) * x2 * x2;
        v[i] = v[i] * v[i] * v[i];
        weight[i] = 1 / (p.rate[i] + c2);
    }
    for (int i = 0; i < p.count; i++) {
        const bool taken =
            sure[i] || (v[i] > 0 && real_log(u[i]) <
                                        x[i] * x[i] / 2 +
                                            d[i] * (1 - v[i] + real_log(v[i])));
        sum += weight[i] * (taken ? d[i] * v[i]
                                  : gbm_draw_gamma_large(rng, n * p.shape[i]));
    }
    return (sum + n * p.shift) / (2 * GBM_PI * GBM_PI);
}

/* n >= 1, z from 0 to GBM_PG_FAR_NODES. */
GBM_FN_BIG real gbm_pg_few(struct gbm_rng *rng, real n, real z)
{
    const real c2 = z / (2 * GBM_PI) * (z / (2 * GBM_PI));
    const bool few = n >= GBM_PG_FEW_NODES && z <= GBM_PG_NEAR_NODES;
#ifdef __CUDACC__ /* once in the text */
    return gbm_pg_gammas(rng, n, c2,
                         few ? gbm_pg_few_nodes() : gbm_pg_many_nodes());
#else
    return few ? gbm_pg_gammas(rng, n, c2, gbm_pg_few_nodes())
               : gbm_pg_gammas(rng, n, c2, gbm_pg_many_nodes());
#endif
}

/* ---- the sum, with a gamma for the rest ---- */

/* Integrals from m to infinity of (x^2 + c2)^-2 and ^-3, by Gauss and Legendre
 * with x = m / t: the sums over the terms beyond m, by the midpoint rule. */
GBM_FN void gbm_pg_tails(real m, real c2, real *second, real *third)
{
    const real node[4] = {
        REAL_C(0.18343464249564980494), REAL_C(0.52553240991632898582),
        REAL_C(0.79666647741362673959), REAL_C(0.96028985649753623168)};
    const real weight[4] = {
        REAL_C(0.36268378337836198297), REAL_C(0.31370664587788728734),
        REAL_C(0.22238103445337447054), REAL_C(0.10122853629037625915)};
    real square = 0, cube = 0;
    for (int i = 0; i < 8; i++) {
        real t = (1 + (i & 1 ? node[i / 2] : -node[i / 2])) / 2;
        real f = 1 / (m * m + c2 * t * t), value = f * f * t * t;
        square += weight[i / 2] / 2 * value;
        cube += weight[i / 2] / 2 * (value * f * t * t);
    }
    *second = square * m;
    *third = cube * m;
}

/* tanh(z/2) / (2 z), the mean of PG(1, z). */
GBM_FN real gbm_pg_mean(real z)
{
    return z < REAL_C(1e-3) ? (1 - z * z / 12) / 4 : real_tanh(z / 2) / (2 * z);
}

/* How many of the terms are drawn. Beyond m of them the fourth cumulant is off
 * by about 0.14 n / m^7, to be compared with the square of the variance, which
 * is at least n w^2, w the first weight: the more n the fewer. Where n is small
 * the cumulants behind it count, too. */
#define GBM_PG_FEW REAL_C(6e6)
GBM_FN int gbm_pg_terms(real n, real w, int most)
{
    const real one = n * (w * w) * (w * w);
    if (n < 4)
        return most;
    for (int m = 1; m < most; m++) {
        const real square = (real)m * (real)m;
        if (square * square * square * (real)m * one >= GBM_PG_FEW)
            return n < 5 ? m + 1 : m;
    }
    return most;
}

/* The sum: so many terms are drawn, the rest is shift + scale * gamma(shape).
 */
struct gbm_pg_parts {
    real c2;
    int terms;
    real shift, scale, shape;
};

GBM_FN real gbm_pg_weight(int k, real c2)
{
    const real h = (real)k + REAL_C(0.5);
    return 1 / (h * h + c2);
}

/* Cumulants of the rest are n sum w, n sum w^2, 2 n sum w^3; far out sums are
 * those of the midpoint rule, whose first correction is -f'(m) / 24. */
GBM_FN struct gbm_pg_parts gbm_pg_parts(real n, real z)
{
    const real c = z / (2 * GBM_PI), c2 = c * c;
    const int near = 8 + (int)real_fmin(z, 1000),
              terms = gbm_pg_terms(n, gbm_pg_weight(0, c2), near);
    const real m = (real)near, f = 1 / (m * m + c2);
    real first = 2 * GBM_PI * GBM_PI * gbm_pg_mean(z), second, third;
    gbm_pg_tails(m, c2, &second, &third);
    second -= 4 * m * f * f * f / 24;
    third -= 6 * m * f * f * f * f / 24;
    for (int k = 0; k < terms; k++)
        first -= gbm_pg_weight(k, c2);
    for (int k = terms; k < near; k++) {
        const real w = gbm_pg_weight(k, c2);
        second += w * w;
        third += w * w * w;
    }
    const struct gbm_pg_parts p = {
        c2, terms, n * (first - second * second / third), third / second,
        n * second * (second / third) * (second / third)};
    return p;
}

GBM_FN_BIG real gbm_pg_sum(struct gbm_rng *rng, real n, real z)
{
    const struct gbm_pg_parts p = gbm_pg_parts(n, z);
    real sum = 0;
    for (int k = 0; k < p.terms; k++)
        sum += gbm_draw_gamma(rng, n) * gbm_pg_weight(k, p.c2);
    sum += p.shift + p.scale * gbm_draw_gamma(rng, p.shape);
    return sum / (2 * GBM_PI * GBM_PI);
}

/* PG(n, z). 0 if n is 0. */
GBM_FN real gbm_draw_polya_gamma(struct gbm_rng *rng, real n, real z)
{
    if (!(n > 0) || z != z)
        return n == 0 ? 0 : GBM_NAN;
    z = real_fabs(z);
    if (gbm_pg_can_bend(n, z))
        return gbm_pg_bent(rng, n, z);
    if (n == 1)
        return gbm_pg_single(rng, z);
    if (n >= 1 && z <= GBM_PG_FAR_NODES)
        return gbm_pg_few(rng, n, z);
    return gbm_pg_sum(rng, n, z);
}

#endif
