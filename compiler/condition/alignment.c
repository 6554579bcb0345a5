/* alignment.c: which part of the stored derived nodes one element of a target
 * reaches. Learning rates alpha[s] of values V[s, t + 1] <- V[s, t] + alpha[s]
 * * ... change the row s of V alone, and the terms of y[s, t] alone; without
 * this, an update of one subject would recompute all subjects. Where alpha is
 * read by an index that data settle, alpha[site[s]], its element changes the
 * rows of its site.
 *
 * An alignment follows one dimension of the target. It gives each stored
 * derived variable that depends on the target a key: an expression of a cell's
 * subscripts and data that says at which subscript of the target its value
 * reads it. So wherever a definition reads the target or one of these
 * variables, the keys at those places are one and the same expression of the
 * statement's loops, from which the subscripts of what is defined follow. Where
 * that fails the cells may depend on any element: they have no key. By
 * induction, cells of key i depend on the target's elements that have i in the
 * dimension, and on no others. */
#include "condition/condition.h"

/* What an expression reads of aligned variables: `key` if it is only one. */
struct reading {
    symp key;
    bool any, many;
};

static struct aligned_place *place_of(const struct alignment *a,
                                      const struct var *v)
{
    for (int i = 0; i < a->n; i++)
        if (a->places[i].var == v)
            return &a->places[i];
    return NULL;
}

static symp key_of_cell(struct compiler *c, const struct alignment *a, symp key,
                        symp cell)
{
    for (int d = 0; d < cell->nargs; d++)
        key = sym_replace_loop(c, key, a->at[d], cell->args[d]);
    return key;
}

static void read_in(struct compiler *c, const struct alignment *a, symp e,
                    struct reading *r)
{
    if (!e)
        return;
    const struct aligned_place *p =
        e->kind == SYM_REF ? place_of(a, e->var) : NULL;
    if (p) {
        symp key = p->key ? key_of_cell(c, a, p->key, e) : NULL;
        r->many = r->many || !key || (r->any && !sym_same(key, r->key));
        r->any = true;
        r->key = key;
    }
    for (int i = 0; i < e->nargs; i++)
        read_in(c, a, e->args[i], r);
}

/* Whether data and the loops alone settle e. */
static bool settled(symp e, struct loop *const *loops, int n)
{
    bool known = e->kind == SYM_NUM || e->kind == SYM_EXTENT ||
                 e->kind == SYM_ADD || e->kind == SYM_MUL ||
                 (e->kind == SYM_REF && (e->var->role == ROLE_GIVEN ||
                                         e->var->role == ROLE_CONSTANT));
    for (int i = 0; e->kind == SYM_LOOP && i < n; i++)
        known = known || loops[i] == e->loop;
    for (int i = 0; known && i < e->nargs; i++)
        known = settled(e->args[i], loops, n);
    return known;
}

static bool is_key(const struct reading *r, struct loop *const *loops, int n)
{
    return r->any && !r->many && model_is_integer(r->key) &&
           settled(r->key, loops, n);
}

static struct reading read_by_family(struct compiler *c,
                                     const struct alignment *a,
                                     const struct family *f)
{
    struct reading r = {.key = NULL};
    read_in(c, a, model_substitute_derived(c, f->body), &r);
    r.many = r.many || (r.any && !is_key(&r, f->loops, f->nloops));
    return r;
}

symp condition_aligned_at(struct compiler *c, const struct alignment *a,
                          const struct factor *g)
{
    struct reading r = {.key = NULL};
    read_in(c, a, g->logp, &r);
    read_in(c, a, g->value, &r);
    read_in(c, a, g->lower, &r);
    read_in(c, a, g->upper, &r);
    return is_key(&r, g->loops, g->nloops) ? r.key : NULL;
}

/* A key in f's loops, in the subscripts of what f defines; NULL if they do not
 * tell it. */
static symp by_subscripts(struct compiler *c, const struct alignment *a,
                          const struct family *f, symp key)
{
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        const struct loop *l =
            f->upper[d] ? NULL : sym_plain_loop(c, f->lower[d], &offset);
        if (l && !sym_has_loop_of(offset, f->loops, f->nloops))
            key = sym_replace_loop(c, key, l,
                                   sym_sub(c, sym_loop(c, a->at[d]), offset));
    }
    return sym_has_loop_of(key, f->loops, f->nloops) ? NULL : key;
}

/* Settles the place of w as far as the others' are; true if it changes: from
 * none to a key, from a key to none. */
static bool place_var(struct compiler *c, struct alignment *a, struct var *w)
{
    struct aligned_place *at = place_of(a, w);
    symp key = at ? at->key : NULL;
    bool any = at != NULL, many = at && !key;
    for (const struct family *f = w->families; f && !many; f = f->next_of_var) {
        if (f->stochastic || !f->body)
            continue;
        struct reading r = read_by_family(c, a, f);
        if (!r.any)
            continue;
        symp k = r.many ? NULL : by_subscripts(c, a, f, r.key);
        many = f->sequence || !k || (any && !sym_same(k, key));
        any = true;
        key = k;
    }
    if (!any || (at && (!many || !at->key)))
        return false;
    if (!at) {
        at = &a->places[a->n++];
        at->var = w;
    }
    at->key = many ? NULL : key;
    return true;
}

/* What affine.c has added is recomputed after the update. */
static bool depends(const struct model *m, const struct var *w,
                    const struct var *v)
{
    return w->stored && !(w->families && w->families->for_updates) &&
           model_derived_depends(m, w, v);
}

static void settle_places(struct compiler *c, const struct model *m,
                          struct alignment *a)
{
    const struct var *target = a->places[0].var;
    for (bool changed = true; changed;) {
        changed = false;
        for (struct var *v = m->vars; v; v = v->next)
            if (depends(m, v, target))
                changed = place_var(c, a, v) || changed;
    }
}

/* The alignment along dimension d of the target, or NULL if nothing has a key.
 */
static struct alignment *align(struct compiler *c, const struct model *m,
                               const struct family *target, int d)
{
    struct alignment *a = NEW(c, struct alignment);
    int room = 1;
    for (const struct var *v = m->vars; v; v = v->next)
        room += depends(m, v, target->var);
    for (int i = 0; i < MAX_DIMS; i++) {
        a->at[i] = NEW(c, struct loop);
        a->at[i]->name = intern_format(c, "at%d", i + 1);
    }
    a->dim = d;
    a->places = NEW_ARRAY(c, struct aligned_place, room);
    a->places[a->n++] =
        (struct aligned_place){target->var, sym_loop(c, a->at[d])};
    settle_places(c, m, a);
    for (const struct var *v = m->vars; v; v = v->next)
        if (depends(m, v, target->var) && !place_of(a, v))
            a->places[a->n++] = (struct aligned_place){v, NULL};
    settle_places(c, m, a);
    for (int i = 1; i < a->n; i++)
        if (a->places[i].key && a->places[0].key)
            return a;
    return NULL;
}

bool condition_all_have_keys(const struct alignment *a)
{
    for (int i = 0; i < a->n; i++)
        if (!a->places[i].key)
            return false;
    return true;
}

struct alignment *condition_find_alignments(struct compiler *c,
                                            const struct model *m,
                                            const struct family *target)
{
    struct alignment *list = NULL, **last = &list;
    for (int d = 0; d < target->var->ndim; d++) {
        if (target->upper[d])
            continue;
        *last = align(c, m, target, d);
        if (*last)
            last = &(*last)->next;
    }
    return list;
}
