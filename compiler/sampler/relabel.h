/* relabel.h: mixtures whose components trade places, split and join. */
#ifndef GBMC_SAMPLER_RELABEL_H
#define GBMC_SAMPLER_RELABEL_H

#include "sampler/component.h"
#include "sampler/integrated.h"

struct relabel {
    struct compiler *c;
    struct model *m;
    struct step *labels; /* draws them */
    struct node pieces;
    struct label_sums sums;
    struct components has;
    bool failed,
        more; /* of a look for them: there was one that was not known */
    struct split *split; /* NULL: components only trade places */
};

/* ---- relabel.c ---- */

/* e of the sum, its value the label in the parameter `name`. */
symp sampler_at_label(struct compiler *c, const struct label_sum *sum, symp e,
                      const char *name);
/* How many rows have the label in the parameter `name`. */
const char *sampler_count_at(struct emitter *e, const struct relabel *k,
                             const char *name);

/* ---- split.c ---- */

/* What is drawn of a component, each with the log density of its draw, and what
 * its rows tell. NULL: some of it is not drawn from a family that can say. */
struct split *sampler_find_split(const struct relabel *k);
/* split_NAME: two components become one, or one two. Requires gain_NAME and
 * recount_NAME. */
void sampler_emit_split(struct compiler *c, struct text *out,
                        const struct step *s, const struct relabel *k);

#endif
