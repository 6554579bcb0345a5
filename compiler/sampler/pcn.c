/* pcn.c: preconditioned Crank-Nicolson (stdlib/kernels/pcn.h): a Metropolis
 * step that the prior, normal given the rest, lets pass whatever the dimension:
 * of a group, or of each vector node. */
#include "sampler/group.h"

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    struct step *s = sampler_take_normal(c, m, steps, n, where, "pcn");
    if (s)
        s->sampler = &sampler_pcn;
}

static void move(struct emitter *e, const struct step *s)
{
    const char *unit = emit_width(e, s);
    emit_line(e, "gbm_pcn_propose(sharing, d, width, x, mean, drawn, y);");
    emit_line(e,
              "const real here = k_.here != k_.here ? "
              "likelihood_%s_at(&k_, x) : k_.here;",
              s->name);
    emit_line(e, "const real there = likelihood_%s_at(&k_, y);", s->name);
    emit_line(e, "real probability;");
    emit_line(e, "const bool moves = gbm_metropolis(rng, here, there, "
                 "&probability);");
    emit_line(e, "k_.here = moves ? there : here;");
    emit_line(e, "if (!moves) {");
    emit_line(e, "    GBM_TEAM_FOR(i, 0, d, sharing)");
    emit_line(e, "        y[i] = x[i];");
    emit_line(e, "    write_%s(s, team, %sy);", s->name,
              s->whole ? "" : "element, ");
    emit_line(e, "}");
    if (sampler_adapts(s)) {
        emit_line(e, "if (adapting && gbm_is_finite(here))");
        emit_line(e, "    width = gbm_pcn_step(width, probability, adapting);");
    }
    emit_store_width(e, s, unit);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_normal_moves(c, out, s, "Preconditioned Crank-Nicolson", move);
}

static const char *explain(struct compiler *c, const struct step *s)
{
    return sampler_with_steps(c, s, "Crank-Nicolson");
}

const struct sampler sampler_pcn = {
    .name = "Crank-Nicolson",
    .word = "pcn",
    .options = {{.name = "scale"},
                SAMPLER_STEPS_OPTION,
                {.name = "adapt", .word = "never"}},
    .together = true,
    .take = take,
    .explain = explain,
    .around = true,
    .unit = sampler_left_out_as_it_moves,
    .headers = {"pcn.h"},
    .emit = emit,
    .block_access = true,
    .matrix = true,
    .tunes = sampler_tunes_width,
    .slots = sampler_group_room,
};
