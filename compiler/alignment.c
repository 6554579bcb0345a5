/* alignment.c: which part of the stored derived nodes one element of a target
 * reaches. Learning rates alpha[s] of values V[s, t + 1] <- V[s, t] + alpha[s]
 * * ... change the row s of V alone, and the terms of y[s, t] alone; without
 * this, an update of one subject would recompute all subjects.
 *
 * An alignment follows one dimension of the target. It gives each stored
 * derived variable that depends on the target a dimension such that wherever
 * a definition reads the target or one of these variables, the subscripts at
 * those places are one and the same loop of the statement, and what is defined
 * has that loop as its own subscript there. By induction, cells that have i at
 * their place depend on the target's elements that have i at theirs, and on no
 * others. */
#include "gbmc.h"

static int place_of(const struct alignment *a, const struct var *v)
{
    for (int i = 0; i < a->n; i++)
        if (a->places[i].var == v)
            return a->places[i].dim;
    return -1;
}

/* The loop at the place of all aligned references in e; *ok becomes false if
 * one of them has something else there. */
static void loop_at_places(const struct alignment *a, symp e,
                           struct loop **loop, bool *ok)
{
    if (!e)
        return;
    int d = e->kind == SYM_REF ? place_of(a, e->var) : -1;
    if (d >= 0) {
        bool fits = e->nargs == e->var->ndim && e->args[d]->kind == SYM_LOOP &&
                    (!*loop || *loop == e->args[d]->loop);
        *ok = *ok && fits;
        if (fits)
            *loop = e->args[d]->loop;
    }
    for (int i = 0; i < e->nargs; i++)
        loop_at_places(a, e->args[i], loop, ok);
}

static bool is_loop_of(struct loop *const *loops, int n, const struct loop *l)
{
    for (int i = 0; i < n; i++)
        if (loops[i] == l)
            return true;
    return false;
}

/* The dimension of what f defines whose subscript is the loop, or -1. */
static int dimension_of(const struct family *f, const struct loop *l)
{
    for (int d = 0; d < f->var->ndim; d++)
        if (!f->upper[d] && f->lower[d]->kind == SYM_LOOP &&
            f->lower[d]->loop == l)
            return d;
    return -1;
}

struct loop *aligned_in_family(struct compiler *c, const struct alignment *a,
                               const struct family *f, bool *ok)
{
    struct loop *l = NULL;
    *ok = true;
    loop_at_places(a, substitute_derived(c, f->body), &l, ok);
    *ok = *ok && (!l || is_loop_of(f->loops, f->nloops, l));
    return *ok ? l : NULL;
}

struct loop *aligned_in_factor(const struct alignment *a,
                               const struct factor *g)
{
    struct loop *l = NULL;
    bool ok = true;
    loop_at_places(a, g->logp, &l, &ok);
    loop_at_places(a, g->value, &l, &ok);
    loop_at_places(a, g->lower, &l, &ok);
    loop_at_places(a, g->upper, &l, &ok);
    return ok && l && is_loop_of(g->loops, g->nloops, l) ? l : NULL;
}

static bool depends(const struct model *m, const struct var *w,
                    const struct var *v)
{
    return w->stored && derived_depends(m, w, v);
}

/* Gives w a place if some definition of it tells; false if one cannot be. */
static bool place_var(struct compiler *c, struct alignment *a, struct var *w)
{
    for (const struct family *f = w->families; f; f = f->next_of_var) {
        bool ok;
        if (f->stochastic || !f->body)
            continue;
        if (f->sequence)
            return false;
        struct loop *l = aligned_in_family(c, a, f, &ok);
        if (!ok)
            return false;
        int d = l ? dimension_of(f, l) : -1;
        if (l && d < 0)
            return false;
        if (l && place_of(a, w) >= 0 && place_of(a, w) != d)
            return false;
        if (l && place_of(a, w) < 0)
            a->places[a->n++] = (struct aligned_place){w, d};
    }
    return true;
}

/* The alignment along dimension d of the target, or NULL. */
static struct alignment *align(struct compiler *c, const struct model *m,
                               const struct family *target, int d)
{
    struct alignment *a = NEW(c, struct alignment);
    int room = 1;
    for (const struct var *v = m->vars; v; v = v->next)
        room += depends(m, v, target->var);
    a->places = NEW_ARRAY(c, struct aligned_place, room);
    a->places[a->n++] = (struct aligned_place){target->var, d};
    a->dim = d;
    /* to a fixed point; the last round has checked all */
    for (int before = 0; before < a->n;) {
        before = a->n;
        for (struct var *v = m->vars; v; v = v->next)
            if (depends(m, v, target->var) && !place_var(c, a, v))
                return NULL;
    }
    return a->n == room ? a : NULL;
}

struct alignment *find_alignments(struct compiler *c, const struct model *m,
                                  const struct family *target)
{
    struct alignment *list = NULL, **last = &list;
    for (int d = 0; d < target->var->ndim; d++) {
        if (target->upper[d] || target->lower[d]->kind != SYM_LOOP)
            continue;
        *last = align(c, m, target, d);
        if (*last)
            last = &(*last)->next;
    }
    return list;
}
