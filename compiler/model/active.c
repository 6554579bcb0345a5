/* active.c: which variables have derivatives: real ones that are random and
 * read by others, or vectors, of which some components may be observed and tell
 * of the rest; and those computed from such.
 *
 * Requires that leaves are settled and derived nodes are chosen to be kept. */
#include "model/resolve.h"

static bool is_active(symp x, const void *unused)
{
    (void)unused;
    return x->kind == SYM_REF && x->var->active;
}

void model_find_active(struct compiler *c, struct model *m)
{
    if (!(c->options.with & WITH_GRADIENTS))
        return;
    for (struct family *f = m->families; f; f = f->next)
        if (f->stochastic && !f->data_block &&
            (!f->var->leaf || f->nslices > 0) && !f->var->supplied &&
            !model_draws_integers(f))
            f->var->active = true;
    for (bool more = true; more;) {
        more = false;
        for (struct family *f = m->families; f; f = f->next) {
            if (f->stochastic || f->data_block || f->var->active ||
                f->var->integer || f->var->role == ROLE_CONSTANT)
                continue;
            symp body = model_substitute_derived(c, f->body);
            more |= f->var->active = sym_any(body, is_active, NULL);
        }
    }
}
