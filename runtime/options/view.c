/* view.c: what a person asks to see of a summary: --quantiles, --hdi, --sort,
 * --digits, --show. */
#include "options/view.h"
#include "io/output.h"

#include <stdlib.h>
#include <string.h>

static const char *const orders[] = {"model", "name", "rhat", "ess"};
enum { NORDERS = sizeof orders / sizeof orders[0] };
_Static_assert(sizeof((struct rt_options *)0)->quantiles ==
                   GBM_QUANTILES * sizeof(double),
               "both have room for as many quantiles");

enum gbm_status rt_parse_quantiles(struct rt *rt, const char *text)
{
    struct rt_options *o = &rt->options;
    const char *p = text;
    o->nquantiles = 0;
    do {
        char *end;
        double value = strtod(p, &end);
        if (end == p || !(value >= 0 && value <= 100) || (*end && *end != ','))
            return rt_fail(
                rt, GBM_USER_ERROR,
                "--quantiles '%s': numbers from 0 to 100 are wanted: "
                "2.5,50,97.5",
                text);
        if (o->nquantiles == GBM_QUANTILES)
            return rt_fail(rt, GBM_USER_ERROR, "--quantiles '%s': more than %d",
                           text, GBM_QUANTILES);
        o->quantiles[o->nquantiles++] = value;
        p = *end ? end + 1 : NULL;
    } while (p);
    return GBM_OK;
}

enum gbm_status rt_parse_hdi(struct rt *rt, const char *text)
{
    char *end;
    rt->options.hdi = strtod(text, &end);
    if (end == text || *end || !(rt->options.hdi > 0 && rt->options.hdi < 1))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--hdi '%s': a probability between 0 and 1 is wanted: "
                       "0.94",
                       text);
    return GBM_OK;
}

enum gbm_status rt_parse_sort(struct rt *rt, const char *text)
{
    for (int k = 0; k < NORDERS; k++)
        if (strcmp(orders[k], text) == 0) {
            rt->options.sort = k;
            return GBM_OK;
        }
    return rt_fail(rt, GBM_USER_ERROR,
                   "--sort '%s': model, name, rhat or ess is wanted", text);
}

struct gbm_view rt_view(const struct rt_options *o)
{
    struct gbm_view view = {.nquantiles = o->nquantiles,
                            .hdi = o->hdi,
                            .order = (enum gbm_sorting)o->sort,
                            .show = o->show};
    enum gbm_format format;
    char error[GBM_ERROR];
    memcpy(view.quantiles, o->quantiles, sizeof view.quantiles);
    /* --digits is the files', where these are text */
    if (!o->out ||
        (gbm_format_of(o->format, o->out, &format, error) == GBM_OK &&
         format == GBM_FORMAT_NETCDF))
        view.digits = o->digits;
    return view;
}
