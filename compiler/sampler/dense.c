/* dense.c: a Gaussian block with a design matrix: rows of a factor enter
 * through one linear predictor each, and the device (runtime/host/dense.c,
 * runtime/cuda/dense.c) adds up X'WX and draws. */
#include "sampler/group.h"

struct dense *sampler_dense_of(const struct step *s)
{
    return s->sampler == &sampler_dense_block ? s->own : NULL;
}

bool sampler_prior_couples(const struct step *s)
{
    const struct dense *own = sampler_dense_of(s);
    return own && own->coupled_prior;
}

static void emit_row_of(struct compiler *c, struct text *out,
                        const struct step *s, const struct quadratic *q)
{
    int n = q->part->factor->number;
    struct emitter e = emitter_new(c, out);
    e.team = true;
    text_printf(out,
                "/* %s, as a function of the block's a'x:\n * -weight/2 "
                "(a'x)^2 + score a'x */\n"
                "GBM_FN void row_%s_%d(const struct state *s, const struct "
                "gbm_team *team,\n    long long element, real *weight, real "
                "*score)\n{\n",
                q->part->factor->text, s->name, n);
    emit_decode(&e, q->part->factor->family, "element");
    symp seen = model_counted_instances(q->part->factor);
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
                "gbm_team *team,\n    long long element, real *row)\n{\n",
                s->name, n);
    emit_decode(&e, q->part->factor->family, "element");
    sampler_emit_layout(&e, s);
    for (int i = 0; i < s->block.n; i++) {
        int depth = e.nloops;
        const char *place;
        int braces =
            sampler_open_index(&e, &s->block.members[i].index, i, true, &place);
        const char *value = emit_expr(&e, q->design[i]);
        emit_line(&e, "row[%s] = %s;", place, value);
        emit_close(&e, braces);
        e.nloops = depth;
    }
    text_append(out, "}\n");
    text_printf(out,
                "#ifndef __CUDACC__\nGBM_HOST_ROW(row_%s_%d)\nGBM_HOST_DESIGN("
                "design_%s_%d)\n#endif\n\n",
                s->name, n, s->name, n);
}

static void emit_diagonal_prior(struct compiler *c, struct text *out,
                                const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void prior_%s(const struct state *s, long long "
                "coordinate,\n    real *precision, real *potential)\n{\n",
                s->name);
    sampler_emit_layout(&e, s);
    emit_line(&e, "real q = 0, p = 0;");
    for (int i = 0; i < s->block.n; i++) {
        emit_line(&e, "if (coordinate >= at%d && coordinate < at%d + n%d) {", i,
                  i, i);
        e.indent++;
        int depth = e.nloops;
        const struct indices *index = &s->block.members[i].index;
        const char *rest = intern_format(c, "((int)coordinate - at%d)", i);
        for (int k = index->n - 1; k >= 0; k--) {
            const struct loop *l = index->loops[k];
            const char *lower = emit_int(&e, l->lower);
            const char *extent =
                emit_int(&e, sym_length(c, l->lower, l->upper));
            const char *a = emit_loop_name(&e, l);
            if (k)
                emit_line(&e, "const int %s = %s %% (%s) + %s;", a, rest,
                          extent, lower);
            else
                emit_line(&e, "const int %s = %s + %s;", a, rest, lower);
            rest = intern_format(c, "%s / (%s)", rest, extent);
        }
        for (const struct quadratic *q = s->block.quadratics; q; q = q->next) {
            if (q->row)
                continue;
            symp precision = q->precision[i][i];
            for (int k = 0; k < index->n; k++) /* on the diagonal they agree */
                precision = sym_replace_loop(
                    c, precision, s->block.members[i].index2.loops[k],
                    sym_loop(c, index->loops[k]));
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
    text_printf(out, "#ifndef __CUDACC__\nGBM_HOST_PRIOR(prior_%s)\n#endif\n\n",
                s->name);
}

static void emit_matrix_prior(struct compiler *c, struct text *out,
                              const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void prior_%s(const struct state *s, const struct "
                "gbm_team *team,\n    real *Q, real *b)\n{\n",
                s->name);
    sampler_emit_layout(&e, s);
    emit_line(&e, "gbm_fill((long long)d * d, Q, 0);");
    emit_line(&e, "gbm_fill(d, b, 0);");
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (!q->row)
            sampler_emit_quadratic(&e, s, q);
    text_append(out, "}\n");
    text_printf(out,
                "#ifndef __CUDACC__\nGBM_HOST_PRIOR_MATRIX(prior_%s)\n"
                "#endif\n\n",
                s->name);
}

/* The step that draws what a row's score reads, in one pass; or NULL. */
static const struct step *drawn_with(const struct quadratic *q)
{
    const struct step *s = q->drawn;
    return s && s->sampler->split(s) ? s : NULL;
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_block_comment(c, out, s);
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->row) {
            emit_row_of(c, out, s, q);
            if (drawn_with(q))
                emit_predicted(c, out, drawn_with(q), q->predictor);
        }
    if (sampler_prior_couples(s))
        emit_matrix_prior(c, out, s);
    else
        emit_diagonal_prior(c, out, s);
    struct emitter e = emitter_new(c, out);
    for (int k = 0; k < 2; k++) {
        const char *which = k ? "set" : "get";
        e = emitter_new(c, out);
        text_printf(out,
                    "GBM_FN void %s_%s(const struct state *s, const struct "
                    "gbm_team *team, %sreal *x)\n{\n",
                    which, s->name, k ? "const " : "");
        sampler_emit_layout(&e, s);
        sampler_emit_each(&e, s, k ? "$ = x[@];" : "x[@] = $;", false, true);
        text_append(out, "}\n");
        text_printf(out, "#ifndef __CUDACC__\nGBM_HOST_%s(%s_%s)\n#endif\n\n",
                    k ? "SET" : "GET", which, s->name);
    }
    text_append(out, "#ifndef __CUDACC__\n");
    e = emitter_new(c, out);
    text_printf(out,
                "static int dimension_%s(const void *state)\n{\n    const "
                "struct state *s = (const struct state *)state;\n",
                s->name);
    sampler_emit_layout(&e, s);
    emit_line(&e, "return d;");
    text_append(out, "}\n");
    e = emitter_new(c, out);
    text_printf(out,
                "static void fixed_%s(const void *state, unsigned char *out)\n"
                "{\n    const struct state *s = (const struct state *)state;\n",
                s->name);
    sampler_emit_layout(&e, s);
    sampler_emit_each(&e, s, "out[@] = (unsigned char)$;", true, false);
    text_append(out, "}\n#endif\n\n");
}

/* Of a row through the design: X'WX and X's, or what data settle of them. */
static void add_row_phase(struct compiler *c, struct step *s,
                          const struct quadratic *q)
{
    symp d = block_dimension(c, s);
    const bool product = !(q->constant_design && q->constant_weight);
    struct phase *p = sweep_add_phase(c, s, PHASE_SUM,
                                      product ? "X'WX and X'score" : "X'score");
    p->rows = q->part->factor->family;
    p->at_load = !product && q->constant_score;
    phase_computes(c, p, q->weight);
    phase_computes(c, p, q->score);
    for (int i = 0; i < s->block.n; i++)
        phase_computes_each(c, p, q->design[i], s->block.members[i].count);
    if (!q->matrix) /* a design that is kept */
        p->scratch = d;
    p->operations =
        sym_add(c, 3,
                (symp[]){p->operations, sym_mul2(c, sym_num(c, 2), d),
                         product ? sym_mul2(c, d, d) : sym_num(c, 0)});
}

static void phases(struct compiler *c, struct step *s)
{
    symp d = block_dimension(c, s);
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->row)
            add_row_phase(c, s, q);
    struct phase *prior = sweep_add_phase(c, s, PHASE_SUM, "prior precision");
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        for (int i = 0; i < s->block.n && !q->row; i++) {
            symp n = s->block.members[i].count;
            phase_computes_each(c, prior, q->potential[i], n);
            for (int j = 0; j <= i; j++)
                phase_computes_each(
                    c, prior, q->precision[i][j],
                    !sampler_prior_couples(s)
                        ? n
                        : sym_mul2(c, n, s->block.members[j].count));
        }
    struct phase *solve =
        sweep_add_phase(c, s, PHASE_SOLVE, "factors the precision, draws");
    solve->random = true;
    solve->scratch = sym_mul2(c, d, d);
    phase_solves(c, solve, d);
}

/* The host's draws of the rows of a pass. */
static void emit_host_passes(struct compiler *c, struct text *out,
                             const struct step *s)
{
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next) {
        const struct step *drawn = drawn_with(q);
        if (!drawn)
            continue;
        const struct sampler *k = drawn->sampler;
        const int n = q->part->factor->number;
        const char *id = family_id(c, drawn->family);
        if (k->asks && k->asks(c, drawn))
            text_printf(
                out, "GBM_HOST_PASS_BETWEEN(%d, pass_%s_%d, %s, %d, %d)\n",
                drawn->turn.part, s->name, n, id, drawn->number, k->blocks);
        else
            text_printf(out, "GBM_HOST_PASS(%d, pass_%s_%d, %s, %d, %d, %s)\n",
                        drawn->turn.part, s->name, n, id, drawn->number,
                        k->blocks, sweep_first_draw(drawn));
    }
}

static void emit_tables(struct compiler *c, struct text *out,
                        const struct step *s)
{
    emit_host_passes(c, out, s);
    text_printf(out, "static const struct gbm_dense_term terms_%s[] = {\n",
                s->name);
    int n = 0;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next) {
        if (!q->row)
            continue;
        int k = q->part->factor->number;
        n++;
        text_printf(
            out,
            "    {.family = %d, .matrix = %d, .constant_design = %d, "
            ".constant_weight = %d,\n     .constant_score = %d, .design = "
            "design_%s_%d_host, .row = "
            "row_%s_%d_host,\n     .row_kernel = \"row_%s_%d_kernel\", "
            ".design_kernel = \"design_%s_%d_kernel\"",
            q->part->factor->family->number,
            q->matrix ? q->matrix->slot->number : -1, q->constant_design,
            q->constant_weight, q->constant_score, s->name, k, s->name, k,
            s->name, k, s->name, k);
        const struct step *drawn = drawn_with(q);
        if (drawn)
            text_printf(out,
                        ",\n     .drawn = %d, .since = %d, .pass_kernel = "
                        "\"pass_%s_%d_kernel\", .draw_rows = pass_%s_%d_rows",
                        drawn->number + 1, q->since->number + 1, s->name, k,
                        s->name, k);
        if (drawn && !sym_reads_latent(q->weight))
            text_append(out, ", .given_weight = 1");
        if (drawn && drawn->scaled.by)
            text_printf(out, ", .scaled = %d, .number = %d",
                        drawn->scaled.by->number + 1,
                        sampler_scale_number(drawn->scaled.by)->number);
        text_append(out, "},\n");
    }
    text_printf(out,
                "};\nstatic const struct gbm_dense dense_%s = {\n"
                "    .dimension = dimension_%s,\n    .get = "
                "get_%s_host,\n    .set = set_%s_host,\n    .fixed = "
                "fixed_%s,\n",
                s->name, s->name, s->name, s->name, s->name);
    if (sampler_prior_couples(s))
        text_printf(out, "    .prior_matrix = prior_%s_host,\n", s->name);
    else
        text_printf(out, "    .prior = prior_%s_host,\n", s->name);
    text_printf(out,
                "    .prior_kernel = \"prior_%s_kernel\",\n    .get_kernel = "
                "\"get_%s_kernel\",\n    .set_kernel = \"set_%s_kernel\",\n"
                "    .nterms = %d,\n    .terms = terms_%s,\n",
                s->name, s->name, s->name, n, s->name);
    const struct var *whole = sampler_variable_of_block(c, s);
    if (whole)
        text_printf(out, "    .whole = %d,\n", whole->slot->number + 1);
    text_append(out, "};\n\n");
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    text_printf(out, ",\n     .dense = &dense_%s", s->name);
}

static void emit_pass(struct compiler *c, struct text *out,
                      const struct step *s, const struct quadratic *q)
{
    const int n = q->part->factor->number;
    const struct step *drawn = drawn_with(q);
    if (!drawn)
        return;
    const char *id = family_id(c, drawn->family);
    text_printf(out,
                "#include \"pass_cuda.h\"\n"
                "GBM_KERNEL_PASS(pass_%s_%d, predicted_%s, finish_%s,\n"
                "                row_%s_%d, struct conditional_%s, %d)\n",
                s->name, n, id, id, s->name, n, id, drawn->number);
}

static void emit_kernels(struct compiler *c, struct text *out,
                         const struct step *s)
{
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->row) {
            int n = q->part->factor->number;
            text_printf(out, "GBM_KERNEL_ROWS(row_%s_%d)\n", s->name, n);
            text_printf(out, "GBM_KERNEL_DESIGN(design_%s_%d)\n", s->name, n);
            emit_pass(c, out, s, q);
        }
    text_printf(out,
                sampler_prior_couples(s) ? "GBM_KERNEL_PRIOR_MATRIX(prior_%s)\n"
                                         : "GBM_KERNEL_PRIOR(prior_%s)\n",
                s->name);
    text_printf(out, "GBM_KERNEL_GET(get_%s)\nGBM_KERNEL_SET(set_%s)\n",
                s->name, s->name);
}

/* X'X is computed once if all designs and weights are data. */
bool sampler_constant_product(const struct step *s)
{
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->row && !(q->constant_design && q->constant_weight))
            return false;
    return true;
}

static const char *explain_dense(struct compiler *c, const struct step *s)
{
    const char *d = sampler_count_text(c, block_dimension(c, s));
    return intern_format(c, "Gaussian block, dense %s x %s%s", d, d,
                         sampler_constant_product(s) ? ", X'X computed once"
                                                     : "");
}

static const char *parallel(struct compiler *c, const struct step *s)
{
    (void)c;
    (void)s;
    return "-";
}

const struct sampler sampler_dense_block = {
    .name = "dense Gaussian block",
    .closed = true,
    .unit = sampler_left_out_together,
    .explain = explain_dense,
    .brief = sampler_brief_block,
    .why = sampler_why_block,
    .parallel = parallel,
    .phases = phases,
    .emit = emit,
    .dense = true,
    .emit_tables = emit_tables,
    .emit_row = emit_row,
    .emit_kernels = emit_kernels,
};
