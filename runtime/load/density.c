/* density.c: the log density of a state, and what is derived from it. */
#include "load/load.h"

#include <stdlib.h>

#define CHUNK 1024 /* terms of a partial sum: fixes the shape of all sums */

static double family_logdensity(const struct rt_instance *in, int f,
                                const void *state, int threads)
{
    const struct gbm_family *fam = &in->model->families[f];
    int64_t n = in->elements[f], chunks = (n + CHUNK - 1) / CHUNK;
    double total = 0;
    if (threads <= 1 || chunks < 4) {
        for (int64_t c = 0; c < chunks; c++) {
            int64_t last = c * CHUNK + CHUNK < n ? c * CHUNK + CHUNK : n;
            double sum = 0;
            for (int64_t e = c * CHUNK; e < last; e++)
                sum += fam->logdensity(state, e);
            total += sum;
        }
        return total;
    }
    double *sums = malloc((size_t)chunks * sizeof *sums);
    if (!sums)
        return family_logdensity(in, f, state, 1);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t c = 0; c < chunks; c++) {
        int64_t last = c * CHUNK + CHUNK < n ? c * CHUNK + CHUNK : n;
        double sum = 0;
        for (int64_t e = c * CHUNK; e < last; e++)
            sum += fam->logdensity(state, e);
        sums[c] = sum;
    }
    for (int64_t c = 0; c < chunks; c++)
        total += sums[c];
    free(sums);
    return total;
}

double rt_logdensity(const struct rt_instance *in, const void *state,
                     bool augmented, int threads)
{
    double sum = 0;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (!fam->stochastic || fam->data_block ||
            (augmented ? fam->augmented : fam->auxiliary))
            continue;
        sum += family_logdensity(in, f, state, threads);
    }
    return sum;
}

bool rt_is_read(const struct gbm_model *model, int family)
{
    const struct gbm_family *f = &model->families[family];
    const struct gbm_variable *v = &model->variables[f->variable];
    return !f->stochastic && !f->data_block &&
           (v->role == GBM_STOCHASTIC ||
            (v->role == GBM_DERIVED && v->maintained));
}

void rt_derive_all(const struct rt_instance *in, const void *state)
{
    for (int f = 0; f < in->model->nfamilies; f++)
        for (int64_t e = 0; rt_is_read(in->model, f) && e < in->elements[f];
             e++) {
            const struct gbm_family *fam = &in->model->families[f];
            (fam->refresh ? fam->refresh : fam->derive)(state, e);
        }
}

void rt_refresh(const struct rt_instance *in, const void *state, int chain)
{
    rt_derive_all(in, state);
    rt_index_latents(in, state, chain);
}
