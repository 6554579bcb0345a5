/* dense.c: dense Gaussian blocks. The block x has log density
 *
 *     -1/2 x' Q x + b' x,   Q = prior + A' W A,   b = potential + A' score,
 *
 * and the draw is x = L^-T (L^-1 b + z), Q = L L', z standard normal.
 *
 *   ROUTE_SMALL    d <= 64: two kernels do all of it for all chains
 *   ROUTE_LIBRARY  cuBLAS and cuSOLVER, one chain after the other. A is read in
 *                  place: a row-major N x d matrix is a column-major d x N one.
 *                  A'A of data alone is made once. The lower Cholesky factor
 *                  takes less than half the time of the upper one
 *   ROUTE_WIDE     fewer rows than coordinates: Bhattacharya, Chakraborty and
 *                  Mallick (2016), a system of N equations
 *
 * All of it can be captured in a graph: nothing waits, nothing allocates. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

#define SCALED_BYTES ((size_t)256 << 20) /* most for rows in scaled form */

/* ---- the libraries, in the type of the state and of sums ---- */

/* y = A x + beta y, A: m x n column-major, of `real`. */
static enum gbm_status multiply_vector(struct cuda *c, int m, int64_t n,
                                       CUdeviceptr a, CUdeviceptr x,
                                       double beta, CUdeviceptr y)
{
    const double one = 1;
    const float one_f = 1, beta_f = (float)beta;

    if (c->single)
        CUBLAS(cublasSgemv_64(c->blas, CUBLAS_OP_N, m, n, &one_f,
                              (const float *)a, m, (const float *)x, 1, &beta_f,
                              (float *)y, 1));
    else
        CUBLAS(cublasDgemv_64(c->blas, CUBLAS_OP_N, m, n, &one,
                              (const double *)a, m, (const double *)x, 1, &beta,
                              (double *)y, 1));
    return GBM_OK;
}

/* Y = A X + beta Y with several right-hand sides. */
static enum gbm_status multiply_matrix(struct cuda *c, int m, int columns,
                                       int64_t n, CUdeviceptr a, CUdeviceptr x,
                                       double beta, CUdeviceptr y)
{
    const double one = 1;
    const float one_f = 1, beta_f = (float)beta;

    if (c->single)
        CUBLAS(cublasSgemm_64(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, columns, n,
                              &one_f, (const float *)a, m, (const float *)x, n,
                              &beta_f, (float *)y, m));
    else
        CUBLAS(cublasDgemm_64(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, columns, n,
                              &one, (const double *)a, m, (const double *)x, n,
                              &beta, (double *)y, m));
    return GBM_OK;
}

/* The same as multiply_vector in the type of sums, A or its transpose. */
static enum gbm_status multiply_total(struct cuda *c, bool transpose, int m,
                                      int64_t n, CUdeviceptr a, CUdeviceptr x,
                                      double beta, CUdeviceptr y)
{
    const cublasOperation_t op = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    const double one = 1;
    const float one_f = 1, beta_f = (float)beta;

    if (c->total_size == sizeof(float))
        CUBLAS(cublasSgemv_64(c->blas, op, m, n, &one_f, (const float *)a, m,
                              (const float *)x, 1, &beta_f, (float *)y, 1));
    else
        CUBLAS(cublasDgemv_64(c->blas, op, m, n, &one, (const double *)a, m,
                              (const double *)x, 1, &beta, (double *)y, 1));
    return GBM_OK;
}

/* Lower triangle of C = A A' + beta C, or A' A; A: d x n column-major. */
static enum gbm_status gram(struct cuda *c, bool transpose, int64_t d,
                            int64_t n, CUdeviceptr a, double beta,
                            CUdeviceptr out)
{
    const cublasOperation_t op = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int64_t size = transpose ? n : d, inner = transpose ? d : n;
    const double one = 1;
    const float one_f = 1, beta_f = (float)beta;

    if (c->total_size == sizeof(float))
        CUBLAS(cublasSsyrk_64(c->blas, CUBLAS_FILL_MODE_LOWER, op, size, inner,
                              &one_f, (const float *)a, d, &beta_f,
                              (float *)out, size));
    else
        CUBLAS(cublasDsyrk_64(c->blas, CUBLAS_FILL_MODE_LOWER, op, size, inner,
                              &one, (const double *)a, d, &beta, (double *)out,
                              size));
    return GBM_OK;
}

/* b = L^-1 b, or L^-T b. */
static enum gbm_status solve(struct cuda *c, bool transpose, int64_t n,
                             CUdeviceptr l, CUdeviceptr b)
{
    const cublasOperation_t op = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    if (c->total_size == sizeof(float))
        CUBLAS(cublasStrsv_64(c->blas, CUBLAS_FILL_MODE_LOWER, op,
                              CUBLAS_DIAG_NON_UNIT, n, (const float *)l, n,
                              (float *)b, 1));
    else
        CUBLAS(cublasDtrsv_64(c->blas, CUBLAS_FILL_MODE_LOWER, op,
                              CUBLAS_DIAG_NON_UNIT, n, (const double *)l, n,
                              (double *)b, 1));
    return GBM_OK;
}

static cudaDataType total_type(const struct cuda *c)
{
    return c->total_size == sizeof(float) ? CUDA_R_32F : CUDA_R_64F;
}

/* Factorises q (n x n) in place, by the library or, where that fails, by the
 * rescue kernel. */
static enum gbm_status factorise(struct cuda *c, struct cuda_dense *dense,
                                 int n, int chain)
{
    int step = dense->step;

    CUSOLVER(cusolverDnSetStream(c->solver, c->stream));
    CUSOLVER(cusolverDnXpotrf(
        c->solver, c->solver_params, CUBLAS_FILL_MODE_LOWER, n, total_type(c),
        (void *)dense->q, n, total_type(c), (void *)dense->device_work,
        dense->device_bytes, dense->host_work, dense->host_bytes,
        (int *)dense->info));
    void *args[] = {&c->control, &dense->info,   &dense->q, &dense->diagonal,
                    &n,          &dense->rescue, &step,     &chain};
    return cuda_launch_grid(c, &c->fixed.dense_rescue, 1, 1, 1024, 0, args);
}

/* ---- plan ---- */

/* Operations of a factorisation of d x d, and of one of rows x rows. The same
 * rule as the host's, so that both draw alike. */
static bool wide_is_cheaper(const struct cuda_dense *dense)
{
    const double d = dense->d, n = (double)dense->rows;
    double tall = d * d * d / 3 + 2 * d * d;

    for (int i = 0; i < dense->nterms; i++) {
        const struct gbm_dense_term *t = &dense->model->terms[i];
        if (!(t->constant_design && t->constant_weight))
            tall += (double)dense->terms[i].rows * d * d;
    }
    return !dense->prior_matrix && !dense->held &&
           2 * n * n * d + n * n * n / 3 + 6 * n * d < tall;
}

/* The wide route divides by the prior's precisions: none may be 0. */
static bool prior_is_proper(struct cuda *c, const struct gbm_dense *model,
                            int d)
{
    for (int j = 0; j < d; j++) {
        double precision = 0, potential = 0;
        model->prior(c->host_state, j, &precision, &potential);
        if (!(precision > 0))
            return false;
    }
    return true;
}

/* True if a slot is the design as it stands: [rows][d] of reals. */
static bool usable_matrix(const struct cuda *c,
                          const struct gbm_dense_term *term, int64_t rows,
                          int d)
{
    if (term->matrix < 0)
        return false;
    const struct rt_slot *slot = &c->in->slots[term->matrix];
    const struct gbm_variable *v = &c->in->model->variables[term->matrix];
    return !v->integer && v->ndim == 2 && slot->dim[1] == d &&
           slot->dim[0] >= rows && !slot->per_chain;
}

static enum gbm_status plan_term(struct cuda *c, struct cuda_dense *dense,
                                 int number, int64_t cost)
{
    struct cuda_dense_term *t = &dense->terms[number];
    const struct gbm_dense_term *model = &dense->model->terms[number];

    t->model = model;
    t->rows = c->in->elements[model->family];
    t->constant = model->constant_design && model->constant_weight &&
                  number < DENSE_TERMS;
    t->scale_row = -1;
    cuda_name_kernel(&t->row, model->row_kernel,
                     cuda_lanes(c, cost, t->rows * c->in->nchains));
    if (t->row.lanes > 32)
        cuda_name_kernel(&t->row, model->row_kernel, 32);
    if (usable_matrix(c, model, t->rows, dense->d)) {
        t->slot = model->matrix;
        return GBM_OK;
    }
    t->slot = -1;
    if (!model->design_kernel)
        return rt_fail(c->rt, GBM_FAILURE,
                       "the generated program has no kernel for the design of "
                       "a Gaussian block");
    cuda_name_kernel(&t->design, model->design_kernel, 1);
    return GBM_OK;
}

static enum gbm_status plan_held(struct cuda *c, struct cuda_dense *dense)
{
    if (!dense->model->fixed)
        return GBM_OK;
    dense->held = calloc((size_t)dense->d + 1, 1);
    if (!dense->held)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    dense->model->fixed(c->host_state, dense->held);
    for (int j = 0; j < dense->d; j++)
        if (dense->held[j])
            return GBM_OK;
    free(dense->held);
    dense->held = NULL;
    return GBM_OK;
}

enum gbm_status cuda_dense_plan(struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const struct gbm_dense *model = s->dense;
    const int64_t cost = s->cost ? s->cost(c->host_state) : 1;
    struct cuda_dense *dense = calloc(1, sizeof *dense);

    if (!dense)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    c->steps[step].dense = dense;
    dense->model = model;
    dense->step = s->number;
    dense->d = model->dimension(c->host_state);
    dense->nterms = model->nterms;
    dense->prior_matrix = model->prior_matrix != NULL;
    dense->terms = calloc((size_t)model->nterms + 1, sizeof *dense->terms);
    if (!dense->terms)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    const int set_lanes = dense->d >= 256 ? 256 : dense->d >= 32 ? 32 : 1;
    cuda_name_kernel(&dense->prior, model->prior_kernel, 1);
    cuda_name_kernel(&dense->get, model->get_kernel, set_lanes);
    cuda_name_kernel(&dense->set, model->set_kernel, set_lanes);
    for (int i = 0; i < model->nterms; i++) {
        TRY(plan_term(c, dense, i, cost));
        dense->rows += dense->terms[i].rows;
    }
    TRY(plan_held(c, dense));
    if (dense->d <= GBM_DENSE_SMALL)
        dense->route = ROUTE_SMALL;
    else if (wide_is_cheaper(dense) && prior_is_proper(c, model, dense->d))
        dense->route = ROUTE_WIDE;
    else
        dense->route = ROUTE_LIBRARY;
    return dense->route == ROUTE_SMALL ? GBM_OK : cuda_open_libraries(c);
}

/* ---- memory ---- */

static enum gbm_status request_terms(struct cuda *c, struct cuda_dense *dense)
{
    const size_t chains = (size_t)c->in->nchains;

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        const size_t rows = (size_t)t->rows;
        TRY(cuda_request(c, &t->weight, chains * rows * c->real_size,
                         "the weights of a Gaussian block's rows"));
        TRY(cuda_request(c, &t->score, chains * rows * c->real_size,
                         "the scores of a Gaussian block's rows"));
        if (t->slot < 0)
            TRY(cuda_request(c, &t->own_matrix,
                             (t->model->constant_design ? 1 : chains) * rows *
                                 (size_t)dense->d * c->real_size,
                             "the design of a Gaussian block"));
        if (!t->constant || dense->route == ROUTE_WIDE)
            continue;
        const size_t d = (size_t)dense->d;
        TRY(cuda_request(c, &t->gram,
                         dense->route == ROUTE_SMALL
                             ? (d * (d + 1) / 2 + d) * sizeof(double)
                             : d * d * c->total_size,
                         "a Gaussian block's A'A"));
    }
    return GBM_OK;
}

static enum gbm_status request_small(struct cuda *c, struct cuda_dense *dense)
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
    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        int64_t splits = t->rows / 64;
        if (splits > most)
            splits = most;
        t->splits = splits < 1 ? 1 : (int)splits;
        dense->splits += t->splits;
    }
    TRY(cuda_request(c, &dense->partial,
                     chains * (size_t)dense->splits * entries * sizeof(double),
                     "the sums of a Gaussian block"));
    if (dense->splits > 8)
        TRY(cuda_request(c, &dense->folded, chains * entries * sizeof(double),
                         "the sums of a Gaussian block"));
    return GBM_OK;
}

/* Rows of the design that are held in scaled form at once. */
static int64_t scaled_rows(const struct cuda *c, const struct cuda_dense *dense)
{
    const size_t row = (size_t)dense->d * c->total_size;
    int64_t most = 0;
    for (int i = 0; i < dense->nterms; i++)
        if (dense->terms[i].rows > most)
            most = dense->terms[i].rows;
    const int64_t fit = (int64_t)(SCALED_BYTES / row);
    return most < fit ? most : fit > 0 ? fit : 1;
}

static enum gbm_status request_library(struct cuda *c, struct cuda_dense *dense)
{
    const size_t chains = (size_t)c->in->nchains, d = (size_t)dense->d;
    const bool wide = dense->route == ROUTE_WIDE;
    const size_t n = wide ? (size_t)dense->rows : d;
    bool varies = false;

    for (int i = 0; i < dense->nterms; i++)
        varies = varies || !dense->terms[i].constant;
    dense->chunk = wide ? dense->rows : scaled_rows(c, dense);
    TRY(cuda_request(c, &dense->q, n * n * c->total_size,
                     "the precision of a Gaussian block"));
    TRY(cuda_request(c, &dense->rescue, n * n * sizeof(double),
                     "the precision of a Gaussian block"));
    TRY(cuda_request(c, &dense->scaled,
                     (size_t)dense->chunk * d * c->total_size,
                     "the scaled design of a Gaussian block"));
    if (varies && !wide)
        TRY(cuda_request(c, &dense->varying, d * d * c->total_size,
                         "the precision of a Gaussian block"));
    TRY(cuda_request(c, &dense->diagonal, n * c->total_size,
                     "a Gaussian block"));
    TRY(cuda_request(c, &dense->b, d * c->total_size, "a Gaussian block"));
    TRY(cuda_request(c, &dense->residual, n * c->total_size,
                     "a Gaussian block"));
    TRY(cuda_request(c, &dense->score_sum, chains * d * c->real_size,
                     "a Gaussian block"));
    TRY(cuda_request(c, &dense->info, sizeof(int), "a Gaussian block"));
    CUSOLVER(cusolverDnXpotrf_bufferSize(
        c->solver, c->solver_params, CUBLAS_FILL_MODE_LOWER, (int64_t)n,
        total_type(c), NULL, (int64_t)n, total_type(c), &dense->device_bytes,
        &dense->host_bytes));
    if (dense->host_bytes) {
        dense->host_work = malloc(dense->host_bytes);
        if (!dense->host_work)
            return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    }
    return cuda_request(c, &dense->device_work, dense->device_bytes,
                        "the workspace of a factorisation");
}

enum gbm_status cuda_dense_request(struct cuda *c, struct cuda_dense *dense)
{
    const size_t chains = (size_t)c->in->nchains, d = (size_t)dense->d;

    if (dense->d == 0)
        return GBM_OK;
    TRY(cuda_request(c, &dense->x, chains * d * c->real_size,
                     "a Gaussian block"));
    TRY(cuda_request(c, &dense->potential, chains * d * c->real_size,
                     "a Gaussian block"));
    TRY(cuda_request(c, &dense->precision,
                     chains * d * (dense->prior_matrix ? d : 1) * c->real_size,
                     "the prior precision of a Gaussian block"));
    if (dense->held)
        TRY(cuda_request(c, &dense->fixed, d, "a Gaussian block"));
    TRY(request_terms(c, dense));
    return dense->route == ROUTE_SMALL ? request_small(c, dense)
                                       : request_library(c, dense);
}

void cuda_dense_free(struct cuda_dense *dense)
{
    if (!dense)
        return;
    free(dense->terms);
    free(dense->held);
    free(dense->host_work);
    free(dense);
}

/* ---- parts of a run ---- */

static CUdeviceptr at(CUdeviceptr base, int64_t cell, size_t size)
{
    return base + (CUdeviceptr)cell * size;
}

static enum gbm_status run_design(struct cuda *c, struct cuda_dense *dense,
                                  struct cuda_dense_term *t)
{
    int chains = t->model->constant_design ? 1 : c->in->nchains;
    long long rows = t->rows;
    void *args[] = {c->state, &rows, &chains, &dense->d, &t->own_matrix};
    return cuda_launch(c, &t->design, rows * chains, args);
}

static enum gbm_status run_rows(struct cuda *c, struct cuda_dense_term *t)
{
    int chains = c->in->nchains;
    long long rows = t->rows;
    void *args[] = {c->state, &rows, &chains, &t->weight, &t->score};
    return cuda_launch(c, &t->row, rows * chains, args);
}

static enum gbm_status run_prior(struct cuda *c, struct cuda_dense *dense)
{
    int chains = c->in->nchains;
    long long d = dense->d;
    void *args[] = {c->state, &d, &chains, &dense->precision,
                    &dense->potential};
    return cuda_launch(c, &dense->prior,
                       dense->prior_matrix ? chains : d * chains, args);
}

/* Reads the block into x, or writes it from there. */
static enum gbm_status run_block(struct cuda *c, struct cuda_dense *dense,
                                 const struct cuda_kernel *kernel)
{
    int chains = c->in->nchains;
    long long d = dense->d;
    void *args[] = {c->state, &d, &chains, &dense->x};
    return cuda_launch(c, kernel, chains, args);
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

static enum gbm_status run_small(struct cuda *c, struct cuda_dense *dense)
{
    struct small_terms terms = {.n = 0};
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
        TRY(small_sums(c, dense, t, t->constant, chains, stride, offset));
        offset += (long long)t->splits * entries;
        if (t->constant && t->scale_row >= 0) {
            terms.gram[terms.n] = t->gram;
            terms.scale[terms.n] = at(t->weight, t->scale_row, c->real_size);
            terms.scale_stride[terms.n++] = t->rows;
        }
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

/* The packed A'A of the rows that count: sums at the weights as they are,
 * divided by the weight. */
static enum gbm_status prepare_small(struct cuda *c, struct cuda_dense *dense,
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

/* ---- ROUTE_LIBRARY ---- */

/* Adds a term's A'WA (or, with `mask`, that of the rows with weight) to the
 * lower triangle of `out`. */
static enum gbm_status add_gram(struct cuda *c, struct cuda_dense *dense,
                                struct cuda_dense_term *t, int chain, int mask,
                                bool first, CUdeviceptr out)
{
    const CUdeviceptr design =
        at(t->matrix, chain * t->matrix_stride, c->real_size);
    const CUdeviceptr weight =
        at(t->weight, (int64_t)chain * t->rows, c->real_size);

    for (int64_t row = 0; row < t->rows; row += dense->chunk) {
        long long rows =
            t->rows - row < dense->chunk ? t->rows - row : dense->chunk;
        CUdeviceptr from = at(design, row * dense->d, c->real_size);
        CUdeviceptr w = at(weight, row, c->real_size);
        void *args[] = {&from, &w, &rows, &dense->d, &mask, &dense->scaled};
        TRY(cuda_launch_flat(c, &c->fixed.dense_scale_rows, rows * dense->d,
                             args));
        TRY(gram(c, false, dense->d, rows, dense->scaled,
                 first && row == 0 ? 0 : 1, out));
    }
    return GBM_OK;
}

static enum gbm_status prepare_library(struct cuda *c, struct cuda_dense *dense,
                                       struct cuda_dense_term *t,
                                       bool all_count)
{
    if (all_count && c->real_size == c->total_size)
        TRY(gram(c, false, dense->d, t->rows, t->matrix, 0, t->gram));
    else
        TRY(add_gram(c, dense, t, 0, 1, true, t->gram));
    void *args[] = {&t->gram, &dense->d};
    return cuda_launch_flat(c, &c->fixed.dense_mirror,
                            (int64_t)dense->d * dense->d, args);
}

/* score_sum = sum over terms of A' score, for all chains. */
static enum gbm_status sum_scores(struct cuda *c, struct cuda_dense *dense)
{
    const int chains = c->in->nchains, d = dense->d;
    double beta = 0; /* without any rows the sum stays 0, as allocated */

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (t->rows == 0)
            continue;
        if (t->matrix_stride == 0 && chains > 1) {
            TRY(multiply_matrix(c, d, chains, t->rows, t->matrix, t->score,
                                beta, dense->score_sum));
            beta = 1;
            continue;
        }
        for (int chain = 0; chain < chains; chain++)
            TRY(multiply_vector(
                c, d, t->rows,
                at(t->matrix, chain * t->matrix_stride, c->real_size),
                at(t->score, (int64_t)chain * t->rows, c->real_size), beta,
                at(dense->score_sum, (int64_t)chain * d, c->real_size)));
        beta = 1;
    }
    return GBM_OK;
}

static enum gbm_status form(struct cuda *c, struct cuda_dense *dense, int chain)
{
    struct dense_terms terms = {.n = 0};
    int d = dense->d, prior_matrix = dense->prior_matrix;
    const int64_t one = prior_matrix ? (int64_t)d * d : d;
    CUdeviceptr precision = at(dense->precision, chain * one, c->real_size);

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (t->constant) {
            if (t->scale_row < 0)
                continue;
            terms.gram[terms.n] = t->gram;
            terms.scale[terms.n++] =
                at(t->weight, (int64_t)chain * t->rows + t->scale_row,
                   c->real_size);
        } else if (t->rows > 0) {
            TRY(add_gram(c, dense, t, chain, 0, terms.varying == 0,
                         dense->varying));
            terms.varying = dense->varying;
        }
    }
    void *args[] = {&terms, &precision, &prior_matrix,
                    &d,     &dense->q,  &dense->diagonal};
    return cuda_launch_flat(c, &c->fixed.dense_form, (int64_t)d * d, args);
}

/* b, from the prior's potential and the scores' sum. */
static enum gbm_status form_potential(struct cuda *c, struct cuda_dense *dense,
                                      int chain)
{
    const int64_t first = (int64_t)chain * dense->d;
    CUdeviceptr potential = at(dense->potential, first, c->real_size);
    CUdeviceptr score = at(dense->score_sum, first, c->real_size);
    void *args[] = {&potential, &score, &dense->d, &dense->b};
    return cuda_launch_flat(c, &c->fixed.dense_potential, dense->d, args);
}

static enum gbm_status hold(struct cuda *c, struct cuda_dense *dense, int chain)
{
    int d = dense->d;
    CUdeviceptr x = at(dense->x, (int64_t)chain * d, c->real_size);
    void *potential_args[] = {&dense->q, &dense->fixed, &x, &d, &dense->b};
    void *precision_args[] = {&dense->fixed, &d, &dense->q, &dense->diagonal};
    TRY(cuda_launch_flat(c, &c->fixed.dense_hold_potential, d, potential_args));
    return cuda_launch_flat(c, &c->fixed.dense_hold_precision, (int64_t)d * d,
                            precision_args);
}

static enum gbm_status form_and_factorise(struct cuda *c,
                                          struct cuda_dense *dense, int chain)
{
    TRY(form(c, dense, chain));
    return factorise(c, dense, dense->d, chain);
}

/* The factorisation beside what the stream does next: it is a matter of
 * latency, and the sum of scores one of memory. The stream then waits for
 * `join`. */
static enum gbm_status factorise_beside(struct cuda *c,
                                        struct cuda_dense *dense, int chain)
{
    CUstream stream = c->stream;

    CU(cuEventRecord(c->fork, stream));
    CU(cuStreamWaitEvent(c->side, c->fork, 0));
    c->stream = c->side;
    enum gbm_status status = form_and_factorise(c, dense, chain);
    c->stream = stream;
    TRY(status);
    CU(cuEventRecord(c->join, c->side));
    return GBM_OK;
}

static enum gbm_status run_library(struct cuda *c, struct cuda_dense *dense)
{
    int d = dense->d, step = dense->step;
    /* cuBLAS stays on its stream, so a Gram matrix of varying weights does */
    const bool beside = !dense->held && !dense->varying;

    if (beside)
        TRY(factorise_beside(c, dense, 0));
    TRY(sum_scores(c, dense));
    if (beside)
        CU(cuStreamWaitEvent(c->stream, c->join, 0));
    for (int chain = 0; chain < c->in->nchains; chain++) {
        CUdeviceptr x = at(dense->x, (int64_t)chain * d, c->real_size);
        long long n = d;
        TRY(form_potential(c, dense, chain));
        if (dense->held) {
            TRY(form(c, dense, chain));
            TRY(hold(c, dense, chain));
            TRY(factorise(c, dense, d, chain));
        } else if (!beside || chain > 0) {
            TRY(form_and_factorise(c, dense, chain));
        }
        TRY(solve(c, false, d, dense->q, dense->b));
        void *normal_args[] = {&c->control, &chain,        &step,
                               &d,          &dense->fixed, &dense->b};
        TRY(cuda_launch_flat(c, &c->fixed.dense_add_normals, d, normal_args));
        TRY(solve(c, true, d, dense->q, dense->b));
        void *state_args[] = {&dense->b, &n, &x};
        TRY(cuda_launch_flat(c, &c->fixed.dense_to_state, d, state_args));
    }
    return GBM_OK;
}

/* ---- ROUTE_WIDE ---- */

/* B, of all terms, below one another. */
static enum gbm_status wide_design(struct cuda *c, struct cuda_dense *dense,
                                   int chain, CUdeviceptr precision)
{
    int64_t first = 0;

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        long long rows = t->rows;
        CUdeviceptr design =
            at(t->matrix, chain * t->matrix_stride, c->real_size);
        CUdeviceptr weight =
            at(t->weight, (int64_t)chain * t->rows, c->real_size);
        CUdeviceptr out = at(dense->scaled, first * dense->d, c->total_size);
        void *args[] = {&design, &weight, &precision, &rows, &dense->d, &out};
        TRY(cuda_launch_flat(c, &c->fixed.wide_scale, rows * dense->d, args));
        first += rows;
    }
    return GBM_OK;
}

static enum gbm_status wide_residual(struct cuda *c, struct cuda_dense *dense,
                                     int chain)
{
    int step = dense->step;
    long long first = 0;

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        long long rows = t->rows;
        CUdeviceptr weight =
            at(t->weight, (int64_t)chain * t->rows, c->real_size);
        CUdeviceptr score =
            at(t->score, (int64_t)chain * t->rows, c->real_size);
        void *args[] = {&c->control, &chain, &step,     &weight,         &score,
                        &rows,       &first, &dense->d, &dense->residual};
        TRY(cuda_launch_flat(c, &c->fixed.wide_residual, rows, args));
        first += rows;
    }
    return GBM_OK;
}

static enum gbm_status run_wide(struct cuda *c, struct cuda_dense *dense)
{
    int d = dense->d, step = dense->step;
    long long n = dense->rows;

    for (int chain = 0; chain < c->in->nchains; chain++) {
        const int64_t first = (int64_t)chain * d;
        CUdeviceptr precision = at(dense->precision, first, c->real_size);
        CUdeviceptr potential = at(dense->potential, first, c->real_size);
        CUdeviceptr x = at(dense->x, first, c->real_size);

        void *prior_args[] = {&c->control, &chain, &step,    &precision,
                              &potential,  &d,     &dense->b};
        TRY(cuda_launch_flat(c, &c->fixed.wide_prior, d, prior_args));
        if (n > 0) {
            TRY(wide_design(c, dense, chain, precision));
            TRY(gram(c, true, d, n, dense->scaled, 0, dense->q));
            int size = (int)n;
            void *mirror_args[] = {&dense->q, &size};
            TRY(cuda_launch_flat(c, &c->fixed.dense_mirror, n * n,
                                 mirror_args));
            void *identity_args[] = {&dense->q, &n, &dense->diagonal};
            TRY(cuda_launch_flat(c, &c->fixed.wide_identity, n, identity_args));
            TRY(factorise(c, dense, size, chain));
            TRY(multiply_total(c, true, d, n, dense->scaled, dense->b, 0,
                               dense->residual));
            TRY(wide_residual(c, dense, chain));
            TRY(solve(c, false, n, dense->q, dense->residual));
            TRY(solve(c, true, n, dense->q, dense->residual));
            TRY(multiply_total(c, false, d, n, dense->scaled, dense->residual,
                               1, dense->b));
        }
        void *finish_args[] = {&dense->b, &precision, &d, &x};
        TRY(cuda_launch_flat(c, &c->fixed.wide_finish, d, finish_args));
    }
    return GBM_OK;
}

/* ---- entry points ---- */

/* The first row that counts, its weight, and whether all rows do. */
static enum gbm_status find_scale(struct cuda *c, struct cuda_dense_term *t,
                                  double *weight, bool *all_count)
{
    double *host = malloc((size_t)(t->rows > 0 ? t->rows : 1) * sizeof *host);
    if (!host)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    enum gbm_status status = cuda_get_cells(c, host, t->weight, t->rows, false);
    *all_count = true;
    t->scale_row = -1;
    for (int64_t i = 0; status == GBM_OK && i < t->rows; i++) {
        if (host[i] == 0) {
            *all_count = false;
        } else if (t->scale_row < 0) {
            t->scale_row = i;
            *weight = host[i];
        }
    }
    free(host);
    return status;
}

enum gbm_status cuda_dense_prepare(struct cuda *c, struct cuda_dense *dense)
{
    if (dense->d == 0)
        return GBM_OK;
    if (dense->held)
        TRY(cuda_upload(c, dense->fixed, dense->held, (size_t)dense->d));
    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        const struct gbm_dense_term *model = t->model;
        double weight = 1;
        bool all_count = true;

        t->matrix = t->slot < 0 ? t->own_matrix : c->slots[t->slot].values;
        t->matrix_stride =
            t->slot >= 0 || model->constant_design ? 0 : t->rows * dense->d;
        if (t->slot < 0 && model->constant_design)
            TRY(run_design(c, dense, t));
        if (!t->constant || dense->route == ROUTE_WIDE || t->rows == 0)
            continue;
        TRY(run_rows(c, t));
        TRY(find_scale(c, t, &weight, &all_count));
        if (t->scale_row < 0)
            continue;
        if (dense->route == ROUTE_SMALL)
            TRY(prepare_small(c, dense, t, weight));
        else
            TRY(prepare_library(c, dense, t, all_count));
    }
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

enum gbm_status cuda_dense_run(struct cuda *c, struct cuda_dense *dense)
{
    if (dense->d == 0)
        return GBM_OK;
    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (t->slot < 0 && !t->model->constant_design)
            TRY(run_design(c, dense, t));
        TRY(run_rows(c, t));
    }
    TRY(run_prior(c, dense));
    if (dense->held)
        TRY(run_block(c, dense, &dense->get));
    switch (dense->route) {
    case ROUTE_SMALL:
        TRY(run_small(c, dense));
        break;
    case ROUTE_LIBRARY:
        TRY(run_library(c, dense));
        break;
    case ROUTE_WIDE:
        TRY(run_wide(c, dense));
        break;
    }
    return run_block(c, dense, &dense->set);
}
