/* keep.c: what a kept sweep stores, where the chains are in host memory. */
#include "host/host.h"

#include <math.h>
#include <string.h>

static void copy_cells(const struct rt_instance *in, const struct rt_monitor *m,
                       int chain, double *out)
{
    const struct rt_slot *slot = &in->slots[m->variable];
    int64_t base = slot->per_chain ? chain * slot->cells : 0;
    if (in->model->variables[m->variable].integer) {
        const int *x = (const int *)slot->values + base;
        for (int64_t i = 0; i < m->count; i++) {
            int value = x[m->cells ? m->cells[i] : i];
            out[i] = value == INT32_MIN ? (double)NAN : value; /* gbm_whole */
        }
        return;
    }
    const double *x = (const double *)slot->values + base;
    for (int64_t i = 0; i < m->count; i++)
        out[i] = x[m->cells ? m->cells[i] : i];
}

/* Welford (1962). */
static void add_moments(const struct rt_instance *in,
                        const struct rt_moments *moments, int chain,
                        int64_t count)
{
    double share = 1 / (double)count;
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (!slot->moments)
            continue;
        double *mean = moments[v].mean + chain * slot->cells;
        double *m2 = moments[v].m2 + chain * slot->cells;
        bool integer = in->model->variables[v].integer;
        for (int64_t i = 0; i < slot->cells; i++) {
            double x = rt_value(slot, integer, chain, i);
            double delta = x - mean[i];
            mean[i] += delta * share;
            m2[i] += delta * (x - mean[i]);
        }
    }
}

void rt_keep(const struct rt_instance *in, const struct rt_block *b,
             const void *state, int chain, int64_t k,
             const struct rt_moments *moments, int64_t count, int threads)
{
    for (int i = 0; i < in->nkept_families; i++) {
        int f = in->kept_families[i];
        const struct gbm_family *family = &in->model->families[f];
        for (int64_t e = 0; e < in->elements[f]; e++)
            (family->refresh ? family->refresh : family->derive)(state, e);
    }
    if (in->has_moments)
        add_moments(in, moments, chain, count + k + 1);
    for (int i = 0; b->draws && i < in->nmonitors; i++)
        copy_cells(in, &in->monitors[i], chain,
                   b->draws + chain * b->chain_stride + k * in->row +
                       in->monitors[i].offset);
    if (b->lp)
        b->lp[chain * b->lp_stride + k] =
            rt_logdensity(in, state, false, threads);
}

void rt_moments_copy(const struct rt_instance *in,
                     const struct rt_moments *from, struct rt_moments *to)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        if (!in->slots[v].moments)
            continue;
        size_t n = (size_t)in->slots[v].cells * (size_t)in->nchains;
        memcpy(to[v].mean, from[v].mean, n * sizeof(double));
        memcpy(to[v].m2, from[v].m2, n * sizeof(double));
    }
}
