/* expression.c: symbolic expressions as C text, in the subset that is
 * CUDA C too. */
#include "emit/emit.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct emitter emitter_new(struct compiler *c, struct text *out)
{
    return (struct emitter){.c = c, .out = out, .indent = 1, .target = "x"};
}

void emit_line(struct emitter *e, const char *format, ...)
{
    char *line;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&line, format, args);
    va_end(args);
    if (n < 0)
        abort();
    if (line[0] != '#')
        text_printf(e->out, "%*s", 4 * e->indent, "");
    text_append(e->out, line);
    text_append(e->out, "\n");
    free(line);
}

void emit_team_loop(struct emitter *e, const char *name, const char *begin,
                    const char *end)
{
    emit_line(e, "GBM_TEAM_FOR(%s, %s, %s, team) {", name, begin, end);
    e->shared_out = true;
}

void emit_filled(struct emitter *e, const char *format, const char *cell,
                 const char *place)
{
    struct text t = {0};
    for (const char *p = format; *p; p++)
        if (*p == '$')
            text_append(&t, cell);
        else if (*p == '@')
            text_append(&t, place);
        else
            text_append_n(&t, p, 1);
    emit_line(e, "%s", t.data);
    text_free(&t);
}

static bool name_used(const struct emitter *e, const char *name)
{
    for (int i = 0; i < e->nnames; i++)
        if (e->names[i] == name)
            return true;
    return false;
}

const char *emit_name(struct emitter *e, const char *base)
{
    const char *name = intern(e->c, base);
    for (int k = 1; name_used(e, name); k++)
        name = intern_format(e->c, "%s%d", base, k);
    if (e->nnames == (int)(sizeof e->names / sizeof *e->names))
        UNREACHABLE();
    e->names[e->nnames++] = name;
    return name;
}

const char *emit_name_of_model(struct emitter *e, const char *name)
{
    const char *marked = model_marked_name(e->c, name);
    for (int k = 1; name_used(e, marked); k++)
        marked = model_marked_name(e->c, intern_format(e->c, "%s%d", name, k));
    return emit_name(e, marked);
}

void emit_loop_as(struct emitter *e, const struct loop *loop, const char *name)
{
    if (e->nloops == (int)(sizeof e->loops / sizeof *e->loops))
        UNREACHABLE();
    e->loops[e->nloops].loop = loop;
    e->loops[e->nloops++].name = name;
}

const char *emit_loop_name(struct emitter *e, const struct loop *loop)
{
    const char *name = emit_name_of_model(e, loop->name);
    emit_loop_as(e, loop, name);
    return name;
}

const char *emit_open_loop(struct emitter *e, const struct loop *loop,
                           symp lower, symp upper)
{
    const char *from = emit_int(e, lower), *to = emit_int(e, upper);
    const char *name = emit_loop_name(e, loop);
    emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, from, name, to,
              name);
    e->indent++;
    return name;
}

void emit_param(struct emitter *e, const char *name, const char *as)
{
    if (e->nparams < 64) {
        e->params[e->nparams].name = intern(e->c, name);
        e->params[e->nparams].value = NULL;
        e->params[e->nparams++].as = as;
    }
}

/* ---- subscripts that the state decides ---------------------------------- */

/* ---- expressions --------------------------------------------------------- */

static const char *emit_number(struct compiler *c, double x)
{
    if (isinf(x))
        return x > 0 ? "GBM_INF" : "-GBM_INF";
    if (isnan(x))
        return "GBM_NAN";
    if (x == floor(x) && fabs(x) < 1e9)
        return intern_format(c, "%.0f", x);
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    return intern_format(c, "REAL_C(%s)", text);
}

/* Binding strength of the C text that emit_expr makes. */
static int strength(symp x)
{
    switch (x->kind) {
    case SYM_ADD:
        return 1;
    case SYM_MUL:
        return 2;
    case SYM_NUM:
        return x->number < 0 ? 1 : 9;
    case SYM_SELECT:
        return 0;
    case SYM_POW:
        return x->args[1]->kind == SYM_NUM && x->args[1]->number < 0 ? 2 : 9;
    case SYM_CALL:
        return model_is_integer(x) ? 0 : 9;
    default:
        return 9;
    }
}

static const char *emit_in(struct emitter *e, symp x, int outer)
{
    const char *s = emit_expr(e, x);
    if (strength(x) >= outer && s[0] != '-')
        return s;
    return intern_format(e->c, "(%s)", s);
}

/* As a real, where C would otherwise divide or square integers. */
static const char *emit_real(struct emitter *e, symp x, int outer)
{
    if (model_is_integer(x) && x->kind != SYM_NUM)
        return intern_format(e->c, "(real)%s", emit_in(e, x, 9));
    if (x->kind == SYM_NUM && model_is_integer(x))
        return intern_format(e->c, "REAL_C(%.0f)", x->number);
    return emit_in(e, x, outer);
}

const char *emit_int(struct emitter *e, symp x)
{
    if (model_is_integer(x)) { /* also as an end, behind a comparison */
        e->whole++;
        const char *s =
            strength(x) > 0 ? emit_expr(e, x) : emit_in_brackets(e, x);
        e->whole--;
        return s;
    }
    return intern_format(e->c, "%s(%s)",
                         model_is_whole(x) ? "(int)" : "gbm_nearest",
                         emit_expr(e, x));
}

const char *emit_in_brackets(struct emitter *e, symp x)
{
    return emit_in(e, x, 2);
}

static const char *emit_args(struct emitter *e, symp x)
{
    struct text t = {0};
    for (int i = 0; i < x->nargs; i++)
        text_printf(&t, "%s%s", i ? ", " : "", emit_int(e, x->args[i]));
    return text_take(e->c, &t);
}

/* Whether subscript d of x is a place in its array. What lies between two, as
 * data beside counts may, is none. */
static const char *emit_is_place(struct emitter *e, symp x, int d)
{
    symp at = x->args[d];
    const bool whole = model_is_whole(at);
    return intern_format(
        e->c, "%s(%s, s->%s_n%d)", whole ? "gbm_within" : "gbm_is_place",
        whole ? emit_int(e, at) : emit_expr(e, at), x->var->cname, d + 1);
}

static const char *emit_ref(struct emitter *e, symp x)
{
    const char *seen = x->kind == SYM_SEEN   ? "_seen"
                       : x->kind == SYM_LIVE ? "_live"
                                             : "";
    if (x->kind == SYM_REF && x->nargs == 0)
        return intern_format(e->c, "*s->%s", x->var->cname);
    if (x->kind == SYM_LIVE && !x->var->barren)
        return "1"; /* a step of its draws all elements whatever the data */
    const char *cell =
        intern_format(e->c, "%s%s(%s)", x->var->cname, seen, emit_args(e, x));
    if (!model_may_miss(x))
        return cell;
    struct text t = {0};
    for (int d = 0; d < x->nargs; d++)
        if (model_subscript_may_miss(x, d))
            text_printf(&t, "%s%s", t.data ? " && " : "",
                        emit_is_place(e, x, d));
    const char *inside = intern(e->c, t.data);
    text_free(&t);
    return x->kind == SYM_REF
               ? intern_format(e->c, "(%s ? %s%s : GBM_NAN)", inside,
                               x->var->integer ? "(real)" : "", cell)
               : intern_format(e->c, "(%s && %s)", inside, cell);
}

const char *emit_cell(struct emitter *e, const struct var *v, symp const *args)
{
    if (v->ndim == 0)
        return "0";
    const char *at = intern_format(e->c, "(%s) - 1", emit_int(e, args[0]));
    for (int d = 1; d < v->ndim; d++)
        at = intern_format(e->c, "(%s) * (long long)s->%s_n%d + (%s) - 1", at,
                           v->cname, d + 1, emit_int(e, args[d]));
    return at;
}

static bool is_named(symp x, const char *name)
{
    return x->kind == SYM_CALL && !strcmp(x->name, name);
}

symp emit_zero_under_condition(struct compiler *c, symp x)
{
    for (int i = 0; i < x->nargs; i++) {
        symp f = x->args[i];
        if (f->kind != SYM_SELECT ||
            (!sym_is(f->args[1], 0) && !sym_is(f->args[2], 0)))
            continue;
        symp rest = sym_cofactor(c, x, i);
        symp under = sym_select(c, f->args[0], sym_mul2(c, rest, f->args[1]),
                                sym_mul2(c, rest, f->args[2]));
        if (sym_has_cells(rest) && under->kind == SYM_SELECT)
            return under;
    }
    return NULL;
}

/* What multiplies factor i, if it may be 0; else NULL. */
static symp maybe_zero(struct compiler *c, symp x, int i)
{
    symp rest = sym_cofactor(c, x, i);
    return sym_never_zero(rest) ? NULL : rest;
}

/* What may be 0 times what may be infinite: y log(p) is 0 where y is 0,
 * whatever p is. NULL: there is no such factor. */
static const char *times_infinite(struct emitter *e, symp x)
{
    struct compiler *c = e->c;
    symp rest;
    for (int i = 0; i < x->nargs; i++)
        if (is_named(x->args[i], "log") && (rest = maybe_zero(c, x, i)))
            return intern_format(c, "gbm_xlogy(%s, %s)", emit_expr(e, rest),
                                 emit_expr(e, x->args[i]->args[0]));
    for (int i = 0; i < x->nargs; i++)
        if (sym_may_be_infinite(x->args[i]) && (rest = maybe_zero(c, x, i))) {
            const char *factor = emit_expr(e, rest);
            return intern_format(c, "gbm_times(%s, %s)", factor,
                                 emit_expr(e, x->args[i]));
        }
    return NULL;
}

/* 0 times what overflows is 0 where the 0 is a count, as of a Bernoulli node's
 * log density -(1 - y) exp(eta); NULL: no factor is a count. */
static const char *times_count(struct emitter *e, symp x)
{
    struct compiler *c = e->c;
    for (int i = 0; i < x->nargs; i++) {
        symp count = x->args[i];
        if (!model_may_be_no_count(count))
            continue;
        symp rest = sym_cofactor(c, x, i);
        if (sym_may_overflow(rest))
            return intern_format(c, "gbm_times(%s, %s)", emit_expr(e, count),
                                 emit_expr(e, rest));
    }
    return NULL;
}

static bool is_zero_or_one(symp x)
{
    return x->kind == SYM_CALL || x->kind == SYM_SEEN || x->kind == SYM_LIVE ||
           (x->kind == SYM_NUM && fabs(x->number) <= 1);
}

/* Whether x is a product of counts, which may be beyond C's integers: two
 * populations that meet, or one for each million. */
static bool is_large(const struct emitter *e, symp x)
{
    int counts = 0;
    for (int i = 0; i < x->nargs; i++)
        counts += !is_zero_or_one(x->args[i]);
    return counts > 1 && !e->whole;
}

/* Factors with negative powers under those without. */
static const char *emit_fraction(struct emitter *e, symp x)
{
    struct compiler *c = e->c;
    struct text up = {0}, down = {0};
    int nup = 0, ndown = 0;
    symp first = x->args[0];
    bool minus = first->kind == SYM_NUM && first->number < 0;
    for (int i = sym_is(first, -1) ? 1 : 0; i < x->nargs; i++) {
        symp f = x->args[i];
        if (i == 0 && minus)
            f = sym_num(c, -first->number);
        bool under = f->kind == SYM_POW && f->args[1]->kind == SYM_NUM &&
                     f->args[1]->number < 0;
        if (under) {
            symp inverse =
                sym_pow(c, f->args[0], sym_num(c, -f->args[1]->number));
            text_printf(&down, "%s%s", ndown ? " * " : "",
                        emit_real(e, inverse, 3));
            ndown++;
        } else {
            text_printf(&up, "%s%s", nup ? " * " : "",
                        model_is_integer(f) && f->kind != SYM_NUM &&
                                (!model_is_integer(x) || is_large(e, x))
                            ? emit_real(e, f, 2)
                            : emit_in(e, f, 2));
            nup++;
        }
    }
    const char *s;
    if (!nup)
        text_append(&up, "1");
    if (!ndown)
        s = intern_format(c, "%s%s", minus ? "-" : "", up.data);
    else if (ndown == 1 && !strchr(down.data, ' '))
        s = intern_format(c, "%s%s / %s", minus ? "-" : "", up.data, down.data);
    else
        s = intern_format(c, "%s%s / (%s)", minus ? "-" : "", up.data,
                          down.data);
    text_free(&up);
    text_free(&down);
    return s;
}

static const char *emit_select(struct emitter *e, symp x);

static const char *emit_mul(struct emitter *e, symp x)
{
    symp cases = emit_zero_under_condition(e->c, x);
    if (cases)
        return intern_format(e->c, "(%s)", emit_select(e, cases));
    const char *product = times_infinite(e, x);
    if (!product)
        product = times_count(e, x);
    return product ? product : emit_fraction(e, x);
}

static const char *emit_power(struct emitter *e, symp x)
{
    struct compiler *c = e->c;
    symp base = x->args[0], n = x->args[1];
    if (n->kind == SYM_NUM) {
        if (n->number == 2)
            return intern_format(c, "gbm_square(%s)", emit_expr(e, base));
        if (n->number == 0.5)
            return intern_format(c, "real_sqrt(%s)", emit_expr(e, base));
        if (n->number == -1)
            return intern_format(c, "1 / %s", emit_real(e, base, 3));
        if (n->number < 0)
            return intern_format(
                c, "1 / %s",
                emit_in(e, sym_pow(c, base, sym_num(c, -n->number)), 3));
    }
    const char *power = model_is_integer(n) ? "gbm_whole_power" : "real_pow";
    return intern_format(c, "%s(%s, %s)", power, emit_expr(e, base),
                         emit_expr(e, n));
}

/* Whether the text of x needs statements before it. */
static bool needs_statements(symp x)
{
    if (x->kind == SYM_SUM || x->kind == SYM_ARRAY || sym_is_list(x) ||
        (x->kind == SYM_CALL && !strncmp(x->name, "draw_", 5)))
        return true;
    for (int i = 0; i < x->nargs; i++)
        if (needs_statements(x->args[i]))
            return true;
    return false;
}

static const char *emit_select(struct emitter *e, symp x)
{
    struct compiler *c = e->c;
    symp when = x->args[0];
    const char *cond = when->kind == SYM_SELECT ? emit_in_brackets(e, when)
                                                : emit_expr(e, when);
    if (!needs_statements(x->args[1]) && !needs_statements(x->args[2]))
        return intern_format(c, "%s ? %s : %s", cond, emit_in(e, x->args[1], 1),
                             emit_in(e, x->args[2], 1));
    const char *name = emit_name(e, "chosen");
    emit_line(e, "real %s;", name);
    for (int b = 1; b <= 2; b++) {
        if (b == 1)
            emit_line(e, "if (%s) {", cond);
        else
            emit_line(e, "} else {");
        e->indent++;
        int depth = e->nloops, nshared = e->nshared;
        const char *value = emit_expr(e, x->args[b]);
        emit_line(e, "%s = %s;", name, value);
        e->nloops = depth;
        e->nshared = nshared;
        e->indent--;
    }
    emit_line(e, "}");
    return name;
}

/* Little more than loads: then several terms should be on their way at once. */
static bool mostly_loads(symp e, int *budget)
{
    if (e->kind != SYM_NUM && e->kind != SYM_REF && e->kind != SYM_LOOP &&
        e->kind != SYM_EXTENT && e->kind != SYM_ADD && e->kind != SYM_MUL)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!mostly_loads(e->args[i], budget))
            return false;
    return --*budget >= 0;
}

/* What is the same for all terms of a sum, as the largest element in
 * sum(exp(v[] - max(v[]))), before it, if it has a term. */
static void emit_same_in_terms(struct emitter *e, symp x, const char *lower,
                               const char *upper)
{
    const char *outer = e->shared_if;
    bool calls = e->shares_calls;
    e->shared_if = intern_format(e->c, "%s <= %s", lower, upper);
    e->shares_calls = false;
    emit_shared(e, x->args[2]);
    e->shared_if = outer;
    e->shares_calls = calls;
}

static const char *emit_sum(struct emitter *e, symp x)
{
    struct compiler *c = e->c;
    bool team = e->team;
    const char *lower = emit_int(e, x->args[0]);
    const char *upper = emit_int(e, x->args[1]);
    int known = e->nshared;
    emit_same_in_terms(e, x, lower, upper);
    const char *name = emit_name(
        e, intern_format(c, "%s_sum", model_marked_name(c, x->loop->name)));
    emit_line(e, "gbm_total %s = 0;", name);
    int depth = e->nloops;
    const char *i = emit_loop_name(e, x->loop);
    int budget = 12;
    if (team && mostly_loads(x->args[2], &budget))
        emit_line(e, "GBM_UNROLL_LOADS");
    if (team)
        emit_team_loop(e, i, lower, intern_format(c, "(%s) + 1", upper));
    else
        emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", i, lower, i, upper,
                  i);
    e->team = false;
    e->indent++;
    const char *term = emit_expr(e, x->args[2]);
    emit_line(e, "%s += %s;", name, term);
    e->indent--;
    emit_line(e, "}");
    e->team = team;
    e->nloops = depth;
    e->nshared = known;
    if (team)
        emit_line(e, "%s = gbm_team_sum(team, %s);", name, name);
    const char *value = intern_format(c, "(real)%s", name);
    if (e->shares)
        emit_remember(e, x, value);
    return value;
}

/* If the array is contiguous in memory: a pointer to its first cell. */
static const char *contiguous(struct emitter *e, symp array)
{
    symp ref = array->args[0];
    if (ref->kind != SYM_REF || ref->var->integer || model_may_miss(ref))
        return NULL;
    int n = array->nloops, nd = ref->nargs;
    if (nd < n)
        return NULL;
    symp first[8];
    for (int d = 0; d < nd; d++) {
        first[d] = ref->args[d];
        int which = d - (nd - n);
        for (int l = 0; l < n; l++)
            if (sym_has_loop(ref->args[d], array->loops[l])) {
                symp offset;
                if (l != which || sym_plain_loop(e->c, ref->args[d], &offset) !=
                                      array->loops[l])
                    return NULL;
                first[d] = sym_add2(e->c, offset, sym_num(e->c, 1));
                symp extent = array->args[1 + l];
                bool whole = extent->kind == SYM_EXTENT &&
                             extent->var == ref->var && extent->dim == d;
                if (l > 0 && !whole)
                    return NULL;
            }
        if (which >= 0 && !sym_has_loop(ref->args[d], array->loops[which]))
            return NULL;
    }
    return intern_format(e->c, "s->%s + (%s)", ref->var->cname,
                         emit_cell(e, ref->var, first));
}

const char *emit_array(struct emitter *e, symp array)
{
    struct compiler *c = e->c;
    const char *direct = contiguous(e, array);
    if (direct)
        return direct;
    const char *name = emit_name(e, "values");
    const char *small = emit_name(e, "small");
    const char *count = emit_int(e, array->args[1]);
    if (array->nloops == 2)
        count = intern_format(c, "(long long)(%s) * (%s)", count,
                              emit_int(e, array->args[2]));
    emit_line(e, "GBM_SCRATCH(%s, %s, %s);", name, small, count);
    bool team = e->team;
    e->team = false;
    int depth = e->nloops, nshared = e->nshared;
    const char *place = NULL;
    for (int l = 0; l < array->nloops; l++) {
        const char *upper = emit_int(e, array->args[1 + l]);
        const char *i = emit_loop_name(e, array->loops[l]);
        emit_line(e, "for (int %s = 1; %s <= %s; %s++) {", i, i, upper, i);
        e->indent++;
        place = place
                    ? intern_format(c, "(%s) * (%s) + %s - 1", place, upper, i)
                    : intern_format(c, "%s - 1", i);
    }
    const char *value = emit_expr(e, array->args[0]);
    emit_line(e, "%s[%s] = %s;", name, place, value);
    for (int l = 0; l < array->nloops; l++) {
        e->indent--;
        emit_line(e, "}");
    }
    e->nloops = depth;
    e->nshared = nshared;
    e->team = team;
    return name;
}

/* Extents of an array function's arguments, in the order of its header. */
static void emit_extents(struct emitter *e, symp x, struct text *t)
{
    const char *done[8];
    int n = 0;
    for (int i = 0; x->entry && i < x->entry->nparameters; i++) {
        const struct parameter *p = &x->entry->parameters[i];
        for (int d = 0; d < p->ndims && x->args[i]->kind == SYM_ARRAY; d++) {
            bool known = false;
            for (int k = 0; k < n; k++)
                known = known || done[k] == p->dims[d];
            if (known || n == 8)
                continue;
            done[n++] = p->dims[d];
            text_printf(t, "%s, ", emit_int(e, x->args[i]->args[1 + d]));
        }
    }
}

static const char *emit_list(struct emitter *e, symp x)
{
    struct text t = {0};
    const char *name = emit_name(e, "list");
    for (int i = 1; i < x->nargs; i++)
        text_printf(&t, "%s%s", i > 1 ? ", " : "",
                    emit_number(e->c, x->args[i]->number));
    emit_line(e, "static const real %s[] = {%s};", name, t.data);
    text_free(&t);
    return intern_format(e->c, "%s[(%s) - 1]", name, emit_int(e, x->args[0]));
}

const char *emit_argument(struct emitter *e, symp x)
{
    return x->kind == SYM_ARRAY ? emit_array(e, x) : emit_expr(e, x);
}

const char *emit_call_with(struct emitter *e, symp x, const char *function,
                           const char *const *args, const char *more)
{
    struct text t = {0};
    emit_extents(e, x, &t);
    for (int i = 0; i < x->nargs; i++)
        text_printf(&t, "%s%s", i ? ", " : "", args[i]);
    if (more)
        text_printf(&t, ", %s", more);
    const char *s =
        intern_format(e->c, "%s(%s)", function, t.data ? t.data : "");
    text_free(&t);
    return s;
}

static const char *function_in_rows(const struct emitter *e, symp call)
{
    const struct expr *code = e->of_rows && call->entry && !emit_has_terms(call)
                                  ? entry_value(call->entry, "code_in_rows")
                                  : NULL;
    return code ? code->name : emit_function_of(e->c, call);
}

const char *emit_function_of(struct compiler *c, symp call)
{
    const struct expr *code =
        call->entry ? entry_value(call->entry, "code") : NULL;
    return code ? code->name : intern_format(c, "gbm_%s", call->name);
}

/* The function of an array, which takes a loop, once in what reads it often. */
static const char *emit_once(struct emitter *e, symp x, const char *text)
{
    bool array = false;
    for (int i = 0; i < x->nargs; i++)
        array = array || x->args[i]->kind == SYM_ARRAY;
    if (!e->shares || !array || model_is_integer(x))
        return text;
    const char *name = emit_name(e, "once");
    emit_line(e, "const real %s = %s;", name, text);
    emit_remember(e, x, name);
    return name;
}

/* What counts settle may be as large as what it is compared with: emit_limit.
 */
static const char *emit_comparison(struct emitter *e, symp x)
{
    const bool counts =
        model_is_integer(x->args[0]) && model_is_integer(x->args[1]);
    const bool outer = e->rounded;
    e->rounded = outer || (!counts && model_counts_settle(x));
    e->compared += counts;
    const char *s = intern_format(e->c, "%s %s %s", emit_in(e, x->args[0], 1),
                                  x->name, emit_in(e, x->args[1], 1));
    e->compared -= counts;
    e->rounded = outer;
    return s;
}

static const char *emit_call(struct emitter *e, symp x)
{
    struct compiler *c = e->c;
    const char *name = x->name;
    if (sym_is_list(x))
        return emit_list(e, x);
    if (!strncmp(name, "draw_", 5)) {
        struct text t = {0};
        bool extent = false; /* the vectors that a draw takes share theirs */
        for (int i = 0; i < x->nargs && !extent; i++)
            if (x->args[i]->kind == SYM_ARRAY) {
                extent = true;
                text_printf(&t, ", %s", emit_int(e, x->args[i]->args[1]));
            }
        for (int i = 0; i < x->nargs; i++)
            text_printf(&t, ", %s", emit_expr(e, x->args[i]));
        const char *value = emit_name(e, name + 5);
        emit_line(e, "const real %s = gbm_%s(rng%s);", value,
                  !strcmp(name, "draw_uniform") ? "uniform" : name,
                  t.data ? t.data : "");
        text_free(&t);
        return value;
    }
    if (x->nargs == 2 && model_is_integer(x))
        return emit_comparison(e, x);
    if (x->nargs == 1 && !strcmp(name, "!"))
        return intern_format(c, "!(%s)", emit_expr(e, x->args[0]));
    if (x->nargs == 2 && (!strcmp(name, "max") || !strcmp(name, "min")))
        return intern_format(
            c, "gbm_%s(%s, %s)", !strcmp(name, "max") ? "larger" : "smaller",
            emit_expr(e, x->args[0]), emit_expr(e, x->args[1]));
    if (e->clamped && !strcmp(name, "log") && x->args[0]->kind == SYM_ADD)
        return intern_format(c, "real_log(real_fmax(0, %s))",
                             emit_expr(e, x->args[0]));
    const char *text = emit_of_row(e, x);
    if (text)
        return emit_once(e, x, text);
    const char **args = NEW_ARRAY(c, const char *, x->nargs);
    for (int i = 0; i < x->nargs; i++)
        args[i] = emit_argument(e, x->args[i]);
    text = emit_call_with(e, x, function_in_rows(e, x), args, NULL);
    return emit_once(e, x, text);
}

/* What a sum begins with that C would take for one of its integers, at first at
 * least, as two counts of more than 2^30 are beyond these. Where it is
 * compared, single precision has too few digits. */
static const char *cast_of_sum(const struct emitter *e, symp x)
{
    int counts = 0;
    for (int i = 0; i < x->nargs && model_is_integer(x->args[i]); i++)
        counts += x->args[i]->kind == SYM_REF || x->args[i]->kind == SYM_MUL;
    if (counts < 2 || e->whole)
        return "";
    return e->compared && model_is_integer(x) ? "(long long)" : "(real)";
}

static const char *emit_add(struct emitter *e, symp x)
{
    struct text t = {0};
    const char *cast = cast_of_sum(e, x);
    for (int i = 0; i < x->nargs; i++) {
        symp a = x->args[i];
        bool minus = (a->kind == SYM_NUM && a->number < 0) ||
                     (a->kind == SYM_MUL && a->args[0]->kind == SYM_NUM &&
                      a->args[0]->number < 0);
        if (minus)
            a = sym_neg(e->c, a);
        text_printf(&t, "%s%s%s",
                    minus ? (i ? " - " : "-")
                    : i   ? " + "
                          : "",
                    i ? "" : cast,
                    emit_in(e, a,
                            *cast && !i ? 9
                            : minus     ? 2
                                        : 1));
    }
    return text_take(e->c, &t);
}

const char *emit_loop_of(const struct emitter *e, const struct loop *loop)
{
    for (int i = e->nloops - 1; i >= 0; i--)
        if (e->loops[i].loop == loop)
            return e->loops[i].name;
    return intern_format(e->c, "UNBOUND_%s", loop->name);
}

static const char *emit_rounded(struct emitter *e, symp x, const char *text)
{
    return e->rounded && !model_is_integer(x)
               ? intern_format(e->c, "gbm_rounded(%s)", text)
               : text;
}

const char *emit_expr(struct emitter *e, symp x)
{
    const char *known = emit_done_before(e, x);
    if (known)
        return known;
    switch (x->kind) {
    case SYM_NUM:
        return emit_number(e->c, x->number);
    case SYM_LOOP:
        return emit_loop_of(e, x->loop);
    case SYM_REF:
    case SYM_SEEN:
    case SYM_LIVE:
        return emit_ref(e, x);
    case SYM_EXTENT:
        return intern_format(e->c, "s->%s_n%d", x->var->cname, x->dim + 1);
    case SYM_TARGET:
        return e->target;
    case SYM_PARAM:
        for (int i = e->nparams - 1; i >= 0; i--)
            if (e->params[i].name == x->name)
                return e->params[i].as;
        return intern_format(e->c, "UNKNOWN_%s", x->name);
    case SYM_ADD:
        return emit_add(e, x);
    case SYM_MUL:
        return emit_rounded(e, x, emit_mul(e, x));
    case SYM_POW:
        return emit_rounded(e, x, emit_power(e, x));
    case SYM_CALL:
        return emit_call(e, x);
    case SYM_SELECT:
        return emit_select(e, x);
    case SYM_SUM:
        return emit_sum(e, x);
    case SYM_ARRAY:
        return emit_array(e, x);
    }
    UNREACHABLE();
}
