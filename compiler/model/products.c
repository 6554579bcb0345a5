/* products.c: recursions that multiply, in closed form. Of stick breaking,
 *     rest[1] <- 1    rest[j+1] <- rest[j] * (1 - v[j])    pi[j] <- v[j] *
 * rest[j] every pi[r] is kept in memory, and depends on many v; but it is v[r]
 * times the product of 1 - v[j], j < r, and so its logarithm a sum with terms
 * of single v. A full conditional of v looks at the density in this form
 * (condition.c). So it is where logarithms are added, or each piece is of what
 * those before leave: pi[j] <- v[j] * (1 - sum(pi[1:(j-1)])).
 *
 * Sums of such products over r are met too, as in what is left for the last
 * one: of (1 - b[r]) * b[1] * ... * b[r-1] all but two ends cancel. */
#include "model/resolve.h"
#include <string.h>

struct closing {
    const struct model *m;
    const struct var *target;
    struct loop *at; /* the index of every product: equal ones are the same */
    int depth;
    bool failed;
};

static symp close_node(struct compiler *c, symp e, void *context);

/* ---- products ------------------------------------------------------------ */

static symp with_index(struct compiler *c, const struct closing *k, symp e,
                       symp value)
{
    return sym_replace_loop(c, e, k->at, value);
}

static void split_power(struct compiler *c, symp e, symp *base, symp *exponent)
{
    const bool power = e->kind == SYM_POW;
    *base = power ? e->args[0] : e;
    *exponent = power ? e->args[1] : sym_num(c, 1);
}

/* Whether a is f(at), b is 1 / f(at - 1): their product from 1 to n is
 * f(n) / f(0). */
static bool cancels(struct compiler *c, const struct closing *k, symp a, symp b)
{
    symp base[2], exponent[2];
    split_power(c, a, &base[0], &exponent[0]);
    split_power(c, b, &base[1], &exponent[1]);
    symp next = sym_add2(c, sym_loop(c, k->at), sym_num(c, 1));
    return sym_has_loop(base[0], k->at) &&
           sym_is(sym_add2(c, exponent[0], exponent[1]), 0) &&
           sym_same(base[0], with_index(c, k, base[1], next));
}

/* The product of body for k->at from 1 to n. */
static symp product(struct compiler *c, const struct closing *k, symp n,
                    symp body)
{
    symp one[1] = {body};
    const symp *factors = body->kind == SYM_MUL ? body->args : one;
    const int nfactors = body->kind == SYM_MUL ? body->nargs : 1;
    symp outside = sym_num(c, 1), inside = outside;
    bool *taken = NEW_ARRAY(c, bool, nfactors);
    for (int i = 0; i < nfactors; i++)
        for (int j = 0; j < nfactors && !taken[i]; j++) {
            if (i == j || taken[j] || !cancels(c, k, factors[i], factors[j]))
                continue;
            taken[i] = taken[j] = true;
            outside =
                sym_mul(c, 3,
                        (symp[]){outside, with_index(c, k, factors[i], n),
                                 with_index(c, k, factors[j], sym_num(c, 1))});
        }
    for (int i = 0; i < nfactors; i++) {
        if (!taken[i] && !sym_has_loop(factors[i], k->at))
            outside = sym_mul2(c, outside, sym_pow(c, factors[i], n));
        else if (!taken[i])
            inside = sym_mul2(c, inside, factors[i]);
    }
    enum { FEW = 3 };
    if (n->kind == SYM_NUM && n->number <= FEW) {
        for (int i = 1; i <= n->number; i++)
            outside =
                sym_mul2(c, outside, with_index(c, k, inside, sym_num(c, i)));
        return outside;
    }
    if (sym_is(inside, 1) || sym_is(with_index(c, k, inside, n), 0))
        return sym_mul2(c, outside, sym_is(inside, 1) ? inside : sym_num(c, 0));
    symp array = sym_array(c, 1, (struct loop *[]){k->at}, &n, inside);
    return sym_mul2(c, outside, sym_call(c, "prod", 1, &array));
}

/* ---- recursions ---------------------------------------------------------- */

/* The body of f where its loops have these values, all in closed form. */
static symp closed_body(struct compiler *c, struct closing *k, symp body,
                        const struct family *f, const symp *values)
{
    body = model_substitute_derived(c, body);
    body = sym_replace_loops(c, body, f->loops, f->nloops, values);
    return sym_map(c, body, close_node, k);
}

/* What f says of x[.., t] along dimension d. */
struct recursion {
    enum { NO_RECURSION, TIMES, PLUS, OF_REST } kind;
    symp by;    /* the distance of x[.., t - 1] from `whole` times it, or
                   x[.., t - 1] plus it; or it times ... */
    symp whole; /* ... this without the sum of x from the first to t - 1 */
};

struct sums {
    const struct model *m;
    const struct family *f;
    int dim;
    symp start;
};

/* The sum of all elements of f's array along the dimension, from the first to
 * the one before f's, is put as the target. */
static symp put_sum(struct compiler *c, symp e, void *context)
{
    const struct sums *k = context;
    const struct family *f = k->f;
    if (e->kind != SYM_SUM || e->args[2]->kind != SYM_REF ||
        e->args[2]->var != f->var || !sym_same(e->args[0], k->start) ||
        !sym_same(e->args[1], sym_sub(c, f->lower[k->dim], sym_num(c, 1))))
        return NULL;
    for (int i = 0; i < f->var->ndim; i++) {
        symp at = i == k->dim ? sym_loop(c, e->loop) : f->lower[i];
        if (!sym_same(e->args[2]->args[i], at))
            return NULL;
    }
    return sym_target(c);
}

/* body as the target's coefficient and a rest, both free of f's array. */
static bool is_affine(struct compiler *c, const struct family *f, symp body,
                      symp *slope, symp *rest)
{
    struct collected terms;
    if (sym_has_var(body, f->var) || !sym_has_target(body))
        return false;
    sym_collect(c, body, false, &terms);
    *slope = terms.n ? terms.coefficient[0] : NULL;
    *rest = terms.rest;
    return !terms.overflow && terms.n == 1 &&
           terms.statistic[0]->kind == SYM_TARGET;
}

struct within {
    symp at, lower, upper;
};

/* Conditions on k->at, which is between k->lower and k->upper. */
static symp holds(struct compiler *c, symp e, void *context)
{
    const struct within *k = context;
    double beyond;
    if (e->kind != SYM_CALL || e->nargs != 2 || !sym_same(e->args[0], k->at))
        return NULL;
    if (!strcmp(e->name, "=="))
        return (sym_difference(c, e->args[1], k->upper, &beyond) &&
                beyond > 0) ||
                       (sym_difference(c, k->lower, e->args[1], &beyond) &&
                        beyond > 0)
                   ? sym_num(c, 0)
                   : NULL;
    bool above = !strcmp(e->name, ">=") && sym_same(e->args[1], k->lower);
    bool below = !strcmp(e->name, "<=") && sym_same(e->args[1], k->upper);
    return above || below ? sym_num(c, 1) : NULL;
}

/* What the statements say of ref, an element of another array that depends on
 * f's; NULL: it is none, or they do not tell. */
static symp from_statements(struct compiler *c, symp ref, void *context)
{
    const struct sums *k = context;
    symp value = NULL;
    bool told;
    if (ref->kind != SYM_REF || !ref->var->stored || ref->var == k->f->var ||
        !model_derived_depends(k->m, ref->var, k->f->var))
        return NULL;
    for (const struct family *f = ref->var->families; f; f = f->next_of_var) {
        symp values[MAX_LOOPS], where = model_where_defined(c, f, ref, values);
        struct family alone = *f;
        alone.recursive = false;
        for (int i = 0; i < k->f->nloops; i++) {
            struct loop *l = k->f->loops[i];
            struct within range = {sym_loop(c, l), l->lower, l->upper};
            where = l->lower ? sym_map(c, where, holds, &range) : where;
        }
        if (sym_is(where, 0))
            continue;
        if (f->stochastic || f->nslices || f->whole_call ||
            !model_substitutable(c, &alone, &told) || !told)
            return NULL;
        symp body = sym_replace_loops(c, model_substitute_derived(c, f->body),
                                      f->loops, f->nloops, values);
        value = value ? sym_select(c, where, body, value) : body;
    }
    return value;
}

static struct recursion recursion_of(struct compiler *c, const struct model *m,
                                     const struct family *f, int d, symp start)
{
    symp before[MAX_DIMS], slope, rest, one = sym_num(c, 1);
    struct sums sums = {m, f, d, start};
    for (int i = 0; i < f->var->ndim; i++)
        before[i] = i == d ? sym_sub(c, f->lower[i], one) : f->lower[i];
    symp body = sym_map(c, model_substitute_derived(c, f->body),
                        from_statements, &sums);
    symp last = sym_replace(c, body, sym_ref(c, f->var, f->var->ndim, before),
                            sym_target(c));
    if (is_affine(c, f, last, &slope, &rest))
        return sym_is(slope, 1) ? (struct recursion){PLUS, rest, NULL}
                                : (struct recursion){
                                      TIMES, slope,
                                      sym_div(c, rest, sym_sub(c, one, slope))};
    symp all = sym_map(c, body, put_sum, &sums);
    if (!is_affine(c, f, all, &slope, &rest))
        return (struct recursion){NO_RECURSION, NULL, NULL};
    symp by = sym_neg(c, slope);
    return (struct recursion){OF_REST, by, sym_div(c, rest, by)};
}

/* Whether h defines the element at `start` along dimension d of each recursion
 * that f is. */
static bool begins_at(struct compiler *c, const struct family *h,
                      const struct family *f, int d, symp start)
{
    if (h == f || h->stochastic || h->nslices || !sym_same(h->lower[d], start))
        return false;
    for (int i = 0; i < f->var->ndim; i++) {
        symp offset, other;
        const struct loop *l = sym_plain_loop(c, f->lower[i], &offset);
        const struct loop *k = sym_plain_loop(c, h->lower[i], &other);
        if (i != d &&
            (!l != !k ||
             !sym_same(l ? offset : f->lower[i], l ? other : h->lower[i]) ||
             (l && (sym_has_any_loop(l->lower) || sym_has_any_loop(l->upper) ||
                    !sym_same(l->lower, k->lower) ||
                    !sym_same(l->upper, k->upper)))))
            return false;
    }
    return true;
}

/* first times the product of body to n; a factor of it that goes on before body
 * is of the product, as in (1 - v[1]) (1 - v[2]) ... */
static symp product_from(struct compiler *c, const struct closing *k,
                         symp first, symp n, symp body)
{
    symp one = sym_num(c, 1), before = with_index(c, k, body, sym_num(c, 0));
    for (int i = 0; i < (first->kind == SYM_MUL ? first->nargs : 1); i++) {
        const bool whole = first->kind != SYM_MUL;
        if (!sym_same(whole ? first : first->args[i], before))
            continue;
        symp at = sym_sub(c, sym_loop(c, k->at), one);
        return sym_mul2(
            c, whole ? one : sym_cofactor(c, first, i),
            product(c, k, sym_add2(c, n, one), with_index(c, k, body, at)));
    }
    return sym_mul2(c, first, product(c, k, n, body));
}

/* The element n behind the first, whose value is `first`; `by` is for the
 * element k->at behind it, `here` for this one. */
static symp by_steps(struct compiler *c, const struct closing *k,
                     const struct recursion *r, symp first, symp n, symp by,
                     symp here)
{
    symp one = sym_num(c, 1);
    symp left = r->whole ? sym_sub(c, r->whole, first) : NULL;
    if (r->kind == TIMES)
        return sym_is(r->whole, 0)
                   ? product_from(c, k, first, n, by)
                   : sym_sub(c, r->whole, product_from(c, k, left, n, by));
    if (r->kind == OF_REST)
        return sym_mul2(
            c, here,
            product_from(c, k, left, sym_sub(c, n, one), sym_sub(c, one, by)));
    struct loop *l = NEW(c, struct loop);
    *l = (struct loop){.name = "l", .lower = one, .upper = n};
    return sym_add2(
        c, first, sym_sum(c, l, one, n, with_index(c, k, by, sym_loop(c, l))));
}

/* The value at ref by the recursion that f is along d, and the statement where
 * it begins, if that is of the form, too; NULL if that is not told. */
static symp by_recursion(struct compiler *c, struct closing *k,
                         const struct family *f, int d, symp ref,
                         const struct family **begins)
{
    symp offset, values[MAX_LOOPS], args[MAX_DIMS];
    const struct loop *t = sym_plain_loop(c, f->lower[d], &offset);
    struct family alone = *f;
    bool told;
    alone.recursive = false;
    if (!t || !t->lower || sym_has_any_loop(t->lower) ||
        !model_substitutable(c, &alone, &told) || !told ||
        sym_has_loop_of(offset, f->loops, f->nloops))
        return NULL;
    symp start = sym_add(c, 3, (symp[]){t->lower, offset, sym_num(c, -1)});
    struct recursion r = recursion_of(c, k->m, f, d, start);
    if (!r.kind || (r.whole && sym_has_loop(r.whole, t)))
        return NULL;
    for (int i = 0; i < ref->nargs; i++)
        args[i] = i == d ? start : ref->args[i];
    symp first = sym_ref(c, ref->var, ref->nargs, args), value = NULL;
    for (const struct family *h = f->var->families; h; h = h->next_of_var)
        if (begins_at(c, h, f, d, start)) {
            (void)model_where_defined(c, h, first, values);
            value = closed_body(c, k, h->body, h, values);
            *begins = r.kind == OF_REST ? NULL : h;
        }
    if (!value)
        return NULL;
    (void)model_where_defined(c, f, ref, values);
    if (r.whole)
        r.whole = closed_body(c, k, r.whole, f, values);
    symp here = closed_body(c, k, r.by, f, values);
    for (int i = 0; i < f->nloops; i++)
        if (f->loops[i] == t)
            values[i] = sym_add(
                c, 3, (symp[]){sym_loop(c, k->at), t->lower, sym_num(c, -1)});
    return by_steps(c, k, &r, value, sym_sub(c, ref->args[d], start),
                    closed_body(c, k, r.by, f, values), here);
}

/* Whether ref is an element of f whatever the loops: of no other then. */
static bool is_surely_of(struct compiler *c, const struct family *f, symp ref)
{
    symp values[MAX_LOOPS];
    return sym_is(model_where_defined(c, f, ref, values), 1);
}

/* ref, to a derived node kept in memory, in closed form. */
static symp closed_form(struct compiler *c, struct closing *k, symp ref)
{
    enum { DEEPEST = 6 };
    const struct family *by = NULL, *begins = NULL, *only = NULL;
    symp value = NULL;
    bool told;
    for (const struct family *f = ref->var->families; f; f = f->next_of_var)
        only = is_surely_of(c, f, ref) ? f : only;
    if (k->depth == DEEPEST)
        k->failed = true;
    if (k->failed)
        return ref;
    k->depth++;
    for (const struct family *f = ref->var->families; f; f = f->next_of_var)
        for (int d = 0;
             d < ref->nargs && !value && (f->recursive || f->sequence); d++) {
            if (f->stochastic || f->nslices || f->whole_call)
                continue;
            value = by_recursion(c, k, f, d, ref, &begins);
            by = value ? f : NULL;
        }
    for (const struct family *f = ref->var->families; f; f = f->next_of_var) {
        symp values[MAX_LOOPS], where = model_where_defined(c, f, ref, values);
        if (f == by || f == begins || sym_is(where, 0) || (only && f != only))
            continue;
        struct family alone = *f;
        alone.recursive = false;
        k->failed =
            k->failed || !model_substitutable(c, &alone, &told) || !told;
        if (k->failed)
            break;
        symp body = closed_body(c, k, f->body, f, values);
        value = value ? sym_select(c, where, body, value) : body;
    }
    k->depth--;
    k->failed = k->failed || !value;
    return k->failed ? ref : value;
}

/* Elements of the target's array that are constants, as in v[K] <- 1. */
static symp with_constants(struct compiler *c, symp ref)
{
    symp value = ref;
    for (const struct family *f = ref->var->families; f; f = f->next_of_var) {
        symp values[MAX_LOOPS];
        if (!f->stochastic && f->body && f->body->kind == SYM_NUM)
            value = sym_select(c, model_where_defined(c, f, ref, values),
                               f->body, value);
    }
    return value;
}

static symp close_node(struct compiler *c, symp e, void *context)
{
    struct closing *k = context;
    if (e->kind != SYM_REF)
        return NULL;
    if (e->var == k->target)
        return with_constants(c, e);
    return e->var->stored && model_derived_depends(k->m, e->var, k->target)
               ? closed_form(c, k, e)
               : NULL;
}

/* ---- sums ---------------------------------------------------------------- */

struct span_of {
    struct loop *loop;
    symp lower, upper;
};

static symp settled_sum(struct compiler *c, const struct closing *k,
                        struct span_of s, symp body);

/* The last subscript in dimension d of a derived variable, by its statements.
 */
static symp last_of(struct compiler *c, const struct var *v, int d, symp extent)
{
    symp last = NULL;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        symp offset, end = f->upper[d] ? f->upper[d] : f->lower[d];
        const struct loop *l = sym_plain_loop(c, end, &offset);
        if (l && l->upper)
            end = sym_add2(c, l->upper, offset);
        double more;
        if (sym_has_any_loop(end))
            return extent;
        if (!last || sym_is(last, 1) ||
            (sym_difference(c, end, last, &more) && more > 0))
            last = end;
        else if (!sym_is(end, 1) && !sym_difference(c, end, last, &more))
            return extent;
    }
    return last ? last : extent;
}

double model_last_stated(struct compiler *c, const struct var *v, int d)
{
    symp last = v->families && !v->declared[d] ? last_of(c, v, d, sym_num(c, 0))
                                               : sym_num(c, 0);
    return last->kind == SYM_NUM ? last->number : 0;
}

static bool is_loop(symp e, const struct loop *l)
{
    return e->kind == SYM_LOOP && e->loop == l;
}

/* Narrows a and b by a condition l >= a, l <= b, or both; false if it is
 * another. */
static bool narrows(symp condition, const struct loop *l, symp *a, symp *b)
{
    if (condition->kind != SYM_CALL || condition->nargs != 2)
        return false;
    if (!strcmp(condition->name, "&&"))
        return narrows(condition->args[0], l, a, b) &&
               narrows(condition->args[1], l, a, b);
    if (!is_loop(condition->args[0], l) || sym_has_loop(condition->args[1], l))
        return false;
    if (!strcmp(condition->name, ">="))
        *a = condition->args[1];
    else if (!strcmp(condition->name, "<="))
        *b = condition->args[1];
    else
        return false;
    return true;
}

/* Where the condition of a choice holds at one end of the range, or from some
 * index on to the end: the sum of what it says there, and the rest of the range
 * in *s with what is summed in it. NULL: it is of another kind. Each statement
 * that a choice comes from has an element, so no part counts as less than
 * empty. */
static symp piece(struct compiler *c, const struct closing *k,
                  struct span_of *s, symp *body)
{
    symp condition = (*body)->args[0], yes = (*body)->args[1],
         no = (*body)->args[2], one = sym_num(c, 1);
    if (condition->kind == SYM_CALL && !strcmp(condition->name, "==")) {
        int side = is_loop(condition->args[0], s->loop) ? 0 : 1;
        symp at = condition->args[1 - side];
        if (!is_loop(condition->args[side], s->loop))
            return NULL;
        bool last = sym_same(at, s->upper);
        if (!last && !sym_same(at, s->lower))
            return NULL;
        symp *end = last ? &s->upper : &s->lower;
        *end = last ? sym_sub(c, *end, one) : sym_add2(c, *end, one);
        *body = no;
        return sym_replace_loop(c, yes, s->loop, at);
    }
    struct span_of front = *s;
    symp a = s->lower, b = s->upper;
    double skipped;
    if (!narrows(condition, s->loop, &a, &b) || !sym_same(b, s->upper) ||
        !sym_difference(c, a, s->lower, &skipped) || skipped < 0)
        return NULL;
    front.upper = sym_sub(c, a, one);
    s->lower = a;
    *body = yes;
    return settled_sum(c, k, front, no);
}

/* The sum of c (1 - b[r]) b[1] ... b[r-1]: the products that it begins and ends
 * with. NULL: it is no such sum. */
static symp telescoped(struct compiler *c, const struct closing *k,
                       struct span_of s, symp body)
{
    for (int i = 0; body->kind == SYM_MUL && i < body->nargs; i++) {
        symp e = body->args[i], offset;
        symp array =
            e->kind == SYM_CALL && !strcmp(e->name, "prod") ? e->args[0] : NULL;
        if (!array || array->kind != SYM_ARRAY || array->nloops != 1 ||
            array->loops[0] != k->at ||
            sym_plain_loop(c, array->args[1], &offset) != s.loop ||
            sym_has_loop(array->args[0], s.loop))
            continue;
        symp one = sym_num(c, 1), b = array->args[0];
        symp next = with_index(c, k, b, sym_add2(c, array->args[1], one));
        symp scale =
            sym_div(c, sym_cofactor(c, body, i), sym_sub(c, one, next));
        if (sym_has_loop(scale, s.loop))
            continue;
        symp first = sym_add2(c, s.lower, offset);
        symp last = sym_add(c, 3, (symp[]){s.upper, offset, one});
        return sym_mul2(
            c, scale,
            sym_sub(c, product(c, k, first, b), product(c, k, last, b)));
    }
    return NULL;
}

/* Of terms f(r) - f(r - 1) of the body, which are taken out of it, what is left
 * of their sums: f at the last index less f before the first. */
static symp ends_of_differences(struct compiler *c, struct span_of s,
                                symp *body)
{
    symp total = sym_num(c, 0), one = sym_num(c, 1), e = *body;
    symp next = sym_add2(c, sym_loop(c, s.loop), one);
    for (int i = 0; e->kind == SYM_ADD && i < e->nargs; i++)
        for (int j = 0; j < e->nargs; j++) {
            symp last = e->args[i], first = e->args[j];
            if (!sym_has_loop(last, s.loop) ||
                !sym_same(sym_replace_loop(c, first, s.loop, next),
                          sym_neg(c, last)))
                continue;
            symp ends[] = {total, sym_replace_loop(c, last, s.loop, s.upper),
                           sym_replace_loop(c, first, s.loop, s.lower)};
            *body = sym_sub(c, *body, sym_add2(c, last, first));
            total = sym_add(c, 3, ends);
            break;
        }
    return total;
}

static symp settled_sum(struct compiler *c, const struct closing *k,
                        struct span_of s, symp body)
{
    symp total = sym_num(c, 0), more;
    if (s.upper->kind == SYM_EXTENT && s.upper->var->role == ROLE_DERIVED)
        s.upper = last_of(c, s.upper->var, s.upper->dim, s.upper);
    double length;
    while (body->kind == SYM_SELECT && (more = piece(c, k, &s, &body)))
        total = sym_add2(c, total, more);
    if (sym_difference(c, s.upper, s.lower, &length) && length < 0)
        return total;
    if (sym_same(s.lower, s.upper))
        return sym_add2(c, total, sym_replace_loop(c, body, s.loop, s.lower));
    total = sym_add2(c, total, ends_of_differences(c, s, &body));
    if (body->kind == SYM_ADD) {
        for (int i = 0; i < body->nargs; i++)
            total = sym_add2(c, total, settled_sum(c, k, s, body->args[i]));
        return total;
    }
    symp ends = telescoped(c, k, s, body);
    return sym_add2(c, total,
                    ends ? ends : sym_sum(c, s.loop, s.lower, s.upper, body));
}

symp model_constant_sum(struct compiler *c, symp e)
{
    struct closing k = {.at = NEW(c, struct loop)};
    struct span_of all = {e->loop, e->args[0], e->args[1]};
    k.at->name = "h";
    symp sum = settled_sum(c, &k, all, e->args[2]);
    return sum->kind == SYM_NUM ? sum : NULL;
}

static symp log_of(symp e)
{
    return e->kind == SYM_CALL && !strcmp(e->name, "log") ? e->args[0] : NULL;
}

/* What exp(e) is a product of, and is not in the exponent then: f of log(f),
 * the product of sums of logarithms. NULL: nothing. */
static symp factor_of(struct compiler *c, const struct closing *k, symp e)
{
    symp f = log_of(e->kind == SYM_SUM ? e->args[2] : e);
    if (e->kind != SYM_SUM || !f)
        return f;
    if (sym_has_loop(f, k->at))
        return NULL;
    symp less = sym_sub(c, e->args[0], sym_num(c, 1));
    return product(
        c, k, sym_sub(c, e->args[1], less),
        sym_replace_loop(c, f, e->loop, sym_add2(c, sym_loop(c, k->at), less)));
}

static symp exp_as_product(struct compiler *c, const struct closing *k, symp e)
{
    if (e->kind == SYM_SELECT)
        return sym_select(c, e->args[0], exp_as_product(c, k, e->args[1]),
                          exp_as_product(c, k, e->args[2]));
    symp all = sym_num(c, 1), exponent = sym_num(c, 0);
    const bool sum = e->kind == SYM_ADD;
    for (int i = 0; i < (sum ? e->nargs : 1); i++) {
        symp term = sum ? e->args[i] : e, f = factor_of(c, k, term);
        if (f)
            all = sym_mul2(c, all, f);
        else
            exponent = sym_add2(c, exponent, term);
    }
    return sym_is(exponent, 0)
               ? all
               : sym_mul2(c, all, sym_call(c, "exp", 1, &exponent));
}

static symp settled(struct compiler *c, const struct closing *k, symp e)
{
    if (!sym_has_var(e, k->target) || e->kind == SYM_REF)
        return e;
    symp *args = NEW_ARRAY(c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        args[i] = settled(c, k, e->args[i]);
    if (e->kind == SYM_SUM)
        return settled_sum(c, k, (struct span_of){e->loop, args[0], args[1]},
                           args[2]);
    if (e->kind == SYM_CALL && !strcmp(e->name, "exp"))
        return exp_as_product(c, k, args[0]);
    symp array = e->nargs == 1 ? args[0] : NULL;
    if (e->kind == SYM_CALL && !strcmp(e->name, "prod") &&
        array->kind == SYM_ARRAY && array->nloops == 1 &&
        array->loops[0] != k->at)
        return product(c, k, array->args[1],
                       sym_replace_loop(c, array->args[0], array->loops[0],
                                        sym_loop(c, k->at)));
    return sym_rebuild(c, e, args);
}

/* ---- subscripts ---------------------------------------------------------- */

static bool binds(symp e, const void *loop)
{
    for (int i = 0; i < e->nloops; i++)
        if (e->loops[i] == loop)
            return true;
    return e->kind == SYM_SUM && e->loop == loop;
}

static bool has_bound(symp e, symp all)
{
    if (e->kind == SYM_LOOP && sym_any(all, binds, e->loop))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (has_bound(e->args[i], all))
            return true;
    return false;
}

/* What stands in dimension d wherever e reads v; NULL in *at: nothing yet.
 * False if it differs. */
static bool one_subscript(symp e, const struct var *v, int d, symp *at)
{
    if (e->kind == SYM_REF && e->var == v) {
        if (*at && !sym_same(*at, e->args[d]))
            return false;
        *at = e->args[d];
    }
    for (int i = 0; i < e->nargs; i++)
        if (!one_subscript(e->args[i], v, d, at))
            return false;
    return true;
}

/* e where it has to do with an element of f: where all that it reads of f's
 * array has the subscript g[i], that is in f's range. */
static symp where_it_hits(struct compiler *c, symp e, const struct family *f)
{
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset, at = NULL;
        const struct loop *l =
            f->upper[d] ? NULL : sym_plain_loop(c, f->lower[d], &offset);
        if (!l || !l->lower || !sym_is(offset, 0) ||
            !one_subscript(e, f->var, d, &at) || !at || has_bound(at, e))
            continue;
        struct within k = {at, l->lower, l->upper};
        e = sym_map(c, e, holds, &k);
    }
    return e;
}

/* ---- what a conditional asks --------------------------------------------- */

static bool has_log(symp e, const void *unused)
{
    (void)unused;
    return log_of(e) != NULL;
}

static bool is_product(symp e, const void *unused)
{
    return e->kind == SYM_CALL &&
           (!strcmp(e->name, "prod") ||
            (!strcmp(e->name, "exp") && sym_any(e, has_log, unused)));
}

symp model_by_products(struct compiler *c, const struct model *m, symp e,
                       const struct family *target)
{
    struct closing k = {
        .m = m, .target = target->var, .at = NEW(c, struct loop)};
    k.at->name = "h";
    symp closed = sym_map(c, e, close_node, &k);
    if (k.failed || (closed == e && !sym_any(e, is_product, NULL)))
        return NULL;
    closed = where_it_hits(c, closed, target);
    /* products of its own first: those of sums are looked for among them */
    return settled(c, &k, settled(c, &k, closed));
}
