/* multi_normal.h: draws of one multivariate normal or t by one thread. */
#ifndef GBM_MULTI_NORMAL_H
#define GBM_MULTI_NORMAL_H

#include "gamma.h"
#include "linear.h"
#include "normals.h"

/* x = mu + scale e with e ~ N(0, M), or N(0, M^-1) if M is a `precision`. NaN
 * throughout if M [K][K] is not positive definite. */
GBM_FN_BIG void gbm_mvn(struct gbm_rng *rng, int K, const real *mu,
                        const real *M, bool precision, real scale, real *x)
{
    real small[GBM_SMALL_CELLS];
    real *L = gbm_scratch(small, (int64_t)K * K);
    if (L)
        gbm_copy((int64_t)K * K, M, L);
    if (L && gbm_cholesky(K, L)) {
        gbm_draw_normals(rng, K, x);
        if (precision)
            gbm_solve_lower_transposed(K, L, x);
        else
            gbm_multiply_lower(K, L, x);
        for (int i = 0; i < K; i++)
            x[i] = mu[i] + scale * x[i];
    } else {
        gbm_fill(K, x, GBM_NAN);
    }
    if (L)
        gbm_scratch_free(small, L);
}

/* x [K] ~ N(mu, Omega^-1). */
GBM_FN void gbm_draw_mvn_precision(struct gbm_rng *rng, int K, const real *mu,
                                   const real *Omega, real *x)
{
    gbm_mvn(rng, K, mu, Omega, true, 1, x);
}

/* x [K] ~ N(mu, Sigma). */
GBM_FN void gbm_draw_mvn_covariance(struct gbm_rng *rng, int K, const real *mu,
                                    const real *Sigma, real *x)
{
    gbm_mvn(rng, K, mu, Sigma, false, 1, x);
}

/* x [K] multivariate t with location mu, precision Omega and k degrees of
 * freedom: a normal over the root of an independent chi-square / k. */
GBM_FN void gbm_draw_mvt(struct gbm_rng *rng, int K, const real *mu,
                         const real *Omega, real k, real *x)
{
    real scale = real_sqrt(k / 2 / gbm_draw_gamma(rng, k / 2));
    gbm_mvn(rng, K, mu, Omega, true, scale, x);
}

#endif
