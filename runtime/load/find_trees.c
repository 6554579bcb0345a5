/* find_trees.c: small subtrees of the elimination tree that have one pattern,
 * as the effects of each group have. Nothing outside comes before a tree's
 * columns, so all trees may come first, and side by side. */
#include "load/find_trees.h"
#include "real.h" /* of stdlib, in double */
#include "trees.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_COLUMNS = 8, /* of a tree; larger ones are cut below their root */
    FEWEST_TREES = 8  /* fewer go with the other columns */
};

struct tree {
    int root, columns;
    int column[MOST_COLUMNS];
    int *signature, length; /* the same of trees of one pattern */
};

struct finder {
    const struct rt_pattern *p;
    struct tree *trees;
    int n;
    int *of; /* [d] number of a column's tree, or -1 */
};

/* ---- trees ---- */

static bool find_trees(struct finder *k, int sparse)
{
    const struct rt_pattern *p = k->p;
    int *size = calloc((size_t)p->d + 1, sizeof *size);
    k->of = malloc(((size_t)p->d + 1) * sizeof *k->of);
    k->trees = calloc((size_t)sparse + 1, sizeof *k->trees);
    if (!size || !k->of || !k->trees) {
        free(size);
        return false;
    }
    for (int c = 0; c < sparse; c++) {
        size[c]++;
        if (p->parent[c] >= 0)
            size[p->parent[c]] += size[c];
    }
    for (int c = p->d - 1; c >= 0; c--) {
        const int parent = p->parent[c];
        k->of[c] = -1;
        if (c >= sparse || size[c] > MOST_COLUMNS)
            continue;
        if (parent >= 0 && parent < sparse && k->of[parent] >= 0) {
            k->of[c] = k->of[parent];
        } else {
            k->trees[k->n].root = c;
            k->of[c] = k->n++;
        }
    }
    for (int c = 0; c < sparse; c++)
        if (k->of[c] >= 0) {
            struct tree *t = &k->trees[k->of[c]];
            t->column[t->columns++] = c;
        }
    free(size);
    return true;
}

/* The place of row r among the tree's columns, or behind them among the rows of
 * its root, which has all rows of its trees that are outside. */
static int place_in_tree(const struct rt_pattern *p, const struct tree *t,
                         int r)
{
    for (int c = 0; c < t->columns; c++)
        if (t->column[c] == r)
            return c;
    int low = 0, high = p->count[t->root] - 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (p->row[t->root][middle] < r)
            low = middle + 1;
        else
            high = middle;
    }
    return t->columns + low;
}

static bool sign(const struct rt_pattern *p, struct tree *t)
{
    int n = 2;
    for (int c = 0; c < t->columns; c++)
        n += 1 + p->count[t->column[c]];
    t->signature = malloc((size_t)n * sizeof *t->signature);
    if (!t->signature)
        return false;
    int *to = t->signature;
    *to++ = t->columns;
    *to++ = p->count[t->root];
    for (int c = 0; c < t->columns; c++) {
        const int k = t->column[c];
        *to++ = p->count[k];
        for (int i = 0; i < p->count[k]; i++)
            *to++ = place_in_tree(p, t, p->row[k][i]);
    }
    t->length = n;
    return true;
}

static int same_pattern(const struct tree *x, const struct tree *y)
{
    if (x->length != y->length)
        return (x->length > y->length) - (x->length < y->length);
    return memcmp(x->signature, y->signature,
                  (size_t)x->length * sizeof *x->signature);
}

static int by_pattern(const void *a, const void *b)
{
    const struct tree *x = a, *y = b;
    const int order = same_pattern(x, y);
    return order ? order : (x->root > y->root) - (x->root < y->root);
}

bool rt_find_trees(const struct rt_pattern *p, int sparse,
                   struct rt_ints *order, struct rt_ints *classes)
{
    struct finder k = {.p = p};
    bool ok = find_trees(&k, sparse);
    for (int t = 0; ok && t < k.n; t++)
        ok = sign(p, &k.trees[t]);
    if (ok)
        qsort(k.trees, (size_t)k.n, sizeof *k.trees, by_pattern);
    for (int c = 0; ok && c < p->d; c++)
        k.of[c] = -1;
    for (int t = 0, end; ok && t < k.n; t = end) {
        for (end = t + 1;
             end < k.n && same_pattern(&k.trees[t], &k.trees[end]) == 0;)
            end++;
        if (end - t < FEWEST_TREES)
            continue;
        rt_ints_add(classes, end - t);
        rt_ints_add(classes, k.trees[t].columns);
        for (int c = 0; c < k.trees[t].columns; c++)
            for (int i = t; i < end; i++) {
                rt_ints_add(order, k.trees[i].column[c]);
                k.of[k.trees[i].column[c]] = 0;
            }
    }
    for (int c = 0; ok && c < p->d; c++)
        if (k.of[c] < 0)
            rt_ints_add(order, c);
    for (int t = 0; k.trees && t < k.n; t++)
        free(k.trees[t].signature);
    free(k.trees);
    free(k.of);
    return ok && !order->failed && !classes->failed;
}

/* ---- the lists of a class ---- */

struct lists {
    struct rt_symbolic *s;
    const struct rt_pattern *p;
    int first, count, columns, header;
};

static int column_of(const struct lists *k, int c, int tree)
{
    return k->first + c * k->count + tree;
}

/* Row r of tree number 0 as the class has it. */
static int row_code(const struct lists *k, int r)
{
    if (r < k->first + k->count * k->columns)
        return (r - k->first) / k->count;
    const int root = column_of(k, k->columns - 1, 0);
    int i = 0;
    while (k->p->row[root][i] != r)
        i++;
    return -1 - i;
}

/* Of column c, number 0 being the diagonal. */
static int entry(const struct lists *k, int c, int i)
{
    return i ? row_code(k, k->p->row[column_of(k, c, 0)][i - 1]) : c;
}

static int entries(const struct lists *k, int c)
{
    return 1 + k->p->count[column_of(k, c, 0)];
}

static void begin_list(const struct lists *k, int field)
{
    struct rt_ints *t = &k->s->trees;
    if (!t->failed)
        t->items[k->header + field] = (int)(t->n - k->header);
}

static void set_number(const struct lists *k, int field, int value)
{
    if (!k->s->trees.failed)
        k->s->trees.items[k->header + field] = value;
}

static void list_pattern(const struct lists *k)
{
    struct rt_ints *t = &k->s->trees;
    int n = 0;
    begin_list(k, GBM_TREES_FROM);
    for (int c = 0; c < k->columns; c++) {
        rt_ints_add(t, n);
        n += entries(k, c);
    }
    rt_ints_add(t, n);
    begin_list(k, GBM_TREES_ROW);
    for (int c = 0; c < k->columns; c++)
        for (int i = 0; i < entries(k, c); i++)
            rt_ints_add(t, entry(k, c, i));
}

/* Of n rows of a list, each of one item a tree, whether the items are one. */
static void list_whether_same(const struct lists *k, int field, int n)
{
    struct rt_ints *t = &k->s->trees;
    if (t->failed)
        return;
    const int from = k->header + t->items[k->header + field];
    for (int i = 0; i < n; i++) {
        bool same = true;
        const int first = from + i * k->count;
        for (int tree = 1; tree < k->count && !t->failed; tree++)
            same = same && t->items[first + tree] == t->items[first];
        rt_ints_add(t, same);
    }
}

static void list_outer(const struct lists *k)
{
    const int last = k->columns - 1, n = entries(k, last) - 1;
    struct rt_ints *t = &k->s->trees;
    begin_list(k, GBM_TREES_OUTER);
    for (int i = 0; i < n; i++)
        for (int tree = 0; tree < k->count; tree++)
            rt_ints_add(t, k->p->row[column_of(k, last, tree)][i]);
    begin_list(k, GBM_TREES_SHARED);
    list_whether_same(k, GBM_TREES_OUTER, n);
}

/* The position of row `code` in column c. */
static int position(const struct lists *k, int c, int code)
{
    int from = 0, i = 0;
    for (int b = 0; b < c; b++)
        from += entries(k, b);
    while (entry(k, c, i) != code)
        i++;
    return from + i;
}

/* Calls f for each update by column c: of the cell whose row and column are its
 * entries i and j. */
typedef void update_fn(const struct lists *k, int c, int i, int j, int from);

static void each_update(const struct lists *k, int c, bool inside, int from,
                        update_fn *f)
{
    for (int j = 1; j < entries(k, c); j++)
        for (int i = j; i < entries(k, c); i++)
            if ((entry(k, c, j) >= 0) == inside)
                f(k, c, i, j, from);
}

static void add_inside(const struct lists *k, int c, int i, int j, int from)
{
    struct rt_ints *t = &k->s->trees;
    rt_ints_add(t, position(k, entry(k, c, j), entry(k, c, i)));
    rt_ints_add(t, from + i);
    rt_ints_add(t, from + j);
}

static void add_factors(const struct lists *k, int c, int i, int j, int from)
{
    (void)c;
    rt_ints_add(&k->s->trees, from + i);
    rt_ints_add(&k->s->trees, from + j);
}

static void add_places(const struct lists *k, int c, int i, int j, int from)
{
    (void)from;
    for (int tree = 0; tree < k->count; tree++) {
        const int *row = k->p->row[column_of(k, c, tree)];
        rt_ints_add(&k->s->trees,
                    rt_symbolic_cell(k->s, row[i - 1], row[j - 1]));
    }
}

static void add_updates(const struct lists *k, bool inside, update_fn *f)
{
    for (int c = 0, from = 0; c < k->columns; from += entries(k, c), c++)
        each_update(k, c, inside, from, f);
}

static void list_updates(const struct lists *k)
{
    struct rt_ints *t = &k->s->trees;
    int n = 0;
    begin_list(k, GBM_TREES_INSIDE_FROM);
    for (int c = 0; c < k->columns; c++) {
        rt_ints_add(t, n);
        for (int j = 1; j < entries(k, c); j++)
            if (entry(k, c, j) >= 0)
                n += entries(k, c) - j;
    }
    rt_ints_add(t, n);
    begin_list(k, GBM_TREES_INSIDE);
    add_updates(k, true, add_inside);
    begin_list(k, GBM_TREES_FACTORS);
    const int64_t before = t->n;
    add_updates(k, false, add_factors);
    const int outside = (int)((t->n - before) / 2);
    set_number(k, GBM_TREES_OUTSIDE, outside);
    begin_list(k, GBM_TREES_PLACE);
    add_updates(k, false, add_places);
    begin_list(k, GBM_TREES_SAME);
    list_whether_same(k, GBM_TREES_PLACE, outside);
}

void rt_list_trees(struct rt_symbolic *s, const struct rt_pattern *p, int first,
                   int count, int columns)
{
    const struct lists k = {s, p, first, count, columns, (int)s->trees.n};
    for (int i = 0; i < GBM_TREES_HEADER; i++)
        rt_ints_add(&s->trees, 0);
    set_number(&k, GBM_TREES_COUNT, count);
    set_number(&k, GBM_TREES_COLUMNS, columns);
    set_number(&k, GBM_TREES_FIRST, first);
    set_number(&k, GBM_TREES_CELL, s->start.items[first]);
    list_pattern(&k);
    list_outer(&k);
    list_updates(&k);
    begin_list(&k, GBM_TREES_SIZE);
}
