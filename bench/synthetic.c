/* synthetic: the probit regression data of Terenin, Dong and Draper (2019),
 * equation (13):
 *
 *     x[i,j] ~ N(0, 1),  beta = (1.3, 4, -1, 1.6, 5, -2, 0, ..., 0),
 *     y[i] ~ Bernoulli(Phi(x[i,] beta)).
 *
 *   synthetic N P FOLDER    writes FOLDER/X.npy (float, N x P), FOLDER/y.npy
 *                           (int) and FOLDER/size.json with N and p
 *
 * A number depends on its row alone, so the files do not depend on the number
 * of threads. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double effect[] = {1.3, 4, -1, 1.6, 5, -2};
enum { NEFFECTS = 6, BATCH = 4096 };

/* splitmix64: Steele, Lea and Flood (2014). */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double next_uniform(uint64_t *state)
{
    return ((double)(next_bits(state) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller (1958). */
static void next_normals(uint64_t *state, double *a, double *b)
{
    double radius = sqrt(-2 * log(next_uniform(state)));
    double angle = 2 * 3.14159265358979323846 * next_uniform(state);
    *a = radius * cos(angle);
    *b = radius * sin(angle);
}

static int draw_row(int64_t i, int p, float *x)
{
    uint64_t state = 0x5851f42d4c957f2du * (uint64_t)(i + 1);
    double eta = 0, a, b;

    for (int j = 0; j < p; j += 2) {
        next_normals(&state, &a, &b);
        x[j] = (float)a;
        if (j + 1 < p)
            x[j + 1] = (float)b;
    }
    for (int j = 0; j < p && j < NEFFECTS; j++)
        eta += effect[j] * (double)x[j];
    return next_uniform(&state) < 0.5 * erfc(-eta / sqrt(2.0));
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

/* The header of numpy's format, version 1.0. */
static void write_header(FILE *file, const char *type, const char *shape)
{
    char text[118];
    int n = snprintf(text, sizeof text,
                     "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                     type, shape);
    memset(text + n, ' ', sizeof text - (size_t)n - 1);
    text[sizeof text - 1] = '\n';
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc((int)sizeof text & 255, file);
    fputc((int)sizeof text >> 8, file);
    fwrite(text, 1, sizeof text, file);
}

int main(int argc, char **argv)
{
    long n = argc == 4 ? atol(argv[1]) : 0;
    int p = argc == 4 ? atoi(argv[2]) : 0;
    char shape[64];

    if (n < 1 || p < 1) {
        fprintf(stderr, "usage: synthetic N P FOLDER\n");
        return 1;
    }
    float *x = malloc((size_t)BATCH * (size_t)p * sizeof *x);
    int32_t *y = malloc((size_t)n * sizeof *y);
    if (!x || !y) {
        fprintf(stderr, "synthetic: not enough memory\n");
        return 2;
    }
    FILE *file = open_in(argv[3], "X.npy");
    snprintf(shape, sizeof shape, "(%ld, %d)", n, p);
    write_header(file, "<f4", shape);
    for (long first = 0; first < n; first += BATCH) {
        long rows = n - first < BATCH ? n - first : BATCH;
#pragma omp parallel for
        for (long i = 0; i < rows; i++)
            y[first + i] = draw_row(first + i, p, x + i * p);
        fwrite(x, sizeof *x, (size_t)rows * (size_t)p, file);
    }
    int bad = fclose(file);

    file = open_in(argv[3], "y.npy");
    snprintf(shape, sizeof shape, "(%ld,)", n);
    write_header(file, "<i4", shape);
    fwrite(y, sizeof *y, (size_t)n, file);
    bad |= fclose(file);

    file = open_in(argv[3], "size.json");
    fprintf(file, "{\"N\": %ld, \"p\": %d}\n", n, p);
    bad |= fclose(file);
    free(x);
    free(y);
    if (bad)
        fprintf(stderr, "synthetic: cannot write %s\n", argv[3]);
    return bad ? 2 : 0;
}
