/* work.c: what a step does in a sweep, phase by phase, as the model counts it
 * in extents and data (struct gbm_phase). */
#include "load/load.h"

#include <stdlib.h>

double *rt_step_work(const struct gbm_step *step, const void *state)
{
    size_t n = 1;
    for (int i = 0; i < step->nphases; i++)
        n += GBM_WORK_READS + (size_t)step->phases[i].nreads;
    double *counts = calloc(n, sizeof *counts);
    if (counts)
        step->work(state, counts);
    return counts;
}

const double *rt_next_phase(const struct gbm_phase *phase, const double *counts)
{
    return counts + GBM_WORK_READS + phase->nreads;
}
