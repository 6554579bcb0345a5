/* recall.h: sums over the rows of a plate, kept with the values of the nodes
 * that they are functions of, so that a sum at the same values is not computed
 * again: a random walk begins where the last one ended, or did not leave; the
 * next element of an array where the one before was put. What is kept is the
 * two sums that were asked for last, of each part of a chain's step, and a sum
 * is taken if all values are the same bit by bit: draws are what they are
 * without. For the host alone. */
#ifndef GBM_RECALL_H
#define GBM_RECALL_H

#include "team.h"

#ifndef __CUDACC__
#define GBM_KEY_MOST 32                     /* of more values no sum is kept */
#define GBM_RECALL_PLACE (2 + GBM_KEY_MOST) /* filled, the sum, the values */
#define GBM_RECALL_CELLS (1 + 2 * GBM_RECALL_PLACE) /* the place that is next  \
                                                     */

struct gbm_key {
    int n; /* of values; -1: too many */
    real value[GBM_KEY_MOST];
};

static inline void gbm_key_add(struct gbm_key *key, long long n, const real *x)
{
    if (key->n < 0 || n > GBM_KEY_MOST - key->n) {
        key->n = -1;
        return;
    }
    for (long long i = 0; i < n; i++)
        key->value[key->n++] = x[i];
}

/* Whether memory [GBM_RECALL_CELLS], 0 at first, has the sum for these values.
 */
static inline bool gbm_recall(const struct gbm_key *key, real *memory,
                              gbm_total *sum)
{
    for (int k = 0; k < 2 && key->n >= 0; k++) {
        const real *place = memory + 1 + k * GBM_RECALL_PLACE;
        if (!(place[0] > 0) ||
            __builtin_memcmp(place + 2, key->value,
                             (size_t)key->n * sizeof *key->value) != 0)
            continue;
        memory[0] = (real)(1 - k);
        *sum = place[1];
        return true;
    }
    return false;
}

/* Keeps it, in place of the one that was asked for longest ago. */
static inline void gbm_recall_keep(const struct gbm_key *key, real *memory,
                                   gbm_total sum)
{
    const int k = memory[0] > 0;
    real *place = memory + 1 + k * GBM_RECALL_PLACE;
    if (key->n < 0)
        return;
    memory[0] = (real)(1 - k);
    place[0] = 1;
    place[1] = (real)sum;
    for (int i = 0; i < key->n; i++)
        place[2 + i] = key->value[i];
}
#endif

#endif
