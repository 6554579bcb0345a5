/* variant.c: what a method needs and the program has not. The sampler has gbmc
 * compile it again with that in it, as it was compiled itself, and goes on as
 * that program. So a sampler for plain sweeps carries nothing for other
 * methods, and takes no longer to compile. */
#include "run/method.h"
#include "base/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {"powers", "gradients"};
enum { NNAMES = sizeof names / sizeof names[0] };

static void list_names(unsigned with, char *out, size_t capacity)
{
    size_t n = 0;
    out[0] = '\0';
    for (int k = 0; k < NNAMES; k++)
        if (with >> k & 1 && n < capacity)
            n += (size_t)snprintf(out + n, capacity - n, "%s%s", n ? "," : "",
                                  names[k]);
}

/* ---- the command ---- */

/* A word as a shell reads it. */
static void add_quoted(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+./,:%@";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

/* What a person may run instead; the caller frees it. */
static char *command_text(const struct rt *rt, const struct rt_origin *o,
                          const char *with)
{
    char *text = NULL, self[4096] = "";
    ssize_t n_self = readlink("/proc/self/exe", self, sizeof self - 1);
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return NULL;
    fputs("cd ", out);
    add_quoted(out, o->folder);
    fputs(" && ", out);
    add_quoted(out, o->compiler);
    fprintf(out, " --with=%s -o ", with);
    add_quoted(out, n_self > 0 ? self : rt->options.program);
    for (int i = 0; i < o->narguments; i++) {
        fputc(' ', out);
        add_quoted(out, o->arguments[i]);
    }
    return fclose(out) == 0 ? text : NULL;
}

/* Fails, as `what` tells, with the command. */
static enum gbm_status refuse(struct rt *rt, const struct rt_origin *o,
                              const char *with, const char *what,
                              const char *of)
{
    char *text = command_text(rt, o, with);
    rt_fail(rt, GBM_USER_ERROR,
            "--method %s needs a sampler with %s, and %s%s; compile it: %s",
            rt->options.method->name, with, of, what, text ? text : "");
    free(text);
    return rt->status;
}

static enum gbm_status check_origin(struct rt *rt, const struct rt_origin *o,
                                    const char *with)
{
    struct rt_key key;
    if (access(o->compiler, X_OK) != 0)
        return refuse(rt, o, with, " is not there any more", o->compiler);
    if (access(o->folder, X_OK) != 0)
        return refuse(rt, o, with, " is not there any more", o->folder);
    for (int i = 0; i < o->nfiles; i++) {
        const char *path = o->files[i].path;
        if (!rt_origin_file_key(path, &key))
            return refuse(rt, o, with, " cannot be read any more", path);
        if (memcmp(&key, &o->files[i].key, sizeof key) != 0)
            return refuse(rt, o, with,
                          " has changed since this sampler was compiled", path);
    }
    return GBM_OK;
}

/* ---- running it ---- */

/* A signal handler can reach nothing but globals. */
static volatile pid_t child;

static void pass_on(int number)
{
    if (child > 0)
        kill(child, number);
}

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { NCAUGHT = sizeof caught / sizeof caught[0] };

static char **arguments_of(const struct rt_origin *o, char *with, char *path)
{
    char **words = calloc((size_t)o->narguments + 5, sizeof *words);
    int n = 0;
    if (!words)
        return NULL;
    words[n++] = (char *)(uintptr_t)o->compiler; /* execv's old prototype */
    words[n++] = with;
    words[n++] = "-o";
    words[n++] = path;
    for (int i = 0; i < o->narguments; i++)
        words[n++] = (char *)(uintptr_t)o->arguments[i];
    return words;
}

static void become(const struct rt_origin *o, char **words)
{
    for (int i = 0; i < NCAUGHT; i++)
        signal(caught[i], SIG_DFL);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what is printed is the run's */
    if (chdir(o->folder) == 0)
        execv(o->compiler, words);
    fprintf(stderr, "failed: %s: %s\n", o->compiler, strerror(errno));
    _exit(2);
}

/* Its wait status; a signal to this process goes to gbmc, which then ends. */
static int run_compiler(const struct rt_origin *o, char **words)
{
    struct sigaction action = {.sa_handler = pass_on}, before[NCAUGHT];
    int status = -1;
    fflush(NULL);
    for (int i = 0; i < NCAUGHT; i++)
        sigaction(caught[i], &action, &before[i]);
    child = fork();
    if (child == 0)
        become(o, words);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    for (int i = 0; i < NCAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
    return status;
}

static enum gbm_status compile_failed(struct rt *rt, int status)
{
    if (status != -1 && WIFSIGNALED(status)) {
        raise(WTERMSIG(status)); /* as if it had come here alone */
        return rt_fail(rt, GBM_FAILURE, "gbmc was ended by signal %d",
                       WTERMSIG(status));
    }
    bool user = status != -1 && WEXITSTATUS(status) == 1;
    return rt_fail(rt, user ? GBM_USER_ERROR : GBM_FAILURE,
                   "--method %s needs a sampler compiled otherwise, and gbmc "
                   "did not make it: see above",
                   rt->options.method->name);
}

/* Compiles it into a file that is gone by its name, and leaves that open in
 * *made. */
static enum gbm_status compile(struct rt *rt, const struct rt_origin *o,
                               const char *with, int *made)
{
    const char *place = getenv("TMPDIR");
    char folder[4000], path[4096], word[128];
    snprintf(folder, sizeof folder, "%s/gbm.XXXXXX",
             place && *place ? place : "/tmp");
    if (!mkdtemp(folder))
        return rt_fail(rt, GBM_FAILURE, "cannot make a folder %s: %s", folder,
                       strerror(errno));
    snprintf(path, sizeof path, "%s/sampler", folder);
    snprintf(word, sizeof word, "--with=%s", with);
    char **words = arguments_of(o, word, path);
    int status = words ? run_compiler(o, words) : -1;
    free(words);
    *made = status == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    unlink(path);
    rmdir(folder);
    if (status != 0)
        return compile_failed(rt, status);
    return *made >= 0 ? GBM_OK
                      : rt_fail(rt, GBM_FAILURE, "cannot read %s: %s", path,
                                strerror(errno));
}

enum gbm_status rt_variant(struct rt *rt, char **argv)
{
    const struct rt_method *m = rt->options.method;
    struct rt_origin o;
    char with[64];
    int made = -1;
    if (!(m->with & ~rt->model->with))
        return GBM_OK;
    list_names(m->with | rt->model->with, with, sizeof with);
    if (!rt_origin_read("/proc/self/exe", &o))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--method %s needs a sampler with %s, and this one does "
                       "not know how it was compiled; compile it: gbmc "
                       "--with=%s %s -o %s",
                       m->name, with, with, rt->model->source,
                       rt->options.program);
    enum gbm_status s = check_origin(rt, &o, with);
    if (s == GBM_OK && !rt->options.quiet)
        fprintf(stderr,
                "note: --method %s needs a sampler with %s: gbmc compiles it\n",
                m->name, with);
    if (s == GBM_OK)
        s = compile(rt, &o, with, &made);
    rt_origin_free(&o);
    if (s != GBM_OK)
        return s;
    fexecve(made, argv, environ);
    return rt_fail(
        rt, GBM_FAILURE, "cannot run the sampler that gbmc made in %s: %s",
        getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(errno));
}
