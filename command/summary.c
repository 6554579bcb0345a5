/* summary.c: what is read of the JSON that --summary writes. */
#include "command.h"

#include <math.h>
#include <string.h>

bool is_summary(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

double summary_number(const json_t *all, const char *key, const char *member)
{
    const json_t *found = json_object_get(all, key);
    if (member)
        found = json_object_get(found, member);
    return json_is_number(found) ? json_number_value(found) : NAN;
}
