/* skeleton_cuda.h: the kernels around the element functions of a generated
 * program. Included by the device's text alone, after `struct state` and
 * shift_state; the host's loops are in skeleton.h.
 *
 * Work is a list of (chain, element) pairs, each done by one team of lanes (see
 * team.h). The runtime says how many lanes a function's teams have by a macro
 * GBM_LANES_<function> when it compiles the text; without, it is one, or with
 * GBM_CHOSEN there is no such kernel: an empty one takes as long to compile as
 * a small one. There "32,1" is 32 lanes: by the second number the preprocessor
 * sees that the macro is given. A kernel depends on its own such macro alone,
 * as others may be given where another part of the text is compiled. A kernel
 * gets the state of chain 0 by value: its pointers lie in constant memory and
 * the fields that a function does not read cost nothing.
 *
 * The generated functions that the macros call:
 *     void shift_state(struct state *s, int chain);
 *     void update(const struct state *s, struct gbm_rng *rng,
 *                 const struct gbm_team *team, long long element,
 *                 int adapting);
 *     void derive(const struct state *s, const struct gbm_team *team,
 *                 long long element);
 *     void row(const struct state *s, const struct gbm_team *team,
 *              long long element, real *weight, real *score);
 *     void design(const struct state *s, const struct gbm_team *team,
 *                 long long element, real *row);
 *     void prior(const struct state *s, long long coordinate,
 *                real *precision, real *potential);
 *     void prior_matrix(const struct state *s, const struct gbm_team *team,
 *                       real *precision, real *potential);
 *     void get(const struct state *s, const struct gbm_team *team, real *x);
 *     void set(const struct state *s, const struct gbm_team *team,
 *              const real *x);
 *     long long cell(const struct state *s, long long element);
 */
#ifndef GBM_SKELETON_CUDA_H
#define GBM_SKELETON_CUDA_H

#include "real.h"
#include "rng.h"
#include "team.h"
#include "rows.h"
#include "slice.h"

/* As in runtime/model.h. */
struct gbm_sweep {
    unsigned long long seed;
    unsigned sweep, chain0, adapting;
};

#ifdef GBM_CHOSEN
#define GBM_LANES_NOT_GIVEN 0
#else
#define GBM_LANES_NOT_GIVEN 1
#endif

/* The number that a text begins with, if it does. */
__device__ constexpr int gbm_lanes_of(const char *text)
{
    int n = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        n = 10 * n + (*text - '0');
    return n > 0 ? n : GBM_LANES_NOT_GIVEN;
}

/* The value of the macro `name`, whose text is its own name if there is none.
 */
#define GBM_LANES_TEXT(...) #__VA_ARGS__
#define GBM_LANES(name) gbm_lanes_of(GBM_LANES_TEXT(name))

/* 1 if the kernel is to be compiled, or 0. */
#ifdef GBM_CHOSEN
#define GBM_SECOND(first, second, ...) second
#define GBM_SECOND_OF(...) GBM_SECOND(__VA_ARGS__, 0, 0)
#define GBM_IS_CHOSEN(function) GBM_SECOND_OF(GBM_LANES_##function)
#else
#define GBM_IS_CHOSEN(function) 1
#endif
#define GBM_JOINED(a, b) a##b
#define GBM_JOIN(a, b) GBM_JOINED(a, b)

/* Threads of a block whose teams have so many lanes. */
#define GBM_BLOCK(lanes)                                                       \
    ((lanes) >= GBM_WIDE_LEAST ? (int)GBM_WIDE_BLOCK                           \
     : (lanes) > 32            ? (lanes)                                       \
                               : 128)
/* The same of the macro `name`: with "32768,1,256" there are so many. */
__device__ constexpr int gbm_block_of(const char *text)
{
    int commas = 0;
    const int lanes = gbm_lanes_of(text);
    for (; *text && commas < 2; text++)
        commas += *text == ',';
    return commas == 2 ? gbm_lanes_of(text) : GBM_BLOCK(lanes);
}
#define GBM_BLOCK_OF(name) gbm_block_of(GBM_LANES_TEXT(name))

/* What the blocks of wide team number `team` share. */
template <int lanes> __device__ struct gbm_wide *gbm_wide_of(long long team)
{
    if constexpr (lanes >= GBM_WIDE_LEAST) {
        static __device__ struct gbm_wide all[GBM_WIDE_TEAMS];
        return all + team;
    } else {
        (void)team;
        return 0;
    }
}

/* The team of the calling thread and the number of its first item; items go on
 * in steps of `step`, so all threads of a team have the same ones. */
struct gbm_worker {
    struct gbm_team team;
    long long first, step;
};

template <int lanes, int block>
__device__ struct gbm_worker gbm_worker_of(gbm_total *shared, int *turn)
{
    constexpr int n = lanes > 0 ? lanes : 1;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    struct gbm_worker w;
    w.team.lane = (int)(thread % n);
    w.team.lanes = n;
    w.team.shared = shared;
    w.team.block = block;
    w.first = thread / n;
    w.step = (long long)gridDim.x * blockDim.x / n;
    w.team.wide = gbm_wide_of<lanes>(w.first);
    w.team.turn = turn;
    return w;
}

/* Chain and place in the list of an item: the list runs fastest. A 64-bit
 * division takes as long as a short update, so it is avoided. */
GBM_FN void gbm_item(long long item, long long count, int chains, int *chain,
                     long long *k)
{
    if (chains == 1) {
        *chain = 0;
        *k = item;
    } else if (count * chains <= 0xffffffffLL) {
        const unsigned c = (unsigned)item / (unsigned)count;
        *chain = (int)c;
        *k = (long long)((unsigned)item - c * (unsigned)count);
    } else {
        *chain = (int)(item / count);
        *k = item % count;
    }
}

/* What a kernel begins with; one that is not chosen is a function that nothing
 * calls, which costs nothing. */
#define GBM_HEAD_1(function, ...)                                              \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__) function##_kernel
#define GBM_HEAD_0(function, ...) GBM_FN void function##_kernel
#define GBM_HEAD(function, ...)                                                \
    GBM_JOIN(GBM_HEAD_, GBM_IS_CHOSEN(function))(function, __VA_ARGS__)

#define GBM_KERNEL_HEAD(function)                                              \
    GBM_HEAD(function, GBM_BLOCK_OF(GBM_LANES_##function))

#define GBM_WORKER(function)                                                   \
    constexpr int lanes = GBM_LANES(GBM_LANES_##function);                     \
    __shared__ gbm_total                                                       \
        shared[lanes >= GBM_WIDE_LEAST ? (int)GBM_WIDE_SHARED : 32];           \
    int turn = 0;                                                              \
    if constexpr (lanes == 0)                                                  \
        return;                                                                \
    gbm_follow();                                                              \
    const struct gbm_worker w =                                                \
        gbm_worker_of<lanes, GBM_BLOCK_OF(GBM_LANES_##function)>(shared,       \
                                                                 &turn);       \
    const struct gbm_team team = w.team;

/* for every item of this team: chain, k, and the chain's state s */
#define GBM_FOR_ITEMS(count, chains)                                           \
    for (long long item = w.first; item < (count) * (chains); item += w.step)

#define GBM_ITEM(count, chains)                                                \
    int chain;                                                                 \
    long long k;                                                               \
    gbm_item(item, (count), (chains), &chain, &k);                             \
    struct state s = base;                                                     \
    GBM_KNOWS(&s);                                                             \
    shift_state(&s, chain);

#include "rows_cuda.h"
#include "rows_forms.h"
#include "rows_weighed.h"
#include "weighed_forms.h"
#include "weighted.h"

#define GBM_UPDATE_LOOP(function, number)                                      \
    const long long per_chain = sequential ? 1 : count;                        \
    const long long in_turn = sequential ? count : 1;                          \
    GBM_FOR_ITEMS(per_chain, chains)                                           \
    {                                                                          \
        GBM_ITEM(per_chain, chains)                                            \
        for (long long t = 0; t < in_turn; t++) {                              \
            const long long place = first + k + t;                             \
            const long long element = elements ? elements[place] : place;      \
            struct gbm_rng rng;                                                \
            gbm_rng_start(&rng, now.seed, now.chain0 + (unsigned)chain,        \
                          now.sweep, number, (unsigned)element);               \
            function(&s, &rng, &team, element, GBM_ADAPTING(&now));            \
            if (sequential)                                                    \
                gbm_team_sync(&team);                                          \
        }                                                                      \
    }

/* Updates elements[first .. first + count), or first .. first + count - 1 if
 * elements is NULL, in each chain. sequential: a chain's elements are done in
 * order by one team. */
#define GBM_KERNEL(function, number)                                           \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, const struct gbm_sweep *sweep,                   \
     const int *elements, long long first, long long count, int chains,        \
     int sequential)                                                           \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        const struct gbm_sweep now = *sweep;                                   \
        GBM_UPDATE_LOOP(function, number)                                      \
    }

/* The kernel of a function that a team does for as many elements at a time as
 * it has lanes: where these move at once. */
#define GBM_KERNEL_TOGETHER(function, number)                                  \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, const struct gbm_sweep *sweep,                   \
     const int *elements, long long first, long long count, int chains,        \
     int sequential)                                                           \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        const struct gbm_sweep now = *sweep;                                   \
        if (lanes <= 32 && !sequential) {                                      \
            function##_together(base, now, w, elements, first, count, chains); \
            return;                                                            \
        }                                                                      \
        GBM_UPDATE_LOOP(function, number)                                      \
    }

/* The same of an update in two parts: prepare(&conditional, s, team, element)
 * makes the sums, together; finish(s, rng, team, element, adapting,
 * &conditional) draws and stores, and reads of the conditional what does not
 * point anywhere. A team prepares as many of its elements as it has lanes, then
 * each lane finishes one: so a draw is not done 32 times over. Elements that
 * move at once do not read each other, so the order does not matter. */
#define GBM_KERNEL_SPLIT(function, prepare, finish, conditional, number)       \
    GBM_FN void function##_together(                                           \
        const struct state &base, const struct gbm_sweep &now,                 \
        const struct gbm_worker &w, const int *elements, long long first,      \
        long long count, int chains)                                           \
    {                                                                          \
        const struct gbm_team alone = {0, 1, w.team.shared};                   \
        for (long long item = w.first; item < count * chains;) {               \
            conditional mine;                                                  \
            long long my_element = -1;                                         \
            int my_chain = 0;                                                  \
            for (int e = 0; e < w.team.lanes && item < count * chains;         \
                 e++, item += w.step) {                                        \
                GBM_ITEM(count, chains)                                        \
                const long long place = first + k;                             \
                const long long element = elements ? elements[place] : place;  \
                conditional its_own;                                           \
                prepare(&its_own, &s, &w.team, element);                       \
                if (w.team.lane == e) {                                        \
                    mine = its_own;                                            \
                    my_element = element;                                      \
                    my_chain = chain;                                          \
                }                                                              \
            }                                                                  \
            if (my_element >= 0) {                                             \
                struct state s = base;                                         \
                GBM_KNOWS(&s);                                                 \
                shift_state(&s, my_chain);                                     \
                struct gbm_rng rng;                                            \
                gbm_rng_start(&rng, now.seed, now.chain0 + (unsigned)my_chain, \
                              now.sweep, number, (unsigned)my_element);        \
                finish(&s, &rng, &alone, my_element, GBM_ADAPTING(&now),       \
                       &mine);                                                 \
            }                                                                  \
            gbm_team_sync(&w.team);                                            \
        }                                                                      \
    }                                                                          \
    GBM_KERNEL_TOGETHER(function, number)

/* Lane `lane` of a team, what it has of x. */
GBM_FN real gbm_team_from(const struct gbm_team *team, real x, int lane)
{
    const unsigned first = threadIdx.x & 31u & ~((unsigned)team->lanes - 1u);
    return __shfl_sync(gbm_team_mask(team), x, (int)first + lane);
}

/* An update along a line (sampler/carried_program.c) in three parts: begin_ has
 * the team's sums, and says whether something moves; along_(rng, line), which
 * may try many places, reads no rows; end_ moves. As above, a lane goes along
 * one of the team's lines each. */
#define GBM_KERNEL_ALONG(function, number)                                     \
    GBM_FN void function##_together(                                           \
        const struct state &base, const struct gbm_sweep &now,                 \
        const struct gbm_worker &w, const int *elements, long long first,      \
        long long count, int chains)                                           \
    {                                                                          \
        const struct gbm_team alone = {0, 1, w.team.shared};                   \
        for (long long begin = w.first; begin < count * chains;                \
             begin += w.team.lanes * w.step) {                                 \
            struct line_of_##function mine;                                    \
            long long my_element = -1;                                         \
            int my_chain = 0;                                                  \
            unsigned moving = 0;                                               \
            real t = 0;                                                        \
            GBM_FOR_LINES(count, chains)                                       \
            {                                                                  \
                GBM_LINE(count, chains)                                        \
                struct line_of_##function its_own;                             \
                if (!begin_##function(&s, &w.team, element,                    \
                                      GBM_ADAPTING(&now), &its_own))           \
                    continue;                                                  \
                moving |= 1u << e;                                             \
                if (w.team.lane == e) {                                        \
                    mine = its_own;                                            \
                    my_element = element;                                      \
                    my_chain = chain;                                          \
                }                                                              \
            }                                                                  \
            if (my_element >= 0) {                                             \
                struct state s = base;                                         \
                GBM_KNOWS(&s);                                                 \
                shift_state(&s, my_chain);                                     \
                mine.s = &s;                                                   \
                mine.team = &alone;                                            \
                struct gbm_rng rng;                                            \
                gbm_rng_start(&rng, now.seed, now.chain0 + (unsigned)my_chain, \
                              now.sweep, number, (unsigned)my_element);        \
                t = along_##function(&rng, &mine);                             \
            }                                                                  \
            gbm_team_sync(&w.team);                                            \
            GBM_FOR_LINES(count, chains)                                       \
            {                                                                  \
                if (!(moving & 1u << e))                                       \
                    continue;                                                  \
                GBM_LINE(count, chains)                                        \
                end_##function(&s, &w.team, element, GBM_ADAPTING(&now),       \
                               gbm_team_from(&w.team, t, e));                  \
            }                                                                  \
            gbm_team_sync(&w.team);                                            \
        }                                                                      \
    }                                                                          \
    GBM_KERNEL_TOGETHER(function, number)

/* for the lines of a turn, of lane e each */
#define GBM_FOR_LINES(count, chains)                                           \
    for (int e = 0; e < w.team.lanes && begin + e * w.step < count * chains;   \
         e++)

#define GBM_LINE(count, chains)                                                \
    const long long item = begin + e * w.step;                                 \
    GBM_ITEM(count, chains)                                                    \
    const long long element = elements ? elements[first + k] : first + k;

/* What rows (rows_cuda.h) are of the functions that sampler/rows.c writes. */
#define GBM_TRIALS_OF(function, id, step)                                      \
    struct function##_trials {                                                 \
        using layout = struct rows_##id;                                       \
        static constexpr unsigned number = step;                               \
        static constexpr int tried = GBM_SIZE(function, 3, 0);                 \
        GBM_FN void lay_out(const struct state *s, layout *at)                 \
        {                                                                      \
            layout_##id(s, at);                                                \
        }                                                                      \
        GBM_FN void values(const struct state *s, const layout *at,            \
                           const struct gbm_team *team, int k, gbm_total *u)   \
        {                                                                      \
            values_##id(s, at, team, k, u);                                    \
        }                                                                      \
        GBM_FN void columns(const struct state *s, const layout *at,           \
                            long long element, gbm_total *x)                   \
        {                                                                      \
            columns_##id(s, at, element, x);                                   \
        }                                                                      \
        GBM_INLINE void trial(const layout *at, const gbm_total *u,            \
                              const gbm_total *x, gbm_total *room,             \
                              gbm_total *total)                                \
        {                                                                      \
            trial_##id(at, u, x, room, total);                                 \
        }                                                                      \
        GBM_FN void put(const struct state *s, long long element, int value)   \
        {                                                                      \
            put_##id(s, element, value);                                       \
        }                                                                      \
        GBM_FN void update(const struct state *s, struct gbm_rng *rng,         \
                           long long element, int adapting)                    \
        {                                                                      \
            const struct gbm_team alone = {0, 1};                              \
            function(s, rng, &alone, element, adapting);                       \
        }                                                                      \
    };

/* What its values tell, for a step that is done by rows. */
#define GBM_KERNEL_VALUES(function)                                            \
    GBM_KERNEL_HEAD(function##_values)                                         \
    (const struct state base, int chains, gbm_total *table)                    \
    {                                                                          \
        GBM_WORKER(function##_values)                                          \
        gbm_row_table<function##_trials>(base, w, chains, table);              \
    }

/* The update of elements by trying all values, as rows, where the runtime tells
 * the sizes. */
#define GBM_KERNEL_TRIALS(function, id, step)                                  \
    GBM_TRIALS_OF(function, id, step)                                          \
    GBM_KERNEL_VALUES(function)                                                \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, const struct gbm_sweep *sweep,                   \
     const int *elements, long long first, long long count, int chains,        \
     int sequential, const gbm_total *table)                                   \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        const struct gbm_sweep now = *sweep;                                   \
        if constexpr (lanes == 1 && gbm_forms<function##_trials>::some) {      \
            gbm_rows_by_forms<function##_trials>(base, now, elements, first,   \
                                                 count, chains, table);        \
        } else if constexpr (lanes == 1 && GBM_SIZE(function, 2, 0) > 0) {     \
            gbm_rows_by_thread<function##_trials>(base, now, elements, first,  \
                                                  count, chains, table);       \
        } else {                                                               \
            GBM_UPDATE_LOOP(function, step)                                    \
        }                                                                      \
    }

/* The same of a node in expectation (rows_weighed.h). */
#define GBM_KERNEL_WEIGHED(function, id, step)                                 \
    GBM_TRIALS_OF(function, id, step)                                          \
    struct function##_weighed : function##_trials {                            \
        GBM_FN real *weights(const struct state *s, long long element,         \
                             real **total)                                     \
        {                                                                      \
            return weights_##id(s, element, total);                            \
        }                                                                      \
        GBM_FN struct gbm_marks marks(const struct state *s,                   \
                                      long long element)                       \
        {                                                                      \
            return marks_##id(s, element);                                     \
        }                                                                      \
    };                                                                         \
    GBM_KERNEL_VALUES(function)                                                \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, const struct gbm_sweep *sweep,                   \
     const int *elements, long long first, long long count, int chains,        \
     int sequential, const gbm_total *table)                                   \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        const struct gbm_sweep now = *sweep;                                   \
        if constexpr (lanes == 1 && gbm_forms<function##_weighed>::some) {     \
            gbm_rows_weighed_by_forms<function##_weighed>(                     \
                base, elements, first, count, chains, table);                  \
        } else if constexpr (lanes == 1 && GBM_SIZE(function, 2, 0) > 0) {     \
            gbm_rows_weighed<function##_weighed>(base, elements, first, count, \
                                                 chains, table);               \
        } else {                                                               \
            GBM_UPDATE_LOOP(function, step)                                    \
        }                                                                      \
    }

/* Computes the elements of a deterministic family. */
#define GBM_DERIVE_LOOP(function)                                              \
    const long long per_chain = sequential ? 1 : count;                        \
    const long long in_turn = sequential ? count : 1;                          \
    GBM_FOR_ITEMS(per_chain, chains)                                           \
    {                                                                          \
        GBM_ITEM(per_chain, chains)                                            \
        for (long long t = 0; t < in_turn; t++) {                              \
            const long long place = first + k + t;                             \
            function(&s, &team, elements ? elements[place] : place);           \
            if (sequential)                                                    \
                gbm_team_sync(&team);                                          \
        }                                                                      \
    }

#define GBM_KERNEL_DERIVE(function)                                            \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, const int *elements, long long first,            \
     long long count, int chains, int sequential)                              \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_DERIVE_LOOP(function)                                              \
    }

/* The same of the table `id`, whose cells are sums over rows that neighbours
 * share: share_ID(s, team, element) is a lane's share, put_ID(s, element, sum)
 * stores. Where the runtime says so (GBM_SIZES_function), a warp has 32
 * neighbouring cells, all of which read the same row at once, and a block's
 * warps are the lanes of each cell's team. */
#define GBM_KERNEL_TALLY(function, id)                                         \
    GBM_TALLY_FUNCTION(function, id)                                           \
    GBM_HEAD(function, GBM_SIZE(function, 0, 0) > 0                            \
                           ? 32 * GBM_BESIDE_LANES                             \
                           : GBM_BLOCK(GBM_LANES(GBM_LANES_##function)))       \
    (const struct state base, const int *elements, long long first,            \
     long long count, int chains, int sequential)                              \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        if constexpr (GBM_SIZE(function, 0, 0) > 0) {                          \
            function##_beside(base, elements, first, count, chains);           \
        } else {                                                               \
            GBM_DERIVE_LOOP(function)                                          \
        }                                                                      \
    }
#ifdef GBM_CHAINS
#define GBM_TALLY_FUNCTION(function, id)                                       \
    GBM_FN void function##_beside(const struct state &, const int *,           \
                                  long long, long long, int)                   \
    {                                                                          \
    }
#else
#define GBM_TALLY_FUNCTION(function, id)                                       \
    GBM_FN void function##_beside(const struct state &base,                    \
                                  const int *elements, long long first,        \
                                  long long count, int chains)                 \
    {                                                                          \
        __shared__ gbm_total shares[GBM_BESIDE_LANES][33];                     \
        const int cell = threadIdx.x % 32, lane = threadIdx.x / 32;            \
        const struct gbm_team team = {lane, GBM_BESIDE_LANES};                 \
        for (long long from = blockIdx.x * 32ll; from < count * chains;        \
             from += gridDim.x * 32ll) {                                       \
            const bool exists = from + cell < count * chains;                  \
            const long long item = exists ? from + cell : from;                \
            GBM_ITEM(count, chains)                                            \
            const long long element =                                          \
                elements ? elements[first + k] : first + k;                    \
            shares[lane][cell] = share_##id(&s, &team, element);               \
            __syncthreads();                                                   \
            if (lane == 0 && exists) {                                         \
                gbm_total sum = 0;                                             \
                for (int i = 0; i < GBM_BESIDE_LANES; i++)                     \
                    sum += shares[i][cell];                                    \
                put_##id(&s, element, sum);                                    \
            }                                                                  \
            __syncthreads();                                                   \
        }                                                                      \
    }
#endif

/* The same of the table `id` where rows are weighted (weighted.h): what its
 * kernel has to know; the kernel; and those of a table, and of another one,
 * `rest`, behind it, with which the device fills the first, too, where it can:
 * `more` says what it is. */
#ifdef GBM_CHAINS
#define GBM_WEIGHTED_TABLE(function, id)
#define GBM_WEIGHTED_WITH(function, id, rest, how)
#define GBM_KERNEL_WEIGHTED(function) GBM_KERNEL_DERIVE(function)
#define GBM_KERNEL_WEIGHTED_WITH(function, rest) GBM_KERNEL_DERIVE(function)
#define GBM_KERNEL_WEIGHTED_REST(function, first) GBM_KERNEL_DERIVE(function)
#else
#define GBM_WEIGHTED_TABLE(function, id)                                       \
    struct function##_table {                                                  \
        static constexpr int outers = GBM_SIZE(function, 1, 1);                \
        static constexpr int lasts = GBM_SIZE(function, 2, 1);                 \
        static constexpr bool symmetric = symmetric_##id != 0;                 \
        static constexpr bool apart = apart_##id != 0;                         \
        static constexpr int more = GBM_WEIGHTED_ALONE;                        \
        static constexpr bool marked = GBM_SIZE(function, 3, 0) > 0;           \
        GBM_FN int groups(const struct state *s) { return groups_##id(s); }    \
        GBM_FN int rows(const struct state *s) { return rows_##id(s); }        \
        GBM_FN real weight(const struct state *s, int group, int row)          \
        {                                                                      \
            return weight_##id(s, group, row);                                 \
        }                                                                      \
        GBM_FN struct gbm_marks marks(const struct state *s, int row)          \
        {                                                                      \
            return marks_##id(s, row);                                         \
        }                                                                      \
        GBM_FN gbm_total still(const struct state *s, int group, int last)     \
        {                                                                      \
            return still_##id(s, group, last);                                 \
        }                                                                      \
        GBM_FN gbm_total head(const struct state *s, int group, int outer,     \
                              int row, gbm_total still)                        \
        {                                                                      \
            return head_##id(s, group, outer, row, still);                     \
        }                                                                      \
        GBM_FN gbm_total tail(const struct state *s, int group, int outer,     \
                              int last, int row, gbm_total still)              \
        {                                                                      \
            return tail_##id(s, group, outer, last, row, still);               \
        }                                                                      \
        GBM_FN void put(const struct state *s, long long element,              \
                        gbm_total sum)                                         \
        {                                                                      \
            put_##id(s, element, sum);                                         \
        }                                                                      \
        GBM_FN void put_more(const struct state *, long long, gbm_total)       \
        {                                                                      \
        }                                                                      \
    };
#define GBM_WEIGHTED_WITH(function, id, rest, how)                             \
    struct function##_with : rest##_table {                                    \
        static constexpr int more = how;                                       \
        static constexpr bool fills =                                          \
            GBM_SIZE(function, 0, 0) > 0 && GBM_SIZE(rest, 0, 0) > 0 &&        \
            (how == GBM_WEIGHTED_COUNT ||                                      \
             GBM_SIZE(function, 2, 1) == rest##_table::lasts) &&               \
            gbm_weighted_has_room<rest##_table>(how);                          \
        GBM_FN void put_more(const struct state *s, long long element,         \
                             gbm_total sum)                                    \
        {                                                                      \
            put_##id(s, element, sum);                                         \
        }                                                                      \
    };
#define GBM_KERNEL_OF_TABLE(function, table)                                   \
    GBM_HEAD(function,                                                         \
             GBM_SIZE(function, 0, 0) > 0                                      \
                 ? GBM_WEIGHTED_THREADS                                        \
                 : GBM_BLOCK(GBM_LANES(GBM_LANES_##function)),                 \
             gbm_weighted_tile<table>::blocks)                                 \
    (const struct state base, const int *elements, long long first,            \
     long long count, int chains, int sequential)                              \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        if constexpr (GBM_SIZE(function, 0, 0) > 0) {                          \
            gbm_weighted_run((const table *)NULL, base, count, chains);        \
        } else {                                                               \
            GBM_DERIVE_LOOP(function)                                          \
        }                                                                      \
    }
#define GBM_KERNEL_WEIGHTED(function)                                      \
    GBM_KERNEL_OF_TABLE(function, function##_table)
#define GBM_KERNEL_WEIGHTED_WITH(function, rest)                               \
    using function##_filled = gbm_either<function##_with::fills,               \
                                         function##_with, function##_table>;   \
    GBM_KERNEL_OF_TABLE(function, function##_filled::type)
#define GBM_KERNEL_WEIGHTED_REST(function, first)                              \
    using function##_filled =                                                  \
        gbm_either<first##_with::fills, gbm_weighted_filled, function##_table>; \
    GBM_KERNEL_OF_TABLE(function, function##_filled::type)
#endif

/* weight, score: [chains][count] */
#define GBM_KERNEL_ROWS(function)                                              \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, long long count, int chains, real *weight,       \
     real *score)                                                              \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_FOR_ITEMS(count, chains)                                           \
        {                                                                      \
            GBM_ITEM(count, chains)                                            \
            real its_weight = 0, its_score = 0;                                \
            function(&s, &team, k, &its_weight, &its_score);                   \
            if (team.lane == 0) {                                              \
                weight[item] = its_weight;                                     \
                score[item] = its_score;                                       \
            }                                                                  \
        }                                                                      \
    }

/* rows: [chains][count][d]; chains is 1 for a design of data alone. */
#define GBM_KERNEL_DESIGN(function)                                            \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, long long count, int chains, int d, real *rows)  \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_FOR_ITEMS(count, chains)                                           \
        {                                                                      \
            GBM_ITEM(count, chains)                                            \
            function(&s, &team, k, rows + item * d);                           \
        }                                                                      \
    }

/* precision, potential: [chains][d] */
#define GBM_KERNEL_PRIOR(function)                                             \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, long long d, int chains, real *precision,        \
     real *potential)                                                          \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_FOR_ITEMS(d, chains)                                               \
        {                                                                      \
            GBM_ITEM(d, chains)                                                \
            real its_precision = 0, its_potential = 0;                         \
            function(&s, k, &its_precision, &its_potential);                   \
            if (team.lane == 0) {                                              \
                precision[item] = its_precision;                               \
                potential[item] = its_potential;                               \
            }                                                                  \
        }                                                                      \
    }

/* precision: [chains][d][d], potential: [chains][d] */
#define GBM_KERNEL_PRIOR_MATRIX(function)                                      \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, long long d, int chains, real *precision,        \
     real *potential)                                                          \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_FOR_ITEMS(1, chains)                                               \
        {                                                                      \
            GBM_ITEM(1, chains)                                                \
            function(&s, &team, precision + item * d * d,                      \
                     potential + item * d);                                    \
        }                                                                      \
    }

/* x: [chains][d]. For both the reading and the writing of the block. */
#define GBM_KERNEL_BLOCK(function, pointer)                                    \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, long long d, int chains, pointer x)              \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_FOR_ITEMS(1, chains)                                               \
        {                                                                      \
            GBM_ITEM(1, chains)                                                \
            function(&s, &team, x + item * d);                                 \
        }                                                                      \
    }
#define GBM_KERNEL_GET(function) GBM_KERNEL_BLOCK(function, real *)
#define GBM_KERNEL_SET(function) GBM_KERNEL_BLOCK(function, const real *)

/* key: [chains][count], the flat cell that the element's reference hits, or -1;
 * chains is 1 for an index of data alone. */
#define GBM_KERNEL_CELL(function)                                              \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, long long count, int chains, int *key)           \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_FOR_ITEMS(count, chains)                                           \
        {                                                                      \
            GBM_ITEM(count, chains)                                            \
            const int its_key = (int)function(&s, k);                          \
            if (team.lane == 0)                                                \
                key[item] = its_key;                                           \
        }                                                                      \
    }

/* out: [chains][count], an element's log density. */
#define GBM_KERNEL_LOGDENSITY(function)                                        \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, long long count, int chains, double *out)        \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_FOR_ITEMS(count, chains)                                           \
        {                                                                      \
            GBM_ITEM(count, chains)                                            \
            const double its_density = (double)function(&s, k);                \
            if (team.lane == 0)                                                \
                out[item] = its_density;                                       \
        }                                                                      \
    }

/* lp: [chains] (first: =, else +=), a family's log density: what `function`
 * says of it, which knows it from the last update, or else its elements' sum,
 * by one thread. */
#define GBM_KERNEL_KNOWN(function, density)                                    \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, long long count, int chains, int first,          \
     double *lp)                                                               \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        GBM_FOR_ITEMS(1, chains)                                               \
        {                                                                      \
            GBM_ITEM(1, chains)                                                \
            double sum = 0;                                                    \
            if (!function(&s, &sum))                                           \
                for (long long i = 0; i < count; i++)                          \
                    sum += (double)density(&s, i);                             \
            lp[item] = first ? sum : lp[item] + sum;                           \
        }                                                                      \
    }

#endif
