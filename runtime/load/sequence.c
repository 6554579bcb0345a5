/* sequence.c: the order of elements that feed each other: parents first, by a
 * depth-first walk along what each element reads. Where the order of the
 * statements would do, it stays. */
#include "load/load.h"

#include <stdlib.h>
#include <string.h>

struct walker {
    struct rt *rt;
    const struct rt_instance *in;
    const struct gbm_sequence *q;
    const void *state;
    int64_t *base;       /* [nreaders + 1] first node of a reader's elements */
    int **owner;         /* [nvariables][cells]: the node that defines it */
    unsigned char *mark; /* [nodes] 0 new, 1 on the way, 2 done */
    int *reads;          /* what the nodes on the way read */
    int64_t nreads, capacity;
    unsigned char *fed; /* [nodes] random ones feed it */
    bool is_fed;
    int *out;
    int64_t count;
    bool failed;
    bool values; /* what is observed depends on nothing: r <- sum(m[]), where
                    m[] ~ dmulti(p[], r) is data */
    bool again;  /* there is a cycle, but not of values */
};

/* A node on the way; what it reads and was not looked at lies from `first` on,
 * below the reads of the nodes further on. */
struct frame {
    int node;
    int64_t first;
};

static int reader_of(const struct walker *w, int node)
{
    int r = 0;
    while (w->base[r + 1] <= node)
        r++;
    return r;
}

static bool own_cells(struct walker *w, struct rt_cells *buffer)
{
    for (int r = 0; r < w->q->nreaders; r++)
        if (!rt_own_cells(w->in, w->q->readers[r].family, w->state, w->base[r],
                          w->owner, buffer))
            return false;
    return true;
}

static void add_read(void *context, int variable, int64_t cell)
{
    struct walker *w = context;
    int node = w->owner[variable] ? w->owner[variable][cell] : -1;
    if (node < 0 || w->mark[node] == 2)
        return;
    if (w->nreads == w->capacity) {
        int64_t capacity = 2 * w->capacity + 1024;
        int *reads = realloc(w->reads, (size_t)capacity * sizeof *reads);
        if (!reads) {
            w->failed = true;
            return;
        }
        w->reads = reads;
        w->capacity = capacity;
    }
    w->reads[w->nreads++] = node;
}

static bool observed(const struct walker *w, int node)
{
    const struct gbm_model *m = w->in->model;
    int r = reader_of(w, node), f = w->q->readers[r].family;
    const struct rt_slot *slot = &w->in->slots[m->families[f].variable];
    if (!m->families[f].stochastic)
        return false;
    struct rt_cells buffer = {0};
    int64_t n =
        rt_element_cells(&m->families[f], w->state, node - w->base[r], &buffer);
    bool all = true;
    for (int64_t i = 0; i < n; i++)
        all = all && rt_seen(slot, buffer.cells[i]);
    free(buffer.cells);
    return all;
}

static struct frame enter(struct walker *w, int node)
{
    struct frame f = {.node = node, .first = w->nreads};
    int r = reader_of(w, node);
    w->mark[node] = 1;
    if (w->values && observed(w, node))
        return f;
    w->q->readers[r].reads(w->state, node - w->base[r], add_read, w);
    return f;
}

static int node_name(const struct walker *w, int node, char *out,
                     size_t capacity)
{
    int r = reader_of(w, node), f = w->q->readers[r].family;
    rt_element_name(w->in, w->state, f, node - w->base[r], out, capacity);
    return f;
}

/* The last node on the way reads `node`, which is on the way too. */
static enum gbm_status fail_cycle(struct walker *w, int node,
                                  const struct frame *way, int64_t depth)
{
    char path[600] = "", name[256];
    size_t at = 0;
    int64_t k = depth - 1;
    while (way[k].node != node)
        k--;
    for (int64_t i = k; i < depth && !w->values; i++)
        if (observed(w, way[i].node)) {
            w->again = true;
            return GBM_OK;
        }
    for (int shown = 0; k < depth && shown < 8; k++, shown++) {
        node_name(w, way[k].node, name, sizeof name);
        at += (size_t)snprintf(path + at, sizeof path - at, "%.50s <- ", name);
    }
    int f = node_name(w, node, name, sizeof name);
    return rt_fail(w->rt, GBM_USER_ERROR,
                   "%s: a cycle in the graph: %s depends on itself "
                   "(%s%s%.50s)",
                   w->in->model->families[f].where, name, path,
                   k < depth ? "... <- " : "", name);
}

static enum gbm_status walk(struct walker *w, int from, struct frame *stack)
{
    int64_t depth = 0;
    stack[depth++] = enter(w, from);
    while (depth > 0 && !w->failed) {
        struct frame *top = &stack[depth - 1];
        if (w->nreads == top->first) {
            w->mark[top->node] = 2;
            w->out[w->count++] = top->node;
            depth--;
            continue;
        }
        int node = w->reads[--w->nreads];
        if (w->mark[node] == 1)
            return fail_cycle(w, node, stack, depth);
        if (w->mark[node] == 0)
            stack[depth++] = enter(w, node);
    }
    return w->failed ? rt_fail(w->rt, GBM_FAILURE, "no memory") : GBM_OK;
}

static enum gbm_status order(struct walker *w, int64_t nodes)
{
    struct rt_cells buffer = {0};
    struct frame *stack = malloc((size_t)(nodes + 1) * sizeof *stack);
    enum gbm_status s = GBM_OK;
    if (!stack || !w->mark || !w->fed || !w->out || !own_cells(w, &buffer))
        s = rt_fail(w->rt, GBM_FAILURE, "no memory for an order of elements");
    for (int64_t node = 0; s == GBM_OK && node < nodes; node++) {
        if (w->mark[node] == 0)
            s = walk(w, (int)node, stack);
        if (s != GBM_OK || !w->again)
            continue;
        memset(w->mark, 0, (size_t)nodes); /* from the first node on */
        w->values = true;
        w->again = false;
        w->nreads = w->count = 0;
        node = -1;
    }
    free(buffer.cells);
    free(stack);
    return s;
}

static void add_feed(void *context, int variable, int64_t cell)
{
    struct walker *w = context;
    const struct gbm_model *m = w->in->model;
    int node = w->owner[variable] ? w->owner[variable][cell] : -1;
    if (node < 0)
        return;
    int f = w->q->readers[reader_of(w, node)].family;
    w->is_fed = w->is_fed || m->families[f].stochastic || w->fed[node];
}

/* Which nodes have random ones among those that feed them: those come before,
 * so that nodes between are known. */
static void find_fed(struct walker *w)
{
    for (int64_t i = 0; i < w->count; i++) {
        int node = w->out[i], r = reader_of(w, node);
        w->is_fed = false;
        w->q->readers[r].reads(w->state, node - w->base[r], add_feed, w);
        w->fed[node] = w->is_fed;
    }
}

enum gbm_status rt_sequence(struct rt *rt, const struct rt_instance *in,
                            const void *state, int sequence,
                            struct rt_order *out)
{
    const struct gbm_model *m = in->model;
    const struct gbm_sequence *q = &m->sequences[sequence];
    struct walker w = {.rt = rt, .in = in, .q = q, .state = state};
    w.base = calloc((size_t)q->nreaders + 1, sizeof *w.base);
    w.owner = calloc((size_t)m->nvariables + 1, sizeof *w.owner);
    if (!w.base || !w.owner) {
        free(w.base);
        free(w.owner);
        return rt_fail(rt, GBM_FAILURE, "no memory");
    }
    for (int r = 0; r < q->nreaders; r++)
        w.base[r + 1] = w.base[r] + in->elements[q->readers[r].family];
    int64_t nodes = w.base[q->nreaders];
    w.mark = calloc((size_t)nodes + 1, 1);
    w.fed = calloc((size_t)nodes + 1, 1);
    w.out = malloc(((size_t)nodes + 1) * sizeof *w.out);
    enum gbm_status s = order(&w, nodes);
    if (s == GBM_OK) {
        out->count = nodes;
        out->pairs = malloc(2 * ((size_t)nodes + 1) * sizeof *out->pairs);
        out->fed = malloc((size_t)nodes + 1);
        if (!out->pairs || !out->fed)
            s = rt_fail(rt, GBM_FAILURE, "no memory");
        find_fed(&w);
    }
    for (int64_t i = 0; s == GBM_OK && i < nodes; i++) {
        int r = reader_of(&w, w.out[i]);
        out->pairs[2 * i] = r;
        out->pairs[2 * i + 1] = (int)(w.out[i] - w.base[r]);
        out->fed[i] = w.fed[w.out[i]];
    }
    for (int v = 0; v < m->nvariables; v++)
        free(w.owner[v]);
    free(w.owner);
    free(w.base);
    free(w.mark);
    free(w.fed);
    free(w.out);
    free(w.reads);
    return s;
}

int rt_sequence_of(const struct gbm_model *m, enum gbm_sequence_kind kind,
                   int family, bool *first)
{
    for (int k = 0; k < m->nsequences; k++)
        for (int r = 0;
             m->sequences[k].kind == kind && r < m->sequences[k].nreaders; r++)
            if (m->sequences[k].readers[r].family == family) {
                *first = r == 0;
                return k;
            }
    return -1;
}
