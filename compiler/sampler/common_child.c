/* common_child.c: a parameter and nodes that are drawn exactly stand in the
 * same likelihood, as n and theta of k[i] ~ dbin(theta, n), or shape and rate
 * of y[i] ~ dgamma(r, lambda). Given theta n may only move by what theta
 * leaves, and both creep along a ridge. With theta integrated out n sees all of
 * it: of exp(S(n) T(theta) + rest(n)), the joint density, stay rest(n) and log
 * Z(S(n)), the constant of theta's full conditional, whose statistics T are
 * multiplied by what theta's prior and the rows give, S(n). Theta is drawn
 * directly behind it: Liu (1994), The collapsed Gibbs sampler, J. Am. Stat.
 * Assoc. 89. */
#include "condition/find.h"
#include "sampler/integrated.h"

/* ---- which -----------------------------------------------------------------
 */

static const struct part *part_of(const struct step *s, const struct factor *g)
{
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor == g)
            return p;
    return NULL;
}

/* Whether the parameter's part has all instances of its factor, and these have
 * the node of f in their density alone. */
static bool reads_always(const struct integrated *k, const struct part *p,
                         const struct family *f)
{
    const struct factor *g = p->factor;
    bool always = !p->inverse && !p->cell && !p->guard && !g->guard &&
                  !(g->rule && model_reads(k->m, g->rule, f->var)) &&
                  !(p->lower && model_reads(k->m, p->lower, f->var)) &&
                  !(p->upper && model_reads(k->m, p->upper, f->var));
    for (int i = 0; i < p->nloops; i++)
        always = always && !p->solved[i];
    return always;
}

/* Whether where the parameter may lie depends on the node of f. */
static bool bounds_read(const struct integrated *k, const struct family *f)
{
    const struct support *s = &k->step->support;
    bool reads = (s->lower && model_reads(k->m, s->lower, f->var)) ||
                 (s->upper && model_reads(k->m, s->upper, f->var));
    for (const struct bound *b = s->bounds; b; b = b->next)
        reads = reads || model_reads(k->m, b->value, f->var);
    return reads;
}

/* Whether the nodes of s have a child in common with the parameter, or are the
 * parents of a count. */
static bool has_common_child(const struct integrated *k, const struct step *s)
{
    const bool count = model_draws_integers(k->step->family);
    bool common = false;
    for (const struct part *p = k->step->parts; p; p = p->next) {
        const struct part *q = part_of(s, p->factor);
        if (q && !reads_always(k, p, s->family))
            return false;
        common = common || (q && !sampler_is_prior(s, q) &&
                            (count || !sampler_is_prior(k->step, p)));
    }
    return common;
}

/* Whether no factor has the nodes of s beside some that were found. */
static bool stands_apart(const struct integrated *k, const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; i < k->n; i++)
            if (part_of(k->nodes[i].drawn, p->factor))
                return false;
    return true;
}

bool sampler_draws_scales(const struct step *s)
{
    return s->sampler == &sampler_direct && s->law.exponent &&
           !s->family->nslices && !s->family->auxiliary;
}

/* Whether each of a plate of scales has one child, and no more, beside its
 * prior. */
static bool has_a_child_each(const struct step *s)
{
    int n = 0;
    for (const struct part *p = s->parts; p; p = p->next) {
        if (sampler_is_prior(s, p))
            continue;
        for (int i = 0; i < p->nloops; i++)
            if (!p->solved[i])
                return false;
        if (p->inverse || n++)
            return false;
    }
    return n == 1 && s->family->nloops > 0;
}

/* Of scales all may go whose children the parameter scales, too; else those
 * that are no scales. */
static bool may_stand_beside(const struct integrated *k, const struct step *s)
{
    return k->scales ? sampler_draws_scales(s) && has_a_child_each(s)
                     : !s->law.exponent;
}

void sampler_find_common_children(struct integrated *k)
{
    const struct step *s = k->step;
    if (s->family->nloops || s->family->nslices || s->through)
        return;
    for (struct step *t = k->m->steps; t && k->n < MOST_NODES; t = t->next)
        if (t != s && !t->family->nslices && !t->family->auxiliary &&
            may_stand_beside(k, t) && sampler_can_go(k->m, t) &&
            !bounds_read(k, t->family) && has_common_child(k, t) &&
            stands_apart(k, t))
            k->nodes[k->n++] =
                (struct node){.drawn = t,
                              .factor = t->family->factor,
                              .at = family_lhs(k->c, t->family, 0, NULL)};
    k->beside = k->n > 0;
}

/* ---- what is left ----------------------------------------------------------
 */

/* The node among k's that the part has; NULL: none. */
static const struct node *node_in(const struct integrated *k,
                                  const struct part *p)
{
    for (int i = 0; i < k->n; i++)
        if (part_of(k->nodes[i].drawn, p->factor))
            return &k->nodes[i];
    return NULL;
}

/* The only cell of v that e reads; NULL: none, or several. */
static symp only_cell(symp e, const struct var *v, bool *several)
{
    if (e->kind == SYM_REF && e->var == v)
        return e;
    symp found = NULL;
    for (int i = 0; i < e->nargs; i++) {
        symp cell = only_cell(e->args[i], v, several);
        *several = *several || (cell && found && !sym_same(cell, found));
        found = cell ? cell : found;
    }
    return found;
}

static bool has_statistic(const struct step *s, symp statistic)
{
    for (int i = 0; i < s->law.n; i++)
        if (sym_same(s->law.statistics[i], statistic))
            return true;
    return false;
}

/* What a part has of a node: the statistics of that one's full conditional, and
 * a rest without it. False: it has others. */
static bool split_part(struct compiler *c, const struct step *s,
                       const struct part *p, symp *cell, struct collected *out)
{
    const struct var *v = s->family->var;
    bool several = false;
    *cell = only_cell(p->logp, v, &several);
    symp e = *cell ? sym_replace(c, p->logp, *cell, sym_target(c)) : p->logp;
    sym_collect(c, e, v->positive, out);
    bool known = !several && !out->overflow && !sym_has_target(out->rest) &&
                 !sym_has_var(out->rest, v);
    for (int t = 0; known && t < out->n; t++)
        known = has_statistic(s, out->statistic[t]) &&
                !sym_has_var(out->coefficient[t], v);
    return known;
}

symp sampler_without_common(const struct integrated *k, const struct part *p)
{
    struct compiler *c = k->c;
    const struct node *node = node_in(k, p);
    struct collected terms;
    symp cell, with = sym_num(c, 0);
    if (!node || !split_part(c, node->drawn, p, &cell, &terms))
        return node ? NULL : p->logp;
    if (!cell)
        return p->logp;
    for (int t = 0; t < terms.n; t++)
        with = sym_add2(
            c, with,
            sym_mul2(c, terms.coefficient[t],
                     sym_replace(c, terms.statistic[t], sym_target(c), cell)));
    return sym_add2(c, terms.rest,
                    sym_select(c,
                               sym_seen(c, cell->var, cell->nargs, cell->args),
                               with, sym_num(c, 0)));
}

bool sampler_leaves_ridge(const struct integrated *k)
{
    const struct var *v = k->step->family->var;
    bool leaves = false;
    for (const struct part *p = k->step->parts; p; p = p->next) {
        const struct node *node = node_in(k, p);
        struct collected terms;
        symp cell;
        if (node && !split_part(k->c, node->drawn, p, &cell, &terms))
            return false;
        leaves = leaves || (node && sym_has_var(terms.rest, v));
    }
    return leaves;
}
