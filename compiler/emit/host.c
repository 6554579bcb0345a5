/* host.c: the host's file: the shared program, the functions that only
 * the host has, the tables of runtime/model.h, and the device's text. */
#include "emit/emit.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static void emit_string(struct text *out, const char *s)
{
    text_append(out, "\"");
    for (; s && *s; s++) {
        if (*s == '\n')
            text_append(out, s[1] ? "\\n\"\n\"" : "\\n");
        else
            text_escape(out, (unsigned char)*s);
    }
    text_append(out, "\"");
}

static const char *role_constant(enum role r)
{
    switch (r) {
    case ROLE_GIVEN:
        return "GBM_GIVEN";
    case ROLE_CONSTANT:
        return "GBM_CONSTANT";
    case ROLE_STOCHASTIC:
        return "GBM_STOCHASTIC";
    case ROLE_DERIVED:
        return "GBM_DERIVED";
    case ROLE_AUXILIARY:
        return "GBM_AUXILIARY";
    }
    UNREACHABLE();
}

/* ---- slots
 * -------------------------------------------------------------------- */

/* A variable's role, or what else a slot is. */
static const char *role_of(const struct slot *slot)
{
    switch (slot->kind) {
    case SLOT_VARIABLE:
        return role_constant(slot->var->role);
    case SLOT_TABLE:
        return "GBM_TABLE";
    case SLOT_TUNING:
        return "GBM_TUNING";
    case SLOT_JOINT:
        return "GBM_JOINT";
    case SLOT_ORDER:
        return "GBM_ORDER";
    case SLOT_INVERSE:
        return "GBM_INVERSE";
    }
    UNREACHABLE();
}

static void emit_declared(struct text *out, struct compiler *c,
                          const struct var *v)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static void declared_%s(const void *state, int *out)\n{\n"
                "    const struct state *s = (const struct state *)state;\n"
                "    (void)s;\n",
                v->cname);
    for (int d = 0; d < v->ndim; d++)
        emit_line(&e, "out[%d] = %s;", d,
                  v->declared[d] ? emit_int(&e, v->declared[d]) : "0");
    text_append(out, "}\n\n");
}

static void emit_names(struct text *out, const struct var *v)
{
    text_printf(out, "static const char *const names_%s[] = {\n", v->cname);
    for (int i = 0; i < v->gathered->n; i++)
        text_printf(out, "    \"%s\",\n", v->gathered->names[i]);
    text_append(out, "    0};\n\n");
}

static bool is_declared(const struct var *v)
{
    for (int d = 0; d < v->ndim; d++)
        if (v->declared[d])
            return true;
    return false;
}

static void emit_variable(struct text *out, const struct var *v)
{
    bool observed = v->declared_observed || v->supplied ||
                    (v->unread && v->role == ROLE_STOCHASTIC);
    text_printf(out, ", .observed = %d, .needed = %d, .maintained = %d",
                observed,
                (v->role == ROLE_GIVEN && v->used && !v->whole) || v->supplied,
                v->stored);
    if (v->gathered)
        text_printf(out, ", .names = names_%s", v->cname);
    if (v->hidden)
        text_append(out, ", .hidden = 1");
    if (v->barren)
        text_append(out, ", .barren = 1");
    if (is_declared(v))
        text_printf(out, ", .declared = declared_%s", v->cname);
    if (v->given)
        text_append(out, ", .filled = 1");
    if (v->whole)
        text_printf(out, ", .part = 1, .whole = %d", v->whole->slot->number);
    if (v->rest_of)
        text_printf(out, ", .rest = 1, .whole = %d", v->rest_of->slot->number);
    if (v->slope_of)
        text_printf(out, ", .slope = 1, .whole = %d",
                    v->slope_of->slot->number);
}

/* The table of slots, and the order in which they are loaded. */
static void emit_slots(struct text *out, struct compiler *c,
                       const struct model *m)
{
    for (const struct var *v = m->vars; v; v = v->next) {
        if (is_declared(v))
            emit_declared(out, c, v);
        if (v->gathered)
            emit_names(out, v);
    }
    text_append(out, "static const struct gbm_variable variables[] = {\n");
    for (const struct slot *k = m->slots; k; k = k->next) {
        const struct var *v = k->var;
        struct span at = {0};
        if (v)
            at = v->families ? v->families->span : v->span;
        text_printf(out,
                    "    {.name = \"%s\", .where = \"%s\", .role = %s, "
                    ".integer = %d, .ndim = %d",
                    k->name, v ? in_string(c, span_text(c, at)) : "",
                    role_of(k), k->integer, k->ndim);
        if (v)
            emit_variable(out, v);
        else
            text_printf(out, ", .family = %d",
                        k->family ? k->family->number : -1);
        if (k->counted)
            text_printf(out, ", .cells = tuning_%s", k->step->name);
        text_append(out, "},\n");
    }
    text_append(out, "    {.name = 0}};\n\n");
}

static void emit_load_order(struct text *out, const struct model *m)
{
    text_append(out, "static const int load_order[] = {");
    for (int i = 0; i < m->nslots; i++)
        text_printf(out, "%s%d", i ? ", " : "", m->load_order[i]->number);
    text_append(out, "};\n\n");
}

/* Fills a struct state. */
static void emit_bind(struct text *out, const struct model *m)
{
    text_append(out,
                "static void bind_state(void *state, const struct gbm_binding "
                "*b)\n{\n    struct state *s = (struct state *)state;\n    "
                "(void)b;\n    (void)s;\n");
    for (const struct slot *k = m->slots; k; k = k->next) {
        text_printf(out, "    s->%s = (%s *)b[%d].values;\n", k->member,
                    k->integer ? "int" : "real", k->number);
        for (int d = 0; d < k->extents; d++)
            text_printf(out, "    s->%s_n%d = b[%d].dim[%d];\n", k->member,
                        d + 1, k->number, d);
        if (k->seen)
            text_printf(out, "    s->%s_seen = b[%d].seen;\n", k->member,
                        k->number);
        if (k->per_chain)
            text_printf(out, "    s->%s_stride = b[%d].stride;\n", k->member,
                        k->number);
    }
    text_append(out, "}\nstatic void shift(void *state, int chain)\n{\n    "
                     "shift_state((struct state *)state, chain);\n}\n\n");
}

/* ---- families
 * -------------------------------------------------------------------- */

/* Whether two elements may define one cell, which is asked at load. */
static bool may_repeat(struct compiler *c, const struct family *f)
{
    return f->next_of_var || f->var->families != f || !family_plain(c, f);
}

/* NULL: GBM_SUPPORT_ANY. */
static const char *support_constant(const struct family *f)
{
    static const struct {
        const char *name, *constant;
    } table[] = {{"simplex", "GBM_SUPPORT_SIMPLEX"},
                 {"counts", "GBM_SUPPORT_COUNTS"},
                 {"positive_definite", "GBM_SUPPORT_MATRIX"},
                 {"correlation_cholesky", "GBM_SUPPORT_CORRELATION"},
                 {"set", "GBM_SUPPORT_OTHER"}};
    const struct expr *support = f->stochastic && !f->auxiliary
                                     ? entry_value(f->distribution, "support")
                                     : NULL;
    for (size_t i = 0; support && i < sizeof table / sizeof *table; i++)
        if (!strcmp(support->name, table[i].name))
            return table[i].constant;
    return NULL;
}

static void emit_families(struct text *out, struct compiler *c,
                          const struct model *m)
{
    for (const struct family *f = m->families; f; f = f->next) {
        if (f->stochastic && f->factor && !f->auxiliary)
            emit_violation(c, out, f);
        if (has_parents(f))
            emit_parents(c, out, f);
    }
    text_append(out, "static const struct gbm_family families[] = {\n");
    for (const struct family *f = m->families; f; f = f->next) {
        const char *id = family_id(c, f);
        text_printf(
            out, "    {.variable = %d,\n     .text = ", f->var->slot->number);
        emit_string(out, f->text);
        text_printf(out,
                    ",\n     .where = \"%s\",\n     .stochastic = %d, "
                    ".data_block = %d, .auxiliary = %d, .augmented = %d,\n"
                    "     .nloops = %d, .table = %d,\n     .enumerate = "
                    "enumerate_%s,\n     .subscripts = subscripts_%s,\n"
                    "     .cells = cells_%s,\n     .check = check_%s",
                    in_string(c, span_text(c, f->span)), f->stochastic,
                    f->data_block || fixed_part(f), f->auxiliary,
                    f->factor && f->factor->replaced, f->nloops,
                    f->table ? f->table->number : -1, id, id, id, id);
        if (f->stochastic && f->factor)
            text_printf(out,
                        ",\n     .logdensity = logdensity_%s_host, "
                        ".density_kernel = \"logdensity_%s_kernel\"",
                        id, id);
        if (f->stochastic)
            text_printf(out, ",\n     .start = start_%s", id);
        if (f->stochastic && f->factor && !f->auxiliary)
            text_printf(out, ",\n     .violation = violation_%s", id);
        if (has_parents(f))
            text_printf(out, ",\n     .parents = parents_%s", id);
        if (support_constant(f))
            text_printf(out, ",\n     .support = %s", support_constant(f));
        if (has_settle(c, f))
            text_printf(out,
                        ",\n     .settle = settle_%s, .summands = summands_%s",
                        id, id);
        if (f->stochastic && !f->auxiliary)
            text_printf(out, ",\n     .simulate = simulate_%s_host", id);
        if (f->stochastic && !f->auxiliary && !can_be_drawn(f))
            text_append(out, ", .no_draw = true");
        if (!f->stochastic)
            text_printf(out,
                        ",\n     .derive = derive_%s_host, .derive_kernel = "
                        "\"%s_%s_kernel\"",
                        id, f->sequence ? "refresh" : "derive", id);
        if (f->sequence)
            text_printf(out, ",\n     .refresh = refresh_%s_host", id);
        if (f->var->leaf && f->stochastic && !f->auxiliary)
            text_append(out, ",\n     .leaf = true");
        if (f->var->barren && f->stochastic)
            text_printf(out, ",\n     .barren = %d",
                        f->unit == BARREN_TOGETHER ? 2 + f->together->number
                                                   : 1);
        if (may_repeat(c, f))
            text_printf(out, ",\n     .repeats = %d", f->data_block ? 2 : 1);
        if (f->recursive)
            text_append(out, ",\n     .recursive = true");
        text_append(out, "},\n");
    }
    text_append(out, "};\n\n");
}

/* ---- steps
 * ----------------------------------------------------------------------- */

static const char *sampler_name(struct compiler *c, const struct step *s)
{
    switch (s->method) {
    case METHOD_DIRECT:
        return intern_format(c, "%s%s", s->bounded ? "truncated " : "",
                             method_name(s));
    case METHOD_FORWARD:
    case METHOD_STATED:
        return intern_format(c, "%s draw", method_name(s));
    case METHOD_DERIVE:
        return "derived";
    case METHOD_NONE:
        return "";
    default:
        return method_name(s);
    }
}

static const char *step_variables(struct compiler *c, const struct step *s)
{
    if (!s->nmembers)
        return s->family ? s->family->var->name : s->inverse->var->name;
    struct text t = {0};
    for (int i = 0; i < s->nmembers; i++)
        text_printf(&t, "%s%s", i ? ", " : "", s->members[i].family->var->name);
    return take_text(c, &t);
}

/* Element numbers of a step's family that an instance ties together. */
static void emit_conflict(struct text *out, struct compiler *c,
                          const struct step *s, const struct conflict *k,
                          int number)
{
    const struct family *f = s->family;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static int tied_%s_%d(const void *state, int64_t element, "
                "int64_t *out, int capacity)\n{\n    const struct state *s = "
                "(const struct state *)state;\n    (void)s;\n    "
                "(void)capacity;\n    int count = 0;\n",
                s->name, number);
    emit_decode(&e, k->factor->family, "element");
    for (int i = 0; i < e.nloops; i++)
        emit_line(&e, "(void)%s;", e.loops[i].name);
    for (int r = 0; r < k->nreferences; r++) {
        symp value[16] = {NULL};
        symp match = sym_num(c, 1), at = sym_num(c, 0);
        for (int d = 0; d < f->var->ndim; d++) {
            symp offset;
            const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
            bool own = false;
            for (int i = 0; l && i < f->nloops; i++)
                if (f->loops[i] == l) {
                    value[i] = sym_sub(c, k->references[r]->args[d], offset);
                    own = true;
                }
            if (!own)
                match =
                    sym_and(c, match,
                            sym_eq(c, k->references[r]->args[d], f->lower[d]));
        }
        for (int i = 0; i < f->nloops; i++) {
            symp low = f->loops[i]->lower, high = f->loops[i]->upper;
            match = sym_and(c, match,
                            sym_call(c, ">=", 2, (symp[]){value[i], low}));
            match = sym_and(c, match,
                            sym_call(c, "<=", 2, (symp[]){value[i], high}));
            symp extent =
                sym_add(c, 3, (symp[]){high, sym_neg(c, low), sym_num(c, 1)});
            at =
                sym_add2(c, sym_mul2(c, at, extent), sym_sub(c, value[i], low));
        }
        int depth = e.nloops;
        for (int b = 0; b < k->nbound[r]; b++) {
            const char *lower = emit_int(&e, k->bound[r][b]->lower);
            const char *upper = emit_int(&e, k->bound[r][b]->upper);
            const char *name = emit_loop_name(&e, k->bound[r][b]);
            emit_line(&e, "for (int %s = %s; %s <= %s; %s++) {", name, lower,
                      name, upper, name);
            e.indent++;
        }
        emit_line(&e, "if (%s) {", emit_expr(&e, match));
        emit_line(&e, "    if (count < capacity)");
        emit_line(&e, "        out[count] = %s;", emit_int(&e, at));
        emit_line(&e, "    count++;");
        emit_line(&e, "}");
        emit_close(&e, k->nbound[r]);
        e.nloops = depth;
    }
    text_append(out, "    return count;\n}\n\n");
}

static void emit_scalar_checks(struct text *out, struct compiler *c,
                               const struct step *s)
{
    const char *id = family_id(c, s->family);
    struct emitter e = emitter_new(c, out);
    const struct family *f = s->family;
    text_printf(out,
                "static int dimension_%s(const void *state, int64_t element)\n"
                "{\n    (void)state;\n    (void)element;\n    return 1;\n}\n",
                id);
    text_printf(out,
                "static void get_%s_cell(const struct state *s, int64_t "
                "element, real **cell_, int **count_)\n{\n    (void)element;\n"
                "    (void)cell_;\n    (void)count_;\n",
                id);
    if (f->nloops)
        emit_decode(&e, f, "element");
    symp ref = sym_ref(c, f->var, f->var->ndim, f->lower);
    emit_line(&e, "*%s = &%s;", f->var->integer ? "count_" : "cell_",
              emit_expr(&e, ref));
    text_append(out, "}\n");
    text_printf(out,
                "static void get_%s(const void *state, int64_t element, "
                "double *x)\n{\n    real *cell = 0;\n    int *count = 0;\n"
                "    get_%s_cell((const struct state *)state, element, &cell, "
                "&count);\n    *x = cell ? (double)*cell : *count;\n}\n"
                "static void set_%s(const void *state, int64_t element, const "
                "double *x)\n{\n    real *cell = 0;\n    int *count = 0;\n"
                "    get_%s_cell((const struct state *)state, element, &cell, "
                "&count);\n    if (cell)\n        *cell = (real)*x;\n    else\n"
                "        *count = (int)*x;\n}\n",
                id, id, id, id);
    text_printf(out,
                "static double conditional_%s_at(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n    struct conditional_%s k_;\n"
                "    double before, value = -GBM_INF;\n",
                id, id);
    if (step_has_columns(s))
        text_printf(out, "    GBM_COLUMNS(k_, room_%s(&k_, s, element));\n",
                    id);
    text_printf(out,
                "    prepare_%s(&k_, s, &gbm_alone, element);\n    "
                "get_%s(state, element, &before);\n    "
                "if (*x >= k_.lower && *x <= k_.upper)\n        "
                "value = (double)density_%s(&k_, (real)*x);\n    "
                "set_%s(state, element, &before);\n",
                id, id, id, id);
    if (step_has_columns(s))
        text_append(out, "    GBM_COLUMNS_END(k_);\n");
    text_append(out, "    return value;\n}\n\n");
}

static bool is_scalar_step(const struct step *s)
{
    return s->method == METHOD_DIRECT || s->method == METHOD_ENUMERATE ||
           s->method == METHOD_SLICE || s->method == METHOD_SLICE_INTEGER ||
           s->method == METHOD_WALK ||
           (s->method == METHOD_ELLIPTICAL && !s->whole && !s->family->nslices);
}

/* Terms of the sums inside an expression, as far as they are the same for all
 * elements. */
static symp sum_terms(struct compiler *c, symp e)
{
    symp total = sym_num(c, 0);
    if (e->kind == SYM_SUM && !sym_has_any_loop(e->args[0]) &&
        !sym_has_any_loop(e->args[1]))
        total = sym_add(
            c, 3, (symp[]){e->args[1], sym_neg(c, e->args[0]), sym_num(c, 1)});
    for (int i = 0; i < e->nargs; i++)
        total = sym_add2(c, total, sum_terms(c, e->args[i]));
    return total;
}

/* About how many terms an element's sums have. */
static bool emit_cost(struct text *out, struct compiler *c,
                      const struct step *s)
{
    symp total = sym_num(c, 0);
    for (const struct part *p = s->parts; p; p = p->next) {
        symp n = sym_num(c, 1);
        bool loops = false;
        for (int i = 0; i < p->nloops && !p->own; i++) {
            if (p->solved[i] && !p->inverse)
                continue;
            symp extent = sym_add(c, 3,
                                  (symp[]){p->loops[i]->upper,
                                           sym_neg(c, p->loops[i]->lower),
                                           sym_num(c, 1)});
            bool open = false;
            for (int j = 0; j < p->nloops; j++)
                open = open || sym_has_loop(extent, p->loops[j]);
            for (int j = 0; s->family && j < s->family->nloops; j++)
                open = open || sym_has_loop(extent, s->family->loops[j]);
            if (open)
                continue;
            n = sym_mul2(c, n, extent);
            loops = true;
        }
        if (p->inverse && s->family && s->family->var->ndim)
            n = sym_div(c, n, sym_extent(c, s->family->var, 0));
        if (loops)
            total = sym_add2(c, total, n);
        for (int i = 0; !loops && !p->opaque && i < p->terms.n; i++)
            total = sym_add2(c, total, sum_terms(c, p->terms.coefficient[i]));
    }
    if (total->kind == SYM_NUM)
        return false;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static int64_t cost_%s(const void *state)\n{\n    const "
                "struct state *s = (const struct state *)state;\n    "
                "(void)s;\n",
                s->name);
    const char *value = emit_expr(&e, total);
    emit_line(&e, "return (int64_t)(%s);", value);
    text_append(out, "}\n\n");
    return true;
}

static void emit_dense_table(struct text *out, struct compiler *c,
                             const struct step *s)
{
    text_printf(out, "static const struct gbm_dense_term terms_%s[] = {\n",
                s->name);
    int n = 0;
    for (const struct quadratic *q = s->quadratics; q; q = q->next) {
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
            ".design_kernel = \"design_%s_%d_kernel\"},\n",
            q->part->factor->family->number,
            q->matrix ? q->matrix->slot->number : -1, q->constant_design,
            q->constant_weight, q->constant_score, s->name, k, s->name, k,
            s->name, k, s->name, k);
    }
    text_printf(out,
                "};\nstatic const struct gbm_dense dense_%s = {\n"
                "    .dimension = dimension_%s,\n    .get = "
                "get_%s_host,\n    .set = set_%s_host,\n    .fixed = "
                "fixed_%s,\n",
                s->name, s->name, s->name, s->name, s->name);
    if (s->coupled_prior)
        text_printf(out, "    .prior_matrix = prior_%s_host,\n", s->name);
    else
        text_printf(out, "    .prior = prior_%s_host,\n", s->name);
    text_printf(out,
                "    .prior_kernel = \"prior_%s_kernel\",\n    .get_kernel = "
                "\"get_%s_kernel\",\n    .set_kernel = \"set_%s_kernel\",\n"
                "    .nterms = %d,\n    .terms = terms_%s,\n};\n\n",
                s->name, s->name, s->name, n, s->name);
    (void)c;
}

static void emit_run(struct text *out, const struct step *s)
{
    text_printf(out, "GBM_HOST_RUN(%s, %d, %d, %s)\n", s->name, s->number,
                s->blocks, s->first_draw);
}

static void emit_steps(struct text *out, struct compiler *c,
                       const struct model *m)
{
    bool *cost = NEW_ARRAY(c, bool, m->nsteps);
    bool *checked = NEW_ARRAY(c, bool, m->nsteps);
    for (const struct step *s = m->steps; s; s = s->next) {
        if (s->method == METHOD_INDEX || s->method == METHOD_DERIVE)
            continue;
        if (is_scalar_step(s))
            emit_scalar_checks(out, c, s);
        if (s->method == METHOD_JOINT) {
            emit_joint_table(c, out, s);
            emit_run(out, s);
            cost[s->number] = true;
            continue;
        }
        if (s->method == METHOD_PAIR)
            checked[s->number] = emit_pair_checks(c, out, s);
        cost[s->number] = emit_cost(out, c, s);
        if (s->method == METHOD_DENSE) {
            emit_dense_table(out, c, s);
            continue;
        }
        emit_run(out, s);
        int n = 0;
        for (const struct conflict *k = s->conflicts; k; k = k->next)
            emit_conflict(out, c, s, k, n++);
        if (n) {
            text_printf(out, "static const struct gbm_conflict tied_%s[] = {",
                        s->name);
            n = 0;
            for (const struct conflict *k = s->conflicts; k; k = k->next)
                text_printf(out,
                            "%s{.family = %d, .elements = tied_%s_%d, "
                            ".capacity = %d}",
                            n ? ", " : "", k->factor->family->number, s->name,
                            n, k->sums ? 256 : k->nreferences),
                    n++;
            text_append(out, "};\n");
        }
        if ((s->nmembers > 1 && s->method != METHOD_PAIR) || s->whole) {
            text_printf(out, "static const int members_%s[] = {", s->name);
            for (int i = 0; i < s->nmembers; i++)
                text_printf(out, "%s%d", i ? ", " : "",
                            s->members[i].family->number);
            text_append(out, "};\n");
        }
    }
    text_append(out, "\nstatic const struct gbm_step steps[] = {\n");
    for (const struct step *s = m->steps; s; s = s->next) {
        static const char *const kinds[] = {"GBM_STEP_MAP", "GBM_STEP_DENSE",
                                            "GBM_STEP_INDEX",
                                            "GBM_STEP_DERIVE"};
        int kind = s->method == METHOD_DENSE    ? 1
                   : s->method == METHOD_INDEX  ? 2
                   : s->method == METHOD_DERIVE ? 3
                                                : 0;
        text_printf(
            out,
            "    {.kind = %s, .name = \"%s\",\n     .variable = "
            "\"%s\", .sampler = \"%s\",\n     .family = %d, .number = "
            "%d, .sequential = %d, .leaf = %d, .inverse = %d",
            kinds[kind], s->name, step_variables(c, s), sampler_name(c, s),
            s->family ? s->family->number : -1, s->number,
            (s->sequential && kind == 0) || (kind == 3 && s->family->recursive),
            s->late, s->inverse && kind == 2 ? s->inverse->number : -1);
        if (s->method == METHOD_ENUMERATE || s->method == METHOD_PAIR ||
            s->method == METHOD_CHAIN)
            text_append(out, ", .repairs = true");
        if (s->after)
            text_printf(out, ", .after = %d", s->after->number + 1);
        if (s->method == METHOD_PAIR)
            text_append(out, ", .every = true");
        if (s->method == METHOD_FORWARD && s->family->nslices && !s->rest)
            text_append(out, ", .undivided = true");
        text_append(out, ",\n     .text = ");
        emit_string(out, s->family ? s->family->text : "");
        int n = 0;
        for (const struct conflict *k = s->conflicts; k; k = k->next)
            n++;
        if (n && kind == 0 && !s->sequential)
            text_printf(out, ",\n     .nconflicts = %d, .conflicts = tied_%s",
                        n, s->name);
        if (s->method == METHOD_JOINT)
            text_printf(out, ",\n     .joint = &joint_%s", s->name);
        if (s->method == METHOD_CHAIN)
            text_printf(out, ", .first = first_%s", s->name);
        if (s->whole)
            text_append(out, ", .whole = true");
        if (((s->nmembers > 1 && s->method != METHOD_PAIR) || s->whole) &&
            s->method != METHOD_JOINT && kind == 0)
            text_printf(out, ",\n     .members = members_%s, .nmembers = %d",
                        s->name, s->nmembers);
        if (kind == 0)
            text_printf(out, ",\n     .run = %s_run", s->name);
        if (kind == 0 && s->blocks)
            text_printf(out, ", .blocks = %d, .normals = GBM_NORMALS_FIRST(%s)",
                        s->blocks, s->first_draw);
        if (kind == 1)
            text_printf(out, ",\n     .dense = &dense_%s", s->name);
        const char *id = s->family ? family_id(c, s->family) : "";
        if (checked[s->number])
            id = pair_id(s);
        if (checked[s->number] ||
            (is_scalar_step(s) && !(s->method == METHOD_DIRECT &&
                                    !entry_clause(s->recognised, "solve"))))
            text_printf(
                out,
                ",\n     .block_size = dimension_%s, .block_get = get_%s, "
                ".block_set = set_%s, .conditional = "
                "conditional_%s_at",
                id, id, id, id);
        if (s->method == METHOD_GAUSSIAN || s->method == METHOD_VECTOR ||
            s->method == METHOD_JOINT || s->method == METHOD_SLICE_VECTOR ||
            s->method == METHOD_ADAPTIVE || s->method == METHOD_CHAIN ||
            (s->method == METHOD_ELLIPTICAL && !is_scalar_step(s)))
            text_printf(
                out,
                ",\n     .block_size = dimension_%s, .block_get = get_%s, "
                ".block_set = set_%s, .conditional = conditional_%s",
                s->name, s->name, s->name, s->name);
        if (s->method == METHOD_JOINT)
            text_printf(out, ", .terms = size_%s", s->name);
        if (s->rescalings)
            text_printf(out, ", .scales = scales_%s", s->name);
        if (cost[s->number])
            text_printf(out, ",\n     .cost = cost_%s", s->name);
        text_append(out, "},\n");
    }
    text_append(out, "};\n\n");
}

static void emit_inverses(struct text *out, const struct model *m)
{
    text_append(out, "static const struct gbm_inverse inverses[] = {\n");
    for (const struct inverse *i = m->inverses; i; i = i->next) {
        text_printf(out,
                    "    {.variable = %d, .family = %d, .start = %d, .item = "
                    "%d, .latent = %d",
                    i->var->slot->number, i->factor->family->number,
                    i->start->number, i->item->number, i->latent);
        if (i->reach) {
            const struct inverse *first = m->inverses;
            while (first->reach != i->reach)
                first = first->next;
            int order = -1, k = 0;
            for (const struct sequence *q = m->sequences; q; q = q->next, k++)
                if (q == i->factor->family->sequence)
                    order = k;
            text_printf(out, ", .ways = ways_%d, .sequence = %d},\n",
                        first->number, order);
        } else {
            text_printf(out,
                        ", .cell = index%d_host, .cell_kernel = "
                        "\"index%d_kernel\"},\n",
                        i->number, i->number);
        }
    }
    text_append(out, "    {.variable = -1}};\n\n");
}

static int is_header(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 2 && !strcmp(d->d_name + n - 2, ".h") &&
           strcmp(d->d_name, "mock.h") != 0;
}

/* The library's device code, so that a sampler carries all that it needs. */
static int emit_headers(struct text *out, struct compiler *c)
{
    struct dirent **files;
    const char *folder = path_join(c, c->stdlib, "kernels");
    int n = scandir(folder, &files, is_header, alphasort);
    text_append(out, "static const struct gbm_header headers[] = {\n");
    int count = 0;
    for (int i = 0; i < n; i++) {
        FILE *f = fopen(path_join(c, folder, files[i]->d_name), "rb");
        if (f) {
            struct text t = {0};
            char line[4096];
            size_t k;
            while ((k = fread(line, 1, sizeof line - 1, f)) > 0) {
                line[k] = 0;
                text_append(&t, line);
            }
            fclose(f);
            text_printf(out, "{\"%s\",\n", in_string(c, files[i]->d_name));
            emit_string(out, t.data ? t.data : "");
            text_append(out, "},\n");
            text_free(&t);
            count++;
        }
        free(files[i]);
    }
    if (n >= 0)
        free(files);
    text_append(out, "{0, 0}};\n\n");
    return count;
}

void emit_host(struct text *out, struct compiler *c, struct model *m,
               const char *program, const char *explanation)
{
    text_append(out, "#include \"model.h\"\n\n");
    text_append(out, program);
    text_append(out, "\n/* ---- the host's tables ---- */\n\n");
    emit_slots(out, c, m);
    emit_bind(out, m);
    emit_load_order(out, m);
    emit_families(out, c, m);
    emit_reach_readers(c, out, m);
    emit_inverses(out, m);
    emit_sequences(c, out, m);
    bool readers, gaps;
    emit_readers(c, out, m, &readers, &gaps);
    emit_steps(out, c, m);
    int nheaders = emit_headers(out, c);
    int nfamilies = 0, nsequences = 0;
    for (const struct family *f = m->families; f; f = f->next)
        nfamilies++;
    for (const struct sequence *q = m->sequences; q; q = q->next)
        nsequences++;
    text_append(out, "static const char program_text[] =\n");
    emit_string(out, program);
    text_append(out, ";\n\nconst struct gbm_model gbm_model = {\n    .name = ");
    emit_string(out, m->name);
    text_append(out, ",\n    .source = ");
    emit_string(out, c->options.input);
    text_printf(out,
                ",\n    .version = \"" GBM_VERSION "\",\n    .state_size = "
                "sizeof(struct state),\n    .nvariables = %d,\n    .variables "
                "= variables,\n    .load_order = load_order,\n    .nfamilies "
                "= %d,\n    .families = families,\n    .ninverses = %d,\n    "
                ".inverses = inverses,\n    .nsequences = %d, "
                ".sequences = sequences,\n    .nsteps = %d,\n    .steps = "
                "steps,\n    .bind = bind_state,\n    .shift = shift,\n    "
                ".ahead = gbm_draw_ahead,\n    .explain = ",
                m->nslots, nfamilies, m->ninverses, nsequences, m->nsteps);
    emit_string(out, explanation);
    if (readers)
        text_append(out, ",\n    .readers = readers");
    if (gaps)
        text_append(out, ",\n    .gap_readers = gap_readers");
    text_printf(out,
                ",\n    .program = program_text,\n    .nheaders = %d,\n    "
                ".headers = headers,\n};\n",
                nheaders);
}
