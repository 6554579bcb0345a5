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
/* Finds the references to v in factor g. */
void condition_find_in_factor(struct compiler *c, struct finder *f,
                              struct var *v, struct factor *g);
/* Whether subscript d of a reference runs in a sum around it. */
bool condition_subscript_runs(const struct found *r, int d);
/* The instances of g whose reference r hits the target's subscripts; a NULL
 * one stands for a whole dimension. */
struct part *condition_part_of_reference(struct compiler *c, struct model *m,
                                         struct factor *g,
                                         const struct found *r,
                                         const symp *target);
/* All instances of g. */
struct part *condition_whole_part(struct compiler *c, struct factor *g);
/* An expression of the factor, in the part's free loops and the target's. */
symp condition_in_part(struct compiler *c, const struct part *p, symp e);
void condition_add_guard(struct compiler *c, struct part *p, symp condition);
/* The distinct statistics of the step's parts, which are empty before. */
void condition_gather_statistics(struct step *s);
/* Whether g depends on v through derived nodes kept in memory. */
bool condition_factor_through(const struct model *m, const struct factor *g,
                              const struct var *v);

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
/* Whether g says that a sum was observed (dsum). */
bool condition_is_observed_sum(struct compiler *c, const struct factor *g);
/* For the step of a summand's family: where an observed sum holds an element
 * fast, as parts of s->order.ties. */
void condition_tie_to_sum(struct compiler *c, struct model *m, struct step *s,
                          struct factor *g, const symp *target);
/* Adds the steps that move summands in pairs. */
void condition_observed_sums(struct compiler *c, struct model *m);

#endif
