/* guide.h: what the files of --proposal guided share: guide.c, guide_laws.c and
 * guide_vector.c. */
#ifndef GBM_GUIDE_H
#define GBM_GUIDE_H

#include "filter/filter.h"

/* What log densities that are of a family may differ from it by: of their
 * range, and of themselves. */
#define RT_GUIDE_NEARLY 1e-6
#define RT_GUIDE_ROUNDING 1e-11

/* The state of an act, of one particle. */
struct rt_guide {
    const struct rt_filter *f;
    const void *state;
    struct gbm_rng *rng;
    const struct gbm_family *family;
    const struct rt_slot *slot;
    bool integer, whole; /* cells are int; values are whole */
    int64_t act, element;
    const int64_t *cell; /* [n] */
    int n, particle;
};

/* The log of the state's own density at x [n], and with that of what hangs on
 * it; -inf where either is not finite. */
double rt_guide_density(const struct rt_guide *g, const double *x, double *own);
/* x [n]: a draw from the model. */
void rt_guide_try(const struct rt_guide *g, double *x);

/* guide_laws.c */
/* log density(x) = constant + a first(x) + b second(x) */
struct rt_guide_law {
    double low, high; /* its support */
    void (*statistics)(double x, double t[2]);
    bool (*parameters)(double a, double b, double p[2]);
    double (*draw)(struct gbm_rng *rng, const double p[2]);
    double (*logdensity)(double x, const double p[2]);
    /* Between these nearly all draws are. */
    void (*ends)(const double p[2], double ends[2]);
};
extern const struct rt_guide_law rt_guide_laws[RT_LAWS];

/* guide_vector.c. Draws a vector; false: it is not normal given what hangs on
 * it. *weight: the log of its own density over that of what it was drawn from,
 * less that of what hangs on it. */
bool rt_guide_vector(const struct rt_guide *g, double *weight);

#endif
