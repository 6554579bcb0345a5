/* joint_lists.c: for every cell of a block's precision and potential the rows
 * of a term that it gathers, as lists of the block's table; what data settle of
 * them is summed, or multiplied, at load. */
#include "load/joint_layout.h"
#include "real.h" /* of stdlib, in double */
#include "joint.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int rt_joint_put(struct layout *l, const struct rt_ints *list)
{
    int at = (int)l->table.n;
    for (int64_t i = 0; i < list->n; i++)
        rt_ints_add(&l->table, list->items[i]);
    return at;
}

/* Where the parts of a list stand in the header of a term. */
struct fields {
    int count, to, from, row, left, right, value, runs;
};
static const struct fields of_precision = {
    GBM_T_Q,      GBM_T_Q_TO,    GBM_T_Q_FROM,  GBM_T_Q_ROW,
    GBM_T_Q_LEFT, GBM_T_Q_RIGHT, GBM_T_Q_VALUE, GBM_T_Q_RUNS};
static const struct fields of_potential = {
    GBM_T_B,      GBM_T_B_TO, GBM_T_B_FROM,  GBM_T_B_ROW,
    GBM_T_B_LEFT, -1,         GBM_T_B_VALUE, GBM_T_B_RUNS};

static void go_through(const struct layout *l, const struct links *links,
                       const struct term *t, const struct fields *f,
                       struct shares *s)
{
    if (f == &of_precision ? t->term->forms : t->offset != NULL) {
        for (int a = 0; a < t->components; a++)
            for (int b = 0; b < t->components; b++)
                for (int64_t i = 0; i < t->instances; i++)
                    if (f == &of_potential)
                        rt_joint_shares_of_offset(l, t, i, a, b, s);
                    else if (b <= a)
                        rt_joint_shares_of_forms(l, links, t, i, a, b, s);
        return;
    }
    for (int64_t r = 0; r < t->element.n; r++)
        if (f == &of_precision)
            rt_joint_shares_of_precision(l, links, t,
                                         t->in_order ? t->in_order[r] : r, s);
        else
            rt_joint_shares_of_potential(l, t, r, s);
}

/* Finds the shares of a term: counts them, cell by cell, for room; `to` and
 * `from` are the cells that have some, and where these begin. */
static bool find_shares(const struct layout *l, const struct links *links,
                        const struct term *t, const struct fields *f,
                        struct shares *s, struct rt_ints *to,
                        struct rt_ints *from)
{
    const int64_t cells =
        f == &of_precision ? l->symbolic.cells + links->n : l->d;
    const bool listed = !s->by, valued = s->design && listed;
    const bool merged = valued && (t->term->forms || s->first_alike);
    s->at = calloc((size_t)cells + 1, sizeof *s->at);
    if (merged)
        s->last = calloc((size_t)cells + 1, sizeof *s->last);
    if (!s->at || (merged && !s->last))
        return false;
    go_through(l, links, t, f, s);
    if (s->n > MOST || !rt_joint_order_cells(cells, s, to, from))
        return false;
    if (listed)
        s->items = malloc(((size_t)s->n + 1) * sizeof *s->items);
    else
        s->sum = calloc((size_t)cells + 1, sizeof *s->sum);
    if (valued)
        s->value = malloc(((size_t)s->n + 1) * sizeof *s->value);
    if (!(listed ? s->items != NULL : s->sum != NULL) || (valued && !s->value))
        return false;
    if (merged)
        memset(s->last, 0, (size_t)cells * sizeof *s->last);
    go_through(l, links, t, f, s);
    return true;
}

/* Whether the rows of each cell's shares follow one another. */
static bool in_runs(const struct shares *s, const struct rt_ints *from)
{
    for (int64_t c = 0; c + 1 < from->n; c++)
        for (int64_t i = from->items[c] + 1; i < from->items[c + 1]; i++)
            if (s->items[i].row != s->items[i - 1].row + 1)
                return false;
    return true;
}

/* Puts the shares into the table and tells the term's header where. */
static bool put_shares(struct layout *l, const struct shares *s, int header,
                       const struct fields *f, const struct rt_ints *to,
                       const struct rt_ints *from)
{
    struct rt_ints row = {0}, left = {0}, right = {0};
    for (int64_t i = 0; s->items && i < s->n; i++) {
        rt_ints_add(&row, s->items[i].row);
        if (!s->design) {
            rt_ints_add(&left, s->items[i].left);
            rt_ints_add(&right, s->items[i].right);
        }
    }
    int at_to = rt_joint_put(l, to), at_from = rt_joint_put(l, from);
    int at_row = rt_joint_put(l, &row), at_left = rt_joint_put(l, &left);
    int at_right = f->right >= 0 ? rt_joint_put(l, &right) : 0;
    rt_ints_free(&row);
    rt_ints_free(&left);
    rt_ints_free(&right);
    if (l->table.failed || l->nconstant >= INT_MAX)
        return false;
    int *h = l->table.items + header;
    h[f->count] = (int)to->n;
    h[f->to] = at_to;
    h[f->from] = at_from;
    h[f->row] = at_row;
    h[f->left] = at_left;
    if (f->right >= 0)
        h[f->right] = at_right;
    h[f->value] = (int)l->nconstant;
    h[f->runs] = s->items && in_runs(s, from);
    return true;
}

/* What is known at load: products of coefficients, or whole sums. */
static void put_known(struct layout *l, const struct shares *s,
                      const struct rt_ints *to)
{
    for (int64_t c = 0; s->by && c < to->n; c++)
        rt_joint_add_constants(l, &s->sum[to->items[c]], 1);
    if (s->value)
        rt_joint_add_constants(l, s->value, s->n);
}

/* Writes a list: its cells, and of each its contributions, summed (by: the
 * rows' weights or scores) or not. design: of all rows, or NULL if it varies.
 */
static bool put_list(struct layout *l, const struct links *links,
                     const struct term *t, int header, const struct fields *f,
                     const double *design, const double *by)
{
    struct rt_ints to = {0}, from = {0};
    struct shares s = {.design = design,
                       .by = by,
                       .first_alike =
                           f == &of_precision && !by ? t->first_alike : NULL};
    bool ok = find_shares(l, links, t, f, &s, &to, &from) &&
              put_shares(l, &s, header, f, &to, &from);
    if (ok)
        put_known(l, &s, &to);
    rt_ints_free(&to);
    rt_ints_free(&from);
    free(s.at);
    free(s.last);
    free(s.value);
    free(s.sum);
    free(s.items);
    return ok && !l->failed;
}

bool rt_joint_put_precision(struct layout *l, const struct links *links,
                            const struct term *t, int header,
                            const double *design, const double *by)
{
    return put_list(l, links, t, header, &of_precision, design, by);
}

bool rt_joint_put_potential(struct layout *l, const struct links *links,
                            const struct term *t, int header,
                            const double *design, const double *by)
{
    return put_list(l, links, t, header, &of_potential, design, by);
}
