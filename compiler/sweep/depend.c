/* depend.c: what each step reads and what it changes, so which steps may change
 * places or run side by side. A full conditional is a function of the factors
 * that have what it draws: of the variables in them, through whatever derived
 * nodes these are read. Variables, not elements, are told apart. */
#include "sweep/sweep.h"

static void add(struct var_list *list, const struct var *v)
{
    if (!condition_has_variable(list, v))
        list->items[list->n++] = v;
}

/* What e reads that a sweep may change, and what that is computed from. */
void sweep_add_read(struct var_list *list, symp e)
{
    if (!e)
        return;
    if (e->kind == SYM_REF && !condition_has_variable(list, e->var) &&
        e->var->role != ROLE_GIVEN && e->var->role != ROLE_CONSTANT) {
        add(list, e->var);
        for (const struct family *f = e->var->families; f; f = f->next_of_var)
            if (!f->stochastic)
                sweep_add_read(list, f->body);
    }
    for (int i = 0; i < e->nargs; i++)
        sweep_add_read(list, e->args[i]);
}

struct var_list *sweep_new_list(struct compiler *c, const struct model *m)
{
    struct var_list *list = NEW(c, struct var_list);
    int n = 0;
    for (const struct var *v = m->vars; v; v = v->next)
        n++;
    list->items = NEW_ARRAY(c, const struct var *, n);
    return list;
}

static void add_variables_in(struct var_list *list, const struct factor *g)
{
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    add(list, g->family->var);
    if (g->auxiliary)
        add(list, g->auxiliary);
    for (int i = 0; i < n; i++)
        sweep_add_read(list, all[i]);
}

static bool shares(const struct var_list *a, const struct var_list *b)
{
    for (int i = 0; i < a->n; i++)
        if (condition_has_variable(b, a->items[i]))
            return true;
    return false;
}

static void add_definition(struct step *s, const struct family *f)
{
    add(s->turn.changes, f->var);
    sweep_add_read(s->turn.reads, f->body);
}

/* What is recomputed with f: itself, or the sequence that it is the first of.
 */
static void add_recomputed(struct step *s, const struct family *f)
{
    const struct sequence *q = f->sequence;
    for (int i = 0; q && i < q->n; i++)
        add_definition(s, q->families[i]);
    if (!q)
        add_definition(s, f);
}

static void add_changed(const struct model *m, struct step *s)
{
    if (!s->sampler && s->family)
        add_recomputed(s, s->family);
    for (const struct var *v = m->vars; v && s->sampler; v = v->next)
        if (step_moves(s, v))
            add(s->turn.changes, v);
}

bool sweep_recomputes(const struct step *s, const struct family *f)
{
    if (!s->through || f->stochastic || !f->var->stored || f->for_updates)
        return false;
    for (const struct var *v = s->model->vars; v; v = v->next)
        if (step_moves(s, v) && model_recomputed_with(s->model, f, v))
            return true;
    return false;
}

/* Sums over rows that are in tables are read there. */
static void add_summed(struct var_list *list, const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; p->summed && i < p->summed->terms.n; i++)
            sweep_add_read(list, p->summed->terms.coefficient[i]);
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        for (int i = 0; q->summed && i < s->block.n; i++) {
            sweep_add_read(list, q->summed->potential[i]);
            for (int j = 0; j <= i; j++)
                sweep_add_read(list, q->summed->precision[i][j]);
        }
}

static void add_in_parts(struct var_list *list, const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next) {
        add_variables_in(list, p->factor);
        if (s->lifted || s->integrated) /* tables stand in them */
            sweep_add_read(list, p->logp);
    }
    for (int i = 0; s->lifted && i < s->law.n; i++)
        sweep_add_read(list, s->lifted->statistic[i]);
}

/* The factors as the step itself sees them (affine.c); what is drawn forward
 * asks for all that its statement says, not the density. */
static void add_seen(struct compiler *c, struct step *s)
{
    symp *e = s->sampler && s->sampler->forward
                  ? model_sequence_expressions(c, s->family)
                  : NULL;
    for (; e && *e; e++)
        sweep_add_read(s->turn.reads, *e);
    add_in_parts(s->turn.reads, s);
    if (s->sampler && s->sampler->calls && s->sampler->calls(s))
        add_in_parts(s->turn.reads, s->sampler->calls(s));
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        add_variables_in(s->turn.reads, q->part->factor);
    add_summed(s->turn.reads, s);
}

void sweep_find_dependence(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next) {
        s->turn.reads = sweep_new_list(c, m);
        s->turn.changes = sweep_new_list(c, m);
        add_changed(m, s);
        add_seen(c, s);
        if (s->turn.inverse)
            sweep_add_read(s->turn.reads, s->turn.inverse->reference);
    }
    for (const struct factor *g = m->factors; g; g = g->next) {
        struct var_list *in = sweep_new_list(c, m);
        add_variables_in(in, g);
        for (struct step *s = m->steps; s; s = s->next)
            for (int i = 0;
                 s->sampler && shares(in, s->turn.changes) && i < in->n; i++)
                add(s->turn.reads, in->items[i]);
    }
    for (struct step *s = m->steps; s; s = s->next)
        for (const struct family *f = m->families; f; f = f->next)
            if (sweep_recomputes(s, f))
                add_recomputed(s, f);
}

/* Steps that go through an index meet where it is rebuilt. */
static bool through_index(const struct step *s)
{
    bool any = s->turn.inverse != NULL;
    for (const struct part *p = s->parts; p; p = p->next)
        any = any || (p->inverse && p->inverse->latent);
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        any = any || (q->part->inverse && q->part->inverse->latent);
    return any;
}

bool sweep_may_swap(const struct step *a, const struct step *b)
{
    if ((a->turn.inverse && through_index(b)) ||
        (b->turn.inverse && through_index(a)))
        return false;
    return !shares(a->turn.changes, b->turn.reads) &&
           !shares(b->turn.changes, a->turn.reads) &&
           !shares(a->turn.changes, b->turn.changes);
}
