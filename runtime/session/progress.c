/* progress.c: the progress line, and a clean stop. */
#include "session/session.h"

#include <signal.h>
#include <string.h>

void rt_progress_begin(struct rt_progress *progress, const char *phase,
                       int64_t from, int64_t total)
{
    progress->phase = phase;
    progress->from = from;
    progress->total = total;
    progress->began = progress->shown = rt_clock();
}

static void duration(double s, char *out, size_t capacity)
{
    if (s < 60)
        snprintf(out, capacity, "%.0f s", s);
    else if (s < 3600)
        snprintf(out, capacity, "%d min %d s", (int)(s / 60), (int)s % 60);
    else
        snprintf(out, capacity, "%d h %d min", (int)(s / 3600),
                 (int)(s / 60) % 60);
}

void rt_progress_show(struct rt_progress *progress, int64_t done)
{
    double now = rt_clock(), elapsed = now - progress->began;
    if (!progress->out || now - progress->shown < (progress->bar ? 0.2 : 10))
        return;
    progress->shown = now;
    double rate = (double)(done - progress->from) / elapsed;
    char left[64] = "?";
    if (done > progress->from)
        duration((double)(progress->total - done) / rate, left, sizeof left);
    fprintf(progress->out,
            "%s%-8s %lld of %lld sweeps, %.*f a second, %s left%s",
            progress->bar ? "\r" : "", progress->phase, (long long)done,
            (long long)progress->total, rate < 10 ? 2 : 0, rate, left,
            progress->bar ? "\033[K" : "\n");
    fflush(progress->out);
}

void rt_progress_end(struct rt_progress *progress, int64_t done)
{
    if (!progress->out)
        return;
    char spent[64];
    double elapsed = rt_clock() - progress->began;
    if (elapsed < 10)
        snprintf(spent, sizeof spent, "%.3g s", elapsed);
    else
        duration(elapsed, spent, sizeof spent);
    fprintf(progress->out, "%s%-8s %lld sweeps in %s%s\n",
            progress->bar ? "\r" : "", progress->phase,
            (long long)(done - progress->from), spent,
            progress->bar ? "\033[K" : "");
    fflush(progress->out);
}

/* The one mutable global: a signal handler can reach nothing else. */
static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    stop_asked = 1;
}

void rt_catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ask_to_stop;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool rt_stopped(void) { return stop_asked != 0; }
