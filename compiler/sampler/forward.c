/* forward.c: the steps that draw forward what nothing observed depends on, and
 * how elements are left out of the steps that draw the rest. */
#include "sampler/group.h"

/* Together with one that counts in any case, none is left out. */
static enum barren_unit unit_in(const struct step *s)
{
    enum barren_unit unit =
        s->sampler->unit ? s->sampler->unit(s) : BARREN_EACH;
    bool any_counts = !s->family->var->barren;
    for (int i = 0; i < s->block.n; i++)
        any_counts = any_counts || !s->block.members[i].family->var->barren;
    return unit == BARREN_TOGETHER && any_counts ? BARREN_NEVER : unit;
}

static void settle_unit(struct model *m, struct family *f)
{
    f->unit = BARREN_EACH;
    for (struct step *s = m->steps; s; s = s->next) {
        enum barren_unit unit =
            sampler_has_member(s, f) ? unit_in(s) : BARREN_EACH;
        if (unit == BARREN_TOGETHER)
            f->together = s;
        if (unit > f->unit)
            f->unit = unit;
    }
    if (f->unit == BARREN_NEVER)
        f->var->barren = false;
}

static void settle_units(struct model *m)
{
    bool settled;
    do {
        settled = true;
        for (struct family *f = m->families; f; f = f->next) {
            if (!f->var->barren || !f->stochastic || f->auxiliary)
                continue;
            settle_unit(m, f);
            settled = settled && f->var->barren;
        }
    } while (!settled);
}

static struct step *forward_step(struct compiler *c, struct model *m,
                                 struct family *f)
{
    struct step *s = NEW(c, struct step);
    s->sampler = &sampler_forward_draw;
    s->name = intern_format(c, "forward_%s", family_id(c, f));
    s->family = f;
    s->model = m;
    s->turn.late = true;
    for (symp *e = model_sequence_expressions(c, f); *e; e++)
        s->order.sequential =
            s->order.sequential || model_reads_element(c, *e, f);
    return s;
}

/* Takes the leaves' steps out of the list; each is found again by its family.
 */
static struct step *take_leaves(struct model *m)
{
    struct step *leaves = NULL, **last = &leaves, **link = &m->steps;
    while (*link) {
        struct step *s = *link;
        if (!s->sampler->forward) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        *last = s;
        last = &s->next;
        s->next = NULL;
    }
    return leaves;
}

void sampler_draw_forward(struct compiler *c, struct model *m)
{
    struct step **link = &m->steps;
    while (*link) {
        if ((*link)->merged)
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
    settle_units(m);
    struct step *leaves = take_leaves(m), **last = &m->steps;
    while (*last)
        last = &(*last)->next;
    for (struct family *f = m->families; f; f = f->next) {
        struct step *s = NULL;
        for (struct step **k = &leaves; *k; k = &(*k)->next)
            if ((*k)->family == f) {
                s = *k;
                *k = s->next;
                break;
            }
        if (!s && f->var->barren && f->stochastic && !f->auxiliary)
            s = forward_step(c, m, f);
        if (!s)
            continue;
        s->next = NULL;
        s->turn.late = true;
        *last = s;
        last = &s->next;
    }
    *last = leaves;
}

/* ---- the sampler: its own part is the step that draws a normal vector node's
 * cells that are not seen, given those that are; or NULL ---- */

static bool takes(const struct step *s)
{
    return s->family->var->leaf && !s->family->auxiliary;
}

static void phases(struct compiler *c, struct step *s)
{
    struct phase *p =
        sweep_add_phase(c, s, s->order.sequential ? PHASE_SCAN : PHASE_MAP,
                        "draws from its distribution");
    p->random = true;
    for (symp *e = model_sequence_expressions(c, s->family); *e; e++)
        phase_computes(c, p, *e);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar_comment(c, out, s, "");
    struct step *rest = s->own;
    if (rest)
        rest->sampler->emit(c, out, rest);
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    if (rest)
        emit_line(&e, "%s(s, rng, team, element, adapting);", rest->name);
    else
        emit_line(&e, "simulate_%s(s, rng, element);", family_id(c, s->family));
    text_append(out, "}\n\n");
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    if (s->family->nslices && !s->own)
        text_append(out, ", .undivided = true");
}

/* One draw of a normal between bounds, whatever other elements' are. */
static bool asks(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    return f->truncated && !f->nslices && !s->own && !s->order.sequential &&
           !emit_has_array_argument(f) && emit_asks_between(c, f->distribution);
}

static const char *explain_forward(struct compiler *c, const struct step *s)
{
    (void)c;
    return s->family->var->barren ? "forward draw" : "data or forward draw";
}

const struct sampler sampler_forward_draw = {
    .name = "forward draw",
    .takes = takes,
    .closed = true,
    .forward = true,
    .explain = explain_forward,
    .phases = phases,
    .emit = emit,
    .emit_row = emit_row,
    .asks = asks,
    .blocks = 1,
};
