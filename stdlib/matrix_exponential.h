/* matrix_exponential.h: exp(A) by scaling and squaring of a Taylor polynomial:
 * Moler and Van Loan, "Nineteen dubious ways to compute the exponential of a
 * matrix" (SIAM Review 45, 2003), method 3. */
#ifndef GBM_MATRIX_EXPONENTIAL_H
#define GBM_MATRIX_EXPONENTIAL_H

#include "linear.h"

/* The largest absolute row sum. */
GBM_FN real gbm_row_norm(int K, const real *A)
{
    real norm = 0;
    for (int i = 0; i < K; i++) {
        real sum = 0;
        for (int j = 0; j < K; j++)
            sum += real_fabs(A[(int64_t)i * K + j]);
        norm = sum > norm || sum != sum ? sum : norm;
    }
    return norm;
}

/* out := I + A/n (I + A/(n-1) (... (I + A))): Horner, 18 terms of a matrix of
 * norm at most 1/2. Both A and work are [K][K]. */
GBM_FN void gbm_mexp_taylor(int K, const real *A, real *work, real *out)
{
    int64_t cells = (int64_t)K * K;
    gbm_fill(cells, out, 0);
    for (int i = 0; i < K; i++)
        out[(int64_t)i * K + i] = 1;
    for (int n = 18; n >= 1; n--) {
        gbm_matmul(K, K, K, A, out, work);
        for (int64_t i = 0; i < cells; i++)
            out[i] = work[i] / (real)n;
        for (int i = 0; i < K; i++)
            out[(int64_t)i * K + i] += 1;
    }
}

/* out [K][K] = exp(A [K][K]). NaN throughout if A is not finite. */
GBM_FN_BIG void gbm_mexp(int K, const real *A, real *out)
{
    real small_scaled[GBM_SMALL_CELLS], small_work[GBM_SMALL_CELLS];
    int64_t cells = (int64_t)K * K;
    real *scaled = gbm_scratch(small_scaled, cells);
    real *work = gbm_scratch(small_work, cells);
    real norm = gbm_row_norm(K, A);
    if (scaled && work && gbm_is_finite(norm)) {
        int squarings = 0;
        real factor = 1;
        for (; norm * factor > REAL_C(0.5); factor /= 2)
            squarings++;
        for (int64_t i = 0; i < cells; i++)
            scaled[i] = A[i] * factor;
        gbm_mexp_taylor(K, scaled, work, out);
        for (; squarings > 0; squarings--) {
            gbm_matmul(K, K, K, out, out, work);
            gbm_copy(cells, work, out);
        }
    } else {
        gbm_fill(cells, out, GBM_NAN);
    }
    if (scaled)
        gbm_scratch_free(small_scaled, scaled);
    if (work)
        gbm_scratch_free(small_work, work);
}

#endif
