/* netcdf.c: draws in ArviZ's InferenceData schema: netCDF-4 with the groups
 * posterior, sample_stats, observed_data, constant_data, and for what was not
 * kept draw by draw a group `moments`. Every dimension has its coordinate
 * variable; extra dimensions of `x` are x_dim_0, x_dim_1, ...
 *
 * libnetcdf is opened on first use: its start costs more than small models
 * take to run, and most runs do not need it. */
#include "io/output.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The functions that we use, by name. */
#define FUNCTIONS(X)                                                           \
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

struct library {
    void *handle;
#define MEMBER(f) __typeof__(&f) f;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

/* One file being written or read; the first failure is kept. */
struct file {
    struct library nc;
    const struct gbm_draws *draws;
    const char *path;
    char *error;
    enum gbm_status status;
};

/* ---- the library */

static bool find_functions(struct library *nc)
{
    bool all = true;

#define FIND(f)                                                                \
    do {                                                                       \
        void *at = dlsym(nc->handle, #f);                                      \
        memcpy(&nc->f, &at, sizeof at); /* ISO C has no cast for this */       \
        all = all && at;                                                       \
    } while (0);
    FUNCTIONS(FIND)
#undef FIND
    return all;
}

/* It stays open until the program ends: HDF5 registers an exit handler. */
static enum gbm_status open_library(struct library *nc, char *error)
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
    struct library nc;

    return open_library(&nc, error);
}

/* Keeps the first failure of a netCDF call; true if all is well so far. */
static bool check(struct file *f, int code, const char *what)
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

static bool no_memory(struct file *f)
{
    snprintf(f->error, GBM_ERROR, "out of memory");
    f->status = GBM_FAILURE;
    return false;
}

/* ---- writing */

static void text_attribute(struct file *f, int group, const char *name,
                           const char *text)
{
    if (text && f->status == GBM_OK)
        check(f,
              f->nc.nc_put_att_text(group, NC_GLOBAL, name, strlen(text), text),
              name);
}

static void number_attribute(struct file *f, int group, const char *name,
                             double value)
{
    if (f->status == GBM_OK)
        check(f,
              f->nc.nc_put_att_double(group, NC_GLOBAL, name, NC_DOUBLE, 1,
                                      &value),
              name);
}

static void integer_attribute(struct file *f, int group, const char *name,
                              long long value)
{
    if (f->status == GBM_OK)
        check(f,
              f->nc.nc_put_att_longlong(group, NC_GLOBAL, name, NC_INT64, 1,
                                        &value),
              name);
}

static void common_attributes(struct file *f, int group)
{
    char now[64] = "";
    time_t clock = time(NULL);
    struct tm utc;

    if (gmtime_r(&clock, &utc))
        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
    text_attribute(f, group, "created_at", now);
    text_attribute(f, group, "creation_library", "gbm");
    text_attribute(f, group, "creation_library_language", "C");
    text_attribute(f, group, "inference_library", "gbm");
    if (f->draws->version && f->draws->version[0]) {
        text_attribute(f, group, "inference_library_version",
                       f->draws->version);
        text_attribute(f, group, "creation_library_version", f->draws->version);
    }
}

static void run_attributes(struct file *f, int group)
{
    const struct gbm_draws *d = f->draws;
    const struct gbm_timing *time = &d->timing;
    const char *sample_dims[2] = {"chain", "draw"};

    common_attributes(f, group);
    text_attribute(f, group, "model_name", d->model);
    text_attribute(f, group, "device", d->device);
    text_attribute(f, group, "data", d->data);
    integer_attribute(f, group, "complete", d->complete);
    if (d->unchecked)
        text_attribute(f, group, "warning", GBM_UNCHECKED);
    integer_attribute(f, group, "seed", (long long)d->seed);
    integer_attribute(f, group, "thin", d->thin);
    integer_attribute(f, group, "tuning_steps", d->warmup);
    number_attribute(f, group, "sampling_time", time->sampling_s);
    number_attribute(f, group, "load_s", time->load_s);
    number_attribute(f, group, "jit_s", time->jit_s);
    number_attribute(f, group, "warmup_s", time->warmup_s);
    number_attribute(f, group, "warmup_cpu_s", time->warmup_cpu_s);
    number_attribute(f, group, "sampling_cpu_s", time->sampling_cpu_s);
    if (f->status == GBM_OK)
        check(f,
              f->nc.nc_put_att_string(group, NC_GLOBAL, "sample_dims", 2,
                                      sample_dims),
              "sample_dims");
}

/* A dimension of `length` with its coordinate variable 0, 1, ... */
static int add_dimension(struct file *f, int group, const char *name,
                         int length)
{
    int dim = -1, var = -1;
    long long *values;

    if (f->status ||
        !check(f, f->nc.nc_def_dim(group, name, (size_t)length, &dim), name) ||
        !check(f, f->nc.nc_def_var(group, name, NC_INT64, 1, &dim, &var), name))
        return dim;
    values = malloc((size_t)length * sizeof *values + 1);
    if (!values) {
        no_memory(f);
        return dim;
    }
    for (int i = 0; i < length; i++)
        values[i] = i;
    if (length > 0) /* length 0 is netCDF's unlimited dimension */
        check(f, f->nc.nc_put_var_longlong(group, var, values), name);
    free(values);
    return dim;
}

/* A variable with `nsample` leading dimensions that exist and its own. */
static int add_variable(struct file *f, int group, const char *name,
                        nc_type type, int nsample, const int *sample, int ndim,
                        const int *dim)
{
    int dims[GBM_MAX_DIMS + 2], var = -1;
    char label[512];

    for (int d = 0; d < nsample; d++)
        dims[d] = sample[d];
    for (int d = 0; d < ndim; d++) {
        snprintf(label, sizeof label, "%.400s_dim_%d", name, d);
        dims[nsample + d] = add_dimension(f, group, label, dim[d]);
    }
    if (f->status == GBM_OK)
        check(f,
              f->nc.nc_def_var(group, name, type, nsample + ndim, dims, &var),
              name);
    /* all values are written: no need to fill first */
    if (f->status == GBM_OK)
        check(f, f->nc.nc_def_var_fill(group, var, NC_NOFILL, NULL), name);
    return var;
}

static bool has_cells(int ndim, const int *dim)
{
    for (int d = 0; d < ndim; d++)
        if (dim[d] == 0)
            return false;
    return true;
}

/* Writes the draws of one variable, some thousands at a time. */
static void write_draws(struct file *f, int group, int var,
                        const struct gbm_draws_variable *v)
{
    const struct gbm_draws *draws = f->draws;
    size_t start[GBM_MAX_DIMS + 2] = {0}, count[GBM_MAX_DIMS + 2];
    int64_t block = (1 << 20) / (v->length > 0 ? v->length : 1) + 1;
    double *buffer;

    if (block > draws->kept)
        block = draws->kept > 0 ? draws->kept : 1;
    buffer = malloc((size_t)(block * v->length) * sizeof *buffer);
    if (!buffer) {
        no_memory(f);
        return;
    }
    for (int d = 0; d < v->ndim; d++)
        count[d + 2] = (size_t)v->dim[d];
    count[0] = 1;
    for (int c = 0; c < draws->chains; c++)
        for (int64_t first = 0; first < draws->kept; first += block) {
            int64_t n =
                draws->kept - first < block ? draws->kept - first : block;

            for (int64_t i = 0; i < n; i++) {
                const double *record =
                    gbm_draws_record(draws, c, (int)(first + i)) + v->offset;
                double *to = buffer + i * v->length;

                if (v->cells)
                    memcpy(to, v->filled, (size_t)v->length * sizeof *buffer);
                for (int64_t k = 0; k < v->count; k++)
                    to[v->cells ? v->cells[k] : k] = record[k];
            }
            start[0] = (size_t)c;
            start[1] = (size_t)first;
            count[1] = (size_t)n;
            if (f->status == GBM_OK)
                check(
                    f,
                    f->nc.nc_put_vara_double(group, var, start, count, buffer),
                    v->name);
        }
    free(buffer);
}

static void write_posterior(struct file *f, int root)
{
    const struct gbm_draws *draws = f->draws;
    int group = -1, sample[2];

    if (!check(f, f->nc.nc_def_grp(root, "posterior", &group), "posterior"))
        return;
    run_attributes(f, group);
    sample[0] = add_dimension(f, group, "chain", draws->chains);
    sample[1] = add_dimension(f, group, "draw", draws->kept);
    for (int i = 0; i < draws->nvariables && f->status == GBM_OK; i++) {
        const struct gbm_draws_variable *v = &draws->variables[i];
        int var;

        if (!has_cells(v->ndim, v->dim))
            continue;
        var = add_variable(f, group, v->name, v->integer ? NC_INT64 : NC_DOUBLE,
                           2, sample, v->ndim, v->dim);
        if (f->status == GBM_OK)
            write_draws(f, group, var, v);
    }
}

static void write_stats(struct file *f, int root)
{
    const struct gbm_draws *draws = f->draws;
    int group = -1, sample[2];

    if (draws->nstats == 0 || f->status ||
        !check(f, f->nc.nc_def_grp(root, "sample_stats", &group),
               "sample_stats"))
        return;
    common_attributes(f, group);
    sample[0] = add_dimension(f, group, "chain", draws->chains);
    sample[1] = add_dimension(f, group, "draw", draws->kept);
    for (int i = 0; i < draws->nstats && f->status == GBM_OK; i++) {
        const struct gbm_draws_stat *s = &draws->stats[i];
        int var =
            add_variable(f, group, s->name, s->integer ? NC_INT64 : NC_DOUBLE,
                         2, sample, 0, NULL);

        for (int c = 0; c < draws->chains && draws->kept > 0; c++) {
            size_t start[2] = {(size_t)c, 0};
            size_t count[2] = {1, (size_t)draws->kept};

            if (f->status == GBM_OK)
                check(f,
                      f->nc.nc_put_vara_double(group, var, start, count,
                                               s->values + (int64_t)c *
                                                               draws->capacity),
                      s->name);
        }
    }
}

/* An array without sample dimensions. */
static void write_array(struct file *f, int group, const char *name, int ndim,
                        const int *dim, const double *values, bool integer)
{
    size_t start[GBM_MAX_DIMS + 1] = {0}, count[GBM_MAX_DIMS + 1];
    int var;

    if (f->status || !has_cells(ndim, dim))
        return;
    var = add_variable(f, group, name, integer ? NC_INT64 : NC_DOUBLE, 0, NULL,
                       ndim, dim);
    for (int d = 0; d < ndim; d++)
        count[d] = (size_t)dim[d];
    if (f->status == GBM_OK)
        check(f, f->nc.nc_put_vara_double(group, var, start, count, values),
              name);
}

static bool is_listed(const struct gbm_array **arrays, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(arrays[i]->name, name) == 0)
            return true;
    return false;
}

/* A partly observed variable whose data were not given: what is filled in,
 * with NaN where drawn. */
static void write_filled(struct file *f, int group,
                         const struct gbm_draws_variable *v)
{
    double *values = malloc((size_t)v->length * sizeof *values + 1);

    if (!values) {
        no_memory(f);
        return;
    }
    memcpy(values, v->filled, (size_t)v->length * sizeof *values);
    for (int64_t k = 0; k < v->count; k++)
        values[v->cells[k]] = NAN;
    write_array(f, group, v->name, v->ndim, v->dim, values, false);
    free(values);
}

static void write_data(struct file *f, int root, const char *name,
                       const struct gbm_array **arrays, int n, bool observed)
{
    const struct gbm_draws *draws = f->draws;
    int group = -1, partial = 0;

    for (int i = 0; i < draws->nvariables && observed; i++)
        partial += draws->variables[i].cells != NULL;
    if (n + partial == 0 || f->status ||
        !check(f, f->nc.nc_def_grp(root, name, &group), name))
        return;
    common_attributes(f, group);
    for (int i = 0; i < n && f->status == GBM_OK; i++)
        write_array(f, group, arrays[i]->name, arrays[i]->ndim, arrays[i]->dim,
                    arrays[i]->values,
                    arrays[i]->integer && !arrays[i]->missing);
    for (int i = 0; i < draws->nvariables && f->status == GBM_OK && observed;
         i++)
        if (draws->variables[i].cells &&
            !is_listed(arrays, n, draws->variables[i].name))
            write_filled(f, group, &draws->variables[i]);
}

/* One of mean, sd, rhat of a variable, NaN where there is none. */
static void write_moment(struct file *f, int group,
                         const struct gbm_moments_variable *m,
                         const char *suffix, const double *values)
{
    char name[512];
    int64_t length = 1;
    double *all;

    for (int d = 0; d < m->ndim; d++)
        length *= m->dim[d];
    all = malloc((size_t)length * sizeof *all + 1);
    if (!all) {
        no_memory(f);
        return;
    }
    for (int64_t i = 0; i < length; i++)
        all[i] = NAN;
    for (int64_t k = 0; k < m->count; k++)
        all[m->cells ? m->cells[k] : k] = values[k];
    snprintf(name, sizeof name, "%.400s_%s", m->name, suffix);
    write_array(f, group, name, m->ndim, m->dim, all, false);
    free(all);
}

static void write_moments(struct file *f, int root)
{
    const struct gbm_draws *draws = f->draws;
    int group = -1;

    if (draws->nmoments == 0 || f->status ||
        !check(f, f->nc.nc_def_grp(root, "moments", &group), "moments"))
        return;
    common_attributes(f, group);
    for (int i = 0; i < draws->nmoments && f->status == GBM_OK; i++) {
        const struct gbm_moments_variable *m = &draws->moments[i];

        write_moment(f, group, m, "mean", m->mean);
        write_moment(f, group, m, "sd", m->sd);
        write_moment(f, group, m, "rhat", m->rhat);
    }
}

struct writing {
    const struct gbm_draws *draws;
    const char *path, *temporary;
};

static enum gbm_status write_whole(void *context, char *error)
{
    const struct writing *w = context;
    const struct gbm_draws *draws = w->draws;
    struct file f = {.draws = draws, .path = w->path, .error = error};
    int root = -1;
    enum gbm_status status = open_library(&f.nc, error);

    if (status)
        return status;
    errno = 0; /* the library's own messages do not name a full disk */
    if (!check(&f, f.nc.nc_create(w->temporary, NC_NETCDF4 | NC_CLOBBER, &root),
               "cannot write"))
        return f.status;
    run_attributes(&f, root);
    write_posterior(&f, root);
    write_stats(&f, root);
    write_data(&f, root, "observed_data", draws->observed, draws->nobserved,
               true);
    write_data(&f, root, "constant_data", draws->constant, draws->nconstant,
               false);
    write_moments(&f, root);
    check(&f, f.nc.nc_close(root), "cannot write");
    return f.status;
}

enum gbm_status rt_write_netcdf(const struct gbm_draws *draws, const char *path,
                                char *error)
{
    struct rt_target target;
    struct writing w = {draws, path, target.temporary};
    char broken[GBM_ERROR];
    enum gbm_status status = rt_target_set(&target, path, error);

    if (status)
        return status;
    if (target.direct) {
        snprintf(error, GBM_ERROR,
                 "%.600s: cannot write netCDF: not a regular file", path);
        return GBM_USER_ERROR;
    }
    snprintf(broken, sizeof broken,
             "%.600s: cannot write: the netCDF library broke down", path);
    status = rt_apart(write_whole, &w, broken, error);
    if (status == GBM_OK)
        return rt_target_commit(&target, error);
    rt_target_discard(&target);
    return status;
}

/* ---- reading back */

/* A variable of the file: its shape without the sample dimensions. */
struct shape {
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int ndim;
    size_t all[GBM_MAX_DIMS + 2]; /* chain, draw, then its own */
    int dim[GBM_MAX_DIMS];
    bool sampled; /* has dimensions chain, draw, in this order */
};

static bool numeric(nc_type type)
{
    return type == NC_BYTE || type == NC_UBYTE || type == NC_SHORT ||
           type == NC_USHORT || type == NC_INT || type == NC_UINT ||
           type == NC_INT64 || type == NC_UINT64 || type == NC_FLOAT ||
           type == NC_DOUBLE;
}

static bool read_shape(struct file *f, int group, int var, struct shape *s)
{
    int dims[NC_MAX_VAR_DIMS], n = 0, own;
    char label[NC_MAX_NAME + 1];
    double cells = 1;

    *s = (struct shape){0};
    if (!check(f,
               f->nc.nc_inq_var(group, var, s->name, &s->type, &n, dims, NULL),
               "variable"))
        return false;
    if (n > GBM_MAX_DIMS + 2)
        return true;
    s->sampled = n >= 2;
    for (int d = 0; d < n; d++) {
        if (!check(f, f->nc.nc_inq_dim(group, dims[d], label, &s->all[d]),
                   s->name))
            return false;
        if (d < 2)
            s->sampled &= strcmp(label, d == 0 ? "chain" : "draw") == 0;
    }
    own = s->sampled ? n - 2 : n;
    s->ndim = own;
    if (own > GBM_MAX_DIMS)
        s->sampled = false;
    for (int d = 0; d < own && d < GBM_MAX_DIMS; d++) {
        cells *= (double)s->all[n - own + d];
        if (s->all[n - own + d] > INT32_MAX || cells > 1e12) {
            s->sampled = false; /* no memory holds it */
            return true;
        }
        s->dim[d] = (int)s->all[n - own + d];
    }
    return true;
}

/* The cells of `s` that are NaN in observed_data: those that were drawn.
 * Returns their number, -1 if the variable is not observed at all. */
static int64_t drawn_cells(struct file *f, int root, const struct shape *s,
                           int64_t length, int64_t **cells, double **filled)
{
    int group, var;
    struct shape data;
    int64_t count = 0;

    *cells = NULL;
    *filled = NULL;
    if (f->nc.nc_inq_grp_ncid(root, "observed_data", &group) != NC_NOERR ||
        f->nc.nc_inq_varid(group, s->name, &var) != NC_NOERR ||
        !read_shape(f, group, var, &data) || data.ndim != s->ndim ||
        memcmp(data.dim, s->dim, sizeof data.dim) != 0 || !numeric(data.type))
        return -1;
    *cells = malloc((size_t)length * sizeof **cells + 1);
    *filled = malloc((size_t)length * sizeof **filled + 1);
    if (!*cells || !*filled) {
        no_memory(f);
        return -1;
    }
    if (!check(f, f->nc.nc_get_var_double(group, var, *filled), s->name))
        return -1;
    for (int64_t i = 0; i < length; i++)
        if (isnan((*filled)[i]))
            (*cells)[count++] = i;
    return count;
}

static void add_read_variable(struct file *f, int root, struct gbm_draws *draws,
                              const struct shape *s)
{
    int64_t length = 1, count, *cells = NULL;
    double *filled = NULL;
    bool integer = s->type != NC_FLOAT && s->type != NC_DOUBLE;
    enum gbm_status status;

    for (int d = 0; d < s->ndim; d++)
        length *= s->dim[d];
    count = drawn_cells(f, root, s, length, &cells, &filled);
    if (f->status == GBM_OK) {
        if (count > 0)
            status = gbm_draws_add_partial(draws, s->name, s->ndim, s->dim,
                                           integer, count, cells, filled);
        else
            status = gbm_draws_add_variable(draws, s->name, s->ndim, s->dim,
                                            integer);
        if (status)
            no_memory(f);
    }
    free(cells);
    free(filled);
}

static void read_values(struct file *f, int group, struct gbm_draws *draws,
                        const struct gbm_draws_variable *v)
{
    size_t start[GBM_MAX_DIMS + 2] = {0}, count[GBM_MAX_DIMS + 2];
    int64_t n = (int64_t)draws->kept * v->length;
    double *buffer = malloc((size_t)n * sizeof *buffer + 1);
    int var;

    if (!buffer) {
        no_memory(f);
        return;
    }
    count[0] = 1;
    count[1] = (size_t)draws->kept;
    for (int d = 0; d < v->ndim; d++)
        count[d + 2] = (size_t)v->dim[d];
    check(f, f->nc.nc_inq_varid(group, v->name, &var), v->name);
    for (int c = 0; c < draws->chains && f->status == GBM_OK; c++) {
        start[0] = (size_t)c;
        if (!check(f,
                   f->nc.nc_get_vara_double(group, var, start, count, buffer),
                   v->name))
            break;
        for (int d = 0; d < draws->kept; d++)
            for (int64_t k = 0; k < v->count; k++)
                gbm_draws_record(draws, c, d)[v->offset + k] =
                    buffer[d * v->length + (v->cells ? v->cells[k] : k)];
    }
    free(buffer);
}

/* All sampled numeric variables of the posterior, in the file's order. */
static void read_posterior(struct file *f, int root, int group,
                           struct gbm_draws *draws)
{
    int n = 0, *vars;
    size_t chains = 0, kept = 0;

    if (!check(f, f->nc.nc_inq_varids(group, &n, NULL), "posterior"))
        return;
    vars = malloc((size_t)n * sizeof *vars + 1);
    if (!vars) {
        no_memory(f);
        return;
    }
    check(f, f->nc.nc_inq_varids(group, &n, vars), "posterior");
    for (int i = 0; i < n && f->status == GBM_OK; i++) {
        struct shape s;

        if (!read_shape(f, group, vars[i], &s) || !s.sampled ||
            !numeric(s.type))
            continue;
        chains = s.all[0];
        kept = s.all[1];
        add_read_variable(f, root, draws, &s);
    }
    free(vars);
    if (f->status)
        return;
    if (draws->nvariables == 0 || chains > INT32_MAX || kept > INT32_MAX) {
        snprintf(f->error, GBM_ERROR,
                 "%.600s: no variable in the group posterior has the "
                 "dimensions chain, draw",
                 f->path);
        f->status = GBM_USER_ERROR;
        return;
    }
    if (gbm_draws_allocate(draws, (int)chains, (int)kept))
        no_memory(f);
    draws->kept = (int)kept;
    for (int i = 0; i < draws->nvariables && f->status == GBM_OK; i++)
        read_values(f, group, draws, &draws->variables[i]);
}

static double number_of(struct file *f, int group, const char *name,
                        double otherwise)
{
    nc_type type;
    size_t length;
    double value;

    if (f->nc.nc_inq_att(group, NC_GLOBAL, name, &type, &length) != NC_NOERR ||
        !numeric(type) || length != 1 ||
        f->nc.nc_get_att_double(group, NC_GLOBAL, name, &value) != NC_NOERR)
        return otherwise;
    return value;
}

static void read_attributes(struct file *f, int group, struct gbm_draws *draws)
{
    nc_type type;
    size_t n;
    double thin = number_of(f, group, "thin", 1);
    double warmup = number_of(f, group, "tuning_steps", 0);
    double seed = number_of(f, group, "seed", 0);

    draws->complete = number_of(f, group, "complete", 1) > 0;
    draws->unchecked =
        f->nc.nc_inq_att(group, NC_GLOBAL, "warning", &type, &n) == NC_NOERR;
    draws->thin = thin >= 1 && thin < 1e9 ? (int)thin : 1;
    draws->warmup = warmup >= 0 && warmup < 2e9 ? (int)warmup : 0;
    draws->seed = seed >= 0 && seed < 9e18 ? (uint64_t)seed : 0;
    draws->timing = (struct gbm_timing){
        .load_s = number_of(f, group, "load_s", 0),
        .jit_s = number_of(f, group, "jit_s", 0),
        .warmup_s = number_of(f, group, "warmup_s", 0),
        .sampling_s = number_of(f, group, "sampling_time", 0),
        .warmup_cpu_s = number_of(f, group, "warmup_cpu_s", 0),
        .sampling_cpu_s = number_of(f, group, "sampling_cpu_s", 0)};
    if (f->nc.nc_inq_att(group, NC_GLOBAL, "model_name", &type, &n) ==
            NC_NOERR &&
        type == NC_CHAR && (draws->strings = calloc(n + 1, 1)) &&
        f->nc.nc_get_att_text(group, NC_GLOBAL, "model_name", draws->strings) ==
            NC_NOERR)
        draws->model = draws->strings;
}

enum gbm_status gbm_draws_read_netcdf(struct gbm_draws *draws, const char *path,
                                      char error[GBM_ERROR])
{
    struct file f = {.draws = draws, .path = path, .error = error};
    int root, group;
    enum gbm_status status = open_library(&f.nc, error);

    gbm_draws_init(draws);
    if (status)
        return status;
    if (!check(&f, f.nc.nc_open(path, NC_NOWRITE, &root), "cannot read"))
        return GBM_USER_ERROR;
    if (check(&f, f.nc.nc_inq_grp_ncid(root, "posterior", &group),
              "it has no group posterior")) {
        read_attributes(&f, group, draws);
        read_posterior(&f, root, group, draws);
    }
    f.nc.nc_close(root);
    if (f.status)
        gbm_draws_free(draws);
    return f.status;
}
