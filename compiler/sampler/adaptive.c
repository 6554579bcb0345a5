/* adaptive.c: adaptive Metropolis of a group (stdlib/kernels/metropolis.h):
 * one normal step for all, of a covariance that warm-up learns. */
#include "sampler/group.h"

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    struct step *s = sampler_take_group(c, m, steps, n, where, "am");
    if (s)
        s->sampler = &sampler_adaptive_metropolis;
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_step(
        c, out, s, "Adaptive Metropolis",
        "const real jacobian = gbm_adaptive_propose(rng, d, $, "
        "tuning, lower, upper, x, y);",
        "gbm_adaptive_learn(d, $, adapting, probability, lower, "
        "upper, moves ? y : x, moves ? x : y, tuning);");
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

const struct sampler sampler_adaptive_metropolis = {
    .name = "adaptive Metropolis",
    .word = "am",
    .option = "scale",
    .together = true,
    .take = take,
    .unit = sampler_never_left_out,
    .headers = {"metropolis.h"},
    .emit = emit,
    .block_access = true,
    .tunes = sampler_tunes_width,
    .tuning_cells = true,
};
