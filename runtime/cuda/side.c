/* side.c: streams beside the main one. The sides, of the same priority, take
 * work of several chains that is a matter of latency: the factorisations of
 * dense blocks. Each has its handles of the libraries, whose workspaces two
 * streams may not share. The one below, of the lowest priority, takes what
 * fills the device for long: the others' kernels go before its own. */
#include "cuda.h"

#define WORKSPACE_BYTES ((size_t)4 << 20)

static enum gbm_status open_stream(struct cuda *c, struct cuda_side *s,
                                   int priority)
{
    CU(cuStreamCreateWithPriority(&s->stream, CU_STREAM_NON_BLOCKING,
                                  priority));
    CU(cuEventCreate(&s->done, CU_EVENT_DISABLE_TIMING));
    return GBM_OK;
}

enum gbm_status cuda_streams_open(struct cuda *c)
{
    int least = 0;

    CU(cuCtxGetStreamPriorityRange(&least, &c->priority));
    CU(cuStreamCreateWithPriority(&c->stream, CU_STREAM_NON_BLOCKING,
                                  c->priority));
    CU(cuStreamCreate(&c->copies, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&c->fork, CU_EVENT_DISABLE_TIMING));
    return open_stream(c, &c->below, least);
}

static enum gbm_status open_side(struct cuda *c, struct cuda_side *s)
{
    TRY(open_stream(c, s, c->priority));
    CUBLAS(cublasCreate(&s->blas));
    CUBLAS(cublasSetStream(s->blas, s->stream));
    CU(cuMemAlloc(&s->work, WORKSPACE_BYTES));
    CUBLAS(cublasSetWorkspace(s->blas, (void *)s->work, WORKSPACE_BYTES));
    CUSOLVER(cusolverDnCreate(&s->solver));
    CUSOLVER(cusolverDnSetStream(s->solver, s->stream));
    return GBM_OK;
}

enum gbm_status cuda_sides_open(struct cuda *c, int n)
{
    for (; c->nsides < n; c->nsides++)
        TRY(open_side(c, &c->sides[c->nsides]));
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
    if (c->fork)
        (void)cuEventDestroy(c->fork);
    if (c->copies)
        (void)cuStreamDestroy(c->copies);
    if (c->stream)
        (void)cuStreamDestroy(c->stream);
}

enum gbm_status cuda_sides_synchronize(struct cuda *c)
{
    for (int i = 0; i < c->nsides; i++)
        CU(cuStreamSynchronize(c->sides[i].stream));
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

struct cuda_main cuda_turn_aside(struct cuda *c, const struct cuda_side *side)
{
    const struct cuda_main main = {c->stream, c->blas, c->solver};
    c->stream = side->stream;
    c->blas = side->blas;
    c->solver = side->solver;
    return main;
}

void cuda_turn_back(struct cuda *c, const struct cuda_main *main)
{
    c->stream = main->stream;
    c->blas = main->blas;
    c->solver = main->solver;
}
