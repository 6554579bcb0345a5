/* ceiling: how fast this machine's memory is, for scale: the median over 15
 * repeats, as JSON on one line.
 *
 *   ceiling [MEGABYTES]   arrays of that size (default 256), all threads of
 *                         OpenMP (OMP_NUM_THREADS)
 *
 * Bytes count both ways, read and written. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 15 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double copy_seconds(double *to, const double *from, int64_t n)
{
    double start = omp_get_wtime();
#pragma omp parallel for simd
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i];
    return omp_get_wtime() - start;
}

static double read_seconds(const double *from, int64_t n, double *sum)
{
    double start = omp_get_wtime(), total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (int64_t i = 0; i < n; i++)
        total += from[i];
    *sum += total;
    return omp_get_wtime() - start;
}

int main(int argc, char **argv)
{
    int64_t n = (argc > 1 ? atol(argv[1]) : 256) * (1 << 20) / 8;
    double copy[REPEATS], read[REPEATS], sum = 0;
    if (n < 1)
        return 1;
    double *a = malloc((size_t)n * sizeof *a);
    double *b = malloc((size_t)n * sizeof *b);

    if (!a || !b) {
        fprintf(stderr, "ceiling: not enough memory\n");
        return 2;
    }
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        a[i] = b[i] = 1;
    for (int r = 0; r < REPEATS; r++) {
        copy[r] = copy_seconds(b, a, n);
        read[r] = read_seconds(b, n, &sum);
    }
    qsort(copy, REPEATS, sizeof *copy, by_value);
    qsort(read, REPEATS, sizeof *read, by_value);
    double bytes = 8.0 * (double)n;
    printf("{\"device\": \"host\", \"threads\": %d, \"copy_GB_s\": %.2f, "
           "\"read_GB_s\": %.2f, \"sum\": %g}\n",
           omp_get_max_threads(), 2 * bytes / copy[REPEATS / 2] * 1e-9,
           bytes / read[REPEATS / 2] * 1e-9, sum);
    free(a);
    free(b);
    return 0;
}
