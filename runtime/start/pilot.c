/* pilot.c: several starts, of which each chain keeps the most probable. Where
 * nodes are drawn by trying every value, one at a time, a chain can be caught
 * for long in a minor mode: all members of two groups named the wrong way
 * round, say, against the one member that is known. So each chain sweeps a
 * little from some starts, and keeps the first unless another leads to a state
 * that is far more probable, by the names of groups that priors tell apart,
 * too; modes of like probability stay as dispersed as they were drawn. Runs on
 * the host whatever the device, so that devices start alike. */
#include "start/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STARTS 6
#define SETTLE 25 /* sweeps before the states that are compared */
#define COMPARE 5 /* states */
#define BETWEEN 5 /* sweeps */
#define WORK 5e7  /* terms evaluated; more is not worth the wait */
#define MARGIN 5. /* of log densities: e^5 to 1 */

struct pilot {
    struct rt *rt;
    struct rt_instance *in;
    char *states;
    struct rt_scores scores;
    double *mean, *variance; /* [chains] of the best so far */
    void **kept;             /* [nvariables] per-chain values of the best */
    struct rt_ease ease;
};

static size_t cell_size(const struct rt_instance *in, int v)
{
    return in->model->variables[v].integer ? sizeof(int) : sizeof(double);
}

/* Keeps (or, with `back`, restores) the values of one chain. */
static void copy_chain(const struct pilot *p, int chain, bool back)
{
    for (int v = 0; v < p->in->model->nvariables; v++) {
        const struct rt_slot *slot = &p->in->slots[v];
        if (!p->kept[v])
            continue;
        size_t bytes = (size_t)slot->cells * cell_size(p->in, v);
        char *now = (char *)slot->values + (size_t)chain * bytes;
        char *then = (char *)p->kept[v] + (size_t)chain * bytes;
        memcpy(back ? now : then, back ? then : now, bytes);
    }
}

/* So many sweeps from `first` on, at the pace of a start. */
static bool sweep(struct pilot *p, uint64_t seed, int first, int sweeps)
{
    const bool eased = p->ease.sweeps > 0;
    struct rt_block block = {.seed = seed,
                             .first = (uint32_t)first,
                             .sweeps = eased ? 1 : sweeps,
                             .adapting = true};
    for (int k = 0; k < sweeps; k += block.sweeps, block.first++) {
        if (eased)
            rt_ease_begin(&p->ease);
        if (p->rt->device->run(p->rt, &block) != GBM_OK ||
            (eased && rt_ease_end(&p->ease, p->rt) != GBM_OK))
            return false;
    }
    return true;
}

/* Sweeps all chains, and scores the states at the end. */
static bool sweep_from_here(struct pilot *p, uint64_t seed)
{
    bool ok = sweep(p, seed, 0, SETTLE);
    for (int k = 0; ok && k < COMPARE; k++)
        ok = sweep(p, seed, SETTLE + k * BETWEEN, BETWEEN) &&
             rt_scores_add(&p->scores, p->rt, p->in);
    rt_scores_end(&p->scores, p->in);
    return ok;
}

static bool start_again(const struct pilot *p, uint64_t seed)
{
    uint64_t own = p->rt->options.seed;
    p->rt->options.seed = seed;
    enum gbm_status s = rt_start(p->rt, p->in, NULL);
    p->rt->options.seed = own;
    return s == GBM_OK;
}

static void compare_starts(struct pilot *p)
{
    const double *mean = p->scores.mean, *variance = p->scores.variance;
    uint64_t seed = p->rt->options.seed;
    for (int k = 0; k < STARTS; k++, seed += UINT64_C(0x9E3779B97F4A7C15)) {
        if ((k > 0 && !start_again(p, seed)) || !sweep_from_here(p, ~seed))
            continue;
        for (int c = 0; c < p->in->nchains; c++) {
            double spread = sqrt(fmax(variance[c], p->variance[c]));
            if (!isfinite(mean[c]) ||
                (isfinite(p->mean[c]) &&
                 !(mean[c] > p->mean[c] + MARGIN + spread)))
                continue;
            p->mean[c] = mean[c];
            p->variance[c] = variance[c];
            copy_chain(p, c, false);
        }
    }
}

static bool worthwhile(const struct pilot *p)
{
    double work = 0;
    bool modes = false;
    for (int k = 0; k < p->in->model->nsteps; k++) {
        const struct gbm_step *step = &p->in->model->steps[k];
        const struct rt_step *plan = &p->in->steps[k];
        if (!plan->active || step->leaf)
            continue;
        double terms = step->cost ? (double)step->cost(p->states) : 1;
        work += (double)plan->count * (8 + terms);
        for (int i = 0; step->dense && i < step->dense->nterms; i++)
            work += 100 * (double)p->in->elements[step->dense->terms[i].family];
        modes = modes || step->repairs;
    }
    return modes &&
           work * p->in->nchains * STARTS * (SETTLE + COMPARE * BETWEEN) <=
               WORK;
}

static bool prepare(struct pilot *p)
{
    const struct rt_instance *in = p->in;
    size_t chains = (size_t)in->nchains;
    p->states = rt_states_create(in);
    p->kept = calloc((size_t)in->model->nvariables + 1, sizeof *p->kept);
    p->mean = calloc(2 * chains, sizeof *p->mean);
    if (!p->states || !p->kept || !p->mean || !worthwhile(p) ||
        !rt_scores_create(&p->scores, in))
        return false;
    p->variance = p->mean + chains;
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct rt_slot *slot = &in->slots[v];
        if (!slot->per_chain || slot->cells == 0)
            continue;
        p->kept[v] = malloc(chains * (size_t)slot->cells * cell_size(in, v));
        if (!p->kept[v])
            return false;
    }
    for (int c = 0; c < in->nchains; c++) {
        p->mean[c] = NAN;
        copy_chain(p, c, false); /* if no start leads anywhere */
    }
    return true;
}

/* The runtime's device is the host meanwhile; failures are forgotten: whatever
 * is wrong shows again in the run. */
void rt_pilot(struct rt *rt, struct rt_instance *in)
{
    struct pilot p = {.rt = rt, .in = in};
    const struct rt_device *device = rt->device;
    void *device_data = rt->device_data;
    int64_t jitters = rt->jitters;
    int threads = rt->threads;
    bool wanted = rt->options.ninit == 0 && rt->options.starts == RT_DISPERSED;
    if (wanted && prepare(&p) && rt_ease_create(&p.ease, rt, in)) {
        rt->device = &rt_host;
        rt->device_data = NULL;
        rt->threads = 1; /* too little to wake others for */
        if (rt_host.load(rt, in) == GBM_OK)
            compare_starts(&p);
        rt_host.close(rt);
        for (int c = 0; c < in->nchains; c++)
            copy_chain(&p, c, true);
        rt->device = device;
        rt->device_data = device_data;
        rt->threads = threads;
        rt->jitters = jitters;
        rt->status = GBM_OK;
        rt->message[0] = '\0';
    }
    for (int v = 0; p.kept && v < in->model->nvariables; v++)
        free(p.kept[v]);
    rt_ease_free(&p.ease);
    rt_scores_free(&p.scores);
    free(p.kept);
    free(p.mean);
    free(p.states);
}
