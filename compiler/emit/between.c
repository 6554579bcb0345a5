/* between.c: draws between bounds through the distribution function and,
 * where this loses the points of the interval, through the logs of its tails
 * (stdlib/kernels/between.h). */
#include "emit/emit.h"
#include <string.h>

/* log of the distribution function at the target or, if `upper`, of its
 * complement. */
static symp log_tail(struct compiler *c, const struct entry *d, bool upper)
{
    const struct expr *stated =
        entry_value(d, upper ? "log_survival" : "log_cdf");
    if (stated)
        return emit_entry_expression(c, d, stated);
    symp cdf = emit_entry_expression(c, d, entry_value(d, "cdf"));
    return sym_log(c, upper ? sym_sub(c, sym_num(c, 1), cdf) : cdf);
}

/* C text of e at a local variable. */
static const char *at(struct emitter *e, symp x, const char *place)
{
    e->target = place;
    return emit_expr(e, x);
}

/* place = a draw from (low, upper]; `low` and `upper` are locals. */
static void emit_search(struct emitter *e, const struct entry *d,
                        const char *low, bool whole, const char *place)
{
    const char *s = emit_name(e, "search"), *x = emit_name(e, "place");
    symp below = log_tail(e->c, d, false), above = log_tail(e->c, d, true);
    /* an expression may write lines of its own before its value */
    const char *const value[] = {at(e, below, low), at(e, above, low),
                                 at(e, below, "upper"), at(e, above, "upper")};
    emit_line(e, "struct gbm_search %s = gbm_search_between(rng, %s, upper,", s,
              low);
    emit_line(e, "    %s > -GBM_INF ? %s : -GBM_INF,", low, value[0]);
    emit_line(e, "    %s > -GBM_INF ? %s : 0,", low, value[1]);
    emit_line(e, "    upper < GBM_INF ? %s : 0,", value[2]);
    emit_line(e, "    upper < GBM_INF ? %s : -GBM_INF, %s);", value[3],
              whole ? "true" : "false");
    emit_line(e, "while (!%s.found) {", s);
    e->indent++;
    emit_line(e, "const real %s = %s.x;", x, s);
    emit_line(e, "gbm_search_on(&%s, %s.left ? %s : %s);", s, s,
              at(e, below, x), at(e, above, x));
    e->indent--;
    emit_line(e, "}");
    emit_line(e, "%s = %s%s.x;", place, whole ? "(int)" : "", s);
}

/* Of integers, after a few forward draws that missed the interval. */
void emit_integer_between(struct emitter *e, const struct entry *d,
                          const char *cell)
{
    emit_line(e, "if (!(%s >= lower && %s <= upper)) {", cell, cell);
    e->indent++;
    emit_line(e, "const real before = real_ceil(lower) - 1;");
    emit_search(e, d, "before", true, cell);
    e->indent--;
    emit_line(e, "}");
}

/* C text: a draw that is between the locals lower and upper but for rounding,
 * as of a root of one between their squares, or overflow, as of an exponential,
 * put between them: beyond, its density is 0. */
const char *emit_put_between(struct emitter *e, symp draw)
{
    return intern_format(e->c, "gbm_put_between(%s, lower, upper)",
                         emit_expr(e, draw));
}

/* Returns the name of a local with a draw between the locals lower and upper.
 */
const char *emit_real_between(struct emitter *e, const struct entry *d)
{
    struct compiler *c = e->c;
    symp cdf = emit_entry_expression(c, d, entry_value(d, "cdf"));
    const char *a = emit_name(e, "below"), *b = emit_name(e, "above");
    const char *value = emit_name(e, "between"), *p = emit_name(e, "p");
    emit_line(e, "const real %s = lower > -GBM_INF ? %s : 0;", a,
              at(e, cdf, "lower"));
    emit_line(e, "const real %s = upper < GBM_INF ? %s : 1;", b,
              at(e, cdf, "upper"));
    emit_line(e, "real %s;", value);
    emit_line(e, "if (gbm_resolved(%s, %s)) {", a, b);
    e->indent++;
    emit_line(e, "const real %s = %s + (%s - %s) * gbm_uniform(rng);", p, a, b,
              a);
    emit_param(e, "p", p);
    emit_line(
        e, "%s = gbm_clamp(%s, lower, upper);", value,
        emit_expr(e, emit_entry_expression(c, d, entry_value(d, "quantile"))));
    e->indent--;
    emit_line(e, "} else {");
    e->indent++;
    emit_search(e, d, "lower", false, value);
    e->indent--;
    emit_line(e, "}");
    return value;
}

const char *emit_drawn_between(struct emitter *e, const struct entry *d)
{
    const struct expr *between = entry_value(d, "draw_between");
    if (!between)
        return emit_real_between(e, d);
    emit_param(e, "lower", "lower");
    emit_param(e, "upper", "upper");
    return emit_put_between(e, emit_entry_expression(e->c, d, between));
}

/* The draws of e are added to *n; whether all are of a normal between bounds.
 */
static bool draws_between_alone(symp e, int *n)
{
    bool alone = true;
    for (int i = 0; i < e->nargs; i++)
        alone = draws_between_alone(e->args[i], n) && alone;
    if (!sym_is_draw(e, NULL))
        return alone;
    ++*n;
    return alone && !strcmp(e->name, "draw_truncated_normal");
}

bool emit_asks_between(struct compiler *c, const struct entry *d)
{
    const struct expr *between = entry_value(d, "draw_between");
    int n = 0;
    return between &&
           draws_between_alone(emit_entry_expression(c, d, between), &n) &&
           n == 1;
}
