/* ahead.h: random numbers computed before the updates that take them, of many
 * elements at once through the vector unit. Host only: on the device every
 * thread has its own stream anyway. The words are those that the streams would
 * give (rng.h); normals are the same to rounding. */
#ifndef GBM_AHEAD_H
#define GBM_AHEAD_H

#include "normal.h"
#include "team.h"

/* sqrt(2) erfinv(x) / x as a polynomial in w - 25/8, w = -log(1 - x^2) <= 25/4:
 * Giles, "Approximating the erfinv function" (GPU Computing Gems, Jade edition,
 * 2012), fitted anew at Chebyshev points: error 5e-17. One draw in a thousand
 * lies beyond. */
#define GBM_NORMAL_CENTRE 3.125
GBM_INLINE double gbm_normal_centre(double x, double w)
{
    const double c[24] = {
        2.3386207100265933416,      0.33963495870113889296,
        -8.5328991772687568588e-3,  -1.0475115694853833874e-3,
        2.6408204954745886903e-4,   -1.9632852864325830832e-5,
        -1.9310650405188242323e-6,  5.9888948690884240158e-7,
        -4.1111728856168301769e-8,  -5.8161807053590389544e-9,
        1.4866469686283018762e-9,   -7.6569585522752735455e-11,
        -1.8352086958969938088e-11, 3.7200658748985911905e-12,
        -1.1481161704338404732e-13, -5.6586133714544458136e-14,
        9.3287436179150954063e-15,  -5.6957102325230636018e-17,
        -1.8408831257443668529e-16, 2.2024626133010421166e-17,
        1.626429066013272168e-18,   -4.9488499419484386785e-19,
        -1.5757160664160344473e-21, 4.5824192781238812306e-21};
    return x * gbm_polynomial(c, 24, w - GBM_NORMAL_CENTRE);
}

/* Lanes of 64 bits of which the low 32 count. */
#if defined(__AVX512F__)
#define GBM_LANES 8
#elif defined(__AVX2__)
#define GBM_LANES 4
#else
#define GBM_LANES 2
#endif
typedef uint64_t gbm_lanes __attribute__((vector_size(8 * GBM_LANES)));

/* Products of the low halves. GCC does not see the instruction in them. */
GBM_INLINE gbm_lanes gbm_multiply_lanes(gbm_lanes a, gbm_lanes b)
{
#if !defined(__clang__) && defined(__AVX512F__)
    typedef int half __attribute__((vector_size(64)));
    typedef long long whole __attribute__((vector_size(64)));
    const whole zero = {0};
    return (gbm_lanes)__builtin_ia32_pmuludq512_mask((half)a, (half)b, zero,
                                                     0xff);
#elif !defined(__clang__) && defined(__AVX2__)
    typedef int half __attribute__((vector_size(32)));
    return (gbm_lanes)__builtin_ia32_pmuludq256((half)a, (half)b);
#elif !defined(__clang__) && defined(__SSE2__)
    typedef int half __attribute__((vector_size(16)));
    return (gbm_lanes)__builtin_ia32_pmuludq128((half)a, (half)b);
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

/* gbm_philox in lanes. The high halves of x and of the keys go into nothing. */
GBM_INLINE void gbm_philox_lanes(gbm_lanes x[4], gbm_lanes key0, gbm_lanes key1)
{
    const gbm_lanes zero = {0};
    const gbm_lanes by0 = zero + 0xD2511F53u, by1 = zero + 0xCD9E8D57u;
    GBM_UNROLL
    for (int round = 0; round < 10; round++) {
        const gbm_lanes product0 = gbm_multiply_lanes(by0, x[0]);
        const gbm_lanes product1 = gbm_multiply_lanes(by1, x[2]);
        x[0] = (product1 >> 32) ^ x[1] ^ key0;
        x[1] = product1;
        x[2] = (product0 >> 32) ^ x[3] ^ key1;
        x[3] = product0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* What gbm_uniform makes of two words. */
GBM_INLINE double gbm_uniform_of(uint64_t words)
{
    const uint64_t bits = 0x3ff0000000000000u | words >> 12;
    double x; /* on [1, 2) */
    __builtin_memcpy(&x, &bits, sizeof x);
    return (x - 1) + 1.1102230246251565e-16;
}

/* Places: each has block number `block` of the stream of (step, element), so
 * many sweeps later. */
struct gbm_places {
    uint64_t later[GBM_AHEAD_GROUP];
    uint64_t step[GBM_AHEAD_GROUP], element[GBM_AHEAD_GROUP];
    uint64_t block[GBM_AHEAD_GROUP];
    int normals; /* 1, 2: wanted are those of a block's first words, of all */
};

/* What gbm_draw_normal makes of pairs of words. */
GBM_FN void gbm_normals_ahead(const uint64_t *words, double *normals)
{
    double w[GBM_AHEAD_GROUP], beyond = 0;
    GBM_SIMD_SUM(beyond)
    for (int i = 0; i < GBM_AHEAD_GROUP; i++) {
        const double u = gbm_uniform_of(words[i]);
        w[i] = -real_log(4 * u * (1 - u));
        beyond += w[i] > 2 * GBM_NORMAL_CENTRE ? 1 : 0;
        normals[i] = gbm_normal_centre(2 * u - 1, w[i]);
    }
    if (beyond == 0)
        return;
    for (int i = 0; i < GBM_AHEAD_GROUP; i++)
        if (w[i] > 2 * GBM_NORMAL_CENTRE)
            normals[i] = gbm_probit(gbm_uniform_of(words[i]));
}

/* Keeps the words of the lanes i and after. */
GBM_INLINE void gbm_store_lanes(const gbm_lanes x[4], int i,
                                struct gbm_ahead *out)
{
    const gbm_lanes early = x[0] << 32 | (x[1] & 0xffffffffu);
    const gbm_lanes late = x[2] << 32 | (x[3] & 0xffffffffu);
    __builtin_memcpy(&out->words[0][i], &early, sizeof early);
    __builtin_memcpy(&out->words[1][i], &late, sizeof late);
}

/* n groups of places of the streams of (seed, chain, sweep). */
static __attribute__((unused)) void
gbm_draw_ahead(uint64_t seed, uint32_t chain, uint32_t sweep, int n,
               const struct gbm_places *places, struct gbm_ahead *out)
{
    struct gbm_rng rng;
    gbm_rng_start(&rng, seed, chain, sweep, 0, 0);
    for (int g = 0; g < n; g++) {
        const struct gbm_places *p = &places[g];
        for (int i = 0; i < GBM_AHEAD_GROUP; i += GBM_LANES) {
            const gbm_lanes zero = {0};
            gbm_lanes x[4];
            __builtin_memcpy(&x[0], &p->block[i], sizeof x[0]);
            __builtin_memcpy(&x[1], &p->element[i], sizeof x[1]);
            __builtin_memcpy(&x[3], &p->step[i], sizeof x[3]);
            __builtin_memcpy(&x[2], &p->later[i], sizeof x[2]);
            x[2] += sweep;
            gbm_philox_lanes(x, zero + rng.key0, zero + rng.key1);
            gbm_store_lanes(x, i, &out[g]);
        }
        for (int half = 0; half < p->normals; half++)
            gbm_normals_ahead(out[g].words[half], out[g].normal[half]);
    }
}

/* How many normals the draw begins with: its file may define GBM_BEGINS_... as
 * "~, 1" or "~, 2". Else 0. */
#define GBM_NORMALS_FIRST(draw) GBM_SECOND(GBM_BEGINS_##draw, 0, 0)
#define GBM_SECOND(...) GBM_SECOND_OF(__VA_ARGS__)
#define GBM_SECOND_OF(first, second, ...) second

#endif
