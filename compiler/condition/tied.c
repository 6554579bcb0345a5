/* tied.c: which elements of a family a factor ties to each other. */
#include "condition/find.h"
#include <math.h>
#include <string.h>

static void add_conflict(struct compiler *c, struct step *s, struct factor *g,
                         const struct finder *f)
{
    struct conflict *k = NEW(c, struct conflict);
    k->factor = g;
    for (int i = 0; i < f->n && i < 8; i++) {
        const struct found *r = &f->found[i];
        k->references[i] = r->reference;
        k->nbound[i] = r->nbound;
        for (int b = 0; b < r->nbound; b++)
            k->bound[i][b] = r->bound[b];
        k->sums = k->sums || r->nbound > 0;
        k->nreferences++;
    }
    k->next = s->order.conflicts;
    s->order.conflicts = k;
}

/* A sum over part of the subscripts, as in inprod(X[n,], beta[g,]), ties the
 * elements of one g alone: they can be listed for each instance. One over all
 * elements leaves nothing to do at once. */
static bool ties_can_be_listed(const struct family *f, const struct loop *bound)
{
    return f->nloops >= 2 && bound->lower && bound->upper &&
           !sym_has_any_loop(bound->lower) && !sym_has_any_loop(bound->upper) &&
           !sym_reads_latent(bound->lower) && !sym_reads_latent(bound->upper);
}

/* Whether one turn of the loop at most is at the family: X[i,j] is X[i,1] where
 * j is 1, so a sum over j does not tie the elements of a column. */
static bool one_turn_hits(struct compiler *c, const struct family *f,
                          const struct found *r, const struct loop *bound)
{
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        if (!f->upper[d] &&
            !sym_has_loop_of(f->lower[d], f->loops, f->nloops) &&
            sym_plain_loop(c, r->reference->args[d], &offset) == bound &&
            !sym_has_loop_of(offset, r->bound, r->nbound))
            return true;
    }
    return false;
}

bool condition_ends_of_run(struct compiler *c, const struct found *r, int d,
                           symp *lower, symp *upper)
{
    symp offset;
    const struct loop *l = sym_plain_loop(c, r->reference->args[d], &offset);
    bool bound = false;
    for (int b = 0; b < r->nbound; b++)
        bound = bound || r->bound[b] == l;
    if (!bound || sym_has_loop_of(offset, r->bound, r->nbound) || !l->lower ||
        sym_has_loop_of(l->lower, r->bound, r->nbound) ||
        sym_has_loop_of(l->upper, r->bound, r->nbound))
        return false;
    *lower = sym_add2(c, l->lower, offset);
    *upper = sym_add2(c, l->upper, offset);
    return true;
}

/* Adds what no density mentions: the element itself, in its own prior where
 * that is flat, as in x[k] ~ dunif(x[k-1], 1). */
static void add_own(struct compiler *c, const struct family *f,
                    struct finder *distinct)
{
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    for (int i = 0; i < distinct->n; i++)
        if (condition_same_node(f, distinct->found[i].reference, own))
            return;
    distinct->found[distinct->n++] = (struct found){.reference = own};
}

/* A condition, or a product of several. */
static bool is_conditions(symp e)
{
    bool all = e->kind == SYM_MUL;
    for (int i = 0; all && i < e->nargs; i++)
        all = sym_is_condition(e->args[i]);
    return all || sym_is_condition(e);
}

static bool is_zero_of_condition(symp e, const void *unused)
{
    (void)unused;
    return (e->kind == SYM_NUM && e->number == -HUGE_VAL) ||
           (e->kind == SYM_CALL && !strcmp(e->name, "log") &&
            is_conditions(e->args[0]));
}

/* Whether g holds 0s and 1s by a condition that they must meet together, as
 * that there are k of them: the states between two that meet it are
 * impossible. */
static bool holds_bits(const struct step *s, const struct factor *g)
{
    return s->support.lower && sym_is(s->support.lower, 0) &&
           s->support.upper && sym_is(s->support.upper, 1) &&
           model_draws_integers(s->family) &&
           sym_any(g->logp, is_zero_of_condition, NULL);
}

/* 1 - something. */
static bool is_complement(symp e)
{
    for (int i = 0; e->kind == SYM_ADD && e->nargs == 2 && i < 2; i++) {
        symp other = e->args[1 - i];
        if (sym_is(e->args[i], 1) && other->kind == SYM_MUL &&
            sym_is(other->args[0], -1))
            return true;
    }
    return false;
}

/* Whether a value that is not negative may be 0 by what conditions say. */
static bool may_vanish(symp e)
{
    bool some = false, all = e->nargs > 0;
    for (int i = 0; i < e->nargs; i++) {
        const bool one = may_vanish(e->args[i]);
        some = some || one;
        all = all && (one || sym_is(e->args[i], 0));
    }
    return sym_is_condition(e) || (is_complement(e) && some) ||
           (e->kind == SYM_MUL && some) || (e->kind == SYM_ADD && all) ||
           (e->kind == SYM_CALL && !strcmp(e->name, "abs"));
}

static bool vanishes_by_condition(symp e, const void *var)
{
    return e->kind == SYM_CALL && !strcmp(e->name, "log") &&
           sym_has_var(e->args[0], var) && may_vanish(e->args[0]);
}

/* The same of labels and counts, by what depends on them. */
static bool holds_some(const struct step *s, const struct factor *g)
{
    return g != s->family->factor && model_draws_integers(s->family) &&
           !s->family->nslices &&
           sym_any(g->logp, vanishes_by_condition, s->family->var);
}

bool condition_may_vanish(symp logp, const struct var *v)
{
    return sym_any(logp, is_zero_of_condition, NULL) ||
           sym_any(logp, vanishes_by_condition, v);
}

const struct family *
condition_elements_dependence(struct compiler *c, struct step *s,
                              struct factor *g, struct finder *found, bool own)
{
    const struct family *f = s->family;
    symp lower, upper;
    if (f->nloops == 0)
        return NULL; /* one element */
    struct finder distinct = *found;
    distinct.found = NEW_ARRAY(c, struct found, found->n + 1);
    distinct.n = 0;
    bool sums = false; /* a sum ties many elements */
    for (int i = 0; i < found->n; i++) {
        const struct found *r = &found->found[i];
        for (int d = 0; d < f->var->ndim; d++)
            for (int b = 0; b < r->nbound && !f->upper[d]; b++)
                if (sym_has_loop(r->reference->args[d], r->bound[b]) &&
                    !one_turn_hits(c, f, r, r->bound[b])) {
                    sums = true;
                    if (!ties_can_be_listed(f, r->bound[b]) ||
                        !condition_ends_of_run(c, r, d, &lower, &upper))
                        s->order.sequential = true;
                }
        bool known = false;
        for (int j = 0; j < distinct.n; j++)
            known = known || condition_same_node(f, distinct.found[j].reference,
                                                 r->reference);
        if (!known)
            distinct.found[distinct.n++] = *r;
    }
    if (own)
        add_own(c, f, &distinct);
    if (distinct.n < 2 && !sums)
        return NULL;
    if (holds_bits(s, g) || holds_some(s, g))
        s->order.sequential = s->order.held = true;
    if (s->order.sequential)
        return NULL;
    for (int i = 0; i < distinct.n; i++)
        for (int d = 0; d < f->var->ndim; d++)
            if (!f->upper[d] &&
                sym_reads_latent(distinct.found[i].reference->args[d]))
                s->order.sequential = true;
    if (distinct.n > 8 || !family_plain(c, s->family))
        s->order.sequential = true;
    if (s->order.sequential)
        return NULL;
    add_conflict(c, s, g, &distinct);
    return sums ? f : NULL;
}
