/* named.c: the list of --relabel: the labels of a mixture, and the arrays that
 * its components have cells of. */
#include "summary/components.h"
#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMPONENTS = 10000 };

struct naming {
    struct gbm_components *c;
    const struct gbm_draws *draws;
    char *error;
};

static enum gbm_status wrong(struct naming *n, const char *format,
                             const char *name)
{
    snprintf(n->error, GBM_ERROR, format, name);
    return GBM_USER_ERROR;
}

static int64_t draws_of(const struct naming *n)
{
    return (int64_t)n->draws->chains * n->draws->kept;
}

static const double *cells_of(const struct naming *n,
                              const struct gbm_draws_variable *v, int64_t draw)
{
    return gbm_draws_record(n->draws, (int)(draw / n->draws->kept),
                            (int)(draw % n->draws->kept)) +
           v->offset;
}

/* "k,]" up to `end` behind a name and a bracket: the dimensions with a word in
 * their place. */
static enum gbm_status read_dimensions(struct naming *n, struct gbm_field *f,
                                       const char *inside, const char *end)
{
    const struct gbm_draws_variable *v = f->variable;

    for (int d = 0; d < v->ndim; d++) {
        size_t length = strcspn(inside, ",]");

        f->along[d] = strspn(inside, " ") < length;
        f->nalong += f->along[d];
        if (inside[length] != (d + 1 < v->ndim ? ',' : ']'))
            return wrong(n,
                         "--relabel %s: in brackets a place for each dimension "
                         "is wanted: P[k,k], b[,k]",
                         v->name);
        inside += length + 1;
    }
    return inside != end ? wrong(n, "--relabel %s: what follows ']'?", v->name)
                         : GBM_OK;
}

/* One item of the list: "P[k,k]". */
static enum gbm_status add_field(struct naming *n, const char *item,
                                 size_t length)
{
    struct gbm_field *f = &n->c->fields[n->c->nfields];
    char name[256];
    size_t bare = strcspn(item, "[");

    bare = bare < length ? bare : length;
    snprintf(name, sizeof name, "%.*s", (int)bare, item);
    f->variable = bare < sizeof name ? gbm_draws_find(n->draws, name) : NULL;
    if (!f->variable)
        return wrong(n, "--relabel %s: it has no draws", name);
    for (int i = 0; i < n->c->nfields; i++)
        if (n->c->fields[i].variable == f->variable)
            return wrong(n, "--relabel %s: it is named twice", name);
    n->c->nfields++;
    return bare < length ? read_dimensions(n, f, item + bare + 1, item + length)
                         : GBM_OK;
}

static enum gbm_status read_list(struct naming *n, const char *list)
{
    enum gbm_status s = GBM_OK;
    const char *rest = list, *item;

    for (size_t length; s == GBM_OK && (item = rt_next_name(&rest, &length));)
        s = add_field(n, item, length);
    if (s == GBM_OK && n->c->nfields == 0)
        s = wrong(n, "--relabel '%s': names are wanted: z,mu,pi", list);
    return s;
}

/* As many as the first parameter has cells along its first dimension, or along
 * the one that is marked; of labels alone, the largest. */
static enum gbm_status count_components(struct naming *n)
{
    struct gbm_components *c = n->c;
    const struct gbm_draws_variable *v = NULL;

    for (int i = c->fields[0].variable->integer; i < c->nfields && !v; i++) {
        const struct gbm_field *f = &c->fields[i];
        int d = 0;

        v = f->variable;
        while (f->nalong && !f->along[d])
            d++;
        if (v->ndim == 0)
            return wrong(n, "--relabel %s: it is one number", v->name);
        c->k = v->dim[d];
    }
    v = c->fields[0].variable;
    for (int64_t m = 0; c->nfields == 1 && v->integer && m < draws_of(n); m++)
        for (int64_t i = 0; i < v->count; i++)
            if (cells_of(n, v, m)[i] > c->k)
                c->k = (int)fmin(cells_of(n, v, m)[i], 1e6);
    if (c->k > MOST_COMPONENTS)
        return wrong(n, "--relabel %s: it has too many components", v->name);
    return GBM_OK;
}

static enum gbm_status settle_field(struct naming *n, struct gbm_field *f,
                                    bool first)
{
    struct gbm_components *c = n->c;
    const struct gbm_draws_variable *v = f->variable;

    for (int d = 0; d < v->ndim && f->nalong == 0 && !(first && v->integer);
         d++)
        if (v->dim[d] == c->k) {
            f->along[d] = true;
            f->nalong = 1;
        }
    f->labels = f->nalong == 0 && v->integer;
    if (f->nalong == 0 && !f->labels) {
        snprintf(n->error, GBM_ERROR,
                 "--relabel %s: no dimension of it has %d cells, one for each "
                 "component",
                 v->name, c->k);
        return GBM_USER_ERROR;
    }
    for (int d = 0; d < v->ndim; d++)
        if (f->along[d] && v->dim[d] != c->k) {
            snprintf(n->error, GBM_ERROR,
                     "--relabel %s: dimension %d of it has %d cells, and there "
                     "are %d components",
                     v->name, d + 1, v->dim[d], c->k);
            return GBM_USER_ERROR;
        }
    if (!f->labels && v->cells)
        return wrong(n,
                     "--relabel %s: draws of only some of its cells were kept, "
                     "or some are data: all are wanted",
                     v->name);
    if (f->labels)
        c->rows += v->count;
    else if (f->nalong == 1)
        c->width += v->length / c->k;
    return GBM_OK;
}

static enum gbm_status check_labels(struct naming *n, const struct gbm_field *f)
{
    const struct gbm_draws_variable *v = f->variable;

    for (int64_t i = 0; v->cells && i < v->length; i++)
        if (!isnan(v->filled[i]))
            return wrong(n,
                         "--relabel %s: some of its labels are data, which "
                         "tell the components apart",
                         v->name);
    for (int64_t m = 0; m < draws_of(n); m++)
        for (int64_t i = 0; i < v->count; i++) {
            double z = cells_of(n, v, m)[i];
            if (!(z >= 1 && z <= n->c->k)) {
                snprintf(n->error, GBM_ERROR,
                         "--relabel %s: %g is not one of %d components",
                         v->name, z, n->c->k);
                return GBM_USER_ERROR;
            }
        }
    return GBM_OK;
}

static enum gbm_status settle(struct naming *n)
{
    struct gbm_components *c = n->c;
    enum gbm_status s = count_components(n);

    for (int i = 0; i < c->nfields && s == GBM_OK; i++)
        s = settle_field(n, &c->fields[i], i == 0);
    for (int i = 0; i < c->nfields && s == GBM_OK; i++)
        if (c->fields[i].labels)
            s = check_labels(n, &c->fields[i]);
    if (s == GBM_OK && c->rows == 0 && c->width == 0)
        s = wrong(n,
                  "--relabel %s: labels, or what one component has by itself, "
                  "are wanted beside it",
                  c->fields[0].variable->name);
    return s;
}

static enum gbm_status make_room(struct gbm_components *c)
{
    const size_t k = (size_t)c->k, width = (size_t)c->width;
    int64_t longest = 0;

    c->cells = (c->rows ? c->rows : c->width) * c->k;
    for (int i = 0; i < c->nfields; i++)
        if (c->fields[i].variable->length > longest)
            longest = c->fields[i].variable->length;
    c->target = calloc((size_t)c->cells + 1, sizeof *c->target);
    c->mean = calloc(width + 1, sizeof *c->mean);
    c->square = calloc(width + 1, sizeof *c->square);
    c->cost = calloc(k * k + 1, sizeof *c->cost);
    c->component = calloc(width * k + 1, sizeof *c->component);
    c->array = calloc((size_t)longest + 1, sizeof *c->array);
    return c->target && c->mean && c->square && c->cost && c->component &&
                   c->array
               ? GBM_OK
               : GBM_FAILURE;
}

enum gbm_status gbm_components_create(struct gbm_components *c,
                                      const struct gbm_draws *draws,
                                      const char *list, char error[GBM_ERROR])
{
    struct naming n = {c, draws, error};
    enum gbm_status s = GBM_FAILURE;

    *c = (struct gbm_components){0};
    snprintf(error, GBM_ERROR, "out of memory");
    c->fields = calloc(strlen(list) + 1, sizeof *c->fields);
    if (c->fields)
        s = read_list(&n, list);
    if (s == GBM_OK)
        s = settle(&n);
    if (s == GBM_OK)
        s = make_room(c);
    if (s != GBM_OK)
        gbm_components_free(c);
    return s;
}

void gbm_components_free(struct gbm_components *c)
{
    free(c->fields);
    free(c->target);
    free(c->mean);
    free(c->square);
    free(c->cost);
    free(c->component);
    free(c->array);
    *c = (struct gbm_components){0};
}
