/* rows_weighed.h: a discrete node in expectation (expectation.h), as rows of
 * rows_cuda.h: a thread has GBM_ROWS of them, whose log densities it leaves
 * where the weights are to be, with what they are normed by; then a warp goes
 * through a row at a time. CUDA C; included by skeleton_cuda.h. */
#ifndef GBM_ROWS_WEIGHED_H
#define GBM_ROWS_WEIGHED_H

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
GBM_FN void gbm_row_expect(const struct state *s, long long element)
{
    struct gbm_rng none;
    gbm_rng_start(&none, 0, 0, 0, 0, 0);
    TRIALS::update(s, &none, element, 0);
}

/* As gbm_rows_by_thread; TRIALS has weights(s, element, &total), too. */
template <class TRIALS>
__device__ void gbm_rows_weighed(const struct state &base, const int *elements,
                                 long long first, long long count, int chains,
                                 const gbm_total *table)
{
    enum { THREADS = 128 };
    alignas(16) __shared__ gbm_total tile[GBM_ROWS_TILE];
    __shared__ real *weights[THREADS * GBM_ROWS];
    __shared__ real most[THREADS * GBM_ROWS], norm[THREADS * GBM_ROWS];
    using layout = typename TRIALS::layout;
    constexpr int columns = layout::columns, room = layout::room;
    constexpr int stride = gbm_row_stride(layout::values);
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
        gbm_total own[(room > 0 ? room : 1) * GBM_ROWS];
        struct gbm_row_sum sum[GBM_ROWS];
        long long element[GBM_ROWS];
        real *into[GBM_ROWS], *total[GBM_ROWS];
        GBM_EACH_ROW
        {
            long long k = block * each + r * blockDim.x + threadIdx.x;
            k = first + (k < count ? k : count - 1);
            element[r] = elements ? elements[k] : k;
            into[r] = TRIALS::weights(&s, element[r], &total[r]);
            sum[r].most = -GBM_INF;
            sum[r].sum = 0;
            sum[r].best = at.first;
            sum[r].wrong = false;
            TRIALS::columns(&s, &at, element[r], x + r);
        }
        const int tiled = GBM_ROWS_TILE / stride;
        const gbm_total *values =
            table + chain * (at.last - at.first + 1ll) * stride;
        for (int k = at.first; k <= at.last; k += tiled) {
            const int n = at.last - k < tiled ? at.last - k + 1 : tiled;
            __syncthreads();
            gbm_row_copy(values + (long long)(k - at.first) * stride,
                         n * stride, tile);
            __syncthreads();
            for (int i = 0; i < n; i++) {
                gbm_total density[GBM_ROWS];
                TRIALS::trial(&at, tile + i * stride, x, own, density);
                GBM_EACH_ROW into[r][k + i - at.first] =
                    gbm_row_weigh(&sum[r], k + i, (real)density[r]);
            }
        }
        GBM_EACH_ROW
        {
            const int place = r * blockDim.x + threadIdx.x;
            const bool exists = block * each + place < count;
            const bool any = gbm_is_finite(sum[r].most);
            weights[place] = exists && !sum[r].wrong ? into[r] : NULL;
            most[place] = sum[r].most;
            norm[place] = any ? 1 / (real)sum[r].sum : 0;
            if (exists && sum[r].wrong)
                gbm_row_expect<TRIALS>(&s, element[r]);
            else if (exists) {
                *total[r] = any ? sum[r].most + real_log((real)sum[r].sum)
                                : sum[r].most;
                TRIALS::put(&s, element[r], sum[r].best);
            }
        }
        __syncthreads();
        const int n = at.last - at.first + 1;
        for (int row = threadIdx.x / 32; row < each; row += blockDim.x / 32)
            for (int k = threadIdx.x % 32; weights[row] && k < n; k += 32)
                weights[row][k] =
                    norm[row] > 0
                        ? real_exp(weights[row][k] - most[row]) * norm[row]
                        : 0;
    }
}

#endif
