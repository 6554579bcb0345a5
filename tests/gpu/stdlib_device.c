/* stdlib_device: stdlib on the device against the same text on the host.
 * Compiles stdlib_probes.cu with NVRTC (for sm_90 where there is no GPU, and is
 * content if that works); with a GPU, runs each probe and compares.
 *
 *   stdlib_device FOLDER_OF_PROBES FOLDER_OF_STDLIB
 *
 * Rounding differs between the devices, so a rejection may go the other way:
 * a few elements of a probe may disagree. Status 0 or 1. */
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stdlib_probes.h"

#ifdef GBM_SINGLE
#define TOLERANCE 2e-3
#define STRAY (PROBE_ELEMENTS / 50)
#else
#define TOLERANCE 1e-9
#define STRAY 2
#endif

#define HOST(name, call)                                                       \
    static void host_##name(real *out, uint32_t number)                        \
    {                                                                          \
        for (uint32_t i = 0; i < PROBE_ELEMENTS; i++) {                        \
            struct gbm_rng stream, *rng = &stream;                             \
            gbm_rng_start(rng, 1, 2, 3, number, i);                            \
            real u = gbm_uniform(rng), v = gbm_uniform(rng);                   \
            real w = gbm_uniform(rng);                                         \
            (void)u, (void)v, (void)w;                                         \
            out[i] = call;                                                     \
        }                                                                      \
    }
PROBES(HOST)

static const struct {
    const char *kernel;
    void (*host)(real *out, uint32_t number);
} probes[] = {
#define ROW(name, call) {"probe_" #name, host_##name},
    PROBES(ROW)};

/* What of the driver is needed, found at run time: the test is also for
 * machines without one. */
static struct {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*attribute)(int *, int, int);
    int (*retain)(void **, int);
    int (*make_current)(void *);
    int (*load)(void **, const void *);
    int (*function)(void **, void *, const char *);
    int (*alloc)(unsigned long long *, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                  unsigned, unsigned, void *, void **, void **);
    int (*download)(void *, unsigned long long, size_t);
} cu;

static bool open_driver(void)
{
    static const struct {
        const char *name;
        void *place;
    } wanted[] = {{"cuInit", &cu.init},
                  {"cuDeviceGet", &cu.device},
                  {"cuDeviceGetAttribute", &cu.attribute},
                  {"cuDevicePrimaryCtxRetain", &cu.retain},
                  {"cuCtxSetCurrent", &cu.make_current},
                  {"cuModuleLoadData", &cu.load},
                  {"cuModuleGetFunction", &cu.function},
                  {"cuMemAlloc_v2", &cu.alloc},
                  {"cuLaunchKernel", &cu.launch},
                  {"cuMemcpyDtoH_v2", &cu.download}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; library && i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(library, wanted[i].name);
        if (!symbol)
            return false;
        memcpy(wanted[i].place, &symbol, sizeof symbol);
    }
    return library && cu.init(0) == 0;
}

/* The device's architecture, "sm_90" without one. */
static bool find_device(char *architecture, size_t size)
{
    int device, major = 9, minor = 0;
    void *context;
    bool found = open_driver() && cu.device(&device, 0) == 0 &&
                 cu.attribute(&major, 75, device) == 0 &&
                 cu.attribute(&minor, 76, device) == 0 &&
                 cu.retain(&context, device) == 0 &&
                 cu.make_current(context) == 0;
    snprintf(architecture, size, "--gpu-architecture=sm_%d%d", major, minor);
    return found;
}

/* The compiled probes; NULL, with the compiler's words, if that fails. */
static char *compile(const char *architecture, const char *probe_folder,
                     const char *stdlib_folder)
{
    char text[256], first[4096], second[4096];
    const char *options[] = {architecture, first, second,
#ifdef GBM_SINGLE
                             "-DGBM_SINGLE"
#else
                             "-DGBM_DOUBLE"
#endif
    };
    nvrtcProgram program;
    size_t size = 0;
    snprintf(text, sizeof text, "#include \"stdlib_probes.cu\"\n");
    snprintf(first, sizeof first, "-I%s", probe_folder);
    snprintf(second, sizeof second, "-I%s", stdlib_folder);
    if (nvrtcCreateProgram(&program, text, "probes", 0, NULL, NULL))
        return NULL;
    nvrtcResult result = nvrtcCompileProgram(program, 4, options);
    nvrtcGetProgramLogSize(program, &size);
    char *log = malloc(size + 1);
    if (size > 1 && log && nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS)
        puts(log);
    free(log);
    if (result != NVRTC_SUCCESS || size > 1) /* a warning is a failure */
        return NULL;
    nvrtcGetCUBINSize(program, &size);
    char *binary = malloc(size);
    if (binary)
        nvrtcGetCUBIN(program, binary);
    nvrtcDestroyProgram(&program);
    return binary;
}

/* True if the device's results are the host's, but for a few. */
static bool compare(const char *kernel, const real *device, const real *host)
{
    int stray = 0, first = -1;
    for (int i = 0; i < PROBE_ELEMENTS; i++) {
        double a = (double)device[i], b = (double)host[i];
        if (a == b || (a != a && b != b) ||
            fabs(a - b) <= TOLERANCE * (1e-3 + fabs(b)))
            continue;
        first = first < 0 ? i : first;
        stray++;
    }
    if (stray > STRAY)
        printf("%s: %d of %d elements differ, first %d: device %.17g, host "
               "%.17g\n",
               kernel, stray, PROBE_ELEMENTS, first, (double)device[first],
               (double)host[first]);
    return stray <= STRAY;
}

int main(int argc, char **argv)
{
    static real host[PROBE_ELEMENTS], device[PROBE_ELEMENTS];
    char architecture[64];
    int failures = 0;
    void *module;
    unsigned long long out;

    if (argc != 3) {
        fprintf(stderr, "usage: stdlib_device PROBES STDLIB\n");
        return 1;
    }
    bool found = find_device(architecture, sizeof architecture);
    char *binary = compile(architecture, argv[1], argv[2]);
    if (!binary)
        return 1;
    if (!found) {
        puts("compiled; no GPU to run on");
        return 0;
    }
    if (cu.load(&module, binary) || cu.alloc(&out, sizeof device)) {
        puts("the driver does not load the probes");
        return 1;
    }
    for (uint32_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        void *function, *arguments[] = {&out, &i};
        probes[i].host(host, i);
        if (cu.function(&function, module, probes[i].kernel) ||
            cu.launch(function, PROBE_ELEMENTS / 128, 1, 1, 128, 1, 1, 0, NULL,
                      arguments, NULL) ||
            cu.download(device, out, sizeof device)) {
            printf("%s does not run\n", probes[i].kernel);
            return 1;
        }
        failures += !compare(probes[i].kernel, device, host);
    }
    free(binary);
    printf("%d of %d probes differ\n", failures,
           (int)(sizeof probes / sizeof *probes));
    return failures != 0;
}
