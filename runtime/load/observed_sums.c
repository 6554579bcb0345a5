/* observed_sums.c: latent cells in several observed sums. The steps move two
 * summands of one sum, which would break the other: nothing could move. */
#include "load/load.h"

#include <stdlib.h>

struct sums {
    struct rt *rt;
    const struct rt_instance *in;
    const void *state;
    int **sum; /* of each cell of a variable: family + 1 */
    int *variables;
    int64_t *cells;
    int64_t capacity;
};

static enum gbm_status no_memory(struct rt *rt)
{
    return rt_fail(rt, GBM_FAILURE, "no memory");
}

static enum gbm_status make_room(struct sums *k, int64_t n)
{
    if (n <= k->capacity)
        return GBM_OK;
    free(k->variables);
    free(k->cells);
    k->capacity = 2 * n;
    k->variables = malloc((size_t)k->capacity * sizeof *k->variables);
    k->cells = malloc((size_t)k->capacity * sizeof *k->cells);
    return k->variables && k->cells ? GBM_OK : no_memory(k->rt);
}

/* Cell `cell` of variable v is in a sum of family f. */
static enum gbm_status mark(struct sums *k, int f, int v, int64_t cell)
{
    const struct rt_slot *slot = &k->in->slots[v];
    const struct gbm_family *families = k->in->model->families;
    if (!k->sum[v] &&
        !(k->sum[v] = calloc((size_t)slot->cells + 1, sizeof **k->sum)))
        return no_memory(k->rt);
    int earlier = k->sum[v][cell];
    if (!earlier) {
        k->sum[v][cell] = f + 1;
        return GBM_OK;
    }
    char name[256];
    rt_cell_name(k->in, v, cell, name, sizeof name);
    return rt_fail(k->rt, GBM_USER_ERROR,
                   "%s: not supported yet: %s is in several observed sums (see "
                   "%s); define one summand of each as what the others leave "
                   "of it",
                   families[f].where, name, families[earlier - 1].where);
}

enum gbm_status rt_check_sums(struct rt *rt, const struct rt_instance *in,
                              const void *state)
{
    const struct gbm_model *m = in->model;
    size_t nv = (size_t)m->nvariables + 1;
    struct sums k = {
        .rt = rt, .in = in, .state = state, .sum = calloc(nv, sizeof *k.sum)};
    enum gbm_status s = k.sum ? GBM_OK : no_memory(rt);
    for (int f = 0; s == GBM_OK && f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        for (int64_t e = 0; s == GBM_OK && fam->summands && e < in->elements[f];
             e++) {
            int64_t n = fam->summands(state, e, NULL, NULL);
            s = make_room(&k, n);
            if (s == GBM_OK)
                fam->summands(state, e, k.variables, k.cells);
            for (int64_t i = 0; s == GBM_OK && i < n; i++)
                s = mark(&k, f, k.variables[i], k.cells[i]);
        }
    }
    for (size_t v = 0; k.sum && v < nv; v++)
        free(k.sum[v]);
    free(k.sum);
    free(k.variables);
    free(k.cells);
    return s;
}
