/* self_check.c: every sampler proves itself on the user's own data before it
 * draws. Some sweeps of a chain are made for nothing: the moves of all their
 * steps, each by what its full conditional says of it, must add up to what the
 * joint log density of the model has changed by. So one evaluation of the joint
 * is enough for all elements of all steps. Where it does not add up, the sweep
 * is repeated step by step, and then element by element (check.c), for the
 * message. The chains' states are put back, and the random numbers are of
 * sweeps that no run has: draws are what they are without the check. */
#include "check/self_check.h"

#include <stdio.h>
#include <stdlib.h>

#define CHAINS 4
#define DENSE_WORK 2e8 /* to set up a dense block, if the device has not */
#define FEW 1e7        /* the same: for one thread */

bool self_check_create(struct self_check *s)
{
    const struct rt_instance *in = s->in;
    const struct gbm_model *m = in->model;
    int64_t terms = 1;
    s->start = rt_save(in);
    for (int f = 0; f < m->nfamilies; f++)
        terms += check_counts(&m->families[f]) ? in->elements[f] : 0;
    s->state = calloc(1, m->state_size + 1);
    s->dropped = calloc((size_t)terms, 1);
    s->dense = calloc((size_t)m->nsteps + 1, sizeof(void *));
    s->reached = calloc((size_t)m->nsteps + 1, sizeof *s->reached);
    s->kept_up = calloc((size_t)m->nvariables + 1, sizeof *s->kept_up);
    if (!s->start || !s->state || !s->dropped || !s->dense || !s->reached ||
        !s->kept_up)
        return false;
    self_check_find_held(s);
    rt_bind(in, s->state, 0);
    check_drop(in, s->state, s->dropped);
    return true;
}

/* The dense blocks that are no work to set up. */
static void create_dense(struct self_check *s)
{
    const struct rt_instance *in = s->in;
    const struct gbm_model *m = in->model;
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
}

void self_check_destroy(struct self_check *s)
{
    rt_forget(s->in, s->start);
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
    *s = (struct self_check){.rt = rt, .in = in};
    self_check_begin(s);
    if (self_check_create(s))
        create_dense(s);
    else
        status = rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    for (int c = 0; c < CHAINS && c < in->nchains && status == GBM_OK; c++)
        if (c == 0 || self_check_left(s) > 0)
            status = self_check_chain(s, c, s->start);
    if (status == GBM_OK && s->points > 0)
        status = self_check_draws(s);
    if (s->start)
        rt_put_back(in, s->start);
    self_check_pause(s);
    rt_clock_note("  sweeps of the host");
    return status;
}

enum gbm_status rt_self_check_end(struct self_check *s, enum gbm_status status,
                                  bool *compared, FILE *notes)
{
    *compared = s && s->points > 0;
    if (!s)
        return status;
    self_check_go_on(s);
    if (status == GBM_OK && s->rt->device->density)
        status = self_check_device(s);
    if (status == GBM_OK && notes)
        note(s, notes);
    self_check_destroy(s);
    free(s);
    return status;
}
