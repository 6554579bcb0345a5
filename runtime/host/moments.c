/* moments.c: running moments, beside the draws that are kept. */
#include "host/host.h"
#include "summary/diagnostics.h"

#include <math.h>
#include <stdlib.h>

struct rt_moments *rt_moments_create(const struct rt_instance *in)
{
    int nv = in->model->nvariables;
    struct rt_moments *m = calloc((size_t)nv + 1, sizeof *m);
    for (int v = 0; m && v < nv; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (!slot->moments)
            continue;
        size_t n = (size_t)slot->cells * (size_t)in->nchains;
        m[v].mean = calloc(n ? n : 1, sizeof(double));
        m[v].m2 = calloc(n ? n : 1, sizeof(double));
        if (!m[v].mean || !m[v].m2) {
            rt_moments_free(in, m);
            return NULL;
        }
    }
    return m;
}

void rt_moments_free(const struct rt_instance *in, struct rt_moments *moments)
{
    for (int v = 0; moments && v < in->model->nvariables; v++) {
        free(moments[v].mean);
        free(moments[v].m2);
    }
    free(moments);
}

/* Mean, standard deviation and R-hat of one cell over the chains. */
static void pool(const struct rt_instance *in, const struct rt_moments *m,
                 int64_t cells, int64_t cell, int64_t count, double *work,
                 double *mean, double *sd, double *rhat)
{
    int chains = in->nchains;
    double *means = work, *variances = work + chains;
    double sum = 0, within = 0, between = 0;
    for (int c = 0; c < chains; c++) {
        means[c] = m->mean[c * cells + cell];
        variances[c] = m->m2[c * cells + cell] / (double)(count - 1);
        sum += means[c];
        within += m->m2[c * cells + cell];
    }
    *mean = sum / chains;
    for (int c = 0; c < chains; c++)
        between += (means[c] - *mean) * (means[c] - *mean);
    *sd =
        sqrt((within + (double)count * between) / ((double)count * chains - 1));
    *rhat = chains > 1 ? gbm_rhat_moments(means, variances, chains, count)
                       : (double)NAN;
}

/* out: [3][cells of the slot], of which `used` are filled. */
static enum gbm_status add_to_draws(struct gbm_draws *draws,
                                    const struct gbm_variable *variable,
                                    const struct rt_slot *slot,
                                    const int64_t *cells, int64_t used,
                                    const double *out)
{
    const double *mean = out, *sd = out + slot->cells, *rhat = sd + slot->cells;
    enum gbm_status s = GBM_OK;
    if (!variable->names)
        return gbm_draws_add_moments(
            draws, variable->name, variable->ndim, slot->dim, used,
            used == slot->cells ? NULL : cells, mean, sd, rhat);
    for (int64_t i = 0; i < used && s == GBM_OK; i++)
        s = gbm_draws_add_moments(draws, variable->names[cells[i]], 0, NULL, 1,
                                  NULL, mean + i, sd + i, rhat + i);
    return s;
}

static enum gbm_status store_variable(struct rt *rt,
                                      const struct rt_instance *in, int v,
                                      const struct rt_moments *m, int64_t count,
                                      struct gbm_draws *draws)
{
    const struct gbm_variable *variable = &in->model->variables[v];
    const struct rt_slot *slot = &in->slots[v];
    size_t n = (size_t)(slot->cells ? slot->cells : 1);
    int64_t *cells = malloc(n * sizeof *cells), used = 0;
    double *out = malloc(3 * n * sizeof *out);
    double *work = malloc(2 * (size_t)in->nchains * sizeof *work);
    enum gbm_status s = GBM_FAILURE;
    if (cells && out && work) {
        for (int64_t i = 0; i < slot->cells; i++) {
            if (!slot->told[i])
                continue;
            pool(in, m, slot->cells, i, count, work, &out[used],
                 &out[slot->cells + used], &out[2 * slot->cells + used]);
            cells[used++] = i;
        }
        s = add_to_draws(draws, variable, slot, cells, used, out);
    }
    free(cells);
    free(out);
    free(work);
    return s == GBM_OK ? s : rt_fail(rt, GBM_FAILURE, "no memory for moments");
}

enum gbm_status rt_moments_store(struct rt *rt, const struct rt_instance *in,
                                 const struct rt_moments *moments,
                                 int64_t count, struct gbm_draws *draws)
{
    enum gbm_status s = GBM_OK;
    for (int v = 0; s == GBM_OK && count > 1 && v < in->model->nvariables; v++)
        if (in->slots[v].moments)
            s = store_variable(rt, in, v, &moments[v], count, draws);
    return s;
}
