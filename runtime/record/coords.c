/* coords.c: labels of the draws' dimensions, of those that data give: by `dims`
 * of the data, by the loop index or the size that a dimension has in the model.
 */
#include "record/record.h"

#include <string.h>

/* Word d of a list with commas, into `out`; false if it is empty. */
static bool word_of(const char *list, int d, char *out, size_t capacity)
{
    for (; list && d > 0; d--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    size_t n = list ? strcspn(list, ",") : 0;
    if (n == 0 || n >= capacity)
        return false;
    memcpy(out, list, n);
    out[n] = '\0';
    return true;
}

struct labelling {
    struct rt *rt;
    const struct gbm_coords *given;
    struct gbm_draws *draws;
};

static enum gbm_status no_memory(const struct labelling *l)
{
    return rt_fail(l->rt, GBM_FAILURE, "no memory for labels");
}

static enum gbm_status take(const struct labelling *l, const char *variable,
                            int d, const struct gbm_coord *coord)
{
    return gbm_coords_take(&l->draws->coords, variable, d, coord)
               ? GBM_OK
               : no_memory(l);
}

/* By what data say: an error if it does not fit. */
static enum gbm_status take_named(const struct labelling *l,
                                  const struct gbm_dims *dims, int ndim,
                                  const int *dim)
{
    const char *name = dims->variable;
    if (dims->ndim != ndim)
        return rt_fail(l->rt, GBM_USER_ERROR,
                       "dims: %d named for %s, which has %d dimension%s",
                       dims->ndim, name, ndim, ndim == 1 ? "" : "s");
    for (int d = 0; d < ndim && l->rt->status == GBM_OK; d++) {
        const struct gbm_coord none = {.name = dims->dim[d]}, *coord;
        if (!dims->dim[d])
            continue;
        coord = gbm_coords_find(l->given, dims->dim[d]);
        if (coord && coord->n != dim[d])
            return rt_fail(l->rt, GBM_USER_ERROR,
                           "coords: %s has %d label%s, but dimension %d of %s "
                           "has %d element%s",
                           coord->name, coord->n, coord->n == 1 ? "" : "s",
                           d + 1, name, dim[d], dim[d] == 1 ? "" : "s");
        take(l, name, d, coord ? coord : &none);
    }
    return l->rt->status;
}

/* By what the model says, where the number of labels is right. */
static enum gbm_status take_of_model(const struct labelling *l,
                                     const struct gbm_variable *variable,
                                     const int *dim)
{
    const char *const lists[] = {variable->indices, variable->sizes};
    char word[256];
    for (int d = 0; d < variable->ndim; d++)
        for (int k = 0; k < 2; k++) {
            const struct gbm_coord *coord =
                word_of(lists[k], d, word, sizeof word)
                    ? gbm_coords_find(l->given, word)
                    : NULL;
            if (!coord || coord->n != dim[d])
                continue;
            if (take(l, variable->name, d, coord) != GBM_OK)
                return l->rt->status;
            break;
        }
    return GBM_OK;
}

/* A name that nothing has is a mistake; but data that the model does not read
 * may have names, too. */
static enum gbm_status check_used(const struct labelling *l,
                                  const struct rt_instance *in,
                                  const struct gbm_data *data)
{
    for (int i = 0; i < l->given->ndims; i++) {
        const char *name = l->given->dims[i].variable;
        bool found = gbm_data_find(data, name) != NULL;
        for (int v = 0; v < in->model->nvariables; v++)
            found = found || strcmp(in->model->variables[v].name, name) == 0;
        if (!found)
            return rt_fail(l->rt, GBM_USER_ERROR,
                           "dims: the model has no variable %s", name);
    }
    return GBM_OK;
}

enum gbm_status rt_label_draws(struct rt *rt, const struct rt_instance *in,
                               const struct gbm_data *data,
                               struct gbm_draws *draws)
{
    const struct labelling l = {rt, &data->coords, draws};
    if (data->coords.n + data->coords.ndims == 0)
        return GBM_OK;
    enum gbm_status s = check_used(&l, in, data);
    for (int v = 0; v < in->model->nvariables && s == GBM_OK; v++) {
        const struct gbm_variable *variable = &in->model->variables[v];
        const struct gbm_dims *dims =
            gbm_coords_dims(&data->coords, variable->name);
        if (variable->names || variable->hidden || variable->role > GBM_DERIVED)
            continue;
        s = dims ? take_named(&l, dims, variable->ndim, in->slots[v].dim)
                 : take_of_model(&l, variable, in->slots[v].dim);
    }
    return s;
}

void rt_note_labels(const struct gbm_data *data, const struct gbm_draws *draws,
                    FILE *notes)
{
    for (int i = 0; i < data->coords.n && notes; i++) {
        const struct gbm_coord *c = &data->coords.all[i];
        if (!gbm_coords_find(&draws->coords, c->name))
            fprintf(notes,
                    "note: coords: no dimension of %d elements is called %s: a "
                    "loop's index or size has that name, or dims give it\n",
                    c->n, c->name);
    }
}
