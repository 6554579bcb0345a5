/* compare.c: models side by side: which one predicts better, by LOO (Vehtari,
 * Gelman and Gabry 2017, section 5.2: the standard error of a difference is
 * that of the sum of pointwise ones). */
#include "record/record.h"
#include "io/output.h"
#include "summary/criteria.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct model {
    const char *path;
    struct gbm_draws draws;
    struct gbm_summary summary;
    struct gbm_criteria criteria;
    struct gbm_estimate difference; /* from the best */
    int64_t bad;                    /* observations of too large k */
};

static enum gbm_status read_model(struct rt *rt, struct model *m)
{
    char error[GBM_ERROR];
    gbm_draws_init(&m->draws);
    enum gbm_status s = gbm_draws_read(&m->draws, m->path, error);
    if (s == GBM_OK)
        s = gbm_summarise(&m->summary, &m->draws, error);
    if (s == GBM_OK)
        s = gbm_criteria_find(&m->criteria, &m->summary, error);
    if (s != GBM_OK)
        return rt_fail(rt, s, "%s", error);
    if (m->criteria.count == 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "%s: it has no log likelihoods: run with --log-lik",
                       m->path);
    if (!isfinite(m->criteria.elpd_loo.value))
        return rt_fail(rt, GBM_USER_ERROR,
                       "%s: the log likelihood of an observation is not finite "
                       "at some draw",
                       m->path);
    for (int64_t i = 0; i < m->criteria.count; i++)
        m->bad += m->criteria.points[i].k > m->criteria.good_k;
    return GBM_OK;
}

/* Two models are of the same observations, as far as the files tell. */
static enum gbm_status check_same(struct rt *rt, const struct model *a,
                                  const struct model *b)
{
    char name[256] = "", other[256] = "";
    if (a->criteria.count != b->criteria.count)
        return rt_fail(rt, GBM_USER_ERROR,
                       "%s has %lld observations, %s %lld: models of the same "
                       "data can be compared",
                       a->path, (long long)a->criteria.count, b->path,
                       (long long)b->criteria.count);
    for (int64_t i = 0; i < a->criteria.count; i++) {
        gbm_criteria_name(&a->criteria, i, name, sizeof name);
        gbm_criteria_name(&b->criteria, i, other, sizeof other);
        if (strcmp(name, other) != 0)
            return rt_fail(rt, GBM_USER_ERROR,
                           "%s has a log likelihood of %s where %s has one of "
                           "%s: models of the same observations can be "
                           "compared",
                           a->path, name, b->path, other);
    }
    if (a->draws.data_sum && b->draws.data_sum &&
        a->draws.data_sum != b->draws.data_sum)
        return rt_fail(rt, GBM_USER_ERROR,
                       "%s and %s are of different data: their log likelihoods "
                       "cannot be compared",
                       a->path, b->path);
    return GBM_OK;
}

static int by_elpd(const void *a, const void *b)
{
    double x = (*(struct model *const *)a)->criteria.elpd_loo.value;
    double y = (*(struct model *const *)b)->criteria.elpd_loo.value;
    return (x < y) - (x > y);
}

static enum gbm_status find_differences(struct rt *rt,
                                        struct model *const *models, int n)
{
    int64_t count = models[0]->criteria.count;
    double *x = malloc((size_t)count * sizeof *x);
    if (!x)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    for (int k = 0; k < n; k++) {
        for (int64_t i = 0; i < count; i++)
            x[i] = models[k]->criteria.points[i].loo -
                   models[0]->criteria.points[i].loo;
        models[k]->difference = gbm_estimate_sum(x, count);
    }
    free(x);
    return GBM_OK;
}

static void print(struct model *const *models, int n, FILE *out)
{
    int width = 5;
    int64_t bad = 0;
    for (int k = 0; k < n; k++)
        if ((int)strlen(models[k]->path) > width)
            width = (int)strlen(models[k]->path);
    fprintf(out,
            "%-*s  elpd_diff  se_diff    elpd_loo       se    p_loo  bad k\n",
            width, "model");
    for (int k = 0; k < n; k++) {
        const struct model *m = models[k];
        fprintf(out, "%-*s %10.1f %8.1f %11.1f %8.1f %8.1f %6lld\n", width,
                m->path, m->difference.value, m->difference.se,
                m->criteria.elpd_loo.value, m->criteria.elpd_loo.se,
                m->criteria.p_loo.value, (long long)m->bad);
        bad += m->bad;
    }
    const struct gbm_estimate d = models[1]->difference;
    fprintf(out, "\n%s predicts best of the %d", models[0]->path, n);
    if (fabs(d.value) < 4)
        fprintf(out, ", hardly better than the next: a difference below 4 is "
                     "small\n");
    else if (fabs(d.value) < 2 * d.se)
        fprintf(out, ", but the next is within two standard errors\n");
    else
        fprintf(out, "; the next is %.1f standard errors behind\n",
                fabs(d.value) / d.se);
    if (bad > 0)
        fprintf(out,
                "Warning: Pareto k is too large for %lld observation%s: "
                "differences are not reliable\n  (summary FILE names "
                "them).\n",
                (long long)bad, bad == 1 ? "" : "s");
    if (models[0]->criteria.count < 100)
        fprintf(out, "Note: with less than 100 observations se_diff is "
                     "optimistic.\n");
}

static enum gbm_status write_json(struct model *const *models, int n,
                                  const char *path, char *error)
{
    struct rt_out *out = malloc(sizeof *out);
    if (!out) {
        snprintf(error, GBM_ERROR, "out of memory");
        return GBM_FAILURE;
    }
    enum gbm_status s = rt_out_open(out, path, error);
    if (s == GBM_OK) {
        rt_out_text(out, "{\n  \"models\": {");
        for (int k = 0; k < n; k++) {
            const struct model *m = models[k];
            rt_out_text(out, k ? ",\n    \"" : "\n    \"");
            rt_out_json_string(out, m->path);
            rt_out_json_number(out,
                               "\": {\"elpd_diff\": ", m->difference.value);
            rt_out_json_number(out, ", \"se_diff\": ", m->difference.se);
            rt_out_json_number(out,
                               ", \"elpd_loo\": ", m->criteria.elpd_loo.value);
            rt_out_json_number(out, ", \"se\": ", m->criteria.elpd_loo.se);
            rt_out_json_number(out, ", \"p_loo\": ", m->criteria.p_loo.value);
            rt_out_json_number(out, ", \"bad_k\": ", (double)m->bad);
            rt_out_text(out, "}");
        }
        rt_out_text(out, "\n  }\n}\n");
        s = rt_out_close(out, true, error);
    }
    free(out);
    return s;
}

static void tell(struct rt *rt, struct model *const *models, int n)
{
    const struct rt_options *o = &rt->options;
    char error[GBM_ERROR];
    enum gbm_status s =
        o->summary ? write_json(models, n, o->summary, error) : GBM_OK;
    if (s != GBM_OK)
        rt_fail(rt, s, "%s", error);
    if (!o->quiet)
        print(models, n, stdout);
}

static void compare(struct rt *rt, struct model *models, int n)
{
    for (int k = 0; k < n; k++)
        if (read_model(rt, &models[k]) != GBM_OK ||
            (k > 0 && check_same(rt, &models[0], &models[k]) != GBM_OK))
            return;
    struct model **sorted = malloc((size_t)n * sizeof *sorted);
    for (int k = 0; sorted && k < n; k++)
        sorted[k] = &models[k];
    if (!sorted) {
        rt_fail(rt, GBM_FAILURE, "no memory");
        return;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_elpd);
    if (find_differences(rt, sorted, n) == GBM_OK)
        tell(rt, sorted, n);
    free(sorted);
}

int rt_command_compare(struct rt *rt)
{
    int n = rt->options.nfiles;
    struct model *models = calloc((size_t)n, sizeof *models);
    for (int k = 0; models && k < n; k++)
        models[k].path = rt->options.files[k];
    if (models)
        compare(rt, models, n);
    else
        rt_fail(rt, GBM_FAILURE, "no memory");
    for (int k = 0; models && k < n; k++) {
        gbm_criteria_free(&models[k].criteria);
        gbm_summary_free(&models[k].summary);
        gbm_draws_free(&models[k].draws);
    }
    free(models);
    return rt_report(rt);
}
