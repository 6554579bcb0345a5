/* stated.c: the added node of an augmentation, drawn as its file states. */
#include "sampler/sampler.h"
#include <string.h>

static bool takes(const struct step *s) { return s->family->var->draw; }

static void phases(struct compiler *c, struct step *s)
{
    symp draw = s->family->var->draw;
    struct phase *p = sweep_add_phase(c, s, PHASE_MAP, "draws as stated");
    p->random = true;
    phase_computes(c, p, draw);
    phase_draws(c, p, draw);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar_comment(
        c, out, s, " * Its full conditional is stated by the augmentation.\n");
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    if (s->family->nloops)
        emit_decode(&e, s->family, "element");
    e.team = true;
    emit_store(&e, s, emit_expr(&e, s->family->var->draw));
    text_append(out, "}\n\n");
}

static const char *explain_stated(struct compiler *c, const struct step *s)
{
    symp draw = s->family->var->draw;
    const char *name = draw->kind == SYM_CALL ? draw->name : "draw";
    if (!strcmp(name, "draw_polya_gamma"))
        return "Polya-Gamma (augmented)";
    return intern_format(c, "%s (augmented)",
                         strncmp(name, "draw_", 5) ? "stated draw" : name + 5);
}

const struct sampler sampler_stated_draw = {
    .name = "stated draw",
    .takes = takes,
    .closed = true,
    .unit = sampler_never_left_out,
    .explain = explain_stated,
    .phases = phases,
    .emit = emit,
    .blocks = 1,
};
