/* gig.h: generalised inverse Gaussian draws: density proportional to
 * x^(p-1) exp(-(a x + b / x) / 2), and the integral.
 *
 * Hormann and Leydold, "Generating generalized inverse Gaussian random
 * variates" (Statistics and Computing 24, 2014): ratio of uniforms with and
 * without shift of the mode (Dagpunar 1989; Lehner 1989), and for small omega
 * and p < 1 rejection from a three-part hat. They want scale 1, that is density
 * x^(p-1) exp(-omega (x + 1/x) / 2) with omega = sqrt(a b), and p >= 0. Of p =
 * 1/2 and -1/2, as in mixtures for Laplace densities, it is an inverse Gaussian
 * or one over it, in a half to a fourth of the time. */
#ifndef GBM_GIG_H
#define GBM_GIG_H

#include "bessel.h"
#include "elementary.h"
#include "gamma.h"
#include "inverse_gaussian.h"

/* The standard density's mode. */
GBM_FN real gbm_gig_mode(real p, real omega)
{
    real q = p - 1, root = gbm_hypotenuse(q, omega);
    return p >= 1 ? (root + q) / omega : omega / (root - q);
}

/* Half the log density. */
GBM_FN real gbm_gig_half_log(real p, real omega, real x)
{
    return (p - 1) / 2 * real_log(x) - omega / 4 * (x + 1 / x);
}

GBM_FN_BIG real gbm_gig_ratio(struct gbm_rng *rng, real p, real omega)
{
    real top = gbm_gig_half_log(p, omega, gbm_gig_mode(p, omega));
    real y = (p + 1 + real_sqrt((p + 1) * (p + 1) + omega * omega)) / omega;
    real width = y * real_exp(gbm_gig_half_log(p, omega, y) - top);
    for (;;) {
        real u = width * gbm_uniform(rng), v = gbm_uniform(rng), x = u / v;
        if (real_log(v) <= gbm_gig_half_log(p, omega, x) - top)
            return x;
    }
}

/* Half the log density at mode + d, less that at the mode. Where it is narrow
 * both are large and alike, and their difference would be rounding alone. */
GBM_FN real gbm_gig_fall(real p, real omega, real mode, real d)
{
    real x = mode + d;
    return (p - 1) / 2 * (real_log1p(d / mode) - d / x) -
           omega / 4 * d * (d / x);
}

/* From where on Cardano's formula has too few digits. */
#define GBM_GIG_NARROW 100

/* Where |d| sqrt(density(mode + d)) is largest on either side of the mode, less
 * the mode: 4 (x mode)^2 = d^2 (2 (p - 1) x mode + omega (x + mode)) with x =
 * mode + d, by iteration. */
GBM_FN real gbm_gig_narrow_side(real p, real omega, real mode, real side)
{
    real d = 0;
    for (int i = 0; i < 24; i++) {
        real x = mode + d;
        d = side * 2 * x * mode /
            real_sqrt(2 * (p - 1) * x * mode + omega * (x + mode));
    }
    return d;
}

/* The same, as roots of a cubic, by Cardano's formula. */
GBM_FN void gbm_gig_sides(real p, real omega, real mode, real *low, real *high)
{
    real a = -(2 * (p + 1) / omega + mode);
    real b = 2 * (p - 1) * mode / omega - 1;
    real linear = b - a * a / 3;
    real constant = 2 * a * a * a / 27 - a * b / 3 + mode;
    real third = real_sqrt(-linear / 3);
    real cosine = -constant / (2 * third * third * third);
    real angle = real_acos(gbm_clamp(cosine, -1, 1)) / 3;
    *high = 2 * third * real_cos(angle) - a / 3 - mode;
    *low = 2 * third * real_cos(angle + 4 * GBM_PI / 3) - a / 3 - mode;
}

GBM_FN_BIG real gbm_gig_shifted_ratio(struct gbm_rng *rng, real p, real omega)
{
    real mode = gbm_gig_mode(p, omega), low, high;
    gbm_gig_sides(p, omega, mode, &low, &high);
    if (p > GBM_GIG_NARROW || omega > GBM_GIG_NARROW) {
        low = gbm_gig_narrow_side(p, omega, mode, -1);
        high = gbm_gig_narrow_side(p, omega, mode, 1);
    }
    real right = high * real_exp(gbm_gig_fall(p, omega, mode, high));
    real left = low * real_exp(gbm_gig_fall(p, omega, mode, low));
    for (;;) {
        real u = left + gbm_uniform(rng) * (right - left);
        real v = gbm_uniform(rng), d = u / v;
        if (mode + d > 0 && real_log(v) <= gbm_gig_fall(p, omega, mode, d))
            return mode + d;
    }
}

/* p < 1, omega small: the hat is constant up to x0, x^(p-1) exp(-omega) up to
 * 2 / omega, and exponential beyond. */
GBM_FN_BIG real gbm_gig_three_parts(struct gbm_rng *rng, real p, real omega)
{
    real mode = gbm_gig_mode(p, omega), x0 = omega / (1 - p), x1 = 2 / omega;
    real top = 2 * gbm_gig_half_log(p, omega, mode); /* hats relative to it */
    real last = real_fmax(x0, x1);
    real area1 = x0, area2 = 0;
    real k1 = real_exp(-omega - top);
    if (x0 < x1)
        area2 = p == 0 ? k1 * real_log(x1 / x0)
                       : k1 * real_pow(x0, p) *
                             real_expm1(p * real_log(x1 / x0)) / p;
    real area3 = real_exp((p - 1) * real_log(last) - top + real_log(x1) -
                          omega / 2 * last);
    for (;;) {
        real v = gbm_uniform(rng) * (area1 + area2 + area3), x, hat;
        if (v <= area1) {
            x = x0 * v / area1;
            hat = 0;
        } else if (v <= area1 + area2) {
            v -= area1;
            x = p == 0
                    ? x0 * real_exp(v / k1)
                    : x0 * real_exp(real_log1p(v * p / k1 * real_pow(x0, -p)) /
                                    p);
            hat = (p - 1) * real_log(x) - omega - top;
        } else {
            x = last + x1 * gbm_draw_exponential(rng);
            hat = (p - 1) * real_log(last) - omega / 2 * x - top;
        }
        if (hat - gbm_draw_exponential(rng) <=
            2 * gbm_gig_half_log(p, omega, x) - top)
            return x;
    }
}

/* a, b >= 0; b = 0 is a gamma (p > 0), a = 0 an inverse gamma (p < 0). NaN
 * where the density has no finite integral. */
GBM_FN_BIG real gbm_draw_gig(struct gbm_rng *rng, real p, real a, real b)
{
    if (!(a >= 0 && b >= 0 && a < GBM_INF && b < GBM_INF && gbm_is_finite(p)) ||
        (a == 0 && p >= 0) || (b == 0 && p <= 0))
        return GBM_NAN;
    real omega = real_sqrt(a) * real_sqrt(b);
    real q = real_fabs(p), x;
    /* what the smaller term takes away has about the mass omega^(2 q) */
    const bool one_term =
        omega < REAL_C(1e-6) * GBM_EPSILON && !(q * real_log(omega) > -20);
    if (p > 0 && one_term)
        return gbm_draw_gamma(rng, p) / (a / 2);
    if (p < 0 && one_term)
        return b / 2 / gbm_draw_gamma(rng, -p);
    if (!(omega > 0))
        return GBM_NAN;
    if (q == REAL_C(0.5)) /* then x is one over it, for either sign of p */
        x = 1 / gbm_draw_inverse_gaussian(rng, 1, omega);
    else if (q > 2 || omega > 3)
        x = gbm_gig_shifted_ratio(rng, q, omega);
    else if (q >= 1 - REAL_C(2.25) * omega * omega || omega > REAL_C(0.2))
        x = gbm_gig_ratio(rng, q, omega);
    else
        x = gbm_gig_three_parts(rng, q, omega);
    x = real_sqrt(b) / real_sqrt(a) * (p < 0 ? 1 / x : x);
    return gbm_clamp(x, GBM_TINY, GBM_HUGE);
}

/* Log of the integral of x^(p-1) exp(-(a x + b / x) / 2) over x > 0, of which
 * the terms that no data have given yet may be 0: a gamma's or an inverse
 * gamma's. Infinite where there is no finite integral. */
GBM_FN_BIG real gbm_log_gig_total(real p, real a, real b)
{
    if (!(a >= 0 && b >= 0) || p != p)
        return GBM_NAN;
    if ((a == 0 && p >= 0) || (b == 0 && p <= 0))
        return GBM_INF;
    if (a == 0)
        return gbm_lgamma(-p) + p * real_log(b / 2);
    if (b == 0)
        return gbm_lgamma(p) - p * real_log(a / 2);
    return GBM_LN2 + gbm_log_bessel_k(p, real_sqrt(a) * real_sqrt(b)) +
           p / 2 * (real_log(b) - real_log(a));
}

#endif
