/* psis.h: Pareto-smoothed importance sampling.
 *
 * Vehtari, Simpson, Gelman, Yao and Gabry (2024), Pareto smoothed importance
 * sampling, JMLR 25(72); the fit is of Zhang and Stephens (2009), A new and
 * efficient estimation method for the generalized Pareto distribution,
 * Technometrics 51(3), with the weak prior of the former's appendix. Values are
 * those of ArviZ and of R's loo. */
#ifndef GBM_PSIS_H
#define GBM_PSIS_H

#include <stdint.h>

/* Fits a generalised Pareto distribution of location 0 to n ascending positive
 * numbers: its shape and scale. */
void gbm_pareto_fit(const double *x, int64_t n, double *shape, double *scale);

/* Smooths n log weights in place and makes their exponentials sum to 1. Returns
 * the fitted shape k: infinite where the tail is too short to fit, NaN where
 * all weights are equal. `work`: [2 n]. */
double gbm_psis(double *log_weights, int64_t n, double reff, double *work);

/* log(sum(exp(x))) */
double gbm_log_sum_exp(const double *x, int64_t n);

#endif
