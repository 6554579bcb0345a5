/* reach.c: which elements depend on a cell, through whatever lies between.
 *
 * Each reader's element is a node with edges from what it reads: cells of the
 * target, and the nodes that define other cells. A walk from each cell of the
 * target finds its nodes. What is kept are their places among the items (the
 * elements of a family, or an order of a sequence), ascending: a range of all
 * items where they are in a row, otherwise a list. Where the lists would be
 * long together, a range that holds them all stands for each: it costs time,
 * not correctness. */
#include "load/load.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED_MOST = 1 << 24 };
static const int64_t visited_most = 200000000;

struct reach {
    const struct rt_instance *in;
    const struct gbm_inverse *inverse;
    const void *state;
    int nreaders;
    int64_t *base;  /* [nreaders + 1] first node of a reader's elements */
    int64_t cells;  /* of the target; sources begin with them */
    int64_t nodes;  /* then come the nodes, then one for each variable */
    int **owner;    /* [nvariables][cells]: the node that defines it, or -1 */
    int64_t *first; /* [sources + 1] edges of a source */
    int *to;        /* NULL while they are counted */
    int node;       /* whose reads are being added */
    int *place;     /* [nodes] among the items, or -1 */
    int64_t items;
    int *mark, *stack, *found; /* [sources], [sources], [items] */
    int *listed;
    int64_t nlisted, capacity, visited;
};

static int64_t sources(const struct reach *r)
{
    return r->cells + r->nodes + r->in->model->nvariables;
}

/* A variable as a whole: what reads a cell of it that latent nodes choose. */
static int64_t whole(const struct reach *r, int variable)
{
    return r->cells + r->nodes + variable;
}

static void add_edge(void *context, int variable, int64_t cell)
{
    struct reach *r = context;
    int64_t from;
    if (cell < 0)
        from = whole(r, variable);
    else if (variable == r->inverse->variable)
        from = cell;
    else if (r->owner[variable] && r->owner[variable][cell] >= 0)
        from = r->cells + r->owner[variable][cell];
    else
        return;
    if (r->to)
        r->to[r->first[from]] = r->node;
    r->first[from]++;
}

static bool find_owners(struct reach *r, struct rt_cells *buffer)
{
    for (int k = 0; k < r->nreaders; k++) {
        const struct gbm_family *f =
            &r->in->model->families[r->inverse->ways[k].family];
        int64_t cells = r->in->slots[f->variable].cells;
        int **owner = &r->owner[f->variable];
        if (f->stochastic)
            continue;
        if (!*owner) {
            *owner = malloc((size_t)(cells + 1) * sizeof **owner);
            if (!*owner)
                return false;
            memset(*owner, -1, (size_t)(cells + 1) * sizeof **owner);
        }
        for (int64_t e = r->base[k]; e < r->base[k + 1]; e++) {
            int64_t n = rt_element_cells(f, r->state, e - r->base[k], buffer);
            for (int64_t i = 0; i < n; i++)
                if (buffer->cells[i] >= 0 && buffer->cells[i] < cells)
                    (*owner)[buffer->cells[i]] = (int)e;
        }
    }
    return true;
}

/* Adds or, while `to` is NULL, counts all edges. */
static void add_edges(struct reach *r, struct rt_cells *buffer)
{
    for (int k = 0; k < r->nreaders; k++) {
        const struct gbm_reader *reader = &r->inverse->ways[k];
        const struct gbm_family *f = &r->in->model->families[reader->family];
        for (int64_t e = r->base[k]; e < r->base[k + 1]; e++) {
            r->node = (int)e;
            reader->reads(r->state, e - r->base[k], add_edge, r);
            if (f->variable != r->inverse->variable)
                continue;
            int64_t n = /* a density is of its own cells too */
                rt_element_cells(f, r->state, e - r->base[k], buffer);
            for (int64_t i = 0; i < n; i++)
                add_edge(r, f->variable, buffer->cells[i]);
        }
    }
}

static bool find_edges(struct reach *r, struct rt_cells *buffer)
{
    int64_t n = sources(r), total = 0;
    add_edges(r, buffer);
    for (int64_t i = 0; i < n; i++) {
        int64_t count = r->first[i];
        r->first[i] = total;
        total += count;
    }
    r->to = malloc((size_t)(total + 1) * sizeof *r->to);
    if (!r->to)
        return false;
    add_edges(r, buffer);
    for (int64_t i = n; i > 0; i--) /* undo the shift of the fill */
        r->first[i] = r->first[i - 1];
    r->first[0] = 0;
    return true;
}

static int reader_of(const struct reach *r, int family)
{
    for (int k = 0; k < r->nreaders; k++)
        if (r->inverse->ways[k].family == family)
            return k;
    return -1;
}

/* Where the nodes stand among the items. */
static void find_places(struct reach *r)
{
    const struct gbm_model *m = r->in->model;
    for (int64_t i = 0; i < r->nodes; i++)
        r->place[i] = -1;
    if (r->inverse->sequence < 0) {
        int k = reader_of(r, r->inverse->family);
        for (int64_t e = 0; k >= 0 && e < r->items; e++)
            r->place[r->base[k] + e] = (int)e;
        return;
    }
    const struct gbm_sequence *q = &m->sequences[r->inverse->sequence];
    const int *pairs = r->in->slots[q->slot].values;
    for (int64_t i = 0; i < r->items; i++) {
        int k = reader_of(r, q->readers[pairs[2 * i]].family);
        if (k >= 0)
            r->place[r->base[k] + pairs[2 * i + 1]] = (int)i;
    }
}

static void push(struct reach *r, int64_t source, int stamp, int64_t *depth)
{
    if (r->mark[source] == stamp)
        return;
    r->mark[source] = stamp;
    r->stack[(*depth)++] = (int)source;
}

static int variable_of(const struct reach *r, int64_t node)
{
    int k = 0;
    while (r->base[k + 1] <= node)
        k++;
    return r->in->model->families[r->inverse->ways[k].family].variable;
}

/* The places that a cell reaches, in no order; returns their number. */
static int64_t walk(struct reach *r, int64_t cell, int stamp)
{
    int64_t depth = 0, n = 0;
    push(r, cell, stamp, &depth);
    push(r, whole(r, r->inverse->variable), stamp, &depth);
    while (depth > 0) {
        int64_t from = r->stack[--depth], node = from - r->cells;
        if (node >= 0 && node < r->nodes) {
            if (r->place[node] >= 0)
                r->found[n++] = r->place[node];
            push(r, whole(r, variable_of(r, node)), stamp, &depth);
        }
        for (int64_t i = r->first[from]; i < r->first[from + 1]; i++)
            push(r, r->cells + r->to[i], stamp, &depth);
        r->visited += 1 + r->first[from + 1] - r->first[from];
    }
    return n;
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Writes the two ends of a cell's items. */
static bool list(struct reach *r, int64_t n, int *ends)
{
    ends[0] = ends[1] = 0;
    if (n == 0)
        return true;
    qsort(r->found, (size_t)n, sizeof *r->found, compare);
    int low = r->found[0], high = r->found[n - 1] + 1;
    ends[0] = low;
    ends[1] = high;
    if (high - low == n || r->nlisted + n > LISTED_MOST)
        return true;
    if (r->nlisted + n > r->capacity) {
        int64_t more = 2 * r->capacity + n;
        int *listed = realloc(r->listed, (size_t)more * sizeof *listed);
        if (!listed)
            return false;
        r->listed = listed;
        r->capacity = more;
    }
    memcpy(r->listed + r->nlisted, r->found, (size_t)n * sizeof *r->listed);
    ends[0] = (int)(r->items + r->nlisted);
    ends[1] = (int)(r->items + r->nlisted + n);
    r->nlisted += n;
    return true;
}

static bool fill(struct reach *r, struct rt_slot *start, struct rt_slot *item)
{
    start->cells = 2 * r->cells;
    start->values = calloc((size_t)start->cells + 1, sizeof(int));
    int *ends = start->values;
    bool good = ends != NULL;
    memset(r->mark, 0, (size_t)sources(r) * sizeof *r->mark);
    for (int64_t c = 0; good && c < r->cells; c++) {
        ends[2 * c] = 0;
        ends[2 * c + 1] = (int)r->items;
        if (r->visited < visited_most)
            good = list(r, walk(r, c, (int)c + 1), &ends[2 * c]);
    }
    item->cells = r->items + r->nlisted;
    int *items = calloc((size_t)item->cells + 1, sizeof *items);
    item->values = items;
    if (!items || !good)
        return false;
    for (int64_t i = 0; i < r->items; i++)
        items[i] = (int)i;
    if (r->nlisted)
        memcpy(items + r->items, r->listed, (size_t)r->nlisted * sizeof *items);
    start->dim[0] = (int)start->cells;
    item->dim[0] = (int)item->cells;
    return true;
}

static bool find(struct reach *r, struct rt_cells *buffer)
{
    const struct gbm_model *m = r->in->model;
    while (r->inverse->ways[r->nreaders].family >= 0)
        r->nreaders++;
    r->base = calloc((size_t)r->nreaders + 1, sizeof *r->base);
    r->owner = calloc((size_t)m->nvariables + 1, sizeof *r->owner);
    if (!r->base || !r->owner)
        return false;
    for (int k = 0; k < r->nreaders; k++)
        r->base[k + 1] =
            r->base[k] + r->in->elements[r->inverse->ways[k].family];
    r->nodes = r->base[r->nreaders];
    r->cells = r->in->slots[r->inverse->variable].cells;
    size_t n = (size_t)sources(r) + 2;
    r->items =
        r->inverse->sequence < 0
            ? r->in->elements[r->inverse->family]
            : r->in->slots[m->sequences[r->inverse->sequence].slot].cells / 2;
    r->first = calloc(n, sizeof *r->first);
    r->mark = calloc(n, sizeof *r->mark);
    r->stack = malloc(n * sizeof *r->stack);
    r->place = malloc(n * sizeof *r->place);
    r->found = malloc((size_t)(r->items + 1) * sizeof *r->found);
    if (!r->first || !r->mark || !r->stack || !r->place || !r->found ||
        !find_owners(r, buffer) || !find_edges(r, buffer))
        return false;
    find_places(r);
    return true;
}

enum gbm_status rt_reach(struct rt *rt, struct rt_instance *in,
                         const void *state, int inverse)
{
    const struct gbm_inverse *i = &in->model->inverses[inverse];
    struct reach r = {.in = in, .inverse = i, .state = state};
    struct rt_cells buffer = {0};
    bool good = find(&r, &buffer) &&
                fill(&r, &in->slots[i->start], &in->slots[i->item]);
    for (int v = 0; r.owner && v < in->model->nvariables; v++)
        free(r.owner[v]);
    free(buffer.cells);
    free(r.base);
    free(r.owner);
    free(r.first);
    free(r.to);
    free(r.place);
    free(r.mark);
    free(r.stack);
    free(r.found);
    free(r.listed);
    return good ? GBM_OK
                : rt_fail(rt, GBM_FAILURE, "no memory for what %s reaches",
                          in->model->variables[i->variable].name);
}
