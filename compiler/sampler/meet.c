/* meet.c: which steps meet in factors, and one in the place of several. */
#include "sampler/block.h"

bool normal_scalar(const struct step *s)
{
    return s->sampler == &sampler_direct && s->law.family &&
           entry_is_normal(s->law.family) && !s->support.bounded &&
           !s->through && !s->opaque;
}

/* Elements tied to each other inside one factor, by a sum or fixed places. */
bool sampler_chained(const struct step *s)
{
    const struct factor *own = s->family->factor;
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own && p->factor == own)
            return true; /* the prior ties elements: x[t] given x[t-1] */
    return false;
}

int sampler_directions(const struct family *f)
{
    int n = 0;
    for (int d = 0; d < f->var->ndim; d++)
        n += !f->upper[d] && sym_has_loop_of(f->lower[d], f->loops, f->nloops);
    return n > f->nloops ? n : f->nloops;
}

enum { MAX_BOUND = 16 };
/* Whether sums around e run through a reference to f in all of f's directions,
 * so that they tie each element to all others. */
static bool sums_over_plate(symp e, const struct family *f,
                            const struct loop *const *bound, int nbound)
{
    const struct loop *inside[MAX_BOUND];
    if (e->kind == SYM_SUM && nbound < MAX_BOUND) {
        for (int i = 0; i < nbound; i++)
            inside[i] = bound[i];
        inside[nbound++] = e->loop;
        bound = inside;
    }
    if (e->kind == SYM_REF && e->var == f->var) {
        int run = 0;
        for (int d = 0; d < f->var->ndim; d++) {
            bool runs = false;
            for (int i = 0; i < nbound; i++)
                runs = runs || sym_has_loop(e->args[d], bound[i]);
            run += runs;
        }
        if (run >= sampler_directions(f))
            return true;
    }
    for (int i = 0; i < e->nargs; i++)
        if (sums_over_plate(e->args[i], f, bound, nbound))
            return true;
    return false;
}

/* One block of a plate with several directions is worth its size where all
 * elements meet at once. */
static bool tied_throughout(const struct step *s)
{
    const struct family *f = s->family;
    if (sampler_directions(f) == 1)
        return true;
    if (f->nloops >
            (int)(sizeof s->block.members[0].index.loops / sizeof(void *)) ||
        !family_rectangular(f))
        return false;
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own && sums_over_plate(p->factor->logp, f, NULL, 0))
            return true;
    return false;
}

bool sampler_coupled(const struct step *s)
{
    return s->family->nloops > 0 && !s->family->nslices &&
           (s->order.sequential || s->order.conflicts) && normal_scalar(s) &&
           !sampler_chained(s) && tied_throughout(s);
}

bool sampler_same_plate(struct compiler *c, const struct family *f,
                        const struct family *g)
{
    if (f->nloops != g->nloops)
        return false;
    for (int i = 0; i < f->nloops; i++) {
        symp lower = g->loops[i]->lower, upper = g->loops[i]->upper;
        for (int j = 0; j < i; j++) {
            lower = sym_replace_loop(c, lower, g->loops[j],
                                     sym_loop(c, f->loops[j]));
            upper = sym_replace_loop(c, upper, g->loops[j],
                                     sym_loop(c, f->loops[j]));
        }
        if (!sym_same(f->loops[i]->lower, lower) ||
            !sym_same(f->loops[i]->upper, upper))
            return false;
    }
    return true;
}

bool sampler_plain_plate(struct compiler *c, const struct family *f)
{
    int n = 0;
    for (int d = 0; d < f->var->ndim; d++) {
        if (f->upper[d])
            continue;
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        for (int i = 0; l && i < f->nloops; i++)
            n += f->loops[i] == l;
    }
    return n == f->nloops;
}

/* Both in one factor that is neither's own prior? */
bool sampler_share_likelihood(const struct step *a, const struct step *b)
{
    for (const struct part *p = a->parts; p; p = p->next)
        for (const struct part *q = b->parts; q; q = q->next)
            if (p->factor == q->factor && !p->own && !q->own)
                return true;
    return false;
}

/* e of part q, in the loops of part p: those of the instance, and those of the
 * element. */
static symp in_loops_of(struct compiler *c, symp e, const struct part *q,
                        const struct part *p, const struct family *from,
                        const struct family *to)
{
    for (int i = 0; i < q->nloops; i++)
        e = sym_replace_loop(c, e, q->loops[i], sym_loop(c, p->loops[i]));
    for (int i = 0; i < from->nloops; i++)
        e = sym_replace_loop(c, e, from->loops[i], sym_loop(c, to->loops[i]));
    return e;
}

/* The condition under which an instance of the part hits an element of f at
 * all, whose loops are then v: mu[1] is hit by mu[z[i]] where z[i] is 1. */
static symp hits_some(struct compiler *c, const struct family *f,
                      const struct part *p, const struct plate_values *v)
{
    symp hit = sym_num(c, 1);
    for (int d = 0; d < f->var->ndim; d++) {
        symp at = model_at_values(c, f, f->lower[d], v->values);
        if (!f->upper[d])
            hit = sym_and(c, hit, sym_eq(c, p->reference->args[d], at));
    }
    return hit;
}

/* The same, where indices list the instances. */
static bool same_listed(struct compiler *c, const struct step *a,
                        const struct part *p, const struct step *b,
                        const struct part *q)
{
    struct plate_values v, w;
    if (!block_values_of_part(c, a->family, p, &v) ||
        !block_values_of_part(c, b->family, q, &w))
        return false;
    for (int i = 0; i < a->family->nloops; i++)
        if (!sym_same(v.values[i],
                      in_loops_of(c, w.values[i], q, p, b->family, a->family)))
            return false;
    return sym_same(hits_some(c, a->family, p, &v),
                    in_loops_of(c, hits_some(c, b->family, q, &w), q, p,
                                b->family, a->family));
}

/* Whether elements of the same number are in the same instances of a factor:
 * lambda[2,1] and lambda[3,2] are in other columns of x[i,j]. */
static bool same_instances(struct compiler *c, const struct step *a,
                           const struct part *p, const struct step *b,
                           const struct part *q)
{
    if (p->nloops != q->nloops || !p->inverse != !q->inverse ||
        !p->guard != !q->guard)
        return false;
    if (p->inverse)
        return same_listed(c, a, p, b, q);
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i] != !q->solved[i] ||
            (p->solved[i] &&
             !sym_same(p->solved[i], in_loops_of(c, q->solved[i], q, p,
                                                 b->family, a->family))))
            return false;
    return !p->guard || sym_same(p->guard, in_loops_of(c, q->guard, q, p,
                                                       b->family, a->family));
}

/* Whether an element of a is in the prior of b's element of the same number,
 * and in no other: mu[1] is in that of x ~ dnorm(mu[k], tau) if k is 1. */
static bool in_prior_of_same(struct compiler *c, const struct step *a,
                             const struct part *p, const struct step *b)
{
    if (p->inverse || p->guard || p->nloops != a->family->nloops)
        return false;
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i] ||
            !sym_same(p->solved[i], sym_loop(c, a->family->loops[i])))
            return false;
    return p->factor == b->family->factor;
}

/* One block per element takes a factor's instances from one of its members. */
bool block_meet_everywhere(struct compiler *c, const struct step *a,
                           const struct step *b)
{
    for (const struct part *p = a->parts; p; p = p->next)
        for (const struct part *q = b->parts; q; q = q->next)
            if (p->factor == q->factor &&
                !(p->own   ? in_prior_of_same(c, b, q, a)
                  : q->own ? in_prior_of_same(c, a, p, b)
                           : same_instances(c, a, p, b, q)))
                return false;
    return true;
}

bool block_in_own_prior(const struct step *a, const struct step *b)
{
    return sym_has_var(a->family->factor->logp, b->family->var) ||
           sym_has_var(b->family->factor->logp, a->family->var);
}

void sampler_merge_away(struct step *s)
{
    s->merged = true;
    s->sampler = NULL;
}

void sampler_replace_steps(struct step *const *old, int n, struct step *block)
{
    struct step *first = old[0], *next = first->next;
    const int keep = first->number;
    *first = *block;
    first->next = next;
    first->number = keep;
    for (int i = 1; i < n; i++)
        sampler_merge_away(old[i]);
}
