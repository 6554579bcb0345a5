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

static void draw(struct emitter *e, const struct step *s)
{
    struct compiler *c = e->c;
    const struct family *f = s->family;
    symp at[MAX_DIMS + 1];
    for (int d = 0; d < f->var->ndim; d++)
        at[d] = f->lower[d];
    at[f->var->ndim] = sym_num(c, 1);
    const char *first =
        emit_expr(e, sym_ref(c, f->var->weights, f->var->ndim + 1, at));
    const char *total =
        emit_expr(e, sym_ref(c, f->var->total, f->var->ndim, at));
    emit_line(e,
              "const real value = gbm_expect((int)k_.lower, (int)k_.upper, "
              "density_%s, &k_, &%s, &%s);",
              family_id(c, f), first, total);
    emit_store(e, s, "value");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar(c, out, s,
                " * The probabilities of its values given the rest.\n");
}

static void emit_kernels(struct compiler *c, struct text *out,
                         const struct step *s)
{
    (void)c;
    text_printf(out, "GBM_KERNEL(%s, %d)\n", s->name, s->number);
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
    .emit = emit,
    .draw = draw,
    .emit_kernels = emit_kernels,
    .scalar = true,
    .repairs = true,
    .blocks = 1,
};
