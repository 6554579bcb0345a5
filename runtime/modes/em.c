/* em.c: --method em: expectation and maximisation (Dempster, Laird and Rubin
 * 1977) with priors, so to a mode of the posterior density: discrete nodes are
 * summed out. Where the algebra can, iterations are sweeps (em_sweeps.c). Then
 * the maximisation is L-BFGS on the expected log density, from where the last
 * one ended; so the density never falls. */
#include "modes/em.h"
#include "options/method.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* What of the log density must not be left to gain. */
#define PROMISE 1e-7

struct em {
    struct rt_mode mode;
    struct rt_sites sites;
    struct rt_expectation *expectations; /* [chains] */
};

/* Whether there is nothing to gain from where sweeps have come to, if no node
 * was left behind: along the gradient the expected density rises by less than
 * half of what it promises. */
static bool is_mode(const struct rt_mode *m, struct rt_climb *c)
{
    const int64_t n = m->unknowns.dimension;
    double *slope = calloc(2 * (size_t)n + 1, sizeof *slope), square = 0;
    if (!slope)
        abort();
    double *next = slope + n;
    const double value = rt_gradient_at(&c->gradient, c->u, slope);
    for (int64_t i = 0; i < n; i++)
        square += slope[i] * slope[i];
    const double promise = PROMISE * (1 + fabs(value));
    for (int64_t i = 0; i < n; i++)
        next[i] = c->u[i] + promise / square * slope[i];
    bool rises = square > 0 &&
                 rt_gradient_at(&c->gradient, next, NULL) - value > promise / 2;
    free(slope);
    return isfinite(value) && !rises;
}

/* Iterations by gradients, from where sweeps have come to; returns how it ends.
 */
static enum rt_ascent iterate(const struct rt_mode *m, struct rt_climb *c,
                              struct rt_expectation *e)
{
    const int all = m->rt->options.iterations;
    int n = c->swept;
    enum rt_ascent end = RT_ASCENT_LIMIT;
    for (; n < all && end == RT_ASCENT_LIMIT; n++) {
        const double before = c->values[c->nvalues - 1];
        rt_mode_climb(m, c);
        if (c->end == RT_ASCENT_UNBOUNDED || c->end == RT_ASCENT_STOPPED) {
            end = c->end;
            break;
        }
        const double value = rt_expectation_density(e, &c->gradient, c->u);
        if (!rt_climb_keep(c, value))
            end = value > 0 ? RT_ASCENT_UNBOUNDED : RT_ASCENT_STUCK;
        else if (value - before <= RT_EM_GAIN * (1 + fabs(value)))
            end = RT_ASCENT_CONVERGED;
    }
    c->iterations = n;
    return end;
}

static bool is_swept(const struct gbm_model *m, int family)
{
    bool swept = false;
    for (int k = 0; k < m->nsteps && !swept; k++) {
        const struct gbm_step *s = &m->steps[k];
        swept = s->family == family;
        for (int i = 0; s->members && i < s->nmembers; i++)
            swept = swept || s->members[i] == family;
    }
    return swept;
}

/* Whether a sweep puts all that is unknown at modes of full conditionals. */
static bool all_swept(const struct rt_mode *m)
{
    const int64_t *items = m->unknowns.of_family;
    for (int f = 0; f < m->in.model->nfamilies; f++)
        if (items[f] < items[f + 1] && !is_swept(m->in.model, f))
            return false;
    return true;
}

/* Nothing is left to do behind sweeps: their last state has the most probable
 * values, as the numbers of the last but one have them. */
static bool is_done(const struct rt_mode *m, const struct rt_climb *c)
{
    return c->nvalues && all_swept(m) &&
           (c->end == RT_ASCENT_CONVERGED ||
            c->nvalues > m->rt->options.iterations);
}

static void end_swept(const struct rt_mode *m, struct rt_climb *c)
{
    c->swept = c->iterations = c->nvalues - 1;
    c->value = c->values[c->nvalues - 1];
    rt_gradient_constrain(&c->gradient, c->u);
    rt_mode_tell_far(m, c);
}

static void climb(const struct rt_mode *m, struct rt_climb *c,
                  struct rt_expectation *e)
{
    const bool settled = c->nvalues && c->end == RT_ASCENT_CONVERGED;
    if (is_done(m, c)) {
        end_swept(m, c);
        return;
    }
    const double value = rt_expectation_density(e, &c->gradient, c->u);
    c->swept = c->iterations = c->nvalues ? c->nvalues - 1 : 0;
    c->nvalues -= c->nvalues > 0; /* the last one is of the same numbers */
    if (!rt_climb_keep(c, value))
        c->end = RT_ASCENT_STUCK;
    else if (!settled || !is_mode(m, c))
        c->end = iterate(m, c, e);
    c->value = c->values[c->nvalues - 1];
    rt_gradient_constrain(&c->gradient, c->u);
    if (c->end != RT_ASCENT_UNBOUNDED) /* then it is told */
        rt_mode_tell_far(m, c);
    rt_expectation_choose(e, &c->gradient);
}

static enum gbm_status prepare(struct em *em)
{
    struct rt_mode *m = &em->mode;
    struct rt *rt = m->rt;
    enum gbm_status s = rt_mode_prepare(m);
    if (s == GBM_OK && m->unknowns.ndiscrete == 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "no unknown node is a whole number, so there is nothing "
                       "to take the expectation of: --method optimize");
    if (s == GBM_OK)
        s = rt_sites_create(rt, &m->unknowns, m->climbs[0].gradient.state,
                            &em->sites);
    if (s != GBM_OK)
        return s;
    em->expectations = calloc((size_t)m->in.nchains, sizeof *em->expectations);
    for (int c = 0; em->expectations && c < m->in.nchains; c++)
        if (!rt_expectation_begin(&em->expectations[c], &em->sites,
                                  &m->climbs[c].gradient))
            return rt_fail(rt, GBM_FAILURE, "no memory");
    return em->expectations ? s : rt_fail(rt, GBM_FAILURE, "no memory");
}

static int run(struct rt *rt)
{
    struct em em = {.mode = {.rt = rt,
                             .what = "log posterior density, discrete nodes "
                                     "summed out"}};
    enum gbm_status s =
        rt->options.laplace
            ? rt_fail(rt, GBM_USER_ERROR,
                      "--laplace with --method em: not supported yet")
            : rt_mode_check_output(rt);
    if (s == GBM_OK)
        s = prepare(&em);
    if (s == GBM_OK && rt_mode_by_sweeps(rt->model) && !rt->options.jacobian)
        s = rt_em_sweeps(&em.mode, &em.sites, em.expectations);
    if (s == GBM_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(rt->threads)
        for (int c = 0; c < em.mode.in.nchains; c++)
            climb(&em.mode, &em.mode.climbs[c], &em.expectations[c]);
        s = rt_mode_choose(&em.mode);
    }
    if (s == GBM_OK)
        s = rt_mode_report(&em.mode, true);
    for (int c = 0; em.expectations && c < em.mode.in.nchains; c++)
        rt_expectation_end(&em.expectations[c]);
    free(em.expectations);
    rt_sites_free(&em.sites);
    rt_mode_free(&em.mode);
    return rt_report(rt);
}

const struct rt_method rt_em = {
    .name = "em",
    .help = "a mode with discrete nodes summed out, by EM from --chains starts",
    .with = GBM_WITH_GRADIENTS | GBM_WITH_EXPECTATION,
    .run = run,
};
