/* sampler.h: how each step samples. */
#ifndef GBMC_SAMPLER_SAMPLER_H
#define GBMC_SAMPLER_SAMPLER_H

#include "condition/condition.h"

/* How a step samples, in a word or two. */
const char *method_name(const struct step *s);

/* block.c: merges jointly Gaussian steps into blocks; vector nodes. */
void form_blocks(struct compiler *c, struct model *m);
/* Whether the step draws a scalar from a normal full conditional. */
bool normal_scalar(const struct step *s);
/* Whether its own prior ties elements: x[t] given x[t-1]. */
bool chained(const struct step *s);
/* Whether its elements meet in a likelihood. */
bool coupled(const struct step *s);
/* The loops of f and g are the same. */
bool same_plate(struct compiler *c, const struct family *f,
                const struct family *g);
/* Its subscripts are its loops. */
bool plain_plate(struct compiler *c, const struct family *f);
/* Both are in one factor that is neither's own prior. */
bool share_likelihood(const struct step *a, const struct step *b);
/* `block` takes the place of old[0]; the others are marked METHOD_NONE. */
void replace_steps(struct step *const *old, int n, struct step *block);

/* joint.c: sparse joint blocks of families that enter common linear
 * predictors, before smaller ones are formed. */
void form_joint_blocks(struct compiler *c, struct model *m);

/* joint_vector.c: a vector family's normal prior as terms of a joint block;
 * NULL: it is not normal, or its extent is not the same for all. */
struct joint_term *vector_prior_terms(struct compiler *c, const struct model *m,
                                      struct family *f);

/* rescale.c: the plates of a block that can be moved with their scales. */
void find_rescalings(struct compiler *c, struct model *m, struct step *block);
/* What stands for the linear predictor in a curved term. */
symp joint_eta(struct compiler *c);
/* The block's variables, each once; returns their number. */
int joint_variables(const struct step *s, struct var **out);
/* Whether a vector node's full conditional is of a known family. */
bool vector_closed(struct compiler *c, struct model *m, struct step *s);
/* A scalar or vector family's prior as a part of its full conditional. */
struct part *own_prior(struct compiler *c, const struct family *f);
/* Sets the step's only quadratic to the vector node's own prior, if that is
 * normal given the rest. */
bool gaussian_prior(struct compiler *c, struct step *s);

/* group.c: variables that move together, as `am` and `ess` want them: the
 * steps of the group are merged into the first. `where` is for errors. */
void take_adaptive(struct compiler *c, struct model *m, struct step *const *s,
                   int n, struct span where);
void take_elliptical(struct compiler *c, struct model *m, struct step *const *s,
                     int n, struct span where);
/* A normal prior's log density: potential x + square x^2; of one part, and of
 * a step that has such a prior. */
void normal_terms(struct compiler *c, const struct part *own, symp *potential,
                  symp *square);
void normal_prior_terms(struct compiler *c, const struct step *s,
                        symp *potential, symp *square);
/* The ellipse of a vector node alone; false if its prior is not normal. */
bool elliptical_vector(struct compiler *c, struct step *s);

/* chain.c: discrete nodes that depend on their predecessor are drawn as paths.
 */
void form_chains(struct compiler *c, struct model *m);

/* augment.c: applies the library's augmentations where they close a full
 * conditional. */
void augment(struct compiler *c, struct model *m);

/* forward.c: the steps that draw forward, behind all others, in the order of
 * the families: of leaves, and of what turns out at load to have no observed
 * descendant. Requires blocks. */
void add_forward_steps(struct compiler *c, struct model *m);

/* choose.c: what samplers { } asks for: before blocks are formed, and whether
 * its promises hold, after. */
void choose_samplers(struct compiler *c, struct model *m);
void check_samplers(struct compiler *c, struct model *m);
/* Whether it asks for a sampler that needs no closed form for f. */
bool asked_otherwise(const struct model *m, const struct family *f);

/* Whether `samplers {}` asks for enumerate. */
bool asked_to_enumerate(const struct model *m, const struct family *f);
/* Why a step is a slice: what resisted. */
const char *slice_reason(struct compiler *c, const struct step *s);
/* An expression with extents as the model states them. */
const char *expression_text(struct compiler *c, symp e);
/* "i, t" */
const char *loop_names(struct compiler *c, struct loop *const *loops, int n);

#endif
