/* check.c: whether a derived full conditional is that of the model: between two
 * values of its block it must differ by what the joint log density of the whole
 * model differs by. The joint is the plain sum of all families, without any of
 * the compiler's algebra. And the command `check`, which compares at several
 * points, far out ones too, for some elements of each step. */
#include "check/check.h"
#include "options/method.h"
#include "options/option.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-8
#define ELEMENTS 6  /* of a step, at a point */
#define SECONDS 60  /* after this, one element per step and point */
#define HALVINGS 24 /* to the end of a support */
#define WAYS 4      /* errors, in the changes that other rounding makes */
#define NUDGE 4e-16 /* of a number, in its own size */

bool check_counts(const struct gbm_family *f)
{
    return f->stochastic && !f->data_block && !f->augmented;
}

void check_refresh(const struct checker *c)
{
    rt_refresh(c->in, c->state, c->chain);
}

static void densities(struct checker *c, double *out)
{
    int64_t at = 0;
    for (int f = 0; f < c->in->model->nfamilies; f++) {
        const struct gbm_family *fam = &c->in->model->families[f];
        if (!check_counts(fam))
            continue;
        int64_t n = c->in->elements[f];
#pragma omp parallel for num_threads(c->rt->threads) if (n > 1000)
        for (int64_t e = 0; e < n; e++)
            out[at + e] = c->dropped[at + e] ? 0 : fam->logdensity(c->state, e);
        at += n;
    }
}

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

static struct gbm_sweep next_sweep(struct checker *c)
{
    return (struct gbm_sweep){.seed = c->rt->options.seed,
                              .sweep = 1u << 30 | c->sweep++,
                              .adapting = 2};
}

static bool can_set(const struct gbm_step *step)
{
    return step->kind == GBM_STEP_DENSE || step->block_set;
}

static void set_block(const struct checker *c, const struct gbm_step *step,
                      int64_t element, const double *x)
{
    if (step->kind == GBM_STEP_DENSE)
        step->dense->set(c->state, x);
    else
        step->block_set(c->state, element, x);
    check_refresh(c);
}

/* The conditional at x, and the size of what it adds up. */
static double conditional_at(const struct checker *c,
                             const struct gbm_step *step, int64_t element,
                             const double *x, double *size)
{
    double value = step->conditional(c->state, element, x);
    *size = step->terms ? step->terms(c->state, element, x) : fabs(value);
    return value;
}

/* Up, down, or some up and some down: in one direction the difference of two
 * numbers that are nearly the same keeps its digits. */
static double sign_of(int way, int family, int64_t cell)
{
    uint32_t hash = ((uint32_t)cell + 977u * (uint32_t)family) * 2654435761u;
    return way == 1 || way == -1 ? way : hash >> (24 + way) & 1 ? 1 : -1;
}

/* Every free real number of the chain, its last digit or two changed. */
static void nudge(const struct checker *c, int way)
{
    const struct gbm_model *m = c->in->model;
    struct rt_cells buffer = {0};
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        const struct rt_slot *slot = &c->in->slots[fam->variable];
        bool free_numbers = check_counts(fam) && slot->per_chain &&
                            !m->variables[fam->variable].integer &&
                            fam->support == GBM_SUPPORT_ANY;
        for (int64_t e = 0; free_numbers && e < c->in->elements[f]; e++) {
            int64_t n = rt_element_cells(fam, c->state, e, &buffer);
            for (int64_t i = 0; i < n; i++) {
                int64_t cell = buffer.cells[i];
                double x = rt_value(slot, false, c->chain, cell);
                if (!rt_seen(slot, cell))
                    rt_set_value(slot, false, c->chain, cell,
                                 x * (1 + sign_of(way, f, cell) * NUDGE));
            }
        }
    }
    free(buffer.cells);
    check_refresh(c);
}

/* The density of every element, and behind them the conditional, with the block
 * at x and every operation rounded by `mode`, every number nudged. */
static void other_way(struct checker *c, const struct gbm_step *step,
                      int64_t element, const double *x, int mode, int way,
                      double *out)
{
    int usual = fegetround(), threads = c->rt->threads;
    c->rt->threads = 1; /* a mode is of one thread */
    fesetround(mode);
    if (step)
        set_block(c, step, element, x);
    if (way)
        nudge(c, way);
    else
        check_refresh(c);
    densities(c, out); /* before trial values change what is stored */
    out[c->terms] = 0;
    if (step && step->kind != GBM_STEP_DENSE) {
        int n = step->block_size ? step->block_size(c->state, element) : 1;
        double size, *at = malloc((size_t)n * sizeof *at);
        if (!at)
            abort();
        step->block_get(c->state, element, at);
        out[c->terms] = conditional_at(c, step, element, at, &size);
        free(at);
    }
    fesetround(usual);
    c->rt->threads = threads;
}

/* Infinite if only one of the two is a number that a density may be. */
static double distance(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    return isfinite(a) && isfinite(b) ? fabs(a - b) : (double)INFINITY;
}

/* Other ways to compute the same: rounding modes, and nudges. */
static const struct {
    int mode, way;
} others[] = {{FE_UPWARD, 0},    {FE_DOWNWARD, 0},   {FE_TOWARDZERO, 0},
              {FE_TONEAREST, 1}, {FE_TONEAREST, -1}, {FE_TONEAREST, 2},
              {FE_TONEAREST, 4}};

/* What the densities of all elements, and the conditional, at x change by if
 * every operation rounds another way, as in Vignes, A stochastic arithmetic for
 * reliable scientific computation (1993), or every number is another by its
 * rounding: where the model itself cancels (1 - p of a p near 1), the joint has
 * no more digits than that. Infinite: none, as where exp(x) underflows to 0 in
 * exp(x) / sum(exp(x)), or overflows: rounded up, or down, it does not. */
static double rounding_at(struct checker *c, const struct gbm_step *step,
                          int64_t element, const double *x)
{
    size_t n = (size_t)c->terms + 1;
    double *nearest = malloc(2 * n * sizeof *nearest), worst = 0;
    void **values = rt_save(c->in);
    if (!nearest || !values)
        abort();
    double *other = nearest + n;
    other_way(c, step, element, x, FE_TONEAREST, 0, nearest);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        double change = 0;
        rt_put_back(c->in, values); /* each moves there from the same place */
        other_way(c, step, element, x, others[k].mode, others[k].way, other);
        for (size_t i = 0; i < n; i++)
            change += distance(other[i], nearest[i]);
        worst = fmax(worst, change);
    }
    rt_put_back(c->in, values);
    rt_forget(c->in, values);
    check_refresh(c);
    free(nearest);
    return WAYS * worst;
}

double check_rounding(struct checker *c)
{
    return rounding_at(c, NULL, -1, NULL);
}

void check_rounding_of(struct checker *c, int variable, double *change)
{
    const struct rt_slot *slot = &c->in->slots[variable];
    const bool integer = c->in->model->variables[variable].integer;
    size_t cells = (size_t)slot->cells;
    double *nearest = malloc((cells + (size_t)c->terms + 1) * sizeof *nearest);
    void **values = rt_save(c->in);
    if (!nearest || !values)
        abort();
    double *other = nearest + cells; /* densities, which nobody asks for */
    check_refresh(c);
    for (size_t i = 0; i < cells; i++) {
        nearest[i] = rt_value(slot, integer, c->chain, (int64_t)i);
        change[i] = 0;
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        rt_put_back(c->in, values);
        other_way(c, NULL, -1, NULL, others[k].mode, others[k].way, other);
        for (size_t i = 0; i < cells; i++) {
            double now = rt_value(slot, integer, c->chain, (int64_t)i);
            change[i] = fmax(change[i], WAYS * distance(now, nearest[i]));
        }
    }
    rt_put_back(c->in, values);
    rt_forget(c->in, values);
    check_refresh(c);
    free(nearest);
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
    if (error_ratio(move, &error) > 1 && can_set(step))
        move->rounding +=
            rounding_at(c, step, element, a) + rounding_at(c, step, element, b);
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
    densities(c, c->after); /* before trial values change what is stored */
    if (values) {
        rt_put_back(c->in, values);
        check_refresh(c);
    }
    move.conditional = conditional_at(c, step, element, b, &at_b) -
                       conditional_at(c, step, element, a, &at_a);
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
    double at_a = conditional_at(c, &c->in->model->steps[k], element, a, &size);
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
    int v = c->in->model->families[step->family].variable;
    for (int i = 0; i < n; i++) {
        x[i] = a[i] + t * (b[i] - a[i]);
        if (c->in->model->variables[v].integer)
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
        set_block(c, step, element, a);
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
    bool unbound = !m->variables[m->families[step->family].variable].integer;
    for (int i = 0; i < step->nmembers; i++)
        unbound = unbound &&
                  !m->variables[m->families[step->members[i]].variable].integer;
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
    densities(c, c->before);
}

double check_size(const struct gbm_step *step, const void *state)
{
    int n = step->block_size(state, 0);
    double *x = calloc((size_t)n + 1, sizeof *x);
    if (!x)
        abort();
    step->block_get(state, 0, x);
    double size = step->terms ? step->terms(state, 0, x) : 0;
    free(x);
    return size;
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
    struct gbm_sweep sweep = next_sweep(c);
    struct comparison move = {0};
    check_refresh(c);
    move.conditional =
        step->scales(c->state, &sweep, (uint32_t)c->chain, take_before, c);
    check_refresh(c);
    densities(c, c->after);
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
    int v = c->in->model->families[step->family].variable;
    int n = step->block_size ? step->block_size(c->state, element) : 1;
    if (n < 1)
        return;
    double *a = malloc(2 * (size_t)n * sizeof *a), *b = a + n;
    if (!a)
        abort();
    int list[1] = {(int)element};
    check_refresh(c);
    step->block_get(c->state, element, a);
    densities(c, c->before);
    void **values = far && may_push(c, step, n) ? rt_save(c->in) : NULL;
    if (n == 1 && c->in->model->variables[v].integer && step->block_set &&
        !is_summed(c, step->family, element))
        check_neighbours(c, k, element, a);
    for (int attempt = 0; attempt < 10; attempt++) {
        struct gbm_sweep sweep = next_sweep(c);
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
    struct gbm_sweep sweep = next_sweep(c);
    check_refresh(c);
    step->dense->get(c->state, a);
    densities(c, c->before);
    host_dense_assemble(c->dense[k], c->state, c->rt->threads, &c->work, q, p);
    host_dense_draw(c->dense[k], c->state, &sweep, (uint32_t)c->chain,
                    c->rt->threads, &c->work, &jitters);
    step->dense->get(c->state, b);
    for (size_t t = 0; t < (far ? sizeof times / sizeof *times : 1); t++) {
        struct comparison move = {0};
        for (size_t i = 0; i < d; i++)
            x[i] = a[i] + times[t] * (b[i] - a[i]);
        set_block(c, step, -1, x);
        densities(c, c->after);
        move.conditional = check_quadratic(d, q, p, a, x, &move.rounding);
        judge(c, k, -1, a, x, &move);
    }
    set_block(c, step, -1, b);
    free(q);
}

/* ---- the command ---- */

struct command {
    struct checker checker;
    struct rt_instance in;
    struct gbm_data data;
    double began;
    uint32_t done; /* sweeps */
};

static void check_point(struct command *command, int point)
{
    struct checker *c = &command->checker;
    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct gbm_step *step = &c->in->model->steps[k];
        const struct rt_step *plan = &c->in->steps[k];
        bool late = rt_clock() - command->began > SECONDS;
        if (!plan->active)
            continue;
        if (step->kind == GBM_STEP_DENSE) {
            check_dense(c, k, !late);
            continue;
        }
        if (step->kind != GBM_STEP_MAP || !step->conditional ||
            !step->block_get)
            continue;
        int64_t n = plan->count < ELEMENTS ? plan->count : ELEMENTS;
        for (int64_t i = 0; i < n; i++) {
            late = rt_clock() - command->began > SECONDS;
            if (late && i > 0)
                break;
            int64_t at =
                plan->count <= ELEMENTS
                    ? i
                    : (i * 7919 + point * 104729 + c->chain * 1299709) %
                          plan->count;
            check_element(c, k, plan->elements ? plan->elements[at] : at,
                          !late);
        }
    }
}

static bool print_rows(const struct checker *c)
{
    const struct gbm_model *m = c->in->model;
    bool good = true;
    printf("%-28s %-30s %7s  %9s\n", "block", "sampler", "points", "error");
    for (int k = 0; k < m->nsteps; k++) {
        const struct check_row *row = &c->rows[k];
        const struct gbm_step *step = &m->steps[k];
        if ((step->kind != GBM_STEP_MAP && step->kind != GBM_STEP_DENSE) ||
            (step->leaf && !c->in->steps[k].active))
            continue;
        printf("%-28s %-30s %7d  ", step->variable, step->sampler,
               row->checked);
        if (!c->in->steps[k].active) {
            printf("%9s  nothing to draw\n", "-");
        } else if (row->checked == 0) {
            printf("%9s  not checked: %s\n", "-",
                   step->conditional ? "it never moved"
                                     : "drawn forward, its draw is stated, or "
                                       "it moves what others draw (geweke)");
        } else if (row->worst <= 1) {
            printf("%9.1e  pass\n", row->error);
        } else {
            good = false;
            printf("%9.1e  FAIL: conditional %.10g, joint %.10g at %s\n",
                   row->error, row->conditional, row->joint, row->element);
        }
    }
    return good;
}

void check_drop(const struct rt_instance *in, const void *state,
                unsigned char *dropped)
{
    const struct gbm_model *m = in->model;
    struct rt_cells buffer = {0};
    int64_t at = 0;
    for (int f = 0; f < m->nfamilies; f++) {
        if (!check_counts(&m->families[f]))
            continue;
        for (int64_t e = 0; e < in->elements[f]; e++)
            dropped[at + e] = rt_counts_for_nothing(in, state, f, e, &buffer);
        at += in->elements[f];
    }
    free(buffer.cells);
}

enum gbm_status check_create(struct checker *c, struct rt *rt,
                             const struct rt_instance *in)
{
    const struct gbm_model *m = in->model;
    *c = (struct checker){.rt = rt, .in = in};
    for (int f = 0; f < m->nfamilies; f++)
        c->terms += check_counts(&m->families[f]) ? in->elements[f] : 0;
    size_t n = (size_t)c->terms + 1;
    c->state = calloc(1, m->state_size + 1);
    c->before = malloc(n * sizeof *c->before);
    c->after = malloc(n * sizeof *c->after);
    c->rows = calloc((size_t)m->nsteps + 1, sizeof *c->rows);
    c->dense = calloc((size_t)m->nsteps + 1, sizeof(void *));
    c->dropped = calloc(n, 1);
    if (!c->dropped || !c->state || !c->before || !c->after || !c->rows ||
        !c->dense)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt_bind(in, c->state, 0);
    check_drop(in, c->state, c->dropped);
    for (int k = 0; k < m->nsteps; k++)
        if (m->steps[k].kind == GBM_STEP_DENSE && in->steps[k].active) {
            c->dense[k] = host_dense_create(rt, in, &m->steps[k], c->state);
            if (!c->dense[k])
                return GBM_FAILURE;
        }
    return GBM_OK;
}

void check_free(struct checker *c)
{
    for (int k = 0; c->dense && k < c->in->model->nsteps; k++)
        host_dense_free(c->dense[k]);
    free(c->work.cells);
    free(c->state);
    free(c->before);
    free(c->after);
    free(c->dropped);
    free(c->rows);
    free(c->dense);
    *c = (struct checker){0};
}

static enum gbm_status prepare(struct command *command, struct rt *rt)
{
    FILE *notes = rt->options.quiet ? NULL : stderr;
    struct rt_instance *in = &command->in;
    enum gbm_status s = rt_read_data(rt, &command->data, notes);
    if (s == GBM_OK)
        s = rt_load(rt, &command->data, false, in, notes);
    if (s == GBM_OK)
        s = rt_variant_of_data(rt, in);
    if (s == GBM_OK)
        s = rt_start(rt, in, notes);
    if (s == GBM_OK)
        s = check_create(&command->checker, rt, in);
    rt->device = &rt_host;
    if (s == GBM_OK)
        s = rt_host.open(rt, "cpu");
    return s == GBM_OK ? rt_host.load(rt, in) : s;
}

/* What is no number compares with nothing, and stays so; a run would end. */
static bool has_left_numbers(const struct checker *c, uint32_t sweeps)
{
    struct rt_nan bad;
    char name[128];
    if (!rt_nan_in_state(c->in, &bad))
        return false;
    rt_nan_name(c->in, &bad, name, sizeof name);
    if (!c->rt->options.quiet)
        fprintf(stderr,
                "note: %s of chain %d is not a number after %u sweeps from "
                "these starting values: nothing more is compared\n",
                name, bad.chain + 1, sweeps);
    return true;
}

/* At the start, after 3 sweeps, and then every 20. */
static void check_all(struct command *command)
{
    struct checker *c = &command->checker;
    struct rt *rt = c->rt;
    for (int point = 0; point < rt->options.points; point++) {
        struct rt_block block = {.seed = rt->options.seed,
                                 .first = command->done,
                                 .sweeps = point == 0   ? 0
                                           : point == 1 ? 3
                                                        : 20,
                                 .adapting = true};
        if (rt_host.run(rt, &block) != GBM_OK)
            break;
        command->done += (uint32_t)block.sweeps;
        if (has_left_numbers(c, command->done))
            break;
        for (c->chain = 0; c->chain < c->in->nchains; c->chain++) {
            rt_bind(c->in, c->state, c->chain);
            check_point(command, point);
        }
    }
}

/* Of a sampler with powers: between the posterior and the prior, if the user
 * does not say where. */
static bool check_powers(struct command *command)
{
    static const double at[] = {1, 0.3, 0};
    struct checker *c = &command->checker;
    const struct rt_options *o = &c->rt->options;
    double *powers = rt_powers(c->in);
    bool good = true;
    if (!powers || rt_option_is_given(o, OPTION_POWER) || o->sequence) {
        check_all(command);
        return print_rows(c);
    }
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        for (int k = 0; k < c->in->nchains; k++)
            powers[k] = fmax(at[i], RT_LEAST_POWER);
        memset(c->rows, 0, (size_t)c->in->model->nsteps * sizeof *c->rows);
        check_all(command);
        printf("%spower %g of the data's densities\n", i ? "\n" : "", at[i]);
        good = print_rows(c) && good;
    }
    return good;
}

int rt_command_check(struct rt *rt)
{
    struct command command = {.began = rt_clock()};
    if (prepare(&command, rt) == GBM_OK && !check_powers(&command))
        rt_fail(rt, GBM_USER_ERROR,
                "a full conditional differs from the joint density: this "
                "sampler is wrong");
    rt_host.close(rt);
    if (command.checker.in)
        check_free(&command.checker);
    if (command.in.model)
        rt_instance_free(&command.in);
    gbm_data_free(&command.data);
    return rt_report(rt);
}
