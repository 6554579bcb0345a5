/* sampler.h: how each step samples. */
#ifndef GBMC_SAMPLER_SAMPLER_H
#define GBMC_SAMPLER_SAMPLER_H

#include "emit/emit.h"

/* ---- the samplers: a file each ---------------------------------------------
 */
extern const struct sampler sampler_direct, sampler_confined,
    sampler_enumeration, sampler_slice, sampler_integer_slice,
    sampler_random_walk, sampler_elliptical_slice, sampler_elliptical_block,
    sampler_adaptive_metropolis, sampler_forward_backward, sampler_pair_slice,
    sampler_vector_draw, sampler_vector_slice, sampler_gaussian_block,
    sampler_dense_block, sampler_joint_gaussian, sampler_joint_ellipse,
    sampler_forward_draw, sampler_stated_draw, sampler_pcn, sampler_rw_block,
    sampler_scale_move, sampler_particle_gibbs, sampler_diam,
    sampler_translation, sampler_held_scale, sampler_carried,
    sampler_integrated_slice, sampler_relabel, sampler_exchange,
    sampler_unordered, sampler_trade, sampler_mirror, sampler_mirror_rows,
    sampler_accompanied, sampler_states,
    sampler_expectation;

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
bool sampler_tunes_width(const struct step *s);
enum barren_unit sampler_left_out_as_it_moves(const struct step *s);
enum barren_unit sampler_never_left_out(const struct step *s);
enum barren_unit sampler_left_out_together(const struct step *s);
enum barren_unit sampler_each_unless_tied(const struct step *s);
const char *sampler_brief_block(struct compiler *c, const struct step *s);
const char *sampler_why_block(struct compiler *c, const struct step *s);
const char *sampler_why_slice(struct compiler *c, const struct step *s);
/* vector_slice.c: a slice along a component of a vector or matrix node takes
 * the cell along that keeps the node in its support. */
enum companion {
    COMPANION_NONE,        /* any vector will do */
    COMPANION_SUM,         /* another cell: their sum is kept */
    COMPANION_MIRROR,      /* of a symmetric matrix: the mirror image */
    COMPANION_CORRELATION, /* the same, and the diagonal stays */
    COMPANION_COLUMN,      /* of a correlation's upper Cholesky factor: the
                              column's diagonal cell; its norm stays 1 */
    COMPANION_ROW          /* of the lower one: the row's */
};
/* Has the step draw its node, whose members are set, so. False: its support is
 * none for it. */
bool sampler_slice_components(struct compiler *c, struct step *s);
/* What moves with a component; of other steps none. */
enum companion sampler_companion(const struct step *s);
/* slice.c: samplers { } asks for a sampler of one number, whose steps are then
 * not of a known family; false after an error, where that is not possible. */
bool sampler_take_scalars(struct compiler *c, struct step *const *steps, int n,
                          struct span where, const char *word);
/* A draw by gbm_FUNCTION of the kernels, which tunes a width. */
void sampler_draw_with_width(struct emitter *e, const struct step *s,
                             const char *function);

/* rows_program.c: writes, if it can, what updates many elements at once by
 * trying all values, beside the functions of emit_scalar; whether it could. */
bool sampler_emit_rows(struct compiler *c, struct text *out, struct step *s);

/* swap.c: whether elements of 0s and 1s exchange their values; whether the
 * density of all that reads elements that a condition holds is that of the
 * library; the functions that move two or more, and their calls, behind the
 * draw of an element. */
bool sampler_swaps(const struct step *s);
bool sampler_held_exactly(const struct step *s);
void sampler_emit_swap(struct compiler *c, struct text *out,
                       const struct step *s);
void sampler_swap(struct emitter *e, const struct step *s);

/* together.c: whether elements that a condition holds take other values
 * together; together_, the function that does it. */
bool sampler_go_together(const struct step *s);
void sampler_emit_together(struct compiler *c, struct text *out,
                           const struct step *s);

/* ---- making steps ----------------------------------------------------------
 */

/* choose.c: the sampler of each step by itself, and as samplers { } asks:
 * before blocks are formed; and whether its promises hold, after. */
void sampler_choose(struct compiler *c, struct model *m);
void sampler_check(struct compiler *c, struct model *m);
/* Whether f would be drawn in a block around a normal fit; there are no steps
 * yet, and none after it. */
bool sampler_would_fit(struct compiler *c, struct model *m,
                       const struct family *f);

/* asked.c: whether a line of samplers { } asks for a sampler of this name, and
 * whether it names f, as a variable or as the left of f's statement. */
bool sampler_is_method(const struct sampler_choice *k, const char *name);
bool sampler_is_target(const struct expr *target, const struct family *f);
/* Whether samplers { } asks for a sampler that needs no closed form for f. */
bool sampler_asked_otherwise(const struct model *m, const struct family *f);
/* What it gives as an option of the step's sampler, checked; NULL: nothing. The
 * same, a number. */
const struct expr *sampler_option(const struct step *s, const char *name);
double sampler_option_number(const struct step *s, const char *name,
                             double otherwise);
/* Options of samplers that move by steps: how many a sweep; and of walks, that
 * nothing is tuned, and that steps beyond an end are refused. */
/* clang-format off */
#define SAMPLER_STEPS_OPTION                                  \
    {.name = "steps", .least = 1, .most = 1e6, .whole = true}
#define SAMPLER_WALK_OPTIONS                                  \
    SAMPLER_STEPS_OPTION, {.name = "adapt", .word = "never"}, \
    {.name = "ends", .word = "refuse"}
/* clang-format on */
/* How many steps a sweep it asks for, as emitted text, or `otherwise`; the name
 * of a move with them, as --explain says it; whether what is tuned is. */
const char *sampler_steps(struct compiler *c, const struct step *s,
                          const char *otherwise);
const char *sampler_with_steps(struct compiler *c, const struct step *s,
                               const char *name);
bool sampler_adapts(const struct step *s);
/* Whether it names f, for whatever sampler. */
bool sampler_named(const struct model *m, const struct family *f);
/* Whether it asks for enumerate. */
bool sampler_asked_to_enumerate(const struct model *m, const struct family *f);

/* augment.c: applies the library's augmentations where they close a full
 * conditional. */
void sampler_augment(struct compiler *c, struct model *m);

/* path.c: discrete nodes that depend on their predecessor are drawn as paths.
 */
void sampler_form_paths(struct compiler *c, struct model *m);
/* Elements that depend on their predecessor along one loop; first in the own
 * part of a sampler of such. */
struct path {
    int along;         /* the loop that it runs through */
    symp before;       /* the predecessor of an element */
    struct step *head; /* path.c: draws that of the first element, which has a
                          statement of its own; or NULL */
    symp head_cell, head_element; /* in the loops of the first element */
    struct step *label;        /* path_label.c: draws what a path depends on as
                                  a whole; or NULL */
    struct step *beside_label; /* with it: all that the sum over paths has not,
                                  as parts of a row */
};
/* Whether the elements of s are such, and nothing is kept in memory between
 * them and the densities. */
bool sampler_find_path(struct compiler *c, const struct step *s,
                       struct path *out);
/* Whether the instances of a part meet one element each. */
bool sampler_meets_once(struct compiler *c, const struct step *s,
                        const struct part *p);
void sampler_drop_parts(struct step *s, const struct factor *g);
/* Distance of the numbers of elements that are neighbours in a path. */
symp sampler_path_stride(struct compiler *c, const struct family *f, int along);
/* Of a struct p of a path or series, the state s, the team, where the path of
 * `element` begins, its stride and its length. */
void sampler_emit_place_of_path(struct emitter *e, const struct family *f,
                                int along);
/* The loops over paths: `parallel` of struct sampler. */
const char *sampler_over_paths(struct compiler *c, const struct step *s);

/* block.c: merges jointly Gaussian steps into blocks; vector nodes. */
void sampler_form_blocks(struct compiler *c, struct model *m);
enum { MOST_IN_BLOCK = 8 }; /* families of a small or dense block */
/* Whether the step draws a scalar from a normal full conditional. */
bool normal_scalar(const struct step *s);
/* Whether its own prior ties elements: x[t] given x[t-1]. */
bool sampler_chained(const struct step *s);
/* In how many directions of their array its elements lie: the loops of b[g, k],
 * and the two of x[row[m], col[m]], which has one. */
int sampler_directions(const struct family *f);
/* Whether its elements meet in a likelihood. */
bool sampler_coupled(const struct step *s);
/* The loops of f and g are the same. */
bool sampler_same_plate(struct compiler *c, const struct family *f,
                        const struct family *g);
/* Its subscripts are its loops. */
bool sampler_plain_plate(struct compiler *c, const struct family *f);
/* Both are in one factor that is neither's own prior. */
bool sampler_share_likelihood(const struct step *a, const struct step *b);
/* The step goes into another. */
void sampler_merge_away(struct step *s);
/* `block` takes the place of old[0], into which the others go. */
void sampler_replace_steps(struct step *const *old, int n, struct step *block);
/* Whether a vector node's full conditional is of a known family. */
bool vector_closed(struct compiler *c, struct model *m, struct step *s);
/* A scalar or vector family's prior as a part of its full conditional. */
struct part *sampler_own_prior(struct compiler *c, const struct family *f);
/* Sets the step's only quadratic to the vector node's own prior, if that is
 * normal given the rest. */
bool sampler_gaussian_prior(struct compiler *c, struct step *s);
/* The same of g, which is the node's density, or stands in its place. */
bool sampler_gaussian_density(struct compiler *c, struct step *s,
                              struct factor *g);
/* Whether data settle e, if `leaf` is observed throughout. */
bool sampler_data_with(symp e, const struct var *leaf);
/* forward.c: the steps that draw forward, behind all others, in the order of
 * the families: of leaves, and of what turns out at load to have no observed
 * descendant. Requires blocks; steps that were merged go. */
void sampler_draw_forward(struct compiler *c, struct model *m);

/* modes.c: where modes are sought, all steps that neither take an expectation
 * nor have a mode in closed form go; expectations come first. Requires a list
 * of steps without merged ones. */
bool sampler_seeks_modes(const struct compiler *c);
void sampler_seek_modes(struct compiler *c, struct model *m);

/* scale.c: steps that multiply latent normals and what stands in their means by
 * one number. Requires a list of steps without merged ones. */
void sampler_find_scale_moves(struct compiler *c, struct model *m);
/* opposite.c: steps that multiply effects by a number and divide by it the node
 * that they are multiplied by in all that reads them. */
void sampler_find_opposite_scales(struct compiler *c, struct model *m);
/* translation.c: steps that draw what is added to effects, their sums held. The
 * last of the moves. */
void sampler_find_translations(struct compiler *c, struct model *m);
/* carried.c: steps that move a plate with the scale or the mean of its prior.
 */
void sampler_find_carried(struct compiler *c, struct model *m);
/* joint_marginal.c: parameters of joint Gaussian blocks that move with the
 * block integrated out, before its draw. */
void sampler_find_marginals(struct compiler *c, struct model *m);
/* integrated.c: steps of parameters of priors whose nodes, drawn exactly, are
 * integrated out of them. Requires all moves; brings these steps before the
 * nodes'. */
void sampler_integrate_out(struct compiler *c, struct model *m);
/* relabel.c: steps in which components of a mixture trade places. Requires
 * these. */
void sampler_find_relabels(struct compiler *c, struct model *m);
/* exchange.c: components that their priors tell apart trade places. */
void sampler_find_exchanges(struct compiler *c, struct model *m);
/* unordered.c: elements that are read without their order change places. */
void sampler_find_unordered(struct compiler *c, struct model *m);
/* trade.c: 0s and 1s of a row that exclude each other trade values. */
void sampler_find_trades(struct compiler *c, struct model *m);
/* mirror.c: numbers of which nothing but priors tells the signs change these.
 */
void sampler_find_mirrors(struct compiler *c, struct model *m);
/* accompanied.c: labels move with the nodes whose priors they settle. */
void sampler_find_accompanied(struct compiler *c, struct model *m);
/* states.c: single nodes that hold each other are drawn together. */
void sampler_find_states(struct compiler *c, struct model *m);
/* Whether such a step would have all of these that the likelihood reads, by
 * each element of a plate: one ellipse for all moves less the more of them
 * there are. */
bool sampler_falls_apart(struct compiler *c, struct model *m,
                         struct step *const *steps, int n);
/* Where a scale's step, whose draws a pass over a design makes, keeps the
 * number.
 */
const struct slot *sampler_scale_number(const struct step *s);

/* ---- in words --------------------------------------------------------------
 */

/* Why a step is a slice: what resisted. */
const char *sampler_slice_reason(struct compiler *c, const struct step *s);

/* words.c: an expression with extents as the model states them. */
const char *sampler_expression_text(struct compiler *c, symp e);
/* "i, t" */
const char *sampler_loop_names(struct compiler *c, struct loop *const *loops,
                               int n);
/* The first sentence of an entry's description; what it begins with: "normal
 * distribution" as "normal". */
const char *sampler_first_sentence(struct compiler *c, const struct entry *e);
const char *sampler_family_word(struct compiler *c, const struct entry *e);
/* A left-hand side as the model writes it. */
const char *sampler_written_lhs(struct compiler *c, const struct family *f);
/* What a family updates, as the model writes it where the name alone is not
 * enough: "theta", "b[2]". */
const char *sampler_family_name(struct compiler *c, const struct family *f);
/* The names of the nodes that are integrated out of s. */
const char *sampler_nodes_out(struct compiler *c, const struct step *s);
/* Why they are, and by whom; NULL: none is. */
const char *sampler_why_out(struct compiler *c, const struct step *s);
/* "k of them" with x standing for k; brackets where it is a sum. */
const char *sampler_count_text(struct compiler *c, symp count);
symp block_dimension(struct compiler *c, const struct step *s);
bool sampler_is_augmented(const struct step *s);
/* dense.c: X'X is computed once if all designs and weights are data. */
bool sampler_constant_product(const struct step *s);
/* Whether priors couple the coordinates of a dense block. */
bool sampler_prior_couples(const struct step *s);

#endif
