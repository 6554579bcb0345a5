/* self_check_blame.c: which step, and which of its elements, is to blame where
 * the moves of a sweep do not add up to what the joint has changed by. */
#include "check/self_check.h"

#include <math.h>
#include <stdio.h>

enum gbm_status self_check_refuse(struct self_check *s, int f,
                                  const char *variable, const char *sampler,
                                  const char *where, double conditional,
                                  double density)
{
    const struct gbm_family *family = &s->in->model->families[f];
    char numbers[200];
    if (isnan(conditional))
        snprintf(numbers, sizeof numbers,
                 "where %s stands, its full conditional is not a number, but "
                 "the model's log density is.",
                 where);
    else
        snprintf(numbers, sizeof numbers,
                 "where %s moves, its full conditional changes by %.10g, the "
                 "model's log density by %.10g (logs).",
                 where, conditional, density);
    return rt_fail(
        s->rt, GBM_FAILURE,
        "%s: this sampler is wrong: no draws were made\n"
        "    %s\n"
        "The update of %s (%s) does not belong to the model: %s " CHECK_REPORT,
        family->where, family->text, variable, sampler, numbers,
        (unsigned long long)s->rt->options.seed);
}

static void refuse(struct self_check *s, int k, const char *where,
                   double conditional, double density)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    self_check_refuse(s, step->family, step->variable, step->sampler, where,
                      conditional, density);
}

/* The first element of the step that fails alone, from the state as it is. */
static bool blame_element(struct self_check *s, int k)
{
    struct checker c;
    const struct gbm_step *step = &s->in->model->steps[k];
    const struct rt_step *plan = &s->in->steps[k];
    double limit = rt_clock() + 10;
    bool found = false;
    if (check_create(&c, s->rt, s->in) != GBM_OK) {
        check_free(&c);
        return true;
    }
    c.chain = s->chain;
    c.sweep = 1u << 20;
    rt_bind(s->in, c.state, s->chain);
    int64_t n = step->kind == GBM_STEP_DENSE ? 1 : plan->count;
    for (int64_t i = 0; i < n && !found && rt_clock() < limit; i++) {
        if (step->kind == GBM_STEP_DENSE)
            check_dense(&c, k, false);
        else
            check_element(&c, k, plan->elements ? plan->elements[i] : i, false);
        found = c.rows[k].checked > 0 && c.rows[k].worst > 1 &&
                isfinite(c.rows[k].joint);
    }
    if (found)
        refuse(s, k, c.rows[k].element[0] ? c.rows[k].element : step->variable,
               c.rows[k].conditional, c.rows[k].joint);
    check_free(&c);
    return found;
}

bool self_check_rounding_explains(struct self_check *s, void *const *from,
                                  double difference)
{
    struct checker c = {0};
    double rounding = 0;
    void **now = rt_save(s->in);
    if (now && check_create(&c, s->rt, s->in) == GBM_OK) {
        c.chain = s->chain;
        rt_bind(s->in, c.state, s->chain);
        rounding = check_rounding(&c);
        rt_put_back(s->in, from);
        rounding += check_rounding(&c);
        rt_put_back(s->in, now);
        self_check_refresh(s);
    }
    check_free(&c);
    rt_forget(s->in, now);
    return 2 * rounding >= fabs(difference); /* the conditional's too */
}

enum gbm_status self_check_blame(struct self_check *s, uint32_t first,
                                 uint32_t last)
{
    self_check_allow(s, 60);
    self_check_refresh(s);
    struct change before = self_check_joint(s);
    for (s->sweep = first; s->sweep <= last; s->sweep++)
        for (int k = 0; k < s->in->model->nsteps; k++) {
            void **from = rt_save(s->in);
            struct change one = self_check_step(s, k, s->deadline);
            if (self_check_reaches(s, k)) {
                self_check_refresh(s);
                struct change after = self_check_joint(s);
                double moved = after.value - before.value;
                if (self_check_compare(one, before, after) == DOES_NOT &&
                    !self_check_rounding_explains(s, from, moved - one.value) &&
                    !self_check_adds_up_before(s, k, from) &&
                    !blame_element(s, k))
                    refuse(s, k, s->in->model->steps[k].variable, one.value,
                           moved);
                before = after;
            }
            rt_forget(s->in, from);
            if (s->rt->status != GBM_OK)
                return s->rt->status;
        }
    return GBM_OK;
}
