/* smc.c: a sequential Monte Carlo sampler. Particles are drawn from the prior
 * and carried to the posterior in steps, each a power on the densities of the
 * data: weighted by what the power grows, resampled, and moved by the model's
 * own sweep until little is left of where they were. Each of --chains is a
 * sampler of its own, an island, of as many particles.
 *
 * With --sequence data enter in turns (Chopin 2002, A sequential particle
 * filter method for static models): a step takes as many of them as leaves
 * enough particles effective, the last of them perhaps in part. Without, all
 * data are one turn.
 *
 * Where the data are possible at none of the draws from the prior, as where
 * labels of animals that were seen say that they are alive, particles begin
 * where chains do, and sweeps at a power near 0 take them over the part of the
 * prior where the data are possible. How much of the prior that is nobody knows
 * then, and with it the evidence.
 *
 * Del Moral, Doucet and Jasra (2006), Sequential Monte Carlo samplers; the
 * powers by the effective sample size, as in Jasra, Stephens, Doucet and
 * Tsagaris (2011). Resampling is at every step, and multinomial: for this the
 * estimate of the evidence's variance holds, and as the moves leave little of
 * where particles were, other schemes would gain little. */
#include "powers/smc.h"
#include "filter/filter.h"
#include "powers/tempering.h"
#include "gbm.h"
#include "mean.h"
#include "simulate/simulate.h"
#include "start/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLE_STEP (UINT32_MAX - 2) /* in random numbers' keys */
#define PRIOR_STREAM 100000u
#define SHARE 0.5 /* of the particles: effective ones after a step */
/* A power that keeps to where the data are possible; a step's share that is
 * more than SHARE by no more. */
#define NEAR_PRIOR 1e-7
#define ENOUGH 1e-9
enum { MOST_STEPS = 10000, FIRST_SWEEPS = 50, MOST_HALVES = 60 };

/* ---- weights ---- */

/* Normalised weights, if the power of the turn at hand grows by more > 0;
 * returns the log of their mean. */
static double weigh(const struct smc *t, double more)
{
    return rt_weigh(&t->sums, t->grown, t->part, more, t->weight);
}

/* By how much the share of particles that is effective is above SHARE then. */
static double excess(const struct smc *t, double more)
{
    return rt_effective(&t->sums, t->grown, t->part, more, t->weight) - SHARE;
}

/* By how much the power of the turn can grow, `rest` at most; 0: not at all,
 * beside what has grown in this step, if that is anything. By halves until its
 * size is known, then by lines whose ends move both (Dowell and Jarratt 1971, A
 * modified regula falsi method). */
static double growth(const struct smc *t, double rest, bool any)
{
    double low = 0, high = rest;
    double over = 0, under = excess(t, rest); /* at the ends */
    int last = 0;                             /* the end that moved, 1: low */
    if (under >= 0)
        return rest;
    for (int i = 0; i < MOST_HALVES; i++) {
        const bool near = low > 0 && high <= 2 * low && over > under;
        const double at =
            low + (high - low) * (near ? over / (over - under) : 0.5);
        const double found = excess(t, at);
        const int end = found >= 0 ? 1 : -1;
        if (near && end == last)
            *(end > 0 ? &under : &over) /= 2;
        *(end > 0 ? &low : &high) = at;
        *(end > 0 ? &over : &under) = found;
        last = near ? end : 0;
        if (end > 0 && (found < ENOUGH || !(at < high)))
            break;
    }
    return low > 0 || any ? low : high;
}

/* The same where --steps says which powers there are. */
static double planned(const struct rt *rt, const struct island *a, double rest)
{
    const double next = (double)(a->steps + 1) / rt->options.steps;
    return next < 1 ? fmin(fmax(next * next - a->share, 0), rest) : rest;
}

/* The relative variance of the evidence from one run: by how much the weights
 * have come down to few of the first particles. Lee and Whiteley (2018),
 * Variance estimation in the particle filter, Biometrika 105, equation 10. */
static double variance_of(const struct smc *t, int island, int steps)
{
    const int n = t->particles, *eve = t->eve + island * n;
    double *const of = t->part, squares = 0; /* the next step's are others */
    memset(of, 0, (size_t)n * sizeof *of);
    for (int i = 0; i < n; i++)
        of[eve[i]] += t->weight[i];
    for (int i = 0; i < n; i++)
        squares += of[i] * of[i];
    return fmax(1 - pow((double)n / (n - 1), steps) * (1 - squares), 0);
}

/* What of it the weights of a step leave where moves forget all of the
 * particles but their distribution: never more than all of it, which in many
 * steps with small weights is less than the noise of the estimate by descent.
 */
static double variance_of_weights(const struct smc *t)
{
    double squares = 0;
    for (int i = 0; i < t->particles; i++)
        squares += t->weight[i] * t->weight[i];
    return fmax(squares - 1.0 / t->particles, 0);
}

/* ---- steps ---- */

static void copy_particle(struct rt_chains *r, struct smc *t, int from, int to)
{
    if (t->away)
        t->from[to] = from;
    else
        rt_copy_chain(&r->in, from, to);
    t->eve[to] = t->eve[from];
    t->loglik[to] = t->loglik[from];
}

/* Ancestors ascend, so those to the right can be copied in ascending order and
 * those to the left in descending order, none over one that is still needed;
 * and particles of one origin are neighbours, which the effective sample size
 * of the draws relies on. */
static void resample(struct rt_chains *r, struct smc *t, int island)
{
    int n = t->particles, first = island * n;
    const int *from = t->ancestor;
    struct gbm_rng rng;
    gbm_rng_start(&rng, r->rt->options.seed, (uint32_t)island, t->sweep,
                  RESAMPLE_STEP, 0);
    rt_resample_multinomial(n, t->weight, &rng, t->sums.threads, t->grown,
                            t->ancestor);
    for (int i = 0; i < n; i++)
        if (from[i] > i)
            copy_particle(r, t, first + from[i], first + i);
    for (int i = n - 1; i >= 0; i--)
        if (from[i] < i)
            copy_particle(r, t, first + from[i], first + i);
}

static bool has_arrived(const struct smc *t, const struct island *a)
{
    return a->turn == t->turns.count;
}

/* What the chains' powers are made of: of all data in one turn, the power. */
static double progress(const struct smc *t, const struct island *a)
{
    return has_arrived(t, a) ? (t->turns.count > 1 ? RT_ALL_ENTERED : 1)
                             : (double)t->turns.value[a->turn] + a->share;
}

/* Log likelihoods of turn a->turn, of an island's particles. */
static enum gbm_status find_part(struct rt_chains *r, struct smc *t, int k)
{
    const int n = t->particles, turn = t->island[k].turn;
    if (t->turns.count == 1) {
        memcpy(t->part, t->loglik + k * n, (size_t)n * sizeof *t->part);
    } else {
#pragma omp parallel for num_threads(r->rt->threads) schedule(static)
        for (int i = 0; i < n; i++)
            t->part[i] = rt_turns_loglik(&t->turns, &r->in, turn, turn + 1,
                                         rt_state(&r->in, t->states, k * n + i),
                                         k * n + i);
    }
    bool possible = false;
    for (int i = 0; i < n; i++)
        possible = possible || isfinite(t->grown[i] + t->part[i]);
    if (possible)
        return GBM_OK;
    if (t->turns.count > 1)
        return rt_fail(r->rt, GBM_FAILURE,
                       "--method smc: at none of %d particles are the data of "
                       "%s = %lld possible, or their density is infinite",
                       n, r->rt->options.sequence,
                       (long long)t->turns.value[turn]);
    return rt_fail(r->rt, GBM_FAILURE,
                   "--method smc: at none of %d draws from the prior are "
                   "the data possible, or their density is infinite",
                   n);
}

/* The same growth, or one so near that a device in single precision knows the
 * progress as the host does. */
static double as_device_knows(const struct rt *rt, const struct smc *t,
                              const struct island *a, double more)
{
    if (rt->options.precision == RT_DOUBLE || t->turns.count == 1)
        return more;
    const double begin = progress(t, a);
    const float end = (float)(begin + more);
    return (double)(end > begin ? end : nextafterf(end, 2 * end + 1)) - begin;
}

/* Data enter, until the weights say that it is enough. */
static enum gbm_status enter(struct rt_chains *r, struct smc *t, int k)
{
    struct island *a = &t->island[k];
    double before = 0, mean = 0, more = 1;
    memset(t->grown, 0, (size_t)t->particles * sizeof *t->grown);
    for (bool any = false; !has_arrived(t, a); any = true) {
        const double rest = 1 - a->share;
        if (find_part(r, t, k) != GBM_OK)
            return r->rt->status;
        more = r->rt->options.steps ? planned(r->rt, a, rest)
                                    : growth(t, rest, any);
        if (more == 0)
            break;
        if (more < rest)
            more = fmin(as_device_knows(r->rt, t, a, more), rest);
        mean = weigh(t, more);
        t->score[k * t->turns.count + a->turn] += mean - before;
        before = mean;
        for (int i = 0; i < t->particles; i++)
            t->grown[i] += more * t->part[i];
        a->share += more;
        if (more < rest)
            break;
        a->turn++;
        a->share = 0;
    }
    if (more == 0) { /* the weights are those without it */
        memset(t->part, 0, (size_t)t->particles * sizeof *t->part);
        mean = weigh(t, 1);
    }
    a->log_evidence += mean;
    return GBM_OK;
}

static enum gbm_status step_island(struct rt_chains *r, struct smc *t, int k)
{
    struct island *a = &t->island[k];
    for (int c = k * t->particles; c < (k + 1) * t->particles; c++)
        t->from[c] = c;
    if (has_arrived(t, a))
        return GBM_OK;
    if (enter(r, t, k) != GBM_OK)
        return r->rt->status;
    a->least += variance_of_weights(t);
    a->variance = fmax(variance_of(t, k, ++a->steps), a->least);
    resample(r, t, k);
    const double power = progress(t, a);
    for (int i = 0; i < t->particles; i++)
        rt_powers(&r->in)[k * t->particles + i] = power;
    return a->steps < MOST_STEPS || r->rt->options.steps
               ? GBM_OK
               : rt_fail(r->rt, GBM_FAILURE,
                         "--method smc: %d steps led to the power %g only",
                         a->steps, progress(t, a));
}

/* Of data that have entered, at power 1; of all of them sweeps leave much
 * known.
 */
static double loglik(const struct rt_chains *r, const struct smc *t, int c)
{
    const void *state = rt_state(&r->in, t->states, c);
    const int turn = t->island[c / t->particles].turn, count = t->turns.count;
    if (count > 1)
        return rt_turns_loglik(&t->turns, &r->in, 0,
                               turn < count ? turn + 1 : count, state, c);
    const double x = rt_loglikelihood(&r->in, state, c);
    return x == x ? x : -(double)INFINITY;
}

/* `moved`: the device has the states, too. */
static enum gbm_status find_logliks(struct rt_chains *r, struct smc *t,
                                    bool moved)
{
    bool told = moved;
    if (moved && rt_device_logliks(r->rt, &r->in, t->loglik) != GBM_OK)
        return r->rt->status;
    for (int c = 0; c < r->in.nchains && told; c++)
        told = !isnan(t->loglik[c]);
    if (told)
        return GBM_OK;
    if (moved && t->away && r->rt->device->get(r->rt) != GBM_OK)
        return r->rt->status;
#pragma omp parallel for num_threads(r->rt->threads) schedule(static)
    for (int c = 0; c < r->in.nchains; c++)
        if (!moved || isnan(t->loglik[c]))
            t->loglik[c] = loglik(r, t, c);
    return GBM_OK;
}

/* Of log likelihoods before and after, within islands. */
static double correlation(const struct smc *t)
{
    double sums[3] = {0, 0, 0};
    for (int k = 0; k < t->islands; k++)
        rt_add_products(&t->sums, t->before + k * t->particles,
                        t->loglik + k * t->particles, sums);
    return sums[0] > 0 && sums[1] > 0 ? sums[2] / sqrt(sums[0] * sums[1]) : 0;
}

static enum gbm_status move_once(struct rt_chains *r, struct smc *t, bool last,
                                 const struct rt_block *b)
{
    struct rt *rt = r->rt;
    struct rt_block one = {.seed = rt->options.seed,
                           .first = t->sweep++,
                           .sweeps = 1,
                           .adapting = !last,
                           .thin = last};
    if (last) {
        one.draws = b->draws ? t->row : NULL;
        one.chain_stride = r->in.row;
        one.lp = b->lp ? t->lp : NULL;
        one.lp_stride = 1;
    }
    if (rt->device->run(rt, &one) == GBM_OK && (last || !t->away))
        rt->device->get(rt);
    return rt->status;
}

/* What was tuned becomes the mean over an island's particles: none moves in a
 * way that depends on its own past, which would not leave the posterior as it
 * is, and all learn from all. */
static enum gbm_status share_tuning(struct rt_chains *r, const struct smc *t)
{
    const int n = t->particles;
    if (t->away)
        return r->rt->device->average(r->rt, n);
    for (int v = 0; v < r->in.model->nvariables; v++) {
        const struct rt_slot *slot = &r->in.slots[v];
        if (r->in.model->variables[v].role != GBM_TUNING)
            continue;
        for (int64_t i = 0; i < t->islands * slot->cells; i++) {
            int64_t island = i / slot->cells, cell = i % slot->cells;
            double *at =
                (double *)slot->values + island * n * slot->cells + cell;
            const double mean = gbm_mean_over(at, n, slot->cells);
            for (int p = 0; p < n; p++)
                at[p * slot->cells] = mean;
        }
    }
    return r->rt->device->put(r->rt);
}

/* The device's states are those that were resampled. */
static enum gbm_status begin_moves(struct rt_chains *r, struct smc *t)
{
    struct rt *rt = r->rt;
    memcpy(t->before, t->loglik, (size_t)r->in.nchains * sizeof *t->before);
    t->moving = true;
    t->moved = 0;
    return t->away ? rt->device->descend(rt, t->from, rt_powers(&r->in))
                   : rt->device->put(rt);
}

/* A sweep of the moves: at least one, and until little is left of the log
 * likelihoods. */
static enum gbm_status move_on(struct rt_chains *r, struct smc *t)
{
    if (move_once(r, t, false, NULL) != GBM_OK ||
        (t->tunes && share_tuning(r, t) != GBM_OK))
        return r->rt->status;
    if (find_logliks(r, t, true) != GBM_OK)
        return r->rt->status;
    const int moves = r->rt->options.moves;
    const double left = correlation(t);
    t->moved++;
    t->moving =
        moves ? t->moved < moves
              : t->moved < RT_SMC_MOST_SWEEPS && left > RT_SMC_CORRELATION;
    if (!t->moving)
        t->left = fmax(t->left, left);
    return GBM_OK;
}

static bool arrived(const struct smc *t)
{
    for (int k = 0; k < t->islands; k++)
        if (!has_arrived(t, &t->island[k]))
            return false;
    return true;
}

/* The same as check_sequence, of what densities tell at draws of the prior. */
static enum gbm_status check_prior_draws(struct rt_chains *r,
                                         const struct smc *t)
{
    for (int c = 0; c < r->in.nchains; c++)
        for (int k = 0; k < t->turns.count; k++)
            if (!isfinite(rt_turns_loglik(&t->turns, &r->in, k, k + 1,
                                          rt_state(&r->in, t->states, c), c)))
                return rt_fail(
                    r->rt, GBM_USER_ERROR,
                    "--sequence %s: the data of %lld are impossible at a draw "
                    "from the prior, which sweeps would keep away from before "
                    "these data enter: take a prior without such draws, or "
                    "leave --sequence out",
                    r->rt->options.sequence, (long long)t->turns.value[k]);
    return GBM_OK;
}

/* Whether states can stay on a device that has its own, which tells their log
 * likelihoods. GBM_SMC=host, for tests: no. */
static bool can_be_away(struct rt_chains *r, const struct smc *t)
{
    const char *wanted = getenv("GBM_SMC");
    return r->rt->device->descend && rt_device_tells(r->rt, &r->in) &&
           t->turns.count == 1 && !(wanted && strcmp(wanted, "host") == 0);
}

/* Log likelihoods of draws of the prior, by the device if it tells them: its
 * densities have the chain's power, which is 0 as yet. States that stay there
 * have gone there with that; their powers follow as they are resampled. */
static enum gbm_status find_first_logliks(struct rt_chains *r, struct smc *t)
{
    double *power = rt_powers(&r->in);
    const bool told = t->turns.count == 1 && rt_device_tells(r->rt, &r->in);
    for (int c = 0; c < r->in.nchains && told; c++) {
        t->before[c] = power[c];
        power[c] = 1;
    }
    if (told && r->rt->device->put(r->rt) != GBM_OK)
        return r->rt->status;
    const enum gbm_status status = find_logliks(r, t, told);
    for (int c = 0; c < r->in.nchains && told; c++)
        power[c] = t->before[c];
    return status;
}

/* Whether some island has no draw at which the data are possible. */
static bool none_possible(const struct smc *t)
{
    for (int k = 0; k < t->islands; k++) {
        bool some = false;
        for (int i = 0; i < t->particles; i++)
            some = some || isfinite(t->loglik[k * t->particles + i]);
        if (!some)
            return true;
    }
    return false;
}

/* From where chains start, which is where the data are possible, over the part
 * of the prior where they are. */
static enum gbm_status begin_confined(struct rt_chains *r, struct smc *t)
{
    struct rt *rt = r->rt;
    if (rt_start(rt, &r->in, NULL) != GBM_OK)
        return rt->status;
    t->confined = true;
    for (int k = 0; k < t->islands; k++)
        t->island[k].share = NEAR_PRIOR;
    for (int c = 0; c < r->in.nchains; c++)
        rt_powers(&r->in)[c] = NEAR_PRIOR;
    if (rt->device->put(rt) != GBM_OK || find_logliks(r, t, false) != GBM_OK)
        return rt->status;
    memcpy(t->before, t->loglik, (size_t)r->in.nchains * sizeof *t->before);
    double left = 1;
    for (int i = 0; i < FIRST_SWEEPS ||
                    (i < RT_SMC_MOST_SWEEPS && left > RT_SMC_CORRELATION);
         i++) {
        if (rt_stopped())
            return GBM_OK;
        if (move_once(r, t, false, NULL) != GBM_OK ||
            (t->tunes && share_tuning(r, t) != GBM_OK) ||
            find_logliks(r, t, true) != GBM_OK)
            return rt->status;
        left = correlation(t);
    }
    return GBM_OK;
}

static enum gbm_status begin(struct rt_chains *r, struct smc *t)
{
#pragma omp parallel for num_threads(r->rt->threads) schedule(static)
    for (int c = 0; c < r->in.nchains; c++) {
        void *state = rt_state(&r->in, t->states, c);
        rt_draw_latent(r->rt, &r->in, state, c, (uint32_t)c, PRIOR_STREAM);
        rt_refresh(&r->in, state, c);
        t->eve[c] = c % t->particles;
    }
    rt_clock_note("  particles are drawn from the prior");
    if (t->turns.count > 1 && check_prior_draws(r, t) != GBM_OK)
        return r->rt->status;
    if (find_first_logliks(r, t) != GBM_OK ||
        (t->turns.count == 1 && none_possible(t) &&
         begin_confined(r, t) != GBM_OK))
        return r->rt->status;
    rt_clock_note("  their likelihoods are known");
    t->begun = true;
    return GBM_OK;
}

/* From the prior to the posterior. Between two sweeps of the moves is all that
 * a checkpoint needs in what it saves. */
static enum gbm_status travel(struct rt_chains *r, struct smc *t)
{
    t->away = can_be_away(r, t);
    enum gbm_status s = t->begun ? GBM_OK : begin(r, t);
    while (s == GBM_OK && (t->moving || !arrived(t)) && !rt_stopped()) {
        const bool moving = t->moving;
        for (int k = 0; !moving && k < t->islands && s == GBM_OK; k++)
            s = step_island(r, t, k);
        if (s == GBM_OK)
            s = moving ? move_on(r, t) : begin_moves(r, t);
        rt_clock_note(moving ? "    they have moved"
                             : "    they are weighed and resampled");
        if (s == GBM_OK && rt_checkpoint_due(&r->checkpoint))
            rt_chains_save(r, true);
    }
    r->cut = t->moving || !arrived(t);
    return s == GBM_OK && t->away ? r->rt->device->get(r->rt) : s;
}

/* Warm-up is the way to the posterior; the draws of an island are its
 * particles, after one more sweep. */
static enum gbm_status advance(struct rt_chains *r, const struct rt_block *b)
{
    struct smc *t = r->own;
    size_t bytes = (size_t)r->in.row * sizeof(double);
    if (b->adapting)
        return travel(r, t);
    if (!t->drawn && move_once(r, t, true, b) != GBM_OK)
        return r->rt->status;
    for (int c = 0; !t->drawn && r->relabelling && c < r->in.nchains; c++)
        rt_relabelling_keep(r, c, t->row + c * r->in.row, c % t->particles);
    t->drawn = true;
    for (int s = 0; s < b->sweeps; s++, t->given++)
        for (int k = 0; k < t->islands; k++) {
            int c = k * t->particles + t->given;
            if (b->draws)
                memcpy(b->draws + k * b->chain_stride + s * r->draws.width,
                       t->row + c * r->in.row, bytes);
            if (b->lp)
                b->lp[k * b->lp_stride + s] = t->lp[c];
        }
    return GBM_OK;
}

/* ---- before and after ---- */

static int replicas(struct rt_options *o)
{
    o->warmup = 1;
    o->draws = o->planned = o->particles;
    o->thin = 1;
    return o->particles;
}

static bool allocate(struct rt_chains *r, struct smc *t)
{
    size_t n = (size_t)r->in.nchains, p = (size_t)t->particles;
    t->island = calloc((size_t)t->islands, sizeof *t->island);
    t->score =
        calloc((size_t)t->islands * (size_t)t->turns.count, sizeof *t->score);
    t->part = calloc(p, sizeof *t->part);
    t->grown = calloc(p, sizeof *t->grown);
    t->loglik = calloc(n, sizeof *t->loglik);
    t->before = calloc(n, sizeof *t->before);
    t->eve = calloc(n, sizeof *t->eve);
    t->weight = calloc(p, sizeof *t->weight);
    t->ancestor = calloc(p, sizeof *t->ancestor);
    t->from = calloc(n, sizeof *t->from);
    t->lp = calloc(n, sizeof *t->lp);
    t->row = calloc(n * (size_t)r->in.row + 1, sizeof *t->row);
    t->states = rt_states_create(&r->in);
    return t->island && t->score && t->part && t->grown && t->loglik &&
           t->before && t->eve && t->weight && t->ancestor && t->from &&
           rt_sums_create(&t->sums, t->particles, r->rt->threads) && t->lp &&
           t->row && t->states;
}

static void release(struct rt_chains *r)
{
    struct smc *t = r->own;
    if (!t)
        return;
    free(t->island);
    free(t->score);
    free(t->part);
    free(t->grown);
    rt_turns_free(&t->turns);
    free(t->loglik);
    free(t->before);
    free(t->eve);
    free(t->weight);
    free(t->ancestor);
    free(t->from);
    rt_sums_free(&t->sums);
    free(t->lp);
    free(t->row);
    free(t->states);
    free(t);
    r->own = NULL;
}

/* A sweep keeps to where all data are possible, those that have not entered
 * yet, too. */
static enum gbm_status check_sequence(struct rt_chains *r, const struct smc *t)
{
    for (int64_t i = 0; i < t->turns.first[t->turns.count]; i++) {
        const struct gbm_family *fam =
            &r->in.model->families[t->turns.data[i].family];
        if (t->turns.count > 1 && fam->bounded)
            return rt_fail(r->rt, GBM_USER_ERROR,
                           "%s: --sequence %s: not supported yet: data whose "
                           "bounds depend on what is drawn\n    %s",
                           fam->where, r->rt->options.sequence, fam->text);
    }
    return GBM_OK;
}

static enum gbm_status prepare(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    const struct rt_options *o = &rt->options;
    struct smc *t = r->own = calloc(1, sizeof *t);
    if (rt_refuse_beside(rt, "smc") != GBM_OK)
        return rt->status;
    if (o->until || o->draws_given || o->warmup_given)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--method smc has no %s: it has a draw for each of "
                       "--particles",
                       o->until         ? "--until"
                       : o->draws_given ? "--draws"
                                        : "--warmup");
    if (!rt_all_raised(&r->in))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--method smc begins at the prior: --temper of some of "
                       "the data is not supported yet");
    if (rt_check_prior(rt, &r->in, "smc") != GBM_OK)
        return rt->status;
    if (t && (rt_turns_create(&t->turns, rt, &r->in) != GBM_OK ||
              check_sequence(r, t) != GBM_OK))
        return rt->status;
    if (t) {
        t->particles = o->particles;
        t->islands = r->chains;
        for (int v = 0; v < r->in.model->nvariables; v++)
            t->tunes =
                t->tunes || (r->in.model->variables[v].role == GBM_TUNING &&
                             r->in.slots[v].cells > 0);
    }
    if (!t || !allocate(r, t))
        return rt_fail(rt, GBM_FAILURE, "no memory for %d particles",
                       r->in.nchains);
    return GBM_OK;
}

static void save(struct rt_chains *r, struct rt_pieces *p)
{
    struct smc *t = r->own;
    size_t n = (size_t)r->in.nchains, islands = (size_t)t->islands;
    rt_pieces_add(p, "islands", t->island, islands * sizeof *t->island);
    rt_pieces_add(p, "what turns add", t->score,
                  islands * (size_t)t->turns.count * sizeof *t->score);
    rt_pieces_add(p, "log likelihoods", t->loglik, n * sizeof *t->loglik);
    rt_pieces_add(p, "those before", t->before, n * sizeof *t->before);
    rt_pieces_add(p, "origins", t->eve, n * sizeof *t->eve);
    rt_pieces_add(p, "begun", &t->begun, sizeof t->begun);
    rt_pieces_add(p, "confined", &t->confined, sizeof t->confined);
    rt_pieces_add(p, "moving", &t->moving, sizeof t->moving);
    rt_pieces_add(p, "moves", &t->moved, sizeof t->moved);
    rt_pieces_add(p, "correlation left", &t->left, sizeof t->left);
    rt_pieces_add(p, "sweeps of particles", &t->sweep, sizeof t->sweep);
    rt_pieces_add(p, "particles are drawn", &t->drawn, sizeof t->drawn);
    rt_pieces_add(p, "draws given", &t->given, sizeof t->given);
    rt_pieces_add(p, "last rows", t->row,
                  n * (size_t)r->in.row * sizeof *t->row);
    rt_pieces_add(p, "last densities", t->lp, n * sizeof *t->lp);
}

const struct rt_method rt_smc = {
    .name = "smc",
    .help = "particles from the prior to the posterior, by steps: evidence",
    .with = GBM_WITH_POWERS,
    .run = rt_run_chains,
    .particles = true,
    .own_sweeps = true,
    .sequence = true,
    .chains = true,
    .replicas = replicas,
    .starts = 64,
    .more = "--particles",
    .prepare = prepare,
    .advance = advance,
    .save = save,
    .report = rt_smc_report,
    .release = release,
};
