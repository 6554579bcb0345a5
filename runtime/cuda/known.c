/* known.c: what the compiler of a kernel is told of arrays (emit_known of
 * compiler/emit/program.c): lengths of a few cells, and numbers as small, so
 * that loops over them are written out, what they read stays in registers, and
 * the number of an element is divided by constants. Data of another shape are
 * another program. In one that sweeps whole chains it gains nothing where rows
 * have little arithmetic and no joint block has small trees.
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
    if (!c->chains.lanes)
        return true;
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->steps[k].active &&
            (cuda_heavy_operations(c, k) > 0 || cuda_joint_bordered(c, k)))
            return true;
    return false;
}

static int few(int64_t n) { return n >= 0 && n <= FEW ? (int)n + 1 : 0; }

bool cuda_known(const struct cuda *c, char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "-DGBM_KNOWN=");

    if (!is_worth_it(c))
        return false;
    for (int v = 0; v < c->in->model->nvariables; v++) {
        const struct rt_slot *slot = &c->in->slots[v];
        const int ndim = c->in->model->variables[v].ndim;
        const bool number = ndim == 0 && !slot->per_chain && slot->values &&
                            c->in->model->variables[v].integer;
        if (used + 16 * ((size_t)ndim + 3) > room)
            return false;
        used += (size_t)snprintf(out + used, room - used, "%s%d_%d",
                                 v ? "_" : "", !slot->seen,
                                 slot->per_chain ? few(slot->cells) : 1);
        for (int d = 0; d < ndim; d++)
            used += (size_t)snprintf(out + used, room - used, "_%d",
                                     few(slot->dim[d]));
        if (ndim == 0)
            used +=
                (size_t)snprintf(out + used, room - used, "_%d",
                                 number ? few(*(const int *)slot->values) : 0);
    }
    return true;
}
