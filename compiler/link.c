/* link.c: runs the C compiler on the generated file and links the sampler, or
 * takes one that was made of the same before. Everything is made under
 * temporary names; the sampler appears whole or not at all. What programs have
 * in common (stdlib/kernels/linked.c) is compiled once for this CPU, when gbm
 * is built. */
#include "gbmc.h"
#include "base/cache.h"
#include <dirent.h>
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
 * ../lib/gbm of where it is installed. */
static const char *library_folder(struct compiler *c)
{
    const char *here = own_folder(c);
    const char *places[] = {here, intern_format(c, "%s/../lib/gbm", here)};
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

/* Hundreds of statements make a program that the C compiler would take minutes
 * over, for models that are sampled in seconds. */
static const char *level_for(size_t length)
{
    return length < 560000 ? "3" : length < 4560000 ? "1" : "0";
}

/* Part 0, on which no draw depends, is not worth much of the compiler's time.
 */
static const char *level_of(const struct compiler *c, size_t length, int part)
{
    const char *level =
        c->options.optimise ? c->options.optimise : level_for(length);
    return part == 0 && strchr("23", level[0]) ? "g" : level;
}

enum { NPARTS = 1 + STEP_PARTS };

/* What a program is compiled and linked with. */
struct making {
    size_t length; /* of the program */
    const char *headers, *libraries;
    const char *common; /* compiled before, or NULL */
};

/* A command and its arguments. */
struct command {
    char *argv[128];
    int n;
};

static void add(struct command *k, const char *word)
{
    k->argv[k->n++] = (char *)(uintptr_t)word; /* execv's old prototype */
    k->argv[k->n] = NULL;
}

static void add_all(struct command *k, char *text)
{
    split_words(text, k->argv, &k->n, 116);
    k->argv[k->n] = NULL;
}

static void add_driver(struct compiler *c, struct command *k)
{
    const char *cc = getenv("CC");
    char *words = NEW_ARRAY(c, char, 1024);
    snprintf(words, 1024, "%s", cc && *cc ? cc : "cc");
    split_words(words, k->argv, &k->n, 32);
}

/* The compiler, and what bears on what it makes of a text beside headers. */
static void add_compiler(struct compiler *c, struct command *k,
                         const char *level)
{
    /* What -O1 and -Og leave out: with -fexpensive-optimizations the upper
     * halves of vector registers are cleared before calls; else Intel's run the
     * SSE code of libm ten times slower. */
    const char *fixed[] = {"-std=gnu11",
                           intern_format(c, "-O%s", level),
                           c->options.save_temps ? "-g1" : "-g0",
                           "-fno-math-errno",
                           "-fno-trapping-math",
                           "-fexpensive-optimizations",
                           "-w",
                           "-fopenmp"};
    add_driver(c, k);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        add(k, fixed[i]);
    if (!c->options.cpu || strcmp(c->options.cpu, "native") == 0)
        add(k, "-march=native");
}

static void add_folders(struct compiler *c, struct command *k,
                        const char *headers)
{
    add(k, "-I");
    add(k, headers);
    add(k, "-I");
    add(k, path_join(c, c->stdlib, "kernels"));
}

static void add_part(struct compiler *c, struct command *k,
                     const struct making *m, int part)
{
    add_compiler(c, k, level_of(c, m->length, part));
    add_folders(c, k, m->headers);
    add(k, intern_format(c, "-DGBM_PART=%d", part));
    if (m->common)
        add(k, "-DGBM_COMPILED");
}

/* The first folder on PATH that has a program; NULL: none. */
static const char *folder_of(struct compiler *c, const char *program)
{
    const char *path = getenv("PATH");
    for (size_t n; path && *path; path += n + (path[n] == ':')) {
        n = strcspn(path, ":");
        const char *folder = intern_format(c, "%.*s", (int)n, path);
        if (access(path_join(c, folder, program), X_OK) == 0)
            return folder;
    }
    return NULL;
}

/* The usual linker spends most of its time on the names in OpenBLAS; these take
 * a third. They must stand beside the compiler, so be made for the same system;
 * who names another compiler gets that one's linker. NULL: there is none. */
static const char *quick_linker(struct compiler *c)
{
    static const char *const linkers[] = {"gold", "lld"};
    const char *cc = getenv("CC");
    const char *folder = cc && *cc ? NULL : folder_of(c, "cc");
    for (size_t i = 0; folder && i < sizeof linkers / sizeof *linkers; i++) {
        const char *name = intern_format(c, "ld.%s", linkers[i]);
        if (access(path_join(c, folder, name), X_OK) == 0)
            return linkers[i];
    }
    return NULL;
}

/* What it is linked with. */
static void add_libraries(struct compiler *c, struct command *k,
                          const char *libraries)
{
    /* not -Wl: a comma in the folder's name would end it */
    const char *search[] = {"-Xlinker", "-rpath", "-Xlinker", libraries};
    const char *linker = quick_linker(c);
    if (linker)
        add(k, intern_format(c, "-fuse-ld=%s", linker));
    /* what debuggers read is most of libgbm.a: half of the time of linking */
    if (!c->options.save_temps)
        add(k, "-Wl,--strip-debug");
    add(k, intern_format(c, "%s/libgbm.a", libraries));
    add_all(k, read_words(c, intern_format(c, "%s/link_flags", libraries)));
    for (size_t i = 0; i < sizeof search / sizeof *search; i++)
        add(k, search[i]);
}

/* NULL if it cannot be read. */
static char *file_bytes(struct compiler *c, const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    struct stat s;
    if (!f)
        return NULL;
    *n = fstat(fileno(f), &s) == 0 ? (size_t)s.st_size : 0;
    char *bytes = NEW_ARRAY(c, char, *n + 1);
    bool whole = fread(bytes, 1, *n, f) == *n;
    fclose(f);
    return whole ? bytes : NULL;
}

static bool add_file(struct compiler *c, struct rt_key *key, const char *path)
{
    size_t n;
    const char *bytes = file_bytes(c, path, &n);
    if (bytes)
        rt_key_add(key, bytes, n);
    return bytes != NULL;
}

static int is_header(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 2 && strcmp(d->d_name + n - 2, ".h") == 0;
}

static bool add_headers(struct compiler *c, struct rt_key *key,
                        const char *folder)
{
    struct dirent **files;
    int n = scandir(folder, &files, is_header, alphasort);
    bool whole = n >= 0;
    for (int i = 0; i < n; i++) {
        rt_key_add_text(key, files[i]->d_name);
        whole =
            add_file(c, key, path_join(c, folder, files[i]->d_name)) && whole;
        free(files[i]);
    }
    if (n >= 0)
        free(files);
    return whole;
}

/* What the compiler says that it would do tells its version, and what it takes
 * for this CPU. */
static bool add_environment(struct rt_key *key, struct command compiler)
{
    static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH",
                                            "LIBRARY_PATH"};
    static const char *const dry[] = {"-###", "-E", "-x", "c", "/dev/null"};
    struct text said = {0};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        rt_key_add_text(key, value ? value : "");
    }
    for (size_t i = 0; i < sizeof dry / sizeof *dry; i++)
        add(&compiler, dry[i]);
    bool told = program_output(compiler.argv, &said) && said.length;
    if (told)
        rt_key_add(key, said.data, said.length);
    text_free(&said);
    return told;
}

/* Whatever package of libraries or of their headers comes or goes rewrites
 * ld.so.cache. */
static void add_packages(struct rt_key *key)
{
    struct stat s;
    if (stat("/etc/ld.so.cache", &s) == 0) {
        rt_key_add(key, &s.st_mtim, sizeof s.st_mtim);
        rt_key_add(key, &s.st_size, sizeof s.st_size);
    }
}

static void add_key(struct rt_key *key, const struct command *k)
{
    for (int i = 0; i < k->n; i++)
        rt_key_add_text(key, k->argv[i]);
}

/* All that a sampler depends on. False: it cannot be told. */
static bool sampler_key(struct compiler *c, struct rt_key *key,
                        const char *program, const struct making *m)
{
    struct command k = {0};
    *key = RT_KEY_EMPTY;
    rt_key_add_text(key, GBM_VERSION);
    rt_key_add_text(key, program);
    for (int part = 0; part < NPARTS; part++) {
        k.n = 0;
        add_part(c, &k, m, part);
        add_key(key, &k);
    }
    if (!add_environment(key, k))
        return false;
    add_packages(key);
    add_libraries(c, &k, m->libraries);
    add_key(key, &k);
    return add_headers(c, key, path_join(c, c->stdlib, "kernels")) &&
           (!m->common || add_file(c, key, m->common)) &&
           add_file(c, key, intern_format(c, "%s/model.h", m->headers)) &&
           add_file(c, key, intern_format(c, "%s/libgbm.a", m->libraries));
}

static const char *common_source(struct compiler *c)
{
    return path_join(c, c->stdlib, "kernels/linked.c");
}

/* All that the common functions depend on, but for the folders where it lies.
 * False: it cannot be told. */
static bool common_key(struct compiler *c, struct rt_key *key,
                       const char *headers)
{
    struct command k = {0};
    *key = RT_KEY_EMPTY;
    rt_key_add_text(key, GBM_VERSION);
    add_compiler(c, &k, "3");
    add_key(key, &k);
    return add_environment(key, k) &&
           add_headers(c, key, path_join(c, c->stdlib, "kernels")) &&
           add_file(c, key, common_source(c)) &&
           add_file(c, key, intern_format(c, "%s/model.h", headers));
}

static const char *common_object(struct compiler *c, const char *libraries)
{
    return intern_format(c, "%s/common.o", libraries);
}

static const char *common_told(struct compiler *c, const char *libraries)
{
    return intern_format(c, "%s/common.key", libraries);
}

/* The common functions as they would be compiled with this program, or NULL. */
static const char *find_common(struct compiler *c, const struct making *m)
{
    const char *object = common_object(c, m->libraries);
    struct rt_key key;
    size_t n = 0;
    if (c->options.save_temps || strcmp(level_of(c, m->length, 1), "3") ||
        !exists(object) || !common_key(c, &key, m->headers))
        return NULL;
    const char *told = file_bytes(c, common_told(c, m->libraries), &n);
    return told && n == sizeof key && !memcmp(told, &key, n) ? object : NULL;
}

static int write_sampler(struct compiler *c, const char *path,
                         const char *bytes, size_t n)
{
    mode_t others = umask(0);
    umask(others);
    return file_write(c, path, bytes, n) && chmod(path, 0777 & ~others) == 0
               ? 0
               : file_status(errno);
}

/* Runs compilers side by side. */
static int run_compilers(struct compiler *c, const struct command *k, int n)
{
    char *const *argv[NPARTS];
    int status[NPARTS];
    for (int i = 0; i < n; i++)
        argv[i] = k[i].argv;
    int failed = run_programs(argv, n, status);
    if (failed) {
        error_at(c, nowhere,
                 "no C compiler: %s: %s; install one (gcc or clang) or name "
                 "it in the variable CC",
                 argv[0][0], strerror(failed));
        return 2;
    }
    for (int i = 0; i < n; i++)
        if (!WIFEXITED(status[i]) || WEXITSTATUS(status[i]) != 0) {
            error_at(c, nowhere,
                     "the C compiler failed on the generated program");
            return 2;
        }
    return 0;
}

/* Compiles the parts of the program, and links them. */
static int compile_parts(struct compiler *c, const char *source, const char *to,
                         const struct making *m)
{
    struct command parts[NPARTS] = {0}, link = {0};
    const char *objects[NPARTS];
    add_driver(c, &link);
    add(&link, "-o");
    add(&link, to);
    for (int part = 0; part < NPARTS; part++) {
        objects[part] = intern_format(c, "%s.%d.o", to, part);
        temporary_begins(objects[part]);
        add_part(c, &parts[part], m, part);
        add(&parts[part], "-c");
        add(&parts[part], "-o");
        add(&parts[part], objects[part]);
        add(&parts[part], source);
        add(&link, objects[part]);
    }
    if (m->common)
        add(&link, m->common);
    add_libraries(c, &link, m->libraries);
    int status = run_compilers(c, parts, NPARTS);
    if (status == 0)
        status = run_compilers(c, &link, 1);
    for (int part = 0; part < NPARTS; part++) {
        unlink(objects[part]);
        temporary_ends(objects[part]);
    }
    return status;
}

int link_prepare(struct compiler *c)
{
    const char *libraries = library_folder(c);
    const char *headers = runtime_headers(c);
    struct command k = {0};
    struct rt_key key;
    if (!libraries || !headers)
        return 2;
    const char *object = common_object(c, libraries);
    const char *temporary =
        intern_format(c, "%s.%ld.tmp", object, (long)getpid());
    add_compiler(c, &k, "3");
    add_folders(c, &k, headers);
    add(&k, "-c");
    add(&k, "-o");
    add(&k, temporary);
    add(&k, common_source(c));
    temporary_begins(temporary);
    int status = run_compilers(c, &k, 1);
    if (status == 0 &&
        (!common_key(c, &key, headers) || rename(temporary, object) != 0 ||
         !file_write(c, common_told(c, libraries), (const char *)&key,
                     sizeof key))) {
        error_at(c, nowhere, "cannot write %s", object);
        status = 2;
    }
    if (status)
        unlink(temporary);
    temporary_ends(temporary);
    return status;
}

static int make_sampler(struct compiler *c, const char *program,
                        const char *source, const char *to,
                        const struct making *m)
{
    if (!file_write(c, source, program, m->length))
        return file_status(errno);
    if (!c->options.save_temps)
        temporary_begins(source);
    int status = compile_parts(c, source, to, m);
    if (!c->options.save_temps) {
        unlink(source);
        temporary_ends(source);
    }
    return status;
}

static void keep_sampler(struct compiler *c, const struct rt_key *key,
                         const char *path)
{
    size_t n;
    char *bytes = file_bytes(c, path, &n);
    if (bytes && n)
        rt_cache_write(key, "sampler", bytes, n);
}

/* A device or a pipe, which gets the bytes and is not replaced by a file. */
static bool is_special(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

/* What a sampler is called while it is made: beside the file, so that it can be
 * renamed. */
static const char *temporary_name(struct compiler *c, const char *output)
{
    const char *folder = getenv("TMPDIR");
    if (is_special(output))
        output = intern_format(c, "%s/gbmc", folder ? folder : "/tmp");
    return intern_format(c, "%s.%ld.tmp", output, (long)getpid());
}

/* Said of the name that was asked for, before anything is compiled. */
static bool can_write(struct compiler *c, const char *temporary,
                      const char *output)
{
    struct stat s;
    bool folder = stat(output, &s) == 0 && S_ISDIR(s.st_mode);
    FILE *f = folder ? NULL : fopen(temporary, "wb");
    if (f && fclose(f) == 0)
        return true;
    error_at(c, nowhere, "cannot write %s: %s", output,
             strerror(folder ? EISDIR : errno));
    return false;
}

/* The sampler under its own name: an exit status. */
static int give_name(struct compiler *c, const char *temporary,
                     const char *output)
{
    if (is_special(output)) {
        size_t n = 0;
        const char *bytes = file_bytes(c, temporary, &n);
        unlink(temporary);
        FILE *f = bytes ? fopen(output, "wb") : NULL;
        bool whole = f && fwrite(bytes, 1, n, f) == n;
        if (f && fclose(f) == 0 && whole)
            return 0;
    } else if (rename(temporary, output) == 0) {
        return 0;
    }
    int reason = errno;
    error_at(c, nowhere, "cannot write %s: %s", output, strerror(reason));
    return file_status(reason);
}

int link_sampler(struct compiler *c, const char *program)
{
    const char *output = path_argument(c, c->options.output);
    struct making m = {.length = strlen(program),
                       .libraries = library_folder(c),
                       .headers = runtime_headers(c)};
    if (!m.libraries || !m.headers)
        return 2;
    m.common = find_common(c, &m);
    const char *temporary = temporary_name(c, output);
    const char *source =
        intern_format(c, "%s.c", c->options.save_temps ? output : temporary);
    struct rt_key key, after;
    size_t n = 0;
    int status;
    /* who asks for the text wants to see it compiled */
    bool keeps = !c->options.no_cache && !c->options.save_temps &&
                 rt_cache_exists() && sampler_key(c, &key, program, &m);
    char *kept = keeps ? rt_cache_read(&key, "sampler", &n) : NULL;
    temporary_begins(temporary);
    if (!can_write(c, temporary, output))
        status = 1;
    else if (kept)
        status = write_sampler(c, temporary, kept, n);
    else
        status = make_sampler(c, program, source, temporary, &m);
    /* unless a file was replaced meanwhile */
    if (status == 0 && keeps && !kept && sampler_key(c, &after, program, &m) &&
        memcmp(&key, &after, sizeof key) == 0)
        keep_sampler(c, &key, temporary);
    free(kept);
    if (status == 0 && !origin_append(c, temporary))
        status = 2;
    if (status == 0)
        status = give_name(c, temporary, output);
    if (status)
        unlink(temporary);
    temporary_ends(temporary);
    return status;
}
