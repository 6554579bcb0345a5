/* criteria.c: how well a model predicts: LOO, WAIC and DIC. */
#include "summary/criteria.h"
#include "summary/psis.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct gbm_estimate gbm_estimate_sum(const double *x, int64_t n)
{
    double sum = 0, squares = 0, count = (double)n;

    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - sum / count) * (x[i] - sum / count);
    return (struct gbm_estimate){
        sum, n > 1 ? sqrt(count * squares / (count - 1)) : 0};
}

/* ESS of means over the number of draws, averaged over all quantities of the
 * posterior, data in them included, as ArviZ does; 1 of one chain. */
static double relative_efficiency(const struct gbm_summary *summary)
{
    const struct gbm_draws *draws = summary->draws;
    double n = (double)draws->chains * draws->kept, sum = 0;
    int64_t cells = 0;

    for (int i = 0; i < draws->nvariables; i++) {
        const struct gbm_draws_variable *v = &draws->variables[i];

        if (v->group != GBM_POSTERIOR)
            continue;
        for (int64_t k = 0; k < v->count; k++) {
            const struct gbm_diagnosis *d = &summary->diagnoses[v->offset + k];
            double ratio = d->sd / d->mcse;

            sum += d->mcse == 0 ? 1 : ratio * ratio / n;
        }
        sum += (double)(v->length - v->count);
        cells += v->length;
    }
    sum /= (double)cells;
    return draws->chains > 1 && sum > 0 && isfinite(sum) ? sum : 1;
}

/* x: the log likelihood of an observation at n draws; it becomes weights of
 * leaving the observation out. */
static struct gbm_prediction predict(double *x, int64_t n, double reff,
                                     double *work)
{
    struct gbm_prediction p = {.lppd = gbm_log_sum_exp(x, n) - log((double)n)};
    double mean = 0, squares = 0, *log_lik = work + 2 * n;

    for (int64_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    p.p_waic = n > 1 ? squares / (double)(n - 1) : 0;
    for (int64_t i = 0; i < n; i++) {
        log_lik[i] = x[i];
        x[i] = -x[i];
    }
    p.k = gbm_psis(x, n, reff, work);
    for (int64_t i = 0; i < n; i++)
        x[i] += log_lik[i];
    p.loo = gbm_log_sum_exp(x, n);
    return p;
}

static enum gbm_status find_points(struct gbm_criteria *c)
{
    const struct gbm_draws *draws = c->draws;
    int64_t n = (int64_t)draws->chains * draws->kept;
    int threads = c->count * n < 20000 ? 1 : omp_get_max_threads(), failed = 0;

    c->points = malloc((size_t)c->count * sizeof *c->points);
    if (!c->points)
        return GBM_FAILURE;
#pragma omp parallel num_threads(threads) reduction(| : failed)
    {
        double *x = malloc((size_t)(4 * n) * sizeof *x);

        failed = !x;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < c->count; i++) {
            if (failed)
                continue;
            gbm_draws_columns(draws, draws->quantities + i, 1, x);
            c->points[i] = predict(x, n, c->reff, x + n);
        }
        free(x);
    }
    return failed ? GBM_FAILURE : GBM_OK;
}

static enum gbm_status add_points(struct gbm_criteria *c)
{
    double *x = calloc((size_t)c->count, sizeof *x);

    if (!x)
        return GBM_FAILURE;
#define SUM(estimate, of)                                                      \
    for (int64_t i = 0; i < c->count; i++) {                                   \
        const struct gbm_prediction *p = &c->points[i];                        \
        x[i] = of;                                                             \
    }                                                                          \
    c->estimate = gbm_estimate_sum(x, c->count)
    SUM(elpd_loo, p->loo);
    SUM(p_loo, p->lppd - p->loo);
    SUM(elpd_waic, p->lppd - p->p_waic);
    SUM(p_waic, p->p_waic);
#undef SUM
    free(x);
    return GBM_OK;
}

/* The column of a record that is the deviance, or -1. */
static int64_t deviance_column(const struct gbm_draws *draws)
{
    for (int i = 0; i < draws->nvariables && draws->has_deviance; i++)
        if (draws->variables[i].group == GBM_POSTERIOR &&
            strcmp(draws->variables[i].name, "deviance") == 0)
            return draws->variables[i].offset;
    return -1;
}

static void find_deviance(struct gbm_criteria *c)
{
    const struct gbm_draws *draws = c->draws;
    int64_t at = deviance_column(draws);
    double total = 0, half_variance = 0;

    for (int chain = 0; chain < draws->chains && at >= 0; chain++) {
        double sum = 0, squares = 0;

        for (int i = 0; i < draws->kept; i++)
            sum += gbm_draws_record(draws, chain, i)[at];
        for (int i = 0; i < draws->kept; i++) {
            double x =
                gbm_draws_record(draws, chain, i)[at] - sum / draws->kept;
            squares += x * x;
        }
        total += sum;
        half_variance += squares / (draws->kept - 1) / 2;
    }
    if (at < 0 || draws->kept < 2)
        return;
    c->mean_deviance = total / draws->chains / draws->kept;
    c->pd = c->mean_deviance - draws->deviance_at_means;
    c->pv = half_variance / draws->chains;
}

enum gbm_status gbm_criteria_find(struct gbm_criteria *c,
                                  const struct gbm_summary *summary,
                                  char error[GBM_ERROR])
{
    const struct gbm_draws *draws = summary->draws;
    double n = (double)draws->chains * draws->kept;

    *c = (struct gbm_criteria){
        .draws = draws, .mean_deviance = NAN, .pd = NAN, .pv = NAN};
    find_deviance(c);
    if (draws->width == draws->quantities || draws->kept == 0)
        return GBM_OK;
    c->count = draws->width - draws->quantities;
    c->reff = relative_efficiency(summary);
    c->good_k = n > 10 ? fmin(1 - 1 / log10(n), 0.7) : 0;
    if (find_points(c) == GBM_OK && add_points(c) == GBM_OK)
        return GBM_OK;
    gbm_criteria_free(c);
    snprintf(error, GBM_ERROR, "out of memory");
    return GBM_FAILURE;
}

void gbm_criteria_free(struct gbm_criteria *c)
{
    free(c->points);
    *c = (struct gbm_criteria){0};
}

void gbm_criteria_name(const struct gbm_criteria *c, int64_t i, char *out,
                       size_t capacity)
{
    int64_t at = c->draws->quantities + i;

    for (int k = 0; k < c->draws->nvariables; k++) {
        const struct gbm_draws_variable *v = &c->draws->variables[k];
        int64_t cell = at - v->offset;

        if (cell >= 0 && cell < v->count)
            gbm_cell_name(v->name, v->ndim, v->dim,
                          v->cells ? v->cells[cell] : cell, out, capacity);
    }
}
