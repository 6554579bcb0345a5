/* method.c: the methods that there are. */
#include "options/method.h"
#include "chains/chains.h"

const struct rt_method rt_mcmc = {
    .name = "mcmc",
    .also = "gibbs",
    .help = "draws by Markov chains: the sweep (this is the default)",
    .run = rt_run_chains,
    .chains = true,
};

const struct rt_method *const rt_methods[] = {
    &rt_mcmc,
    &rt_tempering,
    &rt_smc,
    &rt_optimize,
    &rt_em,
    &rt_particle_filter,
    &rt_particle_metropolis,
    NULL,
};
