/* tempering.h: what methods between prior and posterior share. */
#ifndef GBM_TEMPERING_H
#define GBM_TEMPERING_H

#include "chains/chains.h"

/* stones.c: stepping stones. Of each ladder and rung, sums of the likelihood to
 * the power that the next rung has more, and of what a second estimate is made
 * of (RT_STONE_KINDS), in batches of sweeps for the error. */
enum { RT_STONE_BATCHES = 64 };
struct rt_stones {
    int ladders, replicas;
    int batches;      /* begun, of at most RT_STONE_BATCHES */
    int64_t length;   /* sweeps of a whole one */
    int64_t in_batch; /* sweeps of the last one */
    int kinds;        /* of RT_STONE_KINDS; of many rungs one */
    double *sums;     /* [RT_STONE_BATCHES][kinds][ladders][replicas],
                         logarithms */
    int threads;      /* that rungs are worth */
};
/* sweeps: about how many there will be. */
bool rt_stones_create(struct rt_stones *s, int ladders, int replicas,
                      int64_t sweeps, int threads);
void rt_stones_free(struct rt_stones *s);
/* What a checkpoint saves of it. */
void rt_stones_save(struct rt_stones *s, struct rt_pieces *pieces);
/* A sweep: power of a rung, chain at a ladder's rung, log likelihood of a
 * chain. */
void rt_stones_add(struct rt_stones *s, const double *power, const int *chain,
                   const double *loglik);
/* The same for sweeps whose sums another one makes: how many may follow, and
 * the sums that `sweeps` of them are to be added to, [kinds][ladders]
 * [replicas], logarithms. */
int64_t rt_stones_room(const struct rt_stones *s);
double *rt_stones_begin(struct rt_stones *s, int64_t sweeps);
/* NaN is what cannot be told. */
struct rt_log_evidence {
    double value, se;
    double bridge; /* from both rungs of each ratio */
    double apart;  /* by how much that differs more than its error lets it:
                      the standard error has it */
};
struct rt_log_evidence rt_stones_evidence(const struct rt_stones *s);

/* spread.c: n powers, ascending from 0 to 1, moved so that the rejection
 * rates of neighbours, [n - 1], become equal. False: no memory. */
bool rt_tempering_spread(int n, const double *rejection, double *power);

/* weights.c. Sums over n particles by several threads; the same whatever their
 * number. */
struct rt_sums {
    int n, count, threads;
    double (*pieces)[3]; /* [count] scratch */
};
bool rt_sums_create(struct rt_sums *s, int n, int threads);
void rt_sums_free(struct rt_sums *s);
/* Normalised weights [n] of the logarithms base + more slope; returns the log
 * of the mean one. */
double rt_weigh(const struct rt_sums *s, const double *base,
                const double *slope, double more, double *weight);
/* The share of particles that is effective, of the same; scratch: [n]. */
double rt_effective(const struct rt_sums *s, const double *base,
                    const double *slope, double more, double *scratch);
/* Adds the sums of xx, yy and xy about their means. */
void rt_add_products(const struct rt_sums *s, const double *x, const double *y,
                     double sums[3]);

/* logliks.c. Whether the device can tell the log likelihoods: NaN then only
 * where a density is no number, or the power too small. */
bool rt_device_tells(const struct rt *rt, const struct rt_instance *in);
/* Log likelihoods at power 1, [chains], of the states as the device
 * has them; NaN where it cannot tell: the host must. */
enum gbm_status rt_device_logliks(struct rt *rt, const struct rt_instance *in,
                                  double *loglik);

/* beside.c. Refuses options that the method does not go with. */
enum gbm_status rt_refuse_beside(struct rt *rt, const char *method);
/* Whether all data have the powers: then the prior is what power 0 leaves. */
bool rt_all_raised(const struct rt_instance *in);
/* Fails if some node that is not observed has no draw from its prior. */
enum gbm_status rt_check_prior(struct rt *rt, const struct rt_instance *in,
                               const char *method);
/* "log_evidence": {"value": .., "se": ..}, null for what is no number; and what
 * the observed numbers are known by: evidence of the same can be compared. */
void rt_put_evidence(FILE *json, const struct gbm_draws *draws, double value,
                     double se);

#endif
