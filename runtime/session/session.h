/* session.h: what a command has around it: data, a device, how far it is, what
 * it takes. */
#ifndef GBM_SESSION_H
#define GBM_SESSION_H

#include "options/method.h"
#include "load/load.h"

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
/* The GPU that --device asks for by name, for what begins with no sweeps. */
enum gbm_status rt_open_gpu(struct rt *rt);
/* What "auto" chose may still fail (memory, a compiler that is not there): then
 * the CPU does it. */
enum gbm_status rt_load_device(struct rt *rt, struct rt_instance *in,
                               FILE *notes);

/* input.c. In what `data` will read, anything may have a name that the model
 * has not. */
void rt_read_used(const struct rt *rt, struct gbm_data *data);
/* Reads the data files of the options. */
enum gbm_status rt_read_data(struct rt *rt, struct gbm_data *data, FILE *notes);
/* Adds the arrays of variables that stand for scalars with names. */
enum gbm_status rt_gather(struct rt *rt, struct gbm_data *data);

#endif
