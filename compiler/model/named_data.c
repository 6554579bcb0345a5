/* named_data.c: the files of --data, for what asks them while the model is
 * resolved. */
#include "io/data.h"
#include "model/resolve.h"

#include <string.h>

static bool has_variable(const void *model, const char *name)
{
    const struct model *m = model;
    for (const struct var *v = m->vars; v; v = v->next)
        if (strcmp(v->name, name) == 0)
            return true;
    return false;
}

bool model_read_named_data(struct compiler *c, const struct model *m,
                           struct gbm_data *data)
{
    data->uses = has_variable;
    data->context = m;
    for (int i = 0; i < c->options.ndata; i++) {
        char error[GBM_ERROR];
        if (gbm_data_read(data, c->options.data[i], error) != GBM_OK) {
            error_at(c, (struct span){0}, "%s", error);
            return false;
        }
    }
    return true;
}

/* Of some files it is not kept which values are missing. */
bool model_data_may_have(const struct gbm_data *data, const char *name)
{
    const struct gbm_array *a = gbm_data_find(data, name);
    for (int64_t i = 0; a && a->missing && i < a->length; i++)
        if (!a->missing[i])
            return true;
    return a && !a->missing;
}

static bool is_name(const void *wanted, const char *name)
{
    return strcmp(wanted, name) == 0;
}

/* A file that cannot be read is told of later. */
bool model_data_have(struct compiler *c, const char *name)
{
    struct gbm_data data = {.allow_nonfinite = true,
                            .names_only = true,
                            .uses = is_name,
                            .context = name};
    for (int i = 0; i < c->options.ndata; i++) {
        char error[GBM_ERROR];
        (void)gbm_data_read(&data, c->options.data[i], error);
    }
    const bool found = model_data_may_have(&data, name);
    gbm_data_free(&data);
    return found;
}

void model_expect_named(struct compiler *c, struct model *m)
{
    struct gbm_data data = {.allow_nonfinite = true, .names_only = true};
    bool asks = false;
    for (const struct var *v = m->vars; v; v = v->next)
        asks = asks || (v->barren && !v->expects_data);
    if (asks && c->options.ndata > 0 && c->nerrors == 0 &&
        model_read_named_data(c, m, &data))
        for (struct var *v = m->vars; v; v = v->next)
            v->expects_data =
                v->expects_data || (v->role == ROLE_STOCHASTIC &&
                                    model_data_may_have(&data, v->name));
    gbm_data_free(&data);
}
