/* nvrtc.c: compiles CUDA text for the device at hand. Machine code is kept
 * under $XDG_CACHE_HOME/gbm or ~/.cache/gbm, by a hash of all that it depends
 * on. A file that is missing, stale or damaged is as good as none, and one that
 * cannot be written is not missed. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two independent 64-bit hashes: FNV-1a, and a multiply-rotate one. */
struct hash {
    uint64_t a, b;
};

static void hash_bytes(struct hash *h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) {
        h->a = (h->a ^ p[i]) * 0x100000001b3u;
        h->b = (h->b + p[i] + 1) * 0x9e3779b97f4a7c15u;
        h->b ^= h->b >> 29;
    }
}

/* The terminator is hashed too, so that "ab", "c" is not "a", "bc". */
static void hash_text(struct hash *h, const char *text)
{
    hash_bytes(h, text, strlen(text) + 1);
}

/* ---- the cache ---- */

struct cache_head {
    char magic[8];
    struct hash key, content;
    uint64_t bytes;
};
static const char cache_magic[8] = {'g', 'b', 'm', 'c', 'u', 'b', '1', '\n'};

/* Path of the cached code of a key; false if there is no place for it. */
static bool cache_path(const struct hash *key, char *path, size_t size)
{
    const char *base = getenv("XDG_CACHE_HOME");
    char folder[1024];
    int n;

    if (base && base[0]) {
        n = snprintf(folder, sizeof folder, "%s", base);
    } else {
        base = getenv("HOME");
        if (!base || !base[0])
            return false;
        n = snprintf(folder, sizeof folder, "%s/.cache", base);
    }
    if (n < 0 || (size_t)n >= sizeof folder - 8)
        return false;
    (void)mkdir(folder, 0777); /* there already, or the next one fails */
    memcpy(folder + n, "/gbm", 5);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return false;
    n = snprintf(path, size, "%s/%016llx%016llx.cubin", folder,
                 (unsigned long long)key->a, (unsigned long long)key->b);
    return n > 0 && (size_t)n < size;
}

/* The cached code (caller frees) or NULL. */
static char *cache_read(const struct hash *key)
{
    char path[1200];
    struct cache_head head;
    struct hash content = {0xcbf29ce484222325u, 1};
    char *code = NULL;

    if (!cache_path(key, path, sizeof path))
        return NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    if (fread(&head, sizeof head, 1, file) == 1 &&
        memcmp(head.magic, cache_magic, sizeof cache_magic) == 0 &&
        head.key.a == key->a && head.key.b == key->b && head.bytes > 0 &&
        head.bytes < (1u << 30))
        code = malloc((size_t)head.bytes);
    if (code && fread(code, 1, (size_t)head.bytes, file) == head.bytes)
        hash_bytes(&content, code, (size_t)head.bytes);
    fclose(file);
    if (code && (content.a != head.content.a || content.b != head.content.b)) {
        free(code);
        code = NULL;
    }
    return code;
}

/* Writes beside, then renames: a reader sees all of it or none. */
static void cache_write(const struct hash *key, const char *code, size_t bytes)
{
    char path[1200], beside[1240];
    struct cache_head head = {
        .key = *key, .content = {0xcbf29ce484222325u, 1}, .bytes = bytes};

    if (!cache_path(key, path, sizeof path))
        return;
    memcpy(head.magic, cache_magic, sizeof cache_magic);
    hash_bytes(&head.content, code, bytes);
    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(beside, "wb");
    if (!file)
        return;
    bool whole = fwrite(&head, sizeof head, 1, file) == 1 &&
                 fwrite(code, 1, bytes, file) == bytes;
    if (fclose(file) != 0)
        whole = false;
    if (!whole || rename(beside, path) != 0)
        (void)remove(beside);
}

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
    struct hash key = {0xcbf29ce484222325u, 1};
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

    hash_text(&key, version);
    hash_text(&key, text);
    for (int i = 0; i < n; i++)
        hash_text(&key, all[i]);
    for (int i = 0; i < nheaders; i++) {
        hash_text(&key, headers[i].name);
        hash_text(&key, headers[i].text);
    }
    char *code = cache_read(&key);
    if (code && cuModuleLoadData(module, code) == CUDA_SUCCESS) {
        free(code);
        free(all);
        return GBM_OK;
    }
    free(code);
    size_t bytes = 0;
    enum gbm_status status = compile(c, name, text, nheaders, headers, n, all,
                                     portable, &code, &bytes);
    free(all);
    if (status != GBM_OK)
        return status;
    CUresult loaded = cuModuleLoadData(module, code);
    if (loaded == CUDA_SUCCESS)
        cache_write(&key, code, bytes);
    free(code);
    if (loaded != CUDA_SUCCESS)
        return cuda_failed(c, loaded, "cuModuleLoadData", __FILE__, __LINE__);
    return GBM_OK;
}
