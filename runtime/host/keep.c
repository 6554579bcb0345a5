/* keep.c: what a kept sweep stores, where the chains are in host memory. */
#include "host/host.h"

#include <math.h>
#include <string.h>

static inline double number_of(int value)
{
    return value == INT32_MIN ? (double)NAN : value; /* gbm_whole */
}

static void copy_cells(const struct rt_instance *in, const struct rt_monitor *m,
                       int chain, double *out)
{
    const struct rt_slot *slot = &in->slots[m->variable];
    int64_t base = slot->per_chain ? chain * slot->cells : 0;
    if (in->model->variables[m->variable].integer) {
        const int *x = (const int *)slot->values + base;
        for (int64_t i = 0; i < m->count; i++)
            out[i] = number_of(x[m->cells ? m->cells[i] : i]);
        return;
    }
    const double *x = (const double *)slot->values + base;
    for (int64_t i = 0; i < m->count; i++)
        out[i] = x[m->cells ? m->cells[i] : i];
}

/* Welford (1962), `share` one over the count. As gbm_add_moment of the device
 * does it. */
static inline void add_moment(double x, double share, double *mean, double *m2)
{
    double before = x - *mean;
    *mean += before * share;
    *m2 += before * (x - *mean);
}

static void add_integers(const int *restrict x, int64_t n, double share,
                         double *restrict mean, double *restrict m2)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        add_moment(number_of(x[i]), share, &mean[i], &m2[i]);
}

static void add_reals(const double *restrict x, int64_t n, double share,
                      double *restrict mean, double *restrict m2)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        add_moment(x[i], share, &mean[i], &m2[i]);
}

static void count_values(const int *x, int64_t n, int categories,
                         unsigned *counts)
{
    for (int64_t i = 0; i < n; i++, counts += categories)
        if (x[i] >= 1 && x[i] <= categories)
            counts[x[i] - 1]++;
}

void rt_moments_add(const struct rt_instance *in,
                    const struct rt_moments *moments, int chain, int64_t count)
{
    double share = 1 / (double)count;
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (!slot->moments)
            continue;
        int64_t base = chain * slot->cells;
        double *mean = moments[v].mean ? moments[v].mean + base : NULL;
        double *m2 = moments[v].m2 ? moments[v].m2 + base : NULL;
        if (slot->categories)
            count_values((const int *)slot->values + base, slot->cells,
                         slot->categories,
                         moments[v].counts + base * slot->categories);
        else if (in->model->variables[v].integer)
            add_integers((const int *)slot->values + base, slot->cells, share,
                         mean, m2);
        else
            add_reals((const double *)slot->values + base, slot->cells, share,
                      mean, m2);
    }
}

void rt_derive_kept(const struct rt_instance *in, const void *state)
{
    for (int i = 0; i < in->nkept_families; i++) {
        int f = in->kept_families[i];
        const struct gbm_family *family = &in->model->families[f];
        for (int64_t e = 0; e < in->elements[f]; e++)
            (family->refresh ? family->refresh : family->derive)(state, e);
    }
}

void rt_keep(const struct rt_instance *in, const struct rt_block *b,
             const void *state, int chain, int64_t k, int threads)
{
    const int64_t stride = b->draw_stride > 0 ? b->draw_stride : in->row;
    for (int i = 0; b->draws && i < in->nmonitors; i++)
        copy_cells(in, &in->monitors[i], chain,
                   b->draws + chain * b->chain_stride + k * stride +
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
        if (from[v].counts) {
            memcpy(to[v].counts, from[v].counts,
                   n * (size_t)in->slots[v].categories * sizeof(unsigned));
        } else {
            memcpy(to[v].mean, from[v].mean, n * sizeof(double));
            memcpy(to[v].m2, from[v].m2, n * sizeof(double));
        }
    }
}
