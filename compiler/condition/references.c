/* references.c: where a factor mentions a node, and which of its instances a
 * reference hits. */
#include "condition/find.h"
#include <string.h>

/* ---- looking for references --------------------------------------------- */

static void find_refs(struct finder *f, symp e, bool array, bool subscript)
{
    if (!sym_may_have(e, f->var))
        return;
    if (e->kind == SYM_REF && e->var == f->var) {
        f->in_array = f->in_array || array;
        f->in_subscript = f->in_subscript || subscript;
        bool known = false;
        for (int i = 0; i < f->n; i++)
            known = known || sym_same(f->found[i].reference, e);
        if (!known && f->n == f->capacity) {
            int capacity = f->capacity ? 2 * f->capacity : 4;
            struct found *more = NEW_ARRAY(f->c, struct found, capacity);
            if (f->n)
                memcpy(more, f->found, (size_t)f->n * sizeof *more);
            f->found = more;
            f->capacity = capacity;
        }
        if (!known) {
            struct found *r = &f->found[f->n++];
            r->reference = e;
            r->nbound = 0;
            for (int i = 0; i < f->nbound; i++)
                if (sym_has_loop(e, f->bound[i]))
                    r->bound[r->nbound++] = f->bound[i];
        }
    }
    bool inside = subscript || e->kind == SYM_REF;
    int depth = f->nbound;
    if (e->kind == SYM_SUM && f->nbound < 4)
        f->bound[f->nbound++] = e->loop;
    if (e->kind == SYM_ARRAY)
        for (int i = 0; i < e->nloops && f->nbound < 4; i++)
            f->bound[f->nbound++] = e->loops[i];
    for (int i = 0; i < e->nargs; i++)
        find_refs(f, e->args[i], array || e->kind == SYM_ARRAY, inside);
    f->nbound = depth;
}

bool condition_is_observed_sum(struct compiler *c, const struct factor *g)
{
    const struct entry *d = g->family->distribution;
    const struct expr *how = d ? entry_value(d, "observable") : NULL;
    return how && how->name == intern(c, "sum");
}

void condition_find_in_factor(struct compiler *c, struct finder *f,
                              struct var *v, struct factor *g)
{
    *f = (struct finder){.var = v, .c = c};
    find_refs(f, g->logp, false, false);
    if (g->lower)
        find_refs(f, g->lower, false, false);
    if (g->upper)
        find_refs(f, g->upper, false, false);
    /* restrictions whose log density does not mention what they restrict */
    if (g->opaque && !condition_is_observed_sum(c, g))
        for (int i = 0; i < g->family->nargs; i++)
            find_refs(f,
                      model_substitute_derived(
                          c, value_as_argument(c, &g->family->args[i])),
                      false, false);
}

void condition_find_in_inverse(struct compiler *c, const struct step *s,
                               struct finder *f, const struct factor *g)
{
    *f = (struct finder){.var = s->view.as, .c = c};
    find_refs(f, condition_matrix_seen(c, s, g->logp), false, false);
}

/* ---- instances ------------------------------------------------------------
 */

static symp fresh(struct compiler *c, const struct part *p, symp e)
{
    for (int i = 0; e && i < p->nloops; i++)
        e = sym_replace_loop(c, e, p->factor->loops[i],
                             sym_loop(c, p->loops[i]));
    return e;
}

static symp solve(struct compiler *c, const struct part *p, symp e)
{
    for (int i = p->nloops - 1; e && i >= 0; i--)
        if (p->solved[i])
            e = sym_replace_loop(c, e, p->loops[i], p->solved[i]);
    return e;
}

symp condition_in_part(struct compiler *c, const struct part *p, symp e)
{
    return e ? solve(c, p, fresh(c, p, e)) : NULL;
}

struct part *condition_whole_part(struct compiler *c, struct factor *g)
{
    struct part *p = NEW(c, struct part);
    p->factor = g;
    p->nloops = g->nloops;
    p->loops = NEW_ARRAY(c, struct loop *, g->nloops);
    p->solved = NEW_ARRAY(c, symp, g->nloops);
    for (int i = 0; i < g->nloops; i++) {
        p->loops[i] = NEW(c, struct loop);
        p->loops[i]->name = g->loops[i]->name;
    }
    for (int i = 0; i < g->nloops; i++) {
        p->loops[i]->lower = fresh(c, p, g->loops[i]->lower);
        p->loops[i]->upper = fresh(c, p, g->loops[i]->upper);
    }
    return p;
}

void condition_add_guard(struct compiler *c, struct part *p, symp condition)
{
    p->guard = p->guard ? sym_and(c, p->guard, condition) : condition;
    if (sym_is(p->guard, 1))
        p->guard = NULL;
}

/* A definition's instances make a factor for each step that reaches them. */
static bool same_instances(const struct factor *a, const struct factor *b)
{
    return a == b || (a->family == b->family && !a->family->stochastic);
}

static struct inverse *get_inverse(struct compiler *c, struct model *m,
                                   struct var *v, struct factor *g,
                                   symp reference)
{
    for (struct inverse *i = m->inverses; i; i = i->next)
        if (i->var == v && !i->reach && same_instances(i->factor, g) &&
            sym_same(i->reference, reference))
            return i;
    struct inverse *i = NEW(c, struct inverse);
    i->var = v;
    i->factor = g;
    i->reference = reference;
    i->number = m->ninverses++;
    for (int d = 0; d < reference->nargs; d++)
        i->latent = i->latent || sym_reads_latent(reference->args[d]);
    *m->last_inverse = i;
    m->last_inverse = &i->next;
    return i;
}

struct inverse *condition_get_reach(struct compiler *c, struct model *m,
                                    struct family *f, struct factor *g)
{
    for (struct inverse *i = m->inverses; i; i = i->next)
        if (i->reach == f && same_instances(i->factor, g))
            return i;
    struct inverse *i = NEW(c, struct inverse);
    i->var = f->var;
    i->factor = g;
    i->reach = f;
    i->reference = sym_ref(c, f->var, f->var->ndim, f->lower);
    i->number = m->ninverses++;
    *m->last_inverse = i;
    m->last_inverse = &i->next;
    return i;
}

static void range_guards(struct compiler *c, struct part *p)
{
    for (int i = 0; i < p->nloops; i++) {
        if (!p->solved[i])
            continue;
        symp lower = solve(c, p, p->loops[i]->lower);
        symp upper = solve(c, p, p->loops[i]->upper);
        const struct loop *l =
            p->solved[i]->kind == SYM_LOOP ? p->solved[i]->loop : NULL;
        if (l && l->lower && sym_same(l->lower, lower) &&
            sym_same(l->upper, upper))
            continue;
        condition_add_guard(
            c, p, sym_call(c, ">=", 2, (symp[]){p->solved[i], lower}));
        condition_add_guard(
            c, p, sym_call(c, "<=", 2, (symp[]){p->solved[i], upper}));
    }
}

/* The reference where it is the target: what runs in a sum stands there. */
static symp hits_target(struct compiler *c, const struct found *r, symp ref,
                        const symp *target)
{
    symp args[8];
    for (int d = 0; d < ref->nargs; d++)
        args[d] = target[d] && condition_subscript_runs(r, d) ? target[d]
                                                              : ref->args[d];
    return sym_ref(c, ref->var, ref->nargs, args);
}

/* A reference that is matched with the target. */
struct match {
    const struct found *found;
    symp ref;           /* in the part's loops */
    const symp *target; /* subscripts of the updated element; a NULL one stands
                           for a whole dimension (a vector node's), which is not
                           matched */
    bool hard[8], any_hard; /* subscripts that no loop is solved by */
};

static bool is_whole(const struct match *m, int d)
{
    return !m->target[d] || condition_subscript_runs(m->found, d);
}

/* Solves for loops what is a loop and an offset, and notes what is not. */
static void solve_plain(struct compiler *c, struct part *p, struct match *m)
{
    const struct found *r = m->found;
    for (int d = 0; d < m->ref->nargs; d++) {
        if (!m->target[d])
            continue;
        symp offset;
        const struct loop *l = sym_plain_loop(c, m->ref->args[d], &offset);
        int k = -1;
        for (int i = 0; l && i < p->nloops; i++)
            if (p->loops[i] == l)
                k = i;
        bool clean = l && !sym_has_loop_of(offset, p->loops, p->nloops) &&
                     !sym_has_loop_of(offset, r->bound, r->nbound) &&
                     !sym_reads_latent(offset);
        if (k >= 0 && clean && !p->solved[k])
            p->solved[k] = sym_sub(c, m->target[d], offset);
        else
            m->hard[d] = m->any_hard = true;
    }
}

/* Whether an index must tell the instances: loops are left that a subscript
 * reads. In a sum, where data tell the rest, or it collects. */
static bool needs_index(const struct part *p, const struct match *m)
{
    const struct found *r = m->found;
    bool need = false, latent = false;
    for (int d = 0; d < m->ref->nargs; d++) {
        symp e = m->ref->args[d];
        if (!m->hard[d] || sym_has_loop_of(e, r->bound, r->nbound))
            continue; /* inside a sum: every instance may hit */
        for (int i = 0; i < p->nloops; i++)
            need = need || (!p->solved[i] && sym_has_loop(e, p->loops[i]));
        latent = latent || sym_reads_latent(e);
    }
    return need && (r->nbound == 0 || r->keyed || !latent);
}

static void go_through_index(struct compiler *c, struct model *model,
                             struct part *p, const struct match *m)
{
    const struct found *r = m->found;
    symp cell = r->reference, args[8], own[8];
    bool whole = false;
    for (int d = 0; d < m->ref->nargs; d++) {
        const bool any = is_whole(m, d);
        whole = whole || any;
        args[d] = any ? sym_num(c, 1) : cell->args[d];
        own[d] = any ? sym_num(c, 1) : m->target[d];
    }
    if (whole) { /* key: the node's first cell */
        cell = sym_ref(c, cell->var, cell->nargs, args);
        if (r->nbound > 0)
            p->cell = sym_ref(c, cell->var, cell->nargs, own);
    }
    for (int i = 0; i < p->nloops; i++)
        p->solved[i] = NULL;
    p->inverse = get_inverse(c, model, cell->var, p->factor, cell);
    p->reference = hits_target(c, r, m->ref, m->target);
}

/* Solves reference == target for the factor's loops. */
void condition_match_reference(struct compiler *c, struct model *m,
                               struct part *p, const struct found *r,
                               const symp *target)
{
    struct match match = {
        .found = r, .ref = fresh(c, p, r->reference), .target = target};
    solve_plain(c, p, &match);
    if (match.any_hard && needs_index(p, &match)) {
        go_through_index(c, m, p, &match);
        return;
    }
    for (int d = 0; d < match.ref->nargs; d++) {
        if (!match.hard[d])
            continue;
        symp e = solve(c, p, match.ref->args[d]);
        if (!sym_has_loop_of(e, r->bound, r->nbound))
            condition_add_guard(c, p, sym_eq(c, e, target[d]));
    }
    range_guards(c, p);
    p->reference = hits_target(c, r, solve(c, p, match.ref), target);
}

bool condition_subscript_runs(const struct found *r, int d)
{
    return sym_has_loop_of(r->reference->args[d], r->bound, r->nbound);
}

struct part *condition_part_of_reference(struct compiler *c, struct model *m,
                                         struct factor *g,
                                         const struct found *r,
                                         const symp *target)
{
    struct part *p = condition_whole_part(c, g);
    condition_match_reference(c, m, p, r, target);
    return p;
}

bool condition_same_node(const struct family *f, symp a, symp b)
{
    for (int d = 0; d < f->var->ndim; d++)
        if (!f->upper[d] && !sym_same(a->args[d], b->args[d]))
            return false;
    return true;
}
