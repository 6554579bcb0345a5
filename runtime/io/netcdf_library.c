/* netcdf_library.c: libnetcdf is opened on first use: its start costs more than
 * small models take to run, and most runs do not need it. */
#include "io/netcdf.h"
#include "io/output.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const rt_netcdf_groups[GBM_GROUPS] = {
    "posterior", "posterior_predictive", "prior", "prior_predictive",
    "log_likelihood"};

static bool find_functions(struct rt_netcdf_library *nc)
{
    bool all = true;

#define FIND(f)                                                                \
    do {                                                                       \
        void *at = dlsym(nc->handle, #f);                                      \
        memcpy(&nc->f, &at, sizeof at); /* ISO C has no cast for this */       \
        all = all && at;                                                       \
    } while (0);
    RT_NETCDF_FUNCTIONS(FIND)
#undef FIND
    return all;
}

/* It stays open until the program ends: HDF5 registers an exit handler. */
enum gbm_status rt_netcdf_open(struct rt_netcdf_library *nc, char *error)
{
    static const char *const names[] = {
#ifdef GBM_NETCDF_LIBRARY
        GBM_NETCDF_LIBRARY,
#endif
        "libnetcdf.so.19",  "libnetcdf.so",    "libnetcdf.so.22",
        "libnetcdf.so.18",  "libnetcdf.so.15",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        nc->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (nc->handle && find_functions(nc))
            return GBM_OK;
    }
    snprintf(error, GBM_ERROR,
             "netCDF files need libnetcdf, which is not installed (Debian: "
             "apt-get install libnetcdf19); --out NAME.csv does without");
    return GBM_USER_ERROR;
}

enum gbm_status rt_check_netcdf(char *error)
{
    struct rt_netcdf_library nc;

    return rt_netcdf_open(&nc, error);
}

bool rt_netcdf_check(struct rt_netcdf *f, int code, const char *what)
{
    if (code == NC_NOERR)
        return f->status == GBM_OK;
    if (f->status == GBM_OK) {
        bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT;
        snprintf(f->error, GBM_ERROR, "%.600s: %s: %s", f->path, what,
                 full ? strerror(errno) : f->nc.nc_strerror(code));
        f->status = GBM_FAILURE;
    }
    return false;
}

bool rt_netcdf_no_memory(struct rt_netcdf *f)
{
    snprintf(f->error, GBM_ERROR, "out of memory");
    f->status = GBM_FAILURE;
    return false;
}
