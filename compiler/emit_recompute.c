/* emit_recompute.c: what is computed again when an update has moved a node that
 * stored derived nodes depend on. */
#include "gbmc.h"

/* Whether f is recomputed when v has moved; the first of a sequence stands for
 * all its families. */
bool recomputed_with(const struct model *m, const struct family *f,
                     const struct var *v)
{
    const struct sequence *q = f->sequence;
    if (!q)
        return derived_depends(m, f->var, v);
    bool any = false;
    for (int i = 0; i < q->n; i++)
        any = any || derived_depends(m, q->families[i]->var, v);
    return any && f == q->families[0];
}

static bool is_aligned(const struct step *s)
{
    return s->alignments && !s->whole;
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
        if (!f->stochastic && f->var->stored && recomputed_with(m, f, v))
            emit_line(e, "derive_all_%s(s, team);", family_id(e->c, f));
}

/* The alignment that fixes loop l of f, or NULL. */
static const struct alignment *fixing(struct compiler *c, const struct step *s,
                                      const struct family *f,
                                      const struct loop *l)
{
    bool ok;
    for (const struct alignment *a = s->alignments; a; a = a->next)
        if (aligned_in_family(c, a, f, &ok) == l)
            return a;
    return NULL;
}

static bool same_bounds(const struct loop *a, const struct loop *b)
{
    return sym_same(a->lower, b->lower) && sym_same(a->upper, b->upper);
}

/* Opens the loops of f; those that are aligned have one value. */
static int open_aligned(struct emitter *e, const struct step *s,
                        const struct family *f)
{
    int braces = 0;
    for (int i = 0; i < f->nloops; i++) {
        struct loop *l = f->loops[i];
        const struct alignment *a = fixing(e->c, s, f, l);
        const char *lower = emit_int(e, l->lower);
        const char *upper = emit_int(e, l->upper);
        symp at = a ? s->family->lower[a->dim] : NULL;
        const char *value = at ? emit_expr(e, at) : NULL;
        if (value && !same_bounds(l, at->loop)) {
            emit_line(e, "if (%s >= %s && %s <= %s) {", value, lower, value,
                      upper);
            e->indent++;
            braces++;
        }
        const char *name = emit_loop_name(e, l);
        if (value)
            emit_line(e, "const int %s = %s;", name, value);
        else {
            emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower,
                      name, upper, name);
            e->indent++;
            braces++;
        }
    }
    return braces;
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
    for (int i = 0; i < target->nloops; i++)
        emit_line(&e, "(void)%s;",
                  emit_expr(&e, sym_loop(c, target->loops[i])));
    emit_line(&e, "gbm_team_sync(team);");
    for (const struct family *f = s->model->families; f; f = f->next) {
        bool ok;
        if (f->stochastic || !f->var->stored ||
            !recomputed_with(s->model, f, target->var) ||
            !aligned_in_family(c, s->alignments, f, &ok))
            continue;
        int depth = e.nloops;
        emit_line(&e, "{");
        e.indent++;
        int braces = open_aligned(&e, s, f);
        emit_definition(&e, f);
        emit_close(&e, braces + 1);
        e.nloops = depth;
        emit_line(&e, "gbm_team_sync(team);");
    }
    text_append(out, "}\n\n");
}
