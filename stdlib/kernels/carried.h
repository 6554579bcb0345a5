/* carried.h: whether a plate is worth moving with a node of its prior
 * (compiler/sampler/carried.c). Warm-up compares how far the node goes by its
 * own draw, given the plate, and by the move: where the data settle each effect
 * the move hardly leaves its place, and the own draw is as good alone. A move
 * by a slice, which looks at the rows several times, must also have something
 * to mend: neighbouring draws of the node, were it drawn by its own law alone,
 * would be correlated. While that is learnt, a move that does not seem to pay
 * is tried in a few sweeps alone. What is decided then stays: the chain is one.
 */
#ifndef GBM_CARRIED_H
#define GBM_CARRIED_H

#include "normal.h"
#include "scale.h"
#include "slice.h"

enum {
    GBM_CARRIED_LAST,  /* the node, or its logarithm, as the step left it */
    GBM_CARRIED_OWN,   /* mean square of its own steps since, of late */
    GBM_CARRIED_MOVED, /* and of those by moves */
    GBM_CARRIED_MEAN,  /* of the node, of late */
    GBM_CARRIED_VAR,   /* and its variance */
    GBM_CARRIED_CELLS
};
#define GBM_CARRIED_LATE 100          /* sweeps that are of late */
#define GBM_CARRIED_FIRST 50          /* sweeps that move whatever is learnt */
#define GBM_CARRIED_EVERY 16          /* behind them one in so many does so */
#define GBM_CARRIED_LEAST REAL_C(0.5) /* of the own steps' squares */
#define GBM_CARRIED_SLOW REAL_C(0.5)  /* correlation of neighbouring draws */

/* adapting: the sweep of warm-up from 1 on, or 0. A step of the own draw has
 * the mean square 2 * variance * (1 - correlation). */
GBM_FN bool gbm_carried_pays(const real *tuning, int adapting, bool by_slice)
{
    const real own = tuning[GBM_CARRIED_OWN],
               fast = 2 * (1 - GBM_CARRIED_SLOW) * tuning[GBM_CARRIED_VAR];
    if (adapting && (adapting <= GBM_CARRIED_FIRST || adapting == GBM_ALONE ||
                     adapting % GBM_CARRIED_EVERY == 0))
        return true;
    return !(tuning[GBM_CARRIED_MOVED] < GBM_CARRIED_LEAST * own ||
             (by_slice && own > fast));
}

/* What a sweep weighs in the means. */
GBM_FN real gbm_carried_share(int adapting)
{
    return 1 /
           (real)(adapting < GBM_CARRIED_LATE ? adapting : GBM_CARRIED_LATE);
}

/* The node's own draw has left it at `now`. */
GBM_FN void gbm_carried_see(real *tuning, int adapting, real now)
{
    if (!adapting || adapting == GBM_ALONE || !gbm_is_finite(now))
        return;
    const real share = gbm_carried_share(adapting),
               own = adapting == 1 ? 0 : now - tuning[GBM_CARRIED_LAST],
               off = now - tuning[GBM_CARRIED_MEAN];
    tuning[GBM_CARRIED_OWN] += share * (own * own - tuning[GBM_CARRIED_OWN]);
    tuning[GBM_CARRIED_LAST] = now;
    tuning[GBM_CARRIED_MEAN] += share * off;
    tuning[GBM_CARRIED_VAR] +=
        share * ((1 - share) * off * off - tuning[GBM_CARRIED_VAR]);
}

/* And no move is tried in this sweep. */
GBM_FN void gbm_carried_pass(real *tuning, int adapting, real now,
                             const struct gbm_team *team)
{
    if (!adapting)
        return;
    gbm_team_sync(team); /* all have read what is learnt */
    if (team->lane == 0)
        gbm_carried_see(tuning, adapting, now);
}

/* Then a move by so much was tried. */
GBM_FN void gbm_carried_learn(real *tuning, int adapting, real now, real by)
{
    gbm_carried_see(tuning, adapting, now);
    if (!adapting || adapting == GBM_ALONE || !gbm_is_finite(now + by))
        return;
    const real square = adapting == 1 ? 0 : by * by;
    tuning[GBM_CARRIED_MOVED] +=
        gbm_carried_share(adapting) * (square - tuning[GBM_CARRIED_MOVED]);
    tuning[GBM_CARRIED_LAST] = now + by;
}

/* Of a slice for a node in the mean: as wide as the moves of late. */
GBM_FN real gbm_carried_width(const real *tuning)
{
    const real square = tuning[GBM_CARRIED_MOVED];
    return square > 0 && gbm_is_finite(square) ? 3 * real_sqrt(square) : 1;
}

/* Of a quadratic alone. */
GBM_FN real gbm_carried_draw(struct gbm_rng *rng, const struct gbm_scaling *k)
{
    return (real)(k->linear / k->square) +
           gbm_draw_normal(rng) / real_sqrt((real)k->square);
}

#endif
