/* gpu_code.c: --arch: the CUDA program compiles for an architecture, which a
 * machine without a GPU can tell. What a run compiles is one of many programs
 * of that text, for the chains and the data that it has; so nothing of this is
 * kept, unless --save-temps asks for it. NVRTC is looked for when it is needed:
 * gbmc works without a CUDA toolkit. */
#include "gbmc.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct span nowhere = {0};

/* What there is of nvrtc.h. */
typedef struct nvrtc_text *nvrtc_program;
enum { SUCCESS, INVALID_OPTION = 5 };
struct nvrtc {
    void *library;
    int (*create)(nvrtc_program *, const char *text, const char *name,
                  int headers, const char *const *, const char *const *);
    int (*compile)(nvrtc_program, int options, const char *const *);
    int (*log_size)(nvrtc_program, size_t *);
    int (*log)(nvrtc_program, char *);
    int (*code_size)(nvrtc_program, size_t *);
    int (*code)(nvrtc_program, char *);
    int (*destroy)(nvrtc_program *);
    int (*architectures)(int *);
    int (*count_architectures)(int *);
};

static void *find_library(struct compiler *c)
{
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13",
                                        "libnvrtc.so.12"};
    const char *home = getenv("CUDA_HOME");
    const char *folders[] = {home ? intern_format(c, "%s/lib64/", home)
                                  : "/usr/local/cuda/lib64/",
                             ""};
    void *found = NULL;
    for (int f = 0; f < 2 && !found; f++)
        for (int n = 0; n < 3 && !found; n++)
            found = dlopen(intern_format(c, "%s%s", folders[f], names[n]),
                           RTLD_NOW | RTLD_LOCAL);
    if (!found)
        error_at(c, nowhere,
                 "--arch compiles the GPU's code with NVRTC, which is not "
                 "found; it is part of a CUDA toolkit, whose folder is "
                 "/usr/local/cuda or $CUDA_HOME");
    return found;
}

/* A function's address is not an object's in ISO C; POSIX has them alike. */
static bool find_function(const struct nvrtc *n, const char *name, void *place)
{
    void *address = dlsym(n->library, name);
    memcpy(place, &address, sizeof address);
    return address != NULL;
}

static bool open_nvrtc(struct compiler *c, struct nvrtc *n)
{
    if (!(n->library = find_library(c)))
        return false;
    if (find_function(n, "nvrtcCreateProgram", &n->create) &&
        find_function(n, "nvrtcCompileProgram", &n->compile) &&
        find_function(n, "nvrtcGetProgramLogSize", &n->log_size) &&
        find_function(n, "nvrtcGetProgramLog", &n->log) &&
        find_function(n, "nvrtcGetCUBINSize", &n->code_size) &&
        find_function(n, "nvrtcGetCUBIN", &n->code) &&
        find_function(n, "nvrtcDestroyProgram", &n->destroy) &&
        find_function(n, "nvrtcGetSupportedArchs", &n->architectures) &&
        find_function(n, "nvrtcGetNumSupportedArchs", &n->count_architectures))
        return true;
    error_at(c, nowhere, "--arch: this NVRTC is too old; CUDA 12 has a newer");
    return false;
}

static void refuse_architecture(struct compiler *c, const struct nvrtc *n)
{
    int list[64], count = 0;
    struct text known = {0};
    if (n->count_architectures(&count) == SUCCESS && count <= 64 &&
        n->architectures(list) == SUCCESS)
        for (int i = 0; i < count; i++)
            text_printf(&known, "%ssm_%d", i ? ", " : "; it knows ", list[i]);
    error_at(c, nowhere, "--arch=%s: NVRTC does not know this architecture%s",
             c->options.arch, known.data ? known.data : "");
    text_free(&known);
}

static void report_log(struct compiler *c, const struct nvrtc *n,
                       nvrtc_program p)
{
    size_t size = 0;
    char *log = n->log_size(p, &size) == SUCCESS && size > 1
                    ? NEW_ARRAY(c, char, size + 1)
                    : NULL;
    error_at(c, nowhere,
             "the GPU's code does not compile for %s, which is a fault of "
             "gbmc:\n%s",
             c->options.arch,
             log && n->log(p, log) == SUCCESS ? log : "NVRTC does not say why");
}

static bool keep_code(struct compiler *c, const struct nvrtc *n,
                      nvrtc_program p)
{
    size_t size = 0;
    if (n->code_size(p, &size) != SUCCESS || size == 0)
        return false;
    char *code = NEW_ARRAY(c, char, size);
    const char *path = intern_format(c, "%s.cubin", c->options.output);
    FILE *f = n->code(p, code) == SUCCESS ? fopen(path, "wb") : NULL;
    bool written = f && fwrite(code, 1, size, f) == size;
    written = f && fclose(f) == 0 && written;
    if (!written)
        error_at(c, nowhere, "cannot write %s", path);
    return written;
}

bool gpu_code_compiles(struct compiler *c, const char *text)
{
    struct nvrtc n = {0};
    nvrtc_program p = NULL;
    bool fine = false;
    const char *const options[] = {
        intern_format(c, "--gpu-architecture=%s", c->options.arch),
        "--std=c++17", "--fmad=false",
        intern_format(c, "-I%s/kernels", c->stdlib)};
    if (!open_nvrtc(c, &n))
        return false;
    int result = n.create(&p, text, "kernels.cu", 0, NULL, NULL);
    if (result == SUCCESS)
        result = n.compile(p, 4, options);
    if (result == INVALID_OPTION)
        refuse_architecture(c, &n);
    else if (result != SUCCESS)
        report_log(c, &n, p);
    else
        fine =
            !c->options.save_temps || !c->options.output || keep_code(c, &n, p);
    if (p)
        n.destroy(&p);
    return fine; /* the library stays: it may have threads */
}
