/* terms.c: what a part is of the target: statistics with coefficients, bounds,
 * or a log density that is evaluated in place. */
#include "condition/find.h"
#include <string.h>

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

/* limit <= value (or >=), where the limit is a + b x: a bound on x. NULL: it is
 * not linear. */
static struct bound *add_bound(struct compiler *c, struct step *s,
                               struct part *p, symp limit, symp value,
                               bool limit_is_lower)
{
    struct collected k;
    sym_collect(c, limit, false, &k);
    if (k.overflow || k.n != 1 || k.statistic[0]->kind != SYM_TARGET ||
        k.coefficient[0]->kind != SYM_NUM)
        return NULL;
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
    return b;
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
        struct bound *b = add_bound(c, s, p, placed[side], value, side == 0);
        if (!b) {
            p->opaque = true;
            p->value = value;
            p->lower = lower;
            p->upper = upper;
            continue;
        }
        b->compared = value;
        b->limit = side ? upper : lower;
        b->limit_is_lower = side == 0;
        b->target = sym_ref(c, v, v->ndim, target);
    }
}

/* A reference to the step's variable, or to what is computed from it. */
static bool follows_own(symp e, const void *step)
{
    const struct step *s = step;
    const struct var *v = s->family->var;
    return (e->kind == SYM_REF && e->var == v) || model_follows(s->model, e, v);
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

void condition_part(struct compiler *c, struct step *s, struct part *p,
                    const struct found *r, bool plain_only, const symp *target)
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
