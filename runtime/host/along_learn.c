/* along_learn.c: which lines a chain moves along.
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
 * A line must pay, as it makes each sweep longer: a sum must be slow, and what
 * is slowest with the lines must be faster, by more than they cost. */
#include "host/along.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 3.0    /* the time that a sum is thought to have with its line */
#define WORTH 8.0   /* sweeps that the slowest sum takes, at least */
#define SLOW 0.5    /* correlation of neighbours from which a number is */
#define FEWEST 32   /* rows to learn from */
#define SHRINK 0.02 /* of correlations, which few rows tell */

typedef double square[ALONG_CHOSEN][ALONG_CHOSEN];

struct learner {
    int n, rows, stride, k;
    double *h; /* [rows][n], scaled */
    double sd[ALONG_CELLS];
    double lag[ALONG_CELLS]; /* correlation of neighbours */
    const int *chosen;       /* [k] */
    double z[ALONG_ROWS];    /* a sum of the chosen, of variance 1 */
    double slow;             /* its correlation of neighbours */
};

static void scale(struct learner *l)
{
    for (int j = 0; j < l->n; j++) {
        double mean = 0, size = 0, lag = 0;
        for (int t = 0; t < l->rows; t++)
            mean += l->h[t * l->n + j] / l->rows;
        for (int t = 0; t < l->rows; t++) {
            const double d = l->h[t * l->n + j] - mean;
            size += d * d / l->rows;
        }
        const double sd = sqrt(size);
        const bool moves = isfinite(sd) && sd > 1e-12 * fabs(mean);
        for (int t = 0; t < l->rows; t++) {
            double *h = &l->h[t * l->n + j];
            *h = moves ? (*h - mean) / sd : 0;
            if (t > 0)
                lag += *h * h[-l->n] / l->rows;
        }
        l->sd[j] = moves ? sd : 0;
        l->lag[j] = lag;
    }
}

/* The numbers that change least from row to row, if slowly; how many. */
static int choose(const struct learner *l, int *chosen)
{
    int k = 0;
    bool taken[ALONG_CELLS] = {false};
    for (; k < ALONG_CHOSEN; k++) {
        int best = -1;
        for (int j = 0; j < l->n; j++)
            if (!taken[j] && l->sd[j] > 0 && l->lag[j] > SLOW &&
                (best < 0 || l->lag[j] > l->lag[best]))
                best = j;
        if (best < 0)
            break;
        taken[best] = true;
        chosen[k] = best;
    }
    return k;
}

/* One rotation of Jacobi's method: makes A[p][q] 0; V's columns follow. */
static void rotate(square A, square V, int n, int p, int q)
{
    const double half = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    const double t = copysign(1 / (fabs(half) + sqrt(half * half + 1)), half);
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        const double x = A[k][p], y = A[k][q], v = V[k][p], w = V[k][q];
        A[k][p] = c * x - s * y;
        A[k][q] = s * x + c * y;
        V[k][p] = c * v - s * w;
        V[k][q] = s * v + c * w;
    }
    for (int k = 0; k < n; k++) {
        const double x = A[p][k], y = A[q][k];
        A[p][k] = c * x - s * y;
        A[q][k] = s * x + c * y;
    }
}

/* Eigenvalues of a symmetric matrix on its diagonal, vectors in V's columns. */
static void diagonalise(square A, square V, int n)
{
    enum { SWEEPS = 12 };
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            V[i][j] = i == j;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (fabs(A[p][q]) > 1e-12)
                    rotate(A, V, n, p, q);
}

/* The mean of products of the chosen numbers, `lag` rows apart. */
static void products(const struct learner *l, int lag, square out)
{
    memset(out, 0, sizeof(square));
    for (int t = lag; t < l->rows; t++)
        for (int i = 0; i < l->k; i++)
            for (int j = 0; j < l->k; j++) {
                const double *now = l->h + t * l->n, *before = now - lag * l->n;
                out[i][j] += (now[l->chosen[i]] * before[l->chosen[j]] +
                              now[l->chosen[j]] * before[l->chosen[i]]) /
                             (2.0 * l->rows);
            }
}

static int largest(const square A, int k)
{
    int best = 0;
    for (int i = 1; i < k; i++)
        best = A[i][i] > A[best][best] ? i : best;
    return best;
}

/* z: the sum of the chosen with these weights, and how slow it is. */
static void follow(struct learner *l, const double *weights)
{
    double size = 0, lag = 0;
    for (int t = 0; t < l->rows; t++) {
        l->z[t] = 0;
        for (int i = 0; i < l->k; i++)
            l->z[t] += weights[i] * l->h[t * l->n + l->chosen[i]];
        size += l->z[t] * l->z[t] / l->rows;
    }
    for (int t = 0; t < l->rows; t++)
        l->z[t] = size > 0 ? l->z[t] / sqrt(size) : 0;
    for (int t = 1; t < l->rows; t++)
        lag += l->z[t] * l->z[t - 1] / l->rows;
    l->slow = lag;
}

/* Sweeps that the slowest sum takes to forget what it was. */
static double slowest(struct learner *l)
{
    square A, V;
    double weights[ALONG_CHOSEN];
    products(l, 1, A);
    diagonalise(A, V, l->k);
    const int best = largest(A, l->k);
    for (int i = 0; i < l->k; i++)
        weights[i] = V[i][best];
    follow(l, weights);
    const double r = fmin(fmax(l->slow, 0), 0.999);
    return l->stride * (1 + r) / (1 - r);
}

/* What the numbers do along z. Of those beside the chosen, what goes along by
 * chance alone, as few rows tell, stays. */
static void regress(const struct learner *l, double *line)
{
    bool chosen[ALONG_CELLS] = {false};
    for (int i = 0; i < l->k; i++)
        chosen[l->chosen[i]] = true;
    for (int j = 0; j < l->n; j++) {
        double r = 0;
        for (int t = 0; t < l->rows; t++)
            r += l->z[t] * l->h[t * l->n + j] / l->rows;
        const double both = fmin(fmax(l->slow * l->lag[j], 0), 0.999);
        const double alone = l->rows * (1 - both) / (1 + both);
        line[j] = chosen[j] || r * r * alone > 4 ? r * l->sd[j] : 0;
    }
}

/* Eigenvectors V of the chosen numbers' covariance in the measure of their
 * conditional deviations, eigenvalues on A's diagonal; `precise` [k]: the
 * inverses of these, so that the sum of eigenvector v is that of V / precise,
 * by the eigenvalue. */
static void compare_with_alone(const struct learner *l, square A, square V,
                               double *precise)
{
    square W;
    products(l, 0, A);
    for (int i = 0; i < l->k; i++)
        A[i][i] += SHRINK;
    diagonalise(A, V, l->k);
    for (int i = 0; i < l->k; i++) {
        double precision = 0;
        for (int m = 0; m < l->k; m++)
            precision += V[i][m] * V[i][m] / A[m][m];
        precise[i] = sqrt(precision);
    }
    products(l, 0, W);
    for (int i = 0; i < l->k; i++)
        for (int j = 0; j < l->k; j++)
            A[i][j] =
                (W[i][j] + (i == j ? SHRINK : 0)) * precise[i] * precise[j];
    diagonalise(A, V, l->k);
}

static void set_lines(struct learner *l, struct along_chain *chain, double cost)
{
    square A, V;
    double precise[ALONG_CHOSEN], weights[ALONG_CHOSEN];
    compare_with_alone(l, A, V, precise);
    chain->nlines = 0;
    while (chain->nlines < ALONG_LINES && chain->nlines < l->k) {
        const int had = chain->nlines, best = largest(A, l->k);
        const double time = A[best][best];
        if (time * (1 + had * cost) < LEFT * (1 + (had + 1) * cost))
            break;
        A[best][best] = -INFINITY;
        for (int i = 0; i < l->k; i++)
            weights[i] = V[i][best] * precise[i];
        follow(l, weights);
        regress(l, chain->line[had]);
        chain->width[had] = 2;
        chain->nlines++;
    }
}

void along_learn(struct along_chain *chain, double *history, int n, int stride,
                 double cost, bool last)
{
    struct learner l = {.n = n,
                        .rows = chain->rows,
                        .stride = stride,
                        .h = history,
                        .chosen = chain->chosen};
    chain->rows = 0;
    if (l.rows < FEWEST)
        return;
    scale(&l);
    if (chain->nlines == 0)
        chain->nchosen = choose(&l, chain->chosen);
    l.k = chain->nchosen;
    if (l.k < 2)
        return;
    const double time = slowest(&l);
    if (chain->nlines == 0)
        chain->first = time;
    else if (last && time * (1 + chain->nlines * cost) > chain->first)
        chain->first = chain->nlines = 0;
    if (chain->first > WORTH)
        set_lines(&l, chain, cost);
}
