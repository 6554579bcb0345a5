/* apart.c: work of libraries that break down (on a damaged file, on a disk that
 * is full, then in their exit handlers) in a process of its own. */
#include "io/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void do_and_leave(rt_work *work, void *context, char *error)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    if (!freopen("/dev/null", "w", stderr)) /* HDF5 tells its stack */
        fclose(stderr);
    _exit((int)work(context, error));
}

enum gbm_status rt_apart(rt_work *work, void *context, const char *broken,
                         char error[GBM_ERROR])
{
    int status = 0;
    char *message = mmap(NULL, GBM_ERROR, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = message == MAP_FAILED ? -1 : fork();

    if (pid == 0)
        do_and_leave(work, context, message);
    if (pid < 0) {
        snprintf(error, GBM_ERROR, "no other process: %s", strerror(errno));
        if (message != MAP_FAILED)
            munmap(message, GBM_ERROR);
        return GBM_FAILURE;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    message[GBM_ERROR - 1] = '\0';
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) <= GBM_FAILURE;
    enum gbm_status s =
        ended ? (enum gbm_status)WEXITSTATUS(status) : GBM_FAILURE;
    if (s != GBM_OK)
        snprintf(error, GBM_ERROR, "%s", ended ? message : broken);
    munmap(message, GBM_ERROR);
    return s;
}
