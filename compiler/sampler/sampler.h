/* sampler.h: how each step samples. */
#ifndef GBMC_SAMPLER_SAMPLER_H
#define GBMC_SAMPLER_SAMPLER_H

#include "emit/emit.h"

/* ---- the samplers: a file each ---------------------------------------------
 */
extern const struct sampler direct_sampler, enumeration, slice_sampler,
    integer_slice, random_walk, elliptical_slice, elliptical_block,
    adaptive_metropolis, forward_backward, pair_slice, vector_draw,
    vector_slice, gaussian_block, dense_block, joint_gaussian, joint_ellipse,
    forward_draw, stated_draw, pcn, rw_block, scale_move;

/* table.c: the one that takes a full conditional by itself. */
const struct sampler *sampler_for(const struct step *s);
/* What samplers { } calls `word`; NULL: nothing. */
const struct sampler *sampler_called(const char *word);
/* The words that samplers { } knows of them; returns their number. */
int sampler_words(const char **out);

/* ---- what several samplers have --------------------------------------------
 */
/* Members of struct sampler: warm-up tunes a width; elements that nothing
 * observed depends on are left out each, or all at once if they move so; never;
 * all at once; each unless a sum ties them. */
bool tunes_width(const struct step *s);
enum barren_unit left_out_as_it_moves(const struct step *s);
enum barren_unit never_left_out(const struct step *s);
enum barren_unit left_out_together(const struct step *s);
enum barren_unit each_unless_tied(const struct step *s);
const char *brief_block(struct compiler *c, const struct step *s);
const char *why_block(struct compiler *c, const struct step *s);
const char *why_slice(struct compiler *c, const struct step *s);
/* slice.c: samplers { } asks for a sampler of one number, whose steps are then
 * not of a known family; false after an error, where that is not possible. */
bool take_scalars(struct compiler *c, struct step *const *steps, int n,
                  struct span where, const char *word);
/* A draw by gbm_FUNCTION of the kernels, which tunes a width. */
void draw_with_width(struct emitter *e, const struct step *s,
                     const char *function);

/* rows_program.c: writes, if it can, what updates many elements at once by trying all
 * values, beside the functions of emit_scalar; then s->by_rows. */
void emit_rows(struct compiler *c, struct text *out, struct step *s);

/* ---- making steps ----------------------------------------------------------
 */

/* choose.c: the sampler of each step by itself, and as samplers { } asks:
 * before blocks are formed; and whether its promises hold, after. */
void choose_samplers(struct compiler *c, struct model *m);
void check_samplers(struct compiler *c, struct model *m);
/* Whether it asks for a sampler that needs no closed form for f. */
bool asked_otherwise(const struct model *m, const struct family *f);
/* Whether it names f, for whatever sampler. */
bool named_in_samplers(const struct model *m, const struct family *f);
/* Whether it asks for enumerate. */
bool asked_to_enumerate(const struct model *m, const struct family *f);

/* augment.c: applies the library's augmentations where they close a full
 * conditional. */
void augment(struct compiler *c, struct model *m);

/* path.c: discrete nodes that depend on their predecessor are drawn as paths.
 */
void form_paths(struct compiler *c, struct model *m);

/* block.c: merges jointly Gaussian steps into blocks; vector nodes. */
void form_blocks(struct compiler *c, struct model *m);
enum { MOST_IN_BLOCK = 8 }; /* families of a small or dense block */
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
/* The step goes into another. */
void merge_away(struct step *s);
/* `block` takes the place of old[0], into which the others go. */
void replace_steps(struct step *const *old, int n, struct step *block);
/* Whether a vector node's full conditional is of a known family. */
bool vector_closed(struct compiler *c, struct model *m, struct step *s);
/* A scalar or vector family's prior as a part of its full conditional. */
struct part *own_prior(struct compiler *c, const struct family *f);
/* Sets the step's only quadratic to the vector node's own prior, if that is
 * normal given the rest. */
bool gaussian_prior(struct compiler *c, struct step *s);
/* Whether data settle e, if `leaf` is observed throughout. */
bool data_with(symp e, const struct var *leaf);
/* forward.c: the steps that draw forward, behind all others, in the order of
 * the families: of leaves, and of what turns out at load to have no observed
 * descendant. Requires blocks; steps that were merged go. */
void draw_forward(struct compiler *c, struct model *m);

/* scale.c: steps that multiply latent normals and what stands in their means by
 * one number. Requires a list of steps without merged ones. */
void find_scale_moves(struct compiler *c, struct model *m);
/* Where such a step, whose draws a pass over a design makes, keeps the number.
 */
const struct slot *scale_number(const struct step *s);

/* ---- in words --------------------------------------------------------------
 */

/* Why a step is a slice: what resisted. */
const char *slice_reason(struct compiler *c, const struct step *s);

/* words.c: an expression with extents as the model states them. */
const char *expression_text(struct compiler *c, symp e);
/* "i, t" */
const char *loop_names(struct compiler *c, struct loop *const *loops, int n);
/* The first sentence of an entry's description; what it begins with: "normal
 * distribution" as "normal". */
const char *first_sentence(struct compiler *c, const struct entry *e);
const char *family_word(struct compiler *c, const struct entry *e);
/* A left-hand side as the model writes it. */
const char *written_lhs(struct compiler *c, const struct family *f);
/* What a family updates, as the model writes it where the name alone is not
 * enough: "theta", "b[2]". */
const char *family_name(struct compiler *c, const struct family *f);
/* "k of them" with x standing for k; brackets where it is a sum. */
const char *count_text(struct compiler *c, symp count);
symp block_dimension(struct compiler *c, const struct step *s);
bool is_augmented(const struct step *s);
/* dense.c: X'X is computed once if all designs and weights are data. */
bool constant_product(const struct step *s);

#endif
