/* resolve.c: from the tree to a model: variables with roles, families with
 * their loops, factors with their log densities.
 *
 * Requires a parsed program. Leaves every name bound, every statement scalar
 * (vectorised statements have got loops) or a slice whose distribution or
 * function is one of arrays, distributions replaced by their canonical
 * parametrisation. */
#include "gbmc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LOOPS 12

struct scope {
    const char *name;
    symp value;
    const struct scope *outer;
};
struct resolver {
    struct compiler *c;
    struct model *m;
    const struct scope *scope;
    struct loop *loops[MAX_LOOPS];
    int nloops;
    bool data_block;
    int nhoisted;
    const struct expr *distribution_call; /* of the statement at hand: also a
                                             density function has its name */
};

/* ---- variables -------------------------------------------------------- */

static struct var *find_var(struct model *m, const char *name)
{
    for (struct var *v = m->vars; v; v = v->next)
        if (v->name == name)
            return v;
    return NULL;
}

static struct var *get_var(struct resolver *r, const char *name,
                           struct span span)
{
    struct var *v = find_var(r->m, name);
    if (v)
        return v;
    v = NEW(r->c, struct var);
    v->name = name;
    v->span = span;
    v->ndim = -1;
    v->role = ROLE_GIVEN;
    v->seen_slot = -1;
    *r->m->last_var = v;
    r->m->last_var = &v->next;
    return v;
}

static symp lookup(const struct resolver *r, const char *name)
{
    for (const struct scope *s = r->scope; s; s = s->outer)
        if (s->name == name)
            return s->value;
    return NULL;
}

/* ---- numbers of dimensions, from how names are used --------------------- */

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

static void set_ndim(struct resolver *r, struct var *v, int ndim,
                     struct span span)
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

/* ---- expressions -------------------------------------------------------- */

static struct loop *new_loop(struct compiler *c, const char *name, symp lower,
                             symp upper)
{
    struct loop *l = NEW(c, struct loop);
    l->name = intern(c, name);
    l->lower = lower;
    l->upper = upper;
    return l;
}

static struct value scalar_value(symp body, struct span span)
{
    return (struct value){.body = body, .span = span};
}

static bool value_of(struct resolver *r, const struct expr *e,
                     struct value *out);

static symp scalar_of(struct resolver *r, const struct expr *e)
{
    struct value v;
    if (!value_of(r, e, &v))
        return NULL;
    if (v.ndim) {
        error_at(r->c, e->span, "a single value is needed here, not an array");
        return NULL;
    }
    return v.body;
}

/* Adds a dimension to an array value. */
static symp add_dimension(struct resolver *r, struct value *out, symp extent,
                          struct span span)
{
    if (out->ndim == 2) {
        error_at(r->c, span,
                 "arrays of more than two dimensions cannot be "
                 "used whole here");
        return NULL;
    }
    static const char *const names[] = {"k", "l"};
    struct loop *l = new_loop(r->c, names[out->ndim], sym_num(r->c, 1), extent);
    out->loops[out->ndim] = l;
    out->extents[out->ndim++] = extent;
    return sym_loop(r->c, l);
}

static symp extent_of(struct compiler *c, symp lower, symp upper)
{
    return sym_add(c, 3, (symp[]){upper, sym_neg(c, lower), sym_num(c, 1)});
}

/* One subscript: a value, or a range that becomes a dimension of `out`. */
static symp subscript(struct resolver *r, const struct expr *e, struct var *v,
                      int dim, struct value *out)
{
    struct compiler *c = r->c;
    if (e->kind == EXPR_ALL)
        return add_dimension(r, out, sym_extent(c, v, dim), e->span);
    if (e->kind == EXPR_RANGE) {
        symp lower = scalar_of(r, e->args[0]);
        symp upper = lower ? scalar_of(r, e->args[1]) : NULL;
        if (!upper)
            return NULL;
        symp l = add_dimension(r, out, extent_of(c, lower, upper), e->span);
        return l ? sym_add(c, 3, (symp[]){lower, l, sym_num(c, -1)}) : NULL;
    }
    struct value index;
    if (!value_of(r, e, &index))
        return NULL;
    if (!index.ndim)
        return index.body;
    symp l = add_dimension(r, out, index.extents[0], e->span);
    return l ? sym_replace_loop(c, index.body, index.loops[0], l) : NULL;
}

static bool value_of_name(struct resolver *r, const struct expr *e,
                          struct value *out)
{
    struct compiler *c = r->c;
    *out = (struct value){.span = e->span};
    symp bound = e->nargs ? NULL : lookup(r, e->name);
    if (bound) {
        out->body = bound;
        return true;
    }
    struct var *v = get_var(r, e->name, e->span);
    if (v->ndim == -1)
        v->ndim = e->nargs;
    symp args[8];
    for (int d = 0; d < v->ndim; d++) {
        static const struct expr all = {.kind = EXPR_ALL};
        args[d] = subscript(r, d < e->nargs ? e->args[d] : &all, v, d, out);
        if (!args[d])
            return false;
    }
    out->body = sym_ref(c, v, v->ndim, args);
    return true;
}

/* The element of an array value at given subscripts. */
static symp element(struct compiler *c, const struct value *v, symp i, symp j)
{
    symp e = v->body;
    if (v->ndim > 0)
        e = sym_replace_loop(c, e, v->loops[0], i);
    if (v->ndim > 1)
        e = sym_replace_loop(c, e, v->loops[1], j);
    return e;
}

static symp sum_over(struct compiler *c, const struct value *v)
{
    symp e = v->body;
    for (int d = v->ndim - 1; d >= 0; d--)
        e = sym_sum(c, v->loops[d], sym_num(c, 1), v->extents[d], e);
    return e;
}

static symp count_of(struct compiler *c, const struct value *v)
{
    symp n = sym_num(c, 1);
    for (int d = 0; d < v->ndim; d++)
        n = sym_mul2(c, n, v->extents[d]);
    return n;
}

static bool matrix_product(struct resolver *r, const struct value *a,
                           const struct value *b, struct value *out)
{
    struct compiler *c = r->c;
    *out = (struct value){.span = a->span};
    symp i = NULL, j = NULL;
    if (a->ndim == 2)
        i = add_dimension(r, out, a->extents[0], a->span);
    if (b->ndim == 2)
        j = add_dimension(r, out, b->extents[1], b->span);
    symp inner = a->extents[a->ndim - 1];
    struct loop *l = new_loop(c, "h", sym_num(c, 1), inner);
    symp h = sym_loop(c, l);
    symp left = a->ndim == 2 ? element(c, a, i, h) : element(c, a, h, NULL);
    symp right = b->ndim == 2 ? element(c, b, h, j) : element(c, b, h, NULL);
    out->body = sym_sum(c, l, sym_num(c, 1), inner, sym_mul2(c, left, right));
    return true;
}

static bool concatenate(struct resolver *r, int n, const struct value *args,
                        struct value *out, struct span span)
{
    struct compiler *c = r->c;
    *out = (struct value){.span = span};
    symp total = sym_num(c, 0);
    symp *ends = NEW_ARRAY(c, symp, n);
    for (int i = 0; i < n; i++) {
        total = sym_add2(c, total, count_of(c, &args[i]));
        ends[i] = total;
    }
    symp k = add_dimension(r, out, total, span);
    symp body = NULL;
    for (int i = n - 1; i >= 0; i--) {
        symp place = i ? sym_sub(c, k, ends[i - 1]) : k;
        symp e = element(c, &args[i], place, NULL);
        body = body ? sym_select(c, sym_call(c, "<=", 2, (symp[]){k, ends[i]}),
                                 e, body)
                    : e;
    }
    out->body = body;
    return true;
}

/* Several arguments in the place of an entry's last vector are its elements. */
static bool gather(struct resolver *r, const struct entry *e, int *n,
                   struct value *args, struct span span)
{
    int last = e->nparameters - 1;
    if (*n <= e->nparameters || last < 0 || e->parameters[last].ndims != 1)
        return true;
    struct value all;
    if (!concatenate(r, *n - last, args + last, &all, span))
        return false;
    args[last] = all;
    *n = e->nparameters;
    return true;
}

static symp as_argument(struct compiler *c, const struct value *v)
{
    return v->ndim ? sym_array(c, v->ndim, v->loops, v->extents, v->body)
                   : v->body;
}

/* The extent named `dim` of an entry, from the arguments that have it. */
static symp named_extent(const struct entry *e, const struct value *args,
                         const char *dim)
{
    for (int i = 0; i < e->nparameters; i++)
        for (int d = 0; d < e->parameters[i].ndims; d++)
            if (e->parameters[i].dims[d] == dim && args[i].ndim > d)
                return args[i].extents[d];
    return NULL;
}

static struct family *new_family(struct resolver *r, struct var *v,
                                 struct span span)
{
    struct family *f = NEW(r->c, struct family);
    f->var = v;
    f->span = span;
    f->data_block = r->data_block;
    f->loops = NEW_ARRAY(r->c, struct loop *, MAX_LOOPS);
    f->nloops = r->nloops;
    for (int i = 0; i < r->nloops; i++)
        f->loops[i] = r->loops[i];
    return f;
}

static void add_family(struct model *m, struct family *f)
{
    *m->last_family = f;
    m->last_family = &f->next;
    f->number = m->nfamilies++;
    struct family **p = &f->var->families;
    while (*p)
        p = &(*p)->next_of_var;
    *p = f;
}

/* An array function's result gets a name of its own, so that it is computed
 * once: inverse(S[,]) inside an expression becomes a derived variable. */
static bool hoist_array_call(struct resolver *r, const struct entry *f,
                             symp call, const struct value *args,
                             struct value *out, struct span span)
{
    struct compiler *c = r->c;
    struct var *v =
        get_var(r, intern_format(c, "%s.%d", f->name, ++r->nhoisted), span);
    v->role = ROLE_DERIVED;
    v->ndim = r->nloops + f->result->ndims;
    struct family *family = new_family(r, v, span);
    family->whole_call = true;
    family->text = intern_format(c, "%s <- %s", v->name, span_source(c, span));
    symp subs[8];
    *out = (struct value){.span = span};
    for (int d = 0; d < r->nloops; d++)
        subs[d] = family->lower[d] = sym_loop(c, r->loops[d]);
    for (int d = 0; d < f->result->ndims; d++) {
        symp extent = named_extent(f, args, f->result->dims[d]);
        if (!extent) {
            error_at(c, span, "the extent of %s's result is not known",
                     f->name);
            return false;
        }
        family->lower[r->nloops + d] = sym_num(c, 1);
        family->upper[r->nloops + d] = extent;
        family->nslices++;
        subs[r->nloops + d] = add_dimension(r, out, extent, span);
    }
    family->body = call;
    add_family(r->m, family);
    out->body = sym_ref(c, v, v->ndim, subs);
    return true;
}

static const char *plural(int n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void wrong_arguments(struct resolver *r, const struct entry *e,
                            struct span span, int n)
{
    struct text t = {0};
    for (int i = 0; i < e->nparameters; i++)
        text_printf(&t, "%s%s", i ? ", " : "", e->parameters[i].name);
    error_at(r->c, span, "%s takes %d %s (%s), not %d", e->name, e->nparameters,
             plural(e->nparameters, "parameter", "parameters"),
             t.data ? t.data : "", n);
    text_free(&t);
}

static void unknown_name(struct resolver *r, enum entry_kind kind,
                         const struct expr *e)
{
    const struct entry *const *all;
    int n = library_all(r->c, &all), k = 0;
    const char **names = NEW_ARRAY(r->c, const char *, 2 * n);
    for (int i = 0; i < n; i++)
        if (all[i]->kind == kind)
            names[k++] = all[i]->name;
    const char *near = nearest_name(e->name, names, k);
    const char *what = kind == ENTRY_FUNCTION ? "function" : "distribution";
    if (near)
        error_at(r->c, e->span, "unknown %s %s; did you mean %s?", what,
                 e->name, near);
    else
        error_at(r->c, e->span,
                 "unknown %s %s; gbmc --list prints what there is", what,
                 e->name);
}

/* f(args) element by element over the arguments that are arrays. */
static bool broadcast(struct resolver *r, const char *name, int n,
                      struct value *args, struct value *out, struct span span)
{
    struct compiler *c = r->c;
    *out = (struct value){.span = span};
    const struct value *shape = NULL;
    for (int i = 0; i < n; i++)
        if (args[i].ndim && (!shape || args[i].ndim > shape->ndim))
            shape = &args[i];
    symp bodies[16];
    for (int i = 0; i < n; i++) {
        bodies[i] = args[i].body;
        for (int d = 0; shape && d < args[i].ndim; d++)
            bodies[i] = sym_replace_loop(c, bodies[i], args[i].loops[d],
                                         sym_loop(c, shape->loops[d]));
    }
    if (shape) {
        *out = *shape;
        out->span = span;
    }
    out->body = sym_call(c, name, n, bodies);
    return true;
}

static bool call_library(struct resolver *r, const struct expr *e,
                         struct value *args, struct value *out)
{
    struct compiler *c = r->c;
    const struct entry *f = library_find(c, ENTRY_FUNCTION, e->name);
    static const char *const operators[] = {"+",   "-",  "*",  "/",  "^",
                                            "neg", "<",  "<=", ">",  ">=",
                                            "==",  "!=", "&&", "||", "!"};
    bool is_operator = false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        is_operator = is_operator || !strcmp(e->name, operators[i]);
    if (!f && !is_operator) {
        unknown_name(r, ENTRY_FUNCTION, e);
        return false;
    }
    bool arrays = false;
    for (int i = 0; f && i < f->nparameters; i++)
        arrays = arrays || f->parameters[i].ndims;
    if (f && f->nparameters != e->nargs && !is_operator) {
        wrong_arguments(r, f, e->span, e->nargs);
        return false;
    }
    if (!arrays && !(f && f->result))
        return broadcast(r, e->name, e->nargs, args, out, e->span);
    symp bodies[16];
    for (int i = 0; i < e->nargs; i++) {
        if (args[i].ndim == 0 && f->parameters[i].ndims == 1)
            (void)add_dimension(r, &args[i], sym_num(c, 1), args[i].span);
        if (args[i].ndim < f->parameters[i].ndims) {
            error_at(c, e->args[i]->span,
                     "%s of %s is %s; a single value is given",
                     f->parameters[i].name, f->name,
                     f->parameters[i].ndims == 1 ? "a vector" : "a matrix");
            return false;
        }
        bodies[i] = as_argument(c, &args[i]);
    }
    symp call = sym_call(c, f->name, e->nargs, bodies);
    if (f->result)
        return hoist_array_call(r, f, call, args, out, e->span);
    *out = scalar_value(call, e->span);
    return true;
}

/* Functions of arrays that expand into sums. True if e was one of them. */
static bool call_builtin(struct resolver *r, const struct expr *e,
                         struct value *args, struct value *out, bool *ok)
{
    struct compiler *c = r->c;
    const char *f = e->name;
    int n = e->nargs;
    *ok = true;
    if (!strcmp(f, "sum") && n >= 1) {
        symp total = sym_num(c, 0);
        for (int i = 0; i < n; i++)
            total = sym_add2(c, total, sum_over(c, &args[i]));
        *out = scalar_value(total, e->span);
        return true;
    }
    if (!strcmp(f, "mean") && n == 1) {
        *out = scalar_value(
            sym_div(c, sum_over(c, &args[0]), count_of(c, &args[0])), e->span);
        return true;
    }
    if (!strcmp(f, "inprod") && n == 2) {
        struct value product;
        broadcast(r, "*", 2, args, &product, e->span);
        *out = scalar_value(sum_over(c, &product), e->span);
        return true;
    }
    if (!strcmp(f, "%*%") && n == 2 && args[0].ndim && args[1].ndim) {
        *ok = matrix_product(r, &args[0], &args[1], out);
        return true;
    }
    if (!strcmp(f, "t") && n == 1 && args[0].ndim == 2) {
        *out = args[0];
        out->loops[0] = args[0].loops[1];
        out->loops[1] = args[0].loops[0];
        out->extents[0] = args[0].extents[1];
        out->extents[1] = args[0].extents[0];
        return true;
    }
    if (!strcmp(f, "t") && n == 1) {
        *out = args[0];
        return true;
    }
    if (!strcmp(f, "length") && n == 1) {
        *out = scalar_value(count_of(c, &args[0]), e->span);
        return true;
    }
    if (!strcmp(f, "dim") && n == 1 && args[0].ndim) {
        struct value extents[2];
        for (int d = 0; d < args[0].ndim; d++)
            extents[d] = scalar_value(args[0].extents[d], e->span);
        *ok = concatenate(r, args[0].ndim, extents, out, e->span);
        return true;
    }
    if (!strcmp(f, "c")) {
        *ok = concatenate(r, n, args, out, e->span);
        return true;
    }
    if (!strcmp(f, "rep") && n == 2 && !args[0].ndim) {
        *out = (struct value){.span = e->span, .body = args[0].body};
        add_dimension(r, out, args[1].body, e->span);
        return true;
    }
    bool extreme = !strcmp(f, "max") || !strcmp(f, "min");
    if (extreme && (n > 1 || !args[0].ndim)) {
        bool all_scalar = true;
        for (int i = 0; i < n; i++)
            all_scalar = all_scalar && !args[i].ndim;
        if (all_scalar) {
            symp e1 = args[0].body;
            for (int i = 1; i < n; i++)
                e1 = sym_call(c, f, 2, (symp[]){e1, args[i].body});
            *out = scalar_value(e1, e->span);
            return true;
        }
        struct value all;
        *ok = concatenate(r, n, args, &all, e->span);
        args[0] = all;
        extreme = true;
    }
    if (extreme || (!strcmp(f, "prod") && n == 1 && args[0].ndim)) {
        symp a = as_argument(c, &args[0]);
        *out = scalar_value(sym_call(c, f, 1, &a), e->span);
        return true;
    }
    return false;
}

static bool value_of(struct resolver *r, const struct expr *e,
                     struct value *out)
{
    struct compiler *c = r->c;
    switch (e->kind) {
    case EXPR_NUM:
        *out = scalar_value(sym_num(c, e->number), e->span);
        return true;
    case EXPR_NAME:
        return value_of_name(r, e, out);
    case EXPR_RANGE: {
        symp lower = scalar_of(r, e->args[0]);
        symp upper = lower ? scalar_of(r, e->args[1]) : NULL;
        if (!upper)
            return false;
        *out = (struct value){.span = e->span};
        symp k = add_dimension(r, out, extent_of(c, lower, upper), e->span);
        out->body = sym_add(c, 3, (symp[]){lower, k, sym_num(c, -1)});
        return true;
    }
    case EXPR_CALL: {
        struct value args[16];
        if (e->nargs > 16) {
            error_at(c, e->span, "more than 16 arguments");
            return false;
        }
        for (int i = 0; i < e->nargs; i++)
            if (!value_of(r, e->args[i], &args[i]))
                return false;
        bool ok;
        if (e->nargs && call_builtin(r, e, args, out, &ok))
            return ok;
        return call_library(r, e, args, out);
    }
    case EXPR_ALL:
    case EXPR_SUM:
        error_at(c, e->span, "this can only stand in a subscript");
        return false;
    }
    UNREACHABLE();
}

/* ---- statements --------------------------------------------------------- */

/* The left-hand side's subscripts; slices stay slices. */
static bool resolve_lhs(struct resolver *r, const struct stmt *s,
                        struct family *f)
{
    struct compiler *c = r->c;
    const struct expr *lhs = s->lhs;
    struct var *v = f->var;
    if (v->ndim == -1)
        v->ndim = lhs->nargs;
    for (int d = 0; d < v->ndim; d++) {
        const struct expr *e = d < lhs->nargs ? lhs->args[d] : NULL;
        if (!e || e->kind == EXPR_ALL) {
            f->lower[d] = sym_num(c, 1);
            f->upper[d] = sym_extent(c, v, d);
        } else if (e->kind == EXPR_RANGE) {
            f->lower[d] = scalar_of(r, e->args[0]);
            f->upper[d] = scalar_of(r, e->args[1]);
            if (!f->upper[d])
                return false;
        } else {
            f->lower[d] = scalar_of(r, e);
        }
        if (!f->lower[d])
            return false;
        if (f->upper[d])
            f->nslices++;
    }
    if (f->nslices > 2) {
        error_at(c, lhs->span,
                 "not supported yet: a left-hand side of %d ranges",
                 f->nslices);
        return false;
    }
    return true;
}

/* Turns the slices of a scalar statement into loops of its own. */
static void slices_to_loops(struct resolver *r, struct family *f,
                            struct value *args, int nargs)
{
    struct compiler *c = r->c;
    int k = 0;
    for (int d = 0; d < f->var->ndim; d++) {
        if (!f->upper[d])
            continue;
        static const char *const names[] = {"k", "l"};
        struct loop *l = new_loop(c, names[k], f->lower[d], f->upper[d]);
        f->loops[f->nloops++] = l;
        symp place = sym_add(
            c, 3,
            (symp[]){sym_loop(c, l), sym_neg(c, f->lower[d]), sym_num(c, 1)});
        for (int i = 0; i < nargs; i++)
            if (args[i].ndim > k)
                args[i].body =
                    sym_replace_loop(c, args[i].body, args[i].loops[k], place);
        f->lower[d] = sym_loop(c, l);
        f->upper[d] = NULL;
        k++;
    }
    for (int i = 0; i < nargs; i++)
        args[i].ndim = 0;
    f->nslices = 0;
}

/* A whole array on the left takes its shape from the right where that tells. */
static void shape_from(struct compiler *c, struct family *f, int slice,
                       symp extent)
{
    for (int d = 0; d < f->var->ndim; d++) {
        if (!f->upper[d] || slice-- != 0)
            continue;
        symp top = f->upper[d];
        if (extent && top->kind == SYM_EXTENT && top->var == f->var &&
            !f->var->declared[d] && !sym_has_var(extent, f->var) &&
            !sym_has(extent, top))
            f->upper[d] = extent;
    }
    (void)c;
}

static void resolve_deterministic(struct resolver *r, const struct stmt *s)
{
    struct compiler *c = r->c;
    struct value v;
    if (!value_of(r, s->rhs, &v))
        return;
    struct var *var = get_var(r, s->lhs->name, s->lhs->span);
    if (var->ndim == -1)
        var->ndim = s->lhs->nargs ? s->lhs->nargs : v.ndim;
    struct family *f = new_family(r, var, s->span);
    f->text = span_source(c, s->span);
    if (!resolve_lhs(r, s, f))
        return;
    if (s->link) {
        const struct entry *link = library_find(c, ENTRY_FUNCTION, s->link);
        const struct expr *inverse = link ? entry_value(link, "inverse") : NULL;
        if (!inverse) {
            error_at(c, s->lhs->span, "%s is not a link function", s->link);
            return;
        }
        struct value args[1] = {v};
        broadcast(r, inverse->name, 1, args, &v, s->rhs->span);
    }
    if (f->nslices) {
        if (v.ndim && v.ndim != f->nslices) {
            error_at(c, s->rhs->span,
                     "a %d-dimensional array is assigned to a %d-dimensional "
                     "slice",
                     v.ndim, f->nslices);
            return;
        }
        for (int i = 0; i < v.ndim; i++)
            shape_from(c, f, i, v.extents[i]);
        slices_to_loops(r, f, &v, 1);
    } else if (v.ndim) {
        error_at(c, s->rhs->span, "an array is assigned to a single element");
        return;
    }
    f->body = v.body;
    add_family(r->m, f);
    if (var->role == ROLE_GIVEN)
        var->role = ROLE_DERIVED;
}

/* Arguments of `as`: parameters of the entry by name, the rest by algebra. */
struct as_context {
    struct resolver *r;
    const struct entry *entry;
    const struct value *args;
};
static symp extent_by_name(const struct as_context *k, const char *name)
{
    return named_extent(k->entry, k->args, name);
}
static symp bind_as(struct compiler *c, const char *name, int nargs,
                    const symp *args, void *context)
{
    const struct as_context *k = context;
    for (int i = 0; i < k->entry->nparameters; i++) {
        if (k->entry->parameters[i].name != name)
            continue;
        const struct value *v = &k->args[i];
        if (nargs == 0)
            return as_argument(c, v);
        return element(c, v, args[0], nargs > 1 ? args[1] : NULL);
    }
    return nargs == 0 ? extent_by_name(k, name) : NULL;
}

static bool as_value(struct as_context *k, const struct expr *e,
                     struct value *out, struct span span)
{
    struct compiler *c = k->r->c;
    if (e->kind == EXPR_NAME && e->nargs == 0)
        for (int i = 0; i < k->entry->nparameters; i++)
            if (k->entry->parameters[i].name == e->name) {
                *out = k->args[i];
                return true;
            }
    if (e->kind == EXPR_CALL) {
        const struct entry *f = library_find(c, ENTRY_FUNCTION, e->name);
        if (f && f->result) { /* inverse(Sigma) */
            struct value args[8];
            symp bodies[8];
            for (int i = 0; i < e->nargs && i < 8; i++) {
                if (!as_value(k, e->args[i], &args[i], span))
                    return false;
                bodies[i] = as_argument(c, &args[i]);
            }
            symp call = sym_call(c, f->name, e->nargs, bodies);
            return hoist_array_call(k->r, f, call, args, out, span);
        }
    }
    *out = (struct value){.span = span};
    bool arrays = false;
    for (int i = 0; i < k->entry->nparameters; i++)
        arrays = arrays || k->entry->parameters[i].ndims == 1;
    out->body = sym_from_library(c, e, bind_as, k);
    return out->body != NULL;
}

static bool canonical(struct resolver *r, struct family *f, struct span span)
{
    for (int depth = 0; depth < 8; depth++) {
        const struct expr *as = entry_value(f->distribution, "as");
        if (!as)
            return true;
        const struct entry *to =
            as->kind == EXPR_CALL
                ? library_find(r->c, ENTRY_DISTRIBUTION, as->name)
                : NULL;
        if (!to || to->nparameters != as->nargs) {
            error_at(r->c, as->span,
                     "`as` must name a distribution with its parameters");
            return false;
        }
        struct as_context k = {r, f->distribution, f->args};
        struct value *args = NEW_ARRAY(r->c, struct value, to->nparameters);
        for (int i = 0; i < to->nparameters; i++)
            if (!as_value(&k, as->args[i], &args[i], span))
                return false;
        f->distribution = to;
        f->args = args;
        f->nargs = to->nparameters;
    }
    return true;
}

static void resolve_stochastic(struct resolver *r, const struct stmt *s)
{
    struct compiler *c = r->c;
    const struct entry *d = library_find(c, ENTRY_DISTRIBUTION, s->rhs->name);
    struct var *var = get_var(r, s->lhs->name, s->lhs->span);
    if (!d) {
        unknown_name(r, ENTRY_DISTRIBUTION, s->rhs);
        return;
    }
    if (s->link) {
        error_at(c, s->lhs->span,
                 "not supported yet: a link function before `~`");
        return;
    }
    struct family *f = new_family(r, var, s->span);
    f->stochastic = true;
    f->text = span_source(c, s->span);
    f->distribution = f->written_distribution = d;
    f->args = NEW_ARRAY(c, struct value, s->rhs->nargs + 4);
    f->nargs = s->rhs->nargs;
    for (int i = 0; i < f->nargs; i++)
        if (!value_of(r, s->rhs->args[i], &f->args[i]))
            return;
    if (!gather(r, d, &f->nargs, f->args, s->rhs->span))
        return;
    if (f->nargs != d->nparameters) {
        wrong_arguments(r, d, s->rhs->span, f->nargs);
        return;
    }
    for (int i = 0; i < f->nargs; i++) {
        int want = d->parameters[i].ndims, have = f->args[i].ndim;
        if (want == 1 && have == 0) { /* a vector of one element */
            (void)add_dimension(r, &f->args[i], sym_num(c, 1), f->args[i].span);
            have = 1;
        }
        if (want && have < want) {
            error_at(c, s->rhs->args[i]->span,
                     "%s of %s is a %s; here it has %d dimension%s",
                     d->parameters[i].name, d->name,
                     want == 1 ? "vector" : "matrix", have,
                     have == 1 ? "" : "s");
            return;
        }
    }
    if (s->lower && !(f->trunc_lower = scalar_of(r, s->lower)))
        return;
    if (s->upper && !(f->trunc_upper = scalar_of(r, s->upper)))
        return;
    f->truncated = f->trunc_lower || f->trunc_upper;
    if (s->truncation == TRUNC_C && f->truncated) {
        error_at(c, s->span,
                 "not supported yet: C(,) censoring; write "
                 "dinterval");
        return;
    }
    if (!resolve_lhs(r, s, f))
        return;
    int want = d->result ? d->result->ndims : 0;
    if (want && f->nslices != want) {
        error_at(c, s->lhs->span,
                 "%s is a distribution of a %s: the left-hand side needs "
                 "%d range%s, as in %s[1:n%s]",
                 d->name, want == 1 ? "vector" : "matrix", want,
                 want == 1 ? "" : "s", var->name, want == 1 ? "" : ",1:n");
        return;
    }
    for (int k = 0; k < want; k++)
        shape_from(c, f, k, named_extent(d, f->args, d->result->dims[k]));
    for (int i = 0; !want && i < f->nargs; i++)
        for (int k = 0; f->args[i].ndim == f->nslices && k < f->nslices; k++)
            shape_from(c, f, k, f->args[i].extents[k]);
    if (!want && f->nslices)
        slices_to_loops(r, f, f->args, f->nargs);
    for (int i = 0; !want && i < f->nargs; i++)
        if (f->args[i].ndim && !d->parameters[i].ndims) {
            error_at(c, s->rhs->args[i]->span,
                     "a single value is needed for %s, not an array",
                     d->parameters[i].name);
            return;
        }
    if (!canonical(r, f, s->span))
        return;
    add_family(r->m, f);
    if (var->role != ROLE_STOCHASTIC)
        var->role = ROLE_STOCHASTIC;
}

static void resolve_stmts(struct resolver *r, const struct stmt *s);

static void resolve_for(struct resolver *r, const struct stmt *s)
{
    struct compiler *c = r->c;
    if (r->nloops == MAX_LOOPS - 2) {
        error_at(c, s->span, "loops are nested too deeply");
        return;
    }
    struct loop *l = NEW(c, struct loop);
    l->name = s->name;
    symp index = sym_loop(c, l), value = index;
    if (s->range->kind == EXPR_RANGE) {
        l->lower = scalar_of(r, s->range->args[0]);
        l->upper = scalar_of(r, s->range->args[1]);
        if (!l->lower || !l->upper)
            return;
    } else { /* for (i in index) */
        struct value v;
        if (!value_of(r, s->range, &v))
            return;
        l->lower = sym_num(c, 1);
        l->upper = v.ndim ? v.extents[0] : sym_num(c, 1);
        value =
            v.ndim ? sym_replace_loop(c, v.body, v.loops[0], index) : v.body;
    }
    struct scope inner = {s->name, value, r->scope};
    r->scope = &inner;
    r->loops[r->nloops++] = l;
    resolve_stmts(r, s->body);
    r->nloops--;
    r->scope = inner.outer;
}

static void resolve_stmts(struct resolver *r, const struct stmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR)
            resolve_for(r, s);
        else if (s->kind == STMT_STOCHASTIC)
            resolve_stochastic(r, s);
        else
            resolve_deterministic(r, s);
    }
}

static void resolve_declarations(struct resolver *r, const struct program *p)
{
    struct compiler *c = r->c;
    for (const struct declaration *d = p->declarations; d; d = d->next) {
        struct var *v = get_var(r, d->name, d->span);
        v->declared_given = v->declared_given || d->kind == DECL_GIVEN;
        v->declared_observed = v->declared_observed || d->kind == DECL_OBSERVED;
        if (d->ndims || v->ndim == -1)
            set_ndim(r, v, d->ndims, d->span);
    }
    for (const struct declaration *d = p->declarations; d; d = d->next) {
        struct var *v = get_var(r, d->name, d->span);
        for (int i = 0; i < d->ndims && i < 8; i++)
            if (d->kind == DECL_VAR)
                v->declared[i] = scalar_of(r, d->dims[i]);
            else
                (void)scalar_of(r, d->dims[i]);
    }
    (void)c;
}

/* ---- roles -------------------------------------------------------------- */

static bool test_any(symp e, bool (*test)(symp, void *), void *context)
{
    if (test(e, context))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (test_any(e->args[i], test, context))
            return true;
    return false;
}

static bool reads_random(symp e, void *unused)
{
    (void)unused;
    return e->kind == SYM_REF &&
           (e->var->role == ROLE_STOCHASTIC || e->var->role == ROLE_DERIVED ||
            e->var->role == ROLE_AUXILIARY);
}

static bool mark_index(symp e, void *inside)
{
    if (e->kind == SYM_REF) {
        if (inside)
            e->var->indexes = true;
        for (int i = 0; i < e->nargs; i++)
            test_any(e->args[i], mark_index, (void *)1);
    }
    if (e->kind == SYM_SUM) {
        test_any(e->args[0], mark_index, (void *)1);
        test_any(e->args[1], mark_index, (void *)1);
    }
    return false;
}

static bool reads_var(symp e, void *var)
{
    return e->kind == SYM_REF && e->var == (struct var *)var;
}

static bool reads_var_or_extent(symp e, void *var)
{
    return (e->kind == SYM_REF || e->kind == SYM_EXTENT) &&
           e->var == (struct var *)var;
}

/* Calls f on every expression of a family. */
static bool family_any(const struct family *f, bool (*test)(symp, void *),
                       void *context, bool with_lhs)
{
    bool found = false;
    if (f->body)
        found = test_any(f->body, test, context) || found;
    for (int i = 0; i < f->nargs; i++) {
        found = test_any(f->args[i].body, test, context) || found;
        for (int d = 0; d < f->args[i].ndim; d++)
            found = test_any(f->args[i].extents[d], test, context) || found;
    }
    if (f->trunc_lower)
        found = test_any(f->trunc_lower, test, context) || found;
    if (f->trunc_upper)
        found = test_any(f->trunc_upper, test, context) || found;
    for (int i = 0; i < f->nloops; i++) {
        found = test_any(f->loops[i]->lower, test, context) || found;
        found = test_any(f->loops[i]->upper, test, context) || found;
    }
    for (int d = 0; with_lhs && d < f->var->ndim; d++) {
        found = test_any(f->lower[d], test, context) || found;
        if (f->upper[d])
            found = test_any(f->upper[d], test, context) || found;
    }
    return found;
}

static bool is_integer_distribution(const struct entry *d)
{
    const struct expr *support = entry_value(d, "support");
    return support && (!strcmp(support->name, "integer") ||
                       !strcmp(support->name, "counts"));
}

static bool positive_support(const struct family *f)
{
    const struct expr *support = entry_value(f->distribution, "support");
    if (!support || strcmp(support->name, "real") != 0 || support->nargs != 2)
        return support && !strcmp(support->name, "simplex");
    const struct expr *low = support->args[0];
    if (low->kind == EXPR_NUM && low->number >= 0)
        return true;
    if (f->trunc_lower && f->trunc_lower->kind == SYM_NUM &&
        f->trunc_lower->number >= 0)
        return true;
    if (low->kind == EXPR_NAME) /* dunif(0, b) */
        for (int i = 0; i < f->nargs; i++)
            if (f->distribution->parameters[i].name == low->name &&
                f->args[i].body->kind == SYM_NUM &&
                f->args[i].body->number >= 0)
                return true;
    return false;
}

static void settle_roles(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        f->recursive =
            !f->stochastic && family_any(f, reads_var, f->var, false);
    /* constants: derived from given ones alone; a fixed point */
    bool changed = true;
    while (changed) {
        changed = false;
        for (struct var *v = m->vars; v; v = v->next) {
            if (v->role != ROLE_DERIVED)
                continue;
            bool constant = true;
            for (struct family *f = v->families; f; f = f->next_of_var) {
                enum role own = v->role;
                v->role = ROLE_CONSTANT; /* reading itself does not count */
                constant =
                    constant &&
                    (f->data_block || !family_any(f, reads_random, NULL, true));
                v->role = own;
            }
            if (constant) {
                v->role = ROLE_CONSTANT;
                changed = true;
            }
        }
    }
    for (struct var *v = m->vars; v; v = v->next) {
        if (v->ndim == -1)
            v->ndim = 0;
        bool data_only = v->families != NULL, positive = v->families != NULL;
        for (struct family *f = v->families; f; f = f->next_of_var) {
            data_only = data_only && f->data_block;
            positive = positive && f->stochastic && positive_support(f);
            if (f->stochastic && is_integer_distribution(f->distribution))
                v->integer = true;
        }
        v->positive = positive;
        if (data_only)
            v->role = ROLE_CONSTANT;
        if (v->declared_given && v->families)
            error_at(c, v->families->span,
                     "%s is declared given, so it cannot be defined here",
                     v->name);
    }
    for (struct family *f = m->families; f; f = f->next) {
        family_any(f, mark_index, NULL, true);
        for (int i = 0; i < f->nloops; i++) {
            test_any(f->loops[i]->lower, mark_index, (void *)1);
            test_any(f->loops[i]->upper, mark_index, (void *)1);
        }
        for (int d = 0; d < f->var->ndim; d++) {
            test_any(f->lower[d], mark_index, (void *)1);
            if (f->upper[d])
                test_any(f->upper[d], mark_index, (void *)1);
        }
    }
    for (struct var *v = m->vars; v; v = v->next) {
        if (v->indexes && v->role == ROLE_GIVEN)
            v->integer = true;
        for (struct family *f = m->families; f; f = f->next)
            v->used = v->used || family_any(f, reads_var_or_extent, v, true);
    }
    for (struct family *f = m->families; f; f = f->next)
        f->constant =
            !f->stochastic && !family_any(f, reads_random, NULL, true);
}

/* ---- substitution of derived nodes --------------------------------------- */

const struct loop *sym_plain_loop(struct compiler *c, symp e, symp *offset)
{
    symp terms[1] = {e};
    int n = e->kind == SYM_ADD ? e->nargs : 1;
    const symp *args = e->kind == SYM_ADD ? e->args : terms;
    const struct loop *found = NULL;
    symp rest = sym_num(c, 0);
    for (int i = 0; i < n; i++) {
        if (args[i]->kind == SYM_LOOP && !found)
            found = args[i]->loop;
        else
            rest = sym_add2(c, rest, args[i]);
    }
    if (!found || sym_has_loop(rest, found))
        return NULL;
    *offset = rest;
    return found;
}

static bool has_own_loop(const struct family *f, symp e)
{
    for (int i = 0; i < f->nloops; i++)
        if (sym_has_loop(e, f->loops[i]))
            return true;
    return false;
}

/* True if a reference to f's variable can be replaced by f's expression:
 * every subscript is a distinct loop plus a constant, or free of loops. */
static bool substitutable_family(struct compiler *c, const struct family *f)
{
    if (f->recursive || f->whole_call || f->nslices || f->stochastic)
        return false;
    bool used[MAX_LOOPS] = {false};
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        if (!l) {
            if (has_own_loop(f, f->lower[d]))
                return false;
            continue;
        }
        for (int i = 0; i < f->nloops; i++)
            if (f->loops[i] == l) {
                if (used[i] || has_own_loop(f, offset))
                    return false;
                used[i] = true;
            }
    }
    for (int i = 0; i < f->nloops; i++)
        if (!used[i])
            return false;
    return true;
}

static bool reaches(struct model *m, const struct var *from, struct var *to,
                    int depth)
{
    if (depth > 64)
        return true;
    for (const struct family *f = from->families; f; f = f->next_of_var) {
        if (f->stochastic)
            continue;
        if (family_any(f, reads_var, to, false))
            return true;
        for (struct var *v = m->vars; v; v = v->next)
            if (v != from && v->role == ROLE_DERIVED &&
                family_any(f, reads_var, v, false) &&
                reaches(m, v, to, depth + 1))
                return true;
    }
    return false;
}

/* An element of a partly stochastic array that is a function of others: its
 * definition may read the array itself, at other elements, if it is one
 * element (else the substitution might not end). */
static bool mixed_substitutable(struct compiler *c, const struct family *f)
{
    struct family alone = *f;
    alone.recursive = f->recursive && f->nloops > 0;
    return substitutable_family(c, &alone);
}

static void choose_stored(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next) {
        if (v->role == ROLE_STOCHASTIC)
            for (struct family *f = v->families; f; f = f->next_of_var)
                if (!f->stochastic && !f->constant &&
                    !mixed_substitutable(c, f))
                    v->stored = true;
        if (v->role != ROLE_DERIVED)
            continue;
        int n = 0;
        for (struct family *f = v->families; f; f = f->next_of_var, n++)
            if (!substitutable_family(c, f))
                v->stored = true;
        if (n > 4 || reaches(m, v, v, 0))
            v->stored = true;
    }
}

/* The definition by family f of var[args]; *where: condition that f defines
 * that element (NULL: not asked). */
static symp definition(struct compiler *c, const struct family *f, symp ref,
                       symp *where)
{
    symp solved[MAX_LOOPS] = {NULL};
    symp condition = sym_num(c, 1);
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        bool own = false;
        for (int i = 0; l && i < f->nloops; i++)
            if (f->loops[i] == l) {
                solved[i] = sym_sub(c, ref->args[d], offset);
                own = true;
            }
        if (!own)
            condition =
                sym_and(c, condition, sym_eq(c, ref->args[d], f->lower[d]));
    }
    symp body = f->body;
    for (int i = f->nloops - 1; i >= 0; i--) {
        body = sym_replace_loop(c, body, f->loops[i], solved[i]);
        symp lower = f->loops[i]->lower, upper = f->loops[i]->upper;
        for (int j = 0; j < i; j++) {
            lower = sym_replace_loop(c, lower, f->loops[j], solved[j]);
            upper = sym_replace_loop(c, upper, f->loops[j], solved[j]);
        }
        const struct loop *l =
            solved[i]->kind == SYM_LOOP ? solved[i]->loop : NULL;
        bool known = l && l->lower && sym_same(l->lower, lower) &&
                     sym_same(l->upper, upper);
        if (!known) {
            condition = sym_and(
                c, condition, sym_call(c, ">=", 2, (symp[]){solved[i], lower}));
            condition = sym_and(
                c, condition, sym_call(c, "<=", 2, (symp[]){solved[i], upper}));
        }
    }
    if (where)
        *where = condition;
    return body;
}

static symp substitute_node(struct compiler *c, symp e, void *context)
{
    if (e->kind != SYM_REF)
        return NULL;
    const struct var *v = e->var;
    bool derived = v->role == ROLE_DERIVED && !v->stored;
    bool mixed = v->role == ROLE_STOCHASTIC && v->families && !v->stored;
    if (!derived && !mixed)
        return NULL;
    symp *args = NEW_ARRAY(c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        args[i] = sym_map(c, e->args[i], substitute_node, context);
    symp ref = sym_ref(c, e->var, e->nargs, args);
    symp value = derived ? NULL : ref;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        if (f->stochastic || (mixed && f->constant))
            continue;
        symp where, body = definition(c, f, ref, &where);
        if (value && sym_is(where, 0))
            continue;
        body = sym_map(c, body, substitute_node, context);
        value = value ? sym_select(c, where, body, value) : body;
    }
    return value ? value : ref;
}

symp substitute_derived(struct compiler *c, symp e)
{
    return sym_map(c, e, substitute_node, NULL);
}

/* ---- factors --------------------------------------------------------------
 */

struct density_context {
    const struct family *f;
};

static symp lhs_element(struct compiler *c, const struct family *f, int nargs,
                        const symp *args)
{
    symp subs[8];
    int k = 0;
    for (int d = 0; d < f->var->ndim; d++) {
        if (f->upper[d]) {
            symp at = k < nargs ? args[k] : sym_num(c, 1);
            subs[d] = sym_add(c, 3, (symp[]){f->lower[d], at, sym_num(c, -1)});
            k++;
        } else {
            subs[d] = f->lower[d];
        }
    }
    return sym_ref(c, f->var, f->var->ndim, subs);
}

symp family_lhs(struct compiler *c, const struct family *f, int nargs,
                const symp *args)
{
    return lhs_element(c, f, nargs, args);
}

static symp lhs_extent(struct compiler *c, const struct family *f, int slice)
{
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d] && slice-- == 0)
            return extent_of(c, f->lower[d], f->upper[d]);
    return NULL;
}

symp family_extent(struct compiler *c, const struct family *f, int slice)
{
    return lhs_extent(c, f, slice);
}

static symp lhs_array(struct compiler *c, const struct family *f)
{
    struct loop *loops[2];
    symp extents[2], at[2];
    static const char *const names[] = {"k", "l"};
    for (int i = 0; i < f->nslices; i++) {
        extents[i] = lhs_extent(c, f, i);
        loops[i] = new_loop(c, names[i], sym_num(c, 1), extents[i]);
        at[i] = sym_loop(c, loops[i]);
    }
    return sym_array(c, f->nslices, loops, extents,
                     lhs_element(c, f, f->nslices, at));
}

static symp bind_density(struct compiler *c, const char *name, int nargs,
                         const symp *args, void *context)
{
    const struct density_context *k = context;
    const struct family *f = k->f;
    const struct entry *d = f->distribution;
    const char *x = d->result ? d->result->name : intern(c, "x");
    if (name == x) {
        if (nargs == 0 && d->result)
            return lhs_array(c, f);
        return lhs_element(c, f, nargs, args);
    }
    for (int i = 0; i < d->nparameters; i++) {
        if (d->parameters[i].name != name)
            continue;
        if (nargs == 0)
            return as_argument(c, &f->args[i]);
        return element(c, &f->args[i], args[0], nargs > 1 ? args[1] : NULL);
    }
    for (int i = 0; d->result && i < d->result->ndims; i++)
        if (d->result->dims[i] == name)
            return lhs_extent(c, f, i);
    return nargs == 0 ? named_extent(d, f->args, name) : NULL;
}

/* A clause of the family's distribution at the family's arguments, with x
 * replaced by `at` where given. */
static symp clause_of_family(struct compiler *c, const struct family *f,
                             const struct expr *e)
{
    struct density_context k = {f};
    return sym_from_library(c, e, bind_density, &k);
}

symp family_expression(struct compiler *c, const struct family *f,
                       const struct expr *e)
{
    return clause_of_family(c, f, e);
}

static symp cdf_at(struct compiler *c, const struct family *f, symp at)
{
    const struct expr *cdf = entry_value(f->distribution, "cdf");
    if (!cdf) {
        error_at(c, f->span,
                 "not supported yet: truncation of %s, whose library entry "
                 "states no cdf",
                 f->distribution->name);
        return sym_num(c, 1);
    }
    symp e = clause_of_family(c, f, cdf);
    return e ? sym_replace(c, e, lhs_element(c, f, 0, NULL), at) : at;
}

static symp truncated_mass(struct compiler *c, const struct family *f,
                           bool integer);

/* log of the probability between the bounds, where the library states it
 * better than as a difference of cdfs. */
struct mass_context {
    const struct family *f;
};
static symp bind_mass(struct compiler *c, const char *name, int nargs,
                      const symp *args, void *context)
{
    const struct family *f = ((struct mass_context *)context)->f;
    if (!strcmp(name, "lower"))
        return f->trunc_lower ? f->trunc_lower : sym_num(c, -(double)INFINITY);
    if (!strcmp(name, "upper"))
        return f->trunc_upper ? f->trunc_upper : sym_num(c, (double)INFINITY);
    struct density_context k = {f};
    return bind_density(c, name, nargs, args, &k);
}

static symp log_truncated_mass(struct compiler *c, const struct family *f,
                               bool integer)
{
    const struct expr *stated = entry_value(f->distribution, "log_mass");
    if (stated && !integer && f->trunc_lower && f->trunc_upper) {
        struct mass_context k = {f};
        return sym_from_library(c, stated, bind_mass, &k);
    }
    return sym_log(c, truncated_mass(c, f, integer));
}

static symp truncated_mass(struct compiler *c, const struct family *f,
                           bool integer)
{
    symp upper = sym_num(c, 1), lower = sym_num(c, 0);
    if (f->trunc_upper)
        upper = cdf_at(c, f, f->trunc_upper);
    if (f->trunc_lower)
        lower = cdf_at(c, f,
                       integer ? sym_sub(c, f->trunc_lower, sym_num(c, 1))
                               : f->trunc_lower);
    return sym_sub(c, upper, lower);
}

static symp tighter(struct compiler *c, const char *which, symp a, symp b)
{
    if (!a || !b)
        return a ? a : b;
    if (sym_same(a, b))
        return a;
    return sym_call(c, which, 2, (symp[]){a, b});
}

static bool is_infinite(symp e)
{
    return e->kind == SYM_NUM && (e->number > 1e308 || e->number < -1e308);
}

/* The sum of a whole node on the simplex is 1. */
static symp simplex_node(struct compiler *c, symp e, void *context)
{
    (void)context;
    if (e->kind != SYM_SUM || e->args[2]->kind != SYM_REF)
        return NULL;
    symp ref = e->args[2];
    const struct var *v = ref->var;
    if (v->role != ROLE_STOCHASTIC || !v->families ||
        v->families->next_of_var || !v->families->stochastic)
        return NULL;
    const struct family *f = v->families;
    const struct expr *support = entry_value(f->distribution, "support");
    if (f->nslices != 1 || !support || strcmp(support->name, "simplex") != 0)
        return NULL;
    for (int d = 0; d < ref->nargs; d++) {
        bool slice = f->upper[d] != NULL;
        bool bound = sym_has_loop(ref->args[d], e->loop);
        if (slice != bound || (bound && ref->args[d]->kind != SYM_LOOP))
            return NULL;
        symp top = e->args[1];
        bool whole = top->kind == SYM_EXTENT && top->var == v && top->dim == d;
        if (slice && (!sym_same(e->args[0], f->lower[d]) ||
                      !(whole || sym_same(top, f->upper[d]))))
            return NULL;
    }
    return sym_num(c, 1);
}
static symp simplex_sums(struct compiler *c, symp e)
{
    return sym_map(c, e, simplex_node, NULL);
}

struct factor *factor_of_family(struct compiler *c, struct model *m,
                                struct family *f)
{
    const struct entry *d = f->distribution;
    const struct expr *density = entry_value(d, "logdensity");
    const struct expr *support = entry_value(d, "support");
    if (!density) {
        error_at(c, f->span, "%s states no logdensity", d->name);
        return NULL;
    }
    struct factor *factor = NEW(c, struct factor);
    factor->family = f;
    factor->loops = f->loops;
    factor->nloops = f->nloops;
    factor->text = f->text;
    symp logp = clause_of_family(c, f, density);
    if (!logp)
        return NULL;
    factor->opaque = entry_clause(d, "observable") != NULL;
    factor->value = lhs_element(c, f, 0, NULL);
    bool real = support && !strcmp(support->name, "real");
    factor->integer = support && !strcmp(support->name, "integer");
    if ((real || factor->integer) && support->nargs == 2) {
        symp lower = clause_of_family(c, f, support->args[0]);
        symp upper = clause_of_family(c, f, support->args[1]);
        factor->lower = lower && !is_infinite(lower) ? lower : NULL;
        factor->upper = upper && !is_infinite(upper) ? upper : NULL;
    }
    if (f->truncated) {
        logp = sym_sub(c, logp, log_truncated_mass(c, f, factor->integer));
        factor->lower = tighter(c, "max", factor->lower, f->trunc_lower);
        factor->upper = tighter(c, "min", factor->upper, f->trunc_upper);
    }
    factor->logp = simplex_sums(c, substitute_derived(c, logp));
    factor->plain = factor->logp;
    if (factor->lower)
        factor->lower = substitute_derived(c, factor->lower);
    if (factor->upper)
        factor->upper = substitute_derived(c, factor->upper);
    factor->number = m->nfactors++;
    *m->last_factor = factor;
    m->last_factor = &factor->next;
    f->factor = factor;
    return factor;
}

/* ---- order and cycles ------------------------------------------------------
 */

struct reads_of {
    struct compiler *c;
    const struct family *defines;
};

/* Whether an element that f reads may be one that `context` defines. */
static bool may_read(symp e, void *context)
{
    struct reads_of *r = context;
    const struct family *g = r->defines;
    if (e->kind != SYM_REF || e->var != g->var)
        return false;
    for (int d = 0; d < g->var->ndim; d++)
        if (!g->upper[d] && sym_is(sym_eq(r->c, e->args[d], g->lower[d]), 0))
            return false;
    return true;
}

/* The families of one variable: those that others read first, as far as their
 * subscripts tell them apart. */
static void append_families(struct compiler *c, const struct var *v,
                            struct family ***last)
{
    struct family *left[64];
    int n = 0;
    for (struct family *f = v->families; f; f = f->next_of_var) {
        if (n < 64) {
            left[n++] = f;
            continue;
        }
        **last = f;
        *last = &f->next;
    }
    while (n) {
        int chosen = 0;
        for (int i = n; i-- > 0;) {
            bool waits = false;
            for (int j = 0; j < n && !waits; j++) {
                struct reads_of r = {c, left[j]};
                waits = i != j && family_any(left[i], may_read, &r, false);
            }
            if (!waits)
                chosen = i;
        }
        **last = left[chosen];
        *last = &left[chosen]->next;
        for (int j = chosen; j + 1 < n; j++)
            left[j] = left[j + 1];
        n--;
    }
}

/* Families in an order in which parents come before children; a variable that
 * reads itself at other subscripts is ordered by its elements at run time. */
static void visit(struct compiler *c, struct model *m, struct var *v,
                  char *state, struct family ***last)
{
    int i = 0;
    for (struct var *w = m->vars; w != v; w = w->next)
        i++;
    if (state[i] == 2)
        return;
    if (state[i] == 1)
        return; /* through other variables: the elements must be ordered */
    state[i] = 1;
    for (struct family *f = v->families; f; f = f->next_of_var)
        for (struct var *w = m->vars; w; w = w->next)
            if (w != v && w->families && family_any(f, reads_var, w, true))
                visit(c, m, w, state, last);
    state[i] = 2;
    append_families(c, v, last);
}

static bool reads_same_element(symp e, void *context)
{
    const struct family *f = context;
    if (e->kind != SYM_REF || e->var != f->var)
        return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d] || !sym_same(e->args[d], f->lower[d]))
            return false;
    return true;
}

/* A cycle that no order of elements could avoid: a chain of variables each of
 * which reads the next at the subscripts at which it is defined. */
static bool scalar_cycle(struct model *m, const struct var *from,
                         struct var *to, int depth, struct text *path)
{
    if (depth > 32)
        return false;
    for (const struct family *f = from->families; f; f = f->next_of_var)
        for (struct var *v = m->vars; v; v = v->next) {
            if (!v->families || v->ndim || !family_any(f, reads_var, v, false))
                continue;
            if (v == to) {
                text_printf(path, "%s", from->name);
                return true;
            }
            if (scalar_cycle(m, v, to, depth + 1, path)) {
                text_printf(path, " <- %s", from->name);
                return true;
            }
        }
    return false;
}

static void check_cycles(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next) {
        if (family_any(f, reads_same_element, f, false)) {
            error_at(c, f->span, "a cycle in the graph: %s depends on itself",
                     f->var->name);
            return;
        }
    }
    for (struct var *v = m->vars; v; v = v->next) {
        struct text path = {0};
        if (v->families && v->ndim == 0 && scalar_cycle(m, v, v, 0, &path)) {
            error_at(c, v->families->span,
                     "a cycle in the graph: %s depends on itself (%s <- %s)",
                     v->name, v->name, path.data);
            text_free(&path);
            return;
        }
        text_free(&path);
    }
}

static void check_twice(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next)
        for (struct family *f = v->families; f; f = f->next_of_var)
            for (struct family *g = f->next_of_var; g; g = g->next_of_var) {
                bool same = f->data_block == g->data_block;
                for (int d = 0; d < v->ndim; d++) {
                    symp a = f->lower[d], b = g->lower[d];
                    bool loops = a->kind == SYM_LOOP && b->kind == SYM_LOOP &&
                                 sym_same(a->loop->lower, b->loop->lower) &&
                                 sym_same(a->loop->upper, b->loop->upper);
                    same = same && (loops || (sym_same(a, b) && !f->nloops));
                }
                if (same) {
                    error_at(c, g->span, "%s is defined twice", v->name);
                    note_at(c, f->span, "the first definition is here");
                }
            }
}

static void name_in_c(struct compiler *c, struct model *m)
{
    static const char *const reserved[] = {
        "auto",     "break",    "case",      "char",     "const",   "continue",
        "default",  "do",       "double",    "else",     "enum",    "extern",
        "float",    "for",      "goto",      "if",       "inline",  "int",
        "long",     "register", "restrict",  "return",   "short",   "signed",
        "sizeof",   "static",   "struct",    "switch",   "typedef", "union",
        "unsigned", "void",     "volatile",  "while",    "real",    "rng",
        "team",     "s",        "x",         "sum",      "new",     "class",
        "template", "this",     "bool",      "true",     "false",   "state",
        "element",  "adapting", "asm",       "typename", "private", "public",
        "delete",   "operator", "namespace", "using",    "virtual", "and",
        "or",       "not",      "xor",       "main",     "linux",   "unix",
        "errno",    "exp",      "log",       "pow",      "sqrt",    "sin",
        "cos",      "tan",      "asin",      "acos",     "atan",    "sinh",
        "cosh",     "tanh",     "floor",     "ceil",     "round",   "trunc",
        "fabs",     "lgamma",   "tgamma",    "log1p",    "expm1",   "fmod",
        "fmin",     "fmax",     "erf",       "erfc",     "cbrt",    "log2",
        "log10",    "exp2",     "isnan",     "isinf",    "abs",     "asinh",
        "acosh",    "atanh",    "atan2",     "copysign", "malloc",  "free",
        "printf",   "b",        "out",       "tuples",   "stdin",   "stdout",
        "stderr",   "signal",   "I",         "NULL"};
    for (struct var *v = m->vars; v; v = v->next) {
        char *name = NEW_ARRAY(c, char, strlen(v->name) + 8);
        strcpy(name, v->name);
        for (char *p = name; *p; p++)
            if (*p == '.' || (unsigned char)*p >= 128)
                *p = '_';
        for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
            if (!strcmp(name, reserved[i])) {
                strcat(name, "_");
                break;
            }
        v->cname = intern(c, name);
        for (struct var *w = m->vars; w != v; w = w->next)
            if (w->cname == v->cname) {
                strcat(name, "_");
                v->cname = intern(c, name);
                w = m->vars;
                if (w == v)
                    break;
            }
    }
}

/* Whether e reads v, itself or through derived nodes kept in memory. */
static bool reads_through(const struct model *m, symp e, const struct var *v)
{
    if (e->kind == SYM_REF && (e->var == v || (e->var->role == ROLE_DERIVED &&
                                               derived_depends(m, e->var, v))))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (reads_through(m, e->args[i], v))
            return true;
    return false;
}

static bool factor_reads(struct compiler *c, const struct model *m,
                         const struct factor *g, const struct var *v)
{
    if (reads_through(m, g->logp, v) ||
        (g->lower && reads_through(m, g->lower, v)) ||
        (g->upper && reads_through(m, g->upper, v)))
        return true;
    for (int i = 0; i < g->family->nargs; i++)
        if (reads_through(m, substitute_derived(c, g->family->args[i].body), v))
            return true;
    return false;
}

/* A leaf: no other node's density reads it, so it is data, or is drawn
 * forward. */
static void settle_leaves(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next) {
        v->leaf = v->role == ROLE_STOCHASTIC;
        for (struct factor *g = m->factors; g && v->leaf; g = g->next)
            if (g->family->var != v)
                v->leaf = !factor_reads(c, m, g, v);
            else
                for (int i = 0; i < g->family->nargs && v->leaf; i++)
                    v->leaf = !reads_through(
                        m, substitute_derived(c, g->family->args[i].body), v);
    }
}

struct model *resolve(struct compiler *c, struct program *p)
{
    struct model *m = NEW(c, struct model);
    m->program = p;
    m->last_var = &m->vars;
    m->last_family = &m->families;
    m->last_factor = &m->factors;
    m->last_step = &m->steps;
    m->last_inverse = &m->inverses;
    struct resolver r = {.c = c, .m = m};
    if (p->entries) {
        (void)library_find(c, ENTRY_FUNCTION, intern(c, "log"));
        library_add(c, p->entries);
    }
    for (int pass = 0; pass < 2; pass++) {
        ndim_from_stmts(&r, p->data, NULL, pass == 1);
        ndim_from_stmts(&r, p->model, NULL, pass == 1);
    }
    resolve_declarations(&r, p);
    if (c->nerrors)
        return NULL;
    r.data_block = true;
    resolve_stmts(&r, p->data);
    r.data_block = false;
    resolve_stmts(&r, p->model);
    if (c->nerrors)
        return NULL;
    settle_roles(c, m);
    check_twice(c, m);
    check_cycles(c, m);
    if (c->nerrors)
        return NULL;
    struct family *ordered = NULL, **last = &ordered;
    int nvars = 0;
    for (struct var *v = m->vars; v; v = v->next)
        nvars++;
    char *state = NEW_ARRAY(c, char, nvars);
    for (struct var *v = m->vars; v; v = v->next)
        visit(c, m, v, state, &last);
    *last = NULL;
    m->families = ordered;
    m->last_family = last;
    int number = 0;
    for (struct family *f = m->families; f; f = f->next)
        f->number = number++;
    choose_stored(c, m);
    name_in_c(c, m);
    for (struct family *f = m->families; f; f = f->next)
        if (f->stochastic && !(f->data_block))
            factor_of_family(c, m, f);
    settle_leaves(c, m);
    for (struct factor *f = m->factors; f; f = f->next)
        if (f->family->var->leaf) {
            f->seen_var = f->family->var;
            symp at[2] = {sym_num(c, 1), sym_num(c, 1)};
            symp ref = lhs_element(c, f->family, 2, at);
            f->seen_ref = sym_seen(c, ref->var, ref->nargs, ref->args);
        }
    return c->nerrors ? NULL : m;
}

/* ---- --emit=dag ------------------------------------------------------------
 */

static const char *role_name(enum role r)
{
    switch (r) {
    case ROLE_GIVEN:
        return "given";
    case ROLE_CONSTANT:
        return "constant";
    case ROLE_STOCHASTIC:
        return "stochastic";
    case ROLE_DERIVED:
        return "derived";
    case ROLE_AUXILIARY:
        return "auxiliary";
    }
    UNREACHABLE();
}

void model_print(struct text *out, struct compiler *c, const struct model *m)
{
    for (const struct var *v = m->vars; v; v = v->next) {
        text_printf(out, "%s %s", role_name(v->role), v->name);
        if (v->ndim)
            text_printf(out, ", %d-dimensional", v->ndim);
        if (v->integer)
            text_append(out, ", integer");
        if (v->positive)
            text_append(out, ", positive");
        if (v->leaf)
            text_append(out, ", leaf");
        if (v->stored)
            text_append(out, ", stored");
        text_append(out, "\n");
    }
    for (const struct family *f = m->families; f; f = f->next) {
        text_printf(out, "\nfamily %s", f->text);
        for (int i = 0; i < f->nloops; i++)
            text_printf(out, "\n  for %s in %s : %s", f->loops[i]->name,
                        sym_text(c, f->loops[i]->lower),
                        sym_text(c, f->loops[i]->upper));
        if (f->factor)
            text_printf(out, "\n  log density %s",
                        sym_text(c, f->factor->logp));
        else if (f->body)
            text_printf(out, "\n  value %s", sym_text(c, f->body));
        text_append(out, "\n");
    }
}
