/* random_walk.c: random-walk Metropolis of one number (stdlib/kernels/
 * metropolis.h). */
#include "sampler/sampler.h"

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    (void)m;
    const bool fits = sampler_take_scalars(c, steps, n, where, "rw");
    for (int i = 0; fits && i < n; i++)
        steps[i]->sampler = &sampler_random_walk;
}

static void draw(struct emitter *e, const struct step *s)
{
    const bool integer = model_draws_integers(s->family);
    const bool within = integer || sampler_option(s, "ends");
    const char *unit = emit_width(e, s);
    emit_line(e,
              "const real value = gbm_walk%s(rng, (real)%s, &width, %s, %s, "
              "k_.lower, k_.upper, density_%s, &k_%s);",
              within ? "_within" : "", emit_target(e, s->family),
              sampler_adapts(s) ? "adapting" : "0",
              sampler_steps(e->c, s, "GBM_WALK_MOVES"),
              family_id(e->c, s->family),
              !within   ? ""
              : integer ? ", true"
                        : ", false");
    emit_store_width(e, s, unit);
    emit_store(e, s, "value");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar(c, out, s, " * Random-walk Metropolis.\n");
}

static const char *explain_walk(struct compiler *c, const struct step *s)
{
    return sampler_with_steps(c, s,
                              model_draws_integers(s->family)
                                  ? "integer random walk"
                                  : "random walk");
}

const struct sampler sampler_random_walk = {
    .name = "random walk",
    .word = "rw",
    .options = {{.name = "scale"}, SAMPLER_WALK_OPTIONS},
    .take = take,
    .explain = explain_walk,
    .unit = sampler_each_unless_tied,
    .headers = {"metropolis.h"},
    .emit = emit,
    .draw = draw,
    .scalar = true,
    .blocks = 2, /* GBM_WALK_MOVES */
    .tunes = sampler_tunes_width,
};
