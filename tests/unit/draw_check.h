/* draw_check.h: is a sample from a distribution? For tests of draws.
 *
 * Continuous: the greatest distance between the empirical and the exact
 * distribution function against the bound of Dvoretzky, Kiefer and Wolfowitz
 * (with Massart's constant), and mean and variance of the normal scores
 * probit(F(x)), which notice a scale that is off by 1%. Discrete: chi-square
 * over pooled cells. Seeds are fixed, so a test that passes once passes always;
 * the limits are such that one of 10^4 right kernels would fail. */
#ifndef DRAW_CHECK_H
#define DRAW_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gbm.h"

#ifdef GBM_SINGLE
#define DRAWS 300000
#else
#define DRAWS 1000000
#endif

/* A distribution function; p: the parameters. */
typedef double distribution(const double *p, double x);

/* Radix sort by 16 bits: half of a test's time would be qsort's. Negative
 * numbers have all bits flipped, the others the sign: then they compare as
 * unsigned integers. */
static inline void sort_numbers(double *x, int n)
{
    uint64_t *from = malloc((size_t)n * sizeof *from);
    uint64_t *to = malloc((size_t)n * sizeof *to);
    static int start[65537];
    const uint64_t sign = (uint64_t)1 << 63;
    memcpy(from, x, (size_t)n * sizeof *from);
    for (int i = 0; i < n; i++)
        from[i] = from[i] & sign ? ~from[i] : from[i] | sign;
    for (int shift = 0; shift < 64; shift += 16) {
        memset(start, 0, sizeof start);
        for (int i = 0; i < n; i++)
            start[(from[i] >> shift & 65535) + 1]++;
        for (int i = 0; i < 65536; i++)
            start[i + 1] += start[i];
        for (int i = 0; i < n; i++)
            to[start[from[i] >> shift & 65535]++] = from[i];
        uint64_t *other = from;
        from = to;
        to = other;
    }
    for (int i = 0; i < n; i++)
        from[i] = from[i] & sign ? from[i] & ~sign : ~from[i];
    memcpy(x, from, (size_t)n * sizeof *from);
    free(from);
    free(to);
}

/* gbm_probit, in double whatever `real` is: by bisection, which is enough. */
static inline double normal_score(double p)
{
    double low = -8.5, high = 8.5;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Prints what is wrong; true if nothing is. The sample is sorted in place. The
 * distribution function is evaluated at `points` of the order statistics. With
 * atoms (from rounding), only the distance is looked at. */
static inline bool check_continuous(const char *name, double *x, int n,
                                    distribution *cdf, const double *p,
                                    int points, bool atoms)
{
    double distance = 0, mean = 0, square = 0, mean0 = 0, square0 = 0;
    double bound = sqrt(log(2 / 1e-4) / (2.0 * n));

    for (int i = 0; i < n; i++)
        if (!(x[i] - x[i] == 0)) {
            printf("%s: draw %d is %g\n", name, i, x[i]);
            return false;
        }
    sort_numbers(x, n);
    for (int k = 0; k < points; k++) {
        double middle = (k + 0.5) / points;
        int i = (int)(middle * n);
        double f = cdf(p, x[i]);
        while (i + 1 < n && x[i + 1] == x[i])
            i++;
        double off = fabs(f - (i + 1.0) / n);
        distance = off > distance || !(off < 2) ? off : distance;
        double z = normal_score(f), z0 = normal_score(middle);
        mean += z / points;
        mean0 += z0 / points;
        square += z * z / points;
        square0 += z0 * z0 / points;
    }
    double shift = (mean - mean0) * sqrt(n);
    double spread = (square - square0) * sqrt(n / 2.0);
    bool right = distance < bound &&
                 (atoms || (fabs(shift) < 4.5 && fabs(spread) < 4.5));
    if (!right)
        printf("%s: distance %.5f (bound %.5f), normal scores: mean %.1f "
               "standard errors off, variance %.1f\n",
               name, distance, bound, shift, spread);
    return right;
}

/* The same for integers; cdf at k includes k. */
static inline bool check_discrete(const char *name, double *x, int n,
                                  distribution *cdf, const double *p)
{
    double statistic = 0, before = 0;
    double least = n / 2000.0 > 25 ? n / 2000.0 : 25; /* expected in a cell */
    int cells = 0, count = 0;

    for (int i = 0; i < n; i++)
        if (!(x[i] - x[i] == 0) || x[i] != floor(x[i])) {
            printf("%s: draw %d is %g\n", name, i, x[i]);
            return false;
        }
    sort_numbers(x, n);
    for (int i = 0; i < n;) {
        double value = x[i];
        for (; i < n && x[i] == value; i++)
            count++;
        double f = i < n ? cdf(p, value) : 1;
        double expected = n * (f - before);
        if (i < n && (expected < least || n * (1 - f) < least))
            continue;
        if (!(expected > 0)) {
            printf("%s: %g should not occur\n", name, value);
            return false;
        }
        statistic += (count - expected) * (count - expected) / expected;
        before = f;
        count = 0;
        cells++;
    }
    /* Wilson and Hilferty: the cube root of a chi-square is nearly normal */
    double freedom = cells - 1;
    if (cells < 2)
        return true;
    double score = (cbrt(statistic / freedom) - 1 + 2 / (9 * freedom)) /
                   sqrt(2 / (9 * freedom));
    if (!(score < 4))
        printf("%s: chi-square %.1f with %d degrees of freedom (score %.1f)\n",
               name, statistic, cells - 1, score);
    return score < 4;
}

/* A distribution function tabulated from a log density by the trapezoidal rule,
 * in x or in log x. */
struct table {
    double from, step, *sum;
    int n;
    bool logarithmic;
};

static inline struct table
tabulate(double (*density)(const double *p, double x), const double *p,
         double from, double to, bool logarithmic)
{
    enum { N = 200000 };
    struct table t = {from, (to - from) / N, NULL, N + 1, logarithmic};
    double top = -INFINITY, before = 0;
    t.sum = malloc(sizeof *t.sum * (N + 1));
    for (int i = 0; i <= N; i++) {
        double u = from + i * t.step;
        t.sum[i] = density(p, logarithmic ? exp(u) : u) + (logarithmic ? u : 0);
        top = t.sum[i] > top ? t.sum[i] : top;
    }
    for (int i = 0; i <= N; i++) {
        double value = exp(t.sum[i] - top);
        t.sum[i] = i ? t.sum[i - 1] + (value + before) / 2 : 0;
        before = value;
    }
    for (int i = 0; i <= N; i++)
        t.sum[i] /= t.sum[N];
    return t;
}

static inline double look_up(const struct table *t, double x)
{
    double place = ((t->logarithmic ? log(x) : x) - t->from) / t->step;
    if (!(place > 0))
        return 0;
    if (place >= t->n - 1)
        return 1;
    int i = (int)place;
    return t->sum[i] + (place - i) * (t->sum[i + 1] - t->sum[i]);
}

#endif
