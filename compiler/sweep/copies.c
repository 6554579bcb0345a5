/* copies.c: rows of a likelihood that are the same. A density that reads its
 * row through a few whole numbers of the data alone, as an ordinal probability
 * through the answer y[i] and the group x[i], takes as many values as these
 * have combinations. How often each occurs is counted at load; a slice then
 * evaluates one row of each kind, and takes it as many times.
 *
 * Holds where the observed array is observed throughout, which the program asks
 * at run time. Requires chosen methods; sets `copies` of parts. */
#include "sweep/sweep.h"

struct keys {
    const struct factor *g;
    symp at[3];
    int n;
    bool failed, called;
};

static bool of_row(const struct keys *k, symp e)
{
    return sym_has_loop(e, k->g->loops[0]);
}

/* A whole number that the data give for each row. */
static bool is_key(const struct keys *k, symp e)
{
    if (e->kind != SYM_REF || !e->var->integer)
        return false;
    if (e->var == k->g->seen_var)
        return sym_same(e, k->g->value);
    if (e->var->role != ROLE_GIVEN)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i]->kind != SYM_LOOP ? of_row(k, e->args[i])
                                         : !of_row(k, e->args[i]))
            return false;
    return true;
}

static void find_keys(struct keys *k, symp e)
{
    k->called = k->called || e->kind == SYM_CALL || e->kind == SYM_POW;
    if (k->failed || !of_row(k, e))
        return;
    if (e->kind == SYM_LOOP || e->kind == SYM_SEEN || e->kind == SYM_LIVE) {
        k->failed = true;
        return;
    }
    if (!is_key(k, e)) {
        for (int i = 0; i < e->nargs; i++)
            find_keys(k, e->args[i]);
        return;
    }
    for (int i = 0; i < k->n; i++)
        if (sym_same(k->at[i], e))
            return;
    if (k->n == 3)
        k->failed = true;
    else
        k->at[k->n++] = e;
}

static struct var *new_constant(struct compiler *c, struct model *m)
{
    struct var *v = NEW(c, struct var);
    v->name = intern_format(c, "copies.%d", m->nfamilies);
    v->role = ROLE_CONSTANT;
    v->hidden = v->used = true;
    v->ndim = 1;
    model_name_added_in_c(c, m, v);
    *m->last_var = v;
    m->last_var = &v->next;
    return v;
}

/* The keys as vectors, the first rows of them. */
static symp vector_of(struct compiler *c, const struct factor *g, symp key,
                      symp rows)
{
    struct loop *l = NEW(c, struct loop);
    l->name = g->loops[0]->name;
    return sym_array(c, 1, &l, &rows,
                     sym_replace_loop(c, key, g->loops[0], sym_loop(c, l)));
}

/* The array of how often the row occurs, at the first of its kind; 0 at the
 * others. */
static struct var *counted(struct compiler *c, struct model *m,
                           struct factor *g, const struct keys *k)
{
    symp most = sym_num(c, COMPARED_MOST); /* the work is on the stack */
    symp rows = sym_call(c, "min", 2, (symp[]){g->loops[0]->upper, most});
    symp args[5] = {rows};
    for (int i = 0; i < 4; i++) /* and working space */
        args[1 + i] =
            vector_of(c, g, i < k->n ? k->at[i] : sym_num(c, 0), rows);
    struct family *f = NEW(c, struct family);
    f->var = new_constant(c, m);
    f->loops = NEW_ARRAY(c, struct loop *, 1);
    f->lower[0] = sym_num(c, 1);
    f->upper[0] = rows;
    f->nslices = 1;
    f->body = sym_call(c, "copies", 5, args);
    f->whole_call = f->constant = true;
    f->text = f->var->name;
    f->var->families = f;
    f->next = m->families;
    m->families = f;
    m->nfamilies++;
    family_number(m);
    return f->var;
}

static bool may_repeat(const struct factor *g)
{
    const struct loop *l = g->nloops == 1 ? g->loops[0] : NULL;
    return g->seen_var && g->seen_var->integer && l && sym_is(l->lower, 1) &&
           !sym_reads_latent(l->upper) && !g->guard;
}

static void count_part(struct compiler *c, struct model *m, struct part *p)
{
    struct factor *g = p->factor;
    if (p->own || !may_repeat(g) || (p->solved[0] && !p->inverse))
        return;
    if (!g->copies) {
        struct keys k = {.g = g};
        find_keys(&k, g->logp);
        if (g->lower)
            find_keys(&k, g->lower);
        if (g->upper)
            find_keys(&k, g->upper);
        if (g->rule)
            find_keys(&k, g->rule);
        if (k.failed || !k.called || !k.n)
            return;
        g->copies = counted(c, m, g, &k);
    }
    symp row = sym_loop(c, p->loops[0]);
    p->copies = sym_ref(c, g->copies, 1, &row);
}

void sweep_count_copies(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next)
        if (s->opaque && s->sampler->trials)
            for (struct part *p = s->parts; p; p = p->next)
                if (p->opaque)
                    count_part(c, m, p);
}
