/* metropolis.h: Metropolis updates: what they share, and a random walk of one
 * node.
 *
 * Where the support has ends, a node moves on a scale without them: log(x -
 * lower), log(upper - x), or the logit of its place between both. The density
 * there has the Jacobian of the way back.
 *
 * `adapting` is 0, or the number of the sweep from 1 on while warm-up tunes. */
#ifndef GBM_METROPOLIS_H
#define GBM_METROPOLIS_H

#include "exponential.h"
#include "linear.h"

/* ---- a scale without ends ---- */

GBM_FN real gbm_to_line(real x, real lower, real upper)
{
    if (lower > -GBM_INF && upper < GBM_INF)
        return real_log((x - lower) / (upper - x));
    if (lower > -GBM_INF)
        return real_log(x - lower);
    if (upper < GBM_INF)
        return -real_log(upper - x);
    return x;
}

GBM_FN real gbm_from_line(real y, real lower, real upper)
{
    if (lower > -GBM_INF && upper < GBM_INF)
        return y < 0
                   ? lower + (upper - lower) * (real_exp(y) / (1 + real_exp(y)))
                   : upper -
                         (upper - lower) * (real_exp(-y) / (1 + real_exp(-y)));
    if (lower > -GBM_INF)
        return lower + real_exp(y);
    if (upper < GBM_INF)
        return upper - real_exp(-y);
    return y;
}

/* log |dx/dy|, up to a constant; -inf at or beyond an end. */
GBM_FN real gbm_line_jacobian(real x, real lower, real upper)
{
    if (!(x > lower && x < upper))
        return -GBM_INF;
    real sum = 0;
    if (lower > -GBM_INF)
        sum += real_log(x - lower);
    if (upper < GBM_INF)
        sum += real_log(upper - x);
    return sum;
}

/* Whether a move is accepted whose log densities, Jacobians included, are
 * `there` and `here`. *probability: what it was accepted with. From where the
 * density is 0, no number or infinite every move to where it is a number is
 * taken; none to elsewhere. */
GBM_FN bool gbm_metropolis(struct gbm_rng *rng, real here, real there,
                           real *probability)
{
    real height = -gbm_draw_exponential(rng);
    *probability = 0;
    if (!gbm_is_finite(there))
        return false;
    if (!gbm_is_finite(here) || there >= here)
        *probability = 1;
    else
        *probability = real_exp(there - here);
    return !gbm_is_finite(here) || there - here > height;
}

/* Robbins and Monro (1951) on the log of a scale: up if more moves than
 * `target` are accepted. The gain falls slower than 1/t, so a bad start is left
 * (Andrieu and Thoms 2008, A tutorial on adaptive MCMC, section 4.2). */
GBM_FN real gbm_tuned_scale(real scale, real probability, real target, int t)
{
    real gain = 5 / real_exp(REAL_C(0.7) * real_log((real)t + 5));
    real next = scale * real_exp(gain * (probability - target));
    return next > GBM_TINY && next < GBM_HUGE ? next : scale;
}

/* x [d] to y [d], where y holds the steps of the nodes on their scales without
 * ends; of a node that stands at an end, as if there were none. Returns log
 * |dy| - log |dx| of the way back from the line. The arrays are the team's,
 * each lane at its own places. */
GBM_FN real gbm_move_on_line(const struct gbm_team *team, int d,
                             const real *lower, const real *upper,
                             const real *x, real *y)
{
    gbm_total jacobian = 0;
    GBM_TEAM_FOR(i, 0, d, team)
    {
        const real from = gbm_line_jacobian(x[i], lower[i], upper[i]);
        const bool inside = from > -GBM_INF;
        const real low = inside ? lower[i] : -GBM_INF;
        const real high = inside ? upper[i] : GBM_INF;
        y[i] = gbm_from_line(gbm_to_line(x[i], low, high) + y[i], low, high);
        if (inside)
            jacobian += gbm_line_jacobian(y[i], low, high) - from;
    }
    return (real)gbm_team_sum(team, jacobian);
}

/* The acceptance that a random walk of d nodes is tuned to (Roberts, Gelman and
 * Gilks 1997; Roberts and Rosenthal 2001). */
GBM_FN real gbm_best_acceptance(int d)
{
    return REAL_C(0.234) + REAL_C(0.206) / (real)d;
}

/* ---- one node ---- */

/* What a node's density takes before the first value costs as much as some, and
 * the density of where a move begins is known from the one before. */
enum { GBM_WALK_MOVES = 2 };

/* An update of x0 by so many normal steps. *scale: their standard deviation, on
 * the scale without ends; tuned to an acceptance of 0.44 (Gelman, Roberts and
 * Gilks 1996; Roberts and Rosenthal 2001, Optimal scaling), though not by moves
 * from where the density is 0: they tell nothing of it. */
GBM_INLINE real gbm_walk(struct gbm_rng *rng, real x0, real *scale,
                         int adapting, int moves, real lower, real upper,
                         real (*density)(const void *context, real x),
                         const void *context)
{
    real x = x0, here = 0, probability;
    real jacobian = gbm_line_jacobian(x0, lower, upper);
    if (!(jacobian > -GBM_INF)) { /* an end itself: as if there were none */
        lower = -GBM_INF;
        upper = GBM_INF;
        jacobian = 0;
        moves = 1;
    }
    for (int k = 0; k <= moves; k++) {
        const real there =
            jacobian > -GBM_INF ? density(context, x) + jacobian : -GBM_INF;
        const bool taken =
            k == 0 || gbm_metropolis(rng, here, there, &probability);
        if (k > 0 && adapting && gbm_is_finite(here))
            *scale =
                gbm_tuned_scale(*scale, probability, REAL_C(0.44), adapting);
        x0 = taken ? x : x0;
        here = taken ? there : here;
        if (k == moves)
            break;
        const real step = *scale * gbm_draw_normal(rng);
        x = gbm_from_line(gbm_to_line(x0, lower, upper) + step, lower, upper);
        jacobian = gbm_line_jacobian(x, lower, upper);
    }
    return x0;
}

/* The same on the node's own scale, where steps beyond an end are refused; of
 * an integer, steps of 1 + floor(scale |z|), z normal, up or down. The bounds
 * belong to the range. */
GBM_INLINE real gbm_walk_within(struct gbm_rng *rng, real x0, real *scale,
                                int adapting, int moves, real lower, real upper,
                                real (*density)(const void *context, real x),
                                const void *context, bool integer)
{
    real x = x0, here = 0, probability;
    bool inside = true;
    for (int k = 0; k <= moves; k++) {
        const real there = inside ? density(context, x) : -GBM_INF;
        const bool taken =
            k == 0 || gbm_metropolis(rng, here, there, &probability);
        if (k > 0 && adapting && gbm_is_finite(here)) {
            *scale =
                gbm_tuned_scale(*scale, probability, REAL_C(0.44), adapting);
            if (integer)
                *scale = gbm_clamp(*scale, REAL_C(0.01), REAL_C(1e8));
        }
        x0 = taken ? x : x0;
        here = taken ? there : here;
        if (k == moves)
            break;
        const real z = gbm_draw_normal(rng);
        x = x0 + (integer
                      ? real_copysign(1 + real_floor(*scale * real_fabs(z)), z)
                      : *scale * z);
        inside = x >= lower && x <= upper;
    }
    return x0;
}

#endif
