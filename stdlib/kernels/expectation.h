/* expectation.h: a discrete node in expectation, for EM. */
#ifndef GBM_EXPECTATION_H
#define GBM_EXPECTATION_H

#include "weight_marks.h"
#include "rows.h"

/* weights [hi - lo + 1]: the probabilities of the values of [lo, hi], whose log
 * densities `density` gives; *total: the log of the sum of their densities.
 * Returns the most probable value. If none is possible all weights are 0. */
GBM_INLINE real gbm_expect(int lo, int hi,
                           real (*density)(const void *context, real x),
                           const void *context, real *weights, real *total)
{
    real most = -GBM_INF;
    int best = lo;
    for (int k = lo; k <= hi; k++) {
        const real value = density(context, (real)k);
        const bool larger = value > most; /* NaN is no value */
        weights[k - lo] = value == value ? value : -GBM_INF;
        best = larger ? k : best;
        most = larger ? value : most;
    }
    gbm_total sum = 0;
    const bool any = gbm_is_finite(most);
    for (int k = lo; k <= hi; k++) {
        weights[k - lo] = any ? real_exp(weights[k - lo] - most) : 0;
        sum += weights[k - lo];
    }
    for (int k = lo; k <= hi && any; k++)
        weights[k - lo] = (real)(weights[k - lo] / sum);
    *total = any ? most + real_log((real)sum) : most;
    return (real)best;
}

#ifndef __CUDACC__
/* The same of GBM_ROWS rows. Of one that is wrong some density is no number, as
 * rows multiply what may be 0 by what may be infinite: it is done by itself. */
struct gbm_rows_weighed {
    real most[GBM_ROWS], sum[GBM_ROWS], best[GBM_ROWS], wrong[GBM_ROWS];
};

/* logs [values][GBM_ROWS]: log densities, which become shares of `sum`. */
GBM_FN void gbm_rows_weigh(struct gbm_rows_weighed *restrict w, int first,
                           long long values, gbm_total *restrict logs)
{
    GBM_EACH_ROW
    {
        w->most[r] = -GBM_INF;
        w->best[r] = first;
        w->sum[r] = 0;
        w->wrong[r] = 0;
    }
    for (int k = 0; k < values; k++) {
        const gbm_total *const at = logs + k * GBM_ROWS;
        GBM_EACH_ROW
        {
            const bool larger = at[r] > w->most[r];
            w->best[r] = larger ? first + k : w->best[r];
            w->most[r] = larger ? at[r] : w->most[r];
        }
    }
    for (gbm_total *at = logs; at < logs + values * GBM_ROWS; at += GBM_ROWS)
        GBM_EACH_ROW
        {
            const real share = real_exp(at[r] - w->most[r]);
            w->wrong[r] = at[r] == at[r] ? w->wrong[r] : 1;
            at[r] = at[r] == at[r] ? share : 0;
            w->sum[r] += at[r];
        }
}

/* Stores what row r came to; returns its most probable value. */
GBM_FN int gbm_rows_store(const struct gbm_rows_weighed *w, int r,
                          long long values, const gbm_total *logs,
                          real *weights, real *total)
{
    const bool any = gbm_is_finite(w->most[r]);
    for (int k = 0; k < values; k++)
        weights[k] = any ? logs[k * GBM_ROWS + r] / w->sum[r] : 0;
    *total = any ? w->most[r] + real_log(w->sum[r]) : w->most[r];
    return (int)w->best[r];
}

/* As GBM_HOST_RUN_ROWS (rows.h); weights_ID(s, element, &total) is where an
 * element's weights and its total are. */
#define GBM_HOST_RUN_WEIGHED(part, function, id, number)                       \
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
                    ? gbm_rows_room(own + nvalues * (GBM_ROWS + at.values))    \
                    : NULL;                                                    \
            gbm_total *const columns = room;                                   \
            gbm_total *const logs = room + own;                                \
            gbm_total *const values = logs + nvalues * GBM_ROWS;               \
            for (int k = at.first; room && k <= at.last; k++)                  \
                values_##id(s, &at, &gbm_alone, k,                             \
                            values + (k - at.first) * at.values);              \
            for (int64_t from = first; from < last; from += GBM_ROWS) {        \
                const int rows =                                               \
                    last - from < GBM_ROWS ? (int)(last - from) : GBM_ROWS;    \
                struct gbm_rows_weighed weighed;                               \
                for (int r = 0; room && r < rows; r++)                         \
                    columns_##id(s, &at,                                       \
                                 elements ? elements[from + r] : from + r,     \
                                 columns + r);                                 \
                if (room)                                                      \
                    gbm_rows_fill(columns, at.columns, rows);                  \
                for (long long k = 0; room && k < nvalues; k++)                \
                    trial_##id(&at, values + k * at.values, columns,           \
                               columns + at.columns * GBM_ROWS,                \
                               logs + k * GBM_ROWS);                           \
                if (room)                                                      \
                    gbm_rows_weigh(&weighed, at.first, nvalues, logs);         \
                for (int r = 0; r < rows; r++) {                               \
                    const long long element =                                  \
                        elements ? elements[from + r] : from + r;              \
                    real *total, *weights = weights_##id(s, element, &total);  \
                    if (room && weighed.wrong[r] == 0)                         \
                        put_##id(s, element,                                   \
                                 gbm_rows_store(&weighed, r, nvalues, logs,    \
                                                weights, total));              \
                    else                                                       \
                        function(s, &rng, &gbm_alone, element,                 \
                                 GBM_ADAPTING(sweep));                         \
                }                                                              \
            }                                                                  \
            free(room);                                                        \
        })
#endif

#endif
