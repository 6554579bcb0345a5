/* filter_report.c: what --method filter says, for people and for programs. */
#include "filter/filter.h"
#include "io/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60 };      /* of the table, at most */
#define FEW_PATHS 10     /* different ancestors, too few for a distribution */
#define FEW_PARTICLES 10 /* effective ones */
#define WIDE_SPREAD 1.5  /* of log likelihoods: the mean is one filter's */

static void print_row(const struct rt_instance *in, const struct rt_tracked *c,
                      int width, FILE *out)
{
    char name[256];
    rt_cell_name(in, c->variable, c->cell, name, sizeof name);
    fprintf(out, "%-*s %6d", width, name, c->time);
    for (int smoothed = 0; smoothed < 2; smoothed++) {
        const struct rt_estimate *e = smoothed ? &c->smoothed : &c->filtered;
        fprintf(out, "  %10.4g %9.3g %10.4g %10.4g", e->mean, e->sd,
                e->quantile[0], e->quantile[2]);
    }
    fprintf(out, " %9.2g\n", c->smoothed.mcse);
}

static void print_table(const struct rt_instance *in,
                        const struct rt_filtered *r, FILE *out)
{
    const int64_t rows = r->ncells < ROWS ? r->ncells : ROWS;
    int width = 8;
    for (int64_t i = 0; i < rows; i++) {
        char name[256];
        rt_cell_name(in, r->cells[i].variable, r->cells[i].cell, name,
                     sizeof name);
        int length = (int)strlen(name);
        width = length > width ? length : width;
    }
    fprintf(out, "%-*s %6s  %42s  %42s\n", width, "", "",
            "given observations up to its time",
            "given all (ancestors traced)");
    fprintf(out, "%-*s %6s", width, "", "time");
    for (int k = 0; k < 2; k++)
        fprintf(out, "  %10s %9s %10s %10s", "mean", "sd", "5%", "95%");
    fprintf(out, " %9s\n", "mcse");
    for (int64_t i = 0; i < rows; i++)
        print_row(in, &r->cells[i], width, out);
    if (rows < r->ncells)
        fprintf(out,
                "... and %lld more rows. --summary FILE.json writes all of "
                "them.\n",
                (long long)(r->ncells - rows));
}

static void print_warnings(const struct rt_filtered *r, FILE *out)
{
    int least = 1, poor = 1;
    for (int t = 2; t <= r->count; t++) {
        least = r->instants[t].ess < r->instants[least].ess ? t : least;
        poor = r->instants[t].paths < r->instants[poor].paths ? t : poor;
    }
    fprintf(out, "Effective particles: at least %.0f of %d, at time %d.\n",
            r->instants[least].ess, r->particles, least);
    if (!r->complete)
        fprintf(out,
                "Warning: stopped early, after %d filters. This is a part of "
                "it.\n",
                r->filters);
    if (r->instants[least].ess < FEW_PARTICLES)
        fprintf(out,
                "Warning: at time %d the observations leave %.1f of %d "
                "particles. More --particles,\n  or parameters under which "
                "they are likelier, are needed.\n",
                least, r->instants[least].ess, r->particles);
    if (r->instants[poor].paths < FEW_PATHS)
        fprintf(out,
                "Warning: the last particles have %.1f different ancestors at "
                "time %d (a filter): what is\n  given all observations is not "
                "precise there. More --particles, or samplers { ... : pgas; "
                "}.\n",
                r->instants[poor].paths, poor);
    if (r->spread > WIDE_SPREAD && !r->draws)
        fprintf(out,
                "Warning: the filters' log likelihoods have a standard "
                "deviation of %.1f: their mean and its\n  error are not to be "
                "relied on. More --particles.\n",
                r->spread);
    if (r->filters < 2)
        fprintf(out, "Note: one filter cannot tell its error; --chains 10 "
                     "runs ten.\n");
}

void rt_filter_print(const struct rt_filter *f, FILE *out)
{
    const struct rt_filtered *r = &f->result;
    print_table(&f->in, r, out);
    fprintf(out,
            r->draws ? "\nMean log likelihood of the draws %.4f, standard "
                       "error %.2g (%d filter%s of %d particles).\n"
                     : "\nLog likelihood %.4f, standard error %.2g (%d "
                       "filter%s of %d particles).\n",
            r->loglik, r->se, r->filters, r->filters == 1 ? "" : "s",
            r->particles);
    rt_guides_print(f, out);
    print_warnings(r, out);
}

/* ---- JSON ---- */

static void put_number(struct rt_out *out, const char *key, double x)
{
    rt_out_text(out, key);
    if (isfinite(x))
        rt_out_format(out, "%.10g", x);
    else
        rt_out_text(out, "null");
}

static void put_estimate(struct rt_out *out, const struct rt_estimate *e)
{
    put_number(out, "\"mean\": ", e->mean);
    put_number(out, ", \"sd\": ", e->sd);
    put_number(out, ", \"mcse\": ", e->mcse);
    put_number(out, ", \"q5\": ", e->quantile[0]);
    put_number(out, ", \"q50\": ", e->quantile[1]);
    put_number(out, ", \"q95\": ", e->quantile[2]);
}

static void put_head(struct rt_out *out, const struct rt_filtered *r)
{
    put_number(out, "{\n  \"timing\": {\"load_s\": ", r->timing.load_s);
    put_number(out, ", \"sampling_s\": ", r->timing.sampling_s);
    put_number(out, ", \"sampling_cpu_s\": ", r->timing.sampling_cpu_s);
    rt_out_format(out,
                  "},\n  \"method\": \"filter\",\n  \"complete\": %s,\n"
                  "  \"filters\": %d,\n  \"particles\": %d,\n",
                  r->complete ? "true" : "false", r->filters, r->particles);
    put_number(out, "  \"log_likelihood\": {\"value\": ", r->loglik);
    put_number(out, ", \"se\": ", r->se);
    put_number(out,
               r->draws ? ", \"sd_of_a_draw\": " : ", \"sd_of_a_filter\": ",
               r->spread);
    rt_out_text(out, "},\n  \"times\": [");
    for (int t = 1; t <= r->count; t++) {
        const struct rt_instant *i = &r->instants[t];
        rt_out_format(out, "%s\n    {\"time\": %d", t > 1 ? "," : "", t);
        put_number(out, ", \"ess\": ", i->ess);
        put_number(out, ", \"ancestors\": ", i->paths);
        put_number(out, ", \"resampled\": ", i->resampled);
        put_number(out, ", \"log_likelihood\": ", i->loglik);
        rt_out_text(out, "}");
    }
}

enum gbm_status rt_filter_write(const struct rt_filter *f, const char *path,
                                char error[GBM_ERROR])
{
    const struct rt_instance *in = &f->in;
    const struct rt_filtered *r = &f->result;
    struct rt_out *out = malloc(sizeof *out);
    if (!out) {
        snprintf(error, GBM_ERROR, "out of memory");
        return GBM_FAILURE;
    }
    enum gbm_status s = rt_out_open(out, path, error);
    if (s != GBM_OK) {
        free(out);
        return s;
    }
    put_head(out, r);
    rt_out_text(out, "\n  ]");
    rt_guides_write(f, out);
    rt_out_text(out, ",\n  \"parameters\": {");
    for (int64_t i = 0; i < r->ncells; i++) {
        const struct rt_tracked *c = &r->cells[i];
        char name[256];
        rt_cell_name(in, c->variable, c->cell, name, sizeof name);
        rt_out_format(out, "%s\n    \"%s\": {", i > 0 ? "," : "", name);
        put_estimate(out, &c->smoothed);
        rt_out_format(out, ", \"time\": %d,\n      \"filtered\": {", c->time);
        put_estimate(out, &c->filtered);
        rt_out_text(out, "}}");
    }
    rt_out_text(out, "\n  }\n}\n");
    s = rt_out_close(out, true, error);
    free(out);
    return s;
}
