/* powers.c: the chains' powers on the densities of data, and the log likelihood
 * that they multiply. */
#include "load/load.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static int power_slot(const struct gbm_model *m)
{
    for (int v = 0; v < m->nvariables; v++)
        if (m->variables[v].role == GBM_POWER)
            return v;
    return -1;
}

double *rt_powers(const struct rt_instance *in)
{
    int v = power_slot(in->model);
    return v < 0 ? NULL : in->slots[v].values;
}

bool rt_is_likelihood(const struct gbm_family *fam)
{
    return fam->stochastic && !fam->auxiliary && !fam->data_block &&
           fam->logdensity;
}

/* The log density of a raised family's observed elements, power 1. */
static double observed_sum(const struct rt_instance *in, int f,
                           const void *state, struct rt_cells *buffer)
{
    const struct gbm_family *fam = &in->model->families[f];
    const struct rt_slot *slot = &in->slots[fam->variable];
    bool whole = !slot->per_chain && !slot->seen;
    double sum = 0;
    if (whole && fam->recalled && fam->recalled(state, &sum))
        return sum;
    for (int64_t e = 0; e < in->elements[f]; e++) {
        int64_t n = whole ? 0 : rt_element_cells(fam, state, e, buffer);
        bool seen = whole;
        for (int64_t i = 0; i < n && !seen; i++)
            seen = rt_seen(slot, buffer->cells[i]);
        if (seen)
            sum += fam->logdensity(state, e);
    }
    return sum;
}

double rt_loglikelihood(const struct rt_instance *in, const void *state,
                        int chain)
{
    double *power = rt_powers(in) + chain, kept = *power, sum = 0;
    struct rt_cells buffer = {0};
    *power = in->model->sequence ? RT_ALL_ENTERED : 1;
    for (int f = 0; f < in->model->nfamilies; f++)
        if (in->model->families[f].raised)
            sum += observed_sum(in, f, state, &buffer);
    *power = kept;
    free(buffer.cells);
    return sum;
}

/* Names that the list has and that have no data. */
static enum gbm_status check_list(struct rt *rt, const struct rt_instance *in,
                                  const bool *observed)
{
    const struct gbm_model *m = in->model;
    const char *list = rt->options.temper;
    size_t n;
    for (const char *at; (at = rt_next_name(&list, &n));) {
        bool found = false;
        for (int f = 0; f < m->nfamilies && !found; f++) {
            const char *name = m->variables[m->families[f].variable].name;
            found =
                observed[f] && strlen(name) == n && strncmp(name, at, n) == 0;
        }
        if (!found)
            return rt_fail(rt, GBM_USER_ERROR,
                           "--temper: there are no data of %.*s", (int)n, at);
    }
    return GBM_OK;
}

enum gbm_status rt_fit_powers(struct rt *rt, const struct rt_instance *in,
                              char *list, size_t capacity, bool *fits)
{
    const struct gbm_model *m = in->model;
    const char *temper = rt->options.temper;
    void *state = calloc(1, m->state_size + 1);
    bool *observed = calloc((size_t)m->nfamilies + 1, sizeof *observed);
    enum gbm_status s =
        state && observed ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
    *fits = true;
    list[0] = '\0';
    if (s == GBM_OK)
        rt_bind(in, state, 0);
    for (int f = 0; s == GBM_OK && f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        const char *name = m->variables[fam->variable].name;
        const struct rt_observed count = rt_is_likelihood(fam)
                                             ? rt_count_observed(in, f, state)
                                             : (struct rt_observed){0};
        observed[f] = count.partly > 0 || count.whole > 0;
        bool wanted = observed[f] && (!temper || rt_is_listed(temper, name));
        if (wanted && count.partly > 0)
            s = rt_fail(rt, GBM_USER_ERROR,
                        "%s: not supported yet: a power of a vector's density "
                        "of which some components are data and some not\n"
                        "    %s",
                        fam->where, fam->text);
        if (wanted && fam->settle)
            s = rt_fail(rt, GBM_USER_ERROR,
                        "%s: not supported yet: powers of an observed sum\n"
                        "    %s",
                        fam->where, fam->text);
        if (observed[f])
            *fits = *fits && wanted == fam->raised;
        size_t n = strlen(list);
        if (wanted && !rt_is_listed(list, name) && n + 1 < capacity)
            snprintf(list + n, capacity - n, "%s%s", n ? "," : "", name);
    }
    if (s == GBM_OK)
        s = check_list(rt, in, observed);
    if (s == GBM_OK && !list[0])
        s = rt_fail(rt, GBM_USER_ERROR, "there are no data to be tempered");
    free(observed);
    free(state);
    return s;
}
