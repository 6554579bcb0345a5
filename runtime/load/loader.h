/* loader.h: what the files share that make an instance of a model and its data:
 * load.c, extents.c, given.c, computed.c, supplied.c, observed.c. */
#ifndef GBM_LOADER_H
#define GBM_LOADER_H

#include "load/load.h"
#include <stdio.h>

/* Variables and families are named by their numbers, v and f. */
struct loader {
    struct rt *rt;
    const struct gbm_model *model;
    const struct gbm_data *data;
    struct rt_instance *in;
    struct gbm_binding *bindings;
    void *state;
    struct rt_cells buffer;
    bool redraw;
    FILE *notes;
};

/* ---- extents.c ---- */

int64_t loader_product(int ndim, const int *dim);
/* Does the array have the variable's number of dimensions? A vector of one and
 * a number stand for each other, an empty one for an array of no rows. */
bool loader_dims(const struct gbm_array *a, int ndim, int *dim);
enum gbm_status loader_fail_shape(struct loader *l,
                                  const struct gbm_variable *v,
                                  const struct gbm_array *a);
/* Memory for v with the extents that its slot has. */
enum gbm_status loader_allocate(struct loader *l, int v, bool per_chain);
/* The slots as they are become those of l->state. */
void loader_rebind(struct loader *l);
/* How many elements f has. */
int64_t loader_count(struct loader *l, int f);
/* Binds declared extents at once: loops over a whole row, as of r[j,] <- ...,
 * run over them. */
void loader_declare_extents(struct loader *l, int v, int *declared);
/* Extents from the declaration, the statements and the data, if any. */
enum gbm_status loader_settle_extents(struct loader *l, int v,
                                      const struct gbm_array *a);
/* An array must have the extents that are declared. */
enum gbm_status loader_check_declared(struct loader *l, int v,
                                      const struct gbm_array *a);

/* ---- given.c ---- */

/* Copies an array's values to the slot; integers must be integral. */
enum gbm_status loader_copy(struct loader *l, int v, const struct gbm_array *a);
void loader_note_drawn(const struct loader *l, const char *name);
enum gbm_status loader_settle_given(struct loader *l, int v);
/* The elements of an array that are data, beside computed ones, which have
 * their place in the slot of the whole array. What is not supplied is NaN. */
enum gbm_status loader_settle_part(struct loader *l, int v);

/* ---- computed.c ---- */

/* Evaluates (or simulates) the families of v that are computed at load. */
enum gbm_status loader_compute(struct loader *l, int v);
enum gbm_status loader_settle_constant(struct loader *l, int v);

/* ---- supplied.c ---- */

/* Of an array without a value only the extents count, as in JAGS. */
bool loader_all_missing(const struct gbm_array *a);
/* An element is either computed or supplied. */
enum gbm_status loader_check_computed(struct loader *l, int v,
                                      const struct gbm_array *a);
/* Once all families are known: which elements v's statements define, each once,
 * and not what is supplied. */
enum gbm_status loader_settle_definitions(struct loader *l, int v);
/* After that of all: elements that no statement defines may be data, beside
 * those that are computed. */
enum gbm_status loader_take_supplied(struct loader *l, int v);

/* ---- observed.c ---- */

enum gbm_status loader_settle_stochastic(struct loader *l, int v);
/* A data block may use observed nodes as data (n <- length(y)), on which then
 * their own loops depend. So they are bound before their turn comes, when
 * loader_settle_stochastic does it anew. */
enum gbm_status loader_bind_observed(struct loader *l);

#endif
