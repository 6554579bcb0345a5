/* print.c: symbolic expressions as text. */
#include "algebra/inside.h"
#include <math.h>
#include <string.h>

static int precedence(symp e)
{
    switch (e->kind) {
    case SYM_ADD:
        return 1;
    case SYM_MUL:
        return 2;
    case SYM_POW:
        return 3;
    case SYM_NUM:
        return e->number < 0 ? 1 : 9;
    default:
        return e->kind == SYM_CALL && !(e->name[0] >= 'A') ? 0 : 9;
    }
}

static void print_in(struct text *out, symp e, int outer)
{
    bool brackets = precedence(e) < outer;
    if (brackets)
        text_append(out, "(");
    sym_print(out, e);
    if (brackets)
        text_append(out, ")");
}

static void print_list(struct text *out, symp e, int from)
{
    for (int i = from; i < e->nargs; i++) {
        if (i > from)
            text_append(out, ", ");
        sym_print(out, e->args[i]);
    }
}

static void print_product(struct text *out, symp e)
{
    int first = 0;
    if (sym_is(e->args[0], -1)) {
        text_append(out, "-");
        first = 1;
    }
    bool any_printed = false;
    for (int i = first; i < e->nargs; i++) {
        symp f = e->args[i];
        bool inverse = f->kind == SYM_POW && sym_is(f->args[1], -1);
        if (inverse)
            continue;
        if (any_printed)
            text_append(out, " * ");
        print_in(out, f, 2);
        any_printed = true;
    }
    if (!any_printed)
        text_append(out, "1");
    for (int i = first; i < e->nargs; i++) {
        symp f = e->args[i];
        if (f->kind == SYM_POW && sym_is(f->args[1], -1)) {
            text_append(out, " / ");
            print_in(out, f->args[0], 3);
        }
    }
}

static void print_reference(struct text *out, symp e)
{
    const bool asked = e->kind == SYM_SEEN || e->kind == SYM_LIVE;
    text_printf(out, "%s%s",
                !asked                ? ""
                : e->kind == SYM_SEEN ? "seen("
                                      : "live(",
                e->var->name);
    if (e->nargs) {
        text_append(out, "[");
        print_list(out, e, 0);
        text_append(out, "]");
    }
    if (asked)
        text_append(out, ")");
}

static void print_terms(struct text *out, symp e)
{
    for (int i = 0; i < e->nargs; i++) {
        symp t = e->args[i];
        bool minus = (t->kind == SYM_MUL && t->args[0]->kind == SYM_NUM &&
                      t->args[0]->number < 0) ||
                     (t->kind == SYM_NUM && t->number < 0);
        struct text term = {0};
        print_in(&term, t, 1);
        if (i && minus && term.data[0] == '-')
            text_printf(out, " - %s", term.data + 1);
        else
            text_printf(out, "%s%s", i ? " + " : "", term.data);
        text_free(&term);
    }
}

static void print_power(struct text *out, symp e)
{
    if (sym_is(e->args[1], -1)) {
        text_append(out, "1 / ");
        print_in(out, e->args[0], 3);
        return;
    }
    if (sym_is(e->args[1], 0.5)) {
        text_append(out, "sqrt(");
        sym_print(out, e->args[0]);
        text_append(out, ")");
        return;
    }
    print_in(out, e->args[0], 4);
    text_append(out, "^");
    print_in(out, e->args[1], 4);
}

static void print_call(struct text *out, symp e, const char *name)
{
    text_printf(out, "%s(", name);
    print_list(out, e, 0);
    text_append(out, ")");
}

static void print_operation(struct text *out, symp e)
{
    print_in(out, e->args[0], 1);
    text_printf(out, " %s ", e->name);
    print_in(out, e->args[1], 1);
}

static void print_sum(struct text *out, symp e)
{
    text_printf(out, "sum(%s in ", e->loop->name);
    print_in(out, e->args[0], 3);
    text_append(out, ":");
    print_in(out, e->args[1], 3);
    text_append(out, ", ");
    sym_print(out, e->args[2]);
    text_append(out, ")");
}

static void print_array(struct text *out, symp e)
{
    text_append(out, "[");
    for (int i = 0; i < e->nloops; i++) {
        text_printf(out, "%s%s in 1:", i ? ", " : "", e->loops[i]->name);
        print_in(out, e->args[1 + i], 3);
    }
    text_append(out, ": ");
    sym_print(out, e->args[0]);
    text_append(out, "]");
}

void sym_print(struct text *out, symp e)
{
    switch (e->kind) {
    case SYM_NUM:
        text_printf(out, "%.10g", e->number);
        return;
    case SYM_LOOP:
        text_append(out, e->loop->name);
        return;
    case SYM_REF:
    case SYM_SEEN:
    case SYM_LIVE:
        print_reference(out, e);
        return;
    case SYM_EXTENT:
        text_printf(out, "extent(%s, %d)", e->var->name, e->dim + 1);
        return;
    case SYM_TARGET:
        text_append(out, "x");
        return;
    case SYM_PARAM:
        text_append(out, e->name);
        return;
    case SYM_ADD:
        print_terms(out, e);
        return;
    case SYM_MUL:
        print_product(out, e);
        return;
    case SYM_POW:
        print_power(out, e);
        return;
    case SYM_CALL:
        if (e->nargs == 2 && e->name[0] < 'A')
            print_operation(out, e);
        else
            print_call(out, e, e->name);
        return;
    case SYM_SELECT:
        print_call(out, e, "ifelse");
        return;
    case SYM_SUM:
        print_sum(out, e);
        return;
    case SYM_ARRAY:
        print_array(out, e);
        return;
    }
    UNREACHABLE();
}

const char *sym_text(struct compiler *c, symp e)
{
    struct text t = {0};
    sym_print(&t, e);
    return text_take(c, &t);
}
