/* ast.c: the tree that the parser builds: making and printing it. */
#include "syntax/syntax.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct expr *expr_new(struct compiler *c, enum expr_kind kind, struct span span)
{
    struct expr *e = NEW(c, struct expr);

    e->kind = kind;
    e->span = span;
    e->depth = 1;
    return e;
}

struct expr *expr_call(struct compiler *c, const char *name, struct span span,
                       int nargs, ...)
{
    struct expr *e = expr_new(c, EXPR_CALL, span);
    va_list args;

    e->name = intern(c, name);
    e->args = NEW_ARRAY(c, struct expr *, nargs);
    e->nargs = nargs;
    va_start(args, nargs);
    for (int i = 0; i < nargs; i++) {
        e->args[i] = va_arg(args, struct expr *);
        if (e->depth <= e->args[i]->depth)
            e->depth = e->args[i]->depth + 1;
    }
    va_end(args);
    return e;
}

/* ---- Expressions as text ------------------------------------------------ */

/* How tightly operators bind. Keep in the order of grammar/gbm.y. */
enum precedence {
    BIND_LIST, /* where a range needs no brackets */
    BIND_ITEM, /* the ~ of a clause */
    BIND_OR,
    BIND_AND,
    BIND_NOT,
    BIND_COMPARE,
    BIND_ADD,
    BIND_MULTIPLY,
    BIND_SPECIAL,
    BIND_RANGE,
    BIND_NEGATIVE,
    BIND_POWER,
    BIND_ATOM
};

static const struct operation {
    const char *name;
    int arity;
    enum precedence binds, left, right; /* what its operands need */
    const char *text;
} operations[] = {
    {"~", 2, BIND_ITEM, BIND_OR, BIND_OR, " ~ "},
    {"||", 2, BIND_OR, BIND_OR, BIND_AND, " || "},
    {"&&", 2, BIND_AND, BIND_AND, BIND_NOT, " && "},
    {"!", 1, BIND_NOT, BIND_ATOM, BIND_NOT, "!"},
    {"<", 2, BIND_COMPARE, BIND_ADD, BIND_ADD, " < "},
    {"<=", 2, BIND_COMPARE, BIND_ADD, BIND_ADD, " <= "},
    {">", 2, BIND_COMPARE, BIND_ADD, BIND_ADD, " > "},
    {">=", 2, BIND_COMPARE, BIND_ADD, BIND_ADD, " >= "},
    {"==", 2, BIND_COMPARE, BIND_ADD, BIND_ADD, " == "},
    {"!=", 2, BIND_COMPARE, BIND_ADD, BIND_ADD, " != "},
    {"+", 2, BIND_ADD, BIND_ADD, BIND_MULTIPLY, " + "},
    {"-", 2, BIND_ADD, BIND_ADD, BIND_MULTIPLY, " - "},
    {"*", 2, BIND_MULTIPLY, BIND_MULTIPLY, BIND_SPECIAL, " * "},
    {"/", 2, BIND_MULTIPLY, BIND_MULTIPLY, BIND_SPECIAL, " / "},
    {"neg", 1, BIND_NEGATIVE, BIND_ATOM, BIND_NEGATIVE, "-"},
    {"^", 2, BIND_POWER, BIND_ATOM, BIND_NEGATIVE, "^"},
};
static const struct operation special = {"%op%",       2,          BIND_SPECIAL,
                                         BIND_SPECIAL, BIND_RANGE, NULL};

/* The operation that a call writes, or NULL for f(...). */
static const struct operation *operation_of(const struct expr *e)
{
    if (e->kind != EXPR_CALL)
        return NULL;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (operations[i].arity == e->nargs &&
            strcmp(operations[i].name, e->name) == 0)
            return &operations[i];
    return e->name[0] == '%' && e->nargs == 2 ? &special : NULL;
}

static void print_number(struct text *out, double x)
{
    char s[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (strtod(s, NULL) == x)
            break;
    }
    text_append(out, s);
}

static void print(struct text *out, const struct expr *e,
                  enum precedence needed);

static void print_list(struct text *out, struct expr *const *all, int n)
{
    for (int i = 0; i < n; i++) {
        text_append(out, i ? ", " : "");
        if (all[i]->label)
            text_printf(out, "%s = ", all[i]->label);
        print(out, all[i], BIND_LIST);
    }
}

/* f(a, b) */
static void print_call(struct text *out, const struct expr *e)
{
    text_printf(out, "%s(", e->name);
    print_list(out, e->args, e->nargs);
    text_append(out, ")");
}

static void print_operation(struct text *out, const struct expr *e,
                            const struct operation *op, enum precedence needed)
{
    bool brackets = op->binds < needed;

    text_append(out, brackets ? "(" : "");
    if (op->arity == 2)
        print(out, e->args[0], op->left);
    if (op->text)
        text_append(out, op->text);
    else
        text_printf(out, " %s ", e->name);
    print(out, e->args[op->arity - 1], op->right);
    text_append(out, brackets ? ")" : "");
}

/* c(1.5, 0.2, ...)[i]: the first few tell enough. */
static void print_numbers(struct text *out, const struct expr *e)
{
    for (int i = 1; i < e->nargs && i <= 3; i++) {
        text_append(out, i == 1 ? "c(" : ", ");
        print(out, e->args[i], BIND_LIST);
    }
    text_append(out, e->nargs > 4 ? ", ...)[" : ")[");
    print(out, e->args[0], BIND_LIST);
    text_append(out, "]");
}

/* Prints e where an operand must bind at least as tightly as `needed`. */
static void print(struct text *out, const struct expr *e,
                  enum precedence needed)
{
    const struct operation *op = operation_of(e);
    bool brackets;

    switch (e->kind) {
    case EXPR_NUM:
        brackets = e->number < 0 && needed > BIND_NEGATIVE;
        text_append(out, brackets ? "(" : "");
        print_number(out, e->number);
        text_append(out, brackets ? ")" : "");
        return;
    case EXPR_NAME:
        text_append(out, e->name);
        if (e->nargs || e->bracket) {
            text_append(out, "[");
            print_list(out, e->args, e->nargs);
            text_append(out, "]");
        }
        return;
    case EXPR_CALL:
        if (op)
            print_operation(out, e, op, needed);
        else
            print_call(out, e);
        return;
    case EXPR_RANGE:
        brackets = needed > BIND_LIST;
        text_append(out, brackets ? "(" : "");
        print(out, e->args[0], BIND_NEGATIVE);
        text_append(out, ":");
        print(out, e->args[1], BIND_NEGATIVE);
        text_append(out, brackets ? ")" : "");
        return;
    case EXPR_ALL:
        return;
    case EXPR_SUM:
        text_printf(out, "sum(%s in ", e->name);
        print(out, e->args[0], BIND_NEGATIVE);
        text_append(out, ":");
        print(out, e->args[1], BIND_NEGATIVE);
        text_append(out, ", ");
        print(out, e->args[2], BIND_OR);
        text_append(out, ")");
        return;
    case EXPR_INDEX:
        text_append(out, e->name);
        return;
    case EXPR_LIST:
        print_numbers(out, e);
        return;
    }
    UNREACHABLE();
}

void expr_print(struct text *out, const struct expr *e)
{
    print(out, e, BIND_LIST);
}

struct expr *expr_map(struct compiler *c, struct expr *e, expr_place *place,
                      void *context)
{
    struct expr *other = place(c, e, context);
    if (other)
        return other;
    struct expr *copy = expr_new(c, e->kind, e->span);
    *copy = *e;
    copy->args = NEW_ARRAY(c, struct expr *, e->nargs);
    for (int i = 0; i < e->nargs; i++) {
        copy->args[i] = expr_map(c, e->args[i], place, context);
        if (copy->depth <= copy->args[i]->depth)
            copy->depth = copy->args[i]->depth + 1;
    }
    return copy;
}

bool expr_same(const struct expr *a, const struct expr *b)
{
    if (a->kind != b->kind || a->nargs != b->nargs || a->name != b->name ||
        a->bracket != b->bracket ||
        (a->kind == EXPR_NUM && a->number < b->number) ||
        (a->kind == EXPR_NUM && a->number > b->number))
        return false;
    for (int i = 0; i < a->nargs; i++)
        if (!expr_same(a->args[i], b->args[i]))
            return false;
    return true;
}

bool syntax_any_statement(const struct stmt *s, statement_test *test,
                          const void *context)
{
    for (; s; s = s->next)
        if (test(s, context) || (s->kind == STMT_FOR &&
                                 syntax_any_statement(s->body, test, context)))
            return true;
    return false;
}

bool syntax_defines(const struct stmt *s, const void *name)
{
    return s->kind != STMT_FOR && s->lhs->name == name;
}

/* ---- The whole tree ----------------------------------------------------- */

/* "x[i] ~ dnorm(0, 1) T(0, )" */
static void print_relation(struct text *out, const struct stmt *s)
{
    static const char *const truncations[] = {
        [TRUNC_T] = " T(", [TRUNC_I] = " I(", [TRUNC_C] = " C("};

    if (s->link)
        text_printf(out, "%s(", s->link);
    expr_print(out, s->lhs);
    text_append(out, s->link ? ")" : "");
    text_append(out, s->kind == STMT_STOCHASTIC ? " ~ " : " <- ");
    expr_print(out, s->rhs);
    if (s->truncation != TRUNC_NONE) {
        text_append(out, truncations[s->truncation]);
        if (s->lower)
            expr_print(out, s->lower);
        text_append(out, ", ");
        if (s->upper)
            expr_print(out, s->upper);
        text_append(out, ")");
    }
}

const char *relation_text(struct compiler *c, const struct stmt *s)
{
    struct text t = {0};
    print_relation(&t, s);
    return text_take(c, &t);
}

static void print_statements(struct text *out, const struct stmt *s, int depth)
{
    for (; s; s = s->next) {
        text_printf(out, "%*s", 2 * depth, "");
        if (s->kind != STMT_FOR) {
            print_relation(out, s);
            text_append(out, "\n");
            continue;
        }
        text_printf(out, "for (%s in ", s->name);
        expr_print(out, s->range);
        text_append(out, ") {\n");
        print_statements(out, s->body, depth + 1);
        text_printf(out, "%*s}\n", 2 * depth, "");
    }
}

static void print_declaration(struct text *out, const struct declaration *d)
{
    static const char *const kinds[] = {[DECL_GIVEN] = "given",
                                        [DECL_OBSERVED] = "observed",
                                        [DECL_VAR] = "var"};

    text_printf(out, "%s %s", kinds[d->kind], d->name);
    if (d->ndims) {
        text_append(out, "[");
        print_list(out, d->dims, d->ndims);
        text_append(out, "]");
    }
    text_append(out, "\n");
}

static void print_choice(struct text *out, const struct sampler_choice *s)
{
    text_append(out, "  ");
    print_list(out, s->targets, s->ntargets);
    text_printf(out, " : %s", s->method);
    for (const struct sampler_option *o = s->options; o; o = o->next) {
        text_printf(out, "%s%s = ", o == s->options ? "(" : ", ", o->name);
        expr_print(out, o->value);
    }
    text_append(out, s->options ? ");\n" : ";\n");
}

/* alpha[K] */
static void print_parameter(struct text *out, const struct parameter *p)
{
    text_append(out, p->name ? p->name : "");
    for (int i = 0; i < p->ndims; i++)
        text_printf(out, "%s%s", i ? ", " : "[", p->dims[i]);
    text_append(out, p->ndims ? "]" : "");
}

/* What stands between an item's label and its value. */
static const char *separator(const struct clause *cl)
{
    return strcmp(cl->keyword, "add") == 0     ? " "
           : strcmp(cl->keyword, "solve") == 0 ? " = "
                                               : ": ";
}

static void print_clause(struct text *out, const struct clause *cl)
{
    text_printf(out, "  %s", cl->keyword);
    for (const struct clause_item *i = cl->items; i; i = i->next) {
        text_append(out, i == cl->items ? " " : ", ");
        if (i->label) {
            print(out, i->label, BIND_ITEM);
            text_append(out, separator(cl));
        }
        print(out, i->value, BIND_ITEM);
    }
    text_append(out, "\n");
}

/* The documentation, as a comment again. */
static void print_doc(struct text *out, const char *doc)
{
    if (!*doc)
        return;
    for (;; doc++) {
        size_t n = strcspn(doc, "\n");
        text_printf(out, "#%s%.*s\n", n ? " " : "", (int)n, doc);
        doc += n;
        if (!*doc)
            return;
    }
}

void ast_print_entry_head(struct text *out, const struct entry *e)
{
    text_append(out, e->name);
    if (e->kind != ENTRY_AUGMENTATION || e->nparameters) {
        text_append(out, "(");
        for (int i = 0; i < e->nparameters; i++) {
            text_append(out, i ? ", " : "");
            print_parameter(out, &e->parameters[i]);
        }
        text_append(out, ")");
    }
    if (e->result) {
        text_append(out, e->result->name ? " over " : " returns ");
        print_parameter(out, e->result);
    }
}

static void print_entry(struct text *out, const struct entry *e)
{
    static const char *const kinds[] = {[ENTRY_DISTRIBUTION] = "distribution",
                                        [ENTRY_FUNCTION] = "function",
                                        [ENTRY_AUGMENTATION] = "augmentation"};

    print_doc(out, e->doc);
    text_printf(out, "%s ", kinds[e->kind]);
    ast_print_entry_head(out, e);
    text_append(out, " {\n");
    for (const struct clause *cl = e->clauses; cl; cl = cl->next)
        print_clause(out, cl);
    text_append(out, "}\n");
}

void ast_print(struct text *out, const struct program *p)
{
    for (const struct import *i = p->imports; i; i = i->next)
        text_printf(out, "import \"%s\"\n", i->path);
    for (const struct declaration *d = p->declarations; d; d = d->next)
        print_declaration(out, d);
    for (const struct entry *e = p->entries; e; e = e->next)
        print_entry(out, e);
    if (p->data) {
        text_append(out, "data {\n");
        print_statements(out, p->data, 1);
        text_append(out, "}\n");
    }
    if (p->has_model) {
        text_append(out, "model {\n");
        print_statements(out, p->model, 1);
        text_append(out, "}\n");
    }
    if (p->samplers) {
        text_append(out, "samplers {\n");
        for (const struct sampler_choice *s = p->samplers; s; s = s->next)
            print_choice(out, s);
        text_append(out, "}\n");
    }
}
