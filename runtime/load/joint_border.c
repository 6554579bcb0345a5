/* joint_border.c: which rows each small tree of a joint block has, where all
 * its columns but a few dense ones, the border, are in such trees: a lane of
 * the device then goes from a tree's rows to its draw by itself
 * (stdlib/kernels/border.h). Rows that data settle stay summed at load. */
#include "load/joint_layout.h"
#include "real.h" /* of stdlib, in double */
#include "joint.h"
#include "border.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 8 };
#define MOST_COEFFICIENTS ((int64_t)1 << 24) /* of trees of their own each */

struct border {
    struct layout *l;
    struct gbm_trees classes[MOST_CLASSES];
    int nclasses, columns, edge;
};

/* A term's rows, by class: which tree's, and which of that tree's. */
struct gathered {
    int *klass, *tree, *turn; /* [rows] */
    int most[MOST_CLASSES];   /* rows of a tree */
};

static bool all_shared(const struct gbm_trees *k)
{
    const int outer = (int)((k->shared - k->outer) / (k->count ? k->count : 1));
    for (int i = 0; i < outer; i++)
        if (!k->shared[i])
            return false;
    return true;
}

static bool find_classes(struct border *b)
{
    const struct rt_symbolic *s = &b->l->symbolic;
    const int *t = s->trees.items, *end = t + s->trees.n;
    b->edge = s->d - s->sparse;
    if (s->leaves == 0 || s->leaves != s->sparse || b->edge < 1 ||
        b->edge > GBM_BORDER_EDGE || b->l->held_where.n > 0)
        return false;
    for (; t < end; t += t[GBM_TREES_SIZE]) {
        if (b->nclasses == MOST_CLASSES)
            return false;
        const struct gbm_trees k = gbm_trees_of(t);
        if (k.columns > GBM_BORDER_COLUMNS || !all_shared(&k))
            return false;
        if (k.columns > b->columns)
            b->columns = k.columns;
        b->classes[b->nclasses++] = k;
    }
    return true;
}

/* Of column `at` of the factor: its class, or -1 in the border. */
static int class_of(const struct border *b, int at)
{
    for (int i = 0; i < b->nclasses; i++) {
        const struct gbm_trees *k = &b->classes[i];
        if (at >= k->first && at < k->first + k->columns * k->count)
            return i;
    }
    return -1;
}

/* Its number among a tree's columns and the border's. */
static int number_of(const struct border *b, int klass, int at)
{
    return klass < 0 ? b->columns + at - b->l->symbolic.sparse
                     : (at - b->classes[klass].first) / b->classes[klass].count;
}

/* Each row is of one tree, and of the border. */
static bool find_owners(const struct border *b, const struct term *t,
                        struct gathered *g)
{
    for (int64_t r = 0; r < t->element.n; r++) {
        g->klass[r] = -1;
        for (int i = t->begin.items[r]; i < t->begin.items[r + 1]; i++) {
            if (t->place.items[i] < 0)
                continue;
            const int at = b->l->symbolic.at[t->place.items[i]];
            const int klass = class_of(b, at);
            if (klass < 0)
                continue;
            const struct gbm_trees *k = &b->classes[klass];
            const int tree = (at - k->first) % k->count;
            if (g->klass[r] >= 0 &&
                (g->klass[r] != klass || g->tree[r] != tree))
                return false;
            g->klass[r] = klass;
            g->tree[r] = tree;
        }
        if (g->klass[r] < 0)
            return false;
    }
    return true;
}

/* Numbers the rows of each tree; false if trees have too few of what most have.
 */
static bool take_turns(const struct border *b, const struct term *t,
                       struct gathered *g)
{
    int64_t room = 0;
    int *rows[MOST_CLASSES] = {0};
    bool ok = true;
    for (int k = 0; k < b->nclasses; k++) {
        rows[k] = calloc((size_t)b->classes[k].count + 1, sizeof **rows);
        ok = ok && rows[k];
    }
    for (int64_t r = 0; ok && r < t->element.n; r++) {
        const int turn = rows[g->klass[r]][g->tree[r]]++;
        g->turn[r] = turn;
        if (turn >= g->most[g->klass[r]])
            g->most[g->klass[r]] = turn + 1;
    }
    for (int k = 0; k < b->nclasses; k++) {
        free(rows[k]);
        room += (int64_t)g->most[k] * b->classes[k].count;
    }
    return ok && room <= 2 * t->element.n;
}

static bool could_gather(const struct term *t)
{
    return !t->term->curved && !t->term->extent && t->fixed_design &&
           !t->weight && !(t->fixed_weight && t->fixed_score) &&
           t->element.n > 0;
}

/* The row's coefficients, by columns of its tree and the border. */
static void row_of(const struct border *b, const struct term *t,
                   const struct gathered *g, int64_t r, double *room,
                   double *out)
{
    const int from = t->begin.items[r], to = t->begin.items[r + 1];
    memset(out, 0, (size_t)(b->columns + b->edge) * sizeof *out);
    for (int i = from; i < to; i++)
        room[i - from] = 1;
    if (t->term->design)
        t->term->design(b->l->state, t->element.items[r], room);
    for (int i = from; i < to; i++) {
        const int place = t->place.items[i];
        if (place < 0)
            continue;
        const int at = b->l->symbolic.at[place];
        const int klass = class_of(b, at);
        out[number_of(b, klass < 0 ? -1 : g->klass[r], at)] += room[i - from];
    }
}

/* The coefficients [rows][columns + edge][trees] of a class, and whether those
 * of all trees are the same: then [rows][columns + edge]. */
static double *coefficients(const struct border *b, const struct term *t,
                            const struct gathered *g, int klass, bool *same)
{
    const int n = b->columns + b->edge, trees = b->classes[klass].count;
    const int64_t cells = (int64_t)g->most[klass] * n;
    double *all = calloc((size_t)(cells * trees) + 1, sizeof *all);
    double *first = calloc((size_t)cells + 1, sizeof *first);
    bool *seen = calloc((size_t)g->most[klass] + 1, sizeof *seen);
    int64_t longest = 0;
    for (int64_t r = 0; r < t->element.n; r++)
        if (t->begin.items[r + 1] - t->begin.items[r] > longest)
            longest = t->begin.items[r + 1] - t->begin.items[r];
    double *room = malloc(((size_t)longest + 1) * sizeof *room);
    double row[GBM_BORDER_COLUMNS + GBM_BORDER_EDGE];
    const bool ok = all && first && seen && room;
    *same = true;
    for (int64_t r = 0; ok && r < t->element.n; r++) {
        if (g->klass[r] != klass)
            continue;
        row_of(b, t, g, r, room, row);
        double *of_first = first + (int64_t)g->turn[r] * n;
        for (int m = 0; m < n; m++) {
            all[((int64_t)g->turn[r] * n + m) * trees + g->tree[r]] = row[m];
            if (!seen[g->turn[r]])
                of_first[m] = row[m];
            *same = *same && of_first[m] == row[m];
        }
        seen[g->turn[r]] = true;
    }
    free(room);
    free(seen);
    if (ok && *same) {
        free(all);
        return first;
    }
    free(first);
    if (!ok) {
        free(all);
        return NULL;
    }
    return all;
}

static void put_number(struct layout *l, int64_t at, int64_t value)
{
    if (!l->table.failed)
        l->table.items[at] = (int)value;
}

/* A class's rows of a term; `header` is where their numbers stand. */
static bool put_rows(const struct border *b, const struct term *t,
                     const struct gathered *g, int klass, int64_t header)
{
    struct layout *l = b->l;
    const int trees = b->classes[klass].count, rows = g->most[klass];
    bool same;
    double *value = coefficients(b, t, g, klass, &same);
    if (!value)
        return false;
    const int64_t first = l->table.n;
    for (int64_t i = 0; i < (int64_t)rows * trees; i++)
        rt_ints_add(&l->table, -1 - t->element.items[0]);
    for (int64_t r = 0; r < t->element.n && !l->table.failed; r++)
        if (g->klass[r] == klass)
            put_number(l, first + (int64_t)g->turn[r] * trees + g->tree[r],
                       t->element.items[r]);
    put_number(l, header + GBM_BORDER_ROWS, rows);
    put_number(l, header + GBM_BORDER_ELEMENT, first);
    put_number(l, header + GBM_BORDER_VALUE, l->nconstant);
    put_number(l, header + GBM_BORDER_STRIDE, same ? 0 : trees);
    const bool ok = rt_joint_add_constants(
        l, value, (int64_t)rows * (b->columns + b->edge) * (same ? 1 : trees));
    free(value);
    return ok && !l->table.failed;
}

/* Where the tree's cells of each of its columns and the border's are. */
static void put_positions(const struct border *b, int klass, int64_t header)
{
    const struct gbm_trees k = b->classes[klass];
    struct layout *l = b->l;
    const int n = b->columns + b->edge;
    put_number(l, header, l->table.n);
    const int64_t first = l->table.n;
    for (int i = 0; i < b->columns * n; i++)
        rt_ints_add(&l->table, -1);
    for (int c = 0; c < k.columns; c++)
        for (int q = k.from[c]; q < k.from[c + 1]; q++) {
            const int outer = -1 - k.row[q];
            const int m = outer < 0 ? k.row[q]
                                    : b->columns + k.outer[outer * k.count] -
                                          l->symbolic.sparse;
            put_number(l, first + c * n + m, q);
        }
}

/* Whether some row of the term has cells of trees. */
static bool in_trees(const struct border *b, const struct term *t)
{
    for (int64_t i = 0; i < t->place.n; i++)
        if (t->place.items[i] >= 0 &&
            class_of(b, b->l->symbolic.at[t->place.items[i]]) >= 0)
            return true;
    return false;
}

static bool gathered_create(const struct term *t, struct gathered *g)
{
    const size_t n = (size_t)t->element.n + 1;
    *g = (struct gathered){.klass = malloc(n * sizeof *g->klass),
                           .tree = malloc(n * sizeof *g->tree),
                           .turn = malloc(n * sizeof *g->turn)};
    return g->klass && g->tree && g->turn;
}

static void gathered_free(struct gathered *g)
{
    free(g->klass);
    free(g->tree);
    free(g->turn);
}

/* Lists the term's rows, if they are alike; sets *listed. */
static bool put_border_term(const struct border *b, const struct term *t,
                            int64_t list, int k, int nterms, bool *listed)
{
    struct gathered g = {0};
    bool ok = true;
    *listed = false;
    if (could_gather(t)) {
        ok = gathered_create(t, &g);
        *listed = ok && find_owners(b, t, &g) && take_turns(b, t, &g) &&
                  t->element.n * (b->columns + b->edge) < MOST_COEFFICIENTS;
    }
    for (int i = 0; ok && *listed && i < b->nclasses; i++)
        if (g.most[i] > 0)
            ok = put_rows(b, t, &g, i,
                          list + GBM_BORDER_CLASSES +
                              (int64_t)i * (1 + nterms * GBM_BORDER_TERM) + 1 +
                              k * GBM_BORDER_TERM);
    gathered_free(&g);
    return ok;
}

bool rt_joint_list_border(struct layout *l, int terms)
{
    struct border b = {.l = l};
    const int nterms = l->block->nterms;
    if (!find_classes(&b))
        return true;
    for (int k = 0; k < nterms; k++)
        if (l->block->terms[k].curved)
            return true;
    const int64_t list = l->table.n, size = 1 + nterms * GBM_BORDER_TERM;
    for (int64_t i = 0; i < GBM_BORDER_CLASSES + b.nclasses * size; i++)
        rt_ints_add(&l->table, 0);
    for (int i = 0; i < b.nclasses; i++)
        put_positions(&b, i, list + GBM_BORDER_CLASSES + i * size);
    bool fresh = true, ok = true;
    for (int k = 0; ok && k < nterms; k++) {
        bool listed;
        ok = put_border_term(&b, &l->terms[k], list, k, nterms, &listed);
        put_number(l, terms + k * GBM_T_SIZE + GBM_T_BORDER, listed);
        fresh = fresh && (listed || !in_trees(&b, &l->terms[k]));
    }
    put_number(l, list + GBM_BORDER_FRESH, fresh);
    put_number(l, GBM_J_BORDER, list);
    put_number(l, GBM_J_COLUMNS, b.columns);
    return ok && !l->table.failed;
}
