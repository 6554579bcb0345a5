/* grow.c: lists that grow. */
#include "base/base.h"

#include <stdlib.h>

void *rt_grow(void *list, int64_t n, int64_t *capacity, size_t size)
{
    if (n < *capacity)
        return list;
    *capacity = 2 * n + 16;
    list = realloc(list, (size_t)*capacity * size);
    if (!list)
        abort();
    return list;
}
