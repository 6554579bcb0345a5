/* relabel.h: which labels of a mixture are asked to trade places
 * (compiler/sampler/relabel.c). */
#ifndef GBM_RELABEL_H
#define GBM_RELABEL_H

#include "rng.h"

enum {
    GBM_RELABEL_MOST = 32,      /* pairs of a sweep */
    GBM_RELABEL_LEAST = 2,      /* however many rows there are */
    GBM_RELABEL_ROWS = 1 << 21, /* that change labels in a sweep, about */
};

/* How many pairs: about two for each label, fewer where rows are many. */
GBM_FN int gbm_relabel_trials(int labels, int rows)
{
    if (labels < 2 || rows < 1)
        return 0;
    const int few = GBM_RELABEL_ROWS / rows;
    const int most = few < GBM_RELABEL_LEAST  ? GBM_RELABEL_LEAST
                     : few > GBM_RELABEL_MOST ? GBM_RELABEL_MOST
                                              : few;
    return 2 * labels < most ? 2 * labels : most;
}

/* One of 0 to n - 1. */
GBM_FN int gbm_relabel_any(struct gbm_rng *rng, int n)
{
    const int any = (int)(gbm_uniform(rng) * (real)n);
    return any < n ? any : 0;
}

/* Neighbours a and a + 1, and at odd turns any two, each pair as likely as
 * another. */
GBM_FN void gbm_relabel_pair(struct gbm_rng *rng, int labels, int turn, int *a,
                             int *b)
{
    const bool near = turn % 2 == 0;
    const int first = gbm_relabel_any(rng, near ? labels - 1 : labels);
    const int second = gbm_relabel_any(rng, labels - 1);
    *a = first + 1;
    *b = near ? first + 2 : second + 1 + (second >= first);
}

/* Whether components trade places (compiler/sampler/exchange.c), by what their
 * priors gain: logarithms of all components' densities. Where that is nothing
 * but rounding, which grows with the sums, nothing tells one from another, and
 * names stay: there and back alike. */
GBM_FN bool gbm_exchanged(real here, real there, real u)
{
#ifdef GBM_SINGLE
    const real least = REAL_C(1e-3);
#else
    const real least = REAL_C(1e-6);
#endif
    const real rounding =
        2 * GBM_EPSILON * (real_fabs(here) + real_fabs(there));
    const real gain = there - here;
    return real_fabs(gain) > least + rounding && real_log(u) < gain;
}

/* Whether a number has the other sign (compiler/sampler/mirror.c): a draw from
 * both. */
GBM_FN bool gbm_drawn_sign(real here, real there, real u)
{
    return u * (1 + real_exp(here - there)) < 1;
}

/* What warm-up learns of trades of components. Where names hold (many rows, or
 * priors that tell much) none is ever made, and asking in each sweep takes time
 * for nothing: one in EVERY asks then. What is decided stays: the chain is one.
 * Both counts begin at 1, as all that is tuned. */
enum { GBM_EXCHANGE_ASKED, GBM_EXCHANGE_MADE, GBM_EXCHANGE_CELLS };
#define GBM_EXCHANGE_FIRST 200 /* sweeps that ask whatever is learnt */
#define GBM_EXCHANGE_EVERY 16

GBM_FN bool gbm_exchange_asks(const real *tuning, uint32_t sweep)
{
    return tuning[GBM_EXCHANGE_MADE] > 1 ||
           tuning[GBM_EXCHANGE_ASKED] < GBM_EXCHANGE_FIRST ||
           sweep % GBM_EXCHANGE_EVERY == 0;
}

/* Where `at` goes as a and b trade places. */
GBM_FN int gbm_traded(int at, int a, int b)
{
    return at == a ? b : at == b ? a : at;
}

/* Whether p, which becomes 1 - p and back, is no probability, or so near to 0
 * or 1 that its digits are lost. */
GBM_FN bool gbm_without_complement(real p)
{
#ifdef GBM_SINGLE
    const real least = REAL_C(1e-4);
#else
    const real least = REAL_C(1e-9);
#endif
    return !(p > least && 1 - p > least);
}

/* Whether some cell is observed; seen: NULL where none is. */
GBM_FN bool gbm_any_seen(const unsigned char *seen, long long cells)
{
    for (long long i = 0; seen && i < cells; i++)
        if (seen[i] == 1)
            return true;
    return false;
}

#endif
