/* ladder.h: the device kernels of tempering: what a ladder's replicas do
 * between two sweeps, so that neither states nor powers leave the device.
 * Included by kernels.h for models with powers.
 *
 * A ladder has `replicas` chains; chain: [ladders][replicas], which of them is
 * at a rung; rung: [chains], the other way round. power: [replicas], of rungs.
 */
#include "swap.h"

#define LADDER_LANES 8 /* that swap what is tuned for two rungs */

/* Of a variable of which a chain has some cells; offset: in a record. */
struct ladder_slot {
    void *values;
    long long cells, offset;
    int integer;
};

/* own: [chains], the powers that the chains' densities have. given: [replicas],
 * those that rungs give. */
CUDA_KERNEL ladder_powers(const double *given, const int *rung, int chains,
                          real *own)
{
    gbm_follow();
    for (long long c = thread_number(); c < chains; c += thread_count())
        own[c] = (real)given[rung[c]];
}

/* loglik (first: =, else +=) lp, which has the chain's power. */
CUDA_KERNEL ladder_logliks(const double *lp, const real *own, int chains,
                           int first, double *loglik)
{
    gbm_follow();
    for (long long c = thread_number(); c < chains; c += thread_count())
        loglik[c] = (first ? 0 : loglik[c]) + lp[c] / (double)own[c];
}

/* Sweeps that follow each other, of a block that began with sweep number
 * `block`: those from its `from`-th on, of which each `thin`-th is kept (0:
 * none). kinds: of stones; 0: neither these nor trips are counted. */
struct ladder_batch {
    unsigned block, from;
    int thin, kinds;
};

/* All that ladder_swap needs; as in cuda.h. */
struct ladder_plan {
    const struct ladder_batch *batch;
    const double *power, *given;
    int *chain; /* [2]: before sweeps of even number, and of odd */
    int *rung;
    real *own;
    const double *logliks, *lp; /* of all families but the last, of the last */
    double *rejected; /* [replicas - 1] sums of probabilities of no swap */
    double *stones;   /* [kinds][ladders][replicas], logarithms of sums */
    int *heading;     /* 1 from the prior to the posterior, -1 back */
    unsigned long long *trips;
    const struct ladder_slot *tuned, *drawn;
    /* of each sweep of the batch, [ladders]: a record of the cells drawn from
     * the prior, [length], and the log likelihood there */
    const double *records, *told;
    const double *draws; /* the ring that gather fills */
    double *picked;      /* [draws of the batch][ladders][row] */
    long long length, row;
    int ntuned, ndrawn, ladders, replicas;
};

/* A sweep that has ended: where chains were in it, and are in the next one. */
struct ladder_sweep {
    unsigned long long seed;
    unsigned number, slot; /* of what it has kept, in the ring */
    struct ladder_batch batch;
    const int *before;
    int *after;
    const double *told;
};

/* open: that the sweep has ended is not yet in `control`. */
__device__ static inline struct ladder_sweep
ladder_last_sweep(const struct ladder_plan *p,
                  const struct gbm_control *control, int open)
{
    const long long chains = (long long)p->ladders * p->replicas;
    const unsigned slot = control->slot;
    struct ladder_sweep s = {control->seed, control->sweep - !open,
                             open   ? slot
                             : slot ? slot - 1
                                    : control->ring - 1,
                             *p->batch};
    const long long odd = s.number & 1;
    s.before = p->chain + odd * chains;
    s.after = p->chain + (1 - odd) * chains;
    s.told = p->told +
             (long long)(s.number - s.batch.block - s.batch.from) * p->ladders;
    return s;
}

/* Of what is at a rung, at power 1; what is no number is impossible. At the
 * first rung it is a draw from the prior. */
__device__ static inline double ladder_loglik(const struct ladder_plan *p,
                                              const struct ladder_sweep *s,
                                              int ladder, int rung)
{
    if (rung == 0)
        return s->told[ladder];
    const int c = s->before[(long long)ladder * p->replicas + rung];
    const double x = (p->logliks ? p->logliks[c] : 0) +
                     p->lp[c] / (double)(real)p->given[rung];
    return x != x ? (double)-GBM_INF : x;
}

/* That what is at rung `lower` of a ladder and the next one swap. */
__device__ static inline double ladder_probability(const struct ladder_plan *p,
                                                   const struct ladder_sweep *s,
                                                   int ladder, int lower)
{
    return gbm_swap_probability(p->power[lower + 1] - p->power[lower],
                                ladder_loglik(p, s, ladder, lower),
                                ladder_loglik(p, s, ladder, lower + 1));
}

__device__ static inline double add_logs(double a, double b)
{
    const double most = a > b ? a : b;
    return most == (double)-GBM_INF ? most : most + log1p(exp(-fabs(a - b)));
}

/* A stone of a rung gets the likelihood to the power that the next rung has
 * more, to half of that, or one over that of the next rung's. */
__device__ static inline double ladder_stone(const struct ladder_plan *p,
                                             const struct ladder_sweep *s,
                                             int kind, int ladder, int rung,
                                             double sum)
{
    const double more = p->power[rung + 1] - p->power[rung];
    const double loglik = ladder_loglik(p, s, ladder, rung + (kind == 2));
    const double powers[3] = {more, more / 2, -more / 2};
    if (kind == 2 && !(fabs(loglik) < (double)GBM_INF))
        return sum;
    return add_logs(sum, powers[kind] * loglik);
}

/* Each pair's probability of no swap is added to `rejected`, and stones to
 * theirs: by four threads for each rung, of `threads`. */
__device__ static inline void ladder_count(const struct ladder_plan *p,
                                           const struct ladder_sweep *s,
                                           long long thread, long long threads)
{
    const int part = (int)(thread & 3);
    if (part > s->batch.kinds)
        return;
    for (long long i = thread / 4; i + 1 < p->replicas; i += threads / 4) {
        if (part == 0) {
            double sum = p->rejected[i];
            for (int l = 0; l < p->ladders; l++)
                sum += 1 - ladder_probability(p, s, l, (int)i);
            p->rejected[i] = sum;
            continue;
        }
        for (int l = 0; l < p->ladders; l++) {
            double *stone =
                p->stones + i +
                ((long long)(part - 1) * p->ladders + l) * p->replicas;
            *stone = ladder_stone(p, s, part - 1, l, (int)i, *stone);
        }
    }
}

/* A chain is at a rung now. Whoever has been at the posterior and is back at
 * the prior has made a trip. */
__device__ static inline void ladder_place(const struct ladder_plan *p,
                                           const struct ladder_sweep *s,
                                           int ladder, int rung, int chain,
                                           bool moves)
{
    s->after[(long long)ladder * p->replicas + rung] = chain;
    if (moves) {
        p->rung[chain] = rung;
        p->own[chain] = (real)p->given[rung];
    }
    if (!s->batch.kinds)
        return;
    int *heading = &p->heading[chain];
    if (rung == 0) {
        if (*heading == -1)
            atomicAdd(p->trips, 1ull);
        *heading = 1;
    } else if (rung == p->replicas - 1 && *heading == 1) {
        *heading = -1;
    }
}

/* Of two chains. */
__device__ static inline void ladder_swap_tuned(const struct ladder_plan *p,
                                                int a, int b, int lane)
{
    for (int v = 0; v < p->ntuned; v++) {
        const long long n = p->tuned[v].cells;
        real *values = (real *)p->tuned[v].values;
        for (long long k = lane; k < n; k += LADDER_LANES) {
            const real kept = values[a * n + k];
            values[a * n + k] = values[b * n + k];
            values[b * n + k] = kept;
        }
    }
}

/* Even pairs swap after even sweeps, odd ones after odd ones: chains change
 * rungs, with what is tuned for a rung. Some lanes for each pair, and for a
 * rung at an end that has none. */
__device__ static inline void ladder_swap_pairs(const struct ladder_plan *p,
                                                const struct ladder_sweep *s,
                                                long long thread,
                                                long long threads)
{
    const int odd = (int)(s->number & 1);
    const int lane = (int)(thread % LADDER_LANES);
    const long long pairs = (p->replicas - 1 + odd) / 2 + 1;
    for (long long w = thread / LADDER_LANES; w < pairs * p->ladders;
         w += threads / LADDER_LANES) {
        const int l = (int)(w / pairs), i = 2 * (int)(w % pairs) - odd;
        const int *at = s->before + (long long)l * p->replicas + i;
        const bool lower = i >= 0, upper = i + 1 < p->replicas;
        const bool swaps =
            lower && upper &&
            gbm_swap_decides(s->seed, (unsigned)l, s->number, (unsigned)i,
                             ladder_probability(p, s, l, i));
        if (lane == 0 && lower)
            ladder_place(p, s, l, i, at[swaps], swaps);
        if (lane == 0 && upper)
            ladder_place(p, s, l, i + 1, at[!swaps], swaps);
        if (swaps)
            ladder_swap_tuned(p, at[0], at[1], lane);
    }
}

/* The chain at a ladder's first rung gets a draw from the prior, by a block. */
__device__ static inline void ladder_set_prior(const struct ladder_plan *p,
                                               const struct ladder_sweep *s,
                                               int ladder)
{
    const long long c = s->before[(long long)ladder * p->replicas];
    const double *record =
        p->records + (s->told - p->told + ladder) * p->length;
    for (int v = 0; v < p->ndrawn; v++) {
        const struct ladder_slot slot = p->drawn[v];
        for (long long i = threadIdx.x; i < slot.cells; i += blockDim.x) {
            const double x = record[slot.offset + i];
            if (slot.integer)
                ((int *)slot.values)[c * slot.cells + i] = (int)x;
            else
                ((real *)slot.values)[c * slot.cells + i] = (real)x;
        }
    }
}

/* What the sweep has kept, as the last in the ring, of the chain that was at a
 * ladder's last rung. */
__device__ static inline void ladder_pick(const struct ladder_plan *p,
                                          const struct ladder_sweep *s,
                                          int ladder)
{
    const long long chains = (long long)p->ladders * p->replicas;
    const unsigned thin = (unsigned)s->batch.thin;
    const long long k =
        (s->number - s->batch.block + 1) / thin - 1 - s->batch.from / thin;
    const int c = s->before[(long long)(ladder + 1) * p->replicas - 1];
    for (long long i = threadIdx.x; i < p->row; i += blockDim.x)
        p->picked[(k * p->ladders + ladder) * p->row + i] =
            p->draws[(s->slot * chains + c) * p->row + i];
}

/* The last block to have read which sweep it was ends it, if it is open. */
__device__ static inline void ladder_end(struct gbm_control *control, int open,
                                         unsigned kept)
{
    __syncthreads();
    if (open && threadIdx.x == 0 &&
        atomicAdd(&control->arrived, 1u) + 1 == gridDim.x) {
        control->arrived = 0;
        end_sweeps(control, 1, kept, kept);
    }
}

/* Behind a sweep: the first `counters` blocks count, the next `swappers` swap,
 * the others do what there is once for a ladder. None reads what another one
 * writes. */
CUDA_KERNEL ladder_swap(const struct ladder_plan p, struct gbm_control *control,
                        int kept, int open, int counters, int swappers)
{
    gbm_follow();
    const struct ladder_sweep s = ladder_last_sweep(&p, control, open);
    ladder_end(control, open, (unsigned)kept);
    const int block = (int)blockIdx.x, n = (int)blockDim.x;
    const int rest = block - counters - swappers;
    const int others = (int)gridDim.x - counters - swappers;

    if (block < counters)
        ladder_count(&p, &s, (long long)block * n + threadIdx.x,
                     (long long)counters * n);
    else if (rest < 0)
        ladder_swap_pairs(&p, &s,
                          (long long)(block - counters) * n + threadIdx.x,
                          (long long)swappers * n);
    for (int l = rest; l >= 0 && l < p.ladders; l += others) {
        ladder_set_prior(&p, &s, l);
        if (kept)
            ladder_pick(&p, &s, l);
    }
}
