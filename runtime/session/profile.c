/* profile.c: where a run's time goes, step by step. The devices add what each
 * step takes to rt->profile while that is there; a step is then waited for
 * before the next begins, so that a run takes longer than without. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

enum gbm_status rt_profile_begin(struct rt *rt, const struct rt_instance *in)
{
    if (!rt->options.profile)
        return GBM_OK;
    const size_t n = (size_t)rt->model->nsteps + RT_PROFILED;
    rt->profile = calloc(n, sizeof *rt->profile);
    return rt->profile ? rt_work_measure(rt, in)
                       : rt_fail(rt, GBM_FAILURE, "no memory");
}

void rt_profile_end(struct rt *rt)
{
    free(rt->profile);
    rt->profile = NULL;
}

/* Seconds that it takes to look at the clock. */
static double clock_cost(void)
{
    enum { TIMES = 1000 };
    const double began = rt_clock();
    double last = began;
    for (int i = 0; i < TIMES; i++)
        last = rt_clock();
    return (last - began) / TIMES;
}

struct columns {
    int variable, sampler;
};

static void widen(int *width, const char *text)
{
    const int n = (int)strlen(text);
    if (n > *width)
        *width = n;
}

static void print_row(FILE *out, const struct columns *w, const char *step,
                      const char *variable, const char *sampler,
                      long long elements, double us, double share)
{
    fprintf(out, "%4s  %-*s  %-*s  ", step, w->variable, variable, w->sampler,
            sampler);
    if (elements >= 0)
        fprintf(out, "%10lld", elements);
    else
        fprintf(out, "%10s", "");
    fprintf(out, "  %10.4g  %4.0f %%", us, 100 * share);
    if (elements > 0)
        fprintf(out, "  %10.4g", 1e3 * us / (double)elements);
    fputs("\n", out);
}

void rt_profile_print(const struct rt *rt, const struct rt_instance *in,
                      int64_t sweeps, FILE *out)
{
    static const char *const rest[RT_PROFILED] = {
        [RT_KEPT] = "kept draws",
        [RT_RANDOM] = "random numbers ahead",
        [RT_LINES] = "moves along learnt lines"};
    const struct gbm_model *m = rt->model;
    struct columns w = {8, 20};
    double total = 0;
    for (int k = 0; k < m->nsteps + RT_PROFILED; k++)
        total += rt->profile[k];
    for (int k = 0; k < m->nsteps; k++) {
        widen(&w.variable, m->steps[k].variable);
        widen(&w.sampler, m->steps[k].sampler);
    }
    if (!(total > 0) || sweeps <= 0)
        return;
    const double scale = 1e6 / (double)sweeps / in->nchains;
    fprintf(out,
            "\nWhere the time goes: microseconds a sweep and chain, each step "
            "timed by itself\n(which takes about %.2g us a step)\n",
            2e6 * clock_cost());
    fprintf(out, "step  %-*s  %-*s  %10s  %10s  %6s  %10s\n", w.variable,
            "variable", w.sampler, "sampler", "elements", "us", "share",
            "ns each");
    for (int k = 0; k < m->nsteps; k++) {
        char step[16];
        if (!in->steps[k].active || !(rt->profile[k] > 0))
            continue;
        snprintf(step, sizeof step, "%d", k + 1);
        print_row(out, &w, step, m->steps[k].variable, m->steps[k].sampler,
                  (long long)in->steps[k].count, rt->profile[k] * scale,
                  rt->profile[k] / total);
    }
    for (int k = 0; k < RT_PROFILED; k++) {
        const double seconds = rt->profile[m->nsteps + k];
        if (seconds > 0)
            print_row(out, &w, "", "", rest[k], -1, seconds * scale,
                      seconds / total);
    }
    print_row(out, &w, "", "", "all", -1, total * scale, 1);
    rt_work_print(rt, in, sweeps, out);
}
