/* json.c: data in CmdStan's JSON: one object of numbers and nested arrays.
 * Read straight into doubles, so that a mistake is told with its line and
 * column and a large array needs no tree. */
#include "io/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An array as it is read. */
struct nest {
    const char *name;
    int ndim;                /* -1: not known yet */
    int dim[GBM_MAX_DIMS];   /* -1: not known yet */
    int count[GBM_MAX_DIMS]; /* elements so far, at each open level */
    int depth;               /* open brackets */
    struct rt_values values;
};

static void skip_space(struct rt_text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' ||
                              *t->at == '\n' || *t->at == '\r'))
        t->at++;
}

static enum gbm_status expect(struct rt_text *t, char wanted, const char *where)
{
    char buffer[16];

    skip_space(t);
    if (t->at < t->end && *t->at == wanted) {
        t->at++;
        return GBM_OK;
    }
    return rt_fail_at(t, t->at, "expected '%c' %s, found %s", wanted, where,
                      rt_found(t, t->at, buffer));
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Writes code point `c` as UTF-8; returns the end. */
static char *put_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

/* One escape sequence after the backslash at t->at. */
static enum gbm_status read_escape(struct rt_text *t, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known;
    unsigned code = 0;

    if (t->at + 1 < t->end && t->at[1] != '\0' &&
        (known = strchr(from, t->at[1]))) {
        *(*out)++ = to[known - from];
        t->at += 2;
        return GBM_OK;
    }
    if (t->at + 5 >= t->end || t->at[1] != 'u')
        return rt_fail_at(t, t->at, "unknown escape in a string");
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(t->at[i]);

        if (digit < 0)
            return rt_fail_at(t, t->at, "\\u needs four hexadecimal digits");
        code = code * 16 + (unsigned)digit;
    }
    if (code == 0)
        return rt_fail_at(t, t->at, "\\u0000 in a string");
    *out = put_utf8(*out, code);
    t->at += 6;
    return GBM_OK;
}

/* Reads a string at its opening quote; the caller frees *string. */
static enum gbm_status read_string(struct rt_text *t, char **string)
{
    const char *open = t->at++, *close = t->at;
    enum gbm_status status = GBM_OK;
    char *out;

    while (close < t->end && *close != '"' && *close != '\n')
        close += *close == '\\' && close + 1 < t->end ? 2 : 1;
    if (close >= t->end || *close != '"')
        return rt_fail_at(t, open, "the string is not closed");
    *string = out = malloc((size_t)(close - open) + 1);
    if (!out)
        return rt_no_memory(t->error);
    while (t->at < close && status == GBM_OK) {
        if (*t->at == '\\')
            status = read_escape(t, &out);
        else
            *out++ = *t->at++;
    }
    *out = '\0';
    t->at = close + 1;
    if (status) {
        free(*string);
        *string = NULL;
    }
    return status;
}

static bool take_word(struct rt_text *t, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* One number, null or quoted special value, not a list. */
static enum gbm_status read_leaf(struct rt_text *t, struct nest *nest)
{
    static const struct {
        const char *text;
        double value;
        bool missing;
    } words[] = {
        {"null", 0, true},
        {"\"NA\"", 0, true},
        {"NA", 0, true},
        {"true", 1, false},
        {"false", 0, false},
        {"\"NaN\"", (double)NAN, false},
        {"NaN", (double)NAN, false},
        {"\"Infinity\"", (double)INFINITY, false},
        {"\"+Infinity\"", (double)INFINITY, false},
        {"\"-Infinity\"", (double)-INFINITY, false},
        {"\"Inf\"", (double)INFINITY, false},
        {"\"+Inf\"", (double)INFINITY, false},
        {"\"-Inf\"", (double)-INFINITY, false},
        {"-Infinity", (double)-INFINITY, false},
        {"Infinity", (double)INFINITY, false},
        {"-Inf", (double)-INFINITY, false},
        {"Inf", (double)INFINITY, false},
    };
    char buffer[16];
    double value;
    const char *after = rt_parse_number(t->at, t->end, &value);

    if (after) {
        t->at = after;
        return rt_push(&nest->values, value, false, t->error);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (take_word(t, words[i].text))
            return rt_push(&nest->values, words[i].value, words[i].missing,
                           t->error);
    if (t->at < t->end && *t->at == '"')
        return rt_fail_at(t, t->at,
                          "'%.200s' has text where a number is "
                          "expected",
                          nest->name);
    if (t->at < t->end && *t->at == '{')
        return rt_fail_at(t, t->at,
                          "'%.200s' has an object where a number or an array "
                          "is expected",
                          nest->name);
    return rt_fail_at(t, t->at, "expected a value of '%.200s', found %s",
                      nest->name, rt_found(t, t->at, buffer));
}

/* "y[2,3]": the list at `level` open brackets that is being read. */
static const char *place(const struct nest *nest, int level, char out[256])
{
    size_t n = (size_t)snprintf(out, 200, "%.100s", nest->name);

    for (int d = 0; d < level && n < 230; d++)
        n += (size_t)snprintf(out + n, 256 - n, "%c%d", d == 0 ? '[' : ',',
                              nest->count[d] + 1);
    if (level > 0)
        snprintf(out + n, 256 - n, "]");
    return out;
}

static enum gbm_status open_list(struct rt_text *t, struct nest *nest)
{
    char name[256];

    if (nest->ndim >= 0 && nest->depth >= nest->ndim)
        return rt_fail_at(t, t->at,
                          "%s is a list where the elements before it are "
                          "numbers",
                          place(nest, nest->depth, name));
    if (nest->depth == GBM_MAX_DIMS)
        return rt_fail_at(t, t->at, "'%.200s' has more than %d dimensions",
                          nest->name, GBM_MAX_DIMS);
    nest->count[nest->depth++] = 0;
    t->at++;
    return GBM_OK;
}

static enum gbm_status close_list(struct rt_text *t, struct nest *nest)
{
    int d = nest->depth - 1;
    char name[256];

    if (nest->ndim < 0)
        nest->ndim = nest->depth; /* an empty list */
    if (nest->dim[d] < 0)
        nest->dim[d] = nest->count[d];
    if (nest->dim[d] != nest->count[d])
        return rt_fail_at(t, t->at,
                          "%s has %d elements where those before it have %d: "
                          "arrays must be rectangular",
                          place(nest, d, name), nest->count[d], nest->dim[d]);
    nest->depth--;
    t->at++;
    return GBM_OK;
}

/* After an element of an open list: a comma, or the list's end (and those of
 * the lists around it). */
static enum gbm_status after_element(struct rt_text *t, struct nest *nest)
{
    char buffer[16];
    enum gbm_status status;

    while (nest->depth > 0) {
        nest->count[nest->depth - 1]++;
        skip_space(t);
        if (t->at < t->end && *t->at == ',') {
            t->at++;
            return GBM_OK;
        }
        if (t->at >= t->end || *t->at != ']')
            return rt_fail_at(t, t->at,
                              "expected ',' or ']' in '%.200s', found %s",
                              nest->name, rt_found(t, t->at, buffer));
        status = close_list(t, nest);
        if (status)
            return status;
    }
    return GBM_OK;
}

static enum gbm_status read_nest(struct rt_text *t, struct nest *nest)
{
    enum gbm_status status = GBM_OK;

    do {
        char name[256];

        skip_space(t);
        if (t->at < t->end && *t->at == '[') {
            status = open_list(t, nest);
            skip_space(t);
            if (status || t->at >= t->end || *t->at != ']')
                continue;
            status = close_list(t, nest);
        } else {
            if (nest->ndim < 0)
                nest->ndim = nest->depth;
            if (nest->depth != nest->ndim)
                return rt_fail_at(t, t->at,
                                  "%s is a number where the elements before "
                                  "it are lists",
                                  place(nest, nest->depth, name));
            status = read_leaf(t, nest);
        }
        if (status == GBM_OK)
            status = after_element(t, nest);
    } while (status == GBM_OK && nest->depth > 0);
    return status;
}

/* Passes over a value of any kind: brackets that match outside strings. */
static enum gbm_status skip_value(struct rt_text *t)
{
    char buffer[16];
    int depth = 0;

    skip_space(t);
    for (; t->at < t->end; t->at++) {
        char c = *t->at;

        if (c == '"') {
            char *string;
            enum gbm_status status = read_string(t, &string);

            if (status)
                return status;
            free(string);
            t->at--;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if (depth == 0 && strchr(",]} \t\r\n", c)) {
            return GBM_OK;
        } else if (c == ']' || c == '}') {
            depth--;
        }
    }
    return rt_fail_at(t, t->at, "expected the end of a value, found %s",
                      rt_found(t, t->at, buffer));
}

static enum gbm_status read_value(struct gbm_data *data, struct rt_text *t,
                                  const char *name, const char *at)
{
    const char *start = t->at;
    struct nest nest = {
        .name = name, .ndim = -1, .values.discard = data->names_only};
    enum gbm_status status;

    for (int d = 0; d < GBM_MAX_DIMS; d++)
        nest.dim[d] = -1;
    skip_space(t);
    if (strcmp(name, ".RNG.name") == 0 && t->at < t->end && *t->at == '"') {
        free(data->rng_name);
        data->rng_name = NULL;
        return read_string(t, &data->rng_name);
    }
    status = read_nest(t, &nest);
    if (status == GBM_USER_ERROR && !rt_uses(data, name)) {
        t->at = start;
        status = skip_value(t);
        if (status == GBM_OK)
            status = rt_leave_out(data, t, name);
    } else if (status == GBM_OK) {
        status = rt_data_add(data, t, at, name, nest.ndim, nest.dim,
                             &nest.values, false);
    }
    rt_values_free(&nest.values);
    return status;
}

/* ---- labels */

/* A string that can stand in a line of a table. */
static enum gbm_status read_printed(struct rt_text *t, char **text)
{
    const char *at = t->at;
    enum gbm_status status = read_string(t, text);

    for (const char *p = *text; status == GBM_OK && *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127) {
            free(*text);
            *text = NULL;
            return rt_fail_at(t, at, "a control character in a label");
        }
    return status;
}

/* A label: text, or a number as it is written. */
static enum gbm_status read_label(struct gbm_data *data, struct rt_text *t,
                                  const char *name)
{
    char buffer[16], *text = NULL;
    enum gbm_status status = GBM_OK;
    double number;
    const char *after = rt_parse_number(t->at, t->end, &number);

    if (!after && t->at < t->end && *t->at == '"')
        status = read_printed(t, &text);
    else if (!after)
        return rt_fail_at(t, t->at,
                          "expected a label of '%.200s', text or a number, "
                          "found %s",
                          name, rt_found(t, t->at, buffer));
    if (status == GBM_OK &&
        !gbm_coords_add_label(&data->coords, text ? text : t->at,
                              text ? strlen(text) : (size_t)(after - t->at)))
        status = rt_no_memory(t->error);
    if (after)
        t->at = after;
    free(text);
    return status;
}

/* The name of the next dimension of a variable, or null. */
static enum gbm_status read_dim(struct gbm_data *data, struct rt_text *t,
                                const char *variable, int d)
{
    char buffer[16], *text = NULL;
    enum gbm_status status;

    if (d == GBM_MAX_DIMS)
        return rt_fail_at(t, t->at, "'%.200s' has more than %d dimensions",
                          variable, GBM_MAX_DIMS);
    if (take_word(t, "null"))
        return gbm_coords_name(&data->coords, variable, d, NULL)
                   ? GBM_OK
                   : rt_no_memory(t->error);
    if (t->at >= t->end || *t->at != '"')
        return rt_fail_at(t, t->at,
                          "expected the name of a dimension of '%.200s' in "
                          "double quotes, or null, found %s",
                          variable, rt_found(t, t->at, buffer));
    status = read_string(t, &text);
    if (status == GBM_OK && !gbm_coords_name(&data->coords, variable, d, text))
        status = rt_no_memory(t->error);
    free(text);
    return status;
}

/* One member of "coords" or "dims", after its name. */
static enum gbm_status read_names(struct gbm_data *data, struct rt_text *t,
                                  const char *name, bool dims)
{
    enum gbm_status status = expect(t, '[', "before a list of names");

    skip_space(t);
    if (status == GBM_OK && t->at < t->end && *t->at == ']') {
        t->at++;
        return GBM_OK;
    }
    for (int n = 0; status == GBM_OK; n++) {
        skip_space(t);
        status = dims ? read_dim(data, t, name, n) : read_label(data, t, name);
        skip_space(t);
        if (status == GBM_OK && t->at < t->end && *t->at == ']') {
            t->at++;
            return GBM_OK;
        }
        if (status == GBM_OK)
            status = expect(t, ',', "or ']' in a list of names");
    }
    return status;
}

/* Begins the entry of that name. */
static enum gbm_status begin_names(struct gbm_data *data, struct rt_text *t,
                                   const char *at, const char *name, bool dims)
{
    if (dims ? gbm_coords_dims(&data->coords, name) != NULL
             : gbm_coords_find(&data->coords, name) != NULL)
        return rt_fail_at(t, at, "'%.200s' has %s already", name,
                          dims ? "dims" : "coords");
    if (!dims && !gbm_coords_add(&data->coords, name))
        return rt_no_memory(t->error);
    return GBM_OK;
}

/* {"school": ["A", "B"]}, at its brace. */
static enum gbm_status read_labels(struct gbm_data *data, struct rt_text *t,
                                   bool dims)
{
    enum gbm_status status = expect(t, '{', "before names");

    skip_space(t);
    if (status == GBM_OK && t->at < t->end && *t->at == '}') {
        t->at++;
        return GBM_OK;
    }
    while (status == GBM_OK) {
        char *name = NULL;
        const char *at;

        skip_space(t);
        at = t->at;
        if (t->at >= t->end || *t->at != '"')
            return rt_fail_at(t, at, "expected a name in double quotes");
        status = read_string(t, &name);
        if (status == GBM_OK)
            status = begin_names(data, t, at, name, dims);
        if (status == GBM_OK)
            status = expect(t, ':', "after the name");
        if (status == GBM_OK)
            status = read_names(data, t, name, dims);
        free(name);
        skip_space(t);
        if (status == GBM_OK && t->at < t->end && *t->at == '}') {
            t->at++;
            return GBM_OK;
        }
        if (status == GBM_OK)
            status = expect(t, ',', "or '}' after a list of names");
    }
    return status;
}

/* Is the member an object of labels? A variable may have such a name. */
static bool is_labels(struct rt_text *t, const char *name)
{
    skip_space(t);
    return t->at < t->end && *t->at == '{' &&
           (strcmp(name, "coords") == 0 || strcmp(name, "dims") == 0);
}

static enum gbm_status read_member(struct gbm_data *data, struct rt_text *t)
{
    char buffer[16], *name = NULL;
    const char *at;
    enum gbm_status status;

    skip_space(t);
    at = t->at;
    if (t->at >= t->end || *t->at != '"')
        return rt_fail_at(t, t->at,
                          "expected a variable's name in double quotes, found "
                          "%s",
                          rt_found(t, t->at, buffer));
    status = read_string(t, &name);
    if (status == GBM_OK)
        status = expect(t, ':', "after the name");
    if (status == GBM_OK && is_labels(t, name))
        status = read_labels(data, t, name[0] == 'd');
    else if (status == GBM_OK)
        status = read_value(data, t, name, at);
    free(name);
    return status;
}

static enum gbm_status read_object(struct gbm_data *data, struct rt_text *t)
{
    char buffer[16];
    enum gbm_status status = expect(t, '{', "at the start");

    if (status)
        return status;
    skip_space(t);
    if (t->at < t->end && *t->at == '}') {
        t->at++;
        return GBM_OK;
    }
    for (;;) {
        status = read_member(data, t);
        if (status)
            return status;
        skip_space(t);
        if (t->at < t->end && *t->at == '}') {
            t->at++;
            return GBM_OK;
        }
        if (t->at >= t->end || *t->at != ',')
            return rt_fail_at(t, t->at,
                              "expected ',' or '}' after a variable, found %s",
                              rt_found(t, t->at, buffer));
        t->at++;
    }
}

enum gbm_status rt_read_json(struct gbm_data *data, struct rt_text *t,
                             const char *name)
{
    enum gbm_status status;
    bool object;

    skip_space(t);
    object = t->at < t->end && *t->at == '{';
    if (name && object)
        return rt_fail(t,
                       "the JSON object names its variables: give the file "
                       "without %s=",
                       name);
    if (!object && !name)
        return rt_fail_at(t, t->at,
                          "expected '{': data are one JSON object, "
                          "{\"name\": value, ...}");
    status = object ? read_object(data, t) : read_value(data, t, name, t->at);
    skip_space(t);
    if (status == GBM_OK && t->at < t->end)
        return rt_fail_at(t, t->at, "text after the end of the %s",
                          object ? "object" : "array");
    return status;
}
