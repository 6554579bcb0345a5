/* memory.c: the device's memory. Everything is asked for first, summed and
 * compared with what is free, and only then allocated. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

enum gbm_status cuda_request(struct cuda *c, CUdeviceptr *where, size_t bytes,
                             const char *what)
{
    *where = 0;
    if (bytes == 0)
        return GBM_OK;
    if (c->nrequests == c->request_capacity) {
        int capacity = c->request_capacity ? 2 * c->request_capacity : 64;
        struct cuda_request *more =
            realloc(c->requests, (size_t)capacity * sizeof *more);
        if (!more)
            return rt_fail(c->rt, GBM_FAILURE, "out of memory");
        c->requests = more;
        c->request_capacity = capacity;
    }
    c->requests[c->nrequests++] =
        (struct cuda_request){.where = where, .bytes = bytes, .what = what};
    return GBM_OK;
}

const char *cuda_human(double bytes, char *out, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t u = 0;
    while (bytes >= 1024 && u + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        u++;
    }
    snprintf(out, size, u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
    return out;
}

static enum gbm_status too_little(struct cuda *c, double wanted, size_t free)
{
    char need[32], have[32], most[32];
    const struct cuda_request *largest = &c->requests[0];
    for (int i = 1; i < c->nrequests; i++)
        if (c->requests[i].bytes > largest->bytes)
            largest = &c->requests[i];
    return rt_fail(c->rt, GBM_FAILURE,
                   "too little memory on the device: the model needs %s (the "
                   "most for %s, %s), %s has %s free. Fewer --chains, "
                   "--precision single or --device cpu may help",
                   cuda_human(wanted, need, sizeof need), largest->what,
                   cuda_human((double)largest->bytes, most, sizeof most),
                   c->device_name, cuda_human((double)free, have, sizeof have));
}

enum gbm_status cuda_allocate(struct cuda *c)
{
    size_t free_bytes = 0, all = 0;
    double wanted = 0;

    CU(cuMemGetInfo(&free_bytes, &all));
    for (int i = 0; i < c->nrequests; i++)
        wanted += (double)((c->requests[i].bytes + 511) / 512 * 512);
    if (wanted > (double)free_bytes)
        return too_little(c, wanted, free_bytes);

    CUdeviceptr *more =
        realloc(c->allocations, (size_t)(c->nallocations + c->nrequests + 1) *
                                    sizeof *c->allocations);
    if (!more)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    c->allocations = more;
    for (int i = 0; i < c->nrequests; i++) {
        struct cuda_request *r = &c->requests[i];
        CUresult result = cuMemAlloc(r->where, r->bytes);
        if (result == CUDA_ERROR_OUT_OF_MEMORY)
            return too_little(c, wanted, free_bytes);
        CU(result);
        c->allocations[c->nallocations++] = *r->where;
        CU(cuMemsetD8Async(*r->where, 0, r->bytes, c->stream));
    }
    c->nrequests = 0;
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

void cuda_release(struct cuda *c)
{
    for (int i = 0; i < c->nallocations; i++)
        (void)cuMemFree(c->allocations[i]);
    free(c->allocations);
    free(c->requests);
    c->allocations = NULL;
    c->requests = NULL;
    c->nallocations = c->nrequests = c->request_capacity = 0;
}

/* A copy from pageable memory may return before it has arrived; on the stream
 * and waited for, it has. */
enum gbm_status cuda_upload(struct cuda *c, CUdeviceptr to, const void *from,
                            size_t bytes)
{
    if (bytes == 0)
        return GBM_OK;
    CU(cuMemcpyHtoDAsync(to, from, bytes, c->stream));
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

enum gbm_status cuda_put_cells(struct cuda *c, CUdeviceptr to, const void *from,
                               int64_t cells, bool integer)
{
    const int64_t piece = 1 << 22;
    const double *values = from;

    if (integer)
        return cuda_upload(c, to, from, (size_t)cells * sizeof(int));
    if (!c->single)
        return cuda_upload(c, to, from, (size_t)cells * sizeof(double));
    const int64_t room = cells < piece ? cells : piece;
    float *small = malloc((size_t)(room > 0 ? room : 1) * sizeof *small);
    if (!small)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    for (int64_t at = 0; at < cells; at += piece) {
        const int64_t n = cells - at < piece ? cells - at : piece;
        for (int64_t i = 0; i < n; i++)
            small[i] = (float)values[at + i];
        enum gbm_status status =
            cuda_upload(c, to + (CUdeviceptr)at * sizeof *small, small,
                        (size_t)n * sizeof *small);
        if (status != GBM_OK) {
            free(small);
            return status;
        }
    }
    free(small);
    return GBM_OK;
}

static enum gbm_status download(struct cuda *c, void *to, CUdeviceptr from,
                                size_t bytes)
{
    if (bytes == 0)
        return GBM_OK;
    CU(cuMemcpyDtoHAsync(to, from, bytes, c->stream));
    CU(cuStreamSynchronize(c->stream));
    return GBM_OK;
}

enum gbm_status cuda_get_cells(struct cuda *c, void *to, CUdeviceptr from,
                               int64_t cells, bool integer)
{
    const int64_t piece = 1 << 22;
    double *values = to;

    if (integer)
        return download(c, to, from, (size_t)cells * sizeof(int));
    if (!c->single)
        return download(c, to, from, (size_t)cells * sizeof(double));
    const int64_t room = cells < piece ? cells : piece;
    float *small = malloc((size_t)(room > 0 ? room : 1) * sizeof *small);
    if (!small)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    for (int64_t at = 0; at < cells; at += piece) {
        const int64_t n = cells - at < piece ? cells - at : piece;
        enum gbm_status status =
            download(c, small, from + (CUdeviceptr)at * sizeof *small,
                     (size_t)n * sizeof *small);
        if (status != GBM_OK) {
            free(small);
            return status;
        }
        for (int64_t i = 0; i < n; i++)
            values[at + i] = (double)small[i];
    }
    free(small);
    return GBM_OK;
}
