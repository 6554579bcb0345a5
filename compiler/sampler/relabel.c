/* relabel.c: labels of a mixture trade places. Where weights break a stick,
 *     z[i] ~ dcat(pi[]);  x[i] ~ dnorm(mu[z[i]], tau[z[i]]);  v[k] ~ dbeta(1,
 * a) the order of the components is random, too, large ones first as a rule;
 * but a row at a time none that has many rows goes elsewhere. So two components
 * trade all that they have, rows and parameters: nothing changes but the
 * density of the labels, as long as no other factor tells one component from
 * another. The pieces of the stick are integrated out of that, as they are
 * drawn behind it (integrated.c), so that both, what the two labels weigh and
 * what lies between them, follow: that is more than the two moves of
 * Papaspiliopoulos and Roberts (2008), Retrospective Markov chain Monte Carlo
 * methods for Dirichlet process hierarchical models, Biometrika 95,
 * section 3.4, and the third of Hastie, Liverani and Richardson (2015),
 * Sampling from Dirichlet process mixture models with unknown concentration
 * parameter, Stat. Comput. 25. Of a Dirichlet all orders are alike, and need no
 * move.
 *
 * Requires the steps with what is integrated out; puts the labels' step before
 * this one, and both before the steps that draw the pieces. */
#include "sampler/group.h"
#include "sampler/relabel.h"
#include <string.h>

static const struct relabel *relabel_of(const struct step *s) { return s->own; }

/* ---- what a component has --------------------------------------------------
 */

/* One statement, whose subscript there is a loop over components. */
static bool is_plate_at(const struct family *f, int d)
{
    if (!f || f->next_of_var || f->affine || f->data_block || f->sequence ||
        f->upper[d] || f->lower[d]->kind != SYM_LOOP ||
        !sym_is(f->lower[d]->loop->lower, 1) ||
        !sym_fixed(f->lower[d]->loop->upper))
        return false;
    for (int i = 0; i < f->nloops; i++)
        if (i && (sym_has_any_loop(f->loops[i]->lower) ||
                  sym_has_any_loop(f->loops[i]->upper)))
            return false;
    return true;
}

/* Whether its values may trade places: those that the compiler chose how to
 * draw, and what is computed from them and kept. */
static bool may_trade(const struct relabel *k, const struct family *f)
{
    if (!f->stochastic)
        return f->var->role == ROLE_DERIVED && f->var->stored;
    const struct step *s = sampler_step_of(k->m, f);
    return s && !s->scaled.by && sampler_is_free(k->m, f) &&
           f->var->role == ROLE_STOCHASTIC;
}

static void add_cells(struct relabel *k, const struct var *v, int dim)
{
    const struct of_component *known = sampler_component_cells(&k->has, v);
    if (known) {
        k->failed = k->failed || known->dim != dim;
        return;
    }
    if (k->has.n == MOST_CELLS || !is_plate_at(v->families, dim) ||
        !may_trade(k, v->families)) {
        k->failed = true;
        return;
    }
    k->has.cells[k->has.n++] = (struct of_component){v->families, dim, 0};
    k->more = true;
}

static bool follows(const struct relabel *k, const struct var *v)
{
    return sampler_follows_components(k->m, &k->has, k->labels->family->var, v);
}

/* Of an expression that is of one component, or of a row of it, `component` is
 * the subscript that says which: it may stand as such alone, and all that
 * components have must be that one's. */
static void look(struct relabel *k, symp e, symp component)
{
    const bool cell = e->kind == SYM_REF || e->kind == SYM_SEEN;
    const struct of_component *known =
        cell ? sampler_component_cells(&k->has, e->var) : NULL;
    if ((component && sym_same(e, component)) ||
        (cell && !known && e->var->stored && !e->nargs &&
         model_derived_depends(k->m, e->var, k->labels->family->var))) {
        k->failed = true;
        return;
    }
    bool own = false;
    for (int i = 0; i < e->nargs; i++) {
        if (cell && component && sym_same(e->args[i], component)) {
            own = own || (known && known->dim == i);
            add_cells(k, e->var, i);
        } else {
            look(k, e->args[i], component);
        }
    }
    k->failed = k->failed || (known && !own);
    known = cell ? sampler_component_cells(&k->has, e->var) : NULL;
    if (!cell || known || !e->var->stored)
        return;
    /* what is computed from them and is no component's */
    k->failed = k->failed || follows(k, e->var);
}

/* The only subscripts with which e reads v; *several: there are others. */
static symp reading_of(symp e, const struct var *v, bool *several)
{
    if (e->kind == SYM_REF && e->var == v)
        return e;
    symp found = NULL;
    for (int i = 0; i < e->nargs; i++) {
        symp one = reading_of(e->args[i], v, several);
        *several = *several || (one && found && !sym_same(one, found));
        found = one ? one : found;
    }
    return found;
}

static void look_at_factor(struct relabel *k, const struct factor *g)
{
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    const struct of_component *own =
        sampler_component_cells(&k->has, g->family->var);
    symp component = own ? own->family->lower[own->dim] : NULL;
    bool several = false;
    for (int i = 0; i < n; i++) {
        symp label = reading_of(all[i], k->labels->family->var, &several);
        several =
            several || (label && component && !sym_same(label, component));
        component = label ? label : component;
    }
    k->failed = k->failed || several;
    for (int i = 0; i < n; i++)
        look(k, all[i], component);
}

/* All that components have, and whether nothing else tells one from another. */
static bool find_components(struct relabel *k)
{
    do {
        k->more = false;
        for (const struct factor *g = k->m->factors; g; g = g->next)
            if (!g->replaced && g->family != k->labels->family && !k->failed)
                look_at_factor(k, g);
        for (int i = 0; i < k->has.n && !k->failed; i++)
            if (!k->has.cells[i].family->stochastic)
                look(k,
                     model_substitute_derived(k->c,
                                              k->has.cells[i].family->body),
                     k->has.cells[i].family->lower[k->has.cells[i].dim]);
    } while (k->more && !k->failed);
    return !k->failed && k->has.n > 0;
}

/* ---- which -----------------------------------------------------------------
 */

/* Whether e reads the labels beside the sums, or what components have. */
static bool tells_labels(symp e, const void *relabel)
{
    const struct relabel *k = relabel;
    const struct var *z = k->labels->family->var;
    if (e->kind != SYM_REF)
        return false;
    for (int i = 0; i < k->sums.n; i++)
        if (e->var == k->sums.of[i].table->var)
            return false;
    return e->var == z || sampler_component_cells(&k->has, e->var) ||
           (e->var->stored && follows(k, e->var));
}

/* Whether all sums are of these labels, and all that the density has of them.
 */
static bool fits(const struct relabel *k)
{
    for (int i = 0; i < k->sums.n; i++)
        if (k->sums.of[i].label->var != k->labels->family->var)
            return false;
    return k->sums.n > 0 && !sym_any(k->pieces.logp, tells_labels, k) &&
           !sym_any(k->pieces.factor->logp, tells_labels, k);
}

/* ---- the step --------------------------------------------------------------
 */

/* Whether all that is kept and computed from what moves trades places, too. */
static bool all_trade(const struct relabel *k)
{
    for (const struct family *f = k->m->families; f; f = f->next) {
        if (f->stochastic || !f->var->stored || f->for_updates ||
            sampler_component_cells(&k->has, f->var))
            continue;
        if (follows(k, f->var))
            return false;
    }
    return true;
}

static void add_member(struct step *s, struct family *f)
{
    s->block.members[s->block.n].family = f;
    s->block.members[s->block.n++].count = NULL;
}

static struct step *make_step(struct relabel *k)
{
    struct compiler *c = k->c;
    struct step *s = NEW(c, struct step);
    s->own = k;
    s->model = k->m;
    s->sampler = &sampler_relabel;
    s->family = k->labels->family;
    s->whole = true;
    s->through = all_trade(k);
    k->split = sampler_find_split(k);
    add_member(s, s->family);
    for (int i = 0; i < k->has.n; i++)
        if (k->has.cells[i].family->stochastic && s->block.n < MAX_MEMBERS)
            add_member(s, k->has.cells[i].family);
    for (int i = 0; i < s->block.n; i++)
        s->block.members[i].count = sym_num(c, 1);
    struct part *rows = sampler_all_instances(c, s->family->factor);
    rows->opaque = false;
    sampler_push_part(&s->parts, rows);
    struct part *pieces = sampler_all_instances(c, k->pieces.factor);
    pieces->opaque = false;
    pieces->logp = k->pieces.logp;
    sampler_push_part(&s->parts, pieces);
    s->name = intern_format(c, "relabel_%s", family_id(c, s->family));
    return s;
}

static void take_out(struct model *m, const struct step *s)
{
    struct step **at = &m->steps;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
}

/* Whether s draws the pieces, or what they are integrated out of. */
static bool is_behind(const struct relabel *k, const struct step *s)
{
    for (const struct part *p = s->integrated; p; p = p->next)
        if (p->out == k->pieces.drawn->family)
            return true;
    return s == k->pieces.drawn;
}

/* The draw of the labels, the move, and those that may not come between. */
static void insert(struct relabel *k, struct step *move)
{
    struct model *m = k->m;
    take_out(m, k->labels);
    struct step **at = &m->steps;
    while (!is_behind(k, *at))
        at = &(*at)->next;
    move->next = *at;
    k->labels->next = move;
    k->labels->turn.again = move;
    *at = k->labels;
    m->last_step = &m->steps;
    while (*m->last_step)
        m->last_step = &(*m->last_step)->next;
}

/* Whether s draws what the labels' own density reads, one behind another: of
 * one number, z[i] ~ dcat(c(w, 1 - w)), the order is as of a Dirichlet. */
static bool may_be_pieces(const struct relabel *k, const struct step *s)
{
    if (s->sampler != &sampler_direct || s->merged || s->family->nloops != 1)
        return false;
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor->family == k->labels->family)
            return true;
    return false;
}

static bool try_pieces(struct relabel *k, struct step *pieces)
{
    const struct families_end end = sampler_families_end(k->m);
    if (!may_be_pieces(k, pieces))
        return false;
    if (sampler_without(k->c, k->m, pieces, &k->pieces, &k->sums) && fits(k)) {
        insert(k, make_step(k));
        return true;
    }
    sampler_take_back(k->m, &end);
    return false;
}

void sampler_find_relabels(struct compiler *c, struct model *m)
{
    for (struct step *z = m->steps, *next; z; z = next) {
        next = z->next;
        struct relabel *k = NEW(c, struct relabel);
        *k = (struct relabel){.c = c, .m = m, .labels = z};
        if (!sampler_draws_labels(c, m, z) || !find_components(k))
            continue;
        bool found = false;
        for (struct step *s = m->steps; s && !found; s = s->next)
            found = try_pieces(k, s);
    }
}

/* ---- its functions ---------------------------------------------------------
 */

static symp named(struct compiler *c, const char *name)
{
    return sym_param(c, intern(c, name));
}

symp sampler_at_label(struct compiler *c, const struct label_sum *sum, symp e,
                      const char *name)
{
    return sym_replace_loop(c, e, sum->value, named(c, name));
}

const char *sampler_count_at(struct emitter *e, const struct relabel *k,
                             const char *name)
{
    const struct label_sum *sum = &k->sums.of[0];
    return emit_expr(e, sampler_at_label(e->c, sum, sum->count, name));
}

static const char *change_name(struct compiler *c, int i)
{
    return intern_format(c, "change%d_", i + 1);
}

static void bind_pair(struct emitter *e)
{
    emit_param(e, "a_", "a_");
    emit_param(e, "b_", "b_");
}

/* Opens the loop over the pieces, with what each sum changes by if by_ rows
 * more have label a_, and as many less b_. */
static int open_pieces(struct emitter *e, const struct relabel *k)
{
    struct compiler *c = e->c;
    const struct part *p = sampler_all_instances(c, k->pieces.factor);
    const int braces = emit_open_part(e, p, true);
    for (int i = 0; i < k->sums.n; i++) {
        const struct label_sum *sum = &k->sums.of[i];
        symp by = sym_sub(c, sampler_at_label(c, sum, sum->body, "a_"),
                          sampler_at_label(c, sum, sum->body, "b_"));
        emit_line(e, "const real %s = %s * by_;", change_name(c, i),
                  emit_in_brackets(e, by));
        emit_param(e, change_name(c, i), change_name(c, i));
    }
    return braces;
}

static void emit_gain(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct relabel *k = relabel_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* What the labels' log density gains so. */\n"
                "GBM_FN real gain_%s(const struct state *s, const struct "
                "gbm_team *team, int a_, int b_, real by_)\n{\n    gbm_total "
                "gain = 0;\n",
                s->name);
    bind_pair(&e);
    const int depth = e.nloops;
    const int braces = open_pieces(&e, k);
    symp then = k->pieces.logp;
    struct text any = {0};
    for (int i = 0; i < k->sums.n; i++) {
        symp table = k->sums.of[i].table;
        then = sym_replace(c, then, table,
                           sym_add2(c, table, named(c, change_name(c, i))));
        text_printf(&any, "%s%s != 0", i ? " || " : "", change_name(c, i));
    }
    emit_line(&e, "if (%s)", text_take(c, &any));
    emit_line(&e, "    gain += %s - %s;", emit_in_brackets(&e, then),
              emit_in_brackets(&e, k->pieces.logp));
    emit_close(&e, braces);
    e.nloops = depth;
    text_append(out, "    return (real)gbm_team_sum(team, gain);\n}\n\n");
}

/* Every cell of one component, with the other's of the same place. */
static void emit_trade_cells(struct emitter *e, const struct of_component *v)
{
    struct compiler *c = e->c;
    const struct family *f = v->family;
    const int depth = e->nloops;
    int braces = 0;
    symp at[2], first[MAX_DIMS], second[MAX_DIMS];
    for (int i = 0; i < f->nloops; i++)
        if (f->loops[i] != f->lower[v->dim]->loop) {
            emit_open_loop(e, f->loops[i], f->loops[i]->lower,
                           f->loops[i]->upper);
            braces++;
        }
    braces += emit_open_slices(e, f, at);
    symp cell = f->nslices ? family_lhs(c, f, f->nslices, at)
                           : sym_ref(c, f->var, f->var->ndim, f->lower);
    for (int d = 0; d < f->var->ndim; d++) {
        first[d] = d == v->dim ? named(c, "a_") : cell->args[d];
        second[d] = d == v->dim ? named(c, "b_") : cell->args[d];
    }
    sampler_emit_trade_cells(e, f->var, first, second);
    emit_close(e, braces);
    e->nloops = depth;
}

/* The sums follow, as other pairs may trade places behind these. */
static void emit_trade_sums(struct emitter *e, const struct relabel *k)
{
    const int depth = e->nloops;
    const int braces = open_pieces(e, k);
    for (int i = 0; i < k->sums.n; i++) {
        bool before = false; /* one sum may stand in two places */
        for (int j = 0; j < i; j++)
            before =
                before || sym_same(k->sums.of[j].table, k->sums.of[i].table);
        if (!before)
            emit_line(e, "%s += %s;", emit_expr(e, k->sums.of[i].table),
                      change_name(e->c, i));
    }
    emit_close(e, braces);
    e->nloops = depth;
}

/* What is known of how many rows have which label follows. */
static void emit_recount(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct relabel *k = relabel_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void recount_%s(const struct state *s, const struct "
                "gbm_team *team, int a_, int b_, real by_)\n{\n    "
                "gbm_team_sync(team);\n",
                s->name);
    bind_pair(&e);
    emit_trade_sums(&e, k);
    emit_line(&e, "if (team->lane == 0) {");
    e.indent++;
    emit_line(&e, "%s += by_;", sampler_count_at(&e, k, "a_"));
    emit_line(&e, "%s -= by_;", sampler_count_at(&e, k, "b_"));
    emit_close(&e, 1);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

static void emit_trade(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct relabel *k = relabel_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void trade_%s(const struct state *s, const struct "
                "gbm_team *team, int a_, int b_, real by_)\n{\n    "
                "gbm_team_sync(team);\n",
                s->name);
    bind_pair(&e);
    sampler_emit_trade_rows(&e, s->family);
    emit_line(&e, "recount_%s(s, team, a_, b_, by_);", s->name);
    emit_line(&e, "if (team->lane == 0) {");
    e.indent++;
    for (int i = 0; i < k->has.n; i++)
        if (k->has.cells[i].family->stochastic || s->through)
            emit_trade_cells(&e, &k->has.cells[i]);
    e.indent--;
    emit_line(&e, "}");
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

/* Whether something is known of the labels, the pieces or the components, or
 * there are not as many of these as labels. */
static void emit_held(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct relabel *k = relabel_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN bool held_%s(const struct state *s)\n{\n    bool held "
                "= false;\n",
                s->name);
    const char *values = emit_int(&e, k->labels->support.upper);
    for (int i = -2; i < k->has.n; i++) {
        const struct family *f = i == -2   ? k->labels->family
                                 : i == -1 ? k->pieces.drawn->family
                                           : k->has.cells[i].family;
        if (f->stochastic)
            sampler_emit_held(&e, f->var);
        if (i >= 0)
            emit_line(&e, "held = held || %s != %s;",
                      emit_int(&e, f->lower[k->has.cells[i].dim]->loop->upper),
                      values);
    }
    text_append(out, "    return held;\n}\n\n");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct relabel *k = relabel_of(s);
    struct emitter e = emitter_new(c, out);
    const struct loop *rows = s->family->loops[0];
    emit_open_update(out, s);
    bind_pair(&e);
    emit_line(&e,
              "const int labels = %s, trials = gbm_relabel_trials(labels, "
              "%s);",
              emit_int(&e, k->labels->support.upper),
              emit_int(&e, sym_length(c, rows->lower, rows->upper)));
    emit_line(&e, "if (held_%s(s))", s->name);
    emit_line(&e, "    return;");
    if (k->split) {
        emit_line(&e,
                  "const int tries = gbm_split_tries(rng, labels, %s, "
                  "adapting);",
                  emit_int(&e, sym_length(c, rows->lower, rows->upper)));
        emit_line(&e, "for (int t = 0; t < tries; t++)");
        emit_line(&e, "    split_%s(s, team, rng, t);", s->name);
    }
    emit_line(&e, "for (int t = 0; t < trials; t++) {");
    e.indent++;
    emit_line(&e, "int a_, b_;");
    emit_line(&e, "gbm_relabel_pair(rng, labels, t, &a_, &b_);");
    emit_line(&e, "const real u = gbm_uniform(rng);");
    emit_line(&e, "const real by_ = %s - %s;", sampler_count_at(&e, k, "b_"),
              sampler_count_at(&e, k, "a_"));
    emit_line(&e,
              "if (by_ != 0 && real_log(u) < gain_%s(s, team, a_, b_, "
              "by_))",
              s->name);
    emit_line(&e, "    trade_%s(s, team, a_, b_, by_);", s->name);
    e.indent--;
    emit_line(&e, "}");
    text_append(out, "}\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s, "Labels trade places");
    const struct relabel *k = relabel_of(s);
    emit_gain(c, out, s);
    emit_recount(c, out, s);
    if (k->split) {
        sampler_emit_group_room(c, out, s, 1);
        sampler_emit_split(c, out, s, k);
    }
    emit_trade(c, out, s);
    emit_held(c, out, s);
    emit_update(c, out, s);
}

/* ---- the sampler -----------------------------------------------------------
 */

/* Where what is moved is kept, as it may go back. */
static void slots(struct compiler *c, struct model *m, struct step *s)
{
    if (relabel_of(s)->split)
        sampler_group_room(c, m, s);
}

static void phases(struct compiler *c, struct step *s)
{
    struct phase *p =
        sweep_add_phase(c, s, PHASE_SEARCH, "labels trade places");
    p->random = true;
    p->drawn = sym_num(c, 1);
    p->rows = s->family;
    phase_writes(c, p, s->family);
    for (int i = 1; i < s->block.n; i++)
        phase_writes(c, p, s->block.members[i].family);
}

static const char *explain(struct compiler *c, const struct step *s)
{
    const struct relabel *k = relabel_of(s);
    return intern_format(c, "labels trade places%s, %s integrated out",
                         k->split ? ", split and join" : "",
                         k->pieces.drawn->family->var->name);
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct relabel *k = relabel_of(s);
    return intern_format(
        c,
        "components trade places with all that they have, as the draws, row by "
        "row, leave them where they are; %s is drawn behind that. "
        "Papaspiliopoulos and Roberts (2008); Hastie, Liverani and Richardson "
        "(2015)%s",
        k->pieces.drawn->family->var->name,
        k->split ? ". One may become two, or two one: all their rows at once. "
                   "Jain and Neal (2007)"
                 : "");
}

const struct sampler sampler_relabel = {
    .beside = true,
    .name = "labels trade places",
    .closed = true,
    .headers = {"relabel.h", "split.h"},
    .explain = explain,
    .why = why,
    .phases = phases,
    .emit = emit,
    .slots = slots,
};
