/* slice.h: univariate updates from a log density known up to a constant.
 *
 * Slice sampling with stepping out and shrinkage: Neal, "Slice sampling"
 * (Annals of Statistics 31, 2003), figures 3 and 5. The density is evaluated at
 * one place of the code, whatever the phase, so that the threads of a warp that
 * are in different phases evaluate together, and so that a large density is
 * inlined once.
 *
 * A point whose log density is NaN or infinite, +inf too, is never chosen: no
 * height lies above it, and what a chain cannot leave would absorb it. Nor does
 * an update stay at such a point, where other nodes' updates may have left it:
 * every point whose density is a number is then above the height. */
#ifndef GBM_SLICE_H
#define GBM_SLICE_H

#include "exponential.h"

/* Steps out, both sides together. The limit is split at random (Neal, figure
 * 3), without which the update would not leave the density invariant. */
#define GBM_SLICE_STEPS 32
/* Halvings on the way to x0: more than the bits of a number. */
#define GBM_SLICE_SHRINKS 200

/* The width follows the mean distance of moves: an exponential average, where
 * Landau and Niemi (2016, appendix A) and JAGS take the mean weighted by the
 * iteration's number. It forgets a bad start as fast and needs one cell. Four
 * distances are where a normal density takes the fewest evaluations (5.7); half
 * and twice that cost 0.2 more. */
GBM_FN void gbm_slice_tune(real *width, real distance)
{
    real w = REAL_C(0.9) * *width + REAL_C(0.1) * 4 * distance;
    if (w > GBM_TINY && w < GBM_HUGE / (4 * GBM_SLICE_STEPS))
        *width = w;
}

/* One update in GBM_SLICE_EVERY begins with an interval that is GBM_SLICE_WIDE
 * times as wide, or the square of that, by turns: the tuned width is that of
 * one mode, and stepping out ends in the first gap, so that a second mode, of
 * the other sign say, would never be met. Sweeps are counted, not states looked
 * at: each update leaves the density invariant, and so do they by turns. */
#define GBM_SLICE_EVERY 16
#define GBM_SLICE_WIDE 10

GBM_FN real gbm_slice_widening(uint32_t sweep)
{
    if (sweep % GBM_SLICE_EVERY != GBM_SLICE_EVERY - 1)
        return 1;
    return sweep / GBM_SLICE_EVERY % 2 ? GBM_SLICE_WIDE * GBM_SLICE_WIDE
                                       : GBM_SLICE_WIDE;
}

enum gbm_slice_phase {
    GBM_SLICE_START, /* the height at x0 */
    GBM_SLICE_LEFT,  /* step out to the left */
    GBM_SLICE_RIGHT,
    GBM_SLICE_SHRINK
};

GBM_INLINE real gbm_slice_any(struct gbm_rng *rng, real x0, real *width,
                              real wide, int adapting, real lower, real upper,
                              bool integer,
                              real (*density)(const void *context, real x),
                              const void *context)
{
    enum gbm_slice_phase phase = GBM_SLICE_START;
    real w = wide * (*width > 0 && *width < GBM_HUGE ? *width : 1);
    real left = x0 - w * gbm_uniform(rng), right = left + w;
    int steps_left = (int)(gbm_uniform(rng) * (GBM_SLICE_STEPS + 1));
    int steps_right = GBM_SLICE_STEPS - steps_left;
    int shrinks = GBM_SLICE_SHRINKS;
    real height = 0, x = x0;

    for (;;) {
        real value = density(context, integer ? real_floor(x) : x);
        bool possible = gbm_is_finite(value),
             inside = possible && value > height;
        if (phase == GBM_SLICE_START) {
            height = -GBM_INF;
            if (possible)
                height = value - gbm_draw_exponential(rng);
            phase = GBM_SLICE_LEFT;
        } else if (phase == GBM_SLICE_LEFT) {
            if (inside) {
                left -= w;
                steps_left--;
            } else {
                phase = GBM_SLICE_RIGHT;
            }
        } else if (phase == GBM_SLICE_RIGHT) {
            if (inside) {
                right += w;
                steps_right--;
            } else {
                phase = GBM_SLICE_SHRINK;
            }
        } else {
            if (inside)
                break;
            if (x < x0)
                left = x;
            else
                right = x;
            if (--shrinks == 0) {
                x = x0;
                break;
            }
        }

        /* The next point to evaluate. Beyond the bounds the density is 0:
         * stepping out ends there, and the interval may be cut. */
        if (phase == GBM_SLICE_LEFT) {
            if (steps_left > 0 && left > lower) {
                x = left;
                continue;
            }
            phase = GBM_SLICE_RIGHT;
        }
        if (phase == GBM_SLICE_RIGHT) {
            if (steps_right > 0 && right < upper) {
                x = right;
                continue;
            }
            phase = GBM_SLICE_SHRINK;
        }
        left = real_fmax(left, lower);
        right = real_fmin(right, upper);
        x = left + gbm_uniform(rng) * (right - left);
    }
    if (adapting && height > -GBM_INF && wide == 1)
        gbm_slice_tune(width, real_fabs(x - x0));
    return x;
}

/* One update of x0. *width is the scale of the interval, positive; tuned if
 * `adapting`. Bounds may be infinite; the density is never evaluated outside
 * them. */
GBM_INLINE real gbm_slice(struct gbm_rng *rng, real x0, real *width,
                          int adapting, real lower, real upper,
                          real (*density)(const void *context, real x),
                          const void *context)
{
    return gbm_slice_any(rng, x0, width, gbm_slice_widening(rng->sweep),
                         adapting, lower, upper, false, density, context);
}

/* The same without intervals that are wide now and then: of a logarithm, whose
 * far ends are numbers that no formula is made for. */
GBM_INLINE real gbm_slice_near(struct gbm_rng *rng, real x0, real *width,
                               int adapting, real lower, real upper,
                               real (*density)(const void *context, real x),
                               const void *context)
{
    return gbm_slice_any(rng, x0, width, 1, adapting, lower, upper, false,
                         density, context);
}

/* A move along a line from its place 0, with an interval whose width neither
 * changes nor is tuned. */
GBM_INLINE real gbm_slice_along(struct gbm_rng *rng, real width, real lower,
                                real upper,
                                real (*density)(const void *context, real x),
                                const void *context)
{
    return gbm_slice_any(rng, 0, &width, 1, 0, lower, upper, false, density,
                         context);
}

/* Whether a density whose interval ends at infinity on that side has its mass
 * there, and none elsewhere. */
GBM_INLINE bool gbm_runs_off(real end, real value,
                             real (*density)(const void *context, real x),
                             const void *context)
{
    if (real_fabs(end) < GBM_INF)
        return false;
    return density(context, end > 0 ? REAL_C(1e30) : -REAL_C(1e30)) > value;
}

/* One update of x0 between bounds that begins with all of the interval, where
 * that is finite: nothing is tuned. NaN if upper < lower, or where the density
 * is no number or has no finite integral. */
GBM_INLINE real gbm_slice_between(struct gbm_rng *rng, real x0, real lower,
                                  real upper,
                                  real (*density)(const void *context, real x),
                                  const void *context)
{
    const bool finite = upper - lower < GBM_INF;
    real width = finite ? upper - lower : 1;
    if (!(lower < upper))
        return lower == upper ? lower : GBM_NAN;
    if (!(x0 >= lower && x0 <= upper)) /* another update has moved a bound */
        x0 = finite             ? lower + width / 2
             : lower > -GBM_INF ? lower + 1
             : upper < GBM_INF  ? upper - 1
                                : 0;
#ifndef __CUDACC__
    if (rng->between && !rng->between->taken) /* what asks is thrown away */
        return x0;
#endif
    const real value = density(context, x0);
    if (gbm_is_nan(value) || gbm_runs_off(lower, value, density, context) ||
        gbm_runs_off(upper, value, density, context))
        return GBM_NAN;
    return gbm_slice(rng, x0, &width, 0, lower, upper, density, context);
}

/* The same for an integer: a slice update of x0 + U, whose density on [k, k +
 * 1) is that of k. The bounds belong to the range. */
GBM_INLINE real gbm_slice_integer(struct gbm_rng *rng, real x0, real *width,
                                  int adapting, real lower, real upper,
                                  real (*density)(const void *context, real x),
                                  const void *context)
{
    real x = x0 + gbm_uniform(rng);
    if (real_floor(x) > x0) /* x0 so large that x0 + U rounds up */
        x = x0;
    x = gbm_slice_any(rng, x, width, gbm_slice_widening(rng->sweep), adapting,
                      lower, upper + 1, true, density, context);
    return gbm_clamp(real_floor(x), lower, upper);
}

/* A draw from values that are tried one after the other, with their log
 * densities up to a constant. Within a group, so many that follow each other,
 * each replaces the one kept with its share of the group's weight so far; then
 * the group's one replaces that of the groups before, with the group's share.
 * So whoever knows the weight of a group needs to go through its values only if
 * it is the last that was taken. The first value that is possible needs no
 * uniform; that of a group's first one decides on the group. */
enum { GBM_TRIALS_TOGETHER = 32 };
struct gbm_trials {
    real largest, total; /* of the groups before */
    int kept, tried;
    struct {
        real largest, total, number;
        int kept;
    } group;
};

GBM_FN void gbm_trials_begin(struct gbm_trials *t, int lo)
{
    t->largest = t->total = 0;
    t->group.largest = t->group.total = t->group.number = 0;
    t->kept = t->group.kept = lo;
    t->tried = 0;
}

/* The group so far is one of those before. */
GBM_FN void gbm_trials_close(struct gbm_trials *t)
{
    if (t->group.total == 0)
        return;
    const bool larger = t->total == 0 || t->group.largest > t->largest;
    const real share =
        t->total == 0 ? 0 : real_exp(-real_fabs(t->group.largest - t->largest));
    const real mine = larger ? t->group.total : t->group.total * share;
    const real total = (larger ? t->total * share : t->total) + mine;
    const bool takes = t->total == 0 || t->group.number * total < mine;
    t->kept = takes ? t->group.kept : t->kept;
    t->largest = larger ? t->group.largest : t->largest;
    t->total = total;
    t->group.total = 0;
}

GBM_FN void gbm_trials_add(struct gbm_trials *t, struct gbm_rng *rng, int k,
                           real value)
{
    if (t->tried++ % GBM_TRIALS_TOGETHER == 0)
        gbm_trials_close(t);
    if (!gbm_is_finite(value))
        return;
    if (t->group.total == 0) {
        t->group.largest = value;
        t->group.total = 1;
        t->group.kept = k;
        t->group.number = t->total == 0 ? 0 : gbm_uniform(rng);
        return;
    }
    /* choices, not branches: nobody can foresee them */
    const real share = real_exp(-real_fabs(value - t->group.largest));
    const bool larger = value > t->group.largest;
    const real weight = larger ? 1 : share;
    t->group.total =
        larger ? t->group.total * share + 1 : t->group.total + share;
    t->group.largest = larger ? value : t->group.largest;
    t->group.kept =
        gbm_uniform(rng) * t->group.total < weight ? k : t->group.kept;
}

/* If all weights are 0, as other nodes may make them before a start is found,
 * any value of [lo, hi]: else two nodes that wait for each other wait for ever.
 */
GBM_FN real gbm_trials_end(struct gbm_trials *t, struct gbm_rng *rng, int lo,
                           int hi)
{
    gbm_trials_close(t);
    if (t->total > 0)
        return (real)t->kept;
    real any = (real)lo + real_floor(gbm_uniform(rng) * ((real)(hi - lo) + 1));
    return gbm_clamp(any, (real)lo, (real)hi);
}

/* Draws an integer of [lo, hi] from its log density up to a constant, which is
 * evaluated once per value. */
GBM_INLINE real gbm_enumerate_draw(struct gbm_rng *rng, int lo, int hi,
                                   real (*density)(const void *context, real x),
                                   const void *context)
{
    struct gbm_trials trials;
    gbm_trials_begin(&trials, lo);
    for (int k = lo; k <= hi; k++)
        gbm_trials_add(&trials, rng, k, density(context, (real)k));
    return gbm_trials_end(&trials, rng, lo, hi);
}

/* The log of the sum of the weights. */
GBM_INLINE real gbm_enumerate_sum(int lo, int hi,
                                  real (*density)(const void *context, real x),
                                  const void *context)
{
    real largest = -GBM_INF, total = 0;
    for (int k = lo; k <= hi; k++) {
        const real value = density(context, (real)k);
        if (!gbm_is_finite(value))
            continue;
        const real more = real_fmax(value, largest);
        total = (total > 0 ? total * real_exp(largest - more) : 0) +
                real_exp(value - more);
        largest = more;
    }
    return total > 0 ? largest + real_log(total) : -GBM_INF;
}

/* The draw of a count whose range may be large, as that of a part of a count
 * that has run away: of more than GBM_SEARCHED values those that lie closer and
 * closer to either end are tried, and some at random. It is not the full
 * conditional, and is for leaving a value that is impossible, which a chain
 * does once. */
#define GBM_SEARCHED 4096
GBM_INLINE real gbm_search_draw(struct gbm_rng *rng, real lo, real hi,
                                real (*density)(const void *context, real x),
                                const void *context)
{
    const real span = hi - lo;
    const bool all = span < GBM_SEARCHED;
    const int ends = 64, tried = all ? (int)span + 1 : 3 * ends;
    real best = lo, most = -GBM_INF, place = 1;
    for (int k = 0; k < tried; k++) {
        real x = lo + (real)k;
        if (!all) {
            if (k % ends == 0)
                place = 1;
            const real step = real_floor(real_fmin(place, span)) - 1;
            x = k < ends       ? lo + step
                : k < 2 * ends ? hi - step
                               : lo + real_floor(gbm_uniform(rng) * span);
            place *= REAL_C(1.4);
        }
        /* the largest of values with Gumbel noise has their distribution */
        const real value =
            density(context, x) - real_log(gbm_draw_exponential(rng));
        if (value > most && value < GBM_INF) {
            most = value;
            best = x;
        }
    }
    if (!(most > -GBM_INF))
        best =
            gbm_clamp(lo + real_floor(gbm_uniform(rng) * (span + 1)), lo, hi);
    return best;
}

#endif
