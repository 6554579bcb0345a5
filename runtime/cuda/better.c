/* better.c: sweeps begin with programs that were compiled quickly; meanwhile
 * the same are compiled with more care, and take their place between blocks of
 * sweeps. That is done by a process beside the run: nothing interrupts NVRTC,
 * but a process can be ended whatever it is at. A run that is over does not
 * wait for it; it ends with the run however that ends. Each program that is
 * done goes to the cache, so that later runs begin with it. It leaves all cores
 * to the start of the run, and begins with the first sweeps. */
#include "cuda.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What both processes see. The code lies in a file of memory, each one behind
 * the last. */
struct board {
    struct place {
        _Atomic int64_t bytes; /* 0: not yet; NEVER */
        int64_t offset;
    } places[CUDA_LEVELS][CUDA_PROGRAMS];
    _Atomic int64_t end; /* of the file */
    _Atomic int taken;   /* tasks */
    sem_t sweeps;        /* have begun */
};
#define NEVER (-1) /* it cannot be compiled */
/* After the first sweeps: a run of two or three is over by then. */
#define PATIENCE_US 300000

struct cuda_better {
    struct board *board;
    int file;
    pid_t process;
    bool begun; /* on the programs */
    int n;
    CUmodule *modules[CUDA_PROGRAMS];
    enum cuda_level levels[CUDA_PROGRAMS];
    int blocks; /* so far: for tests */
};

/* ---- the other process ---- */

struct task {
    const struct cuda_program *program;
    enum cuda_level level;
    struct place *place;
};
struct tasks {
    const struct cuda *c;
    const struct cuda_headers *headers;
    const struct cuda_better *better;
    struct task list[CUDA_LEVELS * CUDA_PROGRAMS];
    int n;
};

/* All programs get better a little before one gets as good as can be: the full
 * level takes some times as long. */
static void list_tasks(struct tasks *t, const struct cuda_program *programs)
{
    for (int level = CUDA_MIDDLE; level <= CUDA_FULL; level++)
        for (int i = 0; i < t->better->n; i++)
            if (programs[i].level < (enum cuda_level)level)
                t->list[t->n++] =
                    (struct task){.program = &programs[i],
                                  .level = (enum cuda_level)level,
                                  .place = &t->better->board->places[level][i]};
}

static bool write_code(const struct tasks *t, const char *code, size_t bytes,
                       int64_t offset)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pwrite(t->better->file, code + done, bytes - done,
                                 offset + (int64_t)done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static void work(const struct tasks *t, const struct task *task)
{
    nvrtcProgram nvrtc = NULL;
    size_t bytes = 0;
    char *code = NULL;

    if (cuda_translate(task->program, t->headers, task->level, 1, &nvrtc) ==
        NVRTC_SUCCESS)
        code = cuda_code_of(t->c, nvrtc, &bytes);
    const int64_t offset =
        atomic_fetch_add(&t->better->board->end, (int64_t)bytes);
    task->place->offset = offset;
    if (code && write_code(t, code, bytes, offset)) {
        rt_cache_write(&task->program->keys[task->level], "cubin", code, bytes);
        atomic_store(&task->place->bytes, (int64_t)bytes);
    } else {
        atomic_store(&task->place->bytes, NEVER);
    }
    free(code);
    if (nvrtc)
        (void)nvrtcDestroyProgram(&nvrtc);
}

static void *work_on(void *context)
{
    const struct tasks *t = context;
    for (int k; (k = atomic_fetch_add(&t->better->board->taken, 1)) < t->n;)
        work(t, &t->list[k]);
    return NULL;
}

/* Of this one only memory and the file are left: who waits for the end of the
 * run's output must not wait for the compiler, and signals are the run's. */
void cuda_stand_apart(int file, pid_t run)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != run)
        _exit(0);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_DFL);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        (void)dup2(nowhere, i);
    if (file > 3)
        (void)close_range(3, (unsigned)file - 1, 0);
    (void)close_range((unsigned)file + 1, ~0u, 0);
}

static void wait_for_sweeps(struct board *board)
{
    while (sem_wait(&board->sweeps) != 0)
        ; /* interrupted */
    (void)usleep(PATIENCE_US);
}

/* Threads of our own: those of OpenMP are the run's. */
static void compile_apart(struct tasks *t)
{
    const int threads = t->c->rt->threads < t->n ? t->c->rt->threads : t->n;
    pthread_t others[CUDA_LEVELS * CUDA_PROGRAMS];
    int n = 0;

    wait_for_sweeps(t->better->board);
    while (n < threads - 1 && pthread_create(&others[n], NULL, work_on, t) == 0)
        n++;
    (void)work_on(t);
    while (n > 0)
        (void)pthread_join(others[--n], NULL);
    _exit(0);
}

/* ---- the run's ---- */

static bool open_board(struct cuda_better *b)
{
    b->file = memfd_create("gbm", MFD_CLOEXEC);
    b->board = mmap(NULL, sizeof *b->board, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b->board == MAP_FAILED)
        b->board = NULL;
    return b->file > 2 && b->board && sem_init(&b->board->sweeps, 1, 0) == 0;
}

bool cuda_better_begin(struct cuda *c, const struct cuda_program *programs,
                       int n, const struct cuda_headers *headers)
{
    const pid_t run = getpid();

    c->better = calloc(1, sizeof *c->better);
    if (!c->better)
        return false;
    c->better->n = n;
    struct tasks tasks = {.c = c, .headers = headers, .better = c->better};
    if (open_board(c->better)) {
        list_tasks(&tasks, programs);
        c->better->process = fork();
    }
    if (c->better->process > 0)
        return true;
    if (c->better->board && c->better->process == 0 && getpid() != run) {
        cuda_stand_apart(c->better->file, run);
        (void)!nice(10);
        compile_apart(&tasks);
    }
    cuda_better_end(c);
    return false;
}

void cuda_better_than(struct cuda *c, const struct cuda_program *programs)
{
    for (int i = 0; i < c->better->n; i++) {
        c->better->modules[i] = programs[i].module;
        c->better->levels[i] = programs[i].level;
    }
}

void cuda_better_end(struct cuda *c)
{
    struct cuda_better *b = c->better;

    c->better = NULL;
    if (!b)
        return;
    if (b->process > 0) {
        (void)kill(b->process, SIGKILL);
        (void)waitpid(b->process, NULL, 0);
    }
    if (b->file > 0)
        (void)close(b->file);
    if (b->board)
        (void)munmap(b->board, sizeof *b->board);
    free(b);
}

/* Whether a program is loaded that was compiled beside; *module: in its place.
 * One that cannot be is as if it could not be compiled. */
static bool load_better(struct cuda_better *b, enum cuda_level level, int i,
                        CUmodule *module)
{
    struct place *place = &b->board->places[level][i];
    const int64_t bytes = atomic_load(&place->bytes);
    char *code = bytes > 0 ? malloc((size_t)bytes) : NULL;

    if (code && pread(b->file, code, (size_t)bytes, place->offset) == bytes &&
        cuModuleLoadData(module, code) == CUDA_SUCCESS)
        b->levels[i] = level;
    else if (bytes > 0)
        atomic_store(&place->bytes, NEVER);
    free(code);
    return b->levels[i] == level;
}

/* Loads what is ready; olds[]: what it replaces, for the caller to unload once
 * nothing asks for it. */
static int load_ready(struct cuda_better *b, enum cuda_level most,
                      CUmodule *olds)
{
    int n = 0;

    for (int i = 0; i < b->n; i++)
        for (int level = (int)most; level > (int)b->levels[i]; level--) {
            CUmodule module = NULL;
            if (!load_better(b, (enum cuda_level)level, i, &module))
                continue;
            olds[n++] = *b->modules[i];
            *b->modules[i] = module;
        }
    return n;
}

/* Whether there is a program below a level of which that place says so. */
static bool any_below(const struct cuda_better *b, enum cuda_level level,
                      bool (*says)(int64_t bytes))
{
    for (int i = 0; i < b->n; i++)
        if (b->levels[i] < level &&
            says(atomic_load(&b->board->places[level][i].bytes)))
            return true;
    return false;
}

static bool is_to_come(int64_t bytes) { return bytes == 0; }
static bool can_be(int64_t bytes) { return bytes != NEVER; }

/* For tests: until all of that level is ready. */
static void wait_for(struct cuda_better *b, enum cuda_level level)
{
    while (any_below(b, level, is_to_come) && b->process > 0) {
        (void)usleep(1000);
        if (waitpid(b->process, NULL, WNOHANG) != 0)
            b->process = 0;
    }
}

/* The level to take now, if it is there. For tests: with GBM_CUDA_QUICK=K the
 * middle one just before block K, the full one just before block 2 K. */
static enum cuda_level level_now(struct cuda_better *b)
{
    const char *wanted = getenv("GBM_CUDA_QUICK");
    const int block = wanted ? atoi(wanted) : 0;

    if (block <= 0)
        return CUDA_FULL;
    b->blocks++;
    const enum cuda_level level = b->blocks < block       ? CUDA_QUICK
                                  : b->blocks < 2 * block ? CUDA_MIDDLE
                                                          : CUDA_FULL;
    wait_for(b, level);
    return level;
}

/* That the full level cannot be had is told by the device's text. */
static void come_to_an_end(struct cuda *c)
{
    struct rt *rt = c->rt;
    const size_t used = strlen(rt->device_text);
    bool full = true;

    for (int i = 0; i < c->better->n; i++)
        full = full && c->better->levels[i] == CUDA_FULL;
    if (!full)
        snprintf(rt->device_text + used, sizeof rt->device_text - used,
                 ", compiled quickly, as more failed");
    cuda_better_end(c);
}

enum gbm_status cuda_better_take(struct cuda *c)
{
    struct cuda_better *b = c->better;
    CUmodule olds[CUDA_PROGRAMS];

    if (!b)
        return GBM_OK;
    if (!b->begun)
        b->begun = sem_post(&b->board->sweeps) == 0;
    const enum cuda_level most = level_now(b);
    const int n = load_ready(b, most, olds);
    if (n > 0) {
        cuda_forget_graphs(c);
        TRY(cuda_find_all(c));
    }
    for (int i = 0; i < n; i++)
        CU(cuModuleUnload(olds[i]));
    if (!any_below(b, CUDA_FULL, can_be))
        come_to_an_end(c);
    return GBM_OK;
}
