/* recompute.c: what is computed again when an update has moved a node that
 * stored derived nodes depend on. */
#include "emit/emit.h"

static bool is_aligned(const struct step *s)
{
    return s->view.reached && !s->whole;
}

void emit_recompute(struct emitter *e, const struct step *s,
                    const struct var *v)
{
    const struct model *m = s->model;
    if (is_aligned(s)) {
        struct text at = {0};
        for (int i = 0; i < s->family->nloops; i++)
            text_printf(&at, ", %s",
                        emit_expr(e, sym_loop(e->c, s->family->loops[i])));
        emit_line(e, "recompute_%s(s, team%s);", family_id(e->c, s->family),
                  at.data ? at.data : "");
        text_free(&at);
        return;
    }
    for (const struct family *f = m->families; f; f = f->next)
        if (!f->stochastic && f->var->stored && !f->for_updates &&
            model_recomputed_with(m, f, v))
            emit_line(e, "derive_all_%s(s, team);", family_id(e->c, f));
}

/* The loops of a definition as those of its part, which are open. */
static void name_loops(struct emitter *e, const struct part *p)
{
    const struct family *f = p->factor->family;
    const char **value = NEW_ARRAY(e->c, const char *, f->nloops + 1);
    for (int i = 0; i < f->nloops; i++) {
        symp at = p->inverse ? NULL : p->solved[i];
        value[i] = emit_expr(e, at ? at : sym_loop(e->c, p->loops[i]));
        if (at) {
            const char *name = emit_name_of_model(e, f->loops[i]->name);
            emit_line(e, "const int %s = %s;", name, value[i]);
            value[i] = name;
        }
    }
    for (int i = 0; i < f->nloops; i++)
        emit_loop_as(e, f->loops[i], value[i]);
}

/* Of a sequence: the listed places in its order. */
static void emit_reached_places(struct emitter *e, const struct part *p)
{
    const struct sequence *q = p->factor->family->sequence;
    const char *cell = emit_cell(e, p->cell->var, p->cell->args);
    emit_line(e, "const long long cell = %s;", cell);
    emit_line(e, "for (int at = %s; at < %s; at++) {",
              emit_index_begin(e, p->inverse, "cell"),
              emit_index_end(e, p->inverse, "cell"));
    e->indent++;
    emit_line(e, "const int place = s->%s[at];", p->inverse->item->member);
    emit_sequence_place(e, q, "place");
    emit_close(e, 1);
    emit_line(e, "gbm_team_sync(team);");
}

static void emit_reached(struct emitter *e, const struct part *p)
{
    const struct family *f = p->factor->family;
    if (f->sequence && p->inverse) {
        emit_line(e, "{");
        e->indent++;
        emit_reached_places(e, p);
        emit_close(e, 1);
        return;
    }
    if (f->sequence) {
        emit_line(e, "derive_all_%s(s, team);", family_id(e->c, f));
        return;
    }
    int depth = e->nloops;
    emit_line(e, "{");
    e->indent++;
    int braces = emit_open_part(e, p, false);
    name_loops(e, p);
    emit_definition(e, f);
    emit_close(e, braces + 1);
    e->nloops = depth;
    emit_line(e, "gbm_team_sync(team);");
}

/* recompute_ of the target's loop indices. Definitions that read neither the
 * target nor what depends on it have kept their values. */
void emit_recompute_aligned(struct compiler *c, struct text *out,
                            const struct step *s)
{
    const struct family *target = s->family;
    if (!s->through || !is_aligned(s))
        return;
    struct emitter e = emitter_new(c, out);
    text_printf(out, "/* what depends on %s */\n", target->var->name);
    text_printf(out,
                "GBM_FN void recompute_%s(const struct state *s, const struct "
                "gbm_team *team",
                family_id(c, target));
    for (int i = 0; i < target->nloops; i++)
        text_printf(out, ", int %s", emit_loop_name(&e, target->loops[i]));
    text_append(out, ")\n{\n");
    emit_line(&e, "gbm_team_sync(team);");
    for (const struct part *p = s->view.reached; p; p = p->next)
        emit_reached(&e, p);
    text_append(out, "}\n\n");
}
