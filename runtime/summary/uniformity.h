/* uniformity.h: whether ranks are uniform, as simulation-based calibration
 * asks.
 *
 * Talts, Betancourt, Simpson, Vehtari and Gelman (2018), Validating Bayesian
 * inference algorithms with simulation-based calibration, arXiv:1804.06788;
 * Sailynoja, Buerkner and Vehtari (2022), Graphical test for discrete
 * uniformity and its applications in goodness-of-fit evaluation and multiple
 * sample comparison, Statistics and Computing 32. */
#ifndef GBM_UNIFORMITY_H
#define GBM_UNIFORMITY_H

#include "base/status.h"

#include <stdbool.h>

/* n ranks of 0 ... most. The empirical distribution function is looked at
 * `points` times: how many ranks are below cut[i]. */
struct gbm_uniformity_plan {
    int n, most, points;
    int *cut;              /* [points] ascending, 1 ... most */
    double *log_factorial; /* [n + 1] */
};
/* False if there is no memory. */
bool gbm_uniformity_plan(struct gbm_uniformity_plan *plan, int n, int most);
void gbm_uniformity_free(struct gbm_uniformity_plan *plan);

/* Probabilities of what is at least as far from uniform, by chance. */
struct gbm_uniformity {
    double chi_square, chi_p; /* of counts in bins, `bins` of them */
    int bins;
    double ecdf_p; /* of the point where the distribution function is least
                      probable, exact */
    int worst;     /* that point */
    /* In standard errors: ranks too high; too many far from the middle. */
    double location_z, spread_z;
};
/* False if there is no memory. */
bool gbm_uniformity(const struct gbm_uniformity_plan *plan, const int *ranks,
                    struct gbm_uniformity *out);

/* Counts of ranks below the cuts that uniform ranks all keep to with
 * probability 1 - alpha or more: low[i] ... high[i]. False if there is no
 * memory. */
bool gbm_uniformity_band(const struct gbm_uniformity_plan *plan, double alpha,
                         int *low, int *high);

#endif
