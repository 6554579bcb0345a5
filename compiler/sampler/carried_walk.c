/* carried_walk.c: a random walk moves with the scale of its steps (carried.c).
 * Of x[t] ~ dnorm(x[t-1], 1 / sigma^2), for t from 2 on, all steps x[t] -
 * x[t-1] are multiplied by one number, and sigma: since they add up, x[t] -
 * x[1] is. The element in front of the walk stays, whatever its prior. Where
 * the data say little of single steps, sigma given the walk and the walk given
 * sigma, drawn in turn, move in small steps.
 *
 * Other elements of the walk's variable than those in front of it would not be
 * multiplied so: then it is no walk. */
#include "sampler/carried.h"

/* Another element of the walk's variable in e; all such are the same, or
 * *several. */
static void find_other(const struct family *f, symp own, symp e, symp *found,
                       bool *several)
{
    if (e->kind == SYM_REF && e->var == f->var && !sym_same(e, own)) {
        *several = *several || (*found && !sym_same(e, *found));
        *found = e;
    }
    for (int i = 0; i < e->nargs; i++)
        find_other(f, own, e->args[i], found, several);
}

/* The dimension along which `before` is the element before a cell, all other
 * subscripts being the cell's; -1: it is none. */
static int dimension_along(struct compiler *c, const struct family *f,
                           symp before)
{
    int along = -1;
    for (int d = 0; d < before->nargs; d++) {
        double lag;
        if (sym_same(before->args[d], f->lower[d]))
            continue;
        if (along >= 0 || f->lower[d]->kind != SYM_LOOP ||
            !sym_difference(c, f->lower[d], before->args[d], &lag) || lag != 1)
            return -1;
        along = d;
    }
    return along;
}

/* The prior is normal about the element before. */
static bool is_about(struct compiler *c, symp logp, symp cell, symp before)
{
    symp slope = sym_derivative(c, logp, cell);
    symp second = slope ? sym_derivative(c, slope, cell) : NULL;
    if (!second || sym_is(second, 0) || sym_has_var(second, cell->var))
        return false;
    symp deviation = sym_neg(c, sym_div(c, slope, sym_neg(c, second)));
    return sym_is(sym_sub(c, deviation, sym_sub(c, cell, before)), 0);
}

symp sampler_walk_from(struct compiler *c, const struct family *f)
{
    const struct factor *g = f->factor;
    symp cell = sym_ref(c, f->var, f->var->ndim, f->lower), before = NULL;
    bool several = false;
    find_other(f, cell, g->logp, &before, &several);
    const int d = before && !several ? dimension_along(c, f, before) : -1;
    if (d < 0 || g->rule || g->guard || g->lower || g->upper || f->truncated ||
        !is_about(c, g->logp, cell, before))
        return NULL;
    symp at[MAX_DIMS];
    for (int i = 0; i < f->var->ndim; i++)
        at[i] = f->lower[i];
    at[d] = sym_sub(c, f->lower[d]->loop->lower, sym_num(c, 1));
    for (const struct family *h = f->var->families; h; h = h->next_of_var)
        if (h != f && (h->nslices || !sym_same(h->lower[d], at[d])))
            return NULL;
    return sym_ref(c, f->var, f->var->ndim, at);
}
