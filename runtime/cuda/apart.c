/* apart.c: programs are compiled by processes, side by side and beside what the
 * run does meanwhile. NVRTC (13.0) lets the threads of one process only take
 * turns at all but the assembling, and nothing interrupts it, but a process can
 * be ended whatever it is at.
 *
 * One process is forked for all, before the driver is up: it is small then, and
 * forks in no time as many others as programs are ordered. It ends with the run
 * however that ends, and those others end with it. What both sides see lies in
 * shared memory: orders, and the code that comes of them. What cannot be
 * compiled there, or where there is no such process, the caller compiles: its
 * errors are told of.
 *
 * There are two lists: what is ordered now, and what is for later, to be begun
 * with the first sweeps, so that the start of the run has all cores. */
#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Only what is written takes memory. */
#define HALL_BYTES ((int64_t)512 << 20)
#define MOST_ORDERS (3 * CUDA_PROGRAMS)
/* After the first sweeps: a run of two or three is over by then. */
#define PATIENCE_US 300000
#define NEVER (-1) /* it cannot be compiled */

struct cuda_order {
    struct cuda_program program; /* what it points to is seen by both sides */
    char name[160];
    enum cuda_level level;
    int threads;
    bool portable;
    bool kept;             /* its code is to go to the cache */
    char *code;            /* then */
    double seconds;        /* that it took */
    _Atomic int64_t bytes; /* of its code; 0: not yet; NEVER */
};

struct list {
    struct cuda_order orders[MOST_ORDERS];
    _Atomic int n;
    _Atomic int taken;
};

/* At one address in all processes. */
struct hall {
    struct list now, later;
    sem_t wanted; /* posted for orders, and for the first sweeps */
    sem_t done;   /* posted for each program that is compiled, or cannot be */
    _Atomic bool sweeps;
    _Atomic int64_t used; /* of room */
    alignas(16) char room[];
};

struct cuda_apart {
    struct hall *hall;
    pid_t process; /* 0: it has ended */
};

/* Room that all see; NULL: there is none. */
static void *take(struct hall *hall, size_t bytes)
{
    const int64_t rounded = ((int64_t)bytes + 15) & ~(int64_t)15;
    const int64_t at = atomic_fetch_add(&hall->used, rounded);
    const int64_t most = HALL_BYTES - (int64_t)sizeof *hall;

    return rounded < most && at < most - rounded ? hall->room + at : NULL;
}

/* ---- the processes ---- */

/* Of this one only memory is left: who waits for the end of the run's output
 * must not wait for the compiler, and signals are the run's. */
static void stand_apart(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_DFL);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        (void)dup2(nowhere, i);
    (void)close_range(3, ~0u, 0);
}

static void compile(struct hall *hall, const struct cuda_headers *headers,
                    struct cuda_order *o)
{
    nvrtcProgram nvrtc = NULL;
    size_t bytes = 0;
    char *code = NULL;
    const double began = rt_clock();

    if (cuda_translate(&o->program, headers, o->level, o->threads, &nvrtc) ==
        NVRTC_SUCCESS)
        code = cuda_code_of(o->portable, nvrtc, &bytes);
    o->seconds = rt_clock() - began;
    o->code = code ? take(hall, bytes) : NULL;
    if (o->code)
        memcpy(o->code, code, bytes);
    if (o->code && o->kept)
        rt_cache_write(&o->program.keys[o->level], "cubin", code, bytes);
    atomic_store(&o->bytes, o->code ? (int64_t)bytes : NEVER);
    (void)sem_post(&hall->done);
    free(code);
    if (nvrtc)
        (void)nvrtcDestroyProgram(&nvrtc);
}

/* The orders up to the n-th, as far as others leave them. */
static void compile_some(struct hall *hall, const struct cuda_headers *headers,
                         struct list *list, int n)
{
    for (int i = atomic_load(&list->taken); i < n;)
        if (atomic_compare_exchange_weak(&list->taken, &i, i + 1))
            compile(hall, headers, &list->orders[i++]);
}

/* All that is on the list and not yet taken: by a process for each, as many at
 * a time as the run has threads. */
static void compile_all(struct hall *hall, const struct cuda_headers *headers,
                        struct list *list, int processes)
{
    const int first = atomic_load(&list->taken), n = atomic_load(&list->n);
    const pid_t parent = getpid();
    int workers = 0;

    for (int i = 0; i < processes && i < n - first; i++) {
        const pid_t worker = fork();
        if (worker == 0) {
            stand_apart(parent);
            compile_some(hall, headers, list, n);
            _exit(0);
        }
        workers += worker > 0;
    }
    if (workers == 0)
        compile_some(hall, headers, list, n);
    while (workers > 0 && (wait(NULL) > 0 || errno == EINTR))
        ;
    for (int i = first; i < n; i++) { /* of one that broke down */
        int64_t none = 0;
        if (atomic_compare_exchange_strong(&list->orders[i].bytes, &none,
                                           NEVER))
            (void)sem_post(&hall->done);
    }
}

static void serve(struct hall *hall, const struct cuda_headers *headers,
                  int processes)
{
    while (!atomic_load(&hall->sweeps)) {
        while (sem_wait(&hall->wanted) != 0)
            ; /* interrupted */
        compile_all(hall, headers, &hall->now, processes);
    }
    (void)usleep(PATIENCE_US);
    (void)!nice(10);
    compile_all(hall, headers, &hall->later, processes);
    _exit(0);
}

/* ---- the run's ---- */

static struct hall *open_hall(void)
{
    struct hall *hall = mmap(NULL, (size_t)HALL_BYTES, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (hall == MAP_FAILED)
        return NULL;
    if (sem_init(&hall->wanted, 1, 0) == 0 && sem_init(&hall->done, 1, 0) == 0)
        return hall;
    (void)munmap(hall, (size_t)HALL_BYTES);
    return NULL;
}

void cuda_apart_begin(struct cuda *c, const struct gbm_model *model)
{
    const pid_t run = getpid();
    struct cuda_headers headers = {0};
    struct cuda_apart *a = c->apart ? NULL : calloc(1, sizeof *a);

    if (!a)
        return;
    c->apart = a;
    a->hall = open_hall();
    if (a->hall && cuda_headers_open(&headers, model))
        a->process = fork();
    if (a->process == 0 && getpid() != run) {
        stand_apart(run);
        serve(a->hall, &headers, c->rt->threads > 1 ? c->rt->threads : 1);
    }
    cuda_headers_close(&headers);
    if (a->process <= 0)
        cuda_apart_end(c);
}

void cuda_apart_end(struct cuda *c)
{
    struct cuda_apart *a = c->apart;

    c->apart = NULL;
    if (!a)
        return;
    if (a->process > 0) {
        (void)kill(a->process, SIGKILL);
        (void)waitpid(a->process, NULL, 0);
    }
    if (a->hall)
        (void)munmap(a->hall, (size_t)HALL_BYTES);
    free(a);
}

/* Options lie where the processes see them. */
static bool copy_options(struct hall *hall, struct cuda_program *p)
{
    const char **copies =
        take(hall, ((size_t)p->noptions + 1) * sizeof *copies);

    for (int i = 0; copies && i < p->noptions; i++) {
        const size_t bytes = strlen(p->options[i]) + 1;
        char *copy = take(hall, bytes);
        if (!copy)
            return false;
        memcpy(copy, p->options[i], bytes);
        copies[i] = copy;
    }
    p->options = copies;
    return copies != NULL;
}

static struct cuda_order *add(struct hall *hall, struct list *list,
                              const struct cuda_program *p,
                              enum cuda_level level)
{
    const int n = atomic_load(&list->n);
    struct cuda_order *o = n < MOST_ORDERS ? &list->orders[n] : NULL;

    if (!o)
        return NULL;
    *o = (struct cuda_order){.program = *p, .level = level, .threads = 1};
    snprintf(o->name, sizeof o->name, "%s", p->name);
    o->program.name = o->name;
    o->program.nvrtc = NULL;
    if (!copy_options(hall, &o->program))
        return NULL;
    atomic_store(&list->n, n + 1);
    return o;
}

static struct cuda_order *find(struct list *list, enum cuda_level level,
                               const struct rt_key *key)
{
    for (int i = 0; i < atomic_load(&list->n); i++) {
        struct cuda_order *o = &list->orders[i];
        if (o->level == level && o->program.keys[level].a == key->a &&
            o->program.keys[level].b == key->b)
            return o;
    }
    return NULL;
}

struct cuda_order *cuda_apart_find(const struct cuda *c,
                                   const struct cuda_program *p,
                                   enum cuda_level level)
{
    return c->apart ? find(&c->apart->hall->now, level, &p->keys[level]) : NULL;
}

struct cuda_order *cuda_apart_find_later(const struct cuda *c,
                                         const struct rt_key *key)
{
    return c->apart ? find(&c->apart->hall->later, CUDA_SETTLED, key) : NULL;
}

void cuda_apart_order(struct cuda *c, struct cuda_program *const *programs,
                      int n, enum cuda_level level, int threads)
{
    struct hall *hall = c->apart ? c->apart->hall : NULL;
    int added = 0;

    for (int i = 0; hall && i < n; i++) {
        struct cuda_order *o = cuda_apart_find(c, programs[i], level)
                                   ? NULL
                                   : add(hall, &hall->now, programs[i], level);
        if (!o)
            continue;
        o->threads = threads;
        o->portable = c->portable;
        added++;
    }
    if (added > 0)
        (void)sem_post(&hall->wanted);
}

struct cuda_order *cuda_apart_later(struct cuda *c,
                                    const struct cuda_program *p,
                                    enum cuda_level level)
{
    struct hall *hall = c->apart->hall;
    struct cuda_order *o = add(hall, &hall->later, p, level);

    if (!o)
        return NULL;
    o->portable = c->portable;
    o->kept = true;
    return o;
}

void cuda_apart_sweeps(struct cuda *c)
{
    if (atomic_exchange(&c->apart->hall->sweeps, true))
        return;
    (void)sem_post(&c->apart->hall->wanted);
}

enum cuda_state cuda_order_state(const struct cuda_order *o)
{
    const int64_t bytes = atomic_load(&o->bytes);
    return bytes == 0 ? CUDA_TO_COME : bytes > 0 ? CUDA_DONE : CUDA_NEVER;
}

void cuda_order_refuse(struct cuda_order *o) { atomic_store(&o->bytes, NEVER); }

const char *cuda_order_code(const struct cuda_order *o, size_t *bytes)
{
    *bytes = (size_t)atomic_load(&o->bytes);
    return o->code;
}

double cuda_order_seconds(const struct cuda_order *o) { return o->seconds; }

bool cuda_apart_wait(struct cuda *c, const struct cuda_order *o)
{
    struct cuda_apart *a = c->apart;

    while (cuda_order_state(o) == CUDA_TO_COME && a->process > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (sem_timedwait(&a->hall->done, &until) != 0 &&
            waitpid(a->process, NULL, WNOHANG) != 0)
            a->process = 0;
    }
    return cuda_order_state(o) == CUDA_DONE;
}
