/* summary.c: the posterior summary. */
#include "summary/criteria.h"
#include "summary/rows.h"
#include "io/output.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 16 /* cells gathered at a time, at most */
};

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
    free(summary->intervals);
    *summary = (struct gbm_summary){0};
}

void gbm_summary_worst(const struct gbm_summary *summary, double *ess,
                       double *rhat)
{
    *ess = *rhat = NAN;
    for (int64_t i = 0; i < summary->count; i++) {
        *ess = fmin(*ess, gbm_least_ess(&summary->diagnoses[i]));
        *rhat = fmax(*rhat, summary->diagnoses[i].rhat);
    }
}

/* ---- JSON */

/* Quantiles that every row has are not told twice. */
static void put_json_intervals(struct rt_out *out,
                               const struct gbm_summary *summary,
                               const struct gbm_row *row)
{
    int n = gbm_view_intervals(&summary->view);
    char title[GBM_TITLE], key[GBM_TITLE + 8];

    for (int k = 0; k < n; k++) {
        gbm_view_title(&summary->view, k, true, title);
        if (strcmp(title, "q5") == 0 || strcmp(title, "q50") == 0 ||
            strcmp(title, "q95") == 0)
            continue;
        snprintf(key, sizeof key, ", \"%s\": ", title);
        rt_out_json_number(out, key,
                           row->at < 0 ? (double)NAN
                                       : summary->intervals[row->at * n + k]);
    }
}

static void put_json_row(struct rt_out *out, const struct gbm_summary *summary,
                         const struct gbm_row *row)
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
    put_json_intervals(out, summary, row);
    rt_out_text(out, "}");
}

/* Of what was not asked for there are moments alone, apart from the rest: a
 * program that reads parameters finds those that it named. */
static void put_json_moments(struct rt_out *out,
                             const struct gbm_summary *summary)
{
    struct gbm_rows at = {.summary = summary, .all = true};
    struct gbm_row row;
    bool first = true;

    rt_out_text(out, ",\n  \"moments\": {");
    while (gbm_rows_next(&at, &row)) {
        if (row.at >= 0)
            continue;
        rt_out_text(out, first ? "\n    \"" : ",\n    \"");
        rt_out_json_string(out, row.name);
        rt_out_json_number(out, "\": {\"mean\": ", row.d.mean);
        rt_out_json_number(out, ", \"sd\": ", row.d.sd);
        rt_out_json_number(out, ", \"rhat\": ", row.d.rhat);
        rt_out_text(out, "}");
        first = false;
    }
    rt_out_text(out, "\n  }");
}

enum gbm_status gbm_summary_write(const struct gbm_summary *summary,
                                  const struct gbm_criteria *criteria,
                                  const char *path, char error[GBM_ERROR])
{
    const struct gbm_timing *time = &summary->draws->timing;
    struct gbm_rows at = {.summary = summary, .all = !summary->draws->aside};
    struct rt_out *out = malloc(sizeof *out);
    enum gbm_status status;
    struct gbm_row row;

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
    gbm_worst_write(summary, out);
    if (criteria)
        gbm_criteria_write(criteria, out);
    rt_out_text(out, "  \"parameters\": {");
    for (bool first = true; gbm_rows_next(&at, &row); first = false) {
        rt_out_text(out, first ? "\n" : ",\n");
        put_json_row(out, summary, &row);
    }
    rt_out_text(out, "\n  }");
    if (summary->draws->aside)
        put_json_moments(out, summary);
    if (summary->draws->json) {
        rt_out_text(out, ",\n");
        rt_out_text(out, summary->draws->json);
    }
    rt_out_text(out, "\n}\n");
    status = rt_out_close(out, true, error);
    free(out);
    return status;
}
