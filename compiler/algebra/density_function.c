/* density_function.c: the functions that every distribution brings, as JAGS
 * names them: of dnorm(mu, tau) the log density logdensity.norm(x, mu,
 * tau), the density dnorm(x, mu, tau), the distribution function
 * pnorm(x, mu, tau) and the quantile qnorm(p, mu, tau). They are made from the
 * clauses `logdensity`, `cdf`, `quantile` and `support` of its file. */
#include "algebra/library.h"
#include <math.h>
#include <string.h>

static struct expr *name_of(struct compiler *c, const char *name,
                            struct span span)
{
    struct expr *e = expr_new(c, EXPR_NAME, span);
    e->name = intern(c, name);
    return e;
}

static struct expr *number(struct compiler *c, double x, struct span span)
{
    struct expr *e = expr_new(c, EXPR_NUM, span);
    e->number = x;
    return e;
}

static bool is_open(const struct expr *bound)
{
    if (bound->kind == EXPR_CALL && bound->nargs == 1)
        bound = bound->args[0];
    return bound->kind == EXPR_NAME && !strcmp(bound->name, "inf");
}

/* The log density, minus infinity off the support. */
static struct expr *supported(struct compiler *c, const struct entry *d,
                              struct expr *logdensity)
{
    const struct expr *support = entry_value(d, "support");
    struct span span = logdensity->span;
    struct expr *x = name_of(c, "x", span);
    struct expr *off = number(c, -(double)INFINITY, span);
    struct expr *e = logdensity;

    if (!support || support->kind != EXPR_CALL || support->nargs != 2)
        return e;
    if (!strcmp(support->name, "integer"))
        e = expr_call(
            c, "ifelse", span, 3,
            expr_call(c, "!=", span, 2, x, expr_call(c, "floor", span, 1, x)),
            off, e);
    if (!is_open(support->args[0]))
        e = expr_call(c, "ifelse", span, 3,
                      expr_call(c, "<", span, 2, x, support->args[0]), off, e);
    if (!is_open(support->args[1]))
        e = expr_call(c, "ifelse", span, 3,
                      expr_call(c, ">", span, 2, x, support->args[1]), off, e);
    return e;
}

/* Is it a call of a function whose value is an array? Only a statement of a
 * model can hold one. */
static bool is_array_call(struct compiler *c, const struct expr *e)
{
    const struct entry *f =
        e->kind == EXPR_CALL ? library_find(c, ENTRY_FUNCTION, e->name) : NULL;
    return f && f->result;
}

/* f(first, the arguments of the distribution that `as` names), or NULL. */
static struct expr *forwarded(struct compiler *c, const char *function,
                              const char *first, const struct expr *as)
{
    struct expr *e = expr_new(c, EXPR_CALL, as->span);

    e->name = function;
    e->nargs = as->nargs + 1;
    e->args = NEW_ARRAY(c, struct expr *, e->nargs);
    e->args[0] = name_of(c, first, as->span);
    for (int i = 0; i < as->nargs; i++) {
        if (is_array_call(c, as->args[i]))
            return NULL;
        e->args[i + 1] = as->args[i];
    }
    return e;
}

enum form { FORM_LOG, FORM_DENSITY, FORM_CDF, FORM_QUANTILE };
static const char *const prefixes[] = {"logdensity.", "d", "p", "q"};

/* What the function is, as an expression in `first` and d's parameters; NULL
 * if d does not say. */
static struct expr *body_of(struct compiler *c, const struct entry *d,
                            enum form form, const char *first)
{
    static const char *const keywords[] = {"logdensity", "logdensity", "cdf",
                                           "quantile"};
    const struct expr *as = entry_value(d, "as");
    const struct clause *clause = entry_clause(d, keywords[form]);
    struct expr *e;

    if (as)
        return forwarded(c,
                         intern_format(c, "%s%s", prefixes[form], as->name + 1),
                         first, as);
    if (!clause || !clause->items)
        return NULL;
    e = clause->items->value;
    if (form == FORM_LOG || form == FORM_DENSITY)
        e = supported(c, d, e);
    return form == FORM_DENSITY ? expr_call(c, "exp", e->span, 1, e) : e;
}

static const struct entry *function_of(struct compiler *c, const char *name,
                                       const struct entry *d, enum form form)
{
    const char *first = intern(c, form == FORM_QUANTILE ? "p"
                                  : d->result           ? d->result->name
                                                        : "x");
    struct expr *body = body_of(c, d, form, first);
    struct entry *e = NEW(c, struct entry);
    struct clause *as = NEW(c, struct clause);

    if (!body)
        return NULL;
    as->keyword = "as";
    as->span = d->span;
    as->items = NEW(c, struct clause_item);
    as->items->value = body;
    *e = (struct entry){.kind = ENTRY_FUNCTION,
                        .name = name,
                        .span = d->span,
                        .nparameters = d->nparameters + 1,
                        .clauses = as,
                        .doc = d->doc};
    e->parameters = NEW_ARRAY(c, struct parameter, e->nparameters);
    if (d->result)
        e->parameters[0] = *d->result;
    e->parameters[0].name = first;
    e->parameters[0].span = d->span;
    for (int i = 0; i < d->nparameters; i++)
        e->parameters[i + 1] = d->parameters[i];
    return e;
}

const struct entry *density_function(struct compiler *c, const char *name)
{
    for (int form = FORM_LOG; form <= FORM_QUANTILE; form++) {
        size_t n = strlen(prefixes[form]);
        if (strncmp(name, prefixes[form], n) != 0)
            continue;
        const struct entry *d = library_find(c, ENTRY_DISTRIBUTION,
                                             intern_format(c, "d%s", name + n));
        const struct entry *e =
            d ? function_of(c, name, d, (enum form)form) : NULL;
        if (e)
            return e;
    }
    return NULL;
}
