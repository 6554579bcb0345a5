/* nvrtc.c: compiles CUDA texts for the device at hand, several side by side;
 * machine code is kept (cache.h). */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the compiler ---- */

/* "sm_90"; if NVRTC is older than the device, the newest that it knows as
 * portable code: "compute_90". */
enum gbm_status cuda_architecture(struct cuda *c, char *out, size_t size)
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
            c->portable = false;
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
    c->portable = true;
    snprintf(out, size, "--gpu-architecture=compute_%d", newest);
    return GBM_OK;
}

/* A failed compilation: the first errors of the log, and where all of it is. */
static enum gbm_status compile_failed(struct cuda *c,
                                      const struct cuda_program *p)
{
    char path[64] = "/tmp/gbm_XXXXXX";
    size_t size = 0;
    char *log = NULL;
    bool saved = false;

    if (nvrtcGetProgramLogSize(p->nvrtc, &size) == NVRTC_SUCCESS && size > 1)
        log = malloc(size);
    if (log && nvrtcGetProgramLog(p->nvrtc, log) != NVRTC_SUCCESS) {
        free(log);
        log = NULL;
    }
    int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file) {
        fprintf(file, "%s\n/* ---- what the compiler said ----\n%s\n*/\n",
                p->text, log ? log : "nothing");
        saved = fclose(file) == 0;
    }
    rt_fail(c->rt, GBM_FAILURE,
            "the CUDA compiler rejected the generated program %s (%s)%s%s:\n"
            "%.1200s",
            p->name, nvrtcGetErrorString(p->result),
            saved ? "; text and messages are in " : "", saved ? path : "",
            log ? log : "it said nothing");
    free(log);
    return GBM_FAILURE;
}

/* ---- what programs may include ---- */

struct headers {
    const char **names, **texts;
    int n;
};

static void add_headers(struct headers *h, const struct gbm_header *from)
{
    for (; from->name; from++) {
        h->names[h->n] = from->name;
        h->texts[h->n++] = from->text;
    }
}

static int count_headers(const struct gbm_header *list)
{
    int n = 0;
    while (list[n].name)
        n++;
    return n;
}

/* The model's, and those of the fixed kernels. */
static enum gbm_status collect_headers(struct cuda *c, struct headers *h)
{
    const struct gbm_header *own = c->in->model->headers;
    const size_t n = (size_t)(count_headers(own) + count_headers(cuda_texts));

    h->names = calloc(n + 1, sizeof *h->names);
    h->texts = calloc(n + 1, sizeof *h->texts);
    if (!h->names || !h->texts)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    add_headers(h, own);
    add_headers(h, cuda_texts);
    return GBM_OK;
}

/* ---- a program ---- */

/* Of everything that its code depends on. */
static void set_key(struct cuda_program *p, const struct headers *headers,
                    const char *version)
{
    p->key = RT_KEY_EMPTY;
    rt_key_add_text(&p->key, version);
    rt_key_add_text(&p->key, p->text);
    for (int i = 0; i < p->noptions; i++)
        rt_key_add_text(&p->key, p->options[i]);
    for (int i = 0; i < headers->n; i++) {
        rt_key_add_text(&p->key, headers->names[i]);
        rt_key_add_text(&p->key, headers->texts[i]);
    }
}

static bool load_kept(struct cuda_program *p)
{
    size_t bytes = 0;
    char *code = rt_cache_read(&p->key, "cubin", &bytes);
    const bool loaded =
        code && cuModuleLoadData(p->module, code) == CUDA_SUCCESS;
    free(code);
    return loaded;
}

static enum gbm_status create(struct cuda *c, struct cuda_program *p,
                              const struct headers *headers)
{
    NVRTC(nvrtcCreateProgram(&p->nvrtc, p->text, p->name, headers->n,
                             headers->texts, headers->names));
    return GBM_OK;
}

static enum gbm_status load_code(struct cuda *c, const struct cuda_program *p,
                                 char *code)
{
    NVRTC(c->portable ? nvrtcGetPTX(p->nvrtc, code)
                      : nvrtcGetCUBIN(p->nvrtc, code));
    CU(cuModuleLoadData(p->module, code));
    return GBM_OK;
}

/* What was compiled, if it was. */
static enum gbm_status load_new(struct cuda *c, const struct cuda_program *p)
{
    size_t bytes = 0;

    if (p->result != NVRTC_SUCCESS)
        return compile_failed(c, p);
    NVRTC(c->portable ? nvrtcGetPTXSize(p->nvrtc, &bytes)
                      : nvrtcGetCUBINSize(p->nvrtc, &bytes));
    char *code = malloc(bytes);
    if (!code)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    enum gbm_status status = load_code(c, p, code);
    if (status == GBM_OK)
        rt_cache_write(&p->key, "cubin", code, bytes);
    free(code);
    return status;
}

/* ---- programs side by side ---- */

/* Of several that fail only the first is told of: what is wrong in a text that
 * they share is the same in all. */
static enum gbm_status compile(struct cuda *c, struct cuda_program **programs,
                               int n, const struct headers *headers)
{
    for (int i = 0; i < n; i++)
        TRY(create(c, programs[i], headers));
    const int threads = c->rt->threads < n ? c->rt->threads : n;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < n; i++)
        programs[i]->result = nvrtcCompileProgram(
            programs[i]->nvrtc, programs[i]->noptions, programs[i]->options);
    for (int i = 0; i < n; i++)
        TRY(load_new(c, programs[i]));
    return GBM_OK;
}

/* Those that are not kept, which are compiled. */
static enum gbm_status load_programs(struct cuda *c,
                                     struct cuda_program *programs, int n,
                                     const struct headers *headers)
{
    struct cuda_program *missing[CUDA_PROGRAMS];
    char version[64];
    int nmissing = 0, major = 0, minor = 0;

    NVRTC(nvrtcVersion(&major, &minor));
    snprintf(version, sizeof version, "NVRTC %d.%d", major, minor);
    for (int i = 0; i < n; i++) {
        set_key(&programs[i], headers, version);
        if (!load_kept(&programs[i]))
            missing[nmissing++] = &programs[i];
    }
    enum gbm_status status =
        nmissing > 0 ? compile(c, missing, nmissing, headers) : GBM_OK;
    for (int i = 0; i < nmissing; i++)
        if (missing[i]->nvrtc)
            (void)nvrtcDestroyProgram(&missing[i]->nvrtc);
    return status;
}

enum gbm_status cuda_compile(struct cuda *c, struct cuda_program *programs,
                             int n)
{
    struct headers headers = {0};
    enum gbm_status status = collect_headers(c, &headers);

    if (status == GBM_OK)
        status = load_programs(c, programs, n, &headers);
    free(headers.names);
    free(headers.texts);
    return status;
}
