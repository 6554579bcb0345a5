/* rows.h: updates by trying all values of an element, of GBM_ROWS elements, the
 * rows, at once: on the host through the vector unit, on the device by one
 * thread. One value k after the other is tried for all rows, so that what k
 * alone tells is read once. compiler/sampler/rows.c writes the densities.
 * Random numbers and draws are those of gbm_enumerate_draw (slice.h), to
 * rounding of the densities, and do not depend on which rows stand beside one.
 */
#ifndef GBM_ROWS_H
#define GBM_ROWS_H

#include "sizes.h"
#include "team.h"

#ifdef __CUDACC__
#ifndef GBM_ROWS
#define GBM_ROWS 1
#endif
#define GBM_EACH_ROW _Pragma("unroll") for (int r = 0; r < GBM_ROWS; r++)
#define GBM_EACH_TURN _Pragma("unroll")
#else
#define GBM_ROWS 32
#define GBM_EACH_ROW GBM_SIMD for (int r = 0; r < GBM_ROWS; r++)
#define GBM_EACH_TURN
#endif

/* Rows of a matrix whose products are summed side by side, as each reads d. */
#ifdef __CUDACC__
#define GBM_ROWS_BESIDE 4
#else
#define GBM_ROWS_BESIDE 2
#endif

/* sum[r] = sum(a, d[a][r] * sum(b up to a, q[a,b] * d[b][r])), the rows of q
 * without gaps. */
GBM_INLINE void gbm_rows_quadratic(int n, const gbm_total *__restrict__ q,
                                   const gbm_total *__restrict__ d,
                                   gbm_total *__restrict__ sum)
{
    gbm_total part[GBM_ROWS_BESIDE][GBM_ROWS], total[GBM_ROWS];
    GBM_EACH_ROW total[r] = 0;
    GBM_EACH_TURN
    for (int a = 0; a < n; a += GBM_ROWS_BESIDE) {
        GBM_UNROLL
        for (int t = 0; t < GBM_ROWS_BESIDE; t++)
            GBM_EACH_ROW part[t][r] = 0;
        GBM_EACH_TURN
        for (int b = 0; b < a; b++) {
            const gbm_total *at = d + b * GBM_ROWS;
            GBM_UNROLL
            for (int t = 0; t < GBM_ROWS_BESIDE; t++) {
                const int row = a + t < n ? a + t : a;
                const gbm_total weight = q[row * (row + 1) / 2 + b];
                GBM_EACH_ROW part[t][r] =
                    gbm_multiply_add(weight, at[r], part[t][r]);
            }
        }
        GBM_UNROLL
        for (int t = 0; t < GBM_ROWS_BESIDE; t++) {
            const int row = a + t;
            if (row >= n)
                break;
            const gbm_total *own = d + row * GBM_ROWS;
            GBM_EACH_TURN
            for (int b = a; b <= row; b++) {
                const gbm_total weight = q[row * (row + 1) / 2 + b];
                const gbm_total *at = d + b * GBM_ROWS;
                GBM_EACH_ROW part[t][r] =
                    gbm_multiply_add(weight, at[r], part[t][r]);
            }
            GBM_EACH_ROW total[r] =
                gbm_multiply_add(part[t][r], own[r], total[r]);
        }
    }
    GBM_EACH_ROW sum[r] = total[r];
}

/* With fewer elements than these they are updated one by one. */
#define GBM_ROWS_LEAST 12

#ifndef __CUDACC__

#include "ahead.h"

/* Of GBM_ROWS streams the uniform numbers, in turn. */
struct gbm_rows_stream {
    uint64_t element[GBM_ROWS];
    uint64_t words[2][GBM_ROWS];
    uint32_t key0, key1, sweep, step;
    uint32_t used; /* numbers */
};

GBM_FN const uint64_t *gbm_rows_words(struct gbm_rows_stream *s)
{
    const uint32_t number = s->used++;
    for (int r = 0; r < GBM_ROWS && number % 2 == 0; r += GBM_LANES) {
        const gbm_lanes zero = {0};
        gbm_lanes x[4];
        x[0] = zero + number / 2;
        __builtin_memcpy(&x[1], &s->element[r], sizeof x[1]);
        x[2] = zero + s->sweep;
        x[3] = zero + s->step;
        gbm_philox_lanes(x, zero + s->key0, zero + s->key1);
        const gbm_lanes early = x[0] << 32 | (x[1] & 0xffffffffu);
        const gbm_lanes late = x[2] << 32 | (x[3] & 0xffffffffu);
        __builtin_memcpy(&s->words[0][r], &early, sizeof early);
        __builtin_memcpy(&s->words[1][r], &late, sizeof late);
    }
    return s->words[number % 2];
}

/* What gbm_enumerate_draw keeps of the values tried so far; wrong[r] is no
 * number if some density of the row is not finite: it is drawn by itself. */
struct gbm_rows_draw {
    real largest[GBM_ROWS], total[GBM_ROWS], kept[GBM_ROWS], wrong[GBM_ROWS];
    struct {
        real largest[GBM_ROWS], total[GBM_ROWS], kept[GBM_ROWS];
        real number[GBM_ROWS];
        int which;
        bool begun;
    } group;
    bool begun; /* some group */
};

/* gbm_trials_close for all rows. */
GBM_FN void gbm_rows_close(struct gbm_rows_draw *restrict d)
{
    if (!d->group.begun)
        return;
    d->group.begun = false;
    if (!d->begun) {
        d->begun = true;
        GBM_EACH_ROW
        {
            d->largest[r] = d->group.largest[r];
            d->total[r] = d->group.total[r];
            d->kept[r] = d->group.kept[r];
        }
        return;
    }
    GBM_EACH_ROW
    {
        const real below = d->group.largest[r] - d->largest[r];
        const real share = real_exp(-real_fabs(below));
        const bool larger = below > 0;
        const real others = larger ? d->total[r] * share : d->total[r];
        const real mine =
            larger ? d->group.total[r] : d->group.total[r] * share;
        const real total = others + mine;
        const bool takes = d->group.number[r] * total < mine;
        d->total[r] = total;
        d->largest[r] = larger ? d->group.largest[r] : d->largest[r];
        d->kept[r] = takes ? d->group.kept[r] : d->kept[r];
    }
}

/* The first value of a group that is possible. */
GBM_FN void gbm_rows_open(struct gbm_rows_draw *restrict d,
                          struct gbm_rows_stream *stream, int value,
                          const gbm_total *restrict density)
{
    d->group.begun = true;
    GBM_EACH_ROW
    {
        d->group.largest[r] = density[r];
        d->group.total[r] = 1;
        d->group.kept[r] = value;
    }
    if (!d->begun) {
        GBM_EACH_ROW d->wrong[r] = density[r] - density[r];
        return;
    }
    const uint64_t *words = gbm_rows_words(stream);
    GBM_EACH_ROW
    {
        d->group.number[r] = gbm_uniform_of(words[r]);
        d->wrong[r] += density[r] - density[r];
    }
}

/* The values drawn, one of each row: NULL where none is possible. */
GBM_FN const real *gbm_rows_end(struct gbm_rows_draw *restrict d)
{
    if (!d->begun)
        return d->group.begun ? d->group.kept : NULL;
    gbm_rows_close(d);
    return d->kept;
}

/* Tries value number `place`. */
GBM_FN void gbm_rows_try(struct gbm_rows_draw *restrict d,
                         struct gbm_rows_stream *stream, int place, int value,
                         const gbm_total *restrict density)
{
    if (place / GBM_TRIALS_TOGETHER != d->group.which) {
        gbm_rows_close(d);
        d->group.which = place / GBM_TRIALS_TOGETHER;
    }
    if (!d->group.begun) {
        gbm_rows_open(d, stream, value, density);
        return;
    }
    const uint64_t *words = gbm_rows_words(stream);
    GBM_EACH_ROW
    {
        const real x = density[r];
        const real share = real_exp(-real_fabs(x - d->group.largest[r]));
        const bool larger = x > d->group.largest[r];
        const real weight = larger ? 1 : share;
        const real total =
            larger ? d->group.total[r] * share + 1 : d->group.total[r] + share;
        const bool takes = gbm_uniform_of(words[r]) * total < weight;
        d->wrong[r] += x - x;
        d->group.total[r] = total;
        d->group.largest[r] = larger ? x : d->group.largest[r];
        d->group.kept[r] = takes ? value : d->group.kept[r];
    }
}

/* Room for the values of all k, and for columns and trials of GBM_ROWS rows. */
#define GBM_ROWS_MOST (1ll << 22)
GBM_FN gbm_total *gbm_rows_room(long long cells)
{
    const size_t line = 64;
    gbm_total *room = NULL;
    if (cells < GBM_ROWS_MOST)
        room = (gbm_total *)aligned_alloc(
            line, ((size_t)cells * sizeof *room + line) / line * line);
    return room;
}

/* For tests: rows one by one, with the same draws. */
#ifdef GBM_ONE_BY_ONE
#define GBM_HOST_RUN_ROWS(part, function, id, number)                          \
    GBM_HOST_RUN(part, function, number, 0, none)
#else
/* The run of a step whose functions layout_, values_, columns_, trial_ and put_
 * are those of rows_ID. Rows with a density that is not finite are drawn by the
 * update of an element, and so are all where there is no room. */
#define GBM_HOST_RUN_ROWS(part, function, id, number)                          \
    GBM_ENTRY(                                                                 \
        part,                                                                  \
        void function##_run(const void *state, const struct gbm_sweep *sweep,  \
                            uint32_t chain, const int *elements,               \
                            int64_t first, int64_t last),                      \
        {                                                                      \
            const struct state *s = (const struct state *)state;               \
            struct gbm_rng rng;                                                \
            struct rows_##id at;                                               \
            layout_##id(s, &at);                                               \
            gbm_rng_start(&rng, sweep->seed, chain, sweep->sweep, number, 0);  \
            const long long nvalues = at.last - at.first + 1ll;                \
            const long long own = (at.columns + at.room) * GBM_ROWS;           \
            gbm_total *const room =                                            \
                nvalues > 0 && at.elements >= GBM_ROWS_LEAST                   \
                    ? gbm_rows_room(own + nvalues * at.values)                 \
                    : NULL;                                                    \
            gbm_total *const columns = room;                                   \
            gbm_total *const values = room + own;                              \
            for (int k = at.first; room && k <= at.last; k++)                  \
                values_##id(s, &at, &gbm_alone, k,                             \
                            values + (k - at.first) * at.values);              \
            for (int64_t from = first; from < last; from += GBM_ROWS) {        \
                const int rows =                                               \
                    last - from < GBM_ROWS ? (int)(last - from) : GBM_ROWS;    \
                struct gbm_rows_stream stream;                                 \
                struct gbm_rows_draw draw;                                     \
                gbm_rows_begin(&stream, &draw, &rng, elements, from, rows);    \
                for (int r = 0; room && r < rows; r++)                         \
                    columns_##id(s, &at, (long long)stream.element[r],         \
                                 columns + r);                                 \
                if (room)                                                      \
                    gbm_rows_fill(columns, at.columns, rows);                  \
                for (int k = at.first; room && k <= at.last; k++) {            \
                    const gbm_total *u = values + (k - at.first) * at.values;  \
                    gbm_total density[GBM_ROWS];                               \
                    if (!gbm_is_finite(u[0]))                                  \
                        continue;                                              \
                    trial_##id(&at, u, columns,                                \
                               columns + at.columns * GBM_ROWS, density);      \
                    gbm_rows_try(&draw, &stream, k - at.first, k, density);    \
                }                                                              \
                const real *const kept = gbm_rows_end(&draw);                  \
                for (int r = 0; r < rows; r++) {                               \
                    const long long element = (long long)stream.element[r];    \
                    if (kept && draw.wrong[r] == 0) {                          \
                        put_##id(s, element, (int)kept[r]);                    \
                        continue;                                              \
                    }                                                          \
                    rng.element = (uint32_t)element;                           \
                    rng.block = rng.left = 0;                                  \
                    function(s, &rng, &gbm_alone, element,                     \
                             GBM_ADAPTING(sweep));                             \
                }                                                              \
            }                                                                  \
            free(room);                                                        \
        })
#endif

/* The last of `rows` rows once more in the places behind it. */
GBM_FN void gbm_rows_fill(gbm_total *columns, long long n, int rows)
{
    for (gbm_total *at = columns; at < columns + n * GBM_ROWS; at += GBM_ROWS)
        for (int r = rows; r < GBM_ROWS; r++)
            at[r] = at[rows - 1];
}

/* Streams and draws of `rows` elements; behind them the last once more. */
GBM_FN void gbm_rows_begin(struct gbm_rows_stream *stream,
                           struct gbm_rows_draw *draw,
                           const struct gbm_rng *rng, const int *elements,
                           int64_t from, int rows)
{
    for (int r = 0; r < GBM_ROWS; r++) {
        const int64_t k = from + (r < rows ? r : rows - 1);
        stream->element[r] = (uint64_t)(elements ? elements[k] : k);
    }
    stream->key0 = rng->key0;
    stream->key1 = rng->key1;
    stream->sweep = rng->sweep;
    stream->step = rng->step;
    stream->used = 0;
    draw->begun = draw->group.begun = false;
    draw->group.which = 0;
}

#endif
#endif
