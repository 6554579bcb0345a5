/* check.h: comparing full conditionals with the joint density: the command, and
 * self_check.c, which does it at the start of every run. */
#ifndef GBM_CHECK_H
#define GBM_CHECK_H

#include "start/start.h"
#include "host/host.h"

/* The commands `check` and `check --gradients`; return the exit status. */
int rt_command_check(struct rt *rt);
int rt_command_check_gradients(struct rt *rt);

/* self_check.c. Compares the steps with the model's joint density, on the host,
 * from the chains' state as it stands in in->slots; leaves that as it was. A
 * device with memory of its own need not be loaded yet: the end, once it is,
 * compares it with the host. `status`: of what came between; the end returns it
 * if it failed, and frees in any case; *compared: whether there was time to. */
struct self_check;
enum gbm_status rt_self_check_begin(struct rt *rt, struct rt_instance *in,
                                    struct self_check **out);
enum gbm_status rt_self_check_end(struct self_check *s, enum gbm_status status,
                                  bool *compared, FILE *notes);

/* self_check_lines.c. After warm-up, which took so many seconds: compares moves
 * along lines that it has learnt, if any, with the model's joint density, and
 * leaves the chains as they were. */
enum gbm_status rt_self_check_lines(struct rt *rt, struct rt_instance *in,
                                    double warmup);

/* held.c. Where GBM_HELD is set, for tests: all that is held of a chain is made
 * anew behind each step of the host's sweeps, and as a block of them begins;
 * the run ends where it is another. Draws are what they are without. */
void rt_watch_held(struct rt *rt);

/* same_sweep.c. Sweeps of rt->device, which has loaded the chains' state in
 * in->slots, beside the host's, with random numbers of sweeps `first` on, for
 * about that many seconds. Fails where they are not the same but for rounding,
 * and says which step is to blame. Leaves the slots as the device came to.
 * `dense` [nsteps]: what the host has set up; steps after one that it has not
 * are not looked at. `before`, if it is not NULL: the device has made sweep
 * `first` already, from these values, and the slots hold what it came to. */
enum gbm_status rt_same_sweep(struct rt *rt, const struct rt_instance *in,
                              struct host_dense *const *dense, uint32_t first,
                              double seconds, void *const *before);

/* What a message of a failed check ends with; of the seed. */
#define CHECK_REPORT                                                           \
    "This is a fault of gbmc, not of the model or the data: please report "    \
    "it, with the model, the data, --seed %llu and what --version prints. "    \
    "--no-check draws all the same, and marks what is written."

/* What became of a step. */
struct check_row {
    int checked;
    double worst;              /* error over tolerance; over 1 fails */
    double error;              /* relative */
    double conditional, joint; /* differences, where it was worst */
    char element[128];         /* there; "" if it is all of a block */
};

struct checker {
    struct rt *rt;
    const struct rt_instance *in;
    void *state; /* of `chain` */
    int chain;
    double *before, *after; /* log density of every element that counts */
    unsigned char *dropped; /* elements that no conditional counts */
    int64_t terms;
    struct check_row *rows;    /* [nsteps] */
    struct host_dense **dense; /* [nsteps] */
    struct host_work work;
    uint32_t sweep; /* numbers of draws that were used */
    bool far;       /* values that need not be possible */
};

/* check_state.c */
enum gbm_status check_create(struct checker *c, struct rt *rt,
                             const struct rt_instance *in);
void check_free(struct checker *c);
/* The family's density is a term of the joint that conditionals are of. */
bool check_counts(const struct gbm_family *family);
/* Sets dropped[at] for elements without data that are drawn forward after the
 * sweep, so integrated out of that joint; elements are numbered through the
 * families that count. */
void check_drop(const struct rt_instance *in, const void *state,
                unsigned char *dropped);
/* Everything that follows from the stochastic nodes. */
void check_refresh(const struct checker *c);
/* The log density of every element that counts: out[c->terms]. */
void check_densities(struct checker *c, double *out);
/* Whether a block can be put elsewhere; puts it at x. */
bool check_can_set(const struct gbm_step *step);
void check_set_block(const struct checker *c, const struct gbm_step *step,
                     int64_t element, const double *x);
/* The conditional at x, and the size of what it adds up. */
double check_conditional_at(const struct checker *c,
                            const struct gbm_step *step, int64_t element,
                            const double *x, double *size);
/* The absolute terms that a block's density is the sum of where it stands. */
double check_size(const struct gbm_step *step, const void *state);

/* check_rounding.c. What rounding may have done to the joint where all nodes
 * stand; to the joint, and to a step's conditional, with its block at x. */
double check_rounding(struct checker *c);
double check_rounding_at(struct checker *c, const struct gbm_step *step,
                         int64_t element, const double *x);
/* The same of each cell of a derived variable: change[its cells]. */
void check_rounding_of(struct checker *c, int variable, double *change);

/* check_compare.c. Moves a step's element as the sweep does, and compares; with
 * `far`, at more values. Leaves the element where it moved to. */
void check_element(struct checker *c, int step, int64_t element, bool far);
/* The same for a dense Gaussian block. */
void check_dense(struct checker *c, int step, bool far);
/* Records for step k what its conditional and the joint change by, from
 * c->before to c->after, as step `by` moved its element from a to b. */
void check_change(struct checker *c, int k, int by, int64_t element,
                  const double *a, const double *b, double conditional,
                  double rounding);
/* The number of a draw that is as if in warm-up. */
struct gbm_sweep check_next_sweep(struct checker *c);

enum { CHECK_NODES_OUT = 256 }; /* of more elements none is asked */
/* check_nodes.c: nodes that were integrated out of step k.
 * The step that draws some of these, and the element of it that comes with a
 * turn; -1: none does, or the step k has too many elements to ask each. */
int check_node_out(const struct rt_instance *in, int k, int64_t turn,
                   int64_t *element);
/* What each element of step k had integrated out. */
void check_integrated(const struct rt_instance *in, const void *state, int k,
                      double out[CHECK_NODES_OUT]);
/* By how much that changed of the first element, from one of the turn on, that
 * had the node that moved; and the size of what it adds up. */
double check_integrated_change(const struct rt_instance *in, int k,
                               const double *before, const double *after,
                               int64_t turn, double *size);
/* Whether a node that step `by` moved from a was integrated out of an element
 * of step k, whose elements move meanwhile: they change by how much the node's
 * own density differs from that at a. Leaves all as it was. */
bool check_belongs(const struct rt_instance *in, void *state, int chain, int k,
                   int by, int64_t node, const double *a,
                   const struct gbm_sweep *sweep);
/* Moves nodes of step k, and compares. */
void check_nodes_out(struct checker *c, int k);
/* Log density of a dense block at b less that at a, of precision q (lower
 * triangle) and potential p; its rounding error. */
double check_quadratic(size_t d, const double *q, const double *p,
                       const double *a, const double *b, double *rounding);

/* check_draws.c. How far the distribution function of draws of an element, the
 * last of which is left in `state`, is from that of its full conditional, by
 * what is allowed: over 1 fails; negative: the step does not draw from it, or
 * nothing can be said in time: some draws tell something if they take until
 * `last`, and more of them more if they take until `share`. What it works in
 * is of check_integral_create, for any number of steps, or NULL; freed by
 * free. */
struct check_integral;
struct check_time {
    double share, last;
};
struct check_integral *check_integral_create(void);
double check_draws(struct check_integral *g, const struct gbm_step *step,
                   void *state, struct gbm_sweep sweep, int chain, int element,
                   struct check_time time);

#endif
