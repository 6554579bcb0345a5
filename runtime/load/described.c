/* described.c: what is drawn given what depends on it has values that the
 * library describes. Of a set that is not described a sampler would find no
 * value but the one that it is at. */
#include "load/load.h"

#include <stdlib.h>

static enum gbm_status refuse(struct rt *rt, const struct rt_instance *in,
                              const void *state, int family, int64_t element)
{
    const struct gbm_family *f = &in->model->families[family];
    char name[256];
    rt_element_name(in, state, family, element, name, sizeof name);
    return rt_fail(rt, GBM_USER_ERROR,
                   "%s: not supported yet: %s has no data, and what values it "
                   "may have is not described, in\n    %s\nA choice between "
                   "two is written k ~ dbern(p), ifelse(k == 1, a, b)",
                   f->where, name, f->text);
}

enum gbm_status rt_check_described(struct rt *rt, const struct rt_instance *in,
                                   const void *state)
{
    const struct gbm_model *m = in->model;
    enum gbm_status s = GBM_OK;
    struct rt_cells buffer = {0};
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        const struct rt_slot *slot = &in->slots[fam->variable];
        if (!fam->stochastic || fam->support != GBM_SUPPORT_OTHER)
            continue;
        for (int64_t e = 0; s == GBM_OK && e < in->elements[f]; e++) {
            int64_t n = rt_element_cells(fam, state, e, &buffer);
            if (n == 1 && !rt_seen(slot, buffer.cells[0]) &&
                !rt_drawn_forward(in, state, f, e, &buffer))
                s = refuse(rt, in, state, f, e);
        }
    }
    free(buffer.cells);
    return s;
}
