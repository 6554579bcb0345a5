/* symbolic.c: the symbolic side of a sparse Cholesky factorisation: order,
 * elimination tree, pattern with its fill, which columns stay sparse, and the
 * lists of the numeric side (Davis 2006, Direct Methods for Sparse Linear
 * Systems, chapters 4 and 7). */
#include "load/symbolic.h"
#include "load/minimum_degree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* More updates than this take too much memory to be listed. */
#define MOST ((int64_t)1 << 29)

void rt_ints_add(struct rt_ints *l, int64_t item)
{
    if (l->n == l->capacity) {
        int64_t capacity = l->capacity ? 2 * l->capacity : 16;
        int *items =
            l->failed ? NULL
                      : realloc(l->items, (size_t)capacity * sizeof *l->items);
        if (!items) {
            l->failed = true;
            return;
        }
        l->items = items;
        l->capacity = capacity;
    }
    if (item > INT_MAX)
        l->failed = true;
    l->items[l->n++] = (int)item;
}

void rt_ints_free(struct rt_ints *l)
{
    free(l->items);
    *l = (struct rt_ints){0};
}

/* ---- the pattern ---- */

/* Columns of L, diagonal left out, rows ascending. */
struct pattern {
    int d;
    int **row, *count, *parent;
};

static void pattern_free(struct pattern *p)
{
    for (int k = 0; p->row && k < p->d; k++)
        free(p->row[k]);
    free(p->row);
    free(p->count);
    free(p->parent);
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Column k: its own rows and those of the columns whose parent it is. */
static bool find_pattern(struct pattern *p, int d, const int *order,
                         const int *at, const int64_t *start,
                         const int *neighbour)
{
    size_t size = (size_t)d + 1;
    int *mark = malloc(size * sizeof *mark);
    int *child = malloc(size * sizeof *child);
    int *sibling = malloc(size * sizeof *sibling);
    int *rows = malloc(size * sizeof *rows);
    int64_t total = 0;
    bool ok = false;
    *p = (struct pattern){.d = d};
    p->row = calloc(size, sizeof *p->row);
    p->count = calloc(size, sizeof *p->count);
    p->parent = malloc(size * sizeof *p->parent);
    if (!mark || !child || !sibling || !rows || !p->row || !p->count ||
        !p->parent)
        goto done;
    for (int k = 0; k < d; k++)
        mark[k] = child[k] = -1;
    for (int k = 0; k < d; k++) {
        int n = 0;
        mark[k] = k;
        for (int64_t i = start[order[k]]; i < start[order[k] + 1]; i++) {
            int r = at[neighbour[i]];
            if (r > k && mark[r] != k) {
                mark[r] = k;
                rows[n++] = r;
            }
        }
        for (int c = child[k]; c >= 0; c = sibling[c])
            for (int i = 0; i < p->count[c]; i++) {
                int r = p->row[c][i];
                if (r > k && mark[r] != k) {
                    mark[r] = k;
                    rows[n++] = r;
                }
            }
        qsort(rows, (size_t)n, sizeof *rows, ascending);
        total += n;
        p->row[k] = malloc(((size_t)n + 1) * sizeof(int));
        if (!p->row[k] || total > MOST)
            goto done;
        memcpy(p->row[k], rows, (size_t)n * sizeof(int));
        p->count[k] = n;
        p->parent[k] = n ? rows[0] : -1;
        if (n) {
            sibling[k] = child[rows[0]];
            child[rows[0]] = k;
        }
    }
    ok = true;
done:
    free(mark);
    free(child);
    free(sibling);
    free(rows);
    return ok;
}

/* How many columns stay sparse: where the time of both kinds together is
 * least. A listed update takes about four times as long as one of the dense
 * block's loops, and a column has its own cost. */
static int choose_sparse(const struct pattern *p, double *flops)
{
    int best = 0;
    double sparse = 0, least = -1;
    for (int k = 0; k <= p->d; k++) {
        double t = p->d - k;
        double dense = t * t * t / 6 * 0.3 + t * t * 0.8 + t * 8;
        if (least < 0 || sparse + dense < least) {
            least = sparse + dense;
            best = k;
        }
        if (k < p->d) {
            double n = p->count[k];
            sparse += n * (n + 1) / 2 * 1.2 + 4 * n + 8;
        }
    }
    *flops = least;
    return best;
}

int rt_symbolic_cell(const struct rt_symbolic *s, int a, int b)
{
    int column = a < b ? a : b, row = a < b ? b : a;
    if (column >= s->sparse) {
        int n = s->d - s->sparse;
        return s->dense + (column - s->sparse) * n + row - s->sparse;
    }
    int low = s->start.items[column], high = s->start.items[column + 1] - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2, r = s->row.items[middle];
        if (r == row)
            return middle;
        if (r < row)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

/* ---- the lists ---- */

static void list_columns(struct rt_symbolic *s, const struct pattern *p)
{
    for (int k = 0; k < s->sparse; k++) {
        rt_ints_add(&s->start, s->row.n);
        rt_ints_add(&s->row, k);
        for (int i = 0; i < p->count[k]; i++)
            rt_ints_add(&s->row, p->row[k][i]);
    }
    rt_ints_add(&s->start, s->row.n);
    int64_t n = s->d - s->sparse, cells = s->row.n + n * n;
    if (cells > INT_MAX)
        s->row.failed = true;
    s->dense = (int)s->row.n;
    s->cells = (int)cells;
}

/* The cell that each update of the right-looking order changes. */
static bool list_places(struct rt_symbolic *s)
{
    double total = 0;
    for (int k = 0; k < s->sparse; k++) {
        double n = s->start.items[k + 1] - s->start.items[k] - 1;
        total += n * (n + 1) / 2;
    }
    if (total > (double)MOST)
        return false;
    for (int k = 0; k < s->sparse; k++) {
        int first = s->start.items[k], end = s->start.items[k + 1];
        for (int j = first + 1; j < end; j++)
            for (int i = j; i < end; i++)
                rt_ints_add(&s->place, rt_symbolic_cell(s, s->row.items[i],
                                                        s->row.items[j]));
    }
    return !s->place.failed;
}

/* An item of a list and how long it takes. */
struct work {
    int item;
    int64_t size;
};

static int longest_first(const void *a, const void *b)
{
    const struct work *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? 1 : -1)
                              : (x->item > y->item) - (x->item < y->item);
}

/* Orders items[first] .. items[end - 1] by size[item], most first. */
static bool order_by_work(int *items, int64_t first, int64_t end,
                          const int64_t *size)
{
    const int64_t n = end - first;
    struct work *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    if (!sorted)
        return false;
    for (int64_t i = 0; i < n; i++)
        sorted[i] = (struct work){items[first + i], size[items[first + i]]};
    qsort(sorted, (size_t)n, sizeof *sorted, longest_first);
    for (int64_t i = 0; i < n; i++)
        items[first + i] = sorted[i].item;
    free(sorted);
    return true;
}

/* Columns by their level in the elimination tree: those of a level need only
 * those of the levels before; the dense block's come last. */
static bool list_levels(struct rt_symbolic *s, const struct pattern *p)
{
    int m = s->sparse;
    int *level = calloc((size_t)s->d + 1, sizeof *level);
    int *first = NULL, *sorted = NULL;
    if (!level)
        return false;
    for (int k = 0; k < m; k++) {
        if (level[k] + 1 > s->levels)
            s->levels = level[k] + 1;
        if (p->parent[k] >= 0 && level[p->parent[k]] < level[k] + 1)
            level[p->parent[k]] = level[k] + 1;
    }
    first = calloc((size_t)s->levels + 2, sizeof *first);
    sorted = malloc(((size_t)m + 1) * sizeof *sorted);
    bool ok = first && sorted;
    if (ok) {
        for (int k = 0; k < m; k++)
            first[level[k] + 1]++;
        for (int l = 0; l < s->levels; l++)
            first[l + 1] += first[l];
        for (int l = 0; l <= s->levels; l++)
            rt_ints_add(&s->level_column, first[l]);
        for (int k = 0; k < m; k++)
            sorted[first[level[k]]++] = k;
        for (int k = 0; k < m; k++)
            rt_ints_add(&s->column, sorted[k]);
        for (int k = m; k < s->d; k++)
            rt_ints_add(&s->column, k);
        rt_ints_add(&s->level_column, s->d);
    }
    free(level);
    free(first);
    free(sorted);
    return ok && !s->column.failed && !s->level_column.failed;
}

/* Cells by the level of their column, those of the dense block last; count[i]:
 * the products that cell i takes. */
static bool list_cells(struct rt_symbolic *s, const int64_t *count)
{
    for (int l = 0; l < s->levels; l++) {
        rt_ints_add(&s->level_cell, s->cell.n);
        for (int c = s->level_column.items[l]; c < s->level_column.items[l + 1];
             c++) {
            int k = s->column.items[c];
            for (int i = s->start.items[k]; i < s->start.items[k + 1]; i++)
                rt_ints_add(&s->cell, i);
        }
    }
    rt_ints_add(&s->level_cell, s->cell.n);
    for (int i = s->dense; i < s->cells; i++)
        if (count[i])
            rt_ints_add(&s->cell, i);
    rt_ints_add(&s->level_cell, s->cell.n);
    return !s->cell.failed && !s->level_cell.failed;
}

/* The products that each cell takes, in the order of the cells. */
static bool list_products(struct rt_symbolic *s)
{
    int64_t *count = calloc((size_t)s->cells + 1, sizeof *count);
    if (!count)
        return false;
    for (int64_t i = 0; i < s->place.n; i++)
        count[s->place.items[i]]++;
    bool ok = list_cells(s, count);
    for (int l = 0; ok && l <= s->levels; l++)
        ok = order_by_work(s->cell.items, s->level_cell.items[l],
                           s->level_cell.items[l + 1], count);
    int64_t *to = count; /* where a cell's next product goes */
    int64_t at = 0;
    for (int64_t i = 0; ok && i < s->cell.n; i++) {
        rt_ints_add(&s->product, at);
        int64_t n = count[s->cell.items[i]];
        to[s->cell.items[i]] = at;
        at += n;
    }
    rt_ints_add(&s->product, at);
    for (int64_t i = 0; ok && i < at; i++) {
        rt_ints_add(&s->left, 0);
        rt_ints_add(&s->right, 0);
    }
    ok = ok && !s->left.failed && !s->right.failed && !s->product.failed;
    int64_t update = 0;
    for (int k = 0; ok && k < s->sparse; k++) {
        int begin = s->start.items[k], end = s->start.items[k + 1];
        for (int j = begin + 1; j < end; j++)
            for (int i = j; i < end; i++, update++) {
                int64_t product = to[s->place.items[update]]++;
                s->left.items[product] = i;
                s->right.items[product] = j;
            }
    }
    free(count);
    return ok;
}

/* The rows of the factor, and the columns of a level by the length of their
 * rows. */
static bool list_rows(struct rt_symbolic *s)
{
    int64_t *length = calloc((size_t)s->d + 1, sizeof *length);
    int *count = calloc((size_t)s->d + 2, sizeof *count);
    bool ok = length && count;
    for (int k = 0; ok && k < s->sparse; k++)
        for (int i = s->start.items[k] + 1; i < s->start.items[k + 1]; i++)
            count[s->row.items[i] + 1]++;
    for (int k = 0; ok && k < s->d; k++)
        length[k] = count[k + 1];
    for (int l = 0; ok && l <= s->levels; l++)
        ok = order_by_work(s->column.items, s->level_column.items[l],
                           s->level_column.items[l + 1], length);
    free(length);
    if (!ok) {
        free(count);
        return false;
    }
    for (int k = 0; k < s->d; k++)
        count[k + 1] += count[k];
    for (int k = 0; k <= s->d; k++)
        rt_ints_add(&s->row_start, count[k]);
    for (int i = 0; i < count[s->d]; i++) {
        rt_ints_add(&s->row_cell, 0);
        rt_ints_add(&s->row_column, 0);
    }
    if (s->row_cell.failed || s->row_column.failed || s->row_start.failed) {
        free(count);
        return false;
    }
    for (int k = 0; k < s->sparse; k++)
        for (int i = s->start.items[k] + 1; i < s->start.items[k + 1]; i++) {
            int to = count[s->row.items[i]]++;
            s->row_cell.items[to] = i;
            s->row_column.items[to] = k;
        }
    free(count);
    return true;
}

bool rt_symbolic_create(struct rt_symbolic *s, int d, const int64_t *start,
                        const int *neighbour)
{
    struct pattern p = {0};
    int *order = malloc(((size_t)d + 1) * sizeof *order);
    bool ok = false;
    *s = (struct rt_symbolic){.d = d};
    s->at = malloc(((size_t)d + 1) * sizeof *s->at);
    if (!order || !s->at || !rt_minimum_degree(d, start, neighbour, order))
        goto done;
    for (int k = 0; k < d; k++)
        s->at[order[k]] = k;
    if (!find_pattern(&p, d, order, s->at, start, neighbour))
        goto done;
    s->sparse = choose_sparse(&p, &s->flops);
    list_columns(s, &p);
    ok = !s->row.failed && !s->start.failed && list_places(s) &&
         list_levels(s, &p) && list_products(s) && list_rows(s);
done:
    free(order);
    pattern_free(&p);
    if (!ok)
        rt_symbolic_free(s);
    return ok;
}

void rt_symbolic_free(struct rt_symbolic *s)
{
    struct rt_ints *lists[] = {&s->start,        &s->row,       &s->place,
                               &s->level_cell,   &s->column,    &s->cell,
                               &s->level_column, &s->product,   &s->left,
                               &s->right,        &s->row_start, &s->row_cell,
                               &s->row_column};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        rt_ints_free(lists[i]);
    free(s->at);
    s->at = NULL;
}
