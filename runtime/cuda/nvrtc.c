/* nvrtc.c: compiles CUDA text for the device at hand; machine code is kept
 * (cache.h). */
#include "cuda.h"
#include "base/cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the compiler ---- */

/* "sm_90"; if NVRTC is older than the device, the newest that it knows as
 * portable code: "compute_90". */
static enum gbm_status architecture(struct cuda *c, char *out, size_t size,
                                    bool *portable)
{
    const int wanted = 10 * c->major + c->minor;
    int n = 0, newest = 0;
    int known[64];

    NVRTC(nvrtcGetNumSupportedArchs(&n));
    if (n < 1 || n > (int)(sizeof known / sizeof *known))
        return rt_fail(c->rt, GBM_FAILURE,
                       "NVRTC says that it knows %d architectures", n);
    NVRTC(nvrtcGetSupportedArchs(known));
    for (int i = 0; i < n; i++) {
        if (known[i] == wanted) {
            *portable = false;
            snprintf(out, size, "--gpu-architecture=sm_%d", wanted);
            return GBM_OK;
        }
        if (known[i] < wanted && known[i] > newest)
            newest = known[i];
    }
    if (!newest)
        return rt_fail(c->rt, GBM_FAILURE,
                       "%s has compute capability %d.%d, older than the CUDA "
                       "compiler supports (%d.%d)",
                       c->device_name, c->major, c->minor, known[0] / 10,
                       known[0] % 10);
    *portable = true;
    snprintf(out, size, "--gpu-architecture=compute_%d", newest);
    return GBM_OK;
}

/* A failed compilation: the first errors of the log, and where all of it is. */
static enum gbm_status compile_failed(struct cuda *c, nvrtcProgram program,
                                      nvrtcResult result, const char *name,
                                      const char *text)
{
    char path[64] = "/tmp/gbm_XXXXXX";
    size_t size = 0;
    char *log = NULL;
    bool saved = false;

    if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1)
        log = malloc(size);
    if (log && nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS) {
        free(log);
        log = NULL;
    }
    int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file) {
        fprintf(file, "%s\n/* ---- what the compiler said ----\n%s\n*/\n", text,
                log ? log : "nothing");
        saved = fclose(file) == 0;
    }
    rt_fail(c->rt, GBM_FAILURE,
            "the CUDA compiler rejected the generated program %s (%s)%s%s:\n"
            "%.1200s",
            name, nvrtcGetErrorString(result),
            saved ? "; text and messages are in " : "", saved ? path : "",
            log ? log : "it said nothing");
    free(log);
    return GBM_FAILURE;
}

static enum gbm_status compile(struct cuda *c, const char *name,
                               const char *text, int nheaders,
                               const struct gbm_header *headers, int noptions,
                               const char *const *options, bool portable,
                               char **code, size_t *bytes)
{
    enum gbm_status status = GBM_FAILURE;
    nvrtcProgram program;
    const char **names = calloc((size_t)nheaders + 1, sizeof *names);
    const char **texts = calloc((size_t)nheaders + 1, sizeof *texts);

    *code = NULL;
    if (!names || !texts) {
        free(names);
        free(texts);
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    }
    for (int i = 0; i < nheaders; i++) {
        names[i] = headers[i].name;
        texts[i] = headers[i].text;
    }
    nvrtcResult result =
        nvrtcCreateProgram(&program, text, name, nheaders, texts, names);
    free(names);
    free(texts);
    if (result != NVRTC_SUCCESS)
        return nvrtc_failed(c, result, "nvrtcCreateProgram", __FILE__,
                            __LINE__);
    result = nvrtcCompileProgram(program, noptions, options);
    if (result != NVRTC_SUCCESS) {
        status = compile_failed(c, program, result, name, text);
        nvrtcDestroyProgram(&program);
        return status;
    }
    result = portable ? nvrtcGetPTXSize(program, bytes)
                      : nvrtcGetCUBINSize(program, bytes);
    if (result == NVRTC_SUCCESS)
        *code = malloc(*bytes);
    if (result == NVRTC_SUCCESS && *code)
        result = portable ? nvrtcGetPTX(program, *code)
                          : nvrtcGetCUBIN(program, *code);
    nvrtcDestroyProgram(&program);
    if (result != NVRTC_SUCCESS) {
        free(*code);
        *code = NULL;
        return nvrtc_failed(c, result, "nvrtcGetCUBIN", __FILE__, __LINE__);
    }
    if (!*code)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    return GBM_OK;
}

enum gbm_status cuda_compile(struct cuda *c, const char *name, const char *text,
                             int nheaders, const struct gbm_header *headers,
                             int noptions, const char *const *options,
                             CUmodule *module)
{
    struct rt_key key = RT_KEY_EMPTY;
    char arch[64], version[64];
    int major = 0, minor = 0;
    bool portable = false;

    NVRTC(nvrtcVersion(&major, &minor));
    snprintf(version, sizeof version, "NVRTC %d.%d", major, minor);
    TRY(architecture(c, arch, sizeof arch, &portable));
    const char **all = calloc((size_t)noptions + 4, sizeof *all);
    if (!all)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    int n = 0;
    all[n++] = arch;
    all[n++] = "--std=c++17";
    for (int i = 0; i < noptions; i++)
        all[n++] = options[i];

    rt_key_add_text(&key, version);
    rt_key_add_text(&key, text);
    for (int i = 0; i < n; i++)
        rt_key_add_text(&key, all[i]);
    for (int i = 0; i < nheaders; i++) {
        rt_key_add_text(&key, headers[i].name);
        rt_key_add_text(&key, headers[i].text);
    }
    size_t bytes = 0;
    char *code = rt_cache_read(&key, "cubin", &bytes);
    if (code && cuModuleLoadData(module, code) == CUDA_SUCCESS) {
        free(code);
        free(all);
        return GBM_OK;
    }
    free(code);
    enum gbm_status status = compile(c, name, text, nheaders, headers, n, all,
                                     portable, &code, &bytes);
    free(all);
    if (status != GBM_OK)
        return status;
    CUresult loaded = cuModuleLoadData(module, code);
    if (loaded == CUDA_SUCCESS)
        rt_cache_write(&key, "cubin", code, bytes);
    free(code);
    if (loaded != CUDA_SUCCESS)
        return cuda_failed(c, loaded, "cuModuleLoadData", __FILE__, __LINE__);
    return GBM_OK;
}
