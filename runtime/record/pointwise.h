/* pointwise.h: the log likelihood of each observation at the draws, and their
 * deviance. */
#ifndef GBM_POINTWISE_H
#define GBM_POINTWISE_H

#include "io/draws.h"
#include "load/load.h"
#include "record/checkpoint.h"

#include <stdio.h>

/* An observation is an observed stochastic node: a scalar, or all of a vector.
 * The deviance is -2 times the sum of their log densities, as in JAGS, whose
 * nodes are observed throughout or not at all: what is observed in part has no
 * likelihood of its own here. */
struct rt_observation {
    int family;
    int64_t element, cell; /* its first cell */
};
struct rt_pointwise {
    int64_t count; /* 0: neither is asked for */
    struct rt_observation *items;
    bool kept;                       /* the log likelihoods are, draw by draw */
    int64_t deviance_at, log_lik_at; /* in a record; -1: not there */
    char *states;
    double *values; /* [chains][count] at the last draw */
    /* Sums of the random nodes over draws, for the deviance at their means: by
     * slot, [chains][cells], or NULL. `discrete`: some have no mean. */
    double **sums;
    int64_t nsums;
    bool discrete;
};

/* Adds to `draws` what in->deviance and --log-lik ask for; before it is
 * allocated. Fails if nothing is observed. */
enum gbm_status rt_pointwise_prepare(struct rt_pointwise *p, struct rt *rt,
                                     const struct rt_instance *in,
                                     struct gbm_draws *draws, FILE *notes);
void rt_pointwise_free(struct rt_pointwise *p, const struct rt_instance *in);
/* Completes draw `draw` of all chains from their state in in->slots. */
void rt_pointwise_keep(struct rt_pointwise *p, const struct rt_instance *in,
                       struct gbm_draws *draws, int draw, int threads);
/* Whether threads do well to complete a chain each. */
bool rt_pointwise_by_chains(const struct rt_pointwise *p,
                            const struct rt_instance *in, int threads);
/* The same of one chain; chains may be completed side by side. Who has
 * completed a draw of all of them adds it to p->nsums. */
void rt_pointwise_keep_chain(struct rt_pointwise *p,
                             const struct rt_instance *in,
                             struct gbm_draws *draws, int draw, int chain);
/* The deviance at the posterior means of the random nodes; NaN where these are
 * discrete or the model does not allow their means. The chains' state is as
 * before. */
double rt_pointwise_at_means(struct rt_pointwise *p,
                             const struct rt_instance *in, int threads);
/* For a checkpoint. */
void rt_pointwise_list(struct rt_pointwise *p, const struct rt_instance *in,
                       struct rt_pieces *pieces);

#endif
