/* diagnostics.h: convergence diagnostics of one quantity.
 *
 * Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Rank-normalization,
 * folding, and localization: an improved R-hat, Bayesian Analysis 16(2). The
 * values agree with ArviZ and with R's `posterior`. */
#ifndef GBM_DIAGNOSTICS_H
#define GBM_DIAGNOSTICS_H

#include <stdint.h>

#include "base/status.h"

/* NaN stands for "not defined". */
struct gbm_diagnosis {
    double mean, sd;
    double mcse;         /* of the mean */
    double q5, q50, q95; /* type 7 quantiles */
    double ess_bulk, ess_tail;
    double rhat; /* larger of rank-normalised split and its folded form */
};

/* Scratch space and tables, for one thread, reused from call to call. */
struct gbm_diagnoser;
struct gbm_diagnoser *gbm_diagnoser_create(int chains, int draws);
void gbm_diagnoser_free(struct gbm_diagnoser *diagnoser);

/* Diagnoses one quantity. `x`: [chains][draws]. Draws that are all equal give
 * NaN for rhat, ess and mcse 0; any NaN or Inf gives NaN for all that it
 * touches. Needs 4 draws per chain for rhat and ess. */
void gbm_diagnose_with(struct gbm_diagnoser *diagnoser, const double *x,
                       struct gbm_diagnosis *out);

/* The same in one call; GBM_FAILURE if there is no memory. */
enum gbm_status gbm_diagnose(const double *x, int chains, int draws,
                             struct gbm_diagnosis *out);

/* R-hat from running moments alone, for nodes whose draws are not kept: of
 * `chains` sequences (give two halves of each chain for split R-hat) of n draws
 * each, with mean[chains] and variance[chains] (divisor n - 1). */
double gbm_rhat_moments(const double *mean, const double *variance, int chains,
                        int64_t n);

/* The smaller of both ESS. */
double gbm_least_ess(const struct gbm_diagnosis *d);

#endif
