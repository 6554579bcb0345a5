/* dimensions.c: how many dimensions each variable has, from how its name is
 * used: by its subscripts, by functions that take whole arrays, by what is
 * assigned to it as a whole. */
#include "resolve.h"
#include <string.h>

struct loop_name {
    const char *name;
    const struct loop_name *outer;
};
static bool is_loop_name(const struct loop_name *l, const char *name)
{
    for (; l; l = l->outer)
        if (l->name == name)
            return true;
    return false;
}

void set_ndim(struct resolver *r, struct var *v, int ndim, struct span span)
{
    if (v->ndim == -1)
        v->ndim = ndim;
    else if (v->ndim != ndim)
        error_at(r->c, span, "%s has %d subscript%s here but %d elsewhere",
                 v->name, ndim, ndim == 1 ? "" : "s", v->ndim);
}

/* Brackets tell; then (second pass) the functions that take whole arrays. */
static void ndim_from_expr(struct resolver *r, const struct expr *e,
                           const struct loop_name *loops, bool bare)
{
    if (!e)
        return;
    if (e->kind == EXPR_NAME &&
        !(e->nargs == 0 && is_loop_name(loops, e->name))) {
        struct var *v = get_var(r, e->name, e->span);
        if (e->nargs > 8)
            error_at(r->c, e->span, "at most 8 subscripts are supported");
        else if (e->nargs && !bare)
            set_ndim(r, v, e->nargs, e->span);
    }
    if (bare && e->kind == EXPR_CALL) {
        static const char *const of_vectors[] = {"sum",    "mean", "inprod",
                                                 "length", "prod", "sd"};
        const struct entry *f = library_find(r->c, ENTRY_FUNCTION, e->name);
        const struct entry *d = library_find(r->c, ENTRY_DISTRIBUTION, e->name);
        /* max(a, b): scalars in the place of a vector */
        if (f && e->nargs > f->nparameters)
            f = NULL;
        if (d && e->nargs > d->nparameters)
            d = NULL;
        if (e == r->distribution_call)
            f = NULL;
        else
            d = NULL;
        for (int i = 0; i < e->nargs; i++) {
            const struct expr *a = e->args[i];
            if (a->kind != EXPR_NAME || a->nargs ||
                is_loop_name(loops, a->name))
                continue;
            struct var *v = get_var(r, a->name, a->span);
            if (v->ndim != -1)
                continue;
            for (size_t k = 0; k < sizeof of_vectors / sizeof *of_vectors; k++)
                if (f && !strcmp(e->name, of_vectors[k]))
                    v->ndim = 1;
            if (!strcmp(e->name, "%*%"))
                v->ndim = i == 0 ? 2 : 1;
            if (f && i < f->nparameters && f->parameters[i].ndims)
                v->ndim = f->parameters[i].ndims;
            if (d && i < d->nparameters && d->parameters[i].ndims)
                v->ndim = d->parameters[i].ndims;
        }
    }
    for (int i = 0; i < e->nargs; i++)
        ndim_from_expr(r, e->args[i], loops, bare);
}

/* Names without subscripts in an expression whose value is a whole array. */
static void ndim_elementwise(struct resolver *r, const struct expr *e,
                             const struct loop_name *loops, int ndim)
{
    if (e->kind == EXPR_NAME && !e->nargs && !is_loop_name(loops, e->name)) {
        struct var *v = get_var(r, e->name, e->span);
        bool defined = false;
        for (const struct stmt *s = r->m->program->model; s && !defined;
             s = s->next)
            defined = s->kind != STMT_FOR && s->lhs->name == e->name;
        if (v->ndim == -1 && !defined)
            v->ndim = ndim;
        return;
    }
    if (e->kind != EXPR_CALL || !strcmp(e->name, "%*%"))
        return;
    /* operators, and functions of single values: element by element */
    const struct entry *f = library_find(r->c, ENTRY_FUNCTION, e->name);
    bool letters = e->name[0] >= 'A' && strcmp(e->name, "neg") != 0;
    if (letters && (!f || entry_clause(f, "builtin")))
        return;
    for (int i = 0; f && i < f->nparameters; i++)
        if (f->parameters[i].ndims)
            return;
    for (int i = 0; i < e->nargs; i++)
        ndim_elementwise(r, e->args[i], loops, ndim);
}

static void ndim_from_stmts(struct resolver *r, const struct stmt *s,
                            const struct loop_name *loops, bool bare)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            struct loop_name inner = {s->name, loops};
            ndim_from_expr(r, s->range, loops, bare);
            if (bare && s->range->kind == EXPR_NAME && !s->range->nargs) {
                struct var *index = get_var(r, s->range->name, s->range->span);
                if (index->ndim == -1) /* for (i in index) */
                    index->ndim = 1;
            }
            ndim_from_stmts(r, s->body, &inner, bare);
            continue;
        }
        ndim_from_expr(r, s->lhs, loops, bare);
        r->distribution_call = s->kind == STMT_STOCHASTIC ? s->rhs : NULL;
        ndim_from_expr(r, s->rhs, loops, bare);
        r->distribution_call = NULL;
        ndim_from_expr(r, s->lower, loops, bare);
        ndim_from_expr(r, s->upper, loops, bare);
        const struct entry *d =
            s->kind == STMT_STOCHASTIC
                ? library_find(r->c, ENTRY_DISTRIBUTION, s->rhs->name)
                : NULL;
        if (bare && d && d->result && s->lhs->nargs == 0) {
            struct var *v = get_var(r, s->lhs->name, s->lhs->span);
            if (v->ndim == -1)
                v->ndim = d->result->ndims;
        }
        /* ly <- log(y): whole arrays of one shape */
        struct var *whole = s->kind == STMT_DETERMINISTIC && !s->lhs->nargs
                                ? find_var(r->m, s->lhs->name)
                                : NULL;
        if (bare && whole && whole->ndim > 0)
            ndim_elementwise(r, s->rhs, loops, whole->ndim);
    }
}

void settle_dimensions(struct resolver *r, const struct program *p)
{
    for (int pass = 0; pass < 2; pass++) {
        ndim_from_stmts(r, p->data, NULL, pass == 1);
        ndim_from_stmts(r, p->model, NULL, pass == 1);
    }
}
