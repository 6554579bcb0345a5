/* modified_half_normal.h: draws with density proportional to
 * x^(c-1) exp(b x - a x^2), x > 0, and its integral: Sun, Kong and Pal, "The
 * modified-half-normal distribution: properties and an efficient sampling
 * scheme" (Communications in Statistics, Theory and Methods 52, 2023).
 *
 * With m the mode of x^c exp(b x - a x^2) and A = a m^2, t = log(x / m) has the
 * log density -c (expm1(t) - t) - A expm1(t)^2 up to a constant, as b m =
 * 2 A - c: two parameters, the mode at 0, and no difference of large numbers
 * near it. It is concave but for exp(t) < (2 A - c) / (4 A). Rejection where it
 * is, as of a truncated gamma, from a flat part and two tangents (Devroye,
 * "Non-uniform random variate generation", 1986, VII.2); below, from exp(c t)
 * in pieces of exp(t). */
#ifndef GBM_MODIFIED_HALF_NORMAL_H
#define GBM_MODIFIED_HALF_NORMAL_H

#include "elementary.h"
#include "truncated_gamma.h"

struct gbm_modified_half_normal {
    real c, A, mode;
};

GBM_FN struct gbm_modified_half_normal
gbm_modified_half_normal_of(real c, real b, real a)
{
    const real root = gbm_hypotenuse(b, real_sqrt(8 * a) * real_sqrt(c));
    const real mode = b > 0 ? (b / a + root / a) / 4 : 2 * c / (root - b);
    const real scaled = real_sqrt(a) * mode;
    struct gbm_modified_half_normal f = {c, scaled * scaled, mode};
    return f;
}

/* Log density of t, less that at 0, where exp(t) - 1 = s. */
GBM_FN real gbm_mhn_value(struct gbm_modified_half_normal f, real t, real s)
{
    return -f.c * (s - t) - f.A * s * s;
}

/* The pieces in which exp(t) goes through (0, to): what a piece's hat is of
 * exp(c t) is the density's share of it at its upper end. */
struct gbm_mhn_pieces {
    int n;
    real to, last; /* the last one's end in t */
};

#define GBM_MHN_MOST_PIECES 64

GBM_FN struct gbm_mhn_pieces
gbm_mhn_pieces_of(struct gbm_modified_half_normal f)
{
    struct gbm_mhn_pieces p = {0, 0, -GBM_INF};
    const real b = 2 * f.A - f.c;
    if (!(b > 0))
        return p;
    p.to = b / (4 * f.A);
    p.last = real_log(p.to);
    /* one, if it is next to nothing beside the rest */
    const real share = gbm_mhn_value(f, p.last, p.to - 1) - real_log(f.c) +
                       real_log(f.c + 2 * f.A) / 2;
    const real steps = share < -3 ? 1 : 1 + 3 * p.to * p.to * f.A;
    p.n = steps < GBM_MHN_MOST_PIECES ? (int)steps : GBM_MHN_MOST_PIECES;
    return p;
}

/* The area below the hat of piece i, from 1. */
GBM_FN real gbm_mhn_piece(struct gbm_modified_half_normal f,
                          struct gbm_mhn_pieces p, int i)
{
    const real u = p.to * (real)i / (real)p.n, t = real_log(u);
    const real top = real_exp(gbm_mhn_value(f, t, u - 1));
    if (i == 1)
        return top / f.c;
    const real back = real_log1p(-1 / (real)i);
    return -top * real_expm1(f.c * back) / f.c;
}

/* A draw of t from below the hats of the pieces, at `place` of their areas, or
 * NaN if it is rejected. */
GBM_FN real gbm_mhn_from_pieces(struct gbm_rng *rng,
                                struct gbm_modified_half_normal f,
                                struct gbm_mhn_pieces p, real place)
{
    int i = 1;
    for (real area; i < p.n; i++, place -= area) {
        area = gbm_mhn_piece(f, p, i);
        if (place < area)
            break;
    }
    const real u = p.to * (real)i / (real)p.n, t = real_log(u);
    const real v = gbm_uniform(rng);
    const real back =
        i == 1
            ? real_log(v) / f.c
            : real_log1p(v * real_expm1(f.c * real_log1p(-1 / (real)i))) / f.c;
    const real x = t + back;
    const real hat = gbm_mhn_value(f, t, u - 1) + f.c * back;
    return hat - gbm_draw_exponential(rng) <= gbm_mhn_value(f, x, real_expm1(x))
               ? x
               : GBM_NAN;
}

/* c > 0, and a > 0, or a = 0 and b < 0, which is a gamma; else NaN. */
GBM_FN_BIG real gbm_draw_modified_half_normal(struct gbm_rng *rng, real c,
                                              real b, real a)
{
    if (!(c > 0 && c < GBM_INF && a >= 0 && a < GBM_INF && gbm_is_finite(b)) ||
        (a == 0 && !(b < 0)))
        return GBM_NAN;
    const struct gbm_modified_half_normal f =
        gbm_modified_half_normal_of(c, b, a);
    const real k = f.c + 2 * f.A;
    if (!(k * GBM_EPSILON < 1 / GBM_EPSILON)) /* narrower than rounding */
        return gbm_clamp(f.mode, GBM_TINY, GBM_HUGE);
    if (!(c * GBM_HUGE > 1)) /* 1 / c is the width of log x */
        return GBM_TINY;
    const struct gbm_mhn_pieces p = gbm_mhn_pieces_of(f);
    /* where the log density falls by about 1 */
    const real away = real_sqrt(2 / k);
    const real right = real_fmin(
        away, 1 + real_fmin(real_log1p(1 / f.c), real_log1p(1 / f.A) / 2));
    const real left = -real_fmin(away, -p.last);
    const real above = real_expm1(right), below = real_expm1(left);
    const real fall = above * (f.c + 2 * f.A * (above + 1));
    const real rise = -below * (f.c + 2 * f.A * (below + 1));
    const real from =
        right + real_fmin(0, gbm_mhn_value(f, right, above)) / fall;
    const real to = left - real_fmin(0, gbm_mhn_value(f, left, below)) / rise;
    const real start = real_fmax(real_fmin(to, 0), p.last);
    const real end = real_fmax(from, 0);
    const real tail =
        p.n ? -real_expm1(rise * (p.last - start)) / rise : 1 / rise;
    const real middle = end - start;
    real pieces = 0;
    for (int i = 1; i <= p.n; i++)
        pieces += gbm_mhn_piece(f, p, i);
    for (;;) {
        const real place =
            gbm_uniform(rng) * (pieces + tail + middle + 1 / fall);
        real t, hat = 0;
        if (place < pieces) {
            t = gbm_mhn_from_pieces(rng, f, p, place);
            if (gbm_is_nan(t))
                continue;
            return gbm_clamp(f.mode * real_exp(t), GBM_TINY, GBM_HUGE);
        }
        const real u = gbm_uniform(rng);
        if (place < pieces + tail) {
            const real d = p.n ? real_log1p(u * -(tail * rise)) / rise
                               : real_log(u) / rise;
            t = start + d;
            hat = rise * d;
        } else if (place < pieces + tail + middle) {
            t = start + u * middle;
        } else {
            t = end - real_log(u) / fall;
            hat = real_log(u);
        }
        if (hat - gbm_draw_exponential(rng) <=
            gbm_mhn_value(f, t, real_expm1(t)))
            return gbm_clamp(f.mode * real_exp(t), GBM_TINY, GBM_HUGE);
    }
}

/* Log of the integral of x^(c-1) exp(b x - a x^2) over x > 0: the trapezoidal
 * rule in r, t = r - exp(-r), on which both tails fall faster than any
 * exponential. */
GBM_FN_BIG real gbm_log_modified_half_normal_total(real c, real b, real a)
{
    if (!(c > 0 && a >= 0))
        return GBM_NAN;
    const struct gbm_modified_half_normal f =
        gbm_modified_half_normal_of(c, b, a);
    const real k = f.c + 2 * f.A;
    const real outside = f.c * real_log(f.mode) + f.A - f.c;
    if (!(k * GBM_EPSILON < REAL_C(0.01))) /* a normal's */
        return real_log(2 * GBM_PI / k) / 2 + outside;
    const real middle = REAL_C(0.56714329040978387300); /* t = 0 */
    /* what is left out is next to nothing beside the rest */
    const real least[2] = {real_fmin(0, real_log(f.c) - real_log(k) / 2) - 45,
                           -45};
    const real step = real_fmin(REAL_C(0.1), REAL_C(0.25) / real_sqrt(k));
    real total = 0;
    for (int side = -1; side <= 1; side += 2)
        for (int i = side > 0 ? 0 : 1;; i++) {
            const real r = middle + (real)(side * i) * step;
            const real e = real_exp(-r), t = r - e;
            const real term = gbm_mhn_value(f, t, real_expm1(t));
            if (!(term >= least[side > 0]))
                break;
            total += real_exp(term) * (1 + e);
        }
    return real_log(total * step) + outside;
}

#endif
