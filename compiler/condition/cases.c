/* cases.c: the two logarithms of a Bernoulli node as one:
 * y log(a) + (1 - y) log(b) is log(y a + (1 - y) b), with one quotient in its
 * derivative. */
#include "condition/condition.h"
#include <string.h>

static bool is_number(const struct expr *e, double number)
{
    return e->kind == EXPR_NUM && e->number == number;
}

/* Whether e is 0 or 1, as its distribution draws it. */
static bool is_binary(symp e)
{
    if (e->kind != SYM_REF || !e->var->families)
        return false;
    for (const struct family *f = e->var->families; f; f = f->next_of_var) {
        const struct expr *support =
            f->stochastic ? entry_value(f->distribution, "support") : NULL;
        if (!support || strcmp(support->name, "integer") != 0 ||
            support->nargs != 2 || !is_number(support->args[0], 0) ||
            !is_number(support->args[1], 1))
            return false;
    }
    return true;
}

/* The a of a term coefficient * log(a), or NULL. */
static symp logarithm(struct compiler *c, symp term, symp *coefficient)
{
    symp found = NULL;
    *coefficient = sym_num(c, 1);
    for (int i = 0; term->kind == SYM_MUL && i < term->nargs; i++) {
        symp a = term->args[i];
        if (!found && a->kind == SYM_CALL && !strcmp(a->name, "log"))
            found = a->args[0];
        else
            *coefficient = sym_mul2(c, *coefficient, a);
    }
    return found;
}

static void merge_with(struct compiler *c, symp *terms, int n, int first)
{
    symp y, other, a = logarithm(c, terms[first], &y);
    for (int i = 0; i < n; i++) {
        symp b = i == first ? NULL : logarithm(c, terms[i], &other);
        if (!b || !sym_is(sym_add2(c, y, other), 1))
            continue;
        terms[first] =
            sym_log(c, sym_add2(c, sym_mul2(c, y, a), sym_mul2(c, other, b)));
        terms[i] = sym_num(c, 0);
        return;
    }
}

void condition_merge_cases(struct compiler *c, symp *terms, int n,
                           const struct var *target)
{
    for (int i = 0; i < n; i++) {
        symp y;
        if (logarithm(c, terms[i], &y) && is_binary(y) && y->var != target)
            merge_with(c, terms, n, i);
    }
}
