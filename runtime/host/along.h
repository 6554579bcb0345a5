/* along.h: moves of many numbers at once, along lines that warm-up learns. */
#ifndef GBM_HOST_ALONG_H
#define GBM_HOST_ALONG_H

#include "rt.h"

enum {
    ALONG_CELLS = 300, /* numbers that may move; more: there are no moves */
    ALONG_CHOSEN = 24, /* of these, whose ties are learnt */
    ALONG_JUDGED = 2 * ALONG_CHOSEN, /* and others that lines must be worth it
                                        beside */
    ALONG_LINES = 4,
    ALONG_ROWS = 512,   /* sweeps of a chain to learn from, at most */
    ALONG_WARMUP = 400, /* sweeps of warm-up, at least */
    ALONG_LEAST = 8,    /* the same for tests: each moment has its sweep */
    ALONG_TRIALS = 6    /* densities that a slice evaluates, about */
};

/* Of all chains. A line is how far each number moves, in its own scale, the
 * logarithm of one that is positive. */
struct along_lines {
    int n, nchosen, njudged;
    int chosen[ALONG_JUDGED];    /* `nchosen` that move, then those that stay */
    double before[ALONG_JUDGED]; /* sweeps that these took without lines */
    double unseen; /* from here on such a time may be any longer one */
    double slow;   /* sweeps that the slowest of their sums took */
    double line[ALONG_LINES][ALONG_CELLS];
    /* Of the chosen numbers, in the sums that lines are of. */
    double weights[ALONG_LINES][ALONG_CHOSEN];
};

/* States of all chains, of each `rows`, one each `stride` sweeps, chain after
 * chain: first the `moving` numbers, then those that no line moves. */
struct along_history {
    double *x; /* [chains][rows][n] */
    int chains, rows, n, moving, stride;
    bool always; /* for tests: lines need not pay */
};

/* A number. */
struct along_place {
    int variable, family;
    int64_t cell, element;
};

/* An element of the joint density. */
struct along_item {
    int family;
    int64_t element;
};

struct along_count;

/* The moves of all chains. */
struct host_along {
    const struct rt_instance *in;
    int n, seen; /* places that move; with those that are learnt from */
    int warmup, stride;
    struct along_place place[ALONG_CELLS];
    bool positive[ALONG_CELLS];         /* these move on their logarithms */
    bool whole[ALONG_CELLS];            /* the integers below what moves */
    struct along_item *terms, *derived; /* of the joint density */
    int64_t nterms, nderived;
    struct along_count *summed; /* counts that are summed out */
    int64_t nsummed;
    int period;  /* lines are moved along each so many sweeps */
    double cost; /* of a line, in sweeps, for each sweep */
    bool always; /* lines are learnt whether they pay or not */
    struct along_lines lines;
    double (*widths)[ALONG_LINES]; /* [chains], of the slices */
    double *history;               /* [chains][ALONG_ROWS][seen] */
};

/* along_joint.c. The value of number k in a chain. */
double along_value(const struct host_along *a, int chain, int k);
void along_set(const struct host_along *a, int chain, int k, double x);
/* Lists what moves, and what follows; false: there is something that must not
 * move, or too much. Then, as far as there is room, counts that are not summed
 * out, which move, too; and other numbers that chains draw; which are positive;
 * and the cost of a move. */
bool along_list(struct host_along *a, const void *state);
void along_list_moved_counts(struct host_along *a, const void *state);
void along_list_others(struct host_along *a, const void *state);
void along_find_positive(struct host_along *a, const void *state);
double along_cost(const struct host_along *a, const void *state);

/* along_counts.c. Lists counts that are summed out of a move, those of whole
 * steps; false: no memory. Whether they are a family's. What a density costs by
 * them, in operations. Log probability of all of them as they are, given the
 * rest; NaN: there is none, and no move. Draws all of them given the rest. */
bool along_list_summed(struct host_along *a, const void *state);
bool along_sums_out(const struct host_along *a, int family);
double along_cost_of_summed(const struct host_along *a);
double along_log_summed(const struct host_along *a, const void *state);
void along_draw_summed(const struct host_along *a, const void *state,
                       struct gbm_rng *rng);

/* along_history.c. Sweeps `done` of a chain: its state is one to learn from. */
void along_record(struct host_along *a, int chain, int done);

/* along_learn.c. What states say of the lines. `cost`: of a move along one, in
 * sweeps. The `last` time lines go if the chosen numbers are not faster with
 * them, by more than they cost. The history is spent. False: no memory. */
bool along_learn(struct along_lines *lines, const struct along_history *history,
                 double cost, bool last);

#endif
