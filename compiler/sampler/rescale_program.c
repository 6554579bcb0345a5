/* rescale_program.c: moves a plate of a joint block with the scale of its prior
 * (rescale.c, stdlib/kernels/rescale.h), after the block's draw. */
#include "sampler/joint.h"
#include "sampler/moves.h"

/* The part is the prior of cells that move, which stays. */
static bool is_of_rows(const struct rescaling *r, const struct part *p)
{
    for (const struct rescaled_rows *k = r->rows; k; k = k->next)
        if (p->factor == k->term->factor)
            return true;
    return false;
}

static double ratio_of(const struct rescaling *r) { return -2 / r->power; }

/* A log density, in which the hyper node has this value, along the line. */
static symp along(struct compiler *c, const struct rescaling *r, symp logp,
                  symp value)
{
    return sampler_line_density(c, logp, value, NULL, r->hyper->factor,
                                ratio_of(r));
}

/* What else the hyper node stands in: terms of one instance each. */
static void emit_parts_apart(struct emitter *e, const struct rescaling *r)
{
    struct compiler *c = e->c;
    e->target = "value_";
    for (const struct part *p = r->parts; p; p = p->next) {
        if (p->own || p->factor == r->term->factor || is_of_rows(r, p))
            continue;
        int depth = e->nloops, braces = emit_open_part(e, p, false);
        for (int i = 0; i < p->terms.n; i++)
            emit_line(e, "total += %s;",
                      emit_expr(e, along(c, r,
                                         sym_mul2(c, p->terms.coefficient[i],
                                                  p->terms.statistic[i]),
                                         sym_target(c))));
        emit_close(e, braces);
        e->nloops = depth;
    }
}

/* Opens the loops of the node with this number. */
static void emit_node(struct emitter *e, const struct family *h,
                      const char *element)
{
    emit_decode(e, h, element);
}

/* struct rescale_NAME_k, and the log density at t = log c: likelihood, the
 * hyper node's prior and the derivative of its value by t. */
static void emit_scale_density(struct compiler *c, struct text *out,
                               const struct step *s, const struct rescaling *r)
{
    const struct family *h = r->hyper;
    const struct var *v = h->var;
    symp node = sym_ref(c, h->var, v->ndim, h->lower);
    symp value = sym_param(c, intern(c, "value_"));
    text_printf(out,
                "/* %s and the plate of %s\n * by one factor: both keep their "
                "standardised values. */\n"
                "struct rescale_%s_%d {\n    const struct state *s;\n    const "
                "struct gbm_team *team;\n    const struct gbm_joint *j;\n    "
                "const struct gbm_rescale *r;\n    real now, lost;\n%s};\n"
                "GBM_INLINE real rescaled_%s_%d(const void *context, real t_)"
                "\n{\n    const struct rescale_%s_%d *k_ = (const struct "
                "rescale_%s_%d *)context;\n    const struct state *s = "
                "k_->s;\n",
                h->text, r->term->factor->text, s->name, r->number,
                h->nloops ? "    long long element;\n" : "", s->name, r->number,
                s->name, r->number, s->name, r->number);
    struct emitter e = emitter_new(c, out);
    if (h->nloops)
        emit_node(&e, h, "k_->element");
    emit_line(&e, "const real grown_ = real_exp(t_);");
    sampler_emit_value(&e, "k_->now", ratio_of(r));
    const struct factor *g = h->factor;
    if (g->lower)
        emit_line(&e, "if (!(value_ > %s))",
                  emit_in_brackets(&e, sym_replace(c, g->lower, node, value)));
    if (g->lower)
        emit_line(&e, "    return -GBM_INF;");
    if (g->upper)
        emit_line(&e, "if (!(value_ < %s))",
                  emit_in_brackets(&e, sym_replace(c, g->upper, node, value)));
    if (g->upper)
        emit_line(&e, "    return -GBM_INF;");
    emit_line(&e,
              "gbm_total total = gbm_rescale_at(k_->r, grown_) + %.17g * "
              "t_;",
              ratio_of(r));
    if (r->order)
        emit_line(&e, "total += k_->lost * t_;");
    if (joint_of(s)->curved)
        emit_line(&e,
                  "total += total_%s(s, k_->team, k_->j, grown_, 0, "
                  "GBM_CURVE_AGAINST);",
                  s->name);
    if (!g->replaced) /* what stands in its place is a part */
        emit_line(
            &e, "total += %s;",
            emit_expr(
                &e, along(c, r, sym_replace(c, g->logp, node, value), value)));
    emit_parts_apart(&e, r);
    emit_line(&e, "return (real)total;");
    text_append(out, "}\n");
}

/* Whether rows differ in their precision. */
static bool varies(const struct rescaling *r, const struct rescaled_rows *rows)
{
    return r->rows->next || r->hyper->nloops || !sym_is(rows->term->weight, 1);
}

/* Whether the scales of a plate are moved in one go (rescale_plate.h): along a
 * curve each asks for the rows anew. */
static bool together(const struct step *s, const struct rescaling *r)
{
    return r->hyper->nloops > 0 && !joint_of(s)->curved;
}

/* From the prior's mean, which the predictor may have in it or not; the
 * precision, and the number of the node in its variable's array, where rows
 * differ in them. */
static void emit_deviation(struct compiler *c, struct text *out,
                           const struct step *s, const struct rescaling *r,
                           const struct rescaled_rows *rows)
{
    struct emitter e = emitter_new(c, out);
    const struct joint_term *t = rows->term;
    symp deviation = sym_sub(c, t->predictor, rows->mean);
    text_printf(out,
                "GBM_FN real deviation_%s_%d(const struct state *s, long long "
                "element%s%s)\n{\n",
                s->name, rows->number,
                varies(r, rows) ? ", real *precision_" : "",
                r->hyper->nloops ? ", long long *node_" : "");
    emit_decode(&e, t->factor->family, "element");
    if (varies(r, rows))
        emit_line(&e, "*precision_ = %s;",
                  emit_expr(&e, sym_mul2(c, t->scale, t->weight)));
    if (r->hyper->nloops) {
        symp node = rows->reference;
        emit_line(&e, "*node_ = %s;", emit_cell(&e, node->var, node->args));
    }
    emit_line(&e, "return %s;",
              emit_expr(&e, sym_mul2(c, sym_num(c, rows->sign), deviation)));
    text_append(out, "}\n");
}

/* Sets r_.dev to the cells of the vector, and own_ to scale times their
 * quadratic form. */
static void emit_vector_deviation(struct emitter *e, const struct step *s,
                                  const struct rescaling *r)
{
    struct compiler *c = e->c;
    int number = 0;
    emit_line(e, "gbm_total held_ = 0, own_ = 0, count_ = 0;");
    for (const struct joint_term *t = joint_of(s)->terms; t;
         t = t->next, number++) {
        if (t->vector != r->term->vector)
            continue;
        emit_line(e, "{");
        e->indent++;
        emit_line(e,
                  "const struct gbm_joint_rows rows_ = gbm_joint_rows_of(j_, "
                  "%d);",
                  number);
        emit_line(e, "const int *at_ = j_->table + rows_.header[GBM_T_AT];");
        emit_line(e, "const real *weight_ = gbm_joint_weight(j_, &rows_);");
        emit_line(e, "if (!rows_.header[GBM_T_CENTRED] || "
                     "rows_.header[GBM_T_LEFT_OUT])");
        emit_line(e, "    held_ = 1;");
        emit_line(e, "const real scale_ = %s;", emit_expr(e, t->scale));
        emit_line(e, "GBM_TEAM_FOR(i_, 0, rows_.header[GBM_T_COUNT], team) {");
        e->indent++;
        emit_line(e, "const int first_ = rows_.begin[i_];");
        emit_line(e, "const int last_ = rows_.begin[i_ + 1] - 1;");
        emit_line(e, "const int a_ = at_[first_], b_ = at_[last_];");
        emit_line(e, "if (a_ < 0 || a_ >= j_->d || b_ < 0 || b_ >= j_->d) {");
        emit_line(e, "    held_ = 1; /* a cell that does not move */");
        emit_line(e, "    continue;");
        emit_line(e, "}");
        emit_line(e, "own_ += (a_ == b_ ? 1 : 2) * scale_ * weight_[i_] * "
                     "j_->x[a_] * j_->x[b_];");
        emit_line(e, "if (a_ == b_)");
        emit_line(e, "    r_.dev[a_] = j_->x[a_];");
        emit_close(e, 2);
        emit_line(e, "gbm_team_sync(team);");
    }
    emit_line(e, "GBM_TEAM_FOR(i_, 0, j_->d, team)");
    emit_line(e, "    count_ += r_.dev[i_] != 0;");
    emit_line(e, "if (gbm_team_sum(team, held_) > 0)");
    emit_line(e, "    return 0;");
    emit_line(e, "const gbm_total moved_ = gbm_team_sum(team, count_);");
    emit_line(e, "gbm_rescale_parabola(j_, &r_, team, gbm_team_sum(team, "
                 "own_));");
    emit_line(e,
              "/* c^cells of the move, less the scale's power in the prior */");
    emit_line(e,
              "const real lost_ = (real)moved_ - %.17g * "
              "%s;",
              2 / r->power, emit_in_brackets(e, r->order));
    (void)c;
}

/* A row's dev_ from those of earlier cells. From the first slot of a sum on,
 * which has as many places as the sum has terms, those of other variables are
 * taken, too: their dev is 0. */
static void emit_earlier(struct emitter *e, const struct rescaling *r,
                         const struct rescaled_rows *rows)
{
    const struct joint_term *t = rows->term;
    int i = 0;
    for (; rows->chain && i < t->nslots && !t->slots[i].nbound; i++) {
        if (i == rows->slot || t->slots[i].variable != r->variable)
            continue;
        emit_line(e,
                  "if (at_[rows_.begin[i_] + %d] >= 0 && "
                  "at_[rows_.begin[i_] + %d] < j_->d)",
                  i, i);
        emit_line(e,
                  "    dev_ -= %s a_[rows_.begin[i_] + %d] * "
                  "r_.dev[at_[rows_.begin[i_] + %d]];",
                  rows->sign < 0 ? "-" : "", i, i);
    }
    if (!rows->chain || i == t->nslots)
        return;
    emit_line(e,
              "for (int q_ = rows_.begin[i_] + %d; q_ < rows_.begin[i_ + 1]; "
              "q_++)",
              i);
    emit_line(e, "    if (at_[q_] >= 0 && at_[q_] < j_->d)");
    emit_line(e, "        dev_ -= %s a_[q_] * r_.dev[at_[q_]];",
              rows->sign < 0 ? "-" : "");
}

/* One term, all of whose rows move at once. */
static bool is_alone(const struct rescaling *r)
{
    return !r->rows->next && !r->hyper->nloops;
}

/* What a row of a plate of scales is to its own. */
static void emit_row_of_plate(struct emitter *e, const struct rescaling *r,
                              const struct rescaled_rows *rows)
{
    emit_line(e, "const int scale_ = gbm_rescale_scale(&r_, node_);");
    emit_line(e, "if (scale_ < 0)");
    emit_line(e, "    continue; /* of another scale */");
    emit_line(e, "const real own_ = dev_;");
    emit_earlier(e, r, rows);
    emit_line(e, "gbm_rescale_row(&r_, j_, scale_, place_, precision_, own_, "
                 "dev_);");
}

/* Sets r_.dev to where the rows' own cells go, and adds to own_: their squares
 * times what of the precision differs between them. */
static void emit_rows(struct emitter *e, const struct step *s,
                      const struct rescaling *r,
                      const struct rescaled_rows *rows)
{
    const bool plate = r->hyper->nloops > 0, alone = is_alone(r);
    emit_line(e,
              "const struct gbm_joint_rows rows_ = gbm_joint_rows_of(j_, %d);",
              rows->number);
    emit_line(e, "const int *at_ = j_->table + rows_.header[GBM_T_AT];");
    emit_line(e, "/* observed effects have no row and do not move */");
    if (together(s, r)) {
        emit_line(e, "if (rows_.header[GBM_T_LEFT_OUT])");
        emit_line(e, "    return 0;");
    } else if (alone)
        emit_line(e, "gbm_total held_ = rows_.header[GBM_T_LEFT_OUT];");
    else
        emit_line(e, "held_ += rows_.header[GBM_T_LEFT_OUT];");
    if (alone)
        emit_line(e, "gbm_total own_ = 0;");
    if (rows->chain) { /* each from the one before */
        emit_line(e, "const real *a_ = gbm_joint_design(j_, &rows_);");
        emit_line(e, "for (int i_ = 0; team->lane == 0 && i_ < "
                     "rows_.header[GBM_T_COUNT]; i_++) {");
    } else {
        emit_line(e, "GBM_TEAM_FOR(i_, 0, rows_.header[GBM_T_COUNT], team) {");
    }
    e->indent++;
    emit_line(e, "const int place_ = at_[rows_.begin[i_] + %d];", rows->slot);
    if (varies(r, rows))
        emit_line(e, "real precision_;");
    if (plate)
        emit_line(e, "long long node_;");
    emit_line(e, "real dev_ = deviation_%s_%d(s, rows_.element[i_]%s%s);",
              s->name, rows->number, varies(r, rows) ? ", &precision_" : "",
              plate ? ", &node_" : "");
    if (together(s, r)) {
        emit_row_of_plate(e, r, rows);
        emit_close(e, 1);
        return;
    }
    if (plate) {
        emit_line(e, "if (node_ != cell_)");
        emit_line(e, "    continue; /* of another scale */");
    }
    if (!alone)
        emit_line(e, "count_++;");
    emit_line(e, "own_ += %sdev_ * dev_;",
              varies(r, rows) ? "precision_ * " : "");
    emit_earlier(e, r, rows);
    emit_line(e, "if (place_ < 0 || place_ >= j_->d)");
    emit_line(e, "    held_ = 1; /* an effect that does not move */");
    emit_line(e, "else");
    emit_line(e, "    r_.dev[place_] = dev_;");
    emit_close(e, 1);
}

static void emit_plate_deviation(struct emitter *e, const struct step *s,
                                 const struct rescaling *r)
{
    const bool alone = is_alone(r);
    if (!alone && !together(s, r))
        emit_line(e, "gbm_total held_ = 0, own_ = 0, count_ = 0;");
    for (const struct rescaled_rows *rows = r->rows; rows; rows = rows->next) {
        if (!alone) {
            emit_line(e, "{");
            e->indent++;
        }
        emit_rows(e, s, r, rows);
        if (!alone) {
            if (rows->next)
                emit_line(e, "gbm_team_sync(team);");
            emit_close(e, 1);
        }
    }
    if (together(s, r))
        return;
    emit_line(e, "if (gbm_team_sum(team, held_) > 0)");
    emit_line(e, "    return 0;");
    if (alone)
        emit_line(e, "const gbm_total moved_ = rows_.header[GBM_T_COUNT];");
    else
        emit_line(e, "const gbm_total moved_ = gbm_team_sum(team, count_);");
    if (!varies(r, r->rows))
        emit_line(e, "const real scale_ = %s;", emit_expr(e, r->term->scale));
    emit_line(e,
              "gbm_rescale_parabola(j_, &r_, team, %sgbm_team_sum(team, "
              "own_));",
              varies(r, r->rows) ? "" : "scale_ * ");
}

/* t_ := log c, drawn by a slice: what its density is told, with a parabola. */
static void emit_slice(struct emitter *e, const struct step *s,
                       const struct rescaling *r, const char *parabola,
                       const char *context)
{
    emit_line(e, "real lower_, upper_;");
    emit_line(e,
              "gbm_rescale_ends(&%s, rng, telling, %.17g * "
              "real_log(real_fabs(%s.now)), &lower_, &upper_);",
              parabola, -r->power / 2, context);
    emit_line(e,
              "const real t_ = gbm_slice_along(rng, 1, lower_, upper_, "
              "rescaled_%s_%d, &%s);",
              s->name, r->number, context);
}

static void emit_plate_to_state(struct emitter *e, const struct step *s,
                                const struct rescaling *r)
{
    struct var *vars[MAX_MEMBERS];
    joint_variables(s, vars);
    emit_line(e, "gbm_joint_to_state(j_, team, %d, s->%s);", r->variable,
              vars[r->variable]->cname);
}

/* The scale is data, or it and its cells are drawn forward. */
static void emit_if_it_stays(struct emitter *e, const struct family *h,
                             symp cell, const char *value)
{
    emit_line(e, "if (%s)",
              emit_expr(e, sym_seen(e->c, h->var, h->var->ndim, h->lower)));
    emit_line(e, "    return %s; /* the scale is data */", value);
    if (!h->var->barren)
        return;
    emit_line(e, "if (!%s)", emit_expr(e, sym_live(e->c, cell)));
    emit_line(e, "    return %s; /* both are drawn forward */", value);
}

static void emit_one(struct compiler *c, struct text *out, const struct step *s,
                     const struct rescaling *r)
{
    struct emitter e = emitter_new(c, out);
    const struct family *h = r->hyper;
    text_printf(out,
                "GBM_FN gbm_total rescale_%s_%d(const struct state *s, struct "
                "gbm_rng *rng,\n    const struct gbm_team *team, const struct "
                "gbm_joint *j_, int telling%s)\n{\n",
                s->name, r->number, h->nloops ? ", long long element" : "");
    if (h->nloops)
        emit_node(&e, h, "element");
    symp cell = sym_ref(c, h->var, h->var->ndim, h->lower);
    const char *node = emit_expr(&e, cell);
    emit_if_it_stays(&e, h, cell, "0");
    if (h->nloops)
        emit_line(&e, "const long long cell_ = %s;",
                  emit_cell(&e, cell->var, cell->args));
    emit_line(&e, "struct gbm_rescale r_ = gbm_rescale_of(j_);");
    emit_line(&e, "gbm_rescale_clear(&r_, j_->d, team);");
    if (r->order)
        emit_vector_deviation(&e, s, r);
    else
        emit_plate_deviation(&e, s, r);
    if (joint_of(s)->curved) {
        emit_line(&e, "GBM_TEAM_FOR(i_, 0, j_->d, team)");
        emit_line(&e, "    r_.along[i_] = j_->x[i_] - r_.dev[i_];");
        emit_line(&e, "gbm_team_sync(team);");
        emit_line(&e, "project_%s(s, team, j_, r_.along, GBM_CURVE_BASE);",
                  s->name);
        emit_line(&e, "project_%s(s, team, j_, r_.dev, GBM_CURVE_CO);",
                  s->name);
        emit_line(&e, "gbm_sparse_multiply(&j_->factor, team, j_->V, r_.dev, "
                      "r_.along);");
    }
    emit_line(&e,
              "const struct rescale_%s_%d k_ = {s, team, j_, &r_, %s, %s%s};",
              s->name, r->number, node, r->order ? "lost_" : "0",
              h->nloops ? ", element" : "");
    emit_slice(&e, s, r, "r_", "k_");
    emit_line(&e, "const real c_ = real_exp(t_);");
    emit_line(&e, "gbm_total told_ = 0;");
    emit_line(&e, "if (telling)");
    emit_line(&e,
              "    told_ = (gbm_total)rescaled_%s_%d(&k_, t_) - rescaled_%s_%d("
              "&k_, 0) - (moved_ - %.17g) * t_;",
              s->name, r->number, s->name, r->number, 2 / r->power);
    emit_line(&e, "gbm_rescale_done(j_, &r_, team, c_);");
    emit_plate_to_state(&e, s, r);
    emit_line(&e, "%s = k_.now * real_exp(%.17g * t_);", node, -2 / r->power);
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "return told_;");
    text_append(out, "}\n\n");
}

/* The place of a scale in its variable's array, or -1: it does not move. */
static void emit_place_of_scale(struct compiler *c, struct text *out,
                                const struct step *s, const struct rescaling *r)
{
    struct emitter e = emitter_new(c, out);
    const struct family *h = r->hyper;
    text_printf(out,
                "GBM_FN long long scale_%s_%d(const struct state *s, long long "
                "element)\n{\n",
                s->name, r->number);
    emit_node(&e, h, "element");
    symp cell = sym_ref(c, h->var, h->var->ndim, h->lower);
    emit_if_it_stays(&e, h, cell, "-1");
    emit_line(&e, "return %s;", emit_cell(&e, cell->var, cell->args));
    text_append(out, "}\n");
}

/* Moves scale k_ of the plate, a number; its cells wait for the others. */
static void emit_move_of_plate(struct emitter *e, const struct step *s,
                               const struct rescaling *r, const char *node)
{
    emit_line(e, "const struct gbm_rescale at_ = gbm_rescale_plate_at(&r_, "
                 "k_);");
    emit_line(e,
              "const struct rescale_%s_%d of_ = {s, team, j_, &at_, %s, 0, "
              "first_ + k_};",
              s->name, r->number, node);
    emit_slice(e, s, r, "at_", "of_");
    emit_line(e, "r_.c[k_] = real_exp(t_);");
    emit_line(e, "r_.value[k_] = of_.now * real_exp(%.17g * t_);",
              -2 / r->power);
    emit_line(e, "if (telling)");
    emit_line(e,
              "    told_ += (gbm_total)rescaled_%s_%d(&of_, t_) - "
              "rescaled_%s_%d(&of_, 0) - (gbm_rescale_count(&r_, k_) - %.17g) "
              "* t_;",
              s->name, r->number, s->name, r->number, 2 / r->power);
}

/* The scales of a plate, `scales_` of them from `first_` on. */
static void emit_together(struct compiler *c, struct text *out,
                          const struct step *s, const struct rescaling *r)
{
    struct emitter e = emitter_new(c, out);
    const struct family *h = r->hyper;
    symp cell = sym_ref(c, h->var, h->var->ndim, h->lower);
    emit_place_of_scale(c, out, s, r);
    text_printf(out,
                "GBM_FN gbm_total rescale_%s_%d(const struct state *s, struct "
                "gbm_rng *rng,\n    const struct gbm_team *team, const struct "
                "gbm_joint *j_, int telling,\n    long long first_, long long "
                "scales_, bool more_)\n{\n",
                s->name, r->number);
    emit_line(&e, "gbm_total told_ = 0;");
    emit_line(&e, "struct gbm_rescale_plate r_ = gbm_rescale_plate_of(j_, "
                  "scales_);");
    emit_line(&e, "for (int k_ = 0; k_ < r_.scales; k_++)");
    emit_line(&e, "    r_.node[k_] = scale_%s_%d(s, first_ + k_);", s->name,
              r->number);
    emit_line(&e, "gbm_rescale_plate_clear(&r_, j_->d, team);");
    emit_plate_deviation(&e, s, r);
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "GBM_RESCALE_TREES(%s, %d, j_, &r_, team);", s->name,
              joint_count_terms(s));
    emit_line(&e, "gbm_rescale_plate_parabola(j_, &r_, team);");
    for (int moved = 0; moved < 2; moved++) {
        if (moved)
            emit_line(&e, "gbm_rescale_plate_done(j_, &r_, team, more_);");
        emit_line(&e, "for (int k_ = 0; k_ < r_.scales; k_++) {");
        e.indent++;
        emit_line(&e, "if (!gbm_rescale_moves(&r_, k_))");
        emit_line(&e, "    continue;");
        const int depth = e.nloops;
        emit_node(&e, h, "(first_ + k_)");
        const char *node = emit_expr(&e, cell);
        if (moved)
            emit_line(&e, "%s = r_.value[k_];", node);
        else
            emit_move_of_plate(&e, s, r, node);
        emit_close(&e, 1);
        e.nloops = depth;
    }
    emit_plate_to_state(&e, s, r);
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "return told_;");
    text_append(out, "}\n\n");
}

/* All of a block's, after its draw, which left its factor and its normals. What
 * the log density changes by is told where it is asked for. */
static void emit_all(struct compiler *c, struct text *out, const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN gbm_total rescale_all_%s(const struct state *s, struct "
                "gbm_rng *rng,\n    const struct gbm_team *team, const struct "
                "gbm_joint *j_, int telling)\n{\n    gbm_total told_ = 0;\n",
                s->name);
    if (joint_of(s)->curved) {
        emit_line(&e, "const struct gbm_curved c_ = gbm_curved_of(j_);");
        emit_line(&e, "const struct gbm_rescale z_ = gbm_rescale_of(j_);");
        emit_line(&e, "GBM_TEAM_FOR(i_, 0, j_->d, team)");
        emit_line(&e, "    z_.dev[i_] = j_->x[i_] - c_.mode[i_];");
        emit_line(&e, "gbm_sparse_multiply(&j_->factor, team, j_->V, z_.dev, "
                      "z_.normals);");
    }
    for (const struct rescaling *r = joint_of(s)->rescalings; r; r = r->next) {
        if (r->hyper->nloops) {
            const char *count = emit_int(&e, family_elements(c, r->hyper));
            emit_line(&e,
                      "for (long long n_ = 0; n_ < %s && "
                      "gbm_rescale_pays(j_, %d, %s); n_ += %s)",
                      count, r->number, count,
                      together(s, r) ? "GBM_RESCALE_AT_ONCE" : "1");
            if (together(s, r)) {
                emit_line(&e,
                          "    told_ += rescale_%s_%d(s, rng, team, j_, "
                          "telling, n_, %s - n_, %sn_ + GBM_RESCALE_AT_ONCE < "
                          "%s);",
                          s->name, r->number, count, r->next ? "true || " : "",
                          count);
                continue;
            }
            emit_line(
                &e,
                "    told_ += rescale_%s_%d(s, rng, team, j_, telling, n_);",
                s->name, r->number);
            continue;
        }
        emit_line(&e, "told_ += rescale_%s_%d(s, rng, team, j_, telling);",
                  s->name, r->number);
    }
    emit_line(&e, "return told_;");
    text_append(out, "}\n\n");
}

void sampler_emit_rescalings(struct compiler *c, struct text *out,
                             const struct step *s)
{
    for (const struct rescaling *r = joint_of(s)->rescalings; r; r = r->next) {
        for (const struct rescaled_rows *k = r->rows; k; k = k->next)
            emit_deviation(c, out, s, r, k);
        emit_scale_density(c, out, s, r);
        if (together(s, r))
            emit_together(c, out, s, r);
        else
            emit_one(c, out, s, r);
    }
    if (joint_of(s)->rescalings)
        emit_all(c, out, s);
}

void sampler_emit_rescale_check(struct text *out, const struct step *s)
{
    text_printf(
        out,
        "static double scales_%s(const void *state, const struct gbm_sweep "
        "*sweep,\n    uint32_t chain, void (*between)(void *context), void "
        "*context)\n{\n    const struct state *s = (const struct state "
        "*)state;\n    struct gbm_rng rng;\n    gbm_rng_start(&rng, "
        "sweep->seed, chain, sweep->sweep, %d, 0);\n    const bool drawn = "
        "drawn_%s(s, &rng, &gbm_alone, GBM_ALONE%s);\n    between(context);\n"
        "    if (!drawn)\n        return 0; /* and no scale moves */\n"
        "    double told = 0;\n",
        s->name, s->number, s->name, joint_of(s)->walk ? ", false" : "");
    if (joint_of(s)->rescalings)
        text_printf(
            out,
            "    const struct gbm_joint j_ = gbm_joint_of(s->%s, s->%s, "
            "s->%s);\n    told += (double)rescale_all_%s(s, &rng, "
            "&gbm_alone, &j_, 1);\n",
            s->slots->member, s->slots->next->member,
            s->slots->next->next->member, s->name);
    if (joint_of(s)->walk)
        text_printf(out,
                    "    bool factored;\n    told += (double)walk_%s(s, &rng, "
                    "&gbm_alone, GBM_ALONE, 1, &factored);\n",
                    s->name);
    text_append(out, "    return told;\n}\n");
}
