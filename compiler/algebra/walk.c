/* walk.c: questions about symbolic expressions, which build none. */
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

bool sym_is_loop(symp e, const void *loop)
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
    return sym_any_with(e, loop, sym_is_loop, loop);
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

bool sym_at_most_one(symp e)
{
    const struct expr *high = NULL;
    switch (e->kind) {
    case SYM_NUM:
        return e->number <= 1;
    case SYM_REF:
        return e->var->most_one;
    case SYM_SELECT:
        return sym_at_most_one(e->args[1]) && sym_at_most_one(e->args[2]);
    case SYM_MUL:
        for (int i = 0; i < e->nargs; i++)
            if (!sym_at_most_one(e->args[i]) || !sym_positive(e->args[i]))
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

bool sym_is_whole(symp e)
{
    return e->kind == SYM_NUM && e->number == floor(e->number) &&
           fabs(e->number) < 1e6;
}

bool sym_is_condition(symp e)
{
    static const char *const names[] = {
        "==", "!=", "<", "<=", ">", ">=", "&&", "!"};
    if (e->kind == SYM_SEEN || e->kind == SYM_LIVE)
        return true;
    if (e->kind != SYM_CALL)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(e->name, names[i]))
            return true;
    return false;
}

double sym_largest_of(symp e)
{
    double most = e->kind == SYM_NUM ? e->number : HUGE_VAL;
    if (e->kind == SYM_CALL && !strcmp(e->name, "min"))
        for (int i = 0; i < e->nargs; i++)
            most = fmin(most, sym_largest_of(e->args[i]));
    return most;
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
