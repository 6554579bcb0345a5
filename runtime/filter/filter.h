/* filter.h: what the files of the particle filter share. */
#ifndef GBM_FILTER_H
#define GBM_FILTER_H

#include "record/checkpoint.h"
#include "start/start.h"

/* ---- time_order.c: when each element is drawn, computed or compared ---- */

/* Times are numbered from 1; what no unknown precedes is of time 0, and the
 * same for all particles. */
struct rt_times {
    struct rt_graph graph;
    int count;
    unsigned char *act; /* [nodes] enum rt_act */
    int *time;          /* [nodes] */
    int *last;          /* [nodes] last time at which it is read */
    int64_t *first;     /* [count + 2]: nodes of time t are
                           order[first[t]] to order[first[t + 1] - 1] */
    int *order;         /* parents before children */
};
/* Of a model in which what rt_start_is_fixed knows is known. An error if no
 * latent node runs along time, or if there are such as do not and that are read
 * at several times: the message lists them. */
enum gbm_status rt_times_create(struct rt_times *times, struct rt_starter *s);
/* The same for --method pmmh: the density of what is given counts. `wanted`
 * [nodes]: if not NULL, marks what must be given beside that is, parameters and
 * what they depend on, instead of the error; then there are no times. */
enum gbm_status rt_times_find(struct rt_times *times, struct rt_starter *s,
                              unsigned char **wanted);
void rt_times_free(struct rt_times *times);

/* ---- resample.c ---- */

/* weight: [n], of sum 1. Systematic resampling with one uniform u: writes
 * ancestor[n], in which what survives keeps its place (Murray, Lee and Jacob
 * 2016, Parallel resampling in the particle filter, section 3.2): particle i
 * becomes a copy of ancestor[i], and those that are copied stay. `offspring`:
 * scratch, [n]. */
void rt_resample(int n, const double *weight, double u, int *ancestor,
                 int *offspring);
/* Multinomial resampling: ancestor[n], ascending, of independent draws. roots:
 * scratch, [n]. The same whatever the threads. */
struct gbm_rng;
void rt_resample_multinomial(int n, const double *weight,
                             const struct gbm_rng *rng, int threads,
                             double *roots, int *ancestor);

/* ---- what comes of it ---- */

/* A cell that runs along time. */
struct rt_tracked {
    int variable;
    int64_t cell;
    int64_t offset; /* in a record of draws */
    int time;       /* when it is drawn or computed */
    int last;       /* resampling moves it before this time, but not after */
    struct rt_estimate filtered, smoothed;
};

/* At each time, means over the filters. */
struct rt_instant {
    double ess;       /* of the particles, after their weights */
    double paths;     /* effective number of different ancestors at the end */
    double resampled; /* share of the filters that resampled after it */
    double loglik;    /* of the observations up to it */
};

struct rt_filtered {
    int particles, filters;      /* those that are complete */
    int count;                   /* times */
    struct rt_instant *instants; /* [count + 1], from 1 */
    int64_t ncells;
    struct rt_tracked *cells; /* [ncells], ordered by time */
    double loglik, se;        /* log of the mean likelihood, its error */
    double spread;            /* of the filters' log likelihoods, their sd */
    bool draws; /* each filter has the parameters of a draw: what they say is of
                   all of them alike, loglik the mean of the logarithms */
    struct gbm_timing timing;
    bool complete;
};

/* ---- filter.c ---- */

#define RT_FILTER_STREAM (UINT32_MAX - 5000) /* of random numbers */

/* guide.c: what a state is drawn from. */
enum rt_law {
    RT_LAW_PRIOR,
    RT_LAW_VALUES,
    RT_LAW_NORMAL,
    RT_LAW_GAMMA,
    RT_LAW_LOGNORMAL,
    RT_LAW_BETA,
    RT_LAWS
};

/* One resampling. */
struct rt_resampling {
    int time;
    int *ancestor; /* [particles] */
};

/* A cell that has the values of a place in the records of --from. */
struct rt_taken {
    int variable;
    int64_t cell, place;
};

struct rt_from {
    bool open;
    struct gbm_draws fit;
    struct rt_taken *taken; /* [n] */
    int64_t n;
};

struct rt_away;

struct rt_filter {
    struct rt *rt;
    FILE *notes;
    struct gbm_data data;
    struct rt_instance in; /* of one chain: what all particles share */
    struct rt_starter starter;
    struct gbm_array *given; /* [nvariables] stand-ins for what --init gives */
    struct rt_from from;
    struct rt_times times;
    struct rt_instance particles; /* a copy with slots of its own for what
                                     differs between particles */
    struct rt_away *away;         /* NULL: they are in host memory */
    char *states;                 /* [particles] */
    bool loaded;
    bool alone;      /* of pmmh: a likelihood and a path, no estimates */
    uint32_t stream; /* of random numbers, one a filter */
    double *path;    /* [cells] alone: what a particle's path went through */
    int n, number;   /* particles; of the filter at hand */
    struct rt_step_in_time *acts;
    int64_t *first; /* [count + 2] acts of a time */
    int64_t *cell0; /* [nodes + 1] its cells: cell[cell0[i]] ... */
    int64_t *cell;
    /* --proposal guided, or NULL: [acts] of a draw and of what hangs on it: the
       next act that does, computed or weighed, -1: none; */
    int64_t *hangs;
    int64_t *proposed;     /* [families][RT_LAWS] states drawn so */
    int *live, nlive;      /* acts whose values later times read */
    int64_t *list, listed; /* cells at hand; those of times so far */
    double *increment, *weight, *column;
    int *offspring, *trace;
    struct rt_resampling *events; /* [count] */
    int nevents;
    double loglik, base; /* of the filter so far; of what all share */
    /* of all filters: */
    struct rt_filtered result;
    double *logliks;               /* [filters][count + 1] */
    double *ess, *paths;           /* [filters][count + 1] */
    unsigned char *resampled;      /* the same */
    struct rt_estimate *estimates; /* [filters][2][cells] */
    struct gbm_draws draws;        /* for --out: all filters' */
    double *records;               /* [filters][draws][row] */
    struct rt_checkpoint checkpoint;
    struct rt_resume resume;
};

/* What every method with particles begins with: options, data, the model
 * loaded, what is kept; f->starter, of which the state is not bound yet. */
enum gbm_status rt_filter_load(struct rt_filter *f);
/* What of a filter depends on f->times; then the particles, copies of the chain
 * in f->in. */
enum gbm_status rt_filter_lay_out(struct rt_filter *f);
enum gbm_status rt_filter_create(struct rt_filter *f);
enum gbm_status rt_filter_copy(struct rt_filter *f);
void rt_filter_release(struct rt_filter *f);
/* Checkpoints, after rt_checkpoint_open of the two. Reads what the list is of,
 * if the run goes on from some, and frees the list; */
enum gbm_status rt_filter_read(struct rt_filter *f, struct rt_pieces *list);
/* after all is read; */
enum gbm_status rt_filter_identify(struct rt_filter *f);
/* writes one, and frees the list. */
void rt_filter_save(struct rt_filter *f, struct rt_pieces *list);

/* Makes a cell count as given by --init; false: no memory. */
bool rt_filter_give(struct rt_filter *f, int variable, int64_t cell);

/* ---- filter_from.c: --from; before there are times ---- */
/* Parameters that the data and --init leave open count as given. */
enum gbm_status rt_filter_from_open(struct rt_filter *f);
/* They have the values of the draw of a filter. */
void rt_filter_from_set(struct rt_filter *f, int number);
void rt_filter_from_close(struct rt_filter *f);

/* ---- particles.c: one filter, f->number ---- */
#define RT_FILTER_RESAMPLE_BELOW 0.5 /* effective particles, of all */
/* What of the model is known throughout: computed in `state`, before there are
 * particles; f->base is the log density of its observations. */
enum gbm_status rt_filter_begin(struct rt_filter *f, const void *state);
enum gbm_status rt_filter_run(struct rt_filter *f);
/* The acts at hand, f->live, become those up to `time` whose values later times
 * read. */
void rt_filter_update_live(struct rt_filter *f, int time);
/* The uniform number that resampling after a time takes. */
double rt_filter_share(const struct rt_filter *f, int time);
/* An observation that no particle makes possible, and why: `state` is one's. */
enum gbm_status rt_filter_fail_weights(struct rt_filter *f, const void *state,
                                       int time);

/* ---- away.c: particles on a device ---- */
/* After f->particles is laid out: they are on rt->device. */
enum gbm_status rt_filter_go_away(struct rt_filter *f);
void rt_filter_come_back(struct rt_filter *f);
/* As rt_filter_run. */
enum gbm_status rt_filter_run_away(struct rt_filter *f);

/* ---- guide.c: --proposal guided ---- */
/* Finds what of a time's observations hangs on which draw. After lay_out. */
enum gbm_status rt_guides_create(struct rt_filter *f);
/* Draws the state of an act for a particle, given what hangs on it; returns the
 * log of its density in the model over that of what it was drawn from. */
double rt_guide_draw(struct rt_filter *f, const void *state, int64_t act,
                     int particle, struct gbm_rng *rng);
/* What states were drawn from, by statement: for people; as a member of JSON,
 * with a comma before it. Nothing without --proposal guided. */
void rt_guides_print(const struct rt_filter *f, FILE *out);
struct rt_out;
void rt_guides_write(const struct rt_filter *f, struct rt_out *out);

/* ---- estimates.c ---- */
extern const double rt_filter_levels[RT_QUANTILES];
/* Which paths are written, [draws] of --draws: as the weights have it, in
 * random order. */
void rt_filter_choose_paths(const struct rt_filter *f, int *chosen);
enum gbm_status rt_filter_no_memory(struct rt_filter *f);
/* Of the cells of time t, as the particles stand. */
enum gbm_status rt_filter_estimate(struct rt_filter *f, int t);
/* Of all cells, along the ancestors of the last particles; chooses the paths
 * that are kept. */
enum gbm_status rt_filter_smooth(struct rt_filter *f);
/* One particle's path at all times, into f->path. */
void rt_filter_choose_path(struct rt_filter *f);
/* All filters together. */
enum gbm_status rt_filter_combine(struct rt_filter *f);
/* The filters' weights at a time, of sum 1; the log of their mean. */
double rt_filter_weights(const struct rt_filter *f, int time, double *weight);

/* filter_report.c: the table and warnings; --summary's JSON. */
void rt_filter_print(const struct rt_filter *f, FILE *out);
enum gbm_status rt_filter_write(const struct rt_filter *f, const char *path,
                                char error[GBM_ERROR]);

#endif
