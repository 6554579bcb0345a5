/* deliver.c: what is written and printed of draws, and of errors. */
#include "record/record.h"
#include "options/view.h"
#include "summary/criteria.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int rt_report(const struct rt *rt)
{
    if (rt->status == GBM_OK)
        return 0;
    fflush(stdout);
    fprintf(stderr, "%s: %s\n",
            rt->status == GBM_USER_ERROR ? "error" : "failed", rt->message);
    return rt->status == GBM_USER_ERROR ? 1 : 2;
}

enum gbm_status rt_check_output(struct rt *rt)
{
    const struct rt_options *o = &rt->options;
    char error[GBM_ERROR];
    enum gbm_format format;
    if (o->out) {
        enum gbm_status s = gbm_format_of(o->format, o->out, &format, error);
        if (s == GBM_OK)
            s = gbm_draws_check_output(format, o->out, o->chains, error);
        if (s != GBM_OK)
            return rt_fail(rt, s, "%s", error);
    }
    if (!o->summary)
        return GBM_OK;
    char folder[4096];
    const char *slash = strrchr(o->summary, '/');
    if (slash == o->summary)
        snprintf(folder, sizeof folder, "/");
    else
        snprintf(folder, sizeof folder, "%.*s",
                 slash ? (int)(slash - o->summary) : 1,
                 slash ? o->summary : ".");
    if (access(folder, W_OK | X_OK) != 0)
        return rt_fail(rt, GBM_USER_ERROR, "--summary %s: %s: %s", o->summary,
                       folder, strerror(errno));
    return GBM_OK;
}

enum gbm_status rt_deliver_summary(struct rt *rt, const struct gbm_draws *draws)
{
    const struct rt_options *o = &rt->options;
    struct gbm_summary summary = {0};
    struct gbm_criteria criteria = {0};
    char error[GBM_ERROR];
    if (o->quiet && !o->summary)
        return GBM_OK;
    enum gbm_status s = gbm_summarise(&summary, draws, error);
    if (s == GBM_OK)
        s = gbm_criteria_find(&criteria, &summary, error);
    const struct gbm_view view = rt_view(o);
    if (s == GBM_OK)
        s = gbm_summary_view(&summary, &view, error);
    if (s == GBM_OK && o->summary)
        s = gbm_summary_write(&summary, &criteria, o->summary, error);
    if (s == GBM_OK && !o->quiet) {
        gbm_summary_print(&summary, stdout);
        gbm_criteria_print(&criteria, stdout);
    }
    gbm_criteria_free(&criteria);
    gbm_summary_free(&summary);
    return s == GBM_OK ? s : rt_fail(rt, s, "%s", error);
}

enum gbm_status rt_deliver_draws(struct rt *rt, struct gbm_draws *draws)
{
    const struct rt_options *o = &rt->options;
    char error[GBM_ERROR];
    enum gbm_format format;
    if (!o->out)
        return GBM_OK;
    draws->digits = o->digits;
    enum gbm_status s = gbm_format_of(o->format, o->out, &format, error);
    if (s == GBM_OK)
        s = gbm_draws_write(draws, format, o->out, error);
    return s == GBM_OK ? s : rt_fail(rt, s, "%s", error);
}

enum gbm_status rt_deliver(struct rt *rt, struct gbm_draws *draws)
{
    enum gbm_status s = rt_deliver_draws(rt, draws);
    enum gbm_status t = rt_deliver_summary(rt, draws);
    return s == GBM_OK ? t : s;
}

int rt_command_summary(struct rt *rt)
{
    struct gbm_draws draws;
    char error[GBM_ERROR];
    gbm_draws_init(&draws);
    enum gbm_status s = gbm_draws_read(&draws, rt->options.file, error);
    if (s != GBM_OK)
        rt_fail(rt, s, "%s", error);
    else if (rt_check_output(rt) == GBM_OK &&
             rt_settle_labels(rt, &draws) == GBM_OK)
        rt_deliver(rt, &draws);
    gbm_draws_free(&draws);
    return rt_report(rt);
}
