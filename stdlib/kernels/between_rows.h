/* between_rows.h: normals between bounds of many elements at once, through the
 * vector unit. Host only. An update is made twice: the first time its draw is
 * asked for, with what it returns thrown away; when those of a block have been
 * made it takes its own. The draws are those of gbm_draw_truncated_normal, from
 * the same random numbers, to rounding. So an update may be made so that draws
 * once, first of all, and reads nothing that another element's changes. */
#ifndef GBM_BETWEEN_ROWS_H
#define GBM_BETWEEN_ROWS_H

#include "normal_function.h"
#include "rng.h"
#include "team.h"

/* Beyond this many standard deviations inversion gives way to rejection. */
#ifdef GBM_SINGLE
#define GBM_FAR_TAIL REAL_C(8)
#else
#define GBM_FAR_TAIL REAL_C(30)
#endif

#ifndef __CUDACC__

/* Elements of a block. With fewer than the least they are updated one by one.
 */
#define GBM_BETWEEN_ROWS 64
#define GBM_BETWEEN_LEAST 4

struct gbm_between {
    bool taken; /* all have been asked for, and those that can be are made */
    real mu[GBM_BETWEEN_ROWS], sd[GBM_BETWEEN_ROWS];
    real lower[GBM_BETWEEN_ROWS], upper[GBM_BETWEEN_ROWS];
    real uniform[GBM_BETWEEN_ROWS];
    real value[GBM_BETWEEN_ROWS]; /* NaN: not by inversion */
};

/* Before element number i asks, or draws by itself. */
GBM_FN void gbm_between_begin(struct gbm_between *k, int i)
{
    k->value[i] = GBM_NAN;
    k->mu[i] = k->lower[i] = 0;
    k->sd[i] = k->upper[i] = 1;
    k->uniform[i] = REAL_C(0.5);
}

/* Whether *value is what the draw returns. */
GBM_FN bool gbm_between_answers(struct gbm_rng *rng, real mu, real sd,
                                real lower, real upper, real *value)
{
    struct gbm_between *k = rng->between;
    const int i = rng->asks;
    if (k->taken) {
        *value = k->value[i];
        return *value == *value;
    }
    k->mu[i] = mu;
    k->sd[i] = sd;
    k->lower[i] = lower;
    k->upper[i] = upper;
    k->uniform[i] = gbm_uniform(rng);
    *value = mu;
    return true;
}

/* P(Z > x) of x[0..n), n a multiple of 8, and 0 where that underflows. */
GBM_INLINE void gbm_tails(int n, const real *x, real *tail)
{
    GBM_SIMD
    for (int i = 0; i < n; i++) {
        const real at = x[i] < 40 ? x[i] : 0;
        const real p = real_erfc(at * GBM_SQRT1_2) / 2;
        tail[i] = x[i] < 40 ? p : 0;
    }
}

/* exp(-25): lower tails below it are for the last polynomial of gbm_probit. */
#define GBM_REMOTE REAL_C(1.3887943864964021e-11)

/* gbm_probit of v[0..n), of lower tails no smaller than that. */
GBM_INLINE void gbm_probits_lower(int n, const real *v, real *x)
{
    GBM_SIMD
    for (int i = 0; i < n; i++) {
        const real q = v[i] - REAL_C(0.5);
        const real tail = q < REAL_C(-0.425) ? v[i] : REAL_C(0.07);
        const real middle = gbm_probit_middle(q);
        const real s = real_sqrt(-real_log(tail));
        const real beyond = -gbm_probit_tail_near(s);
        x[i] = q < REAL_C(-0.425) ? beyond : middle;
    }
}

/* The same of the smaller ones, in their places; few blocks have any. */
GBM_INLINE void gbm_probits_remote(int n, const real *v, real *x)
{
    real remote = 0;
    GBM_SIMD_SUM(remote)
    for (int i = 0; i < n; i++)
        remote += v[i] <= GBM_REMOTE ? 1 : 0;
    if (remote == 0)
        return;
    GBM_SIMD
    for (int i = 0; i < n; i++) {
        const bool far = (v[i] > 0) & (v[i] <= GBM_REMOTE);
        const real s = real_sqrt(-real_log(far ? v[i] : GBM_REMOTE));
        const real beyond = -gbm_probit_tail_far(s);
        x[i] = far ? beyond : x[i];
    }
}

/* The values of those that were asked for: gbm_truncated_normal_inverse in
 * lanes. What is not drawn by inversion is left to the element itself. */
GBM_FN_COMMON void gbm_draw_between_rows(struct gbm_between *k, int n);

#if GBM_OWN_COMMON
GBM_FN_COMMON void gbm_draw_between_rows(struct gbm_between *k, int n)
{
    real near[GBM_BETWEEN_ROWS], size[GBM_BETWEEN_ROWS], p[GBM_BETWEEN_ROWS];
    real far[GBM_BETWEEN_ROWS], r[GBM_BETWEEN_ROWS], scale[GBM_BETWEEN_ROWS];
    real v[GBM_BETWEEN_ROWS], x[GBM_BETWEEN_ROWS], two_sided = 0;
    const int whole = (n + 7) / 8 * 8;
    for (int i = n; i < whole; i++)
        gbm_between_begin(k, i);
    k->taken = true;
    GBM_SIMD_SUM(two_sided)
    for (int i = 0; i < whole; i++) {
        const real a = (k->lower[i] - k->mu[i]) / k->sd[i];
        const real b = (k->upper[i] - k->mu[i]) / k->sd[i];
        const bool flip = -a > b;
        near[i] = flip ? -b : a;
        far[i] = flip ? -a : b;
        scale[i] = flip ? -k->sd[i] : k->sd[i];
        size[i] = real_fabs(near[i]);
        r[i] = 0;
        two_sided += far[i] < 40 ? 1 : 0;
    }
    gbm_tails(whole, size, p);
    if (two_sided > 0)
        gbm_tails(whole, far, r);
    GBM_SIMD
    for (int i = 0; i < whole; i++) {
        const real left = REAL_C(0.5) - p[i], right = REAL_C(0.5) - r[i];
        const real t = k->uniform[i] * (left + right);
        const real across = t < left ? p[i] + t : r[i] + (left + right - t);
        v[i] = near[i] > 0 ? r[i] + k->uniform[i] * (p[i] - r[i]) : across;
        scale[i] = near[i] > 0 || t >= left ? -scale[i] : scale[i];
    }
    gbm_probits_lower(whole, v, x);
    gbm_probits_remote(whole, v, x);
    GBM_SIMD
    for (int i = 0; i < whole; i++) {
        const real peak = real_fmax(near[i], 0);
        const real drawn = k->mu[i] + scale[i] * x[i];
        const real value = gbm_clamp(drawn, k->lower[i], k->upper[i]);
        const bool inverts = (k->lower[i] < k->upper[i]) &
                             ((far[i] - peak) * (far[i] + peak) > 1) &
                             (near[i] <= GBM_FAR_TAIL) & (v[i] > 0);
        k->value[i] = inverts ? value : GBM_NAN;
    }
}
#endif

#endif
#endif
