/* vector.c: a vector or matrix node whose full conditional is of a family of
 * the library (Dirichlet, Wishart): its coefficients collected, the parameters
 * solved for as the entry says, and one draw of the whole. */
#include "sampler/proposal.h"
#include <string.h>

/* The family's statistics: at most one of the whole node (logdet(x)), and one
 * of each cell (log(x[j]), x[i,j], inverse(x)[i,j]). Numbered from 1, as s1, s2
 * in `solve`. */
struct vector_family {
    const struct entry *entry;
    const struct expr *whole, *cell; /* the statistics; whole may be NULL */
    int whole_number, cell_number;
    bool matrix;
};

static struct vector_family vector_family(const struct step *s)
{
    struct vector_family v = {.entry = s->law.family,
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

enum cells { CELLS_THEMSELVES, CELLS_LOGARITHM, CELLS_INVERSE };

/* What the statistics of cells are of. */
static enum cells of_cells(struct compiler *c, const struct vector_family *v)
{
    if (v->cell->kind != EXPR_CALL)
        return CELLS_THEMSELVES;
    const struct entry *f = library_find(c, ENTRY_FUNCTION, v->cell->name);
    return f && f->result ? CELLS_INVERSE : CELLS_LOGARITHM;
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

/* The draw, by the lanes of a team where there is such a one; or the mode. */
static const struct expr *draw_of(struct compiler *c,
                                  const struct vector_family *v)
{
    if (sampler_seeks_modes(c))
        return entry_value(v->entry, "mode");
    const struct expr *shared = entry_value(v->entry, "draw_shared");
    return shared ? shared : entry_value(v->entry, "draw");
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
    const struct expr *draw = draw_of(c, v);
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

/* A coefficient that only one cell of a vector has, as z[i] == a of counts:
 * that cell is opened, and what it gets is left. Returns the braces to close;
 * 0: it may have more. */
static int open_only_cell(struct emitter *e, const struct step *s,
                          symp *coefficient, const char **place)
{
    const struct indices *index = &s->block.members[0].index;
    symp rest, x = index->n == 1 ? sym_only_where(e->c, *coefficient,
                                                  index->loops[0], &rest)
                                 : NULL;
    /* of a matrix: not where the column, which is opened later, says so */
    if (!x || sym_has_loop_of(x, s->block.members[0].index2.loops,
                              s->block.members[0].index2.n))
        return 0;
    const char *lower = emit_int(e, index->loops[0]->lower);
    const char *upper = emit_int(e, index->loops[0]->upper);
    const char *at = emit_int(e, x);
    emit_line(e, "{");
    e->indent++;
    const char *name = emit_loop_name(e, index->loops[0]);
    emit_line(e, "const int %s = %s;", name, at);
    emit_line(e, "if (%s >= %s && %s <= %s) {", name, lower, name, upper);
    e->indent++;
    *place = intern_format(e->c, "at0 + %s - (%s)", name, lower);
    *coefficient = rest;
    return 2;
}

/* Adds q's coefficients, for every instance of its part. */
static void emit_coefficients_of(struct emitter *e, const struct step *s,
                                 const struct vector_family *v,
                                 const struct quadratic *q)
{
    int depth = e->nloops;
    emit_line(e, "{");
    e->indent++;
    sampler_emit_index_cell(e, s, q->part);
    int braces = emit_unless_summed(e, q->summed ? q->part : NULL);
    bool team = e->team;
    braces += emit_open_part(e, q->part, true);
    if (v->matrix)
        emit_line(e, "whole += %s;", emit_expr(e, q->potential[0]));
    const char *row, *column = NULL;
    symp coefficient = q->potential[v->matrix ? 1 : 0];
    int n = open_only_cell(e, s, &coefficient, &row);
    if (!n)
        n = sampler_open_index(e, &s->block.members[0].index, 0, false, &row);
    if (v->matrix)
        n += sampler_open_index(e, &s->block.members[0].index2, 0, false,
                                &column);
    const char *value = emit_expr(e, coefficient);
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
    text_append(&statistics,
                of_cells(c, v) == CELLS_LOGARITHM ? "the logarithm of each cell"
                : of_cells(c, v) == CELLS_INVERSE ? "each cell of the inverse"
                                                  : "each cell");
    text_printf(
        out,
        "/* %s    %s\n * Its full conditional is a %s: the coefficients "
        "of %s. */\n"
        "GBM_FN real coefficients_%s(const struct state *s, const "
        "struct gbm_team *team,\n    long long element, real *sums)\n"
        "{\n",
        s->family->text, text_place_in_comment(c, s->family->span),
        v->entry->name, statistics.data, s->name);
    text_free(&statistics);
    struct emitter e = emitter_new(c, out);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    emit_line(&e, "gbm_fill(%s, sums, 0);", cells(v));
    emit_line(&e, "gbm_total whole = 0;");
    struct text rows = {0}; /* where some are gone through */
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (condition_part_shared_out(q->part)) {
            text_printf(&rows, "%s%s", rows.data ? " || " : "",
                        q->summed ? emit_all_count(c, q->part, false) : "true");
            emit_coefficients_of(&e, s, v, q);
        }
    if (rows.data) {
        emit_line(&e, "if (team->lanes > 1 && (%s)) {", rows.data);
        e.indent++;
        if (v->whole)
            emit_line(&e, "whole = gbm_team_sum(team, whole);");
        emit_line(&e, "for (int i = 0; i < %s; i++)",
                  v->matrix ? "d * d" : "d");
        emit_line(&e, "    sums[i] = (real)gbm_team_sum(team, sums[i]);");
        emit_close(&e, 1);
    }
    text_free(&rows);
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next) {
        if (!condition_part_shared_out(q->part))
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

/* One line for every cell. */
static void emit_cells(struct emitter *e, const struct step *s,
                       const struct vector_family *v, const char *format,
                       bool shared)
{
    if (v->matrix)
        sampler_emit_matrix_cells(e, s, format);
    else
        sampler_emit_each(e, s, format, false, shared);
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s, struct vector_family *v)
{
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(sums, sums_small, %s);", cells(v));
    emit_line(&e, "GBM_SCRATCH(drawn, drawn_small, %s);", cells(v));
    emit_line(&e, "const real whole = coefficients_%s(s, team, element, sums);",
              s->name);
    struct text arguments = {0};
    emit_solve(&e, v, &arguments);
    const bool mode = sampler_seeks_modes(c),
               shared = !mode && entry_value(v->entry, "draw_shared") != NULL;
    emit_line(&e, "gbm_%s(%s%sd%s, drawn);", draw_of(c, v)->name,
              mode ? "" : "rng, ", shared ? "team, " : "", arguments.data);
    text_free(&arguments);
    emit_line(&e, "gbm_team_sync(team);");
    emit_cells(&e, s, v, "$ = drawn[@];", shared);
    if (shared)
        emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

static void emit_log_density(struct compiler *c, struct text *out,
                             const struct step *s,
                             const struct vector_family *v)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                s->name);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(sums, sums_small, %s);", cells(v));
    emit_line(
        &e, "const real whole = coefficients_%s(s, &gbm_alone, element, sums);",
        s->name);
    if (v->whole)
        emit_line(&e,
                  "double total = (double)(whole * gbm_%s(d, (const real "
                  "*)x));",
                  v->whole->name);
    else
        emit_line(&e, "double total = (double)whole;");
    const char *values = "x";
    if (of_cells(c, v) == CELLS_INVERSE) {
        values = "cells";
        emit_line(&e, "GBM_SCRATCH(cells, cells_small, %s);", cells(v));
        emit_line(&e, "gbm_%s(d, (const real *)x, cells);", v->cell->name);
    }
    emit_line(&e, "for (int i = 0; i < %s; i++)", v->matrix ? "d * d" : "d");
    emit_line(&e,
              of_cells(c, v) == CELLS_LOGARITHM
                  ? "    total += (double)gbm_xlogy(sums[i], (real)%s[i]);"
                  : "    total += (double)sums[i] * %s[i];",
              values);
    emit_line(&e, "return total;");
    text_append(out, "}\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    struct vector_family v = vector_family(s);
    emit_coefficients(c, out, s, &v);
    emit_update(c, out, s, &v);
    text_append(out, "#ifndef __CUDACC__\n");
    sampler_emit_vector_access(c, out, s, v.matrix);
    emit_log_density(c, out, s, &v);
    text_append(out, "#endif\n\n");
}

bool sampler_vector_proposes(const struct step *s)
{
    return s->sampler == &sampler_vector_draw && s->law.family &&
           entry_value(s->law.family, "log_draw") && !s->law.rest &&
           !s->support.bounded;
}

void sampler_emit_vector_proposal(struct compiler *c, struct text *out,
                                  const struct step *s)
{
    struct vector_family v = vector_family(s);
    emit_coefficients(c, out, s, &v);
    struct emitter e = emitter_new(c, out);
    sampler_open_proposal(&e, s);
    emit_line(&e, "GBM_SCRATCH(sums, sums_small, %s);", cells(&v));
    emit_line(&e, "GBM_SCRATCH(drawn, drawn_small, %s);", cells(&v));
    emit_line(&e, "const real whole = coefficients_%s(s, team, element, sums);",
              s->name);
    struct text arguments = {0};
    emit_solve(&e, &v, &arguments);
    emit_line(&e, "if (from)");
    emit_line(&e, "    gbm_copy(%s, from, drawn);", cells(&v));
    emit_line(&e, "else");
    emit_line(&e, "    gbm_%s(rng, d%s, drawn);",
              entry_value(v.entry, "draw")->name, arguments.data);
    emit_line(&e, "gbm_team_sync(team);");
    emit_cells(&e, s, &v, "$ = drawn[@];", false);
    emit_line(&e, "return gbm_%s(d%s, drawn);",
              entry_value(v.entry, "log_draw")->name, arguments.data);
    text_free(&arguments);
    text_append(out, "}\n\n");
    sampler_open_keep(&e, s);
    emit_cells(&e, s, &v, "if (to) to[@] = $;", false);
    emit_line(&e, "return %s;", v.matrix ? "d * d" : "d");
    text_append(out, "}\n\n");
}

/* Before blocks are formed: any vector node. */
static bool takes(const struct step *s) { return s->family->nslices > 0; }

static const char *name_of(struct compiler *c, const struct step *s)
{
    (void)c;
    return s->law.family ? s->law.family->name : "vector";
}

static const char *explain_vector(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    const char *word = sampler_family_word(c, s->law.family);
    const char *n = sampler_count_text(c, family_extent(c, f, 0));
    if (f->nslices == 2)
        return intern_format(c, "%s, %s x %s", word, n,
                             sampler_count_text(c, family_extent(c, f, 1)));
    return intern_format(c, "%s, %s cells", word, n);
}

static const char *brief(struct compiler *c, const struct step *s)
{
    return sampler_family_word(c, s->law.family);
}

const struct sampler sampler_vector_draw = {
    .name_of = name_of,
    .takes = takes,
    .closed = true,
    .adds_up = true,
    .unit = sampler_each_unless_tied,
    .explain = explain_vector,
    .brief = brief,
    .emit = emit,
    .block_access = true,
    .blocks = 1,
};
