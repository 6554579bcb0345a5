/* device.c: the CUDA device of the runtime. Exports the table rt_cuda. */
#include "programs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Most for half a ring: the last one of a block is copied by the host when the
 * device has nothing left to do. */
#define RING_BYTES ((int64_t)4 << 20)
#define STATE_BYTES 32000 /* most that a kernel takes */

/* ---- open ---- */

static enum gbm_status parse_ordinal(struct rt *rt, const char *which,
                                     int *ordinal)
{
    const char *colon = which ? strchr(which, ':') : NULL;
    char *end;

    *ordinal = 0;
    if (!colon)
        return GBM_OK;
    long value = strtol(colon + 1, &end, 10);
    if (*end == ',')
        return rt_fail(rt, GBM_USER_ERROR,
                       "--device %s: several devices in one run are not "
                       "supported yet",
                       which);
    if (end == colon + 1 || *end != '\0' || value < 0 || value > 1023)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--device %s: expected cuda or cuda:N with a device "
                       "number N",
                       which);
    *ordinal = (int)value;
    return GBM_OK;
}

static enum gbm_status read_device(struct cuda *c)
{
    size_t memory = 0;
    int shared = 0;

    CU(cuDeviceGetName(c->device_name, (int)sizeof c->device_name, c->device));
    CU(cuDeviceGetAttribute(&c->multiprocessors,
                            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                            c->device));
    CU(cuDeviceGetAttribute(
        &shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        c->device));
    c->shared_most = (size_t)shared;
    CU(cuDeviceGetAttribute(
        &c->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, c->device));
    CU(cuDeviceGetAttribute(
        &c->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, c->device));
    const char *wanted = getenv("GBM_CUDA_FOLLOW"); /* for tests: 0 never */
    c->follows = c->major >= 9 && !(wanted && atoi(wanted) == 0);
    CU(cuDeviceTotalMem(&memory, c->device));
    snprintf(c->rt->device_text, sizeof c->rt->device_text,
             "%s, %d multiprocessors, %.0f GiB", c->device_name,
             c->multiprocessors, (double)memory / (1 << 30));
    c->text_length = strlen(c->rt->device_text);
    return GBM_OK;
}

/* As far as there is no context, which takes as long again. */
static enum gbm_status find_device(struct cuda *c, int ordinal)
{
    int count = 0;
    CUresult result = cuInit(0);

    if (result == CUDA_ERROR_NO_DEVICE)
        return rt_fail(c->rt, GBM_FAILURE,
                       "the CUDA driver finds no NVIDIA GPU");
    CU(result);
    rt_clock_note("  the driver is up");
    CU(cuDeviceGetCount(&count));
    if (ordinal >= count)
        return rt_fail(c->rt, GBM_USER_ERROR,
                       "there is no CUDA device %d: the driver finds %d",
                       ordinal, count);
    CU(cuDeviceGet(&c->device, ordinal));
    return read_device(c);
}

static enum gbm_status open_context(struct cuda *c)
{
    if (c->has_context) {
        CU(cuCtxSetCurrent(c->context));
        return GBM_OK;
    }
    CU(cuDevicePrimaryCtxRetain(&c->context, c->device));
    c->has_context = true;
    CU(cuCtxSetCurrent(c->context));
    TRY(cuda_streams_open(c));
    CU(cuEventCreate(&c->done[0], CU_EVENT_DISABLE_TIMING));
    CU(cuEventCreate(&c->done[1], CU_EVENT_DISABLE_TIMING));
    return GBM_OK;
}

static void forget_plan(struct cuda *c)
{
    for (int k = 0; c->steps && k < c->in->model->nsteps; k++) {
        cuda_dense_free(c->steps[k].dense);
        free(c->steps[k].index);
    }
    free(c->state);
    free(c->host_state);
    free(c->slots);
    free(c->steps);
    free(c->kept);
    free(c->monitors);
    free(c->densities);
    free(c->known);
    c->state = c->host_state = NULL;
    c->slots = NULL;
    c->steps = NULL;
    c->kept = NULL;
    c->monitors = NULL;
    c->densities = c->known = NULL;
    c->has_lp = c->with_lp = false;
    c->pass_chains = 0;
}

/* Gives back what a load made. */
static void unload(struct cuda *c)
{
    cuda_forget_graphs(c);
    cuda_release(c);
    if (c->staging)
        (void)cuMemFreeHost(c->staging);
    c->staging = NULL;
    cuda_ladder_free(c);
    cuda_filter_free(c);
    c->particles.from = c->particles.copy = 0;
    c->sums.parts = c->sums.all = 0;
    cuda_drop_programs(c);
    cuda_aside_close(c);
    forget_plan(c);
    c->jitters = 0;
}

static void cuda_close(struct rt *rt)
{
    struct cuda *c = rt->device_data;

    if (!c)
        return;
    rt->device_data = NULL;
    if (c->has_context) {
        (void)cuCtxSetCurrent(c->context);
        if (c->stream)
            (void)cuStreamSynchronize(c->stream);
        unload(c);
        for (int i = 0; i < 2; i++)
            if (c->done[i])
                (void)cuEventDestroy(c->done[i]);
        cuda_streams_close(c);
        (void)cuDevicePrimaryCtxRelease(c->device);
    }
    cuda_apart_end(c);
    free(c);
}

static enum gbm_status cuda_open(struct rt *rt, const char *which)
{
    int ordinal = 0;
    TRY(parse_ordinal(rt, which, &ordinal));
    struct cuda *c = calloc(1, sizeof *c);
    if (!c)
        return rt_fail(rt, GBM_FAILURE, "out of memory");
    const char *sync = getenv("GBM_CUDA_SYNC");
    c->rt = rt;
    c->sync_each = sync && sync[0] && strcmp(sync, "0") != 0;
    rt->device_data = c;
    cuda_apart_begin(c, rt->model); /* before the driver makes forks slow */
    rt_clock_note("  the compiler waits");
    enum gbm_status status = find_device(c, ordinal);
    if (status != GBM_OK)
        cuda_close(rt);
    return status;
}

/* ---- load ---- */

/* A struct state with the pointers of the host, or of the device. */
static enum gbm_status bind_state(struct cuda *c, bool device, void *state)
{
    const struct gbm_model *model = c->in->model;
    struct gbm_binding *bindings =
        calloc((size_t)model->nvariables + 1, sizeof *bindings);

    if (!bindings)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    for (int v = 0; v < model->nvariables; v++) {
        const struct rt_slot *slot = &c->in->slots[v];
        bindings[v] = (struct gbm_binding){
            .values =
                device ? (void *)(uintptr_t)c->slots[v].values : slot->values,
            .dim = slot->dim,
            .seen = device ? (const unsigned char *)(uintptr_t)c->slots[v].seen
                           : slot->seen,
            .stride = slot->per_chain ? slot->cells : 0,
        };
    }
    model->bind(state, bindings);
    free(bindings);
    return GBM_OK;
}

static enum gbm_status create_state(struct cuda *c)
{
    const struct gbm_model *model = c->in->model;
    const size_t nvariables = (size_t)model->nvariables + 1;

    if (model->state_size > STATE_BYTES)
        return rt_fail(c->rt, GBM_FAILURE,
                       "the model has too many variables for the device: its "
                       "state takes %zu bytes, a kernel at most %d",
                       model->state_size, STATE_BYTES);
    c->state = calloc(1, model->state_size + 1);
    c->host_state = calloc(1, model->state_size + 1);
    c->slots = calloc(nvariables, sizeof *c->slots);
    c->steps = calloc((size_t)model->nsteps + 1, sizeof *c->steps);
    c->kept = calloc((size_t)c->in->nkept_families + 1, sizeof *c->kept);
    c->monitors = calloc((size_t)c->in->nmonitors + 1, sizeof *c->monitors);
    c->densities = calloc((size_t)model->nfamilies + 1, sizeof *c->densities);
    c->known = calloc((size_t)model->nfamilies + 1, sizeof *c->known);
    if (!c->state || !c->host_state || !c->slots || !c->steps || !c->kept ||
        !c->monitors || !c->densities || !c->known)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    return bind_state(c, false, c->host_state);
}

static size_t cell_size(const struct cuda *c, int variable)
{
    return c->in->model->variables[variable].integer ? sizeof(int)
                                                     : c->real_size;
}

static enum gbm_status request_slots(struct cuda *c)
{
    const struct gbm_model *model = c->in->model;

    for (int v = 0; v < model->nvariables; v++) {
        const struct rt_slot *slot = &c->in->slots[v];
        struct cuda_slot *mine = &c->slots[v];
        if (!slot->values || !cuda_keeps_slot(c, v))
            continue;
        mine->cells = slot->cells * (slot->per_chain ? c->in->nchains : 1);
        mine->stride = slot->per_chain ? slot->cells : 0;
        TRY(cuda_request(c, &mine->values,
                         (size_t)mine->cells * cell_size(c, v),
                         model->variables[v].name));
        if (slot->seen)
            TRY(cuda_request(c, &mine->seen, (size_t)slot->cells,
                             model->variables[v].name));
        if (slot->moments && slot->categories)
            TRY(cuda_request(c, &mine->counts,
                             (size_t)mine->cells * (size_t)slot->categories *
                                 sizeof(unsigned),
                             "counts of values"));
        if (!slot->moments || slot->categories)
            continue;
        TRY(cuda_request(c, &mine->mean, (size_t)mine->cells * sizeof(double),
                         "running means"));
        TRY(cuda_request(c, &mine->m2, (size_t)mine->cells * sizeof(double),
                         "running variances"));
    }
    return GBM_OK;
}

static enum gbm_status request_draws(struct cuda *c)
{
    const struct rt_instance *in = c->in;
    int64_t most = 0;

    c->row = in->row + (c->has_lp ? 1 : 0);
    const int64_t one = c->row * in->nchains * (int64_t)sizeof(double);
    for (int f = 0; f < in->model->nfamilies; f++)
        if (c->densities[f].name[0] && in->elements[f] > most)
            most = in->elements[f];
    TRY(cuda_request(c, &c->density,
                     (size_t)(most * in->nchains) * sizeof(double),
                     "log densities"));
    if (c->has_lp)
        TRY(cuda_request(c, &c->lp, (size_t)in->nchains * sizeof(double),
                         "log densities"));

    for (int m = 0; m < in->nmonitors; m++)
        if (in->monitors[m].cells)
            TRY(cuda_request(c, &c->monitors[m].cells,
                             (size_t)in->monitors[m].count * sizeof(int64_t),
                             "the list of monitored cells"));
    c->half = one > 0 ? RING_BYTES / one : 1;
    if (c->half > 1024)
        c->half = 1024;
    if (c->rt->options.draws > 0 && c->half > c->rt->options.draws)
        c->half = c->rt->options.draws;
    if (c->half < 1)
        c->half = 1;
    TRY(cuda_request(c, &c->draws, 2 * (size_t)(c->half * one),
                     "draws on their way to the host"));
    return cuda_keep_request(c);
}

static enum gbm_status request_all(struct cuda *c)
{
    const struct rt_instance *in = c->in;

    TRY(cuda_request(c, &c->control, sizeof(struct gbm_control), "a sweep"));
    TRY(request_slots(c));
    for (int k = 0; k < in->model->nsteps; k++) {
        struct cuda_step *s = &c->steps[k];
        if (!in->steps[k].active)
            continue;
        if (s->dense)
            TRY(cuda_dense_request(c, s->dense));
        if (s->index)
            TRY(cuda_index_request(c, s->index));
        if (s->by_rows)
            TRY(cuda_rows_request(c, k));
        if (in->steps[k].elements)
            TRY(cuda_request(c, &s->elements,
                             (size_t)in->steps[k].count * sizeof(int),
                             "lists of elements"));
    }
    TRY(cuda_chains_request(c));
    return c->filter.on ? cuda_filter_request(c) : request_draws(c);
}

/* What a device has computed itself is zero at first. Particles of a filter
 * begin alike. */
static enum gbm_status upload_slot(struct cuda *c, int v)
{
    if (c->in->model->variables[v].role == GBM_RECALLED)
        return GBM_OK;
    const bool one = c->filter.on && c->slots[v].values;
    return cuda_put_cells(c, c->slots[v].values, c->in->slots[v].values,
                          one ? c->in->slots[v].cells : c->slots[v].cells,
                          c->in->model->variables[v].integer);
}

static enum gbm_status upload_all(struct cuda *c)
{
    const struct rt_instance *in = c->in;

    for (int v = 0; v < in->model->nvariables; v++) {
        TRY(upload_slot(c, v));
        if (c->slots[v].seen)
            TRY(cuda_upload(c, c->slots[v].seen, in->slots[v].seen,
                            (size_t)in->slots[v].cells));
    }
    for (int k = 0; k < in->model->nsteps; k++)
        if (c->steps[k].elements)
            TRY(cuda_upload(c, c->steps[k].elements, in->steps[k].elements,
                            (size_t)in->steps[k].count * sizeof(int)));
    for (int m = 0; m < in->nmonitors; m++)
        if (c->monitors[m].cells)
            TRY(cuda_upload(c, c->monitors[m].cells, in->monitors[m].cells,
                            (size_t)in->monitors[m].count * sizeof(int64_t)));
    return GBM_OK;
}

static void choose_precision(struct cuda *c)
{
    const enum rt_precision precision = c->rt->options.precision;

    c->single = precision != RT_DOUBLE;
    c->mixed = precision == RT_MIXED;
    c->real_size = c->single ? sizeof(float) : sizeof(double);
    c->total_size = c->single && !c->mixed ? sizeof(float) : sizeof(double);
}

/* Plans for the instance as it stands, so that the compiler may begin. What is
 * other once chains have values load orders anew; what fails, fails there. */
static bool plan_ahead(struct cuda *c, struct rt_instance *in)
{
    bool libraries = false;

    c->in = in;
    c->ahead = true;
    choose_precision(c);
    if (create_state(c) == GBM_OK && cuda_plan(c) == GBM_OK &&
        cuda_build_ahead(c) == GBM_OK)
        libraries = cuda_dense_has(c, false);
    forget_plan(c);
    c->ahead = false;
    c->in = NULL;
    c->rt->device_text[c->text_length] = '\0';
    c->rt->status = GBM_OK;
    c->rt->message[0] = '\0';
    return libraries;
}

static enum gbm_status cuda_expect(struct rt *rt, struct rt_instance *in)
{
    struct cuda *c = rt->device_data;
    const bool libraries = plan_ahead(c, in);

    rt_clock_note("  programs are ordered");
    TRY(open_context(c));
    return libraries ? cuda_open_libraries(c) : GBM_OK;
}

static enum gbm_status load(struct cuda *c)
{
    TRY(create_state(c));
    TRY(c->filter.on ? cuda_filter_plan(c) : cuda_plan(c));
    if (cuda_dense_has(c, false))
        TRY(cuda_open_libraries(c));
    TRY(cuda_reserve_heap(c));
    rt_clock_note("planned");
    TRY(cuda_build(c));
    rt_clock_note("kernels are found");
    TRY(request_all(c));
    TRY(cuda_allocate(c));
    if (c->row > 0)
        CU(cuMemAllocHost((void **)&c->staging,
                          (size_t)(c->half * c->row * c->in->nchains) *
                              sizeof(double)));
    TRY(upload_all(c));
    if (!c->filter.on)
        TRY(cuda_keep_upload(c));
    TRY(cuda_chains_upload(c));
    TRY(cuda_aside_open(c));
    TRY(bind_state(c, true, c->state));
    if (c->filter.on)
        TRY(cuda_filter_upload(c));
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->steps[k].active && c->steps[k].dense)
            TRY(cuda_dense_prepare(c, c->steps[k].dense));
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

static enum gbm_status cuda_load(struct rt *rt, struct rt_instance *in)
{
    struct cuda *c = rt->device_data;

    TRY(open_context(c));
    if (c->in)
        unload(c);
    c->in = in;
    choose_precision(c);
    return load(c);
}

/* ---- filters ---- */

enum gbm_status cuda_filter_load(struct rt *rt, struct rt_instance *particles,
                                 const struct rt_course *course)
{
    struct cuda *c = rt->device_data;

    TRY(open_context(c));
    if (c->in)
        unload(c);
    c->in = particles;
    c->filter.on = true;
    c->filter.course = course;
    choose_precision(c);
    return load(c);
}

enum gbm_status cuda_filter_put(struct rt *rt)
{
    struct cuda *c = rt->device_data;

    CU(cuCtxSetCurrent(c->context));
    for (int v = 0; v < c->in->model->nvariables; v++)
        if (c->slots[v].values)
            TRY(upload_slot(c, v));
    return cuda_filter_spread(c);
}

enum gbm_status cuda_filter_get(struct rt *rt)
{
    struct cuda *c = rt->device_data;

    CU(cuCtxSetCurrent(c->context));
    for (int v = 0; v < c->in->model->nvariables; v++)
        if (c->slots[v].values && c->slots[v].stride > 0)
            TRY(cuda_get_cells(c, c->in->slots[v].values, c->slots[v].values,
                               c->in->slots[v].cells,
                               c->in->model->variables[v].integer));
    return GBM_OK;
}

/* ---- the rest of the table ---- */

static enum gbm_status cuda_put(struct rt *rt)
{
    struct cuda *c = rt->device_data;
    CU(cuCtxSetCurrent(c->context));
    for (int v = 0; v < c->in->model->nvariables; v++)
        if (c->in->slots[v].per_chain)
            TRY(upload_slot(c, v));
    return GBM_OK;
}

static enum gbm_status cuda_get_some(struct rt *rt, const bool *wanted)
{
    struct cuda *c = rt->device_data;
    CU(cuCtxSetCurrent(c->context));
    for (int v = 0; v < c->in->model->nvariables; v++)
        if ((!wanted || wanted[v]) && c->in->slots[v].per_chain &&
            !c->in->model->variables[v].stays &&
            c->in->model->variables[v].role != GBM_RECALLED)
            TRY(cuda_get_cells(c, c->in->slots[v].values, c->slots[v].values,
                               c->slots[v].cells,
                               c->in->model->variables[v].integer));
    return GBM_OK;
}

static enum gbm_status cuda_get(struct rt *rt)
{
    return cuda_get_some(rt, NULL);
}

static size_t count_bytes(const struct cuda *c, int variable)
{
    return (size_t)c->slots[variable].cells *
           (size_t)c->in->slots[variable].categories * sizeof(unsigned);
}

static enum gbm_status cuda_moments(struct rt *rt, struct rt_moments *moments,
                                    int64_t *count)
{
    struct cuda *c = rt->device_data;
    struct gbm_control control;

    CU(cuCtxSetCurrent(c->context));
    CU(cuMemcpyDtoHAsync(&control, c->control, sizeof control, c->stream));
    CU(cuStreamSynchronize(c->stream));
    *count = (int64_t)control.moments;
    for (int v = 0; v < c->in->model->nvariables; v++) {
        const struct cuda_slot *slot = &c->slots[v];
        const size_t bytes = (size_t)slot->cells * sizeof(double);
        if (slot->counts && moments[v].counts)
            CU(cuMemcpyDtoHAsync(moments[v].counts, slot->counts,
                                 count_bytes(c, v), c->stream));
        if (!slot->mean || !moments[v].mean || !moments[v].m2)
            continue;
        CU(cuMemcpyDtoHAsync(moments[v].mean, slot->mean, bytes, c->stream));
        CU(cuMemcpyDtoHAsync(moments[v].m2, slot->m2, bytes, c->stream));
    }
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

static enum gbm_status
cuda_put_moments(struct rt *rt, const struct rt_moments *moments, int64_t count)
{
    struct cuda *c = rt->device_data;
    const unsigned long long n = (unsigned long long)count;

    CU(cuCtxSetCurrent(c->context));
    TRY(cuda_upload(c, c->control + offsetof(struct gbm_control, moments), &n,
                    sizeof n));
    for (int v = 0; v < c->in->model->nvariables; v++) {
        const struct cuda_slot *slot = &c->slots[v];
        const size_t bytes = (size_t)slot->cells * sizeof(double);
        if (slot->counts && moments[v].counts)
            TRY(cuda_upload(c, slot->counts, moments[v].counts,
                            count_bytes(c, v)));
        if (!slot->mean || !moments[v].mean || !moments[v].m2)
            continue;
        TRY(cuda_upload(c, slot->mean, moments[v].mean, bytes));
        TRY(cuda_upload(c, slot->m2, moments[v].m2, bytes));
    }
    return GBM_OK;
}

static enum gbm_status cuda_density(struct rt *rt, int family, double *sums)
{
    struct cuda *c = rt->device_data;

    CU(cuCtxSetCurrent(c->context));
    for (int chain = 0; chain < c->in->nchains; chain++)
        sums[chain] = (double)NAN;
    if (!c->has_lp || !c->densities[family].name[0])
        return GBM_OK;
    TRY(cuda_sum_density(c, family, 1));
    CU(cuMemcpyDtoHAsync(sums, c->lp, (size_t)c->in->nchains * sizeof *sums,
                         c->stream));
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

extern const uint64_t rt_cuda_layout;
__attribute__((visibility("default"))) const uint64_t rt_cuda_layout =
    RT_LAYOUT;
extern const struct rt_device rt_cuda;
__attribute__((visibility("default"))) const struct rt_device rt_cuda = {
    .name = "cuda",
    .teams = true,
    .open = cuda_open,
    .expect = cuda_expect,
    .load = cuda_load,
    .run = cuda_run,
    .put = cuda_put,
    .get = cuda_get,
    .get_some = cuda_get_some,
    .sum = cuda_sum,
    .moments = cuda_moments,
    .put_moments = cuda_put_moments,
    .density = cuda_density,
    .temper = cuda_temper,
    .ladder = cuda_get_ladder,
    .descend = cuda_descend,
    .average = cuda_average,
    .filter = &cuda_filter_device,
    .ceilings = cuda_ceilings,
    .close = cuda_close,
};
