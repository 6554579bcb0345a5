/* input.c: what a run reads. */
#include "session/session.h"
#include "io/data.h"

enum gbm_status rt_gather(struct rt *rt, struct gbm_data *data)
{
    char error[GBM_ERROR];
    for (int v = 0; v < rt->model->nvariables; v++) {
        const struct gbm_variable *variable = &rt->model->variables[v];
        int n = 0;
        while (variable->names && variable->names[n])
            n++;
        if (n == 0 || gbm_data_find(data, variable->name))
            continue;
        enum gbm_status s =
            gbm_data_gather(data, variable->name, variable->names, n, error);
        if (s != GBM_OK)
            return rt_fail(rt, s, "%s", error);
    }
    return GBM_OK;
}

static bool has_variable(const void *model, const char *name)
{
    return rt_variable_called(model, name) >= 0;
}

void rt_read_used(const struct rt *rt, struct gbm_data *data)
{
    data->uses = has_variable;
    data->context = rt->model;
}

enum gbm_status rt_read_data(struct rt *rt, struct gbm_data *data, FILE *notes)
{
    char error[GBM_ERROR];
    rt_read_used(rt, data);
    for (int i = 0; i < rt->options.ndata; i++) {
        enum gbm_status s = gbm_data_read(data, rt->options.data[i], error);
        if (s != GBM_OK)
            return rt_fail(rt, s, "%s", error);
    }
    if (notes && data->notes)
        fputs(data->notes, notes);
    return rt_gather(rt, data);
}
