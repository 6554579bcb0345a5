/* lbfgs.c: ascent by limited-memory BFGS with a line search for the strong
 * Wolfe conditions: Nocedal and Wright, Numerical Optimization (2006),
 * algorithms 7.4, 7.5, 3.5 and 3.6. Where the value gained drowns in rounding,
 * the slopes alone decide (Hager and Zhang 2005, the approximate Wolfe
 * conditions). */
#include "gradient/gradient.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 10, TRIALS = 60 };
#define ENOUGH 1e-4     /* of the slope's promise in the value */
#define FLAT 0.9        /* of the slope that may be left */
#define DECREMENT 1e-13 /* converged: (distance in standard deviations)^2 */
#define FARTHEST 1e8    /* coordinates beyond are on their way to infinity */
#define TALLEST 1e300

/* A point along the direction: step, value, slope along it. */
struct point {
    double step, value, slope;
};

struct climb {
    struct rt_lbfgs *k;
    int64_t n;
    double *u, *g;         /* where we are, the gradient there */
    double *next, *next_g; /* the point tried last */
    double *p;             /* direction */
    double *s, *y;         /* [PAIRS][n] steps and what they changed in g */
    double rho[PAIRS];
    int npairs, last;
    double value;
    double noise; /* about the rounding of a value */
};

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static struct point try_step(struct climb *c, double step)
{
    for (int64_t i = 0; i < c->n; i++)
        c->next[i] = c->u[i] + step * c->p[i];
    struct point at = {.step = step};
    at.value = c->k->objective(c->k->context, c->next, c->next_g);
    if (!isfinite(at.value)) {
        at.slope = 0;
        return at;
    }
    at.slope = dot(c->n, c->next_g, c->p);
    if (!isfinite(at.slope)) {
        at.value = -INFINITY;
        at.slope = 0;
    }
    return at;
}

/* p = H g, H the approximate inverse of minus the Hessian. */
static void set_direction(struct climb *c)
{
    double alpha[PAIRS];
    memcpy(c->p, c->g, (size_t)c->n * sizeof *c->p);
    for (int i = 0; i < c->npairs; i++) {
        const int at = (c->last - i + PAIRS) % PAIRS;
        alpha[at] = c->rho[at] * dot(c->n, c->s + at * c->n, c->p);
        for (int64_t j = 0; j < c->n; j++)
            c->p[j] -= alpha[at] * c->y[at * c->n + j];
    }
    if (c->npairs > 0) {
        const double *y = c->y + c->last * c->n;
        const double scale = 1 / (c->rho[c->last] * dot(c->n, y, y));
        for (int64_t j = 0; j < c->n; j++)
            c->p[j] *= scale;
    }
    for (int i = c->npairs - 1; i >= 0; i--) {
        const int at = (c->last - i + PAIRS) % PAIRS;
        const double beta = c->rho[at] * dot(c->n, c->y + at * c->n, c->p);
        for (int64_t j = 0; j < c->n; j++)
            c->p[j] += (alpha[at] - beta) * c->s[at * c->n + j];
    }
}

/* y: what the step takes from the gradient. */
static void keep_pair(struct climb *c)
{
    const int at = c->npairs == 0 ? 0 : (c->last + 1) % PAIRS;
    double *s = c->s + at * c->n, *y = c->y + at * c->n;
    for (int64_t i = 0; i < c->n; i++) {
        s[i] = c->next[i] - c->u[i];
        y[i] = c->g[i] - c->next_g[i];
    }
    const double curvature = dot(c->n, s, y);
    if (!(curvature > DBL_EPSILON * dot(c->n, y, y)))
        return;
    c->rho[at] = 1 / curvature;
    c->last = at;
    c->npairs += c->npairs < PAIRS;
}

/* ---- the line search ---- */

static bool rises_enough(const struct climb *c, struct point from,
                         struct point at)
{
    if (at.value >= from.value + ENOUGH * at.step * from.slope)
        return true;
    return at.value >= from.value - c->noise &&
           at.slope >= (2 * ENOUGH - 1) * from.slope &&
           fabs(at.value - from.value) <= c->noise;
}

static bool is_flat(struct point from, struct point at)
{
    return fabs(at.slope) <= FLAT * from.slope;
}

/* Where a cubic through both has its maximum, safely inside; if one has no
 * value, nearer to the other. */
static double between(struct point a, struct point b)
{
    const double width = b.step - a.step;
    double t = 0.5;
    if (!isfinite(b.value)) {
        t = 0.1;
    } else {
        /* of -value, N&W (3.59) */
        const double d1 =
            -a.slope - b.slope + 3 * (a.value - b.value) / (a.step - b.step);
        const double square = d1 * d1 - a.slope * b.slope;
        if (square >= 0) {
            const double d2 = copysign(sqrt(square), width);
            const double at = b.step - width * (-b.slope + d2 - d1) /
                                           (-b.slope + a.slope + 2 * d2);
            t = (at - a.step) / width;
        }
        if (!(t >= 0.05))
            t = 0.05;
        if (t > 0.95)
            t = 0.95;
    }
    return a.step + t * width;
}

/* Between low, the best so far, and high. False: nothing was found. */
static bool zoom(struct climb *c, struct point from, struct point low,
                 struct point high, struct point *out)
{
    for (int i = 0; i < TRIALS; i++) {
        const struct point at = try_step(c, between(low, high));
        if (at.value == INFINITY) {
            *out = at;
            return true;
        }
        if (!isfinite(at.value) || !rises_enough(c, from, at) ||
            at.value < low.value - c->noise) {
            high = at;
        } else {
            if (is_flat(from, at)) {
                *out = at;
                return true;
            }
            if (at.slope * (high.step - low.step) <= 0)
                high = low;
            low = at;
        }
        if (fabs(high.step - low.step) <= 1e-15 * fabs(high.step))
            break;
    }
    if (low.step > 0) { /* a rise, if not a flat one */
        *out = try_step(c, low.step);
        return true;
    }
    return false;
}

static bool search(struct climb *c, double first, struct point *out)
{
    const struct point from = {0, c->value, dot(c->n, c->g, c->p)};
    struct point before = from;
    double step = first;
    for (int i = 0; i < TRIALS; i++) {
        const struct point at = try_step(c, step);
        if (at.value == INFINITY) {
            *out = at;
            return true;
        }
        if (!isfinite(at.value) || !rises_enough(c, from, at) ||
            (i > 0 && at.value < before.value - c->noise))
            return zoom(c, from, before, at, out);
        if (is_flat(from, at)) {
            *out = at;
            return true;
        }
        if (at.slope <= 0)
            return zoom(c, from, at, before, out);
        before = at;
        step *= 4;
    }
    *out = try_step(c, before.step);
    return before.step > 0;
}

/* ---- iterations ---- */

static bool allocate(struct climb *c)
{
    const size_t n = (size_t)c->n;
    c->u = calloc((2 * PAIRS + 5) * n + 1, sizeof *c->u);
    if (!c->u)
        return false;
    c->g = c->u + n;
    c->next = c->g + n;
    c->next_g = c->next + n;
    c->p = c->next_g + n;
    c->s = c->p + n;
    c->y = c->s + PAIRS * n;
    return true;
}

static bool is_far(struct climb *c, const double *u)
{
    int64_t far = 0;
    if (c->k->outside && c->k->outside(c->k->context, u, &c->k->far))
        return true;
    for (int64_t i = 1; i < c->n; i++)
        if (!(fabs(u[i]) <= fabs(u[far])))
            far = i;
    c->k->far = far;
    return !(fabs(u[far]) <= FARTHEST);
}

/* One iteration; false if the climb ends, as *end says. */
static bool iterate(struct climb *c, enum rt_ascent *end)
{
    struct rt_lbfgs *k = c->k;
    struct point at;
    set_direction(c);
    k->decrement = dot(c->n, c->g, c->p);
    if (!(k->decrement > 0) && c->npairs > 0) {
        c->npairs = 0;
        set_direction(c);
        k->decrement = dot(c->n, c->g, c->p);
    }
    *end = RT_ASCENT_CONVERGED;
    if (k->decrement <= DECREMENT * (c->npairs > 0 ? 1 : 1e-6))
        return false;
    c->noise = 20 * DBL_EPSILON * (fabs(c->value) + 1);
    const double first = c->npairs > 0 ? 1 : 1 / sqrt(k->decrement);
    if (!search(c, first < 1 || c->npairs > 0 ? first : 1, &at)) {
        if (c->npairs > 0) { /* once more, from the steepest ascent */
            c->npairs = 0;
            return true;
        }
        *end = k->decrement <= 1e-6 * (1 + fabs(c->value)) ? RT_ASCENT_CONVERGED
                                                           : RT_ASCENT_STUCK;
        return false;
    }
    *end = RT_ASCENT_UNBOUNDED;
    if (at.value > TALLEST || is_far(c, c->next)) {
        is_far(c, c->next);
        return false;
    }
    keep_pair(c);
    memcpy(c->u, c->next, (size_t)c->n * sizeof *c->u);
    memcpy(c->g, c->next_g, (size_t)c->n * sizeof *c->g);
    c->value = at.value;
    return true;
}

enum rt_ascent rt_lbfgs(struct rt_lbfgs *k, double *u)
{
    struct climb c = {.k = k, .n = k->n};
    enum rt_ascent end = RT_ASCENT_LIMIT;
    k->iterations = 0;
    if (!allocate(&c))
        abort();
    memcpy(c.u, u, (size_t)k->n * sizeof *u);
    c.value = k->objective(k->context, c.u, c.g);
    if (!isfinite(c.value))
        end = c.value > 0 ? RT_ASCENT_UNBOUNDED : RT_ASCENT_STUCK;
    else
        for (; k->iterations < k->most; k->iterations++) {
            if (k->stopped && k->stopped()) {
                end = RT_ASCENT_STOPPED;
                break;
            }
            if (!iterate(&c, &end))
                break;
            end = RT_ASCENT_LIMIT;
        }
    k->value = c.value;
    memcpy(u, c.u, (size_t)k->n * sizeof *u);
    free(c.u);
    return end;
}
