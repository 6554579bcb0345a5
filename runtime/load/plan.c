/* plan.c: which elements each step updates, and which may move at once. */
#include "load/load.h"

#include <stdlib.h>
#include <string.h>

/* True if some cell of the element is latent, and is the step's to draw: of
 * barren ones the steps that draw forward alone. */
static bool latent(const struct rt_instance *in, const struct gbm_step *step,
                   const void *state, int family, int64_t element,
                   struct rt_cells *buffer)
{
    const struct gbm_family *f = &in->model->families[family];
    const struct rt_slot *slot = &in->slots[f->variable];
    if (f->barren &&
        rt_drawn_forward(in, state, family, element, buffer) != step->leaf)
        return false;
    if (!slot->seen)
        return slot->per_chain;
    int64_t n = rt_element_cells(f, state, element, buffer);
    for (int64_t i = 0; i < n; i++)
        if (!rt_seen(slot, buffer->cells[i]))
            return true;
    return false;
}

/* An element that is drawn as a whole or given as a whole is not both. */
static enum gbm_status refuse_division(struct rt *rt,
                                       const struct rt_instance *in,
                                       const struct gbm_step *step,
                                       const void *state, int64_t element,
                                       struct rt_cells *buffer)
{
    const struct gbm_family *f = &in->model->families[step->family];
    const struct rt_slot *slot = &in->slots[f->variable];
    int64_t n = rt_element_cells(f, state, element, buffer);
    for (int64_t i = 0; slot->seen && i < n; i++) {
        if (!rt_seen(slot, buffer->cells[i]))
            continue;
        char name[128];
        rt_element_name(in, state, step->family, element, name, sizeof name);
        return rt_fail(rt, GBM_USER_ERROR,
                       "%s: %s is observed in part; a node of %s is given as "
                       "a whole or not at all",
                       f->where, name, f->text);
    }
    return GBM_OK;
}

/* All elements are one: it is drawn if any cell is latent. */
static bool whole_is_latent(const struct rt_instance *in,
                            const struct gbm_step *step, const void *state)
{
    struct rt_cells buffer = {0};
    bool some = false;
    for (int m = 0; m < step->nmembers; m++)
        for (int64_t e = 0; e < in->elements[step->members[m]] && !some; e++)
            some = latent(in, step, state, step->members[m], e, &buffer);
    free(buffer.cells);
    return some;
}

static int by_number(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void keep_distinct(struct rt_step *out)
{
    int64_t n = 0;
    qsort(out->elements, (size_t)out->count, sizeof(int), by_number);
    for (int64_t i = 0; i < out->count; i++)
        if (i == 0 || out->elements[i] != out->elements[i - 1])
            out->elements[n++] = out->elements[i];
    out->count = n;
}

/* Fills step->elements with the elements that have something latent. */
static enum gbm_status list_elements(struct rt *rt,
                                     const struct rt_instance *in,
                                     const struct gbm_step *step,
                                     const void *state, struct rt_step *out)
{
    int64_t n = in->elements[step->family];
    int alone[1] = {step->family};
    const int *members = step->members ? step->members : alone;
    int nmembers = step->members ? step->nmembers : 1;
    bool all = true;
    for (int m = 0; m < nmembers; m++) {
        int v = in->model->families[members[m]].variable;
        all = all && in->slots[v].per_chain && !in->slots[v].seen &&
              !(step->leaf && in->model->variables[v].barren);
    }
    out->count = n;
    all = all && !step->first;
    if (all || step->every || n == 0)
        return GBM_OK;
    struct rt_cells buffer = {0};
    out->elements = malloc((size_t)n * sizeof(int));
    if (!out->elements)
        return rt_fail(rt, GBM_FAILURE, "no memory for the elements of %s",
                       step->variable);
    out->count = 0;
    for (int64_t e = 0; e < n; e++) {
        bool some = false;
        for (int m = 0; m < nmembers && !some; m++)
            some = e < in->elements[members[m]] &&
                   latent(in, step, state, members[m], e, &buffer);
        if (some && step->undivided) {
            enum gbm_status s =
                refuse_division(rt, in, step, state, e, &buffer);
            if (s != GBM_OK) {
                free(buffer.cells);
                return s;
            }
        }
        if (some)
            out->elements[out->count++] =
                (int)(step->first ? step->first(state, e) : e);
    }
    free(buffer.cells);
    if (step->first)
        keep_distinct(out);
    if (out->count == n) {
        free(out->elements);
        out->elements = NULL;
    }
    return GBM_OK;
}

/* ---- colouring ---- */

struct graph {
    int64_t n;      /* vertices: elements of the step's family */
    int64_t *start; /* [n + 1] */
    int *neighbour; /* both directions */
    int64_t edges;
};

/* More edges than this and the elements are taken one at a time. */
#define MAX_EDGES ((int64_t)1 << 28)

/* Calls for every pair of elements that an instance ties. With a graph whose
 * neighbour is NULL counts degrees, else fills. Returns the number of edges
 * seen, or more than MAX_EDGES when it gives up. */
static int64_t visit_pairs(const struct rt_instance *in,
                           const struct gbm_step *step, const void *state,
                           struct graph *g, int64_t *tied)
{
    int64_t total = 0;
    for (int k = 0; k < step->nconflicts; k++) {
        const struct gbm_conflict *c = &step->conflicts[k];
        for (int64_t i = 0; i < in->elements[c->family]; i++) {
            int m = c->elements(state, i, tied, c->capacity);
            if (m > c->capacity)
                return MAX_EDGES + 1;
            total += (int64_t)m * (m - 1);
            if (total > MAX_EDGES)
                return total;
            for (int a = 0; a < m; a++)
                for (int b = 0; b < m; b++) {
                    if (tied[a] == tied[b] || tied[a] < 0 || tied[b] < 0 ||
                        tied[a] >= g->n || tied[b] >= g->n)
                        continue;
                    if (g->neighbour)
                        g->neighbour[g->start[tied[a]]++] = (int)tied[b];
                    else
                        g->start[tied[a] + 1]++;
                }
        }
    }
    return total;
}

static enum gbm_status build_graph(struct rt *rt, const struct rt_instance *in,
                                   const struct gbm_step *step,
                                   const void *state, struct graph *g)
{
    int capacity = 1;
    for (int k = 0; k < step->nconflicts; k++)
        if (step->conflicts[k].capacity > capacity)
            capacity = step->conflicts[k].capacity;
    g->n = in->elements[step->family];
    g->start = calloc((size_t)g->n + 1, sizeof *g->start);
    int64_t *tied = malloc((size_t)capacity * sizeof *tied);
    enum gbm_status s = GBM_OK;
    if (!g->start || !tied)
        goto no_memory;
    g->edges = visit_pairs(in, step, state, g, tied);
    if (g->edges > MAX_EDGES)
        goto done;
    for (int64_t i = 0; i < g->n; i++)
        g->start[i + 1] += g->start[i];
    int64_t total = g->start[g->n];
    g->neighbour = malloc((size_t)(total ? total : 1) * sizeof(int));
    if (!g->neighbour)
        goto no_memory;
    visit_pairs(in, step, state, g, tied);
    for (int64_t i = g->n; i > 0; i--)
        g->start[i] = g->start[i - 1];
    g->start[0] = 0;
    goto done;
no_memory:
    s = rt_fail(rt, GBM_FAILURE, "no memory to colour the elements of %s",
                step->variable);
done:
    free(tied);
    return s;
}

/* colours[e]: the least that none of its neighbours has; used: a cell for each
 * colour and one more. Returns how many there are. */
static int colour_greedily(const struct graph *g, const struct rt_step *step,
                           int *colours, int64_t *used)
{
    int ncolours = 1;
    for (int64_t i = 0; i < g->n; i++)
        colours[i] = -1;
    for (int64_t i = 0; i <= g->n; i++)
        used[i] = -1; /* last vertex that saw it */
    for (int64_t k = 0; k < step->count; k++) {
        int64_t e = step->elements ? step->elements[k] : k;
        int c = 0;
        for (int64_t i = g->start[e]; i < g->start[e + 1]; i++)
            if (colours[g->neighbour[i]] >= 0)
                used[colours[g->neighbour[i]]] = e;
        while (used[c] == e)
            c++;
        colours[e] = c;
        if (c + 1 > ncolours)
            ncolours = c + 1;
    }
    return ncolours;
}

/* Sorts the step's list by colour; colours[e] of element e is below ncolours.
 * Returns false if there is no memory. */
static bool sort_by_colour(struct rt_step *out, const int *colours,
                           int ncolours)
{
    int *sorted = malloc((size_t)(out->count ? out->count : 1) * sizeof(int));
    int64_t *starts = calloc((size_t)ncolours + 2, sizeof *starts);
    if (!sorted || !starts) {
        free(sorted);
        free(starts);
        return false;
    }
    for (int64_t k = 0; k < out->count; k++)
        starts[colours[out->elements ? out->elements[k] : k] + 2]++;
    for (int c = 0; c < ncolours; c++)
        starts[c + 2] += starts[c + 1];
    for (int64_t k = 0; k < out->count; k++) {
        int e = out->elements ? out->elements[k] : (int)k;
        sorted[starts[colours[e] + 1]++] = e;
    }
    free(out->colour);
    out->colour = starts;
    out->ncolours = ncolours;
    free(out->elements);
    out->elements = sorted;
    return true;
}

/* Greedy colouring in the order of the elements. */
static enum gbm_status colour(struct rt *rt, const struct rt_instance *in,
                              const struct gbm_step *step, const void *state,
                              struct rt_step *out)
{
    struct graph g = {0};
    enum gbm_status s = build_graph(rt, in, step, state, &g);
    if (s != GBM_OK || g.edges > MAX_EDGES) {
        out->sequential = true;
        free(g.start);
        return s;
    }
    size_t n = (size_t)(g.n ? g.n : 1);
    int *colours = malloc(n * sizeof *colours);
    int64_t *used = malloc((n + 1) * sizeof *used);
    if (!colours || !used ||
        !sort_by_colour(out, colours, colour_greedily(&g, out, colours, used)))
        s = rt_fail(rt, GBM_FAILURE, "no memory to colour the elements of %s",
                    step->variable);
    free(used);
    free(colours);
    free(g.neighbour);
    free(g.start);
    return s;
}

/* The first of each group have one colour, the second another, and so on. */
static enum gbm_status take_turns(struct rt *rt, const struct rt_instance *in,
                                  const struct gbm_step *step,
                                  const void *state, struct rt_step *out)
{
    const int64_t n = in->elements[step->family], group = step->in_turn(state);
    int *colours = malloc((size_t)(n ? n : 1) * sizeof *colours);
    for (int64_t e = 0; colours && e < n; e++)
        colours[e] = (int)(e % group);
    enum gbm_status s = GBM_OK;
    if (!colours || !sort_by_colour(out, colours, (int)group))
        s = rt_fail(rt, GBM_FAILURE, "no memory to order the elements of %s",
                    step->variable);
    free(colours);
    return s;
}

/* Whether barren elements alone are left of what the step would draw. */
static bool all_barren(const struct rt_instance *in,
                       const struct gbm_step *step, const void *state)
{
    const int *members = step->members ? step->members : &step->family;
    int n = step->members ? step->nmembers : 1;
    if (step->joint) {
        members = step->joint->families;
        n = step->joint->nfamilies;
    }
    struct rt_cells buffer = {0};
    bool some = false, all = true;
    for (int m = 0; m < n; m++) {
        const struct gbm_family *f = &in->model->families[members[m]];
        const struct rt_slot *slot = &in->slots[f->variable];
        for (int64_t e = 0; all && e < in->elements[members[m]]; e++) {
            bool forward = f->barren &&
                           rt_drawn_forward(in, state, members[m], e, &buffer);
            some = some || forward;
            int64_t k = forward ? 0 : rt_element_cells(f, state, e, &buffer);
            for (int64_t i = 0; i < k; i++)
                all = all && rt_seen(slot, buffer.cells[i]);
        }
    }
    free(buffer.cells);
    return some && all;
}

/* Whether some coordinate of a dense block is not data. */
static bool any_free(const struct rt_instance *in, const struct gbm_step *step,
                     const void *state)
{
    const int v = in->model->families[step->family].variable;
    const size_t d = (size_t)step->dense->dimension(state);
    if (!step->dense->fixed)
        return d > 0 && in->slots[v].per_chain;
    unsigned char *fixed = calloc(d + 1, 1); /* the last: an end */
    if (!fixed)
        abort();
    step->dense->fixed(state, fixed);
    bool any = memchr(fixed, 0, d + 1) != fixed + d;
    free(fixed);
    return any;
}

/* What is read only where a leaf is observed throughout, or only where it is
 * not, may never be. What a step makes due is not, where it draws nothing as
 * all is barren; for a kept sweep, where it draws nothing at all. */
static bool is_due(const struct rt_instance *in, const struct gbm_step *step)
{
    const struct rt_step *after =
        step->after ? &in->steps[step->after - 1] : NULL;
    if (after && in->model->steps[step->after - 1].otherwise && !after->active)
        return false;
    if (step->due_whole && in->slots[step->due_whole - 1].per_chain)
        return false;
    if (step->due_partly && !in->slots[step->due_partly - 1].per_chain)
        return false;
    return !after || (step->leaf ? after->active : !after->barren);
}

/* Whether a joint block draws what the step would. */
static bool by_joint_block(const struct rt_instance *in,
                           const struct gbm_step *step)
{
    return step->otherwise && !in->steps[step->otherwise - 1].apart;
}

static enum gbm_status plan_step(struct rt *rt, struct rt_instance *in,
                                 const struct gbm_step *step, const void *state,
                                 struct rt_step *out)
{
    enum gbm_status s = GBM_OK;
    switch (step->kind) {
    case GBM_STEP_INDEX:
        out->active =
            is_due(in, step) &&
            in->elements[in->model->inverses[step->inverse].family] > 0;
        return GBM_OK;
    case GBM_STEP_DENSE:
        out->barren = all_barren(in, step, state);
        out->active = !by_joint_block(in, step) && any_free(in, step, state) &&
                      !out->barren;
        return GBM_OK;
    case GBM_STEP_DERIVE:
        out->count = is_due(in, step) ? in->elements[step->family] : 0;
        break;
    case GBM_STEP_MAP:
        if (by_joint_block(in, step))
            break;
        if (step->joint) /* one element, if there is anything to draw */
            out->count = in->slots[step->joint->table].cells > 0;
        else if (step->whole)
            out->count = whole_is_latent(in, step, state);
        else
            s = list_elements(rt, in, step, state, out);
        break;
    }
    out->active = out->count > 0;
    if (!out->active && step->kind == GBM_STEP_MAP && !step->leaf)
        out->barren = all_barren(in, step, state);
    out->sequential = step->sequential;
    out->ncolours = 1;
    out->colour = calloc(2, sizeof *out->colour);
    if (!out->colour)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    out->colour[1] = out->count;
    if (s == GBM_OK && out->active && step->nconflicts > 0 && !step->sequential)
        s = colour(rt, in, step, state, out);
    if (s == GBM_OK && out->active && step->in_turn)
        s = take_turns(rt, in, step, state, out);
    return s;
}

enum gbm_status rt_plan(struct rt *rt, struct rt_instance *in)
{
    void *state = calloc(1, in->model->state_size + 1);
    enum gbm_status s = GBM_OK;
    if (!state)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt_bind(in, state, 0);
    for (int k = 0; s == GBM_OK && k < in->model->nsteps; k++)
        s = plan_step(rt, in, &in->model->steps[k], state, &in->steps[k]);
    free(state);
    return s;
}
