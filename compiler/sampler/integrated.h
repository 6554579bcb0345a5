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

/* ---- gain.c ---- */

/* Coefficients that change, from own to own + gain. */
struct change {
    const char *name; /* of the parameter; of an array's cells: of `cells` */
    const struct var *cells;
    struct loop *index; /* what own and gain have as the cell's subscript */
    symp own, gain;
};
struct changes {
    struct change of[8];
    int n;
};
/* e with the coefficients as they were; as they become; and the latter less the
 * former. */
symp sampler_own_of(struct compiler *c, symp e, const struct changes *k);
symp sampler_both_of(struct compiler *c, symp e, const struct changes *k);
symp sampler_gain_of(struct compiler *c, symp e, const struct changes *k);

#endif
