/* skeleton.h: what stands around the element functions of a generated program
 * on the host: loops over elements. The device's kernels are in
 * skeleton_cuda.h. Included after `struct state`. */
#ifndef GBM_SKELETON_H
#define GBM_SKELETON_H

#include "gbm.h"
#include "team.h"
#include "row_terms.h"
#include "rows.h"
#include "recall.h"

/* Functions of one kind have the same parameters, and all indices of their
 * loops, whether or not each of them reads them all. */
#ifdef __CUDACC__
#pragma nv_diag_suppress 177
#else
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#endif

/* Room for n values, to the end of the block. On the device they are a thread's
 * own, or from the device's heap if they are many (linear.h). */
#ifdef __CUDACC__
struct gbm_room {
    real own[GBM_SMALL_CELLS];
    real *cells;
    __device__ explicit gbm_room(long long n) { cells = gbm_scratch(own, n); }
    __device__ ~gbm_room() { gbm_scratch_free(own, cells); }
};
#define GBM_SCRATCH(name, small, n)                                            \
    const gbm_room small(n);                                                   \
    if (!small.cells)                                                          \
        __trap();                                                              \
    real *const name = small.cells
#else
/* n may be a count in double (emit/count.c) */
#define GBM_SCRATCH(name, small, n) real name[(n) > 0 ? (long long)(n) : 1]
#endif

/* Hoisted columns of the instances of a lane, on the device: GBM_KEPT_ROWS(n)
 * rows of n columns in a thread's own memory, which neighbouring threads read
 * side by side. Where a lane has more rows, none has kept any. What lanes have
 * kept of a sum is added up between GBM_LANES_BEGIN and _END. A kernel that
 * sweeps whole chains keeps nothing: it knows lengths, and has in registers
 * what it reads. */
#if defined(__CUDACC__) && defined(GBM_CHAINS)
#define GBM_KEEPS 0
#else
#define GBM_KEEPS 1
#endif
#ifdef __CUDACC__
#define GBM_KEPT_CELLS 64
#define GBM_KEPT_ROWS(columns)                                                 \
    ((columns) < GBM_KEPT_CELLS ? GBM_KEPT_CELLS / (columns) : 1)
#define GBM_KEPT(conditional) (GBM_KEEPS && (conditional)->kept)
#define GBM_KEEP_ROW(conditional, part)                                        \
    if ((conditional)->rows##part >= (conditional)->room##part) {              \
        (conditional)->kept = false;                                           \
        break;                                                                 \
    }
#define GBM_KEPT_BY_ALL(conditional, team)                                     \
    (conditional)->kept =                                                      \
        gbm_team_sum(team, (gbm_total) !(conditional)->kept) == 0
#define GBM_LANES_BEGIN(total)                                                 \
    {                                                                          \
        const gbm_total before_lanes_ = total;                                 \
        total = 0;
#define GBM_LANES_END(total, team)                                             \
    total = before_lanes_ + gbm_team_sum(team, total);                         \
    }
#else
#define GBM_KEPT(conditional) true
#define GBM_KEEP_ROW(conditional, part)
#define GBM_KEPT_BY_ALL(conditional, team)
#define GBM_LANES_BEGIN(total)
#define GBM_LANES_END(total, team)
#endif

/* Room for the hoisted columns of an update on the host: few cells stand on the
 * stack. In a build for tests (GBM_GUARD) there is as much room as
 * was asked for and no more: what is written behind it ends the program. On the
 * device, where it keeps any, room of their own: an array in the conditional,
 * read at places that are not known, would have all of that in memory, and the
 * compiler could not see what team it is. */
#ifdef __CUDACC__
#define GBM_COLUMNS(conditional, count)
#define GBM_COLUMNS_END(conditional)
#if GBM_KEEPS
#define GBM_KEPT_COLUMNS(conditional, count)                                   \
    real own_columns[decltype(conditional)::cells];                            \
    (conditional).columns = own_columns
#else
#define GBM_KEPT_COLUMNS(conditional, count)
#endif
#else
#define GBM_KEPT_COLUMNS(conditional, cells) GBM_COLUMNS(conditional, cells)
#include <stdlib.h>
#ifdef GBM_GUARD
#define GBM_OWN_COLUMNS 1
#else
#define GBM_OWN_COLUMNS 512
#endif
#define GBM_COLUMNS(conditional, cells)                                        \
    real own_columns[GBM_OWN_COLUMNS];                                         \
    (conditional).columns = gbm_columns(own_columns, cells)
#define GBM_COLUMNS_END(conditional)                                           \
    gbm_columns_end(own_columns, (conditional).columns)

#ifdef GBM_GUARD
#define GBM_GUARD_CELLS 8
#define GBM_GUARD_VALUE REAL_C(-3.25e30)
/* Before the columns is their number, behind them what must stay. */
GBM_FN real *gbm_columns(real *own, long long cells)
{
    (void)own;
    long long n = cells > 0 ? cells : 0;
    real *room =
        (real *)malloc((size_t)(1 + n + GBM_GUARD_CELLS) * sizeof *room);
    if (!room)
        abort();
    room[0] = (real)n;
    for (int k = 0; k < GBM_GUARD_CELLS; k++)
        room[1 + n + k] = GBM_GUARD_VALUE;
    return room + 1;
}
GBM_FN void gbm_columns_end(const real *own, real *columns)
{
    (void)own;
    real *room = columns - 1;
    for (int k = 0; k < GBM_GUARD_CELLS; k++)
        if (!(room[1 + (long long)room[0] + k] == GBM_GUARD_VALUE))
            abort();
    free(room);
}
#else
GBM_FN real *gbm_columns(real *own, long long cells)
{
    if (cells <= GBM_OWN_COLUMNS)
        return own;
    real *columns = (real *)malloc((size_t)cells * sizeof *columns);
    if (!columns)
        abort();
    return columns;
}
GBM_FN void gbm_columns_end(const real *own, real *columns)
{
    if (columns != own)
        free(columns);
}
#endif

#endif

/* x y, and 0 where x is 0 even if y is infinite: for y a sum of logs, or what
 * overflows. */
GBM_FN real gbm_times(real x, real y) { return x == 0 ? 0 : x * y; }

/* The log density c x of a count between bounds, up to a constant. Where c is
 * infinite, log p - log(1 - p) with p = 1, all the mass is at one of them. */
GBM_FN real gbm_log_odds(real c, real x, real lower, real upper)
{
    if (gbm_is_finite(c) || gbm_is_nan(c))
        return c * x;
    return gbm_times(x - (c > 0 ? upper : lower), c);
}

/* Conditions a Gaussian with precision Q [d][d] and potential b on the
 * coordinates that are fixed at x. */
GBM_FN void gbm_condition_on(int d, real *Q, real *b,
                             const unsigned char *fixed, const real *x)
{
    for (int j = 0; j < d; j++) {
        if (!fixed[j])
            continue;
        for (int i = 0; i < d; i++) {
            if (!fixed[i])
                b[i] -= Q[i * d + j] * x[j];
            Q[i * d + j] = 0;
            Q[j * d + i] = 0;
        }
        Q[j * d + j] = 1;
        b[j] = 0;
    }
}

#ifndef __CUDACC__

/* Any element is drawn from its full conditional. */
static inline __attribute__((unused)) int gbm_always(const void *state,
                                                     int64_t element)
{
    (void)state;
    (void)element;
    return 1;
}

#include "ahead.h"

#include <stdarg.h>
#include <stdio.h>

static const struct gbm_team gbm_alone = {0, 1};

/* Writes what is wrong and returns false. */
static inline __attribute__((unused, format(printf, 2, 3))) bool
gbm_problem_text(struct gbm_problem *problem, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
    return false;
}

/* An integer that the data leave out (NA). */
GBM_FN bool gbm_is_missing(int x) { return x == -2147483647 - 1; }

/* Whether subscript `at` of a dimension lies in 1 .. extent. */
static inline __attribute__((unused)) bool
gbm_subscript(struct gbm_problem *problem, const char *name, int dimension,
              int at, int extent)
{
    if (at >= 1 && at <= extent)
        return true;
    return gbm_problem_text(problem,
                            "subscript %d of %s is %d, but its extent is %d",
                            dimension, name, at, extent);
}

/* That x, a subscript or an end of a range, is a whole number. */
static inline __attribute__((unused)) bool
gbm_is_nearest(struct gbm_problem *problem, const char *text, real x)
{
    if (gbm_is_near_whole(x))
        return true;
    return gbm_problem_text(problem, "%s is %g, but must be a whole number",
                            text, (double)x);
}

/* How far x is from an interval; far if it is not a number. */
GBM_FN real gbm_outside(real x, real lower, real upper)
{
    return x < lower                  ? lower - x
           : x > upper                ? x - upper
           : x >= lower && x <= upper ? 0
                                      : REAL_C(1e30);
}

/* A starting value near `mean`, `spread` wide, inside the bounds; if spread is
 * negative, near 0 or 1 from a bound, whatever the mean. Bounds on both sides
 * of 0 are those of a location, often as wide as can be: it moves no further
 * than without them. Every family calls it, once a run: it is compiled once. */
static __attribute__((unused, noinline)) real
gbm_start(struct gbm_rng *rng, real mean, real lower, real upper, real spread)
{
    bool below = lower > -GBM_INF, above = upper < GBM_INF;
    if (spread < 0) { /* the mean may be far from anything that is possible */
        mean = GBM_NAN;
        spread = -spread;
    }
    real z = spread * gbm_draw_normal(rng);
    if (!gbm_is_finite(mean))
        mean = below ? lower + 1 : above ? upper - 1 : 0;
    if (below && above) {
        real width = upper - lower, p = (mean - lower) / width;
        p = gbm_clamp(p, REAL_C(0.02), REAL_C(0.98));
        real slope = width * p * (1 - p);
        if (lower < 0 && upper > 0 && slope > 1)
            z /= slope;
        real odds = p / (1 - p) * real_exp(z);
        return lower + width * odds / (1 + odds);
    }
    if (below)
        return lower + (mean > lower ? mean - lower : 1) * real_exp(z);
    if (above)
        return upper - (mean < upper ? upper - mean : 1) * real_exp(z);
    return mean + z;
}

/* Of vector nodes, which start between the mean and a draw from the prior: the
 * farthest that a component is from the mean; how much of the way they go; a
 * component there, or as far from 0, whatever the mean. */
GBM_FN real gbm_widest(real widest, real far)
{
    return real_fabs(far) <= widest ? widest : real_fabs(far);
}
GBM_FN real gbm_share_of_draw(real spread, real widest, int simplex)
{
    const real size = real_fabs(spread);
    if (simplex)
        return (size < 1 ? size : 1) / 2;
    return size * (widest <= 2 ? 1 : 2 / widest);
}
GBM_FN real gbm_drawn_in(real x, real mean, real share, int at_unit)
{
    const real far = share > 0 ? share * (x - mean) : 0;
    return at_unit ? far : mean + far;
}

/* x moved by `step`, inside the bounds: of a summand towards an observed sum. A
 * whole number moves by at least 1; a real one not onto a bound. */
GBM_FN real gbm_share(real x, real step, real lower, real upper, int integer)
{
    if (integer)
        return gbm_clamp(x + (step > 0 ? real_ceil(step) : real_floor(step)),
                         lower, upper);
    if (x + step <= lower)
        return (x + lower) / 2;
    return x + step >= upper ? (x + upper) / 2 : x + step;
}

/* What draws depend on: sweeps, starting values. A program may be compiled in
 * parts, side by side: with GBM_PART defined as 1 to 4 those entries of the
 * program alone that are of that part; as 0 all else, and entries are declared.
 * Without it the program is one file, as any other. */
#define GBM_DEFINED(head, ...) head __VA_ARGS__
#define GBM_DECLARED(head, ...) head;
#define GBM_OWN(head, ...) static head __VA_ARGS__
#if !defined GBM_PART
#define GBM_ENTRY_1 GBM_OWN
#define GBM_ENTRY_2 GBM_OWN
#define GBM_ENTRY_3 GBM_OWN
#define GBM_ENTRY_4 GBM_OWN
#else
#define GBM_ENTRY_1 GBM_DECLARED
#define GBM_ENTRY_2 GBM_DECLARED
#define GBM_ENTRY_3 GBM_DECLARED
#define GBM_ENTRY_4 GBM_DECLARED
#if GBM_PART == 1
#undef GBM_ENTRY_1
#define GBM_ENTRY_1 GBM_DEFINED
#elif GBM_PART == 2
#undef GBM_ENTRY_2
#define GBM_ENTRY_2 GBM_DEFINED
#elif GBM_PART == 3
#undef GBM_ENTRY_3
#define GBM_ENTRY_3 GBM_DEFINED
#elif GBM_PART == 4
#undef GBM_ENTRY_4
#define GBM_ENTRY_4 GBM_DEFINED
#endif
#endif
#define GBM_ENTRY(part, ...) GBM_ENTRY_##part(__VA_ARGS__)

/* The run of a step: each element's random numbers depend on (seed, chain,
 * sweep, step, element) alone. Of those that the device may have computed ahead
 * an element has `blocks`; its first draw is the function `draw`. */
#ifdef GBM_ONE_BY_ONE
#define GBM_AHEAD(sweep) NULL
#else
#define GBM_AHEAD(sweep) (sweep)->ahead
#endif
#define GBM_RUN_STARTS(number, blocks, draw)                                   \
    const struct state *const s = (const struct state *)state;                 \
    struct gbm_rng rng;                                                        \
    gbm_rng_start(&rng, sweep->seed, chain, sweep->sweep, number, 0);          \
    if (GBM_AHEAD(sweep) && (blocks) > 0) {                                    \
        rng.ahead = GBM_AHEAD(sweep);                                          \
        rng.place = sweep->place;                                              \
        rng.stride = sweep->stride;                                            \
        rng.nahead = (blocks);                                                 \
        rng.normals = GBM_NORMALS_FIRST(draw);                                 \
    }
/* `element` is number k, and its stream begins. */
#define GBM_RUN_ELEMENT(k)                                                     \
    const long long element = elements ? elements[k] : (k);                    \
    rng.element = (uint32_t)element;                                           \
    rng.block = rng.left = 0

#define GBM_HOST_RUN(part, function, number, blocks, draw)                     \
    GBM_ENTRY(                                                                 \
        part,                                                                  \
        void function##_run(const void *state, const struct gbm_sweep *sweep,  \
                            uint32_t chain, const int *elements,               \
                            int64_t first, int64_t last),                      \
        {                                                                      \
            GBM_RUN_STARTS(number, blocks, draw)                               \
            for (int64_t k = first; k < last; k++) {                           \
                GBM_RUN_ELEMENT(k);                                            \
                function(s, &rng, &gbm_alone, element, GBM_ADAPTING(sweep));   \
                rng.place += (blocks)*rng.stride;                              \
            }                                                                  \
        })

/* The same where an element's draw may be asked for before it is taken
 * (between_rows.h): `prepare` once, with what it keeps in k_, and `finish`
 * twice. */
#define GBM_RUN_BETWEEN(conditional, prepare, finish, blocks)                  \
    for (int64_t start = first; start < last; start += GBM_BETWEEN_ROWS) {     \
        const int64_t rest = last - start;                                     \
        const int n = rest < GBM_BETWEEN_ROWS ? (int)rest : GBM_BETWEEN_ROWS;  \
        struct gbm_between between;                                            \
        conditional kept[GBM_BETWEEN_ROWS];                                    \
        between.taken = n < GBM_BETWEEN_LEAST;                                 \
        for (int i = 0; i < n; i++) {                                          \
            GBM_RUN_ELEMENT(start + i);                                        \
            conditional *const k_ = &kept[i];                                  \
            prepare;                                                           \
            gbm_between_begin(&between, i);                                    \
            if (between.taken)                                                 \
                continue;                                                      \
            rng.between = &between;                                            \
            rng.asks = i;                                                      \
            finish;                                                            \
            rng.place += (blocks)*rng.stride;                                  \
        }                                                                      \
        if (!between.taken) {                                                  \
            gbm_draw_between_rows(&between, n);                                \
            rng.place -= (uint32_t)n * (blocks)*rng.stride;                    \
        }                                                                      \
        for (int i = 0; i < n; i++) {                                          \
            GBM_RUN_ELEMENT(start + i);                                        \
            conditional *const k_ = &kept[i];                                  \
            rng.between = &between;                                            \
            rng.asks = i;                                                      \
            finish;                                                            \
            rng.place += (blocks)*rng.stride;                                  \
        }                                                                      \
    }

/* Of a step with the functions prepare_id and finish_id. */
#define GBM_HOST_RUN_BETWEEN_SPLIT(part, function, id, number, blocks)         \
    GBM_ENTRY(                                                                 \
        part,                                                                  \
        void function##_run(const void *state, const struct gbm_sweep *sweep,  \
                            uint32_t chain, const int *elements,               \
                            int64_t first, int64_t last),                      \
        {GBM_RUN_STARTS(number, blocks, none) GBM_RUN_BETWEEN(                 \
            struct conditional_##id, prepare_##id(k_, s, &gbm_alone, element), \
            finish_##id(s, &rng, &gbm_alone, element, GBM_ADAPTING(sweep),     \
                        k_),                                                   \
            blocks)})

/* Of one whose update is small enough to be made twice. */
#define GBM_HOST_RUN_BETWEEN(part, function, number, blocks)                   \
    GBM_ENTRY(part,                                                            \
              void function##_run(const void *state,                           \
                                  const struct gbm_sweep *sweep,               \
                                  uint32_t chain, const int *elements,         \
                                  int64_t first, int64_t last),                \
              {GBM_RUN_STARTS(number, blocks, none) GBM_RUN_BETWEEN(           \
                  char, (void)k_,                                              \
                  function(s, &rng, &gbm_alone, element, GBM_ADAPTING(sweep)), \
                  blocks)})

/* Rows first..last of a step that draws what the rows of a dense block's
 * design wait for, whose a'x are known (struct gbm_dense_term). */
#define GBM_HOST_PASS(part, function, id, number, blocks, draw)                \
    GBM_ENTRY(part,                                                            \
              void function##_rows(const void *state,                          \
                                   const struct gbm_sweep *sweep,              \
                                   uint32_t chain, int64_t first,              \
                                   int64_t last, const double *predictor),     \
              {                                                                \
                  const int *const elements = NULL;                            \
                  GBM_RUN_STARTS(number, blocks, draw)                         \
                  for (int64_t k = first; k < last; k++) {                     \
                      struct conditional_##id k_;                              \
                      GBM_RUN_ELEMENT(k);                                      \
                      predicted_##id(&k_, s, &gbm_alone, element,              \
                                     predictor[k - first]);                    \
                      finish_##id(s, &rng, &gbm_alone, element,                \
                                  GBM_ADAPTING(sweep), &k_);                   \
                      rng.place += (blocks)*rng.stride;                        \
                  }                                                            \
              })
#define GBM_HOST_PASS_BETWEEN(part, function, id, number, blocks)              \
    GBM_ENTRY(part,                                                            \
              void function##_rows(const void *state,                          \
                                   const struct gbm_sweep *sweep,              \
                                   uint32_t chain, int64_t first,              \
                                   int64_t last, const double *predictor),     \
              {                                                                \
                  const int *const elements = NULL;                            \
                  GBM_RUN_STARTS(number, blocks, none)                         \
                  GBM_RUN_BETWEEN(struct conditional_##id,                     \
                                  predicted_##id(k_, s, &gbm_alone, element,   \
                                                 predictor[element - first]),  \
                                  finish_##id(s, &rng, &gbm_alone, element,    \
                                              GBM_ADAPTING(sweep), k_),        \
                                  blocks)                                      \
              })

#ifdef GBM_COMPILED
#define GBM_ENTRY_AHEAD GBM_DECLARED
#else
#define GBM_ENTRY_AHEAD GBM_ENTRY_2
#endif
#define GBM_HOST_AHEAD(function)                                               \
    GBM_ENTRY(AHEAD,                                                           \
              void function##_host(                                            \
                  uint64_t seed, uint32_t chain, uint32_t sweep, int ngroups,  \
                  const struct gbm_places *places, struct gbm_ahead *out),     \
              { function(seed, chain, sweep, ngroups, places, out); })
#define GBM_HOST_DERIVE(function)                                              \
    GBM_ENTRY(1, void function##_host(const void *state, int64_t element),     \
              { function((const struct state *)state, &gbm_alone, element); })
#define GBM_HOST_LOGDENSITY(function)                                          \
    GBM_ENTRY(1, double function##_host(const void *state, int64_t element), { \
        return (double)function((const struct state *)state, element);         \
    })
#define GBM_HOST_ADJOINT(function)                                             \
    GBM_ENTRY(1,                                                               \
              void function##_host(const void *state, const void *adjoints,    \
                                   int64_t element, double weight),            \
              {                                                                \
                  function((const struct state *)state,                        \
                           (const struct state *)adjoints, element,            \
                           (real)weight);                                      \
              })
#define GBM_HOST_BOUNDS(function)                                              \
    GBM_ENTRY(1,                                                               \
              void function##_host(const void *state, int64_t element,         \
                                   double *lower, double *upper),              \
              {                                                                \
                  function((const struct state *)state, element,               \
                           (real *)lower, (real *)upper);                      \
              })
#define GBM_HOST_ADJOINT_BOUNDS(function)                                      \
    GBM_ENTRY(1,                                                               \
              void function##_host(const void *state, const void *adjoints,    \
                                   int64_t element, double lower,              \
                                   double upper),                              \
              {                                                                \
                  function((const struct state *)state,                        \
                           (const struct state *)adjoints, element,            \
                           (real)lower, (real)upper);                          \
              })
#define GBM_HOST_SIMULATE(function)                                            \
    GBM_ENTRY(4,                                                               \
              void function##_host(const void *state, struct gbm_rng *rng,     \
                                   int64_t element),                           \
              { function((const struct state *)state, rng, element); })
#define GBM_HOST_START(function)                                               \
    GBM_ENTRY(                                                                 \
        4,                                                                     \
        void function##_host(const void *state, struct gbm_rng *rng,           \
                             int64_t element, double spread),                  \
        { function((const struct state *)state, rng, element, spread); })
#define GBM_HOST_SETTLE(function)                                              \
    GBM_ENTRY(4, void function##_host(const void *state, int64_t element),     \
              { function((const struct state *)state, element); })
#define GBM_HOST_CELL(function)                                                \
    GBM_ENTRY(1, int64_t function##_host(const void *state, int64_t element),  \
              { return function((const struct state *)state, element); })

/* Of blocks: see struct gbm_dense and struct gbm_joint_term. */
#define GBM_HOST_ROW(function)                                                 \
    GBM_ENTRY(1,                                                               \
              void function##_host(const void *state, int64_t element,         \
                                   double *weight, double *score),             \
              {                                                                \
                  real w = 0, t = 0;                                           \
                  function((const struct state *)state, &gbm_alone, element,   \
                           &w, &t);                                            \
                  *weight = (double)w;                                         \
                  *score = (double)t;                                          \
              })
#define GBM_HOST_DESIGN(function)                                              \
    GBM_ENTRY(                                                                 \
        1,                                                                     \
        void function##_host(const void *state, int64_t element, double *row), \
        {                                                                      \
            function((const struct state *)state, &gbm_alone, element,         \
                     (real *)row);                                             \
        })
#define GBM_HOST_JOINT_ROW(function)                                           \
    GBM_ENTRY(1,                                                               \
              void function##_host(const void *state, int64_t element,         \
                                   double *weight, double *score),             \
              {                                                                \
                  real w, t;                                                   \
                  function((const struct state *)state, element, &w, &t);      \
                  *weight = (double)w;                                         \
                  *score = (double)t;                                          \
              })
#define GBM_HOST_JOINT_DESIGN(function)                                        \
    GBM_ENTRY(                                                                 \
        1,                                                                     \
        void function##_host(const void *state, int64_t element, double *a),   \
        { function((const struct state *)state, element, (real *)a); })
#define GBM_HOST_SCATTER(function)                                             \
    GBM_ENTRY(1,                                                               \
              void function##_host(const void *state, int64_t instance,        \
                                   double *cells),                             \
              { function((const struct state *)state, instance, cells); })
#define GBM_HOST_PRIOR(function)                                               \
    GBM_ENTRY(1,                                                               \
              void function##_host(const void *state, int64_t coordinate,      \
                                   double *precision, double *potential),      \
              {                                                                \
                  real q, p;                                                   \
                  function((const struct state *)state, coordinate, &q, &p);   \
                  *precision = (double)q;                                      \
                  *potential = (double)p;                                      \
              })
#define GBM_HOST_PRIOR_MATRIX(function)                                        \
    GBM_ENTRY(1,                                                               \
              void function##_host(const void *state, double *precision,       \
                                   double *potential),                         \
              {                                                                \
                  function((const struct state *)state, &gbm_alone,            \
                           (real *)precision, (real *)potential);              \
              })
#define GBM_HOST_GET(function)                                                 \
    GBM_ENTRY(1, void function##_host(const void *state, double *x), {         \
        function((const struct state *)state, &gbm_alone, (real *)x);          \
    })
#define GBM_HOST_SET(function)                                                 \
    GBM_ENTRY(1, void function##_host(const void *state, const double *x), {   \
        function((const struct state *)state, &gbm_alone, (const real *)x);    \
    })

#endif
#endif
