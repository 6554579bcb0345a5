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
