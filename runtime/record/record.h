/* record.h: what is kept of draws, and what is written and told of them. */
#ifndef GBM_RECORD_H
#define GBM_RECORD_H

#include "session/session.h"
#include "io/draws.h"

/* monitor.c. Chooses what is kept and fills in->monitors. */
enum gbm_status rt_monitor(struct rt *rt, struct rt_instance *in, FILE *notes);
/* The same of what an option's list names, all of it, and nothing else: into
 * `in`, which has no monitors yet. */
enum gbm_status rt_monitor_named(struct rt *rt, struct rt_instance *in,
                                 const char *option, const char *list,
                                 FILE *notes);
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
                     int threads, struct rt_nan *out);
/* How many draws of stochastic nodes are not a number: after a run that did not
 * end for one, those that are drawn forward. */
int64_t rt_nan_forward(const struct rt_instance *in,
                       const struct gbm_draws *draws, int threads,
                       struct rt_nan *first);
/* Writes the cell's name: "theta[3]". */
void rt_nan_name(const struct rt_instance *in, const struct rt_nan *nan,
                 char *out, size_t capacity);

/* labels.c. What --relabel and --clusters ask of draws that were read; a note
 * of how many of so many draws had their components permuted. */
enum gbm_status rt_settle_labels(struct rt *rt, struct gbm_draws *draws);
void rt_note_permuted(FILE *notes, int64_t moved, int64_t draws,
                      int components);

/* deliver.c. Prints rt->message to standard error; returns the exit status. */
int rt_report(const struct rt *rt);
/* Writes draws and summary as the options ask, and prints the summary. */
enum gbm_status rt_deliver(struct rt *rt, struct gbm_draws *draws);
/* The draws alone; before a run: whether its files can be written. */
enum gbm_status rt_deliver_draws(struct rt *rt, struct gbm_draws *draws);
enum gbm_status rt_deliver_summary(struct rt *rt,
                                   const struct gbm_draws *draws);
enum gbm_status rt_check_output(struct rt *rt);

/* The commands `summary` (deliver.c) and `compare`; return the exit status. */
int rt_command_summary(struct rt *rt);
int rt_command_compare(struct rt *rt);

#endif
