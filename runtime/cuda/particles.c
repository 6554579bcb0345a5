/* particles.c: a sequential sampler's particles on the device: they are copied
 * there when they are resampled, and share what is tuned (particles.h). */
#include "cuda.h"

/* Whether a variable's cells go with a particle. */
static bool goes_along(const struct cuda *c, int v)
{
    return c->in->slots[v].per_chain && c->slots[v].values &&
           c->in->slots[v].cells > 0 &&
           c->in->model->variables[v].role != GBM_RECALLED;
}

static size_t chain_bytes(const struct cuda *c, int v)
{
    const bool integer = c->in->model->variables[v].integer;
    return (size_t)c->in->slots[v].cells *
           (integer ? sizeof(int) : c->real_size);
}

/* Room for one variable of all particles, and for where they come from. */
static enum gbm_status open_particles(struct cuda *c)
{
    const size_t chains = (size_t)c->in->nchains;
    size_t most = 0;

    if (c->particles.from)
        return GBM_OK;
    for (int v = 0; v < c->in->model->nvariables; v++)
        if (goes_along(c, v) && chain_bytes(c, v) > most)
            most = chain_bytes(c, v);
    TRY(cuda_request(c, &c->particles.from, chains * sizeof(int), "particles"));
    TRY(cuda_request(c, &c->particles.copy, chains * most, "particles"));
    return cuda_allocate(c);
}

static enum gbm_status copy(struct cuda *c, int v)
{
    long long words = (long long)(chain_bytes(c, v) / sizeof(unsigned));
    int chains = c->in->nchains;
    void *args[] = {&c->slots[v].values, &words, &c->particles.from, &chains,
                    &c->particles.copy};

    TRY(cuda_launch_flat(c, &c->fixed.particles_copy, words * chains, args));
    CU(cuMemcpyDtoDAsync(c->slots[v].values, c->particles.copy,
                         chain_bytes(c, v) * (size_t)chains, c->stream));
    return GBM_OK;
}

enum gbm_status cuda_descend(struct rt *rt, const int *from,
                             const double *powers)
{
    struct cuda *c = rt->device_data;
    const size_t chains = (size_t)c->in->nchains;

    CU(cuCtxSetCurrent(c->context));
    TRY(open_particles(c));
    TRY(cuda_upload(c, c->particles.from, from, chains * sizeof *from));
    for (int v = 0; v < c->in->model->nvariables; v++) {
        if (c->in->model->variables[v].role == GBM_POWER)
            TRY(cuda_put_cells(c, c->slots[v].values, powers, c->slots[v].cells,
                               false));
        else if (goes_along(c, v))
            TRY(copy(c, v));
    }
    return GBM_OK;
}

enum gbm_status cuda_average(struct rt *rt, int n)
{
    struct cuda *c = rt->device_data;

    CU(cuCtxSetCurrent(c->context));
    for (int v = 0; v < c->in->model->nvariables; v++) {
        long long cells = c->in->slots[v].cells;
        void *args[] = {&c->slots[v].values, &cells, &n};
        if (c->in->model->variables[v].role == GBM_TUNING && cells > 0)
            TRY(cuda_launch_grid(c, &c->fixed.particles_average,
                                 c->in->nchains / n * cells, 1, 256, 0, args));
    }
    return GBM_OK;
}
