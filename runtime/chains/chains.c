/* chains.c: a run: load, start, warm up, draw, deliver. */
#include "chains/chains.h"
#include "check/check.h"
#include "host/host.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SECONDS 0.2 /* a block of sweeps; Ctrl-C is heard between two */

/* ---- sweeps ---- */

/* Fails if a sampled value is not a number. `kept` draws were there before the
 * block that has just run; those from the first bad one on are dropped. A
 * device of its own memory is asked for its state only at the `last` block. */
static void check_numbers(struct rt_chains *r, bool adapting, int kept,
                          bool last)
{
    struct rt *rt = r->rt;
    struct rt_nan bad;
    char name[256];
    int64_t sweep = r->sweep;
    if (!adapting && rt_nan_in_draws(&r->in, &r->draws, kept, r->draws.kept,
                                     rt->threads, &bad)) {
        r->draws.kept = bad.draw;
        sweep = rt->options.warmup + (int64_t)(bad.draw + 1) * rt->options.thin;
    } else {
        if (rt->device != &rt_host && (!last || rt->device->get(rt) != GBM_OK))
            return;
        if (!rt_nan_in_state(&r->in, &bad))
            return;
    }
    rt_nan_name(&r->in, &bad, name, sizeof name);
    rt_fail(rt, GBM_FAILURE,
            "%s of chain %d is not a number after sweep %lld (%d of warm-up): "
            "its full conditional has no finite parameters there; are data or "
            "starting values of very different sizes? %d of %d draws a chain "
            "were kept%s",
            name, bad.chain + 1, (long long)sweep, rt->options.warmup,
            r->draws.kept, r->draws.capacity,
            r->draws.kept ? "; the run is marked incomplete"
                          : ": nothing is written");
}

static enum gbm_status advance(struct rt_chains *r, const struct rt_block *b)
{
    const struct rt_method *m = r->rt->options.method;
    return m->advance ? m->advance(r, b) : r->rt->device->run(r->rt, b);
}

/* Whether the next sweep goes at the pace of a start. */
static bool is_eased(const struct rt_chains *r)
{
    return r->sweep < (uint32_t)r->ease.sweeps;
}

static enum gbm_status ease(struct rt_chains *r, const struct rt_block *b)
{
    rt_ease_begin(&r->ease);
    return advance(r, b) == GBM_OK ? rt_ease_end(&r->ease, r->rt)
                                   : r->rt->status;
}

static void complete_draw(void *context, int chain, int64_t k)
{
    struct rt_chains *r = context;
    const int draw = r->draws.kept + (int)k;
    if (r->pointwise.count > 0)
        rt_pointwise_keep_chain(&r->pointwise, &r->in, &r->draws, draw, chain);
    if (r->relabelling) {
#pragma omp critical(relabelling)
        rt_relabelling_keep(r, chain, gbm_draws_record(&r->draws, chain, draw),
                            draw);
    }
}

/* The same of all chains. */
static void complete_draws(struct rt_chains *r, int draw)
{
    if (r->pointwise.count > 0)
        rt_pointwise_keep(&r->pointwise, &r->in, &r->draws, draw,
                          r->rt->threads);
    for (int c = 0; c < r->in.nchains && r->relabelling; c++)
        rt_relabelling_keep(r, c, gbm_draws_record(&r->draws, c, draw), draw);
}

/* Runs a block of sweeps. What no device computes is added to each draw: by the
 * host's threads as they go, or else the device stops there. */
static enum gbm_status run_block(struct rt_chains *r,
                                 const struct rt_block *block)
{
    struct rt *rt = r->rt;
    struct rt_block one = *block;
    const bool own = rt->options.method->advance != NULL;
    if (block->adapting && is_eased(r))
        return ease(r, block);
    if (block->adapting ||
        (r->pointwise.count == 0 && (own || !r->relabelling)))
        return advance(r, block);
    if (rt->device == &rt_host && !own &&
        (r->pointwise.count == 0 ||
         rt_pointwise_by_chains(&r->pointwise, &r->in, rt->threads))) {
        one.draw_stride = r->draws.width;
        one.kept = complete_draw;
        one.context = r;
        r->pointwise.nsums += block->sweeps / block->thin;
        return advance(r, &one);
    }
    one.sweeps = block->thin;
    for (int k = 0; k < block->sweeps / block->thin; k++) {
        if (advance(r, &one) != GBM_OK ||
            (rt->device != &rt_host && rt->device->get(rt) != GBM_OK))
            return rt->status;
        complete_draws(r, r->draws.kept + k);
        one.first += (uint32_t)one.sweeps;
        one.draws += one.draws ? r->draws.width : 0;
        one.lp += one.lp ? 1 : 0;
    }
    return GBM_OK;
}

/* Runs sweeps in blocks until `total` of a phase are done, `done` of them
 * before; the sampling ones keep draws. Returns the sweeps done, fewer if
 * stopped or failed. */
static int64_t run_blocks(struct rt_chains *r, bool adapting, int64_t done,
                          int64_t total)
{
    struct rt *rt = r->rt;
    int thin = adapting ? 1 : rt->options.thin;
    while (done < total && !rt_stopped() && rt->status == GBM_OK) {
        int64_t sweeps = ((int64_t)r->block + thin - 1) / thin * thin;
        if (sweeps > total - done)
            sweeps = total - done;
        if (adapting)
            sweeps = is_eased(r) ? 1 : rt_relabelling_block(r, sweeps);
        struct rt_block b = {.seed = rt->options.seed,
                             .first = r->sweep,
                             .sweeps = (int)sweeps,
                             .adapting = adapting,
                             .thin = adapting ? 0 : thin};
        if (!adapting) {
            b.draws = r->in.row ? gbm_draws_record(&r->draws, 0, r->draws.kept)
                                : NULL;
            b.chain_stride = (int64_t)r->draws.capacity * r->draws.width;
            b.lp_stride = r->draws.capacity;
            if (r->lp >= 0)
                b.lp = r->draws.stats[r->lp].values + r->draws.kept;
        }
        double began = rt_clock();
        if (run_block(r, &b) != GBM_OK || r->cut)
            break;
        double spent = rt_clock() - began;
        r->sweep += (uint32_t)sweeps;
        done += sweeps;
        if (adapting)
            rt_relabelling_learn(r);
        int kept = r->draws.kept;
        if (!adapting)
            r->draws.kept += (int)(sweeps / thin);
        check_numbers(r, adapting, kept, done == total);
        rt_chains_spool(r, false);
        if (rt_checkpoint_due(&r->checkpoint) && rt->status == GBM_OK)
            rt_chains_save(r, adapting);
        double next = spent > 0 ? (double)sweeps * r->pace / spent : 1e6;
        double most = 8.0 * r->block;
        next = next < most ? next : most;
        r->block = next < 1 ? 1 : next > 1e6 ? 1000000 : (int)next;
        if (!adapting)
            rt_watch_show(r, false);
        rt_progress_show(&r->progress, done);
    }
    return done;
}

/* What chains learn together, as sweeps go on from it: a checkpoint between has
 * what each has learnt. */
static enum gbm_status pool(struct rt_chains *r)
{
    const bool apart = r->rt->options.method->replicas != NULL;
    return apart ? GBM_OK : rt_pool(r->rt, &r->in, r->sweep);
}

static enum gbm_status warm_up(struct rt_chains *r)
{
    int total = r->rt->options.warmup;
    int64_t done = r->sweep;
    rt_progress_begin(&r->progress, "warm-up", done, total);
    while (done < total && r->rt->status == GBM_OK) {
        /* replicas are to be apart */
        const bool apart = r->rt->options.method->replicas != NULL;
        const int64_t look =
            apart ? total : rt_arrival_next(&r->arrival, total);
        int64_t next = look;
        if (done < look && pool(r) == GBM_OK && !apart)
            next = rt_pool_next(&r->in, done, look);
        done = run_blocks(r, true, done, next);
        if (done < next)
            break;
        if (next < total && next == look)
            rt_arrival_look(&r->arrival, r->rt, &r->in, done, r->notes);
    }
    rt_progress_end(&r->progress, done);
    rt_clock_note("chains are warm");
    rt_chains_count_phase(r, true);
    return r->rt->status;
}

/* Room for more draws of each chain, behind those that are there. */
static enum gbm_status grow(struct rt_chains *r, int more)
{
    gbm_touch_end(r->touch);
    r->touch = NULL;
    if (gbm_draws_grow(&r->draws, r->draws.capacity + more) != GBM_OK)
        return rt_fail(r->rt, GBM_FAILURE, "no memory for more draws");
    rt_chains_touch(r);
    return GBM_OK;
}

static enum gbm_status sample(struct rt_chains *r, const struct rt_until *until)
{
    const struct rt_options *o = &r->rt->options;
    int first = rt_chains_wanted_draws(o);
    for (;;) {
        int64_t done = (int64_t)r->draws.kept * o->thin;
        int64_t sweeps = (int64_t)r->draws.capacity * o->thin;
        rt_progress_begin(&r->progress, "sampling", done, sweeps);
        rt_watch_begin(r);
        done = run_blocks(r, false, done, sweeps);
        rt_watch_show(r, true);
        rt_progress_end(&r->progress, done);
        rt_clock_note("draws are made");
        r->draws.complete = done == sweeps && r->rt->status == GBM_OK;
        rt_chains_count_phase(r, false);
        if (!o->until || !r->draws.complete)
            break;
        bool enough = rt_until_holds(r, until);
        rt_chains_count_anew(r);
        if (enough)
            break;
        int more = rt_until_more(r, until, first);
        if (more == 0 && !rt_until_is_time(until)) {
            rt_chains_save(r, false);
            rt_fail(r->rt, GBM_FAILURE,
                    "--until %s does not hold after %d draws a chain", o->until,
                    r->draws.kept);
        }
        if (more == 0)
            break;
        if (grow(r, more) != GBM_OK)
            break;
    }
    return r->rt->status;
}

/* Warm-up, if there is any left, and what it learns of all chains, which has to
 * be right. */
static enum gbm_status get_warm(struct rt_chains *r)
{
    const uint32_t warmup = (uint32_t)r->rt->options.warmup;
    const bool warm = r->sweep > 0 && r->sweep >= warmup;
    const double began = rt_clock();
    enum gbm_status status = warm ? GBM_OK : warm_up(r);
    if (status != GBM_OK || rt_stopped())
        return status;
    if (r->sweep == warmup)
        status = pool(r);
    return status == GBM_OK
               ? rt_self_check_lines(r->rt, &r->in, rt_clock() - began)
               : status;
}

static void execute(struct rt_chains *r, const struct rt_until *until)
{
    struct rt *rt = r->rt;
    rt_catch_signals();
    rt_spool_begin(&r->spool, rt->options.out);
    if (r->notes && r->spool.path[0] && access(r->spool.path, F_OK) == 0)
        fprintf(r->notes,
                "note: %s, of an earlier run that did not end, is replaced by "
                "this run's\n",
                r->spool.path);
    if (r->notes)
        fprintf(r->notes, "%s: %d chain%s on %s\n", rt->model->name,
                rt->options.chains, rt->options.chains == 1 ? "" : "s",
                rt->device_text);
    if (rt->options.no_check && r->draws.unchecked && r->notes)
        fprintf(r->notes, "warning: " GBM_UNCHECKED "\n");
    rt_chains_count_anew(r);
    const uint32_t first = r->sweep;
    if (rt_profile_begin(rt, &r->in) != GBM_OK)
        return;
    if (get_warm(r) == GBM_OK && !rt_stopped())
        sample(r, until);
    if (rt->status == GBM_OK)
        rt_chains_save(r, r->sweep < (uint32_t)rt->options.warmup);
    rt_chains_finish(r, r->sweep - first);
}

int rt_run_chains(struct rt *rt)
{
    struct rt_chains r = {
        .rt = rt, .lp = -1, .pace = BLOCK_SECONDS, .block = 1, .spool.fd = -1};
    struct rt_until until;
    r.notes = rt->options.quiet ? NULL : stderr;
    bool terminal = isatty(STDERR_FILENO) != 0;
    const enum rt_progress_kind kind = rt->options.progress;
    r.progress.out = kind == RT_PROGRESS_NONE ? NULL : r.notes;
    r.progress.bar =
        kind == RT_PROGRESS_BAR ||
        (terminal && (kind == RT_PROGRESS_AUTO || kind == RT_PROGRESS_FULL));
    if (rt->options.explain && !rt->options.quiet)
        fputs(rt->model->explain, stdout);
    if (rt_checkpoint_open(&r.checkpoint, &r.resume, rt, r.notes) == GBM_OK &&
        rt_until_parse(rt, &until) == GBM_OK &&
        rt_chains_prepare(&r) == GBM_OK &&
        rt_until_fits(rt, &until, &r.draws) == GBM_OK)
        execute(&r, &until);
    if (rt->options.method->release)
        rt->options.method->release(&r);
    if (r.opened)
        rt->device->close(rt);
    rt_profile_end(rt);
    rt_checkpoint_end(&r.checkpoint);
    rt_resume_end(&r.resume);
    rt_moments_free(&r.in, r.moments);
    rt_pointwise_free(&r.pointwise, &r.in);
    rt_relabelling_free(&r);
    rt_arrival_free(&r.arrival);
    rt_ease_free(&r.ease);
    gbm_touch_end(r.touch);
    gbm_draws_free(&r.draws);
    if (r.loaded)
        rt_instance_free(&r.in);
    gbm_data_free(&r.data);
    return rt_report(rt);
}
