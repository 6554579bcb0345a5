/* covariance.h: draws of covariance, precision and correlation matrices that
 * are made from Wishart and beta draws. */
#ifndef GBM_COVARIANCE_H
#define GBM_COVARIANCE_H

#include "beta.h"
#include "wishart.h"

/* x [K][K], whose inverse is Wishart with R = S and k degrees of freedom. */
GBM_FN_BIG void gbm_draw_inverse_wishart(struct gbm_rng *rng, int K,
                                         const real *S, real k, real *x)
{
    real small[GBM_SMALL_CELLS];
    real *precision = gbm_scratch(small, (int64_t)K * K);
    if (!precision) {
        gbm_fill((int64_t)K * K, x, GBM_NAN);
        return;
    }
    gbm_draw_wishart(rng, K, S, k, precision);
    gbm_inverse(K, precision, x);
    gbm_scratch_free(small, precision);
}

/* The mode. */
GBM_FN void gbm_mode_inverse_wishart(int K, const real *S, real k, real *x)
{
    for (int64_t i = 0; i < (int64_t)K * K; i++)
        x[i] = S[i] / (k + (real)K + 1);
}

/* A precision matrix x [K][K] whose standard deviations are half-t with df
 * degrees of freedom and scales s[K]: Wishart given gamma scales. Huang and
 * Wand (2013), Simple marginally noninformative prior distributions for
 * covariance matrices, section 2. */
GBM_FN_BIG void gbm_draw_scaled_wishart(struct gbm_rng *rng, int K,
                                        const real *s, real df, real *x)
{
    real small[GBM_SMALL_CELLS];
    real *R = gbm_scratch(small, (int64_t)K * K);
    if (!R) {
        gbm_fill((int64_t)K * K, x, GBM_NAN);
        return;
    }
    gbm_fill((int64_t)K * K, R, 0);
    for (int j = 0; j < K; j++)
        R[(int64_t)j * K + j] =
            2 * df * gbm_draw_gamma(rng, REAL_C(0.5)) * s[j] * s[j];
    gbm_draw_wishart(rng, K, R, df + (real)(K - 1), x);
    gbm_scratch_free(small, R);
}

/* The upper triangular Cholesky factor x [K][K] of a correlation matrix with
 * density proportional to |x'x|^(eta - 1), by the onion: Lewandowski,
 * Kurowicka and Joe (2009), Generating random correlation matrices based on
 * vines and extended onion method, section 3.2. `extent` is K. */
GBM_FN_BIG void gbm_draw_lkj_corr_cholesky(struct gbm_rng *rng, int K, real eta,
                                           real extent, real *x)
{
    (void)extent;
    gbm_fill((int64_t)K * K, x, 0);
    x[0] = 1;
    for (int j = 1; j < K; j++) {
        real square =
            gbm_draw_beta(rng, (real)j / 2, eta + (real)(K - 1 - j) / 2);
        real length = 0;
        for (int i = 0; i < j; i++) {
            real z = gbm_draw_normal(rng);
            x[(int64_t)i * K + j] = z;
            length += z * z;
        }
        for (int i = 0; i < j; i++)
            x[(int64_t)i * K + j] *= real_sqrt(square / length);
        x[(int64_t)j * K + j] = real_sqrt(1 - square);
    }
}

/* Its transpose. */
GBM_FN_BIG void gbm_draw_lkj_corr_cholesky_lower(struct gbm_rng *rng, int K,
                                                 real eta, real *x)
{
    gbm_draw_lkj_corr_cholesky(rng, K, eta, (real)K, x);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < i; j++) {
            x[(int64_t)i * K + j] = x[(int64_t)j * K + i];
            x[(int64_t)j * K + i] = 0;
        }
}

/* The matrix, below the diagonal first, as its factor is above. */
GBM_FN_BIG void gbm_draw_lkj_corr(struct gbm_rng *rng, int K, real eta, real *x)
{
    gbm_draw_lkj_corr_cholesky(rng, K, eta, (real)K, x);
    for (int i = K - 1; i >= 0; i--)
        for (int j = K - 1; j > i; j--) {
            real sum = 0;
            for (int k = 0; k <= i; k++)
                sum += x[(int64_t)k * K + i] * x[(int64_t)k * K + j];
            x[(int64_t)j * K + i] = sum;
        }
    for (int i = 0; i < K; i++) {
        x[(int64_t)i * K + i] = 1;
        for (int j = 0; j < i; j++)
            x[(int64_t)j * K + i] = x[(int64_t)i * K + j];
    }
}

#endif
