/* ladder.h: the device kernels of tempering: what a ladder's replicas do
 * between two sweeps, so that neither states nor powers leave the device.
 * Included by kernels.h for models with powers.
 *
 * A ladder has `replicas` chains; chain: [ladders][replicas], which of them is
 * at a rung; rung: [chains], the other way round. power: [replicas], of rungs;
 * loglik: [chains], at power 1. */
#include "swap.h"

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
    for (long long c = thread_number(); c < chains; c += thread_count())
        own[c] = (real)given[rung[c]];
}

/* loglik (first: =, else +=) lp, which has the chain's power; last: what is no
 * number is impossible. */
CUDA_KERNEL ladder_logliks(const double *lp, const real *own, int chains,
                           int first, int last, double *loglik)
{
    for (long long c = thread_number(); c < chains; c += thread_count()) {
        const double x = (first ? 0 : loglik[c]) + lp[c] / (double)own[c];
        loglik[c] = last && x != x ? (double)-GBM_INF : x;
    }
}

/* The chains at the first rungs get draws from the prior. records: [ladders]
 * [length], of the slots' cells; told: [ladders] their log likelihoods. A block
 * for each ladder. */
CUDA_KERNEL ladder_prior(const struct ladder_slot *slots, int nslots,
                         const double *records, long long length,
                         const double *told, const int *chain, int replicas,
                         double *loglik)
{
    const long long ladder = blockIdx.x;
    const long long c = chain[ladder * replicas];
    const double *record = records + ladder * length;
    for (int v = 0; v < nslots; v++) {
        const struct ladder_slot slot = slots[v];
        for (long long i = threadIdx.x; i < slot.cells; i += blockDim.x) {
            const double x = record[slot.offset + i];
            if (slot.integer)
                ((int *)slot.values)[c * slot.cells + i] = (int)x;
            else
                ((real *)slot.values)[c * slot.cells + i] = (real)x;
        }
    }
    if (threadIdx.x == 0)
        loglik[c] = told[ladder];
}

/* The draws of the chains at the last rungs, which gather has put into the ring
 * last: [ladders][row]. */
CUDA_KERNEL ladder_pick(const struct gbm_control *control, const double *draws,
                        int chains, long long row, const int *chain,
                        int ladders, int replicas, double *picked)
{
    const long long last =
        control->slot ? control->slot - 1 : control->ring - 1;
    const double *draw = draws + last * chains * row;
    for (long long t = thread_number(); t < ladders * row;
         t += thread_count()) {
        const long long l = t / row;
        picked[t] = draw[chain[(l + 1) * replicas - 1] * row + t % row];
    }
}

__device__ static inline double add_logs(double a, double b)
{
    const double most = a > b ? a : b;
    return most == (double)-GBM_INF ? most : most + log1p(exp(-fabs(a - b)));
}

/* Before a swap: each pair's probability of none is added to `rejected`,
 * [replicas - 1]; and to `stones`, [3][ladders][replicas] or NULL, as
 * logarithms, the likelihood to the power that the next rung has more, to half
 * of that, and one over that of the next rung's. */
CUDA_KERNEL ladder_count(const double *power, const int *chain,
                         const double *loglik, int ladders, int replicas,
                         double *rejected, double *stones)
{
    const long long kind = (long long)ladders * replicas;
    for (long long i = thread_number(); i + 1 < replicas; i += thread_count()) {
        const double more = power[i + 1] - power[i];
        double sum = rejected[i];
        for (int l = 0; l < ladders; l++) {
            const int *at = chain + (long long)l * replicas + i;
            const double lower = loglik[at[0]], upper = loglik[at[1]];
            double *stone = stones + (long long)l * replicas + i;
            sum += 1 - gbm_swap_probability(more, lower, upper);
            if (!stones)
                continue;
            stone[0] = add_logs(stone[0], more * lower);
            stone[kind] = add_logs(stone[kind], more / 2 * lower);
            if (upper > (double)-GBM_INF && upper < (double)GBM_INF)
                stone[2 * kind] = add_logs(stone[2 * kind], -more / 2 * upper);
        }
        rejected[i] = sum;
    }
}

/* Even pairs swap after even sweeps, odd ones after odd ones: chains change
 * rungs, with what is tuned for a rung. A warp for each pair; none reads what
 * another one writes. */
CUDA_KERNEL ladder_swap(unsigned long long seed, unsigned sweep,
                        const double *power, const double *given,
                        const double *loglik, int ladders, int replicas,
                        const struct ladder_slot *tuned, int ntuned, int *chain,
                        int *rung, real *own)
{
    const int parity = (int)(sweep & 1), lane = threadIdx.x & 31;
    const long long pairs = (replicas - parity) / 2;
    for (long long w = thread_number() / 32; w < pairs * ladders;
         w += thread_count() / 32) {
        const int l = (int)(w / pairs);
        const int i = parity + 2 * (int)(w % pairs);
        int *at = chain + (long long)l * replicas + i;
        const int a = at[0], b = at[1];
        const double probability =
            gbm_swap_probability(power[i + 1] - power[i], loglik[a], loglik[b]);
        __syncwarp(); /* all have read `at` */
        if (!gbm_swap_decides(seed, (unsigned)l, sweep, (unsigned)i,
                              probability))
            continue;
        if (lane == 0) {
            at[0] = b;
            at[1] = a;
            rung[b] = i;
            rung[a] = i + 1;
            own[b] = (real)given[i];
            own[a] = (real)given[i + 1];
        }
        for (int v = 0; v < ntuned; v++) {
            real *values = (real *)tuned[v].values;
            const long long n = tuned[v].cells;
            for (long long k = lane; k < n; k += 32) {
                const real kept = values[a * n + k];
                values[a * n + k] = values[b * n + k];
                values[b * n + k] = kept;
            }
        }
    }
}

/* After a swap: heading, [chains], is 1 from the prior to the posterior and -1
 * back; whoever has been there and is back has made a trip. */
CUDA_KERNEL ladder_trips(const int *chain, int ladders, int replicas,
                         int *heading, unsigned long long *trips)
{
    for (long long l = thread_number(); l < ladders; l += thread_count()) {
        int *first = heading + chain[l * replicas];
        int *last = heading + chain[(l + 1) * replicas - 1];
        if (*first == -1)
            atomicAdd(trips, 1ull);
        *first = 1;
        if (*last == 1)
            *last = -1;
    }
}
