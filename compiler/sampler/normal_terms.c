/* normal_terms.c: what of a vector node's likelihood is normal in it goes with
 * its normal prior into the precision and mean that moves are made of: the rest
 * alone is what an ellipse or an autoregressive step asks for, as in Gibbs
 * sampling the product of prior and those terms is a prior, too. */
#include "sampler/block.h"
#include <string.h>

/* Whether the density of f is one of a normal, whatever its mean: with what is
 * affine in x there it has no negative precision of x. */
static bool is_normal(struct compiler *c, struct family *f)
{
    if (!f || !f->distribution || f->truncated)
        return false;
    if (!f->nslices)
        return entry_is_normal(f->distribution);
    struct step of = {.family = f};
    return f->nslices == 1 && entry_value(f->distribution, "draw") &&
           sampler_gaussian_prior(c, &of);
}

/* Whether g says where x may be, beside its density. */
static bool confines(const struct factor *g, const struct var *v)
{
    return (g->lower && sym_has_var(g->lower, v)) ||
           (g->upper && sym_has_var(g->upper, v)) ||
           (g->rule && sym_has_var(g->rule, v));
}

static bool mentioned_elsewhere(const struct step *s, const struct part *p)
{
    for (const struct part *q = s->parts; q; q = q->next)
        if (q != p && q->factor == p->factor)
            return true;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->part->factor == p->factor)
            return true; /* as the next vector of a chain */
    return false;
}

/* The part as a quadratic, or NULL. */
static struct quadratic *normal_term(struct compiler *c, const struct step *s,
                                     struct part *p)
{
    const struct family *f = s->family;
    struct quadratic *q = NEW(c, struct quadratic);
    struct plate_values v;
    q->part = p;
    return !p->own && !p->rule && !p->ruled && p->reference && !p->factor->of &&
                   !sym_any(p->logp, sampler_follows_group, s) &&
                   !confines(p->factor, f->var) && !mentioned_elsewhere(s, p) &&
                   is_normal(c, p->factor->family) &&
                   block_values_of_part(c, f, p, &v) &&
                   block_derive_quadratic(c, s, &v, false, q)
               ? q
               : NULL;
}

void sampler_take_normal_terms(struct compiler *c, struct step *s)
{
    if (s->whole || s->family->nslices != 1 || s->through ||
        sampler_seeks_modes(c))
        return;
    struct quadratic **last = &s->block.quadratics;
    while (*last)
        last = &(*last)->next;
    for (struct part **p = &s->parts; *p;) {
        struct quadratic *q = normal_term(c, s, *p);
        if (!q) {
            p = &(*p)->next;
            continue;
        }
        *last = q;
        last = &q->next;
        struct part *rest = (*p)->next;
        (*p)->next = NULL;
        *p = rest;
    }
}
