/* rdump.c: data in R's syntax, as R's dump() writes and JAGS reads it, and
 * WinBUGS's list(...). Only what such files hold: constants, c(), structure(),
 * a:b and a few constructors; this is no interpreter of R. */
#include "io/reader.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 100, MAX_REPEAT = 1 << 30 };

/* The value of an expression. */
struct value {
    struct rt_values v;
    int ndim; /* -1: no dim attribute */
    int dim[GBM_MAX_DIMS];
    char *string; /* a single string, or NULL */
    bool text;    /* strings or a list: no numbers */
};

struct reader {
    struct rt_text *t;
    struct gbm_data *data;
    int nesting;
    bool row_major; /* inside a WinBUGS list */
    bool noted;
};

static enum gbm_status read_expr(struct reader *r, struct value *out);

static void value_free(struct value *value)
{
    rt_values_free(&value->v);
    free(value->string);
    *value = (struct value){.ndim = -1};
}

static void skip_space(struct rt_text *t)
{
    while (t->at < t->end) {
        if (*t->at == '#')
            while (t->at < t->end && *t->at != '\n')
                t->at++;
        else if (isspace((unsigned char)*t->at))
            t->at++;
        else
            return;
    }
}

/* The next character that is not space, or 0 at the end. */
static char peek(struct rt_text *t)
{
    skip_space(t);
    return t->at < t->end ? *t->at : '\0';
}

static bool take(struct rt_text *t, const char *token)
{
    size_t n = strlen(token);

    skip_space(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, token, n) != 0)
        return false;
    t->at += n;
    return true;
}

static enum gbm_status expected(struct rt_text *t, const char *what)
{
    char buffer[16];

    skip_space(t);
    return rt_fail_at(t, t->at, "expected %s, found %s", what,
                      rt_found(t, t->at, buffer));
}

static bool name_start(char c)
{
    return isalpha((unsigned char)c) || c == '.' || c == '_';
}

/* Length of the bare name at t->at, or 0. */
static size_t name_here(const struct rt_text *t)
{
    const char *p = t->at;

    if (p >= t->end || !name_start(*p) ||
        (*p == '.' && p + 1 < t->end && isdigit((unsigned char)p[1])))
        return 0;
    while (p < t->end && (name_start(*p) || isdigit((unsigned char)*p)))
        p++;
    return (size_t)(p - t->at);
}

/* Reads a string at its opening quote; the caller frees *string. */
static enum gbm_status read_string(struct rt_text *t, char **string)
{
    const char *open = t->at;
    char quote = *t->at++, *out;
    const char *close = t->at;

    while (close < t->end && *close != quote)
        close += *close == '\\' && close + 1 < t->end ? 2 : 1;
    if (close >= t->end)
        return rt_fail_at(t, open, "the string is not closed");
    *string = out = malloc((size_t)(close - t->at) + 1);
    if (!out)
        return rt_no_memory(t->error);
    while (t->at < close) {
        if (*t->at == '\\')
            t->at++;
        *out++ = *t->at++;
    }
    *out = '\0';
    t->at = close + 1;
    return GBM_OK;
}

/* A variable's or argument's name, bare or quoted; the caller frees *name. */
static enum gbm_status read_name(struct rt_text *t, char **name)
{
    size_t n;
    char c = peek(t);

    if (c == '"' || c == '\'' || c == '`')
        return read_string(t, name);
    n = name_here(t);
    if (n == 0)
        return expected(t, "a variable's name");
    *name = strndup(t->at, n);
    if (!*name)
        return rt_no_memory(t->error);
    t->at += n;
    return GBM_OK;
}

/* Appends `from` to `to`. */
static enum gbm_status append(struct reader *r, struct value *to,
                              const struct value *from)
{
    to->text = to->text || from->text;
    for (int64_t i = 0; i < from->v.count; i++) {
        enum gbm_status status =
            rt_push(&to->v, from->v.values[i],
                    from->v.missing && from->v.missing[i], r->t->error);

        if (status)
            return status;
    }
    return GBM_OK;
}

/* One argument of a call: its name (owned, NULL if none) and value. */
struct argument {
    char *name;
    const char *at;
    struct value value;
};

static void argument_free(struct argument *argument)
{
    free(argument->name);
    value_free(&argument->value);
    argument->name = NULL;
}

/* Is there `name =` (not `==`) here? Then takes it. */
static enum gbm_status read_tag(struct reader *r, char **name)
{
    struct rt_text *t = r->t;
    const char *start;
    char c = peek(t);
    enum gbm_status status;

    *name = NULL;
    start = t->at;
    if (c != '"' && c != '\'' && c != '`' && name_here(t) == 0)
        return GBM_OK;
    status = read_name(t, name);
    if (status)
        return status;
    if (peek(t) == '=' && !(t->at + 1 < t->end && t->at[1] == '=')) {
        t->at++;
        return GBM_OK;
    }
    free(*name);
    *name = NULL;
    t->at = start;
    return GBM_OK;
}

/* Reads the next argument; *more says whether there was one. After '('. */
static enum gbm_status next_argument(struct reader *r, bool first,
                                     struct argument *argument, bool *more)
{
    enum gbm_status status;

    *argument = (struct argument){.value.ndim = -1};
    *more = false;
    if (take(r->t, ")"))
        return GBM_OK;
    if (!first && !take(r->t, ","))
        return expected(r->t, "',' or ')'");
    status = read_tag(r, &argument->name);
    skip_space(r->t);
    argument->at = r->t->at;
    if (status == GBM_OK)
        status = read_expr(r, &argument->value);
    if (status)
        argument_free(argument);
    *more = status == GBM_OK;
    return status;
}

static enum gbm_status read_c(struct reader *r, const char *at,
                              struct value *out)
{
    bool more = true;

    (void)at;
    for (bool first = true;; first = false) {
        struct argument argument;
        enum gbm_status status = next_argument(r, first, &argument, &more);

        if (status || !more)
            return status;
        status = append(r, out, &argument.value);
        argument_free(&argument);
        if (status)
            return status;
    }
}

static enum gbm_status read_integer_of(struct reader *r, const char *at,
                                       struct value *out)
{
    enum gbm_status status = read_c(r, at, out);

    for (int64_t i = 0; i < out->v.count; i++)
        out->v.values[i] = trunc(out->v.values[i]);
    return status;
}

/* A list where no list is wanted, such as .Dimnames: read and marked. */
static enum gbm_status read_inner_list(struct reader *r, const char *at,
                                       struct value *out)
{
    enum gbm_status status = read_c(r, at, out);

    out->text = true;
    return status;
}

/* One number that counts something. */
static enum gbm_status count_of(struct reader *r, const char *at,
                                const struct value *value, int64_t *count)
{
    double x = value->v.count == 1 && !value->text ? value->v.values[0] : NAN;

    if (!(x >= 0 && x <= MAX_REPEAT) || x != floor(x))
        return rt_fail_at(r->t, at,
                          "expected a whole number that is not negative");
    *count = (int64_t)x;
    return GBM_OK;
}

/* integer(n), double(n): zeros. */
static enum gbm_status read_zeros(struct reader *r, const char *at,
                                  struct value *out)
{
    struct value length = {.ndim = -1};
    int64_t n = 0;
    enum gbm_status status = read_c(r, at, &length);

    if (status == GBM_OK && length.v.count > 0)
        status = count_of(r, at, &length, &n);
    value_free(&length);
    for (int64_t i = 0; i < n && status == GBM_OK; i++)
        status = rt_push(&out->v, 0, false, r->t->error);
    return status;
}

static enum gbm_status repeat(struct reader *r, const char *at,
                              const struct value *x, int64_t times,
                              int64_t each, struct value *out)
{
    enum gbm_status status = GBM_OK;

    out->text = x->text;
    if (x->v.count > 0 && times > 0 && each > MAX_REPEAT / x->v.count / times)
        return rt_fail_at(r->t, at, "rep() makes too many values");
    for (int64_t k = 0; k < times; k++)
        for (int64_t i = 0; i < x->v.count; i++)
            for (int64_t j = 0; j < each && status == GBM_OK; j++)
                status = rt_push(&out->v, x->v.values[i],
                                 x->v.missing && x->v.missing[i], r->t->error);
    return status;
}

/* rep(x, times), rep(x, times =, each =). */
static enum gbm_status read_rep(struct reader *r, const char *at,
                                struct value *out)
{
    struct value x = {.ndim = -1};
    int64_t times = 1, each = 1;
    enum gbm_status status = GBM_OK;
    bool more = true;

    for (int i = 0; status == GBM_OK; i++) {
        struct argument a;

        status = next_argument(r, i == 0, &a, &more);
        if (status || !more)
            break;
        if (i == 0)
            status = append(r, &x, &a.value);
        else if (!a.name || strcmp(a.name, "times") == 0)
            status = count_of(r, a.at, &a.value, &times);
        else if (strcmp(a.name, "each") == 0)
            status = count_of(r, a.at, &a.value, &each);
        else
            status = rt_fail_at(r->t, a.at,
                                "rep() takes times and each, not "
                                "'%.100s'",
                                a.name);
        argument_free(&a);
    }
    if (status == GBM_OK)
        status = repeat(r, at, &x, times, each, out);
    value_free(&x);
    return status;
}

static enum gbm_status set_dim(struct reader *r, const struct argument *a,
                               struct value *out)
{
    const struct rt_values *v = &a->value.v;

    if (v->count < 1 || v->count > GBM_MAX_DIMS || a->value.text)
        return rt_fail_at(r->t, a->at, ".Dim needs 1 to %d numbers",
                          GBM_MAX_DIMS);
    for (int64_t i = 0; i < v->count; i++) {
        double x = v->values[i];

        if (!(x >= 0 && x <= INT_MAX) || x != floor(x))
            return rt_fail_at(r->t, a->at,
                              ".Dim needs whole numbers that are not negative");
        out->dim[i] = (int)x;
    }
    out->ndim = (int)v->count;
    return GBM_OK;
}

/* structure(c(...), .Dim = c(...)); other attributes are passed over. */
static enum gbm_status read_structure(struct reader *r, const char *at,
                                      struct value *out)
{
    enum gbm_status status = GBM_OK;
    bool more = true, have = false;

    for (bool first = true; status == GBM_OK; first = false) {
        struct argument a;

        status = next_argument(r, first, &a, &more);
        if (status || !more)
            break;
        if (!a.name || strcmp(a.name, ".Data") == 0) {
            if (have)
                status =
                    rt_fail_at(r->t, a.at, "structure() has its data twice");
            else
                status = append(r, out, &a.value);
            have = true;
        } else if (strcmp(a.name, ".Dim") == 0 || strcmp(a.name, "dim") == 0) {
            status = set_dim(r, &a, out);
        }
        argument_free(&a);
    }
    if (status == GBM_OK && !have)
        return rt_fail_at(r->t, at, "structure() without its data");
    return status;
}

static const struct {
    const char *name;
    enum gbm_status (*read)(struct reader *r, const char *at,
                            struct value *out); /* after '(' */
} functions[] = {
    {"c", read_c},
    {"structure", read_structure},
    {"as.integer", read_integer_of},
    {"as.numeric", read_c},
    {"as.double", read_c},
    {"integer", read_zeros},
    {"double", read_zeros},
    {"numeric", read_zeros},
    {"rep", read_rep},
    {"list", read_inner_list},
};

static const struct {
    const char *name;
    double value;
    bool missing;
} constants[] = {
    {"NA", 0, true},
    {"NA_integer_", 0, true},
    {"NA_real_", 0, true},
    {"NaN", (double)NAN, false},
    {"Inf", (double)INFINITY, false},
    {"TRUE", 1, false},
    {"FALSE", 0, false},
    {"T", 1, false},
    {"F", 0, false},
};

static bool same(const char *at, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(at, name, n) == 0;
}

static enum gbm_status read_word(struct reader *r, struct value *out)
{
    struct rt_text *t = r->t;
    const char *at = t->at;
    size_t n = name_here(t);

    if (n == 0)
        return expected(t, "a value");
    t->at += n;
    if (same(at, n, "NULL"))
        return GBM_OK;
    if (peek(t) != '(') {
        for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
            if (same(at, n, constants[i].name))
                return rt_push(&out->v, constants[i].value,
                               constants[i].missing, t->error);
        return rt_fail_at(t, at, "'%.*s' is not a value",
                          (int)(n < 100 ? n : 100), at);
    }
    t->at++;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (same(at, n, functions[i].name))
            return functions[i].read(r, at, out);
    return rt_fail_at(t, at,
                      "unknown function '%.*s': data may use c, structure, "
                      "as.integer, as.numeric, integer, double, rep and a:b",
                      (int)(n < 100 ? n : 100), at);
}

/* A constant, call or parenthesis, without sign and range. */
static enum gbm_status read_primary(struct reader *r, struct value *out)
{
    struct rt_text *t = r->t;
    char c = peek(t);
    double value;
    const char *after;
    enum gbm_status status;

    if (c == '"' || c == '\'') {
        out->text = true;
        free(out->string);
        out->string = NULL;
        return read_string(t, &out->string);
    }
    if (c == '(') {
        t->at++;
        status = read_expr(r, out);
        if (status == GBM_OK && !take(t, ")"))
            return expected(t, "')'");
        return status;
    }
    after =
        c == '-' || c == '+' ? NULL : rt_parse_number(t->at, t->end, &value);
    if (!after)
        return read_word(r, out);
    t->at = after;
    if (t->at < t->end && *t->at == 'L')
        t->at++;
    return rt_push(&out->v, value, false, t->error);
}

static enum gbm_status read_signed(struct reader *r, struct value *out)
{
    bool negative = false;
    enum gbm_status status;

    for (char c = peek(r->t); c == '-' || c == '+'; c = peek(r->t)) {
        negative ^= c == '-';
        r->t->at++;
    }
    status = read_primary(r, out);
    if (negative)
        for (int64_t i = 0; i < out->v.count; i++)
            out->v.values[i] = -out->v.values[i];
    return status;
}

/* from:to. */
static enum gbm_status read_range(struct reader *r, const char *at,
                                  struct value *out)
{
    struct value to = {.ndim = -1};
    enum gbm_status status = read_signed(r, &to);
    double a = 0, b = 0;

    if (status == GBM_OK &&
        (out->v.count != 1 || to.v.count != 1 || out->text || to.text ||
         !(fabs(a = out->v.values[0]) <= INT_MAX) ||
         !(fabs(b = to.v.values[0]) <= INT_MAX) || a != floor(a) ||
         b != floor(b) || fabs(a - b) > MAX_REPEAT))
        status = rt_fail_at(r->t, at, "a range needs two whole numbers");
    if (status == GBM_OK) {
        out->v.count = 0;
        for (double x = a; status == GBM_OK; x += a <= b ? 1 : -1) {
            status = rt_push(&out->v, x, false, r->t->error);
            if (x == b)
                break;
        }
    }
    value_free(&to);
    return status;
}

static enum gbm_status read_expr(struct reader *r, struct value *out)
{
    const char *at;
    enum gbm_status status;

    if (r->nesting == MAX_NESTING)
        return rt_fail_at(r->t, r->t->at, "nested too deeply");
    r->nesting++;
    skip_space(r->t);
    at = r->t->at;
    status = read_signed(r, out);
    if (status == GBM_OK && peek(r->t) == ':') {
        r->t->at++;
        status = read_range(r, at, out);
    }
    r->nesting--;
    return status;
}

/* Reorders column-major values to row-major. */
static enum gbm_status to_row_major(struct reader *r, struct value *value)
{
    struct rt_values *v = &value->v, rows = {0};
    int index[GBM_MAX_DIMS] = {0};
    int64_t stride[GBM_MAX_DIMS], at = 0;
    enum gbm_status status = GBM_OK;

    stride[0] = 1;
    for (int d = 1; d < value->ndim; d++)
        stride[d] = stride[d - 1] * value->dim[d - 1];
    for (int64_t i = 0; i < v->count && status == GBM_OK; i++) {
        status = rt_push(&rows, v->values[at], v->missing && v->missing[at],
                         r->t->error);
        for (int d = value->ndim - 1; d >= 0; d--) {
            at += stride[d];
            if (++index[d] < value->dim[d])
                break;
            at -= stride[d] * value->dim[d];
            index[d] = 0;
        }
    }
    rt_values_free(v);
    *v = rows;
    return status;
}

static bool reads_rows(const struct reader *r)
{
    enum gbm_order order = r->data->order;

    return order == GBM_ORDER_ROW || (order == GBM_ORDER_AUTO && r->row_major);
}

static enum gbm_status settle_shape(struct reader *r, const char *at,
                                    const char *name, struct value *value)
{
    int64_t product = 1;

    if (value->ndim < 0) {
        value->ndim = value->v.count == 1 ? 0 : 1;
        if (value->v.count > INT_MAX)
            return rt_fail_at(r->t, at, "'%.200s' is too long", name);
        value->dim[0] = (int)value->v.count;
        return GBM_OK;
    }
    for (int d = 0; d < value->ndim; d++)
        if (value->dim[d] > 0 && product > INT64_MAX / value->dim[d])
            return rt_fail_at(r->t, at, "'%.200s' is too large", name);
        else
            product *= value->dim[d];
    if (product != value->v.count)
        return rt_fail_at(r->t, at,
                          "'%.200s' has %lld values, but its .Dim needs %lld",
                          name, (long long)value->v.count, (long long)product);
    if (value->ndim < 2)
        return GBM_OK;
    if (!reads_rows(r))
        return to_row_major(r, value);
    if (r->noted || r->data->order == GBM_ORDER_ROW)
        return GBM_OK;
    r->noted = true;
    return rt_note(r->data, r->t,
                   "arrays in list(...) are read row by row, as WinBUGS "
                   "writes them (--data-order=column reads them as R would)");
}

/* What the same file gives twice counts as it stands last, as in R. */
static enum gbm_status replace_earlier(struct reader *r, const char *name)
{
    struct gbm_data *data = r->data;
    for (int i = 0; i < data->narrays; i++) {
        struct gbm_array *a = &data->arrays[i];
        if (strcmp(a->name, name) != 0 || strcmp(a->source, r->t->path) != 0)
            continue;
        rt_array_free(a);
        data->narrays--;
        memmove(a, a + 1, sizeof *a * (size_t)(data->narrays - i));
        return rt_note(data, r->t, "'%.200s' is given twice: the last counts",
                       name);
    }
    return GBM_OK;
}

static enum gbm_status read_variable(struct reader *r, const char *at,
                                     const char *name)
{
    struct value value = {.ndim = -1};
    enum gbm_status status = read_expr(r, &value);
    bool bare;

    if (status == GBM_OK && value.text) {
        if (value.string && strcmp(name, ".RNG.name") == 0) {
            free(r->data->rng_name);
            r->data->rng_name = value.string;
            value.string = NULL;
        } else if (!rt_uses(r->data, name)) {
            status = rt_leave_out(r->data, r->t, name);
        } else {
            status = rt_fail_at(r->t, at,
                                "'%.200s' has text or a list where numbers "
                                "are expected",
                                name);
        }
        value_free(&value);
        return status;
    }
    bare = value.ndim < 0;
    if (status == GBM_OK)
        status = settle_shape(r, at, name, &value);
    if (status == GBM_OK)
        status = replace_earlier(r, name);
    if (status == GBM_OK)
        status = rt_data_add(r->data, r->t, at, name, value.ndim, value.dim,
                             &value.v, bare && value.v.count == 1);
    value_free(&value);
    return status;
}

/* The members of list(a = ..., b = ...), after '('. */
static enum gbm_status read_list(struct reader *r)
{
    for (;;) {
        char *name = NULL;
        const char *at;
        enum gbm_status status;

        if (take(r->t, ")"))
            return GBM_OK;
        skip_space(r->t);
        at = r->t->at;
        status = read_name(r->t, &name);
        if (status == GBM_OK && !take(r->t, "=") && !take(r->t, "<-"))
            status = expected(r->t, "'=' after the name");
        if (status == GBM_OK)
            status = read_variable(r, at, name);
        free(name);
        if (status)
            return status;
        if (peek(r->t) != ')' && !take(r->t, ","))
            return expected(r->t, "',' or ')' after a variable");
    }
}

/* `list(` here? Then takes it. */
static bool take_list(struct rt_text *t)
{
    const char *start;

    skip_space(t);
    start = t->at;
    if (name_here(t) == 4 && take(t, "list") && take(t, "("))
        return true;
    t->at = start;
    return false;
}

static enum gbm_status read_statement(struct reader *r)
{
    struct rt_text *t = r->t;
    const char *at;
    char *name = NULL;
    enum gbm_status status;

    if (take_list(t)) {
        r->row_major = true;
        status = read_list(r);
        r->row_major = false;
        return status;
    }
    skip_space(t);
    at = t->at;
    status = read_name(t, &name);
    if (status == GBM_OK && !take(t, "<-") && !take(t, "="))
        status = expected(t, "'<-' after the variable's name");
    if (status == GBM_OK)
        status = take_list(t) ? read_list(r) : read_variable(r, at, name);
    free(name);
    return status;
}

enum gbm_status rt_read_rdump(struct gbm_data *data, struct rt_text *text)
{
    struct reader r = {.t = text, .data = data};

    while (peek(text) != '\0') {
        enum gbm_status status;

        if (*text->at == ';') {
            text->at++;
            continue;
        }
        status = read_statement(&r);
        if (status)
            return status;
    }
    return GBM_OK;
}
