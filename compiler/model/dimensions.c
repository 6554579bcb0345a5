/* dimensions.c: how many dimensions each variable has, from how its name is
 * used: by its subscripts, by functions that take whole arrays, by what is
 * assigned to it as a whole; or from the data named at compilation. */
#include "io/data.h"
#include "model/resolve.h"
#include <ctype.h>
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

void model_set_ndim(struct resolver *r, struct var *v, int ndim,
                    struct span span)
{
    if (v->ndim == -1)
        v->ndim = ndim;
    else if (v->ndim != ndim)
        error_at(r->c, span, "%s has %d subscript%s here but %d elsewhere",
                 v->name, ndim, ndim == 1 ? "" : "s", v->ndim);
}

static struct var *unbracketed(struct resolver *r, const struct expr *e,
                               const struct loop_name *loops)
{
    if (e->kind != EXPR_NAME || e->nargs || is_loop_name(loops, e->name))
        return NULL;
    return model_get_var(r, e->name, e->span);
}

/* ---- brackets tell ------------------------------------------------------- */

static void brackets_in_expr(struct resolver *r, const struct expr *e,
                             const struct loop_name *loops)
{
    if (!e)
        return;
    if (e->kind == EXPR_NAME &&
        !(e->nargs == 0 && is_loop_name(loops, e->name))) {
        struct var *v = model_get_var(r, e->name, e->span);
        if (e->nargs > MAX_DIMS)
            error_at(r->c, e->span, "at most %d subscripts are supported",
                     MAX_DIMS);
        else if (e->nargs)
            model_set_ndim(r, v, e->nargs, e->span);
    }
    for (int i = 0; i < e->nargs; i++)
        brackets_in_expr(r, e->args[i], loops);
}

static void brackets_in_stmts(struct resolver *r, const struct stmt *s,
                              const struct loop_name *loops)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            struct loop_name inner = {s->name, loops};
            brackets_in_expr(r, s->range, loops);
            brackets_in_stmts(r, s->body, &inner);
            continue;
        }
        brackets_in_expr(r, s->lhs, loops);
        brackets_in_expr(r, s->rhs, loops);
        brackets_in_expr(r, s->lower, loops);
        brackets_in_expr(r, s->upper, loops);
    }
}

/* ---- what an expression has, as far as it is known -------------------------
 */

/* Operators, and functions of single values: element by element. */
static bool is_elementwise(struct resolver *r, const struct expr *e)
{
    const struct entry *f = library_find(r->c, ENTRY_FUNCTION, e->name);
    bool letters =
        isalpha((unsigned char)e->name[0]) && strcmp(e->name, "neg") != 0;
    if (!strcmp(e->name, "%*%") ||
        (letters && (!f || entry_clause(f, "builtin"))))
        return false;
    for (int i = 0; f && i < f->nparameters; i++)
        if (f->parameters[i].ndims)
            return false;
    return true;
}

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, list[i]))
            return true;
    return false;
}

/* Functions of all values of their arguments. */
static bool takes_vectors(const char *name)
{
    static const char *const list[] = {"sum",    "mean", "inprod",
                                       "length", "prod", "sd"};
    return is_one_of(name, list, sizeof list / sizeof *list);
}

static bool gives_vector(const char *name)
{
    static const char *const list[] = {"c", "rep", "sort", "dim"};
    return is_one_of(name, list, sizeof list / sizeof *list);
}

/* Dimensions of an expression's value; -1: not known yet. */
static int ndim_of(struct resolver *r, const struct expr *e,
                   const struct loop_name *loops)
{
    int n = 0;
    if (e->kind == EXPR_RANGE)
        return 1;
    if (e->kind == EXPR_NAME) {
        struct var *v = unbracketed(r, e, loops);
        if (v)
            return v->ndim;
        for (int i = 0; i < e->nargs; i++) {
            const struct expr *at = e->args[i];
            n += at->kind == EXPR_ALL || ndim_of(r, at, loops) > 0;
        }
        return n;
    }
    if (e->kind != EXPR_CALL)
        return 0;
    if (gives_vector(e->name))
        return 1;
    if (!strcmp(e->name, "rank") && e->nargs == 2) /* of one element */
        return 0;
    if (!strcmp(e->name, "t") && e->nargs == 1)
        return ndim_of(r, e->args[0], loops);
    if (!strcmp(e->name, "%*%") && e->nargs == 2) {
        int a = ndim_of(r, e->args[0], loops),
            b = ndim_of(r, e->args[1], loops);
        return a < 0 || b < 0 ? -1 : a + b > 2 ? a + b - 2 : a == 2 || b == 2;
    }
    const struct entry *f = library_find(r->c, ENTRY_FUNCTION, e->name);
    if (f && entry_clause(f, "single") && e->nargs) { /* inverse(x) */
        int k = ndim_of(r, e->args[0], loops);
        if (k <= 0)
            return k;
    }
    if (!is_elementwise(r, e))
        return f && f->result ? f->result->ndims : 0;
    for (int i = 0; i < e->nargs; i++) {
        int k = ndim_of(r, e->args[i], loops);
        n = k > n || (k < 0 && n == 0) ? k : n;
    }
    return n;
}

/* ---- ends of ranges, and what one element is, are single values ------------
 */

static void single_value(struct resolver *r, const struct expr *e,
                         const struct loop_name *loops)
{
    struct var *v = unbracketed(r, e, loops);
    if (v && v->ndim == -1)
        v->ndim = 0;
    for (int i = 0;
         e->kind == EXPR_CALL && is_elementwise(r, e) && i < e->nargs; i++)
        single_value(r, e->args[i], loops);
}

static void ends_in_expr(struct resolver *r, const struct expr *e,
                         const struct loop_name *loops)
{
    for (int i = 0; e && i < e->nargs; i++) {
        if (e->kind == EXPR_RANGE && e->args[i])
            single_value(r, e->args[i], loops);
        ends_in_expr(r, e->args[i], loops);
    }
}

static void ends_in_stmts(struct resolver *r, const struct stmt *s,
                          const struct loop_name *loops)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            struct loop_name inner = {s->name, loops};
            ends_in_expr(r, s->range, loops);
            ends_in_stmts(r, s->body, &inner);
            continue;
        }
        ends_in_expr(r, s->lhs, loops);
        ends_in_expr(r, s->rhs, loops);
        ends_in_expr(r, s->lower, loops);
        ends_in_expr(r, s->upper, loops);
    }
}

/* x[i], all of whose subscripts are known to be single values. */
static bool is_one_element(struct resolver *r, const struct expr *e,
                           const struct loop_name *loops)
{
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i]->kind == EXPR_ALL || ndim_of(r, e->args[i], loops) != 0)
            return false;
    return e->kind == EXPR_NAME && e->nargs > 0;
}

/* r[i] <- m[i] - lo: lo is one number, whatever max(lo, x) says of it. So is
 * what a distribution of single values has for its parameters. */
static void single_in_stmts(struct resolver *r, const struct stmt *s,
                            const struct loop_name *loops)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            struct loop_name inner = {s->name, loops};
            single_in_stmts(r, s->body, &inner);
            continue;
        }
        if (!is_one_element(r, s->lhs, loops))
            continue;
        if (s->kind == STMT_DETERMINISTIC) {
            single_value(r, s->rhs, loops);
            continue;
        }
        const struct entry *d =
            library_find(r->c, ENTRY_DISTRIBUTION, s->rhs->name);
        for (int i = 0; d && !d->result && i < d->nparameters &&
                        d->nparameters == s->rhs->nargs;
             i++)
            if (!d->parameters[i].ndims)
                single_value(r, s->rhs->args[i], loops);
    }
}

/* ---- what is asked of an expression ----------------------------------------
 */

/* The statement outside loops that defines the whole of a name, and so tells
 * its dimensions; or NULL. */
static struct stmt *defined_whole(const struct resolver *r, const char *name)
{
    struct stmt *blocks[2] = {r->m->program->data, r->m->program->model};
    for (int i = 0; i < 2; i++)
        for (struct stmt *s = blocks[i]; s; s = s->next)
            if (s->kind != STMT_FOR && !s->lhs->nargs && s->lhs->name == name)
                return s;
    return NULL;
}

static void ask(struct resolver *r, const struct expr *e,
                const struct loop_name *loops, int ndim);

/* The product of two matrices is one; of a matrix and a vector, a vector. */
static void ask_of_product(struct resolver *r, const struct expr *e,
                           const struct loop_name *loops, int ndim)
{
    for (int i = 0; i < 2; i++)
        if (ndim == 2)
            ask(r, e->args[i], loops, 2);
        else if (ndim == 1 && ndim_of(r, e->args[1 - i], loops) == 2)
            ask(r, e->args[i], loops, 1);
}

/* The value of e is asked to have ndim dimensions. */
static void ask(struct resolver *r, const struct expr *e,
                const struct loop_name *loops, int ndim)
{
    struct var *v = unbracketed(r, e, loops);
    if (v && v->ndim == -1) {
        struct stmt *s = defined_whole(r, e->name);
        if (!s)
            v->ndim = ndim;
        else if (s->kind == STMT_DETERMINISTIC && !s->asked) {
            s->asked = true; /* once: definitions may go in a circle */
            ask(r, s->rhs, NULL, ndim);
        }
    }
    if (e->kind != EXPR_CALL)
        return;
    if (!strcmp(e->name, "t") && e->nargs == 1 && ndim == 2)
        ask(r, e->args[0], loops, 2);
    if (!strcmp(e->name, "%*%") && e->nargs == 2)
        ask_of_product(r, e, loops, ndim);
    bool known = false; /* an argument that has the shape */
    for (int i = 0; i < e->nargs; i++)
        known = known || ndim_of(r, e->args[i], loops) == ndim;
    if (is_elementwise(r, e) && !known)
        for (int i = 0; i < e->nargs; i++)
            ask(r, e->args[i], loops, ndim);
}

static void ask_arguments(struct resolver *r, const struct expr *e,
                          const struct entry *f, const struct loop_name *loops)
{
    if (!strcmp(e->name, "dim"))
        return; /* of anything */
    bool vectors = f->kind == ENTRY_FUNCTION && takes_vectors(e->name);
    /* max(a, b): scalars in the place of a vector */
    bool gathered = e->nargs > f->nparameters;
    for (int i = 0; i < e->nargs; i++) {
        if (vectors)
            ask(r, e->args[i], loops, 1);
        else if (!gathered && i < f->nparameters && f->parameters[i].ndims)
            ask(r, e->args[i], loops, f->parameters[i].ndims);
    }
}

static void asked_in_expr(struct resolver *r, const struct expr *e,
                          const struct loop_name *loops)
{
    if (!e)
        return;
    for (int i = 0; i < e->nargs; i++)
        asked_in_expr(r, e->args[i], loops);
    if (e->kind != EXPR_CALL)
        return;
    if (!strcmp(e->name, "t") && e->nargs == 1)
        ask(r, e->args[0], loops, 2);
    const struct entry *f = library_find(
        r->c, e == r->distribution_call ? ENTRY_DISTRIBUTION : ENTRY_FUNCTION,
        e->name);
    if (f)
        ask_arguments(r, e, f, loops);
}

/* x <- e, x ~ d(e) for a whole x: both sides have one shape. */
static void asked_by_whole(struct resolver *r, const struct stmt *s)
{
    struct var *v = unbracketed(r, s->lhs, NULL);
    const struct entry *d =
        s->kind == STMT_STOCHASTIC
            ? library_find(r->c, ENTRY_DISTRIBUTION, s->rhs->name)
            : NULL;
    if (!v)
        return;
    int n = 0;
    if (s->kind == STMT_DETERMINISTIC) {
        n = ndim_of(r, s->rhs, NULL);
    } else if (d && d->result) {
        n = d->result->ndims;
    } else {
        for (int i = 0;
             d && d->nparameters == s->rhs->nargs && i < s->rhs->nargs; i++) {
            int k =
                d->parameters[i].ndims ? 0 : ndim_of(r, s->rhs->args[i], NULL);
            n = k > n ? k : n;
        }
    }
    if (v->ndim == -1 && n > 0)
        v->ndim = n;
    if (v->ndim > 0 && s->kind == STMT_DETERMINISTIC)
        ask(r, s->rhs, NULL, v->ndim);
}

static void asked_in_stmts(struct resolver *r, const struct stmt *s,
                           const struct loop_name *loops)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            struct loop_name inner = {s->name, loops};
            asked_in_expr(r, s->range, loops);
            if (s->range->kind == EXPR_NAME)
                ask(r, s->range, loops, 1); /* for (i in index) */
            asked_in_stmts(r, s->body, &inner);
            continue;
        }
        asked_in_expr(r, s->lhs, loops);
        r->distribution_call = s->kind == STMT_STOCHASTIC ? s->rhs : NULL;
        asked_in_expr(r, s->rhs, loops);
        r->distribution_call = NULL;
        asked_in_expr(r, s->lower, loops);
        asked_in_expr(r, s->upper, loops);
        asked_by_whole(r, s);
        if (s->kind == STMT_DETERMINISTIC && s->lhs->nargs &&
            ndim_of(r, s->lhs, loops) > 0) /* m[t, 1:k] <- A + B %*% ... */
            ask(r, s->rhs, loops, ndim_of(r, s->lhs, loops));
    }
}

/* ---- data tell ------------------------------------------------------------
 */

static bool only_data_tell(const struct resolver *r, const struct var *v)
{
    return v->ndim == -1 && !defined_whole(r, v->name);
}

/* What is given and never has brackets, as x in mu <- a + b * x, is what the
 * data named at compilation (--data) have under its name. A single number is
 * left to what asks for it: it may stand for a vector, as in sum(x). Files are
 * read only where there is such a name. */
static void data_tell(struct resolver *r)
{
    struct gbm_data data = {.allow_nonfinite = true, .names_only = true};
    bool any = false;
    for (const struct var *v = r->m->vars; v; v = v->next)
        any = any || only_data_tell(r, v);
    if (any && model_read_named_data(r->c, r->m, &data))
        for (struct var *v = r->m->vars; v; v = v->next) {
            const struct gbm_array *a =
                only_data_tell(r, v) ? gbm_data_find(&data, v->name) : NULL;
            if (a && a->ndim > 0 && a->ndim <= MAX_DIMS && !a->scalar_like)
                v->ndim = a->ndim;
        }
    gbm_data_free(&data);
}

/* ---- what is left -----------------------------------------------------------
 */

/* dim(X) of a name that nothing else tells of: a matrix; A %*% x: a matrix and
 * a vector. sum(a, x) or max(a, x): a vector, which a single number may stand
 * for. */
static void default_in_expr(struct resolver *r, const struct expr *e,
                            const struct loop_name *loops)
{
    if (!e)
        return;
    for (int i = 0; i < e->nargs; i++)
        default_in_expr(r, e->args[i], loops);
    if (e->kind != EXPR_CALL)
        return;
    if (!strcmp(e->name, "dim") && e->nargs == 1)
        ask(r, e->args[0], loops, 2);
    if (!strcmp(e->name, "%*%") && e->nargs == 2) {
        ask(r, e->args[0], loops, 2);
        ask(r, e->args[1], loops, 1);
    }
    static const char *const several[] = {"sum", "max", "min", "c"};
    if (!is_one_of(e->name, several, sizeof several / sizeof *several))
        return;
    for (int i = 0; i < e->nargs; i++)
        if (unbracketed(r, e->args[i], loops))
            ask(r, e->args[i], loops, 1);
}

static void defaults_in_stmts(struct resolver *r, const struct stmt *s,
                              const struct loop_name *loops)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            struct loop_name inner = {s->name, loops};
            defaults_in_stmts(r, s->body, &inner);
            continue;
        }
        default_in_expr(r, s->rhs, loops);
    }
}

static int count_known(const struct model *m)
{
    int n = 0;
    for (const struct var *v = m->vars; v; v = v->next)
        n += v->ndim != -1;
    return n;
}

void model_settle_dimensions(struct resolver *r, const struct program *p)
{
    brackets_in_stmts(r, p->data, NULL);
    brackets_in_stmts(r, p->model, NULL);
    for (const struct declaration *d = p->declarations; d; d = d->next) {
        struct var *v = model_find_var(r->m, d->name);
        if (v && v->ndim == -1 && d->ndims > 0 && d->ndims <= MAX_DIMS)
            v->ndim = d->ndims;
    }
    ends_in_stmts(r, p->data, NULL);
    ends_in_stmts(r, p->model, NULL);
    single_in_stmts(r, p->data, NULL);
    single_in_stmts(r, p->model, NULL);
    data_tell(r);
    for (int round = 0; round < 2; round++) {
        int before;
        do {
            before = count_known(r->m);
            asked_in_stmts(r, p->data, NULL);
            asked_in_stmts(r, p->model, NULL);
        } while (count_known(r->m) > before);
        if (round == 0) {
            defaults_in_stmts(r, p->data, NULL);
            defaults_in_stmts(r, p->model, NULL);
        }
    }
}
