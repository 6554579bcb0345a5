/* swap.h: whether two neighbours of a ladder of tempering swap. The host and
 * the device decide alike, bit by bit and whatever the precision of the state:
 * the exponential is made of operations that both round alike. */
#ifndef GBM_SWAP_H
#define GBM_SWAP_H

#include "rng.h"

/* Random numbers of swaps have a step's number that no step has. */
#define GBM_SWAP_STEP (0xffffffffu - 1u)

/* exp(x) of x <= 0 to its last digit or two: by the powers of what x is more
 * than a multiple of log(2). */
GBM_FN double gbm_swap_exp(double x)
{
    if (!(x > -700.0))
        return 0;
    const int twos = (int)(x * 1.4426950408889634 - 0.5);
    const double rest = (x - twos * 6.93147180369123816490e-01) -
                        twos * 1.90821492927058770002e-10;
    const double over[15] = {0,        1,        1.0 / 2,  1.0 / 3,  1.0 / 4,
                             1.0 / 5,  1.0 / 6,  1.0 / 7,  1.0 / 8,  1.0 / 9,
                             1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14};
    double sum = 1;
    GBM_UNROLL
    for (int k = 14; k > 0; k--)
        sum = 1 + sum * (rest * over[k]);
    return ldexp(sum, twos);
}

/* The probability that they swap: of powers that differ by `more`, and the log
 * likelihoods of what the lower and the upper one have. */
GBM_FN double gbm_swap_probability(double more, double lower, double upper)
{
    const double x = more * (lower - upper);
    return x >= 0 ? 1 : x < 0 ? gbm_swap_exp(x) : 0; /* impossible ones stay */
}

/* Whether rung `lower` of a ladder and the next one do after a sweep. */
GBM_FN bool gbm_swap_decides(uint64_t seed, uint32_t ladder, uint32_t sweep,
                             uint32_t lower, double probability)
{
    struct gbm_rng rng;
    gbm_rng_start(&rng, seed, ladder, sweep, GBM_SWAP_STEP, lower);
    const uint64_t high = gbm_rng_word(&rng), low = gbm_rng_word(&rng);
    const uint64_t bits = high << 32 | low; /* as gbm_uniform in double */
    return ((double)(int64_t)(bits >> 12) + 0.5) * 2.2204460492503131e-16 <
           probability;
}

#endif
