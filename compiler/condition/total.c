/* total.c: a latent vector of counts (dmulti) whose total is a node. Given
 * one the other is held fast, so each count moves together with the total, as
 * two summands of an observed sum do (observed_sum.c). Called at the end of
 * condition_model(). */
#include "condition/find.h"
#include <string.h>

static bool is_of_counts(const struct family *f)
{
    const struct expr *support = entry_value(f->distribution, "support");
    return support && !strcmp(support->name, "counts");
}

static bool can_move(struct compiler *c, const struct family *f, symp total)
{
    if (total->kind != SYM_REF || !condition_is_node(total->var))
        return false;
    for (int d = 0; d < total->nargs; d++)
        if (sym_reads_latent(total->args[d]))
            return false;
    return condition_cell_per_instance(c, f, total);
}

/* The node that is the total of a vector of counts, of this one alone; NULL:
 * there is none. */
static symp total_of(struct compiler *c, const struct family *f)
{
    const char *name = entry_value(f->distribution, "support")->args[0]->name;
    for (int i = 0; i < f->nargs; i++) {
        if (f->distribution->parameters[i].name != name)
            continue;
        symp total = model_substitute_derived(c, f->args[i].body);
        return can_move(c, f, total) ? total : NULL;
    }
    return NULL;
}

/* The counts, at an index. */
static struct summand counts_of(struct compiler *c, const struct family *f)
{
    symp at[MAX_DIMS];
    struct loop *index = NEW(c, struct loop);
    for (int d = 0; d < f->var->ndim; d++) {
        at[d] = f->lower[d];
        if (!f->upper[d])
            continue;
        *index = (struct loop){
            .name = "j", .lower = f->lower[d], .upper = f->upper[d]};
        at[d] = sym_loop(c, index);
    }
    return (struct summand){.cell = sym_ref(c, f->var, f->var->ndim, at),
                            .weight = 1,
                            .index = index};
}

void condition_totals(struct compiler *c, struct model *m)
{
    for (struct factor *g = m->factors; g; g = g->next) {
        const struct family *f = g->family;
        if (!f->stochastic || f->data_block || !is_of_counts(f) ||
            f->var->role != ROLE_STOCHASTIC)
            continue;
        struct summand counts = counts_of(c, f),
                       total = {.cell = total_of(c, f), .weight = -1};
        if (!total.cell)
            continue;
        *m->last_step = condition_pair_step(c, m, g, &counts, &total, 1);
        m->last_step = &(*m->last_step)->next;
    }
}
