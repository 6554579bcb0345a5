/* dense_small.c: ROUTE_SMALL of dense.c: two kernels do all of a block for all
 * chains. */
#include "dense.h"

#include <stdlib.h>

enum gbm_status cuda_small_request(struct cuda *c, struct cuda_dense *dense)
{
    const size_t chains = (size_t)c->in->nchains, d = (size_t)dense->d;
    const size_t entries = d * (d + 1) / 2 + d;
    const int64_t most = (int64_t)c->multiprocessors * 8 / c->in->nchains + 1;

    dense->threads = (int)((entries + 31) / 32 * 32);
    if (dense->threads > 256)
        dense->threads = 256;
    dense->tile = (int)(32768 / ((d + 2) * sizeof(double)));
    if (dense->tile > 128)
        dense->tile = 128;
    dense->splits = 0;
    size_t parts = 0; /* of a term's own A'A, too */
    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        int64_t splits = t->rows / 64;
        if (splits > most)
            splits = most;
        t->splits = splits < 1 ? 1 : (int)splits;
        dense->splits += t->has_pass ? 0 : t->splits;
        if ((size_t)t->splits > parts)
            parts = (size_t)t->splits;
    }
    if (chains * (size_t)dense->splits > parts)
        parts = chains * (size_t)dense->splits;
    TRY(cuda_request(c, &dense->partial, parts * entries * sizeof(double),
                     "the sums of a Gaussian block"));
    if (cuda_dense_has_pass(dense))
        TRY(cuda_request(c, &dense->score_sum, chains * d * c->real_size,
                         "the sums of a Gaussian block"));
    if (dense->splits > 8)
        TRY(cuda_request(c, &dense->folded, chains * entries * sizeof(double),
                         "the sums of a Gaussian block"));
    return GBM_OK;
}

/* ---- ROUTE_SMALL ---- */

static enum gbm_status small_sums(struct cuda *c, struct cuda_dense *dense,
                                  struct cuda_dense_term *t, int potential_only,
                                  int chains, long long stride,
                                  long long offset)
{
    long long rows = t->rows, matrix_stride = t->matrix_stride;
    const size_t shared =
        (size_t)dense->tile * (size_t)(dense->d + 2) * sizeof(double);
    void *args[] = {&t->matrix,      &matrix_stride, &t->weight,
                    &t->score,       &rows,          &dense->d,
                    &potential_only, &dense->tile,   &dense->partial,
                    &stride,         &offset};
    return cuda_launch_grid(c, &c->fixed.small_gram, t->splits, chains,
                            dense->threads, shared, args);
}

static enum gbm_status small_fold(struct cuda *c, CUdeviceptr in, int splits,
                                  int entries, int chains, CUdeviceptr out)
{
    void *args[] = {&in, &splits, &entries, &chains, &out};
    return cuda_launch_flat(c, &c->fixed.small_fold,
                            (int64_t)entries * chains * 32, args);
}

enum gbm_status cuda_small_run(struct cuda *c, struct cuda_dense *dense)
{
    struct scaled_terms terms = cuda_scaled_terms(c, dense);
    int d = dense->d, chains = c->in->nchains, step = dense->step;
    int entries = d * (d + 1) / 2 + d, splits = dense->splits;
    int prior_matrix = dense->prior_matrix;
    const long long stride = (long long)splits * entries;
    long long offset = 0;
    CUdeviceptr sums = dense->partial;

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        /* grid.y is limited */
        if (chains > 65535)
            return rt_fail(c->rt, GBM_FAILURE,
                           "a Gaussian block takes at most 65535 chains on "
                           "one device, not %d",
                           chains);
        if (!t->has_pass) {
            TRY(small_sums(c, dense, t, t->constant, chains, stride, offset));
            offset += (long long)t->splits * entries;
        }
    }
    if (cuda_dense_has_pass(dense)) {
        long long n = (long long)d * chains;
        void *add_args[] = {&dense->score_sum, &n, &dense->potential};
        TRY(cuda_join(c, &c->below, 1));
        TRY(cuda_launch_flat(c, &c->fixed.dense_add, n, add_args));
    }
    if (splits > 8) {
        TRY(small_fold(c, sums, splits, entries, chains, dense->folded));
        sums = dense->folded;
        splits = 1;
    }
    void *args[] = {&c->control,
                    &terms,
                    &sums,
                    &splits,
                    &dense->precision,
                    &dense->potential,
                    &prior_matrix,
                    &dense->fixed,
                    &d,
                    &step,
                    &dense->x};
    return cuda_launch_grid(
        c, &c->fixed.small_draw, chains, 1, d <= 16 ? 32 : 128,
        (size_t)(d * (d + 1) + 2 * d) * sizeof(double), args);
}

enum gbm_status cuda_small_prepare(struct cuda *c, struct cuda_dense *dense,
                                   struct cuda_dense_term *t, double weight)
{
    const int d = dense->d, entries = d * (d + 1) / 2 + d;
    double *host = malloc((size_t)entries * sizeof *host);
    enum gbm_status status;

    if (!host)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    status = small_sums(c, dense, t, 0, 1, (long long)t->splits * entries, 0);
    if (status == GBM_OK)
        status = small_fold(c, dense->partial, t->splits, entries, 1, t->gram);
    if (status == GBM_OK &&
        (cuMemcpyDtoHAsync(host, t->gram, (size_t)entries * sizeof *host,
                           c->stream) != CUDA_SUCCESS ||
         cuStreamSynchronize(c->stream) != CUDA_SUCCESS))
        status = rt_fail(c->rt, GBM_FAILURE,
                         "the sums of a Gaussian block could not be read");
    for (int e = 0; e < entries; e++)
        host[e] /= weight;
    if (status == GBM_OK)
        status = cuda_upload(c, t->gram, host, (size_t)entries * sizeof *host);
    free(host);
    return status;
}
