/* origin.h: how a sampler was compiled, so that it can have itself compiled
 * again with more in it. gbmc writes it behind the end of the executable, which
 * no loader reads: what is compiled, and where it is kept, does not depend on
 * it. */
#ifndef GBM_ORIGIN_H
#define GBM_ORIGIN_H

#include "base/cache.h"

/* A file that gbmc read, by its whole path, and what was in it. */
struct rt_origin_file {
    const char *path;
    struct rt_key key;
};

struct rt_origin {
    const char *compiler, *folder; /* gbmc, and where it ran */
    const char **arguments;        /* but for -o and --with */
    struct rt_origin_file *files;
    int narguments, nfiles;
    char *bytes; /* of rt_origin_read */
};

/* False if it cannot be written. */
bool rt_origin_append(const char *path, const struct rt_origin *origin);
/* False if `path` has none. */
bool rt_origin_read(const char *path, struct rt_origin *out);
void rt_origin_free(struct rt_origin *origin);
/* The key of what is in a file; false if it cannot be read. */
bool rt_origin_file_key(const char *path, struct rt_key *key);

#endif
