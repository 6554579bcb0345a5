/* graph.c: the graph of elements, where the order of the statements and their
 * loops does not tell which is computed first: cycles, an order, and elements
 * with two definitions. */
#include "rt.h"

#include <stdlib.h>
#include <string.h>

/* Depth-first search; a vertex is an element of a chosen family. */
enum colour { WHITE, GREY, BLACK };

struct search {
    struct rt *rt;
    const struct rt_instance *in;
    const void *state;
    int64_t *first;        /* [nfamilies + 1]: vertex of element 0 */
    int64_t **definer;     /* [nvariables][cells]: vertex + 1, 0: none. NULL:
                              no family of the variable is chosen */
    unsigned char *colour; /* [vertices] */
    int64_t *stack;        /* vertices to visit; below a grey one, its own */
    int64_t depth, capacity;
    bool failed; /* no memory */
    enum gbm_status (*use)(void *, int, int64_t);
    void *context;
};

static void push(struct search *s, int64_t vertex)
{
    if (s->depth == s->capacity) {
        int64_t more = s->capacity ? 2 * s->capacity : 1024;
        int64_t *stack = realloc(s->stack, (size_t)more * sizeof *stack);
        if (!stack) {
            s->failed = true;
            return;
        }
        s->stack = stack;
        s->capacity = more;
    }
    s->stack[s->depth++] = vertex;
}

static void read_cell(void *context, int variable, int64_t cell)
{
    struct search *s = context;
    const int64_t *definer = s->definer[variable];
    if (definer && definer[cell])
        push(s, definer[cell] - 1);
}

static int family_of(const struct search *s, int64_t vertex)
{
    int f = 0;
    while (s->first[f + 1] <= vertex)
        f++;
    return f;
}

static void element_name(const struct search *s, int f, int64_t element,
                         char *out, size_t capacity)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    const struct gbm_variable *v = &s->in->model->variables[fam->variable];
    struct rt_cells buffer = {0};
    if (rt_element_cells(fam, s->state, element, &buffer) > 0)
        gbm_cell_name(v->name, v->ndim, s->in->slots[fam->variable].dim,
                      buffer.cells[0], out, capacity);
    else
        snprintf(out, capacity, "%s", v->name);
    free(buffer.cells);
}

static void vertex_name(const struct search *s, int64_t vertex, char *out,
                        size_t capacity)
{
    int f = family_of(s, vertex);
    element_name(s, f, vertex - s->first[f], out, capacity);
}

/* The grey vertices on the stack are the path to the one at hand, which reads
 * `again`, one of them. */
static enum gbm_status fail_cycle(const struct search *s, int64_t again)
{
    char path[512] = "", name[256];
    size_t at = 0;
    int64_t k = s->depth - 1;
    int shown = 0;
    while (s->stack[k] != again)
        k--;
    for (; k < s->depth; k++) {
        int64_t v = s->stack[k];
        bool waits = s->colour[v] != GREY; /* or is there again, higher up */
        for (int64_t j = k + 1; j < s->depth && !waits; j++)
            waits = s->stack[j] == v;
        if (waits)
            continue;
        if (++shown == 8)
            at += (size_t)snprintf(path + at, sizeof path - at, "... <- ");
        if (shown >= 8)
            continue;
        vertex_name(s, v, name, sizeof name);
        at += (size_t)snprintf(path + at, sizeof path - at, "%.50s <- ", name);
    }
    vertex_name(s, again, name, sizeof name);
    return rt_fail(s->rt, GBM_USER_ERROR,
                   "%s: a cycle in the graph: %s depends on itself (%s%.50s)",
                   s->in->model->families[family_of(s, again)].where, name,
                   path, name);
}

static enum gbm_status search_from(struct search *s, int64_t root)
{
    push(s, root);
    while (s->depth > 0 && !s->failed) {
        int64_t v = s->stack[s->depth - 1];
        int f = family_of(s, v);
        if (s->colour[v] != WHITE) {
            s->depth--;
            if (s->colour[v] == BLACK)
                continue;
            s->colour[v] = BLACK;
            enum gbm_status used =
                s->use ? s->use(s->context, f, v - s->first[f]) : GBM_OK;
            if (used != GBM_OK)
                return used;
            continue;
        }
        s->colour[v] = GREY;
        int64_t own = s->depth;
        s->in->model->families[f].reads(s->state, v - s->first[f], read_cell,
                                        s);
        int64_t kept = own;
        for (int64_t k = own; k < s->depth && !s->failed; k++) {
            int64_t w = s->stack[k];
            if (s->colour[w] == GREY) {
                s->depth = own; /* which v is the last of */
                return fail_cycle(s, w);
            }
            if (s->colour[w] == WHITE)
                s->stack[kept++] = w;
        }
        s->depth = kept;
    }
    return s->failed
               ? rt_fail(s->rt, GBM_FAILURE, "no memory to order the elements")
               : GBM_OK;
}

/* Tells which vertex defines each cell of the chosen families' variables. */
static enum gbm_status find_definers(struct search *s, const bool *chosen)
{
    struct rt_cells buffer = {0};
    enum gbm_status status = GBM_OK;
    for (int f = 0; f < s->in->model->nfamilies; f++) {
        const struct gbm_family *fam = &s->in->model->families[f];
        int64_t **definer = &s->definer[fam->variable];
        if (!chosen[f])
            continue;
        size_t cells = (size_t)s->in->slots[fam->variable].cells;
        if (!*definer)
            *definer = calloc(cells ? cells : 1, sizeof **definer);
        if (!*definer) {
            status =
                rt_fail(s->rt, GBM_FAILURE, "no memory to order the elements");
            break;
        }
        for (int64_t e = 0; e < s->in->elements[f]; e++) {
            int64_t n = rt_element_cells(fam, s->state, e, &buffer);
            for (int64_t i = 0; i < n; i++)
                (*definer)[buffer.cells[i]] = s->first[f] + e + 1;
        }
    }
    free(buffer.cells);
    return status;
}

enum gbm_status rt_in_order(struct rt *rt, const struct rt_instance *in,
                            const void *state, const bool *chosen,
                            enum gbm_status (*use)(void *context, int family,
                                                   int64_t element),
                            void *context)
{
    const struct gbm_model *m = in->model;
    struct search s = {
        .rt = rt,
        .in = in,
        .state = state,
        .first = calloc((size_t)m->nfamilies + 1, sizeof *s.first),
        .definer = calloc((size_t)m->nvariables + 1, sizeof *s.definer),
        .use = use,
        .context = context};
    enum gbm_status status = GBM_OK;
    if (s.first && s.definer) {
        for (int f = 0; f < m->nfamilies; f++)
            s.first[f + 1] = s.first[f] + (chosen[f] ? in->elements[f] : 0);
        s.colour = calloc((size_t)s.first[m->nfamilies] + 1, 1);
    }
    if (!s.colour)
        status = rt_fail(rt, GBM_FAILURE, "no memory to order the elements");
    else
        status = find_definers(&s, chosen);
    for (int64_t v = 0; status == GBM_OK && v < s.first[m->nfamilies]; v++)
        if (s.colour[v] == WHITE)
            status = search_from(&s, v);
    for (int v = 0; s.definer && v < m->nvariables; v++)
        free(s.definer[v]);
    free(s.definer);
    free(s.first);
    free(s.colour);
    free(s.stack);
    return status;
}

enum gbm_status rt_check_cycles(struct rt *rt, const struct rt_instance *in,
                                const void *state, int number)
{
    const struct gbm_model *m = in->model;
    bool *chosen = calloc((size_t)m->nfamilies + 1, sizeof *chosen);
    if (!chosen)
        return rt_fail(rt, GBM_FAILURE, "no memory to order the elements");
    for (int f = 0; f < m->nfamilies; f++)
        chosen[f] = m->families[f].component == number;
    enum gbm_status s = rt_in_order(rt, in, state, chosen, NULL, NULL);
    free(chosen);
    return s;
}

/* ---- two definitions ---- */

static enum gbm_status fail_twice(struct rt *rt, const struct rt_instance *in,
                                  int v, int64_t cell, int f, int g)
{
    const struct gbm_variable *variable = &in->model->variables[v];
    const struct gbm_family *families = in->model->families;
    char name[256];
    gbm_cell_name(variable->name, variable->ndim, in->slots[v].dim, cell, name,
                  sizeof name);
    if (f == g)
        return rt_fail(rt, GBM_USER_ERROR, "%s: %s is defined twice by %s",
                       families[f].where, name, families[f].text);
    return rt_fail(rt, GBM_USER_ERROR,
                   "%s: %s is defined twice: by %s, and by %s at %s",
                   families[g].where, name, families[g].text, families[f].text,
                   families[f].where);
}

enum gbm_status rt_check_twice(struct rt *rt, const struct rt_instance *in,
                               const void *state, int v)
{
    const struct gbm_model *m = in->model;
    struct rt_cells buffer = {0};
    enum gbm_status s = GBM_OK;
    size_t n = (size_t)in->slots[v].cells + 1;
    int *definer[2] = {NULL, NULL}; /* family + 1 */
    for (int f = 0; s == GBM_OK && f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        if (fam->variable != v || !fam->repeats)
            continue;
        int **own = &definer[fam->repeats == 2];
        if (!*own && !(*own = calloc(n, sizeof **own)))
            s = rt_fail(rt, GBM_FAILURE, "no memory");
        for (int64_t e = 0; s == GBM_OK && e < in->elements[f]; e++) {
            int64_t k = rt_element_cells(fam, state, e, &buffer);
            for (int64_t i = 0; s == GBM_OK && i < k; i++) {
                int *cell = &(*own)[buffer.cells[i]];
                if (*cell)
                    s = fail_twice(rt, in, v, buffer.cells[i], *cell - 1, f);
                *cell = f + 1;
            }
        }
    }
    free(buffer.cells);
    free(definer[0]);
    free(definer[1]);
    return s;
}
