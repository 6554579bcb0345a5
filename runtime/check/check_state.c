/* check_state.c: what a check asks of a chain where it stands: the density of
 * every element, the plain sum of which is the joint, without any of the
 * compiler's algebra; a step's full conditional; and it puts blocks elsewhere.
 */
#include "check/check.h"

#include <math.h>
#include <stdlib.h>

bool check_counts(const struct gbm_family *f)
{
    return f->stochastic && !f->data_block && !f->augmented;
}

void check_refresh(const struct checker *c)
{
    rt_refresh(c->in, c->state, c->chain);
}

void check_densities(struct checker *c, double *out)
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

bool check_can_set(const struct gbm_step *step)
{
    return step->kind == GBM_STEP_DENSE || step->block_set;
}

void check_set_block(const struct checker *c, const struct gbm_step *step,
                     int64_t element, const double *x)
{
    if (step->kind == GBM_STEP_DENSE)
        step->dense->set(c->state, x);
    else
        step->block_set(c->state, element, x);
    check_refresh(c);
}

/* The conditional at x, and the size of what it adds up. */
double check_conditional_at(const struct checker *c,
                            const struct gbm_step *step, int64_t element,
                            const double *x, double *size)
{
    double value = step->conditional(c->state, element, x);
    *size = step->terms ? step->terms(c->state, element, x) : fabs(value);
    return value;
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
