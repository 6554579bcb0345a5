/* recall.h: sums over the rows of a plate, kept with the values of the nodes
 * that they are functions of, so that a sum at the same values is not computed
 * again: a random walk begins where the last one ended, or did not leave; the
 * next element of an array where the one before was put. What is kept is the
 * sums that were asked for last, of each part of a chain's step, and a sum
 * is taken if all values are the same bit by bit: draws are what they are
 * without. A device does so where the runtime says that it pays
 * (GBM_RECALL_function), never in mixed precision, where a sum is no `real`. */
#ifndef GBM_RECALL_H
#define GBM_RECALL_H

#include "team.h"

#define GBM_KEY_MOST 32  /* of more values no sum is kept */
#define GBM_KEY_PARTS 16 /* nor of more arrays of them */
/* Where a walk begins, and its moves, of which there are up to four. */
#define GBM_RECALL_PLACES 5
#define GBM_RECALL_PLACE (2 + GBM_KEY_MOST) /* filled, the sum, the values */
/* The number of the place that is next, and the places. */
#define GBM_RECALL_CELLS (1 + GBM_RECALL_PLACES * GBM_RECALL_PLACE)

/* Where the values stand: nothing writes there until the sum is kept. */
struct gbm_key {
    int n; /* of values; -1: too many */
    const real *values[GBM_KEY_PARTS];
    int cells[GBM_KEY_PARTS];
};

/* Part `part` of it, one after the other; n may be 0. */
GBM_FN void gbm_key_add(struct gbm_key *key, int part, long long n,
                        const real *x)
{
    if (part >= GBM_KEY_PARTS) {
        key->n = n > 0 ? -1 : key->n;
        return;
    }
    key->values[part] = x;
    key->cells[part] = 0;
    if (key->n < 0 || n > GBM_KEY_MOST - key->n) {
        key->n = -1;
        return;
    }
    key->cells[part] = (int)n;
    key->n += (int)n;
}

#ifdef __CUDACC__
GBM_FN bool gbm_same_bits(const real *a, const real *b, int n)
{
    bool same = true;
    for (int i = 0; i < n; i++)
#ifdef GBM_SINGLE
        same &= __float_as_int(a[i]) == __float_as_int(b[i]);
#else
        same &= __double_as_longlong(a[i]) == __double_as_longlong(b[i]);
#endif
    return same;
}
#else
GBM_FN bool gbm_same_bits(const real *a, const real *b, int n)
{
    for (int i = 0; i < n; i++) { /* few, and mostly the first is another */
        unsigned long long one = 0, other = 0;
        __builtin_memcpy(&one, a + i, sizeof *a);
        __builtin_memcpy(&other, b + i, sizeof *b);
        if (one != other)
            return false;
    }
    return true;
}
#endif

/* Whether memory [GBM_RECALL_CELLS], 0 at first, has the sum for these values,
 * of `parts` arrays. */
GBM_FN bool gbm_recall(const struct gbm_key *key, int parts, real *memory,
                       gbm_total *sum)
{
    for (int k = 0; k < GBM_RECALL_PLACES && key->n >= 0; k++) {
        const real *place = memory + 1 + k * GBM_RECALL_PLACE;
        const real *at = place + 2;
        bool same = place[0] > 0;
        GBM_UNROLL
        for (int p = 0; p < GBM_KEY_PARTS && p < parts; p++) {
            same = same && gbm_same_bits(at, key->values[p], key->cells[p]);
            at += key->cells[p];
        }
        if (!same)
            continue;
        *sum = place[1];
        memory[0] = (real)((k + 1) % GBM_RECALL_PLACES);
        return true;
    }
    return false;
}

/* Keeps it, behind the one that was asked for before. */
GBM_FN void gbm_recall_keep(const struct gbm_team *team,
                            const struct gbm_key *key, int parts, real *memory,
                            gbm_total sum)
{
    gbm_team_sync(team);
    const int k = (int)memory[0];
    real *place = memory + 1 + k * GBM_RECALL_PLACE, *at = place + 2;
    gbm_team_sync(team);
    if (key->n >= 0) {
        memory[0] = (real)((k + 1) % GBM_RECALL_PLACES);
        place[0] = 1;
        place[1] = (real)sum;
        GBM_UNROLL
        for (int p = 0; p < GBM_KEY_PARTS && p < parts; p++)
            for (int i = 0; i < key->cells[p]; i++)
                *at++ = key->values[p][i];
    }
    gbm_team_sync(team);
}

#endif
