/* between.h: draws between bounds where distribution function and quantile no
 * longer tell the points of the interval apart: far out, or close together. The
 * logs of the tails do; their inverse is found by bisection. */
#ifndef GBM_BETWEEN_H
#define GBM_BETWEEN_H

#include "log_mass.h"
#include "rng.h"

#ifdef GBM_SINGLE
#define GBM_RESOLUTION REAL_C(1e-3)
#else
#define GBM_RESOLUTION REAL_C(1e-8)
#endif

/* Whether inversion of a distribution function with these values at the ends
 * is good enough. */
GBM_FN bool gbm_resolved(real below, real above)
{
    return above - below > GBM_RESOLUTION * above + GBM_TINY / GBM_EPSILON;
}

/* The place between `low` and `high` where a tail's log probability is `goal`.
 * For whole numbers the first one that reaches it, low excluded. */
struct gbm_search {
    real low, high, x, goal, step;
    bool left, whole, found; /* left: of the lower tail */
    int rounds;
};

/* The next place to look at. */
GBM_FN void gbm_search_next(struct gbm_search *s)
{
    const bool open_low = !(s->low > -GBM_INF),
               open_high = !(s->high < GBM_INF);
    if (open_low || open_high) {
        s->x = open_low ? s->high - s->step : s->low + s->step;
        s->step *= 2;
    } else {
        s->x = s->low + (s->high - s->low) / 2;
        if (s->whole)
            s->x = real_floor(s->x);
    }
    if (!(s->x > s->low && s->x < s->high) || ++s->rounds > 2200) {
        s->x = s->high;
        s->found = true;
    }
}

/* From the logs of the distribution function and of its complement at both
 * ends. An interval that they do not tell from a point either is so narrow that
 * the density does not change over it. */
GBM_FN struct gbm_search gbm_search_between(struct gbm_rng *rng, real low,
                                            real high, real below_low,
                                            real above_low, real below_high,
                                            real above_high, bool whole)
{
    const real u = gbm_uniform(rng);
    const bool left = below_high < above_low;
    const real near = left ? below_high : above_low;
    const real far = left ? below_low : above_high;
    struct gbm_search s = {
        low, high, 0, gbm_log_share(near, far, u), 1, left, whole, false, 0};
    gbm_search_next(&s);
    if (!whole && !(near - far > GBM_RESOLUTION / 10)) {
        s.x = low + (high - low) * u;
        s.found = true;
    }
    return s;
}

/* With the log of the tail at the place looked at. */
GBM_FN void gbm_search_on(struct gbm_search *s, real value)
{
    const bool short_of = s->left ? value < s->goal : value > s->goal;
    if (short_of)
        s->low = s->x;
    else
        s->high = s->x;
    gbm_search_next(s);
}

#endif
