/* carried.h: moves of a plate with a node of its prior. */
#ifndef GBMC_SAMPLER_CARRIED_H
#define GBMC_SAMPLER_CARRIED_H

#include "sampler/translation.h"

/* What reads the plate or the node: the instances of a factor, its log density
 * where they are moved to, by_ along the line, a scale to value_. */
struct reader {
    struct part *part;
    symp linear, quadratic; /* the coefficients of by_ and its square, if that
                               is all, and of log(1 + by_); or NULL */
    symp logarithm;
    struct reader *next;
};

struct carried {
    struct compiler *c;
    struct model *m;
    struct family *plate, *node;
    symp component; /* of a plate of vectors, the one that moves: the node's
                       loop, or a number; NULL: a plate of numbers */
    symp seen;  /* the node, or the element of a plate of them, as the plate's
                   prior reads it: each of its subscripts is a loop there, or
                   a number: sd[2] of x[i] ~ dnorm(0, pow(sd[2], -2)) */
    bool swept; /* the last of these is that of a sum in the mean */
    double
        power;  /* of the scale in the precision; 0: the node is in the mean */
    symp prior; /* log density of a cell without what its bounds leave out */
    symp along; /* how a cell moves with by_, in its own loops */
    symp from;  /* of a walk, the element in front of a cell's chain, which
                   stays, in the cell's loops; NULL: cells do not read others */
    struct part *cells; /* all instances of the plate's prior */
    struct reader *readers;
};

static inline const struct carried *carried_of(const struct step *s)
{
    return s->own;
}

/* carried_readers.c */
symp sampler_carried_node(const struct carried *k);
symp sampler_carried_cell(const struct carried *k);
symp sampler_carried_value(
    struct compiler *c); /* of a scale, where it is moved to */
/* The power of exp(t) in the scale; 0: of a mean. */
double sampler_carried_ratio(const struct carried *k);
/* Whether the cells are multiplied, as their prior is about 0. */
bool sampler_carried_about_zero(const struct carried *k);
/* The number that subscript d of the moved element is; NULL: a loop. */
symp sampler_carried_fixed(const struct carried *k, int d);
/* The dimension of f's variable whose subscript is the loop; -1: none. */
int sampler_dimension_of(const struct family *f, const struct loop *l);
/* Whether an expression reads the plate or the node; what is kept in memory of
 * these. */
bool sampler_carried_reads(const struct carried *k, symp e);
bool sampler_carried_follows(const struct carried *k, symp e);
/* The plate's prior, and what reads the plate or the node, as instances of the
 * node's element. False: something reads them in a way that is not followed,
 * or nothing reads the plate. */
bool sampler_find_carried_readers(struct carried *k);

/* carried_walk.c: whether the plate is a random walk, x[t] of x[t - 1], with
 * all other elements of its variable in front of it: what is in front of a
 * cell's chain; NULL: it is not. */
symp sampler_walk_from(struct compiler *c, const struct family *f);

/* carried_vector.c: a plate of vectors, without bounds; the dimension of their
 * components; whether the node is the scale of one. */
bool sampler_is_vector_plate(const struct model *m, const struct family *f);
int sampler_component_of(const struct family *f);
bool sampler_fits_vectors(struct carried *k);

/* carried_program.c */
void sampler_emit_carried(struct compiler *c, struct text *out, struct step *s);
void sampler_emit_carried_kernels(struct compiler *c, struct text *out,
                                  const struct step *s);
/* Whether a lane alone can go along the line, once its sums are known. */
bool sampler_carried_splits(const struct step *s);
/* Whether the line is a quadratic and no more. */
bool sampler_carried_closed(const struct carried *k);

#endif
