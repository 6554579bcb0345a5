/* chains.c: the sweeps of a small model as one kernel, in which a team of at
 * most 32 lanes sweeps one chain (stdlib/kernels/chains_cuda.h). Step by step a
 * sweep costs some microseconds a kernel, however little there is to do. What
 * one step does for a chain at once, be it many elements or a long sum, must
 * not be much, as one team does it. Blocks that several kernels draw, and
 * inverse indices that are rebuilt, are left to sweep.c.
 *
 * GBM_CUDA_CHAINS, for tests: 0 never, 1 to 32 so many lanes wherever it can be
 * done. */
#include "cuda.h"

#include <stdlib.h>

/* As in chains_cuda.h; pointers of the device. */
struct chain_step {
    CUdeviceptr elements, colour;
    int ncolours, together;
};
struct chain_plan {
    CUdeviceptr steps, families, densities;
    struct cuda_kept kept;
    long long lp_offset;
    int late, known;
};

#define SWEEPS 32 /* of a launch, so that an interrupt is soon noticed */

/* ---- the choice ---- */

/* About how long, in nanoseconds and in double precision: a term of a sum, a
 * draw, an exchange among lanes, a kernel of a graph; an update that tries
 * values computes TRIALS times as much. Measured on an H100 with five examples,
 * 4 to 131,072 chains. */
#define TERM 15.0
#define DRAW 1200.0
#define EXCHANGE 150.0
#define LAUNCH 2500.0
#define TRIALS 8.0

/* Warps of a multiprocessor from which on more of them take more time; beyond,
 * threads of one chain each read memory less well than threads of one element
 * each. */
#define BUSY_WARPS 4.0
#define SCATTERED 1.15

/* A lane that sweeps a chain alone reads cells that no other lane reads. Where
 * those of the chains at work do not fit into the memory of a multiprocessor,
 * each term of a sum over them waits. On an H200 with 131,072 chains of 65
 * cells (rats) a sweep took 0.98 ms in one kernel and 0.71 by kernels of steps.
 */
#define APART 3.0
#define THREADS_AT_WORK 1024.0

/* The same for the work space of a small joint block, which fewer lanes than
 * cuda_joint_lanes read in pieces: on an H100, with 131,072 chains, one lane
 * took 2.1 and 2.9 times as long as four (blocks of 9 and 26 coordinates). */
#define SCATTERED_BLOCK 2.5

/* Rows of more operations wait for arithmetic, each of which takes so many
 * nanoseconds, and not for what they read; then so many warps go at once.
 * Measured on an H200 with the means of a mixture, 32,768 chains. */
#define HEAVY 64.0
#define OPERATION 10.0
#define HEAVY_WARPS 24.0

/* What an element of a step takes; terms: nanoseconds of its sums. */
struct work {
    double terms, times;
    bool heavy;
};

double cuda_search_operations(const struct cuda *c, int step, double *rows)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const int64_t elements = c->in->steps[step].count;
    double operations = 0, *counts;
    int n = 0, at = 0;

    *rows = 0;
    for (int i = 0; i < s->nphases; i++)
        n += GBM_WORK_READS + s->phases[i].nreads;
    counts = calloc((size_t)n + 1, sizeof *counts);
    if (counts && s->work)
        s->work(c->host_state, counts);
    for (int i = 0; counts && i < s->nphases; i++) {
        if (s->phases[i].at_least) {
            operations += counts[at + GBM_WORK_OPERATIONS];
            *rows += counts[at + GBM_WORK_ROWS];
        }
        at += GBM_WORK_READS + s->phases[i].nreads;
    }
    free(counts);
    *rows = elements > 0 ? *rows / (double)elements : 0;
    return elements > 0 ? operations / (double)elements : 0;
}

double cuda_heavy_operations(const struct cuda *c, int step)
{
    double rows;
    const double operations = cuda_search_operations(c, step, &rows);
    return operations > HEAVY * rows ? operations : 0;
}

static struct work work_of(const struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const double terms = s->cost ? (double)s->cost(c->host_state) : 1;
    const double operations = cuda_heavy_operations(c, step);
    struct work w = {.terms = terms * TERM, .times = s->trials ? TRIALS : 1};

    w.heavy = operations > 0;
    if (w.heavy) /* of all its trials */
        w.terms = operations * OPERATION / w.times;
    return w;
}

/* Elements done by one team: an element a lane, or one after the other by all.
 */
static double apart(int64_t elements, struct work w, int lanes)
{
    return (double)((elements + lanes - 1) / lanes) * w.times *
           (w.terms + DRAW);
}

static double together(int64_t elements, struct work w, int lanes)
{
    return (double)elements * w.times *
           (w.terms / lanes + EXCHANGE * (lanes > 1) + DRAW);
}

/* How much longer the device takes with so many threads. */
static double crowd(const struct cuda *c, struct work w, double threads)
{
    const double warps = threads / 32 / c->multiprocessors;
    const double busy = w.heavy ? HEAVY_WARPS : BUSY_WARPS;
    return warps > busy ? warps / busy : 1;
}

/* So many elements by a kernel of their own, a team of lanes each, `at_once` of
 * them in each chain. Where teams have sums and lanes draw, there is one draw
 * an element. */
static double by_kernel(const struct cuda *c, int step, struct work w,
                        int64_t elements, int64_t at_once)
{
    const int lanes = c->steps[step].kernel.lanes;
    const double items = (double)c->in->nchains * (double)at_once;
    const double crowded = crowd(c, w, items * lanes);

    if (!c->in->model->steps[step].split || lanes == 1 || lanes > 32)
        return together(elements / at_once, w, lanes) * crowded;
    return (double)(elements / at_once) * w.times *
           ((w.terms / lanes + EXCHANGE) * crowded + DRAW * crowd(c, w, items));
}

/* The elements of a colour; a sequential step has one after the other. */
static int64_t in_colour(const struct rt_step *plan, int colour)
{
    return plan->sequential ? plan->count
                            : plan->colour[colour + 1] - plan->colour[colour];
}

static int colours_of(const struct rt_step *plan)
{
    return !plan->active ? 0 : plan->sequential ? 1 : plan->ncolours;
}

/* Bytes of what is drawn in a chain. */
static double chain_bytes(const struct cuda *c)
{
    double cells = 0;

    for (int v = 0; v < c->in->model->nvariables; v++)
        if (c->in->slots[v].per_chain &&
            c->in->model->variables[v].role == GBM_STOCHASTIC)
            cells += (double)c->in->slots[v].cells;
    return cells * (c->single ? sizeof(float) : sizeof(double));
}

/* How much longer a term takes a chain's lanes than if neighbouring lanes read
 * neighbouring cells. */
static double apart_by(const struct cuda *c, int lanes)
{
    const double chains = (double)c->in->nchains / c->multiprocessors;
    const double at_work = chains < THREADS_AT_WORK ? chains : THREADS_AT_WORK;
    return lanes == 1 && at_work * chain_bytes(c) > c->shared_most ? APART : 1;
}

/* Whether the lanes of a chain share each element of a step. */
static bool share(const struct cuda *c, int step, int lanes, double *time)
{
    const struct rt_step *plan = &c->in->steps[step];
    struct work w = work_of(c, step);
    double one = 0, many = 0;

    w.terms *= w.heavy ? 1 : apart_by(c, lanes);
    for (int i = 0; i < colours_of(plan); i++) {
        one += together(in_colour(plan, i), w, lanes);
        many += apart(in_colour(plan, i), w, lanes);
    }
    const bool shared = plan->sequential || one < many;
    *time = shared ? one : many;
    return shared;
}

static double scattered(const struct cuda *c, int step, struct work w,
                        int lanes)
{
    if (lanes == 1 && cuda_joint_room(c, step) > 0)
        return 1;
    if (cuda_joint_lanes(c, step) > lanes)
        return SCATTERED_BLOCK;
    return w.heavy ? 1 : SCATTERED;
}

/* A sweep by one kernel with so many lanes a chain. */
static double time_in_teams(const struct cuda *c, int lanes)
{
    const double threads = (double)c->in->nchains * lanes;
    double time = 0, sum = 0;

    for (int k = 0; k < c->in->model->nsteps; k++) {
        if (!c->in->steps[k].active)
            continue;
        const struct work w = work_of(c, k);
        const double crowded = crowd(c, w, threads);
        (void)share(c, k, lanes, &time);
        sum += time * crowded * (crowded > 1 ? scattered(c, k, w, lanes) : 1);
    }
    return sum;
}

/* The same by a kernel for each colour of each step. */
static double time_by_steps(const struct cuda *c)
{
    double sum = 0;

    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct rt_step *plan = &c->in->steps[k];
        if (!plan->active)
            continue;
        const struct work w = work_of(c, k);
        for (int i = 0; i < colours_of(plan); i++) {
            const int64_t n = in_colour(plan, i);
            const int64_t at_once = plan->sequential || n == 0 ? 1 : n;
            sum += LAUNCH + by_kernel(c, k, w, n, at_once);
        }
    }
    return sum;
}

static bool possible(const struct cuda *c)
{
    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct gbm_step *s = &c->in->model->steps[k];
        /* what one kernel computes by an index of the device alone it has
         * without it, too */
        const bool left = s->kind == GBM_STEP_INDEX &&
                          c->in->model->inverses[s->inverse].device;
        if (c->in->steps[k].active && s->kind != GBM_STEP_MAP &&
            s->kind != GBM_STEP_DERIVE && !left)
            return false;
    }
    return true;
}

/* The number of lanes that is fastest; 0: steps by their own kernels are. */
static int fastest(const struct cuda *c)
{
    double least = time_by_steps(c);
    int best = 0;

    for (int lanes = 1; lanes <= 32; lanes *= 2) {
        const double time = time_in_teams(c, lanes);
        if (time < least) {
            least = time;
            best = lanes;
        }
    }
    return best;
}

void cuda_chains_plan(struct cuda *c)
{
    struct cuda_chains *k = &c->chains;
    const char *asked = getenv("GBM_CUDA_CHAINS");

    *k = (struct cuda_chains){0};
    if (!possible(c) || c->rt->options.profile) /* which times each step */
        return;
    k->lanes = asked && asked[0] ? atoi(asked) : fastest(c);
    if (k->lanes < 0 || k->lanes > 32 || (k->lanes & (k->lanes - 1)) != 0)
        k->lanes = 0;
    if (!k->lanes)
        return;
    cuda_name_kernel(&k->kernel, "chains", k->lanes);
    /* few chains are spread over the device */
    if ((int64_t)c->in->nchains * k->lanes < (int64_t)c->multiprocessors * 256)
        k->kernel.block = 32;
    cuda_say(c, ", sweeps in one kernel, %d thread%s a chain", k->lanes,
             k->lanes > 1 ? "s" : "");
}

/* ---- the tables ---- */

enum gbm_status cuda_chains_request(struct cuda *c)
{
    struct cuda_chains *k = &c->chains;
    const struct rt_instance *in = c->in;
    const size_t steps = (size_t)in->model->nsteps;
    const size_t families = (size_t)in->model->nfamilies;

    if (!k->lanes)
        return GBM_OK;
    k->ncolours = 0;
    for (int i = 0; i < in->model->nsteps; i++)
        k->ncolours += colours_of(&in->steps[i]) + 1;
    k->ncolours += 2 * in->model->nfamilies;
    TRY(cuda_request(c, &k->plan, sizeof(struct chain_plan), "a sweep"));
    TRY(cuda_request(c, &k->steps, (steps + 1) * sizeof(struct chain_step),
                     "a sweep"));
    TRY(cuda_request(c, &k->families,
                     (families + 1) * sizeof(struct chain_step), "a sweep"));
    TRY(cuda_request(c, &k->densities, (families + 1) * sizeof(long long),
                     "a sweep"));
    return cuda_request(c, &k->colours, (size_t)k->ncolours * sizeof(long long),
                        "a sweep");
}

/* The ends of colours of all steps and families, one behind the other. */
struct ends {
    long long *values;
    int64_t n;
};

static CUdeviceptr add_end(const struct cuda *c, struct ends *ends,
                           long long end)
{
    ends->values[ends->n] = end;
    return c->chains.colours +
           (CUdeviceptr)(ends->n++) * (CUdeviceptr)sizeof end;
}

static struct chain_step step_table(const struct cuda *c, int step,
                                    struct ends *ends)
{
    const struct rt_step *plan = &c->in->steps[step];
    struct chain_step out = {.ncolours = colours_of(plan)};
    int64_t end = plan->active && !plan->sequential ? plan->colour[0] : 0;
    double time;

    if (!out.ncolours)
        return out;
    out.elements = c->steps[step].elements;
    out.colour = add_end(c, ends, end);
    for (int i = 0; i < out.ncolours; i++) {
        end += in_colour(plan, i);
        (void)add_end(c, ends, end);
    }
    out.together = share(c, step, c->chains.lanes, &time);
    return out;
}

static void fill_families(struct cuda *c, struct chain_step *families,
                          long long *densities, struct ends *ends)
{
    const struct rt_instance *in = c->in;

    for (int i = 0; i < in->nkept_families; i++) {
        const int f = in->kept_families[i];
        families[f].colour = add_end(c, ends, 0);
        (void)add_end(c, ends, in->elements[f]);
        families[f].ncolours = 1;
        families[f].together = in->model->families[f].recursive;
    }
    for (int f = 0; f < in->model->nfamilies; f++)
        densities[f] = c->densities[f].name[0] ? in->elements[f] : 0;
}

struct tables {
    struct chain_step *steps, *families;
    long long *densities;
    struct ends ends;
};

static enum gbm_status fill_and_upload(struct cuda *c, struct tables *t)
{
    const struct cuda_chains *k = &c->chains;
    const struct rt_instance *in = c->in;
    const size_t steps = (size_t)in->model->nsteps;
    const size_t families = (size_t)in->model->nfamilies;
    struct chain_plan plan = {.steps = k->steps,
                              .families = k->families,
                              .densities = k->densities,
                              .kept = c->keep.all,
                              .lp_offset = in->row,
                              .late = in->moments_late,
                              .known = cuda_ladder_known(c)};

    for (int s = 0; s < in->model->nsteps; s++)
        t->steps[s] = step_table(c, s, &t->ends);
    fill_families(c, t->families, t->densities, &t->ends);
    TRY(cuda_upload(c, k->plan, &plan, sizeof plan));
    TRY(cuda_upload(c, k->steps, t->steps, steps * sizeof *t->steps));
    TRY(cuda_upload(c, k->families, t->families,
                    families * sizeof *t->families));
    TRY(cuda_upload(c, k->densities, t->densities,
                    families * sizeof *t->densities));
    return cuda_upload(c, k->colours, t->ends.values,
                       (size_t)t->ends.n * sizeof *t->ends.values);
}

enum gbm_status cuda_chains_upload(struct cuda *c)
{
    const struct rt_instance *in = c->in;
    const size_t steps = (size_t)in->model->nsteps + 1;
    const size_t families = (size_t)in->model->nfamilies + 1;

    if (!c->chains.lanes)
        return GBM_OK;
    struct tables t = {
        .steps = calloc(steps, sizeof *t.steps),
        .families = calloc(families, sizeof *t.families),
        .densities = calloc(families, sizeof *t.densities),
        .ends = {calloc((size_t)c->chains.ncolours + 1, sizeof *t.ends.values),
                 0}};
    enum gbm_status status =
        t.steps && t.families && t.densities && t.ends.values
            ? fill_and_upload(c, &t)
            : rt_fail(c->rt, GBM_FAILURE, "out of memory");
    free(t.steps);
    free(t.families);
    free(t.densities);
    free(t.ends.values);
    return status;
}

/* ---- sweeps ---- */

static enum gbm_status launch(struct cuda *c, int thin, int sweeps,
                              CUdeviceptr known, CUdeviceptr rung, int last)
{
    const struct cuda_chains *k = &c->chains;
    int chains = c->in->nchains, with_lp = c->with_lp;
    const int64_t threads = (int64_t)chains * k->lanes;
    void *args[] = {c->state, &c->control, (void *)&k->plan, &chains, &sweeps,
                    &thin,    &with_lp,    &known,           &rung,   &last};

    return cuda_launch_grid(c, &k->kernel,
                            (threads + k->kernel.block - 1) / k->kernel.block,
                            1, k->kernel.block, 0, args);
}

enum gbm_status cuda_chains_sweep(struct cuda *c, bool kept)
{
    const struct ladder_plan *p = &c->ladder.plan;

    return launch(c, kept, 1, cuda_ladder_known(c) >= 0 ? c->lp : 0, p->rung,
                  p->replicas - 1);
}

enum gbm_status cuda_chains_run(struct cuda *c, int thin, int64_t sweeps)
{
    const int most = thin > SWEEPS ? thin
                     : thin        ? SWEEPS / thin * thin
                                   : SWEEPS;

    while (sweeps > 0) {
        int now = sweeps < most ? (int)sweeps : most;
        unsigned done = (unsigned)now, counted = thin ? done : 0;
        unsigned kept = thin ? (unsigned)(now / thin) : 0;
        void *done_args[] = {&c->control, &done, &counted, &kept};
        TRY(launch(c, thin, now, 0, 0, 0));
        TRY(cuda_launch_grid(c, &c->fixed.sweeps_done, 1, 1, 1, 0, done_args));
        sweeps -= now;
    }
    return GBM_OK;
}
