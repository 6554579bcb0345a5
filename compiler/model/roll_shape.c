/* roll_shape.c: the shape of a statement or a term: all but its numbers, which
 * are listed with their places. */
#include "model/roll.h"
#include <stdlib.h>
#include <string.h>

bool model_calls(const struct expr *e, const char *name, int nargs)
{
    return e->kind == EXPR_CALL && e->nargs == nargs && !strcmp(e->name, name);
}

enum place {
    PLACE_FIXED,    /* a number here is part of the shape */
    PLACE_ARGUMENT, /* its sign is, which may tell of supports */
    PLACE_VALUE,
    PLACE_SUBSCRIPT
};
int model_compare_names(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

static bool is_among(const struct defined *all, const char *name)
{
    return all->n && bsearch(&name, all->at, (size_t)all->n, sizeof *all->at,
                             model_compare_names);
}

struct reader {
    struct compiler *c;
    struct text key;
    struct shape *shape;
    int relation;
    const struct defined *defined; /* or NULL: all are, it may be */
    bool found;           /* within subscripts of what a statement defines */
    name_stand_in *named; /* what stands for a name, or NULL: it does */
    void *context;
};

static void add_hole(struct reader *r, struct hole hole)
{
    struct shape *s = r->shape;
    if (s->n == s->capacity) {
        struct hole *old = s->holes;
        s->capacity = s->capacity ? 2 * s->capacity : 8;
        s->holes = NEW_ARRAY(r->c, struct hole, s->capacity);
        for (int i = 0; i < s->n; i++)
            s->holes[i] = old[i];
    }
    s->holes[s->n++] = hole;
}

/* If e is a number in such a place, reads it. */
static bool read_number(struct reader *r, const struct expr *e,
                        enum place place)
{
    bool minus = place == PLACE_VALUE && model_calls(e, "neg", 1);
    const struct expr *number = minus ? e->args[0] : e;
    if (number->kind != EXPR_NUM)
        return false;
    bool zero = !(number->number < 0 || number->number > 0);
    if (place == PLACE_FIXED || (place == PLACE_ARGUMENT && zero)) {
        text_printf(&r->key, "%.17g", number->number);
        return true;
    }
    text_append(&r->key, place == PLACE_SUBSCRIPT ? "@" : "#");
    add_hole(r,
             (struct hole){e, minus ? -number->number : number->number,
                           place == PLACE_SUBSCRIPT,
                           place == PLACE_SUBSCRIPT && !r->found, r->relation});
    return true;
}

static bool is_operator(const char *name)
{
    static const char *const names[] = {"+", "-", "*", "/", "neg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

bool model_is_function_of_scalars(struct compiler *c, const char *name)
{
    const struct entry *f = library_find(c, ENTRY_FUNCTION, name);
    if (is_operator(name))
        return true;
    if (!f || f->result || entry_clause(f, "builtin"))
        return false;
    for (int i = 0; i < f->nparameters; i++)
        if (f->parameters[i].ndims)
            return false;
    return true;
}

static void read_expr(struct reader *r, const struct expr *e, enum place place);

static void read_call(struct reader *r, const struct expr *e, enum place place)
{
    bool power = !strcmp(e->name, "^") || !strcmp(e->name, "pow");
    bool inherits = is_operator(e->name);
    bool any = !power && model_is_function_of_scalars(r->c, e->name);
    enum place operand = place == PLACE_ARGUMENT ? PLACE_VALUE : place;
    enum place inside = inherits ? operand : any ? PLACE_VALUE : PLACE_FIXED;
    for (int i = 0; i < e->nargs; i++) {
        read_expr(r, e->args[i], inside);
        text_append(&r->key, ",");
    }
}

/* a:b is of one length in all that is alike. */
static void read_range(struct reader *r, const struct expr *e, enum place place)
{
    bool numbers = e->args[0]->kind == EXPR_NUM && e->args[1]->kind == EXPR_NUM;
    if (!numbers)
        place = PLACE_FIXED;
    else
        text_printf(&r->key, "%.17g", e->args[1]->number - e->args[0]->number);
    read_expr(r, e->args[0], place);
    text_append(&r->key, ":");
    read_expr(r, e->args[1], place);
}

static void read_subscripts(struct reader *r, const struct expr *e)
{
    const bool outside = r->found;
    r->found = outside || !r->defined || is_among(r->defined, e->name);
    for (int i = 0; i < e->nargs; i++) {
        read_expr(r, e->args[i], PLACE_SUBSCRIPT);
        text_append(&r->key, ",");
    }
    r->found = outside;
}

static void read_expr(struct reader *r, const struct expr *e, enum place place)
{
    static const char *const begins[] = {"num", "name", "call",  "range",
                                         "all", "sum",  "index", "list"};
    if (!e) {
        text_append(&r->key, "none ");
        return;
    }
    if (read_number(r, e, place))
        return;
    const char *name = e->name;
    if (r->named && e->kind == EXPR_NAME && !e->bracket && e->nargs == 0)
        name = r->named(r->context, name);
    text_printf(&r->key, "%s %s(", begins[e->kind], name ? name : "");
    switch (e->kind) {
    case EXPR_CALL:
        read_call(r, e, place);
        break;
    case EXPR_RANGE:
        read_range(r, e, place);
        break;
    case EXPR_SUM:
        read_expr(r, e->args[0], PLACE_FIXED);
        read_expr(r, e->args[1], PLACE_FIXED);
        read_expr(r, e->args[2], PLACE_VALUE);
        break;
    case EXPR_NAME:
        text_append(&r->key, e->bracket ? "[" : "");
        read_subscripts(r, e);
        break;
    case EXPR_LIST: /* not to be taken apart again */
        text_printf(&r->key, "%p", (const void *)e);
        break;
    case EXPR_NUM:
    case EXPR_INDEX:
    case EXPR_ALL:
        break;
    }
    text_append(&r->key, ")");
}

static void read_relation(struct reader *r, const struct stmt *s)
{
    text_printf(&r->key, "%d %d %s", (int)s->kind, (int)s->truncation,
                s->link ? s->link : "");
    r->relation = r->shape->nrelations++;
    read_expr(r, s->lhs, PLACE_FIXED);
    r->relation = -1;
    if (s->kind == STMT_STOCHASTIC && s->rhs->kind == EXPR_CALL) {
        text_printf(&r->key, "~%s(", s->rhs->name);
        for (int i = 0; i < s->rhs->nargs; i++)
            read_expr(r, s->rhs->args[i], PLACE_ARGUMENT);
    } else {
        read_expr(r, s->rhs, PLACE_ARGUMENT);
    }
    read_expr(r, s->lower, PLACE_ARGUMENT);
    read_expr(r, s->upper, PLACE_ARGUMENT);
}

static void read_statement(struct reader *r, const struct stmt *s)
{
    if (s->kind != STMT_FOR) {
        read_relation(r, s);
        return;
    }
    text_printf(&r->key, "for %s", s->name);
    read_expr(r, s->range, PLACE_FIXED);
    for (const struct stmt *b = s->body; b; b = b->next)
        read_statement(r, b);
    text_append(&r->key, "end");
}

static struct shape finish_shape(struct reader *r)
{
    r->shape->key = intern(r->c, r->key.data);
    text_free(&r->key);
    return *r->shape;
}

struct shape model_shape_of_statement(struct compiler *c, const struct stmt *s)
{
    struct shape shape = {0};
    struct reader r = {.c = c, .shape = &shape, .relation = -1};
    read_statement(&r, s);
    return finish_shape(&r);
}

const char *model_shape_by_names(struct compiler *c, const struct stmt *s,
                                 name_stand_in *named, void *context)
{
    struct shape shape = {0};
    struct reader r = {.c = c,
                       .shape = &shape,
                       .relation = -1,
                       .named = named,
                       .context = context};
    read_statement(&r, s);
    return finish_shape(&r).key;
}

struct shape model_shape_of_term(struct compiler *c,
                                 const struct defined *defined,
                                 const struct expr *e, bool negative)
{
    struct shape shape = {0};
    struct reader r = {
        .c = c, .shape = &shape, .relation = -1, .defined = defined};
    text_append(&r.key, negative ? "-" : "+");
    read_expr(&r, e, PLACE_VALUE);
    return finish_shape(&r);
}
