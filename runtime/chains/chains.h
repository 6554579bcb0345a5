/* chains.h: a run of chains: sweeps, some for warm-up, and draws that are kept.
 * What methods that run chains share. */
#ifndef GBM_CHAINS_H
#define GBM_CHAINS_H

#include "start/start.h"
#include "record/pointwise.h"
#include "io/spool.h"
#include "io/touch.h"

struct rt_watch {
    bool on, over; /* over: what was written before, in a terminal */
    int lines;     /* that were written last */
    double next;   /* clock of the next look */
};

struct rt_relabelling;

struct rt_chains {
    struct rt *rt;
    FILE *notes;
    struct gbm_data data;
    struct rt_instance in;
    struct gbm_draws draws;
    struct gbm_touch *touch; /* of the draws' memory */
    struct rt_spool spool;
    struct rt_progress progress;
    struct rt_watch watch;
    struct rt_arrival arrival;
    struct rt_ease ease;
    struct rt_checkpoint checkpoint;
    struct rt_resume resume;
    struct rt_pointwise pointwise;
    struct rt_relabelling *relabelling; /* NULL: not asked */
    struct rt_moments *moments; /* on their way to or from a checkpoint */
    int64_t nmoments;           /* sweeps that are in them */
    uint64_t start;             /* sum of the starting values */
    double wall, cpu;           /* clocks up to which times were counted */
    bool loaded, opened;
    bool compared;  /* the sampler with the model, by the self-check */
    int chains;     /* whose draws are kept: of a method's replicas, some */
    void *own;      /* the method's */
    int lp;         /* number of the stat, or -1 */
    uint32_t sweep; /* done so far */
    double pace;    /* seconds that a block shall take */
    int block;      /* sweeps of the next block */
    bool cut; /* by the method: the last one ended before its end, as asked */
};

/* chains.c: the run of options.method, from data to draws; the exit status. */
int rt_run_chains(struct rt *rt);

/* chains_prepare.c: reads, loads, starts, checks; after the checkpoints are
 * open. */
enum gbm_status rt_chains_prepare(struct rt_chains *r);
/* The memory of draws will be written: cores that have nothing to do, of those
 * that the run may use, touch it first. Until gbm_touch_end. */
void rt_chains_touch(struct rt_chains *r);
/* Draws that the options ask for, of a chain. */
int rt_chains_wanted_draws(const struct rt_options *o);

/* chains_state.c: counts the time since the last call, or since it was counted
 * anew, as of warm-up, or of sampling. */
void rt_chains_count_phase(struct rt_chains *r, bool adapting);
void rt_chains_count_anew(struct rt_chains *r);
/* Room for the state that a checkpoint saves, and what tells
 * this run from others: after the device has loaded. */
enum gbm_status rt_chains_prepare_state(struct rt_chains *r);
/* Reads what the run to be resumed came to; its draws are still to be read.
 * `capacity`: draws that are wanted, more if it had room for more. */
enum gbm_status rt_chains_read_numbers(struct rt_chains *r, int *capacity);
/* After there is room for the draws. */
enum gbm_status rt_chains_prepare_checkpoint(struct rt_chains *r);
/* The state goes where the starting values are: what was made of these at load
 * is as its run had it. */
enum gbm_status rt_chains_go_on(struct rt_chains *r);
/* A failure to write is no reason to stop. A state that is not sound stays
 * unsaved: the run will say so. */
void rt_chains_save(struct rt_chains *r, bool adapting);

/* chains_end.c: draws kept so far go to disk, if it is time or `now`. */
void rt_chains_spool(struct rt_chains *r, bool now);
/* Writes and says what came of a run of so many sweeps, or why nothing did. */
void rt_chains_finish(struct rt_chains *r, int64_t sweeps);

/* standing.c: says which latent whole number never changed though it could. */
void rt_chains_standing(const struct rt_chains *r);

/* relabelling.c: components of a mixture mean the same in all that is kept, if
 * --relabel asks; of what it names the run keeps moments here, over kept draws.
 * After the chains have started, before the device loads: */
enum gbm_status rt_relabelling_create(struct rt_chains *r);
void rt_relabelling_free(struct rt_chains *r);
/* How many of so many sweeps of warm-up may be one block; after each block,
 * what is learnt of its last sweep. */
int64_t rt_relabelling_block(const struct rt_chains *r, int64_t sweeps);
void rt_relabelling_learn(struct rt_chains *r);
/* A chain's draw that was just kept as `record`, so many before it, of which
 * in->slots has the state; methods with an `advance` call it. Not by two
 * threads at once. */
void rt_relabelling_keep(struct rt_chains *r, int chain, double *record,
                         int draw);
/* For a checkpoint. */
void rt_relabelling_list(struct rt_chains *r, struct rt_pieces *pieces);
/* Adds its moments to the draws, and says what was permuted. */
enum gbm_status rt_relabelling_finish(struct rt_chains *r);

/* pool.c: what adaptive samplers of the chains learn together (struct
 * gbm_step's `lag`). The sweep of warm-up after which to pool next, or
 * `total`. */
int64_t rt_pool_next(const struct rt_instance *in, int64_t done, int64_t total);
/* After `done` sweeps, if it is the time. */
enum gbm_status rt_pool(struct rt *rt, const struct rt_instance *in,
                        int64_t done);

/* watch.c: --progress full. Begins with a phase of sampling; looks at the draws
 * so far, if it is time or they are the last. */
void rt_watch_begin(struct rt_chains *r);
void rt_watch_show(struct rt_chains *r, bool last);

/* until.c: --until. Bounds that draws have to keep; 0: not asked. */
struct rt_until {
    double ess, rhat, rhat_eigen;
    double seconds; /* of warm-up and sampling */
};
enum gbm_status rt_until_parse(struct rt *rt, struct rt_until *until);
/* Whether what is drawn can be judged so; before the run. */
enum gbm_status rt_until_fits(struct rt *rt, const struct rt_until *until,
                              const struct gbm_draws *draws);
/* Do the draws so far suffice? */
bool rt_until_holds(struct rt_chains *r, const struct rt_until *until);
/* Is a time all that is asked for? It is reached when no more draws fit. */
bool rt_until_is_time(const struct rt_until *until);
/* How many draws a chain come before the next look, of a run that began with
 * `first`; 0: it is to end, as no more fit into its time, or as it is longer
 * than
 * --until goes. */
int rt_until_more(const struct rt_chains *r, const struct rt_until *until,
                  int first);

#endif
