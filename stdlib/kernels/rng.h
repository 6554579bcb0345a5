/* rng.h: counter-based random numbers.
 *
 * Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3" (SC 2011). A stream is a function of (seed; chain, sweep,
 * step, element) alone: the key is a bijection of the chain for a given seed,
 * the counter is (block, element, sweep, step). So a draw is the same whatever
 * the threads, devices or chains beside it. */
#ifndef GBM_RNG_H
#define GBM_RNG_H

#include "real.h"

/* The host makes many numbers of a stream at once, which are as if they were made
 * one after another. A build for tests (GBM_ONE_BY_ONE) does not. */
#if !defined(__CUDACC__) && !defined(GBM_SINGLE) && !defined(GBM_ONE_BY_ONE)
#define GBM_AT_ONCE
#endif

struct gbm_rng {
    uint32_t key0, key1;
    uint32_t block, element, sweep, step; /* the next counter */
    uint32_t left;                        /* words not used yet */
    uint32_t word0, word1, word2, word3;  /* the next one is word0 */
#ifndef __CUDACC__
    /* The first nahead blocks stand at `place` and every `stride` after it:
     * ahead.h. */
    const struct gbm_ahead *ahead;
    uint32_t place, stride, nahead;
    uint32_t normals; /* so many of the normal draws stand there too */
    /* Not NULL: draws between bounds are asked for first, of many elements, and
     * taken when all have been made; this is number `asks` (between_rows.h). */
    struct gbm_between *between;
    int asks;
#endif
};

#ifndef __CUDACC__
/* Blocks are computed in groups of this many; one group's words 0 and 1, and 2
 * and 3, the earlier one high, and the normals that are drawn from these. */
#define GBM_AHEAD_GROUP 8
struct gbm_ahead {
    uint64_t words[2][GBM_AHEAD_GROUP];
    double normal[2][GBM_AHEAD_GROUP];
};
#endif

GBM_FN uint32_t gbm_multiply_high(uint32_t a, uint32_t b)
{
#ifdef __CUDACC__
    return __umulhi(a, b);
#else
    return (uint32_t)(((uint64_t)a * b) >> 32);
#endif
}

/* The block function: ten rounds on x, with the key (key0, key1). */
GBM_FN void gbm_philox(uint32_t x[4], uint32_t key0, uint32_t key1)
{
    uint32_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int round = 0; round < 10; round++) {
        uint32_t high0 = gbm_multiply_high(0xD2511F53u, x0);
        uint32_t high1 = gbm_multiply_high(0xCD9E8D57u, x2);
        uint32_t low0 = 0xD2511F53u * x0, low1 = 0xCD9E8D57u * x2;
        x0 = high1 ^ x1 ^ key0;
        x1 = low1;
        x2 = high0 ^ x3 ^ key1;
        x3 = low0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    x[0] = x0;
    x[1] = x1;
    x[2] = x2;
    x[3] = x3;
}

struct gbm_rng_words {
    uint32_t x[4];
};

/* Block `block` of a stream. Inlined wherever a number is drawn it would be a
 * third of a program, and of the C compiler's time. */
GBM_FN_CALLED struct gbm_rng_words gbm_rng_block(uint32_t block,
                                                 uint32_t element,
                                                 uint32_t sweep, uint32_t step,
                                                 uint32_t key0, uint32_t key1)
{
    struct gbm_rng_words w = {{block, element, sweep, step}};
    gbm_philox(w.x, key0, key1);
    return w;
}

/* A bijection of 64 bits that spreads them (splitmix64's finaliser, after
 * Stafford's variant 13). */
GBM_FN uint64_t gbm_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Starts the stream of an element. Distinct chains of one seed have distinct
 * keys; distinct (sweep, step, element) have distinct counters. */
GBM_FN void gbm_rng_start(struct gbm_rng *rng, uint64_t seed, uint32_t chain,
                          uint32_t sweep, uint32_t step, uint32_t element)
{
    uint64_t key = gbm_mix(seed + 0x9E3779B97F4A7C15u * ((uint64_t)chain + 1));
    rng->key0 = (uint32_t)key;
    rng->key1 = (uint32_t)(key >> 32);
    rng->block = 0;
    rng->element = element;
    rng->sweep = sweep;
    rng->step = step;
    rng->left = 0;
    rng->word0 = rng->word1 = rng->word2 = rng->word3 = 0;
#ifndef __CUDACC__
    rng->ahead = NULL;
    rng->place = rng->stride = rng->nahead = 0;
    rng->normals = 0;
    rng->between = NULL;
    rng->asks = 0;
#endif
}

GBM_FN void gbm_rng_refill(struct gbm_rng *rng)
{
#ifndef __CUDACC__
    if (rng->block < rng->nahead) {
        const uint32_t place = rng->place + rng->stride * rng->block++;
        const struct gbm_ahead *group = &rng->ahead[place / GBM_AHEAD_GROUP];
        const uint64_t early = group->words[0][place % GBM_AHEAD_GROUP];
        const uint64_t late = group->words[1][place % GBM_AHEAD_GROUP];
        rng->word0 = (uint32_t)(early >> 32);
        rng->word1 = (uint32_t)early;
        rng->word2 = (uint32_t)(late >> 32);
        rng->word3 = (uint32_t)late;
        rng->left = 4;
        return;
    }
#endif
    const struct gbm_rng_words w = gbm_rng_block(
        rng->block, rng->element, rng->sweep, rng->step, rng->key0, rng->key1);
    rng->block++;
    rng->word0 = w.x[0];
    rng->word1 = w.x[1];
    rng->word2 = w.x[2];
    rng->word3 = w.x[3];
    rng->left = 4;
}

/* 32 random bits. */
GBM_FN uint32_t gbm_rng_word(struct gbm_rng *rng)
{
    if (rng->left == 0)
        gbm_rng_refill(rng);
    uint32_t word = rng->word0;
    rng->word0 = rng->word1;
    rng->word1 = rng->word2;
    rng->word2 = rng->word3;
    rng->left--;
    return word;
}

/* Uniform on the open interval (0, 1): the midpoints of 2^52 equal cells, or of
 * 2^23 in single precision. These are exact, so neither 0 nor 1 can occur. */
GBM_FN real gbm_uniform(struct gbm_rng *rng)
{
#ifdef GBM_SINGLE
    uint32_t cell = gbm_rng_word(rng) >> 9;
    return ((real)cell + REAL_C(0.5)) * REAL_C(1.1920928955078125e-7);
#else
    if (rng->left < 2)
        gbm_rng_refill(rng);
    uint64_t bits = (uint64_t)rng->word0 << 32 | rng->word1;
    rng->word0 = rng->word2;
    rng->word1 = rng->word3;
    rng->left -= 2;
    return ((real)(int64_t)(bits >> 12) + 0.5) * 2.2204460492503131e-16;
#endif
}

/* Leaves out the next n uniforms, or normals (normal.h). */
GBM_FN void gbm_rng_skip(struct gbm_rng *rng, uint32_t n)
{
#ifdef GBM_SINGLE
    const uint32_t words = 1;
#else
    const uint32_t words = 2;
#endif
    const uint32_t here = rng->left / words, each = 4 / words;
    if (n > here) {
        n -= here;
        rng->left = 0;
        rng->block += n / each;
        n %= each;
    }
    for (; n > 0; n--)
        (void)gbm_uniform(rng);
}

/* gbm_uniform by the name that library files use. */
GBM_FN real gbm_draw_uniform(struct gbm_rng *rng) { return gbm_uniform(rng); }

#endif
