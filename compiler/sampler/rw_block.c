/* rw_block.c: random-walk Metropolis of a group (stdlib/kernels/rw_block.h):
 * one normal step for all, the same in every direction. */
#include "sampler/group.h"

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    struct step *s = sampler_take_group(c, m, steps, n, where, "rw_block");
    if (s)
        s->sampler = &sampler_rw_block;
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    const struct group_move move = {
        .what = "Random-walk Metropolis, jointly",
        .moves = "gbm_block_moves(d)",
        .propose = intern_format(
            c,
            "const real jacobian = gbm_block_propose%s(rng, team, d, $ * "
            "tuning[0], lower, upper, x, y);",
            sampler_option(s, "ends") ? "_within" : ""),
        .size = sampler_adapts(s) ? "gbm_block_step(d, tuning[0], here, "
                                    "probability, adapting)"
                                  : NULL};
    sampler_emit_group_step(c, out, s, &move);
}

static const char *explain(struct compiler *c, const struct step *s)
{
    return sampler_with_steps(c, s, "joint random walk");
}

const struct sampler sampler_rw_block = {
    .name = "joint random walk",
    .word = "rw_block",
    .options = {{.name = "scale"}, SAMPLER_WALK_OPTIONS},
    .together = true,
    .take = take,
    .explain = explain,
    .unit = sampler_never_left_out,
    .headers = {"rw_block.h"},
    .emit = emit,
    .block_access = true,
    .tunes = sampler_tunes_width,
    .slots = sampler_group_room,
};
