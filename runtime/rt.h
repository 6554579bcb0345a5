/* rt.h: the runtime's own types: options, the model bound to its data, and what
 * a device must do. The plugin cuda/ includes nothing of the runtime but this
 * header, model.h and base/. */
#ifndef GBM_RT_H
#define GBM_RT_H

#include "model.h"
#include "base/status.h"

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
    RT_COMPARE,
    RT_GEWEKE,
    RT_SBC,
    RT_HELP,
    RT_VERSION
};

/* Where chains start: apart, moderately, and moved on if they are caught far
 * out; all at their priors' typical values; at draws from the priors. */
enum rt_starts { RT_DISPERSED, RT_TYPICAL, RT_PRIOR };

/* What is said of a run while it goes on: a line that is written over in a
 * terminal, else lines; these with a view of the draws; nothing. */
enum rt_progress_kind {
    RT_PROGRESS_AUTO,
    RT_PROGRESS_BAR,
    RT_PROGRESS_LINES,
    RT_PROGRESS_NONE,
    RT_PROGRESS_FULL
};

struct rt_method;

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
    bool warmup_given, draws_given, chains_given; /* the user said so */
    int particles;                                /* of a filter */
    int steps, moves; /* of smc; 0: as many as it takes */
    bool guided; /* the same: observations have a say in proposals */
    int beside;  /* chains for each of those that were asked for */
    uint64_t seed;
    const char *device; /* "auto", "cpu", "cuda", "cuda:1" */
    int threads;        /* 0: as many as the machine has */
    enum rt_precision precision;
    const char *monitor; /* list of names, or NULL: the default */
    const char *moments; /* the same, or all, or none */
    const char *out;     /* or NULL */
    const char *summary; /* or NULL */
    const char
        *format; /* "netcdf", "csv", "coda", or NULL: by the name of out */
    int digits;  /* of csv and coda; 0: 8 */
    const char *until;                          /* or NULL */
    const char *relabel, *reference, *clusters; /* or NULL */
    const char *from, *anew;                    /* of simulate; or NULL */
    const char *checkpoint, *resume;            /* or NULL */
    double every;       /* seconds between checkpoints */
    int planned;        /* draws before a run was extended: what
                           is kept goes by them */
    uint64_t given;     /* bit of an option's number: it is on the
                           command line */
    const char *file;   /* of `summary FILE` */
    const char **files; /* of `compare FILE FILE ...` */
    int nfiles;
    double quantiles[16]; /* of the summary, percent; see view.c */
    int nquantiles;
    double hdi;       /* 0: none */
    int sort;         /* enum gbm_sorting */
    const char *show; /* names, or NULL */
    bool quiet, explain;
    bool posterior; /* simulate: data from the posterior */
    bool lp;        /* the model's log density of every kept draw */
    bool log_lik;   /* and that of each observation */
    bool details;   /* check, geweke: print every row */
    bool plain;     /* run: by the plain sampler */
    bool no_check;  /* run: without the self-check */
    bool profile;   /* run: each step timed */
    const struct rt_method *method; /* options/method.h */
    double power;                   /* of data's densities: 1 */
    const char *temper;             /* which data's, or NULL: all */
    const char *sequence;           /* by what data enter, or NULL: at once */
    int replicas;                   /* of tempering: chains of a ladder */
    int replicates;                 /* of sbc: data sets; 0: as many as usual */
    char **argv;                    /* of main */
    bool jacobian;                  /* modes: of free numbers */
    int iterations;                 /* the same: at most so many */
    int laplace;                    /* optimize: draws there; 0: none */
    bool gradients;                 /* check: those, with differences */
    int points; /* check: states of each chain where it compares */
    enum rt_progress_kind progress;
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
    int64_t missing;     /* given: first cell that is missing, plus 1; or 0 */
    bool moments;        /* running mean and variance are kept */
    unsigned char *told; /* [cells] of these, whose moments are delivered */
    int categories;      /* not 0: of these, how often each value 1, 2, ... came
                            is counted instead */
};

/* The elements that a step updates. */
struct rt_step {
    bool active; /* false: nothing to do, skip it */
    bool barren; /* nothing, as all that it would draw is barren */
    bool apart;  /* a joint block that leaves cells to a step of their own */
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
    int *pairs;         /* [count][2] */
    unsigned char *fed; /* [count] random elements before it feed it */
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
    int64_t row;   /* cells of one draw */
    bool deviance; /* monitored beside them; computed on the host */
    /* Derived families (not maintained) to compute at a kept sweep, parents
     * before children. */
    int *kept_families;
    int nkept_families;
    bool has_moments; /* some slot has `moments` */
    /* ... that takes the leaf steps and kept families at every sweep. */
    bool moments_late;
    /* What the compiler was told to be data is drawn forward, too: slots that
     * all chains share change with it. */
    bool follows;
};

/* Running moments of one variable, Welford (1962); or counts. */
struct rt_moments {
    double *mean;     /* [chains][cells] */
    double *m2;       /* [chains][cells] sum of squared deviations */
    unsigned *counts; /* [chains][cells][categories], and no others */
};

/* What of a run a checkpoint saves: named pieces of host memory, in an order
 * that writer and reader share. checkpoint.c */
struct rt_piece {
    const char *name;
    void *place;
    size_t bytes;
};
struct rt_pieces {
    struct rt_piece *items;
    int count, capacity;
    bool failed; /* no memory */
};

/* ---- a block of sweeps, run by the device for all chains ---- */

/* One sweep runs the active steps that are not `leaf`, in order. If thin > 0,
 * every `thin`-th sweep of the block is kept: leaf steps run, then
 * `kept_families` are derived, then the monitored cells are copied to
 *     draws[chain * chain_stride + k * row + monitor.offset + i],
 * k counting kept sweeps of this block from 0. Before that, at every sweep,
 * kept or not, variables with `moments` enter their running moments; with
 * `moments_late` leaf steps and kept families run at every sweep. `sweeps` is a
 * multiple of `thin`. */
struct rt_block {
    uint64_t seed;
    uint32_t first; /* number of the block's first sweep */
    int sweeps;
    bool adapting; /* warm-up */
    int thin;
    double *draws; /* host memory, or NULL: monitored cells are not wanted */
    int64_t chain_stride;
    int64_t draw_stride; /* on the host; 0: draws follow each other */
    double *lp; /* lp[chain * lp_stride + k], or NULL. The log density of the
                   model (auxiliary families left out); NaN if the device does
                   not compute it */
    int64_t lp_stride;
    /* The host's: called behind the chain's k-th draw that is kept, by the
     * thread that drew it; or NULL. */
    void (*kept)(void *context, int chain, int64_t k);
    void *context;
};

/* ---- tempering, by a device that swaps the replicas' powers itself ---- */

/* What is added up for the evidence, as logarithms: the likelihood to the power
 * that the next rung has more, to half of that, and one over that of the next
 * rung's. */
enum { RT_STONE, RT_STONE_UP, RT_STONE_DOWN, RT_STONE_KINDS };

/* Ladders of replicas; all in host memory. `chain` and `rung` are each other's
 * inverse; powers of rungs ascend from 0, where replicas are drawn from the
 * prior after each sweep, to 1. */
struct rt_ladder {
    int ladders, replicas;
    double *power;    /* [replicas] of a rung */
    double *given;    /* [replicas] which a replica's densities have there */
    int *rung;        /* [chains] */
    int *chain;       /* [ladders][replicas] */
    int *heading;     /* [chains] 1: to the posterior; -1: back; 0: unknown */
    double *rejected; /* [replicas - 1] sums of probabilities of no swap */
    uint64_t trips;   /* to the posterior and back */
    /* [kinds][ladders][replicas] to be added to; or NULL: and no trips are
     * counted. */
    int kinds; /* the first ones of RT_STONE_KINDS */
    double *stones;
    bool away; /* the device has all of this, but `stones`; false: it reads it
                */
    /* Draws a chain's state in host memory from the prior, for a ladder after a
     * sweep; returns its log likelihood. By several threads at once. */
    double (*draw)(void *context, int chain, int ladder, uint32_t sweep);
    void *context;
};

/* ---- particle filters on a device ---- */

/* What is done with an element of a model that runs along time. */
enum rt_act {
    RT_ACT_NONE, /* its value is known, or nothing asks for it */
    RT_ACT_DRAW, /* from its distribution given what is before */
    RT_ACT_DERIVE,
    RT_ACT_WEIGH, /* observed: its density weighs the particles */
    RT_ACT_LATE   /* it hangs on no time: drawn or computed after all, if at
                     all */
};

/* What is done at a time. */
struct rt_step_in_time {
    int family, kind;
    int64_t element, node;
};

/* Of one quantity. */
enum { RT_QUANTILES = 3 }; /* 5 %, 50 %, 95 % */
struct rt_estimate {
    double mean, sd;
    double mcse; /* of the mean */
    double quantile[RT_QUANTILES];
};

struct rt_place {
    int variable;
    int64_t cell;
};

/* What the particles of a filter do; times are numbered from 1. Lists of a time
 * are those from first...[t] to first...[t + 1] - 1. */
struct rt_course {
    int particles, count;
    const struct rt_step_in_time *acts;
    const int64_t *first; /* [count + 2] */
    /* What resampling after a time copies. */
    const struct rt_place *live;
    const int64_t *first_live; /* [count + 2] */
    /* What is told of: */
    const struct rt_place *tracked;
    int64_t ntracked;
    const int64_t *first_tracked; /* [count + 2] those of a time */
    /* their numbers, by the last time before which resampling moves them. */
    const int64_t *by_last;
    const int64_t *first_by_last; /* [count + 2] */
    double below; /* resampled where fewer are effective, of all */
    double levels[RT_QUANTILES];
};

/* One filter. */
struct rt_filter_run {
    uint64_t seed;
    uint32_t stream; /* of random numbers */
    const double
        *shares; /* [count + 1] of resampling after a time, in (0, 1) */
    double base; /* the log likelihood before the first time */
    bool (*stopped)(void); /* then what comes of it is of no use */
    /* Forward, of times: */
    double *loglik, *ess; /* [count + 1] */
    unsigned char *resampled;
    struct rt_estimate *filtered; /* [ntracked], given data up to their times */
    double *weight;               /* [particles] at the end, of sum 1 */
    int failed; /* 0, or the time at which no particle is possible */
    /* Back along the ancestors: */
    double *paths;                /* [count + 1] different ancestors */
    struct rt_estimate *smoothed; /* [ntracked] given all */
    const int *chosen;            /* [nchosen] particles, whose paths are */
    int nchosen;
    double *chosen_paths; /* [nchosen][ntracked] */
};

/* Cells in a row of a variable that is real and per chain. */
struct rt_run {
    int variable;
    int64_t first, n;
};

struct rt;
struct rt_filter_device {
    /* Builds the program of the instance's particles. Slots that are per chain
     * are so on the device; in host memory they have the cells of one. */
    enum gbm_status (*load)(struct rt *rt, struct rt_instance *particles,
                            const struct rt_course *course);
    /* All particles are what slots in host memory are. */
    enum gbm_status (*put)(struct rt *rt);
    /* The first particle's values, into these. */
    enum gbm_status (*get)(struct rt *rt);
    enum gbm_status (*forward)(struct rt *rt, struct rt_filter_run *run);
    enum gbm_status (*back)(struct rt *rt, struct rt_filter_run *run);
};

/* ---- devices ---- */

/* Behind the steps of a profile: what a kept sweep stores; random numbers of
 * several steps, computed ahead; moves along learnt lines. */
enum { RT_KEPT, RT_RANDOM, RT_LINES, RT_PROFILED };

/* What a device can do at most, for a profile; 0: it was not measured. Counted
 * for what times are counted for: a chain's share of the host, or all chains at
 * once. */
struct rt_ceilings {
    double bandwidth; /* bytes a second that a copy reads and writes */
    double rate;      /* operations a second; a multiply-add is two */
    double copied;    /* bytes of the copy */
    size_t real;      /* bytes of a cell */
    bool together;    /* all chains move at once: what they share, once */
};

struct rt {
    struct rt_options options;
    const struct rt_method *const
        *methods; /* that --method may name, NULL after
                     the last; the first by itself */
    const struct gbm_model *model;
    const struct rt_device *device;
    void *device_data; /* the device's own */
    int threads;       /* of the host */
    enum gbm_status status;
    char message[2048];
    char device_text[256]; /* "NVIDIA H200, 132 multiprocessors": set by open */
    double jit_s;          /* set by load: that it waited for compilers */
    double *profile;       /* [model->nsteps + RT_PROFILED] NULL, or to be added
                              to: seconds of each step, summed over chains, and
                              of what else a sweep does */
    struct rt_ceilings ceilings; /* with it */
    int64_t jitters; /* Cholesky factorisations that needed jitter */
    bool told;       /* --init gave all that sweeps draw a value */
    bool lines;      /* for the device's load: sweeps may end with moves along
                        lines that warm-up learns, where the device has them */
    /* For tests (check/held.c), or NULL: on the host, told of a chain that
     * stands between two steps, with all that they make due: behind `last`, of
     * whose sweep it is the `end`, or NULL, as a block of sweeps begins. */
    void (*watch)(struct rt *rt, struct rt_instance *in, void *state, int chain,
                  const struct gbm_step *last, bool end);
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
     (uint64_t)sizeof(struct rt_ladder) << 50 ^                                \
     (uint64_t)sizeof(struct rt_course) << 46 ^                                \
     (uint64_t)sizeof(struct rt_filter_run) << 40 ^                            \
     (uint64_t)sizeof(struct rt_device) << 56)

/* Of so many chains on a device each lane has one. */
enum { RT_LANE_EACH = 1024 };
/* So many chains have nothing of what is tuned for few (struct gbm_variable).
 */
enum { RT_MANY_CHAINS = 128 };

/* What the runtime asks of a device. A plugin exports one such table under the
 * name "rt_cuda". Functions return GBM_OK, or what rt_fail returned. */
struct rt_device {
    const char *name;
    bool teams; /* many lanes may work on one element */
    /* Opens the device named by `which` ("cuda", "cuda:1"). Fails with a
     * message if there is none (for "auto" the host is taken then, and the
     * message says why). */
    enum gbm_status (*open)(struct rt *rt, const char *which);
    /* After open: what will be loaded, before its chains have values. What
     * takes long begins, and may go on beside what follows. NULL: nothing does.
     */
    enum gbm_status (*expect)(struct rt *rt, struct rt_instance *in);
    /* Builds the program, allocates and copies everything: shared slots,
     * lists, and the chains' state as it stands in in->slots. The instance
     * outlives the device. Resets the moments. */
    enum gbm_status (*load)(struct rt *rt, struct rt_instance *in);
    enum gbm_status (*run)(struct rt *rt, const struct rt_block *block);
    /* Copies the per-chain slots from or to in->slots[].values. */
    enum gbm_status (*put)(struct rt *rt);
    enum gbm_status (*get)(struct rt *rt);
    /* The same of some variables: wanted[v]. NULL: all are in host memory. */
    enum gbm_status (*get_some)(struct rt *rt, const bool *wanted);
    /* sums[chain]: of n runs of cells. NULL: the host adds them up. */
    enum gbm_status (*sum)(struct rt *rt, const struct rt_run *runs, int64_t n,
                           double *sums);
    /* moments[v] for slots with `moments`: fills the caller's arrays. */
    enum gbm_status (*moments)(struct rt *rt, struct rt_moments *moments,
                               int64_t *count);
    /* The other way: the moments go on from these. */
    enum gbm_status (*put_moments)(struct rt *rt,
                                   const struct rt_moments *moments,
                                   int64_t count);
    /* Adds what else of the chains' state the device has, in host memory. NULL:
     * nothing. */
    void (*own)(struct rt *rt, struct rt_pieces *pieces);
    /* For the self-check: sums[chain], the log density of a family at the
     * state as it stands; NaN where the device cannot tell. NULL: the chains
     * are in host memory. */
    enum gbm_status (*density)(struct rt *rt, int family, double *sums);
    /* Sweeps `from` to `to` - 1 of a block, after each of which powers are
     * swapped (stdlib/kernels/swap.h); what is kept of them is of the chains at
     * the last rungs: of ladder l, as k-th of the block, at
     *     draws[l * chain_stride + k * draw_stride + i].
     * Leaves the ladder on the device, from where `ladder` fetches it. NULL: it
     * cannot. */
    enum gbm_status (*temper)(struct rt *rt, const struct rt_block *block,
                              struct rt_ladder *ladder, int from, int to);
    enum gbm_status (*ladder)(struct rt *rt, struct rt_ladder *ladder);
    /* Chain c goes on from where chain from[c] is, with the power powers[c];
     * and what is tuned becomes the mean over each n chains that follow each
     * other (stdlib/kernels/mean.h). NULL: the host does it. */
    enum gbm_status (*descend)(struct rt *rt, const int *from,
                               const double *powers);
    enum gbm_status (*average)(struct rt *rt, int n);
    /* Particle filters. NULL: the host runs them. */
    const struct rt_filter_device *filter;
    /* Measures, in some milliseconds, what copies and multiply-adds take, of as
     * many bytes as chains share and as one has. NULL: it cannot. */
    enum gbm_status (*ceilings)(struct rt *rt, double shared, double own,
                                struct rt_ceilings *out);
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

/* Whether a dense block of d coordinates is drawn by a solve of rows x rows, by
 * the operations of that and of a factorisation of d x d: one rule, so that all
 * devices draw alike. elements: of each family. */
static inline bool rt_dense_by_rows(const struct gbm_dense *dense,
                                    const int64_t *elements, int d, bool held)
{
    const double p = d;
    double n = 0, tall = p * p * p / 3 + 2 * p * p;
    for (int k = 0; k < dense->nterms; k++) {
        const struct gbm_dense_term *t = &dense->terms[k];
        const double rows = (double)elements[t->family];
        n += rows;
        if (!(t->constant_design && t->constant_weight))
            tall += rows * p * p;
    }
    return d > GBM_DENSE_SMALL && !dense->prior_matrix && !held &&
           2 * n * n * p + n * n * n / 3 + 6 * n * p < tall;
}

#endif
