/* device.c: the CUDA device of the runtime. Exports the table rt_cuda. */
#include "cuda.h"
#include "joint.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAP_BYTES ((size_t)256 << 20) /* of the device */
#define RING_BYTES ((int64_t)16 << 20) /* most for half a ring */
#define STATE_BYTES 32000              /* most that a kernel takes */

double cuda_seconds(void)
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
    for (int i = 0; i < CUDA_PARTS; i++)
        if (c->parts[i])
            (void)cuModuleUnload(c->parts[i]);
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
    memset(c->parts, 0, sizeof c->parts);
    c->kernels = NULL;
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

/* 0, or the lanes of a wide team, for a joint block among others: its levels
 * have a few barriers each, and so do the rest; one by ellipses is factored and
 * summed some times over. */
static int wide_lanes(const struct cuda *c, const struct gbm_step *s,
                      int64_t cost)
{
    if (!s->joint)
        return s->barriers
                   ? cuda_wide_lanes(c, cost, s->barriers, c->in->nchains)
                   : 0;
    const int *table = c->in->slots[s->joint->table].values;
    const int64_t barriers = 4 * (int64_t)table[GBM_J_LEVELS] + 40;
    return cuda_wide_lanes(c, cost, (table[GBM_J_CURVED] ? 8 : 1) * barriers,
                           c->in->nchains);
}

/* Most numbers of a row and of a trial's room, which a thread holds; of a
 * value, of which shared memory holds some; threads that keep a multiprocessor
 * busy. */
enum { ROWS_CELLS = 128, ROWS_VALUES = 1024, ROWS_THREADS = 256 };

/* Whether a step's elements are updated as rows, each by a thread. */
static bool by_rows(const struct cuda *c, int step, int64_t at_once)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    int64_t sizes[GBM_MAX_SIZES];

    /* for tests: 0 never, or wherever it can be, so many a thread */
    const char *wanted = getenv("GBM_CUDA_ROWS");
    if (!s->sizes || c->in->steps[step].sequential ||
        (wanted ? atoi(wanted) == 0
                : at_once < (int64_t)c->multiprocessors * 32))
        return false;
    (void)s->sizes(c->host_state, sizes);
    return sizes[0] <= ROWS_CELLS && sizes[1] <= ROWS_CELLS && sizes[2] > 0 &&
           sizes[2] <= ROWS_VALUES;
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
    const int wide = wide_lanes(c, s, cost);
    if (wide) {
        char *text = c->rt->device_text;
        const size_t used = strlen(text);
        snprintf(text + used, sizeof c->rt->device_text - used,
                 ", %s by %d blocks together", s->variable,
                 wide / GBM_WIDE_BLOCK);
    }
    c->steps[step].at_once = at_once * c->in->nchains;
    c->steps[step].by_rows = !wide && by_rows(c, step, c->steps[step].at_once);
    cuda_name_kernel(&c->steps[step].kernel, s->name,
                     wide ? wide
                     : c->steps[step].by_rows
                         ? 1
                         : cuda_lanes(c, cost, at_once * c->in->nchains));
    c->steps[step].kernel.effort = s->joint ? 8 : s->trials ? 3 : 2;
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
    for (int k = 0; k < in->model->nsteps; k++)
        c->chains.kernel.effort += c->steps[k].kernel.effort;
    return GBM_OK;
}

/* ---- load: the program ---- */

/* The kernels of the generated program that a run needs, each once: one that is
 * named twice has the lanes that it was given first. */
struct kernels {
    struct cuda_kernel **list;
    int n;
};

static struct cuda_kernel *named_alike(const struct kernels *kernels,
                                       const struct cuda_kernel *k)
{
    for (int i = 0; i < kernels->n; i++)
        if (strcmp(kernels->list[i]->name, k->name) == 0)
            return kernels->list[i];
    return NULL;
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

static enum gbm_status add_kernel(struct cuda *c, struct cuda_kernel *k,
                                  void *context)
{
    struct kernels *kernels = context;
    const struct cuda_kernel *first = named_alike(kernels, k);

    (void)c;
    if (first) {
        k->lanes = first->lanes;
        k->block = first->block;
    } else {
        kernels->list[kernels->n++] = k;
    }
    return GBM_OK;
}

static enum gbm_status find_kernel(struct cuda *c, struct cuda_kernel *k,
                                   void *context)
{
    return cuda_find(c, c->parts[named_alike(context, k)->part], k);
}

/* The one that takes longest of those that have no part yet. */
static struct cuda_kernel *longest_left(const struct kernels *kernels)
{
    struct cuda_kernel *longest = NULL;

    for (int i = 0; i < kernels->n; i++) {
        struct cuda_kernel *k = kernels->list[i];
        if (k->part < 0 && (!longest || k->effort > longest->effort))
            longest = k;
    }
    return longest;
}

/* Shares the kernels out among parts, so that none takes much longer than it
 * must: that is as long as the longest kernel, or an even share. Parts are not
 * begun while there is room, as each reads the whole text. Returns how many
 * there are, the longest first. */
static int share_out(const struct kernels *kernels)
{
    int room = 0, nparts = 0;
    int load[CUDA_PARTS] = {0};

    for (int i = 0; i < kernels->n; i++) {
        kernels->list[i]->part = -1;
        room += kernels->list[i]->effort;
    }
    room = (room + CUDA_PARTS - 1) / CUDA_PARTS;
    for (struct cuda_kernel *k; (k = longest_left(kernels));) {
        int part = 0, least = 0;
        if (k->effort > room)
            room = k->effort;
        while (part < CUDA_PARTS && load[part] + k->effort > room)
            part++;
        for (int i = 1; i < CUDA_PARTS; i++)
            if (load[i] < load[least])
                least = i;
        k->part = part < CUDA_PARTS ? part : least;
        load[k->part] += k->effort;
        if (k->part >= nparts)
            nparts = k->part + 1;
    }
    return nparts;
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

/* Options of the compiler. */
struct options {
    char architecture[64], small[40], chains[40], pass[40], rows[40];
    char (*sizes)[512];                /* of each step */
    char (*lanes)[192];                /* of each kernel */
    const char **lists[CUDA_PROGRAMS]; /* parts, and then the fixed kernels */
    int n[CUDA_PROGRAMS];
};

static void add_option(struct options *o, int program, const char *option)
{
    o->lists[program][o->n[program]++] = option;
}

/* How many rows a thread has: two share what it reads, if that leaves threads
 * enough. Four take twice the registers, and longer. */
static int rows_of_thread(const struct cuda *c)
{
    const char *wanted = getenv("GBM_CUDA_ROWS");
    int64_t most = 0;

    if (wanted && atoi(wanted) > 0)
        return atoi(wanted);
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->steps[k].by_rows && c->steps[k].at_once > most)
            most = c->steps[k].at_once;
    const int64_t threads = (int64_t)c->multiprocessors * ROWS_THREADS;
    return most >= 2 * threads ? 2 : 1;
}

/* What is known of a step, for its kernel, as an option. */
static void add_sizes(struct cuda *c, struct options *o, int step,
                      const int64_t *sizes, int n)
{
    char *out = o->sizes[step];
    const size_t room = sizeof o->sizes[step];
    const int part =
        c->chains.lanes ? c->chains.kernel.part : c->steps[step].kernel.part;

    int used =
        snprintf(out, room, "-DGBM_SIZES_%s=", c->in->model->steps[step].name);
    for (int i = 0; i < n && (size_t)used < room; i++)
        used += snprintf(out + used, room - (size_t)used, "%s%lld",
                         i ? "_" : "", (long long)sizes[i]);
    if ((size_t)used < room)
        add_option(o, part, out);
}

static void add_sizes_of_rows(struct cuda *c, struct options *o, int step)
{
    int64_t sizes[GBM_MAX_SIZES];
    const int n = c->in->model->steps[step].sizes(c->host_state, sizes);
    add_sizes(c, o, step, sizes, n);
}

/* Which parts a joint block has. */
static void add_sizes_of_joint(struct cuda *c, struct options *o, int step)
{
    const struct gbm_joint_block *block = c->in->model->steps[step].joint;
    const int *table = c->in->slots[block->table].values;
    const int *term = table + table[GBM_J_TERMS];
    int64_t has[GBM_HAS_COUNT] = {0};

    has[GBM_HAS_TREES] = table[GBM_J_TREES_SIZE] > 0;
    has[GBM_HAS_LISTS] = table[GBM_J_SPARSE] > table[GBM_J_LEAVES];
    has[GBM_HAS_DENSE] = table[GBM_J_D] > table[GBM_J_SPARSE];
    has[GBM_HAS_HELD] = table[GBM_J_HELD] > 0;
    for (int i = 0; i < block->nterms; i++, term += GBM_T_SIZE)
        has[GBM_HAS_VARYING] |= !term[GBM_T_FIXED_DESIGN];
    add_sizes(c, o, step, has, GBM_HAS_COUNT);
}

static enum gbm_status set_options(struct cuda *c, struct options *o,
                                   const struct kernels *kernels)
{
    TRY(cuda_architecture(c, o->architecture, sizeof o->architecture));
    for (int i = 0; i < CUDA_PROGRAMS; i++) {
        add_option(o, i, o->architecture);
        add_option(o, i, "--std=c++17");
        if (c->single)
            add_option(o, i, "-DGBM_SINGLE");
        if (c->mixed)
            add_option(o, i, "-DGBM_MIXED");
    }
    if (cuda_dense_has(c, false))
        add_option(o, CUDA_PARTS, "-DGBM_HAS_LARGE");
    if (cuda_dense_has(c, true))
        add_option(o, CUDA_PARTS, "-DGBM_HAS_SMALL");
    snprintf(o->small, sizeof o->small, "-DGBM_MAX_SMALL=%d", largest_block(c));
    for (int i = 0; i < CUDA_PARTS; i++) {
        add_option(o, i, o->small);
        add_option(o, i, "-DGBM_CHOSEN");
    }
    if (c->pass_chains) {
        snprintf(o->pass, sizeof o->pass, "-DGBM_PASS_CHAINS=%d",
                 c->pass_chains);
        for (int i = 0; i < CUDA_PARTS; i++)
            add_option(o, i, o->pass);
    }
    if (c->chains.lanes) {
        snprintf(o->chains, sizeof o->chains, "-DGBM_CHAINS=%d",
                 c->chains.lanes);
        add_option(o, c->chains.kernel.part, o->chains);
    }
    snprintf(o->rows, sizeof o->rows, "-DGBM_ROWS=%d", rows_of_thread(c));
    for (int i = 0; i < CUDA_PARTS; i++)
        add_option(o, i, o->rows);
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->model->steps[k].joint && c->in->steps[k].active)
            add_sizes_of_joint(c, o, k);
        else if (c->steps[k].by_rows && !c->chains.lanes)
            add_sizes_of_rows(c, o, k);
    for (int i = 0; i < kernels->n; i++) {
        const struct cuda_kernel *k = kernels->list[i];
        snprintf(o->lanes[i], sizeof o->lanes[i], "-DGBM_LANES_%.*s=%d",
                 (int)(strlen(k->name) - strlen("_kernel")), k->name, k->lanes);
        add_option(o, k->part, o->lanes[i]);
    }
    return GBM_OK;
}

static enum gbm_status compile_all(struct cuda *c, struct options *o,
                                   const struct kernels *kernels)
{
    const struct gbm_model *model = c->in->model;
    struct cuda_program programs[CUDA_PROGRAMS] = {0};
    const int nparts = share_out(kernels);
    char name[160];

    TRY(set_options(c, o, kernels));
    snprintf(name, sizeof name, "%s.cu", model->name);
    programs[0] = (struct cuda_program){.name = "kernels.cu",
                                        .text = "#include \"kernels.h\"\n",
                                        .options = o->lists[CUDA_PARTS],
                                        .noptions = o->n[CUDA_PARTS],
                                        .module = &c->kernels};
    for (int i = 0; i < nparts; i++)
        programs[i + 1] = (struct cuda_program){.name = name,
                                                .text = model->program,
                                                .options = o->lists[i],
                                                .noptions = o->n[i],
                                                .module = &c->parts[i]};
    return cuda_compile(c, programs, nparts + 1);
}

static enum gbm_status build(struct cuda *c)
{
    struct options o = {.n = {0}};
    struct kernels kernels = {.n = 0};
    int n = 0;
    bool enough = true;
    const double start = cuda_seconds();

    TRY(each_kernel(c, &n, count_kernel));
    kernels.list = calloc((size_t)n + 1, sizeof *kernels.list);
    o.lanes = calloc((size_t)n + 1, sizeof *o.lanes);
    o.sizes = calloc((size_t)c->in->model->nsteps + 1, sizeof *o.sizes);
    for (int i = 0; i < CUDA_PROGRAMS; i++) {
        o.lists[i] = calloc(2 * (size_t)n + 12, sizeof *o.lists[i]);
        enough = enough && o.lists[i];
    }
    enum gbm_status status = kernels.list && o.lanes && o.sizes && enough
                                 ? each_kernel(c, &kernels, add_kernel)
                                 : rt_fail(c->rt, GBM_FAILURE, "out of memory");
    if (status == GBM_OK)
        status = compile_all(c, &o, &kernels);
    if (status == GBM_OK)
        status = cuda_find_fixed(c);
    if (status == GBM_OK)
        status = each_kernel(c, &kernels, find_kernel);
    for (int i = 0; i < CUDA_PROGRAMS; i++)
        free(o.lists[i]);
    free(o.lanes);
    free(o.sizes);
    free(kernels.list);
    c->rt->jit_s = cuda_seconds() - start;
    return status;
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
    .open = cuda_open,
    .load = cuda_load,
    .run = cuda_run,
    .put = cuda_put,
    .get = cuda_get,
    .moments = cuda_moments,
    .put_moments = cuda_put_moments,
    .density = cuda_density,
    .ceilings = cuda_ceilings,
    .close = cuda_close,
};
