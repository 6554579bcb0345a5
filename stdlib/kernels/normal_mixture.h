/* normal_mixture.h: the log density of a finite mixture of normals with means
 * mu, precisions tau and weights pi (not necessarily with sum 1), but for
 * -log(2 pi) / 2: of its largest term where the others underflow. */
#ifndef GBM_NORMAL_MIXTURE_H
#define GBM_NORMAL_MIXTURE_H

#include "row_terms.h"
#include "team.h"

/* In the far tails: by the largest term. No branch but for what is no number,
 * as on a device rows ask for it that stand beside others. */
GBM_FN real gbm_log_normal_mixture_far(int K, real x, const real *mu,
                                       const real *tau, const real *pi)
{
    real largest = -GBM_INF, all = 0, sum = 0, weights = 0;
    for (int j = 0; j < K; j++) {
        const real term = -REAL_C(0.5) * tau[j] * gbm_square(x - mu[j]);
        const real counts = pi[j] > 0 ? term : -GBM_INF;
        largest = counts > largest ? counts : largest;
        all += term;
        weights += pi[j];
    }
    if (!(largest > -GBM_INF) || gbm_is_nan(all))
        return gbm_is_nan(all) ? GBM_NAN : -GBM_INF;
    for (int j = 0; j < K; j++) {
        const real term = -REAL_C(0.5) * tau[j] * gbm_square(x - mu[j]);
        const real share = pi[j] * real_sqrt(tau[j]) * row_exp(term - largest);
        sum += pi[j] > 0 ? share : 0;
    }
    return largest + row_log(sum / weights);
}

GBM_FN real gbm_log_normal_mixture(int K, real x, const real *mu,
                                   const real *tau, const real *pi)
{
#ifndef __CUDACC__
    real sum = 0, weights = 0;
    for (int j = 0; j < K; j++) {
        const real term = -REAL_C(0.5) * tau[j] * gbm_square(x - mu[j]);
        sum += pi[j] * real_sqrt(tau[j]) * real_exp(term);
        weights += pi[j];
    }
    if (sum > REAL_C(1e-30) && sum < REAL_C(1e30))
        return weights == 1 ? real_log(sum) : real_log(sum / weights);
#endif
    return gbm_log_normal_mixture_far(K, x, mu, tau, pi);
}

/* The same for rows x that have all else in common (`code_in_rows`), of at most
 * GBM_FEW components. What they share, exponents in units of row_power. */
struct gbm_normal_terms {
    real mu[GBM_FEW], slope[GBM_FEW];
    real absent[GBM_FEW]; /* 0, or -inf where the weight is 0 */
    real share[GBM_FEW];
};

GBM_FN void gbm_normal_terms_before(struct gbm_normal_terms *terms, int K,
                                    const real *mu, const real *tau,
                                    const real *pi)
{
    real weights = 0;
    GBM_UNROLL
    for (int j = 0; j < GBM_FEW && j < K; j++)
        weights += pi[j];
    const real each = 1 / weights;
    GBM_UNROLL
    for (int j = 0; j < GBM_FEW && j < K; j++) {
        terms->mu[j] = mu[j];
        terms->slope[j] = -REAL_C(0.5) * tau[j] * ROW_POWERS;
        terms->absent[j] = pi[j] > 0 ? 0 : -GBM_INF;
        terms->share[j] = pi[j] > 0 ? each * pi[j] * real_sqrt(tau[j]) : 0;
    }
}

/* By the largest term in all rows, without a branch. -GBM_HUGE: so that the
 * sum is 0 where no term is more. */
GBM_FN real gbm_normal_terms_row(const struct gbm_normal_terms *terms, int K,
                                 real x)
{
    real at[GBM_FEW], largest = -GBM_HUGE, sum = 0;
    GBM_UNROLL
    for (int j = 0; j < GBM_FEW && j < K; j++) {
        at[j] = gbm_multiply_add(terms->slope[j], gbm_square(x - terms->mu[j]),
                                 terms->absent[j]);
        largest = real_fmax(at[j], largest);
    }
    GBM_UNROLL
    for (int j = 0; j < GBM_FEW && j < K; j++)
        sum =
            gbm_multiply_add(terms->share[j], row_power(at[j] - largest), sum);
    return row_log_of_power(largest, sum);
}

#ifndef __CUDACC__
/* The largest term of a block of rows, and the sum of all over that. */
GBM_INLINE void gbm_normal_terms_block(const struct gbm_normal_terms *terms,
                                       int K, const real *x, real *largest,
                                       real *sum)
{
    GBM_SIMD
    for (int row = 0; row < GBM_BLOCK_ROWS; row++) {
        largest[row] = -GBM_HUGE;
        sum[row] = 0;
    }
    for (int j = 0; j < K; j++) {
        GBM_SIMD
        for (int row = 0; row < GBM_BLOCK_ROWS; row++) {
            const real at =
                terms->slope[j] * gbm_square(x[row] - terms->mu[j]) +
                terms->absent[j];
            largest[row] = at > largest[row] ? at : largest[row];
        }
    }
    for (int j = 0; j < K; j++) {
        GBM_SIMD
        for (int row = 0; row < GBM_BLOCK_ROWS; row++) {
            const real at =
                terms->slope[j] * gbm_square(x[row] - terms->mu[j]) +
                terms->absent[j];
            sum[row] += terms->share[j] * row_power(at - largest[row]);
        }
    }
}

/* The same of two terms, the larger of which is 1 by itself, if it is one. */
GBM_INLINE void gbm_normal_terms_pair(const struct gbm_normal_terms *terms,
                                      const real *x, real *largest, real *sum)
{
    GBM_SIMD
    for (int row = 0; row < GBM_BLOCK_ROWS; row++) {
        const real a = terms->slope[0] * gbm_square(x[row] - terms->mu[0]) +
                       terms->absent[0];
        const real b = terms->slope[1] * gbm_square(x[row] - terms->mu[1]) +
                       terms->absent[1];
        const real high = a > b ? a : b, low = a > b ? b : a;
        const real most = a > b ? terms->share[0] : terms->share[1];
        const real less = a > b ? terms->share[1] : terms->share[0];
        const real top = high > -GBM_HUGE ? high : -GBM_HUGE;
        largest[row] = top;
        sum[row] = (high > -GBM_HUGE ? most : 0) + less * row_power(low - top);
    }
}

/* Whether as many sums as a logarithm is of have a product: each is between the
 * least share and all of them, or 0. */
GBM_FN bool gbm_normal_terms_multiply(const struct gbm_normal_terms *terms,
                                      int K)
{
    const real most = sizeof(real) == 4 ? REAL_C(1e8) : REAL_C(1e70);
    real least = GBM_HUGE, all = 0;
    for (int j = 0; j < K; j++) {
        const real share = terms->share[j];
        least = terms->absent[j] == 0 && share < least ? share : least;
        all += share;
    }
    return least > 1 / most && all < most;
}

/* The sum of n such rows, at most GBM_LOG_ROWS, by the vector unit. */
GBM_FN gbm_total gbm_normal_terms_rows(const struct gbm_normal_terms *terms,
                                       int K, real *x, int n)
{
    real power[GBM_BLOCK_ROWS], product[GBM_BLOCK_ROWS];
    real largest[GBM_BLOCK_ROWS], sum[GBM_BLOCK_ROWS];
    const bool multiply = gbm_normal_terms_multiply(terms, K);
    gbm_total all = 0;
    for (int row = n; row % GBM_BLOCK_ROWS != 0; row++)
        x[row] = x[0];
    for (int from = 0; from < n; from += GBM_BLOCK_ROWS) {
        const bool first = from == 0 || !multiply;
        if (K == 2)
            gbm_normal_terms_pair(terms, x + from, largest, sum);
        else
            gbm_normal_terms_block(terms, K, x + from, largest, sum);
        GBM_SIMD
        for (int row = 0; row < GBM_BLOCK_ROWS; row++) {
            const bool counts = row < n - from;
            const real of = counts ? sum[row] : 1;
            const real at = counts ? largest[row] : 0;
            product[row] = first ? of : product[row] * of;
            power[row] = first ? at : power[row] + at;
        }
        if (multiply && from + GBM_BLOCK_ROWS < n)
            continue;
        GBM_SIMD
        for (int row = 0; row < GBM_BLOCK_ROWS; row++)
            largest[row] = row_log_of_power(power[row], product[row]);
        for (int row = 0; row < GBM_BLOCK_ROWS; row++)
            all += largest[row];
    }
    return all;
}
#endif

#endif
