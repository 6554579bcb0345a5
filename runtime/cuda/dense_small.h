/* dense_small.h: dense Gaussian blocks with d <= DENSE_SMALL, one thread block
 * per chain. Part of kernels.h. */

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
    gbm_follow();
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
        left[i] = right[i] = -1;
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
    gbm_follow();
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

/* A chain's part of small_draw: what Q and b are of, and shared memory. q: by
 * columns that are `ld` apart, its lower triangle; b, y: [d]. */
struct small_chain {
    const double *sums;
    const real *precision, *potential;
    const unsigned char *fixed;
    int number, splits, prior_matrix, d, ld;
    double *q, *b, *y;
    real *x;
};

/* Q, its diagonal times 1 + jitter. */
__device__ static inline void small_precision(const struct small_chain &k,
                                              const scaled_terms<double> &terms,
                                              double jitter)
{
    const int d = k.d, entries = d * (d + 1) / 2 + d;
    for (int e = (int)threadIdx.x; e < d * d; e += (int)blockDim.x) {
        const int r = e / d, c = e % d;
        if (c > r)
            continue;
        const int packed = r * (r + 1) / 2 + c;
        double sum = 0;
        for (int s = 0; s < k.splits; s++)
            sum += k.sums[(long long)s * entries + packed];
        for (int t = 0; t < terms.n; t++)
            sum += (double)terms.scale[t][k.number * terms.scale_stride[t]] *
                   terms.gram[t][packed];
        if (k.prior_matrix)
            sum += (double)k.precision[e];
        else if (r == c)
            sum += (double)k.precision[r];
        if (r == c)
            sum *= 1 + jitter;
        k.q[r + c * k.ld] = sum;
    }
}

__device__ static inline void small_potential(const struct small_chain &k)
{
    const int triangle = k.d * (k.d + 1) / 2, entries = triangle + k.d;
    for (int r = (int)threadIdx.x; r < k.d; r += (int)blockDim.x) {
        double sum = (double)k.potential[r];
        for (int s = 0; s < k.splits; s++)
            sum += k.sums[(long long)s * entries + triangle + r];
        k.b[r] = sum;
    }
}

/* Coordinates that are fixed stay at x: their rows and columns leave Q, and
 * move to b. */
__device__ static inline void small_hold(const struct small_chain &k)
{
    const int d = k.d, self = (int)threadIdx.x, threads = (int)blockDim.x;
    for (int r = self; r < d; r += threads) {
        double sum = k.b[r];
        if (k.fixed[r])
            sum = (double)k.x[r];
        else
            for (int c = 0; c < d; c++)
                if (k.fixed[c])
                    sum -= k.q[(r > c ? r : c) + (r > c ? c : r) * k.ld] *
                           (double)k.x[c];
        k.y[r] = sum;
    }
    __syncthreads();
    for (int e = self; e < d * d; e += threads) {
        const int r = e / d, c = e % d;
        if (c <= r && (k.fixed[r] || k.fixed[c]))
            k.q[r + c * k.ld] = r == c ? 1.0 : 0.0;
    }
    for (int r = self; r < d; r += threads)
        k.b[r] = k.y[r];
    __syncthreads();
}

/* y = L^-1 b, column by column. */
__device__ static inline void small_forward(const struct small_chain &k)
{
    const int self = (int)threadIdx.x;
    for (int c = 0; c < k.d; c++) {
        const double value = k.b[c] / k.q[c + c * k.ld];
        __syncthreads();
        if (self == 0)
            k.y[c] = value;
        for (int r = c + 1 + self; r < k.d; r += (int)blockDim.x)
            k.b[r] -= k.q[r + c * k.ld] * value;
        __syncthreads();
    }
}

/* b = L'^-1 y, row by row from the last. */
__device__ static inline void small_backward(const struct small_chain &k)
{
    const int self = (int)threadIdx.x;
    for (int r = k.d - 1; r >= 0; r--) {
        const double value = k.y[r] / k.q[r + r * k.ld];
        __syncthreads();
        if (self == 0)
            k.b[r] = value;
        for (int c = self; c < r; c += (int)blockDim.x)
            k.y[c] -= k.q[r + c * k.ld] * value;
        __syncthreads();
    }
}

/* Forms Q and b from the partial sums and the prior, factorises, draws. One
 * block per chain. terms: of packed triangles; sums: [chains][splits][entries];
 * x: [chains][d], in: the current value (where fixed), out: the draw. Shared
 * memory: d (d + 1) + 2 d doubles. */
CUDA_KERNEL __launch_bounds__(128)
    small_draw(struct gbm_control *control, const scaled_terms<double> terms,
               const double *sums, int splits, const real *precision,
               const real *potential, int prior_matrix,
               const unsigned char *fixed, int d, int step, real *x)
{
    gbm_follow();
    extern __shared__ double small_memory[];
    const int chain = (int)blockIdx.x, threads = (int)blockDim.x,
              self = (int)threadIdx.x, ld = d + 1;
    const int entries = d * (d + 1) / 2 + d;
    double *b = small_memory + ld * d;
    const struct small_chain k = {sums + (long long)chain * splits * entries,
                                  precision + (long long)chain *
                                                  (prior_matrix ? d * d : d),
                                  potential + (long long)chain * d,
                                  fixed,
                                  chain,
                                  splits,
                                  prior_matrix,
                                  d,
                                  ld,
                                  small_memory,
                                  b,
                                  b + d,
                                  x + (long long)chain * d};

    for (int attempt = 0;; attempt++) {
        small_precision(k, terms,
                        attempt == 0 ? 0 : 1e-15 * pow(10.0, attempt));
        small_potential(k);
        __syncthreads();
        if (fixed)
            small_hold(k);
        if (block_factorise(k.q, ld, d)) {
            if (attempt > 0 && self == 0)
                atomicAdd(&control->jitters, 1ULL);
            break;
        }
        if (attempt == 8) {
            block_failed(control, step, chain);
            return;
        }
    }
    small_forward(k);
    for (int j = self; j < d; j += threads)
        if (!fixed || !fixed[j])
            k.y[j] += (double)block_normal(control, chain, step, j);
    __syncthreads();
    small_backward(k);
    for (int j = self; j < d; j += threads)
        if (!fixed || !fixed[j])
            k.x[j] = (real)k.b[j];
}
