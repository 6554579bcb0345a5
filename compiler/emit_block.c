/* emit_block.c: the functions of blocks: small Gaussian ones, those with a
 * design matrix, Dirichlet and Wishart nodes. */
#include "gbmc.h"
#include <string.h>

static void open_element(struct emitter *e, const struct step *s)
{
    if (s->family->nloops)
        emit_decode(e, s->family, "element");
    for (int i = 0; i < e->nloops; i++)
        emit_line(e, "(void)%s;", e->loops[i].name);
    /* members of a block share the plate: their loops are the same indices */
    for (int k = 1; k < s->nmembers; k++)
        for (int i = 0; i < s->family->nloops && e->nloops < 48 &&
                        s->members[k].family->nloops == s->family->nloops;
             i++) {
            e->loops[e->nloops].loop = s->members[k].family->loops[i];
            e->loops[e->nloops].name = e->loops[i].name;
            e->nloops++;
        }
}

static bool shared_out(const struct part *p)
{
    if (p->own)
        return false;
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i] || p->inverse)
            return true;
    return false;
}

/* cell_ for parts found through an inverse index of some member's variable */
static void emit_index_cell(struct emitter *e, const struct step *s,
                            const struct part *p)
{
    struct compiler *c = e->c;
    if (!p->inverse)
        return;
    for (int i = 0; i < s->nmembers; i++) {
        const struct family *f = s->members[i].family;
        if (f->var != p->inverse->var)
            continue;
        symp first[8];
        for (int d = 0; d < f->var->ndim; d++)
            first[d] = f->upper[d] ? sym_num(c, 1) : f->lower[d];
        emit_line(e, "const long long cell_ = %s;",
                  emit_cell(e, f->var, first));
        return;
    }
}

/* int n_alpha, at_alpha, ..., d: coordinates of the members. */
static void emit_layout(struct emitter *e, const struct step *s)
{
    struct compiler *c = e->c;
    const char *at = "0";
    for (int i = 0; i < s->nmembers; i++) {
        const char *count = emit_int(e, s->members[i].count);
        emit_line(e, "const int n%d = %s, at%d = %s; /* %s */", i, count, i, at,
                  s->members[i].family->var->name);
        at = intern_format(c, "at%d + n%d", i, i);
    }
    emit_line(e, "const int d = %s;", at);
    for (int i = 0; i < s->nmembers; i++)
        emit_line(e, "(void)n%d, (void)at%d;", i, i);
}

/* Opens a loop over a member's coordinates if it has several; `place` is the
 * coordinate's number. */
/* shared: the lanes of a team take turns. */
static int open_index(struct emitter *e, const struct member *m,
                      struct loop *index, int i, bool shared,
                      const char **place)
{
    struct compiler *c = e->c;
    if (!m->index) {
        *place = intern_format(c, "at%d", i);
        return 0;
    }
    const char *lower = emit_int(e, index->lower);
    const char *upper = emit_int(e, index->upper);
    const char *name = emit_loop_name(e, index);
    if (shared)
        emit_line(e, "GBM_TEAM_FOR(%s, %s, (%s) + 1, team) {", name, lower,
                  upper);
    else
        emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower, name,
                  upper, name);
    e->indent++;
    *place = intern_format(c, "at%d + %s - (%s)", i, name, lower);
    return 1;
}

static void emit_quadratic(struct emitter *e, const struct step *s,
                           const struct quadratic *q)
{
    struct compiler *c = e->c;
    int depth = e->nloops;
    emit_line(e, "{");
    e->indent++;
    emit_index_cell(e, s, q->part);
    int braces = emit_open_part(e, q->part, true);
    for (int i = 0; i < s->nmembers; i++) {
        int inside = e->nloops;
        const char *row, *column;
        if (!sym_is(q->potential[i], 0)) {
            int n = open_index(e, &s->members[i], s->members[i].index, i, false,
                               &row);
            const char *value = emit_expr(e, q->potential[i]);
            emit_line(e, "b[%s] += %s;", row, value);
            emit_close(e, n);
            e->nloops = inside;
        }
        for (int j = 0; j <= i; j++) {
            if (sym_is(q->precision[i][j], 0))
                continue;
            int n = open_index(e, &s->members[i], s->members[i].index, i, false,
                               &row);
            n += open_index(e, &s->members[j],
                            i == j ? s->index2[j] : s->members[j].index, j,
                            false, &column);
            const char *value = emit_expr(e, q->precision[i][j]);
            if (i == j) {
                emit_line(e, "Q[(%s) * d + %s] += %s;", row, column, value);
            } else {
                const char *name = emit_name(e, "value");
                emit_line(e, "const real %s = %s;", name, value);
                emit_line(e, "Q[(%s) * d + %s] += %s;", row, column, name);
                emit_line(e, "Q[(%s) * d + %s] += %s;", column, row, name);
            }
            emit_close(e, n);
            e->nloops = inside;
        }
    }
    emit_close(e, braces);
    e->indent--;
    emit_line(e, "}");
    e->nloops = depth;
    (void)c;
}

static symp coordinate(struct compiler *c, const struct member *m)
{
    const struct family *f = m->family;
    symp subs[8];
    for (int d = 0; d < f->var->ndim; d++) {
        subs[d] = f->lower[d];
        if (f->upper[d])
            subs[d] = sym_add(
                c, 3,
                (symp[]){f->lower[d], sym_loop(c, m->index), sym_num(c, -1)});
        else if (m->index && !f->nslices)
            subs[d] = sym_replace_loop(c, subs[d], f->loops[0],
                                       sym_loop(c, m->index));
    }
    return sym_ref(c, f->var, f->var->ndim, subs);
}

/* One line per coordinate of every member: format has the place and the
 * cell's text. */
static void emit_each(struct emitter *e, const struct step *s,
                      const char *format, bool seen, bool shared)
{
    struct compiler *c = e->c;
    for (int i = 0; i < s->nmembers; i++) {
        int depth = e->nloops;
        const char *place;
        int n = open_index(e, &s->members[i], s->members[i].index, i, shared,
                           &place);
        symp cell = coordinate(c, &s->members[i]);
        if (seen)
            cell = sym_seen(c, cell->var, cell->nargs, cell->args);
        struct text t = {0};
        const char *text = emit_expr(e, cell);
        for (const char *p = format; *p; p++) {
            if (*p == '@')
                text_append(&t, place);
            else if (*p == '$')
                text_append(&t, text);
            else
                text_printf(&t, "%c", *p);
        }
        emit_line(e, "%s", t.data);
        text_free(&t);
        emit_close(e, n);
        e->nloops = depth;
    }
}

static void emit_comment(struct compiler *c, struct text *out,
                         const struct step *s)
{
    (void)c;
    text_append(out, "/* A joint Gaussian block:\n");
    for (int i = 0; i < s->nmembers; i++)
        text_printf(out, " *     %s    %s\n", s->members[i].family->text,
                    span_text(c, s->members[i].family->span));
    text_append(out, " * Its precision Q and potential b come from\n");
    for (const struct quadratic *q = s->quadratics; q; q = q->next)
        text_printf(out, " *     %s\n", q->part->factor->text);
    text_append(out, " */\n");
}

static void emit_block_access(struct compiler *c, struct text *out,
                              const struct step *s)
{
    static const char *const heads[] = {
        "static int dimension_%s(const void *state, int64_t element)\n{\n",
        "static void get_%s(const void *state, int64_t element, double *x)\n"
        "{\n",
        "static void set_%s(const void *state, int64_t element, const double "
        "*x)\n{\n"};
    for (int k = 0; k < 3; k++) {
        struct emitter e = emitter_new(c, out);
        char head[256];
        /* the format is one of the constants above */
        const char *format = heads[k];
        const char *mark = strstr(format, "%s");
        snprintf(head, sizeof head, "%.*s%s%s", (int)(mark - format), format,
                 s->name, mark + 2);
        text_append(out, head);
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        emit_line(&e, "(void)s;");
        emit_line(&e, "(void)element;");
        open_element(&e, s);
        emit_layout(&e, s);
        if (k == 0)
            emit_line(&e, "return d;");
        else
            emit_line(&e, "(void)d;");
        if (k == 1)
            emit_each(&e, s, "x[@] = (double)$;", false, false);
        if (k == 2)
            emit_each(&e, s, "$ = (real)x[@];", false, false);
        text_append(out, "}\n");
    }
}

void emit_gaussian(struct compiler *c, struct text *out, struct step *s)
{
    struct emitter e = emitter_new(c, out);
    emit_comment(c, out, s);
    text_printf(out,
                "GBM_FN void assemble_%s(const struct state *s,\n    const "
                "struct gbm_team *team, long long element, real *Q, real *b)\n"
                "{\n    (void)team;\n    (void)element;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "gbm_fill((long long)d * d, Q, 0);");
    emit_line(&e, "gbm_fill(d, b, 0);");
    bool any = false;
    for (const struct quadratic *q = s->quadratics; q; q = q->next)
        if (shared_out(q->part)) {
            emit_quadratic(&e, s, q);
            any = true;
        }
    if (any) {
        emit_line(&e, "for (int i = 0; i < d * d && team->lanes > 1; i++)");
        emit_line(&e, "    Q[i] = (real)gbm_team_sum(team, Q[i]);");
        emit_line(&e, "for (int i = 0; i < d && team->lanes > 1; i++)");
        emit_line(&e, "    b[i] = (real)gbm_team_sum(team, b[i]);");
    }
    for (const struct quadratic *q = s->quadratics; q; q = q->next)
        if (!shared_out(q->part))
            emit_quadratic(&e, s, q);
    text_append(out, "}\n\n");

    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, int "
                "adapting)\n{\n    (void)adapting;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(Q, Q_small, (long long)d * d);");
    emit_line(&e, "GBM_SCRATCH(b, b_small, d);");
    emit_line(&e, "GBM_SCRATCH(drawn, drawn_small, d);");
    emit_line(&e, "assemble_%s(s, team, element, Q, b);", s->name);
    bool seen = false;
    for (int i = 0; i < s->nmembers; i++)
        seen = seen || s->members[i].family->nslices > 0;
    if (seen) {
        emit_line(&e, "unsigned char fixed[64];");
        emit_line(&e, "int some = 0;");
        emit_each(&e, s,
                  "if (@ < 64 && (fixed[@] = (unsigned char)$)) some = 1;",
                  true, false);
        emit_line(&e, "if (some) {");
        e.indent++;
        emit_each(&e, s, "drawn[@] = $;", false, false);
        emit_line(&e, "gbm_condition_on(d, Q, b, fixed, drawn);");
        e.indent--;
        emit_line(&e, "}");
    }
    emit_line(&e, "if (!gbm_gaussian_draw(rng, d, Q, b, drawn))");
    emit_line(&e, "    return; /* not positive definite: the block stays */");
    emit_line(&e, "gbm_team_sync(team);");
    emit_each(&e, s,
              seen ? "if (!some || !fixed[@]) $ = drawn[@];" : "$ = drawn[@];",
              false, false);
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    emit_block_access(c, out, s);
    e = emitter_new(c, out);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(Q, Q_small, (long long)d * d);");
    emit_line(&e, "GBM_SCRATCH(b, b_small, d);");
    emit_line(&e, "assemble_%s(s, &gbm_alone, element, Q, b);", s->name);
    emit_line(&e, "double total = 0;");
    emit_line(&e, "for (int i = 0; i < d; i++) {");
    emit_line(&e, "    total += (double)b[i] * x[i];");
    emit_line(&e, "    for (int j = 0; j < d; j++)");
    emit_line(&e, "        total -= 0.5 * (double)Q[i * d + j] * x[i] * x[j];");
    emit_line(&e, "}");
    emit_line(&e, "return total;");
    text_append(out, "}\n#endif\n\n");
}

/* ---- with a design matrix
 * ------------------------------------------------------- */

static void emit_row(struct compiler *c, struct text *out, const struct step *s,
                     const struct quadratic *q)
{
    int n = q->part->factor->number;
    struct emitter e = emitter_new(c, out);
    e.team = true;
    text_printf(out,
                "/* %s, as a function of the block's a'x:\n * -weight/2 "
                "(a'x)^2 + score a'x */\n"
                "GBM_FN void row_%s_%d(const struct state *s, const struct "
                "gbm_team *team,\n    long long element, real *weight, real "
                "*score)\n{\n    (void)team;\n",
                q->part->factor->text, s->name, n);
    emit_decode(&e, q->part->factor->family, "element");
    for (int i = 0; i < e.nloops; i++)
        emit_line(&e, "(void)%s;", e.loops[i].name);
    symp seen = q->part->factor->seen_ref;
    if (seen) {
        emit_line(&e, "if (!%s) {", emit_expr(&e, seen));
        emit_line(&e, "    *weight = *score = 0;");
        emit_line(&e, "    return;");
        emit_line(&e, "}");
    }
    const char *weight = emit_expr(&e, q->weight);
    emit_line(&e, "*weight = %s;", weight);
    const char *score = emit_expr(&e, q->score);
    emit_line(&e, "*score = %s;", score);
    text_append(out, "}\n");

    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void design_%s_%d(const struct state *s, const struct "
                "gbm_team *team,\n    long long element, real *row)\n{\n    "
                "(void)team;\n",
                s->name, n);
    emit_decode(&e, q->part->factor->family, "element");
    for (int i = 0; i < e.nloops; i++)
        emit_line(&e, "(void)%s;", e.loops[i].name);
    emit_layout(&e, s);
    emit_line(&e, "(void)d;");
    for (int i = 0; i < s->nmembers; i++) {
        int depth = e.nloops;
        const char *place;
        int braces = open_index(&e, &s->members[i], s->members[i].index, i,
                                true, &place);
        const char *value = emit_expr(&e, q->design[i]);
        emit_line(&e, "row[%s] = %s;", place, value);
        emit_close(&e, braces);
        e.nloops = depth;
    }
    text_append(out, "}\n");
    text_printf(
        out,
        "#ifndef __CUDACC__\nstatic void row_%s_%d_host(const void *state, "
        "int64_t element, double *weight, double *score)\n{\n    real w = 0, "
        "t = 0;\n    row_%s_%d((const struct state *)state, &gbm_alone, "
        "element, &w, &t);\n    *weight = (double)w;\n    *score = "
        "(double)t;\n}\n"
        "static void design_%s_%d_host(const void *state, int64_t element, "
        "double *row)\n{\n    design_%s_%d((const struct state *)state, "
        "&gbm_alone, element, (real *)row);\n}\n#endif\n\n",
        s->name, n, s->name, n, s->name, n, s->name, n);
}

static void emit_diagonal_prior(struct compiler *c, struct text *out,
                                const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void prior_%s(const struct state *s, long long "
                "coordinate,\n    real *precision, real *potential)\n{\n",
                s->name);
    emit_layout(&e, s);
    emit_line(&e, "(void)d;");
    emit_line(&e, "real q = 0, p = 0;");
    for (int i = 0; i < s->nmembers; i++) {
        emit_line(&e, "if (coordinate >= at%d && coordinate < at%d + n%d) {", i,
                  i, i);
        e.indent++;
        int depth = e.nloops;
        if (s->members[i].index) {
            const char *lower = emit_int(&e, s->members[i].index->lower);
            const char *a = emit_loop_name(&e, s->members[i].index);
            emit_line(&e, "const int %s = (int)coordinate - at%d + %s;", a, i,
                      lower);
            emit_line(&e, "(void)%s;", a);
        }
        for (const struct quadratic *q = s->quadratics; q; q = q->next) {
            if (q->row)
                continue;
            symp precision = q->precision[i][i];
            if (s->members[i].index) /* on the diagonal both are one index */
                precision = sym_replace_loop(c, precision, s->index2[i],
                                             sym_loop(c, s->members[i].index));
            if (!sym_is(precision, 0))
                emit_line(&e, "q += %s;", emit_expr(&e, precision));
            if (!sym_is(q->potential[i], 0))
                emit_line(&e, "p += %s;", emit_expr(&e, q->potential[i]));
        }
        e.indent--;
        emit_line(&e, "}");
        e.nloops = depth;
    }
    emit_line(&e, "*precision = q;");
    emit_line(&e, "*potential = p;");
    text_append(out, "}\n");
    text_printf(out,
                "#ifndef __CUDACC__\nstatic void prior_%s_host(const void "
                "*state, int64_t coordinate, double *precision, double "
                "*potential)\n{\n    real q, p;\n    prior_%s((const struct "
                "state *)state, coordinate, &q, &p);\n    *precision = "
                "(double)q;\n    *potential = (double)p;\n}\n#endif\n\n",
                s->name, s->name);
}

static void emit_matrix_prior(struct compiler *c, struct text *out,
                              const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void prior_%s(const struct state *s, const struct "
                "gbm_team *team,\n    real *Q, real *b)\n{\n    "
                "(void)team;\n",
                s->name);
    emit_layout(&e, s);
    emit_line(&e, "gbm_fill((long long)d * d, Q, 0);");
    emit_line(&e, "gbm_fill(d, b, 0);");
    for (const struct quadratic *q = s->quadratics; q; q = q->next)
        if (!q->row)
            emit_quadratic(&e, s, q);
    text_append(out, "}\n");
    text_printf(out,
                "#ifndef __CUDACC__\nstatic void prior_%s_host(const void "
                "*state, double *precision, double *potential)\n{\n    "
                "prior_%s((const struct state *)state, &gbm_alone, (real "
                "*)precision, (real *)potential);\n}\n#endif\n\n",
                s->name, s->name);
}

void emit_dense(struct compiler *c, struct text *out, struct step *s)
{
    emit_comment(c, out, s);
    for (const struct quadratic *q = s->quadratics; q; q = q->next)
        if (q->row)
            emit_row(c, out, s, q);
    if (s->coupled_prior)
        emit_matrix_prior(c, out, s);
    else
        emit_diagonal_prior(c, out, s);
    struct emitter e = emitter_new(c, out);
    for (int k = 0; k < 2; k++) {
        const char *which = k ? "set" : "get";
        e = emitter_new(c, out);
        text_printf(out,
                    "GBM_FN void %s_%s(const struct state *s, const struct "
                    "gbm_team *team, %sreal *x)\n{\n    (void)team;\n",
                    which, s->name, k ? "const " : "");
        emit_layout(&e, s);
        emit_line(&e, "(void)d;");
        emit_each(&e, s, k ? "$ = x[@];" : "x[@] = $;", false, true);
        text_append(out, "}\n");
        text_printf(out,
                    "#ifndef __CUDACC__\nstatic void %s_%s_host(const void "
                    "*state, %sdouble *x)\n{\n    %s_%s((const struct state "
                    "*)state, &gbm_alone, (%sreal *)x);\n}\n#endif\n\n",
                    which, s->name, k ? "const " : "", which, s->name,
                    k ? "const " : "");
    }
    text_append(out, "#ifndef __CUDACC__\n");
    e = emitter_new(c, out);
    text_printf(out,
                "static int dimension_%s(const void *state)\n{\n    const "
                "struct state *s = (const struct state *)state;\n    "
                "(void)s;\n",
                s->name);
    emit_layout(&e, s);
    emit_line(&e, "return d;");
    text_append(out, "}\n");
    e = emitter_new(c, out);
    text_printf(out,
                "static void fixed_%s(const void *state, unsigned char *out)\n"
                "{\n    const struct state *s = (const struct state *)state;\n"
                "    (void)s;\n",
                s->name);
    emit_layout(&e, s);
    emit_line(&e, "(void)d;");
    emit_each(&e, s, "out[@] = (unsigned char)$;", true, false);
    text_append(out, "}\n#endif\n\n");
}

/* ---- vector nodes
 * ------------------------------------------------------------------ */

static void emit_dirichlet(struct compiler *c, struct text *out, struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const struct entry *d = s->recognised;
    text_printf(out,
                "/* %s    %s\n * Its full conditional is a %s: alpha[j] are "
                "the coefficients of log x[j]. */\n"
                "GBM_FN void coefficients_%s(const struct state *s, const "
                "struct gbm_team *team,\n    long long element, real *sums)\n"
                "{\n    (void)team;\n    (void)element;\n",
                s->family->text, span_text(c, s->family->span), d->name,
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "gbm_fill(d, sums, 0);");
    bool any = false;
    for (int pass = 0; pass < 2; pass++) {
        for (const struct quadratic *q = s->quadratics; q; q = q->next) {
            if (shared_out(q->part) != (pass == 0))
                continue;
            any = any || pass == 0;
            int depth = e.nloops;
            emit_line(&e, "{");
            e.indent++;
            emit_index_cell(&e, s, q->part);
            int braces = emit_open_part(&e, q->part, true);
            const char *place;
            int n = open_index(&e, &s->members[0], s->members[0].index, 0,
                               false, &place);
            const char *value = emit_expr(&e, q->potential[0]);
            emit_line(&e, "sums[%s] += %s;", place, value);
            emit_close(&e, n + braces);
            e.indent--;
            emit_line(&e, "}");
            e.nloops = depth;
        }
        if (pass == 0 && any) {
            emit_line(&e, "for (int i = 0; i < d && team->lanes > 1; i++)");
            emit_line(&e, "    sums[i] = (real)gbm_team_sum(team, sums[i]);");
        }
    }
    text_append(out, "}\n\n");

    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, int "
                "adapting)\n{\n    (void)adapting;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(sums, sums_small, d);");
    emit_line(&e, "GBM_SCRATCH(drawn, drawn_small, d);");
    emit_line(&e, "coefficients_%s(s, team, element, sums);", s->name);
    emit_line(&e, "for (int j = 0; j < d; j++)");
    emit_line(&e, "    sums[j] += 1;");
    emit_line(&e, "gbm_%s(rng, d, sums, drawn);", entry_value(d, "draw")->name);
    emit_line(&e, "gbm_team_sync(team);");
    emit_each(&e, s, "$ = drawn[@];", false, false);
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    emit_block_access(c, out, s);
    e = emitter_new(c, out);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(sums, sums_small, d);");
    emit_line(&e, "coefficients_%s(s, &gbm_alone, element, sums);", s->name);
    emit_line(&e, "double total = 0;");
    emit_line(&e, "for (int j = 0; j < d; j++)");
    emit_line(&e, "    total += (double)gbm_xlogy(sums[j], (real)x[j]);");
    emit_line(&e, "return total;");
    text_append(out, "}\n#endif\n\n");
}

static void emit_each_cell(struct emitter *e, const struct step *s,
                           const char *format)
{
    struct compiler *c = e->c;
    const struct family *f = s->family;
    int depth = e->nloops;
    const char *place;
    int n =
        open_index(e, &s->members[0], s->members[0].index, 0, false, &place);
    const char *lower = emit_int(e, s->index2[0]->lower);
    const char *upper = emit_int(e, s->index2[0]->upper);
    const char *b = emit_loop_name(e, s->index2[0]);
    emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", b, lower, b, upper, b);
    e->indent++;
    symp at[2] = {sym_loop(c, s->members[0].index), sym_loop(c, s->index2[0])};
    const char *cell = emit_expr(e, family_lhs(c, f, 2, at));
    struct text t = {0};
    for (const char *p = format; *p; p++) {
        if (*p == '@')
            text_printf(&t, "(%s) * d + %s - 1", place, b);
        else if (*p == '$')
            text_append(&t, cell);
        else
            text_printf(&t, "%c", *p);
    }
    emit_line(e, "%s", t.data);
    text_free(&t);
    emit_close(e, n + 1);
    e->nloops = depth;
}

static void emit_wishart_access(struct compiler *c, struct text *out,
                                const struct step *s)
{
    for (int k = 0; k < 3; k++) {
        struct emitter e = emitter_new(c, out);
        if (k == 0)
            text_printf(out,
                        "static int dimension_%s(const void *state, int64_t "
                        "element)\n{\n",
                        s->name);
        else
            text_printf(out,
                        "static void %s_%s(const void *state, int64_t element,"
                        " %sdouble *x)\n{\n",
                        k == 1 ? "get" : "set", s->name,
                        k == 1 ? "" : "const ");
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        emit_line(&e, "(void)element;");
        open_element(&e, s);
        emit_layout(&e, s);
        if (k == 0)
            emit_line(&e, "return d * d;");
        else
            emit_each_cell(&e, s,
                           k == 1 ? "x[@] = (double)$;" : "$ = (real)x[@];");
        text_append(out, "}\n");
    }
}

static void emit_wishart(struct compiler *c, struct text *out, struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const struct entry *d = s->recognised;
    text_printf(out,
                "/* %s    %s\n * Its full conditional is a %s: the log density "
                "is shape log|x| + sum(S x). */\n"
                "GBM_FN real coefficients_%s(const struct state *s, const "
                "struct gbm_team *team,\n    long long element, real *S)\n"
                "{\n    (void)team;\n    (void)element;\n",
                s->family->text, span_text(c, s->family->span), d->name,
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "gbm_fill((long long)d * d, S, 0);");
    emit_line(&e, "gbm_total shape = 0;");
    bool any = false;
    for (int pass = 0; pass < 2; pass++) {
        for (const struct quadratic *q = s->quadratics; q; q = q->next) {
            if (shared_out(q->part) != (pass == 0))
                continue;
            any = any || pass == 0;
            int depth = e.nloops;
            emit_line(&e, "{");
            e.indent++;
            emit_index_cell(&e, s, q->part);
            int braces = emit_open_part(&e, q->part, true);
            const char *shape = emit_expr(&e, q->potential[0]);
            emit_line(&e, "shape += %s;", shape);
            const char *row, *column;
            int n = open_index(&e, &s->members[0], s->members[0].index, 0,
                               false, &row);
            n +=
                open_index(&e, &s->members[0], s->index2[0], 0, false, &column);
            const char *value = emit_expr(&e, q->potential[1]);
            emit_line(&e, "S[(%s) * d + %s] += %s;", row, column, value);
            emit_close(&e, n + braces);
            e.indent--;
            emit_line(&e, "}");
            e.nloops = depth;
        }
        if (pass == 0 && any) {
            emit_line(&e, "shape = gbm_team_sum(team, shape);");
            emit_line(&e, "for (int i = 0; i < d * d && team->lanes > 1; i++)");
            emit_line(&e, "    S[i] = (real)gbm_team_sum(team, S[i]);");
        }
    }
    emit_line(&e, "return (real)shape;");
    text_append(out, "}\n\n");
    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, int "
                "adapting)\n{\n    (void)adapting;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(S, S_small, (long long)d * d);");
    emit_line(&e, "GBM_SCRATCH(drawn, drawn_small, (long long)d * d);");
    emit_line(&e, "const real shape = coefficients_%s(s, team, element, S);",
              s->name);
    /* solve: R[i,j] = -2 s2[i,j], symmetric part; k = 2 s1 + K + 1 */
    emit_line(&e, "GBM_SCRATCH(R, R_small, (long long)d * d);");
    emit_line(&e, "for (int i = 0; i < d; i++)");
    emit_line(&e, "    for (int j = 0; j < d; j++)");
    emit_line(&e, "        R[i * d + j] = -(S[i * d + j] + S[j * d + i]);");
    emit_line(&e, "gbm_%s(rng, d, R, 2 * shape + d + 1, drawn);",
              entry_value(d, "draw")->name);
    emit_line(&e, "gbm_team_sync(team);");
    emit_each_cell(&e, s, "$ = drawn[@];");
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    emit_wishart_access(c, out, s);
    e = emitter_new(c, out);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                s->name);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(S, S_small, (long long)d * d);");
    emit_line(&e,
              "const real shape = coefficients_%s(s, &gbm_alone, element, S);",
              s->name);
    emit_line(&e, "double total = (double)(shape * gbm_logdet(d, (const real "
                  "*)x));");
    emit_line(&e, "for (int i = 0; i < d * d; i++)");
    emit_line(&e, "    total += (double)S[i] * x[i];");
    emit_line(&e, "return total;");
    text_append(out, "}\n#endif\n\n");
}

/* A vector node by slices along its axes or, on the simplex, along lines that
 * exchange the mass of two components. */
static void emit_components(struct compiler *c, struct text *out,
                            struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    text_printf(out,
                "/* %s    %s\n * No closed form: slice sampling, component by "
                "component%s. */\n"
                "struct conditional_%s {\n    const struct state *s;\n    "
                "const struct gbm_team *team;\n    long long element;\n    "
                "int place, other; /* components, from 0 */\n    real total; "
                "/* of both */\n};\n\n",
                f->text, span_text(c, f->span),
                s->simplex ? ", the mass of two exchanged" : "", s->name);
    for (int k = 0; k < 2; k++) {
        struct emitter e = emitter_new(c, out);
        text_printf(out,
                    "GBM_FN %s component_%s_%s(const struct state *s, long "
                    "long element, int place_%s)\n{\n    (void)s;\n    "
                    "(void)element;\n",
                    k ? "void" : "real", s->name, k ? "set" : "get",
                    k ? ", real x" : "");
        open_element(&e, s);
        symp at = sym_add2(c, sym_param(c, intern(c, "place")), sym_num(c, 1));
        emit_param(&e, "place", "place_");
        const char *cell = emit_expr(&e, family_lhs(c, f, 1, &at));
        if (k)
            emit_line(&e, "%s = x;", cell);
        else
            emit_line(&e, "return %s;", cell);
        text_append(out, "}\n");
    }
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN gbm_total density_%s_here(const struct state *s, const "
                "struct gbm_team *team,\n    long long element)\n{\n    "
                "(void)team;\n    (void)element;\n    gbm_total total = 0;\n",
                s->name);
    open_element(&e, s);
    emit_cell_if_needed(&e, s);
    if (s->through)
        emit_recompute(&e, s->model, f->var);
    e.team = true;
    for (const struct part *p = s->parts; p; p = p->next)
        emit_in_place(&e, p);
    text_printf(out,
                "    return total;\n}\n\n"
                "GBM_INLINE real density_%s(const void *context, real x)\n{\n"
                "    const struct conditional_%s *k_ = (const struct "
                "conditional_%s *)context;\n    gbm_team_sync(k_->team);\n",
                s->name, s->name, s->name);
    text_printf(out,
                "    component_%s_set(k_->s, k_->element, k_->place, x);\n",
                s->name);
    if (s->simplex)
        text_printf(out,
                    "    component_%s_set(k_->s, k_->element, k_->other, "
                    "k_->total - x);\n",
                    s->name);
    text_printf(out,
                "    gbm_team_sync(k_->team);\n    return (real)"
                "density_%s_here(k_->s, k_->team, k_->element);\n}\n\n"
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, int "
                "adapting)\n{\n",
                s->name, s->name);
    e = emitter_new(c, out);
    open_element(&e, s);
    emit_layout(&e, s);
    emit_line(&e, "real width = s->%s_width[element];", id);
    emit_line(&e, "for (int place = 0; place < d; place++) {");
    e.indent++;
    emit_line(&e, "struct conditional_%s k_ = {s, team, element, place, 0, 0};",
              s->name);
    emit_line(&e, "const real before = component_%s_get(s, element, place);",
              s->name);
    const char *low = "-GBM_INF", *high = "GBM_INF";
    if (s->simplex) {
        emit_line(&e, "if (d < 2)");
        emit_line(&e, "    break;");
        emit_line(&e, "const int step = 1 + (int)(gbm_uniform(rng) * (real)(d "
                      "- 1));");
        emit_line(&e, "k_.other = (place + step) %% d;");
        emit_line(&e,
                  "k_.total = before + component_%s_get(s, element, "
                  "k_.other);",
                  s->name);
        low = "0";
        high = "k_.total";
    }
    emit_line(&e,
              "const real x = gbm_slice(rng, before, &width, adapting, %s, "
              "%s, density_%s, &k_);",
              low, high, s->name);
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "component_%s_set(s, element, place, x);", s->name);
    if (s->simplex)
        emit_line(&e, "component_%s_set(s, element, k_.other, k_.total - x);",
                  s->name);
    emit_line(&e, "gbm_team_sync(team);");
    e.indent--;
    emit_line(&e, "}");
    emit_line(&e, "s->%s_width[element] = width;", id);
    if (s->through)
        emit_recompute(&e, s->model, f->var);
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    emit_block_access(c, out, s);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    double before[1024];\n    "
                "get_%s(state, element, before);\n    set_%s(state, element, "
                "x);\n    double total = (double)density_%s_here((const struct "
                "state *)state, &gbm_alone, element);\n    set_%s(state, "
                "element, before);\n    return total;\n}\n#endif\n\n",
                s->name, s->name, s->name, s->name, s->name);
}

void emit_vector(struct compiler *c, struct text *out, struct step *s)
{
    if (s->method == METHOD_SLICE_VECTOR) {
        emit_components(c, out, s);
        return;
    }
    if (s->family->nslices == 2)
        emit_wishart(c, out, s);
    else
        emit_dirichlet(c, out, s);
}
