/* split.h: components of a mixture that split and join
 * (compiler/sampler/split.c): which rows are asked, what a row is put to, and
 * the log densities of draws. */
#ifndef GBM_SPLIT_H
#define GBM_SPLIT_H

#include "elementary.h"
#include "linear.h"
#include "relabel.h"

enum {
    GBM_SPLIT_SCANS = 3,      /* of the rows, before a proposal */
    GBM_SPLIT_LABELS = 256,   /* tries of a sweep: labels of so many, */
    GBM_SPLIT_MOST = 32,      /* not more than with so many, */
    GBM_SPLIT_WARM = 4,       /* times as many in warm-up, */
    GBM_SPLIT_ROWS = 1 << 17, /* fewer with more rows than these */
    GBM_SPLIT_FIRST = 16      /* the sweep from which on there are some */
};

/* How many tries a sweep has, one or none: a try takes about as long as the
 * draw of all labels if there are ten of these, and chains need many of them
 * until they are where they belong, few from then on. Which sweeps have one is
 * the same for all chains. On a GPU, where a chain's rows are dealt out while
 * all other lanes wait, none has; nor the first ones and those of the
 * self-check, which it is compared in.
 */
GBM_FN int gbm_split_tries(const struct gbm_rng *rng, int labels, int rows,
                           int adapting)
{
#ifdef __CUDACC__
    (void)rng, (void)labels, (void)rows, (void)adapting;
    return 0;
#else
    double tries = (double)(labels < GBM_SPLIT_MOST ? labels : GBM_SPLIT_MOST) /
                   GBM_SPLIT_LABELS;
    if (rows > GBM_SPLIT_ROWS)
        tries *= (double)GBM_SPLIT_ROWS / rows;
    if (adapting)
        tries *= GBM_SPLIT_WARM;
    const uint64_t any = gbm_mix(0x9E3779B97F4A7C15u * (rng->sweep + 1u)) >> 40;
    return rng->sweep >= GBM_SPLIT_FIRST && rng->sweep >> 28 != 1 &&
           labels > 1 && (double)any < tries * 16777216;
#endif
}

/* The log of how often a split is proposed, of the sizes that its parts have,
 * less that of the join that undoes it: `occupied` as there are then, `empty`
 * as there were before. */
GBM_FN real gbm_split_choice(int rows, real second, int occupied, int empty)
{
    return real_log((real)rows * ((real)rows - 1) * (real)empty) -
           real_log((real)occupied * second * ((real)rows - second));
}

/* A row at random of those that lanes come across: the one whose hash is the
 * largest. */
struct gbm_split_row {
    uint64_t hash;
    int row;
};

GBM_FN uint64_t gbm_split_key(struct gbm_rng *rng)
{
    const uint64_t high = (uint64_t)(gbm_uniform(rng) * 16777216);
    return gbm_mix(high << 24 | (uint64_t)(gbm_uniform(rng) * 16777216));
}

GBM_FN void gbm_split_offer(struct gbm_split_row *best, uint64_t key, int row)
{
    const uint64_t hash =
        gbm_mix(key + 0x9E3779B97F4A7C15u * ((uint64_t)row + 1));
    if (best->row < 0 || hash > best->hash) {
        best->hash = hash;
        best->row = row;
    }
}

/* The best of all lanes: 24 bits at a time, which a float holds. */
GBM_FN int gbm_split_best(const struct gbm_team *team,
                          const struct gbm_split_row *best)
{
    bool mine = best->row >= 0;
    for (int shift = 40; shift >= 0; shift -= 20) {
        const gbm_total bits = (gbm_total)(best->hash >> shift & 0xFFFFFF);
        mine = gbm_team_max(team, mine ? bits : -1) == (mine ? bits : -2);
    }
    return (int)gbm_team_max(team, mine ? (gbm_total)best->row : -1);
}

/* A row's own random number, whichever lane asks for it. */
GBM_FN real gbm_split_uniform(const struct gbm_rng *rng, int row, int turn)
{
    struct gbm_rng own = *rng;
    own.element += 1 + (uint32_t)row;
    own.block = (uint32_t)turn;
    own.left = 0;
#ifndef __CUDACC__
    own.nahead = own.normals = 0;
    own.between = NULL;
#endif
    return gbm_uniform(&own);
}

/* Of a row that is put to the second of two components with the log odds
 * `odds`: whether it is. */
GBM_FN bool gbm_split_second(const struct gbm_rng *rng, int row, int turn,
                             real odds)
{
    const real u = gbm_split_uniform(rng, row, turn);
    return odds > 0 ? u * (1 + real_exp(-odds)) < 1
                    : u * (1 + real_exp(odds)) < real_exp(odds);
}

/* ---- log densities of draws ------------------------------------------------
 */

/* x [d] as gbm_gaussian_draw draws it or, where `from` is not NULL, as it is
 * there; returns the log density. NaN: Q is not positive definite. Q and b are
 * destroyed. */
GBM_FN_BIG real gbm_propose_gaussian(struct gbm_rng *rng, int d, real *Q,
                                     real *b, const real *from, real *x)
{
    real total = -GBM_LOG_SQRT_2PI * (real)d;
    if (!gbm_cholesky(d, Q)) {
        gbm_fill(d, x, GBM_NAN);
        return GBM_NAN;
    }
    gbm_solve_lower(d, Q, b);
    for (int i = 0; i < d; i++) {
        total += real_log(Q[i * d + i]);
        x[i] = from ? from[i] : b[i];
    }
    if (!from) {
        gbm_shift_normals(rng, d, x);
        gbm_solve_lower_transposed(d, Q, x);
    }
    for (int i = 0; i < d; i++) { /* L' x, less its mean */
        real z = -b[i];
        for (int j = i; j < d; j++)
            z += Q[j * d + i] * x[j];
        total -= z * z / 2;
    }
    return total;
}

/* The log density's constant of a Wishart with k degrees of freedom. */
GBM_FN_BIG real gbm_log_wishart_constant(int K, const real *R, real k)
{
    real total =
        k / 2 * (gbm_logdet(K, R) - (real)K * REAL_C(0.6931471805599453)) -
        (real)(K * (K - 1)) * REAL_C(0.2861824714623501);
    for (int j = 0; j < K; j++)
        total -= gbm_lgamma((k - (real)j) / 2);
    return total;
}

GBM_FN_BIG real gbm_log_wishart(int K, const real *R, real k, const real *x)
{
    real trace = 0;
    for (int i = 0; i < K * K; i++)
        trace += R[i] * x[i];
    return gbm_log_wishart_constant(K, R, k) +
           (k - (real)K - 1) / 2 * gbm_logdet(K, x) - trace / 2;
}

GBM_FN_BIG real gbm_log_inverse_wishart(int K, const real *S, real k,
                                        const real *x)
{
    return gbm_log_wishart_constant(K, S, k) -
           (k + (real)K + 1) / 2 * gbm_logdet(K, x) -
           gbm_trace_solve(K, S, x) / 2;
}

GBM_FN real gbm_log_dirichlet(int K, const real *alpha, const real *x)
{
    real sum = 0, total = 0;
    for (int k = 0; k < K; k++) {
        sum += alpha[k];
        total += gbm_xlogy(alpha[k] - 1, x[k]) -
                 gbm_lgamma(real_fmax(alpha[k], REAL_C(1e-30)));
    }
    return total + gbm_lgamma(real_fmax(sum, REAL_C(1e-30)));
}

#endif
