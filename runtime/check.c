/* check.c: the self-check. At several points, for some elements of each step,
 * the derived full conditional must differ between two values of the block by
 * what the joint log density of the whole model differs by. The joint is the
 * plain sum of all families, without any of the compiler's algebra. */
#include "rt.h"
#include "data.h"
#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-8
#define POINTS 3   /* per chain: the start, and after some sweeps */
#define ELEMENTS 6 /* of a step, at a point */
#define SECONDS 60 /* after this, one element per step and point */

struct row {
    int checked;
    double worst; /* error over tolerance; over 1 fails */
    double error; /* relative */
    char where[160];
};

struct checker {
    struct rt *rt;
    struct rt_instance in;
    struct gbm_data data;
    void *state;
    int chain;
    double *before, *after; /* log density of every element */
    unsigned char *dropped; /* elements that no conditional counts */
    int64_t terms;
    struct row *rows; /* [nsteps] */
    struct host_dense **dense;
    struct host_work work, scratch;
    uint32_t sweep;
    double began;
};

static bool counts(const struct gbm_family *f)
{
    return f->stochastic && !f->data_block && !f->augmented;
}

/* Everything that follows from the stochastic nodes. */
static void refresh(struct checker *c)
{
    rt_derive_all(&c->in, c->state);
    for (int k = 0; k < c->in.model->ninverses; k++)
        if (c->in.model->inverses[k].latent)
            rt_index(&c->in, c->state, k, c->chain);
}

static void densities(struct checker *c, double *out)
{
    int64_t at = 0;
    for (int f = 0; f < c->in.model->nfamilies; f++) {
        const struct gbm_family *fam = &c->in.model->families[f];
        if (!counts(fam))
            continue;
        int64_t n = c->in.elements[f];
#pragma omp parallel for num_threads(c->rt->threads) if (n > 1000)
        for (int64_t e = 0; e < n; e++)
            out[at + e] = c->dropped[at + e] ? 0 : fam->logdensity(c->state, e);
        at += n;
    }
}

/* Difference of the joint and the rounding error that it may have. */
static double joint_difference(struct checker *c, double *rounding)
{
    double sum = 0, lost = 0;
    *rounding = 0;
    for (int64_t i = 0; i < c->terms; i++) {
        double d = c->after[i] - c->before[i];
        if (d == 0)
            continue;
        /* impossible before and after: nothing is known of this move */
        if (!isfinite(c->after[i]) && !isfinite(c->before[i]))
            continue;
        *rounding += fabs(c->after[i]) + fabs(c->before[i]);
        double y = d - lost, t = sum + y; /* Kahan */
        lost = (t - sum) - y;
        sum = t;
    }
    *rounding *= 1e-14;
    return sum;
}

static void judge(struct checker *c, int k, int64_t element, double conditional,
                  double rounding_conditional)
{
    struct row *row = &c->rows[k];
    double rounding, joint = joint_difference(c, &rounding);
    double scale = fmax(1, fmax(fabs(joint), fabs(conditional)));
    double error = fabs(joint - conditional) / scale;
    double allowed = TOLERANCE + (rounding + rounding_conditional) / scale;
    double ratio = error / allowed;
    row->checked++;
    if (isnan(error) || isinf(joint))
        ratio = error = (double)INFINITY;
    if (row->checked > 1 && ratio <= row->worst)
        return;
    row->worst = ratio;
    row->error = error;
    int at = snprintf(row->where, sizeof row->where,
                      "conditional %.10g, joint %.10g at ", conditional, joint);
    if (element >= 0 && at > 0 && (size_t)at < sizeof row->where)
        rt_element_name(&c->in, c->state, c->in.model->steps[k].family, element,
                        row->where + at, sizeof row->where - (size_t)at);
}

static struct gbm_sweep next_sweep(struct checker *c)
{
    return (struct gbm_sweep){.seed = c->rt->options.seed,
                              .sweep = 1u << 30 | c->sweep++,
                              .adapting = 2};
}

/* The block moved from a to where it stands now, b. `before` holds the
 * densities at a. */
static void compare(struct checker *c, int k, int64_t element, const double *a,
                    const double *b)
{
    const struct gbm_step *step = &c->in.model->steps[k];
    refresh(c);
    densities(c, c->after);
    double at_b = step->conditional(c->state, element, b);
    double at_a = step->conditional(c->state, element, a);
    double size = fabs(at_a) + fabs(at_b);
    if (step->terms)
        size = step->terms(c->state, element, a) +
               step->terms(c->state, element, b);
    judge(c, k, element, at_b - at_a, 1e-14 * size);
}

/* An integer: its neighbours too, which a wrong conditional may never choose.
 * Impossible ones are left out, after their own prior's word. */
static void check_neighbours(struct checker *c, int k, int64_t element,
                             const double *a)
{
    const struct gbm_step *step = &c->in.model->steps[k];
    const struct gbm_family *family = &c->in.model->families[step->family];
    for (int side = -1; side <= 1; side += 2) {
        double b[1] = {a[0] + side};
        step->block_set(c->state, element, b);
        if (isfinite(family->logdensity(c->state, element))) {
            refresh(c);
            densities(c, c->after);
            double rounding, joint = joint_difference(c, &rounding);
            if (isfinite(joint))
                compare(c, k, element, a, b);
        }
        step->block_set(c->state, element, a);
        refresh(c);
    }
}

/* Whether an element counts for nothing: added to what has no data. */
static bool is_dropped(const struct checker *c, int family, int64_t element)
{
    int64_t at = 0;
    for (int f = 0; f < family; f++)
        at += counts(&c->in.model->families[f]) ? c->in.elements[f] : 0;
    return c->in.model->families[family].auxiliary && c->dropped[at + element];
}

static void check_element(struct checker *c, int k, int64_t element)
{
    const struct gbm_step *step = &c->in.model->steps[k];
    if (is_dropped(c, step->family, element))
        return;
    int v = c->in.model->families[step->family].variable;
    int n = step->block_size ? step->block_size(c->state, element) : 1;
    if (n < 1)
        return;
    double *a = malloc(2 * (size_t)n * sizeof *a), *b = a + n;
    if (!a)
        abort();
    int list[1] = {(int)element};
    refresh(c);
    step->block_get(c->state, element, a);
    densities(c, c->before);
    if (n == 1 && c->in.model->variables[v].integer && step->block_set)
        check_neighbours(c, k, element, a);
    for (int attempt = 0; attempt < 10; attempt++) {
        struct gbm_sweep sweep = next_sweep(c);
        step->run(c->state, &sweep, (uint32_t)c->chain, list, 0, 1);
        step->block_get(c->state, element, b);
        if (memcmp(a, b, (size_t)n * sizeof *a) != 0)
            break;
    }
    if (memcmp(a, b, (size_t)n * sizeof *a) != 0)
        compare(c, k, element, a, b);
    free(a);
}

static void check_dense(struct checker *c, int k)
{
    const struct gbm_step *step = &c->in.model->steps[k];
    size_t d = (size_t)host_dense_dimension(c->dense[k]);
    double *q = malloc((d * d + 3 * d) * sizeof *q);
    if (!q)
        abort();
    double *p = q + d * d, *a = p + d, *b = a + d;
    int64_t jitters = 0;
    struct gbm_sweep sweep = next_sweep(c);
    refresh(c);
    step->dense->get(c->state, a);
    densities(c, c->before);
    host_dense_assemble(c->dense[k], c->state, c->rt->threads, &c->work, q, p);
    host_dense_draw(c->dense[k], c->state, &sweep, (uint32_t)c->chain,
                    c->rt->threads, &c->work, &jitters);
    step->dense->get(c->state, b);
    refresh(c);
    densities(c, c->after);
    double difference = 0, rounding = 0;
    for (size_t i = 0; i < d; i++) {
        double row = 0, move = b[i] - a[i];
        for (size_t j = 0; j < d; j++)
            row += (j <= i ? q[i * d + j] : q[j * d + i]) * (a[j] + b[j]);
        difference += move * (p[i] - row / 2);
        rounding += fabs(move) * (fabs(p[i]) + fabs(row));
    }
    judge(c, k, -1, difference, 1e-12 * rounding);
    free(q);
}

static void check_point(struct checker *c, int point)
{
    for (int k = 0; k < c->in.model->nsteps; k++) {
        const struct gbm_step *step = &c->in.model->steps[k];
        const struct rt_step *plan = &c->in.steps[k];
        if (!plan->active)
            continue;
        if (step->kind == GBM_STEP_DENSE) {
            check_dense(c, k);
            continue;
        }
        if (step->kind != GBM_STEP_MAP || !step->conditional ||
            !step->block_get)
            continue;
        int64_t n = plan->count < ELEMENTS ? plan->count : ELEMENTS;
        if (rt_clock() - c->began > SECONDS)
            n = 1;
        for (int64_t i = 0; i < n; i++) {
            int64_t at =
                plan->count <= ELEMENTS
                    ? i
                    : (i * 7919 + point * 104729 + c->chain * 1299709) %
                          plan->count;
            check_element(c, k, plan->elements ? plan->elements[at] : at);
        }
    }
}

static bool print_rows(const struct checker *c)
{
    const struct gbm_model *m = c->in.model;
    bool good = true;
    printf("%-28s %-30s %7s  %9s\n", "block", "sampler", "points", "error");
    for (int k = 0; k < m->nsteps; k++) {
        const struct row *row = &c->rows[k];
        const struct gbm_step *step = &m->steps[k];
        if (step->kind != GBM_STEP_MAP && step->kind != GBM_STEP_DENSE)
            continue;
        printf("%-28s %-30s %7d  ", step->variable, step->sampler,
               row->checked);
        if (!c->in.steps[k].active) {
            printf("%9s  nothing to draw\n", "-");
        } else if (row->checked == 0) {
            printf("%9s  not checked: %s\n", "-",
                   step->conditional ? "it never moved"
                                     : "drawn forward, or its draw is stated");
        } else if (row->worst <= 1) {
            printf("%9.1e  pass\n", row->error);
        } else {
            good = false;
            printf("%9.1e  FAIL: %s\n", row->error, row->where);
        }
    }
    return good;
}

/* Leaves without data are drawn forward after the sweep: they are integrated
 * out of the joint that it samples. */
static void drop_leaves(struct checker *c)
{
    const struct gbm_model *m = c->in.model;
    struct rt_cells buffer = {0};
    int64_t at = 0;
    for (int f = 0; f < m->nfamilies; f++) {
        const struct rt_slot *slot = &c->in.slots[m->families[f].variable];
        bool leaf = false;
        if (!counts(&m->families[f]))
            continue;
        /* an added node goes with the element that it was added to */
        int of = f;
        while (m->families[f].auxiliary && of > 0 && !m->families[of].augmented)
            of--;
        if (c->in.elements[of] != c->in.elements[f])
            of = f;
        slot = &c->in.slots[m->families[of].variable];
        for (int k = 0; k < m->nsteps; k++)
            leaf = leaf || (m->steps[k].kind == GBM_STEP_MAP &&
                            m->steps[k].leaf && m->steps[k].family == of);
        for (int64_t e = 0; leaf && e < c->in.elements[f]; e++) {
            int64_t n =
                rt_element_cells(&m->families[of], c->state, e, &buffer);
            bool seen = false;
            for (int64_t i = 0; i < n; i++)
                seen = seen || rt_seen(slot, buffer.cells[i]);
            c->dropped[at + e] = !seen;
        }
        at += c->in.elements[f];
    }
    free(buffer.cells);
}

static enum gbm_status prepare(struct checker *c, FILE *notes)
{
    struct rt *rt = c->rt;
    const struct gbm_model *m = rt->model;
    enum gbm_status s = rt_read_data(rt, &c->data, notes);
    if (s == GBM_OK)
        s = rt_load(rt, &c->data, false, &c->in, notes);
    if (s == GBM_OK)
        s = rt_start(rt, &c->in, notes);
    if (s != GBM_OK)
        return s;
    for (int f = 0; f < m->nfamilies; f++)
        c->terms += counts(&m->families[f]) ? c->in.elements[f] : 0;
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
    rt_bind(&c->in, c->state, 0);
    drop_leaves(c);
    for (int k = 0; k < m->nsteps; k++)
        if (m->steps[k].kind == GBM_STEP_DENSE && c->in.steps[k].active) {
            c->dense[k] = host_dense_create(rt, &c->in, &m->steps[k], c->state);
            if (!c->dense[k])
                return GBM_FAILURE;
        }
    return GBM_OK;
}

static void check_all(struct checker *c)
{
    struct rt *rt = c->rt;
    static const int sweeps[POINTS] = {0, 3, 20};
    rt->device = &rt_host;
    if (rt_host.open(rt, "cpu") != GBM_OK || rt_host.load(rt, &c->in) != GBM_OK)
        return;
    c->began = rt_clock();
    uint32_t done = 0;
    for (int point = 0; point < POINTS; point++) {
        struct rt_block block = {.seed = rt->options.seed,
                                 .first = done,
                                 .sweeps = sweeps[point],
                                 .adapting = true};
        if (rt_host.run(rt, &block) != GBM_OK)
            break;
        done += (uint32_t)sweeps[point];
        for (c->chain = 0; c->chain < c->in.nchains; c->chain++) {
            rt_bind(&c->in, c->state, c->chain);
            check_point(c, point);
        }
    }
}

int rt_command_check(struct rt *rt)
{
    struct checker c = {.rt = rt};
    FILE *notes = rt->options.quiet ? NULL : stderr;
    if (prepare(&c, notes) == GBM_OK) {
        check_all(&c);
        if (rt->status == GBM_OK && !print_rows(&c))
            rt_fail(rt, GBM_USER_ERROR,
                    "a full conditional differs from the joint density: this "
                    "sampler is wrong");
        rt_host.close(rt);
    }
    for (int k = 0; c.dense && k < rt->model->nsteps; k++)
        host_dense_free(c.dense[k]);
    free(c.work.cells);
    free(c.state);
    free(c.before);
    free(c.after);
    free(c.dropped);
    free(c.rows);
    free(c.dense);
    if (c.in.model)
        rt_instance_free(&c.in);
    gbm_data_free(&c.data);
    return rt_report(rt);
}
