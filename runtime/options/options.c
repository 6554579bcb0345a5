/* options.c: the sampler's command line. */
#include "options/option.h"
#include "options/view.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT(m) .kind = OPTION_IS_TEXT, .member = offsetof(struct rt_options, m)
#define FLAG(m) .kind = OPTION_IS_FLAG, .member = offsetof(struct rt_options, m)
#define NUMBER(m, from)                                                        \
    .kind = OPTION_IS_NUMBER, .member = offsetof(struct rt_options, m),        \
    .least = from
#define COUNT(m, from)                                                         \
    NUMBER(m, from), .given = offsetof(struct rt_options, m##_given)
#define READ(function) .kind = OPTION_IS_READ, .read = function

static const struct rt_option options[] = {
    {"--data", OPTION_DATA, "FILE",
     "data: FILE (.json, .R) or NAME=FILE (.npy, .csv); repeated",
     READ(rt_option_data)},
    {"--init", OPTION_INIT, "FILE",
     "starting values, any part; repeated: one file a chain, in turn",
     READ(rt_option_init)},
    {"--start", OPTION_START, "KIND",
     "of what --init leaves: dispersed, typical or prior (dispersed)",
     READ(rt_option_start)},
    {"--chains", OPTION_CHAINS, "N", "number of chains (4)", COUNT(chains, 1)},
    {"--warmup", OPTION_WARMUP, "N", "sweeps thrown away at first (1000)",
     COUNT(warmup, 0)},
    {"--draws", OPTION_DRAWS, "N", "sweeps after warm-up (1000)",
     COUNT(draws, 1)},
    {"--thin", OPTION_THIN, "N", "keep every N-th of them (1)",
     NUMBER(thin, 1)},
    {"--seed", OPTION_SEED, "N", "the same seed gives the same draws (1)",
     READ(rt_option_seed)},
    {"--device", OPTION_DEVICE, "NAME",
     "auto, cpu, cuda or cuda:N, the N-th from 0 (auto)",
     READ(rt_option_device)},
    {"--threads", OPTION_THREADS, "N", "threads on the CPU (all)",
     NUMBER(threads, 1)},
    {"--precision", OPTION_PRECISION, "P",
     "double, single or mixed, on a GPU (double)", READ(rt_option_precision)},
    {"--monitor", OPTION_MONITOR, "LIST",
     "what is kept: alpha,theta[1:3]; all; deviance (all that is small)",
     TEXT(monitor)},
    {"--moments", OPTION_MOMENTS, "LIST",
     "means, sds, R-hats of every sweep: names, all, none (what is random and "
     "has no draws)",
     TEXT(moments)},
    {"--out", OPTION_OUT, "FILE", "write the draws: fit.nc, fit.csv, or fit",
     TEXT(out)},
    {"--format", OPTION_FORMAT, "F", "netcdf, csv or coda (by FILE's name)",
     TEXT(format)},
    {"--digits", OPTION_DIGITS, "N",
     "significant digits of csv and coda (8), or else of the table (3)",
     READ(rt_option_digits)},
    {"--summary", OPTION_SUMMARY, "FILE", "write the summary as JSON",
     TEXT(summary)},
    {"--quantiles", OPTION_QUANTILES, "LIST",
     "of the summary, percent: 2.5,50,97.5 (5,50,95)",
     READ(rt_parse_quantiles)},
    {"--hdi", OPTION_HDI, "P",
     "the interval of highest density of probability P, too: 0.94",
     READ(rt_parse_hdi)},
    {"--sort", OPTION_SORT, "KEY",
     "the table by model, name, rhat or ess, the worst first (model)",
     READ(rt_parse_sort)},
    {"--show", OPTION_SHOW, "LIST",
     "rows of the table: theta,mu[3]; all (arrays of 30 at most)", TEXT(show)},
    {"--until", OPTION_UNTIL, "RULE",
     "go on until it holds: \"ess>400,rhat<1.01,rhat_eigen<1.05,time<10m\"",
     TEXT(until)},
    {"--relabel", OPTION_RELABEL, "LIST",
     "run, summary: components of a mixture mean the same in all draws: "
     "z,mu,pi",
     TEXT(relabel)},
    {"--reference", OPTION_REFERENCE, "FILE",
     "--relabel towards the labels that FILE (data) has", TEXT(reference)},
    {"--clusters", OPTION_CLUSTERS, "N=FILE",
     "summary: which rows of labels N are together, as JSON", TEXT(clusters)},
    {"--checkpoint", OPTION_CHECKPOINT, "FILE",
     "save the run's state in FILE, the one before as FILE.1",
     TEXT(checkpoint)},
    {"--every", OPTION_EVERY, "TIME", "how often: 30s, 10m, 1h (60s)",
     READ(rt_option_every)},
    {"--resume", OPTION_RESUME, "FILE",
     "go on from there, bit for bit; with more --draws, beyond the end",
     TEXT(resume)},
    {"--lp", OPTION_LP, NULL, "compute the log density of every kept draw",
     FLAG(lp)},
    {"--log-lik", OPTION_LOG_LIK, NULL,
     "keep the log likelihood of each observation, for LOO and WAIC",
     FLAG(log_lik)},
    {"--posterior", OPTION_POSTERIOR, NULL,
     "simulate: new data given posterior draws, not prior ones",
     FLAG(posterior)},
    {"--from", OPTION_FROM, "FIT",
     "simulate: the same given the draws of FIT.nc, for data with new rows; "
     "--method filter: with their parameters",
     TEXT(from)},
    {"--anew", OPTION_ANEW, "LIST",
     "simulate --from: of these variables FIT has draws for its own rows only",
     TEXT(anew)},
    {"--details", OPTION_DETAILS, NULL,
     "check, geweke: print every row; run: what was checked", FLAG(details)},
    {"--points", OPTION_POINTS, "N",
     "check: states of each chain at which it compares (3)", NUMBER(points, 1)},
    {"--gradients", OPTION_GRADIENTS, NULL,
     "check: compare derivatives with differences of the density",
     FLAG(gradients)},
    {"--no-check", OPTION_NO_CHECK, NULL,
     "run without the self-check; what is written says so", FLAG(no_check)},
    {"--plain", OPTION_PLAIN, NULL,
     "for tests: every number by its own slice or enumeration; slow",
     FLAG(plain)},
    {"--profile", OPTION_PROFILE, NULL,
     "time each step of the sweep, beside what it must do", FLAG(profile)},
    {"--progress", OPTION_PROGRESS, "KIND",
     "bar, lines, full (R-hat, ESS and traces) or none",
     READ(rt_option_progress)},
    {"--quiet", OPTION_QUIET, NULL, "print nothing but errors", FLAG(quiet)},
    {"--explain", OPTION_EXPLAIN, NULL, "print how each block is sampled",
     FLAG(explain)},
    {"--method", OPTION_METHOD, "NAME", "how to run; NAME is",
     READ(rt_option_method)},
    {"--particles", OPTION_PARTICLES, "N",
     "filter, pmmh, smc: particles (1000)", NUMBER(particles, 2)},
    {"--proposal", OPTION_PROPOSAL, "KIND",
     "filter, pmmh: states from the model, prior, or with their observations, "
     "guided (prior)",
     READ(rt_option_proposal)},
    {"--steps", OPTION_STEPS, "N",
     "smc: from prior to posterior, by the powers (k / N)^2; as the weights "
     "say if left out",
     NUMBER(steps, 1)},
    {"--moves", OPTION_MOVES, "N",
     "smc: sweeps of a step; until little is left of the last one if left out",
     NUMBER(moves, 1)},
    {"--power", OPTION_POWER, "B",
     "of the data's densities: 0 samples the prior, 1 the posterior (1)",
     READ(rt_option_power)},
    {"--temper", OPTION_TEMPER, "LIST",
     "only the densities of these data have powers", TEXT(temper)},
    {"--sequence", OPTION_SEQUENCE, "I",
     "smc: data enter by loop variable I, or as the rows of array I",
     TEXT(sequence)},
    {"--replicas", OPTION_REPLICAS, "N",
     "tempering: chains from prior to posterior, of each --chains (10)",
     READ(rt_option_replicas)},
    {"--replicates", OPTION_REPLICATES, "N", "sbc: data sets (500)",
     NUMBER(replicates, 20)},
    {"--jacobian", OPTION_JACOBIAN, NULL,
     "optimize, em: the mode of the density of free numbers (log tau)",
     FLAG(jacobian)},
    {"--iterations", OPTION_ITERATIONS, "N", "optimize, em: at most (2000)",
     NUMBER(iterations, 1)},
    {"--laplace", OPTION_LAPLACE, "N",
     "optimize: N draws of the normal approximation at the mode",
     NUMBER(laplace, 1)},
    {"--version", OPTION_VERSION, NULL, "print the version",
     READ(rt_option_version)},
    {"--help", OPTION_HELP, NULL, "print this", READ(rt_option_help)},
};
#define NOPTIONS ((int)(sizeof options / sizeof options[0]))

static const struct {
    const char *name;
    enum rt_command command;
    const char *help;
} commands[] = {
    {"run", RT_RUN, "draw from the posterior (this is the default)"},
    {"info", RT_INFO, "what the model needs, draws and how"},
    {"check", RT_CHECK,
     "compare every full conditional with the joint density"},
    {"simulate", RT_SIMULATE, "draw all that is not given forward, data too"},
    {"geweke", RT_GEWEKE,
     "joint distribution test: --draws replicates of --warmup sweeps"},
    {"sbc", RT_SBC,
     "simulation-based calibration: of data drawn from the prior, where the "
     "truth is among --draws (99) of the posterior; --out FILE.json"},
    {"summary", RT_SUMMARY,
     "summary FILE: summarise draws, of fit.nc or of a run that was ended "
     "(fit.nc.part); with --out write them"},
    {"compare", RT_COMPARE,
     "compare A.nc B.nc ...: which model predicts better, by LOO, of runs with "
     "--log-lik"},
};
#define NCOMMANDS ((int)(sizeof commands / sizeof commands[0]))

const struct rt_option *rt_option_of(enum option_id id)
{
    int k = 0;
    while (options[k].id != id)
        k++;
    return &options[k];
}

unsigned rt_options_need(const struct rt_options *o)
{
    bool powers =
        rt_option_is_given(o, OPTION_POWER) || o->temper || o->sequence;
    return o->method->with | (powers ? GBM_WITH_POWERS : 0u) |
           (o->gradients ? GBM_WITH_GRADIENTS : 0u);
}

void rt_print_help(const struct rt *rt, FILE *out)
{
    fprintf(out, "usage: %s [COMMAND] --data FILE [OPTION ...]\n\ncommands:\n",
            rt->options.program);
    for (int i = 0; i < NCOMMANDS; i++)
        fprintf(out, "  %-18s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\n");
    rt_print_options(rt->methods, out);
}

void rt_print_options(const struct rt_method *const *methods, FILE *out)
{
    fprintf(out, "options:\n");
    for (int i = 0; i < NOPTIONS; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", options[i].name,
                 options[i].value ? " " : "",
                 options[i].value ? options[i].value : "");
        if (options[i].help)
            fprintf(out, "  %-18s %s\n", name, options[i].help);
        const struct rt_method *m;
        for (int k = 0; options[i].id == OPTION_METHOD && (m = methods[k]); k++)
            if (m->run)
                fprintf(out, "  %-18s   %-10s %s\n", "", m->name, m->help);
    }
    fprintf(
        out,
        "\nStarts: dispersed ones are near typical values of the priors, each "
        "chain's apart\nfrom the others', so that R-hat can tell; what is "
        "caught far below the others early\nin warm-up goes on from where "
        "these are. typical: all chains at the priors' means or\nmedians. "
        "prior: draws from the priors. The last two stay as they are.\n"
        "\nExit status: 0 the run is complete and written; 1 a mistake "
        "in options,\ndata or model; 2 a failure on the way, or a sampled "
        "value that is not a\nnumber (what was drawn is kept).\n");
}

static const char *option_name(const void *context, int i)
{
    (void)context;
    return options[i].name;
}

static const char *command_name(const void *context, int i)
{
    (void)context;
    return commands[i].name;
}

bool rt_option_takes_word(const char *word)
{
    for (int i = 0; i < NOPTIONS; i++)
        if (strcmp(options[i].name, word) == 0)
            return options[i].value != NULL;
    return false;
}

/* "--name VALUE" or "--name=VALUE"; steps *i over what it used. */
static enum gbm_status parse_option(struct rt *rt, int argc, char **argv,
                                    int *i)
{
    char name[64];
    const char *word = argv[*i], *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    if (strcmp(name, "-h") == 0)
        snprintf(name, sizeof name, "--help");
    for (int k = 0; k < NOPTIONS; k++) {
        if (strcmp(options[k].name, name) != 0)
            continue;
        if (!options[k].value && equals)
            return rt_fail(rt, GBM_USER_ERROR, "%s takes no value", name);
        const char *value = equals ? equals + 1 : NULL;
        if (options[k].value && !value) {
            if (*i + 1 >= argc)
                return rt_fail(rt, GBM_USER_ERROR, "%s needs a value: %s %s",
                               name, name, options[k].value);
            value = argv[++*i];
        }
        rt->options.given |= UINT64_C(1) << options[k].id;
        return rt_option_set(rt, &options[k], value);
    }
    const char *meant = rt_elsewhere(name);
    return rt_suggest(rt, "option", name,
                      meant && meant[0] == '-'
                          ? meant
                          : rt_nearest(name, NOPTIONS, option_name, NULL));
}

static enum gbm_status parse_command(struct rt *rt, const char *word)
{
    for (int k = 0; k < NCOMMANDS; k++)
        if (strcmp(commands[k].name, word) == 0) {
            rt->options.command = commands[k].command;
            return GBM_OK;
        }
    if (strcmp(word, "report") == 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "report: of draws, by gbm report fit.nc");
    if (access(word, R_OK) == 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "'%s' is a file, not a command: did you mean --data "
                       "%s?",
                       word, word);
    const char *meant = rt_elsewhere(word);
    return rt_suggest(rt, "command", word,
                      meant ? meant
                            : rt_nearest(word, NCOMMANDS, command_name, NULL));
}

/* What holds where the command line says nothing. */
static void set_defaults(struct rt *rt, int argc, char **argv)
{
    rt->options = (struct rt_options){
        .command = RT_RUN,
        .program = argc > 0 ? argv[0] : "sampler",
        .chains = 4,
        .warmup = 1000,
        .draws = 1000,
        .thin = 1,
        .seed = 1,
        .device = "auto",
        .method = rt->methods[0],
        .power = 1,
        .replicas = 10,
        .beside = 1,
        .argv = argv,
        .points = 3,
        .particles = 1000,
        .iterations = 2000,
        .every = 60,
    };
}

enum gbm_status rt_options_parse(struct rt *rt, int argc, char **argv)
{
    struct rt_options *o = &rt->options;
    size_t n = (size_t)argc + 1;
    set_defaults(rt, argc, argv);
    o->data = calloc(n, sizeof *o->data);
    o->init = calloc(n, sizeof *o->init);
    o->files = calloc(n, sizeof *o->files);
    if (!o->data || !o->init || !o->files)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    enum gbm_status s = GBM_OK;
    bool have_command = false;
    for (int i = 1; i < argc && s == GBM_OK; i++) {
        if (argv[i][0] == '-') {
            s = parse_option(rt, argc, argv, &i);
        } else if (!have_command) {
            have_command = true;
            s = parse_command(rt, argv[i]);
        } else if (o->command == RT_SUMMARY && !o->file) {
            o->file = argv[i];
        } else if (o->command == RT_COMPARE) {
            o->files[o->nfiles++] = argv[i];
        } else {
            s = rt_fail(rt, GBM_USER_ERROR, "'%s' is not an option; see --help",
                        argv[i]);
        }
    }
    o->planned = o->draws;
    return s == GBM_OK ? rt_options_fit(rt) : s;
}

void rt_options_free(struct rt_options *o)
{
    free(o->data);
    free(o->init);
    free(o->files);
    o->data = o->init = o->files = NULL;
}
