/* graph.c: which elements read which, as the model's text has it. Built where
 * the search for starting values needs it. */
#include "start/start.h"

#include <stdlib.h>
#include <string.h>

#define MOST_EDGES 50000000

/* The nodes that define an array's cells, each once for cells that follow each
 * other. */
struct owners {
    int *nodes;
    int64_t n;
};

struct builder {
    struct rt_graph *g;
    struct owners *owners; /* [nvariables] */
    const bool *read;      /* [nvariables]; NULL: all */
    struct rt_cells buffer;
    int64_t node, edges;
    int last; /* parent of the node, if some are left out; -1: none yet */
    bool filling;
};

int rt_graph_family(const struct rt_graph *g, int64_t node)
{
    int low = 0, high = g->in->model->nfamilies;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(g->base[middle] <= node ? &low : &high) = middle;
    }
    return low;
}

static void add_edge(struct builder *b, int parent)
{
    /* what is read of few arrays may be one cell, once for each of a matrix */
    if (parent < 0 || (b->read && parent == b->last))
        return;
    b->last = parent;
    if (b->filling)
        b->g->parent[b->edges] = parent;
    b->edges++;
}

static void visit(void *context, int variable, int64_t cell)
{
    struct builder *b = context;
    const int *owner = b->g->owner[variable];
    const int64_t cells = b->g->in->slots[variable].cells;
    if (b->edges > MOST_EDGES || !owner || (b->read && !b->read[variable]))
        return;
    if (cell >= 0 && cell < cells)
        add_edge(b, owner[cell]);
    const struct owners *all = &b->owners[variable];
    for (int64_t i = 0; cell < 0 && i < all->n; i++)
        add_edge(b, all->nodes[i]);
}

static bool list_owners(struct builder *b, int variable)
{
    const int *owner = b->g->owner[variable];
    struct owners *all = &b->owners[variable];
    const int64_t cells = owner ? b->g->in->slots[variable].cells : 0;
    int64_t n = 0;
    for (int64_t i = 0; i < cells; i++)
        n += i == 0 || owner[i] != owner[i - 1];
    all->nodes = malloc((size_t)(n + 1) * sizeof *all->nodes);
    for (int64_t i = 0; all->nodes && i < cells; i++)
        if (i == 0 || owner[i] != owner[i - 1])
            all->nodes[all->n++] = owner[i];
    return all->nodes != NULL;
}

static bool own_cells(struct builder *b, int f)
{
    struct rt_graph *g = b->g;
    const struct gbm_family *fam = &g->in->model->families[f];
    const int64_t cells = g->in->slots[fam->variable].cells;
    int **owner = &g->owner[fam->variable];
    if (!*owner) {
        *owner = malloc((size_t)(cells + 1) * sizeof **owner);
        if (!*owner)
            return false;
        memset(*owner, -1, (size_t)(cells + 1) * sizeof **owner);
    }
    return true;
}

static void claim_cells(struct builder *b, int f, const void *state)
{
    struct rt_graph *g = b->g;
    const struct gbm_family *fam = &g->in->model->families[f];
    int *owner = g->owner[fam->variable];
    for (int64_t e = 0; e < g->in->elements[f]; e++) {
        int64_t n = rt_element_cells(fam, state, e, &b->buffer);
        for (int64_t i = 0; i < n; i++)
            owner[b->buffer.cells[i]] = (int)(g->base[f] + e);
    }
}

/* Counts the edges, or fills them in. */
static void walk(struct builder *b, const void *state)
{
    struct rt_graph *g = b->g;
    b->edges = 0;
    for (int f = 0; f < g->in->model->nfamilies; f++)
        for (int64_t i = g->base[f]; i < g->base[f + 1]; i++) {
            if (b->filling)
                g->first[i] = b->edges;
            b->last = -1;
            g->in->model->families[f].parents(state, i - g->base[f], visit, b);
        }
    if (b->filling)
        g->first[g->nodes] = b->edges;
}

/* Counting sort of the edges by parent. */
static void turn_round(struct rt_graph *g)
{
    int64_t *first = g->first_child;
    for (int64_t i = 0; i < g->first[g->nodes]; i++)
        first[g->parent[i] + 1]++;
    for (int64_t i = 0; i < g->nodes; i++)
        first[i + 1] += first[i];
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t k = g->first[i]; k < g->first[i + 1]; k++)
            g->child[first[g->parent[k]]++] = (int)i;
    for (int64_t i = g->nodes; i > 0; i--) /* undo the shift of the fill */
        first[i] = first[i - 1];
    first[0] = 0;
}

bool rt_graph_create(struct rt_graph *g, const struct rt_instance *in,
                     const void *state, const bool *read)
{
    const struct gbm_model *m = in->model;
    struct builder b = {.g = g, .read = read};
    *g = (struct rt_graph){.in = in};
    g->base = calloc((size_t)m->nfamilies + 1, sizeof *g->base);
    g->owner = calloc((size_t)m->nvariables + 1, sizeof *g->owner);
    b.owners = calloc((size_t)m->nvariables + 1, sizeof *b.owners);
    bool ok = g->base && g->owner && b.owners;
    for (int f = 0; ok && f < m->nfamilies; f++) {
        bool counts = m->families[f].parents != NULL;
        g->base[f + 1] = g->base[f] + (counts ? in->elements[f] : 0);
        ok = !counts || own_cells(&b, f);
    }
    g->nodes = ok ? g->base[m->nfamilies] : 0;
    ok = ok && g->nodes < MOST_EDGES;
    for (int f = 0; ok && f < m->nfamilies; f++)
        if (m->families[f].parents)
            claim_cells(&b, f, state);
    for (int v = 0; ok && v < m->nvariables; v++)
        ok = list_owners(&b, v);
    if (ok)
        walk(&b, state);
    ok = ok && b.edges <= MOST_EDGES;
    if (ok) {
        size_t nodes = (size_t)g->nodes + 1, edges = (size_t)b.edges + 1;
        g->first = calloc(nodes, sizeof *g->first);
        g->first_child = calloc(nodes, sizeof *g->first_child);
        g->parent = malloc(edges * sizeof *g->parent);
        g->child = malloc(edges * sizeof *g->child);
        ok = g->first && g->first_child && g->parent && g->child;
    }
    b.filling = true;
    if (ok) {
        walk(&b, state);
        turn_round(g);
    } else {
        rt_graph_free(g);
    }
    for (int v = 0; b.owners && v < m->nvariables; v++)
        free(b.owners[v].nodes);
    free(b.owners);
    free(b.buffer.cells);
    return ok;
}

void rt_graph_free(struct rt_graph *g)
{
    for (int v = 0; g->owner && v < g->in->model->nvariables; v++)
        free(g->owner[v]);
    free(g->owner);
    free(g->base);
    free(g->first);
    free(g->parent);
    free(g->first_child);
    free(g->child);
    *g = (struct rt_graph){.in = g->in};
}
