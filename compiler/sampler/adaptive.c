/* adaptive.c: adaptive Metropolis of a group (stdlib/kernels/adaptive.h): one
 * normal step for all, of a covariance that warm-up learns; and what other
 * samplers that learn one share. */
#include "sampler/group.h"

struct step *sampler_take_adaptive(struct compiler *c, struct model *m,
                                   struct step *const *steps, int n,
                                   struct span where, const char *word)
{
    const struct expr *shares = sampler_option(steps[0], "share"),
                      *lag = sampler_option(steps[0], "lag"),
                      *forever = sampler_option(steps[0], "adapt");
    if (lag && !shares)
        error_at(c, lag->span,
                 "the lag is that of the chains' common covariance: it needs "
                 "share = chains");
    else if (shares && forever)
        error_at(c, forever->span,
                 "not supported yet: share = chains together with adapt = "
                 "forever");
    else
        return sampler_take_group(c, m, steps, n, where, word);
    return NULL;
}

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    struct step *s = sampler_take_adaptive(c, m, steps, n, where, "am");
    if (s)
        s->sampler = &sampler_adaptive_metropolis;
}

void sampler_emit_adaptive_row(struct compiler *c, struct text *out,
                               const struct step *s)
{
    (void)c;
    if (sampler_option(s, "share"))
        text_printf(out, ", .lag = %d, .tuned = %d",
                    (int)sampler_option_number(s, "lag", -1), s->slots->number);
}

bool sampler_learns_always(const struct step *s)
{
    return sampler_option(s, "adapt") != NULL;
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    const struct group_move move = {
        .what = "Adaptive Metropolis",
        .propose = "const real jacobian = gbm_adaptive_propose(rng, team, d, "
                   "$, tuning, lower, upper, x, y, z);",
        .size = "gbm_adaptive_size(d, tuning[0], here, probability, "
                "(int)tuning[1])",
        .learn = "gbm_adaptive_learn(team, d, $, lower, upper, moves ? y : x, "
                 "moves ? x : y, tuning);",
        .always = sampler_learns_always(s)};
    sampler_emit_group_step(c, out, s, &move);
    sampler_emit_tuning_cells(c, out, s, "gbm_adaptive_cells(k)");
}

static const char *explain(struct compiler *c, const struct step *s)
{
    return sampler_with_steps(c, s, "adaptive Metropolis");
}

const struct sampler sampler_adaptive_metropolis = {
    .name = "adaptive Metropolis",
    .word = "am",
    .options = {{.name = "scale"},
                SAMPLER_STEPS_OPTION,
                SAMPLER_LEARNING_OPTIONS},
    .together = true,
    .take = take,
    .explain = explain,
    .unit = sampler_never_left_out,
    .headers = {"adaptive.h"},
    .emit = emit,
    .emit_row = sampler_emit_adaptive_row,
    .block_access = true,
    .tunes = sampler_tunes_width,
    .tuning_cells = true,
    .slots = sampler_group_room,
    .squares = true,
};
