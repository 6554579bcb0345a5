/* check_rounding.c: what rounding may do to densities and conditionals where
 * the model itself cancels: they are computed again with other rounding modes,
 * and with numbers changed in their last digit. */
#include "check/check.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#define WAYS 4      /* errors, in the changes that other rounding makes */
#define NUDGE 4e-16 /* of a number, in its own size */

/* Up, down, or some up and some down: in one direction the difference of two
 * numbers that are nearly the same keeps its digits. */
static double sign_of(int way, int family, int64_t cell)
{
    uint32_t hash = ((uint32_t)cell + 977u * (uint32_t)family) * 2654435761u;
    return way == 1 || way == -1 ? way : hash >> (24 + way) & 1 ? 1 : -1;
}

/* Every free real number of the chain, its last digit or two changed. */
static void nudge(const struct checker *c, int way)
{
    const struct gbm_model *m = c->in->model;
    struct rt_cells buffer = {0};
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        const struct rt_slot *slot = &c->in->slots[fam->variable];
        bool free_numbers = check_counts(fam) && slot->per_chain &&
                            !rt_draws_whole(m, f) &&
                            fam->support == GBM_SUPPORT_ANY;
        for (int64_t e = 0; free_numbers && e < c->in->elements[f]; e++) {
            int64_t n = rt_element_cells(fam, c->state, e, &buffer);
            for (int64_t i = 0; i < n; i++) {
                int64_t cell = buffer.cells[i];
                double x = rt_value(slot, false, c->chain, cell);
                if (!rt_seen(slot, cell))
                    rt_set_value(slot, false, c->chain, cell,
                                 x * (1 + sign_of(way, f, cell) * NUDGE));
            }
        }
    }
    free(buffer.cells);
    check_refresh(c);
}

/* The density of every element, and behind them the conditional, with the block
 * at x and every operation rounded by `mode`, every number nudged. */
static void other_way(struct checker *c, const struct gbm_step *step,
                      int64_t element, const double *x, int mode, int way,
                      double *out)
{
    int usual = fegetround(), threads = c->rt->threads;
    c->rt->threads = 1; /* a mode is of one thread */
    fesetround(mode);
    if (step)
        check_set_block(c, step, element, x);
    if (way)
        nudge(c, way);
    else
        check_refresh(c);
    check_densities(c, out); /* before trial values change what is stored */
    out[c->terms] = 0;
    if (step && step->kind != GBM_STEP_DENSE) {
        int n = step->block_size ? step->block_size(c->state, element) : 1;
        double size, *at = malloc((size_t)n * sizeof *at);
        if (!at)
            abort();
        step->block_get(c->state, element, at);
        out[c->terms] = check_conditional_at(c, step, element, at, &size);
        free(at);
    }
    fesetround(usual);
    c->rt->threads = threads;
}

/* Infinite if only one of the two is a number that a density may be. */
static double distance(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    return isfinite(a) && isfinite(b) ? fabs(a - b) : (double)INFINITY;
}

/* Other ways to compute the same: rounding modes, and nudges. */
static const struct {
    int mode, way;
} others[] = {{FE_UPWARD, 0},    {FE_DOWNWARD, 0},   {FE_TOWARDZERO, 0},
              {FE_TONEAREST, 1}, {FE_TONEAREST, -1}, {FE_TONEAREST, 2},
              {FE_TONEAREST, 4}};

/* What the densities of all elements, and the conditional, at x change by if
 * every operation rounds another way, as in Vignes, A stochastic arithmetic for
 * reliable scientific computation (1993), or every number is another by its
 * rounding: where the model itself cancels (1 - p of a p near 1), the joint has
 * no more digits than that. Infinite: none, as where exp(x) underflows to 0 in
 * exp(x) / sum(exp(x)), or overflows: rounded up, or down, it does not. */
double check_rounding_at(struct checker *c, const struct gbm_step *step,
                         int64_t element, const double *x)
{
    size_t n = (size_t)c->terms + 1;
    double *nearest = malloc(2 * n * sizeof *nearest), worst = 0;
    void **values = rt_save(c->in);
    if (!nearest || !values)
        abort();
    double *other = nearest + n;
    other_way(c, step, element, x, FE_TONEAREST, 0, nearest);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        double change = 0;
        rt_put_back(c->in, values); /* each moves there from the same place */
        other_way(c, step, element, x, others[k].mode, others[k].way, other);
        for (size_t i = 0; i < n; i++)
            change += distance(other[i], nearest[i]);
        worst = fmax(worst, change);
    }
    rt_put_back(c->in, values);
    rt_forget(c->in, values);
    check_refresh(c);
    free(nearest);
    return WAYS * worst;
}

double check_rounding(struct checker *c)
{
    return check_rounding_at(c, NULL, -1, NULL);
}

void check_rounding_of(struct checker *c, int variable, double *change)
{
    const struct rt_slot *slot = &c->in->slots[variable];
    const bool integer = c->in->model->variables[variable].integer;
    size_t cells = (size_t)slot->cells;
    double *nearest = malloc((cells + (size_t)c->terms + 1) * sizeof *nearest);
    void **values = rt_save(c->in);
    if (!nearest || !values)
        abort();
    double *other = nearest + cells; /* densities, which nobody asks for */
    check_refresh(c);
    for (size_t i = 0; i < cells; i++) {
        nearest[i] = rt_value(slot, integer, c->chain, (int64_t)i);
        change[i] = 0;
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        rt_put_back(c->in, values);
        other_way(c, NULL, -1, NULL, others[k].mode, others[k].way, other);
        for (size_t i = 0; i < cells; i++) {
            double now = rt_value(slot, integer, c->chain, (int64_t)i);
            change[i] = fmax(change[i], WAYS * distance(now, nearest[i]));
        }
    }
    rt_put_back(c->in, values);
    rt_forget(c->in, values);
    check_refresh(c);
    free(nearest);
}
