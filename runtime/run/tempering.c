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
#include "run/tempering.h"
#include "base/base.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Random numbers of swaps have a step's number that no step has. */
#define SWAP_STEP (UINT32_MAX - 1)
/* The first stream of draws from the prior that no other command uses. */
#define PRIOR_STREAM 100000u
enum { SHORTEST_ROUND = 8 };
enum { MOST_SHOWN = 64 }; /* rungs that are told one by one */

struct tempering {
    int ladders, replicas;
    double *power;    /* [replicas] of a rung, ascending */
    int *rung;        /* [chains] */
    int *chain;       /* [ladders][replicas] */
    double *loglik;   /* [chains] */
    double *row, *lp; /* [chains] what the device keeps of a sweep */
    char *states;
    bool independent;  /* the prior is drawn from, not moved in */
    int64_t round_end; /* sweep of warm-up after which powers are set next */
    bool sampling;
    double *rejected; /* [replicas - 1] sums of rejection probabilities */
    int64_t compared; /* of as many swaps of each pair */
    int *heading; /* [chains] 1: from the prior to the posterior; -1: back */
    int64_t trips, sweeps;
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
static void set_powers(struct rt_chains *r, const struct tempering *t)
{
    for (int c = 0; c < r->in.nchains; c++) {
        bool drawn = t->rung[c] == 0 && t->independent;
        *power_of_chain(r, c) =
            fmax(t->power[drawn ? 1 : t->rung[c]], RT_LEAST_POWER);
    }
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
    int *at = t->chain + ladder * t->replicas + lower, a = at[0], b = at[1];
    at[0] = b;
    at[1] = a;
    t->rung[b] = lower;
    t->rung[a] = lower + 1;
    for (int v = 0; v < r->in.model->nvariables; v++)
        if (r->in.model->variables[v].role == GBM_TUNING)
            swap_cells(&r->in.slots[v], a, b);
}

/* The probability that the replicas at a rung and the next one swap. */
static double acceptance(const struct tempering *t, int ladder, int lower)
{
    const int *at = t->chain + ladder * t->replicas + lower;
    double above = t->power[lower + 1] - t->power[lower];
    double x = above * (t->loglik[at[0]] - t->loglik[at[1]]);
    return x >= 0 ? 1 : x < 0 ? exp(x) : 0; /* impossible states stay */
}

/* Even pairs after even sweeps, odd ones after odd ones. */
static void swap(struct rt_chains *r, struct tempering *t, uint32_t sweep)
{
    for (int l = 0; l < t->ladders; l++)
        for (int i = 0; i + 1 < t->replicas; i++)
            t->rejected[i] += 1 - acceptance(t, l, i);
    t->compared += t->ladders;
    for (int l = 0; l < t->ladders; l++)
        for (int i = (int)(sweep & 1); i + 1 < t->replicas; i += 2) {
            struct gbm_rng rng;
            gbm_rng_start(&rng, r->rt->options.seed, (uint32_t)l, sweep,
                          SWAP_STEP, (uint32_t)i);
            if (gbm_uniform(&rng) < acceptance(t, l, i))
                swap_rungs(r, t, l, i);
        }
}

/* Round trips: to the posterior and back to the prior. */
static void count_trips(struct tempering *t)
{
    for (int c = 0; c < t->ladders * t->replicas; c++) {
        if (t->rung[c] == 0) {
            t->trips += t->heading[c] == -1;
            t->heading[c] = 1;
        } else if (t->rung[c] == t->replicas - 1 && t->heading[c] == 1) {
            t->heading[c] = -1;
        }
    }
}

/* ---- the powers of a ladder ---- */

static void forget(struct tempering *t)
{
    memset(t->rejected, 0, (size_t)t->replicas * sizeof *t->rejected);
    t->compared = 0;
}

/* The power where the barrier from a rung's on is `share` of that to the next
 * one's: of two positive ones by their logarithms, as of a normal likelihood
 * the barrier grows with that of the power. */
static double between(double lower, double upper, double share)
{
    return lower > 0 ? lower * pow(upper / lower, share)
                     : upper * share * share;
}

bool rt_tempering_spread(int n, const double *rejection, double *power)
{
    double *barrier = calloc(2 * (size_t)n, sizeof *barrier),
           *old = barrier + n;
    if (!barrier)
        return false;
    memcpy(old, power, (size_t)n * sizeof *old);
    for (int i = 0; i + 1 < n; i++)
        barrier[i + 1] = barrier[i] + fmax(rejection[i], 1e-4);
    for (int k = 1, i = 0; k + 1 < n; k++) {
        double wanted = barrier[n - 1] * k / (n - 1);
        while (i + 2 < n && barrier[i + 1] < wanted)
            i++;
        power[k] =
            between(old[i], old[i + 1],
                    (wanted - barrier[i]) / (barrier[i + 1] - barrier[i]));
    }
    free(barrier);
    return true;
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

static enum gbm_status end_round(struct rt_chains *r, struct tempering *t,
                                 uint32_t sweep)
{
    int64_t warmup = r->rt->options.warmup;
    if (t->sampling || (int64_t)sweep + 1 < t->round_end)
        return GBM_OK;
    for (int i = 0; i + 1 < t->replicas; i++)
        t->rejected[i] /= (double)t->compared;
    if (!rt_tempering_spread(t->replicas, t->rejected, t->power))
        return rt_fail(r->rt, GBM_FAILURE, "no memory for %d replicas",
                       t->replicas);
    forget(t);
    t->round_end = next_round(t->round_end, warmup);
    return GBM_OK;
}

/* ---- a sweep ---- */

static void draw_prior(struct rt_chains *r, struct tempering *t, uint32_t sweep)
{
    for (int l = 0; t->independent && l < t->ladders; l++) {
        int c = t->chain[l * t->replicas];
        void *state = rt_state(&r->in, t->states, c);
        rt_draw_latent(r->rt, &r->in, state, c, (uint32_t)l,
                       PRIOR_STREAM + sweep);
        rt_refresh(&r->in, state, c);
    }
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
    for (int l = 0; t->independent && l < t->ladders; l++)
        t->loglik[t->chain[l * t->replicas]] = (double)NAN; /* drawn here */
    (void)threads; /* where there is no OpenMP */
#pragma omp parallel num_threads(threads) reduction(+ : spent) if (threads > 1)
    {
        const double began = rt_thread_clock();
#pragma omp for schedule(dynamic) nowait
        for (int c = 0; c < n; c++) {
            if (!isnan(t->loglik[c]))
                continue;
            double x =
                rt_loglikelihood(&r->in, rt_state(&r->in, t->states, c), c);
            t->loglik[c] = x == x ? x : -(double)INFINITY;
        }
        spent += rt_thread_clock() - began;
    }
    t->logliks_s = spent;
    return GBM_OK;
}

/* The posterior's chains' draws go where those of plain chains would. */
static void keep(struct rt_chains *r, const struct tempering *t,
                 const struct rt_block *b, int64_t k)
{
    size_t bytes = (size_t)r->in.row * sizeof(double);
    for (int l = 0; l < t->ladders; l++) {
        int c = t->chain[l * t->replicas + t->replicas - 1];
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
        rt_stones_add(&t->stones, t->power, t->chain, t->loglik);
    swap(r, t, one.first);
    if (t->sampling) {
        count_trips(t);
        t->sweeps++;
    }
    if (end_round(r, t, one.first) != GBM_OK)
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
    for (int s = 0; s < b->sweeps; s++)
        if (sweep_once(r, t, b, s) != GBM_OK)
            return r->rt->status;
    return GBM_OK;
}

/* ---- before and after ---- */

static int replicas(struct rt_options *o) { return o->replicas; }

static bool allocate(struct rt_chains *r, struct tempering *t)
{
    size_t n = (size_t)r->in.nchains, k = (size_t)t->replicas;
    size_t row = (size_t)r->in.row;
    t->power = calloc(k, sizeof *t->power);
    t->rejected = calloc(k, sizeof *t->rejected);
    t->rung = calloc(n, sizeof *t->rung);
    t->chain = calloc(n, sizeof *t->chain);
    t->heading = calloc(n, sizeof *t->heading);
    t->loglik = calloc(n, sizeof *t->loglik);
    t->lp = calloc(n, sizeof *t->lp);
    t->row = calloc(n * row + 1, sizeof *t->row);
    t->states = rt_states_create(&r->in);
    return t->power && t->rejected && t->rung && t->chain && t->heading &&
           t->loglik && t->lp && t->row && t->states &&
           rt_stones_create(&t->stones, t->ladders, t->replicas);
}

static void release(struct rt_chains *r)
{
    struct tempering *t = r->own;
    if (!t)
        return;
    free(t->power);
    free(t->rejected);
    free(t->rung);
    free(t->chain);
    free(t->heading);
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
        t->replicas = rt->options.replicas;
        t->ladders = r->in.nchains / t->replicas;
        t->independent = all;
    }
    if (!t || !allocate(r, t))
        return rt_fail(rt, GBM_FAILURE, "no memory for %d replicas",
                       r->in.nchains);
    for (int c = 0; c < r->in.nchains; c++) {
        t->chain[c] = c;
        t->rung[c] = c % t->replicas;
    }
    for (int k = 0; k < t->replicas; k++)
        t->power[k] = pow((double)k / (t->replicas - 1), 3);
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
    size_t n = (size_t)r->in.nchains, k = (size_t)t->replicas;
    rt_pieces_add(p, "powers of rungs", t->power, k * sizeof *t->power);
    rt_pieces_add(p, "rungs", t->rung, n * sizeof *t->rung);
    rt_pieces_add(p, "chains of rungs", t->chain, n * sizeof *t->chain);
    rt_pieces_add(p, "rejected", t->rejected, k * sizeof *t->rejected);
    rt_pieces_add(p, "compared", &t->compared, sizeof t->compared);
    rt_pieces_add(p, "headings", t->heading, n * sizeof *t->heading);
    rt_pieces_add(p, "round trips", &t->trips, sizeof t->trips);
    rt_pieces_add(p, "sweeps of sampling", &t->sweeps, sizeof t->sweeps);
    rt_pieces_add(p, "end of a round", &t->round_end, sizeof t->round_end);
    rt_pieces_add(p, "sampling", &t->sampling, sizeof t->sampling);
    rt_stones_save(&t->stones, p);
}

static void print_report(const struct tempering *t, FILE *out, double barrier,
                         double value, double se)
{
    fprintf(out,
            "tempering: %d ladder%s of %d replicas, communication barrier "
            "%.2f\nrejected by rung:",
            t->ladders, t->ladders == 1 ? "" : "s", t->replicas, barrier);
    const int last = t->replicas - 1, shown = last < MOST_SHOWN ? last : 0;
    for (int i = 0; i < shown; i++)
        fprintf(out, " %.2f", t->rejected[i] / (double)t->compared);
    if (!shown)
        fprintf(out, " %.2g on average (each in --summary)", barrier / last);
    fprintf(out, "\npowers:");
    for (int i = 0; shown && i <= last; i++)
        fprintf(out, " %.3g", t->power[i]);
    if (!shown)
        fprintf(out, " 0, %.3g, ... %.6g, 1", t->power[1], t->power[last - 1]);
    fprintf(out,
            "\nround trips: %lld in %lld sweeps\nlog evidence: %.4f, "
            "standard error %.2g\n",
            (long long)t->trips, (long long)t->sweeps, value, se);
    if (barrier > 0.75 * (t->replicas - 1))
        fprintf(out,
                "Warning: neighbours hardly swap; about --replicas %d would "
                "do.\n",
                (int)(2 * barrier) + 4);
    if (t->trips == 0)
        fprintf(out,
                "Warning: no replica went from the prior to the posterior and "
                "back: do not\n  rely on modes' masses, nor on the evidence. "
                "Run longer, or with %s --replicas.\n",
                t->sweeps < 2 * (int64_t)last ? "fewer" : "more");
}

static void report(struct rt_chains *r, FILE *out, FILE *json)
{
    struct tempering *t = r->own;
    double value, se, barrier = 0;
    rt_stones_evidence(&t->stones, &value, &se);
    for (int i = 0; i + 1 < t->replicas; i++)
        barrier += t->rejected[i] / (double)t->compared;
    print_report(t, out, barrier, value, se);
    rt_put_evidence(json, &r->draws, value, se);
    fprintf(json,
            ",\n  \"tempering\": {\"barrier\": %.6g, \"round_trips\": %lld, "
            "\"sweeps\": %lld,\n    \"powers\": [",
            barrier, (long long)t->trips, (long long)t->sweeps);
    for (int i = 0; i < t->replicas; i++)
        fprintf(json, "%s%.10g", i ? ", " : "", t->power[i]);
    fprintf(json, "],\n    \"rejection\": [");
    for (int i = 0; i + 1 < t->replicas; i++)
        fprintf(json, "%s%.6g", i ? ", " : "",
                t->rejected[i] / (double)t->compared);
    fprintf(json, "]}");
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
    .save = save,
    .report = report,
    .release = release,
};
