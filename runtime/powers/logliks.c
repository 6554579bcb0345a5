/* logliks.c: log likelihoods of all chains from the device that has their
 * states, for methods between prior and posterior. Its densities have the
 * chain's power, by which they are divided. */
#include "powers/tempering.h"

#include <math.h>
#include <stdlib.h>

/* Whether the sum of a family's densities is of data alone. */
static bool is_told(const struct rt_instance *in, int f)
{
    const struct gbm_family *fam = &in->model->families[f];
    return !fam->raised || in->elements[f] == 0 ||
           !in->slots[fam->variable].per_chain;
}

bool rt_device_tells(const struct rt *rt, const struct rt_instance *in)
{
    bool all = rt->device->density && !in->model->sequence;
    for (int f = 0; all && f < in->model->nfamilies; f++)
        all = is_told(in, f);
    return all;
}

/* The power as the device has it; 0: what is multiplied by it is lost. */
static double power_of(const struct rt *rt, double power)
{
    return rt->options.precision == RT_DOUBLE ? power : (double)(float)power;
}

/* Adds log likelihoods of family f, whose sums go into `sums`; where that is
 * `loglik`, they are the first. */
static enum gbm_status add_family(struct rt *rt, const struct rt_instance *in,
                                  int f, double *sums, double *loglik)
{
    const double *power = rt_powers(in);
    if (rt->device->density(rt, f, sums) != GBM_OK)
        return rt->status;
#pragma omp parallel for num_threads(rt->threads) schedule(static)
    for (int c = 0; c < in->nchains; c++) {
        const double own = power[c] > RT_LEAST_POWER
                               ? sums[c] / power_of(rt, power[c])
                               : (double)NAN;
        loglik[c] = sums == loglik ? own : loglik[c] + own;
    }
    return GBM_OK;
}

enum gbm_status rt_device_logliks(struct rt *rt, const struct rt_instance *in,
                                  double *loglik)
{
    const bool tells = rt_device_tells(rt, in);
    double *sums = loglik; /* no room of its own for the first */
    enum gbm_status s = GBM_OK;
    int families = 0;
    for (int f = 0; s == GBM_OK && tells && f < in->model->nfamilies; f++) {
        if (!in->model->families[f].raised || in->elements[f] == 0)
            continue;
        if (families++ == 1)
            sums = malloc((size_t)in->nchains * sizeof *sums);
        s = sums ? add_family(rt, in, f, sums, loglik)
                 : rt_fail(rt, GBM_FAILURE, "no memory");
    }
    if (sums != loglik)
        free(sums);
    for (int c = 0; c < in->nchains && families == 0; c++)
        loglik[c] =
            tells && rt_powers(in)[c] > RT_LEAST_POWER ? 0 : (double)NAN;
    return s;
}
