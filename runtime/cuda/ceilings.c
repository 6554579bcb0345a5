/* ceilings.c: what the device's memory and arithmetic can do, for a profile. */
#include "programs.h"

enum { BLOCK = 256, BLOCKS_EACH = 16 };
/* Multiply-adds of a turn of ceiling_multiply. */
enum { CHAINS = 8 };
static const double SECONDS = 1e-3;
/* Less than that is over before the device is busy. */
static const double BYTES_LEAST = 32 << 20, BYTES_MOST = 512 << 20;

struct gauge {
    struct cuda *c;
    CUmodule module;
    struct cuda_kernel copy, multiply;
    CUdeviceptr memory;
    size_t bytes;
};

static enum gbm_status compile(struct gauge *g)
{
    struct cuda *c = g->c;
    char architecture[64];
    const char *options[3] = {architecture, "--std=c++17"};
    int n = 2;
    if (c->single || c->mixed)
        options[n++] = c->mixed ? "-DGBM_MIXED" : "-DGBM_SINGLE";
    TRY(cuda_architecture(c, architecture, sizeof architecture));
    struct cuda_program program = {.name = "ceilings.cu",
                                   .text = "#include \"ceilings.h\"\n",
                                   .options = options,
                                   .noptions = n,
                                   .module = &g->module};
    TRY(cuda_compile(c, &program, 1, false));
    g->copy = (struct cuda_kernel){.name = "ceiling_copy", .lanes = 1};
    g->multiply = (struct cuda_kernel){.name = "ceiling_multiply", .lanes = 1};
    CU(cuModuleGetFunction(&g->copy.function, g->module, g->copy.name));
    CU(cuModuleGetFunction(&g->multiply.function, g->module, g->multiply.name));
    return GBM_OK;
}

static enum gbm_status copy(struct gauge *g, int times)
{
    const CUdeviceptr from = g->memory + g->bytes / 2;
    const long long n = (long long)(g->bytes / 2 / sizeof(double));
    void *args[] = {&g->memory, (void *)&from, (void *)&n};
    for (int i = 0; i < times; i++)
        TRY(cuda_launch_grid(g->c, &g->copy,
                             g->c->multiprocessors * BLOCKS_EACH, 1, BLOCK, 0,
                             args));
    return GBM_OK;
}

static enum gbm_status multiply(struct gauge *g, int turns)
{
    void *args[] = {&g->memory, &turns};
    return cuda_launch_grid(g->c, &g->multiply,
                            g->c->multiprocessors * BLOCKS_EACH, 1, BLOCK, 0,
                            args);
}

/* *rate: of so much work that is done `times` times, ever more often until that
 * takes long enough. */
static enum gbm_status measure(struct gauge *g, double work,
                               enum gbm_status (*run)(struct gauge *, int),
                               double *rate)
{
    struct cuda *c = g->c;
    double spent = 0;
    int times = 1;
    TRY(run(g, 1)); /* the first one may be slow */
    CU(cuStreamSynchronize(c->stream));
    for (;; times *= 2) {
        const double began = rt_clock();
        TRY(run(g, times));
        CU(cuStreamSynchronize(c->stream));
        spent = rt_clock() - began;
        if (spent >= SECONDS || times >= 1 << 24)
            break;
    }
    *rate = work * times / spent;
    return GBM_OK;
}

static enum gbm_status measure_both(struct gauge *g, struct rt_ceilings *out)
{
    const double threads = (double)g->c->multiprocessors * BLOCKS_EACH * BLOCK;
    TRY(compile(g));
    TRY(measure(g, (double)g->bytes, copy, &out->bandwidth));
    return measure(g, threads * CHAINS * 2, multiply, &out->rate);
}

enum gbm_status cuda_ceilings(struct rt *rt, double shared, double own,
                              struct rt_ceilings *out)
{
    struct cuda *c = rt->device_data;
    struct gauge g = {.c = c};
    double bytes = shared + own * c->in->nchains;
    CU(cuCtxSetCurrent(c->context));
    bytes = bytes < BYTES_LEAST ? BYTES_LEAST : bytes;
    g.bytes = (size_t)(bytes > BYTES_MOST ? BYTES_MOST : bytes) & ~(size_t)255;
    if (cuMemAlloc(&g.memory, g.bytes) != CUDA_SUCCESS)
        return GBM_OK; /* the model fills the device: not measured */
    *out = (struct rt_ceilings){
        .copied = (double)g.bytes, .real = c->real_size, .together = true};
    enum gbm_status status = measure_both(&g, out);
    if (g.module)
        (void)cuModuleUnload(g.module);
    (void)cuMemFree(g.memory);
    return status;
}
