/* self_check_lines.c: moves along lines that warm-up has learnt, before the
 * first draw that is kept: what they say of their density beside the joint's,
 * as of any step; and that what sweeps keep follows them. Nothing of the
 * sampler's text makes them, so no step is to blame where they are wrong. */
#include "check/self_check.h"

#include <math.h>

#define CHAINS 4
#define SWEEPS 4    /* of a chain, at most */
#define SHARE 0.005 /* of warm-up; one sweep in any case */
#define FIRST (SELF_CHECK_FIRST + SELF_CHECK_FIRST / 8)

static enum gbm_status refuse(struct self_check *s, const struct host_along *a,
                              double told, double density)
{
    char where[128];
    int family;
    int64_t element;
    host_along_first(a, &family, &element);
    rt_element_name(s->in, s->state, family, element, where, sizeof where);
    const struct gbm_family *f = &s->in->model->families[family];
    return self_check_refuse(
        s, family, s->in->model->variables[f->variable].name,
        "and others, along lines that warm-up learnt", where, told, density);
}

/* The moves of a sweep of the chain that stands in `state`. */
static enum gbm_status check_moves(struct self_check *s, struct host_along *a,
                                   struct change *density)
{
    const struct rt_block block = {.seed = s->rt->options.seed};
    struct change told = {0};
    void **from = rt_save(s->in);
    host_along_move(a, s->state, s->chain, &block, FIRST + s->sweep++,
                    &told.value);
    /* computes all that is derived */
    enum gbm_status status = self_check_held(s, "Moves along lines that "
                                                "warm-up learnt leave");
    const struct change after = self_check_joint(s);
    const double moved = after.value - density->value;
    if (status == GBM_OK && !s->out_of_time &&
        self_check_compare(told, *density, after) == DOES_NOT &&
        !self_check_rounding_explains(s, from, moved - told.value))
        status = refuse(s, a, told.value, moved);
    rt_forget(s->in, from);
    *density = after;
    return status;
}

static enum gbm_status check_chains(struct self_check *s, struct host_along *a,
                                    double seconds)
{
    const double until = rt_clock() + seconds;
    enum gbm_status status = GBM_OK;
    for (int c = 0; c < CHAINS && c < s->in->nchains; c++) {
        s->chain = c;
        rt_bind(s->in, s->state, c);
        self_check_refresh(s);
        struct change density = self_check_joint(s);
        for (int i = 0; i < SWEEPS && status == GBM_OK; i++) {
            status = check_moves(s, a, &density);
            if (rt_clock() > until || s->out_of_time)
                return status;
        }
    }
    return status;
}

enum gbm_status rt_self_check_lines(struct rt *rt, struct rt_instance *in,
                                    double warmup)
{
    struct host_along *a = host_along_of(rt);
    struct self_check s = {.rt = rt, .in = in};
    enum gbm_status status = GBM_OK;
    if (rt->options.no_check || !host_along_any(a))
        return GBM_OK;
    self_check_begin(&s);
    if (self_check_create(&s)) {
        status = check_chains(&s, a, fmin(SHARE * warmup, SELF_CHECK_SECONDS));
        rt_put_back(in, s.start);
    } else {
        status = rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    }
    self_check_destroy(&s);
    rt_clock_note("learnt lines are checked");
    return status;
}
