/* joint_constants.c: the constants that the tables of a joint block point to.
 */
#include "load/joint_layout.h"

#include <stdlib.h>
#include <string.h>

bool rt_joint_add_constants(struct layout *l, const double *value, int64_t n)
{
    if (n == 0)
        return true;
    if (l->nconstant + n > l->constants) {
        const int64_t more = 2 * l->constants + n + 64;
        double *c = realloc(l->constant, (size_t)more * sizeof *c);
        if (!c) {
            l->failed = true;
            return false;
        }
        l->constant = c;
        l->constants = more;
    }
    memcpy(l->constant + l->nconstant, value, (size_t)n * sizeof *value);
    l->nconstant += n;
    return true;
}
