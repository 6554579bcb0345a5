/* check.h: comparing full conditionals with the joint density: check.c, and
 * self_check.c, which does it at the start of every run. */
#ifndef GBM_CHECK_H
#define GBM_CHECK_H

#include "run/run.h"
#include "host/host.h"

/* What a message of a failed check ends with; of the seed. */
#define CHECK_REPORT                                                           \
    "This is a fault of gbmc, not of the model or the data: please report "    \
    "it, with the model, the data, --seed %llu and what --version prints. "    \
    "--no-check draws all the same, and marks what is written."

/* What became of a step. */
struct check_row {
    int checked;
    double worst;              /* error over tolerance; over 1 fails */
    double error;              /* relative */
    double conditional, joint; /* differences, where it was worst */
    char element[128];         /* there; "" if it is all of a block */
};

struct checker {
    struct rt *rt;
    const struct rt_instance *in;
    void *state; /* of `chain` */
    int chain;
    double *before, *after; /* log density of every element that counts */
    unsigned char *dropped; /* elements that no conditional counts */
    int64_t terms;
    struct check_row *rows;    /* [nsteps] */
    struct host_dense **dense; /* [nsteps] */
    struct host_work work;
    uint32_t sweep; /* numbers of draws that were used */
    bool far;       /* values that need not be possible */
};

enum gbm_status check_create(struct checker *c, struct rt *rt,
                             const struct rt_instance *in);
void check_free(struct checker *c);
/* The family's density is a term of the joint that conditionals are of. */
bool check_counts(const struct gbm_family *family);
/* Sets dropped[at] for elements without data that are drawn forward after the
 * sweep, so integrated out of that joint; elements are numbered through the
 * families that count. */
void check_drop(const struct rt_instance *in, const void *state,
                unsigned char *dropped);
/* Everything that follows from the stochastic nodes. */
void check_refresh(const struct checker *c);
/* Moves a step's element as the sweep does, and compares; with `far`, at more
 * values. Leaves the element where it moved to. */
void check_element(struct checker *c, int step, int64_t element, bool far);
/* The same for a dense Gaussian block. */
void check_dense(struct checker *c, int step, bool far);
/* What rounding may have done to the joint where all nodes stand. */
double check_rounding(struct checker *c);
/* The absolute terms that a block's density is the sum of where it stands. */
double check_size(const struct gbm_step *step, const void *state);
/* How far the distribution function of draws of an element, the last of which
 * is left in `state`, is from that of its full conditional, by what is
 * allowed: over 1 fails; negative: the step does not draw from it, or nothing
 * can be said by `until`. */
double check_draws(const struct gbm_step *step, void *state,
                   struct gbm_sweep sweep, int chain, int element,
                   double until);
/* Log density of a dense block at b less that at a, of precision q (lower
 * triangle) and potential p; its rounding error. */
double check_quadratic(size_t d, const double *q, const double *p,
                       const double *a, const double *b, double *rounding);

#endif
