/* spread.c: the powers of a ladder, so that all neighbours are rejected alike:
 * Syed, Bouchard-Cote, Deligiannidis and Doucet (2022), algorithm 4. */
#include "powers/tempering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The power where the barrier from a rung's on is `share` of that to the next
 * one's: of two positive ones by their logarithms, as of a normal likelihood
 * the barrier grows with that of the power. */
static double between(double lower, double upper, double share)
{
    return lower > 0 ? lower * pow(upper / lower, share)
                     : upper * share * share;
}

bool rt_tempering_spread(int n, const double *rejection, double *power)
{
    double *barrier = calloc(2 * (size_t)n, sizeof *barrier),
           *old = barrier + n;
    if (!barrier)
        return false;
    memcpy(old, power, (size_t)n * sizeof *old);
    for (int i = 0; i + 1 < n; i++)
        barrier[i + 1] = barrier[i] + fmax(rejection[i], 1e-4);
    for (int k = 1, i = 0; k + 1 < n; k++) {
        double wanted = barrier[n - 1] * k / (n - 1);
        while (i + 2 < n && barrier[i + 1] < wanted)
            i++;
        power[k] =
            between(old[i], old[i + 1],
                    (wanted - barrier[i]) / (barrier[i + 1] - barrier[i]));
    }
    free(barrier);
    return true;
}
