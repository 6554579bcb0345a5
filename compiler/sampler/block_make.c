/* block_make.c: one Gaussian block of the families of several steps. */
#include "sampler/block.h"
#include <string.h>

static struct part *part_for(struct step *const *steps, int n,
                             const struct factor *g, int *whose)
{
    for (int i = 0; i < n; i++)
        for (struct part *p = steps[i]->parts; p; p = p->next)
            if (p->factor == g) {
                *whose = i;
                return p;
            }
    return NULL;
}

static bool mentioned_once(const struct step *s, const struct factor *g)
{
    int n = 0;
    for (struct part *p = s->parts; p; p = p->next)
        n += p->factor == g;
    return n <= 1;
}

/* For a dense block all instances of a factor count, whatever element they
 * hit: the factor's loops under fresh names, none solved. */
static struct part *every_instance(struct compiler *c, struct factor *g)
{
    struct part *p = NEW(c, struct part);
    p->factor = g;
    p->nloops = g->nloops;
    p->loops = g->loops;
    p->solved = NEW_ARRAY(c, symp, g->nloops);
    p->logp = g->logp;
    return p;
}

static void add_quadratic(struct step *s, struct quadratic *q)
{
    struct quadratic **last = &s->block.quadratics;
    while (*last)
        last = &(*last)->next;
    *last = q;
}

/* The part of a member of a block that is not dense. */
static bool add_part(struct compiler *c, struct step *s, const struct family *f,
                     struct part *p)
{
    struct quadratic *q = NEW(c, struct quadratic);
    struct plate_values v;
    q->part = p;
    if (p->opaque || !block_values_of_part(c, f, p, &v) ||
        (p->own && p->factor->family != f) ||
        !block_derive_quadratic(c, s, &v, false, q))
        return false;
    add_quadratic(s, q);
    return true;
}

static bool add_dense(struct compiler *c, struct step *s, struct factor *g,
                      int whose, bool prior)
{
    struct quadratic *q = NEW(c, struct quadratic);
    struct plate_values v;
    const struct family *f = s->block.members[whose].family;
    block_no_values(c, f, &v);
    if (!prior) {
        q->part = every_instance(c, g);
        if (!block_derive_row(c, s, &v, q))
            return false;
    } else {
        q->part = sampler_own_prior(c, f);
        const struct indices *index = &s->block.members[whose].index;
        for (int i = 0; i < index->n && !f->nslices; i++)
            q->part->logp = sym_replace_loop(c, q->part->logp, f->loops[i],
                                             sym_loop(c, index->loops[i]));
        if (!block_derive_quadratic(c, s, &v, true, q))
            return false;
        sampler_dense_of(s)->coupled_prior =
            sampler_dense_of(s)->coupled_prior ||
            !block_prior_is_diagonal(c, s, q);
    }
    add_quadratic(s, q);
    return true;
}

static bool add_factor(struct compiler *c, struct step *s,
                       struct step *const *steps, struct factor *g, bool dense)
{
    int whose = 0, owner = -1;
    if (sym_is(g->logp, 0)) /* a flat prior */
        return true;
    struct part *p = part_for(steps, s->block.n, g, &whose);
    for (int i = s->block.n - 1; i >= 0; i--)
        if (s->block.members[i].family->factor == g && !g->replaced)
            owner = i;
    if (!p && owner < 0)
        return true;
    if (dense)
        return add_dense(c, s, g, p ? whose : owner, !p || p->own);
    for (int i = 0; i < s->block.n; i++)
        if (!mentioned_once(steps[i], g))
            return false;
    /* a vector's own prior is no part; in a chain of vectors the prior of the
     * next one is, of the same statement */
    const struct family *own =
        owner < 0 ? NULL : s->block.members[owner].family;
    if (own && (!p || own->nslices) &&
        !add_part(c, s, own, sampler_own_prior(c, own)))
        return false;
    return !p || add_part(c, s, s->block.members[whose].family, p);
}

struct step *block_make(struct compiler *c, struct model *m,
                        struct step *const *steps, int n, bool dense)
{
    struct step *s = NEW(c, struct step);
    struct family *families[MOST_IN_BLOCK];
    struct text name = {0};
    bool confined = false;
    text_append(&name, "update");
    for (int i = 0; i < n; i++) {
        families[i] = steps[i]->family;
        text_printf(&name, "_%s", family_id(c, families[i]));
        confined = confined || !block_unconfined_vector(families[i]);
    }
    if (confined) {
        text_free(&name);
        return NULL;
    }
    s->name = intern(c, name.data);
    text_free(&name);
    s->model = m;
    s->family = families[0];
    s->sampler = dense ? &sampler_dense_block : &sampler_gaussian_block;
    s->own = dense ? NEW(c, struct dense) : NULL;
    block_set_members(c, s, families, n, dense);
    for (struct factor *h = m->factors; h; h = h->next) {
        struct factor *g = condition_seen_by_all(c, steps, n, h);
        if (!g || (!g->replaced && !add_factor(c, s, steps, g, dense)))
            return NULL;
    }
    if (!s->block.quadratics)
        return NULL;
    bool rows = false;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        rows = rows || q->row;
    if (dense && !rows)
        return NULL;
    for (int i = 0; i < n; i++) {
        s->order.sequential =
            s->order.sequential ||
            (!dense && (steps[i]->order.sequential ||
                        (steps[i]->order.conflicts && n > 1)));
        for (struct part *p = steps[i]->parts; p; p = p->next)
            if (!dense && i == 0)
                s->parts = steps[i]->parts; /* for the cost of an element */
    }
    if (n == 1 && !dense)
        s->order.conflicts = steps[0]->order.conflicts;
    return s;
}

bool sampler_dense_alone(struct compiler *c, struct model *m,
                         struct step *const *steps, int n)
{
    for (int i = 0; i < n; i++)
        if (!sampler_coupled(steps[i]) || n > MOST_IN_BLOCK)
            return false;
    return block_make(c, m, steps, n, true) != NULL;
}
