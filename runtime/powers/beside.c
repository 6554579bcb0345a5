/* beside.c: what methods between prior and posterior ask before they begin. */
#include "powers/tempering.h"

#include <math.h>
#include <stdlib.h>

enum gbm_status rt_refuse_beside(struct rt *rt, const char *method)
{
    const struct rt_options *o = &rt->options;
    bool saves = o->method->save != NULL;
    const char *what = o->checkpoint && !saves ? "--checkpoint"
                       : o->resume && !saves   ? "--resume"
                       : o->plain              ? "--plain"
                       : o->profile            ? "--profile"
                       : o->log_lik            ? "--log-lik"
                       : o->power != (o->sequence ? RT_ALL_ENTERED : 1)
                           ? "--power"
                           : NULL;
    return what
               ? rt_fail(rt, GBM_USER_ERROR,
                         "%s with --method %s: not supported yet", what, method)
               : GBM_OK;
}

bool rt_all_raised(const struct rt_instance *in)
{
    void *state = calloc(1, in->model->state_size + 1);
    bool all = state != NULL;
    if (state)
        rt_bind(in, state, 0);
    for (int f = 0; all && f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (fam->raised || !rt_is_likelihood(fam))
            continue;
        const struct rt_observed count = rt_count_observed(in, f, state);
        all = count.partly == 0 && count.whole == 0;
    }
    free(state);
    return all;
}

enum gbm_status rt_check_prior(struct rt *rt, const struct rt_instance *in,
                               const char *method)
{
    void *state = calloc(1, in->model->state_size + 1);
    if (!state)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt_bind(in, state, 0);
    for (int f = 0; f < in->model->nfamilies && rt->status == GBM_OK; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (!rt_is_likelihood(fam) || !fam->no_draw)
            continue;
        if (rt_count_observed(in, f, state).none > 0)
            rt_fail(rt, GBM_USER_ERROR,
                    "%s: --method %s begins at the prior, and this one has no "
                    "draws: it is improper, or its distribution does not say "
                    "how\n    %s",
                    fam->where, method, fam->text);
    }
    free(state);
    return rt->status;
}

void rt_put_evidence(FILE *json, const struct gbm_draws *draws, double value,
                     double se)
{
    fputs("  \"log_evidence\": {\"value\": ", json);
    if (isfinite(value))
        fprintf(json, "%.10g", value);
    else
        fputs("null", json);
    fputs(", \"se\": ", json);
    if (isfinite(se))
        fprintf(json, "%.6g", se);
    else
        fputs("null", json);
    fprintf(json, "},\n  \"observed_sum\": %lld",
            (long long)gbm_draws_observed_sum(draws));
}
