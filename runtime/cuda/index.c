/* index.c: inverse indices that depend on the chain's state, rebuilt in a
 * sweep: for each cell the elements that refer to it, ascending. A stable
 * counting sort of the elements by cell (kernels.h). */
#include "cuda.h"

#include <stdlib.h>

/* counts of a chain, about; of a block that sums them up (kernels.h). */
#define COUNTS_WANTED (1 << 18)
#define COUNTS_OF_A_BLOCK 4096

enum gbm_status cuda_index_plan(struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const struct gbm_inverse *inverse = &c->in->model->inverses[s->inverse];
    struct cuda_index *index = calloc(1, sizeof *index);

    if (!index)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    c->steps[step].index = index;
    cuda_name_kernel(&index->cell, inverse->cell_kernel, 1);
    index->count = c->in->elements[inverse->family];
    const int64_t cells = c->in->slots[inverse->variable].cells;
    const int64_t most = (index->count + 255) / 256;
    if (cells > 0x7ffffffe)
        return rt_fail(c->rt, GBM_FAILURE, "%s has too many cells to index",
                       c->in->model->variables[inverse->variable].name);
    int64_t chunks = cells > 0 ? COUNTS_WANTED / cells : 1;
    if (chunks > most)
        chunks = most;
    if (chunks < 1)
        chunks = 1;
    index->cells = (int)cells;
    index->chunks = (int)chunks;
    index->blocks =
        (int)((cells * chunks + COUNTS_OF_A_BLOCK - 1) / COUNTS_OF_A_BLOCK);
    /* a multiple of 32, so that a warp's pieces are whole */
    index->chunk = ((index->count + chunks - 1) / chunks + 31) / 32 * 32;
    return GBM_OK;
}

enum gbm_status cuda_index_request(struct cuda *c, struct cuda_index *index)
{
    const size_t chains = (size_t)c->in->nchains;
    TRY(cuda_request(c, &index->key,
                     chains * (size_t)index->count * sizeof(int),
                     "the keys of an inverse index"));
    TRY(cuda_request(c, &index->sums,
                     chains * (size_t)index->blocks * sizeof(int),
                     "the counts of an inverse index"));
    return cuda_request(c, &index->counts,
                        chains * (size_t)index->cells * (size_t)index->chunks *
                            sizeof(int),
                        "the counts of an inverse index");
}

/* Cells at most of which each warp has a counter in shared memory. */
enum { COUNTERS_OF_A_WARP = 1024 };

/* A kernel by which each warp has a chunk. */
static enum gbm_status run_chunks(struct cuda *c, const struct cuda_kernel *k,
                                  const struct cuda_index *index, int chains,
                                  void **args)
{
    const int64_t warps = k->block / 32,
                  most = (int64_t)c->multiprocessors * 16;
    int64_t blocks = ((int64_t)index->chunks * chains + warps - 1) / warps;
    const size_t shared =
        index->cells <= COUNTERS_OF_A_WARP
            ? (size_t)warps * (size_t)index->cells * sizeof(int)
            : 0;

    if (blocks > most)
        blocks = most;
    return cuda_launch_grid(c, k, blocks, 1, k->block, shared, args);
}

/* Of one block's counts no sum is asked for. */
static enum gbm_status run_scan(struct cuda *c, struct cuda_index *index,
                                int chains, CUdeviceptr start)
{
    const int64_t blocks = (int64_t)chains * index->blocks;
    long long n = (long long)index->cells * index->chunks;
    void *sums_args[] = {&index->counts, &n, &index->blocks, &index->sums};
    void *scan_args[] = {&index->counts, &index->cells, &index->chunks,
                         &index->blocks, &index->sums,  &start};

    if (index->blocks > 1)
        TRY(cuda_launch_grid(c, &c->fixed.index_sums, blocks, 1, 1024, 0,
                             sums_args));
    return cuda_launch_grid(c, &c->fixed.index_scan, blocks, 1, 1024, 0,
                            scan_args);
}

enum gbm_status cuda_index_run(struct cuda *c, const struct gbm_step *step,
                               struct cuda_index *index)
{
    const struct gbm_inverse *inverse = &c->in->model->inverses[step->inverse];
    int chains = c->slots[inverse->start].stride ? c->in->nchains : 1;
    long long count = index->count, chunk = index->chunk;
    int cells = index->cells, chunks = index->chunks;
    int own = cells <= COUNTERS_OF_A_WARP;
    CUdeviceptr start = c->slots[inverse->start].values;
    CUdeviceptr item = c->slots[inverse->item].values;

    if (count == 0 || cells == 0)
        return GBM_OK;
    void *cell_args[] = {c->state, &count, &chains, &index->key};
    TRY(cuda_launch(c, &index->cell, count * chains, cell_args));
    CU(cuMemsetD32Async(index->counts, 0,
                        (size_t)chains * (size_t)cells * (size_t)chunks,
                        c->stream));
    void *count_args[] = {&index->key, &count, &chains, &cells,
                          &chunks,     &chunk, &own,    &index->counts};
    TRY(run_chunks(c, &c->fixed.index_count, index, chains, count_args));
    TRY(run_scan(c, index, chains, start));
    void *place_args[] = {&index->key, &count, &chains,        &cells, &chunks,
                          &chunk,      &own,   &index->counts, &item};
    return run_chunks(c, &c->fixed.index_place, index, chains, place_args);
}
