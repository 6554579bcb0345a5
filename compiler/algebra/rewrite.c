/* rewrite.c: expressions built again with other parts; sums over loops and
 * arrays, in which elements are put in the place of an index. */
#include "algebra/inside.h"
#include <string.h>

symp sym_rebuild(struct compiler *c, symp e, const symp *args)
{
    switch (e->kind) {
    case SYM_ADD:
        return sym_add(c, e->nargs, args);
    case SYM_MUL:
        return sym_mul(c, e->nargs, args);
    case SYM_POW:
        return sym_pow(c, args[0], args[1]);
    case SYM_SELECT:
        return sym_select(c, args[0], args[1], args[2]);
    case SYM_SUM:
        return sym_sum(c, e->loop, args[0], args[1], args[2]);
    case SYM_CALL:
        return sym_call(c, e->name, e->nargs, args);
    case SYM_ARRAY:
        return sym_array(c, e->nloops, e->loops, args + 1, args[0]);
    case SYM_REF:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_TARGET:
    case SYM_PARAM: {
        struct sym model = *e;
        return sym_make(c, model, e->nargs, args);
    }
    }
    UNREACHABLE();
}

symp sym_map(struct compiler *c, symp e, sym_rewrite f, void *context)
{
    symp r = f(c, e, context);
    if (r)
        return r;
    symp few[8], *args = NULL; /* once one has changed */
    for (int i = 0; i < e->nargs; i++) {
        r = sym_map(c, e->args[i], f, context);
        if (!args && r != e->args[i]) {
            args = e->nargs <= 8 ? few : NEW_ARRAY(c, symp, e->nargs);
            memcpy(args, e->args, (size_t)i * sizeof *args);
        }
        if (args)
            args[i] = r;
    }
    return args ? sym_rebuild(c, e, args) : e;
}

symp sym_again(struct compiler *c, symp e)
{
    if (e->nargs == 0)
        return e;
    symp *args = NEW_ARRAY(c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        args[i] = sym_again(c, e->args[i]);
    return sym_rebuild(c, e, args);
}

struct replacement {
    const struct loop *loop;
    symp what, by;
};

static symp replace_loop(struct compiler *c, symp e, void *context)
{
    const struct replacement *r = context;
    (void)c;
    if (!sym_may_have(e, r->loop))
        return e;
    return sym_is_loop(e, r->loop) ? r->by : NULL;
}

symp sym_replace_loop(struct compiler *c, symp e, const struct loop *loop,
                      symp by)
{
    struct replacement r = {.loop = loop, .by = by};
    return sym_map(c, e, replace_loop, &r);
}

struct replacements {
    struct loop *const *loops;
    int n;
    symp const *by;
};

static symp replace_loops(struct compiler *c, symp e, void *context)
{
    const struct replacements *r = context;
    (void)c;
    for (int i = 0; i < r->n; i++)
        if (sym_is_loop(e, r->loops[i]))
            return r->by[i];
    return NULL;
}

symp sym_replace_loops(struct compiler *c, symp e, struct loop *const *loops,
                       int n, symp const *by)
{
    struct replacements r = {.loops = loops, .n = n, .by = by};
    return sym_map(c, e, replace_loops, &r);
}

static symp replace_same(struct compiler *c, symp e, void *context)
{
    const struct replacement *r = context;
    (void)c;
    if (r->what->marks & ~e->marks) /* it has what e has not */
        return e;
    return sym_same(e, r->what) ? r->by : NULL;
}

symp sym_replace(struct compiler *c, symp e, symp what, symp by)
{
    struct replacement r = {.what = what, .by = by};
    return sym_map(c, e, replace_same, &r);
}

const struct loop *sym_plain_loop(struct compiler *c, symp e, symp *offset)
{
    symp terms[1] = {e};
    int n = e->kind == SYM_ADD ? e->nargs : 1;
    const symp *args = e->kind == SYM_ADD ? e->args : terms;
    const struct loop *found = NULL;
    symp rest = sym_num(c, 0);
    for (int i = 0; i < n; i++) {
        if (args[i]->kind == SYM_LOOP && !found)
            found = args[i]->loop;
        else
            rest = sym_add2(c, rest, args[i]);
    }
    if (!found || sym_has_loop(rest, found))
        return NULL;
    *offset = rest;
    return found;
}

/* ---- sums over loops, and arrays ----------------------------------------- */

static symp in_range(struct compiler *c, const struct loop *known, symp e,
                     symp lower, symp upper)
{
    if (known && known->lower && sym_same(known->lower, lower) &&
        sym_same(known->upper, upper))
        return sym_num(c, 1);
    return sym_and(c, sym_call(c, ">=", 2, (symp[]){e, lower}),
                   sym_call(c, "<=", 2, (symp[]){e, upper}));
}

/* Factors of e; a conjunction is the product of its conditions. */
static void push_factors(struct compiler *c, struct list *out, symp e)
{
    bool both = e->kind == SYM_CALL && !strcmp(e->name, "&&") &&
                sym_is_condition(e->args[0]) && sym_is_condition(e->args[1]);
    if (e->kind != SYM_MUL && !both) {
        sym_list_push(c, out, e);
        return;
    }
    for (int i = 0; i < e->nargs; i++)
        push_factors(c, out, e->args[i]);
}

symp sym_equality_in(struct compiler *c, symp f, symp *times)
{
    const bool where = f->kind == SYM_SELECT && sym_is(f->args[2], 0);
    symp on = where ? f->args[0] : f;
    *times = where ? f->args[1] : sym_num(c, 1);
    return on->kind == SYM_CALL && !strcmp(on->name, "==") ? on : NULL;
}

/* If body = rest * (loop + offset == e): e - offset, with rest in *rest. */
static symp delta_of(struct compiler *c, symp body, const struct loop *loop,
                     symp *rest)
{
    struct list factors = {0};
    push_factors(c, &factors, body);
    for (int i = 0; i < factors.n; i++) {
        symp times, f = sym_equality_in(c, factors.at[i], &times);
        if (!f)
            continue;
        for (int side = 0; side < 2; side++) {
            symp offset, me = f->args[side];
            if (sym_plain_loop(c, me, &offset) != loop ||
                sym_has_loop(f->args[1 - side], loop))
                continue;
            symp other = sym_sub(c, f->args[1 - side], offset);
            struct list l = {0};
            sym_list_push(c, &l, times);
            for (int j = 0; j < factors.n; j++)
                if (j != i)
                    sym_list_push(c, &l, factors.at[j]);
            *rest = sym_mul(c, l.n, l.at);
            return other;
        }
    }
    return NULL;
}

/* The elements of a list c(a, b, ...), told apart by comparing the index with
 * numbers: a few, which may cancel in their sum, as w and 1 - w do. */
static bool is_listed(symp body, const struct loop *loop, symp lower,
                      symp upper)
{
    enum { MOST = 16 };
    if (body->kind != SYM_SELECT || lower->kind != SYM_NUM ||
        upper->kind != SYM_NUM || upper->number - lower->number >= MOST)
        return false;
    const symp when = body->args[0];
    return when->kind == SYM_CALL && when->nargs == 2 &&
           sym_is_loop(when->args[0], loop) && when->args[1]->kind == SYM_NUM;
}

static symp sum_listed(struct compiler *c, const struct loop *loop, symp lower,
                       symp upper, symp body)
{
    symp sum = sym_num(c, 0);
    for (double k = lower->number; k <= upper->number; k++)
        sum = sym_add2(c, sum, sym_replace_loop(c, body, loop, sym_num(c, k)));
    return sum;
}

symp sym_sum(struct compiler *c, struct loop *loop, symp lower, symp upper,
             symp body)
{
    if (sym_is(body, 0))
        return body;
    if (!sym_has_loop(body, loop)) {
        symp count = sym_length(c, lower, upper);
        return sym_mul2(c, count, body);
    }
    symp rest;
    symp e = delta_of(c, body, loop, &rest);
    if (e) {
        const struct loop *known = e->kind == SYM_LOOP ? e->loop : NULL;
        return sym_select(c, in_range(c, known, e, lower, upper),
                          sym_replace_loop(c, rest, loop, e), sym_num(c, 0));
    }
    if (body->kind == SYM_MUL) { /* what is free of the index goes outside */
        struct list in = {0}, out = {0};
        for (int i = 0; i < body->nargs; i++)
            sym_list_push(c, sym_has_loop(body->args[i], loop) ? &in : &out,
                          body->args[i]);
        if (out.n) {
            sym_list_push(
                c, &out,
                sym_sum(c, loop, lower, upper, sym_mul(c, in.n, in.at)));
            return sym_mul(c, out.n, out.at);
        }
    }
    if (is_listed(body, loop, lower, upper))
        return sum_listed(c, loop, lower, upper, body);
    return sym_make(c, (struct sym){.kind = SYM_SUM, .loop = loop}, 3,
                    (symp[]){lower, upper, body});
}

/* k == e is false of an index k = 1 .. extent where e lies beyond its ends, as
 * t does of k <= t - 1. */
struct span_of_index {
    const struct loop *loop;
    symp extent;
};

static symp beyond_ends(struct compiler *c, symp e, void *context)
{
    const struct span_of_index *k = context;
    if (e->kind != SYM_CALL || e->nargs != 2 || strcmp(e->name, "=="))
        return NULL;
    for (int i = 0; i < 2; i++) {
        double d;
        if (!sym_is_loop(e->args[i], k->loop))
            continue;
        if ((sym_difference(c, e->args[1 - i], k->extent, &d) && d > 0) ||
            (e->args[1 - i]->kind == SYM_NUM && e->args[1 - i]->number < 1))
            return sym_num(c, 0);
    }
    return NULL;
}

symp sym_array(struct compiler *c, int nloops, struct loop *const *loops,
               const symp *extents, symp body)
{
    for (int i = 0; i < nloops; i++) {
        struct span_of_index k = {loops[i], extents[i]};
        body = sym_map(c, body, beyond_ends, &k);
    }
    struct sym model = {.kind = SYM_ARRAY, .nloops = nloops};
    symp args[3] = {body};
    for (int i = 0; i < nloops; i++) {
        model.loops[i] = loops[i];
        args[1 + i] = extents[i];
    }
    return sym_make(c, model, 1 + nloops, args);
}
