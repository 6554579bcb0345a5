/* load.c: the model meets its data. Extents are settled in the model's load
 * order, constants computed, observed cells marked, and the steps' element
 * lists made (plan.c). */
#include "base/base.h"
#include "load/load.h"
#include "gbm.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct loader {
    struct rt *rt;
    const struct gbm_model *model;
    const struct gbm_data *data;
    struct rt_instance *in;
    struct gbm_binding *bindings;
    void *state;
    struct rt_cells buffer;
    bool redraw;
    FILE *notes;
};

/* ---- shapes ---- */

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

static int64_t product(int ndim, const int *dim)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= dim[d];
    return n;
}

/* Does the array have the variable's number of dimensions? A vector of one and
 * a number stand for each other. */
static bool array_dims(const struct gbm_array *a, int ndim, int *dim)
{
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

static enum gbm_status fail_shape(struct loader *l,
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

static enum gbm_status allocate(struct loader *l, int v, bool per_chain)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    slot->per_chain = per_chain;
    slot->cells = product(variable->ndim, slot->dim);
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

static void rebind(struct loader *l)
{
    rt_bind_with(l->in, l->bindings, l->state);
}

static int64_t count_elements(struct loader *l, int f)
{
    if (l->in->elements[f] < 0) {
        int64_t n = l->model->families[f].enumerate(l->state, NULL);
        l->in->elements[f] = n > 0 ? n : 0;
    }
    return l->in->elements[f];
}

/* Copies an array's values to the slot; integers must be integral. */
static enum gbm_status copy_values(struct loader *l, int v,
                                   const struct gbm_array *a)
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
        bool integral = x == floor(x) && x >= INT_MIN && x <= INT_MAX;
        if (!isfinite(x) || (variable->integer && !integral)) {
            rt_cell_name(l->in, v, i, name, sizeof name);
            return rt_fail(l->rt, GBM_USER_ERROR, "%s = %.17g in %s must be %s",
                           name, x, a->source,
                           variable->integer ? "an integer" : "finite");
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

static enum gbm_status settle_given(struct loader *l, int v)
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
        return allocate(l, v, false);
    }
    if (!array_dims(a, variable->ndim, slot->dim))
        return fail_shape(l, variable, a);
    if (variable->declared) {
        int declared[GBM_MAX_DIMS] = {0};
        variable->declared(l->state, declared);
        for (int d = 0; d < variable->ndim; d++)
            if (declared[d] != 0 && declared[d] != slot->dim[d]) {
                char found[128], wanted[128];
                for (int k = 0; k < variable->ndim; k++)
                    if (declared[k] == 0)
                        declared[k] = slot->dim[k];
                shape_text(variable->ndim, slot->dim, found, sizeof found);
                shape_text(variable->ndim, declared, wanted, sizeof wanted);
                return rt_fail(l->rt, GBM_USER_ERROR,
                               "%s is declared as %s (%s), but %s has %s",
                               variable->name, wanted, variable->where,
                               a->source, found);
            }
    }
    enum gbm_status s = find_missing(l, v, a);
    if (s != GBM_OK)
        return s;
    if (!variable->integer && l->redraw && variable->follows) {
        s = allocate(l, v, false);
        if (s == GBM_OK)
            memcpy(slot->values, a->values,
                   (size_t)slot->cells * sizeof(double));
        return s;
    }
    if (!variable->integer) { /* borrow the data's memory: it may be large */
        slot->cells = product(variable->ndim, slot->dim);
        slot->values = a->values;
        slot->borrowed = true;
        return GBM_OK;
    }
    s = allocate(l, v, false);
    return s == GBM_OK ? copy_values(l, v, a) : s;
}

/* Binds declared extents at once: loops over a whole row, as of r[j,] <- ...,
 * run over them. */
static void declare_extents(struct loader *l, int v, int *declared)
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
    rebind(l);
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
        int64_t n = count_elements(l, f);
        if (variable->ndim == 0 || !fam->subscripts)
            continue;
        for (int64_t e = 0; e < n; e++) {
            int out[GBM_MAX_DIMS];
            fam->subscripts(l->state, e, out);
            for (int d = 0; d < variable->ndim; d++) {
                if (out[d] < 1)
                    return rt_fail(l->rt, GBM_USER_ERROR,
                                   "%s: subscript %d of %s is %d; subscripts "
                                   "begin at 1",
                                   fam->where, d + 1, variable->name, out[d]);
                if (out[d] > needed[d]) {
                    needed[d] = out[d];
                    *family = f;
                }
            }
        }
    }
    return GBM_OK;
}

/* Extents from the declaration, the statements and the data, if any. */
static enum gbm_status settle_extents(struct loader *l, int v,
                                      const struct gbm_array *a)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    int declared[GBM_MAX_DIMS] = {0}, needed[GBM_MAX_DIMS] = {0}, family = 0;
    declare_extents(l, v, declared);
    int supplied[GBM_MAX_DIMS];
    if (a && !array_dims(a, variable->ndim, supplied))
        return fail_shape(l, variable, a);
    /* a whole array on the left whose extents nothing tells has one element */
    for (int d = 0; d < variable->ndim; d++)
        slot->dim[d] = declared[d] ? declared[d] : a ? supplied[d] : 1;
    rebind(l);
    enum gbm_status s = needed_extents(l, v, needed, &family);
    if (s != GBM_OK)
        return s;
    for (int d = 0; d < variable->ndim; d++) {
        slot->dim[d] = declared[d] ? declared[d] : a ? supplied[d] : needed[d];
        if (a && supplied[d] != slot->dim[d])
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

/* Evaluates (or simulates) the families that are computed at load. */
static enum gbm_status compute_families(struct loader *l, int v)
{
    for (int f = 0; f < l->model->nfamilies; f++) {
        const struct gbm_family *fam = &l->model->families[f];
        bool first;
        if (fam->variable != v || (fam->stochastic && !fam->data_block) ||
            rt_sequence_of(l->model, GBM_SEQUENCE_LOAD, f, &first) >= 0)
            continue;
        int64_t n = count_elements(l, f);
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

static bool has_value(const struct gbm_array *a, int64_t cell)
{
    return !a->missing || !a->missing[cell];
}

/* Of an array without a value only the extents count, as in JAGS. */
static bool all_missing(const struct gbm_array *a)
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
        for (int64_t e = 0; e < count_elements(l, f); e++) {
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
                   "leaves it to the model\n    %s",
                   fam->where, name, a->source, fam->text);
}

/* An element is either computed or supplied. */
static enum gbm_status check_computed(struct loader *l, int v,
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
        for (int64_t e = 0; e < count_elements(l, f) && s == GBM_OK; e++) {
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

static enum gbm_status settle_constant(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    enum gbm_status s = settle_extents(l, v, a);
    if (s == GBM_OK)
        s = allocate(l, v, false);
    if (s != GBM_OK)
        return s;
    rebind(l);
    if (a && !all_missing(a)) {
        s = check_computed(l, v, a);
        if (s == GBM_OK)
            s = copy_values(l, v, a);
        if (s != GBM_OK)
            return s;
    }
    s = compute_families(l, v);
    return s == GBM_OK ? compute_sequences(l, v) : s;
}

static enum gbm_status settle_derived(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_variable *as = variable;
    if (variable->rest || variable->slope)
        as = &l->model->variables[variable->whole];
    bool supplied = variable->role == GBM_DERIVED && !as->hidden;
    enum gbm_status s = settle_extents(
        l, v, supplied ? gbm_data_find(l->data, as->name) : NULL);
    return s == GBM_OK ? allocate(l, v, true) : s;
}

/* The elements of an array that are data, beside computed ones, which have
 * their place in the slot of the whole array. What is not supplied is NaN. */
static enum gbm_status settle_part(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    struct rt_slot *slot = &l->in->slots[v];
    memcpy(slot->dim, l->in->slots[variable->whole].dim, sizeof slot->dim);
    enum gbm_status s = allocate(l, v, false);
    for (int64_t i = 0; s == GBM_OK && i < slot->cells; i++)
        rt_set_value(slot, false, 0, i, (double)NAN);
    return s == GBM_OK && a ? copy_values(l, v, a) : s;
}

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
    rebind(l);
    enum gbm_status s = compute_families(l, v);
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

static void note_drawn(const struct loader *l, const char *name)
{
    const char *near = near_name(l, name, l->data->narrays, unused_name);
    fprintf(l->notes, "note: no data for %s: it is drawn%s%s%s\n", name,
            near ? "; is it " : "", near ? near : "", near ? "?" : "");
}

static enum gbm_status settle_stochastic(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    struct rt_slot *slot = &l->in->slots[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    bool block = from_data_block(l->model, v);
    free(slot->values); /* of bind_observed */
    *slot = (struct rt_slot){0};
    enum gbm_status s = settle_extents(l, v, a);
    if (s != GBM_OK)
        return s;
    int64_t elements = 0, seen = 0;
    for (int f = 0; f < l->model->nfamilies; f++)
        if (l->model->families[f].variable == v)
            elements += l->in->elements[f];
    if (a && a->length > 0 && elements == 0)
        return empty_loops(l, v, a);
    int64_t cells = product(variable->ndim, slot->dim);
    for (int64_t i = 0; a && i < cells; i++)
        seen += !(a->missing && a->missing[i]);
    if (variable->observed && !a && !block && l->notes && cells > 0)
        note_drawn(l, variable->name);
    bool shared = seen == cells && cells > 0 && !l->redraw && !block;
    s = allocate(l, v, !shared);
    if (s != GBM_OK || shared)
        return s == GBM_OK ? copy_values(l, v, a) : s;
    if (seen == 0 && !block)
        return GBM_OK;
    slot->seen = calloc((size_t)(cells ? cells : 1), 1);
    if (!slot->seen)
        return rt_fail(l->rt, GBM_FAILURE, "no memory for %s", variable->name);
    for (int64_t i = 0; a && i < cells; i++)
        slot->seen[i] = !(a->missing && a->missing[i]);
    if (a && (s = copy_values(l, v, a)) != GBM_OK)
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

static enum gbm_status settle_table(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_family *fam = &l->model->families[variable->family];
    struct rt_slot *slot = &l->in->slots[v];
    int declared[GBM_MAX_DIMS];
    declare_extents(l, fam->variable, declared);
    int64_t n = count_elements(l, variable->family);
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
    int64_t n = variable->role == GBM_POWER ? 1
                : variable->cells           ? variable->cells(l->state)
                                  : count_elements(l, variable->family);
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
                                    : count_elements(l, inv->family);
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
        s = l->model->variables[v].part ? settle_part(l, v)
                                        : settle_given(l, v);
        break;
    case GBM_CONSTANT:
        s = settle_constant(l, v);
        break;
    case GBM_STOCHASTIC:
        s = settle_stochastic(l, v);
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
        rebind(l);
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

/* Elements that no statement defines may be data, beside those that are
 * computed. */
static enum gbm_status take_supplied(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    struct rt_slot *slot = &l->in->slots[v];
    const bool derived = variable->role == GBM_DERIVED;
    if (!a || variable->role == GBM_STOCHASTIC || variable->hidden ||
        !slot->defined || all_missing(a))
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

/* Once all families are known: which elements a variable's statements define,
 * each once, and not what is supplied. */
static enum gbm_status settle_definitions(struct loader *l, int v)
{
    const struct gbm_variable *variable = &l->model->variables[v];
    const struct gbm_array *a = gbm_data_find(l->data, variable->name);
    const bool constant = variable->role == GBM_CONSTANT;
    const bool computed = variable->role == GBM_STOCHASTIC ||
                          variable->role == GBM_DERIVED ||
                          variable->role == GBM_AUXILIARY;
    enum gbm_status s = rt_check_twice(l->rt, l->in, l->state, v);
    if (s == GBM_OK && computed && a && !variable->hidden)
        s = check_computed(l, v, a);
    if (s == GBM_OK && a && l->notes && variable->role == GBM_STOCHASTIC)
        rt_note_beyond(l->in, l->state, v, a->source, l->notes);
    if (s != GBM_OK || !(constant || (computed && l->in->slots[v].per_chain)))
        return s;
    s = mark_defined(l, v);
    if (s == GBM_OK && !constant && variable->needed && !l->redraw)
        s = check_supplied(l, v);
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

/* A data block may use observed nodes as data (n <- length(y)), on which then
 * their own loops depend. So they are bound before their turn comes, when
 * settle_stochastic does it anew. */
static enum gbm_status bind_observed(struct loader *l)
{
    enum gbm_status s = GBM_OK;
    for (int v = 0; v < l->model->nvariables && s == GBM_OK; v++) {
        const struct gbm_variable *variable = &l->model->variables[v];
        const struct gbm_array *a = gbm_data_find(l->data, variable->name);
        if (!a || variable->role != GBM_STOCHASTIC)
            continue;
        if (!array_dims(a, variable->ndim, l->in->slots[v].dim))
            return fail_shape(l, variable, a);
        s = allocate(l, v, false);
        for (int64_t i = 0;
             s == GBM_OK && a->missing && !variable->integer && i < a->length;
             i++)
            if (a->missing[i])
                rt_set_value(&l->in->slots[v], false, 0, i, (double)NAN);
        if (s == GBM_OK)
            s = copy_values(l, v, a);
    }
    return s;
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
    rebind(l);
    return GBM_OK;
}

static enum gbm_status load(struct loader *l)
{
    const struct gbm_model *m = l->model;
    enum gbm_status bound = bind_observed(l);
    if (bound != GBM_OK)
        return bound;
    rebind(l);
    for (int k = 0; k < m->nvariables; k++) {
        enum gbm_status s = settle(l, m->load_order[k]);
        if (s != GBM_OK)
            return s;
    }
    for (int f = 0; f < m->nfamilies; f++)
        if (count_elements(l, f) > INT_MAX)
            return rt_fail(l->rt, GBM_USER_ERROR, "%s: too many elements",
                           m->families[f].where);
    enum gbm_status ordered = settle_orders(l);
    if (ordered != GBM_OK)
        return ordered;
    for (int v = 0; v < m->nvariables; v++) {
        enum gbm_status s = settle_definitions(l, v);
        if (s != GBM_OK)
            return s;
    }
    for (int v = 0; v < m->nvariables; v++) {
        enum gbm_status s = take_supplied(l, v);
        if (s != GBM_OK)
            return s;
    }
    enum gbm_status apart = rt_check_sums(l->rt, l->in, l->state);
    if (apart != GBM_OK)
        return apart;
    enum gbm_status whole = rt_check_undefined(l->rt, l->in, l->state);
    if (whole != GBM_OK)
        return whole;
    enum gbm_status barren = rt_find_barren(l->rt, l->in, l->state, l->notes);
    if (barren != GBM_OK)
        return barren;
    rebind(l);
    for (int k = 0; k < m->ninverses; k++) {
        if (m->inverses[k].ways) {
            enum gbm_status s = rt_reach(l->rt, l->in, l->state, k);
            if (s != GBM_OK)
                return s;
        } else if (!m->inverses[k].latent) {
            rt_index(l->in, l->state, k, 0);
        }
    }
    rebind(l);
    note_unused(l);
    for (int k = 0; k < m->nsteps; k++) {
        if (!m->steps[k].joint)
            continue;
        enum gbm_status s =
            rt_joint(l->rt, l->in, &m->steps[k], l->state, l->redraw);
        if (s != GBM_OK)
            return s;
        rebind(l);
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
