/* directions.c: R-hat along eigenvectors of the pooled covariance. Where
 * parameters are correlated chains may agree in each of them and not along a
 * narrow direction: Chen (2015), Massively parallel dimension independent
 * adaptive Metropolis, sections 3.3.5 and 4.2. R-hat is that of each parameter
 * (diagnostics.h), of the draws' coordinates in that direction. */
#include "summary/directions.h"
#include "summary/diagnostics.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct axes {
    int d;
    int64_t n;       /* draws of all chains */
    double *x;       /* [d][n], about their means; then rotated */
    double *vectors; /* [d][d], the covariance; then one eigenvector a row */
    double *values;  /* [d] ascending */
    double *turned;  /* [d][n] */
};

static bool continues(const struct gbm_draws_variable *v)
{
    return !v->integer && v->group != GBM_LOG_LIKELIHOOD;
}

int64_t gbm_directions_cells(const struct gbm_draws *draws)
{
    int64_t n = 0;
    for (int i = 0; i < draws->nvariables; i++)
        if (continues(&draws->variables[i]))
            n += draws->variables[i].count;
    return n;
}

/* Draws of the cells, each about its mean; false: one is not finite. */
static bool gather(const struct gbm_draws *draws, struct axes *a)
{
    double *row = a->x;
    for (int i = 0; i < draws->nvariables; i++) {
        const struct gbm_draws_variable *v = &draws->variables[i];
        if (!continues(v))
            continue;
        gbm_draws_columns(draws, v->offset, v->count, row);
        row += v->count * a->n;
    }
    bool finite = true;
    for (int k = 0; k < a->d; k++) {
        double *y = a->x + k * a->n, mean = 0;
        for (int64_t i = 0; i < a->n; i++)
            mean += y[i] / (double)a->n;
        finite = finite && isfinite(mean);
        for (int64_t i = 0; i < a->n; i++)
            y[i] -= mean;
    }
    return finite;
}

/* The coordinates along the eigenvectors of the covariance; false: it has none,
 * as where its numbers overflow. */
static bool turn(struct axes *a)
{
    const int d = a->d, n = (int)a->n;
    openblas_set_num_threads(1); /* the same for any number of threads */
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, d, n, 1. / n, a->x, n,
                0, a->vectors, d);
    for (int64_t i = 0; i < (int64_t)d * d; i++)
        if (!isfinite(a->vectors[i]))
            return false;
    /* upper by rows is lower by columns, of which eigenvectors are columns */
    if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', d, a->vectors, d,
                       a->values) != 0)
        return false;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, n, d, 1,
                a->vectors, d, a->x, n, 0, a->turned, n);
    return true;
}

static double largest(struct gbm_diagnoser *g, const struct axes *a)
{
    const double least = 10 * a->d * DBL_EPSILON * a->values[a->d - 1];
    double rhat = NAN;
    for (int k = 0; k < a->d; k++) {
        struct gbm_diagnosis found;
        if (!(a->values[k] > least))
            continue;
        gbm_diagnose_with(g, a->turned + k * a->n, &found);
        rhat = fmax(rhat, found.rhat);
    }
    return rhat;
}

enum gbm_status gbm_directions_rhat(const struct gbm_draws *draws, double *rhat,
                                    char error[GBM_ERROR])
{
    struct axes a = {.d = (int)gbm_directions_cells(draws),
                     .n = (int64_t)draws->chains * draws->kept};
    const size_t d = (size_t)a.d, n = (size_t)a.n;
    *rhat = NAN;
    if (d == 0 || n == 0)
        return GBM_OK;
    struct gbm_diagnoser *g = gbm_diagnoser_create(draws->chains, draws->kept);
    a.x = malloc(d * n * sizeof *a.x);
    a.turned = malloc(d * n * sizeof *a.turned);
    a.vectors = calloc(d * d, sizeof *a.vectors);
    a.values = calloc(d, sizeof *a.values);
    const bool room = g && a.x && a.turned && a.vectors && a.values;
    if (room && gather(draws, &a) && turn(&a))
        *rhat = largest(g, &a);
    if (!room)
        snprintf(error, GBM_ERROR, "out of memory");
    gbm_diagnoser_free(g);
    free(a.x);
    free(a.turned);
    free(a.vectors);
    free(a.values);
    return room ? GBM_OK : GBM_FAILURE;
}
