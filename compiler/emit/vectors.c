/* vectors.c: what the C compiler can evaluate by the vector unit for several
 * rows at once, and where that is worth something: functions that the library
 * says are in vectors (`vectors`), powers and arithmetic. */
#include "emit/emit.h"
#include <math.h>
#include <string.h>

bool emit_only_vectors(symp e)
{
    for (int i = 0; i < e->nargs; i++)
        if (!emit_only_vectors(e->args[i]))
            return false;
    switch (e->kind) {
    case SYM_NUM:
    case SYM_PARAM:
    case SYM_TARGET:
    case SYM_ADD:
    case SYM_MUL:
    case SYM_SELECT:
    case SYM_REF:
    case SYM_LOOP:
    case SYM_EXTENT:
        return true;
    case SYM_POW:
        return !model_is_integer(e->args[1]) ||
               (e->args[1]->kind == SYM_NUM && fabs(e->args[1]->number) <= 2);
    case SYM_CALL:
        return model_is_integer(e) ||
               (e->entry && entry_clause(e->entry, "vectors"));
    default:
        return false;
    }
}

bool emit_is_expensive(symp e, const void *unused)
{
    (void)unused;
    return (e->kind == SYM_POW && !model_is_integer(e->args[1])) ||
           (e->kind == SYM_CALL && e->entry && !model_is_integer(e));
}

/* Whether each row of p evaluates an expensive call of its own. */
static bool expensive_in_rows(const struct part *p, symp e)
{
    for (int i = 0; emit_is_expensive(e, NULL) && i < p->nloops; i++)
        if (!p->solved[i] && sym_has_loop(e, p->loops[i]))
            return true;
    for (int i = 0; i < e->nargs; i++)
        if (expensive_in_rows(p, e->args[i]))
            return true;
    return false;
}

bool emit_worth_vectors(const struct part *p, symp const *terms, int n)
{
    bool worth = false;
    for (int i = 0; i < n; i++) {
        if (!emit_only_vectors(terms[i]))
            return false;
        worth = worth || expensive_in_rows(p, terms[i]);
    }
    return worth;
}

/* ---- calls before the choices they stand in ---- */

static bool is_log(symp x)
{
    return x->kind == SYM_CALL && x->entry && !strcmp(x->name, "log");
}

/* A product with a logarithm is 0 where the rest of it is, and one call. */
static bool is_product_with_log(symp x)
{
    for (int i = 0; x->kind == SYM_MUL && i < x->nargs; i++)
        if (is_log(x->args[i]))
            return true;
    return false;
}

static int times_in(symp whole, symp x)
{
    int n = sym_same(whole, x);
    for (int i = 0; i < whole->nargs; i++)
        n += times_in(whole->args[i], x);
    return n;
}

static bool is_choice(symp x, const void *unused)
{
    (void)unused;
    return x->kind == SYM_SELECT;
}

struct calls {
    symp const *in;
    int n;
    const struct hoisted *rows; /* those, too, that stand in a choice by row; or
                                   NULL */
};

static bool is_column(symp x, const void *hoisted)
{
    const struct hoisted *h = hoisted;
    for (int i = 0; x->kind == SYM_PARAM && i < h->n; i++)
        if (h->name[i] == x->name)
            return h->column[i];
    return false;
}

static bool is_worth(const struct calls *k, symp x, bool chosen)
{
    int times = 0;
    if (chosen)
        return k->rows != NULL;
    for (int i = 0; i < k->n; i++)
        times += times_in(k->in[i], x);
    return times > 1 && (k->rows || sym_any(x, is_choice, NULL));
}

static void compute_calls(struct emitter *e, const struct calls *k, symp x,
                          bool chosen)
{
    const bool product = is_product_with_log(x);
    const bool choice = x->kind == SYM_SELECT;
    if (x->kind == SYM_SUM || x->kind == SYM_ARRAY)
        return;
    /* one choice for all rows is made before the loop */
    const bool once =
        choice && k->rows && !sym_any(x->args[0], is_column, k->rows);
    for (int i = 0; i < (once ? 1 : x->nargs); i++) {
        symp a = x->args[i];
        if (product && is_log(a))
            a = a->args[0];
        compute_calls(e, k, a, chosen || (choice && i > 0));
    }
    if ((!product && !emit_is_expensive(x, NULL)) || !is_worth(k, x, chosen) ||
        emit_done_before(e, x))
        return;
    const char *name = emit_name(e, "call"), *value = emit_expr(e, x);
    emit_line(e, "const real %s = %s;", name, value);
    emit_remember(e, x, name);
}

void emit_calls_of_rows(struct emitter *e, const struct hoisted *h,
                        symp const *values, int n)
{
    const struct calls k = {values, n, h};
    for (int i = 0; i < n; i++)
        compute_calls(e, &k, values[i], false);
}

void emit_repeated_calls(struct emitter *e, symp const *values, int n)
{
    const struct calls k = {values, n, NULL};
    for (int i = 0; i < n; i++)
        compute_calls(e, &k, values[i], false);
}
