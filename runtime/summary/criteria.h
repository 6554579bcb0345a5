/* criteria.h: how well a model predicts: LOO, WAIC and DIC.
 *
 * Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using
 * leave-one-out cross-validation and WAIC, Statistics and Computing 27.
 * Spiegelhalter, Best, Carlin and van der Linde (2002), Bayesian measures of
 * model complexity and fit, JRSS B 64. On the log scale; values are ArviZ's,
 * whose variances divide by n (R's loo divides by n - 1). */
#ifndef GBM_CRITERIA_H
#define GBM_CRITERIA_H

#include "summary/summary.h"
#include "io/output.h"

/* One observation. */
struct gbm_prediction {
    double lppd; /* log of the mean density over the draws */
    double loo;  /* the same given the other observations alone */
    double k; /* the Pareto shape behind it; NaN: its likelihood is constant */
    double p_waic;
};

/* A sum over n observations, and its standard error: as in loo 2.5 and
 * ArviZ 1.3 variances have n - 1. */
struct gbm_estimate {
    double value, se;
};

struct gbm_criteria {
    const struct gbm_draws *draws; /* borrowed */
    int64_t count;                 /* observations; 0: no log likelihoods */
    struct gbm_prediction *points; /* [count] */
    struct gbm_estimate elpd_loo, p_loo, elpd_waic, p_waic;
    double reff;   /* relative efficiency of the draws */
    double good_k; /* elpd_loo is reliable up to here */
    /* NaN where not known. pd = mean deviance - deviance at the means of the
     * random nodes; pv = half the deviance's variance, mean over chains. */
    double mean_deviance, pd, pv;
};

/* What the draws of a summary tell, in parallel over observations. */
enum gbm_status gbm_criteria_find(struct gbm_criteria *criteria,
                                  const struct gbm_summary *summary,
                                  char error[GBM_ERROR]);
void gbm_criteria_free(struct gbm_criteria *criteria);

/* The estimate of a sum of n numbers. */
struct gbm_estimate gbm_estimate_sum(const double *x, int64_t n);

/* Name of an observation: "y[3]". */
void gbm_criteria_name(const struct gbm_criteria *criteria, int64_t i,
                       char *out, size_t capacity);

/* criteria_print.c. For people, with warnings in plain words; and members of a
 * JSON object, each line with a comma behind it. Nothing where there is
 * nothing to tell. */
void gbm_criteria_print(const struct gbm_criteria *criteria, FILE *out);
void gbm_criteria_write(const struct gbm_criteria *criteria,
                        struct rt_out *out);

#endif
