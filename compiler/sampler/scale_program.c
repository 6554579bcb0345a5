/* scale_program.c: the functions of a step that multiplies by one number
 * (scale.c, stdlib/kernels/scale.h). */
#include "sampler/moves.h"
#include "sampler/scale.h"

static const struct scaling *scaling_of(const struct step *s) { return s->own; }

/* ---- the node that is divided, if there is one -----------------------------
 */

static const char *node_parameter(const struct step *s)
{
    return scaling_of(s)->divided ? ", long long node" : "";
}

/* Its loop, from its number. */
static void emit_node(struct emitter *e, const struct step *s,
                      const char *number)
{
    const struct family *f = scaling_of(s)->divided;
    if (f->nloops)
        emit_decode(e, f, number);
}

static symp node_cell(struct compiler *c, const struct step *s)
{
    const struct family *f = scaling_of(s)->divided;
    return sym_ref(c, f->var, f->var->ndim, f->lower);
}

static const char *node_count(struct emitter *e, const struct step *s)
{
    return emit_int(e, family_elements(e->c, scaling_of(s)->divided));
}

/* struct opposite_ and opposite_at_: the log density of the number exp(t), with
 * the node's prior. */
static void emit_opposite(struct compiler *c, struct text *out,
                          const struct step *s)
{
    const char *n = s->name;
    const struct factor *g = scaling_of(s)->divided->factor;
    symp node = node_cell(c, s), value = sym_param(c, intern(c, "value_"));
    text_printf(out,
                "struct opposite_%s {\n    struct gbm_scaling k;\n    const "
                "struct state *s;\n    real now;\n    long long node;\n};\n"
                "GBM_INLINE real opposite_at_%s(const void *context, real t_)\n"
                "{\n    const struct opposite_%s *o_ = (const struct "
                "opposite_%s *)context;\n    const struct state *s = o_->s;\n",
                n, n, n, n);
    struct emitter e = emitter_new(c, out);
    emit_node(&e, s, "o_->node");
    emit_line(&e, "const real grown_ = real_exp(t_);");
    sampler_emit_value(&e, "o_->now", -1);
    sampler_emit_ends(&e, g, node, value);
    emit_line(&e, "gbm_total total = gbm_scale_density(&o_->k, t_);");
    emit_line(&e, "total += %s;",
              emit_expr(&e, sampler_line_density(
                                c, sym_replace(c, g->logp, node, value), value,
                                NULL, g, -1)));
    emit_line(&e, "return (real)total;");
    text_append(out, "}\n\n");
}

/* Each node in turn: the prior of its effects, the slice, the move. */
static void emit_opposite_update(struct compiler *c, struct text *out,
                                 const struct step *s)
{
    const char *n = s->name;
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_line(&e, "for (long long node = 0; node < %s; node++) {",
              node_count(&e, s));
    e.indent++;
    emit_line(&e, "real *const tuning = s->%s + node * GBM_CARRIED_CELLS;",
              scaling_of(s)->tuning->member);
    emit_node(&e, s, "node");
    sampler_emit_carried_pays(&e, node_cell(c, s), true, true, "continue;");
    emit_line(&e,
              "const struct opposite_%s o = {line_%s(s, team, 0, node), s, %s, "
              "node};",
              n, n, emit_expr(&e, node_cell(c, s)));
    emit_line(&e, "if (!gbm_scale_moves(&o.k))");
    emit_line(&e, "    continue;");
    emit_line(&e,
              "const real by = gbm_scale_slice(rng, &o.k, opposite_at_%s, &o);",
              n);
    emit_line(&e, "const bool moves = by > 0 && by < GBM_HUGE && by != 1;");
    emit_line(&e, "if (moves)");
    emit_line(&e, "    multiply_%s(s, team, by, node);", n);
    emit_line(&e, "if (team->lane == 0)");
    emit_line(&e, "    gbm_carried_learn(tuning, adapting, "
                  "real_log(real_fabs(o.now)), moves ? -real_log(by) : 0);");
    emit_close(&e, 1);
    text_append(out, "}\n\n");
}

/* A node of several cells has so many. */
static symp cells_of(struct compiler *c, const struct family *f)
{
    symp n = sym_num(c, 1);
    for (int i = 0; i < f->nslices; i++)
        n = sym_mul2(c, n, family_extent(c, f, i));
    return n;
}

/* The number of the element whose loops are open. */
static const char *element_number(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    symp number = sym_num(c, 0);
    for (int i = 0; i < f->nloops; i++) {
        const struct loop *l = f->loops[i];
        number =
            sym_add2(c, sym_mul2(c, number, sym_length(c, l->lower, l->upper)),
                     sym_sub(c, sym_loop(c, f->loops[i]), l->lower));
    }
    return emit_int(e, number);
}

/* The coefficient of number^power, with residual_ in the place of what a
 * draw has left. */
static symp coefficient(struct compiler *c, const struct scale_term *t,
                        int power)
{
    if (!t->latent || !t->latent->scaled.residual)
        return condition_scaled_coefficient(c, &t->terms, power);
    struct scaled_terms terms = t->terms;
    symp cell =
        sym_ref(c, t->family->var, t->family->var->ndim, t->family->lower);
    terms.squares[t->square].along = sym_add2(
        c, sym_mul2(c, sym_num(c, t->latent->scaled.residual->own), cell),
        sym_param(c, intern(c, "residual_")));
    return condition_scaled_coefficient(c, &terms, power);
}

/* residual_, as the draw has left it or computed again. */
static void emit_residual(struct emitter *e, const struct scale_term *t)
{
    struct compiler *c = e->c;
    const struct residual *r = t->latent ? t->latent->scaled.residual : NULL;
    if (!r)
        return;
    symp cell =
        sym_ref(c, t->family->var, t->family->var->ndim, t->family->lower);
    emit_line(e, "real residual_;");
    emit_line(e, "if (left)");
    emit_line(e, "    residual_ = s->%s[%s];", r->slot->member,
              element_number(e, t->family));
    emit_line(e, "else {");
    e->indent++;
    emit_line(e, "residual_ = %s;",
              emit_expr(e, sym_sub(c, t->terms.squares[t->square].along,
                                   sym_mul2(c, sym_num(c, r->own), cell))));
    emit_close(e, 1);
    emit_param(e, intern(c, "residual_"), "residual_");
}

/* What an element adds, its loops being open. */
static void emit_element(struct emitter *e, const struct scale_term *t)
{
    struct compiler *c = e->c;
    const struct family *f = t->family;
    symp square = coefficient(c, t, 2), linear = coefficient(c, t, 1);
    emit_residual(e, t);
    const char *squares = emit_in_brackets(e, square);
    const char *lines = emit_in_brackets(e, linear);
    if (!f->nloops) { /* its sums are shared among the lanes */
        emit_line(e, "if (team->lane == 0) {");
        e->indent++;
    }
    emit_line(e, "k.count += %s;", emit_expr(e, cells_of(c, f)));
    if (!sym_is(square, 0))
        emit_line(e, "k.square -= 2 * %s;", squares);
    if (!sym_is(linear, 0))
        emit_line(e, "k.linear += %s;", lines);
    emit_close(e, f->nloops ? 0 : 1);
}

/* The loop that a node settles: its index, and the braces opened. */
static int open_tied(struct emitter *e, const struct scale_term *t)
{
    if (!t->tied)
        return 0;
    const char *value = emit_int(e, t->tied_to);
    const char *at = emit_loop_name(e, t->tied);
    emit_line(e, "const int %s = %s;", at, value);
    emit_line(e, "if (%s >= %s && %s <= %s) {", at, emit_int(e, t->tied->lower),
              at, emit_int(e, t->tied->upper));
    e->indent++;
    return 1;
}

static void emit_term(struct emitter *e, const struct scale_term *t)
{
    const int depth = e->nloops, nparams = e->nparams;
    emit_line(e, "/* %s */", t->family->factor->text);
    emit_line(e, "{");
    e->indent++;
    e->team = !t->family->nloops;
    int braces = open_tied(e, t);
    braces += emit_open_part(e, t->part, true);
    emit_element(e, t);
    emit_close(e, braces + 1);
    e->team = false;
    e->nloops = depth;
    e->nparams = nparams;
}

/* Cells that are data, elements of the model or not, do not move, and what is
 * read with them is no multiple. */
static void emit_held(struct emitter *e, const struct var *v)
{
    const char *n = v->cname, *cells = "1";
    for (int d = 0; d < v->ndim; d++)
        cells = intern_format(e->c, "%s * s->%s_n%d", cells, n, d + 1);
    if (v->role != ROLE_STOCHASTIC)
        return;
    emit_line(e, "k.held += s->%s_stride == 0;", n);
    emit_line(e, "if (s->%s_seen) {", n);
    e->indent++;
    emit_team_loop(e, "cell_", "0", cells);
    emit_line(e, "    k.held += s->%s_seen[cell_] == 1;", n);
    emit_line(e, "}");
    emit_close(e, 1);
}

/* line_: the log density along the line, from what draws have `left` if it is
 * there. */
static void emit_line_of(struct compiler *c, struct text *out,
                         const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN struct gbm_scaling line_%s(const struct state *s, "
                "const struct gbm_team *team,\n    int left%s)\n{\n    "
                "struct gbm_scaling k = {0, 0, 0, 0, 0};\n",
                s->name, node_parameter(s));
    if (scaling_of(s)->divided)
        emit_node(&e, s, "node");
    for (const struct scale_term *t = scaling_of(s)->terms; t; t = t->next) {
        emit_term(&e, t);
        if (t->family == t->family->var->families)
            emit_held(&e, t->family->var);
    }
    emit_line(&e, "gbm_total sums[4] = {k.square, k.linear, k.count, k.held};");
    emit_line(&e, "gbm_team_sums(team, 4, sums);");
    emit_line(&e, "k.square = sums[0];");
    emit_line(&e, "k.linear = sums[1];");
    emit_line(&e, "k.count = sums[2];");
    emit_line(&e, "k.held = sums[3];");
    if (scaling_of(s)->divided) {
        const struct family *f = scaling_of(s)->divided;
        emit_line(&e, "k.count -= 1; /* what is divided */");
        emit_line(&e, "if (%s || %s == 0)",
                  emit_expr(&e, sym_seen(c, f->var, f->var->ndim, f->lower)),
                  emit_expr(&e, node_cell(c, s)));
        emit_line(&e, "    k.held = 1;");
    }
    emit_line(&e, "return k;");
    text_append(out, "}\n");
}

/* Opens the loops over the cells that move, the outermost shared among the
 * lanes; a single one is the first lane's. Returns the braces. */
static int open_cells(struct emitter *e, const struct scale_term *t, symp *cell)
{
    struct compiler *c = e->c;
    const struct family *f = t->family;
    int braces = open_tied(e, t);
    braces += emit_open_part(e, t->part, true);
    *cell = sym_ref(c, f->var, f->var->ndim, f->lower);
    if (f->nslices) {
        struct loop *l = NEW(c, struct loop);
        l->name = "row";
        symp at[1] = {sym_loop(c, l)};
        const char *extent = emit_int(e, family_extent(c, f, 0));
        const char *name = emit_loop_name(e, l);
        if (f->nloops)
            emit_line(e, "for (int %s = 1; %s <= %s; %s++) {", name, name,
                      extent, name);
        else
            emit_team_loop(e, name, "1", intern_format(c, "(%s) + 1", extent));
        *cell = family_lhs(c, f, 1, at);
    } else if (!f->nloops) {
        emit_line(e, "if (team->lane == 0) {");
    } else {
        return braces;
    }
    e->indent++;
    return braces + 1;
}

/* A statement for each cell that moves: $. */
static void for_each_cell(struct emitter *e, const struct step *s,
                          const char *statement)
{
    for (const struct scale_term *t = scaling_of(s)->terms; t; t = t->next) {
        const int depth = e->nloops;
        symp cell;
        emit_line(e, "{");
        e->indent++;
        const int braces = open_cells(e, t, &cell);
        emit_filled(e, statement, emit_expr(e, cell), "");
        emit_close(e, braces + 1);
        e->nloops = depth;
    }
}

static void emit_multiply(struct compiler *c, struct text *out,
                          const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void multiply_%s(const struct state *s, const struct "
                "gbm_team *team, real by%s)\n{\n    gbm_team_sync(team);\n",
                s->name, node_parameter(s));
    if (scaling_of(s)->divided)
        emit_node(&e, s, "node");
    for_each_cell(&e, s, "$ *= by;");
    if (scaling_of(s)->divided) {
        emit_line(&e, "if (team->lane == 0)");
        emit_line(&e, "    %s /= by;", emit_expr(&e, node_cell(c, s)));
    }
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct slot *number = scaling_of(s)->number;
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_line(&e, "const struct gbm_scaling k = line_%s(s, team, 1);", s->name);
    emit_line(&e, "real by = 1;");
    emit_line(&e, "if (gbm_scale_moves(&k))");
    emit_line(&e, "    by = gbm_scale_%s(rng, &k);",
              scaling_of(s)->linear ? "search" : "draw");
    emit_line(&e, "if (by > 0 && by < GBM_HUGE && by != 1)");
    emit_line(&e, "    multiply_%s(s, team, by);", s->name);
    if (number) {
        emit_line(&e, "else");
        emit_line(&e, "    by = 1;");
        emit_line(&e, "s->%s[0] = by; /* each lane the same */",
                  number->member);
        emit_line(&e, "gbm_team_sync(team);");
    }
    text_append(out, "}\n\n");
}

/* For the self-check the block is one coordinate, the logarithm of the length
 * of all that moves; far out, not beyond what numbers have room for. */
static void emit_access(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const char *n = s->name;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\n"
                "static double length_%s(const void *state)\n{\n    const "
                "struct state *s = (const struct state *)state;\n    const "
                "struct gbm_team *team = &gbm_alone;\n    double most = 0, "
                "total = 0;\n",
                n);
    for_each_cell(&e, s, "most = fmax(most, fabs((double)$));");
    for_each_cell(&e, s, "total += (double)$ / most * ((double)$ / most);");
    text_append(out, "    return log(most) + log(total) / 2;\n}\n");
    text_printf(out,
                "/* The logarithm of the factor to length exp(x). */\n"
                "static double factor_%s(const void *state, double x)\n{\n    "
                "return fmin(fmax(x, -300), 300) - length_%s(state);\n}\n",
                n, n);
    text_printf(
        out,
        "static int dimension_%s(const void *state, int64_t element)\n{\n    "
        "const struct gbm_scaling k = line_%s((const struct state *)state, "
        "&gbm_alone, 0);\n    return "
        "gbm_scale_moves(&k);\n}\n"
        "static void get_%s(const void *state, int64_t element, double *x)\n"
        "{\n    *x = length_%s(state);\n}\n"
        "static void set_%s(const void *state, int64_t element, const double "
        "*x)\n{\n    multiply_%s((const struct state "
        "*)state, &gbm_alone, (real)exp(factor_%s(state, *x)));\n}\n"
        "static double conditional_%s(const void *state, int64_t element, "
        "const double *x)\n{\n    struct gbm_scaling k = line_%s((const struct "
        "state *)state, &gbm_alone, 0);\n    k.count = 0; "
        "/* the density of what moves, not of the number */\n    return "
        "(double)gbm_scale_density(&k, (real)factor_%s(state, *x));\n}\n",
        n, n, n, n, n, n, n, n, n, n);
    if (scaling_of(s)->number)
        text_printf(out,
                    "static int64_t tuning_%s(const void *state)\n{\n"
                    "    return 1;\n}\n",
                    n);
    text_append(out, "#endif\n\n");
}

/* A function of the table that looks at each node; reads_x: at its place. */
struct opposite_function {
    const char *head, *before, *each, *after;
    bool reads_x;
};

static void emit_opposite_function(struct text *out, const char *name,
                                   const char *count,
                                   const struct opposite_function *f)
{
    struct text body = {0};
    text_printf(&body, f->each, name);
    text_printf(out, f->head, name);
    text_printf(out,
                "    const struct state *s = (const struct state *)state;\n"
                "    const int count = (int)(%s);\n"
                "    %s\n"
                "    for (int node = 0; node < count; node++) {\n"
                "        struct opposite_%s o = opposite_of_%s(s, node);\n"
                "        if (!gbm_scale_moves(&o.k))\n"
                "            continue;\n",
                count, f->before, name, name);
    if (f->reads_x)
        text_append(out, "        const double number =\n            "
                         "fmin(fmax(log(fabs((double)o.now)) - x[node], -300), "
                         "300);\n");
    text_printf(out, "        %s\n    }\n    %s\n}\n", body.data, f->after);
    text_free(&body);
}

/* What emit_access() writes, of a node that is divided, and of each of a plate:
 * the coordinates are the logarithms of the nodes' sizes; of one that does not
 * move 0. */
static void emit_opposite_access(struct compiler *c, struct text *out,
                                 const struct step *s)
{
    const char *n = s->name;
    struct emitter e = emitter_new(c, out);
    const char *count = node_count(&e, s);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic struct opposite_%s opposite_of_%s("
                "const struct state *s, long long node)\n{\n",
                n, n);
    emit_node(&e, s, "node");
    emit_line(&e,
              "struct opposite_%s o = {line_%s(s, &gbm_alone, 0, node), s, %s, "
              "node};",
              n, n, emit_expr(&e, node_cell(c, s)));
    emit_line(&e, "return o;");
    text_append(out, "}\n");
    static const struct opposite_function functions[] = {
        {"static int dimension_%s(const void *state, int64_t element)\n{\n",
         "int moves = 0;", "moves = 1;", "return moves ? count : 0;", false},
        {"static void get_%s(const void *state, int64_t element, double *x)"
         "\n{\n",
         "for (int i = 0; i < count; i++)\n        x[i] = 0;",
         "x[node] = log(fabs((double)o.now));", "", false},
        {"static void set_%s(const void *state, int64_t element, const double "
         "*x)\n{\n",
         "", "multiply_%s(s, &gbm_alone, (real)exp(number), node);", "", true},
        {"static double conditional_%s(const void *state, int64_t element, "
         "const double *x)\n{\n",
         "double total = 0;",
         "o.k.count = 0; /* the density of what moves, not of the number */\n"
         "        total += (double)opposite_at_%s(&o, (real)number);",
         "return total;", true},
    };
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        emit_opposite_function(out, n, count, &functions[k]);
    text_printf(out,
                "static int64_t tuning_%s(const void *state)\n{\n"
                "    const struct state *s = (const struct state *)state;\n"
                "    return (%s) * GBM_CARRIED_CELLS;\n}\n#endif\n\n",
                n, count);
}

void sampler_emit_scale(struct compiler *c, struct text *out, struct step *s)
{
    const bool divided = scaling_of(s)->divided;
    sampler_emit_group_comment(c, out, s,
                               divided ? "Multiplied by one number, the last "
                                         "divided by it"
                                       : "Multiplied by one number");
    emit_line_of(c, out, s);
    emit_multiply(c, out, s);
    if (divided) {
        emit_opposite(c, out, s);
        emit_opposite_update(c, out, s);
        emit_opposite_access(c, out, s);
    } else {
        emit_update(c, out, s);
        emit_access(c, out, s);
    }
}
