/* unknowns.c: the random elements that are to be found, and their free numbers:
 * all but what is observed, what is drawn forward, as nothing observed depends
 * on it, and what is a whole number, which has no derivatives. */
#include "gradient/gradient.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static bool counts(const struct gbm_family *f)
{
    return f->stochastic && !f->data_block && !f->auxiliary;
}

/* How many of the cells are not observed. */
static int64_t count_latent(const struct rt_instance *in,
                            const struct gbm_family *f,
                            const struct rt_cells *buffer, int64_t n)
{
    const struct rt_slot *slot = &in->slots[f->variable];
    int64_t latent = 0;
    for (int64_t i = 0; i < n; i++)
        latent += !rt_seen(slot, buffer->cells[i]);
    return latent;
}

static enum gbm_status refuse(struct rt *rt, const struct rt_instance *in,
                              const void *state, int f, int64_t e,
                              const char *why)
{
    char name[256];
    rt_element_name(in, state, f, e, name, sizeof name);
    return rt_fail(rt, GBM_USER_ERROR, "%s (%s): %s", name,
                   in->model->families[f].where, why);
}

static enum gbm_status add(struct rt *rt, struct rt_unknowns *u,
                           const void *state, int f, int64_t e,
                           const struct rt_cells *buffer, int64_t n)
{
    const struct gbm_family *fam = &u->in->model->families[f];
    const struct rt_slot *slot = &u->in->slots[fam->variable];
    const int64_t latent = count_latent(u->in, fam, buffer, n);
    struct rt_unknown item = {.family = f, .element = e};
    if (latent == 0)
        return GBM_OK;
    if (fam->discrete) {
        u->discrete = rt_grow(u->discrete, u->ndiscrete, &u->discrete_capacity,
                              sizeof *u->discrete);
        u->discrete[u->ndiscrete++] = (struct rt_discrete){f, e};
        return GBM_OK;
    }
    item.map = rt_support_map(fam->support);
    if (!item.map)
        return refuse(rt, u->in, state, f, e,
                      "its support has no free numbers, so derivatives are "
                      "not supported yet");
    if (u->in->model->feeds_back && fam->bounds_derived)
        return refuse(rt, u->in, state, f, e,
                      "its bounds are computed from random nodes, in a model "
                      "whose statements feed back: derivatives are not "
                      "supported yet");
    if (fam->support != GBM_SUPPORT_ANY && latent < n)
        return refuse(rt, u->in, state, f, e,
                      "some of what is tied together is observed: derivatives "
                      "are not supported yet");
    item.ncells = (int)latent;
    item.cells = u->ncells;
    for (int64_t i = 0; i < n; i++) {
        if (rt_seen(slot, buffer->cells[i]))
            continue;
        u->cells =
            rt_grow(u->cells, u->ncells, &u->cells_capacity, sizeof *u->cells);
        u->cells[u->ncells++] = buffer->cells[i];
    }
    item.dimension = item.map->dimension(item.ncells);
    item.first = u->dimension;
    u->dimension += item.dimension;
    u->items = rt_grow(u->items, u->n, &u->capacity, sizeof *u->items);
    u->items[u->n++] = item;
    return GBM_OK;
}

static void leave_out(struct rt_unknowns *u, int f, int64_t e)
{
    if (!u->forward[f])
        u->forward[f] = calloc((size_t)u->in->elements[f] + 1, 1);
    if (!u->forward[f])
        abort();
    u->forward[f][e] = 1;
}

enum gbm_status rt_unknowns_create(struct rt *rt, const struct rt_instance *in,
                                   const void *state, struct rt_unknowns *u)
{
    const struct gbm_model *m = in->model;
    struct rt_cells buffer = {0};
    enum gbm_status s = GBM_OK;
    *u = (struct rt_unknowns){.in = in};
    u->of_family = calloc((size_t)m->nfamilies + 1, sizeof *u->of_family);
    u->forward = calloc((size_t)m->nfamilies + 1, sizeof *u->forward);
    if (!u->of_family || !u->forward)
        abort();
    for (int f = 0; f < m->nfamilies && s == GBM_OK; f++) {
        const struct gbm_family *fam = &m->families[f];
        u->of_family[f] = u->n;
        for (int64_t e = 0; counts(fam) && e < in->elements[f] && s == GBM_OK;
             e++) {
            if (rt_drawn_forward(in, state, f, e, &buffer)) {
                leave_out(u, f, e);
                continue;
            }
            int64_t n = rt_element_cells(fam, state, e, &buffer);
            s = add(rt, u, state, f, e, &buffer, n);
        }
    }
    u->of_family[m->nfamilies] = u->n;
    free(buffer.cells);
    return s;
}

void rt_unknowns_free(struct rt_unknowns *u)
{
    for (int f = 0; u->forward && f < u->in->model->nfamilies; f++)
        free(u->forward[f]);
    free(u->forward);
    free(u->of_family);
    free(u->items);
    free(u->cells);
    free(u->discrete);
    *u = (struct rt_unknowns){0};
}

/* The element that free number i is of, and the cell of it that is closest. */
static const struct rt_unknown *owner(const struct rt_unknowns *u, int64_t i,
                                      int64_t *cell)
{
    int64_t low = 0, high = u->n;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (u->items[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    const int64_t k = i - u->items[low].first;
    *cell = u->cells[u->items[low].cells + (k < u->items[low].ncells ? k : 0)];
    return &u->items[low];
}

void rt_unknown_name(const struct rt_unknowns *u, int64_t i, char *out,
                     size_t capacity)
{
    int64_t cell;
    const int f = owner(u, i, &cell)->family;
    rt_cell_name(u->in, u->in->model->families[f].variable, cell, out,
                 capacity);
}

double rt_unknown_value(const struct rt_unknowns *u, int chain, int64_t i)
{
    int64_t cell;
    const int f = owner(u, i, &cell)->family;
    return rt_value(&u->in->slots[u->in->model->families[f].variable], false,
                    chain, cell);
}
