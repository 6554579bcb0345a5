/* along.h: moves of many numbers at once, along lines that warm-up learns. */
#ifndef GBM_HOST_ALONG_H
#define GBM_HOST_ALONG_H

#include "rt.h"

enum {
    ALONG_CELLS = 300,  /* numbers that may move; more: there are no moves */
    ALONG_CHOSEN = 24,  /* of these, whose ties are learnt */
    ALONG_LINES = 4,    /* of a chain */
    ALONG_ROWS = 512,   /* sweeps that lines are learnt from, at most */
    ALONG_WARMUP = 400, /* sweeps of warm-up, at least */
    ALONG_TRIALS = 6    /* densities that a slice evaluates, about */
};

/* Of one chain. A line is how far each number moves, in its own scale, the
 * logarithm of one that is positive. */
struct along_chain {
    int nlines, nchosen;
    int rows;     /* of the history */
    double first; /* sweeps that the slowest sum took before there were lines */
    int chosen[ALONG_CHOSEN];
    double line[ALONG_LINES][ALONG_CELLS];
    double width[ALONG_LINES]; /* of the slices */
};

/* along_learn.c. What `rows` states [rows][n], one each `stride` sweeps, say of
 * the lines of a chain. `cost`: of a move along one line, in sweeps.
 * The `last` time lines go if what is slowest with them is not faster, by more
 * than they cost. The history is spent. */
void along_learn(struct along_chain *chain, double *history, int n, int stride,
                 double cost, bool last);

#endif
