/* curved.c: the functions of a joint block with terms that are not
 * quadratic (stdlib/kernels/curved_block.h): each term's L with its
 * derivatives, and what the fit and the ellipse ask of all of them together.
 *
 * An update evaluates L some twenty times in each row. Where it is made of
 * functions that the vector unit has, what a row has in it is computed once,
 * as columns behind those of the fit, and blocks of rows are evaluated at once.
 */
#include "sampler/joint.h"

static bool in_vectors(const struct curve_rows *r)
{
    bool expensive = false;
    for (int i = 0; i < CURVE_FUNCTIONS; i++) {
        if (!emit_only_vectors(r->of[i]))
            return false;
        expensive = expensive || sym_any(r->of[i], emit_is_expensive, NULL);
    }
    return expensive;
}

void sampler_find_curve_columns(struct compiler *c, struct step *s)
{
    for (struct joint_term *t = joint_of(s)->terms; t; t = t->next) {
        if (!t->curved || t->unbounded) /* a row beyond its bounds is apart */
            continue;
        struct curve_rows *r = NEW(c, struct curve_rows);
        symp whole[CURVE_FUNCTIONS] = {t->value, t->slope, t->curvature};
        for (int i = 0; i < CURVE_FUNCTIONS; i++)
            r->of[i] = sym_replace(c, whole[i], joint_eta(c), sym_target(c));
        if (sweep_hoist_rows(c, s, r->of, CURVE_FUNCTIONS, &r->hoisted) &&
            in_vectors(r))
            t->columns = r;
    }
}

static void open_instance(struct emitter *e, const struct joint_term *t)
{
    emit_decode(e, t->factor->family, "element");
    emit_param(e, "eta_", "eta_");
}

static void emit_value(struct compiler *c, struct text *out,
                       const struct step *s, const struct joint_term *t,
                       int number, const char *name, symp value)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN real %s_%s_%d(const struct state *s, long long "
                "element, real eta_)\n{\n",
                name, s->name, number);
    open_instance(&e, t);
    emit_line(&e, "return %s;", emit_expr(&e, value));
    text_append(out, "}\n");
}

/* columns_: what a row has in L, each in a column of its own. */
static void emit_columns(struct compiler *c, struct text *out,
                         const struct step *s, const struct joint_term *t,
                         int number)
{
    const struct hoisted *h = &t->columns->hoisted;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void columns_%s_%d(const struct state *s, long long "
                "element, real *row_, int room_)\n{\n",
                s->name, number);
    emit_decode(&e, t->factor->family, "element");
    for (int i = 0; i < h->n; i++)
        emit_line(&e, "row_[%d * room_] = %s;", i, emit_expr(&e, h->value[i]));
    text_append(out, "}\n");
}

void sampler_emit_curve(struct compiler *c, struct text *out,
                        const struct step *s, const struct joint_term *t,
                        int number)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN real offset_%s_%d(const struct state *s, long long "
                "element)\n{\n",
                s->name, number);
    open_instance(&e, t);
    emit_line(&e, "return %s;", emit_expr(&e, t->offset));
    text_append(out, "}\n");
    if (t->columns) {
        emit_columns(c, out, s, t, number);
        return;
    }
    emit_value(c, out, s, t, number, "curve", t->value);
    if (t->unbounded)
        emit_value(c, out, s, t, number, "unbounded", t->unbounded);
    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void slopes_%s_%d(const struct state *s, long long "
                "element, real eta_,\n    real *slope_, real *curvature_)\n{\n",
                s->name, number);
    open_instance(&e, t);
    emit_line(&e, "*slope_ = %s;", emit_expr(&e, t->slope));
    emit_line(&e, "*curvature_ = %s;", emit_expr(&e, t->curvature));
    text_append(out, "}\n\n");
}

/* Opens a function of all curved terms. */
static struct emitter open_function(struct compiler *c, struct text *out,
                                    const struct step *s, const char *returns,
                                    const char *name, const char *arguments)
{
    text_printf(out,
                "GBM_FN %s %s_%s(const void *state, const struct gbm_team "
                "*team,\n    const struct gbm_joint *j_%s)\n{\n    const "
                "struct state *s = (const struct state *)state;\n",
                returns, name, s->name, arguments);
    return emitter_new(c, out);
}

static void open_term(struct emitter *e, const struct joint_term *t, int number)
{
    emit_line(e, "{ /* %s */", t->factor->text);
    e->indent++;
    emit_line(e, "const struct gbm_curve c_ = gbm_curve_of(j_, %d);", number);
}

static void open_rows(struct emitter *e, int number, bool elements)
{
    if (elements)
        emit_line(e,
                  "const int *elements_ = gbm_joint_rows_of(j_, %d).element;",
                  number);
    emit_line(e, "GBM_TEAM_FOR(i_, 0, c_.rows, team) {");
    e->indent++;
}

/* Opens a loop over blocks of rows, of which only what `before` says, if it
 * says something, stands before the lanes; with i_ and eta_, and the columns'
 * names in scope. */
static void open_blocks(struct emitter *e, const struct joint_term *t,
                        const char *before, const char *at)
{
    const struct hoisted *h = &t->columns->hoisted;
    for (int i = 0; i < h->n; i++) {
        const char *name = emit_name(e, h->name[i]);
        emit_line(e, "const real *const %s = c_.columns + %d * c_.room;", name,
                  i);
        emit_param(e, h->name[i], intern_format(e->c, "%s[i_]", name));
    }
    emit_line(e, "GBM_TEAM_BLOCKS(from_, 0, c_.rows, team) {");
    e->indent++;
    if (before)
        emit_line(e, "%s", before);
    emit_line(e, "GBM_SIMD");
    emit_line(e, "for (int lane_ = 0; lane_ < GBM_BLOCK_ROWS; lane_++) {");
    e->indent++;
    emit_line(e, "const int i_ = from_ + lane_;");
    emit_line(e, "const real eta_ = c_.offset[i_] + %s;", at);
    e->target = "eta_";
}

/* The sum of L over the rows at base + co c + si s, added to `sum`. */
static void emit_total_rows(struct emitter *e, const struct joint_term *t)
{
    const int nparams = e->nparams, nshared = e->nshared;
    emit_line(e, "gbm_total lanes_[GBM_BLOCK_ROWS] = {0};");
    open_blocks(e, t, NULL, "(c_.base[i_] + co * c_.co[i_] + si * c_.si[i_])");
    emit_calls_of_rows(e, &t->columns->hoisted, t->columns->of, 1);
    emit_line(e, "const gbm_total term_ = %s;",
              emit_expr(e, t->columns->of[CURVE_VALUE]));
    emit_line(e, "lanes_[lane_] += i_ < c_.rows ? term_ : 0;");
    emit_close(e, 2);
    emit_line(e, "sum += gbm_sum_lanes(lanes_);");
    emit_line(e, "if (what == GBM_CURVE_AGAINST)");
    emit_line(e, "    sum -= gbm_curve_expansion(&c_, team, co, si);");
    e->nparams = nparams;
    e->nshared = nshared;
}

/* Every row's expansion at base. */
static void emit_expand_rows(struct emitter *e, const struct joint_term *t)
{
    const int nparams = e->nparams, nshared = e->nshared;
    open_blocks(e, t,
                "real slopes_[GBM_BLOCK_ROWS], curvatures_[GBM_BLOCK_ROWS];",
                "c_.base[i_]");
    emit_calls_of_rows(e, &t->columns->hoisted, t->columns->of + CURVE_SLOPE,
                       2);
    emit_line(e, "slopes_[lane_] = %s;",
              emit_expr(e, t->columns->of[CURVE_SLOPE]));
    emit_line(e, "curvatures_[lane_] = %s;",
              emit_expr(e, t->columns->of[CURVE_CURVATURE]));
    emit_close(e, 1);
    emit_line(e, "for (int lane_ = 0; lane_ < GBM_BLOCK_ROWS && from_ + lane_ "
                 "< c_.rows; lane_++)");
    emit_line(e, "    gbm_curve_expand(&c_, from_ + lane_, slopes_[lane_], "
                 "curvatures_[lane_]);");
    emit_close(e, 1);
    e->nparams = nparams;
    e->nshared = nshared;
}

static void emit_prepare(struct compiler *c, struct text *out,
                         const struct step *s)
{
    struct emitter e = open_function(c, out, s, "void", "prepare", "");
    int k = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next, k++) {
        if (!t->curved)
            continue;
        open_term(&e, t, k);
        emit_line(&e,
                  "const struct gbm_joint_rows r_ = gbm_joint_rows_of(j_, %d);",
                  k);
        open_rows(&e, k, false);
        emit_line(&e, "c_.offset[i_] = offset_%s_%d(s, r_.element[i_]);",
                  s->name, k);
        if (!t->constant_design)
            emit_line(&e,
                      "design_%s_%d(s, r_.element[i_], r_.design + "
                      "r_.begin[i_]);",
                      s->name, k);
        if (t->columns)
            emit_line(&e,
                      "columns_%s_%d(s, r_.element[i_], c_.columns + i_, "
                      "c_.room);",
                      s->name, k);
        emit_close(&e, 1);
        if (t->columns) {
            emit_line(&e, "gbm_fill_block(c_.offset, 1, c_.room, c_.rows);");
            emit_line(&e, "gbm_fill_block(c_.columns, %d, c_.room, c_.rows);",
                      t->columns->hoisted.n);
        }
        emit_close(&e, 1);
    }
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n");
}

/* Every row's expansion at base, one by one. */
static void emit_expand_in_place(struct emitter *e, const struct step *s,
                                 const struct joint_term *t, int number)
{
    open_rows(e, number, false);
    emit_line(e, "real slope_, curvature_;");
    emit_line(e,
              "slopes_%s_%d(s, r_.element[i_], c_.offset[i_] + "
              "c_.base[i_], &slope_, &curvature_);",
              s->name, number);
    if (t->unbounded) {
        emit_line(e, "const real eta_ = c_.offset[i_] + c_.base[i_];");
        emit_line(e, "if (what == GBM_CURVE_DENSITY &&");
        emit_line(e,
                  "    gbm_curve_beyond(curve_%s_%d(s, r_.element[i_], "
                  "eta_), unbounded_%s_%d(s, r_.element[i_], eta_)))",
                  s->name, number, s->name, number);
        emit_line(e, "    slope_ = curvature_ = 0;");
    }
    emit_line(e, "gbm_curve_expand(&c_, i_, slope_, curvature_);");
    emit_close(e, 1);
}

static void emit_expand(struct compiler *c, struct text *out,
                        const struct step *s)
{
    struct emitter e =
        open_function(c, out, s, "void", "expand", ", const real *x, int what");
    int k = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next, k++) {
        if (!t->curved)
            continue;
        open_term(&e, t, k);
        emit_line(&e, "gbm_curve_project(j_, &c_, team, x, true, c_.base);");
        emit_line(&e,
                  "const struct gbm_joint_rows r_ = gbm_joint_rows_of(j_, %d);",
                  k);
        if (t->columns)
            emit_expand_rows(&e, t);
        else
            emit_expand_in_place(&e, s, t, k);
        emit_line(&e, "gbm_joint_add(j_, &r_, team, 1);");
        emit_close(&e, 1);
    }
    emit_line(&e, "gbm_joint_hold(j_, team);");
    text_append(out, "}\n");
}

static void emit_project(struct compiler *c, struct text *out,
                         const struct step *s)
{
    struct emitter e = open_function(c, out, s, "void", "project",
                                     ", const real *x, int which");
    int k = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next, k++) {
        if (!t->curved)
            continue;
        open_term(&e, t, k);
        emit_line(&e, "gbm_curve_project(j_, &c_, team, x, which == "
                      "GBM_CURVE_BASE,");
        emit_line(&e, "    which == GBM_CURVE_BASE ? c_.base : which == "
                      "GBM_CURVE_CO ? c_.co : c_.si);");
        emit_close(&e, 1);
    }
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n");
}

/* The same one by one. */
static void emit_total_in_place(struct emitter *e, const struct step *s,
                                const struct joint_term *t, int number)
{
    open_rows(e, number, true);
    emit_line(e, "const real u_ = c_.base[i_] + co * c_.co[i_] + si * "
                 "c_.si[i_];");
    if (t->unbounded) {
        emit_line(e, "if (what == GBM_CURVE_UNBOUNDED)");
        emit_line(e,
                  "    sum += unbounded_%s_%d(s, elements_[i_], "
                  "c_.offset[i_] + u_);",
                  s->name, number);
        emit_line(e, "else");
    }
    emit_line(e,
              "%ssum += curve_%s_%d(s, elements_[i_], c_.offset[i_] + "
              "u_);",
              t->unbounded ? "    " : "", s->name, number);
    emit_line(e, "if (what == GBM_CURVE_AGAINST)");
    emit_line(e, "    sum -= u_ * (c_.score[i_] - c_.weight[i_] * u_ / "
                 "2);");
    emit_close(e, 1);
}

static void emit_total(struct compiler *c, struct text *out,
                       const struct step *s)
{
    struct emitter e = open_function(c, out, s, "gbm_total", "total",
                                     ", real co, real si, int what");
    emit_line(&e, "gbm_total sum = 0;");
    int k = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next, k++) {
        if (!t->curved)
            continue;
        open_term(&e, t, k);
        if (t->columns)
            emit_total_rows(&e, t);
        else
            emit_total_in_place(&e, s, t, k);
        emit_close(&e, 1);
    }
    emit_line(&e, "return gbm_team_sum(team, sum);");
    text_append(out, "}\n");
}

static void emit_along(struct compiler *c, struct text *out,
                       const struct step *s)
{
    struct emitter e = open_function(c, out, s, "void", "along",
                                     ", gbm_total *slope, gbm_total *square");
    emit_line(&e, "gbm_total sum = 0, squares = 0;");
    int k = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next, k++) {
        if (!t->curved)
            continue;
        open_term(&e, t, k);
        open_rows(&e, k, false);
        emit_line(&e, "sum += (c_.score[i_] - c_.weight[i_] * c_.base[i_]) * "
                      "c_.co[i_];");
        emit_line(&e, "squares += c_.weight[i_] * c_.co[i_] * c_.co[i_];");
        emit_close(&e, 2);
    }
    emit_line(&e, "*slope = gbm_team_sum(team, sum);");
    emit_line(&e, "*square = gbm_team_sum(team, squares);");
    text_append(out, "}\n\n");
}

void sampler_emit_curved(struct compiler *c, struct text *out,
                         const struct step *s)
{
    emit_prepare(c, out, s);
    emit_expand(c, out, s);
    emit_project(c, out, s);
    emit_total(c, out, s);
    emit_along(c, out, s);
}
