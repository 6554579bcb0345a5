/* nan.c: finds values that are not a number among what the sweeps sample. A
 * NaN in the state stays there and spreads, so the run must end. Draws of nodes
 * that no other depends on (predictions, missing data) do not end it, but what
 * is not a number there is no draw either: the run says so when all is written.
 */
#include "record/record.h"
#include "io/data.h"

#include <math.h>
#include <stdlib.h>

/* Is the variable only drawn forward? */
static bool is_leaf(const struct rt_instance *in, int variable)
{
    const struct gbm_model *m = in->model;
    bool leaf = false;
    for (int k = 0; k < m->nsteps; k++) {
        if (!in->steps[k].active || m->steps[k].kind != GBM_STEP_MAP ||
            m->families[m->steps[k].family].variable != variable)
            continue;
        if (!m->steps[k].leaf)
            return false;
        leaf = true;
    }
    return leaf;
}

static bool is_sampled(const struct rt_instance *in, int variable)
{
    const struct gbm_variable *v = &in->model->variables[variable];
    return v->role == GBM_STOCHASTIC && !v->integer &&
           in->slots[variable].per_chain && !is_leaf(in, variable);
}

static bool counts(const struct rt_slot *slot, int64_t cell, bool barren)
{
    return (!slot->defined || slot->defined[cell]) && !rt_seen(slot, cell) &&
           (barren || !rt_barren(slot, cell));
}

bool rt_nan_in_state(const struct rt_instance *in, struct rt_nan *out)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (!is_sampled(in, v))
            continue;
        const double *values = slot->values;
        for (int64_t i = 0; i < in->nchains * slot->cells; i++)
            if (isnan(values[i]) && counts(slot, i % slot->cells, false)) {
                *out = (struct rt_nan){.variable = v,
                                       .chain = (int)(i / slot->cells),
                                       .cell = i % slot->cells};
                return true;
            }
    }
    return false;
}

enum { MANY = 1 << 16 }; /* numbers that are read by several threads */

/* Is any of n numbers NaN? Without a branch, so that vectors are compared. */
static bool any_nan(const double *x, int64_t n)
{
    double found = 0;
#pragma omp simd reduction(+ : found)
    for (int64_t i = 0; i < n; i++)
        found += isnan(x[i]) ? 1 : 0;
    return found > 0;
}

/* By all threads, as a device may have made the draws in less time than one
 * thread takes to read them. */
static bool any_nan_drawn(const struct gbm_draws *draws, int from, int to,
                          int threads)
{
    const int64_t each = (int64_t)(to - from) * draws->width;
    bool found = false;
#pragma omp parallel for num_threads(threads)                                  \
    reduction(||                                                               \
              : found) if (each * draws->chains > MANY)
    for (int chain = 0; chain < draws->chains; chain++)
        found = found || any_nan(gbm_draws_record(draws, chain, from), each);
    return found;
}

/* Number of draws [from, to) of stochastic nodes that are not a number, the
 * first in *out: of what the sweeps sample, up to that first one; or of all.
 * Chain by chain, as draws lie in memory. */
static int64_t count_nan(const struct rt_instance *in,
                         const struct gbm_draws *draws, int from, int to,
                         bool sampled, int threads, struct rt_nan *out)
{
    int64_t n = 0;
    out->draw = to;
    if (!any_nan_drawn(draws, from, to, threads))
        return 0;
    for (int m = 0; m < in->nmonitors; m++) {
        const struct rt_monitor *monitor = &in->monitors[m];
        const struct rt_slot *slot = &in->slots[monitor->variable];
        if (sampled ? !is_sampled(in, monitor->variable)
                    : in->model->variables[monitor->variable].role !=
                          GBM_STOCHASTIC)
            continue;
        for (int chain = 0; chain < draws->chains; chain++)
            for (int k = from; k < (sampled ? out->draw : to); k++) {
                const double *values =
                    gbm_draws_record(draws, chain, k) + monitor->offset;
                for (int64_t i = 0; i < monitor->count; i++) {
                    const int64_t cell = monitor->cells ? monitor->cells[i] : i;
                    if (!isnan(values[i]) || !counts(slot, cell, !sampled))
                        continue;
                    n++;
                    if (k < out->draw)
                        *out = (struct rt_nan){.variable = monitor->variable,
                                               .chain = chain,
                                               .cell = cell,
                                               .draw = k};
                }
            }
    }
    return n;
}

bool rt_nan_in_draws(const struct rt_instance *in,
                     const struct gbm_draws *draws, int from, int to,
                     int threads, struct rt_nan *out)
{
    return count_nan(in, draws, from, to, true, threads, out) > 0;
}

int64_t rt_nan_forward(const struct rt_instance *in,
                       const struct gbm_draws *draws, int threads,
                       struct rt_nan *first)
{
    return count_nan(in, draws, 0, draws->kept, false, threads, first);
}

void rt_nan_name(const struct rt_instance *in, const struct rt_nan *nan,
                 char *out, size_t capacity)
{
    rt_cell_name(in, nan->variable, nan->cell, out, capacity);
}
