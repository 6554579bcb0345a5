/* batch.c: `gbm batch`: several models, several data sets, one table. Each run
 * is a `gbm run` of its own, one after the other, as each takes all threads. */
#include "command.h"
#include "batch.h"
#include "base/program.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct batch {
    struct fit *fits;
    int nfits;
    char **words; /* of each run: its program, "run", then options */
    int nwords;
    char **files; /* what is neither option nor for all, in its order */
    int nfiles;
    const char *out; /* a folder, or NULL */
    bool format, quiet;
};

/* ---- the command line ---- */

static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return dot && dot != name ? dot : name + strlen(name);
}

static bool is_model(const char *path)
{
    static const char *const known[] = {".gbm", ".bug", ".bugs", ".jags",
                                        ".txt"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(extension_of(path), known[i]) == 0)
            return true;
    return false;
}

static void add_word(struct batch *b, const char *text)
{
    b->words[b->nwords++] = (char *)(uintptr_t)text; /* an old prototype */
}

/* Is word the option --name, or --name=VALUE? */
static bool names(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && (word[n] == '\0' || word[n] == '=');
}

/* Options whose file all runs would write or go on from. */
static int refuse_shared(const char *word)
{
    static const char *const shared[] = {"--summary", "--checkpoint",
                                         "--resume", "--clusters"};
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        if (names(word, shared[i]))
            return complain("batch: %s is of one run; --out FOLDER keeps the "
                            "summary of each",
                            shared[i]);
    return 0;
}

static int read_option(struct batch *b, char **argv, int *i)
{
    const char *word = argv[*i];
    bool takes_word;

    if (names(word, "--out")) {
        b->out = word[5] ? word + 6 : argv[++*i];
        return b->out && *b->out ? 0 : complain("batch: --out needs a folder");
    }
    if (refuse_shared(word) != 0)
        return 1;
    b->format = b->format || names(word, "--format");
    b->quiet = b->quiet || strcmp(word, "--quiet") == 0;
    add_word(b, word);
    if (!is_compilers(word, &takes_word))
        takes_word = rt_option_takes_word(word);
    if (takes_word && argv[*i + 1])
        add_word(b, argv[++*i]);
    return 0;
}

static int read_words(struct batch *b, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (read_option(b, argv, &i) != 0)
                return 1;
        } else if (strchr(argv[i], '=') && access(argv[i], F_OK) != 0) {
            add_word(b, "--data");
            add_word(b, argv[i]);
        } else {
            b->files[b->nfiles++] = argv[i];
        }
    }
    return 0;
}

/* ---- the runs ---- */

/* A part of a file's name: without folder and extension. */
static int stem_length(const char *path, const char **stem)
{
    const char *slash = strrchr(path, '/');

    *stem = slash ? slash + 1 : path;
    return (int)(extension_of(path) - *stem);
}

/* MODEL, or MODEL-DATA; with a number behind it if an earlier run has it. */
static void name_fit(const struct batch *b, struct fit *fit)
{
    const char *model, *data = "";
    int n = stem_length(fit->model, &model), m = 0, same = 1;
    char name[180];

    if (fit->data)
        m = stem_length(fit->data, &data);
    snprintf(name, sizeof name, "%.*s%s%.*s", n < 80 ? n : 80, model,
             m ? "-" : "", m < 80 ? m : 80, data);
    snprintf(fit->name, sizeof fit->name, "%s", name);
    for (int i = 0; i < b->nfits; i++)
        if (strcmp(b->fits[i].name, fit->name) == 0) {
            snprintf(fit->name, sizeof fit->name, "%s-%d", name, ++same);
            i = -1;
        }
}

static void add_fit(struct batch *b, const char *model, const char *data)
{
    struct fit *fit = &b->fits[b->nfits];

    *fit = (struct fit){.model = model, .data = data, .status = -1};
    figures_read(&fit->figures, "");
    name_fit(b, fit);
    b->nfits++;
}

/* Models that stand together, each with the data sets behind them. */
static int form_fits(struct batch *b)
{
    for (int i = 0, models, data; i < b->nfiles; i = data) {
        for (models = i; models < b->nfiles && is_model(b->files[models]);)
            models++;
        for (data = models; data < b->nfiles && !is_model(b->files[data]);)
            data++;
        if (models == i)
            return complain("batch: no model stands before %s (models end in "
                            ".gbm, .bug, .bugs, .jags or .txt)",
                            b->files[i]);
        for (int m = i; m < models; m++) {
            for (int d = models; d < data; d++)
                add_fit(b, b->files[m], b->files[d]);
            if (data == models)
                add_fit(b, b->files[m], NULL);
        }
    }
    return 0;
}

/* What is missing is told before hours of the others' work. */
static int check_files(const struct batch *b)
{
    struct stat s;

    for (int i = 0; i < b->nfiles; i++) {
        if (stat(b->files[i], &s) != 0)
            return complain("cannot read %s: %s", b->files[i], strerror(errno));
        if (S_ISDIR(s.st_mode))
            return complain("%s is a folder; a model or data is wanted",
                            b->files[i]);
    }
    return 0;
}

/* Without what is the compiler's. */
static int check_words(const struct batch *b)
{
    char *words[b->nwords + 1];
    bool takes_word;
    int n = 0;

    for (int i = 0; i < b->nwords; i++) {
        if (is_compilers(b->words[i], &takes_word))
            i += takes_word;
        else
            words[n++] = b->words[i];
    }
    return check_options(n, words);
}

static bool make_folder(const char *folder)
{
    struct stat s;

    if (mkdir(folder, 0777) == 0 ||
        (errno == EEXIST && stat(folder, &s) == 0 && S_ISDIR(s.st_mode)))
        return true;
    complain("cannot make the folder %s: %s", folder, strerror(errno));
    return false;
}

/* `scratch` is where its summary goes if nobody keeps it. */
static void run_fit(struct batch *b, struct fit *fit, const char *scratch)
{
    char draws[PATH_MAX], summary[PATH_MAX];
    int nshared = b->nwords, wait;
    struct stat before = {0}, after = {0};

    snprintf(summary, sizeof summary, "%s", scratch);
    if (b->out) {
        snprintf(draws, sizeof draws, "%s/%s%s", b->out, fit->name,
                 b->format ? "" : ".nc");
        snprintf(summary, sizeof summary, "%s/%s.json", b->out, fit->name);
        add_word(b, "--out");
        add_word(b, draws);
    }
    stat(summary, &before); /* of an earlier batch, perhaps */
    add_word(b, "--summary");
    add_word(b, summary);
    if (!b->quiet)
        add_word(b, "--quiet");
    add_word(b, fit->model);
    if (fit->data)
        add_word(b, fit->data);
    b->words[b->nwords] = NULL;
    wait = rt_program_run(NULL, b->words);
    b->nwords = nshared;
    fit->status = wait != -1 && WIFEXITED(wait) ? WEXITSTATUS(wait) : 2;
    fit->stopped =
        rt_program_signal() != 0 || (wait != -1 && WIFSIGNALED(wait));
    if (stat(summary, &after) == 0 &&
        (after.st_ino != before.st_ino ||
         after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
         after.st_mtim.tv_nsec != before.st_mtim.tv_nsec))
        figures_read(&fit->figures, summary);
}

static int run_fits(struct batch *b)
{
    struct rt_scratch scratch;
    int failed = rt_scratch_make(&scratch), worst = 0;
    bool ended = false;

    if (failed) {
        complain("cannot make a folder %s: %s", scratch.folder,
                 strerror(failed));
        return 2;
    }
    for (int i = 0; i < b->nfits && !ended; i++) {
        struct fit *fit = &b->fits[i];
        if (!b->quiet)
            fprintf(stderr, "[%d/%d] %s\n", i + 1, b->nfits, fit->name);
        run_fit(b, fit, scratch.path);
        ended = fit->stopped;
        if (fit->status != 0 && !ended)
            fprintf(stderr, "%s: failed: gbm run %s %s\n", fit->name,
                    fit->model, fit->data ? fit->data : "");
        worst = fit->status > worst ? fit->status : worst;
    }
    rt_scratch_take(&scratch, false);
    return ended ? 2 : worst;
}

static int run_all(struct batch *b)
{
    char path[PATH_MAX];

    if (b->out && !make_folder(b->out))
        return 2;
    int status = run_fits(b);
    table_print(b->fits, b->nfits, stdout);
    if (b->out) {
        snprintf(path, sizeof path, "%s/table.csv", b->out);
        if (!table_write(b->fits, b->nfits, path))
            return 2;
    }
    return status;
}

int run_batch(const struct command *c, int argc, char **argv)
{
    struct batch b = {0};
    char self[PATH_MAX];
    size_t most = (size_t)argc;
    int status = 2;

    b.words = calloc(2 * most + 16, sizeof *b.words);
    b.files = calloc(most + 1, sizeof *b.files);
    b.fits = calloc(most * most / 4 + most, sizeof *b.fits);
    if (!b.words || !b.files || !b.fits) {
        complain("no memory");
    } else {
        add_word(&b, find_self(self) ? self : "gbm");
        add_word(&b, c->sampler);
        status = read_words(&b, argc, argv);
        if (status == 0 && b.nfiles == 0)
            status = complain("%s: which models? gbm %s %s", c->name, c->name,
                              c->usage);
        if (status == 0 && (status = check_words(&b)) == 0 &&
            (status = check_files(&b)) == 0 && (status = form_fits(&b)) == 0)
            status = run_all(&b);
    }
    free(b.words);
    free(b.files);
    free(b.fits);
    return status;
}
