/* joint_shares.c: what the rows of a joint block contribute to the cells of its
 * precision and potential. */
#include "load/joint_layout.h"
#include "real.h" /* of stdlib, in double */
#include "joint.h"

#include <stdlib.h>

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

/* ---- what the rows contribute ---- */

static int64_t cell_of_pair(const struct layout *l, const struct links *links,
                            int a, int b)
{
    if (a >= 0 && b >= 0)
        return rt_symbolic_cell(&l->symbolic, l->symbolic.at[a],
                                l->symbolic.at[b]);
    if (a >= 0 && b <= HELD(0))
        return rt_joint_link_cell(l, links, a, HELD(b));
    if (b >= 0 && a <= HELD(0))
        return rt_joint_link_cell(l, links, b, HELD(a));
    return -1;
}

/* What places i and j of a row meet in: two different places of one coordinate
 * meet twice on the diagonal. */
static void share_pair(const struct layout *l, const struct links *links,
                       const struct term *t, int64_t row, int i, int j,
                       struct shares *out)
{
    const int a = t->place.items[i], b = t->place.items[j];
    const int64_t to = cell_of_pair(l, links, a, b);
    if (to < 0)
        return;
    add_share(out, to, row, i, j);
    if (i != j && a == b)
        add_share(out, to, row, i, j);
}

/* Calls of a term's contributions to Q: cell, row, places of the two
 * coefficients. */
void rt_joint_shares_of_precision(const struct layout *l,
                                  const struct links *links,
                                  const struct term *t, int64_t row,
                                  struct shares *out)
{
    const int first = t->begin.items[row], end = t->begin.items[row + 1];
    for (int i = t->term->extent ? end - 1 : first; i < end; i++)
        for (int j = first; j <= (t->term->extent ? first : i); j++)
            share_pair(l, links, t, row, i, j, out);
}

/* Of two components of an instance: their coefficients' products, which meet
 * twice where both are of one coordinate. */
void rt_joint_shares_of_forms(const struct layout *l, const struct links *links,
                              const struct term *t, int64_t instance, int a,
                              int b, struct shares *out)
{
    const int row = rt_joint_row_of_pair(t, instance, a, b);
    const int *left =
        t->begin.items + rt_joint_row_of_component(t, instance, a);
    const int *right =
        t->begin.items + rt_joint_row_of_component(t, instance, b);
    for (int i = left[0]; i < left[1]; i++)
        for (int j = right[0]; j < (a == b ? i + 1 : right[1]); j++)
            share_pair(l, links, t, row, i, j, out);
}

/* What component a of an instance has from the offset of component b. */
void rt_joint_shares_of_offset(const struct layout *l, const struct term *t,
                               int64_t instance, int a, int b,
                               struct shares *out)
{
    const int row = rt_joint_row_of_pair(t, instance, a, b);
    const int *left =
        t->begin.items + rt_joint_row_of_component(t, instance, a);
    const double offset = t->offset[instance * t->components + b];
    for (int i = left[0]; i < left[1]; i++)
        if (t->place.items[i] >= 0)
            add_value(out, l->symbolic.at[t->place.items[i]], row, i, -1,
                      -out->design[i] * offset);
}

void rt_joint_shares_of_potential(const struct layout *l, const struct term *t,
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
bool rt_joint_order_cells(int64_t cells, struct shares *s, struct rt_ints *to,
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
