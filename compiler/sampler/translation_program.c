/* translation_program.c: the functions of a step that holds sums
 * (translation.c). With v an effect, whose log prior has slope p and precision
 * w there, a the design of its sum, and by how much what is added moves the
 * number t, the density along the line is
 *
 *     sum of -p a't - w (a't)^2 / 2, and the priors' slope't - t'precision t /
 * 2
 *
 * a normal of t, whose potential and precision are computed where all is. */
#include "sampler/translation.h"

static symp effect_cell(struct compiler *c, const struct step *s)
{
    const struct family *f = translation_of(s)->effects;
    return sym_ref(c, f->var, f->var->ndim, f->lower);
}

/* The element's loops, in the effects' names, and where coordinates are. */
static void open_element(struct emitter *e, const struct step *s)
{
    const struct translation *t = translation_of(s);
    if (s->family->nloops)
        emit_decode(e, s->family, "element");
    for (int j = 0; j < t->ntied; j++) {
        struct loop *own = NULL;
        for (int i = 0; i < s->family->nloops; i++)
            if (s->family->loops[i] == t->added[0].tied[j])
                own = s->family->loops[i];
        emit_loop_as(e, t->tied[j], emit_int(e, sym_loop(e->c, own)));
    }
    sampler_emit_layout(e, s);
    if (t->spread)
        sampler_open_spread(e, t);
}

static struct emitter open_function(struct compiler *c, struct text *out,
                                    const struct step *s, const char *returns,
                                    const char *name, const char *arguments)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN %s %s_%s(const struct state *s, const struct gbm_team "
                "*team,\n    long long element, %s)\n{\n",
                returns, name, s->name, arguments);
    open_element(&e, s);
    return e;
}

/* Opens the loops over the effects that the element has, for the lanes. */
static int open_effects(struct emitter *e, const struct step *s)
{
    emit_line(e, "{ /* %s */", translation_of(s)->effects->factor->text);
    e->indent++;
    return 1 + emit_open_part(e, translation_of(s)->part, true);
}

/* A statement for each coordinate of member i: @ is its place, $ `what`. */
static void for_each_of(struct emitter *e, const struct step *s, int i,
                        const char *statement, symp what)
{
    const int depth = e->nloops;
    const char *place;
    const int n =
        sampler_open_index(e, &s->block.members[i].index, i, false, &place);
    emit_filled(e, statement, emit_expr(e, what), place);
    emit_close(e, n);
    e->nloops = depth;
}

/* The cell of a member's coordinate. */
static symp added_cell(struct compiler *c, const struct step *s, int i)
{
    const struct family *f = s->block.members[i].family;
    const struct indices *index = &s->block.members[i].index;
    symp at[1] = {f->nslices ? sym_loop(c, index->loops[0]) : NULL};
    symp cell = f->nslices ? family_lhs(c, f, 1, at)
                           : sym_ref(c, f->var, f->var->ndim, f->lower);
    return sampler_in_element(c, s, i, cell);
}

static void for_each_cell(struct emitter *e, const struct step *s,
                          const char *statement)
{
    for (int i = 0; i < s->block.n; i++)
        for_each_of(e, s, i, statement, added_cell(e->c, s, i));
}

static void for_each_design(struct emitter *e, const struct step *s,
                            const char *statement)
{
    for (int i = 0; i < s->block.n; i++)
        for_each_of(e, s, i, statement, translation_of(s)->added[i].design);
}

/* ---- precision and potential -----------------------------------------------
 */

static void emit_rows(struct emitter *e, const struct step *s)
{
    struct compiler *c = e->c;
    const struct translation *t = translation_of(s);
    const struct var *v = t->effects->var;
    const int depth = e->nloops, braces = open_effects(e, s);
    symp cell = effect_cell(c, s);
    emit_line(e, "held += %s;",
              emit_expr(e, sym_seen(c, (struct var *)v, v->ndim, cell->args)));
    emit_line(e, "const real slope_ = %s;", emit_expr(e, t->slope));
    emit_line(e, "const real weight_ = %s;", emit_expr(e, t->precision));
    if (t->spread) {
        emit_line(e, "square += slope_ * slope_ / weight_;");
        emit_line(e, "count += 1;");
    }
    for_each_design(e, s, "a[@] = $;");
    emit_line(e, "gbm_add_row(d, weight_, slope_, a, Q, b);");
    emit_close(e, braces);
    e->nloops = depth;
}

static void emit_prior(struct emitter *e, const struct step *s, int i)
{
    struct compiler *c = e->c;
    const struct translation *t = translation_of(s);
    const struct added *a = &t->added[i];
    const struct member *m = &s->block.members[i];
    const char *Q = t->spread ? "P" : "Q", *b = t->spread ? "p" : "b";
    symp cell = added_cell(c, s, i);
    for_each_of(e, s, i, "held += $;",
                sym_seen(c, m->family->var, m->family->var->ndim, cell->args));
    for_each_of(e, s, i, intern_format(c, "%s[@] += $;", b), a->slope);
    if (!m->family->nslices) {
        for_each_of(e, s, i, intern_format(c, "%s[(@) * d + @] += $;", Q),
                    a->precision);
        return;
    }
    const int depth = e->nloops;
    const char *row, *column;
    int n = sampler_open_index(e, &m->index, i, false, &row);
    n += sampler_open_index(e, &s->block.members[i].index2, i, false, &column);
    emit_line(e, "if (%s <= %s)", column, row);
    emit_line(e, "    %s[(%s) * d + %s] += %s;", Q, row, column,
              emit_expr(e, a->precision));
    emit_close(e, n);
    e->nloops = depth;
}

/* assemble_: Q, its lower triangle, and b of t where all is, those of the
 * members' prior apart if the effects' scale is drawn; true if what is data
 * must stay. */
static void emit_assemble(struct compiler *c, struct text *out,
                          const struct step *s)
{
    const bool spread = translation_of(s)->spread;
    struct emitter e = open_function(
        c, out, s, "bool", "assemble",
        spread ? "struct gbm_spread *k,\n    real *__restrict__ a"
               : "real *__restrict__ Q,\n    real *__restrict__ b, real "
                 "*__restrict__ a");
    if (spread) {
        emit_line(&e, "real *__restrict__ const Q = k->Q;");
        emit_line(&e, "real *__restrict__ const b = k->b;");
        emit_line(&e, "real *__restrict__ const P = k->P;");
        emit_line(&e, "real *__restrict__ const p = k->p;");
        emit_line(&e, "gbm_total square = 0, count = 0;");
        emit_line(&e, "gbm_fill((long long)d * d, P, 0);");
        emit_line(&e, "gbm_fill(d, p, 0);");
    }
    emit_line(&e, "gbm_total held = s->%s_stride == 0;",
              translation_of(s)->effects->var->cname);
    for (int i = 0; i < s->block.n; i++)
        emit_line(&e, "held += s->%s_stride == 0;",
                  s->block.members[i].family->var->cname);
    emit_line(&e, "gbm_fill((long long)d * d, Q, 0);");
    emit_line(&e, "gbm_fill(d, b, 0);");
    emit_rows(&e, s);
    emit_line(&e, "gbm_sum_rows(team, d, Q, b);");
    emit_line(&e, "held = gbm_team_sum(team, held);");
    if (spread) {
        emit_line(&e, "k->square = gbm_team_sum(team, square);");
        emit_line(&e, "k->count = gbm_team_sum(team, count);");
    }
    for (int i = 0; i < s->block.n; i++)
        emit_prior(&e, s, i);
    emit_line(&e, "return held > 0;");
    text_append(out, "}\n");
}

/* ---- the move --------------------------------------------------------------
 */

/* shift_: moves all by t. */
static void emit_shift(struct compiler *c, struct text *out,
                       const struct step *s)
{
    struct emitter e =
        open_function(c, out, s, "void", "shift", "const real *t");
    const int depth = e.nloops, braces = open_effects(&e, s);
    emit_line(&e, "real sum = 0;");
    for_each_design(&e, s, "sum += t[@] * ($);");
    emit_line(&e, "%s -= sum;", emit_expr(&e, effect_cell(c, s)));
    emit_close(&e, braces);
    e.nloops = depth;
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "if (team->lane == 0) {");
    e.indent++;
    for_each_cell(&e, s, "$ += t[@];");
    emit_close(&e, 1);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

static void emit_scratch(struct emitter *e, const char *name, const char *n)
{
    emit_line(e, "GBM_SCRATCH(%s, %s_small, %s);", name, name, n);
}

/* For what is summed; o: the density of the spread. */
static void emit_room(struct emitter *e, const struct step *s)
{
    const struct spread *k = translation_of(s)->spread;
    emit_scratch(e, "Q", "(long long)d * d");
    emit_scratch(e, "b", "d");
    emit_scratch(e, "t", "d");
    if (!k)
        return;
    emit_scratch(e, "P", "(long long)d * d");
    emit_scratch(e, "p", "d");
    emit_scratch(e, "W", "(long long)d * d");
    emit_scratch(e, "v", "d");
    emit_line(e,
              "struct spread_%s o = {{d, (real)%.17g, Q, b, P, p, W, v, 0, 0}, "
              "s, %s, element};",
              s->name, k->power, emit_expr(e, sampler_spread_cell(e->c, k)));
}

static const char *assembled(struct compiler *c, const struct step *s,
                             const char *team)
{
    return intern_format(c, "assemble_%s(s, %s, element, %s, t)", s->name, team,
                         translation_of(s)->spread ? "&o.k" : "Q, b");
}

/* The scale, then all given it. */
static void emit_collapsed(struct emitter *e, const struct step *s)
{
    const struct spread *k = translation_of(s)->spread;
    emit_line(e, "if (%s)", assembled(e->c, s, "team"));
    emit_line(e, "    return;");
    emit_line(e, "const real by = spread_ && o.k.count > 0 ? "
                 "gbm_spread_slice(rng, &o.k,");
    emit_line(e, "    spread_at_%s, &o) : 0;", s->name);
    emit_line(e, "if (!gbm_spread_draw(rng, &o.k, by, t))");
    emit_line(e, "    return;");
    emit_line(e, "shift_%s(s, team, element, t);", s->name);
    emit_line(e, "if (by != 0 && team->lane == 0)");
    emit_line(e, "    %s *= real_exp(by);",
              emit_expr(e, sampler_spread_cell(e->c, k)));
    emit_line(e, "gbm_team_sync(team);");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    open_element(&e, s);
    emit_line(&e, "if (d > %d)", MOST_TRANSLATED);
    emit_line(&e, "    return;");
    emit_room(&e, s);
    if (translation_of(s)->spread) {
        emit_collapsed(&e, s);
    } else {
        emit_line(&e, "if (!%s &&\n        gbm_gaussian_draw(rng, d, Q, b, t))",
                  assembled(c, s, "team"));
        emit_line(&e, "    shift_%s(s, team, element, t);", s->name);
    }
    text_append(out, "}\n\n");
}

/* ---- for the self-check ----------------------------------------------------
 */

/* first_: the element that a draw of the one at hand is called by. */
static void emit_first(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct family *f = s->family;
    const struct translation *t = translation_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static int64_t first_%s(const void *state, int64_t element)\n"
                "{\n    const struct state *s = (const struct state *)state;\n",
                s->name);
    if (f->nloops)
        emit_decode(&e, f, "element");
    symp number = sym_num(c, 0);
    for (int i = 0; i < f->nloops; i++) {
        const struct loop *l = f->loops[i];
        bool tied = false;
        for (int j = 0; j < t->ntied; j++)
            tied = tied || t->added[0].tied[j] == l;
        symp at = tied ? sym_sub(c, sym_loop(c, f->loops[i]), l->lower)
                       : sym_num(c, 0);
        number = sym_add2(
            c, sym_mul2(c, number, sym_length(c, l->lower, l->upper)), at);
    }
    emit_line(&e, "return %s;", emit_int(&e, number));
    text_append(out, "}\n");
}

/* rows_: of the matrix, whatever the values. */
static void emit_matrix_rows(struct compiler *c, struct text *out,
                             const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static int rows_%s(const void *state, int64_t element)\n"
                "{\n    const struct state *s = (const struct state *)state;\n",
                s->name);
    open_element(&e, s);
    emit_line(&e, "return d;");
    text_append(out, "}\n");
}

/* The last coordinate is the scale. */
static void emit_spread_access(struct emitter *e, const struct spread *k,
                               bool get)
{
    const char *cell = emit_expr(e, sampler_spread_cell(e->c, k));
    emit_line(e, "if (spread_)");
    if (get)
        emit_line(e, "    x[d] = (double)%s;", cell);
    else
        emit_line(e, "    %s = (real)x[d];", cell);
}

/* W, v and total where the scale is x[d]: its prior, which is what the density
 * has beside the integral and the Jacobian, and what the effects have of it. */
static void emit_joined(struct emitter *e, const struct step *s)
{
    emit_line(e, "const double by = spread_ ? log(fabs(x[d] / (double)o.now)) "
                 ": 0;");
    emit_line(e, "if (spread_) {");
    emit_line(e, "    total = (double)spread_at_%s(&o, (real)by) - by;",
              s->name);
    emit_line(e, "    total -= (double)gbm_spread_density(&o.k, (real)by);");
    emit_line(e, "    total += (double)gbm_spread_effects(&o.k, (real)by);");
    emit_line(e, "}");
    emit_line(e, "gbm_spread_join(&o.k, (real)by);");
}

static void emit_access(struct compiler *c, struct text *out,
                        const struct step *s)
{
    text_append(out, "#ifndef __CUDACC__\n");
    emit_first(c, out, s);
    emit_matrix_rows(c, out, s);
    const struct spread *spread = translation_of(s)->spread;
    const char *Q = spread ? "W" : "Q", *b = spread ? "v" : "b";
    for (int k = 0; k < 4; k++) {
        struct emitter e = sampler_open_access(c, out, s, k);
        open_element(&e, s);
        if (k == 0) {
            emit_line(&e, "if (d > %d)", MOST_TRANSLATED);
            emit_line(&e, "    return 0;");
        }
        if (k != 1)
            emit_room(&e, s);
        if (k == 0)
            emit_line(&e, "return %s ? 0 : d%s;", assembled(c, s, "&gbm_alone"),
                      spread ? " + spread_" : "");
        if (k == 1)
            for_each_cell(&e, s, "x[@] = (double)$;");
        if (k > 1)
            emit_line(&e, "%s;", assembled(c, s, "&gbm_alone"));
        if (k > 1)
            for_each_cell(&e, s, "t[@] = (real)x[@] - $;");
        if (k == 2)
            emit_line(&e, "shift_%s(s, &gbm_alone, element, t);", s->name);
        if (spread && (k == 1 || k == 2))
            emit_spread_access(&e, spread, k == 1);
        if (k == 3) {
            emit_line(&e, "double total = 0;");
            if (spread)
                emit_joined(&e, s);
            emit_line(&e, "for (int i = 0; i < d; i++) {");
            emit_line(&e,
                      "    total += (double)%s[i] * t[i] - 0.5 * (double)%s["
                      "i * d + i] * t[i] * t[i];",
                      b, Q);
            emit_line(&e, "    for (int j = 0; j < i; j++)");
            emit_line(
                &e, "        total -= (double)%s[i * d + j] * t[i] * t[j];", Q);
            emit_line(&e, "}");
            emit_line(&e, "return total;");
        }
        text_append(out, "}\n");
    }
    text_append(out, "#endif\n\n");
}

void sampler_emit_translation(struct compiler *c, struct text *out,
                              struct step *s)
{
    sampler_emit_group_comment(
        c, out, s,
        intern_format(c, "Drawn given their sums with %s, which follow",
                      translation_of(s)->effects->var->name));
    if (translation_of(s)->spread)
        sampler_emit_spread(c, out, s, open_element);
    emit_assemble(c, out, s);
    emit_shift(c, out, s);
    emit_update(c, out, s);
    emit_access(c, out, s);
}
