/* elliptical.c: slices along an ellipse of the prior (stdlib/kernels/
 * elliptical.h), where that is normal given the rest. An element or vector node
 * that is independent of the others has an ellipse of its own; everything else
 * is one group. */
#include "sampler/group.h"
#include <string.h>

/* ---- which --------------------------------------------------------------- */

static void own_ellipse(struct compiler *c, struct step *s, struct span where)
{
    const struct part *own = normal_prior(s);
    if (!own) {
        sampler_not_normal(c, s, where, "ess");
        return;
    }
    s->sampler = &sampler_elliptical_slice;
    s->law.family = NULL;
    s->law.exponent = NULL;
    s->support.bounded = false;
}

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    struct step *s = steps[0];
    if (n == 1 && !s->family->nslices && !s->order.sequential &&
        !s->order.conflicts) {
        if (group_fits(c, steps, n, where, "ess"))
            own_ellipse(c, s, where);
        return;
    }
    s = sampler_take_normal(c, m, steps, n, where, "ess");
    if (s)
        s->sampler = &sampler_elliptical_block;
}

static const char *explain_ellipse(struct compiler *c, const struct step *s)
{
    (void)c;
    return s->whole ? "elliptical slice, jointly" : "elliptical slice";
}

/* What of its likelihood the ellipse has, too. */
static const char *why(struct compiler *c, const struct step *s)
{
    struct text also = {0};
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (!q->part->own)
            text_printf(&also, "%s of %s", also.length ? "," : ", as is that",
                        q->part->factor->text);
    text_append(&also, also.length ? "," : "");
    const char *normal = text_take(c, &also);
    return intern_format(c, "elliptical slice, as its prior is normal%s but %s",
                         normal, sampler_slice_reason(c, s));
}

/* ---- of one number ------------------------------------------------------- */

static void draw_scalar(struct emitter *e, const struct step *s)
{
    symp potential, square;
    normal_prior_terms(e->c, s, &potential, &square);
    const char *p = emit_expr(e, potential), *q = emit_expr(e, square);
    emit_line(e,
              "const real value = gbm_elliptical_scalar(rng, %s, %s, %s, "
              "k_.lower, k_.upper, density_%s, &k_);",
              emit_target(e, s->family), p, q, family_id(e->c, s->family));
    emit_store(e, s, "value");
}

static void emit_scalar_ellipse(struct compiler *c, struct text *out,
                                struct step *s)
{
    emit_scalar(c, out, s, " * Slice along the ellipse of its normal prior.\n");
}

/* ---- of a group, or a vector node -----------------------------------------
 */

static void move(struct emitter *e, const struct step *s)
{
    emit_line(
        e,
        "gbm_elliptical(rng, sharing, d, x, mean, drawn, y, likelihood_%s_at, "
        "&k_, &k_.here);",
        s->name);
}

static void emit_block_ellipse(struct compiler *c, struct text *out,
                               struct step *s)
{
    sampler_emit_normal_moves(c, out, s, "Elliptical slice", move);
}

const struct sampler sampler_elliptical_slice = {
    .name = "elliptical slice",
    .word = "ess",
    .together = true,
    .take = take,
    .why = why,
    .headers = {"elliptical.h"},
    .emit = emit_scalar_ellipse,
    .draw = draw_scalar,
    .scalar = true,
    .blocks = 2,
};

const struct sampler sampler_elliptical_block = {
    .name = "elliptical slice",
    .around = true,
    .unit = sampler_left_out_as_it_moves,
    .explain = explain_ellipse,
    .why = why,
    .headers = {"elliptical.h"},
    .emit = emit_block_ellipse,
    .block_access = true,
    .matrix = true,
    .slots = sampler_group_room,
};
