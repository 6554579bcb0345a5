/* carried_program.c: the functions of a step that moves a plate with a node of
 * its prior (carried.c, stdlib/kernels/carried.h). */
#include "sampler/carried.h"

/* What names the node's element, where there are several. */
static const char *argument(const struct carried *k)
{
    return k->node->nloops ? ", long long element" : "";
}

static const char *element(const struct carried *k)
{
    return k->node->nloops ? ", element" : "";
}

static void open_node(struct emitter *e, const struct carried *k)
{
    if (k->node->nloops)
        emit_decode(e, k->node, "element");
}

static int open_rows(struct emitter *e, const struct part *p)
{
    sampler_bind_loops(e, p);
    return emit_open_part(e, p, true);
}

/* Whether all lanes come to an instance, as its loops are the element's. */
static bool is_single(const struct part *p)
{
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i])
            return false;
    return true;
}

static bool is_sum(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_SUM;
}

/* Of the node's elements one alone moves, if the plate's prior has its number:
 * whether the element is another one; NULL: each moves. */
static const char *is_other(struct emitter *e, const struct carried *k)
{
    const char *other = NULL;
    for (int d = 0; d < k->node->nloops; d++) {
        symp fixed = sampler_carried_fixed(k, d);
        if (!fixed)
            continue;
        const char *differs =
            intern_format(e->c, "%s != %s", emit_int(e, k->node->lower[d]),
                          emit_int(e, fixed));
        other =
            other ? intern_format(e->c, "%s || %s", other, differs) : differs;
    }
    return other;
}

static void emit_held(struct emitter *e, const struct carried *k)
{
    symp cell = sampler_carried_cell(k), node = sampler_carried_node(k);
    emit_line(e, "sums[3] += s->%s_stride == 0 || s->%s_stride == 0;",
              k->plate->var->cname, k->node->var->cname);
    emit_line(e, "sums[3] += %s;",
              emit_expr(e, sym_seen(e->c, node->var, node->nargs, node->args)));
    if (k->power != 0)
        emit_line(e, "sums[3] += %s == 0;", emit_expr(e, node));
    const char *other = is_other(e, k);
    if (other)
        emit_line(e, "sums[3] += %s;", other);
    if (k->node->var->barren) /* all are drawn forward */
        emit_line(e, "sums[3] += !%s;", emit_expr(e, sym_live(e->c, node)));
    const int depth = e->nloops;
    const int braces = open_rows(e, k->cells);
    emit_line(e, "sums[2] += 1;");
    emit_line(e, "sums[3] += %s;",
              emit_expr(e, sym_seen(e->c, cell->var, cell->nargs, cell->args)));
    emit_close(e, braces);
    e->nloops = depth;
}

static void emit_quadratic(struct emitter *e, const struct reader *r)
{
    const int depth = e->nloops;
    const bool single = is_single(r->part);
    sampler_bind_loops(e, r->part);
    const int braces = emit_open_part(e, r->part, !single);
    if (single)
        emit_line(e, "if (team->lane == 0) {");
    emit_line(e, "sums[1] += %s;", emit_expr(e, r->linear));
    if (!sym_is(r->quadratic, 0))
        emit_line(e, "sums[0] -= 2 * %s;", emit_in_brackets(e, r->quadratic));
    if (r->logarithm)
        emit_line(e, "sums[4] += %s;", emit_expr(e, r->logarithm));
    emit_close(e, braces);
    if (single)
        emit_line(e, "}");
    e->nloops = depth;
}

static bool has_logarithms(const struct carried *k)
{
    const struct reader *r = k->readers;
    while (r && !r->logarithm)
        r = r->next;
    return r != NULL;
}

/* line_: the quadratic of by_, how many cells move, what is data, and the
 * coefficient of log(1 + by_). */
static void emit_line_of(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN struct gbm_scaling line_%s(const struct state *s, "
                "const struct gbm_team *team%s)\n{\n",
                s->name, argument(k));
    open_node(&e, k);
    const bool logarithms = has_logarithms(k);
    emit_line(&e, logarithms ? "gbm_total sums[5] = {0, 0, 0, 0, 0};"
                             : "gbm_total sums[4] = {0, 0, 0, 0};");
    for (const struct reader *r = k->readers; r; r = r->next)
        if (r->linear)
            emit_quadratic(&e, r);
    emit_held(&e, k);
    emit_line(&e, "gbm_team_sums(team, %d, sums);", logarithms ? 5 : 4);
    emit_line(&e,
              "const struct gbm_scaling k = {sums[0], sums[1], sums[2], "
              "sums[3]%s};",
              logarithms ? ", sums[4]" : ", 0");
    emit_line(&e, "return k;");
    text_append(out, "}\n");
}

/* carried_: the log density of t. */
static void emit_density_at(struct compiler *c, struct text *out,
                            const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "struct line_of_%s {\n    struct gbm_scaling k;\n    const "
                "struct state *s;\n    const struct gbm_team *team;\n    real "
                "now;\n%s};\n"
                "GBM_INLINE real carried_%s(const void *context, real t_)\n"
                "{\n    const struct line_of_%s *o_ = (const struct line_of_%s "
                "*)context;\n    const struct state *s = o_->s;\n    const "
                "struct gbm_team *team = o_->team;\n",
                s->name, k->node->nloops ? "    long long element;\n" : "",
                s->name, s->name, s->name);
    if (k->node->nloops)
        emit_line(&e, "const long long element = o_->element;");
    open_node(&e, k);
    emit_param(&e, "by_", "by_");
    if (k->power != 0) {
        emit_line(&e, "const real grown_ = real_exp(t_);");
        sampler_emit_value(&e, "o_->now", sampler_carried_ratio(k));
    } else {
        emit_param(&e, "value_", "value_");
        emit_line(&e, "const real value_ = o_->now + t_;");
    }
    sampler_emit_ends(&e, k->node->factor, sampler_carried_node(k),
                      sampler_carried_value(c));
    emit_line(&e, "const real by_ = %s;",
              has_logarithms(k) ? "real_expm1(t_)" /* which t_ cancels */
              : k->power != 0   ? "grown_ - 1"
                                : "t_");
    emit_line(&e, "gbm_total total = by_ * (o_->k.linear - o_->k.square * by_ "
                  "/ 2);");
    if (k->power != 0)
        emit_line(&e, "total += %.17g * t_; /* the scale's Jacobian */",
                  sampler_carried_ratio(k));
    if (has_logarithms(k))
        emit_line(&e, "total += o_->k.logarithm * t_;");
    for (const struct reader *r = k->readers; r; r = r->next)
        if (!r->linear)
            sampler_emit_rows_of(&e, r->part);
    emit_line(&e, "return (real)total;");
    text_append(out, "}\n\n");
}

/* move_: all by t. */
static void emit_move(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    /* then all digits stay, however near to 0 the scale moves */
    const bool about_zero = sampler_carried_about_zero(k);
    text_printf(out,
                "GBM_FN void move_%s(const struct state *s, const struct "
                "gbm_team *team%s, real t)\n{\n    const real by = %s;\n    "
                "gbm_team_sync(team);\n",
                s->name, argument(k),
                about_zero      ? "real_exp(t)"
                : k->power != 0 ? "real_exp(t) - 1"
                                : "t");
    open_node(&e, k);
    const int depth = e.nloops, braces = open_rows(&e, k->cells);
    if (about_zero)
        emit_line(&e, "%s *= by;", emit_expr(&e, sampler_carried_cell(k)));
    else
        emit_line(&e, "%s += by * %s;", emit_expr(&e, sampler_carried_cell(k)),
                  emit_in_brackets(&e, k->along));
    emit_close(&e, braces);
    e.nloops = depth;
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "if (team->lane == 0)");
    if (k->power != 0)
        emit_line(&e, "    %s *= real_exp(%.17g * t);",
                  emit_expr(&e, sampler_carried_node(k)),
                  sampler_carried_ratio(k));
    else
        emit_line(&e, "    %s += t;", emit_expr(&e, sampler_carried_node(k)));
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

/* o: the line. */
static void emit_line_from(struct emitter *e, const struct step *s,
                           const char *team)
{
    const struct carried *k = carried_of(s);
    emit_line(e, "const struct line_of_%s o = {line_%s(s, %s%s), s, %s, %s%s};",
              s->name, s->name, team, element(k), team,
              emit_expr(e, sampler_carried_node(k)), element(k));
}

bool sampler_carried_closed(const struct carried *k)
{
    bool closed =
        k->power == 0 && !k->node->factor->lower && !k->node->factor->upper;
    for (const struct reader *r = k->readers; r; r = r->next)
        closed = closed && r->linear;
    return closed;
}

void sampler_emit_carried_pays(struct emitter *e, symp node, bool scale,
                               bool by_slice, const char *leave)
{
    emit_line(e, "if (!gbm_carried_pays(tuning, adapting, %s)) {",
              by_slice ? "true" : "false");
    emit_line(e,
              scale ? "    gbm_carried_pass(tuning, adapting, "
                      "real_log(real_fabs(%s)), team);"
                    : "    gbm_carried_pass(tuning, adapting, %s, team);",
              emit_expr(e, node));
    emit_line(e, "    %s", leave);
    emit_line(e, "}");
}

/* Of a function that is told of the team's element. */
static void open_function(struct emitter *e, const struct step *s,
                          const char *head, const char *last)
{
    text_printf(e->out,
                "GBM_FN %s_%s(const struct state *s, const struct gbm_team "
                "*team,\n    long long element, int adapting, %s)\n{\n",
                head, s->name, last);
}

static void emit_tuned(struct emitter *e, const struct step *s)
{
    emit_line(e, "real *const tuning = s->%s%s;", s->slots->member,
              carried_of(s)->node->nloops ? " + GBM_CARRIED_CELLS * element"
                                          : "");
}

/* begin_: the line; false if nothing is to move. */
static void emit_begin(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    open_function(&e, s, "bool begin",
                  intern_format(c, "struct line_of_%s *o_", s->name));
    emit_tuned(&e, s);
    open_node(&e, k);
    const char *other = is_other(&e, k);
    if (other)
        emit_line(&e, "if (%s)\n        return false;", other);
    sampler_emit_carried_pays(&e, sampler_carried_node(k), k->power != 0,
                              !sampler_carried_closed(k), "return false;");
    emit_line_from(&e, s, "team");
    emit_line(&e, "*o_ = o;");
    emit_line(&e, "return !(o.k.held > 0) && o.k.count > 0;");
    text_append(out, "}\n\n");
}

/* along_: by how much. */
static void emit_along(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    const bool tuned = !sampler_carried_closed(k) && k->power == 0;
    text_printf(out,
                "GBM_FN real along_%s(struct gbm_rng *rng, const struct "
                "line_of_%s *o_)\n{\n",
                s->name, s->name);
    if (tuned && k->node->nloops)
        emit_line(&e, "const long long element = o_->element;");
    if (tuned) {
        emit_line(&e, "const struct state *s = o_->s;");
        emit_tuned(&e, s);
    }
    if (sampler_carried_closed(k))
        emit_line(&e, "return gbm_carried_draw(rng, &o_->k);");
    else
        emit_line(&e,
                  "return gbm_slice_along(rng, %s, -GBM_INF, GBM_INF, "
                  "carried_%s, o_);",
                  tuned ? "gbm_carried_width(tuning)" : "1", s->name);
    text_append(out, "}\n\n");
}

/* end_: moves, and learns what it was worth. */
static void emit_end(struct compiler *c, struct text *out, const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    open_function(&e, s, "void end", "real t");
    emit_tuned(&e, s);
    open_node(&e, k);
    emit_line(&e, "const real now = %s;",
              emit_expr(&e, sampler_carried_node(k)));
    emit_line(&e, "const bool moves = t != 0 && gbm_is_finite(%s);",
              k->power != 0 ? "real_exp(t)" : "t");
    emit_line(&e, "if (moves)");
    emit_line(&e, "    move_%s(s, team%s, t);", s->name, element(k));
    emit_line(&e, "if (team->lane == 0)");
    if (k->power != 0)
        emit_line(&e,
                  "    gbm_carried_learn(tuning, adapting, "
                  "real_log(real_fabs(now)), moves ? %.17g * t : 0);",
                  sampler_carried_ratio(k));
    else
        emit_line(&e, "    gbm_carried_learn(tuning, adapting, now, moves ? "
                      "t : 0);");
    text_append(out, "}\n\n");
}

enum {
    SWEEPS = 2
}; /* one in so many after warm-up moves what is swept: of
      real counts of RNA the coefficients gain as much as by
      a move in each, for half of what that costs */

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    emit_begin(c, out, s);
    emit_along(c, out, s);
    emit_end(c, out, s);
    emit_open_update(out, s);
    if (carried_of(s)->swept) {
        emit_line(&e, "if (!adapting && rng->sweep %% %d > 0)", SWEEPS);
        emit_line(&e, "    return;");
    }
    emit_line(&e, "struct line_of_%s o;", s->name);
    emit_line(&e, "if (begin_%s(s, team, element, adapting, &o))", s->name);
    emit_line(&e, "    end_%s(s, team, element, adapting, along_%s(rng, &o));",
              s->name, s->name);
    text_append(out, "}\n\n");
}

/* Whether a lane alone can tell the density along the line. */
static bool tells_alone(const struct reader *r)
{
    return r->linear ||
           (is_single(r->part) && !sym_any(r->part->logp, is_sum, NULL));
}

bool sampler_carried_splits(const struct step *s)
{
    bool alone = !carried_of(s)->swept;
    for (const struct reader *r = carried_of(s)->readers; r; r = r->next)
        alone = alone && tells_alone(r);
    return alone;
}

void sampler_emit_carried_kernels(struct compiler *c, struct text *out,
                                  const struct step *s)
{
    (void)c;
    text_printf(out, "%s(%s, %d)\n",
                sampler_carried_splits(s) ? "GBM_KERNEL_ALONG" : "GBM_KERNEL",
                s->name, s->number);
}

/* ---- for the self-check ----------------------------------------------------
 */

/* tuning_: how many numbers; so many for each element. */
static void emit_tuning(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct family *f = carried_of(s)->node;
    struct emitter e = emitter_new(c, out);
    text_printf(out, "static int64_t tuning_%s(const void *state)\n{\n",
                s->name);
    if (f->nloops) {
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        emit_line(&e, "return (int64_t)GBM_CARRIED_CELLS * (%s);",
                  emit_int(&e, family_elements(c, f)));
    } else {
        emit_line(&e, "return GBM_CARRIED_CELLS;");
    }
    text_append(out, "}\n");
}

/* turns_: of a mean that sums over the node's last loop, how many elements meet
 * in rows. */
static void emit_turns(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct family *f = carried_of(s)->node;
    const struct loop *l = f->loops[f->nloops - 1];
    symp length = sym_length(c, l->lower, l->upper);
    struct emitter e = emitter_new(c, out);
    text_printf(out, "static int64_t turns_%s(const void *state)\n{\n",
                s->name);
    if (length->kind != SYM_NUM)
        emit_line(&e, "const struct state *s = (const struct state *)state;");
    emit_line(&e, "return %s;", emit_int(&e, length));
    text_append(out, "}\n");
}

/* The coordinate is the node; the density that of what moves, not of t: with
 * the plate's normalisation, without a Jacobian. */
static void emit_access(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct carried *k = carried_of(s);
    const char *const t =
        k->power != 0 ? intern_format(c,
                                      "const double t = %.17g * log(fabs(*x / "
                                      "(double)o.now));",
                                      -k->power / 2)
                      : "const double t = *x - (double)o.now;";
    const char *const jacobian =
        k->power != 0 ? intern_format(c, " - ((double)o.k.count - %.17g) * t",
                                      2 / k->power)
                      : "";
    text_append(out, "#ifndef __CUDACC__\n");
    for (int i = 0; i < 4; i++) {
        struct emitter e = sampler_open_access(c, out, s, i);
        open_node(&e, k);
        emit_line_from(&e, s, "&gbm_alone");
        if (i == 0)
            emit_line(&e, "return !(o.k.held > 0) && o.k.count > 0;");
        if (i == 1)
            emit_line(&e, "*x = (double)o.now;");
        if (i > 1)
            emit_line(&e, "%s", t);
        if (i == 3 && k->power != 0) { /* on the side of 0 that x is on */
            emit_line(&e, "struct line_of_%s of = o;", s->name);
            emit_line(&e, "of.now = real_copysign(o.now, (real)*x);");
        }
        if (i == 2) {
            emit_line(&e, "if (isfinite(t))");
            emit_line(&e, "    move_%s(s, &gbm_alone%s, (real)t);", s->name,
                      element(k));
            emit_line(&e,
                      "%s = (real)*x; /* beyond its support, too, and back */",
                      emit_expr(&e, sampler_carried_node(k)));
        }
        if (i == 3)
            emit_line(&e, "return (double)carried_%s(&%s, (real)t)%s;", s->name,
                      k->power != 0 ? "of" : "o", jacobian);
        text_append(out, "}\n");
    }
    emit_tuning(c, out, s);
    if (carried_of(s)->swept)
        emit_turns(c, out, s);
    text_append(out, "#endif\n\n");
}

void sampler_emit_carried(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s, "Moved together");
    emit_line_of(c, out, s);
    emit_density_at(c, out, s);
    emit_move(c, out, s);
    emit_update(c, out, s);
    emit_access(c, out, s);
}
