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

/* tuning_: how many numbers an element has. */
static void emit_tuning_cells(struct compiler *c, struct text *out,
                              const struct step *s)
{
    const char *n = s->name;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int64_t tuning_%s(const void "
                "*state)\n{\n    const struct state *s = (const struct state "
                "*)state;\n    int64_t k = 0;\n",
                n);
    for (int i = 0; i < s->nmembers; i++) {
        symp cell;
        int depth = e.nloops;
        int braces = sampler_open_group_member(&e, s->members[i].family, &cell);
        emit_line(&e, "k++;");
        emit_close(&e, braces);
        e.nloops = depth;
    }
    text_append(out, "    return gbm_adaptive_cells(k);\n}\n#endif\n\n");
}

void sampler_emit_adaptive(struct compiler *c, struct text *out, struct step *s,
                           const char *what, const char *propose,
                           const char *size)
{
    const char *const learn[] = {size,
                                 "gbm_adaptive_learn(d, $, lower, upper, moves "
                                 "? y : x, moves ? x : y, tuning);",
                                 NULL};
    sampler_emit_group_step(c, out, s, what, propose, learn,
                            sampler_option(s, "adapt") != NULL);
    emit_tuning_cells(c, out, s);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_adaptive(
        c, out, s, "Adaptive Metropolis",
        "const real jacobian = gbm_adaptive_propose(rng, d, $, "
        "tuning, lower, upper, x, y);",
        "tuning[0] = gbm_adaptive_size(d, tuning[0], here, probability, "
        "(int)tuning[1]);");
}

const struct sampler sampler_adaptive_metropolis = {
    .name = "adaptive Metropolis",
    .word = "am",
    .options = {{.name = "scale"}, SAMPLER_LEARNING_OPTIONS},
    .together = true,
    .take = take,
    .unit = sampler_never_left_out,
    .headers = {"adaptive.h"},
    .emit = emit,
    .emit_row = sampler_emit_adaptive_row,
    .block_access = true,
    .tunes = sampler_tunes_width,
    .tuning_cells = true,
};
