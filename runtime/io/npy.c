/* npy.c: one array in NumPy's format (numpy.lib.format, versions 1 to 3). */
#include "io/reader.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header, as far as it concerns us. */
struct header {
    char kind; /* b i u f */
    int bytes; /* of a value */
    bool swapped;
    bool fortran;
    int ndim;
    int dim[GBM_MAX_DIMS];
    int64_t length;
};

static const char *skip(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n'))
        at++;
    return at;
}

/* The text after 'key': in the dictionary, or NULL. */
static const char *find_key(const char *at, const char *end, const char *key)
{
    size_t n = strlen(key);
    const char *p = at;

    while ((p = memmem(p, (size_t)(end - p), key, n))) {
        const char *q = p + n;

        if (p > at && (p[-1] == '\'' || p[-1] == '"') && q < end &&
            *q == p[-1]) {
            q = skip(q + 1, end);
            if (q < end && *q == ':')
                return skip(q + 1, end);
        }
        p++;
    }
    return NULL;
}

static enum gbm_status read_descr(const struct rt_text *t, const char *at,
                                  const char *end, struct header *h)
{
    char code[16] = "";
    int n = 0;

    if (!at || at >= end || (*at != '\'' && *at != '"'))
        return rt_fail(t, "the .npy file holds records; one plain array is "
                          "expected");
    for (at++; at < end && *at != '\'' && *at != '"' && n < 15; at++)
        code[n++] = *at;
    code[n] = '\0';
    h->swapped = code[0] == '>';
    if (n < 3 || !strchr("<>|=", code[0]) || !strchr("biuf", code[1]))
        return rt_fail(t,
                       "values of type '%s' are not numbers that gbm reads "
                       "(integers, floats, booleans)",
                       code);
    h->kind = code[1];
    h->bytes = atoi(code + 2);
    if ((h->kind == 'b' && h->bytes != 1) ||
        (h->kind == 'f' && h->bytes != 2 && h->bytes != 4 && h->bytes != 8) ||
        (h->bytes != 1 && h->bytes != 2 && h->bytes != 4 && h->bytes != 8))
        return rt_fail(t,
                       "values of type '%s' are not supported; convert to "
                       "float64",
                       code);
    return GBM_OK;
}

static enum gbm_status read_shape(const struct rt_text *t, const char *at,
                                  const char *end, struct header *h)
{
    if (!at || at >= end || *at != '(')
        return rt_fail(t, "the .npy header has no shape");
    h->length = 1;
    for (at = skip(at + 1, end); at < end && *at != ')'; at = skip(at, end)) {
        double extent;

        at = rt_parse_number(at, end, &extent);
        if (!at || !(extent >= 0 && extent <= INT_MAX) ||
            extent != floor(extent))
            return rt_fail(t,
                           "the .npy header has an extent that is not a "
                           "whole number up to %d",
                           INT_MAX);
        if (h->ndim == GBM_MAX_DIMS)
            return rt_fail(t, "the array has more than %d dimensions",
                           GBM_MAX_DIMS);
        if (extent > 0 && h->length > INT64_MAX / 8 / (int64_t)extent)
            return rt_fail(t, "the array is too large");
        h->dim[h->ndim++] = (int)extent;
        h->length *= (int64_t)extent;
        at = skip(at, end);
        if (at < end && *at == ',')
            at++;
    }
    return at < end ? GBM_OK : rt_fail(t, "the .npy header is cut short");
}

/* Leaves t->at at the first value. */
static enum gbm_status read_header(struct rt_text *t, struct header *h)
{
    const unsigned char *p = (const unsigned char *)t->begin;
    size_t size = (size_t)(t->end - t->begin), start, n;
    const char *end, *order;
    enum gbm_status status;

    if (size < 12)
        return rt_fail(t, "the .npy file is cut short in its header");
    start = p[6] == 1 ? 10 : 12;
    n = p[8] | (size_t)p[9] << 8;
    if (p[6] != 1)
        n |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (p[6] < 1 || p[6] > 3)
        return rt_fail(t, ".npy version %d is not known", p[6]);
    if (n > size - start)
        return rt_fail(t, "the .npy file is cut short in its header");
    t->at = t->begin + start;
    end = t->at + n;
    status = read_descr(t, find_key(t->at, end, "descr"), end, h);
    if (status == GBM_OK)
        status = read_shape(t, find_key(t->at, end, "shape"), end, h);
    order = find_key(t->at, end, "fortran_order");
    h->fortran = order && end - order >= 4 && memcmp(order, "True", 4) == 0;
    t->at = end;
    if (status == GBM_OK && (t->end - end) / h->bytes < h->length)
        return rt_fail(t,
                       "the .npy file is cut short: its shape needs %lld "
                       "values, it holds %lld",
                       (long long)h->length,
                       (long long)((t->end - end) / h->bytes));
    return status;
}

static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 0 ? ldexp(fraction, -24)
                   : exponent == 31
                       ? (fraction ? (double)NAN : (double)INFINITY)
                       : ldexp(1024 + fraction, exponent - 25);

    return bits & 0x8000 ? -value : value;
}

/* The value of h's type at `p`. */
static double convert(const struct header *h, const char *p)
{
    unsigned char raw[8] = {0};
    uint8_t u1;
    uint16_t u2;
    uint32_t u4;
    uint64_t u8;
    float f;
    double d;

    for (int i = 0; i < h->bytes; i++)
        raw[h->swapped ? h->bytes - 1 - i : i] = (unsigned char)p[i];
    memcpy(&u1, raw, 1);
    memcpy(&u2, raw, 2);
    memcpy(&u4, raw, 4);
    memcpy(&u8, raw, 8);
    if (h->kind == 'f') {
        memcpy(&f, raw, 4);
        memcpy(&d, raw, 8);
        return h->bytes == 8 ? d : h->bytes == 4 ? (double)f : half(u2);
    }
    if (h->kind == 'i')
        return h->bytes == 1   ? (int8_t)u1
               : h->bytes == 2 ? (int16_t)u2
               : h->bytes == 4 ? (int32_t)u4
                               : (double)(int64_t)u8;
    return h->bytes == 1   ? u1
           : h->bytes == 2 ? u2
           : h->bytes == 4 ? u4
                           : (double)u8;
}

/* Where the value of row-major cell `cell` lies in the file. */
static int64_t fortran_place(const struct header *h, int64_t cell)
{
    int64_t place = 0, index[GBM_MAX_DIMS];

    for (int d = h->ndim - 1; d >= 0; d--) {
        index[d] = cell % h->dim[d];
        cell /= h->dim[d];
    }
    for (int d = h->ndim - 1; d >= 0; d--)
        place = place * h->dim[d] + index[d];
    return place;
}

static void convert_all(const struct header *h, const char *from, double *to)
{
    bool permute = h->fortran && h->ndim > 1;

#pragma omp parallel for if (h->length > 100000)
    for (int64_t i = 0; i < h->length; i++)
        to[i] =
            convert(h, from + (permute ? fortran_place(h, i) : i) * h->bytes);
}

/* The variable's name: given, or the file's own. */
static char *name_of(const struct rt_text *t, const char *name)
{
    const char *slash = strrchr(t->path, '/');
    const char *base = slash ? slash + 1 : t->path;
    const char *dot = strstr(base, ".npy");

    if (name)
        return strdup(name);
    return strndup(base, dot ? (size_t)(dot - base) : strlen(base));
}

enum gbm_status rt_read_npy(struct gbm_data *data, struct rt_text *t,
                            const char *name, void *map, bool *taken)
{
    struct header h = {0};
    struct gbm_array array = {0};
    enum gbm_status status = read_header(t, &h);

    *taken = false;
    if (status)
        return status;
    array.name = name_of(t, name);
    array.source = strdup(t->path);
    array.ndim = h.ndim;
    memcpy(array.dim, h.dim, sizeof array.dim);
    array.length = h.length;
    if (map && h.kind == 'f' && h.bytes == 8 && !h.swapped &&
        (!h.fortran || h.ndim < 2) && (uintptr_t)t->at % sizeof(double) == 0) {
        array.values = (double *)(uintptr_t)t->at;
        array.map = map;
        array.map_bytes = (size_t)(t->end - t->begin);
        *taken = true;
    } else {
        array.values =
            malloc((size_t)(h.length ? h.length : 1) * sizeof *array.values);
        if (array.values)
            convert_all(&h, t->at, array.values);
    }
    if (!array.values || !array.name || !array.source) {
        rt_array_free(&array);
        return rt_no_memory(t->error);
    }
    return rt_data_add_array(data, t, NULL, &array);
}
