/* batch.h: what a batch knows of its runs. */
#ifndef GBM_BATCH_H
#define GBM_BATCH_H

#include <stdbool.h>
#include <stdio.h>

/* What a summary's JSON says of a run; NaN and "" where it says nothing. */
struct figures {
    double ess, rhat, seconds, evidence, evidence_se, loo, loo_se;
    char ess_of[64], rhat_of[64];
};

/* A model with a data set. */
struct fit {
    const char *model, *data; /* data may be NULL */
    char name[200];           /* that its files have */
    int status;               /* the exit status; -1: was not run */
    bool stopped;             /* by a signal */
    struct figures figures;
};

/* batch_table.c */
void figures_read(struct figures *figures, const char *file);
void table_print(const struct fit *fits, int nfits, FILE *out);
/* As CSV, with all that is known; false, and a message, if it cannot be. */
bool table_write(const struct fit *fits, int nfits, const char *file);

#endif
