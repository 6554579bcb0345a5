/* skeleton_cuda.h: the kernels around the element functions of a generated
 * program. Included by the device's text alone, after `struct state` and
 * shift_state; the host's loops are in skeleton.h.
 *
 * Work is a list of (chain, element) pairs, each done by one team of lanes (see
 * team.h). The runtime says how many lanes a function's teams have by a macro
 * GBM_LANES_<function> when it compiles the text; without, it is one, or with
 * GBM_CHOSEN there is no such kernel: an empty one takes as long to compile as a
 * small one. There "32,1" is 32 lanes: by the second number the preprocessor
 * sees that the macro is given. A kernel depends on its own such macro alone, as
 * others may be given where another part of the text is compiled.
 * A kernel gets the state of chain 0 by value: its pointers lie in constant
 * memory and the fields that a function does not read cost nothing.
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

template <int lanes>
__device__ struct gbm_worker gbm_worker_of(gbm_total *shared)
{
    constexpr int n = lanes > 0 ? lanes : 1;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    struct gbm_worker w;
    w.team.lane = (int)(thread % n);
    w.team.lanes = n;
    w.team.shared = shared;
    w.first = thread / n;
    w.step = (long long)gridDim.x * blockDim.x / n;
    w.team.wide = gbm_wide_of<lanes>(w.first);
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
#define GBM_HEAD_1(function, bounds)                                           \
    extern "C" __global__ void __launch_bounds__(bounds) function##_kernel
#define GBM_HEAD_0(function, bounds) GBM_FN void function##_kernel
#define GBM_HEAD(function, bounds)                                             \
    GBM_JOIN(GBM_HEAD_, GBM_IS_CHOSEN(function))(function, bounds)

#define GBM_KERNEL_HEAD(function)                                              \
    GBM_HEAD(function, GBM_BLOCK(GBM_LANES(GBM_LANES_##function)))

#define GBM_WORKER(function)                                                   \
    __shared__ gbm_total shared[32];                                           \
    constexpr int lanes = GBM_LANES(GBM_LANES_##function);                     \
    if constexpr (lanes == 0)                                                  \
        return;                                                                \
    const struct gbm_worker w = gbm_worker_of<lanes>(shared);                  \
    const struct gbm_team team = w.team;

/* for every item of this team: chain, k, and the chain's state s */
#define GBM_FOR_ITEMS(count, chains)                                           \
    for (long long item = w.first; item < (count) * (chains); item += w.step)

#define GBM_ITEM(count, chains)                                                \
    int chain;                                                                 \
    long long k;                                                               \
    gbm_item(item, (count), (chains), &chain, &k);                             \
    struct state s = base;                                                     \
    shift_state(&s, chain);

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

/* The update of elements by trying all values, as rows (rows.h), where the
 * runtime tells the sizes: a thread has GBM_ROWS of them, a block's values are
 * in shared memory, some at a time. A row with a density that is no number is
 * updated by itself. */
#define GBM_ROWS_TILE 4096
#define GBM_KERNEL_TRIALS(function, id, number)                                \
    __device__ void function##_by_rows(                                        \
        const struct state &base, const struct gbm_sweep &now,                 \
        const struct gbm_worker &w, const int *elements, long long first,      \
        long long count, int chains)                                           \
    {                                                                          \
        __shared__ gbm_total tile[GBM_ROWS_TILE];                              \
        using layout = struct rows_##id;                                       \
        constexpr int columns = layout::columns, room = layout::room;          \
        constexpr int values = layout::values > 0 ? layout::values : 1;        \
        const long long each = (long long)blockDim.x * GBM_ROWS;               \
        const long long blocks = (count + each - 1) / each;                    \
        for (long long b = blockIdx.x; b < blocks * chains; b += gridDim.x) {  \
            int chain;                                                         \
            long long block;                                                   \
            gbm_item(b, blocks, chains, &chain, &block);                       \
            struct state s = base;                                             \
            shift_state(&s, chain);                                            \
            struct rows_##id at;                                               \
            layout_##id(&s, &at);                                              \
            gbm_total x[(columns > 0 ? columns : 1) * GBM_ROWS];               \
            gbm_total own[(room > 0 ? room : 1) * GBM_ROWS];                   \
            struct gbm_trials trials[GBM_ROWS];                                \
            struct gbm_rng rng[GBM_ROWS];                                      \
            long long element[GBM_ROWS];                                       \
            bool wrong[GBM_ROWS];                                              \
            GBM_EACH_ROW                                                       \
            {                                                                  \
                long long k = block * each + r * blockDim.x + threadIdx.x;     \
                k = first + (k < count ? k : count - 1);                       \
                element[r] = elements ? elements[k] : k;                       \
                gbm_rng_start(&rng[r], now.seed, now.chain0 + (unsigned)chain, \
                              now.sweep, number, (unsigned)element[r]);        \
                gbm_trials_begin(&trials[r], at.first);                        \
                wrong[r] = false;                                              \
                columns_##id(&s, &at, element[r], x + r);                      \
            }                                                                  \
            const int most = GBM_ROWS_TILE / values;                           \
            for (int k = at.first; k <= at.last; k += most) {                  \
                const int n = at.last - k < most ? at.last - k + 1 : most;     \
                __syncthreads();                                               \
                for (int i = threadIdx.x; i < n; i += blockDim.x)              \
                    values_##id(&s, &at, k + i, tile + i * values);            \
                __syncthreads();                                               \
                for (int i = 0; i < n; i++) {                                  \
                    gbm_total density[GBM_ROWS];                               \
                    trial_##id(&at, tile + i * values, x, own, density);       \
                    GBM_EACH_ROW                                               \
                    {                                                          \
                        gbm_trials_add(&trials[r], &rng[r], k + i,             \
                                       (real)density[r]);                      \
                        wrong[r] = wrong[r] || gbm_is_nan((real)density[r]);   \
                    }                                                          \
                }                                                              \
            }                                                                  \
            GBM_EACH_ROW                                                       \
            {                                                                  \
                if (block * each + r * blockDim.x + threadIdx.x >= count)      \
                    continue;                                                  \
                if (wrong[r]) {                                                \
                    gbm_rng_start(&rng[r], now.seed,                           \
                                  now.chain0 + (unsigned)chain, now.sweep,     \
                                  number, (unsigned)element[r]);               \
                    function(&s, &rng[r], &w.team, element[r],                 \
                             GBM_ADAPTING(&now));                              \
                } else {                                                       \
                    put_##id(&s, element[r],                                   \
                             (int)gbm_trials_end(&trials[r], &rng[r],          \
                                                 at.first, at.last));          \
                }                                                              \
            }                                                                  \
        }                                                                      \
    }                                                                          \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, const struct gbm_sweep *sweep,                   \
     const int *elements, long long first, long long count, int chains,        \
     int sequential)                                                           \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        const struct gbm_sweep now = *sweep;                                   \
        if constexpr (lanes == 1 && GBM_SIZE(function, 2, 0) > 0) {            \
            function##_by_rows(base, now, w, elements, first, count, chains);  \
        } else {                                                               \
            GBM_UPDATE_LOOP(function, number)                                  \
        }                                                                      \
    }

/* Computes the elements of a deterministic family. */
#define GBM_KERNEL_DERIVE(function)                                            \
    GBM_KERNEL_HEAD(function)                                                  \
    (const struct state base, const int *elements, long long first,            \
     long long count, int chains, int sequential)                              \
    {                                                                          \
        GBM_WORKER(function)                                                   \
        const long long per_chain = sequential ? 1 : count;                    \
        const long long in_turn = sequential ? count : 1;                      \
        GBM_FOR_ITEMS(per_chain, chains)                                       \
        {                                                                      \
            GBM_ITEM(per_chain, chains)                                        \
            for (long long t = 0; t < in_turn; t++) {                          \
                const long long place = first + k + t;                         \
                function(&s, &team, elements ? elements[place] : place);       \
                if (sequential)                                                \
                    gbm_team_sync(&team);                                      \
            }                                                                  \
        }                                                                      \
    }

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

#endif
