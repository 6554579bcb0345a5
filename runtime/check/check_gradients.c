/* check_gradients.c: `check --gradients`: the gradient of the joint density by
 * free numbers, which the program computes in one pass back, against central
 * differences of the density. */
#include "check/check.h"
#include "gradient/gradient.h"
#include "gbm.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COORDINATES = 400, TRIES = 20, NUDGES = 9 };
#define NUDGE 1e-14
#define SECONDS 20.0   /* then the rest is left out */
#define TOLERANCE 1e-6 /* of a derivative, beside what differences have */

/* The worst of one statement's coordinates. */
struct row {
    int checked;
    double error, gradient, difference; /* error over what may be */
    char name[128];
};

struct job {
    struct rt *rt;
    struct gbm_data data;
    struct rt_instance in;
    struct rt_unknowns unknowns;
    struct row *rows; /* by family */
    double *u, *slope, *at, *near;
    double noise; /* of the density at u */
    double began;
    int points; /* with a density */
};

/* What the rounding of operations and numbers makes of the value: all that is
 * left of a difference of probabilities near 1, say. */
static double rounding_at(struct job *job, struct rt_gradient *g)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
    const double here = rt_gradient_at(g, job->u, NULL);
    const int usual = fegetround();
    double most = DBL_EPSILON * (fabs(here) + 1);
    for (int k = 0; k < NUDGES; k++) {
        for (int64_t i = 0; i < job->unknowns.dimension; i++)
            job->near[i] = job->u[i] * (1 + NUDGE * (double)((i + k) % 5 - 2));
        fesetround(modes[k % 3]);
        const double value = rt_gradient_at(g, job->near, NULL);
        fesetround(usual);
        most = fmax(most, fabs(value - here));
    }
    return most;
}

/* Central differences with Romberg's extrapolation to smaller and smaller
 * steps; *error: what its results differ by, and rounding. A density in steps,
 * as a difference of numbers near 1 has it, shows in that. */
static double difference(struct rt_gradient *g, double *u, int64_t i,
                         double noise, double *error)
{
    enum { STEPS = 6 };
    double table[STEPS][STEPS], h = 0.02 * fmax(1, fabs(u[i]));
    const double at = u[i];
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < STEPS; k++, h /= 2) {
        u[i] = at + h;
        const double above = rt_gradient_at(g, u, NULL), right = u[i];
        u[i] = at - h;
        const double below = rt_gradient_at(g, u, NULL);
        double times = 1;
        table[k][0] = (above - below) / (right - u[i]);
        for (int j = 1; j <= k; j++) {
            times *= 4;
            table[k][j] =
                (times * table[k][j - 1] - table[k - 1][j - 1]) / (times - 1);
        }
        if (k >= 2) {
            least = fmin(least, table[k][k]);
            most = fmax(most, table[k][k]);
        }
    }
    u[i] = at;
    *error = most - least + noise / h;
    return table[STEPS - 2][STEPS - 2];
}

/* How uneven the gradient is near u: by how far its second differences are from
 * going with the square of the step. */
static double unevenness(struct job *job, struct rt_gradient *g, int64_t i)
{
    enum { STEPS = 4 };
    const double at = job->u[i];
    double second[STEPS], most = 0;
    for (int k = 0; k < STEPS; k++) {
        const double h = 5e-3 * (k + 1) * fmax(1, fabs(at));
        second[k] = -2 * job->slope[i];
        for (int side = -1; side <= 1; side += 2) {
            job->u[i] = at + side * h;
            if (!isfinite(rt_gradient_at(g, job->u, job->near)))
                most = INFINITY;
            second[k] += job->near[i];
        }
    }
    job->u[i] = at;
    for (int k = 0; k < STEPS - 1; k++) {
        const double share = (double)(k + 1) / STEPS;
        most = fmax(most, fabs(second[k] - second[STEPS - 1] * share * share));
    }
    return most;
}

static void compare(struct job *job, struct rt_gradient *g,
                    const struct rt_unknown *k, int c)
{
    const int64_t i = k->first + c;
    struct row *row = &job->rows[k->family];
    double error;
    const double d = difference(g, job->u, i, job->noise, &error);
    if (!isfinite(error))
        return; /* on the edge of the support */
    if (!(fabs(d - job->slope[i]) <= TOLERANCE * (1 + fabs(d)) + 5 * error))
        error += unevenness(job, g, i);
    const double off =
        fabs(d - job->slope[i]) / (TOLERANCE * (1 + fabs(d)) + 5 * error);
    if (row->checked++ && !(off > row->error) && !isnan(off))
        return;
    row->error = isnan(off) ? INFINITY : off;
    row->gradient = job->slope[i];
    row->difference = d;
    rt_unknown_name(&job->unknowns, i, row->name, sizeof row->name);
}

/* Near the start, where there is a density. */
static bool find_point(struct job *job, struct rt_gradient *g, int point)
{
    struct gbm_rng rng;
    rt_gradient_release(g, job->at);
    for (int attempt = 0; attempt < TRIES; attempt++) {
        const double spread = point == 0 && attempt == 0 ? 0
                              : attempt < TRIES / 2      ? 0.5
                                                         : 0.02;
        gbm_rng_start(&rng, job->rt->options.seed, (uint32_t)g->chain,
                      (uint32_t)point, (uint32_t)attempt, 0);
        for (int64_t i = 0; i < job->unknowns.dimension; i++)
            job->u[i] = job->at[i] + spread * gbm_draw_normal(&rng);
        if (isfinite(rt_gradient_at(g, job->u, job->slope)))
            return true;
    }
    return false;
}

static void check_point(struct job *job, struct rt_gradient *g, int point)
{
    const struct rt_unknowns *u = &job->unknowns;
    if (!find_point(job, g, point))
        return;
    job->points++;
    job->noise = rounding_at(job, g);
    const int64_t stride = u->n > COORDINATES ? u->n / COORDINATES : 1;
    for (int64_t k = point % stride; k < u->n; k += stride)
        for (int c = 0; c < u->items[k].dimension; c++)
            if (rt_clock() - job->began < SECONDS)
                compare(job, g, &u->items[k], c);
}

static enum gbm_status check_chain(struct job *job, int chain)
{
    struct rt_gradient g;
    if (!rt_gradient_create(&g, &job->unknowns, chain))
        return rt_fail(job->rt, GBM_FAILURE, "no memory");
    void **values = rt_save(&job->in);
    for (int point = 0; point < job->rt->options.points; point++) {
        rt_put_back(&job->in, values);
        check_point(job, &g, point);
    }
    rt_forget(&job->in, values);
    rt_gradient_free(&g);
    return GBM_OK;
}

static void print(struct job *job)
{
    const struct gbm_model *m = job->in.model;
    bool good = true;
    printf("%-40s %7s  %9s\n", "derivatives by", "points", "error");
    for (int f = 0; f < m->nfamilies; f++) {
        const struct row *row = &job->rows[f];
        if (row->checked == 0)
            continue;
        printf("%-40.40s %7d  ", m->families[f].text, row->checked);
        if (row->error <= 1) {
            printf("%9.1e  pass\n", TOLERANCE * row->error);
        } else {
            good = false;
            printf("%9.1e  FAIL: gradient %.10g, difference %.10g at %s\n",
                   TOLERANCE * row->error, row->gradient, row->difference,
                   row->name);
        }
    }
    if (!good)
        rt_fail(job->rt, GBM_USER_ERROR,
                "a derivative differs from the density's differences: this "
                "gradient is wrong");
    else if (job->points == 0)
        rt_fail(job->rt, GBM_FAILURE,
                "no point near the starting values has a density: nothing was "
                "compared");
}

static enum gbm_status prepare(struct job *job)
{
    struct rt *rt = job->rt;
    FILE *notes = rt->options.quiet ? NULL : stderr;
    enum gbm_status s = rt_read_data(rt, &job->data, notes);
    if (s == GBM_OK)
        s = rt_load(rt, &job->data, false, &job->in, notes);
    if (s == GBM_OK)
        s = rt_start(rt, &job->in, notes);
    void *state = calloc(1, rt->model->state_size + 1);
    if (s == GBM_OK) {
        rt_bind(&job->in, state, 0);
        s = rt_unknowns_create(rt, &job->in, state, &job->unknowns);
    }
    free(state);
    if (s != GBM_OK)
        return s;
    const size_t n = (size_t)job->unknowns.dimension;
    if (n == 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "there is no latent real number: no derivatives");
    job->unknowns.jacobian = true;
    job->u = calloc(4 * n, sizeof *job->u);
    job->rows = calloc((size_t)rt->model->nfamilies, sizeof *job->rows);
    if (!job->u || !job->rows)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    job->slope = job->u + n;
    job->at = job->slope + n;
    job->near = job->at + n;
    return s;
}

int rt_command_check_gradients(struct rt *rt)
{
    struct job job = {.rt = rt, .began = rt_clock()};
    enum gbm_status s = prepare(&job);
    for (int c = 0; s == GBM_OK && c < job.in.nchains; c++)
        s = check_chain(&job, c);
    if (s == GBM_OK)
        print(&job);
    free(job.u);
    free(job.rows);
    rt_unknowns_free(&job.unknowns);
    if (job.in.model)
        rt_instance_free(&job.in);
    gbm_data_free(&job.data);
    return rt_report(rt);
}
