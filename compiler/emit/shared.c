/* shared.c: sums and array functions that are the same at all instances of
 * a part, as sd(a[]) and the mean in a[j] - mean(a[]) are in every row, are
 * computed before its loops; those that are the same in the innermost loop, as
 * sum(rate[i,]) where each visit k to i has a count, before that, and so are
 * calls, as exp(a[i]); and sums that stand more than once in one instance are
 * computed once. A device that knows that an inner sum has few terms computes
 * their calls that all rows have in common before these, too, and so what a
 * function makes of arrays that they have in common (`code_in_rows`). */
#include "emit/emit.h"

/* The indices that the text so far, and the sums around, have opened. */
struct scope {
    const struct emitter *e;
    const struct loop *bound[16];
    int nbound;
};

static bool is_open(const struct scope *k, const struct loop *l)
{
    for (int i = 0; i < k->nbound; i++)
        if (k->bound[i] == l)
            return true;
    for (int i = 0; i < k->e->nloops; i++)
        if (k->e->loops[i].loop == l)
            return true;
    return false;
}

/* Whether x has one value before the loops. */
static bool is_settled(struct scope *k, symp x)
{
    int depth = k->nbound, n = 0;
    if (x->kind == SYM_PARAM || x->kind == SYM_TARGET)
        return false;
    if (sym_is_draw(x, NULL))
        return false;
    if (x->kind == SYM_LOOP)
        return is_open(k, x->loop);
    if (x->kind == SYM_SUM)
        n = 1;
    else if (x->kind == SYM_ARRAY)
        n = x->nloops;
    if (depth + n > 16)
        return false;
    for (int i = 0; i < n; i++)
        k->bound[k->nbound++] = x->kind == SYM_SUM ? x->loop : x->loops[i];
    bool settled = true;
    for (int i = 0; settled && i < x->nargs; i++)
        settled = is_settled(k, x->args[i]);
    k->nbound = depth;
    return settled;
}

static bool is_loop_or_draw(symp x, const void *unused)
{
    (void)unused;
    return x->kind == SYM_SUM || x->kind == SYM_ARRAY || sym_is_draw(x, unused);
}

/* A call that a row need not repeat. */
static bool is_call(symp x)
{
    return ((x->kind == SYM_CALL && x->entry && !model_is_integer(x)) ||
            (x->kind == SYM_POW && x->args[1]->kind != SYM_NUM)) &&
           !sym_any(x, is_loop_or_draw, NULL);
}

static bool takes_loop(symp x)
{
    for (int i = 0; x->kind == SYM_CALL && i < x->nargs; i++)
        if (x->args[i]->kind == SYM_ARRAY)
            return true;
    return x->kind == SYM_SUM;
}

/* A function of one, as the logarithm of a sum. */
static bool is_of_loop(symp x)
{
    bool of_loop = false;
    for (int i = 0; x->kind == SYM_CALL && i < x->nargs; i++)
        of_loop = of_loop || x->args[i]->kind == SYM_SUM;
    return of_loop && x->entry && !model_is_integer(x);
}

/* What is in an array, at the present term of the sum that it stands in. */
static const char *emit_of_term(struct emitter *e, int i)
{
    symp along = e->shared[i].along;
    const char *at = emit_loop_of(e, along->loop);
    e->shared[i].anew = true;
    const char *text = emit_expr(e, e->shared[i].value);
    e->shared[i].anew = false;
    return intern_format(e->c, "GBM_LIFTED(%s, %s, %s, %s, %s)",
                         e->shared[i].name, at, emit_int(e, along->args[0]),
                         emit_int(e, along->args[1]), text);
}

const char *emit_done_before(struct emitter *e, symp x)
{
    for (int i = 0; i < e->nshared; i++)
        if (!e->shared[i].anew && model_alike(e->shared[i].value, x))
            return e->shared[i].along ? emit_of_term(e, i) : e->shared[i].name;
    return NULL;
}

void emit_remember(struct emitter *e, symp x, const char *name)
{
    if (e->nshared == (int)(sizeof e->shared / sizeof *e->shared))
        return;
    e->shared[e->nshared].value = x;
    e->shared[e->nshared].along = NULL;
    e->shared[e->nshared].anew = false;
    e->shared[e->nshared++].name = name;
}

/* What stands in a choice may not exist. */
void emit_shared(struct emitter *e, symp x)
{
    struct scope k = {.e = e};
    const int most = (int)(sizeof e->shared / sizeof *e->shared);
    if (x->kind == SYM_SELECT) {
        emit_shared(e, x->args[0]);
        return;
    }
    const bool taken = e->shares_calls
                           ? is_call(x) || (e->sums_in_rows && takes_loop(x))
                           : takes_loop(x) || is_of_loop(x);
    if (!taken || !is_settled(&k, x)) {
        for (int i = 0; i < x->nargs; i++)
            emit_shared(e, x->args[i]);
        return;
    }
    if (e->nshared == most || emit_done_before(e, x))
        return;
    const char *name = emit_name(e, "shared");
    if (e->shared_if) {
        const int nshared = e->nshared;
        emit_line(e, "real %s = 0;", name);
        emit_line(e, "if (%s) {", e->shared_if);
        e->indent++;
        const char *text = emit_expr(e, x);
        emit_line(e, "%s = %s;", name, text);
        e->indent--;
        emit_line(e, "}");
        e->nshared = nshared; /* what stands in the brackets ends there */
    } else {
        const char *text = emit_expr(e, x);
        emit_line(e, "const real %s = %s;", name, text);
    }
    emit_remember(e, x, name);
}

/* Whether x is a call in the terms of a sum whose rows have it in common. */
static bool is_lifted(struct emitter *e, symp x, symp sum)
{
    struct scope k = {.e = e, .bound = {sum->loop}, .nbound = 1};
    return emit_is_expensive(x, NULL) && sym_has_loop(x, sum->loop) &&
           !sym_any(x, is_loop_or_draw, NULL) && is_settled(&k, x);
}

static void lift(struct emitter *e, symp x, symp sum)
{
    const int depth = e->nloops;
    const char *name = emit_name(e, "lifted");
    const char *at = emit_loop_name(e, sum->loop);
    const char *lower = emit_int(e, sum->args[0]);
    const char *upper = emit_int(e, sum->args[1]);
    emit_line(e, "GBM_LIFT(%s, %s, %s, %s, %s)", name, at, lower, upper,
              emit_expr(e, x));
    e->nloops = depth;
    emit_remember(e, x, name);
    e->shared[e->nshared - 1].along = sum;
}

static void lift_in_terms(struct emitter *e, symp x, symp sum)
{
    struct scope k = {.e = e};
    const int most = (int)(sizeof e->shared / sizeof *e->shared);
    if (sum && is_lifted(e, x, sum)) {
        if (e->nshared < most && !emit_done_before(e, x))
            lift(e, x, sum);
        return;
    }
    if (x->kind == SYM_SUM)
        sum =
            is_settled(&k, x->args[0]) && is_settled(&k, x->args[1]) ? x : NULL;
    for (int i = 0; i < (x->kind == SYM_SELECT ? 1 : x->nargs); i++)
        lift_in_terms(e, x->args[i], sum);
}

void emit_lifted(struct emitter *e, symp x) { lift_in_terms(e, x, NULL); }

/* ---- functions of a number of the row and of arrays of all rows ---- */

bool emit_has_terms(symp call)
{
    const struct entry *d = call->entry;
    if (!d || d->nparameters < 2 || d->parameters[0].ndims)
        return false;
    for (int i = 1; i < d->nparameters; i++)
        if (d->parameters[i].ndims != 1 ||
            d->parameters[i].dims[0] != d->parameters[1].dims[0])
            return false;
    return entry_value(d, "code_in_rows") != NULL;
}

static const char *terms_of(symp call)
{
    return entry_value(call->entry, "code_in_rows")->name;
}

static bool shares_arrays(struct emitter *e, symp x)
{
    struct scope k = {.e = e};
    if (x->kind != SYM_CALL || !emit_has_terms(x))
        return false;
    for (int i = 1; i < x->nargs; i++)
        if (x->args[i]->kind != SYM_ARRAY || !is_settled(&k, x->args[i]))
            return false;
    return true;
}

void emit_before_rows(struct emitter *e, symp x)
{
    const int most = (int)(sizeof e->terms / sizeof *e->terms);
    for (int i = 0; i < x->nargs; i++)
        emit_before_rows(e, x->args[i]);
    if (e->nterms == most || !shares_arrays(e, x))
        return;
    struct text t = {0};
    const char *name = emit_name(e, "terms");
    for (int i = 1; i < x->nargs; i++)
        text_printf(&t, ", %s", emit_argument(e, x->args[i]));
    const char *length = emit_int(e, x->args[1]->args[1]);
    emit_line(e, "GBM_BEFORE_ROWS(%s, %s, %s%s)", name, terms_of(x), length,
              t.data);
    e->terms[e->nterms].call = x;
    e->terms[e->nterms].name = name;
    e->terms[e->nterms].length = length;
    e->terms[e->nterms].arrays = intern(e->c, t.data);
    e->terms[e->nterms++].rest = NULL;
    text_free(&t);
}

/* Its number; -1: there is none. */
static int find_terms(const struct emitter *e, symp x)
{
    for (int i = 0; e->of_rows && i < e->nterms; i++)
        if (sym_same(e->terms[i].call, x))
            return i;
    return -1;
}

/* Its arguments of a macro in a row: the call stands last, for where nothing
 * was made. */
static const char *in_row(struct emitter *e, int i)
{
    symp x = e->terms[i].call;
    const char *at = emit_expr(e, x->args[0]);
    return intern_format(e->c, "%s, %s, %s, %s, %s(%s, %s%s)", e->terms[i].name,
                         terms_of(x), e->terms[i].length, at,
                         emit_function_of(e->c, x), e->terms[i].length, at,
                         e->terms[i].arrays);
}

const char *emit_of_row(struct emitter *e, symp x)
{
    const int i = find_terms(e, x);
    return i < 0 ? NULL : intern_format(e->c, "GBM_OF_ROW(%s)", in_row(e, i));
}

symp emit_add_of_row(struct emitter *e, symp x)
{
    const bool one = x->kind != SYM_ADD;
    for (int k = 0; k < (one ? 1 : x->nargs); k++) {
        symp term = one ? x : x->args[k];
        const int i = find_terms(e, term);
        if (i < 0)
            continue;
        symp rest = sym_sub(e->c, x, term);
        const bool number = rest->kind == SYM_NUM;
        e->terms[i].rest = number ? emit_expr(e, rest) : "0";
        emit_line(e, "GBM_ADD_OF_ROW(sum, %s, %s)", e->terms[i].rest,
                  in_row(e, i));
        return number ? sym_num(e->c, 0) : rest;
    }
    return x;
}

void emit_after_rows(struct emitter *e)
{
    for (int i = 0; i < e->nterms; i++)
        if (e->terms[i].rest)
            emit_line(e, "GBM_AFTER_ROWS(sum, %s, %s, %s, %s)",
                      e->terms[i].rest, e->terms[i].name,
                      terms_of(e->terms[i].call), e->terms[i].length);
    e->nterms = 0;
}
