/* option.h: what the files of the options share: options.c (the table, the
 * command line, help), option_values.c, option_rules.c, kept_options.c. */
#ifndef GBM_OPTION_H
#define GBM_OPTION_H

#include "options/method.h"

enum option_id {
    OPTION_DATA,
    OPTION_INIT,
    OPTION_START,
    OPTION_CHAINS,
    OPTION_WARMUP,
    OPTION_DRAWS,
    OPTION_THIN,
    OPTION_SEED,
    OPTION_DEVICE,
    OPTION_THREADS,
    OPTION_PRECISION,
    OPTION_MONITOR,
    OPTION_MOMENTS,
    OPTION_OUT,
    OPTION_SUMMARY,
    OPTION_FORMAT,
    OPTION_DIGITS,
    OPTION_UNTIL,
    OPTION_RELABEL,
    OPTION_REFERENCE,
    OPTION_CLUSTERS,
    OPTION_LP,
    OPTION_LOG_LIK,
    OPTION_QUANTILES,
    OPTION_HDI,
    OPTION_SORT,
    OPTION_SHOW,
    OPTION_POSTERIOR,
    OPTION_FROM,
    OPTION_ANEW,
    OPTION_DETAILS,
    OPTION_POINTS,
    OPTION_GRADIENTS,
    OPTION_NO_CHECK,
    OPTION_PLAIN,
    OPTION_PROFILE,
    OPTION_PROGRESS,
    OPTION_QUIET,
    OPTION_EXPLAIN,
    OPTION_METHOD,
    OPTION_PARTICLES,
    OPTION_PROPOSAL,
    OPTION_STEPS,
    OPTION_MOVES,
    OPTION_POWER,
    OPTION_TEMPER,
    OPTION_SEQUENCE,
    OPTION_REPLICAS,
    OPTION_REPLICATES,
    OPTION_JACOBIAN,
    OPTION_ITERATIONS,
    OPTION_LAPLACE,
    OPTION_CHECKPOINT,
    OPTION_EVERY,
    OPTION_RESUME,
    OPTION_VERSION,
    OPTION_HELP
};

/* How an option's value becomes a member of struct rt_options. */
enum option_kind {
    OPTION_IS_TEXT,
    OPTION_IS_FLAG,
    OPTION_IS_NUMBER, /* an int from `least` on */
    OPTION_IS_READ    /* by `read`, which sets what it likes */
};

struct rt_option {
    const char *name;
    enum option_id id;
    const char *value; /* what follows it, for people; NULL: nothing */
    const char *help;  /* NULL: not shown */
    enum option_kind kind;
    size_t member, given; /* offsets; given: a bool beside it, 0: there is none
                           */
    int least;
    enum gbm_status (*read)(struct rt *rt, const char *value);
};

/* options.c */
const struct rt_option *rt_option_of(enum option_id id);

/* elsewhere.c. The option or command that other programs call `word`; or NULL.
 */
const char *rt_elsewhere(const char *word);

/* option_values.c. Whether an option is on the command line. */
bool rt_option_is_given(const struct rt_options *options, enum option_id id);
/* The error that there is no `what` of this name; nearest: or NULL. */
enum gbm_status rt_suggest(struct rt *rt, const char *what, const char *name,
                           const char *nearest);
/* Sets an option; `value`: NULL if it takes none. */
enum gbm_status rt_option_set(struct rt *rt, const struct rt_option *option,
                              const char *value);
/* The names of precisions and starts, in the order of their enums. */
extern const char *const rt_precisions[3], *const rt_starts[3];
/* Members `read` of the table. */
enum gbm_status rt_option_data(struct rt *rt, const char *value);
enum gbm_status rt_option_init(struct rt *rt, const char *value);
enum gbm_status rt_option_digits(struct rt *rt, const char *value);
enum gbm_status rt_option_seed(struct rt *rt, const char *value);
enum gbm_status rt_option_every(struct rt *rt, const char *value);
enum gbm_status rt_option_precision(struct rt *rt, const char *value);
enum gbm_status rt_option_start(struct rt *rt, const char *value);
enum gbm_status rt_option_progress(struct rt *rt, const char *value);
enum gbm_status rt_option_device(struct rt *rt, const char *value);
enum gbm_status rt_option_replicas(struct rt *rt, const char *value);
enum gbm_status rt_option_proposal(struct rt *rt, const char *value);
enum gbm_status rt_option_power(struct rt *rt, const char *value);
enum gbm_status rt_option_method(struct rt *rt, const char *value);
enum gbm_status rt_option_version(struct rt *rt, const char *value);
enum gbm_status rt_option_help(struct rt *rt, const char *value);

/* option_rules.c. Whether the options go together. */
enum gbm_status rt_options_fit(struct rt *rt);

#endif
