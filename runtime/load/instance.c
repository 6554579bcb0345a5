/* instance.c: the model bound to its data: cells, names, states of chains,
 * inverse indices. */
#include "load/load.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double rt_value(const struct rt_slot *slot, bool integer, int chain,
                int64_t cell)
{
    int64_t at = (slot->per_chain ? chain * slot->cells : 0) + cell;
    return integer ? (double)((const int *)slot->values)[at]
                   : ((const double *)slot->values)[at];
}

void rt_set_value(const struct rt_slot *slot, bool integer, int chain,
                  int64_t cell, double value)
{
    int64_t at = (slot->per_chain ? chain * slot->cells : 0) + cell;
    if (integer)
        ((int *)slot->values)[at] = (int)value;
    else
        ((double *)slot->values)[at] = value;
}

void rt_bind_with(const struct rt_instance *in, struct gbm_binding *bindings,
                  void *state)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        bindings[v] = (struct gbm_binding){
            .values = slot->values,
            .dim = slot->dim,
            .seen = slot->seen,
            .stride = slot->per_chain ? slot->cells : 0,
        };
    }
    in->model->bind(state, bindings);
}

void rt_bind(const struct rt_instance *in, void *state, int chain)
{
    size_t n = (size_t)(in->model->nvariables > 0 ? in->model->nvariables : 1);
    struct gbm_binding *bindings = calloc(n, sizeof *bindings);
    if (!bindings)
        abort();
    rt_bind_with(in, bindings, state);
    free(bindings);
    in->model->shift(state, chain);
}

size_t rt_chain_bytes(const struct rt_instance *in, int v)
{
    const struct rt_slot *slot = &in->slots[v];
    size_t size =
        in->model->variables[v].integer ? sizeof(int) : sizeof(double);
    return slot->per_chain ? (size_t)in->nchains * (size_t)slot->cells * size
                           : 0;
}

void rt_copy_chain(const struct rt_instance *in, int from, int to)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        size_t bytes = rt_chain_bytes(in, v) / (size_t)in->nchains;
        char *values = in->slots[v].values;
        if (bytes > 0)
            memcpy(values + (size_t)to * bytes, values + (size_t)from * bytes,
                   bytes);
    }
}

void **rt_save(const struct rt_instance *in)
{
    void **values = calloc((size_t)in->model->nvariables + 1, sizeof *values);
    for (int v = 0; values && v < in->model->nvariables; v++) {
        size_t bytes = rt_chain_bytes(in, v);
        if (bytes == 0)
            continue;
        values[v] = malloc(bytes);
        if (!values[v])
            abort();
        memcpy(values[v], in->slots[v].values, bytes);
    }
    return values;
}

void rt_put_back(const struct rt_instance *in, void *const *values)
{
    for (int v = 0; v < in->model->nvariables; v++)
        if (values[v])
            memcpy(in->slots[v].values, values[v], rt_chain_bytes(in, v));
}

void rt_forget(const struct rt_instance *in, void **values)
{
    for (int v = 0; values && v < in->model->nvariables; v++)
        free(values[v]);
    free(values);
}

char *rt_states_create(const struct rt_instance *in)
{
    size_t size = in->model->state_size;
    char *states = calloc((size_t)in->nchains, size ? size : 1);
    for (int c = 0; states && c < in->nchains; c++)
        rt_bind(in, rt_state(in, states, c), c);
    return states;
}

int64_t rt_element_cells(const struct gbm_family *family, const void *state,
                         int64_t element, struct rt_cells *buffer)
{
    int64_t n = family->cells(state, element, NULL);
    if (n > buffer->capacity) {
        free(buffer->cells);
        buffer->capacity = 2 * n;
        buffer->cells = malloc((size_t)buffer->capacity * sizeof(int64_t));
        if (!buffer->cells)
            abort();
    }
    return n > 0 ? family->cells(state, element, buffer->cells) : 0;
}

bool rt_own_cells(const struct rt_instance *in, int family, const void *state,
                  int64_t first, int **owner, struct rt_cells *buffer)
{
    const struct gbm_family *f = &in->model->families[family];
    const int v = f->variable;
    const int64_t cells = in->slots[v].cells;
    if (!owner[v]) {
        owner[v] = malloc((size_t)(cells + 1) * sizeof(int));
        if (!owner[v])
            return false;
        for (int64_t i = 0; i < cells; i++)
            owner[v][i] = -1;
    }
    for (int64_t e = 0; e < in->elements[family]; e++) {
        int64_t n = rt_element_cells(f, state, e, buffer);
        for (int64_t i = 0; i < n; i++)
            if (buffer->cells[i] >= 0 && buffer->cells[i] < cells)
                owner[v][buffer->cells[i]] = (int)(first + e);
    }
    return true;
}

struct rt_observed rt_count_observed(const struct rt_instance *in, int family,
                                     const void *state)
{
    const struct gbm_family *f = &in->model->families[family];
    const struct rt_slot *slot = &in->slots[f->variable];
    struct rt_observed count = {0};
    struct rt_cells buffer = {0};
    for (int64_t e = 0; e < in->elements[family]; e++) {
        int64_t n = rt_element_cells(f, state, e, &buffer), seen = 0;
        for (int64_t i = 0; i < n; i++)
            seen += rt_seen(slot, buffer.cells[i]);
        *(seen == 0  ? &count.none
          : seen < n ? &count.partly
                     : &count.whole) += 1;
    }
    free(buffer.cells);
    return count;
}

bool rt_in_support(const struct rt_instance *in, const void *state, int chain,
                   int family, int64_t element)
{
    const struct gbm_family *f = &in->model->families[family];
    const struct rt_slot *slot = &in->slots[f->variable];
    bool integer = in->model->variables[f->variable].integer;
    struct rt_cells buffer = {0};
    if (f->support == GBM_SUPPORT_ANY || f->support == GBM_SUPPORT_OTHER)
        return true;
    int64_t n = rt_element_cells(f, state, element, &buffer);
    double *x = malloc(((size_t)n + 1) * sizeof *x);
    if (!x)
        abort();
    bool good = true;
    for (int64_t i = 0; i < n; i++) {
        x[i] = rt_value(slot, integer, chain, buffer.cells[i]);
        good = good && ((f->support != GBM_SUPPORT_SIMPLEX &&
                         f->support != GBM_SUPPORT_COUNTS) ||
                        x[i] >= 0);
    }
    if (f->support == GBM_SUPPORT_MATRIX ||
        f->support == GBM_SUPPORT_CORRELATION)
        good = gbm_cholesky((int)lround(sqrt((double)n)), x);
    free(buffer.cells);
    free(x);
    return good;
}

void rt_cell_name(const struct rt_instance *in, int v, int64_t cell, char *out,
                  size_t capacity)
{
    const struct gbm_variable *variable = &in->model->variables[v];
    if (variable->names)
        snprintf(out, capacity, "%s", variable->names[cell]);
    else
        gbm_cell_name(variable->name, variable->ndim, in->slots[v].dim, cell,
                      out, capacity);
}

int rt_scalar_called(const struct gbm_variable *variable, const char *name,
                     size_t length)
{
    for (int i = 0; variable->names && variable->names[i]; i++)
        if (strlen(variable->names[i]) == length &&
            !strncmp(variable->names[i], name, length))
            return i;
    return -1;
}

int rt_variable_called(const struct gbm_model *m, const char *name)
{
    for (int v = 0; v < m->nvariables; v++)
        if (m->variables[v].role <= GBM_DERIVED &&
            (!strcmp(m->variables[v].name, name) ||
             rt_scalar_called(&m->variables[v], name, strlen(name)) >= 0))
            return v;
    return -1;
}

void rt_element_name(const struct rt_instance *in, const void *state,
                     int family, int64_t element, char *out, size_t capacity)
{
    const struct gbm_family *f = &in->model->families[family];
    const struct gbm_variable *v = &in->model->variables[f->variable];
    const struct rt_slot *slot = &in->slots[f->variable];
    struct rt_cells buffer = {0};
    int64_t n = rt_element_cells(f, state, element, &buffer);
    if (n <= 0) {
        snprintf(out, capacity, "%s", v->name);
    } else if (n == 1 || v->ndim == 0) {
        rt_cell_name(in, f->variable, buffer.cells[0], out, capacity);
    } else {
        /* a slice: first and last subscript of every dimension */
        int first[GBM_MAX_DIMS], last[GBM_MAX_DIMS];
        int64_t a = buffer.cells[0], b = buffer.cells[n - 1];
        for (int d = v->ndim - 1; d >= 0; d--) {
            int extent = slot->dim[d] > 0 ? slot->dim[d] : 1;
            first[d] = (int)(a % extent) + 1;
            last[d] = (int)(b % extent) + 1;
            a /= extent;
            b /= extent;
        }
        size_t at = (size_t)snprintf(out, capacity, "%s", v->name);
        for (int d = 0; d < v->ndim && at < capacity; d++) {
            at += (size_t)snprintf(out + at, capacity - at, "%s%d",
                                   d ? "," : "[", first[d]);
            if (last[d] != first[d] && at < capacity)
                at += (size_t)snprintf(out + at, capacity - at, ":%d", last[d]);
        }
        if (at < capacity)
            snprintf(out + at, capacity - at, "]");
    }
    free(buffer.cells);
}

/* Counting sort; an element that hits no cell is left out. */
void rt_index(const struct rt_instance *in, const void *state, int inverse,
              int chain)
{
    const struct gbm_inverse *inv = &in->model->inverses[inverse];
    const struct rt_slot *s = &in->slots[inv->start];
    const struct rt_slot *t = &in->slots[inv->item];
    int *start = (int *)s->values + (s->per_chain ? chain * s->cells : 0);
    int *item = (int *)t->values + (t->per_chain ? chain * t->cells : 0);
    int64_t cells = s->cells - 1, n = in->elements[inv->family];
    if (inv->device)
        return;
    memset(start, 0, (size_t)s->cells * sizeof *start);
    for (int64_t e = 0; e < n; e++) {
        int64_t c = inv->cell(state, e);
        if (c >= 0 && c < cells)
            start[c + 1]++;
    }
    for (int64_t c = 0; c < cells; c++)
        start[c + 1] += start[c];
    for (int64_t e = 0; e < n; e++) {
        int64_t c = inv->cell(state, e);
        if (c >= 0 && c < cells)
            item[start[c]++] = (int)e;
    }
    for (int64_t c = cells; c > 0; c--) /* undo the shift of the fill */
        start[c] = start[c - 1];
    start[0] = 0;
}

void rt_index_latents(const struct rt_instance *in, const void *state,
                      int chain)
{
    for (int k = 0; k < in->model->ninverses; k++)
        if (in->model->inverses[k].latent)
            rt_index(in, state, k, chain);
}

void rt_instance_free(struct rt_instance *in)
{
    for (int v = 0; in->slots && v < in->model->nvariables; v++) {
        if (!in->slots[v].borrowed)
            free(in->slots[v].values);
        free(in->slots[v].seen);
        free(in->slots[v].defined);
        free(in->slots[v].told);
    }
    for (int k = 0; in->steps && k < in->model->nsteps; k++) {
        free(in->steps[k].elements);
        free(in->steps[k].colour);
    }
    for (int k = 0; k < in->nmonitors; k++)
        free(in->monitors[k].cells);
    for (int k = 0; in->orders && k < in->model->nsequences; k++) {
        free(in->orders[k].pairs);
        free(in->orders[k].fed);
    }
    free(in->orders);
    free(in->slots);
    free(in->elements);
    free(in->steps);
    free(in->monitors);
    free(in->kept_families);
    *in = (struct rt_instance){0};
}
