/* integrated.h: nodes that are integrated out of a parameter's step. */
#ifndef GBMC_SAMPLER_INTEGRATED_H
#define GBMC_SAMPLER_INTEGRATED_H

#include "sampler/sampler.h"

/* Nodes, of a plate or one, and what stands in a factor's place without them,
 * all in the factor's loops. */
struct node {
    struct step *drawn;
    struct factor *factor; /* their prior, or what bounds them */
    symp at;               /* the node */
    symp logp;             /* in the place of the factor's log density */
    symp full; /* what is taken out: logp and this are the joint density */
};

/* interval.c: the factor of g's kind, y ~ dinterval(z, cut[]), that alone says
 * between which points the nodes that s draws lie; NULL: there is none, or more
 * stands below the nodes. */
struct factor *sampler_factor_between(const struct step *s);
/* Fills the rest of a node of such a factor. False: it has no closed form. */
bool sampler_between_points(struct compiler *c, struct node *node);

#endif
