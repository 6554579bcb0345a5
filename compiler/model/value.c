/* value.c: expressions of the model as symbolic values: scalars, or arrays of
 * at most two dimensions whose element is an expression of their indices. */
#include "model/resolve.h"
#include "algebra/inside.h"
#include <math.h>
#include <string.h>

static symp scope_value(const struct resolver *r, const char *name)
{
    for (const struct scope *s = r->scope; s; s = s->outer)
        if (s->name == name)
            return s->value;
    return NULL;
}

struct loop *model_new_loop(struct compiler *c, const char *name, symp lower,
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

symp model_scalar_of(struct resolver *r, const struct expr *e)
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

bool model_check_whole(struct resolver *r, struct span span, symp x)
{
    if (x->kind != SYM_NUM || x->number == floor(x->number))
        return true;
    error_at(r->c, span, "a whole number is needed here, not %g", x->number);
    return false;
}

symp model_whole_of(struct resolver *r, const struct expr *e)
{
    symp x = model_scalar_of(r, e);
    return x && model_check_whole(r, e->span, x) ? x : NULL;
}

/* Adds a dimension to an array value. */
symp model_add_dimension(struct resolver *r, struct value *out, symp extent,
                         struct span span)
{
    if (out->ndim == MAX_DIMS) {
        error_at(r->c, span, "arrays have at most %d dimensions", MAX_DIMS);
        return NULL;
    }
    static const char *const names[MAX_DIMS] = {"k", "l", "m", "n",
                                                "o", "u", "v", "w"};
    struct loop *l =
        model_new_loop(r->c, names[out->ndim], sym_num(r->c, 1), extent);
    out->loops[out->ndim] = l;
    out->extents[out->ndim++] = extent;
    return sym_loop(r->c, l);
}

/* The ends of a range; false after an error. A range from high to low is an
 * error, as in JAGS. */
static bool range_ends(struct resolver *r, const struct expr *e, symp *lower,
                       symp *upper)
{
    *lower = model_whole_of(r, e->args[0]);
    *upper = *lower ? model_whole_of(r, e->args[1]) : NULL;
    if (!*upper)
        return false;
    double length;
    if (sym_difference(r->c, *upper, *lower, &length) && length < 0) {
        error_at(r->c, e->span, "the range %s is empty",
                 span_source(r->c, e->span));
        return false;
    }
    struct range_check *k = NEW(r->c, struct range_check);
    *k = (struct range_check){*lower, *upper, e->span, r->ranges};
    r->ranges = k;
    return true;
}

/* One subscript: a value, or a range that becomes a dimension of `out`. */
static symp subscript(struct resolver *r, const struct expr *e, struct var *v,
                      int dim, struct value *out)
{
    struct compiler *c = r->c;
    if (e->kind == EXPR_ALL)
        return model_add_dimension(r, out, sym_extent(c, v, dim), e->span);
    if (e->kind == EXPR_RANGE) {
        symp lower, upper;
        if (!range_ends(r, e, &lower, &upper))
            return NULL;
        symp l =
            model_add_dimension(r, out, sym_length(c, lower, upper), e->span);
        return l ? sym_add(c, 3, (symp[]){lower, l, sym_num(c, -1)}) : NULL;
    }
    struct value index;
    if (!value_of(r, e, &index))
        return NULL;
    if (!index.ndim)
        return model_check_whole(r, e->span, index.body) ? index.body : NULL;
    symp l = model_add_dimension(r, out, index.extents[0], e->span);
    return l ? sym_replace_loop(c, index.body, index.loops[0], l) : NULL;
}

static bool value_of_name(struct resolver *r, const struct expr *e,
                          struct value *out)
{
    struct compiler *c = r->c;
    *out = (struct value){.span = e->span};
    symp bound = e->nargs ? NULL : scope_value(r, e->name);
    if (bound) {
        out->body = bound;
        return true;
    }
    struct var *v = model_get_var(r, e->name, e->span);
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
symp value_element(struct compiler *c, const struct value *v, symp i, symp j)
{
    return sym_replace_loops(c, v->body, v->loops, v->ndim < 2 ? v->ndim : 2,
                             (symp[]){i, j});
}

/* The elements of an array in JAGS's order, the first index fastest: the one
 * that is number `place`, from 1. */
static symp element_in_order(struct compiler *c, const struct value *v,
                             symp place)
{
    if (v->ndim == 1)
        return sym_replace_loop(c, v->body, v->loops[0], place);
    symp e = v->body, rest = sym_sub(c, place, sym_num(c, 1));
    for (int d = 0; d < v->ndim; d++) {
        symp whole =
            sym_call(c, "floor", 1, (symp[]){sym_div(c, rest, v->extents[d])});
        symp at = sym_sub(c, rest, sym_mul2(c, whole, v->extents[d]));
        if (d == v->ndim - 1)
            at = rest;
        e = sym_replace_loop(c, e, v->loops[d], sym_add2(c, at, sym_num(c, 1)));
        rest = whole;
    }
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
        i = model_add_dimension(r, out, a->extents[0], a->span);
    if (b->ndim == 2)
        j = model_add_dimension(r, out, b->extents[1], b->span);
    symp inner = a->extents[a->ndim - 1];
    struct loop *l = model_new_loop(c, "h", sym_num(c, 1), inner);
    symp h = sym_loop(c, l);
    symp left =
        a->ndim == 2 ? value_element(c, a, i, h) : value_element(c, a, h, NULL);
    symp right =
        b->ndim == 2 ? value_element(c, b, h, j) : value_element(c, b, h, NULL);
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
    symp k = model_add_dimension(r, out, total, span);
    symp body = NULL;
    for (int i = n - 1; i >= 0; i--) {
        symp place = i ? sym_sub(c, k, ends[i - 1]) : k;
        symp e = element_in_order(c, &args[i], place);
        body = body ? sym_select(c, sym_call(c, "<=", 2, (symp[]){k, ends[i]}),
                                 e, body)
                    : e;
    }
    out->body = body;
    return true;
}

/* Several arguments in the place of an entry's last vector are its elements. */
bool model_gather_arguments(struct resolver *r, const struct entry *e, int *n,
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

/* All elements of an array as a vector. */
struct value value_as_vector(struct resolver *r, const struct value *v)
{
    if (v->ndim == 1)
        return *v;
    struct value out = {.span = v->span};
    symp k = model_add_dimension(r, &out, count_of(r->c, v), v->span);
    out.body = v->ndim ? element_in_order(r->c, v, k) : v->body;
    return out;
}

symp value_as_argument(struct compiler *c, const struct value *v)
{
    return v->ndim ? sym_array(c, v->ndim, v->loops, v->extents, v->body)
                   : v->body;
}

/* The extent named `dim` of an entry, from the arguments that have it. */
symp model_named_extent(const struct entry *e, const struct value *args,
                        const char *dim)
{
    for (int i = 0; i < e->nparameters; i++)
        for (int d = 0; d < e->parameters[i].ndims; d++)
            if (e->parameters[i].dims[d] == dim && args[i].ndim > d)
                return args[i].extents[d];
    return NULL;
}

struct family *family_new(struct resolver *r, struct var *v, struct span span)
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

void family_add(struct model *m, struct family *f)
{
    *m->last_family = f;
    m->last_family = &f->next;
    f->number = m->nfamilies++;
    struct family **p = &f->var->families;
    while (*p)
        p = &(*p)->next_of_var;
    *p = f;
}

/* Leaves f those of its loops that e reads, and those that their ends read. */
static void keep_loops_of(struct family *f, symp e)
{
    bool kept[MAX_LOOPS];
    for (int i = f->nloops - 1; i >= 0; i--) {
        kept[i] = sym_has_loop(e, f->loops[i]);
        for (int k = i + 1; k < f->nloops && !kept[i]; k++)
            kept[i] =
                kept[k] && (sym_has_loop(f->loops[k]->lower, f->loops[i]) ||
                            sym_has_loop(f->loops[k]->upper, f->loops[i]));
    }
    int n = 0;
    for (int i = 0; i < f->nloops; i++)
        if (kept[i])
            f->loops[n++] = f->loops[i];
    f->nloops = n;
}

/* What the `cell` clause of an array function is in: its indices are the
 * loops of the result. */
struct at_cell {
    struct at_arguments arguments;
    const struct expr *label; /* x[i,j] */
    symp at[MAX_DIMS];
};

static symp bind_in_cell(struct compiler *c, const char *name, int nargs,
                         const symp *args, void *context)
{
    struct at_cell *k = context;
    for (int d = 0; d < k->label->nargs && nargs == 0; d++)
        if (k->label->args[d]->name == name)
            return k->at[d];
    return sym_bind_argument(c, name, nargs, args, &k->arguments);
}

/* The result of an array function whose cells are expressions. */
static bool expand_cells(struct resolver *r, const struct entry *f, symp call,
                         const struct value *args, struct value *out,
                         struct span span)
{
    const struct clause_item *cell = entry_clause(f, "cell")->items;
    struct at_cell k = {{f, call->args}, cell->label, {0}};
    *out = (struct value){.span = span};
    for (int d = 0; d < f->result->ndims; d++)
        k.at[d] = model_add_dimension(
            r, out, model_named_extent(f, args, f->result->dims[d]), span);
    out->body = sym_from_library(r->c, cell->value, bind_in_cell, &k);
    return out->body != NULL;
}

/* An array function's result gets a name of its own, so that it is computed
 * once: inverse(S[,]) inside an expression becomes a derived variable, with an
 * element for each turn of the loops that its arguments read. */
bool model_hoist_array_call(struct resolver *r, const struct entry *f,
                            symp call, const struct value *args,
                            struct value *out, struct span span)
{
    struct compiler *c = r->c;
    if (entry_clause(f, "cell"))
        return expand_cells(r, f, call, args, out, span);
    struct var *v = model_get_var(
        r, intern_format(c, "%s.%d", f->name, ++r->nhoisted), span);
    v->role = ROLE_DERIVED;
    v->hidden = true;
    struct family *family = family_new(r, v, span);
    keep_loops_of(family, call);
    const int nloops = family->nloops;
    v->ndim = nloops + f->result->ndims;
    family->whole_call = true;
    family->text = intern_format(c, "%s <- %s", v->name, span_source(c, span));
    symp subs[8];
    *out = (struct value){.span = span};
    for (int d = 0; d < nloops; d++)
        subs[d] = family->lower[d] = sym_loop(c, family->loops[d]);
    for (int d = 0; d < f->result->ndims; d++) {
        symp extent = model_named_extent(f, args, f->result->dims[d]);
        if (!extent) {
            error_at(c, span, "the extent of %s's result is not known",
                     f->name);
            return false;
        }
        family->lower[nloops + d] = sym_num(c, 1);
        family->upper[nloops + d] = extent;
        family->nslices++;
        subs[nloops + d] = model_add_dimension(r, out, extent, span);
    }
    family->body = call;
    family_add(r->m, family);
    out->body = sym_ref(c, v, v->ndim, subs);
    return true;
}

static const char *plural(int n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

void model_wrong_arguments(struct resolver *r, const struct entry *e,
                           struct span span, int n)
{
    struct text t = {0};
    for (int i = 0; i < e->nparameters; i++)
        text_printf(&t, "%s%s", i ? ", " : "", e->parameters[i].name);
    error_at(r->c, span, "%s takes %d %s (%s), not %d", e->name, e->nparameters,
             plural(e->nparameters, "parameter", "parameters"),
             t.data ? t.data : "", n);
    if (e->kind == ENTRY_FUNCTION && n == e->nparameters - 1 &&
        library_find(r->c, ENTRY_DISTRIBUTION, e->name))
        note_at(r->c, span, "what has this distribution stands before '~'");
    text_free(&t);
}

void model_unknown_name(struct resolver *r, enum entry_kind kind,
                        const struct expr *e)
{
    const struct entry *const *all;
    int n = library_all(r->c, &all), k = 0;
    const char **names = NEW_ARRAY(r->c, const char *, 2 * n);
    for (int i = 0; i < n; i++)
        if (all[i]->kind == kind)
            names[k++] = all[i]->name;
    const char *near = text_nearest_name(e->name, names, k);
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
bool model_broadcast(struct resolver *r, const char *name, int n,
                     struct value *args, struct value *out, struct span span)
{
    struct compiler *c = r->c;
    *out = (struct value){.span = span};
    const struct value *shape = NULL;
    for (int i = 0; i < n; i++)
        if (args[i].ndim && (!shape || args[i].ndim > shape->ndim))
            shape = &args[i];
    symp *bodies = NEW_ARRAY(c, symp, n);
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

/* A single number is a matrix of one row, too: inverse(x) is 1 / x. */
static bool of_single_value(struct compiler *c, const struct entry *f,
                            const struct value *args, struct value *out,
                            struct span span)
{
    const struct expr *single = entry_value(f, "single");
    if (!single || args[0].ndim)
        return false;
    struct at_arguments at = {f, &args[0].body};
    *out =
        scalar_value(sym_from_library(c, single, sym_bind_argument, &at), span);
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
        model_unknown_name(r, ENTRY_FUNCTION, e);
        return false;
    }
    bool arrays = false;
    for (int i = 0; f && i < f->nparameters; i++)
        arrays = arrays || f->parameters[i].ndims;
    if (f && f->nparameters != e->nargs && !is_operator) {
        model_wrong_arguments(r, f, e->span, e->nargs);
        return false;
    }
    if (!arrays && !(f && f->result))
        return model_broadcast(r, e->name, e->nargs, args, out, e->span);
    if (of_single_value(c, f, args, out, e->span))
        return true;
    symp *bodies = NEW_ARRAY(c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++) {
        if (f->parameters[i].ndims == 1)
            args[i] = value_as_vector(r, &args[i]);
        if (args[i].ndim < f->parameters[i].ndims) {
            error_at(c, e->args[i]->span,
                     "%s of %s is %s; a single value is given",
                     f->parameters[i].name, f->name,
                     f->parameters[i].ndims == 1 ? "a vector" : "a matrix");
            return false;
        }
        if (args[i].ndim > 2 && f->parameters[i].ndims == 2) {
            error_at(c, e->args[i]->span,
                     "%s of %s is a matrix; here it has %d dimensions",
                     f->parameters[i].name, f->name, args[i].ndim);
            return false;
        }
        bodies[i] = value_as_argument(c, &args[i]);
    }
    symp call = sym_call(c, f->name, e->nargs, bodies);
    if (f->result)
        return model_hoist_array_call(r, f, call, args, out, e->span);
    *out = scalar_value(call, e->span);
    return true;
}

/* rep(x, times): the elements of x, `times` times over; for a vector of times
 * each element its own number of times. */
static void repeat(struct resolver *r, const struct value *x,
                   const struct value *times, struct value *out,
                   struct span span)
{
    struct compiler *c = r->c;
    *out = (struct value){.span = span};
    symp n = count_of(c, x), one = sym_num(c, 1), place;
    if (times->ndim) { /* 1 + the number of ends before k */
        struct value before = {.span = span}, end = {.span = span};
        symp k = model_add_dimension(r, out, sum_over(c, times), span);
        symp i = model_add_dimension(r, &before, n, span);
        symp j = model_add_dimension(r, &end, i, span);
        end.body = element_in_order(c, times, j);
        before.body = sym_call(c, ">", 2, (symp[]){k, sum_over(c, &end)});
        place = sym_add2(c, one, sum_over(c, &before));
    } else {
        symp k = model_add_dimension(r, out, sym_mul2(c, n, times->body), span);
        /* (k - 1/2) / n is far enough from whole numbers for rounding */
        symp round = sym_div(c, sym_sub(c, k, sym_num(c, 0.5)), n);
        place = sym_sub(
            c, k, sym_mul2(c, n, sym_call(c, "floor", 1, (symp[]){round})));
    }
    out->body = x->ndim ? element_in_order(c, x, place) : x->body;
}

/* %*% and t. */
static bool call_matrix(struct resolver *r, const struct expr *e,
                        struct value *args, struct value *out, bool *ok)
{
    const char *f = e->name;
    const int n = e->nargs;
    if (!strcmp(f, "%*%") && n == 2 && !args[0].ndim && !args[1].ndim) {
        *ok = model_broadcast(r, "*", 2, args, out, e->span);
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
    return false;
}

/* max, min and prod of numbers, and of all that arrays hold. */
static bool call_extreme(struct resolver *r, const struct expr *e,
                         const struct value *args, struct value *out, bool *ok)
{
    struct compiler *c = r->c;
    const char *f = e->name;
    const int n = e->nargs;
    const bool extreme = !strcmp(f, "max") || !strcmp(f, "min");
    struct value of = args[0];
    if (!extreme && (strcmp(f, "prod") != 0 || n != 1 || !of.ndim))
        return false;
    bool all_scalar = true;
    for (int i = 0; i < n; i++)
        all_scalar = all_scalar && !args[i].ndim;
    if (all_scalar) {
        symp e1 = of.body;
        for (int i = 1; i < n; i++)
            e1 = sym_call(c, f, 2, (symp[]){e1, args[i].body});
        *out = scalar_value(e1, e->span);
        return true;
    }
    if (n > 1)
        *ok = concatenate(r, n, args, &of, e->span);
    of = value_as_vector(r, &of);
    symp a = value_as_argument(c, &of);
    *out = scalar_value(sym_call(c, f, 1, &a), e->span);
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
        model_broadcast(r, "*", 2, args, &product, e->span);
        *out = scalar_value(sum_over(c, &product), e->span);
        return true;
    }
    if (!strcmp(f, "length") && n == 1) {
        *out = scalar_value(count_of(c, &args[0]), e->span);
        return true;
    }
    if (!strcmp(f, "dim") && n == 1 && args[0].ndim) {
        struct value extents[MAX_DIMS];
        for (int d = 0; d < args[0].ndim; d++)
            extents[d] = scalar_value(args[0].extents[d], e->span);
        *ok = concatenate(r, args[0].ndim, extents, out, e->span);
        return true;
    }
    if (!strcmp(f, "c")) {
        *ok = concatenate(r, n, args, out, e->span);
        return true;
    }
    if (!strcmp(f, "rep") && n == 2) {
        repeat(r, &args[0], &args[1], out, e->span);
        return true;
    }
    return call_matrix(r, e, args, out, ok) ||
           call_extreme(r, e, args, out, ok);
}

static bool value_of_sum(struct resolver *r, const struct expr *e,
                         struct value *out)
{
    struct compiler *c = r->c;
    symp lower = model_whole_of(r, e->args[0]);
    symp upper = lower ? model_whole_of(r, e->args[1]) : NULL;
    if (!upper)
        return false;
    struct loop *l = model_new_loop(c, e->name, lower, upper);
    struct scope inner = {e->name, sym_loop(c, l), r->scope};
    r->scope = &inner;
    bool ok = value_of(r, e->args[2], out);
    r->scope = inner.outer;
    if (ok)
        out->body = sym_sum(c, l, lower, upper, out->body);
    return ok;
}

static bool value_of_list(struct resolver *r, const struct expr *e,
                          struct value *out)
{
    symp *args = NEW_ARRAY(r->c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++) {
        args[i] = model_scalar_of(r, e->args[i]);
        if (!args[i])
            return false;
    }
    const char *name = intern(r->c, SYM_LIST);
    *out = scalar_value(sym_call(r->c, name, e->nargs, args), e->span);
    return true;
}

bool value_of(struct resolver *r, const struct expr *e, struct value *out)
{
    struct compiler *c = r->c;
    switch (e->kind) {
    case EXPR_NUM:
        *out = scalar_value(sym_num(c, e->number), e->span);
        return true;
    case EXPR_NAME:
        return value_of_name(r, e, out);
    case EXPR_RANGE: {
        symp lower, upper;
        if (!range_ends(r, e, &lower, &upper))
            return false;
        *out = (struct value){.span = e->span};
        symp k =
            model_add_dimension(r, out, sym_length(c, lower, upper), e->span);
        out->body = sym_add(c, 3, (symp[]){lower, k, sym_num(c, -1)});
        return true;
    }
    case EXPR_CALL: {
        struct value *args = NEW_ARRAY(c, struct value, e->nargs);
        for (int i = 0; i < e->nargs; i++)
            if (!value_of(r, e->args[i], &args[i]))
                return false;
        /* one name of each function; BUGS's rank(v[], k) is another one */
        struct expr named = *e;
        const struct entry *f = library_find(c, ENTRY_FUNCTION, e->name);
        if (f)
            named.name = f->name;
        if (!strcmp(named.name, "rank") && e->nargs == 2)
            named.name = intern(c, "rank_of");
        e = &named;
        bool ok;
        if (e->nargs && call_builtin(r, e, args, out, &ok))
            return ok;
        return call_library(r, e, args, out);
    }
    case EXPR_SUM:
        return value_of_sum(r, e, out);
    case EXPR_INDEX:
        *out = scalar_value(scope_value(r, e->name), e->span);
        return true;
    case EXPR_LIST:
        return value_of_list(r, e, out);
    case EXPR_ALL:
        error_at(c, e->span, "this can only stand in a subscript");
        return false;
    }
    UNREACHABLE();
}
