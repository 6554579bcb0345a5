/* sbc_report.c: whether the ranks of simulation-based calibration are uniform,
 * for people and as JSON. */
#include "simulate/sbc.h"
#include "io/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALARM 0.01 /* the probability that something right is called wrong */

#define SOME 20 /* one in so many replicates is worth a word */

struct verdict {
    const struct rt_sbc *s;
    struct gbm_uniformity_plan plan;
    struct gbm_uniformity *tests; /* [width] */
    double limit;                 /* p-values below it are too small */
    int64_t worst;                /* quantity of the smallest */
    int failures;
    int *low, *high; /* [plan.points] of counts that chance makes */
};

void rt_sbc_name(const struct rt_sbc *s, int64_t k, char *name, size_t capacity)
{
    name[0] = '\0';
    for (int i = 0; i < s->draws.nvariables; i++) {
        const struct gbm_draws_variable *v = &s->draws.variables[i];
        int64_t at = k - v->offset;
        if (at >= 0 && at < v->count)
            gbm_cell_name(v->name, v->ndim, v->dim,
                          v->cells ? v->cells[at] : at, name, capacity);
    }
}

static double least_p(const struct gbm_uniformity *u)
{
    return fmin(u->chi_p, u->ecdf_p);
}

static bool is_bad(const struct verdict *v, int64_t k)
{
    return least_p(&v->tests[k]) < v->limit;
}

/* What the shape of the ranks tells of the sampler (Talts et al., section 4.2).
 */
static const char *meaning(const struct gbm_uniformity *u)
{
    if (fabs(u->location_z) > fabs(u->spread_z) && fabs(u->location_z) > 3)
        return u->location_z > 0 ? "draws are too low" : "draws are too high";
    if (fabs(u->spread_z) > 3)
        return u->spread_z > 0 ? "draws are too close together"
                               : "draws are too far apart";
    return "draws are of another shape";
}

static bool judge(struct verdict *v)
{
    const struct rt_sbc *s = v->s;
    int64_t width = s->draws.width;
    int failed = 0;
    if (!gbm_uniformity_plan(&v->plan, s->replicates, s->ranked))
        return false;
    size_t points = (size_t)v->plan.points + 1;
    v->tests = calloc((size_t)width, sizeof *v->tests);
    v->low = malloc(points * sizeof *v->low);
    v->high = malloc(points * sizeof *v->high);
    if (!v->tests || !v->low || !v->high ||
        !gbm_uniformity_band(&v->plan, 0.05, v->low, v->high))
        return false;
#pragma omp parallel for num_threads(s->rt->threads) schedule(dynamic)         \
    reduction(|                                                                \
              : failed)
    for (int64_t k = 0; k < width; k++)
        failed |= !gbm_uniformity(&v->plan, s->ranks + k * s->replicates,
                                  &v->tests[k]);
    v->limit = ALARM / (2 * (double)width);
    for (int64_t k = 0; k < width; k++) {
        v->failures += is_bad(v, k);
        if (least_p(&v->tests[k]) < least_p(&v->tests[v->worst]))
            v->worst = k;
    }
    return !failed;
}

static void print_table(const struct verdict *v)
{
    const struct rt_sbc *s = v->s;
    int wide = 4;
    char name[256];
    for (int64_t k = 0; k < s->draws.width; k++) {
        rt_sbc_name(s, k, name, sizeof name);
        wide = (int)strlen(name) > wide ? (int)strlen(name) : wide;
    }
    printf("%-*s  %8s  %8s  %8s  %8s\n", wide, "name", "bins_p", "ecdf_p",
           "location", "spread");
    for (int64_t k = 0; k < s->draws.width; k++) {
        const struct gbm_uniformity *u = &v->tests[k];
        bool bad = is_bad(v, k);
        rt_sbc_name(s, k, name, sizeof name);
        printf("%-*s  %8.2g  %8.2g  %8.2f  %8.2f%s%s\n", wide, name, u->chi_p,
               u->ecdf_p, u->location_z, u->spread_z, bad ? "  FAIL: " : "",
               bad ? meaning(u) : "");
    }
}

/* The quantity whose chains move least; -1: all do. */
static int64_t slowest(const struct rt_sbc *s)
{
    int64_t worst = 0;
    for (int64_t k = 0; k < s->draws.width; k++)
        worst = s->slow[k] > s->slow[worst] ? k : worst;
    return s->slow[worst] * SOME > s->replicates ? worst : -1;
}

/* What else than a wrong sampler may have bent the ranks. */
static void print_doubts(const struct verdict *v)
{
    const struct rt_sbc *s = v->s;
    int64_t slow = slowest(s);
    char name[256];
    if (slow >= 0) {
        rt_sbc_name(s, slow, name, sizeof name);
        printf("Warning: in %d replicates the %d draws of %s, %d sweeps apart, "
               "are not\n  independent: too many ranks that are far from the "
               "middle may come of chains\n  that do not get around. --thin "
               "and --warmup make them longer.\n",
               s->slow[slow], s->ranked, name, s->lag);
    }
    if (v->failures && s->extreme * SOME > s->replicates)
        printf("Warning: the priors are vague: %lld replicates have values "
               "beyond 1e20 or within\n  1e-20 of 0, beside which data are "
               "lost to rounding. Narrower priors tell (--prior of gbm sbc and "
               "gbmc).\n",
               (long long)s->extreme);
}

static void print_verdict(const struct verdict *v)
{
    const struct rt_sbc *s = v->s;
    char name[256];
    print_table(v);
    print_doubts(v);
    if (s->dropped > 0)
        printf("%lld of %lld forward draws were left out, as they overflowed "
               "or had a density\nof 0.\n",
               (long long)s->dropped, (long long)s->forward);
    rt_sbc_name(s, v->worst, name, sizeof name);
    printf("sbc: %d replicates, ranks among %d draws %d sweep%s apart: %s; "
           "smallest p %.2g (%s)\nof %lld tests, and %.2g is the limit.\n",
           s->replicates, s->ranked, s->lag, s->lag == 1 ? "" : "s",
           v->failures ? "NOT calibrated" : "calibrated",
           least_p(&v->tests[v->worst]), name, (long long)(2 * s->draws.width),
           v->limit);
}

static void write_list(struct rt_out *out, const char *key, const int *x, int n)
{
    rt_out_text(out, key);
    for (int i = 0; i < n; i++) {
        rt_out_text(out, i ? ", " : "");
        rt_out_integer(out, x[i]);
    }
    rt_out_text(out, "]");
}

static void write_quantity(struct rt_out *out, const struct verdict *v,
                           int64_t k)
{
    const struct rt_sbc *s = v->s;
    const struct gbm_uniformity *u = &v->tests[k];
    char name[256];
    rt_sbc_name(s, k, name, sizeof name);
    rt_out_text(out, k ? ",\n    \"" : "\n    \"");
    rt_out_json_string(out, name);
    rt_out_json_number(out, "\": {\"chi_square\": ", u->chi_square);
    rt_out_format(out, ", \"bins\": %d", u->bins);
    rt_out_json_number(out, ", \"bins_p\": ", u->chi_p);
    rt_out_json_number(out, ", \"ecdf_p\": ", u->ecdf_p);
    rt_out_json_number(out, ", \"location_z\": ", u->location_z);
    rt_out_json_number(out, ", \"spread_z\": ", u->spread_z);
    rt_out_format(out, ", \"calibrated\": %s, \"slow\": %d",
                  is_bad(v, k) ? "false" : "true", s->slow[k]);
    write_list(out, ",\n      \"ranks\": [", s->ranks + k * s->replicates,
               s->replicates);
    rt_out_text(out, "}");
}

static void write_all(struct rt_out *out, const struct verdict *v)
{
    const struct rt_sbc *s = v->s;
    rt_out_text(out, "{\n  \"model\": \"");
    rt_out_json_string(out, s->rt->model->name);
    rt_out_format(out,
                  "\",\n  \"seed\": %llu, \"replicates\": %d, \"draws\": %d, "
                  "\"sweeps_apart\": %d,\n  \"calibrated\": %s",
                  (unsigned long long)s->seed, s->replicates, s->ranked, s->lag,
                  v->failures ? "false" : "true");
    rt_out_json_number(out, ", \"limit\": ", v->limit);
    write_list(out, ",\n  \"band\": {\"below\": [", v->plan.cut,
               v->plan.points);
    write_list(out, ",\n    \"low\": [", v->low, v->plan.points);
    write_list(out, ",\n    \"high\": [", v->high, v->plan.points);
    rt_out_text(out, "},\n  \"quantities\": {");
    for (int64_t k = 0; k < s->draws.width; k++)
        write_quantity(out, v, k);
    rt_out_text(out, "\n  }\n}\n");
}

static enum gbm_status write_json(const struct verdict *v, const char *path)
{
    struct rt *rt = v->s->rt;
    struct rt_out *out = malloc(sizeof *out);
    char error[GBM_ERROR];
    enum gbm_status s = out ? rt_out_open(out, path, error)
                            : rt_fail(rt, GBM_FAILURE, "no memory");
    if (out && s == GBM_OK) {
        write_all(out, v);
        s = rt_out_close(out, true, error);
    }
    free(out);
    return s == GBM_OK ? s : rt_fail(rt, s, "%s", error);
}

enum gbm_status rt_sbc_report(struct rt_sbc *s)
{
    struct rt *rt = s->rt;
    struct verdict v = {.s = s};
    if (!judge(&v)) {
        rt_fail(rt, GBM_FAILURE, "no memory");
    } else {
        if (!rt->options.quiet)
            print_verdict(&v);
        if (rt->options.out)
            write_json(&v, rt->options.out);
        if (v.failures)
            rt_fail(rt, GBM_FAILURE,
                    "%d of %lld quantities do not have the ranks of their "
                    "posterior: %s",
                    v.failures, (long long)s->draws.width,
                    slowest(s) >= 0 || s->extreme * SOME > s->replicates
                        ? "chains do not get around, or the sampler is wrong; "
                          "see the warnings"
                        : "this sampler is wrong");
    }
    gbm_uniformity_free(&v.plan);
    free(v.tests);
    free(v.low);
    free(v.high);
    return rt->status;
}
