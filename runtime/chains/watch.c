/* watch.c: --progress full: what the draws so far say, as text, while a run
 * goes on: of the quantities that mix worst R-hat, effective draws, and the
 * chains' traces, beside each other on one scale, so that a chain that is apart
 * or drifts is seen. In a terminal it is written over, else it comes again with
 * the lines of progress. */
#include "chains/chains.h"
#include "summary/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 10,  /* quantities */
    CHAINS = 4, /* with traces */
    BINS = 8,   /* of a trace: means of as many draws each */
    LEVELS = 8,
    LEAST = 2 * BINS /* draws, for a first look */
};
static const double SHARE = 20; /* of the time: one part goes into looking */

static const char *const blocks[LEVELS] = {"\u2581", "\u2582", "\u2583",
                                           "\u2584", "\u2585", "\u2586",
                                           "\u2587", "\u2588"};
static const char *const digits[LEVELS] = {"1", "2", "3", "4",
                                           "5", "6", "7", "8"};

/* Whether the reader's characters are UTF-8's, as the C library would say. */
static bool unicode(void)
{
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

/* By R-hat, the largest first; those that have none (constants) last. */
static bool worse(const struct gbm_row *a, const struct gbm_row *b)
{
    return a->d.rhat > b->d.rhat || (isnan(b->d.rhat) && !isnan(a->d.rhat));
}

/* The worst rows that are asked for, in order; how many. */
static int worst_rows(const struct gbm_summary *summary,
                      struct gbm_row rows[ROWS])
{
    struct gbm_rows at = {.summary = summary};
    struct gbm_row row;
    int n = 0;
    while (gbm_rows_next(&at, &row)) {
        if (!gbm_row_shown(&summary->view, &row))
            continue;
        int k = n < ROWS ? n++ : ROWS;
        for (; k > 0 && worse(&row, &rows[k - 1]); k--)
            if (k < ROWS)
                rows[k] = rows[k - 1];
        if (k < ROWS)
            rows[k] = row;
    }
    return n;
}

static double bin_mean(const struct gbm_draws *d, int64_t cell, int chain,
                       int bin)
{
    int from = (int)((int64_t)d->kept * bin / BINS);
    int to = (int)((int64_t)d->kept * (bin + 1) / BINS);
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += gbm_draws_record(d, chain, i)[cell];
    return sum / (to - from);
}

static void print_traces(const struct gbm_draws *d, int64_t cell, FILE *out)
{
    const char *const *marks = unicode() ? blocks : digits;
    int chains = d->chains < CHAINS ? d->chains : CHAINS;
    double means[CHAINS][BINS], low = INFINITY, high = -INFINITY;
    for (int c = 0; c < chains; c++)
        for (int b = 0; b < BINS; b++) {
            means[c][b] = bin_mean(d, cell, c, b);
            low = fmin(low, means[c][b]);
            high = fmax(high, means[c][b]);
        }
    for (int c = 0; c < chains; c++) {
        fputs(c ? " " : "  ", out);
        for (int b = 0; b < BINS; b++) {
            double share = (means[c][b] - low) / (high - low);
            int level = share < 1 ? (int)(share * LEVELS) : LEVELS - 1;
            fputs(share >= 0 ? marks[level] : high > low ? "?" : "-", out);
        }
    }
}

static void print_view(struct rt_watch *watch,
                       const struct gbm_summary *summary, FILE *out)
{
    struct gbm_row rows[ROWS];
    const struct gbm_draws *d = summary->draws;
    const char *end = watch->over ? "\033[K\n" : "\n";
    int n = worst_rows(summary, rows), width = 4;
    double ess, rhat;
    if (watch->over && watch->lines > 0)
        fprintf(out, "\r\033[%dA", watch->lines);
    else if (watch->over)
        fputs("\r", out);
    for (int k = 0; k < n; k++)
        width = (int)strlen(rows[k].name) > width ? (int)strlen(rows[k].name)
                                                  : width;
    int chains = d->chains < CHAINS ? d->chains : CHAINS;
    fprintf(out, "%-*s %11s %10s %7s %6s  trace%s of %d chain%s%s", width,
            "name", "mean", "sd", "ess", "rhat", chains > 1 ? "s" : "", chains,
            chains > 1 ? "s" : "", end);
    for (int k = 0; k < n; k++) {
        fprintf(out, "%-*s %11.4g %10.3g %7.0f %6.3f", width, rows[k].name,
                rows[k].d.mean, rows[k].d.sd, gbm_least_ess(&rows[k].d),
                rows[k].d.rhat);
        print_traces(d, rows[k].at, out);
        fputs(end, out);
    }
    gbm_summary_worst(summary, &ess, &rhat);
    fprintf(out,
            "%d draws a chain; of all %lld quantities smallest ESS %.0f, "
            "largest R-hat %.3f%s",
            d->kept, (long long)summary->count, ess, rhat, end);
    fflush(out);
    watch->lines = n + 2;
}

void rt_watch_begin(struct rt_chains *r)
{
    r->watch.on =
        r->progress.out && r->rt->options.progress == RT_PROGRESS_FULL;
    r->watch.over = r->progress.bar;
    r->watch.lines = 0;
    r->watch.next = 0;
}

void rt_watch_show(struct rt_chains *r, bool last)
{
    struct rt_watch *watch = &r->watch;
    double began = rt_clock();
    if (!watch->on || r->draws.kept < LEAST || (!last && began < watch->next))
        return;
    struct gbm_draws draws =
        r->draws; /* moments are not there before the end */
    draws.nmoments = 0;
    struct gbm_summary summary = {0};
    char error[GBM_ERROR];
    if (draws.quantities == 0 ||
        gbm_summarise(&summary, &draws, error) != GBM_OK)
        return;
    summary.view.show = r->rt->options.show;
    print_view(watch, &summary, r->progress.out);
    gbm_summary_free(&summary);
    double now = rt_clock(), pause = watch->over ? 0.5 : 10;
    watch->next = now + fmax(pause, SHARE * (now - began));
}
