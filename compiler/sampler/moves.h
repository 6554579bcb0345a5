/* moves.h: steps that move several nodes together, beside the steps that draw
 * each: what they ask of those. */
#ifndef GBMC_SAMPLER_MOVES_H
#define GBMC_SAMPLER_MOVES_H

#include "sampler/group.h"

/* Whether s draws f, and does not move it beside its draw. */
bool sampler_step_draws(const struct step *s, const struct family *f);
/* The step that does; NULL: none. */
struct step *sampler_step_of(const struct model *m, const struct family *f);
/* Whether f is drawn as the compiler chose, its own prior in force. */
bool sampler_is_free(const struct model *m, const struct family *f);
/* Random numbers that are not whole, all in statements of their own. */
bool sampler_are_numbers(const struct var *v);
/* Whether f is a node, or a plate x[k] of nodes that do not read each other,
 * which no other statement defines. */
bool sampler_is_node(struct compiler *c, const struct model *m,
                     const struct family *f);
/* Whether an expression of the factor reads v. */
bool sampler_factor_reads(const struct factor *g, const struct var *v);
/* Whether g, the prior of a node, may make values of that impossible at some of
 * the label's, or of the label at some of the node's: by a number of the data
 * that the label chooses, at either of its ends, by a condition. */
bool sampler_holds(struct compiler *c, const struct factor *g,
                   const struct step *label);
/* Whether e is a number of the data that the label v chooses: it may be 0. */
bool sampler_is_chosen(symp e, const void *v);
/* Whether f is a derived node that is kept in memory, with a body. */
bool sampler_is_kept(const struct family *f);
/* In a log density of a number that moves the node: no density where its prior
 * g, with the node's `value`, ends. */
void sampler_emit_ends(struct emitter *e, const struct factor *g, symp node,
                       symp value);
/* The element's loops in the names of the part, where these are others; and
 * total += the log densities of its instances, by all lanes. */
void sampler_bind_loops(struct emitter *e, const struct part *p);
void sampler_emit_rows_of(struct emitter *e, const struct part *p);
/* line.c: logp, in which a node has the value `value`, along a line t_ on which
 * that is multiplied by exp(ratio * t_) and `by` (or NULL) changes, up to a
 * constant; ratio 0: it is not multiplied. `prior`: the node's own. */
symp sampler_line_density(struct compiler *c, symp logp, symp value, symp by,
                          const struct factor *prior, double ratio);
/* In a log density by t_, with grown_ = exp(t_): value_, which was `now`. */
void sampler_emit_value(struct emitter *e, const char *now, double ratio);
/* carried_program.c: leaves a sweep of a move that does not pay, which has only
 * seen where the node is: a scale by its logarithm. */
void sampler_emit_carried_pays(struct emitter *e, symp node, bool scale,
                               bool by_slice, const char *leave);
/* Puts the step behind the last one that draws one of its members, or one of
 * `others`. */
void sampler_insert_move(struct model *m, struct step *move,
                         const struct var *others);

/* rescale.c: whether scale = constant * hyper^power; the first reference in e
 * to the variable. */
bool sampler_is_power(symp scale, symp hyper, double *power);
symp sampler_find_reference(symp e, const struct var *v);

#endif
