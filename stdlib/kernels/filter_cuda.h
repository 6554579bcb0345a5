/* filter_cuda.h: the particles of a filter on a device (runtime/cuda/filter.c):
 * what each of them draws and computes at a time, and the log of its weight, in
 * the order and with the random numbers of the host (runtime/filter). A
 * particle is a chain of the model, and a thread has it. All do the same acts,
 * so lanes of a warp do not part.
 *
 * The generated program has act_of_particle, a list of the macros below by
 * numbers of families. GBM_ACTS_<number> says what a family's elements are
 * asked for: the sum of GBM_IS_DRAWN, GBM_IS_DERIVED and GBM_IS_WEIGHED; what
 * none is asked for is not compiled. */
#ifndef GBM_FILTER_CUDA_H
#define GBM_FILTER_CUDA_H

#include "skeleton_cuda.h"

#define GBM_IS_DRAWN 1
#define GBM_IS_DERIVED 2
#define GBM_IS_WEIGHED 4

/* code: 8 times the family's number and one of the above. */
struct gbm_act {
    long long element;
    int code;
    unsigned node;
};

#define GBM_ACT_DRAW(number, function)                                         \
    case 8 * number + GBM_IS_DRAWN:                                            \
        if constexpr ((GBM_LANES(GBM_ACTS_##number) & GBM_IS_DRAWN) != 0)      \
            function(s, rng, element);                                         \
        return 0;
#define GBM_ACT_DERIVE(number, function)                                       \
    case 8 * number + GBM_IS_DERIVED:                                          \
        if constexpr ((GBM_LANES(GBM_ACTS_##number) & GBM_IS_DERIVED) != 0)    \
            function(s, &alone, element);                                      \
        return 0;
#define GBM_ACT_WEIGH(number, function)                                        \
    case 8 * number + GBM_IS_WEIGHED:                                          \
        if constexpr ((GBM_LANES(GBM_ACTS_##number) & GBM_IS_WEIGHED) != 0)    \
            return (double)function(s, element);                               \
        return 0;

/* Acts of one time. increment: [particles] */
#define GBM_KERNEL_FILTER                                                      \
    GBM_KERNEL_HEAD(filter_advance)                                            \
    (const struct state base, const struct gbm_act *acts, int nacts,           \
     unsigned long long seed, unsigned time, unsigned stream, int particles,   \
     double *increment)                                                        \
    {                                                                          \
        GBM_WORKER(filter_advance)                                             \
        GBM_FOR_ITEMS(1, particles)                                            \
        {                                                                      \
            GBM_ITEM(1, particles)                                             \
            double sum = 0;                                                    \
            for (int a = 0; a < nacts; a++) {                                  \
                const struct gbm_act act = acts[a];                            \
                struct gbm_rng rng;                                            \
                gbm_rng_start(&rng, seed, (unsigned)chain, time, stream,       \
                              act.node);                                       \
                sum += act_of_particle(&s, &rng, act.code, act.element);       \
            }                                                                  \
            increment[chain] = sum == sum ? sum : -(double)GBM_INF;            \
        }                                                                      \
    }

#endif
