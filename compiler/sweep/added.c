/* added.c: with powers, what an augmentation has added is drawn before all else
 * in a sweep. A method sets the powers between sweeps, and may put other values
 * into the model's nodes: then what was drawn for the old ones is worth
 * nothing, and nobody may have read it before it is drawn anew. */
#include "sweep/sweep.h"

static bool is_added(const struct step *s)
{
    return s->sampler && s->family->auxiliary;
}

/* A step that scales what is added goes with it. */
static bool goes_first(const struct model *m, const struct step *s)
{
    for (const struct step *k = m->steps; k; k = k->next)
        if (is_added(k) && (k == s || k->scaled.by == s))
            return true;
    return false;
}

void sweep_draw_added_first(struct compiler *c, struct model *m)
{
    struct step *first = NULL, **last_first = &first;
    struct step *rest = NULL, **last_rest = &rest;
    if (!(c->options.with & WITH_POWERS))
        return;
    for (struct step *s = m->steps; s; s = s->next) {
        struct step ***last = goes_first(m, s) ? &last_first : &last_rest;
        **last = s;
        *last = &s->next;
    }
    *last_rest = NULL;
    *last_first = rest;
    m->steps = first ? first : rest;
}

/* That it is so, whatever else has moved steps. */
void sweep_check_added(struct compiler *c, struct model *m)
{
    if (!(c->options.with & WITH_POWERS))
        return;
    for (const struct family *f = m->families; f; f = f->next) {
        const struct step *s = m->steps;
        if (!f->auxiliary)
            continue;
        while (s && !step_moves(s, f->var)) {
            if (s->sampler && condition_has_variable(s->turn.reads, f->var))
                error_at(c, f->span,
                         "--with=powers: not supported yet: %s is read before "
                         "it is drawn",
                         f->text);
            s = s->next;
        }
    }
}
