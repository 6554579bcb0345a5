/* condition.c: for each family its full conditional: the own prior and every
 * factor that mentions it, as sufficient statistics with coefficients where
 * the algebra closes, else as log densities to be evaluated in place.
 *
 * Requires a resolved (and possibly augmented) model; adds one step a family.
 */
#include "condition/find.h"
#include <stdlib.h>
#include <string.h>

/* ---- looking for references --------------------------------------------- */

static void find_refs(struct finder *f, symp e, bool array, bool subscript)
{
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

static struct part *new_part(struct compiler *c, struct factor *g)
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

/* The list of what each cell of the target reaches among the instances of g. */
static struct inverse *get_reach(struct compiler *c, struct model *m,
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

/* Solves reference == target for the factor's loops. `target`: subscripts of
 * the updated element; a NULL one stands for a whole dimension (a vector
 * node's), which is not matched. */
static void match_reference(struct compiler *c, struct model *m, struct part *p,
                            const struct found *r, const symp *target)
{
    symp ref = fresh(c, p, r->reference);
    bool hard[8] = {false}, any_hard = false;
    bool bound_free = r->nbound > 0;
    for (int d = 0; d < ref->nargs; d++) {
        if (!target[d])
            continue;
        symp offset, e = ref->args[d];
        const struct loop *l = sym_plain_loop(c, e, &offset);
        int k = -1;
        for (int i = 0; l && i < p->nloops; i++)
            if (p->loops[i] == l)
                k = i;
        bool clean = l && !sym_has_loop_of(offset, p->loops, p->nloops) &&
                     !sym_has_loop_of(offset, r->bound, r->nbound) &&
                     !sym_reads_latent(offset);
        if (k >= 0 && clean && !p->solved[k])
            p->solved[k] = sym_sub(c, target[d], offset);
        else
            hard[d] = any_hard = true;
    }
    if (any_hard) {
        bool need_inverse = false;
        for (int d = 0; d < ref->nargs; d++) {
            if (!hard[d])
                continue;
            symp e = ref->args[d];
            if (sym_has_loop_of(e, r->bound, r->nbound))
                continue; /* inside a sum: every instance may hit */
            bool unsolved = false;
            for (int i = 0; i < p->nloops; i++)
                unsolved =
                    unsolved || (!p->solved[i] && sym_has_loop(e, p->loops[i]));
            need_inverse = need_inverse || unsolved;
        }
        if (need_inverse && (!bound_free || r->keyed)) {
            bool whole = false;
            for (int d = 0; d < ref->nargs; d++)
                whole = whole || !target[d] || condition_subscript_runs(r, d);
            symp cell = r->reference;
            if (whole) { /* key: the node's first cell */
                symp args[8], own[8];
                for (int d = 0; d < ref->nargs; d++) {
                    bool any = !target[d] || condition_subscript_runs(r, d);
                    args[d] = any ? sym_num(c, 1) : cell->args[d];
                    own[d] = any ? sym_num(c, 1) : target[d];
                }
                cell = sym_ref(c, cell->var, cell->nargs, args);
                if (bound_free)
                    p->cell = sym_ref(c, cell->var, cell->nargs, own);
            }
            for (int i = 0; i < p->nloops; i++)
                p->solved[i] = NULL;
            p->inverse = get_inverse(c, m, cell->var, p->factor, cell);
            p->reference = hits_target(c, r, ref, target);
            return;
        }
        for (int d = 0; d < ref->nargs; d++) {
            if (!hard[d])
                continue;
            symp e = solve(c, p, ref->args[d]);
            if (!sym_has_loop_of(e, r->bound, r->nbound))
                condition_add_guard(c, p, sym_eq(c, e, target[d]));
        }
    }
    range_guards(c, p);
    p->reference = hits_target(c, r, solve(c, p, ref), target);
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
    struct part *p = new_part(c, g);
    match_reference(c, m, p, r, target);
    return p;
}

struct part *condition_whole_part(struct compiler *c, struct factor *g)
{
    return new_part(c, g);
}

/* ---- the target's place in an expression ----------------------------------
 */

struct placing {
    struct var *var;
    const symp *target; /* subscripts */
};

static symp place_node(struct compiler *c, symp e, void *context)
{
    const struct placing *k = context;
    if (e->kind != SYM_REF || e->var != k->var)
        return NULL;
    symp hit = sym_num(c, 1);
    for (int d = 0; d < e->nargs; d++)
        hit = sym_and(c, hit, sym_eq(c, e->args[d], k->target[d]));
    return sym_select(c, hit, sym_target(c), e);
}

static symp put_target(struct compiler *c, symp e, const struct part *p,
                       struct var *v, const symp *target)
{
    struct placing k = {v, target};
    symp r = e;
    if (p->inverse) /* every instance of the index hits the target */
        r = sym_replace(c, r, p->reference, sym_target(c));
    return sym_map(c, r, place_node, &k);
}

/* ---- one part ---------------------------------------------------------------
 */

static bool statistic_ok(const struct part *p, symp statistic)
{
    return !sym_has_loop_of(statistic, p->loops, p->nloops);
}

/* x = target inside a sum: closed if the log density is quadratic in x. */
static bool collect_quadratic(struct compiler *c, struct part *p, symp logp,
                              symp x)
{
    symp first = sym_derivative(c, logp, x);
    symp second = first ? sym_derivative(c, first, x) : NULL;
    if (!second || sym_has_var(second, x->var))
        return false;
    symp at_zero = sym_sub(c, first, sym_mul2(c, second, x));
    p->terms = (struct collected){.rest = sym_num(c, 0), .n = 0};
    symp t = sym_target(c);
    if (!sym_is(at_zero, 0)) {
        p->terms.statistic[p->terms.n] = t;
        p->terms.coefficient[p->terms.n++] = at_zero;
    }
    if (!sym_is(second, 0)) {
        p->terms.statistic[p->terms.n] = sym_pow(c, t, sym_num(c, 2));
        p->terms.coefficient[p->terms.n++] =
            sym_mul2(c, sym_num(c, 0.5), second);
    }
    return true;
}

/* x, log(x), log(1 - x) or a power of x. */
static bool plain_statistic(struct compiler *c, symp e)
{
    symp x = sym_target(c), one = sym_num(c, 1);
    if (e->kind == SYM_POW)
        return e->args[0] == x && e->args[1]->kind == SYM_NUM;
    return sym_same(e, x) || sym_same(e, sym_log(c, x)) ||
           sym_same(e, sym_log(c, sym_sub(c, one, x)));
}

/* x = target inside a sum: closed if the terms that have it are sums of plain
 * statistics. */
static bool collect_terms(struct compiler *c, const struct step *s,
                          struct part *p)
{
    const struct family *f = s->family;
    struct placing k = {f->var, p->reference->args};
    symp e = condition_split_sums(c, sym_map(c, p->logp, place_node, &k));
    sym_collect(c, e, f->var->positive, &p->terms);
    bool ok = !p->terms.overflow;
    for (int i = 0; ok && i < p->terms.n; i++)
        ok = plain_statistic(c, p->terms.statistic[i]);
    return ok;
}

static bool add_bound(struct compiler *c, struct step *s, struct part *p,
                      symp limit, symp value, bool limit_is_lower)
{
    /* limit <= value (or >=), where the limit is a + b x: a bound on x */
    struct collected k;
    sym_collect(c, limit, false, &k);
    if (k.overflow || k.n != 1 || k.statistic[0]->kind != SYM_TARGET ||
        k.coefficient[0]->kind != SYM_NUM)
        return false;
    double slope = k.coefficient[0]->number;
    struct bound *b = NEW(c, struct bound);
    b->part = p;
    b->is_lower = limit_is_lower ? slope < 0 : slope > 0;
    b->value = sym_mul2(c, sym_num(c, 1 / slope), sym_sub(c, value, k.rest));
    symp child = p->own ? NULL : p->factor->value;
    if (child && child->kind == SYM_REF && child->var->role == ROLE_STOCHASTIC)
        b->child = condition_in_part(c, p, child);
    b->next = s->support.bounds;
    s->support.bounds = b;
    return true;
}

/* The whole numbers in an interval: its ends. */
static void whole_ends(struct compiler *c, bool above, symp *lower, symp *upper)
{
    symp one = sym_num(c, 1);
    *lower = above ? sym_add2(c, sym_call(c, "floor", 1, lower), one)
                   : sym_call(c, "ceiling", 1, lower);
    *upper = sym_call(c, "floor", 1, upper);
}

/* `confine t: real(lower, upper)` of the factor's distribution, or `above` if
 * lower itself is excluded: its support as a set of parameter t, for densities
 * that only restrict. True if x occurs in that parameter alone and was turned
 * into bounds. */
static bool stated_bounds(struct compiler *c, struct step *s, struct part *p,
                          struct var *v, const symp *target)
{
    const struct family *f = p->factor->family;
    const struct clause *clause = entry_clause(f->distribution, "confine");
    if (!clause || p->own)
        return false;
    bool done = false;
    for (const struct clause_item *i = clause->items; i; i = i->next)
        for (int a = 0; a < f->nargs; a++) {
            if (!i->label ||
                i->label->name != f->distribution->parameters[a].name ||
                i->value->nargs != 2)
                continue;
            symp arg = condition_in_part(
                c, p, model_substitute_derived(c, f->args[a].body));
            arg = put_target(c, arg, p, v, target);
            if (!sym_has_target(arg))
                continue;
            symp lower = family_expression(c, f, i->value->args[0]);
            symp upper = family_expression(c, f, i->value->args[1]);
            if (!lower || !upper)
                return false;
            lower = condition_in_part(c, p, model_substitute_derived(c, lower));
            upper = condition_in_part(c, p, model_substitute_derived(c, upper));
            if (v->integer && arg->kind != SYM_TARGET)
                return false;
            if (v->integer)
                whole_ends(c, !strcmp(i->value->name, "above"), &lower, &upper);
            /* lower <= arg(x) <= upper */
            if (!add_bound(c, s, p, arg, lower, false) ||
                !add_bound(c, s, p, arg, upper, true))
                return false;
            done = true;
        }
    return done;
}

static void support_of_part(struct compiler *c, struct step *s, struct part *p,
                            struct var *v, const symp *target)
{
    struct factor *g = p->factor;
    symp lower = g->lower ? condition_in_part(c, p, g->lower) : NULL;
    symp upper = g->upper ? condition_in_part(c, p, g->upper) : NULL;
    symp value = g->value ? condition_in_part(c, p, g->value) : NULL;
    symp placed[2] = {lower ? put_target(c, lower, p, v, target) : NULL,
                      upper ? put_target(c, upper, p, v, target) : NULL};
    for (int side = 0; side < 2; side++) {
        if (!placed[side] || !sym_has_target(placed[side]))
            continue;
        if (!add_bound(c, s, p, placed[side], value, side == 0)) {
            p->opaque = true;
            p->value = value;
            p->lower = lower;
            p->upper = upper;
        }
    }
}

/* A reference to the step's variable, or to what is computed from it. */
static bool follows_own(symp e, const void *step)
{
    const struct step *s = step;
    const struct var *v = s->family->var;
    return e->kind == SYM_REF &&
           (e->var == v ||
            (e->var->stored && model_derived_depends(s->model, e->var, v)));
}

/* A vector node moves the bounds of a child: that is told in place. */
static void limits_of_part(struct compiler *c, const struct step *s,
                           struct part *p)
{
    const struct factor *g = p->factor;
    symp lower = g->lower ? condition_in_part(c, p, g->lower) : NULL;
    symp upper = g->upper ? condition_in_part(c, p, g->upper) : NULL;
    if (p->own || !((lower && sym_any(lower, follows_own, s)) ||
                    (upper && sym_any(upper, follows_own, s))))
        return;
    p->opaque = true;
    p->value = condition_in_part(c, p, g->value);
    p->lower = lower;
    p->upper = upper;
}

static void condition_part(struct compiler *c, struct step *s, struct part *p,
                           const struct found *r, bool plain_only,
                           const symp *target)
{
    struct factor *g = p->factor;
    struct var *v = s->family->var;
    p->logp = condition_in_part(c, p, condition_matrix_seen(c, s, g->logp));
    if (s->family->nslices) { /* vector nodes: see block.c */
        limits_of_part(c, s, p);
        return;
    }
    /* the reference hits the target, so its subscripts stand for it */
    if (p->reference && !(r && r->nbound))
        target = p->reference->args;
    if (p->own) {
        p->value = p->lower = p->upper = NULL;
    } else {
        support_of_part(c, s, p, v, target);
    }
    if (g->opaque && stated_bounds(c, s, p, v, target)) {
        p->terms = (struct collected){.rest = sym_num(c, 0)};
        return; /* the bounds say it all */
    }
    if (plain_only || g->opaque) {
        p->opaque = true;
        return;
    }
    bool ok;
    if (r && r->nbound) {
        symp x = sym_ref(c, v, v->ndim, target);
        ok = collect_quadratic(c, p, p->logp, x) || collect_terms(c, s, p);
    } else {
        symp e = put_target(c, p->logp, p, v, target);
        sym_collect(c, e, v->positive, &p->terms);
        symp resists = NULL;
        for (int i = 0; !resists && i < p->terms.n; i++)
            if (!statistic_ok(p, p->terms.statistic[i]))
                resists = p->terms.statistic[i];
        ok = !p->terms.overflow && !resists;
        if (!ok) /* inside sums it may be quadratic all the same */
            ok = collect_quadratic(c, p, p->logp,
                                   sym_ref(c, v, v->ndim, target));
        p->resists = ok ? NULL : resists;
    }
    if (!ok)
        p->opaque = true;
}

void condition_gather_statistics(struct step *s)
{
    for (struct part *p = s->parts; p; p = p->next) {
        if (p->opaque) {
            s->opaque = true;
            continue;
        }
        bool fits = true;
        for (int i = 0; i < p->terms.n; i++) {
            int k = 0;
            while (k < s->law.n &&
                   !sym_same(s->law.statistics[k], p->terms.statistic[i]))
                k++;
            if (k == s->law.n) {
                if (k == 24) {
                    fits = false;
                    break;
                }
                s->law.statistics[s->law.n++] = p->terms.statistic[i];
            }
        }
        if (!fits)
            p->opaque = s->opaque = true;
    }
}

/* ---- dependence between elements
 * --------------------------------------------- */

static void add_conflict(struct compiler *c, struct step *s, struct factor *g,
                         const struct finder *f)
{
    struct conflict *k = NEW(c, struct conflict);
    k->factor = g;
    for (int i = 0; i < f->n && i < 8; i++) {
        const struct found *r = &f->found[i];
        k->references[i] = r->reference;
        k->nbound[i] = r->nbound;
        for (int b = 0; b < r->nbound; b++)
            k->bound[i][b] = r->bound[b];
        k->sums = k->sums || r->nbound > 0;
        k->nreferences++;
    }
    k->next = s->order.conflicts;
    s->order.conflicts = k;
}

/* A sum over part of the subscripts, as in inprod(X[n,], beta[g,]), ties the
 * elements of one g alone: they can be listed for each instance. One over all
 * elements leaves nothing to do at once. */
static bool ties_can_be_listed(const struct family *f, const struct loop *bound)
{
    return f->nloops >= 2 && bound->lower && bound->upper &&
           !sym_has_any_loop(bound->lower) && !sym_has_any_loop(bound->upper) &&
           !sym_reads_latent(bound->lower) && !sym_reads_latent(bound->upper);
}

/* Whether two references hit the same element of the target's family,
 * whatever the components of a vector node. */
static bool same_node(const struct family *f, symp a, symp b)
{
    for (int d = 0; d < f->var->ndim; d++)
        if (!f->upper[d] && !sym_same(a->args[d], b->args[d]))
            return false;
    return true;
}

/* Whether one turn of the loop at most is at the family: X[i,j] is X[i,1] where
 * j is 1, so a sum over j does not tie the elements of a column. */
static bool one_turn_hits(struct compiler *c, const struct family *f,
                          const struct found *r, const struct loop *bound)
{
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        if (!f->upper[d] &&
            !sym_has_loop_of(f->lower[d], f->loops, f->nloops) &&
            sym_plain_loop(c, r->reference->args[d], &offset) == bound &&
            !sym_has_loop_of(offset, r->bound, r->nbound))
            return true;
    }
    return false;
}

/* The ends between which subscript d of a reference runs with a loop of a sum
 * around it, in the factor's loops; false: no loop runs there by itself. */
static bool ends_of_run(struct compiler *c, const struct found *r, int d,
                        symp *lower, symp *upper)
{
    symp offset;
    const struct loop *l = sym_plain_loop(c, r->reference->args[d], &offset);
    bool bound = false;
    for (int b = 0; b < r->nbound; b++)
        bound = bound || r->bound[b] == l;
    if (!bound || sym_has_loop_of(offset, r->bound, r->nbound) || !l->lower ||
        sym_has_loop_of(l->lower, r->bound, r->nbound) ||
        sym_has_loop_of(l->upper, r->bound, r->nbound))
        return false;
    *lower = sym_add2(c, l->lower, offset);
    *upper = sym_add2(c, l->upper, offset);
    return true;
}

/* Adds what no density mentions: the element itself, in its own prior where
 * that is flat, as in x[k] ~ dunif(x[k-1], 1). */
static void add_own(struct compiler *c, const struct family *f,
                    struct finder *distinct)
{
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    for (int i = 0; i < distinct->n; i++)
        if (same_node(f, distinct->found[i].reference, own))
            return;
    distinct->found[distinct->n++] = (struct found){.reference = own};
}

/* Returns the family if sums in g tie elements that are listed: those outside
 * what the sums run over must not read them, as they move at the same time. */
static const struct family *elements_dependence(struct compiler *c,
                                                struct step *s,
                                                struct factor *g,
                                                struct finder *found, bool own)
{
    const struct family *f = s->family;
    symp lower, upper;
    if (f->nloops == 0)
        return NULL; /* one element */
    struct finder distinct = *found;
    distinct.found = NEW_ARRAY(c, struct found, found->n + 1);
    distinct.n = 0;
    bool sums = false; /* a sum ties many elements */
    for (int i = 0; i < found->n; i++) {
        const struct found *r = &found->found[i];
        for (int d = 0; d < f->var->ndim; d++)
            for (int b = 0; b < r->nbound && !f->upper[d]; b++)
                if (sym_has_loop(r->reference->args[d], r->bound[b]) &&
                    !one_turn_hits(c, f, r, r->bound[b])) {
                    sums = true;
                    if (!ties_can_be_listed(f, r->bound[b]) ||
                        !ends_of_run(c, r, d, &lower, &upper))
                        s->order.sequential = true;
                }
        bool known = false;
        for (int j = 0; j < distinct.n; j++)
            known = known ||
                    same_node(f, distinct.found[j].reference, r->reference);
        if (!known)
            distinct.found[distinct.n++] = *r;
    }
    if (own)
        add_own(c, f, &distinct);
    if ((distinct.n < 2 && !sums) || s->order.sequential)
        return NULL;
    for (int i = 0; i < distinct.n; i++)
        for (int d = 0; d < f->var->ndim; d++)
            if (!f->upper[d] &&
                sym_reads_latent(distinct.found[i].reference->args[d]))
                s->order.sequential = true;
    if (distinct.n > 8 || !family_plain(c, s->family))
        s->order.sequential = true;
    if (s->order.sequential)
        return NULL;
    add_conflict(c, s, g, &distinct);
    return sums ? f : NULL;
}

/* ---- derived nodes kept in memory
 * ----------------------------------------------- */

static bool through_stored(const struct model *m, symp e, const struct var *v)
{
    if (e->kind == SYM_REF && e->var->stored &&
        model_derived_depends(m, e->var, v))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (through_stored(m, e->args[i], v))
            return true;
    return false;
}

bool condition_factor_through(const struct model *m, const struct factor *g,
                              const struct var *v)
{
    return through_stored(m, g->logp, v) ||
           (g->lower && through_stored(m, g->lower, v)) ||
           (g->upper && through_stored(m, g->upper, v));
}

/* ---- the step
 * ---------------------------------------------------------------------- */

static void add_part(struct step *s, struct part *p)
{
    struct part **last = &s->parts;
    while (*last)
        last = &(*last)->next;
    *last = p;
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
            find_refs(f, model_substitute_derived(c, g->family->args[i].body),
                      g->family->args[i].ndim > 0, false);
}

/* The same of a matrix node that is seen in its inverse. */
static void find_in_inverse(struct compiler *c, const struct step *s,
                            struct finder *f, const struct factor *g)
{
    *f = (struct finder){.var = s->view.as, .c = c};
    find_refs(f, condition_matrix_seen(c, s, g->logp), false, false);
}

/* Subscripts of the target: NULL for the dimensions of a vector node. */
static void target_subscripts(const struct family *f, symp *target)
{
    for (int d = 0; d < f->var->ndim; d++)
        target[d] = f->upper[d] ? NULL : f->lower[d];
}

static void own_part(struct compiler *c, struct step *s, struct factor *own,
                     const symp *target)
{
    struct part *p = NEW(c, struct part);
    p->factor = own;
    p->own = true;
    p->nloops = 0;
    p->loops = NEW_ARRAY(c, struct loop *, 1);
    p->solved = NEW_ARRAY(c, symp, 1);
    p->reference = own->value;
    condition_part(c, s, p, NULL, false, target);
    add_part(s, p);
}

/* References within sums before the others, whose instances they cover. */
static void sums_first(struct finder *f)
{
    for (int i = 1; i < f->n; i++) {
        struct found r = f->found[i];
        int to = i;
        for (; to > 0 && r.nbound && !f->found[to - 1].nbound; to--)
            f->found[to] = f->found[to - 1];
        f->found[to] = r;
    }
}

/* Whether lower:upper is all that a dimension has, or the target's loop. */
static bool runs_over_all(const struct family *f, int d, symp target,
                          symp lower, symp upper)
{
    if (sym_is(lower, 1) && upper->kind == SYM_EXTENT && upper->var == f->var &&
        upper->dim == d)
        return true;
    const struct loop *l = target->kind == SYM_LOOP ? target->loop : NULL;
    return l && l->lower && sym_same(l->lower, lower) &&
           sym_same(l->upper, upper);
}

/* That the sums around reference r run over the target, of what they sum over
 * a part of; in the part's loops. 1: over all elements. */
static symp within_runs(struct compiler *c, const struct part *p,
                        const struct family *f, const struct found *r,
                        const symp *target)
{
    symp within = sym_num(c, 1), lower, upper;
    for (int d = 0; d < r->reference->nargs; d++) {
        if (!target[d] || !ends_of_run(c, r, d, &lower, &upper) ||
            runs_over_all(f, d, target[d], lower, upper))
            continue;
        lower = condition_in_part(c, p, lower);
        upper = condition_in_part(c, p, upper);
        within = sym_and(c, within,
                         sym_call(c, ">=", 2, (symp[]){target[d], lower}));
        within = sym_and(c, within,
                         sym_call(c, "<=", 2, (symp[]){target[d], upper}));
    }
    return within;
}

/* An instance that an earlier reference has taken is not taken again. A
 * subscript that runs in a sum hits every element; with `tied`, the target's
 * family, those alone that it runs over. */
static void leave_taken(struct compiler *c, struct part *p,
                        const struct found *earlier, const struct found *r,
                        const symp *target, const struct family *tied)
{
    symp hit = sym_num(c, 1);
    if (tied)
        hit = within_runs(c, p, tied, earlier, target);
    for (int d = 0; d < earlier->reference->nargs; d++) {
        symp e = earlier->reference->args[d];
        if (!target[d] || sym_has_loop_of(e, earlier->bound, earlier->nbound))
            continue;
        bool runs = sym_has_loop_of(r->reference->args[d], r->bound, r->nbound);
        hit = sym_and(c, hit,
                      sym_eq(c, condition_in_part(c, p, e),
                             runs ? target[d] : p->reference->args[d]));
    }
    if (!sym_is(hit, 0))
        condition_add_guard(
            c, p, sym_is(hit, 1) ? sym_num(c, 0) : sym_call(c, "!", 1, &hit));
}

/* Drops references that hit other statements' elements alone: of beta[i,1]
 * beta[i,2] is as good as another variable. */
static void leave_other_statements(struct compiler *c, struct model *m,
                                   struct factor *g, struct finder *refs,
                                   const symp *target)
{
    int n = 0;
    for (int i = 0; i < refs->n; i++) {
        struct part *p = new_part(c, g);
        match_reference(c, m, p, &refs->found[i], target);
        if (!p->guard || !sym_is(p->guard, 0))
            refs->found[n++] = refs->found[i];
    }
    refs->n = n;
}

/* The loops of the target that tell apart what its elements reach through
 * stored nodes: all of them. `at`: its subscripts that the instances tell. */
static bool apart(const struct step *s, const struct alignment *alignments,
                  const symp *at)
{
    const struct family *f = s->family;
    for (int i = 0; i < f->nloops; i++) {
        bool told = false;
        for (const struct alignment *a = alignments; a; a = a->next)
            told = told || (at[a->dim] && at[a->dim]->kind == SYM_LOOP &&
                            at[a->dim]->loop == f->loops[i] &&
                            condition_all_have_keys(a));
        if (!told)
            return false;
    }
    return true;
}

/* Whether lists tell more than nothing: an array's element is one of many. The
 * instances of g must be those of its family. */
static bool may_be_listed(const struct family *f, const struct factor *g)
{
    return f->nloops > 0 && !f->nslices && !g->auxiliary &&
           !g->family->auxiliary && g->loops == g->family->loops &&
           g->nloops == g->family->nloops;
}

/* The instances of g that the target's element reaches as lists tell that are
 * made at load; all of them where it has none. */
static struct part *listed_part(struct compiler *c, struct model *m,
                                const struct step *s, struct factor *g)
{
    struct family *f = s->family;
    struct part *p = new_part(c, g);
    if (!may_be_listed(f, g))
        return p;
    p->inverse = get_reach(c, m, f, g);
    p->cell = sym_ref(c, f->var, f->var->ndim, f->lower);
    return p;
}

/* The instances of g, where it reads what is aligned, that the target's element
 * reaches; at[d] is set for the subscripts that tell. */
static struct part *reached_part(struct compiler *c, struct model *m,
                                 const struct step *s,
                                 const struct alignment *alignments,
                                 struct factor *g, symp *at)
{
    const struct family *f = s->family;
    struct part *p = new_part(c, g);
    symp key[8], cell[8];
    bool any = false;
    for (int d = 0; d < f->var->ndim; d++) {
        key[d] = cell[d] = sym_num(c, 1);
        at[d] = NULL;
    }
    for (const struct alignment *a = alignments; a; a = a->next) {
        symp k = condition_aligned_at(c, a, g);
        if (!k)
            continue;
        key[a->dim] = k;
        at[a->dim] = cell[a->dim] = f->lower[a->dim];
        any = true;
    }
    if (!any)
        return listed_part(c, m, s, g);
    struct found r = {.reference = sym_ref(c, f->var, f->var->ndim, key)};
    match_reference(c, m, p, &r, at);
    p->reference = NULL; /* it is not read there */
    if (p->inverse)
        p->cell = sym_ref(c, f->var, f->var->ndim, cell);
    return p;
}

/* Whether f is computed from the target, or from stored nodes that are. */
static bool reads_reached(struct compiler *c, const struct model *m,
                          const struct family *f, const struct var *target)
{
    symp body = model_substitute_derived(c, f->body);
    bool reads = sym_has_var(body, target);
    for (const struct var *v = m->vars; v && !reads; v = v->next)
        reads = v->stored && sym_has_var(body, v) &&
                model_derived_depends(m, v, target);
    return reads;
}

/* The instances of stored definitions that the target's element reaches, as of
 * factors; of a sequence its first family, for all. */
static struct part *reached_definitions(struct compiler *c, struct model *m,
                                        const struct step *s,
                                        const struct alignment *alignments)
{
    struct part *list = NULL, **last = &list;
    for (struct family *f = m->families; f; f = f->next) {
        if (f->stochastic || !f->var->stored || f->for_updates ||
            !model_recomputed_with(m, f, s->family->var) ||
            (!f->sequence && !reads_reached(c, m, f, s->family->var)))
            continue;
        struct factor *g = NEW(c, struct factor);
        g->family = f;
        g->loops = f->loops;
        g->nloops = f->nloops;
        g->text = f->text;
        g->logp = model_substitute_derived(c, f->body);
        symp at[8];
        *last = f->sequence ? listed_part(c, m, s, g)
                            : reached_part(c, m, s, alignments, g, at);
        last = &(*last)->next;
    }
    return list;
}

static bool reads_by_itself(symp e, const void *var)
{
    if (e->kind != SYM_REF || e->var != var)
        return false;
    for (int d = 0; d < e->nargs; d++)
        if (sym_has_var(e->args[d], var))
            return true;
    return false;
}

/* Whether an element of v is the subscript of another, z[z[i]]: which instances
 * of g an element reaches moves with it, between its trial values and from one
 * element to the next, and no index tells them. */
static bool indexes_itself(const struct factor *g, const struct var *v)
{
    return sym_any(g->logp, reads_by_itself, v) ||
           (g->lower && sym_any(g->lower, reads_by_itself, v)) ||
           (g->upper && sym_any(g->upper, reads_by_itself, v));
}

/* All of the part's instances count, each evaluated in place. */
static void add_in_place(struct compiler *c, struct step *s, struct part *p)
{
    const struct factor *g = p->factor;
    p->opaque = true;
    p->logp = condition_in_part(c, p, g->logp);
    p->value = condition_in_part(c, p, g->value);
    p->lower = condition_in_part(c, p, g->lower);
    p->upper = condition_in_part(c, p, g->upper);
    add_part(s, p);
}

/* Whether every statistic of g's parts is free of the array's other elements:
 * then no element waits for another on its account. */
static bool is_separable(const struct step *s, const struct factor *g)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; p->factor == g && i < p->terms.n; i++)
            if (p->opaque ||
                sym_has_var(p->terms.coefficient[i], s->family->var))
                return false;
    return true;
}

/* closed: g is in closed form. */
static void parts_of_factor(struct compiler *c, struct model *m, struct step *s,
                            struct factor *g, const symp *target, bool closed);

/* Whether the parts of `as` collect, as those of g do not. */
static bool collects_as(struct compiler *c, struct model *m,
                        const struct step *s, struct factor *g,
                        struct factor *as, const symp *target)
{
    struct inverse **last = m->last_inverse;
    const int n = m->ninverses;
    struct step as_is = {.family = s->family,
                         .model = s->model,
                         .name = s->name,
                         .support.lower = s->support.lower,
                         .support.upper = s->support.upper};
    struct step closed = as_is;
    parts_of_factor(c, m, &as_is, g, target, false);
    parts_of_factor(c, m, &closed, as, target, true);
    condition_gather_statistics(&as_is);
    condition_gather_statistics(&closed);
    *last = NULL;
    m->last_inverse = last;
    m->ninverses = n;
    return (as_is.opaque || as_is.through) && !closed.opaque &&
           !closed.through && closed.parts && is_separable(&closed, as);
}

/* g with what depends on the target through recursions and products in closed
 * form, or with its logarithms case by case, if that makes its parts collect,
 * as they did not before; else g. */
static struct factor *in_closed_form(struct compiler *c, struct model *m,
                                     const struct step *s, struct factor *g,
                                     const symp *target)
{
    const struct var *v = s->family->var;
    if (s->family->nslices || model_draws_integers(s->family) || g->opaque ||
        (g->lower && through_stored(m, g->lower, v)) ||
        (g->upper && through_stored(m, g->upper, v)))
        return g;
    const symp logp[] = {model_by_products(c, m, g->logp, s->family),
                         condition_by_cases(c, g->logp, v),
                         condition_by_inverses(c, s, g->logp)};
    for (size_t i = 0; i < sizeof logp / sizeof *logp; i++) {
        if (!logp[i])
            continue;
        struct factor *as = NEW(c, struct factor);
        *as = *g;
        as->logp = logp[i];
        if (collects_as(c, m, s, g, as, target))
            return as;
    }
    return g;
}

/* Takes back the indices from `first` on that none of the step's parts has. */
static void drop_unused(struct model *m, const struct step *s,
                        struct inverse **first)
{
    while (*first) {
        bool used = false;
        for (const struct part *p = s->parts; p; p = p->next)
            used = used || p->inverse == *first;
        if (used)
            first = &(*first)->next;
        else
            *first = (*first)->next;
    }
    m->last_inverse = first;
    m->ninverses = 0;
    for (struct inverse *i = m->inverses; i; i = i->next)
        i->number = m->ninverses++;
}

static void child_parts(struct compiler *c, struct model *m, struct step *s,
                        struct factor *g, const symp *target, bool as_it_is)
{
    g = model_seen_by(c, s->family, g);
    struct factor *as = as_it_is ? g : in_closed_form(c, m, s, g, target);
    bool sequential = s->order.sequential;
    struct conflict *conflicts = s->order.conflicts;
    struct inverse **last = m->last_inverse;
    parts_of_factor(c, m, s, as, target, as != g);
    if (as == g)
        return;
    s->view.closed_form = true;
    s->order.sequential = sequential;
    s->order.conflicts = conflicts;
    drop_unused(m, s, last);
}

static void parts_of_factor(struct compiler *c, struct model *m, struct step *s,
                            struct factor *g, const symp *target, bool closed)
{
    struct family *f = s->family;
    struct finder refs;
    if (s->view.as)
        find_in_inverse(c, s, &refs, g);
    else
        condition_find_in_factor(c, &refs, f->var, g);
    bool own = g->family == f && !g->auxiliary;
    if (g == f->factor)
        own = true;
    if (!own && condition_is_observed_sum(c, g)) {
        condition_tie_to_sum(c, m, s, g, target);
        return;
    }
    bool through = !s->view.as && condition_factor_through(m, g, f->var);
    if (through) {
        const struct alignment *alignments = condition_find_alignments(c, m, f);
        if (!s->through && (alignments || f->nloops > 0))
            s->view.reached = reached_definitions(c, m, s, alignments);
        s->through = true;
        symp at[8];
        add_in_place(c, s, reached_part(c, m, s, alignments, g, at));
        s->order.sequential = s->order.sequential || !apart(s, alignments, at);
        return;
    }
    if (indexes_itself(g, f->var)) {
        add_in_place(c, s, new_part(c, g));
        s->order.sequential = true;
        return;
    }
    for (int i = 0; i < refs.n; i++)
        refs.found[i].keyed = closed;
    leave_other_statements(c, m, g, &refs, target);
    if (!refs.n)
        return;
    const struct family *tied = elements_dependence(c, s, g, &refs, own);
    sums_first(&refs);
    struct found *before = NEW_ARRAY(c, struct found, refs.n + 1);
    int nbefore = 0;
    if (own)
        before[nbefore++] = (struct found){
            .reference = sym_ref(c, f->var, f->var->ndim, f->lower)};
    bool trouble = refs.in_array || refs.in_subscript;
    for (int i = 0; i < refs.n; i++) {
        if (own && same_node(f, refs.found[i].reference,
                             sym_ref(c, f->var, f->var->ndim, f->lower)))
            continue;
        struct part *p = new_part(c, g);
        match_reference(c, m, p, &refs.found[i], target);
        if (p->guard && sym_is(p->guard, 0))
            continue; /* this reference never hits this family */
        if (tied)
            condition_add_guard(
                c, p, within_runs(c, p, tied, &refs.found[i], target));
        for (int k = 0; k < nbefore; k++)
            leave_taken(c, p, &before[k], &refs.found[i], target, tied);
        if (p->guard && sym_is(p->guard, 0))
            continue;
        condition_part(c, s, p, &refs.found[i], trouble, target);
        add_part(s, p);
        before[nbefore++] = refs.found[i];
        if (refs.found[i].nbound) {
            /* a sum takes all its instances: other references are inside */
            bool all_free = true;
            for (int k = 0; k < p->nloops; k++)
                all_free = all_free && !p->solved[k];
            if (all_free && !p->inverse && !p->guard)
                break;
        }
    }
}

/* as_it_is: no factor may be seen in closed form. */
static struct step *condition_as(struct compiler *c, struct model *m,
                                 struct family *f, bool as_it_is)
{
    struct step *s = NEW(c, struct step);
    s->family = f;
    s->model = m;
    s->name = intern_format(c, "update_%s", family_id(c, f));
    if ((f->var->leaf && !f->auxiliary) || f->var->draw)
        return s;
    symp target[8];
    target_subscripts(f, target);
    struct factor *own = f->factor;
    s->support.lower = own->lower;
    s->support.upper = own->upper;
    bool vector = f->nslices > 0;
    condition_see_in_inverse(c, s);
    /* a prior whose instances are all taken is among the children's */
    if (!vector && !own->replaced &&
        !condition_factor_through(m, own, f->var) &&
        !indexes_itself(own, f->var))
        own_part(c, s, own, target);
    for (struct factor *g = m->factors; g; g = g->next)
        if (!g->replaced)
            child_parts(c, m, s, g, target, as_it_is);
    condition_gather_statistics(s);
    if (s->through || s->order.ties)
        s->opaque = true;
    if (vector)
        return s;
    condition_recognise(c, s);
    if (!s->law.family)
        condition_keep_rules(c, s);
    return s;
}

struct step *condition_family(struct compiler *c, struct model *m,
                              struct family *f)
{
    struct inverse **last = m->last_inverse;
    const int n = m->ninverses;
    struct step *s = condition_as(c, m, f, false);
    if (!s->view.closed_form || s->law.family)
        return s;
    *last = NULL; /* closed forms are for exact draws */
    m->last_inverse = last;
    m->ninverses = n;
    return condition_as(c, m, f, true);
}

void condition_families(struct compiler *c, struct model *m)
{
    /* auxiliary nodes first: they are drawn before anything reads them */
    for (int pass = 0; pass < 2; pass++)
        for (struct family *f = m->families; f; f = f->next) {
            if (!f->stochastic || f->data_block || !f->factor ||
                f->auxiliary != (pass == 0))
                continue;
            struct step *s = condition_family(c, m, f);
            *m->last_step = s;
            m->last_step = &s->next;
        }
}

void condition_model(struct compiler *c, struct model *m)
{
    condition_families(c, m);
    condition_observed_sums(c, m);
}
