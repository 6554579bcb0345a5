/* prior_draw.c: a draw of an element from its distribution. */
#include "emit/emit.h"
#include <math.h>
#include <string.h>

static void emit_vector_draw(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    const struct entry *d = f->distribution;
    const struct expr *draw = entry_value(d, "draw");
    if (!draw || draw->kind != EXPR_CALL) {
        emit_line(e, "/* %s has no draw */", d->name);
        return;
    }
    struct text extents = {0}, args = {0};
    const char *done[8];
    int ndone = 0;
    /* extents in the order of the header: parameters, then the result */
    for (int i = 0; i <= d->nparameters; i++) {
        const struct parameter *p =
            i < d->nparameters ? &d->parameters[i] : d->result;
        for (int k = 0; k < p->ndims; k++) {
            bool known = false;
            for (int j = 0; j < ndone; j++)
                known = known || done[j] == p->dims[k];
            if (known || ndone == 8)
                continue;
            done[ndone++] = p->dims[k];
            symp n = i < d->nparameters ? f->args[i].extents[k]
                                        : family_extent(c, f, k);
            text_printf(&extents, "%s, ", emit_int(e, n));
        }
    }
    for (int i = 0; i < draw->nargs; i++) {
        symp a =
            model_substitute_derived(c, family_expression(c, f, draw->args[i]));
        text_printf(&args, "%s, ",
                    a->kind == SYM_ARRAY ? emit_array(e, a) : emit_expr(e, a));
    }
    const char *count = emit_int(e, family_extent(c, f, 0));
    const char *width =
        f->nslices == 2 ? emit_int(e, family_extent(c, f, 1)) : "1";
    emit_line(e, "GBM_SCRATCH(drawn, drawn_small, (%s) * (%s));", count, width);
    emit_line(e, "gbm_%s(rng, %s%sdrawn);", draw->name,
              extents.data ? extents.data : "", args.data ? args.data : "");
    symp at[2];
    int braces = emit_open_slices(e, f, at);
    symp ref = family_lhs(c, f, f->nslices, at);
    const char *place = emit_place_in_slices(e, f, at, width);
    emit_line(e, "%s = %sdrawn[%s]%s;", emit_expr(e, ref),
              f->var->integer ? "gbm_whole(" : "", place,
              f->var->integer ? ")" : "");
    emit_close(e, braces);
    text_free(&extents);
    text_free(&args);
}

/* No draw: NaN, or what stands for it among integers. */
static const char *no_draw(const struct family *f)
{
    return f->var->integer ? "gbm_whole(GBM_NAN)" : "GBM_NAN";
}

/* Between a lower bound that may be above the upper one there is no draw. */
static void emit_order_of_bounds(struct emitter *e, const struct family *f,
                                 const char *cell)
{
    const struct factor *g = f->factor;
    if (!f->truncated || !g->lower || !g->upper ||
        model_never_below(g->upper, g->lower))
        return;
    emit_line(e, "if (!(lower <= upper)) {");
    e->indent++;
    emit_line(e, "%s = %s;", cell, no_draw(f));
    emit_line(e, "return;");
    emit_close(e, 1);
}

/* The clause draw_between at the family's arguments. */
static symp draw_between(struct emitter *e, const struct family *f,
                         const struct expr *clause)
{
    struct compiler *c = e->c;
    const struct factor *g = f->factor;
    if (emit_has_array_argument(f)) {
        symp lower = g->lower ? g->lower : sym_num(c, -INFINITY);
        symp upper = g->upper ? g->upper : sym_num(c, INFINITY);
        return model_substitute_derived(
            c, family_between(c, f, clause, lower, upper));
    }
    emit_param(e, "lower", "lower");
    emit_param(e, "upper", "upper");
    return emit_entry_expression(c, f->distribution, clause);
}

static void emit_truncated_draw(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    const struct entry *d = f->distribution;
    const struct factor *g = f->factor;
    const char *low = g->lower ? emit_expr(e, g->lower) : "-GBM_INF";
    const char *high = g->upper ? emit_expr(e, g->upper) : "GBM_INF";
    emit_line(e, "const real lower = %s, upper = %s;", low, high);
    const char *cell = emit_expr(e, g->value);
    const char *cast = f->var->integer ? "gbm_whole" : "";
    emit_order_of_bounds(e, f, cell);
    const struct expr *between = entry_value(d, "draw_between");
    const struct expr *cdf = entry_value(d, "cdf");
    const struct expr *quantile = entry_value(d, "quantile");
    if (between) {
        emit_line(e, "%s = %s(%s);", cell, cast,
                  emit_put_between(e, draw_between(e, f, between)));
        return;
    }
    if (cdf && quantile && !emit_has_array_argument(f) &&
        !model_draws_integers(f)) {
        emit_line(e, "%s = %s;", cell, emit_real_between(e, d));
        return;
    }
    bool inverts = cdf && model_draws_integers(f) &&
                   !emit_has_array_argument(f) && g->lower;
    emit_line(e, "for (int attempt = 0; attempt < %d; attempt++) {",
              inverts ? 200 : 100000);
    e->indent++;
    symp draw = emit_has_array_argument(f)
                    ? model_substitute_derived(
                          c, family_expression(c, f, entry_value(d, "draw")))
                    : emit_entry_expression(c, d, entry_value(d, "draw"));
    emit_line(e, "%s = %s(%s);", cell, cast, emit_expr(e, draw));
    emit_line(e, "if (%s >= lower && %s <= upper)", cell, cell);
    emit_line(e, "    break;");
    e->indent--;
    emit_line(e, "}");
    if (inverts)
        emit_integer_between(e, d, cell);
    emit_line(e, "if (!(%s >= lower && %s <= upper))", cell, cell);
    emit_line(e, "    %s = %s;", cell, no_draw(f));
}

/* Statements that draw the lhs of f from its prior into its cells. */
static void emit_prior_draw(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    const struct entry *d = f->distribution;
    const struct expr *draw = entry_value(d, "draw");
    if (f->nslices) {
        emit_vector_draw(e, f);
        return;
    }
    bool inversion = !draw && entry_value(d, "cdf") &&
                     entry_value(d, "quantile") &&
                     !emit_has_array_argument(f) && !model_draws_integers(f);
    if (!draw && !inversion) {
        emit_line(e, "/* %s has no draw: the value stays */", d->name);
        return;
    }
    if (!emit_has_array_argument(f))
        emit_bind_scalars(e, f);
    if (f->truncated || inversion) {
        emit_truncated_draw(e, f);
        return;
    }
    symp value =
        emit_has_array_argument(f)
            ? model_substitute_derived(c, family_expression(c, f, draw))
            : emit_entry_expression(c, d, draw);
    const char *text = emit_expr(e, value);
    emit_line(
        e, "%s = %s(%s);",
        emit_expr(e, f->factor ? f->factor->value : family_lhs(c, f, 0, NULL)),
        f->var->integer ? "gbm_whole" : "", text);
}

static void open_draw_function(struct emitter *e, const struct family *f,
                               const char *name)
{
    emit_open_element_function(
        e, f,
        intern_format(e->c,
                      "GBM_FN void %s_%s(const struct state *s, struct gbm_rng "
                      "*rng, long long element)",
                      name, family_id(e->c, f)));
}

static symp draw_rule(struct compiler *c, const struct family *f)
{
    return model_can_be_drawn(f) ? model_rule_of_draws(c, f) : NULL;
}

/* Where the rule of its distribution is broken, an element has no draw. */
static void emit_no_draw(struct emitter *e, const struct family *f, symp rule)
{
    symp at[2];
    emit_line(e, "if (!(%s)) {", emit_expr(e, rule));
    e->indent++;
    int braces = emit_open_slices(e, f, at);
    symp ref = f->nslices || !f->factor ? family_lhs(e->c, f, f->nslices, at)
                                        : f->factor->value;
    emit_line(e, "%s = %s;", emit_expr(e, ref), no_draw(f));
    emit_close(e, braces);
    emit_line(e, "return;");
    emit_close(e, 1);
}

void emit_ruled_draw(struct emitter *e, const struct family *f)
{
    symp rule = draw_rule(e->c, f);
    if (rule)
        emit_no_draw(e, f, rule);
    emit_prior_draw(e, f);
}

void emit_simulate(struct compiler *c, struct text *out, const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, f);
    symp rule = draw_rule(c, f);
    open_draw_function(&e, f, rule ? "draw" : "simulate");
    emit_prior_draw(&e, f);
    text_append(out, "}\n");
    if (rule) {
        e = emitter_new(c, out);
        open_draw_function(&e, f, "simulate");
        emit_no_draw(&e, f, rule);
        emit_line(&e, "draw_%s(s, rng, element);", id);
        text_append(out, "}\n");
    }
    text_printf(out,
                "#ifndef __CUDACC__\nGBM_HOST_SIMULATE(simulate_%s)\n"
                "#endif\n\n",
                id);
}

void emit_unruled_draw(struct emitter *e, const struct family *f)
{
    emit_line(e, "%s_%s(s, rng, element);",
              draw_rule(e->c, f) ? "draw" : "simulate", family_id(e->c, f));
}
