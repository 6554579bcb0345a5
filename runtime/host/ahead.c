/* ahead.c: random numbers of many elements, of one step or of several, are
 * computed at once, before the updates that take them (stdlib/kernels/ahead.h).
 */
#include "host/host.h"

int64_t host_batch_room(const struct rt_instance *in,
                        const struct gbm_step *step)
{
    if (!in->model->ahead || step->blocks <= 0)
        return 0;
    return HOST_BATCH * GBM_AHEAD_GROUP / step->blocks;
}

/* Group number g from place `from` on, of blocks that follow one another in one
 * sweep: *k and *block, those of the first, become those of the one after. */
static void fill_group(struct gbm_places *group, const struct gbm_step *step,
                       const int *elements, int64_t *k, int *block)
{
    for (int i = 0; i < GBM_AHEAD_GROUP; i++) {
        group->later[i] = 0;
        group->step[i] = (uint32_t)step->number;
    }
    group->normals = step->normals;
    if (step->blocks == 1 && !elements) {
        for (int i = 0; i < GBM_AHEAD_GROUP; i++) {
            group->block[i] = 0;
            group->element[i] = (uint32_t)(*k + i);
        }
        *k += GBM_AHEAD_GROUP;
        return;
    }
    for (int i = 0; i < GBM_AHEAD_GROUP; i++) {
        group->block[i] = (uint64_t)*block;
        group->element[i] = (uint32_t)(elements ? elements[*k] : *k);
        if (++*block == step->blocks) {
            *block = 0;
            ++*k;
        }
    }
}

int host_batch_add(struct host_batch *batch, const struct gbm_step *step,
                   const int *elements, int64_t first, int64_t last)
{
    int place = batch->count, per_element = step->blocks * batch->stride;
    int64_t count = (last - first) * per_element, k = first;
    int block = 0, at = place;
    if (count > (int64_t)HOST_BATCH * GBM_AHEAD_GROUP - place)
        return -1;
    batch->count = place + (int)count;
    while (batch->stride == 1 && at % GBM_AHEAD_GROUP == 0 &&
           at + GBM_AHEAD_GROUP <= batch->count) {
        fill_group(&batch->places[at / GBM_AHEAD_GROUP], step, elements, &k,
                   &block);
        at += GBM_AHEAD_GROUP;
    }
    for (int j = at - place; at < batch->count; j++, at++) {
        int i = at % GBM_AHEAD_GROUP;
        struct gbm_places *group = &batch->places[at / GBM_AHEAD_GROUP];
        if (i == 0)
            *group = (struct gbm_places){.normals = 0};
        k = first + j / per_element;
        block = j % per_element / batch->stride;
        group->later[i] = (uint64_t)(j % batch->stride);
        group->step[i] = (uint32_t)step->number;
        group->element[i] = (uint32_t)(elements ? elements[k] : k);
        group->block[i] = (uint64_t)block;
        int normals = step->normals - 2 * block;
        group->normals = group->normals > normals ? group->normals : normals;
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
