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

enum gbm_status rt_device_logliks(struct rt *rt, const struct rt_instance *in,
                                  double *loglik)
{
    const double *power = rt_powers(in);
    const bool tells = rt_device_tells(rt, in);
    enum gbm_status s = GBM_OK;
    for (int c = 0; c < in->nchains; c++)
        loglik[c] = tells && power[c] > RT_LEAST_POWER ? 0 : (double)NAN;
    if (!tells)
        return s;
    double *sums = malloc((size_t)in->nchains * sizeof *sums);
    if (!sums)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    for (int f = 0; s == GBM_OK && f < in->model->nfamilies; f++) {
        if (!in->model->families[f].raised || in->elements[f] == 0)
            continue;
        s = rt->device->density(rt, f, sums);
        for (int c = 0; s == GBM_OK && c < in->nchains; c++)
            loglik[c] += sums[c] / power_of(rt, power[c]);
    }
    free(sums);
    return s;
}
