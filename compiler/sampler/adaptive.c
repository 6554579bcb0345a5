/* adaptive.c: adaptive Metropolis of a group (stdlib/kernels/metropolis.h):
 * one normal step for all, of a covariance that warm-up learns. */
#include "sampler/group.h"

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    if (!group_fits(c, steps, n, where, "am"))
        return;
    struct step *s = merge_group(c, m, steps, n);
    s->sampler = &adaptive_metropolis;
    for (struct factor *g = m->factors; g; g = g->next)
        if (!g->replaced && group_mentions(c, s, g))
            push_part(&s->parts, all_instances(c, g));
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    const char *n = s->name;
    emit_group_comment(c, out, s, "Adaptive Metropolis");
    emit_group_cells(c, out, s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* The ends of their supports. */\n"
                "GBM_FN void ends_%s(const struct state *s, real *lower, real "
                "*upper)\n{\n    int k = 0;\n",
                n);
    for_each_latent(&e, s, "", true);
    text_append(out, "}\n\n");
    emit_group_density(c, out, s, "density");
    open_group_update(out, s);
    e = emitter_new(c, out);
    emit_line(&e, "const int d = count_%s(s);", n);
    emit_line(&e, "real *const tuning = s->%s;", s->slots->member);
    emit_line(&e, "GBM_SCRATCH(x, x_small, d);");
    emit_line(&e, "GBM_SCRATCH(y, y_small, d);");
    emit_line(&e, "GBM_SCRATCH(lower, lower_small, d);");
    emit_line(&e, "GBM_SCRATCH(upper, upper_small, d);");
    emit_line(&e, "read_%s(s, x);", n);
    emit_line(&e, "ends_%s(s, lower, upper);", n);
    const char *step = s->width > 0 ? emit_expr(&e, sym_num(c, s->width)) : "1";
    emit_line(&e,
              "const real jacobian = gbm_adaptive_propose(rng, d, %s, tuning, "
              "lower, upper, x, y);",
              step);
    emit_line(&e, "const real here = density_%s(s, team, element);", n);
    emit_line(&e, "write_%s(s, team, y);", n);
    emit_line(&e, "const real there = density_%s(s, team, element) + jacobian;",
              n);
    emit_line(&e, "real probability;");
    emit_line(&e, "const bool moves = gbm_metropolis(rng, here, there, "
                  "&probability);");
    emit_line(&e, "if (!moves)");
    emit_line(&e, "    write_%s(s, team, x);", n);
    emit_line(&e, "if (adapting && team->lane == 0)");
    emit_line(&e,
              "    gbm_adaptive_learn(d, %s, adapting, probability, lower, "
              "upper, moves ? y : x, moves ? x : y, tuning);",
              step);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
    emit_group_access(out, s, "density", false);
    e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int64_t tuning_%s(const void "
                "*state)\n{\n    const struct state *s = (const struct state "
                "*)state;\n    (void)s;\n    int64_t k = 0;\n",
                n);
    for (int i = 0; i < s->nmembers; i++) {
        symp cell;
        int depth = e.nloops;
        int braces = open_group_member(&e, s->members[i].family, &cell);
        emit_line(&e, "k++;");
        emit_close(&e, braces);
        e.nloops = depth;
    }
    text_append(out, "    return gbm_adaptive_cells(k);\n}\n#endif\n\n");
}

const struct sampler adaptive_metropolis = {
    .name = "adaptive Metropolis",
    .word = "am",
    .option = "scale",
    .together = true,
    .take = take,
    .unit = never_left_out,
    .headers = {"metropolis.h"},
    .emit = emit,
    .block_access = true,
    .tunes = tunes_width,
    .tuning_cells = true,
};
