/* scan.c: numbers, messages with positions, growing vectors. */
#include "io/reader.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum gbm_status write_error(char *error, const char *where,
                                   const char *format, va_list args)
{
    int n = snprintf(error, GBM_ERROR, "%s: ", where);

    if (n < 0 || n >= GBM_ERROR - 1)
        n = 0;
    vsnprintf(error + n, (size_t)(GBM_ERROR - n), format, args);
    return GBM_USER_ERROR;
}

enum gbm_status rt_fail_at(const struct rt_text *text, const char *at,
                           const char *format, ...)
{
    char where[700];
    long line = 1, column = 1;
    va_list args;

    for (const char *p = text->begin; p < at; p++) {
        if (*p == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*p & 0xC0) != 0x80) {
            column++; /* counts characters of UTF-8, not bytes */
        }
    }
    snprintf(where, sizeof where, "%.600s:%ld:%ld", text->path, line, column);
    va_start(args, format);
    write_error(text->error, where, format, args);
    va_end(args);
    return GBM_USER_ERROR;
}

enum gbm_status rt_fail(const struct rt_text *text, const char *format, ...)
{
    char where[700];
    va_list args;

    snprintf(where, sizeof where, "%.600s", text->path);
    va_start(args, format);
    write_error(text->error, where, format, args);
    va_end(args);
    return GBM_USER_ERROR;
}

enum gbm_status rt_no_memory(char *error)
{
    snprintf(error, GBM_ERROR, "out of memory");
    return GBM_FAILURE;
}

const char *rt_found(const struct rt_text *text, const char *at,
                     char buffer[16])
{
    if (at >= text->end)
        return "the end of the file";
    if (*at == '\n' || *at == '\r')
        return "the end of the line";
    if (isprint((unsigned char)*at))
        snprintf(buffer, 16, "'%c'", *at);
    else
        snprintf(buffer, 16, "byte 0x%02x", (unsigned)(unsigned char)*at);
    return buffer;
}

/* Slow way: strtod on a copy, as the text has no final NUL. */
static double parse_slowly(const char *at, const char *end)
{
    char small[64];
    size_t n = (size_t)(end - at);
    char *copy = n < sizeof small ? small : malloc(n + 1);
    double value;

    if (!copy)
        return NAN;
    memcpy(copy, at, n);
    copy[n] = '\0';
    value = strtod(copy, NULL);
    if (copy != small)
        free(copy);
    return value;
}

const char *rt_parse_number(const char *at, const char *end, double *value)
{
    static const double power[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = at;
    bool negative = false;
    uint64_t mantissa = 0;
    int digits = 0, dropped = 0, scale = 0, exponent = 0;

    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    for (bool fraction = false; p < end; p++) {
        if (*p == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (*p < '0' || *p > '9')
            break;
        digits++;
        if (mantissa < UINT64_C(100000000000000000)) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            scale -= fraction;
        } else {
            dropped++;
        }
    }
    if (digits == 0)
        return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        bool minus = false;

        if (q < end && (*q == '-' || *q == '+'))
            minus = *q++ == '-';
        if (q < end && *q >= '0' && *q <= '9') {
            for (; q < end && *q >= '0' && *q <= '9'; q++)
                if (exponent < 100000)
                    exponent = exponent * 10 + (*q - '0');
            if (minus)
                exponent = -exponent;
            p = q;
        }
    }
    scale += exponent;
    /* Exact when both the digits and the power of ten are doubles (Clinger
     * 1990): one rounding. */
    if (dropped == 0 && mantissa <= (UINT64_C(1) << 53) && scale >= -22 &&
        scale <= 22) {
        double m = (double)mantissa;

        m = scale < 0 ? m / power[-scale] : m * power[scale];
        *value = negative ? -m : m;
    } else {
        *value = parse_slowly(at, p);
    }
    return p;
}

enum gbm_status rt_push(struct rt_values *v, double value, bool missing,
                        char *error)
{
    v->gaps = v->gaps || missing;
    if (v->discard)
        return GBM_OK;
    if (v->count == v->capacity) {
        int64_t capacity = v->capacity ? 2 * v->capacity : 16;
        double *values =
            realloc(v->values, (size_t)capacity * sizeof *v->values);

        if (!values)
            return rt_no_memory(error);
        v->values = values;
        if (v->missing) {
            unsigned char *marks = realloc(v->missing, (size_t)capacity);

            if (!marks)
                return rt_no_memory(error);
            v->missing = marks;
        }
        v->capacity = capacity;
    }
    if (missing && !v->missing) {
        v->missing = calloc((size_t)v->capacity, 1);
        if (!v->missing)
            return rt_no_memory(error);
    }
    v->values[v->count] = missing ? NAN : value;
    if (v->missing)
        v->missing[v->count] = missing;
    v->count++;
    return GBM_OK;
}

void rt_values_free(struct rt_values *values)
{
    free(values->values);
    free(values->missing);
    *values = (struct rt_values){0};
}
