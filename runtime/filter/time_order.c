/* time_order.c: the order in time of a model's elements, found at load from
 * which elements read which. What is observed or given is known, as is what is
 * computed from such alone. Time runs along the variables of which an unknown
 * element reads, through whatever lies between, another one of its own: x[t] of
 * x[t-1]. Its elements are of successive times, and what reads them is of their
 * time. An unknown element that reads none of these is drawn when it is first
 * read, if that is the only time: noise, the state before the first. */
#include "filter/filter.h"
#include "options/method.h"

#include <stdlib.h>
#include <string.h>

struct orderer {
    struct rt_starter *starter;
    const struct gbm_model *model;
    struct rt_times *times;
    int *family;          /* [nodes] */
    unsigned char *open;  /* [nodes] its value is not known */
    int *sorted;          /* [nodes] parents before children, and what is
                             computed as early as that allows */
    unsigned char *reach; /* [nvariables][nvariables] through open nodes */
    unsigned char *marks; /* [nvariables] a step of time is one of it */
    int *first, *last;    /* [nodes] of those without a time: when it is read */
    bool weighs_given;
};

static bool is_stochastic(const struct orderer *o, int64_t node)
{
    return o->model->families[o->family[node]].stochastic;
}

static int variable_of(const struct orderer *o, int64_t node)
{
    return o->model->families[o->family[node]].variable;
}

static enum gbm_status fail_at(struct orderer *o, int64_t node,
                               const char *what)
{
    const int f = o->family[node];
    const struct gbm_family *fam = &o->model->families[f];
    char name[256];
    rt_element_name(o->starter->in, o->starter->state, f,
                    node - o->times->graph.base[f], name, sizeof name);
    return rt_fail(o->starter->rt, GBM_USER_ERROR, "%s: %s: %s\n    %s",
                   fam->where, name, what, fam->text);
}

/* Whether a random element is unknown (`open`), and what is done with it. */
static enum gbm_status classify(struct orderer *o, int64_t node)
{
    const struct rt_starter *s = o->starter;
    const int f = o->family[node];
    const struct gbm_family *fam = &o->model->families[f];
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    int64_t n = rt_element_cells(fam, s->state, node - o->times->graph.base[f],
                                 &o->starter->buffer);
    int64_t seen = 0, fixed = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t cell = s->buffer.cells[i];
        seen += rt_seen(slot, cell);
        fixed += rt_start_is_fixed(s, fam->variable, cell);
    }
    if (fixed > 0 && (fixed < n || (seen > 0 && seen < n)))
        return fail_at(o, node,
                       "a vector that is known in part: a filter draws all of "
                       "a node or nothing");
    o->open[node] = fixed == 0;
    o->times->act[node] = fixed == 0                    ? RT_ACT_DRAW
                          : seen > 0 || o->weighs_given ? RT_ACT_WEIGH
                                                        : RT_ACT_NONE;
    if (fixed == 0 && fam->no_draw)
        return fail_at(o, node,
                       "it cannot be drawn: the distribution has no clause "
                       "draw");
    return GBM_OK;
}

/* Kahn's algorithm; what is computed goes before what is drawn or compared, as
 * densities may read nodes that the compiler keeps beside the model's. */
static enum gbm_status sort(struct orderer *o)
{
    const struct rt_graph *g = &o->times->graph;
    const size_t nodes = (size_t)g->nodes + 1;
    int *waits = calloc(nodes, sizeof *waits);
    int *ready = malloc(nodes * sizeof *ready);
    int *drawn = malloc(nodes * sizeof *drawn);
    int64_t nready = 0, first = 0, ndrawn = 0, n = 0;
    enum gbm_status s = GBM_OK;
    if (!waits || !ready || !drawn)
        s = rt_fail(o->starter->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; s == GBM_OK && i < g->nodes; i++) {
        waits[i] = (int)(g->first[i + 1] - g->first[i]);
        if (waits[i] == 0 && is_stochastic(o, i))
            drawn[ndrawn++] = (int)i;
        else if (waits[i] == 0)
            ready[nready++] = (int)i;
    }
    while (s == GBM_OK && (nready > 0 || first < ndrawn)) {
        const int node = nready > 0 ? ready[--nready] : drawn[first++];
        o->sorted[n++] = node;
        for (int64_t k = g->first_child[node]; k < g->first_child[node + 1];
             k++) {
            const int child = g->child[k];
            if (--waits[child] > 0)
                continue;
            if (is_stochastic(o, child))
                drawn[ndrawn++] = child;
            else
                ready[nready++] = child;
        }
    }
    for (int64_t i = 0; s == GBM_OK && n < g->nodes && i < g->nodes; i++)
        if (waits[i] > 0)
            s = fail_at(o, i,
                        "which elements it reads depends on latent nodes: "
                        "there is no order in time");
    free(waits);
    free(ready);
    free(drawn);
    return s;
}

/* Nodes whose values are not known. */
static enum gbm_status find_open(struct orderer *o)
{
    const struct rt_graph *g = &o->times->graph;
    enum gbm_status s = GBM_OK;
    for (int64_t i = 0; s == GBM_OK && i < g->nodes; i++)
        if (is_stochastic(o, i))
            s = classify(o, i);
    if (s == GBM_OK)
        s = sort(o);
    for (int64_t i = 0; s == GBM_OK && i < g->nodes; i++) {
        const int node = o->sorted[i];
        if (is_stochastic(o, node))
            continue;
        o->times->act[node] = RT_ACT_DERIVE;
        for (int64_t k = g->first[node]; k < g->first[node + 1]; k++)
            o->open[node] = o->open[node] || o->open[g->parent[k]];
    }
    return s;
}

static void reach_from(struct orderer *o, int v, int to)
{
    const int n = o->model->nvariables;
    if (o->reach[(size_t)v * (size_t)n + (size_t)to] == 2)
        return;
    o->reach[(size_t)v * (size_t)n + (size_t)to] = 2;
    for (int w = 0; w < n; w++)
        if (o->reach[(size_t)to * (size_t)n + (size_t)w])
            reach_from(o, v, w);
}

static bool reaches(const struct orderer *o, int a, int b)
{
    return o->reach[(size_t)a * (size_t)o->model->nvariables + (size_t)b] == 2;
}

static bool together(const struct orderer *o, int a, int b)
{
    return reaches(o, a, b) && reaches(o, b, a);
}

/* Of variables that feed each other the random ones count time; if there is
 * none, those that are computed. */
static bool find_marks(struct orderer *o)
{
    const struct rt_graph *g = &o->times->graph;
    const int n = o->model->nvariables;
    unsigned char *random = calloc((size_t)n + 1, 1);
    bool any = false;
    for (int64_t i = 0; random && i < g->nodes; i++) {
        if (!o->open[i])
            continue;
        random[variable_of(o, i)] |= is_stochastic(o, i);
        for (int64_t k = g->first[i]; k < g->first[i + 1]; k++)
            if (o->open[g->parent[k]])
                o->reach[(size_t)variable_of(o, g->parent[k]) * (size_t)n +
                         (size_t)variable_of(o, i)] |= 1;
    }
    for (int v = 0; v < n; v++)
        for (int w = 0; w < n; w++)
            if (o->reach[(size_t)v * (size_t)n + (size_t)w] == 1)
                reach_from(o, v, w);
    for (int v = 0; random && v < n; v++) {
        bool beside = false; /* a random one */
        for (int w = 0; w < n; w++)
            beside = beside || (random[w] && together(o, v, w));
        o->marks[v] = reaches(o, v, v) && (random[v] || !beside);
        any = any || o->marks[v];
    }
    free(random);
    return any;
}

static void raise_to(int *time, int value)
{
    if (value > *time)
        *time = value;
}

/* Times of the variables that run along time, and of what reads them: the
 * largest of what is read, one more than the last element of its own. Each node
 * hands on the last time of each variable that feeds its own: latest[node][k],
 * k the place of that variable among these. */
static bool find_times(struct orderer *o)
{
    const struct rt_graph *g = &o->times->graph;
    const int n = o->model->nvariables;
    int *place = calloc((size_t)n + 1, sizeof *place);
    int *width = calloc((size_t)n + 1, sizeof *width);
    int64_t *at = calloc((size_t)g->nodes + 1, sizeof *at);
    int *latest = NULL;
    int64_t room = 0;
    bool ok = place && width && at;
    for (int v = 0; ok && v < n; v++)
        for (int w = 0; w < n; w++)
            if (together(o, v, w)) {
                place[v] += w < v;
                width[v]++;
            }
    for (int64_t i = 0; ok && i < g->nodes; i++) {
        at[i] = room;
        room += o->open[i] ? width[variable_of(o, i)] : 0;
    }
    latest = ok ? calloc((size_t)room + 1, sizeof *latest) : NULL;
    for (int64_t i = 0; latest && i < g->nodes; i++) {
        const int node = o->sorted[i], v = variable_of(o, node);
        int *time = &o->times->time[node], *own = latest + at[node];
        for (int64_t k = g->first[node]; k < g->first[node + 1]; k++) {
            const int parent = g->parent[k], w = variable_of(o, parent);
            if (!o->open[parent])
                continue;
            raise_to(time, o->times->time[parent]);
            if (o->open[node] && together(o, v, w))
                for (int j = 0; j < width[v]; j++)
                    raise_to(&own[j], latest[at[parent] + j]);
        }
        if (o->open[node] && o->marks[v]) {
            raise_to(time, own[place[v]] + 1);
            own[place[v]] = *time;
        }
        if (*time > o->times->count)
            o->times->count = *time;
    }
    ok = latest != NULL;
    free(place);
    free(width);
    free(at);
    free(latest);
    return ok;
}

/* When unknown nodes without a time are read: from first[node] to last[node].
 */
static void find_readers(struct orderer *o)
{
    const struct rt_graph *g = &o->times->graph;
    for (int64_t i = g->nodes - 1; i >= 0; i--) {
        const int node = o->sorted[i];
        o->first[node] = o->times->count + 1;
        if (!o->open[node] || o->times->time[node] > 0)
            continue;
        for (int64_t k = g->first_child[node]; k < g->first_child[node + 1];
             k++) {
            const int child = g->child[k];
            const bool weighs = o->times->act[child] == RT_ACT_WEIGH;
            const int time = weighs && o->times->time[child] == 0
                                 ? 1
                                 : o->times->time[child];
            const int from = time > 0 ? time : o->first[child];
            const int to = time > 0 ? time : o->last[child];
            if (from < o->first[node])
                o->first[node] = from;
            raise_to(&o->last[node], to);
        }
    }
}

/* Parameters: what several times read. Lists the variables that have such. */
static enum gbm_status check_parameters(struct orderer *o)
{
    const struct rt_starter *s = o->starter;
    const struct rt_graph *g = &o->times->graph;
    unsigned char *missing = calloc((size_t)o->model->nvariables + 1, 1);
    char list[1024] = "";
    size_t at = 0;
    if (!missing)
        return rt_fail(s->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < g->nodes; i++)
        if (is_stochastic(o, i) && o->last[i] > o->first[i])
            missing[variable_of(o, i)] = 1;
    for (int64_t i = 0; i < g->nodes && at < sizeof list; i++) {
        const int v = variable_of(o, i);
        const struct gbm_variable *variable = &o->model->variables[v];
        for (int k = 0;
             missing[v] && k < (variable->names ? s->in->slots[v].cells : 1);
             k++)
            if (at < sizeof list &&
                (!variable->names || !rt_start_is_fixed(s, v, k)))
                at += (size_t)snprintf(
                    list + at, sizeof list - at, "%s%s", at ? ", " : "",
                    variable->names ? variable->names[k] : variable->name);
        missing[v] = 0;
    }
    free(missing);
    return at == 0 ? GBM_OK
                   : rt_fail(s->rt, GBM_USER_ERROR,
                             "--method filter: what several times read must "
                             "be known; give it by --init FILE: %s",
                             list);
}

/* What has no time yet is drawn when it is first read. */
static void place_the_rest(struct orderer *o)
{
    const struct rt_graph *g = &o->times->graph;
    for (int64_t i = 0; i < g->nodes; i++) {
        const int node = o->sorted[i];
        int *time = &o->times->time[node];
        if (o->open[node] && *time == 0 && o->first[node] <= o->times->count)
            *time = o->first[node];
        for (int64_t k = g->first[node]; k < g->first[node + 1]; k++)
            if (o->open[g->parent[k]])
                raise_to(time, o->times->time[g->parent[k]]);
        if (o->open[node] && *time == 0)
            o->times->act[node] = RT_ACT_LATE;
    }
}

/* Until when a value is needed: through what is computed from it, as its
 * definition may stand in its place; what the compiler adds is read where that
 * is which it is computed from. */
static void find_last(struct orderer *o)
{
    const struct rt_graph *g = &o->times->graph;
    int *last = o->times->last;
    for (int64_t i = g->nodes - 1; i >= 0; i--) {
        const int node = o->sorted[i];
        for (int64_t k = g->first_child[node]; k < g->first_child[node + 1];
             k++) {
            const int child = g->child[k];
            if (o->times->act[child] != RT_ACT_NONE)
                raise_to(&last[node], o->times->time[child]);
            if (!is_stochastic(o, child))
                raise_to(&last[node], last[child]);
        }
    }
    for (int64_t i = 0; i < g->nodes; i++) {
        const int node = o->sorted[i];
        if (!o->model->variables[variable_of(o, node)].hidden)
            continue;
        for (int64_t k = g->first[node]; k < g->first[node + 1]; k++)
            raise_to(&last[node], last[g->parent[k]]);
    }
}

static bool list_by_time(struct orderer *o)
{
    struct rt_times *t = o->times;
    const int64_t nodes = t->graph.nodes;
    t->first = calloc((size_t)t->count + 3, sizeof *t->first);
    t->order = malloc(((size_t)nodes + 1) * sizeof *t->order);
    if (!t->first || !t->order)
        return false;
    for (int64_t i = 0; i < nodes; i++)
        t->first[t->time[i] + 1]++;
    for (int k = 0; k <= t->count; k++)
        t->first[k + 1] += t->first[k];
    for (int64_t i = 0; i < nodes; i++)
        t->order[t->first[t->time[o->sorted[i]]]++] = o->sorted[i];
    for (int k = t->count + 1; k > 0; k--) /* undo the shift of the fill */
        t->first[k] = t->first[k - 1];
    t->first[0] = 0;
    return true;
}

static bool prepare(struct orderer *o)
{
    struct rt_times *t = o->times;
    const size_t nodes = (size_t)t->graph.nodes + 1;
    const size_t nv = (size_t)o->model->nvariables;
    t->act = calloc(nodes, 1);
    t->time = calloc(nodes, sizeof *t->time);
    t->last = calloc(nodes, sizeof *t->last);
    o->family = malloc(nodes * sizeof *o->family);
    o->open = calloc(nodes, 1);
    o->sorted = malloc(nodes * sizeof *o->sorted);
    o->reach = calloc(nv * nv + 1, 1);
    o->marks = calloc(nv + 1, 1);
    o->first = calloc(nodes, sizeof *o->first);
    o->last = calloc(nodes, sizeof *o->last);
    if (!t->act || !t->time || !t->last || !o->family || !o->open ||
        !o->sorted || !o->reach || !o->marks || !o->first || !o->last)
        return false;
    for (int f = 0; f < o->model->nfamilies; f++)
        for (int64_t i = t->graph.base[f]; i < t->graph.base[f + 1]; i++)
            o->family[i] = f;
    return true;
}

static bool any_open(const struct orderer *o)
{
    for (int64_t i = 0; i < o->times->graph.nodes; i++)
        if (o->open[i])
            return true;
    return false;
}

/* Marks parameters, and unknown nodes that they are drawn from. */
static unsigned char *mark_wanted(struct orderer *o)
{
    const struct rt_graph *g = &o->times->graph;
    unsigned char *wanted = calloc((size_t)g->nodes + 1, 1);
    unsigned char *leads = calloc((size_t)g->nodes + 1, 1);
    for (int64_t i = g->nodes - 1; wanted && leads && i >= 0; i--) {
        const int node = o->sorted[i];
        if (!o->open[node] || o->times->time[node] > 0)
            continue;
        for (int64_t k = g->first_child[node]; k < g->first_child[node + 1];
             k++)
            leads[node] |= leads[g->child[k]];
        wanted[node] = is_stochastic(o, node) &&
                       (leads[node] || o->last[node] > o->first[node]);
        leads[node] |= wanted[node];
    }
    free(leads);
    return wanted;
}

static enum gbm_status order_all(struct orderer *o, unsigned char **wanted)
{
    struct rt *rt = o->starter->rt;
    enum gbm_status s = find_open(o);
    if (s != GBM_OK)
        return s;
    if (!any_open(o))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--method %s: nothing is left to be drawn: data "
                       "and --init give all; leave out of --init what runs "
                       "along time",
                       rt->options.method->name);
    if (!find_marks(o))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--method %s: no unknown node depends on an earlier "
                       "one of its own variable, as x[t] on x[t-1]: there is "
                       "no time to run along",
                       rt->options.method->name);
    if (!find_times(o))
        return rt_fail(rt, GBM_FAILURE, "no memory");
    find_readers(o);
    if (wanted) {
        *wanted = mark_wanted(o);
        return *wanted ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
    }
    s = check_parameters(o);
    if (s != GBM_OK)
        return s;
    place_the_rest(o);
    find_last(o);
    return list_by_time(o) ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
}

static enum gbm_status create(struct rt_times *times, struct rt_starter *s,
                              bool weighs_given, unsigned char **wanted)
{
    struct orderer o = {.starter = s,
                        .model = s->in->model,
                        .times = times,
                        .weighs_given = weighs_given};
    *times = (struct rt_times){0};
    enum gbm_status status;
    if (!rt_graph_create(&times->graph, s->in, s->state, NULL) || !prepare(&o))
        status =
            rt_fail(s->rt, GBM_FAILURE, "no memory to find the order in time");
    else
        status = order_all(&o, wanted);
    free(o.family);
    free(o.open);
    free(o.sorted);
    free(o.reach);
    free(o.marks);
    free(o.first);
    free(o.last);
    if (status != GBM_OK)
        rt_times_free(times);
    return status;
}

enum gbm_status rt_times_create(struct rt_times *times, struct rt_starter *s)
{
    return create(times, s, false, NULL);
}

enum gbm_status rt_times_find(struct rt_times *times, struct rt_starter *s,
                              unsigned char **wanted)
{
    return create(times, s, true, wanted);
}

void rt_times_free(struct rt_times *t)
{
    if (t->graph.in)
        rt_graph_free(&t->graph);
    free(t->act);
    free(t->time);
    free(t->last);
    free(t->first);
    free(t->order);
    *t = (struct rt_times){0};
}
