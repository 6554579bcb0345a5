/* extents.c: the extents of a variable, from its declaration, its statements
 * and the data, and the memory that it takes. */
#include "load/loader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void shape_text(int ndim, const int *dim, char *out, size_t capacity)
{
    if (ndim == 0) {
        snprintf(out, capacity, "a single number");
        return;
    }
    size_t at = (size_t)snprintf(out, capacity, "%s",
                                 ndim == 1 ? "a vector of " : "an array ");
    for (int d = 0; d < ndim && at < capacity; d++)
        at += (size_t)snprintf(out + at, capacity - at, "%s%d", d ? " x " : "",
                               dim[d]);
}

int64_t loader_product(int ndim, const int *dim)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= dim[d];
    return n;
}

/* [] for an array of no rows: it tells nothing of the other extents, which
 * count as 1, so that a row that is read is seen to be none. */
static bool is_empty(const struct gbm_array *a, int ndim)
{
    return a->length == 0 && a->ndim == 1 && ndim > 1;
}

/* ... and those that are declared leave room for no cell. */
static bool is_empty_as(const struct gbm_array *a, int ndim,
                        const int *declared)
{
    return is_empty(a, ndim) && loader_product(ndim, declared) == 0;
}

bool loader_dims(const struct gbm_array *a, int ndim, int *dim)
{
    if (is_empty(a, ndim)) {
        for (int d = 0; d < ndim; d++)
            dim[d] = d > 0;
        return true;
    }
    if (a->ndim == ndim) {
        memcpy(dim, a->dim, sizeof(int) * GBM_MAX_DIMS);
        return true;
    }
    if (a->length == 1 && a->ndim + ndim == 1) {
        dim[0] = 1;
        return true;
    }
    return false;
}

enum gbm_status loader_fail_shape(struct loader *l,
                                  const struct gbm_variable *v,
                                  const struct gbm_array *a)
{
    char found[128];
    shape_text(a->ndim, a->dim, found, sizeof found);
    if (v->ndim == 0)
        return rt_fail(l->rt, GBM_USER_ERROR,
                       "%s is a single number in the model (%s), but %s has "
                       "%s; if it is an array, write %s[%s], or name the data "
                       "when the model is compiled",
                       v->name, v->where, a->source, found, v->name,
                       a->ndim == 2 ? "," : "");
    return rt_fail(l->rt, GBM_USER_ERROR,
                   "%s has %d dimension%s in the model (%s), but %s has %s",
                   v->name, v->ndim, v->ndim == 1 ? "" : "s", v->where,
                   a->source, found);
}

enum gbm_status loader_allocate(struct loader *l, int v, bool per_chain)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    slot->per_chain = per_chain;
    slot->cells = loader_product(variable->ndim, slot->dim);
    if (slot->cells < 0)
        return rt_fail(l->rt, GBM_USER_ERROR, "%s has a negative extent",
                       variable->name);
    size_t size = variable->integer ? sizeof(int) : sizeof(double);
    size_t n = (size_t)slot->cells * (per_chain ? (size_t)l->in->nchains : 1);
    slot->values = calloc(n ? n : 1, size);
    if (!slot->values)
        return rt_fail(l->rt, GBM_FAILURE,
                       "no memory for %s: %.3g cells of %zu bytes",
                       variable->name, (double)n, size);
    return GBM_OK;
}

void loader_rebind(struct loader *l)
{
    rt_bind_with(l->in, l->bindings, l->state);
}

int64_t loader_count(struct loader *l, int f)
{
    if (l->in->elements[f] < 0) {
        int64_t n = l->model->families[f].enumerate(l->state, NULL);
        l->in->elements[f] = n > 0 ? n : 0;
    }
    return l->in->elements[f];
}

void loader_declare_extents(struct loader *l, int v, int *declared)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    for (int d = 0; d < GBM_MAX_DIMS; d++)
        declared[d] = 0;
    if (!variable->declared || slot->settled)
        return;
    variable->declared(l->state, declared);
    for (int d = 0; d < variable->ndim; d++)
        if (declared[d])
            slot->dim[d] = declared[d];
    loader_rebind(l);
}

static enum gbm_status fail_below(struct loader *l,
                                  const struct gbm_variable *variable,
                                  const struct gbm_family *fam, int d, int at)
{
    if (at == INT_MIN)
        return rt_fail(l->rt, GBM_USER_ERROR,
                       "%s: subscript %d of %s is missing in the data: it "
                       "tells which element is defined",
                       fam->where, d + 1, variable->name);
    return rt_fail(l->rt, GBM_USER_ERROR,
                   "%s: subscript %d of %s is %d; subscripts begin at 1",
                   fam->where, d + 1, variable->name, at);
}

/* Largest subscripts that the variable's statements define. */
static enum gbm_status needed_extents(struct loader *l, int v, int *needed,
                                      int *family)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    for (int d = 0; d < variable->ndim; d++)
        needed[d] = 0;
    for (int f = 0; f < l->model->nfamilies; f++) {
        const struct gbm_family *fam = &l->model->families[f];
        if (fam->variable != v &&
            !(variable->part && fam->variable == variable->whole))
            continue;
        int64_t n = loader_count(l, f);
        if (variable->ndim == 0 || !fam->subscripts)
            continue;
        for (int64_t e = 0; e < n; e++) {
            int out[GBM_MAX_DIMS];
            fam->subscripts(l->state, e, out);
            for (int d = 0; d < variable->ndim; d++) {
                if (out[d] < 1)
                    return fail_below(l, variable, fam, d, out[d]);
                if (out[d] > needed[d]) {
                    needed[d] = out[d];
                    *family = f;
                }
            }
        }
    }
    return GBM_OK;
}

enum gbm_status loader_settle_extents(struct loader *l, int v,
                                      const struct gbm_array *a)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    int declared[GBM_MAX_DIMS] = {0}, needed[GBM_MAX_DIMS] = {0}, family = 0;
    loader_declare_extents(l, v, declared);
    int supplied[GBM_MAX_DIMS];
    if (a && !loader_dims(a, variable->ndim, supplied))
        return loader_fail_shape(l, variable, a);
    /* a whole array on the left whose extents nothing tells has one element */
    for (int d = 0; d < variable->ndim; d++)
        slot->dim[d] = declared[d] ? declared[d] : a ? supplied[d] : 1;
    loader_rebind(l);
    enum gbm_status s = needed_extents(l, v, needed, &family);
    if (s != GBM_OK)
        return s;
    for (int d = 0; d < variable->ndim; d++) {
        slot->dim[d] = declared[d] ? declared[d] : a ? supplied[d] : needed[d];
        if (a && supplied[d] != slot->dim[d] &&
            !is_empty_as(a, variable->ndim, declared))
            return rt_fail(l->rt, GBM_USER_ERROR,
                           "%s is declared with extent %d in dimension %d "
                           "(%s), but %s has %d",
                           variable->name, slot->dim[d], d + 1, variable->where,
                           a->source, supplied[d]);
        if (needed[d] > slot->dim[d])
            return rt_fail(
                l->rt, GBM_USER_ERROR,
                "%s has extent %d in dimension %d (%s), but %s (%s) goes up "
                "to %d",
                variable->name, slot->dim[d], d + 1,
                declared[d] ? variable->where : a->source,
                l->model->families[family].text,
                l->model->families[family].where, needed[d]);
    }
    return GBM_OK;
}

enum gbm_status loader_check_declared(struct loader *l, int v,
                                      const struct gbm_array *a)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    int declared[GBM_MAX_DIMS] = {0};
    if (!variable->declared)
        return GBM_OK;
    variable->declared(l->state, declared);
    if (is_empty_as(a, variable->ndim, declared))
        memcpy(slot->dim, declared, sizeof slot->dim);
    for (int d = 0; d < variable->ndim; d++) {
        char found[128], wanted[128];
        if (declared[d] == 0 || declared[d] == slot->dim[d])
            continue;
        for (int k = 0; k < variable->ndim; k++)
            if (declared[k] == 0)
                declared[k] = slot->dim[k];
        shape_text(variable->ndim, slot->dim, found, sizeof found);
        shape_text(variable->ndim, declared, wanted, sizeof wanted);
        return rt_fail(
            l->rt, GBM_USER_ERROR, "%s is declared as %s (%s), but %s has %s",
            variable->name, wanted, variable->where, a->source, found);
    }
    return GBM_OK;
}
