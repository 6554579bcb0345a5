/* assign.c: the assignment problem, by shortest augmenting paths in O(n^3):
 * Kuhn (1955) and Munkres (1957) with the potentials of Jonker and Volgenant
 * (1987), A shortest augmenting path algorithm for dense and sparse linear
 * assignment problems, Computing 38. */
#include "summary/relabel.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Columns and rows count from 1; row 0 is none, column 0 the root of a path. */
struct search {
    int n;
    const double *cost;
    double *of_row, *of_column; /* potentials */
    double *least;              /* reduced cost of a column from the tree */
    int *row;                   /* that a column has */
    int *before;                /* column on the path to it */
    bool *reached;
};

/* Joins the nearest column to the tree from the root; returns it. */
static int grow(struct search *s, int from)
{
    const int row = s->row[from];
    double nearest = INFINITY;
    int to = 0;

    s->reached[from] = true;
    for (int j = 1; j <= s->n; j++) {
        if (s->reached[j])
            continue;
        double reduced = s->cost[(int64_t)(row - 1) * s->n + j - 1] -
                         s->of_row[row] - s->of_column[j];
        if (reduced < s->least[j]) {
            s->least[j] = reduced;
            s->before[j] = from;
        }
        if (s->least[j] < nearest) {
            nearest = s->least[j];
            to = j;
        }
    }
    for (int j = 0; j <= s->n; j++)
        if (s->reached[j]) {
            s->of_row[s->row[j]] += nearest;
            s->of_column[j] -= nearest;
        } else {
            s->least[j] -= nearest;
        }
    return to;
}

/* Gives `row` a column, and rows on the way to a free one others. */
static void place(struct search *s, int row)
{
    int at = 0;

    s->row[0] = row;
    for (int j = 0; j <= s->n; j++) {
        s->least[j] = INFINITY;
        s->reached[j] = false;
    }
    do
        at = grow(s, at);
    while (s->row[at] != 0);
    for (; at != 0; at = s->before[at])
        s->row[at] = s->row[s->before[at]];
}

enum gbm_status gbm_assign(int n, const double *cost, int *column)
{
    size_t m = (size_t)n + 1;
    double *numbers = calloc(3 * m, sizeof *numbers);
    int *places = calloc(2 * m, sizeof *places);
    bool *reached = calloc(m, sizeof *reached);
    struct search s = {
        n,      cost,       numbers, numbers + m, numbers + 2 * m,
        places, places + m, reached};
    bool good = numbers && places && reached;

    for (int row = 1; good && row <= n; row++)
        place(&s, row);
    for (int j = 1; good && j <= n; j++)
        column[s.row[j] - 1] = j - 1;
    free(numbers);
    free(places);
    free(reached);
    return good ? GBM_OK : GBM_FAILURE;
}
