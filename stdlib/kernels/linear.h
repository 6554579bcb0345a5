/* linear.h: small dense linear algebra for one thread. Matrices are row-major
 * and contiguous. What needs a copy of a matrix takes it from the stack up to
 * GBM_MAX_SMALL rows; beyond that from the heap, which is slow on the device.
 * The result is NaN if that has no room. */
#ifndef GBM_LINEAR_H
#define GBM_LINEAR_H

#include "normals.h"
#include "team.h"

#if defined(__CUDACC__)
#ifndef GBM_MAX_SMALL
#define GBM_MAX_SMALL 16
#endif
#else
#include <stdlib.h>
#ifndef GBM_MAX_SMALL
#define GBM_MAX_SMALL 64
#endif
#endif

#define GBM_SMALL_CELLS (GBM_MAX_SMALL * GBM_MAX_SMALL)

/* Storage for n cells: `small` (GBM_SMALL_CELLS of them) if they fit. NULL if
 * there is none. */
GBM_FN real *gbm_scratch(real *small, int64_t n)
{
    if (n <= GBM_SMALL_CELLS)
        return small;
    return (real *)malloc((size_t)n * sizeof(real));
}

GBM_FN void gbm_scratch_free(const real *small, real *scratch)
{
    if (scratch != small)
        free(scratch);
}

GBM_FN void gbm_fill(int64_t n, real *x, real value)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = value;
}

GBM_FN void gbm_copy(int64_t n, const real *x, real *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i];
}

GBM_FN real gbm_dot(int n, const real *x, const real *y)
{
    real sum = 0;
    if (n >= 16) { /* below, lanes cost more than they save */
        GBM_SIMD_SUM(sum)
        for (int i = 0; i < n; i++)
            sum += x[i] * y[i];
        return sum;
    }
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* A = L L' in place: reads and writes the lower triangle only. Returns 0 if A
 * is not positive definite (it is spoilt then). Zeros before the first other
 * value of a row stay (the envelope of L is that of A): a lattice of k rows
 * costs n k^2 and not n^3. */
GBM_FN int gbm_cholesky(int n, real *A)
{
    for (int i = 0; i < n; i++) {
        real *row = A + (int64_t)i * n;
        int first = 0;
        while (first < i && row[first] == 0)
            first++;
        for (int j = first; j < i; j++) {
            const real *other = A + (int64_t)j * n;
            row[j] = (row[j] - gbm_dot(j - first, row + first, other + first)) /
                     other[j];
        }
        real pivot = row[i] - gbm_dot(i - first, row + first, row + first);
        if (!(pivot > 0 && pivot < GBM_INF))
            return 0;
        row[i] = real_sqrt(pivot);
    }
    return 1;
}

/* x := L^-1 x, L lower triangular. */
GBM_FN void gbm_solve_lower(int n, const real *L, real *x)
{
    for (int i = 0; i < n; i++) {
        const real *row = L + (int64_t)i * n;
        x[i] = (x[i] - gbm_dot(i, row, x)) / row[i];
    }
}

/* x := L'^-1 x. */
GBM_FN void gbm_solve_lower_transposed(int n, const real *L, real *x)
{
    for (int i = n - 1; i >= 0; i--) {
        const real *row = L + (int64_t)i * n;
        x[i] /= row[i];
        for (int j = 0; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}

/* x := L x. */
GBM_FN void gbm_multiply_lower(int n, const real *L, real *x)
{
    for (int i = n - 1; i >= 0; i--)
        x[i] = gbm_dot(i + 1, L + (int64_t)i * n, x);
}

/* x ~ N(Q^-1 b, Q^-1) from the precision Q [d][d], of which the lower triangle
 * is read, and the potential b [d]: with Q = L L', x = L'^-1 (L^-1 b + z).
 * Q and b are destroyed. Returns 0 and leaves x alone if Q is not positive
 * definite. Rue (2001), "Fast sampling of Gaussian Markov random fields". */
GBM_FN int gbm_gaussian_draw(struct gbm_rng *rng, int d, real *Q, real *b,
                             real *x)
{
    if (!gbm_cholesky(d, Q))
        return 0;
    gbm_solve_lower(d, Q, b);
    gbm_shift_normals(rng, d, b);
    gbm_solve_lower_transposed(d, Q, b);
    gbm_copy(d, b, x);
    return 1;
}

/* The same, by coordinates where Q is singular but for rounding, as where two
 * flat priors meet in one sum: each given the others, from x on. A coordinate
 * that nothing is known of stays. Q and b are kept. Returns 0 without memory.
 */
GBM_FN_BIG int gbm_gaussian_draw_flat(struct gbm_rng *rng, int d, const real *Q,
                                      const real *b, real *x)
{
    real small[GBM_SMALL_CELLS];
    real *L = gbm_scratch(small, (int64_t)d * (d + 1));
    if (!L)
        return 0;
    real *drawn = L + (int64_t)d * d;
    gbm_copy((int64_t)d * d, Q, L);
    gbm_copy(d, b, drawn);
    bool one = gbm_cholesky(d, L);
    for (int i = 0; one && i < d; i++) {
        const real known = gbm_square(L[i * d + i]) / Q[i * d + i];
        one = known > real_sqrt(GBM_EPSILON) / 10;
    }
    if (one) {
        gbm_solve_lower(d, L, drawn);
        gbm_shift_normals(rng, d, drawn);
        gbm_solve_lower_transposed(d, L, drawn);
        gbm_copy(d, drawn, x);
    }
    for (int i = 0; !one && i < d; i++) {
        const real pivot = Q[i * d + i];
        real score = b[i];
        for (int j = 0; j < d; j++)
            if (j != i)
                score -= Q[i > j ? i * d + j : j * d + i] * x[j];
        const real z = gbm_draw_normal(rng);
        if (pivot > 0)
            x[i] = score / pivot + z / real_sqrt(pivot);
    }
    gbm_scratch_free(small, L);
    return 1;
}

/* The mean of gbm_gaussian_draw, x = Q^-1 b. */
GBM_FN int gbm_gaussian_mean(int d, real *Q, real *b, real *x)
{
    if (!gbm_cholesky(d, Q))
        return 0;
    gbm_solve_lower(d, Q, b);
    gbm_solve_lower_transposed(d, Q, b);
    gbm_copy(d, b, x);
    return 1;
}

/* ---- by the lanes of a team ------------------------------------------------
 * Where a warp has one matrix of some rows: in shared memory, a row a lane. */
#ifdef __CUDACC__
enum { GBM_SHARED_LEAST = 5, GBM_SHARED_ROWS = 16, GBM_SHARED_WARPS = 4 };

GBM_FN bool gbm_is_shared(const struct gbm_team *team, int n)
{
    return team->lanes == 32 && n >= GBM_SHARED_LEAST && n <= GBM_SHARED_ROWS &&
           blockDim.x <= 32 * GBM_SHARED_WARPS;
}

/* Room of the calling warp, number `which` of two. */
GBM_FN real *gbm_shared_matrix(int which)
{
    __shared__ real
        cells[2][GBM_SHARED_WARPS][GBM_SHARED_ROWS * GBM_SHARED_ROWS];
    return cells[which][threadIdx.x / 32];
}

/* gbm_cholesky of A in shared memory. */
GBM_FN int gbm_cholesky_shared(const struct gbm_team *team, int n, real *A)
{
    const int lane = team->lane;
    for (int j = 0; j < n; j++) {
        real rest = 1;
        if (lane >= j && lane < n)
            rest = A[lane * n + j] - gbm_dot(j, A + lane * n, A + j * n);
        const real pivot = __shfl_sync(0xffffffffu, rest, j);
        if (!(pivot > 0 && pivot < GBM_INF))
            return 0;
        const real root = real_sqrt(pivot);
        if (lane >= j && lane < n)
            A[lane * n + j] = lane == j ? root : rest / root;
        __syncwarp();
    }
    return 1;
}
#endif

/* gbm_gaussian_draw by the lanes of a team, all of which have Q, b and x. */
GBM_FN int gbm_gaussian_draw_shared(struct gbm_rng *rng,
                                    const struct gbm_team *team, int d, real *Q,
                                    real *b, real *x)
{
#ifdef __CUDACC__
    if (gbm_is_shared(team, d)) {
        real *L = gbm_shared_matrix(0);
        const int lane = team->lane, row = lane < d ? lane : d - 1;
        __syncwarp();
        for (int i = lane; i < d * d; i += 32)
            L[i] = Q[i];
        __syncwarp();
        if (!gbm_cholesky_shared(team, d, L))
            return 0;
        real own = b[row];
        for (int i = 0; i < d; i++) {
            const real done = __shfl_sync(0xffffffffu, own, i) / L[i * d + i];
            own = row == i ? done : row > i ? own - L[row * d + i] * done : own;
        }
        struct gbm_rng its_own = *rng;
        gbm_rng_skip(&its_own, (uint32_t)row);
        own += gbm_draw_normal(&its_own);
        gbm_rng_skip(rng, (uint32_t)d);
        for (int i = d - 1; i >= 0; i--) {
            const real done = __shfl_sync(0xffffffffu, own, i) / L[i * d + i];
            own = row == i ? done : row < i ? own - L[i * d + row] * done : own;
            x[i] = done;
        }
        return 1;
    }
#endif
    (void)team;
    return gbm_gaussian_draw(rng, d, Q, b, x);
}

/* out [n][m] = A [n][k] B [k][m]. out must not overlap A or B. */
GBM_FN void gbm_matmul(int n, int k, int m, const real *A, const real *B,
                       real *out)
{
    for (int i = 0; i < n; i++) {
        real *row = out + (int64_t)i * m;
        gbm_fill(m, row, 0);
        for (int l = 0; l < k; l++) {
            real a = A[(int64_t)i * k + l];
            const real *other = B + (int64_t)l * m;
            for (int j = 0; j < m; j++)
                row[j] += a * other[j];
        }
    }
}

/* The log determinant of a symmetric positive definite A [K][K]; NaN if it is
 * not positive definite. */
GBM_FN_BIG real gbm_logdet(int K, const real *A)
{
    real small[GBM_SMALL_CELLS], sum = 0;
    real *L = gbm_scratch(small, (int64_t)K * K);
    if (!L)
        return GBM_NAN;
    gbm_copy((int64_t)K * K, A, L);
    if (gbm_cholesky(K, L)) {
        for (int i = 0; i < K; i++)
            sum += 2 * real_log(L[(int64_t)i * K + i]);
    } else {
        sum = GBM_NAN;
    }
    gbm_scratch_free(small, L);
    return sum;
}

/* Gaussian elimination with partial pivoting: leaves U above the diagonal and
 * on it. Returns the sign of the permutation, or 0 if A is singular. */
GBM_FN int gbm_eliminate(int n, real *A)
{
    int sign = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (real_fabs(A[i * n + k]) > real_fabs(A[best * n + k]))
                best = i;
        if (!(real_fabs(A[best * n + k]) > 0))
            return 0;
        if (best != k) {
            sign = -sign;
            for (int j = 0; j < n; j++) {
                real t = A[k * n + j];
                A[k * n + j] = A[best * n + j];
                A[best * n + j] = t;
            }
        }
        for (int i = k + 1; i < n; i++) {
            real factor = A[i * n + k] / A[k * n + k];
            for (int j = k + 1; j < n; j++)
                A[i * n + j] -= factor * A[k * n + j];
        }
    }
    return sign;
}

/* log |det A| of a square A [K][K]; -inf if it is singular. */
GBM_FN_BIG real gbm_logdet_general(int K, const real *A)
{
    real small[GBM_SMALL_CELLS], sum = 0;
    real *U = gbm_scratch(small, (int64_t)K * K);
    if (!U)
        return GBM_NAN;
    gbm_copy((int64_t)K * K, A, U);
    if (gbm_eliminate(K, U) == 0)
        sum = -GBM_INF;
    else
        for (int i = 0; i < K; i++)
            sum += real_log(real_fabs(U[i * K + i]));
    gbm_scratch_free(small, U);
    return sum;
}

/* A := L'^-1 L^-1, where A's lower triangle holds L: the inverse of L L'. */
GBM_FN void gbm_invert_factored(int n, real *A)
{
    for (int j = 0; j < n; j++) {
        A[j * n + j] = 1 / A[j * n + j];
        for (int i = j + 1; i < n; i++) {
            real sum = 0;
            for (int k = j; k < i; k++)
                sum += A[i * n + k] * A[k * n + j];
            A[i * n + j] = -sum / A[i * n + i];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            real sum = 0;
            for (int k = i; k < n; k++)
                sum += A[k * n + i] * A[k * n + j];
            A[i * n + j] = sum;
            A[j * n + i] = sum;
        }
}

/* Gauss-Jordan inversion in place by rows and columns of largest pivot: row i
 * of the inverse ends up where column permutations put it, so pivots are taken
 * down the diagonal of P A, with the interchanges in `swap` [n]. Returns 0 if A
 * is singular. */
GBM_FN int gbm_invert_in_place(int n, real *A, int *swap)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (real_fabs(A[i * n + k]) > real_fabs(A[best * n + k]))
                best = i;
        if (!(real_fabs(A[best * n + k]) > 0))
            return 0;
        swap[k] = best;
        for (int j = 0; best != k && j < n; j++) {
            real t = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = t;
        }
        real pivot = 1 / A[k * n + k];
        A[k * n + k] = 1;
        for (int j = 0; j < n; j++)
            A[k * n + j] *= pivot;
        for (int i = 0; i < n; i++) {
            if (i == k)
                continue;
            real factor = A[i * n + k];
            A[i * n + k] = 0;
            for (int j = 0; j < n; j++)
                A[i * n + j] -= factor * A[k * n + j];
        }
    }
    for (int k = n - 1; k >= 0; k--)
        for (int i = 0; swap[k] != k && i < n; i++) {
            real t = A[i * n + k];
            A[i * n + k] = A[i * n + swap[k]];
            A[i * n + swap[k]] = t;
        }
    return 1;
}

GBM_FN bool gbm_is_symmetric(int n, const real *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (A[i * n + j] != A[j * n + i])
                return false;
    return true;
}

GBM_FN_BIG int gbm_invert_general(int K, real *out)
{
#ifdef __CUDACC__
    int swap[4 * GBM_MAX_SMALL];
    return K <= 4 * GBM_MAX_SMALL && gbm_invert_in_place(K, out, swap);
#else
    int *swap = (int *)malloc((size_t)K * sizeof(int));
    int ok = swap && gbm_invert_in_place(K, out, swap);
    free(swap);
    return ok;
#endif
}

/* out [K][K] = the inverse of A [K][K], by Cholesky where A is symmetric and
 * positive definite. NaN throughout if A is singular. */
GBM_FN_BIG void gbm_inverse(int K, const real *A, real *out)
{
    int64_t cells = (int64_t)K * K;
    gbm_copy(cells, A, out);
    if (gbm_is_symmetric(K, out)) {
        if (gbm_cholesky(K, out)) {
            gbm_invert_factored(K, out);
            return;
        }
        gbm_copy(cells, A, out);
    }
    if (!gbm_invert_general(K, out))
        gbm_fill(cells, out, GBM_NAN);
}

/* out [K][K] = U, upper triangular, of A = U' U, A [K][K] symmetric positive
 * definite; NaN throughout if it is not. */
GBM_FN_BIG void gbm_chol(int K, const real *A, real *out)
{
    gbm_copy((int64_t)K * K, A, out);
    if (!gbm_cholesky(K, out)) {
        gbm_fill((int64_t)K * K, out, GBM_NAN);
        return;
    }
    for (int i = 0; i < K; i++)
        for (int j = i + 1; j < K; j++) {
            out[(int64_t)i * K + j] = out[(int64_t)j * K + i];
            out[(int64_t)j * K + i] = 0;
        }
}

/* out [K] = A^-1 b for a symmetric positive definite A [K][K]; NaN throughout
 * if it is not. */
GBM_FN_BIG void gbm_linear_solve(int K, const real *A, const real *b, real *out)
{
    real small[GBM_SMALL_CELLS];
    int64_t cells = (int64_t)K * K;
    real *L = gbm_scratch(small, cells);
    if (L)
        gbm_copy(cells, A, L);
    if (L && gbm_cholesky(K, L)) {
        gbm_copy(K, b, out);
        gbm_solve_lower(K, L, out);
        gbm_solve_lower_transposed(K, L, out);
    } else {
        gbm_fill(K, out, GBM_NAN);
    }
    if (L)
        gbm_scratch_free(small, L);
}

/* The trace of A B^-1, B symmetric positive definite; NaN if it is not. Row i
 * of A B^-1 is B^-1 times row i of A. */
GBM_FN_BIG real gbm_trace_solve(int K, const real *A, const real *B)
{
    real small[GBM_SMALL_CELLS], sum = 0;
    int64_t cells = (int64_t)K * K;
    real *inverse = gbm_scratch(small, cells);
    if (!inverse)
        return GBM_NAN;
    gbm_copy(cells, B, inverse);
    if (gbm_cholesky(K, inverse)) {
        gbm_invert_factored(K, inverse);
        for (int i = 0; i < K; i++)
            sum += gbm_dot(K, A + (int64_t)i * K, inverse + (int64_t)i * K);
    } else {
        sum = GBM_NAN;
    }
    gbm_scratch_free(small, inverse);
    return sum;
}

#endif
