/* component.h: what components of a mixture have, for the moves in which these
 * trade places, split and join (relabel.c, exchange.c, split.c), and rows of
 * labels, for moves of a row. */
#ifndef GBMC_SAMPLER_COMPONENT_H
#define GBMC_SAMPLER_COMPONENT_H

#include "sampler/moves.h"

enum { MOST_CELLS = 16 };

/* A variable of which component k has the cells with subscript k. */
struct of_component {
    struct family *family; /* its first statement */
    int dim;
    unsigned also; /* a bit for each further subscript that is a component's:
                      of P[z[i],z[j]] component k has row and column k */
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
/* Whether s draws nodes of rows, of which all values are tried; labels of
 * components. */
bool sampler_draws_rows(struct compiler *c, const struct model *m,
                        const struct step *s);
bool sampler_draws_labels(struct compiler *c, const struct model *m,
                          const struct step *s);

/* one_row.c. The dimension of v's subscript that is the row; -1: v has no nodes
 * of rows. */
typedef int sampler_row_of(const void *own, const struct var *v);
bool sampler_same_ends(const struct loop *a, const struct loop *b);
/* The loop of g's instances that is the row; NULL: one reads several rows, or
 * its rows are not those of `row`. */
struct loop *sampler_row_loop(const struct factor *g, sampler_row_of *row_of,
                              const void *own, const struct loop *row);
/* The instances of g of one row, where l is the loop of its rows. */
struct part *sampler_row_part(struct compiler *c, struct factor *g,
                              const struct loop *l, struct loop *row);
/* density_: of a step's parts, which are those of the element's row. */
void sampler_emit_row_density(struct compiler *c, struct text *out,
                              const struct step *s);

/* Two cells of v trade values. */
void sampler_emit_trade_cells(struct emitter *e, struct var *v,
                              const symp *first, const symp *second);
/* Labels a_ and b_ of family f trade rows. */
void sampler_emit_trade_rows(struct emitter *e, const struct family *f);
/* `held`: whether something is known of v. */
void sampler_emit_held(struct emitter *e, struct var *v);

#endif
