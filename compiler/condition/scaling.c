/* scaling.c: what becomes of expressions where some variables are multiplied by
 * one number, the target. */
#include "condition/condition.h"
#include <math.h>

bool condition_has_variable(const struct var_list *list, const struct var *v)
{
    for (int i = 0; i < list->n; i++)
        if (list->items[i] == v)
            return true;
    return false;
}

static symp scaled_cell(struct compiler *c, symp e, void *context)
{
    const struct var_list *vars = context;
    return e->kind == SYM_REF && condition_has_variable(vars, e->var)
               ? sym_mul2(c, sym_target(c), e)
               : NULL;
}

static symp scaled(struct compiler *c, symp e, const struct var_list *vars)
{
    struct var_list list = *vars;
    return sym_map(c, e, scaled_cell, &list);
}

/* Coefficients of the target's powers. */
struct polynomial {
    symp of[3];
};

/* False where the degree is above 2, or may be. */
static bool multiply(struct compiler *c, const struct polynomial *a,
                     const struct polynomial *b, struct polynomial *out)
{
    struct polynomial p;
    for (int k = 0; k < 5; k++) {
        symp sum = sym_num(c, 0);
        for (int i = 0; i < 3; i++)
            if (k - i >= 0 && k - i < 3)
                sum = sym_add2(c, sum, sym_mul2(c, a->of[i], b->of[k - i]));
        if (k > 2 && !sym_is(sum, 0))
            return false;
        if (k <= 2)
            p.of[k] = sum;
    }
    *out = p;
    return true;
}

/* False if e is no polynomial of the target of degree 2 at most. */
static bool polynomial(struct compiler *c, symp e, struct polynomial *out)
{
    struct polynomial a, b;
    symp zero = sym_num(c, 0), one = sym_num(c, 1);
    const bool sum = e->kind == SYM_ADD, product = e->kind == SYM_MUL;
    if (!sym_has_target(e)) {
        *out = (struct polynomial){{e, zero, zero}};
        return true;
    }
    if (e->kind == SYM_TARGET) {
        *out = (struct polynomial){{zero, one, zero}};
        return true;
    }
    if (sum || product) {
        *out = (struct polynomial){{sum ? zero : one, zero, zero}};
        for (int i = 0; i < e->nargs; i++) {
            if (!polynomial(c, e->args[i], &a) ||
                (product && !multiply(c, out, &a, out)))
                return false;
            for (int k = 0; sum && k < 3; k++)
                out->of[k] = sym_add2(c, out->of[k], a.of[k]);
        }
        return true;
    }
    if (e->kind == SYM_POW && sym_is(e->args[1], 2))
        return polynomial(c, e->args[0], &a) && multiply(c, &a, &a, out);
    if (e->kind == SYM_SUM && !sym_has_target(e->args[0]) &&
        !sym_has_target(e->args[1]) && polynomial(c, e->args[2], &a)) {
        for (int k = 0; k < 3; k++)
            out->of[k] = sym_sum(c, e->loop, e->args[0], e->args[1], a.of[k]);
        return true;
    }
    if (e->kind == SYM_SELECT && !sym_has_target(e->args[0]) &&
        polynomial(c, e->args[1], &a) && polynomial(c, e->args[2], &b)) {
        for (int k = 0; k < 3; k++)
            out->of[k] = sym_select(c, e->args[0], a.of[k], b.of[k]);
        return true;
    }
    return false;
}

bool condition_scales_along(struct compiler *c, symp e,
                            const struct var_list *vars)
{
    struct polynomial p;
    if (e->kind == SYM_NUM)
        return e->number == 0 || isinf(e->number);
    if (e->kind == SYM_SELECT)
        return !sym_has_target(scaled(c, e->args[0], vars)) &&
               condition_scales_along(c, e->args[1], vars) &&
               condition_scales_along(c, e->args[2], vars);
    return polynomial(c, scaled(c, e, vars), &p) && sym_is(p.of[0], 0) &&
           sym_is(p.of[2], 0);
}

/* The square of a function of the target, in a product; *coefficient: the rest
 * of the product. */
static symp find_square(struct compiler *c, symp e, symp *coefficient)
{
    symp base = NULL;
    *coefficient = sym_num(c, 1);
    for (int i = 0; i < (e->kind == SYM_MUL ? e->nargs : 1); i++) {
        symp a = e->kind == SYM_MUL ? e->args[i] : e;
        if (!base && a->kind == SYM_POW && sym_is(a->args[1], 2) &&
            sym_has_target(a->args[0]))
            base = a->args[0];
        else if (sym_has_target(a))
            return NULL;
        else
            *coefficient = sym_mul2(c, *coefficient, a);
    }
    return base;
}

static bool add_square(struct compiler *c, symp e, struct scaled_terms *out)
{
    struct scaled_square s;
    struct polynomial p;
    symp base = find_square(c, e, &s.coefficient);
    if (!base || out->nsquares == SCALED_SQUARES || !polynomial(c, base, &p) ||
        !sym_is(p.of[2], 0))
        return false;
    s.along = p.of[1];
    s.rest = p.of[0];
    out->squares[out->nsquares++] = s;
    return true;
}

bool condition_scaled_quadratic(struct compiler *c, symp e,
                                const struct var_list *vars,
                                struct scaled_terms *out)
{
    symp all = scaled(c, e, vars);
    *out =
        (struct scaled_terms){.square = sym_num(c, 0), .linear = sym_num(c, 0)};
    for (int i = 0; i < (all->kind == SYM_ADD ? all->nargs : 1); i++) {
        symp term = all->kind == SYM_ADD ? all->args[i] : all;
        struct polynomial p;
        if (!sym_has_target(term) || add_square(c, term, out))
            continue;
        if (!polynomial(c, term, &p))
            return false;
        out->linear = sym_add2(c, out->linear, p.of[1]);
        out->square = sym_add2(c, out->square, p.of[2]);
    }
    return true;
}

symp condition_scaled_coefficient(struct compiler *c,
                                  const struct scaled_terms *t, int power)
{
    symp sum = power == 2 ? t->square : t->linear;
    for (int i = 0; i < t->nsquares; i++) {
        const struct scaled_square *s = &t->squares[i];
        symp square =
            sym_mul2(c, s->coefficient, sym_pow(c, s->along, sym_num(c, 2)));
        symp linear = sym_mul(
            c, 4, (symp[]){sym_num(c, 2), s->coefficient, s->along, s->rest});
        sum = sym_add2(c, sum, power == 2 ? square : linear);
    }
    return sum;
}
