/* load.c: the model meets its data. Variables are settled in the model's load
 * order, each by its role; then what needs all of them, and the steps' element
 * lists (plan.c). */
#include "load/loader.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static enum gbm_status settle_derived(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_variable *as = variable;
    if (variable->rest || variable->slope)
        as = &l->model->variables[variable->whole];
    bool supplied = variable->role == GBM_DERIVED && !as->hidden;
    enum gbm_status s = loader_settle_extents(
        l, v, supplied ? gbm_data_find(l->data, as->name) : NULL);
    return s == GBM_OK ? loader_allocate(l, v, true) : s;
}

static enum gbm_status settle_table(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_family *fam = &l->model->families[variable->family];
    struct rt_slot *slot = &l->in->slots[v];
    int declared[GBM_MAX_DIMS];
    loader_declare_extents(l, fam->variable, declared);
    int64_t n = loader_count(l, variable->family);
    if (n > INT_MAX)
        return rt_fail(l->rt, GBM_USER_ERROR, "%s has too many elements",
                       fam->text);
    slot->dim[0] = (int)n;
    slot->dim[1] = fam->nloops;
    slot->cells = n * fam->nloops;
    slot->values = calloc((size_t)(slot->cells ? slot->cells : 1), sizeof(int));
    if (!slot->values)
        return rt_fail(l->rt, GBM_FAILURE, "no memory for the loops of %s",
                       fam->text);
    fam->enumerate(l->state, slot->values);
    return GBM_OK;
}

/* A program with turns that is asked for none has all data in. */
static double first_power(const struct loader *l)
{
    const struct rt_options *o = &l->rt->options;
    double power =
        l->model->sequence && !o->sequence ? RT_ALL_ENTERED : o->power;
    return fmax(power, RT_LEAST_POWER);
}

static enum gbm_status settle_tuning(struct loader *l, int v)
{
    struct rt_slot *slot = &l->in->slots[v];
    const struct gbm_variable *variable = &l->model->variables[v];
    const bool none = variable->few && l->in->nchains >= RT_MANY_CHAINS;
    int64_t n = variable->role == GBM_POWER ? 1
                : none                      ? 0
                : variable->cells           ? variable->cells(l->state)
                                            : loader_count(l, variable->family);
    if (n > INT32_MAX)
        return rt_fail(l->rt, GBM_USER_ERROR,
                       "%s: too many elements for one joint proposal: its "
                       "covariance has %lld cells",
                       variable->name, (long long)n);
    slot->dim[0] = (int)n;
    slot->per_chain = true;
    slot->cells = n;
    size_t total = (size_t)n * (size_t)l->in->nchains;
    double *values = malloc((total ? total : 1) * sizeof *values);
    slot->values = values;
    if (!values)
        return rt_fail(l->rt, GBM_FAILURE, "no memory");
    for (size_t i = 0; i < total; i++)
        values[i] = variable->role == GBM_POWER      ? first_power(l)
                    : variable->role == GBM_RECALLED ? 0
                                                     : 1;
    return GBM_OK;
}

static enum gbm_status settle_inverse(struct loader *l, int v)
{
    struct rt_slot *slot = &l->in->slots[v];
    for (int k = 0; k < l->model->ninverses; k++) {
        const struct gbm_inverse *inv = &l->model->inverses[k];
        if (inv->start != v && inv->item != v)
            continue;
        if (inv->ways)
            return GBM_OK; /* rt_reach fills it */
        int64_t n = inv->start == v ? l->in->slots[inv->variable].cells + 1
                                    : loader_count(l, inv->family);
        slot->dim[0] = (int)n;
        slot->cells = n;
        slot->per_chain = inv->latent;
        size_t total = (size_t)n * (inv->latent ? (size_t)l->in->nchains : 1);
        slot->values = calloc(total ? total : 1, sizeof(int));
        if (!slot->values)
            return rt_fail(l->rt, GBM_FAILURE, "no memory for an index of %s",
                           l->model->variables[inv->variable].name);
        return GBM_OK;
    }
    return GBM_OK;
}

static enum gbm_status settle(struct loader *l, int v)
{
    enum gbm_status s = GBM_OK;
    switch (l->model->variables[v].role) {
    case GBM_GIVEN:
        s = l->model->variables[v].part ? loader_settle_part(l, v)
                                        : loader_settle_given(l, v);
        break;
    case GBM_CONSTANT:
        s = loader_settle_constant(l, v);
        break;
    case GBM_STOCHASTIC:
        s = loader_settle_stochastic(l, v);
        break;
    case GBM_DERIVED:
    case GBM_AUXILIARY:
        s = settle_derived(l, v);
        break;
    case GBM_TUNING:
    case GBM_RECALLED:
    case GBM_POWER:
        s = settle_tuning(l, v);
        break;
    case GBM_TABLE:
        s = settle_table(l, v);
        break;
    case GBM_INVERSE:
        s = settle_inverse(l, v);
        break;
    case GBM_JOINT: /* joint.c fills it when all else is settled */
    case GBM_ORDER: /* when all families are known: settle_orders */
        break;
    }
    l->in->slots[v].settled = true;
    if (s == GBM_OK)
        loader_rebind(l);
    return s;
}

static void note_unused(struct loader *l)
{
    for (int i = 0; l->notes && i < l->data->narrays; i++) {
        const char *name = l->data->arrays[i].name;
        if (rt_variable_called(l->model, name) < 0)
            fprintf(l->notes, "note: the model does not use %s (%s)\n", name,
                    l->data->arrays[i].source);
    }
}

static enum gbm_status settle_orders(struct loader *l)
{
    for (int k = 0; k < l->model->nsequences; k++) {
        const struct gbm_sequence *q = &l->model->sequences[k];
        struct rt_order *order = &l->in->orders[k];
        if (order->pairs)
            continue;
        enum gbm_status s = rt_sequence(l->rt, l->in, l->state, k, order);
        if (s != GBM_OK)
            return s;
        if (q->slot < 0)
            continue;
        struct rt_slot *slot = &l->in->slots[q->slot];
        slot->dim[0] = (int)order->count;
        slot->dim[1] = 2;
        slot->cells = 2 * order->count;
        slot->values = order->pairs;
        order->pairs = NULL; /* the slot's now */
    }
    loader_rebind(l);
    return GBM_OK;
}

/* What no sampler could draw is refused; what nothing observed depends on is
 * found. */
static enum gbm_status look_at_latent(struct loader *l)
{
    enum gbm_status s = rt_check_sums(l->rt, l->in, l->state);
    if (s == GBM_OK)
        s = rt_check_undefined(l->rt, l->in, l->state);
    if (s == GBM_OK)
        s = rt_find_barren(l->rt, l->in, l->state, l->notes);
    if (s == GBM_OK && !l->redraw)
        s = rt_check_described(l->rt, l->in, l->state);
    return s;
}

static enum gbm_status load(struct loader *l)
{
    const struct gbm_model *m = l->model;
    enum gbm_status bound = loader_bind_observed(l);
    if (bound != GBM_OK)
        return bound;
    loader_rebind(l);
    for (int k = 0; k < m->nvariables; k++) {
        enum gbm_status s = settle(l, m->load_order[k]);
        if (s != GBM_OK)
            return s;
    }
    for (int f = 0; f < m->nfamilies; f++)
        if (loader_count(l, f) > INT_MAX)
            return rt_fail(l->rt, GBM_USER_ERROR, "%s: too many elements",
                           m->families[f].where);
    enum gbm_status ordered = settle_orders(l);
    if (ordered != GBM_OK)
        return ordered;
    for (int v = 0; v < m->nvariables; v++) {
        enum gbm_status s = loader_settle_definitions(l, v);
        if (s != GBM_OK)
            return s;
    }
    for (int v = 0; v < m->nvariables; v++) {
        enum gbm_status s = loader_take_supplied(l, v);
        if (s != GBM_OK)
            return s;
    }
    enum gbm_status sound = look_at_latent(l);
    if (sound != GBM_OK)
        return sound;
    loader_rebind(l);
    for (int k = 0; k < m->ninverses; k++) {
        if (m->inverses[k].ways) {
            enum gbm_status s = rt_reach(l->rt, l->in, l->state, k);
            if (s != GBM_OK)
                return s;
        } else if (!m->inverses[k].latent) {
            rt_index(l->in, l->state, k, 0);
        }
    }
    loader_rebind(l);
    note_unused(l);
    for (int k = 0; k < m->nsteps; k++) {
        if (!m->steps[k].joint)
            continue;
        enum gbm_status s =
            rt_joint(l->rt, l->in, &m->steps[k], l->state, l->redraw);
        if (s != GBM_OK)
            return s;
        loader_rebind(l);
    }
    return rt_plan(l->rt, l->in);
}

enum gbm_status rt_load(struct rt *rt, const struct gbm_data *data, bool redraw,
                        struct rt_instance *in, FILE *notes)
{
    const struct gbm_model *m = rt->model;
    size_t nv = (size_t)m->nvariables + 1, nf = (size_t)m->nfamilies + 1;
    *in = (struct rt_instance){.model = m, .nchains = rt->options.chains};
    in->slots = calloc(nv, sizeof *in->slots);
    in->elements = malloc(nf * sizeof *in->elements);
    in->steps = calloc((size_t)m->nsteps + 1, sizeof *in->steps);
    in->orders = calloc((size_t)m->nsequences + 1, sizeof *in->orders);
    struct loader l = {.rt = rt,
                       .model = m,
                       .data = data,
                       .in = in,
                       .bindings = calloc(nv, sizeof *l.bindings),
                       .state = calloc(1, m->state_size + 1),
                       .redraw = redraw,
                       .notes = notes};
    enum gbm_status s;
    if (!in->slots || !in->elements || !in->steps || !in->orders ||
        !l.bindings || !l.state) {
        s = rt_fail(rt, GBM_FAILURE, "no memory");
    } else {
        for (int f = 0; f < m->nfamilies; f++)
            in->elements[f] = -1;
        s = load(&l);
    }
    free(l.bindings);
    free(l.state);
    free(l.buffer.cells);
    if (s != GBM_OK)
        rt_instance_free(in);
    return s;
}
