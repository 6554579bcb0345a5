/* cases.c: what is 0 or 1 in a log density. Where it is evaluated, the two
 * logarithms of a Bernoulli node are one: y log(a) + (1 - y) log(b) is
 * log(y a + (1 - y) b), with one quotient in its derivative. Where it is to be
 * collected, the other way: log(1 - z p) is log(1 - p) if z is 1, else 0. */
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

/* ---- apart -----------------------------------------------------------------
 */

struct apart {
    const struct var *target;
    int depth;
};

/* More choices inside each other double the text too often. */
#define MAX_DEPTH 3

static bool is_condition(symp e)
{
    static const char *const names[] = {
        "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
    for (size_t i = 0; e->kind == SYM_CALL && e->nargs == 2 &&
                       i < sizeof names / sizeof *names;
         i++)
        if (!strcmp(e->name, names[i]))
            return true;
    return false;
}

/* What is 0 or 1 in e and free of the target, outside of sums and arrays; of a
 * choice its condition. NULL: nothing. */
static symp indicator(symp e, const struct var *target)
{
    if (sym_has_var(e, target) ? false : is_condition(e) || is_binary(e))
        return e;
    if (e->kind == SYM_SELECT)
        return indicator(e->args[0], target);
    if (e->kind != SYM_ADD && e->kind != SYM_MUL && e->kind != SYM_POW)
        return NULL;
    for (int i = 0; i < e->nargs; i++) {
        symp found = indicator(e->args[i], target);
        if (found)
            return found;
    }
    return NULL;
}

/* e where z, an indicator, is `value`; where that says what a node is, with it
 * in the node's place. */
static symp settled(struct compiler *c, symp e, symp z, int value)
{
    const int at = z->kind == SYM_CALL && z->args[0]->kind == SYM_NUM;
    e = sym_replace(c, e, z, sym_num(c, value));
    if (value && z->kind == SYM_CALL && !strcmp(z->name, "==") &&
        z->args[at]->kind == SYM_REF && z->args[1 - at]->kind == SYM_NUM)
        e = sym_replace(c, e, z->args[at], z->args[1 - at]);
    return e;
}

static symp take_apart(struct compiler *c, symp e, void *context)
{
    struct apart *k = context;
    if (e->kind != SYM_CALL || e->nargs != 1 || strcmp(e->name, "log") != 0 ||
        e->args[0]->kind != SYM_ADD || !sym_has_var(e, k->target) ||
        k->depth == MAX_DEPTH)
        return NULL;
    symp z = indicator(e->args[0], k->target);
    if (!z)
        return NULL;
    symp value[2];
    k->depth++;
    for (int i = 0; i < 2; i++)
        value[i] =
            sym_map(c, sym_log(c, settled(c, e->args[0], z, i)), take_apart, k);
    k->depth--;
    symp is_one = is_condition(z) ? z : sym_eq(c, z, sym_num(c, 1));
    return sym_select(c, is_one, value[1], value[0]);
}

symp condition_by_cases(struct compiler *c, symp logp, const struct var *target)
{
    struct apart k = {.target = target};
    symp e = sym_map(c, logp, take_apart, &k);
    return e == logp ? NULL : e;
}
