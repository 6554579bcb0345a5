/* stdlib_probes.cu: one kernel for each probe. */
#include "stdlib_probes.h"

#define KERNEL(name, call)                                                     \
    extern "C" __global__ void probe_##name(real *out, unsigned number)        \
    {                                                                          \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                    \
        struct gbm_rng stream, *rng = &stream;                                 \
        gbm_rng_start(rng, 1, 2, 3, number, i);                                \
        real u = gbm_uniform(rng), v = gbm_uniform(rng), w = gbm_uniform(rng); \
        (void)u, (void)v, (void)w;                                             \
        if (i < PROBE_ELEMENTS)                                                \
            out[i] = call;                                                     \
    }
PROBES(KERNEL)
