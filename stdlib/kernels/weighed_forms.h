/* weighed_forms.h: a discrete node in expectation, as rows of rows_weighed.h,
 * whose log densities are products of matrices first (rows_forms.h). Of most
 * rows bounds leave few values with a weight: their densities alone are
 * computed, all other weights are 0. In single precision that of the most
 * probable value is enough where bounds say so: products are as exact as what
 * it would compute of the others. CUDA C; included by skeleton_cuda.h. */
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

/* Products are taken for densities if the log of what a row is normed by is off
 * by so much at most. That is by bounds, which are for the worst case: of a
 * mixture of normals in 14 dimensions it was off by 1/20 of them at most. */
#define GBM_WEIGHED_OFF 0.00390625f /* 2^-8 */

/* What a row was normed by the last time, less this, is a guess at the least
 * that its largest density can be. */
#define GBM_WEIGHED_LOWER 4

/* What bounds tell of the calling thread's row. */
struct gbm_weighed_form {
    float norm;  /* of its features; 0: it is not bounded */
    float guess; /* taken for the least that the largest density can be */
    float low;   /* the largest density is at least this, as guessed */
    float found; /* the same as found */
    float most;  /* the largest product, of value number `best` */
    int best;
    int listed; /* values; own->kept has the products of the first of them, the
                   row's weights those of others */
    int place;  /* of `best` among them */
    float wide; /* the largest bound of one, in parts of the norm */
    real *weights; /* NULL: there is no such row */
};

/* Where weights of a block's rows are; NULL: there is no such row. */
struct gbm_weighed_form_rows {
    real *weights[GBM_FORM_THREADS];
    int again; /* some row's guess was wrong */
};

GBM_FN void gbm_weighed_form_begin(struct gbm_weighed_form *f, float guess)
{
    f->guess = f->low = guess;
    f->found = f->most = -GBM_INF;
    f->best = f->listed = f->place = 0;
    f->wide = 0;
}

/* Calls each(k, number) for the values that the calling thread's row lists,
 * from number `from` on. */
template <class TRIALS, class EACH>
GBM_FN void gbm_weighed_form_all(const struct gbm_form_shared<TRIALS> *own,
                                 int pieces, int from, EACH each)
{
    int number = 0;
    for (int p = 0; p < pieces; p++) {
        uint32_t left = own->may[p][threadIdx.x];
        if (number + __popc(left) <= from) {
            number += __popc(left);
            left = 0;
        }
        for (; left; left &= left - 1, number++)
            if (number >= from)
                each(p * GBM_FORM_VALUES + __ffs((int)left) - 1, number);
    }
}

/* Keeps the products of the values of piece p that are listed. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_keep(struct gbm_form_shared<TRIALS> *own,
                                  struct gbm_weighed_form *f, int p)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float *unit = own->unit + p * GBM_FORM_VALUES;
    const float *weight = own->weight + p * GBM_FORM_VALUES;
    uint32_t left = own->may[p][threadIdx.x];
    for (; left; left &= left - 1, f->listed++) {
        const int i = __ffs((int)left) - 1;
        const float value = own->density[warp][i][lane] * unit[i];
        const bool larger = value > f->most;
        f->wide = fmaxf(f->wide, weight[i]);
        if (f->listed < GBM_FORM_VALUES)
            own->kept[warp][f->listed][lane] = value;
        else if (f->weights)
            f->weights[p * GBM_FORM_VALUES + i] = value;
        f->most = larger ? value : f->most;
        f->best = larger ? p * GBM_FORM_VALUES + i : f->best;
        f->place = larger ? f->listed : f->place;
    }
}

/* A piece: lists the values of the calling thread's row, if that is among those
 * from `first` on, that may have a weight, by what is known so far. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_piece(struct gbm_form_shared<TRIALS> *own,
                                   struct gbm_weighed_form *f, int p, int first)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float(*density)[GBM_FORM_ROWS] = own->density[warp];
    const float *weight = own->weight + p * GBM_FORM_VALUES;
    const float *unit = own->unit + p * GBM_FORM_VALUES;
    if (f->norm > 0 && gbm_form_is_among<TRIALS>(first)) {
        float value[GBM_FORM_VALUES], largest = -GBM_INF;
        GBM_EACH_FORM(i, GBM_FORM_VALUES)
        {
            value[i] = fmaxf(density[i][lane] * unit[i], (float)-GBM_INF);
            largest = fmaxf(largest, value[i]);
        }
        f->found = fmaxf(f->found, largest - f->norm * own->most[p]);
        f->low = fmaxf(f->low, f->found);
        uint32_t may = 0;
        const float least = fmaxf(f->low - GBM_WEIGHED_BEYOND, -GBM_FORM_NEVER);
        GBM_EACH_FORM(i, GBM_FORM_VALUES)
        may |= value[i] + f->norm * weight[i] >= least ? 1u << i : 0;
        own->may[p][threadIdx.x] = may;
        gbm_weighed_form_keep<TRIALS>(own, f, p);
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
    const float least = f->found - GBM_WEIGHED_BEYOND;
    if (listed)
        gbm_weighed_form_all<TRIALS>(own, pieces, 0, [&](int k, int number) {
            if (number < GBM_FORM_VALUES &&
                kept[number][threadIdx.x % 32] + f->norm * own->weight[k] <
                    least)
                own->may[k / GBM_FORM_VALUES][threadIdx.x] &=
                    ~(1u << k % GBM_FORM_VALUES);
        });
    for (int p = 0; p < pieces; p++) {
        uint32_t *may = &own->may[p][threadIdx.x];
        *may = listed ? (*may | own->odd[p]) & ~own->absent[p] : 0;
    }
}

/* Sets weights of piece p that are not listed to 0; some: those that may be
 * other already. Of a row of which nothing is known a warp does so together. */
template <class TRIALS>
GBM_FN void
gbm_weighed_form_clear_piece(const struct gbm_form_shared<TRIALS> *own,
                             const struct gbm_weighed_form_rows *rows, int p,
                             int values, uint32_t some)
{
    const int lane = threadIdx.x % 32, first = p * GBM_FORM_VALUES;
    real *weights = rows->weights[threadIdx.x];
    const bool all = some == 0xffffffffu;
    uint32_t whole = __ballot_sync(0xffffffffu, weights && all);
    for (; whole; whole &= whole - 1) {
        real *to = rows->weights[threadIdx.x - lane + __ffs((int)whole) - 1];
        if (first + lane < values)
            to[first + lane] = 0;
    }
    uint32_t left = weights && !all ? some & ~own->may[p][threadIdx.x] : 0;
    for (; left; left &= left - 1)
        weights[first + __ffs((int)left) - 1] = 0;
}

/* The same of all pieces, where marks do not say that they are 0. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_clear(const struct gbm_form_shared<TRIALS> *own,
                                   const struct gbm_weighed_form_rows *rows,
                                   const struct gbm_marks *marks, int pieces,
                                   int values)
{
    enum { TOGETHER = 4 };
    for (int from = 0; from < pieces; from += TOGETHER) {
        uint32_t none[TOGETHER];
        GBM_EACH_FORM(i, TOGETHER)
        {
            const int p = from + i < pieces ? from + i : from;
            none[i] =
                marks->first ? marks->first[p * (long long)marks->step] : 0;
        }
        GBM_EACH_FORM(i, TOGETHER)
        if (from + i < pieces)
            gbm_weighed_form_clear_piece<TRIALS>(own, rows, from + i, values,
                                                 ~none[i]);
    }
    __syncwarp();
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

/* Whether nothing is going to set weights of the row to 0 that are listed: it
 * is known which others are not 0. */
GBM_FN bool gbm_weighed_form_known(const struct gbm_marks *marks, int pieces)
{
    bool known = marks->first != NULL;
    for (int p = 0; known && p < pieces; p++)
        known = marks->first[p * (long long)marks->step] != 0;
    return known;
}

/* Whether the calling thread's row, of which values are listed, is normed by
 * products but for its most probable value; *sum: what they come to, if so. */
template <class TRIALS>
GBM_FN bool gbm_weighed_form_suffice(struct gbm_form_shared<TRIALS> *own,
                                     struct gbm_weighed_form *f,
                                     const typename TRIALS::layout *at,
                                     const gbm_total *x, const gbm_total *table,
                                     const struct gbm_marks *marks, int pieces,
                                     struct gbm_row_sum *sum)
{
    const int lane = threadIdx.x % 32;
    const bool fits = f->listed <= GBM_FORM_VALUES;
    float(*kept)[GBM_FORM_ROWS] = own->kept[threadIdx.x / 32];
    uint32_t odd = 0;
    if (sizeof(real) > sizeof(float) ||
        !(fits || gbm_weighed_form_known(marks, pieces)))
        return false;
    for (int p = 0; p < pieces; p++)
        odd |= own->odd[p];
    if (odd || !(f->most > -GBM_FORM_NEVER))
        return false;
    const real exact = gbm_weighed_form_density<TRIALS>(at, x, table, f->best);
    float total = 0;
    if (f->place < GBM_FORM_VALUES)
        kept[f->place][lane] = (float)exact;
    else
        f->weights[f->best] = exact;
    for (int k = 0; k < f->listed && k < GBM_FORM_VALUES; k++)
        total += gbm_form_share(kept[k][lane] - (float)exact);
    if (!fits)
        gbm_weighed_form_all<TRIALS>(
            own, pieces, GBM_FORM_VALUES, [&](int k, int) {
                total += gbm_form_share((float)(f->weights[k] - exact));
            });
    sum->most = exact;
    sum->sum = total;
    sum->best = at->first + f->best;
    return f->norm * f->wide * (total - 1) <= GBM_WEIGHED_OFF * total &&
           total < GBM_FORM_LARGE;
}

/* Makes weights of the products of the calling thread's row. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_take(const struct gbm_form_shared<TRIALS> *own,
                                  const struct state *s, long long element,
                                  const struct gbm_row_sum *sum, int pieces,
                                  real *weights, real *total)
{
    const int lane = threadIdx.x % 32;
    const float(*kept)[GBM_FORM_ROWS] = own->kept[threadIdx.x / 32];
    const struct gbm_marks marks = TRIALS::marks(s, element);
    const float norm = 1 / (float)sum->sum;
    int number = 0;
    for (int p = 0; p < pieces; p++) {
        uint32_t left = own->may[p][threadIdx.x], none = 0xffffffffu;
        for (; left; left &= left - 1, number++) {
            const int bit = __ffs((int)left) - 1;
            real *const weight = &weights[p * GBM_FORM_VALUES + bit];
            const float value =
                number < GBM_FORM_VALUES ? kept[number][lane] : (float)*weight;
            const float share = gbm_form_share(value - (float)sum->most) * norm;
            const bool is = share >= (float)GBM_WEIGHED_LEAST;
            *weight = is ? share : 0;
            none ^= is ? 1u << bit : 0;
        }
        if (marks.first)
            marks.first[p * (long long)marks.step] = none;
    }
    *total = sum->most + real_log((real)sum->sum);
    TRIALS::put(s, element, sum->best);
}

/* A warp's rows and values whose densities are to be computed, in words of
 * their own: own->density, which nothing reads any more. */
enum { GBM_WEIGHED_FORM_ROW = 27 /* bits of the value */ };

/* Adds what the rows of the calling warp that ask for it list of piece p, by
 * value, as lanes with the same one read the same words. Returns how many there
 * are. */
template <class TRIALS>
GBM_FN int gbm_weighed_form_list(const struct gbm_form_shared<TRIALS> *own,
                                 int p, uint32_t *list, int listed, bool asks)
{
    const int lane = threadIdx.x % 32;
    uint32_t rows = gbm_marks_turn(asks ? own->may[p][threadIdx.x] : 0);
    const int mine = __popc(rows);
    int last = mine;
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(0xffffffffu, last, step);
        last += lane >= step ? before : 0;
    }
    uint32_t *to = list + listed + last - mine;
    for (; rows; rows &= rows - 1)
        *to++ = (uint32_t)(__ffs((int)rows) - 1) << GBM_WEIGHED_FORM_ROW |
                (uint32_t)(p * GBM_FORM_VALUES + lane);
    __syncwarp();
    return listed + __shfl_sync(0xffffffffu, last, 31);
}

/* Puts the densities of the first 32 of n that are listed in their places; x:
 * columns of the calling thread's row. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_put(const struct gbm_weighed_form_rows *rows,
                                 const typename TRIALS::layout *at,
                                 const gbm_total *x, const gbm_total *table,
                                 const uint32_t *list, int n)
{
    constexpr int columns = gbm_forms<TRIALS>::columns;
    const int lane = threadIdx.x % 32;
    const uint32_t one = list[lane < n ? lane : 0];
    const int row = (int)(one >> GBM_WEIGHED_FORM_ROW);
    const int k = (int)(one & ((1u << GBM_WEIGHED_FORM_ROW) - 1));
    gbm_total of_row[columns];
    GBM_EACH_FORM(c, columns)
    of_row[c] = __shfl_sync(0xffffffffu, x[c], row);
    const real density = gbm_weighed_form_density<TRIALS>(at, of_row, table, k);
    if (lane < n)
        rows->weights[threadIdx.x - lane + row][k] = density;
}

/* Puts the densities of the values that are listed in their places, by a warp,
 * of rows that ask for it. They list few or many, so lanes take what the warp
 * has in turn. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_exact(struct gbm_form_shared<TRIALS> *own,
                                   const struct gbm_weighed_form_rows *rows,
                                   const typename TRIALS::layout *at,
                                   const gbm_total *x, const gbm_total *table,
                                   int pieces, bool asks)
{
    uint32_t *list = (uint32_t *)own->density[threadIdx.x / 32];
    static_assert(32 * GBM_FORM_VALUES + 31 <= GBM_FORM_VALUES * GBM_FORM_ROWS,
                  "a piece, and what is left of those before");
    int listed = 0;
    if (!__ballot_sync(0xffffffffu, asks))
        return;
    for (int p = 0; p < pieces; p++) {
        listed = gbm_weighed_form_list<TRIALS>(own, p, list, listed, asks);
        const int rest = p + 1 < pieces ? listed % 32 : 0;
        int from = 0;
        for (; from < listed - rest; from += 32)
            gbm_weighed_form_put<TRIALS>(rows, at, x, table, list + from,
                                         listed - from);
        if (threadIdx.x % 32 < rest && from > 0)
            list[threadIdx.x % 32] = list[from + threadIdx.x % 32];
        listed = rest;
        __syncwarp();
    }
}

/* Calls each(bit, weights[bit]) for what the calling thread's row lists of
 * piece p, whose weights these are. */
template <class TRIALS, class EACH>
GBM_FN void gbm_weighed_form_each(const struct gbm_form_shared<TRIALS> *own,
                                  int p, const real *weights, EACH each)
{
    enum { TOGETHER = 4 };
    for (uint32_t left = own->may[p][threadIdx.x]; left;) {
        int bit[TOGETHER];
        real weight[TOGETHER];
        GBM_EACH_FORM(i, TOGETHER)
        {
            bit[i] = __ffs((int)left) - 1;
            left &= left - 1;
            weight[i] = bit[i] < 0 ? 0 : weights[bit[i]];
        }
        GBM_EACH_FORM(i, TOGETHER)
        if (bit[i] >= 0)
            each(bit[i], weight[i]);
    }
}

/* Makes weights of the densities of the calling thread's row. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_norm(const struct gbm_form_shared<TRIALS> *own,
                                  const struct state *s, long long element,
                                  const struct gbm_row_sum *sum, int pieces,
                                  real *weights, real *total)
{
    const struct gbm_marks marks = TRIALS::marks(s, element);
    const bool any = gbm_is_finite(sum->most);
    const real norm = any ? 1 / (real)sum->sum : 0;
    for (int p = 0; p < pieces; p++) {
        real *of_piece = weights + p * GBM_FORM_VALUES;
        uint32_t none = 0xffffffffu;
        gbm_weighed_form_each<TRIALS>(
            own, p, of_piece, [&](int bit, real density) {
                const real weight =
                    gbm_weighed_weight(density, sum->most, norm);
                of_piece[bit] = weight;
                none ^= weight != 0 ? 1u << bit : 0;
            });
        if (marks.first)
            marks.first[p * (long long)marks.step] = none;
    }
    *total = any ? sum->most + real_log((real)sum->sum) : sum->most;
    TRIALS::put(s, element, sum->best);
}

/* Sums up the densities of the calling thread's row, and makes weights of
 * them; `bounded`: only those that are listed matter. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_end(const struct gbm_form_shared<TRIALS> *own,
                                 const struct state *s,
                                 const typename TRIALS::layout *at,
                                 long long element, bool bounded, int pieces,
                                 real *weights, real *total)
{
    struct gbm_row_sum sum = {-GBM_INF, 0, at->first, false};
    for (int p = 0; p < pieces; p++) {
        const int first = p * GBM_FORM_VALUES;
        gbm_weighed_form_each<TRIALS>(
            own, p, weights + first, [&](int bit, real density) {
                gbm_row_weigh(&sum, at->first + first + bit, density);
            });
    }
    if (bounded && !sum.wrong)
        gbm_weighed_form_norm<TRIALS>(own, s, element, &sum, pieces, weights,
                                      total);
    else
        gbm_row_expect<TRIALS>(s, element, at->last - at->first + 1);
}

/* Lists the values of the rows of a block that may have a weight; total: what
 * the calling thread's row was normed by. */
template <class TRIALS>
GBM_FN void gbm_weighed_form_bound(struct gbm_form_shared<TRIALS> *own,
                                   struct gbm_weighed_form_rows *rows,
                                   struct gbm_weighed_form *f, real total,
                                   const float *words, int values)
{
    const float lower = (float)total - GBM_WEIGHED_LOWER;
    float guess = lower < GBM_FORM_LARGE ? lower : (float)-GBM_INF;
    bool again;
    do {
        gbm_weighed_form_begin(f, guess);
        if (threadIdx.x == 0)
            rows->again = 0;
        gbm_form_pieces<TRIALS>(own, words, values, [&](int p, int first) {
            gbm_weighed_form_piece<TRIALS>(own, f, p, first);
        });
        if (f->norm > 0 && f->guess > f->found) {
            rows->again = 1;
            guess = -GBM_INF;
        }
        __syncthreads();
        again = rows->again;
        __syncthreads();
    } while (again);
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
    struct gbm_weighed_form f;
    f.norm = gbm_form_row<TRIALS>(x, words, own->y[threadIdx.x / 32]);
    f.weights = rows->weights[threadIdx.x];
    gbm_form_sorts(own, words, values);
    __syncthreads();
    gbm_weighed_form_bound<TRIALS>(own, rows, &f, *total, words, values);
    const bool bounded = is && f.norm > 0;
    struct gbm_row_sum sum;
    const struct gbm_marks marks = TRIALS::marks(s, element);
    const bool takes =
        bounded && gbm_weighed_form_suffice<TRIALS>(own, &f, &at, x, table,
                                                    &marks, pieces, &sum);
    if (!takes)
        gbm_weighed_form_settle<TRIALS>(own, &f, bounded, pieces);
    gbm_weighed_form_clear<TRIALS>(own, rows, &marks, pieces, values);
    gbm_weighed_form_exact<TRIALS>(own, rows, &at, x, table, pieces,
                                   bounded && !takes);
    if (takes)
        gbm_weighed_form_take<TRIALS>(own, s, element, &sum, pieces, weights,
                                      total);
    else if (is)
        gbm_weighed_form_end<TRIALS>(own, s, &at, element, f.norm > 0, pieces,
                                     weights, total);
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
