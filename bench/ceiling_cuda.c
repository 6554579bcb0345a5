/* ceiling_cuda: device-to-device copy bandwidth of the first GPU: the median
 * over 15 repeats of 4 GB (less on a small card), as JSON on one line. Bytes
 * count both ways, read and written. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 15 };

#define CHECK(call) check((call), #call, __LINE__)
static void check(CUresult result, const char *call, int line)
{
    const char *text = "unknown";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorString(result, &text);
    fprintf(stderr, "ceiling_cuda.c:%d: %s: %s\n", line, call, text);
    exit(2);
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr a, b;
    CUevent start, stop;
    float ms[REPEATS];
    size_t free_bytes, total, bytes = (size_t)4 << 30;
    char name[128];

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemGetInfo(&free_bytes, &total));
    if (bytes > free_bytes / 4)
        bytes = free_bytes / 4;
    CHECK(cuMemAlloc(&a, bytes));
    CHECK(cuMemAlloc(&b, bytes));
    CHECK(cuMemsetD8(a, 1, bytes));
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    for (int r = 0; r < REPEATS; r++) {
        CHECK(cuEventRecord(start, NULL));
        CHECK(cuMemcpyDtoDAsync(b, a, bytes, NULL));
        CHECK(cuEventRecord(stop, NULL));
        CHECK(cuEventSynchronize(stop));
        CHECK(cuEventElapsedTime(&ms[r], start, stop));
    }
    qsort(ms, REPEATS, sizeof *ms, by_value);
    printf("{\"device\": \"%s\", \"copy_GB_s\": %.1f}\n", name,
           2.0 * (double)bytes / (double)ms[REPEATS / 2] * 1e-6);
    CHECK(cuMemFree(a));
    CHECK(cuMemFree(b));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
