/* summary.h: the posterior summary, for people and for programs. */
#ifndef GBM_SUMMARY_H
#define GBM_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "summary/diagnostics.h"
#include "io/draws.h"

/* What a person asks to see; zeros are the defaults. */
enum { GBM_QUANTILES = 16, GBM_TITLE = 24 };
enum gbm_sorting {
    GBM_BY_MODEL, /* as in the model */
    GBM_BY_NAME,
    GBM_BY_RHAT, /* the largest first */
    GBM_BY_ESS   /* the smallest first */
};
struct gbm_view {
    int nquantiles;                  /* 0: 5, 50 and 95 */
    double quantiles[GBM_QUANTILES]; /* percent */
    double hdi; /* mass of the interval of highest density; 0: none */
    enum gbm_sorting order;
    int digits;       /* significant ones of an sd; 0: 3 */
    const char *show; /* names of what has rows; "all": everything has; NULL:
                         large arrays are folded */
    int64_t rows;     /* of the table, at most; 0: 60, or all that `show` names;
                         negative: no limit */
};
/* Intervals' ends and quantiles that it asks for; the title of one, in a table
 * ("2.5%") or as a key ("q2.5"). */
int gbm_view_intervals(const struct gbm_view *view);
void gbm_view_title(const struct gbm_view *view, int k, bool key,
                    char out[GBM_TITLE]);
/* These of n numbers, which are sorted then; NaN if one is. */
void gbm_intervals(const struct gbm_view *view, double *x, int64_t n,
                   double *out);

/* Diagnosis of every drawn cell, then the moments-only cells. */
struct gbm_summary {
    const struct gbm_draws *draws;   /* borrowed */
    int64_t count;                   /* draws->quantities */
    struct gbm_diagnosis *diagnoses; /* [count], order of a record */
    struct gbm_view view;
    double *intervals; /* [count][intervals of the view]; or NULL */
};

/* Diagnoses every cell, in parallel over cells. */
enum gbm_status gbm_summarise(struct gbm_summary *summary,
                              const struct gbm_draws *draws,
                              char error[GBM_ERROR]);
/* Sets what is to be seen, and computes it where a diagnosis has it not. */
enum gbm_status gbm_summary_view(struct gbm_summary *summary,
                                 const struct gbm_view *view,
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

/* Prints the table and, below it, one line of verdict and warnings in plain
 * words; says how many rows were left out. */
void gbm_summary_print(const struct gbm_summary *summary, FILE *out);

/* The same as JSON: {"timing": {...}, "parameters": {"theta[3]": {...}}}, with
 * what `criteria` tell beside, if not NULL. What is not defined is null.
 * Temporary name, then renamed. */
struct gbm_criteria;
enum gbm_status gbm_summary_write(const struct gbm_summary *summary,
                                  const struct gbm_criteria *criteria,
                                  const char *path, char error[GBM_ERROR]);

#endif
