/* directions.h: R-hat along the principal axes of the posterior. */
#ifndef GBM_DIRECTIONS_H
#define GBM_DIRECTIONS_H

#include "io/draws.h"

/* So many cells have a covariance whose axes are looked at. */
enum { GBM_DIRECTIONS_MOST = 2000 };

/* Cells of a record that are no integers, log likelihoods apart. */
int64_t gbm_directions_cells(const struct gbm_draws *draws);

/* The largest R-hat along an eigenvector of these cells' covariance, pooled
 * over chains. Left out are directions that have no variance but what rounding
 * left, as where a cell is a linear function of others. NaN: there is none, or
 * a draw is not finite. */
enum gbm_status gbm_directions_rhat(const struct gbm_draws *draws, double *rhat,
                                    char error[GBM_ERROR]);

#endif
