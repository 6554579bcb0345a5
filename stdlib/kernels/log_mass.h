/* log_mass.h: the log of the probability of an interval, for densities between
 * bounds. In the middle it is that of a difference of distribution functions;
 * far out these underflow, so their logs are subtracted, in the tail where the
 * interval lies; and where it is so narrow that the difference cancels, the
 * density is integrated over it. */
#ifndef GBM_LOG_MASS_H
#define GBM_LOG_MASS_H

#include "elementary.h"
#include "incomplete_beta.h"
#include "incomplete_gamma.h"
#include "normal_function.h"

/* Intervals that add less than this share to a tail are narrow. The densities
 * below are log-concave on the scale on which they are integrated, so they
 * change by less than about this share over such an interval. */
#define GBM_NARROW REAL_C(1e-3)

/* log(exp(a) - exp(b)), a > b. */
GBM_FN real gbm_log_subtract(real a, real b)
{
    return b > -GBM_INF ? a + gbm_log1mexp(a - b) : a;
}

/* The log of the mass between a and b, from the logs of the distribution
 * function and of its complement there. */
GBM_FN_BIG real gbm_log_between(real below_a, real above_a, real below_b,
                                real above_b)
{
    return below_b < above_a ? gbm_log_subtract(below_b, below_a)
                             : gbm_log_subtract(above_a, above_b);
}

/* log of a tail's probability at a point of an interval: with `far` at its end
 * further out and `near` at the other, and a share u of its mass further in. */
GBM_FN real gbm_log_share(real near, real far, real u)
{
    return near + real_log1p(u * real_expm1(far - near));
}

/* Gauss's quadrature on [0, 1] with three points. */
GBM_FN real gbm_gauss_point(int i)
{
    return REAL_C(0.5) + REAL_C(0.38729833462074168852) * (real)(i - 1);
}

GBM_FN real gbm_gauss_weight(int i)
{
    return i == 1 ? REAL_C(0.44444444444444444444)
                  : REAL_C(0.27777777777777777778);
}

/* ---- gamma ---- */

/* log P(a, x), or log Q(a, x) if `upper`, however small. */
GBM_FN_BIG real gbm_log_incomplete_gamma(real a, real x, bool upper)
{
    const bool tail = x >= a; /* mostly the smaller part */
    if (tail != upper) {
        const real other = gbm_incomplete_gamma(a, x, tail);
        if (other < REAL_C(0.5))
            return real_log1p(-other);
    }
    const real value = gbm_incomplete_gamma(a, x, upper);
    if (value > REAL_C(0.5))
        return real_log1p(-gbm_incomplete_gamma(a, x, !upper));
    if (!(value <= GBM_TINY) || a == 0 || x <= 0 || x == GBM_INF)
        return real_log(value);
    if (a >= 200 && real_fabs(x - a) < REAL_C(0.4) * a) { /* Temme's, in logs */
        const real half = gbm_deviance(a, x), z = real_sqrt(2 * half);
        const real eta = (x < a ? -z : z) / real_sqrt(a);
        const real rest = gbm_temme_sum(a, eta) / real_sqrt(a);
        return real_log(gbm_mills_tail(z) + (upper ? rest : -rest)) - half -
               GBM_LOG_SQRT_2PI;
    }
    return real_log(upper ? gbm_gamma_fraction(a, x) : gbm_gamma_series(a, x)) +
           gbm_log_poisson_term(a, x);
}

GBM_FN real gbm_log_gamma_p(real a, real x)
{
    return gbm_log_incomplete_gamma(a, x, false);
}

GBM_FN real gbm_log_gamma_q(real a, real x)
{
    return gbm_log_incomplete_gamma(a, x, true);
}

/* log of the derivative of P(a, x) by log x. */
GBM_FN real gbm_log_gamma_slope(real a, real x)
{
    return real_log(a) + gbm_log_poisson_term(a, x);
}

GBM_FN_BIG real gbm_log_gamma_narrow(real a, real low, real width)
{
    const real middle = gbm_log_gamma_slope(a, low * real_exp(width / 2));
    real sum = 0;
    for (int i = 0; i < 3; i++) {
        const real x = low * real_exp(width * gbm_gauss_point(i));
        sum +=
            gbm_gauss_weight(i) * real_exp(gbm_log_gamma_slope(a, x) - middle);
    }
    return middle + real_log(width * sum);
}

/* The log of the probability that a gamma variable of shape a and unit rate
 * lies between low and high. */
GBM_FN_BIG real gbm_log_gamma_between(real a, real low, real high)
{
    if (!(low < high) || !(a > 0))
        return low >= high ? -GBM_INF : GBM_NAN;
    if (low <= 0 || high == GBM_INF)
        return gbm_log_incomplete_gamma(a, low > 0 ? low : high, low > 0);
    if (low < a && high > a) {
        const real beyond = gbm_gamma_p(a, low) + gbm_gamma_q(a, high);
        if (!(1 - beyond < GBM_NARROW))
            return real_log1p(-beyond);
    } else {
        const bool upper = low >= a;
        const real at_low = gbm_log_incomplete_gamma(a, low, upper);
        const real at_high = gbm_log_incomplete_gamma(a, high, upper);
        if (!(real_fabs(at_high - at_low) < GBM_NARROW))
            return upper ? gbm_log_subtract(at_low, at_high)
                         : gbm_log_subtract(at_high, at_low);
    }
    return gbm_log_gamma_narrow(a, low, real_log1p((high - low) / low));
}

/* ---- beta ---- */

/* log I_x(a, b), or log I_y(b, a) if `upper`, y = 1 - x, however small. */
GBM_FN_BIG real gbm_log_incomplete_beta(real a, real b, real x, real y,
                                        bool upper)
{
    const real value = gbm_incomplete_beta(a, b, x, y, upper);
    if (value > REAL_C(0.5))
        return real_log1p(-gbm_incomplete_beta(a, b, x, y, !upper));
    if (!(value <= GBM_TINY) || a == 0 || b == 0 || x <= 0 || y <= 0)
        return real_log(value);
    return upper ? gbm_log_beta_tail(b, a, y, x)
                 : gbm_log_beta_tail(a, b, x, y);
}

GBM_FN real gbm_log_beta_i(real a, real b, real x)
{
    return gbm_log_incomplete_beta(a, b, x, 1 - x, false);
}

/* A place of a beta variable, x, and 1 - x. */
struct gbm_place {
    real x, y;
};

/* A place whose odds x / y are given. */
GBM_FN struct gbm_place gbm_place_of(real odds)
{
    const struct gbm_place place = {odds < GBM_INF ? odds / (1 + odds) : 1,
                                    1 / (1 + odds)};
    return place;
}

/* Integrates over the logit. */
GBM_FN_BIG real gbm_log_beta_narrow(real a, real b, struct gbm_place low,
                                    real width)
{
    real middle = 0, sum = 0;
    for (int i = 1; i < 4; i++) { /* the one in the middle first */
        const struct gbm_place p = gbm_place_of(
            low.x / low.y * real_exp(width * gbm_gauss_point(i % 3)));
        const real slope = gbm_log_beta_term(a, b, p.x, p.y);
        if (i == 1)
            middle = slope;
        sum += gbm_gauss_weight(i % 3) * real_exp(slope - middle);
    }
    return middle + real_log(width * sum);
}

/* The log of the probability that a beta(a, b) variable lies between two
 * places whose logits are `width` apart. */
GBM_FN_BIG real gbm_log_beta_between(real a, real b, struct gbm_place low,
                                     struct gbm_place high, real width)
{
    if (!(width > 0) || !(a > 0 && b > 0))
        return width <= 0 ? -GBM_INF : GBM_NAN;
    if (low.x <= 0)
        return gbm_log_incomplete_beta(a, b, high.x, high.y, false);
    if (high.y <= 0)
        return gbm_log_incomplete_beta(a, b, low.x, low.y, true);
    const bool right = low.x * (a + b) >= a, left = high.x * (a + b) <= a;
    if (!right && !left) {
        const real beyond = gbm_incomplete_beta(a, b, low.x, low.y, false) +
                            gbm_incomplete_beta(a, b, high.x, high.y, true);
        if (!(1 - beyond < GBM_NARROW))
            return real_log1p(-beyond);
    } else {
        const real at_low = gbm_log_incomplete_beta(a, b, low.x, low.y, right);
        const real at_high =
            gbm_log_incomplete_beta(a, b, high.x, high.y, right);
        if (!(real_fabs(at_high - at_low) < GBM_NARROW))
            return right ? gbm_log_subtract(at_low, at_high)
                         : gbm_log_subtract(at_high, at_low);
    }
    return gbm_log_beta_narrow(a, b, low, width);
}

/* ... that it lies between low and high. */
GBM_FN real gbm_log_beta_mass(real a, real b, real low, real high)
{
    low = real_fmax(low, 0);
    high = real_fmin(high, 1);
    const struct gbm_place from = {low, 1 - low}, to = {high, 1 - high};
    const real width =
        real_log1p((high - low) / low) + real_log1p((high - low) / (1 - high));
    return gbm_log_beta_between(a, b, from, to, width);
}

/* ... that its odds do. */
GBM_FN real gbm_log_odds_mass(real a, real b, real low, real high)
{
    low = real_fmax(low, 0);
    return gbm_log_beta_between(a, b, gbm_place_of(low), gbm_place_of(high),
                                real_log1p((high - low) / low));
}

/* ---- Student's t ---- */

/* Whether it is normal, as far as digits go. */
GBM_FN bool gbm_t_is_normal(real k, real t)
{
    return k > REAL_C(1e10) && gbm_square(t * t) < REAL_C(1e-9) * k;
}

/* log P(T <= t) with k degrees of freedom. */
GBM_FN_BIG real gbm_log_t_p(real k, real t)
{
    if (!(k > 0) || t != t)
        return GBM_NAN;
    if (gbm_t_is_normal(k, t))
        return gbm_log_phi(t);
    const struct gbm_place p = gbm_place_of(t / k * t);
    const real log_tail =
        gbm_log_incomplete_beta(REAL_C(0.5), k / 2, p.x, p.y, true) - GBM_LN2;
    return t < 0 ? log_tail : real_log1p(-real_exp(log_tail));
}

/* log P(a < T <= b). */
GBM_FN_BIG real gbm_log_t_between(real k, real a, real b)
{
    const real half = REAL_C(0.5);
    if (!(a < b) || !(k > 0))
        return a >= b ? -GBM_INF : GBM_NAN;
    if (gbm_t_is_normal(k, real_fmax(real_fabs(a), real_fabs(b))))
        return gbm_log_phi_between(a, b);
    const real low = a / k * a, high = b / k * b;
    if (a < 0 && b > 0)
        return gbm_log_add(gbm_log_odds_mass(half, k / 2, 0, low),
                           gbm_log_odds_mass(half, k / 2, 0, high)) -
               GBM_LN2;
    const real near = real_fmin(real_fabs(a), real_fabs(b));
    return gbm_log_beta_between(half, k / 2, gbm_place_of(real_fmin(low, high)),
                                gbm_place_of(real_fmax(low, high)),
                                2 * real_log1p((b - a) / near)) -
           GBM_LN2;
}

/* ---- Laplace ---- */

/* log P(a < X <= b) of the density exp(-|x|) / 2. */
GBM_FN real gbm_log_laplace_between(real a, real b)
{
    if (!(a < b))
        return a >= b ? -GBM_INF : GBM_NAN;
    if (a < 0 && b > 0)
        return real_log(-(real_expm1(a) + real_expm1(-b)) / 2);
    return gbm_log1mexp(b - a) - (a < 0 ? -b : a) - GBM_LN2;
}

#endif
