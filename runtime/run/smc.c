/* smc.c: a sequential Monte Carlo sampler. Particles are drawn from the prior
 * and carried to the posterior in steps, each a power on the densities of the
 * data: weighted by what the power grows, resampled, and moved by the model's
 * own sweep until little is left of where they were. Each of --chains is a
 * sampler of its own, an island, of as many particles.
 *
 * Del Moral, Doucet and Jasra (2006), Sequential Monte Carlo samplers; the
 * powers by the effective sample size, as in Jasra, Stephens, Doucet and
 * Tsagaris (2011). Resampling is at every step, and multinomial: for this the
 * estimate of the evidence's variance holds, and as the moves leave little of
 * where particles were, other schemes would gain little. */
#include "run/filter.h"
#include "run/tempering.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLE_STEP (UINT32_MAX - 2) /* in random numbers' keys */
#define PRIOR_STREAM 100000u
#define SHARE 0.5       /* of the particles: effective ones after a step */
#define CORRELATION 0.1 /* of log likelihoods before and after the moves */
enum { MOST_SWEEPS = 100, MOST_STEPS = 10000 };

struct island {
    double power, log_evidence, variance;
    int steps;
};

struct smc {
    int islands, particles;
    struct island *island;
    double *loglik, *before; /* [chains] */
    int *eve;                /* [chains] the first particle it comes from */
    double *weight;          /* [particles], and what one resampling needs */
    int *ancestor;
    double *row, *lp; /* [chains] */
    char *states;
    bool tunes;  /* the sweep has something to tune */
    double left; /* the largest correlation that moves ended with */
    int given;   /* draws of an island */
    bool drawn;
    uint32_t sweep;
};

/* ---- weights ---- */

static double largest(const double *x, int n)
{
    double most = -(double)INFINITY;
    for (int i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

/* The share of particles that is effective if the power grows by `more`. */
static double effective(const double *loglik, int n, double more)
{
    double most = largest(loglik, n), sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        double w = exp(more * (loglik[i] - most));
        sum += w;
        squares += w * w;
    }
    return sum * sum / squares / n;
}

static double next_power(const double *loglik, int n, double power)
{
    double low = 0, high = 1 - power;
    if (effective(loglik, n, high) >= SHARE)
        return 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (effective(loglik, n, middle) >= SHARE)
            low = middle;
        else
            high = middle;
    }
    return power + (low > 0 ? low : high);
}

/* Normalised weights; returns the log of the mean one. */
static double weigh(const struct smc *t, const double *loglik, double more)
{
    int n = t->particles;
    double most = largest(loglik, n), sum = 0;
    for (int i = 0; i < n; i++)
        sum += t->weight[i] = exp(more * (loglik[i] - most));
    for (int i = 0; i < n; i++)
        t->weight[i] /= sum;
    return more * most + log(sum / n);
}

/* The relative variance of the evidence from one run: by how much the weights
 * have come down to few of the first particles. Lee and Whiteley (2018),
 * Variance estimation in the particle filter, Biometrika 105, equation 10. */
static double variance_of(const struct smc *t, int island, int steps)
{
    int n = t->particles, *eve = t->eve + island * n;
    double *of = calloc((size_t)n, sizeof *of), squares = 0;
    for (int i = 0; of && i < n; i++)
        of[eve[i]] += t->weight[i];
    for (int i = 0; of && i < n; i++)
        squares += of[i] * of[i];
    double result =
        of ? 1 - pow((double)n / (n - 1), steps) * (1 - squares) : (double)NAN;
    free(of);
    return fmax(result, 0);
}

/* ---- steps ---- */

static void copy_chain(const struct rt_instance *in, int from, int to)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        size_t bytes = rt_chain_bytes(in, v) / (size_t)in->nchains;
        char *values = in->slots[v].values;
        if (bytes > 0)
            memcpy(values + (size_t)to * bytes, values + (size_t)from * bytes,
                   bytes);
    }
}

static void copy_particle(struct rt_chains *r, struct smc *t, int from, int to)
{
    copy_chain(&r->in, from, to);
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
    rt_resample_multinomial(n, t->weight, &rng, t->ancestor);
    for (int i = 0; i < n; i++)
        if (from[i] > i)
            copy_particle(r, t, first + from[i], first + i);
    for (int i = n - 1; i >= 0; i--)
        if (from[i] < i)
            copy_particle(r, t, first + from[i], first + i);
}

static enum gbm_status step_island(struct rt_chains *r, struct smc *t, int k)
{
    struct island *a = &t->island[k];
    const double *loglik = t->loglik + k * t->particles;
    if (a->power == 1)
        return GBM_OK;
    if (!isfinite(largest(loglik, t->particles)))
        return rt_fail(r->rt, GBM_FAILURE,
                       "--method smc: at none of %d draws from the prior are "
                       "the data possible, or their density is infinite",
                       t->particles);
    double power = next_power(loglik, t->particles, a->power);
    a->log_evidence += weigh(t, loglik, power - a->power);
    a->variance = variance_of(t, k, ++a->steps);
    resample(r, t, k);
    a->power = power;
    for (int i = 0; i < t->particles; i++)
        rt_powers(&r->in)[k * t->particles + i] = power;
    return a->steps < MOST_STEPS
               ? GBM_OK
               : rt_fail(r->rt, GBM_FAILURE,
                         "--method smc: %d steps led to the power %g only",
                         a->steps, power);
}

static void find_logliks(struct rt_chains *r, struct smc *t)
{
    int n = r->in.nchains;
#pragma omp parallel for num_threads(r->rt->threads) schedule(static)
    for (int c = 0; c < n; c++) {
        double x = rt_loglikelihood(&r->in, rt_state(&r->in, t->states, c), c);
        t->loglik[c] = x == x ? x : -(double)INFINITY;
    }
}

/* Of log likelihoods before and after, within islands. */
static double correlation(const struct smc *t)
{
    double xx = 0, yy = 0, xy = 0;
    for (int k = 0; k < t->islands; k++) {
        const double *x = t->before + k * t->particles;
        const double *y = t->loglik + k * t->particles;
        double mx = 0, my = 0;
        for (int i = 0; i < t->particles; i++) {
            mx += x[i] / t->particles;
            my += y[i] / t->particles;
        }
        for (int i = 0; i < t->particles; i++) {
            xx += (x[i] - mx) * (x[i] - mx);
            yy += (y[i] - my) * (y[i] - my);
            xy += (x[i] - mx) * (y[i] - my);
        }
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
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
    if (rt->device->run(rt, &one) == GBM_OK)
        rt->device->get(rt);
    return rt->status;
}

/* What was tuned becomes the mean over an island's particles: none moves in a
 * way that depends on its own past, which would not leave the posterior as it
 * is, and all learn from all. */
static enum gbm_status share_tuning(struct rt_chains *r, const struct smc *t)
{
    int n = t->particles;
    for (int v = 0; v < r->in.model->nvariables; v++) {
        const struct rt_slot *slot = &r->in.slots[v];
        if (r->in.model->variables[v].role != GBM_TUNING)
            continue;
        for (int64_t i = 0; i < t->islands * slot->cells; i++) {
            int64_t island = i / slot->cells, cell = i % slot->cells;
            double *at = (double *)slot->values + island * n * slot->cells;
            double mean = 0;
            for (int p = 0; p < n; p++)
                mean += at[p * slot->cells + cell] / n;
            for (int p = 0; p < n; p++)
                at[p * slot->cells + cell] = mean;
        }
    }
    return r->rt->device->put(r->rt);
}

/* At least one sweep, and until little is left of the log likelihoods. */
static enum gbm_status move(struct rt_chains *r, struct smc *t)
{
    double left = 1;
    memcpy(t->before, t->loglik, (size_t)r->in.nchains * sizeof *t->before);
    if (r->rt->device->put(r->rt) != GBM_OK)
        return r->rt->status;
    for (int s = 0; s < MOST_SWEEPS && left > CORRELATION && !rt_stopped();
         s++) {
        if (move_once(r, t, false, NULL) != GBM_OK ||
            (t->tunes && share_tuning(r, t) != GBM_OK))
            break;
        find_logliks(r, t);
        left = correlation(t);
    }
    t->left = fmax(t->left, left);
    return r->rt->status;
}

static bool arrived(const struct smc *t)
{
    for (int k = 0; k < t->islands; k++)
        if (t->island[k].power < 1)
            return false;
    return true;
}

/* From the prior to the posterior. */
static enum gbm_status travel(struct rt_chains *r, struct smc *t)
{
    for (int c = 0; c < r->in.nchains; c++) {
        void *state = rt_state(&r->in, t->states, c);
        rt_draw_latent(r->rt, &r->in, state, c, (uint32_t)c, PRIOR_STREAM);
        rt_refresh(&r->in, state, c);
        t->eve[c] = c % t->particles;
    }
    find_logliks(r, t);
    while (!arrived(t) && !rt_stopped() && r->rt->status == GBM_OK) {
        for (int k = 0; k < t->islands && r->rt->status == GBM_OK; k++)
            step_island(r, t, k);
        if (r->rt->status == GBM_OK)
            move(r, t);
    }
    return r->rt->status;
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
    t->loglik = calloc(n, sizeof *t->loglik);
    t->before = calloc(n, sizeof *t->before);
    t->eve = calloc(n, sizeof *t->eve);
    t->weight = calloc(p, sizeof *t->weight);
    t->ancestor = calloc(p, sizeof *t->ancestor);
    t->lp = calloc(n, sizeof *t->lp);
    t->row = calloc(n * (size_t)r->in.row + 1, sizeof *t->row);
    t->states = rt_states_create(&r->in);
    return t->island && t->loglik && t->before && t->eve && t->weight &&
           t->ancestor && t->lp && t->row && t->states;
}

static void release(struct rt_chains *r)
{
    struct smc *t = r->own;
    if (!t)
        return;
    free(t->island);
    free(t->loglik);
    free(t->before);
    free(t->eve);
    free(t->weight);
    free(t->ancestor);
    free(t->lp);
    free(t->row);
    free(t->states);
    free(t);
    r->own = NULL;
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

/* Of the mean of the islands' evidences. */
static void evidence(const struct smc *t, double *value, double *se)
{
    double most = -(double)INFINITY, sum = 0, variance = 0;
    for (int k = 0; k < t->islands; k++)
        most = fmax(most, t->island[k].log_evidence);
    for (int k = 0; k < t->islands; k++) {
        double z = exp(t->island[k].log_evidence - most);
        sum += z;
        variance += z * z * t->island[k].variance;
    }
    *value = most + log(sum / t->islands);
    *se = sqrt(variance) / sum;
}

static void report(struct rt_chains *r, FILE *out, FILE *json)
{
    struct smc *t = r->own;
    double value, se;
    int steps = 0;
    for (int k = 0; k < t->islands; k++)
        steps = steps > t->island[k].steps ? steps : t->island[k].steps;
    evidence(t, &value, &se);
    fprintf(out,
            "smc: %d island%s of %d particles, %d steps, %u sweeps\n"
            "log evidence: %.4f, standard error %.2g; by island:",
            t->islands, t->islands == 1 ? "" : "s", t->particles, steps,
            t->sweep, value, se);
    for (int k = 0; k < t->islands; k++)
        fprintf(out, " %.3f", t->island[k].log_evidence);
    rt_put_evidence(json, &r->draws, value, se);
    fprintf(json,
            ",\n  \"smc\": {\"particles\": %d, \"steps\": %d, \"sweeps\": "
            "%u,\n    \"log_evidence\": [",
            t->particles, steps, t->sweep);
    for (int k = 0; k < t->islands; k++)
        fprintf(json, "%s%.10g", k ? ", " : "", t->island[k].log_evidence);
    fprintf(json, "]}");
    fputc('\n', out);
    if (t->left > CORRELATION)
        fprintf(out,
                "Warning: %d sweeps left log likelihoods correlated by %.2f "
                "with those before:\n  the sweep mixes slowly.\n",
                MOST_SWEEPS, t->left);
    if (se > 0.5)
        fprintf(out, "Warning: few of the first particles have descendants; "
                     "the evidence is rough. Take\n  more --particles.\n");
}

const struct rt_method rt_smc = {
    .name = "smc",
    .help = "particles from the prior to the posterior, by steps: evidence",
    .with = GBM_WITH_POWERS,
    .run = rt_run_chains,
    .replicas = replicas,
    .more = "--particles",
    .prepare = prepare,
    .advance = advance,
    .report = report,
    .release = release,
};
