/* block_quadratic.c: what a factor adds to a Gaussian block, by
 * differentiation: with L its log density, its potential is dL/dx at x = 0 of
 * the block and its precision is -d2L/dx dx'; the block is one only if the
 * latter is free of the block. */
#include "sampler/block.h"
#include <string.h>

symp block_times_member(struct compiler *c, const struct member *m,
                        const struct indices *index,
                        const struct plate_values *v, symp coefficient)
{
    symp sum = sym_mul2(c, coefficient, block_member_cell(c, m, index, v));
    for (int k = index->n - 1; k >= 0; k--)
        sum = sym_sum(c, index->loops[k], index->loops[k]->lower,
                      index->loops[k]->upper, sum);
    return sum;
}

struct elements block_elements(const struct step *s)
{
    struct elements e = {.n = s->block.n};
    for (int i = 0; i < s->block.n; i++)
        e.families[i] = s->block.members[i].family;
    return e;
}

bool block_has_members(struct compiler *c, const struct step *s, symp e)
{
    for (int i = 0; e->kind == SYM_REF && i < s->block.n; i++) {
        const struct family *f = s->block.members[i].family;
        symp hit = f->var == e->var ? model_is_element(c, f, e) : sym_num(c, 0);
        if (!hit || !sym_is(hit, 0))
            return true;
    }
    for (int i = 0; i < e->nargs; i++)
        if (block_has_members(c, s, e->args[i]))
            return true;
    return false;
}

static const struct indices *second_index(const struct step *s, int i, int j)
{
    return i == j ? &s->block.members[j].index2 : &s->block.members[j].index;
}

/* first[i] + sum over j of precision[i][j] x[j]: the potential, whatever the
 * block's elements are. */
static symp at_origin(struct compiler *c, const struct step *s,
                      const struct plate_values *v, const struct quadratic *q,
                      int i, symp first)
{
    for (int j = 0; j < s->block.n; j++)
        first = sym_add2(c, first,
                         block_times_member(
                             c, &s->block.members[j], second_index(s, i, j), v,
                             j <= i ? q->precision[i][j] : q->precision[j][i]));
    return first;
}

/* Whether f is one vector node whose density reads no cell of its array but its
 * own: x[adj[k]] is in the node, whatever the data say. */
static bool reads_itself_alone(struct compiler *c, const struct family *f)
{
    if (!f->nslices || f->nloops > 0)
        return false;
    for (int i = 0; i < f->nargs; i++)
        if (sym_has_var(model_substitute_derived(c, f->args[i].body), f->var))
            return false;
    return true;
}

bool block_derive_quadratic(struct compiler *c, const struct step *s,
                            const struct plate_values *v, bool dense,
                            struct quadratic *q)
{
    symp logp = q->part->logp, first[8];
    struct elements own = block_elements(s);
    own.node = dense ? NULL : v->values;
    own.alone = s->block.n == 1 && logp == own.families[0]->factor->logp &&
                reads_itself_alone(c, own.families[0]);
    bool any = false;
    for (int i = 0; i < s->block.n; i++) {
        symp x = block_member_cell(c, &s->block.members[i],
                                   &s->block.members[i].index, v);
        first[i] = sym_derivative(c, logp, x);
        if (!first[i])
            return false;
        for (int j = 0; j <= i; j++) {
            symp y = block_member_cell(c, &s->block.members[j],
                                       second_index(s, i, j), v);
            symp second = sym_derivative(c, first[i], y);
            if (!second || block_has_members(c, s, second))
                return false;
            q->precision[i][j] = sym_neg(c, second);
            any = any || !sym_is(second, 0);
        }
    }
    for (int i = 0; i < s->block.n; i++) {
        bool told;
        q->potential[i] = model_without_elements(c, first[i], &own, &told);
        if (!told)
            q->potential[i] = at_origin(c, s, v, q, i, first[i]);
        any = any || !sym_is(q->potential[i], 0);
    }
    return any;
}

/* True if the second derivative is nonzero only where the indices agree. */
static bool is_diagonal(struct compiler *c, symp e, const struct loop *a,
                        const struct loop *b)
{
    if (sym_is(e, 0))
        return true;
    if (e->kind == SYM_ADD) {
        for (int i = 0; i < e->nargs; i++)
            if (!is_diagonal(c, e->args[i], a, b))
                return false;
        return true;
    }
    if (e->kind == SYM_SELECT && sym_is(e->args[2], 0) &&
        is_diagonal(c, e->args[0], a, b))
        return true;
    if (e->kind == SYM_SELECT)
        return is_diagonal(c, e->args[1], a, b) &&
               is_diagonal(c, e->args[2], a, b);
    if (e->kind == SYM_CALL && !strcmp(e->name, "=="))
        return (sym_has_loop(e->args[0], a) && sym_has_loop(e->args[1], b)) ||
               (sym_has_loop(e->args[0], b) && sym_has_loop(e->args[1], a));
    if (e->kind == SYM_MUL || (e->kind == SYM_CALL && !strcmp(e->name, "&&")))
        for (int i = 0; i < e->nargs; i++)
            if (is_diagonal(c, e->args[i], a, b))
                return true;
    return false;
}

bool block_prior_is_diagonal(struct compiler *c, const struct step *s,
                             const struct quadratic *q)
{
    for (int i = 0; i < s->block.n; i++)
        for (int j = 0; j <= i; j++) {
            if (i != j && !sym_is(q->precision[i][j], 0))
                return false;
            for (int k = 0; i == j && k < s->block.members[i].index.n; k++)
                if (!is_diagonal(c, q->precision[i][i],
                                 s->block.members[i].index.loops[k],
                                 s->block.members[i].index2.loops[k]))
                    return false;
        }
    return true;
}

bool block_unconfined_vector(const struct family *f)
{
    const struct expr *support =
        f->nslices ? entry_value(f->distribution, "support") : NULL;
    return !support || !strcmp(support->name, "vector");
}

bool sampler_gaussian_density(struct compiler *c, struct step *s,
                              struct factor *g)
{
    struct family *f = s->family;
    if (!block_unconfined_vector(f))
        return false;
    block_set_members(c, s, &f, 1, false);
    struct plate_values v;
    block_no_values(c, f, &v);
    struct quadratic *q = NEW(c, struct quadratic);
    q->part = sampler_own_prior(c, f);
    q->part->factor = g;
    q->part->logp = g->logp;
    if (!block_derive_quadratic(c, s, &v, false, q))
        return false;
    s->block.quadratics = q;
    return true;
}

bool sampler_gaussian_prior(struct compiler *c, struct step *s)
{
    struct factor *g = s->family->factor;
    return !g->replaced && sampler_gaussian_density(c, s, g);
}
