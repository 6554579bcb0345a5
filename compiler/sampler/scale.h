/* scale.h: moves of latent normals and of what stands in their means by one
 * number. */
#ifndef GBMC_SAMPLER_SCALE_H
#define GBMC_SAMPLER_SCALE_H

#include "sampler/group.h"

/* The prior of one of the step's families, as a function of the number. */
struct scale_term {
    struct family *family;
    struct part *part;         /* all its instances */
    struct scaled_terms terms; /* of an instance */
    struct step *latent; /* the step that draws it, if a latent normal; or NULL
                          */
    int square; /* then the one of terms that the draw leaves a residual of: its
                   own distance from the mean; -1: none */
    /* of effects that move with one of a plate of nodes: the loop of theirs
     * that the node settles, and its value there; or NULL */
    const struct loop *tied;
    symp tied_to;
    struct scale_term *next;
};

struct scaling {
    struct scale_term *terms;
    bool linear; /* some term is, beside the square: the density is no gamma */
    struct slot *number; /* what all was multiplied by, if the device asks */
    const struct family *divided; /* by the number: opposite.c; or NULL */
    struct slot *tuning;          /* then what tells whether the move pays */
};

/* The prior of f as such a function where `vars` are multiplied, a plain one
 * that no draw leaves a residual of; NULL: it is none. */
struct scale_term *sampler_scale_term(struct compiler *c, struct model *m,
                                      const struct var_list *vars,
                                      struct family *f);

/* scale_program.c */
void sampler_emit_scale(struct compiler *c, struct text *out, struct step *s);

#endif
