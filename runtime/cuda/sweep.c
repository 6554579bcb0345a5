/* sweep.c: a sweep is a fixed list of kernels and library calls on one stream;
 * what changes from sweep to sweep lies in device memory (control.h). So it is
 * captured once as a CUDA graph and replayed without the host's help. Kept
 * draws gather in a ring of two halves: while the device fills one, the host
 * takes the other. */
#include "programs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- one sweep ---- */

static enum gbm_status run_map(struct cuda *c, int step)
{
    const struct rt_step *plan = &c->in->steps[step];
    struct cuda_step *s = &c->steps[step];
    int chains = c->in->nchains, sequential = plan->sequential;

    if (s->by_rows) {
        void *args[] = {c->state, &chains, &s->table};
        TRY(cuda_launch(c, &s->values, s->tried, args));
    }
    for (int colour = 0; colour < (sequential ? 1 : plan->ncolours); colour++) {
        long long first = sequential ? 0 : plan->colour[colour];
        long long last = sequential ? plan->count : plan->colour[colour + 1];
        long long count = last - first;
        const int64_t items = (sequential ? 1 : count) * chains;
        void *args[] = {c->state, &c->control, &s->elements, &first,
                        &count,   &chains,     &sequential,  &s->table};
        if (count > 0)
            TRY(cuda_launch(c, &s->kernel, items, args));
    }
    return GBM_OK;
}

/* least: as many elements' threads are launched at least. */
static enum gbm_status run_derive(struct cuda *c, const struct cuda_kernel *k,
                                  long long count, int sequential,
                                  int64_t least)
{
    int chains = c->in->nchains;
    CUdeviceptr elements = 0;
    long long first = 0;
    const int64_t items = (sequential ? 1 : count) * chains;
    void *args[] = {c->state, &elements, &first, &count, &chains, &sequential};

    if (count == 0)
        return GBM_OK;
    return cuda_launch(c, k, items < least ? least : items, args);
}

/* Blocks of a table that weights fill share out rows where cells are few. */
static int64_t least_items(const struct cuda *c, int step)
{
    return c->steps[step].beside && c->in->model->steps[step].weighted
               ? 2ll * c->multiprocessors * 32
               : 0;
}

static enum gbm_status run_step(struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const struct rt_step *plan = &c->in->steps[step];

    switch (s->kind) {
    case GBM_STEP_MAP:
        return run_map(c, step);
    case GBM_STEP_DENSE:
        return cuda_dense_run(c, c->steps[step].dense);
    case GBM_STEP_INDEX:
        return cuda_index_run(c, s, c->steps[step].index);
    case GBM_STEP_DERIVE:
        return run_derive(c, &c->steps[step].kernel, plan->count,
                          plan->sequential, least_items(c, step));
    }
    return GBM_OK;
}

/* A step that multiplies what a pass draws follows it on its stream, and so do
 * the sums that the pass has made: the block begins beside them. */
static enum gbm_status run_below(struct cuda *c, int step)
{
    TRY(cuda_fork(c, &c->below, 1));
    cuda_turn(c, &c->below);
    enum gbm_status status = run_map(c, step);
    if (status == GBM_OK)
        status = cuda_dense_multiply(c, step);
    cuda_turn(c, &c->main);
    return status;
}

/* Waits for all that was asked of the device, and adds the seconds since
 * `began` to number `k` of the profile. */
static enum gbm_status count_time(struct cuda *c, int k, double began)
{
    CU(cuStreamSynchronize(c->stream));
    TRY(cuda_sides_synchronize(c));
    c->rt->profile[k] += rt_clock() - began;
    return GBM_OK;
}

/* Passes begin as early as they may, to run beside the steps up to their own;
 * for a profile in their own place. */
static enum gbm_status begin_passes(struct cuda *c, int step)
{
    for (int k = step; k < c->in->model->nsteps; k++)
        if (c->steps[k].drawn_for && c->in->steps[k].active &&
            (c->rt->profile ? k : c->steps[k].since) == step)
            TRY(cuda_dense_draw_rows(c, k));
    return GBM_OK;
}

static enum gbm_status run_steps(struct cuda *c, bool leaf)
{
    const struct gbm_model *model = c->in->model;
    for (int k = 0; k < model->nsteps; k++) {
        const double began = c->rt->profile ? rt_clock() : 0;
        if (!leaf)
            TRY(begin_passes(c, k));
        if (!c->in->steps[k].active || model->steps[k].leaf != leaf)
            continue;
        TRY(cuda_aside_turn(c, k));
        if (!c->steps[k].drawn_for)
            TRY(c->steps[k].scales_for ? run_below(c, k) : run_step(c, k));
        TRY(cuda_aside_return(c, k));
        if (c->rt->profile)
            TRY(count_time(c, k, began));
    }
    return GBM_OK;
}

enum gbm_status cuda_sum_density(struct cuda *c, int family, int first)
{
    int chains = c->in->nchains;
    long long count = c->in->elements[family];
    void *args[] = {c->state, &count, &chains, &c->density};
    void *known_args[] = {c->state, &count, &chains, &first, &c->lp};
    void *sum_args[] = {&c->density, &count, &first, &c->lp};

    if (c->known[family].name[0])
        return cuda_launch_flat(c, &c->known[family], chains, known_args);
    TRY(cuda_launch(c, &c->densities[family], count * chains, args));
    return cuda_launch_grid(c, &c->fixed.add_densities, chains, 1, 256, 0,
                            sum_args);
}

/* lp = the sum of the families' log densities, chain by chain. */
static enum gbm_status sum_densities(struct cuda *c)
{
    int first = 1;

    for (int f = 0; f < c->in->model->nfamilies; f++) {
        if (!c->densities[f].name[0])
            continue;
        TRY(cuda_sum_density(c, f, first));
        first = 0;
    }
    return GBM_OK;
}

/* The end of a sweep that enters the moments, and that may be kept. */
static enum gbm_status keep(struct cuda *c, bool kept)
{
    const struct rt_instance *in = c->in;
    const bool late = kept || in->moments_late;

    if (late)
        TRY(run_steps(c, true));
    const double began = c->rt->profile ? rt_clock() : 0;
    for (int k = 0; late && k < in->nkept_families; k++) {
        const int family = in->kept_families[k];
        TRY(run_derive(c, &c->kept[k], in->elements[family],
                       in->model->families[family].recursive, 0));
    }
    if (kept && c->with_lp)
        TRY(sum_densities(c));
    TRY(cuda_keep_run(c, kept));
    return c->rt->profile ? count_time(c, in->model->nsteps + RT_KEPT, began)
                          : GBM_OK;
}

static enum gbm_status sweep_by_steps(struct cuda *c, enum cuda_end end)
{
    unsigned sweeps = 1, none = 0;
    void *args[] = {&c->control, &sweeps, &none, &none};

    TRY(cuda_aside_begin(c));
    TRY(run_steps(c, false));
    TRY(cuda_aside_end(c));
    if (end != CUDA_SWEEP)
        return keep(c, end == CUDA_KEPT);
    return cuda_launch_grid(c, &c->fixed.sweeps_done, 1, 1, 1, 0, args);
}

static enum gbm_status sweep(struct cuda *c, enum cuda_end end)
{
    const bool kept = end == CUDA_SWAPPED_KEPT;

    if (end != CUDA_SWAPPED && !kept)
        return sweep_by_steps(c, end);
    TRY(c->chains.lanes ? cuda_chains_sweep(c, kept)
                        : sweep_by_steps(c, kept ? CUDA_KEPT : CUDA_SWEEP));
    return cuda_ladder_swap(c, kept);
}

/* ---- graphs ---- */

void cuda_forget_graphs(struct cuda *c)
{
    for (int i = 0; i < c->ngraphs; i++)
        (void)cuGraphExecDestroy(c->graphs[i].exec);
    c->ngraphs = 0;
    memset(c->ran, 0, sizeof c->ran);
}

static enum gbm_status capture(struct cuda *c, enum cuda_end end, int sweeps,
                               CUgraphExec *exec)
{
    enum gbm_status status = GBM_OK;
    CUgraph graph = NULL;

    CU(cuStreamBeginCapture(c->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; status == GBM_OK && i < sweeps; i++)
        status = sweep(c, end);
    CUresult ended = cuStreamEndCapture(c->stream, &graph);
    if (status != GBM_OK) {
        if (graph)
            (void)cuGraphDestroy(graph);
        return status;
    }
    CU(ended);
    CUresult made = cuGraphInstantiate(
        exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    (void)cuGraphDestroy(graph);
    CU(made);
    return GBM_OK;
}

/* A capture that fails is no reason to stop: sweeps are then launched kernel by
 * kernel. That is slower, so the device's text says why. */
static enum gbm_status give_up_graphs(struct cuda *c)
{
    struct rt *rt = c->rt;

    cuda_say(c, ", without graphs: %.160s", rt->message);
    rt->status = GBM_OK;
    rt->message[0] = '\0';
    c->no_graphs = true;
    /* an error that stays is found here */
    CU(cuStreamSynchronize(c->stream));
    TRY(cuda_sides_synchronize(c));
    return GBM_OK;
}

/* *exec is NULL if there are no graphs. */
static enum gbm_status find_graph(struct cuda *c, enum cuda_end end, int sweeps,
                                  CUgraphExec *exec)
{
    for (int i = 0; i < c->ngraphs; i++)
        if (c->graphs[i].end == end && c->graphs[i].sweeps == sweeps) {
            *exec = c->graphs[i].exec;
            return GBM_OK;
        }
    if (capture(c, end, sweeps, exec) != GBM_OK) {
        *exec = NULL;
        return give_up_graphs(c);
    }
    c->graphs[c->ngraphs++] =
        (struct cuda_graph){.exec = *exec, .end = end, .sweeps = sweeps};
    return GBM_OK;
}

/* Puts `n` sweeps of a kind on the stream. The first of a kind runs without a
 * graph: then the libraries load what they need, and the launches are counted
 * that a sweep takes. */
static enum gbm_status run_sweeps(struct cuda *c, enum cuda_end end, int64_t n)
{
    while (n > 0 &&
           (c->sync_each || c->no_graphs || c->rt->profile || !c->ran[end])) {
        const int64_t before = c->launches;
        TRY(sweep(c, end));
        c->ran[end] = true;
        const int64_t batch = 512 / (c->launches - before);
        c->batch[end] = batch < 1 ? 1 : batch > 32 ? 32 : (int)batch;
        n--;
    }
    while (n > 0) {
        CUgraphExec exec;
        const int sweeps = n >= c->batch[end] ? c->batch[end] : 1;
        TRY(find_graph(c, end, sweeps, &exec));
        if (!exec)
            return run_sweeps(c, end, n);
        CU(cuGraphLaunch(exec, c->stream));
        n -= sweeps;
    }
    return GBM_OK;
}

/* ---- blocks ---- */

static enum gbm_status run_unkept(struct cuda *c, int64_t n)
{
    return c->chains.lanes ? cuda_chains_run(c, 0, n)
                           : run_sweeps(c, CUDA_SWEEP, n);
}

/* `keeps` kept sweeps, each after thin - 1 others. */
static enum gbm_status run_kept(struct cuda *c, int thin, int64_t keeps)
{
    if (c->chains.lanes)
        return cuda_chains_run(c, thin, thin * keeps);
    if (thin == 1)
        return run_sweeps(c, CUDA_KEPT, keeps);
    for (int64_t k = 0; k < keeps; k++) {
        TRY(run_sweeps(c, c->in->has_moments ? CUDA_COUNTED : CUDA_SWEEP,
                       thin - 1));
        TRY(run_sweeps(c, CUDA_KEPT, 1));
    }
    return GBM_OK;
}

/* Takes a half of the ring with `keeps` draws, of the block's draws number
 * `first` on. */
static enum gbm_status collect(struct cuda *c, const struct rt_block *block,
                               int half, int64_t first, int64_t keeps)
{
    const int64_t chains = c->in->nchains, cells = c->in->row;
    const size_t draw = (size_t)(chains * c->row) * sizeof(double);

    CU(cuStreamWaitEvent(c->copies, c->done[half], 0));
    CU(cuMemcpyDtoHAsync(c->staging,
                         c->draws +
                             (CUdeviceptr)(half * c->half) * (CUdeviceptr)draw,
                         (size_t)keeps * draw, c->copies));
    CU(cuStreamSynchronize(c->copies));
#pragma omp parallel for num_threads(c->rt->threads) if (keeps * chains > 4096)
    for (int64_t chain = 0; chain < chains; chain++)
        for (int64_t k = 0; k < keeps; k++) {
            const double *row = c->staging + (k * chains + chain) * c->row;
            if (block->draws)
                memcpy(block->draws + chain * block->chain_stride +
                           (first + k) * cells,
                       row, (size_t)cells * sizeof *row);
            if (block->lp)
                block->lp[chain * block->lp_stride + first + k] =
                    c->with_lp ? row[cells] : (double)NAN;
        }
    return GBM_OK;
}

/* Whether the ring is used in a block. */
static bool stores(const struct cuda *c, const struct rt_block *block)
{
    return (block->draws || block->lp) && c->row > 0;
}

static enum gbm_status run_draws(struct cuda *c, const struct rt_block *block)
{
    const int64_t keeps = block->sweeps / block->thin;
    int64_t waiting = -1; /* first draw of a half that is not collected yet */
    int half = 0;

    if (!stores(c, block))
        return run_kept(c, block->thin, keeps);
    for (int64_t first = 0; first < keeps; first += c->half) {
        const int64_t n = keeps - first < c->half ? keeps - first : c->half;
        TRY(run_kept(c, block->thin, n));
        CU(cuEventRecord(c->done[half], c->stream));
        if (waiting >= 0)
            TRY(collect(c, block, !half, waiting, c->half));
        waiting = first;
        half = !half;
    }
    if (waiting >= 0)
        TRY(collect(c, block, !half, waiting, keeps - waiting));
    return GBM_OK;
}

static enum gbm_status report(struct cuda *c)
{
    struct gbm_control control;

    CU(cuMemcpyDtoHAsync(&control, c->control, sizeof control, c->stream));
    CU(cuStreamSynchronize(c->stream));
    c->rt->jitters += (int64_t)control.jitters - c->jitters;
    c->jitters = (int64_t)control.jitters;
    if (!control.failed)
        return GBM_OK;
    const char *variable = "a block";
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->model->steps[k].number + 1 == (int)control.failed)
            variable = c->in->model->steps[k].variable;
    return rt_fail(c->rt, GBM_FAILURE,
                   "the precision matrix of %s is not positive definite, even "
                   "with jitter (chain %u, sweep %u): some of its entries may "
                   "not be finite",
                   variable, control.failed_chain + 1, control.failed_sweep);
}

enum gbm_status cuda_block_begin(struct cuda *c, const struct rt_block *block,
                                 uint32_t first)
{
    const bool keeps = block->thin > 0 && block->sweeps >= block->thin;
    struct gbm_control control = {
        .seed = block->seed,
        .sweep = first,
        .chain0 = 0,
        .adapting = block->adapting,
        .store = stores(c, block),
        .slot = 0,
        .ring = (unsigned)(2 * c->half),
    };

    CU(cuCtxSetCurrent(c->context));
    TRY(cuda_better_take(c));
    TRY(cuda_settle(c, block->adapting));
    if (keeps && c->with_lp != (c->has_lp && block->lp)) {
        cuda_forget_graphs(c);
        c->with_lp = !c->with_lp;
    }
    /* the counts that follow go on */
    return cuda_upload(c, c->control, &control,
                       offsetof(struct gbm_control, moments));
}

enum gbm_status cuda_swapped_sweeps(struct cuda *c, bool kept, int64_t n)
{
    return run_sweeps(c, kept ? CUDA_SWAPPED_KEPT : CUDA_SWAPPED, n);
}

enum gbm_status cuda_block_end(struct cuda *c)
{
    CU(cuStreamSynchronize(c->stream));
    return report(c);
}

enum gbm_status cuda_run(struct rt *rt, const struct rt_block *block)
{
    struct cuda *c = rt->device_data;
    const int64_t keeps = block->thin > 0 ? block->sweeps / block->thin : 0;

    TRY(cuda_block_begin(c, block, block->first));
    if (keeps > 0)
        TRY(run_draws(c, block));
    TRY(run_unkept(c, block->sweeps - keeps * block->thin));
    return cuda_block_end(c);
}
