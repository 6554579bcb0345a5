/* computed.c: constants and data blocks are computed as soon as all that they
 * read is there. */
#include "load/loader.h"
#include "gbm.h"

static enum gbm_status fail_check(struct loader *l, int f,
                                  const struct gbm_problem *problem)
{
    const char *where = l->model->families[f].where; /* "": made by gbmc */
    return rt_fail(l->rt, GBM_USER_ERROR, "%s%s%s", where, *where ? ": " : "",
                   problem->text);
}

static enum gbm_status compute_element(struct loader *l, int f, int64_t e)
{
    const struct gbm_family *fam = &l->model->families[f];
    struct gbm_problem problem = {""};
    if (fam->check && !fam->check(l->state, e, &problem))
        return fail_check(l, f, &problem);
    if (!fam->stochastic) {
        fam->derive(l->state, e);
        return GBM_OK;
    }
    struct gbm_rng rng;
    gbm_rng_start(&rng, l->rt->options.seed, UINT32_MAX, UINT32_MAX,
                  (uint32_t)f, (uint32_t)e);
    fam->simulate(l->state, &rng, e);
    return GBM_OK;
}

enum gbm_status loader_compute(struct loader *l, int v)
{
    /* beside random elements others may be computed from what is random */
    const bool random = l->model->variables[v].role == GBM_STOCHASTIC;
    for (int f = 0; f < l->model->nfamilies; f++) {
        const struct gbm_family *fam = &l->model->families[f];
        bool first;
        if (fam->variable != v ||
            ((fam->stochastic || random) && !fam->data_block) ||
            rt_sequence_of(l->model, GBM_SEQUENCE_LOAD, f, &first) >= 0)
            continue;
        int64_t n = loader_count(l, f);
        for (int64_t e = 0; e < n; e++) {
            enum gbm_status s = compute_element(l, f, e);
            if (s != GBM_OK)
                return s;
        }
    }
    return GBM_OK;
}

/* Constants that feed each other: computed when the last of their arrays has
 * its extents. */
static enum gbm_status compute_sequences(struct loader *l, int v)
{
    for (int k = 0; k < l->model->nsequences; k++) {
        const struct gbm_sequence *q = &l->model->sequences[k];
        bool member = false, ready = q->kind == GBM_SEQUENCE_LOAD;
        for (int r = 0; r < q->nreaders; r++) {
            int w = l->model->families[q->readers[r].family].variable;
            member = member || w == v;
            ready = ready && (w == v || l->in->slots[w].settled);
        }
        if (!member || !ready)
            continue;
        struct rt_order *order = &l->in->orders[k];
        enum gbm_status s = rt_sequence(l->rt, l->in, l->state, k, order);
        for (int64_t i = 0; s == GBM_OK && i < order->count; i++)
            s = compute_element(l, q->readers[order->pairs[2 * i]].family,
                                order->pairs[2 * i + 1]);
        if (s != GBM_OK)
            return s;
    }
    return GBM_OK;
}

enum gbm_status loader_settle_constant(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    enum gbm_status s = loader_settle_extents(l, v, a);
    if (s == GBM_OK)
        s = loader_allocate(l, v, false);
    if (s != GBM_OK)
        return s;
    loader_rebind(l);
    if (a && !loader_all_missing(a)) {
        s = loader_check_computed(l, v, a);
        if (s == GBM_OK)
            s = loader_copy(l, v, a);
        if (s != GBM_OK)
            return s;
    }
    s = loader_compute(l, v);
    return s == GBM_OK ? compute_sequences(l, v) : s;
}
