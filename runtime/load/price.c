/* price.c: what optional moves cost, in sweeps, before they are made. It is
 * counted, as draws must not depend on a clock. */
#include "load/load.h"

#include <stdlib.h>

/* The parameters of a joint block with it integrated out (stdlib/kernels/
 * marginal.h): a fit of the block at either end, one more where the step is
 * taken; and what the densities there have beside what all rows have in common,
 * about half of it. */
#define FITS 2.35
#define ENDS 1.0
/* What a chain sees of the gain is rough: a move that is left out by mistake
 * costs more than one that is made. */
#define DOUBT 0.6
/* Of a device: its factorisations come one after the other, whatever their
 * size: sweeps of 0.128 ms and 0.025 ms without, 0.43 and 0.119 (an H200, rats
 * with a Wishart prior, a local level). */
#define AWAY 3.0

static double factor_of(const struct gbm_step *s, const void *state)
{
    return s->joint && s->cost ? (double)s->cost(state) : 0;
}

/* Operations of the block's rows. */
static double sums_of(const struct gbm_step *s, const void *state)
{
    double all = 0, *counts = rt_step_work(s, state);
    const double *at = counts;
    for (int i = 0; counts && i < s->nphases; i++) {
        if (!s->phases[i].sparse && !s->phases[i].at_least)
            all += at[GBM_WORK_OPERATIONS];
        at = rt_next_phase(&s->phases[i], at);
    }
    free(counts);
    return all;
}

static double sweep_of(const struct rt_instance *in, const void *state)
{
    double all = 1;
    for (int k = 0; k < in->model->nsteps; k++) {
        const struct gbm_step *s = &in->model->steps[k];
        if (in->steps[k].active && !s->leaf && s->work)
            all += rt_step_operations(in, s, state) + factor_of(s, state);
    }
    return all;
}

static double price(const struct rt_instance *in, const struct gbm_step *s,
                    const void *state)
{
    const double fit = sums_of(s, state) + factor_of(s, state);
    double *works = calloc((size_t)in->model->nfamilies + 1, sizeof *works);
    if (works)
        in->model->family_work(state, works);
    const double ends = works ? s->ends(works) : 0;
    free(works);
    return DOUBT * (FITS * fit + ENDS * ends) / sweep_of(in, state);
}

void rt_price_moves(const struct rt_instance *in, bool away)
{
    char *states = rt_states_create(in);
    for (int k = 0; states && k < in->model->nsteps; k++) {
        const struct gbm_step *s = &in->model->steps[k];
        if (!s->price || !in->steps[k].active)
            continue;
        const double sweeps = away ? AWAY : price(in, s, states);
        for (int chain = 0; chain < in->nchains; chain++)
            s->price(rt_state(in, states, chain), sweeps);
    }
    free(states);
}
