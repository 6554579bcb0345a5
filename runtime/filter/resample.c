/* resample.c: systematic resampling (Kitagawa 1996; Douc, Cappe and Moulines
 * 2005): particle i has floor(n w) or ceil(n w) copies; and the multinomial
 * one. */
#include "filter/filter.h"
#include "gbm.h"

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

/* roots[i] = u^(1 / (i + 1)), uniforms in the order of falling i. */
static void find_roots(int n, const struct gbm_rng *rng, int threads,
                       double *roots)
{
    enum { PIECE = 1024 };
    const int pieces = (n + PIECE - 1) / PIECE;
    (void)threads; /* where there is no OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < pieces; k++) {
        struct gbm_rng own = *rng;
        gbm_rng_skip(&own, (uint32_t)(k * PIECE));
        for (int j = k * PIECE; j < n && j < (k + 1) * PIECE; j++)
            roots[n - 1 - j] = pow(gbm_uniform(&own), 1.0 / (n - j));
    }
}

/* The largest of i + 1 uniforms below `top` is top u^(1 / (i + 1)). */
void rt_resample_multinomial(int n, const double *weight,
                             const struct gbm_rng *rng, int threads,
                             double *roots, int *ancestor)
{
    double top = 1, below = 1; /* the weights before `from` */
    int from = n, least = 0;
    find_roots(n, rng, threads, roots);
    while (least + 1 < n && !(weight[least] > 0))
        least++;
    for (int i = n - 1; i >= 0; i--) {
        top *= roots[i];
        while (from > least &&
               (from == n || top <= below || !(weight[from] > 0)))
            below -= weight[--from];
        ancestor[i] = from;
    }
}
