/* data.c: a set of arrays. */
#include "io/data.h"
#include "io/reader.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void gbm_cell_name(const char *name, int ndim, const int *dim, int64_t cell,
                   char *out, size_t capacity)
{
    int64_t index[GBM_MAX_DIMS];
    size_t n;

    for (int d = ndim - 1; d >= 0; d--) {
        int extent = dim[d] > 0 ? dim[d] : 1;

        index[d] = cell % extent + 1;
        cell /= extent;
    }
    n = (size_t)snprintf(out, capacity, "%s", name);
    for (int d = 0; d < ndim && n < capacity; d++)
        n += (size_t)snprintf(out + n, capacity - n, "%c%lld",
                              d == 0 ? '[' : ',', (long long)index[d]);
    if (ndim > 0 && n < capacity)
        snprintf(out + n, capacity - n, "]");
}

const struct gbm_array *gbm_data_find(const struct gbm_data *data,
                                      const char *name)
{
    for (int i = 0; i < data->narrays; i++)
        if (strcmp(data->arrays[i].name, name) == 0)
            return &data->arrays[i];
    return NULL;
}

static enum gbm_status gather_value(struct gbm_array *to, int i,
                                    const struct gbm_array *a,
                                    char error[GBM_ERROR])
{
    long long n = 1; /* values, kept or not */
    for (int d = 0; a && d < a->ndim; d++)
        n *= a->dim[d];
    if (n != 1) {
        snprintf(error, GBM_ERROR,
                 "%.200s is a single number in the model, but %.600s has %lld",
                 a->name, a->source, n);
        return GBM_USER_ERROR;
    }
    to->missing[i] = !a || a->gaps;
    to->values[i] = a && !a->gaps && a->length ? a->values[0] : (double)NAN;
    to->gaps = to->gaps || to->missing[i];
    to->integer = to->integer && (to->missing[i] || a->integer);
    return GBM_OK;
}

enum gbm_status gbm_data_gather(struct gbm_data *data, const char *name,
                                const char *const *names, int n,
                                char error[GBM_ERROR])
{
    const struct gbm_array *a = NULL;
    for (int i = 0; i < n && !a; i++)
        a = gbm_data_find(data, names[i]);
    if (!a)
        return GBM_OK;
    struct gbm_array all = {.ndim = 1, .length = n, .integer = true};
    all.dim[0] = n;
    all.name = strdup(name);
    all.source = strdup(a->source);
    struct gbm_array *arrays =
        realloc(data->arrays, ((size_t)data->narrays + 1) * sizeof *arrays);
    if (arrays)
        data->arrays = arrays;
    all.values = calloc((size_t)n, sizeof *all.values);
    all.missing = calloc((size_t)n, 1);
    bool memory = arrays && all.name && all.source && all.values && all.missing;
    enum gbm_status status = memory ? GBM_OK : rt_no_memory(error);
    for (int i = 0; i < n && status == GBM_OK; i++)
        status = gather_value(&all, i, gbm_data_find(data, names[i]), error);
    if (status == GBM_OK)
        data->arrays[data->narrays++] = all;
    else
        rt_array_free(&all);
    return status;
}

void rt_array_free(struct gbm_array *array)
{
    free(array->name);
    free(array->source);
    free(array->missing);
    if (array->map)
        munmap(array->map, array->map_bytes);
    else
        free(array->values);
    *array = (struct gbm_array){0};
}

void gbm_data_free(struct gbm_data *data)
{
    for (int i = 0; i < data->narrays; i++)
        rt_array_free(&data->arrays[i]);
    free(data->arrays);
    gbm_coords_free(&data->coords);
    free(data->rng_name);
    free(data->notes);
    *data = (struct gbm_data){0};
}

enum gbm_status rt_note(struct gbm_data *data, const struct rt_text *text,
                        const char *format, ...)
{
    char line[GBM_ERROR];
    size_t old = data->notes ? strlen(data->notes) : 0, added;
    char *notes;
    va_list args;
    int n = snprintf(line, sizeof line, "%.600s: ", text->path);

    va_start(args, format);
    vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    va_end(args);
    added = strlen(line);
    notes = realloc(data->notes, old + added + 2);
    if (!notes)
        return rt_no_memory(text->error);
    memcpy(notes + old, line, added);
    memcpy(notes + old + added, "\n", 2);
    data->notes = notes;
    return GBM_OK;
}

bool rt_uses(const struct gbm_data *data, const char *name)
{
    return !data->uses || data->uses(data->context, name);
}

enum gbm_status rt_leave_out(struct gbm_data *data, const struct rt_text *text,
                             const char *name)
{
    return rt_note(data, text,
                   "'%.200s' is left out: it is no array of numbers, and the "
                   "model does not use it",
                   name);
}

/* Sets `integer`; returns the first cell that is neither finite nor missing, or
 * -1. */
static int64_t inspect(struct gbm_array *array)
{
    const double *values = array->values;
    const unsigned char *missing = array->missing;
    int64_t n = array->length, bad = INT64_MAX;
    int fractions = 0;

#pragma omp parallel for reduction(min                                         \
                                   : bad)                                      \
    reduction(|                                                                \
              : fractions) if (n > 100000)
    for (int64_t i = 0; i < n; i++) {
        if (missing && missing[i])
            continue;
        if (!isfinite(values[i])) {
            bad = i < bad ? i : bad;
            fractions = 1;
        } else if (!(fabs(values[i]) <= INT_MAX) ||
                   values[i] != (double)(int)values[i]) {
            fractions = 1;
        }
    }
    array->integer = !fractions;
    return bad == INT64_MAX ? -1 : bad;
}

static enum gbm_status fail_maybe_at(const struct rt_text *text, const char *at,
                                     const char *message)
{
    return at ? rt_fail_at(text, at, "%s", message)
              : rt_fail(text, "%s", message);
}

static enum gbm_status refuse_value(const struct rt_text *text, const char *at,
                                    const struct gbm_array *array, int64_t cell)
{
    char name[256], message[400];
    double value = array->values[cell];

    gbm_cell_name(array->name, array->ndim, array->dim, cell, name,
                  sizeof name);
    snprintf(message, sizeof message,
             "%s = %s: data must be finite (missing values are written NA%s)",
             name,
             isnan(value) ? "NaN"
             : value < 0  ? "-Inf"
                          : "Inf",
             at ? " or null" : "");
    return fail_maybe_at(text, at, message);
}

enum gbm_status rt_data_add_array(struct gbm_data *data,
                                  const struct rt_text *text, const char *at,
                                  struct gbm_array *array)
{
    const struct gbm_array *old = gbm_data_find(data, array->name);
    int64_t bad = inspect(array);
    struct gbm_array *arrays;
    enum gbm_status status = GBM_OK;

    if (old) {
        char message[900];

        snprintf(message, sizeof message,
                 "'%.200s' is given already, by %.600s", array->name,
                 old->source);
        status = fail_maybe_at(text, at, message);
    } else if (bad >= 0 && !data->allow_nonfinite &&
               rt_uses(data, array->name)) {
        status = refuse_value(text, at, array, bad);
    } else {
        arrays =
            realloc(data->arrays, ((size_t)data->narrays + 1) * sizeof *arrays);
        if (!arrays) {
            status = rt_no_memory(text->error);
        } else {
            data->arrays = arrays;
            arrays[data->narrays++] = *array;
        }
    }
    if (status)
        rt_array_free(array);
    return status;
}

enum gbm_status rt_data_add(struct gbm_data *data, const struct rt_text *text,
                            const char *at, const char *name, int ndim,
                            const int *dim, struct rt_values *values,
                            bool scalar_like)
{
    struct gbm_array array = {.name = strdup(name),
                              .source = strdup(text->path),
                              .ndim = ndim,
                              .length = values->count,
                              .values = values->values,
                              .missing = values->missing,
                              .gaps = values->gaps,
                              .scalar_like = scalar_like};

    *values = (struct rt_values){0};
    memcpy(array.dim, dim, (size_t)ndim * sizeof *dim);
    if (!array.values) /* an empty array still has an address */
        array.values = malloc(sizeof *array.values);
    if (!array.name || !array.source || !array.values) {
        rt_array_free(&array);
        return rt_no_memory(text->error);
    }
    return rt_data_add_array(data, text, at, &array);
}

/* ---- files */
