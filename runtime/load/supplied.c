/* supplied.c: data for variables that the model defines: elements are either
 * computed or supplied. */
#include "load/loader.h"

#include <stdlib.h>

static bool has_value(const struct gbm_array *a, int64_t cell)
{
    return !a->missing || !a->missing[cell];
}

bool loader_all_missing(const struct gbm_array *a)
{
    for (int64_t i = 0; i < a->length; i++)
        if (has_value(a, i))
            return false;
    return true;
}

/* Marks the cells of v that its statements make random, or those of the part
 * that holds its random elements. */
static void mark_random(struct loader *l, int v, unsigned char *random)
{
    const struct gbm_model *m = l->model;
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        const struct gbm_variable *of = &m->variables[fam->variable];
        if (!fam->stochastic || fam->data_block ||
            (fam->variable != v && !(of->part && of->whole == v)))
            continue;
        for (int64_t e = 0; e < loader_count(l, f); e++) {
            int64_t n = rt_element_cells(fam, l->state, e, &l->buffer);
            for (int64_t i = 0; i < n; i++)
                random[l->buffer.cells[i]] = 1;
        }
    }
}

static enum gbm_status fail_computed(struct loader *l, int v, int f,
                                     int64_t cell, const struct gbm_array *a)
{
    const struct gbm_family *fam = &l->model->families[f];
    char name[256];
    rt_cell_name(l->in, v, cell, name, sizeof name);
    return rt_fail(l->rt, GBM_USER_ERROR,
                   "%s: %s is computed here, but %s supplies it; NA there "
                   "leaves it to the model; if the model draws it, gbmc must "
                   "know these data: --data=%s\n    %s",
                   fam->where, name, a->source, a->source, fam->text);
}

enum gbm_status loader_check_computed(struct loader *l, int v,
                                      const struct gbm_array *a)
{
    const struct gbm_model *m = l->model;
    const int64_t cells = l->in->slots[v].cells;
    unsigned char *random = calloc((size_t)cells + 1, 1);
    if (!random)
        return rt_fail(l->rt, GBM_FAILURE, "no memory");
    mark_random(l, v, random);
    enum gbm_status s = GBM_OK;
    for (int f = 0; f < m->nfamilies && s == GBM_OK; f++) {
        const struct gbm_family *fam = &m->families[f];
        if (fam->variable != v || (fam->stochastic && !fam->data_block))
            continue;
        for (int64_t e = 0; e < loader_count(l, f) && s == GBM_OK; e++) {
            int64_t n = rt_element_cells(fam, l->state, e, &l->buffer);
            for (int64_t i = 0; i < n && s == GBM_OK; i++) {
                int64_t cell = l->buffer.cells[i];
                if (has_value(a, cell) && (fam->data_block || !random[cell]))
                    s = fail_computed(l, v, f, cell, a);
            }
        }
    }
    free(random);
    return s;
}

/* A node without a sampler must be observed throughout. */
static enum gbm_status check_supplied(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct rt_slot *slot = &l->in->slots[v];
    for (int64_t i = 0; i < slot->cells; i++) {
        if ((slot->defined && !slot->defined[i]) || rt_seen(slot, i))
            continue;
        char name[256];
        rt_cell_name(l->in, v, i, name, sizeof name);
        return rt_fail(l->rt, GBM_USER_ERROR,
                       "%s must be supplied: other nodes depend on %s (%s), "
                       "and there is no sampler yet for such a node",
                       name, variable->name, variable->where);
    }
    return GBM_OK;
}

/* Marks the cells that a stochastic or derived statement defines. */
static enum gbm_status mark_defined(struct loader *l, int v)
{
    struct rt_slot *slot = &l->in->slots[v];
    int64_t n = slot->cells, marked = 0;
    unsigned char *defined = calloc((size_t)(n ? n : 1), 1);
    if (!defined)
        return rt_fail(l->rt, GBM_FAILURE, "no memory");
    for (int f = 0; f < l->model->nfamilies; f++) {
        const struct gbm_family *fam = &l->model->families[f];
        if (fam->variable != v)
            continue;
        for (int64_t e = 0; e < l->in->elements[f]; e++) {
            int64_t k = rt_element_cells(fam, l->state, e, &l->buffer);
            for (int64_t i = 0; i < k; i++)
                defined[l->buffer.cells[i]] = 1;
        }
    }
    for (int64_t i = 0; i < n; i++)
        marked += defined[i];
    if (marked == n)
        free(defined);
    else
        slot->defined = defined;
    return GBM_OK;
}

/* The same element of the arrays that an affine one is made of. */
static void fill_affine(struct loader *l, int v, int64_t cell, double value)
{
    for (int w = 0; w < l->model->nvariables; w++) {
        const struct gbm_variable *of = &l->model->variables[w];
        if ((!of->rest && !of->slope) || of->whole != v)
            continue;
        for (int c = 0; of->rest && c < l->in->nchains; c++)
            rt_set_value(&l->in->slots[w], false, c, cell, value);
        if (l->in->slots[w].defined)
            l->in->slots[w].defined[cell] = 1;
    }
}

/* A definition stands in the place of whatever reads the array, and was taken
 * to define all of it. */
static enum gbm_status fail_unexpected(struct loader *l, int v, int64_t cell,
                                       const struct gbm_array *a)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    char name[256];
    rt_cell_name(l->in, v, cell, name, sizeof name);
    return rt_fail(l->rt, GBM_USER_ERROR,
                   "%s: %s supplies %s, though %s is computed; where it is so "
                   "in part, the model must be compiled for these data (gbmc "
                   "--data)",
                   variable->where, a->source, name, variable->name);
}

enum gbm_status loader_take_supplied(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    struct rt_slot *slot = &l->in->slots[v];
    const bool derived = variable->role == GBM_DERIVED;
    if (!a || variable->role == GBM_STOCHASTIC || variable->hidden ||
        !slot->defined || loader_all_missing(a))
        return GBM_OK;
    if (derived && !(slot->seen = calloc((size_t)slot->cells + 1, 1)))
        return rt_fail(l->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < slot->cells; i++) {
        if (slot->defined[i] || !has_value(a, i))
            continue;
        if (derived && !variable->maintained && !variable->filled)
            return fail_unexpected(l, v, i, a);
        if (derived)
            slot->seen[i] = RT_SEEN;
        slot->defined[i] = 1;
        for (int c = 0; derived && c < l->in->nchains; c++)
            rt_set_value(slot, false, c, i, a->values[i]);
        fill_affine(l, v, i, a->values[i]);
    }
    return GBM_OK;
}

enum gbm_status loader_settle_definitions(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    const bool constant = variable->role == GBM_CONSTANT;
    const bool computed = variable->role == GBM_STOCHASTIC ||
                          variable->role == GBM_DERIVED ||
                          variable->role == GBM_AUXILIARY;
    enum gbm_status s = rt_check_twice(l->rt, l->in, l->state, v);
    if (s == GBM_OK && computed && a && !variable->hidden)
        s = loader_check_computed(l, v, a);
    if (s == GBM_OK && a && l->notes && variable->role == GBM_STOCHASTIC)
        rt_note_beyond(l->in, l->state, v, a->source, l->notes);
    if (s != GBM_OK || !(constant || (computed && l->in->slots[v].per_chain)))
        return s;
    s = mark_defined(l, v);
    if (s == GBM_OK && !constant && variable->needed && !l->redraw)
        s = check_supplied(l, v);
    return s;
}
