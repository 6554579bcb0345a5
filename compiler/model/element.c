/* element.c: which references to an array hit the elements of one statement.
 *
 * A block's score is its density at a block of 0. So the references to the
 * block's own elements become 0 there, and no others: an array may be filled by
 * several statements, and its cells that none defines are data. */
#include "model/model.h"
#include <string.h>

/* ---- is it an element? ---- */

/* Whether the ends of e's loop keep it from lower on, or up to upper. */
static bool never_below(struct compiler *c, symp e, symp lower)
{
    symp offset;
    double d;
    const struct loop *l = sym_plain_loop(c, e, &offset);
    return l && l->lower &&
           sym_difference(c, sym_add2(c, l->lower, offset), lower, &d) &&
           d >= 0;
}

static bool never_above(struct compiler *c, symp e, symp upper)
{
    symp offset;
    double d;
    const struct loop *l = sym_plain_loop(c, e, &offset);
    return l && l->upper &&
           sym_difference(c, upper, sym_add2(c, l->upper, offset), &d) &&
           d >= 0;
}

static symp between(struct compiler *c, symp e, symp lower, symp upper)
{
    symp yes = sym_num(c, 1);
    if (!never_below(c, e, lower))
        yes = sym_call(c, ">=", 2, (symp[]){e, lower});
    if (!never_above(c, e, upper))
        yes = sym_and(c, yes, sym_call(c, "<=", 2, (symp[]){e, upper}));
    return yes;
}

bool model_solve_loops(struct compiler *c, const struct family *f, symp ref,
                       symp *value)
{
    for (int i = 0; i < f->nloops; i++) {
        value[i] = NULL;
        for (int d = 0; d < f->var->ndim && !value[i]; d++) {
            symp offset;
            const struct loop *l =
                f->upper[d] ? NULL : sym_plain_loop(c, f->lower[d], &offset);
            if (l == f->loops[i] &&
                !sym_has_loop_of(offset, f->loops, f->nloops))
                value[i] = sym_sub(c, ref->args[d], offset);
        }
        if (!value[i])
            return false;
    }
    return true;
}

symp model_at_values(struct compiler *c, const struct family *f, symp e,
                     symp const *value)
{
    return sym_replace_loops(c, e, f->loops, f->nloops, value);
}

/* Whether e is the pattern with values in the place of f's loops. */
static bool match(const struct family *f, symp pattern, symp e, symp *value)
{
    for (int i = 0; pattern->kind == SYM_LOOP && i < f->nloops; i++)
        if (f->loops[i] == pattern->loop) {
            if (!value[i])
                value[i] = e;
            return sym_same(value[i], e);
        }
    if (pattern->nargs == 0)
        return sym_same(pattern, e);
    bool same = pattern->kind == e->kind && pattern->var == e->var &&
                pattern->name == e->name && pattern->nargs == e->nargs &&
                pattern->kind != SYM_SUM && pattern->kind != SYM_ARRAY;
    for (int i = 0; same && i < e->nargs; i++)
        same = match(f, pattern->args[i], e->args[i], value);
    return same;
}

/* X[row[a], col[a]] is an element of the statement of X[row[k], col[k]]. */
static bool has_its_form(struct compiler *c, const struct family *f, symp ref)
{
    symp value[MAX_LOOPS] = {NULL};
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d] || !match(f, f->lower[d], ref->args[d], value))
            return false;
    for (int i = 0; i < f->nloops; i++)
        if (!value[i] ||
            !sym_is(between(c, value[i],
                            model_at_values(c, f, f->loops[i]->lower, value),
                            model_at_values(c, f, f->loops[i]->upper, value)),
                    1))
            return false;
    return true;
}

symp model_is_element(struct compiler *c, const struct family *f, symp ref)
{
    symp value[MAX_LOOPS];
    if (!model_solve_loops(c, f, ref, value))
        return has_its_form(c, f, ref) ? sym_num(c, 1) : NULL;
    symp hit = sym_num(c, 1);
    /* outer loops first: the ends of inner ones may read arrays by them */
    for (int i = 0; i < f->nloops; i++)
        hit =
            sym_and(c, hit,
                    between(c, value[i],
                            model_at_values(c, f, f->loops[i]->lower, value),
                            model_at_values(c, f, f->loops[i]->upper, value)));
    for (int d = 0; d < f->var->ndim; d++) {
        symp e = ref->args[d],
             lower = model_at_values(c, f, f->lower[d], value);
        hit = sym_and(c, hit,
                      f->upper[d]
                          ? between(c, e, lower,
                                    model_at_values(c, f, f->upper[d], value))
                          : sym_eq(c, e, lower));
    }
    return hit;
}

/* ---- sums over what is left ---- */

/* What a conjunction says of a sum's index: not below `from`, not above `to`,
 * each NULL if open; `free` is the rest, free of the index. */
struct interval {
    symp from, to, free;
};

static bool interval_of(struct compiler *c, symp when, const struct loop *index,
                        struct interval *out)
{
    if (!sym_has_loop(when, index)) {
        out->free = sym_and(c, out->free, when);
        return true;
    }
    if (when->kind != SYM_CALL || when->nargs != 2)
        return false;
    if (!strcmp(when->name, "&&"))
        return interval_of(c, when->args[0], index, out) &&
               interval_of(c, when->args[1], index, out);
    const bool above = !strcmp(when->name, ">=");
    symp offset, *end = above ? &out->from : &out->to;
    if ((!above && strcmp(when->name, "<=") != 0) || *end ||
        sym_plain_loop(c, when->args[0], &offset) != index ||
        sym_has_loop(when->args[1], index))
        return false;
    *end = sym_sub(c, when->args[1], offset);
    return true;
}

static symp smaller(struct compiler *c, symp a, symp b)
{
    double d;
    if (sym_difference(c, a, b, &d))
        return d <= 0 ? a : b;
    return sym_select(c, sym_call(c, "<=", 2, (symp[]){a, b}), a, b);
}

static symp larger(struct compiler *c, symp a, symp b)
{
    double d;
    if (sym_difference(c, a, b, &d))
        return d >= 0 ? a : b;
    return sym_select(c, sym_call(c, ">=", 2, (symp[]){a, b}), a, b);
}

/* The factor of `body` that is 0 on a condition. */
static symp cut_factor(struct compiler *c, symp body, symp *rest)
{
    symp one[1] = {body}, cut = NULL;
    symp const *args = body->kind == SYM_MUL ? body->args : one;
    const int n = body->kind == SYM_MUL ? body->nargs : 1;
    *rest = sym_num(c, 1);
    for (int i = 0; i < n; i++)
        if (!cut && args[i]->kind == SYM_SELECT && sym_is(args[i]->args[1], 0))
            cut = args[i];
        else
            *rest = sym_mul2(c, *rest, args[i]);
    return cut;
}

/* The sum of a body that is 0 for an interval of the index: the sums before it
 * and after it, as a rule empty, so that no time is spent where all is 0. */
static symp sum_outside(struct compiler *c, struct loop *index, symp lower,
                        symp upper, symp body)
{
    double length;
    if (sym_difference(c, upper, lower, &length) && length < 0)
        return sym_num(c, 0);
    symp rest, cut = cut_factor(c, body, &rest), one = sym_num(c, 1);
    struct interval zero = {.free = one};
    if (!cut || !interval_of(c, cut->args[0], index, &zero))
        return sym_sum(c, index, lower, upper, body);
    symp left = sym_mul2(c, rest, cut->args[2]), sum = sym_num(c, 0);
    if (zero.from)
        sum = sum_outside(c, index, lower,
                          smaller(c, upper, sym_sub(c, zero.from, one)), left);
    if (zero.to) {
        symp next = sym_add2(c, zero.to, one);
        if (zero.from) /* an empty interval leaves nothing twice */
            next = larger(c, next, zero.from);
        symp after = sum_outside(c, index, larger(c, next, lower), upper, left);
        symp none = sym_call(c, "<=", 2, (symp[]){upper, zero.to});
        sum = sym_add2(c, sum, sym_select(c, none, sym_num(c, 0), after));
    }
    return sym_select(c, zero.free, sum,
                      sum_outside(c, index, lower, upper, left));
}

/* ---- the block's own elements are 0 ---- */

struct zeroing {
    const struct elements *of;
    bool told, arrays;
};

static bool fills_alone(const struct family *f)
{
    for (const struct family *g = f->var->families; g; g = g->next_of_var)
        if (g != f && (g->stochastic || g->constant || f->var->stored))
            return false;
    return true;
}

/* Whether ref is in the node of f where its loops have these values; NULL if it
 * is another node's, or may be. */
static symp is_in_node(struct compiler *c, const struct family *f, symp ref,
                       symp const *value)
{
    symp any = model_is_element(c, f, ref);
    if (any && sym_is(any, 0))
        return any;
    symp hit = sym_num(c, 1);
    for (int d = 0; d < f->var->ndim; d++) {
        symp e = ref->args[d],
             lower = model_at_values(c, f, f->lower[d], value);
        if (f->upper[d])
            hit = sym_and(c, hit,
                          between(c, e, lower,
                                  model_at_values(c, f, f->upper[d], value)));
        else if (!sym_same(e, lower))
            return NULL;
    }
    return hit;
}

static symp zero_node(struct compiler *c, symp e, void *context)
{
    struct zeroing *z = context;
    if (e->kind == SYM_SUM)
        return sum_outside(c, e->loop, sym_map(c, e->args[0], zero_node, z),
                           sym_map(c, e->args[1], zero_node, z),
                           sym_map(c, e->args[2], zero_node, z));
    symp rest = e;
    for (int i = 0; e->kind == SYM_REF && i < z->of->n; i++) {
        const struct family *f = z->of->families[i];
        if (f->var != e->var)
            continue;
        if (z->of->alone || (z->arrays && fills_alone(f)))
            return sym_num(c, 0);
        symp hit = z->of->node ? is_in_node(c, f, e, z->of->node)
                               : model_is_element(c, f, e);
        if (hit) /* by what the statements before it left of it */
            rest = sym_select(c, hit, sym_num(c, 0), rest);
        else
            z->told = false;
    }
    return rest == e ? NULL : rest;
}

symp model_without_elements(struct compiler *c, symp e,
                            const struct elements *of, bool *told)
{
    struct zeroing z = {of, true, false};
    symp rest = sym_map(c, e, zero_node, &z);
    *told = z.told;
    return rest;
}

symp model_without_arrays(struct compiler *c, symp e, const struct elements *of)
{
    struct zeroing z = {of, true, true};
    return sym_map(c, e, zero_node, &z);
}
