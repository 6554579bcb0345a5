/* mean.h: means over chains, the same on the host and on the device: each lane
 * adds up its own values, and the lanes' sums are added up in order. */
#ifndef GBM_MEAN_H
#define GBM_MEAN_H

#include "real.h"

enum { GBM_MEAN_LANES = 256 };

/* Of a lane, of n values `stride` apart. */
GBM_FN double gbm_lane_sum(const real *values, int n, long long stride,
                           int lane)
{
    double sum = 0;
    for (int i = lane; i < n; i += GBM_MEAN_LANES)
        sum += (double)values[i * stride];
    return sum;
}

GBM_FN double gbm_mean_of_lanes(const double *sums, int n)
{
    double sum = 0;
    for (int lane = 0; lane < GBM_MEAN_LANES; lane++)
        sum += sums[lane];
    return sum / n;
}

#ifndef __CUDACC__
GBM_FN double gbm_mean_over(const real *values, int n, long long stride)
{
    double sums[GBM_MEAN_LANES];
    for (int lane = 0; lane < GBM_MEAN_LANES; lane++)
        sums[lane] = gbm_lane_sum(values, n, stride, lane);
    return gbm_mean_of_lanes(sums, n);
}
#endif

#endif
