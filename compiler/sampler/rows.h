/* rows.h: what a trial of many elements at once reads (rows.c), for the
 * functions around it (rows_program.c). */
#ifndef GBMC_SAMPLER_ROWS_H
#define GBMC_SAMPLER_ROWS_H

#include "sampler/sampler.h"

/* A loop of a trial: of a sum, or of a part's instances. */
struct row_turn {
    struct loop *loop;
    symp lower, upper;
    const char *index; /* in the trial's text, from 0 */
    int length;        /* number in struct row_writer */
};

enum row_kind { COLUMN, VALUE, ROOM };

/* Numbers that trials read: for each element, for each value, or in the trial's
 * own room. */
struct row_cells {
    enum row_kind kind;
    symp value;              /* NULL: the coefficient of a statistic, */
    int statistic;           /* this one; or room */
    const struct part *part; /* of a column: whose instance has to exist */
    struct row_turn turns[4];
    int nturns;
    bool triangle; /* of two turns alike: second up to first, each with its
                      mirror image */
    bool flag;     /* 1, or 0 where the part's instance does not exist */
    const char *name;
};

/* A sum that a trial has in a variable, within so many turns. */
struct row_sum {
    symp e;
    const struct part *part;
    const char *text;
    int nturns;
};

struct row_writer {
    struct compiler *c;
    struct step *s;
    struct emitter e; /* of the trial */
    const struct part *part;
    struct row_turn turns[4];
    int nturns;
    struct row_cells cells[48];
    int ncells;
    struct row_sum sums[8];
    int nsums;
    symp lengths[16];
    int nlengths;
    int degree;   /* of a density as a polynomial of columns, or more than 2 */
    bool crossed; /* columns are multiplied by others */
    bool declined;
};

/* rows.c: writes the densities of rows at one value of w's step to w->e, and
 * lists in w what they read; w->declined: there is no such text. */
void sampler_write_row_trial(struct row_writer *w);

#endif
