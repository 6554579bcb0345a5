/* interrupt.c: a signal that ends gbmc leaves nothing behind: no temporary
 * file, no compiler still at work. */
#include "base/base.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { NCAUGHT = sizeof caught / sizeof caught[0], MOST = 8 };

/* A signal handler can reach nothing but globals. */
static const char *volatile temporary[MOST];
static volatile pid_t children[MOST]; /* 0: none */

/* Calls nothing that may not be called here (signal-safety(7)). */
static void clean_up(int signal_number)
{
    int saved = errno;
    for (int i = 0; i < MOST; i++)
        if (children[i] > 0)
            kill(-children[i], SIGTERM);
    for (int i = 0; i < MOST; i++)
        if (children[i] > 0)
            while (waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
                ;
    for (int i = 0; i < MOST; i++)
        if (temporary[i])
            unlink(temporary[i]);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    errno = saved;
}

void temporary_catch_signals(void)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = clean_up;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NCAUGHT; i++)
        sigaddset(&action.sa_mask, caught[i]);
    for (int i = 0; i < NCAUGHT; i++)
        if (sigaction(caught[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN) /* nohup */
            sigaction(caught[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a write fails instead */
}

void temporary_begins(const char *path)
{
    for (int i = 0; i < MOST; i++)
        if (!temporary[i]) {
            temporary[i] = path;
            return;
        }
}

void temporary_ends(const char *path)
{
    for (int i = 0; i < MOST; i++)
        if (temporary[i] == path)
            temporary[i] = NULL;
}

/* As number i. `output`: where it writes, or -1: where gbmc does. */
static int start_program(int i, char *const *argv, int output)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t all, before;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&actions);
    if (output >= 0) {
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    }
    /* in a group of its own: what it starts is ended with it */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* until its number is known */
    posix_spawnattr_setsigmask(&attributes, &before);
    int failed =
        posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
    if (!failed)
        children[i] = pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static int await_program(int i)
{
    int status = 0;
    while (waitpid(children[i], &status, 0) < 0 && errno == EINTR)
        ;
    children[i] = 0;
    return status;
}

static void print_file(int file)
{
    char bytes[4096];
    ssize_t n;
    lseek(file, 0, SEEK_SET);
    while ((n = read(file, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)n, stderr);
}

static bool went_well(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What programs said that ran side by side: of the first that failed, as others
 * may have said the same; of all if none did. */
static void print_said(const int *said, int n, const int *status)
{
    int first = 0;
    while (first < n && went_well(status[first]))
        first++;
    for (int i = 0; i < n; i++)
        if (said[i] >= 0 && (first == n || i == first))
            print_file(said[i]);
}

int run_programs(char *const *const *argv, int n, int *status)
{
    int failed = 0, started = 0, said[MOST];
    assert(n <= MOST);
    for (int i = 0; i < n; i++)
        said[i] = n > 1 ? memfd_create("said", MFD_CLOEXEC) : -1;
    while (started < n && !failed) {
        failed = start_program(started, argv[started], said[started]);
        started += !failed;
    }
    for (int i = 0; failed && i < started; i++)
        kill(-children[i], SIGTERM);
    for (int i = 0; i < started; i++)
        status[i] = await_program(i);
    if (!failed)
        print_said(said, n, status);
    for (int i = 0; i < n; i++)
        if (said[i] >= 0)
            close(said[i]);
    return failed;
}

int run_program(char *const *argv, int *status)
{
    return run_programs(&argv, 1, status);
}

bool program_output(char *const *argv, struct text *out)
{
    int ends[2];
    char bytes[4096];
    ssize_t n;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    int failed = start_program(0, argv, ends[1]);
    close(ends[1]);
    while (!failed && ((n = read(ends[0], bytes, sizeof bytes)) > 0 ||
                       (n < 0 && errno == EINTR)))
        if (n > 0)
            text_append_n(out, bytes, (size_t)n);
    close(ends[0]);
    if (failed)
        return false;
    return went_well(await_program(0));
}
