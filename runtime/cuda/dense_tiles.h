/* dense_tiles.h: dense Gaussian blocks whose matrix one block of threads has in
 * its registers, so that all chains are factorised at once, and drawn at once.
 * Part of kernels.h, after dense_large.h. The runtime says GBM_DENSE_TILES, how
 * many tiles of 16 x 16 the largest block has along an edge.
 *
 * Thread (i, j) of 16 x 16 has element (i, j) of each tile of the lower
 * triangle. A panel of 16 columns that is due goes from its threads to shared
 * memory: a warp factorises the square on the diagonal, a thread for each row
 * below divides by it; then all subtract their share of what the panel
 * explains. What stands above the diagonal in a tile on it is computed along,
 * and read by nobody. */

#define TILE_SIDE 16
#define TILES (GBM_DENSE_TILES * (GBM_DENSE_TILES + 1) / 2)
#define TILE_PARTS ((GBM_DENSE_TILES + 1) / 2) /* of 32 rows */
#define TILE_ROWS (GBM_DENSE_TILES * TILE_SIDE)
#define TILE_GAP (TILE_SIDE + 1) /* between rows of a panel, for the banks */

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

/* Each column waits for that of its pivot: a root and a division take as long as
 * all the rest of it. */
__device__ static inline float inverse_root(float x) { return rsqrtf(x); }
__device__ static inline double inverse_root(double x) { return rsqrt(x); }

/* Factorises the square of a panel's first rows in its place, of which `n`
 * columns count, by a warp, a row a lane; lanes from 16 on do what others do.
 * inverse: [16], 1 over its diagonal. False, in every lane, if it is not
 * positive definite. */
__device__ static __noinline__ bool tiles_square(gbm_total *panel,
                                                 gbm_total *inverse, int n)
{
    const int lane = (int)threadIdx.x % 32;
    gbm_total *row = panel + lane % TILE_SIDE * TILE_GAP;
    gbm_total v[TILE_SIDE], own = 1;
    bool good = true;

#pragma unroll
    for (int k = 0; k < TILE_SIDE; k++)
        v[k] = row[k];
#pragma unroll
    for (int k = 0; k < TILE_SIDE; k++) {
        const gbm_total due = __shfl_sync(0xffffffffu, v[k], k);
        const gbm_total pivot = k < n ? due : (gbm_total)1;
        good = good && pivot > 0 &&
               pivot <= (sizeof(gbm_total) == 4 ? (gbm_total)3.4e38
                                                : (gbm_total)1.7e308);
        const gbm_total by = inverse_root(pivot);
        v[k] *= by;
        own = lane == k ? by : own;
#pragma unroll
        for (int j = k + 1; j < TILE_SIDE; j++)
            v[j] = gbm_multiply_add(-v[k], __shfl_sync(0xffffffffu, v[k], j),
                                    v[j]);
    }
    __syncwarp();
    if (lane < TILE_SIDE) {
#pragma unroll
        for (int k = 0; k < TILE_SIDE; k++)
            row[k] = k <= lane ? v[k] : (gbm_total)0;
        inverse[lane] = own;
    }
    return good;
}

/* A row below the square: times the inverse of the square's transpose. */
__device__ static __noinline__ void
tiles_below(const gbm_total *panel, const gbm_total *inverse, gbm_total *row)
{
    gbm_total v[TILE_SIDE];

#pragma unroll
    for (int k = 0; k < TILE_SIDE; k++)
        v[k] = row[k];
#pragma unroll
    for (int k = 0; k < TILE_SIDE; k++) {
        v[k] *= inverse[k];
        row[k] = v[k];
#pragma unroll
        for (int j = k + 1; j < TILE_SIDE; j++)
            v[j] = gbm_multiply_add(-v[k], panel[j * TILE_GAP + k], v[j]);
    }
}

/* Factorises the matrix in `q`, of which tile (a, b) is number a (a + 1) / 2 +
 * b. inverse: [16 * GBM_DENSE_TILES] of shared memory, 1 over L's diagonal.
 * False, in every thread, if it is not positive definite. */
__device__ static inline bool tiles_eliminate(gbm_total (&q)[TILES],
                                              gbm_total *inverse, int d)
{
    __shared__ gbm_total panel[TILE_ROWS * TILE_GAP];
    __shared__ bool is_good;
    const int self = (int)threadIdx.x;
    const int i = self % TILE_SIDE, j = self / TILE_SIDE;
    bool good = true;

#pragma unroll
    for (int b = 0; b < GBM_DENSE_TILES; b++) {
        const int left = d - b * TILE_SIDE; /* rows, and columns */
        gbm_total *its = inverse + b * TILE_SIDE;
        if (left <= 0 || !good)
            break;
        __syncthreads(); /* all have read the last panel */
#pragma unroll
        for (int a = b; a < GBM_DENSE_TILES; a++)
            panel[((a - b) * TILE_SIDE + i) * TILE_GAP + j] =
                q[a * (a + 1) / 2 + b];
        __syncthreads();
        if (self < 32) {
            const bool its_good = tiles_square(panel, its, left);
            if (self == 0)
                is_good = its_good;
        }
        __syncthreads();
        good = is_good;
        if (self + TILE_SIDE < left)
            tiles_below(panel, its, panel + (self + TILE_SIDE) * TILE_GAP);
        __syncthreads();
#pragma unroll
        for (int a = b; a < GBM_DENSE_TILES; a++)
            q[a * (a + 1) / 2 + b] =
                panel[((a - b) * TILE_SIDE + i) * TILE_GAP + j];
#pragma unroll 2
        for (int k = 0; k < TILE_SIDE; k++) {
            gbm_total mine[GBM_DENSE_TILES];
#pragma unroll
            for (int a = b + 1; a < GBM_DENSE_TILES; a++)
                mine[a] = panel[((a - b) * TILE_SIDE + i) * TILE_GAP + k];
#pragma unroll
            for (int c = b + 1; c < GBM_DENSE_TILES; c++) {
                const gbm_total by =
                    -panel[((c - b) * TILE_SIDE + j) * TILE_GAP + k];
#pragma unroll
                for (int a = c; a < GBM_DENSE_TILES; a++)
                    q[a * (a + 1) / 2 + c] =
                        gbm_multiply_add(by, mine[a], q[a * (a + 1) / 2 + c]);
            }
        }
    }
    __syncthreads();
    return good;
}

/* Row r of a triangle packed by rows. Lanes that read a row, or neighbouring
 * rows at one column, find their cells in different banks. */
__device__ static inline int packed_row(int r) { return r * (r + 1) / 2; }

/* Cells of a chain's factor as it is drawn from: U of L = U D, D its diagonal,
 * packed, and then 1 / D; a multiple of 4. */
__device__ static inline int tiles_cells(int d)
{
    return (packed_row(d) + d + 3) / 4 * 4;
}

/* What is drawn from of a factor [d][d], by columns, its lower triangle. */
__device__ static inline void tiles_pack(const gbm_total *factor, int d,
                                         gbm_total *packed)
{
    for (int t = (int)threadIdx.x; t < d * d; t += (int)blockDim.x) {
        const int r = t % d, c = t / d;
        const gbm_total by = 1 / factor[c + c * d];
        if (r >= c)
            packed[packed_row(r) + c] = factor[t] * by;
        if (r == c)
            packed[packed_row(d) + c] = by;
    }
}

/* One block of 256 threads a chain: the factors of chains first, first + 1,
 * ..., each of tiles_cells. precision: of all chains. factor, work, diagonal:
 * [chains of the launch][d][d], [d][d], [d], used where a matrix is not
 * positive definite to this precision (dense_rescue). */
CUDA_KERNEL __launch_bounds__(TILE_SIDE *TILE_SIDE)
    tiles_factor(struct gbm_control *control,
                 const scaled_terms<gbm_total> terms, const real *precision,
                 int prior_matrix, int d, int step, int first,
                 gbm_total *packed, gbm_total *factor, gbm_total *diagonal,
                 double *work)
{
    gbm_follow();
    __shared__ gbm_total inverse[TILE_ROWS];
    gbm_total q[TILES];
    const int chain = first + (int)blockIdx.x;
    const long long cells = (long long)d * d;
    const real *its = precision + (prior_matrix ? cells : d) * chain;
    gbm_total *out = factor + cells * blockIdx.x;
    gbm_total *its_diagonal = diagonal + (long long)d * blockIdx.x;

    tiles_form(terms, chain, its, prior_matrix, d, q);
    packed += (long long)tiles_cells(d) * blockIdx.x;
    if (tiles_eliminate(q, inverse, d)) {
        tiles_each(d, q, [&](gbm_total &cell, int r, int c) {
            packed[packed_row(r) + c] = cell * inverse[c];
        });
        for (int r = (int)threadIdx.x; r < d; r += (int)blockDim.x)
            packed[packed_row(d) + r] = inverse[r];
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
    __syncthreads();
    tiles_pack(out, d, packed);
}

/* Copies a chain's factor, 16 bytes at a time; loads overlap. */
__device__ static inline void tiles_load(const gbm_total *packed, int d,
                                         gbm_total *l)
{
    const int n = tiles_cells(d) * (int)sizeof(gbm_total) / 16;
#pragma unroll 8
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        ((float4 *)l)[i] = ((const float4 *)packed)[i];
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
 * number: what by is of each chain, at `stride`; NULL: 1. Shared memory:
 * tiles_cells + 2 d gbm_total. */
CUDA_KERNEL __launch_bounds__(256)
    tiles_draw(const struct gbm_control *control, const gbm_total *packed,
               const real *potential, const real *score, const real *number,
               long long stride, int d, int step, int first, real *x)
{
    gbm_follow();
    extern __shared__ float4 tiles_memory[];
    gbm_total *l = (gbm_total *)tiles_memory, *b = l + tiles_cells(d);
    gbm_total *inverse = l + packed_row(d), *normals = b + d;
    const int chain = first + (int)blockIdx.x, self = (int)threadIdx.x;
    const long long at = (long long)d * chain;

    tiles_load(packed + (long long)tiles_cells(d) * blockIdx.x, d, l);
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
