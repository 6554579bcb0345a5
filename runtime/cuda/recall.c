/* recall.c: which steps keep the sums that they have computed
 * (stdlib/kernels/recall.h), and which log likelihoods are known by these. What
 * is kept is compared and stored by each lane at every value that is tried, so
 * a sum must have more operations than that for a lane. Only teams of a warp's
 * lanes, which wait for each other cheaply.
 *
 * GBM_CUDA_RECALL, for tests: 0 never, 1 wherever it can be done. */
#include "cuda.h"

#include <stdlib.h>

/* Operations of a lane, in what a search for a value repeats. */
#define WORTH 1000.0

static bool one_at_a_time(const struct rt_step *plan)
{
    for (int i = 0; !plan->sequential && i < plan->ncolours; i++)
        if (plan->colour[i + 1] - plan->colour[i] > 1)
            return false;
    return plan->active;
}

static bool recalls(const struct cuda *c, int step)
{
    const char *wanted = getenv("GBM_CUDA_RECALL");
    const int lanes =
        c->chains.lanes ? c->chains.lanes : c->steps[step].kernel.lanes;
    double rows;

    if (!c->in->model->steps[step].recalled || c->mixed || lanes > 32 ||
        !one_at_a_time(&c->in->steps[step]))
        return false;
    return wanted ? atoi(wanted) != 0
                  : cuda_search_operations(c, step, &rows) > WORTH * lanes;
}

/* Whether all of the family's log likelihood is such a sum. */
static bool is_known(const struct cuda *c, int f)
{
    const struct gbm_family *family = &c->in->model->families[f];
    const struct rt_slot *slot = &c->in->slots[family->variable];

    if (!family->known_kernel || slot->per_chain || slot->seen)
        return false;
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->model->steps[k].number == family->known_by)
            return c->steps[k].recalls;
    return false;
}

void cuda_recall_plan(struct cuda *c)
{
    for (int k = 0; k < c->in->model->nsteps; k++)
        c->steps[k].recalls = recalls(c, k);
    for (int f = 0; f < c->in->model->nfamilies; f++)
        if (c->densities[f].name[0] && is_known(c, f))
            cuda_name_kernel(&c->known[f],
                             c->in->model->families[f].known_kernel, 1);
}

bool cuda_keeps_slot(const struct cuda *c, int variable)
{
    if (c->in->model->variables[variable].role != GBM_RECALLED)
        return true;
    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct gbm_step *s = &c->in->model->steps[k];
        if (s->recalled == variable + 1)
            return c->steps[k].recalls;
        if (s->kind == GBM_STEP_MAP && s->marks == variable + 1)
            return c->steps[k].by_rows;
    }
    return false;
}
