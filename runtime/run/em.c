/* em.c: --method em: expectation and maximisation (Dempster, Laird and Rubin
 * 1977) with priors, so to a mode of the posterior density: discrete nodes are
 * summed out. The maximisation is L-BFGS on the expected log density, from
 * where the last one ended; so the density never falls. */
#include "run/expectation.h"
#include "run/method.h"
#include "run/mode.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Converged: what an iteration gains, of the log density. */
#define GAIN 1e-11

struct em {
    struct rt_mode mode;
    struct rt_sites sites;
    struct rt_expectation *expectations; /* [chains] */
};

static bool keep_value(struct rt_climb *c, double value)
{
    if (c->nvalues % 64 == 0)
        c->values =
            realloc(c->values, (size_t)(c->nvalues + 64) * sizeof *c->values);
    if (!c->values)
        abort();
    c->values[c->nvalues++] = value;
    return isfinite(value);
}

static double expectation(struct rt_expectation *e, struct rt_climb *c)
{
    e->summed = true;
    const double value = rt_gradient_at(&c->gradient, c->u, NULL);
    e->summed = false;
    return value;
}

static void climb(struct em *em, struct rt_climb *c, struct rt_expectation *e)
{
    struct rt_mode *m = &em->mode;
    double before = -INFINITY, value = expectation(e, c);
    enum rt_ascent end = RT_ASCENT_LIMIT;
    int iterations = 0;
    if (!keep_value(c, value))
        end = RT_ASCENT_STUCK;
    for (; end == RT_ASCENT_LIMIT && iterations < m->rt->options.iterations;
         iterations++) {
        rt_mode_climb(m, c);
        if (c->end == RT_ASCENT_UNBOUNDED || c->end == RT_ASCENT_STOPPED) {
            end = c->end;
            break;
        }
        before = value;
        value = expectation(e, c);
        if (!keep_value(c, value))
            end = value > 0 ? RT_ASCENT_UNBOUNDED : RT_ASCENT_STUCK;
        else if (value - before <= GAIN * (1 + fabs(value)))
            end = RT_ASCENT_CONVERGED;
    }
    c->end = end;
    c->iterations = iterations;
    c->value = value;
    rt_gradient_constrain(&c->gradient, c->u);
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
    if (s == GBM_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(rt->threads)
        for (int c = 0; c < em.mode.in.nchains; c++)
            climb(&em, &em.mode.climbs[c], &em.expectations[c]);
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
    .with = GBM_WITH_GRADIENTS,
    .run = run,
};
