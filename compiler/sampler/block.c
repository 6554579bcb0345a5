/* block.c: joint blocks. Steps whose full conditionals are normal and that meet
 * in a quadratic log density become one Gaussian block. */
#include "sampler/block.h"

/* Steps that are to be one block. */
struct gathering {
    struct step *group[MOST_IN_BLOCK];
    int n, own;                /* those before `own` are drawn by it alone */
    const struct step *beside; /* draws the others, too; or NULL */
    bool dense;
};

static bool can_join(struct compiler *c, const struct gathering *g,
                     const struct step *s)
{
    if (g->n == MOST_IN_BLOCK || !normal_scalar(s) ||
        !sampler_plain_plate(c, s->family))
        return false;
    bool global = s->family->nloops == 0 || sampler_coupled(s);
    bool meets = false;
    for (int i = 0; i < g->own; i++) {
        if (g->dense ? !global
                     : !sampler_same_plate(c, g->group[i]->family, s->family))
            continue;
        if (!g->dense && sampler_coupled(s))
            continue;
        meets = meets || sampler_share_likelihood(g->group[i], s);
    }
    for (int i = 0; i < g->n; i++)
        meets = meets && (g->dense ? !block_in_own_prior(g->group[i], s)
                                   : block_meet_everywhere(c, g->group[i], s));
    return meets;
}

static bool join(struct compiler *c, struct model *m, struct gathering *g,
                 struct step *s)
{
    if (!can_join(c, g, s))
        return false;
    g->group[g->n++] = s;
    if (block_make(c, m, g->group, g->n, g->dense))
        return true;
    g->n--;
    return false;
}

/* What a joint block leaves out, as it multiplies a member, waits for the other
 * members that it meets: these are drawn with it once more. */
static void join_beside(struct compiler *c, struct model *m,
                        struct gathering *g)
{
    for (const struct step *s = m->steps; s; s = s->next) {
        const struct joint *joint = joint_of(s);
        for (int i = 0; joint && i < s->block.n; i++)
            if ((!g->beside || g->beside == s) &&
                join(c, m, g, joint->alone[i]))
                g->beside = s;
    }
}

static void merge_from(struct compiler *c, struct model *m, struct step *seed)
{
    struct gathering g = {
        .group = {seed}, .n = 1, .own = 1, .dense = sampler_coupled(seed)};
    for (struct step *s = m->steps; s; s = s->next)
        if (s != seed && s->beside.block == seed->beside.block &&
            join(c, m, &g, s))
            g.own = g.n;
    if (!seed->beside.block)
        join_beside(c, m, &g);
    if (g.n == 1 && !g.dense)
        return;
    struct step *block = block_make(c, m, g.group, g.n, g.dense);
    if (!block)
        return;
    block->beside = g.beside ? (struct beside){g.beside, true} : seed->beside;
    sampler_replace_steps(g.group, g.n, block);
}

/* A leaf that is observed in part: its other cells given these. */
static void rest_of_leaf(struct compiler *c, struct model *m, struct step *s)
{
    struct step *self[1] = {s};
    struct step *rest = s->own = block_make(c, m, self, 1, false);
    if (rest)
        rest->name = intern_format(c, "rest_%s", family_id(c, s->family));
}

void sampler_form_blocks(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next)
        if (s->sampler == &sampler_vector_draw)
            block_vector_node(c, m, s);
        else if (s->sampler == &sampler_forward_draw &&
                 s->family->nslices == 1 && !model_draws_integers(s->family))
            rest_of_leaf(c, m, s);
    if (!sampler_seeks_modes(c))
        sampler_form_joint_blocks(c, m);
    /* blocks with a design matrix first: they take the scalars that they can */
    for (struct step *s = m->steps; s; s = s->next)
        if (sampler_coupled(s) && !sampler_seeks_modes(c))
            merge_from(c, m, s);
    for (struct step *s = m->steps; s; s = s->next)
        if (normal_scalar(s) && !sampler_coupled(s) &&
            sampler_plain_plate(c, s->family))
            merge_from(c, m, s);
    for (struct step *s = m->steps; s; s = s->next)
        if (s->sampler && s->sampler->around)
            sampler_take_normal_terms(c, s);
}
