/* netcdf.h: libnetcdf, and a file being written or read. Private to the writer
 * and the reader. */
#ifndef GBM_NETCDF_H
#define GBM_NETCDF_H

#include "io/draws.h"
#include "base/status.h"

#include <netcdf.h>
#include <stdbool.h>

/* The functions that we use, by name. */
#define RT_NETCDF_FUNCTIONS(X)                                                 \
    X(nc_create)                                                               \
    X(nc_open)                                                                 \
    X(nc_close)                                                                \
    X(nc_abort)                                                                \
    X(nc_strerror)                                                             \
    X(nc_def_grp)                                                              \
    X(nc_def_dim)                                                              \
    X(nc_def_var)                                                              \
    X(nc_def_var_fill)                                                         \
    X(nc_enddef)                                                               \
    X(nc_put_att_text)                                                         \
    X(nc_put_att_double)                                                       \
    X(nc_put_att_int)                                                          \
    X(nc_put_att_longlong)                                                     \
    X(nc_put_att_string)                                                       \
    X(nc_put_vara_double)                                                      \
    X(nc_put_var_longlong)                                                     \
    X(nc_put_var_string)                                                       \
    X(nc_get_var_string)                                                       \
    X(nc_free_string)                                                          \
    X(nc_inq_dimid)                                                            \
    X(nc_inq_grp_ncid)                                                         \
    X(nc_inq_varids)                                                           \
    X(nc_inq_var)                                                              \
    X(nc_inq_varid)                                                            \
    X(nc_inq_dim)                                                              \
    X(nc_inq_att)                                                              \
    X(nc_get_att_text)                                                         \
    X(nc_get_att_double)                                                       \
    X(nc_get_var_double)                                                       \
    X(nc_get_vara_double)

struct rt_netcdf_library {
    void *handle;
#define RT_MEMBER(f) __typeof__(&f) f;
    RT_NETCDF_FUNCTIONS(RT_MEMBER)
#undef RT_MEMBER
};

/* Names of the groups, in the order of enum gbm_group. */
extern const char *const rt_netcdf_groups[GBM_GROUPS];

/* One file being written or read; the first failure is kept. */
struct rt_netcdf {
    struct rt_netcdf_library nc;
    const struct gbm_draws *draws;
    const struct gbm_array **arrays; /* of the group that is written, or NULL:
                                        the draws' variables are */
    int narrays;
    const char *path;
    char *error;
    enum gbm_status status;
};

/* Opens the library; the first call takes a while. */
enum gbm_status rt_netcdf_open(struct rt_netcdf_library *nc, char *error);
/* Keeps the first failure of a netCDF call; true if all is well so far. */
bool rt_netcdf_check(struct rt_netcdf *f, int code, const char *what);
/* The same for want of memory; false. */
bool rt_netcdf_no_memory(struct rt_netcdf *f);

#endif
