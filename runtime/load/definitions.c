/* definitions.c: elements with two definitions, where only the data show it. */
#include "load/load.h"

#include <stdlib.h>

static enum gbm_status fail_twice(struct rt *rt, const struct rt_instance *in,
                                  int v, int64_t cell, int f, int g)
{
    const struct gbm_family *families = in->model->families;
    char name[256];
    rt_cell_name(in, v, cell, name, sizeof name);
    if (f == g)
        return rt_fail(rt, GBM_USER_ERROR, "%s: %s is defined twice by %s",
                       families[f].where, name, families[f].text);
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
