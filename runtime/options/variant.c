/* variant.c: what a method needs and the program has not. The sampler has gbmc
 * compile it again with that in it, as it was compiled itself, and goes on as
 * that program. So a sampler for plain sweeps carries nothing for other
 * methods, and takes no longer to compile. */
#include "options/method.h"
#include "base/origin.h"
#include "base/program.h"
#include "load/load.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {"powers", "gradients", "expectation"};
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

/* What gbmc is asked for. */
struct request {
    struct rt *rt;
    struct rt_origin origin;
    char with[64];
    const char
        *temper; /* whose data have powers; NULL: all that are expected */
    const char *sequence; /* by what data enter; NULL: all at once */
};

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
static char *command_text(const struct request *q)
{
    const struct rt_origin *o = &q->origin;
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
    fprintf(out, " --with=%s ", q->with);
    if (q->temper) {
        fputs("--temper ", out);
        add_quoted(out, q->temper);
        fputc(' ', out);
    }
    if (q->sequence) {
        fputs("--sequence ", out);
        add_quoted(out, q->sequence);
        fputc(' ', out);
    }
    fputs("-o ", out);
    add_quoted(out, n_self > 0 ? self : q->rt->options.program);
    for (int i = 0; i < o->narguments; i++) {
        fputc(' ', out);
        add_quoted(out, o->arguments[i]);
    }
    return fclose(out) == 0 ? text : NULL;
}

/* Fails, as `what` tells, with the command. */
static enum gbm_status refuse(const struct request *q, const char *what,
                              const char *of)
{
    char *text = command_text(q);
    rt_fail(q->rt, GBM_USER_ERROR,
            "this needs a sampler compiled with %s, and %s%s; to compile it: "
            "%s",
            q->with, of, what, text ? text : "");
    free(text);
    return q->rt->status;
}

static enum gbm_status check_origin(const struct request *q)
{
    const struct rt_origin *o = &q->origin;
    struct rt_key key;
    if (access(o->compiler, X_OK) != 0)
        return refuse(q, " is not there any more", o->compiler);
    if (access(o->folder, X_OK) != 0)
        return refuse(q, " is not there any more", o->folder);
    for (int i = 0; i < o->nfiles; i++) {
        const char *path = o->files[i].path;
        if (!rt_origin_file_key(path, &key))
            return refuse(q, " cannot be read any more", path);
        if (memcmp(&key, &o->files[i].key, sizeof key) != 0)
            return refuse(q, " has changed since this sampler was compiled",
                          path);
    }
    return GBM_OK;
}

/* ---- running it ---- */

static char **arguments_of(const struct request *q, char *with, char *path)
{
    const struct rt_origin *o = &q->origin;
    char **words = calloc((size_t)o->narguments + 9, sizeof *words);
    int n = 0;
    if (!words)
        return NULL;
    /* execv's old prototype */
    words[n++] = (char *)(uintptr_t)o->compiler;
    words[n++] = with;
    if (q->temper) {
        words[n++] = "--temper";
        words[n++] = (char *)(uintptr_t)q->temper;
    }
    if (q->sequence) {
        words[n++] = "--sequence";
        words[n++] = (char *)(uintptr_t)q->sequence;
    }
    words[n++] = "-o";
    words[n++] = path;
    for (int i = 0; i < o->narguments; i++)
        words[n++] = (char *)(uintptr_t)o->arguments[i];
    return words;
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
                   "this needs a sampler compiled otherwise, and gbmc did not "
                   "make it: see above");
}

/* Compiles it into a file that is gone by its name, and leaves that open in
 * *made. */
static enum gbm_status compile(const struct request *q, int *made)
{
    struct rt *rt = q->rt;
    struct rt_scratch scratch;
    char word[128];
    int failed = rt_scratch_make(&scratch);
    if (failed)
        return rt_fail(rt, GBM_FAILURE, "cannot make a folder %s: %s",
                       scratch.folder, strerror(failed));
    snprintf(word, sizeof word, "--with=%s", q->with);
    char **words = arguments_of(q, word, scratch.path);
    int status = words ? rt_program_run(q->origin.folder, words) : -1;
    free(words);
    *made = rt_scratch_take(&scratch, status == 0);
    if (status != 0)
        return compile_failed(rt, status);
    return *made >= 0 ? GBM_OK
                      : rt_fail(rt, GBM_FAILURE, "cannot read %s: %s",
                                scratch.path, strerror(errno));
}

static enum gbm_status become_variant(struct rt *rt, unsigned with,
                                      const char *temper)
{
    const char *sequence = rt->options.sequence;
    struct request q = {.rt = rt, .temper = temper, .sequence = sequence};
    int made = -1;
    list_names(with, q.with, sizeof q.with);
    if (!rt_origin_read("/proc/self/exe", &q.origin))
        return rt_fail(rt, GBM_USER_ERROR,
                       "this needs a sampler compiled with %s, and this one "
                       "does not know how it was compiled; to compile it: gbmc "
                       "--with=%s%s%s%s%s %s -o %s",
                       q.with, q.with, temper ? " --temper " : "",
                       temper ? temper : "", sequence ? " --sequence " : "",
                       sequence ? sequence : "", rt->model->source,
                       rt->options.program);
    enum gbm_status s = check_origin(&q);
    if (s == GBM_OK && !rt->options.quiet)
        fprintf(stderr,
                "note: this needs a sampler with %s%s%s%s%s: gbmc compiles "
                "it\n",
                q.with, temper ? " of the densities of " : "",
                temper ? temper : "", sequence ? " in the order of " : "",
                sequence ? sequence : "");
    if (s == GBM_OK)
        s = compile(&q, &made);
    rt_origin_free(&q.origin);
    if (s != GBM_OK)
        return s;
    fexecve(made, rt->options.argv, environ);
    return rt_fail(
        rt, GBM_FAILURE, "cannot run the sampler that gbmc made in %s: %s",
        getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(errno));
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

enum gbm_status rt_variant(struct rt *rt)
{
    unsigned needed = rt_options_need(&rt->options), has = rt->model->with;
    bool turns = needed & GBM_WITH_POWERS &&
                 !same_text(rt->model->sequence, rt->options.sequence);
    return needed & ~has || turns
               ? become_variant(rt, needed | has, rt->options.temper)
               : GBM_OK;
}

enum gbm_status rt_variant_of_data(struct rt *rt, const struct rt_instance *in)
{
    char list[4096];
    bool fits;
    if (!(rt_options_need(&rt->options) & GBM_WITH_POWERS) ||
        rt_fit_powers(rt, in, list, sizeof list, &fits) != GBM_OK || fits)
        return rt->status;
    return become_variant(rt, rt->model->with, list);
}
