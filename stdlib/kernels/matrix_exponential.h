/* matrix_exponential.h: exp(A) by scaling and squaring of a Taylor polynomial:
 * Moler and Van Loan, "Nineteen dubious ways to compute the exponential of a
 * matrix" (SIAM Review 45, 2003), method 3. */
#ifndef GBM_MATRIX_EXPONENTIAL_H
#define GBM_MATRIX_EXPONENTIAL_H

#include "linear.h"
#include "categorical.h"

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

/* row [K] = row `from`, 1-based, of exp(time Lambda [K][K]). */
GBM_FN_BIG void gbm_transition_row(int K, const real *Lambda, real from,
                                   real time, real *row)
{
    real small_rates[GBM_SMALL_CELLS], small_moves[GBM_SMALL_CELLS];
    int64_t cells = (int64_t)K * K;
    real *rates = gbm_scratch(small_rates, cells);
    real *moves = gbm_scratch(small_moves, cells);
    bool known = rates && moves && from >= 1 && from <= (real)K;
    if (known) {
        for (int64_t i = 0; i < cells; i++)
            rates[i] = time * Lambda[i];
        gbm_mexp(K, rates, moves);
    }
    for (int j = 0; j < K; j++)
        row[j] = known ? moves[(int64_t)((int)from - 1) * K + j] : GBM_NAN;
    if (rates)
        gbm_scratch_free(small_rates, rates);
    if (moves)
        gbm_scratch_free(small_moves, moves);
}

GBM_FN_BIG real gbm_log_transition(int K, const real *Lambda, real from,
                                   real to, real time)
{
    real small_row[GBM_SMALL_CELLS];
    real *row = gbm_scratch(small_row, K);
    real p = GBM_NAN;
    if (row) {
        gbm_transition_row(K, Lambda, from, time, row);
        p = to >= 1 && to <= (real)K ? row[(int)to - 1] : 0;
        gbm_scratch_free(small_row, row);
    }
    return p > 0 ? real_log(p) : p <= 0 ? -GBM_INF : GBM_NAN;
}

GBM_FN_BIG real gbm_draw_transition(struct gbm_rng *rng, int K,
                                    const real *Lambda, real from, real time)
{
    real small_row[GBM_SMALL_CELLS];
    real *row = gbm_scratch(small_row, K);
    real to = GBM_NAN;
    if (row) {
        gbm_transition_row(K, Lambda, from, time, row);
        to = gbm_draw_category(rng, K, row);
        gbm_scratch_free(small_row, row);
    }
    return to;
}

#endif
