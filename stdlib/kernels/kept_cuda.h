/* kept_cuda.h: what a kept sweep does with a cell: CUDA C, for the kernels that
 * go step by step and for those of whole sweeps. */
#ifndef GBM_KEPT_CUDA_H
#define GBM_KEPT_CUDA_H

#include "real.h"

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

#endif
