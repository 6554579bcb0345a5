/* host.c: the device that is the reference: OpenMP over chains or, where there
 * are fewer chains than threads and elements enough, over elements. A sweep of
 * a chain is a list of calls; nothing is allocated or locked in it. */
#include "host/host.h"
#include "base/base.h"

#include <cblas.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct call {
    const struct gbm_step *step;
    const int *elements;
    int64_t first, last;
    bool parallel; /* worth several threads */
    int place;     /* of its first element in a batch of calls, or -1 */
    struct host_batch *batch; /* that begins here, or NULL */
    const struct host_dense *dense;
    const struct host_dense *pass; /* the block whose rows it draws; or NULL */
};

struct host {
    struct rt_instance *in;
    char *states;
    struct call *sweep, *leaf;
    int nsweep, nleaf;
    bool large;                /* some call is worth several threads */
    struct host_dense **dense; /* [nsteps] */
    struct host_work *work;    /* [threads] */
    struct host_along *along;  /* NULL: there are no such moves */
    struct rt_moments *moments;
    int64_t count;  /* of the moments */
    double sweep_s; /* CPU seconds of a chain's sweep, as last measured; 0: not
                       yet */
};

static void tell_threads(struct rt *rt)
{
    snprintf(rt->device_text, sizeof rt->device_text, "CPU, %d thread%s",
             rt->threads, rt->threads == 1 ? "" : "s");
}

static enum gbm_status host_open(struct rt *rt, const char *which)
{
    (void)which;
    openblas_set_num_threads(1);
    omp_set_max_active_levels(1);
    tell_threads(rt);
    return GBM_OK;
}

/* ---- the list of calls ---- */

/* Work of this many terms pays for waking the threads. */
#define WORTH 20000

/* Whether threads have something to share in a call of n elements: not in one
 * alone, however long its sums, nor where one recomputes all (an index has no
 * list of them). A dense block shares what it multiplies. */
static bool is_shared(const struct host *h, const struct gbm_step *step,
                      const struct rt_step *plan, int64_t n)
{
    const bool by_one = step->kind == GBM_STEP_DERIVE &&
                        h->in->model->families[step->family].refresh;
    return step->kind == GBM_STEP_DENSE ||
           (n > 1 && !plan->sequential && !by_one);
}

static void add_call(struct host *h, const struct gbm_step *step,
                     const struct rt_step *plan, int64_t first, int64_t last)
{
    struct call *call =
        step->leaf ? &h->leaf[h->nleaf++] : &h->sweep[h->nsweep++];
    double cost = 8;
    if (step->cost)
        cost += (double)step->cost(h->states);
    double work = (double)(last - first) * cost;
    if (step->kind == GBM_STEP_DENSE) {
        const struct host_dense *dense = h->dense[step - h->in->model->steps];
        double d = host_dense_dimension(dense);
        work = d * d * d;
        for (int k = 0; k < step->dense->nterms; k++)
            work += d * (double)h->in->elements[step->dense->terms[k].family];
    }
    *call = (struct call){.step = step,
                          .elements = plan->elements,
                          .first = first,
                          .last = last,
                          .parallel = work > WORTH &&
                                      is_shared(h, step, plan, last - first),
                          .dense = h->dense[step - h->in->model->steps]};
    h->large = h->large || call->parallel;
}

static bool is_small(const struct host *h, const struct call *call)
{
    return call->step->kind == GBM_STEP_MAP && !call->parallel && !call->pass &&
           2 * (call->last - call->first) <= host_batch_room(h->in, call->step);
}

/* Steps of many elements that draw the rows of a dense block go through its
 * design once for both; the device's line of a run tells which. */
static void find_passes(struct rt *rt, struct host *h)
{
    const struct gbm_step *steps = h->in->model->steps;
    tell_threads(rt);
    for (int k = 0; k < h->nsweep; k++) {
        struct call *call = &h->sweep[k];
        if (call->step->kind != GBM_STEP_MAP || is_small(h, call))
            continue;
        for (int b = 0; b < h->in->model->nsteps && !call->pass; b++) {
            if (!h->dense[b] ||
                !host_dense_plan_pass(h->dense[b], call->step->number))
                continue;
            const size_t used = strlen(rt->device_text);
            call->pass = h->dense[b];
            snprintf(rt->device_text + used, sizeof rt->device_text - used,
                     ", %s drawn in one pass with sums for %s",
                     call->step->variable, steps[b].variable);
        }
    }
}

/* Calls of few elements share batches of random numbers. Those of `several`
 * sweeps are one batch where that has room for all. */
static enum gbm_status share_batches(struct rt *rt, struct host *h,
                                     struct call *calls, int n, bool several)
{
    int64_t places = 0;
    for (int k = 0; k < n; k++)
        if (is_small(h, &calls[k]))
            places += (calls[k].last - calls[k].first) * calls[k].step->blocks;
    int stride = several && places <= HOST_BATCH ? GBM_AHEAD_GROUP : 1;
    struct host_batch *batch = NULL;
    for (int k = 0; k < n; k++) {
        struct call *call = &calls[k];
        call->place = -1;
        if (!is_small(h, call))
            continue;
        if (batch)
            call->place = host_batch_add(batch, call->step, call->elements,
                                         call->first, call->last);
        if (call->place >= 0)
            continue;
        batch = call->batch = calloc(1, sizeof *batch);
        if (!batch)
            return rt_fail(rt, GBM_FAILURE, "no memory");
        batch->stride = stride;
        call->place = host_batch_add(batch, call->step, call->elements,
                                     call->first, call->last);
    }
    return GBM_OK;
}

static enum gbm_status list_calls(struct rt *rt, struct host *h)
{
    const struct gbm_model *m = h->in->model;
    size_t n = 1;
    for (int k = 0; k < m->nsteps; k++)
        n += 1 + (size_t)h->in->steps[k].ncolours;
    h->sweep = calloc(n, sizeof *h->sweep);
    h->leaf = calloc(n, sizeof *h->leaf);
    if (!h->sweep || !h->leaf)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    for (int k = 0; k < m->nsteps; k++) {
        const struct rt_step *plan = &h->in->steps[k];
        if (!plan->active)
            continue;
        if (!plan->colour)
            add_call(h, &m->steps[k], plan, 0, 0);
        for (int c = 0; plan->colour && c < plan->ncolours; c++)
            if (plan->colour[c + 1] > plan->colour[c])
                add_call(h, &m->steps[k], plan, plan->colour[c],
                         plan->colour[c + 1]);
    }
    find_passes(rt, h);
    enum gbm_status s = share_batches(rt, h, h->sweep, h->nsweep, true);
    return s == GBM_OK ? share_batches(rt, h, h->leaf, h->nleaf, false) : s;
}

/* A pass leaves sums that the next sweep takes: nothing may move between. */
static bool has_pass(const struct host *h)
{
    bool found = false;
    for (int k = 0; k < h->nsweep; k++)
        found = found || h->sweep[k].pass;
    return found;
}

static enum gbm_status host_load(struct rt *rt, struct rt_instance *in)
{
    struct host *h = calloc(1, sizeof *h);
    if (!h)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt->device_data = h;
    h->in = in;
    h->states = rt_states_create(in);
    h->dense = calloc((size_t)in->model->nsteps + 1, sizeof(void *));
    h->work = calloc((size_t)rt->threads + 1, sizeof *h->work);
    h->moments = rt_moments_create(in);
    if (!h->states || !h->dense || !h->work || !h->moments)
        return rt_fail(rt, GBM_FAILURE, "no memory for the chains");
    for (int k = 0; k < in->model->nsteps; k++) {
        const struct gbm_step *step = &in->model->steps[k];
        if (step->kind != GBM_STEP_DENSE || !in->steps[k].active)
            continue;
        h->dense[k] = host_dense_create(rt, in, step, h->states);
        if (!h->dense[k])
            return GBM_FAILURE;
    }
    if (list_calls(rt, h) != GBM_OK)
        return rt->status;
    if (!has_pass(h))
        h->along = host_along_create(rt, in, h->states);
    return GBM_OK;
}

/* ---- a sweep ---- */

struct runner {
    struct host *host;
    struct rt *rt;
    const struct rt_block *block;
    int chain;
    void *state;
    int threads; /* of this chain */
    struct host_work *work;
    struct gbm_sweep sweep;
    struct gbm_ahead *ahead;   /* [HOST_BATCH]: what was computed last */
    struct gbm_ahead *several; /* [HOST_BATCH]: the batch of several sweeps, */
    uint32_t from, until;      /* which are these */
    int64_t jitters;
    const struct gbm_step *failed;
    double *profile; /* of struct rt; NULL: nothing is timed */
};

/* Elements of a call that is in no batch: it has its own, as many as it takes.
 */
static void run_piece(const struct runner *r, const struct call *call,
                      int64_t first, int64_t last)
{
    const struct gbm_step *step = call->step;
    struct gbm_sweep sweep = r->sweep;
    struct gbm_ahead ahead[HOST_BATCH];
    struct host_batch batch;
    int64_t room = host_batch_room(r->host->in, step);
    sweep.ahead = NULL;
    batch.stride = 1;
    for (int64_t k = first; k < last; k += room) {
        int64_t end = room == 0 || last - k < room ? last : k + room;
        if (room > 0) {
            batch.count = 0;
            host_batch_add(&batch, step, call->elements, k, end);
            host_batch_draw(r->host->in, &batch, (uint32_t)r->chain, &sweep,
                            ahead);
        } else {
            room = last - first;
        }
        step->run(r->state, &sweep, (uint32_t)r->chain, call->elements, k, end);
    }
}

static void draw_batch(struct runner *r, const struct host_batch *batch)
{
    const struct rt_instance *in = r->host->in;
    uint32_t chain = (uint32_t)r->chain;
    if (batch->stride == 1) {
        host_batch_draw(in, batch, chain, &r->sweep, r->ahead);
        return;
    }
    if (r->sweep.sweep == r->until || r->from == r->until) {
        r->from = r->sweep.sweep;
        r->until = r->from + (uint32_t)batch->stride;
        host_batch_draw(in, batch, chain, &r->sweep, r->several);
    }
    r->sweep.ahead = r->several;
    r->sweep.stride = (uint32_t)batch->stride;
}

static void run_elements(struct runner *r, const struct call *call)
{
    if (call->place >= 0) {
        r->sweep.place = (uint32_t)call->place;
        if (r->sweep.stride > 1)
            r->sweep.place += r->sweep.sweep - r->from;
        call->step->run(r->state, &r->sweep, (uint32_t)r->chain, call->elements,
                        call->first, call->last);
        return;
    }
    if (r->threads <= 1 || !call->parallel) {
        run_piece(r, call, call->first, call->last);
        return;
    }
    int64_t n = call->last - call->first;
    int64_t pieces = r->threads * 8 < n ? r->threads * 8 : n;
#pragma omp parallel for num_threads(r->threads) schedule(dynamic)
    for (int64_t p = 0; p < pieces; p++)
        run_piece(r, call, call->first + n * p / pieces,
                  call->first + n * (p + 1) / pieces);
}

static void derive_elements(const struct runner *r,
                            const struct gbm_family *family, int64_t n,
                            bool parallel)
{
    void (*derive)(const void *state, int64_t element) =
        family->refresh ? family->refresh : family->derive;
    if (family->refresh && n > 0)
        n = 1; /* which computes them all */
    if (r->threads <= 1 || !parallel) {
        for (int64_t e = 0; e < n; e++)
            derive(r->state, e);
        return;
    }
#pragma omp parallel for num_threads(r->threads) schedule(static)
    for (int64_t e = 0; e < n; e++)
        derive(r->state, e);
}

static void run_call(struct runner *r, const struct call *call)
{
    const struct rt_instance *in = r->host->in;
    switch (call->step->kind) {
    case GBM_STEP_MAP:
        if (call->pass)
            host_dense_draw_rows(call->pass, call->step->number, r->state,
                                 &r->sweep, (uint32_t)r->chain, r->threads,
                                 r->work);
        else
            run_elements(r, call);
        break;
    case GBM_STEP_DERIVE:
        derive_elements(r, &in->model->families[call->step->family], call->last,
                        call->parallel);
        break;
    case GBM_STEP_INDEX:
        rt_index(in, r->state, call->step->inverse, r->chain);
        break;
    case GBM_STEP_DENSE:
        if (!host_dense_draw(call->dense, r->state, &r->sweep,
                             (uint32_t)r->chain, r->threads, r->work,
                             &r->jitters))
            r->failed = call->step;
        break;
    }
}

static double clock_of(const struct runner *r)
{
    return r->profile ? rt_clock() : 0;
}

/* Adds the seconds since `began` to number `k` of the profile, if there is one.
 */
static void count_time(const struct runner *r, int k, double began)
{
    if (!r->profile)
        return;
    const double spent = rt_clock() - began;
#pragma omp atomic
    r->profile[k] += spent;
}

static void watch(const struct runner *r, const struct gbm_step *last, bool end)
{
    if (r->rt->watch)
        r->rt->watch(r->rt, r->host->in, r->state, r->chain, last, end);
}

/* Whether all that the first of the calls makes due, or is made by it as
 * another was drawn, is there behind it. */
static bool is_settled(const struct host *h, const struct call *calls, int n)
{
    const struct gbm_step *step = calls->step, *drawn = step;
    const struct gbm_step *next = n > 1 ? calls[1].step : NULL;
    if (step->after)
        drawn = &h->in->model->steps[step->after - 1];
    return !next ||
           (next != step && !drawn->defers && next->kind != GBM_STEP_DERIVE &&
            next->kind != GBM_STEP_INDEX);
}

static void run_calls(struct runner *r, const struct call *calls, int n)
{
    for (int k = 0; k < n; k++) {
        if (calls[k].batch) {
            const double began = clock_of(r);
            draw_batch(r, calls[k].batch);
            count_time(r, r->host->in->model->nsteps + RT_RANDOM, began);
        }
        const double began = clock_of(r);
        run_call(r, &calls[k]);
        count_time(r, calls[k].step->number, began);
        if (is_settled(r->host, calls + k, n - k))
            watch(r, calls[k].step, k + 1 == n && !calls[k].step->leaf);
    }
}

/* ---- keeping ---- */

/* After sweep `s` of those that h->count does not count yet: the k-th of the
 * block that is kept, or k is -1 and it only enters the moments. */
static void keep(struct runner *r, int s, int64_t k)
{
    const struct host *h = r->host;
    const bool late = k >= 0 || h->in->moments_late;
    if (late)
        run_calls(r, h->leaf, h->nleaf);
    const double began = clock_of(r);
    if (late)
        rt_derive_kept(h->in, r->state);
    if (late)
        watch(r, NULL, true);
    if (h->in->has_moments)
        rt_moments_add(h->in, h->moments, r->chain, h->count + s + 1);
    if (k >= 0)
        rt_keep(h->in, r->block, r->state, r->chain, k, r->threads);
    count_time(r, h->in->model->nsteps + RT_KEPT, began);
}

static void move_along(const struct runner *r)
{
    const double began = clock_of(r);
    if (!r->host->along)
        return;
    host_along_move(r->host->along, r->state, r->chain, r->block,
                    r->sweep.sweep, NULL);
    count_time(r, r->host->in->model->nsteps + RT_LINES, began);
    watch(r, NULL, true);
}

/* Sweeps `from` to `to` of the block. */
static void run_chain(struct runner *r, int from, int to)
{
    const struct host *h = r->host;
    const struct rt_block *b = r->block;
    struct gbm_ahead ahead[HOST_BATCH], several[HOST_BATCH];
    r->ahead = ahead;
    r->several = several;
    r->state = rt_state(h->in, h->states, r->chain);
    r->sweep = (struct gbm_sweep){.seed = b->seed,
                                  .sweep = b->first + (uint32_t)from,
                                  .chain0 = 0,
                                  .adapting = b->adapting};
    int until_kept = b->thin > 0 ? b->thin - from % b->thin : 0;
    int64_t kept = b->thin > 0 ? from / b->thin : 0;
    watch(r, NULL, false);
    for (int s = from; s < to && !r->failed; s++, r->sweep.sweep++) {
        run_calls(r, h->sweep, h->nsweep);
        move_along(r);
        if (b->thin > 0 && --until_kept == 0) {
            keep(r, s - from, kept);
            if (b->kept)
                b->kept(b->context, r->chain, kept);
            kept++;
            until_kept = b->thin;
        } else if (b->thin > 0 && h->in->has_moments) {
            keep(r, s - from, -1);
        }
    }
}

/* Whether the threads share the elements of one chain after the other. */
static bool shares_elements(const struct rt *rt, const struct host *h)
{
    return h->large && h->in->nchains < rt->threads;
}

/* How many chains run at once, if there are enough sweeps. */
static int chains_at_once(const struct rt *rt, const struct host *h)
{
    if (shares_elements(rt, h))
        return 1;
    return h->in->nchains < rt->threads ? h->in->nchains : rt->threads;
}

/* Sweeps `from` to `to` of a block, of all chains. */
static enum gbm_status run_part(struct rt *rt, const struct rt_block *block,
                                int from, int to)
{
    struct host *h = rt->device_data;
    int chains = h->in->nchains, sweeps = to - from;
    bool inside = shares_elements(rt, h);
    int outer = chains_at_once(rt, h);
    if (h->sweep_s > 0 && h->sweep_s * sweeps * chains < RT_WORTH_WAKING)
        outer = 1;
    int64_t jitters = 0;
    double spent = 0;
    const struct gbm_step *failed = NULL;
    (void)outer; /* where there is no OpenMP */
#pragma omp parallel for num_threads(outer) schedule(dynamic)                  \
    reduction(+ : jitters, spent) if (outer > 1)
    for (int c = 0; c < chains; c++) {
        struct runner r = {.host = h,
                           .rt = rt,
                           .block = block,
                           .chain = c,
                           .threads = inside ? rt->threads : 1,
                           .work = &h->work[omp_get_thread_num()],
                           .profile = rt->profile};
        const double began = rt_thread_clock();
        run_chain(&r, from, to);
        spent += rt_thread_clock() - began;
        jitters += r.jitters;
        if (r.failed) {
#pragma omp critical
            failed = r.failed;
        }
    }
    rt->jitters += jitters;
    if (sweeps > 0)
        h->sweep_s = spent / ((double)sweeps * chains);
    if (block->thin > 0)
        h->count += sweeps;
    if (rt->status != GBM_OK) /* what watches the chains has failed */
        return rt->status;
    if (failed)
        return rt_fail(rt, GBM_FAILURE,
                       "%s: the precision of the Gaussian block of %s is not "
                       "positive definite: some value has overflowed or the "
                       "prior is improper",
                       h->in->model->source, failed->variable);
    return GBM_OK;
}

static enum gbm_status host_run(struct rt *rt, const struct rt_block *block)
{
    const struct host *h = rt->device_data;
    enum gbm_status status = GBM_OK;
    for (int from = 0, to; from < block->sweeps && status == GBM_OK;
         from = to) {
        to = h->along ? host_along_until(h->along, block, from) : block->sweeps;
        status = run_part(rt, block, from, to);
        if (status == GBM_OK && h->along &&
            !host_along_learn(h->along, block, to))
            status = rt_fail(rt, GBM_FAILURE, "no memory for lines of moves");
    }
    return status;
}

static enum gbm_status host_ceilings(struct rt *rt, double shared, double own,
                                     struct rt_ceilings *out)
{
    const struct host *h = rt->device_data;
    const int chains = chains_at_once(rt, h);
    host_measure(shares_elements(rt, h) ? rt->threads : chains, chains,
                 shared + own, out);
    return GBM_OK;
}

static enum gbm_status host_nothing(struct rt *rt)
{
    (void)rt;
    return GBM_OK;
}

static enum gbm_status host_moments(struct rt *rt, struct rt_moments *moments,
                                    int64_t *count)
{
    const struct host *h = rt->device_data;
    rt_moments_copy(h->in, h->moments, moments);
    *count = h->count;
    return GBM_OK;
}

static enum gbm_status
host_put_moments(struct rt *rt, const struct rt_moments *moments, int64_t count)
{
    struct host *h = rt->device_data;
    rt_moments_copy(h->in, moments, h->moments);
    h->count = count;
    return GBM_OK;
}

static void host_own(struct rt *rt, struct rt_pieces *pieces)
{
    const struct host *h = rt->device_data;
    if (h->along)
        host_along_own(h->along, pieces);
}

struct host_along *host_along_of(const struct rt *rt)
{
    const struct host *h = rt->device == &rt_host ? rt->device_data : NULL;
    return h ? h->along : NULL;
}

static void host_close(struct rt *rt)
{
    struct host *h = rt->device_data;
    if (!h)
        return;
    for (int k = 0; h->dense && k < h->in->model->nsteps; k++)
        host_dense_free(h->dense[k]);
    for (int t = 0; h->work && t < rt->threads; t++)
        free(h->work[t].cells);
    rt_moments_free(h->in, h->moments);
    host_along_free(h->along);
    free(h->dense);
    free(h->work);
    for (int k = 0; h->sweep && k < h->nsweep; k++)
        free(h->sweep[k].batch);
    for (int k = 0; h->leaf && k < h->nleaf; k++)
        free(h->leaf[k].batch);
    free(h->sweep);
    free(h->leaf);
    free(h->states);
    free(h);
    rt->device_data = NULL;
}

const struct rt_device rt_host = {
    .name = "cpu",
    .open = host_open,
    .load = host_load,
    .run = host_run,
    .put = host_nothing,
    .get = host_nothing,
    .moments = host_moments,
    .put_moments = host_put_moments,
    .own = host_own,
    .ceilings = host_ceilings,
    .close = host_close,
};
