/* chains.c: a run: load, start, warm up, draw, deliver. */
#include "run/chains.h"
#include "run/view.h"
#include "io/data.h"
#include "summary/criteria.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SECONDS 0.2 /* a block of sweeps; Ctrl-C is heard between two */
#define SHORTEST 0.01     /* the same with frequent checkpoints */
#define UNTIL_MOST 200    /* --until gives up after this many times --draws */
#define LP_ELEMENTS 10000 /* lp is kept unasked up to this many terms */

int rt_report(const struct rt *rt)
{
    if (rt->status == GBM_OK)
        return 0;
    fflush(stdout);
    fprintf(stderr, "%s: %s\n",
            rt->status == GBM_USER_ERROR ? "error" : "failed", rt->message);
    return rt->status == GBM_USER_ERROR ? 1 : 2;
}

enum gbm_status rt_gather(struct rt *rt, struct gbm_data *data)
{
    char error[GBM_ERROR];
    for (int v = 0; v < rt->model->nvariables; v++) {
        const struct gbm_variable *variable = &rt->model->variables[v];
        int n = 0;
        while (variable->names && variable->names[n])
            n++;
        if (n == 0 || gbm_data_find(data, variable->name))
            continue;
        enum gbm_status s =
            gbm_data_gather(data, variable->name, variable->names, n, error);
        if (s != GBM_OK)
            return rt_fail(rt, s, "%s", error);
    }
    return GBM_OK;
}

enum gbm_status rt_read_data(struct rt *rt, struct gbm_data *data, FILE *notes)
{
    char error[GBM_ERROR];
    for (int i = 0; i < rt->options.ndata; i++) {
        enum gbm_status s = gbm_data_read(data, rt->options.data[i], error);
        if (s != GBM_OK)
            return rt_fail(rt, s, "%s", error);
    }
    if (notes && data->notes)
        fputs(data->notes, notes);
    return rt_gather(rt, data);
}

/* ---- the device ---- */

static const struct rt_device *load_plugin(char *why, size_t capacity)
{
    const char *folder = getenv("GBM_LIBRARY");
    char path[4096] = "libgbm_cuda.so";
    if (folder)
        snprintf(path, sizeof path, "%s/libgbm_cuda.so", folder);
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        snprintf(why, capacity, "%s", dlerror());
        return NULL;
    }
    const struct rt_device *device = dlsym(plugin, "rt_cuda");
    const uint64_t *layout = dlsym(plugin, "rt_cuda_layout");
    if (device && layout && *layout == RT_LAYOUT)
        return device;
    snprintf(why, capacity,
             "%s is of another version of gbm than this sampler: compile the "
             "model again",
             path);
    return NULL;
}

/* About how many floating-point operations a sweep of all chains has. */
static double sweep_work(const struct rt_instance *in)
{
    void *state = calloc(1, in->model->state_size + 1);
    double work = 0;
    if (!state)
        return 0;
    rt_bind(in, state, 0);
    for (int k = 0; k < in->model->nsteps; k++) {
        const struct gbm_step *step = &in->model->steps[k];
        if (!in->steps[k].active)
            continue;
        double cost = step->cost ? (double)step->cost(state) : 1;
        work += 50 * cost * (double)in->steps[k].count;
        if (step->kind != GBM_STEP_DENSE)
            continue;
        double d = step->dense->dimension(state);
        work += d * d * d / 3;
        for (int t = 0; t < step->dense->nterms; t++)
            work += 4 * d * (double)in->elements[step->dense->terms[t].family];
    }
    free(state);
    return work * in->nchains;
}

enum gbm_status rt_open_device(struct rt *rt, const struct rt_instance *in,
                               FILE *notes)
{
    const char *which = rt->options.device;
    char why[512] = "";
    rt->device = &rt_host;
    if (rt->options.plain) {
        if (strncmp(which, "cuda", 4) == 0)
            return rt_fail(rt, GBM_USER_ERROR,
                           "--plain runs on the CPU, not with --device %s",
                           which);
        rt->device = &rt_plain;
        return rt->device->open(rt, which);
    }
    if (strncmp(which, "cuda", 4) == 0) {
        rt->device = load_plugin(why, sizeof why);
        if (!rt->device)
            return rt_fail(rt, GBM_FAILURE, "--device %s: %s", which, why);
        return rt->device->open(rt, which);
    }
    if (strcmp(which, "auto") == 0) {
        const struct rt_device *cuda = NULL;
        if (sweep_work(in) < 2e6)
            snprintf(why, sizeof why, "a sweep is too small for a GPU");
        else
            cuda = load_plugin(why, sizeof why);
        if (cuda) {
            rt->device = cuda;
            if (cuda->open(rt, "cuda") == GBM_OK)
                return GBM_OK;
            snprintf(why, sizeof why, "%.500s", rt->message);
            cuda->close(rt);
            rt->status = GBM_OK;
            rt->message[0] = '\0';
            rt->device = &rt_host;
        }
    }
    enum gbm_status s = rt->device->open(rt, which);
    if (s == GBM_OK && notes && why[0])
        fprintf(notes, "note: on the CPU: %s\n", why);
    if (s == GBM_OK && rt->options.precision != RT_DOUBLE && notes)
        fprintf(notes, "note: the CPU computes in double precision\n");
    return s;
}

/* ---- the run ---- */

/* Counts the time since the last call as of a phase. */
static void count_time(struct rt_chains *r, double *wall_s, double *cpu_s)
{
    double wall = rt_clock(), cpu = rt_cpu_clock();
    if (wall_s) {
        *wall_s += wall - r->wall;
        *cpu_s += cpu - r->cpu;
    }
    r->wall = wall;
    r->cpu = cpu;
}

static void count_phase(struct rt_chains *r, bool adapting)
{
    struct gbm_timing *t = &r->draws.timing;
    if (adapting)
        count_time(r, &t->warmup_s, &t->warmup_cpu_s);
    else
        count_time(r, &t->sampling_s, &t->sampling_cpu_s);
}

/* ---- checkpoints: what a run is, beside what follows from model, data and
 * options. Random numbers are functions of seed and sweep. ---- */

#define ADD(name, place) rt_pieces_add(p, name, place, sizeof *(place))

/* Single numbers; where the draws go is allocated by them. */
static void list_numbers(struct rt_chains *r, struct rt_pieces *p)
{
    struct gbm_draws *d = &r->draws;
    ADD("sweeps", &r->sweep);
    ADD("draws", &d->kept);
    ADD("room for draws", &d->capacity);
    ADD("without self-check", &d->unchecked);
    ADD("time of warm-up", &d->timing.warmup_s);
    ADD("CPU time of warm-up", &d->timing.warmup_cpu_s);
    ADD("time of sampling", &d->timing.sampling_s);
    ADD("CPU time of sampling", &d->timing.sampling_cpu_s);
    ADD("starting values", &r->start);
    ADD("jitters", &r->rt->jitters);
    ADD("sweeps in moments", &r->nmoments);
    ADD("comparisons of chains", &r->arrival.nmoments);
    ADD("next comparison", &r->arrival.moment);
    ADD("states compared", &r->arrival.states);
}

static void list_arrays(struct rt_chains *r, struct rt_pieces *p)
{
    const struct rt_instance *in = &r->in;
    const struct gbm_draws *d = &r->draws;
    size_t chains = (size_t)in->nchains, kept = (size_t)d->kept;
    rt_pieces_add(p, "scores", r->arrival.scores,
                  4 * chains * sizeof *r->arrival.scores);
    for (int v = 0; v < in->model->nvariables; v++) {
        const char *name = in->model->variables[v].name;
        size_t bytes = rt_chain_bytes(in, v);
        if (bytes > 0)
            rt_pieces_add(p, name, in->slots[v].values, bytes);
        if (!in->slots[v].moments)
            continue;
        const size_t cells = chains * (size_t)in->slots[v].cells;
        if (in->slots[v].categories) {
            bytes = cells * (size_t)in->slots[v].categories * sizeof(unsigned);
            rt_pieces_add(p, name, r->moments[v].counts, bytes);
            continue;
        }
        rt_pieces_add(p, name, r->moments[v].mean, cells * sizeof(double));
        rt_pieces_add(p, name, r->moments[v].m2, cells * sizeof(double));
    }
    for (int c = 0; c < r->chains; c++) {
        rt_pieces_add(p, "draws", gbm_draws_record(d, c, 0),
                      kept * (size_t)d->width * sizeof(double));
        for (int k = 0; k < d->nstats; k++)
            rt_pieces_add(p, d->stats[k].name,
                          d->stats[k].values + (int64_t)c * d->capacity,
                          kept * sizeof(double));
    }
    rt_pointwise_list(&r->pointwise, in, p);
    if (r->rt->device->own)
        r->rt->device->own(r->rt, p);
    if (r->rt->options.method->save)
        r->rt->options.method->save(r, p);
}

/* A failure to write is no reason to stop. A state that is not sound stays
 * unsaved: the run will say so. */
static void save(struct rt_chains *r, bool adapting)
{
    struct rt *rt = r->rt;
    struct rt_pieces pieces = {0};
    struct rt_nan bad;
    char error[GBM_ERROR];
    if (!r->checkpoint.path[0])
        return;
    count_phase(r, adapting);
    if (rt->device->get(rt) != GBM_OK ||
        (r->moments &&
         rt->device->moments(rt, r->moments, &r->nmoments) != GBM_OK) ||
        rt_nan_in_state(&r->in, &bad))
        return;
    list_numbers(r, &pieces);
    list_arrays(r, &pieces);
    if (pieces.failed)
        rt_fail(rt, GBM_FAILURE, "no memory for a checkpoint");
    else if (rt_checkpoint_write(&r->checkpoint, &pieces, error) != GBM_OK)
        fprintf(stderr, "warning: no checkpoint: %s: the run goes on\n", error);
    rt_pieces_free(&pieces);
}

static enum gbm_status bring_back(struct rt_chains *r,
                                  void (*list)(struct rt_chains *r,
                                               struct rt_pieces *p))
{
    struct rt_pieces pieces = {0};
    list(r, &pieces);
    enum gbm_status s = pieces.failed
                            ? rt_fail(r->rt, GBM_FAILURE, "no memory")
                            : rt_resume_read(&r->resume, r->rt, &pieces);
    rt_pieces_free(&pieces);
    return s;
}

/* The state goes where the starting values are: what was made of these at load
 * is as its run had it. */
static enum gbm_status go_on(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    const struct rt_options *o = &rt->options;
    if (bring_back(r, list_arrays) != GBM_OK || rt->device->put(rt) != GBM_OK ||
        (r->moments &&
         rt->device->put_moments(rt, r->moments, r->nmoments) != GBM_OK))
        return rt->status;
    if (r->notes && r->draws.kept == 0)
        fprintf(r->notes,
                "note: %s: goes on after %u of %d sweeps of warm-up\n",
                r->resume.path, r->sweep, o->warmup);
    else if (r->notes)
        fprintf(r->notes, "note: %s: goes on after %d of %d draws a chain\n",
                r->resume.path, r->draws.kept, r->draws.capacity);
    return GBM_OK;
}

/* ---- sweeps ---- */

/* Fails if a sampled value is not a number. `kept` draws were there before the
 * block that has just run; those from the first bad one on are dropped. A
 * device of its own memory is asked for its state only at the `last` block. */
static void check_numbers(struct rt_chains *r, bool adapting, int kept,
                          bool last)
{
    struct rt *rt = r->rt;
    struct rt_nan bad;
    char name[256];
    int64_t sweep = r->sweep;
    if (!adapting &&
        rt_nan_in_draws(&r->in, &r->draws, kept, r->draws.kept, &bad)) {
        r->draws.kept = bad.draw;
        sweep = rt->options.warmup + (int64_t)(bad.draw + 1) * rt->options.thin;
    } else {
        if (rt->device != &rt_host && (!last || rt->device->get(rt) != GBM_OK))
            return;
        if (!rt_nan_in_state(&r->in, &bad))
            return;
    }
    rt_nan_name(&r->in, &bad, name, sizeof name);
    rt_fail(rt, GBM_FAILURE,
            "%s of chain %d is not a number after sweep %lld (%d of warm-up): "
            "its full conditional has no finite parameters there; are data or "
            "starting values of very different sizes? %d of %d draws a chain "
            "were kept%s",
            name, bad.chain + 1, (long long)sweep, rt->options.warmup,
            r->draws.kept, r->draws.capacity,
            r->draws.kept ? "; the run is marked incomplete"
                          : ": nothing is written");
}

/* Draws kept so far go to disk. */
static void spool(struct rt_chains *r, bool now)
{
    char error[GBM_ERROR];
    bool first = r->spool.fd < 0;
    enum gbm_status s = rt_spool_add(&r->spool, &r->draws, now, error);
    if (first && r->spool.kept > 0 && r->notes)
        fprintf(r->notes,
                "note: what is drawn is in %s until the run ends; %s summary "
                "reads it\n",
                r->spool.path, r->rt->options.program);
    if (s != GBM_OK)
        rt_fail(r->rt, s, "%s: the run stops", error);
}

static enum gbm_status advance(struct rt_chains *r, const struct rt_block *b)
{
    const struct rt_method *m = r->rt->options.method;
    return m->advance ? m->advance(r, b) : r->rt->device->run(r->rt, b);
}

/* Runs a block of sweeps. What no device computes is added to each draw, so the
 * device stops there. */
static enum gbm_status run_block(struct rt_chains *r,
                                 const struct rt_block *block)
{
    struct rt *rt = r->rt;
    struct rt_block one = *block;
    if (block->adapting || r->pointwise.count == 0)
        return advance(r, block);
    one.sweeps = block->thin;
    for (int k = 0; k < block->sweeps / block->thin; k++) {
        if (advance(r, &one) != GBM_OK ||
            (rt->device != &rt_host && rt->device->get(rt) != GBM_OK))
            return rt->status;
        rt_pointwise_keep(&r->pointwise, &r->in, &r->draws, r->draws.kept + k,
                          rt->threads);
        one.first += (uint32_t)one.sweeps;
        one.draws += one.draws ? r->draws.width : 0;
        one.lp += one.lp ? 1 : 0;
    }
    return GBM_OK;
}

/* Runs sweeps in blocks until `total` of a phase are done, `done` of them
 * before; the sampling ones keep draws. Returns the sweeps done, fewer if
 * stopped or failed. */
static int64_t run_blocks(struct rt_chains *r, bool adapting, int64_t done,
                          int64_t total)
{
    struct rt *rt = r->rt;
    int thin = adapting ? 1 : rt->options.thin;
    while (done < total && !rt_stopped() && rt->status == GBM_OK) {
        int64_t sweeps = ((int64_t)r->block + thin - 1) / thin * thin;
        if (sweeps > total - done)
            sweeps = total - done;
        struct rt_block b = {.seed = rt->options.seed,
                             .first = r->sweep,
                             .sweeps = (int)sweeps,
                             .adapting = adapting,
                             .thin = adapting ? 0 : thin};
        if (!adapting) {
            b.draws = r->in.row ? gbm_draws_record(&r->draws, 0, r->draws.kept)
                                : NULL;
            b.chain_stride = (int64_t)r->draws.capacity * r->draws.width;
            b.lp_stride = r->draws.capacity;
            if (r->lp >= 0)
                b.lp = r->draws.stats[r->lp].values + r->draws.kept;
        }
        double began = rt_clock();
        if (run_block(r, &b) != GBM_OK)
            break;
        double spent = rt_clock() - began;
        r->sweep += (uint32_t)sweeps;
        done += sweeps;
        int kept = r->draws.kept;
        if (!adapting)
            r->draws.kept += (int)(sweeps / thin);
        check_numbers(r, adapting, kept, done == total);
        spool(r, false);
        if (rt_checkpoint_due(&r->checkpoint) && rt->status == GBM_OK)
            save(r, adapting);
        double next = spent > 0 ? (double)sweeps * r->pace / spent : 1e6;
        double most = 8.0 * r->block;
        next = next < most ? next : most;
        r->block = next < 1 ? 1 : next > 1e6 ? 1000000 : (int)next;
        rt_progress_show(&r->progress, done);
    }
    return done;
}

/* What chains learn together, as sweeps go on from it: a checkpoint between has
 * what each has learnt. */
static enum gbm_status pool(struct rt_chains *r)
{
    const bool apart = r->rt->options.method->replicas != NULL;
    return apart ? GBM_OK : rt_pool(r->rt, &r->in, r->sweep);
}

static enum gbm_status warm_up(struct rt_chains *r)
{
    int total = r->rt->options.warmup;
    int64_t done = r->sweep;
    rt_progress_begin(&r->progress, "warm-up", done, total);
    while (done < total && r->rt->status == GBM_OK) {
        /* replicas are to be apart */
        const bool apart = r->rt->options.method->replicas != NULL;
        const int64_t look =
            apart ? total : rt_arrival_next(&r->arrival, total);
        int64_t next = look;
        if (done < look && pool(r) == GBM_OK && !apart)
            next = rt_pool_next(&r->in, done, look);
        done = run_blocks(r, true, done, next);
        if (done < next)
            break;
        if (next < total && next == look)
            rt_arrival_look(&r->arrival, r->rt, &r->in, done, r->notes);
    }
    rt_progress_end(&r->progress, done);
    count_phase(r, true);
    return r->rt->status;
}

/* Room for `capacity` draws of each chain, keeping what is there. */
static enum gbm_status grow(struct rt *rt, struct gbm_draws *d, int capacity)
{
    size_t chains = (size_t)d->chains, width = (size_t)d->width;
    size_t to = (size_t)capacity, from = (size_t)d->capacity;
    size_t kept = (size_t)d->kept;
    double *values = malloc((chains * to * width + 1) * sizeof *values);
    if (!values)
        return rt_fail(rt, GBM_FAILURE, "no memory for more draws");
    for (size_t c = 0; c < chains; c++)
        memcpy(values + c * to * width, d->values + c * from * width,
               kept * width * sizeof *values);
    free(d->values);
    d->values = values;
    for (int k = 0; k < d->nstats; k++) {
        double *stat = malloc((chains * to + 1) * sizeof *stat);
        if (!stat)
            return rt_fail(rt, GBM_FAILURE, "no memory for more draws");
        for (size_t c = 0; c < chains; c++)
            memcpy(stat + c * to, d->stats[k].values + c * from,
                   kept * sizeof *stat);
        free(d->stats[k].values);
        d->stats[k].values = stat;
    }
    d->capacity = capacity;
    return GBM_OK;
}

/* Draws that the options ask for, of a chain. */
static int wanted_draws(const struct rt_options *o)
{
    return (o->draws - 1) / o->thin + 1;
}

static enum gbm_status sample(struct rt_chains *r, const struct rt_until *until)
{
    const struct rt_options *o = &r->rt->options;
    int first = wanted_draws(o);
    for (;;) {
        int64_t done = (int64_t)r->draws.kept * o->thin;
        int64_t sweeps = (int64_t)r->draws.capacity * o->thin;
        rt_progress_begin(&r->progress, "sampling", done, sweeps);
        done = run_blocks(r, false, done, sweeps);
        rt_progress_end(&r->progress, done);
        r->draws.complete = done == sweeps && r->rt->status == GBM_OK;
        count_phase(r, false);
        if (!o->until || !r->draws.complete)
            break;
        bool enough = rt_until_holds(r, until);
        count_time(r, NULL, NULL);
        if (enough)
            break;
        if (r->draws.kept >= UNTIL_MOST * first) {
            save(r, false);
            rt_fail(r->rt, GBM_FAILURE,
                    "--until %s does not hold after %d draws a chain", o->until,
                    r->draws.kept);
            break;
        }
        int more =
            r->draws.capacity / 2 > first ? r->draws.capacity / 2 : first;
        if (grow(r->rt, &r->draws, r->draws.capacity + more) != GBM_OK)
            break;
    }
    return r->rt->status;
}

/* ---- what comes out ---- */

enum gbm_status rt_check_output(struct rt *rt)
{
    const struct rt_options *o = &rt->options;
    char error[GBM_ERROR];
    enum gbm_format format;
    if (o->out) {
        enum gbm_status s = gbm_format_of(o->format, o->out, &format, error);
        if (s == GBM_OK)
            s = gbm_draws_check_output(format, o->out, o->chains, error);
        if (s != GBM_OK)
            return rt_fail(rt, s, "%s", error);
    }
    if (!o->summary)
        return GBM_OK;
    char folder[4096];
    const char *slash = strrchr(o->summary, '/');
    if (slash == o->summary)
        snprintf(folder, sizeof folder, "/");
    else
        snprintf(folder, sizeof folder, "%.*s",
                 slash ? (int)(slash - o->summary) : 1,
                 slash ? o->summary : ".");
    if (access(folder, W_OK | X_OK) != 0)
        return rt_fail(rt, GBM_USER_ERROR, "--summary %s: %s: %s", o->summary,
                       folder, strerror(errno));
    return GBM_OK;
}

static enum gbm_status deliver_summary(struct rt *rt,
                                       const struct gbm_draws *draws)
{
    const struct rt_options *o = &rt->options;
    struct gbm_summary summary = {0};
    struct gbm_criteria criteria = {0};
    char error[GBM_ERROR];
    if (o->quiet && !o->summary)
        return GBM_OK;
    enum gbm_status s = gbm_summarise(&summary, draws, error);
    if (s == GBM_OK)
        s = gbm_criteria_find(&criteria, &summary, error);
    const struct gbm_view view = rt_view(o);
    if (s == GBM_OK)
        s = gbm_summary_view(&summary, &view, error);
    if (s == GBM_OK && o->summary)
        s = gbm_summary_write(&summary, &criteria, o->summary, error);
    if (s == GBM_OK && !o->quiet) {
        gbm_summary_print(&summary, stdout);
        gbm_criteria_print(&criteria, stdout);
    }
    gbm_criteria_free(&criteria);
    gbm_summary_free(&summary);
    return s == GBM_OK ? s : rt_fail(rt, s, "%s", error);
}

enum gbm_status rt_deliver_draws(struct rt *rt, struct gbm_draws *draws)
{
    const struct rt_options *o = &rt->options;
    char error[GBM_ERROR];
    enum gbm_format format;
    if (!o->out)
        return GBM_OK;
    draws->digits = o->digits;
    enum gbm_status s = gbm_format_of(o->format, o->out, &format, error);
    if (s == GBM_OK)
        s = gbm_draws_write(draws, format, o->out, error);
    return s == GBM_OK ? s : rt_fail(rt, s, "%s", error);
}

enum gbm_status rt_deliver(struct rt *rt, struct gbm_draws *draws)
{
    enum gbm_status s = rt_deliver_draws(rt, draws);
    enum gbm_status t = deliver_summary(rt, draws);
    return s == GBM_OK ? t : s;
}

/* Reads what the run to be resumed came to; its draws are still to be read. */
static enum gbm_status read_numbers(struct rt_chains *r, int *capacity)
{
    struct rt *rt = r->rt;
    const struct rt_options *o = &rt->options;
    uint64_t start = r->start;
    enum gbm_status s = bring_back(r, list_numbers);
    if (s == GBM_OK && r->start != start && r->notes)
        fprintf(r->notes,
                "note: %s is of a run with other starting values (--init): its "
                "draws may go on otherwise in their last digits\n",
                r->resume.path);
    if (s == GBM_OK && o->until && r->draws.capacity > *capacity)
        *capacity = r->draws.capacity;
    if (s == GBM_OK && *capacity < r->draws.kept)
        s = rt_fail(rt, GBM_USER_ERROR,
                    "--resume %s: it has %d draws a chain already, and --draws "
                    "%d would keep %d",
                    r->resume.path, r->draws.kept, o->draws, *capacity);
    return s;
}

static enum gbm_status prepare_draws(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    struct rt_options *o = &rt->options;
    int capacity = wanted_draws(o);
    gbm_draws_init(&r->draws);
    enum gbm_status s = rt_monitor_draws(rt, &r->in, &r->data, &r->draws);
    if (s == GBM_OK)
        rt_note_labels(&r->data, &r->draws, r->notes);
    if (s == GBM_OK)
        s = rt_pointwise_prepare(&r->pointwise, rt, &r->in, &r->draws,
                                 r->notes);
    if (s == GBM_OK && o->method->replicas && r->pointwise.count > 0)
        s = rt_fail(rt, GBM_USER_ERROR,
                    "the deviance with --method %s: not supported yet",
                    o->method->name);
    r->draws.device = rt->device_text;
    r->draws.data = o->ndata ? o->data[0] : NULL;
    r->draws.aside = o->monitor && !o->moments;
    r->draws.tempered = o->method->replicas != NULL;
    r->draws.more = o->method->more;
    if (s == GBM_OK && r->resume.file)
        s = read_numbers(r, &capacity);
    r->draws.unchecked = r->draws.unchecked || (o->no_check && !o->plain);
    if (s == GBM_OK &&
        gbm_draws_allocate(&r->draws, r->chains, capacity) != GBM_OK)
        s = rt_fail(rt, GBM_FAILURE,
                    "no memory for %d draws of %d chains of %lld values; name "
                    "fewer with --monitor, or --thin",
                    capacity, r->chains, (long long)r->draws.width);
    r->lp = -1;
    if (!r->resume.file) /* else as it was in its run */
        o->lp = o->lp || (o->out && rt_terms(&r->in) <= LP_ELEMENTS);
    if (s == GBM_OK && o->lp) {
        r->lp = gbm_draws_add_stat(&r->draws, "lp", false);
        if (r->lp < 0)
            s = rt_fail(rt, GBM_FAILURE, "no memory for the draws");
    }
    return s;
}

/* What "auto" chose may still fail (memory, a compiler that is not there): then
 * the CPU does it. */
static enum gbm_status load_device(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    enum gbm_status s = rt->device->load(rt, &r->in);
    if (s == GBM_OK || rt->device == &rt_host ||
        strcmp(rt->options.device, "auto") != 0)
        return s;
    if (r->notes)
        fprintf(r->notes, "note: on the CPU: %s\n", rt->message);
    rt->device->close(rt);
    rt->status = GBM_OK;
    rt->message[0] = '\0';
    rt->device = &rt_host;
    s = rt_host.open(rt, "cpu");
    return s == GBM_OK ? rt_host.load(rt, &r->in) : s;
}

/* What is resumed settles options. There may be nothing yet where the run saves
 * itself: the same command line starts it and goes on with it. */
static enum gbm_status prepare_resume(struct rt_chains *r)
{
    const struct rt_options *o = &r->rt->options;
    if (o->checkpoint && rt_checkpoint_begin(&r->checkpoint, r->rt) != GBM_OK)
        return r->rt->status;
    if (!o->resume)
        return GBM_OK;
    if (!o->checkpoint || strcmp(o->checkpoint, o->resume) != 0 ||
        rt_resume_exists(o->resume))
        return rt_resume_open(&r->resume, r->rt, r->notes);
    if (r->notes)
        fprintf(r->notes, "note: there is no %s yet: the run begins\n",
                o->resume);
    return GBM_OK;
}

/* Room for the state that a checkpoint saves, and what tells this run from
 * others. */
static enum gbm_status prepare_state(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    bool saved = r->checkpoint.path[0] || r->resume.file;
    if (saved && r->in.has_moments)
        r->moments = rt_moments_create(&r->in);
    if (!rt_arrival_create(&r->arrival, rt, &r->in) ||
        (saved && r->in.has_moments && !r->moments))
        return rt_fail(rt, GBM_FAILURE, "no memory");
    if (saved)
        r->start = rt_sum_starts(&r->in);
    if (r->resume.file && rt->device != &rt_host && rt->device != &rt_plain)
        rt_resume_device(&r->resume, rt, r->notes);
    return GBM_OK;
}

static enum gbm_status prepare_checkpoint(struct rt_chains *r)
{
    struct rt_options *o = &r->rt->options;
    if (!r->checkpoint.path[0])
        return GBM_OK;
    if (r->resume.file)
        rt_checkpoint_goes_on(&r->checkpoint, &r->resume);
    if (o->every < r->pace) /* they are written between blocks */
        r->pace = o->every > SHORTEST ? o->every : SHORTEST;
    if (strcmp(o->device, "auto") == 0)
        o->device = strcmp(r->rt->device->name, "cuda") == 0 ? "cuda" : "cpu";
    return rt_checkpoint_identify(&r->checkpoint, r->rt, &r->in);
}

/* What only all of the device's chains together can tell is not told of some.
 */
static enum gbm_status add_replicas(struct rt_chains *r)
{
    struct rt_options *o = &r->rt->options;
    const struct rt_method *m = o->method;
    r->chains = o->chains;
    if (!m->replicas)
        return GBM_OK;
    o->beside = m->replicas(o);
    int64_t all = (int64_t)o->chains * o->beside;
    if (all > INT_MAX)
        return rt_fail(r->rt, GBM_USER_ERROR, "%lld chains are too many",
                       (long long)all);
    if (o->moments && strcmp(o->moments, "none") != 0)
        return rt_fail(r->rt, GBM_USER_ERROR,
                       "--moments with --method %s: not supported yet",
                       m->name);
    o->moments = "none";
    o->chains = (int)all;
    return GBM_OK;
}

static enum gbm_status prepare(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    double began = rt_clock();
    enum gbm_status s = rt_check_output(rt);
    if (s == GBM_OK)
        s = rt_read_data(rt, &r->data, r->notes);
    if (s == GBM_OK)
        s = add_replicas(r);
    if (s == GBM_OK)
        s = rt_load(rt, &r->data, false, &r->in, r->notes);
    if (s != GBM_OK)
        return s;
    r->loaded = true;
    s = rt_variant_of_data(rt, &r->in);
    if (s == GBM_OK && r->resume.file)
        s = rt_resume_data(&r->resume, rt, &r->in);
    if (s == GBM_OK)
        s = rt_monitor(rt, &r->in, r->notes);
    if (s == GBM_OK)
        s = rt_open_device(rt, &r->in, r->notes);
    if (s == GBM_OK) {
        r->opened = true;
        s = rt_start(rt, &r->in, r->notes);
    }
    if (s == GBM_OK) {
        if (!rt->options.plain && /* the sampler that is in doubt */
            !rt->options.method->replicas)
            rt_pilot(rt, &r->in);
        if (rt->options.method->prepare)
            s = rt->options.method->prepare(r);
    }
    if (s == GBM_OK)
        s = load_device(r);
    if (s == GBM_OK && !rt->options.no_check && !rt->options.plain)
        s = rt_self_check(rt, &r->in, r->notes);
    if (s == GBM_OK)
        s = prepare_state(r);
    if (s == GBM_OK)
        s = prepare_draws(r);
    if (s == GBM_OK)
        s = prepare_checkpoint(r);
    if (s == GBM_OK && r->resume.file)
        s = go_on(r);
    r->draws.timing.jit_s = rt->jit_s;
    r->draws.timing.load_s = rt_clock() - began - rt->jit_s;
    return s;
}

static enum gbm_status fetch_moments(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    int64_t count = 0;
    if (!r->in.has_moments)
        return GBM_OK;
    struct rt_moments *m = rt_moments_create(&r->in);
    if (!m)
        return rt_fail(rt, GBM_FAILURE, "no memory for moments");
    enum gbm_status s = rt->device->moments(rt, m, &count);
    if (s == GBM_OK)
        s = rt_moments_store(rt, &r->in, m, count, &r->draws);
    rt_moments_free(&r->in, m);
    return s;
}

/* For the summary, which compares modes: where no draw has a log density. */
static void keep_end_density(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    const struct rt_instance *in = &r->in;
    if (r->lp >= 0 || r->chains != in->nchains ||
        in->nchains > GBM_MODES_CHAINS || !rt_worth_scoring(rt, in))
        return;
    char *states = rt_states_create(in);
    double *lp = calloc((size_t)in->nchains, sizeof *lp);
    if (states && lp && rt->device->get(rt) == GBM_OK) {
        for (int c = 0; c < in->nchains; c++)
            lp[c] =
                rt_logdensity(in, rt_state(in, states, c), false, rt->threads);
        r->draws.end_lp = lp;
        lp = NULL;
    }
    free(lp);
    free(states);
}

static void add_to_message(struct rt *rt, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_to_message(struct rt *rt, const char *format, ...)
{
    size_t n = strlen(rt->message);
    va_list args;
    va_start(args, format);
    vsnprintf(rt->message + n, sizeof rt->message - n, format, args);
    va_end(args);
}

/* Predictions from parameters that their distribution does not allow. */
static void report_nan(struct rt_chains *r)
{
    struct rt_nan first;
    char name[256];
    int64_t n = rt_nan_forward(&r->in, &r->draws, &first);
    if (n == 0)
        return;
    rt_nan_name(&r->in, &first, name, sizeof name);
    rt_fail(r->rt, GBM_FAILURE,
            "%lld draws are not a number, the first %s, draw %d of chain %d: "
            "its parameters allow none there; all that was drawn is kept",
            (long long)n, name, first.draw + 1, first.chain + 1);
}

/* The spool goes once the draws have their place; else it is what is left. */
static void deliver(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    bool written = false;
    if (r->spool.fd >= 0)
        spool(r, true);
    if (!r->spool.failed)
        written = rt_deliver_draws(rt, &r->draws) == GBM_OK;
    deliver_summary(rt, &r->draws);
    if (!written && r->spool.fd >= 0 && r->spool.kept > 0)
        add_to_message(rt,
                       "; %d of %d draws a chain are in %s: %s summary %s "
                       "reads them, and with --out FILE writes them",
                       r->spool.kept, r->draws.capacity, r->spool.path,
                       rt->options.program, r->spool.path);
    rt_spool_end(&r->spool, !written);
}

/* What the method has to say; the caller frees it. The summary's part goes
 * where it is written from. */
static char *ask_method(struct rt_chains *r)
{
    const struct rt_method *m = r->rt->options.method;
    char *text = NULL;
    size_t n = 0, njson = 0;
    if (!m->report)
        return NULL;
    FILE *out = open_memstream(&text, &n);
    FILE *json = open_memstream(&r->draws.json, &njson);
    if (out && json)
        m->report(r, out, json);
    if (json)
        fclose(json);
    if (out)
        fclose(out);
    return text;
}

static void execute(struct rt_chains *r, const struct rt_until *until)
{
    struct rt *rt = r->rt;
    rt_catch_signals();
    rt_spool_begin(&r->spool, rt->options.out);
    if (r->notes && r->spool.path[0] && access(r->spool.path, F_OK) == 0)
        fprintf(r->notes,
                "note: %s, of an earlier run that did not end, is replaced by "
                "this run's\n",
                r->spool.path);
    if (r->notes)
        fprintf(r->notes, "%s: %d chain%s on %s\n", rt->model->name,
                rt->options.chains, rt->options.chains == 1 ? "" : "s",
                rt->device_text);
    if (r->draws.unchecked && r->notes)
        fprintf(r->notes, "warning: " GBM_UNCHECKED "\n");
    count_time(r, NULL, NULL);
    const uint32_t first = r->sweep;
    if (rt_profile_begin(rt, &r->in) != GBM_OK)
        return;
    const uint32_t warmup = (uint32_t)rt->options.warmup;
    const bool warm = r->sweep > 0 && r->sweep >= warmup;
    if ((warm || warm_up(r) == GBM_OK) && !rt_stopped() &&
        (r->sweep != warmup || pool(r) == GBM_OK))
        sample(r, until);
    if (rt->status == GBM_OK)
        save(r, r->sweep < (uint32_t)rt->options.warmup);
    if (r->draws.kept == 0) {
        if (rt_stopped())
            rt_fail(rt, GBM_FAILURE,
                    "stopped before the first draw: nothing "
                    "is written%s%s",
                    r->checkpoint.whole ? "; to go on: --resume " : "",
                    r->checkpoint.whole ? rt->options.checkpoint : "");
        return;
    }
    enum gbm_status failed = rt->status;
    if (failed == GBM_OK) {
        fetch_moments(r);
        keep_end_density(r);
        r->draws.deviance_at_means =
            rt_pointwise_at_means(&r->pointwise, &r->in, rt->threads);
    }
    char *said = failed == GBM_OK ? ask_method(r) : NULL;
    deliver(r);
    if (said && !rt->options.quiet)
        fputs(said, stdout);
    free(said);
    if (rt->profile && !rt->options.quiet)
        rt_profile_print(rt, &r->in, r->sweep - first, stdout);
    if (rt->jitters && r->notes)
        fprintf(r->notes,
                "warning: %lld factorisations of Gaussian blocks needed "
                "jitter: their precision is nearly singular\n",
                (long long)rt->jitters);
    if (failed == GBM_OK)
        report_nan(r);
    if (!r->draws.complete && rt_stopped())
        rt_fail(rt, GBM_FAILURE,
                "stopped: %d of %d draws a chain were kept; the run is marked "
                "incomplete%s%s",
                r->draws.kept, r->draws.capacity,
                r->checkpoint.whole ? "; to go on: --resume " : "",
                r->checkpoint.whole ? rt->options.checkpoint : "");
}

int rt_run_chains(struct rt *rt)
{
    struct rt_chains r = {
        .rt = rt, .lp = -1, .pace = BLOCK_SECONDS, .block = 1, .spool.fd = -1};
    struct rt_until until;
    r.notes = rt->options.quiet ? NULL : stderr;
    bool terminal = isatty(STDERR_FILENO) != 0;
    r.progress.out = rt->options.progress == 2 ? NULL : r.notes;
    r.progress.bar =
        rt->options.progress == 1 || (rt->options.progress == -1 && terminal);
    if (rt->options.explain && !rt->options.quiet)
        fputs(rt->model->explain, stdout);
    if (prepare_resume(&r) == GBM_OK && rt_until_parse(rt, &until) == GBM_OK &&
        prepare(&r) == GBM_OK && rt_until_fits(rt, &until, &r.draws) == GBM_OK)
        execute(&r, &until);
    if (rt->options.method->release)
        rt->options.method->release(&r);
    if (r.opened)
        rt->device->close(rt);
    rt_profile_end(rt);
    rt_checkpoint_end(&r.checkpoint);
    rt_resume_end(&r.resume);
    rt_moments_free(&r.in, r.moments);
    rt_pointwise_free(&r.pointwise, &r.in);
    rt_arrival_free(&r.arrival);
    gbm_draws_free(&r.draws);
    if (r.loaded)
        rt_instance_free(&r.in);
    gbm_data_free(&r.data);
    return rt_report(rt);
}

int rt_command_summary(struct rt *rt)
{
    struct gbm_draws draws;
    char error[GBM_ERROR];
    gbm_draws_init(&draws);
    enum gbm_status s = gbm_draws_read(&draws, rt->options.file, error);
    if (s != GBM_OK)
        rt_fail(rt, s, "%s", error);
    else if (rt_check_output(rt) == GBM_OK &&
             rt_settle_labels(rt, &draws) == GBM_OK)
        rt_deliver(rt, &draws);
    gbm_draws_free(&draws);
    return rt_report(rt);
}
