/* find_trees.h: the pattern of a factor, and small elimination trees of one
 * pattern in it. */
#ifndef RT_FIND_TREES_H
#define RT_FIND_TREES_H

#include "load/symbolic.h"

/* Columns of L, diagonal left out, rows ascending. */
struct rt_pattern {
    int d;
    int **row, *count, *parent;
};

/* Puts the columns of trees of which many have one pattern first, class by
 * class as stdlib/kernels/trees.h has them, among the first `sparse` columns;
 * order: [d] the old columns; classes: of each its trees and their columns.
 * False if there is no memory. */
bool rt_find_trees(const struct rt_pattern *p, int sparse,
                   struct rt_ints *order, struct rt_ints *classes);
/* Adds the class to s->trees, p being in the new order. Requires the columns
 * of s. */
void rt_list_trees(struct rt_symbolic *s, const struct rt_pattern *p, int first,
                   int count, int columns);

#endif
