/* probit_loop.c: what a plain C program with OpenBLAS takes for the probit
 * regression with a horseshoe prior: latent values of Albert and Chib (1993),
 * coefficients jointly from X'X + D and X'z, scales by the mixtures of Makalic
 * and Schmidt (2016), no more. What examples/horseshoe_probit is compared with
 * (bench/probit). Prints milliseconds of CPU time a sweep, and the means of the
 * first coefficients.
 *
 *   cc -O3 -march=native -fno-math-errno bench/probit_loop.c -llapacke
 *      -lopenblas -lm -o probit_loop
 *   ./probit_loop N P SWEEPS <X and y, as float and int, raw */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112, LOWER = 122 };
enum { SHOWN = 6 };

void cblas_dgemv(int order, int trans, int m, int n, double alpha,
                 const double *a, int lda, const double *x, int incx,
                 double beta, double *y, int incy);
void cblas_dsyrk(int order, int uplo, int trans, int n, int k, double alpha,
                 const double *a, int lda, double beta, double *c, int ldc);
void cblas_dtrsv(int order, int uplo, int trans, int diag, int n,
                 const double *a, int lda, double *x, int incx);
int LAPACKE_dpotrf(int order, char uplo, int n, double *a, int lda);

static uint64_t state[2] = {1, 2};

static double uniform(void) /* xorshift128+ */
{
    uint64_t a = state[0], b = state[1];
    state[0] = b;
    a ^= a << 23;
    state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return ((double)((state[1] + b) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void) /* Marsaglia and Bray (1964) */
{
    static double kept;
    static int have;
    double u, v, s;
    if (have) {
        have = 0;
        return kept;
    }
    do {
        u = 2 * uniform() - 1;
        v = 2 * uniform() - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    s = sqrt(-2 * log(s) / s);
    kept = v * s;
    have = 1;
    return u * s;
}

static double gamma_draw(double shape) /* Marsaglia and Tsang (2000) */
{
    const double d = shape - 1. / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal(), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(uniform()) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/* A standard normal above `least`: Robert (1995). */
static double above(double least)
{
    double x;
    if (least < 0.45) {
        do
            x = normal();
        while (x < least);
        return x;
    }
    const double rate = 0.5 * (least + sqrt(least * least + 4));
    do
        x = least - log(uniform()) / rate;
    while (log(uniform()) > -0.5 * (x - rate) * (x - rate));
    return x;
}

struct chain {
    int n, p;
    double *x, *cross, *matrix, *z, *beta, *local, *added;
    int *y;
    double global, global_added;
};

static void latent(struct chain *c)
{
    cblas_dgemv(ROW_MAJOR, PLAIN, c->n, c->p, 1, c->x, c->p, c->beta, 1, 0,
                c->z, 1);
    for (int i = 0; i < c->n; i++) {
        const double sign = c->y[i] ? 1 : -1;
        c->z[i] += sign * above(-sign * c->z[i]);
    }
}

/* beta ~ N(A^-1 X'z, A^-1), A = X'X + 1 / (local global) */
static void coefficients(struct chain *c)
{
    const int p = c->p;
    memcpy(c->matrix, c->cross, (size_t)p * (size_t)p * sizeof *c->matrix);
    for (int j = 0; j < p; j++)
        c->matrix[j * p + j] += 1 / (c->local[j] * c->global);
    LAPACKE_dpotrf(ROW_MAJOR, 'L', p, c->matrix, p);
    cblas_dgemv(ROW_MAJOR, TRANSPOSED, c->n, p, 1, c->x, p, c->z, 1, 0, c->beta,
                1);
    cblas_dtrsv(ROW_MAJOR, LOWER, PLAIN, 131, p, c->matrix, p, c->beta, 1);
    for (int j = 0; j < p; j++)
        c->beta[j] += normal();
    cblas_dtrsv(ROW_MAJOR, LOWER, TRANSPOSED, 131, p, c->matrix, p, c->beta, 1);
}

/* Squares of the scales. */
static void scales(struct chain *c)
{
    double sum = 0;
    for (int j = 0; j < c->p; j++) {
        const double square = 0.5 * c->beta[j] * c->beta[j];
        c->local[j] = (1 / c->added[j] + square / c->global) / -log(uniform());
        c->added[j] = (1 + 1 / c->local[j]) / -log(uniform());
        sum += square / c->local[j];
    }
    c->global = (1 / c->global_added + sum) / gamma_draw(0.5 * (c->p + 1));
    c->global_added = (1 + 1 / c->global) / -log(uniform());
}

static double *numbers(int n, double value)
{
    double *x = malloc((size_t)n * sizeof *x);
    for (int i = 0; x && i < n; i++)
        x[i] = value;
    if (!x)
        exit(2);
    return x;
}

static struct chain read_data(int n, int p)
{
    struct chain c = {n, p, .global = 1, .global_added = 1};
    float *row = malloc((size_t)p * sizeof *row);
    c.x = numbers(n * p, 0);
    c.y = malloc((size_t)n * sizeof *c.y);
    for (int i = 0; row && i < n; i++) {
        if (fread(row, sizeof *row, (size_t)p, stdin) != (size_t)p)
            exit(1);
        for (int j = 0; j < p; j++)
            c.x[i * p + j] = row[j];
    }
    if (!row || !c.y || fread(c.y, sizeof *c.y, (size_t)n, stdin) != (size_t)n)
        exit(1);
    free(row);
    c.z = numbers(n, 0);
    c.beta = numbers(p, 0);
    c.local = numbers(p, 1);
    c.added = numbers(p, 1);
    c.matrix = numbers(p * p, 0);
    c.cross = numbers(p * p, 0);
    cblas_dsyrk(ROW_MAJOR, LOWER, TRANSPOSED, p, n, 1, c.x, p, 0, c.cross, p);
    return c;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 1;
    const int n = atoi(argv[1]), p = atoi(argv[2]), sweeps = atoi(argv[3]);
    struct chain c = read_data(n, p);
    double sum[SHOWN] = {0};
    clock_t began = clock();
    for (int t = -sweeps / 4; t < sweeps; t++) {
        if (t == 0)
            began = clock();
        latent(&c);
        coefficients(&c);
        scales(&c);
        for (int j = 0; t >= 0 && j < SHOWN && j < p; j++)
            sum[j] += c.beta[j];
    }
    printf("%.6f", 1e3 * (double)(clock() - began) / CLOCKS_PER_SEC / sweeps);
    for (int j = 0; j < SHOWN && j < p; j++)
        printf(" %.4f", sum[j] / sweeps);
    printf("\n");
    return 0;
}
