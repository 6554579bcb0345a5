/* build.c: what the rules of grammar/gbm.y build. */
#include "syntax/syntax.h"

#include "gbm.tab.h"

#include <string.h>

/* The tree is walked by recursion everywhere, so its depth has a limit. */
enum { MAX_DEPTH = 2000 };

void syntax_too_deep(struct parser *p, struct span span)
{
    if (!p->hopeless)
        error_at(p->c, span, "this is nested too deeply: name a part of it");
    p->hopeless = true;
}

static struct expr *checked(struct parser *p, struct expr *e)
{
    if (e->depth <= MAX_DEPTH)
        return e;
    syntax_too_deep(p, e->span);
    return build_number(p, 0, e->span);
}

struct expr *build_number(struct parser *p, double x, struct span span)
{
    struct expr *e = expr_new(p->c, EXPR_NUM, span);
    e->number = x;
    return e;
}

static void set_args(struct expr *e, struct exprs args)
{
    e->args = args.all;
    e->nargs = args.n;
    for (int i = 0; i < args.n; i++)
        if (e->depth <= args.all[i]->depth)
            e->depth = args.all[i]->depth + 1;
}

struct expr *build_call(struct parser *p, const char *name, struct exprs args,
                        struct span span)
{
    struct expr *e = expr_new(p->c, EXPR_CALL, span);
    e->name = name;
    set_args(e, args);
    return checked(p, e);
}

struct expr *build_variable(struct parser *p, const char *name,
                            struct exprs *indices, struct span span)
{
    struct expr *e = expr_new(p->c, EXPR_NAME, span);
    e->name = name;
    if (indices) {
        e->bracket = true;
        set_args(e, *indices);
    }
    return checked(p, e);
}

struct expr *build_cell(struct parser *p, const char *function,
                        struct exprs arrays, struct exprs indices,
                        struct span span)
{
    const struct expr *array = arrays.n == 1 ? arrays.all[0] : NULL;
    struct exprs cell = {0};
    if (!array || array->kind != EXPR_NAME || array->bracket)
        error_at(p->c, span, "subscripts stand behind a function of one name");
    else
        ast_append_expr(p, &cell,
                        build_variable(p, array->name, &indices, span));
    return build_call(p, function, cell, span);
}

struct expr *build_unary(struct parser *p, const char *op, struct expr *a,
                         struct span span)
{
    return checked(p, expr_call(p->c, op, span, 1, a));
}

struct expr *build_binary(struct parser *p, const char *op, struct expr *a,
                          struct expr *b, struct span span)
{
    if (a->kind == EXPR_RANGE && a->span.begin == span.begin &&
        (strcmp(op, "+") == 0 || strcmp(op, "-") == 0) &&
        p->c->nwarnings < MAX_ERRORS)
        warning_at(p->c, span,
                   "this is (%s) %s %s, as in JAGS; did you mean "
                   "%s:(%s %s %s)?",
                   span_source(p->c, a->span), op, span_source(p->c, b->span),
                   span_source(p->c, a->args[0]->span),
                   span_source(p->c, a->args[1]->span), op,
                   span_source(p->c, b->span));
    return checked(p, expr_call(p->c, strcmp(op, "%%") == 0 ? "modulo" : op,
                                span, 2, a, b));
}

struct expr *build_range(struct parser *p, struct expr *a, struct expr *b,
                         struct span span)
{
    struct expr *e = expr_call(p->c, ":", span, 2, a, b);
    e->kind = EXPR_RANGE;
    e->name = NULL;
    return checked(p, e);
}

struct expr *build_sum(struct parser *p, const char *function,
                       const char *index, struct expr *over, struct expr *body,
                       struct span span)
{
    struct expr *e;

    if (p->place.keyword != ENTRY)
        error_at(p->c, span,
                 "a sum over an index is for library entries; in a model, "
                 "write sum(x[1:K])");
    else if (function != intern(p->c, "sum"))
        error_at(p->c, span, "only sum(%s in 1:K, ...) binds an index, not %s",
                 index, function);
    if (over->kind != EXPR_RANGE) {
        error_at(p->c, over->span,
                 "a sum runs over a range, as in sum(%s in 1:K, ...)", index);
        over = build_range(p, over, over, over->span);
    }
    if (over->kind != EXPR_RANGE) /* too deep */
        return over;
    e = expr_call(p->c, index, span, 3, over->args[0], over->args[1], body);
    e->kind = EXPR_SUM;
    return checked(p, e);
}

void ast_append_expr(struct parser *p, struct exprs *list, struct expr *e)
{
    if (list->n == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 4;
        struct expr **all = NEW_ARRAY(p->c, struct expr *, capacity);
        for (int i = 0; i < list->n; i++)
            all[i] = list->all[i];
        list->all = all;
        list->capacity = capacity;
    }
    list->all[list->n++] = e;
}

struct stmt *build_loop(struct parser *p, struct label index, struct expr *over,
                        struct span span)
{
    struct stmt *s = NEW(p->c, struct stmt);

    *s = (struct stmt){.kind = STMT_FOR,
                       .span = span,
                       .name = index.name,
                       .name_span = index.span,
                       .range = over};
    return s;
}

struct stmt *build_assignment(struct parser *p, const char *link,
                              struct expr *lhs, struct expr *rhs,
                              struct span span)
{
    struct stmt *s = NEW(p->c, struct stmt);

    *s = (struct stmt){.kind = STMT_DETERMINISTIC,
                       .span = span,
                       .link = link,
                       .lhs = lhs,
                       .rhs = rhs};
    return s;
}

/* logit(p[i]) ~ d is logit_p[i] ~ d and logit(p[i]) <- logit_p[i], with
 * NIMBLE's name for what is drawn. */
static struct stmt *build_linked(struct parser *p, const char *link,
                                 struct expr *lhs, struct stmt *drawn)
{
    struct expr *node = NEW(p->c, struct expr);

    *node = *lhs;
    node->name = intern_format(p->c, "%s_%s", link, lhs->name);
    drawn->lhs = node;
    drawn->link = NULL;
    drawn->next = build_assignment(p, link, lhs, node, drawn->span);
    return drawn;
}

/* Is it written as f(...), rather than with an operator? */
static bool is_plain_call(const struct expr *e)
{
    char first;

    if (e->kind != EXPR_CALL)
        return false;
    first = e->span.source->text[e->span.begin];
    return e->name[0] == first &&
           ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'));
}

/* R's Inf, or -Inf, of which bounds say that there is none: T(d, 0, Inf). */
static bool is_infinite(const struct expr *e, bool negative)
{
    if (negative)
        return e && e->kind == EXPR_CALL && !strcmp(e->name, "neg") &&
               is_infinite(e->args[0], false);
    return e && e->kind == EXPR_NAME && !e->bracket && !strcmp(e->name, "Inf");
}

struct stmt *build_stochastic(struct parser *p, const char *link,
                              struct expr *lhs, struct expr *rhs,
                              const char *truncation, struct bounds bounds,
                              struct span span)
{
    struct stmt *s = build_assignment(p, link, lhs, rhs, span);

    s->kind = STMT_STOCHASTIC;
    s->lower = is_infinite(bounds.lower, true) ? NULL : bounds.lower;
    s->upper = is_infinite(bounds.upper, false) ? NULL : bounds.upper;
    if (truncation)
        s->truncation = truncation[0] == 'T'   ? TRUNC_T
                        : truncation[0] == 'I' ? TRUNC_I
                                               : TRUNC_C;
    if (!is_plain_call(rhs) && !p->hopeless)
        error_at(p->c, rhs->span,
                 "the right side of '~' must be a distribution, as in "
                 "'~ dnorm(mu, tau)'%s",
                 rhs->kind == EXPR_CALL || rhs->kind == EXPR_NUM
                     ? "; use '<-' to assign a value"
                     : "");
    return link ? build_linked(p, link, lhs, s) : s;
}

/* Appends a statement, or a chain of them. */
void ast_append_stmt(struct stmts *list, struct stmt *s)
{
    if (!s)
        return;
    if (list->last)
        list->last->next = s;
    else
        list->first = s;
    while (s->next)
        s = s->next;
    list->last = s;
}

void build_declaration(struct parser *p, enum declaration_kind kind,
                       struct label name, struct exprs dims)
{
    struct declaration *d = NEW(p->c, struct declaration);

    *d = (struct declaration){.kind = kind,
                              .span = name.span,
                              .name = name.name,
                              .dims = dims.all,
                              .ndims = dims.n};
    *p->declaration = d;
    p->declaration = &d->next;
}

void build_block(struct parser *p, bool model, struct stmts body,
                 struct span keyword)
{
    struct span *seen = model ? &p->model : &p->data;

    if (seen->source) {
        error_at(p->c, keyword, "a second %s block", model ? "model" : "data");
        note_at(p->c, *seen, "the first is here");
        return;
    }
    *seen = keyword;
    if (model) {
        p->program->model = body.first;
        p->program->has_model = true;
    } else {
        p->program->data = body.first;
    }
}

void build_import(struct parser *p, const char *path, struct span span)
{
    struct import *i = NEW(p->c, struct import);

    *i = (struct import){.path = path, .span = span};
    *p->import = i;
    p->import = &i->next;
}

struct sampler_choice *build_choice(struct parser *p, struct exprs targets,
                                    struct label method,
                                    struct options_list options,
                                    struct span span)
{
    struct sampler_choice *s = NEW(p->c, struct sampler_choice);

    *s = (struct sampler_choice){.span = span,
                                 .method_span = method.span,
                                 .targets = targets.all,
                                 .ntargets = targets.n,
                                 .method = method.name,
                                 .options = options.first};
    return s;
}

struct sampler_option *build_option(struct parser *p, const char *name,
                                    struct expr *value)
{
    struct sampler_option *o = NEW(p->c, struct sampler_option);

    *o = (struct sampler_option){.name = name, .value = value};
    return o;
}

struct clause_item *build_item(struct parser *p, struct expr *label,
                               struct expr *value)
{
    struct clause_item *i = NEW(p->c, struct clause_item);

    *i = (struct clause_item){.label = label, .value = value};
    return i;
}

struct clause *build_clause(struct parser *p, const char *keyword,
                            struct items items, struct span span)
{
    struct clause *cl = NEW(p->c, struct clause);

    *cl =
        (struct clause){.keyword = keyword, .span = span, .items = items.first};
    return cl;
}

struct parameter *build_parameter(struct parser *p, struct label name,
                                  struct exprs dims)
{
    struct parameter *r = NEW(p->c, struct parameter);
    int limit = (int)(sizeof r->dims / sizeof r->dims[0]);

    r->name = name.name;
    r->span = name.span;
    if (dims.n > limit)
        error_at(p->c, dims.all[limit]->span,
                 "a parameter has at most %d extents", limit);
    for (int i = 0; i < dims.n && i < limit; i++) {
        const struct expr *d = dims.all[i];
        if (d->kind == EXPR_NAME && !d->bracket)
            r->dims[r->ndims++] = d->name;
        else
            error_at(p->c, d->span, "an extent is a name, as in mu[K]");
    }
    return r;
}

void ast_append_parameter(struct parser *p, struct parameters *list,
                          const struct parameter *parameter)
{
    if (list->n == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 4;
        struct parameter *all = NEW_ARRAY(p->c, struct parameter, capacity);
        for (int i = 0; i < list->n; i++)
            all[i] = list->all[i];
        list->all = all;
        list->capacity = capacity;
    }
    list->all[list->n++] = *parameter;
}

/* Start of the line before the one that begins at `line`; `line` if none. */
static uint32_t previous_line(const char *text, uint32_t line)
{
    uint32_t at = line;

    if (at == 0)
        return line;
    for (at--; at > 0 && text[at - 1] != '\n'; at--)
        ;
    return at;
}

/* First character of a line that is no blank. */
static uint32_t skip_blanks(const struct source *s, uint32_t at)
{
    while (at < s->length && (s->text[at] == ' ' || s->text[at] == '\t'))
        at++;
    return at;
}

/* The lines of comment right above an entry, '#' and one blank stripped. */
static const char *comment_above(struct parser *p, struct span keyword)
{
    const struct source *s = keyword.source;
    uint32_t first = keyword.begin, end;
    struct text doc = {0};
    const char *result;
    int lines = 0;

    while (first > 0 && s->text[first - 1] != '\n')
        first--;
    for (end = first;; first = previous_line(s->text, first)) {
        uint32_t at = skip_blanks(s, previous_line(s->text, first));
        if (first == 0 || s->text[at] != '#')
            break;
    }
    while (first < end) {
        uint32_t at = skip_blanks(s, first) + 1, stop = at;
        while (stop < end && s->text[stop] != '\n')
            stop++;
        first = stop + 1;
        if (at < stop && s->text[at] == ' ')
            at++;
        while (stop > at &&
               (s->text[stop - 1] == '\r' || s->text[stop - 1] == ' '))
            stop--;
        if (lines++)
            text_append(&doc, "\n");
        for (; at < stop; at++) {
            unsigned char ch = (unsigned char)s->text[at];
            bool plain = ch == '\t' || (ch >= 32 && ch != 127);
            text_append_n(&doc, plain ? s->text + at : "?", 1);
        }
    }
    result = intern(p->c, doc.data ? doc.data : "");
    text_free(&doc);
    return result;
}

/* What a distribution is over, if that is an array: a number is x. */
static struct parameter *build_result(struct parser *p,
                                      struct parameter *result)
{
    if (!result || !result->name || result->ndims > 0)
        return result;
    if (strcmp(result->name, "x") != 0)
        error_at(p->c, result->span,
                 "a number that a distribution is over is called x, not %s",
                 result->name);
    return NULL;
}

static bool is_of_arrays(const char *support)
{
    static const char *const of_arrays[] = {
        "simplex",     "positive_definite",    "vector",
        "correlation", "correlation_cholesky", "correlation_cholesky_lower",
        "counts"};
    for (size_t i = 0; i < sizeof of_arrays / sizeof of_arrays[0]; i++)
        if (!strcmp(support, of_arrays[i]))
            return true;
    return false;
}

/* A number cannot be what only arrays are. */
static void check_support(struct parser *p, const struct entry *e)
{
    if (e->kind != ENTRY_DISTRIBUTION || e->result)
        return;
    for (const struct clause *c = e->clauses; c; c = c->next)
        if (!strcmp(c->keyword, "support") && c->items &&
            c->items->value->name && is_of_arrays(c->items->value->name))
            error_at(p->c, c->span,
                     "no number is a %s: say that %s is over an array, as in "
                     "over x[K]",
                     c->items->value->name, e->name);
}

void build_entry(struct parser *p, enum entry_kind kind, struct label name,
                 struct parameters parameters, struct parameter *result,
                 struct clauses clauses, struct span keyword)
{
    struct entry *e = NEW(p->c, struct entry);

    *e = (struct entry){.kind = kind,
                        .name = name.name,
                        .span = name.span,
                        .parameters = parameters.all,
                        .nparameters = parameters.n,
                        .result = build_result(p, result),
                        .clauses = clauses.first,
                        .doc = comment_above(p, keyword)};
    check_support(p, e);
    *p->entry = e;
    p->entry = &e->next;
}
