/* gradient.c: the log density of a chain as a function of free numbers, and its
 * gradient: a pass over the elements forward, parents first, and one back
 * (compiler/emit/adjoint.c). */
#include "gradient/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_adjoint(const struct gbm_variable *v)
{
    return !v->integer && (v->role == GBM_STOCHASTIC || v->role == GBM_DERIVED);
}

bool rt_gradient_create(struct rt_gradient *g, const struct rt_unknowns *u,
                        int chain)
{
    const struct gbm_model *m = u->in->model;
    const size_t n = (size_t)m->nvariables + 1;
    struct gbm_binding *bindings = calloc(n, sizeof *bindings);
    size_t largest = 1;
    *g = (struct rt_gradient){.unknowns = u, .chain = chain};
    g->state = calloc(1, m->state_size + 1);
    g->adjoints = calloc(1, m->state_size + 1);
    g->cells = calloc(n, sizeof *g->cells);
    bool good = bindings && g->state && g->adjoints && g->cells;
    for (int v = 0; good && v < m->nvariables; v++) {
        const struct rt_slot *slot = &u->in->slots[v];
        if (has_adjoint(&m->variables[v])) {
            g->cells[v] = calloc((size_t)slot->cells + 1, sizeof(double));
            good = g->cells[v] != NULL;
        }
        bindings[v] =
            (struct gbm_binding){.values = g->cells[v], .dim = slot->dim};
    }
    for (int64_t i = 0; i < u->n; i++)
        if ((size_t)u->items[i].ncells > largest)
            largest = (size_t)u->items[i].ncells;
    g->x = malloc(2 * largest * sizeof *g->x);
    good = good && g->x;
    if (good) {
        g->slope = g->x + largest;
        rt_bind(u->in, g->state, chain);
        m->bind(g->adjoints, bindings);
    }
    free(bindings);
    if (!good)
        rt_gradient_free(g);
    return good;
}

void rt_gradient_free(struct rt_gradient *g)
{
    for (int v = 0; g->cells && v < g->unknowns->in->model->nvariables; v++)
        free(g->cells[v]);
    free(g->cells);
    free(g->state);
    free(g->adjoints);
    free(g->x);
    *g = (struct rt_gradient){0};
}

/* ---- forward ---- */

static void bounds_of(const struct rt_gradient *g, const struct rt_unknown *k,
                      double *lower, double *upper)
{
    const struct gbm_family *f = &g->unknowns->in->model->families[k->family];
    *lower = -INFINITY;
    *upper = INFINITY;
    if (f->bounds)
        f->bounds(g->state, k->element, lower, upper);
}

static double *cells_of(const struct rt_gradient *g, const struct rt_unknown *k)
{
    const struct rt_instance *in = g->unknowns->in;
    const struct rt_slot *slot =
        &in->slots[in->model->families[k->family].variable];
    return (double *)slot->values +
           (slot->per_chain ? g->chain * slot->cells : 0);
}

void rt_gradient_release(struct rt_gradient *g, double *u)
{
    const struct rt_unknowns *all = g->unknowns;
    for (int64_t i = 0; i < all->n; i++) {
        const struct rt_unknown *k = &all->items[i];
        const double *x = cells_of(g, k);
        double lower, upper;
        bounds_of(g, k, &lower, &upper);
        for (int c = 0; c < k->ncells; c++)
            g->x[c] = x[all->cells[k->cells + c]];
        k->map->release(k->ncells, g->x, lower, upper, u + k->first);
    }
}

/* One element, given what was constrained and derived before it. */
static void constrain(struct rt_gradient *g, const struct rt_unknown *k,
                      const double *u, double *log_jacobian)
{
    double lower, upper, *x = cells_of(g, k);
    bounds_of(g, k, &lower, &upper);
    k->map->constrain(k->ncells, u + k->first, lower, upper, g->x,
                      log_jacobian);
    for (int c = 0; c < k->ncells; c++)
        x[g->unknowns->cells[k->cells + c]] = g->x[c];
}

double rt_gradient_constrain(struct rt_gradient *g, const double *u)
{
    const struct rt_instance *in = g->unknowns->in;
    const int64_t *items = g->unknowns->of_family;
    double log_jacobian = 0;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        for (int64_t i = items[f]; i < items[f + 1]; i++)
            constrain(g, &g->unknowns->items[i], u, &log_jacobian);
        for (int64_t e = 0; rt_is_read(in->model, f) && e < in->elements[f];
             e++)
            (fam->refresh ? fam->refresh : fam->derive)(g->state, e);
    }
    if (in->model->feeds_back)
        rt_derive_all(in, g->state);
    return log_jacobian;
}

static bool has_density(const struct gbm_family *f)
{
    return f->stochastic && !f->data_block && !f->auxiliary;
}

/* The first of elements e, e + 1, ... with a mark that is 0, or past the last
 * of n: of the many that may have one. */
static int64_t unmarked(const unsigned char *marks, int64_t e, int64_t n)
{
    const unsigned char *found =
        marks && e < n ? memchr(marks + e, 0, (size_t)(n - e)) : NULL;
    return !marks ? e : found ? found - marks : n;
}

/* The first element of family f from e on whose density is part of the sum. */
static int64_t next_of(const struct rt_gradient *g, int f, int64_t e)
{
    const unsigned char *forward = g->unknowns->forward[f];
    const unsigned char *apart = g->apart ? g->apart[f] : NULL;
    const int64_t n = g->unknowns->in->elements[f];
    int64_t before;
    do {
        before = e;
        e = unmarked(apart, unmarked(forward, e, n), n);
    } while (e != before);
    return e;
}

void rt_sum_add(struct rt_sum *to, double term)
{
    const double sum = to->sum, total = sum + term;
    to->lost +=
        fabs(sum) >= fabs(term) ? (sum - total) + term : (term - total) + sum;
    to->sum = total;
}

double rt_sum_of(const struct rt_sum *s)
{
    return isfinite(s->sum) ? s->sum + s->lost : s->sum;
}

double rt_gradient_density(const struct rt_gradient *g)
{
    const struct rt_instance *in = g->unknowns->in;
    struct rt_sum sum = {0};
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (!has_density(fam))
            continue;
        for (int64_t e = next_of(g, f, 0); e < in->elements[f];
             e = next_of(g, f, e + 1))
            rt_sum_add(&sum, fam->logdensity(g->state, e));
    }
    return rt_sum_of(&sum);
}

/* ---- back ---- */

static void clear(const struct rt_gradient *g)
{
    const struct rt_instance *in = g->unknowns->in;
    for (int v = 0; v < in->model->nvariables; v++)
        if (g->cells[v])
            memset(g->cells[v], 0, (size_t)in->slots[v].cells * sizeof(double));
}

static void back_densities(const struct rt_gradient *g)
{
    const struct rt_instance *in = g->unknowns->in;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (!has_density(fam) || !fam->adjoint)
            continue;
        for (int64_t e = next_of(g, f, 0); e < in->elements[f];
             e = next_of(g, f, e + 1))
            fam->adjoint(g->state, g->adjoints, e, 1);
    }
}

/* Derived nodes that feed each other, by the order found at load. */
static void back_sequence(const struct rt_gradient *g, int k)
{
    const struct rt_instance *in = g->unknowns->in;
    const struct gbm_sequence *q = &in->model->sequences[k];
    const int *pairs = q->slot >= 0 ? (const int *)in->slots[q->slot].values
                                    : in->orders[k].pairs;
    for (int64_t i = in->orders[k].count - 1; i >= 0; i--) {
        const int f = q->readers[pairs[2 * i]].family;
        const struct gbm_family *fam = &in->model->families[f];
        if (fam->adjoint)
            fam->adjoint(g->state, g->adjoints, pairs[2 * i + 1], 1);
    }
}

static void back_derived(const struct rt_gradient *g, int f)
{
    const struct rt_instance *in = g->unknowns->in;
    const struct gbm_family *fam = &in->model->families[f];
    bool first = false;
    const int k = rt_sequence_of(in->model, GBM_SEQUENCE_REFRESH, f, &first);
    if (k >= 0 && first)
        back_sequence(g, k);
    for (int64_t e = in->elements[f] - 1; k < 0 && e >= 0; e--)
        fam->adjoint(g->state, g->adjoints, e, 1);
}

static void back_unknown(struct rt_gradient *g, const struct rt_unknown *k,
                         const double *u, double *slope)
{
    const struct rt_unknowns *all = g->unknowns;
    const struct gbm_family *f = &all->in->model->families[k->family];
    const double *adjoint = g->cells[f->variable];
    double lower, upper, of_lower = 0, of_upper = 0;
    bounds_of(g, k, &lower, &upper);
    for (int c = 0; c < k->ncells; c++)
        g->slope[c] = adjoint[all->cells[k->cells + c]];
    k->map->back(k->ncells, u + k->first, lower, upper, all->jacobian, g->slope,
                 slope + k->first, &of_lower, &of_upper);
    if (f->adjoint_bounds)
        f->adjoint_bounds(g->state, g->adjoints, k->element, of_lower,
                          of_upper);
}

/* Where statements feed back there is no order of all families: what is derived
 * goes first, which bounds then must not depend on (unknowns.c). */
static void back(struct rt_gradient *g, const double *u, double *slope)
{
    const struct rt_instance *in = g->unknowns->in;
    const struct gbm_model *m = in->model;
    const int64_t *items = g->unknowns->of_family;
    for (int f = m->nfamilies - 1; f >= 0 && m->feeds_back; f--)
        if (rt_is_read(m, f) && m->families[f].adjoint)
            back_derived(g, f);
    for (int f = m->nfamilies - 1; f >= 0; f--) {
        if (!m->feeds_back && rt_is_read(m, f) && m->families[f].adjoint)
            back_derived(g, f);
        for (int64_t i = items[f + 1] - 1; i >= items[f]; i--)
            back_unknown(g, &g->unknowns->items[i], u, slope);
    }
}

double rt_gradient_at(struct rt_gradient *g, const double *u, double *slope)
{
    const double log_jacobian = rt_gradient_constrain(g, u);
    double value =
        rt_gradient_density(g) + (g->unknowns->jacobian ? log_jacobian : 0);
    g->evaluations++;
    if (slope)
        clear(g);
    if (g->more)
        value += g->more(g->context, g, slope != NULL);
    if (!isfinite(value))
        return value > 0 ? INFINITY : -INFINITY;
    if (slope) {
        back_densities(g);
        back(g, u, slope);
    }
    return value;
}
