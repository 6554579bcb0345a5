/* driver.c: a stand-in for the CUDA driver, libcuda.so.1, for tests: one device
 * that is the CPU. Work is done when it is submitted, but what a capture
 * records is done when the graph is launched. Memory ends at a page that
 * cannot be touched, so that an access beyond is seen. */
#include "fake.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- fibers ---- */

struct emu_dim {
    unsigned x, y, z;
};
struct emu_place {
    struct emu_dim thread, block, block_size, grid;
    unsigned char *dynamic;
};
struct emu_place emu_here;
void emu_barrier(void);
void emu_warp_barrier(unsigned mask);
uint64_t *emu_exchange(void);
void *emu_malloc(size_t bytes);
void emu_free(void *p);

#define MAX_THREADS 1024 /* of a block */
#define MAX_BLOCKS 32    /* that wait for each other, and their threads */
#define MAX_FIBERS 16384
#define STACK_BYTES ((size_t)256 << 10)

struct barrier {
    unsigned arrived, round;
};
struct fiber {
    void *sp;
    bool alive;
};
static struct {
    struct fiber fibers[MAX_FIBERS]; /* block by block */
    char *stacks;
    void *main_sp;
    int self, n; /* threads of a block */
    bool progress;
    struct thread_block {
        int alive;
        struct barrier all, warp[32][32];
        uint64_t exchange[32][32];
    } blocks[MAX_BLOCKS], *block; /* of the running fiber */
    void (*call)(void *);
    void *arguments;
} emu;

void emu_switch(void **save, void *to);
__asm__(".text\n"
        ".globl emu_switch\n"
        "emu_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n");

static void yield(void) { emu_switch(&emu.fibers[emu.self].sp, emu.main_sp); }

static void release(struct barrier *b, unsigned needed)
{
    if (b->arrived >= needed && b->arrived > 0) {
        b->arrived = 0;
        b->round++;
        emu.progress = true;
    }
}

static void wait_at(struct barrier *b, unsigned needed)
{
    const unsigned round = b->round;
    b->arrived++;
    emu.progress = true;
    release(b, needed);
    while (b->round == round)
        yield();
}

void emu_barrier(void) { wait_at(&emu.block->all, (unsigned)emu.block->alive); }

void emu_yield(void) { yield(); }

void emu_warp_barrier(unsigned mask)
{
    const int warp = emu.self % emu.n / 32, lane = emu.self % emu.n % 32;
    unsigned there = mask;
    if (!(mask >> lane & 1)) {
        fprintf(stderr, "fake CUDA: lane %d is not in its own mask %08x\n",
                lane, mask);
        abort();
    }
    if (emu.n - warp * 32 < 32) /* a block that is no multiple of 32 */
        there &= (1u << (emu.n - warp * 32)) - 1u;
    wait_at(&emu.block->warp[warp][__builtin_ctz(mask)],
            (unsigned)__builtin_popcount(there));
}

uint64_t *emu_exchange(void)
{
    return emu.block->exchange[emu.self % emu.n / 32];
}

static void fiber_main(void)
{
    emu.call(emu.arguments);
    emu.fibers[emu.self].alive = false;
    emu.block->alive--;
    emu.progress = true;
    if (emu.block->alive > 0)
        release(&emu.block->all, (unsigned)emu.block->alive);
    yield();
    abort();
}

static void start_block(int block, int n)
{
    memset(&emu.blocks[block], 0, sizeof emu.blocks[block]);
    emu.blocks[block].alive = n;
    for (int i = block * n; i < (block + 1) * n; i++) {
        uint64_t *top =
            (uint64_t *)(void *)(emu.stacks + (size_t)(i + 1) * STACK_BYTES);
        top -= 3; /* at the entry of a function: 8 modulo 16 */
        *--top = (uint64_t)(uintptr_t)fiber_main;
        for (int k = 0; k < 6; k++)
            *--top = 0;
        emu.fibers[i] = (struct fiber){.sp = top, .alive = true};
    }
}

/* Runs a block until it ends or waits for another; returns whether it went on.
 */
static bool run_block(int block, int n, bool backwards)
{
    bool went = false;
    emu.block = &emu.blocks[block];
    do {
        emu.progress = false;
        for (int k = 0; k < n; k++) {
            const int thread = backwards ? n - 1 - k : k;
            const int i = block * n + thread;
            if (!emu.fibers[i].alive)
                continue;
            emu.self = i;
            emu_here.thread = (struct emu_dim){(unsigned)thread, 0, 0};
            emu_switch(&emu.main_sp, emu.fibers[i].sp);
        }
        went = went || emu.progress;
    } while (emu.progress);
    return went;
}

/* `blocks` blocks of n threads, from number `first` on, that may wait for each
 * other. */
static void run_blocks(const char *name, struct emu_dim first, int blocks,
                       int n)
{
    /* GBM_FAKE_ORDER=1: the last thread goes first. Results must not change. */
    const char *order = getenv("GBM_FAKE_ORDER");
    const bool backwards = order && order[0] == '1';

    emu.n = n;
    for (int b = 0; b < blocks; b++)
        start_block(b, n);
    for (bool went = true; went;) {
        went = false;
        for (int b = 0; b < blocks; b++) {
            emu_here.block = first;
            emu_here.block.x += (unsigned)b;
            if (emu.blocks[b].alive > 0)
                went = run_block(b, n, backwards) || went;
        }
    }
    for (int b = 0; b < blocks; b++)
        if (emu.blocks[b].alive > 0) {
            fprintf(stderr,
                    "fake CUDA: kernel %s hangs: %d threads wait at a barrier "
                    "that the others do not reach\n",
                    name, emu.blocks[b].alive);
            abort();
        }
}

/* ---- streams and graphs ---- */

struct work {
    CUresult (*work)(void *);
    void (*drop)(void *);
    void *data;
    struct work *next;
};
struct CUgraph_st {
    struct work *first, **last;
};
struct CUstream_st {
    struct CUgraph_st *capturing;
    struct work *waiting, **last; /* while capturing: work that is put off */
    bool begun;                   /* the capture, not only joined it */
    struct CUstream_st *next;
};
struct CUevent_st {
    struct CUgraph_st *capturing; /* of the stream that recorded it */
    CUstream stream;
};
static struct CUstream_st *streams;
struct CUgraphExec_st {
    struct work *first;
};
static struct CUstream_st default_stream;

/* GBM_FAKE_LATE=main, beside: what is captured of the stream that begins a
 * capture, or of all others, goes into the graph as late as events allow, so
 * that one that is not waited for shows. */
static bool is_late(CUstream stream)
{
    const char *late = getenv("GBM_FAKE_LATE");
    return late && strcmp(late, stream->begun ? "main" : "beside") == 0;
}

/* What was put off goes now. */
static void fake_settle(CUstream stream)
{
    if (!stream || !stream->capturing || !stream->waiting)
        return;
    *stream->capturing->last = stream->waiting;
    stream->capturing->last = stream->last;
    stream->waiting = NULL;
}

CUresult fake_submit(CUstream stream, CUresult (*work)(void *),
                     void (*drop)(void *), void *data)
{
    if (!stream)
        stream = &default_stream;
    if (!stream->capturing) {
        CUresult result = work(data);
        if (drop)
            drop(data);
        return result;
    }
    struct work *w = calloc(1, sizeof *w);
    *w = (struct work){.work = work, .drop = drop, .data = data};
    if (!is_late(stream)) {
        *stream->capturing->last = w;
        stream->capturing->last = &w->next;
        return CUDA_SUCCESS;
    }
    if (!stream->waiting)
        stream->last = &stream->waiting;
    *stream->last = w;
    stream->last = &w->next;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    (*stream)->next = streams;
    streams = *stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags,
                                    int priority)
{
    (void)priority;
    return cuStreamCreate(stream, flags);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
    for (struct CUstream_st **s = &streams; *s; s = &(*s)->next)
        if (*s == stream) {
            *s = stream->next;
            break;
        }
    free(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    return stream && stream->capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                       : CUDA_SUCCESS;
}

/* A stream that waits for an event of a capture is captured too. */
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    (void)flags;
    if (event->capturing) {
        if (event->stream != stream)
            fake_settle(event->stream);
        stream->capturing = event->capturing;
    }
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)mode;
    if (stream->capturing)
        return CUDA_ERROR_ILLEGAL_STATE;
    stream->capturing = calloc(1, sizeof *stream->capturing);
    stream->capturing->last = &stream->capturing->first;
    stream->begun = true;
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    /* GBM_FAKE_CAPTURE=fails: something in it could not be captured */
    const char *how = getenv("GBM_FAKE_CAPTURE");
    const bool fails = how && strcmp(how, "fails") == 0;
    fake_settle(stream);
    stream->begun = false;
    *graph = fails ? NULL : stream->capturing;
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (s != stream && s->capturing == stream->capturing)
            s->capturing = NULL;
    stream->capturing = NULL;
    return *graph ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph,
                            unsigned long long flags)
{
    (void)flags;
    *exec = calloc(1, sizeof **exec);
    (*exec)->first = graph->first;
    graph->first = NULL;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    free(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    for (struct work *w = exec->first, *next; w; w = next) {
        next = w->next;
        if (w->drop)
            w->drop(w->data);
        free(w);
    }
    free(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    (void)stream;
    for (struct work *w = exec->first; w; w = w->next) {
        CUresult result = w->work(w->data);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
    free(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    event->capturing = stream->capturing;
    event->stream = stream;
    return CUDA_SUCCESS;
}

/* ---- the device ---- */

CUresult cuInit(unsigned flags)
{
    (void)flags;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)length, "a CPU that plays a GPU");
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    (void)device;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: {
        /* as many as GBM_FAKE_MULTIPROCESSORS says */
        const char *wanted = getenv("GBM_FAKE_MULTIPROCESSORS");
        *value = wanted ? atoi(wanted) : 4;
    }
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = 227 << 10;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)4 << 30;
    return CUDA_SUCCESS;
}

/* GBM_FAKE_OPEN=FILE: a device is not open before there is that file, which it
 * waits a minute for. */
static bool may_open(void)
{
    const char *path = getenv("GBM_FAKE_OPEN");
    for (int i = 0; path && access(path, R_OK) != 0; i++) {
        if (i == 6000)
            return false;
        (void)usleep(10000);
    }
    return true;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    if (!may_open())
        return CUDA_ERROR_NOT_READY;
    *context = (CUcontext)(void *)&emu;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

/* What kernels take as they go: each piece knows its size. */
static struct {
    size_t limit, taken;
} heap = {.limit = (size_t)8 << 20};

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
        heap.limit = value;
    return CUDA_SUCCESS;
}

void *emu_malloc(size_t bytes)
{
    size_t *piece = NULL;
    if (bytes <= heap.limit - heap.taken)
        piece = malloc(bytes + 2 * sizeof *piece);
    if (!piece)
        return NULL;
    heap.taken += bytes;
    piece[0] = bytes;
    return piece + 2;
}

void emu_free(void *p)
{
    if (!p)
        return;
    size_t *piece = (size_t *)p - 2;
    heap.taken -= piece[0];
    free(piece);
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
    static char name[32];
    snprintf(name, sizeof name, "CUresult %d", (int)error);
    *text = name;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    (void)error;
    *text = "from the stand-in for the driver";
    return CUDA_SUCCESS;
}

/* ---- memory ---- */

struct block {
    void *map;
    size_t bytes;
    CUdeviceptr p;
    struct block *next;
};
static struct block *blocks;
static size_t allocated;

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
    /* GBM_FAKE_MEMORY: bytes of the device */
    const char *limit = getenv("GBM_FAKE_MEMORY");
    *total = limit ? (size_t)strtoull(limit, NULL, 10) : (size_t)4 << 30;
    *free_bytes = *total > allocated ? *total - allocated : 0;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *p, size_t bytes)
{
    const size_t page = 4096, room = (bytes + 15) / 16 * 16;
    struct block *b = calloc(1, sizeof *b);

    b->bytes = (room + page - 1) / page * page + page;
    b->map = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->map == MAP_FAILED) {
        free(b);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    char *end = (char *)b->map + b->bytes - page;
    mprotect(end, page, PROT_NONE);
    b->p = (CUdeviceptr)(uintptr_t)(end - room);
    b->next = blocks;
    blocks = b;
    allocated += room;
    *p = b->p;
    memset((void *)(uintptr_t)b->p, 0xff, bytes); /* NaN until it is set */
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr p)
{
    for (struct block **b = &blocks; *b; b = &(*b)->next)
        if ((*b)->p == p) {
            struct block *gone = *b;
            *b = gone->next;
            munmap(gone->map, gone->bytes);
            free(gone);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocHost(void **p, size_t bytes)
{
    *p = malloc(bytes ? bytes : 1);
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *p)
{
    free(p);
    return CUDA_SUCCESS;
}

/* GBM_FAKE_COPIES=FILE: a line for each copy to the device, its bytes. */
static void tell_of_copy(size_t bytes)
{
    const char *path = getenv("GBM_FAKE_COPIES");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (!log)
        return;
    fprintf(log, "%zu\n", bytes);
    fclose(log);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream stream)
{
    if (stream && stream->capturing)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    tell_of_copy(bytes);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                           CUstream stream)
{
    if (stream && stream->capturing)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream)
{
    return cuMemcpyDtoHAsync((void *)(uintptr_t)to, from, bytes, stream);
}

struct fill {
    CUdeviceptr to;
    unsigned value;
    size_t n, size;
};

static CUresult fill(void *data)
{
    const struct fill *f = data;
    for (size_t i = 0; i < f->n; i++)
        memcpy((char *)(uintptr_t)f->to + i * f->size, &f->value, f->size);
    return CUDA_SUCCESS;
}

static CUresult submit_fill(CUstream stream, struct fill f)
{
    struct fill *data = malloc(sizeof *data);
    *data = f;
    return fake_submit(stream, fill, free, data);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n,
                         CUstream stream)
{
    return submit_fill(stream, (struct fill){to, value, n, 1});
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n,
                          CUstream stream)
{
    return submit_fill(stream, (struct fill){to, value, n, 4});
}

/* ---- modules and kernels ---- */

struct CUfunc_st {
    char name[160];
    void *(*pack)(void **);
    void (*call)(void *);
    void (*drop)(void *);
    unsigned most_shared; /* bytes, dynamic */
    long launches;
    struct CUmod_st *module;
    struct CUfunc_st *next;
};
struct CUmod_st {
    void *library;
    struct CUfunc_st *functions;
    char level[16];
    long launches;
};

/* GBM_FAKE_LOG=FILE: a line for each module that is unloaded: the level that it
 * was compiled at, and how many kernels of it ran. */
static void tell_of(const struct CUmod_st *module)
{
    const char *path = getenv("GBM_FAKE_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (!log)
        return;
    fprintf(log, "%s %ld\n", module->level, module->launches);
    fclose(log);
}

/* GBM_FAKE_KERNELS=FILE: a line for each kernel of such a module that ran: its
 * name, and how many times. */
static void tell_of_kernels(const struct CUmod_st *module)
{
    const char *path = getenv("GBM_FAKE_KERNELS");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (!log)
        return;
    for (const struct CUfunc_st *f = module->functions; f; f = f->next)
        if (f->launches > 0)
            fprintf(log, "%s %ld\n", f->name, f->launches);
    fclose(log);
}

/* The image is the path of a shared library (nvrtc.c). */
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    void *library = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return CUDA_ERROR_INVALID_IMAGE;
    *module = calloc(1, sizeof **module);
    (*module)->library = library;
    const char *slash = strrchr(image, '/');
    snprintf((*module)->level, sizeof(*module)->level, "%.*s",
             (int)strcspn(slash + 1, "."), slash + 1);
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    tell_of(module);
    tell_of_kernels(module);
    for (struct CUfunc_st *f = module->functions, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    dlclose(module->library);
    free(module);
    return CUDA_SUCCESS;
}

static void *symbol(CUmodule module, const char *part, const char *name)
{
    char whole[256];
    snprintf(whole, sizeof whole, "emu_%s_%s", part, name);
    return dlsym(module->library, whole);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name)
{
    struct CUfunc_st *f = calloc(1, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    *(void **)&f->pack = symbol(module, "pack", name);
    *(void **)&f->call = symbol(module, "call", name);
    *(void **)&f->drop = symbol(module, "drop", name);
    if (!f->pack || !f->call || !f->drop) {
        free(f);
        return CUDA_ERROR_NOT_FOUND;
    }
    f->most_shared = 48 << 10;
    f->module = module;
    f->next = module->functions;
    module->functions = f;
    *function = f;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
    (void)function;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                            int value)
{
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
        value < 0 || value > 227 << 10)
        return CUDA_ERROR_INVALID_VALUE;
    function->most_shared = (unsigned)value;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                     CUfunction function,
                                                     int threads, size_t shared)
{
    (void)function;
    (void)threads;
    (void)shared;
    *blocks = 1; /* so that even a small test has more than fit */
    return CUDA_SUCCESS;
}

struct launch {
    CUfunction function;
    void *arguments;
    struct emu_dim grid;
    unsigned block, shared;
    bool together; /* its blocks wait for each other */
};

static CUresult run_launch(void *data)
{
    const struct launch *l = data;

    /* GBM_FAKE_WAIT: microseconds that each kernel takes more */
    const char *wait = getenv("GBM_FAKE_WAIT");
    if (wait)
        (void)usleep((useconds_t)atoi(wait));
    l->function->module->launches++;
    l->function->launches++;
    if (!emu.stacks)
        emu.stacks =
            mmap(NULL, MAX_FIBERS * STACK_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *dynamic = malloc(l->shared + 1);
    emu_here.dynamic = dynamic;
    emu_here.grid = l->grid;
    emu_here.block_size = (struct emu_dim){l->block, 1, 1};
    emu.call = l->function->call;
    emu.arguments = l->arguments;
    const unsigned at_once = l->together ? l->grid.x : 1;
    for (unsigned y = 0; y < l->grid.y; y++)
        for (unsigned x = 0; x < l->grid.x; x += at_once) {
            memset(dynamic, 0xff, l->shared);
            run_blocks(l->function->name, (struct emu_dim){x, y, 0},
                       (int)at_once, (int)l->block);
        }
    free(dynamic);
    return CUDA_SUCCESS;
}

static void drop_launch(void *data)
{
    struct launch *l = data;
    l->function->drop(l->arguments);
    free(l);
}

static CUresult launch(CUfunction f, struct emu_dim grid, unsigned block,
                       unsigned shared, CUstream stream, void **args,
                       bool together)
{
    if (grid.z != 1 || !grid.x || !grid.y || grid.y > 65535 || !block ||
        block > MAX_THREADS || shared > f->most_shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (together && (grid.x > MAX_BLOCKS || grid.x * block > MAX_FIBERS))
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    struct launch *l = malloc(sizeof *l);
    *l = (struct launch){.function = f,
                         .arguments = f->pack(args),
                         .grid = grid,
                         .block = block,
                         .shared = shared,
                         .together = together};
    return fake_submit(stream, run_launch, drop_launch, l);
}

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared, CUstream stream,
                        void **args, void **extra)
{
    if (extra || block_y != 1 || block_z != 1)
        return CUDA_ERROR_INVALID_VALUE;
    return launch(f, (struct emu_dim){grid_x, grid_y, grid_z}, block_x, shared,
                  stream, args, false);
}

/* Of attributes, that blocks go together, and that a kernel may begin before
 * the one before it is done: here it never does. */
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
                          void **args, void **extra)
{
    bool together = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *its = &config->attrs[i];
        if (its->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            together = its->value.cooperative;
        else if (its->id !=
                 CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (extra || config->blockDimY != 1 || config->blockDimZ != 1)
        return CUDA_ERROR_INVALID_VALUE;
    return launch(
        f,
        (struct emu_dim){config->gridDimX, config->gridDimY, config->gridDimZ},
        config->blockDimX, config->sharedMemBytes, config->hStream, args,
        together);
}
