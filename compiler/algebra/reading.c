/* reading.c: text of the library as symbolic expressions. */
#include "algebra/library.h"
#include <math.h>
#include <string.h>

struct reading {
    bind_name bind;
    void *context;
    struct bound_index {
        const char *name;
        struct loop *loop;
        const struct bound_index *outer;
    } * indices;
};

static symp read_expr(struct compiler *c, const struct expr *e,
                      struct reading *r);

static symp read_name(struct compiler *c, const struct expr *e,
                      struct reading *r)
{
    if (e->nargs == 0) {
        for (const struct bound_index *b = r->indices; b; b = b->outer)
            if (b->name == e->name)
                return sym_loop(c, b->loop);
        if (!strcmp(e->name, "inf"))
            return sym_num(c, (double)INFINITY);
    }
    symp args[2] = {NULL, NULL};
    for (int i = 0; i < e->nargs && i < 2; i++) {
        args[i] = read_expr(c, e->args[i], r);
        if (!args[i])
            return NULL;
    }
    symp bound = r->bind(c, e->name, e->nargs, args, r->context);
    if (!bound)
        error_at(c, e->span, "unknown name %s in a library entry", e->name);
    return bound;
}

static symp read_sum(struct compiler *c, const struct expr *e,
                     struct reading *r)
{
    struct loop *loop = NEW(c, struct loop);
    loop->name = e->name;
    symp lower = read_expr(c, e->args[0], r);
    symp upper = read_expr(c, e->args[1], r);
    if (!lower || !upper)
        return NULL;
    loop->lower = lower;
    loop->upper = upper;
    struct bound_index inner = {e->name, loop, r->indices};
    struct bound_index *outer = r->indices;
    r->indices = &inner;
    symp body = read_expr(c, e->args[2], r);
    r->indices = outer;
    return body ? sym_sum(c, loop, lower, upper, body) : NULL;
}

static symp read_expr(struct compiler *c, const struct expr *e,
                      struct reading *r)
{
    switch (e->kind) {
    case EXPR_NUM:
        return sym_num(c, e->number);
    case EXPR_NAME:
        return read_name(c, e, r);
    case EXPR_SUM:
        return read_sum(c, e, r);
    case EXPR_CALL: {
        symp args[16];
        if (e->nargs > 16)
            break;
        for (int i = 0; i < e->nargs; i++) {
            args[i] = read_expr(c, e->args[i], r);
            if (!args[i])
                return NULL;
        }
        return sym_call(c, e->name, e->nargs, args);
    }
    case EXPR_RANGE:
    case EXPR_ALL:
    case EXPR_INDEX:
    case EXPR_LIST:
        break;
    }
    error_at(c, e->span, "not an expression that a library entry may hold");
    return NULL;
}

symp sym_from_library(struct compiler *c, const struct expr *e, bind_name bind,
                      void *context)
{
    struct reading r = {bind, context, NULL};
    return read_expr(c, e, &r);
}
