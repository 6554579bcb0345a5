/* report.h: the plan for people. */
#ifndef GBMC_REPORT_REPORT_H
#define GBMC_REPORT_REPORT_H

#include "sampler/joint.h"

void report_conditionals(struct text *out, struct compiler *c,
                         const struct model *m);

/* explain.c: the plan for a person: what is drawn how, and why. */
void report_explain(struct text *out, struct compiler *c,
                    const struct model *m);
/* --emit=plan: the same with buffers, inverse indices and the order. */
void report_plan(struct text *out, struct compiler *c, const struct model *m);
/* sweep.c: --emit=sweep: the steps and their phases. */
void report_sweep(struct text *out, struct compiler *c, const struct model *m);
/* What a step draws, or computes; how; of how many elements. */
const char *report_step_variables(struct compiler *c, const struct step *s);
const char *report_step_sampler(struct compiler *c, const struct step *s);
const char *report_step_elements(struct compiler *c, const struct step *s);
/* Words of s in lines as wide as a page, the first from column `at` on, the
 * others from `indent`. */
void report_print_wrapped(struct text *out, const char *s, size_t at,
                          size_t indent);
/* The loops that a part's instances run through, in words; "" if there is one.
 */
const char *report_part_sum(struct compiler *c, const struct part *p);
/* "inverse gamma", "Gaussian block", "slice" */
const char *report_sampler_word(struct compiler *c, const struct step *s);

/* Writes it to options.dag: a graph, or a picture if that ends in .svg. False
 * if it failed, which is then reported. */
bool report_write_dag(struct compiler *c, const struct model *m);

#endif
