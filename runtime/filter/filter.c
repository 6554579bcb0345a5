/* filter.c: --method filter: the states of a model that runs along time given
 * the observations, by particles. The bootstrap filter (Gordon, Salmond and
 * Smith 1993): each particle draws what is new at a time from the model, the
 * densities of that time's observations weigh it, and where the effective
 * number of particles falls below half of them they are resampled (Liu and Chen
 * 1995). With --proposal guided observations have a say in what is drawn
 * (guide.c).
 *
 * A particle is a chain of the model. What resampling copies is what later
 * times read; what none reads any more stays where it is, and the ancestors
 * tell at the end whose it is. So a whole path is kept once, and time and
 * memory are linear in the number of times.
 *
 * The product over time of the mean weights estimates the likelihood without
 * bias (Del Moral 2004, section 7.4). Several filters are run, independent of
 * each other: the estimate is the mean of theirs, and they tell its error and
 * that of each mean. A filter counts by its likelihood. */
#include "filter/filter.h"
#include "options/method.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILTERS = 10 }; /* without --chains */

/* ---- setting up ---- */

/* What --init gives is known. */
static enum gbm_status set_inits(struct rt_filter *f)
{
    struct rt_starter *s = &f->starter;
    const struct gbm_model *m = f->in.model;
    const int ninit = f->rt->options.ninit;
    s->inits = calloc((size_t)ninit + 1, sizeof *s->inits);
    if (!s->inits)
        return rt_fail(f->rt, GBM_FAILURE, "no memory");
    if (ninit > 1)
        return rt_fail(f->rt, GBM_USER_ERROR,
                       "--method filter takes one --init FILE");
    enum gbm_status status = rt_start_read_inits(s, f->notes);
    if (status == GBM_OK)
        status = rt_start_use_init(s, ninit ? &s->inits[0] : NULL);
    for (int v = 0; status == GBM_OK && v < m->nvariables; v++)
        for (int64_t c = 0; s->init[v] && c < f->in.slots[v].cells; c++)
            if (!rt_seen(&f->in.slots[v], c) && rt_start_is_fixed(s, v, c))
                rt_set_value(&f->in.slots[v], m->variables[v].integer, 0, c,
                             s->init[v]->values[c]);
    rt_bind(&f->in, s->state, 0);
    return status;
}

bool rt_filter_give(struct rt_filter *f, int variable, int64_t cell)
{
    const size_t cells = (size_t)f->in.slots[variable].cells + 1;
    if (!f->given)
        f->given =
            calloc((size_t)f->in.model->nvariables + 1, sizeof *f->given);
    if (!f->given)
        return false;
    struct gbm_array *a = &f->given[variable];
    if (!a->values) {
        a->values = calloc(cells, sizeof *a->values);
        a->missing = malloc(cells);
        if (!a->values || !a->missing)
            return false;
        memset(a->missing, 1, cells);
        f->starter.init[variable] = a;
    }
    a->missing[cell] = 0;
    return true;
}

static bool is_kept(const struct rt_instance *in, int family)
{
    for (int k = 0; k < in->nkept_families; k++)
        if (in->kept_families[k] == family)
            return true;
    return false;
}

/* The acts in their order, without derived nodes that nobody reads. */
static enum gbm_status list_acts(struct rt_filter *f)
{
    const struct rt_times *t = &f->times;
    const struct gbm_model *m = f->in.model;
    int64_t n = 0;
    f->acts = malloc(((size_t)t->graph.nodes + 1) * sizeof *f->acts);
    f->first = calloc((size_t)t->count + 2, sizeof *f->first);
    if (!f->acts || !f->first)
        return rt_fail(f->rt, GBM_FAILURE, "no memory");
    for (int time = 0; time <= t->count; time++) {
        f->first[time] = n;
        for (int64_t i = t->first[time]; i < t->first[time + 1]; i++) {
            const int node = t->order[i];
            const int family = rt_graph_family(&t->graph, node);
            const int kind = t->act[node];
            if (kind == RT_ACT_NONE || kind == RT_ACT_LATE ||
                (kind == RT_ACT_DERIVE && !rt_is_read(m, family) &&
                 !is_kept(&f->in, family)))
                continue;
            f->acts[n++] = (struct rt_step_in_time){
                family, kind, node - t->graph.base[family], node};
        }
    }
    f->first[t->count + 1] = n;
    return GBM_OK;
}

static enum gbm_status list_cells(struct rt_filter *f)
{
    const struct rt_graph *g = &f->times.graph;
    int64_t n = 0;
    f->cell0 = calloc((size_t)g->nodes + 1, sizeof *f->cell0);
    f->live = malloc(((size_t)g->nodes + 1) * sizeof *f->live);
    if (!f->cell0 || !f->live)
        return rt_fail(f->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < g->nodes; i++) {
        const int k = rt_graph_family(g, i);
        n += f->in.model->families[k].cells(f->starter.state, i - g->base[k],
                                            NULL);
        f->cell0[i + 1] = n;
    }
    f->cell = malloc(((size_t)n + 1) * sizeof *f->cell);
    if (!f->cell)
        return rt_fail(f->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < g->nodes; i++) {
        const int k = rt_graph_family(g, i);
        f->in.model->families[k].cells(f->starter.state, i - g->base[k],
                                       f->cell + f->cell0[i]);
    }
    return GBM_OK;
}

enum gbm_status rt_filter_copy(struct rt_filter *f)
{
    if (f->away)
        return f->rt->device->filter->put(f->rt);
    for (int v = 0; v < f->in.model->nvariables; v++) {
        const struct rt_slot *slot = &f->particles.slots[v];
        const size_t size =
            f->in.model->variables[v].integer ? sizeof(int) : sizeof(double);
        const size_t bytes = (size_t)slot->cells * size;
        for (int i = 0; slot->per_chain && i < f->n; i++)
            memcpy((char *)slot->values + (size_t)i * bytes,
                   f->in.slots[v].values, bytes);
    }
    return GBM_OK;
}

/* Slots of their own for what is drawn or computed at a time; all else is the
 * one chain's. */
enum gbm_status rt_filter_create(struct rt_filter *f)
{
    const struct gbm_model *m = f->in.model;
    struct rt_instance *p = &f->particles;
    *p = f->in;
    p->nchains = f->n;
    p->slots = calloc((size_t)m->nvariables + 1, sizeof *p->slots);
    if (!p->slots)
        return rt_filter_no_memory(f);
    for (int v = 0; v < m->nvariables; v++) {
        p->slots[v] = f->in.slots[v];
        p->slots[v].per_chain = false;
        p->slots[v].borrowed = true;
    }
    for (int64_t a = f->first[1]; a < f->first[f->times.count + 1]; a++) {
        const int v = m->families[f->acts[a].family].variable;
        struct rt_slot *slot = &p->slots[v];
        if (f->acts[a].kind == RT_ACT_WEIGH || slot->per_chain)
            continue;
        const size_t size =
            m->variables[v].integer ? sizeof(int) : sizeof(double);
        slot->per_chain = true;
        if (f->rt->device)
            continue;
        slot->values = malloc((size_t)f->n * (size_t)slot->cells * size + 1);
        slot->borrowed = false;
        if (!slot->values)
            return rt_filter_no_memory(f);
    }
    if (f->rt->device)
        return rt_filter_go_away(f);
    rt_filter_copy(f);
    f->states = rt_states_create(p);
    return f->states ? GBM_OK : rt_filter_no_memory(f);
}

/* What is monitored and runs along time, by time. */
static enum gbm_status list_tracked(struct rt_filter *f)
{
    const struct rt_instance *in = &f->in;
    const struct rt_times *t = &f->times;
    int64_t n = 0;
    struct rt_tracked *all = malloc(((size_t)in->row + 1) * sizeof *all);
    int64_t *at = calloc((size_t)t->count + 2, sizeof *at);
    f->result.cells = malloc(((size_t)in->row + 1) * sizeof *all);
    bool ok = all && at && f->result.cells;
    for (int k = 0; ok && k < in->nmonitors; k++) {
        const struct rt_monitor *m = &in->monitors[k];
        for (int64_t i = 0; i < m->count; i++) {
            const int64_t cell = m->cells ? m->cells[i] : i;
            const int *owner = t->graph.owner[m->variable];
            const int node = owner ? owner[cell] : -1;
            if (node < 0 || t->time[node] == 0 || t->act[node] == RT_ACT_NONE)
                continue;
            all[n++] = (struct rt_tracked){.variable = m->variable,
                                           .cell = cell,
                                           .offset = m->offset + i,
                                           .time = t->time[node],
                                           .last = t->last[node] > t->time[node]
                                                       ? t->last[node]
                                                       : t->time[node]};
            at[t->time[node] + 1]++;
        }
    }
    for (int k = 0; ok && k <= t->count; k++)
        at[k + 1] += at[k];
    for (int64_t i = 0; ok && i < n; i++)
        f->result.cells[at[all[i].time]++] = all[i];
    f->result.ncells = n;
    free(all);
    free(at);
    return ok ? GBM_OK : rt_fail(f->rt, GBM_FAILURE, "no memory");
}

static enum gbm_status allocate(struct rt_filter *f)
{
    const size_t n = (size_t)f->n, filters = (size_t)f->result.filters;
    const size_t count = (size_t)f->times.count + 1;
    f->increment = malloc(n * sizeof *f->increment);
    f->weight = malloc(n * sizeof *f->weight);
    f->column = malloc(n * sizeof *f->column);
    f->offspring = malloc(n * sizeof *f->offspring);
    f->trace = malloc(n * sizeof *f->trace);
    f->events = calloc(count, sizeof *f->events);
    f->list = malloc(((size_t)f->result.ncells + 1) * sizeof *f->list);
    f->logliks = calloc(filters * count, sizeof *f->logliks);
    f->ess = calloc(filters * count, sizeof *f->ess);
    f->paths = calloc(filters * count, sizeof *f->paths);
    f->resampled = calloc(filters * count, 1);
    f->estimates = malloc((2 * filters * (size_t)f->result.ncells + 1) *
                          sizeof *f->estimates);
    f->result.instants = calloc(count + 1, sizeof *f->result.instants);
    if (!f->increment || !f->weight || !f->column || !f->offspring ||
        !f->trace || !f->events || !f->list || !f->logliks || !f->ess ||
        !f->paths || !f->resampled || !f->estimates || !f->result.instants)
        return rt_filter_no_memory(f);
    if (f->rt->options.out && !f->alone)
        f->records = malloc(
            (filters * (size_t)f->rt->options.draws * (size_t)f->in.row + 1) *
            sizeof *f->records);
    return f->rt->options.out && !f->alone && !f->records
               ? rt_filter_no_memory(f)
               : GBM_OK;
}

enum gbm_status rt_filter_lay_out(struct rt_filter *f)
{
    enum gbm_status s = list_acts(f);
    if (s == GBM_OK)
        s = list_cells(f);
    if (s == GBM_OK)
        s = list_tracked(f);
    if (s == GBM_OK && f->rt->options.guided)
        s = rt_guides_create(f);
    return s == GBM_OK ? allocate(f) : s;
}

/* ---- what is written ---- */

/* A filter gives as many of the paths as its likelihood's share is. */
static void pool_draws(struct rt_filter *f, const double *weight)
{
    const int draws = f->rt->options.draws;
    const int64_t row = f->in.row;
    struct gbm_rng rng;
    double total = 0;
    int k = 0, used = 0;
    gbm_rng_start(&rng, f->rt->options.seed, UINT32_MAX - 2, 0,
                  RT_FILTER_STREAM, 0);
    const double u = gbm_uniform(&rng);
    for (int d = 0; d < draws; d++) {
        while (k < f->result.filters - 1 &&
               total + weight[k] < (d + u) / draws) {
            total += weight[k++];
            used = 0;
        }
        memcpy(gbm_draws_record(&f->draws, 0, d),
               f->records + ((int64_t)k * draws + used++) * row,
               (size_t)row * sizeof(double));
    }
}

/* What does not run along time is the same in all draws. */
static void fill_constants(struct rt_filter *f)
{
    const struct rt_instance *in = &f->in;
    double *first = gbm_draws_record(&f->draws, 0, 0);
    unsigned char *moves = calloc((size_t)in->row + 1, 1);
    for (int64_t i = 0; moves && i < f->result.ncells; i++)
        moves[f->result.cells[i].offset] = 1;
    for (int k = 0; moves && k < in->nmonitors; k++) {
        const struct rt_monitor *m = &in->monitors[k];
        bool integer = in->model->variables[m->variable].integer;
        for (int64_t i = 0; i < m->count; i++)
            for (int d = 0; !moves[m->offset + i] && d < f->draws.capacity; d++)
                first[d * in->row + m->offset + i] =
                    rt_value(&in->slots[m->variable], integer, 0,
                             m->cells ? m->cells[i] : i);
    }
    free(moves);
}

static enum gbm_status write_paths(struct rt_filter *f)
{
    struct rt *rt = f->rt;
    double *weight = malloc(((size_t)f->result.filters + 1) * sizeof *weight);
    gbm_draws_init(&f->draws);
    enum gbm_status s = rt_monitor_draws(rt, &f->in, &f->data, &f->draws);
    if (s == GBM_OK &&
        (!weight ||
         gbm_draws_allocate(&f->draws, 1, rt->options.draws) != GBM_OK))
        s = rt_fail(rt, GBM_FAILURE, "no memory for the paths");
    if (s == GBM_OK) {
        rt_filter_weights(f, f->times.count, weight);
        pool_draws(f, weight);
        fill_constants(f);
        f->draws.warmup = 0;
        f->draws.kept = f->draws.capacity;
        f->draws.complete = f->result.complete;
        f->draws.timing = f->result.timing;
        s = rt_deliver_draws(rt, &f->draws);
    }
    free(weight);
    gbm_draws_free(&f->draws);
    return s;
}

static enum gbm_status deliver(struct rt_filter *f)
{
    const struct rt_options *o = &f->rt->options;
    char error[GBM_ERROR];
    enum gbm_status s = o->out ? write_paths(f) : GBM_OK;
    if (s == GBM_OK && o->summary) {
        s = rt_filter_write(f, o->summary, error);
        if (s != GBM_OK)
            rt_fail(f->rt, s, "%s", error);
    }
    if (!o->quiet)
        rt_filter_print(f, stdout);
    return s;
}

/* ---- the command ---- */

/* Options of chains that would be left without effect. */
static enum gbm_status check_options(struct rt *rt)
{
    const struct rt_options *o = &rt->options;
    const char *bad = o->until               ? "--until"
                      : o->from && o->out    ? "--out beside --from"
                      : o->from && o->resume ? "--resume beside --from"
                      : o->plain             ? "--plain"
                      : o->profile           ? "--profile"
                                             : NULL;
    if (bad)
        return rt_fail(rt, GBM_USER_ERROR, "--method %s has no %s",
                       o->method->name, bad);
    const bool gpu = strncmp(o->device, "cuda", 4) == 0;
    if (gpu && (o->guided || o->method != &rt_particle_filter))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--method %s%s runs on the CPU: --device %s is not "
                       "supported yet",
                       o->method->name, o->guided ? " --proposal guided" : "",
                       o->device);
    return GBM_OK;
}

enum gbm_status rt_filter_load(struct rt_filter *f)
{
    struct rt *rt = f->rt;
    const struct gbm_model *m = rt->model;
    struct rt_starter *starter = &f->starter;
    enum gbm_status s = check_options(rt);
    if (s == GBM_OK)
        s = rt_check_output(rt);
    if (s == GBM_OK)
        s = rt_read_data(rt, &f->data, f->notes);
    if (s == GBM_OK)
        s = rt_load(rt, &f->data, false, &f->in, NULL);
    if (s != GBM_OK)
        return s;
    f->loaded = true;
    if (f->resume.file && rt_resume_data(&f->resume, rt, &f->in) != GBM_OK)
        return rt->status;
    *starter = (struct rt_starter){.rt = rt, .in = &f->in, .family = -1};
    starter->init = calloc((size_t)m->nvariables + 1, sizeof *starter->init);
    starter->state = calloc(1, m->state_size + 1);
    if (!starter->init || !starter->state)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    return rt_monitor(rt, &f->in, f->notes);
}

static enum gbm_status prepare(struct rt_filter *f)
{
    f->rt->options.chains = 1;
    enum gbm_status s = rt_filter_load(f);
    if (s == GBM_OK)
        s = set_inits(f);
    if (s == GBM_OK && f->rt->options.from)
        s = rt_filter_from_open(f);
    if (s == GBM_OK)
        s = rt_times_create(&f->times, &f->starter);
    return s == GBM_OK ? rt_filter_lay_out(f) : s;
}

/* ---- checkpoints, of filters that ended ---- */

static void list_pieces(struct rt_filter *f, struct rt_pieces *p)
{
    const size_t filters = (size_t)f->result.filters;
    const size_t n = filters * ((size_t)f->times.count + 1);
    const size_t draws = (size_t)f->rt->options.draws;
    rt_pieces_add(p, "filters done", &f->number, sizeof f->number);
    rt_pieces_add(p, "likelihoods", f->logliks, n * sizeof *f->logliks);
    rt_pieces_add(p, "effective particles", f->ess, n * sizeof *f->ess);
    rt_pieces_add(p, "ancestors", f->paths, n * sizeof *f->paths);
    rt_pieces_add(p, "resampled", f->resampled, n);
    rt_pieces_add(p, "estimates", f->estimates,
                  2 * filters * (size_t)f->result.ncells *
                      sizeof *f->estimates);
    if (f->records)
        rt_pieces_add(p, "paths", f->records,
                      filters * draws * (size_t)f->in.row * sizeof *f->records);
}

enum gbm_status rt_filter_read(struct rt_filter *f, struct rt_pieces *list)
{
    enum gbm_status s = GBM_OK;
    if (list->failed)
        s = rt_fail(f->rt, GBM_FAILURE, "no memory");
    else if (f->resume.file)
        s = rt_resume_read(&f->resume, f->rt, list);
    rt_pieces_free(list);
    return s;
}

enum gbm_status rt_filter_identify(struct rt_filter *f)
{
    if (!f->checkpoint.path[0])
        return GBM_OK;
    if (f->resume.file)
        rt_checkpoint_goes_on(&f->checkpoint, &f->resume);
    return rt_checkpoint_identify(&f->checkpoint, f->rt, &f->in);
}

void rt_filter_save(struct rt_filter *f, struct rt_pieces *list)
{
    char error[GBM_ERROR];
    if (!list->failed &&
        rt_checkpoint_write(&f->checkpoint, list, error) != GBM_OK)
        fprintf(stderr, "warning: no checkpoint: %s: the run goes on\n", error);
    rt_pieces_free(list);
}

static void save(struct rt_filter *f)
{
    struct rt_pieces pieces = {0};
    list_pieces(f, &pieces);
    rt_filter_save(f, &pieces);
}

static enum gbm_status go_on(struct rt_filter *f)
{
    struct rt_pieces pieces = {0};
    f->rt->options.chains = f->result.filters; /* as a checkpoint has it */
    list_pieces(f, &pieces);
    enum gbm_status s = rt_filter_read(f, &pieces);
    if (s == GBM_OK)
        s = rt_filter_identify(f);
    if (s == GBM_OK && f->resume.file && f->notes)
        fprintf(f->notes, "note: %s: goes on after %d of %d filters\n",
                f->resume.path, f->number, f->result.filters);
    return s;
}

/* With the parameters of the filter's draw. */
static enum gbm_status begin_from(struct rt_filter *f)
{
    rt_filter_from_set(f, f->number);
    enum gbm_status s = rt_filter_begin(f, f->starter.state);
    return s == GBM_OK ? rt_filter_copy(f) : s;
}

static void execute(struct rt_filter *f)
{
    struct rt *rt = f->rt;
    const int wanted = f->result.filters;
    const double began = rt_clock(), cpu = rt_cpu_clock();
    enum gbm_status s = GBM_OK;
    if (f->notes)
        fprintf(f->notes, "%s: %d filters of %d particles, %d times, on %s\n",
                rt->model->name, wanted, f->n, f->times.count,
                f->away ? rt->device_text : "the CPU");
    rt_catch_signals();
    while (s == GBM_OK && f->number < wanted && !rt_stopped()) {
        f->stream = (uint32_t)f->number;
        if (rt->options.from)
            s = begin_from(f);
        if (s == GBM_OK)
            s = f->away ? rt_filter_run_away(f) : rt_filter_run(f);
        if (rt_stopped()) /* amid this one, it may be */
            break;
        f->number++;
        if (s == GBM_OK && rt_checkpoint_due(&f->checkpoint))
            save(f);
    }
    if (s == GBM_OK && f->number > 0 && f->checkpoint.path[0])
        save(f);
    f->result.timing.sampling_s = rt_clock() - began;
    f->result.timing.sampling_cpu_s = rt_cpu_clock() - cpu;
    f->result.complete = f->number == wanted;
    f->result.filters = f->number;
    if (s == GBM_OK && f->result.filters == 0)
        s = rt_fail(rt, GBM_FAILURE,
                    "stopped before the first filter's end: nothing is "
                    "written");
    if (s == GBM_OK && rt_filter_combine(f) == GBM_OK && deliver(f) == GBM_OK &&
        !f->result.complete)
        rt_fail(rt, GBM_FAILURE,
                "stopped: %d of %d filters were run; what is written is "
                "marked incomplete%s%s",
                f->result.filters, wanted,
                f->checkpoint.whole ? "; to go on: --resume " : "",
                f->checkpoint.whole ? rt->options.checkpoint : "");
}

void rt_filter_release(struct rt_filter *f)
{
    const struct rt_options *o = &f->rt->options;
    for (int v = 0; f->particles.slots && v < f->in.model->nvariables; v++)
        if (!f->particles.slots[v].borrowed)
            free(f->particles.slots[v].values);
    free(f->particles.slots);
    free(f->states);
    rt_times_free(&f->times);
    rt_filter_from_close(f);
    if (f->rt->device)
        f->rt->device->close(f->rt);
    rt_filter_come_back(f);
    for (int v = 0; f->given && v < f->in.model->nvariables; v++) {
        free(f->given[v].values);
        free(f->given[v].missing);
    }
    free(f->given);
    for (int i = 0; f->starter.inits && i < o->ninit; i++)
        gbm_data_free(&f->starter.inits[i]);
    free(f->starter.inits);
    free(f->starter.init);
    free(f->starter.state);
    free(f->starter.buffer.cells);
    void *const all[] = {
        f->acts,      f->first,           f->cell0,        f->cell,
        f->live,      f->increment,       f->weight,       f->column,
        f->offspring, f->trace,           f->events,       f->logliks,
        f->ess,       f->paths,           f->resampled,    f->estimates,
        f->records,   f->result.instants, f->result.cells, f->list,
        f->hangs,     f->proposed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    rt_checkpoint_end(&f->checkpoint);
    rt_resume_end(&f->resume);
    if (f->loaded)
        rt_instance_free(&f->in);
    gbm_data_free(&f->data);
}

static int run_filters(struct rt *rt)
{
    struct rt_filter f = {.rt = rt};
    const double began = rt_clock();
    f.notes = rt->options.quiet ? NULL : stderr;
    enum gbm_status s =
        rt_checkpoint_open(&f.checkpoint, &f.resume, rt, f.notes);
    f.n = rt->options.particles;
    if (!rt->options.chains_given)
        rt->options.chains = FILTERS;
    f.result.filters = rt->options.chains;
    if (s == GBM_OK)
        s = prepare(&f);
    if (s == GBM_OK)
        s = go_on(&f);
    if (s == GBM_OK && rt->options.from)
        rt_filter_from_set(&f, 0);
    if (s == GBM_OK)
        s = rt_filter_begin(&f, f.starter.state);
    if (s == GBM_OK && strncmp(rt->options.device, "cuda", 4) == 0)
        s = rt_open_gpu(rt);
    if (s == GBM_OK)
        s = rt_filter_create(&f);
    f.result.timing.load_s = rt_clock() - began;
    if (s == GBM_OK)
        execute(&f);
    rt_filter_release(&f);
    return rt_report(rt);
}

const struct rt_method rt_particle_filter = {
    .name = "filter",
    .help = "particle filters: states along time, given --init, and the "
            "likelihood",
    .particles = true,
    .filters = true,
    .from = true,
    .run = run_filters,
};
