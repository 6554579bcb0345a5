/* block.c: joint blocks. Steps whose full conditionals are normal and that meet
 * in a quadratic log density become one Gaussian block. */
#include "sampler/block.h"

static void merge_from(struct compiler *c, struct model *m, struct step *seed)
{
    bool dense = sampler_coupled(seed);
    struct step *group[MOST_IN_BLOCK] = {seed};
    int n = 1;
    for (struct step *s = m->steps; s && n < MOST_IN_BLOCK; s = s->next) {
        if (s == seed || !normal_scalar(s) ||
            s->beside.block != seed->beside.block ||
            !sampler_plain_plate(c, s->family))
            continue;
        bool global = s->family->nloops == 0 || sampler_coupled(s);
        bool meets = false;
        for (int i = 0; i < n; i++) {
            if (dense ? !global
                      : !sampler_same_plate(c, group[i]->family, s->family))
                continue;
            if (!dense && sampler_coupled(s))
                continue;
            meets = meets || sampler_share_likelihood(group[i], s);
        }
        for (int i = 0; i < n; i++)
            meets = meets && (dense ? !block_in_own_prior(group[i], s)
                                    : block_meet_everywhere(c, group[i], s));
        if (!meets)
            continue;
        group[n++] = s;
        struct step *block = block_make(c, m, group, n, dense);
        if (!block)
            n--;
    }
    if (n == 1 && !dense)
        return;
    struct step *block = block_make(c, m, group, n, dense);
    if (!block)
        return;
    block->beside = seed->beside;
    sampler_replace_steps(group, n, block);
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
}
