/* truncated_normal.h: a normal restricted to an interval.
 *
 * Inversion, from the nearer tail so that nothing is lost to rounding; uniform
 * rejection where the density hardly varies over the interval (Robert,
 * "Simulation of truncated normal variables", Statistics and Computing 5, 1995,
 * section 2.2); and, so far out that tail probabilities underflow, Robert's
 * exponential rejection (section 2.1). */
#ifndef GBM_TRUNCATED_NORMAL_H
#define GBM_TRUNCATED_NORMAL_H

#include "between_rows.h"
#include "exponential.h"
#include "normal.h"

/* A number of the standard normal as its distance from a, so that nothing is
 * lost where a is far larger than the interval: on [a, a + width], a short
 * interval, by rejection from the uniform. */
GBM_FN real gbm_truncated_normal_short(struct gbm_rng *rng, real a, real width)
{
    for (;;) {
        real y = width * gbm_uniform(rng);
        real fall = a > 0 ? y * (y + 2 * a) : (a + y) * (a + y);
        if (gbm_draw_exponential(rng) >= fall / 2)
            return y;
    }
}

/* The same with a large: y is exponential of rate a and accepted with
 * probability exp(-y^2 / 2). */
GBM_FN real gbm_truncated_normal_far(struct gbm_rng *rng, real a, real width)
{
    real beyond = width < GBM_INF ? real_exp(-a * width) : 0;
    for (;;) {
        real y = -real_log1p(gbm_uniform(rng) * (beyond - 1)) / a;
        if (2 * gbm_draw_exponential(rng) >= y * y)
            return y;
    }
}

/* The probability beyond b >= 0; none to work out where it underflows, as a
 * bound that stands for infinity may lie anywhere. */
GBM_FN real gbm_normal_beyond(real b) { return b < 40 ? gbm_phi(-b) : 0; }

/* Standard normal on [a, b], |a| <= b, by inversion of the nearer tail. One
 * text for a of either sign, as threads of a warp have both. */
GBM_FN real gbm_truncated_normal_inverse(struct gbm_rng *rng, real a, real b)
{
    const real p = gbm_phi(-real_fabs(a)), r = gbm_normal_beyond(b);
    const real left = REAL_C(0.5) - p, right = REAL_C(0.5) - r;
    const real u = gbm_uniform(rng);
    const real t = u * (left + right);
    const bool below = a <= 0 && t < left; /* x < 0 */
    const real x = gbm_probit(a > 0   ? r + u * (p - r)
                              : below ? p + t
                                      : r + (left + right - t));
    return below ? x : -x;
}

/* Standard normal on [a, a + width], whose upper end b is the farther from 0;
 * *from_end: as its distance from a. */
GBM_FN_BIG real gbm_truncated_normal_right(struct gbm_rng *rng, real a, real b,
                                           real width, bool *from_end)
{
    *from_end = true;
    if (a > 0 ? width * (width + 2 * a) <= 1 : b * b <= 1)
        return gbm_truncated_normal_short(rng, a, width);
    if (a > GBM_FAR_TAIL)
        return gbm_truncated_normal_far(rng, a, width);
    *from_end = false;
    return gbm_truncated_normal_inverse(rng, a, b);
}

/* Normal with mean mu and standard deviation sd on [lower, upper]; either bound
 * may be infinite. NaN if upper < lower. */
GBM_FN real gbm_draw_truncated_normal(struct gbm_rng *rng, real mu, real sd,
                                      real lower, real upper)
{
#ifndef __CUDACC__
    real value;
    if (rng->between && gbm_between_answers(rng, mu, sd, lower, upper, &value))
        return value;
#endif
    if (!(lower < upper))
        return lower == upper ? lower : GBM_NAN;
    real a = (lower - mu) / sd, b = (upper - mu) / sd;
    real width = (upper - lower) / sd;
    const bool flip = -a > b;
    bool from_end;
    const real x = gbm_truncated_normal_right(rng, flip ? -b : a, flip ? -a : b,
                                              width, &from_end);
    const real origin = !from_end ? mu : flip ? upper : lower;
    return gbm_clamp(origin + sd * (flip ? -x : x), lower, upper);
}

#endif
