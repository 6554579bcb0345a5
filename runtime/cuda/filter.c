/* filter.c: particle filters on the device: a thread has a particle, and time
 * goes on without a word of the host, which launches what is done at each time
 * and reads at the end what came of it. Whether particles are resampled after a
 * time the device decides. filter.h has the kernels between two times, the
 * generated program what particles draw and compute (filter_cuda.h). */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

/* As in filter.h. */
enum { THREADS = 256, TILE = 1024, LEVELS = RT_QUANTILES, DIGIT_VALUES = 256 };
struct control {
    double loglik;
    int events, resampling, failed;
};
struct part {
    double most, sum, square;
};
struct instant {
    double loglik, ess;
    int resampled;
};
struct place {
    CUdeviceptr values;
    long long stride, cell;
    int integer;
};
struct found { /* in double precision, at most so large */
    uint64_t key[LEVELS], low[LEVELS], total;
};
/* As in filter_cuda.h. */
struct act {
    long long element;
    int code;
    unsigned node;
};
enum { IS_DRAWN = 1, IS_DERIVED = 2, IS_WEIGHED = 4 };

#define COLUMN_BYTES                                                           \
    ((size_t)64 << 20) /* of values that are told of at once                   \
                        */

static int kind_of(const struct rt_step_in_time *act)
{
    return act->kind == RT_ACT_DRAW     ? IS_DRAWN
           : act->kind == RT_ACT_DERIVE ? IS_DERIVED
                                        : IS_WEIGHED;
}

/* ---- the program ---- */

enum gbm_status cuda_filter_plan(struct cuda *c)
{
    struct cuda_filter *d = &c->filter;
    const struct rt_course *course = d->course;

    free(d->asked);
    d->asked = calloc((size_t)c->in->model->nfamilies + 1, sizeof *d->asked);
    if (!d->asked)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    for (int64_t a = course->first[1]; a < course->first[course->count + 1];
         a++)
        d->asked[course->acts[a].family] |= kind_of(&course->acts[a]);
    cuda_name_kernel(&d->advance, "filter_advance", 1);
    d->advance.effort = 4;
    return GBM_OK;
}

int64_t cuda_filter_cells(const struct cuda *c)
{
    const struct rt_course *course = c->filter.course;
    int64_t most = 0;

    for (int64_t a = course->first[1]; a < course->first[course->count + 1];
         a++) {
        const struct rt_step_in_time *act = &course->acts[a];
        const int64_t n = c->in->model->families[act->family].cells(
            c->host_state, act->element, NULL);
        most = n > most ? n : most;
    }
    return most;
}

/* ---- memory ---- */

static size_t digits(const struct cuda *c) { return c->real_size; }

static enum gbm_status request_particles(struct cuda *c)
{
    struct cuda_filter *d = &c->filter;
    const size_t n = (size_t)d->course->particles, tiles = (size_t)d->tiles;
    const char *what = "particles";

    TRY(cuda_request(c, &d->control, sizeof(struct control), what));
    TRY(cuda_request(c, &d->increment, n * sizeof(double), what));
    TRY(cuda_request(c, &d->weight, n * sizeof(double), what));
    TRY(cuda_request(c, &d->taken, n * sizeof(int), what));
    TRY(cuda_request(c, &d->surplus, n * sizeof(int), what));
    TRY(cuda_request(c, &d->trace, n * sizeof(int), what));
    TRY(cuda_request(c, &d->room, n * sizeof(uint64_t), what));
    TRY(cuda_request(c, &d->parts, tiles * sizeof(struct part), what));
    TRY(cuda_request(c, &d->squares, tiles * sizeof(double), what));
    return cuda_request(c, &d->empty, tiles * sizeof(int), what);
}

static enum gbm_status request_times(struct cuda *c)
{
    struct cuda_filter *d = &c->filter;
    const struct rt_course *course = d->course;
    const size_t count = (size_t)course->count + 2;
    const size_t n = (size_t)course->particles;

    TRY(cuda_request(c, &d->acts,
                     (size_t)course->first[count - 1] * sizeof(struct act),
                     "what is done at each time"));
    TRY(cuda_request(c, &d->live,
                     (size_t)course->first_live[count - 1] *
                         sizeof(struct place),
                     "what is copied after each time"));
    TRY(cuda_request(c, &d->instants, count * sizeof(struct instant), "times"));
    TRY(cuda_request(c, &d->paths, count * sizeof(double), "times"));
    return cuda_request(c, &d->ancestors, count * n * sizeof(int), "ancestors");
}

static enum gbm_status request_told(struct cuda *c)
{
    struct cuda_filter *d = &c->filter;
    const size_t n = (size_t)d->course->particles, tiles = (size_t)d->tiles;
    const size_t cells = (size_t)d->course->ntracked;
    const char *what = "values of particles";
    size_t batch = COLUMN_BYTES / (n * c->real_size);

    batch = batch < 1 ? 1 : batch > cells ? cells : batch;
    batch = batch > 65535 ? 65535 : batch; /* rows of a grid */
    d->batch = (int)batch;
    TRY(cuda_request(c, &d->tracked, cells * sizeof(struct place), what));
    TRY(cuda_request(c, &d->by_last, cells * sizeof(int64_t), what));
    TRY(cuda_request(c, &d->filtered, cells * sizeof(struct rt_estimate),
                     what));
    TRY(cuda_request(c, &d->smoothed, cells * sizeof(struct rt_estimate),
                     what));
    TRY(cuda_request(c, &d->keys, batch * n * c->real_size, what));
    TRY(cuda_request(c, &d->cell_sums, batch * tiles * sizeof(double), what));
    TRY(cuda_request(c, &d->cell_squares, batch * tiles * sizeof(double),
                     what));
    TRY(cuda_request(c, &d->found, batch * digits(c) * sizeof(struct found),
                     what));
    return cuda_request(
        c, &d->cell_masses,
        batch * digits(c) * LEVELS * DIGIT_VALUES * sizeof(uint64_t), what);
}

enum gbm_status cuda_filter_request(struct cuda *c)
{
    struct cuda_filter *d = &c->filter;

    d->tiles = (d->course->particles + TILE - 1) / TILE;
    TRY(request_particles(c));
    TRY(request_times(c));
    return request_told(c);
}

static struct place place_of(const struct cuda *c, const struct rt_place *p)
{
    const struct cuda_slot *slot = &c->slots[p->variable];
    return (struct place){.values = slot->values,
                          .stride = slot->stride,
                          .cell = p->cell,
                          .integer =
                              c->in->model->variables[p->variable].integer};
}

static enum gbm_status upload_places(struct cuda *c, CUdeviceptr to,
                                     const struct rt_place *places, int64_t n)
{
    struct place *list = calloc((size_t)n + 1, sizeof *list);

    if (!list)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    for (int64_t i = 0; i < n; i++)
        list[i] = place_of(c, &places[i]);
    enum gbm_status status = cuda_upload(c, to, list, (size_t)n * sizeof *list);
    free(list);
    return status;
}

static enum gbm_status upload_acts(struct cuda *c)
{
    const struct rt_course *course = c->filter.course;
    const int64_t n = course->first[course->count + 1];
    struct act *list = calloc((size_t)n + 1, sizeof *list);

    if (!list)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        const struct rt_step_in_time *act = &course->acts[i];
        list[i] = (struct act){.element = act->element,
                               .code = 8 * act->family + kind_of(act),
                               .node = (unsigned)act->node};
    }
    enum gbm_status status =
        cuda_upload(c, c->filter.acts, list, (size_t)n * sizeof *list);
    free(list);
    return status;
}

enum gbm_status cuda_filter_spread(struct cuda *c)
{
    for (int v = 0; v < c->in->model->nvariables; v++) {
        struct cuda_slot *slot = &c->slots[v];
        long long cells = c->in->slots[v].cells;
        int integer = c->in->model->variables[v].integer;
        int n = c->filter.course->particles;
        void *args[] = {&slot->values, &integer, &cells, &n};
        if (slot->values && slot->stride > 0)
            TRY(cuda_launch_flat(c, &c->fixed.filter_spread, slot->cells,
                                 args));
    }
    return GBM_OK;
}

enum gbm_status cuda_filter_upload(struct cuda *c)
{
    const struct rt_course *course = c->filter.course;
    struct cuda_filter *d = &c->filter;

    TRY(upload_acts(c));
    TRY(upload_places(c, d->live, course->live,
                      course->first_live[course->count + 1]));
    TRY(upload_places(c, d->tracked, course->tracked, course->ntracked));
    TRY(cuda_upload(c, d->by_last, course->by_last,
                    (size_t)course->ntracked * sizeof *course->by_last));
    return cuda_filter_spread(c);
}

void cuda_filter_free(struct cuda *c)
{
    free(c->filter.asked);
    c->filter = (struct cuda_filter){0};
}

/* ---- what is told of values ---- */

static CUdeviceptr at(CUdeviceptr array, int64_t i, size_t size)
{
    return array + (CUdeviceptr)i * size;
}

/* Of `count` cells, at most d->batch: the list's, or those from number `first`
 * on. trace: where the particles are that have them, or 0. */
static enum gbm_status tell_some(struct cuda *c, CUdeviceptr list,
                                 int64_t first, int64_t count,
                                 CUdeviceptr trace, CUdeviceptr out)
{
    struct cuda_filter *d = &c->filter;
    const struct rt_course *course = d->course;
    const double *level = course->levels;
    const size_t masses = digits(c) * LEVELS * DIGIT_VALUES * sizeof(uint64_t);
    double levels[LEVELS];
    int n = course->particles;
    CUdeviceptr tracked =
        list ? d->tracked : at(d->tracked, first, sizeof(struct place));
    CUdeviceptr to = list ? out : at(out, first, sizeof(struct rt_estimate));

    memcpy(levels, level, sizeof levels);
    void *fetch[] = {&d->control, &tracked,      &list,
                     &trace,      &d->weight,    &n,
                     &d->keys,    &d->cell_sums, &d->cell_masses};
    CU(cuMemsetD8Async(d->cell_masses, 0, (size_t)count * masses, c->stream));
    TRY(cuda_launch_grid(c, &c->fixed.filter_fetch, d->tiles, (int)count,
                         THREADS, 0, fetch));
    for (int digit = 1; digit < (int)digits(c); digit++) {
        void *next[] = {&d->control,
                        &tracked,
                        &list,
                        &d->weight,
                        &n,
                        &d->keys,
                        &digit,
                        &levels[0],
                        &levels[1],
                        &levels[2],
                        &d->cell_sums,
                        &d->cell_squares,
                        &d->cell_masses,
                        &d->found};
        TRY(cuda_launch_grid(c, &c->fixed.filter_digit, d->tiles, (int)count,
                             THREADS, 0, next));
    }
    void *tell[] = {&d->control,     &tracked,      &list,
                    &d->tiles,       &levels[0],    &levels[1],
                    &levels[2],      &d->cell_sums, &d->cell_squares,
                    &d->cell_masses, &d->found,     &to};
    return cuda_launch_grid(c, &c->fixed.filter_tell, count, 1, THREADS, 0,
                            tell);
}

/* Of the cells of d->by_last, or of all, from number `first` to `end`. */
static enum gbm_status tell(struct cuda *c, bool by_last, int64_t first,
                            int64_t end, CUdeviceptr trace, CUdeviceptr out)
{
    struct cuda_filter *d = &c->filter;

    while (first < end) {
        const int64_t count = end - first < d->batch ? end - first : d->batch;
        const CUdeviceptr list =
            by_last ? at(d->by_last, first, sizeof(int64_t)) : 0;
        TRY(tell_some(c, list, first, count, trace, out));
        first += count;
    }
    return GBM_OK;
}

/* ---- a time ---- */

static enum gbm_status advance(struct cuda *c, const struct rt_filter_run *run,
                               int time)
{
    struct cuda_filter *d = &c->filter;
    const int64_t first = d->course->first[time];
    CUdeviceptr acts = at(d->acts, first, sizeof(struct act));
    int nacts = (int)(d->course->first[time + 1] - first);
    int particles = d->course->particles;
    unsigned long long seed = run->seed;
    unsigned t = (unsigned)time, stream = run->stream;
    void *args[] = {c->state, &acts,   &nacts,     &seed,
                    &t,       &stream, &particles, &d->increment};

    return cuda_launch(c, &d->advance, particles, args);
}

static enum gbm_status tiled(struct cuda *c, const struct cuda_kernel *k,
                             void **args)
{
    return cuda_launch_grid(c, k, c->filter.tiles, 1, THREADS, 0, args);
}

/* Weights, of sum 1, and how many offspring each is to have. */
static enum gbm_status weigh(struct cuda *c, double share, int time)
{
    struct cuda_filter *d = &c->filter;
    const struct rt_course *course = d->course;
    int n = course->particles, last = time == course->count;
    double below = course->below * n;
    CUdeviceptr instant = at(d->instants, time, sizeof(struct instant));
    void *weigh[] = {&d->increment, &n, &d->weight, &d->parts};
    void *take[] = {&d->control, &d->parts, &d->tiles, &time,
                    &n,          &below,    &share,    &last,
                    &d->weight,  &d->taken, &d->empty, &instant};

    TRY(tiled(c, &c->fixed.filter_weigh, weigh));
    return tiled(c, &c->fixed.filter_take, take);
}

static enum gbm_status resample(struct cuda *c, int time)
{
    struct cuda_filter *d = &c->filter;
    const struct rt_course *course = d->course;
    int n = course->particles;
    int nlive = (int)(course->first_live[time + 1] - course->first_live[time]);
    CUdeviceptr live =
        at(d->live, course->first_live[time], sizeof(struct place));
    void *number[] = {&d->control, &d->taken,     &d->empty,
                      &n,          &d->ancestors, &d->surplus};
    void *descend[] = {&d->control, &d->surplus,   &n,        &live,
                       &nlive,      &d->ancestors, &d->weight};

    if (time == course->count)
        return GBM_OK;
    TRY(tiled(c, &c->fixed.filter_number, number));
    return cuda_launch_flat(c, &c->fixed.filter_descend, n, descend);
}

/* ---- a filter ---- */

static enum gbm_status fetch(struct cuda *c, void *to, CUdeviceptr from,
                             size_t bytes)
{
    if (bytes > 0)
        CU(cuMemcpyDtoHAsync(to, from, bytes, c->stream));
    return GBM_OK;
}

static enum gbm_status fetch_times(struct cuda *c, struct rt_filter_run *run)
{
    const int count = c->filter.course->count;
    const size_t bytes = ((size_t)count + 1) * sizeof(struct instant);
    struct instant *instants = malloc(bytes);

    if (!instants)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    enum gbm_status status = fetch(c, instants, c->filter.instants, bytes);
    if (status == GBM_OK)
        status = cuStreamSynchronize(c->stream) == CUDA_SUCCESS
                     ? GBM_OK
                     : rt_fail(c->rt, GBM_FAILURE, "the device failed");
    for (int t = 1; status == GBM_OK && t <= count; t++) {
        run->loglik[t] = instants[t].loglik;
        run->ess[t] = instants[t].ess;
        run->resampled[t] = (unsigned char)instants[t].resampled;
    }
    free(instants);
    return status;
}

static enum gbm_status forward(struct rt *rt, struct rt_filter_run *run)
{
    struct cuda *c = rt->device_data;
    struct cuda_filter *d = &c->filter;
    const struct rt_course *course = d->course;
    struct control control = {0};
    double base = run->base;
    int n = course->particles;
    void *begin[] = {&d->control, &base, &n, &d->weight};

    CU(cuCtxSetCurrent(c->context));
    TRY(cuda_better_take(c));
    TRY(cuda_launch_flat(c, &c->fixed.filter_begin, n, begin));
    for (int t = 1; t <= course->count && !run->stopped(); t++) {
        TRY(advance(c, run, t));
        TRY(weigh(c, run->shares[t], t));
        TRY(tell(c, false, course->first_tracked[t],
                 course->first_tracked[t + 1], 0, d->filtered));
        TRY(resample(c, t));
    }
    TRY(fetch(c, &control, d->control, sizeof control));
    TRY(fetch(c, run->filtered, d->filtered,
              (size_t)course->ntracked * sizeof *run->filtered));
    TRY(fetch(c, run->weight, d->weight, (size_t)n * sizeof *run->weight));
    CU(cuStreamSynchronize(c->stream));
    run->failed = control.failed;
    return fetch_times(c, run);
}

/* ---- back ---- */

static enum gbm_status count_paths(struct cuda *c, int event)
{
    struct cuda_filter *d = &c->filter;
    int n = d->course->particles;
    CUdeviceptr out = at(d->paths, event, sizeof(double));
    void *gather[] = {&d->trace, &d->weight, &n, &d->room};
    void *squares[] = {&d->room, &n, &d->squares};
    void *paths[] = {&d->squares, &d->tiles, &out};

    CU(cuMemsetD8Async(d->room, 0, (size_t)n * sizeof(uint64_t), c->stream));
    TRY(cuda_launch_flat(c, &c->fixed.filter_gather, n, gather));
    TRY(tiled(c, &c->fixed.filter_squares, squares));
    return cuda_launch_grid(c, &c->fixed.filter_paths, 1, 1, THREADS, 0, paths);
}

/* Where particles are after `event` resamplings; all of them: where they end.
 */
static enum gbm_status trace(struct cuda *c, int event, int events)
{
    struct cuda_filter *d = &c->filter;
    int n = d->course->particles;
    CUdeviceptr ancestor =
        event < events ? at(d->ancestors, (int64_t)event * n, sizeof(int)) : 0;
    void *args[] = {&ancestor, &n, &d->trace};

    return cuda_launch_flat(c, &c->fixed.filter_trace, n, args);
}

/* What resampling moves last before one of the times from..to. */
static enum gbm_status smooth(struct cuda *c, struct rt_filter_run *run,
                              int from, int to)
{
    struct cuda_filter *d = &c->filter;
    const struct rt_course *course = d->course;
    const int64_t first = course->first_by_last[from];
    const int64_t end = course->first_by_last[to + 1];
    CUdeviceptr list = at(d->by_last, first, sizeof(int64_t));
    long long count = end - first, all = course->ntracked;
    void *keep[] = {&d->tracked, &list,         &count, &d->trace,
                    &d->chosen,  &run->nchosen, &all,   &d->chosen_paths};

    TRY(tell(c, true, first, end, d->trace, d->smoothed));
    return run->nchosen > 0 && count > 0
               ? cuda_launch_flat(c, &c->fixed.filter_keep,
                                  count * run->nchosen, keep)
               : GBM_OK;
}

static enum gbm_status open_chosen(struct cuda *c,
                                   const struct rt_filter_run *run)
{
    struct cuda_filter *d = &c->filter;
    const size_t n = (size_t)run->nchosen;

    if (n == 0)
        return GBM_OK;
    if (!d->chosen) {
        TRY(cuda_request(c, &d->chosen, n * sizeof(int), "paths"));
        TRY(cuda_request(c, &d->chosen_paths,
                         n * (size_t)d->course->ntracked * sizeof(double),
                         "paths"));
        TRY(cuda_allocate(c));
    }
    return cuda_upload(c, d->chosen, run->chosen, n * sizeof(int));
}

static enum gbm_status fetch_back(struct cuda *c, struct rt_filter_run *run,
                                  double *paths, int events)
{
    struct cuda_filter *d = &c->filter;
    const size_t cells = (size_t)d->course->ntracked;

    TRY(fetch(c, paths, d->paths, ((size_t)events + 1) * sizeof *paths));
    TRY(fetch(c, run->smoothed, d->smoothed, cells * sizeof *run->smoothed));
    TRY(fetch(c, run->chosen_paths, d->chosen_paths,
              (size_t)run->nchosen * cells * sizeof(double)));
    CU(cuStreamSynchronize(c->stream));
    for (int t = 1, k = 0; t <= d->course->count; t++) {
        run->paths[t] = paths[k];
        k += run->resampled[t];
    }
    return GBM_OK;
}

static enum gbm_status back(struct rt *rt, struct rt_filter_run *run)
{
    struct cuda *c = rt->device_data;
    const int count = c->filter.course->count;
    double *paths = malloc(((size_t)count + 1) * sizeof *paths);
    enum gbm_status s =
        paths ? open_chosen(c, run) : rt_fail(rt, GBM_FAILURE, "out of memory");
    int events = 0, to = count;

    for (int t = 1; t <= count; t++)
        events += run->resampled[t];
    for (int k = events; s == GBM_OK && k >= 0; k--) {
        int from = to;
        while (from > 1 && !run->resampled[from - 1])
            from--;
        s = trace(c, k, events);
        if (s == GBM_OK)
            s = count_paths(c, k);
        if (s == GBM_OK)
            s = smooth(c, run, from, to);
        to = from - 1;
    }
    if (s == GBM_OK)
        s = fetch_back(c, run, paths, events);
    free(paths);
    return s;
}

const struct rt_filter_device cuda_filter_device = {
    .load = cuda_filter_load,
    .put = cuda_filter_put,
    .get = cuda_filter_get,
    .forward = forward,
    .back = back,
};
