/* ints.h: a growing list of ints. */
#ifndef RT_INTS_H
#define RT_INTS_H

#include <stdbool.h>
#include <stdint.h>

/* `failed` stays set once memory or the range of an int has
 * run out. */
struct rt_ints {
    int *items;
    int64_t n, capacity;
    bool failed;
};
void rt_ints_add(struct rt_ints *l, int64_t item);
void rt_ints_free(struct rt_ints *l);

#endif
