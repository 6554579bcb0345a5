/* reader.h: what the data readers share. Private to data.c, scan.c, json.c,
 * rdump.c, npy.c and csv.c. */
#ifndef GBM_READER_H
#define GBM_READER_H

#include "io/data.h"

/* The text of one file and the place that a reader has reached. */
struct rt_text {
    const char *path;
    const char *begin, *at, *end;
    char *error; /* [GBM_ERROR] */
};

/* Values as they are read: NaN and a mark where missing. */
struct rt_values {
    double *values;
    unsigned char *missing; /* NULL until one is missing */
    int64_t count, capacity;
    bool gaps;    /* some value was missing */
    bool discard; /* nothing is kept but gaps */
};

/* ---- scan.c */

/* Writes "path:line:col: message" and returns GBM_USER_ERROR. */
enum gbm_status rt_fail_at(const struct rt_text *text, const char *at,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes "path: message" and returns GBM_USER_ERROR. */
enum gbm_status rt_fail(const struct rt_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum gbm_status rt_no_memory(char *error);
/* For messages: the character at `at`, quoted, or "the end of the file". */
const char *rt_found(const struct rt_text *text, const char *at,
                     char buffer[16]);
/* Parses a decimal number; returns what follows it, or NULL if none starts
 * here. Correctly rounded. */
const char *rt_parse_number(const char *at, const char *end, double *value);
enum gbm_status rt_push(struct rt_values *values, double value, bool missing,
                        char *error);
void rt_values_free(struct rt_values *values);

/* ---- data.c */

/* Moves `values` (row-major) into a new array of `data`; on failure frees
 * them. Fails if the name is taken, or a value is NaN or Inf and must not. `at`
 * is the place to blame, or NULL. */
enum gbm_status rt_data_add(struct gbm_data *data, const struct rt_text *text,
                            const char *at, const char *name, int ndim,
                            const int *dim, struct rt_values *values,
                            bool scalar_like);
/* The same for an array that has everything but `integer` set; owned by
 * `data` or freed afterwards. */
enum gbm_status rt_data_add_array(struct gbm_data *data,
                                  const struct rt_text *text, const char *at,
                                  struct gbm_array *array);
void rt_array_free(struct gbm_array *array);
/* Does it matter what `name` is? */
bool rt_uses(const struct gbm_data *data, const char *name);
/* Notes that `name`, which does not matter, is no array of numbers. */
enum gbm_status rt_leave_out(struct gbm_data *data, const struct rt_text *text,
                             const char *name);
/* Adds a line to data->notes. */
enum gbm_status rt_note(struct gbm_data *data, const struct rt_text *text,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- one format each; name: of NAME=FILE, or NULL */
enum gbm_status rt_read_json(struct gbm_data *data, struct rt_text *text,
                             const char *name);
enum gbm_status rt_read_rdump(struct gbm_data *data, struct rt_text *text);
enum gbm_status rt_read_csv(struct gbm_data *data, struct rt_text *text,
                            const char *name);
/* `map`: the mapping that holds the text, or NULL; *taken: the array points
 * into it and owns it now. */
enum gbm_status rt_read_npy(struct gbm_data *data, struct rt_text *text,
                            const char *name, void *map, bool *taken);

#endif
