/* side.c: streams beside the main one. The sides, of the same priority, take
 * work of several chains that is a matter of latency: the factorisations of
 * dense blocks. Each has its handles of the libraries, whose workspaces two
 * streams may not share. The one below, of the lowest priority, takes what
 * fills the device for long: the others' kernels go before its own. */
#include "cuda.h"

/* What cuBLAS wants on Hopper; triangular solves make do with less. */
#define WORKSPACE_BYTES ((size_t)32 << 20)
#define SIDE_BYTES ((size_t)4 << 20)

static enum gbm_status open_stream(struct cuda *c, struct cuda_side *s,
                                   int priority)
{
    CU(cuStreamCreateWithPriority(&s->stream, CU_STREAM_NON_BLOCKING,
                                  priority));
    CU(cuEventCreate(&s->done, CU_EVENT_DISABLE_TIMING));
    return GBM_OK;
}

enum gbm_status cuda_stream_open(struct cuda *c, struct cuda_side *s)
{
    return open_stream(c, s, c->priority);
}

static enum gbm_status open_handles(struct cuda *c, struct cuda_side *s,
                                    size_t bytes)
{
    CUBLAS(cublasCreate(&s->blas));
    CUBLAS(cublasSetStream(s->blas, s->stream));
    CU(cuMemAlloc(&s->work, bytes));
    CUBLAS(cublasSetWorkspace(s->blas, (void *)s->work, bytes));
    CUSOLVER(cusolverDnCreate(&s->solver));
    CUSOLVER(cusolverDnSetStream(s->solver, s->stream));
    return GBM_OK;
}

enum gbm_status cuda_streams_open(struct cuda *c)
{
    int least = 0;

    CU(cuCtxGetStreamPriorityRange(&least, &c->priority));
    CU(cuStreamCreate(&c->copies, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&c->fork, CU_EVENT_DISABLE_TIMING));
    TRY(open_stream(c, &c->main, c->priority));
    cuda_turn(c, &c->main);
    return open_stream(c, &c->below, least);
}

enum gbm_status cuda_open_libraries(struct cuda *c)
{
    if (c->solver_params)
        return GBM_OK;
    TRY(open_handles(c, &c->main, WORKSPACE_BYTES));
    cuda_turn(c, &c->main);
    CUSOLVER(cusolverDnCreateParams(&c->solver_params));
    return GBM_OK;
}

enum gbm_status cuda_sides_open(struct cuda *c, int n)
{
    for (; c->nsides < n; c->nsides++) {
        struct cuda_side *s = &c->sides[c->nsides];
        TRY(open_stream(c, s, c->priority));
        TRY(open_handles(c, s, SIDE_BYTES));
    }
    return GBM_OK;
}

static void close_side(struct cuda_side *s)
{
    if (s->solver)
        (void)cusolverDnDestroy(s->solver);
    if (s->blas)
        (void)cublasDestroy(s->blas);
    if (s->work)
        (void)cuMemFree(s->work);
    if (s->done)
        (void)cuEventDestroy(s->done);
    if (s->stream)
        (void)cuStreamDestroy(s->stream);
}

void cuda_streams_close(struct cuda *c)
{
    for (int i = 0; i < CUDA_SIDES; i++)
        close_side(&c->sides[i]);
    close_side(&c->below);
    close_side(&c->aside);
    close_side(&c->main);
    if (c->solver_params)
        (void)cusolverDnDestroyParams(c->solver_params);
    if (c->fork)
        (void)cuEventDestroy(c->fork);
    if (c->copies)
        (void)cuStreamDestroy(c->copies);
}

enum gbm_status cuda_sides_synchronize(struct cuda *c)
{
    for (int i = 0; i < c->nsides; i++)
        CU(cuStreamSynchronize(c->sides[i].stream));
    if (c->aside.stream)
        CU(cuStreamSynchronize(c->aside.stream));
    CU(cuStreamSynchronize(c->below.stream));
    return GBM_OK;
}

enum gbm_status cuda_fork(struct cuda *c, struct cuda_side *sides, int n)
{
    CU(cuEventRecord(c->fork, c->stream));
    for (int i = 0; i < n; i++)
        CU(cuStreamWaitEvent(sides[i].stream, c->fork, 0));
    return GBM_OK;
}

enum gbm_status cuda_join(struct cuda *c, struct cuda_side *sides, int n)
{
    for (int i = 0; i < n; i++) {
        CU(cuEventRecord(sides[i].done, sides[i].stream));
        CU(cuStreamWaitEvent(c->stream, sides[i].done, 0));
    }
    return GBM_OK;
}

void cuda_turn(struct cuda *c, const struct cuda_side *to)
{
    c->stream = to->stream;
    c->blas = to->blas;
    c->solver = to->solver;
}
