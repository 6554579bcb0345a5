/* chain.c: an integer-valued node with a finite support whose elements depend
 * on their predecessor along one loop, as z[i,t] on z[i,t-1], and otherwise
 * meet in no factor, is drawn a whole path at a time (METHOD_CHAIN; see
 * stdlib/kernels/forward_backward.h). What is left in the step's parts are its
 * emissions: all but the own prior. Paths of different elements of the other
 * loops are independent of each other. */
#include "condition/find.h"
#include "sampler/sampler.h"
#include <string.h>

/* The distinct references to v in g: their number, or -1 if one runs through a
 * sum. */
static int references(struct compiler *c, struct factor *g, struct var *v,
                      symp *out, int capacity)
{
    struct finder f;
    find_in_factor(c, &f, v, g);
    for (int i = 0; i < f.n; i++) {
        if (f.found[i].nbound)
            return -1;
        if (i < capacity)
            out[i] = f.found[i].reference;
    }
    return f.n;
}

/* Whether e is the same at load and ever after, for all elements. */
static bool fixed_bound(symp e)
{
    return e && !sym_has_any_loop(e) && !reads_latent(e);
}

/* The loop along which `before` is the predecessor of f's element, or -1. */
static int step_back(struct compiler *c, const struct family *f, symp before)
{
    int along = -1;
    for (int d = 0; d < f->var->ndim; d++) {
        double difference;
        if (!sym_difference(c, before->args[d], f->lower[d], &difference))
            return -1;
        if (difference == 0)
            continue;
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        if (difference != -1 || along >= 0 || !l)
            return -1;
        for (int i = 0; i < f->nloops; i++)
            if (f->loops[i] == l)
                along = i;
        for (int i = 0; i < f->nloops; i++)
            if (f->loops[i] != l && sym_has_loop(offset, f->loops[i]))
                return -1;
    }
    return along;
}

/* The other subscripts say which path it is: each loop once. */
static bool paths_are_apart(struct compiler *c, const struct family *f)
{
    for (int i = 0; i < f->nloops; i++) {
        int n = 0;
        for (int d = 0; d < f->var->ndim; d++) {
            symp offset;
            if (sym_plain_loop(c, f->lower[d], &offset) == f->loops[i] &&
                offset->kind == SYM_NUM)
                n++;
        }
        if (n != 1)
            return false;
    }
    return true;
}

/* Elements of a path are numbered at a constant distance. */
static bool even_numbers(const struct family *f, int along)
{
    return along == f->nloops - 1 || family_rectangular(f);
}

static int parts_of(const struct step *s, const struct factor *g)
{
    int n = 0;
    for (const struct part *p = s->parts; p; p = p->next)
        n += p->factor == g && !p->own;
    return n;
}

static bool is_emission(struct compiler *c, const struct step *s,
                        const struct part *p)
{
    if (p->factor->opaque || parts_of(s, p->factor) != 1)
        return false;
    symp reference;
    return references(c, p->factor, s->family->var, &reference, 1) == 1;
}

static void make_chain(struct step *s, int along, symp before)
{
    const struct factor *own = s->family->factor;
    s->method = METHOD_CHAIN;
    s->along = along;
    s->before = before;
    s->sequential = false;
    s->conflicts = NULL;
    struct part **p = &s->parts;
    while (*p)
        if ((*p)->factor == own)
            *p = (*p)->next;
        else
            p = &(*p)->next;
    s->nstatistics = 0;
    s->opaque = false;
    gather_statistics(s);
}

static void try_chain(struct compiler *c, struct step *s)
{
    const struct family *f = s->family;
    struct factor *own = f->factor;
    if (s->alone || s->through || s->ties || own->replaced || own->opaque ||
        f->nloops == 0 || f->nslices || !fixed_bound(s->lower) ||
        !fixed_bound(s->upper))
        return;
    symp lhs = sym_ref(c, f->var, f->var->ndim, f->lower);
    symp found[2];
    if (references(c, own, f->var, found, 2) != 2 || parts_of(s, own) != 1)
        return;
    bool first = sym_same(found[0], lhs);
    if (!first && !sym_same(found[1], lhs))
        return;
    symp before = found[first ? 1 : 0];
    int along = step_back(c, f, before);
    if (along < 0 || !even_numbers(f, along) || !paths_are_apart(c, f))
        return;
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor != own && !is_emission(c, s, p))
            return;
    for (const struct bound *b = s->bounds; b; b = b->next)
        if (b->part->factor == own)
            return;
    make_chain(s, along, before);
}

void form_chains(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next)
        if (s->method == METHOD_ENUMERATE)
            try_chain(c, s);
}
