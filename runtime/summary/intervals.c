/* intervals.c: quantiles and intervals that a person asks for, beside those
 * that every summary has. */
#include "summary/summary.h"

#include <math.h>
#include <stdlib.h>

int gbm_view_intervals(const struct gbm_view *view)
{
    return view->nquantiles + (view->hdi > 0 ? 2 : 0);
}

void gbm_view_title(const struct gbm_view *view, int k, bool key,
                    char out[GBM_TITLE])
{
    double outside = 50 * (1 - view->hdi);

    if (k < view->nquantiles)
        snprintf(out, GBM_TITLE, key ? "q%.6g" : "%.6g%%", view->quantiles[k]);
    else
        snprintf(out, GBM_TITLE, "hdi_%.6g%%",
                 k == view->nquantiles ? outside : 100 - outside);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Type 7, as everywhere. */
static double quantile(const double *x, int64_t n, double p)
{
    double h = (double)(n - 1) * p, low = floor(h);
    int64_t i = (int64_t)low;
    double a = x[i], b = i + 1 < n ? x[i + 1] : a;

    return a + (h - low) * (b - a);
}

/* The shortest interval from one draw to another with `mass` of the draws
 * between, as ArviZ's hdi (Chen and Shao 1999). */
static void shortest(const double *x, int64_t n, double mass, double *out)
{
    int64_t step = (int64_t)floor(mass * (double)n), best = 0;

    if (step > n - 1)
        step = n - 1;
    for (int64_t i = 1; i + step < n; i++)
        if (x[i + step] - x[i] < x[best + step] - x[best])
            best = i;
    out[0] = x[best];
    out[1] = x[best + step];
}

void gbm_intervals(const struct gbm_view *view, double *x, int64_t n,
                   double *out)
{
    int count = gbm_view_intervals(view);
    bool whole = n > 0;

    for (int64_t i = 0; i < n; i++)
        whole = whole && !isnan(x[i]);
    if (!whole) {
        for (int k = 0; k < count; k++)
            out[k] = NAN;
        return;
    }
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int k = 0; k < view->nquantiles; k++)
        out[k] = quantile(x, n, view->quantiles[k] / 100);
    if (view->hdi > 0)
        shortest(x, n, view->hdi, out + view->nquantiles);
}

enum gbm_status gbm_summary_view(struct gbm_summary *summary,
                                 const struct gbm_view *view,
                                 char error[GBM_ERROR])
{
    const struct gbm_draws *draws = summary->draws;
    int64_t n = (int64_t)draws->chains * draws->kept;
    int count = gbm_view_intervals(view), failed = 0;

    summary->view = *view;
    if (count == 0)
        return GBM_OK;
    summary->intervals = malloc(
        (size_t)(summary->count * count) * sizeof *summary->intervals + 1);
    failed = !summary->intervals;
#pragma omp parallel reduction(| : failed)
    {
        double *x = malloc((size_t)n * sizeof *x + 1);

        failed |= !x;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < summary->count; i++) {
            if (failed)
                continue;
            gbm_draws_columns(draws, i, 1, x);
            gbm_intervals(view, x, n, summary->intervals + i * count);
        }
        free(x);
    }
    if (!failed)
        return GBM_OK;
    snprintf(error, GBM_ERROR, "out of memory");
    return GBM_FAILURE;
}
