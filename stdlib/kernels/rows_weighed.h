/* rows_weighed.h: a discrete node in expectation (expectation.h), as rows of
 * rows_cuda.h: a thread has GBM_ROWS of them, whose log densities a warp leaves
 * where the weights are to be, some values of all its rows at a time, as these
 * lie side by side in memory; then it goes through a row at a time, by what
 * the row is normed by. CUDA C; included by skeleton_cuda.h. */
#ifndef GBM_ROWS_WEIGHED_H
#define GBM_ROWS_WEIGHED_H

#include "weight_marks.h"
#include "rows_cuda.h"

/* What the densities of a row have come to. */
struct gbm_row_sum {
    real most;
    gbm_total sum; /* of shares of the largest one */
    int best;
    bool wrong; /* some is no number: the row is done by itself */
};

/* Returns the density, -infinity if it is no number. */
GBM_FN real gbm_row_weigh(struct gbm_row_sum *w, int k, real value)
{
    const bool larger = value > w->most, some = value > -GBM_INF;
    const real share = real_exp(larger ? w->most - value : value - w->most);
    w->sum = larger ? w->sum * share + 1 : w->sum + (some ? share : 0);
    w->best = larger ? k : w->best;
    w->most = larger ? value : w->most;
    w->wrong = w->wrong || value != value;
    return value == value ? value : -GBM_INF;
}

/* A row that is wrong by itself: no random number is asked for. */
template <class TRIALS>
GBM_FN void gbm_row_expect(const struct state *s, long long element, int values)
{
    const struct gbm_marks marks = TRIALS::marks(s, element);
    struct gbm_rng none;
    gbm_marks_clear(&marks, values);
    gbm_rng_start(&none, 0, 0, 0, 0, 0);
    TRIALS::update(s, &none, element, 0);
}

/* Lesser weights are 0, which sums pass over: those of a million rows are
 * together less than rounding takes from a sum of 4,000. */
#ifdef GBM_SINGLE
#define GBM_WEIGHED_LEAST REAL_C(2.3283064365386963e-10) /* 2^-32 */
#else
#define GBM_WEIGHED_LEAST 5.421010862427522e-20 /* 2^-64 */
#endif

enum { GBM_WEIGHED_THREADS = 128, GBM_WEIGHED_TILE = 16384 /* bytes */ };

/* A warp's rows: row number r of lane l is number 32 r + l. */
struct gbm_weighed_rows {
    enum {
        COUNT = 32 * GBM_ROWS,
        VALUES = 128 / ((int)sizeof(real) * GBM_ROWS), /* at a time */
    };
    real *weights[COUNT]; /* NULL: there is no such row */
    struct gbm_marks marks[COUNT];
    real most[COUNT], norm[COUNT];
    real logs[COUNT][VALUES + 1];
};

/* Stores the log densities of n values, from value number `first` on. */
GBM_FN void gbm_weighed_store(const struct gbm_weighed_rows *w, int first,
                              int n)
{
    enum { VALUES = gbm_weighed_rows::VALUES };
    __syncwarp();
    for (int i = threadIdx.x % 32; i < gbm_weighed_rows::COUNT * VALUES;
         i += 32) {
        const int row = i / VALUES, k = i % VALUES;
        if (k < n && w->weights[row])
            w->weights[row][first + k] = w->logs[row][k];
    }
    __syncwarp();
}

/* A weight of what is normed so. */
GBM_FN real gbm_weighed_weight(real log, real most, real norm)
{
    const real weight = norm > 0 ? real_exp(log - most) * norm : 0;
    return weight < GBM_WEIGHED_LEAST ? 0 : weight;
}

/* Makes weights of n log densities of each row, and marks those that are 0. */
GBM_FN void gbm_weighed_norm(const struct gbm_weighed_rows *w, int n)
{
    enum { TOGETHER = 8 };
    const int lane = threadIdx.x % 32;
    __syncwarp();
    for (int row = 0; row < gbm_weighed_rows::COUNT; row++) {
        real *weights = w->weights[row];
        const struct gbm_marks marks = w->marks[row];
        const real most = w->most[row], norm = w->norm[row];
        for (int from = 0; weights && from < n; from += 32 * TOGETHER) {
            real log[TOGETHER];
            GBM_UNROLL
            for (int i = 0; i < TOGETHER; i++) {
                const int k = from + 32 * i + lane;
                log[i] = k < n ? weights[k] : -GBM_INF;
            }
            GBM_UNROLL
            for (int i = 0; i < TOGETHER; i++) {
                const int k = from + 32 * i + lane;
                const real weight = gbm_weighed_weight(log[i], most, norm);
                if (k < n)
                    weights[k] = weight;
                if (!marks.first || k - lane >= n)
                    continue;
                const uint32_t none =
                    __ballot_sync(0xffffffffu, k >= n || weight == 0);
                if (lane == 0)
                    marks.first[k / 32 * (long long)marks.step] = none;
            }
        }
    }
    __syncwarp();
}

/* Goes through the values, for the calling thread's rows, whose columns are x;
 * values: what they tell. */
template <class TRIALS>
GBM_FN void gbm_weighed_try(const typename TRIALS::layout *at,
                            const gbm_total *values, const gbm_total *x,
                            struct gbm_row_sum *sum, struct gbm_weighed_rows *w)
{
    constexpr int room = TRIALS::layout::room;
    constexpr int stride = gbm_row_stride(TRIALS::layout::values);
    enum {
        CELLS = GBM_WEIGHED_TILE / (int)sizeof(gbm_total),
        TOGETHER = gbm_weighed_rows::VALUES,
        ALL = CELLS / stride,
        TILED = ALL > TOGETHER ? ALL / TOGETHER * TOGETHER : ALL,
    };
    alignas(16) __shared__ gbm_total tile[CELLS];
    gbm_total own[(room > 0 ? room : 1) * GBM_ROWS];
    for (int k = at->first; k <= at->last; k += TILED) {
        const int n = at->last - k < TILED ? at->last - k + 1 : TILED;
        __syncthreads();
        gbm_row_copy(values + (long long)(k - at->first) * stride, n * stride,
                     tile);
        __syncthreads();
        for (int from = 0; from < n; from += TOGETHER) {
            const int some = n - from < TOGETHER ? n - from : TOGETHER;
            for (int i = 0; i < some; i++) {
                gbm_total density[GBM_ROWS];
                TRIALS::trial(at, tile + (from + i) * stride, x, own, density);
                GBM_EACH_ROW
                w->logs[32 * r + threadIdx.x % 32][i] =
                    gbm_row_weigh(&sum[r], k + from + i, (real)density[r]);
            }
            gbm_weighed_store(w, k + from - at->first, some);
        }
    }
}

/* What the calling thread's row came to, and how it is to be normed. A row that
 * is wrong is done by itself. */
template <class TRIALS>
GBM_FN void gbm_weighed_end(const struct state *s, long long element,
                            const struct gbm_row_sum *sum, real *total, int row,
                            int values, struct gbm_weighed_rows *w)
{
    const bool any = gbm_is_finite(sum->most);
    w->most[row] = sum->most;
    w->norm[row] = any ? 1 / (real)sum->sum : 0;
    if (!w->weights[row])
        return;
    if (sum->wrong) {
        gbm_row_expect<TRIALS>(s, element, values);
        w->weights[row] = NULL;
    } else {
        *total = any ? sum->most + real_log((real)sum->sum) : sum->most;
        TRIALS::put(s, element, sum->best);
    }
}

/* As gbm_rows_by_thread; TRIALS has weights(s, element, &total), too. */
template <class TRIALS>
__device__ void gbm_rows_weighed(const struct state &base, const int *elements,
                                 long long first, long long count, int chains,
                                 const gbm_total *table)
{
    __shared__ struct gbm_weighed_rows rows[GBM_WEIGHED_THREADS / 32];
    using layout = typename TRIALS::layout;
    constexpr int columns = layout::columns;
    constexpr int stride = gbm_row_stride(layout::values);
    const int lane = threadIdx.x % 32;
    struct gbm_weighed_rows *w = &rows[threadIdx.x / 32];
    const long long each = (long long)blockDim.x * GBM_ROWS;
    const long long blocks = (count + each - 1) / each;
    for (long long b = blockIdx.x; b < blocks * chains; b += gridDim.x) {
        int chain;
        long long block;
        gbm_item(b, blocks, chains, &chain, &block);
        struct state s = base;
        shift_state(&s, chain);
        layout at;
        TRIALS::lay_out(&s, &at);
        gbm_total x[(columns > 0 ? columns : 1) * GBM_ROWS];
        struct gbm_row_sum sum[GBM_ROWS];
        long long element[GBM_ROWS];
        real *total[GBM_ROWS];
        GBM_EACH_ROW
        {
            long long k = block * each + r * blockDim.x + threadIdx.x;
            const bool exists = k < count;
            k = first + (exists ? k : count - 1);
            element[r] = elements ? elements[k] : k;
            real *weights = TRIALS::weights(&s, element[r], &total[r]);
            w->weights[32 * r + lane] = exists ? weights : NULL;
            w->marks[32 * r + lane] = TRIALS::marks(&s, element[r]);
            sum[r].most = -GBM_INF;
            sum[r].sum = 0;
            sum[r].best = at.first;
            sum[r].wrong = false;
            TRIALS::columns(&s, &at, element[r], x + r);
        }
        const int n = at.last - at.first + 1;
        gbm_weighed_try<TRIALS>(&at, table + (long long)chain * n * stride, x,
                                sum, w);
        GBM_EACH_ROW
        gbm_weighed_end<TRIALS>(&s, element[r], &sum[r], total[r],
                                32 * r + lane, n, w);
        gbm_weighed_norm(w, n);
    }
}

#endif
