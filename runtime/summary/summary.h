/* summary.h: the posterior summary, for people and for programs. */
#ifndef GBM_SUMMARY_H
#define GBM_SUMMARY_H

#include <stdint.h>
#include <stdio.h>

#include "summary/diagnostics.h"
#include "io/draws.h"

/* Diagnosis of every drawn cell, then the moments-only cells. */
struct gbm_summary {
    const struct gbm_draws *draws;   /* borrowed */
    int64_t count;                   /* draws->quantities */
    struct gbm_diagnosis *diagnoses; /* [count], order of a record */
};

/* Diagnoses every cell, in parallel over cells. */
enum gbm_status gbm_summarise(struct gbm_summary *summary,
                              const struct gbm_draws *draws,
                              char error[GBM_ERROR]);
void gbm_summary_free(struct gbm_summary *summary);

/* Smallest ESS (bulk or tail) and largest R-hat over all cells, for --until
 * and for exit messages; NaN ones (constants) are left out. */
void gbm_summary_worst(const struct gbm_summary *summary, double *ess,
                       double *rhat);

/* modes.c. Chains by the modes that they stay in; of more chains than this all
 * are taken for one. */
#define GBM_MODES_CHAINS 64
struct gbm_modes {
    int chains, count; /* 1: no chain is apart from the others */
    int *group;        /* [chains] mode of a chain */
    int *size;         /* [count] chains of a mode */
    int main;          /* the mode of most chains */
    double *lp;        /* [count] mean log density; NaN: not known */
    int64_t cell;      /* of a record: the quantity that differs most */
    double *value;     /* [count] its means */
};
enum gbm_status gbm_find_modes(struct gbm_modes *modes,
                               const struct gbm_summary *summary);
void gbm_modes_free(struct gbm_modes *modes);

/* Prints the table and, below it, warnings in plain words. At most `max_rows`
 * rows (0: no limit, negative: the default 60); says how many were left out. */
void gbm_summary_print(const struct gbm_summary *summary, FILE *out,
                       int64_t max_rows);

/* The same as JSON: {"timing": {...}, "parameters": {"theta[3]": {...}}}, with
 * what `criteria` tell beside, if not NULL. What is not defined is null.
 * Temporary name, then renamed. */
struct gbm_criteria;
enum gbm_status gbm_summary_write(const struct gbm_summary *summary,
                                  const struct gbm_criteria *criteria,
                                  const char *path, char error[GBM_ERROR]);

#endif
