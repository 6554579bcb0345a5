/* derived.c: deterministic nodes: which are kept in memory, and the others
 * replaced by their definitions where they are read. */
#include "model/resolve.h"

#include <stdlib.h>

/* Whether e reads f's variable elsewhere than at f's own subscripts. */
static bool reads_elsewhere(symp e, const void *context)
{
    const struct family *f = context;
    if (e->kind != SYM_REF || e->var != f->var)
        return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (!sym_same(e->args[d], f->lower[d]))
            return true;
    return false;
}

/* All that read f's variable stand in f's own loops and read the element of the
 * same turn, as in
 *     for (j in 1:J) { for (i in first[j]:last[j]) { mu[i] <- a[j]; y[i] ~ ...
 * where mu's subscripts do not tell j. */
static bool read_in_own_loops(struct model *m, struct family *f, int depth)
{
    if (depth > 16 || f->next_of_var || f->var->families != f)
        return false;
    for (struct family *g = m->families; g; g = g->next) {
        if (!family_any(g, sym_reads_var, f->var, true))
            continue;
        if (g->nloops < f->nloops || family_any(g, reads_elsewhere, f, true))
            return false;
        for (int i = 0; i < f->nloops; i++)
            if (g->loops[i] != f->loops[i])
                return false;
        if (!g->stochastic && !read_in_own_loops(m, g, depth + 1))
            return false;
    }
    return true;
}

bool model_substitutable(struct compiler *c, const struct family *f, bool *told)
{
    if (f->recursive || f->whole_call || f->nslices || f->stochastic)
        return false;
    bool used[MAX_LOOPS] = {false};
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        if (!l) {
            if (sym_has_loop_of(f->lower[d], f->loops, f->nloops))
                return false;
            continue;
        }
        for (int i = 0; i < f->nloops; i++)
            if (f->loops[i] == l) {
                if (used[i] || sym_has_loop_of(offset, f->loops, f->nloops))
                    return false;
                used[i] = true;
            }
    }
    *told = true;
    for (int i = 0; i < f->nloops; i++)
        *told = *told && used[i];
    return true;
}

/* Other than by what its own definitions read of it. */
static bool reaches(struct model *m, const struct var *from, struct var *to,
                    int depth)
{
    if (depth > 64)
        return true;
    for (const struct family *f = from->families; f; f = f->next_of_var) {
        if (f->stochastic)
            continue;
        if ((from != to || depth > 0) &&
            family_any(f, sym_reads_var, to, false))
            return true;
        for (struct var *v = m->vars; v; v = v->next)
            if (v != from && v->role == ROLE_DERIVED &&
                family_any(f, sym_reads_var, v, false) &&
                reaches(m, v, to, depth + 1))
                return true;
    }
    return false;
}

/* Whether putting definitions in the place of what e reads of v comes to an
 * end. `path`: the statements whose definitions e stands in. One met again may
 * go on for ever, unless subscripts tell that it defines other elements. */
static bool ends(struct compiler *c, symp e, const struct var *v,
                 const struct family **path, int depth)
{
    for (int i = 0; i < e->nargs; i++)
        if (!ends(c, e->args[i], v, path, depth))
            return false;
    if (e->kind != SYM_REF || e->var != v)
        return true;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        symp solved[MAX_LOOPS];
        if (f->stochastic || f->constant ||
            sym_is(model_where_defined(c, f, e, solved), 0))
            continue;
        for (int i = 0; i < depth; i++)
            if (path[i] == f)
                return false;
        path[depth] = f;
        if (!ends(c, f->body, v, path, depth + 1))
            return false;
    }
    return true;
}

static bool definitions_end(struct compiler *c, const struct family *f)
{
    int n = 1;
    for (const struct family *g = f->var->families; g; g = g->next_of_var)
        n++;
    const struct family **path = NEW_ARRAY(c, const struct family *, n);
    path[0] = f;
    return ends(c, f->body, f->var, path, 1);
}

/* An element of a partly stochastic array that is a function of others: its
 * definition may read the array itself, at other elements, as long as the
 * substitution ends. */
bool model_mixed_substitutable(struct compiler *c, const struct family *f)
{
    struct family alone = *f;
    bool told;
    alone.recursive = false;
    if (!model_substitutable(c, &alone, &told) || !told)
        return false;
    if (!f->recursive)
        return true;
    for (const struct family *g = f->var->families; g; g = g->next_of_var) {
        struct family other = *g;
        other.recursive = false;
        if (!g->stochastic && !g->constant &&
            (!model_substitutable(c, &other, &told) || !told))
            return false;
    }
    return definitions_end(c, f);
}

static bool has_open_turns(symp e, const void *unused)
{
    (void)unused;
    return (e->kind == SYM_SUM &&
            (e->args[0]->kind != SYM_NUM || e->args[1]->kind != SYM_NUM)) ||
           e->kind == SYM_ARRAY;
}

/* Its definition reads a few other elements of its array, as the last of three
 * probabilities, 1 - p[i,1] - p[i,2], does, and their definitions end. A
 * distribution of them is then a function of the predictor alone. Where the
 * others are many, each would be computed for all that read the last. */
static bool is_complement(struct compiler *c, const struct family *f)
{
    return !sym_any(f->body, has_open_turns, NULL) &&
           model_mixed_substitutable(c, f);
}

/* Definitions that use others twice, and those others again, double at each
 * step: beyond this many nodes a variable is kept instead. So it is, if updates
 * read it, where its value takes as much work: normalisations of normalised
 * values have sums in sums in sums. */
#define MAX_EXPANDED 4000
/* What the range of a sum counts for: mostly the data alone tell. */
#define TYPICAL_EXTENT 8

/* Of an expression, definitions in their places. */
struct expansion {
    double nodes, work;
};

/* Whether a distribution reads v, itself or through definitions. */
static bool feeds_distribution(const struct model *m, struct var *v, int depth)
{
    if (depth > 16)
        return true;
    for (const struct family *f = m->families; f; f = f->next)
        if (f->var != v && family_any(f, sym_reads_var, v, false) &&
            (f->stochastic || feeds_distribution(m, f->var, depth + 1)))
            return true;
    return false;
}

static double typical_turns(symp lower, symp upper)
{
    bool known = lower->kind == SYM_NUM && upper->kind == SYM_NUM;
    double n = known ? upper->number - lower->number + 1 : TYPICAL_EXTENT;
    return n < TYPICAL_EXTENT ? n : TYPICAL_EXTENT;
}

static struct expansion expansion_of_var(struct compiler *c,
                                         const struct model *m, struct var *v);

static struct expansion expansion_of(struct compiler *c, const struct model *m,
                                     symp e)
{
    struct expansion n = {1, 1};
    double turns = 1;
    if (e->kind == SYM_SUM)
        turns = typical_turns(e->args[0], e->args[1]);
    for (int i = 0; e->kind == SYM_ARRAY && i < e->nloops; i++)
        turns *= typical_turns(sym_num(c, 1), e->args[1 + i]);
    int body = e->kind == SYM_SUM ? 2 : e->kind == SYM_ARRAY ? 0 : -1;
    for (int i = 0; i < e->nargs; i++) {
        struct expansion a = expansion_of(c, m, e->args[i]);
        n.nodes += a.nodes;
        n.work += i == body ? turns * a.work : a.work;
    }
    if (e->kind == SYM_REF && e->var->role == ROLE_DERIVED && !e->var->stored) {
        struct expansion a = expansion_of_var(c, m, e->var);
        n.nodes += a.nodes;
        n.work += a.work;
    }
    return n;
}

static struct expansion expansion_of_var(struct compiler *c,
                                         const struct model *m, struct var *v)
{
    if (v->expanded > 0)
        return (struct expansion){v->expanded, v->work};
    v->expanded = v->work = 1; /* in a circle: kept anyway */
    struct expansion n = {1, 1};
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        struct expansion a =
            f->body ? expansion_of(c, m, f->body) : (struct expansion){0, 0};
        n.nodes += a.nodes;
        n.work += a.work;
    }
    if (n.nodes > MAX_EXPANDED ||
        (n.work > MAX_EXPANDED && feeds_distribution(m, v, 0)))
        v->stored = true;
    if (v->stored)
        n = (struct expansion){1, 1};
    v->expanded = n.nodes;
    v->work = n.work;
    return n;
}

void model_choose_stored(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next) {
        if (v->role == ROLE_STOCHASTIC)
            for (struct family *f = v->families; f; f = f->next_of_var)
                if (!f->stochastic && !f->constant &&
                    !model_mixed_substitutable(c, f))
                    v->stored = true;
        if (v->role != ROLE_DERIVED)
            continue;
        int n = 0;
        bool told;
        for (struct family *f = v->families; f; f = f->next_of_var, n++)
            if (f->recursive ? !is_complement(c, f)
                             : !model_substitutable(c, f, &told) ||
                                   !(told || read_in_own_loops(m, f, 0)))
                v->stored = true;
        if ((n > MOST_CASES && !model_pieces_are_told(c, m, v)) ||
            reaches(m, v, v, 0))
            v->stored = true;
    }
    for (struct var *v = m->vars; v; v = v->next)
        if (v->role == ROLE_DERIVED)
            (void)expansion_of_var(c, m, v);
}

symp model_where_defined(struct compiler *c, const struct family *f, symp ref,
                         symp *solved)
{
    symp condition = sym_num(c, 1);
    for (int i = 0; i < f->nloops; i++)
        solved[i] = NULL;
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        bool own = false;
        for (int i = 0; l && i < f->nloops; i++)
            if (f->loops[i] == l) {
                symp at = sym_sub(c, ref->args[d], offset);
                if (solved[i]) /* as in x[i,i] <- 1 */
                    condition = sym_and(c, condition, sym_eq(c, solved[i], at));
                else
                    solved[i] = at;
                own = true;
            }
        if (!own)
            condition =
                sym_and(c, condition, sym_eq(c, ref->args[d], f->lower[d]));
    }
    for (int i = 0; i < f->nloops; i++)
        if (!solved[i]) /* read in the same loop */
            solved[i] = sym_loop(c, f->loops[i]);
    for (int i = f->nloops - 1; i >= 0; i--) {
        symp lower =
            sym_replace_loops(c, f->loops[i]->lower, f->loops, i, solved);
        symp upper =
            sym_replace_loops(c, f->loops[i]->upper, f->loops, i, solved);
        const struct loop *l =
            solved[i]->kind == SYM_LOOP ? solved[i]->loop : NULL;
        bool known = l && l->lower && sym_same(l->lower, lower) &&
                     sym_same(l->upper, upper);
        if (!known) {
            condition = sym_and(
                c, condition, sym_call(c, ">=", 2, (symp[]){solved[i], lower}));
            condition = sym_and(
                c, condition, sym_call(c, "<=", 2, (symp[]){solved[i], upper}));
        }
    }
    return condition;
}

/* Whether subscripts tell that no statement that computes v has this element.
 */
static bool is_nowhere(struct compiler *c, const struct var *v, symp ref)
{
    symp solved[MAX_LOOPS];
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!f->stochastic &&
            !sym_is(model_where_defined(c, f, ref, solved), 0))
            return false;
    return true;
}

static symp substitute_node(struct compiler *c, symp e, void *context)
{
    if (e->kind != SYM_REF)
        return NULL;
    const struct var *v = e->var;
    bool derived = v->role == ROLE_DERIVED && !v->stored;
    bool mixed = v->role == ROLE_STOCHASTIC && v->families && !v->stored;
    if (!derived && !mixed)
        return NULL;
    symp *args = NEW_ARRAY(c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        args[i] = sym_map(c, e->args[i], substitute_node, context);
    symp ref = sym_ref(c, e->var, e->nargs, args);
    symp value = !derived   ? ref
                 : v->given ? sym_ref(c, v->given, e->nargs, args)
                            : NULL;
    /* the first statement stands in for what no other has; elsewhere its own
     * definition may lead back here, as e[4] by a[3] to e[2] */
    bool stands_in = !value && is_nowhere(c, v, ref);
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        if (f->stochastic || (mixed && f->constant))
            continue;
        symp solved[MAX_LOOPS], where = model_where_defined(c, f, ref, solved);
        if (sym_is(where, 0) && !stands_in)
            continue;
        stands_in = false;
        /* what it reads first, while its loops still have their ends */
        symp body = sym_map(c, f->body, substitute_node, context);
        body = sym_replace_loops(c, body, f->loops, f->nloops, solved);
        value = value ? sym_select(c, where, body, value) : body;
    }
    return value ? value : ref;
}

symp model_substitute_derived(struct compiler *c, symp e)
{
    return sym_map(c, e, substitute_node, NULL);
}

/* ---- what depends on what through definitions ------------------------------
 */

/* A walk along definitions, each variable once: they may go in circles, and
 * meet again. */
struct walk {
    const struct var *on;
    const struct var **been;
    int nbeen, capacity;
};

static bool definition_depends(struct walk *k, const struct var *v);

static bool reads_on(struct walk *k, symp e)
{
    if (e->kind == SYM_REF) {
        if (e->var == k->on)
            return true;
        if (definition_depends(k, e->var)) /* of elements that are computed */
            return true;
    }
    for (int i = 0; i < e->nargs; i++)
        if (reads_on(k, e->args[i]))
            return true;
    return false;
}

static bool definition_depends(struct walk *k, const struct var *v)
{
    for (int i = 0; i < k->nbeen; i++)
        if (k->been[i] == v)
            return false;
    if (k->nbeen == k->capacity) {
        int capacity = 2 * k->capacity + 16;
        const struct var **been =
            realloc(k->been, (size_t)capacity * sizeof *been);
        if (!been)
            abort();
        k->been = been;
        k->capacity = capacity;
    }
    k->been[k->nbeen++] = v;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!f->stochastic && f->body && reads_on(k, f->body))
            return true;
    return false;
}

bool model_derived_depends(const struct model *m, const struct var *v,
                           const struct var *on)
{
    (void)m;
    struct walk k = {.on = on};
    bool depends = definition_depends(&k, v);
    free(k.been);
    return depends;
}

bool model_follows(const struct model *m, symp e, const struct var *on)
{
    return e->kind == SYM_REF && e->var->stored &&
           model_derived_depends(m, e->var, on);
}

bool model_reads(const struct model *m, symp e, const struct var *on)
{
    if ((e->kind == SYM_REF && e->var == on) || model_follows(m, e, on))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (model_reads(m, e->args[i], on))
            return true;
    return false;
}

/* Whether f is recomputed when v has moved; the first of a sequence stands for
 * all its families. */
bool model_recomputed_with(const struct model *m, const struct family *f,
                           const struct var *v)
{
    const struct sequence *q = f->sequence;
    if (!q)
        return model_derived_depends(m, f->var, v);
    bool any = false;
    for (int i = 0; i < q->n; i++)
        any = any || model_derived_depends(m, q->families[i]->var, v);
    return any && f == q->families[0];
}
