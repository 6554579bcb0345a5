/* weighted.h: a table whose cells are sums over all rows, each weighted in the
 * cell's group: sum over i of w[i,k] f(i, k, a, b). A warp has 32 groups, whose
 * weights lie side by side, and a tile of cells for each in registers, some of
 * the last loop's by some of those before, so that what a row has to be read
 * for serves many; a block's warps share out the rows, and so do blocks where
 * there are few cells: the last of them to end adds up what all have, in their
 * order. Most weights of a mixture are 0: each lane lists rows that are not,
 * and lanes go through their lists together, each with rows of its own. Where
 * marks say which are (weight_marks.h), no other weight is read, and in single
 * precision sums of products are products of matrices, of a group's rows at a
 * time (weighted_product.h). CUDA C; included by skeleton_cuda.h. */
#ifndef GBM_WEIGHTED_H
#define GBM_WEIGHTED_H

#include "weight_marks.h"
#include "weighted_product.h"

enum {
    GBM_WEIGHTED_WARPS = GBM_WEIGHTED_THREADS / 32,
    GBM_WEIGHTED_LAST = 16,    /* cells of the last loop, at most */
    GBM_WEIGHTED_CELLS = 112,  /* of a thread, at most */
    GBM_WEIGHTED_DOUBLES = 48, /* the same, of two words each */
    GBM_WEIGHTED_TOGETHER = 8, /* cells that warps add up at once */
    GBM_WEIGHTED_SHARED = 512, /* blocks that share sums, at most */
    GBM_WEIGHTED_AHEAD = 4,    /* rows that are listed at once */
    GBM_WEIGHTED_FEW = 16,     /* cells for which no list pays (H200) */
};

/* n in equal pieces of at most `most`, or nearly so: the size of one. */
__device__ constexpr int gbm_piece_of(int n, int most)
{
    return n <= most
               ? n
               : (n + (n + most - 1) / most - 1) / ((n + most - 1) / most);
}

/* A thread's cells; TABLE::outers and TABLE::lasts: how many cells the loops
 * between the group's and the last have, and the last. Of a symmetric matrix
 * these are a triangle, if there is room. */
template <class TABLE> struct gbm_weighted_tile {
    static constexpr int most = sizeof(gbm_total) == 4
                                    ? (int)GBM_WEIGHTED_CELLS
                                    : (int)GBM_WEIGHTED_DOUBLES;
    static constexpr bool triangle =
        TABLE::symmetric && TABLE::lasts <= GBM_WEIGHTED_LAST &&
        TABLE::lasts * (TABLE::lasts + 1) / 2 <= most;
    static constexpr int lasts = gbm_piece_of(TABLE::lasts, GBM_WEIGHTED_LAST);
    static constexpr int outers =
        triangle ? lasts : gbm_piece_of(TABLE::outers, most / lasts);
    static constexpr int cells =
        triangle ? lasts * (lasts + 1) / 2 : outers * lasts;
    static constexpr int last_pieces = (TABLE::lasts + lasts - 1) / lasts;
    static constexpr int outer_pieces = (TABLE::outers + outers - 1) / outers;
    /* By products of matrices, where there are tensor cores. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    static constexpr bool product = false;
#else
    static constexpr bool product =
        TABLE::marked && TABLE::apart && sizeof(gbm_total) == 4 &&
        TABLE::outers <= GBM_PRODUCT_SIDE && TABLE::lasts <= GBM_PRODUCT_SIDE &&
        outer_pieces * last_pieces == 1 && cells >= GBM_PRODUCT_LEAST;
#endif
    /* Cells of what is filled with it. */
    static constexpr int others = TABLE::more == GBM_WEIGHTED_COUNT   ? 1
                                  : TABLE::more == GBM_WEIGHTED_TAILS ? lasts
                                                                      : 0;
    static constexpr int all = cells + others;
    /* Rows that are read ahead; of counts alone more took longer (H200). */
    static constexpr int ahead = cells == 1 || cells > 32 ? 4 : 8;
    /* Listed rows that are read at once: where cells are few a lane waits. And
     * blocks that a multiprocessor has room for then. */
    static constexpr int rows = cells > 1 && cells <= GBM_WEIGHTED_FEW &&
                                        sizeof(gbm_total) == 4
                                    ? 2
                                    : 1;
    static constexpr int blocks = product ? 2 : rows;
    /* Number of a cell, of a triangle's with last >= outer. */
    static __device__ constexpr int number(int outer, int last)
    {
        return triangle ? last * (last + 1) / 2 + outer : outer * lasts + last;
    }
};

/* Rows of the lanes of a warp that have a weight. */
struct gbm_weighted_list {
    static constexpr int rows = sizeof(gbm_total) == 4 ? 12 : 8;
    gbm_total weight[rows][32];
    int row[rows][32];
};

/* Those that may have one, by marks. The longer it is, the more lanes are at
 * work when the first has no room. */
struct gbm_weighted_marked_list {
    static constexpr int rows = 28;
    int row[rows][32];
};

/* What a block shares: lists, then what warps have of some cells. */
union gbm_weighted_room {
    struct gbm_weighted_list lists[GBM_WEIGHTED_WARPS];
    struct gbm_weighted_marked_list marked[GBM_WEIGHTED_WARPS];
    gbm_total shares[GBM_WEIGHTED_TOGETHER][GBM_WEIGHTED_WARPS][32];
};

/* Whether products have a head more, and a tail more, that are 1. */
template <class TABLE> __device__ constexpr bool gbm_weighted_has_room(int more)
{
    return gbm_weighted_tile<TABLE>::product &&
           TABLE::outers < GBM_PRODUCT_SIDE &&
           (more != GBM_WEIGHTED_COUNT || TABLE::lasts < GBM_PRODUCT_SIDE);
}

template <bool FIRST, class A, class B> struct gbm_either {
    using type = A;
};
template <class A, class B> struct gbm_either<false, A, B> {
    using type = B;
};

template <class TABLE> struct gbm_weighted_shares {
    gbm_total sums[GBM_WEIGHTED_SHARED][gbm_weighted_tile<TABLE>::all][32];
    unsigned ended[GBM_WEIGHTED_SHARED];
};

/* The tile from cell `last` on of the last loop, `outer` of those before, of so
 * many parts of the rows. Where tiles do not fit, neighbours have some cells in
 * common. */
struct gbm_weighted_unit {
    int group, outer, last;
    int warp; /* groups are numbers 32 warp to 32 warp + 31 */
    int part, parts;
    bool exists;
};

template <class TABLE>
GBM_FN struct gbm_weighted_unit gbm_weighted_unit_of(long long k, int groups)
{
    using tile = gbm_weighted_tile<TABLE>;
    const int last = (int)(k % tile::last_pieces) * tile::lasts;
    const long long rest = k / tile::last_pieces;
    const int outer = (int)(rest % tile::outer_pieces) * tile::outers;
    const int warp = (int)(rest / tile::outer_pieces);
    const int group = warp * 32 + (int)threadIdx.x % 32;
    struct gbm_weighted_unit unit = {group, outer, last,          warp,
                                     0,     1,     group < groups};
    if (group >= groups)
        unit.group = groups - 1;
    if (outer + tile::outers > TABLE::outers)
        unit.outer = TABLE::outers - tile::outers;
    if (last + tile::lasts > TABLE::lasts)
        unit.last = TABLE::lasts - tile::lasts;
    return unit;
}

/* TABLE has the functions that emit/tally_weighted.c writes as static members:
 * weight; still, what all rows read of a cell of the last loop; head and tail,
 * whose product a row adds to a cell; put. */
template <class TABLE>
GBM_FN void gbm_weighted_add(const struct state *s,
                             const struct gbm_weighted_unit *u,
                             const gbm_total *still, gbm_total weight, int row,
                             gbm_total *sum)
{
    using tile = gbm_weighted_tile<TABLE>;
#pragma unroll
    for (int a = 0; a < tile::outers; a++) {
        const int outer = u->outer + a;
        gbm_total own = 0;
        if (tile::triangle)
            own = still[a];
        else if (TABLE::symmetric)
            own = TABLE::still(s, u->group, outer);
        const gbm_total head =
            weight * TABLE::head(s, u->group, outer, row, own);
#pragma unroll
        for (int b = tile::triangle ? a : 0; b < tile::lasts; b++)
            sum[tile::number(a, b)] = gbm_multiply_add(
                head,
                TABLE::tail(s, u->group, outer, u->last + b, row, still[b]),
                sum[tile::number(a, b)]);
    }
}

/* The same of tile::rows rows at once; what has no weight is read, too. */
template <class TABLE>
GBM_FN void
gbm_weighted_add_few(const struct state *s, const struct gbm_weighted_unit *u,
                     const gbm_total *still, const gbm_total *weight,
                     const int *row, gbm_total *sum)
{
    using tile = gbm_weighted_tile<TABLE>;
#pragma unroll
    for (int i = 0; i < tile::rows; i++) {
        gbm_total next[tile::cells];
#pragma unroll
        for (int c = 0; c < tile::cells; c++)
            next[c] = sum[c];
        gbm_weighted_add<TABLE>(s, u, still, weight[i], row[i], next);
#pragma unroll
        for (int c = 0; c < tile::cells; c++)
            sum[c] = weight[i] != 0 ? next[c] : sum[c];
    }
}

template <class TABLE>
GBM_FN void gbm_weighted_still(const struct state *s,
                               const struct gbm_weighted_unit *u,
                               gbm_total *still)
{
    using tile = gbm_weighted_tile<TABLE>;
#pragma unroll
    for (int b = 0; b < tile::lasts; b++)
        still[b] = TABLE::still(s, u->group, u->last + b);
}

template <class TABLE>
GBM_FN void gbm_weighted_all(const struct state *s,
                             const struct gbm_weighted_unit *u, int first,
                             int step, int rows, gbm_total *sum)
{
    using tile = gbm_weighted_tile<TABLE>;
    gbm_total still[tile::lasts];
    gbm_weighted_still<TABLE>(s, u, still);
#pragma unroll(tile::ahead)
    for (int row = first; row < rows; row += step)
        gbm_weighted_add<TABLE>(s, u, still, TABLE::weight(s, u->group, row),
                                row, sum);
}

/* The same by the lanes' lists, once one may be too short for what is next. */
template <class TABLE>
GBM_FN void gbm_weighted_listed(const struct state *s,
                                const struct gbm_weighted_unit *u, int first,
                                int step, int rows,
                                struct gbm_weighted_list *list, gbm_total *sum)
{
    enum { AHEAD = GBM_WEIGHTED_AHEAD };
    const int own = (int)threadIdx.x % 32;
    gbm_total still[gbm_weighted_tile<TABLE>::lasts];
    gbm_weighted_still<TABLE>(s, u, still);
    int listed = 0;
    for (int from = first; from < rows; from += AHEAD * step) {
        gbm_total weight[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int row = from + i * step;
            weight[i] = row < rows ? TABLE::weight(s, u->group, row) : 0;
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            if (weight[i] != 0) {
                list->weight[listed][own] = weight[i];
                list->row[listed][own] = from + i * step;
                listed++;
            }
        const bool last = from >= rows - AHEAD * step;
        if (!last && !__ballot_sync(0xffffffffu, listed > list->rows - AHEAD))
            continue;
        for (int i = 0; __ballot_sync(0xffffffffu, i < listed); i++)
            if (i < listed)
                gbm_weighted_add<TABLE>(s, u, still, list->weight[i][own],
                                        list->row[i][own], sum);
        listed = 0;
    }
}

/* A lane's rows from number i on with their weights, some rows ahead. */
template <class TABLE>
GBM_FN gbm_total gbm_weighted_next(const struct state *s,
                                   const struct gbm_weighted_unit *u,
                                   const struct gbm_weighted_marked_list *list,
                                   int i, int listed)
{
    const int own = (int)threadIdx.x % 32;
    return i < listed ? TABLE::weight(s, u->group, list->row[i][own]) : 0;
}

/* Adds the rows that the lanes list, `listed` the calling one. Weights are read
 * some rows ahead. */
template <class TABLE>
GBM_FN void gbm_weighted_settle(const struct state *s,
                                const struct gbm_weighted_unit *u,
                                const struct gbm_weighted_marked_list *list,
                                int listed, gbm_total *sum)
{
    enum { AHEAD = GBM_WEIGHTED_AHEAD, ROWS = gbm_weighted_tile<TABLE>::rows };
    const int own = (int)threadIdx.x % 32;
    gbm_total weight[AHEAD], still[gbm_weighted_tile<TABLE>::lasts];
    gbm_weighted_still<TABLE>(s, u, still);
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        weight[i] = gbm_weighted_next<TABLE>(s, u, list, i, listed);
    for (int i = 0; i < listed; i += ROWS) {
        gbm_total now[ROWS];
        int row[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            now[k] = weight[k];
            row[k] = list->row[i + k < listed ? i + k : i][own];
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            weight[k] = k + ROWS < AHEAD
                            ? weight[k + ROWS]
                            : gbm_weighted_next<TABLE>(s, u, list, i + ROWS + k,
                                                       listed);
        if (ROWS > 1)
            gbm_weighted_add_few<TABLE>(s, u, still, now, row, sum);
        else if (now[0] != 0)
            gbm_weighted_add<TABLE>(s, u, still, now[0], row[0], sum);
    }
    __syncwarp();
}

/* Which of the warp's groups row number `row` may have a weight in. */
template <class TABLE>
GBM_FN uint32_t gbm_weighted_word(const struct state *s,
                                  const struct gbm_weighted_unit *u, int row,
                                  int rows)
{
    if (row >= rows)
        return 0;
    const struct gbm_marks marks = TABLE::marks(s, row);
    return ~marks.first[u->warp * (long long)marks.step];
}

/* The same where marks say which rows have a weight: a lane has those of a row,
 * for all groups of the warp, some rows ahead, and gets those of its group for
 * 32 rows. */
template <class TABLE>
GBM_FN void
gbm_weighted_marked(const struct state *s, const struct gbm_weighted_unit *u,
                    int first, int step, int rows,
                    struct gbm_weighted_marked_list *list, gbm_total *sum)
{
    enum { AHEAD = GBM_WEIGHTED_AHEAD };
    const int own = (int)threadIdx.x % 32;
    const int each = 32 * step;
    uint32_t word[AHEAD];
    int listed = 0;
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        word[i] =
            gbm_weighted_word<TABLE>(s, u, 32 * first + own + i * each, rows);
    for (int from = 32 * first; from < rows; from += each) {
        uint32_t left = gbm_marks_turn(word[0]);
        const bool last = from >= rows - each;
#pragma unroll
        for (int i = 1; i < AHEAD; i++)
            word[i - 1] = word[i];
        word[AHEAD - 1] =
            gbm_weighted_word<TABLE>(s, u, from + own + AHEAD * each, rows);
        for (;;) {
            for (; left && listed < list->rows; left &= left - 1)
                list->row[listed++][own] = from + __ffs((int)left) - 1;
            const bool more = __ballot_sync(0xffffffffu, left != 0);
            if (!more && !last)
                break;
            gbm_weighted_settle<TABLE>(s, u, list, listed, sum);
            listed = 0;
            if (!more)
                break;
        }
    }
}

template <class TABLE>
GBM_FN void gbm_weighted_sums(const struct state *s,
                              const struct gbm_weighted_unit *u, int rows,
                              union gbm_weighted_room *room, gbm_total *sum)
{
    using tile = gbm_weighted_tile<TABLE>;
    const int warp = (int)threadIdx.x / 32;
    const int step = u->parts * GBM_WEIGHTED_WARPS;
    const int first = u->part * GBM_WEIGHTED_WARPS + warp;
#pragma unroll
    for (int c = 0; c < tile::cells; c++)
        sum[c] = 0;
    if constexpr (TABLE::marked)
        gbm_weighted_marked<TABLE>(s, u, first, step, rows, &room->marked[warp],
                                   sum);
    else if constexpr (tile::cells <= GBM_WEIGHTED_FEW)
        gbm_weighted_all<TABLE>(s, u, first, step, rows, sum);
    else
        gbm_weighted_listed<TABLE>(s, u, first, step, rows, &room->lists[warp],
                                   sum);
    __syncthreads(); /* lists are done with */
}

/* What the warps of the block have of each cell, added up: each(c, sum) is
 * called for cell c by the lanes of one warp. */
template <int CELLS, class EACH>
GBM_FN void gbm_weighted_gather(const gbm_total *sum,
                                union gbm_weighted_room *room, EACH each)
{
    enum { TOGETHER = GBM_WEIGHTED_TOGETHER, WARPS = GBM_WEIGHTED_WARPS };
    const int own = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int from = 0; from < CELLS; from += TOGETHER) {
#pragma unroll
        for (int i = 0; i < TOGETHER; i++)
            if (from + i < CELLS)
                room->shares[i][warp][own] = sum[from + i];
        __syncthreads();
        for (int i = warp; i < TOGETHER && from + i < CELLS; i += WARPS) {
            gbm_total total = 0;
#pragma unroll
            for (int w = 0; w < WARPS; w++)
                total += room->shares[i][w][own];
            each(from + i, total);
        }
        __syncthreads();
    }
}

/* Whether the calling block is the last one with parts of the unit to end. */
GBM_FN bool gbm_weighted_ends(unsigned *ended, int parts)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(ended, 1u) == (unsigned)parts - 1;
        if (last)
            *ended = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
}

template <class TABLE>
GBM_FN void gbm_weighted_put(const struct state *s,
                             const struct gbm_weighted_unit *u, int cell,
                             gbm_total sum)
{
    using tile = gbm_weighted_tile<TABLE>;
    const long long first = u->group * (long long)TABLE::outers;
    int outer = cell / tile::lasts, last = cell % tile::lasts;
    if (!u->exists)
        return;
    if (cell >= tile::cells) {
        TABLE::put_more(
            s, u->group * (long long)tile::others + cell - tile::cells, sum);
        return;
    }
    if (tile::triangle) {
        for (last = 0; tile::number(0, last + 1) <= cell;)
            last++;
        outer = cell - tile::number(0, last);
        TABLE::put(s, (first + last) * TABLE::lasts + outer, sum);
    }
    TABLE::put(s, (first + u->outer + outer) * TABLE::lasts + u->last + last,
               sum);
}

/* The sums of a part of the rows in the cells of a unit: each(c, sum) is called
 * for cell c by the lanes of one warp. */
template <class TABLE, class EACH>
GBM_FN void gbm_weighted_by_threads(const struct state *s,
                                    const struct gbm_weighted_unit *u, int rows,
                                    EACH each)
{
    enum { CELLS = gbm_weighted_tile<TABLE>::cells };
    __shared__ union gbm_weighted_room room;
    gbm_total sum[CELLS];
    gbm_weighted_sums<TABLE>(s, u, rows, &room, sum);
    gbm_weighted_gather<CELLS>(sum, &room, each);
}

/* The same by products: a block marks which of some rows have a weight in each
 * group, then each warp takes
 * one of the groups after the other: sums are the same whoever does. */
template <class TABLE, class EACH>
GBM_FN void gbm_weighted_by_products(const struct state *s,
                                     const struct gbm_weighted_unit *u,
                                     int rows, EACH each)
{
    using tile = gbm_weighted_tile<TABLE>;
    enum { CELLS = tile::all, WARPS = GBM_WEIGHTED_WARPS };
    __shared__ struct gbm_product_room<CELLS, WARPS> room;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int first = u->warp * 32, groups = TABLE::groups(s) - first;
    for (int i = threadIdx.x; i < 32 * CELLS; i += blockDim.x)
        room.sums[i % 32][i / 32] = 0;
    for (int from = u->part * GBM_PRODUCT_ROWS; from < rows;
         from += u->parts * GBM_PRODUCT_ROWS) {
        for (int k = warp; k < GBM_PRODUCT_ROWS / 32; k += WARPS)
            room.rows[k][lane] = gbm_marks_turn(
                gbm_weighted_word<TABLE>(s, u, from + 32 * k + lane, rows));
        if (threadIdx.x == 0)
            room.next = 0;
        __syncthreads();
        for (;;) {
            int g = 0;
            if (lane == 0)
                g = (int)atomicAdd(&room.next, 1u);
            g = __shfl_sync(0xffffffffu, g, 0);
            if (g >= 32 || g >= groups)
                break;
            gbm_product_add<TABLE, tile>(s, first + g, from, room.rows[lane][g],
                                         &room.lists[warp], room.sums[g]);
        }
        __syncthreads();
    }
    __syncthreads();
    for (int c = warp; c < CELLS; c += WARPS)
        each(c, room.sums[lane][c]);
    __syncthreads(); /* the next part begins anew */
}

/* A part of the rows for the tile of a unit. */
template <class TABLE>
GBM_FN void gbm_weighted_part(const struct state *s,
                              const struct gbm_weighted_unit *u, int rows,
                              long long number,
                              struct gbm_weighted_shares<TABLE> *all)
{
    using tile = gbm_weighted_tile<TABLE>;
    const int own = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long first = number * u->parts;
    const auto each = [&](int c, gbm_total total) {
        if (u->parts == 1)
            gbm_weighted_put<TABLE>(s, u, c, total);
        else
            all->sums[first + u->part][c][own] = total;
    };
    if constexpr (tile::product)
        gbm_weighted_by_products<TABLE>(s, u, rows, each);
    else
        gbm_weighted_by_threads<TABLE>(s, u, rows, each);
    if (u->parts == 1 || !gbm_weighted_ends(&all->ended[number], u->parts))
        return;
    for (int c = warp; c < tile::all; c += GBM_WEIGHTED_WARPS) {
        gbm_total total = 0;
#pragma unroll 8
        for (int i = 0; i < u->parts; i++)
            total += all->sums[first + i][c][own];
        gbm_weighted_put<TABLE>(s, u, c, total);
    }
}

template <class TABLE>
GBM_FN void gbm_weighted_table(const struct state &base, long long count,
                               int chains)
{
    static __device__ struct gbm_weighted_shares<TABLE> all;
    using tile = gbm_weighted_tile<TABLE>;
    if (count == 0)
        return;
    const int groups = TABLE::groups(&base), rows = TABLE::rows(&base);
    const long long per_chain =
        (groups + 31) / 32 * (long long)tile::outer_pieces * tile::last_pieces;
    const long long units = per_chain * chains;
    const long long shared =
        gridDim.x < GBM_WEIGHTED_SHARED ? gridDim.x : GBM_WEIGHTED_SHARED;
    const int parts = units * 2 > shared ? 1 : (int)(shared / units);
    for (long long b = blockIdx.x; b < units * parts; b += gridDim.x) {
        int chain;
        long long k;
        gbm_item(b / parts, per_chain, chains, &chain, &k);
        struct state s = base;
        GBM_KNOWS(&s);
        shift_state(&s, chain);
        struct gbm_weighted_unit unit = gbm_weighted_unit_of<TABLE>(k, groups);
        unit.part = (int)(b % parts);
        unit.parts = parts;
        gbm_weighted_part<TABLE>(&s, &unit, rows, b / parts, &all);
    }
}

/* The kernel's, by a table; one may have been filled with another already. */
template <class TABLE>
GBM_FN void gbm_weighted_run(const TABLE *, const struct state &base,
                             long long count, int chains)
{
    gbm_weighted_table<TABLE>(base, count, chains);
}

struct gbm_weighted_filled;
template <> struct gbm_weighted_tile<gbm_weighted_filled> {
    static constexpr int blocks = 1;
};
GBM_FN void gbm_weighted_run(const struct gbm_weighted_filled *,
                             const struct state &, long long, int)
{
}

#endif
