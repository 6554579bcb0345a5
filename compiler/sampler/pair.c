/* pair.c: two summands of an observed sum (condition/observed_sum.c). The first
 * moves by a slice; the second is what the sum leaves. */
#include "sampler/group.h"
#include <math.h>

/* Its own part: the summands. */
static const struct summand *pair_of(const struct step *s) { return s->own; }

static const char *pair_id(const struct step *s)
{
    return s->name + sizeof "update_" - 1;
}

static const char *cell_of(struct emitter *e, const struct summand *s)
{
    return emit_expr(e, s->cell);
}

static const char *seen_of(struct emitter *e, const struct summand *s)
{
    symp cell = s->cell;
    return emit_expr(e, sym_seen(e->c, cell->var, cell->nargs, cell->args));
}

static bool whole_numbers(const struct step *s) { return pair_of(s)[0].whole; }

/* By how much the second cell falls when the first one rises by 1. */
static const char *ratio_text(struct emitter *e, const struct step *s)
{
    return emit_expr(
        e, sym_num(e->c, pair_of(s)[0].weight / pair_of(s)[1].weight));
}

/* ---- the moving pair ------------------------------------------------------
 */

/* Whether the first cell is one of a vector and the second is not of it. */
static bool one_of_vector(const struct step *s)
{
    const struct summand *a = &pair_of(s)[0], *b = &pair_of(s)[1];
    return s->family->nslices == 1 && a->index &&
           a->cell->var == s->family->var && b->cell->var != s->family->var;
}

/* What the density has: of a vector the cell that moves, with logarithms apart
 * that stay. */
static struct part *density_parts(struct compiler *c, const struct step *s,
                                  struct held_logs *held)
{
    const struct var *moving[] = {pair_of(s)[0].cell->var,
                                  pair_of(s)[1].cell->var};
    *held = (struct held_logs){0};
    if (s->through)
        return s->parts;
    symp at = one_of_vector(s) ? sym_loop(c, pair_of(s)[0].index) : NULL;
    struct part *parts = NULL;
    for (const struct part *p = s->parts; p; p = p->next)
        sampler_push_part(&parts,
                          sampler_of_moved_cell(c, s, p, at, moving[1]));
    return sampler_hold_logs(c, parts, moving, held);
}

static void emit_pair_struct(struct compiler *c, struct text *out,
                             const struct step *s)
{
    struct held_logs held;
    density_parts(c, s, &held);
    text_printf(out,
                "struct pair_%s {\n    const struct state *s;\n"
                "    const struct gbm_team *team;\n",
                pair_id(s));
    for (int i = 0; i < s->family->nloops; i++)
        text_printf(out, "    int loop%d; /* %s */\n", i,
                    s->family->loops[i]->name);
    text_append(out, "    int j, k; /* places in the sum */\n"
                     "    real a, b; /* at first */\n");
    if (held.n)
        text_printf(out, "    real held[%d]; /* logarithms */\n", held.n);
    text_append(out, "};\n\n");
}

/* Brings the loops of a pair into scope. */
static void open_pair(struct emitter *e, const struct step *s)
{
    const struct family *f = s->family;
    emit_line(e, "const struct state *s = k_->s;");
    emit_line(e, "const struct gbm_team *team = k_->team;");
    for (int i = 0; i < f->nloops; i++) {
        const char *name = emit_loop_name(e, f->loops[i]);
        emit_line(e, "const int %s = k_->loop%d;", name, i);
    }
    for (int i = 0; i < 2; i++)
        if (pair_of(s)[i].index) {
            const char *name = emit_loop_name(e, pair_of(s)[i].index);
            emit_line(e, "const int %s = k_->%s;", name, i ? "k" : "j");
        }
}

/* place_: the first cell to x, the second to what the sum leaves. */
static void emit_place(struct compiler *c, struct text *out,
                       const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void place_%s(const struct pair_%s *k_, real x)\n{\n",
                pair_id(s), pair_id(s));
    open_pair(&e, s);
    const char *cast = whole_numbers(s) ? "(int)" : "";
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "%s = %sx;", cell_of(&e, &pair_of(s)[0]), cast);
    emit_line(&e, "%s = %s(k_->b - (%s) * (x - k_->a));",
              cell_of(&e, &pair_of(s)[1]), cast, ratio_text(&e, s));
    emit_line(&e, "gbm_team_sync(team);");
    if (s->through)
        for (int i = 0; i < 2; i++)
            if (i == 0 || pair_of(s)[1].cell->var != pair_of(s)[0].cell->var)
                emit_recompute(&e, s, pair_of(s)[i].cell->var);
    text_append(out, "}\n\n");
}

static void open_cell(struct emitter *e, const struct part *p)
{
    emit_line(e, "{");
    e->indent++;
    if (p->inverse) {
        symp first = p->hit;
        emit_line(e, "const long long cell_ = %s;",
                  emit_cell(e, first->var, first->args));
    }
}

static void emit_pair_density(struct compiler *c, struct text *out,
                              const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_INLINE real density_%s(const void *context, real x)\n{\n"
                "    const struct pair_%s *k_ = (const struct pair_%s *)"
                "context;\n    place_%s(k_, x);\n",
                pair_id(s), pair_id(s), pair_id(s), pair_id(s));
    open_pair(&e, s);
    emit_line(&e, "gbm_total total = 0;");
    struct held_logs held;
    const struct part *parts = density_parts(c, s, &held);
    sampler_give_held(&e, &held, "k_->held");
    e.team = true;
    for (const struct part *p = parts; p; p = p->next) {
        int depth = e.nloops;
        open_cell(&e, p);
        emit_in_place(&e, p);
        emit_close(&e, 1);
        e.nloops = depth;
    }
    text_append(out, "    return (real)total;\n}\n\n");
}

/* What a child that does not move leaves of the cell on a side. */
static void emit_child_bounds(struct emitter *e, const struct step *s,
                              const struct part *p, int side)
{
    static const char *const ends[2][2] = {{"lower[0]", "upper[0]"},
                                           {"lower[1]", "upper[1]"}};
    for (int above = 0; above < 2; above++) {
        symp bound = sampler_cell_bound(p, above);
        if (!bound || sym_has_var(bound, pair_of(s)[0].cell->var) ||
            sym_has_var(bound, pair_of(s)[1].cell->var))
            continue;
        open_cell(e, p);
        sampler_emit_cell_bound(e, p, above, side ? "k_->b" : "k_->a",
                                ends[side][above]);
        emit_close(e, 1);
    }
}

/* lower, upper of the first cell: its own support, and the second's. */
static void emit_pair_bounds(struct compiler *c, struct text *out,
                             const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void bounds_%s(const struct pair_%s *k_, real *low, "
                "real *high)\n{\n",
                pair_id(s), pair_id(s));
    open_pair(&e, s);
    emit_line(&e, "real lower[2] = {-GBM_INF, -GBM_INF};");
    emit_line(&e, "real upper[2] = {GBM_INF, GBM_INF};");
    for (const struct part *p = s->parts; p; p = p->next) {
        int depth = e.nloops, side = p->hit == pair_of(s)[1].cell;
        emit_child_bounds(&e, s, p, side);
        if (!p->prior || !(p->lower || p->upper))
            continue;
        open_cell(&e, p);
        int braces = emit_open_part(&e, p, false);
        if (p->lower)
            emit_line(&e, "lower[%d] = real_fmax(lower[%d], %s);", side, side,
                      emit_expr(&e, p->lower));
        if (p->upper)
            emit_line(&e, "upper[%d] = real_fmin(upper[%d], %s);", side, side,
                      emit_expr(&e, p->upper));
        emit_close(&e, braces + 1);
        e.nloops = depth;
    }
    /* lower[1] <= b - ratio (x - a) <= upper[1] */
    bool falls = pair_of(s)[0].weight / pair_of(s)[1].weight > 0;
    emit_line(&e, "const real ratio = %s;", ratio_text(&e, s));
    emit_line(&e,
              "*low = real_fmax(lower[0], k_->a + (k_->b - %s[1]) / ratio);",
              falls ? "upper" : "lower");
    emit_line(&e,
              "*high = real_fmin(upper[0], k_->a + (k_->b - %s[1]) / ratio);",
              falls ? "lower" : "upper");
    text_append(out, "}\n\n");
}

/* ---- the update -----------------------------------------------------------
 */

static void fill_pair(struct emitter *e, const struct step *s)
{
    const struct family *f = s->family;
    emit_line(e, "struct pair_%s k_;", pair_id(s));
    emit_line(e, "k_.s = s;");
    emit_line(e, "k_.team = team;");
    for (int i = 0; i < f->nloops; i++)
        emit_line(e, "k_.loop%d = %s;", i,
                  emit_expr(e, sym_loop(e->c, f->loops[i])));
    for (int i = 0; i < 2; i++)
        emit_line(e, "k_.%s = %s;", i ? "k" : "j",
                  pair_of(s)[i].index
                      ? emit_expr(e, sym_loop(e->c, pair_of(s)[i].index))
                      : "0");
    emit_line(e, "k_.a = (real)%s;", cell_of(e, &pair_of(s)[0]));
    emit_line(e, "k_.b = (real)%s;", cell_of(e, &pair_of(s)[1]));
    struct held_logs held;
    density_parts(e->c, s, &held);
    sampler_emit_hold(e, &held, "k_.held");
}

/* Opens the loop over the first summand's places; the second's is drawn. */
static int open_places(struct emitter *e, const struct step *s)
{
    const struct loop *a = pair_of(s)[0].index, *b = pair_of(s)[1].index;
    bool same = a && b && pair_of(s)[0].cell->var == pair_of(s)[1].cell->var &&
                sym_same(pair_of(s)[0].cell,
                         sym_replace_loop(e->c, pair_of(s)[1].cell, b,
                                          sym_loop(e->c, pair_of(s)[0].index)));
    int braces = 0;
    if (a) {
        emit_open_loop(e, a, a->lower, a->upper);
        braces++;
    }
    if (b) {
        const char *lower = emit_int(e, b->lower);
        const char *upper = emit_int(e, b->upper);
        emit_line(e, "const int places = (%s) - (%s) + %d;", upper, lower,
                  same ? 0 : 1);
        emit_line(e, "if (places < 1)");
        emit_line(e, same ? "    break;" : "    return;");
        const char *name = emit_loop_name(e, b);
        emit_line(e, "int %s = (int)(gbm_uniform(rng) * (real)places);", name);
        emit_line(e, "%s = (%s) + (%s < places ? %s : places - 1);", name,
                  lower, name, name);
        if (same)
            emit_line(e, "%s += %s >= %s;", name, name,
                      emit_expr(e, sym_loop(e->c, pair_of(s)[0].index)));
    }
    emit_line(e, "if (!(%s) && !(%s)) {", seen_of(e, &pair_of(s)[0]),
              seen_of(e, &pair_of(s)[1]));
    e->indent++;
    return braces + 1;
}

static void emit_pair_update(struct compiler *c, struct text *out,
                             const struct step *s)
{
    const char *id = pair_id(s);
    struct emitter e = emitter_new(c, out);
    text_printf(
        out, "/* %s    %s\n * %s and %s move by what keeps the sum. */\n",
        s->family->text, text_place_in_comment(c, s->family->span),
        sym_text(c, pair_of(s)[0].cell), sym_text(c, pair_of(s)[1].cell));
    emit_open_update(out, s);
    if (s->family->nloops)
        emit_decode(&e, s->family, "element");
    if (!s->family->nslices) {
        symp value = s->family->factor->value;
        emit_line(
            &e, "if (!(%s))",
            emit_expr(&e, sym_seen(c, value->var, value->nargs, value->args)));
        emit_line(&e, "    return;");
    }
    int braces = open_places(&e, s);
    fill_pair(&e, s);
    emit_line(&e, "real lower, upper, value;");
    emit_line(&e, "bounds_%s(&k_, &lower, &upper);", id);
    emit_line(&e, "real width = s->%s[element];", s->slots->member);
    if (whole_numbers(s)) { /* exact while the sum is small */
        emit_line(&e, "if (upper - lower < 24 ||");
        emit_line(&e,
                  "    (upper - lower < 100000 && !gbm_is_finite("
                  "density_%s(&k_, k_.a))))",
                  id);
        emit_line(&e,
                  "    value = gbm_enumerate_draw(rng, (int)lower, "
                  "(int)upper, density_%s, &k_);",
                  id);
        emit_line(&e, "else");
        e.indent++;
    }
    emit_line(&e,
              "value = gbm_slice%s(rng, k_.a, &width, adapting, lower, "
              "upper, density_%s, &k_);",
              whole_numbers(s) ? "_integer" : "", id);
    e.indent -= whole_numbers(s);
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "s->%s[element] = width;", s->slots->member);
    emit_line(&e, "place_%s(&k_, value);", id);
    emit_close(&e, braces);
    text_append(out, "}\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_pair_struct(c, out, s);
    emit_place(c, out, s);
    emit_pair_density(c, out, s);
    emit_pair_bounds(c, out, s);
    emit_pair_update(c, out, s);
}

/* ---- the self-check --------------------------------------------------------
 */

static void open_check(struct emitter *e, const struct step *s,
                       const char *head)
{
    text_printf(e->out, "%s\n{\n", head);
    emit_line(e, "const struct state *s = (const struct state *)state;");
    emit_line(e, "const struct gbm_team *team = &gbm_alone;");
    if (s->family->nloops)
        emit_decode(e, s->family, "element");
    fill_pair(e, s);
}

/* Not many pairs that move at once. */
static bool checked(const struct step *s)
{
    return !pair_of(s)[0].index && !pair_of(s)[1].index;
}

static void emit_checks(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const char *id = pair_id(s);
    if (!checked(s))
        return;
    text_printf(out,
                "static int dimension_%s(const void *state, int64_t element)\n"
                "{\n    return 1;\n}\n",
                id);
    struct emitter get = emitter_new(c, out);
    open_check(&get, s,
               intern_format(c,
                             "static void get_%s(const void *state, int64_t "
                             "element, double *x)",
                             id));
    emit_line(&get, "*x = (double)k_.a;");
    text_append(out, "}\n");
    struct emitter set = emitter_new(c, out);
    open_check(&set, s,
               intern_format(c,
                             "static void set_%s(const void *state, int64_t "
                             "element, const double *x)",
                             id));
    emit_line(&set, "place_%s(&k_, (real)*x);", id);
    text_append(out, "}\n");
    struct emitter at = emitter_new(c, out);
    open_check(&at, s,
               intern_format(c,
                             "static double conditional_%s_at(const void "
                             "*state, int64_t element, const double *x)",
                             id));
    emit_line(&at, "const double value = (double)density_%s(&k_, (real)*x);",
              id);
    emit_line(&at, "place_%s(&k_, k_.a);", id);
    emit_line(&at, "return value;");
    text_append(out, "}\n\n");
}

static bool takes(const struct step *s) { return s->own != NULL; }

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    (void)s;
    text_append(out, ", .every = true");
}

const struct sampler sampler_pair_slice = {
    .name = "slice that keeps the sum",
    .takes = takes,
    .unit = sampler_never_left_out,
    .emit = emit,
    .emit_tables = emit_checks,
    .emit_row = emit_row,
    .checked = checked,
    .own_layout = true,
    .named = true,
    .repairs = true,
    .blocks = 1,
    .tunes = sampler_tunes_width,
};
