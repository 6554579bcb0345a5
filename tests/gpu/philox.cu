/* philox.cu: our Philox beside cuRAND's device generator with the same key and
 * counter: the same bits. Prints how many words differ; status 77 without a
 * GPU. Compiled by nvcc (tests/gpu/run). */
#include <cstdio>
#include <curand_kernel.h>
#include "rng.h"

enum { BLOCKS = 250000 }; /* of four words */

/* cuRAND's key is the seed, its counter (offset / 4, subsequence). */
__global__ void compare(unsigned *differ)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < BLOCKS;
         i += gridDim.x * blockDim.x) {
        const uint64_t key = gbm_mix(i), block = gbm_mix(i + (1ull << 32)) >> 3;
        const uint64_t sequence = gbm_mix(i + (1ull << 33));
        curandStatePhilox4_32_10_t theirs;
        curand_init(key, sequence, block * 4, &theirs);
        const uint4 word = curand4(&theirs);
        uint32_t ours[4] = {(uint32_t)block, (uint32_t)(block >> 32),
                            (uint32_t)sequence, (uint32_t)(sequence >> 32)};
        gbm_philox(ours, (uint32_t)key, (uint32_t)(key >> 32));
        atomicAdd(differ, (ours[0] != word.x) + (ours[1] != word.y) +
                              (ours[2] != word.z) + (ours[3] != word.w));
    }
}

int main()
{
    unsigned *differ, count = 0;
    if (cudaMalloc(&differ, sizeof *differ) != cudaSuccess) {
        printf("no GPU\n");
        return 77;
    }
    cudaMemset(differ, 0, sizeof *differ);
    compare<<<256, 256>>>(differ);
    const cudaError_t failed =
        cudaMemcpy(&count, differ, sizeof count, cudaMemcpyDeviceToHost);
    if (failed != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(failed));
        return 1;
    }
    printf("%d words of Philox beside cuRAND's: %u differ\n", 4 * BLOCKS,
           count);
    return count != 0;
}
