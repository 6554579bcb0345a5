/* load.h: the model bound to its data. */
#ifndef GBM_LOAD_H
#define GBM_LOAD_H

#include "io/data.h"
#include "rt.h"

/* definitions.c. Fails if two elements of v's families define one cell. */
enum gbm_status rt_check_twice(struct rt *rt, const struct rt_instance *in,
                               const void *state, int v);
/* Says in notes which dimensions of v's data, those of the file source, go
 * beyond all that its statements define, as where N is less than their length.
 * Before the first element defined there may be the start of a recursion. */
void rt_note_beyond(const struct rt_instance *in, const void *state, int v,
                    const char *source, FILE *notes);

/* observed_sums.c. Fails if a latent cell is in two observed sums. */
enum gbm_status rt_check_sums(struct rt *rt, const struct rt_instance *in,
                              const void *state);

/* described.c. Fails if a latent number, which observed nodes depend on, is of
 * a set that the library does not describe, or settled by other latent nodes.
 * After rt_find_barren. */
enum gbm_status rt_check_described(struct rt *rt, const struct rt_instance *in,
                                   const void *state);

/* load.c. Binds data, settles extents, computes constants and lists. With
 * `redraw` observed nodes are per chain, so that they can be drawn anew. Notes
 * for the user go to `notes` if it is not NULL. */
enum gbm_status rt_load(struct rt *rt, const struct gbm_data *data, bool redraw,
                        struct rt_instance *in, FILE *notes);

/* instance.c */
/* Writes the name of a cell: "theta[3,2]". */
void rt_cell_name(const struct rt_instance *in, int v, int64_t cell, char *out,
                  size_t capacity);
/* The variable called that, as one of its scalars too; or -1. */
int rt_variable_called(const struct gbm_model *m, const char *name);
/* Number of the scalar of that name and length in a variable, or -1. */
int rt_scalar_called(const struct gbm_variable *variable, const char *name,
                     size_t length);
void rt_instance_free(struct rt_instance *in);
/* The values of all chains, by slot; NULL if there is no memory. */
void **rt_save(const struct rt_instance *in);
void rt_put_back(const struct rt_instance *in, void *const *values);
void rt_forget(const struct rt_instance *in, void **values);
/* Binds a state of chain 0; bindings: scratch, [nvariables]. */
void rt_bind_with(const struct rt_instance *in, struct gbm_binding *bindings,
                  void *state);
/* Bytes of a variable's values of all chains; 0 if they share one. */
size_t rt_chain_bytes(const struct rt_instance *in, int v);
/* Another chain takes all that a chain has. */
void rt_copy_chain(const struct rt_instance *in, int from, int to);
/* Writes the state of a chain: model->state_size bytes. */
void rt_bind(const struct rt_instance *in, void *state, int chain);
/* Bound states of all chains, one allocation; NULL if there is no memory. */
char *rt_states_create(const struct rt_instance *in);
static inline void *rt_state(const struct rt_instance *in, char *states,
                             int chain)
{
    return states + (size_t)chain * in->model->state_size;
}
double rt_value(const struct rt_slot *slot, bool integer, int chain,
                int64_t cell);
void rt_set_value(const struct rt_slot *slot, bool integer, int chain,
                  int64_t cell, double value);
/* True if the cell is observed. */
static inline bool rt_seen(const struct rt_slot *slot, int64_t cell)
{
    return slot->seen ? slot->seen[cell] == RT_SEEN : !slot->per_chain;
}
/* True if it is latent and no observed node depends on it: barren.c. */
static inline bool rt_barren(const struct rt_slot *slot, int64_t cell)
{
    return slot->seen && slot->seen[cell] == RT_BARREN;
}
/* True if some cell is observed. */
bool rt_any_seen(const struct rt_slot *slot);
/* An error if a statement reads what nothing defines. Needs all families. */
enum gbm_status rt_check_undefined(struct rt *rt, const struct rt_instance *in,
                                   const void *state);
/* Marks the cells that no observed node depends on. Needs all families. */
enum gbm_status rt_find_barren(struct rt *rt, struct rt_instance *in,
                               const void *state, FILE *notes);

/* Whether family f draws whole numbers, be they in an array of reals. */
static inline bool rt_draws_whole(const struct gbm_model *m, int f)
{
    return m->families[f].whole ||
           m->variables[m->families[f].variable].integer;
}

/* Cells of a family's element; the buffer grows. Returns their number. */
struct rt_cells {
    int64_t *cells;
    int64_t capacity;
};
int64_t rt_element_cells(const struct gbm_family *family, const void *state,
                         int64_t element, struct rt_cells *buffer);
/* Notes in owner[] of the family's variable (made if it is NULL, -1 is of none)
 * which node defines each cell: the family's elements are nodes from `first`
 * on. False: no memory. */
bool rt_own_cells(const struct rt_instance *in, int family, const void *state,
                  int64_t first, int **owner, struct rt_cells *buffer);
/* How many of a family's elements have no cell that is observed, some such
 * cells, and no others. */
struct rt_observed {
    int64_t none, partly, whole;
};
struct rt_observed rt_count_observed(const struct rt_instance *in, int family,
                                     const void *state);
/* Whether an element is drawn forward, so no part of the joint that a sweep
 * samples: an unobserved leaf, or barren. */
bool rt_drawn_forward(const struct rt_instance *in, const void *state,
                      int family, int64_t element, struct rt_cells *buffer);
/* The same; what an augmentation added to such an element goes with it, as no
 * step draws either. */
bool rt_counts_for_nothing(const struct rt_instance *in, const void *state,
                           int family, int64_t element,
                           struct rt_cells *buffer);
/* What the density of a vector node leaves unsaid: no component of a simplex or
 * of counts is negative, a matrix is positive definite. */
bool rt_in_support(const struct rt_instance *in, const void *state, int chain,
                   int family, int64_t element);
/* "theta[3]" or, for a vector element, "beta[1:4]" of a family's element. */
void rt_element_name(const struct rt_instance *in, const void *state,
                     int family, int64_t element, char *out, size_t capacity);

/* sequence.c: the elements of a sequence, parents before children. An error if
 * they depend on each other in a circle. */
enum gbm_status rt_sequence(struct rt *rt, const struct rt_instance *in,
                            const void *state, int sequence,
                            struct rt_order *out);
/* The sequence of a kind that has the family, and whether it is its first; -1:
 * none. */
int rt_sequence_of(const struct gbm_model *m, enum gbm_sequence_kind kind,
                   int family, bool *first);

/* reach.c: lists what each cell reaches, of an inverse index with `ways`. */
enum gbm_status rt_reach(struct rt *rt, struct rt_instance *in,
                         const void *state, int inverse);
/* Rebuilds an inverse index in the chain of `state`. */
void rt_index(const struct rt_instance *in, const void *state, int inverse,
              int chain);
/* Those of a chain that are functions of its state. */
void rt_index_latents(const struct rt_instance *in, const void *state,
                      int chain);
/* Colours and element lists of the steps; needs all slots bound. */
enum gbm_status rt_plan(struct rt *rt, struct rt_instance *in);

/* joint.c. Lays out a joint Gaussian block: fills its slots. `redraw`: what is
 * observed is drawn anew, so nothing that reads it is constant. */
enum gbm_status rt_joint(struct rt *rt, struct rt_instance *in,
                         const struct gbm_step *step, const void *state,
                         bool redraw);
/* Anew, for the device that has been opened: before chains start. */
enum gbm_status rt_joint_again(struct rt *rt, struct rt_instance *in);

/* powers.c: of a program with powers. */
/* Its slot, or -1; the powers of all chains, or NULL. */
/* What 0 is to a sweep: a power that leaves nothing of a density but where it
 * is 0. */
#define RT_LEAST_POWER 1e-300
/* With turns the number is a progress: beyond the last turn. */
#define RT_ALL_ENTERED 1e9
double *rt_powers(const struct rt_instance *in);
/* A family of the model's own nodes, whose density is one of data where they
 * are observed. */
bool rt_is_likelihood(const struct gbm_family *family);
/* The log density of the data that have powers, at power 1. */
double rt_loglikelihood(const struct rt_instance *in, const void *state,
                        int chain);
/* turns.c: when data enter. Without --sequence all are of one turn, 0. */
struct rt_turn_element {
    int64_t turn;
    int family;
    int64_t element;
};
struct rt_turns {
    int count;      /* different ones */
    int64_t *value; /* [count] ascending */
    int64_t *first; /* [count + 1] of turn k: data[first[k]] ... */
    struct rt_turn_element *data;
};
enum gbm_status rt_turns_create(struct rt_turns *turns, struct rt *rt,
                                const struct rt_instance *in);
void rt_turns_free(struct rt_turns *turns);
/* The log density of the data of turns [from, to), at power 1. */
double rt_turns_loglik(const struct rt_turns *turns,
                       const struct rt_instance *in, int from, int to,
                       const void *state, int chain);

/* Whether the program's powers are on the densities of all data, or of those
 * that --temper names; *list: the names of these variables. Fails where they
 * cannot be. */
enum gbm_status rt_fit_powers(struct rt *rt, const struct rt_instance *in,
                              char *list, size_t capacity, bool *fits);

/* pieces.c */
void rt_pieces_add(struct rt_pieces *pieces, const char *name, void *place,
                   size_t bytes);
void rt_pieces_free(struct rt_pieces *pieces);

/* work.c. GBM_WORK_... and reads of a step's phases, one after the other; the
 * caller frees them. NULL: no memory. */
double *rt_step_work(const struct gbm_step *step, const void *state);
/* Those of the phase behind this one. */
const double *rt_next_phase(const struct gbm_phase *phase,
                            const double *counts);

/* density.c */
/* True if other functions read what the family computes from latent nodes. */
bool rt_is_read(const struct gbm_model *model, int family);
/* Computes all derived families that are read, parents first. */
void rt_derive_all(const struct rt_instance *in, const void *state);
/* Everything that follows from the stochastic nodes of a chain: that, and the
 * inverse indices of latent subscripts. */
void rt_refresh(const struct rt_instance *in, const void *state, int chain);
/* Log density: of the model (augmented false), or of the joint with the
 * auxiliary nodes that the sweep samples. */
double rt_logdensity(const struct rt_instance *in, const void *state,
                     bool augmented, int threads);

#endif
