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
/* sweep.c: --emit=sweep: the steps and their phases. */
void sweep_print(struct text *out, struct compiler *c, const struct model *m);
/* What a step draws, or computes; how; of how many elements. */
const char *step_variables(struct compiler *c, const struct step *s);
const char *step_sampler(struct compiler *c, const struct step *s);
const char *step_elements(struct compiler *c, const struct step *s);
/* Words of s in lines as wide as a page, the first from column `at` on, the
 * others from `indent`. */
void print_wrapped(struct text *out, const char *s, size_t at, size_t indent);
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
