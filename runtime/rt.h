/* rt.h: the runtime's own types: options, the model bound to its data, and
 * what a device must do. Files: options.c load.c instance.c plan.c joint.c
 * symbolic.c minimum_degree.c start.c (with graph.c, mend.c, start_report.c:
 * start.h) density.c pilot.c arrival.c chains.c nan.c moments.c monitor.c
 * progress.c keep.c plain.c check.c self_check.c simulate.c geweke.c host/, and
 * the plugin cuda/, which includes nothing of the runtime but this header and
 * model.h. */
#ifndef GBM_RT_H
#define GBM_RT_H

#include "model.h"
#include "status.h"
#include "draws.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Status: the first failure's message stays in struct rt; rt_fail sets it. */

/* ---- options.c ---- */

enum rt_command {
    RT_RUN,
    RT_INFO,
    RT_CHECK,
    RT_SIMULATE,
    RT_SUMMARY,
    RT_GEWEKE,
    RT_HELP,
    RT_VERSION
};

/* Where chains start: apart, moderately, and moved on if they are caught far
 * out; all at their priors' typical values; at draws from the priors. */
enum rt_starts { RT_DISPERSED, RT_TYPICAL, RT_PRIOR };

enum rt_precision { RT_DOUBLE, RT_SINGLE, RT_MIXED };

/* What the command line says. Strings belong to argv, lists to the options. */
struct rt_options {
    enum rt_command command;
    const char *program; /* argv[0] */
    const char **data;   /* FILE or NAME=FILE, in order */
    int ndata;
    const char **init; /* one file per chain, in turn */
    int ninit;
    enum rt_starts starts;
    int chains, warmup, draws, thin;
    bool warmup_given, draws_given; /* the user said so */
    uint64_t seed;
    const char *device; /* "auto", "cpu", "cuda", "cuda:0,1" */
    int threads;        /* 0: as many as the machine has */
    enum rt_precision precision;
    const char *monitor; /* list of names, or NULL: the default */
    const char *out;     /* or NULL */
    const char *summary; /* or NULL */
    const char
        *format; /* "netcdf", "csv", "coda", or NULL: by the name of out */
    const char *until; /* or NULL */
    const char *file;  /* of `summary FILE` */
    bool quiet, explain;
    bool posterior; /* simulate: data from the posterior */
    bool lp;        /* the model's log density of every kept draw */
    bool details;   /* check, geweke: print every row */
    bool plain;     /* run: by the plain sampler */
    bool no_check;  /* run: without the self-check */
    int points;     /* check: states of each chain where it compares */
    int progress;   /* -1: if a terminal; 0: plain lines; 1: a bar */
};

/* ---- the model bound to its data: load.c ---- */

/* One variable. On the host its cells are `double` or `int` whatever the
 * precision of the device; row-major; [chains][cells] if `per_chain`. */
enum { RT_SEEN = 1, RT_BARREN = 2 }; /* of a slot's `seen` */
struct rt_slot {
    int dim[GBM_MAX_DIMS];
    int64_t cells;
    bool settled;
    bool per_chain;
    bool borrowed; /* `values` belongs to the data; read only */
    void *values;
    unsigned char *seen;    /* [cells] as in struct gbm_binding, or NULL */
    unsigned char *defined; /* [cells] stochastic or derived cells that a
                               family defines; NULL: all */
    int64_t missing; /* given: first cell that is missing, plus 1; or 0 */
    bool moments;    /* running mean and variance are asked for */
};

/* The elements that a step updates. */
struct rt_step {
    bool active;     /* false: nothing to do, skip it */
    bool barren;     /* nothing, as all that it would draw is barren */
    bool sequential; /* one at a time, in order */
    int64_t count;   /* elements to update */
    int *elements;   /* [count], or NULL: 0, 1, ..., count - 1. Sorted by
                        colour, ascending within a colour */
    int ncolours;    /* elements of one colour may move at once */
    int64_t *colour; /* [ncolours + 1]: elements of colour c are
                        colour[c] .. colour[c + 1] - 1 of the list */
};

/* One monitored variable: some of its cells, at an offset of a draw's row. */
struct rt_monitor {
    int variable;
    int64_t count;
    int64_t *cells; /* [count] flat 0-based, or NULL: all cells */
    int64_t offset;
};

/* A sequence of the model: pairs of reader and element. */
struct rt_order {
    int64_t count;
    int *pairs; /* [count][2] */
};

struct rt_instance {
    const struct gbm_model *model;
    int nchains;
    struct rt_slot *slots;   /* [model->nvariables] */
    int64_t *elements;       /* [model->nfamilies] number of elements */
    struct rt_step *steps;   /* [model->nsteps] */
    struct rt_order *orders; /* [model->nsequences] */
    /* What a kept sweep stores; see struct rt_block. */
    struct rt_monitor *monitors; /* [nmonitors] */
    int nmonitors;
    int64_t row; /* cells of one draw */
    /* Derived families (not maintained) to compute at a kept sweep, parents
     * before children. */
    int *kept_families;
    int nkept_families;
    bool has_moments; /* some slot has `moments` */
    bool interleaved; /* see rt_find_interleaved */
};

/* Running moments of one variable, Welford (1962). */
struct rt_moments {
    double *mean; /* [chains][cells] */
    double *m2;   /* [chains][cells] sum of squared deviations */
};

/* ---- a block of sweeps, run by the device for all chains ---- */

/* One sweep runs the active steps that are not `leaf`, in order. After every
 * `thin`-th sweep of the block (if thin > 0) the state is kept: leaf steps
 * run, then `kept_families` are derived, then variables with `moments` enter
 * their running moments, then the monitored cells are copied to
 *     draws[chain * chain_stride + k * row + monitor.offset + i],
 * k counting kept sweeps of this block from 0. `sweeps` is a multiple of
 * `thin`. */
struct rt_block {
    uint64_t seed;
    uint32_t first; /* number of the block's first sweep */
    int sweeps;
    bool adapting; /* warm-up */
    int thin;
    double *draws; /* host memory, or NULL: monitored cells are not wanted */
    int64_t chain_stride;
    double *lp; /* lp[chain * lp_stride + k], or NULL. The log density of the
                   model (auxiliary families left out); NaN if the device does
                   not compute it */
    int64_t lp_stride;
};

/* ---- devices ---- */

struct rt {
    struct rt_options options;
    const struct gbm_model *model;
    const struct rt_device *device;
    void *device_data; /* the device's own */
    int threads;       /* of the host */
    enum gbm_status status;
    char message[2048];
    char device_text[256]; /* "NVIDIA H200, 132 multiprocessors": set by open */
    double jit_s;          /* set by load: time spent compiling */
    int64_t jitters;       /* Cholesky factorisations that needed jitter */
};

/* Changes when what a sampler and a plugin share changes. A plugin exports its
 * own as "rt_cuda_layout": one of another version is not used. */
#define RT_LAYOUT                                                              \
    ((uint64_t)sizeof(struct rt) ^                                             \
     (uint64_t)sizeof(struct rt_instance) << 12 ^                              \
     (uint64_t)sizeof(struct rt_slot) << 20 ^                                  \
     (uint64_t)sizeof(struct rt_block) << 28 ^                                 \
     (uint64_t)sizeof(struct gbm_model) << 36 ^                                \
     (uint64_t)sizeof(struct gbm_family) << 44 ^                               \
     (uint64_t)sizeof(struct gbm_step) << 52 ^                                 \
     (uint64_t)sizeof(struct rt_device) << 56)

/* What the runtime asks of a device. A plugin exports one such table under the
 * name "rt_cuda". Functions return GBM_OK, or what rt_fail returned. */
struct rt_device {
    const char *name;
    /* Opens the device named by `which` ("cuda", "cuda:0,1"). Fails with a
     * message if there is none (for "auto" the host is taken then, and the
     * message says why). */
    enum gbm_status (*open)(struct rt *rt, const char *which);
    /* Builds the program, allocates and copies everything: shared slots,
     * lists, and the chains' state as it stands in in->slots. The instance
     * outlives the device. Resets the moments. */
    enum gbm_status (*load)(struct rt *rt, struct rt_instance *in);
    enum gbm_status (*run)(struct rt *rt, const struct rt_block *block);
    /* Copies the per-chain slots from or to in->slots[].values. */
    enum gbm_status (*put)(struct rt *rt);
    enum gbm_status (*get)(struct rt *rt);
    /* moments[v] for slots with `moments`: fills the caller's arrays. */
    enum gbm_status (*moments)(struct rt *rt, struct rt_moments *moments,
                               int64_t *count);
    /* For the self-check: sums[chain], the log density of a family at the
     * state as it stands; NaN where the device cannot tell. NULL: the chains
     * are in host memory. */
    enum gbm_status (*density)(struct rt *rt, int family, double *sums);
    void (*close)(struct rt *rt);
};

extern const struct rt_device rt_host;
extern const struct rt_device rt_plain; /* plain.c: for tests */

/* Keeps the first failure's message; returns `status`. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline enum gbm_status
rt_fail(struct rt *rt, enum gbm_status status, const char *format, ...)
{
    if (rt->status == GBM_OK) {
        va_list args;
        va_start(args, format);
        rt->status = status;
        vsnprintf(rt->message, sizeof rt->message, format, args);
        va_end(args);
    }
    return status;
}

/* ---- the runtime's own files; devices need nothing below ---- */

/* options.c. On a bad option the message is in rt. */
enum gbm_status rt_options_parse(struct rt *rt, int argc, char **argv);
void rt_options_free(struct rt_options *options);
void rt_print_help(const char *program, FILE *out);
/* The name nearest to `name` by edits, or NULL if none is near. */
const char *rt_nearest(const char *name, int n,
                       const char *(*candidate)(const void *, int),
                       const void *context);

/* definitions.c. Fails if two elements of v's families define one cell. */
enum gbm_status rt_check_twice(struct rt *rt, const struct rt_instance *in,
                               const void *state, int v);

/* observed_sums.c. Fails if a latent cell is in two observed sums. */
enum gbm_status rt_check_sums(struct rt *rt, const struct rt_instance *in,
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
/* Cells of a family's element; the buffer grows. Returns their number. */
struct rt_cells {
    int64_t *cells;
    int64_t capacity;
};
int64_t rt_element_cells(const struct gbm_family *family, const void *state,
                         int64_t element, struct rt_cells *buffer);
/* Whether an element is drawn forward, so no part of the joint that a sweep
 * samples: an unobserved leaf, or barren. */
bool rt_drawn_forward(const struct rt_instance *in, const void *state,
                      int family, int64_t element, struct rt_cells *buffer);
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
/* Colours and element lists of the steps; needs all slots bound. */
enum gbm_status rt_plan(struct rt *rt, struct rt_instance *in);

/* joint.c. Lays out a joint Gaussian block: fills its slots. `redraw`: what is
 * observed is drawn anew, so nothing that reads it is constant. */
enum gbm_status rt_joint(struct rt *rt, struct rt_instance *in,
                         const struct gbm_step *step, const void *state,
                         bool redraw);

/* start.c. Starting values of all chains. */
enum gbm_status rt_start(struct rt *rt, struct rt_instance *in, FILE *notes);
/* pilot.c. Other starts, where some are far better; after rt_start. */
void rt_pilot(struct rt *rt, struct rt_instance *in);
/* arrival.c. Chains that are far below the others early in warm-up go on from
 * where these are. */
struct rt_arrival {
    int nmoments, moment; /* when chains are compared; the next */
    int gap;              /* sweeps between the states that are compared */
    int states;           /* looked at for the next comparison */
    double *scores;       /* [4][chains] */
};
/* False if there is no memory. */
bool rt_arrival_create(struct rt_arrival *arrival, const struct rt *rt,
                       const struct rt_instance *in);
void rt_arrival_free(struct rt_arrival *arrival);
/* The sweep of warm-up after which to look next, or all of them. */
int64_t rt_arrival_next(const struct rt_arrival *arrival, int64_t warmup);
enum gbm_status rt_arrival_look(struct rt_arrival *arrival, struct rt *rt,
                                struct rt_instance *in, int64_t sweep,
                                FILE *notes);
/* Terms of a chain's log density. */
int64_t rt_terms(const struct rt_instance *in);
/* Whether the log densities of all chains, which the host evaluates, cost no
 * more than some sweeps of the device. */
bool rt_worth_scoring(const struct rt *rt, const struct rt_instance *in);
/* The score of a chain's state, a log density that is comparable between
 * regions; -inf where it is not finite. */
double rt_score(const struct rt *rt, const struct rt_instance *in, void *state,
                int chain);

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

/* monitor.c. Chooses what is kept and fills in->monitors. */
enum gbm_status rt_monitor(struct rt *rt, struct rt_instance *in, FILE *notes);
enum gbm_status rt_monitor_draws(struct rt *rt, const struct rt_instance *in,
                                 const struct gbm_data *data,
                                 struct gbm_draws *draws);

/* moments.c */
struct rt_moments *rt_moments_create(const struct rt_instance *in);
void rt_moments_free(const struct rt_instance *in, struct rt_moments *moments);
enum gbm_status rt_moments_store(struct rt *rt, const struct rt_instance *in,
                                 const struct rt_moments *moments,
                                 int64_t count, struct gbm_draws *draws);

/* keep.c. What a kept sweep stores on a device whose chains are in host memory:
 * derives what is kept, then k-th moments (`count` were there before the
 * block), draws and lp of struct rt_block. */
void rt_keep(const struct rt_instance *in, const struct rt_block *block,
             const void *state, int chain, int64_t k,
             const struct rt_moments *moments, int64_t count, int threads);
void rt_moments_copy(const struct rt_instance *in,
                     const struct rt_moments *from, struct rt_moments *to);

/* self_check.c. Compares the steps with the model's joint density, on the host,
 * from the chains' state as it stands in in->slots; leaves that as it was. */
enum gbm_status rt_self_check(struct rt *rt, struct rt_instance *in,
                              FILE *notes);

/* same_sweep.c. Sweeps of rt->device, which has loaded the chains' state in
 * in->slots, beside the host's, with random numbers of sweeps `first` on, for about
 * that many seconds. Fails where they are not the
 * same but for rounding, and says which step is to blame. Leaves the slots as
 * the device came to. `dense` [nsteps]: what the host has set up; steps after
 * one that it has not are not looked at. */
struct host_dense;
enum gbm_status rt_same_sweep(struct rt *rt, const struct rt_instance *in,
                              struct host_dense *const *dense, uint32_t first,
                              double seconds);

/* nan.c. The first value that is not a number among what the sweeps sample:
 * in the chains' state (as it stands in in->slots), or in draws [from, to),
 * earliest first. False if there is none. */
struct rt_nan {
    int variable, chain;
    int64_t cell;
    int draw; /* rt_nan_in_draws: its number */
};
bool rt_nan_in_state(const struct rt_instance *in, struct rt_nan *out);
bool rt_nan_in_draws(const struct rt_instance *in,
                     const struct gbm_draws *draws, int from, int to,
                     struct rt_nan *out);
/* Writes the cell's name: "theta[3]". */
void rt_nan_name(const struct rt_instance *in, const struct rt_nan *nan,
                 char *out, size_t capacity);

/* simulate.c. Draws all of a chain from the prior; (replicate, stream) names
 * the draw. Auxiliary nodes are left. */
void rt_simulate_chain(const struct rt *rt, const struct rt_instance *in,
                       const void *state, int chain, uint32_t replicate,
                       uint32_t stream);
/* Sets in->interleaved: two statements feed each other in turn (y[t] reads h[t]
 * reads y[t-1]), so one pass, statement by statement, is not enough. `state`:
 * of chain 0; it is drawn. */
void rt_find_interleaved(const struct rt *rt, struct rt_instance *in,
                         const void *state);
/* An error if a distribution does not tell how to draw from it. */
enum gbm_status rt_check_draws(struct rt *rt, const struct rt_instance *in);
/* Reads the options' data and loads with observed nodes per chain, so that they
 * can be drawn anew; with `forget_seen` nothing counts as observed. */
enum gbm_status rt_load_free(struct rt *rt, struct gbm_data *data,
                             struct rt_instance *in, bool forget_seen);

/* progress.c */
struct rt_progress {
    FILE *out; /* NULL: quiet */
    bool bar;  /* a line that is written over */
    double began, shown;
    const char *phase;
    int64_t total;
};
double rt_clock(void);     /* seconds, wall */
double rt_cpu_clock(void); /* seconds of all threads */
void rt_progress_begin(struct rt_progress *progress, const char *phase,
                       int64_t total);
void rt_progress_show(struct rt_progress *progress, int64_t done);
void rt_progress_end(struct rt_progress *progress, int64_t done);
/* Ctrl-C and SIGTERM ask to stop; a second one kills. */
void rt_catch_signals(void);
bool rt_stopped(void);

/* chains.c, check.c, simulate.c, geweke.c: the commands. Return the exit
 * status. */
enum gbm_status rt_open_device(struct rt *rt, const struct rt_instance *in,
                               FILE *notes);
int rt_command_run(struct rt *rt);
int rt_command_check(struct rt *rt);
int rt_command_geweke(struct rt *rt);
int rt_command_simulate(struct rt *rt);
int rt_command_info(struct rt *rt);
int rt_command_summary(struct rt *rt);
/* Reads the data files of the options. */
enum gbm_status rt_read_data(struct rt *rt, struct gbm_data *data, FILE *notes);
/* Adds the arrays of variables that stand for scalars with names. */
enum gbm_status rt_gather(struct rt *rt, struct gbm_data *data);
/* Prints rt->message to standard error; returns the exit status. */
int rt_report(const struct rt *rt);
/* Writes draws and summary as the options ask, and prints the summary. */
enum gbm_status rt_deliver(struct rt *rt, struct gbm_draws *draws);

#endif
