/* weighted_product.h: of a group's rows that have a weight, the sums of w[i]
 * head(i, a) tail(i, b) for all a and b are a product of matrices, [a x rows]
 * [rows x b], which a warp computes on tensor cores, 8 rows at a time, by a
 * list of these rows. A number is the sum of two of 11 bits each, as tensor
 * cores multiply those; of the four products that of the two lower parts is too
 * small to count. Sums of 16 rows are added up in ordinary arithmetic: tensor
 * cores cut off what they add. CUDA C; included by weighted.h. */
#ifndef GBM_WEIGHTED_PRODUCT_H
#define GBM_WEIGHTED_PRODUCT_H

#include "tensor.h"

enum {
    GBM_PRODUCT_SIDE = 16,    /* values of a, and of b, at most */
    GBM_PRODUCT_LEAST = 8,    /* cells for which it pays */
    GBM_PRODUCT_ROWS = 1024,  /* that are listed at once */
    GBM_PRODUCT_WEIGHTS = 64, /* of listed rows, that are read at once */
    GBM_PRODUCT_STEPS = 2     /* 8 rows each that are read at once */
};

/* What a table that is filled with another one has: sums of the weights, or of
 * the weighted tails; nothing. */
enum { GBM_WEIGHTED_ALONE, GBM_WEIGHTED_COUNT, GBM_WEIGHTED_TAILS };

/* Of a warp: rows of a group, numbers from the first, some more than there are;
 * and weights of some of them. */
struct gbm_product_list {
    gbm_total weight[GBM_PRODUCT_WEIGHTS];
    unsigned short row[GBM_PRODUCT_ROWS + 8 * GBM_PRODUCT_STEPS];
};

/* What a block shares: of 32 groups, their sums and which rows have a weight, a
 * bit each. */
template <int CELLS, int WARPS> struct gbm_product_room {
    gbm_total sums[32][CELLS | 1];
    uint32_t rows[GBM_PRODUCT_ROWS / 32][33];
    struct gbm_product_list lists[WARPS];
    unsigned next; /* group that no warp has taken */
};

/* Lists the numbers of the bits of all lanes' words; what is read behind them
 * is the first once more. Returns how many there are. */
GBM_FN int gbm_product_rows_of(uint32_t word, struct gbm_product_list *list)
{
    const int lane = threadIdx.x % 32, mine = __popc(word);
    int last = mine;
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(0xffffffffu, last, step);
        last += lane >= step ? before : 0;
    }
    const int n = __shfl_sync(0xffffffffu, last, 31);
    for (int k = last - mine; word; word &= word - 1)
        list->row[k++] = (unsigned short)(32 * lane + __ffs((int)word) - 1);
    __syncwarp();
    if (lane < 8 * GBM_PRODUCT_STEPS && n > 0)
        list->row[n + lane] = list->row[0];
    return n;
}

/* Reads the weights of listed rows from number `from` on, of n: 0 behind them.
 */
template <class TABLE>
GBM_FN void gbm_product_weights(const struct state *s, int group, int first,
                                struct gbm_product_list *list, int from, int n)
{
    __syncwarp();
#pragma unroll
    for (int i = 0; i < GBM_PRODUCT_WEIGHTS; i += 32) {
        const int k = i + (int)threadIdx.x % 32;
        list->weight[k] =
            from + k < n ? TABLE::weight(s, group, first + list->row[from + k])
                         : 0;
    }
    __syncwarp();
}

/* Lane 4 g + t has a = g and g + 8, b = g and g + 8, rows t and t + 4. */
struct gbm_product_rows {
    float heads[4], tails[4];
};

/* Heads and tails of a table, with one of each that is 1, if need be, for what
 * is filled with it. */
template <class TABLE> struct gbm_product {
    static constexpr bool one_head = TABLE::more != 0;
    static constexpr bool one_tail = TABLE::more == GBM_WEIGHTED_COUNT;
    static constexpr int heads = TABLE::outers + one_head;
    static constexpr int tails = TABLE::lasts + one_tail;
    static constexpr int halves = tails > 8 ? 2 : 1;
};

struct gbm_product_still {
    gbm_total head[2], tail[2];
};

/* The lane's cell of a half, and the one of the table that it reads. */
GBM_FN int gbm_product_cell(int half)
{
    return (int)threadIdx.x % 32 / 4 + 8 * half;
}

GBM_FN int gbm_product_among(int cell, int cells)
{
    return cell < cells ? cell : cells - 1;
}

template <class TABLE>
GBM_FN struct gbm_product_still gbm_product_still_of(const struct state *s,
                                                     int group)
{
    struct gbm_product_still still;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int a = gbm_product_among(gbm_product_cell(h), TABLE::outers);
        const int b = gbm_product_among(gbm_product_cell(h), TABLE::lasts);
        still.head[h] = TABLE::symmetric ? TABLE::still(s, group, a) : 0;
        still.tail[h] = TABLE::still(s, group, b);
    }
    return still;
}

/* What the lane has of a row's heads and tails, of which there may be one more
 * than the table has. */
template <class TABLE>
GBM_FN gbm_total gbm_product_head(const struct state *s, int group, int half,
                                  int row,
                                  const struct gbm_product_still *still)
{
    constexpr bool one = gbm_product<TABLE>::one_head;
    const int a = gbm_product_cell(half);
    if (one && half == TABLE::outers / 8 && a == TABLE::outers)
        return 1;
    return TABLE::head(s, group, gbm_product_among(a, TABLE::outers), row,
                       still->head[half]);
}

template <class TABLE>
GBM_FN gbm_total gbm_product_tail(const struct state *s, int group, int half,
                                  int row,
                                  const struct gbm_product_still *still)
{
    constexpr bool one = gbm_product<TABLE>::one_tail;
    const int b = gbm_product_cell(half);
    if (one && half == TABLE::lasts / 8 && b == TABLE::lasts)
        return 1;
    return TABLE::tail(s, group, 0, gbm_product_among(b, TABLE::lasts), row,
                       still->tail[half]);
}

/* Reads 8 listed rows, from number `from` on. */
template <class TABLE>
GBM_FN void gbm_product_read(const struct state *s, int group, int first,
                             const struct gbm_product_list *list, int from,
                             const struct gbm_product_still *still,
                             struct gbm_product_rows *x)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int k = from + (int)threadIdx.x % 4 + 4 * i;
        const int row = first + list->row[k];
        const gbm_total weight = list->weight[k % GBM_PRODUCT_WEIGHTS];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            gbm_total head = 0, tail = 0;
            if (8 * h < gbm_product<TABLE>::heads)
                head =
                    weight * gbm_product_head<TABLE>(s, group, h, row, still);
            if (8 * h < gbm_product<TABLE>::tails)
                tail = gbm_product_tail<TABLE>(s, group, h, row, still);
            x->heads[2 * i + h] = (float)head;
            x->tails[2 * h + i] = (float)tail;
        }
    }
}

/* sum[h]: of b from 8 h on; small products first. */
template <int HALVES>
GBM_FN void gbm_product_multiply(const struct gbm_product_rows *x,
                                 float (&sum)[2][4])
{
    const struct gbm_four_in_parts a = gbm_four_in_parts_of(x->heads);
    const struct gbm_four_in_parts b = gbm_four_in_parts_of(x->tails);
#pragma unroll
    for (int h = 0; h < HALVES; h++)
        gbm_matrix_multiply(sum[h], a.lower, b.upper[2 * h],
                            b.upper[2 * h + 1]);
#pragma unroll
    for (int h = 0; h < HALVES; h++)
        gbm_matrix_multiply(sum[h], a.upper, b.lower[2 * h],
                            b.lower[2 * h + 1]);
#pragma unroll
    for (int h = 0; h < HALVES; h++)
        gbm_matrix_multiply(sum[h], a.upper, b.upper[2 * h],
                            b.upper[2 * h + 1]);
}

/* Adds listed rows from number `from` up to number `to` to the sums that lanes
 * have. */
template <class TABLE>
GBM_FN void gbm_product_some(const struct state *s, int group, int first,
                             const struct gbm_product_list *list, int from,
                             int to, const struct gbm_product_still *still,
                             float (&total)[2][4])
{
    for (; from < to; from += 8 * GBM_PRODUCT_STEPS) {
        struct gbm_product_rows x[GBM_PRODUCT_STEPS];
        float sum[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
        for (int k = 0; k < GBM_PRODUCT_STEPS; k++)
            gbm_product_read<TABLE>(s, group, first, list, from + 8 * k, still,
                                    &x[k]);
#pragma unroll
        for (int k = 0; k < GBM_PRODUCT_STEPS; k++)
            gbm_product_multiply<gbm_product<TABLE>::halves>(&x[k], sum);
#pragma unroll
        for (int i = 0; i < 8; i++)
            total[i / 4][i % 4] += sum[i / 4][i % 4];
    }
}

/* The cell of what is a sum of these; -1: nothing asks for it. */
template <class TABLE, class TILE>
GBM_FN int gbm_product_number(int outer, int last)
{
    if (outer < TABLE::outers && last < TABLE::lasts)
        return TILE::triangle && outer > last ? -1 : TILE::number(outer, last);
    if (TABLE::more == GBM_WEIGHTED_COUNT)
        return outer == TABLE::outers && last == TABLE::lasts ? TILE::cells
                                                              : -1;
    return TABLE::more == GBM_WEIGHTED_TAILS && outer == TABLE::outers &&
                   last < TABLE::lasts
               ? TILE::cells + last
               : -1;
}

/* Adds a group's rows to its sums, by a warp; rows: the lane's 32 of them from
 * number `first` on that have a weight. */
template <class TABLE, class TILE>
GBM_FN void gbm_product_add(const struct state *s, int group, int first,
                            uint32_t rows, struct gbm_product_list *list,
                            gbm_total *sums)
{
    enum { WEIGHTS = GBM_PRODUCT_WEIGHTS };
    const int lane = threadIdx.x % 32, n = gbm_product_rows_of(rows, list);
    if (n == 0)
        return;
    const struct gbm_product_still still =
        gbm_product_still_of<TABLE>(s, group);
    float total[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (int from = 0; from < n; from += WEIGHTS) {
        gbm_product_weights<TABLE>(s, group, first, list, from, n);
        gbm_product_some<TABLE>(s, group, first, list, from,
                                n - from < WEIGHTS ? n : from + WEIGHTS, &still,
                                total);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int outer = lane / 4 + i % 4 / 2 * 8;
        const int last = i / 4 * 8 + lane % 4 * 2 + i % 2;
        const int cell = gbm_product_number<TABLE, TILE>(outer, last);
        if (cell >= 0)
            sums[cell] += total[i / 4][i % 4];
    }
    __syncwarp(); /* the list is done with */
}

#endif
