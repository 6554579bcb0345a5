/* gradient.h: the model's log density as a smooth function of free real
 * numbers, one for each degree of freedom of what is unknown, with its
 * gradient. Needs a program that was compiled with gradients. */
#ifndef GBM_GRADIENT_H
#define GBM_GRADIENT_H

#include "load/load.h"

/* ---- support.c: how free numbers make an element. Stan reference manual,
 * "Constraint transforms". */
struct rt_support_map {
    /* How many make so many cells. */
    int (*dimension)(int ncells);
    /* x [n] of u, and what |dx/du| adds to *log_jacobian. `lower`, `upper`: of
     * a scalar. */
    void (*constrain)(int n, const double *u, double lower, double upper,
                      double *x, double *log_jacobian);
    void (*release)(int n, const double *x, double lower, double upper,
                    double *u);
    /* The adjoint of u from that of x, which it may change, and those of the
     * bounds, to be added; with those of the log Jacobian. */
    void (*back)(int n, const double *u, double lower, double upper,
                 bool jacobian, double *adjoint_x, double *adjoint_u,
                 double *of_lower, double *of_upper);
};
/* NULL: none is known. */
const struct rt_support_map *rt_support_map(enum gbm_support support);
/* correlation.c: of the supports GBM_SUPPORT_CORRELATION... */
const struct rt_support_map *rt_correlation_map(enum gbm_support support);

/* ---- unknowns.c: what is unknown, and its free numbers. */
struct rt_unknown {
    int family;
    int64_t element;
    const struct rt_support_map *map;
    int dimension, ncells;
    int64_t first; /* of its free numbers */
    int64_t cells; /* place of its cells in `cells` */
};
struct rt_unknowns {
    const struct rt_instance *in;
    struct rt_unknown *items; /* by family, in their order */
    int64_t n, dimension, capacity;
    int64_t *cells, ncells, cells_capacity;
    int64_t *of_family; /* [nfamilies + 1] items of each */
    /* Random elements of a family that are no part of the density, as they are
     * drawn forward; NULL: there are none. */
    unsigned char **forward;
    /* Elements that have no derivatives. */
    struct rt_discrete {
        int family;
        int64_t element;
    } * discrete;
    int64_t ndiscrete, discrete_capacity;
    bool jacobian; /* the density is that of the free numbers */
};
/* An error, which names it, if something has no free numbers. */
enum gbm_status rt_unknowns_create(struct rt *rt, const struct rt_instance *in,
                                   const void *state, struct rt_unknowns *u);
void rt_unknowns_free(struct rt_unknowns *u);
/* Name of the element's cell that free number i is closest to: of a simplex's
 * first, its first. */
void rt_unknown_name(const struct rt_unknowns *u, int64_t i, char *out,
                     size_t capacity);

/* That cell's value in a chain. */
double rt_unknown_value(const struct rt_unknowns *u, int chain, int64_t i);

/* ---- gradient.c: one chain's density. */
struct rt_gradient {
    const struct rt_unknowns *unknowns;
    void *state;    /* bound to its chain */
    void *adjoints; /* the same of the derivatives */
    double **cells; /* [nvariables] of these, or NULL */
    int chain;
    double *x, *slope; /* room for the largest element */
    /* Not NULL: elements, [family][element], that are no part of the density
     * here; and what is added to it and, with `slopes`, to the adjoints. */
    unsigned char *const *apart;
    double (*more)(void *context, struct rt_gradient *g, bool slopes);
    void *context;
    int64_t evaluations;
};
bool rt_gradient_create(struct rt_gradient *g, const struct rt_unknowns *u,
                        int chain);
void rt_gradient_free(struct rt_gradient *g);
/* The free numbers of the state. */
void rt_gradient_release(struct rt_gradient *g, double *u);
/* Puts them into the state, with all that is derived; the log Jacobian. */
double rt_gradient_constrain(struct rt_gradient *g, const double *u);
/* A sum with the rounding errors of its additions (Neumaier 1974): a maximum
 * shows in the last digits. */
struct rt_sum {
    double sum, lost;
};
void rt_sum_add(struct rt_sum *to, double term);
double rt_sum_of(const struct rt_sum *s);
/* That of the state as it is, of the model's own nodes, but for elements that
 * are apart. */
double rt_gradient_density(const struct rt_gradient *g);
/* The log density at u, its gradient if `slope` is not NULL. Not a finite
 * number: -infinity, or infinity where it is that. */
double rt_gradient_at(struct rt_gradient *g, const double *u, double *slope);

/* ---- lbfgs.c */
enum rt_ascent {
    RT_ASCENT_CONVERGED, /* no more to gain than rounding */
    RT_ASCENT_STUCK,     /* no step upwards was found, though there should be */
    RT_ASCENT_UNBOUNDED, /* towards infinity, in the value or the place */
    RT_ASCENT_LIMIT,     /* of iterations */
    RT_ASCENT_STOPPED    /* from outside */
};
typedef double rt_objective(void *context, const double *u, double *slope);
struct rt_lbfgs {
    int64_t n;
    rt_objective *objective;
    void *context;
    int most; /* iterations */
    bool (*stopped)(void);
    /* Whether u is beyond all that is finite, and which coordinate; or NULL. */
    bool (*outside)(void *context, const double *u, int64_t *which);
    int iterations;
    double value, decrement; /* what is about to be gained yet, times 2 */
    int64_t far; /* unbounded: the coordinate that is furthest out */
};
/* Climbs from u [n]; leaves the best in u. */
enum rt_ascent rt_lbfgs(struct rt_lbfgs *search, double *u);

#endif
