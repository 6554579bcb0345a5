/* part.c: what a part of a full conditional is asked for by all that use it. */
#include "condition/find.h"

#include <math.h>

void condition_keep_rules(struct compiler *c, struct step *s)
{
    for (struct part *p = s->parts; p; p = p->next) {
        symp rule = p->factor->rule;
        if (!rule || p->own || p->ruled)
            continue;
        p->ruled = true;
        if (!s->through && !sym_has_var(rule, s->family->var))
            continue;
        symp kept = sym_select(c, condition_in_part(c, p, rule), sym_num(c, 0),
                               sym_num(c, -(double)INFINITY));
        if (p->opaque) { /* a term of its own: the others are as they were */
            p->logp = sym_add2(c, p->logp, kept);
            continue;
        }
        struct part *q = NEW(c, struct part);
        *q = *p;
        q->opaque = q->rule = true;
        q->terms = (struct collected){.rest = sym_num(c, 0)};
        q->value = q->lower = q->upper = NULL;
        q->logp = kept;
        p->next = q;
        s->opaque = true;
    }
}

bool condition_is_full(const struct part *p)
{
    return p->factor == p->out->factor;
}

bool condition_part_shared_out(const struct part *p)
{
    if (p->own)
        return false;
    if (p->inverse)
        return true;
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i])
            return true;
    return false;
}

struct factor *condition_seen_by_all(struct compiler *c,
                                     struct step *const *steps, int n,
                                     struct factor *g)
{
    struct factor *as = NULL;
    for (int i = 0; i < n; i++) {
        struct factor *other = model_seen_by(c, steps[i]->family, g);
        if (other == g)
            continue;
        if (as && other != as)
            return NULL;
        as = other;
    }
    return as ? as : g;
}
