/* rows_cuda.h: updates of elements by trying all values, as rows of rows.h: a
 * thread has GBM_ROWS of them. What values tell is computed once, into a table
 * in memory, and goes through shared memory, some values at a time. A row with
 * a density that is no number is updated by itself. CUDA C; included by
 * skeleton_cuda.h.
 *
 * Most values of a mixture's row are so much less likely than one before that
 * nothing changes, to the last bit, whatever the random number: neither weight
 * nor number is then computed. */
#ifndef GBM_ROWS_CUDA_H
#define GBM_ROWS_CUDA_H

#include "rows.h"
#include "slice.h"

#ifdef GBM_SINGLE
/* The least uniform number; 1 and the weights of a group of values that lie
 * GBM_ROW_BEYOND below are 1. */
#define GBM_ROW_LEAST REAL_C(5.9604644775390625e-8)
#define GBM_ROW_BEYOND REAL_C(21)
enum { GBM_ROW_WORDS = 1 };
#else
#define GBM_ROW_LEAST 1.1102230246251565e-16
#define GBM_ROW_BEYOND REAL_C(41)
enum { GBM_ROW_WORDS = 2 };
#endif

/* What a row's draw has come to: as struct gbm_trials, with the number of the
 * next uniform of its stream, and the block of words computed last. Values that
 * count wait in a list, which the lanes of a warp then go through together: one
 * by one nearly each value would count for some lane. */
enum { GBM_ROW_WAITING = 8 };
struct gbm_row_draw {
    real largest; /* of those that wait, too */
    real reference, total;
    int kept;
    struct {
        real reference, total; /* of those before */
        int kept;
        uint32_t number; /* of this one */
        bool counted;    /* whether some value has been */
    } groups;
    uint32_t used, block, word[4];
    bool wrong; /* some density was no number */
    int waiting;
};

/* The list, apart, as what is not subscripted stays in registers. */
struct gbm_row_list {
    real value[GBM_ROW_WAITING];
    int tried[GBM_ROW_WAITING];
    uint32_t number[GBM_ROW_WAITING];
};

GBM_FN void gbm_row_begin(struct gbm_row_draw *d, int lo)
{
    d->largest = d->reference = -GBM_INF;
    d->total = 0;
    d->kept = lo;
    d->groups.reference = -GBM_INF;
    d->groups.total = 0;
    d->groups.kept = lo;
    d->groups.number = 0;
    d->groups.counted = false;
    d->used = 0;
    d->block = 0xffffffffu;
    d->word[0] = d->word[1] = d->word[2] = d->word[3] = 0;
    d->wrong = false;
    d->waiting = 0;
}

/* Uniform number `number` of the stream that rng is the start of: gbm_uniform.
 */
GBM_FN real gbm_row_uniform(struct gbm_row_draw *d, const struct gbm_rng *rng,
                            uint32_t number)
{
    const uint32_t each = 4 / GBM_ROW_WORDS, block = number / each;
    if (block != d->block) {
        uint32_t x[4] = {block, rng->element, rng->sweep, rng->step};
        gbm_philox(x, rng->key0, rng->key1);
        d->block = block;
        d->word[0] = x[0];
        d->word[1] = x[1];
        d->word[2] = x[2];
        d->word[3] = x[3];
    }
    struct gbm_rng here;
    const bool second = number % each * GBM_ROW_WORDS >= 2;
    here.left = 2;
    here.word0 = second ? d->word[2] : d->word[0];
    here.word1 = second ? d->word[3] : d->word[1];
    if (GBM_ROW_WORDS == 1 && number % 2)
        here.word0 = here.word1;
    here.word2 = here.word3 = 0;
    return gbm_uniform(&here);
}

/* gbm_trials_add, bit for bit, of a finite value, where the uniform number is
 * `number`; the first of a group has none. */
GBM_FN void gbm_row_add(struct gbm_row_draw *d, const struct gbm_rng *rng,
                        int k, real value, uint32_t number)
{
    const real below = value - d->reference;
    const real share = real_exp(-real_fabs(below));
    const bool larger = below > 0;
    d->total = d->total == 0 ? 1
               : larger      ? d->total * share + 1
                             : d->total + share;
    d->reference = larger ? value : d->reference;
    bool takes = larger;
    if (larger ? d->total > 1 : share > GBM_ROW_LEAST * d->total)
        takes =
            gbm_row_uniform(d, rng, number) * d->total < (larger ? 1 : share);
    d->kept = takes ? k : d->kept;
}

/* Goes through the list. */
GBM_FN void gbm_row_settle(struct gbm_row_draw *d,
                           const struct gbm_row_list *list,
                           const struct gbm_rng *rng)
{
    for (int i = 0; i < d->waiting; i++)
        gbm_row_add(d, rng, list->tried[i], list->value[i], list->number[i]);
    d->waiting = 0;
}

/* gbm_trials_close. */
GBM_FN void gbm_row_close(struct gbm_row_draw *d,
                          const struct gbm_row_list *list,
                          const struct gbm_rng *rng)
{
    gbm_row_settle(d, list, rng);
    d->groups.counted = false;
    if (d->total == 0)
        return;
    const real below = d->reference - d->groups.reference;
    const real share = real_exp(-real_fabs(below));
    const bool larger = below > 0, first = d->groups.total == 0;
    const real others = larger ? d->groups.total * share : d->groups.total;
    const real mine = larger ? d->total : d->total * share;
    const real total = first ? mine : others + mine;
    bool takes = true;
    if (!first && total > mine)
        takes = mine > GBM_ROW_LEAST * total &&
                gbm_row_uniform(d, rng, d->groups.number) * total < mine;
    d->groups.kept = takes ? d->kept : d->groups.kept;
    d->groups.reference = larger ? d->reference : d->groups.reference;
    d->groups.total = total;
    d->total = 0;
    d->reference = -GBM_INF;
}

/* The density of k. Returns whether the list is full. */
GBM_FN bool gbm_row_try(struct gbm_row_draw *d, struct gbm_row_list *list,
                        int k, real value)
{
    const real below = value - d->largest;
    const bool finite = gbm_is_finite(value);
    const uint32_t number = d->used - 1; /* the first has none */
    d->groups.number = d->groups.counted ? d->groups.number : number;
    d->groups.counted = d->groups.counted || finite;
    d->used += finite;
    if (!(below < -GBM_ROW_BEYOND)) {
        d->wrong = d->wrong || gbm_is_nan(value);
        if (finite) {
            list->value[d->waiting] = value;
            list->tried[d->waiting] = k;
            list->number[d->waiting] = number;
            d->waiting++;
            d->largest = below > 0 ? value : d->largest;
        }
    }
    return d->waiting == GBM_ROW_WAITING;
}

/* Stores the draw of an element, whose stream rng is the start of. */
template <class TRIALS>
GBM_FN void gbm_row_end(struct gbm_row_draw *d, const struct gbm_row_list *list,
                        const struct state *s, struct gbm_rng *rng,
                        long long element, int lo, int hi, int adapting)
{
    if (d->wrong) {
        TRIALS::update(s, rng, element, adapting);
        return;
    }
    gbm_row_close(d, list, rng);
    struct gbm_trials trials;
    gbm_trials_begin(&trials, lo);
    trials.total = d->groups.total;
    trials.kept = d->groups.kept;
    TRIALS::put(s, element, (int)gbm_trials_end(&trials, rng, lo, hi));
}

#define GBM_ROWS_TILE 4096

/* Cells of a value in the table: four can be read at once. */
__device__ constexpr int gbm_row_stride(int values)
{
    return (values + GBM_ROW_TOGETHER - 1) / GBM_ROW_TOGETHER *
           GBM_ROW_TOGETHER;
}

/* Copies n cells, both places and n multiples of four, by a block. */
GBM_FN void gbm_row_copy(const gbm_total *from, int n, gbm_total *to)
{
    const float4 *in = (const float4 *)from;
    float4 *out = (float4 *)to;
    const int pieces = n / (int)(sizeof(float4) / sizeof(gbm_total));
    for (int i = threadIdx.x; i < pieces; i += blockDim.x)
        out[i] = in[i];
}

/* TRIALS has the functions of a step as static members: lay_out, values,
 * columns, trial, put, update; and number, that of the step. */
template <class TRIALS>
__device__ void
gbm_rows_by_thread(const struct state &base, const struct gbm_sweep &now,
                   const int *elements, long long first, long long count,
                   int chains, const gbm_total *table)
{
    alignas(16) __shared__ gbm_total tile[GBM_ROWS_TILE];
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
        struct gbm_row_draw draw[GBM_ROWS];
        struct gbm_row_list list[GBM_ROWS];
        struct gbm_rng rng[GBM_ROWS];
        long long element[GBM_ROWS];
        GBM_EACH_ROW
        {
            long long k = block * each + r * blockDim.x + threadIdx.x;
            k = first + (k < count ? k : count - 1);
            element[r] = elements ? elements[k] : k;
            gbm_rng_start(&rng[r], now.seed, now.chain0 + (unsigned)chain,
                          now.sweep, TRIALS::number, (unsigned)element[r]);
            gbm_row_begin(&draw[r], at.first);
            TRIALS::columns(&s, &at, element[r], x + r);
        }
        const int most = GBM_ROWS_TILE / stride;
        const gbm_total *values =
            table + chain * (at.last - at.first + 1ll) * stride;
        for (int k = at.first; k <= at.last; k += most) {
            const int n = at.last - k < most ? at.last - k + 1 : most;
            __syncthreads();
            gbm_row_copy(values + (long long)(k - at.first) * stride,
                         n * stride, tile);
            __syncthreads();
            for (int i = 0; i < n; i++) {
                gbm_total density[GBM_ROWS];
                if ((k + i - at.first) % GBM_TRIALS_TOGETHER == 0)
                    GBM_EACH_ROW gbm_row_close(&draw[r], &list[r], &rng[r]);
                TRIALS::trial(&at, tile + i * stride, x, own, density);
                GBM_EACH_ROW
                {
                    const bool full = gbm_row_try(&draw[r], &list[r], k + i,
                                                  (real)density[r]);
                    if (__ballot_sync(0xffffffffu, full))
                        gbm_row_settle(&draw[r], &list[r], &rng[r]);
                }
            }
        }
        GBM_EACH_ROW
        if (block * each + r * blockDim.x + threadIdx.x < count)
            gbm_row_end<TRIALS>(&draw[r], &list[r], &s, &rng[r], element[r],
                                at.first, at.last, GBM_ADAPTING(&now));
    }
}

#endif
