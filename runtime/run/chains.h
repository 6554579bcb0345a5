/* chains.h: a run of chains: sweeps, some for warm-up, and draws that are kept.
 * What methods that run chains share. */
#ifndef GBM_CHAINS_H
#define GBM_CHAINS_H

#include "run/checkpoint.h"
#include "run/pointwise.h"
#include "run/method.h"
#include "io/spool.h"

struct rt_chains {
    struct rt *rt;
    FILE *notes;
    struct gbm_data data;
    struct rt_instance in;
    struct gbm_draws draws;
    struct rt_spool spool;
    struct rt_progress progress;
    struct rt_arrival arrival;
    struct rt_checkpoint checkpoint;
    struct rt_resume resume;
    struct rt_pointwise pointwise;
    struct rt_moments *moments; /* on their way to or from a checkpoint */
    int64_t nmoments;           /* sweeps that are in them */
    uint64_t start;             /* sum of the starting values */
    double wall, cpu;           /* clocks up to which times were counted */
    bool loaded, opened;
    int chains;     /* whose draws are kept: of a method's replicas, some */
    void *own;      /* the method's */
    int lp;         /* number of the stat, or -1 */
    uint32_t sweep; /* done so far */
    double pace;    /* seconds that a block shall take */
    int block;      /* sweeps of the next block */
};

/* chains.c: the run of options.method, from data to draws; the exit status. */
int rt_run_chains(struct rt *rt);

/* until.c: --until. Bounds that draws have to keep; 0: not asked. */
struct rt_until {
    double ess, rhat, rhat_eigen;
};
enum gbm_status rt_until_parse(struct rt *rt, struct rt_until *until);
/* Whether what is drawn can be judged so; before the run. */
enum gbm_status rt_until_fits(struct rt *rt, const struct rt_until *until,
                              const struct gbm_draws *draws);
/* Do the draws so far suffice? */
bool rt_until_holds(struct rt_chains *r, const struct rt_until *until);

#endif
