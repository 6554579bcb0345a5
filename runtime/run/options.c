/* options.c: the sampler's command line. */
#include "run/tempering.h"
#include "run/view.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
    OPTION_DATA,
    OPTION_INIT,
    OPTION_START,
    OPTION_CHAINS,
    OPTION_WARMUP,
    OPTION_DRAWS,
    OPTION_THIN,
    OPTION_SEED,
    OPTION_DEVICE,
    OPTION_THREADS,
    OPTION_PRECISION,
    OPTION_MONITOR,
    OPTION_MOMENTS,
    OPTION_OUT,
    OPTION_SUMMARY,
    OPTION_FORMAT,
    OPTION_DIGITS,
    OPTION_UNTIL,
    OPTION_RELABEL,
    OPTION_REFERENCE,
    OPTION_CLUSTERS,
    OPTION_LP,
    OPTION_LOG_LIK,
    OPTION_QUANTILES,
    OPTION_HDI,
    OPTION_SORT,
    OPTION_SHOW,
    OPTION_POSTERIOR,
    OPTION_DETAILS,
    OPTION_POINTS,
    OPTION_GRADIENTS,
    OPTION_NO_CHECK,
    OPTION_PLAIN,
    OPTION_PROFILE,
    OPTION_PROGRESS,
    OPTION_QUIET,
    OPTION_EXPLAIN,
    OPTION_METHOD,
    OPTION_PARTICLES,
    OPTION_POWER,
    OPTION_TEMPER,
    OPTION_SEQUENCE,
    OPTION_REPLICAS,
    OPTION_REPLICATES,
    OPTION_JACOBIAN,
    OPTION_ITERATIONS,
    OPTION_LAPLACE,
    OPTION_CHECKPOINT,
    OPTION_EVERY,
    OPTION_RESUME,
    OPTION_VERSION,
    OPTION_HELP
};

struct option {
    const char *name;
    enum option_id id;
    const char *value; /* what follows it, for people; NULL: nothing */
    const char *help;  /* NULL: not shown */
};

static const struct option options[] = {
    {"--data", OPTION_DATA, "FILE",
     "data: FILE (.json, .R) or NAME=FILE (.npy, .csv); repeated"},
    {"--init", OPTION_INIT, "FILE",
     "starting values, any part; repeated: one file a chain, in turn"},
    {"--start", OPTION_START, "KIND",
     "of what --init leaves: dispersed, typical or prior (dispersed)"},
    {"--chains", OPTION_CHAINS, "N", "number of chains (4)"},
    {"--warmup", OPTION_WARMUP, "N", "sweeps thrown away at first (1000)"},
    {"--draws", OPTION_DRAWS, "N", "sweeps after warm-up (1000)"},
    {"--thin", OPTION_THIN, "N", "keep every N-th of them (1)"},
    {"--seed", OPTION_SEED, "N", "the same seed gives the same draws (1)"},
    {"--device", OPTION_DEVICE, "NAME",
     "auto, cpu, cuda or cuda:N, the N-th from 0 (auto)"},
    {"--threads", OPTION_THREADS, "N", "threads on the CPU (all)"},
    {"--precision", OPTION_PRECISION, "P",
     "double, single or mixed, on a GPU (double)"},
    {"--monitor", OPTION_MONITOR, "LIST",
     "what is kept: alpha,theta[1:3]; all; deviance (all that is small)"},
    {"--moments", OPTION_MOMENTS, "LIST",
     "means, sds, R-hats of every sweep: names, all, none (what is random and "
     "has no draws)"},
    {"--out", OPTION_OUT, "FILE", "write the draws: fit.nc, fit.csv, or fit"},
    {"--format", OPTION_FORMAT, "F", "netcdf, csv or coda (by FILE's name)"},
    {"--digits", OPTION_DIGITS, "N",
     "significant digits of csv and coda (8), or else of the table (3)"},
    {"--summary", OPTION_SUMMARY, "FILE", "write the summary as JSON"},
    {"--quantiles", OPTION_QUANTILES, "LIST",
     "of the summary, percent: 2.5,50,97.5 (5,50,95)"},
    {"--hdi", OPTION_HDI, "P",
     "the interval of highest density of probability P, too: 0.94"},
    {"--sort", OPTION_SORT, "KEY",
     "the table by model, name, rhat or ess, the worst first (model)"},
    {"--show", OPTION_SHOW, "LIST",
     "rows of the table: theta,mu[3]; all (arrays of 30 at most)"},
    {"--until", OPTION_UNTIL, "RULE",
     "go on until it holds: \"ess>400,rhat<1.01,rhat_eigen<1.05\""},
    {"--relabel", OPTION_RELABEL, "LIST",
     "summary: let components of a mixture mean the same in all draws: "
     "z,mu,pi"},
    {"--reference", OPTION_REFERENCE, "FILE",
     "summary: --relabel towards the labels that FILE (data) has"},
    {"--clusters", OPTION_CLUSTERS, "N=FILE",
     "summary: which rows of labels N are together, as JSON"},
    {"--checkpoint", OPTION_CHECKPOINT, "FILE",
     "save the run's state in FILE, the one before as FILE.1"},
    {"--every", OPTION_EVERY, "TIME", "how often: 30s, 10m, 1h (60s)"},
    {"--resume", OPTION_RESUME, "FILE",
     "go on from there, bit for bit; with more --draws, beyond the end"},
    {"--lp", OPTION_LP, NULL, "compute the log density of every kept draw"},
    {"--log-lik", OPTION_LOG_LIK, NULL,
     "keep the log likelihood of each observation, for LOO and WAIC"},
    {"--posterior", OPTION_POSTERIOR, NULL,
     "simulate: new data given posterior draws, not prior ones"},
    {"--details", OPTION_DETAILS, NULL,
     "check, geweke: print every row; run: what was checked"},
    {"--points", OPTION_POINTS, "N",
     "check: states of each chain at which it compares (3)"},
    {"--gradients", OPTION_GRADIENTS, NULL,
     "check: compare derivatives with differences of the density"},
    {"--no-check", OPTION_NO_CHECK, NULL,
     "run without the self-check; what is written says so"},
    {"--plain", OPTION_PLAIN, NULL,
     "for tests: every number by its own slice or enumeration; slow"},
    {"--profile", OPTION_PROFILE, NULL,
     "time each step of the sweep, beside what it must do"},
    {"--progress", OPTION_PROGRESS, "KIND",
     "bar, lines, full (R-hat, ESS and traces) or none"},
    {"--quiet", OPTION_QUIET, NULL, "print nothing but errors"},
    {"--explain", OPTION_EXPLAIN, NULL, "print how each block is sampled"},
    {"--method", OPTION_METHOD, "NAME", "how to run; NAME is"},
    {"--particles", OPTION_PARTICLES, "N",
     "filter, pmmh, smc: particles (1000)"},
    {"--power", OPTION_POWER, "B",
     "of the data's densities: 0 samples the prior, 1 the posterior (1)"},
    {"--temper", OPTION_TEMPER, "LIST",
     "only the densities of these data have powers"},
    {"--sequence", OPTION_SEQUENCE, "I",
     "smc: data enter by loop variable I, or as the rows of array I"},
    {"--replicas", OPTION_REPLICAS, "N",
     "tempering: chains from prior to posterior, of each --chains (10)"},
    {"--replicates", OPTION_REPLICATES, "N", "sbc: data sets (500)"},
    {"--jacobian", OPTION_JACOBIAN, NULL,
     "optimize, em: the mode of the density of free numbers (log tau)"},
    {"--iterations", OPTION_ITERATIONS, "N", "optimize, em: at most (2000)"},
    {"--laplace", OPTION_LAPLACE, "N",
     "optimize: N draws of the normal approximation at the mode"},
    {"--version", OPTION_VERSION, NULL, "print the version"},
    {"--help", OPTION_HELP, NULL, "print this"},
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

void rt_print_help(const char *program, FILE *out)
{
    fprintf(out, "usage: %s [COMMAND] --data FILE [OPTION ...]\n\ncommands:\n",
            program);
    for (int i = 0; i < NCOMMANDS; i++)
        fprintf(out, "  %-18s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\n");
    rt_print_options(out);
}

void rt_print_options(FILE *out)
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
        for (int k = 0; options[i].id == OPTION_METHOD && (m = rt_method(k));
             k++)
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

static enum gbm_status suggest(struct rt *rt, const char *what,
                               const char *name, const char *nearest)
{
    return rt_fail(rt, GBM_USER_ERROR, "unknown %s '%s'%s%s%s; see --help",
                   what, name, nearest ? ": did you mean " : "",
                   nearest ? nearest : "", nearest ? "?" : "");
}

static enum gbm_status parse_int(struct rt *rt, const char *option,
                                 const char *text, int least, int *out)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || errno || value < least ||
        value > INT_MAX)
        return rt_fail(rt, GBM_USER_ERROR,
                       "%s '%s': an integer from %d to %d is wanted", option,
                       text, least, INT_MAX);
    *out = (int)value;
    return GBM_OK;
}

static enum gbm_status parse_digits(struct rt *rt, const char *text)
{
    const int most = 17; /* that tell every double from the next */
    enum gbm_status s = parse_int(rt, "--digits", text, 1, &rt->options.digits);
    if (s == GBM_OK && rt->options.digits > most)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--digits '%s': more than %d say nothing more", text,
                       most);
    return s;
}

static enum gbm_status parse_seed(struct rt *rt, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text == '\0' || *text == '-' || *end != '\0' || errno)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--seed '%s': an integer of at most 64 bits is wanted",
                       text);
    rt->options.seed = value;
    return GBM_OK;
}

/* "90", "90s", "1.5m", "2h" */
static enum gbm_status parse_duration(struct rt *rt, const char *option,
                                      const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    double unit = *end == 'h' ? 3600 : *end == 'm' ? 60 : 1;
    if (end == text || !isfinite(value) || value < 0 ||
        (*end && (!strchr("smh", *end) || end[1])))
        return rt_fail(rt, GBM_USER_ERROR,
                       "%s '%s': a time is wanted: 30s, 10m, 1h", option, text);
    *out = value * unit;
    return GBM_OK;
}

static const char *const precisions[] = {"double", "single", "mixed"};
static const char *const starts[] = {"dispersed", "typical", "prior"};

static enum gbm_status parse_precision(struct rt *rt, const char *text)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(text, precisions[i]) == 0) {
            rt->options.precision = (enum rt_precision)i;
            return GBM_OK;
        }
    return rt_fail(rt, GBM_USER_ERROR,
                   "--precision '%s': double, single or mixed is wanted", text);
}

static enum gbm_status parse_start(struct rt *rt, const char *text)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(text, starts[i]) == 0) {
            rt->options.starts = (enum rt_starts)i;
            return GBM_OK;
        }
    return rt_fail(rt, GBM_USER_ERROR,
                   "--start '%s': dispersed, typical or prior is wanted", text);
}

static enum gbm_status parse_progress(struct rt *rt, const char *text)
{
    static const char *const kinds[] = {[RT_PROGRESS_BAR] = "bar",
                                        [RT_PROGRESS_LINES] = "lines",
                                        [RT_PROGRESS_NONE] = "none",
                                        [RT_PROGRESS_FULL] = "full"};
    int kind = RT_PROGRESS_FULL;
    while (kind > RT_PROGRESS_AUTO && strcmp(text, kinds[kind]) != 0)
        kind--;
    if (kind == RT_PROGRESS_AUTO)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--progress '%s': bar, lines, full or none is wanted",
                       text);
    rt->options.progress = (enum rt_progress_kind)kind;
    return GBM_OK;
}

static enum gbm_status parse_device(struct rt *rt, const char *text)
{
    if (strcmp(text, "auto") != 0 && strcmp(text, "cpu") != 0 &&
        strcmp(text, "cuda") != 0 && strncmp(text, "cuda:", 5) != 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--device '%s': auto, cpu, cuda or cuda:N is wanted",
                       text);
    rt->options.device = text;
    return GBM_OK;
}

static enum gbm_status parse_replicas(struct rt *rt, const char *text)
{
    const int most = RT_MOST_REPLICAS;
    enum gbm_status s =
        parse_int(rt, "--replicas", text, 2, &rt->options.replicas);
    if (s == GBM_OK && rt->options.replicas > most)
        return rt_fail(rt, GBM_USER_ERROR, "--replicas '%s': at most %d", text,
                       most);
    return s;
}

static enum gbm_status parse_power(struct rt *rt, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0) || !(value <= RT_ALL_ENTERED))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--power '%s': a number from 0 to 100 is wanted", text);
    rt->options.power = value;
    return GBM_OK;
}

static const char *method_name(const void *context, int i)
{
    (void)context;
    return rt_method(i)->name;
}

static enum gbm_status parse_method(struct rt *rt, const char *text)
{
    int n = 0;
    const struct rt_method *m = rt_method_find(text);
    while (rt_method(n))
        n++;
    if (!m)
        return suggest(rt, "method", text,
                       rt_nearest(text, n, method_name, NULL));
    if (!m->run)
        return rt_fail(rt, GBM_USER_ERROR, "--method %s: not supported yet",
                       text);
    rt->options.method = m;
    return GBM_OK;
}

static enum gbm_status set_option(struct rt *rt, const struct option *option,
                                  const char *value)
{
    struct rt_options *o = &rt->options;
    switch (option->id) {
    case OPTION_DATA:
        o->data[o->ndata++] = value;
        return GBM_OK;
    case OPTION_INIT:
        o->init[o->ninit++] = value;
        return GBM_OK;
    case OPTION_START:
        return parse_start(rt, value);
    case OPTION_CHAINS:
        o->chains_given = true;
        return parse_int(rt, option->name, value, 1, &o->chains);
    case OPTION_WARMUP:
        o->warmup_given = true;
        return parse_int(rt, option->name, value, 0, &o->warmup);
    case OPTION_DRAWS:
        o->draws_given = true;
        return parse_int(rt, option->name, value, 1, &o->draws);
    case OPTION_THIN:
        return parse_int(rt, option->name, value, 1, &o->thin);
    case OPTION_SEED:
        return parse_seed(rt, value);
    case OPTION_DEVICE:
        return parse_device(rt, value);
    case OPTION_THREADS:
        return parse_int(rt, option->name, value, 1, &o->threads);
    case OPTION_PRECISION:
        return parse_precision(rt, value);
    case OPTION_MONITOR:
        o->monitor = value;
        return GBM_OK;
    case OPTION_MOMENTS:
        o->moments = value;
        return GBM_OK;
    case OPTION_OUT:
        o->out = value;
        return GBM_OK;
    case OPTION_SUMMARY:
        o->summary = value;
        return GBM_OK;
    case OPTION_FORMAT:
        o->format = value;
        return GBM_OK;
    case OPTION_DIGITS:
        return parse_digits(rt, value);
    case OPTION_QUANTILES:
        return rt_parse_quantiles(rt, value);
    case OPTION_HDI:
        return rt_parse_hdi(rt, value);
    case OPTION_SORT:
        return rt_parse_sort(rt, value);
    case OPTION_SHOW:
        o->show = value;
        return GBM_OK;
    case OPTION_UNTIL:
        o->until = value;
        return GBM_OK;
    case OPTION_RELABEL:
        o->relabel = value;
        return GBM_OK;
    case OPTION_REFERENCE:
        o->reference = value;
        return GBM_OK;
    case OPTION_CLUSTERS:
        o->clusters = value;
        return GBM_OK;
    case OPTION_LP:
        o->lp = true;
        return GBM_OK;
    case OPTION_LOG_LIK:
        o->log_lik = true;
        return GBM_OK;
    case OPTION_POSTERIOR:
        o->posterior = true;
        return GBM_OK;
    case OPTION_DETAILS:
        o->details = true;
        return GBM_OK;
    case OPTION_POINTS:
        return parse_int(rt, option->name, value, 1, &o->points);
    case OPTION_GRADIENTS:
        o->gradients = true;
        return GBM_OK;
    case OPTION_NO_CHECK:
        o->no_check = true;
        return GBM_OK;
    case OPTION_PLAIN:
        o->plain = true;
        return GBM_OK;
    case OPTION_PROFILE:
        o->profile = true;
        return GBM_OK;
    case OPTION_PROGRESS:
        return parse_progress(rt, value);
    case OPTION_QUIET:
        o->quiet = true;
        return GBM_OK;
    case OPTION_EXPLAIN:
        o->explain = true;
        return GBM_OK;
    case OPTION_JACOBIAN:
        o->jacobian = true;
        return GBM_OK;
    case OPTION_ITERATIONS:
        return parse_int(rt, option->name, value, 1, &o->iterations);
    case OPTION_LAPLACE:
        return parse_int(rt, option->name, value, 1, &o->laplace);
    case OPTION_METHOD:
        return parse_method(rt, value);
    case OPTION_PARTICLES:
        return parse_int(rt, option->name, value, 2, &o->particles);
    case OPTION_REPLICATES:
        return parse_int(rt, option->name, value, 20, &o->replicates);
    case OPTION_POWER:
        return parse_power(rt, value);
    case OPTION_TEMPER:
        o->temper = value;
        return GBM_OK;
    case OPTION_SEQUENCE:
        o->sequence = value;
        return GBM_OK;
    case OPTION_REPLICAS:
        return parse_replicas(rt, value);
    case OPTION_CHECKPOINT:
        o->checkpoint = value;
        return GBM_OK;
    case OPTION_EVERY:
        return parse_duration(rt, option->name, value, &o->every);
    case OPTION_RESUME:
        o->resume = value;
        return GBM_OK;
    case OPTION_VERSION:
        o->command = RT_VERSION;
        return GBM_OK;
    case OPTION_HELP:
        o->command = RT_HELP;
        return GBM_OK;
    }
    return GBM_OK;
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
        return set_option(rt, &options[k], value);
    }
    return suggest(rt, "option", name,
                   rt_nearest(name, NOPTIONS, option_name, NULL));
}

/* ---- what a checkpoint keeps ---- */

static const struct {
    enum option_id id;
    bool ends; /* only says when a run ends */
} kept[] = {
    {OPTION_SEED, false},     {OPTION_CHAINS, false},
    {OPTION_WARMUP, false},   {OPTION_THIN, false},
    {OPTION_MONITOR, false},  {OPTION_LP, false},
    {OPTION_LOG_LIK, false},  {OPTION_MOMENTS, false},
    {OPTION_DEVICE, false},   {OPTION_POWER, false},
    {OPTION_TEMPER, false},   {OPTION_PRECISION, false},
    {OPTION_PLAIN, false},    {OPTION_START, false},
    {OPTION_DRAWS, true},     {OPTION_UNTIL, true},
    {OPTION_METHOD, false},   {OPTION_REPLICAS, false},
    {OPTION_SEQUENCE, false}, {OPTION_PARTICLES, false},
};
#define NKEPT ((int)(sizeof kept / sizeof kept[0]))

static const struct option *option_of(enum option_id id)
{
    int k = 0;
    while (options[k].id != id)
        k++;
    return &options[k];
}

unsigned rt_options_need(const struct rt_options *o)
{
    bool powers = o->given >> OPTION_POWER & 1 || o->temper || o->sequence;
    return o->method->with | (powers ? GBM_WITH_POWERS : 0u) |
           (o->gradients ? GBM_WITH_GRADIENTS : 0u);
}

const char *rt_kept_option(int k)
{
    return k < NKEPT ? option_of(kept[k].id)->name : NULL;
}

static const char *integer_text(int value, char buffer[RT_OPTION_TEXT])
{
    snprintf(buffer, RT_OPTION_TEXT, "%d", value);
    return buffer;
}

static const char *value_text(const struct rt_options *o, enum option_id id,
                              char buffer[RT_OPTION_TEXT])
{
    switch (id) {
    case OPTION_SEED:
        snprintf(buffer, RT_OPTION_TEXT, "%llu", (unsigned long long)o->seed);
        return buffer;
    case OPTION_CHAINS:
        return integer_text(o->chains / o->beside, buffer);
    case OPTION_METHOD:
        return o->method->name;
    case OPTION_REPLICAS:
        return integer_text(o->replicas, buffer);
    case OPTION_WARMUP: /* of smc both follow from the particles */
        return o->method == &rt_smc ? NULL : integer_text(o->warmup, buffer);
    case OPTION_DRAWS:
        return o->method == &rt_smc ? NULL : integer_text(o->draws, buffer);
    case OPTION_PARTICLES:
        return o->method == &rt_smc || o->method == &rt_particle_filter ||
                       o->method == &rt_particle_metropolis
                   ? integer_text(o->particles, buffer)
                   : NULL;
    case OPTION_THIN:
        return integer_text(o->thin, buffer);
    case OPTION_MONITOR:
        return o->monitor;
    case OPTION_MOMENTS:
        return o->moments;
    case OPTION_UNTIL:
        return o->until;
    case OPTION_POWER:
        snprintf(buffer, RT_OPTION_TEXT, "%.17g", o->power);
        return buffer;
    case OPTION_TEMPER:
        return o->temper;
    case OPTION_SEQUENCE:
        return o->sequence;
    case OPTION_LP:
        return o->lp ? RT_OPTION_SET : NULL;
    case OPTION_LOG_LIK:
        return o->log_lik ? RT_OPTION_SET : NULL;
    case OPTION_PLAIN:
        return o->plain ? RT_OPTION_SET : NULL;
    case OPTION_PRECISION:
        return precisions[o->precision];
    case OPTION_START:
        return starts[o->starts];
    case OPTION_DEVICE: /* its kind; NULL: not settled */
        return strncmp(o->device, "cuda", 4) == 0 ? "cuda"
               : strcmp(o->device, "auto") == 0   ? NULL
                                                  : o->device;
    default:
        return NULL;
    }
}

static int kept_number(const char *name)
{
    int k = 0;
    while (strcmp(rt_kept_option(k), name) != 0)
        k++;
    return k;
}

const char *rt_option_text(const struct rt_options *o, const char *name,
                           char buffer[RT_OPTION_TEXT])
{
    return value_text(o, kept[kept_number(name)].id, buffer);
}

enum gbm_status rt_option_take(struct rt *rt, const char *name,
                               const char *text)
{
    int k = kept_number(name);
    char buffer[RT_OPTION_TEXT];
    const char *own = value_text(&rt->options, kept[k].id, buffer);
    bool given = own && rt->options.given >> kept[k].id & 1;
    if (given && !kept[k].ends)
        return text && strcmp(own, text) == 0 ? GBM_OK : GBM_USER_ERROR;
    if (given || !text)
        return GBM_OK;
    return set_option(rt, option_of(kept[k].id), text);
}

enum gbm_status rt_option_add_init(struct rt *rt, const char *file)
{
    struct rt_options *o = &rt->options;
    const char **more = realloc(o->init, ((size_t)o->ninit + 1) * sizeof *more);
    if (!more)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    o->init = more;
    o->init[o->ninit++] = file;
    return GBM_OK;
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
    return suggest(rt, "command", word,
                   rt_nearest(word, NCOMMANDS, command_name, NULL));
}

enum gbm_status rt_options_parse(struct rt *rt, int argc, char **argv)
{
    struct rt_options *o = &rt->options;
    size_t n = (size_t)argc + 1;
    *o = (struct rt_options){.command = RT_RUN,
                             .program = argc > 0 ? argv[0] : "sampler",
                             .chains = 4,
                             .warmup = 1000,
                             .draws = 1000,
                             .thin = 1,
                             .seed = 1,
                             .device = "auto",
                             .method = &rt_mcmc,
                             .power = 1,
                             .replicas = 10,
                             .beside = 1,
                             .argv = argv,
                             .points = 3,
                             .particles = 1000,
                             .iterations = 2000,
                             .every = 60};
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
    if (s == GBM_OK && !o->sequence && o->power > 100)
        s = rt_fail(rt, GBM_USER_ERROR,
                    "--power '%g': a number from 0 to 100 is wanted", o->power);
    if (s == GBM_OK && o->sequence && o->command != RT_CHECK &&
        (o->command != RT_RUN || o->method != &rt_smc))
        s = rt_fail(rt, GBM_USER_ERROR,
                    "--sequence is an option of --method smc, and of check");
    if (o->sequence && !(o->given >> OPTION_POWER & 1))
        o->power = RT_ALL_ENTERED;
    if (s == GBM_OK && o->plain && o->command != RT_RUN && o->command != RT_SBC)
        s = rt_fail(rt, GBM_USER_ERROR, "--plain is an option of run and sbc");
    if (s == GBM_OK && o->replicates && o->command != RT_SBC)
        s = rt_fail(rt, GBM_USER_ERROR, "--replicates is an option of sbc");
    if (s == GBM_OK && o->profile && (o->command != RT_RUN || o->plain))
        s = rt_fail(rt, GBM_USER_ERROR,
                    o->plain ? "--profile times the sampler's steps, which "
                               "--plain does not run"
                             : "--profile is an option of run");
    if (s == GBM_OK && o->log_lik &&
        (o->command != RT_RUN || o->method->run != rt_run_chains))
        s = rt_fail(rt, GBM_USER_ERROR, "--log-lik is an option of run%s%s",
                    o->command == RT_RUN ? ", not with --method " : "",
                    o->command == RT_RUN ? o->method->name : "");
    if (s == GBM_OK && (o->checkpoint || o->resume) && o->command != RT_RUN)
        s = rt_fail(rt, GBM_USER_ERROR, "%s is an option of run",
                    o->checkpoint ? "--checkpoint" : "--resume");
    if (s == GBM_OK && o->given >> OPTION_EVERY & 1 && !o->checkpoint)
        s = rt_fail(rt, GBM_USER_ERROR, "--every goes with --checkpoint FILE");
    if (s == GBM_OK && (o->relabel || o->clusters) && o->command != RT_SUMMARY)
        s = rt_fail(rt, GBM_USER_ERROR, "%s is an option of summary",
                    o->relabel ? "--relabel" : "--clusters");
    if (s == GBM_OK && o->reference && !o->relabel)
        s = rt_fail(rt, GBM_USER_ERROR, "--reference goes with --relabel LIST");
    if (s == GBM_OK && o->command == RT_SUMMARY && !o->file)
        s = rt_fail(rt, GBM_USER_ERROR, "summary: which file? summary fit.nc");
    if (s == GBM_OK && o->command == RT_COMPARE && o->nfiles < 2)
        s = rt_fail(rt, GBM_USER_ERROR,
                    "compare: two files or more are wanted: compare A.nc B.nc");
    return s;
}

void rt_options_free(struct rt_options *o)
{
    free(o->data);
    free(o->init);
    free(o->files);
    o->data = o->init = o->files = NULL;
}
