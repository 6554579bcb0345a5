/* particles.c: one particle filter. */
#include "filter/filter.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_THREADS 2000 /* elements */

/* What a particle draws and computes at a time; the log of its weight. */
static double advance(struct rt_filter *f, const void *state, int time,
                      int particle)
{
    const struct gbm_model *m = f->in.model;
    double sum = 0;
    for (int64_t a = f->first[time]; a < f->first[time + 1]; a++) {
        const struct rt_step_in_time *act = &f->acts[a];
        const struct gbm_family *fam = &m->families[act->family];
        if (act->kind == RT_ACT_DERIVE) {
            fam->derive(state, act->element);
        } else if (act->kind == RT_ACT_WEIGH) {
            sum += fam->logdensity(state, act->element);
        } else {
            struct gbm_rng rng;
            gbm_rng_start(&rng, f->rt->options.seed, (uint32_t)particle,
                          (uint32_t)time, RT_FILTER_STREAM - f->stream,
                          (uint32_t)act->node);
            if (f->hangs && f->hangs[a] >= 0)
                sum += rt_guide_draw(f, state, a, particle, &rng);
            else
                fam->simulate(state, &rng, act->element);
        }
    }
    return isnan(sum) ? -(double)INFINITY : sum;
}

/* Threads that so much for each particle is worth. */
static int workers(const struct rt_filter *f, int64_t each)
{
    return f->n * each < WORTH_THREADS ? 1 : f->rt->threads;
}

static void advance_all(struct rt_filter *f, int time)
{
    const int threads = workers(f, f->first[time + 1] - f->first[time]);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < f->n; i++)
        f->increment[i] =
            advance(f, rt_state(&f->particles, f->states, i), time, i);
}

enum gbm_status rt_filter_fail_weights(struct rt_filter *f, const void *state,
                                       int time)
{
    const struct gbm_model *m = f->in.model;
    for (int64_t a = f->first[time]; a < f->first[time + 1]; a++) {
        const struct rt_step_in_time *act = &f->acts[a];
        const struct gbm_family *fam = &m->families[act->family];
        struct gbm_problem problem = {""};
        char name[256];
        if (act->kind != RT_ACT_WEIGH ||
            isfinite(fam->logdensity(state, act->element)))
            continue;
        if (fam->check)
            fam->check(state, act->element, &problem);
        rt_element_name(&f->in, state, act->family, act->element, name,
                        sizeof name);
        return rt_fail(f->rt, GBM_FAILURE,
                       "%s: time %d of %d: none of %d particles has a density "
                       "that is not 0; that of %s is not%s%s: more "
                       "--particles, or other values in --init, may help\n"
                       "    %s",
                       fam->where, time, f->times.count, f->n, name,
                       problem.text[0] ? ": " : "", problem.text, fam->text);
    }
    return rt_fail(f->rt, GBM_FAILURE,
                   "time %d of %d: none of %d particles has a density that is "
                   "not 0: more --particles may help",
                   time, f->times.count, f->n);
}

/* The weights after the increments; the likelihood grows by their mean. */
static enum gbm_status weigh(struct rt_filter *f, int time)
{
    double largest = -(double)INFINITY, total = 0, squares = 0;
    for (int i = 0; i < f->n; i++)
        if (f->weight[i] > 0 && f->increment[i] > largest)
            largest = f->increment[i];
    if (!isfinite(largest) && f->alone) {
        f->loglik = -(double)INFINITY;
        return GBM_OK;
    }
    if (!isfinite(largest))
        return rt_filter_fail_weights(f, rt_state(&f->particles, f->states, 0),
                                      time);
    for (int i = 0; i < f->n; i++) {
        f->weight[i] *= exp(f->increment[i] - largest);
        total += f->weight[i];
    }
    for (int i = 0; i < f->n; i++) {
        f->weight[i] /= total;
        squares += f->weight[i] * f->weight[i];
    }
    const int64_t at = (int64_t)f->number * (f->times.count + 1) + time;
    f->loglik += largest + log(total);
    f->logliks[at] = f->loglik;
    f->ess[at] = 1 / squares;
    return GBM_OK;
}

static void copy_particle(const struct rt_filter *f, int to, int from)
{
    for (int k = 0; k < f->nlive; k++) {
        const struct rt_step_in_time *act = &f->acts[f->live[k]];
        const int64_t node = act->node;
        const int v = f->in.model->families[act->family].variable;
        const struct rt_slot *slot = &f->particles.slots[v];
        if (!slot->per_chain)
            continue;
        const size_t size =
            f->in.model->variables[v].integer ? sizeof(int) : sizeof(double);
        char *values = slot->values;
        for (int64_t i = f->cell0[node]; i < f->cell0[node + 1]; i++)
            memcpy(values + (size_t)(to * slot->cells + f->cell[i]) * size,
                   values + (size_t)(from * slot->cells + f->cell[i]) * size,
                   size);
    }
}

void rt_filter_update_live(struct rt_filter *f, int time)
{
    int n = 0;
    for (int k = 0; k < f->nlive; k++)
        if (f->times.last[f->acts[f->live[k]].node] > time)
            f->live[n++] = f->live[k];
    for (int64_t a = f->first[time]; a < f->first[time + 1]; a++)
        if (f->acts[a].kind != RT_ACT_WEIGH &&
            f->times.last[f->acts[a].node] > time)
            f->live[n++] = (int)a;
    f->nlive = n;
}

double rt_filter_share(const struct rt_filter *f, int time)
{
    struct gbm_rng rng;
    gbm_rng_start(&rng, f->rt->options.seed, UINT32_MAX, (uint32_t)time,
                  RT_FILTER_STREAM - f->stream, 0);
    return gbm_uniform(&rng);
}

static enum gbm_status resample(struct rt_filter *f, int time)
{
    const int64_t at = (int64_t)f->number * (f->times.count + 1) + time;
    rt_filter_update_live(f, time);
    if (time == f->times.count || f->ess[at] >= RT_FILTER_RESAMPLE_BELOW * f->n)
        return GBM_OK;
    int *ancestor = malloc((size_t)f->n * sizeof *ancestor);
    if (!ancestor)
        return rt_filter_no_memory(f);
    rt_resample(f->n, f->weight, rt_filter_share(f, time), ancestor,
                f->offspring);
    f->events[f->nevents++] = (struct rt_resampling){time, ancestor};
    f->resampled[at] = 1;
    const int threads = workers(f, f->nlive);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < f->n; i++)
        if (ancestor[i] != i)
            copy_particle(f, i, ancestor[i]);
    for (int i = 0; i < f->n; i++)
        f->weight[i] = 1.0 / f->n;
    return GBM_OK;
}

static void forget_events(struct rt_filter *f)
{
    while (f->nevents > 0)
        free(f->events[--f->nevents].ancestor);
    f->nlive = 0;
}

enum gbm_status rt_filter_begin(struct rt_filter *f, const void *state)
{
    f->base = advance(f, state, 0, 0);
    return isfinite(f->base) || f->alone ? GBM_OK
                                         : rt_filter_fail_weights(f, state, 0);
}

enum gbm_status rt_filter_run(struct rt_filter *f)
{
    enum gbm_status s = GBM_OK;
    f->loglik = f->base;
    for (int i = 0; i < f->n; i++)
        f->weight[i] = 1.0 / f->n;
    for (int t = 1; s == GBM_OK && t <= f->times.count && !rt_stopped(); t++) {
        advance_all(f, t);
        s = weigh(f, t);
        if (!isfinite(f->loglik))
            break;
        if (s == GBM_OK && !f->alone)
            s = rt_filter_estimate(f, t);
        if (s == GBM_OK)
            s = resample(f, t);
    }
    if (f->alone && isfinite(f->loglik) && !rt_stopped())
        rt_filter_choose_path(f);
    else if (s == GBM_OK && !f->alone && !rt_stopped())
        s = rt_filter_smooth(f);
    forget_events(f);
    return s;
}
