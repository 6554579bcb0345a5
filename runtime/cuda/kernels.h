/* kernels.h: the device kernels that no model changes: bookkeeping of a sweep,
 * running moments, the ring of draws, inverse indices, and what a dense
 * Gaussian block does beside the library calls. CUDA C, compiled by NVRTC when
 * a sampler loads; the plugin holds this text (see text.c).
 *
 * `real` is the type of the state, gbm_total (team.h) that of sums and
 * factorisations. Matrices are d x d, column-major; symmetric ones are filled
 * in whole. Nothing here uses floating-point atomics. */
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

CUDA_KERNEL sweep_done(struct gbm_control *control) { control->sweep++; }

/* Ends a kept sweep, before sweep_done. */
CUDA_KERNEL keep_done(struct gbm_control *control)
{
    control->moments++;
    if (control->store)
        control->slot =
            control->slot + 1 == control->ring ? 0 : control->slot + 1;
}

/* Ends sweeps of which `kept` were, all in one launch (chains_cuda.h). */
CUDA_KERNEL chains_done(struct gbm_control *control, unsigned sweeps,
                        unsigned kept)
{
    control->sweep += sweeps;
    control->moments += kept;
    if (control->store)
        control->slot = (control->slot + kept) % control->ring;
}

/* Copies a variable's monitored cells into the ring: [slots][chains][row].
 * cells: [count] or NULL. kind: 0 real, 1 int, 2 double.
 */
CUDA_KERNEL gather(const struct gbm_control *control, const void *values,
                   int kind, long long stride, const long long *cells,
                   long long count, int chains, double *draws, long long row,
                   long long offset)
{
    if (!control->store)
        return;
    double *base = draws + control->slot * chains * row;

    for (long long t = thread_number(); t < count * chains;
         t += thread_count()) {
        const long long chain = t / count, i = t % count;
        const long long from = chain * stride + (cells ? cells[i] : i);
        base[chain * row + offset + i] = kind == 2
                                             ? ((const double *)values)[from]
                                             : gbm_draw_at(values, kind, from);
    }
}

/* lp[chain] = (first ? 0 : lp[chain]) + the sum of its `count` densities. One
 * block of 256 per chain. */
CUDA_KERNEL __launch_bounds__(256)
    add_densities(const double *density, long long count, int first, double *lp)
{
    __shared__ double warp_sum[8];
    const double *mine = density + blockIdx.x * count;
    double sum = 0;
    for (long long i = threadIdx.x; i < count; i += 256)
        sum += mine[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        warp_sum[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double total = first ? 0 : lp[blockIdx.x];
        for (int w = 0; w < 8; w++)
            total += warp_sum[w];
        lp[blockIdx.x] = total;
    }
}

/* mean, m2: [n]; values: [n]. */
CUDA_KERNEL welford(const struct gbm_control *control, const void *values,
                    int integer, long long n, double *mean, double *m2)
{
    const double count = (double)(control->moments + 1);
    for (long long t = thread_number(); t < n; t += thread_count())
        gbm_add_moment(gbm_number_at(values, integer, t), count, &mean[t],
                       &m2[t]);
}

/* ---- inverse indices: a stable counting sort, one warp per chunk ---- */

/* counts: [chains][cells][chunks], zeroed. key: [chains][n], -1 is left out. */
CUDA_KERNEL index_count(const int *key, long long n, int chains, int cells,
                        int chunks, long long chunk, int *counts)
{
    const int lane = threadIdx.x & 31;
    for (long long w = thread_number() / 32; w < (long long)chunks * chains;
         w += thread_count() / 32) {
        const int chain = (int)(w / chunks), c = (int)(w % chunks);
        const long long end = (c + 1) * chunk < n ? (c + 1) * chunk : n;
        int *mine = counts + (long long)chain * cells * chunks + c;
        for (long long i = c * chunk; i < end; i += 32) {
            const int k =
                i + lane < end ? key[(long long)chain * n + i + lane] : -1;
            const unsigned peers = __match_any_sync(0xffffffffu, k);
            if (k >= 0 && k < cells && lane == __ffs((int)peers) - 1)
                mine[(long long)k * chunks] += __popc(peers);
            __syncwarp();
        }
    }
}

/* Exclusive sums of counts in place, by one block per chain of 1024 threads;
 * start: [chains][cells + 1]. */
CUDA_KERNEL __launch_bounds__(1024)
    index_scan(int *counts, int cells, int chunks, int *start)
{
    __shared__ int warp_sum[32];
    const int chain = (int)blockIdx.x, lane = threadIdx.x & 31,
              warp = threadIdx.x >> 5;
    const long long n = (long long)cells * chunks;
    int *c = counts + chain * n;
    int *s = start + (long long)chain * (cells + 1);
    int carry = 0;

    for (long long base = 0; base < n; base += 1024) {
        const long long i = base + threadIdx.x;
        const int mine = i < n ? c[i] : 0;
        int sum = mine;
        for (int step = 1; step < 32; step *= 2) {
            const int other = __shfl_up_sync(0xffffffffu, sum, step);
            if (lane >= step)
                sum += other;
        }
        if (lane == 31)
            warp_sum[warp] = sum;
        __syncthreads();
        int before = 0, total = 0;
        for (int w = 0; w < 32; w++) {
            if (w < warp)
                before += warp_sum[w];
            total += warp_sum[w];
        }
        const int exclusive = carry + before + sum - mine;
        if (i < n) {
            c[i] = exclusive;
            if (i % chunks == 0)
                s[i / chunks] = exclusive;
        }
        carry += total;
        __syncthreads(); /* warp_sum is written again */
    }
    if (threadIdx.x == 0)
        s[cells] = carry;
}

/* item: [chains][n]; counts as index_scan left them, used up as counters. */
CUDA_KERNEL index_place(const int *key, long long n, int chains, int cells,
                        int chunks, long long chunk, int *counts, int *item)
{
    const int lane = threadIdx.x & 31;
    for (long long w = thread_number() / 32; w < (long long)chunks * chains;
         w += thread_count() / 32) {
        const int chain = (int)(w / chunks), c = (int)(w % chunks);
        const long long end = (c + 1) * chunk < n ? (c + 1) * chunk : n;
        int *mine = counts + (long long)chain * cells * chunks + c;
        int *out = item + (long long)chain * n;
        for (long long i = c * chunk; i < end; i += 32) {
            const int k =
                i + lane < end ? key[(long long)chain * n + i + lane] : -1;
            const unsigned peers = __match_any_sync(0xffffffffu, k);
            const bool counts_it = k >= 0 && k < cells;
            const int rank = __popc(peers & ((1u << lane) - 1u));
            int base = 0;
            if (counts_it)
                base = mine[(long long)k * chunks];
            __syncwarp();
            if (counts_it) {
                out[base + rank] = (int)(i + lane);
                if (rank == 0)
                    mine[(long long)k * chunks] = base + __popc(peers);
            }
            __syncwarp();
        }
    }
}

/* ---- dense Gaussian blocks ---- */

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

/* out[r][j] = f(weight[r]) design[r][j], f the root, or with `mask` 1 unless
 * the weight is 0. */
CUDA_KERNEL dense_scale_rows(const real *design, const real *weight,
                             long long rows, int d, int mask, gbm_total *out)
{
    const long long n = rows * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        long long row;
        int column;
        divide(t, d, n, &row, &column);
        const real w = weight[row];
        const gbm_total f = mask ? (w != (real)0 ? (gbm_total)1 : (gbm_total)0)
                                 : (gbm_total)sqrt((gbm_total)w);
        out[t] = f * (gbm_total)design[t];
    }
}

/* out[chain][k] = (add: +=) sum over parts of partial[group][part][chain of the
 * group][k]. Grid: a block of 1024 threads for each 32 sums of a group, groups.
 */
CUDA_KERNEL __launch_bounds__(1024)
    dense_fold(const real *partial, int parts, int chains_each, int d,
               int chains, int add, real *out)
{
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
    for (long long t = thread_number(); t < n; t += thread_count())
        out[t] += term[t];
}

/* Each chain's d cells times its number. out: [n / d][d] */
CUDA_KERNEL dense_multiply(const real *number, long long stride, int d,
                           long long n, real *out)
{
    for (long long t = thread_number(); t < n; t += thread_count())
        out[t] *= number[t / d * stride];
}

/* Copies the lower triangle of a symmetric matrix to the upper one. */
CUDA_KERNEL dense_mirror(gbm_total *a, int d)
{
    const long long n = (long long)d * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        long long c;
        int r;
        divide(t, d, n, &c, &r);
        if (r < c)
            a[t] = a[c + (long long)r * d];
    }
}

/* Q = prior + sum over terms of scale gram + varying. Of `varying` the lower
 * triangle is read; a gram is whole. scale: pointers to one real each.
 * prior_matrix: precision is [d][d], else [d]. The diagonal is saved. The
 * structs are also in cuda.h. */
#define DENSE_TERMS 8
struct dense_terms {
    const gbm_total *gram[DENSE_TERMS];
    const real *scale[DENSE_TERMS];
    const gbm_total *varying;
    int n;
};

CUDA_KERNEL dense_form(const struct dense_terms terms, const real *precision,
                       int prior_matrix, int d, gbm_total *q,
                       gbm_total *diagonal)
{
    const long long n = (long long)d * d;
    const gbm_total largest =
        sizeof(gbm_total) == 4 ? (gbm_total)1e30 : (gbm_total)1e250;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        long long c;
        int r;
        divide(t, d, n, &c, &r);
        gbm_total sum = 0;
        for (int k = 0; k < terms.n; k++)
            sum += (gbm_total)*terms.scale[k] * terms.gram[k][t];
        if (terms.varying)
            sum += terms.varying[r >= c ? t : c + (long long)r * d];
        if (prior_matrix)
            sum += (gbm_total)precision[t];
        else if (r == c)
            sum += (gbm_total)precision[r];
        if (sum > largest) /* a coordinate held at its mean */
            sum = largest;
        q[t] = sum;
        if (r == c)
            diagonal[r] = sum;
    }
}

/* b = potential + score, the sum of A' score. */
CUDA_KERNEL dense_potential(const real *potential, const real *score, int d,
                            gbm_total *b)
{
    for (long long j = thread_number(); j < d; j += thread_count())
        b[j] = (gbm_total)potential[j] + (gbm_total)score[j];
}

/* Makes coordinates with fixed[j] stay at x[j]: their row and column leave Q,
 * and move to b. Two kernels, since the first reads what the second clears. */
CUDA_KERNEL dense_hold_potential(const gbm_total *q, const unsigned char *fixed,
                                 const real *x, int d, gbm_total *b)
{
    for (long long r = thread_number(); r < d; r += thread_count()) {
        if (fixed[r]) {
            b[r] = (gbm_total)x[r];
            continue;
        }
        gbm_total sum = b[r];
        for (int c = 0; c < d; c++)
            if (fixed[c])
                sum -= q[r + (long long)c * d] * (gbm_total)x[c];
        b[r] = sum;
    }
}

CUDA_KERNEL dense_hold_precision(const unsigned char *fixed, int d,
                                 gbm_total *q, gbm_total *diagonal)
{
    const long long n = (long long)d * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        const long long r = t % d, c = t / d;
        if (!fixed[r] && !fixed[c])
            continue;
        q[t] = r == c ? (gbm_total)1 : (gbm_total)0;
        if (r == c)
            diagonal[r] = (gbm_total)1;
    }
}

/* One block. Where the library's factorisation failed (*info != 0): again in
 * double from the upper triangle and the saved diagonal, then with growing
 * jitter on the diagonal; the factor goes to the lower triangle of q. Slow, and
 * rare. work: [d][d]. */
CUDA_KERNEL __launch_bounds__(1024)
    dense_rescue(struct gbm_control *control, const int *info, gbm_total *q,
                 const gbm_total *diagonal, int d, double *work, int step,
                 int chain)
{
    if (*info == 0)
        return;
    __shared__ int bad;
    __shared__ double largest;
    const long long n = (long long)d * d;

    if (threadIdx.x == 0) {
        largest = 0;
        for (int j = 0; j < d; j++)
            if ((double)diagonal[j] > largest)
                largest = (double)diagonal[j];
    }
    __syncthreads();
    for (int attempt = 0; attempt < 9; attempt++) {
        /* 0, then 1e-14 ... 1e-7 of the coordinate's own precision */
        const double jitter = attempt == 0 ? 0 : 1e-15 * pow(10.0, attempt);
        for (long long t = threadIdx.x; t < n; t += blockDim.x) {
            const long long r = t % d, c = t / d;
            if (r > c)
                work[t] = (double)q[c + r * d];
            else if (r == c)
                work[t] = (double)diagonal[r] +
                          jitter * ((double)diagonal[r] + 1e-3 * largest);
        }
        if (threadIdx.x == 0)
            bad = 0;
        __syncthreads();
        for (int k = 0; k < d; k++) {
            const double pivot = work[k + (long long)k * d];
            if (!(pivot > 0) || !(pivot <= 1.7e308)) {
                if (threadIdx.x == 0)
                    bad = 1;
                break; /* every thread sees the same pivot */
            }
            const double root = sqrt(pivot);
            __syncthreads(); /* all have read the pivot */
            for (int r = k + (int)threadIdx.x; r < d; r += (int)blockDim.x)
                work[r + (long long)k * d] =
                    r == k ? root : work[r + (long long)k * d] / root;
            __syncthreads();
            const int left = d - k - 1;
            for (long long t = threadIdx.x; t < (long long)left * left;
                 t += blockDim.x) {
                const int r = k + 1 + (int)(t % left),
                          c = k + 1 + (int)(t / left);
                if (r >= c)
                    work[r + (long long)c * d] -=
                        work[r + (long long)k * d] * work[c + (long long)k * d];
            }
            __syncthreads();
        }
        __syncthreads();
        if (!bad)
            break;
        __syncthreads(); /* `bad` has been read by all */
    }
    if (bad) {
        if (threadIdx.x == 0 && !control->failed) {
            control->failed = (unsigned)step + 1;
            control->failed_sweep = control->sweep;
            control->failed_chain = control->chain0 + (unsigned)chain;
        }
        return;
    }
    for (long long t = threadIdx.x; t < n; t += blockDim.x)
        if (t % d >= t / d)
            q[t] = (gbm_total)work[t];
    if (threadIdx.x == 0)
        control->jitters++;
}

/* y += z, the block's normals; 0 where fixed. */
CUDA_KERNEL dense_add_normals(const struct gbm_control *control, int chain,
                              int step, int d, const unsigned char *fixed,
                              gbm_total *y)
{
    for (long long j = thread_number(); j < d; j += thread_count())
        if (!fixed || !fixed[j])
            y[j] += block_normal(control, chain, step, j);
}

/* [n] gbm_total to real. */
CUDA_KERNEL dense_to_state(const gbm_total *from, long long n, real *to)
{
    for (long long t = thread_number(); t < n; t += thread_count())
        to[t] = (real)from[t];
}

/* ---- small blocks, d <= DENSE_SMALL: one thread block per chain ---- */

#define DENSE_SMALL 64 /* GBM_DENSE_SMALL of model.h */
#define DENSE_OWN 9    /* entries of a thread: 256 * 9 >= 64 * 65 / 2 + 64 */

/* Partial sums over a range of rows of weight a a' (lower triangle, packed by
 * rows: entry r (r + 1) / 2 + c) and of score a: [d (d + 1) / 2 + d] doubles.
 * Grid: (splits, chains). out: [chains][stride], this term's splits first at
 * `offset`. design_stride: rows * d if each chain has its own design, else 0.
 * potential_only: the first d (d + 1) / 2 are left 0. Shared memory: tile *
 * (d + 2) doubles. */
CUDA_KERNEL __launch_bounds__(256)
    small_gram(const real *design, long long design_stride, const real *weight,
               const real *score, long long rows, int d, int potential_only,
               int tile, double *out, long long stride, long long offset)
{
    extern __shared__ double tile_memory[];
    const int triangle = d * (d + 1) / 2, entries = triangle + d;
    const int chain = (int)blockIdx.y;
    const long long each = (rows + gridDim.x - 1) / gridDim.x;
    const long long begin = each * blockIdx.x;
    const long long end = begin + each < rows ? begin + each : rows;
    const real *a = design + chain * design_stride;
    const real *w = weight + chain * rows, *s = score + chain * rows;
    double sum[DENSE_OWN];
    short left[DENSE_OWN], right[DENSE_OWN]; /* columns; -1: none */

#pragma unroll
    for (int i = 0; i < DENSE_OWN; i++) {
        const int e = (int)threadIdx.x + i * (int)blockDim.x;
        sum[i] = 0;
        left[i] = -1;
        right[i] = -1;
        if (e < triangle && !potential_only) {
            int r = (int)((sqrtf(8.0f * (float)e + 1.0f) - 1.0f) * 0.5f);
            while (r * (r + 1) / 2 > e)
                r--;
            while ((r + 1) * (r + 2) / 2 <= e)
                r++;
            left[i] = (short)r;
            right[i] = (short)(e - r * (r + 1) / 2);
        } else if (e >= triangle && e < entries) {
            left[i] = (short)(e - triangle);
            right[i] = (short)(d + 1); /* the score's column of the tile */
        }
    }
    for (long long base = begin; base < end; base += tile) {
        const int here = (int)(end - base < tile ? end - base : tile);
        __syncthreads();
        for (int t = (int)threadIdx.x; t < here * d; t += (int)blockDim.x)
            tile_memory[t / d * (d + 2) + t % d] = (double)a[base * d + t];
        for (int t = (int)threadIdx.x; t < here; t += (int)blockDim.x) {
            tile_memory[t * (d + 2) + d] = (double)w[base + t];
            tile_memory[t * (d + 2) + d + 1] = (double)s[base + t];
        }
        __syncthreads();
        for (int t = 0; t < here; t++) {
            const double *row = tile_memory + t * (d + 2);
            const double its_weight = row[d];
#pragma unroll
            for (int i = 0; i < DENSE_OWN; i++)
                if (left[i] >= 0)
                    sum[i] += row[left[i]] * row[right[i]] *
                              (right[i] < d ? its_weight : 1.0);
        }
    }
    double *mine =
        out + chain * stride + offset + blockIdx.x * (long long)entries;
#pragma unroll
    for (int i = 0; i < DENSE_OWN; i++) {
        const int e = (int)threadIdx.x + i * (int)blockDim.x;
        if (e < entries)
            mine[e] = sum[i];
    }
}

/* out[chain][e] = sum over splits of in[chain][split][e], one warp each. */
CUDA_KERNEL small_fold(const double *in, int splits, int entries, int chains,
                       double *out)
{
    const int lane = threadIdx.x & 31;
    for (long long w = thread_number() / 32; w < (long long)entries * chains;
         w += thread_count() / 32) {
        const long long chain = w / entries, e = w % entries;
        double sum = 0;
        for (int s = lane; s < splits; s += 32)
            sum += in[(chain * splits + s) * entries + e];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (lane == 0)
            out[w] = sum;
    }
}

/* What small_draw needs of the terms with a constant Gram matrix. */
struct small_terms {
    const double *gram[DENSE_TERMS]; /* packed triangle */
    const real *scale[DENSE_TERMS];  /* [chains] at scale_stride */
    long long scale_stride[DENSE_TERMS];
    int n;
};

/* Forms Q and b from the partial sums and the prior, factorises, draws. One
 * block per chain. sums: [chains][splits][entries]; x: [chains][d], in: the
 * current value (where fixed), out: the draw. Shared memory:
 * d (d + 1) + 2 d doubles. */
CUDA_KERNEL __launch_bounds__(128)
    small_draw(struct gbm_control *control, const struct small_terms terms,
               const double *sums, int splits, const real *precision,
               const real *potential, int prior_matrix,
               const unsigned char *fixed, int d, int step, real *x)
{
    extern __shared__ double small_memory[];
    __shared__ int bad;
    const int chain = (int)blockIdx.x, threads = (int)blockDim.x,
              self = (int)threadIdx.x, ld = d + 1;
    const int triangle = d * (d + 1) / 2, entries = triangle + d;
    double *q = small_memory, *b = q + ld * d, *y = b + d;
    const double *its_sums = sums + (long long)chain * splits * entries;
    const real *its_precision =
        precision + (long long)chain * (prior_matrix ? d * d : d);
    const real *its_potential = potential + (long long)chain * d;
    real *its_x = x + (long long)chain * d;

    for (int attempt = 0;; attempt++) {
        const double jitter = attempt == 0 ? 0 : 1e-15 * pow(10.0, attempt);
        for (int e = self; e < d * d; e += threads) {
            const int r = e / d, c = e % d;
            if (c > r)
                continue;
            const int packed = r * (r + 1) / 2 + c;
            double sum = 0;
            for (int s = 0; s < splits; s++)
                sum += its_sums[(long long)s * entries + packed];
            for (int k = 0; k < terms.n; k++)
                sum += (double)terms.scale[k][chain * terms.scale_stride[k]] *
                       terms.gram[k][packed];
            if (prior_matrix)
                sum += (double)its_precision[e];
            else if (r == c)
                sum += (double)its_precision[r];
            if (r == c)
                sum *= 1 + jitter;
            q[r * ld + c] = sum;
        }
        for (int r = self; r < d; r += threads) {
            double sum = (double)its_potential[r];
            for (int s = 0; s < splits; s++)
                sum += its_sums[(long long)s * entries + triangle + r];
            b[r] = sum;
        }
        if (self == 0)
            bad = 0;
        __syncthreads();
        if (fixed) {
            for (int r = self; r < d; r += threads) {
                double sum = b[r];
                if (fixed[r])
                    sum = (double)its_x[r];
                else
                    for (int c = 0; c < d; c++)
                        if (fixed[c])
                            sum -= q[(r > c ? r : c) * ld + (r > c ? c : r)] *
                                   (double)its_x[c];
                y[r] = sum;
            }
            __syncthreads();
            for (int e = self; e < d * d; e += threads) {
                const int r = e / d, c = e % d;
                if (c <= r && (fixed[r] || fixed[c]))
                    q[r * ld + c] = r == c ? 1.0 : 0.0;
            }
            for (int r = self; r < d; r += threads)
                b[r] = y[r];
            __syncthreads();
        }
        for (int k = 0; k < d; k++) {
            const double pivot = q[k * ld + k];
            if (!(pivot > 0) || !(pivot <= 1.7e308)) {
                if (self == 0)
                    bad = 1;
                break; /* every thread sees the same pivot */
            }
            const double root = sqrt(pivot);
            __syncthreads(); /* all have read the pivot */
            for (int r = k + self; r < d; r += threads)
                q[r * ld + k] = r == k ? root : q[r * ld + k] / root;
            __syncthreads();
            const int rest = d - k - 1;
            for (int t = self; t < rest * rest; t += threads) {
                const int r = k + 1 + t / rest, c = k + 1 + t % rest;
                if (c <= r)
                    q[r * ld + c] -= q[r * ld + k] * q[c * ld + k];
            }
            __syncthreads();
        }
        __syncthreads();
        const int failed = bad;
        __syncthreads(); /* `bad` has been read by all */
        if (!failed) {
            if (attempt > 0 && self == 0)
                atomicAdd(&control->jitters, 1ULL);
            break;
        }
        if (attempt == 8) {
            if (self == 0 &&
                atomicCAS(&control->failed, 0u, (unsigned)step + 1u) == 0u) {
                control->failed_sweep = control->sweep;
                control->failed_chain = control->chain0 + (unsigned)chain;
            }
            return;
        }
    }
    /* L y = b, column by column */
    for (int k = 0; k < d; k++) {
        const double value = b[k] / q[k * ld + k];
        __syncthreads();
        if (self == 0)
            y[k] = value;
        for (int r = k + 1 + self; r < d; r += threads)
            b[r] -= q[r * ld + k] * value;
        __syncthreads();
    }
    for (int j = self; j < d; j += threads)
        if (!fixed || !fixed[j])
            y[j] += (double)block_normal(control, chain, step, j);
    __syncthreads();
    /* L' x = y + z, row by row from the last */
    for (int k = d - 1; k >= 0; k--) {
        const double value = y[k] / q[k * ld + k];
        __syncthreads();
        if (self == 0)
            b[k] = value;
        for (int c = self; c < k; c += threads)
            y[c] -= q[k * ld + c] * value;
        __syncthreads();
    }
    for (int j = self; j < d; j += threads)
        if (!fixed || !fixed[j])
            its_x[j] = (real)b[j];
}

/* ---- more coordinates than rows (Bhattacharya, Chakraborty and Mallick 2016)
 *
 * With prior precision 1 / D and mean m (diagonal), Phi = W^(1/2) A (n x d):
 * B = Phi D^(1/2); h = D^(-1/2) m + e, e normal; v = B h + delta, delta normal;
 * (B B' + I) r = alpha - v, alpha = W^(-1/2) score; x = D^(1/2) (h + B' r). */

/* B (rows x d, row-major) from rows first .. of the stacked design. */
CUDA_KERNEL wide_scale(const real *design, const real *weight,
                       const real *precision, long long rows, int d,
                       gbm_total *out)
{
    const long long n = rows * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        long long row;
        int column;
        divide(t, d, n, &row, &column);
        out[t] = (gbm_total)design[t] *
                 sqrt((gbm_total)weight[row] / (gbm_total)precision[column]);
    }
}

/* h: [d] */
CUDA_KERNEL wide_prior(const struct gbm_control *control, int chain, int step,
                       const real *precision, const real *potential, int d,
                       gbm_total *h)
{
    for (long long j = thread_number(); j < d; j += thread_count())
        h[j] = (gbm_total)potential[j] / sqrt((gbm_total)precision[j]) +
               block_normal(control, chain, step, j);
}

/* r = alpha - v - delta for the stacked rows first .. first + rows - 1; r holds
 * v. */
CUDA_KERNEL wide_residual(const struct gbm_control *control, int chain,
                          int step, const real *weight, const real *score,
                          long long rows, long long first, int d, gbm_total *r)
{
    for (long long t = thread_number(); t < rows; t += thread_count()) {
        const gbm_total w = (gbm_total)weight[t];
        const gbm_total alpha =
            w > 0 ? (gbm_total)score[t] / sqrt(w) : (gbm_total)0;
        r[first + t] = alpha - r[first + t] -
                       block_normal(control, chain, step, d + first + t);
    }
}

/* Adds 1 to the diagonal, and saves it. */
CUDA_KERNEL wide_identity(gbm_total *m, long long n, gbm_total *diagonal)
{
    for (long long t = thread_number(); t < n; t += thread_count()) {
        m[t + t * n] += (gbm_total)1;
        diagonal[t] = m[t + t * n];
    }
}

/* x = D^(1/2) h */
CUDA_KERNEL wide_finish(const gbm_total *h, const real *precision, int d,
                        real *x)
{
    for (long long j = thread_number(); j < d; j += thread_count())
        x[j] = (real)(h[j] / sqrt((gbm_total)precision[j]));
}
