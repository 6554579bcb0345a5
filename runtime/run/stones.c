/* stones.c: the log evidence by stepping stones: the product over rungs of the
 * mean, at a rung's power, of the likelihood to the power that the next one has
 * more. Xie, Lewis, Fan, Kuo and Chen (2011), Improving marginal likelihood
 * estimation for Bayesian phylogenetic model selection.
 *
 * The error: to first order, that of the mean over sweeps of the sum over rungs
 * of each ratio over its mean. As replicas pass from rung to rung, rungs
 * are not independent, so the sum is taken first; batches of sweeps, of all
 * ladders, are compared. */
#include "run/tempering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rt_stones_create(struct rt_stones *s, int ladders, int replicas)
{
    size_t n = (size_t)RT_STONE_BATCHES * (size_t)ladders * (size_t)replicas;
    *s = (struct rt_stones){
        .ladders = ladders, .replicas = replicas, .length = 1};
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
    size_t n = (size_t)s->ladders * (size_t)s->replicas;
    for (int b = 0; b < RT_STONE_BATCHES; b++)
        for (size_t i = 0; i < n; i++) {
            double *all = s->sums, none = -(double)INFINITY;
            size_t from = (size_t)(2 * b) * n + i;
            all[(size_t)b * n + i] = 2 * b < RT_STONE_BATCHES
                                         ? add_logs(all[from], all[from + n])
                                         : none;
        }
    s->batches /= 2;
    s->length *= 2;
}

void rt_stones_add(struct rt_stones *s, const double *power, const int *chain,
                   const double *loglik)
{
    if (s->batches == 0 || s->in_batch == s->length) {
        if (s->batches == RT_STONE_BATCHES)
            merge(s);
        s->batches++;
        s->in_batch = 0;
    }
    s->in_batch++;
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

/* The sum over rungs of a batch's mean ratios over those of all. */
static double relative(const struct rt_stones *s, int batch, int ladder,
                       const double *mean)
{
    double sum = 0, sweeps = (double)sweeps_of(s, batch);
    for (int i = 0; i + 1 < s->replicas; i++)
        sum += exp(*sum_of(s, batch, ladder, i) - mean[i]) / sweeps;
    return sum;
}

void rt_stones_evidence(const struct rt_stones *s, double *value, double *se)
{
    double mean[RT_MOST_REPLICAS], sweeps = 0, weight = 0, square = 0;
    *value = 0;
    *se = (double)NAN;
    for (int b = 0; b < s->batches; b++)
        sweeps += (double)(sweeps_of(s, b) * s->ladders);
    for (int i = 0; i + 1 < s->replicas; i++) {
        mean[i] = -(double)INFINITY;
        for (int b = 0; b < s->batches; b++)
            for (int l = 0; l < s->ladders; l++)
                mean[i] = add_logs(mean[i], *sum_of(s, b, l, i));
        mean[i] -= log(sweeps);
        *value += mean[i];
    }
    if (!(sweeps > 0) || !isfinite(*value))
        *value = (double)NAN;
    if (s->batches * s->ladders < 8 || !isfinite(*value))
        return;
    for (int b = 0; b < s->batches; b++)
        for (int l = 0; l < s->ladders; l++) {
            double share = (double)sweeps_of(s, b) / sweeps;
            double off = relative(s, b, l, mean) - (s->replicas - 1);
            square += share * share * off * off;
            weight += share * share;
        }
    *se = sqrt(square / (1 - weight));
}
