/* vector_slice.c: a vector or matrix node by slices, component by component. */
#include "sampler/group.h"
#include <string.h>

/* Its own part. */
struct vector_slice {
    enum companion companion;
    /* as it is emitted: */
    struct part *of_cell,
        *rest;             /* what a trial value of a cell that gives to
                              another changes; NULL: no cell has its own */
    struct held_logs held; /* of_cell's, which stay */
    bool bounded; /* children bound a cell: a count of which one thing was seen
                     is not less */
};

enum companion sampler_companion(const struct step *s)
{
    const struct vector_slice *own =
        s->sampler == &sampler_vector_slice ? s->own : NULL;
    return own ? own->companion : COMPANION_NONE;
}

bool sampler_slice_components(struct compiler *c, struct step *s)
{
    const struct family *f = s->family;
    static const struct {
        const char *support;
        int nslices;
        enum companion companion;
    } table[] = {{"vector", 1, COMPANION_NONE},
                 {"simplex", 1, COMPANION_SUM},
                 {"counts", 1, COMPANION_SUM},
                 {"positive_definite", 2, COMPANION_MIRROR},
                 {"correlation", 2, COMPANION_CORRELATION},
                 {"correlation_cholesky", 2, COMPANION_COLUMN},
                 {"correlation_cholesky_lower", 2, COMPANION_ROW}};
    const struct expr *support = entry_value(f->distribution, "support");
    for (size_t i = 0; support && i < sizeof table / sizeof *table; i++)
        if (!strcmp(support->name, table[i].support) &&
            f->nslices == table[i].nslices) {
            struct vector_slice *own = s->own = NEW(c, struct vector_slice);
            own->companion = table[i].companion;
            s->sampler = &sampler_vector_slice;
            return true;
        }
    return false;
}

/* Whether two cells trade real mass, by the logarithm of their ratio. */
static bool trades_shares(const struct step *s)
{
    return sampler_companion(s) == COMPANION_SUM &&
           !model_draws_integers(s->family);
}

/* A new value x of the ratio of two cells; `continue` where they stay. */
static void emit_share_draw(struct emitter *e, const struct step *s,
                            const char *low, const char *high)
{
    emit_line(e,
              "const real cells[2] = {before, component_%s_get(s, element, "
              "k_.other)};",
              s->name);
    emit_line(e,
              "const real x = gbm_slice_shares(rng, cells, k_.most, &width, "
              "adapting, %s, %s, density_%s, &k_);",
              low, high, s->name);
    emit_line(e, "if (gbm_is_nan(x)) {");
    emit_line(e, "    gbm_team_sync(team);");
    emit_line(e, "    component_%s_set(s, element, place, cells[0]);", s->name);
    emit_line(e, "    component_%s_set(s, element, k_.other, cells[1]);",
              s->name);
    emit_line(e, "    gbm_team_sync(team);");
    emit_line(e, "    continue;");
    emit_line(e, "}");
}

/* A new value x of a component, from `before`, between low and high. */
static void emit_component_draw(struct emitter *e, const struct step *s,
                                const char *low, const char *high)
{
    const struct vector_slice *own = s->own;
    const char *slice = "gbm_slice";
    if (trades_shares(s)) {
        emit_share_draw(e, s, low, high);
        return;
    }
    emit_line(e, "real x;");
    if (model_draws_integers(
            s->family)) { /* exact while there is little to share */
        emit_line(e, "if (%s%s < 24)", high, own->bounded ? " - low" : "");
        emit_line(e,
                  "    x = gbm_enumerate_draw(rng, %s%s, (int)%s, density_%s, "
                  "&k_);",
                  own->bounded ? "(int)" : "", low, high, s->name);
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
    return sampler_companion(s) == COMPANION_NONE &&
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
                    "long element, int place_%s)\n{\n",
                    what[k].type, s->name, what[k].name, what[k].more);
        sampler_open_element(&e, s);
        symp at[2] = {
            sym_add2(c, sym_param(c, intern(c, "row")), sym_num(c, 1)),
            sym_add2(c, sym_param(c, intern(c, "column")), sym_num(c, 1))};
        emit_param(&e, "row", "place_");
        if (f->nslices == 2) {
            sampler_emit_layout(&e, s);
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
        [COMPANION_CORRELATION] = "x",
        [COMPANION_COLUMN] = "real_sqrt(real_fmax(k_->total - x * x, 0))",
        [COMPANION_ROW] = "real_sqrt(real_fmax(k_->total - x * x, 0))"};
    const bool shares = trades_shares(s);
    text_printf(out,
                "GBM_FN void component_%s_moved(const struct conditional_%s "
                "*k_, real x)\n{\n    component_%s_set(k_->s, k_->element, "
                "k_->place, %s);\n",
                s->name, s->name, s->name,
                shares ? "gbm_share_of(k_->total, x, k_->most)" : "x");
    if (sampler_companion(s) != COMPANION_NONE)
        text_printf(out,
                    "    if (k_->other != k_->place)\n        "
                    "component_%s_set(k_->s, k_->element, k_->other, %s);\n",
                    s->name,
                    shares ? "gbm_share_of(k_->total, -x, k_->most)"
                           : companions[sampler_companion(s)]);
    text_append(out, "}\n\n");
}

static bool is_logdet_of(symp e, const void *var)
{
    return sym_determinant_of(e) && sym_has_var(e, var);
}

/* Whether a density that may be positive where the node is not positive
 * definite: one without its determinant, as that of a Wishart matrix with
 * K + 1 degrees of freedom, or with a power of it that may be 0. */
static bool leaves_cone(const struct step *s)
{
    if (sampler_companion(s) == COMPANION_CORRELATION)
        return true;
    if (sampler_companion(s) != COMPANION_MIRROR)
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
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(cells, cells_small, d * d);");
    emit_line(&e, "for (int place = 0; place < d * d; place++)");
    emit_line(&e, "    cells[place] = component_%s_get(s, element, place);",
              s->name);
    emit_line(&e, "return gbm_cholesky(d, cells);");
    text_append(out, "}\n\n");
}

/* The log density of parts, as a function; with `held`, of a cell's number
 * from 0 and of these logarithms. */
static void emit_parts_density(struct compiler *c, struct text *out,
                               const struct step *s, const char *what,
                               const struct part *parts,
                               const struct held_logs *held)
{
    const bool cell = held != NULL;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN gbm_total density_%s_%s(const struct state *s, const "
                "struct gbm_team *team,\n    long long element%s)\n{\n"
                "    gbm_total total = 0;\n",
                s->name, what,
                cell ? held->n ? ", int place_, const real *held"
                               : ", int place_"
                     : "");
    sampler_open_element(&e, s);
    emit_cell_if_needed(&e, s);
    if (cell) {
        emit_param(&e, "place", "place_");
        sampler_give_held(&e, held, "held");
    }
    if (s->through)
        emit_recompute(&e, s, s->family->var);
    e.team = true;
    for (const struct part *p = parts; p; p = p->next)
        emit_in_place(&e, p);
    text_append(out, "    return total;\n}\n\n");
}

/* The parts that a cell has, its number from 0 a parameter. */
static void find_cell_terms(struct compiler *c, struct step *s)
{
    struct vector_slice *own = s->own;
    symp at = sym_add2(c, sym_param(c, intern(c, "place")), sym_num(c, 1));
    const struct var *moving[] = {s->family->var, s->family->var};
    if (own->companion != COMPANION_SUM ||
        !sampler_pair_terms(c, s, at, &own->of_cell, &own->rest))
        return;
    own->of_cell = sampler_hold_logs(c, own->of_cell, moving, &own->held);
    for (const struct part *p = own->of_cell; p; p = p->next)
        own->bounded = own->bounded || sampler_cell_bound(p, false) ||
                       sampler_cell_bound(p, true);
}

/* hold_: sets these. */
static void emit_hold(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct vector_slice *own = s->own;
    if (!own->held.n)
        return;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void hold_%s(const struct state *s, const struct "
                "gbm_team *team,\n    long long element, int place_, real "
                "*held)\n{\n",
                s->name);
    sampler_open_element(&e, s);
    emit_cell_if_needed(&e, s);
    emit_param(&e, "place", "place_");
    sampler_emit_hold(&e, &own->held, "held");
    text_append(out, "}\n\n");
}

/* What a trial value changes: the terms of two cells and what is whole; false
 * if all is. */
static bool emit_pair_density(struct compiler *c, struct text *out,
                              const struct step *s)
{
    const struct vector_slice *own = s->own;
    if (!own->of_cell)
        return false;
    emit_parts_density(c, out, s, "cell", own->of_cell, &own->held);
    if (own->rest)
        emit_parts_density(c, out, s, "rest", own->rest, NULL);
    text_printf(out,
                "GBM_FN gbm_total density_%s_pair(const struct conditional_%s "
                "*k_)\n{\n    return density_%s_cell(k_->s, k_->team, "
                "k_->element, k_->place%s) +\n        density_%s_cell(k_->s, "
                "k_->team, k_->element, k_->other%s)",
                s->name, s->name, s->name, own->held.n ? ", k_->held[0]" : "",
                s->name, own->held.n ? ", k_->held[1]" : "");
    if (own->rest)
        text_printf(out,
                    " +\n        density_%s_rest(k_->s, k_->team, k_->element)",
                    s->name);
    text_append(out, ";\n}\n\n");
    return true;
}

/* ends_: *low and *high of a cell, closer where its children leave less. */
static void emit_cell_ends(struct compiler *c, struct text *out,
                           const struct step *s)
{
    const struct vector_slice *own = s->own;
    if (!own->bounded)
        return;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void ends_%s(const struct state *s, long long element, "
                "int place_,\n    real *low, real *high)\n{\n",
                s->name);
    sampler_open_element(&e, s);
    emit_cell_if_needed(&e, s);
    emit_param(&e, "place", "place_");
    emit_line(&e, "const real now = component_%s_get(s, element, place_);",
              s->name);
    for (const struct part *p = own->of_cell; p; p = p->next)
        for (int above = 0; above < 2; above++)
            sampler_emit_cell_bound(&e, p, above, "now",
                                    above ? "*high" : "*low");
    text_append(out, "}\n\n");
}

/* The log density of a ratio of two cells, also beyond the ends; of a function
 * that is called in one place. */
static void emit_share_density(struct text *out, const struct step *s,
                               const char *density)
{
    text_printf(
        out,
        "GBM_INLINE real density_%s(const void *context, real x)\n{\n"
        "    const struct conditional_%s *k_ = (const struct "
        "conditional_%s *)context;\n"
        "    const real end = gbm_clamp(x, -k_->most, k_->most);\n"
        "    real value[2] = {0, 0};\n"
        "    for (int k = 0; k < (x == end ? 1 : 2); k++) {\n"
        "        const real ratio = end > 0 ? end - (real)k : end + (real)k;\n"
        "        gbm_team_sync(k_->team);\n"
        "        component_%s_moved(k_, ratio);\n"
        "        gbm_team_sync(k_->team);\n"
        "        value[k] = gbm_share_speed(ratio) + (real)density_%s_%s;\n"
        "    }\n"
        "    return x == end ? value[0] : gbm_share_beyond(value[0], value[1], "
        "real_fabs(x - end));\n}\n\n",
        s->name, s->name, s->name, s->name, s->name, density);
}

static void emit_component_density(struct compiler *c, struct text *out,
                                   const struct step *s)
{
    if (leaves_cone(s))
        emit_definite(c, out, s);
    emit_parts_density(c, out, s, "here", s->parts, NULL);
    const char *density = emit_pair_density(c, out, s)
                              ? "pair(k_)"
                              : "here(k_->s, k_->team, k_->element)";
    if (trades_shares(s)) {
        emit_share_density(out, s, density);
        return;
    }
    text_printf(
        out,
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
    text_printf(out, "    return (real)density_%s_%s;\n}\n\n", s->name,
                density);
}

/* Between which ends a component moves so that neither it nor its companion
 * leaves what children allow. */
static void emit_pair_ends(struct emitter *e, const struct step *s,
                           const char **low, const char **high)
{
    emit_line(e, "real low = 0, high = k_.total, least = 0, most = k_.total;");
    emit_line(e, "ends_%s(s, element, place, &low, &high);", s->name);
    emit_line(e, "ends_%s(s, element, k_.other, &least, &most);", s->name);
    emit_line(e, "low = real_fmax(low, k_.total - most);");
    emit_line(e, "high = real_fmin(high, k_.total - least);");
    if (trades_shares(s)) {
        emit_line(e, "low = gbm_share_ratio(low, k_.total - low);");
        emit_line(e, "high = gbm_share_ratio(high, k_.total - high);");
    }
    *low = "low";
    *high = "high";
}

/* Chooses another cell, at random, that gives what the one at `place` gets. */
static void emit_sum_companion(struct emitter *e, const struct step *s,
                               const char **low, const char **high)
{
    const struct vector_slice *own = s->own;
    emit_line(e, "if (d < 2)");
    emit_line(e, "    break;");
    emit_line(e, "const int step = 1 + (int)(gbm_uniform(rng) * (real)(d "
                 "- 1));");
    emit_line(e, "k_.other = (place + step) %% d;");
    emit_line(e,
              "k_.total = before + component_%s_get(s, element, "
              "k_.other);",
              s->name);
    if (trades_shares(s)) {
        emit_line(e, "k_.most = gbm_most_ratio(k_.total);");
        emit_line(e, "if (!(k_.most > 1)) /* there is next to nothing */");
        emit_line(e, "    continue;");
    } else {
        *low = "0";
        *high = "k_.total";
    }
    if (own->held.n) {
        emit_line(e, "hold_%s(s, team, element, place, k_.held[0]);", s->name);
        emit_line(e, "hold_%s(s, team, element, k_.other, k_.held[1]);",
                  s->name);
    }
    if (own->bounded)
        emit_pair_ends(e, s, low, high);
}

/* Chooses the companion of the component at `place`; between which ends the
 * component may move. `continue` where it has no turn of its own. */
static void emit_companion(struct emitter *e, const struct step *s,
                           const char **low, const char **high)
{
    *low = "-GBM_INF";
    *high = "GBM_INF";
    bool row;
    switch (sampler_companion(s)) {
    case COMPANION_NONE:
        return;
    case COMPANION_SUM:
        emit_sum_companion(e, s, low, high);
        return;
    case COMPANION_MIRROR:
        emit_line(e, "k_.other = place %% d * d + place / d;");
        emit_line(e, "if (k_.other > place)");
        emit_line(e, "    continue;");
        emit_line(e, "const real low = k_.other == place ? 0 : -GBM_INF;");
        *low = "low";
        return;
    case COMPANION_CORRELATION:
        emit_line(e, "k_.other = place %% d * d + place / d;");
        emit_line(e, "if (k_.other >= place)");
        emit_line(e, "    continue;");
        *low = "-1";
        *high = "1";
        return;
    case COMPANION_COLUMN:
    case COMPANION_ROW:
        row = sampler_companion(s) == COMPANION_ROW;
        emit_line(e, "if (place / d %s place %% d)", row ? "<=" : ">=");
        emit_line(e, "    continue;");
        emit_line(e, "k_.other = place %s d * (d + 1);", row ? "/" : "%");
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

static void emit_update(struct compiler *c, struct text *out, struct step *s)
{
    const struct family *f = s->family;
    emit_open_update(out, s);
    struct emitter e = emitter_new(c, out);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
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
    text_append(out, "}\n\n");
}

static void emit_log_density(struct text *out, const struct step *s)
{
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
                "return total;\n}\n",
                s->name, s->name, s->name, s->name, s->name, s->name);
}

/* A vector or matrix node by slices along its axes or, where it would leave
 * its support, along lines on which a second cell follows the first. */
static void emit(struct compiler *c, struct text *out, struct step *s)
{
    const struct family *f = s->family;
    const struct vector_slice *own = s->own;
    find_cell_terms(c, s);
    text_printf(out,
                "/* %s    %s\n * No closed form: slice sampling, component by "
                "component%s. */\n"
                "struct conditional_%s {\n    const struct state *s;\n    "
                "const struct gbm_team *team;\n    long long element;\n    "
                "int place, other; /* components, from 0 */\n    real total; "
                "/* of both */\n",
                f->text, text_place_in_comment(c, f->span),
                sampler_companion(s) == COMPANION_SUM
                    ? ", the mass of two exchanged"
                    : "",
                s->name);
    if (trades_shares(s))
        text_append(out, "    real most; /* their largest log ratio */\n");
    if (own->held.n)
        text_printf(out, "    real held[2][%d]; /* logarithms of each */\n",
                    own->held.n);
    text_append(out, "};\n\n");
    emit_component_access(c, out, s);
    emit_component_moved(out, s);
    emit_component_density(c, out, s);
    emit_cell_ends(c, out, s);
    emit_hold(c, out, s);
    emit_update(c, out, s);
    text_append(out, "#ifndef __CUDACC__\n");
    sampler_emit_vector_access(c, out, s, f->nslices == 2);
    emit_log_density(out, s);
    text_append(out, "#endif\n\n");
}

static const char *explain_components(struct compiler *c, const struct step *s)
{
    const char *side = sampler_count_text(c, family_extent(c, s->family, 0));
    if (s->family->nslices == 2)
        return intern_format(c, "slice, cells of a %s x %s matrix in turn",
                             side, side);
    return intern_format(
        c, "%sslice, %s cells %s",
        model_draws_integers(s->family) ? "integer " : "", side,
        sampler_companion(s) == COMPANION_SUM ? "in pairs" : "in turn");
}

static enum barren_unit unit(const struct step *s)
{
    return sampler_companion(s) == COMPANION_SUM ? BARREN_NEVER
                                                 : sampler_each_unless_tied(s);
}

static const char *resists(const struct step *s)
{
    return model_draws_integers(s->family) &&
                   sampler_companion(s) == COMPANION_SUM
               ? "its cells have a sum to keep"
               : NULL;
}

const struct sampler sampler_vector_slice = {
    .name = "slice by component",
    .unit = unit,
    .explain = explain_components,
    .why = sampler_why_slice,
    .resists = resists,
    .emit = emit,
    .block_access = true,
    .tunes = sampler_tunes_width,
};
