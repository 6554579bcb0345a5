/* symbolic.h: the pattern of a sparse Cholesky factor and the lists that
 * stdlib/kernels/sparse_cholesky.h works through. */
#ifndef RT_SYMBOLIC_H
#define RT_SYMBOLIC_H

#include "load/ints.h"

struct rt_symbolic {
    int d, sparse, leaves, levels;
    int dense;    /* cell where the dense block begins */
    int cells;    /* of all */
    double flops; /* of a factorisation */
    int *at;      /* [d] vertex i is row at[i] */
    /* Of a sparse column: its number of cells, and how far they are apart */
    struct rt_ints count, step;
    struct rt_ints trees, start, row, place, level_cell, level_column, column,
        cell, product, left, right, row_start, row_cell, row_column;
};

/* Who factors such a matrix. Many lanes go through a level of the elimination
 * tree together, so that a low tree is worth more operations; one lane of many,
 * each with a matrix of its own, has small trees and a border in registers. */
enum rt_lanes { RT_LANES_NONE, RT_LANES_SHARE, RT_LANES_EACH };

/* From the graph of the matrix (as in minimum_degree.h, without loops). False
 * if there is no memory or the factor would be too large. */
bool rt_symbolic_create(struct rt_symbolic *s, int d, const int64_t *start,
                        const int *neighbour, enum rt_lanes lanes);
void rt_symbolic_free(struct rt_symbolic *s);
/* symbolic_cell.c. Cell number i of a sparse column, the diagonal being the
 * first. */
int rt_symbolic_cell_of(const struct rt_symbolic *s, int column, int i);
/* The cell of rows a and b (in either order), or -1. */
int rt_symbolic_cell(const struct rt_symbolic *s, int a, int b);

#endif
