/* trade.h: whether cells of a row are worth trading (compiler/sampler/trade.c).
 * Where each cell's own draw moves the row much more often than trades do, a
 * trade in every sweep takes time for nothing; where cells hold each other,
 * trades are all that moves it. Warm-up counts both, row by row. What is
 * decided then stays: the chain is one. */
#ifndef GBM_TRADE_H
#define GBM_TRADE_H

#include "team.h"

enum {
    GBM_TRADE_LAST, /* a number that tells what the row was left as */
    GBM_TRADE_OWN,  /* share of sweeps in which own draws changed it, of late */
    GBM_TRADE_TRADED, /* and of tries that did */
    GBM_TRADE_CELLS
};
#define GBM_TRADE_LATE 100           /* sweeps that are of late */
#define GBM_TRADE_FIRST 50           /* sweeps that try whatever is learnt */
#define GBM_TRADE_EVERY 16           /* else one in so many does */
#define GBM_TRADE_LEAST REAL_C(0.25) /* of what own draws do */

/* adapting: the sweep of warm-up from 1 on, or 0. */
GBM_FN bool gbm_trade_pays(const real *tuning, int adapting, uint32_t sweep)
{
    return (adapting && adapting <= GBM_TRADE_FIRST) || adapting == GBM_ALONE ||
           sweep % GBM_TRADE_EVERY == 0 ||
           !(tuning[GBM_TRADE_TRADED] <
             GBM_TRADE_LEAST * tuning[GBM_TRADE_OWN]);
}

/* Adds to the number that tells what the cells of a row are: small enough to be
 * a whole number in any precision. */
GBM_FN uint32_t gbm_trade_code(uint32_t code, int cell)
{
    return (code * 31u + (uint32_t)cell + 1) & 0xfffffu;
}

/* In warm-up: own draws left the row as `before` says, and a trade, if one was
 * tried, as `after`. */
GBM_FN void gbm_trade_learn(real *tuning, int adapting, bool tried,
                            uint32_t before, uint32_t after)
{
    const real share = 1 / (real)(adapting < GBM_TRADE_LATE ? adapting
                                                            : GBM_TRADE_LATE),
               own = adapting > 1 && tuning[GBM_TRADE_LAST] != (real)before,
               traded = before != after;
    tuning[GBM_TRADE_OWN] += share * (own - tuning[GBM_TRADE_OWN]);
    if (tried)
        tuning[GBM_TRADE_TRADED] += share * (traded - tuning[GBM_TRADE_TRADED]);
    tuning[GBM_TRADE_LAST] = (real)after;
}

#endif
