/* joint_rows.c: what a joint block's rows read: its coordinates, numbered, and
 * held values; the graph of its precision, and its links to held values. */
#include "load/joint_layout.h"
#include "real.h" /* of stdlib, in double */
#include "joint.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- coordinates ---- */

bool rt_joint_number_coordinates(struct layout *l, bool apart)
{
    const struct gbm_joint_block *b = l->block;
    struct rt_cells buffer = {0};
    l->number = calloc((size_t)b->nvariables + 1, sizeof *l->number);
    if (!l->number)
        return false;
    for (int v = 0; v < b->nvariables; v++) {
        const struct rt_slot *slot = &l->in->slots[b->variables[v]];
        rt_ints_add(&l->first, l->d);
        l->number[v] = malloc(((size_t)slot->cells + 1) * sizeof(int));
        if (!l->number[v])
            return false;
        for (int64_t i = 0; i < slot->cells; i++)
            l->number[v][i] = -1;
        for (int f = 0; f < b->nfamilies; f++) {
            const struct gbm_family *fam =
                &l->in->model->families[b->families[f]];
            if (fam->variable != b->variables[v] || (apart && b->apart[f]))
                continue;
            for (int64_t e = 0; e < l->in->elements[b->families[f]]; e++) {
                int64_t n = rt_element_cells(fam, l->state, e, &buffer);
                for (int64_t i = 0; i < n; i++) {
                    int64_t cell = buffer.cells[i];
                    if (rt_seen(slot, cell) || rt_barren(slot, cell) ||
                        l->number[v][cell] >= 0)
                        continue;
                    l->number[v][cell] = l->d++;
                    rt_ints_add(&l->where, cell);
                }
            }
        }
    }
    rt_ints_add(&l->first, l->d);
    free(buffer.cells);
    return !l->where.failed && !l->first.failed;
}

static int place_of(struct layout *l, int variable, int64_t cell)
{
    if (cell < 0)
        return -1;
    int *number = &l->number[variable][cell];
    if (*number == -1) {
        *number = HELD((int)l->held_where.n);
        rt_ints_add(&l->held_variable, variable);
        rt_ints_add(&l->held_where, cell);
    }
    return *number;
}

/* ---- rows ---- */

/* The rows of a vector's scattered weights: the pairs (a, b), b <= a, of which
 * one is not 0. */
static bool list_scattered(struct layout *l, struct term *t)
{
    const int64_t n = t->term->extent(l->state);
    const int64_t instances = l->in->elements[t->term->family];
    double *cells = malloc(((size_t)(n * n) + 1) * sizeof *cells);
    bool ok = cells != NULL;
    rt_ints_add(&t->begin, 0);
    for (int64_t v = 0; ok && v < instances; v++) {
        memset(cells, 0, (size_t)(n * n) * sizeof *cells);
        t->term->scatter(l->state, v, cells);
        int64_t used = 0;
        for (int64_t i = 0; i < n * n; i++)
            used += cells[i] != 0;
        double *weight = realloc(t->weight, (size_t)(t->weights + used + 1) *
                                                sizeof *weight);
        ok = weight != NULL;
        t->weight = ok ? weight : t->weight;
        for (int64_t i = 0; ok && i < n * n; i++) {
            int variable[2], place[2];
            int64_t cell[2];
            const int64_t e = v * n * n + i;
            if (cells[i] == 0 || i % n > i / n)
                continue;
            const int places = t->term->slots(l->state, e, variable, cell, 2);
            bool moves = false;
            for (int k = 0; k < places; k++) {
                place[k] = place_of(l, variable[k], cell[k]);
                moves = moves || place[k] >= 0;
            }
            if (!moves) {
                t->left_out++;
                continue;
            }
            for (int k = 0; k < places; k++)
                rt_ints_add(&t->place, place[k]);
            rt_ints_add(&t->element, e);
            rt_ints_add(&t->begin, t->place.n);
            t->weight[t->weights++] = cells[i];
        }
    }
    free(cells);
    return ok && !t->place.failed && !t->begin.failed && !t->element.failed;
}

/* Room for the cells of a row. */
struct row_cells {
    int capacity, *variable;
    int64_t *cell;
};

static bool row_cells_grow(struct row_cells *r, int capacity)
{
    free(r->variable);
    free(r->cell);
    r->capacity = capacity;
    r->variable = malloc((size_t)capacity * sizeof *r->variable);
    r->cell = malloc((size_t)capacity * sizeof *r->cell);
    return r->variable && r->cell;
}

static void row_cells_free(struct row_cells *r)
{
    free(r->variable);
    free(r->cell);
}

/* Adds the places of an element's row. Returns their number, or -1 if it does
 * not count; *moves: some is a coordinate. */
static int add_places(struct layout *l, struct term *t, int64_t element,
                      struct row_cells *r, bool *moves)
{
    int n =
        t->term->slots(l->state, element, r->variable, r->cell, r->capacity);
    if (n > r->capacity) {
        if (!row_cells_grow(r, 2 * n)) {
            l->failed = true;
            return -1;
        }
        n = t->term->slots(l->state, element, r->variable, r->cell,
                           r->capacity);
    }
    for (int i = 0; i < n; i++) {
        int place = place_of(l, r->variable[i], r->cell[i]);
        *moves = *moves || place >= 0;
        rt_ints_add(&t->place, place);
    }
    return n;
}

static void end_row(struct term *t, int64_t element)
{
    rt_ints_add(&t->element, element);
    rt_ints_add(&t->begin, t->place.n);
}

int64_t rt_joint_pairs_of(const struct term *t)
{
    return (int64_t)t->components * (t->components - 1) / 2;
}

/* The row of component a of the i-th instance. */
int64_t rt_joint_row_of_component(const struct term *t, int64_t i, int a)
{
    const bool behind = t->term->common_weight && i > 0;
    return i * t->components + a + (behind ? rt_joint_pairs_of(t) : 0);
}

/* The row with the weight of components a and b of the i-th instance. */
int rt_joint_row_of_pair(const struct term *t, int64_t i, int a, int b)
{
    const int64_t n = t->components;
    if (t->term->common_weight)
        i = 0;
    if (a == b)
        return (int)(i * n + a);
    const int64_t first = t->term->common_weight ? n : t->instances * n;
    const int more = a > b ? a : b, less = a > b ? b : a;
    return (int)(first + i * rt_joint_pairs_of(t) + more * (more - 1) / 2 +
                 less);
}

/* Rows of the pairs of different components of instance v. */
static void list_pairs(struct term *t, int64_t v)
{
    const int64_t n = t->components;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < a; b++)
            end_row(t, (v * n + a) * n + b);
}

static bool list_forms(struct layout *l, struct term *t)
{
    const int64_t n = t->components = t->term->extent(l->state);
    struct row_cells cells = {0};
    bool ok = row_cells_grow(&cells, 64);
    rt_ints_add(&t->begin, 0);
    for (int64_t v = 0; ok && v < l->in->elements[t->term->family]; v++) {
        const int64_t places = t->place.n, rows = t->element.n;
        bool counts = true, moves = false;
        for (int64_t a = 0; counts && a < n; a++) {
            const int64_t e = (v * n + a) * n + a;
            counts = add_places(l, t, e, &cells, &moves) >= 0;
            end_row(t, e);
        }
        ok = !l->failed && !t->begin.failed && t->element.n < INT_MAX - n * n;
        if (counts && moves) {
            if (t->instances++ == 0 && t->term->common_weight)
                list_pairs(t, v);
            continue;
        }
        t->place.n = places;
        t->element.n = rows;
        t->begin.n = rows + 1;
        t->left_out += counts;
    }
    row_cells_free(&cells);
    for (int64_t i = 0; ok && i < t->instances && !t->term->common_weight;
         i++) {
        list_pairs(t, t->element.items[i * n] / (n * n));
        ok = !t->begin.failed && t->element.n < INT_MAX - n * n;
    }
    return ok && !t->place.failed && !t->begin.failed && !t->element.failed;
}

bool rt_joint_list_rows(struct layout *l, struct term *t)
{
    if (t->term->scatter)
        return list_scattered(l, t);
    if (t->term->forms)
        return list_forms(l, t);
    struct row_cells cells = {0};
    bool ok = row_cells_grow(&cells, 64);
    int64_t count = l->in->elements[t->term->family];
    if (t->term->extent) {
        const int64_t n = t->term->extent(l->state);
        count *= n * n;
    }
    rt_ints_add(&t->begin, 0);
    for (int64_t e = 0; ok && e < count; e++) {
        bool moves = false;
        int64_t before = t->place.n;
        const int n = add_places(l, t, e, &cells, &moves);
        ok = !l->failed;
        if (!moves) {
            t->place.n = before;
            t->left_out += n > 0;
            continue;
        }
        end_row(t, e);
    }
    row_cells_free(&cells);
    return ok && !t->place.failed && !t->begin.failed && !t->element.failed;
}

static bool same_places(const struct term *t, int64_t a, int64_t b)
{
    int n = t->begin.items[a + 1] - t->begin.items[a];
    return n == t->begin.items[b + 1] - t->begin.items[b] &&
           memcmp(t->place.items + t->begin.items[a],
                  t->place.items + t->begin.items[b],
                  (size_t)n * sizeof(int)) == 0;
}

struct edges {
    int64_t *items, n, capacity;
    bool failed;
};

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void unique_edges(struct edges *e)
{
    int64_t kept = 0;
    if (e->n)
        qsort(e->items, (size_t)e->n, sizeof *e->items, by_number);
    for (int64_t i = 0; i < e->n; i++)
        if (i == 0 || e->items[i] != e->items[i - 1])
            e->items[kept++] = e->items[i];
    e->n = kept;
}

static void add_edge(struct edges *e, int a, int b)
{
    if (e->n == e->capacity) {
        unique_edges(e);
        if (2 * e->n > e->capacity || !e->items) {
            int64_t capacity = e->capacity ? 2 * e->capacity : 1024;
            int64_t *items =
                capacity > MOST
                    ? NULL
                    : realloc(e->items, (size_t)capacity * sizeof *items);
            if (!items) {
                e->failed = true;
                return;
            }
            e->items = items;
            e->capacity = capacity;
        }
    }
    e->items[e->n++] = (int64_t)a << 32 | (unsigned)b;
}

static void add_edge_of_places(struct edges *e, const struct term *t, int i,
                               int j)
{
    int a = t->place.items[i], b = t->place.items[j];
    if (a >= 0 && b >= 0 && a != b)
        add_edge(e, a < b ? a : b, a < b ? b : a);
}

/* All coordinates of an instance's components meet. */
static void edges_of_forms(struct edges *e, const struct term *t)
{
    const int n = t->components;
    for (int64_t k = 0; k < t->instances && !e->failed; k++) {
        const int *begin = t->begin.items + rt_joint_row_of_component(t, k, 0);
        bool same = k > 0;
        for (int a = 0; same && a < n; a++)
            same = same_places(t, rt_joint_row_of_component(t, k, a),
                               rt_joint_row_of_component(t, k - 1, a));
        for (int i = begin[0]; !same && i < begin[n]; i++)
            for (int j = begin[0]; j < i; j++)
                add_edge_of_places(e, t, i, j);
    }
}

static void edges_of_term(struct edges *e, const struct term *t)
{
    if (t->term->forms) {
        edges_of_forms(e, t);
        return;
    }
    for (int64_t r = 0; r < t->element.n && !e->failed; r++) {
        if (r > 0 && same_places(t, r, r - 1))
            continue;
        for (int i = t->begin.items[r]; i < t->begin.items[r + 1]; i++)
            for (int j = t->begin.items[r]; j < i; j++)
                add_edge_of_places(e, t, i, j);
    }
}

/* Which coordinates meet in some row. */
bool rt_joint_build_graph(struct layout *l)
{
    struct edges e = {0};
    for (int k = 0; k < l->block->nterms; k++)
        edges_of_term(&e, &l->terms[k]);
    unique_edges(&e);
    l->start = calloc((size_t)l->d + 2, sizeof *l->start);
    l->neighbour = malloc((size_t)(2 * e.n + 1) * sizeof *l->neighbour);
    if (!l->start || !l->neighbour || e.failed) {
        free(e.items);
        return false;
    }
    for (int64_t i = 0; i < e.n; i++) {
        l->start[(e.items[i] >> 32) + 2]++;
        l->start[(e.items[i] & 0x7fffffff) + 2]++;
    }
    for (int k = 0; k < l->d; k++)
        l->start[k + 2] += l->start[k + 1];
    for (int64_t i = 0; i < e.n; i++) {
        int64_t a = e.items[i] >> 32, b = e.items[i] & 0x7fffffff;
        l->neighbour[l->start[a + 1]++] = (int)b;
        l->neighbour[l->start[b + 1]++] = (int)a;
    }
    free(e.items);
    return true;
}

/* ---- links to held values ---- */

/* The coordinates and held values of places first..end meet. */
static void links_of_places(struct edges *e, const struct term *t, int first,
                            int end)
{
    for (int i = first; i < end; i++)
        for (int j = first; j < end; j++)
            if (t->place.items[i] >= 0 && t->place.items[j] <= HELD(0))
                add_edge(e, t->place.items[i], HELD(t->place.items[j]));
}

bool rt_joint_build_links(struct layout *l, struct links *links)
{
    struct edges e = {0};
    for (int k = 0; k < l->block->nterms; k++) {
        const struct term *t = &l->terms[k];
        const int64_t rows = t->term->forms ? t->instances : t->element.n;
        const int step = t->term->forms ? t->components : 1;
        for (int64_t r = 0; r < rows; r++) {
            const int64_t row =
                t->term->forms ? rt_joint_row_of_component(t, r, 0) : r;
            links_of_places(&e, t, t->begin.items[row],
                            t->begin.items[row + step]);
        }
    }
    unique_edges(&e);
    links->pair = e.items;
    links->n = e.n;
    for (int64_t i = 0; i < e.n; i++) {
        rt_ints_add(&l->link_row, l->symbolic.at[e.items[i] >> 32]);
        rt_ints_add(&l->link_held, e.items[i] & 0x7fffffff);
    }
    return !e.failed && !l->link_row.failed && !l->link_held.failed;
}

int64_t rt_joint_link_cell(const struct layout *l, const struct links *links,
                           int a, int held)
{
    int64_t key = (int64_t)a << 32 | (unsigned)held;
    const int64_t *found =
        bsearch(&key, links->pair, (size_t)links->n, sizeof key, by_number);
    return found ? l->symbolic.cells + (found - links->pair) : -1;
}
