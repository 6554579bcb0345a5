/* emit.h: the text of a program. */
#ifndef GBMC_EMIT_EMIT_H
#define GBMC_EMIT_EMIT_H

#include "sweep/sweep.h"

/* ---- expression.c: expressions as C that is CUDA C too ------------ */
/* One function being written. Sums, draws and array arguments become
 * statements before the expression that uses them. */
struct emitter {
    struct compiler *c;
    struct text *out;
    int indent;
    struct {
        const struct loop *loop;
        const char *name;
    } loops[512];
    int nloops;
    const char *names[4096]; /* identifiers of this function */
    int nnames;
    const char *target; /* what SYM_TARGET is called */
    bool team;          /* outermost sums are shared out among lanes */
    bool shared_out;    /* some loop was, so far */
    bool clamped;       /* log(a - b) is that of 0 where rounding makes a < b */
    int whole;          /* depth of what must be C's int, as in a subscript */
    int compared;       /* depth of comparisons between counts */
    bool rounded;       /* no product is a part of a fused operation */
    struct {
        const char *name, *as;
        symp value; /* a number, if it is known to be one; or NULL */
    } params[64];   /* what SYM_PARAM is called */
    int nparams;
    struct {
        symp value;
        const char *name;
        symp along; /* not NULL: in an array, for each term of this sum */
        bool anew;  /* which is being written out, nevertheless */
    } shared[64];   /* computed before, in a variable: shared.c */
    int nshared;
    bool shares;           /* sums are remembered where they are computed */
    const char *shared_if; /* they exist if this holds; NULL: always */
    /* emit_open_part: calls in these that are the same in all turns of the
     * innermost loop are computed before it, and sums if no team shares it. */
    symp const *in_rows;
    int nin_rows;
    bool sums_in_rows;
    bool shares_calls; /* emit_shared takes calls too */
    bool all_seen;     /* emit_open_part: no instance is unobserved */
    bool of_rows;      /* terms of a sum over rows, which rounds itself */
    struct {
        symp call;
        const char *name, *length, *arrays;
        const char *rest; /* beside it in a row, a number, where rows are added
                             several at once; else NULL */
    } terms[4]; /* what was made of the arrays of a call before the rows */
    int nterms;
};
void emit_line(struct emitter *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A loop that the lanes of a team share, end excluded. */
void emit_team_loop(struct emitter *e, const char *name, const char *begin,
                    const char *end);
/* A line in which $ stands for the text of a cell, @ for its place. */
void emit_filled(struct emitter *e, const char *format, const char *cell,
                 const char *place);
/* An identifier not used yet in this function: one of our own, from `base`; one
 * for something of the model, or of a library file, that is called `name`. */
const char *emit_name(struct emitter *e, const char *base);
const char *emit_name_of_model(struct emitter *e, const char *name);
/* C text of an expression; appends the statements that it needs. */
const char *emit_expr(struct emitter *e, symp x);
const char *emit_int(struct emitter *e, symp x);
const char *emit_in_brackets(struct emitter *e, symp x);
/* Enters a loop index into scope under a name that is free. */
const char *emit_loop_name(struct emitter *e, const struct loop *loop);
/* What it is called now. */
const char *emit_loop_of(const struct emitter *e, const struct loop *loop);
/* Enters it under a name that is there. */
void emit_loop_as(struct emitter *e, const struct loop *loop, const char *name);
/* Opens a loop from lower to upper, whose index enters scope; close with
 * emit_close. Returns the name of the index. */
const char *emit_open_loop(struct emitter *e, const struct loop *loop,
                           symp lower, symp upper);
void emit_param(struct emitter *e, const char *name, const char *as);
/* 0-based flat cell of a reference. */
const char *emit_cell(struct emitter *e, const struct var *v, symp const *args);
/* An array argument as a pointer to contiguous `real`s; an argument of either
 * kind. */
const char *emit_array(struct emitter *e, symp array);
const char *emit_argument(struct emitter *e, symp x);
/* What a function is called in C; a call in which `function` and `args` stand
 * for those of `call`, with more arguments behind them if that is not NULL. */
const char *emit_function_of(struct compiler *c, symp call);
const char *emit_call_with(struct emitter *e, symp call, const char *function,
                           const char *const *args, const char *more);
/* A product with a factor that is 0 under a condition is 0 there, be what else
 * it reads no number or beyond an array: a choice. NULL: no factor is. */
symp emit_zero_under_condition(struct compiler *c, symp product);

/* vectors.c: whether the C compiler can evaluate e for several rows at once; of
 * a call or power: whether that takes longer than the arithmetic around it;
 * whether these terms are such, with such a call in each row of p. */
bool emit_only_vectors(symp e);
bool emit_is_expensive(symp e, const void *unused);
bool emit_worth_vectors(const struct part *p, symp const *terms, int n);
/* Computes now the calls in n values of a row of hoisted columns that stand in
 * a choice or more than once: where choices have calls the C compiler takes
 * rows one by one. The caller restores nshared. */
void emit_calls_of_rows(struct emitter *e, const struct hoisted *h,
                        symp const *values, int n);
/* Those in n values that stand there more than once and are of a choice, so
 * that the C compiler does not see that they are the same. */
void emit_repeated_calls(struct emitter *e, symp const *values, int n);

/* shared.c: computes now what in x has sums over what is in scope, so that
 * the loops opened next need not. The caller restores nshared after them. */
void emit_shared(struct emitter *e, symp x);
/* The same of calls that stand in the terms of sums in x, which a device does
 * for sums of few terms (GBM_LIFT). */
void emit_lifted(struct emitter *e, symp x);
/* Of calls in x whose arrays all rows share: what is made of these. Whether a
 * function is one for which that is done; the text of such a call in a row if
 * that was done, or NULL. */
void emit_before_rows(struct emitter *e, symp x);
bool emit_has_terms(symp call);
const char *emit_of_row(struct emitter *e, symp call);
/* Where such a call is a term of x: adds it to `sum`, which the host does for
 * several rows at once, and a number beside it. Returns the rest of x. */
symp emit_add_of_row(struct emitter *e, symp x);
/* What is left to be added to `sum`; forgets these calls. */
void emit_after_rows(struct emitter *e);
/* From here `name` holds the value of x; while it is in scope and the state
 * stays. */
void emit_remember(struct emitter *e, symp x, const char *name);
/* The variable that holds x, or NULL. */
const char *emit_done_before(struct emitter *e, symp x);

/* count.c: C text of a number of terms, rows or operations, a double whatever
 * the precision; appends the statements that it needs. For the host alone. */
const char *emit_quantity(struct emitter *e, symp x);

/* saturated.c: where collected terms of a count, or what its rows add for each
 * one that it is more, may be infinite: adds the densities in place, if they
 * are so, and opens a block for if they are not. False: nothing is infinite. */
bool emit_saturated(struct emitter *e, const struct step *s);
bool emit_saturated_rows(struct emitter *e, const struct step *s,
                         const struct part *p, int number);

/* ---- common.c: what several files write ---- */
/* A string of C. */
void emit_string(struct text *out, const char *s);
/* A function of an element that the runtime calls with a chain's state as it
 * has it, behind a pointer to anything: NAME_FAMILY, and NAME_FAMILY_in with
 * the body. After the element come parameters, by ", " from it, and as
 * arguments. */
struct host_function {
    const char *type, *name, *parameters, *arguments;
};
void emit_open_host_function(struct emitter *e, const struct family *f,
                             const struct host_function *h);
void emit_close_host_function(struct emitter *e, const struct family *f,
                              const struct host_function *h);
/* Opens a function of s and `element`: its loop indices are in scope. */
void emit_open_element_function(struct emitter *e, const struct family *f,
                                const char *head);
/* Opens the function that updates an element of s. */
void emit_open_update(struct text *out, const struct step *s);
/* The cell of a family of numbers. */
const char *emit_target(struct emitter *e, const struct family *f);
/* Opens loops over the slices of f's left-hand side; at[] are the places from
 * 1. Returns the braces to close. */
int emit_open_slices(struct emitter *e, const struct family *f, symp *at);
/* Where a vector node's component at `at`, or a matrix node's, whose rows are
 * `width` long, is in an array of its own. */
const char *emit_place_in_slices(struct emitter *e, const struct family *f,
                                 const symp *at, const char *width);
/* Whether all loops that x reads are open. */
bool emit_loops_in_scope(const struct emitter *e, symp x);
/* The index of what d states for each element, the j of alpha[j] > 0, or
 * NULL. */
const char *emit_free_index(const struct entry *d, const struct expr *e);
/* The arguments of f's distribution or function that are numbers, as locals of
 * their names; whether one is an array. */
void emit_bind_scalars(struct emitter *e, const struct family *f);
bool emit_has_array_argument(const struct family *f);

/* ---- ends.c: between which a number is tried or drawn ---- */

/* C text of an end of a support, in brackets. */
const char *emit_limit(struct emitter *e, symp limit);
/* C text of an end that a child leaves a node of f. The part is open. */
const char *emit_bound(struct emitter *e, const struct family *f,
                       const struct bound *b);
/* The locals lower, upper; then what is kept of them, behind all sums. */
void emit_step_ends(struct emitter *e, const struct step *s);
void emit_keep_ends(struct emitter *e, const struct step *s);

/* ---- scalar.c: samplers of one number ---- */
/* Its functions, with the draw of the step's sampler; `how` is said above them.
 * Of which: the comment; struct conditional_ and prepare_, which fills one
 * (true if lanes have loops to share in it); density_, its log density at a
 * value; the update. */
void emit_scalar(struct compiler *c, struct text *out, struct step *s,
                 const char *how);
void emit_scalar_comment(struct compiler *c, struct text *out,
                         const struct step *s, const char *how);
bool emit_conditional(struct compiler *c, struct text *out,
                      const struct step *s);
/* predicted_: prepare_ where the value of the predictor is known. */
void emit_predicted(struct compiler *c, struct text *out, const struct step *s,
                    symp predictor);
void emit_density(struct compiler *c, struct text *out, const struct step *s);
void emit_scalar_update(struct compiler *c, struct text *out,
                        const struct step *s);
/* A value, put where emit_target is. */
void emit_store(struct emitter *e, const struct step *s, const char *value);
/* The width that warm-up tunes, as the local `width`, and how it is stored. */
const char *emit_width(struct emitter *e, const struct step *s);
void emit_store_width(struct emitter *e, const struct step *s,
                      const char *unit);
/* dimension_, get_, set_, conditional_: what the self-check asks of it. */
void emit_scalar_checks(struct compiler *c, struct text *out,
                        const struct step *s);
/* tilted.c: whether the state changes the log density of s's full conditionals,
 * of counts, by a term that is linear in them alone, and no earlier step of
 * that kind draws nodes that meet these; then tilt_ (model.h). */
bool emit_tilts(const struct step *s);
void emit_tilt(struct compiler *c, struct text *out, const struct step *s);

/* ---- step.c, part.c, family.c: the functions of steps and families ---- */
void emit_step(struct compiler *c, struct text *out, struct step *s);
/* How it samples, in a word or two. */
const char *emit_sampler_name(struct compiler *c, const struct step *s);
/* The host's functions and tables of steps. */
void emit_steps(struct text *out, struct compiler *c, const struct model *m);
/* labels.c: what a variable's dimensions are called in the model. */
void emit_labels(struct text *out, const struct var *v);
/* tally.c: the functions that compute a table of a tally. */
void emit_tally(struct compiler *c, struct text *out, const struct family *f);
bool emit_tally_beside(const struct family *f);
/* tally_weighted.c. Whether the device goes through all rows for neighbouring
 * cells of a table at once, each row weighted; the functions that it does that
 * with, and the host's that tells how many cells there are. */
bool emit_tally_weighted(const struct family *f);
/* Returns where marks of an element's weights begin (stdlib/kernels/
 * weight_marks.h). */
void emit_marks_of(struct emitter *e, const struct var *weights, symp element);
void emit_weighted_table(struct compiler *c, struct text *out,
                         const struct tallied *k);
void emit_weighted_lengths(struct compiler *c, struct text *out,
                           const struct family *f);
/* The table with which the device fills f, the first of its tally, and what f
 * has of it (stdlib/kernels/weighted_product.h); NULL: there is none. */
const struct family *emit_weighted_rest(struct compiler *c,
                                        const struct family *f,
                                        const char **how);
/* Returns the length of what draws the family forward and starts it. */
size_t emit_family(struct compiler *c, struct text *out, struct model *m,
                   struct family *f);
/* subscripts.c: statements that look whether what an element of f reads lies in
 * its arrays, as far as the data say. */
void emit_check_subscripts(struct emitter *e, const struct family *f);
/* Of a family that reads arrays where the state decides: a function that says
 * which subscript is outside its array, for messages. */
bool emit_has_beyond(const struct family *f);
void emit_beyond(struct compiler *c, struct text *out, const struct family *f);
/* Whether f's elements may read random or derived ones. */
bool emit_has_parents(const struct family *f);
/* int i = ..., j = ...: a family's loop indices from `element` */
void emit_decode(struct emitter *e, const struct family *f,
                 const char *element);
/* Where the items of a cell begin and end in an inverse index. */
const char *emit_index_begin(struct emitter *e, const struct inverse *i,
                             const char *cell);
const char *emit_index_end(struct emitter *e, const struct inverse *i,
                           const char *cell);
/* Recomputes what is at a place of the order of a sequence. */
void emit_sequence_place(struct emitter *e, const struct sequence *q,
                         const char *place);
/* Opens, on the host, what is done where all instances of p are observed: its
 * loops test nothing then, so that the vector unit can take their rows. False
 * if that is not to be known or the terms, summed in them, gain nothing. Then
 * what is done otherwise; the caller closes its brace. */
bool emit_open_all_seen(struct emitter *e, const struct part *p,
                        symp const *terms, int n);
void emit_open_not_all_seen(struct emitter *e);
/* The condition that an instance of a part exists and counts. */
symp emit_part_guard(struct compiler *c, const struct part *p);
/* Opens the loops over a part's instances; close with emit_close. */
int emit_open_part(struct emitter *e, const struct part *p, bool team);
/* count += the number of a part's instances, or more. */
void emit_count_part(struct emitter *e, const struct part *p,
                     const char *count);
void emit_close(struct emitter *e, int braces);
/* Whether all instances of p's factor count, in C, where p's sums hold: the
 * leaf is observed throughout, or no latent node is barren; or whether not. */
const char *emit_all_count(struct compiler *c, const struct part *p, bool yes);
/* Opens a test whether p's sums computed at load hold, or whether not; nothing
 * if p is NULL. Returns the braces to close. */
int emit_if_summed(struct emitter *e, const struct part *p);
int emit_unless_summed(struct emitter *e, const struct part *p);

/* sequence.c */
/* What elements read of variables that may be barren; false: there are none. */
void emit_readers(struct compiler *c, struct text *out, const struct model *m,
                  bool *readers, bool *gaps);
void emit_sequences(struct compiler *c, struct text *out,
                    const struct model *m);
/* What is read along the ways of the reaches that are listed at load. */
void emit_reach_readers(struct compiler *c, struct text *out,
                        const struct model *m);
void emit_refresh(struct compiler *c, struct text *out,
                  const struct sequence *q);
/* Which random and derived cells an element of f reads. */
void emit_parents(struct compiler *c, struct text *out, const struct family *f);

/* Whether it has bounds between which its scalars lie. */
bool emit_has_bounds(const struct family *f);

/* vector_start.c */
/* A starting value of a vector node, from draws of its prior. */
void emit_vector_start(struct emitter *e, const struct family *f);

/* adjoint.c: with gradients, the adjoint of an element, and of its bounds;
 * their members of a row in the table of families. */
void emit_adjoint(struct compiler *c, struct text *out, const struct family *f);
void emit_adjoint_row(struct compiler *c, struct text *out,
                      const struct family *f);

/* violation.c */
/* Whether its values are names, and how many an element may have. */
bool emit_has_categories(const struct family *f);
/* Whether the elements are numbers of things, more than 0 and 1. */
bool emit_has_counts(const struct family *f);
void emit_categories(struct compiler *c, struct text *out,
                     const struct family *f);
/* How far an element of f is from a density that is not 0. */
void emit_violation(struct compiler *c, struct text *out,
                    const struct family *f);

/* observed_sum.c */
/* settle_ of the family of an observed sum: moves the summands until they have
 * the sum. */
void emit_settle(struct compiler *c, struct text *out, struct model *m,
                 const struct family *f);
/* An observed sum of nodes that are drawn. */
bool emit_has_settle(struct compiler *c, const struct family *f);

/* Opens a test whether an instance is the first of its kind; *copies: the name
 * of how many there are, NULL if that is not known. Returns the braces. */
int emit_copies(struct emitter *e, const struct part *p, const char **copies);
/* total += the part's log densities at the state as it is. */
void emit_in_place(struct emitter *e, const struct part *p);
/* The same of a part of s; its sum may be known from before: recall.c. */
void emit_in_place_or_recalled(struct emitter *e, const struct step *s,
                               const struct part *p);

/* ---- recall.c: sums that are kept with what they are functions of -------- */
/* What is called of these: before the functions that emit_in_place_or_recalled
 * stands in. */
void emit_recalled(struct compiler *c, struct text *out, const struct step *s);
/* Around the statements that compute `sum`. */
void emit_open_recalled(struct emitter *e, const struct step *s,
                        const struct recalled *r);
void emit_close_recalled(struct emitter *e, const struct step *s,
                         const struct recalled *r);
/* The step of which sweeps leave the log likelihood of the family's data known,
 * or NULL; the function that tells it, and the kernel. */
const struct step *emit_recalled_by(const struct model *m,
                                    const struct family *f);
void emit_recalled_kernel(struct compiler *c, struct text *out,
                          const struct model *m, const struct family *f);
/* The same of a chain that sweeps by itself (chains_cuda.h). */
void emit_recalled_chain(struct compiler *c, struct text *out,
                         const struct model *m, const struct family *f);
void emit_recalled_likelihood(struct compiler *c, struct text *out,
                              const struct model *m, const struct family *f);
/* The statement by which an instance of deterministic family f is computed, its
 * loops being open. */
void emit_definition(struct emitter *e, const struct family *f);
/* Recomputes the stored derived nodes that depend on v, of which step s has
 * moved one element or, if it has no alignments, any. */
void emit_recompute(struct emitter *e, const struct step *s,
                    const struct var *v);
/* The function that does it for an element of an aligned step. */
void emit_recompute_aligned(struct compiler *c, struct text *out,
                            const struct step *s);
/* cell_: the element's flat cell, if parts are found by an inverse index. */
void emit_cell_if_needed(struct emitter *e, const struct step *s);
/* family_check.c: check_, what an element's data must be. */
void emit_family_check(struct compiler *c, struct text *out,
                       const struct family *f);
/* prior_draw.c: simulate_, the draw of an element from its distribution. */
void emit_simulate(struct compiler *c, struct text *out,
                   const struct family *f);
/* Calls the function that draws an element of f from its prior, whatever the
 * rules of its distribution: a starting value may be what is no draw. */
void emit_unruled_draw(struct emitter *e, const struct family *f);
/* Statements that draw a scalar of f from its prior, which is then in what its
 * left-hand side is called; NaN, or what stands for it among integers, where a
 * rule is broken. Those that return its log density. */
void emit_ruled_draw(struct emitter *e, const struct family *f);
void emit_return_density(struct emitter *e, const struct family *f);
/* The same of a part of that density. */
void emit_return_density_of(struct emitter *e, const struct family *f,
                            symp logp);
/* cell: a draw of integers between the locals lower and upper, if the value
 * in it is none; a local with a real one, whose name is returned. Of entry d.
 */
void emit_integer_between(struct emitter *e, const struct entry *d,
                          const char *cell);
const char *emit_put_between(struct emitter *e, symp draw);
const char *emit_real_between(struct emitter *e, const struct entry *d);
/* Of reals whose parameters are in scope: by `draw_between`, or else as the one
 * before. */
const char *emit_drawn_between(struct emitter *e, const struct entry *d);
/* Whether d's draw between bounds is one draw of a normal between bounds, which
 * may be asked for before it is taken (stdlib/kernels/between_rows.h). */
bool emit_asks_between(struct compiler *c, const struct entry *d);
/* A clause of library entry d, parameters called as emit_param said. */
symp emit_entry_expression(struct compiler *c, const struct entry *d,
                           const struct expr *value);
struct emitter emitter_new(struct compiler *c, struct text *out);

/* hoisted.c: what hoist.c took out of in-place parts. */
bool emit_step_has_columns(const struct step *s);
/* Whether the device has them, too, where there are few. */
bool emit_device_keeps(const struct step *s);
/* Whether some part still needs the state to hold the trial value. */
bool emit_step_evaluates_in_place(const struct step *s);
void emit_hoisted_members(struct compiler *c, struct text *out,
                          const struct step *s);
void emit_hoisted_room(struct compiler *c, struct text *out,
                       const struct step *s);
void emit_hoisted_fill(struct emitter *e, const struct step *s,
                       const char *target);
/* total += the hoisted parts' log densities at x */
void emit_hoisted_sums(struct emitter *e, const struct step *s);
/* The member of the conditional that has the slope of a hoisted part. */
const char *emit_hoisted_slope(struct compiler *c, const struct step *s,
                               const struct part *p);

/* work.c: the table of a step's phases and what counts their work; its members
 * of the row in the table of steps. */
void emit_work(struct text *out, struct compiler *c, const struct step *s);
void emit_work_row(struct text *out, const struct step *s);
/* The function of the model that counts what its families compute. */
void emit_family_work(struct text *out, struct compiler *c,
                      const struct model *m);

/* program.c */
void emit_program(struct text *out, struct compiler *c, struct model *m);
/* headers.c: the headers of stdlib/kernels/gbm.h that a program and its tables
 * call, included in place of gbm.h. */
void emit_headers(struct text *out, struct compiler *c, const char *program,
                  const char *tables);

/* host.c: the host's file. The program may be compiled in parts 0 to
 * STEP_PARTS, side by side: see GBM_ENTRY in stdlib/kernels/skeleton.h. */
enum { STEP_PARTS = 4 };
void emit_host(struct text *out, struct compiler *c, struct model *m,
               const char *program, const char *explanation);

#endif
