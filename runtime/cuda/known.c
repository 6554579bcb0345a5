/* known.c: what the compiler of a kernel that sweeps whole chains is told of
 * arrays (emit_known of compiler/emit/program.c): lengths of a few cells, so
 * that loops over them are written out and what they read stays in registers.
 * Where rows have little arithmetic that gains nothing, and data of another
 * shape are another program.
 *
 * GBM_CUDA_KNOWN, for tests: 0 never, 1 always. */
#include "cuda.h"

#include <stdlib.h>

enum { FEW = 16 };

static bool is_worth_it(const struct cuda *c)
{
    const char *wanted = getenv("GBM_CUDA_KNOWN");

    if (wanted)
        return atoi(wanted) != 0;
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->steps[k].active && cuda_heavy_operations(c, k) > 0)
            return true;
    return false;
}

static int few(int64_t n) { return n <= FEW ? (int)n + 1 : 0; }

bool cuda_known(const struct cuda *c, char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "-DGBM_KNOWN=");

    if (!is_worth_it(c))
        return false;
    for (int v = 0; v < c->in->model->nvariables; v++) {
        const struct rt_slot *slot = &c->in->slots[v];
        const int ndim = c->in->model->variables[v].ndim;
        if (used + 16 * ((size_t)ndim + 2) > room)
            return false;
        used += (size_t)snprintf(out + used, room - used, "%s%d_%d",
                                 v ? "_" : "", !slot->seen,
                                 slot->per_chain ? few(slot->cells) : 1);
        for (int d = 0; d < ndim; d++)
            used += (size_t)snprintf(out + used, room - used, "_%d",
                                     few(slot->dim[d]));
    }
    return true;
}
