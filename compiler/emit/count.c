/* count.c: numbers of terms, rows and operations as C, for the host alone. They
 * are double: a product of extents may be too large for an integer, and `real`
 * rounds what is beyond 2^24 where the program is compiled with GBM_SINGLE. */
#include "emit/emit.h"
#include <math.h>
#include <string.h>

/* Binding strength of the text that emit_quantity makes. */
static int strength(symp x)
{
    switch (x->kind) {
    case SYM_ADD:
        return 1;
    case SYM_MUL:
        return 2;
    case SYM_NUM:
        return x->number < 0 ? 1 : 9;
    case SYM_POW:
        return x->args[1]->kind == SYM_NUM && x->args[1]->number < 0 ? 2 : 9;
    default:
        return 9;
    }
}

static const char *count_in(struct emitter *e, symp x, int outer)
{
    const char *s = emit_quantity(e, x);
    const bool known = emit_done_before(e, x);
    return known || (strength(x) >= outer && s[0] != '-')
               ? s
               : intern_format(e->c, "(%s)", s);
}

static const char *number(struct compiler *c, double x)
{
    return intern_format(c, x == floor(x) && fabs(x) < 1e15 ? "%.0f" : "%.17g",
                         x);
}

static bool is_negative(symp x) { return x->kind == SYM_NUM && x->number < 0; }

static const char *count_add(struct emitter *e, symp x)
{
    struct text t = {0};
    for (int i = 0; i < x->nargs; i++) {
        symp a = x->args[i];
        const bool minus =
            is_negative(a) || (a->kind == SYM_MUL && is_negative(a->args[0]));
        if (minus)
            a = sym_neg(e->c, a);
        text_printf(&t, "%s%s",
                    minus ? (i ? " - " : "-")
                    : i   ? " + "
                          : "",
                    count_in(e, a, minus ? 2 : 1));
    }
    return text_take(e->c, &t);
}

/* Where the exponent is a negative number: what is divided by; or NULL. */
static symp divisor(struct compiler *c, symp x)
{
    return x->kind == SYM_POW && is_negative(x->args[1])
               ? sym_pow(c, x->args[0], sym_num(c, -x->args[1]->number))
               : NULL;
}

static const char *count_mul(struct emitter *e, symp x)
{
    struct text t = {0}, down = {0};
    int nup = 0;
    for (int i = 0; i < x->nargs; i++) {
        symp under = divisor(e->c, x->args[i]);
        if (under)
            text_printf(&down, " / %s", count_in(e, under, 3));
        else if (sym_is(x->args[i], -1))
            text_append(&t, "-");
        else
            text_printf(&t, "%s%s", nup++ ? " * " : "",
                        count_in(e, x->args[i], 2));
    }
    if (!nup)
        text_append(&t, "1.0");
    if (down.data)
        text_append(&t, down.data);
    text_free(&down);
    return text_take(e->c, &t);
}

static const char *count_power(struct emitter *e, symp x)
{
    symp under = divisor(e->c, x), base = x->args[0];
    if (under)
        return intern_format(e->c, "1.0 / %s", count_in(e, under, 3));
    if (sym_is(x->args[1], 2))
        return intern_format(e->c, "(%s * %s)", count_in(e, base, 2),
                             count_in(e, base, 3));
    return intern_format(e->c, "pow(%s, %s)", emit_quantity(e, base),
                         emit_quantity(e, x->args[1]));
}

static const char *count_sum(struct emitter *e, symp x)
{
    const char *name =
        emit_name(e, intern_format(e->c, "%s_count",
                                   model_marked_name(e->c, x->loop->name)));
    const int depth = e->nloops, nshared = e->nshared;
    emit_line(e, "double %s = 0;", name);
    emit_open_loop(e, x->loop, x->args[0], x->args[1]);
    const char *term = emit_quantity(e, x->args[2]);
    emit_line(e, "%s += %s;", name, term);
    emit_close(e, 1);
    e->nloops = depth;
    e->nshared = nshared;
    emit_remember(e, x, name);
    return name;
}

static bool needs_statements(symp x, const void *unused)
{
    (void)unused;
    return x->kind == SYM_SUM;
}

/* Statements, if there are sums: what is not chosen may not exist. */
static const char *count_select(struct emitter *e, symp x)
{
    if (!sym_any(x, needs_statements, NULL))
        return intern_format(
            e->c, "(%s ? %s : %s)", emit_in_brackets(e, x->args[0]),
            count_in(e, x->args[1], 1), count_in(e, x->args[2], 1));
    const char *name = emit_name(e, "chosen");
    const char *when = emit_expr(e, x->args[0]);
    emit_line(e, "double %s;", name);
    for (int b = 1; b <= 2; b++) {
        const int nshared = e->nshared;
        if (b == 1)
            emit_line(e, "if (%s) {", when);
        else
            emit_line(e, "} else {");
        e->indent++;
        const char *value = emit_quantity(e, x->args[b]);
        emit_line(e, "%s = %s;", name, value);
        e->indent--;
        e->nshared = nshared;
    }
    emit_line(e, "}");
    return name;
}

const char *emit_quantity(struct emitter *e, symp x)
{
    const char *known = emit_done_before(e, x);
    if (known)
        return known;
    switch (x->kind) {
    case SYM_NUM:
        return number(e->c, x->number);
    case SYM_ADD:
        return count_add(e, x);
    case SYM_MUL:
        return count_mul(e, x);
    case SYM_POW:
        return count_power(e, x);
    case SYM_SUM:
        return count_sum(e, x);
    case SYM_SELECT:
        return count_select(e, x);
    case SYM_CALL:
        if (x->nargs == 2 && /* one argument: of all that an array holds */
            (!strcmp(x->name, "min") || !strcmp(x->name, "max")))
            return intern_format(e->c, "f%s(%s, %s)", x->name,
                                 emit_quantity(e, x->args[0]),
                                 emit_quantity(e, x->args[1]));
        break;
    case SYM_REF:
    case SYM_EXTENT:
    case SYM_LOOP:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_TARGET:
    case SYM_PARAM:
    case SYM_ARRAY:
        break;
    }
    const char *text = emit_expr(e, x);
    return intern_format(
        e->c, x->kind == SYM_CALL ? "(double)(%s)" : "(double)%s", text);
}
