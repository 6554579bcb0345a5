/* recall.c: sums over a plate that an update need not compute as they are known
 * from one before (stdlib/kernels/recall.h). That is so where nothing has
 * changed what they are functions of: the next element of an array in whose
 * conditional the same sum stands as a whole, or the next sweep, where no other
 * step draws any of it. A power stands before the sum, so what is known is the
 * log likelihood of the data, which methods with powers ask for after a sweep.
 *
 * A sum is told by the values of all that it reads but the data. These must be
 * few: none that there is one of for each row. */
#include "sweep/sweep.h"

static bool is_value(const struct var *v)
{
    return v->role == ROLE_STOCHASTIC || v->role == ROLE_AUXILIARY ||
           v->role == ROLE_POWER || (v->role == ROLE_DERIVED && v->stored);
}

/* A value that each row has another one of, or that is no number of its own. */
static bool is_of_row(symp e, const void *context)
{
    const struct part *p = context;
    if (sym_is_draw(e, NULL))
        return true;
    if (e->kind != SYM_REF)
        return false;
    if (e->var->follows)
        return true;
    return is_value(e->var) && e->var != p->factor->family->var &&
           (e->var->integer || sym_has_loop_of(e, p->loops, p->nloops));
}

static bool has_element(const struct step *s, symp e)
{
    const struct family *f = s->family;
    return e && (sym_has_loop_of(e, f->loops, f->nloops) ||
                 (f->nloops > 0 && sym_has_target(e)));
}

/* Whether the rows are the same for all elements of the step. */
static bool is_of_all(const struct step *s, const struct part *p)
{
    if (has_element(s, p->logp) || has_element(s, p->guard))
        return false;
    for (int i = 0; i < p->nloops; i++)
        if (p->solved[i] || has_element(s, p->loops[i]->lower) ||
            has_element(s, p->loops[i]->upper))
            return false;
    return true;
}

static bool is_plain(const struct step *s, const struct part *p)
{
    return condition_part_shared_out(p) && (p->opaque || s->whole) && !p->own &&
           !p->inverse && !p->hoisted && !p->lower && !p->upper && !p->copies &&
           !sym_any(p->logp, is_of_row, p) &&
           !(p->guard && sym_any(p->guard, is_of_row, p)) && is_of_all(s, p);
}

/* What else is multiplied by a power alone; the power in *power. */
static symp without_power(struct compiler *c, symp logp, symp *power)
{
    for (int i = 0; logp->kind == SYM_MUL && i < logp->nargs; i++)
        if (logp->args[i]->kind == SYM_REF &&
            logp->args[i]->var->role == ROLE_POWER) {
            *power = logp->args[i];
            return sym_cofactor(c, logp, i);
        }
    return logp;
}

/* Whether the part is all of the factor's log density. */
static bool is_whole(struct compiler *c, const struct part *p)
{
    const struct factor *g = p->factor;
    symp by[MAX_LOOPS];
    for (int i = 0; i < p->nloops; i++)
        by[i] = sym_loop(c, p->loops[i]);
    return !p->guard && !g->replaced && !g->guard && !g->rule &&
           sym_same(sym_replace_loops(c, g->logp, g->loops, p->nloops, by),
                    p->logp);
}

static bool changes(const struct step *s, const struct var_list *key)
{
    for (int i = 0; i < key->n; i++)
        if (condition_has_variable(s->turn.changes, key->items[i]))
            return true;
    return false;
}

/* Whether a step from `first` on, s and what is drawn for kept sweeps apart,
 * changes any of the key. */
static bool any_changes(const struct step *first, const struct step *s,
                        const struct var_list *key)
{
    for (const struct step *t = first; t; t = t->next)
        if (t != s && !t->turn.late && changes(t, key))
            return true;
    return false;
}

static struct var_list *key_of(struct compiler *c, const struct model *m,
                               const struct part *p, symp logp)
{
    struct var_list *all = sweep_new_list(c, m), *key = sweep_new_list(c, m);
    sweep_add_read(all, logp);
    sweep_add_read(all, p->guard);
    for (int i = 0; i < p->nloops; i++) {
        sweep_add_read(all, p->loops[i]->lower);
        sweep_add_read(all, p->loops[i]->upper);
    }
    for (int i = 0; i < all->n; i++)
        if (is_value(all->items[i]))
            key->items[key->n++] = all->items[i];
    return key;
}

static void find(struct compiler *c, const struct model *m,
                 const struct step *s, struct part *p, int *n)
{
    symp power = NULL, logp = without_power(c, p->logp, &power);
    struct var_list *key = key_of(c, m, p, logp);
    const bool known = power && is_whole(c, p) && !any_changes(s->next, s, key);
    const bool next = s->sampler->scalar && s->family->nloops > 0;
    if (!known && !next && any_changes(m->steps, s, key))
        return;
    p->recalled = NEW(c, struct recalled);
    *p->recalled = (struct recalled){.key = key,
                                     .power = power,
                                     .logp = logp,
                                     .likelihood = known,
                                     .number = (*n)++};
}

void sweep_find_recalled(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next) {
        if (!s->sampler || s->through || !(s->sampler->scalar || s->whole) ||
            !s->family || s->family->var->integer || s->sampler->enumerates)
            continue;
        int n = 0;
        for (struct part *p = s->parts; p; p = p->next)
            if (is_plain(s, p))
                find(c, m, s, p, &n);
    }
}

int sweep_recalled(const struct step *s)
{
    int n = 0;
    for (const struct part *p = s->parts; p; p = p->next)
        n += p->recalled != NULL;
    return n;
}
