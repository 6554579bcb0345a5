/* definitions.c: elements with two definitions, and data for elements with
 * none, where only the data show it. */
#include "load/load.h"

#include <stdlib.h>

static enum gbm_status fail_twice(struct rt *rt, const struct rt_instance *in,
                                  int v, int64_t cell, int f, int g)
{
    const struct gbm_family *families = in->model->families;
    char name[256];
    rt_cell_name(in, v, cell, name, sizeof name);
    if (f == g)
        return rt_fail(rt, GBM_USER_ERROR, "%s: %s is defined twice by %s%s",
                       families[f].where, name, families[f].text,
                       in->model->variables[v].ndim > 0
                           ? ""
                           : "; in a loop it needs the loop's subscript");
    return rt_fail(rt, GBM_USER_ERROR,
                   "%s: %s is defined twice: by %s, and by %s at %s",
                   families[g].where, name, families[g].text, families[f].text,
                   families[f].where);
}

enum gbm_status rt_check_twice(struct rt *rt, const struct rt_instance *in,
                               const void *state, int v)
{
    const struct gbm_model *m = in->model;
    struct rt_cells buffer = {0};
    enum gbm_status s = GBM_OK;
    size_t n = (size_t)in->slots[v].cells + 1;
    int *definer[2] = {NULL, NULL}; /* family + 1 */
    for (int f = 0; s == GBM_OK && f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        if (fam->variable != v || !fam->repeats)
            continue;
        int **own = &definer[fam->repeats == 2];
        if (!*own && !(*own = calloc(n, sizeof **own)))
            s = rt_fail(rt, GBM_FAILURE, "no memory");
        for (int64_t e = 0; s == GBM_OK && e < in->elements[f]; e++) {
            int64_t k = rt_element_cells(fam, state, e, &buffer);
            for (int64_t i = 0; s == GBM_OK && i < k; i++) {
                int *cell = &(*own)[buffer.cells[i]];
                if (*cell)
                    s = fail_twice(rt, in, v, buffer.cells[i], *cell - 1, f);
                *cell = f + 1;
            }
        }
    }
    free(buffer.cells);
    free(definer[0]);
    free(definer[1]);
    return s;
}

/* Enlarges `last` to the subscripts, from 1, of a cell. */
static void reach_subscripts(const struct rt_slot *slot, int ndim, int64_t cell,
                             int *last)
{
    for (int d = ndim - 1; d >= 0; d--) {
        int subscript = (int)(cell % slot->dim[d]) + 1;
        last[d] = last[d] > subscript ? last[d] : subscript;
        cell /= slot->dim[d];
    }
}

/* As a rule each cell has a definition: there are as many as cells, if all
 * elements of a family have as many as its first. */
static bool as_many(const struct rt_instance *in, const void *state, int v,
                    struct rt_cells *buffer)
{
    const struct gbm_model *m = in->model;
    int64_t defined = 0;
    for (int f = 0; f < m->nfamilies; f++)
        if (m->families[f].variable == v && in->elements[f] > 0)
            defined += in->elements[f] *
                       rt_element_cells(&m->families[f], state, 0, buffer);
    return defined >= in->slots[v].cells;
}

void rt_note_beyond(const struct rt_instance *in, const void *state, int v,
                    const char *source, FILE *notes)
{
    const struct gbm_variable *variable = &in->model->variables[v];
    const struct rt_slot *slot = &in->slots[v];
    struct rt_cells buffer = {0};
    int last[GBM_MAX_DIMS] = {0};
    bool all = as_many(in, state, v, &buffer);
    for (int f = 0; !all && f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        for (int64_t e = 0; fam->variable == v && e < in->elements[f]; e++) {
            int64_t k = rt_element_cells(fam, state, e, &buffer);
            for (int64_t i = 0; i < k; i++)
                reach_subscripts(slot, variable->ndim, buffer.cells[i], last);
        }
    }
    for (int d = 0; !all && d < variable->ndim; d++)
        if (last[d] < slot->dim[d])
            fprintf(notes,
                    "note: %s has extent %d in dimension %d (%s), but its "
                    "statements go up to %d\n",
                    variable->name, slot->dim[d], d + 1, source, last[d]);
    free(buffer.cells);
}
