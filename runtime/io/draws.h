/* draws.h: kept draws, and what is written from them.
 *
 * A record is one draw of one chain: the drawn cells of every monitored
 * variable, one after the other. */
#ifndef GBM_DRAWS_H
#define GBM_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

#include "io/data.h"
#include "base/status.h"

/* What is said of draws that were made without the self-check. */
#define GBM_UNCHECKED                                                          \
    "drawn without self-check (--no-check, or it had no time): the sampler "   \
    "was not compared with the model"

/* Where a variable belongs in ArviZ's InferenceData. */
enum gbm_group {
    GBM_POSTERIOR,
    GBM_POSTERIOR_PREDICTIVE, /* data drawn anew given the posterior */
    GBM_PRIOR,
    GBM_PRIOR_PREDICTIVE,
    GBM_LOG_LIKELIHOOD, /* of each observation: no quantity of the summary */
    GBM_GROUPS
};

/* A monitored variable. */
struct gbm_draws_variable {
    char *name;
    enum gbm_group group; /* * */
    int ndim;
    int dim[GBM_MAX_DIMS];
    int64_t length; /* cells of the whole array; 1 for a scalar */
    int64_t count;  /* cells that are drawn */
    int64_t *cells; /* [count] flat row-major cells, ascending; NULL: all */
    double *filled; /* [length] values of the cells that are not drawn;
                       NULL if all are */
    int64_t offset; /* of its first cell in a record */
    bool integer;
};

/* Running moments of a variable, over every sweep. */
struct gbm_moments_variable {
    char *name;
    int ndim;
    int dim[GBM_MAX_DIMS];
    int64_t count;  /* cells with moments */
    int64_t *cells; /* as above */
    int categories; /* 0: its own; else those of each event that the cell has
                       the value 1, ..., categories: mean is a probability */
    double *mean, *sd, *rhat; /* [count] or [count][categories], over all
                                 chains */
};

/* One number per kept draw: "lp", "acceptance_rate", ... (ArviZ's names). */
struct gbm_draws_stat {
    char *name;
    bool integer;
    double *values; /* [chains][capacity] */
};

struct gbm_timing {
    double load_s, jit_s, warmup_s, sampling_s; /* wall clock */
    double warmup_cpu_s, sampling_cpu_s;        /* of all threads */
};

/* Fields that the caller may set directly are marked *. Strings are borrowed:
 * they must outlive the draws. */
struct gbm_draws {
    const char *model;      /* * "pump" */
    const char *version;    /* * of gbm */
    const char *device;     /* * what ran it, for attributes; may be NULL */
    const char *data;       /* * data files, for attributes; may be NULL */
    const char *relabelled; /* * --relabel's list, if that was done; or NULL */
    uint64_t seed;          /* * */
    int warmup, thin;       /* * sweeps; draws are kept every `thin` sweeps */
    struct gbm_timing timing; /* * */
    bool complete;            /* * false: the run was stopped early */
    bool unchecked;           /* * true: made without the self-check */
    bool has_deviance;        /* * the variable `deviance` is -2 times the log
                                 likelihood, and this at the posterior means
                                 of the random nodes; or NaN */
    double deviance_at_means; /* * */
    int64_t data_sum;         /* of draws that were read: what
                                 gbm_draws_data_sum said; 0: not known */
    int digits;               /* * of numbers in text; 0: 8 */

    enum gbm_group group; /* * of variables that are added from now on;
                             GBM_LOG_LIKELIHOOD comes last */
    int nvariables;
    struct gbm_draws_variable *variables;
    int64_t width;      /* cells of a record */
    int64_t quantities; /* its cells before the first log likelihood */

    int chains;
    int capacity;   /* draws that fit, per chain */
    int kept;       /* * draws of each chain that are valid */
    double *values; /* [chains][capacity][width] */

    int nstats;
    struct gbm_draws_stat *stats;
    double *end_lp; /* [chains] log density of the last states, where no stat
                       has it; or NULL */
    int nmoments;
    struct gbm_moments_variable *moments;
    char *json; /* members of the summary's JSON that a method adds; or NULL */
    bool tempered;    /* * true: chains went through flatter densities, where
                         modes are one */
    const char *more; /* * the option that brings more draws; NULL: --draws */
    bool aside; /* * true: moments were kept unasked beside what was asked */
    struct gbm_coords coords; /* * labels of its variables' dimensions, and of
                                 the data groups' */
    int nobserved, nconstant; /* borrowed arrays of the data groups */
    const struct gbm_array **observed, **constant;
    char *strings; /* owns model, ... of draws that were read from a file */
};

/* Life: zero-initialise or gbm_draws_init; add variables; allocate; add stats;
 * fill records; set kept, timing, complete; write; free. The add functions copy
 * what they are given, data arrays apart, and return GBM_FAILURE only for want
 * of memory. */
void gbm_draws_init(struct gbm_draws *draws);
enum gbm_status gbm_draws_add_variable(struct gbm_draws *draws,
                                       const char *name, int ndim,
                                       const int *dim, bool integer);
/* The same for a partly observed array: `cells` [count] are drawn, the others
 * have the values `filled` [length]. */
enum gbm_status gbm_draws_add_partial(struct gbm_draws *draws, const char *name,
                                      int ndim, const int *dim, bool integer,
                                      int64_t count, const int64_t *cells,
                                      const double *filled);
enum gbm_status gbm_draws_allocate(struct gbm_draws *draws, int chains,
                                   int capacity);
/* Room for as many draws, keeping what is there; a failure leaves all as it is.
 */
enum gbm_status gbm_draws_grow(struct gbm_draws *draws, int capacity);
/* Returns the stat's number in draws->stats, or -1. After allocate. */
int gbm_draws_add_stat(struct gbm_draws *draws, const char *name, bool integer);
/* Of a variable with moments; cells NULL: all, then count is the array's
 * length. */
enum gbm_status gbm_draws_add_moments(struct gbm_draws *draws, const char *name,
                                      int ndim, const int *dim, int64_t count,
                                      const int64_t *cells, int categories,
                                      const double *mean, const double *sd,
                                      const double *rhat);
/* Data for the netCDF groups. The array is borrowed until the write. */
enum gbm_status gbm_draws_add_observed(struct gbm_draws *draws,
                                       const struct gbm_array *array);
enum gbm_status gbm_draws_add_constant(struct gbm_draws *draws,
                                       const struct gbm_array *array);
void gbm_draws_free(struct gbm_draws *draws);

/* A number that tells data with log likelihoods from others: of less than 52
 * bits, 0 if there are none. */
int64_t gbm_draws_data_sum(const struct gbm_draws *draws);
/* The same of all that is observed. */
int64_t gbm_draws_observed_sum(const struct gbm_draws *draws);

/* Where draw number `draw` of `chain` goes: [width]. */
static inline double *gbm_draws_record(const struct gbm_draws *draws, int chain,
                                       int draw)
{
    return draws->values +
           ((int64_t)chain * draws->capacity + draw) * draws->width;
}

/* The variable of this name whose draws are kept, or NULL (its log likelihood
 * is another); whether it has the flat cell. */
const struct gbm_draws_variable *gbm_draws_find(const struct gbm_draws *draws,
                                                const char *name);
bool gbm_draws_has(const struct gbm_draws_variable *variable, int64_t cell);

/* Gathers cells first .. first + count of all records: out[count][chains]
 * [kept], which is what gbm_diagnose takes. */
void gbm_draws_columns(const struct gbm_draws *draws, int64_t first,
                       int64_t count, double *out);

enum gbm_format {
    GBM_FORMAT_NETCDF, /* PATH */
    GBM_FORMAT_CSV,    /* PATH fit.csv: fit_1.csv, fit_2.csv, ... */
    GBM_FORMAT_CODA    /* PATH fit: fitindex.txt, fitchain1.txt, ... */
};

/* The format named "netcdf", "csv" or "coda", or if name is NULL the one that
 * the path's end tells (.nc, .csv; GBM_USER_ERROR otherwise). */
enum gbm_status gbm_format_of(const char *name, const char *path,
                              enum gbm_format *format, char error[GBM_ERROR]);

/* Before sampling: can the files be written there, and is the library there
 * that writes them? Leaves no file behind. */
enum gbm_status gbm_draws_check_output(enum gbm_format format, const char *path,
                                       int chains, char error[GBM_ERROR]);

/* Writes the kept draws. Each file gets a temporary name in the same folder
 * and is renamed when it is whole, so no half-written file has the final name;
 * an incomplete run is marked inside. */
enum gbm_status gbm_draws_write(const struct gbm_draws *draws,
                                enum gbm_format format, const char *path,
                                char error[GBM_ERROR]);

/* Reads back draws, from a netCDF file or from what a run left when it was
 * ended (spool.h). A damaged file is an error. */
enum gbm_status gbm_draws_read(struct gbm_draws *draws, const char *path,
                               char error[GBM_ERROR]);
/* Reads back a netCDF file (groups posterior and sample_stats, or variables
 * outside groups), also one that another program wrote. `draws` must be free of
 * content. */
enum gbm_status gbm_draws_read_netcdf(struct gbm_draws *draws, const char *path,
                                      char error[GBM_ERROR]);

#endif
