/* direct.c: a draw from a family of the library that the full conditional is
 * of: its parameters from the sums of statistics (`solve`), and its `draw`. */
#include "sampler/sampler.h"
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

/* A draw of entry d whose parameters are in scope; bounds are the locals
 * lower and upper if `bounded`. Returns its C text. */
static const char *emit_draw(struct emitter *e, const struct entry *d,
                             bool bounded)
{
    if (!bounded)
        return emit_expr(e, clause_at(e, d, "draw"));
    if (!entry_value(d, "draw_between"))
        return emit_real_between(e, d);
    emit_param(e, "lower", "lower");
    emit_param(e, "upper", "upper");
    return emit_put_between(e, clause_at(e, d, "draw_between"));
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
    emit_line(e, "%s = %s;", value,
              emit_draw(e, s->law.family, s->support.bounded));
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
        return emit_draw(e, s->law.family, s->support.bounded);
    }
    const char *value = emit_name(e, "value");
    const char *rest = rest_condition(e, s, prefix);
    emit_line(e, "real %s;", value);
    emit_line(e, "if (%s) {", flat);
    emit_line(e, "    %s = lower + (upper - lower) * gbm_uniform(rng);", value);
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

static void emit_solved_density(struct emitter *e, const struct step *s)
{
    emit_solve(e, s, "k_->");
    symp density =
        changing_terms(e->c, clause_at(e, s->law.family, "logdensity"));
    emit_line(e, "return %s;", emit_expr(e, density));
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
    const char *flat = flat_condition(&e, s, "k_->");
    if (flat) {
        emit_line(&e, "if (%s)", flat);
        emit_line(&e, "    return 0 * x;");
    }
    const char *rest = rest_condition(&e, s, "k_->");
    if (rest) {
        emit_line(&e, "if (%s) {", rest);
        e.indent++;
        emit_solved_density(&e, s->law.rest);
        e.indent--;
        emit_line(&e, "}");
    }
    emit_solved_density(&e, s);
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

/* Without `solve` there is no density to compare. */
static bool checked(const struct step *s)
{
    return entry_clause(s->law.family, "solve") != NULL;
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
    .unit = sampler_each_unless_tied,
    .phases = phases,
    .emit = emit,
    .draw = draw,
    .scalar = true,
    .by_many = true,
    .emit_kernels = emit_kernels,
    .split = is_split,
    .asks = asks,
    .checked = checked,
    .blocks = 1,
};
