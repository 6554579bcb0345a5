/* ceilings.h: kernels that do nothing but copy, or multiply and add: what the
 * device can do at most, for a profile. Compiled for such a run alone. */
#include "real.h"

extern "C" __global__ void ceiling_copy(double *to, const double *from,
                                        long long n)
{
    const long long all = (long long)gridDim.x * blockDim.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 4
    for (; i < n; i += all)
        to[i] = from[i];
}

/* Chains that do not wait for each other. They end at about 1, which is
 * stored by nobody. */
extern "C" __global__ void ceiling_multiply(real *out, int turns)
{
    enum { CHAINS = 8 };
    real x[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        x[k] = (real)(threadIdx.x + k);
    for (int t = 0; t < turns; t++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            x[k] = x[k] * (real)0.5 + (real)0.5;
    real sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += x[k];
    if (sum < 0)
        *out = sum;
}
