/* adjoint.c: derivatives of log densities, in reverse mode: what an element's
 * log density, or a derived node's definition, has as partial derivatives by
 * the nodes that it reads, times a weight, is added to these nodes' adjoints
 * (Griewank and Walther, Evaluating Derivatives, 2008, ch. 3). A pass over all
 * elements, children before parents, then gives the whole gradient in a small
 * multiple of the time of the density, however many unknowns there are.
 *
 * Adjoints have the places of the nodes in a second struct state, `a`. Calls
 * that state no derivative are differenced. */
#include "emit/emit.h"
#include <string.h>

static bool is_active(symp x, const void *unused)
{
    (void)unused;
    return x->kind == SYM_REF && x->var->active;
}

static bool varies(symp x)
{
    return !model_is_integer(x) && sym_any(x, is_active, NULL);
}

/* Adds `slope`, the name of a number, times the derivatives of x. */
static void spread(struct emitter *e, symp x, const char *slope);

/* ---- scopes ---- */

struct opened {
    int nloops, nshared, nparams;
};

static struct opened open_scope(const struct emitter *e)
{
    return (struct opened){e->nloops, e->nshared, e->nparams};
}

/* What was computed inside is not known outside. */
static void close_scope(struct emitter *e, struct opened o, int braces)
{
    emit_close(e, braces);
    e->nloops = o.nloops;
    e->nshared = o.nshared;
    e->nparams = o.nparams;
}

/* ---- functions ---- */

static void spread_number(struct emitter *e, symp x, const char *value)
{
    struct opened o = open_scope(e);
    const char *name = emit_name(e, "slope");
    emit_line(e, "const real %s = %s;", name, value);
    emit_line(e, "if (%s != 0) {", name);
    e->indent++;
    spread(e, x, name);
    close_scope(e, o, 1);
}

static void spread_times(struct emitter *e, symp x, const char *slope,
                         symp factor)
{
    if (!sym_is(factor, 0))
        spread_number(e, x,
                      sym_is(factor, -1)
                          ? intern_format(e->c, "-%s", slope)
                          : intern_format(e->c, "%s * (%s)", slope,
                                          emit_expr(e, factor)));
}

/* A number of the program's own in the place of an argument. */
static symp stand_in(struct emitter *e, const char *local)
{
    const char *name = intern_format(e->c, "%s'", local);
    emit_param(e, name, local);
    return sym_param(e->c, name);
}

static symp with_argument(struct compiler *c, symp x, int i, symp value)
{
    symp args[32];
    for (int k = 0; k < x->nargs; k++)
        args[k] = k == i ? value : x->args[k];
    return sym_rebuild(c, x, args);
}

static void difference_scalar(struct emitter *e, symp x, int i,
                              const char *slope)
{
    struct opened o = open_scope(e);
    const char *at = emit_name(e, "at"), *step = emit_name(e, "step");
    const char *above = emit_name(e, "above"), *below = emit_name(e, "below");
    emit_line(e, "const real %s = %s;", at, emit_expr(e, x->args[i]));
    emit_line(e, "const real %s = gbm_difference_step(%s);", step, at);
    emit_line(e, "const real %s = %s + %s, %s = %s - %s;", above, at, step,
              below, at, step);
    symp up = with_argument(e->c, x, i, stand_in(e, above));
    symp down = with_argument(e->c, x, i, stand_in(e, below));
    const char *high = emit_expr(e, up), *low = emit_expr(e, down);
    spread_number(e, x->args[i],
                  intern_format(e->c, "%s * ((%s) - (%s)) / (%s - %s)", slope,
                                high, low, above, below));
    close_scope(e, o, 0);
}

/* ---- functions of arrays ---- */

static const char *cells_of(struct emitter *e, symp array)
{
    const char *count = emit_int(e, array->args[1]);
    for (int l = 1; l < array->nloops; l++)
        count = intern_format(e->c, "(%s) * (%s)", count,
                              emit_int(e, array->args[1 + l]));
    return count;
}

/* Opens loops over the cells of an array; returns the place in memory. */
static const char *open_cells(struct emitter *e, symp array)
{
    const char *place = NULL;
    for (int l = 0; l < array->nloops; l++) {
        const char *upper = emit_int(e, array->args[1 + l]);
        const char *i = emit_open_loop(e, array->loops[l], sym_num(e->c, 1),
                                       array->args[1 + l]);
        place =
            place ? intern_format(e->c, "(%s) * (%s) + %s - 1", place, upper, i)
                  : intern_format(e->c, "%s - 1", i);
    }
    return place;
}

static void spread_cells(struct emitter *e, symp array, const char *slopes)
{
    struct opened o = open_scope(e);
    const char *place = open_cells(e, array);
    spread_number(e, array->args[0],
                  intern_format(e->c, "%s[%s]", slopes, place));
    close_scope(e, o, array->nloops);
}

/* A copy that may be changed. */
static const char *copied(struct emitter *e, symp array, const char *values)
{
    const char *name = emit_name(e, "moved"), *room = emit_name(e, "room");
    emit_line(e, "GBM_SCRATCH(%s, %s, %s);", name, room, cells_of(e, array));
    emit_line(e, "gbm_copy(%s, %s, %s);", cells_of(e, array), values, name);
    return name;
}

static const char *scratch(struct emitter *e, const char *base,
                           const char *count)
{
    const char *name = emit_name(e, base), *room = emit_name(e, "room");
    emit_line(e, "GBM_SCRATCH(%s, %s, %s);", name, room, count);
    return name;
}

/* A call whose result is a number, `slope` its adjoint; or an array of `cells`
 * numbers, and `slope` an array. */
struct call {
    symp x;
    const char *cells; /* NULL: a number */
    const char *slope;
    const char *args[32]; /* of the C function */
};

/* The statement or expression that makes result number `name` of the call. */
static const char *call_again(struct emitter *e, const struct call *k,
                              const char *name)
{
    const char *function = emit_function_of(e->c, k->x);
    if (!k->cells)
        return emit_call_with(e, k->x, function, k->args, NULL);
    const char *result = scratch(e, name, k->cells);
    emit_line(e, "%s;", emit_call_with(e, k->x, function, k->args, result));
    return result;
}

static void difference_cells(struct emitter *e, struct call *k, int i)
{
    symp array = k->x->args[i];
    const char *before = k->args[i], *count = cells_of(e, array);
    const char *moved = copied(e, array, before);
    const char *slopes = scratch(e, "slopes", count);
    const char *at = emit_name(e, "cell"), *here = emit_name(e, "here");
    const char *step = emit_name(e, "step");
    k->args[i] = moved;
    emit_line(e, "for (long long %s = 0; %s < %s; %s++) {", at, at, count, at);
    e->indent++;
    emit_line(e, "const real %s = %s[%s];", here, moved, at);
    emit_line(e, "const real %s = gbm_difference_step(%s);", step, here);
    emit_line(e, "%s[%s] = %s + %s;", moved, at, here, step);
    const char *up = call_again(e, k, "above");
    if (!k->cells)
        emit_line(e, "real high = %s;", up);
    emit_line(e, "%s[%s] = %s - %s;", moved, at, here, step);
    const char *down = call_again(e, k, "below");
    if (k->cells)
        emit_line(e,
                  "%s[%s] = gbm_difference_along(%s, %s, %s, %s) / (2 * %s);",
                  slopes, at, k->cells, up, down, k->slope, step);
    else
        emit_line(e, "%s[%s] = %s * (high - %s) / (2 * %s);", slopes, at,
                  k->slope, down, step);
    emit_line(e, "%s[%s] = %s;", moved, at, here);
    emit_close(e, 1);
    k->args[i] = before;
    spread_cells(e, array, slopes);
}

/* A number as the argument of an array's function, such as sigma in f(x[],
 * sigma). */
static void difference_number(struct emitter *e, struct call *k, int i)
{
    const char *before = k->args[i];
    const char *at = emit_name(e, "at"), *step = emit_name(e, "step");
    emit_line(e, "const real %s = %s, %s = gbm_difference_step(%s);", at,
              before, step, at);
    k->args[i] = intern_format(e->c, "%s + %s", at, step);
    const char *up = call_again(e, k, "above");
    k->args[i] = intern_format(e->c, "%s - %s", at, step);
    const char *down = call_again(e, k, "below");
    k->args[i] = before;
    spread_number(
        e, k->x->args[i],
        k->cells ? intern_format(
                       e->c, "gbm_difference_along(%s, %s, %s, %s) / (2 * %s)",
                       k->cells, up, down, k->slope, step)
                 : intern_format(e->c, "%s * (%s - %s) / (2 * %s)", k->slope,
                                 up, down, step));
}

/* By the function that the library names, which fills the adjoints of all
 * arguments. */
static void spread_by_adjoint(struct emitter *e, const struct call *k,
                              const char *function)
{
    struct text out = {0};
    const char *slopes[32];
    text_append(&out, k->slope);
    for (int i = 0; i < k->x->nargs; i++) {
        const bool array = k->x->args[i]->kind == SYM_ARRAY;
        slopes[i] = array ? scratch(e, "slopes", cells_of(e, k->x->args[i]))
                          : emit_name(e, "slope");
        if (!array)
            emit_line(e, "real %s = 0;", slopes[i]);
        text_printf(&out, ", %s%s", array ? "" : "&", slopes[i]);
    }
    emit_line(e, "%s;", emit_call_with(e, k->x, function, k->args, out.data));
    text_free(&out);
    for (int i = 0; i < k->x->nargs; i++) {
        symp x = k->x->args[i];
        if (x->kind == SYM_ARRAY && varies(x->args[0]))
            spread_cells(e, x, slopes[i]);
        else if (x->kind != SYM_ARRAY)
            spread(e, x, slopes[i]);
    }
}

/* With `cells` numbers as result, not NULL, `slope` are as many adjoints. */
static void spread_call_of_arrays(struct emitter *e, symp x, const char *cells,
                                  const char *slope)
{
    struct opened o = open_scope(e);
    struct call k = {.x = x, .cells = cells, .slope = slope};
    emit_line(e, "{");
    e->indent++;
    for (int i = 0; i < x->nargs; i++)
        k.args[i] = emit_argument(e, x->args[i]);
    const struct expr *adjoint =
        x->entry ? entry_value(x->entry, "adjoint") : NULL;
    if (adjoint) {
        spread_by_adjoint(e, &k, adjoint->name);
    } else {
        for (int i = 0; i < x->nargs; i++) {
            symp a = x->args[i];
            if (a->kind == SYM_ARRAY ? varies(a->args[0]) : varies(a)) {
                struct opened inner = open_scope(e);
                emit_line(e, "{");
                e->indent++;
                if (a->kind == SYM_ARRAY)
                    difference_cells(e, &k, i);
                else
                    difference_number(e, &k, i);
                close_scope(e, inner, 1);
            }
        }
    }
    close_scope(e, o, 1);
}

static bool has_arrays(symp x)
{
    for (int i = 0; i < x->nargs; i++)
        if (x->args[i]->kind == SYM_ARRAY)
            return true;
    return false;
}

/* The larger, or smaller, of two: where they are equal, the first. */
static void spread_larger(struct emitter *e, symp x, const char *slope)
{
    struct compiler *c = e->c;
    symp ends[] = {x->args[0], x->args[1]};
    symp first = sym_call(c, strcmp(x->name, "max") ? "<=" : ">=", 2, ends);
    spread(e, sym_select(c, first, x->args[0], x->args[1]), slope);
}

static void spread_call(struct emitter *e, symp x, const char *slope)
{
    struct compiler *c = e->c;
    const bool two = x->nargs == 2 && !has_arrays(x);
    if (x->entry && entry_clause(x->entry, "flat"))
        return;
    if (x->nargs == 1 && !strcmp(x->name, "exp")) {
        spread_times(e, x->args[0], slope, x);
        return;
    }
    if (x->nargs == 1 && !strcmp(x->name, "log")) {
        spread_times(e, x->args[0], slope,
                     sym_pow(c, x->args[0], sym_num(c, -1)));
        return;
    }
    if (two && (!strcmp(x->name, "max") || !strcmp(x->name, "min"))) {
        spread_larger(e, x, slope);
        return;
    }
    if (has_arrays(x)) {
        spread_call_of_arrays(e, x, NULL, slope);
        return;
    }
    for (int i = 0; i < x->nargs; i++) {
        if (!varies(x->args[i]))
            continue;
        symp outer = sym_derivative_of_function(c, x, i);
        if (outer)
            spread_times(e, x->args[i], slope, outer);
        else
            difference_scalar(e, x, i, slope);
    }
}

/* ---- the other kinds ---- */

static void spread_product(struct emitter *e, symp x, const char *slope)
{
    symp cases = emit_zero_under_condition(e->c, x);
    if (cases) {
        spread(e, cases, slope);
        return;
    }
    for (int i = 0; i < x->nargs; i++)
        if (varies(x->args[i]))
            spread_times(e, x->args[i], slope, sym_cofactor(e->c, x, i));
}

static void spread_power(struct emitter *e, symp x, const char *slope)
{
    struct compiler *c = e->c;
    symp base = x->args[0], n = x->args[1];
    if (varies(base)) {
        symp lower = sym_pow(c, base, sym_add2(c, n, sym_num(c, -1)));
        spread_times(e, base, slope, sym_mul2(c, n, lower));
    }
    if (varies(n))
        spread_times(e, n, slope, sym_mul2(c, x, sym_log(c, base)));
}

static void spread_choice(struct emitter *e, symp x, const char *slope)
{
    const char *condition = emit_expr(e, x->args[0]);
    for (int b = 1; b <= 2; b++) {
        if (!varies(x->args[b]))
            continue;
        struct opened o = open_scope(e);
        emit_line(e, b == 1 ? "if (%s) {" : "if (!(%s)) {", condition);
        e->indent++;
        spread(e, x->args[b], slope);
        close_scope(e, o, 1);
    }
}

static void spread_sum(struct emitter *e, symp x, const char *slope)
{
    struct opened o = open_scope(e);
    emit_shared(e, x->args[2]);
    emit_open_loop(e, x->loop, x->args[0], x->args[1]);
    spread(e, x->args[2], slope);
    close_scope(e, o, 1);
}

static void add_to(struct emitter *e, symp x, const char *slope)
{
    const char *name = x->var->cname;
    struct text inside = {0};
    for (int d = 0; d < x->nargs && model_may_miss(x); d++)
        if (model_subscript_may_miss(x, d))
            text_printf(&inside, "%sgbm_within(%s, s->%s_n%d)",
                        inside.data ? " && " : "", emit_int(e, x->args[d]),
                        name, d + 1);
    const char *cell = emit_cell(e, x->var, x->args);
    if (inside.data)
        emit_line(e, "if (%s)", inside.data);
    emit_line(e, "%sa->%s[%s] += %s;", inside.data ? "    " : "", name, cell,
              slope);
    text_free(&inside);
}

static void spread(struct emitter *e, symp x, const char *slope)
{
    if (!varies(x))
        return;
    switch (x->kind) {
    case SYM_REF:
        add_to(e, x, slope);
        return;
    case SYM_ADD:
        for (int i = 0; i < x->nargs; i++)
            spread(e, x->args[i], slope);
        return;
    case SYM_MUL:
        spread_product(e, x, slope);
        return;
    case SYM_POW:
        spread_power(e, x, slope);
        return;
    case SYM_CALL:
        spread_call(e, x, slope);
        return;
    case SYM_SELECT:
        spread_choice(e, x, slope);
        return;
    case SYM_SUM:
        spread_sum(e, x, slope);
        return;
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_TARGET:
    case SYM_PARAM:
    case SYM_ARRAY:
        return;
    }
    UNREACHABLE();
}

/* ---- elements ---- */

static struct emitter open_function(struct compiler *c, struct text *out,
                                    const struct family *f, const char *head)
{
    struct emitter e = emitter_new(c, out);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "GBM_FN void %s_%s(const struct state *s, const struct "
                      "state *a, long long element, %s)",
                      head, family_id(c, f),
                      strcmp(head, "adjoint") ? "real lower, real upper"
                                              : "real weight"));
    e.shares = true;
    return e;
}

static void close_function(struct compiler *c, struct text *out,
                           const struct family *f, const char *head,
                           const char *macro)
{
    text_printf(out, "}\n%s(%s_%s)\n\n", macro, head, family_id(c, f));
}

/* A derived node that is an array function's result. */
static void spread_whole_call(struct emitter *e, const struct family *f)
{
    symp at[2], call = model_substitute_derived(e->c, f->body);
    const char *count = emit_int(e, family_extent(e->c, f, 0));
    const char *width =
        f->nslices == 2 ? emit_int(e, family_extent(e->c, f, 1)) : "1";
    const char *cells = intern_format(e->c, "(%s) * (%s)", count, width);
    const char *slope = scratch(e, "slope", cells);
    struct opened o = open_scope(e);
    int braces = emit_open_slices(e, f, at);
    symp ref = family_lhs(e->c, f, f->nslices, at);
    const char *row = emit_expr(e, at[0]);
    const char *place = f->nslices == 2
                            ? intern_format(e->c, "(%s - 1) * (%s) + %s - 1",
                                            row, width, emit_expr(e, at[1]))
                            : intern_format(e->c, "%s - 1", row);
    emit_line(e, "%s[%s] = a->%s[%s];", slope, place, f->var->cname,
              emit_cell(e, f->var, ref->args));
    close_scope(e, o, braces);
    if (call->kind == SYM_CALL &&
        !(call->entry && entry_clause(call->entry, "flat")))
        spread_call_of_arrays(e, call, cells, slope);
}

static void emit_definition_adjoint(struct compiler *c, struct text *out,
                                    const struct family *f)
{
    struct emitter e = open_function(c, out, f, "adjoint");
    if (f->whole_call) {
        spread_whole_call(&e, f);
    } else {
        symp lhs = family_lhs(c, f, 0, NULL);
        symp body = model_substitute_derived(c, f->body);
        emit_line(&e, "const real slope = weight * a->%s[%s];", f->var->cname,
                  emit_cell(&e, f->var, lhs->args));
        emit_line(&e, "if (slope == 0)");
        emit_line(&e, "    return;");
        emit_name(&e, "slope");
        spread(&e, body, "slope");
    }
    close_function(c, out, f, "adjoint", "GBM_HOST_ADJOINT");
}

static void emit_density_adjoint(struct compiler *c, struct text *out,
                                 const struct family *f)
{
    struct emitter e = open_function(c, out, f, "adjoint");
    emit_shared(&e, f->factor->plain);
    spread(&e, f->factor->plain, "weight");
    close_function(c, out, f, "adjoint", "GBM_HOST_ADJOINT");
}

static void emit_bounds_adjoint(struct compiler *c, struct text *out,
                                const struct family *f)
{
    const struct factor *g = f->factor;
    struct emitter e = open_function(c, out, f, "adjoint_bounds");
    if (g->lower)
        spread(&e, g->lower, "lower");
    if (g->upper)
        spread(&e, g->upper, "upper");
    close_function(c, out, f, "adjoint_bounds", "GBM_HOST_ADJOINT_BOUNDS");
}

static bool has_adjoint(const struct family *f)
{
    if (f->auxiliary || f->data_block || f->tally || f->for_updates)
        return false;
    return f->stochastic ? f->factor != NULL
                         : f->var->active && (f->var->stored ||
                                              f->var->role == ROLE_STOCHASTIC);
}

static bool has_bounds_adjoint(const struct family *f)
{
    return has_adjoint(f) && emit_has_bounds(f) &&
           (f->var->active || model_draws_integers(f));
}

void emit_adjoint(struct compiler *c, struct text *out, const struct family *f)
{
    if (!has_adjoint(f))
        return;
    text_append(out, "#ifndef __CUDACC__\n");
    if (f->stochastic)
        emit_density_adjoint(c, out, f);
    else
        emit_definition_adjoint(c, out, f);
    if (has_bounds_adjoint(f))
        emit_bounds_adjoint(c, out, f);
    text_append(out, "#endif\n\n");
}

static bool is_active_and_derived(symp x, const void *unused)
{
    return is_active(x, unused) && x->var->role == ROLE_DERIVED;
}

static bool has_derived_bounds(const struct factor *g)
{
    return (g->lower && sym_any(g->lower, is_active_and_derived, NULL)) ||
           (g->upper && sym_any(g->upper, is_active_and_derived, NULL));
}

void emit_adjoint_row(struct compiler *c, struct text *out,
                      const struct family *f)
{
    const char *id = family_id(c, f);
    if (f->stochastic && model_draws_integers(f))
        text_append(out, ", .discrete = true");
    if (has_adjoint(f))
        text_printf(out, ",\n     .adjoint = adjoint_%s_host", id);
    if (has_bounds_adjoint(f))
        text_printf(out, ",\n     .adjoint_bounds = adjoint_bounds_%s_host",
                    id);
    if (has_bounds_adjoint(f) && has_derived_bounds(f->factor))
        text_append(out, ", .bounds_derived = true");
}
