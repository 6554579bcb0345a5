/* tried_nodes.c: nodes of a plate that have a few values each, and a label that
 * makes some of these impossible, as z[i] ~ dcat(P[a,]) where P has zeros.
 * Given its nodes, a label that one of them is impossible under is never
 * drawn, and a node that is impossible under the label neither, so a chain
 * stays among the labels that fit what it began with. With the nodes summed out
 * the label sees sum(z[i], p(z[i] | a) p(rest | z[i])) of each, and they are
 * drawn directly behind it: Liu (1994), The collapsed Gibbs sampler, J. Am.
 * Stat. Assoc. 89. What rows below a node tell of a value of it is a table, as
 * it is the same under all labels. */
#include "condition/find.h"
#include "sampler/integrated.h"
#include "sampler/moves.h"
#include <math.h>

/* ---- which -----------------------------------------------------------------
 */

/* Whether s tries all values of nodes that are independent given all else. */
static bool are_tried(const struct model *m, const struct step *s)
{
    const struct family *f = s->family;
    const struct factor *g = f->factor;
    return s->sampler == &sampler_enumeration && s->sampler->tries_all(s) &&
           f->nloops > 0 && !f->nslices && !f->affine && !f->truncated &&
           !f->data_block && !f->next_of_var && f->var->families == f &&
           !f->var->whole && !f->var->rest_of && sampler_is_free(m, f) &&
           !g->guard && !g->rule && !s->through && !s->integrated &&
           !s->order.sequential && !s->order.conflicts && !s->order.ties &&
           !s->support.bounds && !s->beside.block;
}

void sampler_find_tried(struct integrated *k)
{
    for (const struct part *p = k->step->parts; p && k->n < MOST_NODES;
         p = p->next) {
        struct family *f = p->factor->family;
        struct step *s = p->own || p->value || p->factor != f->factor
                             ? NULL
                             : sampler_step_of(k->m, f);
        if (s && are_tried(k->m, s) && sampler_holds(k->c, f->factor, k->step))
            k->nodes[k->n++] = (struct node){
                .drawn = s,
                .factor = f->factor,
                .at = family_lhs(k->c, f, 0, NULL),
            };
    }
    k->tried = k->n > 0;
}

/* ---- what is left of them --------------------------------------------------
 */

/* Whether a node has no other cell in e than the one that it is. */
static bool has_only(symp e, symp cell)
{
    if (e->kind == SYM_REF && e->var == cell->var)
        return sym_same(e, cell);
    for (int i = 0; i < e->nargs; i++)
        if (!has_only(e->args[i], cell))
            return false;
    return true;
}

static bool is_sum(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_SUM;
}

/* What the instances of a part below the nodes tell of one that has this value;
 * NULL: that is not known. */
static symp told_by(const struct integrated *k, const struct part *p, symp cell,
                    symp value)
{
    struct compiler *c = k->c;
    symp rule = condition_in_part(c, p, p->factor->rule), e = p->logp;
    bool rows;
    if (p->inverse || p->value || p->copies || p->factor->opaque ||
        !has_only(e, cell) || (rule && !has_only(rule, cell)))
        return NULL;
    symp power = sampler_take_power(c, p, &e);
    if (rule) /* that it is kept is no matter of the power: the prior's */
        e = sym_select(c, rule, e, sym_num(c, -(double)INFINITY));
    e = sym_select(c, emit_part_guard(c, p), sym_replace(c, e, cell, value),
                   sym_num(c, 0));
    if (!sampler_is_apart(k, e))
        return NULL;
    e = sampler_over_instances(c, p, e, &rows);
    symp table = (rows || sym_any(e, is_sum, NULL)) &&
                         !sym_any(e, sampler_is_a_power, NULL)
                     ? model_table_of(c, k->m, e, NULL)
                     : NULL;
    if (table)
        table->var->families->of_observed = true;
    return sym_mul2(c, power, table ? table : e);
}

/* The log density of a node's value and of all that reads it. */
static symp density_at(const struct integrated *k, const struct node *node,
                       symp value)
{
    struct compiler *c = k->c;
    const struct family *f = node->drawn->family;
    symp cell = sym_ref(c, f->var, f->var->ndim, f->lower);
    symp total = sym_replace(c, f->factor->logp, cell, value);
    for (const struct part *p = node->drawn->parts; p; p = p->next) {
        symp e = p->own ? sym_num(c, 0) : told_by(k, p, cell, value);
        if (!e)
            return NULL;
        total = sym_add2(c, total, e);
    }
    return total;
}

/* The log of the sum of exp(each) over the values of l. Terms that all have
 * stand beside it. */
static symp log_total(struct compiler *c, struct loop *l, symp values,
                      symp each)
{
    symp same = sym_num(c, 0), others = same;
    for (int i = 0; i < (each->kind == SYM_ADD ? each->nargs : 1); i++) {
        symp term = each->kind == SYM_ADD ? each->args[i] : each;
        symp *to = sym_has_loop(term, l) ? &others : &same;
        *to = sym_add2(c, *to, term);
    }
    symp all = sym_array(c, 1, &l, &values, others);
    return sym_add2(c, same, sym_call(c, "log_total", 1, &all));
}

bool sampler_tried_density(const struct integrated *k, struct node *node)
{
    struct compiler *c = k->c;
    const struct support *ends = &node->drawn->support;
    symp values = sym_length(c, ends->lower, ends->upper);
    struct loop *l = NEW(c, struct loop);
    *l = (struct loop){
        .name = intern(c, "value"), .lower = sym_num(c, 1), .upper = values};
    symp value =
        sym_add2(c, sym_loop(c, l), sym_sub(c, ends->lower, sym_num(c, 1)));
    symp each = density_at(k, node, value);
    if (!each)
        return false;
    symp place = sym_add2(c, node->at, sym_sub(c, sym_num(c, 1), ends->lower));
    symp here = sym_replace_loop(c, each, l, place);
    node->logp = log_total(c, l, values, each);
    /* where there is no value at all, no more is taken out than there is */
    symp bounded[] = {node->logp, sym_num(c, -1e300)};
    node->full = sym_sub(c, here, sym_call(c, "max", 2, bounded));
    return true;
}
