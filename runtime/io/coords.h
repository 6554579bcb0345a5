/* coords.h: names of dimensions, and labels along them: ArviZ's coords and
 * dims. Data give them, {"coords": {"school": ["A", "B"]}, "dims": {"theta":
 * ["school"]}}; draws have those of their own variables. */
#ifndef GBM_COORDS_H
#define GBM_COORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h" /* GBM_MAX_DIMS */

struct gbm_coord {
    char *name;
    int n;         /* 0: it has a name and no labels */
    char **labels; /* [n] */
};

/* The names of a variable's dimensions; NULL: it has none of its own. */
struct gbm_dims {
    char *variable;
    int ndim;
    char *dim[GBM_MAX_DIMS];
};

/* Zero-initialise. */
struct gbm_coords {
    int n, ndims;
    struct gbm_coord *all;
    struct gbm_dims *dims;
};

/* The one of this name, or NULL. */
struct gbm_coord *gbm_coords_find(const struct gbm_coords *coords,
                                  const char *name);
const struct gbm_dims *gbm_coords_dims(const struct gbm_coords *coords,
                                       const char *variable);
/* Of dimension d of a variable, or NULL. */
const struct gbm_coord *gbm_coords_of(const struct gbm_coords *coords,
                                      const char *variable, int d);

/* A new coordinate; the next label of the last one; the name of a dimension, or
 * NULL. No memory: NULL or false. Texts are copied. */
struct gbm_coord *gbm_coords_add(struct gbm_coords *coords, const char *name);
bool gbm_coords_add_label(struct gbm_coords *coords, const char *text,
                          size_t length);
bool gbm_coords_name(struct gbm_coords *coords, const char *variable, int d,
                     const char *dim);
/* The name, and the coordinate from elsewhere unless it is here. */
bool gbm_coords_take(struct gbm_coords *coords, const char *variable, int d,
                     const struct gbm_coord *from);
void gbm_coords_free(struct gbm_coords *coords);

/* Writes "theta[Choate,2]": as gbm_cell_name, with labels where there are
 * some. */
void gbm_cell_label(const struct gbm_coords *coords, const char *name, int ndim,
                    const int *dim, int64_t cell, char *out, size_t capacity);

#endif
