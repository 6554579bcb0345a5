/* exchange.h: components that trade places, which they are and how. */
#ifndef GBMC_SAMPLER_EXCHANGE_H
#define GBMC_SAMPLER_EXCHANGE_H

#include "sampler/component.h"
#include "sampler/pieces.h"
#include "sampler/turned.h"

struct exchange {
    struct compiler *c;
    struct model *m;
    struct step *labels;          /* draws them, or the last of those that do */
    symp first, end[MAX_MEMBERS]; /* the first label; the last one, as each
                                     statement of labels has it */
    int nends;
    struct components has;
    struct turned turned; /* of two labels: numbers that go with them */
    struct pieces pieces; /* of two labels, where these are told apart: cells */
    bool told;            /* the labels' own densities tell them apart */
    bool ends;            /* where some density is 0 tells components apart */
    bool more, failed;
};

/* The drawn elements of a matrix of which the others are the mirror image;
 * NULL: v is none. */
struct var *sampler_exchange_drawn(const struct exchange *k,
                                   const struct var *v);

/* exchange_program.c: its functions. */
void sampler_emit_exchange(struct compiler *c, struct text *out,
                           struct step *s);

#endif
