/* link.c: runs the C compiler on the generated file and links the sampler.
 * Everything is made under temporary names; the sampler appears whole or not
 * at all. */
#include "gbmc.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct span nowhere = {0};

static bool exists(const char *path) { return access(path, R_OK) == 0; }

/* The folder of this program. */
static const char *own_folder(struct compiler *c)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return ".";
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    return intern(c, path);
}

/* The folder of libgbm.a and link_flags: beside gbmc in the build folder, or
 * ../lib of where it is installed. */
static const char *library_folder(struct compiler *c)
{
    const char *here = own_folder(c);
    const char *places[] = {here, intern_format(c, "%s/../lib", here)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (exists(intern_format(c, "%s/libgbm.a", places[i])) &&
            exists(intern_format(c, "%s/link_flags", places[i])))
            return places[i];
    error_at(c, nowhere,
             "libgbm.a and link_flags are not beside gbmc (%s); build it with "
             "ninja",
             here);
    return NULL;
}

static const char *runtime_headers(struct compiler *c)
{
    const char *places[] = {
        intern_format(c, "%s/../runtime", c->stdlib),
        intern_format(c, "%s/../../../include/gbm", c->stdlib),
        intern_format(c, "%s/../../include/gbm", c->stdlib)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (exists(intern_format(c, "%s/model.h", places[i])))
            return places[i];
    error_at(c, nowhere, "the header model.h is not found near %s", c->stdlib);
    return NULL;
}

static char *read_words(struct compiler *c, const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NEW_ARRAY(c, char, 4096);
    if (!f)
        return line;
    if (!fgets(line, 4096, f))
        line[0] = 0;
    fclose(f);
    return line;
}

static void split_words(char *text, char **argv, int *n, int capacity)
{
    for (char *word = strtok(text, " \n\t"); word && *n < capacity - 1;
         word = strtok(NULL, " \n\t"))
        argv[(*n)++] = word;
}

static int run_compiler(struct compiler *c, char **argv)
{
    int status = 0, failed = run_program(argv, &status);
    if (failed) {
        error_at(c, nowhere,
                 "no C compiler: %s: %s; install one (gcc or clang) or name "
                 "it in the variable CC",
                 argv[0], strerror(failed));
        return 2;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    error_at(c, nowhere, "the C compiler failed on the generated program");
    return 2;
}

/* Hundreds of statements make a program that the C compiler would take minutes
 * over, for models that are sampled in seconds. */
static const char *level_for(size_t length)
{
    return length < 1000000 ? "3" : length < 5000000 ? "1" : "0";
}

int link_sampler(struct compiler *c, const char *program)
{
    const char *output = path_argument(c, c->options.output);
    const char *libraries = library_folder(c);
    const char *headers = runtime_headers(c);
    if (!libraries || !headers)
        return 2;
    const char *temporary =
        intern_format(c, "%s.%ld.tmp", output, (long)getpid());
    const char *source = c->options.save_temps
                             ? intern_format(c, "%s.c", output)
                             : intern_format(c, "%s.c", temporary);
    if (!file_write(c, source, program, strlen(program)))
        return file_status(errno);
    const char *cc = getenv("CC");
    char *argv[128];
    int n = 0;
    char *command = NEW_ARRAY(c, char, 1024);
    snprintf(command, 1024, "%s", cc && *cc ? cc : "cc");
    split_words(command, argv, &n, 32);
    const char *level =
        c->options.optimise ? c->options.optimise : level_for(strlen(program));
    const char *fixed[] = {"-std=gnu11",
                           intern_format(c, "-O%s", level),
                           "-g1",
                           "-fno-math-errno",
                           "-fno-trapping-math",
                           "-w",
                           "-fopenmp",
                           "-I",
                           headers,
                           "-I",
                           path_join(c, c->stdlib, "kernels"),
                           "-o",
                           temporary,
                           source,
                           intern_format(c, "%s/libgbm.a", libraries)};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        argv[n++] = (char *)(uintptr_t)fixed[i]; /* execv's old prototype */
    if (!c->options.cpu || strcmp(c->options.cpu, "native") == 0)
        argv[n++] = (char *)(uintptr_t) "-march=native";
    split_words(read_words(c, intern_format(c, "%s/link_flags", libraries)),
                argv, &n, 116);
    /* not -Wl: a comma in the folder's name would end it */
    const char *search[] = {"-Xlinker", "-rpath", "-Xlinker", libraries};
    for (size_t i = 0; i < sizeof search / sizeof *search; i++)
        argv[n++] = (char *)(uintptr_t)search[i];
    argv[n] = NULL;
    temporary_begins(temporary);
    if (!c->options.save_temps)
        temporary_begins(source);
    int status = run_compiler(c, argv);
    if (!c->options.save_temps)
        unlink(source);
    if (status == 0 && rename(temporary, output) != 0) {
        error_at(c, nowhere, "cannot write %s: %s", output, strerror(errno));
        status = 1;
    }
    if (status)
        unlink(temporary);
    temporary_ends(source);
    temporary_ends(temporary);
    return status;
}
