/* keep.c: what a kept sweep adds to the running moments and copies into the
 * ring of draws. One kernel does all, whatever variables it is of: a block of
 * threads has a piece of one of them. It ends the sweep, too. */
#include "cuda.h"

#include <stdlib.h>

/* As in stdlib/kernels/kept_cuda.h. */
struct moments {
    CUdeviceptr values, mean, m2, counts;
    long long cells, stride;
    int integer, categories;
};
struct monitor {
    CUdeviceptr values, cells;
    long long count, stride, offset;
    int kind;
};
struct piece {
    long long from, to;
    int entry;
};

/* Threads of a block; and blocks of a multiprocessor, about: beyond, pieces are
 * larger. */
enum { THREADS = 256, BLOCKS = 16 };

/* Of all chains; 0: it has no moments. */
static int64_t counted_cells(const struct cuda *c, int variable)
{
    return c->in->slots[variable].moments ? c->slots[variable].cells : 0;
}

static int64_t kept_cells(const struct cuda *c, int monitor)
{
    return c->in->monitors[monitor].count * c->in->nchains;
}

/* Numbers of a piece: whole turns of a block's threads. */
static int64_t piece_size(const struct cuda *c)
{
    const int64_t turns = (int64_t)c->multiprocessors * BLOCKS * THREADS;
    int64_t all = c->in->nchains;

    for (int v = 0; v < c->in->model->nvariables; v++)
        all += counted_cells(c, v);
    for (int m = 0; m < c->in->nmonitors; m++)
        all += kept_cells(c, m);
    return THREADS * ((all + turns - 1) / turns);
}

/* Adds the pieces of an entry to the list, or counts them if it is NULL. */
static void add_pieces(struct piece *list, int *n, int entry, int64_t numbers,
                       int64_t size)
{
    for (int64_t from = 0; from < numbers; from += size, ++*n)
        if (list)
            list[*n] = (struct piece){
                from, from + size < numbers ? from + size : numbers, entry};
}

static void list_pieces(struct cuda *c, struct piece *list)
{
    struct cuda_keep *k = &c->keep;
    const int64_t size = piece_size(c);
    int n = 0, entry = 0;

    for (int v = 0; v < c->in->model->nvariables; v++)
        if (counted_cells(c, v) > 0)
            add_pieces(list, &n, entry++, counted_cells(c, v), size);
    k->all.nmoments = entry;
    k->counted = n;
    for (int m = 0; m < c->in->nmonitors; m++)
        add_pieces(list, &n, entry++, kept_cells(c, m), size);
    k->all.nmonitors = c->in->nmonitors;
    k->kept = n;
    if (c->has_lp)
        add_pieces(list, &n, entry, c->in->nchains, size);
    k->with_lp = n;
}

static void fill_moments(const struct cuda *c, struct moments *out)
{
    for (int v = 0; v < c->in->model->nvariables; v++) {
        const struct cuda_slot *slot = &c->slots[v];
        if (counted_cells(c, v) > 0)
            *out++ =
                (struct moments){.values = slot->values,
                                 .mean = slot->mean,
                                 .m2 = slot->m2,
                                 .counts = slot->counts,
                                 .categories = c->in->slots[v].categories,
                                 .cells = c->in->slots[v].cells,
                                 .stride = slot->stride,
                                 .integer = c->in->model->variables[v].integer};
    }
}

static void fill_monitors(const struct cuda *c, struct monitor *out)
{
    for (int m = 0; m < c->in->nmonitors; m++) {
        const struct rt_monitor *monitor = &c->in->monitors[m];
        const struct cuda_slot *slot = &c->slots[monitor->variable];
        out[m] = (struct monitor){
            .values = slot->values,
            .cells = c->monitors[m].cells,
            .count = monitor->count,
            .stride = slot->stride,
            .offset = monitor->offset,
            .kind = c->in->model->variables[monitor->variable].integer};
    }
    out[c->in->nmonitors] = (struct monitor){.values = c->lp,
                                             .count = 1,
                                             .stride = 1,
                                             .offset = c->in->row,
                                             .kind = 2};
}

enum gbm_status cuda_keep_request(struct cuda *c)
{
    struct cuda_kept *all = &c->keep.all;
    const char *what = "the list of monitored cells";

    list_pieces(c, NULL);
    TRY(cuda_request(c, &all->pieces,
                     (size_t)c->keep.with_lp * sizeof(struct piece), what));
    TRY(cuda_request(c, &all->moments,
                     (size_t)all->nmoments * sizeof(struct moments), what));
    return cuda_request(c, &all->monitors,
                        ((size_t)all->nmonitors + 1) * sizeof(struct monitor),
                        what);
}

enum gbm_status cuda_keep_upload(struct cuda *c)
{
    struct cuda_kept *all = &c->keep.all;
    const size_t pieces = (size_t)c->keep.with_lp,
                 nmoments = (size_t)all->nmoments,
                 nmonitors = (size_t)all->nmonitors + 1;
    struct piece *list = calloc(pieces + 1, sizeof *list);
    struct moments *moments = calloc(nmoments + 1, sizeof *moments);
    struct monitor *monitors = calloc(nmonitors, sizeof *monitors);
    enum gbm_status status = GBM_OK;

    all->draws = c->draws;
    all->row = c->row;
    all->chains = c->in->nchains;
    if (list && moments && monitors) {
        list_pieces(c, list);
        fill_moments(c, moments);
        fill_monitors(c, monitors);
        status = cuda_upload(c, all->pieces, list, pieces * sizeof *list);
    } else {
        status = rt_fail(c->rt, GBM_FAILURE, "out of memory");
    }
    if (status == GBM_OK)
        status =
            cuda_upload(c, all->moments, moments, nmoments * sizeof *moments);
    if (status == GBM_OK)
        status = cuda_upload(c, all->monitors, monitors,
                             nmonitors * sizeof *monitors);
    free(list);
    free(moments);
    free(monitors);
    return status;
}

enum gbm_status cuda_keep_run(struct cuda *c, bool kept)
{
    const struct cuda_keep *k = &c->keep;
    const int pieces = !kept ? k->counted : c->with_lp ? k->with_lp : k->kept;
    unsigned one = 1, keeps = kept;
    void *args[] = {&c->control, &c->keep.all, &keeps};
    void *done_args[] = {&c->control, &one, &one, &keeps};

    if (pieces == 0)
        return cuda_launch_grid(c, &c->fixed.sweeps_done, 1, 1, 1, 0,
                                done_args);
    return cuda_launch_grid(c, &c->fixed.keep, pieces, 1, THREADS, 0, args);
}
