/* joint_program.c: the functions of a joint Gaussian block, beside those of its
 * terms (joint_row_program.c): the update, and what the self-check needs
 * (stdlib/kernels/joint.h, runtime/load/joint.c). */
#include "sampler/group.h"
#include "sampler/joint.h"

static void emit_comment(struct compiler *c, struct text *out,
                         const struct step *s)
{
    text_append(out, "/* A joint Gaussian block:\n");
    for (int i = 0; i < s->block.n; i++)
        text_printf(out, " *     %s    %s\n", s->block.members[i].family->text,
                    text_place_in_comment(c, s->block.members[i].family->span));
    text_append(out, " * Its sparse precision and potential come from\n");
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next)
        text_printf(out, " *     %s\n", t->factor->text);
    text_append(out, " */\n");
}

static bool all_constant(const struct joint_term *t)
{
    return t->constant_design && t->constant_weight && t->constant_score;
}

static void emit_joint_of(struct emitter *e, const struct step *s)
{
    emit_line(
        e, "const struct gbm_joint j_ = GBM_JOINT_OF(%s, s->%s, s->%s, s->%s);",
        s->name, s->slots->member, s->slots->next->member,
        s->slots->next->next->member);
}

/* The case of a term: its rows and its scale. */
static void emit_term(struct emitter *e, const struct step *s,
                      const struct joint_term *t, int number)
{
    emit_line(e, "case %d: /* %s */", number, t->factor->text);
    e->indent++;
    /* rows are computed even so where what is observed moves: geweke */
    emit_line(e, "GBM_TEAM_FOR(i_, 0, r_.rows, team) {");
    e->indent++;
    emit_line(e, "const long long element_ = r_.element[i_];");
    emit_line(e, "row_%s_%d(s, element_, &r_.weight[i_], &r_.score[i_]);",
              s->name, number);
    if (t->data_design && !t->constant_design)
        emit_line(e, "if (!r_.header[GBM_T_FIXED_DESIGN])");
    if (!t->constant_design)
        emit_line(e, "design_%s_%d(s, element_, r_.design + r_.begin[i_]);",
                  s->name, number);
    emit_close(e, 1);
    if (!sym_is(t->scale, 1))
        emit_line(e, "scale_ = %s;", emit_expr(e, t->scale));
    emit_line(e, "break;");
    e->indent--;
}

/* Rows that trees of the factor may gather themselves, on the device. */
static bool gathered(const struct joint_term *t)
{
    return !t->curved && !t->forms && !sampler_pairs_of(t) &&
           t->constant_design && !(t->constant_weight && t->constant_score);
}

static bool can_have_border(const struct step *s)
{
    return !joint_of(s)->curved;
}

/* border_: weight and score of a row, for border.h. */
static void emit_border_row(struct compiler *c, struct text *out,
                            const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifdef __CUDACC__\nGBM_FN void border_%s(const struct state "
                "*s, int term, long long element,\n    real *weight_, real "
                "*score_)\n{\n",
                s->name);
    emit_line(&e, "switch (term) {");
    int number = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t;
         t = t->next, number++) {
        if (!gathered(t))
            continue;
        emit_line(&e, "case %d: {", number);
        e.indent++;
        emit_line(&e, "row_%s_%d(s, element, weight_, score_);", s->name,
                  number);
        if (!sym_is(t->scale, 1)) {
            emit_line(&e, "const real scale_ = %s;", emit_expr(&e, t->scale));
            emit_line(&e, "*weight_ *= scale_;");
            emit_line(&e, "*score_ *= scale_;");
        }
        emit_line(&e, "break;");
        emit_close(&e, 1);
    }
    emit_line(&e, "default: *weight_ = *score_ = 0;");
    emit_line(&e, "}");
    text_append(out, "}\n#endif\n");
}

/* Adds what is not curved, in one loop: what adds a term is long, and inlined.
 */
static void emit_terms(struct emitter *e, const struct step *s)
{
    int number = 0, last = -1;
    for (const struct joint_term *t = joint_of(s)->terms; t;
         t = t->next, number++)
        if (!t->curved)
            last = number;
    if (last < 0)
        return;
    emit_line(e, "GBM_ROLLED");
    emit_line(e, "for (int t_ = 0; t_ <= %d; t_++) {", last);
    e->indent++;
    emit_line(e, "const struct gbm_joint_rows r_ = gbm_joint_rows_of(j_, t_);");
    if (can_have_border(s))
        emit_line(e,
                  "if (border_ && r_.header[GBM_T_BORDER])\n        continue;");
    emit_line(e, "real scale_ = 1;");
    emit_line(e, "switch (t_) {");
    number = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t;
         t = t->next, number++)
        if (!t->curved)
            emit_term(e, s, t, number);
    emit_line(e, "default: continue;");
    emit_line(e, "}");
    emit_line(e, "gbm_joint_add(j_, &r_, team, scale_);");
    emit_close(e, 1);
}

static void emit_assemble(struct compiler *c, struct text *out,
                          const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void assemble_%s(const struct state *s, const struct "
                "gbm_team *team,\n    const struct gbm_joint *j_%s)\n{\n",
                s->name, can_have_border(s) ? ", bool border_" : "");
    if (can_have_border(s)) {
        emit_line(&e, "if (border_ && gbm_joint_fresh(j_))");
        emit_line(&e, "    gbm_joint_clear_border(j_, team);");
        emit_line(&e, "else");
        emit_line(&e, "    gbm_joint_clear(j_, team);");
    } else {
        emit_line(&e, "gbm_joint_clear(j_, team);");
    }
    emit_terms(&e, s);
    struct var *vars[MAX_MEMBERS];
    int n = joint_variables(s, vars);
    for (int v = 0; v < n; v++) {
        emit_line(&e,
                  "GBM_TEAM_FOR(i_, j_->held_first[%d], j_->held_first[%d], "
                  "team)",
                  v, v + 1);
        emit_line(&e, "    j_->held[i_] = s->%s[j_->held_where[i_]];",
                  vars[v]->cname);
    }
    if (!joint_of(s)->curved)
        emit_line(&e, "gbm_joint_hold(j_, team);");
    text_append(out, "}\n\n");
}

/* One line per variable: its coordinates k_ from its cells or back. */
static void emit_cells(struct emitter *e, const struct step *s,
                       const char *format, bool team)
{
    struct var *vars[MAX_MEMBERS];
    int n = joint_variables(s, vars);
    for (int v = 0; v < n; v++) {
        if (team)
            emit_line(e, "GBM_TEAM_FOR(i_, j_.first[%d], j_.first[%d], team)",
                      v, v + 1);
        else
            emit_line(e,
                      "for (int i_ = j_.first[%d]; i_ < j_.first[%d]; "
                      "i_++)",
                      v, v + 1);
        e->indent++;
        emit_filled(e, format,
                    intern_format(e->c, "s->%s[j_.where[i_]]", vars[v]->cname),
                    "");
        e->indent--;
    }
}

/* From the draw in x. */
static void emit_to_state(struct emitter *e, const struct step *s)
{
    struct var *vars[MAX_MEMBERS];
    int n = joint_variables(s, vars);
    for (int v = 0; v < n; v++)
        emit_line(e, "gbm_joint_to_state(&j_, team, %d, s->%s);", v,
                  vars[v]->cname);
}

int joint_count_terms(const struct step *s)
{
    int n = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next)
        n++;
    return n;
}

static const char *normals_of(const struct step *s)
{
    return joint_of(s)->rescalings ? "j_.work + j_.table[GBM_J_SPARE]" : "0";
}

static void emit_sparse_draw(struct emitter *e, const struct step *s,
                             bool border)
{
    const char *draw = intern_format(
        e->c, "gbm_sparse_draw(&j_.factor, rng, team, j_.V, j_.x, %s)",
        normals_of(s));
    if (border) {
        emit_line(e, "const bool drawn_ = %sborder_",
                  joint_of(s)->walk ? "factored_ ? true : " : "");
        emit_line(e,
                  "    ? GBM_BORDER_DRAW(%s, border_%s, &j_, s, %d, rng, team, "
                  "j_.work + j_.table[GBM_J_SPARE])",
                  s->name, s->name, joint_count_terms(s));
        emit_line(e, "    : %s;", draw);
        draw = "drawn_";
    }
    emit_line(e, "if (!%s)", draw);
}

/* drawn_: draws the block; false: it stays. */
static void emit_drawn(struct compiler *c, struct text *out,
                       const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN bool drawn_%s(const struct state *s, struct gbm_rng "
                "*rng,\n    const struct gbm_team *team, int adapting%s)\n{\n",
                s->name, joint_of(s)->walk ? ", bool factored_" : "");
    emit_joint_of(&e, s);
    const bool border = can_have_border(s);
    if (border)
        emit_line(&e, "const bool border_ = GBM_BORDERED(%s);", s->name);
    if (joint_of(s)->walk) { /* as it stands from there */
        emit_line(&e, "if (factored_)");
        emit_line(&e,
                  "    gbm_sparse_finish(&j_.factor, rng, team, j_.V, j_.x, "
                  "%s);",
                  normals_of(s));
        emit_line(&e, "else");
    }
    emit_line(&e, "%sassemble_%s(s, team, &j_%s);",
              joint_of(s)->walk ? "    " : "", s->name,
              border ? ", border_" : "");
    if (joint_of(s)->curved) {
        emit_line(&e, "const struct gbm_curved c_ = gbm_curved_of(&j_);");
        bool bounded = false;
        for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next)
            bounded = bounded || t->unbounded;
        emit_line(&e,
                  "const struct gbm_curved_model m_ = {s, expand_%s, "
                  "project_%s, total_%s, along_%s, %d};",
                  s->name, s->name, s->name, s->name, bounded);
        emit_cells(&e, s, "c_.noise[j_.at[i_]] = $;", true);
        emit_line(&e, "prepare_%s(s, team, &j_);", s->name);
        emit_line(&e,
                  "if (!gbm_curved_draw(&m_, &j_, &c_, rng, team, adapting))");
        emit_line(&e, "    return false;");
    } else {
        emit_sparse_draw(&e, s, border);
        emit_line(&e, "    return false; /* not positive definite */");
    }
    emit_to_state(&e, s);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "    return true;\n}\n\n");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    emit_drawn(c, out, s);
    emit_open_update(out, s);
    const char *factored = "";
    if (joint_of(s)->walk) {
        factored = ", factored_";
        emit_line(&e, "bool factored_ = false;");
        emit_line(&e, "if (adapting != GBM_ALONE)");
        emit_line(&e,
                  "    (void)walk_%s(s, rng, team, adapting, 0, &factored_);",
                  s->name);
    }
    if (joint_of(s)->rescalings) {
        emit_line(&e, "if (!drawn_%s(s, rng, team, adapting%s) ||", s->name,
                  factored);
        emit_line(&e, "    adapting == GBM_ALONE)");
        emit_line(&e, "    return;");
        emit_joint_of(&e, s);
        emit_line(&e, "rescale_all_%s(s, rng, team, &j_, 0);", s->name);
    } else {
        emit_line(&e, "(void)drawn_%s(s, rng, team, adapting%s);", s->name,
                  factored);
    }
    text_append(out, "}\n\n");
}

static void emit_check(struct compiler *c, struct text *out,
                       const struct step *s)
{
    text_append(out, "#ifndef __CUDACC__\n");
    for (int k = 0; k < 5; k++) {
        struct emitter e = sampler_open_access(c, out, s, k);
        emit_joint_of(&e, s);
        if (k == 0)
            emit_line(&e, "return j_.d;");
        if (k == 1)
            emit_cells(&e, s, "x[i_] = (double)$;", false);
        if (k == 2)
            emit_cells(&e, s, "$ = (real)x[i_];", false);
        if (k >= 3) {
            emit_line(&e, "assemble_%s(s, &gbm_alone, &j_%s);", s->name,
                      can_have_border(s) ? ", false" : "");
            if (joint_of(s)->curved)
                emit_line(&e, "gbm_joint_hold(&j_, &gbm_alone);");
            emit_line(&e, "real *ordered = j_.work + j_.table[GBM_J_WORK];");
            emit_line(&e, "double size;");
            emit_line(&e, "%sgbm_joint_density(&j_, x, ordered, &size);",
                      k == 3 ? "double total = " : "");
            if (k == 4)
                emit_line(&e, "return size;");
            if (k == 3 && joint_of(s)->curved) {
                emit_line(&e, "prepare_%s(s, &gbm_alone, &j_);", s->name);
                emit_line(&e,
                          "project_%s(s, &gbm_alone, &j_, ordered, "
                          "GBM_CURVE_BASE);",
                          s->name);
                emit_line(&e,
                          "total += (double)total_%s(s, &gbm_alone, &j_, 0, 0, "
                          "GBM_CURVE_DENSITY);",
                          s->name);
            }
            if (k == 3)
                emit_line(&e, "return total;");
        }
        text_append(out, "}\n");
    }
    if (joint_of(s)->rescalings || joint_of(s)->walk)
        sampler_emit_rescale_check(out, s);
    if (joint_of(s)->walk)
        sampler_emit_marginal_judge(out, s);
    struct emitter e = emitter_new(c, out);
    text_printf(
        out,
        "static int64_t cost_%s(const void *state)\n{\n    const struct "
        "state *s = (const struct state *)state;\n",
        s->name);
    emit_line(&e, "return s->%s[GBM_J_COST];", s->slots->member);
    text_append(out, "}\n#endif\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_comment(c, out, s);
    int number = 0;
    for (const struct joint_term *t = joint_of(s)->terms; t;
         t = t->next, number++) {
        if (t->curved)
            text_printf(out, "/* %s\n * L(offset + a'x), L(eta_) = %s */\n",
                        t->factor->text, sym_text(c, t->value));
        else
            text_printf(
                out,
                "/* %s\n * scale (-weight/2 (a'x)^2 + score a'x), scale = "
                "%s%s */\n",
                t->factor->text, sym_text(c, t->scale),
                all_constant(t) ? ", the rest constant" : "");
        joint_emit_term(c, out, s, t, number);
    }
    if (can_have_border(s))
        emit_border_row(c, out, s);
    emit_assemble(c, out, s);
    if (joint_of(s)->curved)
        sampler_emit_curved(c, out, s);
    sampler_emit_rescalings(c, out, s);
    sampler_emit_marginal(c, out, s);
    emit_update(c, out, s);
    emit_check(c, out, s);
}

/* Whether a move of a scale goes through the places of the term's rows. */
static bool is_rescaled(const struct step *s, const struct joint_term *t)
{
    for (const struct rescaling *r = joint_of(s)->rescalings; r; r = r->next) {
        if (t->vector && t->vector == r->term->vector)
            return true;
        for (const struct rescaled_rows *k = r->rows; k; k = k->next)
            if (k->term == t)
                return true;
    }
    return false;
}

/* The row of one term in its table. */
static void emit_term_row(struct compiler *c, struct text *out,
                          const struct step *s, const struct joint_term *t,
                          int number)
{
    text_printf(out,
                "    {.family = %d, .constant_design = %d, "
                ".constant_weight = %d, .constant_score = %d,\n     "
                ".curved = %d, .slots = slots_%s_%d",
                (t->forms ? t->node : t->factor->family)->number,
                t->constant_design, t->constant_weight, t->constant_score,
                t->curved, s->name, number);
    if (sampler_pairs_of(t))
        text_printf(out, ", .extent = extent_%s_%d", s->name, number);
    if (t->forms)
        text_printf(out,
                    ", .forms = 1, .common_weight = %d,\n     .leaf = %d, "
                    ".data_design = %d",
                    t->common_weight, t->leaf ? t->leaf->slot->number : -1,
                    t->data_design);
    if (t->forms && t->data_offset)
        text_printf(out, ", .offset = offset_%s_%d", s->name, number);
    if (t->columns)
        text_printf(out, ", .columns = %d", t->columns->hoisted.n);
    if (t->vector && sampler_can_scatter(c, t))
        text_printf(out, ", .scatter = scatter_%s_%d_host", s->name, number);
    if (!t->vector)
        text_printf(out, ", .design = design_%s_%d_host", s->name, number);
    if (is_rescaled(s, t))
        text_append(out, ", .listed = 1");
    if (!t->curved)
        text_printf(out, ", .row = row_%s_%d_host", s->name, number);
    if (joint_alike(t))
        text_printf(out, ", .alike = alike_%s_%d", s->name, number);
    text_append(out, "},\n");
}

static void emit_numbers_of_members(struct text *out, const struct step *s,
                                    bool apart)
{
    for (int i = 0; i < s->block.n; i++) {
        const struct family *f = s->block.members[i].family;
        text_printf(out, "%s%d", i ? ", " : "",
                    apart ? joint_in_long_sum(s, f) : f->number);
    }
}

static void emit_tables(struct compiler *c, struct text *out,
                        const struct step *s)
{
    struct var *vars[MAX_MEMBERS];
    int n = joint_variables(s, vars), nterms = 0;
    text_printf(out, "static const struct gbm_joint_term terms_%s[] = {\n",
                s->name);
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next)
        emit_term_row(c, out, s, t, nterms++);
    text_printf(out, "};\nstatic const int variables_%s[] = {", s->name);
    for (int v = 0; v < n; v++)
        text_printf(out, "%s%d", v ? ", " : "", vars[v]->slot->number);
    text_printf(out, "};\nstatic const int families_%s[] = {", s->name);
    emit_numbers_of_members(out, s, false);
    bool apart = false;
    for (int i = 0; i < s->block.n; i++)
        apart = apart || joint_in_long_sum(s, s->block.members[i].family);
    if (apart) {
        text_printf(out, "};\nstatic const bool apart_%s[] = {", s->name);
        emit_numbers_of_members(out, s, true);
    }
    text_printf(out,
                "};\nstatic const struct gbm_joint_block joint_%s = {\n    "
                ".table = %d, .constant = %d, .work = %d,\n    .nvariables = "
                "%d, .variables = variables_%s,\n    .nfamilies = %d, "
                ".families = families_%s,\n    .nterms = %d, .terms = "
                "terms_%s",
                s->name, s->slots->number, s->slots->next->number,
                s->slots->next->next->number, n, s->name, s->block.n, s->name,
                nterms, s->name);
    if (apart)
        text_printf(out, ", .apart = apart_%s", s->name);
    text_append(out, "};\n");
}

static void emit_members(struct compiler *c, struct text *out,
                         const struct step *s)
{
    (void)c;
    text_printf(out, ",\n     .joint = &joint_%s", s->name);
    text_printf(out, ", .terms = size_%s", s->name);
    if (joint_of(s)->rescalings || joint_of(s)->walk)
        text_printf(out, ", .scales = scales_%s", s->name);
    if (joint_of(s)->walk)
        text_printf(out, ", .least = least_%s, .idle = idle_%s", s->name,
                    s->name);
}

/* In this order: the layout, what data settle, and work space. */
static void add_slots(struct compiler *c, struct model *m, struct step *s)
{
    sampler_find_curve_columns(c, s);
    const int n = s->number;
    struct slot slot = {.kind = SLOT_JOINT,
                        .name = intern_format(c, "joint %d", n),
                        .member = intern_format(c, "joint%d", n),
                        .about = intern_format(c, "layout of %s", s->name),
                        .life = LIFE_INDEX,
                        .integer = true,
                        .ndim = 1,
                        .family = s->family,
                        .step = s};
    s->slots = sweep_add_slot(c, m, slot);
    slot.integer = false;
    slot.name = intern_format(c, "joint %d constants", n);
    slot.member = intern_format(c, "joint%d_constant", n);
    slot.about = "its sums of data";
    slot.life = LIFE_CONSTANT;
    sweep_add_slot(c, m, slot);
    slot.name = intern_format(c, "joint %d work", n);
    slot.member = intern_format(c, "joint%d_work", n);
    slot.about = "its work space";
    slot.life = LIFE_SCRATCH;
    slot.per_chain = true;
    sweep_add_slot(c, m, slot);
    if (joint_of(s)->walk)
        sampler_add_marginal_slot(c, m, s);
}

/* The nodes on which scales depend move with them. */
static bool moves(const struct step *s, const struct var *v)
{
    for (const struct rescaling *r = joint_of(s)->rescalings; r; r = r->next)
        if (r->hyper->var == v)
            return true;
    return sampler_marginal_moves(s, v);
}

static const struct step *calls(const struct step *s)
{
    return joint_of(s)->walk;
}

/* ---- in words ---- */

/* A bound on what the block enters, in e; NULL if there is none. */
static symp bound_on(const struct joint_context *k, symp e)
{
    symp found = joint_mentions(k, e) ? model_find_clamp(e) : NULL;
    if (!found || joint_mentions(k, found))
        return found;
    for (int i = 0; i < e->nargs; i++)
        if ((found = bound_on(k, e->args[i])))
            return found;
    return NULL;
}

/* The first factor in which several members meet, and what does not depend on
 * the sweep. */
static const char *why(struct compiler *c, const struct step *s)
{
    const struct joint_term *meets = NULL;
    const char *bound = "";
    struct joint_context k = {.nvars = 0};
    k.nvars = joint_variables(s, k.vars);
    bool constant = true;
    for (const struct joint_term *t = joint_of(s)->terms; t; t = t->next) {
        const bool more = !meets || t->nslots > meets->nslots;
        if ((t->nslots > 1 || sampler_pairs_of(t)) && more)
            meets = t;
        constant = constant && t->constant_design && t->constant_weight &&
                   t->constant_score;
        symp clamp = t->unbounded ? bound_on(&k, t->factor->logp) : NULL;
        if (clamp)
            bound = intern_format(c,
                                  "; %s is fitted as if there were no bound, "
                                  "and where it binds the ellipse corrects it",
                                  sampler_expression_text(c, clamp));
    }
    return intern_format(
        c, "one sparse block, as %s meet%s in %s%s%s",
        s->block.n > 1 ? "they" : "its elements", "",
        meets ? meets->factor->text : "one factor",
        constant ? "; its sums over data are computed once" : "", bound);
}

static const char *explain_ellipse(struct compiler *c, const struct step *s)
{
    (void)c;
    (void)s;
    return "elliptical slice of a joint block, sparse";
}

static const char *explain_gaussian(struct compiler *c, const struct step *s)
{
    (void)c;
    (void)s;
    return "joint Gaussian block, sparse";
}

static const char *parallel(struct compiler *c, const struct step *s)
{
    (void)c;
    (void)s;
    return "elimination tree";
}

/* What both samplers of a joint block have. */
#define OF_A_JOINT_BLOCK                                                       \
    .joint = true, .why = why, .parallel = parallel, .phases = joint_phases,   \
    .emit = emit, .emit_tables = emit_tables, .emit_row = emit_members,        \
    .block_access = true, .own_layout = true, .own_cost = true,                \
    .slots = add_slots, .moves = moves, .calls = calls

const struct sampler sampler_joint_gaussian = {
    OF_A_JOINT_BLOCK,
    .name = "joint Gaussian block",
    .closed = true,
    .explain = explain_gaussian,
    .brief = sampler_brief_block,
    .headers = {"border.h", "marginal.h"},
};

const struct sampler sampler_joint_ellipse = {
    OF_A_JOINT_BLOCK,
    .name = "joint elliptical slice",
    .explain = explain_ellipse,
    .headers = {"curved_block.h", "rescale_plate.h"},
};
