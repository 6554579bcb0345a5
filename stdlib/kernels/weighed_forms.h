/* weighed_forms.h: a discrete node in expectation, as rows of rows_weighed.h,
 * whose log densities are products of matrices first (rows_forms.h). Of most
 * rows bounds leave few values with a weight: their densities alone are
 * computed, all other weights are 0. CUDA C; included by skeleton_cuda.h. */
#ifndef GBM_WEIGHED_FORMS_H
#define GBM_WEIGHED_FORMS_H

#include "rows_forms.h"
#include "rows_weighed.h"

/* So far below the largest density others have no weight: -log of
 * GBM_WEIGHED_LEAST, and something for rounding. */
#ifdef GBM_SINGLE
#define GBM_WEIGHED_BEYOND 22.2f
#else
#define GBM_WEIGHED_BEYOND 44.4f
#endif

/* What bounds tell of the calling thread's row. */
struct gbm_weighed_form {
    float norm; /* of its features; 0: it is not bounded */
    float low;  /* the largest density is at least this */
};

/* Where weights of a block's rows are; NULL: there is no such row. */
struct gbm_weighed_form_rows {
    real *weights[GBM_FORM_THREADS];
};

/* A piece: lists the values of the calling thread's row that may have a weight,
 * by what is known so far, and the most that a density can be; sets the weights
 * of the warp's rows from `first` on to 0. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_piece(struct gbm_form_shared<TRIALS> *own,
                                   const struct gbm_weighed_form_rows *rows,
                                   struct gbm_weighed_form *f, int p, int first,
                                   int values)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float(*density)[GBM_FORM_ROWS] = own->density[warp];
    const float *weight = own->weight + p * GBM_FORM_VALUES;
    const float *unit = own->unit + p * GBM_FORM_VALUES;
    const int k = p * GBM_FORM_VALUES + lane;
    if (f->norm > 0 && gbm_form_is_among<TRIALS>(first)) {
        const float wide = f->norm * own->most[p];
        float value[GBM_FORM_VALUES], largest = -GBM_INF;
        GBM_EACH_FORM(i, GBM_FORM_VALUES)
        {
            value[i] = fmaxf(density[i][lane] * unit[i], (float)-GBM_INF);
            largest = fmaxf(largest, value[i]);
        }
        f->low = fmaxf(f->low, largest - wide);
        uint32_t may = 0;
        const float least = fmaxf(f->low - GBM_WEIGHED_BEYOND, -GBM_FORM_NEVER);
        GBM_EACH_FORM(i, GBM_FORM_VALUES)
        may |= value[i] + f->norm * weight[i] >= least ? 1u << i : 0;
        own->may[p][threadIdx.x] = may;
        if (p < GBM_FORM_VALUES)
            own->kept[warp][p][lane] = largest + wide;
    }
#pragma unroll 8
    for (int row = first; row < first + 16 * gbm_form_tiles<TRIALS>(); row++) {
        real *to = rows->weights[32 * warp + row];
        if (to && k < values)
            to[k] = 0;
    }
}

/* Leaves of the lists what still may have a weight, and adds values that are
 * not bounded; nothing of rows that are done otherwise. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_settle(struct gbm_form_shared<TRIALS> *own,
                                    const struct gbm_weighed_form *f,
                                    bool listed, int pieces)
{
    const float(*kept)[GBM_FORM_ROWS] = own->kept[threadIdx.x / 32];
    for (int p = 0; p < pieces; p++) {
        uint32_t *may = &own->may[p][threadIdx.x];
        const bool below =
            p < GBM_FORM_VALUES &&
            kept[p][threadIdx.x % 32] < f->low - GBM_WEIGHED_BEYOND;
        const uint32_t left = below ? 0 : *may;
        *may = listed ? (left | own->odd[p]) & ~own->absent[p] : 0;
    }
}

/* The density of value number k. */
template <class TRIALS>
GBM_FN real gbm_weighed_form_density(const typename TRIALS::layout *at,
                                     const gbm_total *x, const gbm_total *table,
                                     int k)
{
    constexpr int stride = gbm_row_stride(TRIALS::layout::values);
    constexpr int room = TRIALS::layout::room;
    constexpr int quads = stride * (int)sizeof(gbm_total) / (int)sizeof(uint4);
    alignas(16) gbm_total u[stride];
    gbm_total mine[room > 0 ? room : 1], density[1];
    const uint4 *from = (const uint4 *)(table + (long long)k * stride);
    GBM_EACH_FORM(i, quads)((uint4 *)u)[i] = from[i];
    TRIALS::trial(at, u, x, mine, density);
    return (real)density[0];
}

/* What the largest density is at least: what was the most probable value the
 * last time most often is so still, or nearly. */
template <class TRIALS>
GBM_FN float gbm_weighed_form_low(const struct state *s,
                                  const typename TRIALS::layout *at,
                                  const gbm_total *x, const gbm_total *table,
                                  long long element)
{
    int k = TRIALS::label(s, element) - at->first;
    if (k < 0 || k > at->last - at->first)
        k = 0;
    const float low = (float)gbm_weighed_form_density<TRIALS>(at, x, table, k);
    return low > -GBM_FORM_NEVER ? low - 1e-6f * fabsf(low) : (float)-GBM_INF;
}

/* Puts the densities of the values that are listed in their places, and sums
 * them up, by a warp: its lanes compute together, each a value of its own. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_exact(const struct gbm_form_shared<TRIALS> *own,
                                   const typename TRIALS::layout *at,
                                   const gbm_total *x, const gbm_total *table,
                                   int pieces, real *weights,
                                   struct gbm_row_sum *sum)
{
    uint32_t left = own->may[0][threadIdx.x];
    for (int p = 0;;) {
        while (!left && p + 1 < pieces)
            left = own->may[++p][threadIdx.x];
        if (!__ballot_sync(0xffffffffu, left != 0))
            return;
        if (!left)
            continue;
        const int k = p * GBM_FORM_VALUES + __ffs((int)left) - 1;
        left &= left - 1;
        weights[k] =
            gbm_row_weigh(sum, at->first + k,
                          gbm_weighed_form_density<TRIALS>(at, x, table, k));
    }
}

/* Makes weights of the densities of the calling thread's row. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_end(const struct gbm_form_shared<TRIALS> *own,
                                 const struct state *s, long long element,
                                 const struct gbm_row_sum *sum, int pieces,
                                 real *weights, real *total)
{
    const struct gbm_marks marks = TRIALS::marks(s, element);
    const bool any = gbm_is_finite(sum->most);
    const real norm = any ? 1 / (real)sum->sum : 0;
    for (int p = 0; p < pieces; p++) {
        uint32_t left = own->may[p][threadIdx.x], none = 0xffffffffu;
        while (left) {
            const int bit = __ffs((int)left) - 1;
            real *w = weights + p * GBM_FORM_VALUES + bit;
            left &= left - 1;
            *w = gbm_weighed_weight(*w, sum->most, norm);
            none ^= *w != 0 ? 1u << bit : 0;
        }
        if (marks.first)
            marks.first[p * (long long)marks.step] = none;
    }
    *total = any ? sum->most + real_log((real)sum->sum) : sum->most;
    TRIALS::put(s, element, sum->best);
}

/* The rows of a block; the calling thread's is that of `element`, if `is`. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_block(struct gbm_form_shared<TRIALS> *own,
                                   struct gbm_weighed_form_rows *rows,
                                   const struct state *s, long long element,
                                   bool is, const float *words,
                                   const gbm_total *table)
{
    typename TRIALS::layout at;
    TRIALS::lay_out(s, &at);
    const int values = at.last - at.first + 1;
    const int pieces = (values + GBM_FORM_VALUES - 1) / GBM_FORM_VALUES;
    gbm_total x[gbm_forms<TRIALS>::columns];
    TRIALS::columns(s, &at, element, x);
    __syncthreads(); /* the block before is done with what is shared */
    real *total, *weights = TRIALS::weights(s, element, &total);
    rows->weights[threadIdx.x] = is ? weights : NULL;
    struct gbm_weighed_form f = {
        gbm_form_row<TRIALS>(x, words, own->y[threadIdx.x / 32]),
        gbm_weighed_form_low<TRIALS>(s, &at, x, table, element)};
    gbm_form_sorts(own, words, values);
    __syncthreads();
    gbm_form_pieces<TRIALS>(own, words, values, [&](int p, int first) {
        gbm_weighed_form_piece<TRIALS>(own, rows, &f, p, first, values);
    });
    gbm_weighed_form_settle<TRIALS>(own, &f, is && f.norm > 0, pieces);
    struct gbm_row_sum sum = {-GBM_INF, 0, at.first, false};
    gbm_weighed_form_exact<TRIALS>(own, &at, x, table, pieces, weights, &sum);
    if (!is)
        return;
    if (f.norm > 0 && !sum.wrong)
        gbm_weighed_form_end<TRIALS>(own, s, element, &sum, pieces, weights,
                                     total);
    else
        gbm_row_expect<TRIALS>(s, element, values);
}

/* As gbm_rows_weighed, a row a thread. */
template <class TRIALS>
__device__ void gbm_rows_weighed_by_forms(const struct state &base,
                                          const int *elements, long long first,
                                          long long count, int chains,
                                          const gbm_total *table)
{
    __shared__ struct gbm_weighed_form_rows rows;
    gbm_form_blocks<TRIALS>(
        base, elements, first, count, chains, table,
        [&](struct gbm_form_shared<TRIALS> *own, const struct state *s,
            const float *words, int chain, long long element, bool is) {
            typename TRIALS::layout at;
            TRIALS::lay_out(s, &at);
            constexpr int stride = gbm_row_stride(TRIALS::layout::values);
            gbm_weighed_form_block<TRIALS>(
                own, &rows, s, element, is, words,
                table + chain * (at.last - at.first + 1ll) * stride);
        });
}

#endif
