/* find.h: what the passes that look for references to a node share. */
#ifndef GBMC_CONDITION_FIND_H
#define GBMC_CONDITION_FIND_H

#include "condition/condition.h"

/* A reference to the target inside an expression, with the bound indices of
 * the sums around it. */
struct found {
    symp reference;
    struct loop *bound[4];
    int nbound;
    bool keyed; /* of a sum: its other subscripts may have an index */
};

struct finder {
    struct var *var;
    struct found *found;
    int n, capacity;
    struct loop *bound[4];
    int nbound;
    bool in_array, in_subscript;
    struct compiler *c;
};

/* ---- references.c */
/* Whether g says that a sum was observed (dsum). */
bool condition_is_observed_sum(struct compiler *c, const struct factor *g);
/* Finds the references to v in factor g. */
void condition_find_in_factor(struct compiler *c, struct finder *f,
                              struct var *v, struct factor *g);
/* The same of a matrix node that is seen in its inverse. */
void condition_find_in_inverse(struct compiler *c, const struct step *s,
                               struct finder *f, const struct factor *g);
/* Whether subscript d of a reference runs in a sum around it. */
bool condition_subscript_runs(const struct found *r, int d);
/* Whether two references hit the same element of the target's family, whatever
 * the components of a vector node. */
bool condition_same_node(const struct family *f, symp a, symp b);
/* All instances of g. */
struct part *condition_whole_part(struct compiler *c, struct factor *g);
/* Of these, what reference r hits the target's subscripts with; a NULL one
 * stands for a whole dimension. */
void condition_match_reference(struct compiler *c, struct model *m,
                               struct part *p, const struct found *r,
                               const symp *target);
/* The instances of g whose reference r hits the target's subscripts. */
struct part *condition_part_of_reference(struct compiler *c, struct model *m,
                                         struct factor *g,
                                         const struct found *r,
                                         const symp *target);
/* An expression of the factor, in the part's free loops and the target's. */
symp condition_in_part(struct compiler *c, const struct part *p, symp e);
void condition_add_guard(struct compiler *c, struct part *p, symp condition);
/* The list of what each cell of the target reaches among the instances of g. */
struct inverse *condition_get_reach(struct compiler *c, struct model *m,
                                    struct family *f, struct factor *g);

/* ---- terms.c */
/* What the instances of p, which reference r (NULL: the own prior) hits, are of
 * the target: statistics, bounds of the step, or a density in place, as always
 * with plain_only where it has other statistics than plain ones. */
void condition_part(struct compiler *c, struct step *s, struct part *p,
                    const struct found *r, bool plain_only, const symp *target);
/* The distinct statistics of the step's parts, which are empty before. */
void condition_gather_statistics(struct step *s);

/* ---- tied.c */
/* Which elements of the step's family references in g tie to each other.
 * Returns the family if sums tie elements that are listed: those outside what
 * the sums run over must not read them, as they move at the same time. */
const struct family *
condition_elements_dependence(struct compiler *c, struct step *s,
                              struct factor *g, struct finder *found, bool own);
/* The ends between which subscript d of a reference runs with a loop of a sum
 * around it, in the factor's loops; false: no loop runs there by itself. */
bool condition_ends_of_run(struct compiler *c, const struct found *r, int d,
                           symp *lower, symp *upper);

/* ---- reached.c */
/* Whether e, or g, depends on v through derived nodes kept in memory. */
bool condition_through_stored(const struct model *m, symp e,
                              const struct var *v);
bool condition_factor_through(const struct model *m, const struct factor *g,
                              const struct var *v);
/* The instances of g that the target's element reaches; at[d] is set for the
 * subscripts that tell. */
struct part *condition_reached_part(struct compiler *c, struct model *m,
                                    const struct step *s,
                                    const struct alignment *alignments,
                                    struct factor *g, symp *at);
/* Whether these tell apart what the target's elements reach. */
bool condition_apart(const struct step *s, const struct alignment *alignments,
                     const symp *at);
/* The instances of stored definitions that the target's element reaches, as of
 * factors; of a sequence its first family, for all. */
struct part *condition_reached_definitions(struct compiler *c, struct model *m,
                                           const struct step *s,
                                           const struct alignment *alignments);

/* ---- split.c */
/* e with the terms of sums that have the target apart from the others. */
symp condition_split_sums(struct compiler *c, symp e);

/* ---- matrix.c */
/* Sets s->view.as if the distribution of a matrix node states statistics of its
 * inverse, and all factors are linear in them. */
void condition_see_in_inverse(struct compiler *c, struct step *s);
/* logp with the traces of products of what depends on the target and the
 * inverse of a matrix node, where that is kept, as sums over cells; NULL if
 * there are none. */
symp condition_by_inverses(struct compiler *c, const struct step *s, symp logp);

/* ---- observed_sum.c */
/* For the step of a summand's family: where an observed sum holds an element
 * fast, as parts of s->order.ties. */
void condition_tie_to_sum(struct compiler *c, struct model *m, struct step *s,
                          struct factor *g, const symp *target);
/* Adds the steps that move summands in pairs. */
void condition_observed_sums(struct compiler *c, struct model *m);
/* Whether each element of v is drawn by itself. */
bool condition_is_node(const struct var *v);
/* Whether different instances of f have different cells here. */
bool condition_cell_per_instance(struct compiler *c, const struct family *f,
                                 symp cell);
/* The step that moves a and b so that weight * cell of both, added up, stays;
 * g is the factor that holds this sum, and the number tells its pairs apart. */
struct step *condition_pair_step(struct compiler *c, struct model *m,
                                 struct factor *g, const struct summand *a,
                                 const struct summand *b, int number);

/* ---- total.c */
/* Adds the steps that move latent counts with their total. */
void condition_totals(struct compiler *c, struct model *m);

#endif
