/* constants.c: what data settle is computed once, at load: an array of its own,
 * with a cell for each value of the loops around it. */
#include "model/model.h"
#include <stdio.h>
#include <string.h>

struct loops {
    const struct loop *at[MAX_DIMS];
    int n;
    const struct loop *bound[16];
    int nbound;
    bool failed;
};

/* The loops that e stands in. */
static void find_loops(struct loops *k, symp e)
{
    if (e->kind == SYM_LOOP) {
        for (int i = 0; i < k->nbound; i++)
            if (k->bound[i] == e->loop)
                return;
        for (int i = 0; i < k->n; i++)
            if (k->at[i] == e->loop)
                return;
        if (k->n == MAX_DIMS)
            k->failed = true;
        else
            k->at[k->n++] = e->loop;
        return;
    }
    int depth = k->nbound;
    int more = e->kind == SYM_SUM ? 1 : e->kind == SYM_ARRAY ? e->nloops : 0;
    k->failed = k->failed || depth + more > 16;
    if (k->failed)
        return;
    for (int i = 0; i < more; i++)
        k->bound[k->nbound++] = e->kind == SYM_SUM ? e->loop : e->loops[i];
    for (int i = 0; i < e->nargs; i++)
        find_loops(k, e->args[i]);
    k->nbound = depth;
}

/* Pairs of loops that stand for each other. */
struct pairs {
    const struct loop *a[24], *b[24];
    int n;
};

/* Whether a and b are the same but for the names of their indices. */
static bool alike(struct pairs *k, symp a, symp b)
{
    if (a->kind == SYM_LOOP && b->kind == SYM_LOOP) {
        for (int i = k->n - 1; i >= 0; i--)
            if (k->a[i] == a->loop || k->b[i] == b->loop)
                return k->a[i] == a->loop && k->b[i] == b->loop;
        return a->loop == b->loop;
    }
    int more = a->kind == SYM_SUM ? 1 : a->kind == SYM_ARRAY ? a->nloops : 0;
    if (a->kind != b->kind || a->number != b->number || a->var != b->var ||
        a->dim != b->dim || a->name != b->name || a->nargs != b->nargs ||
        a->nloops != b->nloops || k->n + more > 24)
        return false;
    int depth = k->n;
    for (int i = 0; i < more; i++, k->n++) {
        k->a[k->n] = a->kind == SYM_SUM ? a->loop : a->loops[i];
        k->b[k->n] = b->kind == SYM_SUM ? b->loop : b->loops[i];
    }
    bool same = true, any_order = a->kind == SYM_ADD || a->kind == SYM_MUL;
    unsigned long long taken = 0;
    if (any_order && a->nargs > 64)
        same = false;
    for (int i = 0; same && i < a->nargs; i++) {
        int j = any_order ? 0 : i;
        const int last = any_order ? a->nargs - 1 : i;
        while (j <= last &&
               ((taken >> j & 1) || !alike(k, a->args[i], b->args[j])))
            j++;
        same = j <= last;
        if (same && any_order)
            taken |= 1ull << j;
    }
    k->n = depth;
    return same;
}

bool model_alike(symp a, symp b)
{
    struct pairs k = {.n = 0};
    return alike(&k, a, b);
}

/* Whether v is a constant, or a table, that holds e at these loops. */
static bool holds(const struct var *v, symp e, const struct loops *at,
                  bool for_updates)
{
    const struct family *f = v->families;
    if (!v->hidden || v->role != (for_updates ? ROLE_DERIVED : ROLE_CONSTANT) ||
        !f || f->whole_call || f->next_of_var ||
        f->for_updates != for_updates || f->nloops != at->n || v->ndim != at->n)
        return false;
    struct pairs k = {.n = at->n};
    for (int d = 0; d < at->n; d++) {
        k.a[d] = at->at[d];
        k.b[d] = f->loops[d];
        if (f->lower[d]->kind != SYM_LOOP || f->lower[d]->loop != f->loops[d] ||
            f->loops[d]->tried != at->at[d]->tried ||
            !sym_same(at->at[d]->lower, f->loops[d]->lower) ||
            !sym_same(at->at[d]->upper, f->loops[d]->upper))
            return false;
    }
    return alike(&k, e, f->body);
}

/* The same loops with fresh names, e rewritten to them; false if their ends are
 * not settled by data, for all elements alike. */
static bool open_loops(struct compiler *c, const struct loops *k, symp *e,
                       struct loop **loops)
{
    for (int d = 0; d < k->n; d++) {
        const struct loop *l = k->at[d];
        if (!sym_fixed(l->lower) || !sym_fixed(l->upper))
            return false;
        loops[d] = NEW(c, struct loop);
        *loops[d] = *l;
        *e = sym_replace_loop(c, *e, l, sym_loop(c, loops[d]));
    }
    return true;
}

struct var *model_new_array(struct compiler *c, struct model *m,
                            const char *name, struct family *f)
{
    struct var *v = NEW(c, struct var);
    int number = 0;
    for (const struct var *w = m->vars, *same = w; same;) {
        v->name = intern_format(c, "%s.%d", name, ++number);
        for (same = NULL, w = m->vars; w; w = w->next)
            if (w->name == v->name)
                same = w;
    }
    v->ndim = f->nloops;
    model_name_added_in_c(c, m, v);
    v->hidden = v->used = true;
    v->families = f;
    f->var = v;
    f->text = v->name;
    for (int d = 0; d < f->nloops; d++)
        f->lower[d] = sym_loop(c, f->loops[d]);
    *m->last_var = v;
    m->last_var = &v->next;
    return v;
}

static symp array_of(struct compiler *c, struct model *m, symp e,
                     bool for_updates, symp outer)
{
    struct loops k = {.n = 0};
    if (outer)
        find_loops(&k, outer);
    find_loops(&k, e);
    if (k.failed)
        return NULL;
    symp at[MAX_DIMS];
    struct family *f = NEW(c, struct family);
    f->nloops = k.n;
    f->loops = NEW_ARRAY(c, struct loop *, k.n);
    f->body = e;
    if (!open_loops(c, &k, &f->body, f->loops))
        return NULL;
    for (int d = 0; d < k.n; d++)
        at[d] = sym_loop(c, (struct loop *)(uintptr_t)k.at[d]);
    for (struct var *v = m->vars; v; v = v->next)
        if (holds(v, e, &k, for_updates))
            return sym_ref(c, v, k.n, at);
    struct var *v = model_new_array(c, m, for_updates ? "table" : "constant", f);
    v->role = for_updates ? ROLE_DERIVED : ROLE_CONSTANT;
    v->stored = f->for_updates = for_updates;
    v->may_be_infinite = sym_may_be_infinite(e);
    f->constant = !for_updates;
    /* a constant before all that read it, a table behind all that it reads */
    struct family **place = &m->families;
    while (for_updates && *place)
        place = &(*place)->next;
    f->next = *place;
    *place = f;
    if (!f->next)
        m->last_family = &f->next;
    family_number(m);
    return sym_ref(c, v, k.n, at);
}

symp model_constant_of(struct compiler *c, struct model *m, symp e)
{
    return array_of(c, m, e, false, NULL);
}

symp model_table_of(struct compiler *c, struct model *m, symp e, symp outer)
{
    return array_of(c, m, e, true, outer);
}

/* ---- of the model -------------------------------------------------------- */

static bool is_no_given(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_SEEN || e->kind == SYM_LIVE ||
           e->kind == SYM_TARGET || e->kind == SYM_PARAM ||
           sym_is_draw(e, NULL) ||
           (e->kind == SYM_REF && e->var->role != ROLE_GIVEN);
}

static bool is_over_array(symp e)
{
    bool over = e->kind == SYM_SUM;
    for (int i = 0; e->kind == SYM_CALL && i < e->nargs; i++)
        over = over || e->args[i]->kind == SYM_ARRAY;
    return over;
}

static bool is_summary(symp e)
{
    struct loops k = {.n = 0};
    if (!is_over_array(e) || sym_any(e, is_no_given, NULL))
        return false;
    find_loops(&k, e);
    return !k.failed && k.n == 0;
}

struct keeping {
    struct model *m;
    const struct family *f;
};
static symp kept_node(struct compiler *c, symp e, void *context)
{
    const struct keeping *k = context;
    if (sym_is_list(e) || (k->f->nloops && is_summary(e)))
        return model_constant_of(c, k->m, e);
    return NULL;
}

void model_keep_summaries(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next) {
        struct keeping k = {m, f};
        if (f->whole_call || (f->var->hidden && f->var->role == ROLE_CONSTANT))
            continue;
        if (f->body)
            f->body = sym_map(c, f->body, kept_node, &k);
        for (int i = 0; i < f->nargs; i++)
            f->args[i].body = sym_map(c, f->args[i].body, kept_node, &k);
        if (f->stated)
            f->stated = sym_map(c, f->stated, kept_node, &k);
    }
}

/* ---- ends ----------------------------------------------------------------
 */

static bool is_random(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->var->role == ROLE_STOCHASTIC;
}

/* What a sweep may change although no data stand for it. */
static bool is_derived(symp e, const void *unused)
{
    return sym_is_latent(e, unused) && !is_random(e, unused);
}

/* What ends a loop or a range is asked for in each pass over it: what
 * summarises arrays, as 1:max(group), is computed once. What is expected to be
 * observed is taken from the data, as a data block would, as 1:count[i]. */
static symp kept_end(struct compiler *c, symp e, void *context)
{
    const struct keeping *k = context;
    if ((!is_over_array(e) && !is_random(e, NULL)) ||
        sym_any(e, is_derived, NULL))
        return NULL;
    symp constant = model_constant_of(c, k->m, e);
    if (constant && sym_any(e, is_random, NULL)) {
        struct family *f = constant->var->families;
        f->data_block = true;
        f->span = k->f->span; /* who reads it, if it is missing */
    }
    return constant;
}

static void keep_end(struct compiler *c, const struct keeping *k, symp *end)
{
    *end = sym_map(c, *end, kept_end, (void *)(uintptr_t)k);
    if (sym_reads_latent(*end))
        error_at(c, k->f->span,
                 "how many elements of %s this defines hangs on what the model "
                 "draws, or computes of that: compute it in data { }",
                 k->f->var->name);
}

static symp kept_summary(struct compiler *c, symp e, void *model)
{
    return is_summary(e) ? model_constant_of(c, model, e) : NULL;
}

void model_keep_ends(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next) {
        const struct keeping k = {m, f};
        if (f->var->hidden)
            continue;
        for (int i = 0; i < f->nargs; i++) /* the state may settle extents */
            for (int d = 0; d < f->args[i].ndim; d++)
                f->args[i].extents[d] =
                    sym_map(c, f->args[i].extents[d], kept_summary, m);
        for (int d = 0; d < f->nloops; d++) {
            keep_end(c, &k, &f->loops[d]->lower);
            keep_end(c, &k, &f->loops[d]->upper);
        }
        for (int d = 0; d < f->var->ndim; d++)
            if (f->upper[d]) {
                keep_end(c, &k, &f->lower[d]);
                keep_end(c, &k, &f->upper[d]);
            }
    }
}
