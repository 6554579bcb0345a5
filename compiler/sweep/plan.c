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

/* Whether s draws v itself, and moves it not only beside. */
static bool draws(const struct step *s, const struct var *v)
{
    bool found = s->family && s->family->var == v;
    for (int i = 0; i < s->block.n; i++)
        found = found || s->block.members[i].family->var == v;
    return found;
}

bool step_moves(const struct step *s, const struct var *v)
{
    return draws(s, v) ||
           (s->sampler && s->sampler->moves && s->sampler->moves(s, v));
}

/* Whether v moves by functions that s calls, which compute what follows. */
static bool is_followed(const struct step *s, const struct var *v)
{
    const struct step *called =
        s->sampler && s->sampler->calls ? s->sampler->calls(s) : NULL;
    return called && called->through && !draws(s, v) && draws(called, v);
}

static bool subscript_reads(const struct model *m, symp ref,
                            const struct var *v)
{
    for (int d = 0; d < ref->nargs; d++)
        if (model_reads(m, ref->args[d], v))
            return true;
    return false;
}

/* What follows the draw of barren elements waits for a kept sweep with it. What
 * follows a leaf's does not: its index is of data, too. */
static void depend_on(struct step *last, struct step *s)
{
    if (s->sampler->forward && !s->family->var->barren)
        return;
    last->turn.after = s;
    last->turn.late = s->turn.late;
}

const char *sweep_derive_name(struct compiler *c, const struct family *f)
{
    return intern_format(c, "%s_%s", f->sequence ? "refresh" : "derive",
                         family_id(c, f));
}

/* Whether a table that is read only where all of a leaf is observed waits for
 * s nevertheless: there the leaf stays, and so does what is drawn forward. */
static bool waits_for(const struct var *leaf, const struct step *s,
                      const struct var *v)
{
    return !leaf || (v != leaf && !s->sampler->forward);
}

/* The leaf that the sum over a part by index i is from tables of, where it is
 * observed throughout; else NULL. *several: other parts are not, or of another.
 */
static void find_tallied(const struct part *p, const struct part *summed,
                         const struct inverse *i, const struct var **leaf,
                         bool *several)
{
    if (p->inverse != i)
        return;
    const struct var *this =
        summed && summed->tallied ? p->factor->seen_var : NULL;
    *several = *several || !this || (*leaf && *leaf != this);
    *leaf = this;
}

static bool has_quadratic_of(const struct step *s, const struct part *p)
{
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->part == p)
            return true;
    return false;
}

/* All that goes through the index does not where this leaf is observed
 * throughout; or NULL. */
static const struct var *unless_tallied(const struct model *m,
                                        const struct inverse *i)
{
    const struct var *leaf = NULL;
    bool several = false;
    for (const struct step *s = m->steps; s; s = s->next) {
        for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
            find_tallied(q->part, q->summed ? q->summed->part : NULL, i, &leaf,
                         &several);
        for (const struct part *p = s->parts; p; p = p->next)
            if (!has_quadratic_of(s, p))
                find_tallied(p, p->summed, i, &leaf, &several);
        for (const struct part *p = s->order.ties; p; p = p->next)
            find_tallied(p, NULL, i, &leaf, &several);
        for (const struct part *p = s->view.reached; p; p = p->next)
            find_tallied(p, NULL, i, &leaf, &several);
        for (const struct bound *b = s->support.bounds; b; b = b->next)
            find_tallied(b->part, NULL, i, &leaf, &several);
    }
    return several ? NULL : leaf;
}

/* Whether the table f stays where v is drawn, as it takes of it what is
 * observed. */
static bool stays(const struct family *f, const struct var *v)
{
    return f->of_observed && v->leaf;
}

/* Whether s makes the index due. */
static bool makes_due(const struct model *m, const struct step *s,
                      const struct inverse *i)
{
    for (const struct var *v = m->vars; v; v = v->next)
        if (step_moves(s, v) && subscript_reads(m, i->reference, v) &&
            waits_for(i->leaf, s, v))
            return true;
    return false;
}

/* Those that s makes due: of the device's or of the host's, too, behind step
 * `last`; returns the last one then. */
static struct step *rebuild_indices(struct compiler *c, struct model *m,
                                    struct step *s, struct step *last,
                                    bool device)
{
    const struct step *again = s->turn.index_waits ? s->turn.again : NULL;
    for (struct inverse *i = m->inverses; i; i = i->next) {
        if (!i->latent || i->device != device || !makes_due(m, s, i) ||
            (again && makes_due(m, again, i)))
            continue;
        last = insert_after(c, last);
        last->turn.inverse = i;
        if (device)
            last->turn.due_whole = i->leaf;
        else
            last->turn.due_partly = unless_tallied(m, i);
        depend_on(last, s);
        last->name = intern_format(c, "index%d", i->number);
    }
    return last;
}

static bool moves_below(const struct model *m, const struct step *s,
                        const struct family *f)
{
    for (const struct var *v = m->vars; v; v = v->next)
        if (step_moves(s, v) && model_recomputed_with(m, f, v))
            return true;
    return false;
}

/* Whether step s reads v in its parts, or a table that is computed from it. */
static bool needs(const struct model *m, const struct step *s,
                  const struct var *v)
{
    for (const struct part *p = s->parts; p; p = p->next) {
        if (sym_has_var(p->logp, v))
            return true;
        for (const struct family *f = m->families; f; f = f->next)
            if (f->for_updates && sym_has_var(p->logp, f->var) && f->body &&
                sym_has_var(f->body, v))
                return true;
    }
    return s->sampler && s->sampler->calls && s->sampler->calls(s) &&
           needs(m, s->sampler->calls(s), v);
}

/* Whether the table f, which is due, may wait for the next step, which makes it
 * due anew. */
static bool waits(const struct model *m, const struct step *next,
                  const struct family *f)
{
    return f->for_updates && moves_below(m, next, f) && !needs(m, next, f->var);
}

/* The stored derived nodes, or the tables, that s makes due, behind step
 * `last`; returns the last one then. */
static struct step *recompute(struct compiler *c, struct model *m,
                              struct step *s, const struct step *next,
                              struct step *last, bool tables)
{
    for (struct family *f = m->families; f; f = f->next) {
        if (f->stochastic || !f->var->stored || f->set_by_step ||
            f->for_updates != tables)
            continue;
        bool moved = false;
        for (struct var *v = m->vars; v; v = v->next)
            moved =
                moved || (step_moves(s, v) && model_recomputed_with(m, f, v) &&
                          (f->for_updates || !is_followed(s, v)) &&
                          waits_for(f->leaf, s, v) && !stays(f, v));
        if (!moved || (s->through && !f->for_updates) ||
            (next && next == s->turn.again && waits(m, next, f)))
            continue;
        last = insert_after(c, last);
        last->family = f;
        depend_on(last, s);
        last->turn.due_whole = f->leaf;
        last->name = sweep_derive_name(c, f);
    }
    return last;
}

/* Subscripts read derived nodes; the device computes tables by its indices. */
static void follow_up(struct compiler *c, struct model *m, struct step *s)
{
    const struct step *const next = s->next;
    struct step *last = recompute(c, m, s, next, s, false);
    last = rebuild_indices(c, m, s, last, true);
    last = recompute(c, m, s, next, last, true);
    rebuild_indices(c, m, s, last, false);
}

void sweep_number_steps(struct model *m)
{
    m->nsteps = 0;
    for (struct step *s = m->steps; s; s = s->next)
        s->number = m->nsteps++;
}

void sweep_plan(struct compiler *c, struct model *m)
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
            last->name = sweep_derive_name(c, f);
        }
    sweep_number_steps(m);
}
