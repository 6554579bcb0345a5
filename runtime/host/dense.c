/* dense.c: draws a Gaussian block x with precision Q and potential b, that is
 * log density -x'Qx/2 + b'x, where Q and b are a prior's plus a sum over rows
 * of designs: Q = P + sum_i w_i a_i a_i', b = p + sum_i s_i a_i.
 *
 * Tall: Cholesky Q = L L', x = L'^-1 (L^-1 b + z) (Rue 2001). Wide (more
 * coordinates than rows, diagonal prior): Bhattacharya, Chakraborty and Mallick
 * (2016), Fast sampling with Gaussian scale mixture priors in high-dimensional
 * regression, Biometrika 103(4), algorithm 2: a solve of the size of the rows.
 *
 * All sums run over panels of rows and tiles of columns of fixed size, so the
 * result does not depend on the number of threads. OpenBLAS runs single. */
#include "host/host.h"
#include "gbm.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PANEL 512 /* rows */
#define TILE 128  /* columns */
#define SMALL 24  /* columns: plain loops are faster than OpenBLAS */

struct term {
    const struct gbm_dense_term *term;
    int64_t rows;
    const double *design; /* [rows][d] where constant, or NULL */
    double *own;          /* the same, if it was tabulated here */
    double *gram;         /* [d][d] sum_i w_i/w_ref a_i a_i', or NULL */
    double *scores;       /* [d] sum_i s_i/w_ref a_i, where constant, or NULL */
    int64_t reference;    /* row whose weight is w_ref; -1: none has any */
    double *sums; /* [chains][d] sum_i s_i a_i, of this sweep's pass; or NULL */
};

struct host_dense {
    const struct gbm_step *step;
    const struct gbm_dense *dense;
    /* gbm_model.ahead */
    void (*ahead)(uint64_t seed, uint32_t chain, uint32_t sweep, int ngroups,
                  const struct gbm_places *places, struct gbm_ahead *out);
    const struct rt_instance *in;
    int d;
    int64_t rows; /* of all terms */
    bool wide;
    bool held; /* some coordinate is observed and must not move */
    struct term *terms;
};

static void *work_ensure(struct host_work *work, size_t cells)
{
    if (cells > work->capacity) {
        free(work->cells);
        work->cells = malloc(cells * sizeof(double));
        work->capacity = work->cells ? cells : 0;
        if (!work->cells)
            abort(); /* sizes were reached once at load */
    }
    return work->cells;
}

/* Design rows first .. first + count - 1; evaluated into `panel` if need be. */
static const double *design_rows(const struct host_dense *h,
                                 const struct term *t, const void *state,
                                 int64_t first, int64_t count, int threads,
                                 double *panel)
{
    if (t->design)
        return t->design + first * h->d;
    if (threads <= 1) {
        for (int64_t i = 0; i < count; i++)
            t->term->design(state, first + i, panel + i * h->d);
        return panel;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++)
        t->term->design(state, first + i, panel + i * h->d);
    return panel;
}

/* Tile number `pair` of a lower triangle of tiles. */
static void tile_of(int pair, int *i, int *j)
{
    *i = 0;
    while ((*i + 1) * (*i + 2) / 2 <= pair)
        ++*i;
    *j = pair - *i * (*i + 1) / 2;
}

static int tile_size(int d, int first)
{
    return first + TILE < d ? TILE : d - first;
}

static void add_gram_tile(int d, int64_t count, const double *a, int pair,
                          double *q)
{
    int i, j;
    tile_of(pair, &i, &j);
    int ni = tile_size(d, i * TILE), nj = tile_size(d, j * TILE);
    double *out = q + (int64_t)i * TILE * d + j * TILE;
    if (i == j)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, ni, (int)count, 1,
                    a + i * TILE, d, 1, out, d);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, ni, nj, (int)count,
                    1, a + i * TILE, d, a + j * TILE, d, 1, out, d);
}

/* q += a'a for a panel a [count][d], lower triangle, tile by tile. Small ones
 * by plain loops: a call of the library costs more. */
static void add_gram(int d, int64_t count, const double *a, int threads,
                     double *q)
{
    int tiles = (d + TILE - 1) / TILE, pairs = tiles * (tiles + 1) / 2;
    if (d <= SMALL) {
        int64_t r = 0;
        for (; r + 4 <= count; r += 4) {
            const double *b = a + r * d;
            for (int i = 0; i < d; i++)
                for (int j = 0; j <= i; j++)
                    q[i * d + j] += (b[i] * b[j] + b[d + i] * b[d + j]) +
                                    (b[2 * d + i] * b[2 * d + j] +
                                     b[3 * d + i] * b[3 * d + j]);
        }
        for (; r < count; r++)
            for (int i = 0; i < d; i++)
                for (int j = 0; j <= i; j++)
                    q[i * d + j] += a[r * d + i] * a[r * d + j];
        return;
    }
    if (threads <= 1 || pairs == 1) {
        for (int pair = 0; pair < pairs; pair++)
            add_gram_tile(d, count, a, pair, q);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int pair = 0; pair < pairs; pair++)
        add_gram_tile(d, count, a, pair, q);
}

/* Weights and scores of a panel's rows. */
static void panel_rows(const struct term *t, const void *state, int64_t first,
                       int64_t count, int threads, double *weight,
                       double *score)
{
    if (threads <= 1 || count < 64) {
        for (int64_t i = 0; i < count; i++)
            t->term->row(state, first + i, &weight[i], &score[i]);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++)
        t->term->row(state, first + i, &weight[i], &score[i]);
}

/* out += a'score for a panel a [count][d]. */
static void add_scored_rows(int d, int64_t count, const double *a,
                            const double *score, double *out)
{
    if (d > SMALL) {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)count, d, 1, a, d, score, 1,
                    1, out, 1);
        return;
    }
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) { /* four rows wait for one another once */
        const double *r = a + i * d;
        for (int j = 0; j < d; j++)
            out[j] +=
                (score[i] * r[j] + score[i + 1] * r[d + j]) +
                (score[i + 2] * r[2 * d + j] + score[i + 3] * r[3 * d + j]);
    }
    for (; i < count; i++)
        for (int j = 0; j < d; j++)
            out[j] += score[i] * a[i * d + j];
}

/* q += sum_i weight_i a_i a_i' over a term's rows; b += sum_i score_i a_i. Not
 * wanted where NULL. work: PANEL * (2 d + 2). */
static void add_term(const struct host_dense *h, const struct term *t,
                     const void *state, int threads, double *work, double *q,
                     double *b)
{
    int d = h->d;
    double *weight = work, *score = work + PANEL;
    double *panel = work + 2 * PANEL, *scaled = panel + (int64_t)PANEL * d;
    for (int64_t first = 0; first < t->rows; first += PANEL) {
        int64_t n = t->rows - first < PANEL ? t->rows - first : PANEL;
        const double *a = design_rows(h, t, state, first, n, threads, panel);
        panel_rows(t, state, first, n, threads, weight, score);
        if (b)
            add_scored_rows(d, n, a, score, b);
        if (!q)
            continue;
        for (int64_t i = 0; i < n; i++) {
            double root = sqrt(weight[i]);
            for (int j = 0; j < d; j++)
                scaled[i * d + j] = root * a[i * d + j];
        }
        add_gram(d, n, scaled, threads, q);
    }
}

/* What draws the rows of a pass: a step of the chain, given the block's x. */
struct rows_drawn {
    const struct gbm_step *step;
    const struct gbm_sweep *sweep;
    uint32_t chain;
    const double *x; /* [d] */
};

/* out[i] = a_i'x for a panel a [count][d]. */
static void predict(int d, int64_t count, const double *a, const double *x,
                    double *out)
{
    if (d > SMALL) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)count, d, 1, a, d, x, 1,
                    0, out, 1);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < d; j++)
            sum += a[i * d + j] * x[j];
        out[i] = sum;
    }
}

static void draw_panel(const struct host_dense *h, const struct term *t,
                       const void *state, const struct rows_drawn *drawn,
                       int64_t first, int64_t count)
{
    struct gbm_sweep sweep = *drawn->sweep;
    struct gbm_ahead ahead[HOST_BATCH];
    struct host_batch batch;
    double predictor[PANEL];
    const int64_t room = host_batch_room(h->in, drawn->step);
    predict(h->d, count, t->design + first * h->d, drawn->x, predictor);
    batch.stride = 1;
    for (int64_t k = 0, end; k < count; k = end) {
        end = room == 0 || count - k < room ? count : k + room;
        sweep.ahead = NULL;
        batch.count = 0;
        if (room > 0) {
            host_batch_add(&batch, drawn->step, NULL, first + k, first + end);
            host_batch_draw(h->in, &batch, drawn->chain, &sweep, ahead);
        }
        t->term->draw_rows(state, &sweep, drawn->chain, first + k, first + end,
                           predictor + k);
    }
}

/* Panel number p of the sum of scores, set to sum [d]; `panel` has room for
 * designs. Where the rows are `drawn`, this draws them before. */
static void sum_panel(const struct host_dense *h, const struct term *t,
                      const void *state, const struct rows_drawn *drawn,
                      int64_t p, double *panel, double *sum)
{
    double weight[PANEL], score[PANEL];
    const int64_t first = p * PANEL;
    const int64_t n = t->rows - first < PANEL ? t->rows - first : PANEL;
    const double *a = design_rows(h, t, state, first, n, 1, panel);
    if (drawn)
        draw_panel(h, t, state, drawn, first, n);
    panel_rows(t, state, first, n, 1, weight, score);
    memset(sum, 0, (size_t)h->d * sizeof *sum);
    add_scored_rows(h->d, n, a, score, sum);
}

/* Only b += A'score: panels of rows are shared out, their sums added in order.
 * Where one thread does it, the same sums in the same order. */
static void add_scores(const struct host_dense *h, const struct term *t,
                       const void *state, const struct rows_drawn *drawn,
                       int threads, double *work, double *b)
{
    int d = h->d;
    int64_t panels = (t->rows + PANEL - 1) / PANEL;
    if (!t->design || threads <= 1 || panels < 2) {
        double *sum = work + 2 * PANEL + 2 * (int64_t)PANEL * d;
        for (int64_t p = 0; p < panels; p++) {
            sum_panel(h, t, state, drawn, p, work + 2 * PANEL, sum);
            for (int j = 0; j < d; j++)
                b[j] += sum[j];
        }
        return;
    }
    double *sums = malloc((size_t)panels * (size_t)d * sizeof *sums);
    if (!sums)
        abort();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t p = 0; p < panels; p++)
        sum_panel(h, t, state, drawn, p, NULL, sums + p * d);
    for (int64_t p = 0; p < panels; p++)
        for (int j = 0; j < d; j++)
            b[j] += sums[p * d + j];
    free(sums);
}

/* b += the sum that the sweep's pass has made of the scores, and what then
 * multiplied the rows' nodes by a number has multiplied it, too. */
static void add_passed_scores(const struct host_dense *h, const struct term *t,
                              int chain, double *b)
{
    const int scaled = t->term->scaled, number = t->term->number;
    double by = 1;
    if (scaled && h->in->steps[scaled - 1].active)
        by = rt_value(&h->in->slots[number], false, chain, 0);
    for (int j = 0; j < h->d; j++)
        b[j] += by * t->sums[(int64_t)chain * h->d + j];
}

static double reference_weight(const struct term *t, const void *state)
{
    double weight = 0, score;
    if (t->reference >= 0)
        t->term->row(state, t->reference, &weight, &score);
    return weight;
}

static size_t panel_cells(const struct host_dense *h)
{
    return (size_t)PANEL * (2 * (size_t)h->d + 2) + (size_t)h->d;
}

/* Of a chain whose sweep's passes have been made; -1: none has. */
static void assemble(const struct host_dense *h, const void *state, int chain,
                     int threads, double *work, double *q, double *b)
{
    int d = h->d;
    if (h->dense->prior_matrix) {
        h->dense->prior_matrix(state, q, b);
    } else {
        memset(q, 0, (size_t)d * (size_t)d * sizeof *q);
        for (int j = 0; j < d; j++)
            h->dense->prior(state, j, &q[(int64_t)j * d + j], &b[j]);
    }
    for (int k = 0; k < h->dense->nterms; k++) {
        const struct term *t = &h->terms[k];
        if (!t->gram) {
            add_term(h, t, state, threads, work, q, b);
            continue;
        }
        double weight = reference_weight(t, state);
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j <= i; j++)
                q[i * d + j] += weight * t->gram[i * d + j];
        if (t->sums && chain >= 0)
            add_passed_scores(h, t, chain, b);
        else if (!t->scores)
            add_scores(h, t, state, NULL, threads, work, b);
        for (int j = 0; t->scores && j < d; j++)
            b[j] += weight * t->scores[j];
    }
}

void host_dense_assemble(const struct host_dense *dense, const void *state,
                         int threads, struct host_work *work, double *precision,
                         double *potential)
{
    assemble(dense, state, -1, threads, work_ensure(work, panel_cells(dense)),
             precision, potential);
}

int host_dense_dimension(const struct host_dense *dense) { return dense->d; }

/* ---- Cholesky ---- */

static bool cholesky_small(int d, double *q)
{
    for (int j = 0; j < d; j++) {
        double *row = q + (int64_t)j * d, pivot = row[j];
        for (int k = 0; k < j; k++)
            pivot -= row[k] * row[k];
        if (!(pivot > 0) || !isfinite(pivot))
            return false;
        row[j] = sqrt(pivot);
        for (int i = j + 1; i < d; i++) {
            double *below = q + (int64_t)i * d, sum = below[j];
            for (int k = 0; k < j; k++)
                sum -= below[k] * row[k];
            below[j] = sum / row[j];
        }
    }
    return true;
}

/* Below a factored diagonal tile at k: tile row number i. */
static void solve_tile(int d, double *q, int k, int nk, int i)
{
    int row = k + nk + i * TILE;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                tile_size(d, row), nk, 1, q + (int64_t)k * d + k, d,
                q + (int64_t)row * d + k, d);
}

/* Subtracts the columns k .. k + nk - 1 from a tile right of and below them. */
static void update_tile(int d, double *q, int k, int nk, int pair)
{
    int i, j;
    tile_of(pair, &i, &j);
    int row = k + nk + i * TILE, column = k + nk + j * TILE;
    int ni = tile_size(d, row), nj = tile_size(d, column);
    double *out = q + (int64_t)row * d + column;
    if (i == j)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, ni, nk, -1,
                    q + (int64_t)row * d + k, d, 1, out, d);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, ni, nj, nk, -1,
                    q + (int64_t)row * d + k, d, q + (int64_t)column * d + k, d,
                    1, out, d);
}

/* Factors the row-major lower triangle of q = L L' in place; right-looking in
 * tiles. False if q is not positive definite. */
static bool cholesky(int d, double *q, int threads)
{
    if (d <= SMALL)
        return cholesky_small(d, q);
    for (int k = 0; k < d; k += TILE) {
        int nk = tile_size(d, k), left = (d - k - nk + TILE - 1) / TILE;
        int pairs = left * (left + 1) / 2;
        /* lower by rows is upper by columns */
        if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', nk,
                                q + (int64_t)k * d + k, d) != 0)
            return false;
        if (threads <= 1 || left < 2) {
            for (int i = 0; i < left; i++)
                solve_tile(d, q, k, nk, i);
            for (int pair = 0; pair < pairs; pair++)
                update_tile(d, q, k, nk, pair);
            continue;
        }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int i = 0; i < left; i++)
            solve_tile(d, q, k, nk, i);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int pair = 0; pair < pairs; pair++)
            update_tile(d, q, k, nk, pair);
    }
    for (int j = 0; j < d; j++)
        if (!isfinite(q[(int64_t)j * d + j]))
            return false;
    return true;
}

/* x := L^-1 x, and x := L'^-1 x. */
static void solve_lower(int d, const double *q, double *x)
{
    if (d > SMALL) {
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, q,
                    d, x, 1);
        return;
    }
    for (int i = 0; i < d; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= q[i * d + k] * x[k];
        x[i] /= q[i * d + i];
    }
}

static void solve_upper(int d, const double *q, double *x)
{
    if (d > SMALL) {
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, d, q,
                    d, x, 1);
        return;
    }
    for (int i = d - 1; i >= 0; i--) {
        x[i] /= q[i * d + i];
        for (int k = 0; k < i; k++)
            x[k] -= q[i * d + k] * x[i];
    }
}

/* Conditions on the coordinates that must not move. */
static void condition_on_fixed(int d, const unsigned char *fixed,
                               const double *x, double *q, double *b, double *z)
{
    for (int j = 0; j < d; j++) {
        if (!fixed[j])
            continue;
        for (int i = 0; i < d; i++) {
            double *cell =
                i > j ? &q[(int64_t)i * d + j] : &q[(int64_t)j * d + i];
            if (!fixed[i])
                b[i] -= *cell * x[j];
            *cell = i == j;
        }
        b[j] = x[j];
        z[j] = 0;
    }
}

/* The first normals of the streams of elements `first` and after. */
static void normals(const struct host_dense *h, const struct gbm_sweep *sweep,
                    uint32_t chain, int64_t first, int64_t count, double *out)
{
    struct gbm_rng rng;
    int64_t j = 0;
    while (h->ahead && j < count) {
        struct gbm_places places;
        struct gbm_ahead drawn;
        for (int i = 0; i < GBM_AHEAD_GROUP; i++) {
            places.later[i] = places.block[i] = 0;
            places.step[i] = (uint32_t)h->step->number;
            places.element[i] = (uint32_t)(first + j + i);
        }
        places.normals = 1;
        h->ahead(sweep->seed, chain, sweep->sweep, 1, &places, &drawn);
        for (int i = 0; i < GBM_AHEAD_GROUP && j < count; i++)
            out[j++] = drawn.normal[0][i];
    }
    for (; j < count; j++) {
        gbm_rng_start(&rng, sweep->seed, chain, sweep->sweep,
                      (uint32_t)h->step->number, (uint32_t)(first + j));
        out[j] = gbm_draw_normal(&rng);
    }
}

static bool draw_tall(const struct host_dense *h, const void *state,
                      const struct gbm_sweep *sweep, uint32_t chain,
                      int threads, struct host_work *work, int64_t *jitters)
{
    int d = h->d;
    size_t n = (size_t)d;
    double *cells = work_ensure(work, n * n + 4 * n + panel_cells(h));
    double *q = cells, *b = q + n * n, *x = b + n, *z = x + n;
    unsigned char *fixed = (unsigned char *)(z + n);
    double *panel = z + 2 * n;
    for (int attempt = 0; attempt < 6; attempt++) {
        assemble(h, state, (int)chain, threads, panel, q, b);
        normals(h, sweep, chain, 0, d, z);
        if (h->held) {
            h->dense->get(state, x);
            h->dense->fixed(state, fixed);
            condition_on_fixed(d, fixed, x, q, b, z);
        }
        double jitter = attempt ? pow(10, 2 * attempt - 14) : 0;
        for (int j = 0; j < d && attempt; j++)
            q[(int64_t)j * d + j] *= 1 + jitter;
        if (!cholesky(d, q, threads))
            continue;
        *jitters += attempt > 0;
        solve_lower(d, q, b);
        for (int j = 0; j < d; j++)
            x[j] = b[j] + z[j];
        solve_upper(d, q, x);
        h->dense->set(state, x);
        return true;
    }
    return false;
}

/* Rows of Phi = sqrt(w) a, and alpha = score / sqrt(w). */
static void whitened_rows(const struct host_dense *h, const void *state,
                          double *phi, double *alpha)
{
    int d = h->d;
    int64_t at = 0;
    for (int k = 0; k < h->dense->nterms; k++) {
        const struct term *t = &h->terms[k];
        for (int64_t i = 0; i < t->rows; i++, at++) {
            double weight, score, *row = phi + at * d;
            t->term->row(state, i, &weight, &score);
            double root = sqrt(weight);
            alpha[at] = weight > 0 ? score / root : 0;
            if (t->design)
                memcpy(row, t->design + i * d, (size_t)d * sizeof *row);
            else
                t->term->design(state, i, row);
            for (int j = 0; j < d; j++)
                row[j] *= root;
        }
    }
}

/* With D = 1 / prior precision: u ~ N(D p, D), delta ~ N(0, I), v = Phi u +
 * delta; solve (Phi D Phi' + I) y = alpha - v; x = u + D Phi' y. */
static bool draw_wide(const struct host_dense *h, const void *state,
                      const struct gbm_sweep *sweep, uint32_t chain,
                      int threads, struct host_work *work)
{
    int d = h->d;
    size_t n = (size_t)h->rows, p = (size_t)d;
    double *cells = work_ensure(work, 2 * n * p + n * n + 3 * n + 3 * p);
    double *phi = cells, *scaled = phi + n * p, *m = scaled + n * p;
    double *alpha = m + n * n, *v = alpha + n, *u = v + n, *variance = u + p;
    normals(h, sweep, chain, 0, d, u);
    normals(h, sweep, chain, d, (int64_t)n, v);
    for (int j = 0; j < d; j++) {
        double precision, potential;
        h->dense->prior(state, j, &precision, &potential);
        variance[j] = 1 / precision;
        if (!(precision > 0) || !isfinite(precision) || !isfinite(variance[j]))
            return false;
        u[j] = variance[j] * potential + sqrt(variance[j]) * u[j];
    }
    whitened_rows(h, state, phi, alpha);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++)
            scaled[i * p + j] = phi[i * p + j] * variance[j];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, d, 1,
                phi, d, scaled, d, 0, m, (int)n);
    for (size_t i = 0; i < n; i++)
        m[i * n + i] += 1;
    if (!cholesky((int)n, m, threads))
        return false;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, d, 1, phi, d, u, 1, 1, v,
                1);
    for (size_t i = 0; i < n; i++)
        alpha[i] -= v[i];
    solve_lower((int)n, m, alpha);
    solve_upper((int)n, m, alpha);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, d, 1, scaled, d, alpha, 1, 1,
                u, 1);
    h->dense->set(state, u);
    return true;
}

bool host_dense_draw(const struct host_dense *dense, const void *state,
                     const struct gbm_sweep *sweep, uint32_t chain, int threads,
                     struct host_work *work, int64_t *jitters)
{
    if (dense->wide && draw_wide(dense, state, sweep, chain, threads, work))
        return true;
    return draw_tall(dense, state, sweep, chain, threads, work, jitters);
}

/* ---- rows that are drawn in one pass with their sum ---- */

/* GBM_HOST_PASS=0, for tests: never. */
static bool is_wanted(void)
{
    const char *value = getenv("GBM_HOST_PASS");
    return !value || strcmp(value, "0") != 0;
}

bool host_dense_plan_pass(struct host_dense *h, int step)
{
    const struct rt_instance *in = h->in;
    const struct rt_step *plan = &in->steps[step];
    for (int k = 0; k < h->dense->nterms && !h->wide && is_wanted(); k++) {
        struct term *t = &h->terms[k];
        if (t->term->drawn != step + 1 || !t->gram || t->scores || t->own ||
            !plan->active || plan->sequential || plan->ncolours != 1 ||
            plan->elements || plan->count != t->rows)
            continue;
        t->sums =
            calloc((size_t)in->nchains * (size_t)h->d + 1, sizeof *t->sums);
        return t->sums != NULL;
    }
    return false;
}

void host_dense_draw_rows(const struct host_dense *h, int step,
                          const void *state, const struct gbm_sweep *sweep,
                          uint32_t chain, int threads, struct host_work *work)
{
    const size_t d = (size_t)h->d;
    double *x = work_ensure(work, panel_cells(h) + d);
    const struct rows_drawn drawn = {&h->in->model->steps[step], sweep, chain,
                                     x};
    h->dense->get(state, x);
    for (int k = 0; k < h->dense->nterms; k++) {
        const struct term *t = &h->terms[k];
        if (!t->sums || t->term->drawn != step + 1)
            continue;
        double *sum = t->sums + (size_t)chain * d;
        memset(sum, 0, d * sizeof *sum);
        add_scores(h, t, state, &drawn, threads, x + d, sum);
    }
}

/* ---- what is computed once ---- */

static bool tabulate(struct host_dense *h, const struct rt_instance *in,
                     const void *state, struct term *t)
{
    const struct gbm_dense_term *term = t->term;
    if (!term->constant_design)
        return true;
    if (term->matrix >= 0) {
        const struct rt_slot *slot = &in->slots[term->matrix];
        const struct gbm_variable *v = &in->model->variables[term->matrix];
        if (!v->integer && v->ndim == 2 && slot->dim[1] == h->d &&
            slot->dim[0] >= t->rows && !slot->per_chain) {
            t->design = slot->values;
            return true;
        }
    }
    size_t n = (size_t)t->rows * (size_t)h->d;
    t->own = malloc((n ? n : 1) * sizeof *t->own);
    if (!t->own)
        return false;
    for (int64_t i = 0; i < t->rows; i++)
        term->design(state, i, t->own + i * h->d);
    t->design = t->own;
    return true;
}

/* Scores relative to a weight that is not 0. */
static bool precompute_scores(struct host_dense *h, const void *state,
                              struct term *t, int threads, double weight,
                              double *work)
{
    t->scores = calloc((size_t)h->d + 1, sizeof *t->scores);
    if (!t->scores)
        return false;
    add_scores(h, t, state, NULL, threads, work, t->scores);
    for (int j = 0; j < h->d; j++)
        t->scores[j] /= weight;
    return true;
}

/* The Gram matrix with weights relative to the first row that has any. */
static bool precompute_gram(struct host_dense *h, const struct rt_instance *in,
                            const void *state, struct term *t, int threads)
{
    double weight = 0, score;
    t->reference = -1;
    for (int64_t i = 0; i < t->rows && t->reference < 0; i++) {
        t->term->row(state, i, &weight, &score);
        if (weight > 0)
            t->reference = i;
    }
    size_t n = (size_t)h->d * (size_t)h->d;
    struct host_work work = {0};
    t->gram = calloc(n, sizeof *t->gram);
    if (!t->gram)
        return false;
    if (t->reference < 0)
        return true;
    add_term(h, t, state, threads, work_ensure(&work, panel_cells(h)), t->gram,
             NULL);
    for (size_t i = 0; i < n; i++)
        t->gram[i] /= weight;
    const struct gbm_family *family = &in->model->families[t->term->family];
    bool done = true;
    if (t->term->constant_score && !in->slots[family->variable].per_chain)
        done = precompute_scores(h, state, t, threads, weight, work.cells);
    free(work.cells);
    return done;
}

struct host_dense *host_dense_create(struct rt *rt,
                                     const struct rt_instance *in,
                                     const struct gbm_step *step,
                                     const void *state)
{
    struct host_dense *h = calloc(1, sizeof *h);
    if (!h)
        goto no_memory;
    h->step = step;
    h->dense = step->dense;
    h->ahead = in->model->ahead;
    h->in = in;
    h->d = step->dense->dimension(state);
    h->terms = calloc((size_t)h->dense->nterms + 1, sizeof *h->terms);
    if (!h->terms)
        goto no_memory;
    for (int k = 0; k < h->dense->nterms; k++) {
        struct term *t = &h->terms[k];
        t->term = &h->dense->terms[k];
        t->rows = in->elements[t->term->family];
        h->rows += t->rows;
        if (!tabulate(h, in, state, t))
            goto no_memory;
    }
    if (h->dense->fixed && h->d > 0) {
        unsigned char *fixed = calloc((size_t)h->d, 1);
        if (!fixed)
            goto no_memory;
        h->dense->fixed(state, fixed);
        for (int j = 0; j < h->d; j++)
            h->held = h->held || fixed[j];
        free(fixed);
    }
    h->wide = rt_dense_by_rows(h->dense, in->elements, h->d, h->held);
    for (int k = 0; k < h->dense->nterms && !h->wide; k++) {
        struct term *t = &h->terms[k];
        if (t->design && t->term->constant_weight &&
            !precompute_gram(h, in, state, t, rt->threads))
            goto no_memory;
    }
    return h;
no_memory:
    host_dense_free(h);
    rt_fail(rt, GBM_FAILURE, "no memory for the Gaussian block of %s",
            step->variable);
    return NULL;
}

void host_dense_free(struct host_dense *h)
{
    if (!h)
        return;
    for (int k = 0; h->terms && k < h->dense->nterms; k++) {
        free(h->terms[k].own);
        free(h->terms[k].gram);
        free(h->terms[k].scores);
        free(h->terms[k].sums);
    }
    free(h->terms);
    free(h);
}
