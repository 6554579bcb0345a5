/* draws.c: kept draws in memory. */
#include "io/draws.h"
#include "io/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void gbm_draws_init(struct gbm_draws *draws)
{
    *draws = (struct gbm_draws){
        .complete = true, .thin = 1, .deviance_at_means = NAN};
}

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);

    if (to && bytes)
        memcpy(to, from, bytes);
    return to;
}

static int64_t product(int ndim, const int *dim)
{
    int64_t n = 1;

    for (int d = 0; d < ndim; d++)
        n *= dim[d];
    return n;
}

enum gbm_status gbm_draws_add_partial(struct gbm_draws *draws, const char *name,
                                      int ndim, const int *dim, bool integer,
                                      int64_t count, const int64_t *cells,
                                      const double *filled)
{
    int64_t length = product(ndim, dim);
    struct gbm_draws_variable *variables, v = {
                                              .name = strdup(name),
                                              .group = draws->group,
                                              .ndim = ndim,
                                              .length = length,
                                              .count = cells ? count : length,
                                              .offset = draws->width,
                                              .integer = integer,
                                          };

    if (ndim > 0)
        memcpy(v.dim, dim, (size_t)ndim * sizeof *dim);
    if (cells) {
        v.cells = copy(cells, (size_t)count * sizeof *cells);
        v.filled = copy(filled, (size_t)length * sizeof *filled);
    }
    variables = realloc(draws->variables, ((size_t)draws->nvariables + 1) *
                                              sizeof *draws->variables);
    if (variables)
        draws->variables = variables;
    if (!variables || !v.name || (cells && (!v.cells || !v.filled))) {
        free(v.name);
        free(v.cells);
        free(v.filled);
        return GBM_FAILURE;
    }
    variables[draws->nvariables++] = v;
    draws->width += v.count;
    if (v.group != GBM_LOG_LIKELIHOOD)
        draws->quantities = draws->width;
    return GBM_OK;
}

enum gbm_status gbm_draws_add_variable(struct gbm_draws *draws,
                                       const char *name, int ndim,
                                       const int *dim, bool integer)
{
    return gbm_draws_add_partial(draws, name, ndim, dim, integer, 0, NULL,
                                 NULL);
}

/* Memory for draws, in large pages where the system has them: the first touch
 * of small ones would take a quarter of the sampling of a small model. */
static double *allocate_numbers(size_t count)
{
    const size_t worth = 1 << 22, page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = count * sizeof(double) + 1, before;
    char *at = malloc(bytes);

    if (at && bytes >= worth) {
        before = (page - (uintptr_t)at % page) % page;
        /* a wish: without it all is as right */
        (void)madvise(at + before, bytes - before, MADV_HUGEPAGE);
    }
    return (double *)at;
}

enum gbm_status gbm_draws_allocate(struct gbm_draws *draws, int chains,
                                   int capacity)
{
    size_t records = (size_t)chains * (size_t)capacity;
    size_t width = (size_t)draws->width;

    if (width > 0 && records > SIZE_MAX / sizeof(double) / width)
        return GBM_FAILURE;
    draws->chains = chains;
    draws->capacity = capacity;
    draws->values = allocate_numbers(records * width);
    return draws->values ? GBM_OK : GBM_FAILURE;
}

/* The same numbers, of each chain, with room for `capacity` records. */
static double *spread(const struct gbm_draws *draws, const double *values,
                      int64_t width, int capacity)
{
    const size_t to = (size_t)capacity * (size_t)width,
                 from = (size_t)draws->capacity * (size_t)width,
                 kept = (size_t)draws->kept * (size_t)width;
    double *room = allocate_numbers((size_t)draws->chains * to);

    for (size_t c = 0; room && c < (size_t)draws->chains; c++)
        memcpy(room + c * to, values + c * from, kept * sizeof *room);
    return room;
}

enum gbm_status gbm_draws_grow(struct gbm_draws *draws, int capacity)
{
    double *values = spread(draws, draws->values, draws->width, capacity);
    double **stats = calloc((size_t)draws->nstats + 1, sizeof *stats);
    bool whole = values && stats;

    for (int k = 0; k < draws->nstats && whole; k++) {
        stats[k] = spread(draws, draws->stats[k].values, 1, capacity);
        whole = stats[k];
    }
    for (int k = 0; k < draws->nstats && stats; k++) {
        free(whole ? draws->stats[k].values : stats[k]);
        if (whole)
            draws->stats[k].values = stats[k];
    }
    free(stats);
    free(whole ? draws->values : values);
    if (!whole)
        return GBM_FAILURE;
    draws->values = values;
    draws->capacity = capacity;
    return GBM_OK;
}

int gbm_draws_add_stat(struct gbm_draws *draws, const char *name, bool integer)
{
    size_t records = (size_t)draws->chains * (size_t)draws->capacity;
    struct gbm_draws_stat *stats = realloc(
        draws->stats, ((size_t)draws->nstats + 1) * sizeof *draws->stats);
    struct gbm_draws_stat stat = {.name = strdup(name),
                                  .integer = integer,
                                  .values = allocate_numbers(records)};

    if (stats)
        draws->stats = stats;
    if (!stats || !stat.name || !stat.values) {
        free(stat.name);
        free(stat.values);
        return -1;
    }
    stats[draws->nstats] = stat;
    return draws->nstats++;
}

static void moments_free(struct gbm_moments_variable *m)
{
    free(m->name);
    free(m->cells);
    free(m->mean);
    free(m->sd);
    free(m->rhat);
}

enum gbm_status gbm_draws_add_moments(struct gbm_draws *draws, const char *name,
                                      int ndim, const int *dim, int64_t count,
                                      const int64_t *cells, int categories,
                                      const double *mean, const double *sd,
                                      const double *rhat)
{
    size_t each = categories ? (size_t)categories : 1;
    size_t bytes = (size_t)count * each * sizeof(double);
    struct gbm_moments_variable *all,
        m = {.name = strdup(name),
             .ndim = ndim,
             .count = count,
             .categories = categories,
             .cells = cells ? copy(cells, (size_t)count * sizeof *cells) : NULL,
             .mean = copy(mean, bytes),
             .sd = copy(sd, bytes),
             .rhat = copy(rhat, bytes)};

    if (ndim > 0)
        memcpy(m.dim, dim, (size_t)ndim * sizeof *dim);
    all = realloc(draws->moments,
                  ((size_t)draws->nmoments + 1) * sizeof *draws->moments);
    if (all)
        draws->moments = all;
    if (!all || !m.name || !m.mean || !m.sd || !m.rhat || (cells && !m.cells)) {
        moments_free(&m);
        return GBM_FAILURE;
    }
    all[draws->nmoments++] = m;
    return GBM_OK;
}

static enum gbm_status add_array(const struct gbm_array ***list, int *count,
                                 const struct gbm_array *array)
{
    const struct gbm_array **longer =
        realloc((void *)*list, ((size_t)*count + 1) * sizeof(const void *));

    if (!longer)
        return GBM_FAILURE;
    *list = longer;
    longer[(*count)++] = array;
    return GBM_OK;
}

enum gbm_status gbm_draws_add_observed(struct gbm_draws *draws,
                                       const struct gbm_array *array)
{
    return add_array(&draws->observed, &draws->nobserved, array);
}

enum gbm_status gbm_draws_add_constant(struct gbm_draws *draws,
                                       const struct gbm_array *array)
{
    return add_array(&draws->constant, &draws->nconstant, array);
}

void gbm_draws_free(struct gbm_draws *draws)
{
    for (int i = 0; i < draws->nvariables; i++) {
        free(draws->variables[i].name);
        free(draws->variables[i].cells);
        free(draws->variables[i].filled);
    }
    for (int i = 0; i < draws->nstats; i++) {
        free(draws->stats[i].name);
        free(draws->stats[i].values);
    }
    for (int i = 0; i < draws->nmoments; i++)
        moments_free(&draws->moments[i]);
    free(draws->variables);
    free(draws->stats);
    free(draws->end_lp);
    free(draws->moments);
    free((void *)draws->observed);
    free((void *)draws->constant);
    gbm_coords_free(&draws->coords);
    free(draws->values);
    free(draws->json);
    free(draws->strings);
    *draws = (struct gbm_draws){0};
}

const struct gbm_draws_variable *gbm_draws_find(const struct gbm_draws *draws,
                                                const char *name)
{
    for (int i = 0; i < draws->nvariables; i++)
        if (draws->variables[i].group != GBM_LOG_LIKELIHOOD &&
            strcmp(draws->variables[i].name, name) == 0)
            return &draws->variables[i];
    return NULL;
}

bool gbm_draws_has(const struct gbm_draws_variable *v, int64_t cell)
{
    int64_t low = 0, high = v->count;

    if (!v->cells)
        return true;
    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (v->cells[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->count && v->cells[low] == cell;
}

static bool has_log_lik(const struct gbm_draws *draws, const char *name)
{
    for (int i = 0; i < draws->nvariables; i++)
        if (draws->variables[i].group == GBM_LOG_LIKELIHOOD &&
            strcmp(draws->variables[i].name, name) == 0)
            return true;
    return false;
}

/* FNV-1a; missing values are all the same. */
static uint64_t array_sum(const struct gbm_array *a)
{
    uint64_t hash = 14695981039346656037u;

    for (const char *p = a->name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    for (int64_t i = 0; i < a->length; i++) {
        double x = isnan(a->values[i]) ? -HUGE_VAL : a->values[i];
        uint64_t bits;

        memcpy(&bits, &x, sizeof bits);
        for (int k = 0; k < 64; k += 8)
            hash = (hash ^ (bits >> k & 255)) * 1099511628211u;
    }
    return hash;
}

/* 51 bits, which a double holds. */
static int64_t observed_sum(const struct gbm_draws *draws, bool with_log_lik)
{
    uint64_t sum = 0;

    for (int i = 0; i < draws->nobserved; i++)
        if (!with_log_lik || has_log_lik(draws, draws->observed[i]->name))
            sum += array_sum(draws->observed[i]);
    return (int64_t)(sum >> 13);
}

int64_t gbm_draws_data_sum(const struct gbm_draws *draws)
{
    return draws->data_sum ? draws->data_sum : observed_sum(draws, true);
}

int64_t gbm_draws_observed_sum(const struct gbm_draws *draws)
{
    return observed_sum(draws, false);
}

void gbm_draws_columns(const struct gbm_draws *draws, int64_t first,
                       int64_t count, double *out)
{
    int64_t n = (int64_t)draws->chains * draws->kept;

    for (int c = 0; c < draws->chains; c++)
        for (int d = 0; d < draws->kept; d++) {
            const double *record = gbm_draws_record(draws, c, d) + first;
            double *to = out + (int64_t)c * draws->kept + d;

            for (int64_t i = 0; i < count; i++)
                to[i * n] = record[i];
        }
}

/* ---- columns of the text formats */

/* The next cell in column-major order: index as an odometer, first fastest. */
static int64_t next_cell(int ndim, const int *dim, int *index)
{
    int64_t cell = 0;

    for (int d = 0; d < ndim; d++) {
        if (++index[d] < dim[d])
            break;
        index[d] = 0;
    }
    for (int d = 0; d < ndim; d++)
        cell = cell * dim[d] + index[d];
    return cell;
}

struct rt_column *rt_columns(const struct gbm_draws *draws)
{
    struct rt_column *columns =
        malloc(((size_t)draws->width + 1) * sizeof *columns);
    int64_t n = 0;

    for (int i = 0; i < draws->nvariables && columns; i++) {
        const struct gbm_draws_variable *v = &draws->variables[i];
        int index[GBM_MAX_DIMS] = {0};
        int64_t cell = 0;
        /* rank[cell]: its place among the drawn ones, or -1 */
        int64_t *rank = malloc(((size_t)v->length + 1) * sizeof *rank);

        if (!rank) {
            free(columns);
            return NULL;
        }
        for (int64_t k = 0; k < v->length; k++)
            rank[k] = v->cells ? -1 : k;
        for (int64_t k = 0; k < v->count && v->cells; k++)
            rank[v->cells[k]] = k;
        for (int64_t k = 0; k < v->length; k++) {
            if (rank[cell] >= 0)
                columns[n++] =
                    (struct rt_column){v, cell, v->offset + rank[cell]};
            cell = next_cell(v->ndim, v->dim, index);
        }
        free(rank);
    }
    return columns;
}

/* ---- formats */
