/* statement.c: statements to families: loops around them, left-hand sides,
 * canonical distributions and their arguments. */
#include "model/resolve.h"
#include <string.h>

/* A subscript that is no range as written: one value; values that rise by 1,
 * as (t - 1) * 2 + (1:2), which are a range; or other ones. */
static bool resolve_subscript(struct resolver *r, const struct expr *e,
                              struct family *f, int d)
{
    struct compiler *c = r->c;
    struct value v;
    if (!value_of(r, e, &v))
        return false;
    if (v.ndim > 1) {
        error_at(c, e->span, "a subscript is a value or a vector, no matrix");
        return false;
    }
    f->lower[d] = v.body;
    if (!v.ndim)
        return model_check_whole(r, e->span, v.body);
    symp first = sym_replace_loop(c, v.body, v.loops[0], sym_num(c, 1));
    symp rest = sym_sub(c, v.body, sym_loop(c, v.loops[0]));
    f->upper[d] = v.extents[0];
    if (sym_has_loop(rest, v.loops[0])) {
        r->vectors[d].loop = v.loops[0];
        r->vectors[d].body = v.body;
        return true;
    }
    f->lower[d] = first;
    f->upper[d] = sym_add(c, 3, (symp[]){first, v.extents[0], sym_num(c, -1)});
    return true;
}

/* The left-hand side's subscripts; slices stay slices. */
static bool resolve_lhs(struct resolver *r, const struct stmt *s,
                        struct family *f)
{
    struct compiler *c = r->c;
    const struct expr *lhs = s->lhs;
    struct var *v = f->var;
    if (v->ndim == -1)
        v->ndim = lhs->nargs;
    memset(r->vectors, 0, sizeof r->vectors);
    for (int d = 0; d < v->ndim; d++) {
        const struct expr *e = d < lhs->nargs ? lhs->args[d] : NULL;
        if (!e || e->kind == EXPR_ALL) {
            f->lower[d] = sym_num(c, 1);
            f->upper[d] = v->declared[d] ? v->declared[d] : sym_extent(c, v, d);
        } else if (e->kind == EXPR_RANGE) {
            f->lower[d] = model_whole_of(r, e->args[0]);
            f->upper[d] = model_whole_of(r, e->args[1]);
            if (!f->upper[d])
                return false;
        } else if (!resolve_subscript(r, e, f, d)) {
            return false;
        }
        if (!f->lower[d])
            return false;
        if (f->upper[d])
            f->nslices++;
    }
    return true;
}

/* Turns the slices of a scalar statement into loops of its own. */
static bool slices_to_loops(struct resolver *r, struct family *f,
                            struct value *args, int nargs)
{
    struct compiler *c = r->c;
    int k = 0;
    if (f->nloops + f->nslices > MAX_LOOPS) {
        error_at(c, f->span, "loops are nested too deeply");
        return false;
    }
    for (int d = 0; d < f->var->ndim; d++) {
        if (!f->upper[d])
            continue;
        static const char *const names[MAX_DIMS] = {"k", "l", "m", "n",
                                                    "o", "u", "v", "w"};
        symp one = sym_num(c, 1), vector = r->vectors[d].body;
        symp lower = vector ? one : f->lower[d];
        struct loop *l = model_new_loop(c, names[k], lower, f->upper[d]);
        f->loops[f->nloops++] = l;
        symp place =
            sym_add(c, 3, (symp[]){sym_loop(c, l), sym_neg(c, lower), one});
        for (int i = 0; i < nargs; i++)
            if (args[i].ndim > k)
                args[i].body =
                    sym_replace_loop(c, args[i].body, args[i].loops[k], place);
        f->lower[d] = vector ? sym_replace_loop(c, vector, r->vectors[d].loop,
                                                sym_loop(c, l))
                             : sym_loop(c, l);
        f->upper[d] = NULL;
        k++;
    }
    for (int i = 0; i < nargs; i++)
        args[i].ndim = 0;
    f->nslices = 0;
    return true;
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
    struct var *var = model_get_var(r, s->lhs->name, s->lhs->span);
    if (var->ndim == -1)
        var->ndim = s->lhs->nargs ? s->lhs->nargs : v.ndim;
    struct family *f = family_new(r, var, s->span);
    f->text = s->text ? s->text : span_source(c, s->span);
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
        model_broadcast(r, inverse->name, 1, args, &v, s->rhs->span);
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
        if (!slices_to_loops(r, f, &v, 1))
            return;
    } else if (v.ndim) {
        error_at(c, s->rhs->span, "an array is assigned to a single element");
        return;
    }
    f->body = v.body;
    f->ranges = r->ranges;
    family_add(r->m, f);
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
    return model_named_extent(k->entry, k->args, name);
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
            return value_as_argument(c, v);
        return value_element(c, v, args[0], nargs > 1 ? args[1] : NULL);
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
                bodies[i] = value_as_argument(c, &args[i]);
            }
            symp call = sym_call(c, f->name, e->nargs, bodies);
            return model_hoist_array_call(k->r, f, call, args, out, span);
        }
    }
    *out = (struct value){.span = span};
    bool arrays = false;
    for (int i = 0; i < k->entry->nparameters; i++)
        arrays = arrays || k->entry->parameters[i].ndims == 1;
    out->body = sym_from_library(c, e, bind_as, k);
    return out->body != NULL;
}

/* Is the family's distribution about 0 and truncated to what is above it? */
static bool is_folded(const struct family *f)
{
    return f->truncated && f->trunc_lower && sym_is(f->trunc_lower, 0) &&
           !f->trunc_upper && f->nargs && !f->args[0].ndim &&
           sym_is(f->args[0].body, 0);
}

/* What a distribution that stands for another requires is to hold, too. */
static bool keep_requirements(const struct as_context *k, struct family *f)
{
    struct compiler *c = k->r->c;
    const struct clause *require = entry_clause(k->entry, "require");
    for (const struct clause_item *i = require ? require->items : NULL; i;
         i = i->next) {
        symp rule = sym_from_library(c, i->value, bind_as, (void *)k);
        if (!rule)
            return false;
        f->stated = f->stated ? sym_and(c, f->stated, rule) : rule;
    }
    return true;
}

/* Replaces the family's distribution by what it stands for: the clause `as`
 * says so always, `folded` of a symmetric distribution under T(0,). */
static bool canonical(struct resolver *r, struct family *f, struct span span)
{
    for (int depth = 0; depth < 8; depth++) {
        const struct expr *as = entry_value(f->distribution, "as");
        const struct expr *folded =
            is_folded(f) ? entry_value(f->distribution, "folded") : NULL;
        if (!as && folded) {
            as = folded;
            f->truncated = false;
            f->trunc_lower = NULL;
        }
        if (!as)
            return true;
        const struct entry *to =
            as->kind == EXPR_CALL ? library_meant(r->c, f->distribution,
                                                  ENTRY_DISTRIBUTION, as->name)
                                  : NULL;
        if (!to || to->nparameters != as->nargs) {
            error_at(r->c, as->span,
                     "this must name a distribution with its parameters");
            return false;
        }
        struct as_context k = {r, f->distribution, f->args};
        struct value *args = NEW_ARRAY(r->c, struct value, to->nparameters);
        for (int i = 0; i < to->nparameters; i++)
            if (!as_value(&k, as->args[i], &args[i], span))
                return false;
        if (!keep_requirements(&k, f))
            return false;
        f->distribution = to;
        f->args = args;
        f->nargs = to->nparameters;
    }
    return true;
}

/* x[1:2] ~ dsum(a[], b[]): arrays of one shape are summed element by element,
 * as by JAGS. */
static bool sums_by_elements(struct compiler *c, const struct family *f)
{
    const struct expr *how = entry_value(f->distribution, "observable");
    bool yes = how && how->name == intern(c, "sum") && f->nslices > 0;
    for (int i = 0; i < f->nargs; i++)
        yes = yes && f->args[i].ndim == f->nslices;
    return yes;
}

/* The slices of a left-hand side whose distribution is one of single values. */
static bool spread_over_slices(struct resolver *r, struct family *f)
{
    for (int i = 0; i < f->nargs; i++)
        for (int k = 0; f->args[i].ndim == f->nslices && k < f->nslices; k++)
            shape_from(r->c, f, k, f->args[i].extents[k]);
    return slices_to_loops(r, f, f->args, f->nargs);
}
/* The family's arguments are scalars, vectors and matrices as its parameters
 * are; false after an error. */
static bool check_shapes(struct resolver *r, const struct stmt *s,
                         struct family *f)
{
    const struct entry *d = f->distribution;
    for (int i = 0; i < f->nargs; i++) {
        int want = d->parameters[i].ndims, have = f->args[i].ndim;
        if (want == 1 && have != 1) { /* one element, or a matrix */
            f->args[i] = value_as_vector(r, &f->args[i]);
            have = 1;
        }
        if (want && have < want) {
            error_at(r->c, s->rhs->args[i]->span,
                     "%s of %s is a %s; here it has %d dimension%s",
                     d->parameters[i].name, d->name,
                     want == 1 ? "vector" : "matrix", have,
                     have == 1 ? "" : "s");
            return false;
        }
    }
    return true;
}

static bool resolve_arguments(struct resolver *r, const struct stmt *s,
                              struct family *f)
{
    const struct entry *d = f->distribution;
    f->args = NEW_ARRAY(r->c, struct value, s->rhs->nargs + 4);
    f->nargs = s->rhs->nargs;
    for (int i = 0; i < f->nargs; i++)
        if (!value_of(r, s->rhs->args[i], &f->args[i]))
            return false;
    if (!resolve_lhs(r, s, f) ||
        (sums_by_elements(r->c, f) && !spread_over_slices(r, f)) ||
        !model_gather_arguments(r, d, &f->nargs, f->args, s->rhs->span))
        return false;
    if (f->nargs != d->nparameters) {
        model_wrong_arguments(r, d, s->rhs->span, f->nargs);
        return false;
    }
    return check_shapes(r, s, f);
}

static bool resolve_truncation(struct resolver *r, const struct stmt *s,
                               struct family *f)
{
    if (s->lower && !(f->trunc_lower = model_scalar_of(r, s->lower)))
        return false;
    if (s->upper && !(f->trunc_upper = model_scalar_of(r, s->upper)))
        return false;
    f->truncated = f->trunc_lower || f->trunc_upper;
    f->censored = f->truncated && s->truncation != TRUNC_T;
    f->interval = f->truncated && s->truncation == TRUNC_I;
    return true;
}

/* The left side of a distribution of vectors or matrices has their ranges. */
static bool fit_slices(struct resolver *r, const struct stmt *s,
                       struct family *f)
{
    const struct entry *d = f->distribution;
    const int want = d->result->ndims;
    if (f->nslices != want) {
        error_at(r->c, s->lhs->span,
                 "%s is a distribution of a %s: the left-hand side needs "
                 "%d range%s, as in %s[1:n%s]",
                 d->name, want == 1 ? "vector" : "matrix", want,
                 want == 1 ? "" : "s", f->var->name, want == 1 ? "" : ",1:n");
        return false;
    }
    for (int k = 0; k < f->var->ndim; k++)
        if (r->vectors[k].body) {
            error_at(r->c, s->lhs->args[k]->span,
                     "the elements of a draw of %s stand beside each other: "
                     "write a range, as in %s[1:n%s]",
                     d->name, f->var->name, want == 1 ? "" : ",1:n");
            return false;
        }
    for (int k = 0; k < want; k++)
        shape_from(r->c, f, k,
                   model_named_extent(d, f->args, d->result->dims[k]));
    return true;
}

/* That of a distribution of single values may have ranges, an element each. */
static bool fit_elements(struct resolver *r, const struct stmt *s,
                         struct family *f)
{
    const struct entry *d = f->distribution;
    for (int i = 0; f->nslices && i < f->nargs; i++)
        if (d->parameters[i].ndims) {
            error_at(r->c, s->lhs->span,
                     "%s is a distribution of a single value of one %s: the "
                     "left-hand side cannot be a range",
                     d->name, d->parameters[i].name);
            return false;
        }
    if (f->nslices && !spread_over_slices(r, f))
        return false;
    for (int i = 0; i < f->nargs; i++)
        if (f->args[i].ndim && !d->parameters[i].ndims) {
            error_at(r->c, s->rhs->args[i]->span,
                     "a single value is needed for %s, not an array",
                     d->parameters[i].name);
            return false;
        }
    return true;
}

static void resolve_stochastic(struct resolver *r, const struct stmt *s)
{
    struct compiler *c = r->c;
    const struct entry *d = library_find(c, ENTRY_DISTRIBUTION, s->rhs->name);
    struct var *var = model_get_var(r, s->lhs->name, s->lhs->span);
    if (!d) {
        model_unknown_name(r, ENTRY_DISTRIBUTION, s->rhs);
        return;
    }
    struct family *f = family_new(r, var, s->span);
    f->stochastic = true;
    f->text = s->text ? s->text : span_source(c, s->span);
    f->distribution = f->written_distribution = d;
    if (!resolve_arguments(r, s, f) || !resolve_truncation(r, s, f))
        return;
    const bool slices = d->result && d->result->ndims;
    if (slices ? !fit_slices(r, s, f) : !fit_elements(r, s, f))
        return;
    if (!canonical(r, f, s->span))
        return;
    f->ranges = r->ranges;
    family_add(r->m, f);
    if (var->role != ROLE_STOCHASTIC)
        var->role = ROLE_STOCHASTIC;
}

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
    bool single = false;
    if (s->range->kind == EXPR_RANGE) {
        l->lower = model_whole_of(r, s->range->args[0]);
        l->upper = model_whole_of(r, s->range->args[1]);
        if (!l->lower || !l->upper)
            return;
        single = l->lower->kind == SYM_NUM && sym_same(l->lower, l->upper);
        if (single) /* 1:1 is no plate */
            value = l->lower;
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
    if (!single)
        r->loops[r->nloops++] = l;
    model_resolve_stmts(r, s->body);
    if (!single)
        r->nloops--;
    r->scope = inner.outer;
}

void model_resolve_stmts(struct resolver *r, const struct stmt *s)
{
    for (; s; s = s->next) {
        r->ranges = NULL;
        if (s->kind == STMT_FOR)
            resolve_for(r, s);
        else if (s->kind == STMT_STOCHASTIC)
            resolve_stochastic(r, s);
        else
            resolve_deterministic(r, s);
    }
}

void model_resolve_declarations(struct resolver *r, const struct program *p)
{
    struct compiler *c = r->c;
    for (const struct declaration *d = p->declarations; d; d = d->next) {
        struct var *v = model_get_var(r, d->name, d->span);
        v->declared_given = v->declared_given || d->kind == DECL_GIVEN;
        v->declared_observed = v->declared_observed || d->kind == DECL_OBSERVED;
        if (d->ndims || v->ndim == -1)
            model_set_ndim(r, v, d->ndims, d->span);
    }
    for (const struct declaration *d = p->declarations; d; d = d->next) {
        struct var *v = model_get_var(r, d->name, d->span);
        for (int i = 0; i < d->ndims && i < 8; i++)
            if (d->kind == DECL_VAR)
                v->declared[i] = model_scalar_of(r, d->dims[i]);
            else
                (void)model_scalar_of(r, d->dims[i]);
    }
    (void)c;
}
