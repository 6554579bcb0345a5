/* elliptical.h: elliptical slice sampling, for nodes whose prior is normal
 * given the rest: Murray, Adams and MacKay (2010), Elliptical slice sampling,
 * figure 2. The density is evaluated at one place of the code, and what is no
 * number or infinite is kept away from, as in slice.h. */
#ifndef GBM_ELLIPTICAL_H
#define GBM_ELLIPTICAL_H

#include "exponential.h"
#include "linear.h"

/* Halvings of the angle: more than the bits of a number. */
#define GBM_ELLIPSE_SHRINKS 200

/* One update of x [d], whose prior has mean m [d] and of which v [d] is a draw.
 * The likelihood at a place is asked for with the place in y [d]; it is asked
 * for last at the new x, which is then in y too. *here: what it is at x, or NaN
 * where that is not known; then at the new one. The arrays are the team's. */
GBM_INLINE void gbm_elliptical(struct gbm_rng *rng, const struct gbm_team *team,
                               int d, const real *x, const real *m,
                               const real *v, real *y,
                               real (*likelihood)(void *context, const real *y),
                               void *context, real *here)
{
    real angle = 0, low = 0, high = 0, height = 0;
    for (int tries = 0; tries <= GBM_ELLIPSE_SHRINKS; tries++) {
        real along = real_cos(angle), across = real_sin(angle);
        GBM_TEAM_FOR(i, 0, d, team)
        y[i] = angle == 0
                   ? x[i]
                   : m[i] + (x[i] - m[i]) * along + (v[i] - m[i]) * across;
        const bool asked = tries > 0 || *here != *here;
        const real value = asked ? likelihood(context, y) : *here;
        const bool possible = gbm_is_finite(value);
        if (tries == 0) {
            height = -GBM_INF;
            if (possible)
                height = value - gbm_draw_exponential(rng);
            angle = 2 * GBM_PI * gbm_uniform(rng);
            low = angle - 2 * GBM_PI;
            high = angle;
            continue;
        }
        if ((possible && value > height) || angle == 0) {
            *here = value;
            return;
        }
        if (angle < 0)
            low = angle;
        else
            high = angle;
        angle = tries < GBM_ELLIPSE_SHRINKS - 1
                    ? low + (high - low) * gbm_uniform(rng)
                    : 0;
    }
}

/* The same for a scalar whose log density is that of the prior, potential x +
 * square x^2 with square < 0, plus the log likelihood, between bounds. */
GBM_INLINE real gbm_elliptical_scalar(
    struct gbm_rng *rng, real x0, real potential, real square, real lower,
    real upper, real (*density)(const void *context, real x),
    const void *context)
{
    const real m = potential / (-2 * square);
    const real v = gbm_draw_normal(rng) / real_sqrt(-2 * square);
    real angle = 0, low = 0, high = 0, height = 0, x = x0;
    for (int tries = 0; tries < GBM_ELLIPSE_SHRINKS; tries++) {
        real value = -GBM_INF;
        if (x >= lower && x <= upper)
            value = density(context, x) - x * (potential + square * x);
        const bool possible = gbm_is_finite(value);
        if (tries == 0) {
            height = -GBM_INF;
            if (possible)
                height = value - gbm_draw_exponential(rng);
            angle = 2 * GBM_PI * gbm_uniform(rng);
            low = angle - 2 * GBM_PI;
            high = angle;
        } else if (possible && value > height) {
            return x;
        } else {
            if (angle < 0)
                low = angle;
            else
                high = angle;
            angle = low + (high - low) * gbm_uniform(rng);
        }
        x = m + (x0 - m) * real_cos(angle) + v * real_sin(angle);
    }
    return x0;
}

#endif
