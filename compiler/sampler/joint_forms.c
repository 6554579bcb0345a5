/* joint_forms.c: vector nodes with normal densities, as data or as members, as
 * terms of a joint block that stands in their means.
 *
 * The density of y ~ N(m, P^-1), given what the block does not have, is
 * -(m - y)'P(m - y)/2, each component of m - y a linear form a_k'x + r_k of the
 * block's cells: L(x) = -sum_kl P[k,l] (a_k'x) (a_l'x) / 2 - sum_k (P r)[k]
 * a_k'x. So the rows are pairs of components, of which the loader multiplies
 * the coefficients. Where P is the same for all instances, it sums the products
 * that belong to one element of P first: then a draw costs no pass over pairs
 * of the components of each instance. */
#include "sampler/joint.h"

/* More components are a long vector; more cells of each are too many of one. */
enum { MOST_COMPONENTS = 64, MOST_OF_LONG = 2 };

/* The node's precision is free of the block: its element at loops[0], loops[1];
 * or NULL. */
static symp precision_of(struct compiler *c, const struct model *m,
                         const struct joint_context *k, struct factor *g,
                         struct loop *loops[2])
{
    struct step own = {.family = joint_node(g), .model = m};
    if (!sampler_gaussian_density(c, &own, g))
        return NULL;
    symp precision = own.block.quadratics->precision[0][0];
    loops[0] = own.block.members[0].index.loops[0];
    loops[1] = own.block.members[0].index2.loops[0];
    return joint_mentions(k, precision) ? NULL : precision;
}

/* sum over l of P[a,l] by[l] */
static symp times_precision(struct compiler *c, const struct family *f,
                            struct loop *const pair[2], symp precision, symp by)
{
    struct loop *l = NEW(c, struct loop);
    *l = *pair[1];
    l->name = "l";
    symp product =
        sym_mul2(c, sym_replace_loop(c, precision, pair[1], sym_loop(c, l)),
                 sym_replace_loop(c, by, pair[0], sym_loop(c, l)));
    return sym_sum(c, l, sym_num(c, 1), family_extent(c, f, 0), product);
}

/* The term of one product of the precision. */
static struct joint_term *make_forms(struct compiler *c, struct factor *g,
                                     struct loop *const pair[2],
                                     const struct joint_linear *form,
                                     const struct joint_product *p)
{
    struct joint_term *t = NEW(c, struct joint_term);
    t->factor = g;
    t->forms = true;
    t->node = joint_node(g);
    t->pair[0] = pair[0];
    t->pair[1] = pair[1];
    t->scale = p->scale;
    t->weight = p->unit;
    t->offset = form->rest;
    t->score =
        sym_neg(c, times_precision(c, t->node, pair, t->weight, t->offset));
    t->nslots = form->n;
    t->slots = NEW_ARRAY(c, struct joint_slot, form->n);
    t->leaf = g->seen_var;
    t->constant_design = t->data_design = true;
    for (int i = 0; i < form->n; i++) {
        symp by = form->slots[i].coefficient;
        t->slots[i] = form->slots[i];
        t->constant_design = t->constant_design && joint_constant(by, g);
        t->data_design = t->data_design && sampler_data_with(by, t->leaf);
    }
    t->constant_weight = p->constant;
    t->constant_score = joint_constant(t->score, g);
    t->common_weight = !sym_has_loop_of(t->weight, g->loops, g->nloops);
    t->data_offset = sampler_data_with(t->offset, t->leaf);
    return t;
}

static bool is_sum(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_SUM;
}

static bool is_long(struct compiler *c, const struct family *f)
{
    double n;
    return f->nloops == 0 &&
           !(sym_difference(c, family_extent(c, f, 0), sym_num(c, 0), &n) &&
             n <= MOST_COMPONENTS);
}

/* All pairs of components of one long vector are too many, if each has products
 * of several cells that nothing sums at load; or where the precision, summed
 * over neighbours, is sparse. */
static bool too_many(struct compiler *c, const struct family *f,
                     const struct joint_linear *form,
                     const struct joint_products *precision)
{
    bool constant = true, sums = false, few = form->n <= MOST_OF_LONG;
    for (int i = 0; i < precision->n; i++) {
        const struct joint_product *p = &precision->items[i];
        constant = constant && p->constant;
        sums = sums || sym_any(p->unit, is_sum, NULL);
    }
    for (int i = 0; i < form->n; i++)
        few = few && !form->slots[i].nbound;
    return is_long(c, f) && (sums || (!constant && !few));
}

struct joint_term *vector_form_terms(struct compiler *c, const struct model *m,
                                     struct joint_context *k, struct factor *g)
{
    struct family *f = joint_node(g);
    const struct expr *mean = entry_value(f->distribution, "mean");
    struct joint_linear form = {.rest = sym_num(c, 0)};
    struct joint_products products;
    struct joint_term *terms = NULL, **last = &terms;
    struct loop *pair[2];
    if (f->nslices != 1 || joint_prior(f) != g || f->truncated || !mean ||
        sampler_extent_varies(c, f))
        return NULL;
    symp precision = precision_of(c, m, k, g, pair);
    if (!precision || !sampler_products_of(c, g, pair, precision, &products))
        return NULL;
    symp at = sym_loop(c, pair[0]);
    symp centre = model_substitute_derived(
        c, family_expression_at(c, f, mean,
                                emit_free_index(f->distribution, mean), at));
    k->apart = true;
    const bool linear =
        joint_decompose(c, k, sym_sub(c, centre, family_lhs(c, f, 1, &at)),
                        sym_num(c, 1), &form);
    k->apart = false;
    if (!linear || form.n == 0 || too_many(c, f, &form, &products))
        return NULL;
    for (int i = 0; i < products.n; i++) {
        *last = make_forms(c, g, pair, &form, &products.items[i]);
        last = &(*last)->next;
    }
    return terms;
}

struct family *sampler_pairs_of(const struct joint_term *t)
{
    return t->forms ? t->node : t->vector;
}

bool sampler_sums_at_load(const struct joint_term *t)
{
    return t->forms && t->common_weight && t->data_design && t->data_offset;
}
