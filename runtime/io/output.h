/* output.h: files that appear whole or not at all, and fast text. Private to
 * the writers. */
#ifndef GBM_OUTPUT_H
#define GBM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/draws.h"
#include "base/status.h"

enum { RT_PATH = 4096, RT_BUFFER = 1 << 16 };

/* A file's final name and the name that it has until it is whole. Something
 * that is no regular file (a pipe, /dev/null) is written directly. */
struct rt_target {
    char path[RT_PATH];
    char temporary[RT_PATH];
    bool direct;
};

/* Says why a file cannot be written: a full disk is GBM_FAILURE. */
enum gbm_status rt_write_failure(const char *path, int code, char *error);
/* Chooses the names; fails if `path` is a folder. Touches nothing. */
enum gbm_status rt_target_set(struct rt_target *target, const char *path,
                              char *error);
enum gbm_status rt_target_commit(const struct rt_target *target, char *error);
void rt_target_discard(const struct rt_target *target);
/* Can the file be written? Leaves nothing behind. */
enum gbm_status rt_target_try(const char *path, char *error);

/* apart.c: does `work` in a process of its own, whose memory is a copy, and
 * hands back its status and message; `broken` if it does not end by itself. */
typedef enum gbm_status rt_work(void *context, char *error);
enum gbm_status rt_apart(rt_work *work, void *context, const char *broken,
                         char error[GBM_ERROR]);

/* Buffered text. The first failure is kept and told by the close. */
struct rt_out {
    struct rt_target target;
    int fd;
    int failure; /* errno, or 0 */
    int digits;  /* of a number; 0: DIGITS */
    size_t used;
    char buffer[RT_BUFFER];
};

enum gbm_status rt_out_open(struct rt_out *out, const char *path, char *error);
void rt_out_text(struct rt_out *out, const char *text);
void rt_out_char(struct rt_out *out, char c);
void rt_out_format(struct rt_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* With as many significant digits as `out` says; NaN, inf and -inf are `nan`,
 * "inf", "-inf". */
void rt_out_number(struct rt_out *out, double x, const char *nan);
void rt_out_integer(struct rt_out *out, int64_t x);
/* The text `key`, then the number as JSON has it: null if it is not finite. */
void rt_out_json_number(struct rt_out *out, const char *key, double x);
/* What stands between the quotes of a JSON string. */
void rt_out_json_string(struct rt_out *out, const char *text);
/* Flushes, closes and renames; or removes the temporary file. */
enum gbm_status rt_out_close(struct rt_out *out, bool keep, char *error);

/* Writes x, not a NaN, as %.*g would with 1 to 17 digits, but -0 as
 * 0; returns the end (no final NUL). */
enum { RT_NUMBER = 48 };
char *rt_format_number(char at[RT_NUMBER], double x, int digits);

/* ---- draws.c */

/* One column of a text format. */
struct rt_column {
    const struct gbm_draws_variable *variable;
    int64_t cell;   /* row-major, in the variable */
    int64_t offset; /* in a record */
};

/* All drawn cells, variable by variable, column-major within each (as R and
 * Stan order them); [draws->width], to be freed. NULL: no memory. */
struct rt_column *rt_columns(const struct gbm_draws *draws);

/* ---- one format each */
enum gbm_status rt_write_cmdstan(const struct gbm_draws *draws,
                                 const char *path, char *error);
enum gbm_status rt_write_coda(const struct gbm_draws *draws, const char *path,
                              char *error);
enum gbm_status rt_write_netcdf(const struct gbm_draws *draws, const char *path,
                                char *error);
/* Is libnetcdf there? */
enum gbm_status rt_check_netcdf(char *error);
/* "fit.csv", 1 -> "fit_1.csv". */
void rt_cmdstan_path(const char *path, int chain, char out[RT_PATH]);

#endif
