/* observed.c: variables with a distribution: their extents, which of their
 * cells are observed, and the values of these. */
#include "load/loader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if a data block defines the variable; its cells are then observed. */
static bool from_data_block(const struct gbm_model *m, int v)
{
    for (int f = 0; f < m->nfamilies; f++)
        if (m->families[f].variable == v && m->families[f].data_block)
            return true;
    return false;
}

static enum gbm_status mark_data_block(struct loader *l, int v)
{
    struct rt_slot *slot = &l->in->slots[v];
    loader_rebind(l);
    enum gbm_status s = loader_compute(l, v);
    for (int f = 0; s == GBM_OK && f < l->model->nfamilies; f++) {
        const struct gbm_family *fam = &l->model->families[f];
        if (fam->variable != v || !fam->data_block)
            continue;
        for (int64_t e = 0; e < l->in->elements[f]; e++) {
            int64_t n = rt_element_cells(fam, l->state, e, &l->buffer);
            for (int64_t i = 0; i < n; i++)
                slot->seen[l->buffer.cells[i]] = 1;
        }
    }
    return s;
}

static enum gbm_status empty_loops(struct loader *l, int v,
                                   const struct gbm_array *a)
{
    char text[512] = "";
    size_t at = 0;
    for (int i = 0; i < l->model->nvariables && at < sizeof text; i++) {
        const struct gbm_variable *g = &l->model->variables[i];
        const struct rt_slot *slot = &l->in->slots[i];
        if (g->role != GBM_GIVEN || g->ndim != 0 || !slot->settled)
            continue;
        double x = rt_value(slot, g->integer, 0, 0);
        if (x <= 0)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s = %g",
                                   at ? ", " : " (", g->name, x);
    }
    if (at && at < sizeof text - 1)
        memcpy(text + at, ")", 2);
    return rt_fail(l->rt, GBM_USER_ERROR,
                   "%s has %lld values in %s, but the loops of its statement "
                   "(%s) are empty%s",
                   l->model->variables[v].name, (long long)a->length, a->source,
                   l->model->variables[v].where, text);
}

enum gbm_status loader_settle_stochastic(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    bool block = from_data_block(l->model, v);
    free(slot->values); /* of bind_observed */
    *slot = (struct rt_slot){0};
    enum gbm_status s = loader_settle_extents(l, v, a);
    if (s != GBM_OK)
        return s;
    int64_t elements = 0, seen = 0;
    for (int f = 0; f < l->model->nfamilies; f++)
        if (l->model->families[f].variable == v)
            elements += l->in->elements[f];
    if (a && a->length > 0 && elements == 0)
        return empty_loops(l, v, a);
    int64_t cells = loader_product(variable->ndim, slot->dim);
    for (int64_t i = 0; a && i < cells; i++)
        seen += !(a->missing && a->missing[i]);
    if (variable->observed && !a && !block && l->notes && cells > 0)
        loader_note_drawn(l, variable->name);
    bool shared = seen == cells && cells > 0 && !l->redraw && !block;
    s = loader_allocate(l, v, !shared);
    if (s != GBM_OK || shared)
        return s == GBM_OK ? loader_copy(l, v, a) : s;
    if (seen == 0 && !block)
        return GBM_OK;
    slot->seen = calloc((size_t)(cells ? cells : 1), 1);
    if (!slot->seen)
        return rt_fail(l->rt, GBM_FAILURE, "no memory for %s", variable->name);
    for (int64_t i = 0; a && i < cells; i++)
        slot->seen[i] = !(a->missing && a->missing[i]);
    if (a && (s = loader_copy(l, v, a)) != GBM_OK)
        return s;
    if (!block)
        return GBM_OK;
    s = mark_data_block(l, v);
    size_t bytes =
        (size_t)cells * (variable->integer ? sizeof(int) : sizeof(double));
    for (int c = 1; c < l->in->nchains; c++)
        memcpy((char *)slot->values + (size_t)c * bytes, slot->values, bytes);
    return s;
}

enum gbm_status loader_bind_observed(struct loader *l)
{
    enum gbm_status s = GBM_OK;
    for (int v = 0; v < l->model->nvariables && s == GBM_OK; v++) {
        const struct gbm_variable *variable = &l->model->variables[v];
        const struct gbm_array *a = gbm_data_find(l->data, variable->name);
        if (!a || variable->role != GBM_STOCHASTIC)
            continue;
        if (!loader_dims(a, variable->ndim, l->in->slots[v].dim))
            return loader_fail_shape(l, variable, a);
        s = loader_allocate(l, v, false);
        for (int64_t i = 0;
             s == GBM_OK && a->missing && !variable->integer && i < a->length;
             i++)
            if (a->missing[i])
                rt_set_value(&l->in->slots[v], false, 0, i, (double)NAN);
        if (s == GBM_OK)
            s = loader_copy(l, v, a);
    }
    return s;
}
