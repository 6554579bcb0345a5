/* vector.c: the functions of vector nodes. Those of a known family
 * (Dirichlet, Wishart) get their coefficients collected, the parameters solved
 * for as the library's entry says, and one draw of the whole; the others go
 * component by component. */
#include "emit/block.h"
#include <string.h>

/* ---- a known family ---- */

/* The family's statistics: at most one of the whole node (logdet(x)), and one
 * of each cell (log(x[j]), x[i,j]). Numbered from 1, as s1, s2 in `solve`. */
struct vector_family {
    const struct entry *entry;
    const struct expr *whole, *cell; /* the statistics; whole may be NULL */
    int whole_number, cell_number;
    bool matrix;
};

static struct vector_family vector_family(const struct step *s)
{
    struct vector_family v = {.entry = s->recognised,
                              .matrix = s->family->nslices == 2};
    int number = 1;
    const struct clause *k = entry_clause(v.entry, "statistics");
    for (const struct clause_item *i = k->items; i; i = i->next, number++) {
        const struct expr *argument =
            i->label->kind == EXPR_CALL ? i->label->args[0] : i->label;
        bool whole = argument->nargs == 0;
        *(whole ? &v.whole : &v.cell) = i->label;
        *(whole ? &v.whole_number : &v.cell_number) = number;
    }
    return v;
}

/* Number of cells of the node whose side is d. */
static const char *cells(const struct vector_family *v)
{
    return v->matrix ? "(long long)d * d" : "d";
}

/* Names of the entry where s1, s2, ... are coefficients at hand: those of
 * cells are `at_cell`; extents are the side d. */
static symp bind_coefficients(struct compiler *c, const char *name, int nargs,
                              const symp *args, void *context)
{
    const struct vector_family *v = context;
    (void)args;
    const struct parameter *x = v->entry->result;
    for (int d = 0; d < x->ndims; d++)
        if (x->dims[d] == name)
            return sym_param(c, intern(c, "d"));
    return sym_param(c, nargs ? intern_format(c, "%s.cell", name) : name);
}

/* The parameters as locals, in the order of the draw's arguments; their text
 * in *arguments. */
static void emit_solve(struct emitter *e, struct vector_family *v,
                       struct text *arguments)
{
    struct compiler *c = e->c;
    const struct clause *solve = entry_clause(v->entry, "solve");
    emit_param(e, "d", "d");
    emit_param(e, intern_format(c, "s%d", v->whole_number), "whole");
    /* x is symmetric: what multiplies x[i,j] is what multiplies x[j,i] */
    emit_param(e, intern_format(c, "s%d.cell", v->cell_number),
               v->matrix ? "((sums[i * d + j] + sums[j * d + i]) / 2)"
                         : "sums[j]");
    const struct expr *draw = entry_value(v->entry, "draw");
    for (int k = 0; k < draw->nargs; k++)
        for (const struct clause_item *i = solve->items; i; i = i->next) {
            if (i->label->name != draw->args[k]->name)
                continue;
            symp value = sym_from_library(c, i->value, bind_coefficients, v);
            const char *name = emit_name_of_model(e, i->label->name);
            text_printf(arguments, ", %s", name);
            if (!i->label->nargs) {
                emit_line(e, "const real %s = %s;", name, emit_expr(e, value));
                continue;
            }
            emit_line(e, "GBM_SCRATCH(%s, %s_small, %s);", name, name,
                      cells(v));
            if (v->matrix)
                emit_line(e, "for (int i = 0; i < d; i++)");
            emit_line(e, "%sfor (int j = 0; j < d; j++)",
                      v->matrix ? "    " : "");
            emit_line(e, "%s    %s[%sj] = %s;", v->matrix ? "    " : "", name,
                      v->matrix ? "i * d + " : "", emit_expr(e, value));
        }
}

/* Adds q's coefficients, for every instance of its part. */
static void emit_coefficients_of(struct emitter *e, const struct step *s,
                                 const struct vector_family *v,
                                 const struct quadratic *q)
{
    int depth = e->nloops;
    emit_line(e, "{");
    e->indent++;
    emit_index_cell(e, s, q->part);
    int braces = emit_unless_summed(e, q->summed ? q->part : NULL);
    bool team = e->team;
    braces += emit_open_part(e, q->part, true);
    if (v->matrix)
        emit_line(e, "whole += %s;", emit_expr(e, q->potential[0]));
    const char *row, *column = NULL;
    int n = open_index(e, &s->members[0].index, 0, false, &row);
    if (v->matrix)
        n += open_index(e, &s->index2[0], 0, false, &column);
    const char *value = emit_expr(e, q->potential[v->matrix ? 1 : 0]);
    if (v->matrix)
        emit_line(e, "sums[(%s) * d + %s] += %s;", row, column, value);
    else
        emit_line(e, "sums[%s] += %s;", row, value);
    emit_close(e, n + braces);
    e->team = team;
    e->indent--;
    emit_line(e, "}");
    e->nloops = depth;
}

/* coefficients_b(..., sums): what multiplies each cell's statistic; returns
 * what multiplies the whole node's. */
static void emit_coefficients(struct compiler *c, struct text *out,
                              const struct step *s,
                              const struct vector_family *v)
{
    struct text statistics = {0};
    if (v->whole)
        text_append(&statistics, "logdet(x) (returned) and ");
    text_append(&statistics, v->cell->kind == EXPR_CALL
                                 ? "the logarithm of each cell"
                                 : "each cell");
    text_printf(
        out,
        "/* %s    %s\n * Its full conditional is a %s: the coefficients "
        "of %s. */\n"
        "GBM_FN real coefficients_%s(const struct state *s, const "
        "struct gbm_team *team,\n    long long element, real *sums)\n"
        "{\n    (void)team;\n    (void)element;\n",
        s->family->text, place_in_comment(c, s->family->span), v->entry->name,
        statistics.data, s->name);
    text_free(&statistics);
    struct emitter e = emitter_new(c, out);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "gbm_fill(%s, sums, 0);", cells(v));
    emit_line(&e, "gbm_total whole = 0;");
    bool any = false;
    for (const struct quadratic *q = s->quadratics; q; q = q->next)
        if (part_shared_out(q->part)) {
            any = true;
            emit_coefficients_of(&e, s, v, q);
        }
    if (any) {
        if (v->whole)
            emit_line(&e, "whole = gbm_team_sum(team, whole);");
        emit_line(&e, "for (int i = 0; i < %s && team->lanes > 1; i++)",
                  v->matrix ? "d * d" : "d");
        emit_line(&e, "    sums[i] = (real)gbm_team_sum(team, sums[i]);");
    }
    for (const struct quadratic *q = s->quadratics; q; q = q->next) {
        if (!part_shared_out(q->part))
            emit_coefficients_of(&e, s, v, q);
        if (q->summed) {
            int braces = emit_if_summed(&e, q->part);
            emit_coefficients_of(&e, s, v, q->summed);
            emit_close(&e, braces);
        }
    }
    emit_line(&e, "return (real)whole;");
    text_append(out, "}\n\n");
}

/* One line for every cell of a matrix node; as emit_each. */
static void emit_matrix_cells(struct emitter *e, const struct step *s,
                              const char *format)
{
    struct compiler *c = e->c;
    const struct family *f = s->family;
    int depth = e->nloops;
    const char *place;
    int n = open_index(e, &s->members[0].index, 0, false, &place);
    struct loop *const second = s->index2[0].loops[0];
    const char *lower = emit_int(e, second->lower);
    const char *upper = emit_int(e, second->upper);
    const char *b = emit_loop_name(e, second);
    emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", b, lower, b, upper, b);
    e->indent++;
    symp at[2] = {sym_loop(c, s->members[0].index.loops[0]),
                  sym_loop(c, second)};
    const char *cell = emit_expr(e, family_lhs(c, f, 2, at));
    emit_filled(e, format, cell,
                intern_format(c, "(%s) * d + %s - 1", place, b));
    emit_close(e, n + 1);
    e->nloops = depth;
}

/* One line for every cell. */
static void emit_cells(struct emitter *e, const struct step *s,
                       const struct vector_family *v, const char *format)
{
    if (v->matrix)
        emit_matrix_cells(e, s, format);
    else
        emit_each(e, s, format, false, false);
}

static void emit_access(struct compiler *c, struct text *out,
                        const struct step *s, bool matrix)
{
    if (!matrix) {
        emit_block_access(c, out, s);
        return;
    }
    for (int k = 0; k < 3; k++) {
        struct emitter e = emitter_new(c, out);
        if (k == 0)
            text_printf(out,
                        "static int dimension_%s(const void *state, int64_t "
                        "element)\n{\n",
                        s->name);
        else
            text_printf(out,
                        "static void %s_%s(const void *state, int64_t element,"
                        " %sdouble *x)\n{\n",
                        k == 1 ? "get" : "set", s->name,
                        k == 1 ? "" : "const ");
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        emit_line(&e, "(void)element;");
        open_element(&e, s);
        emit_layout(&e, s);
        if (k == 0)
            emit_line(&e, "return d * d;");
        else
            emit_matrix_cells(&e, s,
                              k == 1 ? "x[@] = (double)$;" : "$ = (real)x[@];");
        text_append(out, "}\n");
    }
}

static void emit_known(struct compiler *c, struct text *out, struct step *s)
{
    struct vector_family v = vector_family(s);
    emit_coefficients(c, out, s, &v);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, int "
                "adapting)\n{\n    (void)adapting;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(sums, sums_small, %s);", cells(&v));
    emit_line(&e, "GBM_SCRATCH(drawn, drawn_small, %s);", cells(&v));
    emit_line(&e, "const real whole = coefficients_%s(s, team, element, sums);",
              s->name);
    emit_line(&e, "(void)whole;");
    struct text arguments = {0};
    emit_solve(&e, &v, &arguments);
    emit_line(&e, "gbm_%s(rng, d%s, drawn);",
              entry_value(v.entry, "draw")->name, arguments.data);
    text_free(&arguments);
    emit_line(&e, "gbm_team_sync(team);");
    emit_cells(&e, s, &v, "$ = drawn[@];");
    text_append(out, "}\n\n#ifndef __CUDACC__\n");

    emit_access(c, out, s, v.matrix);
    e = emitter_new(c, out);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(sums, sums_small, %s);", cells(&v));
    emit_line(
        &e, "const real whole = coefficients_%s(s, &gbm_alone, element, sums);",
        s->name);
    if (v.whole)
        emit_line(&e,
                  "double total = (double)(whole * gbm_%s(d, (const real "
                  "*)x));",
                  v.whole->name);
    else
        emit_line(&e, "double total = (double)whole;");
    emit_line(&e, "for (int i = 0; i < %s; i++)", v.matrix ? "d * d" : "d");
    emit_line(&e, v.cell->kind == EXPR_CALL
                      ? "    total += (double)gbm_xlogy(sums[i], (real)x[i]);"
                      : "    total += (double)sums[i] * x[i];");
    emit_line(&e, "return total;");
    text_append(out, "}\n#endif\n\n");
}

/* ---- component by component ---- */

/* A new value x of a component, from `before`, between low and high. */
static void emit_component_draw(struct emitter *e, const struct step *s,
                                const char *low, const char *high)
{
    const char *slice = "gbm_slice";
    emit_line(e, "real x;");
    if (s->family->var->integer) { /* exact while there is little to share */
        emit_line(e, "if (%s < 24)", high);
        emit_line(e,
                  "    x = gbm_enumerate_draw(rng, %s, (int)%s, density_%s, "
                  "&k_);",
                  low, high, s->name);
        emit_line(e, "else");
        slice = "    gbm_slice_integer";
    }
    emit_line(e,
              "%.*sx = %s(rng, before, &width, adapting, %s, %s, density_%s, "
              "&k_);",
              (int)strspn(slice, " "), slice, slice + strspn(slice, " "), low,
              high, s->name);
}

/* Whether some components of an element may be data and others not: where
 * components do not move in pairs. */
static bool partly_observed(const struct step *s)
{
    return s->companion == COMPANION_NONE &&
           s->family->var->role == ROLE_STOCHASTIC;
}

/* Reads and writes a cell by its number from 0, row by row of a matrix; tells
 * whether it is observed. */
static void emit_component_access(struct compiler *c, struct text *out,
                                  const struct step *s)
{
    static const struct {
        const char *type, *name, *more;
    } what[] = {
        {"real", "get", ""}, {"void", "set", ", real x"}, {"bool", "seen", ""}};
    const struct family *f = s->family;
    for (int k = 0; k < (partly_observed(s) ? 3 : 2); k++) {
        struct emitter e = emitter_new(c, out);
        text_printf(out,
                    "GBM_FN %s component_%s_%s(const struct state *s, long "
                    "long element, int place_%s)\n{\n    (void)s;\n    "
                    "(void)element;\n",
                    what[k].type, s->name, what[k].name, what[k].more);
        open_element(&e, s);
        symp at[2] = {
            sym_add2(c, sym_param(c, intern(c, "row")), sym_num(c, 1)),
            sym_add2(c, sym_param(c, intern(c, "column")), sym_num(c, 1))};
        emit_param(&e, "row", "place_");
        if (f->nslices == 2) {
            emit_layout(&e, s);
            emit_param(&e, "row", "(place_ / d)");
            emit_param(&e, "column", "(place_ % d)");
        }
        symp left = family_lhs(c, f, f->nslices, at);
        const char *cell = emit_expr(&e, left);
        if (k == 2)
            emit_line(
                &e, "return %s;",
                emit_expr(&e, sym_seen(c, left->var, left->nargs, left->args)));
        else if (k == 1)
            emit_line(&e, "%s = %sx;", cell, f->var->integer ? "(int)" : "");
        else
            emit_line(&e, "return (real)%s;", cell);
        text_append(out, "}\n");
    }
}

/* Sets a component to x, and what goes with it. */
static void emit_component_moved(struct text *out, const struct step *s)
{
    static const char *const companions[] = {
        [COMPANION_SUM] = "k_->total - x",
        [COMPANION_MIRROR] = "x",
        [COMPANION_NORM] = "real_sqrt(real_fmax(k_->total - x * x, 0))"};
    text_printf(out,
                "GBM_FN void component_%s_moved(const struct conditional_%s "
                "*k_, real x)\n{\n    component_%s_set(k_->s, k_->element, "
                "k_->place, x);\n",
                s->name, s->name, s->name);
    if (s->companion != COMPANION_NONE)
        text_printf(out,
                    "    if (k_->other != k_->place)\n        "
                    "component_%s_set(k_->s, k_->element, k_->other, %s);\n",
                    s->name, companions[s->companion]);
    text_append(out, "}\n\n");
}

static bool is_logdet_of(symp e, const void *var)
{
    return e->kind == SYM_CALL && !strcmp(e->name, "logdet") &&
           sym_has_var(e, var);
}

/* Whether a density that may be positive where the node is not positive
 * definite: one without its determinant, as that of a Wishart matrix with
 * K + 1 degrees of freedom. */
static bool leaves_cone(const struct step *s)
{
    if (s->companion != COMPANION_MIRROR)
        return false;
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->own)
            return !sym_any(p->logp, is_logdet_of, s->family->var);
    return true;
}

static void emit_definite(struct compiler *c, struct text *out,
                          const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN bool definite_%s(const struct state *s, long long "
                "element)\n{\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(cells, cells_small, d * d);");
    emit_line(&e, "for (int place = 0; place < d * d; place++)");
    emit_line(&e, "    cells[place] = component_%s_get(s, element, place);",
              s->name);
    emit_line(&e, "return gbm_cholesky(d, cells);");
    text_append(out, "}\n\n");
}

static void emit_component_density(struct compiler *c, struct text *out,
                                   const struct step *s)
{
    if (leaves_cone(s))
        emit_definite(c, out, s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN gbm_total density_%s_here(const struct state *s, const "
                "struct gbm_team *team,\n    long long element)\n{\n    "
                "(void)team;\n    (void)element;\n    gbm_total total = 0;\n",
                s->name);
    open_element(&e, s);
    emit_cell_if_needed(&e, s);
    if (s->through)
        emit_recompute(&e, s, s->family->var);
    e.team = true;
    for (const struct part *p = s->parts; p; p = p->next)
        emit_in_place(&e, p);
    text_printf(
        out,
        "    return total;\n}\n\n"
        "GBM_INLINE real density_%s(const void *context, real x)\n{\n"
        "    const struct conditional_%s *k_ = (const struct "
        "conditional_%s *)context;\n    gbm_team_sync(k_->team);\n"
        "    component_%s_moved(k_, x);\n    gbm_team_sync(k_->team);\n",
        s->name, s->name, s->name, s->name);
    if (leaves_cone(s))
        text_printf(out,
                    "    if (!definite_%s(k_->s, k_->element))\n        return "
                    "-GBM_INF;\n",
                    s->name);
    text_printf(out,
                "    return (real)density_%s_here(k_->s, k_->team, "
                "k_->element);\n}\n\n",
                s->name);
}

/* Chooses the companion of the component at `place`; between which ends the
 * component may move. `continue` where it has no turn of its own. */
static void emit_companion(struct emitter *e, const struct step *s,
                           const char **low, const char **high)
{
    *low = "-GBM_INF";
    *high = "GBM_INF";
    switch (s->companion) {
    case COMPANION_NONE:
        return;
    case COMPANION_SUM:
        emit_line(e, "if (d < 2)");
        emit_line(e, "    break;");
        emit_line(e, "const int step = 1 + (int)(gbm_uniform(rng) * (real)(d "
                     "- 1));");
        emit_line(e, "k_.other = (place + step) %% d;");
        emit_line(e,
                  "k_.total = before + component_%s_get(s, element, "
                  "k_.other);",
                  s->name);
        *low = "0";
        *high = "k_.total";
        return;
    case COMPANION_MIRROR:
        emit_line(e, "k_.other = place %% d * d + place / d;");
        emit_line(e, "if (k_.other > place)");
        emit_line(e, "    continue;");
        emit_line(e, "const real low = k_.other == place ? 0 : -GBM_INF;");
        *low = "low";
        return;
    case COMPANION_NORM:
        emit_line(e, "if (place / d >= place %% d)");
        emit_line(e, "    continue;");
        emit_line(e, "k_.other = place %% d * (d + 1);");
        emit_line(e,
                  "k_.total = gbm_square(before) + "
                  "gbm_square(component_%s_get(s, element, k_.other));",
                  s->name);
        emit_line(e, "const real end = real_sqrt(k_.total);");
        *low = "-end";
        *high = "end";
        return;
    }
}

/* A vector or matrix node by slices along its axes or, where it would leave
 * its support, along lines on which a second cell follows the first. */
static void emit_components(struct compiler *c, struct text *out,
                            struct step *s)
{
    const struct family *f = s->family;
    text_printf(out,
                "/* %s    %s\n * No closed form: slice sampling, component by "
                "component%s. */\n"
                "struct conditional_%s {\n    const struct state *s;\n    "
                "const struct gbm_team *team;\n    long long element;\n    "
                "int place, other; /* components, from 0 */\n    real total; "
                "/* of both */\n};\n\n",
                f->text, place_in_comment(c, f->span),
                s->companion == COMPANION_SUM ? ", the mass of two exchanged"
                                              : "",
                s->name);
    emit_component_access(c, out, s);
    emit_component_moved(out, s);
    emit_component_density(c, out, s);
    text_printf(out,
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, int "
                "adapting)\n{\n",
                s->name);
    struct emitter e = emitter_new(c, out);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "real width = s->%s[element];", s->slots->member);
    emit_line(&e, "for (int place = 0; place < %s; place++) {",
              f->nslices == 2 ? "d * d" : "d");
    e.indent++;
    if (partly_observed(s)) {
        emit_line(&e, "if (component_%s_seen(s, element, place))", s->name);
        emit_line(&e, "    continue;");
    }
    emit_line(&e, "struct conditional_%s k_ = {s, team, element, place, 0, 0};",
              s->name);
    emit_line(&e, "const real before = component_%s_get(s, element, place);",
              s->name);
    const char *low, *high;
    emit_companion(&e, s, &low, &high);
    emit_component_draw(&e, s, low, high);
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "component_%s_moved(&k_, x);", s->name);
    emit_line(&e, "gbm_team_sync(team);");
    e.indent--;
    emit_line(&e, "}");
    emit_line(&e, "s->%s[element] = width;", s->slots->member);
    if (s->through)
        emit_recompute(&e, s, f->var);
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    emit_access(c, out, s, f->nslices == 2);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const int cells = "
                "dimension_%s(state, element);\n    double *before = "
                "malloc((size_t)cells * sizeof *before);\n    if (!before)\n"
                "        return GBM_NAN;\n"
                "    get_%s(state, element, before);\n    set_%s(state, "
                "element, x);\n    double total = (double)density_%s_here("
                "(const struct state *)state, &gbm_alone, element);\n    "
                "set_%s(state, element, before);\n    free(before);\n    "
                "return total;\n}\n#endif\n\n",
                s->name, s->name, s->name, s->name, s->name, s->name);
}

void emit_vector(struct compiler *c, struct text *out, struct step *s)
{
    if (s->method == METHOD_SLICE_VECTOR)
        emit_components(c, out, s);
    else
        emit_known(c, out, s);
}
