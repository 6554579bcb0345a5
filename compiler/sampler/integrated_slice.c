/* integrated_slice.c: a parameter is drawn by a slice, with nodes integrated
 * out of what it sees (integrated.c). */
#include "sampler/integrated.h"

static const char *explain(struct compiler *c, const struct step *s)
{
    return intern_format(c, "slice, %s integrated out",
                         sampler_nodes_out(c, s));
}

/* A positive number without an end has orders of magnitude to go: its logarithm
 * is sliced. */
static bool by_logarithm(const struct step *s)
{
    return s->support.lower && sym_is(s->support.lower, 0) &&
           !s->support.upper && !s->support.bounds &&
           !model_draws_integers(s->family);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    const char *id = family_id(c, s->family);
    emit_scalar_comment(
        c, out, s,
        intern_format(c, " * Slice sampling%s, %s integrated out.\n",
                      by_logarithm(s) ? " of its logarithm" : "",
                      sampler_nodes_out(c, s)));
    emit_conditional(c, out, s);
    emit_density(c, out, s);
    if (by_logarithm(s))
        text_printf(
            out,
            "GBM_INLINE real along_%s(const void *context, real t)\n"
            "{\n    return density_%s(context, real_exp(t)) + t; /* the "
            "Jacobian */\n}\n\n",
            id, id);
    emit_scalar_update(c, out, s);
}

static void draw(struct emitter *e, const struct step *s)
{
    const char *id = family_id(e->c, s->family);
    if (!by_logarithm(s)) {
        sampler_draw_with_width(e, s, "slice");
        return;
    }
    const char *unit = emit_width(e, s);
    emit_line(e,
              "const real value = real_exp(gbm_slice_near(rng, "
              "real_log(real_fmax(%s, GBM_TINY)), &width, adapting, -GBM_INF, "
              "GBM_INF, along_%s, &k_));",
              emit_target(e, s->family), id);
    emit_store_width(e, s, unit);
    emit_store(e, s, "value");
}

const struct sampler sampler_integrated_slice = {
    .name = "slice",
    .trials = true,
    .unit = sampler_each_unless_tied,
    .explain = explain,
    .why = sampler_why_out,
    .emit = emit,
    .draw = draw,
    .scalar = true,
    .by_many = true,
    .blocks = 3,
    .tunes = sampler_tunes_width,
};
