/* psis.c: Pareto-smoothed importance sampling. */
#include "summary/psis.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

double gbm_log_sum_exp(const double *x, int64_t n)
{
    double top = -INFINITY, sum = 0;

    for (int64_t i = 0; i < n; i++)
        top = x[i] > top || isnan(x[i]) ? x[i] : top;
    if (!isfinite(top))
        return top;
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i] - top);
    return top + log(sum);
}

/* ---- the fit: the mean of theta under a profile likelihood on a grid (Zhang
 * and Stephens 2009, section 3), shape by maximum likelihood given it */

static double mean_log(const double *x, int64_t n, double theta)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += log1p(-theta * x[i]);
    return sum / (double)n;
}

void gbm_pareto_fit(const double *x, int64_t n, double *shape, double *scale)
{
    const double prior_shape = 0.5, prior_weight = 10, prior_theta = 3;
    const double quartile = x[(int64_t)((double)n / 4 + 0.5) - 1];
    const int m = 30 + (int)sqrt((double)n);
    double theta[m], score[m], sum = 0, total = 0, mean = 0, k;

    for (int j = 0; j < m; j++) {
        theta[j] =
            (1 - sqrt(m / (j + 0.5))) / (prior_theta * quartile) + 1 / x[n - 1];
        k = mean_log(x, n, theta[j]);
        score[j] = (double)n * (log(-theta[j] / k) - k - 1);
    }
    /* what has next to no weight is left out */
    for (int j = 0; j < m; j++) {
        double weight = 0;

        for (int i = 0; i < m; i++)
            weight += exp(score[i] - score[j]);
        weight = 1 / weight;
        if (!(weight >= 10 * DBL_EPSILON))
            continue;
        sum += weight;
        total += weight * theta[j];
    }
    mean = total / sum;
    k = mean_log(x, n, mean);
    *scale = -k / mean;
    *shape = ((double)n * k + prior_weight * prior_shape) /
             ((double)n + prior_weight);
}

/* Quantile of the distribution with its location at 0. */
static double pareto_quantile(double p, double shape, double scale)
{
    if (!(scale > 0))
        return NAN;
    if (fabs(shape) < DBL_EPSILON)
        return -log1p(-p) * scale;
    return expm1(-shape * log1p(-p)) / shape * scale;
}

/* ---- the tail */

/* Draws in the tail that is smoothed, of n with relative efficiency `reff`. */
static int64_t psis_tail(int64_t n, double reff)
{
    return (int64_t)ceil(fmin((double)n / 5, 3 * sqrt((double)n / reff)));
}

static void exchange(double *a, double *b)
{
    double x = *a;

    *a = *b;
    *b = x;
}

/* The k-th smallest, from 0, of n numbers, which change places: Hoare (1961),
 * Algorithm 65. */
static double select_smallest(double *x, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;

    while (low < high) {
        double pivot = x[low + (high - low) / 2];
        int64_t i = low, j = high;

        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j)
                exchange(&x[i++], &x[j--]);
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return x[k];
}

static int ascending(const void *a, const void *b)
{
    double x = **(const double *const *)a, y = **(const double *const *)b;

    return (x > y) - (x < y);
}

/* Replaces the weights `tail`, ascending, which are above `cutoff`, by
 * quantiles of the distribution that is fitted to their distances from it; none
 * is to be larger than the largest was, of logarithm 0. */
static double smooth(double **tail, int64_t n, double cutoff, double *distance)
{
    double shape, scale;

    for (int64_t i = 0; i < n; i++)
        distance[i] = exp(*tail[i]) - cutoff;
    gbm_pareto_fit(distance, n, &shape, &scale);
    if (!isfinite(shape))
        return shape;
    for (int64_t i = 0; i < n; i++) {
        double p = ((double)i + 0.5) / (double)n;
        double x = log(pareto_quantile(p, shape, scale) + cutoff);

        *tail[i] = x > 0 ? 0 : x;
    }
    return shape;
}

double gbm_psis(double *x, int64_t n, double reff, double *work)
{
    double top = -INFINITY, least = INFINITY, cutoff, shape = INFINITY, sum;
    double **tail = malloc((size_t)n * sizeof *tail);
    int64_t place = n - psis_tail(n, reff) - 1, m = 0;

    for (int64_t i = 0; i < n; i++) {
        top = x[i] > top || isnan(x[i]) ? x[i] : top;
        least = fmin(least, x[i]);
    }
    for (int64_t i = 0; i < n; i++)
        work[i] = x[i] -= top;
    cutoff =
        fmax(select_smallest(work, n, place > 0 ? place : 0), log(DBL_MIN));
    for (int64_t i = 0; tail && i < n; i++)
        if (x[i] > cutoff)
            tail[m++] = &x[i];
    if (m > 4) {
        qsort(tail, (size_t)m, sizeof *tail, ascending);
        shape = smooth(tail, m, exp(cutoff), work);
    }
    sum = gbm_log_sum_exp(x, n);
    for (int64_t i = 0; i < n; i++)
        x[i] -= sum;
    free(tail);
    return least == top || !tail ? NAN : shape;
}
