/* minimum_degree.h: a fill-reducing order of a sparse symmetric matrix. */
#ifndef RT_MINIMUM_DEGREE_H
#define RT_MINIMUM_DEGREE_H

#include <stdbool.h>
#include <stdint.h>

/* Neighbours of vertex i are neighbour[start[i] .. start[i + 1]), both
 * directions; writes order[k] = the vertex that is eliminated as number k. The
 * order depends on the arguments alone. In rounds: what an elimination has
 * changed waits until nothing else of small degree is left, so that what is
 * eliminated side by side is much and the tree low (of a chain as high as the
 * logarithm of its length), for somewhat more fill. False if there is no
 * memory. */
bool rt_minimum_degree(int n, const int64_t *start, const int *neighbour,
                       bool in_rounds, int *order);

#endif
