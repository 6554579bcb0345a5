/* dense.c: dense Gaussian blocks. The block x has log density
 *
 *     -1/2 x' Q x + b' x,   Q = prior + A' W A,   b = potential + A' score,
 *
 * and the draw is x = L^-T (L^-1 b + z), Q = L L', z standard normal.
 *
 *   ROUTE_SMALL    d <= 64: two kernels do all of it for all chains
 *   ROUTE_TILES    d <= 192, and A'WA known but for a scale: one kernel
 *                  factorises, one draws, for all chains
 *   ROUTE_LIBRARY  cuBLAS and cuSOLVER, one chain after the other. A is read in
 *                  place: a row-major N x d matrix is a column-major d x N one.
 *                  A'A of data alone is made once. The lower Cholesky factor
 *                  takes less than half the time of the upper one
 *   ROUTE_WIDE     fewer rows than coordinates: Bhattacharya, Chakraborty and
 *                  Mallick (2016), a system of N equations
 *
 * All of it can be captured in a graph: nothing waits, nothing allocates. */
#include "dense.h"

#include <stdlib.h>
#include <string.h>

/* ---- plan ---- */

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

/* Whether the block is all of a variable of each chain. */
static bool is_in_place(const struct cuda *c, const struct gbm_dense *model,
                        int d)
{
    if (!model->whole)
        return false;
    const struct rt_slot *slot = &c->in->slots[model->whole - 1];
    return slot->per_chain && slot->cells == d &&
           !c->in->model->variables[model->whole - 1].integer;
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
    c->steps[t->model->drawn - 1].since =
        dense->nterms == 1 ? t->model->since - 1
                           : t->model->drawn - 1; /* sums in their order */
    if (t->model->scaled)
        c->steps[t->model->scaled - 1].scales_for = dense;
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
    dense->in_place = is_in_place(c, model, dense->d);
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
    else if (rt_dense_by_rows(model, c->in->elements, dense->d,
                              dense->held != NULL) &&
             (c->ahead || prior_is_proper(c, model, dense->d)))
        dense->route = ROUTE_WIDE;
    else if (cuda_tiles_takes(c, dense))
        dense->route = ROUTE_TILES;
    else
        dense->route = ROUTE_LIBRARY;
    for (int i = 0; dense->route != ROUTE_WIDE && i < model->nterms; i++)
        plan_pass(c, dense, i);
    return GBM_OK;
}

bool cuda_dense_has(const struct cuda *c, bool small)
{
    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct cuda_dense *dense = c->steps[k].dense;
        if (dense && (dense->route == ROUTE_SMALL) == small)
            return true;
    }
    return false;
}

/* ---- memory ---- */

bool cuda_dense_has_pass(const struct cuda_dense *dense)
{
    for (int i = 0; i < dense->nterms; i++)
        if (dense->terms[i].has_pass)
            return true;
    return false;
}

struct scaled_terms cuda_scaled_terms(const struct cuda *c,
                                      const struct cuda_dense *dense)
{
    struct scaled_terms terms = {.n = 0};

    for (int i = 0; i < dense->nterms; i++) {
        const struct cuda_dense_term *t = &dense->terms[i];
        if (!t->constant || t->scale_row < 0)
            continue;
        terms.gram[terms.n] = t->gram;
        terms.scale[terms.n] = cuda_at(t->weight, t->scale_row, c->real_size);
        terms.scale_stride[terms.n++] = t->rows;
    }
    return terms;
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

enum gbm_status cuda_dense_request(struct cuda *c, struct cuda_dense *dense)
{
    const size_t chains = (size_t)c->in->nchains, d = (size_t)dense->d;

    if (dense->d == 0)
        return GBM_OK;
    if (!dense->in_place)
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
    return dense->route == ROUTE_SMALL   ? cuda_small_request(c, dense)
           : dense->route == ROUTE_TILES ? cuda_tiles_request(c, dense)
                                         : cuda_library_request(c, dense);
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

/* Where data tell the weight it is there since they were loaded. */
static bool wants_weight(const struct cuda_dense_term *t)
{
    return t->has_pass && !t->model->given_weight;
}

static enum gbm_status run_weights(struct cuda *c, struct cuda_dense *dense)
{
    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (wants_weight(t))
            TRY(cuda_pass_weight(c, &t->pass, t->rows, t->scale_row,
                                 t->weight));
    }
    return GBM_OK;
}

/* The weight of a row of each pass beside the prior. */
static enum gbm_status run_prior_and_weights(struct cuda *c,
                                             struct cuda_dense *dense)
{
    bool wanted = false;
    for (int i = 0; i < dense->nterms; i++)
        wanted = wanted || wants_weight(&dense->terms[i]);
    if (!wanted || c->nsides == 0) {
        TRY(run_weights(c, dense));
        return run_prior(c, dense);
    }
    TRY(cuda_fork(c, c->sides, 1));
    cuda_turn(c, &c->sides[0]);
    const enum gbm_status status = run_weights(c, dense);
    cuda_turn(c, &c->main);
    TRY(status);
    TRY(run_prior(c, dense));
    return cuda_join(c, c->sides, 1);
}

/* Reads the block into x, or writes it from there, if it is not there. */
static enum gbm_status run_block(struct cuda *c, struct cuda_dense *dense,
                                 const struct cuda_kernel *kernel)
{
    int chains = c->in->nchains;
    long long d = dense->d;
    void *args[] = {c->state, &d, &chains, &dense->x};
    return dense->in_place ? GBM_OK : cuda_launch(c, kernel, chains, args);
}

/* ---- entry points ---- */

bool cuda_dense_gets(const struct cuda_dense *dense)
{
    return !dense->in_place && (cuda_dense_has_pass(dense) || dense->held);
}

enum gbm_status cuda_dense_draw_rows(struct cuda *c, int step)
{
    struct cuda_dense *dense = c->steps[step].drawn_for;
    enum gbm_status status = GBM_OK;
    bool add = false;

    TRY(cuda_fork(c, &c->below, 1));
    cuda_turn(c, &c->below);
    status = run_block(c, dense, &dense->get);
    for (int i = 0; i < dense->nterms; i++) {
        const struct cuda_dense_term *t = &dense->terms[i];
        if (t->has_pass && status == GBM_OK && t->model->drawn == step + 1)
            status = cuda_pass_run(c, &t->pass, t, dense->d, dense->x, add,
                                   dense->score_sum);
        add = add || t->has_pass;
    }
    cuda_turn(c, &c->main);
    return status;
}

enum gbm_status cuda_dense_multiply(struct cuda *c, int step)
{
    struct cuda_dense *dense = c->steps[step].scales_for;
    int k = 0;

    while (dense->terms[k].model->scaled != step + 1)
        k++;
    struct cuda_slot *number = &c->slots[dense->terms[k].model->number];
    if (cuda_tiles_multiply(dense, number))
        return GBM_OK;
    long long stride = number->stride, n = (long long)dense->d * c->in->nchains;
    void *args[] = {&number->values, &stride, &dense->d, &n, &dense->score_sum};
    return cuda_launch_flat(c, &c->fixed.dense_multiply, n, args);
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
    if (dense->in_place)
        dense->x = c->slots[dense->model->whole - 1].values;
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
            TRY(cuda_small_prepare(c, dense, t, weight));
        else
            TRY(cuda_library_prepare(c, dense, t, all_count));
    }
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

enum gbm_status cuda_dense_run(struct cuda *c, struct cuda_dense *dense)
{
    if (dense->d == 0)
        return GBM_OK;
    if (cuda_dense_has_pass(dense) &&
        dense->nterms > 1) /* which may read what it draws */
        TRY(cuda_join(c, &c->below, 1));
    for (int i = 0; i < dense->nterms; i++) {
        struct cuda_dense_term *t = &dense->terms[i];
        if (t->slot < 0 && !t->model->constant_design)
            TRY(run_design(c, dense, t));
        if (!t->has_pass)
            TRY(run_rows(c, t));
    }
    TRY(run_prior_and_weights(c, dense));
    if (dense->held && !cuda_dense_has_pass(dense)) /* it has read it */
        TRY(run_block(c, dense, &dense->get));
    switch (dense->route) {
    case ROUTE_SMALL:
        TRY(cuda_small_run(c, dense));
        break;
    case ROUTE_TILES:
        TRY(cuda_tiles_run(c, dense));
        break;
    case ROUTE_LIBRARY:
        TRY(cuda_library_run(c, dense));
        break;
    case ROUTE_WIDE:
        TRY(cuda_wide_run(c, dense));
        break;
    }
    return run_block(c, dense, &dense->set);
}
