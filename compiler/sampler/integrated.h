/* integrated.h: nodes that are integrated out of a parameter's step. */
#ifndef GBMC_SAMPLER_INTEGRATED_H
#define GBMC_SAMPLER_INTEGRATED_H

#include "sampler/sampler.h"

/* What the rows of labels give: how many rows have each label, count[r], is a
 * table, and so are sums over r of body[r] count[r], which stand in what is
 * left of the nodes. */
enum { MOST_LABEL_SUMS = 8 };
struct label_sum {
    struct loop *value; /* r */
    symp label;         /* z[i], at the row loop of its part */
    symp count, body;   /* at r */
    symp table;         /* the sum, in the loops of the nodes */
};
struct label_sums {
    struct label_sum of[MOST_LABEL_SUMS];
    int n;
    bool failed; /* there are more */
};

/* Nodes, of a plate or one, and what stands in a factor's place without them,
 * all in the factor's loops. */
struct node {
    struct step *drawn;
    struct factor *factor; /* their prior, or what bounds them */
    symp at;               /* the node */
    symp logp;             /* in the place of the factor's log density */
    symp full; /* what is taken out: logp and this are the joint density */
};

/* A parameter and the nodes that are integrated out of its step. */
enum { MOST_NODES = 4 };

struct integrated {
    struct compiler *c;
    struct model *m;
    struct step *step; /* the parameter's */
    struct node nodes[MOST_NODES];
    int n;
    bool between;              /* points that the parameter moves: interval.c */
    bool of_labels;            /* labels settle the nodes' prior: interval.c */
    bool beside;               /* children are in common: common_child.c */
    bool tried;                /* nodes of few values: tried_nodes.c */
    bool scales;               /* then all are scales of these */
    struct step *closed;       /* the parameter's without added nodes, where it
                                  is of a known family; or NULL */
    struct label_sums *labels; /* where what labels tell is noted; or NULL */
    struct integrated *next;
};

/* ---- node_density.c ---- */

/* Whether s draws its nodes exactly, each by itself given the rest; and whether
 * its prior and the likelihood settle each of them, so that it can go. Normal
 * ones have moves of their own. */
bool sampler_draws_exactly(const struct model *m, const struct step *s);
/* The same from a normal whose prior an augmentation has put in the place of
 * another, given the node that it added. */
bool sampler_draws_given_added(const struct model *m, const struct step *s);
bool sampler_can_go(const struct model *m, const struct step *s);
/* Whether p is the prior of what s draws, as it is or augmented. */
bool sampler_is_prior(const struct step *s, const struct part *p);
/* Of a node that may be data: `drawn` where it is drawn, else `seen`. */
symp sampler_where_drawn(struct compiler *c, const struct node *node, symp seen,
                         symp drawn);
/* Fills logp and full of a node, a scalar, one that an augmentation added, or a
 * vector. False: they have no closed form. */
bool sampler_scalar_density(const struct integrated *k, struct node *node);
bool sampler_added_density(const struct integrated *k, struct node *node);
bool sampler_vector_density(const struct integrated *k, struct node *node);

/* The same of a node that has children in common with the parameter. False,
 * too, where rows would have to be gone through for each value of that. */
bool sampler_common_density(const struct integrated *k, struct node *node);

/* Whether e is the same for all values of the parameter, and of no nodes that
 * are integrated out. */
bool sampler_is_apart(const struct integrated *k, symp e);
/* The sum of e over the part's instances; *rows: these may be several. */
symp sampler_over_instances(struct compiler *c, const struct part *p, symp e,
                            bool *rows);
/* The power that e, which the part's instance gives, is multiplied by, which is
 * taken from it; and whether e is one. */
symp sampler_take_power(struct compiler *c, const struct part *p, symp *e);
bool sampler_is_a_power(symp e, const void *unused);

/* ---- tried_nodes.c ---- */

/* Finds nodes of which the parameter, whose values are all tried, makes some
 * values impossible; and fills logp and full of one. False: what reads it is
 * not told apart from the others. */
void sampler_find_tried(struct integrated *k);
bool sampler_tried_density(const struct integrated *k, struct node *node);

/* ---- common_child.c ---- */

/* Finds nodes that stand beside the parameter in a likelihood. */
void sampler_find_common_children(struct integrated *k);
/* Whether s draws scales of normals, as lambda[j] or tau of b[j] ~ normal(0,
 * lambda[j] * tau), from a known family. */
bool sampler_draws_scales(const struct step *s);
/* Whether a child tells of the parameter what it does not of the nodes. If all
 * is a distance in units of the nodes', as that of rows from a mean is in those
 * of their precision, both hardly hold each other. */
bool sampler_leaves_ridge(const struct integrated *k);
/* The log density of an instance of the parameter's part without what it has of
 * the nodes; NULL: it cannot be told. */
symp sampler_without_common(const struct integrated *k, const struct part *p);

/* integrated.c: where the lists of families, variables and indexes end; and
 * what was added behind that is no more. */
struct families_end {
    struct family *families, **last;
    struct var **last_var;
    struct inverse **last_inverse;
    int ninverses;
};
struct families_end sampler_families_end(const struct model *m);
void sampler_take_back(struct model *m, const struct families_end *end);
/* The nodes that s draws, integrated out, as a parameter of their prior would
 * see them, and what of that labels tell; makes tables. False: they cannot. */
bool sampler_without(struct compiler *c, struct model *m, struct step *s,
                     struct node *node, struct label_sums *labels);

/* interval.c: the factor of g's kind, y ~ dinterval(z, cut[]), that alone says
 * between which points the nodes that s draws lie; NULL: there is none, or more
 * stands below the nodes. */
struct factor *sampler_factor_between(const struct step *s);
/* Fills the rest of a node of such a factor. False: it has no closed form. */
bool sampler_between_points(struct compiler *c, struct node *node);
/* The same of a node whose prior the parameter settles, and not the points. */
bool sampler_confined_density(struct compiler *c, struct node *node);

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
