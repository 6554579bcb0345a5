/* carried.h: whether a plate is worth moving with a node of its prior
 * (compiler/sampler/carried.c). Warm-up compares how far the node goes by its
 * own draw, given the plate, and by the move: where the data settle each effect
 * the move hardly leaves its place, and the own draw is as good alone. A move
 * by a slice, which looks at the rows several times, must also have something
 * to mend: neighbouring draws of the node, were it drawn by its own law alone,
 * would be correlated. What is decided then stays, so the chain is one. */
#ifndef GBM_CARRIED_H
#define GBM_CARRIED_H

#include "normal.h"
#include "scale.h"
#include "slice.h"

enum {
    GBM_CARRIED_LAST,  /* the node, or its logarithm, after the last move */
    GBM_CARRIED_OWN,   /* squares of its own steps since, of late */
    GBM_CARRIED_MOVED, /* and of those by moves */
    GBM_CARRIED_MEAN,  /* of the node, of late */
    GBM_CARRIED_VAR,   /* and its variance */
    GBM_CARRIED_CELLS
};
#define GBM_CARRIED_KEEPS REAL_C(0.98) /* of the sums at a sweep */
#define GBM_CARRIED_LEAST REAL_C(0.5)  /* of the own steps' squares */
#define GBM_CARRIED_SLOW REAL_C(0.5)   /* correlation of neighbouring draws */

/* adapting: the sweep of warm-up from 1 on, or 0. A step of the own draw has
 * the mean square 2 * variance * (1 - correlation). */
GBM_FN bool gbm_carried_pays(const real *tuning, int adapting, bool by_slice)
{
    const real own = tuning[GBM_CARRIED_OWN],
               fast = 2 * (1 - GBM_CARRIED_SLOW) * tuning[GBM_CARRIED_VAR];
    return adapting || !(tuning[GBM_CARRIED_MOVED] < GBM_CARRIED_LEAST * own ||
                         (by_slice && (1 - GBM_CARRIED_KEEPS) * own > fast));
}

/* The node was `before` and has moved by that. */
GBM_FN void gbm_carried_learn(real *tuning, int adapting, real before, real by)
{
    if (!adapting || adapting == GBM_ALONE || !gbm_is_finite(before + by))
        return;
    const real own = before - tuning[GBM_CARRIED_LAST];
    const bool first = adapting == 1;
    tuning[GBM_CARRIED_OWN] =
        first ? 0 : GBM_CARRIED_KEEPS * tuning[GBM_CARRIED_OWN] + own * own;
    tuning[GBM_CARRIED_MOVED] =
        first ? 0 : GBM_CARRIED_KEEPS * tuning[GBM_CARRIED_MOVED] + by * by;
    tuning[GBM_CARRIED_LAST] = before + by;
    const real off = first ? 0 : before + by - tuning[GBM_CARRIED_MEAN],
               share = (1 - GBM_CARRIED_KEEPS) * off;
    tuning[GBM_CARRIED_MEAN] = before + by - off + share;
    tuning[GBM_CARRIED_VAR] =
        first ? 0 : GBM_CARRIED_KEEPS * (tuning[GBM_CARRIED_VAR] + off * share);
}

/* Of a slice for a node in the mean: as wide as the moves of late. */
GBM_FN real gbm_carried_width(const real *tuning)
{
    const real square = (1 - GBM_CARRIED_KEEPS) * tuning[GBM_CARRIED_MOVED];
    return square > 0 && gbm_is_finite(square) ? 3 * real_sqrt(square) : 1;
}

/* Of a quadratic alone. */
GBM_FN real gbm_carried_draw(struct gbm_rng *rng, const struct gbm_scaling *k)
{
    return (real)(k->linear / k->square) +
           gbm_draw_normal(rng) / real_sqrt((real)k->square);
}

#endif
