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
        .propose = "const real jacobian = gbm_block_propose(rng, team, d, $ * "
                   "tuning[0], lower, upper, x, y);",
        .size = "gbm_block_step(d, tuning[0], here, probability, adapting)"};
    sampler_emit_group_step(c, out, s, &move);
}

const struct sampler sampler_rw_block = {
    .name = "joint random walk",
    .word = "rw_block",
    .options = {{.name = "scale"}},
    .together = true,
    .take = take,
    .unit = sampler_never_left_out,
    .headers = {"rw_block.h"},
    .emit = emit,
    .block_access = true,
    .tunes = sampler_tunes_width,
    .slots = sampler_group_room,
};
