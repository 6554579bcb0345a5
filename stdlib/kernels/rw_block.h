/* rw_block.h: random-walk Metropolis steps of several nodes at once, on scales
 * without ends (metropolis.h), the same in every direction. */
#ifndef GBM_RW_BLOCK_H
#define GBM_RW_BLOCK_H

#include "metropolis.h"

/* How many moves: a move of d nodes leaves them about as far as d moves of one
 * node each would, and from the second on it takes one density, not two. */
GBM_FN int gbm_block_moves(int d) { return d < 4 ? d : 4; }

/* y [d]: x [d] after a normal step of standard deviation step in each
 * direction, where node i is between lower[i] and upper[i]. Returns log |dy| -
 * log |dx| of the way back from the line. The arrays are the team's. */
GBM_FN real gbm_block_propose(struct gbm_rng *rng, const struct gbm_team *team,
                              int d, real step, const real *lower,
                              const real *upper, const real *x, real *y)
{
    gbm_team_normals(rng, team, d, y);
    GBM_TEAM_FOR(i, 0, d, team)
    y[i] *= step;
    return gbm_move_on_line(team, d, lower, upper, x, y);
}

/* The same on the nodes' own scales: -inf, y being x, of a step beyond an end.
 */
GBM_FN real gbm_block_propose_within(struct gbm_rng *rng,
                                     const struct gbm_team *team, int d,
                                     real step, const real *lower,
                                     const real *upper, const real *x, real *y)
{
    gbm_total beyond = 0;
    gbm_team_normals(rng, team, d, y);
    GBM_TEAM_FOR(i, 0, d, team)
    {
        y[i] = x[i] + step * y[i];
        beyond += !(y[i] >= lower[i] && y[i] <= upper[i]);
    }
    beyond = gbm_team_sum(team, beyond);
    GBM_TEAM_FOR(i, 0, beyond > 0 ? d : 0, team)
    y[i] = x[i];
    return beyond > 0 ? -GBM_INF : 0;
}

/* The step, tuned, though not by moves from where the density, `here`, is 0:
 * they tell nothing of it. */
GBM_FN real gbm_block_step(int d, real step, real here, real probability,
                           int adapting)
{
    return gbm_is_finite(here)
               ? gbm_tuned_scale(step, probability, gbm_best_acceptance(d),
                                 adapting)
               : step;
}

#endif
