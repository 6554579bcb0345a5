/* scale.c: a normal innovation times a positive number, as a normal one.
 *
 *     s * r, r ~ dnorm(m, tau)          dnorm(s * m, tau / s^2)
 *
 * Positive is what the text says to be so: exp(..), a variable whose
 * distribution or truncation begins at 0 or above, and products, quotients,
 * powers and roots of these. Data are not, which may be 0. */
#include "model/resolve.h"

#include <string.h>

enum { MAX_UNFOLDED = 8 };

struct binding {
    const struct entry *entry;
    const struct expr *call;
};

static struct expr *bound(struct compiler *c, struct expr *e, void *context)
{
    const struct binding *b = context;
    (void)c;
    for (int i = 0; i < b->entry->nparameters; i++)
        if (e->kind == EXPR_NAME && !e->nargs &&
            e->name == b->entry->parameters[i].name)
            return b->call->args[i];
    return NULL;
}

/* The call of a distribution as one of that as which the library states it;
 * *d: that. NULL where there is none such. */
static const struct expr *unfolded(struct compiler *c, const struct expr *call,
                                   const struct entry **d)
{
    *d = call->kind == EXPR_CALL
             ? library_find(c, ENTRY_DISTRIBUTION, call->name)
             : NULL;
    for (int i = 0; *d && i < MAX_UNFOLDED; i++) {
        const struct expr *as = entry_value(*d, "as");
        if ((*d)->nparameters != call->nargs)
            return NULL;
        if (!as || as->kind != EXPR_CALL)
            return call;
        struct binding b = {*d, call};
        call = expr_map(c, (struct expr *)as, bound, &b);
        *d = library_meant(c, *d, ENTRY_DISTRIBUTION, as->name);
    }
    return NULL;
}

struct expr *model_with_argument(struct compiler *c, const struct expr *call,
                                 int place, struct expr *value)
{
    struct expr *copy = expr_new(c, call->kind, call->span);
    *copy = *call;
    copy->args = NEW_ARRAY(c, struct expr *, call->nargs);
    for (int i = 0; i < call->nargs; i++)
        copy->args[i] = i == place ? value : call->args[i];
    if (copy->depth <= value->depth)
        copy->depth = value->depth + 1;
    return copy;
}

struct expr *model_scaled_normal(struct compiler *c, const struct expr *call,
                                 const struct expr *scale)
{
    const struct entry *d;
    const struct expr *normal = unfolded(c, call, &d);
    int precision = normal ? entry_normal_precision(d) : -1;
    if (precision < 0 || library_find(c, ENTRY_DISTRIBUTION, d->name) != d)
        return NULL;
    struct expr *two = expr_new(c, EXPR_NUM, scale->span);
    two->number = 2;
    struct expr *square =
        expr_call(c, "^", scale->span, 2, (struct expr *)scale, two);
    return model_with_argument(
        c, normal, precision,
        expr_call(c, "/", scale->span, 2, normal->args[precision], square));
}

/* ---- what is positive -----------------------------------------------------
 */

struct question {
    struct compiler *c;
    const struct program *program;
    const char *name;
    int depth; /* of definitions */
};

static bool is_positive(const struct question *q, const struct expr *e);

static bool is_at_least_0(const struct expr *e)
{
    return e && e->kind == EXPR_NUM && e->number >= 0;
}

static bool has_positive_draws(const struct question *q, const struct stmt *s)
{
    const struct entry *d;
    const struct expr *call = unfolded(q->c, s->rhs, &d);
    double low, high;
    if (!call || d->result)
        return false;
    const struct expr *support = entry_value(d, "support");
    if (!support || strcmp(support->name, "real") != 0)
        return false;
    if (s->truncation != TRUNC_NONE && is_at_least_0(s->lower))
        return true;
    if (entry_is_uniform(d))
        return is_at_least_0(call->args[0]);
    return entry_interval(d, &low, &high) && low >= 0;
}

/* A test: an element of the name may be 0 or less. */
static bool may_be_negative(const struct stmt *s, const void *context)
{
    const struct question *q = context;
    if (!syntax_defines(s, q->name))
        return false;
    if (s->kind == STMT_STOCHASTIC)
        return !has_positive_draws(q, s);
    return !(s->link ? !strcmp(s->link, "log") : is_positive(q, s->rhs));
}

static bool is_call_of(const struct expr *e, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(e->name, *names))
            return true;
    return false;
}

static bool is_positive(const struct question *q, const struct expr *e)
{
    static const char *const of_all[] = {"*", "/", "sqrt", "+", NULL};
    static const char *const of_first[] = {"^", "pow", NULL};
    if (e->kind == EXPR_NUM)
        return e->number > 0;
    if (e->kind == EXPR_NAME) {
        struct question of_name = *q;
        of_name.name = e->name;
        const struct stmt *list = q->program->model;
        return of_name.depth-- > 0 &&
               syntax_any_statement(list, syntax_defines, e->name) &&
               !syntax_any_statement(list, may_be_negative, &of_name);
    }
    if (e->kind != EXPR_CALL || e->nargs == 0)
        return false;
    if (!strcmp(e->name, "exp"))
        return true;
    if (!is_call_of(e, of_all) && !is_call_of(e, of_first))
        return false;
    for (int i = 0; i < (is_call_of(e, of_first) ? 1 : e->nargs); i++)
        if (!is_positive(q, e->args[i]))
            return false;
    return true;
}

bool model_is_positive(struct compiler *c, const struct program *p,
                       const struct expr *e)
{
    struct question q = {c, p, NULL, MAX_UNFOLDED};
    return is_positive(&q, e);
}
