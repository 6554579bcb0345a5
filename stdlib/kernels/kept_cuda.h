/* kept_cuda.h: what a kept sweep does with its cells: CUDA C, for the kernels
 * that go step by step and for those of whole sweeps. */
#ifndef GBM_KEPT_CUDA_H
#define GBM_KEPT_CUDA_H

#include "real.h"

/* Running moments of a variable, of one chain `cells`; stride 0: one copy, of
 * all chains. counts: [cells][categories], instead, if not NULL. */
struct gbm_kept_moments {
    const void *values;
    double *mean, *m2;
    unsigned *counts;
    long long cells, stride;
    int integer, categories;
};

/* Monitored cells: cells[count], or all if it is NULL. kind: 0 real, 1 int, 2
 * double. */
struct gbm_kept_monitor {
    const void *values;
    const long long *cells;
    long long count, stride, offset;
    int kind;
};

/* What a block of threads does: numbers from .. to - 1 of moments [entry], or
 * of monitors [entry - nmoments]. */
struct gbm_kept_piece {
    long long from, to;
    int entry;
};

/* As in runtime/cuda/keep.c. The last monitor is the log density, if it can be
 * computed. */
struct gbm_kept {
    const struct gbm_kept_moments *moments; /* [nmoments] */
    const struct gbm_kept_monitor *monitors;
    const struct gbm_kept_piece *pieces;
    double *draws; /* the ring, [slots][chains][row] */
    long long row;
    int nmoments, nmonitors, chains;
};

/* Of a variable's cells, reals or integers. */
GBM_FN double gbm_number_at(const void *values, int integer, long long at)
{
    return integer ? (double)((const int *)values)[at]
                   : (double)((const real *)values)[at];
}

/* The same to be stored: a draw of integers that was no number is one again
 * (gbm_whole). */
GBM_FN double gbm_draw_at(const void *values, int integer, long long at)
{
    return integer && ((const int *)values)[at] == -2147483647 - 1
               ? (double)GBM_NAN
               : gbm_number_at(values, integer, at);
}

/* Welford (1962); `share` is one over the count with this number. */
GBM_FN void gbm_add_moment(double x, double share, double *mean, double *m2)
{
    const double before = x - *mean;
    *mean += before * share;
    *m2 += before * (x - *mean);
}

/* Of a categorical cell: how often it had each of its values. */
GBM_FN void gbm_count_value(int x, int categories, unsigned *counts)
{
    if (x >= 1 && x <= categories)
        counts[x - 1]++;
}

/* Adds cell `at` of all chains' cells. */
GBM_FN void gbm_keep_moment(const struct gbm_kept_moments *m, long long at,
                            double share)
{
    if (m->counts)
        gbm_count_value(((const int *)m->values)[at], m->categories,
                        m->counts + at * m->categories);
    else
        gbm_add_moment(gbm_draw_at(m->values, m->integer, at), share,
                       &m->mean[at], &m->m2[at]);
}

/* Copies monitored cell i of a chain to the chain's row of a draw. */
GBM_FN void gbm_keep_cell(const struct gbm_kept_monitor *m, long long chain,
                          long long i, double *row)
{
    const long long at = chain * m->stride + (m->cells ? m->cells[i] : i);
    row[m->offset + i] = m->kind == 2 ? ((const double *)m->values)[at]
                                      : gbm_draw_at(m->values, m->kind, at);
}

#endif
