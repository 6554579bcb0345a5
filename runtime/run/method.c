/* method.c: the methods that there are. */
#include "run/method.h"
#include "run/chains.h"

#include <string.h>

const struct rt_method rt_mcmc = {
    .name = "mcmc",
    .also = "gibbs",
    .help = "draws by Markov chains: the sweep (this is the default)",
    .run = rt_run_chains,
};

static const struct rt_method *const methods[] = {
    &rt_mcmc,
    &rt_tempering,
    &rt_smc,
    &rt_optimize,
    &rt_em,
    &rt_particle_filter,
    &rt_particle_metropolis,
};
enum { NMETHODS = sizeof methods / sizeof methods[0] };

const struct rt_method *rt_method(int k)
{
    return k < NMETHODS ? methods[k] : NULL;
}

const struct rt_method *rt_method_find(const char *name)
{
    for (int k = 0; k < NMETHODS; k++)
        if (strcmp(methods[k]->name, name) == 0 ||
            (methods[k]->also && strcmp(methods[k]->also, name) == 0))
            return methods[k];
    return NULL;
}
