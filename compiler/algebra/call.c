/* call.c: conditions, choices, and calls of the library's functions, simplified
 * as they are built; text of the library as expressions, which such a call may
 * stand for. */
#include "algebra/inside.h"
#include <math.h>
#include <string.h>

static bool fold_call(const char *name, int n, const symp *args, double *out)
{
    for (int i = 0; i < n; i++)
        if (args[i]->kind != SYM_NUM)
            return false;
    double a = n > 0 ? args[0]->number : 0, b = n > 1 ? args[1]->number : 0;
    const bool nan = isnan(a) || isnan(b);
    if (n == 2) {
        if (!strcmp(name, "<"))
            return *out = a < b, true;
        if (!strcmp(name, "<="))
            return *out = a <= b, true;
        if (!strcmp(name, ">"))
            return *out = a > b, true;
        if (!strcmp(name, ">="))
            return *out = a >= b, true;
        if (!strcmp(name, "=="))
            return *out = a == b, true;
        if (!strcmp(name, "!="))
            return *out = a != b, true;
        if (!strcmp(name, "max"))
            return *out = nan ? NAN : fmax(a, b), true;
        if (!strcmp(name, "min"))
            return *out = nan ? NAN : fmin(a, b), true;
        /* of larger ones the difference has no digits */
        if (!strcmp(name, "log_rising") && a > 0 && a < 1e6 && a + b > 0)
            return *out = lgamma(a + b) - lgamma(a), true;
    }
    if (n == 1) {
        if (!strcmp(name, "exp"))
            return *out = exp(a), true;
        if (!strcmp(name, "log") && a > 0)
            return *out = log(a), true;
        if (!strcmp(name, "log1p") && a > -1)
            return *out = log1p(a), true;
        if (!strcmp(name, "loggam") && a > 0)
            return *out = lgamma(a), true;
        if (!strcmp(name, "abs"))
            return *out = fabs(a), true;
        if (!strcmp(name, "!"))
            return *out = a == 0, true;
    }
    return false;
}

symp sym_plain_call(struct compiler *c, const char *name,
                    const struct entry *entry, int n, const symp *args)
{
    double value;
    if (!strcmp(name, SYM_LIST) && args[0]->kind == SYM_NUM)
        return args[(int)args[0]->number];
    if (fold_call(name, n, args, &value))
        return sym_num(c, value);
    struct sym model = {
        .kind = SYM_CALL, .name = intern(c, name), .entry = entry};
    if (!strncmp(name, "draw_", 5)) /* two draws are never the same */
        model.number = ++c->ndraws;
    return sym_make(c, model, n, args);
}

/* ---- text of the library ----------------------------------------------- */

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

symp sym_bind_argument(struct compiler *c, const char *name, int nargs,
                       const symp *args, void *context)
{
    const struct at_arguments *at = context;
    for (int i = 0; i < at->entry->nparameters; i++) {
        const struct parameter *p = &at->entry->parameters[i];
        symp a = at->args[i];
        if (p->name == name && nargs == 0)
            return a;
        if (p->name == name && a->kind == SYM_ARRAY && nargs == a->nloops) {
            symp element = a->args[0];
            for (int d = 0; d < nargs; d++)
                element = sym_replace_loop(c, element, a->loops[d], args[d]);
            return element;
        }
        for (int d = 0; d < p->ndims && nargs == 0; d++)
            if (p->dims[d] == name && a->kind == SYM_ARRAY && d < a->nloops)
                return a->args[1 + d];
    }
    return NULL;
}

symp sym_clause_at(struct compiler *c, symp call, const char *keyword)
{
    const struct expr *value =
        call->entry ? entry_value(call->entry, keyword) : NULL;
    if (!value)
        return NULL;
    struct at_arguments at = {call->entry, call->args};
    return sym_from_library(c, value, sym_bind_argument, &at);
}

/* ---- conditions and choices ---------------------------------------------- */

symp sym_select(struct compiler *c, symp cond, symp yes, symp no)
{
    if (cond->kind == SYM_NUM)
        return cond->number != 0 ? yes : no;
    if (sym_same(yes, no))
        return yes;
    if (no->kind == SYM_SELECT && sym_same(cond, no->args[0]))
        return sym_select(c, cond, yes, no->args[2]);
    return sym_make(c, (struct sym){.kind = SYM_SELECT}, 3,
                    (symp[]){cond, yes, no});
}

/* end + rest as a number; `otherwise` where it is none. What an end that
 * depends on other loops says holds where the loop stands and not everywhere
 * that it is put. */
static double end_of(struct compiler *c, symp end, symp rest, double otherwise)
{
    if (!end || (end->kind != SYM_NUM && sym_has_any_loop(end)))
        return otherwise;
    symp value = sym_add2(c, end, rest);
    return value->kind == SYM_NUM ? value->number : otherwise;
}

/* The least and the largest value of e, a number or loop + rest, where the
 * loop's ends make them numbers; infinite where they do not. */
static bool range_of(struct compiler *c, symp e, double *least, double *largest)
{
    symp rest;
    const struct loop *l = sym_plain_loop(c, e, &rest);
    if (e->kind == SYM_NUM)
        *least = *largest = e->number;
    if (!l)
        return e->kind == SYM_NUM;
    *least = end_of(c, l->lower, rest, -HUGE_VAL);
    *largest = end_of(c, l->upper, rest, HUGE_VAL);
    if (rest->kind == SYM_NUM && l->upper)
        *largest = fmin(*largest, sym_largest_of(l->upper) + rest->number);
    return true;
}

/* Compares two expressions that differ by a number, or by a loop index and what
 * its ends turn into one: 1 or 0 if all values agree. */
static symp decided(struct compiler *c, const char *name, symp a, symp b)
{
    double least, largest;
    if (!range_of(c, sym_sub(c, a, b), &least, &largest)) {
        double low, high;
        if (!range_of(c, sym_sub(c, b, a), &low, &high))
            return NULL;
        least = -high;
        largest = -low;
    }
    bool all = false, none = least > largest;
    if (!strcmp(name, "=="))
        all = least == 0 && largest == 0, none = least > 0 || largest < 0;
    else if (!strcmp(name, ">="))
        all = least >= 0, none = largest < 0;
    else if (!strcmp(name, "<="))
        all = largest <= 0, none = least > 0;
    return all || none ? sym_num(c, all) : NULL;
}

static bool is_negated(symp term)
{
    for (int i = 0; term->kind == SYM_MUL && i < term->nargs; i++)
        if (term->args[i]->kind == SYM_NUM)
            return term->args[i]->number < 0;
    return term->kind == SYM_NUM && term->number < 0;
}

static bool is_read_in(symp e, const void *other)
{
    return e->kind == SYM_REF && sym_may_have(other, e->var);
}

/* Whether e is a difference whose two sides read one variable, as x[i] - x[j]
 * is; *sides: these. */
static bool has_sides(struct compiler *c, symp e, symp sides[2])
{
    sides[0] = sides[1] = sym_num(c, 0);
    for (int i = 0; e->kind == SYM_ADD && i < e->nargs; i++) {
        symp term = e->args[i];
        const bool less = is_negated(term);
        sides[less] = sym_add2(c, sides[less], less ? sym_neg(c, term) : term);
    }
    return sym_any(sides[0], is_read_in, sides[1]);
}

/* The first subscripts in which two expressions of one shape differ. */
static bool differing_subscripts(symp a, symp b, symp *of_a, symp *of_b)
{
    if (a->kind != b->kind || a->nargs != b->nargs || sym_same(a, b))
        return false;
    for (int i = 0; i < a->nargs; i++) {
        *of_a = a->args[i], *of_b = b->args[i];
        if (sym_same(*of_a, *of_b))
            continue;
        return a->kind == SYM_REF ||
               differing_subscripts(a->args[i], b->args[i], of_a, of_b);
    }
    return false;
}

/* Where a and b are one: f(x[i]) and f(x[j]), or f(x[1]), where i == j, or j is
 * 1. NULL if nowhere, or if they are plain elements. */
static symp one_where(struct compiler *c, symp a, symp b)
{
    symp ends[2];
    if (a->kind == SYM_REF || b->kind == SYM_REF ||
        !differing_subscripts(a, b, &ends[0], &ends[1]))
        return NULL;
    for (int turn = 0; turn < 2; turn++) {
        symp from = ends[!turn], to = ends[turn];
        if (from->kind == SYM_LOOP &&
            sym_same(sym_replace_loop(c, turn ? a : b, from->loop, to),
                     turn ? b : a))
            return sym_eq(c, to, from);
    }
    return NULL;
}

/* A comparison. Where its sides are one it is known, though each may be
 * computed by a function of its own, which rounds otherwise. */
static symp compared(struct compiler *c, const char *name, symp a, symp b)
{
    symp plain = sym_plain_call(c, name, NULL, 2, (symp[]){a, b});
    symp same = plain->kind == SYM_CALL ? one_where(c, a, b) : NULL;
    const bool holds = name[strlen(name) - 1] == '=' && name[0] != '!';
    return same ? sym_select(c, same, sym_num(c, holds), plain) : plain;
}

/* A comparison with 0. Of such a difference its sides are compared: computed
 * alike they round alike, so that they are equal where i is j. Of the
 * difference of products a fused multiply-add leaves what one was rounded by.
 */
static symp compared_with_0(struct compiler *c, const char *name, symp e)
{
    symp sides[2];
    if (has_sides(c, e, sides))
        return compared(c, name, sides[0], sides[1]);
    return sym_plain_call(c, name, NULL, 2, (symp[]){e, sym_num(c, 0)});
}

symp sym_eq(struct compiler *c, symp a, symp b)
{
    double d;
    if (sym_difference(c, a, b, &d))
        return sym_num(c, d == 0);
    symp known = decided(c, "==", a, b);
    if (!known && sym_is(b, 0))
        return compared_with_0(c, "==", a);
    return known ? known : compared(c, "==", a, b);
}

symp sym_and(struct compiler *c, symp a, symp b)
{
    if (sym_is(a, 0) || sym_is(b, 0))
        return sym_num(c, 0);
    if (a->kind == SYM_NUM)
        return b;
    if (b->kind == SYM_NUM)
        return a;
    if (sym_same(a, b))
        return a;
    return sym_plain_call(c, "&&", NULL, 2, (symp[]){a, b});
}

/* ---- calls ------------------------------------------------------------ */

static symp sum_of_logs(struct compiler *c, symp extent, struct loop *from,
                        symp e)
{
    struct loop *k = NEW(c, struct loop);
    *k = (struct loop){.name = "k", .lower = sym_num(c, 1), .upper = extent};
    e = sym_replace_loop(c, e, from, sym_loop(c, k));
    return sym_sum(c, k, k->lower, k->upper, sym_log(c, e));
}

/* logdet of the cells a[k] b[l] A[k,l], a and b > 0: the logs of a and b, and
 * logdet(A). NULL if there are no such a and b. */
static symp scaled_logdet(struct compiler *c, symp array)
{
    symp body = array->args[0], rest = sym_num(c, 1), logs = sym_num(c, 0);
    if (body->kind != SYM_MUL)
        return NULL;
    for (int i = 0; i < body->nargs; i++) {
        symp e = body->args[i];
        const bool row = sym_has_loop(e, array->loops[0]),
                   column = sym_has_loop(e, array->loops[1]);
        if (!sym_positive(e) || (row && column))
            rest = sym_mul2(c, rest, e);
        else
            logs = sym_add2(
                c, logs,
                sum_of_logs(c, array->args[1], array->loops[column], e));
    }
    if (sym_is(logs, 0))
        return NULL;
    symp of = sym_array(c, 2, array->loops, &array->args[1], rest);
    return sym_add2(c, logs, sym_call(c, "logdet", 1, &of));
}

/* logdet of the cells (k == l) a[k,l]: the logs of a[k,k]. NULL if that is not
 * how the array is written. */
static symp diagonal_logdet(struct compiler *c, symp array)
{
    symp on =
        sym_eq(c, sym_loop(c, array->loops[0]), sym_loop(c, array->loops[1]));
    symp body = array->args[0];
    bool found = false;
    for (int i = 0; i < (body->kind == SYM_MUL ? body->nargs : 1); i++) {
        symp times, e = body->kind == SYM_MUL ? body->args[i] : body;
        symp equality = sym_equality_in(c, e, &times);
        found = found || (equality && sym_same(equality, on));
    }
    if (!found)
        return NULL;
    body = sym_replace_loop(c, body, array->loops[1],
                            sym_loop(c, array->loops[0]));
    return sum_of_logs(c, array->args[1], array->loops[0], body);
}

static symp simpler_logdet(struct compiler *c, symp array)
{
    if (array->kind != SYM_ARRAY || array->nloops != 2)
        return NULL;
    symp scaled = scaled_logdet(c, array);
    return scaled ? scaled : diagonal_logdet(c, array);
}

/* trace_solve(a A, B), a the same for all cells of A: a trace_solve(A, B). NULL
 * if there is no such a. */
static symp scaled_trace(struct compiler *c, symp array, symp other)
{
    symp body = array->kind == SYM_ARRAY ? array->args[0] : NULL;
    if (!body || array->nloops != 2 || body->kind != SYM_MUL)
        return NULL;
    symp scale = sym_num(c, 1), rest = sym_num(c, 1);
    for (int i = 0; i < body->nargs; i++) {
        symp e = body->args[i];
        const bool all = !sym_has_loop(e, array->loops[0]) &&
                         !sym_has_loop(e, array->loops[1]);
        symp *to = all ? &scale : &rest;
        *to = sym_mul2(c, *to, e);
    }
    if (sym_is(scale, 1))
        return NULL;
    symp of = sym_array(c, 2, array->loops, &array->args[1], rest);
    return sym_mul2(c, scale,
                    sym_call(c, "trace_solve", 2, (symp[]){of, other}));
}

/* What name says, if that is one of these; else NULL. */
static symp comparison(struct compiler *c, const char *name, int n,
                       const symp *args)
{
    static const char *const comparisons[] = {
        "<", "<=", ">", ">=", "!=", "||", "!"};
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (!strcmp(name, comparisons[i]) && n == 2 && sym_is(args[1], 0))
            return compared_with_0(c, name, args[0]);
        else if (!strcmp(name, comparisons[i]) && strchr("<>!", name[0]) &&
                 n == 2)
            return compared(c, name, args[0], args[1]);
        else if (!strcmp(name, comparisons[i]))
            return sym_plain_call(c, name, NULL, n, args);
    return NULL;
}

symp sym_call(struct compiler *c, const char *name, int n, const symp *args)
{
    if (n == 2 && !strcmp(name, "+"))
        return sym_add2(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "-"))
        return sym_sub(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "*"))
        return sym_mul2(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "/"))
        return sym_div(c, args[0], args[1]);
    if (n == 2 && (!strcmp(name, "^") || !strcmp(name, "pow")))
        return sym_pow(c, args[0], args[1]);
    if (n == 1 && (!strcmp(name, "neg") || !strcmp(name, "-")))
        return sym_neg(c, args[0]);
    if (n == 1 && !strcmp(name, "+"))
        return args[0];
    if (n == 1 && !strcmp(name, "sqrt"))
        return sym_pow(c, args[0], sym_num(c, 0.5));
    if (n == 1 && !strcmp(name, "log"))
        return sym_log(c, args[0]);
    if (n == 1 && !strcmp(name, "exp"))
        return sym_exp(c, args[0]);
    if (n == 2 && (!strcmp(name, "equals") || !strcmp(name, "==")))
        return sym_eq(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "&&"))
        return sym_and(c, args[0], args[1]);
    if (n == 1 && !strcmp(name, "step"))
        return compared_with_0(c, ">=", args[0]);
    if (n == 1 && !strcmp(name, "logdet")) {
        symp simpler = simpler_logdet(c, args[0]);
        if (simpler)
            return simpler;
    }
    if (n == 2 && !strcmp(name, "trace_solve")) {
        symp scaled = scaled_trace(c, args[0], args[1]);
        if (scaled)
            return scaled;
    }
    if (n == 3 && (!strcmp(name, "ifelse") || !strcmp(name, "if_else")))
        return sym_select(c, args[0], args[1], args[2]);
    bool ordered = n == 2 && (!strcmp(name, ">=") || !strcmp(name, "<="));
    symp known = ordered ? decided(c, name, args[0], args[1]) : NULL;
    if (known)
        return known;
    known = comparison(c, name, n, args);
    if (known)
        return known;
    const struct entry *entry =
        library_find(c, ENTRY_FUNCTION, intern(c, name));
    if (entry && entry_value(entry, "as") && entry->nparameters == n) {
        struct at_arguments at = {entry, args};
        return sym_from_library(c, entry_value(entry, "as"), sym_bind_argument,
                                &at);
    }
    return sym_plain_call(c, entry ? entry->name : name, entry, n, args);
}

symp sym_determinant_of(symp e)
{
    const bool is = e->kind == SYM_CALL && !strcmp(e->name, "logdet");
    return is ? e->args[0] : NULL;
}

symp sym_inverse_of(struct compiler *c, symp e)
{
    const bool is = e->kind == SYM_CALL &&
                    e->entry == library_standard(c, ENTRY_FUNCTION, "inverse");
    return is ? e->args[0] : NULL;
}
