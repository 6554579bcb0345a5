/* guide_vector.c: a vector that is normal given what hangs on it: its precision
 * and mean from differences of the log density, which are exact of a quadratic
 * one, about a draw from the model, each component by as much as draws differ
 * in it. At two other draws the density must be that. */
#include "filter/guide.h"
#include "gbm.h"

#include <math.h>
#include <string.h>

enum { MOST = 12, DRAWS = 3 };

struct quadratic {
    int n;
    double at[DRAWS][MOST], both[DRAWS]; /* draws; the first is the centre */
    double step[MOST];
    double slope[MOST], precision[MOST * MOST]; /* the lower triangle */
    double range;
};

static bool try_draws(const struct rt_guide *g, struct quadratic *q)
{
    double own;
    for (int k = 0; k < DRAWS; k++) {
        rt_guide_try(g, q->at[k]);
        q->both[k] = rt_guide_density(g, q->at[k], &own);
        if (!isfinite(q->both[k]))
            return false;
    }
    for (int i = 0; i < q->n; i++) {
        for (int k = 1; k < DRAWS; k++)
            q->step[i] = fmax(q->step[i], fabs(q->at[k][i] - q->at[0][i]));
        if (!(q->step[i] > 0 && isfinite(q->step[i])))
            return false;
    }
    return true;
}

/* Less that at the centre, with components i and j moved; i == j: one. */
static double moved(const struct rt_guide *g, struct quadratic *q, int i,
                    double by, int j)
{
    double x[MOST], own;
    memcpy(x, q->at[0], (size_t)q->n * sizeof *x);
    x[i] += by * q->step[i];
    if (j != i)
        x[j] += by * q->step[j];
    const double d = rt_guide_density(g, x, &own) - q->both[0];
    q->range = fmax(q->range, fabs(d));
    return d;
}

static void differentiate(const struct rt_guide *g, struct quadratic *q)
{
    double up[MOST];
    for (int i = 0; i < q->n; i++) {
        const double h = q->step[i], down = moved(g, q, i, -1, i);
        up[i] = moved(g, q, i, 1, i);
        q->slope[i] = (up[i] - down) / (2 * h);
        q->precision[i * q->n + i] = -(up[i] + down) / (h * h);
        for (int j = 0; j < i; j++)
            q->precision[i * q->n + j] =
                (up[i] + up[j] - moved(g, q, i, 1, j)) / (h * q->step[j]);
    }
}

/* Whether the density is the quadratic one at the other draws, too. */
static bool holds(struct quadratic *q)
{
    const int n = q->n;
    for (int k = 1; k < DRAWS; k++) {
        double found = 0;
        for (int i = 0; i < n; i++) {
            const double d = q->at[k][i] - q->at[0][i];
            double row = 0.5 * q->precision[i * n + i] * d;
            for (int j = 0; j < i; j++)
                row += q->precision[i * n + j] * (q->at[k][j] - q->at[0][j]);
            found += (q->slope[i] - row) * d;
        }
        const double exact = q->both[k] - q->both[0];
        q->range = fmax(q->range, fabs(exact));
        if (!(fabs(found - exact) <=
              RT_GUIDE_NEARLY * q->range +
                  RT_GUIDE_ROUNDING * (1 + fabs(q->both[0]))))
            return false;
    }
    return true;
}

bool rt_guide_vector(const struct rt_guide *g, double *weight)
{
    struct quadratic q = {.n = g->n};
    double x[MOST], z[MOST], own, log_q = 0;
    const int n = g->n;
    if (g->whole || n > MOST || !try_draws(g, &q))
        return false;
    differentiate(g, &q);
    if (!holds(&q) || !gbm_cholesky(n, q.precision))
        return false;
    memcpy(x, q.slope, sizeof x);
    gbm_solve_lower(n, q.precision, x);
    for (int i = 0; i < n; i++) {
        z[i] = gbm_draw_normal(g->rng);
        x[i] += z[i];
        log_q +=
            log(q.precision[i * n + i]) - GBM_LOG_SQRT_2PI - 0.5 * z[i] * z[i];
    }
    gbm_solve_lower_transposed(n, q.precision, x);
    for (int i = 0; i < n; i++)
        x[i] += q.at[0][i];
    rt_guide_density(g, x, &own);
    *weight = own - log_q;
    return true;
}
