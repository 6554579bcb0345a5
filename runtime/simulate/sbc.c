/* sbc.c: simulation-based calibration (Talts et al. 2018): parameters from the
 * prior, data from them, and the posterior of these data by a chain of its own.
 * Over replicates the rank of a parameter among draws of its posterior is
 * uniform, if model, sampler and its warm-up are right. A rank is among draws
 * far enough apart to be nearly independent (the same, section 5.1). Ranked is
 * the deviance of the data, too: it depends on parameters and data, so it sees
 * a sampler that forgets data (Modrak et al. 2023, Simulation-based calibration
 * checking for Bayesian computation: the choice of test quantities shapes
 * sensitivity, Bayesian Analysis). */
#include "simulate/sbc.h"
#include "io/data.h"
#include "io/output.h"
#include "summary/diagnostics.h"
#include "gbm.h"
#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPLICATES 500
#define RANKED 99       /* so that ranks are 0 ... 99 */
#define SPARE 4         /* draws for each that is ranked, as a rule */
#define LONGEST 64      /* draws for each that is ranked, at most */
#define ENOUGH 0.95     /* of the replicates have as many effective draws */
#define PER_VARIABLE 20 /* elements that are compared unasked */
#define TOGETHER 100    /* chains of the CPU at most */
#define BYTES 1e9       /* of a batch there, at most */
#define BYTES_MANY 4e9  /* the same of a GPU, which has all at once */
#define WORTH_THREADS 100000 /* values and densities: some milliseconds */
#define BLOCK 50             /* sweeps of warm-up at once */
#define FAR 1e20             /* and near 0 */
#define TRIES 50             /* forward draws until one is usable */
#define APART UINT64_C(0x9E3779B97F4A7C15) /* between seeds */

/* ---- what is compared ---- */

/* Unasked, some elements of each array. */
static void thin_monitors(struct rt_sbc *s)
{
    struct rt_instance *in = &s->in;
    FILE *notes = s->rt->options.quiet ? NULL : stderr;
    in->row = 0;
    for (int k = 0; k < in->nmonitors; k++) {
        struct rt_monitor *m = &in->monitors[k];
        int64_t n = m->count < PER_VARIABLE ? m->count : PER_VARIABLE;
        int64_t *cells =
            n < m->count ? malloc((size_t)n * sizeof *cells) : NULL;
        m->offset = in->row;
        in->row += cells ? n : m->count;
        if (!cells)
            continue;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = i * m->count / n;
            cells[i] = m->cells ? m->cells[at] : at;
        }
        if (notes)
            fprintf(notes,
                    "note: %lld of the %lld elements of %s are ranked; "
                    "--monitor names others\n",
                    (long long)n, (long long)m->count,
                    in->model->variables[m->variable].name);
        free(m->cells);
        m->cells = cells;
        m->count = n;
    }
}

static enum gbm_status choose_quantities(struct rt_sbc *s)
{
    struct rt *rt = s->rt;
    const struct gbm_model *m = s->in.model;
    if (rt_monitor(rt, &s->in, rt->options.quiet ? NULL : stderr) != GBM_OK)
        return rt->status;
    if (!rt->options.monitor)
        thin_monitors(s);
    for (int v = 0; v < m->nvariables; v++)
        s->in.deviance =
            s->in.deviance || (m->variables[v].role == GBM_STOCHASTIC &&
                               rt_any_seen(&s->in.slots[v]));
    if (!s->in.deviance)
        return rt_fail(rt, GBM_USER_ERROR,
                       "sbc: no node is observed: --data has to say which are, "
                       "whatever their values");
    if (rt_monitor_draws(rt, &s->in, &s->data, &s->draws) != GBM_OK)
        return rt->status;
    return rt_pointwise_prepare(&s->pointwise, rt, &s->in, &s->draws,
                                rt->options.quiet ? NULL : stderr);
}

/* Data that the program was told of when it was compiled are constants in it.
 */
static enum gbm_status check_known(struct rt *rt)
{
    const struct gbm_model *m = rt->model;
    for (int v = 0; v < m->nvariables; v++)
        if (m->variables[v].role == GBM_GIVEN && m->variables[v].follows)
            return rt_fail(rt, GBM_USER_ERROR,
                           "%s: sbc draws data anew, but gbmc --data told that "
                           "%s is data: compile the model without --data",
                           m->variables[v].where, m->variables[v].name);
    return GBM_OK;
}

struct reader {
    const struct rt_instance *in;
    bool random; /* something random is read */
};

static void note_random(void *context, int variable, int64_t cell)
{
    struct reader *r = context;
    (void)cell;
    r->random = r->random || r->in->slots[variable].per_chain;
}

/* What is drawn between the bounds of I(,) does not have the density that this
 * stands for, but for a factor: the probability of lying there. That matters
 * where it changes. */
static enum gbm_status check_censored(struct rt *rt,
                                      const struct rt_instance *in)
{
    void *state = calloc(1, in->model->state_size + 1);
    if (!state)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt_bind(in, state, 0);
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        struct reader r = {.in = in};
        bool asked = fam->censored && !fam->data_block && fam->parents;
        for (int64_t e = 0; asked && e < in->elements[f] && !r.random; e++)
            fam->parents(state, e, note_random, &r);
        if (r.random)
            rt_fail(rt, GBM_USER_ERROR,
                    "%s: sbc cannot draw what I(,) says was seen: write "
                    "dinterval for censoring, T(,) for a truncated "
                    "distribution\n    %s",
                    fam->where, fam->text);
    }
    free(state);
    return rt->status;
}

static enum gbm_status check_options(struct rt *rt)
{
    const struct rt_options *o = &rt->options;
    if (o->power != 1 || o->temper)
        return rt_fail(rt, GBM_USER_ERROR,
                       "sbc is of the posterior, without %s",
                       o->temper ? "--temper" : "--power");
    if (o->chains_given && o->chains != 1)
        return rt_fail(rt, GBM_USER_ERROR,
                       "sbc runs a chain for each of --replicates N data sets; "
                       "--chains says nothing more");
    if (o->ninit > 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "sbc finds the starting values of each replicate "
                       "itself: --init is of run");
    return GBM_OK;
}

static enum gbm_status check_file(struct rt *rt)
{
    const char *out = rt->options.out;
    size_t n = out ? strlen(out) : 0;
    char error[GBM_ERROR];
    if (!out)
        return GBM_OK;
    if (n < 5 || strcmp(out + n - 5, ".json") != 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--out %s: sbc writes JSON: --out FILE.json", out);
    enum gbm_status s = rt_target_try(out, error);
    return s == GBM_OK ? s : rt_fail(rt, s, "%s", error);
}

/* ---- truths ---- */

static bool is_number(const struct gbm_variable *v, double x)
{
    return !isnan(x) && !(v->integer && x == (double)INT32_MIN);
}

/* Whether a posterior is to be had of what was drawn forward: all are numbers,
 * data so large that their squares overflow apart, and the density is not 0.
 * Leaving out replicates for their data is exact, and so is leaving out those
 * of density 0. */
static bool usable(const struct rt_instance *in, const void *state, int chain)
{
    const struct gbm_model *m = in->model;
    for (int v = 0; v < m->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (m->variables[v].role != GBM_STOCHASTIC || !slot->per_chain)
            continue;
        for (int64_t i = 0; i < slot->cells; i++) {
            double x = rt_value(slot, m->variables[v].integer, chain, i);
            if (slot->defined && !slot->defined[i])
                continue;
            if (!is_number(&m->variables[v], x) ||
                (rt_seen(slot, i) && fabs(x) >= 1e70))
                return false;
        }
    }
    return isfinite(rt_logdensity(in, state, false, 1));
}

/* Values so far out that data are lost to rounding beside them. */
static bool extreme(const struct rt_instance *in, int chain)
{
    const struct gbm_model *m = in->model;
    for (int v = 0; v < m->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (m->variables[v].role != GBM_STOCHASTIC || !slot->per_chain ||
            m->variables[v].integer)
            continue;
        for (int64_t i = 0; i < slot->cells; i++) {
            double x = fabs(rt_value(slot, false, chain, i));
            if (!rt_seen(slot, i) && !(slot->defined && !slot->defined[i]) &&
                (x > FAR || x < 1 / FAR))
                return true;
        }
    }
    return false;
}

static enum gbm_status draw_truths(struct rt_sbc *s)
{
    struct rt *rt = s->rt;
    const struct rt_instance *in = &s->in;
    int64_t dropped = 0, hopeless = 0, far = 0;
    rt->options.seed = s->seed;
#pragma omp parallel for num_threads(rt->threads) schedule(dynamic)            \
    reduction(+ : dropped, hopeless, far)
    for (int c = 0; c < in->nchains; c++) {
        const void *state = rt_state(in, s->states, c);
        bool found = false;
        for (int try = 0; try < TRIES && !found; try++) {
            rt_simulate_chain(rt, in, state, c, (uint32_t)(s->done + c),
                              (uint32_t)try);
            found = usable(in, state, c);
            dropped += !found;
        }
        hopeless += !found;
        far += found && extreme(in, c);
    }
    s->extreme += far;
    s->dropped += dropped;
    s->forward += in->nchains + dropped - hopeless;
    if (hopeless)
        return rt_fail(rt, GBM_USER_ERROR,
                       "the priors are too vague to simulate from: %d forward "
                       "draws in a row overflowed or had a density of 0; give "
                       "priors that tell what is known, in the model or as "
                       "--prior 'tau ~ dgamma(3, 3)' to gbm sbc or gbmc",
                       TRIES);
    return GBM_OK;
}

/* The quantities of all chains, as they stand, become draw `k`: by one thread
 * where that takes no longer than it does to wake others. */
static void store(struct rt_sbc *s, int k)
{
    const struct rt_instance *in = &s->in;
    const struct rt_block block = {.draws = gbm_draws_record(&s->draws, 0, k),
                                   .chain_stride = (int64_t)s->draws.capacity *
                                                   s->draws.width};
    const int64_t work = in->nchains * (in->row + s->pointwise.count);
    const int threads = work < WORTH_THREADS ? 1 : s->rt->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int c = 0; c < in->nchains; c++)
        rt_keep(in, &block, rt_state(in, s->states, c), c, 0, 1);
    rt_pointwise_keep(&s->pointwise, in, &s->draws, k, threads);
}

static void keep_truths(struct rt_sbc *s)
{
    size_t width = (size_t)s->draws.width;
    store(s, 0);
    for (int c = 0; c < s->in.nchains; c++)
        memcpy(s->truth + (size_t)c * width, gbm_draws_record(&s->draws, c, 0),
               width * sizeof *s->truth);
}

/* All but the data goes back to what it was when the model was loaded: the
 * chains know nothing of the truth, nor of the batch before. */
static void forget_truths(const struct rt_sbc *s)
{
    const struct rt_instance *in = &s->in;
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        bool integer = in->model->variables[v].integer;
        size_t size = integer ? sizeof(int) : sizeof(double);
        if (!slot->per_chain)
            continue;
        for (int64_t i = 0; i < in->nchains * slot->cells; i++)
            if (!rt_seen(slot, i % slot->cells))
                memcpy((char *)slot->values + (size_t)i * size,
                       (const char *)s->fresh[v] + (size_t)i * size, size);
    }
}

/* ---- chains ---- */

static void complete_draw(void *context, int chain, int64_t k)
{
    struct rt_sbc *s = context;
    rt_pointwise_keep_chain(&s->pointwise, &s->in, &s->draws,
                            s->draws.kept + (int)k, chain);
}

/* In blocks: a GPU's better programs take over between two, and Ctrl-C is heard
 * there. */
static enum gbm_status warm_up(struct rt_sbc *s, uint32_t *sweep)
{
    struct rt *rt = s->rt;
    const int total = rt->options.warmup;
    enum gbm_status status = GBM_OK;
    s->draws.kept = 0;
    for (int done = 0; done < total && status == GBM_OK && !rt_stopped();
         done += BLOCK) {
        const struct rt_block block = {
            .seed = rt->options.seed,
            .first = (uint32_t)done,
            .sweeps = total - done < BLOCK ? total - done : BLOCK,
            .adapting = true};
        status = rt->device->run(rt, &block);
    }
    *sweep = (uint32_t)total;
    return status;
}

/* Up to n more draws of all chains. The host's threads make those of a chain
 * without waiting for each other; other devices stop at each. */
static enum gbm_status draw(struct rt_sbc *s, uint32_t *sweep, int n)
{
    struct rt *rt = s->rt;
    const bool host = rt->device == &rt_host;
    struct rt_block block = {.seed = rt->options.seed,
                             .first = *sweep,
                             .sweeps = host ? n * s->apart : s->apart,
                             .thin = s->apart};
    if (host) {
        block.draws = gbm_draws_record(&s->draws, 0, s->draws.kept);
        block.chain_stride = (int64_t)s->draws.capacity * s->draws.width;
        block.draw_stride = s->draws.width;
        block.kept = complete_draw;
        block.context = s;
    }
    *sweep += (uint32_t)block.sweeps;
    enum gbm_status status = rt->device->run(rt, &block);
    if (status == GBM_OK && !host && (status = rt->device->get(rt)) == GBM_OK)
        store(s, s->draws.kept);
    s->draws.kept += host ? n : 1;
    return status;
}

/* Draws of one chain's quantity, NaN as the lowest value: a value like others.
 */
static void column(const struct rt_sbc *s, int chain, int64_t k, double *x)
{
    for (int i = 0; i < s->draws.kept; i++) {
        double value = gbm_draws_record(&s->draws, chain, i)[k];
        x[i] = isnan(value) ? -(double)INFINITY : value;
    }
}

/* Counts, for each quantity, the chains whose draws are worth fewer independent
 * ones than are ranked. What does not move is no matter. */
static enum gbm_status count_slow(struct rt_sbc *s, int *slow)
{
    int chains = s->in.nchains, failed = 0;
    int64_t width = s->draws.width;
    memset(slow, 0, (size_t)width * sizeof *slow);
#pragma omp parallel num_threads(s->rt->threads) reduction(| : failed)
    {
        struct gbm_diagnoser *g = gbm_diagnoser_create(1, s->draws.kept);
        double *x = malloc((size_t)s->draws.kept * sizeof *x);
        failed = !g || !x;
#pragma omp for schedule(dynamic)
        for (int64_t k = 0; k < width; k++)
            for (int c = 0; c < chains && !failed; c++) {
                struct gbm_diagnosis d;
                column(s, c, k, x);
                gbm_diagnose_with(g, x, &d);
                slow[k] += d.ess_bulk < s->ranked;
            }
        free(x);
        gbm_diagnoser_free(g);
    }
    return failed ? rt_fail(s->rt, GBM_FAILURE, "no memory") : GBM_OK;
}

/* Twice as many draws until they are worth enough independent ones. */
static enum gbm_status run_chains(struct rt_sbc *s, int *slow)
{
    uint32_t sweep = 0;
    enum gbm_status status = warm_up(s, &sweep);
    rt_clock_note("chains are warm");
    for (int want = s->ranked; status == GBM_OK; want *= 2) {
        while (status == GBM_OK && s->draws.kept < want && !rt_stopped())
            status = draw(s, &sweep, s->ranked);
        rt_clock_note("draws are made");
        if (status != GBM_OK || rt_stopped())
            break;
        status = count_slow(s, slow);
        int most = 0;
        for (int64_t k = 0; k < s->draws.width; k++)
            most = slow[k] > most ? slow[k] : most;
        if (most <= (1 - ENOUGH) * s->in.nchains ||
            2 * want > s->draws.capacity)
            break;
    }
    return status;
}

/* ---- ranks ---- */

/* Of the truth among draws that are evenly apart. Among equal values, as
 * discrete nodes have, its place is drawn. */
static int rank_of(const struct rt_sbc *s, int chain, int64_t k)
{
    int less = 0, equal = 0, apart = s->draws.kept / s->ranked;
    double truth = s->truth[chain * s->draws.width + k];
    struct gbm_rng rng;
    truth = isnan(truth) ? -(double)INFINITY : truth;
    for (int i = 1; i <= s->ranked; i++) {
        double x = gbm_draws_record(&s->draws, chain, i * apart - 1)[k];
        x = isnan(x) ? -(double)INFINITY : x;
        less += x < truth;
        equal += x == truth;
    }
    gbm_rng_start(&rng, ~s->seed, (uint32_t)(s->done + chain), 0, 0,
                  (uint32_t)k);
    int place = (int)(gbm_uniform(&rng) * (equal + 1));
    return less + (place > equal ? equal : place);
}

/* The chains of a batch, each with data of its own, from their start on. A
 * device's compiler is at work while data are drawn. */
static enum gbm_status run_device(struct rt_sbc *s, FILE *notes, int *slow)
{
    struct rt *rt = s->rt;
    if (notes)
        fprintf(notes, "%s: %d of %d replicates at a time on %s\n",
                rt->model->name, s->batch, s->replicates, rt->device_text);
    if (draw_truths(s) != GBM_OK)
        return rt->status;
    keep_truths(s);
    forget_truths(s);
    rt_clock_note("data are drawn");
    rt->options.seed = s->seed + APART * (uint64_t)(s->done + 1);
    if (rt_start(rt, &s->in, NULL) != GBM_OK) {
        char why[sizeof rt->message];
        snprintf(why, sizeof why, "%s", rt->message);
        rt->status = GBM_OK;
        return rt_fail(rt, GBM_USER_ERROR,
                       "sbc: of data that were simulated from the prior: "
                       "%.1500s",
                       why);
    }
    if (!rt->options.plain)
        rt_pilot(rt, &s->in);
    rt_clock_note("chains have started");
    enum gbm_status status = rt_load_device(rt, &s->in, notes);
    return status == GBM_OK ? run_chains(s, slow) : status;
}

static enum gbm_status run_batch(struct rt_sbc *s, int *slow)
{
    struct rt *rt = s->rt;
    FILE *notes = rt->options.quiet || s->done > 0 ? NULL : stderr;
    enum gbm_status status = rt_open_device(rt, &s->in, notes);
    if (status != GBM_OK)
        return status;
    status = run_device(s, notes, slow);
    rt->device->close(rt);
    if (status != GBM_OK || rt_stopped())
        return status;
    int lag = s->draws.kept / s->ranked * s->apart;
    s->lag = lag > s->lag ? lag : s->lag;
    if (lag / SPARE > s->apart) /* the next batch keeps no more than it needs */
        s->apart = lag / SPARE;
    for (int64_t k = 0; k < s->draws.width; k++) {
        s->slow[k] += slow[k];
        for (int c = 0; c < s->in.nchains; c++)
            s->ranks[k * s->replicates + s->done + c] = rank_of(s, c, k);
    }
    s->done += s->in.nchains;
    return GBM_OK;
}

/* ---- the command ---- */

/* Batches are alike, so that there are as many replicates as asked for, or a
 * few more. */
static enum gbm_status load(struct rt_sbc *s, int batch)
{
    struct rt *rt = s->rt;
    s->batch = batch;
    rt->options.chains = batch;
    gbm_draws_init(&s->draws);
    enum gbm_status status = rt_load_free(rt, &s->data, &s->in, false);
    if (status == GBM_OK)
        status = rt_check_draws(rt, &s->in);
    if (status == GBM_OK)
        status = check_censored(rt, &s->in);
    return status == GBM_OK ? choose_quantities(s) : status;
}

static void unload(struct rt_sbc *s)
{
    rt_pointwise_free(&s->pointwise, &s->in);
    gbm_draws_free(&s->draws);
    rt_forget(&s->in, s->fresh);
    free(s->states);
    s->fresh = NULL;
    s->states = NULL;
    if (s->in.model)
        rt_instance_free(&s->in);
    s->in = (struct rt_instance){0};
    gbm_data_free(&s->data);
    s->data = (struct gbm_data){0};
}

/* How many replicates a batch has room for; the model is loaded with one chain
 * to know its quantities. */
static int choose_batch(const struct rt_sbc *s)
{
    const bool many = strncmp(s->rt->options.device, "cuda", 4) == 0;
    double cells = (double)LONGEST * s->ranked * (double)s->draws.width;
    for (int v = 0; v < s->in.model->nvariables; v++)
        if (s->in.slots[v].per_chain)
            cells += (double)s->in.slots[v].cells;
    double room = (many ? BYTES_MANY : BYTES) / (8 * cells);
    int most = many ? s->replicates : TOGETHER;
    if (room < most)
        most = room < 1 ? 1 : (int)room;
    int batches = (s->replicates + most - 1) / most;
    return (s->replicates + batches - 1) / batches;
}

static enum gbm_status prepare(struct rt_sbc *s)
{
    struct rt *rt = s->rt;
    struct rt_options *o = &rt->options;
    /* A GPU pays for more replicates than there are unasked: its sweep of a
     * small model takes as long for one chain as for thousands. */
    if (strcmp(o->device, "auto") == 0)
        o->device = "cpu";
    s->replicates = o->replicates ? o->replicates : REPLICATES;
    s->ranked = o->draws_given ? o->draws : RANKED;
    s->seed = o->seed;
    s->apart = o->thin;
    if (check_options(rt) != GBM_OK || check_known(rt) != GBM_OK ||
        check_file(rt) != GBM_OK)
        return rt->status;
    if (o->ndata == 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "sbc needs --data: which nodes are observed, and what "
                       "is given; the values of observed nodes do not matter");
    const bool quiet = o->quiet;
    enum gbm_status status = load(s, 1);
    int batch = status == GBM_OK ? choose_batch(s) : 1;
    if (status == GBM_OK && batch > 1) {
        unload(s);
        rt->options.quiet = true; /* it has been said */
        status = load(s, batch);
        rt->options.quiet = quiet;
    }
    if (status != GBM_OK)
        return status;
    s->replicates = (s->replicates + batch - 1) / batch * batch;
    size_t width = (size_t)s->draws.width;
    s->states = rt_states_create(&s->in);
    s->fresh = rt_save(&s->in);
    s->truth = malloc((size_t)batch * width * sizeof *s->truth);
    s->ranks = malloc((size_t)s->replicates * width * sizeof *s->ranks);
    s->slow = calloc(width, sizeof *s->slow);
    if (!s->states || !s->fresh || !s->truth || !s->ranks || !s->slow ||
        gbm_draws_allocate(&s->draws, batch, LONGEST * s->ranked) != GBM_OK)
        return rt_fail(rt, GBM_FAILURE, "no memory for %d chains", batch);
    return GBM_OK;
}

static enum gbm_status run_all(struct rt_sbc *s)
{
    struct rt *rt = s->rt;
    int *slow = malloc((size_t)s->draws.width * sizeof *slow);
    enum gbm_status status =
        slow ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
    rt_catch_signals();
    while (status == GBM_OK && s->done < s->replicates && !rt_stopped()) {
        status = run_batch(s, slow);
        if (!rt->options.quiet && rt->options.progress != RT_PROGRESS_NONE &&
            s->done < s->replicates)
            fprintf(stderr, "%d of %d replicates\n", s->done, s->replicates);
    }
    free(slow);
    if (status == GBM_OK && rt_stopped())
        status = rt_fail(rt, GBM_FAILURE,
                         "stopped after %d of %d replicates: there is no "
                         "verdict",
                         s->done, s->replicates);
    return status;
}

int rt_command_sbc(struct rt *rt)
{
    struct rt_sbc s = {.rt = rt};
    if (prepare(&s) == GBM_OK && run_all(&s) == GBM_OK)
        rt_sbc_report(&s);
    unload(&s);
    free(s.truth);
    free(s.ranks);
    free(s.slow);
    return rt_report(rt);
}
