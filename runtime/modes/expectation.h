/* expectation.h: discrete nodes that are independent given the rest, summed
 * out, or weighted by their probabilities. */
#ifndef GBM_EXPECTATION_H
#define GBM_EXPECTATION_H

#include "start/start.h"
#include "gradient/gradient.h"

/* A discrete element, and what depends on it. */
struct rt_site {
    int family;
    int64_t element, cell;
    int lowest, count; /* its values */
    int64_t weight;    /* place of the first one's weight */
    /* Elements as (family, element) pairs: derived ones that are kept, parents
     * before children, and random ones, itself first. */
    int64_t *derived, *terms;
    int64_t nderived, nterms;
};

struct rt_sites {
    const struct rt_instance *in;
    struct rt_site *items;
    int64_t n, nweights;
    unsigned char **apart; /* [nfamilies]: elements that are terms of one */
};

/* One chain's: the density with its sites summed out, by which the weights are
 * set, or its expectation under weights as they are. */
struct rt_expectation {
    const struct rt_sites *sites;
    double *weights, *logs; /* [nweights]; room for one site's */
    bool summed;            /* out; else by the weights */
};

/* An error, with the reason, where they are not independent given the rest or
 * have no finite support. */
enum gbm_status rt_sites_create(struct rt *rt, const struct rt_unknowns *u,
                                const void *state, struct rt_sites *sites);
void rt_sites_free(struct rt_sites *sites);
/* Makes g that density. */
bool rt_expectation_begin(struct rt_expectation *e, const struct rt_sites *s,
                          struct rt_gradient *g);
void rt_expectation_end(struct rt_expectation *e);
/* The log density at u with the sites summed out; sets the weights. */
double rt_expectation_density(struct rt_expectation *e, struct rt_gradient *g,
                              const double *u);
/* What of it site i adds, the state as it is but for the site. */
double rt_expectation_of_site(struct rt_expectation *e,
                              const struct rt_gradient *g, int64_t i);
/* Puts the most probable values into the state. */
void rt_expectation_choose(const struct rt_expectation *e,
                           const struct rt_gradient *g);

#endif
