/* sweep.h: the order of the steps, and what is computed before them. */
#ifndef GBMC_SWEEP_SWEEP_H
#define GBMC_SWEEP_SWEEP_H

#include "sampler/sampler.h"

/* row_sums.c: terms that are sums over rows of data, from sums computed at
 * load. */
void sum_rows(struct compiler *c, struct model *m);

/* copies.c: rows that are the same, evaluated once. */
void count_copies(struct compiler *c, struct model *m);
enum { COMPARED_MOST = 20000 }; /* rows beyond are taken once each */

/* plan.c: the order of the sweep, inverse indices, derived nodes to keep. */
void plan(struct compiler *c, struct model *m);

/* ---- hoist.c ------------------------------------------------------------ */
/* An opaque part made ready for many trial values: `value` i is computed once
 * per update (and per instance, if `column`) and called name[i] in `body`, the
 * log density of an instance up to a constant, in the target and `moved`, the
 * target less its old value. */
#define HOISTED_MOST 24

struct hoisted {
    symp value[HOISTED_MOST], body;
    symp slope; /* of further terms, linear in the target; or NULL */
    const char *name[HOISTED_MOST];
    bool column[HOISTED_MOST];
    int n;
    bool loop;  /* there may be many instances */
    bool moved; /* body asks for it */
};
void hoist(struct compiler *c, struct model *m);
/* For --emit=plan. */
void hoisted_print(struct text *out, struct compiler *c, const struct step *s);

#endif
