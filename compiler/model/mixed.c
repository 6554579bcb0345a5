/* mixed.c: arrays of which some elements are random and others functions of
 * random ones, as in
 *
 *     N[1] ~ dunif(0, 500)
 *     for (t in 2:T) { N[t] <- N[t-1] * lambda[t-1] }
 *
 * Where the functions can be put in the place of what reads them, that is done
 * (derived.c). Where they cannot, as the array reads itself, it becomes two of
 * the same name: the random elements, which take data and starting values, and
 * the whole array, computed from them, which is what all statements read. */
#include "model/resolve.h"

static bool computes(const struct family *f)
{
    return !f->stochastic && !f->constant && !f->data_block;
}

static bool has_computed(const struct var *v)
{
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (computes(f))
            return true;
    return false;
}

/* Whether a computed element of v may depend on an element of `to` through
 * computed ones. Marks the variables that it has been to. */
static bool depends(const struct model *m, const struct var *v, struct var *to,
                    bool *been)
{
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        if (!computes(f))
            continue;
        if (family_any(f, sym_reads_var, to, false))
            return true;
        int i = 0;
        for (struct var *w = m->vars; w; w = w->next, i++) {
            if (been[i] || !has_computed(w) ||
                !family_any(f, sym_reads_var, w, false))
                continue;
            been[i] = true;
            if (depends(m, w, to, been))
                return true;
        }
    }
    return false;
}

/* Whether computed elements of v depend on elements of v through other arrays,
 * unless they are single ones. */
static bool depends_through_others(struct compiler *c, const struct model *m,
                                   struct var *v)
{
    bool single = true;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        single = single && (!computes(f) || f->nloops == 0);
    if (single)
        return false;
    int n = 0;
    for (const struct var *w = m->vars; w; w = w->next)
        n++;
    bool *been = NEW_ARRAY(c, bool, n);
    int i = 0;
    for (struct var *w = m->vars; w; w = w->next, i++)
        been[i] = w == v;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        i = 0;
        for (struct var *w = m->vars; computes(f) && w; w = w->next, i++) {
            if (been[i] || !has_computed(w) ||
                !family_any(f, sym_reads_var, w, false))
                continue;
            been[i] = true;
            if (depends(m, w, v, been))
                return true;
        }
    }
    return false;
}

/* z[i,f[i]] <- y[i,f[i]]: a count or category that no other density reads is
 * data as a rule; then the element is a constant. Otherwise told at load. */
static bool copies_data(struct model *m, const struct family *f)
{
    if (f->recursive)
        return false;
    for (struct var *w = m->vars; w; w = w->next) {
        if (w->role == ROLE_GIVEN || w->role == ROLE_CONSTANT ||
            !family_any(f, sym_reads_var, w, true))
            continue;
        if (w->role != ROLE_STOCHASTIC || !w->integer)
            return false;
        for (struct family *g = m->families; g; g = g->next)
            if (g->stochastic && family_any(g, sym_reads_var, w, true))
                return false;
    }
    return true;
}

static bool must_split(struct compiler *c, struct model *m, struct var *v)
{
    if (v->role != ROLE_STOCHASTIC || !has_computed(v))
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (f->data_block)
            return false;
    for (struct family *f = v->families; f; f = f->next_of_var)
        if (computes(f) && !model_mixed_substitutable(c, f)) {
            if (!copies_data(m, f))
                return true;
            f->of_data = true;
        }
    return depends_through_others(c, m, v);
}

struct renaming {
    struct var *from, *to;
};
static symp renamed_node(struct compiler *c, symp e, void *context)
{
    const struct renaming *k = context;
    if (e->kind == SYM_EXTENT && e->var == k->from)
        return sym_extent(c, k->to, e->dim);
    if (e->kind != SYM_REF || e->var != k->from)
        return NULL;
    symp args[8];
    for (int d = 0; d < e->nargs; d++)
        args[d] = sym_map(c, e->args[d], renamed_node, context);
    return sym_ref(c, k->to, e->nargs, args);
}

static void rename_in(struct compiler *c, symp *e, struct renaming *k)
{
    if (*e)
        *e = sym_map(c, *e, renamed_node, k);
}

static void rename_in_family(struct compiler *c, struct family *f,
                             struct renaming *k)
{
    rename_in(c, &f->body, k);
    rename_in(c, &f->stated, k);
    rename_in(c, &f->trunc_lower, k);
    rename_in(c, &f->trunc_upper, k);
    for (int i = 0; i < f->nloops; i++) {
        rename_in(c, &f->loops[i]->lower, k);
        rename_in(c, &f->loops[i]->upper, k);
    }
    for (int d = 0; d < f->var->ndim; d++) {
        rename_in(c, &f->lower[d], k);
        rename_in(c, &f->upper[d], k);
    }
    for (int i = 0; i < f->nargs; i++) {
        rename_in(c, &f->args[i].body, k);
        for (int d = 0; d < f->args[i].ndim; d++)
            rename_in(c, &f->args[i].extents[d], k);
    }
}

/* whole[lhs] <- v[lhs] for the elements of a stochastic family. */
static void add_copy(struct resolver *r, const struct family *f,
                     struct var *whole)
{
    struct compiler *c = r->c;
    struct family *copy = family_new(r, whole, f->span);
    copy->text = f->text;
    copy->nloops = f->nloops;
    for (int i = 0; i < f->nloops; i++)
        copy->loops[i] = f->loops[i];
    for (int d = 0; d < f->var->ndim; d++) {
        copy->lower[d] = f->lower[d];
        if (!f->upper[d])
            continue;
        struct loop *l = model_new_loop(c, "k", f->lower[d], f->upper[d]);
        copy->loops[copy->nloops++] = l;
        copy->lower[d] = sym_loop(c, l);
    }
    copy->body = sym_ref(c, f->var, f->var->ndim, copy->lower);
    family_add(r->m, copy);
}

static void split(struct resolver *r, struct var *v)
{
    struct compiler *c = r->c;
    struct var *whole = NEW(c, struct var);
    whole->name = v->name;
    whole->span = v->span;
    whole->ndim = v->ndim;
    whole->role = ROLE_DERIVED;
    for (int d = 0; d < v->ndim; d++)
        whole->declared[d] = v->declared[d];
    *r->m->last_var = whole;
    r->m->last_var = &whole->next;
    struct renaming k = {v, whole};
    for (struct family *f = r->m->families; f; f = f->next)
        rename_in_family(c, f, &k);
    for (struct family **p = &v->families; *p;) {
        struct family *f = *p;
        if (f->stochastic) {
            add_copy(r, f, whole);
            p = &f->next_of_var;
            continue;
        }
        *p = f->next_of_var;
        f->next_of_var = whole->families;
        whole->families = f;
        f->var = whole;
    }
    v->whole = whole;
}

void model_split_mixed(struct compiler *c, struct model *m)
{
    struct resolver r = {.c = c, .m = m};
    bool any = false;
    for (struct var *v = m->vars; v; v = v->next)
        if (!v->whole && must_split(c, m, v)) {
            split(&r, v);
            any = true;
        }
    if (any)
        model_settle_roles(c, m);
}
