/* host.c: the host's file: the shared program, the functions that only
 * the host has, the tables of runtime/model.h, and the device's text. */
#include "emit/emit.h"
#include <stdlib.h>
#include <string.h>

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
    case ROLE_POWER:
        return "GBM_POWER";
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
    case SLOT_RECALLED:
    case SLOT_MARKS:
        return "GBM_RECALLED";
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
                "    const struct state *s = (const struct state *)state;\n",
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

/* A table of what a step sets before any step reads the table. */
static bool waits_for_step(const struct model *m, const struct var *v)
{
    for (const struct family *f = m->families; f && v->hidden; f = f->next)
        if (f->set_by_step && f->var != v &&
            model_derived_depends(m, v, f->var))
            return true;
    return false;
}

static bool is_weights(const struct model *m, const struct var *v)
{
    for (const struct var *node = m->vars; node; node = node->next)
        if (node->weights == v)
            return true;
    return false;
}

static void emit_variable(struct text *out, struct compiler *c,
                          const struct model *m, const struct var *v)
{
    bool observed = v->declared_observed || v->supplied ||
                    (v->unread && v->role == ROLE_STOCHASTIC);
    text_printf(out, ", .observed = %d, .needed = %d, .maintained = %d",
                observed,
                (v->role == ROLE_GIVEN && v->used && !v->whole) || v->supplied,
                v->stored && !waits_for_step(m, v));
    if (v->gathered)
        text_printf(out, ", .names = names_%s", v->cname);
    if (v->hidden)
        text_append(out, ", .hidden = 1");
    if (is_weights(m, v))
        text_append(out, ", .stays = 1");
    if (v->stored && model_holds_inverses(c, v))
        text_append(out, ", .inverts = 1");
    if (v->barren)
        text_append(out, ", .barren = 1");
    if (!v->hidden && !v->gathered)
        emit_labels(out, v);
    if (is_declared(v))
        text_printf(out, ", .declared = declared_%s", v->cname);
    if (v->given)
        text_append(out, ", .filled = 1");
    if (v->whole)
        text_printf(out, ", .part = 1, .whole = %d", v->whole->slot->number);
    if (v->drawn)
        text_printf(out, ", .whole = %d", v->drawn->slot->number);
    if (v->weights)
        text_printf(out, ", .weights = %d, .total = %d",
                    v->weights->slot->number + 1, v->total->slot->number + 1);
    if (v->follows)
        text_append(out, ", .follows = 1");
    if (v->shapes)
        text_append(out, ", .shapes = 1");
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
                    k->name, v ? text_in_string(c, span_text(c, at)) : "",
                    role_of(k), k->integer, k->ndim);
        if (v)
            emit_variable(out, c, m, v);
        else
            text_printf(out, ", .family = %d",
                        k->family ? k->family->number : -1);
        if (k->counted)
            text_printf(out, ", .cells = %s%s", k->counted, k->step->name);
        if (k->few)
            text_append(out, ", .few = true");
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
                "*b)\n{\n    struct state *s = (struct state *)state;\n");
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
    } table[] = {
        {"simplex", "GBM_SUPPORT_SIMPLEX"},
        {"counts", "GBM_SUPPORT_COUNTS"},
        {"positive_definite", "GBM_SUPPORT_MATRIX"},
        {"correlation", "GBM_SUPPORT_CORRELATION"},
        {"correlation_cholesky", "GBM_SUPPORT_CORRELATION_UPPER"},
        {"correlation_cholesky_lower", "GBM_SUPPORT_CORRELATION_LOWER"},
        {"set", "GBM_SUPPORT_OTHER"}};
    const struct expr *support = f->stochastic && !f->auxiliary
                                     ? entry_value(f->distribution, "support")
                                     : NULL;
    for (size_t i = 0; support && i < sizeof table / sizeof *table; i++)
        if (!strcmp(support->name, table[i].name))
            return table[i].constant;
    return NULL;
}

static bool reads_latent(symp e) { return e && sym_reads_latent(e); }

/* Of a row of the table: what the family is, and its elements and cells. */
static void emit_family_elements(struct text *out, struct compiler *c,
                                 const struct family *f)
{
    const char *id = family_id(c, f);
    text_printf(out,
                "    {.variable = %d,\n     .text = ", f->var->slot->number);
    emit_string(out, f->text);
    text_printf(out,
                ",\n     .where = \"%s\",\n     .stochastic = %d, "
                ".data_block = %d, .auxiliary = %d, .augmented = %d,\n"
                "     .nloops = %d, .table = %d,\n     .enumerate = "
                "enumerate_%s,\n     .subscripts = subscripts_%s,\n"
                "     .cells = cells_%s,\n     .check = check_%s",
                text_in_string(c, span_text(c, f->span)), f->stochastic,
                f->data_block || sweep_fixed_part(f), f->auxiliary,
                f->factor && f->factor->replaced, f->nloops,
                f->table ? f->table->number : -1, id, id, id, id);
    if (sweep_fixed_part(f) && f->follows)
        text_append(out, ",\n     .follows = true");
}

/* Its density. */
static void emit_family_density(struct text *out, struct compiler *c,
                                const struct model *m, const struct family *f)
{
    const char *id = family_id(c, f);
    if (f->stochastic && f->factor)
        text_printf(out,
                    ",\n     .logdensity = logdensity_%s_host, "
                    ".density_kernel = \"logdensity_%s_kernel\"",
                    id, id);
    if (f->factor && f->factor->power && !f->auxiliary)
        text_append(out, ",\n     .raised = true");
    const struct step *recalled = emit_recalled_by(m, f);
    if (recalled)
        text_printf(
            out,
            ",\n     .recalled = recalled_likelihood_%s, .known_kernel = "
            "\"known_%s_kernel\", .known_by = %d",
            id, id, recalled->number);
    if (f->factor && f->factor->turn && !f->auxiliary)
        text_printf(out, ", .turn = turn_%s, .bounded = %d", id,
                    reads_latent(f->factor->lower) ||
                        reads_latent(f->factor->upper));
    if (f->stochastic)
        text_printf(out, ",\n     .start = start_%s_host", id);
    if (f->stochastic && f->factor && !f->auxiliary)
        text_printf(out, ",\n     .violation = violation_%s", id);
    if (emit_has_bounds(f))
        text_printf(out, ",\n     .bounds = bounds_%s_host", id);
}

/* How its elements may be settled: supports, forward draws, definitions. */
static void emit_family_values(struct text *out, struct compiler *c,
                               const struct family *f)
{
    const char *id = family_id(c, f);
    if (emit_has_categories(f))
        text_printf(out, ",\n     .categories = categories_%s", id);
    if (emit_has_counts(f))
        text_append(out, ",\n     .counts = true");
    if (emit_has_parents(f))
        text_printf(out, ",\n     .parents = parents_%s", id);
    if (emit_has_beyond(f))
        text_printf(out, ",\n     .beyond = beyond_%s", id);
    if (support_constant(f))
        text_printf(out, ",\n     .support = %s", support_constant(f));
    if (emit_has_settle(c, f))
        text_printf(out,
                    ",\n     .settle = settle_%s_host, .summands = summands_%s",
                    id, id);
    if (f->stochastic && !f->auxiliary)
        text_printf(out, ",\n     .simulate = simulate_%s_host", id);
    if (f->stochastic && !f->auxiliary && !model_can_be_drawn(f))
        text_append(out, ", .no_draw = true");
    if (f->censored)
        text_append(out, ", .censored = true");
    if (!f->stochastic)
        text_printf(out,
                    ",\n     .derive = %s_%s_host, .derive_kernel = "
                    "\"%s_kernel\"",
                    f->tally ? "refresh" : "derive", id,
                    sweep_derive_name(c, f));
    if (f->sequence || f->tally)
        text_printf(out, ",\n     .refresh = refresh_%s_host", id);
}

static void emit_family_flags(struct text *out, struct compiler *c,
                              const struct family *f)
{
    if (f->var->leaf && f->stochastic && !f->auxiliary)
        text_append(out, ",\n     .leaf = true");
    if (f->stochastic && !f->auxiliary &&
        entry_clause(f->distribution, "observable"))
        text_append(out, ",\n     .settled = true");
    if (f->stochastic && model_draws_integers(f) && !f->var->integer)
        text_append(out, ",\n     .whole = true");
    if (f->var->barren && f->stochastic)
        text_printf(out, ",\n     .barren = %d",
                    f->unit == BARREN_TOGETHER ? 2 + f->together->number : 1);
    if (may_repeat(c, f))
        text_printf(out, ",\n     .repeats = %d", f->data_block ? 2 : 1);
    if (f->recursive)
        text_append(out, ",\n     .recursive = true");
}

static void emit_families(struct text *out, struct compiler *c,
                          const struct model *m)
{
    for (const struct family *f = m->families; f; f = f->next) {
        if (f->stochastic && f->factor && !f->auxiliary)
            emit_violation(c, out, f);
        if (emit_has_categories(f))
            emit_categories(c, out, f);
        if (emit_has_parents(f))
            emit_parents(c, out, f);
        if (emit_has_beyond(f))
            emit_beyond(c, out, f);
        emit_recalled_likelihood(c, out, m, f);
    }
    text_append(out, "static const struct gbm_family families[] = {\n");
    for (const struct family *f = m->families; f; f = f->next) {
        emit_family_elements(out, c, f);
        emit_family_density(out, c, m, f);
        emit_family_values(out, c, f);
        if (c->options.with & WITH_GRADIENTS)
            emit_adjoint_row(c, out, f);
        emit_family_flags(out, c, f);
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
        if (i->device)
            text_append(out, ", .device = true");
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

/* The functions and tables that only the host has. */
static void emit_tables(struct text *out, struct compiler *c, struct model *m,
                        bool *readers, bool *gaps)
{
    text_append(out, "\n/* ---- the host's tables ---- */\n\n");
    emit_slots(out, c, m);
    emit_bind(out, m);
    emit_load_order(out, m);
    emit_families(out, c, m);
    emit_reach_readers(c, out, m);
    emit_inverses(out, m);
    emit_sequences(c, out, m);
    emit_family_work(out, c, m);
    emit_readers(c, out, m, readers, gaps);
    emit_steps(out, c, m);
    text_append(out, "GBM_HOST_AHEAD(gbm_draw_ahead)\n\n");
}

void emit_host(struct text *out, struct compiler *c, struct model *m,
               const char *program, const char *explanation)
{
    struct text tables = {0};
    bool readers, gaps;
    emit_tables(&tables, c, m, &readers, &gaps);
    text_append(out, "#include \"model.h\"\n\n");
    emit_headers(out, c, program, tables.data);
    text_append(out, program);
    text_append(out, tables.data);
    text_free(&tables);
    int nfamilies = 0, nsequences = 0;
    for (const struct family *f = m->families; f; f = f->next)
        nfamilies++;
    for (const struct sequence *q = m->sequences; q; q = q->next)
        nsequences++;
    text_append(out, "#if !defined GBM_PART || GBM_PART == 0\n"
                     "static const char program_text[] =\n");
    emit_string(out, program);
    text_append(out, ";\n\nconst struct gbm_model gbm_model = {\n    .name = ");
    emit_string(out, m->name);
    text_append(out, ",\n    .source = ");
    emit_string(out, c->options.input);
    text_printf(out,
                ",\n    .version = \"" GBM_VERSION "\",\n    .state_size = "
                "sizeof(struct state),\n    .nvariables = %d,\n    .variables "
                "= variables,\n    .load_order = load_order,\n    .nfamilies "
                "= %d,\n    .families = families,\n    .family_work = "
                "family_work,\n    .ninverses = %d,\n    "
                ".inverses = inverses,\n    .nsequences = %d, "
                ".sequences = sequences,\n    .nsteps = %d,\n    .steps = "
                "steps,\n    .bind = bind_state,\n    .shift = shift,\n    "
                ".ahead = gbm_draw_ahead_host,\n    .explain = ",
                m->nslots, nfamilies, m->ninverses, nsequences, m->nsteps);
    emit_string(out, explanation);
    if (c->options.with)
        text_printf(out, ",\n    .with = %u", c->options.with);
    if (c->options.with & WITH_POWERS && c->options.sequence)
        text_printf(out, ",\n    .sequence = \"%s\"", c->options.sequence);
    if (m->feeds_back)
        text_append(out, ",\n    .feeds_back = true");
    if (readers)
        text_append(out, ",\n    .readers = readers");
    if (gaps)
        text_append(out, ",\n    .gap_readers = gap_readers");
    text_append(out, ",\n    .program = program_text,\n    .headers = "
                     "gbm_headers,\n};\n#endif\n");
}
