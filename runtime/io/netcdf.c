/* netcdf.c: draws in ArviZ's InferenceData schema: netCDF-4 with the groups
 * posterior (or prior, prior_predictive, posterior_predictive of simulations),
 * log_likelihood, sample_stats, observed_data, constant_data, and for what was
 * not kept draw by draw a group `moments`. Every dimension has its coordinate
 * variable; extra dimensions of `x` are x_dim_0, x_dim_1, ... A log likelihood
 * of some cells of the data has one dimension, whose coordinates are the cells'
 * row-major numbers, and an attribute `shape`.
 */
#include "io/netcdf.h"
#include "io/output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void text_attribute(struct rt_netcdf *f, int group, const char *name,
                           const char *text)
{
    if (text && f->status == GBM_OK)
        rt_netcdf_check(
            f,
            f->nc.nc_put_att_text(group, NC_GLOBAL, name, strlen(text), text),
            name);
}

static void number_attribute(struct rt_netcdf *f, int group, const char *name,
                             double value)
{
    if (f->status == GBM_OK)
        rt_netcdf_check(f,
                        f->nc.nc_put_att_double(group, NC_GLOBAL, name,
                                                NC_DOUBLE, 1, &value),
                        name);
}

static void integer_attribute(struct rt_netcdf *f, int group, const char *name,
                              long long value)
{
    if (f->status == GBM_OK)
        rt_netcdf_check(f,
                        f->nc.nc_put_att_longlong(group, NC_GLOBAL, name,
                                                  NC_INT64, 1, &value),
                        name);
}

static void common_attributes(struct rt_netcdf *f, int group)
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

static void run_attributes(struct rt_netcdf *f, int group)
{
    const struct gbm_draws *d = f->draws;
    const struct gbm_timing *time = &d->timing;
    const char *sample_dims[2] = {"chain", "draw"};

    common_attributes(f, group);
    text_attribute(f, group, "name", d->model);
    text_attribute(f, group, "model_name", d->model);
    text_attribute(f, group, "device", d->device);
    text_attribute(f, group, "data", d->data);
    text_attribute(f, group, "relabelled", d->relabelled);
    integer_attribute(f, group, "complete", d->complete);
    if (d->unchecked)
        text_attribute(f, group, "warning", GBM_UNCHECKED);
    integer_attribute(f, group, "seed", (long long)d->seed);
    integer_attribute(f, group, "thin", d->thin);
    integer_attribute(f, group, "tuning_steps", d->warmup);
    number_attribute(f, group, "sampling_time", time->sampling_s);
    if (d->has_deviance)
        number_attribute(f, group, "deviance_at_means", d->deviance_at_means);
    if (gbm_draws_data_sum(d))
        integer_attribute(f, group, "data_sum", gbm_draws_data_sum(d));
    number_attribute(f, group, "load_s", time->load_s);
    number_attribute(f, group, "jit_s", time->jit_s);
    number_attribute(f, group, "warmup_s", time->warmup_s);
    number_attribute(f, group, "warmup_cpu_s", time->warmup_cpu_s);
    number_attribute(f, group, "sampling_cpu_s", time->sampling_cpu_s);
    if (f->status == GBM_OK)
        rt_netcdf_check(f,
                        f->nc.nc_put_att_string(group, NC_GLOBAL, "sample_dims",
                                                2, sample_dims),
                        "sample_dims");
}

/* A dimension of `length` with its coordinate variable: `labels`, or if that is
 * NULL 0, 1, ... */
static int add_dimension(struct rt_netcdf *f, int group, const char *name,
                         int length, const int64_t *labels)
{
    int dim = -1, var = -1;
    long long *values;

    if (f->status ||
        !rt_netcdf_check(f, f->nc.nc_def_dim(group, name, (size_t)length, &dim),
                         name) ||
        !rt_netcdf_check(
            f, f->nc.nc_def_var(group, name, NC_INT64, 1, &dim, &var), name))
        return dim;
    values = malloc((size_t)length * sizeof *values + 1);
    if (!values) {
        rt_netcdf_no_memory(f);
        return dim;
    }
    for (int i = 0; i < length; i++)
        values[i] = labels ? labels[i] : i;
    if (length > 0) /* length 0 is netCDF's unlimited dimension */
        rt_netcdf_check(f, f->nc.nc_put_var_longlong(group, var, values), name);
    free(values);
    return dim;
}

/* A dimension whose coordinate variable has labels. */
static int add_labelled(struct rt_netcdf *f, int group, const char *name,
                        const struct gbm_coord *coord)
{
    int dim = -1, var = -1;

    if (f->status == GBM_OK &&
        rt_netcdf_check(
            f, f->nc.nc_def_dim(group, name, (size_t)coord->n, &dim), name) &&
        rt_netcdf_check(
            f, f->nc.nc_def_var(group, name, NC_STRING, 1, &dim, &var), name))
        rt_netcdf_check(f,
                        f->nc.nc_put_var_string(
                            group, var, (const char **)(void *)coord->labels),
                        name);
    return dim;
}

/* Has the group a variable of this name, which a dimension must not have? */
static bool is_variable(const struct rt_netcdf *f, const char *name)
{
    for (int i = 0; i < f->narrays; i++)
        if (strcmp(f->arrays[i]->name, name) == 0)
            return true;
    for (int i = 0; i < f->draws->nvariables && !f->arrays; i++)
        if (strcmp(f->draws->variables[i].name, name) == 0)
            return true;
    return strcmp(name, "chain") == 0 || strcmp(name, "draw") == 0;
}

/* Dimension d of a variable, the others of which are dims[0 .. n): that of the
 * coordinate, which variables share, unless the name will not do. */
static int own_dimension(struct rt_netcdf *f, int group, const char *variable,
                         int d, int length, const int *dims, int n)
{
    const struct gbm_coord *coord =
        gbm_coords_of(&f->draws->coords, variable, d);
    char name[512];
    int dim = -1;

    snprintf(name, sizeof name, "%.400s_dim_%d", variable, d);
    if (!coord || (coord->n && coord->n != length))
        return add_dimension(f, group, name, length, NULL);
    if (!is_variable(f, coord->name)) {
        bool there = f->nc.nc_inq_dimid(group, coord->name, &dim) == NC_NOERR;
        bool used = false;
        size_t other = 0;

        for (int k = 0; k < n && there; k++)
            used = used || dims[k] == dim;
        if (there && f->nc.nc_inq_dim(group, dim, NULL, &other) != NC_NOERR)
            other = 0;
        if (there && !used && other == (size_t)length)
            return dim;
        if (!there)
            snprintf(name, sizeof name, "%.400s", coord->name);
    }
    return coord->n ? add_labelled(f, group, name, coord)
                    : add_dimension(f, group, name, length, NULL);
}

/* A variable with `nsample` leading dimensions that exist and its own, of which
 * the last may have labels. */
static int add_variable(struct rt_netcdf *f, int group, const char *name,
                        nc_type type, int nsample, const int *sample, int ndim,
                        const int *dim, const int64_t *labels)
{
    int dims[GBM_MAX_DIMS + 2], var = -1;
    char label[512];

    for (int d = 0; d < nsample; d++)
        dims[d] = sample[d];
    for (int d = 0; d < ndim; d++) {
        snprintf(label, sizeof label, "%.400s_dim_%d", name, d);
        dims[nsample + d] =
            labels
                ? add_dimension(f, group, label, dim[d],
                                d == ndim - 1 ? labels : NULL)
                : own_dimension(f, group, name, d, dim[d], dims + nsample, d);
    }
    if (f->status == GBM_OK)
        rt_netcdf_check(
            f, f->nc.nc_def_var(group, name, type, nsample + ndim, dims, &var),
            name);
    /* all values are written: no need to fill first */
    if (f->status == GBM_OK)
        rt_netcdf_check(f, f->nc.nc_def_var_fill(group, var, NC_NOFILL, NULL),
                        name);
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
static void write_draws(struct rt_netcdf *f, int group, int var,
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
        rt_netcdf_no_memory(f);
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
                rt_netcdf_check(
                    f,
                    f->nc.nc_put_vara_double(group, var, start, count, buffer),
                    v->name);
        }
    free(buffer);
}

/* Has it a value in a cell that is not drawn? Then these are data. */
static bool has_data(const struct gbm_draws_variable *v)
{
    for (int64_t i = 0; v->cells && i < v->length; i++)
        if (!isnan(v->filled[i]))
            return true;
    return false;
}

/* Whether draws are written of the cells that have them alone. Of a log
 * likelihood, as NaN would spoil what programs make of it; of an array of which
 * some cells are monitored; of one that is data but for a tenth or less. Else a
 * whole array that has data in their places is what programs plot. */
static bool goes_listed(const struct gbm_draws_variable *v)
{
    return v->cells && (v->group == GBM_LOG_LIKELIHOOD || !has_data(v) ||
                        10 * v->count < v->length);
}

static void write_listed(struct rt_netcdf *f, int group, const int *sample,
                         const struct gbm_draws_variable *v)
{
    struct gbm_draws_variable list = *v;
    long long shape[GBM_MAX_DIMS] = {0};

    list.ndim = 1;
    list.dim[0] = (int)v->count;
    list.length = v->count;
    list.cells = NULL;
    int var = add_variable(f, group, v->name, v->integer ? NC_INT64 : NC_DOUBLE,
                           2, sample, 1, list.dim, v->cells);
    for (int d = 0; d < v->ndim; d++)
        shape[d] = v->dim[d];
    if (f->status == GBM_OK)
        rt_netcdf_check(f,
                        f->nc.nc_put_att_longlong(group, var, "shape", NC_INT64,
                                                  (size_t)v->ndim, shape),
                        v->name);
    if (f->status == GBM_OK)
        write_draws(f, group, var, &list);
}

static void write_sampled(struct rt_netcdf *f, int group, const int *sample,
                          const struct gbm_draws_variable *v)
{
    if (!has_cells(v->ndim, v->dim))
        return;
    if (goes_listed(v)) {
        write_listed(f, group, sample, v);
        return;
    }
    int var = add_variable(f, group, v->name, v->integer ? NC_INT64 : NC_DOUBLE,
                           2, sample, v->ndim, v->dim, NULL);
    if (f->status == GBM_OK)
        write_draws(f, group, var, v);
}

static bool has_group(const struct gbm_draws *draws, enum gbm_group which)
{
    for (int i = 0; i < draws->nvariables; i++)
        if (draws->variables[i].group == which)
            return true;
    return false;
}

/* Draws from the prior, of parameters or data. */
static bool from_prior(const struct gbm_draws *draws)
{
    return has_group(draws, GBM_PRIOR) ||
           has_group(draws, GBM_PRIOR_PREDICTIVE);
}

static void write_draws_of(struct rt_netcdf *f, int root, enum gbm_group which)
{
    const struct gbm_draws *draws = f->draws;
    const char *name = rt_netcdf_groups[which];
    int group = -1, sample[2];

    if (f->status ||
        !rt_netcdf_check(f, f->nc.nc_def_grp(root, name, &group), name))
        return;
    run_attributes(f, group);
    sample[0] = add_dimension(f, group, "chain", draws->chains, NULL);
    sample[1] = add_dimension(f, group, "draw", draws->kept, NULL);
    for (int i = 0; i < draws->nvariables && f->status == GBM_OK; i++)
        if (draws->variables[i].group == which)
            write_sampled(f, group, sample, &draws->variables[i]);
}

/* A run of which nothing was kept draw by draw has a posterior all the same. */
static void write_groups(struct rt_netcdf *f, int root)
{
    if (f->draws->nvariables == 0)
        write_draws_of(f, root, GBM_POSTERIOR);
    for (enum gbm_group g = 0; g < GBM_GROUPS; g++)
        if (has_group(f->draws, g))
            write_draws_of(f, root, g);
}

static void write_stats(struct rt_netcdf *f, int root)
{
    const struct gbm_draws *draws = f->draws;
    const char *name =
        from_prior(draws) ? "sample_stats_prior" : "sample_stats";
    int group = -1, sample[2];

    if (draws->nstats == 0 || f->status ||
        !rt_netcdf_check(f, f->nc.nc_def_grp(root, name, &group), name))
        return;
    common_attributes(f, group);
    sample[0] = add_dimension(f, group, "chain", draws->chains, NULL);
    sample[1] = add_dimension(f, group, "draw", draws->kept, NULL);
    for (int i = 0; i < draws->nstats && f->status == GBM_OK; i++) {
        const struct gbm_draws_stat *s = &draws->stats[i];
        int var =
            add_variable(f, group, s->name, s->integer ? NC_INT64 : NC_DOUBLE,
                         2, sample, 0, NULL, NULL);

        for (int c = 0; c < draws->chains && draws->kept > 0; c++) {
            size_t start[2] = {(size_t)c, 0};
            size_t count[2] = {1, (size_t)draws->kept};

            if (f->status == GBM_OK)
                rt_netcdf_check(f,
                                f->nc.nc_put_vara_double(
                                    group, var, start, count,
                                    s->values + (int64_t)c * draws->capacity),
                                s->name);
        }
    }
}

/* An array without sample dimensions. */
static void write_array(struct rt_netcdf *f, int group, const char *name,
                        int ndim, const int *dim, const int64_t *labels,
                        const double *values, bool integer)
{
    size_t start[GBM_MAX_DIMS + 1] = {0}, count[GBM_MAX_DIMS + 1];
    int var;

    if (f->status || !has_cells(ndim, dim))
        return;
    var = add_variable(f, group, name, integer ? NC_INT64 : NC_DOUBLE, 0, NULL,
                       ndim, dim, labels);
    for (int d = 0; d < ndim; d++)
        count[d] = (size_t)dim[d];
    if (f->status == GBM_OK)
        rt_netcdf_check(
            f, f->nc.nc_put_vara_double(group, var, start, count, values),
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
static void write_filled(struct rt_netcdf *f, int group,
                         const struct gbm_draws_variable *v)
{
    double *values = malloc((size_t)v->length * sizeof *values + 1);

    if (!values) {
        rt_netcdf_no_memory(f);
        return;
    }
    memcpy(values, v->filled, (size_t)v->length * sizeof *values);
    for (int64_t k = 0; k < v->count; k++)
        values[v->cells[k]] = NAN;
    write_array(f, group, v->name, v->ndim, v->dim, NULL, values, false);
    free(values);
}

/* Are some of its cells data? */
static bool is_partial(const struct gbm_draws_variable *v)
{
    return v->group == GBM_POSTERIOR && has_data(v);
}

static void write_data(struct rt_netcdf *f, int root, const char *name,
                       const struct gbm_array **arrays, int n, bool observed)
{
    const struct gbm_draws *draws = f->draws;
    int group = -1, partial = 0;

    for (int i = 0; i < draws->nvariables && observed; i++)
        partial += is_partial(&draws->variables[i]);
    if (n + partial == 0 || f->status ||
        !rt_netcdf_check(f, f->nc.nc_def_grp(root, name, &group), name))
        return;
    common_attributes(f, group);
    f->arrays = arrays;
    f->narrays = n;
    for (int i = 0; i < n && f->status == GBM_OK; i++)
        write_array(f, group, arrays[i]->name, arrays[i]->ndim, arrays[i]->dim,
                    NULL, arrays[i]->values,
                    arrays[i]->integer && !arrays[i]->missing);
    for (int i = 0; i < draws->nvariables && f->status == GBM_OK && observed;
         i++)
        if (is_partial(&draws->variables[i]) &&
            !is_listed(arrays, n, draws->variables[i].name))
            write_filled(f, group, &draws->variables[i]);
    f->arrays = NULL;
    f->narrays = 0;
}

/* One of mean, sd, rhat of a variable, NaN where there is none; of categorical
 * ones with a last dimension, the values 1, 2, .... */
static void write_moment(struct rt_netcdf *f, int group,
                         const struct gbm_moments_variable *m,
                         const char *suffix, const double *values)
{
    const int each = m->categories ? m->categories : 1;
    const int ndim = m->ndim + (m->categories > 0);
    int dim[GBM_MAX_DIMS + 1];
    int64_t length = each, *labels = calloc((size_t)each, sizeof *labels);
    char name[512];
    double *all;

    for (int d = 0; d < m->ndim; d++)
        length *= dim[d] = m->dim[d];
    dim[m->ndim] = each;
    all = malloc((size_t)length * sizeof *all + 1);
    for (int64_t i = 0; all && i < length; i++)
        all[i] = NAN;
    for (int64_t k = 0; all && k < m->count; k++)
        memcpy(all + (m->cells ? m->cells[k] : k) * each, values + k * each,
               (size_t)each * sizeof *all);
    for (int k = 0; labels && k < each; k++)
        labels[k] = k + 1;
    snprintf(name, sizeof name, "%.400s_%s", m->name, suffix);
    if (!all || !labels)
        rt_netcdf_no_memory(f);
    else if (ndim <= GBM_MAX_DIMS)
        write_array(f, group, name, ndim, dim, m->categories ? labels : NULL,
                    all, false);
    free(labels);
    free(all);
}

static void write_moments(struct rt_netcdf *f, int root)
{
    const struct gbm_draws *draws = f->draws;
    int group = -1;

    if (draws->nmoments == 0 || f->status ||
        !rt_netcdf_check(f, f->nc.nc_def_grp(root, "moments", &group),
                         "moments"))
        return;
    common_attributes(f, group);
    for (int i = 0; i < draws->nmoments && f->status == GBM_OK; i++) {
        const struct gbm_moments_variable *m = &draws->moments[i];

        write_moment(f, group, m, m->categories ? "probability" : "mean",
                     m->mean);
        if (!m->categories)
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
    struct rt_netcdf f = {.draws = draws, .path = w->path, .error = error};
    int root = -1;
    enum gbm_status status = rt_netcdf_open(&f.nc, error);

    if (status)
        return status;
    errno = 0; /* the library's own messages do not name a full disk */
    if (!rt_netcdf_check(
            &f, f.nc.nc_create(w->temporary, NC_NETCDF4 | NC_CLOBBER, &root),
            "cannot write"))
        return f.status;
    run_attributes(&f, root);
    write_groups(&f, root);
    write_stats(&f, root);
    write_data(&f, root, "observed_data", draws->observed, draws->nobserved,
               true);
    write_data(&f, root, "constant_data", draws->constant, draws->nconstant,
               false);
    write_moments(&f, root);
    rt_netcdf_check(&f, f.nc.nc_close(root), "cannot write");
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
