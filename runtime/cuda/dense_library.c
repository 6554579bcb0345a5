/* dense_library.c: ROUTE_LIBRARY and ROUTE_WIDE of dense.c: cuBLAS and cuSOLVER
 * form and factorise a matrix for each chain. */
#include "dense.h"

#include <stdlib.h>

#define FACTORS_MOST 16
#define FACTOR_BYTES ((size_t)1 << 30)
#define SCALED_BYTES ((size_t)256 << 20) /* most for rows in scaled form */
/* As in dense_solve.h. */
#define SOLVE_SIDE 64
#define SOLVE_THREADS 256
#define SOLVE_ROOM 16 /* bytes, before the words that are told */

/* Factorises f->q (n x n) in place, by the library or, where that fails, by the
 * rescue kernel. */
static enum gbm_status factorise(struct cuda *c, struct cuda_dense *dense,
                                 struct cuda_factor *f, int n, int chain)
{
    int step = dense->step;

    CUSOLVER(cusolverDnXpotrf(c->solver, c->solver_params,
                              CUBLAS_FILL_MODE_LOWER, n, cuda_total_type(c),
                              (void *)f->q, n, cuda_total_type(c),
                              (void *)f->device_work, dense->device_bytes,
                              f->host_work, dense->host_bytes, (int *)f->info));
    void *args[] = {&c->control, &f->info,   &f->q, &f->diagonal,
                    &n,          &f->rescue, &step, &chain};
    return cuda_launch_grid(c, &c->fixed.dense_rescue, 1, 1, 1024, 0, args);
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
    const size_t told = SOLVE_ROOM + (size_t)dense->d * 2 * c->total_size;
    int count = c->in->nchains < FACTORS_MOST ? c->in->nchains : FACTORS_MOST;

    if (!drawn_aside(dense) || (size_t)count > FACTOR_BYTES / one)
        count = drawn_aside(dense) && FACTOR_BYTES / one > 1
                    ? (int)(FACTOR_BYTES / one)
                    : 1;
    if (drawn_aside(dense))
        TRY(cuda_sides_open(c, count < CUDA_SIDES ? count : CUDA_SIDES));
    CUSOLVER(cusolverDnXpotrf_bufferSize(
        c->solver, c->solver_params, CUBLAS_FILL_MODE_LOWER, (int64_t)n,
        cuda_total_type(c), NULL, (int64_t)n, cuda_total_type(c),
        &dense->device_bytes, &dense->host_bytes));
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
        TRY(cuda_request(c, &f->down, told, "a Gaussian block"));
        TRY(cuda_request(c, &f->up, told, "a Gaussian block"));
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

enum gbm_status cuda_request_scores(struct cuda *c, struct cuda_dense *dense)
{
    const size_t chains = (size_t)c->in->nchains, d = (size_t)dense->d;

    dense->chunk =
        dense->route == ROUTE_WIDE ? dense->rows : scaled_rows(c, dense);
    TRY(cuda_request(c, &dense->scaled,
                     (size_t)dense->chunk * d * c->total_size,
                     "the scaled design of a Gaussian block"));
    return cuda_request(c, &dense->score_sum, chains * d * c->real_size,
                        "a Gaussian block");
}

enum gbm_status cuda_library_request(struct cuda *c, struct cuda_dense *dense)
{
    const bool wide = dense->route == ROUTE_WIDE;
    const size_t d = (size_t)dense->d;
    const size_t n = wide ? (size_t)dense->rows : d;

    TRY(cuda_request_scores(c, dense));
    if (varies(dense) && !wide)
        TRY(cuda_request(c, &dense->varying, d * d * c->total_size,
                         "the precision of a Gaussian block"));
    if (wide)
        TRY(cuda_request(c, &dense->residual, n * c->total_size,
                         "a Gaussian block"));
    return request_factors(c, dense, n);
}

/* ---- a run ---- */

/* Adds a term's A'WA (or, with `mask`, that of the rows with weight) to the
 * lower triangle of `out`. */
static enum gbm_status add_gram(struct cuda *c, struct cuda_dense *dense,
                                struct cuda_dense_term *t, int chain, int mask,
                                bool first, CUdeviceptr out)
{
    const CUdeviceptr design =
        cuda_at(t->matrix, chain * t->matrix_stride, c->real_size);
    const CUdeviceptr weight =
        cuda_at(t->weight, (int64_t)chain * t->rows, c->real_size);

    for (int64_t row = 0; row < t->rows; row += dense->chunk) {
        long long rows =
            t->rows - row < dense->chunk ? t->rows - row : dense->chunk;
        CUdeviceptr from = cuda_at(design, row * dense->d, c->real_size);
        CUdeviceptr w = cuda_at(weight, row, c->real_size);
        void *args[] = {&from, &w, &rows, &dense->d, &mask, &dense->scaled};
        TRY(cuda_launch_flat(c, &c->fixed.dense_scale_rows, rows * dense->d,
                             args));
        TRY(cuda_gram(c, false, dense->d, rows, dense->scaled,
                      first && row == 0 ? 0 : 1, out));
    }
    return GBM_OK;
}

enum gbm_status cuda_library_prepare(struct cuda *c, struct cuda_dense *dense,
                                     struct cuda_dense_term *t, bool all_count)
{
    if (all_count && c->real_size == c->total_size)
        TRY(cuda_gram(c, false, dense->d, t->rows, t->matrix, 0, t->gram));
    else
        TRY(add_gram(c, dense, t, 0, 1, true, t->gram));
    void *args[] = {&t->gram, &dense->d};
    return cuda_launch_flat(c, &c->fixed.dense_mirror,
                            (int64_t)dense->d * dense->d, args);
}

enum gbm_status cuda_sum_scores(struct cuda *c, struct cuda_dense *dense)
{
    const int chains = c->in->nchains, d = dense->d;
    /* without any rows the sum stays 0, as allocated */
    double beta = cuda_dense_has_pass(dense);

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (t->rows == 0 || t->has_pass)
            continue;
        if (t->matrix_stride == 0 && chains > 1) {
            TRY(cuda_multiply_matrix(c, d, chains, t->rows, t->matrix, t->score,
                                     beta, dense->score_sum));
            beta = 1;
            continue;
        }
        for (int chain = 0; chain < chains; chain++)
            TRY(cuda_multiply_vector(
                c, d, t->rows,
                cuda_at(t->matrix, chain * t->matrix_stride, c->real_size),
                cuda_at(t->score, (int64_t)chain * t->rows, c->real_size), beta,
                cuda_at(dense->score_sum, (int64_t)chain * d, c->real_size)));
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
    CUdeviceptr precision =
        cuda_at(dense->precision, chain * one, c->real_size);

    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (t->constant) {
            if (t->scale_row < 0)
                continue;
            terms.gram[terms.n] = t->gram;
            terms.scale[terms.n++] =
                cuda_at(t->weight, (int64_t)chain * t->rows + t->scale_row,
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
    CUdeviceptr potential = cuda_at(dense->potential, first, c->real_size);
    CUdeviceptr score = cuda_at(dense->score_sum, first, c->real_size);
    void *args[] = {&potential, &score, &dense->d, &f->b};
    return cuda_launch_flat(c, &c->fixed.dense_potential, dense->d, args);
}

static enum gbm_status hold(struct cuda *c, struct cuda_dense *dense,
                            struct cuda_factor *f, int chain)
{
    int d = dense->d;
    CUdeviceptr x = cuda_at(dense->x, (int64_t)chain * d, c->real_size);
    void *potential_args[] = {&f->q, &dense->fixed, &x, &d, &f->b};
    void *precision_args[] = {&dense->fixed, &d, &f->q, &f->diagonal};
    TRY(cuda_launch_flat(c, &c->fixed.dense_hold_potential, d, potential_args));
    return cuda_launch_flat(c, &c->fixed.dense_hold_precision, (int64_t)d * d,
                            precision_args);
}

/* x of a chain, where its precision is factorised, and f->b is the potential
 * or, if `whole`, the prior's potential and the scores' sum are. */
static enum gbm_status draw(struct cuda *c, struct cuda_dense *dense,
                            struct cuda_factor *f, int chain, bool whole)
{
    int d = dense->d, step = dense->step;
    const int64_t first = (int64_t)chain * d;
    const int blocks = (d + SOLVE_SIDE - 1) / SOLVE_SIDE;
    CUdeviceptr x = cuda_at(dense->x, first, c->real_size);
    CUdeviceptr potential =
        whole ? cuda_at(dense->potential, first, c->real_size) : 0;
    CUdeviceptr score =
        whole ? cuda_at(dense->score_sum, first, c->real_size) : 0;
    void *down[] = {&f->q, &potential, &score, &d, &f->down, &f->b};
    void *up[] = {&c->control, &f->q,  &f->b, &dense->fixed, &d, &step,
                  &chain,      &f->up, &x};

    TRY(cuda_launch_grid(c, &c->fixed.solve_down, blocks, 1, SOLVE_THREADS, 0,
                         down));
    return cuda_launch_grid(c, &c->fixed.solve_up, blocks, 1, SOLVE_THREADS, 0,
                            up);
}

static enum gbm_status form_and_factorise(struct cuda *c,
                                          struct cuda_dense *dense,
                                          struct cuda_factor *f, int chain)
{
    TRY(form(c, dense, f, chain));
    return factorise(c, dense, f, dense->d, chain);
}

static enum gbm_status draw_whole(struct cuda *c, struct cuda_dense *dense,
                                  struct cuda_factor *f, int chain)
{
    return draw(c, dense, f, chain, true);
}

/* f for `n` chains from `first` on, on the sides. */
static enum gbm_status
each_aside(struct cuda *c, struct cuda_dense *dense, int first, int n,
           enum gbm_status (*f)(struct cuda *, struct cuda_dense *,
                                struct cuda_factor *, int))
{
    enum gbm_status status = GBM_OK;

    for (int k = 0; status == GBM_OK && k < n; k++) {
        cuda_turn(c, &c->sides[k % c->nsides]);
        status = f(c, dense, &dense->factors[k], first + k);
        cuda_turn(c, &c->main);
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
        if (first == 0 && cuda_dense_has_pass(dense))
            TRY(cuda_join(c, &c->below, 1));
        if (first == 0)
            TRY(cuda_sum_scores(c, dense));
        TRY(cuda_fork(c, c->sides, sides));
        TRY(each_aside(c, dense, first, n, draw_whole));
        TRY(cuda_join(c, c->sides, sides));
    }
    return GBM_OK;
}

enum gbm_status cuda_library_run(struct cuda *c, struct cuda_dense *dense)
{
    struct cuda_factor *f = dense->factors;

    if (drawn_aside(dense))
        return run_aside(c, dense);
    if (cuda_dense_has_pass(dense))
        TRY(cuda_join(c, &c->below, 1));
    TRY(cuda_sum_scores(c, dense));
    for (int chain = 0; chain < c->in->nchains; chain++) {
        TRY(form_potential(c, dense, f, chain));
        TRY(form(c, dense, f, chain));
        if (dense->held)
            TRY(hold(c, dense, f, chain));
        TRY(factorise(c, dense, f, dense->d, chain));
        TRY(draw(c, dense, f, chain, false));
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
            cuda_at(t->matrix, chain * t->matrix_stride, c->real_size);
        CUdeviceptr weight =
            cuda_at(t->weight, (int64_t)chain * t->rows, c->real_size);
        CUdeviceptr out =
            cuda_at(dense->scaled, first * dense->d, c->total_size);
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
            cuda_at(t->weight, (int64_t)chain * t->rows, c->real_size);
        CUdeviceptr score =
            cuda_at(t->score, (int64_t)chain * t->rows, c->real_size);
        void *args[] = {&c->control, &chain, &step,     &weight,         &score,
                        &rows,       &first, &dense->d, &dense->residual};
        TRY(cuda_launch_flat(c, &c->fixed.wide_residual, rows, args));
        first += rows;
    }
    return GBM_OK;
}

enum gbm_status cuda_wide_run(struct cuda *c, struct cuda_dense *dense)
{
    int d = dense->d, step = dense->step;
    long long n = dense->rows;
    struct cuda_factor *f = dense->factors;

    for (int chain = 0; chain < c->in->nchains; chain++) {
        const int64_t first = (int64_t)chain * d;
        CUdeviceptr precision = cuda_at(dense->precision, first, c->real_size);
        CUdeviceptr potential = cuda_at(dense->potential, first, c->real_size);
        CUdeviceptr x = cuda_at(dense->x, first, c->real_size);

        void *prior_args[] = {&c->control, &chain, &step, &precision,
                              &potential,  &d,     &f->b};
        TRY(cuda_launch_flat(c, &c->fixed.wide_prior, d, prior_args));
        if (n > 0) {
            TRY(wide_design(c, dense, chain, precision));
            TRY(cuda_gram(c, true, d, n, dense->scaled, 0, f->q));
            int size = (int)n;
            void *mirror_args[] = {&f->q, &size};
            TRY(cuda_launch_flat(c, &c->fixed.dense_mirror, n * n,
                                 mirror_args));
            void *identity_args[] = {&f->q, &n, &f->diagonal};
            TRY(cuda_launch_flat(c, &c->fixed.wide_identity, n, identity_args));
            TRY(factorise(c, dense, f, size, chain));
            TRY(cuda_multiply_total(c, true, d, n, dense->scaled, f->b, 0,
                                    dense->residual));
            TRY(wide_residual(c, dense, chain));
            TRY(cuda_solve(c, false, n, f->q, dense->residual));
            TRY(cuda_solve(c, true, n, f->q, dense->residual));
            TRY(cuda_multiply_total(c, false, d, n, dense->scaled,
                                    dense->residual, 1, f->b));
        }
        void *finish_args[] = {&f->b, &precision, &d, &x};
        TRY(cuda_launch_flat(c, &c->fixed.wide_finish, d, finish_args));
    }
    return GBM_OK;
}
