/* ahead.c: random numbers of many elements, of one step or of several, are
 * computed at once, before the updates that take them (stdlib/ahead.h). */
#include "host.h"

int64_t host_batch_room(const struct rt_instance *in,
                        const struct gbm_step *step)
{
    if (!in->model->ahead || step->blocks <= 0)
        return 0;
    return HOST_BATCH * GBM_AHEAD_GROUP / step->blocks;
}

int host_batch_add(struct host_batch *batch, const struct gbm_step *step,
                   const int *elements, int64_t first, int64_t last)
{
    int place = batch->count, per_element = step->blocks * batch->stride;
    if ((last - first) * per_element >
        (int64_t)HOST_BATCH * GBM_AHEAD_GROUP - place)
        return -1;
    for (int64_t k = first; k < last; k++) {
        for (int j = 0; j < per_element; j++) {
            int at = batch->count++, i = at % GBM_AHEAD_GROUP;
            int block = j / batch->stride;
            struct gbm_places *group = &batch->places[at / GBM_AHEAD_GROUP];
            if (i == 0)
                *group = (struct gbm_places){.normal = false};
            group->later[i] = (uint64_t)(j % batch->stride);
            group->step[i] = (uint32_t)step->number;
            group->element[i] = (uint32_t)(elements ? elements[k] : k);
            group->block[i] = (uint64_t)block;
            group->normal = group->normal || (step->normal && block == 0);
        }
    }
    return place;
}

void host_batch_draw(const struct rt_instance *in,
                     const struct host_batch *batch, uint32_t chain,
                     struct gbm_sweep *sweep, struct gbm_ahead *out)
{
    int groups = (batch->count + GBM_AHEAD_GROUP - 1) / GBM_AHEAD_GROUP;
    in->model->ahead(sweep->seed, chain, sweep->sweep, groups, batch->places,
                     out);
    sweep->ahead = out;
    sweep->place = 0;
    sweep->stride = (uint32_t)batch->stride;
}
