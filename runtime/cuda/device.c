/* device.c: the CUDA device of the runtime. Exports the table rt_cuda. */
#include "cuda.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORKSPACE_BYTES ((size_t)32 << 20) /* what cuBLAS wants on Hopper */
#define HEAP_BYTES ((size_t)256 << 20)     /* of the device */
#define RING_BYTES ((int64_t)16 << 20)     /* most for half a ring */
#define STATE_BYTES 32000                  /* most that a kernel takes */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
    CU(cuDeviceTotalMem(&memory, c->device));
    snprintf(c->rt->device_text, sizeof c->rt->device_text,
             "%s, %d multiprocessors, %.0f GiB", c->device_name,
             c->multiprocessors, (double)memory / (1 << 30));
    c->text_length = strlen(c->rt->device_text);
    return GBM_OK;
}

static enum gbm_status open_device(struct cuda *c, int ordinal)
{
    int count = 0;
    CUresult result = cuInit(0);

    if (result == CUDA_ERROR_NO_DEVICE)
        return rt_fail(c->rt, GBM_FAILURE,
                       "the CUDA driver finds no NVIDIA GPU");
    CU(result);
    CU(cuDeviceGetCount(&count));
    if (ordinal >= count)
        return rt_fail(c->rt, GBM_USER_ERROR,
                       "there is no CUDA device %d: the driver finds %d",
                       ordinal, count);
    CU(cuDeviceGet(&c->device, ordinal));
    TRY(read_device(c));
    CU(cuDevicePrimaryCtxRetain(&c->context, c->device));
    c->has_context = true;
    CU(cuCtxSetCurrent(c->context));
    /* for kernels that need room for a large vector (stdlib/kernels/linear.h)
     */
    CU(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, HEAP_BYTES));
    TRY(cuda_streams_open(c));
    CU(cuEventCreate(&c->done[0], CU_EVENT_DISABLE_TIMING));
    CU(cuEventCreate(&c->done[1], CU_EVENT_DISABLE_TIMING));
    return GBM_OK;
}

/* Gives back what a load made. */
static void unload(struct cuda *c)
{
    cuda_forget_graphs(c);
    cuda_release(c);
    if (c->staging)
        (void)cuMemFreeHost(c->staging);
    if (c->program)
        (void)cuModuleUnload(c->program);
    if (c->kernels)
        (void)cuModuleUnload(c->kernels);
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
    c->staging = NULL;
    c->program = c->kernels = NULL;
    c->state = c->host_state = NULL;
    c->slots = NULL;
    c->steps = NULL;
    c->kept = NULL;
    c->monitors = NULL;
    c->densities = NULL;
    c->has_lp = c->with_lp = false;
    c->pass_chains = 0;
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
        if (c->solver_params)
            (void)cusolverDnDestroyParams(c->solver_params);
        if (c->solver)
            (void)cusolverDnDestroy(c->solver);
        if (c->blas)
            (void)cublasDestroy(c->blas);
        if (c->blas_work)
            (void)cuMemFree(c->blas_work);
        for (int i = 0; i < 2; i++)
            if (c->done[i])
                (void)cuEventDestroy(c->done[i]);
        cuda_streams_close(c);
        (void)cuDevicePrimaryCtxRelease(c->device);
    }
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
    enum gbm_status status = open_device(c, ordinal);
    if (status != GBM_OK)
        cuda_close(rt);
    return status;
}

enum gbm_status cuda_open_libraries(struct cuda *c)
{
    if (c->solver_params)
        return GBM_OK;
    CUBLAS(cublasCreate(&c->blas));
    CUBLAS(cublasSetStream(c->blas, c->stream));
    CU(cuMemAlloc(&c->blas_work, WORKSPACE_BYTES));
    CUBLAS(cublasSetWorkspace(c->blas, (void *)c->blas_work, WORKSPACE_BYTES));
    CUSOLVER(cusolverDnCreate(&c->solver));
    CUSOLVER(cusolverDnSetStream(c->solver, c->stream));
    CUSOLVER(cusolverDnCreateParams(&c->solver_params));
    return GBM_OK;
}

/* ---- load: plan ---- */

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
    if (!c->state || !c->host_state || !c->slots || !c->steps || !c->kept ||
        !c->monitors || !c->densities)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    return bind_state(c, false, c->host_state);
}

static enum gbm_status plan_step(struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const struct rt_step *plan = &c->in->steps[step];

    if (s->kind == GBM_STEP_DENSE)
        return cuda_dense_plan(c, step);
    if (s->kind == GBM_STEP_INDEX)
        return cuda_index_plan(c, step);
    int64_t at_once = 1;
    for (int i = 0; !plan->sequential && i < plan->ncolours; i++)
        if (plan->colour[i + 1] - plan->colour[i] > at_once)
            at_once = plan->colour[i + 1] - plan->colour[i];
    const int64_t cost = s->cost ? s->cost(c->host_state) : 1;
    cuda_name_kernel(&c->steps[step].kernel, s->name,
                     cuda_lanes(c, cost, at_once * c->in->nchains));
    return GBM_OK;
}

/* The families whose log densities make up the model's. None if it is not asked
 * for, or one of them has no kernel. */
static void plan_density(struct cuda *c)
{
    const struct rt_instance *in = c->in;
    const struct rt_options *options = &c->rt->options;

    c->has_lp = options->lp || options->out || !options->no_check;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *family = &in->model->families[f];
        if (family->stochastic && !family->data_block && !family->auxiliary &&
            in->elements[f] > 0 && !family->density_kernel)
            c->has_lp = false;
    }
    for (int f = 0; c->has_lp && f < in->model->nfamilies; f++) {
        const struct gbm_family *family = &in->model->families[f];
        if (family->stochastic && !family->data_block && !family->auxiliary &&
            in->elements[f] > 0)
            cuda_name_kernel(&c->densities[f], family->density_kernel, 1);
    }
}

static enum gbm_status plan(struct cuda *c)
{
    const struct rt_instance *in = c->in;

    c->rt->device_text[c->text_length] = '\0'; /* what a load added */
    for (int k = 0; k < in->model->nsteps; k++)
        if (in->steps[k].active)
            TRY(plan_step(c, k));
    for (int k = 0; k < in->nkept_families; k++) {
        const struct gbm_family *f = &in->model->families[in->kept_families[k]];
        if (!f->derive_kernel)
            return rt_fail(c->rt, GBM_FAILURE,
                           "the generated program has no kernel for %s",
                           f->text);
        cuda_name_kernel(&c->kept[k], f->derive_kernel, 1);
    }
    plan_density(c);
    cuda_chains_plan(c);
    return GBM_OK;
}

/* ---- load: the program ---- */

/* Options of the compiler: precision, and the lanes of each kernel. A kernel
 * that is named twice has the lanes that it was given first. */
struct options {
    char (*text)[192];
    const char **list;
    struct cuda_kernel **kernels;
    int n, capacity, nkernels;
};

static void add_lanes(struct options *o, struct cuda_kernel *k)
{
    for (int i = 0; i < o->nkernels; i++)
        if (strcmp(o->kernels[i]->name, k->name) == 0) {
            k->lanes = o->kernels[i]->lanes;
            k->block = o->kernels[i]->block;
            return;
        }
    if (!k->name[0] || o->n == o->capacity)
        return;
    o->kernels[o->nkernels++] = k;
    snprintf(o->text[o->n], sizeof o->text[o->n], "-DGBM_LANES_%.*s=%d",
             (int)(strlen(k->name) - strlen("_kernel")), k->name, k->lanes);
    o->list[o->n] = o->text[o->n];
    o->n++;
}

/* Calls f with every kernel of the generated program that a run needs. */
static enum gbm_status
each_kernel(struct cuda *c, void *context,
            enum gbm_status (*f)(struct cuda *, struct cuda_kernel *, void *))
{
    const struct rt_instance *in = c->in;
    const bool by_steps = !c->chains.lanes;

    if (!by_steps)
        TRY(f(c, &c->chains.kernel, context));
    for (int k = 0; by_steps && k < in->model->nsteps; k++) {
        struct cuda_step *s = &c->steps[k];
        if (!in->steps[k].active)
            continue;
        if (s->dense) {
            TRY(f(c, &s->dense->prior, context));
            TRY(f(c, &s->dense->set, context));
            if (cuda_dense_gets(s->dense))
                TRY(f(c, &s->dense->get, context));
            for (int i = 0; i < s->dense->nterms; i++) {
                TRY(f(c, &s->dense->terms[i].row, context));
                if (s->dense->terms[i].has_pass) {
                    TRY(f(c, &s->dense->terms[i].pass.kernel, context));
                    TRY(f(c, &s->dense->terms[i].pass.weight, context));
                }
                if (s->dense->terms[i].design.name[0])
                    TRY(f(c, &s->dense->terms[i].design, context));
            }
        } else if (s->index) {
            TRY(f(c, &s->index->cell, context));
        } else if (!s->drawn_for) {
            TRY(f(c, &s->kernel, context));
        }
    }
    for (int k = 0; by_steps && k < in->nkept_families; k++)
        TRY(f(c, &c->kept[k], context));
    for (int k = 0; k < in->model->nfamilies; k++)
        if (c->densities[k].name[0])
            TRY(f(c, &c->densities[k], context));
    return GBM_OK;
}

static enum gbm_status count_kernel(struct cuda *c, struct cuda_kernel *k,
                                    void *context)
{
    (void)c;
    (void)k;
    ++*(int *)context;
    return GBM_OK;
}

static enum gbm_status option_kernel(struct cuda *c, struct cuda_kernel *k,
                                     void *context)
{
    (void)c;
    add_lanes(context, k);
    return GBM_OK;
}

static enum gbm_status find_kernel(struct cuda *c, struct cuda_kernel *k,
                                   void *context)
{
    (void)context;
    return cuda_find(c, c->program, k);
}

/* Coordinates of the largest block that an element of a step has, as far as a
 * thread should hold its matrix: stdlib/kernels/linear.h takes it from the
 * device's heap otherwise, which is slow. */
static int largest_block(const struct cuda *c)
{
    int most = 16;

    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct gbm_step *step = &c->in->model->steps[k];
        const struct rt_step *plan = &c->in->steps[k];
        if (!plan->active || step->kind != GBM_STEP_MAP || !step->block_size)
            continue;
        const int n = step->block_size(c->host_state,
                                       plan->elements ? plan->elements[0] : 0);
        if (n > most && n <= 40)
            most = n;
    }
    return most;
}

static enum gbm_status compile_both(struct cuda *c, struct options *o)
{
    const struct gbm_model *model = c->in->model;
    char name[160], small[40], chains[40], pass[40];

    if (c->single)
        o->list[o->n++] = "-DGBM_SINGLE";
    if (c->mixed)
        o->list[o->n++] = "-DGBM_MIXED";
    const int precision = o->n;
    snprintf(name, sizeof name, "%s.cu", model->name);
    TRY(cuda_compile(c, "kernels.cu", cuda_texts[0].text, cuda_ntexts - 1,
                     cuda_texts + 1, precision, o->list, &c->kernels));
    snprintf(small, sizeof small, "-DGBM_MAX_SMALL=%d", largest_block(c));
    o->list[o->n++] = small;
    o->list[o->n++] = "-DGBM_CHOSEN";
    if (c->chains.lanes) {
        snprintf(chains, sizeof chains, "-DGBM_CHAINS=%d", c->chains.lanes);
        o->list[o->n++] = chains;
    }
    if (c->pass_chains) {
        snprintf(pass, sizeof pass, "-DGBM_PASS_CHAINS=%d", c->pass_chains);
        o->list[o->n++] = pass;
    }
    o->capacity += o->n;
    TRY(each_kernel(c, o, option_kernel));
    return cuda_compile(c, name, model->program, model->nheaders,
                        model->headers, o->n, o->list, &c->program);
}

static enum gbm_status build(struct cuda *c)
{
    struct options o = {.n = 0};
    int n = 0;
    const double start = seconds();

    TRY(each_kernel(c, &n, count_kernel));
    o.capacity = n;
    o.text = calloc((size_t)n + 8, sizeof *o.text);
    o.list = calloc((size_t)n + 8, sizeof *o.list);
    o.kernels = calloc((size_t)n + 8, sizeof *o.kernels);
    enum gbm_status status = o.text && o.list && o.kernels
                                 ? compile_both(c, &o)
                                 : rt_fail(c->rt, GBM_FAILURE, "out of memory");
    free(o.text);
    free(o.list);
    free(o.kernels);
    TRY(status);
    TRY(cuda_find_fixed(c));
    TRY(each_kernel(c, NULL, find_kernel));
    c->rt->jit_s = seconds() - start;
    return GBM_OK;
}

/* ---- load: memory ---- */

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
        if (!slot->values)
            continue;
        mine->cells = slot->cells * (slot->per_chain ? c->in->nchains : 1);
        mine->stride = slot->per_chain ? slot->cells : 0;
        TRY(cuda_request(c, &mine->values,
                         (size_t)mine->cells * cell_size(c, v),
                         model->variables[v].name));
        if (slot->seen)
            TRY(cuda_request(c, &mine->seen, (size_t)slot->cells,
                             model->variables[v].name));
        if (!slot->moments)
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
    return cuda_request(c, &c->draws, 2 * (size_t)(c->half * one),
                        "draws on their way to the host");
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
        if (in->steps[k].elements)
            TRY(cuda_request(c, &s->elements,
                             (size_t)in->steps[k].count * sizeof(int),
                             "lists of elements"));
    }
    TRY(cuda_chains_request(c));
    return request_draws(c);
}

static enum gbm_status upload_slot(struct cuda *c, int v)
{
    return cuda_put_cells(c, c->slots[v].values, c->in->slots[v].values,
                          c->slots[v].cells,
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

static enum gbm_status load(struct cuda *c)
{
    TRY(create_state(c));
    TRY(plan(c));
    TRY(build(c));
    TRY(request_all(c));
    TRY(cuda_allocate(c));
    if (c->row > 0)
        CU(cuMemAllocHost((void **)&c->staging,
                          (size_t)(c->half * c->row * c->in->nchains) *
                              sizeof(double)));
    TRY(upload_all(c));
    TRY(cuda_chains_upload(c));
    TRY(bind_state(c, true, c->state));
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->steps[k].active && c->steps[k].dense)
            TRY(cuda_dense_prepare(c, c->steps[k].dense));
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

static enum gbm_status cuda_load(struct rt *rt, struct rt_instance *in)
{
    struct cuda *c = rt->device_data;

    CU(cuCtxSetCurrent(c->context));
    if (c->in)
        unload(c);
    c->in = in;
    c->single = rt->options.precision != RT_DOUBLE;
    c->mixed = rt->options.precision == RT_MIXED;
    c->real_size = c->single ? sizeof(float) : sizeof(double);
    c->total_size = c->single && !c->mixed ? sizeof(float) : sizeof(double);
    return load(c);
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

static enum gbm_status cuda_get(struct rt *rt)
{
    struct cuda *c = rt->device_data;
    CU(cuCtxSetCurrent(c->context));
    for (int v = 0; v < c->in->model->nvariables; v++)
        if (c->in->slots[v].per_chain)
            TRY(cuda_get_cells(c, c->in->slots[v].values, c->slots[v].values,
                               c->slots[v].cells,
                               c->in->model->variables[v].integer));
    return GBM_OK;
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
    .open = cuda_open,
    .load = cuda_load,
    .run = cuda_run,
    .put = cuda_put,
    .get = cuda_get,
    .moments = cuda_moments,
    .put_moments = cuda_put_moments,
    .density = cuda_density,
    .close = cuda_close,
};
