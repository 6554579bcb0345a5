/* find_border.h: vertices whose rows many small trees share. */
#ifndef RT_FIND_BORDER_H
#define RT_FIND_BORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Marks the vertices of a border; returns their number, 0 if there are none,
 * they leave larger pieces, or there is no memory. */
int rt_find_border(int d, const int64_t *start, const int *neighbour,
                   bool *border);

#endif
