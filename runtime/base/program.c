/* program.c: see program.h. */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A signal handler can reach nothing but globals. */
static volatile pid_t child;
static volatile sig_atomic_t passed;

static void pass_on(int number)
{
    passed = number;
    if (child > 0)
        kill(child, number);
}

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { NCAUGHT = sizeof caught / sizeof caught[0] };

static void become(const char *folder, char *const *words)
{
    for (int i = 0; i < NCAUGHT; i++)
        signal(caught[i], SIG_DFL);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what is printed is the run's */
    if (!folder || chdir(folder) == 0)
        execvp(words[0], words);
    fprintf(stderr, "failed: %s: %s\n", words[0], strerror(errno));
    _exit(2);
}

int rt_program_run(const char *folder, char *const *words)
{
    struct sigaction action = {.sa_handler = pass_on}, before[NCAUGHT];
    int status = -1;

    passed = 0;
    fflush(NULL);
    for (int i = 0; i < NCAUGHT; i++)
        sigaction(caught[i], &action, &before[i]);
    child = fork();
    if (child == 0)
        become(folder, words);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    for (int i = 0; i < NCAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
    return status;
}

int rt_program_signal(void) { return passed; }

int rt_scratch_make(struct rt_scratch *s)
{
    const char *place = getenv("TMPDIR");

    snprintf(s->folder, sizeof s->folder, "%s/gbm.XXXXXX",
             place && *place ? place : "/tmp");
    if (!mkdtemp(s->folder))
        return errno;
    snprintf(s->path, sizeof s->path, "%s/sampler", s->folder);
    return 0;
}

int rt_scratch_take(const struct rt_scratch *s, int want)
{
    int made = want ? open(s->path, O_RDONLY | O_CLOEXEC) : -1;
    int failed = errno;

    unlink(s->path);
    rmdir(s->folder);
    errno = failed;
    return made;
}
