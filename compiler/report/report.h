/* report.h: the plan for people. */
#ifndef GBMC_REPORT_REPORT_H
#define GBMC_REPORT_REPORT_H

#include "sampler/joint.h"

void conditionals_print(struct text *out, struct compiler *c,
                        const struct model *m);

/* explain.c: the plan for a person: what is drawn how, and why. */
void explain(struct text *out, struct compiler *c, const struct model *m);
/* --emit=plan: the same with buffers, inverse indices and the order. */
void plan_print(struct text *out, struct compiler *c, const struct model *m);
/* The loops that a part's instances run through, in words; "" if there is one.
 */
const char *part_sum(struct compiler *c, const struct part *p);
/* "inverse gamma", "Gaussian block", "slice" */
const char *sampler_word(struct compiler *c, const struct step *s);

/* dag.c: the planned model as a Graphviz graph; plates are clusters. */
void draw_dag(struct text *out, struct compiler *c, const struct model *m);
/* Writes it to options.dag: a graph, or a picture if that ends in .svg. False
 * if it failed, which is then reported. */
bool write_dag(struct compiler *c, const struct model *m);

#endif
