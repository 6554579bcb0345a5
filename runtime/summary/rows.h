/* rows.h: the rows of a summary, one after the other. Private to the summary.
 */
#ifndef GBM_ROWS_H
#define GBM_ROWS_H

#include "summary/summary.h"
#include "io/output.h"

/* One row: a drawn cell, or one with moments and no draws. */
struct gbm_row {
    char name[256];
    char label[256];   /* the name with labels for numbers: "theta[Choate]" */
    const char *array; /* of which it is a cell; as many as it has in all */
    int64_t cells;
    int64_t at; /* of a record; -1: it has moments only */
    struct gbm_diagnosis d;
};

struct gbm_rows {
    const struct gbm_summary *summary;
    int variable, moments; /* the next */
    int64_t cell;
    const struct gbm_draws_variable *same; /* that has draws, or NULL */
    bool all; /* with moments that are kept aside, too */
};

/* False after the last. */
bool gbm_rows_next(struct gbm_rows *at, struct gbm_row *row);
/* Whether --show names it; all are shown if there is no list. */
bool gbm_row_shown(const struct gbm_view *view, const struct gbm_row *row);
/* Rows of moments without draws. */
int64_t gbm_rows_of_moments(const struct gbm_draws *draws);

/* warnings.c. The least effective sample and the largest R-hat, as a member of
 * a JSON object. */
void gbm_worst_write(const struct gbm_summary *summary, struct rt_out *out);
void gbm_warnings_print(const struct gbm_summary *summary, FILE *out);

#endif
