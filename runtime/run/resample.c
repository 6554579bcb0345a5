/* resample.c: systematic resampling (Kitagawa 1996; Douc, Cappe and Moulines
 * 2005): particle i has floor(n w) or ceil(n w) copies. */
#include "run/filter.h"

#include <math.h>

/* offspring[i]: how many of the points (k + u) / n are in particle i's part of
 * (0, 1]; what rounding leaves is the last possible one's. */
static void count_offspring(int n, const double *weight, double u,
                            int *offspring)
{
    double total = 0;
    int taken = 0, possible = 0;
    for (int i = 0; i < n; i++) {
        total += weight[i];
        const double points = ceil(n * total - u);
        const int until = points > n ? n : points > taken ? (int)points : taken;
        offspring[i] = until - taken;
        taken = until;
        possible = weight[i] > 0 ? i : possible;
    }
    offspring[possible] += n - taken;
}

void rt_resample(int n, const double *weight, double u, int *ancestor,
                 int *offspring)
{
    int from = 0; /* the next that may have copies to place */
    count_offspring(n, weight, u, offspring);
    for (int i = 0; i < n; i++) {
        ancestor[i] = i;
        if (offspring[i] > 0)
            continue;
        while (offspring[from] < 2)
            from++;
        offspring[from]--;
        ancestor[i] = from;
    }
}
