/* augment.c: applies the library's augmentations. A matched density is
 * replaced by the joint density with a new node, where that closes a full
 * conditional which is not closed without it, and opens none.
 *
 * Requires a resolved model; leaves a model in which replaced factors are
 * marked and auxiliary families added after the ones that they augment.
 *
 * One density at a time; where that closes nothing, together with what other
 * mixtures an open conditional has, as neither the logit nor the t prior of its
 * coefficients closes them alone. What stays open because of a likelihood that
 * no augmentation knows has its prior as a mixture if it is then drawn with
 * others around a normal fit (joint.c). */
#include "sampler/augment.h"
#include "sampler/joint.h"

static bool any_open(const struct trial *t)
{
    for (int i = 0; i < t->nfamilies; i++)
        if (!t->before[i])
            return true;
    return false;
}

static bool may_be_replaced(const struct factor *g)
{
    return !g->replaced && !g->auxiliary && !g->family->data_block;
}

/* Puts in the other densities that an open family of the trial enters, of those
 * that are mixtures: a t prior of the coefficients in a logit. Not other links
 * of data: where nothing but links resists, a normal fit to all of them at once
 * is better (curved.c). */
static void put_companions(struct compiler *c, struct model *m, struct trial *t)
{
    const int n = t->nfamilies;
    for (int i = 0; i < n; i++) {
        const struct family *f = t->families[i];
        for (struct factor *g = m->factors; g && !t->before[i]; g = g->next) {
            if (!may_be_replaced(g) || augment_is_in(t, g) ||
                (g->family != f && !sym_has_var(g->logp, f->var)))
                continue;
            const struct entry *a = augment_entry(c, g);
            if (a && !entry_clause(a, "observed") &&
                !augment_put(c, m, t, a, g))
                return;
        }
    }
}

/* The trial without its i-th. */
static struct trial without(const struct trial *t, int i)
{
    struct trial fewer = *t;
    fewer.n--;
    for (int k = i; k < fewer.n; k++)
        fewer.at[k] = fewer.at[k + 1];
    return fewer;
}

/* Of a trial that is applied, those without which fewer families would be
 * closed; false, and none is applied, if the first is not among them. */
static bool keep_needed(struct compiler *c, struct model *m, struct trial *t)
{
    const int all = t->ngained;
    for (int i = t->n - 1; i >= 0; i--) {
        struct trial fewer = without(t, i);
        augment_undo_all(m, t);
        if (!augment_try(c, m, &fewer, all)) {
            augment_try(c, m, t, all);
            continue;
        }
        if (i == 0) {
            augment_undo_all(m, &fewer);
            return false;
        }
        *t = fewer;
    }
    return true;
}

static bool try_one(struct compiler *c, struct model *m, const struct entry *a,
                    struct factor *g)
{
    struct match match;
    if (!augment_matches(c, a, g, &match))
        return false;
    struct trial t = augment_trial(c, m);
    augment_put(c, m, &t, a, g);
    if (!any_open(&t))
        return false;
    if (augment_try(c, m, &t, 1))
        return true;
    put_companions(c, m, &t);
    return t.n > 1 && augment_try(c, m, &t, 1) && keep_needed(c, m, &t);
}

/* Whether any density was replaced, which may let another one be: the prior's
 * of a coefficient, once the likelihood has become quadratic in it. */
static bool augment_once(struct compiler *c, struct model *m)
{
    const struct entry *const *all;
    int n = library_all(c, &all);
    bool any = false;
    for (struct factor *g = m->factors; g; g = g->next) {
        if (!may_be_replaced(g))
            continue;
        for (int i = 0; i < n; i++)
            if (all[i]->kind == ENTRY_AUGMENTATION &&
                try_one(c, m, all[i], g)) {
                any = true;
                augment_forget_closed(m);
                break;
            }
    }
    return any;
}

/* The prior of f's family as a mixture of normals, where that lets it join a
 * normal fit: what resists in the likelihood then is all that is not normal. */
static bool try_fit(struct compiler *c, struct model *m, struct family *f)
{
    if (!may_be_replaced(f->factor) || f->nslices || f->var->leaf)
        return false;
    const struct entry *a = augment_entry(c, f->factor);
    if (!a || entry_clause(a, "observed") || augment_closed(c, m, f))
        return false;
    struct trial t = augment_trial(c, m);
    augment_put(c, m, &t, a, f->factor);
    augment_apply_all(c, m, &t);
    if (augment_opens_none(c, m, &t) && sampler_would_fit(c, m, f)) {
        augment_forget_closed(m);
        return true;
    }
    augment_undo_all(m, &t);
    return false;
}

static bool fit_once(struct compiler *c, struct model *m)
{
    bool any = false;
    for (struct family *f = m->families; f; f = f->next)
        any = (f->stochastic && f->factor && !f->auxiliary &&
               !sampler_asked_otherwise(m, f) && try_fit(c, m, f)) ||
              any;
    return any;
}

void sampler_augment(struct compiler *c, struct model *m)
{
    while (augment_once(c, m))
        ;
    while (fit_once(c, m))
        ;
    /* what the trials asked for is asked for again */
    m->inverses = NULL;
    m->last_inverse = &m->inverses;
    m->ninverses = 0;
    family_number(m);
}
