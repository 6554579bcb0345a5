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
 * sequence.
 *
 * That order of the error says little where a rung's mean is one of a few
 * draws: what none of them met, none of them tells. So there is a second
 * estimate of each ratio, from both of its rungs: that of the means of the
 * likelihood to half the power between them, forward, and back (the geometric
 * bridge of Bennett 1976; Meng and Wong 1996). By as much as the two differ
 * beyond what the draws' own spread tells, the error is larger. */
#include "powers/tempering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORTH_THREADS = 1024 }; /* rungs */
enum {
    MANY = 1024
}; /* of more, two neighbours are hardly apart: there is no
      second estimate */
/* Errors that two estimates of the same may be apart. What neither has met may
 * be as much again beyond the second as that is beyond the first, as of a rung
 * whose draws do not reach the next one's: so twice the rest is added. */
#define FURTHEST 2

static size_t cells_of(const struct rt_stones *s)
{
    return (size_t)RT_STONE_BATCHES * (size_t)s->kinds * (size_t)s->ladders *
           (size_t)s->replicas;
}

/* Of a batch in which a run begins: the last ones may be EARLY times as long,
 * so that a run that is cut has batches enough, too. Each merge and, where
 * another one makes sums, each batch takes time. */
static int64_t first_length(int64_t sweeps)
{
    enum { EARLY = 4 };
    int64_t length = 1;
    while (length * RT_STONE_BATCHES * EARLY < sweeps)
        length *= 2;
    return length;
}

bool rt_stones_create(struct rt_stones *s, int ladders, int replicas,
                      int64_t sweeps, int threads)
{
    *s = (struct rt_stones){.ladders = ladders,
                            .replicas = replicas,
                            .length = first_length(sweeps)};
    s->kinds = replicas > MANY ? 1 : RT_STONE_KINDS;
    const size_t n = cells_of(s);
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
    rt_pieces_add(p, "stones", s->sums, cells_of(s) * sizeof *s->sums);
    rt_pieces_add(p, "batches", &s->batches, sizeof s->batches);
    rt_pieces_add(p, "sweeps of a batch", &s->length, sizeof s->length);
    rt_pieces_add(p, "sweeps of the last", &s->in_batch, sizeof s->in_batch);
}

static double add_logs(double a, double b)
{
    double most = fmax(a, b);
    return isinf(most) && most < 0 ? most : most + log1p(exp(-fabs(a - b)));
}

static double *sum_of(const struct rt_stones *s, int kind, int batch,
                      int ladder, int rung)
{
    const size_t at =
        ((size_t)batch * (size_t)s->kinds + (size_t)kind) * (size_t)s->ladders +
        (size_t)ladder;
    return s->sums + at * (size_t)s->replicas + rung;
}

/* Batches of twice the length, where there is no room for another. */
static void merge(struct rt_stones *s)
{
    const int n = s->kinds * s->ladders * s->replicas;
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int i = 0; i < n; i++)
        for (int b = 0; b < RT_STONE_BATCHES; b++) {
            double *all = s->sums + i;
            const size_t each = (size_t)n, from = 2 * (size_t)b * each;
            all[(size_t)b * each] = 2 * b < RT_STONE_BATCHES
                                        ? add_logs(all[from], all[from + each])
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
    return sum_of(s, RT_STONE, s->batches - 1, 0, 0);
}

static void add(const struct rt_stones *s, int kind, int ladder, int rung,
                double x)
{
    double *sum = sum_of(s, kind, s->batches - 1, ladder, rung);
    *sum = add_logs(*sum, x);
}

void rt_stones_add(struct rt_stones *s, const double *power, const int *chain,
                   const double *loglik)
{
    (void)rt_stones_begin(s, 1);
    for (int l = 0; l < s->ladders; l++)
        for (int i = 0; i + 1 < s->replicas; i++) {
            const int *at = chain + l * s->replicas + i;
            const double more = power[i + 1] - power[i];
            const double next = loglik[at[1]];
            add(s, RT_STONE, l, i, more * loglik[at[0]]);
            if (s->kinds == 1)
                continue;
            add(s, RT_STONE_UP, l, i, more / 2 * loglik[at[0]]);
            if (isfinite(next)) /* else it is no state of that rung */
                add(s, RT_STONE_DOWN, l, i, -more / 2 * next);
        }
}

static int64_t sweeps_of(const struct rt_stones *s, int batch)
{
    return batch + 1 < s->batches ? s->length : s->in_batch;
}

/* The sum over rungs of a batch's ratios over their mean of all, less what it
 * is on the whole. A batch that is not yet whole counts less. */
static double off_mean(const struct rt_stones *s, int kind, int batch,
                       int ladder, const double *mean, double length)
{
    double sum = 0, sweeps = (double)sweeps_of(s, batch);
    for (int i = 0; i + 1 < s->replicas; i++)
        sum += exp(*sum_of(s, kind, batch, ladder, i) - mean[i]);
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
static double mean_of(const struct rt_stones *s, int kind, int rung,
                      double sweeps)
{
    double sum = -(double)INFINITY;
    for (int b = 0; b < s->batches; b++)
        for (int l = 0; l < s->ladders; l++)
            sum = add_logs(sum, *sum_of(s, kind, b, l, rung));
    return sum - log(sweeps);
}

/* The sum over rungs of means' logarithms, which are put into mean[replicas];
 * of each batch and ladder, by how much it is off, [ladders][batches], if that
 * is wanted. */
static double log_means(const struct rt_stones *s, int kind, double *mean,
                        double *off)
{
    const int n = s->batches * s->ladders;
    double sweeps = 0, sum = 0;
    for (int b = 0; b < s->batches; b++)
        sweeps += (double)(sweeps_of(s, b) * s->ladders);
    for (int i = 0; i + 1 < s->replicas; i++)
        sum += mean[i] = mean_of(s, kind, i, sweeps);
    for (int i = 0; off && i < n; i++)
        off[i] =
            off_mean(s, kind, i % s->batches, i / s->batches, mean, sweeps / n);
    return sum;
}

/* By how much the estimate from both sides is more than the stones', with the
 * error of that; NaN where it was not made. off: of the stones; it is lost. */
static double gap(const struct rt_stones *s, double value, double *mean,
                  double *off, double *se)
{
    const int n = s->batches * s->ladders;
    double *own = s->kinds == 1 ? NULL : malloc((size_t)n * sizeof *own);
    double more = (double)NAN;
    for (int kind = RT_STONE_UP; own && kind <= RT_STONE_DOWN; kind++) {
        const double sign = kind == RT_STONE_UP ? 1 : -1;
        const double sum = sign * log_means(s, kind, mean, own);
        more = kind == RT_STONE_UP ? sum - value : more + sum;
        for (int i = 0; i < n; i++)
            off[i] -= sign * own[i];
    }
    free(own);
    *se = isfinite(more) ? error_of(s, off) : (double)NAN;
    return isfinite(more) ? more : (double)NAN;
}

struct rt_log_evidence rt_stones_evidence(const struct rt_stones *s)
{
    struct rt_log_evidence e = {(double)NAN, (double)NAN, (double)NAN, 0};
    const int n = s->batches * s->ladders;
    double *mean = calloc((size_t)s->replicas, sizeof *mean);
    double *off = n >= 8 ? malloc((size_t)n * sizeof *off) : NULL;
    double value =
        mean && n > 0 ? log_means(s, RT_STONE, mean, NULL) : (double)NAN;
    if (isfinite(value))
        e.value = value;
    if (off && isfinite(value)) {
        double se;
        log_means(s, RT_STONE, mean, off);
        e.se = error_of(s, off);
        const double more = gap(s, value, mean, off, &se);
        e.bridge = value + more;
        e.apart = fmax(fabs(more) - FURTHEST * se, 0); /* 0 of NaN */
        e.se = hypot(e.se, 2 * e.apart);
    }
    free(off);
    free(mean);
    return e;
}
