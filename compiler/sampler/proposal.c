/* proposal.c: draws with their log densities, whichever sampler they are of. */
#include "sampler/proposal.h"
#include "condition/find.h"

bool sampler_has_proposal(const struct step *s)
{
    return !s->merged && !s->opaque && !s->order.ties && !s->scaled.by &&
           !s->beside.block &&
           (sampler_direct_proposes(s) || sampler_gaussian_proposes(s) ||
            sampler_vector_proposes(s));
}

static symp at_solved(struct compiler *c, const struct part *p, symp e)
{
    for (int i = 0; e && i < p->nloops; i++)
        if (p->solved[i])
            e = sym_replace_loop(c, e, p->loops[i], p->solved[i]);
    return e;
}

/* The part's loop that a subscript is and nothing else, with ends that no other
 * loop moves; -1: none. */
static int loop_of(const struct part *p, symp at)
{
    for (int i = 0; i < p->nloops; i++)
        if (at->kind == SYM_LOOP && at->loop == p->loops[i] && !p->solved[i] &&
            !sym_has_any_loop(p->loops[i]->lower) &&
            !sym_has_any_loop(p->loops[i]->upper))
            return i;
    return -1;
}

/* What an index lists of an element of f becomes loops of q: a subscript that
 * is a loop is solved by the element's, others are conditions. False: the index
 * is no such list. */
static bool unlist(struct compiler *c, const struct family *f, struct part *q)
{
    const struct inverse *index = q->inverse;
    symp guard = q->guard ? q->guard : sym_num(c, 1);
    if (index->reach || q->cell || index->var != f->var)
        return false;
    q->inverse = NULL;
    q->solved = NEW_ARRAY(c, symp, q->nloops);
    for (int d = 0; d < index->reference->nargs; d++) {
        symp at = index->reference->args[d];
        symp own = f->upper[d] ? sym_num(c, 1) : f->lower[d];
        for (int i = 0; i < q->nloops; i++)
            at = sym_replace_loop(c, at, q->factor->loops[i],
                                  sym_loop(c, q->loops[i]));
        const int i = loop_of(q, at);
        if (i < 0) {
            guard = sym_and(c, guard, sym_eq(c, at, own));
            continue;
        }
        q->solved[i] = own;
        const symp least[2] = {own, q->loops[i]->lower},
                   most[2] = {own, q->loops[i]->upper};
        guard = sym_and(c, guard, sym_call(c, ">=", 2, least));
        guard = sym_and(c, guard, sym_call(c, "<=", 2, most));
    }
    q->guard = at_solved(c, q, guard);
    q->logp = at_solved(c, q, q->logp);
    for (int i = 0; i < q->terms.n; i++)
        q->terms.coefficient[i] = at_solved(c, q, q->terms.coefficient[i]);
    return true;
}

/* The part, its instances gone through in loops. NULL: they cannot be. */
static struct part *in_loops(struct compiler *c, const struct family *f,
                             const struct part *p)
{
    struct part *q = NEW(c, struct part);
    *q = *p;
    q->next = NULL;
    return !p->inverse || unlist(c, f, q) ? q : NULL;
}

/* What it adds, in the loops of the part, which were those of an index. */
static void solve(struct compiler *c, const struct step *s, struct quadratic *q)
{
    for (int i = 0; i < s->block.n || i < 2; i++) {
        q->potential[i] = at_solved(c, q->part, q->potential[i]);
        for (int j = 0; j < s->block.n; j++)
            q->precision[i][j] = at_solved(c, q->part, q->precision[i][j]);
    }
}

static bool copy_quadratics(struct compiler *c, struct step *to,
                            const struct step *s)
{
    struct quadratic **out = &to->block.quadratics;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next) {
        *out = NEW(c, struct quadratic);
        **out = *q;
        (*out)->next = NULL;
        (*out)->part = in_loops(c, s->family, q->part);
        if (!(*out)->part)
            return false;
        if (q->part->inverse)
            solve(c, s, *out);
        out = &(*out)->next;
    }
    return true;
}

struct step *sampler_proposal_of(struct compiler *c, const struct step *s,
                                 const char *name)
{
    struct step *to = NEW(c, struct step);
    *to = *s;
    to->name = name;
    to->next = NULL;
    to->parts = NULL;
    to->block.quadratics = NULL;
    struct part **out = &to->parts;
    for (const struct part *p = s->parts; p; p = p->next) {
        *out = in_loops(c, s->family, p);
        if (!*out)
            return NULL;
        out = &(*out)->next;
    }
    return copy_quadratics(c, to, s) ? to : NULL;
}

struct part *sampler_proposal_rows(struct compiler *c, const struct step *s)
{
    struct part *all = NULL, **out = &all;
    for (const struct part *p = s->parts; p; p = p->next) {
        if (p->own)
            continue;
        *out = NEW(c, struct part);
        **out = *p;
        (*out)->next = NULL;
        out = &(*out)->next;
    }
    return all;
}

void sampler_emit_proposal(struct compiler *c, struct text *out,
                           const struct step *s)
{
    if (sampler_gaussian_proposes(s))
        sampler_emit_gaussian_proposal(c, out, s);
    else if (sampler_vector_proposes(s))
        sampler_emit_vector_proposal(c, out, s);
    else
        sampler_emit_direct_proposal(c, out, s);
}
