/* same_sweep.c: a sweep of a device beside the host's, from one state and with
 * the same random numbers. They differ by rounding, unless one of them draws
 * from something else. Rounding alone may turn a draw (an accepted value, a
 * category) once in a billion, not again and again at one step. */
#include "check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS 10
#define CHAINS 4
#define TIMES 3   /* that they must part at one step */
#define DECIDE 1  /* seconds that this may take, once they have parted */
#define PIECE 256 /* elements between two looks at the clock */
#define MOVED                                                                  \
    1e-2            /* of how far a cell moved: nearly singular blocks lose    \
                       digits, the same ones as at other orders of their sums */
#define DIGITS 1e-9 /* relative; values that hardly move */

struct twins {
    struct rt *rt;
    const struct rt_instance *in;
    struct host_dense *const
        *dense;  /* [nsteps], NULL where it costs too much */
    void *state; /* of `chain` */
    int chain;
    struct host_work work;
    double deadline;
};

static bool late(const struct twins *t) { return rt_clock() > t->deadline; }

/* ---- the host's sweep ---- */

static bool map(const struct twins *t, int k, const struct gbm_sweep *sweep)
{
    const struct gbm_step *step = &t->in->model->steps[k];
    const struct rt_step *plan = &t->in->steps[k];
    bool stopped = false;
    for (int c = 0; c < plan->ncolours; c++) {
        int64_t first = plan->colour[c], last = plan->colour[c + 1];
#pragma omp parallel for num_threads(t->rt->threads)                           \
    reduction(||                                                               \
              : stopped) if (!plan->sequential && last - first > PIECE)
        for (int64_t i = first; i < last; i += PIECE) {
            stopped = stopped || late(t);
            if (!stopped)
                step->run(t->state, sweep, (uint32_t)t->chain, plan->elements,
                          i, i + PIECE < last ? i + PIECE : last);
        }
    }
    return !stopped;
}

static bool derive(const struct twins *t, int f)
{
    const struct gbm_family *family = &t->in->model->families[f];
    bool stopped = false;
#pragma omp parallel for num_threads(t->rt->threads)                           \
    reduction(||                                                               \
              : stopped) if (t->in->elements[f] > PIECE)
    for (int64_t i = 0; i < t->in->elements[f]; i += PIECE) {
        stopped = stopped || late(t);
        for (int64_t e = i; e < i + PIECE && e < t->in->elements[f] && !stopped;
             e++)
            (family->refresh ? family->refresh : family->derive)(t->state, e);
    }
    return !stopped;
}

static bool dense(struct twins *t, int k, const struct gbm_sweep *sweep)
{
    int64_t jitters = 0;
    return t->dense[k] &&
           host_dense_draw(t->dense[k], t->state, sweep, (uint32_t)t->chain,
                           t->rt->threads, &t->work, &jitters) &&
           jitters == 0;
}

static bool run_step(struct twins *t, int k, const struct gbm_sweep *sweep)
{
    const struct gbm_step *step = &t->in->model->steps[k];
    switch (step->kind) {
    case GBM_STEP_MAP:
        return map(t, k, sweep);
    case GBM_STEP_DERIVE:
        return derive(t, step->family);
    case GBM_STEP_INDEX:
        rt_index(t->in, t->state, step->inverse, t->chain);
        return !late(t);
    case GBM_STEP_DENSE:
        return dense(t, k, sweep);
    }
    return false;
}

/* The steps of a sweep of the chain, as far as there is time; returns how many
 * were made. */
static int sweep_of_host(struct twins *t, const struct gbm_sweep *sweep)
{
    for (int k = 0; k < t->in->model->nsteps; k++)
        if (t->in->steps[k].active && !t->in->model->steps[k].leaf &&
            !run_step(t, k, sweep))
            return k;
    return t->in->model->nsteps;
}

/* ---- two states ---- */

static double value(const struct rt_instance *in, void *const *values, int v,
                    int64_t cell)
{
    return in->model->variables[v].integer ? ((const int *)values[v])[cell]
                                           : ((const double *)values[v])[cell];
}

/* Whether a cell went from `before` to two places. */
static bool parted(const struct rt_instance *in, int v, int64_t cell,
                   void *const *before, void *const *a, void *const *b)
{
    double x = value(in, before, v, cell);
    double y = value(in, a, v, cell), z = value(in, b, v, cell);
    double allowed = MOVED * fmax(fabs(y - x), fabs(z - x)) +
                     DIGITS * fmax(fabs(y), fabs(z));
    return !(fabs(y - z) <= allowed) && !(isnan(y) && isnan(z));
}

/* Whether the step draws cells of the variable. */
static bool draws(const struct gbm_model *m, const struct gbm_step *step, int v)
{
    if (step->kind != GBM_STEP_MAP && step->kind != GBM_STEP_DENSE)
        return false;
    for (int i = 0; step->joint && i < step->joint->nvariables; i++)
        if (step->joint->variables[i] == v)
            return true;
    for (int i = 0; step->members && i < step->nmembers; i++)
        if (m->families[step->members[i]].variable == v)
            return true;
    return m->families[step->family].variable == v;
}

/* The first step after which two sweeps are apart, and a cell there. */
struct parting {
    int step; /* -1: they agree */
    int variable;
    int64_t cell; /* among those of all chains */
};

static int64_t first_parted(const struct twins *t, int v, void *const *before,
                            void *const *a, void *const *b)
{
    const struct rt_slot *slot = &t->in->slots[v];
    for (int64_t i = 0; i < slot->cells; i++) {
        int64_t cell = t->chain * slot->cells + i;
        if (!rt_seen(slot, i) && !rt_barren(slot, i) &&
            parted(t->in, v, cell, before, a, b))
            return cell;
    }
    return -1;
}

static struct parting find(const struct twins *t, int nsteps,
                           void *const *before, void *const *a, void *const *b)
{
    const struct gbm_model *m = t->in->model;
    for (int k = 0; k < nsteps; k++)
        for (int v = 0; v < m->nvariables; v++) {
            enum gbm_role role = m->variables[v].role;
            if (!before[v] || !t->in->steps[k].active || m->steps[k].leaf ||
                (role != GBM_STOCHASTIC && role != GBM_AUXILIARY) ||
                !draws(m, &m->steps[k], v))
                continue;
            int64_t cell = first_parted(t, v, before, a, b);
            if (cell >= 0)
                return (struct parting){k, v, cell};
        }
    return (struct parting){-1, -1, -1};
}

/* Whether a later step moves it once more: the fault may be there, or in a step
 * between, whose nodes that one reads. */
static bool moves_later(const struct rt_instance *in, const struct parting *p)
{
    for (int k = p->step + 1; k < in->model->nsteps; k++)
        if (in->steps[k].active && !in->model->steps[k].leaf &&
            draws(in->model, &in->model->steps[k], p->variable))
            return true;
    return false;
}

static enum gbm_status refuse(struct rt *rt, const struct rt_instance *in,
                              const struct parting *p, int times,
                              void *const *host, void *const *device)
{
    const struct gbm_step *step = &in->model->steps[p->step];
    const struct gbm_family *family = &in->model->families[step->family];
    char name[128];
    rt_cell_name(in, p->variable, p->cell % in->slots[p->variable].cells, name,
                 sizeof name);
    return rt_fail(
        rt, GBM_FAILURE,
        "%s: this sampler is wrong on this device: no draws were made\n"
        "    %s\n"
        "The update of %s (%s)%s draws %.10g for %s on the device and %.10g on "
        "the CPU, from the same values and random numbers, and so in %d "
        "sweeps. " CHECK_REPORT,
        family->where, family->text, step->variable, step->sampler,
        moves_later(in, p) ? ", or one up to its last move," : "",
        value(in, device, p->variable, p->cell), name,
        value(in, host, p->variable, p->cell), times,
        (unsigned long long)rt->options.seed);
}

/* ---- sweep by sweep ---- */

/* Chain `t->chain` of the host's sweep from the state in the slots beside that
 * of the device, which they hold at the end. */
static enum gbm_status turn(struct twins *t, const struct gbm_sweep *sweep,
                            void *const *before, void *const *device,
                            int *tally)
{
    rt_put_back(t->in, before);
    rt_bind(t->in, t->state, t->chain);
    rt_refresh(t->in, t->state, t->chain);
    int made = sweep_of_host(t, sweep);
    void **host = rt_save(t->in);
    if (!host)
        return rt_fail(t->rt, GBM_FAILURE, "no memory for the self-check");
    struct parting p = find(t, made, before, host, device);
    enum gbm_status status = GBM_OK;
    if (p.step >= 0 && ++tally[p.step] == TIMES)
        status = refuse(t->rt, t->in, &p, TIMES, host, device);
    else if (p.step >= 0 && tally[p.step] == 1)
        t->deadline = fmax(t->deadline, rt_clock() + DECIDE);
    rt_forget(t->in, host);
    rt_put_back(t->in, device);
    return status;
}

static enum gbm_status device_sweep(struct rt *rt, uint32_t number)
{
    struct rt_block block = {.seed = rt->options.seed,
                             .first = number,
                             .sweeps = 1,
                             .adapting = true};
    enum gbm_status status = rt->device->run(rt, &block);
    return status == GBM_OK ? rt->device->get(rt) : status;
}

/* A sweep of the device, or the one that it has made from `made`. */
static enum gbm_status turns(struct twins *t, uint32_t number,
                             void *const *made, int *tally)
{
    struct gbm_sweep sweep = {
        .seed = t->rt->options.seed, .sweep = number, .adapting = 1};
    void **saved = made ? NULL : rt_save(t->in);
    void *const *before = made ? made : saved;
    enum gbm_status status = made ? GBM_OK : device_sweep(t->rt, number);
    void **device = rt_save(t->in);
    if (!before || !device)
        status = rt_fail(t->rt, GBM_FAILURE, "no memory for the self-check");
    for (t->chain = 0; t->chain < CHAINS && t->chain < t->in->nchains &&
                       status == GBM_OK && (t->chain == 0 || !late(t));
         t->chain++)
        status = turn(t, &sweep, before, device, tally);
    rt_forget(t->in, saved);
    rt_forget(t->in, device);
    return status;
}

enum gbm_status rt_same_sweep(struct rt *rt, const struct rt_instance *in,
                              struct host_dense *const *dense, uint32_t first,
                              double seconds, void *const *before)
{
    struct twins t = {.rt = rt, .in = in, .dense = dense};
    enum gbm_status status = GBM_OK;
    int *tally = calloc((size_t)in->model->nsteps + 1, sizeof *tally);
    t.state = calloc(1, in->model->state_size + 1);
    t.deadline = rt_clock() + seconds;
    if (!t.state || !tally)
        status = rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    for (uint32_t i = 0;
         i < SWEEPS && status == GBM_OK && (i == 0 || !late(&t)); i++)
        status = turns(&t, first + i, i == 0 ? before : NULL, tally);
    free(tally);
    free(t.work.cells);
    free(t.state);
    return status;
}
