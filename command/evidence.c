/* evidence.c: models side by side by their evidence: `gbm compare` of the
 * summaries of runs that know it. Kass and Raftery (1995), Bayes factors. */
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct evidence {
    const char *path;
    double value, se;
    double data; /* a sum over the observed numbers; NaN: not told */
};

static int read_evidence(struct evidence *e)
{
    json_error_t why;
    json_t *all = json_load_file(e->path, 0, &why);
    if (!all)
        return complain("%s: cannot read: %s", e->path, why.text);
    e->value = summary_number(all, "log_evidence", "value");
    e->se = summary_number(all, "log_evidence", "se");
    e->data = summary_number(all, "observed_sum", NULL);
    const bool told = json_object_get(all, "log_evidence") != NULL;
    json_decref(all);
    if (isfinite(e->value) && isfinite(e->se))
        return 0;
    return complain(told ? "%s: its log evidence is not known"
                         : "%s: it has no log evidence: run with --method smc "
                           "or tempering, and --summary",
                    e->path);
}

static int check_same(const struct evidence *a, const struct evidence *b)
{
    if (isnan(a->data) || isnan(b->data) || a->data == b->data)
        return 0;
    return complain("%s and %s are of different observations: their evidence "
                    "cannot be compared",
                    a->path, b->path);
}

static int by_value(const void *a, const void *b)
{
    const double x = ((const struct evidence *)a)->value;
    const double y = ((const struct evidence *)b)->value;
    return (x < y) - (x > y);
}

static void print(const struct evidence *e, int n)
{
    int width = 5;
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += exp(e[k].value - e[0].value);
        if ((int)strlen(e[k].path) > width)
            width = (int)strlen(e[k].path);
    }
    printf("%-*s  log evidence       se  log Bayes factor       se  "
           "probability\n",
           width, "model");
    for (int k = 0; k < n; k++)
        printf("%-*s  %12.3f %8.3f  %16.3f %8.3f  %11.4f\n", width, e[k].path,
               e[k].value, e[k].se, e[k].value - e[0].value,
               k ? hypot(e[k].se, e[0].se) : 0,
               exp(e[k].value - e[0].value) / sum);
    printf("\nFactors are against %s; probabilities are those of models that "
           "are equally likely\nbeforehand. Both depend on the priors, which "
           "must be meant.\n",
           e[0].path);
    const double apart = e[0].value - e[1].value;
    if (apart < 4 * hypot(e[0].se, e[1].se))
        printf("Warning: the first two are within four standard errors: more "
               "--particles, or --draws of\n  --method tempering, tell them "
               "apart if they differ.\n");
}

int compare_evidence(const char *const *paths, int n)
{
    struct evidence *e = calloc((size_t)n, sizeof *e);
    int status = e ? 0 : complain("no memory");
    for (int k = 0; status == 0 && k < n; k++) {
        e[k].path = paths[k];
        status = read_evidence(&e[k]);
        if (status == 0 && k > 0)
            status = check_same(&e[0], &e[k]);
    }
    if (status == 0) {
        qsort(e, (size_t)n, sizeof *e, by_value);
        print(e, n);
    }
    free(e);
    return status;
}
