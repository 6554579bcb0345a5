/* plan.c: the sweep in order. After a step that moves what a latent index
 * depends on, the index is rebuilt; after one on which stored derived nodes
 * depend, they are recomputed. Numbers the steps. */
#include "sweep/sweep.h"

static struct step *insert_after(struct compiler *c, struct step *s)
{
    struct step *n = NEW(c, struct step);
    n->model = s->model;
    n->next = s->next;
    s->next = n;
    return n;
}

bool step_moves(const struct step *s, const struct var *v)
{
    if (s->nmembers)
        for (int i = 0; i < s->nmembers; i++)
            if (s->members[i].family->var == v)
                return true;
    if (s->sampler && s->sampler->moves && s->sampler->moves(s, v))
        return true;
    return s->family && s->family->var == v;
}

static bool latent_subscript(symp ref, const struct var *v)
{
    for (int d = 0; d < ref->nargs; d++)
        if (sym_has_var(ref->args[d], v))
            return true;
    return false;
}

/* What follows the draw of barren elements waits for a kept sweep with it. What
 * follows a leaf's does not: its index is of data, too. */
static void depend_on(struct step *last, struct step *s)
{
    if (s->sampler->forward && !s->family->var->barren)
        return;
    last->after = s;
    last->late = s->late;
}

const char *derive_name(struct compiler *c, const struct family *f)
{
    return intern_format(c, "%s_%s", f->sequence ? "refresh" : "derive",
                         family_id(c, f));
}

static void follow_up(struct compiler *c, struct model *m, struct step *s)
{
    struct step *last = s;
    for (struct family *f = m->families; f; f = f->next) {
        if (f->stochastic || !f->var->stored)
            continue;
        bool moved = false;
        for (struct var *v = m->vars; v; v = v->next)
            moved = moved || (step_moves(s, v) && recomputed_with(m, f, v));
        if (!moved || (s->through && !f->for_updates))
            continue;
        last = insert_after(c, last);
        last->family = f;
        depend_on(last, s);
        last->name = derive_name(c, f);
    }
    for (struct inverse *i = m->inverses; i; i = i->next) {
        bool moved = false;
        for (struct var *v = m->vars; v; v = v->next)
            moved = moved ||
                    (step_moves(s, v) && latent_subscript(i->reference, v));
        if (!i->latent || !moved)
            continue;
        last = insert_after(c, last);
        last->inverse = i;
        depend_on(last, s);
        last->name = intern_format(c, "index%d", i->number);
    }
}

void number_steps(struct model *m)
{
    m->nsteps = 0;
    for (struct step *s = m->steps; s; s = s->next)
        s->number = m->nsteps++;
}

void plan(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps, *next; s; s = next) {
        next = s->next;
        follow_up(c, m, s);
    }
    /* elements of a stochastic array that are functions of others */
    struct step *last = m->steps;
    while (last && last->next)
        last = last->next;
    for (struct family *f = m->families; f && last; f = f->next)
        if (!f->stochastic && f->var->role == ROLE_STOCHASTIC &&
            !f->data_block && (!f->sequence || f->sequence->families[0] == f)) {
            last = insert_after(c, last);
            last->family = f;
            last->name = derive_name(c, f);
        }
    number_steps(m);
}
