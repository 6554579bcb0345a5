/* undefined.c: elements that a statement reads though no statement defines them
 * and the data do not give them, as mu[1] where mu[i] is for i in 2:N. Looked
 * for in variables whose statements may leave gaps, along what each element
 * reads; what latent subscripts may reach is not known at load. */
#include "load/load.h"

struct search {
    const struct rt_instance *in;
    int variable; /* of the first one, or -1 */
    int64_t cell;
};

static void look(void *context, int variable, int64_t cell)
{
    struct search *s = context;
    const struct rt_slot *slot = &s->in->slots[variable];
    const bool constant =
        s->in->model->variables[variable].role == GBM_CONSTANT;
    if (s->variable >= 0 || cell < 0 || !slot->defined || slot->defined[cell] ||
        (!constant && rt_seen(slot, cell)))
        return;
    s->variable = variable;
    s->cell = cell;
}

static enum gbm_status fail(struct rt *rt, const struct search *s,
                            const void *state, int family, int64_t element)
{
    const struct gbm_family *reader = &s->in->model->families[family];
    const struct gbm_variable *v = &s->in->model->variables[s->variable];
    char what[256], where[256];
    gbm_cell_name(v->name, v->ndim, s->in->slots[s->variable].dim, s->cell,
                  what, sizeof what);
    if (reader->where[0] ==
        '\0') /* a part of statements that the compiler made */
        return rt_fail(rt, GBM_USER_ERROR,
                       "%s: %s is read, but no statement defines it and the "
                       "data do not give it",
                       v->where, what);
    rt_element_name(s->in, state, family, element, where, sizeof where);
    return rt_fail(rt, GBM_USER_ERROR,
                   "%s: %s is read here for %s, but no statement defines it "
                   "and the data do not give it\n    %s",
                   reader->where, what, where, reader->text);
}

enum gbm_status rt_check_undefined(struct rt *rt, const struct rt_instance *in,
                                   const void *state)
{
    const struct gbm_model *m = in->model;
    struct search s = {.in = in, .variable = -1};
    bool gaps = false;
    for (int v = 0; v < m->nvariables; v++)
        gaps = gaps || in->slots[v].defined;
    for (const struct gbm_reader *r = m->gap_readers;
         gaps && r && r->family >= 0; r++)
        for (int64_t e = 0; e < in->elements[r->family]; e++) {
            r->reads(state, e, look, &s);
            if (s.variable >= 0)
                return fail(rt, &s, state, r->family, e);
        }
    return GBM_OK;
}
