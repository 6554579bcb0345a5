/* slice.c: slice sampling with stepping out of one number (stdlib/kernels/
 * slice.h), whole numbers included: what any full conditional can be drawn
 * with. */
#include "sampler/sampler.h"

static bool takes_any(const struct step *s)
{
    return !s->family->nslices && !model_draws_integers(s->family);
}

static bool takes_integers(const struct step *s)
{
    return !s->family->nslices && model_draws_integers(s->family);
}

bool sampler_take_scalars(struct compiler *c, struct step *const *steps, int n,
                          struct span where, const char *word)
{
    for (int i = 0; i < n; i++) {
        struct step *s = steps[i];
        const char *v = s->family->var->name;
        if (s->sampler->forward) {
            error_at(c, where,
                     "%s is drawn forward from its distribution: nothing "
                     "depends on it",
                     v);
            return false;
        }
        if (s->family->nslices) {
            error_at(c, where,
                     "%s moves one number, but %s is a vector-valued node",
                     word, v);
            return false;
        }
        s->law.family = NULL;
        s->law.exponent = NULL;
        s->support.bounded = false;
    }
    return true;
}

static void take_slices(struct compiler *c, struct model *m,
                        struct step *const *steps, int n, struct span where)
{
    (void)m;
    const bool fits = sampler_take_scalars(c, steps, n, where, "slice");
    for (int i = 0; fits && i < n; i++)
        steps[i]->sampler = model_draws_integers(steps[i]->family)
                                ? &sampler_integer_slice
                                : &sampler_slice;
}

void sampler_draw_with_width(struct emitter *e, const struct step *s,
                             const char *function)
{
    const char *unit = emit_width(e, s);
    emit_line(e,
              "const real value = gbm_%s%s(rng, (real)%s, &width, "
              "adapting, k_.lower, k_.upper, density_%s, &k_);",
              function, model_draws_integers(s->family) ? "_integer" : "",
              emit_target(e, s->family), family_id(e->c, s->family));
    emit_store_width(e, s, unit);
    emit_store(e, s, "value");
}

static void draw(struct emitter *e, const struct step *s)
{
    sampler_draw_with_width(e, s, "slice");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar(c, out, s, " * No closed form: slice sampling.\n");
}

/* Counts, which may be held by a condition. */
static void emit_counts(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar_comment(c, out, s, " * No closed form: slice sampling.\n");
    emit_conditional(c, out, s);
    emit_recalled(c, out, s);
    emit_density(c, out, s);
    sampler_emit_swap(c, out, s);
    emit_scalar_update(c, out, s);
}

const struct sampler sampler_slice = {
    .name = "slice",
    .word = "slice",
    .options = {{.name = "width"}},
    .takes = takes_any,
    .take = take_slices,
    .trials = true,
    .unit = sampler_each_unless_tied,
    .why = sampler_why_slice,
    .emit = emit,
    .draw = draw,
    .scalar = true,
    .by_many = true,
    .blocks = 3, /* two uniforms, an exponential, one uniform or more */
    .tunes = sampler_tunes_width,
};

const struct sampler sampler_integer_slice = {
    .name = "integer slice",
    .takes = takes_integers,
    .trials = true,
    .unit = sampler_each_unless_tied,
    .why = sampler_why_slice,
    .emit = emit_counts,
    .draw = draw,
    .behind = sampler_swap,
    .scalar = true,
    .blocks = 3,
    .tunes = sampler_tunes_width,
};
