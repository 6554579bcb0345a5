/* truncated_gamma.h: a gamma, or a power of x, restricted to an interval.
 *
 * The density of log x under a gamma is log-concave whatever the shape, so
 * rejection from a hat of three parts works: flat round the mode, and tangents
 * to the log density on both sides (Devroye, "Non-uniform random variate
 * generation", 1986, VII.2). It takes no distribution function, so it is exact
 * however far the interval is in a tail. */
#ifndef GBM_TRUNCATED_GAMMA_H
#define GBM_TRUNCATED_GAMMA_H

#include "gamma.h"

/* t = log(x / c) has log density shape t - c expm1(t), up to a constant. */
struct gbm_log_gamma_density {
    real shape, c;
};

/* exp(t) overflows beyond, which c exp(t) need not. */
#define GBM_FAR_EXPONENT (sizeof(real) == 4 ? REAL_C(80.0) : REAL_C(700.0))

GBM_FN real gbm_times_exp(real c, real t)
{
    return t < GBM_FAR_EXPONENT ? c * real_exp(t) : real_exp(t + real_log(c));
}

/* log(a / b) of positive numbers, however far apart. */
GBM_FN real gbm_log_ratio(real a, real b)
{
    const real ratio = a / b;
    return ratio < GBM_INF ? real_log(ratio) : real_log(a) - real_log(b);
}

GBM_FN real gbm_log_gamma_value(struct gbm_log_gamma_density f, real t)
{
    return f.shape * t -
           (t < GBM_FAR_EXPONENT ? f.c * real_expm1(t) : gbm_times_exp(f.c, t));
}

/* A tangent on one side of the mode (1 or -1), `away` from it: where it reaches
 * the height of the mode, its slope away from it (positive) and the area below
 * it up to `end`. Next to a steep end `away` is rounded to 0. */
struct gbm_tangent {
    real from, rate, area;
};

GBM_FN struct gbm_tangent gbm_tangent_of(struct gbm_log_gamma_density f,
                                         real mode, real top, real side,
                                         real away, real end)
{
    struct gbm_tangent tangent = {end, 1, 0};
    real touch = mode + side * away;
    real rate = -side * (f.shape - gbm_times_exp(f.c, touch));
    if (!(rate > 0) || (end - mode) * side <= 0)
        return tangent;
    real from = touch - side * (top - gbm_log_gamma_value(f, touch)) / rate;
    from = (from - mode) * side > 0 ? from : mode;
    if ((end - from) * side <= 0)
        return tangent;
    tangent.from = from;
    tangent.rate = rate;
    tangent.area = -real_expm1(-rate * (end - from) * side) / rate;
    return tangent;
}

/* Draws t in [lower, upper]; lower may be -inf if shape > 0. */
GBM_FN_BIG real gbm_draw_log_gamma_between(struct gbm_rng *rng,
                                           struct gbm_log_gamma_density f,
                                           real lower, real upper)
{
    real mode = f.shape > 0 ? gbm_log_ratio(f.shape, f.c) : lower;
    mode = gbm_clamp(mode, lower, upper);
    real top = gbm_log_gamma_value(f, mode);
    real curvature = gbm_times_exp(f.c, mode);
    real slope = real_fabs(f.shape - curvature);
    /* Where the log density falls by about 1; to the right no farther than its
     * exponential lets it, far before which the square would make that overflow
     * where shape and c are near 0. */
    real away = 2 / (slope + real_sqrt(slope * slope + 2 * curvature));
    real near =
        real_fmin(away, 1 + (curvature < GBM_TINY ? -real_log(curvature)
                                                  : real_log1p(1 / curvature)));
    struct gbm_tangent right = gbm_tangent_of(f, mode, top, 1, near, upper);
    struct gbm_tangent left = gbm_tangent_of(f, mode, top, -1, away, lower);
    real flat = right.from - left.from;
    for (;;) {
        real v = gbm_uniform(rng) * (flat + right.area + left.area);
        real t, hat = 0;
        if (v < flat) {
            t = left.from + v;
        } else if (v < flat + right.area) {
            hat = real_log1p(-real_fmin((v - flat) * right.rate, 1));
            t = right.from - hat / right.rate;
        } else {
            hat =
                real_log1p(-real_fmin((v - flat - right.area) * left.rate, 1));
            t = left.from + hat / left.rate;
        }
        if (t >= lower && t <= upper &&
            top + hat - gbm_draw_exponential(rng) <= gbm_log_gamma_value(f, t))
            return t;
    }
}

/* Whether three draws in ten or more of a gamma are between these: its median
 * is above its mode, and at most a fifth is two deviations above its mean
 * (Cantelli). */
GBM_FN bool gbm_gamma_mostly_between(real shape, real lower, real upper)
{
    return (lower <= 0 || lower <= shape - 1) &&
           upper >= shape + 2 * real_sqrt(shape);
}

/* Density proportional to x^(shape-1) exp(-x) on [lower, upper]. lower >= 0;
 * upper may be infinite; shape may be 0 or negative if lower > 0. NaN if the
 * interval is empty or the density has no finite integral. */
GBM_FN_BIG real gbm_draw_truncated_gamma(struct gbm_rng *rng, real shape,
                                         real lower, real upper)
{
    lower = real_fmax(lower, 0);
    if (!(lower < upper) || !(shape > 0 || lower > 0))
        return lower == upper ? lower : GBM_NAN;
    if (lower == 0 && upper == GBM_INF)
        return gbm_draw_gamma(rng, shape);
    if (shape == 1) /* by inversion */
        return gbm_clamp(
            lower - real_log1p(gbm_uniform(rng) * real_expm1(lower - upper)),
            lower, upper);
    if (gbm_is_finite(shape) && gbm_gamma_mostly_between(shape, lower, upper))
        for (;;) {
            const real x = gbm_draw_gamma(rng, shape);
            if (x >= lower && x <= upper)
                return x;
        }
    struct gbm_log_gamma_density f = {shape, lower > 0 ? lower : upper};
    real from = lower > 0 ? 0 : -GBM_INF;
    real to = lower > 0 ? gbm_log_ratio(upper, lower) : 0;
    if (lower > 0 && upper < 2 * lower)
        to = real_log1p((upper - lower) / lower);
    real t = gbm_draw_log_gamma_between(rng, f, from, to);
    real x = f.c + f.c * real_expm1(t);
    if (t < -1 || t >= GBM_FAR_EXPONENT)
        x = real_fmax(gbm_times_exp(f.c, t), GBM_TINY);
    return gbm_clamp(x, lower, upper);
}

/* Density proportional to x^a on [lower, upper], any real a; lower may be 0 if
 * a > -1, upper infinite if a < -1. By inversion, from the heavier end. An a of
 * -1 with a lower of 0 is one a little greater, rounded: nearly all mass is
 * below every number. */
GBM_FN real gbm_draw_power_law(struct gbm_rng *rng, real a, real lower,
                               real upper)
{
    real b = a + 1, u = gbm_uniform(rng);
    if (!(lower < upper))
        return lower == upper ? lower : GBM_NAN;
    if ((lower <= 0 && b < 0) || (upper == GBM_INF && b >= 0))
        return GBM_NAN;
    if (lower <= 0 && b == 0)
        return GBM_TINY;
    real length = real_log(upper / lower), t;
    if (lower > 0 && upper < 2 * lower)
        length = real_log1p((upper - lower) / lower);
    real x;
    if (real_fabs(b) * length < REAL_C(1e-12)) {
        x = lower * real_exp(u * length);
    } else {
        t = -real_log1p(u * real_expm1(-real_fabs(b) * length)) / real_fabs(b);
        x = b > 0 ? upper * real_exp(-t) : lower * real_exp(t);
    }
    return gbm_clamp(x, real_fmax(lower, GBM_TINY), upper);
}

/* Density proportional to x^(shape-1) exp(-rate x) on [lower, upper], as above.
 * Effects that are all equal, as they may be at the start, leave a rate of 0.
 */
GBM_FN_BIG real gbm_draw_gamma_between(struct gbm_rng *rng, real shape,
                                       real rate, real lower, real upper)
{
    if (rate == 0 || (rate > 0 && rate * upper < GBM_EPSILON))
        return gbm_draw_power_law(rng, shape - 1, lower, upper);
    return gbm_draw_truncated_gamma(rng, shape, rate * lower, rate * upper) /
           rate;
}

/* Density proportional to x^(v-1) exp(-rate x^v) on [lower, upper]. Of a bound
 * far out in the tail, as a censored time has it where v starts at 1000, the
 * power may be no number: what a draw adds to it is a part of it. */
GBM_FN_BIG real gbm_draw_weibull_between(struct gbm_rng *rng, real v, real rate,
                                         real lower, real upper)
{
    const real from = rate * real_pow(lower, v);
    if (!(from > 1))
        return real_pow(
            gbm_draw_truncated_gamma(rng, 1, from, rate * real_pow(upper, v)) /
                rate,
            1 / v);
    if (!(lower < upper))
        return lower == upper ? lower : GBM_NAN;
    const real to = from * real_expm1(v * gbm_log_ratio(upper, lower));
    const real beyond = gbm_draw_truncated_gamma(rng, 1, 0, to) / from;
    return gbm_clamp(lower * real_exp(real_log1p(beyond) / v), lower, upper);
}

#endif
