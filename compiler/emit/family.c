/* family.c: what a generated program knows of each statement by itself: its
 * cells, its plain log density, a starting value, what derived nodes are.
 * Beside it a draw (prior_draw.c), and what to check of data (family_check.c).
 */
#include "emit/emit.h"
#include <string.h>

/* ---- the left-hand side
 * ------------------------------------------------------ */

static void emit_cells(struct compiler *c, struct text *out,
                       const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    static const struct host_function cells = {"int64_t", "cells",
                                               ", int64_t *out", ", out"};
    emit_open_host_function(&e, f, &cells);
    emit_line(&e, "int64_t count = 0;");
    symp at[2];
    int braces = emit_open_slices(&e, f, at);
    symp ref = family_lhs(c, f, f->nslices, at);
    const char *cell = emit_cell(&e, f->var, ref->args);
    emit_line(&e, "if (out)");
    emit_line(&e, "    out[count] = %s;", cell);
    emit_line(&e, "count++;");
    emit_close(&e, braces);
    emit_line(&e, "return count;");
    emit_close_host_function(&e, f, &cells);
}

static void emit_subscripts(struct compiler *c, struct text *out,
                            const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    static const struct host_function subscripts = {"void", "subscripts",
                                                    ", int *out", ", out"};
    emit_open_host_function(&e, f, &subscripts);
    for (int d = 0; d < f->var->ndim; d++) {
        symp top = f->upper[d] ? f->upper[d] : f->lower[d];
        bool self = top->kind == SYM_EXTENT && top->var == f->var;
        emit_line(&e, "out[%d] = %s;", d, self ? "1" : emit_int(&e, top));
    }
    emit_close_host_function(&e, f, &subscripts);
}

/* With turns: that of an element of data. */
static void emit_turn(struct compiler *c, struct text *out,
                      const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    static const struct host_function turn = {"int64_t", "turn", "", ""};
    emit_open_host_function(&e, f, &turn);
    emit_line(&e, "return %s;", emit_int(&e, f->factor->turn));
    emit_close_host_function(&e, f, &turn);
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
    emit_return_density_of(e, f, f->factor->plain);
}

void emit_return_density_of(struct emitter *e, const struct family *f,
                            symp logp)
{
    const struct factor *g = f->factor;
    if (g->lower || g->upper) {
        const char *value = emit_expr(e, g->value);
        if (g->lower)
            emit_line(e, "if (!(%s >= %s))", value, emit_limit(e, g->lower));
        if (g->lower)
            emit_line(e, "    return -GBM_INF;");
        if (g->upper)
            emit_line(e, "if (!(%s <= %s))", value, emit_limit(e, g->upper));
        if (g->upper)
            emit_line(e, "    return -GBM_INF;");
    }
    e->shares = true;
    const char *value = emit_expr(e, model_under_rule(e->c, g, logp));
    e->shares = false;
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

/* The bounds of a start: what the factor says, and children that are built. */
static void emit_start_bounds(struct emitter *e, const struct family *f,
                              const struct step *step)
{
    const struct factor *g = f->factor;
    const char *low = g->lower ? emit_expr(e, g->lower) : "-GBM_INF";
    const char *high = g->upper ? emit_expr(e, g->upper) : "GBM_INF";
    emit_line(e, "real lower = %s, upper = %s;", low, high);
    for (const struct bound *b = step ? step->support.bounds : NULL; b;
         b = b->next) {
        if (b->part->inverse)
            continue; /* not built yet */
        int depth = e->nloops;
        int braces = emit_open_part(e, b->part, false);
        const char *value = emit_bound(e, f, b);
        emit_line(e, "if (%s%s %s %s)", child_is_seen(e, b->child), value,
                  b->is_lower ? ">" : "<", b->is_lower ? "lower" : "upper");
        emit_line(e, "    %s = %s;", b->is_lower ? "lower" : "upper", value);
        emit_close(e, braces);
        e->nloops = depth;
    }
}

static void emit_integer_start(struct emitter *e, const struct family *f,
                               const char *cell)
{
    emit_unruled_draw(e, f);
    emit_line(e, "if (%s < lower)", cell);
    emit_line(e, "    %s = (int)real_ceil(lower);", cell);
    emit_line(e, "if (%s > upper)", cell);
    emit_line(e, "    %s = (int)real_floor(upper);", cell);
}

/* At the mean or, of what has none (a half-Cauchy) or one far out in the tail
 * (a log-normal), the median. */
static void emit_real_start(struct emitter *e, const struct family *f,
                            const char *cell)
{
    const struct entry *d = f->distribution;
    const struct expr *typical = entry_value(d, "mean");
    if (!typical && (typical = entry_value(d, "quantile")))
        emit_param(e, "p", "REAL_C(0.5)");
    if (f->auxiliary) {
        emit_line(e, "%s = gbm_start(rng, GBM_NAN, lower, upper, 0);", cell);
    } else if (typical && !emit_has_array_argument(f)) {
        emit_bind_scalars(e, f);
        const char *value =
            emit_expr(e, emit_entry_expression(e->c, d, typical));
        emit_line(e, "%s = gbm_start(rng, %s, lower, upper, (real)spread);",
                  cell, value);
    } else {
        emit_unruled_draw(e, f);
        emit_line(e, "%s = gbm_start(rng, %s, lower, upper, 0);", cell, cell);
    }
}

/* Near the mean where the library states one, else a draw; inside the support,
 * the truncation, and what `confine` and the children's supports leave. */
static void emit_start(struct compiler *c, struct text *out,
                       const struct family *f, const struct step *step)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, f);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "static void start_%s(const struct state "
                      "*s, struct gbm_rng *rng, int64_t element, "
                      "double spread)",
                      id));
    if (f->nslices || !f->factor) {
        emit_vector_start(&e, f);
    } else {
        emit_start_bounds(&e, f, step);
        const char *cell = emit_expr(&e, f->factor->value);
        if (model_draws_integers(f))
            emit_integer_start(&e, f, cell);
        else
            emit_real_start(&e, f, cell);
    }
    text_append(out, "}\n");
    text_printf(out, "GBM_HOST_START(start_%s)\n\n", id);
}

/* ---- where a scalar lies ---- */

bool emit_has_bounds(const struct family *f)
{
    return f->stochastic && f->factor && !f->nslices && !f->auxiliary &&
           !f->data_block && !f->tally && !f->for_updates &&
           (f->factor->lower || f->factor->upper);
}

static void emit_bounds(struct compiler *c, struct text *out,
                        const struct family *f)
{
    const struct factor *g = f->factor;
    const char *id = family_id(c, f);
    struct emitter e = emitter_new(c, out);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "static void bounds_%s(const struct state *s, int64_t "
                      "element, real *lower, real *upper)",
                      id));
    emit_line(&e, "*lower = %s;",
              g->lower ? emit_expr(&e, g->lower) : "-GBM_INF");
    emit_line(&e, "*upper = %s;",
              g->upper ? emit_expr(&e, g->upper) : "GBM_INF");
    text_append(out, "}\n");
    text_printf(out, "GBM_HOST_BOUNDS(bounds_%s)\n\n", id);
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
    const char *place = emit_place_in_slices(e, f, at, width);
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
    if (f->var->stored && !f->sequence && !f->for_updates) {
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
    return !f->data_block && !f->auxiliary && !f->tally && !f->set_by_step &&
           (f->stochastic || f->var->role == ROLE_DERIVED ||
            f->var->role == ROLE_STOCHASTIC);
}

size_t emit_family(struct compiler *c, struct text *out, struct model *m,
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
    size_t before = out->length;
    if (f->stochastic && !f->auxiliary)
        emit_simulate(c, out, f);
    size_t drawn = out->length - before;
    if (c->options.with & WITH_GRADIENTS)
        emit_adjoint(c, out, f);
    text_append(out, "#ifndef __CUDACC__\n");
    emit_cells(c, out, f);
    emit_subscripts(c, out, f);
    emit_enumerate(c, out, f);
    if (f->factor && f->factor->turn && !f->auxiliary)
        emit_turn(c, out, f);
    before = out->length;
    if (f->stochastic)
        emit_start(c, out, f, step);
    if (emit_has_bounds(f))
        emit_bounds(c, out, f);
    if (emit_has_settle(c, f))
        emit_settle(c, out, m, f);
    drawn += out->length - before;
    emit_family_check(c, out, f);
    text_append(out, "#endif\n\n");
    return drawn;
}
