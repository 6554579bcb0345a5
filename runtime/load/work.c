/* work.c: what a step does in a sweep, phase by phase, as the model counts it
 * in extents and data (struct gbm_phase). */
#include "load/load.h"

#include <stdlib.h>

/* An element's draw beside its phases, in operations. */
enum { OF_DRAW = 40 };
/* A step that tries values counts what it does for two of each element. It
 * tries five or so, and does once for all of them what they share. */
#define OF_SEARCH 1.5

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

double rt_step_operations(const struct rt_instance *in,
                          const struct gbm_step *s, const void *state)
{
    double all = 0, *counts = rt_step_work(s, state);
    const double *at = counts;
    for (int i = 0; counts && i < s->nphases; i++) {
        all += at[GBM_WORK_OPERATIONS];
        at = rt_next_phase(&s->phases[i], at);
    }
    free(counts);
    const int64_t drawn = s->whole ? 1 : in->steps[s->number].count;
    return (s->trials ? OF_SEARCH : 1) * all + OF_DRAW * (double)drawn;
}
