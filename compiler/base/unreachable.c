/* unreachable.c: what the compiler does where it is wrong itself. */
#include "base/base.h"

#include <stdlib.h>

void gbmc_unreachable(const char *file, int line)
{
    fprintf(stderr,
            "gbmc: error: a case that cannot be, at %s:%d: please "
            "report this model\n",
            file, line);
    exit(2);
}
