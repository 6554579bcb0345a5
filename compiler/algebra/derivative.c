/* derivative.c: derivatives of symbolic expressions. */
#include "algebra/inside.h"
#include <math.h>
#include <string.h>

/* The condition that two references to one variable are the same element. */
static symp same_element(struct compiler *c, symp a, symp b)
{
    symp all = sym_num(c, 1);
    for (int d = 0; d < a->nargs; d++)
        all = sym_and(c, all, sym_eq(c, a->args[d], b->args[d]));
    return all;
}

symp sym_derivative_of_function(struct compiler *c, symp call, int i)
{
    const struct clause *clause =
        call->entry ? entry_clause(call->entry, "derivative") : NULL;
    const struct clause_item *item = clause ? clause->items : NULL;
    struct at_arguments at = {call->entry, call->args};
    for (int k = 0; item && k < i; k++)
        item = item->next;
    return item ? sym_from_library(c, item->value, sym_bind_argument, &at)
                : NULL;
}

static symp derivative_of_call(struct compiler *c, symp e, symp wrt)
{
    if (!sym_has_var(e, wrt->var))
        return sym_num(c, 0);
    if (e->nargs == 1 && sym_is_call(c, e, "exp")) {
        symp inner = sym_derivative(c, e->args[0], wrt);
        return inner ? sym_mul2(c, e, inner) : NULL;
    }
    if (e->nargs == 1 && sym_is_call(c, e, "log")) {
        symp inner = sym_derivative(c, e->args[0], wrt);
        return inner ? sym_div(c, inner, e->args[0]) : NULL;
    }
    symp total = sym_num(c, 0);
    for (int i = 0; i < e->nargs; i++) {
        symp inner =
            e->args[i]->kind == SYM_ARRAY
                ? (sym_has_var(e->args[i], wrt->var) ? NULL : sym_num(c, 0))
                : sym_derivative(c, e->args[i], wrt);
        if (!inner)
            return NULL;
        if (sym_is(inner, 0))
            continue;
        symp outer = sym_derivative_of_function(c, e, i);
        if (!outer)
            return NULL;
        total = sym_add2(c, total, sym_mul2(c, outer, inner));
    }
    return total;
}

static symp derivative_of_add(struct compiler *c, symp e, symp wrt)
{
    symp total = sym_num(c, 0);
    for (int i = 0; i < e->nargs; i++) {
        symp d = sym_derivative(c, e->args[i], wrt);
        if (!d)
            return NULL;
        total = sym_add2(c, total, d);
    }
    return total;
}

static symp derivative_of_mul(struct compiler *c, symp e, symp wrt)
{
    symp total = sym_num(c, 0);
    for (int i = 0; i < e->nargs; i++) {
        symp d = sym_derivative(c, e->args[i], wrt);
        if (!d)
            return NULL;
        if (sym_is(d, 0))
            continue;
        struct list l = {0};
        sym_list_push(c, &l, d);
        for (int j = 0; j < e->nargs; j++)
            if (j != i)
                sym_list_push(c, &l, e->args[j]);
        total = sym_add2(c, total, sym_mul(c, l.n, l.at));
    }
    return total;
}

/* Of a power whose exponent is free of wrt. */
static symp derivative_of_power(struct compiler *c, symp e, symp wrt)
{
    symp d = sym_has_var(e->args[1], wrt->var)
                 ? NULL
                 : sym_derivative(c, e->args[0], wrt);
    if (!d)
        return NULL;
    symp lower =
        sym_pow(c, e->args[0], sym_add2(c, e->args[1], sym_num(c, -1)));
    return sym_mul(c, 3, (symp[]){e->args[1], lower, d});
}

static symp derivative_of_select(struct compiler *c, symp e, symp wrt)
{
    if (sym_has_var(e->args[0], wrt->var))
        return NULL;
    symp yes = sym_derivative(c, e->args[1], wrt);
    symp no = sym_derivative(c, e->args[2], wrt);
    return yes && no ? sym_select(c, e->args[0], yes, no) : NULL;
}

static symp derivative_of_sum(struct compiler *c, symp e, symp wrt)
{
    symp d = sym_derivative(c, e->args[2], wrt);
    if (!d || d->kind != SYM_ADD)
        return d ? sym_sum(c, e->loop, e->args[0], e->args[1], d) : NULL;
    /* sum the terms apart, so that each equality picks its own index */
    symp total = sym_num(c, 0);
    for (int i = 0; i < d->nargs; i++)
        total = sym_add2(
            c, total, sym_sum(c, e->loop, e->args[0], e->args[1], d->args[i]));
    return total;
}

symp sym_derivative(struct compiler *c, symp e, symp wrt)
{
    switch (e->kind) {
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_TARGET:
    case SYM_PARAM:
        return sym_num(c, 0);
    case SYM_REF:
        for (int d = 0; d < e->nargs; d++)
            if (sym_has_var(e->args[d], wrt->var))
                return NULL;
        return e->var == wrt->var ? same_element(c, e, wrt) : sym_num(c, 0);
    case SYM_ADD:
        return derivative_of_add(c, e, wrt);
    case SYM_MUL:
        return derivative_of_mul(c, e, wrt);
    case SYM_POW:
        return derivative_of_power(c, e, wrt);
    case SYM_SELECT:
        return derivative_of_select(c, e, wrt);
    case SYM_SUM:
        return derivative_of_sum(c, e, wrt);
    case SYM_CALL:
        return derivative_of_call(c, e, wrt);
    case SYM_ARRAY:
        return NULL;
    }
    UNREACHABLE();
}
