/* polya_gamma_bent.h: Polya-Gamma draws PG(n, z) of 1 <= n <= 600, not
 * necessarily whole, from a normal that is bent:
 *     x = n w (s + sqrt(1 + s^2))^2,  w = 1 / (2 sqrt(pi^2 + z^2)),
 * s a polynomial of the normal. The density of x falls like exp(-n^2 / (8 x))
 * on its left and exp(-(pi^2 + z^2) x / 2) on its right, and so does that of
 * the bent normal if s is linear (Birnbaum and Saunders's distribution; for
 * large z, where x is inverse Gaussian, that is exact). The coefficients of s
 * up to the cube follow x's quantiles, as polynomials of 1/n and of 1 /
 * sqrt(pi^2 + z^2), so well that the ratio of the two densities is within 4 %
 * of 1, for n > 13 within 0.7 %. What lies below its least value is accepted,
 * and else x by the ratio itself.
 *
 * That is exact for n up to 20, by the alternating series for the density of
 * PG(n, 0): Windle, Polson and Scott, "Sampling Polya-Gamma random variates:
 * alternate and approximate techniques" (arXiv:1405.0506, 2014), section 2; as
 * far as it has digits, since its terms cancel on the right: for n = 20 and z =
 * 0 beyond 6 standard deviations. For larger n the method of saddle points
 * leaves the distribution function within 3e-10, which falls like n^-5. */
#ifndef GBM_POLYA_GAMMA_BENT_H
#define GBM_POLYA_GAMMA_BENT_H

#include "normal.h"
#include "polya_gamma_nodes.h"
#include "team.h"

#define GBM_PG_BENT_LEAST 1
#define GBM_PG_BENT_MOST 600
#define GBM_PG_SERIES_MOST (sizeof(real) == 4 ? 6 : 20)
#define GBM_PG_BENT_FEW 13
#define GBM_PG_BENT_FAR 20 /* z, at most */

/* ---- the density ---- */

/* sum_k (-1)^k G(n + k) / (k! G(n)) (2 k + n) / n q^(k (n + k)), q = exp(-1 /
 * (2 x)): what the density of PG(n, 0) has beside its first term. */
GBM_FN real gbm_pg_series(real n, real x)
{
    const real q2 = real_exp(-1 / x);
    real power = real_exp(-(n + 1) / (2 * x)), term = 1, sum = 1;
    GBM_ROLLED
    for (int k = 0; k < 200 && term > GBM_EPSILON / 8; k++) {
        const real m = (real)k, two = n + 2 * m;
        term *= (n + m) * (two + 2) / ((m + 1) * two) * power;
        sum += k & 1 ? term : -term;
        power *= q2;
    }
    return sum;
}

/* What the density of PG(n, z) is of Y = 2 pi^2 x by the method of saddle
 * points, Daniels (Annals of Mathematical Statistics 25, 1954), with the terms
 * of 1/n to 1/n^4; times sqrt(2 pi) Y. Where the mean of PG(n, v) is x,
 * u = v^2 / (4 pi^2), below 0 on the right. What follows has few gammas for
 * derivatives and is exact in the exponent. */
struct gbm_pg_saddle {
    real u, k[11]; /* cumulants there over n, k[2] to k[10] */
};

GBM_FN struct gbm_pg_saddle gbm_pg_saddle_of(real mean)
{
    const struct gbm_pg_nodes p = gbm_pg_many_nodes();
    struct gbm_pg_saddle to = {0};
    const real right = gbm_square(GBM_PI / (2 * mean));
    to.u = right > REAL_C(0.5) ? right : 1 / mean - p.rate[0];
    GBM_ROLLED
    for (int trial = 0; trial < 30; trial++) {
        real value = p.shift - mean, slope = 0;
        for (int i = 0; i < p.count; i++) {
            const real w = 1 / (p.rate[i] + to.u);
            value += p.shape[i] * w;
            slope += p.shape[i] * w * w;
        }
        to.u += value / slope;
        if (real_fabs(value) < 16 * GBM_EPSILON * mean)
            break;
    }
    for (int i = 0; i < p.count; i++) {
        const real w = 1 / (p.rate[i] + to.u);
        real power = p.shape[i] * w;
        for (int j = 2; j <= 10; j++) {
            power *= (real)(j - 1) * w;
            to.k[j] += power;
        }
    }
    return to;
}

/* The term of 1/n^4, and those of 1/n to 1/n^3, of cumulants in units of the
 * standard deviation: l[3] to l[10]. They are the means over a standard normal
 * Z of what exp(sum_j l[j] (i Z)^j / j!) has of each order. */
GBM_FN real gbm_pg_saddle_last(const real *l)
{
    const real a = l[3], b = l[4], c = l[5], d = l[6], e = l[7], f = l[8],
               a2 = a * a, b2 = b * b;
    const real pure = REAL_C(37182145.0 / 7962624) * a2 * a2 -
                      REAL_C(11316305.0 / 663552) * a2 * b +
                      REAL_C(323323.0 / 55296) * a * c +
                      REAL_C(8083075.0 / 442368) * b2 -
                      REAL_C(85085.0 / 55296) * d;
    const real cubes =
        REAL_C(715.0 / 2304) * e - REAL_C(85085.0 / 9216) * b * c;
    const real squares =
        REAL_C(5005.0 / 3072) * b * d - REAL_C(425425.0 / 73728) * b2 * b +
        REAL_C(1001.0 / 1024) * c * c - REAL_C(143.0 / 3072) * f;
    const real once =
        REAL_C(5005.0 / 2048) * b2 * c - REAL_C(143.0 / 768) * b * e -
        REAL_C(1001.0 / 3840) * c * d + REAL_C(11.0 / 2304) * l[9];
    return a2 * a2 * pure + a2 * a * cubes + a2 * squares + a * once +
           REAL_C(25025.0 / 98304) * b2 * b2 - REAL_C(1001.0 / 6144) * b2 * d -
           REAL_C(1001.0 / 5120) * b * c * c + REAL_C(11.0 / 1024) * b * f +
           REAL_C(11.0 / 640) * c * e + REAL_C(77.0 / 7680) * d * d -
           l[10] / 3840;
}

GBM_FN real gbm_pg_saddle_terms(const struct gbm_pg_saddle *to, real n)
{
    const real unit = 1 / real_sqrt(n * to->k[2]);
    real l[11], power = n * unit * unit;
    for (int j = 3; j <= 10; j++) {
        power *= unit;
        l[j] = to->k[j] * power;
    }
    const real a = l[3], b = l[4], c = l[5], d = l[6], a2 = a * a;
    return b / 8 - 5 * a2 / 24 + 385 * a2 * a2 / 1152 - 35 * a2 * b / 64 +
           7 * a * c / 48 + 35 * b * b / 384 - d / 48 -
           85085 * a2 * a2 * a2 / 82944 + 25025 * a2 * a2 * b / 9216 -
           1001 * a2 * a * c / 1152 - 5005 * a2 * b * b / 3072 +
           77 * a2 * d / 384 + 77 * a * b * c / 128 - a * l[7] / 32 +
           385 * b * b * b / 3072 - 7 * b * d / 128 - 21 * c * c / 640 +
           l[8] / 384 + gbm_pg_saddle_last(l);
}

/* log(cosh(pi sqrt(u))) */
GBM_FN real gbm_pg_log_cosh(real u)
{
    if (u < 0)
        return real_log(real_cos(GBM_PI * real_sqrt(-u)));
    const real y = GBM_PI * real_sqrt(u);
    return y + real_log1p(real_exp(-2 * y)) - GBM_LN2;
}

/* sqrt(2 pi) x times the density of PG(n, z) at x, times exp(more). */
GBM_FN_BIG real gbm_pg_density_large(real n, real z, real x, real more)
{
    const real c2 = gbm_square(z / (2 * GBM_PI)), y = 2 * GBM_PI * GBM_PI * x;
    const struct gbm_pg_saddle to = gbm_pg_saddle_of(y / n);
    const real log_e = n * (gbm_pg_log_cosh(c2) - gbm_pg_log_cosh(to.u)) +
                       (to.u - c2) * y + more;
    return y / real_sqrt(n * to.k[2]) * real_exp(log_e) *
           (1 + gbm_pg_saddle_terms(&to, n));
}

/* The same by the series. */
GBM_FN_BIG real gbm_pg_density_small(real n, real z, real x, real more)
{
    const real left = n - 2 * z * x;
    return n / (2 * real_sqrt(x)) * gbm_pg_series(n, x) *
           real_exp(n * real_log1p(real_exp(-z)) - left * left / (8 * x) +
                    more);
}

/* ---- the bent normal ---- */

#define GBM_BEGINS_gbm_draw_polya_gamma ~, 1

struct gbm_pg_bent {
    real n, z, scale; /* n w */
    real ends, grows; /* beyond +-ends s goes on from its slope there, which
                         grows: the tails are heavy enough */
    real s[4];        /* the polynomial */
    real most;        /* log of the largest ratio, */
    real sure;        /* the least one within the ends over the largest */
};

GBM_FN struct gbm_pg_bent gbm_pg_bent_few(real n, real z)
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
        REAL_C(2.2),
        REAL_C(0.02),
        {c[0] + (c[1] + c[2] * by) * by,
         (c[3] + (c[4] + (c[5] + c[6] * by) * by) * by) * half,
         (c[7] + (c[8] + c[9] * by) * by) * by,
         (c[10] + c[11] * by) * by * half},
        REAL_C(0.0245),
        REAL_C(0.97) - (REAL_C(0.0255) + REAL_C(0.006) * by) * by};
    return b;
}

/* n > 13: columns are s[0] times 1, 1/n; s[1] n^(1/2), s[2] n times these; s[3]
 * n^(3/2). */
GBM_FN struct gbm_pg_bent gbm_pg_bent_many(real n, real z)
{
    const real rows[8][8] = {
        {REAL_C(-0.001882275), REAL_C(0.004521536), REAL_C(0.047110046),
         REAL_C(0.001723379), REAL_C(-0.002428514), REAL_C(0.003663160),
         REAL_C(0.002038069), 0},
        {REAL_C(0.033203817), REAL_C(-0.254282119), REAL_C(1.021422789),
         REAL_C(-0.064833546), REAL_C(0.056952914), REAL_C(-0.096186850),
         REAL_C(-0.034198564), 0},
        {REAL_C(0.038565287), REAL_C(0.787153436), REAL_C(-2.923309910),
         REAL_C(0.651625090), REAL_C(-0.525545469), REAL_C(0.981529171),
         REAL_C(0.205939809), 0},
        {REAL_C(0.549673269), REAL_C(-3.300144522), REAL_C(7.874668762),
         REAL_C(-3.814029104), REAL_C(2.435630752), REAL_C(-4.852683093),
         REAL_C(-0.519791679), 0},
        {REAL_C(-0.162360056), REAL_C(6.813492100), REAL_C(-12.910233305),
         REAL_C(10.373044708), REAL_C(-5.799184047), REAL_C(12.648446270),
         REAL_C(0.418828692), 0},
        {REAL_C(-0.901697710), REAL_C(-7.252861332), REAL_C(12.106678454),
         REAL_C(-13.770180382), REAL_C(7.101991399), REAL_C(-16.989847919),
         REAL_C(0.252750123), 0},
        {REAL_C(0.977277510), REAL_C(3.926763424), REAL_C(-6.059815541),
         REAL_C(8.893182870), REAL_C(-4.333277931), REAL_C(11.208111052),
         REAL_C(-0.524463392), 0},
        {REAL_C(-0.305070056), REAL_C(-0.862087562), REAL_C(1.262318668),
         REAL_C(-2.252854121), REAL_C(1.050741128), REAL_C(-2.893088279),
         REAL_C(0.200576502), 0},
    };
    const real root = 1 / real_sqrt(GBM_PI * GBM_PI + z * z), by = 1 / n,
               half = real_sqrt(by), t = GBM_PI * root;
    real c[8];
    GBM_SIMD
    for (int i = 0; i < 8; i++) {
        real sum = rows[7][i];
        for (int k = 6; k >= 0; k--)
            sum = sum * t + rows[k][i];
        c[i] = sum;
    }
    const struct gbm_pg_bent b = {n,
                                  z,
                                  n * root / 2,
                                  3,
                                  REAL_C(0.01),
                                  {c[0] + c[1] * by, (c[2] + c[3] * by) * half,
                                   (c[4] + c[5] * by) * by, c[6] * by * half},
                                  REAL_C(0.0036),
                                  REAL_C(0.9898)};
    return b;
}

GBM_FN struct gbm_pg_bent gbm_pg_bent_of(real n, real z)
{
    return n <= GBM_PG_BENT_FEW ? gbm_pg_bent_few(n, z)
                                : gbm_pg_bent_many(n, z);
}

/* s and its slope. */
GBM_FN real gbm_pg_bend(const struct gbm_pg_bent *b, real normal, real *slope)
{
    const real at = gbm_clamp(normal, -b->ends, b->ends),
               s = b->s[0] + at * (b->s[1] + at * (b->s[2] + at * b->s[3])),
               rise = b->s[1] + at * (2 * b->s[2] + at * (3 * b->s[3])),
               beyond = normal - at, more = b->grows * real_fabs(beyond);
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
               x = b->scale * gbm_pg_bent_place(s), more = normal * normal / 2,
               density = b->n <= GBM_PG_SERIES_MOST
                             ? gbm_pg_density_small(b->n, b->z, x, more)
                             : gbm_pg_density_large(b->n, b->z, x, more);
    return 2 * density * slope / real_sqrt(1 + s * s);
}

GBM_FN bool gbm_pg_can_bend(real n, real z)
{
    return n >= GBM_PG_BENT_LEAST && n <= GBM_PG_BENT_MOST &&
           z <= GBM_PG_BENT_FAR &&
           (n <= GBM_PG_SERIES_MOST || n > GBM_PG_BENT_FEW);
}

GBM_FN_BIG real gbm_pg_bent(struct gbm_rng *rng, real n, real z)
{
    const struct gbm_pg_bent b = gbm_pg_bent_of(n, z);
    for (;;) {
        const real normal = gbm_draw_normal(rng), u = gbm_uniform(rng);
        const bool near = real_fabs(normal) < b.ends;
        if ((near && u < b.sure) ||
            u * real_exp(b.most) < gbm_pg_bent_ratio(&b, normal)) {
            real slope;
            return b.scale * gbm_pg_bent_place(gbm_pg_bend(&b, normal, &slope));
        }
    }
}

#endif
