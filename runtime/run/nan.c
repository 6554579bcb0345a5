/* nan.c: finds values that are not a number among what the sweeps sample. A
 * NaN in the state stays there and spreads, so the run must end; draws of
 * nodes that no other depends on (predictions, missing data) do not count:
 * the summary warns of them. */
#include "run/run.h"
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

static bool counts(const struct rt_slot *slot, int64_t cell)
{
    return (!slot->defined || slot->defined[cell]) && !rt_seen(slot, cell) &&
           !rt_barren(slot, cell);
}

bool rt_nan_in_state(const struct rt_instance *in, struct rt_nan *out)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (!is_sampled(in, v))
            continue;
        const double *values = slot->values;
        for (int64_t i = 0; i < in->nchains * slot->cells; i++)
            if (isnan(values[i]) && counts(slot, i % slot->cells)) {
                *out = (struct rt_nan){.variable = v,
                                       .chain = (int)(i / slot->cells),
                                       .cell = i % slot->cells};
                return true;
            }
    }
    return false;
}

bool rt_nan_in_draws(const struct rt_instance *in,
                     const struct gbm_draws *draws, int from, int to,
                     struct rt_nan *out)
{
    for (int k = from; k < to; k++)
        for (int m = 0; m < in->nmonitors; m++) {
            const struct rt_monitor *monitor = &in->monitors[m];
            if (!is_sampled(in, monitor->variable))
                continue;
            for (int chain = 0; chain < in->nchains; chain++) {
                const double *row =
                    gbm_draws_record(draws, chain, k) + monitor->offset;
                for (int64_t i = 0; i < monitor->count; i++) {
                    int64_t cell = monitor->cells ? monitor->cells[i] : i;
                    if (!isnan(row[i]) ||
                        !counts(&in->slots[monitor->variable], cell))
                        continue;
                    *out = (struct rt_nan){.variable = monitor->variable,
                                           .chain = chain,
                                           .cell = cell,
                                           .draw = k};
                    return true;
                }
            }
        }
    return false;
}

void rt_nan_name(const struct rt_instance *in, const struct rt_nan *nan,
                 char *out, size_t capacity)
{
    rt_cell_name(in, nan->variable, nan->cell, out, capacity);
}
