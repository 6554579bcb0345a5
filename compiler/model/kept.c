/* kept.c: more derived nodes to store. What is stored is recomputed whenever an
 * update moves what it depends on, at each trial value of a slice; and its
 * definition, with others put in their places, may compute the same value over
 * and over: of
 *     w[i, s] <- V[s]^z[group[i]] / sum(V[]^z[group[i]])
 * the element of z for each row of its group, and the sum for each s. What is
 * repeated like this is stored too, if it takes work and only definitions of
 * stored nodes read it, so that no full conditional loses its form.
 *
 * Requires that `stored` is chosen; families are in order. */
#include "model/resolve.h"
#include <string.h>

/* Whether what reads v ends in stored nodes before it gets to a distribution.
 */
static bool feeds_stored_alone(const struct model *m, struct var *v, int depth)
{
    if (depth > 16)
        return false;
    for (const struct family *f = m->families; f; f = f->next) {
        if (f->var == v || !family_any(f, sym_reads_var, v, true))
            continue;
        if (f->stochastic || f->data_block)
            return false;
        if (!f->var->stored && !feeds_stored_alone(m, f->var, depth + 1))
            return false;
    }
    return true;
}

static bool is_costly(symp e, const void *unused)
{
    (void)unused;
    bool power = e->kind == SYM_POW &&
                 !(e->args[1]->kind == SYM_NUM &&
                   (e->args[1]->number == -1 || e->args[1]->number == 2));
    return e->kind == SYM_SUM || e->kind == SYM_ARRAY || power ||
           (e->kind == SYM_CALL && !model_is_integer(e));
}

/* More than a few operations, definitions of others not counted. */
static bool takes_work(symp e) { return sym_any(e, is_costly, NULL); }

/* ---- nodes ----------------------------------------------------------------
 */

/* The loops of a definition and the bound indices of sums around a place. */
struct around {
    struct loop *loops[MAX_LOOPS + 16];
    int n;
};

static void step_into(struct around *k, struct loop *l)
{
    if (k->n < MAX_LOOPS + 16)
        k->loops[k->n++] = l;
}

static void step_into_indices(struct around *k, symp e)
{
    if (e->kind == SYM_SUM)
        step_into(k, e->loop);
    for (int i = 0; e->kind == SYM_ARRAY && i < e->nloops; i++)
        step_into(k, e->loops[i]);
}

static struct around around_body(const struct family *f)
{
    struct around k = {.n = 0};
    for (int i = 0; i < f->nloops; i++)
        step_into(&k, f->loops[i]);
    for (int i = 0; i < f->nslices && f->slice[i]; i++)
        step_into(&k, f->slice[i]);
    return k;
}

/* Whether the reference reads one cell in several turns of the loops: it is
 * free of one, or has it inside an index. */
static bool repeats(struct compiler *c, const struct around *k, symp ref)
{
    for (int i = 0; i < k->n; i++) {
        bool told = false;
        for (int d = 0; d < ref->nargs; d++) {
            symp offset;
            told =
                told || sym_plain_loop(c, ref->args[d], &offset) == k->loops[i];
        }
        if (!told)
            return true;
    }
    return false;
}

static bool read_again(struct compiler *c, struct around *k, symp e,
                       const struct var *v)
{
    if (e->kind == SYM_REF && e->var == v && repeats(c, k, e))
        return true;
    int depth = k->n;
    bool found = false;
    step_into_indices(k, e);
    for (int i = 0; i < e->nargs && !found; i++)
        found = read_again(c, k, e->args[i], v);
    k->n = depth;
    return found;
}

static bool definition_takes_work(const struct var *v)
{
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (f->body && takes_work(f->body))
            return true;
    return false;
}

static bool keep_var(struct compiler *c, const struct model *m, struct var *v)
{
    bool again = false;
    if (v->role != ROLE_DERIVED || v->stored || !definition_takes_work(v))
        return false;
    for (const struct family *f = m->families; f && !again; f = f->next) {
        struct around k = around_body(f);
        again = !f->stochastic && f->var != v && f->body &&
                read_again(c, &k, f->body, v);
    }
    return again && feeds_stored_alone(m, v, 0);
}

/* ---- parts of definitions -------------------------------------------------
 */

struct definition {
    struct model *m;
    struct family *family;
    struct around around;
};

/* Whether the ends of the loops that e has are settled by these loops. */
static bool stands_alone(const struct family *f, symp e)
{
    bool fewer = false;
    for (int i = 0; i < f->nloops; i++) {
        if (!sym_has_loop(e, f->loops[i])) {
            fewer = true;
            continue;
        }
        for (int j = 0; j < f->nloops; j++)
            if (!sym_has_loop(e, f->loops[j]) &&
                (sym_has_loop(f->loops[i]->lower, f->loops[j]) ||
                 sym_has_loop(f->loops[i]->upper, f->loops[j])))
                return false;
    }
    return fewer;
}

/* Whether e depends on what f defines. */
static bool goes_round(const struct model *m, const struct family *f, symp e)
{
    if (e->kind == SYM_REF &&
        (e->var == f->var || model_derived_depends(m, e->var, f->var)))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (goes_round(m, f, e->args[i]))
            return true;
    return false;
}

static const char *new_name(struct compiler *c, const struct model *m)
{
    const char *name = NULL;
    for (int number = 1; !name; number++) {
        name = intern_format(c, "part.%d", number);
        for (const struct var *v = m->vars; v && name; v = v->next)
            if (v->name == name)
                name = NULL;
    }
    return name;
}

/* A derived variable of the value of e, in the loops of f that it has; defined
 * before f. */
static symp new_node(struct compiler *c, struct model *m, struct family *f,
                     symp e)
{
    struct var *v = NEW(c, struct var);
    struct family *g = NEW(c, struct family);
    symp at[MAX_LOOPS];
    v->name = new_name(c, m);
    v->span = f->span;
    v->role = ROLE_DERIVED;
    v->hidden = v->used = v->stored = true;
    g->loops = NEW_ARRAY(c, struct loop *, f->nloops + 1);
    for (int i = 0; i < f->nloops; i++) {
        if (!sym_has_loop(e, f->loops[i]))
            continue;
        g->loops[g->nloops++] = f->loops[i];
        at[v->ndim] = g->lower[v->ndim] = sym_loop(c, f->loops[i]);
        v->ndim++;
    }
    g->var = v;
    g->span = f->span;
    g->body = e;
    g->text = intern_format(c, "%s of %s", v->name, f->text);
    v->families = g;
    *m->last_var = v;
    m->last_var = &v->next;
    struct family **link = &m->families;
    while (*link != f)
        link = &(*link)->next;
    g->next = f;
    *link = g;
    m->nfamilies++;
    family_number(m);
    return sym_ref(c, v, v->ndim, at);
}

/* Greatest parts of a definition that are free of one of its loops. Those of a
 * choice may have no value outside it. */
static symp keep_parts(struct compiler *c, struct definition *k, symp e)
{
    const struct family *f = k->family;
    if (takes_work(e) && e->kind != SYM_ARRAY && sym_reads_latent(e) &&
        !sym_has_loop_of(e, k->around.loops + f->nloops,
                         k->around.n - f->nloops) &&
        stands_alone(f, e) && !goes_round(k->m, f, e))
        return new_node(c, k->m, k->family, e);
    symp *args = NEW_ARRAY(c, symp, e->nargs);
    bool changed = false;
    int depth = k->around.n;
    step_into_indices(&k->around, e);
    for (int i = 0; i < e->nargs; i++) {
        bool chosen = e->kind == SYM_SELECT && i > 0;
        args[i] = chosen ? e->args[i] : keep_parts(c, k, e->args[i]);
        changed = changed || args[i] != e->args[i];
    }
    k->around.n = depth;
    return changed ? sym_rebuild(c, e, args) : e;
}

static void keep_parts_of(struct compiler *c, struct model *m, struct family *f)
{
    if (f->stochastic || f->data_block || f->constant || f->whole_call ||
        f->var->role != ROLE_DERIVED || !f->body || f->nloops < 1 ||
        (!f->var->stored && !feeds_stored_alone(m, f->var, 0)))
        return;
    struct definition k = {.m = m, .family = f, .around = around_body(f)};
    f->body = keep_parts(c, &k, f->body);
}

void model_keep_repeated(struct compiler *c, struct model *m)
{
    bool any = false;
    for (const struct var *v = m->vars; v; v = v->next)
        any = any || v->stored;
    if (!any)
        return;
    for (struct family *f = m->families; f; f = f->next)
        keep_parts_of(c, m, f);
    /* families are in order: what others read first */
    for (struct family *f = m->families; f; f = f->next)
        f->var->stored = f->var->stored || keep_var(c, m, f->var);
}
