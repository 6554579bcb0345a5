/* along_learn.c: which lines chains move along.
 *
 * Numbers that each step draws given the others move by their conditional
 * standard deviations. In that measure their covariance has eigenvalues that
 * are about the sweeps which a sum of them takes to forget what it was, if each
 * is drawn alone: of two normal ones with correlation r, 1 / (1 - r). A draw
 * along the line of an eigenvector makes the sum independent of what it was,
 * and leaves what is independent of it. So the lines are those of the largest,
 * of the numbers that are slow in fact: steps that draw several together know
 * some ties. Other numbers, as effects of a plate, do what their regression on
 * the sum says.
 *
 * All chains have the lines of what all of them were: one chain tells of less
 * than a mode, and a slow one among fast ones is what a run waits for.
 *
 * A line must pay, as it makes each sweep longer: a number must be slow, and
 * the slow numbers must be faster with the lines, by clearly more than they
 * cost: neither is known well. Among these are numbers that lines do not move,
 * as probabilities that add up to one: a run waits for them, too. What is
 * faster for another reason, as numbers that had come from far before there
 * were lines, is not due to them: a number gains by the sums that lines are of
 * no more than these tell of it. */
#include "host/along.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 3.0    /* the time that a sum is thought to have with its line */
#define WORTH 3.0   /* sweeps that the slowest number takes, at least */
#define GAIN 1.15   /* of time, beyond what lines cost, at least */
#define LONGER 2.0  /* than the least, a time is that was not seen */
#define SLOW 0.5    /* correlation of neighbours from which a number is */
#define FEWEST 32   /* rows to learn from */
#define MOST 256    /* rows apart, of which a correlation is asked */
#define SHRINK 0.02 /* of correlations, which few rows tell */

typedef double square[ALONG_CHOSEN][ALONG_CHOSEN];

struct learner {
    struct along_history h; /* scaled, about the means of all */
    int rows;               /* of all chains */
    double sd[ALONG_CELLS];
    double lag[ALONG_CELLS]; /* correlation of neighbours */
    const int *chosen;       /* [k] */
    int k;
    double *z;   /* [rows] a sum of the chosen, of variance 1 */
    double slow; /* its correlation of neighbours */
};

/* Of z [chains][rows], of mean 0 and variance 1, with itself `lag` rows later.
 */
static double correlation(const double *z, int chains, int rows, int lag)
{
    double sum = 0;
    for (int c = 0; c < chains; c++)
        for (int t = lag; t < rows; t++)
            sum += z[c * rows + t] * z[c * rows + t - lag];
    return sum / (chains * rows);
}

/* About the mean of each chain: where these are apart is for R-hat to say. */
static void scale(struct learner *l)
{
    const int n = l->h.n;
    for (int j = 0; j < n; j++) {
        double most = 0, size = 0;
        for (int first = 0; first < l->rows; first += l->h.rows) {
            double mean = 0;
            for (int t = first; t < first + l->h.rows; t++)
                mean += l->h.x[t * n + j] / l->h.rows;
            for (int t = first; t < first + l->h.rows; t++) {
                l->z[t] = l->h.x[t * n + j] - mean;
                size += l->z[t] * l->z[t] / l->rows;
            }
            most = fmax(most, fabs(mean));
        }
        const double sd = sqrt(size);
        const bool moves = isfinite(sd) && sd > 1e-12 * most;
        for (int t = 0; t < l->rows; t++)
            l->h.x[t * n + j] = l->z[t] = moves ? l->z[t] / sd : 0;
        l->sd[j] = moves ? sd : 0;
        l->lag[j] = correlation(l->z, l->h.chains, l->h.rows, 1);
    }
}

/* z: number j in `rows` rows of each chain, from row `from` on, about the mean
 * of these, of variance 1. False: it has not moved. */
static bool part_of(struct learner *l, int j, int from, int rows)
{
    double size = 0;
    for (int c = 0; c < l->h.chains; c++) {
        const double *x = l->h.x + (c * l->h.rows + from) * l->h.n + j;
        double *z = l->z + c * rows, mean = 0;
        for (int t = 0; t < rows; t++)
            mean += x[t * l->h.n] / rows;
        for (int t = 0; t < rows; t++) {
            z[t] = x[t * l->h.n] - mean;
            size += z[t] * z[t] / (l->h.chains * rows);
        }
    }
    for (int t = 0; t < l->h.chains * rows && size > 0; t++)
        l->z[t] /= sqrt(size);
    return size > 0;
}

/* Rows that z takes to forget what it was: its autocorrelations as far as sums
 * of two neighbours are positive (Geyer 1992, Practical Markov chain Monte
 * Carlo, section 3.3). */
static double rows_of_z(const struct learner *l, int rows)
{
    const int chains = l->h.chains;
    double sum = 0;
    for (int lag = 0; lag < MOST && lag + 1 < rows; lag += 2) {
        const double two = correlation(l->z, chains, rows, lag) +
                           correlation(l->z, chains, rows, lag + 1);
        if (!(two > 0))
            break;
        sum += two;
    }
    return fmax(2 * sum - 1, 1);
}

/* Those of a number, in a part of them. */
static double rows_of(struct learner *l, int j, int from, int rows)
{
    return part_of(l, j, from, rows) ? rows_of_z(l, rows) : fmax(rows, 1);
}

/* What is seen of that many rows in all, about their own mean, which hides a
 * part: each autocorrelation of a number that takes t of n rows is t / n less
 * than it is, and is added up until it is 0, which exp(-2 k / t) then is at k =
 * t / 2 log(n / t). More than SEEN_MOST of all rows is never seen, and may be
 * any number; it is then taken for the least of them. */
#define SEEN_MOST 0.28
static double part_seen(double share) /* t / n */
{
    return share * (1 - share * (1 - log(share)));
}

static double rows_seen_as(double seen, int rows)
{
    double low = 0, high = SEEN_MOST;
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        *(part_seen(middle) * rows < seen ? &low : &high) = middle;
    }
    return fmax(seen, high * rows);
}

/* All but a quarter. */
static int rows_looked_at(const struct learner *l)
{
    return l->h.rows - l->h.rows / 4;
}

/* From here on a time of these rows, in sweeps, may be any longer one. */
static double unseen_from(const struct learner *l)
{
    return l->h.stride * (SEEN_MOST * rows_looked_at(l));
}

/* The same in sweeps, without the first quarter of the rows, or the last, with
 * which it would be more: a chain that comes from far, or has been elsewhere
 * for once, is not slow for that. */
static double time_of(struct learner *l, int j)
{
    const int most = rows_looked_at(l);
    const double seen =
        fmin(rows_of(l, j, 0, most), rows_of(l, j, l->h.rows - most, most));
    return l->h.stride * rows_seen_as(seen, most);
}

/* Sweeps that z takes. */
static double time_of_z(const struct learner *l)
{
    return l->h.stride * rows_seen_as(rows_of_z(l, l->h.rows), l->h.rows);
}

/* Of numbers `from` .. `to` - 1, those that change least from row to row, if
 * slowly; how many. */
static int choose(const struct learner *l, int from, int to, int *chosen)
{
    int k = 0;
    bool taken[ALONG_CELLS] = {false};
    for (; k < ALONG_CHOSEN; k++) {
        int best = -1;
        for (int j = from; j < to; j++)
            if (!taken[j] && l->sd[j] > 0 &&
                (l->lag[j] > SLOW || l->h.always) &&
                (best < 0 || l->lag[j] > l->lag[best]))
                best = j;
        if (best < 0)
            break;
        taken[best] = true;
        chosen[k] = best;
    }
    return k;
}

/* z: the sum of the chosen with these weights, and how slow it is. */
static void follow(struct learner *l, const double *weights)
{
    double size = 0;
    for (int t = 0; t < l->rows; t++) {
        l->z[t] = 0;
        for (int i = 0; i < l->k; i++)
            l->z[t] += weights[i] * l->h.x[t * l->h.n + l->chosen[i]];
        size += l->z[t] * l->z[t] / l->rows;
    }
    for (int t = 0; t < l->rows; t++)
        l->z[t] = size > 0 ? l->z[t] / sqrt(size) : 0;
    l->slow = correlation(l->z, l->h.chains, l->h.rows, 1);
}

/* What the numbers do along z. Of those beside the chosen, what goes along by
 * chance alone, as few rows tell, stays. */
static void regress(const struct learner *l, double *line)
{
    bool chosen[ALONG_CELLS] = {false};
    for (int i = 0; i < l->k; i++)
        chosen[l->chosen[i]] = true;
    for (int j = 0; j < l->h.moving; j++) {
        double r = 0;
        for (int t = 0; t < l->rows; t++)
            r += l->z[t] * l->h.x[t * l->h.n + j] / l->rows;
        const double both = fmin(fmax(l->slow * l->lag[j], 0), 0.999);
        const double alone = l->rows * (1 - both) / (1 + both);
        line[j] = chosen[j] || r * r * alone > 4 ? r * l->sd[j] : 0;
    }
}

/* Eigenvalues of a symmetric matrix, ascending, and their eigenvectors, rows of
 * A. False: there are none. */
static bool diagonalise(square A, double *values, int n)
{
    /* lower by columns is upper by rows, and columns of the result are rows */
    return LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, A[0], ALONG_CHOSEN,
                          values) == 0;
}

/* Correlations of the chosen. */
static void correlate(const struct learner *l, square out)
{
    memset(out, 0, sizeof(square));
    for (int t = 0; t < l->rows; t++) {
        const double *x = l->h.x + t * l->h.n;
        for (int i = 0; i < l->k; i++)
            for (int j = 0; j <= i; j++)
                out[i][j] += x[l->chosen[i]] * x[l->chosen[j]] / l->rows;
    }
    for (int i = 0; i < l->k; i++) {
        out[i][i] += SHRINK;
        for (int j = 0; j < i; j++)
            out[j][i] = out[i][j];
    }
}

/* Eigenvectors of the chosen numbers' covariance in the measure of their
 * conditional deviations, the rows of V, with their eigenvalues, ascending;
 * `precise` [k]: the inverses of these deviations, so that the sum of
 * eigenvector v is that of v precise, by the number. */
static bool compare_with_alone(const struct learner *l, square V,
                               double *values, double *precise)
{
    square C;
    correlate(l, C);
    memcpy(V, C, sizeof(square));
    if (!diagonalise(V, values, l->k))
        return false;
    for (int i = 0; i < l->k; i++) {
        double precision = 0;
        for (int m = 0; m < l->k; m++)
            precision += V[m][i] * V[m][i] / values[m];
        precise[i] = sqrt(precision);
    }
    for (int i = 0; i < l->k; i++)
        for (int j = 0; j < l->k; j++)
            V[i][j] = C[i][j] * precise[i] * precise[j];
    return diagonalise(V, values, l->k);
}

static double largest(const double *times, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, times[i]);
    return most;
}

static void set_lines(struct learner *l, struct along_lines *lines, double cost)
{
    square V;
    double times[ALONG_CHOSEN], precise[ALONG_CHOSEN];
    const double slowest = largest(lines->before, l->k);
    lines->n = 0;
    if ((slowest < WORTH && !l->h.always) ||
        !compare_with_alone(l, V, times, precise))
        return;
    while (lines->n < ALONG_LINES && lines->n < l->k) {
        const int had = lines->n, next = l->k - 1 - had;
        /* the first is tried: what they are slow by may be none of these */
        const double time = had ? times[next] : slowest, left = had ? LEFT : 1;
        if (!l->h.always &&
            time * (1 + had * cost) < left * (1 + (had + 1) * cost))
            break;
        for (int i = 0; i < l->k; i++)
            lines->weights[had][i] = V[next][i] * precise[i];
        follow(l, lines->weights[had]);
        lines->slow = fmax(lines->slow, time_of_z(l));
        regress(l, lines->line[had]);
        lines->n++;
    }
}

/* How much shorter a time with lines, `now`, is than one before there were
 * lines. One that was not seen may be any longer one. So if neither was they
 * are alike, since there were more rows before; and a number that is seen to
 * forget with lines, and was not without, has gained more than can be told: at
 * the least of what it may have been a chain is of little use, and lines that
 * are left out there are missed more than others are in the way. */
static double shorter(const struct learner *l, const struct along_lines *lines,
                      double before, double now)
{
    const double unseen = unseen_from(l);
    if (now >= unseen)
        return fmin(before, unseen) / unseen;
    return (before < lines->unseen ? before : LONGER * lines->unseen) / now;
}

/* How much faster the slow numbers are: the slowest, or all on the geometric
 * mean. */
static double faster(const struct learner *l, const struct along_lines *lines,
                     const double *times)
{
    const int n = lines->njudged;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += log(shorter(l, lines, lines->before[i], times[i]));
    return fmax(exp(sum / n), shorter(l, lines, largest(lines->before, n),
                                      largest(times, n)));
}

/* A number's time is made up of those of the lines' sums, as far as these tell
 * of it, and of others', which lines leave as they are: what is less than the
 * latter is not due to them. */
static void credit(struct learner *l, const struct along_lines *lines,
                   double *times)
{
    double told[ALONG_JUDGED] = {0};
    for (int k = 0; k < lines->n; k++) {
        follow(l, lines->weights[k]);
        for (int i = 0; i < lines->njudged; i++) {
            double r = 0;
            for (int t = 0; t < l->rows; t++)
                r += l->z[t] * l->h.x[t * l->h.n + l->chosen[i]] / l->rows;
            told[i] += r * r;
        }
    }
    const double slow =
        lines->slow < lines->unseen ? lines->slow : LONGER * lines->unseen;
    for (int i = 0; i < lines->njudged; i++)
        times[i] = fmax(times[i], lines->before[i] - told[i] * slow);
}

static void learn(struct learner *l, struct along_lines *lines, double cost,
                  bool last)
{
    double times[ALONG_JUDGED] = {0};
    scale(l);
    if (lines->n == 0) {
        int *const chosen = lines->chosen;
        const int k = choose(l, 0, l->h.moving, chosen);
        lines->nchosen = k;
        lines->njudged = k + choose(l, l->h.moving, l->h.n, chosen + k);
    }
    l->k = lines->nchosen;
    if (l->k < 1)
        return;
    for (int i = 0; i < lines->njudged; i++)
        times[i] = time_of(l, l->chosen[i]);
    if (lines->n == 0) {
        memcpy(lines->before, times, sizeof times);
        lines->unseen = unseen_from(l);
        lines->slow = 0;
    }
    if (last)
        credit(l, lines, times);
    /* lines that were not tried make nothing faster */
    if (last && !l->h.always &&
        faster(l, lines, times) < GAIN * (1 + lines->n * cost))
        lines->n = 0;
    else
        set_lines(l, lines, cost);
}

bool along_learn(struct along_lines *lines, const struct along_history *history,
                 double cost, bool last)
{
    struct learner l = {.h = *history,
                        .rows = history->chains * history->rows,
                        .chosen = lines->chosen};
    if (l.rows < FEWEST)
        return true;
    l.z = malloc((size_t)l.rows * sizeof *l.z);
    if (!l.z)
        return false;
    learn(&l, lines, cost, last);
    free(l.z);
    return true;
}
