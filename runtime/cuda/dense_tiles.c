/* dense_tiles.c: ROUTE_TILES of dense.c: a launch factorises the precisions of
 * all chains, a block of threads each, beside the sum of scores; another draws
 * from them. */
#include "dense.h"

#define TILE_SIDE 16
#define TILES_MOST 192 /* coordinates: a thread has 78 elements then */
#define TILES_BYTES ((size_t)1 << 30)

/* Of a factor as it is drawn from, packed with its inverse diagonal: as in
 * dense_tiles.h. */
static size_t factor_cells(int d)
{
    const size_t n = (size_t)d;
    return (n * (n + 1) / 2 + n + 3) / 4 * 4;
}

/* That, b, normals. */
static size_t draw_bytes(const struct cuda *c, int d)
{
    return (factor_cells(d) + 2 * (size_t)d) * c->total_size;
}

bool cuda_tiles_takes(const struct cuda *c, const struct cuda_dense *dense)
{
    for (int i = 0; i < dense->nterms; i++)
        if (!dense->terms[i].constant)
            return false;
    return dense->d <= TILES_MOST && !dense->held &&
           draw_bytes(c, dense->d) <= c->shared_most;
}

int cuda_dense_tiles(const struct cuda *c)
{
    int most = 0;

    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct cuda_dense *dense = c->steps[k].dense;
        if (dense && dense->route == ROUTE_TILES && dense->d > most)
            most = dense->d;
    }
    return (most + TILE_SIDE - 1) / TILE_SIDE;
}

enum gbm_status cuda_tiles_request(struct cuda *c, struct cuda_dense *dense)
{
    const size_t d = (size_t)dense->d;
    const size_t one = d * d * (c->total_size + sizeof(double));
    const size_t bytes = draw_bytes(c, dense->d);
    size_t n = TILES_BYTES / one;

    if (n > (size_t)c->in->nchains)
        n = (size_t)c->in->nchains;
    dense->at_once = n > 0 ? (int)n : 1;
    n = (size_t)dense->at_once;
    if ((int)bytes > c->fixed.tiles_draw.shared)
        TRY(cuda_allow_shared(c, &c->fixed.tiles_draw, bytes));
    TRY(cuda_sides_open(c, 1));
    TRY(cuda_request_scores(c, dense));
    TRY(cuda_request(c, &dense->packed,
                     n * factor_cells(dense->d) * c->total_size,
                     "the precision of a Gaussian block"));
    TRY(cuda_request(c, &dense->factor, n * d * d * c->total_size,
                     "the precision of a Gaussian block"));
    TRY(cuda_request(c, &dense->work, n * d * d * sizeof(double),
                     "the precision of a Gaussian block"));
    return cuda_request(c, &dense->diagonal, n * d * c->total_size,
                        "a Gaussian block");
}

/* Whether passes have made all sums of scores. */
static bool all_have_passes(const struct cuda_dense *dense)
{
    for (int i = 0; i < dense->nterms; i++)
        if (!dense->terms[i].has_pass)
            return false;
    return true;
}

bool cuda_tiles_multiply(struct cuda_dense *dense, struct cuda_slot *number)
{
    if (dense->route != ROUTE_TILES ||
        (dense->number && dense->number != number) ||
        !all_have_passes(dense)) /* a score is of what is multiplied already */
        return false;
    dense->number = number;
    return true;
}

static enum gbm_status factor(struct cuda *c, struct cuda_dense *dense,
                              int first, int n)
{
    struct scaled_terms terms = cuda_scaled_terms(c, dense);
    int d = dense->d, prior_matrix = dense->prior_matrix, step = dense->step;

    void *args[] = {&c->control,
                    &terms,
                    &dense->precision,
                    &prior_matrix,
                    &d,
                    &step,
                    &first,
                    &dense->packed,
                    &dense->factor,
                    &dense->diagonal,
                    &dense->work};
    return cuda_launch_grid(c, &c->fixed.tiles_factor, n, 1,
                            TILE_SIDE * TILE_SIDE, 0, args);
}

static enum gbm_status draw(struct cuda *c, struct cuda_dense *dense, int first,
                            int n)
{
    int d = dense->d, step = dense->step;
    CUdeviceptr number = dense->number ? dense->number->values : 0;
    long long stride = dense->number ? dense->number->stride : 0;
    void *args[] = {&c->control,
                    &dense->packed,
                    &dense->potential,
                    &dense->score_sum,
                    &number,
                    &stride,
                    &d,
                    &step,
                    &first,
                    &dense->x};
    return cuda_launch_grid(c, &c->fixed.tiles_draw, n, 1, 256,
                            draw_bytes(c, d), args);
}

/* Beside the sum of scores, if there is one to make. */
static enum gbm_status factor_aside(struct cuda *c, struct cuda_dense *dense,
                                    int first, int n)
{
    if (all_have_passes(dense))
        return factor(c, dense, first, n);
    TRY(cuda_fork(c, c->sides, 1));
    cuda_turn(c, &c->sides[0]);
    enum gbm_status status = factor(c, dense, first, n);
    cuda_turn(c, &c->main);
    return status;
}

enum gbm_status cuda_tiles_run(struct cuda *c, struct cuda_dense *dense)
{
    const int nchains = c->in->nchains;

    for (int first = 0; first < nchains; first += dense->at_once) {
        const int left = nchains - first;
        const int n = left < dense->at_once ? left : dense->at_once;
        TRY(factor_aside(c, dense, first, n));
        if (first == 0 && cuda_dense_has_pass(dense))
            TRY(cuda_join(c, &c->below, 1));
        if (first == 0)
            TRY(cuda_sum_scores(c, dense));
        if (!all_have_passes(dense))
            TRY(cuda_join(c, c->sides, 1));
        TRY(draw(c, dense, first, n));
    }
    return GBM_OK;
}
