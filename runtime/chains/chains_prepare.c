/* chains_prepare.c: a run up to its first sweep. */
#include "chains/chains.h"
#include "check/check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LP_ELEMENTS 10000 /* lp is kept unasked up to this many terms */

int rt_chains_wanted_draws(const struct rt_options *o)
{
    return (o->draws - 1) / o->thin + 1;
}

void rt_chains_touch(struct rt_chains *r)
{
    const struct gbm_draws *d = &r->draws;
    /* a device's driver waits where others are given memory: on an H200 warm-up
     * took 28 ms, with four such threads 54, and sampling 24 and 21 */
    const int idle =
        r->rt->device == &rt_host ? r->rt->threads - r->in.nchains : 0;

    r->touch = gbm_touch_begin(d->values,
                               (size_t)d->chains * (size_t)d->capacity *
                                   (size_t)d->width * sizeof *d->values,
                               idle);
}

static enum gbm_status prepare_draws(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    struct rt_options *o = &rt->options;
    int capacity = rt_chains_wanted_draws(o);
    gbm_draws_init(&r->draws);
    enum gbm_status s = rt_monitor_draws(rt, &r->in, &r->data, &r->draws);
    if (s == GBM_OK)
        rt_note_labels(&r->data, &r->draws, r->notes);
    if (s == GBM_OK)
        s = rt_pointwise_prepare(&r->pointwise, rt, &r->in, &r->draws,
                                 r->notes);
    if (s == GBM_OK && o->method->replicas && r->pointwise.count > 0)
        s = rt_fail(rt, GBM_USER_ERROR,
                    "the deviance with --method %s: not supported yet",
                    o->method->name);
    r->draws.device = rt->device_text;
    r->draws.data = o->ndata ? o->data[0] : NULL;
    r->draws.relabelled = o->relabel;
    r->draws.aside = o->monitor && !o->moments;
    r->draws.tempered = o->method->replicas != NULL;
    r->draws.more = o->method->more;
    if (s == GBM_OK && r->resume.file)
        s = rt_chains_read_numbers(r, &capacity);
    r->draws.unchecked = r->draws.unchecked || (!r->compared && !o->plain);
    if (s == GBM_OK &&
        gbm_draws_allocate(&r->draws, r->chains, capacity) != GBM_OK)
        s = rt_fail(rt, GBM_FAILURE,
                    "no memory for %d draws of %d chains of %lld values; name "
                    "fewer with --monitor, or --thin",
                    capacity, r->chains, (long long)r->draws.width);
    if (s == GBM_OK)
        rt_chains_touch(r);
    r->lp = -1;
    if (!r->resume.file) /* else as it was in its run */
        o->lp = o->lp || (o->out && rt_terms(&r->in) <= LP_ELEMENTS);
    if (s == GBM_OK && o->lp) {
        r->lp = gbm_draws_add_stat(&r->draws, "lp", false);
        if (r->lp < 0)
            s = rt_fail(rt, GBM_FAILURE, "no memory for the draws");
    }
    return s;
}

/* What only all of the device's chains together can tell is not told of some.
 */
static enum gbm_status add_replicas(struct rt_chains *r)
{
    struct rt_options *o = &r->rt->options;
    const struct rt_method *m = o->method;
    r->chains = o->chains;
    if (!m->replicas)
        return GBM_OK;
    o->beside = m->replicas(o);
    int64_t all = (int64_t)o->chains * o->beside;
    if (all > INT_MAX)
        return rt_fail(r->rt, GBM_USER_ERROR, "%lld chains are too many",
                       (long long)all);
    if (o->moments && strcmp(o->moments, "none") != 0)
        return rt_fail(r->rt, GBM_USER_ERROR,
                       "--moments with --method %s: not supported yet",
                       m->name);
    o->moments = "none";
    o->chains = (int)all;
    return GBM_OK;
}

/* Where the device has memory of its own, the host makes its part of the check
 * while compilers work for the device. */
static enum gbm_status load_and_check(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    struct self_check *check = NULL;
    const bool checked = !rt->options.no_check && !rt->options.plain;
    enum gbm_status s = GBM_OK;
    if (checked && rt->device->density)
        s = rt_self_check_begin(rt, &r->in, &check);
    rt->lines = !rt->options.plain && !rt->options.method->advance &&
                !rt->options.method->replicas;
    if (s == GBM_OK)
        s = rt_load_device(rt, &r->in, r->notes);
    rt->lines = false; /* the check's sweeps are those of the steps alone */
    rt_clock_note("the device is loaded");
    if (s == GBM_OK && checked && !check)
        s = rt_self_check_begin(rt, &r->in, &check);
    s = rt_self_check_end(check, s, &r->compared, r->notes);
    rt_clock_note("the sampler is checked");
    return s;
}

/* On a device the factorisations of an optional move come one after the other,
 * whatever their size: a sweep with it is as long as four without (0.128 and
 * 0.025 ms, 0.43 and 0.119, of rats with a Wishart prior and a local level on
 * an H200). */
#define AWAY 4.0

/* For tests: on the host, too, whose pilots and draws are then a device's. */
static bool moves_are_dear(const struct rt *rt)
{
    return rt->device->density || getenv("GBM_AWAY");
}

/* What optional moves must gain where they are dear. Both devices read it in
 * the chain's state, so that they judge alike. */
static enum gbm_status tell_moves(struct rt_chains *r)
{
    const struct gbm_model *m = r->in.model;
    char *state = calloc(1, m->state_size + 1);
    if (!state)
        return rt_fail(r->rt, GBM_FAILURE, "no memory");
    for (int k = 0; k < m->nsteps; k++)
        for (int chain = 0; m->steps[k].least && r->in.steps[k].active &&
                            chain < r->in.nchains;
             chain++) {
            rt_bind(&r->in, state, chain);
            m->steps[k].least(state, AWAY);
        }
    free(state);
    return GBM_OK;
}

enum gbm_status rt_chains_prepare(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    double began = rt_clock();
    enum gbm_status s = rt_check_output(rt);
    if (s == GBM_OK)
        s = rt_read_data(rt, &r->data, r->notes);
    rt_clock_note("data are read");
    if (s == GBM_OK)
        s = add_replicas(r);
    if (s == GBM_OK)
        s = rt_load(rt, &r->data, false, &r->in, r->notes);
    if (s != GBM_OK)
        return s;
    r->loaded = true;
    rt_clock_note("the model is loaded");
    s = rt_variant_of_data(rt, &r->in);
    if (s == GBM_OK && r->resume.file)
        s = rt_resume_data(&r->resume, rt, &r->in);
    if (s == GBM_OK)
        s = rt_monitor(rt, &r->in, r->notes);
    if (s == GBM_OK)
        s = rt_open_device(rt, &r->in, r->notes);
    if (s == GBM_OK) {
        r->opened = true;
        rt_clock_note("the device is open");
        s = rt_start_few(rt, &r->in,
                         rt->options.method->starts ? rt->options.method->starts
                                                    : r->in.nchains,
                         r->notes);
    }
    if (s == GBM_OK) {
        rt_clock_note("chains have started");
        if (moves_are_dear(rt))
            s = tell_moves(r);
    }
    if (s == GBM_OK) {
        if (!rt->options.plain && /* the sampler that is in doubt */
            !rt->options.method->replicas)
            rt_pilot(rt, &r->in);
        if (rt->options.method->prepare)
            s = rt->options.method->prepare(r);
    }
    if (s == GBM_OK)
        s = rt_relabelling_create(r);
    if (s == GBM_OK)
        s = load_and_check(r);
    if (s == GBM_OK)
        s = rt_chains_prepare_state(r);
    if (s == GBM_OK)
        s = prepare_draws(r);
    if (s == GBM_OK)
        s = rt_chains_prepare_checkpoint(r);
    if (s == GBM_OK && r->resume.file)
        s = rt_chains_go_on(r);
    r->draws.timing.jit_s = rt->jit_s;
    r->draws.timing.load_s = rt_clock() - began - rt->jit_s;
    return s;
}
