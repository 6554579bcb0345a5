/* self_check_draws.c: draws of one element of each step that draws exactly,
 * beside the integral of its full conditional (check_draws.c). Steps of a kind,
 * by what they say they draw from, share what draws: the first of each kind
 * have their turn first, and some time in any case. Which step is the first
 * goes by the seed, as in a short run there may be time for a few only. */
#include "check/self_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 4e-4 /* seconds of a kind */

static enum gbm_status refuse(const struct self_check *s, int k, int e)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    return rt_fail(s->rt, GBM_FAILURE,
                   "%s: this sampler is wrong: no draws were made\n"
                   "    %s\n"
                   "What step %d draws for its element %d is not of its full "
                   "conditional. " CHECK_REPORT,
                   s->in->model->families[step->family].where,
                   s->in->model->families[step->family].text, k + 1, e,
                   (unsigned long long)s->rt->options.seed);
}

/* Of a step that may draw exactly, the element whose draws are compared; -1:
 * there is none. */
static int element_of(const struct self_check *s, int k)
{
    const struct rt_step *plan = &s->in->steps[k];
    if (!self_check_reaches(s, k) || !s->in->model->steps[k].exact)
        return -1;
    const int64_t n = plan->colour[plan->ncolours] - plan->colour[0];
    if (n == 0)
        return -1;
    const int64_t i = plan->colour[0] + k * 7919 % n;
    return plan->elements ? plan->elements[i] : (int)i;
}

/* Whether it draws exactly as chains stand: the first of a kind must not be one
 * of which there is nothing to compare. */
static bool draws_exactly(const struct self_check *s, int k)
{
    const int e = element_of(s, k);
    return e >= 0 && s->in->model->steps[k].exact(s->state, e);
}

/* The steps that draw exactly, those of a new kind first; tells how many there
 * are, *kinds: of how many kinds. */
static int find_turns(const struct self_check *s, int *turns, int *kinds)
{
    const int n = s->in->model->nsteps;
    const struct gbm_step *steps = s->in->model->steps;
    int known = 0, last = 0;
    for (int i = 0; i < n; i++) {
        const int k = (int)((s->rt->options.seed + (uint64_t)i) % (uint64_t)n);
        bool is_new = true;
        if (!draws_exactly(s, k))
            continue;
        for (int j = 0; j < known; j++)
            is_new = is_new &&
                     strcmp(steps[turns[j]].sampler, steps[k].sampler) != 0;
        turns[last++] = k;
        if (is_new) { /* before those of a kind that is known */
            turns[last - 1] = turns[known];
            turns[known++] = k;
        }
    }
    *kinds = known;
    return last;
}

static enum gbm_status compare(struct self_check *s, const int *turns, int n,
                               int kinds, struct check_integral *g)
{
    const double end = s->began + SELF_CHECK_SECONDS;
    struct gbm_sweep sweep = {.seed = s->rt->options.seed,
                              .sweep = SELF_CHECK_FIRST + SELF_CHECK_FIRST / 4,
                              .adapting = 2};
    for (int i = 0; i < n; i++) {
        const int k = turns[i], e = element_of(s, k);
        const double now = rt_clock(), rest = self_check_rest(s);
        const double least = i < kinds ? LEAST : 0;
        const struct check_time time = {.share = now + rest / (n - i),
                                        .last =
                                            fmin(now + fmax(rest, least), end)};
        if (time.last <= now)
            continue;
        const double distance = check_draws(g, &s->in->model->steps[k],
                                            s->state, sweep, s->chain, e, time);
        self_check_refresh(s);
        s->drawn += distance >= 0;
        if (distance > 1)
            return refuse(s, k, e);
    }
    return GBM_OK;
}

enum gbm_status self_check_draws(struct self_check *s)
{
    int kinds,
        *turns = malloc(((size_t)s->in->model->nsteps + 1) * sizeof(int));
    struct check_integral *g = check_integral_create();
    enum gbm_status status = GBM_FAILURE;
    if (turns && g) {
        const int n = find_turns(s, turns, &kinds);
        status = compare(s, turns, n, kinds, g);
    } else {
        status = rt_fail(s->rt, GBM_FAILURE, "no memory for the self-check");
    }
    free(turns);
    free(g);
    return status;
}
