/* heap.c: what the threads of a kernel take of the device's heap as they go
 * (stdlib/kernels/linear.h): those that update an element of a block too large
 * for their own memory have a matrix of it each, and some vectors. A thread
 * that finds no room ends the run, so there is room for all that are at work at
 * once; where the device has not so much, fewer are.
 *
 * GBM_CUDA_HEAP, for tests: the heap is of so many bytes at least. */
#include "cuda.h"

#include <stdlib.h>

#define LEAST_BYTES ((size_t)256 << 20) /* for what is not known here */
#define VECTORS 8
#define RESIDENT 2048 /* most threads of a multiprocessor */

/* Bytes of one thread, or 0. The heap gives whole pieces, so a quarter more. */
static size_t of_thread(const struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const struct rt_step *plan = &c->in->steps[step];
    int64_t most = 0;

    if (!plan->active || !s->matrix)
        return 0;
    for (int64_t i = 0; i < plan->count; i++) {
        const int64_t d = s->block_size(c->host_state,
                                        plan->elements ? plan->elements[i] : i);
        if (d > most)
            most = d;
    }
    if (most <= cuda_largest_block(c))
        return 0;
    return (size_t)(most * (most + VECTORS)) * c->real_size * 5 / 4;
}

/* The kernel that a step is done by, and how many items it has at most. */
static struct cuda_kernel *kernel_of(struct cuda *c, int step, int64_t *items)
{
    *items = c->chains.lanes ? c->in->nchains : c->steps[step].at_once;
    return c->chains.lanes ? &c->chains.kernel : &c->steps[step].kernel;
}

/* As many blocks of threads as are at work at once. */
static int64_t at_work(const struct cuda *c, const struct cuda_kernel *k,
                       int64_t items)
{
    const int64_t all = (items * k->lanes + k->block - 1) / k->block;
    const int64_t resident = (int64_t)c->multiprocessors * RESIDENT / k->block;
    return all < resident ? all : resident;
}

static enum gbm_status too_little(struct cuda *c, int step, double wanted,
                                  double room)
{
    char need[32], have[32];
    return rt_fail(c->rt, GBM_FAILURE,
                   "too little memory on the device: threads that update %s "
                   "need %s at once, %s has %s for them. --precision single or "
                   "--device cpu may help",
                   c->in->model->steps[step].variable,
                   cuda_human(wanted, need, sizeof need), c->device_name,
                   cuda_human(room, have, sizeof have));
}

/* Bytes that a particle of a filter takes at most. */
static size_t of_particle(const struct cuda *c)
{
    const int64_t d = c->filter.on ? cuda_filter_cells(c) : 0;

    return d <= cuda_largest_block(c)
               ? 0
               : (size_t)(d * (d + VECTORS)) * c->real_size * 5 / 4;
}

static size_t least_bytes(void)
{
    const char *asked = getenv("GBM_CUDA_HEAP");
    return asked && asked[0] ? (size_t)strtoull(asked, NULL, 10) : LEAST_BYTES;
}

/* What all steps want of the heap. */
static size_t wanted(struct cuda *c)
{
    size_t heap = least_bytes();
    const struct cuda_kernel *advance = &c->filter.advance;
    const size_t particle = of_particle(c);
    const size_t all = particle == 0
                           ? 0
                           : particle * (size_t)advance->block *
                                 (size_t)at_work(c, advance, c->in->nchains);

    heap = all > heap ? all : heap;
    for (int k = 0; k < c->in->model->nsteps; k++) {
        int64_t items;
        const struct cuda_kernel *kernel = kernel_of(c, k, &items);
        const size_t bytes = of_thread(c, k);
        const size_t own = bytes == 0 ? 0
                                      : bytes * (size_t)kernel->block *
                                            (size_t)at_work(c, kernel, items);
        if (own > heap)
            heap = own;
    }
    return heap;
}

enum gbm_status cuda_reserve_heap(struct cuda *c)
{
    size_t heap = wanted(c), free_bytes = 0, all = 0;

    CU(cuMemGetInfo(&free_bytes, &all));
    if (heap > least_bytes() && heap > free_bytes / 2)
        heap = free_bytes / 2;
    const size_t particle = of_particle(c);
    if (particle > 0)
        c->filter.advance.most =
            (int64_t)(heap / (particle * (size_t)c->filter.advance.block));
    if (particle > 0 && c->filter.advance.most < 1)
        return rt_fail(c->rt, GBM_FAILURE,
                       "too little memory on the device: particles have nodes "
                       "that are too large for it. --device cpu may help");
    for (int k = 0; k < c->in->model->nsteps; k++) {
        int64_t items;
        struct cuda_kernel *kernel = kernel_of(c, k, &items);
        const size_t block = of_thread(c, k) * (size_t)kernel->block;
        if (block == 0)
            continue;
        const int64_t most = (int64_t)(heap / block);
        /* a kernel of whole sweeps has a thread for every chain */
        const int64_t least = c->chains.lanes ? at_work(c, kernel, items) : 1;
        if (most < least)
            return too_little(c, k, (double)block * (double)least,
                              (double)heap);
        if (kernel->most == 0 || most < kernel->most)
            kernel->most = most;
    }
    CU(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, heap));
    return GBM_OK;
}
