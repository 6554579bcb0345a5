/* determinant.c: what scales a matrix, or makes it a diagonal, comes out of its
 * log determinant, and out of a trace. */
#include "algebra/inside.h"

static symp sum_of_logs(struct compiler *c, symp extent, struct loop *from,
                        symp e)
{
    struct loop *k = NEW(c, struct loop);
    *k = (struct loop){.name = "k", .lower = sym_num(c, 1), .upper = extent};
    e = sym_replace_loop(c, e, from, sym_loop(c, k));
    return sym_sum(c, k, k->lower, k->upper, sym_log(c, e));
}

/* logdet of the cells a[k] b[l] A[k,l], a and b > 0: the logs of a and b, and
 * logdet(A). NULL if there are no such a and b. */
static symp scaled_logdet(struct compiler *c, symp array)
{
    symp body = array->args[0], rest = sym_num(c, 1), logs = sym_num(c, 0);
    if (body->kind != SYM_MUL)
        return NULL;
    for (int i = 0; i < body->nargs; i++) {
        symp e = body->args[i];
        const bool row = sym_has_loop(e, array->loops[0]),
                   column = sym_has_loop(e, array->loops[1]);
        if (!sym_positive(e) || (row && column))
            rest = sym_mul2(c, rest, e);
        else
            logs = sym_add2(
                c, logs,
                sum_of_logs(c, array->args[1], array->loops[column], e));
    }
    if (sym_is(logs, 0))
        return NULL;
    symp of = sym_array(c, 2, array->loops, &array->args[1], rest);
    return sym_add2(c, logs, sym_call(c, "logdet", 1, &of));
}

/* logdet of the cells (k == l) a[k,l]: the logs of a[k,k]. NULL if that is not
 * how the array is written. */
static symp diagonal_logdet(struct compiler *c, symp array)
{
    symp on =
        sym_eq(c, sym_loop(c, array->loops[0]), sym_loop(c, array->loops[1]));
    symp body = array->args[0];
    bool found = false;
    for (int i = 0; i < (body->kind == SYM_MUL ? body->nargs : 1); i++) {
        symp times, e = body->kind == SYM_MUL ? body->args[i] : body;
        symp equality = sym_equality_in(c, e, &times);
        found = found || (equality && sym_same(equality, on));
    }
    if (!found)
        return NULL;
    body = sym_replace_loop(c, body, array->loops[1],
                            sym_loop(c, array->loops[0]));
    return sum_of_logs(c, array->args[1], array->loops[0], body);
}

symp sym_simpler_logdet(struct compiler *c, symp array)
{
    if (array->kind != SYM_ARRAY || array->nloops != 2)
        return NULL;
    symp scaled = scaled_logdet(c, array);
    return scaled ? scaled : diagonal_logdet(c, array);
}

/* trace_solve(a A, B), a the same for all cells of A: a trace_solve(A, B). NULL
 * if there is no such a. */
symp sym_scaled_trace(struct compiler *c, symp array, symp other)
{
    symp body = array->kind == SYM_ARRAY ? array->args[0] : NULL;
    if (!body || array->nloops != 2 || body->kind != SYM_MUL)
        return NULL;
    symp scale = sym_num(c, 1), rest = sym_num(c, 1);
    for (int i = 0; i < body->nargs; i++) {
        symp e = body->args[i];
        const bool all = !sym_has_loop(e, array->loops[0]) &&
                         !sym_has_loop(e, array->loops[1]);
        symp *to = all ? &scale : &rest;
        *to = sym_mul2(c, *to, e);
    }
    if (sym_is(scale, 1))
        return NULL;
    symp of = sym_array(c, 2, array->loops, &array->args[1], rest);
    return sym_mul2(c, scale,
                    sym_call(c, "trace_solve", 2, (symp[]){of, other}));
}
