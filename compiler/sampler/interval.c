/* interval.c: nodes of which no more is known than between which points they
 * lie, as the latent values of y[i] ~ dinterval(z[i], cut[]). Given z a cut
 * point has to stay between the two values that are next to it, of thousands
 * perhaps; with z integrated out what is left of it is a probability between
 * two points, as in an ordered probit regression: Albert and Chib (1993),
 * Bayesian analysis of binary and polychotomous response data, J. Am. Stat.
 * Assoc. 88; Cowles (1996), Accelerating Monte Carlo Markov chain convergence
 * for cumulative-link generalized linear models, Stat. Comput. 6, whose step
 * this is, with a slice.
 */
#include "sampler/integrated.h"

/* What bounds the nodes, if each has one instance of it at most. */
static const struct part *only_child(const struct step *s)
{
    const struct part *found = NULL;
    for (const struct part *p = s->parts; p; p = p->next) {
        if (p->own)
            continue;
        if (found || p->inverse)
            return NULL;
        for (int i = 0; i < p->nloops; i++)
            if (!p->solved[i])
                return NULL;
        found = p;
    }
    return found;
}

struct factor *sampler_factor_between(const struct step *s)
{
    const struct part *p = only_child(s);
    if (!p || !p->factor->opaque || p->factor->replaced || p->factor->power ||
        p->factor->family->factor != p->factor || !s->support.bounds)
        return NULL;
    for (const struct bound *b = s->support.bounds; b; b = b->next)
        if (b->part != p)
            return NULL;
    return p->factor;
}

/* The item of `confine`, and the node that it confines; false: there is not one
 * of either. */
static bool confined(struct compiler *c, const struct factor *g,
                     const struct var *v, const struct clause_item **item,
                     symp *node)
{
    const struct family *f = g->family;
    const struct clause *clause = entry_clause(f->distribution, "confine");
    *item = clause ? clause->items : NULL;
    if (!*item || (*item)->next || !(*item)->label ||
        (*item)->value->nargs != 2)
        return false;
    for (int a = 0; a < f->nargs; a++) {
        if ((*item)->label->name != f->distribution->parameters[a].name)
            continue;
        *node = model_substitute_derived(c, f->args[a].body);
        return (*node)->kind == SYM_REF && (*node)->var == v;
    }
    return false;
}

/* e, in the loops of the nodes' family, at one of them. False: these loops are
 * not its subscripts. */
static bool put_at(struct compiler *c, const struct family *f, symp node,
                   symp *e)
{
    int loops = 0;
    for (int d = 0; d < f->var->ndim; d++) {
        if (f->upper[d] || f->lower[d]->kind != SYM_LOOP)
            return false;
        *e = sym_replace_loop(c, *e, f->lower[d]->loop, node->args[d]);
        loops++;
    }
    return loops == f->nloops;
}

bool sampler_between_points(struct compiler *c, struct node *node)
{
    const struct family *f = node->drawn->family;
    const struct factor *g = node->factor;
    const struct clause_item *item;
    symp low = sym_param(c, "between.low"), high = sym_param(c, "between.high");
    symp mass = family_log_mass(c, f, low, high);
    if (!mass || !confined(c, g, f->var, &item, &node->at) ||
        !put_at(c, f, node->at, &mass))
        return false;
    symp lower = family_expression(c, g->family, item->value->args[0]);
    symp upper = family_expression(c, g->family, item->value->args[1]);
    if (!lower || !upper)
        return false;
    mass = sym_replace(c, mass, low, model_substitute_derived(c, lower));
    mass = sym_replace(c, mass, high, model_substitute_derived(c, upper));
    node->logp = mass;
    /* where there is no mass, no more is taken out than there is */
    symp bounded[] = {mass, sym_num(c, -1e300)};
    node->full = sym_sub(c, g->logp, sym_call(c, "max", 2, bounded));
    return !sym_has_var(mass, f->var);
}
