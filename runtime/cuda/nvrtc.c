/* nvrtc.c: compiles CUDA texts for the device at hand, several side by side;
 * machine code is kept (cache.h). */
#include "programs.h"

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
    c->follows = c->follows && newest >= 90; /* else gbm_follow is nothing */
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

static void add_headers(struct cuda_headers *h, const struct gbm_header *from)
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

bool cuda_headers_open(struct cuda_headers *h, const struct gbm_model *model)
{
    const struct gbm_header *own = model->headers;
    const size_t n = (size_t)(count_headers(own) + count_headers(cuda_texts));

    h->n = 0;
    h->names = calloc(n + 1, sizeof *h->names);
    h->texts = calloc(n + 1, sizeof *h->texts);
    if (!h->names || !h->texts)
        return false;
    add_headers(h, own);
    add_headers(h, cuda_texts);
    return true;
}

void cuda_headers_close(struct cuda_headers *h)
{
    free(h->names);
    free(h->texts);
    h->names = h->texts = NULL;
}

/* ---- a program ---- */

/* What the compiler is told beside a program's options. */
static const char *const level_options[CUDA_LEVELS] = {
    [CUDA_QUICK] = "--Ofast-compile=max",
    [CUDA_MIDDLE] = "--Ofast-compile=min",
    [CUDA_SETTLED] = "-DGBM_SETTLED"};
/* The first NVRTC that has the option. */
enum { QUICK_MAJOR = 13 };

/* Of everything that its code depends on. */
static void set_keys(struct cuda_program *p, const struct cuda_headers *headers,
                     const char *version)
{
    struct rt_key key = RT_KEY_EMPTY;
    rt_key_add_text(&key, version);
    rt_key_add_text(&key, p->text);
    for (int i = 0; i < p->noptions; i++)
        rt_key_add_text(&key, p->options[i]);
    for (int i = 0; i < headers->n; i++) {
        rt_key_add_text(&key, headers->names[i]);
        rt_key_add_text(&key, headers->texts[i]);
    }
    for (int level = CUDA_QUICK; level < CUDA_LEVELS; level++) {
        p->keys[level] = key;
        if (level_options[level])
            rt_key_add_text(&p->keys[level], level_options[level]);
    }
}

static void load_kept(struct cuda_program *p, enum cuda_level level)
{
    size_t bytes = 0;
    char *code = rt_cache_read(&p->keys[level], "cubin", &bytes);
    if (code && cuModuleLoadData(p->module, code) == CUDA_SUCCESS)
        p->level = level;
    free(code);
}

nvrtcResult cuda_translate(const struct cuda_program *p,
                           const struct cuda_headers *headers,
                           enum cuda_level level, int threads,
                           nvrtcProgram *out)
{
    const char *options[p->noptions + 2];
    char split[32];
    int n = p->noptions;

    memcpy(options, p->options, (size_t)n * sizeof *options);
    if (level_options[level])
        options[n++] = level_options[level];
    if (threads > 1) {
        snprintf(split, sizeof split, "--split-compile=%d", threads);
        options[n++] = split;
    }
    nvrtcResult result = nvrtcCreateProgram(out, p->text, p->name, headers->n,
                                            headers->texts, headers->names);
    return result == NVRTC_SUCCESS ? nvrtcCompileProgram(*out, n, options)
                                   : result;
}

char *cuda_code_of(bool portable, nvrtcProgram nvrtc, size_t *bytes)
{
    nvrtcResult result = portable ? nvrtcGetPTXSize(nvrtc, bytes)
                                  : nvrtcGetCUBINSize(nvrtc, bytes);
    char *code = result == NVRTC_SUCCESS ? malloc(*bytes) : NULL;

    if (code)
        result =
            portable ? nvrtcGetPTX(nvrtc, code) : nvrtcGetCUBIN(nvrtc, code);
    if (result == NVRTC_SUCCESS)
        return code;
    free(code);
    return NULL;
}

static enum gbm_status load_code(struct cuda *c, const struct cuda_program *p,
                                 const char *code)
{
    if (p->level) /* what was kept is not good enough */
        CU(cuModuleUnload(*p->module));
    CU(cuModuleLoadData(p->module, code));
    return GBM_OK;
}

/* What was compiled, if it was. */
static enum gbm_status load_new(struct cuda *c, struct cuda_program *p,
                                enum cuda_level level)
{
    if (p->result != NVRTC_SUCCESS && level < CUDA_FULL)
        return rt_fail(c->rt, GBM_FAILURE, "%s: not to be had quickly",
                       p->name);
    if (p->result != NVRTC_SUCCESS)
        return compile_failed(c, p);
    char *code = p->code;
    const size_t bytes = p->bytes;
    p->code = NULL;
    if (!code)
        return rt_fail(c->rt, GBM_FAILURE, "no memory for the code of %s",
                       p->name);
    enum gbm_status status = load_code(c, p, code);
    if (status == GBM_OK) {
        p->level = level;
        rt_cache_write(&p->keys[level], "cubin", code, bytes);
    }
    free(code);
    return status;
}

static void note_compiled(const struct cuda_program *p, int i, size_t bytes,
                          double seconds)
{
    rt_clock_note("  %s %d: %zu KiB in %.3f s", p->name, i, bytes >> 10,
                  seconds);
}

/* ---- programs side by side ---- */

static void compile_one(const struct cuda *c, struct cuda_program *p, int i,
                        const struct cuda_headers *headers,
                        enum cuda_level level, int threads)
{
    const double began = rt_clock();
    p->result = cuda_translate(p, headers, level, threads, &p->nvrtc);
    if (p->result != NVRTC_SUCCESS)
        return;
    p->code = cuda_code_of(c->portable, p->nvrtc, &p->bytes);
    note_compiled(p, i, p->bytes, rt_clock() - began);
}

/* What a process beside has made of it, if it has. */
static void collect(struct cuda *c, struct cuda_program *p, int i,
                    enum cuda_level level)
{
    const struct cuda_order *order = cuda_apart_find(c, p, level);

    if (!order || !cuda_apart_wait(c, order))
        return;
    const char *code = cuda_order_code(order, &p->bytes);
    p->code = malloc(p->bytes);
    if (!p->code)
        return;
    memcpy(p->code, code, p->bytes);
    note_compiled(p, i, p->bytes, cuda_order_seconds(order));
}

/* Threads for each of n programs: at the quick level most of the time goes to
 * the assembler, which takes functions side by side; the longest of the
 * programs wants a large share. */
static int threads_each(const struct cuda *c, int n, enum cuda_level level)
{
    return level == CUDA_QUICK ? (2 * c->rt->threads + n - 1) / n : 1;
}

/* By processes, and what they cannot do here. Of several that fail only the
 * first is told of: what is wrong in a text that they share is the same in all.
 */
static enum gbm_status compile(struct cuda *c, struct cuda_program **programs,
                               int n, const struct cuda_headers *headers,
                               enum cuda_level level)
{
    const int each = threads_each(c, n, level);
    const int threads = c->rt->threads < n ? c->rt->threads : n;
    cuda_apart_order(c, programs, n, level, each);
    for (int i = 0; i < n; i++)
        collect(c, programs[i], i, level);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < n; i++)
        if (!programs[i]->code)
            compile_one(c, programs[i], i, headers, level, each);
    rt_clock_note("programs are compiled, level %d", (int)level);
    for (int i = 0; i < n; i++)
        TRY(load_new(c, programs[i], level));
    rt_clock_note("programs are loaded");
    return GBM_OK;
}

/* Whether sweeps may begin with quick ones, as *version can make them. */
static bool find_version(bool quick, char *version, size_t size)
{
    int major = 0, minor = 0;

    (void)nvrtcVersion(&major, &minor);
    snprintf(version, size, "NVRTC %d.%d", major, minor);
    return quick && major >= QUICK_MAJOR;
}

static bool is_kept(const struct cuda_program *p, bool quick)
{
    for (int level = CUDA_FULL; level >= CUDA_QUICK; level--)
        if ((level == CUDA_FULL || quick) &&
            rt_cache_has(&p->keys[level], "cubin"))
            return true;
    return false;
}

void cuda_compile_ahead(struct cuda *c, struct cuda_program *programs, int n,
                        bool quick)
{
    struct cuda_headers headers = {0};
    struct cuda_program *missing[CUDA_PROGRAMS];
    char version[64];
    int nmissing = 0;

    quick = find_version(quick, version, sizeof version);
    if (cuda_headers_open(&headers, c->in->model))
        for (int i = 0; i < n; i++) {
            set_keys(&programs[i], &headers, version);
            if (!is_kept(&programs[i], quick))
                missing[nmissing++] = &programs[i];
        }
    cuda_headers_close(&headers);
    const enum cuda_level level = quick ? CUDA_QUICK : CUDA_FULL;
    if (nmissing > 0)
        cuda_apart_order(c, missing, nmissing, level,
                         threads_each(c, nmissing, level));
}

static void drop_compiled(struct cuda_program *const *programs, int n)
{
    for (int i = 0; i < n; i++) {
        free(programs[i]->code);
        if (programs[i]->nvrtc)
            (void)nvrtcDestroyProgram(&programs[i]->nvrtc);
    }
}

/* The settled level of one is to be compiled yet. */
static bool is_to_settle(const struct cuda_program *p)
{
    return p->settles && !rt_cache_has(&p->keys[CUDA_SETTLED], "cubin");
}

/* The best of what is kept; what has nothing good enough is compiled. */
static enum gbm_status load_programs(struct cuda *c,
                                     struct cuda_program *programs, int n,
                                     const struct cuda_headers *headers,
                                     bool quick)
{
    struct cuda_program *missing[CUDA_PROGRAMS];
    char version[64];
    int nmissing = 0, better = 0;

    quick = find_version(quick, version, sizeof version);
    for (int i = 0; i < n; i++) {
        struct cuda_program *p = &programs[i];
        set_keys(p, headers, version);
        for (int level = CUDA_FULL; level >= CUDA_QUICK && !p->level; level--)
            if (level == CUDA_FULL || quick)
                load_kept(p, level);
        better += p->level < CUDA_FULL || (quick && is_to_settle(p));
    }
    if (better)
        cuda_apart_begin(c, c->in->model);
    if (better && quick && !cuda_better_begin(c, programs, n))
        quick = false;
    for (int i = 0; i < n; i++)
        if (programs[i].level < (quick ? CUDA_QUICK : CUDA_FULL))
            missing[nmissing++] = &programs[i];
    enum gbm_status status = nmissing > 0
                                 ? compile(c, missing, nmissing, headers,
                                           quick ? CUDA_QUICK : CUDA_FULL)
                                 : GBM_OK;
    drop_compiled(missing, nmissing);
    if (status == GBM_OK && better && quick)
        cuda_better_than(c, programs);
    else
        cuda_apart_end(c);
    return status;
}

enum gbm_status cuda_compile_settled(struct cuda *c,
                                     struct cuda_program *programs, int n)
{
    struct cuda_headers headers = {0};
    struct cuda_program *settled[CUDA_PROGRAMS];
    char version[64];
    int nsettled = 0;

    (void)find_version(false, version, sizeof version);
    if (!cuda_headers_open(&headers, c->in->model)) {
        cuda_headers_close(&headers);
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    }
    for (int i = 0; i < n; i++) {
        if (!programs[i].settles)
            continue;
        set_keys(&programs[i], &headers, version);
        settled[nsettled++] = &programs[i];
    }
    enum gbm_status status =
        compile(c, settled, nsettled, &headers, CUDA_SETTLED);
    drop_compiled(settled, nsettled);
    cuda_headers_close(&headers);
    return status;
}

enum gbm_status cuda_compile(struct cuda *c, struct cuda_program *programs,
                             int n, bool quick)
{
    struct cuda_headers headers = {0};
    enum gbm_status status =
        cuda_headers_open(&headers, c->in->model)
            ? load_programs(c, programs, n, &headers, quick)
            : rt_fail(c->rt, GBM_FAILURE, "out of memory");
    cuda_headers_close(&headers);
    return status;
}
