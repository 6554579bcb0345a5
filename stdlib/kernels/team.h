/* team.h: the lanes that update one element together.
 *
 * An element with a long sum in it is worth more than one thread of a GPU. All
 * lanes of a team run the same function with the same random numbers; a sum
 * over data is shared out among them and added up by gbm_team_sum, whose result
 * every lane gets, so they go on alike. On the host a team has one lane.
 *
 *     gbm_total sum = 0;
 *     GBM_TEAM_FOR(i, 0, n, team)
 *         sum += s->y[i];
 *     sum = gbm_team_sum(team, sum);
 *
 * Every lane must reach every gbm_team_... call. A lane may store what all
 * lanes computed alike; where other lanes may still read the old value (the
 * function read the same cell since its last gbm_team_sum), gbm_team_sync comes
 * before the store.
 *
 * The shape of a sum depends on the number of lanes alone: lane k adds the
 * terms k, k + lanes, ...; then a butterfly within a warp; then one over warps,
 * and over the blocks of a wide team. */
#ifndef GBM_TEAM_H
#define GBM_TEAM_H

#include "real.h"

/* What sums over many terms are kept in: double, but for --precision single. */
#if defined(GBM_SINGLE) && !defined(GBM_MIXED)
typedef float gbm_total;
#else
typedef double gbm_total;
#endif

/* Lanes of an element where a warp has 32 neighbours (skeleton_cuda.h); threads
 * of a block that has weighted sums (weighted.h): three warps for each part of
 * a multiprocessor, of 168 registers; numbers of a table that are read at once
 * (rows_cuda.h). */
enum {
    GBM_BESIDE_LANES = 32,
    GBM_WEIGHTED_THREADS = 384,
    GBM_ROW_TOGETHER = 4
};

/* Rows whose densities are bounded first (rows_forms.h): threads of a block;
 * values whose densities are computed at once; cells of a column in shared
 * memory, for a warp's rows, and of a value; features that a product of
 * matrices has at once. */
enum {
    GBM_FORM_THREADS = 128,
    GBM_FORM_VALUES = 32,
    GBM_FORM_PLACES = 40,
    GBM_FORM_ROWS = 36, /* what a warp stores of a product: in all banks */
    GBM_FORM_DEPTH = 16
};
#define GBM_FORM_STEPS(features)                                               \
    (((features) + GBM_FORM_DEPTH - 1) / GBM_FORM_DEPTH)
#define GBM_FORM_PIECES(values)                                                \
    (((values) + GBM_FORM_VALUES - 1) / GBM_FORM_VALUES)
/* Words of what values tell of their bounds, and of this one piece. */
#define GBM_FORM_PIECE(features)                                               \
    (GBM_FORM_VALUES * GBM_FORM_STEPS(features) * GBM_FORM_DEPTH)
/* Pieces that a block holds: the next is copied while one is at work. */
#define GBM_FORM_BUFFERS(features) (GBM_FORM_STEPS(features) <= 8 ? 2 : 1)
#define GBM_FORM_HEAD(columns, values)                                         \
    (((columns) + 1) / 2 * 4 + 3 * GBM_FORM_PIECES(values) * GBM_FORM_VALUES)
#define GBM_FORM_WORDS(columns, values, features)                              \
    (GBM_FORM_HEAD(columns, values) +                                          \
     GBM_FORM_PIECES(values) * GBM_FORM_PIECE(features))
/* Bytes of shared memory. */
#define GBM_FORM_SHARED(columns, values, features)                             \
    (4 * (GBM_FORM_BUFFERS(features) * GBM_FORM_PIECE(features) +              \
          2 * GBM_FORM_VALUES * GBM_FORM_PIECES(values) +                      \
          GBM_FORM_THREADS / 32 *                                              \
              (GBM_FORM_PLACES * ((columns) + 2) +                             \
               2 * GBM_FORM_VALUES * GBM_FORM_ROWS) +                          \
          (GBM_FORM_THREADS + 3) * GBM_FORM_PIECES(values)) +                  \
     2 * GBM_FORM_STEPS(features) * GBM_FORM_DEPTH + 16)

/* A wide team: blocks of at most GBM_WIDE_BLOCK threads, all on the device at
 * once, as many as a power of two. With GBM_WIDE_HALF threads each has twice
 * the registers: for kernels that want as many (GBM_LANES_function). Its
 * barrier takes about as long as a thousand operations of a lane, so it is for
 * elements that are large themselves. */
enum {
    GBM_WIDE_BLOCK = 512,
    GBM_WIDE_HALF = 256,
    GBM_WIDE_LEAST = 2048, /* lanes */
    GBM_WIDE_BLOCKS = 256, /* most of a team */
    GBM_WIDE_TEAMS = 64,   /* most at once */
    GBM_WIDE_SUMS = 8,     /* of lists that share their barriers */
    GBM_WIDE_PARTS = 44,   /* sums that can */
    GBM_WIDE_SHARED = GBM_WIDE_PARTS * (GBM_WIDE_BLOCK / 32)
};

struct gbm_wide {
    unsigned arrived; /* blocks at a barrier, counted on for ever */
    /* sums of the blocks, of two sums by turns: a block that is at the next
     * one has waited for all to be there, so none is at the one before */
    gbm_total part[2][GBM_WIDE_PARTS][GBM_WIDE_BLOCKS];
};

struct gbm_team {
    /* lanes: 1, 2, 4, 8, 16, 32; a block, 64 to 1024; or several of them */
    int lane, lanes;
#ifdef __CUDACC__
    gbm_total *shared;     /* of the block, if lanes > 32: [32], of a wide team
                              [GBM_WIDE_SHARED] */
    struct gbm_wide *wide; /* of a wide team, or NULL */
    int block;             /* threads of its blocks */
    int *turn;             /* of its sums: the thread's own, 0 or 1 */
#endif
};

/* for (int i = lo; i < hi; i++), shared out among the lanes; and whether place
 * k of an array is the calling lane's, where such a loop from 0 on gives it
 * that; FROM: a loop over the lane's own places from lo on. A team of the host
 * is one lane. */
#ifdef __CUDACC__
#define GBM_TEAM_FOR(i, lo, hi, team)                                          \
    GBM_SHORT                                                                  \
    for (int i = (int)(lo) + (team)->lane; i < (int)(hi); i += (team)->lanes)
#define GBM_TEAM_OWNS(team, k) (((k) & ((team)->lanes - 1)) == (team)->lane)
#define GBM_TEAM_FROM(i, lo, hi, team)                                         \
    GBM_SHORT                                                                  \
    for (int i =                                                               \
             (int)(lo) + (((team)->lane - (int)(lo)) & ((team)->lanes - 1));   \
         i < (int)(hi); i += (team)->lanes)
#else
#define GBM_TEAM_FROM(i, lo, hi, team) GBM_TEAM_FOR(i, lo, hi, team)
#define GBM_TEAM_FOR(i, lo, hi, team)                                          \
    for (int i = ((void)(team), (int)(lo)); i < (int)(hi); i++)
#define GBM_TEAM_OWNS(team, k) true
#endif

/* Before a loop whose body is little more than loads: eight at once. */
#ifdef GBM_COMPACT
#define GBM_UNROLL_LOADS GBM_SHORT
#elif defined(__CUDACC__)
#define GBM_UNROLL_LOADS _Pragma("unroll 8")
#else
#define GBM_UNROLL_LOADS
#endif

#ifdef __CUDACC__

/* A generated program has functions and variables that only the host needs. */
#pragma nv_diag_suppress 177, 550

/* Where a launch may begin before what goes before it on its stream is done
 * (cuda_launch_grid), a kernel begins with this: it waits for that, and lets
 * the next one begin so. The other does not let it. */
GBM_FN void gbm_follow_alone(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
GBM_FN void gbm_follow(void)
{
    gbm_follow_alone();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* The lanes of the calling thread's warp that belong to its team. */
GBM_FN unsigned gbm_team_mask(const struct gbm_team *team)
{
    if (team->lanes >= 32)
        return 0xffffffffu;
    return ((1u << team->lanes) - 1u)
           << (threadIdx.x & 31u & ~((unsigned)team->lanes - 1u));
}

/* The barrier of a wide team's blocks, for one thread of each. As the number of
 * blocks is a power of two, the count may run over. */
GBM_FN void gbm_wide_wait(struct gbm_wide *wide, unsigned blocks)
{
    __threadfence();
    const unsigned ticket = atomicAdd(&wide->arrived, 1u);
    const unsigned goal = (ticket / blocks + 1) * blocks;
    while ((int)(*(volatile unsigned *)&wide->arrived - goal) < 0)
        __nanosleep(20);
    __threadfence();
}

/* Waits for all lanes; what they stored before is seen by all after. */
GBM_FN void gbm_team_sync(const struct gbm_team *team)
{
    if (team->lanes > 32)
        __syncthreads();
    else if (team->lanes > 1)
        __syncwarp(gbm_team_mask(team));
    if (team->wide) {
        if (threadIdx.x == 0)
            gbm_wide_wait(team->wide, (unsigned)(team->lanes / team->block));
        __syncthreads();
    }
}

/* The parts of a wide team's next sum. */
GBM_FN gbm_total (*gbm_wide_parts(const struct gbm_team *team))[GBM_WIDE_BLOCKS]
{
    *team->turn = !*team->turn;
    return team->wide->part[*team->turn];
}

/* The lanes' x combined by `combine`, a commutative operation: so both ends of
 * each exchange get the same bits. Of a wide team, those of a block. */
#define GBM_BLOCK_REDUCE(team, x, identity, combine)                           \
    do {                                                                       \
        const unsigned mask = gbm_team_mask(team);                             \
        const int width = (team)->lanes < 32 ? (team)->lanes : 32;             \
        for (int step = width / 2; step > 0; step /= 2)                        \
            x = combine(x, __shfl_xor_sync(mask, x, step));                    \
        if ((team)->lanes > 32) {                                              \
            const int size = (team)->wide ? (team)->block : (team)->lanes;     \
            const int warp = (team)->lane % size / 32, warps = size / 32;      \
            __syncthreads(); /* the last result has been read by all */        \
            if ((team)->lane % 32 == 0)                                        \
                (team)->shared[warp] = x;                                      \
            __syncthreads();                                                   \
            x = (team)->lane % 32 < warps ? (team)->shared[(team)->lane % 32]  \
                                          : (gbm_total)(identity);             \
            for (int step = 16; step > 0; step /= 2)                           \
                x = combine(x, __shfl_xor_sync(mask, x, step));                \
        }                                                                      \
    } while (0)

/* The blocks' x combined, that lie in part[0]. */
#define GBM_WIDE_REDUCE(team, x, p, identity, combine)                         \
    do {                                                                       \
        x = (gbm_total)(identity);                                             \
        for (int block = (team)->lane % 32;                                    \
             block < (team)->lanes / (team)->block; block += 32)               \
            x = combine(x, (p)[block]);                                        \
        for (int step = 16; step > 0; step /= 2)                               \
            x = combine(x, __shfl_xor_sync(0xffffffffu, x, step));             \
    } while (0)

#define GBM_TEAM_REDUCE(team, x, identity, combine)                            \
    do {                                                                       \
        GBM_BLOCK_REDUCE(team, x, identity, combine);                          \
        if ((team)->wide) {                                                    \
            gbm_total *part = gbm_wide_parts(team)[0];                         \
            if (threadIdx.x == 0)                                              \
                part[(team)->lane / (team)->block] = x;                        \
            gbm_team_sync(team);                                               \
            GBM_WIDE_REDUCE(team, x, part, identity, combine);                 \
        }                                                                      \
    } while (0)

GBM_FN gbm_total gbm_team_add(gbm_total a, gbm_total b) { return a + b; }
GBM_FN gbm_total gbm_team_larger(gbm_total a, gbm_total b)
{
    return a > b ? a : b;
}
GBM_FN gbm_total gbm_team_smaller(gbm_total a, gbm_total b)
{
    return a < b ? a : b;
}

/* The calling lane has the element to itself. */
GBM_FN bool gbm_team_alone(const struct gbm_team *team)
{
    return team->lanes == 1;
}

GBM_FN gbm_total gbm_team_sum(const struct gbm_team *team, gbm_total x)
{
    if (team->lanes > 1)
        GBM_TEAM_REDUCE(team, x, 0, gbm_team_add);
    return x;
}

/* The largest and the smallest of the lanes' x; no NaN, infinities allowed. */
GBM_FN gbm_total gbm_team_max(const struct gbm_team *team, gbm_total x)
{
    if (team->lanes > 1)
        GBM_TEAM_REDUCE(team, x, -__longlong_as_double(0x7ff0000000000000LL),
                        gbm_team_larger);
    return x;
}

GBM_FN gbm_total gbm_team_min(const struct gbm_team *team, gbm_total x)
{
    if (team->lanes > 1)
        GBM_TEAM_REDUCE(team, x, __longlong_as_double(0x7ff0000000000000LL),
                        gbm_team_smaller);
    return x;
}

/* n sums of a wide team: of each warp, then of each block and of all blocks,
 * for which the warps share out the sums. Their shape is that of one. */
GBM_FN void gbm_wide_sums(const struct gbm_team *team, int n, gbm_total *x)
{
    const int warps = team->block / 32;
    const int in = team->lane % 32, warp = team->lane % team->block / 32;
    const unsigned all = 0xffffffffu;
    __syncthreads(); /* the last result has been read by all */
    for (int i = 0; i < n; i++) {
        gbm_total mine = x[i];
        for (int step = 16; step > 0; step /= 2)
            mine += __shfl_xor_sync(all, mine, step);
        if (in == 0)
            team->shared[i * warps + warp] = mine;
    }
    __syncthreads();
    gbm_total(*part)[GBM_WIDE_BLOCKS] = gbm_wide_parts(team);
    for (int i = warp; i < n; i += warps) {
        gbm_total of_block = in < warps ? team->shared[i * warps + in] : 0;
        for (int step = 16; step > 0; step /= 2)
            of_block += __shfl_xor_sync(all, of_block, step);
        if (in == 0)
            part[i][team->lane / team->block] = of_block;
    }
    gbm_team_sync(team);
    for (int i = warp; i < n; i += warps) {
        gbm_total of_all;
        GBM_WIDE_REDUCE(team, of_all, part[i], 0, gbm_team_add);
        if (in == 0)
            team->shared[i] = of_all;
    }
    __syncthreads();
    for (int i = 0; i < n; i++)
        x[i] = team->shared[i];
}

/* n sums at once, at most GBM_WIDE_PARTS. */
GBM_FN void gbm_team_sums(const struct gbm_team *team, int n, gbm_total *x)
{
    if (n <= 0)
        return;
    if (team->wide) {
        gbm_wide_sums(team, n, x);
        return;
    }
    for (int i = 0; i < n && team->lanes > 1; i++)
        GBM_BLOCK_REDUCE(team, x[i], 0, gbm_team_add);
}

/* So many lanes of the team, those that the calling thread is among. */
GBM_FN struct gbm_team gbm_team_part(const struct gbm_team *team, int lanes)
{
    struct gbm_team part = *team;
    part.lane = team->lane & (lanes - 1);
    part.lanes = lanes;
    if (lanes < team->lanes)
        part.wide = 0;
    return part;
}

/* The next smaller teams that work side by side within one; 0 after one lane.
 */
GBM_FN int gbm_team_narrower(const struct gbm_team *team, int lanes)
{
    return team->wide && lanes == team->lanes ? team->block
           : lanes > 32                       ? 32
           : lanes > 1                        ? 1
                                              : 0;
}

/* From how many contributions on a list is worth so many lanes. */
GBM_FN int gbm_list_worth(const struct gbm_team *team, int lanes)
{
    return team->wide && lanes == team->lanes ? lanes / 4 : 4 * lanes;
}

#else

GBM_FN void gbm_team_sync(const struct gbm_team *team) { (void)team; }

/* The compiler knows it, and leaves out what is for others. */
GBM_FN bool gbm_team_alone(const struct gbm_team *team)
{
    (void)team;
    return true;
}

GBM_FN gbm_total gbm_team_sum(const struct gbm_team *team, gbm_total x)
{
    (void)team;
    return x;
}

GBM_FN gbm_total gbm_team_max(const struct gbm_team *team, gbm_total x)
{
    (void)team;
    return x;
}

GBM_FN gbm_total gbm_team_min(const struct gbm_team *team, gbm_total x)
{
    (void)team;
    return x;
}

GBM_FN void gbm_team_sums(const struct gbm_team *team, int n, gbm_total *x)
{
    (void)team;
    (void)n;
    (void)x;
}

GBM_FN struct gbm_team gbm_team_part(const struct gbm_team *team, int lanes)
{
    (void)lanes;
    return *team;
}

GBM_FN int gbm_team_narrower(const struct gbm_team *team, int lanes)
{
    (void)team;
    (void)lanes;
    return 0;
}

GBM_FN int gbm_list_worth(const struct gbm_team *team, int lanes)
{
    (void)team;
    return 4 * lanes;
}

#endif

/* Lists of contributions, numbers `first` to `end - 1`, the longest first; list
 * i has `length` of them. Long ones are summed by all lanes of the team, then
 * by its blocks, by warps, and short ones by a lane each. `partial`: the sum of
 * list i's contributions number at, at + by, ...; `store`: what is done with
 * `sum`, by one lane. Nobody has waited for anybody after it. */
#define GBM_TEAM_LISTS(team, i, first, end, length, partial, store)            \
    for (int from_ = (first), width_ = (team)->lanes; width_ > 0;              \
         width_ = gbm_team_narrower(team, width_)) {                           \
        const struct gbm_team part_ = gbm_team_part(team, width_);             \
        const int at = part_.lane, by = width_,                                \
                  worth_ = gbm_list_worth(team, width_);                       \
        int stop_ = (end);                                                     \
        for (int low_ = from_, step_ = 1; width_ > 1 && low_ < stop_;) {       \
            const int i =                                                      \
                low_ + (step_ - 1 < (stop_ - low_) / 2 ? step_ - 1             \
                                                       : (stop_ - low_) / 2);  \
            if ((length) >= worth_) {                                          \
                low_ = i + 1;                                                  \
                step_ *= 2;                                                    \
            } else {                                                           \
                stop_ = i;                                                     \
            }                                                                  \
        }                                                                      \
        const int parts_ = (team)->lanes / width_;                             \
        const int batch_ = width_ >= GBM_WIDE_LEAST ? (int)GBM_WIDE_SUMS : 1;  \
        for (int k_ = from_ + (team)->lane / width_ * batch_; k_ < stop_;      \
             k_ += parts_ * batch_) {                                          \
            gbm_total sums_[GBM_WIDE_SUMS];                                    \
            const int n_ = stop_ - k_ < batch_ ? stop_ - k_ : batch_;          \
            for (int b_ = 0; b_ < n_; b_++) {                                  \
                const int i = k_ + b_;                                         \
                sums_[b_] = (partial);                                         \
            }                                                                  \
            gbm_team_sums(&part_, n_, sums_);                                  \
            for (int b_ = 0; b_ < n_ && at == 0; b_++) {                       \
                const int i = k_ + b_;                                         \
                const gbm_total sum = sums_[b_];                               \
                store;                                                         \
            }                                                                  \
        }                                                                      \
        from_ = stop_;                                                         \
    }

/* Whether the calling lane is among those that do a small piece of work, `few`,
 * while the rest of a wide team waits at the next gbm_team_sync: its first
 * block. Otherwise all do it. */
GBM_FN bool gbm_team_few(const struct gbm_team *team, struct gbm_team *few)
{
    *few = *team;
    if (team->lanes < GBM_WIDE_LEAST)
        return true;
#ifdef __CUDACC__
    *few = gbm_team_part(team, team->block);
    return team->lane < team->block;
#else
    return true;
#endif
}

/* 0, or the number of the sweep from 1 on while warm-up tunes. */
#define GBM_ALONE 0x7fffffff /* a step's move without what follows it */
#define GBM_ADAPTING(now)                                                      \
    ((now)->adapting > 1 ? GBM_ALONE                                           \
                         : ((now)->adapting ? (int)(now)->sweep + 1 : 0))

/* Before a loop without order, or one that adds to x: by the vector unit. */
#if defined(_OPENMP) && !defined(__CUDACC__)
#define GBM_SIMD _Pragma("omp simd")
#define GBM_SIMD_SUM(x) _Pragma(GBM_SIMD_TEXT(omp simd reduction(+ : x)))
#define GBM_SIMD_TEXT(x) #x
#else
#define GBM_SIMD
#define GBM_SIMD_SUM(x)
#endif

/* Rows that are evaluated at once, the last block of them with copies of the
 * last row behind it: scalar code takes as long for two as vectors for eight.
 * One without functions in vectors. */
#if !defined(GBM_IN_VECTORS) || defined(GBM_SINGLE)
#define GBM_BLOCK_ROWS 1
#elif defined(__AVX2__)
#define GBM_BLOCK_ROWS 8
#else
#define GBM_BLOCK_ROWS 4
#endif
/* Rows of which a sum has a logarithm each are taken in so many blocks, as that
 * of a product is the sum. */
#define GBM_BLOCKS_A_LOG 4
#define GBM_LOG_ROWS (GBM_BLOCKS_A_LOG * GBM_BLOCK_ROWS)

/* Rows lo .. hi - 1 by blocks, on the device those of a lane: a loop over the
 * first row of each. */
#ifdef __CUDACC__
#define GBM_TEAM_BLOCKS(from, lo, hi, team) GBM_TEAM_FOR(from, lo, hi, team)
#else
#define GBM_TEAM_BLOCKS(from, lo, hi, team)                                    \
    for (int from = ((void)(team), (int)(lo)); from < (int)(hi);               \
         from += GBM_BLOCK_ROWS)
#endif

GBM_FN long long gbm_whole_blocks(long long rows)
{
    return (rows + GBM_BLOCK_ROWS - 1) / GBM_BLOCK_ROWS * GBM_BLOCK_ROWS;
}

/* columns: [n][room], with `rows` of each filled. */
GBM_FN void gbm_fill_block(real *columns, int n, long long room, int rows)
{
    const long long end = gbm_whole_blocks(rows);
    for (int c = 0; c < n && rows > 0; c++)
        for (long long at = rows; at < end; at++)
            columns[c * room + at] = columns[c * room + rows - 1];
}

/* lanes: [GBM_BLOCK_ROWS], a power of two */
GBM_FN gbm_total gbm_sum_lanes(gbm_total *lanes)
{
    for (int n = GBM_BLOCK_ROWS / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++)
            lanes[i] += lanes[n + i];
    return lanes[0];
}

#endif
