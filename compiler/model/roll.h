/* roll.h: what is written out one by one, and what is alike in it: roll.c. */
#ifndef GBMC_MODEL_ROLL_H
#define GBMC_MODEL_ROLL_H

#include "model/model.h"

enum { ALIKE_LEAST = 8 }; /* a shorter list is left as it is written */

/* ---- roll_shape.c: what is left of a statement or a term without its numbers
 */

/* A number that is not part of the shape. */
struct hole {
    const struct expr *e; /* a number, or minus one */
    double number;
    bool subscript;
    bool given;   /* of nothing that a statement defines */
    int relation; /* the one of a statement on whose left it is, or -1 */
};
struct shape {
    const char *key; /* interned: without the holes */
    struct hole *holes;
    int n, capacity;
    int nrelations;
};
/* Interned, in the order of their addresses. */
struct defined {
    const char **at;
    int n, capacity;
};

/* Whether e is a call of that name. */
bool model_calls(const struct expr *e, const char *name, int nargs);
/* For qsort: names by their addresses. */
int model_compare_names(const void *a, const void *b);
struct shape model_shape_of_statement(struct compiler *c, const struct stmt *s);
struct shape model_shape_of_term(struct compiler *c,
                                 const struct defined *defined,
                                 const struct expr *e, bool negative);

/* ---- roll_run.c: things of one shape in a row ---- */

/* Things of one shape: statements, or terms. */
struct alike {
    int place; /* in their list */
    struct shape shape;
};
/* Some of them, in a row, that the numbers of hole `counter` count. */
struct run {
    const struct alike *first;
    int n, counter;
    bool by_lists; /* subscripts on the right may be listed, in a sum those of
                      given arrays */
    /* of each hole: slope and intercept, or a list */
    struct follows {
        bool listed;
        double slope, intercept;
    } * follows;
};
/* How the things of one shape are taken together: those that are not in runs
 * stay as they are. */
struct partition {
    struct run *runs;
    int nruns, covered;
};

/* By the counter that takes together most of n things, in the fewest runs. */
struct partition model_best_partition(struct compiler *c,
                                      const struct alike *alike, int n);
double model_number_at(const struct alike *a, int hole);

#endif
