/* chains_cuda.h: whole sweeps of a chain by one team of lanes, many in a
 * launch. For small models, whose sweep of many kernels is a matter of
 * latency. The sweep is the one that the kernels of skeleton_cuda.h make step
 * by step: the same functions with the same random numbers; sums differ by the
 * number of lanes that share them.
 *
 * In a step whose elements are many the lanes have an element each, otherwise
 * they share the sums of one element after the other; the runtime says which
 * (struct gbm_chain_step), and the number of lanes, 1 to 32, by the macro
 * GBM_CHAINS. The generated program has, as lists of the macros below,
 *     sweep_of_chain    the steps of a sweep
 *     keep_of_chain     what is drawn forward or computed to be kept
 *     density_of_chain  the model's log density
 *     known_of_chain    a family's, known by what the sweep keeps (recall.h)
 */
#ifndef GBM_CHAINS_CUDA_H
#define GBM_CHAINS_CUDA_H

#include "control.h"
#include "kept_cuda.h"
#include "skeleton_cuda.h"

/* Of a step, or of a family that is computed to be kept. ncolours 0: nothing to
 * do. colour: [ncolours + 1], elements that may move at once. together: the
 * lanes share an element. */
struct gbm_chain_step {
    const int *elements;
    const long long *colour;
    int ncolours, together;
};

/* As in runtime/cuda/chains.c. */
struct gbm_chains {
    const struct gbm_chain_step *steps;    /* [nsteps] */
    const struct gbm_chain_step *families; /* [nfamilies], to be kept */
    const long long *densities; /* [nfamilies]: elements that count in lp */
    struct gbm_kept kept;
    long long lp_offset;
    int late;  /* keep_of_chain goes before the moments at every sweep */
    int known; /* family for known_of_chain; -1: none */
};

/* A chain at work: its state, its team and what it is asked to do. */
struct gbm_sweeper {
    const struct state *s;
    const struct gbm_chains *plan;
    struct gbm_team team;
    int chain;
    struct gbm_sweep now;
};

/* An element's loop over a colour, of the step or family `step`: in it, `team`
 * and `element`. */
#define GBM_CHAIN_ELEMENTS(step)                                               \
    for (int colour = 0; colour < (step).ncolours;                             \
         colour++, gbm_team_sync(&k->team))                                    \
        for (long long i = (step).colour[colour] +                             \
                           ((step).together ? 0 : k->team.lane),               \
                       by = (step).together ? 1 : k->team.lanes;               \
             i < (step).colour[colour + 1]; i += by)

#define GBM_CHAIN_TEAM(step)                                                   \
    const struct gbm_team alone = {0, 1, 0},                                   \
                          team = (step).together ? k->team : alone;            \
    const long long element = (step).elements ? (step).elements[i] : i;

/* A statement for every element of a step or a family: `of` is steps or
 * families. */
#define GBM_CHAIN_EACH(of, place, statement)                                   \
    {                                                                          \
        const struct gbm_chain_step step = k->plan->of[place];                 \
        GBM_CHAIN_ELEMENTS(step)                                               \
        {                                                                      \
            GBM_CHAIN_TEAM(step)                                               \
            statement;                                                         \
            if (step.together)                                                 \
                gbm_team_sync(&k->team);                                       \
        }                                                                      \
    }

#define GBM_CHAIN_STEP_OF(state, place, function)                              \
    GBM_CHAIN_EACH(                                                            \
        steps, place, struct gbm_rng rng;                                      \
        gbm_rng_start(&rng, k->now.seed, k->now.chain0 + (unsigned)k->chain,   \
                      k->now.sweep, place, (unsigned)element);                 \
        function(state, &rng, &team, element, GBM_ADAPTING(&k->now)))
#define GBM_CHAIN_STEP(place, function) GBM_CHAIN_STEP_OF(k->s, place, function)

/* The same of a step with work space in `member`, which may be an array of the
 * lane. */
#define GBM_CHAIN_STEP_IN(member, place, function)                             \
    {                                                                          \
        constexpr int cells = GBM_SIZE(function, GBM_HAS_ROOM, 0);             \
        real room[cells > 0 ? cells : 1];                                      \
        struct state own = *k->s;                                              \
        if (cells > 0)                                                         \
            own.member = room;                                                 \
        GBM_CHAIN_STEP_OF(&own, place, function)                               \
    }

#define GBM_CHAIN_DERIVE(of, place, function)                                  \
    GBM_CHAIN_EACH(of, place, function(k->s, &team, element))

#define GBM_CHAIN_DENSITY(family, function)                                    \
    for (long long i = k->team.lane; i < k->plan->densities[family];           \
         i += k->team.lanes)                                                   \
        sum += (double)function(k->s, i);

/* As the kernel of its own has it (GBM_KERNEL_KNOWN), by one lane. */
#define GBM_CHAIN_KNOWN(family, function, density)                             \
    if (k->plan->known == family && k->team.lane == 0) {                       \
        double sum = 0;                                                        \
        if (!function(k->s, &sum))                                             \
            for (long long i = 0; i < k->plan->densities[family]; i++)         \
                sum += (double)density(k->s, i);                               \
        lp[k->chain] = sum;                                                    \
    }

/* Of doubles whatever the precision. */
GBM_FN double gbm_chain_sum(const struct gbm_team *team, double x)
{
    const unsigned mask = gbm_team_mask(team);
    for (int step = team->lanes / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(mask, x, step);
    return x;
}

/* With the sweep that makes them so many. Chain 0 counts what chains share. */
GBM_FN void gbm_chain_add_moments(const struct gbm_sweeper *k, double count)
{
    const double share = 1 / count;
    for (int v = 0; v < k->plan->kept.nmoments; v++) {
        const struct gbm_kept_moments m = k->plan->kept.moments[v];
        if (m.stride == 0 && k->chain > 0)
            continue;
        for (long long i = k->team.lane; i < m.cells; i += k->team.lanes)
            gbm_keep_moment(&m, k->chain * m.stride + i, share);
    }
}

/* Copies the monitored cells to a draw's row. */
GBM_FN void gbm_chain_store(const struct gbm_sweeper *k, double *row)
{
    for (int v = 0; v < k->plan->kept.nmonitors; v++) {
        const struct gbm_kept_monitor m = k->plan->kept.monitors[v];
        for (long long i = k->team.lane; i < m.count; i += k->team.lanes)
            gbm_keep_cell(&m, k->chain, i, row);
    }
}

/* Blocks that a multiprocessor has at once, if the runtime says so. */
#ifdef GBM_CHAINS_BLOCKS
#define GBM_CHAINS_BOUNDS 128, GBM_CHAINS_BLOCKS
#else
#define GBM_CHAINS_BOUNDS 128
#endif

/* `sweeps` sweeps; each `thin`-th is kept (0: none), the first of these as draw
 * control->slot of the ring. control is moved on by sweeps_done of kernels.h.
 * known: [chains], or NULL: for what is known of a family after them. rung:
 * [chains], or NULL: only what is at rung `last` goes into the ring. */
#define GBM_KERNEL_CHAINS                                                      \
    extern "C" __global__ void __launch_bounds__(GBM_CHAINS_BOUNDS)            \
        chains_kernel(                                                         \
            const struct state base, const struct gbm_control *control,        \
            const struct gbm_chains *plan, int chains, int sweeps, int thin,   \
            int with_lp, double *known, const int *rung, int last)             \
    {                                                                          \
        gbm_follow();                                                          \
        const long long thread =                                               \
            (long long)blockIdx.x * blockDim.x + threadIdx.x;                  \
        if (thread / GBM_CHAINS >= chains)                                     \
            return;                                                            \
        struct state s = base;                                                 \
        GBM_KNOWS(&s);                                                         \
        struct gbm_sweeper chain = {                                           \
            &s,                                                                \
            plan,                                                              \
            {(int)(thread % GBM_CHAINS), GBM_CHAINS, 0},                       \
            (int)(thread / GBM_CHAINS),                                        \
            {control->seed, control->sweep, control->chain0,                   \
             control->adapting}};                                              \
        unsigned kept = 0;                                                     \
        shift_state(&s, chain.chain);                                          \
        for (int i = 1; i <= sweeps; i++, chain.now.sweep++) {                 \
            sweep_of_chain(&chain);                                            \
            if (thin == 0 || (i % thin != 0 && plan->kept.nmoments == 0))      \
                continue;                                                      \
            if (i % thin == 0 || plan->late)                                   \
                keep_of_chain(&chain);                                         \
            gbm_chain_add_moments(&chain,                                      \
                                  (double)(control->moments + (unsigned)i));   \
            if (i % thin != 0)                                                 \
                continue;                                                      \
            kept++;                                                            \
            if (!control->store || (rung && rung[chain.chain] != last))        \
                continue;                                                      \
            const long long slot = (control->slot + kept - 1) % control->ring; \
            double *row = plan->kept.draws +                                   \
                          (slot * chains + chain.chain) * plan->kept.row;      \
            gbm_chain_store(&chain, row);                                      \
            if (!with_lp)                                                      \
                continue;                                                      \
            const double lp =                                                  \
                gbm_chain_sum(&chain.team, density_of_chain(&chain));          \
            if (chain.team.lane == 0)                                          \
                row[plan->lp_offset] = lp;                                     \
        }                                                                      \
        if (known)                                                             \
            known_of_chain(&chain, known);                                     \
    }

#endif
