/* names.c: lists of names, as options have them: "theta, mu". */
#include "base/base.h"

#include <string.h>

const char *rt_next_name(const char **list, size_t *length)
{
    if (!*list)
        return NULL;
    const char *name = *list + strspn(*list, ", ");
    *length = strcspn(name, ", ");
    *list = name + *length;
    return *length ? name : NULL;
}

bool rt_is_listed(const char *list, const char *name)
{
    size_t n;
    for (const char *at; (at = rt_next_name(&list, &n));)
        if (strlen(name) == n && strncmp(at, name, n) == 0)
            return true;
    return false;
}
