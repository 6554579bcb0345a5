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
 * terms k, k + lanes, ...; then a butterfly within a warp; then one over warps.
 */
#ifndef GBM_TEAM_H
#define GBM_TEAM_H

#include "real.h"

/* What sums over many terms are kept in: double, but for --precision single. */
#if defined(GBM_SINGLE) && !defined(GBM_MIXED)
typedef float gbm_total;
#else
typedef double gbm_total;
#endif

struct gbm_team {
    int lane, lanes; /* lanes: 1, 2, 4, 8, 16, 32 or a block, 64 to 1024 */
#ifdef __CUDACC__
    gbm_total *shared; /* [32], of the block, if lanes > 32 */
#endif
};

/* for (int i = lo; i < hi; i++), shared out among the lanes. */
#define GBM_TEAM_FOR(i, lo, hi, team)                                          \
    for (int i = (int)(lo) + (team)->lane; i < (int)(hi); i += (team)->lanes)

/* Before a loop whose body is little more than loads: eight at once. */
#ifdef __CUDACC__
#define GBM_UNROLL_LOADS _Pragma("unroll 8")
#else
#define GBM_UNROLL_LOADS
#endif

#ifdef __CUDACC__

/* A generated program has functions and variables that only the host needs. */
#pragma nv_diag_suppress 177, 550

/* The lanes of the calling thread's warp that belong to its team. */
GBM_FN unsigned gbm_team_mask(const struct gbm_team *team)
{
    if (team->lanes >= 32)
        return 0xffffffffu;
    return ((1u << team->lanes) - 1u)
           << (threadIdx.x & 31u & ~((unsigned)team->lanes - 1u));
}

/* Waits for all lanes; what they stored before is seen by all after. */
GBM_FN void gbm_team_sync(const struct gbm_team *team)
{
    if (team->lanes > 32)
        __syncthreads();
    else if (team->lanes > 1)
        __syncwarp(gbm_team_mask(team));
}

/* The lanes' x combined by `combine`, a commutative operation: so both ends of
 * each exchange get the same bits. */
#define GBM_TEAM_REDUCE(team, x, identity, combine)                            \
    do {                                                                       \
        const unsigned mask = gbm_team_mask(team);                             \
        const int width = (team)->lanes < 32 ? (team)->lanes : 32;             \
        for (int step = width / 2; step > 0; step /= 2)                        \
            x = combine(x, __shfl_xor_sync(mask, x, step));                    \
        if ((team)->lanes > 32) {                                              \
            const int warp = (team)->lane / 32, warps = (team)->lanes / 32;    \
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

GBM_FN gbm_total gbm_team_add(gbm_total a, gbm_total b) { return a + b; }
GBM_FN gbm_total gbm_team_larger(gbm_total a, gbm_total b)
{
    return a > b ? a : b;
}
GBM_FN gbm_total gbm_team_smaller(gbm_total a, gbm_total b)
{
    return a < b ? a : b;
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

#else

GBM_FN void gbm_team_sync(const struct gbm_team *team) { (void)team; }

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

#endif

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

#endif
