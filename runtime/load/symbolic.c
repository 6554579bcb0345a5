/* symbolic.c: the symbolic side of a sparse Cholesky factorisation: order,
 * elimination tree, pattern with its fill, which columns stay sparse, and the
 * lists of the numeric side (Davis 2006, Direct Methods for Sparse Linear
 * Systems, chapters 4 and 7). */
#include "load/symbolic.h"
#include "load/minimum_degree.h"
#include "load/find_border.h"
#include "load/find_trees.h"
#include "real.h" /* of stdlib, in double */
#include "trees.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* More updates than this take too much memory to be listed. */
#define MOST ((int64_t)1 << 29)

/* What a team of lanes does in the time of a level's barriers, and from how
 * many levels on another order is tried. */
#define LEVEL 4000.0
#define DEEP 48

/* ---- the pattern ---- */

static void pattern_free(struct rt_pattern *p)
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
static bool find_pattern(struct rt_pattern *p, int d, const int *order,
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
    *p = (struct rt_pattern){.d = d};
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
 * least, or all but a border that is given. A listed update takes about four
 * times as long as one of the dense block's loops, and a column has its own
 * cost. */
static int choose_sparse(const struct rt_pattern *p, int border, double *flops)
{
    int best = 0;
    double sparse = 0, least = -1;
    for (int k = 0; k <= p->d; k++) {
        double t = p->d - k;
        double dense = t * t * t / 6 * 0.3 + t * t * 0.8 + t * 8;
        if (border ? k == p->d - border : least < 0 || sparse + dense < least) {
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

/* ---- the lists ---- */

/* The cells of a class's trees, one position after the other. */
static void list_class(struct rt_symbolic *s, const struct rt_pattern *p,
                       int count, int columns)
{
    for (int c = 0; c < columns; c++) {
        const int first = s->leaves, n = p->count[first] + 1;
        for (int t = 0; t < count; t++) {
            rt_ints_add(&s->start, s->row.n + t);
            rt_ints_add(&s->count, n);
            rt_ints_add(&s->step, count);
        }
        for (int i = 0; i < n; i++)
            for (int t = 0; t < count; t++)
                rt_ints_add(&s->row, i ? p->row[first + t][i - 1] : first + t);
        s->leaves += count;
    }
}

static void list_columns(struct rt_symbolic *s, const struct rt_pattern *p,
                         const struct rt_ints *classes)
{
    for (int64_t i = 0; i < classes->n; i += 2)
        list_class(s, p, classes->items[i], classes->items[i + 1]);
    for (int k = s->leaves; k < s->sparse; k++) {
        rt_ints_add(&s->start, s->row.n);
        rt_ints_add(&s->count, p->count[k] + 1);
        rt_ints_add(&s->step, 1);
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

static bool list_trees(struct rt_symbolic *s, const struct rt_pattern *p,
                       const struct rt_ints *classes)
{
    for (int64_t i = 0, first = 0; i < classes->n; i += 2) {
        const int count = classes->items[i], columns = classes->items[i + 1];
        rt_list_trees(s, p, (int)first, count, columns);
        first += (int64_t)count * columns;
    }
    return !s->trees.failed;
}

/* The cell that each update of the right-looking order changes. */
static bool list_places(struct rt_symbolic *s)
{
    double total = 0;
    for (int k = 0; k < s->sparse; k++) {
        double n = s->count.items[k] - 1;
        total += n * (n + 1) / 2;
    }
    if (total > (double)MOST)
        return false;
    for (int k = s->leaves; k < s->sparse; k++) {
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

/* level[k], 0 at first, of columns first .. end - 1: how far each stands above
 * the leaves of the elimination tree. Returns how many levels there are. */
static int find_levels(const struct rt_pattern *p, int first, int end,
                       int *level)
{
    int levels = 0;
    for (int k = first; k < end; k++) {
        const int next = level[k] + 1, parent = p->parent[k];
        levels = next > levels ? next : levels;
        if (parent >= 0 && level[parent] < next)
            level[parent] = next;
    }
    return levels;
}

/* Columns but those of trees by their level in the elimination tree: those of a
 * level need only those of the levels before; the dense block's come last. */
static bool list_levels(struct rt_symbolic *s, const struct rt_pattern *p)
{
    int m = s->sparse;
    int *level = calloc((size_t)s->d + 1, sizeof *level);
    int *first = NULL, *sorted = NULL;
    if (!level)
        return false;
    s->levels = find_levels(p, s->leaves, m, level);
    first = calloc((size_t)s->levels + 2, sizeof *first);
    sorted = malloc(((size_t)m + 1) * sizeof *sorted);
    bool ok = first && sorted;
    if (ok) {
        for (int k = s->leaves; k < m; k++)
            first[level[k] + 1]++;
        for (int l = 0; l < s->levels; l++)
            first[l + 1] += first[l];
        for (int l = 0; l <= s->levels; l++)
            rt_ints_add(&s->level_column, first[l]);
        for (int k = s->leaves; k < m; k++)
            sorted[first[level[k]]++] = k;
        for (int k = 0; k < m - s->leaves; k++)
            rt_ints_add(&s->column, sorted[k]);
        for (int k = m; k < s->d; k++)
            rt_ints_add(&s->column, k);
        rt_ints_add(&s->level_column, s->d - s->leaves);
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

/* Takes a product of cells i and j, which cell `to` gathers. */
typedef void product_fn(struct rt_symbolic *s, int64_t *count, int to, int i,
                        int j);

static void count_product(struct rt_symbolic *s, int64_t *count, int to, int i,
                          int j)
{
    (void)s;
    (void)i;
    (void)j;
    count[to]++;
}

static void put_product(struct rt_symbolic *s, int64_t *count, int to, int i,
                        int j)
{
    const int64_t product = count[to]++;
    s->left.items[product] = i;
    s->right.items[product] = j;
}

/* What a class changes behind its trees. */
static void class_products(struct rt_symbolic *s, const int *class,
                           int64_t *count, product_fn *f)
{
    const struct gbm_trees k = gbm_trees_of(class);
    for (int u = 0; u < k.noutside; u++)
        for (int t = 0; t < k.count; t++)
            f(s, count, k.place[(int64_t)u * k.count + t],
              (int)k.cell + k.factors[2 * u] * k.count + t,
              (int)k.cell + k.factors[2 * u + 1] * k.count + t);
}

static void each_product(struct rt_symbolic *s, int64_t *count, product_fn *f)
{
    const int *place = s->place.items, *class = s->trees.items;
    for (const int *end = class + s->trees.n; class < end;
         class += class[GBM_TREES_SIZE])
        class_products(s, class, count, f);
    for (int k = s->leaves; k < s->sparse; k++) {
        const int begin = s->start.items[k], end = s->start.items[k + 1];
        for (int j = begin + 1; j < end; j++)
            for (int i = j; i < end; i++)
                f(s, count, *place++, i, j);
    }
}

/* The products that each cell takes, in the order of the cells. */
static bool list_products(struct rt_symbolic *s)
{
    int64_t *count = calloc((size_t)s->cells + 1, sizeof *count);
    if (!count)
        return false;
    each_product(s, count, count_product);
    bool ok = list_cells(s, count);
    for (int l = 0; ok && l <= s->levels; l++)
        ok = order_by_work(s->cell.items, s->level_cell.items[l],
                           s->level_cell.items[l + 1], count);
    int64_t at = 0;
    for (int64_t i = 0; ok && i < s->cell.n; i++) {
        rt_ints_add(&s->product, at);
        int64_t n = count[s->cell.items[i]];
        count[s->cell.items[i]] = at; /* where its next product goes */
        at += n;
    }
    rt_ints_add(&s->product, at);
    for (int64_t i = 0; ok && i < at; i++) {
        rt_ints_add(&s->left, 0);
        rt_ints_add(&s->right, 0);
    }
    ok = ok && !s->left.failed && !s->right.failed && !s->product.failed;
    if (ok)
        each_product(s, count, put_product);
    free(count);
    return ok;
}

/* The rows of the factor behind the trees, and the columns of a level by the
 * length of their rows. */
static bool list_rows(struct rt_symbolic *s)
{
    int64_t *length = calloc((size_t)s->d + 1, sizeof *length);
    int *count = calloc((size_t)s->d + 2, sizeof *count);
    bool ok = length && count;
    for (int k = 0; ok && k < s->sparse; k++)
        for (int i = 1; i < s->count.items[k]; i++)
            if (s->row.items[rt_symbolic_cell_of(s, k, i)] >= s->leaves)
                count[s->row.items[rt_symbolic_cell_of(s, k, i)] + 1]++;
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
        for (int i = 1; i < s->count.items[k]; i++) {
            const int cell = rt_symbolic_cell_of(s, k, i),
                      row = s->row.items[cell];
            if (row < s->leaves)
                continue;
            s->row_cell.items[count[row]] = cell;
            s->row_column.items[count[row]++] = k;
        }
    free(count);
    return true;
}

/* The order in which trees come first, and the pattern in it. */
static bool put_trees_first(struct rt_symbolic *s, struct rt_pattern *p,
                            int *order, struct rt_ints *classes,
                            const int64_t *start, const int *neighbour)
{
    struct rt_ints columns = {0};
    bool ok = rt_find_trees(p, s->sparse, &columns, classes);
    if (ok && classes->n) {
        for (int k = 0; k < s->d; k++)
            columns.items[k] = order[columns.items[k]];
        memcpy(order, columns.items, (size_t)s->d * sizeof *order);
        for (int k = 0; k < s->d; k++)
            s->at[order[k]] = k;
        pattern_free(p);
        ok = find_pattern(p, s->d, order, s->at, start, neighbour);
    }
    rt_ints_free(&columns);
    return ok;
}

/* An order, its pattern, how much of it stays sparse, what that takes, and the
 * levels of its tree. */
static bool find_order(struct rt_symbolic *s, struct rt_pattern *p,
                       bool in_rounds, int *order, const int64_t *start,
                       const int *neighbour)
{
    if (!rt_minimum_degree(s->d, start, neighbour, in_rounds, order))
        return false;
    for (int k = 0; k < s->d; k++)
        s->at[order[k]] = k;
    pattern_free(p);
    if (!find_pattern(p, s->d, order, s->at, start, neighbour))
        return false;
    s->sparse = choose_sparse(p, 0, &s->flops);
    int *level = calloc((size_t)s->d + 1, sizeof *level);
    if (!level)
        return false;
    s->levels = find_levels(p, 0, s->sparse, level);
    free(level);
    return true;
}

/* For tests: "rounds" wherever they pay on a device with teams, or never. */
static bool order_in_rounds(enum rt_lanes lanes)
{
    const char *wanted = getenv("GBM_ORDER");
    return wanted ? strcmp(wanted, "rounds") == 0 : lanes == RT_LANES_SHARE;
}

/* So many coordinates, or more, are worth a border that trees share; any, where
 * a lane has them. */
enum { MANY = 1000 };

/* For tests: "border" wherever there is one. */
static bool order_by_border(int d, enum rt_lanes lanes)
{
    const char *wanted = getenv("GBM_ORDER");
    return wanted ? strcmp(wanted, "border") == 0
                  : d >= MANY || lanes == RT_LANES_EACH;
}

/* Moves the border behind what it leaves: small trees then come first, and
 * nothing of theirs, by ties of degrees, stands behind the border. */
static bool put_border_last(struct rt_symbolic *s, struct rt_pattern *p,
                            int *order, const int64_t *start,
                            const int *neighbour)
{
    bool *last = calloc((size_t)s->d + 1, sizeof *last);
    int *moved = malloc(((size_t)s->d + 1) * sizeof *moved);
    bool ok = last && moved;
    const int border = ok ? rt_find_border(s->d, start, neighbour, last) : 0;
    if (border > 0) {
        int n = 0;
        for (int behind = 0; behind < 2; behind++)
            for (int k = 0; k < s->d; k++)
                if (last[order[k]] == (behind == 1))
                    moved[n++] = order[k];
        memcpy(order, moved, (size_t)s->d * sizeof *order);
        for (int k = 0; k < s->d; k++)
            s->at[order[k]] = k;
        pattern_free(p);
        ok = find_pattern(p, s->d, order, s->at, start, neighbour);
        if (ok)
            s->sparse = choose_sparse(p, border, &s->flops);
    }
    free(moved);
    free(last);
    return ok;
}

/* Of the two orders the one that takes less. */
static bool choose_order(struct rt_symbolic *s, struct rt_pattern *p,
                         enum rt_lanes lanes, int *order, const int64_t *start,
                         const int *neighbour)
{
    if (!find_order(s, p, false, order, start, neighbour))
        return false;
    const double takes = s->flops + LEVEL * s->levels;
    if (!order_in_rounds(lanes) || s->levels < DEEP)
        return !order_by_border(s->d, lanes) ||
               put_border_last(s, p, order, start, neighbour);
    if (!find_order(s, p, true, order, start, neighbour))
        return false;
    return s->flops + LEVEL * s->levels < takes ||
           find_order(s, p, false, order, start, neighbour);
}

bool rt_symbolic_create(struct rt_symbolic *s, int d, const int64_t *start,
                        const int *neighbour, enum rt_lanes lanes)
{
    struct rt_pattern p = {0};
    struct rt_ints classes = {0};
    int *order = malloc(((size_t)d + 1) * sizeof *order);
    bool ok = false;
    *s = (struct rt_symbolic){.d = d};
    s->at = malloc(((size_t)d + 1) * sizeof *s->at);
    if (!order || !s->at ||
        !choose_order(s, &p, lanes, order, start, neighbour) ||
        !put_trees_first(s, &p, order, &classes, start, neighbour))
        goto done;
    list_columns(s, &p, &classes);
    ok = !s->row.failed && !s->start.failed && !s->count.failed &&
         !s->step.failed && list_trees(s, &p, &classes) && list_places(s) &&
         list_levels(s, &p) && list_products(s) && list_rows(s);
done:
    free(order);
    pattern_free(&p);
    rt_ints_free(&classes);
    if (!ok)
        rt_symbolic_free(s);
    return ok;
}

void rt_symbolic_free(struct rt_symbolic *s)
{
    struct rt_ints *lists[] = {
        &s->count, &s->step,         &s->trees,      &s->start,
        &s->row,   &s->place,        &s->level_cell, &s->column,
        &s->cell,  &s->level_column, &s->product,    &s->left,
        &s->right, &s->row_start,    &s->row_cell,   &s->row_column};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        rt_ints_free(lists[i]);
    free(s->at);
    s->at = NULL;
}
