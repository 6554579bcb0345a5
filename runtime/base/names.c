/* names.c: lists of names, as options have them: "theta, mu[1:3,2]". */
#include "base/base.h"

#include <string.h>

static const char apart[] = ", \t\n";

const char *rt_next_name(const char **list, size_t *length)
{
    size_t n = 0;
    int depth = 0;
    if (!*list)
        return NULL;
    const char *name = *list + strspn(*list, apart);
    for (; name[n] && (depth > 0 || !strchr(apart, name[n])); n++)
        depth += (name[n] == '[') - (name[n] == ']');
    *length = n;
    *list = name + n;
    return n ? name : NULL;
}

bool rt_is_listed(const char *list, const char *name)
{
    size_t n;
    for (const char *at; (at = rt_next_name(&list, &n));)
        if (strlen(name) == n && strncmp(at, name, n) == 0)
            return true;
    return false;
}
