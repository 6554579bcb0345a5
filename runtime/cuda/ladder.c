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
    const size_t n = (size_t)c->in->model->nvariables + 1;

    d->drawn = calloc(n, sizeof *d->drawn);
    d->variables = calloc(n, sizeof *d->variables);
    if (!d->drawn || !d->variables)
        return false;
    for (int v = 0; v < c->in->model->nvariables; v++) {
        if (is_tuned(c, v))
            tuned[d->ntuned++] = slot_of(c, v, 0);
        if (!is_drawn(c, v))
            continue;
        d->variables[d->ndrawn] = v;
        d->drawn[d->ndrawn++] = slot_of(c, v, d->length);
        d->length += c->in->slots[v].cells;
    }
    return true;
}

static enum gbm_status request(struct cuda *c, const struct rt_ladder *ladder)
{
    struct cuda_ladder *d = &c->ladder;
    const size_t rungs = (size_t)ladder->replicas;
    const size_t chains = (size_t)c->in->nchains;
    const size_t draws = (size_t)(d->room * ladder->ladders);
    const char *what = "a ladder";

    TRY(cuda_request(c, &d->power, rungs * sizeof(double), what));
    TRY(cuda_request(c, &d->given, rungs * sizeof(double), what));
    TRY(cuda_request(c, &d->rejected, rungs * sizeof(double), what));
    TRY(cuda_request(c, &d->rung, chains * sizeof(int), what));
    TRY(cuda_request(c, &d->chain, chains * sizeof(int), what));
    TRY(cuda_request(c, &d->heading, chains * sizeof(int), what));
    TRY(cuda_request(c, &d->stones, RT_STONE_KINDS * chains * sizeof(double),
                     what));
    TRY(cuda_request(c, &d->loglik, chains * sizeof(double), what));
    TRY(cuda_request(c, &d->trips, sizeof(uint64_t), what));
    TRY(cuda_request(c, &d->slots, (size_t)d->ndrawn * sizeof *d->drawn, what));
    TRY(cuda_request(c, &d->tuned, (size_t)d->ntuned * sizeof *d->drawn, what));
    TRY(cuda_request(c, &d->at_records,
                     draws * (size_t)d->length * sizeof(double), what));
    TRY(cuda_request(c, &d->at_told, draws * sizeof(double), what));
    TRY(cuda_request(c, &d->picked, draws * (size_t)c->row * sizeof(double),
                     what));
    return cuda_allocate(c);
}

static enum gbm_status open_slots(struct cuda *c,
                                  const struct rt_ladder *ladder,
                                  struct ladder_slot *tuned)
{
    struct cuda_ladder *d = &c->ladder;

    if (!list_slots(c, tuned))
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    const int64_t bytes =
        (d->length + c->row + 1) * ladder->ladders * (int64_t)sizeof(double);
    d->room = RECORD_BYTES / bytes;
    d->room = d->room < 1 ? 1 : d->room > MOST_SWEEPS ? MOST_SWEEPS : d->room;
    const size_t draws = (size_t)(d->room * ladder->ladders);
    d->records = calloc(draws * (size_t)d->length + 1, sizeof *d->records);
    d->told = calloc(draws + 1, sizeof *d->told);
    d->kept = calloc(draws * (size_t)c->row + 1, sizeof *d->kept);
    if (!d->records || !d->told || !d->kept)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    TRY(request(c, ladder));
    TRY(cuda_upload(c, d->slots, d->drawn,
                    (size_t)d->ndrawn * sizeof *d->drawn));
    TRY(cuda_upload(c, d->tuned, tuned, (size_t)d->ntuned * sizeof *tuned));
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

static enum gbm_status put_ladder(struct cuda *c, struct rt_ladder *ladder)
{
    const struct cuda_ladder *d = &c->ladder;
    const size_t rungs = (size_t)ladder->replicas;
    const size_t chains = (size_t)c->in->nchains;
    int n = c->in->nchains;
    void *args[] = {(void *)&d->given, (void *)&d->rung, &n,
                    &c->slots[power_variable(c)].values};

    if (ladder->away)
        return GBM_OK;
    TRY(cuda_upload(c, d->power, ladder->power, rungs * sizeof(double)));
    TRY(cuda_upload(c, d->given, ladder->given, rungs * sizeof(double)));
    TRY(cuda_upload(c, d->rejected, ladder->rejected, rungs * sizeof(double)));
    TRY(cuda_upload(c, d->rung, ladder->rung, chains * sizeof(int)));
    TRY(cuda_upload(c, d->chain, ladder->chain, chains * sizeof(int)));
    TRY(cuda_upload(c, d->heading, ladder->heading, chains * sizeof(int)));
    TRY(cuda_upload(c, d->trips, &ladder->trips, sizeof ladder->trips));
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
    const struct cuda_ladder *d = &c->ladder;
    const size_t rungs = (size_t)ladder->replicas;
    const size_t chains = (size_t)c->in->nchains;

    if (!ladder->away)
        return GBM_OK;
    CU(cuCtxSetCurrent(c->context));
    TRY(fetch(c, ladder->rejected, d->rejected, rungs * sizeof(double)));
    TRY(fetch(c, ladder->rung, d->rung, chains * sizeof(int)));
    TRY(fetch(c, ladder->chain, d->chain, chains * sizeof(int)));
    TRY(fetch(c, ladder->heading, d->heading, chains * sizeof(int)));
    TRY(fetch(c, &ladder->trips, d->trips, sizeof ladder->trips));
    CU(cuStreamSynchronize(c->stream));
    ladder->away = false;
    return GBM_OK;
}

/* ---- draws from the prior ---- */

static void pack(const struct cuda *c, int chain, double *record)
{
    for (int k = 0; k < c->ladder.ndrawn; k++) {
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

/* Those of n sweeps, by several threads: each has a chain of the host. */
static enum gbm_status draw_priors(struct cuda *c,
                                   const struct rt_ladder *ladder,
                                   uint32_t first, int n)
{
    struct cuda_ladder *d = &c->ladder;
    const int64_t draws = (int64_t)n * ladder->ladders;
    const int most =
        c->rt->threads < c->in->nchains ? c->rt->threads : c->in->nchains;

#pragma omp parallel for num_threads(most) schedule(static) if (draws > 64)
    for (int64_t i = 0; i < draws; i++) {
        const int l = (int)(i % ladder->ladders), chain = omp_get_thread_num();
        const uint32_t sweep = first + (uint32_t)(i / ladder->ladders);
        d->told[i] = ladder->draw(ladder->context, chain, l, sweep);
        pack(c, chain, d->records + i * d->length);
    }
    TRY(cuda_upload(c, d->at_records, d->records,
                    (size_t)(draws * d->length) * sizeof(double)));
    return cuda_upload(c, d->at_told, d->told, (size_t)draws * sizeof(double));
}

/* ---- a sweep ---- */

static enum gbm_status find_logliks(struct cuda *c)
{
    const struct gbm_model *model = c->in->model;
    int chains = c->in->nchains, first = 1, last = 0, left = 0;

    for (int f = 0; f < model->nfamilies; f++)
        left += model->families[f].raised && c->in->elements[f] > 0;
    for (int f = 0; f < model->nfamilies; f++) {
        if (!model->families[f].raised || c->in->elements[f] == 0)
            continue;
        last = --left == 0;
        void *args[] = {&c->lp,  &c->slots[power_variable(c)].values,
                        &chains, &first,
                        &last,   &c->ladder.loglik};
        TRY(cuda_sum_density(c, f, 1));
        TRY(cuda_launch_flat(c, &c->fixed.ladder_logliks, chains, args));
        first = 0;
    }
    return GBM_OK;
}

/* The i-th of the sweeps that records are at hand for. */
static enum gbm_status set_prior(struct cuda *c, struct rt_ladder *ladder,
                                 int i)
{
    struct cuda_ladder *d = &c->ladder;
    const CUdeviceptr at =
        (CUdeviceptr)i * (CUdeviceptr)ladder->ladders * sizeof(double);
    CUdeviceptr records = d->at_records + at * (CUdeviceptr)d->length;
    CUdeviceptr told = d->at_told + at;
    long long length = d->length;
    void *args[] = {&d->slots, &d->ndrawn, &records,          &length,
                    &told,     &d->chain,  &ladder->replicas, &d->loglik};

    return cuda_launch_grid(c, &c->fixed.ladder_prior, ladder->ladders, 1, 128,
                            0, args);
}

static enum gbm_status swap(struct cuda *c, struct rt_ladder *ladder,
                            unsigned long long seed, unsigned sweep)
{
    struct cuda_ladder *d = &c->ladder;
    CUdeviceptr none = 0;
    int ladders = ladder->ladders, replicas = ladder->replicas;
    void *count_args[] = {&d->power,
                          &d->chain,
                          &d->loglik,
                          &ladders,
                          &replicas,
                          &d->rejected,
                          ladder->stones ? &d->stones : &none};
    void *args[] = {&seed,     &sweep,     &d->power,
                    &d->given, &d->loglik, &ladders,
                    &replicas, &d->tuned,  &d->ntuned,
                    &d->chain, &d->rung,   &c->slots[power_variable(c)].values};
    void *trip_args[] = {&d->chain, &ladders, &replicas, &d->heading,
                         &d->trips};
    const int64_t lanes = (int64_t)ladders * (replicas / 2) * 32;

    TRY(cuda_launch_flat(c, &c->fixed.ladder_count, replicas, count_args));
    TRY(cuda_launch_flat(c, &c->fixed.ladder_swap, lanes, args));
    return ladder->stones
               ? cuda_launch_flat(c, &c->fixed.ladder_trips, ladders, trip_args)
               : GBM_OK;
}

/* The cold chains' draws, which the sweep has put into the ring, to place k. */
static enum gbm_status pick(struct cuda *c, struct rt_ladder *ladder, int k)
{
    struct cuda_ladder *d = &c->ladder;
    const int64_t cells = ladder->ladders * c->row;
    CUdeviceptr to = d->picked + (CUdeviceptr)(k * cells) * sizeof(double);
    int chains = c->in->nchains;
    long long row = c->row;
    void *args[] = {&c->control, &c->draws,        &chains,           &row,
                    &d->chain,   &ladder->ladders, &ladder->replicas, &to};

    return cells == 0 ? GBM_OK
                      : cuda_launch_flat(c, &c->fixed.ladder_pick, cells, args);
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
    TRY(fetch(c, d->kept, d->picked,
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
                               struct rt_ladder *ladder, int from, int to)
{
    int nkept = 0;

    TRY(draw_priors(c, ladder, b->first + (uint32_t)from, to - from));
    for (int s = from; s < to; s++) {
        const bool kept = b->thin > 0 && (s + 1) % b->thin == 0;
        TRY(cuda_block_sweep(c, kept));
        if (kept)
            TRY(pick(c, ladder, nkept++));
        TRY(find_logliks(c));
        TRY(set_prior(c, ladder, s - from));
        TRY(swap(c, ladder, b->seed, b->first + (uint32_t)s));
    }
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
    TRY(put_ladder(c, ladder));
    if (ladder->stones)
        TRY(cuda_upload(c, d->stones, ladder->stones, stones));
    while (from < to) {
        const int until = to - from < d->room ? to : from + (int)d->room;
        TRY(advance(c, block, ladder, from, until));
        from = until;
    }
    if (ladder->stones)
        TRY(fetch(c, ladder->stones, d->stones, stones));
    return cuda_block_end(c);
}
