/* joint_row_program.c: the functions of a term of a joint Gaussian block: which
 * cells an instance reads, with what coefficients, weight and score
 * (stdlib/kernels/joint.h). */
#include "sampler/group.h"
#include "sampler/joint.h"

static void open_instance(struct emitter *e, const struct factor *g)
{
    emit_decode(e, g->family, "element");
}

static int open_bounds(struct emitter *e, const struct joint_slot *slot)
{
    for (int b = 0; b < slot->nbound; b++)
        emit_open_loop(e, slot->bound[b], slot->lower[b], slot->upper[b]);
    return slot->nbound;
}

/* Whether the instance counts. */
static symp instance_counts(struct compiler *c, const struct factor *g)
{
    symp guard = g->guard ? g->guard : sym_num(c, 1);
    symp counted = model_counted_instances(g);
    return counted ? sym_and(c, guard, counted) : guard;
}

/* The reference's subscripts are within the variable. */
static const char *in_range(struct emitter *e, symp ref)
{
    struct text t = {0};
    for (int d = 0; d < ref->nargs; d++) {
        const char *at = emit_int(e, ref->args[d]);
        text_printf(&t, "%s(%s) >= 1 && (%s) <= s->%s_n%d", d ? " && " : "", at,
                    at, ref->var->cname, d + 1);
    }
    const char *text = intern(e->c, t.data ? t.data : "1");
    text_free(&t);
    return text;
}

/* The instance of a vector and the numbers of two of its cells. */
static void open_pair(struct emitter *e, const struct joint_term *t)
{
    struct family *f = sampler_pairs_of(t);
    const char *n = emit_int(e, family_extent(e->c, f, 0));
    emit_line(e, "const long long extent_ = %s;", n);
    emit_line(e, "const long long vector_ = element / (extent_ * extent_);");
    emit_decode(e, f, "vector_");
    for (int k = 0; k < 2; k++) {
        const char *name = emit_loop_name(e, t->pair[k]);
        emit_line(e, "const int %s = (int)(element %s%% extent_) + 1;", name,
                  k ? "" : "/ extent_ ");
    }
}

/* The instance of a row; of a vector node's density, and its component. */
static void open_row(struct emitter *e, const struct joint_term *t)
{
    if (!t->forms) {
        open_instance(e, t->factor);
        return;
    }
    open_pair(e, t);
}

static void emit_extent(struct compiler *c, struct text *out,
                        const struct step *s, const struct joint_term *t,
                        int number)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int extent_%s_%d(const void "
                "*state)\n{\n    const struct state *s = (const struct state "
                "*)state;\n",
                s->name, number);
    emit_line(&e, "return %s;",
              emit_int(&e, family_extent(c, sampler_pairs_of(t), 0)));
    text_append(out, "}\n");
}

/* x[a], a the number of a cell of the vector. */
static symp cell_of_vector(struct compiler *c, const struct family *f,
                           struct loop *a)
{
    symp subs[8];
    for (int d = 0; d < f->var->ndim; d++)
        subs[d] =
            f->upper[d]
                ? sym_add(c, 3,
                          (symp[]){f->lower[d], sym_loop(c, a), sym_num(c, -1)})
                : f->lower[d];
    return sym_ref(c, f->var, f->var->ndim, subs);
}

static void emit_pairs(struct compiler *c, struct text *out,
                       const struct step *s, const struct joint_term *t,
                       int number)
{
    struct emitter e;
    emit_extent(c, out, s, t, number);
    const bool scattered = sampler_can_scatter(c, t);
    if (scattered) {
        text_printf(out,
                    "static void scatter_%s_%d(const struct state *s, "
                    "int64_t vector_, double *cells_)\n{\n",
                    s->name, number);
        e = emitter_new(c, out);
        emit_line(&e, "const int extent_ = %s;",
                  emit_int(&e, family_extent(c, t->vector, 0)));
        emit_decode(&e, t->vector, "vector_");
        sampler_emit_scatter(&e, t);
        text_printf(out, "}\nGBM_HOST_SCATTER(scatter_%s_%d)\n", s->name,
                    number);
    }
    text_printf(out,
                "static int slots_%s_%d(const void *state, int64_t element, "
                "int *variable_,\n    int64_t *cell_, int capacity_)\n{\n    "
                "const struct state *s = (const struct state *)state;\n",
                s->name, number);
    e = emitter_new(c, out);
    open_pair(&e, t);
    const char *a = e.loops[e.nloops - 2].name;
    const char *b = e.loops[e.nloops - 1].name;
    if (sym_is(t->weight, 0))
        emit_line(&e, "if (%s != %s)", b, a);
    else
        emit_line(&e, "if (%s > %s)", b, a);
    emit_line(&e, "    return -1;");
    if (t->constant_weight && t->constant_score && !scattered) {
        emit_line(&e, "real weight, score;");
        emit_line(&e, "row_%s_%d(s, element, &weight, &score);", s->name,
                  number);
        emit_line(&e, "if (weight == 0 && score == 0)");
        emit_line(&e, "    return -1;");
    }
    struct var *vars[MAX_MEMBERS];
    int n = joint_variables(s, vars), variable = 0;
    while (variable + 1 < n && vars[variable] != t->vector->var)
        variable++;
    for (int k = 0; k < 2; k++) {
        symp cell = cell_of_vector(c, t->vector, t->pair[k]);
        if (k == 1)
            emit_line(&e, "if (%s == %s)\n        return 1;", a, b);
        emit_line(&e, "variable_[%d] = %d;", k, variable);
        emit_line(&e, "cell_[%d] = (int64_t)(%s);", k,
                  emit_cell(&e, cell->var, cell->args));
    }
    emit_line(&e, "return 2;");
    text_append(out, "}\n#endif\n");
}

static void emit_slots(struct compiler *c, struct text *out,
                       const struct step *s, const struct joint_term *t,
                       int number)
{
    struct emitter e = emitter_new(c, out);
    if (t->forms)
        emit_extent(c, out, s, t, number);
    text_printf(out,
                "%sstatic int slots_%s_%d(const void *state, "
                "int64_t element, int *variable_,\n    int64_t *cell_, int "
                "capacity_)\n{\n    const struct state *s = (const struct "
                "state *)state;\n    int count_ = 0;\n",
                t->forms ? "" : "#ifndef __CUDACC__\n", s->name, number);
    open_row(&e, t);
    symp counts = instance_counts(c, t->factor);
    if (!sym_is(counts, 1)) {
        emit_line(&e, "if (!(%s))", emit_expr(&e, counts));
        emit_line(&e, "    return -1;");
    }
    for (int i = 0; i < t->nslots; i++) {
        const struct joint_slot *slot = &t->slots[i];
        int depth = e.nloops;
        emit_line(&e, "/* %s */", sym_text(c, slot->reference));
        int braces = open_bounds(&e, slot);
        const char *valid = in_range(&e, slot->reference);
        if (slot->when)
            valid = intern_format(c, "(%s) && %s", emit_expr(&e, slot->when),
                                  valid);
        emit_line(&e, "if (count_ < capacity_) {");
        e.indent++;
        emit_line(&e, "variable_[count_] = %d;", slot->variable);
        emit_line(&e, "cell_[count_] = %s ? (int64_t)(%s) : -1;", valid,
                  emit_cell(&e, slot->reference->var, slot->reference->args));
        e.indent--;
        emit_line(&e, "}");
        emit_line(&e, "count_++;");
        emit_close(&e, braces);
        e.nloops = depth;
    }
    emit_line(&e, "return count_;");
    text_append(out, "}\n#endif\n");
}

static void emit_design(struct compiler *c, struct text *out,
                        const struct step *s, const struct joint_term *t,
                        int number)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void design_%s_%d(const struct state *s, long long "
                "element, real *a_)\n{\n",
                s->name, number);
    open_row(&e, t);
    if (t->forms) {
        emit_line(&e, "if (%s != %s)", e.loops[e.nloops - 2].name,
                  e.loops[e.nloops - 1].name);
        emit_line(&e, "    return;");
    }
    bool fixed = true; /* places known now */
    for (int i = 0; i < t->nslots; i++)
        fixed = fixed && !t->slots[i].nbound;
    for (int i = 0; i < t->nslots; i++) {
        const struct joint_slot *slot = &t->slots[i];
        int depth = e.nloops;
        int braces = open_bounds(&e, slot);
        const char *value = emit_expr(&e, slot->coefficient);
        if (fixed)
            emit_line(&e, "a_[%d] = %s;", i, value);
        else
            emit_line(&e, "*a_++ = %s;", value);
        emit_close(&e, braces);
        e.nloops = depth;
    }
    text_append(out, "}\n");
    text_printf(out,
                "#ifndef __CUDACC__\nGBM_HOST_JOINT_DESIGN(design_%s_%d)\n"
                "#endif\n\n",
                s->name, number);
}

/* What a component's linear form has beside the block, for the loader. */
static void emit_offset(struct compiler *c, struct text *out,
                        const struct step *s, const struct joint_term *t,
                        int number)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic double offset_%s_%d(const void "
                "*state, int64_t element)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                s->name, number);
    open_row(&e, t);
    emit_line(&e, "return (double)(%s);", emit_expr(&e, t->offset));
    text_append(out, "}\n#endif\n\n");
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s,
                     const struct joint_term *t, int number)
{
    struct emitter e = emitter_new(c, out);
    if (t->curved) {
        sampler_emit_curve(c, out, s, t, number);
        emit_design(c, out, s, t, number);
        return;
    }
    text_printf(out,
                "GBM_FN void row_%s_%d(const struct state *s, long long "
                "element,\n    real *weight_, real *score_)\n{\n",
                s->name, number);
    if (sampler_pairs_of(t)) {
        open_pair(&e, t);
        const char *a = e.loops[e.nloops - 2].name;
        const char *b = e.loops[e.nloops - 1].name;
        emit_line(&e, "*weight_ = %s;", emit_expr(&e, t->weight));
        emit_line(&e, "*score_ = 0;");
        if (!sym_is(t->score, 0)) {
            emit_line(&e, "if (%s == %s) {", a, b);
            e.indent++;
            emit_line(&e, "*score_ = %s;", emit_expr(&e, t->score));
            emit_close(&e, 1);
        }
    } else {
        open_instance(&e, t->factor);
        emit_line(&e, "*weight_ = %s;", emit_expr(&e, t->weight));
        emit_line(&e, "*score_ = %s;", emit_expr(&e, t->score));
    }
    text_append(out, "}\n");
    text_printf(out,
                "#ifndef __CUDACC__\nGBM_HOST_JOINT_ROW(row_%s_%d)\n#endif\n",
                s->name, number);
    if (!t->vector)
        emit_design(c, out, s, t, number);
    if (t->forms && t->data_offset)
        emit_offset(c, out, s, t, number);
    sampler_emit_alike(c, out, s, t, number);
}

void joint_emit_term(struct compiler *c, struct text *out, const struct step *s,
                     const struct joint_term *t, int number)
{
    if (!t->vector)
        emit_slots(c, out, s, t, number);
    emit_row(c, out, s, t, number);
    if (t->vector)
        emit_pairs(c, out, s, t, number);
}
