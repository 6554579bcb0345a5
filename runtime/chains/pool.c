/* pool.c: chains that learn one covariance. Each has taken its own draws into
 * the mean and covariance that all had before (stdlib/kernels/adaptive.h);
 * their averages, with what the means differ by, are those of all draws
 * together: Chen (2015), Massively parallel dimension independent adaptive
 * Metropolis, equations 3.20 to 3.24. Nothing depends on the number of threads:
 * each tile of the sum is one thread's, chain after chain. */
#include "chains/chains.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_LAG = 25, TILE = 64 };

/* What an adaptive step has tuned; behind the factor may stand what belongs to
 * a chain alone. */
struct pool {
    int d, nchains;
    int64_t cells;  /* of a chain */
    int64_t common; /* of them the mean and the factor */
    double *tuned;  /* [nchains][cells] */
};

static double *mean_of(const struct pool *p, int c)
{
    return p->tuned + c * p->cells + 2;
}

static double *factor_of(const struct pool *p, int c)
{
    return mean_of(p, c) + p->d;
}

/* ---- when ---- */

static int dimension(const struct rt_instance *in, const struct gbm_step *step)
{
    void *state = calloc(1, in->model->state_size + 1);
    if (!state)
        return 0;
    rt_bind(in, state, 0);
    const int d = step->block_size(state, 0);
    free(state);
    return d;
}

static int lag_of(const struct rt_instance *in, const struct gbm_step *step)
{
    if (step->lag >= 0)
        return step->lag;
    const int half = dimension(in, step) / 2;
    return half > LEAST_LAG ? half : LEAST_LAG;
}

int64_t rt_pool_next(const struct rt_instance *in, int64_t done, int64_t total)
{
    int64_t next = total;
    for (int k = 0; k < in->model->nsteps && in->nchains > 1; k++) {
        const int lag = lag_of(in, &in->model->steps[k]);
        if (lag > 0 && in->steps[k].active && (done / lag + 1) * lag < next)
            next = (done / lag + 1) * lag;
    }
    return next;
}

/* ---- the moments of all ---- */

/* Chains that have learnt nothing, or what is no number, say nothing. */
static bool counts(const struct pool *p, int c)
{
    const double *t = p->tuned + c * p->cells;
    if (!(t[1] > 1))
        return false;
    for (int64_t i = 0; i < 2 + p->common; i++)
        if (!isfinite(t[i]))
            return false;
    return true;
}

/* Adds U'U and the square of the mean's distance from `mean`, of rows from
 * `first` on of a tile of the upper triangle. */
static void add_chain(const struct pool *p, int c, const double *mean,
                      int first, int last, double *sum)
{
    const int d = p->d;
    const double *U = factor_of(p, c) + first, *own = mean_of(p, c);
    double *at = sum + (int64_t)first * d + first;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, last - first,
                d - first, last, 1, U, d, U, d, 1, at, d);
    for (int i = first; i < last; i++)
        for (int j = i; j < d; j++)
            sum[(int64_t)i * d + j] += (own[i] - mean[i]) * (own[j] - mean[j]);
}

static void add_all(const struct pool *p, const bool *counted, int n,
                    const double *mean, double *sum, int threads)
{
    const int d = p->d, tiles = (d + TILE - 1) / TILE;
    (void)threads; /* where there is no OpenMP */
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int t = 0; t < tiles; t++) {
        const int first = t * TILE, last = first + TILE < d ? first + TILE : d;
        for (int c = 0; c < p->nchains; c++)
            if (counted[c])
                add_chain(p, c, mean, first, last, sum);
        for (int i = first; i < last; i++)
            for (int j = 0; j < d; j++)
                sum[(int64_t)i * d + j] =
                    j < i ? 0 : sum[(int64_t)i * d + j] / n;
    }
}

/* Whether all that count have the same already: then nothing is to be rounded
 * again. */
static bool is_common(const struct pool *p, const bool *counted)
{
    const size_t bytes = (size_t)p->common * sizeof(double);
    int first = -1;
    for (int c = 0; c < p->nchains; c++) {
        if (counted[c] && first < 0)
            first = c;
        if (counted[c] && memcmp(mean_of(p, c), mean_of(p, first), bytes) != 0)
            return false;
    }
    return true;
}

/* Gives all chains the mean and covariance of those that count, of which there
 * are n; `mean` [d] and `sum` [d][d] are 0. They keep their own where the sum
 * has no factor. */
static void pool(const struct pool *p, const bool *counted, int n, double *mean,
                 double *sum, int threads)
{
    const int d = p->d;
    for (int c = 0; c < p->nchains; c++)
        for (int i = 0; i < d && counted[c]; i++)
            mean[i] += mean_of(p, c)[i] / n;
    add_all(p, counted, n, mean, sum, threads);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', d, sum, d) != 0)
        return;
    for (int c = 0; c < p->nchains; c++) {
        if (!counted[c])
            continue;
        memcpy(mean_of(p, c), mean, (size_t)d * sizeof *mean);
        memcpy(factor_of(p, c), sum, (size_t)d * (size_t)d * sizeof *sum);
    }
}

static enum gbm_status pool_step(struct rt *rt, const struct rt_instance *in,
                                 const struct gbm_step *step)
{
    const struct rt_slot *slot = &in->slots[step->tuned];
    const int64_t d = dimension(in, step);
    const struct pool p = {.d = (int)d,
                           .nchains = in->nchains,
                           .cells = slot->cells,
                           .common = d + d * d,
                           .tuned = slot->values};
    double *mean = calloc((size_t)d + 1, sizeof *mean),
           *sum = calloc((size_t)(d * d) + 1, sizeof *sum);
    bool *counted = calloc((size_t)p.nchains, sizeof *counted);
    int n = 0;
    for (int c = 0; c < p.nchains && counted; c++)
        n += counted[c] = counts(&p, c);
    const bool room = mean && sum && counted;
    if (room && !is_common(&p, counted))
        pool(&p, counted, n, mean, sum, rt->threads);
    free(mean);
    free(sum);
    free(counted);
    return room ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
}

enum gbm_status rt_pool(struct rt *rt, const struct rt_instance *in,
                        int64_t done)
{
    bool due = false;
    openblas_set_num_threads(1);
    for (int k = 0; k < in->model->nsteps && in->nchains > 1; k++) {
        const struct gbm_step *step = &in->model->steps[k];
        const int lag = lag_of(in, step);
        if (lag == 0 || !in->steps[k].active || done == 0 || done % lag != 0)
            continue;
        if (!due && rt->device->get(rt) != GBM_OK)
            return rt->status;
        due = true;
        if (pool_step(rt, in, step) != GBM_OK)
            return rt->status;
    }
    return due ? rt->device->put(rt) : GBM_OK;
}
