/* self_check_chain.c: sweeps of the self-check, from where a chain stands: what
 * the conditionals say of their moves beside the joint log density. */
#include "check/self_check.h"

#define SWEEPS 10 /* of a chain */

static enum verdict check_sweep(struct self_check *s, struct change *density)
{
    int n = s->in->model->nsteps;
    struct change conditional = {0};
    for (int k = 0; k < n; k++) {
        double now = rt_clock();
        struct change one =
            self_check_step(s, k, now + (s->deadline - now) / (n - k));
        self_check_add(&conditional, &one);
    }
    if (self_check_held(s, "A sweep leaves") != GBM_OK)
        return UNKNOWN;
    struct change after = self_check_joint(s);
    if (s->out_of_time)
        return UNKNOWN;
    enum verdict verdict = self_check_compare(conditional, *density, after);
    *density = after;
    s->sweep++;
    return verdict;
}

enum gbm_status self_check_chain(struct self_check *s, int chain,
                                 void *const *values)
{
    uint32_t first = s->sweep;
    s->chain = chain;
    rt_bind(s->in, s->state, chain);
    self_check_refresh(s);
    struct change density = self_check_joint(s);
    for (int i = 0; i < SWEEPS && !s->out_of_time; i++) {
        const uint32_t sweep = s->sweep;
        const double now = rt_clock();
        s->swept = 0;
        enum verdict verdict = check_sweep(s, &density);
        if (s->rt->status != GBM_OK)
            return s->rt->status;
        s->points += verdict == ADDS_UP;
        if (verdict == DOES_NOT) {
            rt_put_back(s->in, values);
            return self_check_blame(s, first, sweep);
        }
        if (chain == 0)
            self_check_share(s);
        self_check_moves_on(s);
        if (verdict == UNKNOWN || self_check_left(s) < (rt_clock() - now) / 2)
            break;
    }
    return GBM_OK;
}
