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
    sampler_draw_with_width(e, s, "walk");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar(c, out, s, " * Random-walk Metropolis.\n");
}

static const char *explain_walk(struct compiler *c, const struct step *s)
{
    (void)c;
    return model_draws_integers(s->family) ? "integer random walk"
                                           : "random walk";
}

const struct sampler sampler_random_walk = {
    .name = "random walk",
    .word = "rw",
    .options = {{.name = "scale"}},
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
