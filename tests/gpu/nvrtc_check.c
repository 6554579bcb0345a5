/* nvrtc_check: compiles a CUDA program with NVRTC, as a sampler does at start,
 * but needs no GPU.
 *
 *   nvrtc_check FILE ARCH [OPTION...]   e.g. sm_90 -DGBM_SINGLE
 * -Istdlib/kernels
 *
 * Status 0 if it compiles without warnings; 1 and the compiler's words if
 * not. */
#include <nvrtc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t length = 0, capacity = 1 << 16;
    char *text = malloc(capacity);

    while (file && text) {
        size_t got = fread(text + length, 1, capacity - length - 1, file);
        if (got == 0)
            break;
        length += got;
        if (length + 1 == capacity)
            text = realloc(text, capacity *= 2);
    }
    if (!file || !text) {
        perror(path);
        exit(1);
    }
    fclose(file);
    text[length] = '\0';
    return text;
}

/* Prints the compiler's log; true if there is anything in it. */
static bool print_log(nvrtcProgram program)
{
    size_t size = 0;
    if (nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size < 2)
        return false;
    char *log = malloc(size);
    if (log && nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS)
        fputs(log, stderr);
    free(log);
    return true;
}

int main(int argc, char **argv)
{
    char architecture[64];
    const char *options[64];
    int noptions = 0;

    if (argc < 3 || argc > 60) {
        fprintf(stderr, "usage: nvrtc_check FILE ARCH [OPTION...]\n");
        return 1;
    }
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s",
             argv[2]);
    options[noptions++] = architecture;
    for (int i = 3; i < argc; i++)
        options[noptions++] = argv[i];

    char *text = read_file(argv[1]);
    nvrtcProgram program;
    nvrtcResult result =
        nvrtcCreateProgram(&program, text, argv[1], 0, NULL, NULL);
    if (result == NVRTC_SUCCESS)
        result = nvrtcCompileProgram(program, noptions, options);
    if (result != NVRTC_SUCCESS)
        fprintf(stderr, "%s: %s\n", argv[1], nvrtcGetErrorString(result));
    bool said = print_log(program);
    size_t size = 0;
    if (result == NVRTC_SUCCESS)
        result = nvrtcGetCUBINSize(program, &size);
    if (result == NVRTC_SUCCESS)
        printf("%s: %zu bytes of %s\n", argv[1], size, argv[2]);
    nvrtcDestroyProgram(&program);
    free(text);
    return result == NVRTC_SUCCESS && !said ? 0 : 1;
}
