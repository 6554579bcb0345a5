/* direct.c: a draw from a family of the library that the full conditional is
 * of: its parameters from the sums of statistics (`solve`), and its `draw`. */
#include "sampler/proposal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The parameters of a recognised family from the sums, and its draw. */
static void emit_solve(struct emitter *e, const struct step *s,
                       const char *prefix)
{
    struct compiler *c = e->c;
    const struct entry *d = s->law.family;
    int n = 0;
    const struct clause *statistics = entry_clause(d, "statistics");
    for (const struct clause_item *i = statistics ? statistics->items : NULL; i;
         i = i->next, n++) {
        const char *value = "0";
        for (int k = 0; k < s->law.n; k++)
            if (s->law.place[k] == n)
                value = intern_format(c, "%sc%d", prefix, k + 1);
        emit_param(e, intern_format(c, "s%d", n + 1), value);
    }
    const struct clause *solve = entry_clause(d, "solve");
    for (const struct clause_item *i = solve ? solve->items : NULL; i;
         i = i->next) {
        symp value = emit_entry_expression(c, d, i->value);
        const char *name = emit_name_of_model(e, i->label->name);
        const char *text = emit_expr(e, value);
        emit_line(e, "const real %s = %s;", name, text);
        emit_param(e, i->label->name, name);
    }
    if (s->law.exponent) /* x^p: the parameter that solve does not give */
        for (int i = 0; i < d->nparameters; i++) {
            bool solved = false;
            for (const struct clause_item *k = solve ? solve->items : NULL; k;
                 k = k->next)
                solved = solved || k->label->name == d->parameters[i].name;
            if (!solved)
                emit_param(e, d->parameters[i].name,
                           intern_format(e->c, "REAL_C(%s)",
                                         emit_expr(e, s->law.exponent)));
            if (!solved && s->law.exponent->kind == SYM_NUM)
                e->params[e->nparams - 1].value = s->law.exponent;
        }
}

static symp known_param(struct compiler *c, symp e, void *context)
{
    const struct emitter *k = context;
    (void)c;
    for (int i = k->nparams - 1; e->kind == SYM_PARAM && i >= 0; i--)
        if (k->params[i].name == e->name)
            return k->params[i].value;
    return NULL;
}

/* A clause with the parameters that are numbers put in: g^(1 / p) is a root
 * where p is 2. */
static symp clause_at(struct emitter *e, const struct entry *d,
                      const char *clause)
{
    symp value = emit_entry_expression(e->c, d, entry_value(d, clause));
    return sym_map(e->c, value, known_param, e);
}

static bool is_never_negative(struct compiler *c, symp e)
{
    bool all = e->kind == SYM_MUL;
    for (int i = 0; all && i < e->nargs; i++)
        all = is_never_negative(c, e->args[i]);
    return all || sym_not_negative(c, e) ||
           (e->kind == SYM_POW && e->args[1]->kind == SYM_NUM &&
            fmod(e->args[1]->number, 2) == 0);
}

/* Whether no term of what multiplies statistic number `place` of the family is
 * positive. */
static bool is_negative(struct compiler *c, const struct step *s, int place)
{
    bool negative = false;
    for (int k = 0; k < s->law.n; k++)
        for (const struct part *p = s->parts; p; p = p->next)
            for (int i = 0; i < p->terms.n && s->law.place[k] == place; i++) {
                if (!sym_same(p->terms.statistic[i], s->law.statistics[k]))
                    continue;
                if (!is_never_negative(c, sym_neg(c, p->terms.coefficient[i])))
                    return false;
                negative = true;
            }
    return negative;
}

/* Parameters as `solve` has them; instead of a sum of terms that are negative
 * something that is so by its form: of terms that are all 0 the density is flat
 * or that of the rest, which are looked for before, or none. */
static symp by_sign(struct compiler *c, symp e, void *context)
{
    const struct step *s = context;
    const struct clause *solve = entry_clause(s->law.family, "solve");
    if (e->kind != SYM_PARAM)
        return NULL;
    for (const struct clause_item *i = solve ? solve->items : NULL; i;
         i = i->next)
        if (i->label->name == e->name)
            return sym_map(c, emit_entry_expression(c, s->law.family, i->value),
                           by_sign, context);
    if (e->name[0] == 's' && is_negative(c, s, atoi(e->name + 1) - 1))
        return sym_neg(c, sym_call(c, "exp", 1, &e));
    return NULL;
}

/* Whether a > 0 holds whatever the nodes are. */
static bool holds(struct compiler *c, const struct step *s, symp rule)
{
    struct step *context = NEW(c, struct step);
    *context = *s;
    return rule->kind == SYM_CALL && rule->name[0] == '>' &&
           sym_is(rule->args[1], 0) &&
           sym_positive(sym_map(c, rule->args[0], by_sign, context));
}

/* Where the draw between bounds is one of the family, of the parameters that
 * are in scope: 1: whatever the nodes are. A family without `solve` has none:
 * the conditional is flat. */
static symp membership(struct emitter *e, const struct step *s)
{
    const struct entry *d = s->law.family;
    symp all = sym_num(e->c, 1);
    const struct clause *rules = entry_clause(d, "require_between");
    if (!rules)
        rules = entry_clause(d, "require");
    if (!s->support.bounded || !entry_clause(d, "solve"))
        return all;
    for (const struct clause_item *i = rules ? rules->items : NULL; i;
         i = i->next) {
        symp rule = emit_entry_expression(e->c, d, i->value);
        if (!holds(e->c, s, rule))
            all = sym_and(e->c, all, sym_map(e->c, rule, known_param, e));
    }
    return all;
}

/* A draw of the step's family between the locals lower and upper. Returns its C
 * text. */
static const char *emit_draw_between(struct emitter *e, const struct step *s)
{
    const struct entry *d = s->law.family;
    if (!entry_value(d, "draw_between"))
        return emit_real_between(e, d);
    emit_param(e, "lower", "lower");
    emit_param(e, "upper", "upper");
    return emit_put_between(e, clause_at(e, d, "draw_between"));
}

/* The same where bounds may make proper what is no member of the family, as
 * where the likelihood of a rate is a power of it with a negative exponent.
 * Then it is an update of the density instead, which is a function of any
 * parameters. Which of both it is does not depend on the value before. */
static const char *emit_member(struct emitter *e, const struct step *s,
                               symp member, const char *prefix)
{
    const char *value = emit_name(e, "drawn");
    emit_line(e, "real %s;", value);
    emit_line(e, "if (%s) {", emit_expr(e, member));
    e->indent++;
    emit_line(e, "%s = %s;", value, emit_draw_between(e, s));
    e->indent--;
    emit_line(e, "} else {");
    emit_line(e,
              "    %s = gbm_slice_between(rng, %s, lower, upper, density_%s, "
              "%s);",
              value, emit_target(e, s->family), family_id(e->c, s->family),
              !strcmp(prefix, "k_.") ? "&k_" : "k_");
    emit_line(e, "}");
    return value;
}

/* The family's density falls to both sides of its mode. */
static const char *emit_mode(struct emitter *e, const struct step *s)
{
    const char *mode = emit_expr(e, clause_at(e, s->law.family, "mode"));
    return s->support.bounded
               ? intern_format(e->c, "gbm_clamp(%s, lower, upper)", mode)
               : mode;
}

/* A draw of the step's family, whose parameters are in scope; bounds are the
 * locals lower and upper if there are any. Returns its C text. */
static const char *emit_draw(struct emitter *e, const struct step *s,
                             const char *prefix)
{
    if (sampler_seeks_modes(e->c))
        return emit_mode(e, s);
    if (!s->support.bounded)
        return emit_expr(e, clause_at(e, s->law.family, "draw"));
    symp member = membership(e, s);
    return sym_is(member, 1) ? emit_draw_between(e, s)
                             : emit_member(e, s, member, prefix);
}

/* C text: the conditional between bounds is flat, as where the likelihood of a
 * slope with a uniform prior has weight 0. Then the family has no parameters.
 * NULL: it cannot be. */
static const char *flat_condition(struct emitter *e, const struct step *s,
                                  const char *prefix)
{
    if (!s->support.bounded || model_draws_integers(s->family) || !s->law.n ||
        !entry_clause(s->law.family, "solve"))
        return NULL;
    struct text t = {0};
    for (int k = 0; k < s->law.n; k++)
        text_printf(&t, "%sc%d == 0 && ", prefix, k + 1);
    text_append(&t, "upper - lower < GBM_INF");
    return text_take(e->c, &t);
}

/* C text: s->rest is the conditional; NULL: it never is. */
static const char *rest_condition(struct emitter *e, const struct step *s,
                                  const char *prefix)
{
    for (int k = 0; s->law.rest && k < s->law.n; k++)
        if (s->law.rest->law.place[k] < 0)
            return intern_format(e->c, "%sc%d == 0", prefix, k + 1);
    return NULL;
}

static void emit_solved_draw(struct emitter *e, const struct step *s,
                             const char *prefix, const char *value)
{
    int nparams = e->nparams;
    e->indent++;
    emit_solve(e, s, prefix);
    emit_line(e, "%s = %s;", value, emit_draw(e, s, prefix));
    e->indent--;
    e->nparams = nparams;
}

/* The C text of a draw of a direct update. */
static const char *emit_direct_value(struct emitter *e, const struct step *s,
                                     const char *prefix)
{
    const char *flat = flat_condition(e, s, prefix);
    if (!flat) {
        emit_solve(e, s, prefix);
        return emit_draw(e, s, prefix);
    }
    const char *value = emit_name(e, "value");
    const char *rest = rest_condition(e, s, prefix);
    emit_line(e, "real %s;", value);
    emit_line(e, "if (%s) {", flat);
    if (sampler_seeks_modes(e->c))
        emit_line(e, "    %s = %s;", value, emit_target(e, s->family));
    else
        emit_line(e, "    %s = lower + (upper - lower) * gbm_uniform(rng);",
                  value);
    if (rest) {
        emit_line(e, "} else if (%s) {", rest);
        emit_solved_draw(e, s->law.rest, prefix, value);
    }
    emit_line(e, "} else {");
    emit_solved_draw(e, s, prefix, value);
    emit_line(e, "}");
    return value;
}

/* The terms that change with the variable. What is left out is constant, and
 * for a member that bounds alone make proper it may be infinite. */
static symp changing_terms(struct compiler *c, symp density)
{
    if (density->kind != SYM_ADD)
        return density;
    symp *terms = NEW_ARRAY(c, symp, (size_t)density->nargs);
    for (int k = 0; k < density->nargs; k++)
        terms[k] =
            sym_has_target(density->args[k]) ? density->args[k] : sym_num(c, 0);
    return sym_add(c, density->nargs, terms);
}

/* C text: the log density by its sums, which has no parameters. */
static const char *density_by_sums(struct emitter *e, const struct step *s)
{
    struct text t = {0};
    for (int k = 0; k < s->law.n; k++)
        text_printf(&t, "%sgbm_times(k_->c%d, %s)", k ? " + " : "", k + 1,
                    emit_expr(e, s->law.statistics[k]));
    return text_take(e->c, &t);
}

static void emit_solved_density(struct emitter *e, const struct step *s)
{
    emit_solve(e, s, "k_->");
    symp member = membership(e, s);
    if (!sym_is(member, 1)) {
        emit_line(e, "if (!(%s))", emit_expr(e, member));
        emit_line(e, "    return %s;", density_by_sums(e, s));
    }
    symp density =
        changing_terms(e->c, clause_at(e, s->law.family, "logdensity"));
    emit_line(e, "return %s;", emit_expr(e, density));
}

/* What a function returns where the conditional is flat; where statistics are
 * missing, by the law of the rest; and else. */
static void emit_by_law(struct emitter *e, const struct step *s,
                        const char *prefix, const char *flat_value,
                        void (*emit_law)(struct emitter *e,
                                         const struct step *s))
{
    const char *flat = flat_condition(e, s, prefix);
    const char *rest = rest_condition(e, s, prefix);
    if (flat) {
        emit_line(e, "if (%s)", flat);
        emit_line(e, "    return %s;", flat_value);
    }
    if (rest) {
        int nparams = e->nparams;
        emit_line(e, "if (%s) {", rest);
        e->indent++;
        emit_law(e, s->law.rest);
        e->nparams = nparams;
        emit_close(e, 1);
    }
    emit_law(e, s);
}

static void emit_direct_density(struct compiler *c, struct text *out,
                                const struct step *s)
{
    const char *id = family_id(c, s->family);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_INLINE real density_%s(const void *context, real x)\n"
                "{\n"
                "    const struct conditional_%s *k_ = (const struct "
                "conditional_%s *)context;\n"
                "    const real lower = k_->lower, upper = k_->upper;\n",
                id, id, id);
    const struct entry *d = s->law.family;
    if (!entry_clause(d, "solve")) {
        emit_line(&e, "return 0 * x;");
        text_append(out, "}\n\n");
        return;
    }
    emit_by_law(&e, s, "k_->", "0 * x", emit_solved_density);
    text_append(out, "}\n\n");
}

/* What the step that scales this one's elements asks of a draw (scale.c). The
 * mean is that of the normal: c1 multiplies x, c2 its square. */
static void emit_residual(struct emitter *e, const struct step *s,
                          const char *prefix)
{
    const struct residual *r = s->scaled.residual;
    if (!r)
        return;
    int linear = 0;
    while (s->law.statistics[linear]->kind != SYM_TARGET)
        linear++;
    const char *rest = emit_in_brackets(e, r->rest);
    emit_line(e, "s->%s[element] = %s%sc%d / (2 * %sc%d) - %s;",
              r->slot->member, r->own < 0 ? "-" : "", prefix, linear + 1,
              prefix, 2 - linear, rest);
}

/* The draw of a direct update whose sums are shared among the lanes of a team:
 * a function of its own, so that the lanes can draw for different elements. */
static void emit_finish(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const char *id = family_id(c, s->family);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void finish_%s(const struct state *s, struct gbm_rng "
                "*rng,\n    const struct gbm_team *team, long long element, "
                "int adapting,\n    const struct conditional_%s *k_)\n{\n",
                id, id);
    if (s->family->nloops)
        emit_decode(&e, s->family, "element");
    if (s->support.bounded)
        emit_line(&e, "const real lower = k_->lower, upper = k_->upper;");
    emit_store(&e, s, emit_direct_value(&e, s, "k_->"));
    emit_residual(&e, s, "k_->");
    text_append(out, "}\n\n");
}

bool sampler_direct_proposes(const struct step *s)
{
    return s->sampler == &sampler_direct && s->law.family &&
           entry_clause(s->law.family, "solve") && !s->law.rest &&
           !s->support.bounded && !s->family->var->integer && !s->view.as;
}

/* c1, c2, ...: the coefficients of the statistics, from the parts that lanes
 * share, or from the others. */
static void emit_sums(struct emitter *e, const struct step *s, bool shared)
{
    for (const struct part *p = s->parts; p; p = p->next) {
        if (condition_part_shared_out(p) != shared || !p->terms.n)
            continue;
        const int depth = e->nloops;
        const bool team = e->team;
        emit_line(e, "{");
        e->indent++;
        const int braces = emit_open_part(e, p, true);
        for (int i = 0; i < p->terms.n; i++)
            for (int k = 0; k < s->law.n; k++)
                if (sym_same(p->terms.statistic[i], s->law.statistics[k]))
                    emit_line(e, "c%d += %s;", k + 1,
                              emit_expr(e, p->terms.coefficient[i]));
        emit_close(e, braces + 1);
        e->team = team;
        e->nloops = depth;
    }
}

void sampler_emit_direct_proposal(struct compiler *c, struct text *out,
                                  const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    sampler_open_proposal(&e, s);
    for (int k = 0; k < s->law.n; k++)
        emit_line(&e, "gbm_total c%d = 0;", k + 1);
    emit_sums(&e, s, true);
    for (int k = 0; k < s->law.n; k++)
        emit_line(&e, "c%d = gbm_team_sum(team, c%d);", k + 1, k + 1);
    emit_sums(&e, s, false);
    emit_solve(&e, s, "");
    emit_line(&e, "real x;");
    emit_line(&e, "if (from) {");
    emit_line(&e, "    x = *from;");
    emit_line(&e, "} else {");
    e.indent++;
    emit_line(&e, "x = %s;",
              emit_expr(&e, clause_at(&e, s->law.family, "draw")));
    emit_close(&e, 1);
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "%s = x;", emit_target(&e, s->family));
    emit_line(&e, "return %s;",
              emit_expr(&e, clause_at(&e, s->law.family, "logdensity")));
    text_append(out, "}\n\n");
    sampler_open_keep(&e, s);
    emit_line(&e, "if (to) *to = %s;", emit_target(&e, s->family));
    emit_line(&e, "return 1;");
    text_append(out, "}\n\n");
}

static bool takes(const struct step *s)
{
    return s->law.family && !s->family->nslices;
}

/* Emitted as prepare_ and finish_. */
static bool is_split(const struct step *s)
{
    const bool *split = s->own;
    return *split;
}

/* One draw of a normal between bounds, whatever other elements' are. */
static bool asks(struct compiler *c, const struct step *s)
{
    return s->support.bounded && !s->block.n && !s->through &&
           !s->order.sequential && !s->order.conflicts && !s->order.ties &&
           !emit_step_has_columns(s) && emit_asks_between(c, s->law.family);
}

static void draw(struct emitter *e, const struct step *s)
{
    if (is_split(s)) {
        emit_line(e, "finish_%s(s, rng, team, element, adapting, &k_);",
                  family_id(e->c, s->family));
        return;
    }
    if (s->support.bounded)
        emit_line(e, "const real lower = k_.lower, upper = k_.upper;");
    emit_store(e, s, emit_direct_value(e, s, "k_."));
    emit_residual(e, s, "k_.");
}

static void phases(struct compiler *c, struct step *s)
{
    struct phase *p = sweep_add_usual_phases(c, s);
    p->what = intern_format(c, "draws from %s%s",
                            s->support.bounded ? "truncated " : "",
                            s->law.family->name);
    if (!s->support.bounded)
        phase_draws(c, p,
                    emit_entry_expression(c, s->law.family,
                                          entry_value(s->law.family, "draw")));
}

/* Without `solve` there is no density to compare. */
static bool checked(const struct step *s)
{
    return entry_clause(s->law.family, "solve") != NULL;
}

/* Whether the self-check may compare draws with the conditional: no other
 * factor is integrated out, no term is too small to count until it is drawn. */
static bool has_exact_draws(const struct step *s)
{
    bool fades = false;
    for (int k = 0; k < s->law.n; k++)
        fades = fades || s->law.fades[k];
    return checked(s) && !s->integrated && !fades && !s->order.ties;
}

static void emit_exact_law(struct emitter *e, const struct step *s)
{
    emit_solve(e, s, "k_.");
    emit_line(e, "return %s;", emit_expr(e, membership(e, s)));
}

/* Whether no element is updated by its density. */
static bool is_always_member(struct compiler *c, const struct step *s)
{
    struct emitter e = emitter_new(c, NULL);
    return sym_is(membership(&e, s), 1) &&
           (!s->law.rest || sym_is(membership(&e, s->law.rest), 1));
}

/* exact_: whether an element is drawn, not updated by its density. */
static void emit_exact(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const char *id = family_id(c, s->family);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int exact_%s(const void *state, "
                "int64_t element)\n{\n",
                id);
    emit_line(&e, "const struct state *s = (const struct state *)state;");
    emit_line(&e, "struct conditional_%s k_;", id);
    emit_line(&e, "prepare_%s(&k_, s, &gbm_alone, element);", id);
    emit_line(&e, "const real lower = k_.lower, upper = k_.upper;");
    emit_by_law(&e, s, "k_.", "1", emit_exact_law);
    text_append(out, "}\n#endif\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    struct text how = {0};
    text_printf(&how, " * Its full conditional has the statistics of %s%s:\n",
                s->law.family->name,
                s->support.bounded ? ", between bounds" : "");
    for (int i = 0; i < s->law.n; i++)
        text_printf(&how, " *     c%d multiplies %s\n", i + 1,
                    sym_text(c, s->law.statistics[i]));
    emit_scalar_comment(c, out, s, text_take(c, &how));
    bool *split = s->own = NEW(c, bool);
    *split = emit_conditional(c, out, s) && !s->through;
    emit_direct_density(c, out, s);
    if (*split)
        emit_finish(c, out, s);
    emit_scalar_update(c, out, s);
    if (has_exact_draws(s) && !is_always_member(c, s))
        emit_exact(c, out, s);
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    if (!has_exact_draws(s))
        return;
    if (is_always_member(c, s))
        text_append(out, ",\n     .exact = gbm_always");
    else
        text_printf(out, ",\n     .exact = exact_%s", family_id(c, s->family));
}

static void emit_kernels(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const char *id = family_id(c, s->family);
    if (is_split(s))
        text_printf(out,
                    "GBM_KERNEL_SPLIT(%s, prepare_%s, finish_%s, "
                    "struct conditional_%s, %d)\n",
                    s->name, id, id, id, s->number);
    else
        text_printf(out, "GBM_KERNEL(%s, %d)\n", s->name, s->number);
}

static const char *name_of(struct compiler *c, const struct step *s)
{
    return intern_format(c, "%s%s", s->support.bounded ? "truncated " : "",
                         s->law.family->name);
}

static const char *explain_direct(struct compiler *c, const struct step *s)
{
    const struct entry *e = s->law.family;
    const char *word = sampler_family_word(c, e);
    if (e == library_standard(c, ENTRY_DISTRIBUTION, "power_gamma") &&
        s->law.exponent) {
        if (sym_is(s->law.exponent, 1))
            word = "gamma";
        else if (sym_is(s->law.exponent, -1))
            word = "inverse gamma";
        else if (sym_is(s->law.exponent, -2))
            word = "scale of normals";
        else
            word =
                intern_format(c, "gamma in x^%s", sym_text(c, s->law.exponent));
    }
    bool cut = s->support.bounded && !entry_needs_bounds(e),
         phrase = strchr(word, ' ') != NULL;
    if (s->integrated)
        return intern_format(c, "%s, %s integrated out", word,
                             sampler_nodes_out(c, s));
    return intern_format(c, "%s%s%s%s", cut && !phrase ? "truncated " : "",
                         word, cut && phrase ? ", truncated" : "",
                         sampler_is_augmented(s) ? " (augmented)" : "");
}

const struct sampler sampler_direct = {
    .name_of = name_of,
    .takes = takes,
    .closed = true,
    .adds_up = true,
    .explain = explain_direct,
    .why = sampler_why_out,
    .unit = sampler_each_unless_tied,
    .phases = phases,
    .emit = emit,
    .draw = draw,
    .scalar = true,
    .by_many = true,
    .emit_kernels = emit_kernels,
    .emit_row = emit_row,
    .split = is_split,
    .asks = asks,
    .checked = checked,
    .blocks = 1,
};
