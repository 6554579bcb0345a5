/* cmdstan.c: CmdStan's CSV, one file per chain, for cmdstanpy, cmdstanr,
 * stansummary and ArviZ. They want the shape of an HMC run, so the header is
 * that of one with a unit metric, and the seven standard columns are there. */
#include "io/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Standard columns: CmdStan's name, ArviZ's name, what stands there without. */
static const struct standard {
    const char *column, *stat;
    bool integer;
    const char *otherwise;
} standard[] = {
    {"lp__", "lp", false, "nan"},
    {"accept_stat__", "acceptance_rate", false, "1"},
    {"stepsize__", "step_size", false, "1"},
    {"treedepth__", "tree_depth", true, "0"},
    {"n_leapfrog__", "n_steps", true, "0"},
    {"divergent__", "diverging", true, "0"},
    {"energy__", "energy", false, "nan"},
};
enum { NSTANDARD = sizeof standard / sizeof standard[0] };

void rt_cmdstan_path(const char *path, int chain, char out[RT_PATH])
{
    size_t n = strlen(path);

    if (n >= 4 && strcasecmp(path + n - 4, ".csv") == 0)
        n -= 4;
    snprintf(out, RT_PATH, "%.*s_%d.csv",
             (int)(n < RT_PATH - 32 ? n : RT_PATH - 32), path, chain);
}

static const struct gbm_draws_stat *find_stat(const struct gbm_draws *draws,
                                              const char *name)
{
    for (int i = 0; i < draws->nstats; i++)
        if (strcmp(draws->stats[i].name, name) == 0)
            return &draws->stats[i];
    return NULL;
}

static bool is_standard(const char *stat)
{
    for (int i = 0; i < NSTANDARD; i++)
        if (strcmp(standard[i].stat, stat) == 0)
            return true;
    return false;
}

/* A dot separates indices here, so `alpha.c` is written alpha_c. If another
 * variable has that name, underscores follow. */
static void plain_name(const struct gbm_draws *draws,
                       const struct gbm_draws_variable *v, char out[512])
{
    bool taken;

    snprintf(out, 256, "%s", v->name);
    for (char *p = out; *p; p++)
        if (*p == '.')
            *p = '_';
    if (strcmp(out, v->name) == 0)
        return;
    do {
        size_t n = strlen(out);

        taken = false;
        for (int i = 0; i < draws->nvariables; i++)
            taken |= strcmp(draws->variables[i].name, out) == 0;
        if (taken && n < 500) {
            out[n] = '_';
            out[n + 1] = '\0';
        }
    } while (taken);
}

static void write_settings(struct rt_out *out, const struct gbm_draws *draws,
                           int chain)
{
    char now[64] = "";
    time_t clock = time(NULL);
    struct tm utc;

    if (gmtime_r(&clock, &utc))
        strftime(now, sizeof now, "%Y-%m-%d %H:%M:%S UTC", &utc);
    rt_out_format(out,
                  "# stan_version_major = 2\n# stan_version_minor = 36\n"
                  "# stan_version_patch = 0\n# model = %.500s_model\n"
                  "# start_datetime = %s\n",
                  draws->model ? draws->model : "gbm", now);
    rt_out_format(out,
                  "# method = sample (Default)\n#   sample\n"
                  "#     num_samples = %lld\n#     num_warmup = %d\n"
                  "#     save_warmup = 0 (Default)\n#     thin = %d\n",
                  (long long)draws->kept * draws->thin, draws->warmup,
                  draws->thin);
    /* CmdStan says so; cmdstanpy refuses files without warm-up all the same */
    rt_out_format(out,
                  "#     adapt\n#       engaged = %d\n"
                  "#     algorithm = hmc (Default)\n#       hmc\n"
                  "#         engine = nuts (Default)\n#           nuts\n"
                  "#             max_depth = 10 (Default)\n"
                  "#         metric = unit_e\n",
                  draws->warmup > 0);
    rt_out_format(out,
                  "#   id = %d\n# data\n#   file = %.900s\n"
                  "# random\n#   seed = %llu\n",
                  chain + 1, draws->data ? draws->data : "",
                  (unsigned long long)draws->seed);
    rt_out_format(out, "# inference_library = gbm %.100s\n# complete = %d\n",
                  draws->version ? draws->version : "", draws->complete);
    if (draws->unchecked)
        rt_out_text(out, "# warning = " GBM_UNCHECKED "\n");
    if (!draws->complete)
        rt_out_text(out, "# the run was stopped early: this is what was drawn "
                         "until then\n");
}

/* What R's loo and ArviZ look for: log_lik, with the subscripts of the data, or
 * numbered through, where there are several variables or only some cells. */
static int64_t log_lik_column(const struct gbm_draws *draws,
                              const struct rt_column *column, int64_t i)
{
    bool whole = column->variable->count == draws->width - draws->quantities &&
                 !column->variable->cells;

    return whole ? 0 : i - draws->quantities + 1;
}

static void write_names(struct rt_out *out, const struct gbm_draws *draws,
                        const struct rt_column *columns)
{
    const struct gbm_draws_variable *last = NULL;
    char name[512] = "";

    for (int i = 0; i < NSTANDARD; i++)
        rt_out_format(out, "%s%s", i ? "," : "", standard[i].column);
    for (int i = 0; i < draws->nstats; i++)
        if (!is_standard(draws->stats[i].name))
            rt_out_format(out, ",%.200s__", draws->stats[i].name);
    for (int64_t i = 0; i < draws->width; i++) {
        const struct gbm_draws_variable *v = columns[i].variable;
        int64_t index[GBM_MAX_DIMS], cell = columns[i].cell, number = 0;

        if (v->group == GBM_LOG_LIKELIHOOD) {
            number = log_lik_column(draws, &columns[i], i);
            snprintf(name, sizeof name, "log_lik");
        } else if (v != last) {
            plain_name(draws, v, name);
        }
        last = v;
        for (int d = v->ndim - 1; d >= 0; d--) {
            index[d] = cell % v->dim[d] + 1;
            cell /= v->dim[d];
        }
        rt_out_char(out, ',');
        rt_out_text(out, name);
        if (number > 0)
            rt_out_format(out, ".%lld", (long long)number);
        for (int d = 0; d < v->ndim && number == 0; d++) {
            rt_out_char(out, '.');
            rt_out_integer(out, index[d]);
        }
    }
    rt_out_char(out, '\n');
}

static void write_value(struct rt_out *out, double value, bool integer)
{
    if (integer && fabs(value) < 9e15)
        rt_out_integer(out, (int64_t)value);
    else
        rt_out_number(out, value, "nan");
}

static void write_stats(struct rt_out *out, const struct gbm_draws *draws,
                        const struct gbm_draws_stat *const *stats,
                        int64_t place)
{
    for (int i = 0; i < NSTANDARD; i++) {
        if (i > 0)
            rt_out_char(out, ',');
        if (stats[i])
            write_value(out, stats[i]->values[place], standard[i].integer);
        else if (i == NSTANDARD - 1 && stats[0])
            /* energy of a Gibbs sweep */
            write_value(out, -stats[0]->values[place], false);
        else
            rt_out_text(out, standard[i].otherwise);
    }
    for (int i = 0; i < draws->nstats; i++)
        if (!is_standard(draws->stats[i].name)) {
            rt_out_char(out, ',');
            write_value(out, draws->stats[i].values[place],
                        draws->stats[i].integer);
        }
}

static void write_rows(struct rt_out *out, const struct gbm_draws *draws,
                       const struct rt_column *columns, int chain)
{
    const struct gbm_draws_stat *stats[NSTANDARD];

    for (int i = 0; i < NSTANDARD; i++)
        stats[i] = find_stat(draws, standard[i].stat);
    for (int d = 0; d < draws->kept && !out->failure; d++) {
        const double *record = gbm_draws_record(draws, chain, d);

        write_stats(out, draws, stats, (int64_t)chain * draws->capacity + d);
        for (int64_t i = 0; i < draws->width; i++) {
            rt_out_char(out, ',');
            write_value(out, record[columns[i].offset],
                        columns[i].variable->integer);
        }
        rt_out_char(out, '\n');
    }
}

static enum gbm_status write_chain(struct rt_out *out,
                                   const struct gbm_draws *draws,
                                   const struct rt_column *columns, int chain,
                                   const char *path, char *error)
{
    const struct gbm_timing *time = &draws->timing;
    char file[RT_PATH];
    enum gbm_status status;

    rt_cmdstan_path(path, chain + 1, file);
    status = rt_out_open(out, file, error);
    if (status)
        return status;
    out->digits = draws->digits;
    write_settings(out, draws, chain);
    write_names(out, draws, columns);
    rt_out_text(out, "# Adaptation terminated\n# Step size = 1\n"
                     "# No free parameters for unit metric\n");
    write_rows(out, draws, columns, chain);
    rt_out_format(out,
                  "# \n#  Elapsed Time: %.6g seconds (Warm-up)\n"
                  "#                %.6g seconds (Sampling)\n"
                  "#                %.6g seconds (Total)\n# \n",
                  time->warmup_s, time->sampling_s,
                  time->warmup_s + time->sampling_s);
    return rt_out_close(out, true, error);
}

enum gbm_status rt_write_cmdstan(const struct gbm_draws *draws,
                                 const char *path, char *error)
{
    struct rt_column *columns = rt_columns(draws);
    struct rt_out *out = malloc(sizeof *out);
    enum gbm_status status = GBM_OK;

    if (!columns || !out) {
        snprintf(error, GBM_ERROR, "out of memory");
        status = GBM_FAILURE;
    }
    for (int c = 0; c < draws->chains && status == GBM_OK; c++)
        status = write_chain(out, draws, columns, c, path, error);
    free(out);
    free(columns);
    return status;
}
