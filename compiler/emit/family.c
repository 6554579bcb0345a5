/* family.c: what a generated program knows of each statement by itself:
 * its cells, its plain log density, a draw from its prior, a starting value,
 * what to check of its data. */
#include "emit/emit.h"
#include <string.h>

void emit_open_element_function(struct emitter *e, const struct family *f,
                                const char *head)
{
    text_printf(e->out, "%s\n{\n", head);
    if (f->nloops)
        emit_decode(e, f, "element");
}

/* ---- the left-hand side
 * ------------------------------------------------------ */

int emit_open_slices(struct emitter *e, const struct family *f, symp *at)
{
    struct compiler *c = e->c;
    static const char *const names[] = {"row", "column"};
    int braces = 0;
    for (int i = 0; i < f->nslices; i++) {
        struct loop *l = NEW(c, struct loop);
        l->name = names[i];
        const char *extent = emit_int(e, family_extent(c, f, i));
        const char *name = emit_loop_name(e, l);
        emit_line(e, "for (int %s = 1; %s <= %s; %s++) {", name, name, extent,
                  name);
        e->indent++;
        braces++;
        at[i] = sym_loop(c, l);
    }
    return braces;
}

static void emit_cells(struct compiler *c, struct text *out,
                       const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, f);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "static int64_t cells_%s_in(const struct "
                      "state *s, int64_t element, int64_t *out)",
                      id));
    emit_line(&e, "int64_t count = 0;");
    symp at[2];
    int braces = emit_open_slices(&e, f, at);
    symp ref = family_lhs(c, f, f->nslices, at);
    const char *cell = emit_cell(&e, f->var, ref->args);
    emit_line(&e, "if (out)");
    emit_line(&e, "    out[count] = %s;", cell);
    emit_line(&e, "count++;");
    emit_close(&e, braces);
    text_append(out, "    return count;\n}\n");
    text_printf(out,
                "static int64_t cells_%s(const void *state, int64_t element, "
                "int64_t *out)\n{\n    return cells_%s_in((const struct state "
                "*)state, element, out);\n}\n\n",
                id, id);
}

static void emit_subscripts(struct compiler *c, struct text *out,
                            const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "static void subscripts_%s_in(const struct "
                      "state *s, int64_t element, int *out)",
                      family_id(c, f)));
    for (int d = 0; d < f->var->ndim; d++) {
        symp top = f->upper[d] ? f->upper[d] : f->lower[d];
        bool self = top->kind == SYM_EXTENT && top->var == f->var;
        emit_line(&e, "out[%d] = %s;", d, self ? "1" : emit_int(&e, top));
    }
    text_append(out, "}\n");
    text_printf(out,
                "static void subscripts_%s(const void *state, int64_t "
                "element, int *out)\n{\n    subscripts_%s_in((const struct "
                "state *)state, element, out);\n}\n\n",
                family_id(c, f), family_id(c, f));
}

/* With turns: that of an element of data. */
static void emit_turn(struct compiler *c, struct text *out,
                      const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, f);
    emit_open_element_function(
        &e, f,
        intern_format(
            c,
            "static int64_t turn_%s_in(const struct state *s, int64_t element)",
            id));
    emit_line(&e, "return %s;", emit_int(&e, f->factor->turn));
    text_printf(
        out,
        "}\nstatic int64_t turn_%s(const void *state, int64_t element)\n"
        "{\n    return turn_%s_in((const struct state *)state, "
        "element);\n}\n\n",
        id, id);
}

static void emit_enumerate(struct compiler *c, struct text *out,
                           const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static int64_t enumerate_%s(const void *state, int *tuples)\n"
                "{\n    const struct state *s = (const struct state *)state;\n"
                "    int64_t count = 0;\n",
                family_id(c, f));
    for (int i = 0; i < f->nloops; i++)
        emit_open_loop(&e, f->loops[i], f->loops[i]->lower, f->loops[i]->upper);
    for (int i = 0; i < f->nloops; i++) {
        emit_line(&e, "if (tuples)");
        emit_line(&e, "    tuples[count * %d + %d] = %s;", f->nloops, i,
                  e.loops[i].name);
    }
    emit_line(&e, "count++;");
    emit_close(&e, f->nloops);
    text_append(out, "    return count;\n}\n\n");
}

/* ---- densities
 * ------------------------------------------------------------------ */

void emit_return_density(struct emitter *e, const struct family *f)
{
    const struct factor *g = f->factor;
    if (g->lower || g->upper) {
        const char *value = emit_expr(e, g->value);
        if (g->lower)
            emit_line(e, "if (!(%s >= %s))", value,
                      emit_in_brackets(e, g->lower));
        if (g->lower)
            emit_line(e, "    return -GBM_INF;");
        if (g->upper)
            emit_line(e, "if (!(%s <= %s))", value,
                      emit_in_brackets(e, g->upper));
        if (g->upper)
            emit_line(e, "    return -GBM_INF;");
    }
    const char *value = emit_expr(e, model_under_rule(e->c, g, g->plain));
    emit_line(e, "return %s;", value);
}

static void emit_logdensity(struct compiler *c, struct text *out,
                            const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, f);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "GBM_FN real logdensity_%s(const struct state "
                      "*s, long long element)",
                      id));
    emit_return_density(&e, f);
    text_append(out, "}\n");
    text_printf(out,
                "#ifndef __CUDACC__\nGBM_HOST_LOGDENSITY(logdensity_%s)\n"
                "#endif\n\n",
                id);
}

/* ---- draws from the prior
 * ---------------------------------------------------------- */

static void bind_scalars(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    const struct entry *d = f->distribution;
    for (int i = 0; i < f->nargs; i++) {
        if (f->args[i].ndim)
            continue;
        const char *value =
            emit_expr(e, model_substitute_derived(c, f->args[i].body));
        const char *name = emit_name_of_model(e, d->parameters[i].name);
        emit_line(e, "const real %s = %s;", name, value);
        emit_param(e, d->parameters[i].name, name);
    }
}

static bool has_array_argument(const struct family *f)
{
    for (int i = 0; i < f->nargs; i++)
        if (f->args[i].ndim)
            return true;
    return false;
}

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
    const char *row = emit_expr(e, at[0]);
    const char *place = f->nslices == 2
                            ? intern_format(c, "(%s - 1) * (%s) + %s - 1", row,
                                            width, emit_expr(e, at[1]))
                            : intern_format(c, "%s - 1", row);
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
    if (between && !has_array_argument(f)) {
        emit_param(e, "lower", "lower");
        emit_param(e, "upper", "upper");
        emit_line(e, "%s = %s(%s);", cell, cast,
                  emit_put_between(e, emit_entry_expression(c, d, between)));
        return;
    }
    if (cdf && quantile && !has_array_argument(f) && !model_draws_integers(f)) {
        emit_line(e, "%s = %s;", cell, emit_real_between(e, d));
        return;
    }
    bool inverts =
        cdf && model_draws_integers(f) && !has_array_argument(f) && g->lower;
    emit_line(e, "for (int attempt = 0; attempt < %d; attempt++) {",
              inverts ? 200 : 100000);
    e->indent++;
    symp draw = has_array_argument(f)
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
                     entry_value(d, "quantile") && !has_array_argument(f) &&
                     !model_draws_integers(f);
    if (!draw && !inversion) {
        emit_line(e, "/* %s has no draw: the value stays */", d->name);
        return;
    }
    if (!has_array_argument(f))
        bind_scalars(e, f);
    if (f->truncated || inversion) {
        emit_truncated_draw(e, f);
        return;
    }
    symp value =
        has_array_argument(f)
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

static void emit_simulate(struct compiler *c, struct text *out,
                          const struct family *f)
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

/* ---- starting values
 * -------------------------------------------------------------- */

/* "child is observed && ": one that is drawn starts later, within the bounds
 * that its parents leave. */
static const char *child_is_seen(struct emitter *e, symp x)
{
    if (!x || x->kind != SYM_REF)
        return "";
    return intern_format(
        e->c, "%s && ",
        emit_expr(e, sym_seen(e->c, x->var, x->nargs, x->args)));
}

/* Near the mean where the library states one, else a draw; inside the support,
 * the truncation, and what `confine` and the children's supports leave. */
static void emit_start(struct compiler *c, struct text *out,
                       const struct family *f, const struct step *step)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, f);
    const struct entry *d = f->distribution;
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "static void start_%s(const struct state "
                      "*s, struct gbm_rng *rng, int64_t element, "
                      "double spread)",
                      id));
    if (f->nslices || !f->factor) {
        emit_vector_start(&e, f);
        goto done;
    }
    const struct factor *g = f->factor;
    const char *low = g->lower ? emit_expr(&e, g->lower) : "-GBM_INF";
    const char *high = g->upper ? emit_expr(&e, g->upper) : "GBM_INF";
    emit_line(&e, "real lower = %s, upper = %s;", low, high);
    for (const struct bound *b = step ? step->support.bounds : NULL; b;
         b = b->next) {
        if (b->part->inverse)
            continue; /* not built yet */
        int depth = e.nloops;
        int braces = emit_open_part(&e, b->part, false);
        const char *value = emit_in_brackets(&e, b->value);
        emit_line(&e, "if (%s%s %s %s)", child_is_seen(&e, b->child), value,
                  b->is_lower ? ">" : "<", b->is_lower ? "lower" : "upper");
        emit_line(&e, "    %s = %s;", b->is_lower ? "lower" : "upper", value);
        emit_close(&e, braces);
        e.nloops = depth;
    }
    const char *cell = emit_expr(&e, g->value);
    if (model_draws_integers(f)) {
        emit_unruled_draw(&e, f);
        emit_line(&e, "if (%s < lower)", cell);
        emit_line(&e, "    %s = (int)lower;", cell);
        emit_line(&e, "if (%s > upper)", cell);
        emit_line(&e, "    %s = (int)upper;", cell);
        goto done;
    }
    /* the mean or, of what has none (a half-Cauchy) or one far out in the tail
     * (a log-normal), the median */
    const struct expr *typical = entry_value(d, "mean");
    if (!typical && (typical = entry_value(d, "quantile")))
        emit_param(&e, "p", "REAL_C(0.5)");
    if (f->auxiliary) {
        emit_line(&e, "%s = gbm_start(rng, GBM_NAN, lower, upper, 0);", cell);
        goto done;
    }
    if (typical && !has_array_argument(f)) {
        bind_scalars(&e, f);
        const char *value = emit_expr(&e, emit_entry_expression(c, d, typical));
        emit_line(&e, "%s = gbm_start(rng, %s, lower, upper, (real)spread);",
                  cell, value);
    } else {
        emit_unruled_draw(&e, f);
        emit_line(&e, "%s = gbm_start(rng, %s, lower, upper, 0);", cell, cell);
    }
done:
    text_append(out, "}\n");
    text_printf(out, "GBM_HOST_START(start_%s)\n\n", id);
}

/* ---- checks
 * -------------------------------------------------------------------------- */

bool emit_loops_in_scope(const struct emitter *e, symp x)
{
    if (x->kind == SYM_LOOP) {
        for (int i = 0; i < e->nloops; i++)
            if (e->loops[i].loop == x->loop)
                return true;
        return false;
    }
    for (int i = 0; i < x->nargs; i++)
        if (!emit_loops_in_scope(e, x->args[i]))
            return false;
    return true;
}

/* The random nodes that an element reads must be data. */
static void check_seen(struct emitter *e, symp x)
{
    for (int i = 0; i < x->nargs; i++)
        check_seen(e, x->args[i]);
    if (x->kind != SYM_REF || x->var->role != ROLE_STOCHASTIC)
        return;
    emit_line(e, "if (!%s)",
              emit_expr(e, sym_seen(e->c, x->var, x->nargs, x->args)));
    emit_line(
        e,
        "    return gbm_problem_text(problem, \"%s is read here, so it must be "
        "supplied\");",
        x->var->name);
}

static const char *element_format(struct emitter *e, const struct family *f,
                                  const char **args)
{
    struct compiler *c = e->c;
    const struct var *v = f->var;
    struct text format = {0}, list = {0};
    text_append(&format, v->name);
    for (int d = 0; d < v->ndim && !f->nslices; d++) {
        text_printf(&format, "%s%%d", d ? "," : "[");
        text_printf(&list, ", %s", emit_int(e, f->lower[d]));
    }
    if (v->ndim && !f->nslices)
        text_append(&format, "]");
    const char *s = intern(c, format.data);
    *args = intern(c, list.data ? list.data : "");
    text_free(&format);
    text_free(&list);
    return s;
}

static const char *support_text(struct compiler *c, const struct family *f)
{
    const struct expr *support = entry_value(f->distribution, "support");
    if (!support)
        return "values";
    struct text t = {0};
    if (!strcmp(support->name, "integer") && support->nargs == 2 &&
        support->args[0]->kind == EXPR_NUM &&
        support->args[1]->kind == EXPR_NUM &&
        support->args[1]->number - support->args[0]->number == 1) {
        text_printf(&t, "{%g,%g}", support->args[0]->number,
                    support->args[1]->number);
    } else {
        text_printf(&t, "%s", support->name);
        for (int i = 0; i < support->nargs; i++) {
            text_append(&t, i ? ", " : " [");
            expr_print(&t, support->args[i]);
        }
        if (support->nargs)
            text_append(&t, "]");
    }
    return text_take(c, &t);
}

static void check_observed(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    const struct factor *g = f->factor;
    if (!g || f->nslices || (!g->lower && !g->upper))
        return;
    symp low = g->lower && !sym_reads_latent(g->lower) ? g->lower : NULL;
    symp high = g->upper && !sym_reads_latent(g->upper) ? g->upper : NULL;
    if (!low && !high)
        return;
    const char *args, *name = element_format(e, f, &args);
    symp seen = sym_seen(c, f->var, f->var->ndim, f->lower);
    const char *value = emit_expr(e, g->value);
    const char *a = low ? emit_in_brackets(e, low) : NULL;
    const char *b = high ? emit_in_brackets(e, high) : NULL;
    emit_line(e, "if (%s && (%s%s%s%s%s%s%s))", emit_expr(e, seen),
              a ? intern_format(c, "%s < ", value) : "", a ? a : "",
              a && b ? " || " : "", b ? intern_format(c, "%s > ", value) : "",
              b ? b : "", "", "");
    emit_line(e,
              "    return gbm_problem_text(problem, \""
              "%s = %%g is outside "
              "the support %s of %s\"%s, (double)%s);",
              name, text_in_format(c, support_text(c, f)),
              f->written_distribution->name, args, value);
}

static void check_ranges(struct emitter *e, const struct family *f)
{
    for (const struct range_check *k = f->ranges; k; k = k->next) {
        bool known = !sym_reads_latent(k->lower) &&
                     !sym_reads_latent(k->upper) &&
                     emit_loops_in_scope(e, k->lower) &&
                     emit_loops_in_scope(e, k->upper);
        if (!known || (k->lower->kind == SYM_NUM && k->upper->kind == SYM_NUM))
            continue;
        const char *lower = emit_int(e, k->lower);
        const char *upper = emit_int(e, k->upper);
        emit_line(e, "if (%s < %s)", upper, lower);
        emit_line(e,
                  "    return gbm_problem_text(problem, \"the range %s is "
                  "%%d:%%d, which is empty\", (int)(%s), (int)(%s));",
                  text_in_format(e->c, span_source(e->c, k->span)), lower,
                  upper);
    }
}

const char *emit_free_index(const struct entry *d, const struct expr *e)
{
    if (e->kind == EXPR_SUM)
        return NULL;
    if (e->kind == EXPR_NAME && e->nargs == 0) {
        if (!strcmp(e->name, "inf"))
            return NULL;
        for (int i = 0; i < d->nparameters; i++) {
            if (d->parameters[i].name == e->name)
                return NULL;
            for (int k = 0; k < d->parameters[i].ndims; k++)
                if (d->parameters[i].dims[k] == e->name)
                    return NULL;
        }
        return e->name;
    }
    const char *found = NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = emit_free_index(d, e->args[i]);
    return found;
}

/* cond, which `text` is in the words of d, holds of data. */
static void check_rule(struct emitter *e, const struct family *f,
                       const struct entry *d, symp cond, struct text *text)
{
    if (!cond || cond->kind == SYM_NUM)
        return;
    cond = model_substitute_derived(e->c, cond);
    if (sym_reads_latent(cond))
        return;
    const char *args, *name = element_format(e, f, &args);
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "if (!(%s))", emit_expr(e, cond));
    emit_line(e,
              "    return gbm_problem_text(problem, \"the parameters of "
              "%s at %s break the rule %s\"%s);",
              d->name, name, text_in_format(e->c, text->data), args);
    emit_close(e, 1);
}

/* What is required of the parameters of the distribution as it is written. */
static void check_stated(struct emitter *e, const struct family *f)
{
    const struct entry *d = f->written_distribution;
    const struct clause *require = entry_clause(d, "require");
    struct text t = {0};
    for (const struct clause_item *i = require ? require->items : NULL; i;
         i = i->next) {
        text_append(&t, t.length ? ", " : "");
        expr_print(&t, i->value);
    }
    if (f->stated && t.length)
        check_rule(e, f, d, f->stated, &t);
    text_free(&t);
}

static void check_requirements(struct emitter *e, const struct family *f)
{
    const struct entry *d = f->distribution;
    const struct clause *require = entry_clause(d, "require");
    for (const struct clause_item *i = require ? require->items : NULL; i;
         i = i->next) {
        struct expr *rule = model_rule_of_each(e->c, d, i->value);
        if (emit_free_index(d, rule))
            continue; /* left to the log density */
        struct text t = {0};
        expr_print(&t, i->value);
        check_rule(e, f, d, family_expression(e->c, f, rule), &t);
        text_free(&t);
    }
    check_stated(e, f);
}

/* The length of dimension k of a parameter, or of the node itself. */
static symp length_of(struct emitter *e, const struct family *f, int parameter,
                      int k)
{
    return parameter < f->distribution->nparameters
               ? f->args[parameter].extents[k]
               : family_extent(e->c, f, k);
}

static const struct parameter *parameter_at(const struct entry *d, int i)
{
    return i < d->nparameters ? &d->parameters[i] : d->result;
}

static void check_length(struct emitter *e, const struct family *f, int i,
                         int k, int j, int l)
{
    const struct entry *d = f->distribution;
    symp a = length_of(e, f, i, k), b = length_of(e, f, j, l);
    if (sym_same(a, b) || sym_reads_latent(a) || sym_reads_latent(b) ||
        !emit_loops_in_scope(e, a) || !emit_loops_in_scope(e, b))
        return;
    const char *first = emit_int(e, a), *second = emit_int(e, b);
    emit_line(e, "if (%s != %s)", first, second);
    emit_line(e,
              "    return gbm_problem_text(problem, \"%s and %s of %s must "
              "agree in length: they have %%d and %%d elements%s\", "
              "(int)(%s), (int)(%s));",
              parameter_at(d, i)->name, parameter_at(d, j)->name, d->name,
              parameter_at(d, i)->ndims > 1 || parameter_at(d, j)->ndims > 1
                  ? " along a side"
                  : "",
              first, second);
}

/* Dimensions that the distribution gives one name must agree in length. */
static void check_lengths(struct emitter *e, const struct family *f)
{
    const struct entry *d = f->distribution;
    int n = d->nparameters + (d->result != NULL);
    for (int j = 0; j < n; j++)
        for (int l = 0; l < parameter_at(d, j)->ndims; l++) {
            const char *name = parameter_at(d, j)->dims[l];
            for (int i = 0; i <= j; i++) { /* with the first of that name */
                const struct parameter *p = parameter_at(d, i);
                int k = 0, end = i < j ? p->ndims : l;
                while (k < end && p->dims[k] != name)
                    k++;
                if (k == end)
                    continue;
                check_length(e, f, i, k, j, l);
                break;
            }
        }
}

static void emit_check(struct compiler *c, struct text *out,
                       const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, f);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "static bool check_%s_in(const struct state "
                      "*s, int64_t element, struct gbm_problem "
                      "*problem)",
                      id));
    check_ranges(&e, f);
    emit_check_subscripts(&e, f);
    if (f->of_data)
        check_seen(&e, f->body);
    if (f->stochastic && !f->auxiliary) {
        check_lengths(&e, f);
        check_requirements(&e, f);
        check_observed(&e, f);
    }
    text_append(out, "    return true;\n}\n");
    text_printf(out,
                "static bool check_%s(const void *state, int64_t element, "
                "struct gbm_problem *problem)\n{\n    return check_%s_in("
                "(const struct state *)state, element, problem);\n}\n\n",
                id, id);
}

/* ---- deterministic nodes
 * ----------------------------------------------------------------- */

static void emit_whole_call(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    symp call = model_substitute_derived(c, f->body);
    const char *text = emit_expr(e, call); /* gbm_inverse(K, A) */
    size_t n = strlen(text);
    const char *count = emit_int(e, family_extent(c, f, 0));
    const char *width =
        f->nslices == 2 ? emit_int(e, family_extent(c, f, 1)) : "1";
    emit_line(e, "GBM_SCRATCH(result, result_small, (%s) * (%s));", count,
              width);
    emit_line(e, "%.*s, result);", (int)n - 1, text);
    symp at[2];
    int braces = emit_open_slices(e, f, at);
    symp ref = family_lhs(c, f, f->nslices, at);
    const char *row = emit_expr(e, at[0]);
    const char *place = f->nslices == 2
                            ? intern_format(c, "(%s - 1) * (%s) + %s - 1", row,
                                            width, emit_expr(e, at[1]))
                            : intern_format(c, "%s - 1", row);
    emit_line(e, "%s = result[%s];", emit_expr(e, ref), place);
    emit_close(e, braces);
}

void emit_definition(struct emitter *e, const struct family *f)
{
    if (f->whole_call) {
        emit_whole_call(e, f);
        return;
    }
    symp value = f->var->role == ROLE_CONSTANT
                     ? f->body
                     : model_substitute_derived(e->c, f->body);
    int nshared = e->nshared;
    e->shares = true;
    const char *text = emit_expr(e, value);
    e->shares = false;
    e->nshared = nshared;
    emit_line(e, "%s = %s(%s);", emit_expr(e, family_lhs(e->c, f, 0, NULL)),
              f->var->integer ? "(int)" : "", text);
}

static void emit_derive(struct compiler *c, struct text *out,
                        const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, f);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "GBM_FN void derive_%s(const struct state *s, "
                      "const struct gbm_team *team, long long "
                      "element)",
                      id));
    emit_definition(&e, f);
    text_append(out, "}\n");
    text_printf(out, "#ifndef __CUDACC__\nGBM_HOST_DERIVE(derive_%s)\n#endif\n",
                id);
    if (f->var->stored && !f->sequence) {
        text_printf(out,
                    "GBM_FN void derive_all_%s(const struct state *s, const "
                    "struct gbm_team *team)\n{\n    gbm_team_sync(team);\n",
                    id);
        struct emitter a = emitter_new(c, out);
        emit_line(&a, "long long element = 0;");
        for (int i = 0; i < f->nloops; i++)
            emit_open_loop(&a, f->loops[i], f->loops[i]->lower,
                           f->loops[i]->upper);
        emit_line(&a, "derive_%s(s, team, element++);", id);
        emit_close(&a, f->nloops);
        text_append(out, "    gbm_team_sync(team);\n}\n");
    }
    text_append(out, "\n");
}

bool emit_has_parents(const struct family *f)
{
    /* an array may be random in part and computed in part */
    return !f->data_block && !f->auxiliary && !f->tally &&
           (f->stochastic || f->var->role == ROLE_DERIVED ||
            f->var->role == ROLE_STOCHASTIC);
}

void emit_family(struct compiler *c, struct text *out, struct model *m,
                 struct family *f)
{
    const struct step *step = NULL; /* how it is drawn where it is not barren */
    for (const struct step *s = m->steps; s; s = s->next)
        if (s->sampler && s->family == f && f->stochastic &&
            (!step || !s->sampler->forward))
            step = s;
    text_printf(out, "/* %s    %s */\n\n", f->text,
                text_place_in_comment(c, f->span));
    if (f->tally)
        emit_tally(c, out, f);
    else if (!f->stochastic)
        emit_derive(c, out, f);
    if (f->stochastic && f->factor)
        emit_logdensity(c, out, f);
    if (f->stochastic && !f->auxiliary)
        emit_simulate(c, out, f);
    if (c->options.with & WITH_GRADIENTS)
        emit_adjoint(c, out, f);
    text_append(out, "#ifndef __CUDACC__\n");
    emit_cells(c, out, f);
    emit_subscripts(c, out, f);
    emit_enumerate(c, out, f);
    if (f->factor && f->factor->turn && !f->auxiliary)
        emit_turn(c, out, f);
    if (f->stochastic)
        emit_start(c, out, f, step);
    if (emit_has_settle(c, f))
        emit_settle(c, out, m, f);
    emit_check(c, out, f);
    text_append(out, "#endif\n\n");
}
