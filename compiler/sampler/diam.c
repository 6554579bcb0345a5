/* diam.c: dimension-independent adaptive Metropolis of a group
 * (stdlib/kernels/diam.h): steps that a normal with the mean and covariance
 * that warm-up learns lets pass. */
#include "sampler/group.h"

/* Of the covariance: Chen (2015), section 4.1, for targets that are not
 * normal. */
static const double INFLATION = 1.5;

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    struct step *s = sampler_take_adaptive(c, m, steps, n, where, "diam");
    if (s)
        s->sampler = &sampler_diam;
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const double inflation = sampler_option_number(s, "inflation", INFLATION);
    const struct group_move move = {
        .what = "Dimension-independent adaptive Metropolis",
        .propose = intern_format(
            c,
            "const real jacobian = gbm_diam_propose(rng, team, d, $, %s, "
            "tuning, lower, upper, x, y, z);",
            emit_expr(&e, sym_num(c, inflation))),
        .moved = "gbm_diam_moved(team, d, lower, upper, y, z, tuning);",
        .size = "gbm_diam_size(d, tuning, here, probability)",
        .learn = "gbm_diam_learn(team, d, $, lower, upper, moves ? y : x, "
                 "moves ? x : y, tuning);",
        .always = sampler_learns_always(s)};
    sampler_emit_group_step(c, out, s, &move);
    sampler_emit_tuning_cells(c, out, s, "gbm_diam_cells(k)");
}

static const char *explain(struct compiler *c, const struct step *s)
{
    return sampler_with_steps(c, s, "dimension-independent Metropolis");
}

const struct sampler sampler_diam = {
    .name = "dimension-independent Metropolis",
    .word = "diam",
    .options = {{.name = "scale"},
                {.name = "inflation", .least = 1, .most = 2},
                SAMPLER_STEPS_OPTION,
                SAMPLER_LEARNING_OPTIONS},
    .together = true,
    .take = take,
    .explain = explain,
    .unit = sampler_never_left_out,
    .headers = {"diam.h"},
    .emit = emit,
    .emit_row = sampler_emit_adaptive_row,
    .block_access = true,
    .tunes = sampler_tunes_width,
    .tuning_cells = true,
    .slots = sampler_group_room,
    .squares = true,
};
