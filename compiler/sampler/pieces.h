/* pieces.h: matrices of two labels that are written cell by cell. */
#ifndef GBMC_SAMPLER_PIECES_H
#define GBMC_SAMPLER_PIECES_H

#include "sampler/component.h"

enum { MOST_PIECES = 32 };

/* A drawn cell, and what it becomes: another one, or 1 - that. */
struct piece {
    symp cell, from;
    bool complement;
};

/* Of matrices P[z[i-1], z[i]]; the cells all change at once. */
struct pieces {
    struct piece of[MOST_PIECES];
    int n;
};

/* Adds the cells of v, where subscripts in `dims` are one of two labels: each
 * becomes what the cell at the other labels is. False: that is no way. */
bool sampler_add_pieces(struct compiler *c, const struct model *m,
                        struct pieces *all, struct var *v, unsigned dims);
/* Whether none before it is of the same variable. */
bool sampler_first_of_variable(const struct pieces *all, int i);
/* The statements that change all; `held` where one is too near its end. */
void sampler_emit_pieces(struct emitter *e, const struct pieces *all);
void sampler_emit_pieces_held(struct emitter *e, const struct pieces *all);

#endif
