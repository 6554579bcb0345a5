/* nearest.c: the name that was probably meant. */
#include "base/base.h"

#include <limits.h>
#include <string.h>

/* Edits (insert, delete, replace, swap) that turn a into b, up to 63 letters.
 */
static int edits(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int d[64][64];
    if (n > 63 || m > 63)
        return INT_MAX;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *rt_nearest(const char *name, int n,
                       const char *(*candidate)(const void *, int),
                       const void *context)
{
    const char *best = NULL;
    /* a third of the letters may be wrong; the dashes of an option are none */
    int least = (int)strlen(name + strspn(name, "-")) / 3 + 1;
    for (int i = 0; i < n; i++) {
        const char *other = candidate(context, i);
        int distance = other ? edits(name, other) : INT_MAX;
        if (distance < least) {
            least = distance;
            best = other;
        }
    }
    return best;
}
