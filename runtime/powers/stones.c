/* stones.c: the log evidence by stepping stones: the product over rungs of the
 * mean, at a rung's power, of the likelihood to the power that the next one has
 * more. Xie, Lewis, Fan, Kuo and Chen (2011), Improving marginal likelihood
 * estimation for Bayesian phylogenetic model selection.
 *
 * The error: to first order, that of the mean over sweeps of the sum over rungs
 * of each ratio over its mean. As replicas pass from rung to rung, rungs
 * are not independent, so the sum is taken first. It is averaged over batches
 * of sweeps, whose autocovariances, of all ladders, are summed as long as those
 * of a chain in equilibrium must be positive: Geyer's (1992) initial positive
 * sequence. */
#include "powers/tempering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORTH_THREADS = 1024 }; /* rungs */

bool rt_stones_create(struct rt_stones *s, int ladders, int replicas,
                      int threads)
{
    size_t n = (size_t)RT_STONE_BATCHES * (size_t)ladders * (size_t)replicas;
    *s = (struct rt_stones){
        .ladders = ladders, .replicas = replicas, .length = 1};
    s->threads = ladders * replicas < WORTH_THREADS ? 1 : threads;
    s->sums = malloc(n * sizeof *s->sums);
    for (size_t i = 0; s->sums && i < n; i++)
        s->sums[i] = -(double)INFINITY;
    return s->sums != NULL;
}

void rt_stones_free(struct rt_stones *s)
{
    free(s->sums);
    s->sums = NULL;
}

void rt_stones_save(struct rt_stones *s, struct rt_pieces *p)
{
    size_t n =
        (size_t)RT_STONE_BATCHES * (size_t)s->ladders * (size_t)s->replicas;
    rt_pieces_add(p, "stones", s->sums, n * sizeof *s->sums);
    rt_pieces_add(p, "batches", &s->batches, sizeof s->batches);
    rt_pieces_add(p, "sweeps of a batch", &s->length, sizeof s->length);
    rt_pieces_add(p, "sweeps of the last", &s->in_batch, sizeof s->in_batch);
}

static double add_logs(double a, double b)
{
    double most = fmax(a, b);
    return isinf(most) && most < 0 ? most
                                   : most + log(exp(a - most) + exp(b - most));
}

static double *sum_of(const struct rt_stones *s, int batch, int ladder,
                      int rung)
{
    return s->sums +
           ((size_t)batch * (size_t)s->ladders + (size_t)ladder) *
               (size_t)s->replicas +
           rung;
}

/* Batches of twice the length, where there is no room for another. */
static void merge(struct rt_stones *s)
{
    const int n = s->ladders * s->replicas;
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int i = 0; i < n; i++)
        for (int b = 0; b < RT_STONE_BATCHES; b++) {
            double *all = s->sums + i;
            const size_t rungs = (size_t)n, from = 2 * (size_t)b * rungs;
            all[(size_t)b * rungs] =
                2 * b < RT_STONE_BATCHES
                    ? add_logs(all[from], all[from + rungs])
                    : -(double)INFINITY;
        }
    s->batches /= 2;
    s->length *= 2;
}

static bool is_whole(const struct rt_stones *s)
{
    return s->batches == 0 || s->in_batch == s->length;
}

int64_t rt_stones_room(const struct rt_stones *s)
{
    const bool longer = is_whole(s) && s->batches == RT_STONE_BATCHES;
    const int64_t length = longer ? 2 * s->length : s->length;
    return is_whole(s) ? length : s->length - s->in_batch;
}

double *rt_stones_begin(struct rt_stones *s, int64_t sweeps)
{
    if (is_whole(s)) {
        if (s->batches == RT_STONE_BATCHES)
            merge(s);
        s->batches++;
        s->in_batch = 0;
    }
    s->in_batch += sweeps;
    return sum_of(s, s->batches - 1, 0, 0);
}

void rt_stones_add(struct rt_stones *s, const double *power, const int *chain,
                   const double *loglik)
{
    (void)rt_stones_begin(s, 1);
    for (int l = 0; l < s->ladders; l++)
        for (int i = 0; i + 1 < s->replicas; i++) {
            double *sum = sum_of(s, s->batches - 1, l, i);
            double x = loglik[chain[l * s->replicas + i]];
            *sum = add_logs(*sum, (power[i + 1] - power[i]) * x);
        }
}

static int64_t sweeps_of(const struct rt_stones *s, int batch)
{
    return batch + 1 < s->batches ? s->length : s->in_batch;
}

/* The sum over rungs of a batch's ratios over their mean of all, less what it
 * is on the whole. A batch that is not yet whole counts less. */
static double off_mean(const struct rt_stones *s, int batch, int ladder,
                       const double *mean, double length)
{
    double sum = 0, sweeps = (double)sweeps_of(s, batch);
    for (int i = 0; i + 1 < s->replicas; i++)
        sum += exp(*sum_of(s, batch, ladder, i) - mean[i]);
    return (sum - (s->replicas - 1) * sweeps) / length;
}

/* The mean product of batches `lag` apart; off: [ladders][batches]. */
static double autocovariance(const struct rt_stones *s, const double *off,
                             int lag)
{
    double sum = 0;
    for (int l = 0; l < s->ladders; l++)
        for (int b = 0; b + lag < s->batches; b++)
            sum += off[l * s->batches + b] * off[l * s->batches + b + lag];
    return sum / (s->batches * s->ladders);
}

static double error_of(const struct rt_stones *s, const double *off)
{
    double n = (double)s->batches * s->ladders;
    double sum = -autocovariance(s, off, 0);
    for (int lag = 0; lag + 1 < s->batches; lag += 2) {
        double pair =
            autocovariance(s, off, lag) + autocovariance(s, off, lag + 1);
        if (pair <= 0)
            break;
        sum += 2 * pair;
    }
    return sqrt(fmax(sum, 0) / (n - 1));
}

/* The mean ratio of a rung, of all batches; its logarithm. */
static double mean_of(const struct rt_stones *s, int rung, double sweeps)
{
    double sum = -(double)INFINITY;
    for (int b = 0; b < s->batches; b++)
        for (int l = 0; l < s->ladders; l++)
            sum = add_logs(sum, *sum_of(s, b, l, rung));
    return sum - log(sweeps);
}

void rt_stones_evidence(const struct rt_stones *s, double *value, double *se)
{
    double *mean = calloc((size_t)s->replicas, sizeof *mean), sweeps = 0;
    int n = s->batches * s->ladders;
    *value = 0;
    *se = (double)NAN;
    for (int b = 0; b < s->batches; b++)
        sweeps += (double)(sweeps_of(s, b) * s->ladders);
    for (int i = 0; mean && i + 1 < s->replicas; i++)
        *value += mean[i] = mean_of(s, i, sweeps);
    if (!mean || !(sweeps > 0) || !isfinite(*value))
        *value = (double)NAN;
    double *off = n >= 8 ? malloc((size_t)n * sizeof *off) : NULL;
    if (off && isfinite(*value)) {
        for (int i = 0; i < n; i++)
            off[i] =
                off_mean(s, i % s->batches, i / s->batches, mean, sweeps / n);
        *se = error_of(s, off);
    }
    free(off);
    free(mean);
}
