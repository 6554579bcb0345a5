/* kernels.h: the device kernels that no model changes: bookkeeping of a sweep,
 * running moments, the ring of draws, inverse indices. CUDA C, compiled by
 * NVRTC when a sampler loads; the plugin holds this text (see text.c).
 *
 * `real` is the type of the state, gbm_total (team.h) that of sums and
 * factorisations. Nothing here uses floating-point atomics. */
#include "real.h"
#include "rng.h"
#include "normal.h"
#include "team.h"
#include "control.h"
#include "kept_cuda.h"

#define CUDA_KERNEL extern "C" __global__ void

__device__ static inline long long thread_number(void)
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static inline long long thread_count(void)
{
    return (long long)gridDim.x * blockDim.x;
}

/* t / d and t % d; n > t. A 64-bit division takes several times as long as a
 * 32-bit one. */
__device__ static inline void divide(long long t, int d, long long n,
                                     long long *quotient, int *rest)
{
    if (n <= 0xffffffffLL) {
        const unsigned q = (unsigned)t / (unsigned)d;
        *quotient = q;
        *rest = (int)((unsigned)t - q * (unsigned)d);
    } else {
        *quotient = t / d;
        *rest = (int)(t % d);
    }
}

/* ---- a sweep ---- */

/* Ends sweeps, of which `counted` entered the moments and `kept` were kept. */
__device__ static inline void end_sweeps(struct gbm_control *control,
                                         unsigned sweeps, unsigned counted,
                                         unsigned kept)
{
    control->sweep += sweeps;
    control->moments += counted;
    if (control->store)
        control->slot = (control->slot + kept) % control->ring;
}

CUDA_KERNEL sweeps_done(struct gbm_control *control, unsigned sweeps,
                        unsigned counted, unsigned kept)
{
    gbm_follow();
    end_sweeps(control, sweeps, counted, kept);
}

/* What a block has to do with a sweep that enters the moments, and whose
 * monitored cells go into the ring, if the launch has pieces of these. */
__device__ static inline void keep_piece(const struct gbm_control *control,
                                         const struct gbm_kept &all)
{
    const struct gbm_kept_piece p = all.pieces[blockIdx.x];
    if (p.entry < all.nmoments) {
        const struct gbm_kept_moments m = all.moments[p.entry];
        const double share = 1 / (double)(control->moments + 1);
        for (long long t = p.from + threadIdx.x; t < p.to; t += blockDim.x)
            gbm_keep_moment(&m, t, share);
        return;
    }
    if (!control->store)
        return;
    const struct gbm_kept_monitor m = all.monitors[p.entry - all.nmoments];
    double *draw = all.draws + control->slot * all.chains * all.row;
    for (long long t = p.from + threadIdx.x; t < p.to; t += blockDim.x) {
        const long long chain = t / m.count;
        gbm_keep_cell(&m, chain, t - chain * m.count, draw + chain * all.row);
    }
}

/* The last block to be done ends the sweep, as a launch more takes longer. */
CUDA_KERNEL keep(struct gbm_control *control, const struct gbm_kept all,
                 unsigned kept)
{
    gbm_follow();
    keep_piece(control, all);
    __syncthreads(); /* all have read which sweep it is */
    if (threadIdx.x == 0 &&
        atomicAdd(&control->arrived, 1u) + 1 == gridDim.x) {
        control->arrived = 0;
        end_sweeps(control, 1, 1, kept);
    }
}

/* Returns `before` and what the 256 threads of a block have, added up, in the
 * first of them. */
__device__ static inline double add_threads(double sum, double before)
{
    __shared__ double warp_sum[8];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        warp_sum[threadIdx.x / 32] = sum;
    __syncthreads();
    for (int w = 0; threadIdx.x == 0 && w < 8; w++)
        before += warp_sum[w];
    return before;
}

/* lp[chain] = (first ? 0 : lp[chain]) + the sum of its `count` densities. One
 * block of 256 per chain. */
CUDA_KERNEL __launch_bounds__(256)
    add_densities(const double *density, long long count, int first, double *lp)
{
    gbm_follow();
    const double *mine = density + blockIdx.x * count;
    double sum = 0;
    for (long long i = threadIdx.x; i < count; i += 256)
        sum += mine[i];
    sum = add_threads(sum, first ? 0 : lp[blockIdx.x]);
    if (threadIdx.x == 0)
        lp[blockIdx.x] = sum;
}

/* parts[chain][part]: sums of n cells of each chain, whose first ones lie
 * `stride` apart. A block of 256 for each chain and part. */
CUDA_KERNEL __launch_bounds__(256)
    add_cells(const real *cells, long long stride, long long n, double *parts)
{
    gbm_follow();
    const real *mine = cells + blockIdx.x * stride;
    double sum = 0;
#pragma unroll 8
    for (long long i = blockIdx.y * 256 + threadIdx.x; i < n;
         i += gridDim.y * 256)
        sum += (double)mine[i];
    sum = add_threads(sum, 0);
    if (threadIdx.x == 0)
        parts[(long long)blockIdx.x * gridDim.y + blockIdx.y] = sum;
}

/* ---- inverse indices: a stable counting sort, one warp per chunk, which has
 * its counters in shared memory if `own`: [warps of a block][cells] ---- */

/* counts: [chains][cells][chunks], zeroed. key: [chains][n], -1 is left out. */
CUDA_KERNEL index_count(const int *key, long long n, int chains, int cells,
                        int chunks, long long chunk, int own, int *counts)
{
    gbm_follow();
    extern __shared__ int counters[];
    int *const warps = counters + (int)threadIdx.x / 32 * cells;
    const int lane = threadIdx.x & 31, stride = own ? 1 : chunks;
    for (long long w = thread_number() / 32; w < (long long)chunks * chains;
         w += thread_count() / 32) {
        const int chain = (int)(w / chunks), c = (int)(w % chunks);
        const long long end = (c + 1) * chunk < n ? (c + 1) * chunk : n;
        int *const kept = counts + (long long)chain * cells * chunks + c;
        int *const mine = own ? warps : kept;
        for (int k = lane; own && k < cells; k += 32)
            mine[k] = 0;
        __syncwarp();
        for (long long i = c * chunk; i < end; i += 32) {
            const int k =
                i + lane < end ? key[(long long)chain * n + i + lane] : -1;
            const unsigned peers = __match_any_sync(0xffffffffu, k);
            if (k >= 0 && k < cells && lane == __ffs((int)peers) - 1)
                mine[(long long)k * stride] += __popc(peers);
            __syncwarp();
        }
        for (int k = lane; own && k < cells; k += 32)
            kept[(long long)k * chunks] = mine[k];
        __syncwarp();
    }
}

/* The sum of what the threads of a block of 1024 have; room: [32]. */
__device__ static inline int index_add(int value, int *room)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int total = 0;
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    __syncthreads(); /* what was there has been read */
    if (lane == 0)
        room[warp] = value;
    __syncthreads();
    for (int w = 0; w < 32; w++)
        total += room[w];
    return total;
}

/* Counts of a thread; a warp has neighbours of all its lanes' at a time. */
#define INDEX_EACH 4
#define INDEX_WARP (32 * INDEX_EACH)
#define INDEX_BLOCK (1024 * INDEX_EACH)

/* sums: [chains][blocks], of each block's n counts. */
CUDA_KERNEL __launch_bounds__(1024)
    index_sums(const int *counts, long long n, int blocks, int *sums)
{
    gbm_follow();
    __shared__ int room[32];
    const int chain = (int)blockIdx.x / blocks,
              block = (int)blockIdx.x % blocks;
    const long long first = (long long)block * INDEX_BLOCK + threadIdx.x;
    int sum = 0;
#pragma unroll
    for (int i = 0; i < INDEX_EACH; i++)
        if (first + i * 1024 < n)
            sum += counts[chain * n + first + i * 1024];
    sum = index_add(sum, room);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* Exclusive sums of counts in place, by blocks of 1024 threads; sums: as
 * index_sums, of one block nothing; start: [chains][cells + 1]. */
CUDA_KERNEL __launch_bounds__(1024)
    index_scan(int *counts, int cells, int chunks, int blocks, const int *sums,
               int *start)
{
    gbm_follow();
    __shared__ int room[32];
    const int chain = (int)blockIdx.x / blocks,
              block = (int)blockIdx.x % blocks;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const long long n = (long long)cells * chunks;
    const long long first =
        (long long)block * INDEX_BLOCK + warp * INDEX_WARP + lane;
    int *const c = counts + chain * n;
    int *const s = start + (long long)chain * (cells + 1);
    int own[INDEX_EACH], below[INDEX_EACH], earlier = 0, mine = 0;

    for (int b = (int)threadIdx.x; b < block; b += 1024)
        earlier += sums[(long long)chain * blocks + b];
    int before = block ? index_add(earlier, room) : 0;
#pragma unroll
    for (int i = 0; i < INDEX_EACH; i++)
        own[i] = first + 32 * i < n ? c[first + 32 * i] : 0;
#pragma unroll
    for (int i = 0; i < INDEX_EACH; i++) {
        int sum = own[i];
        for (int step = 1; step < 32; step *= 2) {
            const int other = __shfl_up_sync(0xffffffffu, sum, step);
            if (lane >= step)
                sum += other;
        }
        below[i] = mine + sum - own[i];
        mine += __shfl_sync(0xffffffffu, sum, 31);
    }
    __syncthreads(); /* sums of blocks are done with */
    if (lane == 0)
        room[warp] = mine;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        before += room[w];
#pragma unroll
    for (int i = 0; i < INDEX_EACH; i++) {
        const long long at = first + 32 * i, cell = at / chunks;
        if (at >= n)
            continue;
        c[at] = before + below[i];
        if (cell * chunks == at)
            s[cell] = before + below[i];
        if (at == n - 1)
            s[cells] = before + below[i] + own[i];
    }
}

/* item: [chains][n]; counts as index_scan left them, used up as counters. */
CUDA_KERNEL index_place(const int *key, long long n, int chains, int cells,
                        int chunks, long long chunk, int own, int *counts,
                        int *item)
{
    gbm_follow();
    extern __shared__ int counters[];
    int *const warps = counters + (int)threadIdx.x / 32 * cells;
    const int lane = threadIdx.x & 31, stride = own ? 1 : chunks;
    for (long long w = thread_number() / 32; w < (long long)chunks * chains;
         w += thread_count() / 32) {
        const int chain = (int)(w / chunks), c = (int)(w % chunks);
        const long long end = (c + 1) * chunk < n ? (c + 1) * chunk : n;
        int *const kept = counts + (long long)chain * cells * chunks + c;
        int *const mine = own ? warps : kept;
        int *out = item + (long long)chain * n;
        for (int k = lane; own && k < cells; k += 32)
            mine[k] = kept[(long long)k * chunks];
        __syncwarp();
        for (long long i = c * chunk; i < end; i += 32) {
            const int k =
                i + lane < end ? key[(long long)chain * n + i + lane] : -1;
            const unsigned peers = __match_any_sync(0xffffffffu, k);
            const bool counts_it = k >= 0 && k < cells;
            const int rank = __popc(peers & ((1u << lane) - 1u));
            int base = 0;
            if (counts_it)
                base = mine[(long long)k * stride];
            __syncwarp();
            if (counts_it) {
                out[base + rank] = (int)(i + lane);
                if (rank == 0)
                    mine[(long long)k * stride] = base + __popc(peers);
            }
            __syncwarp();
        }
    }
}

/* ---- dense Gaussian blocks: dense_large.h, dense_solve.h, dense_small.h and
 * dense_tiles.h have the rest ---- */

/* The k-th standard normal of a block: that of coordinate k of the step. */
__device__ static inline gbm_total
block_normal(const struct gbm_control *control, int chain, int step,
             long long k)
{
    struct gbm_rng rng;
    gbm_rng_start(&rng, control->seed, control->chain0 + (unsigned)chain,
                  control->sweep, (unsigned)step, (unsigned)k);
    return (gbm_total)gbm_draw_normal(&rng);
}

/* out[chain][k] = (add: +=) sum over parts of partial[group][part][chain of the
 * group][k]. Grid: a block of 1024 threads for each 32 sums of a group, groups.
 */
CUDA_KERNEL __launch_bounds__(1024)
    dense_fold(const real *partial, int parts, int chains_each, int d,
               int chains, int add, real *out)
{
    gbm_follow();
    __shared__ double sums[32][33]; /* [warp][sum] */
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int group = (int)blockIdx.y, stride = chains_each * d;
    const int left = chains - group * chains_each;
    const int n = (left < chains_each ? left : chains_each) * d;
    const int k = (int)blockIdx.x * 32 + lane;
    double sum = 0;
    if (k < n) {
#pragma unroll 8
        for (int part = warp; part < parts; part += 32)
            sum +=
                (double)partial[((long long)group * parts + part) * stride + k];
    }
    sums[warp][lane] = sum;
    __syncthreads();
    const int mine = (int)blockIdx.x * 32 + warp; /* a warp adds up a sum */
    sum = sums[lane][warp];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0 && mine < n) {
        real *to = out + (long long)group * stride + mine;
        *to = (real)(add ? (double)*to + sum : sum);
    }
}

/* out += term. */
CUDA_KERNEL dense_add(const real *term, long long n, real *out)
{
    gbm_follow();
    for (long long t = thread_number(); t < n; t += thread_count())
        out[t] += term[t];
}

/* Each chain's d cells times its number. out: [n / d][d] */
CUDA_KERNEL dense_multiply(const real *number, long long stride, int d,
                           long long n, real *out)
{
    gbm_follow();
    for (long long t = thread_number(); t < n; t += thread_count())
        out[t] *= number[t / d * stride];
}

#define DENSE_TERMS 8

/* What terms with a constant Gram matrix give to all chains; also in cuda.h.
 * gram: [d][d], or a packed triangle; scale: [chains] at scale_stride. */
template <class T> struct scaled_terms {
    const T *gram[DENSE_TERMS];
    const real *scale[DENSE_TERMS];
    long long scale_stride[DENSE_TERMS];
    int n;
};

/* By a block, of which one thread notes it: a chain's matrix of the step is not
 * positive definite. */
__device__ static inline void block_failed(struct gbm_control *control,
                                           int step, int chain)
{
    if (threadIdx.x == 0 &&
        atomicCAS(&control->failed, 0u, (unsigned)step + 1u) == 0u) {
        control->failed_sweep = control->sweep;
        control->failed_chain = control->chain0 + (unsigned)chain;
    }
}

/* The lower Cholesky factor of q, by columns that are `ld` apart, in its place,
 * by a block. False, in every thread, if it is not positive definite. */
template <class I>
__device__ static inline bool block_factorise(double *q, I ld, I d)
{
    const I self = (I)threadIdx.x, threads = (I)blockDim.x;
    bool good = true;

    for (I k = 0; k < d && good; k++) {
        const double pivot = q[k + k * ld]; /* every thread sees the same */
        const double root = sqrt(pivot);
        good = pivot > 0 && pivot <= 1.7e308;
        __syncthreads(); /* all have read the pivot */
        if (!good)
            continue;
        for (I r = k + self; r < d; r += threads)
            q[r + k * ld] = r == k ? root : q[r + k * ld] / root;
        __syncthreads();
        const I rest = d - k - 1;
        for (I t = self; t < rest * rest; t += threads) {
            const I r = k + 1 + t % rest, c = k + 1 + t / rest;
            if (r >= c)
                q[r + c * ld] -= q[r + k * ld] * q[c + k * ld];
        }
        __syncthreads();
    }
    return good;
}

/* What a model has no blocks for is not compiled. */
#ifdef GBM_HAS_LARGE
#include "dense_large.h"
#include "dense_solve.h"
#endif
#ifdef GBM_DENSE_TILES
#include "dense_tiles.h"
#endif
#ifdef GBM_HAS_SMALL
#include "dense_small.h"
#endif
#ifdef GBM_HAS_POWERS
#include "ladder.h"
#include "particles.h"
#endif
#ifdef GBM_FILTER
#include "filter.h"
#endif
