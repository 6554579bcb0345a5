/* walk.c: questions about symbolic expressions, and rewriting them. */
#include "algebra/inside.h"
#include <math.h>
#include <string.h>

bool sym_any(symp e, sym_test test, const void *context)
{
    if (test(e, context))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (sym_any(e->args[i], test, context))
            return true;
    return false;
}
bool sym_any_with(symp e, const void *what, sym_test test, const void *context)
{
    if (!sym_may_have(e, what))
        return false;
    if (test(e, context))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (sym_any_with(e->args[i], what, test, context))
            return true;
    return false;
}
static bool is_loop(symp e, const void *loop)
{
    return e->kind == SYM_LOOP && e->loop == loop;
}
static bool is_var(symp e, const void *var)
{
    return (e->kind == SYM_REF || e->kind == SYM_SEEN) && e->var == var;
}
static bool is_any_loop(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_LOOP;
}
static bool is_cell(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->nargs > 0;
}
bool sym_is_latent(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->var->role != ROLE_GIVEN &&
           e->var->role != ROLE_CONSTANT;
}
bool sym_is_draw(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_CALL && !strncmp(e->name, "draw_", 5);
}
bool sym_reads_var(symp e, const void *var)
{
    return e->kind == SYM_REF && e->var == var;
}
bool sym_reads_var_or_extent(symp e, const void *var)
{
    return (e->kind == SYM_REF || e->kind == SYM_EXTENT) && e->var == var;
}
static bool is_target(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_TARGET;
}
static bool is_same(symp e, const void *what) { return sym_same(e, what); }
bool sym_has_loop(symp e, const struct loop *loop)
{
    return sym_any_with(e, loop, is_loop, loop);
}
bool sym_has_loop_of(symp e, struct loop *const *loops, int n)
{
    for (int i = 0; i < n; i++)
        if (sym_has_loop(e, loops[i]))
            return true;
    return false;
}
bool sym_has_any_loop(symp e) { return sym_any(e, is_any_loop, NULL); }
bool sym_has_cells(symp e) { return sym_any(e, is_cell, NULL); }
bool sym_reads_latent(symp e) { return sym_any(e, sym_is_latent, NULL); }

bool sym_fixed(symp e)
{
    return e && !sym_has_any_loop(e) && !sym_reads_latent(e);
}
bool sym_has_var(symp e, const struct var *v)
{
    return sym_any_with(e, v, is_var, v);
}
bool sym_has_target(symp e) { return sym_any_with(e, NULL, is_target, NULL); }
bool sym_has(symp e, symp what) { return sym_any(e, is_same, what); }

bool sym_positive_if(symp e, bool target_positive)
{
    switch (e->kind) {
    case SYM_NUM:
        return e->number > 0;
    case SYM_TARGET:
        return target_positive;
    case SYM_REF:
        return e->var->positive;
    case SYM_EXTENT:
        return true;
    case SYM_ADD:
    case SYM_MUL:
        for (int i = 0; i < e->nargs; i++)
            if (!sym_positive_if(e->args[i], target_positive))
                return false;
        return true;
    case SYM_POW:
        return sym_positive_if(e->args[0], target_positive);
    case SYM_SELECT:
        return sym_positive_if(e->args[1], target_positive) &&
               sym_positive_if(e->args[2], target_positive);
    case SYM_SUM:
        return sym_positive_if(e->args[2], target_positive);
    case SYM_CALL: {
        if (!strcmp(e->name, "exp"))
            return true;
        const struct expr *low =
            e->entry ? entry_value(e->entry, "range") : NULL;
        return low && low->kind == EXPR_NUM && low->number >= 0 &&
               strcmp(e->name, "abs") != 0;
    }
    case SYM_LOOP:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_PARAM:
    case SYM_ARRAY:
        return false;
    }
    UNREACHABLE();
}
bool sym_positive(symp e) { return sym_positive_if(e, false); }

static bool at_most_one(symp e)
{
    const struct expr *high = NULL;
    switch (e->kind) {
    case SYM_NUM:
        return e->number <= 1;
    case SYM_REF:
        return e->var->most_one;
    case SYM_SELECT:
        return at_most_one(e->args[1]) && at_most_one(e->args[2]);
    case SYM_MUL:
        for (int i = 0; i < e->nargs; i++)
            if (!at_most_one(e->args[i]) || !sym_positive(e->args[i]))
                return false;
        return true;
    case SYM_CALL: {
        const struct clause *range =
            e->entry ? entry_clause(e->entry, "range") : NULL;
        high = range && range->items->next ? range->items->next->value : NULL;
        return high && high->kind == EXPR_NUM && high->number <= 1;
    }
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_TARGET:
    case SYM_PARAM:
    case SYM_ADD:
    case SYM_POW:
    case SYM_SUM:
    case SYM_ARRAY:
        return false;
    }
    UNREACHABLE();
}

bool sym_not_negative(struct compiler *c, symp e)
{
    bool all = e->kind == SYM_MUL;
    for (int i = 0; all && i < e->nargs; i++)
        all = sym_not_negative(c, e->args[i]);
    return all || sym_positive(e) || sym_is(e, 0) ||
           (e->kind == SYM_POW && sym_not_negative(c, e->args[0])) ||
           (e->kind == SYM_SELECT && sym_not_negative(c, e->args[1]) &&
            sym_not_negative(c, e->args[2])) ||
           (e->kind == SYM_ADD && at_most_one(sym_sub(c, sym_num(c, 1), e)));
}

bool sym_difference(struct compiler *c, symp a, symp b, double *out)
{
    symp d = sym_sub(c, a, b);
    if (d->kind != SYM_NUM)
        return false;
    *out = d->number;
    return true;
}

/* ---- rewriting -------------------------------------------------------- */

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
    return is_loop(e, r->loop) ? r->by : NULL;
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
        if (is_loop(e, r->loops[i]))
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

bool sym_never_zero(symp x)
{
    if (x->kind == SYM_NUM)
        return x->number != 0;
    if (x->kind == SYM_MUL) {
        for (int i = 0; i < x->nargs; i++)
            if (!sym_never_zero(x->args[i]))
                return false;
        return true;
    }
    return sym_positive(x);
}

static bool is_exponential(symp x, const void *context)
{
    (void)context;
    return x->kind == SYM_CALL && !strcmp(x->name, "exp");
}

bool sym_may_overflow(symp x) { return sym_any(x, is_exponential, NULL); }

bool sym_may_be_infinite(symp x)
{
    if (x->kind == SYM_CALL)
        return !strcmp(x->name, "log") && !sym_positive(x->args[0]);
    if (x->kind == SYM_NUM)
        return isinf(x->number);
    if (x->kind == SYM_REF)
        return x->var->may_be_infinite;
    if (x->kind == SYM_SELECT)
        return sym_may_be_infinite(x->args[1]) ||
               sym_may_be_infinite(x->args[2]);
    if (x->kind == SYM_ADD || x->kind == SYM_MUL)
        for (int i = 0; i < x->nargs; i++)
            if (sym_may_be_infinite(x->args[i]))
                return true;
    return false;
}
