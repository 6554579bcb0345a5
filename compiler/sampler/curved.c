/* curved.c: the functions of a joint block with terms that are not
 * quadratic (stdlib/kernels/curved_block.h): each term's L with its
 * derivatives, and what the fit and the ellipse ask of all of them together. */
#include "sampler/joint.h"

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
        emit_close(&e, 2);
    }
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n");
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
        open_rows(&e, k, false);
        emit_line(&e, "real slope_, curvature_;");
        emit_line(&e,
                  "slopes_%s_%d(s, r_.element[i_], c_.offset[i_] + "
                  "c_.base[i_], &slope_, &curvature_);",
                  s->name, k);
        if (t->unbounded) {
            emit_line(&e, "const real eta_ = c_.offset[i_] + c_.base[i_];");
            emit_line(&e, "if (what == GBM_CURVE_DENSITY &&");
            emit_line(&e,
                      "    gbm_curve_beyond(curve_%s_%d(s, r_.element[i_], "
                      "eta_), unbounded_%s_%d(s, r_.element[i_], eta_)))",
                      s->name, k, s->name, k);
            emit_line(&e, "    slope_ = curvature_ = 0;");
        }
        emit_line(&e, "gbm_curve_expand(&c_, i_, slope_, curvature_);");
        emit_close(&e, 1);
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
        open_rows(&e, k, true);
        emit_line(&e, "const real u_ = c_.base[i_] + co * c_.co[i_] + si * "
                      "c_.si[i_];");
        if (t->unbounded) {
            emit_line(&e, "if (what == GBM_CURVE_UNBOUNDED)");
            emit_line(&e,
                      "    sum += unbounded_%s_%d(s, elements_[i_], "
                      "c_.offset[i_] + u_);",
                      s->name, k);
            emit_line(&e, "else");
        }
        emit_line(&e,
                  "%ssum += curve_%s_%d(s, elements_[i_], c_.offset[i_] + "
                  "u_);",
                  t->unbounded ? "    " : "", s->name, k);
        emit_line(&e, "if (what == GBM_CURVE_AGAINST)");
        emit_line(&e, "    sum -= u_ * (c_.score[i_] - c_.weight[i_] * u_ / "
                      "2);");
        emit_close(&e, 2);
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
