/* dense_tiles.h: dense Gaussian blocks whose matrix one block of threads has in
 * its registers, so that all chains are factorised at once, and drawn at once.
 * Part of kernels.h, after dense_large.h. The runtime says GBM_DENSE_TILES, how
 * many tiles of 16 x 16 the largest block has along an edge.
 *
 * Thread (i, j) of 16 x 16 has element (i, j) of each tile of the lower
 * triangle. A column that is due goes from its threads to shared memory; then
 * all subtract their share of what it explains. What stands above the diagonal
 * in a tile on it is computed along, and read by nobody. */

#define TILE_SIDE 16
#define TILES (GBM_DENSE_TILES * (GBM_DENSE_TILES + 1) / 2)
#define TILE_PARTS ((GBM_DENSE_TILES + 1) / 2) /* of 32 rows */
#define TILE_ROWS (GBM_DENSE_TILES * TILE_SIDE)

/* Element (r, c) of a chain's precision. precision: of the chain, [d][d] if
 * prior_matrix, else [d]. */
__device__ static inline gbm_total
tiles_element(const scaled_terms<gbm_total> &terms, int chain,
              const real *precision, int prior_matrix, int r, int c, int d)
{
    gbm_total sum = 0;
    for (int k = 0; k < terms.n; k++)
        sum += (gbm_total)terms.scale[k][chain * terms.scale_stride[k]] *
               terms.gram[k][r + c * d];
    if (prior_matrix)
        sum += (gbm_total)precision[r + c * d];
    else if (r == c)
        sum += (gbm_total)precision[r];
    return dense_limit(sum);
}

/* f(q, r, c) for each of a thread's elements. */
template <class F>
__device__ static inline void tiles_each(int d, gbm_total (&q)[TILES], F f)
{
    const int i = (int)threadIdx.x % TILE_SIDE;
    const int j = (int)threadIdx.x / TILE_SIDE;
#pragma unroll
    for (int a = 0; a < GBM_DENSE_TILES; a++)
#pragma unroll
        for (int b = 0; b <= a; b++) {
            const int r = a * TILE_SIDE + i, c = b * TILE_SIDE + j;
            if (r < d && c <= r)
                f(q[a * (a + 1) / 2 + b], r, c);
        }
}

/* The same as tiles_element for all of a thread's, whose loads overlap. */
__device__ static inline void tiles_form(const scaled_terms<gbm_total> &terms,
                                         int chain, const real *precision,
                                         int prior_matrix, int d,
                                         gbm_total (&q)[TILES])
{
#pragma unroll
    for (int e = 0; e < TILES; e++)
        q[e] = 0;
    for (int k = 0; k < terms.n; k++) {
        const gbm_total scale =
            (gbm_total)terms.scale[k][chain * terms.scale_stride[k]];
        const gbm_total *gram = terms.gram[k];
        tiles_each(d, q, [&](gbm_total &sum, int r, int c) {
            sum += scale * gram[r + c * d];
        });
    }
    if (prior_matrix)
        tiles_each(d, q, [&](gbm_total &sum, int r, int c) {
            sum = dense_limit(sum + (gbm_total)precision[r + c * d]);
        });
    else
        tiles_each(d, q, [&](gbm_total &sum, int r, int c) {
            sum = dense_limit(r == c ? sum + (gbm_total)precision[r] : sum);
        });
}

/* Factorises the matrix in `q`, of which tile (a, b) is number a (a + 1) / 2 +
 * b. False, in every thread, if it is not positive definite. */
__device__ static inline bool tiles_eliminate(gbm_total (&q)[TILES], int d)
{
    __shared__ gbm_total columns[2][TILE_ROWS]; /* in turns */
    __shared__ gbm_total shares[TILE_ROWS];
    const int i = (int)threadIdx.x % TILE_SIDE;
    const int j = (int)threadIdx.x / TILE_SIDE;
    bool good = true;

#pragma unroll
    for (int b = 0; b < GBM_DENSE_TILES; b++) {
        for (int k = 0; k < TILE_SIDE && b * TILE_SIDE + k < d && good; k++) {
            gbm_total *column = columns[k % 2];
            if (j == k)
#pragma unroll
                for (int a = b; a < GBM_DENSE_TILES; a++)
                    column[a * TILE_SIDE + i] =
                        a > b || i >= k ? q[a * (a + 1) / 2 + b]
                                        : (gbm_total)0; /* done with */
            __syncthreads();
            const gbm_total pivot = column[b * TILE_SIDE + k];
            const gbm_total inverse = 1 / pivot;
            good = pivot > 0 && inverse > 0 &&
                   inverse <= (sizeof(gbm_total) == 4 ? (gbm_total)3.4e38
                                                      : (gbm_total)1.7e308);
            if (threadIdx.x == 0)
                shares[b * TILE_SIDE + k] = inverse;
#pragma unroll
            for (int c = b; c < GBM_DENSE_TILES; c++) {
                /* of tiles on the diagonal what is left of the column, and it,
                 * stay */
                const gbm_total by = c > b || j > k
                                         ? -inverse * column[c * TILE_SIDE + j]
                                         : (gbm_total)0;
#pragma unroll
                for (int a = c; a < GBM_DENSE_TILES; a++)
                    q[a * (a + 1) / 2 + c] = gbm_multiply_add(
                        by, column[a * TILE_SIDE + i], q[a * (a + 1) / 2 + c]);
            }
        }
    }
    __syncthreads();
    /* a column was left as it was when due: L's is that over the root of its
     * pivot */
    tiles_each(d, q,
               [&](gbm_total &cell, int r, int c) { cell *= sqrt(shares[c]); });
    return good;
}

/* One block of 256 threads a chain: L of chains first, first + 1, ..., each
 * [d][d] by columns, its lower triangle. precision: of all chains. work,
 * diagonal: [chains of the launch][d][d], [d], used where a matrix is not
 * positive definite to this precision (dense_rescue). */
CUDA_KERNEL __launch_bounds__(TILE_SIDE *TILE_SIDE)
    tiles_factor(struct gbm_control *control,
                 const scaled_terms<gbm_total> terms, const real *precision,
                 int prior_matrix, int d, int step, int first,
                 gbm_total *factor, gbm_total *diagonal, double *work)
{
    gbm_total q[TILES];
    const int chain = first + (int)blockIdx.x;
    const long long cells = (long long)d * d;
    const real *its = precision + (prior_matrix ? cells : d) * chain;
    gbm_total *out = factor + cells * blockIdx.x;
    gbm_total *its_diagonal = diagonal + (long long)d * blockIdx.x;

    tiles_form(terms, chain, its, prior_matrix, d, q);
    if (tiles_eliminate(q, d)) {
        tiles_each(d, q, [&](gbm_total &cell, int r, int c) {
            out[r + c * d] = cell;
        });
        return;
    }
    for (int t = (int)threadIdx.x; t < d * d; t += (int)blockDim.x) {
        const int r = t % d, c = t / d;
        const gbm_total sum =
            tiles_element(terms, chain, its, prior_matrix, r, c, d);
        if (r < c) /* where it stays */
            out[t] = sum;
        else if (r == c)
            its_diagonal[r] = sum;
    }
    __syncthreads();
    rescue(control, out, its_diagonal, d, work + cells * blockIdx.x, step,
           chain);
}

/* Row r of a triangle packed by rows. Lanes that read a row, or neighbouring
 * rows at one column, find their cells in different banks. */
__device__ static inline int packed_row(int r) { return r * (r + 1) / 2; }

/* L's columns, each by its diagonal, to packed rows; loads overlap. */
__device__ static inline void tiles_load(const gbm_total *factor,
                                         const gbm_total *inverse, int d,
                                         gbm_total *l)
{
    constexpr int batch = 8;
    const int threads = (int)blockDim.x;
    for (int from = (int)threadIdx.x; from < d * d; from += batch * threads) {
        gbm_total cell[batch];
#pragma unroll
        for (int i = 0; i < batch; i++) {
            const int t = from + i * threads;
            cell[i] = t < d * d && t % d >= t / d ? factor[t] : (gbm_total)0;
        }
#pragma unroll
        for (int i = 0; i < batch; i++) {
            const int t = from + i * threads, c = t / d, r = t - c * d;
            if (t < d * d && r >= c)
                l[packed_row(r) + c] = cell[i] * inverse[c];
        }
    }
}

/* L y = b and L' x = y + z by one warp, coordinate r in lane r % 32 of `y`. l:
 * U of L = U D, D its diagonal, so that a step multiplies and adds but once: U
 * u = b, y = u / D, and U' x = (y + z) / D. inverse: [d], 1 / D. Lanes beyond
 * d have row 0, which nobody reads of them. */
__device__ static inline void tiles_solve(gbm_total (&y)[TILE_PARTS],
                                          const gbm_total *l,
                                          const gbm_total *inverse,
                                          const gbm_total *normals, int d)
{
    const int lane = (int)threadIdx.x;
    const gbm_total *row[TILE_PARTS];

#pragma unroll
    for (int p = 0; p < TILE_PARTS; p++)
        row[p] = l + (p * 32 + lane < d ? packed_row(p * 32 + lane) : 0);
#pragma unroll
    for (int b = 0; b < TILE_PARTS; b++) {
        const int last = d - b * 32 < 32 ? d - b * 32 : 32;
#pragma unroll 8
        for (int k = 0; k < last; k++) {
            const int c = b * 32 + k;
            const gbm_total value = __shfl_sync(0xffffffffu, y[b], k);
            const gbm_total own = lane > k ? row[b][c] : (gbm_total)0;
            y[b] = gbm_multiply_add(-own, value, y[b]);
#pragma unroll
            for (int p = b + 1; p < TILE_PARTS; p++)
                y[p] = gbm_multiply_add(-row[p][c], value, y[p]);
        }
    }
#pragma unroll
    for (int p = 0; p < TILE_PARTS; p++) {
        const int r = p * 32 + lane < d ? p * 32 + lane : 0;
        y[p] = (y[p] * inverse[r] + normals[r]) * inverse[r];
    }
#pragma unroll
    for (int b = TILE_PARTS - 1; b >= 0; b--) {
        const int last = d - b * 32 < 32 ? d - b * 32 : 32;
#pragma unroll 8
        for (int k = last - 1; k >= 0; k--) {
            const gbm_total *its = l + packed_row(b * 32 + k) + lane;
            const gbm_total value = __shfl_sync(0xffffffffu, y[b], k);
            const gbm_total own = lane < k ? its[b * 32] : (gbm_total)0;
            y[b] = gbm_multiply_add(-own, value, y[b]);
#pragma unroll
            for (int p = 0; p < b; p++)
                y[p] = gbm_multiply_add(-its[p * 32], value, y[p]);
        }
    }
}

/* One block of 256 threads a chain: x from L and b = potential + by score.
 * number: what by is of each chain, at `stride`; NULL: 1. Shared memory: d (d +
 * 1) / 2 + 3 d gbm_total. */
CUDA_KERNEL __launch_bounds__(256)
    tiles_draw(const struct gbm_control *control, const gbm_total *factor,
               const real *potential, const real *score, const real *number,
               long long stride, int d, int step, int first, real *x)
{
    extern __shared__ double tiles_memory[];
    gbm_total *l = (gbm_total *)tiles_memory, *b = l + packed_row(d);
    gbm_total *inverse = b + d, *normals = inverse + d;
    const int chain = first + (int)blockIdx.x, self = (int)threadIdx.x;
    const gbm_total *its = factor + (long long)d * d * blockIdx.x;
    const long long at = (long long)d * chain;

    for (int r = self; r < d; r += (int)blockDim.x)
        inverse[r] = 1 / its[r + r * d];
    __syncthreads();
    tiles_load(its, inverse, d, l);
    for (int r = self; r < d; r += (int)blockDim.x) {
        const real scaled =
            number ? score[at + r] * number[chain * stride] : score[at + r];
        b[r] = (gbm_total)potential[at + r] + (gbm_total)scaled;
        normals[r] = block_normal(control, chain, step, r);
    }
    __syncthreads();
    if (self >= 32)
        return;
    gbm_total y[TILE_PARTS];
#pragma unroll
    for (int p = 0; p < TILE_PARTS; p++)
        y[p] = p * 32 + self < d ? b[p * 32 + self] : (gbm_total)0;
    tiles_solve(y, l, inverse, normals, d);
#pragma unroll
    for (int p = 0; p < TILE_PARTS; p++)
        if (p * 32 + self < d)
            x[at + p * 32 + self] = (real)y[p];
}
