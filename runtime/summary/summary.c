/* summary.c: the posterior summary. */
#include "summary/criteria.h"
#include "io/output.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 16, /* cells gathered at a time, at most */
    DEFAULT_ROWS = 60,
    COLUMNS = 9,
    NAMED = 5 /* names that a warning shows */
};

static const double enough_ess = 400, good_rhat = 1.01;

/* Worth their while for `width` cells of n draws. */
static int threads_for(int64_t width, int64_t n)
{
    const int threads = omp_get_max_threads();

    if (width * n <= 20000)
        return 1;
    return threads < width ? threads : (int)width;
}

enum gbm_status gbm_summarise(struct gbm_summary *summary,
                              const struct gbm_draws *draws,
                              char error[GBM_ERROR])
{
    int64_t width = draws->quantities;
    int64_t n = (int64_t)draws->chains * draws->kept;
    int threads = threads_for(width, n);
    int64_t share = (width + threads - 1) / threads;
    int64_t block = share > BLOCK ? BLOCK : share > 0 ? share : 1;
    int failed = 0;

    *summary = (struct gbm_summary){.draws = draws, .count = width};
    summary->diagnoses = malloc((size_t)width * sizeof *summary->diagnoses + 1);
    if (!summary->diagnoses) {
        snprintf(error, GBM_ERROR, "out of memory");
        return GBM_FAILURE;
    }
#pragma omp parallel num_threads(threads) reduction(| : failed)
    {
        struct gbm_diagnoser *g =
            gbm_diagnoser_create(draws->chains, draws->kept);
        double *x = malloc((size_t)(n * block) * sizeof *x + 1);

        failed = !g || !x;
#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < width; first += block) {
            int64_t count = width - first < block ? width - first : block;

            if (failed)
                continue;
            gbm_draws_columns(draws, first, count, x);
            for (int64_t i = 0; i < count; i++)
                gbm_diagnose_with(g, x + i * n, &summary->diagnoses[first + i]);
        }
        free(x);
        gbm_diagnoser_free(g);
    }
    if (failed) {
        gbm_summary_free(summary);
        snprintf(error, GBM_ERROR, "out of memory");
        return GBM_FAILURE;
    }
    return GBM_OK;
}

void gbm_summary_free(struct gbm_summary *summary)
{
    free(summary->diagnoses);
    *summary = (struct gbm_summary){0};
}

static double least_ess(const struct gbm_diagnosis *d)
{
    return fmin(d->ess_bulk, d->ess_tail);
}

void gbm_summary_worst(const struct gbm_summary *summary, double *ess,
                       double *rhat)
{
    *ess = *rhat = NAN;
    for (int64_t i = 0; i < summary->count; i++) {
        *ess = fmin(*ess, least_ess(&summary->diagnoses[i]));
        *rhat = fmax(*rhat, summary->diagnoses[i].rhat);
    }
}

/* ---- going through all rows */

/* One row: a drawn cell, or one with moments and no draws. */
struct row {
    char name[256];
    bool moments_only;
    struct gbm_diagnosis d;
};

struct rows {
    const struct gbm_summary *summary;
    int variable, moments; /* the next */
    int64_t cell;
    const struct gbm_draws_variable *same; /* that has draws, or NULL */
    bool all; /* with moments that are kept aside, too */
};

/* The first of a variable's moments, from number k on, of a cell that has no
 * draws under the same name, or their number. */
static int64_t without_draws(const struct gbm_draws_variable *same,
                             const struct gbm_moments_variable *m, int64_t k)
{
    while (same && k < m->count &&
           gbm_draws_has(same, m->cells ? m->cells[k] : k))
        k++;
    return k;
}

static bool next_row(struct rows *at, struct row *row)
{
    const struct gbm_draws *draws = at->summary->draws;

    for (; at->variable < draws->nvariables; at->variable++, at->cell = 0) {
        const struct gbm_draws_variable *v = &draws->variables[at->variable];

        if (at->cell == v->count || v->group == GBM_LOG_LIKELIHOOD)
            continue;
        gbm_cell_name(v->name, v->ndim, v->dim,
                      v->cells ? v->cells[at->cell] : at->cell, row->name,
                      sizeof row->name);
        row->moments_only = false;
        row->d = at->summary->diagnoses[v->offset + at->cell++];
        return true;
    }
    for (; at->moments < draws->nmoments; at->moments++, at->cell = 0) {
        const struct gbm_moments_variable *m = &draws->moments[at->moments];

        if (at->cell == 0)
            at->same = gbm_draws_find(draws, m->name);
        at->cell = without_draws(at->same, m, at->cell);
        if (at->cell == m->count || (draws->aside && !at->all))
            continue;
        gbm_cell_name(m->name, m->ndim, m->dim,
                      m->cells ? m->cells[at->cell] : at->cell, row->name,
                      sizeof row->name);
        row->moments_only = true;
        row->d = (struct gbm_diagnosis){
            m->mean[at->cell], m->sd[at->cell], NAN, NAN, NAN, NAN, NAN, NAN,
            m->rhat[at->cell]};
        at->cell++;
        return true;
    }
    return false;
}

/* ---- the table */

enum { TEXT = 24 };

/* Decimals that show `digits` significant digits of a number of this size. */
static int decimals_for(double size, int digits)
{
    int n;

    if (!(size > 0) || isinf(size))
        return 3;
    n = digits - 1 - (int)floor(log10(size));
    return n < 0 ? 0 : n;
}

static void put_number(char out[TEXT], double x, int decimals)
{
    if (isnan(x))
        snprintf(out, TEXT, "-");
    else if (fabs(x) >= 1e7 || decimals > 7)
        snprintf(out, TEXT, "%.3g", x);
    else
        snprintf(out, TEXT, "%.*f", decimals, x);
    /* -0.000 */
    if (out[0] == '-' && out[1] && strspn(out + 1, "0.") == strlen(out + 1))
        memmove(out, out + 1, strlen(out));
}

/* All numbers of a row share the decimals that its sd needs. */
static void format_row(const struct row *row, char cells[COLUMNS][TEXT])
{
    const struct gbm_diagnosis *d = &row->d;
    int decimals = decimals_for(d->sd > 0 ? d->sd : fabs(d->mean), 3);

    put_number(cells[0], d->mean, decimals);
    put_number(cells[1], d->sd, decimals);
    put_number(cells[2], d->mcse, decimals_for(d->mcse, 2));
    put_number(cells[3], d->q5, decimals);
    put_number(cells[4], d->q50, decimals);
    put_number(cells[5], d->q95, decimals);
    put_number(cells[6], d->ess_bulk, 0);
    put_number(cells[7], d->ess_tail, 0);
    put_number(cells[8], d->rhat, 3);
}

static void print_table(const struct gbm_summary *summary, FILE *out,
                        int64_t max_rows)
{
    static const char *const titles[COLUMNS] = {"mean",     "sd",       "mcse",
                                                "5%",       "50%",      "95%",
                                                "ess_bulk", "ess_tail", "rhat"};
    int width[COLUMNS], name_width = 4;
    char cells[COLUMNS][TEXT];
    struct row row;
    struct rows at;
    int64_t n;

    for (int c = 0; c < COLUMNS; c++)
        width[c] = (int)strlen(titles[c]);
    at = (struct rows){.summary = summary};
    for (n = 0; n < max_rows && next_row(&at, &row); n++) {
        int length = (int)strlen(row.name);

        name_width = length > name_width ? length : name_width;
        format_row(&row, cells);
        for (int c = 0; c < COLUMNS; c++)
            if ((int)strlen(cells[c]) > width[c])
                width[c] = (int)strlen(cells[c]);
    }
    fprintf(out, "%-*s", name_width, "name");
    for (int c = 0; c < COLUMNS; c++)
        fprintf(out, "  %*s", width[c], titles[c]);
    fprintf(out, "\n");
    at = (struct rows){.summary = summary};
    for (n = 0; n < max_rows && next_row(&at, &row); n++) {
        format_row(&row, cells);
        fprintf(out, "%-*s", name_width, row.name);
        for (int c = 0; c < COLUMNS; c++)
            fprintf(out, "  %*s", width[c], cells[c]);
        fprintf(out, "\n");
    }
}

/* ---- warnings */

/* Rows that share a fault, and the worst of them. */
struct fault {
    int64_t count;
    int named;
    struct {
        char name[256];
        double badness;
    } worst[NAMED];
};

static void add_fault(struct fault *fault, const char *name, double badness)
{
    int at = fault->named;

    fault->count++;
    while (at > 0 && fault->worst[at - 1].badness < badness) {
        if (at < NAMED)
            fault->worst[at] = fault->worst[at - 1];
        at--;
    }
    if (at == NAMED)
        return;
    snprintf(fault->worst[at].name, sizeof fault->worst[at].name, "%s", name);
    fault->worst[at].badness = badness;
    if (fault->named < NAMED)
        fault->named++;
}

static void print_names(FILE *out, const struct fault *fault)
{
    for (int i = 0; i < fault->named; i++)
        fprintf(out, "%s%s", i ? ", " : "", fault->worst[i].name);
    if (fault->count > fault->named)
        fprintf(out, ", ...");
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static void warn_rhat(FILE *out, const struct fault *fault, bool modes)
{
    static const char *const advice[] = {
        "Run longer\n  (--warmup, --draws). If that does "
        "not help, the posterior may have several modes\n  or the "
        "parameters may be confounded: look at the traces of those "
        "above.\n",
        "Chains\n  are in different modes: see below.\n"};
    if (fault->count == 0)
        return;
    fprintf(out, "Warning: R-hat is above %.2f for %lld quantit%s (", good_rhat,
            (long long)fault->count, fault->count == 1 ? "y" : "ies");
    print_names(out, fault);
    fprintf(out,
            "; largest %.3f).\n  The chains do not agree yet, so do not use "
            "these numbers. %s",
            fault->worst[0].badness, advice[modes]);
}

static void warn_ess(FILE *out, const struct fault *fault,
                     const struct gbm_draws *draws)
{
    double least, wanted;

    if (fault->count == 0)
        return;
    least = 1 / fault->worst[0].badness;
    wanted = draws->kept * enough_ess / (least > 1 ? least : 1);
    fprintf(out,
            "Warning: the effective sample size is below %g for %lld "
            "quantit%s (",
            enough_ess, (long long)fault->count,
            fault->count == 1 ? "y" : "ies");
    print_names(out, fault);
    fprintf(out,
            "; smallest %.0f).\n  Their means and quantiles are not precise. "
            "About --draws %.0f would do.\n",
            least, 100 * ceil(1.2 * wanted / 100));
}

static void print_chains(FILE *out, const struct gbm_modes *m, int g)
{
    const char *before = "";
    for (int c = 0; c < m->chains; c++)
        if (m->group[c] == g) {
            fprintf(out, "%s%d", before, c + 1);
            before = ", ";
        }
}

/* The name of a drawn cell. */
static void cell_name(const struct gbm_draws *draws, int64_t cell, char *name,
                      size_t capacity)
{
    for (int i = 0; i < draws->nvariables; i++) {
        const struct gbm_draws_variable *v = &draws->variables[i];
        int64_t at = cell - v->offset;
        if (at >= 0 && at < v->count)
            gbm_cell_name(v->name, v->ndim, v->dim,
                          v->cells ? v->cells[at] : at, name, capacity);
    }
}

static void warn_modes(FILE *out, const struct gbm_modes *m,
                       const struct gbm_draws *draws)
{
    char name[256] = "";
    if (m->count < 2)
        return;
    cell_name(draws, m->cell, name, sizeof name);
    for (int g = 0; g < m->count; g++) {
        double higher = m->lp[g] - m->lp[m->main];
        if (g == m->main)
            continue;
        fprintf(out, "Warning: %d of %d chains (", m->size[g], m->chains);
        print_chains(out, m, g);
        fprintf(out, ") %s in another mode than chain%s ",
                m->size[g] == 1 ? "is" : "are",
                m->size[m->main] == 1 ? "" : "s");
        print_chains(out, m, m->main);
        if (isfinite(higher))
            fprintf(out, ", %.3g %s in log density", fabs(higher),
                    higher < 0 ? "lower" : "higher");
        fprintf(out, ":\n  %s is about %.4g there, %.4g here.\n", name,
                m->value[g], m->value[m->main]);
    }
    fprintf(out,
            "  How many chains are in a mode says nothing of its probability. "
            "Modes that differ in\n  names alone (of groups, of signs) need "
            "an order or a sign in the model; of others, those\n  whose log "
            "density is far lower may be left by other starts (--seed, "
            "--init).\n");
}

static void print_warnings(const struct gbm_summary *summary, FILE *out)
{
    const struct gbm_draws *draws = summary->draws;
    struct fault rhat = {0}, ess = {0}, constant = {0}, undefined = {0};
    struct rows at = {.summary = summary};
    struct row row;

    if (draws->unchecked)
        fprintf(out, "Warning: %s.\n", GBM_UNCHECKED);
    if (!draws->complete)
        fprintf(out,
                "Warning: the run was stopped early, after %d draw%s per "
                "chain. This is a part of it.\n",
                draws->kept, plural(draws->kept));
    while (next_row(&at, &row)) {
        double least = least_ess(&row.d);

        if (isnan(row.d.mean))
            add_fault(&undefined, row.name, 0);
        else if (row.d.sd == 0)
            add_fault(&constant, row.name, 0);
        if (row.d.rhat > good_rhat)
            add_fault(&rhat, row.name, row.d.rhat);
        if (least < enough_ess)
            add_fault(&ess, row.name, 1 / least);
    }
    if (draws->kept < 4) {
        fprintf(out, "Warning: too few draws for R-hat and ESS; at least 4 "
                     "per chain are needed, 1000 are usual.\n");
        return;
    }
    if (draws->chains == 1)
        fprintf(out, "Note: one chain cannot show that chains disagree; "
                     "--chains 4 can.\n");
    struct gbm_modes modes;
    gbm_find_modes(&modes, summary); /* no memory: none are shown */
    warn_rhat(out, &rhat, modes.count > 1);
    warn_modes(out, &modes, draws);
    gbm_modes_free(&modes);
    warn_ess(out, &ess, draws);
    if (undefined.count > 0) {
        fprintf(out,
                "Warning: %lld quantit%s had a draw that is not a number (",
                (long long)undefined.count, undefined.count == 1 ? "y" : "ies");
        print_names(out, &undefined);
        fprintf(out, ").\n");
    }
    if (constant.count > 0) {
        fprintf(out, "Note: %lld quantit%s never changed (",
                (long long)constant.count, constant.count == 1 ? "y" : "ies");
        print_names(out, &constant);
        fprintf(out, "), so R-hat and ESS are not defined.\n");
    }
}

/* Rows of moments without draws. */
static int64_t count_moments(const struct gbm_draws *draws)
{
    int64_t n = 0;

    for (int i = 0; i < draws->nmoments; i++) {
        const struct gbm_moments_variable *m = &draws->moments[i];
        const struct gbm_draws_variable *same = gbm_draws_find(draws, m->name);

        for (int64_t k = 0; k < m->count; k++) {
            k = without_draws(same, m, k);
            n += k < m->count;
        }
    }
    return n;
}

void gbm_summary_print(const struct gbm_summary *summary, FILE *out,
                       int64_t max_rows)
{
    const struct gbm_draws *draws = summary->draws;
    int64_t moments = count_moments(draws);
    int64_t aside = draws->aside ? moments : 0;
    int64_t total = summary->count + moments - aside;

    if (max_rows < 0)
        max_rows = DEFAULT_ROWS;
    if (max_rows == 0 || max_rows > total)
        max_rows = total;
    print_table(summary, out, max_rows);
    if (total > max_rows)
        fprintf(out,
                "... and %lld more row%s. --summary FILE.json writes all of "
                "them; the warnings\ncount all of them.\n",
                (long long)(total - max_rows), plural(total - max_rows));
    if (aside > 0)
        fprintf(
            out,
            "Of %lld more, --summary FILE.json and --out FILE.nc have means, "
            "sds and R-hats.\n",
            (long long)aside);
    print_warnings(summary, out);
}

/* ---- JSON */

static void put_json_row(struct rt_out *out, const struct row *row)
{
    const struct gbm_diagnosis *d = &row->d;

    rt_out_text(out, "    \"");
    rt_out_json_string(out, row->name);
    rt_out_json_number(out, "\": {\"mean\": ", d->mean);
    rt_out_json_number(out, ", \"sd\": ", d->sd);
    rt_out_json_number(out, ", \"mcse\": ", d->mcse);
    rt_out_json_number(out, ", \"q5\": ", d->q5);
    rt_out_json_number(out, ", \"q50\": ", d->q50);
    rt_out_json_number(out, ", \"q95\": ", d->q95);
    rt_out_json_number(out, ", \"ess_bulk\": ", d->ess_bulk);
    rt_out_json_number(out, ", \"ess_tail\": ", d->ess_tail);
    rt_out_json_number(out, ", \"rhat\": ", d->rhat);
    rt_out_text(out, "}");
}

enum gbm_status gbm_summary_write(const struct gbm_summary *summary,
                                  const struct gbm_criteria *criteria,
                                  const char *path, char error[GBM_ERROR])
{
    const struct gbm_timing *time = &summary->draws->timing;
    struct rows at = {.summary = summary, .all = true};
    struct rt_out *out = malloc(sizeof *out);
    enum gbm_status status;
    struct row row;

    if (!out) {
        snprintf(error, GBM_ERROR, "out of memory");
        return GBM_FAILURE;
    }
    status = rt_out_open(out, path, error);
    if (status) {
        free(out);
        return status;
    }
    rt_out_json_number(out, "{\n  \"timing\": {\"load_s\": ", time->load_s);
    rt_out_json_number(out, ", \"jit_s\": ", time->jit_s);
    rt_out_json_number(out, ", \"warmup_s\": ", time->warmup_s);
    rt_out_json_number(out, ", \"sampling_s\": ", time->sampling_s);
    rt_out_json_number(out, ",\n    \"warmup_cpu_s\": ", time->warmup_cpu_s);
    rt_out_json_number(out, ", \"sampling_cpu_s\": ", time->sampling_cpu_s);
    rt_out_format(out,
                  "},\n  \"complete\": %s,\n  \"checked\": %s,\n"
                  "  \"chains\": %d,\n"
                  "  \"draws\": %d,\n",
                  summary->draws->complete ? "true" : "false",
                  summary->draws->unchecked ? "false" : "true",
                  summary->draws->chains, summary->draws->kept);
    if (criteria)
        gbm_criteria_write(criteria, out);
    rt_out_text(out, "  \"parameters\": {");
    for (bool first = true; next_row(&at, &row); first = false) {
        rt_out_text(out, first ? "\n" : ",\n");
        put_json_row(out, &row);
    }
    rt_out_text(out, "\n  }");
    if (summary->draws->json) {
        rt_out_text(out, ",\n");
        rt_out_text(out, summary->draws->json);
    }
    rt_out_text(out, "\n}\n");
    status = rt_out_close(out, true, error);
    free(out);
    return status;
}
