/* check_compare.c: whether a derived full conditional is that of the model:
 * between two values of its block it must differ by what the joint log density
 * of the whole model differs by. */
#include "check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-8
#define HALVINGS 24       /* to the end of a support */
#define IMPOSSIBLE -746.0 /* the logarithm of less than any number */

/* Difference of the joint and the rounding error that it may have. -inf: it is
 * impossible now; NaN: it was not possible before. */
static double joint_difference(struct checker *c, double *rounding)
{
    double sum = 0, lost = 0;
    bool impossible = false;
    *rounding = 0;
    for (int64_t i = 0; i < c->terms; i++) {
        if (c->after[i] == c->before[i]) /* or both impossible */
            continue;
        double d = c->after[i] - c->before[i];
        if (!isfinite(c->before[i]))
            return NAN;
        if (c->after[i] == (double)INFINITY)
            return (double)INFINITY;
        if (!isfinite(c->after[i])) {
            impossible = true;
            continue;
        }
        *rounding += fabs(c->after[i]) + fabs(c->before[i]);
        double y = d - lost, t = sum + y; /* Kahan */
        lost = (t - sum) - y;
        sum = t;
    }
    *rounding *= 1e-14;
    return impossible ? -(double)INFINITY : sum;
}

/* What the block's move changes in the conditional and in the joint, and the
 * rounding error that both have together. */
struct comparison {
    double conditional, joint, rounding;
};

/* The error over the one that is allowed; over 1 fails. */
static double error_ratio(const struct comparison *move, double *error)
{
    double scale = fmax(1, fmax(fabs(move->joint), fabs(move->conditional)));
    *error = fabs(move->joint - move->conditional) / scale;
    if (!isfinite(move->joint) || !isfinite(move->conditional))
        return *error = (double)INFINITY;
    return *error / (TOLERANCE + move->rounding / scale);
}

static void record(struct checker *c, int k, int64_t element,
                   const struct comparison *move)
{
    struct check_row *row = &c->rows[k];
    double error, ratio = error_ratio(move, &error);
    row->checked++;
    if (row->checked > 1 && ratio <= row->worst)
        return;
    row->worst = ratio;
    row->error = error;
    row->conditional = move->conditional;
    row->joint = move->joint;
    row->element[0] = '\0';
    if (element >= 0)
        rt_element_name(c->in, c->state, c->in->model->steps[k].family, element,
                        row->element, sizeof row->element);
}

struct gbm_sweep check_next_sweep(struct checker *c)
{
    return (struct gbm_sweep){.seed = c->rt->options.seed,
                              .sweep = 1u << 30 | c->sweep++,
                              .adapting = 2};
}

/* Whether some element has no density where the chain is, as where a precision
 * overflows: there is nothing to compare with. */
static bool is_beyond_numbers(const struct checker *c)
{
    for (int64_t i = 0; i < c->terms; i++)
        if (isnan(c->before[i]))
            return true;
    return false;
}

void check_change(struct checker *c, int k, int by, int64_t element,
                  const double *a, const double *b, double conditional,
                  double rounding)
{
    const struct gbm_step *step = &c->in->model->steps[by];
    struct comparison move = {.conditional = conditional};
    double error;
    if (is_beyond_numbers(c))
        return;
    move.joint = joint_difference(c, &move.rounding);
    move.rounding += rounding;
    if (error_ratio(&move, &error) > 1)
        move.rounding += check_rounding_at(c, step, element, a) +
                         check_rounding_at(c, step, element, b);
    if (!isinf(move.rounding))
        record(c, k, -1, &move);
}

/* The block moved from a to where it stands now, b. `before` and
 * `after` hold the densities; the conditional's part of `move` is there. */
static void judge(struct checker *c, int k, int64_t element, const double *a,
                  const double *b, struct comparison *move)
{
    const struct gbm_step *step = &c->in->model->steps[k];
    double rounding, error;
    if (is_beyond_numbers(c))
        return;
    move->joint = joint_difference(c, &rounding);
    move->rounding += rounding;
    /* where neither can be, there is nothing to compare: no sampler takes a
     * density that is infinite or no number */
    if (c->far && isinf(move->joint) && !isfinite(move->conditional))
        return;
    /* nor one that is exp(-1e10) times the last: there a matrix that is
     * singular but for rounding may have a root in one sum and none in the
     * other */
    if (c->far && move->joint < -1e10 &&
        !(move->conditional > -(double)INFINITY))
        return;
    /* nor what is no number, as the root or logarithm of what would be 0 but
     * for rounding, where the joint leaves a probability of 0 */
    if (c->far && move->joint < IMPOSSIBLE && isnan(move->conditional))
        return;
    if (error_ratio(move, &error) > 1 && check_can_set(step))
        move->rounding += check_rounding_at(c, step, element, a) +
                          check_rounding_at(c, step, element, b);
    if (!isinf(move->rounding))
        record(c, k, element, move);
}

/* `values`, if they are not NULL, are those that the chain had at a: between
 * there and b what moves along may have lost digits. */
static void compare(struct checker *c, int k, int64_t element, const double *a,
                    const double *b, void *const *values)
{
    const struct gbm_step *step = &c->in->model->steps[k];
    struct comparison move = {0};
    double at_b, at_a;
    check_refresh(c);
    check_densities(c,
                    c->after); /* before trial values change what is stored */
    if (values) {
        rt_put_back(c->in, values);
        check_refresh(c);
    }
    move.conditional = check_conditional_at(c, step, element, b, &at_b) -
                       check_conditional_at(c, step, element, a, &at_a);
    move.rounding = 1e-14 * (at_a + at_b);
    judge(c, k, element, a, b, &move);
}

/* A block that does not move: its conditional must be a number where it stands,
 * if the joint is one. A slice or a Metropolis step that starts at NaN takes no
 * other value. `before` holds the densities. */
static void check_standing(struct checker *c, int k, int64_t element,
                           const double *a)
{
    double size;
    for (int64_t i = 0; i < c->terms; i++)
        if (!isfinite(c->before[i]))
            return;
    double at_a =
        check_conditional_at(c, &c->in->model->steps[k], element, a, &size);
    struct comparison stands = {.conditional = at_a - at_a};
    if (!isfinite(at_a))
        record(c, k, element, &stands);
}

/* The block at a + t (b - a). */
static void push(const struct checker *c, const struct gbm_step *step,
                 int64_t element, const double *a, const double *b, double t,
                 double *x)
{
    int n = step->block_size ? step->block_size(c->state, element) : 1;
    const bool whole = rt_draws_whole(c->in->model, step->family);
    for (int i = 0; i < n; i++) {
        x[i] = a[i] + t * (b[i] - a[i]);
        if (whole)
            x[i] = rint(x[i]);
    }
    step->block_set(c->state, element, x);
}

/* How far along the line from a to b its own density lets a number go, if that
 * is less than `far`: nearly to the end of its support. */
static double end_of_support(const struct checker *c,
                             const struct gbm_step *step, int64_t element,
                             const double *a, const double *b, double far,
                             double *x)
{
    const struct gbm_family *family = &c->in->model->families[step->family];
    double inside = 0, outside = far;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = i ? (inside + outside) / 2 : far;
        push(c, step, element, a, b, middle, x);
        if (isfinite(family->logdensity(c->state, element))) {
            inside = middle;
            if (i == 0)
                break;
        } else {
            outside = middle;
        }
    }
    return inside;
}

/* Values that the sampler would hardly reach: the block pushed on the way that
 * it moved, several times as far, and near the ends of the support. `before`
 * holds the densities at a, `values` what the chain was there, to push it from:
 * on the way what moves along loses digits, nearly to 0 and back. */
static void check_far(struct checker *c, int k, int64_t element,
                      const double *a, const double *b, int n,
                      void *const *values)
{
    static const double times[] = {-4, 6, 30};
    const struct gbm_step *step = &c->in->model->steps[k];
    double *x = malloc((size_t)n * sizeof *x);
    if (!x)
        abort();
    c->far = true;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        double t = times[i];
        if (n == 1 && !step->whole)
            t = end_of_support(c, step, element, a, b, t, x);
        rt_put_back(c->in, values);
        push(c, step, element, a, b, t, x);
        step->block_get(c->state, element, x); /* which may go less far */
        if (memcmp(x, a, (size_t)n * sizeof *x) != 0 &&
            rt_in_support(c->in, c->state, c->chain, step->family, element))
            /* several numbers may be beyond the support of one of them */
            compare(c, k, element, a, x, n == 1 ? values : NULL);
    }
    c->far = false;
    rt_put_back(c->in, values);
    check_refresh(c);
    free(x);
}

/* Numbers of an observed sum move in twos, by a step of their own: not alone.
 */
static bool is_summed(const struct checker *c, int family, int64_t element)
{
    const struct gbm_family *own = &c->in->model->families[family];
    struct rt_cells cell = {0};
    bool found = false;
    for (int f = 0; f < c->in->model->nfamilies; f++) {
        const struct gbm_family *sum = &c->in->model->families[f];
        for (int64_t e = 0; sum->summands && e < c->in->elements[f]; e++) {
            int64_t n = sum->summands(c->state, e, NULL, NULL);
            int *variables = malloc(((size_t)n + 1) * sizeof *variables);
            int64_t *cells = malloc(((size_t)n + 1) * sizeof *cells);
            if (!variables || !cells)
                abort();
            sum->summands(c->state, e, variables, cells);
            rt_element_cells(own, c->state, element, &cell);
            for (int64_t i = 0; i < n; i++)
                found = found || (variables[i] == own->variable &&
                                  cells[i] == cell.cells[0]);
            free(variables);
            free(cells);
        }
    }
    free(cell.cells);
    return found;
}

/* An integer: its neighbours too, which a wrong conditional may never choose.
 * What its own density excludes, others may not be able to read. */
static void check_neighbours(struct checker *c, int k, int64_t element,
                             const double *a)
{
    const struct gbm_step *step = &c->in->model->steps[k];
    const struct gbm_family *family = &c->in->model->families[step->family];
    c->far = true;
    for (int side = -1; side <= 1; side += 2) {
        double b[1] = {a[0] + side};
        step->block_set(c->state, element, b);
        if (isfinite(family->logdensity(c->state, element)))
            compare(c, k, element, a, b, NULL);
        check_set_block(c, step, element, a);
    }
    c->far = false;
}

/* Whether an element counts for nothing: added to what has no data. */
static bool is_dropped(const struct checker *c, int family, int64_t element)
{
    int64_t at = 0;
    for (int f = 0; f < family; f++)
        at += check_counts(&c->in->model->families[f]) ? c->in->elements[f] : 0;
    return c->in->model->families[family].auxiliary && c->dropped[at + element];
}

/* May the block be set to any value on a line through two? Not so integers that
 * others count on. */
static bool may_push(const struct checker *c, const struct gbm_step *step,
                     int n)
{
    const struct gbm_model *m = c->in->model;
    bool unbound = !rt_draws_whole(m, step->family);
    for (int i = 0; i < step->nmembers; i++)
        unbound = unbound && !rt_draws_whole(m, step->members[i]);
    enum gbm_support support = m->families[step->family].support;
    return step->block_set && (unbound || n == 1) &&
           support != GBM_SUPPORT_CORRELATION_UPPER &&
           support != GBM_SUPPORT_CORRELATION_LOWER &&
           support != GBM_SUPPORT_OTHER;
}

static void take_before(void *checker)
{
    struct checker *c = checker;
    check_refresh(c);
    check_densities(c, c->before);
}

/* The scales that move with their plates after the block. They read its sums of
 * squares, which are as precise as what these add up: where that rounds a log
 * density by more than 1, as of an intrinsic autoregression whose level is at
 * 10^9, and a long move multiplies it, there is nothing to compare. The moves
 * add up in one sum what the densities have apart, as of counts of a million: n
 * numbers of one size round it by sqrt(n) times as much as all of them. */
static void check_scales(struct checker *c, int k)
{
    const struct gbm_step *step = &c->in->model->steps[k];
    struct gbm_sweep sweep = check_next_sweep(c);
    struct comparison move = {0};
    check_refresh(c);
    move.conditional =
        step->scales(c->state, &sweep, (uint32_t)c->chain, take_before, c);
    check_refresh(c);
    check_densities(c, c->after);
    move.joint = joint_difference(c, &move.rounding);
    double error;
    if (error_ratio(&move, &error) > 1)
        move.rounding += 2 * sqrt((double)c->terms) * check_rounding(c) +
                         1e-14 * check_size(step, c->state);
    if (move.rounding <= 1)
        record(c, k, -1, &move);
}

void check_element(struct checker *c, int k, int64_t element, bool far)
{
    const struct gbm_step *step = &c->in->model->steps[k];
    if (is_dropped(c, step->family, element))
        return;
    int n = step->block_size ? step->block_size(c->state, element) : 1;
    if (n < 1)
        return;
    double *a = malloc(2 * (size_t)n * sizeof *a), *b = a + n;
    if (!a)
        abort();
    int list[1] = {(int)element};
    check_refresh(c);
    step->block_get(c->state, element, a);
    check_densities(c, c->before);
    void **values = far && may_push(c, step, n) ? rt_save(c->in) : NULL;
    if (n == 1 && rt_draws_whole(c->in->model, step->family) &&
        step->block_set && !is_summed(c, step->family, element))
        check_neighbours(c, k, element, a);
    for (int attempt = 0; attempt < 10; attempt++) {
        struct gbm_sweep sweep = check_next_sweep(c);
        step->run(c->state, &sweep, (uint32_t)c->chain, list, 0, 1);
        step->block_get(c->state, element, b);
        if (memcmp(a, b, (size_t)n * sizeof *a) != 0)
            break;
    }
    if (memcmp(a, b, (size_t)n * sizeof *a) != 0) {
        compare(c, k, element, a, b, n == 1 ? values : NULL);
        if (values)
            check_far(c, k, element, a, b, n, values);
    } else {
        check_standing(c, k, element, a);
    }
    rt_forget(c->in, values);
    free(a);
    if (step->scales)
        check_scales(c, k);
}

double check_quadratic(size_t d, const double *q, const double *p,
                       const double *a, const double *b, double *rounding)
{
    double difference = 0, left = 0, all = 0;
    for (size_t i = 0; i < d; i++) {
        double row = 0, sizes = 0, move = b[i] - a[i];
        for (size_t j = 0; j < d; j++) {
            double by = j <= i ? q[i * d + j] : q[j * d + i];
            row += by * (a[j] + b[j]);
            sizes += fabs(by) * (fabs(a[j]) + fabs(b[j]));
        }
        difference += move * (p[i] - row / 2);
        left += fabs(move) * (fabs(p[i]) + fabs(row));
        all += fabs(move) * sizes;
    }
    /* of columns that are nearly the same little is left of what is added up,
     * and q, rounded, tells no more than that */
    *rounding = 1e-12 * left + 1e-14 * all;
    return difference;
}

void check_dense(struct checker *c, int k, bool far)
{
    static const double times[] = {1, -4, 6, 30};
    const struct gbm_step *step = &c->in->model->steps[k];
    size_t d = (size_t)host_dense_dimension(c->dense[k]);
    double *q = malloc((d * d + 4 * d) * sizeof *q);
    if (!q)
        abort();
    double *p = q + d * d, *a = p + d, *b = a + d, *x = b + d;
    int64_t jitters = 0;
    struct gbm_sweep sweep = check_next_sweep(c);
    check_refresh(c);
    step->dense->get(c->state, a);
    check_densities(c, c->before);
    host_dense_assemble(c->dense[k], c->state, c->rt->threads, &c->work, q, p);
    host_dense_draw(c->dense[k], c->state, &sweep, (uint32_t)c->chain,
                    c->rt->threads, &c->work, &jitters);
    step->dense->get(c->state, b);
    for (size_t t = 0; t < (far ? sizeof times / sizeof *times : 1); t++) {
        struct comparison move = {0};
        for (size_t i = 0; i < d; i++)
            x[i] = a[i] + times[t] * (b[i] - a[i]);
        check_set_block(c, step, -1, x);
        check_densities(c, c->after);
        move.conditional = check_quadratic(d, q, p, a, x, &move.rounding);
        judge(c, k, -1, a, x, &move);
    }
    check_set_block(c, step, -1, b);
    free(q);
}
