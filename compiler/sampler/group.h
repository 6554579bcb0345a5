/* group.h: what samplers of groups and of blocks share. */
#ifndef GBMC_SAMPLER_GROUP_H
#define GBMC_SAMPLER_GROUP_H

#include "sampler/sampler.h"

/* ---- group.c: variables that move together ---------------------------------
 */
/* Whether e reads a member; a value in memory that follows one; either. */
bool group_reads(const struct step *s, symp e);
bool sampler_follows_group(symp e, const void *step);
bool group_depends(const struct step *s, symp e);
bool group_mentions(struct compiler *c, const struct step *s,
                    const struct factor *g);
/* Whether these can be moved by sampler `word`; else says why not. */
bool group_fits(struct compiler *c, struct step *const *steps, int n,
                struct span where, const char *word);
/* One step of the families of all; the others are merged into the first. The
 * members stand in the order of the families, parents first. */
struct step *sampler_merge_group(struct compiler *c, struct model *m,
                                 struct step *const *steps, int n);
/* A factor with all its instances; appended to a list. */
struct part *sampler_all_instances(struct compiler *c, struct factor *g);
/* Leaves out of its parts' densities what no move of s changes. */
void sampler_keep_moving(struct compiler *c, struct step *s);
void sampler_push_part(struct part **list, struct part *p);
/* Whether f is the step's, or one of its block's. */
bool sampler_has_member(const struct step *s, const struct family *f);

/* pair_terms.c: the parts of a step of vectors, where one cell gives to
 * another, as what each of the two has, the cell at `at`, and the rest. False:
 * all is rest. */
bool sampler_pair_terms(struct compiler *c, const struct step *s, symp at,
                        struct part **of_cell, struct part **rest);
/* Part p without the terms of cells of the step's vector other than that at
 * `at` (NULL: with all): sums over all cells, without what moves with it, are
 * of it alone. */
struct part *sampler_of_moved_cell(struct compiler *c, const struct step *s,
                                   const struct part *p, symp at,
                                   const struct var *other);
/* The value of a child that is the least (`above`: the most) that the cell
 * which p refers to may be, as the cell is the end of the child's support;
 * NULL: it is not. Emitted: `end` is moved there, unless the cell, `now`, is
 * beyond, as at a start. */
symp sampler_cell_bound(const struct part *p, bool above);
void sampler_emit_cell_bound(struct emitter *e, const struct part *p,
                             bool above, const char *now, const char *end);

/* held_logs.c: copies of the parts in which the logarithms that two variables'
 * cells do not change are numbers; what sets these, as elements of `array`; and
 * where an emitter finds them. */
enum { MOST_HELD_LOGS = 16 };
struct held_logs {
    symp log[MOST_HELD_LOGS];
    const struct part *part[MOST_HELD_LOGS]; /* of it */
    int n;
};
struct part *sampler_hold_logs(struct compiler *c, const struct part *parts,
                               const struct var *const moving[2],
                               struct held_logs *held);
void sampler_emit_hold(struct emitter *e, const struct held_logs *held,
                       const char *array);
void sampler_give_held(struct emitter *e, const struct held_logs *held,
                       const char *array);

/* Opens the loops over a member's elements and components. *cell: one of them.
 */
int sampler_open_group_member(struct emitter *e, const struct family *f,
                              symp *cell);
/* count_, read_ and write_: the unobserved cells as one array, which is the
 * team's: each lane has its own places. */
void sampler_emit_group_cells(struct compiler *c, struct text *out,
                              const struct step *s);
/* What is stored of derived nodes that follow a member, anew. */
void sampler_emit_follow_group(struct emitter *e, const struct step *s);
/* The log density of the parts, as function WHAT_. */
void sampler_emit_group_density(struct compiler *c, struct text *out,
                                const struct step *s, const char *what);
/* For the self-check: the block's cells, and its log density with the priors
 * that `prior` adds. */
void sampler_emit_group_access(struct text *out, const struct step *s,
                               const char *density, bool prior);
/* Opens a function of an element: dimension, get, set, conditional, size. */
struct emitter sampler_open_access(struct compiler *c, struct text *out,
                                   const struct step *s, int which);
void sampler_emit_group_comment(struct compiler *c, struct text *out,
                                const struct step *s, const char *what);

/* The steps as one group, all factors that mention a member its parts; NULL
 * after an error. */
struct step *sampler_take_group(struct compiler *c, struct model *m,
                                struct step *const *steps, int n,
                                struct span where, const char *word);
/* struct sampler's `slots`: where a chain's team moves its group. Behind what
 * is tuned. `arrays`, which NULL ends, are of d numbers each; room_ tells the
 * runtime how many. */
void sampler_group_room(struct compiler *c, struct model *m, struct step *s);
void sampler_emit_group_arrays(struct emitter *e, const struct step *s,
                               const char *const *arrays);
void sampler_emit_group_room(struct compiler *c, struct text *out,
                             const struct step *s, int arrays);
/* The phase of a move that tries other values of all members, by what the parts
 * compute. */
struct phase *sampler_move_phase(struct compiler *c, struct step *s,
                                 const char *what);
/* tuning_: so many `cells` for each turn of the loop, or for all if it is NULL.
 */
void sampler_emit_tuning_of_rows(struct compiler *c, struct text *out,
                                 const struct step *s, const char *cells,
                                 const struct loop *row);
/* What warm-up learns of a move of which not each sweep asks (relabel.h): it
 * was asked for, and `made`, an expression. Returns where nothing is learnt. */
void sampler_emit_asked(struct emitter *e, const char *made);
/* tuning_: the number of `cells` that are tuned, in k, the group's. */
void sampler_emit_tuning_cells(struct compiler *c, struct text *out,
                               const struct step *s, const char *cells);
/* What a Metropolis step of a group is made of. All know `tuning`; $ is the
 * step that the model asks for, or 1. */
struct group_move {
    const char *what;  /* is said above it */
    const char *moves; /* how many a sweep makes unless asked; NULL: one */
    /* a statement: y [d] from x [d], between lower and upper, with z [d] for
     * scratch; sets `jacobian` */
    const char *propose;
    const char *moved; /* a statement, where y is accepted; or NULL */
    /* In warm-up, or `always`, the expression `size` becomes the first of what
     * is tuned, when the statement `learn`, or NULL, has learnt the rest; size
     * NULL: nothing is tuned. */
    const char *size, *learn;
    bool always;
};
void sampler_emit_group_step(struct compiler *c, struct text *out,
                             struct step *s, const struct group_move *move);

/* ---- adaptive.c: what samplers with a learnt covariance share ---------------
 */
/* clang-format off */
#define SAMPLER_LEARNING_OPTIONS                             \
    {.name = "lag", .least = 1, .most = 1e6, .whole = true}, \
    {.name = "share", .word = "chains"},                     \
    {.name = "adapt", .word = "forever"}
/* clang-format on */
/* A group whose options agree; NULL after an error. */
struct step *sampler_take_adaptive(struct compiler *c, struct model *m,
                                   struct step *const *steps, int n,
                                   struct span where, const char *word);
/* What the runtime must know where chains share what they learn. */
void sampler_emit_adaptive_row(struct compiler *c, struct text *out,
                               const struct step *s);
/* Whether they learn for ever. */
bool sampler_learns_always(const struct step *s);

/* ---- normal_group.c: with normal priors given the rest ---------------------
 */
/* The own prior of a scalar, if it is potential x + square x^2 and nothing
 * else; or NULL. These two, of a step that has such a prior. */
const struct part *normal_prior(const struct step *s);
void normal_prior_terms(struct compiler *c, const struct step *s,
                        symp *potential, symp *square);
/* The error that the prior is not normal, as sampler `word` needs. */
void sampler_not_normal(struct compiler *c, const struct step *s,
                        struct span where, const char *word);
/* The steps as one group, its members' priors its own part, in order; or a
 * vector node alone, its prior as its only quadratic. NULL after an error. */
struct step *sampler_take_normal(struct compiler *c, struct model *m,
                                 struct step *const *steps, int n,
                                 struct span where, const char *word);
/* A vector node with a normal prior as such a step; false: it is not normal. */
bool normal_vector(struct compiler *c, struct step *s);
/* normal_terms.c: the parts of a vector node's step that are normal in it, as
 * quadratics beside its prior: so mean and draw are of the product. Requires
 * that no block is to be formed of the step any more. */
void sampler_take_normal_terms(struct compiler *c, struct step *s);
/* Writes a statement that moves x [d] to y, where mean [d] is the prior's and
 * drawn [d] a draw from it; likelihood_NAME_at(&k_, y) puts y into the state
 * and returns the rest of its log density. Moves between two are made by the
 * same statement. */
typedef void normal_move(struct emitter *e, const struct step *s);
/* The step's functions; `what` is said above them. */
void sampler_emit_normal_moves(struct compiler *c, struct text *out,
                               struct step *s, const char *what,
                               normal_move *move);

/* ---- dense.c ---------------------------------------------------------------
 */
/* Its own part; NULL: s is no dense block. */
struct dense {
    bool coupled_prior; /* priors couple coordinates */
};
struct dense *sampler_dense_of(const struct step *s);

/* ---- block.c: blocks of one element each ------------------------------------
 */
/* The loop indices of `element`, for all members. */
void sampler_open_element(struct emitter *e, const struct step *s);
/* cell_ for parts found through an inverse index of a member's variable. */
void sampler_emit_index_cell(struct emitter *e, const struct step *s,
                             const struct part *p);
/* n0, at0, ..., d: numbers and places of the members' coordinates. */
void sampler_emit_layout(struct emitter *e, const struct step *s);
/* Opens the loops over the coordinates of member i, shared out among the lanes
 * if asked; *place: the coordinate's number. Returns the braces to close. */
int sampler_open_index(struct emitter *e, const struct indices *index, int i,
                       bool shared, const char **place);
/* One line for every coordinate: @ in format is its place, $ its cell (or
 * whether that is observed). */
void sampler_emit_each(struct emitter *e, const struct step *s,
                       const char *format, bool seen, bool shared);
/* The variable whose cells, one behind the other, the block has; or NULL. */
const struct var *sampler_variable_of_block(struct compiler *c,
                                            const struct step *s);
/* What stands above the functions of a block. */
void sampler_emit_block_comment(struct compiler *c, struct text *out,
                                const struct step *s);
/* Adds what a factor contributes to Q and b, instance by instance. */
void sampler_emit_quadratic(struct emitter *e, const struct step *s,
                            const struct quadratic *q);
/* Which coordinates are observed: fixed [d], and whether some are. */
void sampler_emit_fixed(struct emitter *e, const struct step *s);
/* Room for numbers of a block, e.g. "d * d". */
void sampler_emit_room(struct emitter *e, const struct step *s,
                       const char *name, const char *cells);
/* Adds b'x - x'Qx / 2 to `total` and returns it. */
void sampler_emit_quadratic_form(struct emitter *e);
/* One line for every cell of a matrix node; as emit_each. */
void sampler_emit_matrix_cells(struct emitter *e, const struct step *s,
                               const char *format);
/* dimension_, get_ and set_ of a vector or matrix node. */
void sampler_emit_vector_access(struct compiler *c, struct text *out,
                                const struct step *s, bool matrix);
/* dimension_, get_ and set_: the block's coordinates for the self-check. */
void sampler_emit_block_access(struct compiler *c, struct text *out,
                               const struct step *s);
/* assemble_: precision Q [d][d] and potential b [d] of the quadratics. */
void sampler_emit_assemble(struct compiler *c, struct text *out,
                           const struct step *s);

#endif
