/* reached.c: what a target's element reaches through derived nodes that are
 * kept in memory. */
#include "condition/find.h"

bool condition_through_stored(const struct model *m, symp e,
                              const struct var *v)
{
    if (model_follows(m, e, v))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (condition_through_stored(m, e->args[i], v))
            return true;
    return false;
}

bool condition_factor_through(const struct model *m, const struct factor *g,
                              const struct var *v)
{
    return condition_through_stored(m, g->logp, v) ||
           (g->lower && condition_through_stored(m, g->lower, v)) ||
           (g->upper && condition_through_stored(m, g->upper, v));
}

/* The loops of the target that tell apart what its elements reach through
 * stored nodes: all of them. `at`: its subscripts that the instances tell. */
bool condition_apart(const struct step *s, const struct alignment *alignments,
                     const symp *at)
{
    const struct family *f = s->family;
    for (int i = 0; i < f->nloops; i++) {
        bool told = false;
        for (const struct alignment *a = alignments; a; a = a->next)
            told = told || (at[a->dim] && at[a->dim]->kind == SYM_LOOP &&
                            at[a->dim]->loop == f->loops[i] &&
                            condition_all_have_keys(a));
        if (!told)
            return false;
    }
    return true;
}

/* Whether lists tell more than nothing: an array's element is one of many. The
 * instances of g must be those of its family. */
static bool may_be_listed(const struct family *f, const struct factor *g)
{
    return f->nloops > 0 && !f->nslices && !g->auxiliary &&
           !g->family->auxiliary && g->loops == g->family->loops &&
           g->nloops == g->family->nloops;
}

/* The instances of g that the target's element reaches as lists tell that are
 * made at load; all of them where it has none. */
static struct part *listed_part(struct compiler *c, struct model *m,
                                const struct step *s, struct factor *g)
{
    struct family *f = s->family;
    struct part *p = condition_whole_part(c, g);
    if (!may_be_listed(f, g))
        return p;
    p->inverse = condition_get_reach(c, m, f, g);
    p->cell = sym_ref(c, f->var, f->var->ndim, f->lower);
    return p;
}

/* The instances of g, where it reads what is aligned, that the target's element
 * reaches; at[d] is set for the subscripts that tell. */
struct part *condition_reached_part(struct compiler *c, struct model *m,
                                    const struct step *s,
                                    const struct alignment *alignments,
                                    struct factor *g, symp *at)
{
    const struct family *f = s->family;
    struct part *p = condition_whole_part(c, g);
    symp key[8], cell[8];
    bool any = false;
    for (int d = 0; d < f->var->ndim; d++) {
        key[d] = cell[d] = sym_num(c, 1);
        at[d] = NULL;
    }
    for (const struct alignment *a = alignments; a; a = a->next) {
        symp k = condition_aligned_at(c, a, g);
        if (!k)
            continue;
        key[a->dim] = k;
        at[a->dim] = cell[a->dim] = f->lower[a->dim];
        any = true;
    }
    if (!any)
        return listed_part(c, m, s, g);
    struct found r = {.reference = sym_ref(c, f->var, f->var->ndim, key)};
    condition_match_reference(c, m, p, &r, at);
    p->reference = NULL; /* it is not read there */
    if (p->inverse)
        p->cell = sym_ref(c, f->var, f->var->ndim, cell);
    return p;
}

/* Whether f is computed from the target, or from stored nodes that are. */
static bool reads_reached(struct compiler *c, const struct model *m,
                          const struct family *f, const struct var *target)
{
    return model_reads(m, model_substitute_derived(c, f->body), target);
}

struct part *condition_reached_definitions(struct compiler *c, struct model *m,
                                           const struct step *s,
                                           const struct alignment *alignments)
{
    struct part *list = NULL, **last = &list;
    for (struct family *f = m->families; f; f = f->next) {
        if (f->stochastic || !f->var->stored || f->for_updates ||
            !model_recomputed_with(m, f, s->family->var) ||
            (!f->sequence && !reads_reached(c, m, f, s->family->var)))
            continue;
        struct factor *g = NEW(c, struct factor);
        g->family = f;
        g->loops = f->loops;
        g->nloops = f->nloops;
        g->text = f->text;
        g->logp = model_substitute_derived(c, f->body);
        symp at[8];
        *last = f->sequence
                    ? listed_part(c, m, s, g)
                    : condition_reached_part(c, m, s, alignments, g, at);
        last = &(*last)->next;
    }
    return list;
}
