/* estimates.c: means, deviations and quantiles of what the particles of a
 * filter are, of a time and looking back, and of several filters together. */
#include "filter/filter.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum gbm_status rt_filter_no_memory(struct rt_filter *f)
{
    return rt_fail(f->rt, GBM_FAILURE,
                   "no memory for %d particles; fewer with --particles", f->n);
}

/* ---- of one filter ---- */

static double value_of(const struct rt_filter *f, const struct rt_tracked *c,
                       int particle)
{
    return rt_value(&f->particles.slots[c->variable],
                    f->in.model->variables[c->variable].integer, particle,
                    c->cell);
}

struct sorted {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    const double x = ((const struct sorted *)a)->value;
    const double y = ((const struct sorted *)b)->value;
    return (x > y) - (x < y);
}

const double rt_filter_levels[RT_QUANTILES] = {0.05, 0.5, 0.95};

/* Moments and quantiles of one cell, of particle `at[i]` with weight[i]. */
static struct rt_estimate estimate(const struct rt_filter *f,
                                   const struct rt_tracked *c, const int *at,
                                   struct sorted *room)
{
    struct rt_estimate e = {0};
    double square = 0, total = 0;
    int q = 0;
    for (int i = 0; i < f->n; i++) {
        room[i].value = value_of(f, c, at ? at[i] : i);
        room[i].weight = f->weight[i];
        if (room[i].weight > 0)
            e.mean += room[i].weight * room[i].value;
    }
    for (int i = 0; i < f->n; i++)
        if (room[i].weight > 0)
            square += room[i].weight * (room[i].value - e.mean) *
                      (room[i].value - e.mean);
    e.sd = sqrt(square);
    qsort(room, (size_t)f->n, sizeof *room, by_value);
    for (int i = 0; i < f->n; i++) {
        total += room[i].weight;
        while (q < RT_QUANTILES && total >= rt_filter_levels[q])
            e.quantile[q++] = room[i].value;
    }
    while (q < RT_QUANTILES)
        e.quantile[q++] = room[f->n - 1].value;
    return e;
}

static struct rt_estimate *estimates_of(const struct rt_filter *f, int number,
                                        bool smoothed)
{
    return f->estimates + (2 * number + smoothed) * f->result.ncells;
}

/* Of the n cells f->list; particle i is `at[i]`, or itself. */
static enum gbm_status estimate_list(struct rt_filter *f, int64_t n,
                                     const int *at, bool smoothed)
{
    struct rt_estimate *out = estimates_of(f, f->number, smoothed);
    bool ok = true;
#pragma omp parallel num_threads(f->rt->threads) if (n > 1)
    {
        struct sorted *room = malloc((size_t)f->n * sizeof *room);
        if (!room) {
#pragma omp critical
            ok = false;
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            if (room)
                out[f->list[i]] =
                    estimate(f, &f->result.cells[f->list[i]], at, room);
        free(room);
    }
    return ok ? GBM_OK : rt_filter_no_memory(f);
}

enum gbm_status rt_filter_estimate(struct rt_filter *f, int t)
{
    int64_t n = 0;
    for (int64_t i = t == 1 ? 0 : f->listed;
         i < f->result.ncells && f->result.cells[i].time == t; i++)
        f->list[n++] = i;
    f->listed = (t == 1 ? 0 : f->listed) + n;
    return estimate_list(f, n, NULL, false);
}

/* The effective number of different particles that the weights' paths go
 * through. */
static double count_paths(struct rt_filter *f, double *room)
{
    double squares = 0;
    memset(room, 0, (size_t)f->n * sizeof *room);
    for (int i = 0; i < f->n; i++)
        room[f->trace[i]] += f->weight[i];
    for (int i = 0; i < f->n; i++)
        squares += room[i] * room[i];
    return 1 / squares;
}

void rt_filter_choose_paths(const struct rt_filter *f, int *chosen)
{
    const int draws = f->rt->options.draws;
    struct gbm_rng rng;
    double total = 0;
    int i = 0;
    gbm_rng_start(&rng, f->rt->options.seed, UINT32_MAX - 1, 0,
                  RT_FILTER_STREAM - f->stream, 0);
    const double u = gbm_uniform(&rng);
    for (int k = 0; k < draws; k++) {
        while (i < f->n - 1 && total + f->weight[i] < (k + u) / draws)
            total += f->weight[i++];
        chosen[k] = i;
    }
    for (int k = draws - 1; k > 0; k--) {
        const int other = (int)(gbm_uniform(&rng) * (k + 1));
        const int kept = chosen[k];
        chosen[k] = chosen[other];
        chosen[other] = kept;
    }
}

void rt_filter_choose_path(struct rt_filter *f)
{
    struct gbm_rng rng;
    double total = 0;
    int at = 0, events = f->nevents;
    gbm_rng_start(&rng, f->rt->options.seed, UINT32_MAX - 3, 0,
                  RT_FILTER_STREAM - f->stream, 0);
    const double u = gbm_uniform(&rng);
    while (at < f->n - 1 && total + f->weight[at] < u)
        total += f->weight[at++];
    for (int64_t k = 0; k < f->result.ncells; k++) {
        const int64_t i = f->list[k]; /* the last ones first */
        const struct rt_tracked *c = &f->result.cells[i];
        while (events > 0 && f->events[events - 1].time >= c->last)
            at = f->events[--events].ancestor[at];
        f->path[i] = value_of(f, c, at);
    }
}

static void keep_paths(struct rt_filter *f, int64_t n, const int *chosen)
{
    const int draws = f->rt->options.draws;
    double *records = f->records + (int64_t)f->number * draws * f->in.row;
    for (int64_t i = 0; i < n; i++) {
        const struct rt_tracked *c = &f->result.cells[f->list[i]];
        for (int d = 0; d < draws; d++)
            records[d * f->in.row + c->offset] =
                value_of(f, c, f->trace[chosen[d]]);
    }
}

/* What is left where the first `events` resamplings have put it. */
static enum gbm_status smooth_between(struct rt_filter *f, int events,
                                      const int *chosen)
{
    const int from = events > 0 ? f->events[events - 1].time + 1 : 1;
    const int to =
        events < f->nevents ? f->events[events].time : f->times.count;
    const double paths = count_paths(f, f->column);
    int64_t n = 0;
    for (int t = from; t <= to; t++)
        f->paths[(int64_t)f->number * (f->times.count + 1) + t] = paths;
    for (int64_t i = 0; i < f->result.ncells; i++)
        if (f->result.cells[i].last >= from && f->result.cells[i].last <= to)
            f->list[n++] = i;
    if (f->records)
        keep_paths(f, n, chosen);
    return estimate_list(f, n, f->trace, true);
}

/* Backwards along the ancestors: cells that no later time reads are where the
 * last resampling before has put them. */
enum gbm_status rt_filter_smooth(struct rt_filter *f)
{
    int *chosen = malloc(((size_t)f->rt->options.draws + 1) * sizeof *chosen);
    enum gbm_status s = chosen ? GBM_OK : rt_filter_no_memory(f);
    if (s == GBM_OK && f->records)
        rt_filter_choose_paths(f, chosen);
    for (int i = 0; i < f->n; i++)
        f->trace[i] = i;
    for (int k = f->nevents; s == GBM_OK && k >= 0; k--) {
        s = smooth_between(f, k, chosen);
        for (int i = 0; k > 0 && i < f->n; i++)
            f->trace[i] = f->events[k - 1].ancestor[f->trace[i]];
    }
    free(chosen);
    return s;
}

/* ---- all filters ---- */

static double loglik_at(const struct rt_filter *f, int number, int time)
{
    return f->logliks[(int64_t)number * (f->times.count + 1) + time];
}

/* Draws of the parameters given all data count alike, and the mean is that of
 * the logarithms. */
static double weights_of_draws(const struct rt_filter *f, int time,
                               double *weight)
{
    const int n = f->result.filters;
    double mean = 0;
    for (int k = 0; k < n; k++) {
        weight[k] = 1.0 / n;
        mean += loglik_at(f, k, time) / n;
    }
    return mean;
}

double rt_filter_weights(const struct rt_filter *f, int time, double *weight)
{
    const int n = f->result.filters;
    double largest = -(double)INFINITY, total = 0;
    if (f->from.open)
        return weights_of_draws(f, time, weight);
    for (int k = 0; k < n; k++)
        largest = fmax(largest, loglik_at(f, k, time));
    for (int k = 0; k < n; k++)
        total += weight[k] = exp(loglik_at(f, k, time) - largest);
    for (int k = 0; k < n; k++)
        weight[k] /= total;
    return largest + log(total / n);
}

/* The middle one of the filters' quantiles: of a discrete node a value. */
static double middle(const struct rt_filter *f, const double *weight,
                     int64_t cell, bool smoothed, int q)
{
    const int n = f->result.filters;
    double found = (double)NAN;
    for (int k = 0; k < n; k++) {
        const double x = estimates_of(f, k, smoothed)[cell].quantile[q];
        double below = 0, up_to = 0;
        for (int j = 0; j < n; j++) {
            const double y = estimates_of(f, j, smoothed)[cell].quantile[q];
            below += y < x ? weight[j] : 0;
            up_to += y <= x ? weight[j] : 0;
        }
        if (below < 0.5 && up_to >= 0.5 - 1e-9)
            found = x;
    }
    return found;
}

/* Of all filters' distributions together, each as if it were normal. */
static double mixed(const struct rt_filter *f, int64_t cell, bool smoothed,
                    double probability, const struct rt_estimate *all)
{
    const int n = f->result.filters;
    double low = all->mean - 10 * all->sd, high = all->mean + 10 * all->sd;
    for (int i = 0; i < 60; i++) {
        const double x = (low + high) / 2;
        double below = 0;
        for (int k = 0; k < n; k++) {
            const struct rt_estimate *e = &estimates_of(f, k, smoothed)[cell];
            below += (e->sd > 0 ? 0.5 * erfc((e->mean - x) / e->sd / sqrt(2))
                                : e->mean <= x) /
                     n;
        }
        if (below < probability)
            low = x;
        else
            high = x;
    }
    return (low + high) / 2;
}

/* A ratio estimate over the filters, and its error (the delta method). */
static struct rt_estimate combine(const struct rt_filter *f,
                                  const double *weight, int64_t cell,
                                  bool smoothed)
{
    const int n = f->result.filters;
    const struct rt_estimate *first = estimates_of(f, 0, smoothed) + cell;
    const int64_t next = estimates_of(f, 1, smoothed) + cell - first;
    struct rt_estimate all = {0};
    double square = 0, error = 0;
    for (int k = 0; k < n; k++)
        all.mean += weight[k] * first[k * next].mean;
    for (int k = 0; k < n; k++) {
        const struct rt_estimate *e = &first[k * next];
        const double apart = e->mean - all.mean;
        square += weight[k] * (e->sd * e->sd + apart * apart);
        error += weight[k] * weight[k] * apart * apart;
    }
    all.sd = sqrt(square);
    all.mcse = n > 1 ? sqrt(error * n / (n - 1)) : (double)NAN;
    const bool whole =
        f->in.model->variables[f->result.cells[cell].variable].integer;
    for (int q = 0; q < RT_QUANTILES; q++)
        all.quantile[q] =
            f->from.open && !whole
                ? mixed(f, cell, smoothed, rt_filter_levels[q], &all)
                : middle(f, weight, cell, smoothed, q);
    return all;
}

static void combine_instants(struct rt_filter *f, double *weight)
{
    const int n = f->result.filters;
    for (int t = 1; t <= f->times.count; t++) {
        struct rt_instant *i = &f->result.instants[t];
        for (int k = 0; k < n; k++) {
            const int64_t at = (int64_t)k * (f->times.count + 1) + t;
            i->ess += f->ess[at] / n;
            i->paths += f->paths[at] / n;
            i->resampled += (double)f->resampled[at] / n;
        }
        i->loglik = rt_filter_weights(f, t, weight);
    }
}

static void combine_likelihoods(struct rt_filter *f, const double *weight)
{
    const int n = f->result.filters, last = f->times.count;
    double error = 0, mean = 0, square = 0;
    f->result.loglik = f->result.instants[last].loglik;
    for (int k = 0; k < n; k++) {
        error += (n * weight[k] - 1) * (n * weight[k] - 1);
        mean += loglik_at(f, k, last) / n;
    }
    for (int k = 0; k < n; k++)
        square += pow(loglik_at(f, k, last) - mean, 2);
    f->result.spread = n > 1 ? sqrt(square / (n - 1)) : (double)NAN;
    f->result.se = n > 1 ? sqrt(error / (n - 1) / n) : (double)NAN;
    if (f->from.open)
        f->result.se = f->result.spread / sqrt(n);
    f->result.draws = f->from.open;
}

enum gbm_status rt_filter_combine(struct rt_filter *f)
{
    double *weight = malloc(((size_t)f->result.filters + 1) * sizeof *weight);
    if (!weight)
        return rt_fail(f->rt, GBM_FAILURE, "no memory");
    f->result.count = f->times.count;
    f->result.particles = f->n;
    combine_instants(f, weight);
    for (int64_t i = 0; i < f->result.ncells; i++) {
        struct rt_tracked *c = &f->result.cells[i];
        rt_filter_weights(f, c->time, weight);
        c->filtered = combine(f, weight, i, false);
    }
    rt_filter_weights(f, f->times.count, weight);
    combine_likelihoods(f, weight);
    for (int64_t i = 0; i < f->result.ncells; i++)
        f->result.cells[i].smoothed = combine(f, weight, i, true);
    free(weight);
    return GBM_OK;
}
