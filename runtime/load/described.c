/* described.c: what is drawn given what depends on it has values that the
 * library describes. Of a set that is not described a sampler would find no
 * value but the one that it is at, and so it would of a sum of other nodes, or
 * of the interval that one lies in: these cannot move without it. */
#include "load/load.h"

#include <stdlib.h>

struct parents {
    const struct rt_instance *in;
    bool latent;
};

static void visit(void *context, int variable, int64_t cell)
{
    struct parents *p = context;
    const struct rt_slot *slot = &p->in->slots[variable];
    const enum gbm_role role = p->in->model->variables[variable].role;
    p->latent = p->latent || role == GBM_DERIVED ||
                (role == GBM_STOCHASTIC && (cell < 0 || !rt_seen(slot, cell)));
}

/* Whether what settles an element is latent, or may be. */
static bool moves_with_parents(const struct rt_instance *in, const void *state,
                               const struct gbm_family *f, int64_t element)
{
    struct parents p = {in, false};
    if (f->settled && f->parents)
        f->parents(state, element, visit, &p);
    return p.latent;
}

static enum gbm_status refuse_settled(struct rt *rt, const struct gbm_family *f,
                                      const char *name)
{
    return rt_fail(
        rt, GBM_USER_ERROR,
        "%s: not supported yet: %s has no data, though other "
        "nodes depend on it, in\n    %s\nWhere it is not observed it is "
        "computed: write it with '<-', as s <- a + b",
        f->where, name, f->text);
}

static enum gbm_status refuse(struct rt *rt, const struct rt_instance *in,
                              const void *state, int family, int64_t element)
{
    const struct gbm_family *f = &in->model->families[family];
    char name[256];
    rt_element_name(in, state, family, element, name, sizeof name);
    if (f->settled)
        return refuse_settled(rt, f, name);
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
        if (!fam->stochastic ||
            (fam->support != GBM_SUPPORT_OTHER && !fam->settled))
            continue;
        for (int64_t e = 0; s == GBM_OK && e < in->elements[f]; e++) {
            int64_t n = rt_element_cells(fam, state, e, &buffer);
            if (n == 1 && !rt_seen(slot, buffer.cells[0]) &&
                (fam->support == GBM_SUPPORT_OTHER ||
                 moves_with_parents(in, state, fam, e)) &&
                !rt_drawn_forward(in, state, f, e, &buffer))
                s = refuse(rt, in, state, f, e);
        }
    }
    free(buffer.cells);
    return s;
}
