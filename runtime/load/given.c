/* given.c: variables that data give, and what to say of those that they do not.
 */
#include "base/base.h"
#include "load/loader.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum gbm_status loader_copy(struct loader *l, int v, const struct gbm_array *a)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    int copies = slot->per_chain ? l->in->nchains : 1;
    for (int64_t i = 0; i < slot->cells; i++) {
        char name[256];
        if (a->missing && a->missing[i]) {
            if (variable->integer && variable->role == GBM_GIVEN)
                rt_set_value(slot, true, 0, i, INT_MIN);
            continue;
        }
        double x = a->values[i];
        const bool whole = x == floor(x);
        bool integral = whole && x >= INT_MIN && x <= INT_MAX;
        if (!isfinite(x) || (variable->integer && !integral)) {
            rt_cell_name(l->in, v, i, name, sizeof name);
            return rt_fail(l->rt, GBM_USER_ERROR, "%s = %.17g in %s must be %s",
                           name, x, a->source,
                           !variable->integer ? "finite"
                           : whole && isfinite(x)
                               ? "an integer of at most 2147483647"
                               : "an integer");
        }
        for (int c = 0; c < copies; c++)
            rt_set_value(slot, variable->integer, c, i, x);
    }
    return GBM_OK;
}

/* Cells of a given array may be missing if nothing uses them (ragged arrays): a
 * NaN, or an INT_MIN that no subscript or parameter can be, tells on use. */
static enum gbm_status find_missing(struct loader *l, int v,
                                    const struct gbm_array *a)
{
    struct rt_slot *slot = &l->in->slots[v];
    for (int64_t i = 0; a->missing && i < a->length; i++) {
        char name[256];
        if (!a->missing[i])
            continue;
        rt_cell_name(l->in, v, i, name, sizeof name);
        if (a->length == 1)
            return rt_fail(l->rt, GBM_USER_ERROR,
                           "%s is missing in %s: only variables with a "
                           "distribution may have missing values",
                           name, a->source);
        if (l->notes)
            fprintf(l->notes,
                    "note: %s is missing in %s: it must not be used\n", name,
                    a->source);
        slot->missing = i + 1;
        return GBM_OK;
    }
    return GBM_OK;
}

/* What the model defines, then what the data have for nothing. */
static const char *known_name(const void *context, int i)
{
    const struct loader *l = context;
    const struct gbm_model *m = l->model;
    if (i < m->nvariables) {
        const struct gbm_variable *v = &m->variables[i];
        bool plain = v->role <= GBM_DERIVED && !v->hidden && !v->part;
        return plain && v->role != GBM_GIVEN ? v->name : NULL;
    }
    const char *name = l->data->arrays[i - m->nvariables].name;
    for (int v = 0; v < m->nvariables; v++)
        if (!strcmp(m->variables[v].name, name))
            return NULL;
    return name;
}

static const char *unused_name(const void *context, int i)
{
    const struct loader *l = context;
    return known_name(l, l->model->nvariables + i);
}

/* Which of n names was probably meant, or NULL. */
static const char *near_name(const struct loader *l, const char *name, int n,
                             const char *(*name_of)(const void *context, int i))
{
    for (int i = 0; i < n; i++) {
        const char *other = name_of(l, i);
        if (other && strcmp(other, name) == 0) /* what is read and drawn */
            return NULL;
        if (other && strcasecmp(other, name) == 0)
            return other;
    }
    /* all short names are near */
    return strlen(name) > 2 ? rt_nearest(name, n, name_of, l) : NULL;
}

static enum gbm_status fail_missing(struct loader *l,
                                    const struct gbm_variable *variable)
{
    const char *near = near_name(
        l, variable->name, l->model->nvariables + l->data->narrays, known_name);
    return rt_fail(l->rt, GBM_USER_ERROR,
                   "%s must be supplied: it is used at %s, but no data file "
                   "has it%s%s%s",
                   variable->name, variable->where,
                   near                ? "; is it "
                   : variable->integer ? ""
                                       : "; a parameter needs a prior",
                   near ? near : "", near ? "?" : "");
}

void loader_note_drawn(const struct loader *l, const char *name)
{
    const char *near = near_name(l, name, l->data->narrays, unused_name);
    fprintf(l->notes, "note: no data for %s: it is drawn%s%s%s\n", name,
            near ? "; is it " : "", near ? near : "", near ? "?" : "");
}

enum gbm_status loader_settle_given(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    for (int i = 0; variable->names && variable->names[i]; i++) {
        struct gbm_variable one = *variable;
        one.name = variable->names[i];
        if (!a || a->missing[i])
            return fail_missing(l, &one);
    }
    if (!a) {
        if (variable->needed)
            return fail_missing(l, variable);
        return loader_allocate(l, v, false);
    }
    if (!loader_dims(a, variable->ndim, slot->dim))
        return loader_fail_shape(l, variable, a);
    enum gbm_status s = loader_check_declared(l, v, a);
    if (s == GBM_OK)
        s = find_missing(l, v, a);
    if (s != GBM_OK)
        return s;
    if (!variable->integer && l->redraw && variable->follows) {
        s = loader_allocate(l, v, false);
        if (s == GBM_OK)
            memcpy(slot->values, a->values,
                   (size_t)slot->cells * sizeof(double));
        return s;
    }
    if (!variable->integer) { /* borrow the data's memory: it may be large */
        slot->cells = loader_product(variable->ndim, slot->dim);
        slot->values = a->values;
        slot->borrowed = true;
        return GBM_OK;
    }
    s = loader_allocate(l, v, false);
    return s == GBM_OK ? loader_copy(l, v, a) : s;
}

enum gbm_status loader_settle_part(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    struct rt_slot *slot = &l->in->slots[v];
    memcpy(slot->dim, l->in->slots[variable->whole].dim, sizeof slot->dim);
    enum gbm_status s = loader_allocate(l, v, false);
    for (int64_t i = 0; s == GBM_OK && i < slot->cells; i++)
        rt_set_value(slot, false, 0, i, (double)NAN);
    return s == GBM_OK && a ? loader_copy(l, v, a) : s;
}
