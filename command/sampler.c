/* sampler.c: commands of a sampler, on a model: gbmc compiles it, or takes it
 * from its cache, into a file that is gone by its name; this process goes on as
 * that sampler, so what it says, its status and signals are its own. */
#include "command.h"
#include "base/program.h"
#include "options/method.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Words of two command lines. */
struct lines {
    char **compiler, **sampler;
    int ncompiler, nsampler, ndata;
    const char *model;
    bool apart; /* gbmc is told of no data, as the command draws them anew */
};

static char *word(const char *text)
{
    return (char *)(uintptr_t)text; /* execv's old prototype */
}

static void to_compiler(struct lines *l, const char *text)
{
    l->compiler[l->ncompiler++] = word(text);
}

static void to_sampler(struct lines *l, const char *text)
{
    l->sampler[l->nsampler++] = word(text);
}

static void add_data(struct lines *l, const char *file)
{
    if (!l->apart) {
        to_compiler(l, "--data");
        to_compiler(l, file);
    }
    to_sampler(l, "--data");
    to_sampler(l, file);
    l->ndata++;
}

bool is_compilers(const char *text, bool *takes_word)
{
    *takes_word = strcmp(text, "-I") == 0 || strcmp(text, "-O") == 0 ||
                  strcmp(text, "--cpu") == 0 || strcmp(text, "--prior") == 0;
    return *takes_word || strncmp(text, "-I", 2) == 0 ||
           strncmp(text, "-O", 2) == 0 || strncmp(text, "--cpu=", 6) == 0 ||
           strncmp(text, "--prior=", 8) == 0 || strcmp(text, "--no-cache") == 0;
}

/* Data are told to gbmc, too: it compiles for what they supply. */
static void share_out(struct lines *l, int argc, char **argv)
{
    bool takes_word;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' && !l->model) {
            l->model = argv[i];
        } else if (argv[i][0] != '-') {
            add_data(l, argv[i]);
        } else if (strcmp(argv[i], "--data") == 0 && argv[i + 1]) {
            add_data(l, argv[++i]);
        } else if (strncmp(argv[i], "--data=", 7) == 0) {
            add_data(l, argv[i] + 7);
        } else if (is_compilers(argv[i], &takes_word)) {
            to_compiler(l, argv[i]);
            if (takes_word && argv[i + 1])
                to_compiler(l, argv[++i]);
        } else {
            to_sampler(l, argv[i]);
            if (rt_option_takes_word(argv[i]) && argv[i + 1])
                to_sampler(l, argv[++i]);
        }
    }
}

/* The sampler's descriptor, or -1 with the exit status in *status. */
static int make(struct lines *l, int *status)
{
    struct rt_scratch scratch;
    int failed = rt_scratch_make(&scratch);

    *status = 2;
    if (failed) {
        complain("cannot make a folder %s: %s", scratch.folder,
                 strerror(failed));
        return -1;
    }
    to_compiler(l, "-o");
    to_compiler(l, scratch.path);
    to_compiler(l, "--");
    to_compiler(l, l->model);
    int ended = rt_program_run(NULL, l->compiler);
    int made = rt_scratch_take(&scratch, ended == 0);
    if (ended == 0 && made < 0)
        complain("cannot read %s: %s", scratch.path, strerror(errno));
    else if (ended != -1 && WIFSIGNALED(ended))
        raise(WTERMSIG(ended)); /* as if it had come here alone */
    else if (ended != -1 && WIFEXITED(ended))
        *status = WEXITSTATUS(ended);
    return made;
}

static int compile_and_become(struct lines *l)
{
    int status, sampler = make(l, &status);

    if (sampler < 0)
        return status;
    fflush(NULL);
    fexecve(sampler, l->sampler, environ);
    complain("cannot run the sampler that gbmc made in %s: %s",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(errno));
    return 2;
}

int check_options(int nwords, char **words)
{
    static const struct gbm_model none;
    struct rt rt = {.model = &none, .methods = rt_methods};
    int status =
        rt_options_parse(&rt, nwords, words) == GBM_OK ? 0 : rt_report(&rt);

    rt_options_free(&rt.options);
    return status;
}

int run_sampler(const struct command *c, int argc, char **argv)
{
    struct lines l = {0};
    size_t most = 4 * (size_t)argc + 8;
    int status = 2;

    l.compiler = calloc(most, sizeof *l.compiler);
    l.sampler = calloc(most, sizeof *l.sampler);
    if (!l.compiler || !l.sampler) {
        complain("no memory");
    } else {
        to_compiler(&l, compiler_path());
        to_sampler(&l, "gbm"); /* what notes tell people to run */
        to_sampler(&l, c->sampler);
        l.apart = strcmp(c->sampler, "sbc") == 0;
        share_out(&l, argc, argv);
        status = l.model ? check_options(l.nsampler, l.sampler)
                         : complain("%s: which model? gbm %s %s", c->name,
                                    c->name, c->usage);
        if (status == 0)
            status = compile_and_become(&l);
    }
    free(l.compiler);
    free(l.sampler);
    return status;
}
