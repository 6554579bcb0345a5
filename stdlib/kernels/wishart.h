/* wishart.h: Wishart draws as JAGS has them: density proportional to
 * |x|^((k-K-1)/2) exp(-trace(R x) / 2), mean k R^-1.
 *
 * Bartlett's decomposition: with R = L L' and A lower triangular, its squared
 * diagonal chi-square with k, k-1, ... degrees of freedom and standard normals
 * below, x = T T' for T = L'^-1 A. */
#ifndef GBM_WISHART_H
#define GBM_WISHART_H

#include "gamma.h"
#include "linear.h"

/* x [K][K] from R [K][K] and k degrees of freedom, k > K - 1. NaN throughout
 * if R is not positive definite. */
GBM_FN_BIG void gbm_draw_wishart(struct gbm_rng *rng, int K, const real *R,
                                 real k, real *x)
{
    real small[GBM_SMALL_CELLS];
    int64_t cells = (int64_t)K * K;
    real *L = gbm_scratch(small, cells);
    if (L)
        gbm_copy(cells, R, L);
    if (!L || !gbm_cholesky(K, L)) {
        gbm_fill(cells, x, GBM_NAN);
        if (L)
            gbm_scratch_free(small, L);
        return;
    }
    /* Row j of x holds column j of T; then L's place holds T T'. */
    for (int j = 0; j < K; j++) {
        real *column = x + (int64_t)j * K;
        gbm_fill(j, column, 0);
        column[j] = real_sqrt(2 * gbm_draw_gamma(rng, (k - (real)j) / 2));
        for (int i = j + 1; i < K; i++)
            column[i] = gbm_draw_normal(rng);
        gbm_solve_lower_transposed(K, L, column);
    }
    gbm_fill(cells, L, 0);
    for (int j = 0; j < K; j++) {
        const real *column = x + (int64_t)j * K;
        for (int i = 0; i < K; i++)
            for (int l = 0; l <= i; l++)
                L[(int64_t)i * K + l] += column[i] * column[l];
    }
    for (int i = 0; i < K; i++)
        for (int l = 0; l <= i; l++)
            x[(int64_t)i * K + l] = x[(int64_t)l * K + i] =
                L[(int64_t)i * K + l];
    gbm_scratch_free(small, L);
}

/* The mode, (k - K - 1) R^-1; NaN throughout if there is none. */
GBM_FN_BIG void gbm_mode_wishart(int K, const real *R, real k, real *x)
{
    const int64_t cells = (int64_t)K * K;
    gbm_inverse(K, R, x);
    for (int64_t i = 0; i < cells; i++)
        x[i] = k > (real)K + 1 ? (k - (real)K - 1) * x[i] : GBM_NAN;
}

/* The same by the lanes of a team, all of which get x. */
GBM_FN_BIG void gbm_draw_wishart_shared(struct gbm_rng *rng,
                                        const struct gbm_team *team, int K,
                                        const real *R, real k, real *x)
{
#ifdef __CUDACC__
    if (gbm_is_shared(team, K)) {
        real *L = gbm_shared_matrix(0), *T = gbm_shared_matrix(1);
        const int lane = team->lane, cells = K * K;
        __syncwarp();
        for (int i = lane; i < cells; i += 32)
            L[i] = R[i];
        __syncwarp();
        if (!gbm_cholesky_shared(team, K, L)) {
            gbm_fill(cells, x, GBM_NAN);
            return;
        }
        /* a lane's column, row `lane` of T: its normals are where they stand in
         * the stream */
        struct gbm_rng its_own = *rng;
        real diagonal = 0;
        for (int j = 0; j < K; j++) {
            const real root =
                real_sqrt(2 * gbm_draw_gamma(rng, (k - (real)j) / 2));
            if (lane == j) {
                diagonal = root;
                its_own = *rng;
            }
            gbm_rng_skip(rng, (uint32_t)(K - 1 - j));
        }
        if (lane < K) {
            real *column = T + lane * K;
            gbm_fill(lane, column, 0);
            column[lane] = diagonal;
            for (int i = lane + 1; i < K; i++)
                column[i] = gbm_draw_normal(&its_own);
            gbm_solve_lower_transposed(K, L, column);
        }
        __syncwarp();
        for (int cell = lane; cell < cells; cell += 32) {
            const int i = cell / K, l = cell % K;
            real sum = 0;
            for (int j = 0; j < K; j++)
                sum += T[j * K + i] * T[j * K + l];
            L[cell] = sum;
        }
        __syncwarp();
        gbm_copy(cells, L, x);
        return;
    }
#endif
    (void)team;
    gbm_draw_wishart(rng, K, R, k, x);
}

#endif
