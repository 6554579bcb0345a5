/* weights.c: sums over many particles, by several threads: those over pieces of
 * them are added up in order, so that they do not depend on the number of
 * threads. */
#include "powers/tempering.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE = 1024, WORTH_THREADS = 8 * PIECE };

bool rt_sums_create(struct rt_sums *s, int n, int threads)
{
    s->n = n;
    s->count = (n + PIECE - 1) / PIECE;
    s->threads = n < WORTH_THREADS ? 1 : threads;
    s->pieces = calloc((size_t)s->count, sizeof *s->pieces);
    return s->pieces != NULL;
}

void rt_sums_free(struct rt_sums *s)
{
    free(s->pieces);
    s->pieces = NULL;
}

static int end_of(const struct rt_sums *s, int piece)
{
    const int end = (piece + 1) * PIECE;
    return end < s->n ? end : s->n;
}

/* w = base + more slope; returns the largest one. */
static double find_logs(const struct rt_sums *s, const double *base,
                        const double *slope, double more, double *w)
{
    double most = -(double)INFINITY;
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int k = 0; k < s->count; k++) {
        double own = -(double)INFINITY;
        for (int i = k * PIECE; i < end_of(s, k); i++) {
            w[i] = base[i] + more * slope[i];
            own = w[i] > own ? w[i] : own;
        }
        s->pieces[k][0] = own;
    }
    for (int k = 0; k < s->count; k++)
        most = s->pieces[k][0] > most ? s->pieces[k][0] : most;
    return most;
}

/* Weights of the logarithms base + more slope beside the largest; their sum and
 * that of their squares. */
static double add_weights(const struct rt_sums *s, const double *base,
                          const double *slope, double more, double *weight,
                          double sums[2])
{
    const double most = find_logs(s, base, slope, more, weight);
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int k = 0; k < s->count; k++) {
        double own = 0, own_squares = 0;
        for (int i = k * PIECE; i < end_of(s, k); i++) {
            own += weight[i] = exp(weight[i] - most);
            own_squares += weight[i] * weight[i];
        }
        s->pieces[k][0] = own;
        s->pieces[k][1] = own_squares;
    }
    sums[0] = sums[1] = 0;
    for (int k = 0; k < s->count; k++) {
        sums[0] += s->pieces[k][0];
        sums[1] += s->pieces[k][1];
    }
    return most;
}

double rt_effective(const struct rt_sums *s, const double *base,
                    const double *slope, double more, double *scratch)
{
    double sums[2];
    (void)add_weights(s, base, slope, more, scratch, sums);
    return sums[0] * sums[0] / sums[1] / s->n;
}

double rt_weigh(const struct rt_sums *s, const double *base,
                const double *slope, double more, double *weight)
{
    double sums[2];
    const double most = add_weights(s, base, slope, more, weight, sums);
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int i = 0; i < s->n; i++)
        weight[i] /= sums[0];
    return most + log(sums[0] / s->n);
}

static void find_means(const struct rt_sums *s, const double *x,
                       const double *y, double *mx, double *my)
{
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int k = 0; k < s->count; k++) {
        double own_x = 0, own_y = 0;
        for (int i = k * PIECE; i < end_of(s, k); i++) {
            own_x += x[i];
            own_y += y[i];
        }
        s->pieces[k][0] = own_x;
        s->pieces[k][1] = own_y;
    }
    *mx = *my = 0;
    for (int k = 0; k < s->count; k++) {
        *mx += s->pieces[k][0] / s->n;
        *my += s->pieces[k][1] / s->n;
    }
}

void rt_add_products(const struct rt_sums *s, const double *x, const double *y,
                     double sums[3])
{
    double mx, my;
    find_means(s, x, y, &mx, &my);
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int k = 0; k < s->count; k++) {
        double xx = 0, yy = 0, xy = 0;
        for (int i = k * PIECE; i < end_of(s, k); i++) {
            xx += (x[i] - mx) * (x[i] - mx);
            yy += (y[i] - my) * (y[i] - my);
            xy += (x[i] - mx) * (y[i] - my);
        }
        s->pieces[k][0] = xx;
        s->pieces[k][1] = yy;
        s->pieces[k][2] = xy;
    }
    for (int k = 0; k < s->count; k++)
        for (int j = 0; j < 3; j++)
            sums[j] += s->pieces[k][j];
}
