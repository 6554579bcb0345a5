/* mirror.h: numbers whose signs change at once, which they are and how. */
#ifndef GBMC_SAMPLER_MIRROR_H
#define GBMC_SAMPLER_MIRROR_H

#include "sampler/component.h"

enum { MOST_MIRRORED = 4, MOST_EVALUATED = 8 };

struct mirror {
    struct compiler *c;
    const struct model *m;
    struct var *vars[MOST_MIRRORED]; /* whose cells change sign */
    int dim[MOST_MIRRORED]; /* of the subscript by which those of a row do; -1:
                               all do */
    int n;
    struct loop *row; /* of the first one's rows; NULL: all change at once */
    struct var *sign; /* a name for a row's sign */
    bool bits;        /* they are 0s and 1s, which are 1 less what they were */
    bool told; /* some cells have a sign that is fixed: what reads the others
                  tells */
    const struct factor *evaluated[MOST_EVALUATED]; /* priors that tell */
    int nevaluated, tries;
};

/* Whether a sign changes without the densities of all, often: warm-up says. */
bool sampler_mirror_asks(const struct mirror *k);
/* Whether the node is one that may change its sign. */
bool sampler_may_mirror(const struct mirror *k, const struct family *f);
/* The loop of f's rows, k's variable number i; NULL: its subscript is another.
 */
struct loop *sampler_mirror_row(const struct mirror *k, const struct family *f,
                                int i);

/* mirror_algebra.c. The number of v among these; -1: it is none. Whether e
 * reads some; whether it is the same with any signs. */
int sampler_mirror_place(const struct mirror *k, const struct var *v);
bool sampler_mirror_reads(const struct mirror *k, symp e);
bool sampler_mirror_stays(const struct mirror *k, symp e);

/* mirror_program.c: its functions. */
void sampler_emit_mirror(struct compiler *c, struct text *out, struct step *s);

#endif
