/* normal_group.c: groups and vector nodes whose priors are jointly normal given
 * the rest, and moves that are made of the prior's mean and a draw of it: along
 * an ellipse, or an autoregressive proposal. Of a group each element's prior,
 * in order, is normal with a mean that is linear in those before. */
#include "sampler/group.h"
#include <string.h>

/* The own prior is potential x + square x^2, and nothing else. */
const struct part *normal_prior(const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next) {
        if (!p->own || p->opaque || p->terms.n < 1 || p->terms.n > 2)
            continue;
        bool square = false;
        for (int i = 0; i < p->terms.n; i++) {
            symp t = p->terms.statistic[i];
            if (t->kind == SYM_POW && t->args[0]->kind == SYM_TARGET &&
                sym_is(t->args[1], 2))
                square = true;
            else if (t->kind != SYM_TARGET)
                return NULL;
        }
        return square ? p : NULL;
    }
    return NULL;
}

static void terms_of(struct compiler *c, const struct part *own,
                     symp *potential, symp *square)
{
    *potential = *square = sym_num(c, 0);
    for (int i = 0; i < own->terms.n; i++)
        if (own->terms.statistic[i]->kind == SYM_TARGET)
            *potential = own->terms.coefficient[i];
        else
            *square = own->terms.coefficient[i];
}

void normal_prior_terms(struct compiler *c, const struct step *s,
                        symp *potential, symp *square)
{
    terms_of(c, normal_prior(s), potential, square);
}

void sampler_not_normal(struct compiler *c, const struct step *s,
                        struct span where, const char *word)
{
    error_at(c, where,
             "%s needs a normal prior, but that of %s is %s%s; there is am",
             word, s->family->var->name, s->family->distribution->name,
             s->family->truncated ? " between bounds" : "");
}

/* Where reference r stands in the loops of f's own element: -1 before it, 1
 * after it or unknown. */
static int place_of(struct compiler *c, const struct family *f, symp r)
{
    double difference[8];
    for (int d = 0; d < f->var->ndim; d++)
        if (!sym_difference(c, r->args[d], f->lower[d], &difference[d]))
            return 1;
    for (int i = 0; i < f->nloops; i++)
        for (int d = 0; d < f->var->ndim; d++) {
            symp offset;
            if (sym_plain_loop(c, f->lower[d], &offset) != f->loops[i] ||
                difference[d] == 0)
                continue;
            return difference[d] < 0 ? -1 : 1;
        }
    return 1;
}

/* Members that the mean of f reads are drawn before it. */
static bool drawn_before(struct compiler *c, const struct step *s,
                         const struct family *f, symp r)
{
    bool found = false;
    for (int i = 0; i < s->block.n; i++) {
        const struct family *g = s->block.members[i].family;
        if (g == f)
            found = true;
        if (g->var != r->var)
            continue;
        if (g == f && place_of(c, f, r) >= 0)
            return false;
        if (g != f && found)
            return false;
    }
    return true;
}

/* The mean is affine in members that are drawn before f's element. */
static bool affine(struct compiler *c, const struct step *s,
                   const struct family *f, symp mean, symp e)
{
    if (e->kind == SYM_SUM && group_reads(s, e))
        return false;
    if (e->kind == SYM_REF && group_reads(s, e)) {
        symp slope = sym_derivative(c, mean, e);
        for (int i = 0; i < e->nargs; i++)
            if (group_reads(s, e->args[i]))
                return false;
        return slope && !group_reads(s, slope) && drawn_before(c, s, f, e);
    }
    for (int i = 0; i < e->nargs; i++)
        if (!affine(c, s, f, mean, e->args[i]))
            return false;
    return true;
}

static bool group_prior(struct compiler *c, const struct step *s,
                        const struct part *own, const struct family *f)
{
    symp potential, square;
    terms_of(c, own, &potential, &square);
    symp mean = sym_div(c, potential, sym_mul2(c, sym_num(c, -2), square));
    return !group_depends(s, square) &&
           !sym_any(mean, sampler_follows_group, s) &&
           affine(c, s, f, mean, mean);
}

/* The observed elements of a member say something of the others. */
static struct part *seen_instances(struct compiler *c, const struct family *f)
{
    struct part *p = sampler_all_instances(c, f->factor);
    p->guard = sym_seen(c, f->var, f->var->ndim, f->lower);
    return p;
}

static struct step *normal_group(struct compiler *c, struct model *m,
                                 struct step *const *steps, int n,
                                 struct span where, const char *word)
{
    const struct part *own[8];
    for (int i = 0; i < n; i++) {
        own[i] = normal_prior(steps[i]);
        if (steps[i]->family->nslices) {
            error_at(c, where,
                     "not supported yet: %s of a vector-valued node together "
                     "with others",
                     word);
            return NULL;
        }
        if (!own[i] || steps[i]->support.lower || steps[i]->support.upper) {
            sampler_not_normal(c, steps[i], where, word);
            return NULL;
        }
    }
    const struct family *families[8];
    for (int i = 0; i < n; i++)
        families[i] = steps[i]->family;
    struct step *s = sampler_merge_group(c, m, steps, n);
    for (int i = 0; i < n; i++)
        if (!group_prior(c, s, own[i], families[i])) {
            error_at(c, where,
                     "%s needs priors that are jointly normal given the "
                     "rest, but %s is not linear in what is drawn before it",
                     word, families[i]->text);
            return NULL;
        }
    struct part *priors = NULL;
    for (int k = 0; k < s->block.n; k++)
        for (int i = 0; i < n; i++)
            if (s->block.members[k].family == families[i]) {
                struct part *p = NEW(c, struct part);
                *p = *own[i];
                p->next = NULL;
                sampler_push_part(&priors, p);
                sampler_push_part(&s->parts, seen_instances(c, families[i]));
            }
    s->own = priors;
    for (struct factor *g = m->factors; g; g = g->next) {
        bool prior = false;
        for (int i = 0; i < n; i++)
            prior = prior || families[i]->factor == g;
        if (!g->replaced && !prior && group_mentions(c, s, g))
            sampler_push_part(&s->parts, sampler_all_instances(c, g));
    }
    sampler_keep_moving(c, s);
    return s;
}

/* For each unobserved element, in order: body has the coordinate's number k,
 * its cell, and its prior's mean and precision given those before. */
static void for_each_prior(struct emitter *e, const struct step *s,
                           const char *format)
{
    struct compiler *c = e->c;
    const struct part *own = s->own;
    for (int i = 0; i < s->block.n; i++, own = own->next) {
        symp cell, potential, square;
        int depth = e->nloops;
        emit_line(e, "{");
        e->indent++;
        int braces =
            sampler_open_group_member(e, s->block.members[i].family, &cell);
        symp seen = sym_seen(c, cell->var, cell->nargs, cell->args);
        emit_line(e, "if (!%s) {", emit_expr(e, seen));
        e->indent++;
        terms_of(c, own, &potential, &square);
        symp precision = sym_mul2(c, sym_num(c, -2), square);
        emit_line(e, "const real precision = %s;", emit_expr(e, precision));
        emit_line(e, "const real mean = %s;",
                  emit_expr(e, sym_div(c, potential, precision)));
        emit_filled(e, format, emit_expr(e, cell), "");
        emit_close(e, braces + 2);
        e->nloops = depth;
    }
}

static void emit_normal_prior(struct compiler *c, struct text *out,
                              const struct step *s)
{
    const char *n = s->name;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* From standard normals z, the nodes from their prior, in "
                "order; z = 0 gives\n * the mean. */\n"
                "GBM_FN void ancestral_%s(const struct state *s, const struct "
                "gbm_team *team, const real *z)\n{\n    int k = 0;\n    "
                "gbm_team_sync(team);\n",
                n);
    for_each_prior(&e, s, "$ = mean + z[k++] / real_sqrt(precision);");
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    text_printf(out,
                "static real prior_%s(const struct state *s)\n{\n    "
                "gbm_total total = 0;\n",
                n);
    e = emitter_new(c, out);
    for_each_prior(&e, s,
                   "total -= precision * gbm_square($ - mean) / 2 - "
                   "real_log(precision) / 2;");
    text_append(out, "    return (real)total;\n}\n#endif\n\n");
}

bool normal_vector(struct compiler *c, struct step *s)
{
    if (s->family->nslices != 1 || !sampler_gaussian_prior(c, s))
        return false;
    if (!entry_value(s->family->distribution, "draw"))
        return false; /* improper: an ellipse as wide as it is stands still */
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor == s->family->factor && !p->reference)
            return false; /* its prior is among what is evaluated in place */
    s->law.family = NULL;
    for (struct part *p = s->parts; p; p = p->next)
        p->opaque = true;
    sampler_keep_moving(c, s);
    return true;
}

struct step *sampler_take_normal(struct compiler *c, struct model *m,
                                 struct step *const *steps, int n,
                                 struct span where, const char *word)
{
    if (!group_fits(c, steps, n, where, word))
        return NULL;
    if (n > 1 || !steps[0]->family->nslices)
        return normal_group(c, m, steps, n, where, word);
    if (normal_vector(c, steps[0]))
        return steps[0];
    sampler_not_normal(c, steps[0], where, word);
    return NULL;
}

/* ---- moves ------------------------------------------------------------------
 */

/* likelihood_NAME_at(&k_, x): x is written into the state. Several moves of an
 * element follow each other from where the one before ended. */
static void emit_likelihood(struct compiler *c, struct text *out,
                            const struct step *s)
{
    sampler_emit_group_density(c, out, s, "likelihood");
    text_printf(out,
                "struct place_%s {\n    const struct state *s;\n    const "
                "struct gbm_team *team;\n    long long element;\n    real "
                "here; /* the likelihood at x, or NaN */\n};\n"
                "GBM_INLINE real likelihood_%s_at(void *context, const real "
                "*x)\n{\n    const struct place_%s *k_ = (const struct "
                "place_%s *)context;\n    write_%s(k_->s, k_->team, %sx);\n"
                "    return likelihood_%s(k_->s, k_->team, k_->element);\n}\n"
                "\n",
                s->name, s->name, s->name, s->name, s->name,
                s->whole ? "" : "k_->element, ", s->name);
}

static void emit_group_move(struct compiler *c, struct text *out,
                            struct step *s, const char *what, normal_move *move)
{
    const char *n = s->name;
    sampler_emit_group_comment(c, out, s,
                               intern_format(c, "%s, jointly", what));
    sampler_emit_group_cells(c, out, s);
    emit_normal_prior(c, out, s);
    emit_likelihood(c, out, s);
    sampler_emit_group_room(c, out, s, 4);
    emit_open_update(out, s);
    struct emitter e = emitter_new(c, out);
    emit_line(&e, "const int d = count_%s(s);", n);
    static const char *const arrays[] = {"x", "y", "mean", "drawn", NULL};
    sampler_emit_group_arrays(&e, s, arrays);
    emit_line(&e, "const struct gbm_team *const sharing = team;");
    emit_line(&e, "read_%s(s, team, x);", n);
    emit_line(&e, "GBM_TEAM_FOR(i, 0, d, team)");
    emit_line(&e, "    y[i] = 0;");
    emit_line(&e, "ancestral_%s(s, team, y);", n);
    emit_line(&e, "read_%s(s, team, mean);", n);
    const char *steps = sampler_steps(c, s, "1");
    const bool several = strcmp(steps, "1") != 0;
    if (several)
        emit_line(&e, "struct place_%s k_ = {s, team, element, GBM_NAN};", n);
    if (several) {
        emit_line(&e, "for (int move = 0; move < %s; move++) {", steps);
        e.indent++;
    }
    emit_line(&e, "gbm_team_normals(rng, team, d, y);");
    emit_line(&e, "ancestral_%s(s, team, y);", n);
    emit_line(&e, "read_%s(s, team, drawn);", n);
    if (!several)
        emit_line(&e, "struct place_%s k_ = {s, team, element, GBM_NAN};", n);
    move(&e, s);
    if (several) {
        emit_line(&e, "GBM_TEAM_FOR(i, 0, d, team)");
        emit_line(&e, "    x[i] = y[i];");
        emit_close(&e, 1);
    }
    text_append(out, "}\n\n");
    sampler_emit_group_access(out, s, "likelihood", true);
}

/* write_: an element's cells. */
static void emit_vector_write(struct compiler *c, struct text *out,
                              const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void write_%s(const struct state *s, const struct "
                "gbm_team *team,\n    long long element, const real *x)\n{\n"
                "    gbm_team_sync(team);\n",
                s->name);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    sampler_emit_each(&e, s, "$ = x[@];", false, false);
    emit_line(&e, "gbm_team_sync(team);");
    if (s->through)
        emit_recompute(&e, s, s->family->var);
    text_append(out, "}\n\n");
}

/* For the self-check: the prior by Q and b, as the move has it, and the rest.
 */
static void emit_vector_conditional(struct compiler *c, struct text *out,
                                    const struct step *s)
{
    const char *n = s->name;
    text_append(out, "#ifndef __CUDACC__\n");
    sampler_emit_block_access(c, out, s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                n);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(Q, Q_small, (long long)d * d);");
    emit_line(&e, "GBM_SCRATCH(b, b_small, d);");
    emit_line(&e, "GBM_SCRATCH(before, before_small, d);");
    emit_line(&e, "assemble_%s(s, &gbm_alone, element, Q, b);", n);
    emit_line(&e, "get_%s(state, element, (double *)before);", n);
    emit_line(&e, "write_%s(s, &gbm_alone, element, (const real *)x);", n);
    emit_line(
        &e, "double total = (double)likelihood_%s(s, &gbm_alone, element);", n);
    emit_line(&e, "write_%s(s, &gbm_alone, element, before);", n);
    sampler_emit_quadratic_form(&e);
    text_append(out, "}\n#endif\n\n");
}

static void emit_vector_move(struct compiler *c, struct text *out,
                             struct step *s, const char *what,
                             normal_move *move)
{
    const char *n = s->name;
    sampler_emit_group_comment(c, out, s,
                               intern_format(c, "%s of a vector node", what));
    sampler_emit_assemble(c, out, s);
    emit_vector_write(c, out, s);
    emit_likelihood(c, out, s);
    emit_open_update(out, s);
    struct emitter e = emitter_new(c, out);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    sampler_emit_room(&e, s, "Q", "(long long)d * d");
    static const char *const arrays[] = {"x", "y", "mean", "drawn"};
    for (int i = 0; i < 4; i++)
        sampler_emit_room(&e, s, arrays[i], "d");
    emit_line(&e, "assemble_%s(s, team, element, Q, mean);", n);
    sampler_emit_each(&e, s, "x[@] = $;", false, false);
    /* observed components stay where they are: the prior given them */
    sampler_emit_fixed(&e, s);
    emit_line(&e, "if (some)");
    emit_line(&e, "    gbm_condition_on(d, Q, mean, fixed, x);");
    emit_line(&e, "if (!gbm_cholesky(d, Q))");
    emit_line(&e, "    return; /* not positive definite: the node stays */");
    emit_line(&e, "gbm_solve_lower(d, Q, mean);");
    emit_line(&e, "gbm_solve_lower_transposed(d, Q, mean);");
    emit_line(&e, "for (int i = 0; i < d && some; i++)");
    emit_line(&e, "    if (fixed[i])");
    emit_line(&e, "        mean[i] = x[i];");
    emit_line(&e, "struct place_%s k_ = {s, team, element, GBM_NAN};", n);
    /* The factor of Q costs as much as d / 3 draws from it, so several moves
     * are made of it. */
    emit_line(&e, "const struct gbm_team alone = {0, 1}, *const sharing = "
                  "&alone; /* of arrays that are a lane's */");
    emit_line(&e, "for (int move = 0; move < %s; move++) {",
              sampler_steps(c, s, "1 + d / 4"));
    e.indent++;
    emit_line(&e, "gbm_draw_normals(rng, d, drawn);");
    emit_line(&e, "gbm_solve_lower_transposed(d, Q, drawn);");
    emit_line(&e, "for (int i = 0; i < d; i++)");
    emit_line(&e,
              "    drawn[i] = some && fixed[i] ? x[i] : mean[i] + drawn[i];");
    move(&e, s);
    emit_line(&e, "gbm_copy(d, y, x);");
    e.indent--;
    emit_line(&e, "}");
    text_append(out, "}\n\n");
    emit_vector_conditional(c, out, s);
}

void sampler_emit_normal_moves(struct compiler *c, struct text *out,
                               struct step *s, const char *what,
                               normal_move *move)
{
    if (s->whole)
        emit_group_move(c, out, s, what, move);
    else
        emit_vector_move(c, out, s, what, move);
}
