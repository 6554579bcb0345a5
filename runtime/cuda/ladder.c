/* ladder.c: tempering on the device: sweeps one after the other, with the log
 * likelihoods, the draws from the prior and the swaps of powers between them
 * (ladder.h), without a word of the host. What of it the host knows beforehand,
 * the draws from the prior, goes there for many sweeps at a time. */
#include "cuda.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Most sweeps between two looks at the host, and bytes of what is at hand for
 * them. */
enum { MOST_SWEEPS = 256 };
#define RECORD_BYTES ((int64_t)16 << 20)

static int power_variable(const struct cuda *c)
{
    for (int v = 0; v < c->in->model->nvariables; v++)
        if (c->in->model->variables[v].role == GBM_POWER)
            return v;
    return -1;
}

bool cuda_ladder_has(const struct cuda *c) { return power_variable(c) >= 0; }

/* ---- memory ---- */

/* Whether a draw from the prior sets a variable's cells, of a chain. */
static bool is_drawn(const struct cuda *c, int v)
{
    const enum gbm_role role = c->in->model->variables[v].role;
    return c->in->slots[v].per_chain && c->in->slots[v].cells > 0 &&
           (role == GBM_STOCHASTIC || role == GBM_DERIVED ||
            role == GBM_INVERSE);
}

static bool is_tuned(const struct cuda *c, int v)
{
    return c->in->model->variables[v].role == GBM_TUNING &&
           c->in->slots[v].cells > 0;
}

static struct ladder_slot slot_of(const struct cuda *c, int v, int64_t offset)
{
    return (struct ladder_slot){.values = c->slots[v].values,
                                .cells = c->in->slots[v].cells,
                                .offset = offset,
                                .integer = c->in->model->variables[v].integer};
}

/* Lists the variables of records, and those that are tuned. False: no memory.
 */
static bool list_slots(struct cuda *c, struct ladder_slot *tuned)
{
    struct cuda_ladder *d = &c->ladder;
    struct ladder_plan *p = &d->plan;
    const size_t n = (size_t)c->in->model->nvariables + 1;

    d->drawn = calloc(n, sizeof *d->drawn);
    d->variables = calloc(n, sizeof *d->variables);
    if (!d->drawn || !d->variables)
        return false;
    for (int v = 0; v < c->in->model->nvariables; v++) {
        if (is_tuned(c, v))
            tuned[p->ntuned++] = slot_of(c, v, 0);
        if (!is_drawn(c, v))
            continue;
        d->variables[p->ndrawn] = v;
        d->drawn[p->ndrawn++] = slot_of(c, v, p->length);
        p->length += c->in->slots[v].cells;
    }
    return true;
}

/* Whether a family's densities have powers. */
static bool is_raised(const struct cuda *c, int family)
{
    return c->in->model->families[family].raised && c->in->elements[family] > 0;
}

static int count_raised(const struct cuda *c)
{
    int n = 0;
    for (int f = 0; f < c->in->model->nfamilies; f++)
        n += is_raised(c, f);
    return n;
}

int cuda_ladder_known(const struct cuda *c)
{
    for (int f = 0; f < c->in->model->nfamilies; f++)
        if (is_raised(c, f))
            return c->chains.lanes && c->known[f].name[0] &&
                           count_raised(c) == 1
                       ? f
                       : -1;
    return -1;
}

static enum gbm_status request(struct cuda *c, int64_t draws)
{
    struct ladder_plan *p = &c->ladder.plan;
    const size_t rungs = (size_t)p->replicas, n = (size_t)draws;
    const size_t chains = (size_t)c->in->nchains;
    const char *what = "a ladder";

    TRY(cuda_request(c, &p->batch, sizeof(struct ladder_batch), what));
    TRY(cuda_request(c, &p->power, rungs * sizeof(double), what));
    TRY(cuda_request(c, &p->given, rungs * sizeof(double), what));
    TRY(cuda_request(c, &p->rejected, rungs * sizeof(double), what));
    TRY(cuda_request(c, &p->rung, chains * sizeof(int), what));
    TRY(cuda_request(c, &p->chain, 2 * chains * sizeof(int), what));
    TRY(cuda_request(c, &p->heading, chains * sizeof(int), what));
    TRY(cuda_request(c, &p->stones, RT_STONE_KINDS * chains * sizeof(double),
                     what));
    if (count_raised(c) > 1)
        TRY(cuda_request(c, &p->logliks, chains * sizeof(double), what));
    TRY(cuda_request(c, &p->trips, sizeof(uint64_t), what));
    TRY(cuda_request(c, &p->drawn,
                     (size_t)p->ndrawn * sizeof(struct ladder_slot), what));
    TRY(cuda_request(c, &p->tuned,
                     (size_t)p->ntuned * sizeof(struct ladder_slot), what));
    TRY(cuda_request(c, &p->records, n * (size_t)p->length * sizeof(double),
                     what));
    TRY(cuda_request(c, &p->told, n * sizeof(double), what));
    TRY(cuda_request(c, &p->picked, n * (size_t)p->row * sizeof(double), what));
    return cuda_allocate(c);
}

static enum gbm_status open_slots(struct cuda *c,
                                  const struct rt_ladder *ladder,
                                  struct ladder_slot *tuned)
{
    struct cuda_ladder *d = &c->ladder;
    struct ladder_plan *p = &d->plan;

    *p = (struct ladder_plan){.own = c->slots[power_variable(c)].values,
                              .lp = c->lp,
                              .draws = c->draws,
                              .row = c->row,
                              .ladders = ladder->ladders,
                              .replicas = ladder->replicas};
    if (!list_slots(c, tuned))
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    const int64_t bytes =
        (p->length + p->row + 1) * p->ladders * (int64_t)sizeof(double);
    d->room = RECORD_BYTES / bytes;
    d->room = d->room < 1 ? 1 : d->room > MOST_SWEEPS ? MOST_SWEEPS : d->room;
    const size_t draws = (size_t)(d->room * p->ladders);
    d->records = calloc(draws * (size_t)p->length + 1, sizeof *d->records);
    d->told = calloc(draws + 1, sizeof *d->told);
    d->kept = calloc(draws * (size_t)p->row + 1, sizeof *d->kept);
    if (!d->records || !d->told || !d->kept)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    TRY(request(c, (int64_t)draws));
    TRY(cuda_upload(c, p->drawn, d->drawn,
                    (size_t)p->ndrawn * sizeof *d->drawn));
    TRY(cuda_upload(c, p->tuned, tuned, (size_t)p->ntuned * sizeof *tuned));
    d->open = true;
    return GBM_OK;
}

static enum gbm_status open_ladder(struct cuda *c,
                                   const struct rt_ladder *ladder)
{
    const size_t n = (size_t)c->in->model->nvariables + 1;

    if (c->ladder.open)
        return GBM_OK;
    struct ladder_slot *tuned = calloc(n, sizeof *tuned);
    enum gbm_status status = tuned
                                 ? open_slots(c, ladder, tuned)
                                 : rt_fail(c->rt, GBM_FAILURE, "out of memory");
    free(tuned);
    return status;
}

void cuda_ladder_free(struct cuda *c)
{
    free(c->ladder.drawn);
    free(c->ladder.variables);
    free(c->ladder.records);
    free(c->ladder.told);
    free(c->ladder.kept);
    c->ladder = (struct cuda_ladder){0};
}

/* ---- there and back ---- */

/* Where chains are before sweeps of this number's parity. */
static CUdeviceptr chains_before(const struct cuda *c, uint32_t sweep)
{
    return c->ladder.plan.chain +
           (sweep & 1) * (CUdeviceptr)c->in->nchains * sizeof(int);
}

static enum gbm_status put_ladder(struct cuda *c, struct rt_ladder *ladder)
{
    const struct ladder_plan *p = &c->ladder.plan;
    const size_t rungs = (size_t)ladder->replicas;
    const size_t chains = (size_t)c->in->nchains;
    int n = c->in->nchains;
    void *args[] = {(void *)&p->given, (void *)&p->rung, &n, (void *)&p->own};

    if (ladder->away)
        return GBM_OK;
    TRY(cuda_upload(c, p->power, ladder->power, rungs * sizeof(double)));
    TRY(cuda_upload(c, p->given, ladder->given, rungs * sizeof(double)));
    TRY(cuda_upload(c, p->rejected, ladder->rejected, rungs * sizeof(double)));
    TRY(cuda_upload(c, p->rung, ladder->rung, chains * sizeof(int)));
    TRY(cuda_upload(c, chains_before(c, c->ladder.next), ladder->chain,
                    chains * sizeof(int)));
    TRY(cuda_upload(c, p->heading, ladder->heading, chains * sizeof(int)));
    TRY(cuda_upload(c, p->trips, &ladder->trips, sizeof ladder->trips));
    ladder->away = true;
    return cuda_launch_flat(c, &c->fixed.ladder_powers, n, args);
}

static enum gbm_status fetch(struct cuda *c, void *to, CUdeviceptr from,
                             size_t bytes)
{
    if (bytes > 0)
        CU(cuMemcpyDtoHAsync(to, from, bytes, c->stream));
    return GBM_OK;
}

enum gbm_status cuda_get_ladder(struct rt *rt, struct rt_ladder *ladder)
{
    struct cuda *c = rt->device_data;
    const struct ladder_plan *p = &c->ladder.plan;
    const size_t rungs = (size_t)ladder->replicas;
    const size_t chains = (size_t)c->in->nchains;

    if (!ladder->away)
        return GBM_OK;
    CU(cuCtxSetCurrent(c->context));
    TRY(fetch(c, ladder->rejected, p->rejected, rungs * sizeof(double)));
    TRY(fetch(c, ladder->rung, p->rung, chains * sizeof(int)));
    TRY(fetch(c, ladder->chain, chains_before(c, c->ladder.next),
              chains * sizeof(int)));
    TRY(fetch(c, ladder->heading, p->heading, chains * sizeof(int)));
    TRY(fetch(c, &ladder->trips, p->trips, sizeof ladder->trips));
    CU(cuStreamSynchronize(c->stream));
    ladder->away = false;
    return GBM_OK;
}

/* ---- draws from the prior ---- */

static void pack(const struct cuda *c, int chain, double *record)
{
    for (int k = 0; k < c->ladder.plan.ndrawn; k++) {
        const struct ladder_slot *slot = &c->ladder.drawn[k];
        const void *values = c->in->slots[c->ladder.variables[k]].values;
        for (int64_t i = 0; i < slot->cells; i++) {
            const int64_t at = chain * slot->cells + i;
            record[slot->offset + i] = slot->integer
                                           ? ((const int *)values)[at]
                                           : ((const double *)values)[at];
        }
    }
}

/* Those of n sweeps, by several threads: each has a chain of the host. Some of
 * them may be there. */
static void draw_priors(struct cuda *c, const struct rt_ladder *ladder,
                        uint32_t first, int n)
{
    struct cuda_ladder *d = &c->ladder;
    const int have = d->first == first ? d->ready : 0;
    const int64_t from = (int64_t)have * ladder->ladders;
    const int64_t draws = (int64_t)n * ladder->ladders;
    const int most =
        c->rt->threads < c->in->nchains ? c->rt->threads : c->in->nchains;

#pragma omp parallel for num_threads(most)                                     \
    schedule(static) if (draws - from > 64)
    for (int64_t i = from; i < draws; i++) {
        const int l = (int)(i % ladder->ladders), chain = omp_get_thread_num();
        const uint32_t sweep = first + (uint32_t)(i / ladder->ladders);
        d->told[i] = ladder->draw(ladder->context, chain, l, sweep);
        pack(c, chain, d->records + i * d->plan.length);
    }
    d->first = first;
    d->ready = have > n ? have : n;
}

static enum gbm_status put_priors(struct cuda *c, int n)
{
    const struct cuda_ladder *d = &c->ladder;
    const struct ladder_plan *p = &d->plan;
    const size_t draws = (size_t)n * (size_t)p->ladders;

    TRY(cuda_upload(c, p->records, d->records,
                    draws * (size_t)p->length * sizeof(double)));
    return cuda_upload(c, p->told, d->told, draws * sizeof(double));
}

/* ---- a sweep ---- */

/* Log densities of what has powers: of the last family in c->lp, the sum of
 * those before it, at power 1. */
static enum gbm_status find_logliks(struct cuda *c)
{
    struct ladder_plan *p = &c->ladder.plan;
    int chains = c->in->nchains, first = 1, left = count_raised(c);

    for (int f = 0; left > 0; f++) {
        if (!is_raised(c, f))
            continue;
        TRY(cuda_sum_density(c, f, 1));
        if (--left == 0)
            return GBM_OK;
        void *args[] = {&p->lp, &p->own, &chains, &first, &p->logliks};
        TRY(cuda_launch_flat(c, &c->fixed.ladder_logliks, chains, args));
        first = 0;
    }
    return GBM_OK;
}

/* Blocks for so many threads. */
static int blocks_for(const struct cuda *c, int64_t threads)
{
    const int64_t block = c->fixed.ladder_swap.block;
    const int64_t most = (int64_t)c->multiprocessors * 16;
    const int64_t blocks = (threads + block - 1) / block;
    return (int)(blocks < most ? blocks : most);
}

enum gbm_status cuda_ladder_swap(struct cuda *c, bool kept)
{
    struct ladder_plan *p = &c->ladder.plan;
    const int64_t pairs = (int64_t)p->ladders * (p->replicas / 2 + 1);
    int keeps = kept, open = c->chains.lanes > 0,
        counters = blocks_for(c, (int64_t)p->replicas * 4);
    int swappers = blocks_for(c, pairs * LADDER_LANES);
    const int others =
        p->ladders < c->multiprocessors ? p->ladders : c->multiprocessors;
    void *args[] = {p, &c->control, &keeps, &open, &counters, &swappers};

    if (cuda_ladder_known(c) < 0)
        TRY(find_logliks(c));
    return cuda_launch_grid(c, &c->fixed.ladder_swap,
                            counters + swappers + others, 1,
                            c->fixed.ladder_swap.block, 0, args);
}

/* Takes n draws, as those of a block from number `first` on. */
static enum gbm_status collect(struct cuda *c, const struct rt_block *b,
                               const struct rt_ladder *ladder, int64_t first,
                               int n)
{
    const struct cuda_ladder *d = &c->ladder;
    const int64_t cells = c->in->row, row = c->row;

    if (row == 0 || n == 0 || (!b->draws && !b->lp))
        return GBM_OK;
    TRY(fetch(c, d->kept, d->plan.picked,
              (size_t)(n * ladder->ladders * row) * sizeof(double)));
    CU(cuStreamSynchronize(c->stream));
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < ladder->ladders; l++) {
            const double *from = d->kept + (k * ladder->ladders + l) * row;
            if (b->draws)
                memcpy(b->draws + l * b->chain_stride +
                           (first + k) * b->draw_stride,
                       from, (size_t)cells * sizeof *from);
            if (b->lp)
                b->lp[l * b->lp_stride + first + k] =
                    c->with_lp ? from[cells] : (double)NAN;
        }
    return GBM_OK;
}

/* Sweeps `from` to `to` - 1, for which there is room. */
static enum gbm_status advance(struct cuda *c, const struct rt_block *b,
                               const struct rt_ladder *ladder, int from, int to)
{
    const struct ladder_batch batch = {.block = b->first,
                                       .from = (unsigned)from,
                                       .thin = b->thin,
                                       .kinds =
                                           ladder->stones ? ladder->kinds : 0};
    const struct cuda_ladder *d = &c->ladder;
    int nkept = 0;

    TRY(cuda_upload(c, d->plan.batch, &batch, sizeof batch));
    draw_priors(c, ladder, b->first + (uint32_t)from, to - from);
    TRY(put_priors(c, to - from));
    for (int s = from; s < to;) {
        const int plain = b->thin > 0 ? b->thin - 1 - s % b->thin : to - s;
        const int n = plain < to - s ? plain : to - s;
        TRY(cuda_swapped_sweeps(c, false, n));
        s += n;
        const int kept = s == to ? 0 : b->thin == 1 ? to - s : 1;
        TRY(cuda_swapped_sweeps(c, true, kept));
        s += kept;
        nkept += kept;
    }
    /* while the device is at work, what will be wanted next */
    const int left = b->sweeps - to;
    draw_priors(c, ladder, b->first + (uint32_t)to,
                left < to - from ? left : to - from);
    return b->thin > 0 ? collect(c, b, ladder, from / b->thin, nkept) : GBM_OK;
}

enum gbm_status cuda_temper(struct rt *rt, const struct rt_block *block,
                            struct rt_ladder *ladder, int from, int to)
{
    struct cuda *c = rt->device_data;
    struct cuda_ladder *d = &c->ladder;
    const size_t stones =
        (size_t)ladder->kinds * (size_t)c->in->nchains * sizeof(double);

    TRY(cuda_block_begin(c, block, block->first + (uint32_t)from));
    TRY(open_ladder(c, ladder));
    d->next = block->first + (uint32_t)from;
    TRY(put_ladder(c, ladder));
    if (ladder->stones)
        TRY(cuda_upload(c, d->plan.stones, ladder->stones, stones));
    while (from < to) {
        const int until = to - from < d->room ? to : from + (int)d->room;
        TRY(advance(c, block, ladder, from, until));
        from = until;
    }
    d->next = block->first + (uint32_t)to;
    if (ladder->stones)
        TRY(fetch(c, ladder->stones, d->plan.stones, stones));
    return cuda_block_end(c);
}
