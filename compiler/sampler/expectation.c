/* expectation.c: a discrete node in expectation (model/expected.c): nothing is
 * drawn, but the probabilities of its values given the rest become its weights,
 * and the logarithm of what they are normed by, the density with the node
 * summed out but for factors that it has nothing to do with, its total. The
 * node itself is put at its most probable value. */
#include "sampler/sampler.h"

static bool takes(const struct step *s) { return s->family->var->weights; }

static bool tries_all(const struct step *s)
{
    (void)s;
    return true;
}

static bool moves(const struct step *s, const struct var *v)
{
    return v == s->family->var->weights || v == s->family->var->total;
}

/* Its own part, made by emit. */
struct expectation {
    bool by_rows;
};

/* An element's first weight. */
static symp first_weight(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    symp at[MAX_DIMS + 1];
    for (int d = 0; d < f->var->ndim; d++)
        at[d] = f->lower[d];
    at[f->var->ndim] = sym_num(c, 1);
    return sym_ref(c, f->var->weights, f->var->ndim + 1, at);
}

static symp total_of(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    return sym_ref(c, f->var->total, f->var->ndim, f->lower);
}

static void draw(struct emitter *e, const struct step *s)
{
    struct compiler *c = e->c;
    const char *first = emit_expr(e, first_weight(c, s));
    const char *total = emit_expr(e, total_of(c, s));
    emit_line(e,
              "const real value = gbm_expect((int)k_.lower, (int)k_.upper, "
              "density_%s, &k_, &%s, &%s);",
              family_id(c, s->family), first, total);
    emit_store(e, s, "value");
}

static void emit_weights(struct compiler *c, struct text *out,
                         const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    emit_open_element_function(
        &e, s->family,
        intern_format(c,
                      "GBM_FN real *weights_%s(const struct state *s, long "
                      "long element, real **total)",
                      family_id(c, s->family)));
    emit_line(&e, "*total = &%s;", emit_expr(&e, total_of(c, s)));
    emit_line(&e, "return &%s;", emit_expr(&e, first_weight(c, s)));
    text_append(out, "}\n");
}

/* The device marks which weights of an element are 0 (stdlib/kernels/
 * weighted.h), where weights are a matrix. */
static void slots(struct compiler *c, struct model *m, struct step *s)
{
    struct var *weights = s->family->var->weights;
    if (s->family->var->ndim != 1)
        return;
    s->slots = sweep_add_slot_of(
        c, m, s,
        (struct slot){.kind = SLOT_MARKS,
                      .name = intern_format(c, "%s marks", weights->name),
                      .member =
                          intern_format(c, "%s_marks", family_id(c, s->family)),
                      .about = "which weights are 0",
                      .life = LIFE_SCRATCH,
                      .counted = "marked_"});
    weights->marks = s->slots;
}

static void emit_marks(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct family *f = s->family;
    struct emitter e = emitter_new(c, out);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "#ifdef __CUDACC__\nGBM_FN struct gbm_marks "
                      "marks_%s(const struct state *s, long long element)",
                      family_id(c, f)));
    emit_marks_of(&e, f->var->weights, f->lower[0]);
    text_append(out, "}\n#endif\n");
}

static void emit_marked_cells(struct text *out, const struct step *s)
{
    const char *weights = s->family->var->weights->cname;
    if (s->slots)
        text_printf(out,
                    "#ifndef __CUDACC__\nstatic int64_t marked_%s(const void "
                    "*state)\n{\n    const struct state *s = (const struct "
                    "state *)state;\n    return GBM_MARKS(s->%s_n1, "
                    "s->%s_n2);\n}\n#endif\n\n",
                    s->name, weights, weights);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar(c, out, s,
                " * The probabilities of its values given the rest.\n");
    struct expectation *own = s->own = NEW(c, struct expectation);
    own->by_rows = sampler_emit_rows(c, out, s);
    if (own->by_rows) {
        emit_weights(c, out, s);
        emit_marks(c, out, s);
    }
    emit_marked_cells(out, s);
}

static bool by_rows(const struct step *s)
{
    const struct expectation *own = s->own;
    return own->by_rows;
}

static void emit_kernels(struct compiler *c, struct text *out,
                         const struct step *s)
{
    if (by_rows(s))
        text_printf(out, "GBM_KERNEL_WEIGHED(%s, %s, %d)\n", s->name,
                    family_id(c, s->family), s->number);
    else
        text_printf(out, "GBM_KERNEL(%s, %d)\n", s->name, s->number);
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    if (by_rows(s) && s->slots)
        text_printf(out, ", .marks = %d", s->slots->number + 1);
}

static const char *explain(struct compiler *c, const struct step *s)
{
    return intern_format(c, "expectation, %s to %s",
                         sampler_expression_text(c, s->support.lower),
                         sampler_expression_text(c, s->support.upper));
}

/* Not `trials`: what does not change with the value counts here, too. */
const struct sampler sampler_expectation = {
    .name = "expectation",
    .takes = takes,
    .enumerates = true,
    .tries_all = tries_all,
    .moves = moves,
    .explain = explain,
    .headers = {"expectation.h"},
    .unit = sampler_each_unless_tied,
    .slots = slots,
    .emit = emit,
    .draw = draw,
    .by_rows = by_rows,
    .emit_kernels = emit_kernels,
    .emit_row = emit_row,
    .scalar = true,
    .repairs = true,
    .blocks = 1,
};
