/* ints.c: a growing list of ints. */
#include "load/ints.h"

#include <limits.h>
#include <stdlib.h>

void rt_ints_add(struct rt_ints *l, int64_t item)
{
    if (l->n == l->capacity) {
        int64_t capacity = l->capacity ? 2 * l->capacity : 16;
        int *items =
            l->failed ? NULL
                      : realloc(l->items, (size_t)capacity * sizeof *l->items);
        if (!items) {
            l->failed = true;
            return;
        }
        l->items = items;
        l->capacity = capacity;
    }
    if (item > INT_MAX)
        l->failed = true;
    l->items[l->n++] = (int)item;
}

void rt_ints_free(struct rt_ints *l)
{
    free(l->items);
    *l = (struct rt_ints){0};
}
