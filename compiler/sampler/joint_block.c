/* joint_block.c: the joint block of given steps. */
#include "sampler/joint.h"

/* The support of the factor does not depend on the block. */
static bool support_free(const struct joint_context *k, const struct factor *g)
{
    return !(g->lower && joint_mentions(k, g->lower)) &&
           !(g->upper && joint_mentions(k, g->upper)) &&
           !(g->guard &&
             (joint_mentions(k, g->guard) || sym_reads_latent(g->guard)));
}

static bool opaque_mention(struct compiler *c, const struct joint_context *k,
                           const struct factor *g)
{
    if (!g->opaque)
        return false;
    for (int i = 0; i < g->family->nargs; i++)
        if (joint_mentions(
                k, model_substitute_derived(c, g->family->args[i].body)))
            return true;
    return joint_mentions(k, g->logp);
}

static symp count_of(struct compiler *c, const struct family *f)
{
    symp n = family_elements(c, f);
    return f->nslices ? sym_mul2(c, family_extent(c, f, 0), n) : n;
}

/* Vector members' own priors, elsewhere than in other members' terms. */
static struct family *vector_of(const struct step *s, const struct factor *g)
{
    for (int i = 0; i < s->block.n; i++)
        if (s->block.members[i].family->nslices &&
            s->block.members[i].family->factor == g)
            return s->block.members[i].family;
    return NULL;
}

static bool free_of_block(const struct joint_context *k,
                          const struct joint_term *t)
{
    for (; t; t = t->next)
        if (joint_mentions(k, t->scale) || joint_mentions(k, t->weight) ||
            joint_mentions(k, t->score))
            return false;
    return true;
}

/* A block without terms. */
static struct step *empty_block(struct compiler *c, struct model *m,
                                struct step *const *steps, int n,
                                struct joint_context *k)
{
    struct step *s = NEW(c, struct step);
    s->own = NEW(c, struct joint);
    s->sampler = &sampler_joint_gaussian;
    s->model = m;
    s->family = steps[0]->family;
    s->block.n = n;
    for (int i = 0; i < n; i++) {
        s->block.members[i].family = steps[i]->family;
        s->block.members[i].count = count_of(c, steps[i]->family);
    }
    k->block = s;
    k->nvars = joint_variables(s, k->vars);
    return s;
}

/* Sets what a factor adds to the block, NULL if nothing; false: it cannot be a
 * part of one. */
static bool terms_of(struct compiler *c, struct joint_context *k,
                     struct step *const *steps, int n, struct factor *h,
                     struct joint_term **out)
{
    const struct step *s = k->block;
    struct factor *g = condition_seen_by_all(c, steps, n, h);
    *out = NULL;
    if (!g || !support_free(k, g) || opaque_mention(c, k, g))
        return false;
    if (!joint_mentions(k, g->logp))
        return true;
    if (g->rule && joint_mentions(k, g->rule))
        return false; /* no normal fit where the density ends */
    struct family *vector = vector_of(s, g);
    *out = vector ? vector_prior_terms(c, s->model, vector) : NULL;
    if (vector && !free_of_block(k, *out))
        *out = NULL;
    else if (!vector)
        *out = joint_make_term(c, k, s, g);
    if (!*out)
        *out = vector_form_terms(c, s->model, k, g);
    return *out != NULL;
}

struct step *joint_block(struct compiler *c, struct model *m,
                         struct step *const *steps, int n, bool long_sums)
{
    struct joint_context k = {.long_sums = long_sums};
    struct step *s = empty_block(c, m, steps, n, &k);
    struct joint *j = s->own;
    struct joint_term **last = &j->terms;
    for (struct factor *h = m->factors; h; h = h->next) {
        if (h->replaced)
            continue;
        if (!terms_of(c, &k, steps, n, h, last))
            return NULL;
        j->curved = j->curved || (*last && (*last)->curved);
        while (*last)
            last = &(*last)->next;
    }
    if (j->curved)
        s->sampler = &sampler_joint_ellipse;
    return j->terms ? s : NULL;
}

/* Whether what the factor is to a block may be another with f in it. */
static bool concerns(struct compiler *c, const struct factor *h,
                     const struct family *f)
{
    for (int i = 0; h->opaque && i < h->family->nargs; i++)
        if (sym_has_var(model_substitute_derived(c, h->family->args[i].body),
                        f->var))
            return true;
    return sym_has_var(h->logp, f->var) ||
           (h->lower && sym_has_var(h->lower, f->var)) ||
           (h->upper && sym_has_var(h->upper, f->var)) ||
           (h->guard && sym_has_var(h->guard, f->var)) ||
           (h->rule && sym_has_var(h->rule, f->var));
}

bool joint_takes(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, bool curved, bool long_sums)
{
    struct joint_context k = {.long_sums = long_sums};
    bool any = n > 1;
    empty_block(c, m, steps, n, &k);
    for (struct factor *h = m->factors; h; h = h->next) {
        struct joint_term *terms;
        if (h->replaced || !concerns(c, h, steps[n - 1]->family))
            continue;
        if (!terms_of(c, &k, steps, n, h, &terms))
            return false;
        any = any || terms;
        for (; terms && !curved; terms = terms->next)
            if (terms->curved)
                return false;
    }
    return any;
}

const char *joint_block_name(struct compiler *c, const struct step *s)
{
    struct text t = {0};
    /* of one family: its slices, kept beside the block, are update_... */
    text_append(&t, s->block.n == 1 ? "jointly" : "update");
    for (int i = 0; i < s->block.n && i < 4; i++)
        text_printf(&t, "_%s", family_id(c, s->block.members[i].family));
    if (s->block.n > 4)
        text_printf(&t, "_and_%d", s->block.n - 4);
    return text_take(c, &t);
}
