/* criteria_print.c: LOO, WAIC and DIC for people and for programs. */
#include "summary/criteria.h"

#include <math.h>
#include <string.h>

enum { NAMED = 5 }; /* observations that a warning names */

static const double much_p_waic = 0.4;

/* ---- DIC */

static void print_dic(const struct gbm_criteria *c, FILE *out)
{
    if (isnan(c->mean_deviance))
        return;
    fprintf(out, "\nMean deviance:  %.4g\n", c->mean_deviance);
    if (isnan(c->pd))
        fprintf(out, "pD is not known: random nodes are discrete, or their "
                     "means are no values of theirs.\n");
    else
        fprintf(
            out,
            "penalty (pD) %.4g\nPenalized deviance (DIC): %.4g\n"
            "  pD is the mean deviance less that at the means of the random "
            "nodes (Spiegelhalter\n  et al. 2002), as in BUGS; JAGS' "
            "dic.samples has another pD, close to it.\n",
            c->pd, c->mean_deviance + c->pd);
    fprintf(out, "pV = var(deviance)/2 = %.4g and DIC = %.4g, as in R2jags\n",
            c->pv, c->mean_deviance + c->pv);
}

/* ---- LOO and WAIC */

static void print_estimate(FILE *out, const char *name, struct gbm_estimate e,
                           double scale)
{
    fprintf(out, "%-10s %10.1f %8.1f\n", name, scale * e.value,
            fabs(scale) * e.se);
}

/* Observations of which `above` is larger than a bound: how many, the names of
 * some, the largest. */
struct above {
    int64_t count;
    double largest;
    char names[1024];
};

static void add_above(const struct gbm_criteria *c, int64_t i, double value,
                      struct above *a)
{
    size_t n = strlen(a->names);
    char name[256] = "";

    a->largest = a->count == 0 ? value : fmax(a->largest, value);
    if (++a->count > NAMED + 1)
        return;
    if (a->count <= NAMED)
        gbm_criteria_name(c, i, name, sizeof name);
    else
        snprintf(name, sizeof name, "...");
    snprintf(a->names + n, sizeof a->names - n, "%s%s", n ? ", " : "", name);
}

static void warn(const struct gbm_criteria *c, FILE *out)
{
    struct above k = {0}, waic = {0}, undefined = {0};
    double largest = -INFINITY;

    for (int64_t i = 0; i < c->count; i++) {
        const struct gbm_prediction *p = &c->points[i];

        if (!isfinite(p->loo) || !isfinite(p->lppd))
            add_above(c, i, 0, &undefined);
        else if (p->k > c->good_k)
            add_above(c, i, p->k, &k);
        if (p->p_waic > much_p_waic)
            add_above(c, i, p->p_waic, &waic);
        largest = fmax(largest, p->k);
    }
    if (undefined.count > 0)
        fprintf(out,
                "Warning: the log likelihood of %lld observation%s (%s) is not "
                "finite at some draw.\n",
                (long long)undefined.count, undefined.count == 1 ? "" : "s",
                undefined.names);
    else if (k.count == 0 && isfinite(largest))
        fprintf(out,
                "elpd_loo is reliable: Pareto k is at most %.2f (up to %.2f is "
                "good).\n",
                largest, c->good_k);
    if (k.count > 0)
        fprintf(
            out,
            "Warning: Pareto k is above %.2f for %lld of %lld observations "
            "(%s; largest %.2f).\n  Without one of them the posterior would "
            "be too different from this one, so elpd_loo\n  and p_loo are "
            "not reliable. They may be outliers, or the model too flexible; "
            "fit it\n  without them in turn to know.\n",
            c->good_k, (long long)k.count, (long long)c->count, k.names,
            k.largest);
    if (waic.count > 0)
        fprintf(out,
                "Warning: p_waic is above %.1f for %lld of %lld observations "
                "(%s; largest %.2f):\n  elpd_waic is not reliable; use "
                "elpd_loo.\n",
                much_p_waic, (long long)waic.count, (long long)c->count,
                waic.names, waic.largest);
}

static void print_loo(const struct gbm_criteria *c, FILE *out)
{
    if (c->count == 0)
        return;
    fprintf(out,
            "\nLOO and WAIC of %lld observation%s, from %lld draws (log "
            "scale):\n%-10s %10s %8s\n",
            (long long)c->count, c->count == 1 ? "" : "s",
            (long long)c->draws->chains * c->draws->kept, "", "estimate", "se");
    print_estimate(out, "elpd_loo", c->elpd_loo, 1);
    print_estimate(out, "p_loo", c->p_loo, 1);
    print_estimate(out, "looic", c->elpd_loo, -2);
    print_estimate(out, "elpd_waic", c->elpd_waic, 1);
    print_estimate(out, "p_waic", c->p_waic, 1);
    print_estimate(out, "waic", c->elpd_waic, -2);
    warn(c, out);
}

void gbm_criteria_print(const struct gbm_criteria *c, FILE *out)
{
    print_dic(c, out);
    print_loo(c, out);
}

/* ---- JSON */

static void write_dic(const struct gbm_criteria *c, struct rt_out *out)
{
    if (isnan(c->mean_deviance))
        return;
    rt_out_json_number(out,
                       "  \"dic\": {\"mean_deviance\": ", c->mean_deviance);
    rt_out_json_number(out, ", \"pd\": ", c->pd);
    rt_out_json_number(out, ", \"dic\": ", c->mean_deviance + c->pd);
    rt_out_json_number(out, ", \"pv\": ", c->pv);
    rt_out_json_number(out, ", \"dic_pv\": ", c->mean_deviance + c->pv);
    rt_out_text(out, "},\n");
}

static void write_pair(struct rt_out *out, const char *key, const char *se,
                       struct gbm_estimate e)
{
    rt_out_json_number(out, key, e.value);
    rt_out_json_number(out, se, e.se);
}

static void write_point(const struct gbm_criteria *c, int64_t i,
                        struct rt_out *out)
{
    const struct gbm_prediction *p = &c->points[i];
    char name[256] = "";

    gbm_criteria_name(c, i, name, sizeof name);
    rt_out_text(out, i ? ",\n    \"" : "\n    \"");
    rt_out_json_string(out, name);
    rt_out_json_number(out, "\": {\"elpd\": ", p->loo);
    rt_out_json_number(out, ", \"pareto_k\": ", p->k);
    rt_out_json_number(out, ", \"p\": ", p->lppd - p->loo);
    rt_out_json_number(out, ", \"p_waic\": ", p->p_waic);
    rt_out_text(out, "}");
}

void gbm_criteria_write(const struct gbm_criteria *c, struct rt_out *out)
{
    write_dic(c, out);
    if (c->count == 0)
        return;
    write_pair(out, "  \"waic\": {\"elpd\": ", ", \"se\": ", c->elpd_waic);
    write_pair(out, ", \"p\": ", ", \"p_se\": ", c->p_waic);
    write_pair(out, "},\n  \"loo\": {\"elpd\": ", ", \"se\": ", c->elpd_loo);
    write_pair(out, ", \"p\": ", ", \"p_se\": ", c->p_loo);
    rt_out_json_number(out, ", \"good_k\": ", c->good_k);
    rt_out_json_number(out, ", \"r_eff\": ", c->reff);
    rt_out_text(out, ", \"observations\": {");
    for (int64_t i = 0; i < c->count; i++)
        write_point(c, i, out);
    rt_out_text(out, "\n  }},\n");
}
