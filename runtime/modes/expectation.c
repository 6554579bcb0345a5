/* expectation.c: sums over discrete nodes, each by itself: they must be
 * independent given the rest, so no density may depend on two of them. */
#include "modes/expectation.h"
#include "start/start.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 100000 };
#define NO_WEIGHT 1e-300

struct finder {
    struct rt *rt;
    const struct rt_unknowns *u;
    const void *state;
    struct rt_sites *sites;
    struct rt_graph graph;
    int64_t *owner; /* [nodes] site that a term belongs to, plus 1 */
    int64_t *seen;  /* [nodes] the last site that came here, plus 1 */
    int64_t *list, n, capacity;
};

static enum gbm_status refuse(struct finder *k, const struct rt_site *s,
                              const char *why, int family, int64_t element)
{
    char name[128], other[128] = "";
    rt_element_name(k->u->in, k->state, s->family, s->element, name,
                    sizeof name);
    if (family >= 0)
        rt_element_name(k->u->in, k->state, family, element, other,
                        sizeof other);
    return rt_fail(k->rt, GBM_USER_ERROR,
                   "%s (%s) cannot be taken in expectation: %s%s: not "
                   "supported yet; --method mcmc draws it",
                   name, k->u->in->model->families[s->family].where, why,
                   other);
}

/* All that depends on a node, through whatever is derived, each once. */
static void reach(struct finder *k, int64_t node, int64_t site)
{
    const struct rt_graph *g = &k->graph;
    for (int64_t i = g->first_child[node]; i < g->first_child[node + 1]; i++) {
        const int64_t child = g->child[i];
        if (k->seen[child] == site + 1)
            continue;
        k->seen[child] = site + 1;
        if (k->n == k->capacity) {
            k->capacity = 2 * k->capacity + 64;
            k->list = realloc(k->list, (size_t)k->capacity * sizeof *k->list);
            if (!k->list)
                abort();
        }
        k->list[k->n++] = child;
        const int f = rt_graph_family(g, child);
        if (!g->in->model->families[f].stochastic)
            reach(k, child, site);
    }
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void append(int64_t *pairs, int64_t *n, int f, int64_t e)
{
    pairs[2 * *n] = f;
    pairs[2 * *n + 1] = e;
    ++*n;
}

static bool is_forward(const struct finder *k, int f, int64_t e)
{
    return k->u->forward[f] && k->u->forward[f][e];
}

static enum gbm_status add_term(struct finder *k, struct rt_site *s, int f,
                                int64_t e)
{
    struct rt_sites *sites = k->sites;
    const int64_t node = k->graph.base[f] + e, own = s - sites->items + 1;
    if (k->owner[node] && k->owner[node] != own)
        return refuse(k, s, "another discrete node is tied to it by ", f, e);
    k->owner[node] = own;
    if (!sites->apart[f])
        sites->apart[f] = calloc((size_t)sites->in->elements[f] + 1, 1);
    if (!sites->apart[f])
        abort();
    sites->apart[f][e] = 1;
    append(s->terms, &s->nterms, f, e);
    return GBM_OK;
}

static enum gbm_status find_values(struct finder *k, struct rt_site *s)
{
    const struct gbm_family *f = &k->u->in->model->families[s->family];
    double lower = -INFINITY, upper = INFINITY;
    struct rt_cells buffer = {0};
    if (rt_element_cells(f, k->state, s->element, &buffer) != 1) {
        free(buffer.cells);
        return refuse(k, s, "it is a vector", -1, 0);
    }
    s->cell = buffer.cells[0];
    free(buffer.cells);
    if (f->bounds)
        f->bounds(k->state, s->element, &lower, &upper);
    if (!(upper - lower < MOST_VALUES))
        return refuse(k, s, "its values have no end, or are too many", -1, 0);
    s->lowest = (int)ceil(lower);
    s->count = (int)floor(upper) - s->lowest + 1;
    s->weight = k->sites->nweights;
    k->sites->nweights += s->count;
    return GBM_OK;
}

static enum gbm_status find_terms(struct finder *k, int64_t number)
{
    struct rt_site *s = &k->sites->items[number];
    const struct gbm_model *m = k->u->in->model;
    k->n = 0;
    reach(k, k->graph.base[s->family] + s->element, number);
    qsort(k->list, (size_t)k->n, sizeof *k->list, by_number);
    s->derived = malloc(2 * (size_t)(k->n + 1) * sizeof *s->derived);
    s->terms = malloc(2 * (size_t)(k->n + 1) * sizeof *s->terms);
    if (!s->derived || !s->terms)
        abort();
    enum gbm_status status = add_term(k, s, s->family, s->element);
    for (int64_t i = 0; i < k->n && status == GBM_OK; i++) {
        const int f = rt_graph_family(&k->graph, k->list[i]);
        const int64_t e = k->list[i] - k->graph.base[f];
        bool first;
        if (m->families[f].stochastic) {
            if (!is_forward(k, f, e))
                status = add_term(k, s, f, e);
        } else if (rt_is_read(m, f)) {
            append(s->derived, &s->nderived, f, e);
            if (m->feeds_back ||
                rt_sequence_of(m, GBM_SEQUENCE_REFRESH, f, &first) >= 0)
                status =
                    refuse(k, s, "what is computed from it feeds back: ", f, e);
        }
    }
    return status == GBM_OK ? find_values(k, s) : status;
}

/* Who reads discrete nodes, and what is derived. Who reads a component is of no
 * matter, and may be every row for all of them. */
static bool find_readers(struct finder *k)
{
    const struct gbm_model *m = k->u->in->model;
    bool *read = calloc((size_t)m->nvariables + 1, sizeof *read);
    for (int f = 0; read && f < m->nfamilies; f++)
        if (!m->families[f].stochastic)
            read[m->families[f].variable] = true;
    for (int64_t i = 0; read && i < k->u->ndiscrete; i++)
        read[m->families[k->u->discrete[i].family].variable] = true;
    const bool ok =
        read && rt_graph_create(&k->graph, k->u->in, k->state, read);
    free(read);
    return ok;
}

enum gbm_status rt_sites_create(struct rt *rt, const struct rt_unknowns *u,
                                const void *state, struct rt_sites *sites)
{
    struct finder k = {.rt = rt, .u = u, .state = state, .sites = sites};
    *sites = (struct rt_sites){.in = u->in};
    sites->items = calloc((size_t)u->ndiscrete + 1, sizeof *sites->items);
    sites->apart =
        calloc((size_t)u->in->model->nfamilies + 1, sizeof *sites->apart);
    if (!sites->items || !sites->apart || !find_readers(&k))
        return rt_fail(rt, GBM_FAILURE, "no memory");
    k.owner = calloc((size_t)k.graph.nodes + 1, sizeof *k.owner);
    k.seen = calloc((size_t)k.graph.nodes + 1, sizeof *k.seen);
    enum gbm_status s =
        k.owner && k.seen ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < u->ndiscrete && s == GBM_OK; i++) {
        sites->items[i].family = u->discrete[i].family;
        sites->items[i].element = u->discrete[i].element;
        sites->n++;
        s = find_terms(&k, i);
    }
    free(k.owner);
    free(k.seen);
    free(k.list);
    rt_graph_free(&k.graph);
    return s;
}

void rt_sites_free(struct rt_sites *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        free(s->items[i].derived);
        free(s->items[i].terms);
    }
    for (int f = 0; s->apart && f < s->in->model->nfamilies; f++)
        free(s->apart[f]);
    free(s->apart);
    free(s->items);
    *s = (struct rt_sites){0};
}

/* ---- the density ---- */

static void set_value(const struct rt_sites *all, const struct rt_site *s,
                      const struct rt_gradient *g, int value)
{
    const struct gbm_model *m = all->in->model;
    const int v = m->families[s->family].variable;
    rt_set_value(&all->in->slots[v], m->variables[v].integer, g->chain, s->cell,
                 value);
    for (int64_t i = 0; i < s->nderived; i++)
        m->families[s->derived[2 * i]].derive(g->state, s->derived[2 * i + 1]);
}

static double log_density(const struct rt_sites *all, const struct rt_site *s,
                          const struct rt_gradient *g)
{
    double sum = 0;
    for (int64_t i = 0; i < s->nterms; i++)
        sum += all->in->model->families[s->terms[2 * i]].logdensity(
            g->state, s->terms[2 * i + 1]);
    return sum;
}

/* The derivatives of the terms by what is not derived from the site, as the
 * state is: what is derived from it is another at its next value. */
static void add_adjoints(const struct rt_sites *all, const struct rt_site *s,
                         const struct rt_gradient *g, double weight)
{
    const struct gbm_model *m = all->in->model;
    struct rt_cells buffer = {0};
    for (int64_t i = 0; i < s->nterms; i++) {
        const struct gbm_family *f = &m->families[s->terms[2 * i]];
        if (f->adjoint)
            f->adjoint(g->state, g->adjoints, s->terms[2 * i + 1], weight);
    }
    for (int64_t i = s->nderived - 1; i >= 0; i--) {
        const struct gbm_family *f = &m->families[s->derived[2 * i]];
        const int64_t e = s->derived[2 * i + 1];
        if (!f->adjoint)
            continue;
        f->adjoint(g->state, g->adjoints, e, 1);
        int64_t n = rt_element_cells(f, g->state, e, &buffer);
        for (int64_t c = 0; c < n; c++)
            g->cells[f->variable][buffer.cells[c]] = 0;
    }
    free(buffer.cells);
}

/* log of the sum over the values; the weights are their probabilities. */
static double sum_out(struct rt_expectation *e, const struct rt_site *s,
                      const struct rt_gradient *g)
{
    double *weights = e->weights + s->weight, most = -INFINITY, sum = 0;
    for (int k = 0; k < s->count; k++) {
        set_value(e->sites, s, g, s->lowest + k);
        e->logs[k] = log_density(e->sites, s, g);
        if (isnan(e->logs[k]))
            e->logs[k] = -INFINITY;
        most = fmax(most, e->logs[k]);
    }
    for (int k = 0; k < s->count && isfinite(most); k++)
        sum += exp(e->logs[k] - most);
    for (int k = 0; k < s->count; k++)
        weights[k] = isfinite(most) ? exp(e->logs[k] - most) / sum : 0;
    return isfinite(most) ? most + log(sum) : most;
}

static double expect(struct rt_expectation *e, const struct rt_site *s,
                     const struct rt_gradient *g, bool slopes)
{
    const double *weights = e->weights + s->weight;
    double sum = 0;
    for (int k = 0; k < s->count; k++) {
        if (weights[k] < NO_WEIGHT)
            continue;
        set_value(e->sites, s, g, s->lowest + k);
        sum += weights[k] * log_density(e->sites, s, g);
        if (slopes)
            add_adjoints(e->sites, s, g, weights[k]);
    }
    return sum;
}

static double more(void *context, struct rt_gradient *g, bool slopes)
{
    struct rt_expectation *e = context;
    double sum = 0;
    for (int64_t i = 0; i < e->sites->n; i++) {
        const struct rt_site *s = &e->sites->items[i];
        sum += e->summed ? sum_out(e, s, g) : expect(e, s, g, slopes);
    }
    return sum;
}

bool rt_expectation_begin(struct rt_expectation *e, const struct rt_sites *s,
                          struct rt_gradient *g)
{
    *e = (struct rt_expectation){.sites = s};
    int most = 1;
    for (int64_t i = 0; i < s->n; i++)
        most = s->items[i].count > most ? s->items[i].count : most;
    e->weights = calloc((size_t)s->nweights + 1, sizeof *e->weights);
    e->logs = calloc((size_t)most, sizeof *e->logs);
    g->apart = s->apart;
    g->more = more;
    g->context = e;
    return e->weights && e->logs;
}

void rt_expectation_end(struct rt_expectation *e)
{
    free(e->weights);
    free(e->logs);
}

double rt_expectation_density(struct rt_expectation *e, struct rt_gradient *g,
                              const double *u)
{
    e->summed = true;
    const double value = rt_gradient_at(g, u, NULL);
    e->summed = false;
    return value;
}

double rt_expectation_of_site(struct rt_expectation *e,
                              const struct rt_gradient *g, int64_t i)
{
    return sum_out(e, &e->sites->items[i], g);
}

void rt_expectation_choose(const struct rt_expectation *e,
                           const struct rt_gradient *g)
{
    for (int64_t i = 0; i < e->sites->n; i++) {
        const struct rt_site *s = &e->sites->items[i];
        int best = 0;
        for (int k = 1; k < s->count; k++)
            if (e->weights[s->weight + k] > e->weights[s->weight + best])
                best = k;
        set_value(e->sites, s, g, s->lowest + best);
    }
}
