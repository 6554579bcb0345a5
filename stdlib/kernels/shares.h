/* shares.h: two cells of a simplex trade mass by the logarithm of their ratio,
 * x, so that each may be far smaller than what the other is rounded to: where a
 * parameter of a Dirichlet distribution is small its cell mostly is.
 *
 * Cells end at the smallest number, ratios do not. A ratio beyond `most`, which
 * stands for that end, has the density that goes on there as it came, A exp(b
 * |x|) with b from two values at the end, as all that reads a cell so small is
 * a power of it. Its cell is a mark, smaller than what other ratios give, and
 * the next update draws a ratio in its place: the cell settles nothing else. */
#ifndef GBM_SHARES_H
#define GBM_SHARES_H

#include "slice.h"

/* Below it a mass beyond the end is not finite: that of a structural zero. */
#ifdef GBM_SINGLE
#define GBM_LEAST_POWER REAL_C(1e-3)
#else
#define GBM_LEAST_POWER REAL_C(1e-6)
#endif

/* The largest ratio of two that have this total: cells are exp(2) GBM_TINY. */
GBM_FN real gbm_most_ratio(real total)
{
    return real_log(total) - GBM_LOG_TINY - 2;
}

GBM_FN bool gbm_beyond_shares(real cell) { return cell < 5 * GBM_TINY; }

GBM_FN real gbm_share_ratio(real first, real second)
{
    return real_log(first) - real_log(second);
}

/* What the first one has of the total, which is kept bit by bit. */
GBM_FN real gbm_share_of(real total, real x, real most)
{
    const real less = total / (1 + real_exp(real_fmin(real_fabs(x), most + 1)));
    return x < 0 ? less : total - less;
}

/* The logarithm of how fast that changes with x, up to a constant. */
GBM_FN real gbm_share_speed(real x)
{
    return -real_fabs(x) - 2 * real_log1p(real_exp(-real_fabs(x)));
}

/* The log density so far beyond the end, from those at the end and at a ratio
 * that is 1 nearer to 0. Where it does not fall a structural zero is found. */
GBM_FN real gbm_share_beyond(real end, real nearer, real far)
{
    return end - real_fmax(nearer - end, 0) * far;
}

/* The ratio where an update begins. NaN if a cell has to stay: a structural
 * zero. */
GBM_INLINE real gbm_share_begin(struct gbm_rng *rng, const real cells[2],
                                real most,
                                real (*density)(const void *context, real x),
                                const void *context)
{
    const bool zero = cells[0] == GBM_STRUCTURAL_ZERO ||
                      cells[1] == GBM_STRUCTURAL_ZERO,
               beyond = !zero && (gbm_beyond_shares(cells[0]) ||
                                  gbm_beyond_shares(cells[1]));
    /* A structural zero may have a smaller cell beside it. */
    const bool first =
        zero ? cells[0] == GBM_STRUCTURAL_ZERO : cells[0] < cells[1];
    const real side = first ? -1 : 1;
    real value[2] = {0, 0};
    for (int i = 0; i < (zero || beyond ? 2 : 0); i++)
        value[i] = density(context, side * (most - (real)i));
    const real power = value[1] - value[0];
    if ((zero || beyond) && power <= GBM_LEAST_POWER && gbm_is_finite(power))
        return GBM_NAN;
    if (!beyond)
        return gbm_share_ratio(cells[0], cells[1]);
    return side *
           (most +
            (gbm_is_finite(power) ? gbm_draw_exponential(rng) / power : 0));
}

/* One update of the ratio of two cells, whose log density is that of a ratio.
 * NaN: they stay. */
GBM_INLINE real gbm_slice_shares(struct gbm_rng *rng, const real cells[2],
                                 real most, real *width, int adapting,
                                 real lower, real upper,
                                 real (*density)(const void *context, real x),
                                 const void *context)
{
    const real x = gbm_share_begin(rng, cells, most, density, context);
    if (gbm_is_nan(x))
        return x;
    return gbm_slice(rng, x, width, adapting, lower, upper, density, context);
}

#endif
