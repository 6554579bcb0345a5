/* apart.c: programs are compiled side by side by processes. NVRTC (13.0) lets
 * the threads of one process only take turns at all but the assembling. What a
 * process cannot compile, or where there is none, the caller does: its errors
 * are told of. */
#include "cuda.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* With fewer programs threads that take turns are done sooner: the compiler
 * begins anew in each process, some 0.2 s on an H100's host, and to take turns
 * costs 0.1 s a program. */
enum { LEAST_PROGRAMS = 6 };

/* Takes every step-th of the programs, from the first on. Its file is in
 * memory. */
struct worker {
    pid_t process;
    int file;
    int first, step;
};

/* Stands in the file before the code of each program. */
struct compiled {
    int64_t bytes;  /* 0: it failed */
    double seconds; /* that it took */
};

struct work {
    const struct cuda *c;
    struct cuda_program **programs;
    int n;
    const struct cuda_headers *headers;
    enum cuda_level level;
    int threads; /* of a program */
};

static bool put(int file, const void *from, size_t bytes)
{
    const char *at = from;

    while (bytes > 0) {
        const ssize_t n = write(file, at, bytes);
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool get(int file, void *to, size_t bytes)
{
    char *at = to;

    while (bytes > 0) {
        const ssize_t n = read(file, at, bytes);
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* The process: nothing of it is left but the file. */
static void compile_all(const struct work *w, const struct worker *me)
{
    for (int i = me->first; i < w->n; i += me->step) {
        nvrtcProgram nvrtc = NULL;
        size_t bytes = 0;
        char *code = NULL;
        const double began = rt_clock();
        if (cuda_translate(w->programs[i], w->headers, w->level, w->threads,
                           &nvrtc) == NVRTC_SUCCESS)
            code = cuda_code_of(w->c, nvrtc, &bytes);
        const struct compiled head = {.bytes = code ? (int64_t)bytes : 0,
                                      .seconds = rt_clock() - began};
        if (!put(me->file, &head, sizeof head) ||
            !put(me->file, code, (size_t)head.bytes))
            break;
        free(code);
    }
    _exit(0);
}

static void begin(const struct work *w, struct worker *me)
{
    const pid_t run = getpid();

    me->file = memfd_create("gbm", MFD_CLOEXEC);
    me->process = me->file > 2 ? fork() : -1;
    if (me->process == 0) {
        cuda_stand_apart(me->file, run);
        compile_all(w, me);
    }
}

/* What it has compiled. */
static void collect(const struct work *w, struct worker *me)
{
    while (me->process > 0 && waitpid(me->process, NULL, 0) < 0 &&
           errno == EINTR)
        ;
    const bool there = me->process > 0 && lseek(me->file, 0, SEEK_SET) == 0;
    for (int i = me->first; there && i < w->n; i += me->step) {
        struct cuda_program *p = w->programs[i];
        struct compiled head = {0};
        if (!get(me->file, &head, sizeof head))
            break;
        char *code = head.bytes > 0 ? malloc((size_t)head.bytes) : NULL;
        if (code && get(me->file, code, (size_t)head.bytes)) {
            p->code = code;
            p->bytes = (size_t)head.bytes;
            cuda_note_compiled(p, i, p->bytes, head.seconds);
        } else {
            free(code);
        }
    }
    if (me->file >= 0)
        (void)close(me->file);
}

void cuda_compile_apart(const struct cuda *c, struct cuda_program **programs,
                        int n, const struct cuda_headers *headers,
                        enum cuda_level level, int threads)
{
    struct worker workers[CUDA_PROGRAMS];
    const struct work w = {c, programs, n, headers, level, threads};
    const int most = c->rt->threads < n ? c->rt->threads : n;

    if (n < LEAST_PROGRAMS)
        return;
    for (int i = 0; most > 1 && i < most; i++) {
        workers[i] = (struct worker){.first = i, .step = most};
        begin(&w, &workers[i]);
    }
    for (int i = 0; most > 1 && i < most; i++)
        collect(&w, &workers[i]);
}
