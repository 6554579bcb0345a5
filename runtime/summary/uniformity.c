/* uniformity.c: tests that ranks are uniform: by counts in bins, and by their
 * empirical distribution function, whose simultaneous limits are exact: under
 * uniformity its values at ascending points are a Markov chain of binomial
 * steps (Sailynoja et al. 2022, section 2.2). */
#include "summary/uniformity.h"

#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With fewer expected the far tail is not that of a chi-square. */
enum { MOST_BINS = 20, LEAST_EXPECTED = 10 };

bool gbm_uniformity_plan(struct gbm_uniformity_plan *plan, int n, int most)
{
    /* No more points than ranks: more say little (section 2.2). */
    int points = most < n ? most : n;

    *plan = (struct gbm_uniformity_plan){.n = n, .most = most};
    plan->cut = malloc(((size_t)points + 1) * sizeof *plan->cut);
    plan->log_factorial = malloc(((size_t)n + 1) * sizeof *plan->log_factorial);
    if (!plan->cut || !plan->log_factorial) {
        gbm_uniformity_free(plan);
        return false;
    }
    for (int i = 1; i <= points; i++)
        plan->cut[i - 1] =
            (int)((long long)i * (most + 1) / ((long long)points + 1));
    plan->points = points;
    for (int i = 0; i <= n; i++)
        plan->log_factorial[i] = lgamma(i + 1.0);
    return true;
}

void gbm_uniformity_free(struct gbm_uniformity_plan *plan)
{
    free(plan->cut);
    free(plan->log_factorial);
    plan->cut = NULL;
    plan->log_factorial = NULL;
}

/* ---- the empirical distribution function */

/* Of k among n with probability p in (0, 1). */
static double binomial(const struct gbm_uniformity_plan *plan, int n, int k,
                       double p)
{
    const double *f = plan->log_factorial;

    return exp(f[n] - f[k] - f[n - k] + k * log(p) + (n - k) * log1p(-p));
}

static double below(const struct gbm_uniformity_plan *plan, int i)
{
    return (double)plan->cut[i] / ((double)plan->most + 1);
}

/* The counts at a point whose tail, doubled, is more than gamma: low ... high;
 * low > high if there are none. */
static void limits(const struct gbm_uniformity_plan *plan, int i, double gamma,
                   int *low, int *high)
{
    double p = below(plan, i), tail = 0;
    int k = 0;

    /* What rounding makes of a tail that is gamma itself is out, too. */
    gamma *= 1 + 1e-9;
    for (; k <= plan->n; k++) {
        tail += binomial(plan, plan->n, k, p);
        if (2 * tail > gamma)
            break;
    }
    *low = k;
    tail = 0;
    for (k = plan->n; k >= 0; k--) {
        tail += binomial(plan, plan->n, k, p);
        if (2 * tail > gamma)
            break;
    }
    *high = k;
}

/* The probability that the counts of uniform ranks are within low ... high at
 * all points; at, next: scratch, [n + 1]. */
static double stay_within(const struct gbm_uniformity_plan *plan,
                          const int *low, const int *high, double *at,
                          double *next)
{
    double before = 0, sum = 0;
    int from = 0, to = 0;

    at[0] = 1;
    for (int i = 0; i < plan->points; i++) {
        double p = below(plan, i), step = (p - before) / (1 - before);

        for (int k = low[i]; k <= high[i]; k++) {
            next[k] = 0;
            for (int j = from; j <= to && j <= k; j++)
                next[k] += at[j] * binomial(plan, plan->n - j, k - j, step);
        }
        from = low[i];
        to = high[i];
        for (int k = from; k <= to; k++)
            at[k] = next[k];
        before = p;
    }
    for (int k = from; k <= to; k++)
        sum += at[k];
    return sum;
}

struct scratch {
    int *low, *high;
    double *at, *next;
};

static bool create(struct scratch *s, const struct gbm_uniformity_plan *plan)
{
    size_t points = (size_t)plan->points + 1, n = (size_t)plan->n + 1;

    s->low = malloc(points * sizeof *s->low);
    s->high = malloc(points * sizeof *s->high);
    s->at = malloc(n * sizeof *s->at);
    s->next = malloc(n * sizeof *s->next);
    return s->low && s->high && s->at && s->next;
}

static void release(struct scratch *s)
{
    free(s->low);
    free(s->high);
    free(s->at);
    free(s->next);
}

static double within(const struct gbm_uniformity_plan *plan, double gamma,
                     struct scratch *s)
{
    for (int i = 0; i < plan->points; i++) {
        limits(plan, i, gamma, &s->low[i], &s->high[i]);
        if (s->low[i] > s->high[i])
            return 0;
    }
    return stay_within(plan, s->low, s->high, s->at, s->next);
}

bool gbm_uniformity_band(const struct gbm_uniformity_plan *plan, double alpha,
                         int *low, int *high)
{
    struct scratch s;
    double least = log(alpha / plan->points) - 1, largest = log(alpha);
    bool good = create(&s, plan);

    /* with the least all are within, by the sum of their probabilities */
    for (int i = 0; good && i < 40; i++) {
        double middle = (least + largest) / 2;

        if (within(plan, exp(middle), &s) >= 1 - alpha)
            least = middle;
        else
            largest = middle;
    }
    for (int i = 0; good && i < plan->points; i++)
        limits(plan, i, exp(least), &low[i], &high[i]);
    release(&s);
    return good;
}

static double tail_of(const struct gbm_uniformity_plan *plan, int i, int count)
{
    double p = below(plan, i), low = 0, high = 0;

    for (int k = 0; k <= plan->n; k++) {
        double mass = binomial(plan, plan->n, k, p);

        low += k <= count ? mass : 0;
        high += k >= count ? mass : 0;
    }
    return 2 * fmin(low, high);
}

static bool test_ecdf(const struct gbm_uniformity_plan *plan, const int *counts,
                      struct gbm_uniformity *out)
{
    struct scratch s;
    double gamma = 2;
    int count = 0, rank = 0;
    bool good = create(&s, plan);

    for (int i = 0; i < plan->points; i++) {
        double tail;

        while (rank < plan->cut[i])
            count += counts[rank++];
        tail = tail_of(plan, i, count);
        if (tail < gamma) {
            gamma = tail;
            out->worst = i;
        }
    }
    out->ecdf_p = good ? fmin(1, fmax(0, 1 - within(plan, gamma, &s))) : 1;
    release(&s);
    return good;
}

/* ---- counts */

static void test_bins(const struct gbm_uniformity_plan *plan, const int *counts,
                      struct gbm_uniformity *out)
{
    int values = plan->most + 1, bins = plan->n / LEAST_EXPECTED, rank = 0;

    bins = bins > MOST_BINS ? MOST_BINS : bins;
    bins = bins > values ? values : bins;
    out->bins = bins;
    out->chi_p = 1;
    for (int b = 0; b < bins; b++) {
        int first = rank, count = 0,
            end = (int)((long long)(b + 1) * values / bins);
        double expected;

        while (rank < end)
            count += counts[rank++];
        expected = (double)plan->n * (end - first) / values;
        out->chi_square += (count - expected) * (count - expected) / expected;
    }
    if (bins > 1)
        out->chi_p = gbm_gamma_q((bins - 1) / 2.0, out->chi_square / 2);
}

/* How far the mean and the mean square about the middle are from what they are
 * of uniform ranks, in standard errors. */
static void test_moments(const struct gbm_uniformity_plan *plan,
                         const int *counts, struct gbm_uniformity *out)
{
    double values = plan->most + 1.0, middle = plan->most / 2.0, n = plan->n;
    double square = 0, fourth = 0, mean = 0, spread = 0;

    for (int r = 0; r <= plan->most; r++) {
        double d2 = (r - middle) * (r - middle);

        square += d2 / values;
        fourth += d2 * d2 / values;
        mean += counts[r] * (r - middle) / n;
        spread += counts[r] * d2 / n;
    }
    out->location_z = square > 0 ? mean / sqrt(square / n) : 0;
    fourth -= square * square;
    out->spread_z = fourth > 0 ? (spread - square) / sqrt(fourth / n) : 0;
}

bool gbm_uniformity(const struct gbm_uniformity_plan *plan, const int *ranks,
                    struct gbm_uniformity *out)
{
    int *counts = calloc((size_t)plan->most + 1, sizeof *counts);
    bool good = counts != NULL;

    *out = (struct gbm_uniformity){0};
    for (int i = 0; good && i < plan->n; i++)
        counts[ranks[i]]++;
    if (good) {
        test_bins(plan, counts, out);
        test_moments(plan, counts, out);
        good = test_ecdf(plan, counts, out);
    }
    free(counts);
    return good;
}
