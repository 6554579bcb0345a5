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
        size_t n = (size_t)slot->cells * (size_t)in->nchains + 1;
        if (slot->categories) {
            m[v].counts =
                calloc(n * (size_t)slot->categories, sizeof *m[v].counts);
        } else {
            m[v].mean = calloc(n, sizeof(double));
            m[v].m2 = calloc(n, sizeof(double));
        }
        if (!m[v].counts && (!m[v].mean || !m[v].m2)) {
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
        free(moments[v].counts);
    }
    free(moments);
}

void rt_moments_list(const struct rt_instance *in, struct rt_moments *moments,
                     struct rt_pieces *pieces)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        const char *name = in->model->variables[v].name;
        const size_t n = (size_t)slot->cells * (size_t)in->nchains;
        if (!slot->moments)
            continue;
        if (slot->categories) {
            rt_pieces_add(pieces, name, moments[v].counts,
                          n * (size_t)slot->categories * sizeof(unsigned));
            continue;
        }
        rt_pieces_add(pieces, name, moments[v].mean, n * sizeof(double));
        rt_pieces_add(pieces, name, moments[v].m2, n * sizeof(double));
    }
}

/* Mean, standard deviation and R-hat over the chains, which have `means` and
 * sums of squares `m2`. work: [chains] */
static void pool(const struct rt_instance *in, const double *means,
                 const double *m2, int64_t count, double *work, double *mean,
                 double *sd, double *rhat)
{
    int chains = in->nchains;
    double sum = 0, within = 0, between = 0;
    for (int c = 0; c < chains; c++) {
        work[c] = m2[c] / (double)(count - 1);
        sum += means[c];
        within += m2[c];
    }
    *mean = sum / chains;
    for (int c = 0; c < chains; c++)
        between += (means[c] - *mean) * (means[c] - *mean);
    *sd =
        sqrt((within + (double)count * between) / ((double)count * chains - 1));
    *rhat =
        chains > 1 ? gbm_rhat_moments(means, work, chains, count) : (double)NAN;
}

/* What the chains have of one cell; of a categorical one, of the event that it
 * has a value. */
static void gather(const struct rt_instance *in, const struct rt_moments *m,
                   const struct rt_slot *slot, int64_t cell, int value,
                   int64_t count, double *means, double *m2)
{
    for (int c = 0; c < in->nchains; c++) {
        int64_t at = c * slot->cells + cell;
        if (!slot->categories) {
            means[c] = m->mean[at];
            m2[c] = m->m2[at];
            continue;
        }
        double n = m->counts[at * slot->categories + value];
        means[c] = n / (double)count;
        m2[c] = n * (1 - means[c]);
    }
}

/* out: [3][size], of which so many numbers as `used` cells have are filled. */
static enum gbm_status add_to_draws(struct gbm_draws *draws,
                                    const struct gbm_variable *variable,
                                    const struct rt_slot *slot,
                                    const int64_t *cells, int64_t used,
                                    const double *out, int64_t size)
{
    const double *mean = out, *sd = out + size, *rhat = sd + size;
    const int each = slot->categories ? slot->categories : 1;
    enum gbm_status s = GBM_OK;
    if (!variable->names)
        return gbm_draws_add_moments(draws, variable->name, variable->ndim,
                                     slot->dim, used,
                                     used == slot->cells ? NULL : cells,
                                     slot->categories, mean, sd, rhat);
    for (int64_t i = 0; i < used && s == GBM_OK; i++)
        s = gbm_draws_add_moments(draws, variable->names[cells[i]], 0, NULL, 1,
                                  NULL, slot->categories, mean + i * each,
                                  sd + i * each, rhat + i * each);
    return s;
}

static enum gbm_status store_variable(struct rt *rt,
                                      const struct rt_instance *in, int v,
                                      const struct rt_moments *m, int64_t count,
                                      struct gbm_draws *draws)
{
    const struct gbm_variable *variable = &in->model->variables[v];
    const struct rt_slot *slot = &in->slots[v];
    const int each = slot->categories ? slot->categories : 1;
    const size_t chains = (size_t)in->nchains;
    int64_t used = 0, filled = 0, size = slot->cells * each;
    int64_t *cells = malloc((size_t)slot->cells * sizeof *cells + 1);
    double *out = malloc(3 * (size_t)size * sizeof *out + 1);
    double *work = malloc(3 * chains * sizeof *work);
    enum gbm_status s = GBM_FAILURE;
    if (cells && out && work) {
        for (int64_t i = 0; i < slot->cells; i++) {
            if (!slot->told[i])
                continue;
            cells[used++] = i;
            for (int k = 0; k < each; k++, filled++) {
                gather(in, m, slot, i, k, count, work, work + chains);
                pool(in, work, work + chains, count, work + 2 * chains,
                     &out[filled], &out[size + filled],
                     &out[2 * size + filled]);
            }
        }
        s = add_to_draws(draws, variable, slot, cells, used, out, size);
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
