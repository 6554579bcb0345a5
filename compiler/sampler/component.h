/* component.h: what components of a mixture have, for the moves in which these
 * trade places, split and join (relabel.c, exchange.c, split.c). */
#ifndef GBMC_SAMPLER_COMPONENT_H
#define GBMC_SAMPLER_COMPONENT_H

#include "sampler/moves.h"

enum { MOST_CELLS = 16 };

/* A variable of which component k has the cells with subscript k. */
struct of_component {
    struct family *family; /* its first statement */
    int dim;
};

struct components {
    struct of_component cells[MOST_CELLS];
    int n;
};

/* The cells that component k has of v; NULL: v is not of components. */
const struct of_component *sampler_component_cells(const struct components *all,
                                                   const struct var *v);
/* Whether v is computed from labels z, or from what components have. */
bool sampler_follows_components(const struct model *m,
                                const struct components *all,
                                const struct var *z, const struct var *v);
/* Whether s draws the labels of rows, of which all values are tried. */
bool sampler_draws_labels(struct compiler *c, const struct model *m,
                          const struct step *s);

/* Two cells of v trade values. */
void sampler_emit_trade_cells(struct emitter *e, struct var *v,
                              const symp *first, const symp *second);
/* Labels a_ and b_ of family f trade rows. */
void sampler_emit_trade_rows(struct emitter *e, const struct family *f);
/* `held`: whether something is known of v. */
void sampler_emit_held(struct emitter *e, struct var *v);

#endif
