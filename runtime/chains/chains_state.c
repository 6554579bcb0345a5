/* chains_state.c: checkpoints: what a run is, beside what follows from model,
 * data and options. Random numbers are functions of seed and sweep. */
#include "chains/chains.h"
#include "host/host.h"

#include <string.h>

#define SHORTEST 0.01 /* seconds of a block with frequent checkpoints */

#define ADD(name, place) rt_pieces_add(p, name, place, sizeof *(place))

/* ---- the time it has taken ---- */

void rt_chains_count_anew(struct rt_chains *r)
{
    r->wall = rt_clock();
    r->cpu = rt_cpu_clock();
}

void rt_chains_count_phase(struct rt_chains *r, bool adapting)
{
    struct gbm_timing *t = &r->draws.timing;
    const double wall = rt_clock() - r->wall, cpu = rt_cpu_clock() - r->cpu;
    *(adapting ? &t->warmup_s : &t->sampling_s) += wall;
    *(adapting ? &t->warmup_cpu_s : &t->sampling_cpu_s) += cpu;
    r->wall += wall;
    r->cpu += cpu;
}

/* ---- its state ---- */

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
    ADD("states compared", &r->arrival.scores.states);
}

static void list_arrays(struct rt_chains *r, struct rt_pieces *p)
{
    const struct rt_instance *in = &r->in;
    const struct gbm_draws *d = &r->draws;
    size_t kept = (size_t)d->kept;
    rt_scores_list(&r->arrival.scores, in, p);
    for (int v = 0; v < in->model->nvariables; v++) {
        const char *name = in->model->variables[v].name;
        size_t bytes = rt_chain_bytes(in, v);
        if (bytes > 0)
            rt_pieces_add(p, name, in->slots[v].values, bytes);
    }
    rt_moments_list(in, r->moments, p);
    rt_relabelling_list(r, p);
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

void rt_chains_save(struct rt_chains *r, bool adapting)
{
    struct rt *rt = r->rt;
    struct rt_pieces pieces = {0};
    struct rt_nan bad;
    char error[GBM_ERROR];
    if (!r->checkpoint.path[0])
        return;
    rt_chains_count_phase(r, adapting);
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

enum gbm_status rt_chains_go_on(struct rt_chains *r)
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

enum gbm_status rt_chains_read_numbers(struct rt_chains *r, int *capacity)
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

enum gbm_status rt_chains_prepare_state(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    bool saved = r->checkpoint.path[0] || r->resume.file;
    if (saved && r->in.has_moments)
        r->moments = rt_moments_create(&r->in);
    if (!rt_arrival_create(&r->arrival, rt, &r->in) ||
        !rt_ease_create(&r->ease, rt, &r->in) ||
        (saved && r->in.has_moments && !r->moments))
        return rt_fail(rt, GBM_FAILURE, "no memory");
    if (saved)
        r->start = rt_sum_starts(&r->in);
    if (r->resume.file && rt->device != &rt_host && rt->device != &rt_plain)
        rt_resume_device(&r->resume, rt, r->notes);
    return GBM_OK;
}

enum gbm_status rt_chains_prepare_checkpoint(struct rt_chains *r)
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
