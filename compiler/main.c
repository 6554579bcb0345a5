/* main.c: options, and the list of passes. Exit status 0 if all went well, 1
 * for an error of the user's, 2 for a failure on the way. */
#include "gbmc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What --emit may name. */
static const struct {
    const char *name, *help;
} emits[] = {
    {"ast", "the model as the parser understood it"},
    {"dag", "variables, plates and relations"},
    {"conditionals", "the full conditional of every latent variable"},
    {"plan", "steps, samplers, buffers"},
    {"sweep", "steps, what each waits for, and their phases"},
    {"slots", "the arrays that are kept in memory, and what for"},
    {"c", "the C program"},
    {"cuda", "the CUDA program"},
};
enum { NEMITS = sizeof emits / sizeof emits[0] };

enum option {
    OPT_OUTPUT,
    OPT_EXPLAIN,
    OPT_DAG,
    OPT_EMIT,
    OPT_DATA,
    OPT_PRIOR,
    OPT_LIST,
    OPT_ARCH,
    OPT_INCLUDE,
    OPT_OPTIMISE,
    OPT_CPU,
    OPT_WITH,
    OPT_TEMPER,
    OPT_SEQUENCE,
    OPT_SAVE_TEMPS,
    OPT_NO_CACHE,
    OPT_PREPARE,
    OPT_LSP,
    OPT_VERSION,
    OPT_HELP
};

/* The command line. --help prints this table in its order. */
static const struct option_spec {
    enum option option;
    const char *name;
    const char *argument; /* NULL: takes none */
    const char *help;
} specs[] = {
    {OPT_OUTPUT, "-o", "FILE",
     "the sampler to write (default: the model's name)"},
    {OPT_EXPLAIN, "--explain", NULL,
     "print how each variable is sampled, and why"},
    {OPT_DAG, "--dag", "FILE", "draw the graph with its plates (.svg or .dot)"},
    {OPT_EMIT, "--emit", "PASS",
     "print what a pass makes of the model; PASS is"},
    {OPT_DATA, "--data", "FILE",
     "compile for what this file supplies; or name it behind the model"},
    {OPT_PRIOR, "--prior", "TEXT",
     "another distribution than the model's: 'tau ~ dgamma(3, 3)'"},
    {OPT_LIST, "--list", NULL, "list all distributions and functions"},
    {OPT_ARCH, "--arch", "sm_90",
     "compile the GPU's code, too, for this architecture (needs NVRTC, no "
     "GPU)"},
    {OPT_INCLUDE, "-I", "DIR", "look here for imported files"},
    {OPT_OPTIMISE, "-O", "LEVEL",
     "optimisation of the C compiler (default: 3, less for long programs)"},
    {OPT_CPU, "--cpu", "native",
     "run on CPUs like this one (default), or portable: on any"},
    {OPT_WITH, "--with", "LIST",
     "what methods of the sampler need beside the sweep: powers, gradients, "
     "expectation"},
    {OPT_TEMPER, "--temper", "LIST",
     "the variables whose data have powers (default: all data expected)"},
    {OPT_SEQUENCE, "--sequence", "I",
     "powers by turn: data enter by loop variable I, or as array I's rows"},
    {OPT_SAVE_TEMPS, "--save-temps", NULL,
     "keep the C program beside the sampler"},
    {OPT_NO_CACHE, "--no-cache", NULL,
     "compile, even what was compiled before"},
    {OPT_PREPARE, "--prepare", NULL,
     "compile for this CPU what samplers have in common, beside libgbm.a"},
    {OPT_LSP, "--lsp", NULL,
     "serve an editor: the Language Server Protocol on stdin and stdout"},
    {OPT_VERSION, "--version", NULL, "print the version"},
    {OPT_HELP, "--help", "NAME",
     "print this, or what the library says about NAME"},
};
enum { NSPECS = sizeof specs / sizeof specs[0] };

static const char *const extensions[] = {".gbm", ".bug", ".bugs", ".jags",
                                         ".txt"};

static const struct span nowhere = {0};

/* ---- Help --------------------------------------------------------------- */

static void print_help(void)
{
    puts("usage: gbmc [options] model.gbm [data.json ...] -o sampler\n\n"
         "Compiles a Bayesian model (BUGS, JAGS or gbm text: .gbm .bug .bugs "
         ".jags .txt)\ninto a program that draws from its posterior.\n");
    for (int i = 0; i < NSPECS; i++) {
        const struct option_spec *s = &specs[i];
        char usage[40];
        snprintf(usage, sizeof usage, "%s%s%s", s->name,
                 !s->argument            ? ""
                 : s->option == OPT_HELP ? " "
                 : s->name[1] == '-'     ? "="
                                         : " ",
                 !s->argument            ? ""
                 : s->option == OPT_HELP ? "[NAME]"
                                         : s->argument);
        printf("  %-15s %s\n", usage, s->help);
        for (int k = 0; s->option == OPT_EMIT && k < NEMITS; k++)
            printf("  %-15s   %-13s %s\n", "", emits[k].name, emits[k].help);
    }
    puts("\nThen: ./sampler --data data.json --chains 4 --out fit.nc; see "
         "./sampler --help.");
}

static int help_about(struct compiler *c, const char *name)
{
    const struct entry *const *all;
    const char *interned = intern(c, name), *near;
    const char **names;
    int n, found = 0;

    for (int kind = ENTRY_DISTRIBUTION; kind <= ENTRY_AUGMENTATION; kind++) {
        const struct entry *e =
            library_find(c, (enum entry_kind)kind, interned);
        if (e) {
            struct text t = {0};
            entry_describe(&t, e);
            printf("%s%s", found++ ? "\n" : "", t.data);
            text_free(&t);
        }
    }
    if (found)
        return 0;
    n = library_all(c, &all);
    names = NEW_ARRAY(c, const char *, n);
    for (int i = 0; i < n; i++)
        names[i] = all[i]->name;
    near = text_nearest_name(name, names, n);
    error_at(c, nowhere, "the library has no '%s'%s%s%s", name,
             near ? "; did you mean '" : "; gbmc --list prints all it has",
             near ? near : "", near ? "'?" : "");
    return 1;
}

/* The part of a file's name from its last dot, "" if there is none. */
static const char *extension_of(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

    return dot && dot != path && (!slash || dot > slash + 1) ? dot : "";
}

static bool has_model_extension(const char *path)
{
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
        if (strcmp(extension_of(path), extensions[i]) == 0)
            return true;
    return false;
}

/* ---- Options ------------------------------------------------------------ */

/* The option that a word names, with the argument glued to it (--emit=ast,
 * -O2), if any, in *glued. NULL: there is none. */
static const struct option_spec *find_option(const char *word,
                                             const char **glued)
{
    for (int i = 0; i < NSPECS; i++) {
        const struct option_spec *s = &specs[i];
        size_t n = strlen(s->name);
        bool is_long = s->name[1] == '-';
        if (strncmp(word, s->name, n) != 0)
            continue;
        *glued = word[n] == '\0' ? NULL : word + n + (is_long ? 1 : 0);
        if (word[n] == '\0' || (is_long ? word[n] == '=' : true))
            return s;
    }
    if (strcmp(word, "-h") == 0) {
        *glued = NULL;
        return &specs[NSPECS - 1];
    }
    return NULL;
}

static bool unknown_option(struct compiler *c, const char *word)
{
    const char *names[NSPECS], *near;
    const char *name = intern_n(c, word, strcspn(word, "="));

    for (int i = 0; i < NSPECS; i++)
        names[i] = specs[i].name;
    near = text_nearest_name(name, names, NSPECS);
    error_at(c, nowhere, "unknown option %s%s%s%s", name,
             near ? "; did you mean " : "; see gbmc --help", near ? near : "",
             near ? "?" : "");
    return false;
}

static bool set_emit(struct compiler *c, const char *pass)
{
    const char *names[NEMITS], *near;

    for (int i = 0; i < NEMITS; i++) {
        names[i] = emits[i].name;
        if (strcmp(pass, names[i]) == 0) {
            c->options.emit = names[i];
            return true;
        }
    }
    near = text_nearest_name(pass, names, NEMITS);
    error_at(c, nowhere, "--emit has no pass '%s'%s%s%s", pass,
             near ? "; did you mean " : "; see gbmc --help", near ? near : "",
             near ? "?" : "");
    return false;
}

static bool set_optimise(struct compiler *c, const char *level)
{
    if (strlen(level) != 1 || !strchr("0123s", level[0])) {
        error_at(c, nowhere, "-O takes 0, 1, 2, 3 or s, not '%s'", level);
        return false;
    }
    c->options.optimise = level;
    return true;
}

static bool set_cpu(struct compiler *c, const char *cpu)
{
    if (strcmp(cpu, "native") != 0 && strcmp(cpu, "portable") != 0) {
        error_at(c, nowhere, "--cpu takes native or portable, not '%s'", cpu);
        return false;
    }
    c->options.cpu = cpu;
    return true;
}

static bool set_arch(struct compiler *c, const char *arch)
{
    size_t n = strncmp(arch, "sm_", 3) ? 0 : strspn(arch + 3, "0123456789");
    if (n == 0 || strlen(arch + 3 + n) > 1) { /* sm_90a is one */
        error_at(c, nowhere, "--arch takes an architecture as sm_90, not '%s'",
                 arch);
        return false;
    }
    c->options.arch = arch;
    return true;
}

static const char *const withs[] = {"powers", "gradients", "expectation"};
enum { NWITHS = sizeof withs / sizeof withs[0] };

/* What of it there is. */
static const unsigned supported =
    WITH_POWERS | WITH_GRADIENTS | WITH_EXPECTATION;

/* Bits are in the order of the names: WITH_POWERS is the first. */
static bool set_with(struct compiler *c, const char *list)
{
    c->options.with = 0;
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        const char *name = intern_n(c, at, n);
        int k = 0;
        while (k < NWITHS && strcmp(name, withs[k]) != 0)
            k++;
        if (k == NWITHS) {
            error_at(c, nowhere,
                     "--with takes powers, gradients and expectation, with a "
                     "comma between them, not '%s'",
                     name);
            return false;
        }
        if (!(supported >> k & 1)) {
            error_at(c, nowhere, "--with=%s: not supported yet", name);
            return false;
        }
        c->options.with |= 1u << k;
        at += n;
        at += *at == ',';
    }
    return true;
}

/* What the command line asks for beside options. */
struct request {
    bool help, version, lsp, prepares;
    const char *about; /* --help NAME */
};

static bool set_dag(struct compiler *c, const char *path)
{
    const char *end = strrchr(path, '.');

    if (!end || (strcmp(end, ".svg") != 0 && strcmp(end, ".dot") != 0)) {
        error_at(c, nowhere,
                 "--dag %s: the file ends in .svg (a picture) or .dot (text "
                 "for Graphviz)",
                 path);
        return false;
    }
    c->options.dag = path;
    return true;
}

/* What is done in place of compiling. */
static void set_other(struct request *r, enum option option, const char *about)
{
    r->prepares |= option == OPT_PREPARE;
    r->lsp |= option == OPT_LSP;
    r->version |= option == OPT_VERSION;
    r->help |= option == OPT_HELP;
    if (option == OPT_HELP)
        r->about = about;
}

static bool apply(struct compiler *c, struct request *r, enum option option,
                  const char *value)
{
    struct options *o = &c->options;

    switch (option) {
    case OPT_OUTPUT:
        o->output = value;
        return true;
    case OPT_EXPLAIN:
        o->explain = true;
        return true;
    case OPT_DAG:
        return set_dag(c, value);
    case OPT_EMIT:
        return set_emit(c, value);
    case OPT_DATA:
        o->data[o->ndata++] = value;
        return true;
    case OPT_PRIOR:
        o->prior[o->nprior++] = value;
        return true;
    case OPT_LIST:
        o->list = true;
        return true;
    case OPT_ARCH:
        return set_arch(c, value);
    case OPT_INCLUDE:
        o->include[o->ninclude++] = value;
        return true;
    case OPT_OPTIMISE:
        return set_optimise(c, value);
    case OPT_CPU:
        return set_cpu(c, value);
    case OPT_WITH:
        return set_with(c, value);
    case OPT_TEMPER:
        o->temper = value;
        return true;
    case OPT_SEQUENCE:
        o->sequence = value;
        return true;
    case OPT_SAVE_TEMPS:
        o->save_temps = true;
        return true;
    case OPT_NO_CACHE:
        o->no_cache = true;
        return true;
    case OPT_PREPARE:
    case OPT_LSP:
    case OPT_VERSION:
    case OPT_HELP:
        set_other(r, option, value);
        return true;
    }
    UNREACHABLE();
}

/* Reads the option argv[*i] and its argument; false if it is wrong. */
static bool read_option(struct compiler *c, struct request *r, char **argv,
                        int *i)
{
    const char *word = argv[*i], *value = NULL;
    const struct option_spec *s = find_option(word, &value);
    bool optional = s && s->option == OPT_HELP;

    if (!s)
        return unknown_option(c, word);
    if (value && !s->argument) {
        error_at(c, nowhere, "%s takes no argument", s->name);
        return false;
    }
    if (!value && s->argument && argv[*i + 1] &&
        !(optional && argv[*i + 1][0] == '-'))
        value = argv[++*i];
    if (s->argument && !optional && (!value || !*value)) {
        error_at(c, nowhere, "%s needs an argument: %s %s", s->name, s->name,
                 s->argument);
        return false;
    }
    return apply(c, r, s->option, value);
}

/* An option that says of which data powers are says nothing without them. */
static bool has_powers(struct compiler *c, const struct options *o)
{
    if ((!o->temper && !o->sequence) || o->with & WITH_POWERS)
        return true;
    error_at(c, nowhere, "%s is of powers: it goes with --with=powers",
             o->temper ? "--temper" : "--sequence");
    return false;
}

static bool read_options(struct compiler *c, struct request *r, int argc,
                         char **argv)
{
    struct options *o = &c->options;
    bool only_files = false, good = true;

    o->data = NEW_ARRAY(c, const char *, argc);
    o->include = NEW_ARRAY(c, const char *, argc);
    o->prior = NEW_ARRAY(c, const char *, argc);
    o->cpu = "native";
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0) {
            only_files = true;
        } else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            good = read_option(c, r, argv, &i) && good;
        } else if (o->input &&
                   (!*extension_of(argv[i]) || has_model_extension(argv[i]))) {
            error_at(c, nowhere, "one model at a time: %s or %s", o->input,
                     argv[i]);
            good = false;
        } else if (o->input) { /* what the model is to be compiled for */
            o->data[o->ndata++] = argv[i];
        } else {
            o->input = argv[i];
        }
    }
    return has_powers(c, o) && good;
}

/* ---- Files -------------------------------------------------------------- */

/* The standard library's folder: $GBM_STDLIB, else beside the program as it
 * was built or installed. */
static const char *find_stdlib(struct compiler *c)
{
    static const char *const places[] = {"../stdlib", "../share/gbm/stdlib",
                                         "../../stdlib"};
    const char *given = getenv("GBM_STDLIB");
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *folder;

    if (given && *given)
        return intern(c, given);
    if (n <= 0)
        return "stdlib";
    self[n] = '\0';
    folder = path_folder(c, self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char real[PATH_MAX];
        if (realpath(path_join(c, folder, places[i]), real))
            return intern(c, real);
    }
    return path_join(c, folder, places[0]);
}

static bool is_model_name(struct compiler *c, const char *path)
{
    const char *extension = extension_of(path);

    if (!*extension)
        return true;
    if (has_model_extension(path))
        return true;
    error_at(c, nowhere,
             "%s is not a model file: these end in .gbm, .bug, .bugs, .jags "
             "or .txt",
             path);
    return false;
}

/* The model's name without folder and extension. */
static const char *default_output(struct compiler *c, const char *path)
{
    const char *extension = extension_of(path);
    size_t n = strlen(path) - strlen(extension);
    const char *stem = intern_n(c, path, n), *slash = strrchr(stem, '/');

    if (slash)
        stem = slash + 1;
    return *extension ? stem : intern_format(c, "%s.sampler", stem);
}

/* An import's file: beside the one that names it, in a folder of -I, in the
 * standard library. */
static const char *find_import(struct compiler *c, const struct import *i)
{
    const char *here = path_folder(c, i->span.source->path);
    const char *path = path_join(c, here, i->path);

    if (file_exists(path))
        return path;
    for (int k = 0; k < c->options.ninclude; k++) {
        const char *there = path_join(c, c->options.include[k], i->path);
        if (file_exists(there))
            return there;
    }
    if (file_exists(path_join(c, c->stdlib, i->path)))
        return path_join(c, c->stdlib, i->path);
    return path; /* whose absence is then reported */
}

static bool is_new(struct compiler *c, const char *path)
{
    char buffer[PATH_MAX];
    const char *real = intern(c, realpath(path, buffer) ? buffer : path);
    struct file_read *s;

    for (s = c->files; s; s = s->next)
        if (s->path == real)
            return false;
    s = NEW(c, struct file_read);
    *s = (struct file_read){real, c->files};
    c->files = s;
    return true;
}

static bool is_header(const char *path)
{
    const size_t n = strlen(path);
    return n > 2 && !strcmp(path + n - 2, ".h");
}

/* Adds a header that is imported to what stands in the program: so devices have
 * it, too. */
static void add_code(struct compiler *c, const char *path,
                     const struct source *s)
{
    c->code = intern_format(c, "%s/* %s, as it was imported */\n%s\n",
                            c->code ? c->code : "", text_in_comment(c, path),
                            s->text);
}

/* Adds the entries of every imported file, and headers, each file once. The
 * list grows while it is walked: what an imported file imports is appended. */
static void read_imports(struct compiler *c, struct program *p)
{
    struct entry **entries = &p->entries;

    while (*entries)
        entries = &(*entries)->next;
    is_new(c, c->options.input);
    for (struct import *i = p->imports; i; i = i->next) {
        const char *path = find_import(c, i);
        struct program imported = {0};
        const struct source *s;
        struct import *last = i;

        if (!is_new(c, path) || !(s = source_read(c, path, i->span)))
            continue;
        if (is_header(i->path)) {
            add_code(c, i->path, s);
            continue;
        }
        parse_source(c, s, &imported);
        if (imported.has_model || imported.data || imported.declarations ||
            imported.samplers)
            error_at(c, i->span,
                     "an imported file holds only distributions, functions and "
                     "augmentations");
        *entries = imported.entries;
        while (*entries)
            entries = &(*entries)->next;
        while (last->next)
            last = last->next;
        last->next = imported.imports;
    }
}

/* ---- The passes --------------------------------------------------------- */

static int compile(struct compiler *c)
{
    struct options *o = &c->options;
    const struct source *source;
    struct program program = {0};
    struct text out = {0};

    if (!is_model_name(c, o->input))
        return 1;
    if (!o->output && !o->emit && !o->explain && !o->dag)
        o->output = default_output(c, o->input);
    source = o->buffer ? o->buffer : source_read(c, o->input, nowhere);
    if (!source || !parse_source(c, source, &program))
        return 1;
    for (int i = 0; i < o->nprior; i++)
        syntax_set_prior(c, &program, o->prior[i]);
    if (c->nerrors)
        return 1;
    if (o->emit && strcmp(o->emit, "ast") == 0) {
        ast_print(&out, &program);
        fputs(out.data ? out.data : "", stdout);
        text_free(&out);
        return 0;
    }
    read_imports(c, &program);
    if (!program.has_model)
        error_at(c, nowhere, "%s has no model { } block", o->input);
    if (c->nerrors)
        return 1;
    return compile_model(c, &program);
}

static int run(struct compiler *c, int argc, char **argv)
{
    struct request r = {0};

    if (!read_options(c, &r, argc, argv))
        return 1;
    c->stdlib = find_stdlib(c);
    if (r.lsp)
        return lsp_serve(c, compile);
    if (r.prepares)
        return link_prepare(c);
    if (r.about)
        return help_about(c, r.about);
    if (r.help) {
        print_help();
        return 0;
    }
    if (r.version) {
        puts("gbmc " GBM_VERSION);
        return 0;
    }
    if (c->options.list) {
        library_list(c, stdout);
        return c->nerrors ? 1 : 0;
    }
    if (!c->options.input) {
        error_at(c, nowhere,
                 "no model to compile: gbmc [options] model.gbm "
                 "-o sampler; see gbmc --help");
        return 1;
    }
    return compile(c);
}

int main(int argc, char **argv)
{
    struct compiler c = {.arena = arena_create(), .messages = stderr};
    temporary_catch_signals();
    const char *terminal = getenv("TERM");
    int status;

    c.colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR") && terminal &&
               strcmp(terminal, "dumb") != 0;
    status = run(&c, argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        error_at(&c, nowhere, "cannot write the output: %s", strerror(errno));
        status = 2;
    }
    arena_free(c.arena);
    return status;
}
