/* self_check.c: every sampler proves itself on the user's own data before it
 * draws. Some sweeps of a chain are made for nothing: the moves of all their
 * steps, each by what its full conditional says of it, must add up to what the
 * joint log density of the model has changed by. So one evaluation of the joint
 * is enough for all elements of all steps. Where it does not add up, the sweep
 * is repeated step by step, and then element by element (check.c), for the
 * message. The chains' states are put back, and the random numbers are of
 * sweeps that no run has: draws are what they are without the check. */
#include "check/self_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SWEEPS 10 /* of a chain */
#define MOVES 0.4 /* of the time; what they leave of it is for draws */
#define CHAINS 4
#define DENSE_WORK 2e8 /* to set up a dense block, if the device has not */
#define FEW 1e7        /* the same: for one thread */

static enum verdict check_sweep(struct self_check *s, struct change *density)
{
    int n = s->in->model->nsteps;
    struct change conditional = {0};
    for (int k = 0; k < n; k++) {
        double now = rt_clock();
        struct change one =
            self_check_step(s, k, now + (s->deadline - now) / (n - k));
        self_check_add(&conditional, &one);
    }
    if (self_check_held(s) != GBM_OK)
        return UNKNOWN;
    struct change after = self_check_joint(s);
    if (s->out_of_time)
        return UNKNOWN;
    enum verdict verdict = self_check_compare(conditional, *density, after);
    *density = after;
    s->sweep++;
    return verdict;
}
/* Now it is known how long warm-up takes: what the check may take of that. The
 * least of the sweeps so far counts, as the first one is cold. */
static void share_time(struct self_check *s)
{
    const struct rt_options *o = &s->rt->options;
    const double chains = ceil(o->chains / (double)s->rt->threads);
    s->one = s->one > 0 ? fmin(s->one, s->swept) : s->swept;
    s->share = fmin(
        fmax(SELF_CHECK_SHARE * s->one * o->warmup * chains, SELF_CHECK_LEAST),
        SELF_CHECK_SECONDS);
    s->deadline = s->began + MOVES * s->share;
}

enum gbm_status self_check_chain(struct self_check *s, int chain,
                                 void *const *values)
{
    uint32_t first = s->sweep;
    s->chain = chain;
    rt_bind(s->in, s->state, chain);
    self_check_refresh(s);
    struct change density = self_check_joint(s);
    for (int i = 0; i < SWEEPS && !s->out_of_time; i++) {
        const uint32_t sweep = s->sweep;
        const double now = rt_clock();
        s->swept = 0;
        enum verdict verdict = check_sweep(s, &density);
        if (s->rt->status != GBM_OK)
            return s->rt->status;
        s->points += verdict == ADDS_UP;
        if (verdict == DOES_NOT) {
            rt_put_back(s->in, values);
            return self_check_blame(s, first, sweep);
        }
        if (chain == 0)
            share_time(s);
        if (self_check_left(s) < 0)
            s->deadline = rt_clock() + self_check_rest(s, MOVES);
        if (verdict == UNKNOWN || self_check_left(s) < (rt_clock() - now) / 2)
            break;
    }
    return GBM_OK;
}

static bool create(struct self_check *s)
{
    const struct rt_instance *in = s->in;
    const struct gbm_model *m = in->model;
    int64_t terms = 1;
    for (int f = 0; f < m->nfamilies; f++)
        terms += check_counts(&m->families[f]) ? in->elements[f] : 0;
    s->state = calloc(1, m->state_size + 1);
    s->dropped = calloc((size_t)terms, 1);
    s->dense = calloc((size_t)m->nsteps + 1, sizeof(void *));
    s->reached = calloc((size_t)m->nsteps + 1, sizeof *s->reached);
    s->kept_up = calloc((size_t)m->nvariables + 1, sizeof *s->kept_up);
    if (!s->state || !s->dropped || !s->dense || !s->reached || !s->kept_up)
        return false;
    self_check_find_held(s);
    rt_bind(in, s->state, 0);
    check_drop(in, s->state, s->dropped);
    for (int k = 0; k < m->nsteps; k++) {
        const struct gbm_step *step = &m->steps[k];
        if (step->kind != GBM_STEP_DENSE || !in->steps[k].active)
            continue;
        double d = step->dense->dimension(s->state), work = d * d * d;
        for (int t = 0; t < step->dense->nterms; t++)
            work += d * d * (double)in->elements[step->dense->terms[t].family];
        int threads = s->rt->threads;
        if (work < FEW) /* too little to wake others for */
            s->rt->threads = 1;
        if (work < DENSE_WORK)
            s->dense[k] = host_dense_create(s->rt, in, step, s->state);
        s->rt->threads = threads;
    }
    return true;
}

static void destroy(struct self_check *s)
{
    for (int k = 0; s->dense && k < s->in->model->nsteps; k++)
        host_dense_free(s->dense[k]);
    free(s->state);
    free(s->dropped);
    free(s->dense);
    free(s->reached);
    free(s->kept_up);
    free(s->work.cells);
    free(s->cells);
}

/* Seconds that the clock says have gone by between two looks at it. */
static double clock_time(void)
{
    double least = INFINITY;
    for (int i = 0; i < 4; i++) {
        const double now = rt_clock();
        least = fmin(least, rt_clock() - now);
    }
    return least;
}

static void note(const struct self_check *s, FILE *notes)
{
    int steps = 0, reached = 0;
    for (int k = 0; k < s->in->model->nsteps; k++) {
        enum gbm_step_kind kind = s->in->model->steps[k].kind;
        bool draws = kind == GBM_STEP_MAP || kind == GBM_STEP_DENSE;
        steps += draws && s->in->steps[k].active;
        reached += s->reached[k];
    }
    if (s->points == 0)
        fprintf(notes, "note: no self-check: %s; ./sampler check makes it\n",
                s->out_of_time ? "the log density alone takes too long"
                               : "no values to compare at the start");
    else if (s->rt->options.details)
        fprintf(notes,
                "self-check: %d of %d steps, %lld moves in %d sweeps agree "
                "with the model's log density, draws of %d with their full "
                "conditionals; %.3g ms\n",
                reached, steps, (long long)s->moves, s->points, s->drawn,
                1e3 * (rt_clock() - s->began));
}

enum gbm_status rt_self_check_begin(struct rt *rt, struct rt_instance *in,
                                    struct self_check **out)
{
    struct self_check *s = calloc(1, sizeof *s);
    enum gbm_status status = GBM_OK;
    *out = s;
    if (!s)
        return rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    *s = (struct self_check){.rt = rt, .in = in, .began = rt_clock()};
    s->start = rt_save(in);
    self_check_allow(s, SELF_CHECK_SECONDS);
    s->own = rt_thread_clock();
    s->clock = clock_time();
    if (!s->start || !create(s))
        status = rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    for (int c = 0; c < CHAINS && c < in->nchains && status == GBM_OK; c++)
        if (c == 0 || self_check_left(s) > 0)
            status = self_check_chain(s, c, s->start);
    if (status == GBM_OK && s->points > 0)
        status = self_check_draws(s);
    if (s->start)
        rt_put_back(in, s->start);
    s->spent = rt_clock() - s->began;
    rt_clock_note("  sweeps of the host");
    return status;
}

enum gbm_status rt_self_check_end(struct self_check *s, enum gbm_status status,
                                  FILE *notes)
{
    if (!s)
        return status;
    s->began = rt_clock() - s->spent;
    s->own = rt_thread_clock() - s->spent;
    if (status == GBM_OK && s->rt->device->density) {
        status = self_check_device(s, s->start);
        rt_put_back(s->in, s->start);
    }
    if (status == GBM_OK && notes)
        note(s, notes);
    rt_forget(s->in, s->start);
    destroy(s);
    free(s);
    return status;
}
