/* weighted.h: a table whose cells are sums over all rows, each weighted in the
 * cell's group: sum over i of w[i,k] f(i, k, a, b). A warp has 32 groups, whose
 * weights lie side by side, and some cells in a row for each; a block's warps
 * share out the rows, and so do blocks where there are few cells: the last of
 * them to end adds up what all have, in their order. CUDA C; included by
 * skeleton_cuda.h. */
#ifndef GBM_WEIGHTED_H
#define GBM_WEIGHTED_H

enum {
    GBM_WEIGHTED_CELLS = 8,    /* of a thread, at most */
    GBM_WEIGHTED_SHARED = 512, /* blocks that share sums, at most */
};

struct gbm_weighted_shares {
    gbm_total sums[GBM_WEIGHTED_SHARED][GBM_WEIGHTED_CELLS][32];
    unsigned ended[GBM_WEIGHTED_SHARED];
};

/* Cells [from, from + CELLS) of some groups, of so many parts of the rows. */
struct gbm_weighted_unit {
    int group, from; /* the thread's; its first cell's place in the last loop */
    long long outer; /* where its cells are in the loops before */
    int part, parts;
    bool exists;
};

/* TABLE has the functions that emit/tally_weighted.c writes as static members:
 * weight, term; put. */
template <int CELLS, class TABLE>
GBM_FN void gbm_weighted_sums(const struct state *s,
                              const struct gbm_weighted_unit *u, int rows,
                              gbm_total *sum)
{
    const int step = u->parts * GBM_BESIDE_LANES;
    for (int c = 0; c < CELLS; c++)
        sum[c] = 0;
#pragma unroll 2
    for (int row = u->part * GBM_BESIDE_LANES + threadIdx.x / 32; row < rows;
         row += step) {
        const gbm_total weight = TABLE::weight(s, u->group, row);
#pragma unroll
        for (int c = 0; c < CELLS; c++)
            sum[c] = gbm_multiply_add(
                weight, TABLE::term(s, u->group, u->outer, u->from + c, row),
                sum[c]);
    }
}

/* What the warps of the block have, in the first one. */
template <int CELLS> GBM_FN void gbm_weighted_gather(gbm_total *sum)
{
    __shared__ gbm_total shares[GBM_BESIDE_LANES][33];
    const int own = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int c = 0; c < CELLS; c++) {
        shares[warp][own] = sum[c];
        __syncthreads();
        for (int i = 1; warp == 0 && i < GBM_BESIDE_LANES; i++)
            sum[c] += shares[i][own];
        __syncthreads();
    }
}

/* The same of the blocks with parts of the unit, in the last of them to end:
 * whether this is it. */
template <int CELLS>
GBM_FN bool gbm_weighted_join(struct gbm_weighted_shares *all, long long unit,
                              int part, int parts, gbm_total *sum)
{
    __shared__ bool last;
    const int own = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long first = unit * parts;
    for (int c = 0; warp == 0 && c < CELLS; c++)
        all->sums[first + part][c][own] = sum[c];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&all->ended[unit], 1u) == (unsigned)parts - 1;
    __syncthreads();
    if (!last)
        return false;
    __threadfence();
    for (int c = 0; warp == 0 && c < CELLS; c++) {
        sum[c] = 0;
        for (int i = 0; i < parts; i++)
            sum[c] += all->sums[first + i][c][own];
    }
    if (threadIdx.x == 0)
        all->ended[unit] = 0;
    return true;
}

template <int CELLS, class TABLE>
GBM_FN void gbm_weighted_cells(const struct state &base, long long count,
                               int chains, struct gbm_weighted_shares *all)
{
    const int groups = TABLE::groups(&base), length = TABLE::last(&base);
    const int rows = TABLE::rows(&base), warps = (groups + 31) / 32;
    const int pieces = (length + CELLS - 1) / CELLS;
    const long long outers = count / ((long long)groups * length);
    const long long per_chain = outers * pieces * warps;
    const long long units = per_chain * chains;
    const long long shared =
        gridDim.x < GBM_WEIGHTED_SHARED ? gridDim.x : GBM_WEIGHTED_SHARED;
    const int parts = units * 2 > shared ? 1 : (int)(shared / units);
    for (long long b = blockIdx.x; b < units * parts; b += gridDim.x) {
        int chain;
        long long k;
        gbm_item(b / parts, per_chain, chains, &chain, &k);
        struct state s = base;
        shift_state(&s, chain);
        const int from = (int)(k % pieces) * CELLS;
        const int group = (int)(k / pieces / outers) * 32 + threadIdx.x % 32;
        const struct gbm_weighted_unit unit = {
            group < groups ? group : groups - 1,
            from + CELLS <= length ? from : length - CELLS,
            k / pieces % outers,
            (int)(b % parts),
            parts,
            group < groups};
        gbm_total sum[CELLS];
        gbm_weighted_sums<CELLS, TABLE>(&s, &unit, rows, sum);
        gbm_weighted_gather<CELLS>(sum);
        if (parts > 1 &&
            !gbm_weighted_join<CELLS>(all, b / parts, unit.part, parts, sum))
            continue;
        const long long first =
            (unit.group * outers + unit.outer) * length + unit.from;
        for (int c = 0; threadIdx.x < 32 && unit.exists && c < CELLS; c++)
            TABLE::put(&s, first + c, sum[c]);
    }
}

/* By as many cells a thread as the last loop has, or a part of them. */
template <class TABLE>
GBM_FN void gbm_weighted_table(const struct state &base, long long count,
                               int chains)
{
    static __device__ struct gbm_weighted_shares all;
    const int length = TABLE::last(&base);
    if (count == 0)
        return;
    if (length >= GBM_WEIGHTED_CELLS)
        gbm_weighted_cells<GBM_WEIGHTED_CELLS, TABLE>(base, count, chains,
                                                      &all);
    else if (length >= 3)
        gbm_weighted_cells<3, TABLE>(base, count, chains, &all);
    else
        gbm_weighted_cells<1, TABLE>(base, count, chains, &all);
}

#endif
