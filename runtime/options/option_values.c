/* option_values.c: from an option's text to what it sets. */
#include "options/option.h"
#include "load/load.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rt_option_is_given(const struct rt_options *o, enum option_id id)
{
    return o->given >> id & 1;
}

enum gbm_status rt_suggest(struct rt *rt, const char *what, const char *name,
                           const char *nearest)
{
    return rt_fail(rt, GBM_USER_ERROR, "unknown %s '%s'%s%s%s", what, name,
                   nearest ? ": did you mean " : "; see --help",
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

enum gbm_status rt_option_digits(struct rt *rt, const char *text)
{
    const int most = 17; /* that tell every double from the next */
    enum gbm_status s = parse_int(rt, "--digits", text, 1, &rt->options.digits);
    if (s == GBM_OK && rt->options.digits > most)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--digits '%s': more than %d say nothing more", text,
                       most);
    return s;
}

enum gbm_status rt_option_seed(struct rt *rt, const char *text)
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
enum gbm_status rt_option_every(struct rt *rt, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    double unit = *end == 'h' ? 3600 : *end == 'm' ? 60 : 1;
    if (end == text || !isfinite(value) || value < 0 ||
        (*end && (!strchr("smh", *end) || end[1])))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--every '%s': a time is wanted: 30s, 10m, 1h", text);
    rt->options.every = value * unit;
    return GBM_OK;
}

const char *const rt_precisions[3] = {"double", "single", "mixed"};
const char *const rt_starts[3] = {"dispersed", "typical", "prior"};

enum gbm_status rt_option_precision(struct rt *rt, const char *text)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(text, rt_precisions[i]) == 0) {
            rt->options.precision = (enum rt_precision)i;
            return GBM_OK;
        }
    return rt_fail(rt, GBM_USER_ERROR,
                   "--precision '%s': double, single or mixed is wanted", text);
}

enum gbm_status rt_option_start(struct rt *rt, const char *text)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(text, rt_starts[i]) == 0) {
            rt->options.starts = (enum rt_starts)i;
            return GBM_OK;
        }
    return rt_fail(rt, GBM_USER_ERROR,
                   "--start '%s': dispersed, typical or prior is wanted", text);
}

enum gbm_status rt_option_progress(struct rt *rt, const char *text)
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

enum gbm_status rt_option_device(struct rt *rt, const char *text)
{
    if (strcmp(text, "auto") != 0 && strcmp(text, "cpu") != 0 &&
        strcmp(text, "cuda") != 0 && strncmp(text, "cuda:", 5) != 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--device '%s': auto, cpu, cuda or cuda:N is wanted",
                       text);
    rt->options.device = text;
    return GBM_OK;
}

enum gbm_status rt_option_replicas(struct rt *rt, const char *text)
{
    const int most = RT_MOST_REPLICAS;
    enum gbm_status s =
        parse_int(rt, "--replicas", text, 2, &rt->options.replicas);
    if (s == GBM_OK && rt->options.replicas > most)
        return rt_fail(rt, GBM_USER_ERROR, "--replicas '%s': at most %d", text,
                       most);
    return s;
}

enum gbm_status rt_option_proposal(struct rt *rt, const char *text)
{
    rt->options.guided = strcmp(text, "guided") == 0;
    if (!rt->options.guided && strcmp(text, "prior") != 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--proposal '%s': prior or guided is wanted", text);
    return GBM_OK;
}

enum gbm_status rt_option_power(struct rt *rt, const char *text)
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
    const struct rt_method *const *methods = context;
    return methods[i]->name;
}

static bool is_called(const struct rt_method *m, const char *name)
{
    return strcmp(m->name, name) == 0 ||
           (m->also && strcmp(m->also, name) == 0);
}

enum gbm_status rt_option_method(struct rt *rt, const char *text)
{
    int n = 0;
    const struct rt_method *m = NULL;
    for (; rt->methods[n]; n++)
        if (is_called(rt->methods[n], text))
            m = rt->methods[n];
    if (!m)
        return rt_suggest(rt, "method", text,
                          rt_nearest(text, n, method_name, rt->methods));
    if (!m->run)
        return rt_fail(rt, GBM_USER_ERROR, "--method %s: not supported yet",
                       text);
    rt->options.method = m;
    return GBM_OK;
}

enum gbm_status rt_option_data(struct rt *rt, const char *text)
{
    rt->options.data[rt->options.ndata++] = text;
    return GBM_OK;
}

enum gbm_status rt_option_init(struct rt *rt, const char *text)
{
    rt->options.init[rt->options.ninit++] = text;
    return GBM_OK;
}

enum gbm_status rt_option_version(struct rt *rt, const char *text)
{
    (void)text;
    rt->options.command = RT_VERSION;
    return GBM_OK;
}

enum gbm_status rt_option_help(struct rt *rt, const char *text)
{
    (void)text;
    rt->options.command = RT_HELP;
    return GBM_OK;
}

enum gbm_status rt_option_set(struct rt *rt, const struct rt_option *option,
                              const char *value)
{
    char *options = (char *)&rt->options;
    void *member = options + option->member;
    if (option->given)
        *(bool *)(void *)(options + option->given) = true;
    switch (option->kind) {
    case OPTION_IS_TEXT:
        *(const char **)member = value;
        return GBM_OK;
    case OPTION_IS_FLAG:
        *(bool *)member = true;
        return GBM_OK;
    case OPTION_IS_NUMBER:
        return parse_int(rt, option->name, value, option->least, member);
    case OPTION_IS_READ:
        return option->read(rt, value);
    }
    return GBM_OK;
}
