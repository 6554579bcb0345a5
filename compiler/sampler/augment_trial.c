/* augment_trial.c: augmentations that are applied together to see what they
 * close, and taken back. */
#include "sampler/augment.h"

bool augment_closed(struct compiler *c, struct model *m, struct family *f)
{
    struct step *s = condition_family(c, m, f);
    const struct sampler *k = sampler_for(s);
    return k == &sampler_vector_draw ? vector_closed(c, m, s) : k->closed;
}

/* The same while no trial is applied, found once. */
static bool closed_without(struct compiler *c, struct model *m,
                           struct family *f)
{
    if (!f->closed)
        f->closed = augment_closed(c, m, f) ? 1 : -1;
    return f->closed > 0;
}

void augment_forget_closed(struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        f->closed = 0;
}

/* Latent families whose full conditionals the factor enters. */
static int affected(struct model *m, const struct factor *g,
                    struct family **out, int capacity)
{
    int n = 0;
    for (struct family *f = m->families; f && n < capacity; f = f->next)
        if (f->stochastic && f->factor && !f->var->leaf && !f->data_block &&
            !sampler_asked_otherwise(m, f) &&
            (family_is_read(f, g->logp) || f == g->family))
            out[n++] = f;
    return n;
}

/* Whether every element of f meets one instance of factor g alone. */
static bool meets_once(struct compiler *c, struct model *m, struct family *f,
                       const struct factor *g)
{
    int n = 0;
    for (const struct part *p = condition_family(c, m, f)->parts; p;
         p = p->next) {
        if (p->factor != g || p->own)
            continue;
        n++;
        if (p->inverse)
            return false;
        for (int i = 0; i < p->nloops; i++)
            if (!p->solved[i])
                return false;
    }
    return n == 1;
}

/* A likelihood term for each element of the only family that it closes: a
 * slice evaluates that one term some six times, for less than an added node's
 * draw, and mixes better, as it is exact given the rest. */
static bool better_sliced(struct compiler *c, struct model *m,
                          const struct entry *a, const struct factor *added,
                          struct family *const *gained, int ngained)
{
    return entry_clause(a, "observed") && ngained == 1 && !gained[0]->nslices &&
           meets_once(c, m, gained[0], added);
}

bool augment_is_in(const struct trial *t, const struct factor *g)
{
    for (int i = 0; i < t->n; i++)
        if (t->at[i].g == g)
            return true;
    return false;
}

static int count_families(const struct model *m)
{
    int n = 0;
    for (const struct family *f = m->families; f; f = f->next)
        n++;
    return n;
}

struct trial augment_trial(struct compiler *c, const struct model *m)
{
    const int most = count_families(m);
    return (struct trial){
        .families = NEW_ARRAY(c, struct family *, most),
        .gained = NEW_ARRAY(c, struct family *, most),
        .before = NEW_ARRAY(c, bool, most),
    };
}

bool augment_put(struct compiler *c, struct model *m, struct trial *t,
                 const struct entry *a, struct factor *g)
{
    if (t->n == MAX_TOGETHER)
        return false;
    t->at[t->n].g = g;
    t->at[t->n++].a = a;
    const int most = count_families(m);
    struct family **all = NEW_ARRAY(c, struct family *, most);
    const int n = affected(m, g, all, most);
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < t->nfamilies && t->families[k] != all[i])
            k++;
        if (k < t->nfamilies)
            continue;
        t->families[k] = all[i];
        t->before[t->nfamilies++] = closed_without(c, m, all[i]);
    }
    return true;
}

void augment_apply_all(struct compiler *c, struct model *m, struct trial *t)
{
    for (int i = 0; i < t->n; i++) {
        struct match match;
        augment_matches(c, t->at[i].a, t->at[i].g, &match);
        t->at[i].added = augment_apply(c, m, t->at[i].a, t->at[i].g, &match);
    }
}

void augment_undo_all(struct model *m, struct trial *t)
{
    for (int i = t->n - 1; i >= 0; i--)
        augment_undo(m, t->at[i].g, t->at[i].added);
}

bool augment_opens_none(struct compiler *c, struct model *m, struct trial *t)
{
    t->ngained = 0;
    for (int i = 0; i < t->n; i++)
        if (!augment_closed(c, m, t->at[i].added->family))
            return false;
    for (int i = 0; i < t->nfamilies; i++) {
        const bool after = augment_closed(c, m, t->families[i]);
        if (!after && t->before[i])
            return false;
        if (after && !t->before[i])
            t->gained[t->ngained++] = t->families[i];
    }
    return true;
}

/* Whether a prior is written as a mixture though what it is the prior of stays
 * open. All that closes then are nodes above it, its scale say, and they and
 * the mixture's nodes hold each other: exact slices of few terms move farther.
 */
static bool closes_above_alone(struct compiler *c, struct model *m,
                               const struct trial *t)
{
    for (int i = 0; i < t->n; i++) {
        struct family *f = t->at[i].g->family;
        if (!entry_clause(t->at[i].a, "observed") && !f->var->leaf &&
            !augment_closed(c, m, f))
            return true;
    }
    return false;
}

static bool is_gain(struct compiler *c, struct model *m, struct trial *t)
{
    return augment_opens_none(c, m, t) && t->ngained &&
           !better_sliced(c, m, t->at[0].a, t->at[0].added, t->gained,
                          t->ngained) &&
           !closes_above_alone(c, m, t);
}

bool augment_try(struct compiler *c, struct model *m, struct trial *t,
                 int least)
{
    augment_apply_all(c, m, t);
    if (is_gain(c, m, t) && t->ngained >= least)
        return true;
    augment_undo_all(m, t);
    return false;
}
