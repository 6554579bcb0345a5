/* joint.c: lays out a joint Gaussian block at load (stdlib/kernels/joint.h):
 * numbers its coordinates, collects the pattern of its precision from the rows
 * of its terms, has it ordered and factored symbolically, sums what is
 * constant, and lists for every cell the rows that it gathers. */
#include "load/load.h"
#include "load/symbolic.h"
#include "real.h" /* of stdlib, in double */
#include "joint.h"
#include "curved_block.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A row's places name coordinates from 0, held values as -2, -3, ..., and -1
 * for none. */
#define HELD(h) (-2 - (h))

/* Contributions of rows to cells beyond this are too many to be listed. */
#define MOST ((int64_t)1 << 29)

struct term {
    const struct gbm_joint_term *term;
    bool fixed_weight, fixed_score, fixed_design, fixed_offset;
    struct rt_ints element, begin, place;
    double *weight; /* of the rows, if they are scattered; or NULL */
    int64_t weights;
    int left_out; /* elements without a row, as nothing of theirs moves */
    /* forms: components, and the instances that have rows: those of their
     * components, instance by instance, and the pairs of different components:
     * of the first instance, if their weights are common to all, and behind it;
     * else of all, and behind them */
    int components;
    int64_t instances;
    double *offset; /* of the instances' components, if it is data; or NULL */
    /* rows of one weight: [rows] the first of those like it, and all of them
     * with those alike together; or NULL */
    int *first_alike, *in_order;
};

/* One contribution to a cell of Q or b. */
struct share {
    int row, left, right;
};

/* They are gone through twice, as they may be many: counted cell by cell, then
 * listed, or summed where rows' coefficients and weights (by) are known. Where
 * the coefficients alone are, those of one row, or of rows alike, that follow
 * each other in a cell are one. */
struct shares {
    struct share *items;
    double *value; /* of the items, if coefficients are known */
    double *sum;   /* of the cells */
    int *last;     /* [cells] row of the last one, from 1 */
    const double *design, *by;
    const int *first_alike; /* [rows], or NULL */
    /* [cells]: how many a cell has, then where its next one goes */
    int64_t *at;
    int64_t n;
};

struct layout {
    struct rt *rt;
    struct rt_instance *in;
    const struct gbm_joint_block *block;
    const void *state;
    int **number; /* [nvariables][cells]: a row's place of the cell */
    struct rt_ints first, where, held_variable, held_where;
    int d;
    struct term *terms;
    int64_t *start; /* the graph of Q */
    int *neighbour;
    struct rt_symbolic symbolic;
    struct rt_ints link_row, link_held;
    struct rt_ints table;
    double *constant;
    int64_t nconstant, constants;
    int64_t work;
    bool failed;
};

static void add_constant(struct layout *l, double value)
{
    if (l->nconstant == l->constants) {
        int64_t n = l->constants ? 2 * l->constants : 64;
        double *c = realloc(l->constant, (size_t)n * sizeof *c);
        if (!c) {
            l->failed = true;
            return;
        }
        l->constant = c;
        l->constants = n;
    }
    l->constant[l->nconstant++] = value;
}

static void add_value(struct shares *s, int64_t to, int64_t row, int64_t left,
                      int64_t right, double value)
{
    if (s->sum) {
        s->sum[to] += s->by[row] * value;
        return;
    }
    if (s->first_alike)
        row = s->first_alike[row];
    const bool again = s->last && s->last[to] == row + 1;
    if (s->last)
        s->last[to] = (int)(row + 1);
    if (!s->items) {
        s->at[to] += !again;
        s->n += !again;
    } else if (again) {
        s->value[s->at[to] - 1] += value;
    } else {
        const int64_t i = s->at[to]++;
        s->items[i] = (struct share){(int)row, (int)left, (int)right};
        if (s->value)
            s->value[i] = value;
    }
}

static void add_share(struct shares *s, int64_t to, int64_t row, int64_t left,
                      int64_t right)
{
    double value = s->design ? s->design[left] : 0;
    if (s->design && right >= 0)
        value *= s->design[right];
    add_value(s, to, row, left, right, value);
}

/* ---- coordinates ---- */

static bool number_coordinates(struct layout *l)
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
            if (fam->variable != b->variables[v])
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

static int64_t pairs_of(const struct term *t)
{
    return (int64_t)t->components * (t->components - 1) / 2;
}

/* The row of component a of the i-th instance. */
static int64_t row_of_component(const struct term *t, int64_t i, int a)
{
    const bool behind = t->term->common_weight && i > 0;
    return i * t->components + a + (behind ? pairs_of(t) : 0);
}

/* The row with the weight of components a and b of the i-th instance. */
static int row_of_pair(const struct term *t, int64_t i, int a, int b)
{
    const int64_t n = t->components;
    if (t->term->common_weight)
        i = 0;
    if (a == b)
        return (int)(i * n + a);
    const int64_t first = t->term->common_weight ? n : t->instances * n;
    const int more = a > b ? a : b, less = a > b ? b : a;
    return (int)(first + i * pairs_of(t) + more * (more - 1) / 2 + less);
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

static bool list_rows(struct layout *l, struct term *t)
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
        const int *begin = t->begin.items + row_of_component(t, k, 0);
        bool same = k > 0;
        for (int a = 0; same && a < n; a++)
            same = same_places(t, row_of_component(t, k, a),
                               row_of_component(t, k - 1, a));
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
static bool build_graph(struct layout *l)
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

struct links {
    int64_t *pair; /* coordinate << 32 | held, ascending */
    int64_t n;
};

/* The coordinates and held values of places first..end meet. */
static void links_of_places(struct edges *e, const struct term *t, int first,
                            int end)
{
    for (int i = first; i < end; i++)
        for (int j = first; j < end; j++)
            if (t->place.items[i] >= 0 && t->place.items[j] <= HELD(0))
                add_edge(e, t->place.items[i], HELD(t->place.items[j]));
}

static bool build_links(struct layout *l, struct links *links)
{
    struct edges e = {0};
    for (int k = 0; k < l->block->nterms; k++) {
        const struct term *t = &l->terms[k];
        const int64_t rows = t->term->forms ? t->instances : t->element.n;
        const int step = t->term->forms ? t->components : 1;
        for (int64_t r = 0; r < rows; r++) {
            const int64_t row = t->term->forms ? row_of_component(t, r, 0) : r;
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

static int64_t link_cell(const struct layout *l, const struct links *links,
                         int a, int held)
{
    int64_t key = (int64_t)a << 32 | (unsigned)held;
    const int64_t *found =
        bsearch(&key, links->pair, (size_t)links->n, sizeof key, by_number);
    return found ? l->symbolic.cells + (found - links->pair) : -1;
}

/* ---- what the rows contribute ---- */

static int64_t cell_of_pair(const struct layout *l, const struct links *links,
                            int a, int b)
{
    if (a >= 0 && b >= 0)
        return rt_symbolic_cell(&l->symbolic, l->symbolic.at[a],
                                l->symbolic.at[b]);
    if (a >= 0 && b <= HELD(0))
        return link_cell(l, links, a, HELD(b));
    if (b >= 0 && a <= HELD(0))
        return link_cell(l, links, b, HELD(a));
    return -1;
}

/* Calls of a term's contributions to Q: cell, row, places of the two
 * coefficients. Two different places of one coordinate meet twice on the
 * diagonal. */
static void shares_of_precision(const struct layout *l,
                                const struct links *links, const struct term *t,
                                int64_t row, struct shares *out)
{
    const int first = t->begin.items[row], end = t->begin.items[row + 1];
    for (int i = t->term->extent ? end - 1 : first; i < end; i++)
        for (int j = first; j <= (t->term->extent ? first : i); j++) {
            int a = t->place.items[i], b = t->place.items[j];
            int64_t to = cell_of_pair(l, links, a, b);
            if (to < 0)
                continue;
            add_share(out, to, row, i, j);
            if (i != j && a == b)
                add_share(out, to, row, i, j);
        }
}

/* Of two components of an instance: their coefficients' products, which meet
 * twice where both are of one coordinate. */
static void shares_of_forms(const struct layout *l, const struct links *links,
                            const struct term *t, int64_t instance, int a,
                            int b, struct shares *out)
{
    const int row = row_of_pair(t, instance, a, b);
    const int *left = t->begin.items + row_of_component(t, instance, a);
    const int *right = t->begin.items + row_of_component(t, instance, b);
    for (int i = left[0]; i < left[1]; i++)
        for (int j = right[0]; j < (a == b ? i + 1 : right[1]); j++) {
            const int x = t->place.items[i], y = t->place.items[j];
            const int64_t to = cell_of_pair(l, links, x, y);
            if (to < 0)
                continue;
            add_share(out, to, row, i, j);
            if (i != j && x == y)
                add_share(out, to, row, i, j);
        }
}

/* What component a of an instance has from the offset of component b. */
static void shares_of_offset(const struct layout *l, const struct term *t,
                             int64_t instance, int a, int b, struct shares *out)
{
    const int row = row_of_pair(t, instance, a, b);
    const int *left = t->begin.items + row_of_component(t, instance, a);
    const double offset = t->offset[instance * t->components + b];
    for (int i = left[0]; i < left[1]; i++)
        if (t->place.items[i] >= 0)
            add_value(out, l->symbolic.at[t->place.items[i]], row, i, -1,
                      -out->design[i] * offset);
}

static void shares_of_potential(const struct layout *l, const struct term *t,
                                int64_t row, struct shares *out)
{
    if (t->term->extent && !t->term->forms &&
        t->begin.items[row + 1] - t->begin.items[row] == 2)
        return;
    for (int i = t->begin.items[row]; i < t->begin.items[row + 1]; i++)
        if (t->place.items[i] >= 0)
            add_share(out, l->symbolic.at[t->place.items[i]], row, i, -1);
}

struct cell_count {
    int cell;
    int64_t count;
};

static int most_first(const void *a, const void *b)
{
    const struct cell_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

/* Orders the cells that have shares, those with most first: `from` the place of
 * each one's first share. */
static bool order_cells(int64_t cells, struct shares *s, struct rt_ints *to,
                        struct rt_ints *from)
{
    int64_t used = 0, at = 0;
    for (int64_t c = 0; c < cells; c++)
        used += s->at[c] != 0;
    struct cell_count *order = malloc(((size_t)used + 1) * sizeof *order);
    if (!order)
        return false;
    used = 0;
    for (int64_t c = 0; c < cells; c++)
        if (s->at[c])
            order[used++] = (struct cell_count){(int)c, s->at[c]};
    qsort(order, (size_t)used, sizeof *order, most_first);
    for (int64_t i = 0; i < used; i++) {
        rt_ints_add(to, order[i].cell);
        rt_ints_add(from, at);
        s->at[order[i].cell] = at;
        at += order[i].count;
    }
    rt_ints_add(from, at);
    free(order);
    return !to->failed && !from->failed;
}

/* ---- the table ---- */

static int put(struct layout *l, const struct rt_ints *list)
{
    int at = (int)l->table.n;
    for (int64_t i = 0; i < list->n; i++)
        rt_ints_add(&l->table, list->items[i]);
    return at;
}

/* Where the parts of a list stand in the header of a term. */
struct fields {
    int count, to, from, row, left, right, value;
};
static const struct fields of_precision = {
    GBM_T_Q,      GBM_T_Q_TO,    GBM_T_Q_FROM, GBM_T_Q_ROW,
    GBM_T_Q_LEFT, GBM_T_Q_RIGHT, GBM_T_Q_VALUE};
static const struct fields of_potential = {
    GBM_T_B,      GBM_T_B_TO, GBM_T_B_FROM, GBM_T_B_ROW,
    GBM_T_B_LEFT, -1,         GBM_T_B_VALUE};

static void go_through(const struct layout *l, const struct links *links,
                       const struct term *t, const struct fields *f,
                       struct shares *s)
{
    if (f == &of_precision ? t->term->forms : t->offset != NULL) {
        for (int a = 0; a < t->components; a++)
            for (int b = 0; b < t->components; b++)
                for (int64_t i = 0; i < t->instances; i++)
                    if (f == &of_potential)
                        shares_of_offset(l, t, i, a, b, s);
                    else if (b <= a)
                        shares_of_forms(l, links, t, i, a, b, s);
        return;
    }
    for (int64_t r = 0; r < t->element.n; r++)
        if (f == &of_precision)
            shares_of_precision(l, links, t, t->in_order ? t->in_order[r] : r,
                                s);
        else
            shares_of_potential(l, t, r, s);
}

struct numbered_row {
    int64_t number;
    int row;
};

static int by_weight(const void *a, const void *b)
{
    const struct numbered_row *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Finds the rows that have one weight. */
static bool find_alike(const struct layout *l, struct term *t)
{
    const int64_t rows = t->element.n;
    struct numbered_row *sorted = malloc(((size_t)rows + 1) * sizeof *sorted);
    t->first_alike = malloc(((size_t)rows + 1) * sizeof *t->first_alike);
    t->in_order = malloc(((size_t)rows + 1) * sizeof *t->in_order);
    const bool ok = sorted && t->first_alike && t->in_order;
    for (int64_t r = 0; ok && r < rows; r++)
        sorted[r] = (struct numbered_row){
            t->term->alike(l->state, t->element.items[r]), (int)r};
    if (ok)
        qsort(sorted, (size_t)rows, sizeof *sorted, by_weight);
    for (int64_t i = 0, first = 0; ok && i < rows; i++) {
        if (sorted[i].number != sorted[first].number)
            first = i;
        t->in_order[i] = sorted[i].row;
        t->first_alike[sorted[i].row] = sorted[first].row;
    }
    free(sorted);
    return ok;
}

/* Writes a list: its cells, and of each its contributions, summed (by: the
 * rows' weights or scores) or not. design: of all rows, or NULL if it varies.
 */
static bool put_list(struct layout *l, const struct links *links,
                     const struct term *t, int header, const struct fields *f,
                     const double *design, const double *by)
{
    const int64_t cells =
        f == &of_precision ? l->symbolic.cells + links->n : l->d;
    struct rt_ints to = {0}, from = {0}, column[3] = {{0}, {0}, {0}};
    struct shares s = {.design = design, .by = by};
    const bool alike = f == &of_precision && !by && t->first_alike;
    const bool merged = design && !by && (t->term->forms || alike);
    s.first_alike = alike ? t->first_alike : NULL;
    s.at = calloc((size_t)cells + 1, sizeof *s.at);
    if (merged)
        s.last = calloc((size_t)cells + 1, sizeof *s.last);
    bool ok = s.at && (s.last || !merged);
    if (ok)
        go_through(l, links, t, f, &s);
    ok = ok && s.n <= MOST && order_cells(cells, &s, &to, &from);
    if (ok && by)
        s.sum = calloc((size_t)cells + 1, sizeof *s.sum);
    else if (ok)
        s.items = malloc(((size_t)s.n + 1) * sizeof *s.items);
    if (ok && design && !by)
        s.value = malloc(((size_t)s.n + 1) * sizeof *s.value);
    ok = ok && (s.sum || (s.items && (s.value || !design)));
    if (ok && merged)
        memset(s.last, 0, (size_t)cells * sizeof *s.last);
    if (ok)
        go_through(l, links, t, f, &s);
    for (int64_t i = 0; ok && !by && i < s.n; i++) {
        rt_ints_add(&column[0], s.items[i].row);
        if (!design) {
            rt_ints_add(&column[1], s.items[i].left);
            rt_ints_add(&column[2], s.items[i].right);
        }
    }
    if (ok) {
        int at_to = put(l, &to), at_from = put(l, &from);
        int at_row = put(l, &column[0]), at_left = put(l, &column[1]);
        int at_right = f->right >= 0 ? put(l, &column[2]) : 0;
        ok = !l->table.failed && l->nconstant < INT_MAX;
        if (ok) {
            int *h = l->table.items + header;
            h[f->count] = (int)to.n;
            h[f->to] = at_to;
            h[f->from] = at_from;
            h[f->row] = at_row;
            h[f->left] = at_left;
            if (f->right >= 0)
                h[f->right] = at_right;
            h[f->value] = (int)l->nconstant;
        }
    }
    for (int64_t c = 0; ok && by && c < to.n; c++)
        add_constant(l, s.sum[to.items[c]]);
    for (int64_t i = 0; ok && s.value && i < s.n; i++)
        add_constant(l, s.value[i]);
    rt_ints_free(&to);
    rt_ints_free(&from);
    for (int i = 0; i < 3; i++)
        rt_ints_free(&column[i]);
    free(s.at);
    free(s.last);
    free(s.value);
    free(s.sum);
    free(s.items);
    return ok && !l->failed;
}

/* Where the rows of a curved term find their values: of a coordinate, of a held
 * value (from d on), or nowhere. */
static void put_places(struct layout *l, const struct term *t, int header)
{
    struct rt_ints at = {0};
    for (int64_t i = 0; i < t->place.n; i++) {
        int place = t->place.items[i];
        rt_ints_add(&at, place >= 0         ? l->symbolic.at[place]
                         : place <= HELD(0) ? l->d + HELD(place)
                                            : -1);
    }
    int where = put(l, &at);
    l->table.failed = l->table.failed || at.failed;
    l->table.items[header + GBM_T_AT] = where;
    rt_ints_free(&at);
}

/* The offsets of a term that data alone settle, if the products of pairs are
 * summed by their common weights. */
static bool find_offsets(const struct layout *l, struct term *t)
{
    const int64_t n = t->components;
    if (!t->term->forms || !t->fixed_offset)
        return true;
    t->offset = malloc(((size_t)(t->instances * n) + 1) * sizeof *t->offset);
    for (int64_t i = 0; t->offset && i < t->instances; i++)
        for (int a = 0; a < n; a++)
            t->offset[i * n + a] = t->term->offset(
                l->state, t->element.items[row_of_component(t, i, a)]);
    return t->offset != NULL;
}

static bool put_term(struct layout *l, const struct links *links,
                     struct term *t, int header)
{
    int64_t rows = t->element.n, places = t->place.n;
    double *design = NULL, *weight = NULL, *score = NULL;
    bool ok = false, compute = !t->fixed_weight || !t->fixed_score;
    if (!find_offsets(l, t))
        return false;
    if (t->term->alike && t->fixed_design && !t->fixed_weight &&
        !find_alike(l, t))
        return false;
    int at = put(l, &t->element), begin = put(l, &t->begin);
    if (l->table.failed)
        return false;
    int *h = l->table.items + header;
    h[GBM_T_COUNT] = (int)rows;
    h[GBM_T_LEFT_OUT] = t->left_out;
    h[GBM_T_ROWS] =
        compute ? (int)(t->offset ? t->components + pairs_of(t) : rows) : 0;
    h[GBM_T_B_WEIGHTED] = t->offset != NULL;
    h[GBM_T_ELEMENT] = at;
    h[GBM_T_BEGIN] = begin;
    h[GBM_T_FIXED_WEIGHT] = t->fixed_weight;
    h[GBM_T_FIXED_SCORE] = t->fixed_score;
    h[GBM_T_FIXED_DESIGN] = t->fixed_design;
    if (compute) {
        h[GBM_T_WEIGHT] = (int)l->work;
        h[GBM_T_SCORE] = (int)(l->work + rows);
        h[GBM_T_DESIGN] = (int)(l->work + 2 * rows);
        l->work += 2 * rows + (t->fixed_design ? 0 : places);
    }
    if (t->term->curved) {
        h[GBM_T_CURVE] = (int)l->work;
        l->work += 4 * rows;
    }
    if (t->term->curved || t->term->listed)
        put_places(l, t, header);
    weight = malloc(((size_t)rows + 1) * sizeof *weight);
    score = malloc(((size_t)rows + 1) * sizeof *score);
    if (t->fixed_design)
        design = malloc(((size_t)places + 1) * sizeof *design);
    if (!weight || !score || (t->fixed_design && !design) || l->work > INT_MAX)
        goto done;
    for (int64_t r = 0; r < rows; r++) {
        int64_t e = t->element.items[r];
        score[r] = 0;
        if (t->weight)
            weight[r] = t->weight[r];
        else if (t->fixed_weight || t->fixed_score)
            t->term->row(l->state, e, &weight[r], &score[r]);
        if (design && t->term->design)
            t->term->design(l->state, e, design + t->begin.items[r]);
        for (int i = t->begin.items[r];
             design && !t->term->design && i < t->begin.items[r + 1]; i++)
            design[i] = 1;
    }
    if (t->term->extent && !t->term->forms) {
        const bool known = t->fixed_weight || t->fixed_score;
        bool centred = t->term->constant_score;
        l->table.items[header + GBM_T_COEFFICIENT] = (int)l->nconstant;
        for (int64_t r = 0; known && r < rows; r++) {
            add_constant(l, weight[r]);
            centred = centred && score[r] == 0;
        }
        l->table.items[header + GBM_T_CENTRED] = centred;
    } else if (design && (t->term->curved || t->term->listed)) {
        l->table.items[header + GBM_T_COEFFICIENT] = (int)l->nconstant;
        for (int64_t i = 0; i < places; i++)
            add_constant(l, design[i]);
    }
    ok = put_list(l, links, t, header, &of_precision, design,
                  t->fixed_weight ? weight : NULL) &&
         put_list(l, links, t, header, &of_potential, design,
                  !t->fixed_score ? NULL
                  : t->offset     ? weight
                                  : score);
done:
    free(design);
    free(weight);
    free(score);
    return ok;
}

static void put_header(struct layout *l)
{
    struct rt_symbolic *s = &l->symbolic;
    const struct {
        int field;
        const struct rt_ints *list;
    } lists[] = {{GBM_J_TREES, &s->trees},
                 {GBM_J_START, &s->start},
                 {GBM_J_ROW, &s->row},
                 {GBM_J_PLACE, &s->place},
                 {GBM_J_LEVEL_CELL, &s->level_cell},
                 {GBM_J_LEVEL_COLUMN, &s->level_column},
                 {GBM_J_COLUMN, &s->column},
                 {GBM_J_CELL, &s->cell},
                 {GBM_J_PRODUCT, &s->product},
                 {GBM_J_LEFT, &s->left},
                 {GBM_J_RIGHT, &s->right},
                 {GBM_J_ROW_START, &s->row_start},
                 {GBM_J_ROW_CELL, &s->row_cell},
                 {GBM_J_ROW_COLUMN, &s->row_column},
                 {GBM_J_FIRST, &l->first},
                 {GBM_J_WHERE, &l->where},
                 {GBM_J_LINK_ROW, &l->link_row},
                 {GBM_J_LINK_HELD, &l->link_held}};
    for (int i = 0; i < GBM_J_HEADER; i++)
        rt_ints_add(&l->table, 0);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int at = put(l, lists[i].list);
        l->table.items[lists[i].field] = at;
    }
    l->table.items[GBM_J_AT] = (int)l->table.n;
    for (int k = 0; k < l->d; k++)
        rt_ints_add(&l->table, s->at[k]);
}

/* Held values in the order of their variables: renumbers them. */
static void sort_held(struct layout *l, struct rt_ints *first)
{
    int64_t n = l->held_where.n;
    int *number = malloc(((size_t)n + 1) * sizeof *number);
    struct rt_ints where = {0};
    if (!number) {
        l->failed = true;
        return;
    }
    for (int v = 0; v < l->block->nvariables; v++) {
        rt_ints_add(first, where.n);
        for (int64_t h = 0; h < n; h++)
            if (l->held_variable.items[h] == v) {
                number[h] = (int)where.n;
                rt_ints_add(&where, l->held_where.items[h]);
            }
    }
    rt_ints_add(first, where.n);
    for (int k = 0; k < l->block->nterms; k++)
        for (int64_t i = 0; i < l->terms[k].place.n; i++) {
            int *place = &l->terms[k].place.items[i];
            if (*place <= HELD(0))
                *place = HELD(number[HELD(*place)]);
        }
    l->failed = l->failed || where.failed || first->failed;
    rt_ints_free(&l->held_where);
    l->held_where = where;
    free(number);
}

static bool put_table(struct layout *l)
{
    struct links links = {0};
    struct rt_ints held_first = {0};
    int nterms = l->block->nterms;
    sort_held(l, &held_first);
    bool ok = !l->failed && build_links(l, &links);
    if (!ok)
        goto done;
    put_header(l);
    int at_first = put(l, &held_first), at_where = put(l, &l->held_where);
    int terms = (int)l->table.n;
    for (int i = 0; i < nterms * GBM_T_SIZE; i++)
        rt_ints_add(&l->table, 0);
    ok = !l->table.failed;
    if (!ok)
        goto done;
    l->table.items[GBM_J_HELD_FIRST] = at_first;
    l->table.items[GBM_J_HELD_WHERE] = at_where;
    l->table.items[GBM_J_TERMS] = terms;
    l->work = (int64_t)l->symbolic.cells + links.n + l->d + l->held_where.n;
    for (int k = 0; ok && k < nterms; k++)
        ok = put_term(l, &links, &l->terms[k], terms + k * GBM_T_SIZE);
    ok =
        ok &&
        l->work + 9 * ((int64_t)l->symbolic.cells + links.n + l->d) < INT_MAX &&
        !l->table.failed;
    if (!ok)
        goto done;
    int *t = l->table.items;
    double cost = l->symbolic.flops;
    for (int k = 0; k < nterms; k++) {
        const int *h = t + terms + k * GBM_T_SIZE;
        cost += 8.0 * h[GBM_T_ROWS] + h[GBM_T_Q] + h[GBM_T_B];
    }
    t[GBM_J_D] = l->d;
    t[GBM_J_SPARSE] = l->symbolic.sparse;
    t[GBM_J_LEAVES] = l->symbolic.leaves;
    t[GBM_J_TREES_SIZE] = (int)l->symbolic.trees.n;
    t[GBM_J_LEVELS] = l->symbolic.levels;
    t[GBM_J_CELLS] = l->symbolic.cells;
    t[GBM_J_LINKS] = (int)links.n;
    t[GBM_J_HELD] = (int)l->held_where.n;
    t[GBM_J_DENSE] = l->symbolic.dense;
    for (int k = 0; k < nterms; k++)
        if (l->block->terms[k].curved) {
            cost += 60.0 * t[terms + k * GBM_T_SIZE + GBM_T_ROWS];
            t[GBM_J_CURVED] = (int)l->work;
        }
    if (t[GBM_J_CURVED]) {
        cost += 4 * l->symbolic.flops;
        l->work += gbm_curved_cells(l->symbolic.cells, (int)links.n, l->d);
    }
    t[GBM_J_SPARE] = (int)l->work;
    l->work += 3 * l->d;
    t[GBM_J_COST] = cost < 1e9 ? (int)cost : 1000000000;
    t[GBM_J_WORK] = (int)l->work;
done:
    free(links.pair);
    rt_ints_free(&held_first);
    return ok;
}

/* ---- the slots ---- */

static bool fill_slots(struct layout *l)
{
    struct rt_slot *table = &l->in->slots[l->block->table];
    struct rt_slot *constant = &l->in->slots[l->block->constant];
    struct rt_slot *work = &l->in->slots[l->block->work];
    table->values = l->table.items;
    table->cells = table->dim[0] = (int)l->table.n;
    l->table.items = NULL;
    constant->values =
        l->constant ? (void *)l->constant : calloc(1, sizeof(double));
    constant->cells = constant->dim[0] = (int)l->nconstant;
    l->constant = NULL;
    /* and a copy of the block for the self-check */
    work->per_chain = true;
    work->cells = work->dim[0] = (int)(l->work + l->d);
    work->values = calloc((size_t)work->cells * (size_t)l->in->nchains + 1,
                          sizeof(double));
    return constant->values && work->values;
}

static void layout_free(struct layout *l)
{
    for (int v = 0; l->number && v < l->block->nvariables; v++)
        free(l->number[v]);
    free(l->number);
    for (int k = 0; l->terms && k < l->block->nterms; k++) {
        rt_ints_free(&l->terms[k].element);
        rt_ints_free(&l->terms[k].begin);
        rt_ints_free(&l->terms[k].place);
        free(l->terms[k].weight);
        free(l->terms[k].first_alike);
        free(l->terms[k].in_order);
        free(l->terms[k].offset);
    }
    free(l->terms);
    free(l->start);
    free(l->neighbour);
    free(l->constant);
    rt_symbolic_free(&l->symbolic);
    rt_ints_free(&l->first);
    rt_ints_free(&l->where);
    rt_ints_free(&l->held_variable);
    rt_ints_free(&l->held_where);
    rt_ints_free(&l->link_row);
    rt_ints_free(&l->link_held);
    rt_ints_free(&l->table);
}

/* The linear forms of a vector's density have coefficients of data. */
static bool data_settle(const struct rt_instance *in,
                        const struct gbm_joint_term *t)
{
    return t->forms && t->data_design &&
           (t->leaf < 0 || !in->slots[t->leaf].per_chain);
}

enum gbm_status rt_joint(struct rt *rt, struct rt_instance *in,
                         const struct gbm_step *step, const void *state,
                         bool redraw)
{
    struct layout l = {
        .rt = rt, .in = in, .block = step->joint, .state = state};
    bool ok = number_coordinates(&l);
    l.terms = calloc((size_t)l.block->nterms + 1, sizeof *l.terms);
    ok = ok && l.terms;
    if (ok && l.d == 0) {
        layout_free(&l);
        return GBM_OK; /* all is observed: the step is not active */
    }
    for (int k = 0; ok && k < l.block->nterms; k++) {
        const struct gbm_joint_term *term = &l.block->terms[k];
        const bool settled = !redraw && data_settle(in, term);
        const bool design = term->constant_design || settled;
        l.terms[k] = (struct term){
            .term = term,
            .fixed_design = design,
            .fixed_weight = term->constant_weight && design,
            .fixed_score = term->constant_score && design && !redraw};
        struct term *t = &l.terms[k];
        t->fixed_offset = settled && term->offset && !t->fixed_score &&
                          (term->common_weight || t->fixed_weight);
        t->fixed_score = t->fixed_score || (t->fixed_weight && t->fixed_offset);
        ok = list_rows(&l, &l.terms[k]);
    }
    ok = ok && build_graph(&l) &&
         rt_symbolic_create(&l.symbolic, l.d, l.start, l.neighbour) &&
         put_table(&l) && fill_slots(&l);
    layout_free(&l);
    if (!ok)
        return rt_fail(rt, GBM_FAILURE,
                       "no memory for the joint Gaussian block of %s: its "
                       "rows have too many pairs of coefficients; "
                       "samplers { NAME : slice; } draws them one by one",
                       step->variable);
    return GBM_OK;
}
