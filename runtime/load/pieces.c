/* pieces.c: the list of what a checkpoint saves. */
#include "load/load.h"

#include <stdlib.h>

void rt_pieces_add(struct rt_pieces *p, const char *name, void *place,
                   size_t bytes)
{
    if (p->count == p->capacity) {
        int capacity = p->capacity ? 2 * p->capacity : 64;
        struct rt_piece *more =
            realloc(p->items, (size_t)capacity * sizeof *more);
        p->failed = p->failed || !more;
        if (!more)
            return;
        p->items = more;
        p->capacity = capacity;
    }
    p->items[p->count++] = (struct rt_piece){name, place, bytes};
}

void rt_pieces_free(struct rt_pieces *p)
{
    free(p->items);
    *p = (struct rt_pieces){0};
}
