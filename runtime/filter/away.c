/* away.c: particle filters whose particles are on a device: what is done at
 * each time goes there once, as lists, and of each filter comes back what it
 * says of times and cells, and the paths that are kept. */
#include "filter/filter.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lists that the device is given; `course` points there. */
struct rt_away {
    struct rt_course course;
    struct rt_place *live, *tracked;
    int64_t *first_live, *first_tracked, *by_last, *first_by_last;
    struct rt_step *steps; /* none is active */
    double *shares;        /* [count + 1] */
    int *chosen;
    double *chosen_paths;
};

/* Cells of particles that resampling after a time copies: those of the acts at
 * hand. Counts them where `out` is NULL. */
static int64_t list_live(const struct rt_filter *f, struct rt_place *out)
{
    int64_t n = 0;
    for (int k = 0; k < f->nlive; k++) {
        const struct rt_step_in_time *act = &f->acts[f->live[k]];
        const int v = f->in.model->families[act->family].variable;
        if (!f->particles.slots[v].per_chain)
            continue;
        for (int64_t i = f->cell0[act->node]; i < f->cell0[act->node + 1];
             i++) {
            if (out)
                out[n] = (struct rt_place){v, f->cell[i]};
            n++;
        }
    }
    return n;
}

static bool find_live(struct rt_filter *f)
{
    struct rt_away *a = f->away;
    const int count = f->times.count;
    a->first_live = calloc((size_t)count + 2, sizeof *a->first_live);
    for (int pass = 0; a->first_live && pass < 2; pass++) {
        int64_t n = 0;
        f->nlive = 0;
        for (int t = 1; t <= count; t++) {
            rt_filter_update_live(f, t);
            a->first_live[t] = n;
            n += list_live(f, pass ? a->live + n : NULL);
        }
        a->first_live[count + 1] = n;
        if (pass == 0)
            a->live = malloc(((size_t)n + 1) * sizeof *a->live);
        if (!a->live)
            return false;
    }
    f->nlive = 0;
    return a->first_live != NULL;
}

/* What is told of; the cells are ordered by time. */
static bool find_tracked(struct rt_filter *f)
{
    struct rt_away *a = f->away;
    const struct rt_tracked *cells = f->result.cells;
    const int64_t n = f->result.ncells;
    const size_t times = (size_t)f->times.count + 3;
    a->tracked = malloc(((size_t)n + 1) * sizeof *a->tracked);
    a->by_last = malloc(((size_t)n + 1) * sizeof *a->by_last);
    a->first_tracked = calloc(times, sizeof *a->first_tracked);
    a->first_by_last = calloc(times, sizeof *a->first_by_last);
    if (!a->tracked || !a->by_last || !a->first_tracked || !a->first_by_last)
        return false;
    for (int64_t i = 0; i < n; i++) {
        a->tracked[i] = (struct rt_place){cells[i].variable, cells[i].cell};
        a->first_tracked[cells[i].time + 1]++;
        a->first_by_last[cells[i].last + 2]++;
    }
    for (size_t t = 1; t < times; t++) {
        a->first_tracked[t] += a->first_tracked[t - 1];
        a->first_by_last[t] += a->first_by_last[t - 1];
    }
    for (int64_t i = 0; i < n; i++)
        a->by_last[a->first_by_last[cells[i].last + 1]++] = i;
    return true;
}

static bool lay_out(struct rt_filter *f)
{
    struct rt_away *a = f->away;
    const size_t draws = f->records ? (size_t)f->rt->options.draws : 0;
    if (!find_live(f) || !find_tracked(f))
        return false;
    a->steps = calloc((size_t)f->in.model->nsteps + 1, sizeof *a->steps);
    a->shares = calloc((size_t)f->times.count + 1, sizeof *a->shares);
    a->chosen = calloc(draws + 1, sizeof *a->chosen);
    a->chosen_paths = malloc((draws * (size_t)f->result.ncells + 1) *
                             sizeof *a->chosen_paths);
    a->course = (struct rt_course){.particles = f->n,
                                   .count = f->times.count,
                                   .acts = f->acts,
                                   .first = f->first,
                                   .live = a->live,
                                   .first_live = a->first_live,
                                   .tracked = a->tracked,
                                   .ntracked = f->result.ncells,
                                   .first_tracked = a->first_tracked,
                                   .by_last = a->by_last,
                                   .first_by_last = a->first_by_last,
                                   .below = RT_FILTER_RESAMPLE_BELOW};
    for (int q = 0; q < RT_QUANTILES; q++)
        a->course.levels[q] = rt_filter_levels[q];
    return a->steps && a->shares && a->chosen && a->chosen_paths;
}

enum gbm_status rt_filter_go_away(struct rt_filter *f)
{
    struct rt_instance *p = &f->particles;
    f->away = calloc(1, sizeof *f->away);
    if (!f->away || !lay_out(f))
        return rt_filter_no_memory(f);
    /* a filter has neither sweeps nor draws in a ring */
    p->steps = f->away->steps;
    p->nmonitors = p->nkept_families = 0;
    p->row = 0;
    return f->rt->device->filter->load(f->rt, p, &f->away->course);
}

void rt_filter_come_back(struct rt_filter *f)
{
    struct rt_away *a = f->away;
    if (!a)
        return;
    void *const all[] = {a->live,          a->tracked, a->first_live,
                         a->first_tracked, a->by_last, a->first_by_last,
                         a->steps,         a->shares,  a->chosen,
                         a->chosen_paths};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(a);
    f->away = NULL;
}

/* Where paths that were drawn go. */
static void keep_paths(struct rt_filter *f, const struct rt_filter_run *run)
{
    const int64_t ncells = f->result.ncells;
    double *records =
        f->records + (int64_t)f->number * run->nchosen * f->in.row;
    for (int d = 0; d < run->nchosen; d++)
        for (int64_t i = 0; i < ncells; i++)
            records[d * f->in.row + f->result.cells[i].offset] =
                run->chosen_paths[d * ncells + i];
}

static enum gbm_status go_back(struct rt_filter *f, struct rt_filter_run *run)
{
    if (f->records) {
        rt_filter_choose_paths(f, f->away->chosen);
        run->nchosen = f->rt->options.draws;
    }
    enum gbm_status s = f->rt->device->filter->back(f->rt, run);
    if (s == GBM_OK && f->records)
        keep_paths(f, run);
    return s;
}

/* The first particle tells why none is possible. */
static enum gbm_status fail(struct rt_filter *f, int time)
{
    enum gbm_status s = f->rt->device->filter->get(f->rt);
    return s == GBM_OK ? rt_filter_fail_weights(f, f->starter.state, time) : s;
}

enum gbm_status rt_filter_run_away(struct rt_filter *f)
{
    struct rt_away *a = f->away;
    const int64_t at = (int64_t)f->number * (f->times.count + 1);
    struct rt_estimate *told = f->estimates + 2 * f->number * f->result.ncells;
    struct rt_filter_run run = {
        .seed = f->rt->options.seed,
        .stream = RT_FILTER_STREAM - f->stream,
        .shares = a->shares,
        .base = f->base,
        .stopped = rt_stopped,
        .loglik = f->logliks + at,
        .ess = f->ess + at,
        .resampled = f->resampled + at,
        .filtered = told,
        .weight = f->weight,
        .paths = f->paths + at,
        .smoothed = told + f->result.ncells,
        .chosen = a->chosen,
        .chosen_paths = a->chosen_paths,
    };
    for (int t = 1; t <= f->times.count; t++)
        a->shares[t] = rt_filter_share(f, t);
    enum gbm_status s = f->rt->device->filter->forward(f->rt, &run);
    if (s != GBM_OK || rt_stopped())
        return s;
    return run.failed ? fail(f, run.failed) : go_back(f, &run);
}
