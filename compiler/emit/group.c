/* group.c: nodes that move together: adaptive Metropolis steps, and slices
 * along an ellipse. The draws themselves are in stdlib/kernels/metropolis.h and
 * stdlib/kernels/elliptical.h; here is what they ask of the model. */
#include "emit/block.h"
#include <string.h>

/* ---- the coordinates of a group --------------------------------------------
 */

/* Opens the loops over a member's elements and components. *cell: one of them.
 */
static int open_member(struct emitter *e, const struct family *f, symp *cell)
{
    struct compiler *c = e->c;
    symp at[8];
    for (int i = 0; i < f->nloops + f->nslices; i++) {
        struct loop *l = i < f->nloops ? f->loops[i] : NEW(c, struct loop);
        if (i >= f->nloops) {
            l->name = "at";
            l->lower = sym_num(c, 1);
            l->upper = family_extent(c, f, i - f->nloops);
            at[i - f->nloops] = sym_loop(c, l);
        }
        const char *lower = emit_int(e, l->lower);
        const char *upper = emit_int(e, l->upper);
        const char *name = emit_loop_name(e, l);
        emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower, name,
                  upper, name);
        e->indent++;
    }
    *cell = f->nslices ? family_lhs(c, f, f->nslices, at)
                       : sym_ref(c, f->var, f->var->ndim, f->lower);
    return f->nloops + f->nslices;
}

/* A statement for each coordinate that is not observed, with k its number: $
 * is its cell, and `bounds` gives the own support's ends lower[k], upper[k]. */
static void for_each_latent(struct emitter *e, const struct step *s,
                            const char *statement, bool bounds)
{
    struct compiler *c = e->c;
    for (int i = 0; i < s->nmembers; i++) {
        const struct family *f = s->members[i].family;
        int depth = e->nloops;
        symp cell;
        int braces = open_member(e, f, &cell);
        symp seen = sym_seen(c, cell->var, cell->nargs, cell->args);
        emit_line(e, "if (!%s) {", emit_expr(e, seen));
        e->indent++;
        const char *text = emit_expr(e, cell);
        if (bounds) {
            const struct factor *g = f->factor;
            bool low = g->lower && !g->replaced,
                 high = g->upper && !g->replaced;
            for (int j = 0; j < s->nmembers; j++) {
                const struct var *v = s->members[j].family->var;
                low = low && !sym_has_var(g->lower, v);
                high = high && !sym_has_var(g->upper, v);
            }
            emit_line(e, "lower[k] = %s;",
                      low ? emit_expr(e, g->lower) : "-GBM_INF");
            emit_line(e, "upper[k++] = %s;",
                      high ? emit_expr(e, g->upper) : "GBM_INF");
        } else {
            emit_filled(e, statement, text, "");
        }
        emit_close(e, braces + 1);
        e->nloops = depth;
    }
}

static void emit_coordinates(struct compiler *c, struct text *out,
                             const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* Numbers of unobserved cells. */\n"
                "GBM_FN int count_%s(const struct state *s)\n{\n    (void)s;\n"
                "    int k = 0;\n",
                s->name);
    for_each_latent(&e, s, "k++;", false);
    text_append(out, "    return k;\n}\n");
    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void read_%s(const struct state *s, real *x)\n{\n"
                "    int k = 0;\n",
                s->name);
    for_each_latent(&e, s, "x[k++] = $;", false);
    text_append(out, "}\n");
    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void write_%s(const struct state *s, const struct "
                "gbm_team *team, const real *x)\n{\n    int k = 0;\n    "
                "gbm_team_sync(team);\n",
                s->name);
    for_each_latent(&e, s, "$ = x[k++];", false);
    emit_line(&e, "gbm_team_sync(team);");
    if (s->through)
        for (int i = 0; i < s->nmembers; i++) {
            bool again = false; /* each variable once */
            for (int j = 0; j < i; j++)
                again = again ||
                        s->members[j].family->var == s->members[i].family->var;
            if (!again)
                emit_recompute(&e, s, s->members[i].family->var);
        }
    text_append(out, "}\n\n");
}

static void emit_parts(struct compiler *c, struct text *out,
                       const struct step *s, const char *what)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN_BIG real %s_%s(const struct state *s, const struct "
                "gbm_team *team,\n    long long element)\n{\n    (void)s;\n"
                "    (void)team;\n    (void)element;\n    gbm_total total = "
                "0;\n",
                what, s->name);
    if (!s->whole)
        open_element(&e, s);
    if (!s->whole)
        emit_cell_if_needed(&e, s);
    e.team = true;
    for (const struct part *p = s->parts; p; p = p->next)
        emit_in_place(&e, p);
    text_append(out, "    return (real)total;\n}\n\n");
}

/* For the self-check: the block's cells, and its log density with the priors
 * that `prior` adds. */
static void emit_group_access(struct text *out, const struct step *s,
                              const char *density, bool prior)
{
    const char *n = s->name;
    text_printf(out,
                "#ifndef __CUDACC__\n"
                "static int dimension_%s(const void *state, int64_t element)\n"
                "{\n    (void)element;\n    return count_%s((const struct "
                "state *)state);\n}\n"
                "static void get_%s(const void *state, int64_t element, "
                "double *x)\n{\n    (void)element;\n    read_%s((const struct "
                "state *)state, (real *)x);\n}\n"
                "static void set_%s(const void *state, int64_t element, "
                "const double *x)\n{\n    (void)element;\n    write_%s((const "
                "struct state *)state, &gbm_alone, (const real *)x);\n}\n",
                n, n, n, n, n, n);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n    const int d = count_%s(s);\n"
                "    GBM_SCRATCH(before, before_small, d);\n    read_%s(s, "
                "before);\n    write_%s(s, &gbm_alone, (const real *)x);\n    "
                "double total = (double)%s_%s(s, &gbm_alone, element)",
                n, n, n, n, density, n);
    if (prior)
        text_printf(out, " +\n        (double)prior_%s(s)", n);
    text_printf(out,
                ";\n    write_%s(s, &gbm_alone, before);\n    return total;\n"
                "}\n#endif\n\n",
                n);
}

static void emit_comment(struct compiler *c, struct text *out,
                         const struct step *s, const char *what)
{
    text_printf(out, "/* %s:\n", what);
    for (int i = 0; i < s->nmembers; i++)
        text_printf(out, " *     %s    %s\n", s->members[i].family->text,
                    place_in_comment(c, s->members[i].family->span));
    text_append(out, " */\n");
}

static void open_update(struct text *out, const struct step *s)
{
    text_printf(out,
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, "
                "int adapting)\n{\n    (void)adapting;\n    (void)element;\n",
                s->name);
}

/* ---- adaptive Metropolis ---------------------------------------------------
 */

void emit_adaptive(struct compiler *c, struct text *out, struct step *s)
{
    const char *n = s->name;
    emit_comment(c, out, s, "Adaptive Metropolis");
    emit_coordinates(c, out, s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* The ends of their supports. */\n"
                "GBM_FN void ends_%s(const struct state *s, real *lower, real "
                "*upper)\n{\n    int k = 0;\n",
                n);
    for_each_latent(&e, s, "", true);
    text_append(out, "}\n\n");
    emit_parts(c, out, s, "density");
    open_update(out, s);
    e = emitter_new(c, out);
    emit_line(&e, "const int d = count_%s(s);", n);
    emit_line(&e, "real *const tuning = s->%s;", s->slots->member);
    emit_line(&e, "GBM_SCRATCH(x, x_small, d);");
    emit_line(&e, "GBM_SCRATCH(y, y_small, d);");
    emit_line(&e, "GBM_SCRATCH(lower, lower_small, d);");
    emit_line(&e, "GBM_SCRATCH(upper, upper_small, d);");
    emit_line(&e, "read_%s(s, x);", n);
    emit_line(&e, "ends_%s(s, lower, upper);", n);
    const char *step = s->width > 0 ? emit_expr(&e, sym_num(c, s->width)) : "1";
    emit_line(&e,
              "const real jacobian = gbm_adaptive_propose(rng, d, %s, tuning, "
              "lower, upper, x, y);",
              step);
    emit_line(&e, "const real here = density_%s(s, team, element);", n);
    emit_line(&e, "write_%s(s, team, y);", n);
    emit_line(&e, "const real there = density_%s(s, team, element) + jacobian;",
              n);
    emit_line(&e, "real probability;");
    emit_line(&e, "const bool moves = gbm_metropolis(rng, here, there, "
                  "&probability);");
    emit_line(&e, "if (!moves)");
    emit_line(&e, "    write_%s(s, team, x);", n);
    emit_line(&e, "if (adapting && team->lane == 0)");
    emit_line(&e,
              "    gbm_adaptive_learn(d, %s, adapting, probability, lower, "
              "upper, moves ? y : x, moves ? x : y, tuning);",
              step);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
    emit_group_access(out, s, "density", false);
    e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int64_t tuning_%s(const void "
                "*state)\n{\n    const struct state *s = (const struct state "
                "*)state;\n    (void)s;\n    int64_t k = 0;\n",
                n);
    for (int i = 0; i < s->nmembers; i++) {
        symp cell;
        int depth = e.nloops;
        int braces = open_member(&e, s->members[i].family, &cell);
        emit_line(&e, "k++;");
        emit_close(&e, braces);
        e.nloops = depth;
    }
    text_append(out, "    return gbm_adaptive_cells(k);\n}\n#endif\n\n");
}

/* ---- an ellipse of a group -------------------------------------------------
 */

/* For each unobserved element, in order: body has the coordinate's number k,
 * its cell, and its prior's mean and precision given those before. */
static void for_each_prior(struct emitter *e, const struct step *s,
                           const char *format)
{
    struct compiler *c = e->c;
    const struct part *own = s->priors;
    for (int i = 0; i < s->nmembers; i++, own = own->next) {
        symp cell, potential, square;
        int depth = e->nloops;
        emit_line(e, "{");
        e->indent++;
        int braces = open_member(e, s->members[i].family, &cell);
        symp seen = sym_seen(c, cell->var, cell->nargs, cell->args);
        emit_line(e, "if (!%s) {", emit_expr(e, seen));
        e->indent++;
        normal_terms(c, own, &potential, &square);
        symp precision = sym_mul2(c, sym_num(c, -2), square);
        emit_line(e, "const real precision = %s;", emit_expr(e, precision));
        emit_line(e, "const real mean = %s;",
                  emit_expr(e, sym_div(c, potential, precision)));
        emit_filled(e, format, emit_expr(e, cell), "");
        emit_close(e, braces + 2);
        e->nloops = depth;
    }
}

/* context and likelihood of gbm_elliptical: the place is written into the
 * state. */
static void emit_likelihood(struct compiler *c, struct text *out,
                            const struct step *s)
{
    emit_parts(c, out, s, "likelihood");
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
    emit_comment(c, out, s, "Elliptical slice, jointly");
    emit_coordinates(c, out, s);
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
    emit_likelihood(c, out, s);
    open_update(out, s);
    e = emitter_new(c, out);
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

/* ---- an ellipse of a vector node -------------------------------------------
 */

static void emit_vector_ellipse(struct compiler *c, struct text *out,
                                struct step *s)
{
    const char *n = s->name;
    emit_comment(c, out, s, "Elliptical slice of a vector node");
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
    open_update(out, s);
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

void emit_elliptical(struct compiler *c, struct text *out, struct step *s)
{
    if (s->whole)
        emit_group_ellipse(c, out, s);
    else
        emit_vector_ellipse(c, out, s);
}
