/* volume.c: the scale on which what is drawn is unbounded, and densities there.
 * A density by the values themselves tells nothing of how probable a region is
 * where it runs off at a bound, as that of a gamma with a shape of 0.001 does:
 * at 1e-300 it is e^690 times what it is at 1, and of either neighbourhood (a
 * factor of e to both sides, say) the probability is about the same. */
#include "start/start.h"
#include "gbm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define WIDE 3. /* spread of what starts instead */

static double log_of(double distance) { return log(fmax(distance, DBL_MIN)); }

/* The logarithm of a distance from the only bound, or the logit between both;
 * log |dx/du| of it. */
static double free_number(double x, double lower, double upper, double *volume)
{
    const bool low = isfinite(lower), high = isfinite(upper);
    const double above = low ? log_of(x - lower) : 0,
                 below = high ? log_of(upper - x) : 0;
    *volume = above + below;
    if (low && high)
        *volume -= log_of(upper - lower);
    return low || high ? above - below : x;
}

/* Half n + 1 times the log determinant. */
static double of_matrix(int64_t ncells, double *x)
{
    const int n = (int)lround(sqrt((double)ncells));
    double sum = 0;
    if (!gbm_cholesky(n, x))
        return 0;
    for (int i = 0; i < n; i++)
        sum += log_of(x[(size_t)i * (size_t)n + (size_t)i]);
    return (n + 1) * sum;
}

double rt_log_volume(const struct rt_instance *in, const void *state, int chain,
                     int f, int64_t e, struct rt_cells *buffer)
{
    const struct gbm_family *fam = &in->model->families[f];
    const struct rt_slot *slot = &in->slots[fam->variable];
    const bool matrix = fam->support == GBM_SUPPORT_MATRIX,
               simplex = fam->support == GBM_SUPPORT_SIMPLEX;
    if (rt_draws_whole(in->model, f) || !slot->per_chain ||
        !(fam->bounds || matrix || simplex))
        return 0;
    const int64_t n = rt_element_cells(fam, state, e, buffer);
    double lower = 0, upper = (double)INFINITY, sum = 0;
    double *x = matrix ? malloc((size_t)(n + 1) * sizeof *x) : NULL;
    if (fam->bounds)
        fam->bounds(state, e, &lower, &upper);
    for (int64_t i = 0; i < n; i++) {
        const double value = rt_value(slot, false, chain, buffer->cells[i]);
        double volume;
        free_number(value, lower, upper, &volume);
        if (x)
            x[i] = value;
        else if (!rt_seen(slot, buffer->cells[i]))
            sum += volume;
    }
    if (x)
        sum = of_matrix(n, x);
    free(x);
    return sum;
}

double rt_free_number(const struct rt_instance *in, const void *state,
                      int chain, int f, int64_t e, int64_t cell)
{
    const struct gbm_family *fam = &in->model->families[f];
    double lower = -(double)INFINITY, upper = (double)INFINITY, volume;
    if (fam->bounds)
        fam->bounds(state, e, &lower, &upper);
    return free_number(rt_value(&in->slots[fam->variable], false, chain, cell),
                       lower, upper, &volume);
}

void rt_start_draw(struct rt_starter *s, const struct gbm_family *fam,
                   struct gbm_rng *rng, int64_t e)
{
    const int f = (int)(fam - s->in->model->families);
    const bool scalar = fam->bounds && !rt_draws_whole(s->in->model, f);
    if (!scalar || rt_element_cells(fam, s->state, e, &s->buffer) != 1) {
        fam->simulate(s->state, rng, e);
        return;
    }
    const int64_t cell = s->buffer.cells[0];
    fam->start(s->state, rng, e, 0);
    const double typical =
        rt_free_number(s->in, s->state, s->chain, f, e, cell);
    fam->simulate(s->state, rng, e);
    if (fabs(rt_free_number(s->in, s->state, s->chain, f, e, cell) - typical) >
        RT_FAR)
        fam->start(s->state, rng, e, WIDE);
}
