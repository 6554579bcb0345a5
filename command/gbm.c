/* gbm.c: the table of commands. Exit status as that of what does the work: 0
 * it is done, 1 a mistake of the user's, 2 a failure on the way. */
#include "command.h"
#include "base/version.h"
#include "options/method.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return 1;
}

/* ---- commands of gbmc ---- */

bool find_self(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

    if (n <= 0)
        return false;
    path[n] = '\0';
    return true;
}

const char *compiler_path(void)
{
    static char self[PATH_MAX], path[PATH_MAX + 8];

    if (find_self(self)) {
        snprintf(path, sizeof path, "%s/gbmc", dirname(self));
        if (access(path, X_OK) == 0)
            return path;
    }
    return "gbmc";
}

int become_compiler(const char *const *words, int nwords, char **argv)
{
    const char *compiler = compiler_path();
    int n = 0, rest = 0;

    while (argv[0] && argv[rest + 1])
        rest++;
    const char **all = calloc((size_t)(nwords + rest) + 2, sizeof *all);
    if (!all)
        return complain("no memory") + 1;
    all[n++] = compiler;
    for (int i = 0; i < nwords; i++)
        all[n++] = words[i];
    for (int i = 0; i < rest; i++)
        all[n++] = argv[i + 1];
    fflush(NULL);
    execvp(compiler, (char *const *)(uintptr_t)all); /* an old prototype */
    complain("cannot run %s: %s", compiler, strerror(errno));
    free(all);
    return 2;
}

static int needs_model(const struct command *c)
{
    return complain("%s: which model? gbm %s %s", c->name, c->name, c->usage);
}

static int compile(const struct command *c, int argc, char **argv)
{
    return argc < 2 ? needs_model(c) : become_compiler(NULL, 0, argv);
}

static int explain(const struct command *c, int argc, char **argv)
{
    static const char *const words[] = {"--explain"};
    return argc < 2 ? needs_model(c) : become_compiler(words, 1, argv);
}

static int library(const struct command *c, int argc, char **argv)
{
    const char *words[] = {"--help", argc > 1 ? argv[1] : NULL};

    if (argc > 2)
        return complain("one name at a time: gbm %s %s", c->name, c->usage);
    if (argc == 2)
        return become_compiler(words, 2, argv + 1);
    words[0] = "--list";
    return become_compiler(words, 1, argv);
}

/* "-o FILE" is the drawing; without it the model's name with .svg. */
static int dag(const struct command *c, int argc, char **argv)
{
    char name[PATH_MAX];
    const char *file = NULL, *model = NULL, *words[2] = {"--dag"};
    int n = 1;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            file = argv[++i];
            continue;
        }
        if (argv[i][0] != '-' && !model)
            model = argv[i];
        argv[n++] = argv[i];
    }
    argv[n] = NULL;
    if (!model)
        return needs_model(c);
    if (!file) {
        const char *slash = strrchr(model, '/');
        model = slash ? slash + 1 : model;
        const char *dot = strrchr(model, '.');
        snprintf(
            name, sizeof name, "%.*s.svg",
            (int)(dot && dot != model ? (size_t)(dot - model) : strlen(model)),
            model);
        file = name;
    }
    words[1] = file;
    return become_compiler(words, 2, argv);
}

/* ---- commands on draws, which need no model ---- */

/* Draws are compared by how well they predict, summaries by their evidence. */
static int compare(const struct rt_options *o)
{
    int summaries = 0;
    for (int i = 0; i < o->nfiles; i++)
        summaries += is_summary(o->files[i]);
    if (summaries < o->nfiles)
        return complain("compare: some files are summaries (.json) and some "
                        "are draws: all must be of one kind");
    return compare_evidence(o->files, o->nfiles);
}

static bool has_summaries(const struct rt_options *o)
{
    for (int i = 0; i < o->nfiles; i++)
        if (is_summary(o->files[i]))
            return true;
    return false;
}

static int on_draws(const struct command *c, int argc, char **argv)
{
    static const struct gbm_model none;
    struct rt rt = {.model = &none, .methods = rt_methods};
    char *words[argc + 2];
    int status;

    words[0] = (char *)(uintptr_t) "gbm"; /* an old prototype */
    words[1] = (char *)(uintptr_t)c->sampler;
    for (int i = 1; i <= argc; i++)
        words[i + 1] = argv[i];
    if (rt_options_parse(&rt, argc + 1, words) != GBM_OK)
        status = rt_report(&rt);
    else if (rt.options.command == RT_SUMMARY)
        status = rt_command_summary(&rt);
    else if (has_summaries(&rt.options))
        status = compare(&rt.options);
    else
        status = rt_command_compare(&rt);
    rt_options_free(&rt.options);
    return status;
}

/* ---- help ---- */

static int help(const struct command *command, int argc, char **argv);

static const char one_shot[] =
    "MODEL is compiled for DATA, or comes from the cache. DATA are files "
    "(.json, "
    ".R)\nor NAME=FILE (.npy, .csv), as --data takes them. The compiler's -I, "
    "-O, --cpu,\n--prior and --no-cache are handed to it, all else to the "
    "sampler.\n\n";

static const struct command commands[] = {
    {"run", "MODEL [DATA ...] [OPTION ...]",
     "compile, draw from the posterior, summarise", run_sampler, "run",
     one_shot},
    {"check", "MODEL [DATA ...] [OPTION ...]",
     "compare every full conditional with the joint density", run_sampler,
     "check", one_shot},
    {"simulate", "MODEL [DATA ...] [OPTION ...]",
     "draw parameters and data from the prior, or --posterior", run_sampler,
     "simulate", one_shot},
    {"geweke", "MODEL [DATA ...] [OPTION ...]", "joint distribution test",
     run_sampler, "geweke", one_shot},
    {"sbc", "MODEL [DATA ...] [OPTION ...]",
     "simulation-based calibration: ranks of parameters from the prior",
     run_sampler, "sbc", one_shot},
    {"info", "MODEL [DATA ...]", "what a model needs, and draws", run_sampler,
     "info", one_shot},
    {"batch", "MODEL ... DATA ... [OPTION ...]",
     "run several models or data sets, and compare them in a table", run_batch,
     "run",
     "Each model runs with each data set (.json, .R) that stands behind it:\n"
     "a.gbm b.gbm x.json y.json c.gbm z.json are five runs. NAME=FILE and "
     "--data are for\nall of them. --out FOLDER keeps the draws and the "
     "summary "
     "of each, and table.csv.\nOne that fails has a row that says so, and the "
     "others go on. Options are those\nof run, for each run.\n\n"},
    {"summary", "FILE [OPTION ...]",
     "summarise draws: of fit.nc, or of a run that was ended (fit.nc.part)",
     on_draws, "summary", NULL},
    {"compare", "A.nc B.nc ... [OPTION ...]",
     "which model predicts better, by LOO, of runs with --log-lik", on_draws,
     "compare",
     "compare A.json B.json ... is of summaries of runs with --method smc or "
     "tempering:\nlog evidence and Bayes factors.\n\n"},
    {"report", "FIT.nc [-o FILE] [OPTION ...]",
     "a page of a run's draws, in HTML", make_report, NULL, NULL},
    {"explain", "MODEL [DATA ...]", "how each variable is sampled, and why",
     explain, NULL, NULL},
    {"dag", "MODEL [DATA ...] [-o FILE]",
     "draw the graph with its plates: FILE.svg (with Graphviz) or FILE.dot",
     dag, NULL, NULL},
    {"compile", "MODEL [DATA ...] -o SAMPLER", "make a sampler: gbmc", compile,
     NULL, "Options are gbmc's; see gbmc --help.\n"},
    {"library", "[NAME]", "distributions and functions, or what is said of one",
     library, NULL, NULL},
    {"new", "FOLDER", "a folder with a first model, its data and a page",
     make_new, NULL, NULL},
    {"help", "[COMMAND]", "this, or what a command takes", help, NULL, NULL},
};
enum { NCOMMANDS = sizeof commands / sizeof commands[0] };

static const char *command_name(const void *context, int i)
{
    (void)context;
    return commands[i].name;
}

/* What other programs call it. */
static const char *elsewhere(const char *word)
{
    static const struct {
        const char *word, *here;
    } words[] = {
        {"predict", "simulate MODEL NEW --from FIT.nc"},
        {"extend", "run MODEL DATA --resume CHECKPOINT --draws N"},
        {"sample", "run"},
        {"fit", "run"},
        {"plot", "report"},
        {"print", "summary"},
        {"loo", "compare"},
        {"graph", "dag"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].here;
    return NULL;
}

/* NULL, and a message, if there is none. */
static const struct command *find(const char *word)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (strcmp(commands[i].name, word) == 0)
            return &commands[i];
    const char *near = elsewhere(word);
    if (!near)
        near = rt_nearest(word, NCOMMANDS, command_name, NULL);
    if (!near && access(word, R_OK) == 0)
        complain("'%s' is a file, not a command: did you mean gbm run %s?",
                 word, word);
    else
        complain("unknown command '%s'%s%s%s; see gbm help", word,
                 near ? ": did you mean gbm " : "", near ? near : "",
                 near ? "?" : "");
    return NULL;
}

static int help_of(const struct command *c)
{
    printf("usage: gbm %s %s\n\n%s: %s.\n\n", c->name, c->usage, c->name,
           c->help);
    if (c->details)
        fputs(c->details, stdout);
    if (c->sampler)
        rt_print_options(rt_methods, stdout);
    return 0;
}

static int help(const struct command *command, int argc, char **argv)
{
    (void)command;
    if (argc > 1) {
        const struct command *c = find(argv[1]);
        return c ? help_of(c) : 1;
    }
    puts("usage: gbm COMMAND ...\n\nBayesian models, written as in BUGS or "
         "JAGS (.gbm .bug .bugs .jags .txt).\n\ncommands:");
    for (int i = 0; i < NCOMMANDS; i++)
        printf("  %-9s %-30s %s\n", commands[i].name, commands[i].usage,
               commands[i].help);
    puts("\ngbm new first; gbm run first/model.gbm first/data.json --out "
         "fit.nc");
    return 0;
}

static bool asks_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        complain("which command? see gbm help");
        return 1;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("gbm " GBM_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(NULL, argc - 1, argv + 1);
    const struct command *c = find(argv[1]);
    if (!c)
        return 1;
    return asks_help(argc - 1, argv + 1) && c->run != make_report
               ? help_of(c)
               : c->run(c, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a write fails instead */
    int status = dispatch(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "failed: cannot write the output: %s\n", strerror(errno));
    return 2;
}
