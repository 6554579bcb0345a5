/* self_check.h: the parts of the self-check at the start of a run
 * (self_check.c). */
#ifndef GBM_SELF_CHECK_H
#define GBM_SELF_CHECK_H

#include "check/check.h"

#define SELF_CHECK_SHARE 0.05  /* of the time that warm-up will take */
#define SELF_CHECK_SECONDS 0.8 /* at most, but for the last thing begun */
#define SELF_CHECK_LEAST 1e-3  /* that it may take in any case */
#define SELF_CHECK_TOLERANCE 1e-6
#define SELF_CHECK_ROUNDING 1e-12   /* of the sum of all absolute terms */
#define SELF_CHECK_FIRST (1u << 29) /* sweep that no run has */

/* A difference of log densities, and the absolute terms that it is made of. */
struct change {
    double value, size;
    bool unknown; /* nothing to compare */
};

struct self_check {
    struct rt *rt;
    struct rt_instance *in;
    void *state; /* of `chain` */
    int chain;
    unsigned char *dropped;    /* as in check.h */
    struct host_dense **dense; /* [nsteps] */
    struct host_work work;
    bool *reached; /* [nsteps] */
    bool *kept_up; /* [nvariables]: derived ones that are so at any time */
    int64_t moves;
    int points; /* sweeps that added up */
    double began, deadline;
    double limit; /* the joint takes too long if it is not known then */
    double own;   /* this thread's clock as the check began */
    double swept; /* seconds of updates alone, of this sweep */
    double look;  /* seconds that a look at the clock takes */
    double spent; /* seconds before the device was loaded */
    double share; /* seconds that it may take */
    int drawn;    /* steps whose draws were compared */
    void **start; /* the chains' states */
    uint32_t sweep;
    bool out_of_time; /* the joint alone takes too long */
    /* chunk by chunk */
    double *cells;
    size_t capacity;
};

enum verdict { ADDS_UP, DOES_NOT, UNKNOWN };

/* self_check.c. What any part works in, the chains' states as they stand among
 * it; false: no memory. To be destroyed in any case. */
bool self_check_create(struct self_check *s);
void self_check_destroy(struct self_check *s);

/* self_check_time.c. The check begins; it pauses while the device is loaded,
 * and goes on. */
void self_check_begin(struct self_check *s);
void self_check_pause(struct self_check *s);
void self_check_go_on(struct self_check *s);
/* Seconds until the deadline; from now on there are so many. */
double self_check_left(const struct self_check *s);
void self_check_allow(struct self_check *s, double seconds);
/* Once a sweep has been made it is known how long warm-up takes: what the check
 * may take of that, and its moves. The least of such sweeps counts, as the
 * first one is cold. */
void self_check_share(struct self_check *s);
/* Past the deadline of the moves, another by this thread's own clock. */
void self_check_moves_on(struct self_check *s);
/* Seconds that are left of the share, by that clock. */
double self_check_rest(const struct self_check *s);

/* self_check_moves.c. Sums of a family, without the elements that are `dropped`
 * (or NULL); adds to *total. */
void self_check_add_family(struct self_check *s, int f,
                           const unsigned char *dropped, struct change *total);
/* Adds what another step, or other elements, changed. */
void self_check_add(struct change *total, const struct change *one);
/* The log density of all nodes. */
struct change self_check_joint(struct self_check *s);
/* Computes all that is derived. */
void self_check_refresh(const struct self_check *s);
bool self_check_reaches(const struct self_check *s, int step);
/* Adds by what a step's conditional changes as an element goes from a to b, as
 * it is told from where the chain stands. */
void self_check_add_conditional(const struct self_check *s,
                                const struct gbm_step *step, int64_t element,
                                const double *a, const double *b,
                                struct change *total);
/* The random numbers of the sweep that it is. */
struct gbm_sweep self_check_sweep(const struct self_check *s);
/* One step of a sweep; what its conditionals say of its moves. */
struct change self_check_step(struct self_check *s, int step, double until);
/* What they say, beside the joint before and after. */
enum verdict self_check_compare(struct change conditional, struct change before,
                                struct change after);

/* self_check_held.c. Which derived variables sweeps keep up at any time, in
 * s->kept_up; and whether they have, and the rows that subscripts choose: what
 * has not is told by `what`, as "A sweep leaves". All that is derived is
 * computed then. */
void self_check_find_held(struct self_check *s);
enum gbm_status self_check_held(struct self_check *s, const char *what);

/* self_check_draws.c. Draws of the steps that draw exactly, of the chain that
 * stands in `state`, beside their full conditionals. */
enum gbm_status self_check_draws(struct self_check *s);

/* self_check_blame.c. Refuses what updates the elements of a family: `variable`
 * by `sampler`, where `where` moves. */
enum gbm_status self_check_refuse(struct self_check *s, int family,
                                  const char *variable, const char *sampler,
                                  const char *where, double conditional,
                                  double density);
/* Whether rounding alone may have made the difference of a conditional and the
 * joint, where nodes moved from the values `from` to where they stand. */
bool self_check_rounding_explains(struct self_check *s, void *const *from,
                                  double difference);
/* Sweeps [first, last] again, with the joint after every
 * step. OK if none is to blame. */
enum gbm_status self_check_blame(struct self_check *s, uint32_t first,
                                 uint32_t last);

/* self_check_back.c. Step k, made again from the values `from`, adds up where
 * its conditional is asked from there, and its elements come back from where
 * they went but for digits that are lost there. The chain is left as it is. */
bool self_check_adds_up_before(struct self_check *s, int k, void *const *from);

/* self_check_device.c. After some sweeps on a device of its own memory: its
 * densities, its sweep beside the host's, and the steps at the state that it
 * came to. From the chains' states at the start, which are put back. */
enum gbm_status self_check_device(struct self_check *s);

/* self_check_chain.c. Sweeps of a chain from where it stands, `values`, while
 * there is time; one at least. */
enum gbm_status self_check_chain(struct self_check *s, int chain,
                                 void *const *values);

#endif
