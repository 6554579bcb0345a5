/* joint_vector.c: vector nodes with normal priors as members of joint blocks.
 *
 * A vector's prior ties its cells to each other through a full matrix, not
 * through few coefficients: L(x) = -x'Px/2 + p'x for each instance of the
 * family. Its rows are the pairs of cells (a, b), b <= a: the weight of a row
 * is P[a,b], its score, if a = b, p[a].
 *
 * P and p are first written as sums over products. Terms with one factor that
 * no cell changes (tau, or tau * rho) and data for the rest are put together:
 * what is left of them is summed at load, where zeros drop out of the pattern.
 * So a conditional autoregression, tau * (D - rho * W), costs as much as it has
 * neighbours. All else is computed each sweep, also by its scale. */
#include "sampler/joint.h"

struct matrix {
    struct compiler *c;
    const struct factor *prior;
    struct loop *a, *b;
    struct family *family;
};

/* Changes from cell to cell, or between instances. */
static bool varies(const struct matrix *m, symp e)
{
    return sym_has_loop_of(e, m->prior->loops, m->prior->nloops) ||
           sym_has_loop(e, m->a) || sym_has_loop(e, m->b);
}

static void add_product(const struct matrix *m, symp e,
                        struct joint_products *out)
{
    struct compiler *c = m->c;
    symp one[1] = {e};
    symp const *args = e->kind == SYM_MUL ? e->args : one;
    const int n = e->kind == SYM_MUL ? e->nargs : 1;
    struct joint_product p = {sym_num(c, 1), sym_num(c, 1), false};
    for (int i = 0; i < n; i++) {
        symp *to = sym_reads_latent(args[i]) && !varies(m, args[i]) ? &p.scale
                                                                    : &p.unit;
        *to = sym_mul2(c, *to, args[i]);
    }
    p.constant = !sym_reads_latent(p.unit);
    for (int i = 0; i < out->n; i++) {
        struct joint_product *o = &out->items[i];
        if (o->constant == p.constant && sym_same(o->scale, p.scale)) {
            o->unit = sym_add2(c, o->unit, p.unit);
            return;
        }
    }
    if (out->n == MOST_PRODUCTS)
        out->failed = true;
    else
        out->items[out->n++] = p;
}

/* Distributes products and sums over what they hold. */
static void expand(const struct matrix *m, symp e, struct joint_products *out)
{
    struct compiler *c = m->c;
    if (out->failed || sym_is(e, 0))
        return;
    if (e->kind == SYM_ADD) {
        for (int i = 0; i < e->nargs; i++)
            expand(m, e->args[i], out);
        return;
    }
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++) {
        symp inner = e->args[i];
        if (!sym_reads_latent(inner) ||
            (inner->kind != SYM_ADD && inner->kind != SYM_SUM))
            continue;
        symp rest = sym_cofactor(c, e, i);
        struct joint_products parts = {.n = 0};
        expand(m, inner, &parts);
        /* a sum that is one scale as a whole would come back as it is */
        if (parts.failed ||
            (parts.n == 1 && (!parts.items[0].constant ||
                              sym_same(parts.items[0].scale, inner))))
            continue;
        for (int k = 0; k < parts.n; k++)
            expand(m,
                   sym_mul(c, 3,
                           (symp[]){rest, parts.items[k].scale,
                                    parts.items[k].unit}),
                   out);
        return;
    }
    if (e->kind == SYM_SUM && sym_reads_latent(e) &&
        !sym_reads_latent(e->args[0]) && !sym_reads_latent(e->args[1])) {
        struct joint_products parts = {.n = 0};
        expand(m, e->args[2], &parts);
        if (!parts.failed && (parts.n > 1 || parts.items[0].constant)) {
            for (int k = 0; k < parts.n; k++) {
                const struct joint_product *p = &parts.items[k];
                symp sum = sym_sum(c, e->loop, e->args[0], e->args[1],
                                   sym_mul2(c, p->scale, p->unit));
                add_product(m, sum, out);
            }
            return;
        }
    }
    add_product(m, e, out);
}

bool sampler_products_of(struct compiler *c, const struct factor *g,
                         struct loop *const pair[2], symp e,
                         struct joint_products *out)
{
    const struct matrix matrix = {c, g, pair[0], pair[1], g->family};
    out->n = 0;
    out->failed = false;
    expand(&matrix, e, out);
    return !out->failed;
}

static struct joint_term *find_term(const struct matrix *m,
                                    struct joint_term **terms, symp scale,
                                    bool constant)
{
    struct compiler *c = m->c;
    for (; *terms; terms = &(*terms)->next)
        if ((*terms)->constant_weight == constant &&
            sym_same((*terms)->scale, scale))
            return *terms;
    struct joint_term *t = NEW(c, struct joint_term);
    t->factor = m->family->factor;
    t->vector = m->family;
    t->pair[0] = m->a;
    t->pair[1] = m->b;
    t->scale = scale;
    t->weight = t->score = sym_num(c, 0);
    t->constant_design = true;
    t->constant_weight = t->constant_score = constant;
    return *terms = t;
}

bool sampler_extent_varies(struct compiler *c, const struct family *f)
{
    symp extent = family_extent(c, f, 0);
    for (int i = 0; i < f->nloops; i++)
        if (sym_has_loop(extent, f->loops[i]))
            return true;
    return false;
}

struct joint_term *vector_prior_terms(struct compiler *c, const struct model *m,
                                      struct family *f)
{
    struct step own = {.family = f, .model = m};
    struct joint_term *terms = NULL;
    if (f->nslices != 1 || sampler_extent_varies(c, f) ||
        !sampler_gaussian_prior(c, &own))
        return NULL;
    const struct quadratic *q = own.block.quadratics;
    const struct matrix matrix = {c, f->factor,
                                  own.block.members[0].index.loops[0],
                                  own.block.members[0].index2.loops[0], f};
    struct joint_products precision = {.n = 0}, potential = {.n = 0};
    expand(&matrix, q->precision[0][0], &precision);
    expand(&matrix, q->potential[0], &potential);
    if (precision.failed || potential.failed)
        return NULL;
    for (int i = 0; i < precision.n; i++) {
        const struct joint_product *p = &precision.items[i];
        find_term(&matrix, &terms, p->scale, p->constant)->weight = p->unit;
    }
    for (int i = 0; i < potential.n; i++) {
        const struct joint_product *p = &potential.items[i];
        find_term(&matrix, &terms, p->scale, p->constant)->score = p->unit;
    }
    for (struct joint_term *t = terms; t; t = t->next)
        t->constant_score = t->constant_score || sym_is(t->score, 0);
    return terms;
}
