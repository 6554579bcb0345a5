/* simulate.c: forward simulation of the whole model from the prior, and of new
 * data given draws of the posterior, which it makes; predict.c has those of an
 * earlier run. */
#include "simulate/simulate.h"
#include "io/data.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- forward simulation ---- */

/* What is drawn, and by which random numbers. */
struct forward {
    const struct rt *rt;
    const struct rt_instance *in;
    const void *state;
    int chain;
    uint32_t replicate, stream;
    const struct rt_instance *observed; /* no more than what is observed there;
                                           NULL: all */
    bool latent;                        /* only what is not */
};

/* The slot that holds the variable's values for what reads them; -1: its own.
 */
static int known_slot(const struct rt_instance *in, int variable)
{
    const struct gbm_variable *all = in->model->variables;
    for (int v = 0; in->follows && v < in->model->nvariables; v++)
        if (all[v].follows && all[v].role == GBM_GIVEN &&
            all[v].whole == variable)
            return v;
    return -1;
}

static void set_no_draw(const struct rt_slot *slot, bool integer, int chain,
                        const struct rt_cells *cells, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        rt_set_value(slot, integer, chain, cells->cells[i],
                     integer ? (double)INT32_MIN : (double)NAN);
}

/* Rules that hold of data were asked when these were loaded; where what they
 * read is drawn, it may break them. */
static void draw_element(const struct forward *d, int f, int64_t e, int known,
                         struct rt_cells *buffer)
{
    const struct rt_instance *in = d->in;
    const struct gbm_family *fam = &in->model->families[f];
    const struct rt_slot *slot = &in->slots[fam->variable];
    bool integer = in->model->variables[fam->variable].integer;
    int64_t n = d->observed || d->latent || in->follows
                    ? rt_element_cells(fam, d->state, e, buffer)
                    : 0;
    bool wanted = !d->observed;
    for (int64_t i = 0; i < n && d->latent; i++)
        wanted = wanted && !rt_seen(slot, buffer->cells[i]);
    for (int64_t i = 0; i < n && d->observed && !wanted; i++)
        wanted = rt_seen(&d->observed->slots[fam->variable], buffer->cells[i]);
    if (!wanted)
        return;
    struct gbm_problem problem;
    if (in->follows && fam->check && !fam->check(d->state, e, &problem)) {
        set_no_draw(slot, integer, d->chain, buffer, n);
    } else {
        struct gbm_rng rng;
        gbm_rng_start(&rng, d->rt->options.seed, d->replicate,
                      UINT32_MAX - 1000 - d->stream, (uint32_t)f, (uint32_t)e);
        fam->simulate(d->state, &rng, e);
    }
    for (int64_t i = 0; i < n && known >= 0; i++)
        rt_set_value(&in->slots[known], integer, 0, buffer->cells[i],
                     rt_value(slot, integer, d->chain, buffer->cells[i]));
}

/* One pass over the statements; the same numbers at every pass. */
static void draw_once(const struct forward *d)
{
    const struct rt_instance *in = d->in;
    const struct gbm_model *m = in->model;
    struct rt_cells buffer = {0};
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        const struct gbm_variable *variable = &m->variables[fam->variable];
        bool follows = in->follows && (variable->follows || fam->follows);
        bool fixed = fam->data_block || variable->role == GBM_CONSTANT;
        if (fam->auxiliary || (fixed && !follows) ||
            (!fam->stochastic && !follows && in->nmonitors == 0 &&
             !rt_is_read(m, f)))
            continue;
        int known = fam->stochastic ? known_slot(in, fam->variable) : -1;
        for (int64_t e = 0; e < in->elements[f]; e++)
            if (fam->stochastic)
                draw_element(d, f, e, known, &buffer);
            else
                fam->derive(d->state, e);
    }
    free(buffer.cells);
}

/* Hash (FNV-1a) of a chain's random cells, and of what follows them. */
static uint64_t fingerprint(const struct rt_instance *in, int chain)
{
    uint64_t hash = 14695981039346656037u;
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct gbm_variable *variable = &in->model->variables[v];
        const struct rt_slot *slot = &in->slots[v];
        size_t size = variable->integer ? sizeof(int) : sizeof(double);
        if (!(variable->role == GBM_STOCHASTIC && slot->per_chain) &&
            !(in->follows && variable->follows))
            continue;
        int64_t first = slot->per_chain ? chain * slot->cells : 0;
        const unsigned char *bytes =
            (const unsigned char *)slot->values + (size_t)first * size;
        for (size_t i = 0; i < (size_t)slot->cells * size; i++)
            hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    return hash;
}

static void draw(const struct forward *d)
{
    draw_once(d);
    if (!d->in->model->feeds_back)
        return;
    uint64_t before, after = fingerprint(d->in, d->chain);
    do {
        before = after;
        draw_once(d);
        after = fingerprint(d->in, d->chain);
    } while (after != before);
}

void rt_simulate_chain(const struct rt *rt, const struct rt_instance *in,
                       const void *state, int chain, uint32_t replicate,
                       uint32_t stream)
{
    draw(&(struct forward){.rt = rt,
                           .in = in,
                           .state = state,
                           .chain = chain,
                           .replicate = replicate,
                           .stream = stream});
}

void rt_draw_latent(const struct rt *rt, const struct rt_instance *in,
                    const void *state, int chain, uint32_t replicate,
                    uint32_t stream)
{
    draw(&(struct forward){.rt = rt,
                           .in = in,
                           .state = state,
                           .chain = chain,
                           .replicate = replicate,
                           .stream = stream,
                           .latent = true});
}

enum gbm_status rt_check_draws(struct rt *rt, const struct rt_instance *in)
{
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (fam->no_draw && !fam->data_block && in->elements[f] > 0)
            return rt_fail(rt, GBM_USER_ERROR,
                           "%s: the model cannot be simulated: the "
                           "distribution has no clause draw\n    %s",
                           fam->where, fam->text);
    }
    return GBM_OK;
}

/* What was told to be data when the model was compiled is drawn, and what reads
 * it reads the draws; but for those that the arrays' shapes depend on, or which
 * element is read, as of data nobody asks again whether there is one. */
static enum gbm_status follow_known(struct rt *rt, struct rt_instance *in)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct gbm_variable *variable = &in->model->variables[v];
        in->follows = in->follows || variable->follows;
        if (variable->shapes && variable->role == GBM_GIVEN)
            return rt_fail(rt, GBM_USER_ERROR,
                           "%s: the model cannot be simulated as it was "
                           "compiled: %s, which is data to what reads it, is "
                           "a subscript or the end of a range; if gbmc --data "
                           "told so, compile it without",
                           variable->where, variable->name);
    }
    return GBM_OK;
}

/* What holds of data whatever is drawn: subscripts in range, rules of
 * parameters; of the families that are stochastic, or of the others. */
static enum gbm_status
check_elements(struct rt *rt, const struct rt_instance *in, bool stochastic)
{
    void *state = calloc(1, in->model->state_size + 1);
    enum gbm_status s = state ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
    if (state)
        rt_bind(in, state, 0);
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        struct gbm_problem problem;
        if (!fam->check || fam->stochastic != stochastic)
            continue;
        for (int64_t e = 0; s == GBM_OK && e < in->elements[f]; e++)
            if (!fam->check(state, e, &problem)) {
                char name[256];
                rt_element_name(in, state, f, e, name, sizeof name);
                bool named = strstr(problem.text, name) != NULL;
                s = rt_fail(rt, GBM_USER_ERROR, "%s: %s%s%s", fam->where,
                            named ? "" : name, named ? "" : ": ", problem.text);
            }
    }
    free(state);
    return s;
}

/* No cell of a random variable is observed but those that are computed at load.
 */
static enum gbm_status forget_data(struct rt *rt, const struct rt_instance *in)
{
    const struct gbm_model *m = in->model;
    void *state = calloc(1, m->state_size + 1);
    struct rt_cells buffer = {0};
    if (!state)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt_bind(in, state, 0);
    for (int v = 0; v < m->nvariables; v++) {
        struct rt_slot *slot = &in->slots[v];
        bool any = false;
        if (m->variables[v].role != GBM_STOCHASTIC || !slot->seen)
            continue;
        memset(slot->seen, 0, (size_t)slot->cells);
        for (int f = 0; f < m->nfamilies; f++) {
            const struct gbm_family *fam = &m->families[f];
            if (fam->variable != v || !fam->data_block || fam->follows)
                continue;
            for (int64_t e = 0; e < in->elements[f]; e++) {
                int64_t n = rt_element_cells(fam, state, e, &buffer);
                any = any || n > 0;
                for (int64_t i = 0; i < n; i++)
                    slot->seen[buffer.cells[i]] = RT_SEEN;
            }
        }
        if (any)
            continue;
        free(slot->seen);
        slot->seen = NULL;
    }
    free(buffer.cells);
    free(state);
    return GBM_OK;
}

enum gbm_status rt_load_free(struct rt *rt, struct gbm_data *data,
                             struct rt_instance *in, bool forget_seen)
{
    FILE *notes = rt->options.quiet ? NULL : stderr;
    enum gbm_status s = rt_read_data(rt, data, notes);
    if (s == GBM_OK)
        s = rt_load(rt, data, true, in, notes);
    if (s == GBM_OK)
        s = check_elements(rt, in, false);
    if (s == GBM_OK && forget_seen)
        s = forget_data(rt, in);
    if (s == GBM_OK)
        s = check_elements(rt, in, true);
    return s == GBM_OK && forget_seen ? follow_known(rt, in) : s;
}

/* Of no draw, too, an integer says that it is none (gbm_whole). */
static double drawn(const struct rt_slot *slot, bool integer, int chain,
                    int64_t cell)
{
    double x = rt_value(slot, integer, chain, cell);
    return integer && x == (double)INT32_MIN ? (double)NAN : x;
}

void rt_store_draw(const struct rt_instance *in, struct gbm_draws *draws,
                   int chain, int draw)
{
    double *record = gbm_draws_record(draws, chain, draw);
    for (int k = 0; k < in->nmonitors; k++) {
        const struct rt_monitor *m = &in->monitors[k];
        bool integer = in->model->variables[m->variable].integer;
        for (int64_t i = 0; i < m->count; i++)
            record[m->offset + i] = drawn(&in->slots[m->variable], integer,
                                          chain, m->cells ? m->cells[i] : i);
    }
}

static void add_missing(struct gbm_missing *all, const struct rt_instance *in,
                        const void *state, int f, int64_t e, int chain,
                        int draw)
{
    const struct gbm_family *fam = &in->model->families[f];
    if (all->n++ > 0 &&
        (chain > all->chain || (chain == all->chain && draw >= all->draw)))
        return;
    all->chain = chain;
    all->draw = draw;
    all->family = fam;
    all->integer = in->model->variables[fam->variable].integer;
    rt_element_name(in, state, f, e, all->name, sizeof all->name);
}

void rt_count_missing(struct gbm_missing *all, const struct rt_instance *in,
                      const void *state, int chain, int draw,
                      struct rt_cells *buffer)
{
    const struct gbm_model *m = in->model;
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        const struct gbm_variable *v = &m->variables[fam->variable];
        const struct rt_slot *slot = &in->slots[fam->variable];
        if (!fam->stochastic || fam->data_block || fam->auxiliary ||
            !slot->per_chain)
            continue;
        for (int64_t e = 0; e < in->elements[f]; e++) {
            int64_t n = rt_element_cells(fam, state, e, buffer);
            bool missing = false;
            for (int64_t i = 0; i < n && !missing; i++)
                missing =
                    isnan(drawn(slot, v->integer, chain, buffer->cells[i]));
            if (!missing)
                continue;
#pragma omp critical
            add_missing(all, in, state, f, e, chain, draw);
        }
    }
}

void rt_report_missing(struct rt *rt, const struct gbm_missing *m)
{
    if (m->n == 0 || rt->status != GBM_OK)
        return;
    rt_fail(rt, GBM_FAILURE,
            "%s: %s, draw %d of chain %d, is not a number: its parameters "
            "allow none%s\n    %s\n  %lld such in all; the rest of what was "
            "drawn is kept",
            m->family->where, m->name, m->draw + 1, m->chain + 1,
            m->integer ? " that an integer holds" : "", m->family->text,
            (long long)m->n);
}

/* Chains share what follows the draws. */
static int threads_for(const struct rt *rt, const struct rt_instance *in)
{
    return in->follows ? 1 : rt->threads;
}

static void simulate_draws(struct rt *rt, const struct rt_instance *in,
                           char *states, struct gbm_draws *draws,
                           struct gbm_missing *missing)
{
    int lp = rt->options.lp ? gbm_draws_add_stat(draws, "lp", false) : -1;
#pragma omp parallel for num_threads(threads_for(rt, in)) schedule(dynamic)
    for (int c = 0; c < in->nchains; c++) {
        void *state = rt_state(in, states, c);
        struct rt_cells buffer = {0};
        for (int i = 0; i < draws->capacity && rt->status == GBM_OK; i++) {
            rt_simulate_chain(rt, in, state, c, (uint32_t)c,
                              (uint32_t)i + 1000);
            rt_count_missing(missing, in, state, c, i, &buffer);
            rt_store_draw(in, draws, c, i);
            if (lp >= 0)
                draws->stats[lp].values[(int64_t)c * draws->capacity + i] =
                    rt_logdensity(in, state, false, 1);
        }
        free(buffer.cells);
    }
    draws->kept = draws->capacity;
    draws->complete = true;
}

static int simulate_prior(struct rt *rt)
{
    struct gbm_data data = {0};
    struct rt_instance in = {0};
    struct gbm_draws draws;
    char *states = NULL;
    gbm_draws_init(&draws);
    enum gbm_status s = rt_load_free(rt, &data, &in, true);
    if (s == GBM_OK)
        s = rt_check_draws(rt, &in);
    if (s == GBM_OK)
        s = rt_monitor(rt, &in, rt->options.quiet ? NULL : stderr);
    if (s == GBM_OK)
        s = rt_monitor_draws(rt, &in, &data, &draws);
    if (s == GBM_OK) {
        draws.warmup = 0;
        draws.nobserved = 0; /* they are simulated */
        for (int k = 0; k < in.nmonitors; k++)
            draws.variables[k].group =
                rt->model->variables[in.monitors[k].variable].observed
                    ? GBM_PRIOR_PREDICTIVE
                    : GBM_PRIOR;
        states = rt_states_create(&in);
        if (!states || gbm_draws_allocate(&draws, rt->options.chains,
                                          rt->options.draws) != GBM_OK)
            s = rt_fail(rt, GBM_FAILURE, "no memory for the draws");
    }
    if (s == GBM_OK) {
        struct gbm_missing missing = {0};
        simulate_draws(rt, &in, states, &draws, &missing);
        if (rt->status == GBM_OK)
            rt_deliver(rt, &draws);
        rt_report_missing(rt, &missing);
    }
    free(states);
    gbm_draws_free(&draws);
    if (in.model)
        rt_instance_free(&in);
    gbm_data_free(&data);
    return rt_report(rt);
}

/* ---- replicated data: posterior prediction ---- */

struct replica {
    struct rt *rt;
    struct gbm_data data, free_data;
    struct rt_instance in;   /* the posterior's: observed nodes are data */
    struct rt_instance copy; /* observed nodes are drawn */
    char *states;            /* of the copy */
    struct gbm_draws draws;
    struct gbm_missing missing;
};

enum gbm_status rt_monitor_those(struct rt *rt, struct rt_instance *in,
                                 const bool *wanted)
{
    const struct gbm_model *m = in->model;
    const char *asked = rt->options.monitor;
    size_t size = 1, at = 0;
    for (int v = 0; v < m->nvariables; v++)
        size += strlen(m->variables[v].name) + 1;
    char *list = calloc(size, 1);
    if (!list)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    for (int v = 0; v < m->nvariables; v++)
        if (wanted[v])
            at += (size_t)snprintf(list + at, size - at, "%s%s", at ? "," : "",
                                   m->variables[v].name);
    if (!asked && at > 0)
        rt->options.monitor = list;
    enum gbm_status s = rt_monitor(rt, in, NULL);
    rt->options.monitor = asked;
    free(list);
    return s;
}

/* The observed variables are what one wants to see replicated. */
static enum gbm_status monitor_observed(struct replica *r)
{
    const struct gbm_model *m = r->in.model;
    bool *wanted = calloc((size_t)m->nvariables + 1, sizeof *wanted);
    if (!wanted)
        return rt_fail(r->rt, GBM_FAILURE, "no memory");
    for (int v = 0; v < m->nvariables; v++)
        wanted[v] = m->variables[v].role == GBM_STOCHASTIC &&
                    rt_any_seen(&r->in.slots[v]);
    enum gbm_status s = rt_monitor_those(r->rt, &r->copy, wanted);
    free(wanted);
    return s;
}

static enum gbm_status prepare_states(struct replica *r)
{
    r->states = rt_states_create(&r->copy);
    return r->states ? GBM_OK : rt_fail(r->rt, GBM_FAILURE, "no memory");
}

/* The posterior's values of all random nodes, then new data given them. */
static void replicate(struct replica *r, int chain, int draws)
{
    const struct gbm_model *m = r->in.model;
    for (int v = 0; v < m->nvariables; v++)
        for (int64_t i = 0;
             m->variables[v].role == GBM_STOCHASTIC && i < r->in.slots[v].cells;
             i++)
            rt_set_value(
                &r->copy.slots[v], m->variables[v].integer, chain, i,
                rt_value(&r->in.slots[v], m->variables[v].integer, chain, i));
    draw(&(struct forward){r->rt, &r->copy,
                           rt_state(&r->copy, r->states, chain), chain,
                           (uint32_t)chain, (uint32_t)draws, &r->in, false});
    struct rt_cells buffer = {0};
    rt_count_missing(&r->missing, &r->copy,
                     rt_state(&r->copy, r->states, chain), chain, draws,
                     &buffer);
    free(buffer.cells);
    rt_store_draw(&r->copy, &r->draws, chain, draws);
}

static enum gbm_status prepare_replicas(struct replica *r)
{
    struct rt *rt = r->rt;
    const struct rt_options *o = &rt->options;
    enum gbm_status s = rt_read_data(rt, &r->data, NULL);
    if (s == GBM_OK)
        s = rt_load(rt, &r->data, false, &r->in, o->quiet ? NULL : stderr);
    if (s == GBM_OK)
        s = rt_load_free(rt, &r->free_data, &r->copy, true);
    if (s == GBM_OK)
        s = monitor_observed(r);
    if (s == GBM_OK)
        s = prepare_states(r);
    if (s == GBM_OK)
        s = rt_monitor_draws(rt, &r->copy, &r->data, &r->draws);
    for (int k = 0; s == GBM_OK && k < r->copy.nmonitors; k++)
        if (rt_any_seen(&r->in.slots[r->copy.monitors[k].variable]))
            r->draws.variables[k].group = GBM_POSTERIOR_PREDICTIVE;
    if (s == GBM_OK &&
        gbm_draws_allocate(&r->draws, o->chains,
                           (o->draws - 1) / o->thin + 1) != GBM_OK)
        s = rt_fail(rt, GBM_FAILURE, "no memory for the draws");
    if (s == GBM_OK)
        s = rt_start(rt, &r->in, NULL);
    rt->device = &rt_host;
    if (s == GBM_OK)
        s = rt_host.open(rt, "cpu");
    return s == GBM_OK ? rt_host.load(rt, &r->in) : s;
}

static void run_replicas(struct replica *r)
{
    struct rt *rt = r->rt;
    const struct rt_options *o = &rt->options;
    struct rt_block block = {
        .seed = o->seed, .sweeps = o->warmup, .adapting = true};
    rt_catch_signals();
    enum gbm_status s = rt_host.run(rt, &block);
    block = (struct rt_block){.seed = o->seed,
                              .first = (uint32_t)o->warmup,
                              .sweeps = o->thin,
                              .thin = o->thin};
    while (s == GBM_OK && !rt_stopped() && r->draws.kept < r->draws.capacity) {
        s = rt_host.run(rt, &block);
        block.first += (uint32_t)o->thin;
#pragma omp parallel for num_threads(threads_for(rt, &r->copy))                \
    schedule(dynamic)
        for (int c = 0; c < r->in.nchains; c++)
            replicate(r, c, r->draws.kept);
        r->draws.kept++;
    }
    r->draws.complete = s == GBM_OK && r->draws.kept == r->draws.capacity;
    if (r->draws.kept > 0)
        rt_deliver(rt, &r->draws);
    if (rt_stopped())
        rt_fail(rt, GBM_FAILURE, "stopped: the draws are incomplete");
    rt_report_missing(rt, &r->missing);
}

static int simulate_posterior(struct rt *rt)
{
    struct replica r = {.rt = rt};
    gbm_draws_init(&r.draws);
    if (prepare_replicas(&r) == GBM_OK)
        run_replicas(&r);
    rt_host.close(rt);
    free(r.states);
    gbm_draws_free(&r.draws);
    if (r.in.model)
        rt_instance_free(&r.in);
    if (r.copy.model)
        rt_instance_free(&r.copy);
    gbm_data_free(&r.data);
    gbm_data_free(&r.free_data);
    return rt_report(rt);
}

int rt_command_simulate(struct rt *rt)
{
    if (rt->options.from)
        return rt_predict(rt);
    return rt->options.posterior ? simulate_posterior(rt) : simulate_prior(rt);
}
