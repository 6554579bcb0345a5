/* nvrtc.c: a stand-in for NVRTC, for tests: compiles CUDA text for the CPU by
 * compile.py. What it calls CUBIN is the path of a shared library. */
#include <nvrtc.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct _nvrtcProgram {
    char folder[128];
    char library[160];
    char *log;
};

static int write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        return 0;
    fputs(text, file);
    return fclose(file) == 0;
}

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
    *n = 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *archs)
{
    archs[0] = 90;
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION"
                                             : "an error of the stand-in";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *text,
                               const char *name, int n,
                               const char *const *headers,
                               const char *const *names)
{
    (void)name;
    struct _nvrtcProgram *p = calloc(1, sizeof *p);
    snprintf(p->folder, sizeof p->folder, "/tmp/gbm_fake_XXXXXX");
    if (!mkdtemp(p->folder) || !write_file(p->folder, "text.cu", text))
        return NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            if (strcmp(names[k], names[i]) == 0)
                return NVRTC_ERROR_INVALID_INPUT; /* as NVRTC does */
        if (!write_file(p->folder, names[i], headers[i]))
            return NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
    }
    *program = p;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    if (!*program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    free((*program)->log);
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

/* To the end of the file GBM_FAKE_COMPILED, if it is set, and which process. */
static void tell(const char *what, const char *level)
{
    const char *path = getenv("GBM_FAKE_COMPILED");
    FILE *file = path ? fopen(path, "a") : NULL;

    if (!file)
        return;
    fprintf(file, "%s %s %d\n", what, level, (int)getpid());
    fclose(file);
}

/* To the end of the file GBM_FAKE_OPTIONS, if it is set: what is defined. */
static void tell_options(int n, const char *const *options)
{
    const char *path = getenv("GBM_FAKE_OPTIONS");
    FILE *file = path ? fopen(path, "a") : NULL;

    if (!file)
        return;
    for (int i = 0; i < n; i++)
        if (strncmp(options[i], "-D", 2) == 0)
            fprintf(file, "%s\n", options[i]);
    fclose(file);
}

static pid_t first_process;
__attribute__((constructor)) static void note_process(void)
{
    first_process = getpid();
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int n,
                                const char *const *options)
{
    const char *home = getenv("GBM_FAKE_CUDA");
    char command[8192];
    size_t used = 0;

    if (!home)
        return NVRTC_ERROR_INTERNAL_ERROR;
    used = (size_t)snprintf(command, sizeof command, "python3 %s/compile.py %s",
                            home, p->folder);
    /* the driver tells of the level: "max.so" */
    const char *level = "full", *word = "--Ofast-compile=";
    for (int i = 0; i < n; i++)
        if (strncmp(options[i], word, strlen(word)) == 0)
            level = options[i] + strlen(word);
        else if (strcmp(options[i], "-DGBM_SETTLED") == 0)
            level = "settled";
    tell("begin", level);
    tell_options(n, options);
    /* GBM_FAKE_DIES=LEVEL: processes that were forked break down at it */
    const char *dies = getenv("GBM_FAKE_DIES");
    if (dies && strcmp(dies, level) == 0 && getpid() != first_process)
        raise(SIGKILL);
    /* GBM_FAKE_NVRTC=WORD: what is compiled with an option that begins so, or
     * at that level, is not to be had */
    const char *fails = getenv("GBM_FAKE_NVRTC");
    if (fails && strcmp(fails, level) == 0)
        return NVRTC_ERROR_COMPILATION;
    /* GBM_FAKE_SLOW=SECONDS: all but the quickest level takes so long;
     * GBM_FAKE_SLOW_MAX=SECONDS: the quickest */
    const char *slow = getenv(strcmp(level, "max") == 0 ? "GBM_FAKE_SLOW_MAX"
                                                        : "GBM_FAKE_SLOW");
    if (slow)
        sleep((unsigned)atoi(slow));
    for (int i = 0; fails && i < n; i++)
        if (strncmp(options[i], fails, strlen(fails)) == 0) {
            p->log = strdup("as GBM_FAKE_NVRTC says");
            return NVRTC_ERROR_COMPILATION;
        }
    for (int i = 0; i < n && used < sizeof command - 256; i++)
        used += (size_t)snprintf(command + used, sizeof command - used, " '%s'",
                                 options[i]);
    snprintf(command + used, sizeof command - used, " 2>&1");
    FILE *pipe = popen(command, "r");
    p->log = calloc(1, 1 << 16);
    const size_t got = pipe ? fread(p->log, 1, (1 << 16) - 1, pipe) : 0;
    p->log[got] = '\0';
    if (!pipe || pclose(pipe) != 0)
        return NVRTC_ERROR_COMPILATION;
    tell("end", level);
    snprintf(command, sizeof command, "%s/code.so", p->folder);
    snprintf(p->library, sizeof p->library, "%s/%.8s.so", p->folder, level);
    return rename(command, p->library) == 0 ? NVRTC_SUCCESS
                                            : NVRTC_ERROR_INTERNAL_ERROR;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *size)
{
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    *size = p->log ? strlen(p->log) + 1 : 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *log)
{
    strcpy(log, p->log ? p->log : "");
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *size)
{
    *size = strlen(p->library) + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *code)
{
    strcpy(code, p->library);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *size)
{
    return nvrtcGetCUBINSize(p, size);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *code)
{
    return nvrtcGetCUBIN(p, code);
}
