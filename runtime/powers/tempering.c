/* tempering.c: parallel tempering. A ladder has replicas, chains of their own,
 * each with a power on the densities of the data: from 0, the prior, to 1, the
 * posterior. Neighbours swap powers by turns, even pairs and then odd ones,
 * which carries states from the prior to the posterior and back in a time that
 * grows with the number of replicas, not with its square. The powers are set
 * in warm-up, in rounds of doubling length, so that all neighbours are rejected
 * alike.
 *
 * Syed, Bouchard-Cote, Deligiannidis and Doucet (2022), Non-reversible parallel
 * tempering: a scalable highly parallel MCMC scheme, JRSS B 84: the scheme, the
 * communication barrier (the sum of the rejection rates), algorithm 4. */
#include "powers/tempering.h"
#include "base/base.h"
#include "gbm.h"
#include "swap.h"
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first stream of draws from the prior that no other command uses. */
#define PRIOR_STREAM 100000u
enum { SHORTEST_ROUND = 8 };
enum { MOST_SHOWN = 64 }; /* rungs that are told one by one */

struct tempering {
    struct rt_ladder on;
    double *loglik;   /* [chains] */
    double *row, *lp; /* [chains] what the device keeps of a sweep */
    char *states;
    bool independent;  /* the prior is drawn from, not moved in */
    int64_t round_end; /* sweep of warm-up after which powers are set next */
    bool sampling;
    int64_t
        compared; /* of as many swaps of each pair, `on.rejected` is a sum */
    int64_t sweeps;
    double logliks_s; /* CPU seconds that all took, the last time */
    struct rt_stones stones;
};

/* ---- rungs ---- */

static double *power_of_chain(const struct rt_chains *r, int chain)
{
    return rt_powers(&r->in) + chain;
}

/* The chains' powers; where the prior is drawn from, what its chain does
 * meanwhile is of no account. */
static void set_powers(struct rt_chains *r, struct tempering *t)
{
    for (int k = 0; k < t->on.replicas; k++) {
        const bool drawn = k == 0 && t->independent;
        t->on.given[k] = fmax(t->on.power[drawn ? 1 : k], RT_LEAST_POWER);
    }
    for (int c = 0; c < r->in.nchains; c++)
        *power_of_chain(r, c) = t->on.given[t->on.rung[c]];
}

static void swap_cells(struct rt_slot *slot, int a, int b)
{
    double *values = slot->values;
    for (int64_t i = 0; i < slot->cells; i++) {
        double kept = values[a * slot->cells + i];
        values[a * slot->cells + i] = values[b * slot->cells + i];
        values[b * slot->cells + i] = kept;
    }
}

/* Chains a and b change rungs; what was tuned belongs to a rung. */
static void swap_rungs(struct rt_chains *r, struct tempering *t, int ladder,
                       int lower)
{
    int *at = t->on.chain + ladder * t->on.replicas + lower, a = at[0],
        b = at[1];
    at[0] = b;
    at[1] = a;
    t->on.rung[b] = lower;
    t->on.rung[a] = lower + 1;
    for (int v = 0; v < r->in.model->nvariables; v++)
        if (r->in.model->variables[v].role == GBM_TUNING)
            swap_cells(&r->in.slots[v], a, b);
}

/* The probability that the replicas at a rung and the next one swap. */
static double acceptance(const struct tempering *t, int ladder, int lower)
{
    const int *at = t->on.chain + ladder * t->on.replicas + lower;
    return gbm_swap_probability(t->on.power[lower + 1] - t->on.power[lower],
                                t->loglik[at[0]], t->loglik[at[1]]);
}

/* Even pairs after even sweeps, odd ones after odd ones. */
static void swap(struct rt_chains *r, struct tempering *t, uint32_t sweep)
{
    for (int l = 0; l < t->on.ladders; l++)
        for (int i = 0; i + 1 < t->on.replicas; i++)
            t->on.rejected[i] += 1 - acceptance(t, l, i);
    for (int l = 0; l < t->on.ladders; l++)
        for (int i = (int)(sweep & 1); i + 1 < t->on.replicas; i += 2)
            if (gbm_swap_decides(r->rt->options.seed, (uint32_t)l, sweep,
                                 (uint32_t)i, acceptance(t, l, i)))
                swap_rungs(r, t, l, i);
}

/* Round trips: to the posterior and back to the prior. */
static void count_trips(struct tempering *t)
{
    for (int c = 0; c < t->on.ladders * t->on.replicas; c++) {
        if (t->on.rung[c] == 0) {
            t->on.trips += t->on.heading[c] == -1;
            t->on.heading[c] = 1;
        } else if (t->on.rung[c] == t->on.replicas - 1 &&
                   t->on.heading[c] == 1) {
            t->on.heading[c] = -1;
        }
    }
}

/* ---- the powers of a ladder ---- */

static void forget(struct tempering *t)
{
    memset(t->on.rejected, 0, (size_t)t->on.replicas * sizeof *t->on.rejected);
    t->compared = 0;
}

/* The lengths of rounds double; the last one ends with warm-up. */
static int64_t next_round(int64_t done, int64_t warmup)
{
    int64_t length = warmup;
    while (length / 2 >= SHORTEST_ROUND && warmup - length / 2 > done)
        length /= 2;
    int64_t end = warmup - length / 2;
    return length / 2 < SHORTEST_ROUND || end <= done ? warmup : end;
}

/* After sweep number `sweep`, swapped: powers are set where a round ends. */
static enum gbm_status end_round(struct rt_chains *r, struct tempering *t,
                                 uint32_t sweep)
{
    int64_t warmup = r->rt->options.warmup;
    if (t->sampling || (int64_t)sweep + 1 < t->round_end)
        return GBM_OK;
    for (int i = 0; i + 1 < t->on.replicas; i++)
        t->on.rejected[i] /= (double)t->compared;
    if (!rt_tempering_spread(t->on.replicas, t->on.rejected, t->on.power))
        return rt_fail(r->rt, GBM_FAILURE, "no memory for %d replicas",
                       t->on.replicas);
    forget(t);
    t->round_end = next_round(t->round_end, warmup);
    return GBM_OK;
}

/* ---- a sweep ---- */

/* A chain's state in host memory, drawn from the prior for a ladder. */
static void draw_state(struct rt_chains *r, struct tempering *t, int chain,
                       int ladder, uint32_t sweep)
{
    void *state = rt_state(&r->in, t->states, chain);
    rt_draw_latent(r->rt, &r->in, state, chain, (uint32_t)ladder,
                   PRIOR_STREAM + sweep);
    rt_refresh(&r->in, state, chain);
}

static double loglik_of(struct rt_chains *r, const struct tempering *t, int c)
{
    const double x =
        rt_loglikelihood(&r->in, rt_state(&r->in, t->states, c), c);
    return x == x ? x : -(double)INFINITY;
}

static void draw_prior(struct rt_chains *r, struct tempering *t, uint32_t sweep)
{
    for (int l = 0; t->independent && l < t->on.ladders; l++)
        draw_state(r, t, t->on.chain[l * t->on.replicas], l, sweep);
}

/* By several threads if it took long enough the last time; sweeps leave much of
 * it known. */
static enum gbm_status find_logliks(struct rt_chains *r, struct tempering *t)
{
    const int n = r->in.nchains;
    const int threads = t->logliks_s < RT_WORTH_WAKING ? 1 : r->rt->threads;
    double spent = 0;
    if (rt_device_logliks(r->rt, &r->in, t->loglik) != GBM_OK)
        return r->rt->status;
    for (int l = 0; t->independent && l < t->on.ladders; l++)
        t->loglik[t->on.chain[l * t->on.replicas]] =
            (double)NAN; /* drawn here */
    (void)threads;       /* where there is no OpenMP */
#pragma omp parallel num_threads(threads) reduction(+ : spent) if (threads > 1)
    {
        const double began = rt_thread_clock();
#pragma omp for schedule(dynamic) nowait
        for (int c = 0; c < n; c++) {
            if (isnan(t->loglik[c]))
                t->loglik[c] = loglik_of(r, t, c);
        }
        spent += rt_thread_clock() - began;
    }
    t->logliks_s = spent;
    return GBM_OK;
}

/* The chain at a ladder's last rung. */
static int posterior(const struct rt_chains *r, int ladder)
{
    const struct tempering *t = r->own;
    return t->on.chain[(ladder + 1) * t->on.replicas - 1];
}

/* The posterior's chains' draws go where those of plain chains would. */
static void keep(struct rt_chains *r, const struct tempering *t,
                 const struct rt_block *b, int64_t k)
{
    size_t bytes = (size_t)r->in.row * sizeof(double);
    for (int l = 0; l < t->on.ladders; l++) {
        const int c = posterior(r, l);
        if (r->relabelling)
            rt_relabelling_keep(r, c, t->row + c * r->in.row,
                                r->draws.kept + (int)k);
        if (b->draws)
            memcpy(b->draws + l * b->chain_stride + k * r->draws.width,
                   t->row + c * r->in.row, bytes);
        if (b->lp)
            b->lp[l * b->lp_stride + k] = t->lp[c];
    }
}

static enum gbm_status sweep_once(struct rt_chains *r, struct tempering *t,
                                  const struct rt_block *b, int s)
{
    struct rt *rt = r->rt;
    bool kept = b->thin > 0 && (s + 1) % b->thin == 0;
    struct rt_block one = *b;
    one.first = b->first + (uint32_t)s;
    one.sweeps = 1;
    one.thin = kept;
    one.draws = kept && b->draws ? t->row : NULL;
    one.chain_stride = r->in.row;
    one.lp = kept && b->lp ? t->lp : NULL;
    one.lp_stride = 1;
    if (rt->device->run(rt, &one) != GBM_OK || rt->device->get(rt) != GBM_OK)
        return rt->status;
    if (kept)
        keep(r, t, b, (s + 1) / b->thin - 1);
    draw_prior(r, t, one.first);
    if (find_logliks(r, t) != GBM_OK)
        return rt->status;
    if (t->sampling)
        rt_stones_add(&t->stones, t->on.power, t->on.chain, t->loglik);
    swap(r, t, one.first);
    if (t->sampling)
        count_trips(t);
    t->sweeps += t->sampling;
    t->compared += t->on.ladders;
    if (end_round(r, t, one.first) != GBM_OK)
        return rt->status;
    set_powers(r, t);
    return rt->device->put(rt);
}

/* ---- sweeps that the device swaps after by itself ---- */

/* GBM_TEMPERING=host, for tests: none. */
static bool device_swaps(struct rt_chains *r, struct tempering *t)
{
    const char *wanted = getenv("GBM_TEMPERING");
    const bool host = wanted && strcmp(wanted, "host") == 0;
    if (!r->rt->device->temper || !t->independent || host || r->relabelling ||
        rt_device_logliks(r->rt, &r->in, t->loglik) != GBM_OK)
        return false;
    bool all = true;
    for (int c = 0; c < r->in.nchains; c++)
        all = all && !isnan(t->loglik[c]);
    return all;
}

static double draw_for_device(void *context, int chain, int ladder,
                              uint32_t sweep)
{
    struct rt_chains *r = context;
    draw_state(r, r->own, chain, ladder, sweep);
    return loglik_of(r, r->own, chain);
}

/* The sweep of a block before which the host has to look: where a round ends,
 * or a batch of stones, or the block. */
static int next_look(const struct tempering *t, const struct rt_block *b,
                     int from)
{
    int64_t left = b->sweeps - from;
    const int64_t round = t->round_end - b->first - from;
    const int64_t batch = t->sampling ? rt_stones_room(&t->stones) : left;
    left = !t->sampling && round < left ? round : left;
    return from + (int)(batch < left ? batch : left);
}

static enum gbm_status sweep_away(struct rt_chains *r, struct tempering *t,
                                  const struct rt_block *b, int from, int to)
{
    struct rt *rt = r->rt;
    t->on.stones = t->sampling ? rt_stones_begin(&t->stones, to - from) : NULL;
    t->on.kinds = t->stones.kinds;
    if (rt->device->temper(rt, b, &t->on, from, to) != GBM_OK)
        return rt->status;
    t->sweeps += t->sampling ? to - from : 0;
    t->compared += (int64_t)t->on.ladders * (to - from);
    const uint32_t last = b->first + (uint32_t)to - 1;
    if (t->sampling || (int64_t)last + 1 < t->round_end)
        return GBM_OK;
    if (rt->device->ladder(rt, &t->on) == GBM_OK &&
        end_round(r, t, last) == GBM_OK)
        set_powers(r, t);
    return rt->status;
}

/* A block; the host's states and powers are those of its end. */
static enum gbm_status advance_away(struct rt_chains *r, struct tempering *t,
                                    const struct rt_block *block)
{
    struct rt *rt = r->rt;
    struct rt_block b = *block;
    b.draw_stride = r->draws.width;
    set_powers(r, t); /* a checkpoint may have brought others */
    t->on.draw = draw_for_device;
    t->on.context = r;
    for (int s = 0, next; s < b.sweeps && rt->status == GBM_OK; s = next) {
        next = next_look(t, &b, s);
        if (sweep_away(r, t, &b, s, next) != GBM_OK)
            break;
    }
    if (rt->status != GBM_OK || rt->device->ladder(rt, &t->on) != GBM_OK ||
        rt->device->get(rt) != GBM_OK)
        return rt->status;
    set_powers(r, t);
    return rt->device->put(rt);
}

static enum gbm_status advance(struct rt_chains *r, const struct rt_block *b)
{
    struct tempering *t = r->own;
    if (!b->adapting && !t->sampling) {
        forget(t);
        t->sampling = true;
    }
    if (device_swaps(r, t))
        return advance_away(r, t, b);
    for (int s = 0; s < b->sweeps && r->rt->status == GBM_OK; s++)
        sweep_once(r, t, b, s);
    return r->rt->status;
}

/* ---- before and after ---- */

static int replicas(struct rt_options *o) { return o->replicas; }

static bool allocate(struct rt_chains *r, struct tempering *t)
{
    size_t n = (size_t)r->in.nchains, k = (size_t)t->on.replicas;
    size_t row = (size_t)r->in.row;
    t->on.power = calloc(k, sizeof *t->on.power);
    t->on.given = calloc(k, sizeof *t->on.given);
    t->on.rejected = calloc(k, sizeof *t->on.rejected);
    t->on.rung = calloc(n, sizeof *t->on.rung);
    t->on.chain = calloc(n, sizeof *t->on.chain);
    t->on.heading = calloc(n, sizeof *t->on.heading);
    t->loglik = calloc(n, sizeof *t->loglik);
    t->lp = calloc(n, sizeof *t->lp);
    t->row = calloc(n * row + 1, sizeof *t->row);
    t->states = rt_states_create(&r->in);
    return t->on.power && t->on.given && t->on.rejected && t->on.rung &&
           t->on.chain && t->on.heading && t->loglik && t->lp && t->row &&
           t->states &&
           rt_stones_create(&t->stones, t->on.ladders, t->on.replicas,
                            r->rt->options.draws, r->rt->threads);
}

static void release(struct rt_chains *r)
{
    struct tempering *t = r->own;
    if (!t)
        return;
    free(t->on.power);
    free(t->on.given);
    free(t->on.rejected);
    free(t->on.rung);
    free(t->on.chain);
    free(t->on.heading);
    free(t->loglik);
    free(t->lp);
    free(t->row);
    free(t->states);
    rt_stones_free(&t->stones);
    free(t);
    r->own = NULL;
}

static enum gbm_status prepare(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    struct tempering *t = r->own = calloc(1, sizeof *t);
    bool all = rt_all_raised(&r->in);
    if (rt_refuse_beside(rt, "tempering") != GBM_OK ||
        (all && rt_check_prior(rt, &r->in, "tempering") != GBM_OK))
        return rt->status;
    if (t) {
        t->on.replicas = rt->options.replicas;
        t->on.ladders = r->in.nchains / t->on.replicas;
        t->independent = all;
    }
    if (!t || !allocate(r, t))
        return rt_fail(rt, GBM_FAILURE, "no memory for %d replicas",
                       r->in.nchains);
    for (int c = 0; c < r->in.nchains; c++) {
        t->on.chain[c] = c;
        t->on.rung[c] = c % t->on.replicas;
    }
    for (int k = 0; k < t->on.replicas; k++)
        t->on.power[k] = pow((double)k / (t->on.replicas - 1), 3);
    t->round_end = next_round(0, rt->options.warmup);
    set_powers(r, t);
    if (!all && r->notes)
        fprintf(r->notes,
                "note: not all data are tempered: the chains of power 0 move "
                "by sweeps, and the evidence is that of the tempered data "
                "given the others\n");
    return GBM_OK;
}

static void save(struct rt_chains *r, struct rt_pieces *p)
{
    struct tempering *t = r->own;
    size_t n = (size_t)r->in.nchains, k = (size_t)t->on.replicas;
    rt_pieces_add(p, "powers of rungs", t->on.power, k * sizeof *t->on.power);
    rt_pieces_add(p, "rungs", t->on.rung, n * sizeof *t->on.rung);
    rt_pieces_add(p, "chains of rungs", t->on.chain, n * sizeof *t->on.chain);
    rt_pieces_add(p, "rejected", t->on.rejected, k * sizeof *t->on.rejected);
    rt_pieces_add(p, "compared", &t->compared, sizeof t->compared);
    rt_pieces_add(p, "headings", t->on.heading, n * sizeof *t->on.heading);
    rt_pieces_add(p, "round trips", &t->on.trips, sizeof t->on.trips);
    rt_pieces_add(p, "sweeps of sampling", &t->sweeps, sizeof t->sweeps);
    rt_pieces_add(p, "end of a round", &t->round_end, sizeof t->round_end);
    rt_pieces_add(p, "sampling", &t->sampling, sizeof t->sampling);
    rt_stones_save(&t->stones, p);
}

static void print_report(const struct tempering *t, FILE *out, double barrier,
                         const struct rt_log_evidence *e)
{
    fprintf(out,
            "tempering: %d ladder%s of %d replicas, communication barrier "
            "%.2f\nrejected by rung:",
            t->on.ladders, t->on.ladders == 1 ? "" : "s", t->on.replicas,
            barrier);
    const int last = t->on.replicas - 1, shown = last < MOST_SHOWN ? last : 0;
    for (int i = 0; i < shown; i++)
        fprintf(out, " %.2f", t->on.rejected[i] / (double)t->compared);
    if (!shown)
        fprintf(out, " %.2g on average (each in --summary)", barrier / last);
    fprintf(out, "\npowers:");
    for (int i = 0; shown && i <= last; i++)
        fprintf(out, " %.3g", t->on.power[i]);
    if (!shown)
        fprintf(out, " 0, %.3g, ... %.6g, 1", t->on.power[1],
                t->on.power[last - 1]);
    fprintf(out,
            "\nround trips: %lld in %lld sweeps\nlog evidence: %.4f, "
            "standard error %.2g\n",
            (long long)t->on.trips, (long long)t->sweeps, e->value, e->se);
    if (barrier > 0.75 * (t->on.replicas - 1))
        fprintf(out,
                "Warning: neighbours hardly swap; about --replicas %d would "
                "do.\n",
                (int)(2 * barrier) + 4);
    if (e->apart > e->se / 4)
        fprintf(out,
                "Warning: from both sides of each step the log evidence is "
                "%.4f: draws of some rungs\n  hardly reach those of the next; "
                "the error says so. Take more --replicas, or --warmup.\n",
                e->bridge);
    if (t->on.trips == 0)
        fprintf(out,
                "Warning: no replica went from the prior to the posterior and "
                "back: do not\n  rely on modes' masses, nor on the evidence. "
                "Run longer, or with %s --replicas.\n",
                t->sweeps < 2 * (int64_t)last ? "fewer" : "more");
}

static void report(struct rt_chains *r, FILE *out, FILE *json)
{
    struct tempering *t = r->own;
    double barrier = 0;
    const struct rt_log_evidence e = rt_stones_evidence(&t->stones);
    for (int i = 0; i + 1 < t->on.replicas; i++)
        barrier += t->on.rejected[i] / (double)t->compared;
    print_report(t, out, barrier, &e);
    rt_put_evidence(json, &r->draws, e.value, e.se);
    fprintf(json,
            ",\n  \"tempering\": {\"barrier\": %.6g, \"round_trips\": %lld, "
            "\"sweeps\": %lld,\n    \"powers\": [",
            barrier, (long long)t->on.trips, (long long)t->sweeps);
    for (int i = 0; i < t->on.replicas; i++)
        fprintf(json, "%s%.10g", i ? ", " : "", t->on.power[i]);
    fprintf(json, "],\n    \"rejection\": [");
    for (int i = 0; i + 1 < t->on.replicas; i++)
        fprintf(json, "%s%.6g", i ? ", " : "",
                t->on.rejected[i] / (double)t->compared);
    fputs("]", json);
    if (isfinite(e.bridge))
        fprintf(json, ",\n    \"bridge\": %.10g", e.bridge);
    fputs("}", json);
}

const struct rt_method rt_tempering = {
    .name = "tempering",
    .help = "the same with replicas between prior and posterior, that swap: "
            "modes, evidence",
    .with = GBM_WITH_POWERS,
    .run = rt_run_chains,
    .chains = true,
    .replicas = replicas,
    .prepare = prepare,
    .advance = advance,
    .posterior = posterior,
    .save = save,
    .report = report,
    .release = release,
};
