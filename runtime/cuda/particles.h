/* particles.h: the device kernels of a sequential sampler: what its particles
 * do between sweeps. Included by kernels.h for models with powers. */
#include "mean.h"

/* out[c] = the cells of chain from[c]; words: 32 bits, of a chain. */
CUDA_KERNEL particles_copy(const unsigned *values, long long words,
                           const int *from, int chains, unsigned *out)
{
    gbm_follow();
    for (long long t = thread_number(); t < words * chains;
         t += thread_count()) {
        const long long c = t / words;
        out[t] = values[from[c] * words + (t - c * words)];
    }
}

/* The cells of n chains that follow each other become their mean. A block of
 * GBM_MEAN_LANES for each group of chains and cell. */
CUDA_KERNEL __launch_bounds__(GBM_MEAN_LANES)
    particles_average(real *values, long long cells, int n)
{
    gbm_follow();
    __shared__ double sums[GBM_MEAN_LANES];
    __shared__ real mean;
    const long long group = blockIdx.x / cells, cell = blockIdx.x % cells;
    real *at = values + group * n * cells + cell;
    sums[threadIdx.x] = gbm_lane_sum(at, n, cells, (int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0)
        mean = (real)gbm_mean_of_lanes(sums, n);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += GBM_MEAN_LANES)
        at[i * cells] = mean;
}
