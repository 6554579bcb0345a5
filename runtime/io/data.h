/* data.h: data and initial values from files.
 *
 * Formats, told by content where the name does not tell:
 *   JSON     one object; arrays nested row-major; null and "NA" are missing;
 *            numbers may be "Inf", "-Inf", "NaN" (quoted or bare). Objects
 *            "coords" and "dims" are labels: coords.h
 *   R dump   name <- value as JAGS reads it (column-major); also the one
 *            list(a = ..., b = ...) of WinBUGS (row-major, with a note)
 *   .npy     one array (also .npy.gz); C or Fortran order
 *   .csv     one vector per column (also .csv.gz), or with NAME=FILE one
 *            matrix (a vector if it has one column)
 * What one reads is converted to row-major doubles once; a .npy of float64 in
 * C order is mapped, not copied. */
#ifndef GBM_DATA_H
#define GBM_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h" /* GBM_MAX_DIMS */
#include "io/coords.h"
#include "base/status.h"

struct gbm_array {
    char *name;
    char *source; /* file it came from, for messages */
    int ndim;     /* 0: a scalar, one value */
    int dim[GBM_MAX_DIMS];
    int64_t length;         /* product of dim; 1 for a scalar */
    double *values;         /* [length], row-major; NaN where missing */
    unsigned char *missing; /* [length] 1 where missing (NA); NULL: nowhere */
    bool gaps;              /* some value is missing */
    bool integer;           /* every value that is not missing is integral and
                               fits an int */
    bool scalar_like; /* length 1, and the format cannot tell a scalar from a
                         vector of one (R dump): either shape will do */
    void *map;        /* mapping that owns values, or NULL: malloc */
    size_t map_bytes;
};

enum gbm_order {
    GBM_ORDER_AUTO, /* R dump column-major, WinBUGS list row-major */
    GBM_ORDER_COLUMN,
    GBM_ORDER_ROW
};

/* A set of arrays. Zero-initialise (`struct gbm_data data = {0}`), set the
 * options, read any number of files, free. */
struct gbm_data {
    enum gbm_order order; /* option: of text in R's syntax */
    bool allow_nonfinite; /* option: NaN and Inf are values, not errors */
    bool names_only; /* option: values are not wanted, and not kept where that
                        spares memory */
    /* option: is the name one of the model's? What is not may be anything, and
     * is left out with a note where it is no array of numbers. NULL: all are */
    bool (*uses)(const void *context, const char *name);
    const void *context; /* of uses */
    int narrays;
    struct gbm_array *arrays;
    struct gbm_coords coords; /* labels that the files give */
    char *rng_name;           /* .RNG.name of an inits file, or NULL */
    char *notes; /* lines to show the user, each ends in '\n'; or NULL */
};

/* Reads a file into `data`. `spec` is FILE or NAME=FILE; NAME is for the
 * formats that hold one array (.npy, .csv). A name that is in `data` already is
 * an error, as are NaN and Inf unless allowed. .RNG.seed and .RNG.state are
 * ordinary arrays. On error `data` keeps what it had before. */
enum gbm_status gbm_data_read(struct gbm_data *data, const char *spec,
                              char error[GBM_ERROR]);

/* The array called `name`, or NULL. Names are compared as they are; R's `.`
 * stays a dot. */
const struct gbm_array *gbm_data_find(const struct gbm_data *data,
                                      const char *name);

/* Adds the vector `name` of the numbers names[0 .. n) that `data` has, which
 * stay; those that it has not are missing. Nothing if there are none. */
enum gbm_status gbm_data_gather(struct gbm_data *data, const char *name,
                                const char *const *names, int n,
                                char error[GBM_ERROR]);

/* Writes "name[3,2]" (1-based) for a flat row-major cell, or "name" for a
 * scalar. */
void gbm_cell_name(const char *name, int ndim, const int *dim, int64_t cell,
                   char *out, size_t capacity);

void gbm_data_free(struct gbm_data *data);

#endif
