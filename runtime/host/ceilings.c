/* ceilings.c: what this machine's memory and arithmetic can do, for a profile:
 * by memcpy and OpenBLAS, in as many threads as the run keeps busy. */
#include "host/host.h"
#include "base/base.h"

#include <cblas.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MATRIX = 192 }; /* its products stay in the cache */
static const double SECONDS = 4e-3;
static const double BYTES_LEAST = 16 << 10, BYTES_MOST = 128 << 20;
static const double BYTES_ROUND = 4 << 20; /* that are copied between looks at
                                              the clock */

/* Rounds of one kind: the fastest counts, as others may have been interrupted.
 */
struct rounds {
    double began, last, best;
    int n;
};

static struct rounds begin(void)
{
    const double now = rt_clock();
    return (struct rounds){.began = now, .last = now};
}

/* One more round, of so much work, has ended: whether there is another. */
static bool another(struct rounds *r, double work)
{
    enum { LEAST = 5 };
    const double now = rt_clock(), rate = work / (now - r->last);
    r->best = rate > r->best ? rate : r->best;
    r->last = now;
    return ++r->n < LEAST || now - r->began < SECONDS;
}

/* Bytes a second, read and written; the second half to the first. */
static double copy_rate(char *memory, size_t bytes)
{
    const size_t half = bytes / 2;
    const int times = 1 + (int)(BYTES_ROUND / (double)bytes);
    memset(memory, 1, bytes);
    struct rounds r = begin();
    do
        for (int i = 0; i < times; i++) {
            memcpy(memory, memory + half, half);
            /* the copy is needed, for all that the compiler knows */
            __asm__ volatile("" : : "r"(memory) : "memory");
        }
    while (another(&r, 2.0 * times * (double)half));
    return r.best;
}

/* Operations a second. */
static double multiply_rate(double *m)
{
    const int n = MATRIX * MATRIX;
    for (int i = 0; i < 3 * n; i++)
        m[i] = 1.0 / (1 + i % 7);
    struct rounds r = begin();
    do
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, MATRIX, MATRIX,
                    MATRIX, 1, m, MATRIX, m + n, MATRIX, 0, m + 2 * n, MATRIX);
    while (another(&r, 2.0 * n * MATRIX));
    return r.best;
}

/* All threads at once; a chain has its share of what they do. */
void host_measure(int threads, int chains, double bytes,
                  struct rt_ceilings *out)
{
    double bandwidth = 0, rate = 0;
    int failed = 0;
    bytes = bytes < BYTES_LEAST ? BYTES_LEAST : bytes;
    bytes = bytes > BYTES_MOST ? BYTES_MOST : bytes;
#pragma omp parallel num_threads(threads) reduction(+ : bandwidth, rate, failed)
    {
        char *memory = malloc((size_t)bytes);
        double *matrices = malloc(sizeof(double) * 3 * MATRIX * MATRIX);
        failed = !memory || !matrices;
#pragma omp barrier
        bandwidth = failed ? 0 : copy_rate(memory, (size_t)bytes);
#pragma omp barrier
        rate = failed ? 0 : multiply_rate(matrices);
        free(memory);
        free(matrices);
    }
    const double share = failed ? 0 : 1.0 / chains;
    *out = (struct rt_ceilings){.bandwidth = share * bandwidth,
                                .rate = share * rate,
                                .copied = bytes,
                                .real = sizeof(double)};
}
