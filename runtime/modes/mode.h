/* mode.h: methods that look for a mode: from several starts, one a chain, of
 * which the best is kept and told. */
#ifndef GBM_MODE_H
#define GBM_MODE_H

#include "start/start.h"
#include "gradient/gradient.h"

/* Where the climb from one start came to. */
struct rt_climb {
    struct rt_gradient gradient;
    double *u; /* free numbers */
    double value, decrement;
    enum rt_ascent end;
    int iterations;
    double *values; /* em: of the density, from the start on; or NULL */
    int nvalues;
    int swept;     /* em: of the iterations, the first ones, by sweeps */
    char far[128]; /* what is near its bound, or went beyond; "": nothing */
    double far_at;
};

struct rt_mode {
    struct rt *rt;
    FILE *notes;
    struct gbm_data data;
    struct rt_instance in;
    struct rt_unknowns unknowns;
    struct rt_climb *climbs; /* [in.nchains] */
    int best;                /* of those that converged; -1: none did */
    bool stopped; /* while some were on their way: if none had converged, best
                     is the highest */
    const char *what; /* "log posterior density" */
};

/* mode.c. Whether --out fits. */
enum gbm_status rt_mode_check_output(struct rt *rt);
/* Data, starts and free numbers. */
enum gbm_status rt_mode_prepare(struct rt_mode *m);
void rt_mode_free(struct rt_mode *m);
/* The same as rt_lbfgs for one start; its state has the best point. */
void rt_mode_climb(const struct rt_mode *m, struct rt_climb *climb);
/* em: whether sweeps of the program take expectations; adds a value to the
 * climb's trace, false if it is not finite. */
bool rt_mode_by_sweeps(const struct gbm_model *model);
bool rt_climb_keep(struct rt_climb *c, double value);
/* Notes what of it is near its bound; the state has its free numbers. */
void rt_mode_tell_far(const struct rt_mode *m, struct rt_climb *climb);
/* Chooses the best; an error if no start converged, which says why. */
enum gbm_status rt_mode_choose(struct rt_mode *m);
/* mode_report.c. Prints the mode, writes --summary and, with `values`, --out.
 */
enum gbm_status rt_mode_report(struct rt_mode *m, bool values);

/* laplace.c. Draws from the normal distribution of the free numbers at the
 * mode. */
enum gbm_status rt_laplace(struct rt_mode *m);

#endif
