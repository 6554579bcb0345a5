/* interval.c: nodes of which no more is known than between which points they
 * lie, as the latent values of y[i] ~ dinterval(z[i], cut[]). Given z a cut
 * point has to stay between the two values that are next to it, of thousands
 * perhaps; with z integrated out what is left of it is a probability between
 * two points, as in an ordered probit regression: Albert and Chib (1993),
 * Bayesian analysis of binary and polychotomous response data, J. Am. Stat.
 * Assoc. 88; Cowles (1996), Accelerating Monte Carlo Markov chain convergence
 * for cumulative-link generalized linear models, Stat. Comput. 6, whose step
 * this is, with a slice. Where an augmentation has made the values' prior
 * normal, as a logistic one, they go given the node that it added.
 *
 * Likewise labels that settle the nodes' prior, as who is cured, of whom the
 * time is only known to be after the last visit: given the time a label stays,
 * and given the label the time. With the time integrated out a label sees the
 * probability between the points.
 */
#include "sampler/integrated.h"
#include <math.h>

/* What bounds the nodes, if each has one instance of it at most. */
static const struct part *only_child(const struct step *s)
{
    const struct part *found = NULL;
    for (const struct part *p = s->parts; p; p = p->next) {
        if (sampler_is_prior(s, p))
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

/* A node of f that g confines, *at, and the points between which it lies, in
 * the loops of g. */
static bool points_of(struct compiler *c, const struct family *f,
                      const struct factor *g, symp *at, symp *lower,
                      symp *upper)
{
    const struct clause_item *item;
    if (!confined(c, g, f->var, &item, at))
        return false;
    *lower = family_expression(c, g->family, item->value->args[0]);
    *upper = family_expression(c, g->family, item->value->args[1]);
    if (!*lower || !*upper)
        return false;
    *lower = model_substitute_derived(c, *lower);
    *upper = model_substitute_derived(c, *upper);
    return true;
}

static symp low_of(struct compiler *c)
{
    return sym_param(c, intern(c, "between.low"));
}

static symp high_of(struct compiler *c)
{
    return sym_param(c, intern(c, "between.high"));
}

/* Of a factor's log density: the mass, and the rest. */
static bool put_mass(struct compiler *c, struct node *node, symp mass)
{
    node->logp = mass;
    /* where there is no mass, no more is taken out than there is */
    symp bounded[] = {mass, sym_num(c, -1e300)};
    node->full = sym_sub(c, node->factor->logp, sym_call(c, "max", 2, bounded));
    return true;
}

/* The log mass between the two points of a normal that an augmentation has put
 * in the place of f's density, given the node that it added. NULL: it is none.
 */
static symp mass_given_added(struct compiler *c, const struct family *f)
{
    symp x = sym_target(c), of[2] = {sym_num(c, 0), sym_num(c, 0)};
    struct collected terms;
    sym_collect(c,
                sym_replace(c, f->factor->joint->logp,
                            sym_ref(c, f->var, f->var->ndim, f->lower), x),
                false, &terms);
    if (terms.overflow || sym_has_target(terms.rest))
        return NULL;
    for (int i = 0; i < terms.n; i++) {
        const bool square =
            sym_same(terms.statistic[i], sym_pow(c, x, sym_num(c, 2)));
        if (!square && !sym_same(terms.statistic[i], x))
            return NULL;
        of[square] = sym_add2(c, of[square], terms.coefficient[i]);
    }
    symp precision = sym_mul2(c, sym_num(c, -2), of[1]);
    symp mean = sym_div(c, of[0], precision);
    symp root = sym_call(c, "sqrt", 1, &precision);
    symp ends[] = {sym_mul2(c, sym_sub(c, low_of(c), mean), root),
                   sym_mul2(c, sym_sub(c, high_of(c), mean), root)};
    return sym_call(c, "log_phi_between", 2, ends);
}

bool sampler_between_points(struct compiler *c, struct node *node)
{
    const struct family *f = node->drawn->family;
    symp lower, upper,
        mass = f->factor->replaced
                   ? mass_given_added(c, f)
                   : family_log_mass(c, f, low_of(c), high_of(c));
    if (!mass || !points_of(c, f, node->factor, &node->at, &lower, &upper) ||
        !put_at(c, f, node->at, &mass))
        return false;
    mass = sym_replace(c, mass, low_of(c), lower);
    mass = sym_replace(c, mass, high_of(c), upper);
    return put_mass(c, node, mass);
}

/* *e, in the loops of g, in those of f's nodes, of which g has one at `at`.
 * False: a loop of g is not told by the node. */
static bool put_in_loops_of(struct compiler *c, const struct factor *g, symp at,
                            const struct family *f, symp *e)
{
    symp by[MAX_LOOPS];
    for (int i = 0; i < g->nloops; i++) {
        by[i] = NULL;
        for (int d = 0; d < f->var->ndim; d++)
            if (at->args[d]->kind == SYM_LOOP &&
                at->args[d]->loop == g->loops[i])
                by[i] = f->lower[d];
        if (!by[i])
            return false;
    }
    *e = sym_replace_loops(c, *e, g->loops, g->nloops, by);
    return true;
}

static bool is_end(symp e, double end)
{
    return e->kind == SYM_NUM && e->number == end;
}

/* The log mass of f between two points, of which either may be none; NULL: it
 * has no closed form. */
static symp mass_where(struct compiler *c, const struct family *f, symp lower,
                       symp upper)
{
    symp both[] = {lower, upper};
    for (int i = 0; i < 2; i++) {
        if (both[i]->kind != SYM_SELECT)
            continue;
        symp of[2];
        for (int j = 0; j < 2; j++) {
            symp arm = both[i]->args[j + 1];
            of[j] = mass_where(c, f, i ? lower : arm, i ? arm : upper);
        }
        return of[0] && of[1] ? sym_select(c, both[i]->args[0], of[0], of[1])
                              : NULL;
    }
    const bool open = is_end(lower, -HUGE_VAL),
               closed = !is_end(upper, HUGE_VAL);
    if (open && !closed)
        return sym_num(c, 0);
    symp mass = family_log_mass(c, f, open ? NULL : low_of(c),
                                closed ? high_of(c) : NULL);
    mass = mass ? sym_replace(c, mass, low_of(c), lower) : NULL;
    return mass ? sym_replace(c, mass, high_of(c), upper) : NULL;
}

bool sampler_confined_density(struct compiler *c, struct node *node)
{
    const struct family *f = node->drawn->family;
    const struct factor *g = sampler_factor_between(node->drawn);
    symp at, lower, upper;
    if (!points_of(c, f, g, &at, &lower, &upper) ||
        !put_in_loops_of(c, g, at, f, &lower) ||
        !put_in_loops_of(c, g, at, f, &upper))
        return false;
    symp mass = mass_where(c, f, lower, upper);
    return mass && put_mass(c, node, mass);
}
