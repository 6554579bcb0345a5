/* coords.c: see coords.h. */
#include "io/coords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gbm_coord *gbm_coords_find(const struct gbm_coords *c, const char *name)
{
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->all[i].name, name) == 0)
            return &c->all[i];
    return NULL;
}

const struct gbm_dims *gbm_coords_dims(const struct gbm_coords *c,
                                       const char *variable)
{
    for (int i = 0; i < c->ndims; i++)
        if (strcmp(c->dims[i].variable, variable) == 0)
            return &c->dims[i];
    return NULL;
}

const struct gbm_coord *gbm_coords_of(const struct gbm_coords *c,
                                      const char *variable, int d)
{
    const struct gbm_dims *dims = gbm_coords_dims(c, variable);

    return dims && d < dims->ndim && dims->dim[d]
               ? gbm_coords_find(c, dims->dim[d])
               : NULL;
}

struct gbm_coord *gbm_coords_add(struct gbm_coords *c, const char *name)
{
    char *copy = strdup(name);
    struct gbm_coord *all =
        realloc(c->all, ((size_t)c->n + 1) * sizeof *c->all);

    if (all)
        c->all = all;
    if (!all || !copy) {
        free(copy);
        return NULL;
    }
    all[c->n] = (struct gbm_coord){.name = copy};
    return &all[c->n++];
}

bool gbm_coords_add_label(struct gbm_coords *c, const char *text, size_t length)
{
    struct gbm_coord *last = &c->all[c->n - 1];
    size_t n = (size_t)last->n;

    if ((n & (n - 1)) == 0) { /* room for a power of 2 */
        char **more =
            realloc(last->labels, (n ? 2 * n : 1) * sizeof *last->labels);

        if (!more)
            return false;
        last->labels = more;
    }
    last->labels[n] = strndup(text, length);
    last->n += last->labels[n] != NULL;
    return last->labels[n] != NULL;
}

static struct gbm_dims *new_dims(struct gbm_coords *c, const char *variable)
{
    char *copy = strdup(variable);
    struct gbm_dims *dims =
        realloc(c->dims, ((size_t)c->ndims + 1) * sizeof *c->dims);

    if (dims)
        c->dims = dims;
    if (!dims || !copy) {
        free(copy);
        return NULL;
    }
    dims[c->ndims] = (struct gbm_dims){.variable = copy};
    return &dims[c->ndims++];
}

bool gbm_coords_name(struct gbm_coords *c, const char *variable, int d,
                     const char *dim)
{
    const struct gbm_dims *old = gbm_coords_dims(c, variable);
    struct gbm_dims *dims =
        old ? &c->dims[old - c->dims] : new_dims(c, variable);
    char *copy = dims && dim ? strdup(dim) : NULL;

    if (!dims || (dim && !copy))
        return false;
    free(dims->dim[d]);
    dims->dim[d] = copy;
    dims->ndim = d + 1 > dims->ndim ? d + 1 : dims->ndim;
    return true;
}

bool gbm_coords_take(struct gbm_coords *c, const char *variable, int d,
                     const struct gbm_coord *from)
{
    if (!gbm_coords_name(c, variable, d, from->name))
        return false;
    if (gbm_coords_find(c, from->name))
        return true;
    if (!gbm_coords_add(c, from->name))
        return false;
    for (int i = 0; i < from->n; i++)
        if (!gbm_coords_add_label(c, from->labels[i], strlen(from->labels[i])))
            return false;
    return true;
}

void gbm_coords_free(struct gbm_coords *c)
{
    for (int i = 0; i < c->n; i++) {
        for (int k = 0; k < c->all[i].n; k++)
            free(c->all[i].labels[k]);
        free(c->all[i].labels);
        free(c->all[i].name);
    }
    for (int i = 0; i < c->ndims; i++) {
        for (int d = 0; d < c->dims[i].ndim; d++)
            free(c->dims[i].dim[d]);
        free(c->dims[i].variable);
    }
    free(c->all);
    free(c->dims);
    *c = (struct gbm_coords){0};
}

void gbm_cell_label(const struct gbm_coords *c, const char *name, int ndim,
                    const int *dim, int64_t cell, char *out, size_t capacity)
{
    const struct gbm_dims *dims = gbm_coords_dims(c, name);
    int index[GBM_MAX_DIMS];
    size_t n = (size_t)snprintf(out, capacity, "%s", name);

    for (int d = ndim - 1; d >= 0; d--) {
        index[d] = (int)(cell % dim[d]);
        cell /= dim[d];
    }
    for (int d = 0; d < ndim && n < capacity; d++) {
        const struct gbm_coord *at = dims ? gbm_coords_of(c, name, d) : NULL;
        const char *before = d ? "," : "[", *after = d + 1 < ndim ? "" : "]";

        n += (size_t)(at && index[d] < at->n
                          ? snprintf(out + n, capacity - n, "%s%s%s", before,
                                     at->labels[index[d]], after)
                          : snprintf(out + n, capacity - n, "%s%d%s", before,
                                     index[d] + 1, after));
    }
}
