/* chains_end.c: what a run leaves: draws, moments, what its method says. */
#include "chains/chains.h"
#include "summary/summary.h"
#include "host/host.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void rt_chains_spool(struct rt_chains *r, bool now)
{
    char error[GBM_ERROR];
    bool first = r->spool.fd < 0;
    enum gbm_status s = rt_spool_add(&r->spool, &r->draws, now, error);
    if (first && r->spool.kept > 0 && r->notes)
        fprintf(r->notes,
                "note: what is drawn is in %s until the run ends; %s summary "
                "reads it\n",
                r->spool.path, r->rt->options.program);
    if (s != GBM_OK)
        rt_fail(r->rt, s, "%s: the run stops", error);
}

static enum gbm_status fetch_moments(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    int64_t count = 0;
    if (!r->in.has_moments)
        return GBM_OK;
    struct rt_moments *m = rt_moments_create(&r->in);
    if (!m)
        return rt_fail(rt, GBM_FAILURE, "no memory for moments");
    enum gbm_status s = rt->device->moments(rt, m, &count);
    if (s == GBM_OK)
        s = rt_moments_store(rt, &r->in, m, count, &r->draws);
    rt_moments_free(&r->in, m);
    return s;
}

/* For the summary, which compares modes: where no draw has a log density. */
static void keep_end_density(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    const struct rt_instance *in = &r->in;
    if (r->lp >= 0 || r->chains != in->nchains ||
        in->nchains > GBM_MODES_CHAINS || !rt_worth_scoring(rt, in))
        return;
    char *states = rt_states_create(in);
    double *lp = calloc((size_t)in->nchains, sizeof *lp);
    if (states && lp && rt->device->get(rt) == GBM_OK) {
        for (int c = 0; c < in->nchains; c++)
            lp[c] =
                rt_logdensity(in, rt_state(in, states, c), false, rt->threads);
        r->draws.end_lp = lp;
        lp = NULL;
    }
    free(lp);
    free(states);
}

static void add_to_message(struct rt *rt, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_to_message(struct rt *rt, const char *format, ...)
{
    size_t n = strlen(rt->message);
    va_list args;
    va_start(args, format);
    vsnprintf(rt->message + n, sizeof rt->message - n, format, args);
    va_end(args);
}

/* Predictions from parameters that their distribution does not allow. */
static void report_nan(struct rt_chains *r)
{
    struct rt_nan first;
    char name[256];
    int64_t n = rt_nan_forward(&r->in, &r->draws, r->rt->threads, &first);
    if (n == 0)
        return;
    rt_nan_name(&r->in, &first, name, sizeof name);
    rt_fail(r->rt, GBM_FAILURE,
            "%lld draws are not a number, the first %s, draw %d of chain %d: "
            "its parameters allow none there; all that was drawn is kept",
            (long long)n, name, first.draw + 1, first.chain + 1);
}

/* The spool goes once the draws have their place; else it is what is left. */
static void deliver(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    bool written = false;
    if (r->spool.fd >= 0)
        rt_chains_spool(r, true);
    if (!r->spool.failed)
        written = rt_deliver_draws(rt, &r->draws) == GBM_OK;
    rt_deliver_summary(rt, &r->draws);
    if (!written && r->spool.fd >= 0 && r->spool.kept > 0)
        add_to_message(rt,
                       "; %d of %d draws a chain are in %s: %s summary %s "
                       "reads them, and with --out FILE writes them",
                       r->spool.kept, r->draws.capacity, r->spool.path,
                       rt->options.program, r->spool.path);
    rt_spool_end(&r->spool, !written);
}

/* What the method has to say; the caller frees it. The summary's part goes
 * where it is written from. */
static char *ask_method(struct rt_chains *r)
{
    const struct rt_method *m = r->rt->options.method;
    char *text = NULL;
    size_t n = 0, njson = 0;
    if (!m->report)
        return NULL;
    FILE *out = open_memstream(&text, &n);
    FILE *json = open_memstream(&r->draws.json, &njson);
    if (out && json)
        m->report(r, out, json);
    if (json)
        fclose(json);
    if (out)
        fclose(out);
    return text;
}

void rt_chains_finish(struct rt_chains *r, int64_t sweeps)
{
    struct rt *rt = r->rt;
    if (r->draws.kept == 0) {
        if (rt_stopped())
            rt_fail(rt, GBM_FAILURE,
                    "stopped before the first draw: nothing "
                    "is written%s%s",
                    r->checkpoint.whole ? "; to go on: --resume " : "",
                    r->checkpoint.whole ? rt->options.checkpoint : "");
        return;
    }
    enum gbm_status failed = rt->status;
    if (failed == GBM_OK) {
        fetch_moments(r);
        rt_relabelling_finish(r);
        keep_end_density(r);
        r->draws.deviance_at_means =
            rt_pointwise_at_means(&r->pointwise, &r->in, rt->threads);
    }
    char *said = failed == GBM_OK ? ask_method(r) : NULL;
    deliver(r);
    if (said && !rt->options.quiet)
        fputs(said, stdout);
    free(said);
    if (rt->profile && !rt->options.quiet)
        rt_profile_print(rt, &r->in, sweeps, stdout);
    if (rt->jitters && r->notes)
        fprintf(r->notes,
                "warning: %lld factorisations of Gaussian blocks needed "
                "jitter: their precision is nearly singular\n",
                (long long)rt->jitters);
    if (failed == GBM_OK) {
        rt_chains_standing(r);
        report_nan(r);
    }
    if (!r->draws.complete && rt_stopped())
        rt_fail(rt, GBM_FAILURE,
                "stopped: %d of %d draws a chain were kept; the run is marked "
                "incomplete%s%s",
                r->draws.kept, r->draws.capacity,
                r->checkpoint.whole ? "; to go on: --resume " : "",
                r->checkpoint.whole ? rt->options.checkpoint : "");
}
