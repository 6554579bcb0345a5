/* polya_gamma_bent.h: Polya-Gamma draws PG(n, z) of 1 <= n <= 13, not
 * necessarily whole, from a normal that is bent:
 *     x = n w (s + sqrt(1 + s^2))^2,  w = 1 / (2 sqrt(pi^2 + z^2)),
 * s a polynomial of the normal. The density of x falls like exp(-n^2 / (8 x))
 * on its left and exp(-(pi^2 + z^2) x / 2) on its right, and so does that of
 * the bent normal if s is linear (Birnbaum and Saunders's distribution; for
 * large z, where x is inverse Gaussian, that is exact). The coefficients of s
 * up to the cube follow x's quantiles, as polynomials of 1/n and of 1 /
 * sqrt(pi^2 + z^2), so well that the ratio of the two densities is within 4 %
 * of 1. What lies below its least value is accepted, and else x by the ratio
 * itself, from the alternating series for the density of PG(n, 0): Windle,
 * Polson and Scott, "Sampling Polya-Gamma random variates: alternate and
 * approximate techniques" (arXiv:1405.0506, 2014), section 2; exact, as far as
 * the series has digits, whose terms cancel: for n = 13 in the 10^-11th part of
 * the draws. */
#ifndef GBM_POLYA_GAMMA_BENT_H
#define GBM_POLYA_GAMMA_BENT_H

#include "normal.h"
#include "team.h"

#define GBM_PG_BENT_LEAST 1
#define GBM_PG_BENT_MOST (sizeof(real) == 4 ? 6 : 13)
#define GBM_PG_BENT_FAR 20 /* z, at most */

/* ---- the density ---- */

/* sum_k (-1)^k G(n + k) / (k! G(n)) (2 k + n) / n q^(k (n + k)), q = exp(-1 /
 * (2 x)): what the density of PG(n, 0) has beside its first term. */
GBM_FN real gbm_pg_series(real n, real x)
{
    const real q2 = real_exp(-1 / x);
    real power = real_exp(-(n + 1) / (2 * x)), term = 1, sum = 1;
    for (int k = 0; k < 200 && term > GBM_EPSILON / 8; k++) {
        const real m = (real)k, two = n + 2 * m;
        term *= (n + m) * (two + 2) / ((m + 1) * two) * power;
        sum += k & 1 ? term : -term;
        power *= q2;
    }
    return sum;
}

/* ---- the bent normal ---- */

#define GBM_BEGINS_gbm_draw_polya_gamma ~, 1

/* Beyond ENDS s goes on from its slope there, which grows: the tails are heavy
 * enough. */
#define GBM_PG_BENT_ENDS REAL_C(2.2)
#define GBM_PG_BENT_GROWS REAL_C(0.02)

struct gbm_pg_bent {
    real n, z, scale; /* n w */
    real s[4];        /* the polynomial */
    real most;        /* log of the largest ratio, */
    real sure;        /* the least one within the ends over the largest */
};

GBM_FN struct gbm_pg_bent gbm_pg_bent_of(real n, real z)
{
    /* Columns: s[0] times 1, 1/n, 1/n^2; s[1] n^(1/2) times those and 1/n^3;
     * s[2] n times three; s[3] n^(3/2) times two. Rows: powers of pi /
     * sqrt(pi^2 + z^2). */
    const real rows[6][12] = {
        {REAL_C(-0.00118378), REAL_C(-0.00373790), REAL_C(0.00268756),
         REAL_C(0.06430735), REAL_C(-0.01065677), REAL_C(0.01000389),
         REAL_C(-0.00395345), REAL_C(0.00471194), REAL_C(-0.00645966),
         REAL_C(0.00312100), REAL_C(0.00109958), REAL_C(-0.00040934)},
        {REAL_C(0.02567651), REAL_C(-0.10948323), REAL_C(-0.03802095),
         REAL_C(0.72944272), REAL_C(0.15436310), REAL_C(-0.14891883),
         REAL_C(0.05279568), REAL_C(-0.06966139), REAL_C(0.09903497),
         REAL_C(-0.04857698), REAL_C(-0.01952202), REAL_C(0.00938536)},
        {REAL_C(0.04967960), REAL_C(-0.20969584), REAL_C(0.21487467),
         REAL_C(-1.00693973), REAL_C(-0.89137632), REAL_C(0.78085735),
         REAL_C(-0.23533668), REAL_C(0.35918201), REAL_C(-0.53521702),
         REAL_C(0.27034936), REAL_C(0.12394698), REAL_C(-0.07153039)},
        {REAL_C(0.68057745), REAL_C(0.19606990), REAL_C(-0.34110502),
         REAL_C(1.52598178), REAL_C(1.85383776), REAL_C(-1.68997419),
         REAL_C(0.39296233), REAL_C(-0.74461707), REAL_C(1.25555859),
         REAL_C(-0.65865389), REAL_C(-0.33561922), REAL_C(0.22803702)},
        {REAL_C(-0.80208811), REAL_C(0.05565651), REAL_C(0.19075102),
         REAL_C(-1.35682600), REAL_C(-1.51847100), REAL_C(1.41997648),
         REAL_C(-0.19191506), REAL_C(0.61046411), REAL_C(-1.17423758),
         REAL_C(0.64839373), REAL_C(0.36352253), REAL_C(-0.27718700)},
        {REAL_C(0.27544441), REAL_C(-0.07010817), REAL_C(-0.03159161),
         REAL_C(0.46291023), REAL_C(0.43847088), REAL_C(-0.40722211),
         REAL_C(0.00359594), REAL_C(-0.17603180), REAL_C(0.37852586),
         REAL_C(-0.21808393), REAL_C(-0.13315081), REAL_C(0.10928402)},
    };
    const real root = 1 / real_sqrt(GBM_PI * GBM_PI + z * z), by = 1 / n,
               half = real_sqrt(by), t = GBM_PI * root;
    real c[12];
    GBM_SIMD
    for (int i = 0; i < 12; i++)
        c[i] = ((((rows[5][i] * t + rows[4][i]) * t + rows[3][i]) * t +
                 rows[2][i]) *
                    t +
                rows[1][i]) *
                   t +
               rows[0][i];
    const struct gbm_pg_bent b = {
        n,
        z,
        n * root / 2,
        {c[0] + (c[1] + c[2] * by) * by,
         (c[3] + (c[4] + (c[5] + c[6] * by) * by) * by) * half,
         (c[7] + (c[8] + c[9] * by) * by) * by,
         (c[10] + c[11] * by) * by * half},
        REAL_C(0.0245),
        REAL_C(0.97) - (REAL_C(0.0255) + REAL_C(0.006) * by) * by};
    return b;
}

/* s and its slope. */
GBM_FN real gbm_pg_bend(const struct gbm_pg_bent *b, real normal, real *slope)
{
    const real at = gbm_clamp(normal, -GBM_PG_BENT_ENDS, GBM_PG_BENT_ENDS),
               s = b->s[0] + at * (b->s[1] + at * (b->s[2] + at * b->s[3])),
               rise = b->s[1] + at * (2 * b->s[2] + at * (3 * b->s[3])),
               beyond = normal - at,
               more = GBM_PG_BENT_GROWS * real_fabs(beyond);
    *slope = rise * (1 + 2 * more);
    return s + rise * beyond * (1 + more);
}

/* x / scale. */
GBM_FN real gbm_pg_bent_place(real s)
{
    const real y = s + real_sqrt(1 + s * s);
    return y * y;
}

/* Density of x where the normal is, over that of the bent normal. */
GBM_FN_BIG real gbm_pg_bent_ratio(const struct gbm_pg_bent *b, real normal)
{
    real slope;
    const real s = gbm_pg_bend(b, normal, &slope),
               x = b->scale * gbm_pg_bent_place(s), n = b->n,
               left = n - 2 * b->z * x;
    return n * slope / real_sqrt(x * (1 + s * s)) * gbm_pg_series(n, x) *
           real_exp(n * real_log1p(real_exp(-b->z)) - left * left / (8 * x) +
                    normal * normal / 2);
}

GBM_FN_BIG real gbm_pg_bent(struct gbm_rng *rng, real n, real z)
{
    const struct gbm_pg_bent b = gbm_pg_bent_of(n, z);
    for (;;) {
        const real normal = gbm_draw_normal(rng), u = gbm_uniform(rng);
        const bool near = real_fabs(normal) < GBM_PG_BENT_ENDS;
        if ((near && u < b.sure) ||
            u * real_exp(b.most) < gbm_pg_bent_ratio(&b, normal)) {
            real slope;
            return b.scale * gbm_pg_bent_place(gbm_pg_bend(&b, normal, &slope));
        }
    }
}

#endif
