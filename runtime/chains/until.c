/* until.c: when a run has drawn enough: --until. */
#include "chains/chains.h"
#include "summary/directions.h"
#include "summary/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNTIL_MOST 200 /* --until gives up after this many times --draws */

/* Reads WORD NUMBER; NULL: it is something else. */
static const char *read_bound(const char *text, const char *word, double *value)
{
    const size_t n = strlen(word);
    char *end = NULL;
    if (strncmp(text, word, n) != 0)
        return NULL;
    *value = strtod(text + n, &end);
    return end > text + n && (!*end || strchr(", ", *end)) ? end : NULL;
}

/* Reads time<10m; NULL: it is something else. */
static const char *read_time(const char *text, double *seconds)
{
    static const char word[] = "time<";
    char *end = NULL;
    if (strncmp(text, word, sizeof word - 1) != 0)
        return NULL;
    text += sizeof word - 1;
    *seconds = strtod(text, &end);
    if (end == text || !(*seconds > 0))
        return NULL;
    *seconds *= *end == 'h' ? 3600 : *end == 'm' ? 60 : 1;
    end += *end && strchr("smh", *end);
    return !*end || strchr(", ", *end) ? end : NULL;
}

enum gbm_status rt_until_parse(struct rt *rt, struct rt_until *until)
{
    const char *p = rt->options.until;
    *until = (struct rt_until){0};
    while (p && *p) {
        p += strspn(p, ", ");
        const char *end = read_bound(p, "ess>", &until->ess);
        if (!end)
            end = read_bound(p, "rhat<", &until->rhat);
        if (!end)
            end = read_bound(p, "rhat_eigen<", &until->rhat_eigen);
        if (!end)
            end = read_time(p, &until->seconds);
        if (!end)
            return rt_fail(rt, GBM_USER_ERROR,
                           "--until '%s': \"ess>400,rhat<1.01\" is wanted, or "
                           "\"rhat_eigen<1.05\", \"time<10m\"",
                           rt->options.until);
        p = end + strspn(end, ", ");
    }
    return GBM_OK;
}

enum gbm_status rt_until_fits(struct rt *rt, const struct rt_until *until,
                              const struct gbm_draws *draws)
{
    const int64_t cells = gbm_directions_cells(draws);
    if (!(until->rhat_eigen > 0))
        return GBM_OK;
    if (cells == 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--until rhat_eigen: nothing continuous is monitored");
    if (cells > GBM_DIRECTIONS_MOST)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--until rhat_eigen: %lld continuous numbers are "
                       "monitored, and it is for %d at most: name fewer with "
                       "--monitor",
                       (long long)cells, GBM_DIRECTIONS_MOST);
    return GBM_OK;
}

bool rt_until_holds(struct rt_chains *r, const struct rt_until *until)
{
    struct gbm_summary summary = {0};
    char error[GBM_ERROR];
    double ess = NAN, rhat = NAN, eigen = NAN;
    enum gbm_status s = gbm_summarise(&summary, &r->draws, error);
    if (s == GBM_OK && until->rhat_eigen > 0)
        s = gbm_directions_rhat(&r->draws, &eigen, error);
    if (s == GBM_OK)
        gbm_summary_worst(&summary, &ess, &rhat);
    gbm_summary_free(&summary);
    if (s != GBM_OK) {
        rt_fail(r->rt, GBM_FAILURE, "%s", error);
        return true;
    }
    if (r->notes) {
        fprintf(r->notes,
                "%d draws a chain: least ESS %.0f, largest R-hat %.4f",
                r->draws.kept, ess, rhat);
        if (until->rhat_eigen > 0)
            fprintf(r->notes, ", of an eigenvector's direction %.4f", eigen);
        fprintf(r->notes, "\n");
    }
    return !rt_until_is_time(until) && !(until->ess > 0 && ess <= until->ess) &&
           !(until->rhat > 0 && rhat >= until->rhat) &&
           !(until->rhat_eigen > 0 && eigen >= until->rhat_eigen);
}

bool rt_until_is_time(const struct rt_until *until)
{
    return until->seconds > 0 && until->ess <= 0 && until->rhat <= 0 &&
           until->rhat_eigen <= 0;
}

int rt_until_more(const struct rt_chains *r, const struct rt_until *until,
                  int first)
{
    const struct gbm_draws *d = &r->draws;
    const int more = d->capacity / 2 > first ? d->capacity / 2 : first;
    if (d->kept >= UNTIL_MOST * first)
        return 0;
    if (!(until->seconds > 0) || d->kept == 0 || !(d->timing.sampling_s > 0))
        return more;
    const double rest =
        until->seconds - d->timing.warmup_s - d->timing.sampling_s;
    const double fit = rest / (d->timing.sampling_s / d->kept);
    /* a few draws more are not worth another look */
    return fit >= more ? more : fit < 0.05 * d->kept ? 0 : (int)fit;
}
