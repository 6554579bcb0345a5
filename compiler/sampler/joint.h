/* joint.h: sparse joint blocks. */
#ifndef GBMC_SAMPLER_JOINT_H
#define GBMC_SAMPLER_JOINT_H

#include "sampler/sampler.h"

/* joint.c: sparse joint blocks of families that enter common linear
 * predictors, before smaller ones are formed. */
void form_joint_blocks(struct compiler *c, struct model *m);
/* What stands for the linear predictor in a curved term. */
symp joint_eta(struct compiler *c);
/* The block's variables, each once; returns their number. */
int joint_variables(const struct step *s, struct var **out);

/* joint_vector.c: a vector family's normal prior as terms of a joint block;
 * NULL: it is not normal, or its extent is not the same for all. */
struct joint_term *vector_prior_terms(struct compiler *c, const struct model *m,
                                      struct family *f);

/* rescale.c: the plates of a block that can be moved with their scales. */
void find_rescalings(struct compiler *c, struct model *m, struct step *block);
/* rescale_program.c: their functions; what the self-check asks of them. */
void emit_rescalings(struct compiler *c, struct text *out,
                     const struct step *s);
void emit_rescale_check(struct text *out, const struct step *s);

/* curved.c: what a block with curved terms has in addition. */
void emit_curve(struct compiler *c, struct text *out, const struct step *s,
                const struct joint_term *t, int number);
void emit_curved(struct compiler *c, struct text *out, const struct step *s);

/* scatter.c: whether, and how, a vector's constant weights are had from
 * the terms of their sums; statements that add them to cells_. */
bool can_scatter(struct compiler *c, const struct joint_term *t);
void emit_scatter(struct emitter *e, const struct joint_term *t);

#endif
