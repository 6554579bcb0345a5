/* error.c: messages of failed calls: what was called, where, and why; what is
 * said of the device. */
#include "cuda.h"

#include <string.h>

static enum gbm_status failed(struct cuda *c, const char *call,
                              const char *file, int line, const char *name,
                              const char *reason)
{
    return rt_fail(c->rt, GBM_FAILURE, "%s failed at %s:%d: %s%s%s", call, file,
                   line, name, reason[0] ? ": " : "", reason);
}

enum gbm_status cuda_failed(struct cuda *c, CUresult result, const char *call,
                            const char *file, int line)
{
    const char *name = NULL, *reason = NULL;
    if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = "an unknown error of the CUDA driver";
    if (cuGetErrorString(result, &reason) != CUDA_SUCCESS || !reason)
        reason = "";
    if (!c->sync_each && (result == CUDA_ERROR_ILLEGAL_ADDRESS ||
                          result == CUDA_ERROR_LAUNCH_FAILED ||
                          result == CUDA_ERROR_MISALIGNED_ADDRESS ||
                          result == CUDA_ERROR_ILLEGAL_INSTRUCTION))
        return rt_fail(c->rt, GBM_FAILURE,
                       "a kernel failed, seen by %s at %s:%d: %s: %s (with "
                       "GBM_CUDA_SYNC=1 in the environment the message names "
                       "the kernel)",
                       call, file, line, name, reason);
    return failed(c, call, file, line, name, reason);
}

enum gbm_status nvrtc_failed(struct cuda *c, nvrtcResult result,
                             const char *call, const char *file, int line)
{
    return failed(c, call, file, line, nvrtcGetErrorString(result), "");
}

enum gbm_status cublas_failed(struct cuda *c, cublasStatus_t result,
                              const char *call, const char *file, int line)
{
    return failed(c, call, file, line, cublasGetStatusName(result),
                  cublasGetStatusString(result));
}

/* cuSOLVER has no function that names its errors. */
static const char *cusolver_name(cusolverStatus_t result)
{
    static const struct {
        cusolverStatus_t status;
        const char *name;
    } names[] = {
        {CUSOLVER_STATUS_NOT_INITIALIZED, "CUSOLVER_STATUS_NOT_INITIALIZED"},
        {CUSOLVER_STATUS_ALLOC_FAILED, "CUSOLVER_STATUS_ALLOC_FAILED"},
        {CUSOLVER_STATUS_INVALID_VALUE, "CUSOLVER_STATUS_INVALID_VALUE"},
        {CUSOLVER_STATUS_ARCH_MISMATCH, "CUSOLVER_STATUS_ARCH_MISMATCH"},
        {CUSOLVER_STATUS_EXECUTION_FAILED, "CUSOLVER_STATUS_EXECUTION_FAILED"},
        {CUSOLVER_STATUS_INTERNAL_ERROR, "CUSOLVER_STATUS_INTERNAL_ERROR"},
        {CUSOLVER_STATUS_NOT_SUPPORTED, "CUSOLVER_STATUS_NOT_SUPPORTED"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == result)
            return names[i].name;
    return "a cuSOLVER error";
}

enum gbm_status cusolver_failed(struct cuda *c, cusolverStatus_t result,
                                const char *call, const char *file, int line)
{
    char number[32];
    snprintf(number, sizeof number, "status %d", (int)result);
    return failed(c, call, file, line, cusolver_name(result), number);
}

void cuda_say(struct cuda *c, const char *format, ...)
{
    char *text = c->rt->device_text;
    const size_t used = strlen(text);
    va_list list;

    va_start(list, format);
    vsnprintf(text + used, sizeof c->rt->device_text - used, format, list);
    va_end(list);
}
