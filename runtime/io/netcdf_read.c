/* netcdf_read.c: draws read back from netCDF, also from files that another
 * program wrote. */
#include "io/netcdf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool read_shape(struct rt_netcdf *f, int group, int var, struct shape *s)
{
    int dims[NC_MAX_VAR_DIMS], n = 0, own;
    char label[NC_MAX_NAME + 1];
    double cells = 1;

    *s = (struct shape){0};
    if (!rt_netcdf_check(
            f, f->nc.nc_inq_var(group, var, s->name, &s->type, &n, dims, NULL),
            "variable"))
        return false;
    if (n > GBM_MAX_DIMS + 2)
        return true;
    s->sampled = n >= 2;
    for (int d = 0; d < n; d++) {
        if (!rt_netcdf_check(
                f, f->nc.nc_inq_dim(group, dims[d], label, &s->all[d]),
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

/* The library takes a file of the classic format for each group of itself. */
static bool find_group(struct rt_netcdf *f, int root, const char *name,
                       int *group)
{
    return f->nc.nc_inq_grp_ncid(root, name, group) == NC_NOERR &&
           *group != root;
}

/* The data of the same name and shape. */
static bool find_observed(struct rt_netcdf *f, int root, const struct shape *s,
                          int *group, int *var)
{
    struct shape data;

    return find_group(f, root, "observed_data", group) &&
           f->nc.nc_inq_varid(*group, s->name, var) == NC_NOERR &&
           read_shape(f, *group, *var, &data) && !data.sampled &&
           data.ndim == s->ndim &&
           memcmp(data.dim, s->dim, sizeof data.dim) == 0 && numeric(data.type);
}

/* The cells of `s` that are NaN in observed_data: those that were drawn.
 * Returns their number, -1 if the variable is not observed at all. */
static int64_t drawn_cells(struct rt_netcdf *f, int root, const struct shape *s,
                           int64_t length, int64_t **cells, double **filled)
{
    int group, var;
    int64_t count = 0;

    if (!find_observed(f, root, s, &group, &var))
        return -1;
    *cells = malloc((size_t)length * sizeof **cells + 1);
    *filled = malloc((size_t)length * sizeof **filled + 1);
    if (!*cells || !*filled) {
        rt_netcdf_no_memory(f);
        return -1;
    }
    if (!rt_netcdf_check(f, f->nc.nc_get_var_double(group, var, *filled),
                         s->name))
        return -1;
    for (int64_t i = 0; i < length; i++)
        if (isnan((*filled)[i]))
            (*cells)[count++] = i;
    return count;
}

/* The numbers that a variable's attribute holds, at most GBM_MAX_DIMS; returns
 * how many, 0 if there are none. */
static int extents_of(struct rt_netcdf *f, int group, int var, int *dim)
{
    double values[GBM_MAX_DIMS];
    nc_type type;
    size_t n;

    if (f->nc.nc_inq_att(group, var, "shape", &type, &n) != NC_NOERR ||
        !numeric(type) || n < 1 || n > GBM_MAX_DIMS ||
        f->nc.nc_get_att_double(group, var, "shape", values) != NC_NOERR)
        return 0;
    for (size_t d = 0; d < n; d++) {
        if (!(values[d] >= 1 && values[d] <= INT32_MAX))
            return 0;
        dim[d] = (int)values[d];
    }
    return (int)n;
}

static int64_t forget(int64_t **cells, double **filled)
{
    free(*cells);
    free(*filled);
    *cells = NULL;
    *filled = NULL;
    return -1;
}

/* A list of cells, see write_listed: its shape becomes that of the array. Or
 * nothing happens. */
static int64_t listed_cells(struct rt_netcdf *f, int group, int var,
                            struct shape *s, int64_t **cells, double **filled)
{
    char label[NC_MAX_NAME + 16];
    int dim[GBM_MAX_DIMS] = {0}, labels, ndim = extents_of(f, group, var, dim);
    int64_t length = 1, count = s->dim[0];
    double last = -1;

    snprintf(label, sizeof label, "%s_dim_0", s->name);
    for (int d = 0; d < ndim; d++)
        length = length < INT64_C(1) << 31 ? length * dim[d] : length;
    if (ndim == 0 || s->ndim != 1 || length > INT64_C(1) << 31 ||
        f->nc.nc_inq_varid(group, label, &labels) != NC_NOERR)
        return -1;
    *cells = malloc((size_t)count * sizeof **cells + 1);
    *filled = malloc((size_t)(length + count) * sizeof **filled + 1);
    if (!*cells || !*filled) {
        rt_netcdf_no_memory(f);
        return -1;
    }
    if (!rt_netcdf_check(f, f->nc.nc_get_var_double(group, labels, *filled),
                         label))
        return -1;
    for (int64_t k = 0; k < count; k++) {
        double at = (*filled)[k];
        if (!(at > last && at < (double)length))
            return forget(cells, filled);
        (*cells)[k] = (int64_t)at;
        last = at;
    }
    for (int64_t i = 0; i < length; i++)
        (*filled)[i] = NAN;
    s->ndim = ndim;
    memcpy(s->dim, dim, sizeof s->dim);
    return count;
}

/* The data of a partly observed array in their places, if the file has them. */
static void read_filled(struct rt_netcdf *f, int root, const struct shape *s,
                        double *filled)
{
    int group, var;

    if (find_observed(f, root, s, &group, &var))
        rt_netcdf_check(f, f->nc.nc_get_var_double(group, var, filled),
                        s->name);
}

/* Labels of the dimension `dim` of that length, if its coordinate variable is
 * text; false if there are none. */
static bool read_coord(struct rt_netcdf *f, int group, int dim,
                       const char *name, size_t length,
                       struct gbm_coords *coords)
{
    const struct gbm_coord *old = gbm_coords_find(coords, name);
    int var, ndim = 0, dims[NC_MAX_VAR_DIMS];
    nc_type type;

    if (old)
        return (size_t)old->n == length;
    if (length == 0 || f->nc.nc_inq_varid(group, name, &var) != NC_NOERR ||
        f->nc.nc_inq_var(group, var, NULL, &type, &ndim, dims, NULL) !=
            NC_NOERR ||
        type != NC_STRING || ndim != 1 || dims[0] != dim)
        return false;
    char **labels = calloc(length, sizeof *labels);
    bool good = labels && gbm_coords_add(coords, name);

    if (!good) {
        free(labels);
        return rt_netcdf_no_memory(f);
    }
    if (rt_netcdf_check(f, f->nc.nc_get_var_string(group, var, labels), name)) {
        for (size_t i = 0; i < length && good; i++) {
            const char *text = labels[i] ? labels[i] : "";
            good = gbm_coords_add_label(coords, text, strlen(text));
        }
        f->nc.nc_free_string(length, labels);
        if (!good)
            rt_netcdf_no_memory(f);
    }
    free(labels);
    return good && f->status == GBM_OK;
}

static void read_labels(struct rt_netcdf *f, int group, int var,
                        const struct shape *s, struct gbm_coords *coords)
{
    int dims[NC_MAX_VAR_DIMS], n = 0;
    char name[NC_MAX_NAME + 1];
    size_t length = 0;

    if (!rt_netcdf_check(
            f, f->nc.nc_inq_var(group, var, NULL, NULL, &n, dims, NULL),
            s->name))
        return;
    for (int d = 2; d < n && f->status == GBM_OK; d++)
        if (rt_netcdf_check(f, f->nc.nc_inq_dim(group, dims[d], name, &length),
                            s->name) &&
            read_coord(f, group, dims[d], name, length, coords) &&
            !gbm_coords_name(coords, s->name, d - 2, name))
            rt_netcdf_no_memory(f);
}

static void add_read_variable(struct rt_netcdf *f, int root, int group, int var,
                              struct gbm_draws *draws, struct shape *s)
{
    int64_t length = 1, count = -1, *cells = NULL;
    double *filled = NULL;
    bool integer = s->type != NC_FLOAT && s->type != NC_DOUBLE;
    enum gbm_status status;

    for (int d = 0; d < s->ndim; d++)
        length *= s->dim[d];
    count = listed_cells(f, group, var, s, &cells, &filled);
    if (count < 0 && f->status == GBM_OK)
        read_labels(f, group, var, s, &draws->coords);
    if (count < 0 && draws->group == GBM_POSTERIOR)
        count = drawn_cells(f, root, s, length, &cells, &filled);
    else if (count >= 0 && draws->group == GBM_POSTERIOR)
        read_filled(f, root, s, filled);
    if (f->status == GBM_OK) {
        if (count > 0)
            status = gbm_draws_add_partial(draws, s->name, s->ndim, s->dim,
                                           integer, count, cells, filled);
        else
            status = gbm_draws_add_variable(draws, s->name, s->ndim, s->dim,
                                            integer);
        if (status)
            rt_netcdf_no_memory(f);
    }
    free(cells);
    free(filled);
}

static void read_values(struct rt_netcdf *f, int group, struct gbm_draws *draws,
                        const struct gbm_draws_variable *v)
{
    size_t start[GBM_MAX_DIMS + 2] = {0}, count[GBM_MAX_DIMS + 2];
    int var, dim[GBM_MAX_DIMS];

    if (!rt_netcdf_check(f, f->nc.nc_inq_varid(group, v->name, &var), v->name))
        return;
    bool listed = v->cells && extents_of(f, group, var, dim) > 0;
    int64_t length = listed ? v->count : v->length;
    int64_t n = (int64_t)draws->kept * length;
    double *buffer = malloc((size_t)n * sizeof *buffer + 1);

    if (!buffer) {
        rt_netcdf_no_memory(f);
        return;
    }
    count[0] = 1;
    count[1] = (size_t)draws->kept;
    for (int d = 0; d < v->ndim; d++)
        count[d + 2] = (size_t)v->dim[d];
    if (listed)
        count[2] = (size_t)v->count;
    for (int c = 0; c < draws->chains && f->status == GBM_OK; c++) {
        start[0] = (size_t)c;
        if (!rt_netcdf_check(
                f, f->nc.nc_get_vara_double(group, var, start, count, buffer),
                v->name))
            break;
        for (int d = 0; d < draws->kept; d++)
            for (int64_t k = 0; k < v->count; k++)
                gbm_draws_record(draws, c, d)[v->offset + k] =
                    buffer[d * length +
                           (v->cells && !listed ? v->cells[k] : k)];
    }
    free(buffer);
}

/* All sampled numeric variables of a group, in the file's order; those of the
 * first group say how many chains and draws there are. */
static void read_shapes(struct rt_netcdf *f, int root, int group,
                        const char *name, struct gbm_draws *draws,
                        size_t sizes[2])
{
    int n = 0, *vars;

    if (!rt_netcdf_check(f, f->nc.nc_inq_varids(group, &n, NULL), name))
        return;
    vars = malloc((size_t)n * sizeof *vars + 1);
    if (!vars) {
        rt_netcdf_no_memory(f);
        return;
    }
    rt_netcdf_check(f, f->nc.nc_inq_varids(group, &n, vars), name);
    for (int i = 0; i < n && f->status == GBM_OK; i++) {
        struct shape s;

        if (!read_shape(f, group, vars[i], &s) || !s.sampled ||
            !numeric(s.type))
            continue;
        if (draws->nvariables > 0 &&
            (s.all[0] != sizes[0] || s.all[1] != sizes[1]))
            continue;
        sizes[0] = s.all[0];
        sizes[1] = s.all[1];
        add_read_variable(f, root, group, vars[i], draws, &s);
    }
    free(vars);
}

static void read_draws(struct rt_netcdf *f, int root, const int *groups,
                       struct gbm_draws *draws)
{
    size_t sizes[2] = {0, 0};

    for (enum gbm_group g = 0; g < GBM_GROUPS && f->status == GBM_OK; g++) {
        draws->group = g;
        if (groups[g] >= 0)
            read_shapes(f, root, groups[g], rt_netcdf_groups[g], draws, sizes);
    }
    if (f->status)
        return;
    if (draws->nvariables == 0 || sizes[0] > INT32_MAX ||
        sizes[1] > INT32_MAX) {
        snprintf(f->error, GBM_ERROR,
                 "%.600s: no variable in a group posterior, or outside groups, "
                 "has the dimensions chain, draw",
                 f->path);
        f->status = GBM_USER_ERROR;
        return;
    }
    if (gbm_draws_allocate(draws, (int)sizes[0], (int)sizes[1]))
        rt_netcdf_no_memory(f);
    draws->kept = (int)sizes[1];
    for (int i = 0; i < draws->nvariables && f->status == GBM_OK; i++)
        read_values(f, groups[draws->variables[i].group], draws,
                    &draws->variables[i]);
}

/* A number per draw: the rest of sample_stats is another sampler's. */
static void read_stat(struct rt_netcdf *f, int group, int var,
                      struct gbm_draws *draws)
{
    struct shape s;

    if (!read_shape(f, group, var, &s) || !s.sampled || s.ndim > 0 ||
        !numeric(s.type) || s.all[0] != (size_t)draws->chains ||
        s.all[1] != (size_t)draws->kept)
        return;
    int k = gbm_draws_add_stat(draws, s.name,
                               s.type != NC_FLOAT && s.type != NC_DOUBLE);
    if (k < 0) {
        rt_netcdf_no_memory(f);
        return;
    }
    for (int c = 0; c < draws->chains && f->status == GBM_OK; c++) {
        size_t start[2] = {(size_t)c, 0}, count[2] = {1, s.all[1]};

        rt_netcdf_check(
            f,
            f->nc.nc_get_vara_double(group, var, start, count,
                                     draws->stats[k].values +
                                         (int64_t)c * draws->capacity),
            s.name);
    }
}

static void read_stats(struct rt_netcdf *f, int root, struct gbm_draws *draws)
{
    int group, n = 0, *vars;

    if (!find_group(f, root, "sample_stats", &group) &&
        !find_group(f, root, "sample_stats_prior", &group))
        return;
    if (!rt_netcdf_check(f, f->nc.nc_inq_varids(group, &n, NULL),
                         "sample_stats"))
        return;
    vars = malloc((size_t)n * sizeof *vars + 1);
    if (!vars) {
        rt_netcdf_no_memory(f);
        return;
    }
    rt_netcdf_check(f, f->nc.nc_inq_varids(group, &n, vars), "sample_stats");
    for (int i = 0; i < n && f->status == GBM_OK; i++)
        read_stat(f, group, vars[i], draws);
    free(vars);
}

static double number_of(struct rt_netcdf *f, int group, const char *name,
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

/* What is text. */
static void read_strings(struct rt_netcdf *f, int group,
                         struct gbm_draws *draws)
{
    static const char *const name[] = {"model_name", "relabelled"};
    const char **field[] = {&draws->model, &draws->relabelled};
    size_t length[2] = {0, 0};
    nc_type type;

    for (int i = 0; i < 2; i++)
        if (f->nc.nc_inq_att(group, NC_GLOBAL, name[i], &type, &length[i]) !=
                NC_NOERR ||
            type != NC_CHAR)
            length[i] = 0;
    char *at = draws->strings = calloc(length[0] + length[1] + 2, 1);
    for (int i = 0; at && i < 2; at += length[i++] + 1)
        if (length[i] > 0 &&
            f->nc.nc_get_att_text(group, NC_GLOBAL, name[i], at) == NC_NOERR)
            *field[i] = at;
}

static void read_attributes(struct rt_netcdf *f, int group,
                            struct gbm_draws *draws)
{
    nc_type type;
    size_t n;
    double thin = number_of(f, group, "thin", 1);
    double warmup = number_of(f, group, "tuning_steps", 0);
    double seed = number_of(f, group, "seed", 0);

    draws->complete = number_of(f, group, "complete", 1) > 0;
    draws->unchecked =
        f->nc.nc_inq_att(group, NC_GLOBAL, "warning", &type, &n) == NC_NOERR;
    draws->deviance_at_means =
        number_of(f, group, "deviance_at_means", INFINITY);
    draws->has_deviance = !isinf(draws->deviance_at_means);
    double sum = number_of(f, group, "data_sum", 0);
    draws->data_sum = sum > 0 && sum < 9e15 ? (int64_t)sum : 0;
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
    read_strings(f, group, draws);
}

enum gbm_status gbm_draws_read_netcdf(struct gbm_draws *draws, const char *path,
                                      char error[GBM_ERROR])
{
    struct rt_netcdf f = {.draws = draws, .path = path, .error = error};
    int root, groups[GBM_GROUPS], first = -1;
    enum gbm_status status = rt_netcdf_open(&f.nc, error);

    gbm_draws_init(draws);
    if (status)
        return status;
    if (!rt_netcdf_check(&f, f.nc.nc_open(path, NC_NOWRITE, &root),
                         "cannot read"))
        return GBM_USER_ERROR;
    for (int g = GBM_GROUPS - 1; g >= 0; g--) {
        if (!find_group(&f, root, rt_netcdf_groups[g], &groups[g]))
            groups[g] = -1;
        else
            first = groups[g];
    }
    if (first < 0) /* one Dataset, without groups */
        first = groups[GBM_POSTERIOR] = root;
    read_attributes(&f, first, draws);
    read_draws(&f, root, groups, draws);
    if (f.status == GBM_OK)
        read_stats(&f, root, draws);
    f.nc.nc_close(root);
    if (f.status)
        gbm_draws_free(draws);
    return f.status;
}
