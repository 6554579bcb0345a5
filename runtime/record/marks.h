/* marks.h: what --monitor and --moments name. */
#ifndef GBM_MARKS_H
#define GBM_MARKS_H

#include "rt.h"

/* The cells that a list marks, by variable. */
struct rt_marks {
    unsigned char **cells; /* [nvariables][cells], NULL where none is named */
    int *order, count;     /* variables in the order of their first mention */
};

/* Reads the list of an option ("--monitor"), which messages name. What is named
 * and not drawn is left out, with a note. `all` is all that is drawn;
 * `deviance`, unless a node is called so, sets *deviance, where that may be
 * named (not NULL). */
enum gbm_status rt_marks_read(struct rt *rt, const struct rt_instance *in,
                              const char *option, const char *list, FILE *notes,
                              struct rt_marks *marks, bool *deviance);
void rt_marks_free(const struct rt_instance *in, struct rt_marks *marks);

/* Can a variable be monitored: does the run draw or compute some of its cells?
 * And this cell, of one that can? */
bool rt_may_keep(const struct rt_instance *in, int variable);
bool rt_may_keep_cell(const struct rt_slot *slot, int64_t cell);

#endif
