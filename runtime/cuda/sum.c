/* sum.c: sums of cells that the host asks for: as numbers of 64 bits, in parts
 * whose shape hangs on the number of cells alone. */
#include "cuda.h"

/* Cells of a part, about; parts of a chain's sum, at most. */
enum { EACH = 4096, PARTS = 256 };

static enum gbm_status open_sums(struct cuda *c)
{
    const size_t chains = (size_t)c->in->nchains;

    if (c->sums.all)
        return GBM_OK;
    TRY(cuda_request(c, &c->sums.parts, chains * PARTS * sizeof(double),
                     "sums"));
    TRY(cuda_request(c, &c->sums.all, chains * sizeof(double), "sums"));
    return cuda_allocate(c);
}

/* c->sums.all = (first) or += a run. */
static enum gbm_status add(struct cuda *c, const struct rt_run *run, int first)
{
    const int64_t wanted = (run->n + EACH - 1) / EACH;
    const int parts = wanted < 1 ? 1 : wanted < PARTS ? (int)wanted : PARTS;
    CUdeviceptr from =
        c->slots[run->variable].values + (CUdeviceptr)run->first * c->real_size;
    long long stride = c->slots[run->variable].stride, n = run->n,
              count = parts;
    void *args[] = {&from, &stride, &n, &c->sums.parts};
    void *all[] = {&c->sums.parts, &count, &first, &c->sums.all};

    TRY(cuda_launch_grid(c, &c->fixed.add_cells, c->in->nchains, parts, 256, 0,
                         args));
    return cuda_launch_grid(c, &c->fixed.add_densities, c->in->nchains, 1, 256,
                            0, all);
}

enum gbm_status cuda_sum(struct rt *rt, const struct rt_run *runs, int64_t n,
                         double *sums)
{
    struct cuda *c = rt->device_data;
    const size_t bytes = (size_t)c->in->nchains * sizeof *sums;

    CU(cuCtxSetCurrent(c->context));
    TRY(open_sums(c));
    for (int64_t i = 0; i < n; i++)
        TRY(add(c, &runs[i], i == 0));
    CU(cuMemcpyDtoHAsync(sums, c->sums.all, bytes, c->stream));
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}
