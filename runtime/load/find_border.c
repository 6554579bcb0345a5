/* find_border.c: a few vertices without which the graph of a matrix falls into
 * small pieces, as the means of many groups' effects. */
#include "load/find_border.h"
#include "real.h" /* of stdlib, in double */
#include "border.h"

#include <stdlib.h>

/* Whether the piece of `first` without the border is small; marks it. */
static bool small_piece(int first, const int64_t *start, const int *neighbour,
                        const bool *border, bool *seen)
{
    int piece[GBM_BORDER_COLUMNS], n = 0;
    seen[first] = true;
    piece[n++] = first;
    for (int k = 0; k < n; k++)
        for (int64_t i = start[piece[k]]; i < start[piece[k] + 1]; i++) {
            const int next = neighbour[i];
            if (border[next] || seen[next])
                continue;
            if (n == GBM_BORDER_COLUMNS)
                return false;
            seen[next] = true;
            piece[n++] = next;
        }
    return true;
}

int rt_find_border(int d, const int64_t *start, const int *neighbour,
                   bool *border)
{
    const int most = GBM_BORDER_COLUMNS + GBM_BORDER_EDGE;
    bool *seen = calloc((size_t)d + 1, sizeof *seen);
    int n = 0;
    for (int k = 0; k < d; k++) {
        border[k] = start[k + 1] - start[k] >= most; /* more than a tree's */
        n += border[k];
    }
    bool ok = seen && n > 0 && n <= GBM_BORDER_EDGE;
    for (int k = 0; ok && k < d; k++)
        if (!border[k] && !seen[k])
            ok = small_piece(k, start, neighbour, border, seen);
    free(seen);
    return ok ? n : 0;
}
