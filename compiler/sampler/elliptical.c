/* elliptical.c: slices along an ellipse of the prior (stdlib/kernels/
 * elliptical.h), where that is normal given the rest. An element or vector node
 * that is independent of the others has an ellipse of its own; everything else
 * is one group. */
#include "sampler/group.h"
#include <string.h>

/* ---- which --------------------------------------------------------------- */

static void own_ellipse(struct compiler *c, struct step *s, struct span where)
{
    const struct part *own = normal_prior(s);
    if (!own) {
        not_normal(c, s, where, "ess");
        return;
    }
    s->sampler = &elliptical_slice;
    s->recognised = NULL;
    s->exponent = NULL;
    s->bounded = false;
}

bool elliptical_vector(struct compiler *c, struct step *s)
{
    if (s->family->nslices != 1 || !gaussian_prior(c, s))
        return false;
    if (!entry_value(s->family->distribution, "draw"))
        return false; /* improper: an ellipse as wide as it is stands still */
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor == s->family->factor && !p->reference)
            return false; /* its prior is among what is evaluated in place */
    s->sampler = &elliptical_block;
    s->recognised = NULL;
    for (struct part *p = s->parts; p; p = p->next)
        p->opaque = true;
    return true;
}

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    if (!group_fits(c, steps, n, where, "ess"))
        return;
    struct step *s = steps[0];
    bool tied = s->sequential || s->conflicts;
    if (n == 1 && s->family->nslices) {
        if (!elliptical_vector(c, s))
            not_normal(c, s, where, "ess");
    } else if (n == 1 && !tied) {
        own_ellipse(c, s, where);
    } else {
        s = normal_group(c, m, steps, n, where, "ess");
        if (s)
            s->sampler = &elliptical_block;
    }
}

static enum barren_unit unit(const struct step *s)
{
    return s->whole ? BARREN_TOGETHER : BARREN_EACH;
}

static const char *explain_ellipse(struct compiler *c, const struct step *s)
{
    (void)c;
    return s->whole ? "elliptical slice, jointly" : "elliptical slice";
}

static const char *why(struct compiler *c, const struct step *s)
{
    return intern_format(c, "elliptical slice, as its prior is normal but %s",
                         slice_reason(c, s));
}

/* ---- of one number ------------------------------------------------------- */

static void draw_scalar(struct emitter *e, const struct step *s)
{
    symp potential, square;
    normal_prior_terms(e->c, s, &potential, &square);
    const char *p = emit_expr(e, potential), *q = emit_expr(e, square);
    emit_line(e,
              "const real value = gbm_elliptical_scalar(rng, %s, %s, %s, "
              "k_.lower, k_.upper, density_%s, &k_);",
              emit_target(e, s->family), p, q, family_id(e->c, s->family));
    emit_store(e, s, "value");
}

static void emit_scalar_ellipse(struct compiler *c, struct text *out,
                                struct step *s)
{
    emit_scalar(c, out, s, " * Slice along the ellipse of its normal prior.\n");
}

/* ---- of a group ---------------------------------------------------------- */

/* context and likelihood of gbm_elliptical: the place is written into the
 * state. */
static void emit_likelihood(struct compiler *c, struct text *out,
                            const struct step *s)
{
    emit_group_density(c, out, s, "likelihood");
    text_printf(out,
                "struct place_%s {\n    const struct state *s;\n    const "
                "struct gbm_team *team;\n    long long element;\n};\n"
                "GBM_INLINE real likelihood_%s_at(void *context, const real "
                "*x)\n{\n    const struct place_%s *k_ = (const struct "
                "place_%s *)context;\n    write_%s(k_->s, k_->team, %sx);\n"
                "    return likelihood_%s(k_->s, k_->team, k_->element);\n}\n"
                "\n",
                s->name, s->name, s->name, s->name, s->name,
                s->whole ? "" : "k_->element, ", s->name);
}

static void emit_group_ellipse(struct compiler *c, struct text *out,
                               struct step *s)
{
    const char *n = s->name;
    emit_group_comment(c, out, s, "Elliptical slice, jointly");
    emit_group_cells(c, out, s);
    emit_normal_prior(c, out, s);
    emit_likelihood(c, out, s);
    open_group_update(out, s);
    struct emitter e = emitter_new(c, out);
    emit_line(&e, "const int d = count_%s(s);", n);
    static const char *const arrays[] = {"x", "y", "mean", "drawn"};
    for (int i = 0; i < 4; i++)
        emit_line(&e, "GBM_SCRATCH(%s, %s_small, d);", arrays[i], arrays[i]);
    emit_line(&e, "read_%s(s, x);", n);
    emit_line(&e, "gbm_fill(d, y, 0);");
    emit_line(&e, "ancestral_%s(s, team, y);", n);
    emit_line(&e, "read_%s(s, mean);", n);
    emit_line(&e, "gbm_draw_normals(rng, d, y);");
    emit_line(&e, "ancestral_%s(s, team, y);", n);
    emit_line(&e, "read_%s(s, drawn);", n);
    emit_line(&e, "struct place_%s k_ = {s, team, element};", n);
    emit_line(&e,
              "gbm_elliptical(rng, d, x, mean, drawn, y, likelihood_%s_at, "
              "&k_);",
              n);
    text_append(out, "}\n\n");
    emit_group_access(out, s, "likelihood", true);
}

/* ---- of a vector node ---------------------------------------------------- */

static void emit_vector_ellipse(struct compiler *c, struct text *out,
                                struct step *s)
{
    const char *n = s->name;
    emit_group_comment(c, out, s, "Elliptical slice of a vector node");
    emit_assemble(c, out, s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void write_%s(const struct state *s, const struct "
                "gbm_team *team,\n    long long element, const real *x)\n{\n"
                "    (void)element;\n    gbm_team_sync(team);\n",
                n);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "(void)d;");
    emit_each(&e, s, "$ = x[@];", false, false);
    emit_line(&e, "gbm_team_sync(team);");
    if (s->through)
        emit_recompute(&e, s, s->family->var);
    text_append(out, "}\n\n");
    emit_likelihood(c, out, s);
    open_group_update(out, s);
    e = emitter_new(c, out);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(Q, Q_small, (long long)d * d);");
    static const char *const arrays[] = {"x", "y", "mean", "drawn"};
    for (int i = 0; i < 4; i++)
        emit_line(&e, "GBM_SCRATCH(%s, %s_small, d);", arrays[i], arrays[i]);
    emit_line(&e, "assemble_%s(s, team, element, Q, mean);", n);
    emit_each(&e, s, "x[@] = $;", false, false);
    /* observed components stay where they are: the prior given them */
    emit_line(&e, "GBM_SCRATCH(flags, flags_small, d / 4 + 1);");
    emit_line(&e, "unsigned char *const fixed = (unsigned char *)flags;");
    emit_line(&e, "int some = 0;");
    emit_each(&e, s, "some |= fixed[@] = (unsigned char)$;", true, false);
    emit_line(&e, "if (some)");
    emit_line(&e, "    gbm_condition_on(d, Q, mean, fixed, x);");
    emit_line(&e, "if (!gbm_cholesky(d, Q))");
    emit_line(&e, "    return; /* not positive definite: the node stays */");
    emit_line(&e, "gbm_solve_lower(d, Q, mean);");
    emit_line(&e, "gbm_solve_lower_transposed(d, Q, mean);");
    emit_line(&e, "for (int i = 0; i < d && some; i++)");
    emit_line(&e, "    if (fixed[i])");
    emit_line(&e, "        mean[i] = x[i];");
    emit_line(&e, "struct place_%s k_ = {s, team, element};", n);
    /* The factor of Q costs as much as d / 3 draws from it, so several moves
     * are made of it. */
    emit_line(&e, "for (int move = 0; move < 1 + d / 4; move++) {");
    e.indent++;
    emit_line(&e, "gbm_draw_normals(rng, d, drawn);");
    emit_line(&e, "gbm_solve_lower_transposed(d, Q, drawn);");
    emit_line(&e, "for (int i = 0; i < d; i++)");
    emit_line(&e,
              "    drawn[i] = some && fixed[i] ? x[i] : mean[i] + drawn[i];");
    emit_line(&e,
              "gbm_elliptical(rng, d, x, mean, drawn, y, likelihood_%s_at, "
              "&k_);",
              n);
    emit_line(&e, "gbm_copy(d, y, x);");
    e.indent--;
    emit_line(&e, "}");
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    emit_block_access(c, out, s);
    /* the prior by Q and b, as the ellipse has it */
    e = emitter_new(c, out);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                n);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(Q, Q_small, (long long)d * d);");
    emit_line(&e, "GBM_SCRATCH(b, b_small, d);");
    emit_line(&e, "GBM_SCRATCH(before, before_small, d);");
    emit_line(&e, "assemble_%s(s, &gbm_alone, element, Q, b);", n);
    emit_line(&e, "get_%s(state, element, (double *)before);", n);
    emit_line(&e, "write_%s(s, &gbm_alone, element, (const real *)x);", n);
    emit_line(
        &e, "double total = (double)likelihood_%s(s, &gbm_alone, element);", n);
    emit_line(&e, "write_%s(s, &gbm_alone, element, before);", n);
    emit_line(&e, "for (int i = 0; i < d; i++) {");
    emit_line(&e, "    total += (double)b[i] * x[i];");
    emit_line(&e, "    for (int j = 0; j < d; j++)");
    emit_line(&e, "        total -= 0.5 * (double)Q[i * d + j] * x[i] * x[j];");
    emit_line(&e, "}");
    emit_line(&e, "return total;");
    text_append(out, "}\n#endif\n\n");
}

static void emit_block_ellipse(struct compiler *c, struct text *out,
                               struct step *s)
{
    if (s->whole)
        emit_group_ellipse(c, out, s);
    else
        emit_vector_ellipse(c, out, s);
}

const struct sampler elliptical_slice = {
    .name = "elliptical slice",
    .word = "ess",
    .together = true,
    .take = take,
    .why = why,
    .emit = emit_scalar_ellipse,
    .draw = draw_scalar,
    .scalar = true,
    .blocks = 2,
};

const struct sampler elliptical_block = {
    .name = "elliptical slice",
    .unit = unit,
    .explain = explain_ellipse,
    .why = why,
    .emit = emit_block_ellipse,
    .block_access = true,
};
