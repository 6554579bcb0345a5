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

#define FACTORS_MOST 16
#define FACTOR_BYTES ((size_t)1 << 30)
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

/* Factorises f->q (n x n) in place, by the library or, where that fails, by the
 * rescue kernel. */
static enum gbm_status factorise(struct cuda *c, struct cuda_dense *dense,
                                 struct cuda_factor *f, int n, int chain)
{
    int step = dense->step;

    CUSOLVER(cusolverDnXpotrf(
        c->solver, c->solver_params, CUBLAS_FILL_MODE_LOWER, n, total_type(c),
        (void *)f->q, n, total_type(c), (void *)f->device_work,
        dense->device_bytes, f->host_work, dense->host_bytes, (int *)f->info));
    void *args[] = {&c->control, &f->info,   &f->q, &f->diagonal,
                    &n,          &f->rescue, &step, &chain};
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

static void plan_pass(struct cuda *c, struct cuda_dense *dense, int number)
{
    struct cuda_dense_term *t = &dense->terms[number];
    const struct gbm_model *model = c->in->model;
    char *text = c->rt->device_text;
    const size_t used = strlen(text);

    t->has_pass = t->constant && t->slot >= 0 &&
                  cuda_pass_plan(c, &t->pass, t->model, t->rows, dense->d);
    if (!t->has_pass)
        return;
    c->steps[t->model->drawn - 1].drawn_for = dense;
    snprintf(text + used, sizeof c->rt->device_text - used,
             ", %s drawn in one pass with sums for %s",
             model->steps[t->model->drawn - 1].variable,
             model->steps[dense->step].variable);
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
    for (int i = 0; dense->route != ROUTE_WIDE && i < model->nterms; i++)
        plan_pass(c, dense, i);
    return dense->route == ROUTE_SMALL ? GBM_OK : cuda_open_libraries(c);
}

/* ---- memory ---- */

static bool has_pass(const struct cuda_dense *dense)
{
    for (int i = 0; i < dense->nterms; i++)
        if (dense->terms[i].has_pass)
            return true;
    return false;
}

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
        if (t->has_pass)
            TRY(cuda_pass_request(c, &t->pass, t->rows, dense->d));
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
    if (has_pass(dense))
        TRY(cuda_request(c, &dense->score_sum, chains * d * c->real_size,
                         "the sums of a Gaussian block"));
    if (dense->splits > 8)
        TRY(cuda_request(c, &dense->folded, chains * entries * sizeof(double),
                         "the sums of a Gaussian block"));
    return GBM_OK;
}

/* Some term's A'WA is made anew in each sweep. */
static bool varies(const struct cuda_dense *dense)
{
    for (int i = 0; i < dense->nterms; i++)
        if (!dense->terms[i].constant)
            return true;
    return false;
}

/* The chains' draws go side by side: they share nothing but data. */
static bool drawn_aside(const struct cuda_dense *dense)
{
    return dense->route == ROUTE_LIBRARY && !dense->held && !varies(dense);
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

/* For as many chains as are worked on at once: that takes no more than
 * FACTOR_BYTES, if it can be. */
static enum gbm_status request_factors(struct cuda *c, struct cuda_dense *dense,
                                       size_t n)
{
    const size_t one = n * n * (c->total_size + sizeof(double));
    int count = c->in->nchains < FACTORS_MOST ? c->in->nchains : FACTORS_MOST;

    if (!drawn_aside(dense) || (size_t)count > FACTOR_BYTES / one)
        count = drawn_aside(dense) && FACTOR_BYTES / one > 1
                    ? (int)(FACTOR_BYTES / one)
                    : 1;
    if (drawn_aside(dense))
        TRY(cuda_sides_open(c, count < CUDA_SIDES ? count : CUDA_SIDES));
    CUSOLVER(cusolverDnXpotrf_bufferSize(
        c->solver, c->solver_params, CUBLAS_FILL_MODE_LOWER, (int64_t)n,
        total_type(c), NULL, (int64_t)n, total_type(c), &dense->device_bytes,
        &dense->host_bytes));
    dense->factors = calloc((size_t)count, sizeof *dense->factors);
    if (!dense->factors)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    dense->nfactors = count;
    for (int i = 0; i < count; i++) {
        struct cuda_factor *f = &dense->factors[i];
        TRY(cuda_request(c, &f->q, n * n * c->total_size,
                         "the precision of a Gaussian block"));
        TRY(cuda_request(c, &f->rescue, n * n * sizeof(double),
                         "the precision of a Gaussian block"));
        TRY(cuda_request(c, &f->diagonal, n * c->total_size,
                         "a Gaussian block"));
        TRY(cuda_request(c, &f->b, (size_t)dense->d * c->total_size,
                         "a Gaussian block"));
        TRY(cuda_request(c, &f->info, sizeof(int), "a Gaussian block"));
        TRY(cuda_request(c, &f->device_work, dense->device_bytes,
                         "the workspace of a factorisation"));
        if (!dense->host_bytes)
            continue;
        f->host_work = malloc(dense->host_bytes);
        if (!f->host_work)
            return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    }
    return GBM_OK;
}

static enum gbm_status request_library(struct cuda *c, struct cuda_dense *dense)
{
    const size_t chains = (size_t)c->in->nchains, d = (size_t)dense->d;
    const bool wide = dense->route == ROUTE_WIDE;
    const size_t n = wide ? (size_t)dense->rows : d;

    dense->chunk = wide ? dense->rows : scaled_rows(c, dense);
    TRY(cuda_request(c, &dense->scaled,
                     (size_t)dense->chunk * d * c->total_size,
                     "the scaled design of a Gaussian block"));
    if (varies(dense) && !wide)
        TRY(cuda_request(c, &dense->varying, d * d * c->total_size,
                         "the precision of a Gaussian block"));
    if (wide)
        TRY(cuda_request(c, &dense->residual, n * c->total_size,
                         "a Gaussian block"));
    TRY(cuda_request(c, &dense->score_sum, chains * d * c->real_size,
                     "a Gaussian block"));
    return request_factors(c, dense, n);
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
    for (int i = 0; i < dense->nfactors; i++)
        free(dense->factors[i].host_work);
    free(dense->factors);
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
        if (!t->has_pass) {
            TRY(small_sums(c, dense, t, t->constant, chains, stride, offset));
            offset += (long long)t->splits * entries;
        }
        if (t->constant && t->scale_row >= 0) {
            terms.gram[terms.n] = t->gram;
            terms.scale[terms.n] = at(t->weight, t->scale_row, c->real_size);
            terms.scale_stride[terms.n++] = t->rows;
        }
    }
    if (has_pass(dense)) {
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

/* score_sum = sum over terms of A' score, for all chains; passes have made
 * theirs. */
static enum gbm_status sum_scores(struct cuda *c, struct cuda_dense *dense)
{
    const int chains = c->in->nchains, d = dense->d;
    /* without any rows the sum stays 0, as allocated */
    double beta = has_pass(dense);

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (t->rows == 0 || t->has_pass)
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

static enum gbm_status form(struct cuda *c, struct cuda_dense *dense,
                            struct cuda_factor *f, int chain)
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
    void *args[] = {&terms, &precision, &prior_matrix, &d, &f->q, &f->diagonal};
    return cuda_launch_flat(c, &c->fixed.dense_form, (int64_t)d * d, args);
}

/* b, from the prior's potential and the scores' sum. */
static enum gbm_status form_potential(struct cuda *c, struct cuda_dense *dense,
                                      struct cuda_factor *f, int chain)
{
    const int64_t first = (int64_t)chain * dense->d;
    CUdeviceptr potential = at(dense->potential, first, c->real_size);
    CUdeviceptr score = at(dense->score_sum, first, c->real_size);
    void *args[] = {&potential, &score, &dense->d, &f->b};
    return cuda_launch_flat(c, &c->fixed.dense_potential, dense->d, args);
}

static enum gbm_status hold(struct cuda *c, struct cuda_dense *dense,
                            struct cuda_factor *f, int chain)
{
    int d = dense->d;
    CUdeviceptr x = at(dense->x, (int64_t)chain * d, c->real_size);
    void *potential_args[] = {&f->q, &dense->fixed, &x, &d, &f->b};
    void *precision_args[] = {&dense->fixed, &d, &f->q, &f->diagonal};
    TRY(cuda_launch_flat(c, &c->fixed.dense_hold_potential, d, potential_args));
    return cuda_launch_flat(c, &c->fixed.dense_hold_precision, (int64_t)d * d,
                            precision_args);
}

/* x of a chain, where its precision is factorised and f->b is the potential. */
static enum gbm_status draw(struct cuda *c, struct cuda_dense *dense,
                            struct cuda_factor *f, int chain)
{
    int d = dense->d, step = dense->step;
    long long n = d;
    CUdeviceptr x = at(dense->x, (int64_t)chain * d, c->real_size);

    TRY(solve(c, false, d, f->q, f->b));
    void *normal_args[] = {&c->control, &chain,        &step,
                           &d,          &dense->fixed, &f->b};
    TRY(cuda_launch_flat(c, &c->fixed.dense_add_normals, d, normal_args));
    TRY(solve(c, true, d, f->q, f->b));
    void *state_args[] = {&f->b, &n, &x};
    return cuda_launch_flat(c, &c->fixed.dense_to_state, d, state_args);
}

static enum gbm_status form_and_factorise(struct cuda *c,
                                          struct cuda_dense *dense,
                                          struct cuda_factor *f, int chain)
{
    TRY(form(c, dense, f, chain));
    return factorise(c, dense, f, dense->d, chain);
}

static enum gbm_status form_and_draw(struct cuda *c, struct cuda_dense *dense,
                                     struct cuda_factor *f, int chain)
{
    TRY(form_potential(c, dense, f, chain));
    return draw(c, dense, f, chain);
}

/* f for `n` chains from `first` on, on the sides. */
static enum gbm_status
each_aside(struct cuda *c, struct cuda_dense *dense, int first, int n,
           enum gbm_status (*f)(struct cuda *, struct cuda_dense *,
                                struct cuda_factor *, int))
{
    enum gbm_status status = GBM_OK;

    for (int k = 0; status == GBM_OK && k < n; k++) {
        const struct cuda_main main =
            cuda_turn_aside(c, &c->sides[k % c->nsides]);
        status = f(c, dense, &dense->factors[k], first + k);
        cuda_turn_back(c, &main);
    }
    return status;
}

/* Factorisations beside the sum of scores: they are a matter of latency, and it
 * is one of memory. */
static enum gbm_status run_aside(struct cuda *c, struct cuda_dense *dense)
{
    const int nchains = c->in->nchains;

    for (int first = 0; first < nchains; first += dense->nfactors) {
        const int n = nchains - first < dense->nfactors ? nchains - first
                                                        : dense->nfactors;
        const int sides = n < c->nsides ? n : c->nsides;
        TRY(cuda_fork(c, c->sides, sides));
        TRY(each_aside(c, dense, first, n, form_and_factorise));
        if (first == 0 && has_pass(dense))
            TRY(cuda_join(c, &c->below, 1));
        if (first == 0)
            TRY(sum_scores(c, dense));
        TRY(cuda_fork(c, c->sides, sides));
        TRY(each_aside(c, dense, first, n, form_and_draw));
        TRY(cuda_join(c, c->sides, sides));
    }
    return GBM_OK;
}

static enum gbm_status run_library(struct cuda *c, struct cuda_dense *dense)
{
    struct cuda_factor *f = dense->factors;

    if (drawn_aside(dense))
        return run_aside(c, dense);
    if (has_pass(dense))
        TRY(cuda_join(c, &c->below, 1));
    TRY(sum_scores(c, dense));
    for (int chain = 0; chain < c->in->nchains; chain++) {
        TRY(form_potential(c, dense, f, chain));
        TRY(form(c, dense, f, chain));
        if (dense->held)
            TRY(hold(c, dense, f, chain));
        TRY(factorise(c, dense, f, dense->d, chain));
        TRY(draw(c, dense, f, chain));
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
    struct cuda_factor *f = dense->factors;

    for (int chain = 0; chain < c->in->nchains; chain++) {
        const int64_t first = (int64_t)chain * d;
        CUdeviceptr precision = at(dense->precision, first, c->real_size);
        CUdeviceptr potential = at(dense->potential, first, c->real_size);
        CUdeviceptr x = at(dense->x, first, c->real_size);

        void *prior_args[] = {&c->control, &chain, &step, &precision,
                              &potential,  &d,     &f->b};
        TRY(cuda_launch_flat(c, &c->fixed.wide_prior, d, prior_args));
        if (n > 0) {
            TRY(wide_design(c, dense, chain, precision));
            TRY(gram(c, true, d, n, dense->scaled, 0, f->q));
            int size = (int)n;
            void *mirror_args[] = {&f->q, &size};
            TRY(cuda_launch_flat(c, &c->fixed.dense_mirror, n * n,
                                 mirror_args));
            void *identity_args[] = {&f->q, &n, &f->diagonal};
            TRY(cuda_launch_flat(c, &c->fixed.wide_identity, n, identity_args));
            TRY(factorise(c, dense, f, size, chain));
            TRY(multiply_total(c, true, d, n, dense->scaled, f->b, 0,
                               dense->residual));
            TRY(wide_residual(c, dense, chain));
            TRY(solve(c, false, n, f->q, dense->residual));
            TRY(solve(c, true, n, f->q, dense->residual));
            TRY(multiply_total(c, false, d, n, dense->scaled, dense->residual,
                               1, f->b));
        }
        void *finish_args[] = {&f->b, &precision, &d, &x};
        TRY(cuda_launch_flat(c, &c->fixed.wide_finish, d, finish_args));
    }
    return GBM_OK;
}

/* ---- entry points ---- */

bool cuda_dense_gets(const struct cuda_dense *dense)
{
    return has_pass(dense) || dense->held;
}

enum gbm_status cuda_dense_draw_rows(struct cuda *c, int step)
{
    struct cuda_dense *dense = c->steps[step].drawn_for;
    enum gbm_status status = GBM_OK;
    bool add = false;

    TRY(run_block(c, dense, &dense->get));
    TRY(cuda_fork(c, &c->below, 1));
    const struct cuda_main main = cuda_turn_aside(c, &c->below);
    for (int i = 0; i < dense->nterms; i++) {
        const struct cuda_dense_term *t = &dense->terms[i];
        if (t->has_pass && status == GBM_OK && t->model->drawn == step + 1)
            status = cuda_pass_run(c, &t->pass, t, dense->d, dense->x, add,
                                   dense->score_sum);
        add = add || t->has_pass;
    }
    cuda_turn_back(c, &main);
    return status;
}

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
    if (has_pass(dense) && dense->nterms > 1) /* which may read what it draws */
        TRY(cuda_join(c, &c->below, 1));
    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (t->slot < 0 && !t->model->constant_design)
            TRY(run_design(c, dense, t));
        TRY(t->has_pass ? cuda_pass_weight(c, &t->pass, t->rows, t->scale_row,
                                           t->weight)
                        : run_rows(c, t));
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
