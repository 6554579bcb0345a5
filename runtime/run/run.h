/* run.h: the commands, and what a run is made of. */
#ifndef GBM_RUN_H
#define GBM_RUN_H

#include "base/base.h"
#include "io/draws.h"
#include "host/host.h"
#include "load/load.h"
#include <stdio.h>

/* options.c. With rt->methods set. On a bad option the message is in rt. */
enum gbm_status rt_options_parse(struct rt *rt, int argc, char **argv);
void rt_options_free(struct rt_options *options);
/* GBM_WITH_... that the program must have. */
unsigned rt_options_need(const struct rt_options *options);
void rt_print_help(const struct rt *rt, FILE *out);
/* The part of it that lists options, and methods, which NULL ends. */
void rt_print_options(const struct rt_method *const *methods, FILE *out);
/* Whether the word is an option of which the next word is the value. */
bool rt_option_takes_word(const char *word);
/* kept_options.c. Options that make a run what it is, so that a checkpoint
 * keeps them: their names, k = 0, 1, ...; NULL after the last. */
const char *rt_kept_option(int k);
/* The value of one as text, perhaps in `buffer`; NULL: it is not set. */
enum { RT_OPTION_TEXT = 32 };
#define RT_OPTION_SET "set" /* of an option without a value */
const char *rt_option_text(const struct rt_options *options, const char *name,
                           char buffer[RT_OPTION_TEXT]);
/* Sets one that is not on the command line to the value that a checkpoint has,
 * or to none if `text` is NULL. Fails, without a message, if it is there with
 * another value, unless it only says when to end. */
enum gbm_status rt_option_take(struct rt *rt, const char *name,
                               const char *text);
enum gbm_status rt_option_add_init(struct rt *rt, const char *file);

/* profile.c. From rt_profile_begin on the devices time each step, if --profile
 * asks; the tables of so many sweeps. */
enum gbm_status rt_profile_begin(struct rt *rt, const struct rt_instance *in);
void rt_profile_print(const struct rt *rt, const struct rt_instance *in,
                      int64_t sweeps, FILE *out);
void rt_profile_end(struct rt *rt);

/* work.c. What the device can do, into rt->ceilings; the table of what the
 * steps of so many sweeps must do, if that is known. */
enum gbm_status rt_work_measure(struct rt *rt, const struct rt_instance *in);
void rt_work_print(const struct rt *rt, const struct rt_instance *in,
                   int64_t sweeps, FILE *out);

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

/* pool.c: what adaptive samplers of the chains learn together (struct
 * gbm_step's `lag`). The sweep of warm-up after which to pool next, or
 * `total`. */
int64_t rt_pool_next(const struct rt_instance *in, int64_t done, int64_t total);
/* After `done` sweeps, if it is the time. */
enum gbm_status rt_pool(struct rt *rt, const struct rt_instance *in,
                        int64_t done);

/* Terms of a chain's log density. */
int64_t rt_terms(const struct rt_instance *in);
/* Whether the log densities of all chains, which the host evaluates, cost no
 * more than some sweeps of the device. */
bool rt_worth_scoring(const struct rt *rt, const struct rt_instance *in);
/* The score of a chain's state, a log density that is comparable between
 * regions; -inf where it is not finite. */
double rt_score(const struct rt *rt, const struct rt_instance *in, void *state,
                int chain);

/* monitor.c. Chooses what is kept and fills in->monitors. */
enum gbm_status rt_monitor(struct rt *rt, struct rt_instance *in, FILE *notes);
enum gbm_status rt_monitor_draws(struct rt *rt, const struct rt_instance *in,
                                 const struct gbm_data *data,
                                 struct gbm_draws *draws);

/* coords.c. Labels that data give, for the draws' variables and the data's. */
enum gbm_status rt_label_draws(struct rt *rt, const struct rt_instance *in,
                               const struct gbm_data *data,
                               struct gbm_draws *draws);
/* A note for each name of a dimension that nothing has. */
void rt_note_labels(const struct gbm_data *data, const struct gbm_draws *draws,
                    FILE *notes);

/* self_check.c. Compares the steps with the model's joint density, on the host,
 * from the chains' state as it stands in in->slots; leaves that as it was. A
 * device with memory of its own need not be loaded yet: the end, once it is,
 * compares it with the host. `status`: of what came between; the end returns it
 * if it failed, and frees in any case. */
struct self_check;
enum gbm_status rt_self_check_begin(struct rt *rt, struct rt_instance *in,
                                    struct self_check **out);
enum gbm_status rt_self_check_end(struct self_check *s, enum gbm_status status,
                                  FILE *notes);

/* same_sweep.c. Sweeps of rt->device, which has loaded the chains' state in
 * in->slots, beside the host's, with random numbers of sweeps `first` on, for
 * about that many seconds. Fails where they are not the same but for rounding,
 * and says which step is to blame. Leaves the slots as the device came to.
 * `dense` [nsteps]: what the host has set up; steps after one that it has not
 * are not looked at. `before`, if it is not NULL: the device has made sweep
 * `first` already, from these values, and the slots hold what it came to. */
struct host_dense;
enum gbm_status rt_same_sweep(struct rt *rt, const struct rt_instance *in,
                              struct host_dense *const *dense, uint32_t first,
                              double seconds, void *const *before);

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
/* How many draws of stochastic nodes are not a number: after a run that did not
 * end for one, those that are drawn forward. */
int64_t rt_nan_forward(const struct rt_instance *in,
                       const struct gbm_draws *draws, struct rt_nan *first);
/* Writes the cell's name: "theta[3]". */
void rt_nan_name(const struct rt_instance *in, const struct rt_nan *nan,
                 char *out, size_t capacity);

/* labels.c. What --relabel and --clusters ask of draws that were read. */
enum gbm_status rt_settle_labels(struct rt *rt, struct gbm_draws *draws);

/* simulate.c. Draws all of a chain from the prior; (replicate, stream) names
 * the draw. Auxiliary nodes are left. */
void rt_simulate_chain(const struct rt *rt, const struct rt_instance *in,
                       const void *state, int chain, uint32_t replicate,
                       uint32_t stream);
/* The same of what is not observed alone. */
void rt_draw_latent(const struct rt *rt, const struct rt_instance *in,
                    const void *state, int chain, uint32_t replicate,
                    uint32_t stream);
/* An error if a distribution does not tell how to draw from it. */
enum gbm_status rt_check_draws(struct rt *rt, const struct rt_instance *in);
/* Reads the options' data and loads with observed nodes per chain, so that they
 * can be drawn anew; with `forget_seen` nothing counts as observed, nor as
 * known when the model was compiled. */
enum gbm_status rt_load_free(struct rt *rt, struct gbm_data *data,
                             struct rt_instance *in, bool forget_seen);

/* progress.c */
struct rt_progress {
    FILE *out; /* NULL: quiet */
    bool bar;  /* a line that is written over */
    double began, shown;
    const char *phase;
    int64_t from, total; /* sweeps: `from` were done before */
};
void rt_progress_begin(struct rt_progress *progress, const char *phase,
                       int64_t from, int64_t total);
void rt_progress_show(struct rt_progress *progress, int64_t done);
void rt_progress_end(struct rt_progress *progress, int64_t done);
/* Ctrl-C and SIGTERM ask to stop; a second one kills. */
void rt_catch_signals(void);
bool rt_stopped(void);

/* device.c. What --device asks for; "auto" takes a GPU where a sweep is worth
 * it, and the CPU where there is none. */
enum gbm_status rt_open_device(struct rt *rt, struct rt_instance *in,
                               FILE *notes);
/* What "auto" chose may still fail (memory, a compiler that is not there): then
 * the CPU does it. */
enum gbm_status rt_load_device(struct rt *rt, struct rt_instance *in,
                               FILE *notes);

/* check.c, simulate.c, geweke.c, deliver.c: the commands beside `run`, which is
 * a method's (method.h). Return the exit status. */
int rt_command_check(struct rt *rt);
int rt_command_check_gradients(struct rt *rt); /* check_gradients.c */
int rt_command_geweke(struct rt *rt);
int rt_command_simulate(struct rt *rt);
int rt_command_sbc(struct rt *rt); /* sbc.c */
int rt_command_info(struct rt *rt);
int rt_command_summary(struct rt *rt);
int rt_command_compare(struct rt *rt); /* compare.c */

/* input.c. In what `data` will read, anything may have a name that the model
 * has not. */
void rt_read_used(const struct rt *rt, struct gbm_data *data);
/* Reads the data files of the options. */
enum gbm_status rt_read_data(struct rt *rt, struct gbm_data *data, FILE *notes);
/* Adds the arrays of variables that stand for scalars with names. */
enum gbm_status rt_gather(struct rt *rt, struct gbm_data *data);

/* deliver.c. Prints rt->message to standard error; returns the exit status. */
int rt_report(const struct rt *rt);
/* Writes draws and summary as the options ask, and prints the summary. */
enum gbm_status rt_deliver(struct rt *rt, struct gbm_draws *draws);
/* The draws alone; before a run: whether its files can be written. */
enum gbm_status rt_deliver_draws(struct rt *rt, struct gbm_draws *draws);
enum gbm_status rt_deliver_summary(struct rt *rt,
                                   const struct gbm_draws *draws);
enum gbm_status rt_check_output(struct rt *rt);

#endif
