/* joint_marginal.c: parameters of a joint Gaussian block, as scales of its
 * priors, precisions of what it enters, coefficients of a recursion, that move
 * together with the block integrated out, before it is drawn
 * (stdlib/kernels/marginal.h). Their own draws given the block stay: these are
 * slow where the block follows them, and warm-up tells.
 *
 * Given its parameters the block is normal whatever they are, as all its terms
 * are quadratic in it. So what is integrated out is the density that it is
 * drawn from, at any values of it, and no factor has to be known otherwise than
 * by its density there.
 *
 * So go nodes that an augmentation added to the prior of one: they would hold
 * it as the block does. They are drawn behind a step that was taken.
 *
 * Requires a list of steps without merged ones. */
#include "sampler/joint.h"
#include "sampler/moves.h"

enum { MOST_WALKING = 8 }; /* families */

/* What the walk knows of its members, in their order. */
struct walk {
    symp lower[MOST_WALKING], upper[MOST_WALKING];
    const struct step *added[MOST_WALKING]; /* draw what augmentations added */
    int nadded;
    struct step *given; /* the walk with these held: for the self-check */
};

static struct walk *walk_of(const struct step *block)
{
    return joint_of(block)->walk->own;
}

/* ---- which -----------------------------------------------------------------
 */

static bool in_block(const struct step *block, const struct family *f)
{
    for (int i = 0; i < block->block.n; i++)
        if (block->block.members[i].family->var == f->var)
            return true;
    return false;
}

/* Whether a density that the block enters depends on v. */
static bool is_read(const struct step *block, const struct var *v)
{
    symp all[FACTOR_EXPRESSIONS];
    for (const struct joint_term *t = joint_of(block)->terms; t; t = t->next) {
        const int n = model_factor_expressions(t->factor, all);
        for (int i = 0; i < n; i++)
            if (model_reads(block->model, all[i], v))
                return true;
    }
    return false;
}

/* Numbers that are drawn as the compiler chose, between ends that no step
 * moves; of them only those that are drawn one by one. */
static bool may_walk(const struct model *m, const struct step *block,
                     const struct family *f)
{
    const struct step *s = f->stochastic ? sampler_step_of(m, f) : NULL;
    return s && s != block && !s->block.n && s->family == f && !f->nslices &&
           !f->affine && !f->auxiliary && !f->data_block && f->factor &&
           sampler_are_numbers(f->var) && !s->asked.word &&
           !sampler_named(m, f) && !s->support.bounds && !s->order.ties &&
           !s->scaled.by && !s->beside.block && !in_block(block, f) &&
           !(s->support.lower && sym_reads_latent(s->support.lower)) &&
           !(s->support.upper && sym_reads_latent(s->support.upper)) &&
           is_read(block, f->var);
}

/* Nodes before plates. */
static int find_walking(const struct model *m, const struct step *block,
                        struct family **out)
{
    int n = 0;
    for (int plates = 0; plates < 2; plates++)
        for (struct family *f = m->families; f && n < MOST_WALKING; f = f->next)
            if ((f->nloops > 0) == plates && may_walk(m, block, f))
                out[n++] = f;
    return n;
}

/* The step of nodes that an augmentation added to f's prior, if they are drawn
 * before the block and stand in that alone; or NULL. */
static const struct step *added_to(const struct model *m,
                                   const struct step *block,
                                   const struct family *f)
{
    const struct factor *g = f->factor->replaced ? f->factor->joint : NULL;
    const struct family *added = g ? g->family : NULL;
    if (!added || !added->auxiliary || g->of != f->factor || added->factor != g)
        return NULL;
    for (const struct factor *h = m->factors; h; h = h->next)
        if (h != g && sampler_factor_reads(h, added->var))
            return NULL;
    for (const struct step *s = m->steps; s != block; s = s->next)
        if (s->family == added && s->sampler == &sampler_direct)
            return s->through || s->scaled.by ? NULL : s;
    return NULL;
}

static bool is_added(const struct walk *w, const struct factor *g)
{
    for (int i = 0; i < w->nadded; i++)
        if (w->added[i]->family->factor == g)
            return true;
    return false;
}

/* The factor has the place of one that is replaced, with added nodes out. */
static bool is_back(const struct walk *w, const struct factor *g)
{
    return g->replaced && g->joint && is_added(w, g->joint);
}

/* All factors that change with the members of s, at the block's values as they
 * stand, with added nodes out or as they stand. */
static void add_parts(struct compiler *c, struct step *s, const struct walk *w,
                      bool out)
{
    s->parts = NULL;
    for (struct factor *g = s->model->factors; g; g = g->next)
        if ((g->replaced ? out && is_back(w, g) : !(out && is_added(w, g))) &&
            group_mentions(c, s, g))
            sampler_push_part(&s->parts, sampler_all_instances(c, g));
    sampler_keep_moving(c, s);
}

static struct step *make_walk(struct compiler *c, struct model *m,
                              const struct step *block,
                              struct family *const *families, int n)
{
    struct step *s = NEW(c, struct step);
    struct walk *w = NEW(c, struct walk);
    s->model = m;
    s->name = block->name;
    s->family = families[0];
    s->whole = true;
    s->own = w;
    for (int i = 0; i < n; i++) {
        const struct step *draws = sampler_step_of(m, families[i]),
                          *added = added_to(m, block, families[i]);
        s->block.members[i].family = families[i];
        s->block.members[i].count = sym_num(c, 1);
        s->block.n++;
        w->lower[i] = draws->support.lower;
        w->upper[i] = draws->support.upper;
        if (added)
            w->added[w->nadded++] = added;
        for (const struct family *f = m->families; f; f = f->next)
            s->through = s->through ||
                         (!f->stochastic && f->var->stored &&
                          model_derived_depends(m, f->var, families[i]->var));
    }
    add_parts(c, s, w, true);
    w->given = NEW(c, struct step);
    *w->given = *s;
    add_parts(c, w->given, w, false);
    return s;
}

void sampler_find_marginals(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next) {
        struct family *found[MOST_WALKING];
        if (!joint_is_gaussian(s) || s->sampler != &sampler_joint_gaussian)
            continue;
        const int n = find_walking(m, s, found);
        if (n > 0)
            joint_of(s)->walk = make_walk(c, m, s, found, n);
    }
}

bool sampler_marginal_moves(const struct step *s, const struct var *v)
{
    const struct step *walk = joint_of(s)->walk;
    bool moves = false;
    for (int i = 0; walk && i < walk->block.n; i++)
        moves = moves || walk->block.members[i].family->var == v;
    for (int i = 0; walk && i < walk_of(s)->nadded; i++)
        moves = moves || walk_of(s)->added[i]->family->var == v;
    return moves;
}

void sampler_add_marginal_slot(struct compiler *c, struct model *m,
                               struct step *s)
{
    sweep_add_pays_slot(c, m, s)->few = true;
}

/* ---- its functions ---------------------------------------------------------
 */

/* What is done for each number that is neither observed nor drawn forward: k
 * of them are before it, and i of those that move. */
enum each { EACH_COUNTED, EACH_READ, EACH_WRITTEN, EACH_WATCHED };

static void emit_number(struct emitter *e, enum each what, const char *cell,
                        const char *lower, const char *upper)
{
    if (what == EACH_COUNTED)
        return;
    emit_line(e, "if (gbm_marginal_is(k_, i, k)) {");
    e->indent++;
    if (what == EACH_READ) {
        emit_line(e, "k_->lower[i] = %s;", lower);
        emit_line(e, "k_->upper[i] = %s;", upper);
        emit_line(e, "k_->x[i] = %s;", cell);
    } else if (what == EACH_WRITTEN) {
        emit_line(e, "if (GBM_TEAM_OWNS(team, i))");
        emit_line(e, "    %s = x[i];", cell);
    }
    emit_line(e, "i++;");
    emit_close(e, 1);
    if (what != EACH_WATCHED)
        return;
    emit_line(e, "else");
    emit_line(e, "    gbm_marginal_watch(k_, k, adapting, %s, %s, %s);", cell,
              lower, upper);
}

static void for_each(struct emitter *e, const struct step *walk, enum each what)
{
    const struct walk *w = walk->own;
    for (int i = 0; i < walk->block.n; i++) {
        const int depth = e->nloops;
        symp cell;
        const int braces =
            sampler_open_group_member(e, walk->block.members[i].family, &cell);
        symp seen = sym_seen(e->c, cell->var, cell->nargs, cell->args);
        emit_line(e, "if (!%s%s%s) {", emit_expr(e, seen),
                  cell->var->barren ? " && " : "",
                  cell->var->barren ? emit_expr(e, sym_live(e->c, cell)) : "");
        e->indent++;
        emit_number(e, what, emit_expr(e, cell),
                    w->lower[i] ? emit_expr(e, w->lower[i]) : "-GBM_INF",
                    w->upper[i] ? emit_expr(e, w->upper[i]) : "GBM_INF");
        emit_line(e, "k++;");
        emit_close(e, braces + 1);
        e->nloops = depth;
    }
}

/* count_; of those that move read_, with the ends of their supports, and
 * write_; watch_ of the others. */
static void emit_cells(struct compiler *c, struct text *out,
                       const struct step *walk)
{
    static const char *const heads[] = {
        "GBM_FN int count_%s(const struct state *s)\n{\n    int k = 0;\n",
        "GBM_FN void read_%s(const struct state *s, struct gbm_marginal *k_)\n"
        "{\n    int k = 0, i = 0;\n",
        "GBM_FN void write_%s(const struct state *s, const struct gbm_team "
        "*team,\n    const struct gbm_marginal *k_, const real *x)\n{\n    int "
        "k = 0, i = 0;\n    gbm_team_sync(team);\n",
        "GBM_FN void watch_%s(const struct state *s, const struct gbm_marginal "
        "*k_, int adapting)\n{\n    int k = 0, i = 0;\n"};
    for (enum each what = EACH_COUNTED; what <= EACH_WATCHED; what++) {
        struct emitter e = emitter_new(c, out);
        text_printf(out, heads[what], walk->name);
        for_each(&e, walk, what);
        if (what == EACH_COUNTED)
            emit_line(&e, "return k;");
        if (what == EACH_WRITTEN) {
            emit_line(&e, "gbm_team_sync(team);");
            sampler_emit_follow_group(&e, walk);
        }
        text_append(out, "}\n");
    }
}

/* fit_: the log density that the block is drawn from, at its values. */
static void emit_fit(struct compiler *c, struct text *out, const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    struct var *vars[MAX_MEMBERS];
    const int n = joint_variables(s, vars);
    text_printf(out,
                "GBM_FN_BIG gbm_total fit_%s(const struct state *s, const "
                "struct gbm_team *team,\n    struct gbm_marginal *k_, bool "
                "second_, int telling)\n{\n",
                s->name);
    emit_line(
        &e,
        "const struct gbm_joint j_ = GBM_JOINT_OF(%s, s->%s, s->%s, s->%s);",
        s->name, s->slots->member, s->slots->next->member,
        s->slots->next->next->member);
    emit_line(&e, "real *const x_ = j_.work + j_.table[GBM_J_SPARE];");
    emit_line(&e, "assemble_%s(s, team, &j_, false);", s->name);
    for (int v = 0; v < n; v++) {
        emit_line(&e, "GBM_TEAM_FOR(i_, j_.first[%d], j_.first[%d], team)", v,
                  v + 1);
        emit_line(&e, "    x_[j_.at[i_]] = s->%s[j_.where[i_]];",
                  vars[v]->cname);
    }
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "#ifndef __CUDACC__\n");
    emit_line(&e, "if (telling)");
    emit_line(&e, "    return gbm_marginal_told(&j_, x_);");
    text_append(out, "#endif\n");
    emit_line(&e, "return gbm_marginal_fit(&j_, team, x_, k_, second_);");
    text_append(out, "}\n\n");
}

/* Where the members stand there or here. For the self-check the joint density
 * changes by what their parts do, added nodes held: that is told as the step
 * has it, the block's taken out, and the block's by another way. */
static void emit_densities(struct emitter *e, const struct step *s,
                           const char *name, bool second)
{
    const char *of = second ? "&k_, true" : "&k_, false";
    emit_line(e,
              "const gbm_total %s_fit_ = fit_%s(s, team, %s, 0), %s_told_ = "
              "telling ? given_%s(s, team, 0) + fit_%s(s, team, %s, 1) - "
              "%s_fit_ : 0;",
              name, s->name, of, name, s->name, s->name, of, name);
    emit_line(e, "const real %s_ = (real)(density_%s(s, team, 0) - %s_fit_);",
              name, s->name, name);
}

/* What augmentations added, given what has moved. */
static void emit_added(struct emitter *e, const struct step *s)
{
    const struct walk *w = walk_of(s);
    for (int i = 0; i < w->nadded; i++) {
        emit_line(e,
                  "for (long long i_ = 0; moves_ && !telling && i_ < %s; i_++)",
                  emit_int(e, family_elements(e->c, w->added[i]->family)));
        emit_line(e, "    %s(s, rng, team, i_, adapting);", w->added[i]->name);
    }
}

/* Without a step, and what is learnt of parameters that do not move. */
static void emit_pass(struct emitter *e, const struct step *s)
{
    emit_line(e, "if (team->lane == 0 && gbm_marginal_chooses(adapting))");
    emit_line(e, "    watch_%s(s, &k_, adapting);", s->name);
    emit_line(e, "if (!gbm_marginal_pays(&k_, adapting)) {");
    emit_line(e, "    gbm_marginal_learn(&k_, team, adapting, false, false, "
                 "0, 0);");
    emit_line(e, "    return 0;");
    emit_line(e, "}");
}

/* A step there, and the density here behind it: its factor draws the block
 * where the step is not taken. */
static void emit_try(struct emitter *e, const struct step *s)
{
    emit_line(e, "const real jacobian_ = gbm_marginal_propose(&k_, rng);");
    emit_line(e, "write_%s(s, team, &k_, k_.y);", s->name);
    emit_densities(e, s, "there", false);
    emit_line(e, "write_%s(s, team, &k_, k_.x);", s->name);
    emit_densities(e, s, "here", true);
    emit_line(e, "real probability_ = 0;");
    emit_line(e, "bool moves_ = gbm_is_finite(here_) && gbm_metropolis(rng, "
                 "here_, k_.near ? there_ + jacobian_ : -GBM_INF, "
                 "&probability_);");
    emit_line(e, "if (telling)");
    emit_line(e, "    moves_ = k_.near && gbm_is_finite(here_) && "
                 "gbm_is_finite(there_);");
    emit_line(e, "if (moves_)");
    emit_line(e, "    write_%s(s, team, &k_, k_.y);", s->name);
    emit_line(e, "gbm_marginal_learn(&k_, team, adapting, true, moves_, here_, "
                 "probability_);");
    emit_line(e, "*factored_ = k_.factored && !moves_;");
}

/* walk_: a step; what the log density changes by, where that is asked for.
 * *factored_: the block's factor is that of where all stands. */
static void emit_walk(struct compiler *c, struct text *out,
                      const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const char *tuning = s->slots->next->next->next->member;
    text_printf(out,
                "GBM_FN gbm_total walk_%s(const struct state *s, struct "
                "gbm_rng *rng,\n    const struct gbm_team *team, int adapting, "
                "int telling, bool *factored_)\n{\n",
                s->name);
    emit_line(&e, "const int all_ = count_%s(s);", s->name);
    emit_line(&e, "*factored_ = false;");
    emit_line(&e, "if (!gbm_marginal_can(all_, s->%s_stride))", tuning);
    emit_line(&e, "    return 0;");
    emit_line(&e, "struct gbm_marginal k_;");
    emit_line(&e, "gbm_marginal_of(&k_, all_, s->%s, telling);", tuning);
    emit_line(&e, "read_%s(s, &k_);", s->name);
    emit_pass(&e, s);
    emit_try(&e, s);
    emit_added(&e, s);
    emit_line(&e, "return moves_ ? there_told_ - here_told_ : 0;");
    text_append(out, "}\n\n");
}

/* least_: it is told what the moves must gain. idle_: what all chains have
 * learnt leaves a device's program without them. */
void sampler_emit_marginal_judge(struct text *out, const struct step *s)
{
    const char *tuning = s->slots->next->next->next->member;
    for (int idle = 0; idle < 2; idle++)
        text_printf(
            out,
            "static %s_%s(const void *state%s)\n{\n    const struct state *s = "
            "(const struct state *)state;\n    struct gbm_marginal k_;\n    "
            "const int all_ = count_%s(s);\n    if (!gbm_marginal_can(all_, "
            "s->%s_stride))\n        return%s;\n    gbm_marginal_of(&k_, all_, "
            "s->%s, 0);\n    %s;\n}\n",
            idle ? "bool idle" : "void least", s->name,
            idle ? "" : ", double gain", s->name, tuning, idle ? " true" : "",
            tuning,
            idle ? "return !gbm_marginal_gains(&k_)"
                 : "*k_.least = (real)gain");
}

void sampler_emit_marginal(struct compiler *c, struct text *out,
                           const struct step *s)
{
    const struct step *walk = joint_of(s)->walk;
    if (!walk)
        return;
    sampler_emit_group_comment(c, out, walk,
                               "Move together with the block integrated out");
    emit_cells(c, out, walk);
    sampler_emit_group_density(c, out, walk, "density");
    sampler_emit_group_density(c, out, walk_of(s)->given, "given");
    emit_fit(c, out, s);
    emit_walk(c, out, s);
    sampler_emit_tuning_cells(c, out, walk, "gbm_marginal_cells(k)");
}
