/* optimize.c: --method optimize: the mode of the posterior density by L-BFGS
 * from several starts; with --laplace, draws from the normal approximation
 * there. Without --jacobian it is the density of the model's own nodes, as in
 * CmdStan, and so a penalised likelihood estimate. */
#include "options/method.h"
#include "modes/mode.h"

#include <omp.h>

static enum gbm_status refuse_discrete(const struct rt_mode *m)
{
    const struct rt_unknowns *u = &m->unknowns;
    char name[256];
    if (u->ndiscrete == 0)
        return GBM_OK;
    rt_element_name(&m->in, m->climbs[0].gradient.state, u->discrete[0].family,
                    u->discrete[0].element, name, sizeof name);
    return rt_fail(m->rt, GBM_USER_ERROR,
                   "%s is a whole number that is not observed (%s), and the "
                   "density has no derivative by it: not for --method "
                   "optimize; --method em sums it out, --method mcmc draws",
                   name, m->in.model->families[u->discrete[0].family].where);
}

static int run(struct rt *rt)
{
    struct rt_mode m = {.rt = rt, .what = "log posterior density"};
    enum gbm_status s = rt_mode_check_output(rt);
    if (s == GBM_OK)
        s = rt_mode_prepare(&m);
    if (s == GBM_OK)
        s = refuse_discrete(&m);
    if (s == GBM_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(rt->threads)
        for (int c = 0; c < m.in.nchains; c++)
            rt_mode_climb(&m, &m.climbs[c]);
        s = rt_mode_choose(&m);
    }
    if (s == GBM_OK)
        s = rt_mode_report(&m, rt->options.laplace == 0);
    if (s == GBM_OK && rt->options.laplace > 0)
        s = rt_laplace(&m);
    rt_mode_free(&m);
    return rt_report(rt);
}

const struct rt_method rt_optimize = {
    .name = "optimize",
    .help =
        "the mode, by L-BFGS from --chains starts; --laplace N: draws there",
    .with = GBM_WITH_GRADIENTS,
    .run = run,
};
